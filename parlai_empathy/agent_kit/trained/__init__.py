"""Models that are trained already: found, read without executing anything, and built on by others."""
