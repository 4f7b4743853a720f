"""A judge on a pretrained text encoder: see README.md beside this file."""
