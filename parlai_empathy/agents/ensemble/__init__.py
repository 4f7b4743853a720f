"""Either base agent, frozen, with a frozen classifier beside it: see README.md beside this file."""
