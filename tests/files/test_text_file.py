"""Reading users' text files: their exact content, or a one-line error."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from parlai_empathy.errors import DataError
from parlai_empathy.files.text_file import as_unicode, has_half_characters, is_file, open_text, read_text


@given(text=st.text(st.characters(exclude_categories=["Cs"])).filter(lambda text: not text.startswith("\ufeff")))
@pytest.mark.parametrize("mark", [b"", b"\xef\xbb\xbf"])
def test_text_round_trip_with_or_without_bom(tmp_path_factory: pytest.TempPathFactory, mark: bytes, text: str) -> None:
    path = tmp_path_factory.mktemp("text") / "text"
    path.write_bytes(mark + text.encode())
    assert read_text(path, "") == text
    assert open_text(path, "").read() == text


def test_lines_end_only_at_line_feeds(tmp_path: Path) -> None:
    path = tmp_path / "text"
    path.write_bytes("one\r\ntwo\u2028too\rthree\n".encode())
    assert list(open_text(path, "")) == ["one\r\n", "two\u2028too\r", "three\n"]


def test_non_utf_8_error_names_the_line(tmp_path: Path) -> None:
    path = tmp_path / "text"
    path.write_bytes(b"one\ntwo\nj\xfcr\n")
    with pytest.raises(DataError) as caught:
        read_text(path, "it should be prose")
    assert str(caught.value) == f"{path}, line 3: b'\\xfc' is not UTF-8: save the file as UTF-8"


def test_unreadable_file_error_states_the_expected_content(tmp_path: Path) -> None:
    for path, reason in ((tmp_path / "none", "No such file or directory"), (tmp_path, "Is a directory")):
        with pytest.raises(DataError) as caught:
            open_text(path, "it should be prose")
        assert str(caught.value) == f"{path} cannot be read ({reason}): it should be prose"


def test_is_file_is_false_for_folders_and_invalid_paths(tmp_path: Path) -> None:
    (tmp_path / "there").touch()
    assert is_file(tmp_path / "there")
    assert is_file(str(tmp_path / "there"))
    assert not any(map(is_file, (tmp_path, tmp_path / "none", "x" * 5000, "a\0b", "")))


@pytest.mark.parametrize(
    ("text", "written"), [("naïve 😢", "naïve 😢"), ("hi \ud83d", "hi ?"), ("\udcff", "?"), ("", "")]
)
def test_lone_surrogates_become_question_marks(text: str, written: str) -> None:
    assert as_unicode(text).encode() == written.encode()
    assert has_half_characters(text) == (text != written)


def test_tilde_in_path_is_expanded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / "a.txt").write_text("hello")
    assert read_text("~/a.txt", "it should be a text") == "hello"
