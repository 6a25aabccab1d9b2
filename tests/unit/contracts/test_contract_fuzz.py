"""Whatever the text: contracts, or errors at places of it; never a traceback. The one layout keeps what is written."""

from __future__ import annotations

import contextlib
from random import Random

import pytest

from rdma_robust.contracts.language.load_contracts import load_contracts
from rdma_robust.diagnose import Reporter
from rdma_robust.errors import ProgramError
from rdma_robust.language.syntax.parse import parse_tree
from rdma_robust.messages.language.load_messages import load_messages
from rdma_robust.messages.language.message_library import library_text
from rdma_robust.messages.language.message_printer import format_messages
from rdma_robust.messages.language.message_words import message_grammar
from tests.conftest import ROOT
from tests.support.random_contract_texts import ContractTexts
from tests.support.shares import chunks, share

PATHS = sorted((ROOT / "litmus/contracts").glob("*.mp"))
NAMED = [path.read_text(encoding="utf-8") for path in PATHS]
TEXTS = [library_text(), *NAMED]
WORDS = [*message_grammar().literals.values(), "x", "u", "f", "0", "1", "\n", "/*", "*/", "//", "$", "\\", "\\one", "\u00e9"]

FAULTS = {"RR111", "RR917", "RR922", "RR958", "RR961"}
"""Comparisons in two directions, and inputs that are numbers and arrays. Of constants: a division by zero, an array of
fewer than no elements, the greatest of no numbers."""


def broken(random: Random) -> str:
    """A text with some words that do not belong there, or without some that do."""
    text = random.choice(TEXTS) if random.random() < 0.7 else ContractTexts(random).file()
    words = [str(token) for token in message_grammar().lex(text)]
    for _ in range(random.randrange(1, 4)):
        at = random.randrange(len(words) + 1)
        words[at : at + random.randrange(3)] = random.choice(([], [random.choice(WORDS)], words[at : at + 2] * 2))
    return " ".join(words)


def check(text: str) -> None:
    for load in (load_contracts, load_messages):
        try:
            load(text, "t.mp")
        except ProgramError as error:
            assert error.diagnostics
            for each in error.diagnostics:
                assert 0 <= each.span.start <= each.span.end <= len(text) + 1
                assert each.render("t.mp", text).startswith(f"t.mp:{each.span.line}:{each.span.column}: error: ")


def check_layout(text: str) -> None:
    trees = []
    formatted = format_messages(text, "t.mp")
    for each in (text, formatted):
        report = Reporter("t.mp", each)
        trees.append(parse_tree(each, report, message_grammar())[0])
        report.raise_errors()
    assert trees[0] == trees[1]
    assert format_messages(formatted, "t.mp") == formatted


def check_random(random: Random) -> None:
    text = ContractTexts(random).file()
    check_layout(text)
    try:
        found = load_contracts(text, "t.mp")
    except ProgramError as error:
        assert {each.code for each in error.diagnostics} <= FAULTS
        return
    again = load_contracts(format_messages(text, "t.mp"), "t.mp")
    assert (found.contracts, found.claims) == (again.contracts, again.claims)


def test_texts_that_are_broken_at_random() -> None:
    random = Random(1)
    for _ in range(12):
        check(broken(random))


def test_the_layout_of_random_contracts() -> None:
    random = Random(2)
    for _ in range(25):
        check_random(random)


@pytest.mark.parametrize(
    "expression",
    [
        "(" * 150 + "x",
        "!" * 150 + "x",
        "x ? 1 : " * 150 + "x",
        "x ==> " * 150 + "x",
        "x" + "[x]" * 150,
        "\\pre(" * 90 + "x" + ")" * 90,
        "".join(f"\\forall t{n} in 0..1 : " for n in range(150)) + "x",
        "".join(f"\\let t{n} = x : " for n in range(90)) + "x",
    ],
)
def test_expressions_without_end(expression: str) -> None:
    text = f"fun f(x) contract local {{ assigns \\nothing; ensures {expression}; }} {{ return x }}\n"
    check(text)
    with contextlib.suppress(ProgramError):
        check_layout(text)


@pytest.mark.parametrize("number", chunks(1, 10))
def test_many_of_them(number: int) -> None:
    random = Random(100 + number)
    for _ in range(60):
        check(broken(random))
        check_random(random)


@pytest.mark.parametrize("text", share(NAMED, 20))
def test_named_programs_are_laid_out(text: str) -> None:
    assert format_messages(text, "t.mp") == text
