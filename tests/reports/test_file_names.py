"""Files are named after titles, with unique names."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from parlai_empathy.reports.file_names import file_names


def test_file_names_are_derived_from_titles() -> None:
    titles = ["P@1, shuffled (%)", "p_at_1", "P at 1!", "...", "x" * 300, ""]
    expected = ["p_1_shuffled.png", "p_at_1.png", "p_at_1_2.png", "plot.png", f"{'x' * 60}.png", "plot_2.png"]
    assert list(file_names(titles, ".png", "plot")) == expected


def test_file_names_of_letters_with_many_bytes_are_cut() -> None:
    """A mathematical letter has four bytes; after an a and a b, part of one does not fit."""
    assert list(file_names(["\U0001d4d5" * 60, "ab" + "\U0001d4d5" * 60], ".csv", "table")) == [
        "\U0001d4d5" * 45 + ".csv",
        "ab" + "\U0001d4d5" * 44 + ".csv",
    ]


@given(st.lists(st.sampled_from(["a", "A", "a 2", "a_2", "", "-", "a 3"]) | st.text(max_size=3), max_size=12))
def test_file_names_are_unique_ignoring_case(titles: list[str]) -> None:
    names = list(file_names(titles, ".csv", "table"))
    assert len({name.lower() for name in names}) == len(titles)
