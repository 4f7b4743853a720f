"""The suites of ``parlai leaderboard``, one module each."""
