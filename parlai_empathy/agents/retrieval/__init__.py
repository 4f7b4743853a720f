"""The bi-encoder that answers with the best reply of a pool: see README.md beside this file."""
