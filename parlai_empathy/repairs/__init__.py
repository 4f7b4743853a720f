"""What breaks in ParlAI 1.7.2, on the current stack or by itself, and the smallest repair of each, part by part.

:mod:`parlai_empathy.plugin` says when each function is called. A test of each asks whether ParlAI still needs it, and
fails as soon as ParlAI or the stack does without.
"""
