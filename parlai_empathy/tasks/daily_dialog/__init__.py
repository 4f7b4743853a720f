"""DailyDialog: everyday conversations with the act and the emotion of each turn. See README.md beside this file."""
