"""Labels of a classifier before the texts of either base agent: see README.md beside this file."""
