"""One net from its source to a record for the reports, whatever happens on the way."""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Literal

from rdma_robust.cli.processes.decide_program import exit_of_error, message_of
from rdma_robust.errors import InternalError, ProgramError
from rdma_robust.frame.answer import diagnostics
from rdma_robust.frame.exits import Exit
from rdma_robust.frame.shell.inputs import Item, Missing, Source, UnreadableError, read_source
from rdma_robust.guard import ENDING, Overrun, found_within, guarded_by, out_of_memory
from rdma_robust.limits import Limits
from rdma_robust.petri.cover import DIGITS
from rdma_robust.reports.cover.cover_result import CoverRecord, firing_sequence, invariant_view
from rdma_robust.text import printable

if TYPE_CHECKING:
    from rdma_robust.petri.net import CoverResult, Net

_EXPECT = re.compile(r"^[ \t]*#[ \t]*expect:[ \t]*(safe|unsafe)[ \t\r]*$", re.MULTILINE)

Progress = Callable[[int, int], None]


def _ignore(_stored: int, _frontier: int) -> None:
    return None


@dataclass(frozen=True, slots=True)
class CoverOptions:
    """How to decide one net; `timeout` in seconds from before the file is read, `memory` in mebibytes, None is no limit.

    With `markings`, every step of a run comes with the marking after it.
    """

    engine: str = "auto"
    timeout: float | None = None
    max_states: int | None = None
    memory: int | None = None
    markings: bool = False


@dataclass(frozen=True, slots=True)
class CoverAnswer:
    """The record of one net, and what to say about it on standard error."""

    record: CoverRecord
    messages: tuple[str, ...] = ()


def answer_net(item: Item, options: CoverOptions, progress: Progress = _ignore, *, processes: int = 1) -> CoverAnswer:
    """Return the answer for `item`, found by up to so many processes. Raises nothing but KeyboardInterrupt.

    `progress` is told now and then how many elements are stored and left to expand.
    """
    decide = partial(_decide, options=options, progress=progress, processes=processes)
    started = time.monotonic()
    if isinstance(item, Missing) and item.cut:
        return CoverAnswer(CoverRecord(item.name, "unknown", item.reason))
    if isinstance(item, Missing):
        return CoverAnswer(CoverRecord(item.name, "error", item.reason, "unreadable"), (item.message(),))
    messages: tuple[str, ...] = ()
    try:
        with guarded_by(Limits.of(options.timeout, memory=options.memory, started=started), ENDING):
            record, messages = decide(read_source(item, any_bytes=True), item, started)
    except Overrun as error:
        record = CoverRecord(item.name, "unknown", str(error))
    except MemoryError as error:
        record = CoverRecord(item.name, "unknown", out_of_memory(error))
    except Exception as error:
        record = _failure(item.name, error)
        if record.verdict == "error":
            messages = (message_of(error, item.name),)
    return CoverAnswer(replace(record, time_s=round(time.monotonic() - started, 6)), messages)


def _decide(
    text: str, source: Source, started: float, *, options: CoverOptions, progress: Progress, processes: int
) -> tuple[CoverRecord, tuple[str, ...]]:
    from rdma_robust.petri.cover import cover  # noqa: PLC0415 - so that a mistyped file name is answered at once
    from rdma_robust.petri.spec.reader import read_spec  # noqa: PLC0415

    name = source.name
    net = read_spec(text, name)
    deadline = None if options.timeout is None else started + options.timeout
    limits = Limits(deadline, options.max_states, options.memory, options.timeout)
    result = cover(net, limits, options.engine, progress, processes=processes)
    if (result.run is None) + (result.invariant is None) + (not result.cut) != 2:
        raise InternalError(f"the engine {result.engine} gave not exactly one of a run, an invariant and a limit")
    complaint = _certify(net, text, result, source, limits)
    verdict: Literal["safe", "unsafe", "unknown"] = "unsafe" if result.run else "safe" if result.invariant else "unknown"
    expected = expectation(text)
    decided = expected is not None and verdict != "unknown"
    reasons = {"safe": "no target is coverable", "unsafe": "a target is coverable", "unknown": _cut(result.cut, options)}
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
        run=firing_sequence(net, result.run, options.markings) if result.run else None,
    )
    return record, (f"{printable(name)}: warning: no certificate: {printable(complaint)} [RR006]",) if complaint else ()


def _certify(net: Net, text: str, result: CoverResult, source: Source, limits: Limits) -> str:
    """Write the certificate that `source` wants, if it wants one; return why a limit has left it out."""
    if source.certificate is None:
        return ""
    from rdma_robust.cli.certificates import write_cover_certificate  # noqa: PLC0415 - only where it is wanted

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


def _cut(cut: str, options: CoverOptions) -> str:
    limits = {
        "time": f"reached the time limit of {options.timeout or 0:g} s while searching",
        "states": f"reached the limit of {options.max_states} stored elements",
        "memory": f"reached the memory limit of {options.memory} MiB while searching",
        "incomplete": f"the engine {options.engine} ended without an answer",
        "digits": f"the answer has numbers of more than {DIGITS:,} digits",
    }
    return limits.get(cut, f"the engine gave up: {cut}")


def _failure(name: str, error: Exception) -> CoverRecord:
    match exit_of_error(error), error:
        case Exit.UNKNOWN, _:
            return CoverRecord(name, "unknown", str(error))
        case _, ProgramError():
            first, more = error.diagnostics[0], len(error.diagnostics) - 1
            reason = f"line {first.span.line}: {first.message}{f' (and {more} more)' if more else ''}"
            return CoverRecord(name, "error", reason, "invalid", errors=diagnostics(error.diagnostics))
        case Exit.INVALID, _:
            return CoverRecord(name, "error", str(error), "unreadable" if isinstance(error, UnreadableError) else "invalid")
        case _:
            reason = str(error) if isinstance(error, InternalError) else f"{type(error).__name__}: {error}"
            return CoverRecord(name, "error", f"internal error: {reason}", "internal")


def lost_net(options: CoverOptions, name: str, why: str, defect: bool, time_s: float) -> CoverAnswer:
    """Return the answer for a net whose process gave none."""
    reason = f"internal error: {why}" if defect else why
    record = CoverRecord(name, "error" if defect else "unknown", reason, "internal" if defect else None)
    record = replace(record, engine=options.engine, time_s=time_s)
    return CoverAnswer(record, (f"{printable(name)}: {reason}",) if defect else ())
