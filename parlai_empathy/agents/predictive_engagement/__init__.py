"""Frozen text vectors and a small network that tells engaging replies from others: see README.md beside this file."""
