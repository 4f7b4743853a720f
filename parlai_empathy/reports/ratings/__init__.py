"""The parts of the report of people's ratings, and the power analysis."""
