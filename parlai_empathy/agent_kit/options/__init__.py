"""Options that several agents have, and options that set the defaults of others."""
