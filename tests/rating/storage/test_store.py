"""Where a store may be, and stores of a later version."""

from __future__ import annotations

from pathlib import Path

import pytest

from parlai_empathy.errors import OptionError, StoreError
from parlai_empathy.rating.storage.schema import FORMAT
from parlai_empathy.rating.storage.store import open_database, open_store


@pytest.mark.parametrize(
    ("url", "message"),
    [
        ("mysql://me:secret@host/name", "expected a file, or postgresql://user@host/name"),
        ("/nowhere/at/all/ratings.db", "expected a file in an existing folder"),
        (".", "expected a file in an existing folder"),
        ("~nobody-of-that-name/ratings.db", "expected a file in an existing folder"),
    ],
)
def test_invalid_store_location_raises_option_error(url: str, message: str) -> None:
    with pytest.raises(OptionError) as caught:
        open_store(url)
    assert message in str(caught.value)
    assert "secret" not in str(caught.value)


def test_store_is_not_created_when_may_make_is_false(tmp_path: Path) -> None:
    path = tmp_path / "ratings.db"
    with pytest.raises(OptionError, match="there is no such file: name the store that has the ratings"):
        open_store(str(path), may_make=False)
    assert not path.exists()
    open_store(str(path)).close()
    open_store(str(path), may_make=False).close()


def test_store_of_later_format_raises_store_error(store_url: str) -> None:
    open_store(store_url)
    with open_database(store_url).transaction() as t:
        t.run("UPDATE rating_store SET format = :next", next=FORMAT + 1)
    with pytest.raises(StoreError, match=f"has format {FORMAT + 1}, but this program reads format {FORMAT}"):
        open_store(store_url)
