"""Collecting dialogues: at one terminal, or in the browser, where strangers meet in pairs and talk.

:mod:`~parlai_empathy.rating.collecting.collection` stores prompts and conversations, and
:mod:`~parlai_empathy.rating.collecting.collected_file` writes them in EmpatheticDialogues' layout.
:mod:`~parlai_empathy.rating.collecting.meeting` has the rules of a meeting (who speaks first, whose turn it is, when
they judge), for the site and for the terminal's world. The rest is what two people at two computers need: the lobby
(:mod:`~parlai_empathy.rating.collecting.lobby`) manages the waiting room, pairs people, and handles those who leave.
All of its state is in the ratings store, so that it survives a reload or a restart and is shared by server processes.
:func:`~parlai_empathy.rating.collecting.site.collect_site` assembles the site.

==================== ==================================================================================================
address              page
==================== ==================================================================================================
``/``                consent and the content warning, then ``/instructions``, as on the rating site
``/talk``            the visitor's current stage: prompt, waiting room, conversation, questions or end
``/prompt``          an emotion and a situation; the visitor then waits
``/wait``            enter the waiting room
``/say``, ``/end``   a message; end a conversation that is long enough
``/judge``           answers to the questions about the partner
``/leave``           leave the waiting room or a meeting; ``/again`` continues with the next one
``/events``          changes, as events; a visitor whose page listens there counts as present
``/admin``           counts and export, for those who have the token; without a token there is no such page
==================== ==================================================================================================
"""
