"""RED: Reddit posts, labelled as engaging or not by people's reactions to them. See README.md beside this file."""
