"""The fewest waits by trying all sets, on texts with one statement per line: independently of `analyses/repair/safe`.

Waits are lines of text behind other lines, and a program is judged by all final states of the model's machine.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations
from random import Random

from rdma_robust.language.flow.claims import AnyModelName
from rdma_robust.language.load import load_program
from rdma_robust.semantics.machines.by_model import stepwise_machine
from rdma_robust.semantics.machines.machine import FinalState, state_names

MOST_STATES = 2_000
REMOTE = re.compile(r"\s*(?:put (\w)\.|get \w = (\w)\.)")
STORE = re.compile(r"\s*[xyz] = ")


@dataclass(frozen=True)
class Wait:
    """A wait behind line `line` (from 0) of a text."""

    line: int
    statement: str


Waits = frozenset[Wait]


def program_of(rng: Random, model: AnyModelName) -> str:
    """Return a program of two threads that write words and read others, some of it in branches or twice."""
    return _network(rng) if model == "rma" else _one_memory(rng)


def _one_memory(rng: Random) -> str:
    words = "xyz"[: rng.randint(2, 3)]
    text = f"node A {{ {', '.join(words)} }}\n"
    for thread in "TU":
        text += f"thread {thread} on A {{\n  reg r, s\n"
        kinds = rng.choice((("=", "r"), ("=", "=", "r"), ("=", "r", "="), ("=", "=", "r", "s"), ("r", "=", "s", "=")))
        lines = [
            f"{rng.choice(words)} = {rng.randint(1, 2)}" if kind == "=" else f"{kind} = {rng.choice(words)}"
            for kind in kinds
        ]
        text += _laid_out(rng, lines)
    return text


def _network(rng: Random) -> str:
    text = "node A { x, y }\nnode B { x, y }\n"
    for thread, home, other in (("T", "A", "B"), ("U", "B", "A")):
        text += f"thread {thread} on {home} {{\n  reg r, s\n"
        lines = []
        for _ in range(rng.randint(2, 4)):
            word, there = rng.choice("xy"), rng.choice("xy")
            kind = rng.choice(("put", "put", "get", "=", "r"))
            made = {
                "put": f"put {other}.{there} = {rng.choice((word, '1', '2'))}",
                "get": f"get {word} = {other}.{there}",
                "=": f"{word} = {rng.randint(1, 2)}",
                "r": f"{rng.choice('rs')} = {word}",
            }
            lines.append(made[kind])
        text += _laid_out(rng, lines)
    return text


def _laid_out(rng: Random, lines: list[str]) -> str:
    """Return lines as the body of a thread: as they are, the last ones in a branch, or some in a loop of two rounds."""
    first = rng.randrange(len(lines))
    match rng.randrange(4):
        case 0:
            lines = [*lines[:first], "if r != 1 {", *(f"  {line}" for line in lines[first:]), "}"]
        case 1:
            count = ["  s = s + 1"] if not any("s = " in line for line in lines) else ["  s = 2"]
            lines = [*lines[:first], "while s < 2 {", *(f"  {line}" for line in lines[first:]), *count, "}"]
    return "".join(f"  {line}\n" for line in lines) + "}\n"


def behind(text: str, model: AnyModelName) -> list[Wait]:
    """Return a wait behind each remote operation, or each store."""
    found = []
    for number, line in enumerate(text.split("\n")):
        if model == "rma" and (match := REMOTE.match(line)):
            found.append(Wait(number, f"flush {match[1] or match[2]}"))
        elif model != "rma" and STORE.match(line):
            found.append(Wait(number, "mfence"))
    return found


def everywhere(text: str, model: AnyModelName) -> list[Wait]:
    """Return waits behind every line of a thread but its last, for every peer that it has."""
    found = []
    thread: list[int] = []
    lines = text.split("\n")
    for number, line in enumerate(lines):
        if line.startswith("thread"):
            thread = [number]
        elif thread and line.startswith("}"):
            body = "\n".join(lines[thread[0] : number])
            peers = sorted({a or b for a, b in re.findall(REMOTE, body)}) if model == "rma" else [""]
            waits = [f"flush {peer}" if model == "rma" else "mfence" for peer in peers]
            found += [Wait(k, wait) for k in thread[1:] for wait in waits if not lines[k].strip().startswith("reg")]
            thread = []
        elif thread:
            thread.append(number)
    return found


def having(text: str, waits: Waits) -> str:
    """Return a text with these waits, each on a line of its own."""
    lines = text.split("\n")
    for wait in sorted(waits, key=lambda w: (w.line, w.statement), reverse=True):
        before = lines[wait.line]
        indent = before[: len(before) - len(before.lstrip())] + "  " * before.endswith("{")
        lines.insert(wait.line + 1, indent + wait.statement)
    return "\n".join(lines)


def finals(text: str, model: AnyModelName, most: int = MOST_STATES) -> frozenset[FinalState] | None:
    """Return all final states, None if there are too many states or something goes wrong."""
    machine = stepwise_machine(load_program(text, "naive.rdma"), model)
    todo = [move.state for move in machine.initial()]
    seen = set(todo)
    found = set()
    while todo:
        state = todo.pop()
        if machine.is_final(state):
            found.add(machine.final(state))
        moves = machine.successors(state)
        new = {move.state for move in moves} - seen
        seen |= new
        todo += new
        if len(seen) > most or any(move.faults for move in moves):
            return None
    return frozenset(found)


def forbidding(text: str, state: FinalState, model: AnyModelName) -> str:
    """Return the program with the claim that it does not end in this state, nor with an assertion that fails."""
    names = state_names(load_program(text, "naive.rdma"))
    condition = " && ".join(f"{name} == {value}" for name, value in zip(names, state, strict=True))
    return f"{text}\noutcome {condition} : forbidden under {model}\n"


def subsets(waits: list[Wait]) -> Iterator[Waits]:
    """Yield all sets, the small ones first."""
    for size in range(len(waits) + 1):
        yield from map(frozenset, combinations(waits, size))
