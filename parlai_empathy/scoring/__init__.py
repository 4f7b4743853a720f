"""Running judges over replies in batches: one face for learned and rule-based ones."""
