"""Certificates about message programs: runs, and states or proofs, found anew by the checker's own rules."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from rdma_robust.certify.document import MESSAGES, Certificate, JsonObject, content_digest
from rdma_robust.certify.messages.proved_formulas import SafeClaim
from rdma_robust.certify.messages.proven_claims import (
    MESSAGE_RUN,
    MESSAGE_STATES,
    EndlessProcessError,
    SettledWorlds,
    matched,
    move_json,
    settled_worlds,
    world_as_json,
)
from rdma_robust.certify.messages.unfolded_terms import TooMuch
from rdma_robust.certify.messages.unfolding import LOOKS
from rdma_robust.errors import InternalError, SizeLimitError
from rdma_robust.evidence.of_message_proofs import MAKING, proof_of
from rdma_robust.limits import Limits
from rdma_robust.messages.language.message_program import Buffer, MessageProgram
from rdma_robust.messages.message_answers import BufferAnswer, MessageQuestions, Schedule, Tri
from rdma_robust.messages.replay.interpreter import Interpreter
from rdma_robust.messages.replay.replaying import state_ending
from rdma_robust.messages.replay.world import ReplayState

MOST_STATES: Final = 50_000
"""Of a certificate."""

FEW_STEPS: Final = 10_000
"""Of processes, by which states are found before a proof is tried."""

_PROVING: Final = 0.4
"""Of the time that is left, the part that a proof gets; what is about other claims, and all states, needs some too."""

ENDLESS: Final = "a process computes forever, which certificates do not cover"


@dataclass(frozen=True, slots=True)
class MessageCertificates:
    """Certificates for an answer, by the words that go into the names of files, and why the rest has none."""

    certificates: dict[str, Certificate]
    complaints: tuple[str, ...] = ()


def message_certificates(
    program: MessageProgram,
    answer: BufferAnswer,
    limits: Limits,
    file: str | None,
    loop_bound: int = MessageQuestions().loop_bound,
) -> MessageCertificates:
    """Return the certificates of what an answer says of assertions and of deadlocks; none for what is unknown.

    `file` is the path of the program relative to the certificates. That something does not happen is found anew by the
    checker's rules, whatever found it first: by all states if states found it or there are few, else by a proof, and where
    that is not to be had by all states. Raises InternalError if the rules contradict the answer.
    """
    made = run_certificates(program, answer, file)
    making = _Making(program, answer.buffer, limits, loop_bound)
    safe: dict[str, tuple[Tri, SafeClaim]] = {
        "asserts": (answer.violated, "holds"),
        "deadlock": (answer.deadlocked, "deadlock-free"),
    }
    for word, (found, claim) in safe.items():
        evidence = making.safe(claim, states_first=answer.engine == "states") if found == "no" else None
        if evidence is not None:
            made[word] = _certificate(program, answer, file, claim, evidence)
    return MessageCertificates(made, tuple(dict.fromkeys(making.complaints)))


def run_certificates(program: MessageProgram, answer: BufferAnswer, file: str | None) -> dict[str, Certificate]:
    """Return those of what goes wrong in an answer, which are its runs."""
    made: dict[str, Certificate] = {}
    if answer.violations:
        run = _run(answer.violations[0].schedule)
        made["asserts"] = _certificate(program, answer, file, "violated", run)
    if answer.deadlock is not None:
        made["deadlock"] = _certificate(program, answer, file, "deadlocks", _run(answer.deadlock.schedule))
    return made


def _certificate(
    program: MessageProgram, answer: BufferAnswer, file: str | None, claim: str, evidence: JsonObject
) -> Certificate:
    limit = {} if answer.buffer != "eager" else {"eager": program.eager or 0}
    options: dict[str, object] = {"buffer": answer.buffer, **limit}
    return Certificate(MESSAGES, file, content_digest(program.source), {"kind": claim}, options, evidence)


def _run(schedule: Schedule) -> JsonObject:
    return {"kind": MESSAGE_RUN, "moves": [move_json(move) for move in schedule]}


class _Making:
    """Makes evidence that something does not happen, by one way or the other."""

    def __init__(self, program: MessageProgram, buffer: Buffer, limits: Limits, loop_bound: int) -> None:
        self._program, self._buffer, self._limits, self._loop_bound = program, buffer, limits, loop_bound
        self._searches: dict[int | None, _Search | str] = {}
        self.complaints: list[str] = []

    def safe(self, claim: SafeClaim, *, states_first: bool) -> JsonObject | None:
        """Return evidence for a claim; None, with complaints why, if there is none."""
        if self._program.looks:
            self.complaints.append(LOOKS)
            return None
        ways = (self._states, self._proof) if states_first else (self._few_states, self._proof, self._states)
        complaints = []
        for way in ways:
            try:
                return way(claim)
            except (SizeLimitError, TooMuch) as reached:
                complaints.append(str(reached))
        self.complaints.append("; ".join(complaints if states_first else complaints[1:]))
        return None

    def _few_states(self, claim: SafeClaim) -> JsonObject:
        return self._states(claim, FEW_STEPS)

    def _states(self, claim: SafeClaim, most_steps: int | None = None) -> JsonObject:
        if most_steps not in self._searches:
            self._searches[most_steps] = self._searched(most_steps)
        search = self._searches[most_steps]
        if isinstance(search, str):
            raise SizeLimitError(search)
        if claim == "holds":
            search.confirm("violated", bool(search.violations))
        else:
            search.confirm("deadlocked", search.stuck)
        return {"kind": MESSAGE_STATES, "states": [world_as_json(each) for each in search.states]}

    def _searched(self, most_steps: int | None) -> _Search | str:
        """Return all states, or why they cannot be had."""
        search = _Search(self._program, self._buffer, self._limits, most_steps)
        try:
            search.all_states()
        except EndlessProcessError:
            return ENDLESS
        except SizeLimitError as reached:
            return str(reached)
        return search

    def _proof(self, claim: SafeClaim) -> JsonObject:
        return proof_of(self._program, self._buffer, claim, self._loop_bound, self._limits.share(_PROVING))


class _Search:
    """All states of the normal form, by the rules of the checker."""

    def __init__(self, program: MessageProgram, buffer: Buffer, limits: Limits, most_steps: int | None = None) -> None:
        self.rules = Interpreter(program, buffer)
        self.limits, self.most_steps, self.steps = limits, most_steps, 0
        self.states: dict[ReplayState, None] = {}
        self.violations: set[str] = set()
        self.stuck = False

    def all_states(self) -> None:
        """Find all. Raises EndlessError and SizeLimitError."""
        todo = list(self._new(self.rules.start()))
        while todo:
            world = todo.pop()
            self.stuck = self.stuck or state_ending(self.rules, world) == "deadlock"
            for after, wrong in matched(self.rules, world):
                self.violations |= {wrong} - {""}
                todo += self._new(after)

    def _new(self, world: ReplayState) -> Iterator[ReplayState]:
        found: SettledWorlds = settled_worlds(self.rules, world, self._look)
        self.violations |= found.violations
        for each in found.worlds:
            if each not in self.states:
                self.states[each] = None
                yield each

    def _look(self) -> None:
        self.limits.look(MAKING)
        self.steps += 1
        if self.most_steps is not None and self.steps > self.most_steps:
            raise SizeLimitError("too many states for a first look")
        if len(self.states) > MOST_STATES:
            raise SizeLimitError(f"more than {MOST_STATES} states, too many for a certificate")

    def confirm(self, what: str, happens: bool) -> None:
        if happens:
            raise InternalError(f"{self.rules.program.name} is {what} under {self.rules.buffer} by the rules of the checker")
