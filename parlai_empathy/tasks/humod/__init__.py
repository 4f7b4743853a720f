"""HUMOD: film dialogues with replies that people rated for relevance. See README.md beside this file."""
