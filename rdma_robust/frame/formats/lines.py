"""Findings as one line each: for people and editors (`concise`), and as commands that GitHub reads from a log (`github`)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from rdma_robust.frame.finding import Finding
from rdma_robust.text import printable
from rdma_robust.value_ranges import file_of, told_instance


def concise(finding: Finding) -> str:
    """Return `file:9:3: error: message [RR010]`, on one line whatever the file is called."""
    place = "" if finding.line is None else f":{finding.line}:{finding.column or 1}"
    return f"{printable(file_of(finding.file))}{place}: {finding.level}: {printable(finding.message)}{_code(finding)}"


def github(finding: Finding) -> str:
    """Return a workflow command (`::error file=...,line=...,col=...::message`), which GitHub shows at the line.

    In values of properties `%`, line ends, `:` and `,` are escaped, in the message `%` and line ends.
    """
    place = {
        "file": file_of(finding.file),
        "line": finding.line,
        "col": None if finding.line is None else finding.column or 1,
        "title": f"rdma-robust {finding.code}",
    }
    properties = ",".join(f"{name}={_property(str(value))}" for name, value in place.items() if value is not None)
    word = "notice" if finding.level == "note" else finding.level
    return f"::{word} {properties}::{_data(finding.message + _code(finding))}"


def _code(finding: Finding) -> str:
    """Return the code of a finding, behind the instance of its file that it is about, if it is about one."""
    instance = told_instance(finding.file)
    return f"{f' ({instance})' if instance else ''} [{finding.code}]"


def _data(text: str) -> str:
    return printable(text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A"))


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")


WRITERS: Final[Mapping[str, Callable[[Finding], str]]] = {"concise": concise, "github": github}
