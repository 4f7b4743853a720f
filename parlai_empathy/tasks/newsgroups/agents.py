"""The teacher of 20 Newsgroups: the topic of a post, one of 20."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import parlai.utils.logging as logging

from parlai_empathy.task_kit.in_memory_teacher import InMemoryTeacher
from parlai_empathy.tasks.newsgroups.build import build
from parlai_empathy.tasks.newsgroups.reader import read_newsgroups
from parlai_empathy.tasks.newsgroups.splits import fold_of
from parlai_empathy.tasks.newsgroups.topics import TOPICS


class NewsgroupsTeacher(InMemoryTeacher):
    """The topic of a post: the task of the classifier behind TopicPrepend (Rashkin et al. 2019, section 4)."""

    title = "20 Newsgroups"
    build = staticmethod(build)

    def messages(self, path: Path) -> Iterator[dict[str, Any]]:
        """Yield one message per post of the fold."""
        empty = 0
        for post in read_newsgroups(path):
            if not post.text:
                empty += 1
            elif fold_of(post.text) == self.fold:
                yield {
                    "text": post.text,
                    "labels": [post.topic],
                    "label_candidates": list(TOPICS.values()),
                    "subject": post.headers.get("subject", ""),
                    "post_id": post.post_id,
                }
        if empty:
            logging.info(f"{path}: left out {empty:,} post(s) of all folds without text of their own")


class DefaultTeacher(NewsgroupsTeacher):
    """The default of ``-t empathy:newsgroups``: the topic of every post."""
