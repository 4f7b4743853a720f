"""The hierarchical attention network of HUMOD, a judge of replies: see README.md beside this file."""
