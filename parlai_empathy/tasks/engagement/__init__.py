"""Replies rated by people for engagingness, and the training data of Predictive Engagement. See README.md here."""
