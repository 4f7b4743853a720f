"""``-m empathy:in_context``: prompts a language model for the reply, with examples in the prompt."""
