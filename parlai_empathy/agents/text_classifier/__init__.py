"""A pretrained text encoder that judges: see README.md beside this file."""
