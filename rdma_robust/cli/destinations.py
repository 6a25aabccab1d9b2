"""Where `-o` of every command may write and in which form, found out before anything is decided: a mistake there should
cost nothing. docs/output.md has the rule for people.

A report, what a command has found out, replaces an older one. A program or model, what a command has made, is written as it
is, into a new file or with --force over an old one. Neither is written over an input, nor a report over any program.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from rdma_robust.errors import UsageError
from rdma_robust.frame import registry
from rdma_robust.frame.shell.inputs import Item, Source
from rdma_robust.frame.shell.output import StandardOutput, is_special, make_folder, must_be_writable, replace_file
from rdma_robust.reports.batch.batch_formats import FORMS
from rdma_robust.text import printable

SUFFIXES: Final[Mapping[str, tuple[str, ...]]] = {
    ".txt": ("text", "concise", "github"),
    ".log": ("text", "concise", "github"),
    ".json": ("json", "sarif"),
    ".sarif.json": ("sarif",),
    ".sarif": ("sarif",),
    ".jsonl": ("jsonl",),
    ".ndjson": ("jsonl",),
    ".html": ("html",),
    ".htm": ("html",),
    ".md": ("md",),
    ".markdown": ("md",),
    ".csv": ("csv",),
    ".xml": ("junit",),
    ".svg": ("svg",),
    ".dot": ("dot",),
    ".gv": ("dot",),
}
"""What the suffix of a report's file means: the form that it picks, and the others that are no contradiction to it."""


@dataclass(frozen=True, slots=True)
class Destination:
    """A form of report and its file; None for standard output.

    `in_folder`: its name is one that the tool gives files of a folder. Links of such names that are there are replaced, not
    followed: nobody has named them, and a checkout of somebody else may have brought them.
    """

    format: str
    path: str | None
    in_folder: bool = False

    def write(self, text: str) -> None:
        """Write the whole report. Raises UsageError if that fails; an older report is then still there."""
        if self.path is None:
            StandardOutput().write(text)
        else:
            replace_file(self.path, text, through_links=not self.in_folder)

    def say(self, text: str) -> None:
        """Write a whole report for people, with colour where the place has it. Raises UsageError as :meth:`write`."""
        if self.path is None:
            StandardOutput().say(text.removesuffix("\n"))
        else:
            self.write(text)


def report_form(path: str | None, named: str | None, forms: Sequence[str], inputs: Iterable[Item], by: str = "") -> str:
    """Return the form of the report that goes to `path` (None or `-`: standard output): `named`, or by the suffix.

    `forms` are those of the command, first the one for standard output and for names without a suffix. `by` is the option
    that names the form, if it is not --format. Raises UsageError if the suffix says no form or another than `named`, if the
    file is one of `inputs` or named like a program, or if it cannot be written.
    """
    if path is None or path == "-":
        return named or forms[0]
    shown = printable(path)
    if path.endswith(registry.written_suffixes()):
        raise UsageError(f"{shown} is a program; a report never overwrites one")
    if path.endswith(".toml"):
        raise UsageError(f"{shown} is a table, of an order or of settings; a report never overwrites one")
    _spare(path, inputs)
    must_be_writable(path)
    meant = _meant(path)
    if named is not None:
        if meant and named not in meant:
            option = by or f"--format {named}"
            raise UsageError(f"{option} and the suffix of {shown}, which means {meant[0]}, contradict each other")
        return named
    found = next((form for form in meant if form in forms), None)
    if found is not None:
        return found
    if is_special(path) or not os.path.splitext(path)[1]:
        return forms[0]
    says = f"means {meant[0]}, which this command does not write" if meant else "says no form"
    raise UsageError(f"the suffix of {shown} {says}; name it with --format {'|'.join(forms)}")


def made_file(path: str | None, inputs: Iterable[Item], *, force: bool, back: str = "") -> None:
    """Find out whether a program or model can be written to `path` (None or `-`: standard output).

    Raises UsageError if it is one of `inputs` (`back` is the option that writes those), is there and not to be replaced by
    `force`, or cannot be written.
    """
    if path is None or path == "-":
        return
    _spare(path, inputs, back)
    must_be_writable(path)
    if os.path.lexists(path) and not is_special(path) and not force:
        raise UsageError(f"{printable(path)} is there already; --force replaces it")


def destinations(path: str | None, formats: Sequence[str], items: Sequence[Item]) -> list[Destination]:
    """Return where each report of a batch goes: `path` is a file, or a folder if it is one or ends like one, which is made.

    Raises UsageError as :func:`report_form` does, or where several forms would go to one file.
    """
    to_folder = path is not None and (os.path.isdir(path) or path.endswith(("/", os.sep)))
    if path is not None and to_folder:
        make_folder(path)
        names = formats or ("html",)
        found = [Destination(name, os.path.join(path, FORMS[name].file), True) for name in names]
        for each in found:
            report_form(each.path, each.format, (each.format,), items)
        return found
    if len(formats) > 1:
        where = "on standard output" if path in (None, "-") else f"in the file {printable(str(path))}"
        raise UsageError(f"{len(formats)} forms of report do not fit {where}; name a folder: -o DIR/")
    form = report_form(path, formats[0] if formats else None, tuple(FORMS), items)
    return [Destination(form, None if path == "-" else path)]


def _spare(path: str, inputs: Iterable[Item], back: str = "") -> None:
    """Raise UsageError if `path` is one of the inputs."""
    there = os.path.realpath(path)
    for item in inputs:
        if isinstance(item, Source) and item.path is not None and os.path.realpath(item.path) == there:
            hint = f"; {back} writes it back" if back else ""
            raise UsageError(f"{printable(path)} is one of the inputs, which are never overwritten{hint}")


def _meant(path: str) -> tuple[str, ...]:
    """Return what the longest suffix of `path` that is in the table means, nothing if none is."""
    name = os.path.basename(path).lower()
    found = max((suffix for suffix in SUFFIXES if name.endswith(suffix)), key=len, default="")
    return SUFFIXES.get(found, ())
