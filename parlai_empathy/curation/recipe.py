"""The constants of RED, with the paper's values (Xu et al. 2022) as defaults where it states them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from parlai_empathy.errors import OptionError

DIMENSIONS = {
    "ee": "emotional engagement: the probability of a positive emotion, summed over the replies",
    "ae": "attentional engagement: the content words of the longest reply, and 10 for each reply that was edited",
    "be": "behavioural engagement: upvotes minus downvotes, 0 if controversial",
    "re": "reply engagement: the number of replies",
}
"""The four dimensions, and what each of them counts."""

WEIGHTS = {"ee": 2.0, "ae": 3.0, "be": 1.0, "re": 3.0}
ALPHAS = {"ae": 18.0, "be": 2.0, "re": 1.0}
_SMALLEST, _LARGEST = 1e-9, 1e9  # of a constant: products with counts of a billion then fit into 64 bits


@dataclass(frozen=True)
class Recipe:
    """The constants that decide which posts are engaging.

    :param weights: weights of the normalised dimensions in the aggregate, which is divided by their sum. The paper's
        weights add up to 9, and only with this division do its normalised scores give the means of its Table 1.
    :param alphas: the value at which a normalised dimension, ``x / (x + alpha)``, is one half. The default is the
        dimension's median; the paper states no alpha for emotional engagement.
    :param medians: medians of the dimensions and of popularity (``pv``), for the adjustment; by default measured.
    :param kappa: how many standard deviations from the mean a post must be to be chosen.
    :param min_replies: posts with fewer replies are left out. The paper's alphas (1 reply, 2 votes, 18 words) look
        like medians, and can be medians only if each post has a reply, so it seems to have left the others out.
    :param edited_reply: number of words that an edited reply counts for.
    :param parent_reply: number of upvotes that a reply to the post's parent counts for in the post's popularity.
    :param valid_share: share of the threads for validation; the others are for training.
    :param subreddits: subreddits to choose posts from; empty for all.
    :param toxic_above: posts with a higher probability of toxicity are left out, if it is measured.
    :param seed: decides which posts of the larger class are left out, and which threads are for validation.
    :raises OptionError: for an invalid constant: one below 0 or above 1e9, or an alpha or a median below 1e-9.
    """

    weights: Mapping[str, float] = field(default_factory=lambda: dict(WEIGHTS))
    alphas: Mapping[str, float] = field(default_factory=lambda: dict(ALPHAS))
    medians: Mapping[str, float] = field(default_factory=dict)
    kappa: float = 1.0
    min_replies: int = 1
    edited_reply: int = 10
    parent_reply: int = 2
    valid_share: float = 0.2
    subreddits: tuple[str, ...] = ()
    toxic_above: float = 0.5
    seed: int = 0

    def __post_init__(self) -> None:
        _check_names("--weights", self.weights, DIMENSIONS)
        _check_names("--alphas", self.alphas, DIMENSIONS)
        _check_names("--medians", self.medians, [*DIMENSIONS, "pv"])
        _check("--weights", self.weights, least=0)
        for name in ("alphas", "medians"):
            _check(f"--{name}", getattr(self, name), least=_SMALLEST)
        if not sum(self.weights.values()):
            raise OptionError("--weights: all are 0, so that no post differs from another")
        if self.seed < 0:
            raise OptionError(f"--seed {self.seed}: must be at least 0")
        numbers = {"kappa": (self.kappa, 0), "edited-reply": (self.edited_reply, 0)}
        numbers |= {"min-replies": (self.min_replies, 1), "parent-reply": (self.parent_reply, 1)}
        for name, (value, least) in numbers.items():
            _check(f"--{name}", {"": value}, least=least)
        for name, value in (("valid-share", self.valid_share), ("toxic-above", self.toxic_above)):
            if not 0 <= value <= 1:
                raise OptionError(f"--{name} {value}: must be from 0 to 1")


def _check_names(option: str, values: Mapping[str, float], known: Mapping[str, str] | list[str]) -> None:
    for name in values:
        if name not in known:
            raise OptionError(f"{option}: {name!r} is not one of {', '.join(known)}")


def _check(option: str, values: Mapping[str, float], least: float) -> None:
    for name, value in values.items():
        if not least <= value <= _LARGEST:
            shown = f"{name}={value:g}" if name else f"{value:g}"
            raise OptionError(f"{option} {shown}: must be a number from {least:g} to {_LARGEST:g}")
