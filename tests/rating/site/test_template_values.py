"""Items, examples and texts as pages show them."""

from __future__ import annotations

from dataclasses import replace

from parlai_empathy.rating.desk.outcomes import Assignment
from parlai_empathy.rating.site.template_values import SILENCE, Paragraph, example_shown, item_shown, paragraphs, turns
from parlai_empathy.rating.study.items import Item
from parlai_empathy.rating.study.questions import Choice
from parlai_empathy.rating.study.study import Example, Study
from parlai_empathy.rating.study.study_file import STUDIES, read_study


def handed(item: Item, swapped: bool = False) -> Assignment:
    return Assignment("0", "ann", 1, item, swapped, 0.0)


def test_last_context_turn_is_always_speaker_a() -> None:
    assert [(turn.who, turn.text) for turn in turns(["One.", "Two.", "Three."])] == [
        ("A", "One."),
        ("B", "Two."),
        ("A", "Three."),
    ]
    assert [turn.who for turn in turns(["One.", "Two."])] == ["B", "A"]


def test_reply_sides_follow_the_swapped_flag() -> None:
    study, item = read_study("empgpt3_ab"), Item("1", "s", "A", "From A.", ("Hello.",), "B", "", ("Hello.",))
    for swapped, expected in ((False, ["From A.", SILENCE]), (True, [SILENCE, "From A."])):
        shown = item_shown(study, handed(item, swapped))
        assert [judged.turns[0].text for judged in shown.judged] == expected
        assert [judged.name for judged in shown.judged] == ["Reply 1 (left)", "Reply 2 (right)"]
        assert [turn.text for turn in shown.context] == ["Hello."]


def test_whole_dialogues_have_no_separate_context() -> None:
    study = read_study("acute")
    item = Item("1", "s", "A", "Bye.", ("Hi.",), "B", "See you.", ("Well.", "So?"))
    shown = item_shown(study, handed(item))
    assert shown.context == ()
    assert [[turn.text for turn in judged.turns] for judged in shown.judged] == [
        ["Hi.", "Bye."],
        ["Well.", "So?", "See you."],
    ]


def test_examples_of_all_studies_show_answer_labels() -> None:
    for name in STUDIES:
        study = read_study(name)
        for one in study.examples:
            shown = example_shown(study, one)
            assert len(shown.answers) == len(one.answers)
            assert all(question and answer for question, answer in shown.answers)
    pair = example_shown(study_ab := read_study("empgpt3_ab"), study_ab.examples[0])
    assert [answer for _, answer in pair.answers] == ["Reply 1 (left)", "Reply 1 (left)", "No difference"]


def test_example_answers_by_number_are_shown_as_labels() -> None:
    study: Study = read_study("empgpt3_ab")
    example = Example(("Hello.",), "Hi.", "Ho.", (("empathy", "2"), ("fluency", "TIE")))
    assert [answer for _, answer in example_shown(study, example).answers] == ["Reply 2 (right)", "No difference"]


def test_example_answers_that_are_numbers_are_the_choice_not_its_place() -> None:
    question = Choice("herons", "How many?", choices=("0", "1", "2 or more"))
    study = replace(read_study("humod"), questions=(question,))
    for answer, expected in (("0", "0"), ("1", "1"), ("3", "2 or more")):  # as ``question.read`` reads them
        assert question.read(answer).text == expected
        example = Example(("Hello.",), "Hi.", "", (("herons", answer),))
        assert example_shown(study, example).answers == (("How many?", expected),)


def test_paragraphs_and_bullet_lists_are_parsed() -> None:
    text = "One line\ngoes on.\n\n- first\n- second,\n  longer\n\nLast - not least."
    assert paragraphs(text) == [
        Paragraph("One line goes on."),
        Paragraph(points=("first", "second, longer")),
        Paragraph("Last - not least."),
    ]
    assert paragraphs("Rate:\n - how kind\n - how\n   clear") == [
        Paragraph("Rate:"),
        Paragraph(points=("how kind", "how clear")),
    ]
    assert paragraphs("") == []
