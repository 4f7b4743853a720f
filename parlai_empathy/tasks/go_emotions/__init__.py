"""GoEmotions: comments from Reddit, and which of 28 emotions people found in them. See README.md beside this file."""
