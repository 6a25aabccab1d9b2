"""One program from its source to a record for the reports, whatever happens on the way."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import TypeVar

from rdma_robust.cli.warning_choice import warned
from rdma_robust.errors import InternalError, LimitReached, ProgramError, SizeLimitError, UsageError
from rdma_robust.frame.exits import Exit
from rdma_robust.frame.shell.inputs import EVERYTHING, Item, Missing, Source, UnreadableError, read_source
from rdma_robust.frame.shell.stderr import death_message, error_line, internal_message
from rdma_robust.guard import ENDING, NONE, Overrun, Slack, guarded_by, out_of_memory
from rdma_robust.limits import Limits
from rdma_robust.options import CheckOptions
from rdma_robust.outcome import Outcome
from rdma_robust.reports.check.result import Result, failure, gave_up, result_of
from rdma_robust.text import one_line, printable


@dataclass(frozen=True, slots=True)
class Answer:
    """The record of one program, and what to say about it on standard error.

    `uncertified` if there is a verdict and no certificate although one is wanted. `text` is the program, as far as it was
    read.
    """

    result: Result
    messages: tuple[str, ...] = ()
    uncertified: bool = False
    text: str | None = None


Progress = Callable[[int, int], None]
Found = TypeVar("Found")


def ignore(_states: int, _frontier: int) -> None:
    return None


def decide_item(
    item: Item,
    options: CheckOptions,
    progress: Progress = ignore,
    keep: Callable[[Answer], None] = lambda _: None,
    *,
    matters: bool = False,
) -> Answer:
    """Return the answer for `item`, and tell `keep` of it as soon as there is a verdict. Raises only KeyboardInterrupt.

    With `matters` it is also asked whether it matters that a program is not robust.
    """
    if isinstance(item, Missing):
        return Answer(gave_up(item.name, item.reason)) if item.cut else _unreadable(item.name, item.reason)
    check = guarded(item.name, partial(_loaded, matters=matters))
    if isinstance(check, Answer):
        return check
    limits = limits_of(options)
    started = time.monotonic()
    known: list[Answer] = []

    def tell(answer: Answer) -> None:
        known.append(answer)
        keep(answer)

    action = partial(_decide, item, partial(check, options=options, progress=progress), options, limits, tell)
    answer = in_time(item.name, limits, action, NONE)
    if known and _lost(answer, known[-1], options):
        return kept_answer(replace(known[-1], messages=(*known[-1].messages, *answer.messages)), answer.result.reason)
    cut = answer.result.verdict == "unknown" and not answer.result.time_s
    return timed(answer, started) if cut else answer


def _lost(answer: Answer, known: Answer, options: CheckOptions) -> bool:
    """Whether an answer that was known was lost by what came beside it, which methods that disagree are not."""
    if known.result.verdict == "unknown":
        return False
    return answer.result.verdict == "unknown" or (answer.result.error_kind == "internal" and not options.self_check)


def kept_answer(known: Answer, why: str) -> Answer:
    """Return an answer that was known before what came beside it was cut short, and say so."""
    result = replace(known.result, left_out=(*known.result.left_out, f"what comes beside the verdict: {one_line(why, 300)}"))
    if not known.uncertified:
        return replace(known, result=result)
    complaint = _message(result.file, f"warning: no certificate: {printable(why)} [RR006]")
    return replace(known, result=result, messages=(*known.messages, complaint))


def _loaded(*, matters: bool = False) -> Callable[..., Outcome]:
    """Return what decides a program. It is slow to load: a mistyped file name is answered before, and no limit counts it."""
    from rdma_robust.pipeline import check_text  # noqa: PLC0415

    if not matters:
        return partial(check_text, crowds=True)
    from rdma_robust.analyses.safety.matters import MATTERS  # noqa: PLC0415

    return partial(check_text, crowds=True, more=(MATTERS,))


def load_deciding() -> None:
    """Load what decides, once for all processes that will be started."""
    from rdma_robust import pipeline  # noqa: F401, PLC0415


def lost_program(name: str, why: str, defect: bool, time_s: float) -> Answer:
    """Return the answer for a program whose process gave none."""
    result = failure(name, "internal", f"internal error: {why}") if defect else gave_up(name, why)
    message = death_message(name, why) if defect else _message(name, why)
    return Answer(replace(result, time_s=time_s), (message,))


def limits_of(options: CheckOptions) -> Limits:
    """Return the limits of `options` for everything that is done for a program, from now on."""
    return Limits.of(options.timeout, options.max_states, options.memory)


def remaining(options: CheckOptions, limits: Limits) -> CheckOptions:
    """Return `options` with what is left of the time."""
    return replace(options, timeout=limits.seconds_left())


def _decide(
    source: Source,
    check: Callable[..., Outcome],
    options: CheckOptions,
    limits: Limits,
    keep: Callable[[Answer], None],
) -> Answer:
    """Return the answer, and tell `keep` of it as soon as there is a verdict: without the certificate that is wanted."""
    text = read_source(source)

    def answered(outcome: Outcome) -> Answer:
        if source.warnings != EVERYTHING:
            outcome = warned(outcome, text, source.name, source.warnings)
        messages = tuple(printable(w.render(source.name, text), "\n") for w in outcome.warnings)
        return Answer(result_of(outcome, source.name), messages, source.certificate is not None, text)

    outcome = check(text, source.name, keep=lambda first: keep(answered(first)))
    answer = answered(outcome)
    complaint = _certify(outcome, source, remaining(options, limits))
    more = (_message(source.name, f"warning: no certificate: {printable(complaint)} [RR006]"),) if complaint else ()
    return replace(answer, messages=(*answer.messages, *more), uncertified=bool(complaint))


def in_time(name: str, limits: Limits, action: Callable[[], Found], more: Slack = ENDING) -> Found | Answer:
    """Return what `action` returns for the program `name`, or the answer that its exception or a limit means.

    A limit of time ends `action` so much `more` after it was reached. Raises nothing but KeyboardInterrupt.
    """
    try:
        with guarded_by(limits, more):
            return guarded(name, action)
    except (Overrun, LimitReached) as error:
        return Answer(gave_up(name, str(error)))
    except MemoryError as error:
        return Answer(gave_up(name, out_of_memory(error)))


def timed(answer: Answer, started: float) -> Answer:
    """Return an answer with the time since `started`, a moment of the monotonic clock."""
    return replace(answer, result=replace(answer.result, time_s=_since(started)))


def guarded(name: str, action: Callable[[], Found]) -> Found | Answer:
    """Return what `action` returns for the program `name`, or the answer that its exception means.

    Raises MemoryError and what is no Exception, such as Overrun.
    """
    try:
        return action()
    except UnreadableError as error:
        return _unreadable(name, str(error))
    except ProgramError as error:
        return Answer(_invalid(name, error), (message_of(error, name),), text=error.source)
    except UsageError as error:
        return Answer(failure(name, "invalid", str(error)), (message_of(error, name),))
    except SizeLimitError as error:
        return Answer(gave_up(name, str(error)))
    except MemoryError:
        raise
    except Exception as error:
        reason = str(error) if isinstance(error, InternalError) else f"{type(error).__name__}: {error}"
        return Answer(failure(name, "internal", f"internal error: {reason}"), (message_of(error, name),))


def _certify(outcome: Outcome, source: Source, options: CheckOptions) -> str:
    """Write the certificate that `source` wants, if it wants one; return why that was not possible."""
    if source.certificate is None:
        return ""
    from rdma_robust.cli.certificates import certify  # noqa: PLC0415 - only where it is wanted

    return certify(outcome, source, options)


def _invalid(name: str, error: ProgramError) -> Result:
    """Return the record of a program with errors."""
    errors = [d for d in error.diagnostics if d.severity == "error"]
    more = f" (and {len(errors) - 1} more)" if len(errors) > 1 else ""
    first = f"line {errors[0].span.line}: {errors[0].message}{more}" if errors else "not well-formed"
    return failure(name, "invalid", first, errors, (d for d in error.diagnostics if d.severity == "warning"))


def message_of(error: Exception, name: str) -> str:
    """Return what to print about an exception over the program `name`; call it while it is handled."""
    match error:
        case ProgramError():
            return printable(error.render(), "\n")
        case LimitReached():
            return _message(name, f"unknown: {error}")
        case UnreadableError() | UsageError() | SizeLimitError():
            return _message(name, error_line(str(error), error.code))
        case InternalError():
            return _message(name, internal_message(str(error)))
        case _:
            return _message(name, internal_message(f"{type(error).__name__}: {error}"))


def exit_of_error(error: Exception) -> Exit:
    """Return the exit code that an exception means outside `check`."""
    if isinstance(error, (UnreadableError, ProgramError, UsageError)):
        return Exit.INVALID
    if isinstance(error, (SizeLimitError, MemoryError)):
        return Exit.UNKNOWN
    return Exit.INTERNAL


def _unreadable(name: str, reason: str) -> Answer:
    return Answer(failure(name, "unreadable", reason), (_message(name, error_line(reason, UnreadableError.code)),))


def _message(name: str, text: str) -> str:
    return f"{printable(name)}: {text}"


def _since(started: float) -> float:
    return round(time.monotonic() - started, 6)
