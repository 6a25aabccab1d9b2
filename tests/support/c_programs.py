"""C programs that print numbers: named ones for what is easily read wrong, and random ones."""

from __future__ import annotations

import random
import shutil
import subprocess
from collections.abc import Iterable, Sequence
from pathlib import Path

import pytest

from rdma_robust.c.code import Call
from rdma_robust.c.front.c_options import COptions
from rdma_robust.c.front.c_units import read_units
from tests.conftest import ROOT
from tests.support.c_interpreter import Interpreter, Number

needs_compiler = pytest.mark.skipif(shutil.which("gcc") is None, reason="there is no gcc to compare with")

HEAD = """
#include <stddef.h>
#include <stdint.h>
#include <stdbool.h>
#include <stdatomic.h>
#include <string.h>
void show(long);
#ifndef __RDMA_ROBUST__
#include <stdio.h>
void show(long value) { printf("%ld\\n", value); }
#endif
"""

SAMPLES = {path.stem: path.read_text(encoding="utf-8") for path in (ROOT / "tests/data/c_samples").glob("*.c")}


def as_compiled(text: str, folder: Path) -> list[int]:
    """Return what a program prints that gcc has compiled."""
    source, program = folder / "compiled.c", folder / "compiled"
    source.write_text(HEAD + text, encoding="utf-8")
    subprocess.run(["gcc", "-w", "-fwrapv", "-O0", "-o", program, source], check=True, capture_output=True)
    found = subprocess.run([program], check=True, capture_output=True, text=True)
    return [int(line) for line in found.stdout.split()]


def as_read(text: str, folder: Path) -> list[int]:
    """Return what the register code of a program shows."""
    source = folder / "read.c"
    source.write_text(HEAD + text, encoding="utf-8")
    shown: list[int] = []
    Interpreter(read_units(str(source), COptions()), called=Library(shown)).call("main")
    return shown


class Library:
    """The functions without a body that these programs call; one thread alone runs, so that atomics are simple."""

    def __init__(self, shown: list[int]) -> None:
        self.shown = shown

    def __call__(self, machine: Interpreter, each: Call, values: Sequence[Number]) -> Number:
        numbers = [int(value) for value in values]
        name = str(each.callee)
        if name == "show":
            self.shown.append(numbers[0])
        elif name == "__rr_store":
            machine.memory[numbers[0] : numbers[0] + numbers[1]] = (numbers[2] & ((1 << 64) - 1)).to_bytes(8, "little")[
                : numbers[1]
            ]
        elif name == "__rr_load":
            return machine.read(numbers[0], each.result)
        elif name == "__rr_compare_exchange":
            at, size, expected, new = numbers[:4]
            if machine.memory[at : at + size] == machine.memory[expected : expected + size]:
                machine.memory[at : at + size] = (new & ((1 << 64) - 1)).to_bytes(8, "little")[:size]
                return 1
            machine.memory[expected : expected + size] = machine.memory[at : at + size]
        elif name.startswith(("__rr_fetch_", "__rr_exchange")):
            at, _, value = numbers[:3]
            before = int(machine.read(at, each.result))
            kind = name.rpartition("_")[2]
            operations = {"add": before + value, "sub": before - value, "and": before & value, "or": before | value}
            machine.write(at, {**operations, "xor": before ^ value}.get(kind, value), each.result)
            return before
        elif name != "__rr_fence":
            raise AssertionError(name)
        return 0


TYPES = ("signed char", "unsigned char", "short", "unsigned short", "int", "unsigned", "long", "unsigned long", "_Bool")
BINARY = ("+", "-", "*", "&", "|", "^", "<", ">", "<=", ">=", "==", "!=", "&&", "||")


def random_program(seeds: Iterable[int]) -> str:
    """Return a program with a function for each seed."""
    seeds = list(seeds)
    bodies = "\n".join(_function(seed) for seed in seeds)
    return f"{bodies}\nint main(void) {{ {' '.join(f'f{seed}();' for seed in seeds)} return 0; }}\n"


def _function(seed: int) -> str:
    chance = random.Random(seed)
    names = [f"v{k}" for k in range(5)]
    declared = " ".join(f"{chance.choice(TYPES)} {name} = {chance.randint(-300, 300)};" for name in names)
    record = "struct { unsigned a : 3; signed b : 5; short c; unsigned d : 29; } r = { 1, -2, 3, 4 };"
    body = " ".join(_statement(chance, names, 3) for _ in range(6))
    shown = " ".join(f"show({name});" for name in [*names, "r.a", "r.b", "r.c", "r.d", "q[0]", "q[3]"])
    return f"static void f{seed}(void) {{ {declared} {record} long q[4] = {{ 1, 2 }}; int n = 0; {body} {shown} }}"


def _statement(chance: random.Random, names: list[str], depth: int) -> str:
    kind = chance.randrange(9 if depth else 3)
    left = chance.choice([*names, "r.a", "r.b", "r.c", "r.d", f"q[{_expression(chance, names, 1)} & 3]"])
    if kind == 0:
        return f"{left} = {_expression(chance, names, 3)};"
    if kind == 1:
        return f"{left} {chance.choice(('+=', '-=', '*=', '&=', '|=', '^='))} {_expression(chance, names, 2)};"
    if kind == 2:
        step = chance.choice((f"{left}++", f"--{left}", f"{left}--", f"++{left}"))
        return f"{chance.choice([name for name in names if name not in left])} = {step};"
    inner = " ".join(_statement(chance, names, depth - 1) for _ in range(2))
    condition = _expression(chance, names, 2)
    if kind == 3:
        return f"if ({condition}) {{ {inner} }} else {{ {_statement(chance, names, depth - 1)} }}"
    if kind == 4:
        return f"while (({condition}) && n++ < 6) {{ {inner} if (n == 4) {chance.choice(('break', 'continue'))}; }}"
    if kind == 5:
        return f"for (int i = 0; i < {chance.randint(0, 4)}; i++) {{ {inner} q[i & 3] += i; }}"
    if kind == 6:
        return f"switch (({condition}) & 3) {{ case 0: {inner} case 1: n++; break; case 2: {left} = 1; default: {inner} }}"
    if kind == 7:
        return f"do {{ {inner} }} while (n++ < 3 && {condition});"
    return f"{left} = {condition} ? {_expression(chance, names, 2)} : {_expression(chance, names, 2)};"


def _expression(chance: random.Random, names: list[str], depth: int) -> str:
    if not depth or chance.random() < 0.2:
        return chance.choice([*names, "r.a", "r.b", "r.d", "q[1]", str(chance.randint(-9, 300)), "2000000000", "7ul", "'c'"])
    one, other = _expression(chance, names, depth - 1), _expression(chance, names, depth - 1)
    kind = chance.randrange(8)
    if kind == 0:
        return f"(({chance.choice(TYPES)})({one}))"
    if kind == 1:
        return f"({one} {chance.choice(('<<', '>>'))} ({other} & 7))"
    if kind == 2:
        return f"({one} {chance.choice(('/', '%'))} ((({other}) & 15) + 1))"
    if kind == 3:
        return f"({chance.choice(('-', '~', '!'))}({one}))"
    return f"({one} {chance.choice(BINARY)} {other})"
