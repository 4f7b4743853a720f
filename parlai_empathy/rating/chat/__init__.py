"""The chat page: many people talk with a model at once, each in a conversation of their own.

A conversation is an item of a study of kind ``chat`` (:mod:`parlai_empathy.rating.study`): its messages, marks and
judgements are kept in the ratings store, so a reload or a restart loses nothing. The model is a ParlAI agent. Each
conversation has its own clone of it (:mod:`~parlai_empathy.rating.chat.partner`), which replies in a thread
(:mod:`~parlai_empathy.rating.chat.replies`), so that the pages (:mod:`~parlai_empathy.rating.chat.pages`) never wait.
If a message mentions suicide or self-harm, a notice with help lines comes before the reply
(:mod:`parlai_empathy.rating.talking`).
:func:`~parlai_empathy.rating.chat.site.chat_site` assembles the site.

==================== ==================================================================================================
address              page
==================== ==================================================================================================
``/``                the conversation; before it, consent and the content warning
``/say``             a message; the reply is shown on the page, or sent as events if a script requests them
``/events``          the reply in progress, as events
``/mark``            marks of one of the model's turns
``/new``             end the conversation and begin another one
``/judge``           the study's questions about the whole conversation, if any of them must be answered
``/conversation.*``  the visitor's own conversations, ``.txt`` or ``.json``
==================== ==================================================================================================
"""
