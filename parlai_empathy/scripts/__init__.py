"""Our sub-commands of ``parlai``: one ``ParlaiScript`` a file."""
