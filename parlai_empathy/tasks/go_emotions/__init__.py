"""GoEmotions: Reddit comments that people labelled with 28 emotions. See README.md beside this file."""
