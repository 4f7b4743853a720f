"""The smallest repair of each fault in ParlAI 1.7.2, its own or due to newer dependencies; one module per topic.

:mod:`parlai_empathy.plugin` decides when each function is called. Every module but ``nothing_to_learn`` has a test that
fails as soon as ParlAI or the dependency no longer needs it.
"""
