"""The question of `cover`: is a target of a net coverable?"""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final, Literal

from rdma_robust.errors import InternalError
from rdma_robust.frame.answer import Answer
from rdma_robust.frame.question import Question
from rdma_robust.frame.registry import late, late_record
from rdma_robust.frame.shell.inputs import Source, read_source
from rdma_robust.frame.shell.stderr import no_certificate
from rdma_robust.guard import found_within
from rdma_robust.limits import Limits, Progress
from rdma_robust.petri.cover import DIGITS
from rdma_robust.reports.cover.cover_result import CoverRecord, firing_sequence, invariant_view

if TYPE_CHECKING:
    from rdma_robust.petri.net import CoverResult, Net

_EXPECT = re.compile(r"^[ \t]*#[ \t]*expect:[ \t]*(safe|unsafe)[ \t\r]*$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class CoverAsking:
    """How to decide one net; `timeout` in seconds from before the file is read, `memory` in mebibytes, None is no limit.

    With `markings`, every step of a run comes with the marking after it. So many `processes` may search for one net.
    `explain` asks for what is beneath the rows.
    """

    engine: str = "auto"
    timeout: float | None = None
    max_states: int | None = None
    memory: int | None = None
    markings: bool = False
    expect: bool = False
    explain: bool = False
    processes: int = 1

    def described(self) -> dict[str, object]:
        """Return how the answers were found as the `options` of a report."""
        names = ("engine", "timeout", "max_states", "memory", "markings", "expect")
        return {name: getattr(self, name) for name in names}

    def limits(self) -> Limits:
        """Return the limits of a net, from now on."""
        return Limits.of(self.timeout, self.max_states, self.memory)


def _answer(
    source: Source, asking: CoverAsking, limits: Limits, progress: Progress, _: Callable[[Answer[CoverRecord]], None]
) -> Answer[CoverRecord]:
    from rdma_robust.petri.cover import cover  # noqa: PLC0415 - so that a mistyped file name is answered at once
    from rdma_robust.petri.spec.reader import read_spec  # noqa: PLC0415

    started, name = time.monotonic(), source.name
    text = read_source(source, any_bytes=True)
    net = read_spec(text, name)
    result = cover(net, limits, asking.engine, progress, processes=asking.processes)
    if (result.run is None) + (result.invariant is None) + (not result.cut) != 2:
        raise InternalError(f"the engine {result.engine} gave not exactly one of a run, an invariant and a limit")
    complaint = _certify(net, text, result, source, limits)
    verdict: Literal["safe", "unsafe", "unknown"] = "unsafe" if result.run else "safe" if result.invariant else "unknown"
    expected = expectation(text)
    decided = expected is not None and verdict != "unknown"
    reasons = {"safe": "no target is coverable", "unsafe": "a target is coverable", "unknown": _cut(result.cut, asking)}
    record = CoverRecord(
        file=name,
        verdict=verdict,
        reason=reasons[verdict],
        expected=expected,
        as_expected=verdict == expected if decided else None,
        engine=result.engine,
        places=len(net.places),
        rules=len(net.transitions),
        targets=len(net.targets),
        stored=result.stored,
        invariant=invariant_view(result.invariant) if result.invariant else None,
        run=firing_sequence(net, result.run, asking.markings) if result.run else None,
    )
    record = replace(record, time_s=round(time.monotonic() - started, 6))
    missing = (no_certificate(name, complaint),) if complaint else ()
    return Answer(record, missing, len(missing), text)


def _certify(net: Net, text: str, result: CoverResult, source: Source, limits: Limits) -> str:
    """Write the certificate that `source` wants, if it wants one; return why a limit has left it out."""
    if source.certificate is None:
        return ""
    from rdma_robust.questions.certificate_files import write_cover_certificate  # noqa: PLC0415 - only where it is wanted

    def write() -> str:
        write_cover_certificate(net, text, result, source)
        return ""

    return found_within(limits, write, str)


def expectation(text: str) -> Literal["safe", "unsafe"] | None:
    """Return what the first comment `# expect: safe` or `# expect: unsafe` of a file says, if there is one."""
    found = _EXPECT.search(text)
    if found is None:
        return None
    return "safe" if found[1] == "safe" else "unsafe"


def _cut(cut: str, asking: CoverAsking) -> str:
    limits = {
        "time": f"reached the time limit of {asking.timeout or 0:g} s while searching",
        "states": f"reached the limit of {asking.max_states} stored elements",
        "memory": f"reached the memory limit of {asking.memory} MiB while searching",
        "incomplete": f"the engine {asking.engine} ended without an answer",
        "digits": f"the answer has numbers of more than {DIGITS:,} digits",
    }
    return limits.get(cut, f"the engine gave up: {cut}")


COVER: Final[Question[CoverAsking, CoverRecord]] = Question(
    "cover",
    ("rdma-robust/cover", 1),
    "net",
    _answer,
    late_record("rdma_robust.reports.cover.cover_result:CoverRecord"),
    late("rdma_robust.reports.cover.cover_result:CoverView"),
    families=True,
)
