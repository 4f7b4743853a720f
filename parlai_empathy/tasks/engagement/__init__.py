"""Sets of replies whose engagingness people rated, and what Predictive Engagement learns from. See README.md here."""
