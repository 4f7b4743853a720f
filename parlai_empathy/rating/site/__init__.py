"""The rating site: the pages of a study of replies or pairs, for raters and for who runs it.

:func:`~parlai_empathy.rating.site.pages.rating_site` puts it together from a desk and the common parts of
:mod:`parlai_empathy.rating.web`; a crowd's marketplace is joined to it in :mod:`~parlai_empathy.rating.site.entry`.

==================== ==================================================================================================
address              page
==================== ==================================================================================================
``/``                a crowd's link is read; consent and the content warning
``/instructions``    what to do, with examples
``/rate``            the next item, or why there is none; the end, with the study's code
``/item/{id}``       one item: shown, answered, answered anew
``/admin``           counts, raters, exclusions, export, for who has the token; without a token there is no such page
==================== ==================================================================================================
"""
