"""A retriever's best replies, put in order by a model that reads context and reply together: see README.md."""
