"""Messages that mention suicide or self-harm are detected, and others are not. All messages are invented.

The lists document what the rule does, including its known mistakes, ``MISSED`` and ``FALSE_ALARMS``.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from parlai_empathy.rating.talking.distress import plain, speaks_of_self_harm
from parlai_empathy.rating.talking.distress_words import KEY_WORDS
from parlai_empathy.tasks.empathetic_dialogues.reader import read_empathetic_dialogues

SEEN = """
I want to kill myself
i'm going to kill myself tonight
I wanna die
I just want to die.
I don't want to live anymore
i dont want to be here anymore
I wish I was dead
I wish I had never been born
I've been cutting myself again
I keep hurting myself when I am sad
I cut my wrists last night
I have been thinking about suicide
I feel suicidal
I am thinking of ending my life
I want to end it all
I took all my pills
I'm going to take a bottle of sleeping pills
I want to jump off a bridge
I feel like jumping in front of a train
I want to drive off a bridge
Everyone would be better off without me
nobody would care if I died
There is no point in living
What's the point of living?
I have nothing left to live for
life isn't worth living
My life is not worth living
I'm so tired of living
I can't go on like this
I hope I don't wake up tomorrow
I want to go to sleep and never wake up
I should just die
I deserve to die
I don't deserve to live
I'm better off dead
I hate myself and want to die
I tried to hang myself
I want to slit my wrists
I burned myself on purpose
I cut myself on the arm so I can feel something
I used to cut myself
I wrote a goodbye letter to my family
I don't care if I die
I think about dying every day
I want to disappear forever
I keep wanting to die
I don't want to live in this world
I don't want to go on
I don't want to wake up
I want to end it
I self-harm
I relapsed and cut myself
I overdosed last year
I starve myself
i do not wish to exist anymore
Sometimes I think about ending it all
I thought of drowning myself in the river
kms
I am 15 kms
I want to unalive myself
i want to off myself
My brother killed himself last year
She took her own life
I lost my son to suicide
I never wanted to die so much as today
I'd rather die than live like this
""".strip().splitlines()

DISGUISED = [
    *("KILL MYSELF", "i want to k1ll mys3lf", "k i l l myself", "killmyself", "i wanna kill my self"),
    *("I want to kll myself", "I want to kiiiill myselfff", "I want to commit sucide", "im suicidial"),
    *("s.u.i.c.i.d.e", "s-u-i-c-i-d-e", "I want to kill\u200b myself", "I w\u00e1nt to d\u00ede", "I want\nto die"),
    *(
        "to    die is what I want: I want to    die",
        "I, want, to die!!!",
        "I\u2019m better off dead",
        "don\u2019t want to live",
    ),
    "\U0001d5dc \U0001d604\U0001d5ee\U0001d5fb\U0001d601 to die",  # mathematical letters
]

# A denial is ignored if the message takes it back or denies something else.
STILL_SEEN = """
I'm not suicidal but I don't see a reason to live
I don't want to kill myself but I can't stop thinking about it
I'm not going to lie, I want to die
I can't stop thinking about killing myself
I don't know if I want to kill myself
Why shouldn't I just kill myself?
I don't just want to die, I want to disappear
Nothing helps. I want to die.
""".strip().splitlines()

DENIED = """
I would never kill myself
I don't want to die
I do not want to kill myself
I'm not suicidal
I have never thought of suicide
I no longer want to die
I'd never hurt myself
I am not going to kill myself
""".strip().splitlines()

IDIOMS = """
That joke killed me
My boss is going to kill me
My feet are killing me
I was dying of laughter
I nearly died of embarrassment
This cake is to die for
I'm dying to see you
I shot myself in the foot with that email
We watched Suicide Squad yesterday
It is 5 kms from my house
We drove 1,300 kms and saw no heron
I ran about 10 kms today
That would be career suicide
I cut myself shaving
I hurt myself playing football
I burned myself on the stove
I accidentally cut myself with a knife
I cut myself some slack
I killed myself laughing
I've been killing myself at the gym
I drowned myself in work
I'd rather die than eat liver
I overdosed on chocolate yesterday
I jumped off the diving board
I am going to jump out of a plane for charity
I want to end it with my boyfriend
Kill two birds with one stone
I'd kill for a coffee
""".strip().splitlines()

ORDINARY = """
I hung out by myself
I am proud of myself
I taught myself to cook
I did it all by myself
I took the stress off myself
The battery died
My dog died last week
My grandmother died and I miss her
I was afraid I was going to die in that plane
I want to dye my hair
I am thinking about dying my hair blue
I can't live without coffee
My plant wants to live
I want to live forever
I'm tired of work
I'm done with this job
I took my pills this morning
I took the bus
My life is great
I don't want to live with my parents
I don't want to live in this town
I don't want to go on this date
I didn't want to be around them
I don't want to wake up early
It was a wonderful time at any point in life
The sauce was overdone
The cut on my arm is healing
He cut the grass by himself
I am starving
I had a deadline and worked late
I decided to go
""".strip().splitlines()

MISSED = """
I can't take it anymore
Soon nobody will have to worry about me
I have written my will and given away my cat
Ich will nicht mehr leben
""".strip().splitlines()
FALSE_ALARMS = """
Monday again, just kill me
I could kill myself for forgetting her birthday
The film is about suicide
""".strip().splitlines()


@pytest.mark.parametrize("text", [*SEEN, *DISGUISED, *STILL_SEEN])
def test_self_harm_is_detected(text: str) -> None:
    assert speaks_of_self_harm(text)


@pytest.mark.parametrize("text", [*DENIED, *IDIOMS, *ORDINARY])
def test_denials_idioms_and_ordinary_messages_are_not_flagged(text: str) -> None:
    assert not speaks_of_self_harm(text)


@pytest.mark.parametrize("text", MISSED)
def test_known_misses_are_not_detected(text: str) -> None:
    assert not speaks_of_self_harm(text)


@pytest.mark.parametrize("text", FALSE_ALARMS)
def test_known_false_alarms_are_flagged(text: str) -> None:
    assert speaks_of_self_harm(text)


@given(st.sampled_from(SEEN), st.data())
def test_detection_ignores_case_and_whitespace(text: str, data: st.DataObject) -> None:
    letters = [data.draw(st.sampled_from([letter.upper(), letter.lower()])) for letter in text]
    spaced = re.sub(" ", lambda _: data.draw(st.sampled_from([" ", "  ", "\t", " \u00a0", " \n"])), "".join(letters))
    assert speaks_of_self_harm(spaced)


@given(st.sampled_from(SEEN), st.sampled_from(["", "!", "!!!", "...", " :(", " 😢", "?", ' "']))
def test_detection_ignores_trailing_punctuation(text: str, end: str) -> None:
    assert speaks_of_self_harm(text.rstrip(".?") + end)


@given(st.sampled_from(SEEN), st.sampled_from(ORDINARY), st.booleans())
def test_detection_ignores_adjacent_sentences(text: str, other: str, first: bool) -> None:
    pair = (text, other) if first else (other, text)
    assert speaks_of_self_harm(". ".join(pair))


@pytest.mark.parametrize("word", ["suiiide", "suuuucide", "suiciiiidal", "suicccide"])
def test_typos_beside_repeated_letters_are_tolerated(word: str) -> None:
    assert speaks_of_self_harm(f"I think of {word} a lot")


@pytest.mark.parametrize("word", KEY_WORDS[:2])
def test_one_typo_in_key_word_is_tolerated(word: str) -> None:
    inner = range(1, len(word) - 1)
    slips = {word[:place] + word[place + 1 :] for place in inner}
    slips |= {word[:place] + word[place + 1] + word[place] + word[place + 2 :] for place in inner}
    for letter in "abcdefghijklmnopqrstuvwxyz":
        slips |= {word[:place] + letter + word[after:] for place in inner for after in (place, place + 1)}
    assert [slip for slip in sorted(slips) if not speaks_of_self_harm(f"I think of {slip} a lot")] == []


@given(st.sampled_from("0123456789 .,'"), st.text(max_size=80))
def test_arbitrary_text_has_a_plain_form(first: str, text: str) -> None:
    assert re.fullmatch("[a-z0-9. ]*", plain(first + text))
    assert speaks_of_self_harm(first + text) in (True, False)


@given(st.lists(st.sampled_from(ORDINARY), max_size=4))
def test_concatenated_ordinary_messages_are_not_flagged(texts: list[str]) -> None:
    assert not speaks_of_self_harm(". ".join(texts))


def test_real_dialogues_are_rarely_flagged(real_data: Path) -> None:
    # EmpatheticDialogues covers all kinds of topics; hardly any dialogue is about suicide or self-harm.
    dialogues = list(read_empathetic_dialogues(real_data / "empatheticdialogues" / "valid.csv"))[:600]
    texts = [turn.text for dialogue in dialogues for turn in dialogue.turns]
    flagged = [text for text in texts if speaks_of_self_harm(text)]
    assert len(flagged) < len(texts) / 500
    assert all(text in flagged for text in texts if "suicid" in text.casefold())


def test_long_repetitive_messages_are_checked_without_hanging() -> None:
    # Patterns with quadratic run time would hang on these, and on the site hold up all other visitors.
    for text in (
        "1" * 400_000,
        "_" * 400_000,
        "1-" * 200_000,
        "I want to " * 1000,
        "a" * 10_000,
        "myself " * 1400,
        ". " * 5000,
        "k i l l " * 1200,
        "dont want " * 1000,
    ):
        assert not speaks_of_self_harm(text)
