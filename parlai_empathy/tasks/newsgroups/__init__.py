"""20 Newsgroups: posts of 1993 and their topics. See README.md beside this file."""
