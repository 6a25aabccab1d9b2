"""Walk-throughs of demos: each is saved, then told at a readable pace."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager

from rdma_robust.cli.answering import answering, default_limits
from rdma_robust.cli.destinations import made_file, report_form
from rdma_robust.cli.options.demo_options import Showing
from rdma_robust.errors import UsageError
from rdma_robust.frame.deciding import exit_of_error, message_of
from rdma_robust.frame.exits import Exit
from rdma_robust.frame.formats.columns import PAPER, Column, Columns
from rdma_robust.frame.shell import stop
from rdma_robust.frame.shell.colour import colourful
from rdma_robust.frame.shell.inputs import Item, Missing, expand, loaded, read_source
from rdma_robust.frame.shell.output import StandardOutput, make_folder, replace_file, width_of_output
from rdma_robust.frame.shell.stderr import warn
from rdma_robust.limits import Limits
from rdma_robust.teaching.demos.walk import CodeListing, Walkthrough
from rdma_robust.text import printable

WORDS_A_SECOND = 5
LONGEST_PAUSE_S = 12.0


def list_demos(demos: Sequence[tuple[str, str]]) -> Exit:
    """Print the name and the one-line help of each demo."""
    out = StandardOutput()
    out.line("demos: proofs of the paper as programs that run\n")
    rows = [(f"rdma-robust demo {name}", text) for name, text in demos]
    widest = [max(map(len, column)) for column in zip(*rows, strict=True)]
    columns = Columns((Column("", widest[0]), Column("", widest[1], wraps=True)), width_of_output(), "  ")
    for row in rows:
        out.line("\n".join(columns.row(row)))
    out.line("\nrdma-robust demo NAME --help tells the options of a demo.")
    return Exit.OK


def run_demo(
    demo: str, build: Callable[[str], Walkthrough], showing: Showing, file: str | None = None, suffix: str = ""
) -> Exit:
    """Make the walk-through by `build`, save what is asked for, and tell it; return the exit code.

    `build` is given the text of the one input that `file` stands for, the empty text without one. Raises UsageError.
    """
    inputs = () if file is None else expand([file], suffixes=(suffix,))
    _protect(showing, inputs)
    name, limits = file or demo, default_limits()
    source = None if file is None else _source(inputs, limits)
    if isinstance(source, Missing):
        warn(source.message())
        return Exit.UNKNOWN if source.cut else Exit.INVALID
    with _busy():
        walk = answering(name, limits, lambda: build("" if source is None else read_source(source)))
    if isinstance(walk, Exit):
        return walk
    try:
        saved = _saved(walk, showing, inputs)
    except BrokenPipeError:
        raise
    except Exception as error:
        warn(message_of(error, name))
        return exit_of_error(error)
    _tell(walk, showing)
    if saved:
        StandardOutput().line(f"Saved: {', '.join(map(printable, saved))}")
    return Exit.OK


def _source(items: Sequence[Item], limits: Limits) -> Item:
    """Return the only one of `items`, with its text if it is a stream. Raises UsageError."""
    if len(items) > 1:
        raise UsageError(f"{len(items)} files; a demo takes one")
    return items[0] if isinstance(items[0], Missing) else loaded(items[0], limits)


def _protect(showing: Showing, inputs: Sequence[Item]) -> None:
    """Find out before anything is computed what cannot be written. Raises UsageError."""
    if showing.output is not None and showing.output == showing.html:
        raise UsageError("--output and --html name the same file")
    if showing.output is not None and not _is_folder(showing.output):
        made_file(showing.output, inputs, force=showing.force)
    if showing.html is not None:
        report_form(showing.html, "html", ("html",), inputs, by="--html")


def _is_folder(path: str) -> bool:
    return os.path.isdir(path) or path.endswith(("/", os.sep))


@contextmanager
def _busy() -> Iterator[None]:
    """Show on a terminal that something is under way."""
    from rich.console import Console  # noqa: PLC0415 - slow

    with Console(stderr=True, no_color=not colourful(sys.stderr)).status("running the programs; Ctrl-C ends it"):
        yield


def _saved(walk: Walkthrough, showing: Showing, inputs: Sequence[Item]) -> list[str]:
    """Write the files that are asked for and return their names. Raises UsageError."""
    texts: dict[str, str] = {}
    if showing.output is not None:
        texts |= _listings(walk, showing.output, showing.force, inputs)
    if showing.html is not None:
        from rdma_robust.teaching.demos.walk_page import walk_page  # noqa: PLC0415 - slow

        texts[showing.html] = walk_page(walk)
    for path, text in texts.items():
        replace_file(path, text)
    return list(texts)


def _listings(walk: Walkthrough, output: str, force: bool, inputs: Sequence[Item]) -> dict[str, str]:
    """Return what to write where: the first listing that has a file's name, or all of them in a folder."""
    listings = {b.file: b.text for s in walk.sections for b in s.blocks if isinstance(b, CodeListing) and b.file}
    if not listings:
        raise UsageError(f"demo {walk.demo} has generated nothing that could be saved with --output")
    if not _is_folder(output):
        return {output: next(iter(listings.values()))}
    make_folder(output)
    found = {os.path.join(output, file): text for file, text in listings.items()}
    for path in found:
        made_file(path, inputs, force=force)
    return found


def _tell(walk: Walkthrough, showing: Showing) -> None:
    from rdma_robust.teaching.demos.walk import walk_parts  # noqa: PLC0415 - slow

    out = StandardOutput()
    paced = sys.stdout.isatty() and showing.seconds != 0
    for number, lines in enumerate(walk_parts(walk, width_of_output() or PAPER, all_moves=showing.all_moves)):
        out.line("\n".join(lines))
        if paced and number < len(walk.sections):
            _pause(_reading_time(lines) if showing.seconds is None else showing.seconds)


def _reading_time(lines: Iterable[str]) -> float:
    return min(LONGEST_PAUSE_S, sum(len(line.split()) for line in lines) / WORDS_A_SECOND)


def _pause(seconds: float) -> None:
    time.sleep(seconds)
    stop.check()
