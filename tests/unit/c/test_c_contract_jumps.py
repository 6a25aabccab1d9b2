"""Loops, `switch`, `break` and `continue` in functions of C with contracts: at random, beside an interpreter of its own."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from random import Random

import pytest

from rdma_robust.contracts.checks.function_checks import Checking, checked
from rdma_robust.contracts.language.load_contracts import load_contracts
from rdma_robust.errors import ProgramError
from rdma_robust.limits import NO_LIMITS

MODULUS = 97


class BreakTaken(Exception):
    pass


class ContinueTaken(Exception):
    pass


class ReturnTaken(Exception):
    pass


@dataclass(frozen=True)
class Statement:
    """A statement: `kind` says what `number` and `parts` are."""

    kind: str
    number: int = 0
    parts: tuple[Statement, ...] = ()
    labels: tuple[int | None, ...] = ()


def block(random: Random, depth: int, inside: str) -> Statement:
    return Statement("block", 0, tuple(statement(random, depth, inside) for _ in range(random.randint(1, 3))))


def statement(random: Random, depth: int, inside: str) -> Statement:
    kinds = ["add", "add", *(["if", "while", "do", "for", "switch"] if depth else []), *inside.split()]
    kind = random.choice(kinds)
    number = random.randint(1, 3)
    if kind in ("add", "break", "continue", "return"):
        return Statement("if", number, (Statement(kind, number),)) if kind != "add" else Statement(kind, number)
    if kind == "switch":
        labels = random.sample([0, 1, 2, None], random.randint(1, 4))
        within = inside if "break" in inside else f"{inside} break"
        return Statement(kind, 0, tuple(block(random, depth - 1, within) for _ in labels), tuple(labels))
    within = inside if kind == "if" else "break continue return"
    return Statement(kind, number, (block(random, depth - 1, within),))


def written(each: Statement, names: list[int]) -> str:
    inner = lambda: "".join(written(part, names) for part in each.parts)  # noqa: E731
    names.append(len(names))
    name = f"i{names[-1]}"
    match each.kind:
        case "add":
            return f"s = (s * 3 + {each.number}) % {MODULUS};\n"
        case "return":
            return "return s + 1;\n"
        case "break" | "continue":
            return f"{each.kind};\n"
        case "block":
            return f"{{ {inner()} }}\n"
        case "if":
            return f"if ((s + x) % {each.number + 1} == 0) {inner()}"
        case "while":
            return f"{{ int {name} = 0; while ({name} < {each.number}) {{ {name}++; {inner()} }} }}\n"
        case "do":
            return f"{{ int {name} = 0; do {{ {name}++; {inner()} }} while ({name} < {each.number}); }}\n"
        case "for":
            step = f"{name}++" if each.number > 1 else f"{name} += 2"
            return f"for (int {name} = 0; {name} < {each.number}; {step}) {inner()}"
        case _:
            heads = ("default" if label is None else f"case {label}" for label in each.labels)
            parts = "".join(f"{head}: {written(part, names)}" for head, part in zip(heads, each.parts, strict=True))
            return f"switch ((s + x) % 4) {{ {parts} }}\n"


@dataclass
class Interpreter:
    x: int
    s: int = 0

    def run(self, each: Statement) -> None:
        match each.kind:
            case "add":
                self.s = (self.s * 3 + each.number) % MODULUS
            case "return":
                raise ReturnTaken
            case "break":
                raise BreakTaken
            case "continue":
                raise ContinueTaken
            case "block":
                for part in each.parts:
                    self.run(part)
            case "if":
                if (self.s + self.x) % (each.number + 1) == 0:
                    self.run(each.parts[0])
            case "switch":
                self.switch(each)
            case _:
                self.loop(each)

    def loop(self, each: Statement) -> None:
        with suppress(BreakTaken):
            for _ in range(each.number):
                with suppress(ContinueTaken):
                    self.run(each.parts[0])

    def switch(self, each: Statement) -> None:
        value = (self.s + self.x) % 4
        label = value if value in each.labels else None
        if label in each.labels:
            with suppress(BreakTaken):
                for part in each.parts[each.labels.index(label) :]:
                    self.run(part)


def result(body: Statement, x: int) -> int:
    found = Interpreter(x)
    try:
        found.run(body)
    except ReturnTaken:
        return found.s + 1
    return found.s


@pytest.mark.parametrize("seed", range(6))
def test_random_functions_agree_with_an_interpreter(seed: int) -> None:
    random, texts, expected = Random(seed), [], {}
    for number in range(8):
        body = block(random, 3, "")
        wrong, x = random.randint(0, 1), random.randint(0, 2)
        head = f"/*@ assigns \\nothing; ensures \\result == {result(body, x) + wrong}; */\n"
        texts.append(f"{head}int f{number}(void)\n{{ int s = 0, x = {x}; {written(body, [])} return s; }}\n")
        expected[f"f{number}"] = "VIOLATED" if wrong else "VERIFIED"
    program = load_contracts("#include <mpi.h>\n" + "".join(texts), "random.c")
    assert {each.name: each.answers[0].verdict for each in checked(program, Checking((1,)), NO_LIMITS)} == expected


def refusal(body: str) -> tuple[str, str]:
    text = f"#include <mpi.h>\n/*@ assigns \\nothing; */\nint f(int x)\n{{ {body} return x; }}\n"
    with pytest.raises(ProgramError) as error:
        load_contracts(text, "example.c")
    return error.value.diagnostics[0].code, error.value.diagnostics[0].message


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("/*@ loop invariant 1; */ while (x > 0) { x--; if (x == 2) break; }",
         "`break` is not read in a loop with a contract"),
        ("/*@ loop invariant 1; */ while (x > 0) { x--; switch (x) { case 1: continue; } }",
         "`continue` is not read in a loop with a contract"),
        ("switch (x) { case 1: int y = 2; x = y; }", "what is declared or stands before the cases is not read"),
        ("switch (x) { x = 1; case 1: x = 2; }", "what is declared or stands before the cases is not read"),
        ("switch (x) { case 1 ... 3: x = 2; }", "this `case` is not read"),
        ("switch (x) { case 1: while (x > 0) { case 2: x--; } }", "`case` is not read"),
        ("switch (x) case 1: x = 2;", "this `switch` is not read"),
    ],
)  # fmt: skip
def test_what_is_refused(body: str, message: str) -> None:
    assert refusal(body) == ("RR964", message)


def test_an_invariant_is_about_the_variable_in_whose_scope_it_stands() -> None:
    text = """#include <mpi.h>
/*@ requires n >= 0; assigns \\nothing; */
int f(int n)
{
	int x = -1;
	{ int x = 1; n += x; }
	/*@ loop invariant x >= 0 && n >= 0; loop variant n; */
	while (n > 0) n--;
	return x;
}
"""
    answers = checked(load_contracts(text, "example.c"), Checking((1,)), NO_LIMITS)
    (found,) = (each.answers[0].counterexample for each in answers if each.name == "f")
    assert found is not None
    assert (found.error, found.span.line) == ("INV", 7)
