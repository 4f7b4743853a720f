"""Where 20 Newsgroups' archive is, and the sample in this package."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest
from parlai.core.opt import Opt

from parlai_empathy.errors import DownloadError
from parlai_empathy.tasks.newsgroups.build import SAMPLE, SOURCE, build
from parlai_empathy.tasks.newsgroups.reader import read_newsgroups
from parlai_empathy.tasks.newsgroups.splits import fold_of
from parlai_empathy.tasks.newsgroups.topics import TOPICS

OneLine = Callable[..., None]


def test_archive_from_mirror_stays_packed(opt: Opt, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Copies may be repacked, so their checksum is not compared with the official archive's."""
    (folder := tmp_path / "mirror" / "20newsgroups").mkdir(parents=True)
    (folder / "20_newsgroups_19997.tar.gz").write_bytes(b"an archive")
    monkeypatch.setenv("EMPATHY_MIRROR", str(folder.parent))
    found = build(opt)
    assert found == Path(opt["datapath"]) / "20newsgroups" / "20_newsgroups_19997.tar.gz"
    assert found.read_bytes() == b"an archive"


def test_official_archive_is_verified(opt: Opt, asked: list[str], assert_one_line: OneLine) -> None:
    with pytest.raises(DownloadError) as caught:
        build(opt)
    assert asked == ["http://qwone.com/~jason/20Newsgroups/20news-19997.tar.gz"]
    assert_one_line(caught.value, asked[0], SOURCE.sha256)
    assert not (Path(opt["datapath"]) / "20newsgroups").exists()


def test_sample_has_posts_of_every_topic_in_every_fold() -> None:
    posts = list(read_newsgroups(build({"edition": "sample"})))
    counts = Counter((post.topic, fold_of(post.text)) for post in posts)
    expected = {(topic, fold): n for topic in TOPICS.values() for fold, n in (("train", 3), ("valid", 1), ("test", 1))}
    assert counts == {**expected, ("sale", "train"): 4}  # a post of the Mac group is cross-posted there
    assert all(post.text and post.headers["subject"] for post in posts)


def test_sample_is_printable_ascii() -> None:
    for file in SAMPLE.rglob("*/*"):
        assert set(file.read_bytes()) <= {*range(0x20, 0x7F), ord("\n")}
