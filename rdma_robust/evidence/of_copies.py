"""Evidence about programs with crowds: markings of the checker's own search for ROBUST, a trace of so many copies else."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TypeVar

from rdma_robust.certify.copies_invariants import COPIES_TRACE
from rdma_robust.certify.copies_places import NOTHING, SOME_COPY, Control, CopyState, Share, marks_together
from rdma_robust.certify.copies_states import KIND
from rdma_robust.certify.document import JsonObject
from rdma_robust.certify.hardware import EventKind, Platform
from rdma_robust.certify.mailboxes import Connection
from rdma_robust.certify.remembered import Letter, Mail, Marks, PivotAccesses, QueuePair, Tag, Trail, TrailName
from rdma_robust.certify.thread_events import LocalState, OperationStage
from rdma_robust.errors import SizeLimitError
from rdma_robust.evidence.copies_search import FoundCrowd, Marking, all_markings, must_be_certain
from rdma_robust.evidence.of_traces import trace_evidence
from rdma_robust.language.flow.cfg import Cell, Program
from rdma_robust.limits import Limits
from rdma_robust.model import Model
from rdma_robust.outcome import Outcome

Item = TypeVar("Item")


@dataclass(frozen=True)
class MarkWords:
    """Names of threads and cells in marks, in the order in which they are listed, and nodes that have other names than
    their own."""

    threads: Mapping[int, str | None]
    cells: Mapping[Cell, str]
    nodes: Mapping[str, str]

    def marks(self, marks: Marks) -> JsonObject:
        pivot = marks.pivot
        later = {**self._later_sets(marks), "half": marks.half, "split": marks.split}
        return {
            "pivot": {
                "thread": self.threads[pivot.thread],
                "cell": self.cells[pivot.cell],
                "access": "write" if pivot.writes else "atomic" if pivot.atomic else "read",
            },
            **self._sets(marks),
            "closed": marks.closed,
            "alpha_value": marks.alpha_value,
            **(later if any(later.values()) else {}),
            **({"under_way": self._events(marks.under_way)} if marks.under_way else {}),
            **({"settled": self._settled(marks)} if marks.settled else {}),
            **({"on_words": self._words(marks.on_words)} if marks.on_words else {}),
            **({"poison_taken": self._threads_of(marks.poison_taken)} if marks.poison_taken else {}),
            **({"behind_cards": self._behind(marks.behind)} if marks.behind else {}),
            **({"trails": self._trails(marks)} if marks.trails else {}),
        }

    def share(self, marks: Marks) -> JsonObject:
        """The sets of marks that are not empty."""
        found = {
            **self._sets(marks),
            **self._later_sets(marks),
            "under_way": self._events(marks.under_way),
            "settled": self._settled(marks),
            "on_words": self._words(marks.on_words),
            "poison_taken": self._threads_of(marks.poison_taken),
            "behind_cards": self._behind(marks.behind),
            "trails": self._trails(marks),
        }
        tainted = marks.tainted_threads or marks.tainted_reads or marks.tainted_writes
        return {name: what for name, what in found.items() if what and (name != "tainted" or tainted)}

    def pairs(self, pairs: Iterable[QueuePair]) -> list[JsonObject]:
        return [{"thread": self.threads[thread], "remote": self._node(remote)} for thread, remote in sorted(pairs)]

    def _settled(self, marks: Marks) -> list[JsonObject]:
        return [
            {
                "thread": self.threads[thread],
                "remote": self._node(remote),
                **({"memory": group.memory} if group.memory else {}),
                **({"answers": True} if group.answers else {}),
            }
            for (thread, remote), group in sorted(marks.settled)
        ]

    def cells_of(self, cells: Iterable[Cell]) -> list[str]:
        chosen = frozenset(cells)
        return [name for cell, name in self.cells.items() if cell in chosen]

    def messages(self, connections: Iterable[Connection], mail: Iterable[Mail]) -> JsonObject:
        """The members of evidence about messages: between whom, and what is under way in states."""
        return {
            "connections": [
                {"sender": self.threads[sender], "receiver": self.threads[receiver], **({"lane": lane} if lane else {})}
                for sender, receiver, lane in connections
            ],
            "mail": [self.mail(each) for each in mail],
        }

    def mail(self, mail: Mail) -> list[JsonObject]:
        return [
            {
                "posted": [[self.cells[buffer.cell], *_told_tag(buffer.tag)] for buffer in channel.posted],
                "arrived": [_told_letter(letter) for letter in channel.arrived],
            }
            for channel in mail
        ]

    def _threads_of(self, threads: Iterable[int]) -> list[str | None]:
        return [self.threads[thread] for thread in sorted(threads)]

    def _node(self, node: str) -> str:
        return self.nodes.get(node, node)

    def _events(self, events: frozenset[tuple[QueuePair, EventKind]]) -> list[JsonObject]:
        return [
            {
                "thread": self.threads[pair[0]],
                "remote": self._node(pair[1]),
                "events": [kind.value for kind in EventKind if (pair, kind) in events],
            }
            for pair in sorted({pair for pair, _ in events})
        ]

    def _behind(self, events: Iterable[tuple[QueuePair, EventKind, str]]) -> list[JsonObject]:
        return [
            {"thread": self.threads[pair[0]], "remote": self._node(pair[1]), "event": kind.value, "memory": memory}
            for pair, kind, memory in sorted(events)
        ]

    def _trails(self, marks: Marks) -> list[JsonObject]:
        return [self._trail(*each) for each in sorted(marks.trails, key=str)]

    def _trail(self, name: TrailName, trail: Trail) -> JsonObject:
        return {
            "from": name[0],
            "memory": name[1],
            "threads": self._threads_of(trail.threads),
            "events": self._behind(trail.events),
            "read": self.cells_of(trail.read),
            "written": self.cells_of(trail.written),
            "tells": self.pairs(trail.tells),
            "writes": self._behind((pair, kind, name[1]) for pair, kind in trail.writes),
        }

    def _words(self, words: frozenset[tuple[QueuePair, Cell]]) -> list[JsonObject]:
        return [
            {
                "thread": self.threads[pair[0]],
                "remote": self._node(pair[1]),
                "cells": self.cells_of(cell for other, cell in words if other == pair),
            }
            for pair in sorted({pair for pair, _ in words})
        ]

    def _sets(self, marks: Marks) -> JsonObject:
        return {
            "beta": self._events(marks.beta),
            "cpu_in_beta": self._threads_of(marks.cpu),
            "forced_polls": self.pairs(marks.forced),
            "overtaken": self.pairs(marks.overtaken),
            "read_in_beta": self.cells_of(marks.read),
            "written_in_beta": self.cells_of(marks.written),
            "poisoned": self.cells_of(marks.poisoned),
            "poison_carried": self._threads_of(marks.poison_carried),
            "tainted": {
                "threads": self._threads_of(marks.tainted_threads),
                "read": self.cells_of(marks.tainted_reads),
                "written": self.cells_of(marks.tainted_writes),
            },
        }

    def _later_sets(self, marks: Marks) -> JsonObject:
        order = {cell: i for i, cell in enumerate(self.cells)}
        forwarding = sorted(marks.forwarding, key=lambda each: (order[each[0]], each[1]))
        return {
            "stores_in_beta": self._threads_of(marks.stores),
            "forwarding": [{"cell": self.cells[cell], "thread": self.threads[thread]} for cell, thread in forwarding],
            "atomics_in_beta": self.cells_of(marks.atomics),
            "awaited": self.pairs(marks.awaited),
        }


def told_local(local: LocalState) -> list[object]:
    """Where a thread is: program point, the operation it is in the middle of, what is carried, registers."""
    operation: object = local.operation
    if local.stage is not None and local.stage is not OperationStage.CARRIES:
        operation = [local.operation, local.stage.value, *local.operands]
    return [local.point, operation, local.carried, *local.registers]


def number_in(table: dict[Item, int], item: Item) -> int:
    """The number of an item of a list that grows."""
    return table.setdefault(item, len(table))


def _told_letter(letter: Letter) -> list[object]:
    return [letter.carries, *_told_tag(letter.tag)]


def _told_tag(tag: Tag) -> list[object]:
    return [tag.beta, tag.tainted, *([sorted(tag.memories)] if tag.memories else [])]


def copies_evidence(program: Program, model: Model, depth: int, limits: Limits) -> JsonObject:
    """Return the evidence that the program is robust for any number of copies, see docs/certificate-evidence.md.

    Raises SizeLimitError where it is not found within `limits`, as :func:`all_markings`, and InternalError if the checker's
    rules find a violation.
    """
    platform = Platform(model.cpu, model.atomics, model.order, model.ordered_reads)
    found = all_markings(program, platform, depth, limits)
    must_be_certain(found)
    return _CrowdWords(found).evidence()


def copies_trace_evidence(outcome: Outcome) -> JsonObject:
    """Return the evidence that the program with so many copies is not robust.

    Raises SizeLimitError if no number of copies is known.
    """
    if outcome.copies is None or outcome.witness is None:
        raise SizeLimitError("it is not known with how many copies the program is not robust")
    found = trace_evidence(outcome.copies.program, outcome.witness.trace)
    numbers = dict(outcome.copies.numbers)
    listed = [{"thread": thread.name, "copies": numbers[thread.name]} for thread in outcome.program.crowds]
    return {"kind": COPIES_TRACE, "copies": listed, "events": found["events"], "mo": found["mo"]}


class _CrowdWords:
    """Markings as JSON, in the names of the program: a template's name is that of the hero, or of the copy told of."""

    def __init__(self, found: FoundCrowd) -> None:
        self._found, self._crowd = found, found.crowd
        program = self._program = found.crowd.program
        self._controls: dict[int, int] = {}
        self._copies: dict[int, int] = {}
        self._locals: dict[str, dict[LocalState, int]] = {thread.name: {} for thread in program.threads}
        self._marks: dict[Marks, int] = {}
        self._shares: dict[tuple[int, Share], int] = {}
        self._mail: dict[Mail, int] = {}
        self._heroes, self._movers = self._words(0), self._words(1)

    def evidence(self) -> JsonObject:
        fresh = [number_in(self._copies, copy) for copy in self._crowd.fresh]
        markings = [self._marking(marking) for marking in self._found.markings]
        controls = [self._control(self._crowd.controls[number]) for number in self._controls]
        copies = [self._copy(self._crowd.copies[number]) for number in self._copies]
        crowd = self._crowd
        connected = bool(crowd.steps.connections)
        name = {t: crowd.two.threads[t].name for t in crowd.named}
        messages: JsonObject = {
            "connections": [
                {"sender": name[a], "receiver": name[b], **({"lane": lane} if lane else {})}
                for a, b, lane in crowd.steps.connections
            ],
            "mail": [self._heroes.mail(mail) for mail in self._mail],
        }
        return {
            "kind": KIND,
            "threads": [
                {
                    "thread": thread.name,
                    "registers": [name for name, _ in thread.registers],
                    "states": [told_local(local) for local in self._locals[thread.name]],
                }
                for thread in self._program.threads
            ],
            "cells": self._heroes.cells_of(self._crowd.written),
            "counted": [{"thread": thread, "remote": remote} for thread, remote in crowd.polled],
            **(messages if connected else {}),
            "marks": [self._heroes.marks(marks) for marks in self._marks],
            "shares": [self._share(*share) for share in self._shares],
            "controls": controls,
            "copies": copies,
            "fresh": fresh,
            "markings": markings,
        }

    def _words(self, which: int) -> MarkWords:
        """What threads and cells are called where the copy in the hero's place (0), or that which moves (1), is the one of
        its template."""
        crowd, many = self._crowd, frozenset(self._program.many_nodes)
        threads: dict[int, str | None] = {t: crowd.two.threads[t].name for t in crowd.named}
        threads |= {template.places[which]: template.thread.name for template in crowd.templates}
        nodes = {
            crowd.two.threads[template.places[which]].node: template.thread.node
            for template in crowd.templates
            if template.thread.node in many
        }
        program_cells = {(cell.node, cell.name): str(cell) for cell in self._program.cells}
        cells: dict[Cell, str] = {}
        for cell in crowd.two.cells:
            name = program_cells.get((nodes.get(cell.node, cell.node), cell.name))
            if name is not None:
                cells[cell] = name
        order = {name: i for i, name in enumerate(program_cells.values())}
        return MarkWords(threads | {SOME_COPY: None}, dict(sorted(cells.items(), key=lambda each: order[each[1]])), nodes)

    def _marking(self, marking: Marking) -> list[object]:
        copies = [[number_in(self._copies, copy), most] for copy, most in marking.tokens.items()]
        return [number_in(self._controls, marking.control), list(marking.limit), copies]

    def _control(self, control: Control) -> list[object]:
        names = [self._crowd.two.threads[t].name for t in self._crowd.named]
        hero = None
        if control.hero is not None:
            hero = self._place(control.hero.template, control.hero.local, control.hero.values)
        return [
            [number_in(self._locals[name], local) for name, local in zip(names, control.threads, strict=True)],
            hero,
            list(control.values),
            None if control.marks is None else number_in(self._marks, control.marks),
            number_in(self._mail, control.mail),
            self._heroes.cells_of(control.held),
        ]

    def _copy(self, copy: CopyState) -> list[object]:
        share = None if copy.share == NOTHING else number_in(self._shares, (copy.template, copy.share))
        return [*self._place(copy.template, copy.local, copy.values), list(copy.limit), share]

    def _place(self, template: int, local: LocalState, values: tuple[int, ...]) -> list[object]:
        name = self._crowd.templates[template].thread.name
        return [name, number_in(self._locals[name], local), list(values)]

    def _share(self, template: int, share: Share) -> JsonObject:
        cell = next(iter(self._crowd.two.cells))
        marks = marks_together(Marks(PivotAccesses(0, cell, False)), share)
        return {"thread": self._crowd.templates[template].thread.name, "marks": self._movers.share(marks)}
