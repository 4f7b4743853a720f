"""What breaks in ParlAI 1.7.2, on the current stack or by itself, and the smallest repair of each, part by part.

:mod:`parlai_empathy.plugin` says when each function is called. Those that change what ParlAI does have a test that
fails as soon as ParlAI or the stack does without.
"""
