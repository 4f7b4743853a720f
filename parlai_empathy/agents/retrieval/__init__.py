"""The bi-encoder, which answers with the best reply of a pool: see README.md beside this file."""
