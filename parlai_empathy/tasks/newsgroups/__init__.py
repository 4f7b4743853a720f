"""20 Newsgroups: posts from 1993 and their topics. See README.md beside this file."""
