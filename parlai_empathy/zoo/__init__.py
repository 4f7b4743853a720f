"""The model zoo: ``zoo:empathy/<name>/model``. ParlAI imports ``parlai.zoo.empathy``, which is this package.

A zoo model is a folder ``models/empathy/<name>`` below the data path. It was trained there, or it is downloaded from a
mirror (``EMPATHY_MIRROR``, which then holds ``models/empathy/<name>/model`` and its companion files) or from its public
address, if it has one. :mod:`~parlai_empathy.zoo.model_list` lists the models. ``cards/`` has a page for each, written
by ``python -m parlai_empathy.zoo.card``.
"""
