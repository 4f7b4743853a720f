"""The encoder-decoder that writes replies: see README.md beside this file."""
