"""Where WordNet is searched for, and what is read: a tiny one, and the real one where it is installed."""

from __future__ import annotations

import re
import shutil
import warnings
from pathlib import Path
from typing import Any

import nltk
import pytest
from tiny_wordnet import write_wordnet

from parlai_empathy.errors import DataError, MissingDependencyError
from parlai_empathy.scoring import wordnet
from parlai_empathy.scoring.wordnet import open_wordnet


@pytest.fixture
def nowhere(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Hide every installed WordNet."""
    monkeypatch.setattr(nltk.data, "path", [])
    monkeypatch.setattr(wordnet, "DEBIAN", tmp_path / "debian")
    monkeypatch.delenv("WNSEARCHDIR", raising=False)
    monkeypatch.delenv("WNHOME", raising=False)


def synonyms(reader: Any, word: str) -> list[list[str]]:
    return [[lemma.name() for lemma in synset.lemmas()] for synset in reader.synsets(word)]


@pytest.mark.usefixtures("nowhere")
def test_synsets_are_read_in_order(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("WNSEARCHDIR", str(write_wordnet(tmp_path / "dict")))
    reader = open_wordnet()
    assert reader.get_version() == "9.9"
    assert synonyms(reader, "car") == [["car", "auto", "motor_car"], ["car", "wagon"]]
    assert synonyms(reader, "autos") == [["car", "auto", "motor_car"]]  # the plural's s is removed
    assert synonyms(reader, "starting") == [["begin", "start"]]
    assert synonyms(reader, "boat") == []


@pytest.mark.usefixtures("nowhere")
def test_opening_wordnet_gives_no_warnings(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("WNSEARCHDIR", str(write_wordnet(tmp_path / "dict")))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        open_wordnet()


def put_for_debian(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_wordnet(folder / "debian", version="1.0")  # where the fixture expects Debian's


def put_in_wnhome(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_wordnet(folder / "home" / "dict", version="2.0")
    monkeypatch.setenv("WNHOME", str(folder / "home"))


def put_in_wnsearchdir(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WNSEARCHDIR", str(write_wordnet(folder / "searched", version="3.0")))


def put_in_nltks_archive(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    written = write_wordnet(folder / "packed" / "wordnet", version="4.0")
    archive = shutil.make_archive(str(private(folder / "nltk_data") / "wordnet"), "zip", written.parent, "wordnet")
    Path(archive).chmod(0o644)
    monkeypatch.setattr(nltk.data, "path", [str(folder / "nltk_data")])


def put_in_nltks_folder(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shutil.copytree(write_wordnet(folder / "w", version="5.0"), private(folder / "nltk_data") / "wordnet")
    monkeypatch.setattr(nltk.data, "path", [str(folder / "nltk_data")])


def private(data: Path) -> Path:
    """Return NLTK's folder for corpora, not writable by others, since NLTK would refuse it."""
    for folder in (data, data / "corpora"):
        folder.mkdir(exist_ok=True)
        folder.chmod(0o755)
    return data / "corpora"


PLACES = [put_for_debian, put_in_wnhome, put_in_wnsearchdir, put_in_nltks_archive, put_in_nltks_folder]


@pytest.mark.usefixtures("nowhere")
@pytest.mark.parametrize("count", range(1, len(PLACES) + 1))
def test_wordnet_locations_are_searched_in_order_of_precedence(
    count: int, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    for put in PLACES[:count]:  # later places take precedence
        put(tmp_path, monkeypatch)
    reader = open_wordnet()
    assert reader.get_version() == f"{count}.0"
    assert synonyms(reader, "wagon") == [["car", "wagon"]]


@pytest.mark.usefixtures("nowhere")
@pytest.mark.parametrize(("variable", "below"), [("WNSEARCHDIR", ""), ("WNHOME", "dict")])
def test_environment_variable_with_wrong_folder_raises(
    variable: str, below: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    put_for_debian(tmp_path, monkeypatch)
    monkeypatch.setenv(variable, str(tmp_path / "wrong"))
    with pytest.raises(MissingDependencyError, match=re.escape(f"nor in {tmp_path / 'wrong' / below}:")):
        open_wordnet()


@pytest.mark.usefixtures("nowhere")
def test_missing_wordnet_error_names_the_remedies(tmp_path: Path) -> None:
    with pytest.raises(MissingDependencyError) as caught:
        open_wordnet()
    assert str(caught.value) == (
        f"METEOR needs WordNet, which is neither among NLTK's data nor in {tmp_path / 'debian'}: run `python -m "
        "nltk.downloader wordnet`, or install Debian's package wordnet-base, or set WNSEARCHDIR to the folder that "
        "contains data.noun"
    )


@pytest.mark.usefixtures("nowhere")
@pytest.mark.parametrize("name", ["index.adv", "data.verb", "noun.exc"])
def test_missing_file_error_names_the_file(name: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    put_in_wnsearchdir(tmp_path, monkeypatch)
    (tmp_path / "searched" / name).unlink()
    pattern = rf"^\S+searched: WordNet cannot be read \(.*{re.escape(name)}.*\): install it again$"
    with pytest.raises(DataError, match=pattern):
        open_wordnet()


@pytest.mark.usefixtures("nowhere")
def test_broken_file_error_names_file_and_line(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    put_in_wnsearchdir(tmp_path, monkeypatch)
    with (tmp_path / "searched" / "index.verb").open("a") as file:
        file.write("walk v many 0 1 0 00000000\n")
    with pytest.raises(DataError, match=r"^\S+searched: WordNet cannot be read \(.*index\.verb, line 4.*\): install"):
        open_wordnet()


@pytest.mark.usefixtures("nowhere")
def test_folder_refused_by_nltk_error_suggests_copying_it(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    class Refusing:
        def __init__(self, root: str, other_languages: None) -> None:
            raise PermissionError(f"NLTK will not\nread {root}")

    put_for_debian(tmp_path, monkeypatch)
    monkeypatch.setattr(wordnet, "_reader_class", lambda: Refusing)
    with pytest.raises(DataError, match=r"\(NLTK will not read \S+debian\): copy it to where only you can write$"):
        open_wordnet()


def test_installed_wordnet_has_expected_synonyms() -> None:
    try:
        reader = open_wordnet()
    except MissingDependencyError as error:
        pytest.skip(str(error))
    assert re.fullmatch(r"\d[\d.]*\+?", reader.get_version())
    assert any({"car", "auto", "automobile"} <= set(words) for words in synonyms(reader, "car"))
    assert any({"travel", "go"} <= set(words) for words in synonyms(reader, "went"))  # from the list of irregular forms
    assert not any("car" in words for words in synonyms(reader, "happy"))
