"""Read text files with clear errors, and write files atomically."""
