"""From Reddit dumps to RED: posts that people engaged with, and posts that they did not (Xu et al. 2022).

::

    dump -> blocks of lines -> unpack: valid posts, one Parquet part per dump   (one line at a time, DuckDB)
         -> relations: each comment with its parent and its replies             (all at once, the engine)
         -> text_scores: emotion and toxicity                                   (batches, any scorer)
         -> engagement: four dimensions, adjusted, normalised, summed           (the engine)
         -> selection: the two ends, balanced -> red.parquet and its data card

Steps that need one line at a time run dump by dump. Each dump's part is kept, so that a run can resume where another
ended. Steps that need all posts at once are SQL queries that both DuckDB (no server, larger than memory) and Apache
Spark run unchanged. They use integers wherever the order of summation could matter, so both engines give the same
data set.
"""
