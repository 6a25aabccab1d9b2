"""Hints that propose a replacement are data: each is applied here, and the result must get past what it was about."""

from __future__ import annotations

import re
from collections import Counter
from random import Random

import pytest

from rdma_robust.errors import Diagnostic, ProgramError, edited
from rdma_robust.language.load import load_program
from tests.conftest import ROOT
from tests.unit.language.language_support import HEADER
from tests.unit.language.test_errors import BAD, NAMES, test_one_error

INSTRUCTIONS = re.compile(
    r"the `\{` of line \d+ is still open|take one of them out|smaller arrays: |move this line up|use `if` and `else`"
    r"|the \w+ `\w+` is declared later, on line \d+; |it is a node; its variables are written |it is a register of "
    r"|the nodes are |there are no |numbers are |names are made of |name its node: |did you mean `[^`]*`[ ,]"
    r"|give the thread or the register another name|statements stand inside a thread|the variables of "
    r"|declare it first: an array|it is no array|it is an array: |`\w+` is a thread; registers are private"
    r"|`for i in 0\.\.3 \{ \}` has a copy|a `for` declares its counter itself|macros cannot be recursive|it is declared as `"
    r"|declare it at the top|calculate it into a register first|only `cas`, `faa`, `swap` and `nondet` have a value"
    r"|a macro is declared as `"
    r"|the counter of a `for` is known only in its block"
    r"|the other threads are |it is a node; (the threads are |a thread is named here)|on \w+ there is "
    r"|there is no thread on "
    r"|`hardware cpu tso` at the top"
    r"|that thread names its variables alone"
    r"|messages, `start` and `join` are about two|each copy of (the node|\w+) has "
    r"|write `(thread \w+\[\*\] )?on |write the same behind both names|say for how many this holds"
    r"|it has a value: |`recv BUFFER from THREAD`|`rpoll THREAD` waits|`posted BUFFER|`send VARIABLE to THREAD`"
    r"|its lanes are |to \w+ there is |it is a node; without a lane |leave the word out"
)
"""Hints that say what to do where no one text can be proposed."""

NEXT = re.compile(r"did you mean |write `|`==?` \w+")
"""Hints about a word or a sign: behind it the next mistake can come to light."""

MORE = [
    "consumed = consumed + 1",
    "put B.z = consumed + 1",
    "put B.z = x + i",
    "put B.z = -i",
    "z = x + y",
    "B.buf[x] = 1",
    "z = x",
    "z = N",
    "x = B.z",
    "i = B.z + x",
    "i = x; x = B.z; i = 2",
    "B.z = cas(x, 0, 1)",
    "x = cas(x, 0, 1) // old",
    "while x == y { i = 1 }",
    "while x == y { }",
    "while x == y {\n    i = 1\n  }",
    "while x == y {\n    i = 1 // one\n    loop { skip } }",
    "while B.z == 0 { i = i + 1; }",
    "await x == y",
    "await (x == y) && i == 0",
    "await B.z == 1",
    "assert B.z == x",
    "if i == 0 { skip } else if x == y { skip } else { skip }",
    "if i == 0 { if x == y { x = y } }",
    "choose { x = y } or { assume x == y; skip }",
    "ring[x + y] = ring[x]",
    "put A.x = 1",
    "put A.x = i + 1",
    "put A.x = y; skip",
    "get x = A.ring[1]",
    "get A.x = A.y",
    "put B.buf[0] = B.buf[1]",
    "tmp = sent + got",
    "x += 1",
    "ring[i] *= ring[i]",
    "ring[x] -= 2",
    "x += y",
    "i += x + y",
    "B.z += 1",
    "buf[i] %= 2",
    "buf[x] += 1",
    "for k in 0..1 { i = k }; x = y",
    "if i == 0 { skip } else if x == y { for k in 0..1 { i = k } }",
    "i++",
]
LINES = [
    "node A { x = 0, y = 0, consumed, ring[2] }\nnode B { z, buf[2] }\nconst N = 2\ndomain 0..3\n"
    "thread T on A {\n  reg i\n  {}\n}\n",
    "const N = 2; domain 0..3; node A { x, y, consumed, ring[N] }; node B { z, buf[N] }; thread T on A { reg i; {} }\n",
    "const N = 2\ndomain 0..3\nnode B {\n  z\n  buf[N]\n}\nnode A { // mine\n  x,\n  y\n  consumed // tmp\n  ring[N]\n}\n"
    "thread T on A { // go\n  reg i; {}\n  skip\n}\n",
]


def errors(source: str) -> tuple[Diagnostic, ...]:
    try:
        load_program(source, "bad.rdma")
    except ProgramError as error:
        return error.diagnostics
    return ()


def normal(found: Diagnostic) -> str:
    return re.sub(r"line \d+|\d+:\d+", "a place", found.message)


def apply_each(source: str) -> int:
    """Apply each hint of a program alone; return how many there are."""
    found = errors(source)
    for each in found:
        if each.span.origin is not None:
            assert not each.edits
            continue
        if not each.edits:
            assert not each.hint or each.copy or INSTRUCTIONS.match(each.hint), f"no replacement for the hint `{each.hint}`"
            continue
        result = edited(source, each.edits)
        before, after = (Counter(map(normal, each)) for each in (found, errors(result)))
        shown = f"{each.message}: {each.hint}\n{source}\n--- becomes\n{result}"
        assert after[normal(each)] < before[normal(each)], shown
        if not NEXT.match(each.hint):
            assert after <= before - Counter([normal(each)]), shown
    return sum(bool(each.edits) for each in found)


@pytest.mark.parametrize("name", NAMES)
def test_hints_of_bad_programs(name: str) -> None:
    apply_each((BAD / f"{name}.rdma").read_bytes().decode())


def test_hints_of_single_errors() -> None:
    (cases,) = (mark.args[1] for mark in test_one_error.pytestmark)
    assert sum(apply_each(f"{HEADER}{case[0]}\n}}\n") for case in cases) > 25


@pytest.mark.parametrize("frame", range(len(LINES)))
def test_hints_wherever_a_statement_stands(frame: int) -> None:
    for statements in MORE:
        assert apply_each(LINES[frame].replace("{}", statements, 1)), statements


def test_hints_use_names_that_the_file_does_not_use() -> None:
    source = LINES[0].replace("{}", "consumed = consumed + 1", 1).replace("reg i", "reg i, tmp, tmp2")
    (error,) = errors(source)
    assert error.hint.endswith("`reg tmp3`, `tmp3 = consumed`, then `consumed = tmp3 + 1`")
    names = set(re.findall(r"\w+", source))
    for edit in error.edits:
        new = set(re.findall(r"[a-z]\w*", edit.text)) - names
        assert new <= {"tmp3"}


def test_a_put_of_a_sum_is_not_answered_by_what_the_tool_refuses() -> None:
    source = "domain 0..3\nnode A { x }\nnode B { z }\nthread T on A {\n  put B.z = x + 1\n}\n"
    (error,) = errors(source)
    assert "`tmp = x + 1`, `sent = tmp`, then `put B.z = sent`" in error.hint
    assert edited(source, error.edits) == (
        "domain 0..3\nnode A { x, sent }\nnode B { z }\nthread T on A {\n  reg tmp\n"
        "  tmp = x + 1\n  sent = tmp\n  put B.z = sent\n}\n"
    )
    load_program(edited(source, error.edits), "good.rdma")


def test_hints_of_litmus_programs_with_a_wrong_word() -> None:
    """Programs of the suite in which a word has become another one of the file, or a letter of it is missing."""
    random = Random(12)
    files = sorted((ROOT / "litmus").glob("*.rdma"))
    applied = 0
    for file in random.sample(files, 150):
        source = file.read_text()
        code = re.sub(r"//[^\n]*", lambda comment: " " * len(comment[0]), source)
        words = list(re.finditer(r"[A-Za-z_]\w*", code))
        word, other = random.choice(words), random.choice(words)[0]
        instead = other if random.random() < 0.7 else word[0][:-1]
        applied += apply_each(source[: word.start()] + instead + source[word.end() :])
    assert applied > 20
