"""Scoring of replies in batches, with one interface for learned and rule-based judges."""
