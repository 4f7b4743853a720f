"""Implementations of our commands, one module each, imported when the command runs.

The suites of ``parlai leaderboard`` are in ``suites``; :mod:`reply_scores` is shared by one of them and
``parlai score_responses``.
"""
