"""The loop of commands that answer for programs one after the other, in this process: reading, limits, and failures."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

from rdma_robust.errors import UsageError
from rdma_robust.files import LARGEST
from rdma_robust.frame.deciding import exit_of_error, message_of
from rdma_robust.frame.exits import Exit, worst
from rdma_robust.frame.shell.apart import each_apart, warned
from rdma_robust.frame.shell.defaults import TIMEOUT_S, default_memory
from rdma_robust.frame.shell.inputs import Item, Missing, Source, all_loaded, expand, read_source
from rdma_robust.frame.shell.output import output
from rdma_robust.frame.shell.stderr import warn
from rdma_robust.guard import ENDING, NONE, Overrun, Slack, guarded_by, out_of_memory
from rdma_robust.limits import Limits
from rdma_robust.text import printable
from rdma_robust.value_ranges import one_value

Found = TypeVar("Found")


def only(
    file: str,
    command: str,
    define: Sequence[str] | None = None,
    suffixes: tuple[str, ...] = (),
    named: tuple[str, ...] = (),
) -> Item:
    """Return what `file` stands for. Raises UsageError if that is more than one program, or instances of one."""
    one_value(define or (), command)
    items = expand([file], suffixes=suffixes, define=define, named=named)
    if len(items) > 1:
        raise UsageError(f"{command} takes one program, and {printable(file)} stands for {len(items)}")
    return items[0]


def answer_each(
    items: Sequence[Item], limits: Callable[[], Limits], answer: Callable[[Source, str], Exit], more: Slack = NONE
) -> Exit:
    """Return the worst exit code of what `answer` does for each item and its text, see :func:`answer_sources`."""
    return answer_sources(items, limits, lambda source: answer(source, read_source(source)), more)


def answer_sources(
    items: Sequence[Item],
    limits: Callable[[], Limits],
    answer: Callable[[Source], Exit],
    more: Slack = NONE,
    largest: int = LARGEST,
) -> Exit:
    """Return the worst exit code of what `answer` does for each item, which may raise anything.

    Reading and answering end soon after a limit, and so much `more`, is reached; where they do not, from outside, for
    `answer` runs in another process (:func:`each_apart`). What is raised becomes a message on standard error and the exit
    code that it means, but for BrokenPipeError and KeyboardInterrupt. A stream is read here, up to a byte after `largest`.
    """
    ready = list(all_loaded(items, limits, largest))

    def answered(number: int) -> Exit:
        item = ready[number]
        if isinstance(item, Missing):
            warn(item.message())
            return Exit.UNKNOWN if item.cut else Exit.INVALID
        return _here(item.name, limits(), lambda: answer(item), more)

    return worst(each_apart([item.name for item in ready], limits(), answered, warned))


def answer_item(item: Item, limits: Limits, answer: Callable[[Source, str], Exit], more: Slack = NONE) -> Exit:
    """Return the exit code of `answer` for one item and its text, see :func:`answer_sources`."""
    return answer_each([item], lambda: limits, answer, more)


def tell_of(
    item: Item,
    written: tuple[str, str | None],
    limits: Callable[[], Limits],
    told: Callable[[Source, Limits], tuple[str, Exit]],
    load: Callable[[], object] = lambda: None,
) -> Exit:
    """Write what `told` says of one item, see :func:`answer_sources`; return its exit code. Raises UsageError.

    `written` are the form, which has colour if it is `text`, and the file, None for standard output. What is slow to load
    `load` loads before any limit counts.
    """
    form, to = written
    place = output(to)
    load()
    within = limits()

    def answered(source: Source) -> Exit:
        text, code = told(source, within)
        with place:
            (place.say if form == "text" else place.line)(text.rstrip("\n"))
        return code

    return answer_sources([item], lambda: within, answered, ENDING)


def answering(name: str, limits: Limits, action: Callable[[], Found], more: Slack = NONE) -> Found | Exit:
    """Return what `action` returns, or the exit code that its exception means for `name`, see :func:`answer_sources`.

    What `action` returns crosses a pipe, and streams are to be read before (:func:`rdma_robust.frame.shell.inputs.loaded`).
    """
    return each_apart([name], limits, lambda _: _here(name, limits, action, more), warned)[0]


def _here(name: str, limits: Limits, action: Callable[[], Found], more: Slack) -> Found | Exit:
    """Return what :func:`answering` returns, in this process."""
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
