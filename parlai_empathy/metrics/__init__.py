"""Metrics of replies, one per file: pure functions, with a thin ParlAI ``Metric`` on top where it is needed."""
