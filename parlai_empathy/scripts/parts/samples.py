"""The options of resampling: ``--resamples`` and ``--seed``."""

from __future__ import annotations

from argparse import _ArgumentGroup

from parlai.core.opt import Opt


def add_samples(group: _ArgumentGroup) -> None:
    """Add ``--resamples`` and ``--seed``, of a report that compares systems by their replies' scores."""
    group.add_argument(
        "--resamples",
        type=int,
        default=1000,
        help="Bootstrap samples for intervals, and random swaps for tests (at least 25 of these per difference).",
    )
    group.add_argument("--seed", type=int, default=0, help="Seed for the samples and swaps.")


def check_samples(opt: Opt) -> None:
    """Raise :class:`OptionError` for an invalid ``--resamples`` or ``--seed``; call it before scoring begins."""
    from parlai_empathy.agent_kit.options.common import check_at_least

    check_at_least(opt, 1, "resamples")
    check_at_least(opt, 0, "seed")
