"""Either base agent, learning emotions at the same time: see README.md beside this file."""
