"""RACE-FREE certificates: an inductive set of states of runs with a chosen access and marks, in which nothing races.

The set must contain the initial state, and every step from it must lead into it and race with nothing that is chosen. The
steps are the checker's own (:mod:`race_steps`). Registers that a state leaves open have any value there.

Source: docs/races.md, "What races"; docs/theory-hangs.md, "Races" (Lemma R1: later events do not matter).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product
from typing import Final

from rdma_robust.certify.document import json_array, json_members, json_truth, json_word, natural, reject, string
from rdma_robust.certify.hardware import EventKind, Platform
from rdma_robust.certify.invariant_states import CONNECTED, STATE_MEMBERS, EvidenceNames, StateSet, states_of
from rdma_robust.certify.invariants import open_registers
from rdma_robust.certify.race_accesses import RaceAccess
from rdma_robust.certify.race_rules import NEVER, ChosenMarks, MarkedEvent, MarkedWord
from rdma_robust.certify.race_steps import RaceState, RaceSteps, RaceTransition
from rdma_robust.certify.remembered import QueuePair
from rdma_robust.certify.thread_events import LocalState
from rdma_robust.language.flow.cfg import Program
from rdma_robust.language.flow.looking import with_looks

KIND: Final = "marked-states"

_KINDS: Final = tuple(kind.value for kind in EventKind)


def check_race_free(program: Program, platform: Platform, evidence: object) -> str:
    """Check that the states prove `program` free of races and return what they are, in a few words. Raises
    InvalidCertificate."""
    steps = RaceSteps(with_looks(program), platform)
    found = json_members(evidence, "`evidence`", STATE_MEMBERS, CONNECTED)
    listed = states_of(steps.program, steps.readings, found, read_race_marks, 1)
    _ClosureCheck(steps, listed).check()
    return f"an inductive invariant of {listed.rows} states"


class _ClosureCheck:
    """The check that a set is closed under steps, and that none of them races."""

    def __init__(self, steps: RaceSteps, listed: StateSet[ChosenMarks]) -> None:
        if listed.cells != steps.cells:
            reject("`evidence.cells` are not the cells that the program may write, in their order")
        if listed.counted != steps.counted:
            reject("`evidence.counted` are not the queue pairs that the program polls, in their order")
        if (listed.connections or ()) != steps.connections:
            reject("`evidence.connections` is not about the threads that send messages to each other, in their order")
        self._steps = steps
        self._states = dict.fromkeys(_states(listed))
        self._open = tuple(map(open_registers, listed.locals))
        self._fitting: dict[tuple[int, LocalState], tuple[LocalState, ...]] = {}

    def check(self) -> None:
        if not self._contains(self._steps.start):
            reject("the initial state is not in the invariant")
        for state in self._states:
            for transition in self._steps.transitions(state):
                if transition.after is None:
                    reject(f"the invariant contains a race: {self._shown(transition)}")
                if not self._contains(transition.after):
                    reject(f"the invariant is not inductive: {self._shown(transition)} leads out of it")

    def _contains(self, state: RaceState) -> bool:
        if state in self._states:
            return True
        ways = (self._like(thread, local) for thread, local in enumerate(state.locals))
        return any(state._replace(locals=locals_) in self._states for locals_ in product(*ways))

    def _like(self, thread: int, local: LocalState) -> tuple[LocalState, ...]:
        """The state of a thread with those registers left open that are open in some state of the set there."""
        if (thread, local) not in self._fitting:
            patterns = self._open[thread].get((local.point, local.operation), ())
            self._fitting[thread, local] = tuple(local.leaving_open(pattern) for pattern in patterns)
        return self._fitting[thread, local]

    def _shown(self, transition: RaceTransition) -> str:
        name = self._steps.readings[transition.event.thread].name
        return f"{transition.event} of {name}, line {transition.line},"


def _states(listed: StateSet[ChosenMarks]) -> Iterator[RaceState]:
    for (at, values, mark, mail), rows in listed.limits.items():
        locals_ = tuple(each[i] for i, each in zip(at, listed.locals, strict=True))
        for row in rows:
            unpolled = tuple(most for most in row if most is not None)
            if len(unpolled) < len(row):
                reject("`evidence.states` leaves open how many completions wait for a poll")
            marks = None if mark is None else listed.marks[mark]
            yield RaceState(locals_, values, marks, unpolled, listed.mail[mail])


def read_race_marks(value: object, where: str, names: EvidenceNames) -> ChosenMarks:
    """Return marks as they are written in evidence. Raises InvalidCertificate."""
    sets = ("covered", "events", "words", "told", "quiet", "read", "operands", "data")
    found = json_members(value, where, ("chosen",), *((name,) for name in sets))
    reader = _MarksReader(names)
    return ChosenMarks(
        reader.access(found["chosen"], f"{where}.chosen"),
        covered=names.threads_of(found.get("covered", []), f"{where}.covered"),
        events=frozenset(json_array(found.get("events", []), f"{where}.events", reader.event)),
        words=frozenset(json_array(found.get("words", []), f"{where}.words", reader.word)),
        told=frozenset(json_array(found.get("told", []), f"{where}.told", reader.told)),
        quiet=names.queue_pairs_of(found.get("quiet", []), f"{where}.quiet"),
        read=names.threads_of(found.get("read", []), f"{where}.read"),
        operands=names.threads_of(found.get("operands", []), f"{where}.operands"),
        data=names.threads_of(found.get("data", []), f"{where}.data"),
    )


@dataclass(frozen=True)
class _MarksReader:
    """The reading of what marks have, in the names of a program. Raises InvalidCertificate."""

    names: EvidenceNames

    def access(self, item: object, at: str) -> RaceAccess:
        each = json_members(item, at, ("thread", "cell", "by_cpu", "writes", "synchronises"))
        return RaceAccess(
            self.names.thread(each["thread"], f"{at}.thread"),
            self.names.cell(each["cell"], f"{at}.cell"),
            json_truth(each["by_cpu"], f"{at}.by_cpu"),
            json_truth(each["writes"], f"{at}.writes"),
            string(each["synchronises"], f"{at}.synchronises"),
        )

    def event(self, item: object, at: str) -> MarkedEvent:
        each = json_members(item, at, ("thread", "remote", "event", "memory", "cell", "issued", "ahead"))
        thread, remote = self.names.thread(each["thread"], f"{at}.thread"), each["remote"]
        return MarkedEvent(
            thread,
            None if remote is None else self.names.pair_of(thread, remote, f"{at}.remote")[1],
            EventKind(json_word(each["event"], f"{at}.event", _KINDS)),
            string(each["memory"], f"{at}.memory"),
            None if each["cell"] is None else self.names.cell(each["cell"], f"{at}.cell"),
            json_truth(each["issued"], f"{at}.issued"),
            NEVER if each["ahead"] is None else natural(each["ahead"], f"{at}.ahead"),
        )

    def word(self, item: object, at: str) -> MarkedWord:
        each = json_members(item, at, ("cell", "synchronises", "issued", "store_of"))
        by = each["store_of"]
        return MarkedWord(
            self.names.cell(each["cell"], f"{at}.cell"),
            string(each["synchronises"], f"{at}.synchronises"),
            json_truth(each["issued"], f"{at}.issued"),
            -1 if by is None else self.names.thread(by, f"{at}.store_of"),
        )

    def told(self, item: object, at: str) -> tuple[QueuePair, int]:
        each = json_members(item, at, ("thread", "remote", "ahead"))
        pair = self.names.pair_of(self.names.thread(each["thread"], f"{at}.thread"), each["remote"], f"{at}.remote")
        return pair, natural(each["ahead"], f"{at}.ahead")
