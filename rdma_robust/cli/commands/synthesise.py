"""The `synthesise` command: the smallest programs that two hardware settings tell apart."""

from __future__ import annotations

import os
import re
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Annotated, Final

import typer

from rdma_robust.cli.destinations import made_file
from rdma_robust.cli.options.arguments import Force, limit, order_in, seconds, split_list
from rdma_robust.diagnose import did_you_mean, listing, quote
from rdma_robust.errors import SizeLimitError, UsageError
from rdma_robust.frame.exits import Exit
from rdma_robust.frame.shell.output import StandardOutput, make_folder, replace_file
from rdma_robust.frame.shell.stderr import warn
from rdma_robust.model import Model
from rdma_robust.text import printable

if TYPE_CHECKING:
    from rdma_robust.analyses.synthesis.distinguish import DistinguishingProgram, SynthesisProgress, SynthesisRequest

_NO_NAME: Final = re.compile(r'^fi\(|\.toml"?$')
"""What stands for a table that is none of the package, behind `order`."""

_EVERY = 1.0
"""Seconds between two words of progress."""


@dataclass(frozen=True, slots=True)
class Setting:
    """Words of a `hardware` line as they were written, and the model that they are."""

    words: str
    model: Model


def synthesise_command(
    context: typer.Context,
    *,
    between: Annotated[
        tuple[str, str], typer.Option(metavar="HARDWARE HARDWARE", help="Two settings, as 'cpu tso, order multipath'.")
    ],
    size: Annotated[int, typer.Option(metavar="N", help="Statements of the largest programs, of all threads together.")],
    statements: Annotated[
        str | None,
        typer.Option(
            metavar="NAMES",
            help="What programs have: store, load, cas, put, copy, get, remote-cas, remote-faa, poll, rfence, mfence, "
            "fetch, quiet-cas, quiet-faa, operand-swap, lane-put, lane-get, relaxed-put, relaxed-get, flush, order, "
            "barrier.",
            show_default="by the settings",
        ),
    ] = None,
    threads: Annotated[int, typer.Option(metavar="N", min=1, max=6, help="Threads at most.")] = 3,
    timeout: Annotated[
        float,
        typer.Option(metavar="SECONDS", callback=seconds, help="Time limit for everything; 0 for none.", show_default="300"),
    ] = 300.0,
    output: Annotated[
        str | None, typer.Option("--output", "-o", metavar="DIR", help="Write the programs into the folder DIR.")
    ] = None,
    force: Force = False,
) -> None:
    """Note in the context what is to be done."""
    from rdma_robust.analyses.synthesis.distinguish import SynthesisRequest  # noqa: PLC0415

    settings = (_setting(between[0]), _setting(between[1]))
    wanted = SynthesisRequest(size, _kinds(statements), threads, limit(timeout))
    context.obj.append(partial(run_synthesise, settings, wanted, output, force))


def _setting(words: str) -> Setting:
    from rdma_robust.language.check.program_lines import WORDS  # noqa: PLC0415

    of_models = {word: said for word, said in WORDS.items() if said[0] in Model.__dataclass_fields__}
    found: dict[str, object] = {}
    said = []
    for pair in split_list(words):
        said.append(" ".join(pair.split()))
        match said[-1].split(maxsplit=1):
            case ["order", table] if "order" not in found and _NO_NAME.search(table):
                table = table.strip('"')
                found["order"] = order_in(table)
                said[-1] = f"order {table}" if table.startswith("fi(") else f'order "{table}"'
            case [word, value] if word in of_models and value in of_models[word][1]:
                field, values = of_models[word]
                if field in found:
                    raise UsageError(f"--between {quote(words)}: {word} is said twice")
                found[field] = values[value]
            case _:
                known = [f"{word} {value}" for word, (_, values) in of_models.items() for value in values]
                near = did_you_mean(" ".join(pair.split()), known)
                what = f"{quote(pair.strip())} is no setting of a `hardware` line and its value"
                raise UsageError(f"--between: {what}; {near or 'expected ' + listing(known)}")
    return Setting(", ".join(said), Model(**found))  # type: ignore[arg-type]


def _kinds(written: str | None) -> tuple[str, ...] | None:
    from rdma_robust.analyses.synthesis.program_shapes import STATEMENTS  # noqa: PLC0415

    if written is None:
        return None
    names = [name.strip() for name in written.split(",")]
    for name in names:
        if name not in STATEMENTS:
            raise UsageError(f"--statements: {quote(name)} is none of {listing(STATEMENTS)}")
    return tuple(kind for kind in STATEMENTS if kind in names)


def run_synthesise(settings: tuple[Setting, Setting], wanted: SynthesisRequest, folder: str | None, force: bool) -> Exit:
    """Write every program that is found; return the exit code. Raises UsageError, BrokenPipeError."""
    from rdma_robust.analyses.synthesis.distinguish import told_apart  # noqa: PLC0415 - slow, and the options may be wrong

    first, second = settings
    if folder is not None:
        make_folder(folder)
    counts: dict[int, int] = {}
    code = Exit.OK
    try:
        for found in told_apart(first.model, second.model, wanted, _Said()):
            counts[found.shape.size] = counts.get(found.shape.size, 0) + 1
            stem = f"{_stem(first)}-or-{_stem(second)}-{found.shape.size}-{counts[found.shape.size]}"
            for name, text in _files(found, stem, settings):
                _write(name, text, folder, force)
    except SizeLimitError as error:
        warn(f"unknown: {error}")
        code = Exit.UNKNOWN
    told = ", ".join(f"{number} of {size} statements" for size, number in counts.items()) or "none"
    warn(f"programs that `{first.words}` and `{second.words}` tell apart: {told}")
    return code


def _stem(setting: Setting) -> str:
    return re.sub(r"[^a-z]+", "-", setting.words)


def _files(found: DistinguishingProgram, stem: str, settings: tuple[Setting, Setting]) -> Iterator[tuple[str, str]]:
    """Yield a file for each setting that allows what the other forbids: `outcome` lines are judged under one hardware."""
    sides = ((found.first, settings[0], settings[1]), (found.second, settings[1], settings[0]))
    both = bool(found.first and found.second)
    for number, (conditions, allowing, other) in enumerate(sides):
        if conditions:
            lines = [
                f"outcome {each}: {'allowed' if each in found.sc else 'forbidden'} under sc, allowed under rdma"
                for each in conditions
            ]
            head = f"// Forbidden on `{other.words}`, allowed on `{allowing.words}`; nothing can be left out.\n"
            text = f"{head}hardware {allowing.words}\n{found.body}{chr(10).join(lines)}\n"
            yield f"{stem}{'ab'[number] if both else ''}.rdma", text


def _write(name: str, text: str, folder: str | None, force: bool) -> None:
    if folder is None:
        StandardOutput().write(f"{text}\n")
        return
    path = os.path.join(folder, name)
    made_file(path, [], force=force)
    replace_file(path, text, through_links=False)
    warn(f"written: {printable(path)}")


class _Said:
    """Says now and then how far the search is, where somebody looks."""

    def __init__(self) -> None:
        self._shown = sys.stderr is not None and sys.stderr.isatty()
        self._last = time.monotonic()

    def __call__(self, progress: SynthesisProgress) -> None:
        now = time.monotonic()
        if self._shown and now - self._last >= _EVERY:
            self._last = now
            what = f"{progress.done} of {progress.of} programs of {progress.size} statements"
            warn(f"{what}, {progress.found} told apart so far")
