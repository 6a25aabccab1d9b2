"""Evidence for RACE FREE: every state of the checker's own runs with a chosen access, in the words of the checker."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from rdma_robust.certify.document import JsonObject
from rdma_robust.certify.hardware import Platform
from rdma_robust.certify.race_invariants import KIND
from rdma_robust.certify.race_rules import NEVER, ChosenMarks, MarkedEvent, MarkedWord
from rdma_robust.certify.race_steps import RaceState, RaceSteps
from rdma_robust.certify.remembered import Mail
from rdma_robust.certify.thread_events import LocalState
from rdma_robust.errors import InternalError, SizeLimitError
from rdma_robust.evidence.checkers_search import ThreadFacts, beyond
from rdma_robust.evidence.of_copies import MarkWords, number_in, told_local
from rdma_robust.language.flow.cfg import Program
from rdma_robust.language.flow.looking import with_looks
from rdma_robust.limits import Limits

MOST_UNPOLLED: Final = 64
"""Completions of a queue pair that may wait for a poll: where they gather without bound there would be no end."""


def race_free_evidence(program: Program, platform: Platform, depth: int, limits: Limits) -> JsonObject:
    """Return the evidence that a program has no race on a platform.

    Raises SizeLimitError if one of `limits` is reached, if completions gather without bound, or if more than `depth`
    receives of one connection can be outstanding; InternalError if the checker's rules find a race.
    """
    steps = RaceSteps(with_looks(program), platform)
    return _Words(steps).evidence(_all_states(steps, depth, limits))


def _all_states(steps: RaceSteps, depth: int, limits: Limits) -> Iterable[RaceState]:
    facts = [ThreadFacts(thread) for thread in steps.program.threads]
    exceeded = limits.watch()

    def without_dead(state: RaceState) -> RaceState:
        known = zip(facts, state.locals, steps.readings, strict=True)
        return state._replace(locals=tuple(fact.forgetting(local, reading.names) for fact, local, reading in known))

    start = without_dead(steps.start)
    seen, todo = {start: None}, [start]
    while todo:
        state = todo.pop()
        for transition in steps.transitions(state):
            if transition.after is None:
                raise InternalError(f"decided race free, but the checker's rules find a race in line {transition.line}")
            after = without_dead(transition.after)
            if after in seen:
                continue
            seen[after] = None
            todo.append(after)
            if beyond(depth, steps.program, steps, after.mail):
                raise SizeLimitError(f"more than {depth} receives of one connection can be outstanding")
            if max(after.unpolled, default=0) > MOST_UNPOLLED:
                raise SizeLimitError("completions gather without bound, and the checker counts them one by one")
            if cut := "states" if limits.states is not None and len(seen) > limits.states else exceeded():
                raise SizeLimitError(f"the search for the invariant reached the limit of {cut} after {len(seen)} states")
    return seen


class _Words:
    """States as JSON: what they have in common once and numbered."""

    def __init__(self, steps: RaceSteps) -> None:
        self._steps = steps
        self._names = [thread.name for thread in steps.program.threads]
        self._words = MarkWords(dict(enumerate(self._names)), {cell: str(cell) for cell in steps.program.cells}, {})
        self._locals: list[dict[LocalState, int]] = [{} for _ in steps.program.threads]
        self._marks: dict[ChosenMarks, int] = {}
        self._mail: dict[Mail, int] = {}

    def evidence(self, states: Iterable[RaceState]) -> JsonObject:
        rows = [self._row(state) for state in states]
        connected = bool(self._steps.connections)
        return {
            "kind": KIND,
            "threads": [
                {
                    "thread": thread.name,
                    "registers": [name for name, _ in thread.registers],
                    "states": [told_local(local) for local in self._locals[t]],
                }
                for t, thread in enumerate(self._steps.program.threads)
            ],
            "cells": [str(cell) for cell in self._steps.cells],
            "counted": self._words.pairs(self._steps.counted),
            **(self._words.messages(self._steps.connections, self._mail) if connected else {}),
            "marks": [self._told(marks) for marks in self._marks],
            "states": rows if connected else [row[:4] for row in rows],
        }

    def _row(self, state: RaceState) -> list[object]:
        return [
            [number_in(self._locals[t], local) for t, local in enumerate(state.locals)],
            list(state.values),
            None if state.marks is None else number_in(self._marks, state.marks),
            list(state.unpolled),
            number_in(self._mail, state.mail),
        ]

    def _told(self, marks: ChosenMarks) -> JsonObject:
        chosen = marks.chosen
        sets: JsonObject = {
            "covered": self._threads(marks.covered),
            "events": [self._event(each) for each in sorted(marks.events, key=str)],
            "words": [self._word(each) for each in sorted(marks.words, key=str)],
            "told": [{**self._words.pairs((pair,))[0], "ahead": ahead} for pair, ahead in sorted(marks.told)],
            "quiet": self._words.pairs(marks.quiet),
            "read": self._threads(marks.read),
            "operands": self._threads(marks.operands),
            "data": self._threads(marks.data),
        }
        return {
            "chosen": {
                "thread": self._names[chosen.thread],
                "cell": str(chosen.cell),
                "by_cpu": chosen.by_cpu,
                "writes": chosen.writes,
                "synchronises": chosen.synchronises,
            },
            **{name: value for name, value in sets.items() if value},
        }

    def _threads(self, threads: Iterable[int]) -> list[str]:
        return [self._names[thread] for thread in sorted(threads)]

    def _event(self, event: MarkedEvent) -> JsonObject:
        return {
            "thread": self._names[event.thread],
            "remote": event.remote,
            "event": event.kind.value,
            "memory": event.memory,
            "cell": None if event.cell is None else str(event.cell),
            "issued": event.issued,
            "ahead": None if event.ahead == NEVER else event.ahead,
        }

    def _word(self, word: MarkedWord) -> JsonObject:
        return {
            "cell": str(word.cell),
            "synchronises": word.synchronises,
            "issued": word.issued,
            "store_of": None if word.store_of < 0 else self._names[word.store_of],
        }
