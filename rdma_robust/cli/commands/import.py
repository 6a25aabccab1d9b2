"""The `import` command: write a program of another tool as one of the language."""  # noqa: N999 - the name of the command

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial
from typing import Annotated

import typer

from rdma_robust.cli.answering import answer_item, default_limits, only
from rdma_robust.cli.destinations import made_file
from rdma_robust.cli.options.arguments import Define, Force, MadeFile
from rdma_robust.cli.options.option_sets import CFileOptions, with_option_sets
from rdma_robust.errors import UsageError
from rdma_robust.frame.exits import Exit
from rdma_robust.frame.shell.inputs import Item, Source
from rdma_robust.frame.shell.output import output as destination

Range = tuple[int, int]
MOST_ADDRESSES = 4096
TRENCHER = "trencher"
C = "c"


@with_option_sets
def import_command(
    context: typer.Context,
    words: Annotated[
        list[str], typer.Argument(metavar="[FORMAT] FILE", help="What the program is written in, and its file.")
    ],
    *,
    addresses: Annotated[
        str | None,
        typer.Option(metavar="LO..HI", help="The words that there are, where addresses have no bound that is found."),
    ] = None,
    skeleton: Annotated[
        bool,
        typer.Option("--skeleton", help="C: write what is understood, with `skip` and the reason where something is not."),
    ] = False,
    define: Define = None,
    c: CFileOptions,
    output: MadeFile = None,
    force: Force = False,
) -> None:
    """Note in the context what is to be done."""
    form, file = _form(words)
    item = only(file, "import", [*(define or ()), *c.definitions()])
    if form == C:
        work = partial(_of_c, skeleton=skeleton)
    elif skeleton:
        raise UsageError("--skeleton is about C")
    else:
        work = partial(_of_trencher, addresses=_range(addresses))
    context.obj.append(partial(run_import, item, work, output, force))


def _form(words: list[str]) -> tuple[str, str]:
    """Return what a program is written in, and its file. Raises UsageError."""
    *forms, file = words
    if forms not in ([], [TRENCHER], [C]):
        raise UsageError(f"import takes one program: `rdma-robust import FILE.c`, or `rdma-robust import {TRENCHER} FILE`")
    if not forms and not file.endswith((f".{TRENCHER}", f".{C}")):
        raise UsageError(f"what is {file} written in? `rdma-robust import {TRENCHER} FILE`, or FILE.c")
    return (forms[0] if forms else file.rpartition(".")[2]), file


def _range(written: str | None) -> Range | None:
    if written is None:
        return None
    found = re.fullmatch(r"(-?[0-9]{1,9})\.\.(-?[0-9]{1,9})", written, re.ASCII)
    if found is None or not 0 <= int(found[2]) - int(found[1]) < MOST_ADDRESSES:
        raise UsageError(f"--addresses {written}: expected LO..HI, at most {MOST_ADDRESSES} words, as 0..9")
    return int(found[1]), int(found[2])


def run_import(item: Item, work: Callable[[str, str], str], to: str | None, force: bool = False) -> Exit:
    """Write a program, as `work` makes it of its text and name, to the file `to`, or to standard output."""
    made_file(to, [item], force=force)
    place = destination(to)

    def imported(source: Source, text: str) -> Exit:
        made = work(text, source.name)
        with place:
            place.line(made.rstrip("\n"))
        return Exit.OK

    return answer_item(item, default_limits(), imported)


def _of_trencher(text: str, name: str, addresses: Range | None) -> str:
    from rdma_robust.language.trencher.trencher_reader import read_trencher  # noqa: PLC0415
    from rdma_robust.language.trencher.trencher_to_rdma import as_rdma  # noqa: PLC0415

    return as_rdma(read_trencher(text, name, addresses, trusting=True), name)


def _of_c(text: str, name: str, *, skeleton: bool) -> str:
    from rdma_robust.c.read_c import rdma_text  # noqa: PLC0415

    if not _has_messages_only(text):
        return rdma_text(text, name, skeleton=skeleton)
    from rdma_robust.c.lock_step.read_mpi import message_text  # noqa: PLC0415

    if skeleton:
        raise UsageError("--skeleton is about C with one-sided operations")
    return message_text(text, name)


def _has_messages_only(text: str) -> bool:
    """Whether C is for MPI and makes no window: then it is a program of messages."""
    return bool(re.search(r"#[ \t]*include[ \t]*[<\"]mpi\.h[>\"]", text)) and "MPI_Win_" not in text
