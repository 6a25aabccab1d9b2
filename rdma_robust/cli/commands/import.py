"""The `import` command: write a program of another tool as one of the language."""  # noqa: N999 - the name of the command

from __future__ import annotations

import re
from functools import partial
from typing import Annotated, Literal

import typer

from rdma_robust.cli.answering import answer_item, default_limits, only
from rdma_robust.cli.destinations import made_file
from rdma_robust.cli.options.arguments import File, Force, MadeFile
from rdma_robust.errors import UsageError
from rdma_robust.frame.exits import Exit
from rdma_robust.frame.shell.inputs import Source
from rdma_robust.frame.shell.output import output as destination

Range = tuple[int, int]
MOST_ADDRESSES = 4096


def import_command(
    context: typer.Context,
    form: Annotated[Literal["trencher"], typer.Argument(metavar="FORMAT", help="What the program is written in.")],
    file: File,
    *,
    addresses: Annotated[
        str | None,
        typer.Option(metavar="LO..HI", help="The words that there are, where addresses have no bound that is found."),
    ] = None,
    output: MadeFile = None,
    force: Force = False,
) -> None:
    """Note in the context what is to be done."""
    del form  # there is one
    context.obj.append(partial(run_import, file, _range(addresses), output, force))


def _range(written: str | None) -> Range | None:
    if written is None:
        return None
    found = re.fullmatch(r"(-?[0-9]{1,9})\.\.(-?[0-9]{1,9})", written, re.ASCII)
    if found is None or not 0 <= int(found[2]) - int(found[1]) < MOST_ADDRESSES:
        raise UsageError(f"--addresses {written}: expected LO..HI, at most {MOST_ADDRESSES} words, as 0..9")
    return int(found[1]), int(found[2])


def run_import(file: str, addresses: Range | None, to: str | None, force: bool = False) -> Exit:
    """Write the program `file` to the file `to`, or to standard output; return the exit code."""
    item = only(file, "import")
    made_file(to, [item], force=force)
    place = destination(to)

    def imported(source: Source, text: str) -> Exit:
        from rdma_robust.language.trencher.trencher_reader import read_trencher  # noqa: PLC0415
        from rdma_robust.language.trencher.trencher_to_rdma import as_rdma  # noqa: PLC0415

        made = as_rdma(read_trencher(text, source.name, addresses, trusting=True), source.name)
        with place:
            place.line(made.rstrip("\n"))
        return Exit.OK

    return answer_item(item, default_limits(), imported)
