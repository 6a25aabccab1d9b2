"""Programs that two memory models tell apart, and their texts."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final

from rdma_robust.analyses.synthesis.program_shapes import (
    ADDS,
    ALONE,
    FROM_WORDS,
    ON_LANES,
    ON_QUEUE_PAIRS,
    ON_RELAXED,
    STATEMENTS,
    Key,
    ProgramShape,
    Statement,
    shapes,
)
from rdma_robust.errors import SizeLimitError, UsageError
from rdma_robust.language.load import load_program
from rdma_robust.model import Model
from rdma_robust.semantics.machines.machine import state_names
from rdma_robust.semantics.oracle.brute_force import DEFAULT_LIMITS, axiomatic_outcomes

_NODES: Final = "ABCDEFGH"
_WORDS: Final = ("x", "y", "z", "w", "v", "u", "s", "p")
MOST: Final = 6
"""Statements of the largest programs."""


@dataclass(frozen=True, slots=True)
class DistinguishingProgram:
    """A program that is told apart: its text up to the outcome lines, and conditions on final states that only the `first`
    model reaches, or only the second."""

    shape: ProgramShape
    body: str
    first: tuple[str, ...]
    second: tuple[str, ...]
    sc: frozenset[str]
    """Those of the conditions that hold in a final state under sequential consistency."""


@dataclass(frozen=True, slots=True)
class SynthesisProgress:
    """The state of a search: the size, programs of that size that were decided and that there are, and what was found."""

    size: int
    done: int
    of: int
    found: int


def statements_for(first: Model, second: Model) -> tuple[str, ...]:
    """Return what programs are made of, if nobody says: what the difference of the models is about."""
    wanted: set[str] = set()
    if first.cpu != second.cpu:
        wanted |= {"store", "load"}
    if first.atomics != second.atomics:
        wanted |= {"store", "load", "cas", "remote-cas"}
    if (first.order, first.ordered_reads) != (second.order, second.ordered_reads):
        wanted |= {"store", "load", "put", "get", "remote-faa", "poll"}
    if not wanted:
        raise UsageError("the two settings are the same: nothing tells them apart")
    return tuple(kind for kind in STATEMENTS if kind in wanted)


@dataclass(frozen=True, slots=True)
class SynthesisRequest:
    """A request for programs of at most `size` statements of `kinds` (None: what the difference of the models is about),
    in at most so many threads and seconds. Raises UsageError for a size that is not from 1 to MOST."""

    size: int
    kinds: tuple[str, ...] | None = None
    threads: int = 3
    seconds: float | None = None

    def __post_init__(self) -> None:
        if not 1 <= self.size <= MOST:
            raise UsageError(f"--size {self.size}: it must be from 1 to {MOST}")


def told_apart(
    first: Model, second: Model, wanted: SynthesisRequest, progress: Callable[[SynthesisProgress], None] = lambda _: None
) -> Iterator[DistinguishingProgram]:
    """Yield every program that the models tell apart by a final state and that has no part, some statements less, which they
    tell apart too: the smallest ones, in a fixed order.

    Raises SizeLimitError if the time is over, or one of the programs is too large for brute force; UsageError for models
    that are the same.
    """
    kinds = wanted.kinds or statements_for(first, second)
    until = None if wanted.seconds is None else time.monotonic() + wanted.seconds
    told: set[Key] = set()  # what is told apart, or has a part that is
    number = 0
    for size in range(1, wanted.size + 1):
        candidates = shapes(size, kinds, wanted.threads)
        for done, shape in enumerate(candidates):
            progress(SynthesisProgress(size, done, len(candidates), number))
            left = None if until is None else until - time.monotonic()
            if left is not None and left <= 0:
                raise SizeLimitError(f"the time was over at {done} of {len(candidates)} programs of {size} statements")
            if _has_part(shape, told):
                told.add(shape.key())
            elif (found := _compared(shape, first, second, left)) is not None:
                told.add(shape.key())
                number += 1
                yield found


def _has_part(shape: ProgramShape, told: set[Key]) -> bool:
    """Whether a program with some statements less is among `told`; parts that show nothing by themselves are looked into."""
    todo, seen = [shape], {shape.key()}
    while todo:
        for part in todo.pop().smaller():
            key = part.key()
            if key in told:
                return True
            if key not in seen:
                seen.add(key)
                todo.append(part)
    return False


def _compared(shape: ProgramShape, first: Model, second: Model, seconds: float | None) -> DistinguishingProgram | None:
    body = shape_text(shape)
    program = load_program(body, "synthesised.rdma")
    limits = DEFAULT_LIMITS.within(seconds)
    one, other = (axiomatic_outcomes(program, model, limits) for model in (first, second))
    if one.rdma == other.rdma:
        return None
    names = state_names(program)

    def conditions(states: frozenset[tuple[int, ...]]) -> tuple[str, ...]:
        return tuple(" && ".join(f"{n} == {v}" for n, v in zip(names, state, strict=True)) for state in sorted(states))

    only_one, only_other = one.rdma - other.rdma, other.rdma - one.rdma
    under_sc = frozenset(conditions(one.sc & (only_one | only_other)))
    return DistinguishingProgram(shape, body, conditions(only_one), conditions(only_other), under_sc)


def shape_text(shape: ProgramShape) -> str:
    """Return the program, without outcome lines."""
    writer = _Text(shape)
    threads = [writer.thread(t) for t in range(len(shape.threads))]
    nodes = [f"node {_NODES[n]} {{ {', '.join(words)} }}" for n, words in sorted(writer.declared().items())]
    adds = any(s.kind in ADDS for thread in shape.threads for s in thread)
    domain = ["domain 0..15"] if adds else []
    return "\n".join([*domain, *nodes, *threads]) + "\n"


def _lane(node: int) -> str:
    return f"q{_NODES[node]}"


class _Text:
    """Names, and values in the order in which words are written."""

    def __init__(self, shape: ProgramShape) -> None:
        self.shape = shape
        self._values = [0] * len(shape.words)
        self._answers: dict[int, list[str]] = {}

    def declared(self) -> dict[int, list[str]]:
        all_of = [s for thread in self.shape.threads for s in thread]
        used = {w for s in all_of for w in ((s.word, s.source) if s.kind in FROM_WORDS else (s.word,))}
        relaxed = {s.word for s in all_of if s.kind in ON_RELAXED}
        found: dict[int, list[str]] = {node: [] for node in (*self.shape.homes,)}
        for word, node in enumerate(self.shape.words):
            if word in used:
                found.setdefault(node, []).append(f"{'relaxed ' * (word in relaxed)}{_WORDS[word]}")
        for node, words in self._answers.items():
            found[node] += words
        return found

    def thread(self, number: int) -> str:
        home = self.shape.homes[number]
        registers: list[str] = []
        lines = [self._statement(s, number, home, registers) for s in self.shape.threads[number]]
        head = [f"reg {', '.join(registers)}"] if registers else []
        nodes = sorted({self.shape.words[s.word] for s in self.shape.threads[number] if s.kind in ON_LANES})
        head += [f"qp {', '.join(f'{_lane(node)} to {_NODES[node]}' for node in nodes)}"] if nodes else []
        body = "\n".join(f"  {line}" for line in [*head, *lines])
        return f"thread T{number} on {_NODES[home]} {{\n{body}\n}}"

    def _statement(self, s: Statement, number: int, home: int, registers: list[str]) -> str:
        if s.kind in ALONE:
            return s.kind
        if s.kind in ON_QUEUE_PAIRS:
            node, on_lane = self.shape.queue_pair(self.shape.threads[number][s.source])
            return f"{s.kind} {_lane(node) if on_lane else _NODES[node]}"
        on = f" on {_lane(self.shape.words[s.word])}" if s.kind in ON_LANES else ""
        word, there = _WORDS[s.word], f"{_NODES[self.shape.words[s.word]]}.{_WORDS[s.word]}"
        match s.kind:
            case "store":
                return f"{word} = {self._value(s.word)}"
            case "load":
                return f"{self._register(registers)} = {word}"
            case "cas":
                return f"{self._register(registers)} = cas({word}, 0, {self._value(s.word)})"
            case "put" | "lane-put" | "relaxed-put":
                return f"put {there} = {self._value(s.word)}{on}"
            case "copy":
                return f"put {there} = {_WORDS[s.source]}"
            case "operand-swap":
                return f"swap({there}, {_WORDS[s.source]})"
            case "get" | "lane-get" | "relaxed-get":
                return f"get {self._answer(home)} = {there}{on}"
            case "fetch":
                return f"get {self._answer(home)} = fetch({there})"
            case "quiet-cas":
                return f"cas({there}, 0, {self._value(s.word)})"
            case "quiet-faa":
                return f"faa({there}, {1 << self._value(s.word) - 1})"
            case "remote-cas":
                return f"get {self._answer(home)} = cas({there}, 0, {self._value(s.word)})"
            case _:
                return f"get {self._answer(home)} = faa({there}, {1 << self._value(s.word) - 1})"

    def _value(self, word: int) -> int:
        self._values[word] += 1
        return self._values[word]

    @staticmethod
    def _register(registers: list[str]) -> str:
        registers.append("r" if not registers else f"r{len(registers) + 1}")
        return registers[-1]

    def _answer(self, home: int) -> str:
        answers = self._answers.setdefault(home, [])
        answers.append(f"a{1 + sum(map(len, self._answers.values()))}")
        return answers[-1]
