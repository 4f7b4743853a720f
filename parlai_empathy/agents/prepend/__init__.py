"""Either base agent, with a classifier's labels prepended to texts: see README.md beside this file."""
