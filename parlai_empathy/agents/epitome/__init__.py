"""A judge of empathy: EPITOME's bi-encoder. See README.md beside this file."""
