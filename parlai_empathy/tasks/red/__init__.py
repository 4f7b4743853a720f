"""RED: posts of Reddit, engaging or not by how people reacted to them. See README.md beside this file."""
