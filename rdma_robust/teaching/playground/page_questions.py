"""The questions of the page, each a tab, and a program with the question that is open as a link.

A link has all of it in its fragment, so that no server sees it: a version, a full stop, and JSON, deflated (RFC 1951) and in
base64 for addresses (RFC 4648, section 5) without padding. The page reads it by `sitegen/playground/page/link.js`.
"""

from __future__ import annotations

import json
import zlib
from base64 import urlsafe_b64encode
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Final

from rdma_robust.errors import UsageError

HOME_PORT: Final = 8417
HOME: Final = f"http://127.0.0.1:{HOME_PORT}/"
"""Where `rdma-robust playground` serves the page."""

LINK_VERSION: Final = "1"
LONGEST_LINK: Final = 32_000
"""Characters of a fragment at most; `link.js` has the same number. Browsers take more, but not all that links go through."""


@dataclass(frozen=True, slots=True)
class SharedProgram:
    """The content of a link: the text, its language (rdma or mp), the tab, and the options of the hardware by name."""

    text: str
    kind: str
    tab: str
    options: Mapping[str, str] = field(default_factory=dict)


def fragment_of(shared: SharedProgram) -> str:
    """Return the fragment of a link, without its #. Raises UsageError if it would be too long."""
    packer = zlib.compressobj(9, zlib.DEFLATED, -zlib.MAX_WBITS)
    packed = packer.compress(json.dumps(asdict(shared), ensure_ascii=False).encode()) + packer.flush()
    made = f"{LINK_VERSION}.{urlsafe_b64encode(packed).decode().rstrip('=')}"
    if len(made) > LONGEST_LINK:
        many = f"the link would have {len(made):,} characters, and at most {LONGEST_LINK:,} are read"
        raise UsageError(f"{many}: share the file itself")
    return made


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

HARDWARE_OFFERED: Final[Mapping[str, tuple[str, tuple[str, ...]]]] = {
    "cpu": ("Processors", ("sc", "tso")),
    "atomics": ("Atomics", ("hca", "glob")),
    "order": ("Network", ("default", "multipath", "relaxed", "none")),
}
"""Options of the hardware that the page offers: what it calls them, and their values."""
