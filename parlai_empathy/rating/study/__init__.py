"""A study as data, read from a YAML file: what is rated, the items, the questions, and the texts that raters read."""
