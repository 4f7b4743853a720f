"""How replies are measured: one metric a file, pure functions first and a thin ParlAI ``Metric`` on top."""
