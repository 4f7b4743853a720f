"""Declarations and checks of options that commands share; imported whenever the commands are."""
