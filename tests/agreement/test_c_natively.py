"""Random C that computes: evaluation finds the numbers that it prints when gcc has translated it."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from rdma_robust.c.automaton import CProgram, ThreadEdge
from tests.support.c_automata import evaluated
from tests.support.random_c_values import RandomC

pytestmark = pytest.mark.skipif(shutil.which("gcc") is None, reason="there is no gcc to compare with")
_ASSIGNED = re.compile(r"(\w+) = (?:nondet\((-?\d+), (-?\d+)\)|(\w+|-\d+))$")


def printed(text: str, given: range, folder: Path) -> list[dict[int, int]]:
    """Return the numbers that a program prints, by their places, for each argument."""
    source, binary = folder / "values.c", folder / "values"
    source.write_text(text, encoding="utf-8")
    subprocess.run(["gcc", "-O0", "-fwrapv", "-fno-strict-aliasing", "-w", "-o", binary, source], check=True)
    found = []
    for each in given:
        run = subprocess.run([binary, str(each)], check=True, capture_output=True, text=True, timeout=20)
        found.append({int(place): int(value) for place, value in (line.split() for line in run.stdout.splitlines())})
    return found


def _value(program: CProgram, written: str, registers: dict[str, int]) -> int:
    if written in registers:
        return registers[written]
    return int(program.meaning.get(int(written), written))


def _next(program: CProgram, edges: tuple[ThreadEdge, ...], registers: dict[str, int]) -> ThreadEdge:
    """Return the step whose guard holds."""
    for edge in edges:
        if edge.guard is None:
            return edge
        held = {_value(program, str(each), {}) for each in edge.guard.values}
        if registers[edge.guard.register] in held:
            return edge
    raise AssertionError(f"no step for {registers}")


def written(program: CProgram, given: int) -> dict[int, int]:
    """Return what a thread of an evaluated program writes to `out`, where it is given a number."""
    thread = next(each for each in program.threads if each.process == "A")
    places = {word.name: word.offset // 8 for word in program.nodes["A"]}
    registers: dict[str, int] = {}
    found: dict[int, int] = {}
    at = 0
    while thread.edges[at]:
        edge = _next(program, thread.edges[at], registers)
        if edge.statement:
            match = _ASSIGNED.match(edge.statement)
            assert match is not None, edge.statement
            name, low, _, value = match.groups()
            if low is not None:
                registers[name] = given
            else:
                found[places[name]] = _value(program, value, registers)
        at = edge.to
    return found


def agree(seeds: range, size: int, folder: Path) -> None:
    """Compare what random programs compute with what evaluation finds."""
    for seed in seeds:
        program = RandomC(seed, size)
        given = range(program.low, program.high + 1)
        wanted = printed(program.text, given, folder)
        found = evaluated(program.text)
        for each, numbers in zip(given, wanted, strict=True):
            assert written(found, each) == numbers, f"seed {seed}, run on {each}"


def test_evaluation_computes_what_a_compiler_does(tmp_path: Path) -> None:
    agree(range(1), 5, tmp_path)


@pytest.mark.ci
def test_evaluation_computes_what_a_compiler_does_on_more_programs(tmp_path: Path) -> None:
    agree(range(100, 130), 10, tmp_path)


@pytest.mark.long
def test_evaluation_computes_what_a_compiler_does_on_many_programs(tmp_path: Path) -> None:
    agree(range(1000, 4000), 20, tmp_path)
