"""``-m empathy:in_context``: a language model is asked for the reply, with examples in its prompt."""
