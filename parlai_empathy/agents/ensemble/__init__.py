"""A frozen base agent, retrieval or generative, with a frozen classifier: see README.md beside this file."""
