"""The test for texts that are programs of `.mp`. Imports nothing: whoever reads any file asks this first."""

from __future__ import annotations

import re
from typing import Final

MESSAGES_SUFFIX: Final = ".mp"
_PROCESS: Final = re.compile(r"^[ \t]*(?:daemon[ \t]+)?proc[ \t]+[A-Za-z_]\w*[ \t]*[\[{]", re.ASCII | re.MULTILINE)
_CONTRACT: Final = re.compile(r"\)\s*contract\s+(?:collective|local)\s*\{")
_MAIN: Final = re.compile(r"\bmain[ \t]*\(")


def is_messages(text: str, file: str) -> bool:
    """Return whether a text is one of `.mp`: its name says so or, if it says nothing, there is a process or contract."""
    if file.endswith(MESSAGES_SUFFIX):
        return True
    return "." not in file and (_PROCESS.search(text) is not None or _CONTRACT.search(text) is not None)


def has_contracts_in_c(text: str) -> bool:
    """Return whether functions of a text of C seem to have contracts about MPI."""
    return ("/*@" in text or "//@" in text) and ("\\mpi_collective" in text or "expect contract" in text)


def is_contracts_in_c(text: str) -> bool:
    """Return whether a text of C is of functions with contracts about MPI, and no whole program."""
    return has_contracts_in_c(text) and _MAIN.search(text) is None


def has_contracts(text: str) -> bool:
    """Return whether a function of a text of `.mp` seems to have a contract."""
    return _CONTRACT.search(text) is not None
