"""ParlAI worlds in which people judge and talk. A rater is a ParlAI agent: it observes what is shown, and acts.

========================== ============================================================================================
world                      agents
========================== ============================================================================================
``LikertRatingWorld``      the rater
``PairwiseWorld``          the rater
``ChatThenRateWorld``      the rater, then the models of the study, in its order
``CollectEmpatheticWorld`` two people
========================== ============================================================================================

The first three are made as ``World(opt, agents, desk)``, with the rater's name in ``opt["rater"]``; the last one as
``CollectEmpatheticWorld(opt, agents, collection)``, with two names in ``opt["raters"]``. Each ``parley`` is one
question and its answer; ``epoch_done()`` says when there is nothing more. What the agents see are messages whose
``text`` can be shown as it is; what they answer is the ``text`` of theirs, where ``back`` and ``quit`` have a meaning.
"""
