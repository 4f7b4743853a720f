"""EPITOME's bi-encoder, a judge of empathy. See README.md beside this file."""
