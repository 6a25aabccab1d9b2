"""The questions of the page, each a tab: which command is asked, and what its answer lacks in a browser."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final


@dataclass(frozen=True, slots=True)
class Tab:
    """A question: the words of the command for `.rdma` and for `.mp`, none where there is no such question.

    `badges` say what exit codes mean, `writes` is a file that the command makes, and with `hardware` it takes the hardware's
    options. `lacks` is what is missing of the answer because it is found in a browser.
    """

    name: str
    title: str
    rdma: tuple[str, ...] = ()
    mp: tuple[str, ...] = ()
    badges: Mapping[int, str] = field(default_factory=dict)
    writes: str = ""
    hardware: bool = True
    lacks: str = ""


_REPAIRED: Final = "repaired.rdma"

TABS: Final = (
    Tab(
        "verdict",
        "Verdict",
        ("check",),
        ("messages", "check", "--engine", "states"),
        {0: "robust", 1: "not robust", 3: "unknown"},
    ),
    Tab("explanation", "Explanation", ("explain",), badges={0: "robust", 1: "not robust", 3: "unknown"}),
    Tab("outcomes", "Outcomes", ("outcomes",), badges={0: "listed", 1: "a claim fails", 3: "cut short"}),
    Tab(
        "repair",
        "Repair",
        ("repair", "-o", _REPAIRED),
        badges={0: "repaired", 1: "no repair", 3: "unknown"},
        writes=_REPAIRED,
    ),
)
"""In the order of the page."""

HARDWARE: Final[Mapping[str, tuple[str, tuple[str, ...]]]] = {
    "cpu": ("Processors", ("sc", "tso")),
    "atomics": ("Atomics", ("hca", "glob")),
    "order": ("Network", ("default", "multipath", "relaxed", "none")),
}
"""Options of the hardware that the page offers: what it calls them, and their values."""
