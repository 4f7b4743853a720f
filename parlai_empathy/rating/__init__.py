"""Replies that people rate: what they are asked to rate, and what they said."""
