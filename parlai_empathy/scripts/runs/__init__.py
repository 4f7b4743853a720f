"""What our commands do, a module each, imported when the command runs.

The suites of ``parlai leaderboard`` have a folder; :mod:`reply_scores` belongs to one of them and to another command.
"""
