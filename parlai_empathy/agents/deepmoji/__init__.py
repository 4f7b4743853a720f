"""DeepMoji, a judge: see README.md beside this file."""
