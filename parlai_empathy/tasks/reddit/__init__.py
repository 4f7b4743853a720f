"""Reddit: comments and what they answer, streamed from Pushshift's dumps. See README.md beside this file."""
