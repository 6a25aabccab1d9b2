"""Evidence for ROBUST where the checker's own search finds it: on other hardware than the usual, and with operations that
only such programs have. Its states are in the words of the checker already."""

from __future__ import annotations

from rdma_robust.certify.document import JsonObject
from rdma_robust.certify.hardware import Platform
from rdma_robust.certify.invariant_states import KIND
from rdma_robust.certify.remembered import Mail, Marks
from rdma_robust.certify.search_steps import connections_of
from rdma_robust.certify.thread_events import LocalState
from rdma_robust.evidence.checkers_search import CheckersStates, Spot, all_states
from rdma_robust.evidence.mark_words import MarkWords, number_in, told_local
from rdma_robust.language.flow.cfg import Cas, Get, MFence, Poll, Program, Put, Read, RFence, Rmw, Silent, Write, steps
from rdma_robust.limits import Limits
from rdma_robust.model import Model

_USUAL = Silent | Read | Write | Cas | Rmw | MFence | Put | Get | Poll | RFence
"""The operations that the instrumentation and the checker read alike. Of any other the checker's own search is evidence."""


def needs_checkers_search(program: Program, model: Model) -> bool:
    """Return whether the program has operations, or the hardware orders, that the invariant of the checker's own search is
    about."""
    listed = [step.op for thread in program.threads for _, _, step in steps(thread)]
    new = any(not isinstance(op, _USUAL) or not getattr(op, "signaled", True) for op in listed)
    new = new or program.has_regions or bool(program.memories)
    return new or model.cpu != "sc" or model.order != "default" or bool(connections_of(program))


def checkers_evidence(program: Program, model: Model, depth: int, limits: Limits) -> JsonObject:
    """Return the evidence that the program is robust, see docs/certificates.md. Raises as :func:`all_states`."""
    platform = Platform(model.cpu, model.atomics, model.order, model.ordered_reads)
    return _Words(program, all_states(program, platform, depth, limits)).evidence()


class _Words:
    """States as JSON: what they have in common once and numbered."""

    def __init__(self, program: Program, found: CheckersStates) -> None:
        self._program, self._found = program, found
        self._names = {t: thread.name for t, thread in enumerate(program.threads)}
        self._words = MarkWords(self._names, {cell: str(cell) for cell in program.cells}, {})
        self._locals: list[dict[LocalState, int]] = [{} for _ in program.threads]
        self._marks: dict[Marks, int] = {}
        self._mail: dict[Mail, int] = {}

    def evidence(self) -> JsonObject:
        rows = [self._row(spot, list(limit)) for spot, limits in self._found.states.items() for limit in limits]
        connected = bool(self._found.steps.connections)
        messages: JsonObject = {
            "connections": [
                {"sender": self._names[sender], "receiver": self._names[receiver], **({"lane": lane} if lane else {})}
                for sender, receiver, lane in self._found.steps.connections
            ],
            "mail": [self._words.mail(mail) for mail in self._mail],
        }
        return {
            "kind": KIND,
            "threads": [
                {
                    "thread": thread.name,
                    "registers": [name for name, _ in thread.registers],
                    "states": [told_local(local) for local in self._locals[t]],
                }
                for t, thread in enumerate(self._program.threads)
            ],
            "cells": [str(cell) for cell in self._found.cells],
            "counted": self._words.pairs(self._found.counted),
            "watched": self._words.pairs(self._found.watched),
            **(messages if connected else {}),
            "marks": [self._words.marks(marks) for marks in self._marks],
            "states": rows if connected else [row[:4] for row in rows],
        }

    def _row(self, spot: Spot, limit: list[int | None]) -> list[object]:
        locals_, values, marks, mail = spot
        return [
            [number_in(self._locals[t], local) for t, local in enumerate(locals_)],
            list(values),
            None if marks is None else number_in(self._marks, marks),
            limit,
            number_in(self._mail, mail),
        ]
