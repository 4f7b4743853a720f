"""Collecting dialogues in the browser: people who do not know each other meet in pairs, and talk.

:mod:`~parlai_empathy.rating.collection` keeps prompts and conversations; here is what two people at two computers need
beside it. The order of a meeting (who tells first, when it is whose turn, when they judge) is in
:mod:`~parlai_empathy.rating.collecting.meeting`, for this site and for the world of the terminal alike. Who waits, who
is paired with whom, and what becomes of it when one of them goes is the lobby's business
(:mod:`~parlai_empathy.rating.collecting.lobby`), in the ratings' store, so that a reload, a restart or another server
process finds everything as it was. :func:`~parlai_empathy.rating.collecting.site.collect_site` puts the site together.

==================== ==================================================================================================
address              page
==================== ==================================================================================================
``/``                consent and the content warning, then ``/instructions``, as on the rating site
``/talk``            wherever somebody is: the prompt, the waiting room, the conversation, questions, the end
``/prompt``          an emotion and a situation come in; then one waits
``/wait``            into the waiting room
``/say``, ``/end``   a message; the end of a conversation that is long enough
``/judge``           what somebody says of the other one
``/leave``           out of the waiting room or of a meeting; ``/again`` on to the next one
``/events``          what changes, as events; whoever listens there is present
``/admin``           counts and the export, for who has the token; without a token there is no such page
==================== ==================================================================================================
"""
