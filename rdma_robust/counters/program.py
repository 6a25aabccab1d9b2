"""Counter programs: what both instrumentations produce.

A counter program is a sequentially consistent program over finite variables plus counters over the naturals that are
never tested for zero (a :class:`Zero` only prunes and may be dropped). Each process is a graph of locations; a
:class:`Command` leads from one location to another and its body is a tree: statements, then alternatives, each a
body again; a leaf carries a label. One root-to-leaf path is one atomic transition. The question asked of a counter
program is whether some :class:`Target` is reachable.

Source: docs/theory-search.md, "Lowering to vector addition systems".

Look-aheads by which a search leaves out states that lead nowhere, as the maker of a counter program knows them.

A pruner looks ahead from a control state. Where it says that the state is hopeless no target can be reached from it, and no
search stores it. For the searches in Python it is a test; the compiled search needs :class:`LookAheadTables`,
which say what a look ahead does process by process, and comes to the same answers.

A look ahead is made for states of some *kind*. It follows every process alone from where it stands, but for those that are
gone. A move can be *barred*; a process takes a move that is neither barred nor guarded by a value that is not there and that
no move taken before writes, and it passes some moves although they are barred. A state is hopeless if the kind's process is
gone or no *goal* of the kind is reached, or if nothing has been met yet and no *mark* can spread from move to move to an
end of the kind, or to a move of its process.
"""

from __future__ import annotations

from array import array
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Generic, NamedTuple, Protocol, TypeVar

from rdma_robust.counters.permutations import Blocks
from rdma_robust.expr import TRUE, Expr


class LookAheadTables(NamedTuple):
    """A look ahead as numbers. Fields are given by their places, sets of moves as rows of words of 64 bits.

    `header`: the fields of the kind (0: none), of what is met, of the set of processes that are gone, of a kept value; then
    for every process the pairs (first, end) that say whether it is marked. `pairs`: (field, bits), which hold where a field
    has one of the bits. `moves`: the columns that _look_ahead.pyx names. `kinds`: process, the field whose value its goals
    need, the pairs where the kept value counts instead (first, end), the guards (first, end). `guards`: (move, least,
    allowed) each: values from `least` on, bit i of `allowed` for least + i, others are allowed. `rows`: for every move those
    that a mark may skip to where the move is barred, those after it in its process, those of other processes that a mark
    spreads to; then for every kind its goals and its ends.
    """

    header: array[int]
    moves: array[int]
    pairs: array[int]
    kinds: array[int]
    guards: array[int]
    rows: array[int]


class Pruner(Protocol):
    """A look ahead over the variables of one program."""

    def test(self, fields: Sequence[str]) -> Callable[[Sequence[int]], bool]:
        """Return the test of control states with these fields: True only where no target can be reached."""
        ...

    def tables(self, fields: Sequence[str]) -> LookAheadTables | None:
        """Return the same for the compiled search, or None: then the program is searched in Python."""
        ...


Label = TypeVar("Label")


@dataclass(frozen=True, slots=True)
class Require:
    """The transition exists only where `condition` is non-zero."""

    condition: Expr


@dataclass(frozen=True, slots=True)
class Assign:
    """Simultaneous assignment. A name that is no variable of the program is a temporary of this transition."""

    updates: tuple[tuple[str, Expr], ...]


@dataclass(frozen=True, slots=True)
class Add:
    """Add `amount` to a counter; not enabled where the counter would become negative."""

    counter: str
    amount: int


@dataclass(frozen=True, slots=True)
class Zero:
    """Prune: this alternative is pointless while the counter is positive. May be ignored."""

    counter: str


@dataclass(frozen=True, slots=True)
class Forget:
    """The counter is neither tested nor changed any more; a bounded one becomes 0 to merge equal states."""

    counter: str


@dataclass(frozen=True, slots=True)
class Choose:
    """An alternative for each of `options`, a value and its condition: where that holds, `name` becomes the value.

    At most one on a path; the leaves after it have a label for each option.
    """

    name: str
    options: tuple[tuple[int, Expr], ...]


Statement = Require | Assign | Add | Zero | Forget | Choose


@dataclass(frozen=True, slots=True)
class Body(Generic[Label]):
    """`statements` in order, then each of `then` as an alternative.

    A body without alternatives is a leaf: it has one label, or after a :class:`Choose` one for each option.
    """

    statements: tuple[Statement, ...]
    then: Sequence[Body[Label]] = ()
    labels: tuple[Label, ...] = ()

    def leaves(self, before: tuple[Statement, ...] = ()) -> Iterator[tuple[Statement, ...]]:
        """Yield the statements of every root-to-leaf path."""
        path = before + self.statements
        if self.labels:
            yield path
        for branch in self.then:
            yield from branch.leaves(path)

    def paths(self, before: tuple[Statement, ...] = ()) -> Iterator[tuple[tuple[Statement, ...], tuple[Label, ...]]]:
        """Yield the statements of every root-to-leaf path with the labels of its leaf."""
        path = before + self.statements
        if self.labels:
            yield path, self.labels
        for branch in self.then:
            yield from branch.paths(path)

    def all_labels(self) -> Iterator[Label]:
        """Yield the labels of all leaves."""
        yield from self.labels
        for branch in self.then:
            yield from branch.all_labels()


class LazyBranches(Sequence[Body[Label]]):
    """Alternatives that are made when somebody first looks at them; equal to the tuple of them.

    Analyses may look at the `outline` instead, alternatives that change the counters in the same ways and that read and
    assign the same of the variables `speaks_for`.
    """

    __slots__ = ("_made", "_make", "outline", "speaks_for")

    def __init__(
        self, make: Callable[[], Sequence[Body[Label]]], outline: Sequence[Body[Label]], speaks_for: frozenset[str]
    ) -> None:
        self._make = make
        self._made: tuple[Body[Label], ...] | None = None
        self.outline = outline
        self.speaks_for = speaks_for

    def made(self) -> tuple[Body[Label], ...]:
        if self._made is None:
            self._made = tuple(self._make())
        return self._made

    def __len__(self) -> int:
        return len(self.made())

    def __getitem__(self, index: Any) -> Any:
        return self.made()[index]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and self.made() == tuple(other)

    def __hash__(self) -> int:
        return hash(self.made())

    def __repr__(self) -> str:
        return repr(self.made())

    def __reduce__(self) -> tuple[Any, ...]:
        return tuple, (self.made(),)


@dataclass(frozen=True, slots=True)
class Footprint:
    """The shared cells that a command reads and writes, as bit masks. Two conflict if one writes what the other touches."""

    reads: int = 0
    writes: int = 0

    def __or__(self, other: Footprint) -> Footprint:
        return Footprint(self.reads | other.reads, self.writes | other.writes)

    def conflicts(self, other: Footprint) -> bool:
        return bool(self.writes & (other.reads | other.writes) or self.reads & other.writes)


@dataclass(frozen=True, slots=True)
class Command(Generic[Label]):
    """From location `source` to location `target` of one process.

    With a `footprint` the maker of the program vouches that on every run to a target this command can change places with
    a neighbouring command of another process whose footprint does not conflict, and the run still reaches the target;
    and that what a target needs of other processes conflicts with a command at the target's location.
    """

    source: int
    target: int
    body: Body[Label]
    footprint: Footprint | None = None


@dataclass(frozen=True, slots=True)
class ProcessGraph(Generic[Label]):
    name: str
    entry: int
    commands: tuple[Command[Label], ...]


@dataclass(frozen=True, slots=True)
class Target(Generic[Label]):
    """Reached where `condition` holds and, if `process` is given, that process (an index) is at `location`."""

    label: Label
    condition: Expr
    process: int | None = None
    location: int = 0


@dataclass(frozen=True, slots=True)
class CounterProgram(Generic[Label]):
    """`variables` are (name, initial value); `counters` start at 0. `pc(i)` names process i's location in expressions.

    `below` maps a counter to another that, until it is forgotten, is at least as large. `milestones` are variables that
    become non-zero on the way to every target: a search may try states with more of them first. `ranges` are (name, least,
    greatest) for variables whose values are bounded by the source language in every reachable state, `sizes` (name, bits)
    for variables that the instrumentation adds and that are below 1 << bits. A search leaves out
    the states that the `pruner` calls hopeless, and keeps one of those that exchanges of blocks that are `alike` map to
    each other.
    """

    name: str
    variables: tuple[tuple[str, int], ...]
    counters: tuple[str, ...]
    processes: tuple[ProcessGraph[Label], ...]
    targets: tuple[Target[Label | None], ...]
    milestones: tuple[str, ...] = ()
    below: tuple[tuple[str, str], ...] = ()
    ranges: tuple[tuple[str, int, int], ...] = ()
    sizes: tuple[tuple[str, int], ...] = ()
    pruner: Pruner | None = None
    alike: tuple[Blocks, ...] = ()


def pc(process: int) -> str:
    """Return the name under which expressions see the location of a process."""
    return f"pc{process}"


def leaf(label: Label, *statements: Statement) -> Body[Label]:
    """Return a body without alternatives; trivially true requirements are left out."""
    return Body(tuple(s for s in statements if s != Require(TRUE)), (), (label,))


Gains = Mapping[str, int]
"""What a path of statements adds to each counter that it touches."""


def counter_bounds(program: CounterProgram[Any]) -> dict[str, int | None]:
    """Return for every counter an upper bound on its values in all runs, or None where none is found.

    A counter touched by one process only, whose graph has no cycle that increases it, is at most the weight of the
    heaviest path from the entry: guards and decrements that would block are ignored, which only adds paths.
    """
    if not program.counters:
        return {}
    owners: dict[str, list[dict[int, list[tuple[int, int]]]]] = {c: [] for c in program.counters}
    entries: dict[str, int] = {}
    for process in program.processes:
        for counter, steps in _steps(process).items():
            owners[counter].append(steps)
            entries[counter] = process.entry
    bounds = {
        c: _heaviest(entries[c], found[0]) if len(found) == 1 else (None if found else 0) for c, found in owners.items()
    }
    for small, large in program.below:
        bounds[small] = min((b for b in (bounds[small], bounds[large]) if b is not None), default=None)
    return bounds


def _steps(process: ProcessGraph[Any]) -> dict[str, dict[int, list[tuple[int, int]]]]:
    """For every counter that the process touches and every location where it goes on to, and the most that this adds."""
    most = [(c.source, c.target, list(_gains(c.body, {}))) for c in process.commands]
    touched = sorted({counter for _, _, leaves in most for gains in leaves for counter in gains})
    found: dict[str, dict[int, list[tuple[int, int]]]] = {}
    for counter in touched:
        steps = found[counter] = {}
        for source, target, leaves in most:
            if leaves:
                steps.setdefault(source, []).append((target, max(gains.get(counter, 0) for gains in leaves)))
    return found


def _gains(body: Body[Any], before: Gains) -> Iterator[Gains]:
    """Yield what every root-to-leaf path adds."""
    gains = before
    for s in body.statements:
        if isinstance(s, Add):
            gains = {**gains, s.counter: gains.get(s.counter, 0) + s.amount}
    if body.labels:
        yield gains
    then: Sequence[Body[Any]] = body.then.outline if isinstance(body.then, LazyBranches) else body.then
    for branch in then:
        yield from _gains(branch, gains)


def _heaviest(entry: int, steps: Mapping[int, Sequence[tuple[int, int]]]) -> int | None:
    """The weight of the heaviest path from the entry, None if there is a cycle that adds.

    A path that does not come to a step twice weighs at most all gains together.
    """
    all_gains = sum(max(0, gain) for leaving in steps.values() for _, gain in leaving)
    weight = {entry: 0}
    todo = deque([entry])
    while todo:
        at = todo.popleft()
        for target, gain in steps.get(at, ()):
            there = weight[at] + gain
            if there > all_gains:
                return None
            if target not in weight or there > weight[target]:
                weight[target] = there
                todo.append(target)
    return max(weight.values())
