"""The desk of a study: raters, the items that are assigned to them, and their answers. Every step is a transaction."""
