"""ParlAI worlds in which people rate and talk. A rater is a ParlAI agent: it observes what is shown, and acts.

========================== ============================================================================================
world                      agents
========================== ============================================================================================
``LikertRatingWorld``      the rater
``PairwiseWorld``          the rater
``ChatThenRateWorld``      the rater, then the study's models, in the study's order
``CollectEmpatheticWorld`` two people
========================== ============================================================================================

The first three are created as ``World(opt, agents, desk)``, with the rater's name in ``opt["rater"]``; the last one as
``CollectEmpatheticWorld(opt, agents, collection)``, with two names in ``opt["raters"]``. Each ``parley`` is one
question and its answer; ``epoch_done()`` says when nothing is left to do. Agents observe messages whose ``text`` is
ready to be shown, and answer with the ``text`` of their own messages; ``back`` and ``quit`` are commands.
"""
