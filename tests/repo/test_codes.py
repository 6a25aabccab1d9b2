"""Every message has a code of the registry, every code has a message, and codes keep their numbers."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from rdma_robust.codes.known_codes import RANGES, codes
from rdma_robust.errors import InternalError, SizeLimitError, UsageError
from rdma_robust.frame.shell.inputs import UnreadableError
from tests.conftest import ROOT

PACKAGE = ROOT / "rdma_robust"
KNOWN = Path(__file__).parent / "codes.txt"
MAKERS = {
    "error": 0,
    "warn": 0,
    "FindingLine": 4,
    "Diagnostic": 1,
    "_error": 0,
    "_error_at": 0,
    "leave_to_proofs": 0,
    "_refuse": 0,
}
"""What makes a message of an input, and which argument is the code."""

FORM = re.compile(r"RR[0-9]{3}")


def _calls() -> Iterator[tuple[str, ast.expr]]:
    """Yield (place, argument) for the code of everything that makes a message."""
    for path in sorted(set(PACKAGE.rglob("*.py")) - set((PACKAGE / "editing").glob("*.py"))):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if not isinstance(node, ast.Call):
                continue
            name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
            at = MAKERS.get(name)
            plain = isinstance(node.func, ast.Name) and name in ("error", "warn")
            if at is not None and not plain and len(node.args) > at:
                yield f"{path.relative_to(ROOT)}:{node.lineno}", node.args[at]


def test_whoever_makes_a_message_names_its_code() -> None:
    """The code is written where the message is made, or handed on by what is itself asked for one."""
    found = list(_calls())
    assert len(found) > 100
    for place, argument in found:
        if isinstance(argument, ast.Constant):
            assert argument.value in codes(), f"{place}: there is no code {argument.value!r}"
        else:
            assert ast.unparse(argument) in ("code", "each.code"), (
                f"{place}: {ast.unparse(argument)} is not seen to be a code"
            )


def test_every_code_is_used() -> None:
    written = {
        match
        for path in PACKAGE.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
        for match in FORM.findall(node.value)
        if path.parent != PACKAGE / "codes"
    }
    assert written == set(codes())


def test_errors_without_a_place_have_codes() -> None:
    assert {each.code for each in (UnreadableError, UsageError, InternalError, SizeLimitError)} == {
        "RR001",
        "RR002",
        "RR004",
        "RR005",
    }


def test_codes_keep_their_numbers() -> None:
    """`codes.txt` has every code that was ever given, in order; a line of it never goes away and never changes its number.

    Add a line for a new code. A code that is not needed any more keeps its line, with `- ` before its title.
    """
    lines = [line.split(" ", 1) for line in KNOWN.read_text(encoding="utf-8").splitlines()]
    numbers = [number for number, _ in lines]
    assert numbers == sorted(set(numbers))
    assert {number: title for number, title in lines if not title.startswith("- ")} == {
        code.name: code.title for code in codes().values()
    }


def test_codes_are_in_their_ranges() -> None:
    names = list(codes())
    assert names == sorted(names)
    assert all(FORM.fullmatch(name) for name in names)
    begins = [begin for begin, _, _ in RANGES]
    assert begins == sorted(begins)
    for number, (begin, file, _) in enumerate(RANGES):
        inside = re.findall(r"^\[(RR\d+)\]$", (PACKAGE / "codes" / file).read_text(encoding="utf-8"), re.MULTILINE)
        end = begins[number + 1] if number + 1 < len(begins) else "RR999"
        assert inside
        assert all(begin <= name < end for name in inside), file


@pytest.mark.parametrize("name", codes())
def test_a_code_says_something(name: str) -> None:
    code = codes()[name]
    assert code.title
    assert not code.title.endswith(".")
    assert len(code.explanation) > 40
    assert code.explanation.endswith((".", ";"))
    assert (code.severity == "warning") >= name.startswith("RR7")
    assert bool(code.bad) == bool(code.repaired) == (code.kind != "none")
