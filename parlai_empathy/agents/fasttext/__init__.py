"""fastText's classifier, a judge: see README.md beside this file."""
