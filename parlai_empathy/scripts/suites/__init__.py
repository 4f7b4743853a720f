"""The suites of ``parlai leaderboard``: each adds its options, and makes its report."""
