"""Where the reports of a batch go, found out before anything is decided: a mistake there should cost nothing."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from rdma_robust.cli.inputs import SUFFIX, Item, Source
from rdma_robust.cli.output import StandardOutput, replace_file
from rdma_robust.errors import UsageError
from rdma_robust.reports.batch.batch_formats import FORMS
from rdma_robust.text import printable

SUFFIXES = {".xml": "junit", ".htm": "html", ".markdown": "md", ".ndjson": "jsonl"} | {f".{name}": name for name in FORMS}
"""What the suffix of the output file means when no form is named."""


def form_for(path: str | None, asked: str | None, suffixes: Mapping[str, Sequence[str]], default: str) -> str:
    """Return the form of what is written to `path`: the one asked for, else what the suffix says, else the default.

    `suffixes` has the forms that go with a suffix, the one it means first. The default is for standard output and for names
    without a suffix. Raises UsageError where the suffix says another form than the one asked for, or none.
    """
    if path in (None, "-"):
        return asked or default
    shown = printable(str(path))
    suffix = os.path.splitext(str(path))[1].lower()
    meant = suffixes.get(suffix)
    if asked is None and meant is None and suffix:
        names = "|".join(dict.fromkeys(form for forms in suffixes.values() for form in forms))
        raise UsageError(f"the suffix of {shown} says no form; name it with --format {names}")
    if asked is not None and meant is not None and asked not in meant:
        raise UsageError(f"--format {asked} and the suffix of {shown}, which means {meant[0]}, contradict each other")
    return asked or (meant[0] if meant else default)


@dataclass(frozen=True, slots=True)
class Destination:
    """A form of report and its file; None for standard output."""

    format: str
    path: str | None

    def write(self, text: str) -> None:
        """Write the whole report. Raises UsageError if that fails; an older report is then still there."""
        if self.path is None:
            StandardOutput().write(text)
        else:
            replace_file(self.path, text)


def destinations(path: str | None, formats: Sequence[str], items: Sequence[Item]) -> list[Destination]:
    """Return where each report goes: `path` is a file, or a folder if it is one or ends like one, made if need be.

    Without `formats` the suffix of the file says the form. Raises UsageError where a report could not be written, or
    would overwrite a program.
    """
    if path in (None, "-"):
        if len(formats) > 1:
            raise UsageError("only one form of report fits on standard output; name a folder with -o DIR/")
        return [Destination((formats or ("html",))[0], None)]
    assert path is not None
    programs = {os.path.realpath(item.path) for item in items if isinstance(item, Source) and item.path is not None}
    if os.path.realpath(path) in programs or path.endswith(SUFFIX):
        raise UsageError(f"--output {printable(path)} is a program; a report never overwrites one")
    if os.path.isdir(path) or path.endswith(("/", os.sep)):
        found = [Destination(name, os.path.join(path, FORMS[name].file)) for name in formats or ("html",)]
        _make_folder(path)
    elif len(formats) > 1:
        raise UsageError(f"{len(formats)} forms of report do not fit in the file {printable(path)}; name a folder: -o DIR/")
    else:
        found = [Destination(formats[0] if formats else _by_suffix(path), path)]
    for each in found:
        _must_be_writable(str(each.path))
    return found


def _by_suffix(path: str) -> str:
    suffix = os.path.splitext(path)[1].lower()
    if suffix not in SUFFIXES:
        raise UsageError(f"the suffix of {printable(path)} says no form of report; name it with --format {'|'.join(FORMS)}")
    return SUFFIXES[suffix]


def _make_folder(path: str) -> None:
    try:
        os.makedirs(path, exist_ok=True)
    except OSError as error:
        raise UsageError(f"cannot make the folder {printable(path)}: {error.strerror or error}") from error


def _must_be_writable(path: str) -> None:
    shown = printable(path)
    if os.path.isdir(path):
        raise UsageError(f"cannot write to {shown}: it is a directory")
    folder = os.path.dirname(os.path.realpath(path))
    if not os.path.isdir(folder):
        raise UsageError(f"cannot write to {shown}: its folder does not exist")
    if not os.access(path if os.path.exists(path) else folder, os.W_OK):
        raise UsageError(f"cannot write to {shown}: it is write-protected")
