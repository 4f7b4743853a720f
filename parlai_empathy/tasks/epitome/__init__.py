"""EPITOME: how much empathy replies show, in three mechanisms, with the words that show it. See README.md here."""
