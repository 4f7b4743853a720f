"""Frozen text vectors and a small network that detects engaging replies: see README.md beside this file."""
