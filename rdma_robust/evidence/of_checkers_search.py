"""Evidence for ROBUST where the checker's own search finds it: on other hardware than the usual, and with operations that
only such programs have. Its states are in the words of the checker already."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeVar

from rdma_robust.certify.document import JsonObject
from rdma_robust.certify.hardware import Kind, Platform
from rdma_robust.certify.invariant_states import KIND
from rdma_robust.certify.remembered import Letter, Mail, Marks, QueuePair, Tag
from rdma_robust.certify.search_steps import connections_of
from rdma_robust.certify.thread_events import Local, Stage
from rdma_robust.evidence.checkers_search import Found, Spot, all_states
from rdma_robust.language.flow.cfg import Cell, ImmPut, InlinePut, Program, Recv, RecvPoll, RemoteRmw, Send, steps
from rdma_robust.limits import Limits
from rdma_robust.model import Model

_NEW = RemoteRmw | InlinePut | Send | ImmPut | Recv | RecvPoll

Item = TypeVar("Item")


def is_deployed(program: Program, model: Model) -> bool:
    """Return whether the program has operations, or the hardware orders, that the invariant of the checker's own search is
    about."""
    listed = [step.op for thread in program.threads for _, _, step in steps(thread)]
    new = any(isinstance(op, _NEW) or not getattr(op, "signaled", True) for op in listed)
    return new or model.cpu != "sc" or model.order != "default" or bool(connections_of(program))


def checkers_evidence(program: Program, model: Model, depth: int, limits: Limits) -> JsonObject:
    """Return the evidence that the program is robust, see docs/certificates.md. Raises as :func:`all_states`."""
    platform = Platform(model.cpu, model.atomics, model.order, model.ordered_reads)
    return _Words(program, all_states(program, platform, depth, limits)).evidence()


class _Words:
    """States as JSON: what they have in common once and numbered."""

    def __init__(self, program: Program, found: Found) -> None:
        self._program, self._found = program, found
        self._names = [thread.name for thread in program.threads]
        self._order = {cell: i for i, cell in enumerate(program.cells)}
        self._locals: list[dict[Local, int]] = [{} for _ in program.threads]
        self._marks: dict[Marks, int] = {}
        self._mail: dict[Mail, int] = {}

    def evidence(self) -> JsonObject:
        rows = [self._row(spot, list(limit)) for spot, limits in self._found.states.items() for limit in limits]
        connected = bool(self._found.steps.connections)
        messages: JsonObject = {
            "connections": [
                {"sender": self._names[sender], "receiver": self._names[receiver]}
                for sender, receiver in self._found.steps.connections
            ],
            "mail": [self._told_mail(mail) for mail in self._mail],
        }
        return {
            "kind": KIND,
            "threads": [
                {
                    "thread": thread.name,
                    "registers": [name for name, _ in thread.registers],
                    "states": [_told_local(local) for local in self._locals[t]],
                }
                for t, thread in enumerate(self._program.threads)
            ],
            "cells": [str(cell) for cell in self._found.cells],
            "counted": self._pairs(self._found.counted),
            "watched": self._pairs(self._found.watched),
            **(messages if connected else {}),
            "marks": [self._told_marks(marks) for marks in self._marks],
            "states": rows if connected else [row[:4] for row in rows],
        }

    def _row(self, spot: Spot, limit: list[int | None]) -> list[object]:
        locals_, values, marks, mail = spot
        return [
            [_number(self._locals[t], local) for t, local in enumerate(locals_)],
            list(values),
            None if marks is None else _number(self._marks, marks),
            limit,
            _number(self._mail, mail),
        ]

    def _pairs(self, pairs: Iterable[QueuePair]) -> list[JsonObject]:
        return [{"thread": self._names[thread], "remote": remote} for thread, remote in sorted(pairs)]

    def _threads(self, threads: Iterable[int]) -> list[str]:
        return [self._names[thread] for thread in sorted(threads)]

    def _cells(self, cells: Iterable[Cell]) -> list[str]:
        return [str(cell) for cell in sorted(cells, key=self._order.__getitem__)]

    def _told_marks(self, marks: Marks) -> JsonObject:
        pivot = marks.pivot
        queues = sorted({pair for pair, _ in marks.beta})
        return {
            "pivot": {
                "thread": self._names[pivot.thread],
                "cell": str(pivot.cell),
                "access": "write" if pivot.writes else "atomic" if pivot.atomic else "read",
            },
            "beta": [
                {
                    "thread": self._names[pair[0]],
                    "remote": pair[1],
                    "events": [kind.value for kind in Kind if (pair, kind) in marks.beta],
                }
                for pair in queues
            ],
            "cpu_in_beta": self._threads(marks.cpu),
            "forced_polls": self._pairs(marks.forced),
            "overtaken": self._pairs(marks.overtaken),
            "read_in_beta": self._cells(marks.read),
            "written_in_beta": self._cells(marks.written),
            "poisoned": self._cells(marks.poisoned),
            "poison_carried": self._threads(marks.poison_carried),
            "tainted": {
                "threads": self._threads(marks.tainted_threads),
                "read": self._cells(marks.tainted_reads),
                "written": self._cells(marks.tainted_writes),
            },
            "closed": marks.closed,
            "alpha_value": marks.alpha_value,
            **self._later_members(marks),
        }

    def _later_members(self, marks: Marks) -> JsonObject:
        """What only marks of such programs have, where one of it is not empty or false."""
        forwarding = sorted(marks.forwarding, key=lambda each: (self._order[each[0]], each[1]))
        members: JsonObject = {
            "stores_in_beta": self._threads(marks.stores),
            "forwarding": [{"cell": str(cell), "thread": self._names[thread]} for cell, thread in forwarding],
            "atomics_in_beta": self._cells(marks.atomics),
            "awaited": self._pairs(marks.awaited),
            "half": marks.half,
            "split": marks.split,
        }
        return members if any(members.values()) else {}

    def _told_mail(self, mail: Mail) -> list[JsonObject]:
        return [
            {
                "posted": [[str(buffer.cell), *_told_tag(buffer.tag)] for buffer in channel.posted],
                "arrived": [_told_letter(letter) for letter in channel.arrived],
            }
            for channel in mail
        ]


def _told_local(local: Local) -> list[object]:
    operation: object = local.operation
    if local.stage is not None and local.stage is not Stage.CARRIES:
        operation = [local.operation, local.stage.value]
    return [local.point, operation, local.carried, *local.registers]


def _told_letter(letter: Letter) -> list[object]:
    return [letter.carries, *_told_tag(letter.tag)]


def _told_tag(tag: Tag) -> list[bool]:
    return [tag.beta, tag.tainted]


def _number(table: dict[Item, int], item: Item) -> int:
    return table.setdefault(item, len(table))
