"""The answer for one input, whatever happens on the way: reading, limits, errors."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import TypeVar

from rdma_robust.errors import InternalError, LimitReached, ProgramError, SizeLimitError, UsageError
from rdma_robust.frame.answer import Answer, Failure, R, diagnostics
from rdma_robust.frame.exits import Exit
from rdma_robust.frame.question import A, Question
from rdma_robust.frame.shell.inputs import Item, Missing, UnreadableError
from rdma_robust.frame.shell.stderr import death_message, error_line, internal_message, line_elsewhere
from rdma_robust.guard import ENDING, Overrun, Slack, guarded_by, out_of_memory
from rdma_robust.limits import Limits, Progress, ignore
from rdma_robust.text import printable

Result = TypeVar("Result")


def answer_item(
    question: Question[A, R],
    asking: A,
    item: Item,
    progress: Progress = ignore,
    keep: Callable[[Answer[R]], None] = lambda _: None,
) -> Answer[R]:
    """Return the answer for `item`, and tell `keep` of it as soon as it is known. Raises nothing but KeyboardInterrupt."""
    if isinstance(item, Missing):
        return question.failed(Failure(item.name, item.reason) if item.cut else unreadable(item.name, item.reason), asking)
    loaded = guarded(item.name, question.load)
    if isinstance(loaded, Failure):
        return question.failed(loaded, asking)
    started, limits = time.monotonic(), asking.limits()
    known: Answer[R] | None = None

    def tell(answer: Answer[R]) -> None:
        nonlocal known
        known = answer
        keep(answer)

    found = in_time(item.name, limits, partial(question.work, item, asking, limits, progress, tell), question.slack)
    if isinstance(found, Answer):
        return found
    return question.failed(replace(found, time_s=round(time.monotonic() - started, 6)), asking, known)


def lost_item(question: Question[A, R], asking: A, *lost: *tuple[str, str, bool, float]) -> Answer[R]:
    """Return the answer for an input whose process gave none: its name, why, whether by a defect, and after how long."""
    return question.failed(failure_of_process(*lost), asking)


def kept_item(question: Question[A, R], asking: A, known: Answer[R], why: str) -> Answer[R]:
    """Return the answer for an input whose process gave none after it had told of one."""
    return question.failed(Failure(known.record.file, why), asking, known)


def failure_of_process(name: str, why: str, defect: bool, time_s: float) -> Failure:
    """Return the failure of an input whose process gave no answer, by a `defect` or because it was ended."""
    if not defect:
        return Failure(name, why, time_s=time_s)
    return Failure(name, f"internal error: {why}", "internal", messages=(death_message(name, why),), time_s=time_s)


def in_time(name: str, limits: Limits, action: Callable[[], Result], more: Slack = ENDING) -> Result | Failure:
    """Return what `action` returns for the input `name`, or the failure that its exception or a limit means.

    A limit of time ends `action` so much `more` after it was reached. Raises nothing but KeyboardInterrupt.
    """
    try:
        with guarded_by(limits, more):
            return guarded(name, action)
    except (Overrun, LimitReached) as error:
        return Failure(name, str(error))
    except MemoryError as error:
        return Failure(name, out_of_memory(error))


def guarded(name: str, action: Callable[[], Result]) -> Result | Failure:
    """Return what `action` returns for the input `name`, or the failure that its exception means.

    Raises MemoryError and what is no Exception, such as Overrun.
    """
    try:
        return action()
    except UnreadableError as error:
        return unreadable(name, str(error))
    except ProgramError as error:
        return _invalid(name, error)
    except UsageError as error:
        return Failure(name, str(error), "invalid", messages=(message_of(error, name),))
    except SizeLimitError as error:
        return Failure(name, str(error))
    except MemoryError:
        raise
    except Exception as error:
        reason = str(error) if isinstance(error, InternalError) else f"{type(error).__name__}: {error}"
        return Failure(name, f"internal error: {reason}", "internal", messages=(message_of(error, name),))


def unreadable(name: str, reason: str) -> Failure:
    """Return the failure of an input whose text cannot be had."""
    return Failure(name, reason, "unreadable", messages=(f"{printable(name)}: {error_line(reason, UnreadableError.code)}",))


def _invalid(name: str, error: ProgramError) -> Failure:
    errors = [d for d in error.diagnostics if d.severity == "error"]
    more = f" (and {len(errors) - 1} more)" if len(errors) > 1 else ""
    first = f"line {errors[0].span.places[0]}: {errors[0].message}{more}" if errors else "not well-formed"
    warnings = diagnostics(d for d in error.diagnostics if d.severity == "warning")
    return Failure(name, first, "invalid", diagnostics(errors), warnings, (message_of(error, name),), error.source)


def message_of(error: Exception, name: str) -> str:
    """Return what to print about an exception over the input `name`; call it while it is handled."""
    match error:
        case ProgramError():
            return printable(error.render(line_elsewhere), "\n")
        case LimitReached():
            said = f"unknown: {error}"
        case UnreadableError() | UsageError() | SizeLimitError():
            said = error_line(str(error), error.code)
        case InternalError():
            said = internal_message(str(error))
        case _:
            said = internal_message(f"{type(error).__name__}: {error}")
    return f"{printable(name)}: {said}"


def exit_of_error(error: Exception) -> Exit:
    """Return the exit code that an exception means."""
    if isinstance(error, (UnreadableError, ProgramError, UsageError)):
        return Exit.INVALID
    if isinstance(error, (SizeLimitError, MemoryError)):
        return Exit.UNKNOWN
    return Exit.INTERNAL
