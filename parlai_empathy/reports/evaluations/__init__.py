"""Evaluations with ``eval_model``, each in its own process and cached by fingerprints of model and data."""
