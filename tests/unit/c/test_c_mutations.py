"""C with tokens that are gone, twice there, exchanged or replaced: it is refused with a place, or decided."""

from __future__ import annotations

import re
from random import Random

import pytest

from rdma_robust import check
from rdma_robust.errors import NO_SPAN, ProgramError, RdmaRobustError
from rdma_robust.language.load import load_program
from tests.conftest import ROOT
from tests.support.random_c import random_twin

TOKEN = re.compile(r'"(?:\\.|[^"\\\n])*"|\w+|#\w+|[^\w\s]')
OTHERS = (
    "0",
    "1",
    "-1",
    "sizeof",
    "NULL",
    "&",
    "*",
    "(",
    ")",
    "{",
    "}",
    ";",
    "return",
    "while",
    "if",
    "break",
    "void",
    "long",
)


def mutated(text: str, random: Random) -> str:
    """Return a text with one to three tokens changed."""
    for _ in range(random.randint(1, 3)):
        found = list(TOKEN.finditer(text))
        one, other = random.choice(found), random.choice(found)
        new = random.choice(("", f"{one[0]} {one[0]}", other[0], random.choice(OTHERS)))
        text = text[: one.start()] + new + text[one.end() :]
    return text


def decide(text: str) -> str:
    """Return what becomes of a text. Raises AssertionError for an error without a place."""
    try:
        program = load_program(text, "mutant.c")
        return check(program, timeout=5).verdict.name
    except ProgramError as error:
        assert all(each.severity == "error" and each.message for each in error.diagnostics)
        assert any(each.span != NO_SPAN or each.code in ("RR818", "RR810") for each in error.diagnostics), error
        return "refused"
    except RdmaRobustError:
        return "refused"


def mutants(seeds: range) -> set[str]:
    """Return what becomes of the mutants of some seeds."""
    mailbox = (ROOT / "tests/data/mailbox.c").read_text(encoding="utf-8")
    seen = set()
    for seed in seeds:
        random = Random(seed)
        seen.add(decide(mutated(random.choice((mailbox, random_twin(seed, 6).c)), random)))
    return seen


def test_some_mutants_are_refused_or_decided() -> None:
    assert "refused" in mutants(range(6))


@pytest.mark.ci
def test_mutants_are_refused_or_decided() -> None:
    assert mutants(range(300, 450)) >= {"refused", "ROBUST", "NOT_ROBUST"}


@pytest.mark.long
def test_many_mutants_are_refused_or_decided() -> None:
    assert "refused" in mutants(range(1000, 5000))


@pytest.mark.parametrize(
    "text",
    [
        f"int a = {'[' * 100_000};",
        f"int f(int x) {{ return {'- ' * 100_000}x; }}",
        f"int {'*' * 100_000}x;",
        f"int f(int x) {{ {'if (x) x = 1; else ' * 20_000}; }}",
    ],
    ids=["brackets", "operators", "pointers", "branches"],
)
def test_c_that_is_nested_too_deeply_for_libclang_is_refused(text: str) -> None:
    with pytest.raises(ProgramError, match="nested too deeply"):
        load_program(text, "deep.c")
