"""EmpatheticIntents: the intent of a reply, such as questioning or consoling."""
