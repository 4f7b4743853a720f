"""From dumps of Reddit to RED: posts that people engaged with, and posts that they did not (Xu et al. 2022).

::

    dump -> blocks of lines -> unpack: checked posts, a Parquet part a dump     (one line at a time, DuckDB)
         -> relations: each comment with what it answers and who answers it     (all at once, the engine)
         -> texts: emotion and toxicity                                         (batches, any scorer)
         -> engagement: four dimensions, adjusted, normalised, added up         (the engine)
         -> choice: the two ends, balanced -> red.parquet and its data card

What needs one line at a time is done dump by dump, and each dump's part is kept, so that a run can go on where another
ended. What needs all posts at once is SQL that DuckDB (no server, larger than memory) and Apache Spark both understand,
word for word. It keeps to whole numbers wherever an order of adding up could show, so both give the same data set.
"""
