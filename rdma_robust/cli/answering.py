"""What the commands share that answer for programs one after the other, in this process: reading, limits, and failures."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from rdma_robust.cli.inputs import Item, Missing, Source, expand, read_source
from rdma_robust.cli.options.defaults import TIMEOUT_S, default_memory
from rdma_robust.cli.processes.decide_program import exit_of_error, message_of
from rdma_robust.cli.processes.guard import NONE, Overrun, Slack, guarded_by, out_of_memory
from rdma_robust.cli.stderr import warn
from rdma_robust.errors import UsageError
from rdma_robust.limits import Limits
from rdma_robust.reports.share.exits import Exit, worst
from rdma_robust.text import printable


def only(file: str, command: str) -> Item:
    """Return what `file` stands for. Raises UsageError if that is more than one program."""
    items = expand([file])
    if len(items) > 1:
        raise UsageError(f"{command} takes one program, and {printable(file)} stands for {len(items)}")
    return items[0]


def answer_each(
    items: Sequence[Item], limits: Callable[[], Limits], answer: Callable[[Source, str], Exit], more: Slack = NONE
) -> Exit:
    """Return the worst exit code of what `answer` does for each item and its text, see :func:`answer_item`."""
    return worst([answer_item(item, limits(), answer, more) for item in items])


def answer_item(item: Item, limits: Limits, answer: Callable[[Source, str], Exit], more: Slack = NONE) -> Exit:
    """Return the exit code of `answer`, which is given the source and its text and may raise anything.

    Reading and answering end soon after a limit, and so much `more`, is reached. What is raised becomes a message on
    standard error and the exit code that it means, but for BrokenPipeError and KeyboardInterrupt.
    """
    if isinstance(item, Missing):
        warn(f"{printable(item.name)}: error: {item.reason}")
        return Exit.INVALID
    source = item
    return answering(item.name, limits, lambda: answer(source, read_source(source)), more)


def answering(name: str, limits: Limits, action: Callable[[], Exit], more: Slack = NONE) -> Exit:
    """Return what `action` returns, or what its exception means for the program `name`, see :func:`answer_item`."""
    try:
        with guarded_by(limits, more):
            return action()
    except BrokenPipeError:
        raise
    except Overrun as error:
        warn(f"{printable(name)}: unknown: {error}")
        return Exit.UNKNOWN
    except MemoryError as error:
        warn(f"{printable(name)}: unknown: {out_of_memory(error)}")
        return Exit.UNKNOWN
    except Exception as error:
        warn(message_of(error, name))
        return exit_of_error(error)


def default_limits() -> Limits:
    """Return, from now on, the limits of commands that have no options for them."""
    return Limits.of(TIMEOUT_S, memory=default_memory(1))
