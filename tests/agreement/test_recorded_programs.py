"""Random programs, recorded: what is recorded is a run of the program, and not robust only if the program is not.

A program of C does what its command line says, so that it is compiled once; the same operations are a program in `.rdma`.
"""

from __future__ import annotations

import random
import shutil
from collections import Counter
from pathlib import Path

import pytest

from rdma_robust import check
from rdma_robust.language.load import load_program
from rdma_robust.outcome import Verdict
from rdma_robust.record.recorded_process import run_recorded
from rdma_robust.record.recorded_text import recorded_text
from rdma_robust.record.toolchain import compile_recorded
from rdma_robust.semantics.machines.outcomes import explore_outcomes
from tests.conftest import ROOT
from tests.support.random_deployed import model_of

PLAYER = ROOT / "tests" / "data" / "record" / "player.c"
WORDS, SIGNALED, FENCE = 3, 2, 1
NEEDS_GCC = pytest.mark.skipif(shutil.which("gcc") is None, reason="no random program was recorded: gcc is not installed")


def operation(rng: random.Random, posted: list[int]) -> tuple[str, str]:
    """Return an operation for the player, and the statement that it is; `posted` has how many completions there are."""
    a, b, v, w = rng.randrange(WORDS), rng.randrange(WORDS), rng.randint(1, 2), rng.randint(0, 2)
    kinds = ["W", "W", "R", "R", "P", "P", "G", "X", "A", "L", "F"] + ["C"] * 3 * bool(posted[0])
    kind = rng.choice(kinds)
    fence = FENCE * (rng.random() < 0.15)
    shown = " fenced" if fence else ""
    if kind == "W":
        return f"W{a},{v}", f"w{a} = {v}"
    if kind == "R":
        return f"R{a}", f"r = w{a}"
    if kind == "L":
        return f"L{a},{w},{v}", f"r = cas(w{a}, {w}, {v})"
    if kind == "F":
        return "F", "mfence"
    if kind == "C":
        posted[0] -= 1
        return "C", "poll THERE"
    signaled = SIGNALED * (kind in "XA" or rng.random() < 0.7)
    posted[0] += bool(signaled)
    last = "" if signaled else " unsignaled"
    if kind == "P":
        return f"P{a},{b},{signaled | fence}", f"put THERE.w{b} = w{a}{shown}{last}"
    if kind == "G":
        return f"G{a},{b},{signaled | fence}", f"get w{a} = THERE.w{b}{shown}{last}"
    if kind == "X":
        return f"X{a},{b},{w},{v}", f"get w{a} = cas(THERE.w{b}, {w}, {v})"
    return f"A{a},{b},{v}", f"get w{a} = faa(THERE.w{b}, {v})"


def random_program(seed: int, size: int) -> tuple[list[str], str]:
    """Return the command line of a player, and the program."""
    rng = random.Random(seed)
    lines, told = ["domain 0..99", *(f"node P{i} {{ {', '.join(f'w{k}' for k in range(WORDS))} }}" for i in (0, 1))], []
    for i in (0, 1):
        posted = [0]
        made = [operation(rng, posted) for _ in range(rng.randint(1, size))]
        told.append(" ".join(each for each, _ in made))
        lines += [
            f"thread T{i} on P{i} {{",
            "  reg r",
            *(f"  {text}".replace("THERE", f"P{1 - i}") for _, text in made),
            "}",
        ]
    return told, "\n".join(lines)


def recorded(player: Path, told: list[str], folder: Path) -> str:
    """Run the player and return the text of what it did."""
    run_recorded([str(player), *told], 1, folder, 20)
    return recorded_text(folder, "recorded")[0]


def compare(seeds: range, size: int, folder: Path) -> Counter[str]:
    """Record programs and compare; return how many had which verdicts."""
    player = folder / "player"
    assert compile_recorded("cc", ["-O1", "-o", str(player), str(PLAYER), "-libverbs"]) == 0
    seen: Counter[str] = Counter()
    for seed in seeds:
        told, program = random_program(seed, size)
        if not set("PGXA") & set("".join(told)):
            continue
        text = recorded(player, told, folder / str(seed))
        whole, run = check(load_program(program, "whole"), timeout=20), check(load_program(text, "run"), timeout=20)
        assert Verdict.UNKNOWN not in (whole.verdict, run.verdict), (seed, text)
        assert run.verdict is Verdict.ROBUST or whole.verdict is Verdict.NOT_ROBUST, f"seed {seed}\n{program}\n{text}"
        seen[f"{whole.verdict.name}, of the run {run.verdict.name}"] += 1
        ends = explore_outcomes(load_program(text, "run"), model_of(load_program(text, "run")), timeout=20)
        assert not ends.complete or any(state.sc for state in ends.states), f"seed {seed}: no run\n{program}\n{text}"
        seen["accepted"] += ends.complete
    return seen


@NEEDS_GCC
@pytest.mark.ci
def test_recorded_programs_are_runs_of_the_program(tmp_path: Path) -> None:
    seen = compare(range(25), 4, tmp_path)
    assert seen["accepted"] >= 15
    assert seen["NOT_ROBUST, of the run NOT_ROBUST"] >= 3


@NEEDS_GCC
@pytest.mark.long
def test_recorded_programs_are_runs_of_the_program_more_of_them(tmp_path: Path) -> None:
    seen = compare(range(100, 600), 5, tmp_path)
    assert seen["accepted"] >= 300
    assert seen["NOT_ROBUST, of the run NOT_ROBUST"] >= 60
