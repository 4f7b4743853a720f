"""Models by name: ``zoo:empathy/<name>/model``. ParlAI looks for ``parlai.zoo.empathy``, which is this package.

A zoo model is a folder ``models/empathy/<name>`` below the data path. It is there because it was trained there, or it
is brought from a mirror (``EMPATHY_MIRROR`` then names what holds ``models/empathy/<name>/model`` and its companions)
or, where somebody publishes it, from its address. :mod:`~parlai_empathy.zoo.model_list` lists the models; ``cards/``
has a page for each, which ``python -m parlai_empathy.zoo.card`` writes from the list.
"""
