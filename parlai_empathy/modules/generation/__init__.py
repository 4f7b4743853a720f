"""Generators, the losses of their tokens, and decoding."""
