"""What declares options of several commands, or says what such options mean. It is imported with the commands."""
