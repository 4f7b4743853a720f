"""What the pages share on which people write messages, to a model or to each other.

Rules for messages (:mod:`~parlai_empathy.rating.talking.messages`), their look (``static``), and what somebody is shown
whose message mentions suicide or self-harm (:mod:`~parlai_empathy.rating.talking.distress`): a notice
(:mod:`~parlai_empathy.rating.talking.notices`) with the help lines of a country
(:mod:`~parlai_empathy.rating.talking.help_lines`).
"""
