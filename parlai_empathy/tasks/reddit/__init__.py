"""Reddit: comments and their parents, streamed from Pushshift's dumps. See README.md beside this file."""
