"""Reports with tables and plots: leaderboards, ratings, data sets and scored replies."""
