"""Who uses which words: of steps, of buffers and cards, and whether a step has to do with nobody else."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

from rdma_robust.analyses.prove.commands import Code, Command
from rdma_robust.analyses.prove.placing import Placing, Variable
from rdma_robust.analyses.prove.transition_system import SafetyClaim
from rdma_robust.expr import names
from rdma_robust.language.flow.cfg import Program, RemoteOp
from rdma_robust.language.flow.claims import EndedAtom, PointAt


class Touch(NamedTuple):
    """The words that something reads and writes, as bits by their numbers."""

    reads: int = 0
    writes: int = 0

    def meets(self, other: Touch) -> bool:
        """Return whether one of them writes what the other uses: only then their order matters to memory."""
        return bool(self.writes & (other.reads | other.writes) or self.reads & other.writes)

    def __or__(self, other: Touch) -> Touch:
        return Touch(self.reads | other.reads, self.writes | other.writes)


NO_TOUCH: Final = Touch()


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
    ahead: tuple[Touch, ...]

    @property
    def touch(self) -> Touch:
        return self.ahead[0]


class Awaited(NamedTuple):
    """What a step waits for: all that its thread has under way, or what is about one node."""

    thread: int
    peer: str | None

    def has(self, move: SystemMove) -> bool:
        return move.thread == self.thread and (self.peer is None or move.peer == self.peer)


@dataclass(frozen=True)
class Words:
    """The words of a program by number, and which threads (as bits) ever read and write each, by CPU or card."""

    numbers: Mapping[str, int]
    readers: tuple[int, ...]
    writers: tuple[int, ...]

    @classmethod
    def of(cls, placing: Placing, code: Sequence[Code]) -> Words:
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
    def _touch(numbers: Mapping[str, int], command: Command) -> Touch:
        reads = 0 if command.source is None else 1 << numbers[command.source.name]
        writes = 0 if command.target is None else 1 << numbers[command.target.name]
        atomic = isinstance(command.step.op, RemoteOp) and command.new is not None
        return Touch(reads, writes | (reads if atomic else 0))

    def touch(self, command: Command) -> Touch:
        """Return what a step's operation reads and writes, whoever does it and when."""
        return self._touch(self.numbers, command)

    def halves(self, command: Command) -> tuple[Touch, Touch]:
        """Return what a remote operation uses when it reads (an atomic then writes too), and when it writes what it read."""
        assert command.source is not None and command.target is not None
        read = self.bit(command.source)
        return Touch(read, read if command.new is not None else 0), Touch(0, self.bit(command.target))

    def bit(self, variable: Variable) -> int:
        return 1 << self.numbers[variable.name]

    def users(self, word: str) -> int:
        """Return the threads, as bits, that ever use a word, by CPU or card."""
        number = self.numbers[word]
        return self.readers[number] | self.writers[number]

    def only(self, thread: int, touch: Touch) -> bool:
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
        marks = {_point(program, t, atom) for atom in asked}
        quiet = frozenset(
            point
            for point, commands in code[t].items()
            if all(c.forward and point not in marks and c.to not in marks for c in commands)
            and not any(variable.name in used for c in commands for variable, _ in c.assigns)
            and not any(_written_now(c, buffered) in used for c in commands)
        )
        found.append(quiet)
    return found


def _point(program: Program, t: int, atom: PointAt | EndedAtom) -> int:
    thread = program.threads[t]
    return thread.exit if isinstance(atom, EndedAtom) else dict(thread.labels)[atom.label]


def _written_now(command: Command, buffered: bool) -> str | None:
    """Return the word that the thread itself writes with the step."""
    if command.target is None or (buffered and command.source is None):
        return None
    return command.target.name
