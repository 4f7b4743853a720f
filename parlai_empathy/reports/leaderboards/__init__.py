"""Leaderboards: models and judges beside published figures, one module per suite."""
