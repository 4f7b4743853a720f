"""Statistics of ratings and scores: agreement, correlations, intervals, tests of differences, and power."""
