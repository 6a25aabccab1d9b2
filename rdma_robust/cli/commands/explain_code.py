"""The `explain-code` command: what the code of a message means."""

from __future__ import annotations

import shlex
import textwrap
from collections.abc import Iterable, Iterator
from functools import partial
from typing import Annotated, Final

import typer

from rdma_robust.codes.known_codes import EXAMPLES, RANGES, MessageCode
from rdma_robust.diagnose import did_you_mean
from rdma_robust.errors import UsageError
from rdma_robust.frame.exits import Exit
from rdma_robust.frame.shell.output import StandardOutput, width_of_output
from rdma_robust.text import one_line

WIDTH: Final = 80
"""Of text that goes to no terminal."""


def explain_code_command(
    context: typer.Context, code: Annotated[str | None, typer.Argument(metavar="[CODE]", hidden=True)] = None
) -> None:
    """Note in the context what is to be done."""
    context.obj.append(partial(run_explain_code, code))


def run_explain_code(asked: str | None) -> Exit:
    """Print what the code `asked` means, or all codes; return the exit code. Raises UsageError for an unknown one."""
    from rdma_robust.codes.known_codes import codes  # noqa: PLC0415 - the messages of the other commands need only names

    known = codes()
    if asked is None:
        StandardOutput().write(listed(known.values()) + "\n")
        return Exit.OK
    name = asked.upper() if asked[:2].upper() == "RR" else f"RR{asked}"
    if name not in known:
        hint = did_you_mean(name, known) or "without an argument the command lists them all"
        raise UsageError(f"no message has the code {one_line(asked)!r}; {hint}")
    StandardOutput().say(explained(known[name], width_of_output() or WIDTH))
    return Exit.OK


def listed(codes: Iterable[MessageCode]) -> str:
    """Return a line for each code, under what its range is about."""
    titles = {begin: title for begin, _, title in RANGES}
    lines: list[str] = []
    for code in codes:
        title = titles.pop(code.name, None)
        if title is not None:
            lines += [*([""] if lines else []), title]
        lines.append(f"  {code.name}  {code.severity:7}  {code.title}")
    return "\n".join(lines)


def explained(code: MessageCode, width: int) -> str:
    """Return what a code means, at most `width` characters wide, with its examples."""
    blocks = [f"{code.name}: {code.title} ({code.severity})", *_paragraphs(code.explanation, width)]
    if code.kind == "command":
        blocks += [f"Gives {code.name}:\n\n  {code.bad}", f"Does not:\n\n  {code.repaired}"]
    elif code.kind != "none":
        file = EXAMPLES[code.kind][0]
        shown = f"`rdma-robust {shlex.join(code.command(code.bad))}`"
        shown += "" if file in shown else f" beside {file}"
        blocks += [f"Gives {code.name} ({shown}):", _indented(code.bad), "Does not:", _indented(code.repaired)]
    return "\n\n".join(blocks)


def _paragraphs(text: str, width: int) -> Iterator[str]:
    for paragraph in text.split("\n\n"):
        items = paragraph.split("\n- ") if paragraph.startswith("- ") else [paragraph]
        yield "\n".join(
            textwrap.fill(
                " ".join(item.removeprefix("- ").split()),
                max(30, width),
                initial_indent="- " if len(items) > 1 else "",
                subsequent_indent="  " if len(items) > 1 else "",
                break_long_words=False,
                break_on_hyphens=False,
            )
            for item in items
        )


def _indented(text: str) -> str:
    return textwrap.indent(text.rstrip("\n"), "  ")
