"""What ratings say, and of which raters they can be believed."""
