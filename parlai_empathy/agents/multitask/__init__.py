"""Either base agent, trained to predict emotions as well: see README.md beside this file."""
