"""Our sub-commands of ``parlai``: one ``ParlaiScript`` a file.

ParlAI imports all of them, and asks each for its options, whatever command was typed. So ``scripts/x.py`` declares
``parlai x`` and imports what that takes; what the command does is in ``scripts/runs/x.py``, which its ``run`` imports.
Names that options show stand in a ``names.py`` that imports nothing heavy.
"""
