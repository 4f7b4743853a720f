"""Files that are read with clear errors, and files that are whole or not there."""
