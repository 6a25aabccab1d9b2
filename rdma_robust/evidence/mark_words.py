"""Marks, messages and states of threads in the words of certificates."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TypeVar

from rdma_robust.certify.document import JsonObject
from rdma_robust.certify.hardware import EventKind
from rdma_robust.certify.remembered import Letter, Mail, Marks, QueuePair, Tag, Trail, TrailName
from rdma_robust.certify.thread_events import LocalState, OperationStage
from rdma_robust.language.flow.cfg import Cell

Item = TypeVar("Item")


@dataclass(frozen=True)
class MarkWords:
    """What threads and cells are called in marks, in the order in which they are listed, and nodes that have other names
    than their own."""

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
            **({"settled": self.pairs(marks.settled)} if marks.settled else {}),
            **({"on_words": self._words(marks.on_words)} if marks.on_words else {}),
            **({"poison_taken": self._threads_of(marks.poison_taken)} if marks.poison_taken else {}),
            **({"behind_cards": self._behind(marks.behind)} if marks.behind else {}),
            **({"trails": [self._trail(*each) for each in sorted(marks.trails, key=str)]} if marks.trails else {}),
        }

    def share(self, marks: Marks) -> JsonObject:
        """The sets of marks that are not empty."""
        found = {
            **self._sets(marks),
            **self._later_sets(marks),
            "under_way": self._events(marks.under_way),
            "settled": self.pairs(marks.settled),
            "on_words": self._words(marks.on_words),
            "poison_taken": self._threads_of(marks.poison_taken),
        }
        tainted = marks.tainted_threads or marks.tainted_reads or marks.tainted_writes
        return {name: what for name, what in found.items() if what and (name != "tainted" or tainted)}

    def pairs(self, pairs: Iterable[QueuePair]) -> list[JsonObject]:
        return [{"thread": self.threads[thread], "remote": self._node(remote)} for thread, remote in sorted(pairs)]

    def cells_of(self, cells: Iterable[Cell]) -> list[str]:
        chosen = frozenset(cells)
        return [name for cell, name in self.cells.items() if cell in chosen]

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
