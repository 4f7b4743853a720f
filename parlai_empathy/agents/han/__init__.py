"""HUMOD's hierarchical attention network, a judge of replies: see README.md beside this file."""
