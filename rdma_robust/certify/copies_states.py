"""The evidence that a program with crowds is robust as data: markings, read without trust.

A marking is a control state with limits of completions and with copies by their local state, so many of each or any number.
It stands for all states with at most these completions and copies, and for any number of copies that have not begun.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, TypeVar

from rdma_robust.certify.copies_moves import Crowd
from rdma_robust.certify.copies_places import NOTHING, PARTS, SOME_COPY, Control, CopyState, Hero, Share, marked_members
from rdma_robust.certify.document import integer, json_array, json_members, mapping, natural, reject, string
from rdma_robust.certify.invariant_states import EvidenceNames, Limit, read_connections, read_locals, read_marks, read_sets
from rdma_robust.certify.remembered import Mail, Marks, PivotAccesses
from rdma_robust.certify.thread_events import LocalState

Item = TypeVar("Item")

KIND: Final = "copies-invariant"

_SHARE: Final = (
    *("beta", "cpu_in_beta", "forced_polls", "overtaken", "read_in_beta", "written_in_beta", "poisoned"),
    *("poison_carried", "tainted", "stores_in_beta", "forwarding", "atomics_in_beta", "awaited"),
    *("under_way", "settled", "on_words", "poison_taken", "behind_cards", "trails"),
)
"""What a share of marks may have; what is left out is empty."""

_NONE: Final[Mapping[str, object]] = {"beta": [], "tainted": {"threads": [], "read": [], "written": []}}


@dataclass(frozen=True, slots=True)
class MarkedCopy:
    """A marking: the number of its control state, limits of completions, and for each copy how many (None: any number)."""

    control: int
    limit: Limit
    copies: Mapping[int, int | None]


@dataclass(frozen=True, slots=True)
class CopyMarkings:
    """The lists in evidence: control states and copies by their numbers in the crowd, which copy stands for those that
    have not begun, for each template, and the markings."""

    controls: tuple[int, ...]
    copies: tuple[int, ...]
    fresh: tuple[int, ...]
    markings: tuple[MarkedCopy, ...]


def read_markings(crowd: Crowd, evidence: object) -> CopyMarkings:
    """Return the markings in `evidence`. Raises InvalidCertificate where they do not fit the program."""
    return _Reader(crowd, evidence).read()


class _Reader:
    def __init__(self, crowd: Crowd, evidence: object) -> None:
        self._crowd, self._program = crowd, crowd.program
        usual = ("kind", "threads", "cells", "counted", "marks", "shares", "controls", "copies", "fresh", "markings")
        self._found = json_members(evidence, "`evidence`", usual, ("connections", "mail"))
        names = [thread.name for thread in self._program.threads]
        self._template = {template.thread.name: k for k, template in enumerate(crowd.templates)}
        self._locals = self._read_threads(names)
        self._hero_names = self._names(0)
        self._check_words()

    def read(self) -> CopyMarkings:
        found = self._found
        self._marks = json_array(found["marks"], "`evidence.marks`", self._read_marks)
        self._shares = json_array(found["shares"], "`evidence.shares`", self._read_share)
        self._mail = self._read_mail()
        controls = json_array(found["controls"], "`evidence.controls`", self._control)
        copies = json_array(found["copies"], "`evidence.copies`", self._copy)
        for listed, what in ((controls, "controls"), (copies, "copies")):
            if len(set(listed)) < len(listed):
                reject(f"`evidence.{what}` has two elements that are the same")
        fresh = json_array(found["fresh"], "`evidence.fresh`", lambda item, at: _one(copies, item, at))
        if [self._crowd.copies[copy].template for copy in fresh] != list(range(len(self._crowd.templates))):
            reject("`evidence.fresh` does not have one copy of each template, in their order")
        markings = json_array(
            found["markings"], "`evidence.markings`", lambda item, at: self._marking(item, at, controls, copies)
        )
        return CopyMarkings(tuple(controls), tuple(copies), tuple(fresh), tuple(markings))

    def _read_threads(self, names: list[str]) -> dict[str, tuple[LocalState, ...]]:
        found = json_array(
            self._found["threads"],
            "`evidence.threads`",
            lambda item, at: json_members(item, at, ("thread", "registers", "states")),
        )
        if [thread["thread"] for thread in found] != names:
            reject("`evidence.threads` is not about the threads of the program, in their order")
        place = {thread.name: i for i, thread in enumerate(self._crowd.two.threads)}
        places = place | {name: self._crowd.templates[k].places[1] for name, k in self._template.items()}
        return {
            name: read_locals(self._crowd.readings[places[name]], thread, f"`evidence.threads[{i}]`")
            for i, (name, thread) in enumerate(zip(names, found, strict=True))
        }

    def _names(self, which: int) -> EvidenceNames:
        """What names stand for: those of templates, and of their own nodes and cells, for the place of the hero (0) or of
        the copy that moves (1)."""
        two, many = self._crowd.two, frozenset(self._program.many_nodes)
        places = {t.thread.name: t.places[which] for t in self._crowd.templates}
        node = {t.thread.node: two.threads[t.places[which]].node for t in self._crowd.templates}
        threads = {two.threads[t].name: t for t in self._crowd.named} | places
        nodes = {each: node[each] if each in many else each for each in self._program.nodes}
        by_place = {(cell.node, cell.name): cell for cell in two.cells}
        cells = {str(cell): by_place[nodes[cell.node], cell.name] for cell in self._program.cells}
        lanes = frozenset((t, lane) for t in threads.values() for lane, _ in two.threads[t].lanes)
        return EvidenceNames(threads, cells, nodes, SOME_COPY, lanes)

    def _check_words(self) -> None:
        """The evidence says of what words and completions it speaks: all that there are."""
        expected = [str(cell) for cell in self._program.cells if self._hero_names.cells[str(cell)] in self._crowd.written]
        if json_array(self._found["cells"], "`evidence.cells`", string) != expected:
            reject(f"`evidence.cells` does not list the locations that are written, in their order: {', '.join(expected)}")
        counted = json_array(
            self._found["counted"], "`evidence.counted`", lambda item, at: json_members(item, at, ("thread", "remote"))
        )
        if [(each["thread"], each["remote"]) for each in counted] != list(self._crowd.polled):
            reject("`evidence.counted` does not list the queue pairs that are polled, in their order")

    def _read_mail(self) -> list[Mail]:
        connections, mail = read_connections(self._found, self._hero_names)
        if (connections or ()) != self._crowd.steps.connections:
            reject("`evidence.connections` is not about the threads that send messages to each other, in their order")
        return list(mail)

    def _read_marks(self, value: object, where: str) -> Marks:
        return read_marks(value, where, self._hero_names)

    def _read_share(self, value: object, where: str) -> tuple[int, Share]:
        found = json_members(value, where, ("thread", "marks"))
        name = string(found["thread"], f"{where}.thread")
        if name not in self._template:
            reject(f"{where}.thread: {name!r:.60} is no thread of which there are any number")
        listed = mapping(found["marks"], f"{where}.marks")
        for member in listed:
            if member not in _SHARE:
                reject(f"{where}.marks has an unknown member {member!r:.60}")
        template = self._crowd.templates[self._template[name]]
        sets: dict[str, Any] = {**read_sets({**_NONE, **listed}, f"{where}.marks", self._names(1))}
        marks = Marks(PivotAccesses(0, next(iter(self._crowd.two.cells)), writes=False), **sets)
        share = tuple(marked_members(marks, part) for part in PARTS)
        if not self._crowd.is_share(self._template[name], share):
            reject(f"{where}.marks is not about a copy of {template.thread.name} alone")
        return self._template[name], share

    def _control(self, value: object, where: str) -> int:
        if not isinstance(value, list) or len(value) != 6:
            reject(f"{where} is not an array of 6 entries")
        at, hero, values, marks, mail, held = value
        named = [self._crowd.two.threads[t].name for t in self._crowd.named]
        if not isinstance(at, list) or len(at) != len(named):
            reject(f"{where}[0] does not tell where {len(named)} threads are")
        threads = tuple(_one(self._locals[name], i, f"{where}[0]") for name, i in zip(named, at, strict=True))
        cells = _integers(values, len(self._crowd.cells), f"{where}[2]")
        marked = None if marks is None else _one(self._marks, marks, f"{where}[3]")
        stopped = frozenset(json_array(held, f"{where}[5]", self._hero_names.cell))
        one = None if hero is None else self._hero(hero, f"{where}[1]")
        expected = None if marked is None else self._crowd.template_of(marked.pivot.thread)
        if expected != (None if one is None else one.template):
            reject(f"{where}: the copy that holds the pivot is missing, or is not one of the pivot's thread")
        if marked is not None and not self._crowd.may_meet(marked.pivot):
            reject(f"{where}: the pivot is on a location that its thread does not know")
        letters = _one(self._mail, mail, f"{where}[4]")
        return self._crowd.number(Control(threads, one, cells, marked, letters, stopped))

    def _hero(self, value: object, where: str) -> Hero:
        if not isinstance(value, list) or len(value) != 3:
            reject(f"{where} is not an array of 3 entries")
        template, local, values = self._place(value[0], value[1], value[2], where)
        return Hero(template, local, values)

    def _place(self, name: object, local: object, values: object, where: str) -> tuple[int, LocalState, tuple[int, ...]]:
        if not isinstance(name, str) or name not in self._template:
            reject(f"{where}[0] is no thread of which there are any number")
        template = self._template[name]
        own = _integers(values, len(self._crowd.own_cells[template]), f"{where}[2]")
        return template, _one(self._locals[name], local, f"{where}[1]"), own

    def _copy(self, value: object, where: str) -> int:
        if not isinstance(value, list) or len(value) != 5:
            reject(f"{where} is not an array of 5 entries")
        template, local, own = self._place(value[0], value[1], value[2], where)
        limit = _limits(value[3], self._crowd.counters * len(self._crowd.templates[template].remotes), f"{where}[3]")
        share = (template, NOTHING) if value[4] is None else _one(self._shares, value[4], f"{where}[4]")
        if share[0] != template:
            reject(f"{where}[4] is a share of another thread")
        return self._crowd.copy_number(CopyState(template, local, own, limit, share[1]))

    def _marking(self, value: object, where: str, controls: list[int], copies: list[int]) -> MarkedCopy:
        if not isinstance(value, list) or len(value) != 3:
            reject(f"{where} is not an array of 3 entries")
        control = _one(controls, value[0], f"{where}[0]")
        limit = _limits(value[1], self._crowd.counters_at(self._crowd.controls[control]), f"{where}[1]")
        found: dict[int, int | None] = {}
        for copy, most in json_array(value[2], f"{where}[2]", lambda item, at: _counted(item, at, copies)):
            if copy in found:
                reject(f"{where}[2] names a copy twice")
            found[copy] = most
        return MarkedCopy(control, limit, found)


def _one(listed: Sequence[Item], number: object, where: str) -> Item:
    at = natural(number, where)
    return listed[at] if at < len(listed) else reject(f"{where}: there is no element {at} of what it names")


def _integers(value: object, length: int, where: str) -> tuple[int, ...]:
    found = tuple(json_array(value, where, integer))
    return found if len(found) == length else reject(f"{where} does not have {length} values")


def _limits(value: object, length: int, where: str) -> Limit:
    found = tuple(json_array(value, where, lambda item, at: None if item is None else natural(item, at)))
    return found if len(found) == length else reject(f"{where} does not have {length} limits of completions")


def _counted(value: object, where: str, copies: list[int]) -> tuple[int, int | None]:
    if not isinstance(value, list) or len(value) != 2:
        reject(f"{where} is not the number of a copy, and how many there are")
    most = None if value[1] is None else natural(value[1], f"{where}[1]")
    return _one(copies, value[0], f"{where}[0]"), most
