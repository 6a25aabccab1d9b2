"""The reduction `permute`: what of a state belongs to which of several like threads, so that they can be exchanged in it.

Every variable of the instrumentation is listed here with what it, or each of its bits, is about: a thread, a cell, a queue
pair. An exchange of threads moves the values of what it renames, and renames the values that stand for threads: program
points, the number of the class, values of open sorts (:mod:`value_sorts`). A variable that is not listed is an error.

The instrumentation of the classes that are closed under the exchanges is made from the event edges alone, alike for edges
that are alike. So an exchange maps its steps to steps, and its targets to targets, in both phases: a start of class c
becomes the start of the image of c. See :mod:`rdma_robust.counters.permutations` for what follows.

Blocks are sorted by what belongs to one thread of the group and what points at it. What belongs to two of them, as words
between each two threads do, moves with them but says nothing about the order.

Source: docs/reductions.md, "`permute`: states of like threads".
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import Any, Protocol, TypeVar

from rdma_robust.counters.permutations import Blocks, Codes, FieldPart, Key, Trade
from rdma_robust.counters.program import CounterProgram, pc
from rdma_robust.errors import InternalError
from rdma_robust.robustness.forwarding import StoreBuffers
from rdma_robust.robustness.frame import InstrumentationFrame, PivotClass, thing_of, things_of
from rdma_robust.robustness.marks import ALPHA_VALUE, POISON_CARRIED, AccessMemory, MarkSet
from rdma_robust.robustness.pivot_classes import CLASS, PivotClasses
from rdma_robust.robustness.receiving import CLOSED
from rdma_robust.robustness.reductions.like_threads import LikeThreads, Renaming, Thing, image_of
from rdma_robust.robustness.reductions.value_sorts import Sorts, Variable
from rdma_robust.robustness.remote_atomics import RemoteAtomics
from rdma_robust.robustness.rules import CPU_BETA, STORE_BETA, ForcingRules

Label = TypeVar("Label")

Role = tuple[Any, ...]
"""What a part of a state is about: a word, and things of the program."""


class Instrumentation(Protocol):
    """A record with the variables of an instrumentation."""

    @property
    def frame(self) -> InstrumentationFrame: ...

    @property
    def rules(self) -> ForcingRules: ...

    @property
    def classes(self) -> PivotClasses: ...

    @property
    def seen(self) -> AccessMemory: ...

    @property
    def buffers(self) -> StoreBuffers: ...

    @property
    def atomics(self) -> RemoteAtomics: ...


def with_exchanges(
    made: CounterProgram[Label], pivot: Instrumentation, alike: Sequence[LikeThreads], *, forgets: bool
) -> CounterProgram[Label]:
    """Return the program made by an instrumentation with what groups of like threads are in its states.

    `forgets` says whether cells are set to 0 where nobody reads them any more. Raises InternalError if the program has a
    variable of which is not known what it is about.
    """
    if not alike:
        return made
    parts = pivot.frame, pivot.classes, pivot.rules, pivot.seen, pivot.buffers, pivot.atomics
    layout = StateLayout(*parts, Sorts(pivot.frame, forgets))
    layout.check(made)
    return replace(made, alike=tuple(map(layout.blocks, alike)))


@dataclass(frozen=True)
class StateLayout:
    """The parts of the states of an instrumentation, each with what it is about."""

    frame: InstrumentationFrame
    classes: PivotClasses
    rules: ForcingRules
    seen: AccessMemory
    buffers: StoreBuffers
    atomics: RemoteAtomics
    sorts: Sorts
    _renamed: dict[int, tuple[Renaming, dict[Variable, dict[int, int]]]] = field(default_factory=dict)

    @cached_property
    def parts(self) -> dict[Role, FieldPart]:
        """Every part by its role."""
        return dict(self._parts())

    def _parts(self) -> Iterator[tuple[Role, FieldPart]]:
        frame, threads = self.frame, range(len(self.frame.graphs))
        yield from ((("at", _thread(t)), FieldPart(pc(t))) for t in threads)
        yield (CLASS,), FieldPart(CLASS)
        yield (CLOSED,), FieldPart(CLOSED)
        yield (ALPHA_VALUE,), FieldPart(ALPHA_VALUE)
        yield from ((("holds", ("cell", c)), FieldPart(str(c))) for c in frame.cells)
        yield from ((("holds", ("register", r)), FieldPart(r)) for r, _ in frame.registers())
        yield from ((("carries", _thread(t)), FieldPart(frame.carried(t))) for t in frame.carriers())
        yield from self._queues()
        for name in (CPU_BETA, POISON_CARRIED, *((STORE_BETA,) if self.rules.buffering else ())):
            yield from (((name, _thread(t)), FieldPart(name, t, 1)) for t in threads)
        yield from self._queue_pairs()
        yield from self._marks()

    def _queues(self) -> Iterator[tuple[Role, FieldPart]]:
        for connection, channel in self.frame.messages.channels.items():
            for k, (name, *_) in enumerate(channel.variables()):
                yield ("queue", k, *things_of(self.frame.program, connection)), FieldPart(name)

    def _queue_pairs(self) -> Iterator[tuple[Role, FieldPart]]:
        rules, frame = self.rules, self.frame
        named = [("beta", rules.beta, rules.queue_pairs), ("forced", rules.forced, frame.polled)]
        named += [("fenced", rules.fenced, tuple(qp for qp in rules.queue_pairs if qp in rules.fence_flagged))]
        named += [("received", rules.received, tuple(qp for qp in rules.queue_pairs if qp in rules.receive_flagged))]
        named += [("unpolled", frame.unpolled, frame.polled), ("early", rules.early, frame.polled)]
        for told in sorted({told for mine in rules.acknowledged.values() for told in mine}):
            waiting = tuple(qp for qp, mine in rules.acknowledged.items() if told in mine)
            named += [(f"settled{told}", partial(rules.settled, told=told), waiting)]
            named += [(f"ahead{told}", partial(rules.ahead, told=told), waiting)]
        for role, name, queue_pairs in named:
            for qp in queue_pairs:
                thread, words = _thread(qp[0]), rules.word_bits.get(qp, {}) if role == "beta" else {}
                yield (role, thread, thing_of(frame.program, qp)), _without(name(qp), words.values())
                for (kind, word), bit in words.items():
                    yield ("beta of word", kind, thread, ("cell", word)), FieldPart(name(qp), bit.bit_length() - 1, 1)

    def _marks(self) -> Iterator[tuple[Role, FieldPart]]:
        seen, frame = self.seen, self.frame
        for cell in frame.cells:
            read, written, about = frame.bit(cell), seen.marks.written(cell), ("cell", cell)
            for role, marks in (("accessed", seen.accessed), ("tainted", seen.tainted)):
                yield (role, "read", about), _bit(marks, read)
                yield (role, "written", about), _bit(marks, written)
            yield ("poison", about), _bit(seen.poison, read)
        for t in range(len(frame.graphs)):
            yield ("tainted", _thread(t)), _bit(seen.tainted, seen.marks.thread(t))
        for (t, cell), number in self.buffers.pairs.items():
            yield ("forwarding", _thread(t), ("cell", cell)), _bit(self.buffers.marks, 1 << number)
        for cell, number in self.atomics.words.items():
            yield ("atomic in beta", ("cell", cell)), _bit(self.atomics.in_beta, 1 << number)
            yield ("atomic open", ("cell", cell)), _bit(self.atomics.open, 1 << number)

    def check(self, program: CounterProgram[Any]) -> None:
        """Raise InternalError if the program has a variable that is not listed."""
        known = {part.field for part in self.parts.values()}
        fields = [*(name for name, _ in program.variables), *program.counters]
        for name in fields:
            if name not in known and not self._is_empty(name):
                raise InternalError(f"nothing is known of what the variable {name} is about")

    def _is_empty(self, name: str) -> bool:
        """Whether it is a set of marks of which there is none."""
        sets = (self.seen.accessed, self.seen.poison, self.atomics.in_beta, self.atomics.open, self.buffers.marks)
        return any(not marks.bits and name == marks.name for marks in sets)

    def blocks(self, group: LikeThreads) -> Blocks:
        """Return the exchanges of the states of a group, and by what its blocks are sorted."""
        size = len(group.threads)
        exchanges = {(i, j): tuple(self._trades(group.between(i, j))) for i in range(size) for j in range(i + 1, size)}
        return Blocks(exchanges, tuple(map(tuple, _Keys(self, group).of_blocks())))

    def _trades(self, by: Renaming) -> Iterator[Trade]:
        done: set[Role] = set()
        for role, part in self.parts.items():
            image = _image(role, by)
            if role in done or role == (ALPHA_VALUE,):
                continue
            if image not in self.parts:
                raise InternalError(f"an exchange leads from {role} to {image}, which there is not")
            done |= {role, image}
            codes = tuple(sorted(self.codes(role, by).items()))
            if image != role or codes:
                yield Trade(part, self.parts[image], codes, tuple(sorted(self.codes(image, by).items())))
        yield from self._frozen(by)

    def _frozen(self, by: Renaming) -> Iterator[Trade]:
        """What becomes of the value that the pivot reads: it is of the sort of the pivot's cell."""
        for c in (c for c in self.classes.tried if c in self.classes.value_dependent):
            codes = self._values(("cell", c.cell), by)
            if codes:
                written = self.parts["accessed", "written", ("cell", c.cell)]
                when = (FieldPart(CLASS), self.classes.number(c)), (written, 1)
                every = tuple(sorted(codes.items()))
                yield Trade(FieldPart(ALPHA_VALUE), FieldPart(ALPHA_VALUE), every, every, when)

    def codes(self, role: Role, by: Renaming) -> dict[int, int]:
        """Return what values of the part become when they move to the part of the image."""
        match role[0]:
            case "at":
                thread = role[1][1]
                image = by.get(role[1], role[1])[1]
                points = ((p, _number(by.get(("point", thread, p), ("point", image, p)))) for p in self._points(thread))
                return {p: q for p, q in points if p != q}
            case "class":
                found = {self.number(c): self.number(image_of(c, by)) for c in self.classes.tried}
                return {i: j for i, j in found.items() if i != j}
            case "holds":
                return self._values(role[1], by)
            case "carries":
                return self._values(("carried", role[1][1]), by)
            case _:
                return {}

    def _points(self, thread: int) -> frozenset[int]:
        return self.frame.graphs[thread].points

    def _values(self, variable: Variable, by: Renaming) -> dict[int, int]:
        """What values of a variable become."""
        return self._of_sort(by).get(self.sorts.of(variable), {})

    def number(self, c: PivotClass) -> int:
        """The number of a class, or of one that is equal."""
        return self._numbers[c]

    @cached_property
    def _numbers(self) -> dict[PivotClass, int]:
        return {c: i for i, c in enumerate(self.classes.tried, 1)}

    def _of_sort(self, by: Renaming) -> dict[Variable, dict[int, int]]:
        """What values become, by sorts. What an exchange says nothing of takes the places that are left free."""
        if id(by) not in self._renamed:
            found: dict[Variable, dict[int, int]] = {}
            for thing, image in by.items():
                if thing[0] == "value":
                    found.setdefault(_sort(thing), {})[_number(thing)] = _number(image)
            for codes in found.values():
                free = sorted(codes.keys() - set(codes.values()))
                codes.update(zip(sorted(set(codes.values()) - codes.keys()), free, strict=True))
            self._renamed[id(by)] = by, {sort: {v: w for v, w in c.items() if v != w} for sort, c in found.items()}
        return self._renamed[id(by)][1]


def _sort(value: Thing) -> Variable:
    sort = value[1]
    assert isinstance(sort, tuple)
    return sort


def _number(value: Thing) -> int:
    number = value[2]
    assert isinstance(number, int)
    return number


class _Keys:
    """By what the blocks of one group are sorted."""

    def __init__(self, layout: StateLayout, group: LikeThreads) -> None:
        self.layout, self.group = layout, group
        self.size = len(group.threads)

    def of_blocks(self) -> list[list[Key]]:
        """Return the keys of every block: first of what points at it, then of what is its own."""
        layout = self.layout
        found: list[list[Key]] = [[] for _ in range(self.size)]
        for place in (1, 2):
            for i, keys in enumerate(found):
                keys.append(Key(FieldPart(CLASS), self._classes(i, place), 0))
        for role, part in layout.parts.items():
            owner = self._owner(role, _image)
            if owner is None and not self._moves(role, _image):
                values = self._values(role) if role[0] != CLASS else set()
                for i, keys in enumerate(found) if values else ():
                    keys.append(Key(part, self._pointing(role, values, i), 0))
            elif owner == 0:
                roles = [role, *(_image(role, by) for by in self.group.exchanges)]
                renamed = role[0] != "at" and any(map(self._values, roles))
                for i, (keys, mine) in enumerate(zip(found, roles, strict=True)):
                    keys += self._of_role(mine, i, renamed)
        return found

    def _values(self, role: Role) -> set[int]:
        """The values of a part that exchanges rename."""
        return {v for by in self.group.exchanges for v in self.layout.codes(role, by)}

    def _of_role(self, role: Role, block: int, renamed: bool) -> Iterator[Key]:
        """What a block is sorted by of a part of its own; `renamed` if that has other values in some block."""
        part, values = self.layout.parts[role], self._values(role)
        if role[0] == "at":
            back: Codes = () if block == 0 else tuple(self.layout.codes(role, self.group.exchanges[block - 1]).items())
            yield Key(part, back)
        elif not renamed:
            yield Key(part)
        else:
            own = set(self._own(role, values, block))
            yield Key(part, tuple((v, 2 - (v in own)) for v in sorted(values)), 0)
            yield Key(part, tuple((v, min(values)) for v in sorted(values)))

    def _pointing(self, role: Role, values: set[int], block: int) -> Codes:
        """Those of the values of a part that point at the block, numbered as they would be if they pointed at block 0."""
        back = {} if block == 0 else self.layout.codes(role, self.group.exchanges[block - 1])
        return tuple((v, 1 + sorted(values).index(back.get(v, v))) for v in self._own(role, values, block))

    def _own(self, role: Role, values: set[int], block: int) -> list[int]:
        """Those of the values of a part that point at the block."""
        by = [self.layout.codes(role, each) for each in self.group.exchanges]

        def moving(v: int) -> set[int]:
            return {j for j, codes in enumerate(by, 1) if v in codes}

        there = by[0]
        return [v for v in sorted(values) if self._block(moving(v), moving(there.get(v, v)), v, there.get(v, v)) == block]

    def _classes(self, block: int, place: int) -> Codes:
        """Numbers of classes whose thread (place 1) or whose cell (place 2) is the block's."""
        found = []
        for c in self.layout.classes.tried:
            thing: Thing = _thread(c.thread) if place == 1 else ("cell", c.cell)
            if self._owner(thing, lambda thing, by: by.get(thing, thing)) == block:
                at_home = c if block == 0 else image_of(c, self.group.exchanges[block - 1])
                found.append((self.layout.number(c), self.layout.number(at_home)))
        return tuple(found)

    def _moves(self, role: Any, image: Any) -> bool:
        return any(image(role, by) != role for by in self.group.exchanges)

    def _owner(self, role: Any, image: Any) -> int | None:
        """The block that a part or a thing belongs to; None if that is none, or several."""
        moved = {j for j, by in enumerate(self.group.exchanges, 1) if image(role, by) != role}
        there = image(role, self.group.exchanges[0])
        moved_there = {j for j, by in enumerate(self.group.exchanges, 1) if image(there, by) != there}
        return self._block(moved, moved_there, repr(role), repr(there))

    def _block(self, moved: set[int], moved_there: set[int], here: Any, there: Any) -> int | None:
        """The block of what these exchanges move, which the first exchange maps to what those move."""
        if self.size == 2:
            return None if not moved else int(here > there)
        if len(moved) == 1:
            return next(iter(moved))
        return 0 if len(moved) == self.size - 1 and len(moved_there) == 1 else None


def _thread(t: int) -> Thing:
    return "thread", t


def _without(field: str, bits: Collection[int]) -> FieldPart:
    """The field without these bits, which are its last ones."""
    return FieldPart(field, 0, min(bits).bit_length() - 1) if bits else FieldPart(field)


def _bit(marks: MarkSet, mask: int) -> FieldPart:
    ((name, part),) = marks.parts(mask)
    return FieldPart(name, part.bit_length() - 1, 1)


def _image(role: Role, by: Renaming) -> Role:
    return tuple(by.get(part, part) if isinstance(part, tuple) else part for part in role)
