"""The suites of ``parlai leaderboard``: each makes its report."""
