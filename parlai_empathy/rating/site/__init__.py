"""The rating site: the pages of a study of replies or pairs, for raters and administrators.

:func:`~parlai_empathy.rating.site.pages.rating_site` assembles it from a desk and the common parts of
:mod:`parlai_empathy.rating.web`; :mod:`~parlai_empathy.rating.site.entry` connects it to crowdsourcing marketplaces.

==================== ==================================================================================================
address              page
==================== ==================================================================================================
``/``                reads a marketplace's link; consent and the content warning
``/instructions``    what to do, with examples
``/rate``            the next item, or why there is none; at the end, the study's code
``/item/{id}``       one item: to be answered, or to change its answers
``/admin``           counts, raters and export, for those who have the token; without a token there is no such page
==================== ==================================================================================================
"""
