"""Our sub-commands of ``parlai``: one ``ParlaiScript`` per file.

Whatever command is typed, ParlAI imports all scripts and builds their parsers. So ``scripts/x.py`` only declares the
options of ``parlai x``; its ``run`` imports the implementation from ``scripts/runs/x.py``. Names that appear as choices
of options are in modules called ``names.py``, which import nothing heavy.
"""
