"""Who answers: one folder an agent; ``-m empathy:<name>`` finds ``<Name>Agent`` in ``<name>/<name>.py``."""
