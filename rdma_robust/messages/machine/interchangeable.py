"""Processes that are interchangeable, and states that are the same but for who is who.

Definition and proof: "Interchangeable processes" in docs/theory-messages.md (Lemma 9).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from itertools import permutations, product
from typing import Final

from rdma_robust.messages.language.message_program import MessageProgram
from rdma_robust.messages.language.message_terms import Value
from rdma_robust.messages.machine.flat_code import FlatProcess, flat
from rdma_robust.messages.machine.process_state import Handle, LocalState, MessageHandle, ReceiveHandle, Slot
from rdma_robust.messages.machine.value_kinds import Kind, Kinds, KindsError
from rdma_robust.messages.message_answers import MatchedPair, OperationId


@dataclass(frozen=True, slots=True)
class Alike:
    """The classes of interchangeable processes, each of two or more; what kind each register and the messages of a port are.

    `of` has the class of each process that is in one.
    """

    classes: tuple[tuple[int, ...], ...]
    of: dict[int, int]
    registers: tuple[tuple[Kind, ...], ...]
    names: tuple[dict[str, Kind], ...]
    messages: dict[int, Kind]

    def expanded(self, pairs: Iterable[MatchedPair]) -> set[MatchedPair]:
        """Return the pairs with all that processes which change places make of them."""
        found: set[MatchedPair] = set()
        for receive, send in pairs:
            for mine, theirs in self._places(receive.process, send.process):
                found.add(MatchedPair(OperationId(mine, receive.nth), OperationId(theirs, send.nth)))
        return found

    def _places(self, receiver: int, sender: int) -> Iterable[tuple[int, int]]:
        ours, theirs = self.members(receiver), self.members(sender)
        if receiver == sender:
            return ((each, each) for each in ours)
        return permutations(ours, 2) if sender in ours else product(ours, theirs)

    def members(self, process: int) -> tuple[int, ...]:
        return self.classes[self.of[process]] if process in self.of else (process,)


def interchangeable_processes(program: MessageProgram) -> Alike | None:
    """Return which processes of a program are interchangeable; None if none are.

    Of those that enter collective operations it matters who they are.
    What is only compared is first taken for a number, then for a process: what gives more classes is taken.
    """
    if program.gathers:
        return None
    families: list[object] = [(each.span, each.name.partition("[")[0]) for each in program.processes]
    if len(set(families[_FIRST:])) == len(families[_FIRST:]):
        return None
    codes = tuple(flat(each) for each in program.processes)
    kinds = Kinds(families)
    try:
        kinds.read(codes)
        found = [_alike(program, codes, kinds, compared) for compared in _COMPARED]
    except KindsError:
        return None
    best = max(found, key=lambda each: sum(map(len, each.classes)))
    return best if best.classes else None


_FIRST: Final = 1

_COMPARED: tuple[Kind, ...] = ("number", "process")


def _alike(program: MessageProgram, codes: tuple[FlatProcess, ...], kinds: Kinds, compared: Kind) -> Alike:
    def kind(node: tuple[object, ...]) -> Kind:
        found = kinds.kind(node)
        return compared if found == "compared" else found

    shapes: list[tuple[object, ...]] = []
    mentioned = []
    for me, code in enumerate(codes):
        constants = [(value, kind(node)) for value, node in kinds.constants[me]]
        numbers = tuple(value if each == "number" else None for value, each in constants)
        shapes.append((kinds.families[me], code.daemon, code.registers, code.requests, kinds.templates[me], numbers))
        mentioned.append(tuple(value for value, each in constants if each == "process"))
    classes = _classes(shapes, mentioned)
    names = tuple({name: kind(kinds.register(me, name)) for name in code.registers} for me, code in enumerate(codes))
    return Alike(
        classes,
        {process: number for number, members in enumerate(classes) for process in members},
        tuple(tuple(each.values()) for each in names),
        names,
        {port: kind(kinds.message(port)) for port in range(len(program.ports))},
    )


def _classes(shapes: list[tuple[object, ...]], mentioned: list[tuple[int, ...]]) -> tuple[tuple[int, ...], ...]:
    """Return the processes that change places with the first of their class, and the code of all stays what it is.

    Process 0 is in none, as registers that stand for processes are 0 at the start, and so are elements of new arrays.
    """
    by_others: dict[int, int] = {}
    for me, processes in enumerate(mentioned):
        for each in set(processes) - {me}:
            by_others[each] = by_others.get(each, 0) + 1
    found: dict[tuple[object, ...], list[list[int]]] = {}
    for me in range(_FIRST, len(shapes)):
        classes = found.setdefault(shapes[me], [])
        for members in classes:
            if _change_places(members[0], me, mentioned, by_others):
                members.append(me)
                break
        else:
            classes.append([me])
    return tuple(tuple(each) for classes in found.values() for each in classes if len(each) > 1)


def _change_places(one: int, other: int, mentioned: list[tuple[int, ...]], by_others: dict[int, int]) -> bool:
    places = {one: other, other: one}
    if tuple(places.get(each, each) for each in mentioned[one]) != mentioned[other]:
        return False
    return all(by_others.get(me, 0) == (me in mentioned[you]) for me, you in places.items())


Reference = tuple[int, int]
"""Where something in a local state names a process that has a class, by its position, and the process."""


@dataclass(slots=True)
class Orbits:
    """Keys of states: two with one key differ only in who is who. `local` gives a local state by process and number."""

    alike: Alike
    local: Callable[[int, int], LocalState]
    _shapes: dict[tuple[object, ...], int] = field(default_factory=dict)
    _known: dict[tuple[int, int], tuple[int, tuple[Reference, ...]]] = field(default_factory=dict)

    def key(self, state: tuple[int, ...]) -> tuple[object, ...]:
        """Return what is the same for states that differ in who is who, as far as that is easily seen."""
        parts = [self._part(me, number) for me, number in enumerate(state)]
        named: dict[int, list[Reference]] = {}
        for shape, references in parts:
            for position, process in references:
                named.setdefault(process, []).append((shape, position))
        ranks: dict[int, Reference] = {}
        ordered = []
        for number, members in enumerate(self.alike.classes):

            def looks(me: int) -> tuple[int, list[Reference]]:
                return parts[me][0], sorted(named.get(me, ()))

            for rank, me in enumerate(sorted(members, key=looks)):
                ranks[me] = (number, rank)
                ordered.append(me)
        others = (me for me in range(len(state)) if me not in self.alike.of)
        return tuple((parts[me][0], tuple(ranks[process] for _, process in parts[me][1])) for me in (*others, *ordered))

    def _part(self, me: int, number: int) -> tuple[int, tuple[Reference, ...]]:
        known = self._known.get((me, number))
        if known is None:
            local, references = _Abstract(self.alike, me).of(self.local(me, number))
            owner = ("class", self.alike.of[me]) if me in self.alike.of else ("process", me)
            shape = self._shapes.setdefault((owner, local), len(self._shapes))
            known = self._known[me, number] = shape, references
        return known


_OWN = "itself"


class _Abstract:
    """A local state with places for the processes that it names."""

    def __init__(self, alike: Alike, me: int) -> None:
        self.alike = alike
        self.me = me
        self.references: list[Reference] = []
        self.count = 0

    def of(self, local: LocalState) -> tuple[tuple[object, ...], tuple[Reference, ...]]:
        kinds, messages = self.alike.registers[self.me], self.alike.messages
        shape = (
            local.pc,
            local.cursor,
            local.status,
            tuple(self.value(value, kind) for value, kind in zip(local.registers, kinds, strict=True)),
            tuple(self.slot(each) for each in local.requests),
            tuple(
                (op.nth, self.process(op.to), op.port, op.tag, self.value(op.value, messages[op.port])) for op in local.sends
            ),
            tuple((op.nth, op.port, self.process(op.source), op.tag) for op in local.receives),
            local.sent,
            local.received,
        )
        return shape, tuple(self.references)

    def process(self, number: int) -> object:
        if number == self.me:
            return _OWN
        if number not in self.alike.of:
            return number
        self.references.append((self.count, number))
        self.count += 1
        return ("one of", self.alike.of[number])

    def value(self, value: Value, kind: Kind) -> object:
        if kind == "idle":
            return None
        if isinstance(value, tuple):
            return tuple(self.value(each, kind) for each in value)
        return self.process(value) if kind == "process" else value

    def slot(self, slot: Slot) -> object:
        if isinstance(slot, tuple):
            return tuple(self.handle(each) for each in slot)
        return self.handle(slot)

    def handle(self, handle: Handle | None) -> object:
        if isinstance(handle, ReceiveHandle):
            got: object = None
            if handle.got is not None:
                value, sender, tag = handle.got
                got = self.value(value, self.alike.names[self.me][handle.target[0]]), self.process(sender), tag
            return (handle.nth, handle.target, handle.sender, handle.which, got)
        if isinstance(handle, MessageHandle):
            return ("held", self.process(handle.sender), handle.port, handle.tag, handle.key)
        return None if handle is None else ("send", handle.nth)
