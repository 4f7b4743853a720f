"""Trained models: finding them, reading them without executing code, and building other models on them."""
