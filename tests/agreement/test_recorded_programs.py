"""Random programs, recorded: what is recorded is a run of the program, and not robust only if the program is not.

A program of C does what its command line says, so that it is compiled once; the same operations are a program in `.rdma`.
"""

from __future__ import annotations

import random
import shutil
from collections import Counter
from collections.abc import Callable
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


class Talk:
    """Two processes that send messages to each other, of two words (`long`, a number beside them or not), or of one or none:
    what each does, and how far requests, receives and completions are, so that whatever waits can go on. In `.rdma` a long
    message is one with words, then one with a number, and a receive two buffers."""

    def __init__(self, seed: int) -> None:
        self.rng, self.long = random.Random(f"talk {seed}"), seed % 2 == 0
        self.told: list[list[str]] = [[], []]
        self.texts: list[list[str]] = [[], []]
        self.waiting: list[list[tuple[bool, bool]]] = [[], []]
        self.completions, self.buffers, self.arrived = [0, 0], [0, 0], [0, 0]

    def add(self, me: int, what: str, *texts: str) -> None:
        self.told[me].append(what)
        self.texts[me] += texts

    def settle(self) -> None:
        """Let requests take effect as far as there are receives."""
        for me in (0, 1):
            while self.waiting[me] and (not self.waiting[me][0][0] or self.buffers[1 - me]):
                takes, signaled = self.waiting[me].pop(0)
                self.buffers[1 - me] -= takes
                self.arrived[1 - me] += takes
                self.completions[me] += signaled

    def step(self, me: int) -> None:
        rng, there = self.rng, 1 - me
        a, b, v = rng.randrange(WORDS), rng.randrange(WORDS), rng.randint(1, 2)
        kinds = ["W", "R", "P", "M", "M", "N", "N" if self.long else "I", "V", "V"] + ["C"] * 3 * bool(self.completions[me])
        kind = rng.choice(kinds + ["D"] * 3 * bool(self.arrived[me]))
        if kind == "W":
            self.add(me, f"W{a},{v}", f"w[{a}] = {v}")
        elif kind == "R":
            self.add(me, f"R{a}", f"r = w[{a}]")
        elif kind == "V":
            self.buffers[me] += 1
            at = rng.randrange(WORDS - 1)
            if self.long:
                self.add(me, f"V{at},2", f"recv w[{at}..{at + 1}] from T{there}", f"recv spare[0..1] from T{there}")
            else:
                self.add(me, f"V{at},1", f"recv w[{at}] from T{there}")
        elif kind == "C":
            self.completions[me] -= 1
            self.add(me, "C", f"poll P{there}")
        elif kind == "D":
            self.arrived[me] -= 1
            self.add(me, "D", *[f"rpoll T{there}"] * self.long, f"r = rpoll T{there}")
        else:
            self.request(me, kind, a, b, v)
        self.settle()

    def request(self, me: int, kind: str, a: int, b: int, v: int) -> None:
        """Post a write or a message."""
        signaled, there = SIGNALED * (self.rng.random() < 0.7), 1 - me
        last, to = "" if signaled else " unsignaled", f"to T{there}"
        at = self.rng.randrange(WORDS - 1)
        if kind == "P":
            self.add(me, f"P{a},{b},{signaled}", f"put P{there}.w[{b}] = w[{a}]{last}")
        elif kind == "I":
            self.add(me, f"I{a},{b},{signaled},{v}", f"put P{there}.w[{b}] = w[{a}]{last} imm {v} {to}")
        elif self.long:
            number = v if kind == "N" else 0
            told = f"N{at},2,{signaled},{v}" if kind == "N" else f"M{at},2,{signaled}"
            sent = f"send w[{at}..{at + 1}] {to} unsignaled"
            self.add(me, told, sent, f"put P{there}.spare[0] = 0 inline{last} imm {number} {to}")
        elif kind == "M":
            self.add(me, f"M{at},1,{signaled}", f"send w[{at}] {to}{last}")
        else:
            self.add(me, f"N{at},0,{signaled},{v}", f"put P{there}.spare[0] = 0 inline{last} imm {v} {to}")
        self.waiting[me].append((kind != "P", bool(signaled)))

    def program(self) -> tuple[list[str], str]:
        """Return the command line of a player, and the program."""
        for _ in range(self.rng.randint(3, 9)):
            self.step(self.rng.randrange(2))
        lines = ["hardware rnr wait", *(f"node P{i} {{ w[{WORDS}], spare[2] }}" for i in (0, 1))]
        for i in (0, 1):
            lines += [f"thread T{i} on P{i} {{", "  reg r", *(f"  {text}" for text in self.texts[i]), "}"]
        return [" ".join(each) for each in self.told], "\n".join(lines)


def random_talk(seed: int, _: int) -> tuple[list[str], str]:
    """Return the command line of a player, and the program, of messages."""
    return Talk(seed).program()


def recorded(player: Path, told: list[str], folder: Path) -> str:
    """Run the player and return the text of what it did."""
    run_recorded([str(player), *told], 1, folder, 20)
    return recorded_text(folder, "recorded")


Programs = Callable[[int, int], tuple[list[str], str]]


def compare(seeds: range, size: int, folder: Path, programs: Programs = random_program) -> Counter[str]:
    """Record programs and compare; return how many had which verdicts."""
    player = folder / "player"
    assert compile_recorded("cc", ["-O1", "-o", str(player), str(PLAYER), "-libverbs"]) == 0
    seen: Counter[str] = Counter()
    for seed in seeds:
        told, program = programs(seed, size)
        if not set("PGXAMNI") & set("".join(told)):
            continue
        text = recorded(player, told, folder / str(seed))
        whole, run = check(load_program(program, "whole"), timeout=20), check(load_program(text, "run"), timeout=20)
        if Verdict.UNKNOWN in (whole.verdict, run.verdict):
            seen["UNKNOWN"] += 1
            continue
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


@NEEDS_GCC
@pytest.mark.ci
def test_recorded_messages_are_those_of_the_program(tmp_path: Path) -> None:
    seen = compare(range(12), 0, tmp_path, random_talk)
    assert seen["accepted"] >= 6


@NEEDS_GCC
@pytest.mark.long
def test_recorded_messages_are_those_of_the_program_more_of_them(tmp_path: Path) -> None:
    seen = compare(range(100, 600), 0, tmp_path, random_talk)
    assert seen["accepted"] >= 250
    assert seen["NOT_ROBUST, of the run NOT_ROBUST"] >= 30
