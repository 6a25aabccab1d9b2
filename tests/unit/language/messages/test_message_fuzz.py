"""Whatever the text: a program, or errors at places of it; never a traceback. What is laid out stays as it is."""

from __future__ import annotations

from random import Random

import pytest

from rdma_robust.errors import ProgramError
from rdma_robust.messages.language.load_messages import load_messages
from rdma_robust.messages.language.message_printer import format_messages
from rdma_robust.messages.language.message_words import message_grammar
from rdma_robust.messages.language.messages_text import program_text
from tests.support.shares import chunks
from tests.unit.language.messages.test_written_out import TEXTS

WORDS = [
    *message_grammar().literals.values(),
    "x",
    "P",
    "Q[0]",
    "r",
    "0",
    "1",
    "\n",
    "a[1]",
    "/*",
    "*/",
    "//",
    "$",
    "\u00e9",
]
WORDS += ["\0", "f", "h", "len", "new", "barrier", "bcast", "9" * 20, "\\"]


def broken(random: Random) -> str:
    """A program with some words or bytes that do not belong there."""
    text = random.choice(list(TEXTS.values()))
    if random.random() < 0.25:
        data = bytearray(text.encode())
        for _ in range(random.randrange(1, 4) if data else 0):
            data[random.randrange(len(data))] = random.randrange(256)
        return data.decode("utf-8", "replace")
    words = [str(token) for token in message_grammar().lex(text)]
    for _ in range(random.randrange(1, 4)):
        at = random.randrange(len(words) + 1)
        words[at : at + random.randrange(2)] = random.choice(([], [random.choice(WORDS)]))
    return " ".join(words)


def check(text: str) -> None:
    try:
        program = load_messages(text, "t.mp")
    except ProgramError as error:
        assert error.diagnostics
        for each in error.diagnostics:
            assert 0 <= each.span.start <= each.span.end <= len(text) + 1
            assert each.span.line <= text.count("\n") + 1
            assert each.render("t.mp", text).startswith(f"t.mp:{each.span.line}:{each.span.column}: error: ")
    else:
        assert load_messages(program_text(program), "t.mp").claims == program.claims
    try:
        formatted = format_messages(text, "t.mp")
    except ProgramError:
        return
    assert format_messages(formatted, "t.mp") == formatted


def test_some_broken_texts() -> None:
    for seed in range(60):
        check(broken(Random(seed)))


@pytest.mark.parametrize("chunk", chunks(1, 20))
def test_broken_texts(chunk: int) -> None:
    for seed in range(300):
        check(broken(Random(1000 * (chunk + 1) + seed)))


@pytest.mark.parametrize("length", [0, 1, 5, 50])
def test_random_words(length: int) -> None:
    for seed in range(8):
        random = Random(seed)
        check(" ".join(random.choice(WORDS) for _ in range(length)))


@pytest.mark.parametrize(
    "text",
    [
        "proc P {" * 150,
        "proc P { reg r = " + "(" * 150 + "1",
        "proc P { reg r = " + "-" * 150 + "1",
        "proc P { reg r\n r" + "[r" * 150,
        "const A = " + "1 + " * 400 + "1",
        "proc P { assume " + "!" * 90 + "1 }",
        "reg a" + "[0]" * 200,
        "proc P { reg a\n assume a" + "[0]" * 150 + " }",
        "proc P { if 1 { }" + " else if 1 { }" * 150 + " }",
        "x\n" * 1000,
    ],
)
def test_texts_without_end(text: str) -> None:
    check(text)
