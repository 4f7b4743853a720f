"""Faster computation: bfloat16, less padding, cheaper dropout and embeddings."""
