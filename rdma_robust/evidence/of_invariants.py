"""Evidence for ROBUST: the states of the pivot instrumentation in the words of the design.

The instrumented program knows program points of its own between the events of a put or get, sets of numbers as bits, and
registers that it sets to 0 where they do not matter. Here all of that gets the names of docs/certificate-evidence.md.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from operator import itemgetter

from rdma_robust.certify.document import JsonObject
from rdma_robust.certify.invariant_states import KIND, Place
from rdma_robust.certify.invariants import comes_to
from rdma_robust.certify.remembered import PivotAccesses
from rdma_robust.certify.thread_events import LocalState, OperationStage
from rdma_robust.certify.thread_reading import ThreadReading
from rdma_robust.counters.inductive import Limit, limit_covers
from rdma_robust.counters.program import pc
from rdma_robust.counters.vass import Control
from rdma_robust.digraph import live_names
from rdma_robust.errors import InternalError
from rdma_robust.expr import VALUE, names
from rdma_robust.language.flow.cfg import Get, Program, Put, steps
from rdma_robust.robustness.event_graph import EventGraph
from rdma_robust.robustness.frame import InstrumentationFrame, PivotClass, QueuePair
from rdma_robust.robustness.invariant import InductiveInvariant
from rdma_robust.robustness.marks import ALPHA_VALUE, POISON_CARRIED, WORD, MarkSet
from rdma_robust.robustness.pivot_classes import CLASS
from rdma_robust.robustness.receiving import CLOSED
from rdma_robust.robustness.rules import CPU_BETA, NIC_BITS
from rdma_robust.semantics.trace import NIC_WRITE_TYPES, EventType


def invariant_evidence_of(found: InductiveInvariant) -> JsonObject:
    """Return the evidence that the states of `found` are, see docs/certificate-evidence.md.

    Left out is what the checker does not ask for: states in which a thread has come somewhere without an event, and those
    from which the pivot's thread cannot come to the pivot.
    """
    frame, rules = found.instrumentation.frame, found.instrumentation.rules
    threads = [_ThreadWords(found, t) for t in range(len(frame.graphs))]
    marks = _MarkWords(found)
    completions = _CompletionWords(found)
    cells = _taking(found, [str(cell) for cell in frame.cells])
    limits: dict[Place, list[Limit]] = {}
    for control, limit in found.states:
        if all(words.stands(control) for words in threads) and marks.may_end(control, threads):
            place = tuple([words.number(control) for words in threads]), cells(control), marks.number(control), 0
            limits.setdefault(place, []).append(completions.limit(control, limit))
    return {
        "kind": KIND,
        "threads": [words.listed() for words in threads],
        "cells": [str(cell) for cell in frame.cells],
        "counted": [_pair(frame, pair) for pair in frame.polled],
        "watched": [_pair(frame, pair) for pair in sorted(rules.fence_flagged)],
        "marks": marks.listed,
        "states": [[*map(list, place[:2]), place[2], list(limit)] for place in limits for limit in _maximal(limits[place])],
    }


def _maximal(limits: Sequence[Limit]) -> Iterator[Limit]:
    distinct = list(dict.fromkeys(limits))
    yield from (a for a in distinct if not any(a != b and limit_covers(b, a) for b in distinct))


def _taking(found: InductiveInvariant, fields: Sequence[str]) -> Callable[[Control], tuple[int, ...]]:
    """Return what takes the entries of these names out of a control state."""
    at = [found.fields.index(name) for name in fields]
    if len(at) < 2:
        return lambda control: tuple([control[i] for i in at])
    # As fast as Python can: it is done for every state.
    return itemgetter(*at)


def _pair(frame: InstrumentationFrame, pair: QueuePair) -> JsonObject:
    return {"thread": frame.graphs[pair[0]].name, "remote": pair[1]}


class _ThreadWords:
    """The states of one thread: a program point or the middle of an operation, and the registers that matter there."""

    def __init__(self, found: InductiveInvariant, thread: int) -> None:
        self._graph = found.instrumentation.frame.graphs[thread]
        self._middle = _middles(found.instrumentation.frame.program, self._graph)
        self._live = _live(self._graph)
        program_thread = found.instrumentation.frame.program.threads[thread]
        known = {name for name, _ in self._graph.registers}
        self._registers = [name for name, _ in program_thread.registers if f"{self._graph.name}.{name}" in known]
        self._carries = bool(self._middle)
        carried = [found.instrumentation.frame.carried(thread)] if self._carries else []
        qualified = [f"{self._graph.name}.{name}" for name in self._registers]
        self._take = _taking(found, [pc(thread), *carried, *qualified])
        self._numbers: dict[tuple[int, ...], int] = {}
        self._states: list[list[int | None]] = []
        self._at = found.fields.index(pc(thread))
        self._stands = {self._graph.entry, *(edge.target for edge in self._graph.edges if edge.type is not None)}
        self._reading = ThreadReading(program_thread, thread)
        self._comes: dict[tuple[tuple[int, ...], PivotClass], bool] = {}

    def stands(self, control: Control) -> bool:
        """Return whether the thread is at its start or has just made an event."""
        return control[self._at] in self._stands

    def comes_to(self, control: Control, pivot: PivotClass) -> bool:
        """Return whether the thread, that of the pivot, may still come to the pivot."""
        key = self._take(control), pivot
        if key not in self._comes:
            point, operation, carried, *values = self._in_words(key[0])
            known = dict(zip(self._registers, values, strict=True))
            assert point is not None
            stage = None if operation is None else OperationStage.CARRIES
            here = LocalState(point, tuple(known.get(name) for name in self._reading.names), operation, carried, stage)
            self._comes[key] = comes_to(self._reading, here, PivotAccesses(pivot.thread, pivot.cell, pivot.writes))
        return self._comes[key]

    def number(self, control: Control) -> int:
        """Return the number of the thread's state in a control state."""
        entries = self._take(control)
        if entries not in self._numbers:
            self._numbers[entries] = len(self._states)
            self._states.append(self._in_words(entries))
        return self._numbers[entries]

    def listed(self) -> JsonObject:
        return {"thread": self._graph.name, "registers": self._registers, "states": self._states}

    def _in_words(self, entries: tuple[int, ...]) -> list[int | None]:
        location = entries[0]
        values = entries[2:] if self._carries else entries[1:]
        live = self._live.get(location, frozenset())
        registers = [
            value if f"{self._graph.name}.{name}" in live else None
            for name, value in zip(self._registers, values, strict=True)
        ]
        if location in self._middle:
            point, operation = self._middle[location]
            return [point, operation, entries[1], *registers]
        return [location, None, None, *registers]


def _middles(program: Program, graph: EventGraph) -> dict[int, tuple[int, int]]:
    """The program points between two events: the point where their step starts, and its number in the flow graph."""
    thread = program.threads[graph.thread]
    numbered = list(enumerate(steps(thread)))
    operations = [(number, source, step) for number, (source, _, step) in numbered if isinstance(step.op, Put | Get)]
    first = max([thread.entry, thread.exit, *thread.points]) + 1
    found = {}
    for edge in graph.edges:
        if edge.type in NIC_WRITE_TYPES:
            number, source, step = operations[edge.source - first]
            if step is not edge.step:
                raise InternalError(f"the point {edge.source} of thread {graph.name} is not in the middle of step {number}")
            found[edge.source] = source, number
    return found


def _live(graph: EventGraph) -> dict[int, frozenset[str]]:
    """For every program point the registers whose values can still matter: they are read before they are assigned."""
    own = {VALUE.name}
    flows = [
        (
            edge.source,
            edge.target,
            {*names(edge.guard), *(() if edge.written is None else names(edge.written))} - own,
            {register: set(names(e)) - own for register, e in edge.assigns},
        )
        for edge in graph.edges
    ]
    return live_names(flows, dict.fromkeys(graph.points, frozenset()))


class _CompletionWords:
    """How many completions there are at most: any number where no poll of the thread lies ahead."""

    def __init__(self, found: InductiveInvariant) -> None:
        frame, rules = found.instrumentation.frame, found.instrumentation.rules
        self._entries: list[tuple[int, frozenset[int], tuple[int, int]]] = []
        for pair in frame.polled:
            graph = frame.graphs[pair[0]]
            polls = (e.source for e in graph.edges if e.type is EventType.P and e.remote == pair[1])
            counters = found.counters.index(frame.unpolled(pair)), found.counters.index(rules.early(pair))
            self._entries.append((found.fields.index(pc(pair[0])), graph.leading_to(polls), counters))

    def limit(self, control: Control, limit: Limit) -> Limit:
        return tuple(
            limit[counter] if control[at] in ahead else None for at, ahead, counters in self._entries for counter in counters
        )


class _MarkWords:
    """Words for the memory since the first event of beta."""

    def __init__(self, found: InductiveInvariant) -> None:
        self._instrumentation = found.instrumentation
        frame, rules, seen = found.instrumentation.frame, found.instrumentation.rules, found.instrumentation.seen
        self._sets = (seen.accessed, seen.tainted, seen.poison)
        self._fields = [
            *(CLASS, CPU_BETA, CLOSED, ALPHA_VALUE, POISON_CARRIED),
            *(rules.beta(pair) for pair in rules.queue_pairs),
            *(rules.forced(pair) for pair in frame.polled),
            *(rules.fenced(pair) for pair in sorted(rules.fence_flagged)),
            *(name for marks in self._sets for name, _ in marks.variables()),
        ]
        self._take = _taking(found, self._fields)
        self._numbers: dict[tuple[int, ...], int | None] = {}
        self._known: dict[str, int] = {}
        self._class = found.fields.index(CLASS)
        self.listed: list[JsonObject] = []

    def number(self, control: Control) -> int | None:
        """Return the number of the marks in a control state, None before the first event of beta."""
        entries = self._take(control)
        if entries not in self._numbers:
            values = dict(zip(self._fields, entries, strict=True))
            self._numbers[entries] = self._number_of(self._in_words(values)) if values[CLASS] else None
        return self._numbers[entries]

    def may_end(self, control: Control, threads: Sequence[_ThreadWords]) -> bool:
        """Return whether a violation may still follow: before the first event of beta, or if the pivot can be reached."""
        number = control[self._class]
        if not number:
            return True
        pivot = self._instrumentation.classes.tried[number - 1]
        return threads[pivot.thread].comes_to(control, pivot)

    def _number_of(self, marks: JsonObject) -> int:
        """Equal marks are listed once: what differs in the instrumented program may mean the same."""
        key = json.dumps(marks)
        if key not in self._known:
            self._known[key] = len(self.listed)
            self.listed.append(marks)
        return self._known[key]

    def _in_words(self, values: Mapping[str, int]) -> JsonObject:
        instrumentation = self._instrumentation
        frame, rules, classes = instrumentation.frame, instrumentation.rules, instrumentation.classes
        pivot = classes.tried[values[CLASS] - 1]
        size, threads = len(frame.cells), [graph.name for graph in frame.graphs]
        cells = [str(cell) for cell in frame.cells]
        accessed, tainted, poison = (_bits(values, marks) for marks in self._sets)
        if values[CLOSED]:
            tainted = 0
        frozen = pivot in classes.value_dependent and accessed >> size & frame.bit(pivot.cell)

        def of(pairs: Iterable[QueuePair], name: Callable[[QueuePair], str]) -> list[JsonObject]:
            return [_pair(frame, pair) for pair in pairs if values[name(pair)]]

        return {
            "pivot": {
                "thread": threads[pivot.thread],
                "cell": str(pivot.cell),
                "access": "write" if pivot.writes else "read",
            },
            "beta": [
                _pair(frame, pair) | {"events": [t.value for t, bit in NIC_BITS.items() if values[rules.beta(pair)] & bit]}
                for pair in rules.queue_pairs
                if values[rules.beta(pair)]
            ],
            "cpu_in_beta": _members(values[CPU_BETA], threads),
            "forced_polls": of(frame.polled, rules.forced),
            "overtaken": of(sorted(rules.fence_flagged), rules.fenced),
            "read_in_beta": _members(accessed, cells),
            "written_in_beta": _members(accessed >> size, cells),
            "poisoned": _members(poison, cells),
            "poison_carried": _members(values[POISON_CARRIED], threads),
            "tainted": {
                "threads": _members(tainted >> 2 * size, threads),
                "read": _members(tainted, cells),
                "written": _members(tainted >> size, cells),
            },
            "closed": bool(values[CLOSED]),
            "alpha_value": values[ALPHA_VALUE] if frozen else None,
        }


def _bits(values: Mapping[str, int], marks: MarkSet) -> int:
    """Put the words of a set of marks together."""
    return sum(values[name] << number * WORD for number, (name, _) in enumerate(marks.variables()))


def _members(marks: int, listed: Sequence[str]) -> list[str]:
    return [name for number, name in enumerate(listed) if marks >> number & 1]
