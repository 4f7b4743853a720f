"""The encoder-decoder that generates replies: see README.md beside this file."""
