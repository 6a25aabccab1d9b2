"""The words that steps, buffers and cards use, and steps and words that nobody else has to do with."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

from rdma_robust.analyses.prove.compiled_steps import Code, CompiledStep, words_of
from rdma_robust.analyses.prove.placing import PlacedVariable, Placing
from rdma_robust.analyses.prove.transition_system import SafetyClaim, points_of
from rdma_robust.expr import names
from rdma_robust.language.flow.cfg import (
    Cell,
    Flush,
    Get,
    Program,
    Put,
    RemoteOp,
    RemoteRmw,
    Step,
    Thread,
    Write,
    peer_of,
    steps,
)


class WordUse(NamedTuple):
    """The words that something reads and writes, as bits by their numbers."""

    reads: int = 0
    writes: int = 0

    def meets(self, other: WordUse) -> bool:
        """Return whether one of them writes what the other uses: only then their order matters to memory."""
        return bool(self.writes & (other.reads | other.writes) or self.reads & other.writes)

    def __or__(self, other: WordUse) -> WordUse:
        return WordUse(self.reads | other.reads, self.writes | other.writes)


NO_TOUCH: Final = WordUse()


class SystemMove(NamedTuple):
    """A move of a buffer or card that can be made now, for something that a thread has under way.

    `key` is the model's name of it, `peer` the node that it is about. `link` is what it belongs to, `leads` the link that
    it makes possible: that of the write behind a read, of the next store in a buffer. `ahead` has its own touch first, and
    those of the moves that can only come after it.
    """

    thread: int
    key: Any
    peer: str
    link: Hashable
    leads: Hashable
    ahead: tuple[WordUse, ...]

    @property
    def touch(self) -> WordUse:
        return self.ahead[0]


class WaitCondition(NamedTuple):
    """The operations that a step waits for: all that its thread has under way, or those about one node."""

    thread: int
    peer: str | None

    def has(self, move: SystemMove) -> bool:
        return move.thread == self.thread and (self.peer is None or move.peer == self.peer)


@dataclass(frozen=True)
class WordUsers:
    """The words of a program by number, and which threads (as bits) ever read and write each, by CPU or card."""

    numbers: Mapping[str, int]
    readers: tuple[int, ...]
    writers: tuple[int, ...]

    @classmethod
    def of(cls, placing: Placing, code: Sequence[Code]) -> WordUsers:
        numbers = {v.name: i for i, v in enumerate(placing.words)}
        readers, writers = [0] * len(numbers), [0] * len(numbers)
        for t, points in enumerate(code):
            for command in (c for found in points.values() for c in found):
                touch = cls._touch(numbers, command)
                for i in range(len(numbers)):
                    readers[i] |= (touch.reads >> i & 1) << t
                    writers[i] |= (touch.writes >> i & 1) << t
        return cls(numbers, tuple(readers), tuple(writers))

    @staticmethod
    def _touch(numbers: Mapping[str, int], command: CompiledStep) -> WordUse:
        reads = 0 if command.source is None else 1 << numbers[command.source.name]
        writes = 0 if command.target is None else 1 << numbers[command.target.name]
        atomic = isinstance(command.step.op, RemoteOp) and command.new is not None
        return WordUse(reads, writes | (reads if atomic else 0))

    def touch(self, command: CompiledStep) -> WordUse:
        """Return what a step's operation reads and writes, whoever does it and when."""
        return self._touch(self.numbers, command)

    def halves(self, command: CompiledStep) -> tuple[WordUse, WordUse]:
        """Return what a remote operation uses when it reads (an atomic then writes too), and when it writes what it read."""
        assert command.source is not None and command.target is not None
        read = self.bit(command.source)
        return WordUse(read, read if command.new is not None else 0), WordUse(0, self.bit(command.target))

    def bit(self, variable: PlacedVariable) -> int:
        return 1 << self.numbers[variable.name]

    def users(self, word: str) -> int:
        """Return the threads, as bits, that ever use a word, by CPU or card."""
        number = self.numbers[word]
        return self.readers[number] | self.writers[number]

    def only(self, thread: int, touch: WordUse) -> bool:
        """Return whether nobody but `thread` ever uses what this writes, or writes what this reads."""
        mine = ~(1 << thread)
        for i, (readers, writers) in enumerate(zip(self.readers, self.writers, strict=True)):
            if touch.writes >> i & 1 and (readers | writers) & mine:
                return False
            if touch.reads >> i & 1 and writers & mine:
                return False
        return True


def quiet_points(
    program: Program, code: Sequence[Code], claims: Iterable[SafetyClaim], *, buffered: bool
) -> list[frozenset[int]]:
    """Return for each thread the program points all of whose steps go forward and change nothing that an invariant sees.

    An outcome sees states only in which nothing can happen any more. `buffered`: stores do not go to memory at once.
    """
    seen = [claim for claim in claims if not claim.final and claim.fault is None]
    used = {name for claim in seen for name in names(claim.bad)}
    found = []
    for t, thread in enumerate(program.threads):
        asked = [atom for claim in seen for _, atom in claim.atoms if atom.thread == thread.name]
        marks = {point for atom in asked for point in points_of(thread, atom)}
        quiet = frozenset(
            point
            for point, commands in code[t].items()
            if all(c.forward and point not in marks and c.to not in marks for c in commands)
            and not any(variable.name in used for c in commands for variable, _ in c.assigns)
            and not any(_written_now(c, buffered) in used for c in commands)
        )
        found.append(quiet)
    return found


def _written_now(command: CompiledStep, buffered: bool) -> str | None:
    """Return the word that the thread itself writes with the step."""
    if command.target is None or (buffered and command.source is None):
        return None
    return command.target.name


Ways = frozenset[frozenset[str]]
"""The ways to come to where a word is read before its thread writes it: of each the nodes that are flushed on it."""

Asked = tuple[PlacedVariable, int, Ways]
"""A private word, its initial value, and the ways to where it is read."""


def private_words(
    placing: Placing, words: WordUsers, claims: Iterable[SafetyClaim], *, at_once: bool
) -> list[Mapping[int, tuple[Asked, ...]]]:
    """Return for each thread and program point the words that only this thread and its cards use and no claim sees, and that
    are not read for certain.

    Such a word is dead in a state if nothing under way is to read it and on each way to where it is read it is overwritten
    before: by a get that is under way, from a node that is flushed on the way. `at_once`: gets and puts are over when the
    thread goes on.
    """
    seen = {name for claim in claims for name in names(claim.bad)}
    found: list[Mapping[int, tuple[Asked, ...]]] = []
    for t, thread in enumerate(placing.program.threads):
        here: dict[int, list[Asked]] = {}
        for cell in placing.program.cells:
            variable, users = placing.word(cell), words.users(str(cell))
            if users == 1 << t and not cell.hidden and variable.name not in seen:
                for point, ways in _asked(thread, cell, at_once).items():
                    if frozenset() not in ways:
                        here.setdefault(point, []).append((variable, cell.init, ways))
        found.append({point: tuple(asked) for point, asked in here.items()})
    return found


def _asked(thread: Thread, cell: Cell, at_once: bool) -> dict[int, Ways]:
    ways: dict[int, Ways] = {point: frozenset() for point in thread.points}
    edges: Sequence[tuple[int, int, Step]] = steps(thread)[::-1]
    changed = True
    while changed:
        changed = False
        for source, target, step in edges:
            wider = ways[source] | _before(step, cell, ways[target], at_once)
            if wider != ways[source]:
                ways[source] = wider
                changed = True
    return ways


def _before(step: Step, cell: Cell, after: Ways, at_once: bool) -> Ways:
    """Return the ways from before a step, from those behind it."""
    read, written = words_of(step)
    if read == cell:
        return frozenset({frozenset()})
    match step.op:
        case Flush():
            return frozenset(way | {peer_of(step.op) or ""} for way in after)
        case Write() if written == cell:
            return frozenset()
        case Put() | Get() | RemoteRmw() if written == cell:
            return frozenset() if at_once else frozenset(way for way in after if peer_of(step.op) not in way)
        case _:
            return after
