"""Reranks a retriever's best replies with a cross-encoder: see README.md beside this file."""
