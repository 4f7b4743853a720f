"""Analysis of ratings: systems, differences between them, preferences, raters."""
