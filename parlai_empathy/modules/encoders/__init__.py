"""Encoders of texts, alone or in pairs, and how they are trained."""
