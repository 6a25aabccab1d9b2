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
    """The content of a link: the text, its language (rdma or mp), the tab, the options of the hardware by name, the
    place in the explorer, as what follows # in a link of `explore`, and the name of the exercise that it answers."""

    text: str
    kind: str
    tab: str
    options: Mapping[str, str] = field(default_factory=dict)
    place: str = ""
    exercise: str = ""


def fragment_of(shared: SharedProgram) -> str:
    """Return the fragment of a link, without its #. Raises UsageError if it would be too long."""
    packer = zlib.compressobj(9, zlib.DEFLATED, -zlib.MAX_WBITS)
    packed = packer.compress(json.dumps(asdict(shared), ensure_ascii=False).encode()) + packer.flush()
    made = f"{LINK_VERSION}.{urlsafe_b64encode(packed).decode().rstrip('=')}"
    if len(made) > LONGEST_LINK:
        many = f"the link would have {len(made):,} characters, and at most {LONGEST_LINK:,} are read"
        raise UsageError(f"{many}: share the file itself")
    return made


NO_C: Final = (
    "C is not read here: it needs libclang, which a browser does not have. The installed tool decides about it, by "
    "rdma-robust check, and writes a program of it that this page reads, by rdma-robust import."
)
CUT_SHORT: Final = (
    "This search ran in Python, several times slower than in compiled code: where it reached a limit, the installed tool "
    "may have an answer."
)


@dataclass(frozen=True, slots=True)
class AnswerForm:
    """A form of an answer: what it is called, and the words of the command. An answer that is an SVG image is drawn."""

    title: str
    words: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class TabQuestion:
    """A question about programs of one language: the forms of the answer, the first is shown first; what exit codes
    0, 1 and 3 mean; what the answer lacks because it is found in a browser; and the code of the warning that nothing is to
    be decided, with what is said then instead of that all is well."""

    forms: tuple[AnswerForm, ...]
    said: tuple[str, str, str]
    lacks: str = ""
    vacant: tuple[str, str] | None = None


def _asked(
    *words: str,
    said: tuple[str, str, str],
    lacks: str = "",
    vacant: tuple[str, str] | None = None,
    **forms: tuple[str, ...],
) -> TabQuestion:
    """Return a question that a command answers, with the forms of its answer besides the report, by their titles."""
    return TabQuestion(
        (AnswerForm("Report", words), *(AnswerForm(title, words) for title, words in forms.items())), said, lacks, vacant
    )


@dataclass(frozen=True, slots=True)
class Tab:
    """A tab of the page: the questions about `.rdma` and about `.mp`, None where there is no such question.

    `writes` is a file that the command makes, with `hardware` it takes the hardware's options, and the answer is a page of
    its own where it is `explored`.
    """

    name: str
    title: str
    rdma: TabQuestion | None = None
    mp: TabQuestion | None = None
    writes: str = ""
    hardware: bool = True
    explored: bool = False


_REPAIRED: Final = "repaired.rdma"
_DRAWN: Final = ("explain", "--format", "svg", "--of")
_CHART: Final = ("messages", "explain", "--format", "svg")
_ROBUST: Final = ("robust", "not robust", "unknown")
_FINE: Final = ("fine", "goes wrong", "unknown")
_CLAIMS: Final = ("claims hold", "a claim fails", "unknown")
_ONE_ENGINE: Final = (
    "Messages are decided by the engine states alone: sat and smt need python-sat, numpy and z3, which a browser does not "
    "have. Where it reaches its limit, the installed tool may have an answer."
)
_WITHOUT_Z3: Final = "z3, which a browser does not have, is not asked: "
_WAITS: Final = (
    "The verdict is found in this tab, for 10 s at most, and steps wait for it; the installed explorer finds it beside them."
)

TABS: Final = (
    Tab("verdict", "Verdict", _asked("check", said=_ROBUST)),
    Tab("messages", "Messages", mp=_asked("messages", "check", said=_FINE, lacks=_ONE_ENGINE)),
    Tab(
        "explanation",
        "Explanation",
        _asked("explain", said=_ROBUST, Timeline=(*_DRAWN, "timeline"), Graph=(*_DRAWN, "graph")),
        _asked("messages", "explain", said=_FINE, lacks=_ONE_ENGINE, Chart=_CHART),
    ),
    Tab(
        "explorer",
        "Explorer",
        _asked("explore", said=_ROBUST, lacks=_WAITS),
        _asked("explore", said=_FINE, lacks=_WAITS),
        explored=True,
    ),
    Tab("outcomes", "Outcomes", _asked("outcomes", said=("listed", "a claim fails", "cut short"))),
    Tab(
        "repair",
        "Repair",
        _asked("repair", "-o", _REPAIRED, said=("repaired", "no repair", "unknown")),
        writes=_REPAIRED,
    ),
    Tab("models", "Models", _asked("models", said=("robust on all", "not on all", "unknown")), hardware=False),
    Tab("verify", "Verify", _asked("verify", said=_CLAIMS)),
    Tab(
        "prove",
        "Prove",
        TabQuestion(
            (AnswerForm("As it says", ("prove",)), AnswerForm("All models", ("prove", "--model", "all"))),
            ("safe", "not safe", "unknown"),
            f"{_WITHOUT_Z3}what only the engines predicates and spacer prove is unknown here.",
        ),
        hardware=False,
    ),
    Tab(
        "contracts",
        "Contracts",
        mp=_asked(
            "contracts",
            "check",
            said=("verified", "violated", "unknown"),
            lacks=f"{_WITHOUT_Z3}what the inputs that are tried do not settle is unknown here.",
            vacant=("RR755", "no contract"),
            Chart=("contracts", "explain", "--format", "svg"),
        ),
    ),
    Tab("lint", "Lint", _asked("lint", said=("no warnings", "warnings", "unknown")), hardware=False),
)
"""In the order of the page."""

HARDWARE_OFFERED: Final[Mapping[str, tuple[str, tuple[str, ...]]]] = {
    "cpu": ("Processors", ("sc", "tso")),
    "atomics": ("Atomics", ("hca", "glob")),
    "order": ("Network", ("default", "multipath", "relaxed", "none")),
}
"""Options of the hardware that the page offers: what it calls them, and their values."""
