"""The chat page: many people talk with a model at once, each in a conversation of their own.

A conversation is an item of a study of the kind ``chat`` (:mod:`parlai_empathy.rating.study`): its messages, marks and
judgements lie in the ratings' store, so a reload or a restart loses nothing. The model is a ParlAI agent; each
conversation talks with a clone of it (:mod:`~parlai_empathy.rating.chat.partner`), in threads
(:mod:`~parlai_empathy.rating.chat.replies`), so that the pages (:mod:`~parlai_empathy.rating.chat.pages`) never wait.
What speaks of suicide or self-harm (:mod:`~parlai_empathy.rating.chat.distress`) is met with a notice first
(:mod:`~parlai_empathy.rating.chat.help_lines`). :func:`~parlai_empathy.rating.chat.site.chat_site` puts it together.

==================== ==================================================================================================
address              page
==================== ==================================================================================================
``/``                the conversation; before it, consent and the content warning
``/say``             a message; the answer comes on the page, or as events where a script asks for them
``/events``          the answer that is under way, as events
``/mark``            what somebody says of one of the model's turns
``/new``             end the conversation, and begin another one
``/judge``           the study's questions about the whole conversation, where it has any that must be answered
``/conversation.*``  one's own conversations, ``.txt`` or ``.json``
==================== ==================================================================================================
"""
