"""The engine `explicit`: the states of the closed runs of a function, from every input within bounds, breadth first."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import NamedTuple

import networkx as nx

from rdma_robust.contracts.contract_answers import NOTHING, SET_ASIDE, Counterexample, ProcsAnswer, Verdict, VisibleEvent
from rdma_robust.contracts.language.contract_program import ContractProgram, ErrorClass
from rdma_robust.contracts.language.function_instances import (
    TooManyStatements,
    UnboundedInputsError,
    inputs_of,
    inputs_of_one,
    instance,
    unread_inputs,
)
from rdma_robust.contracts.language.loop_rounds import NoRoundError
from rdma_robust.errors import LimitReached
from rdma_robust.limits import Limits
from tests.support.contracts_oracle.contract_rules import Bodies, Rules
from tests.support.contracts_oracle.run_states import State
from tests.support.contracts_oracle.shown_clauses import Shown


class Arrival(NamedTuple):
    """How a state was reached first: from which, by which event, with which choices made after it."""

    before: State | None
    event: VisibleEvent | None
    choices: tuple[int, ...]


@dataclass(slots=True)
class Found:
    """What a search has found: one counterexample for each class, and why it is not over, if it is not.

    `ends` says whether some run ends without a process that a false `assume` stops.
    """

    counterexamples: dict[ErrorClass, Counterexample] = field(default_factory=dict)
    reasons: dict[str, None] = field(default_factory=dict)
    inputs: int = 0
    states: int = 0
    ends: bool = False


def by_interleavings(program: ContractProgram, function: str, procs: int, limits: Limits) -> ProcsAnswer:
    """Answer for one function and number of processes with its real body; stops at the first violation.

    `runs` of the answer are inputs. Raises KeyError if there is no such function with a contract.
    """
    started = time.monotonic()
    found = searched(program, function, procs, limits, only_first=True)
    first = next(iter(found.counterexamples.values()), None)
    verdict: Verdict = "VIOLATED" if first is not None else "UNKNOWN" if found.reasons else "VERIFIED"
    reason = "; ".join(found.reasons) or nothing_in(program, function, found) if first is None else ""
    return ProcsAnswer(
        procs,
        verdict,
        "inlined",
        "explicit",
        first,
        reason=reason,
        runs=found.inputs,
        states=found.states,
        seconds=time.monotonic() - started,
    )


def nothing_in(program: ContractProgram, function: str, found: Found) -> str:
    """Return why a search had nothing to look at, nothing if it had; that no round of a loop ever begins is as good."""
    own = program.contract(function)
    if found.ends or (not found.inputs and own is not None and own.loop is not None):
        return ""
    return SET_ASIDE if found.inputs else NOTHING


def searched(program: ContractProgram, function: str, procs: int, limits: Limits, *, only_first: bool = False) -> Found:
    """Search all closed runs, or until something is violated; return what was found.

    Runs go on behind a violation where that is possible, so every class that there is has its counterexample.
    """
    found = Found()
    try:
        for search in _searches(program, function, procs, limits, found):
            found.inputs += 1
            search.run(only_first)
            if found.counterexamples and only_first:
                break
    except (UnboundedInputsError, TooManyStatements, NoRoundError) as no:
        found.reasons[str(no)] = None
    except LimitReached as limit:
        found.reasons[f"reached {limit.said}"] = None
    return found


def _searches(program: ContractProgram, function: str, procs: int, limits: Limits, found: Found) -> Iterator[Search]:
    contract = program.contract(function)
    if contract is None:
        raise KeyError(function)
    poll = limits.poll("searching")
    bodies = Bodies(program, contract, written := instance(program, function, procs), poll)
    unread = unread_inputs(program, contract, written)
    if contract.kind == "collective":
        for inputs in inputs_of(contract, program.globals, unread, procs, poll):
            yield Search(Rules(bodies, inputs), limits, found)
        return
    for alone in range(procs):
        for inputs in inputs_of_one(contract, program.globals, unread, (alone, procs), poll):
            yield Search(Rules(bodies, inputs, alone), limits, found)


class Search:
    """The states of the closed runs from one input."""

    def __init__(self, rules: Rules, limits: Limits, found: Found) -> None:
        self.rules, self.limits, self.found = rules, limits, found
        self.numbers: dict[State, int] = {}
        """Every state that was reached, in that order."""
        self.arrivals: list[Arrival] = []
        self.graph: nx.DiGraph[int] = nx.DiGraph()

    def run(self, only_first: bool) -> None:
        """Look at every state, those that are reached with fewer events first. Raises LimitReached."""
        todo = deque([self.rules.start()])
        self.numbers[todo[0]] = 0
        self.arrivals.append(Arrival(None, None, ()))
        while todo:
            self._look(todo.popleft(), todo)
            if self.found.counterexamples and only_first:
                return
        if not nx.is_directed_acyclic_graph(self.graph):
            self.found.reasons["a run does not end"] = None

    def _look(self, state: State, todo: deque[State]) -> None:
        self.found.states += 1
        self.rules.bodies.poll.look()
        if self.limits.states is not None and self.found.states > self.limits.states:
            raise LimitReached("states", self.limits.said("states"), "searching")
        for me, local in enumerate(state.locals):
            if local.status == "endless":
                self.found.reasons[f"process {me} does not end: it computes forever"] = None
            elif local.status == "unfollowed":
                self.found.reasons[f"process {me} computes longer than is followed"] = None
        moves, here = False, self.numbers[state]
        for following in self.rules.events(state):
            moves = True
            self._note(state, following.event, following.shown)
            for after, choices in following.branches:
                self._arrive(here, after, Arrival(state, following.event, choices), todo)
        for after in self.rules.matches(state):
            moves = True
            self._arrive(here, after, Arrival(state, None, ()), todo)
        self.found.ends |= not moves and all(local.status != "stopped" for local in state.locals)
        self._note(state, None, tuple(self.rules.shown_in(state, moves)))

    def _arrive(self, here: int, after: State, arrival: Arrival, todo: deque[State]) -> None:
        number = self.numbers.setdefault(after, len(self.numbers))
        self.graph.add_edge(here, number)
        if number == len(self.arrivals):
            self.arrivals.append(arrival)
            todo.append(after)

    def _note(self, state: State, event: VisibleEvent | None, shown: tuple[Shown, ...]) -> None:
        for each in shown:
            if each.error not in self.found.counterexamples:
                self.found.counterexamples[each.error] = self._counterexample(state, event, each)

    def _counterexample(self, state: State, event: VisibleEvent | None, shown: Shown) -> Counterexample:
        """Return the run to a state, with one more event, that shows a violation."""
        way: list[tuple[State, VisibleEvent, tuple[int, ...]]] = []
        if event is not None:
            way.append((state, event, shown.choices or ()))
        arrival = self.arrivals[self.numbers[state]]
        while arrival.before is not None:
            if arrival.event is not None:
                way.append((arrival.before, arrival.event, arrival.choices))
            arrival = self.arrivals[self.numbers[arrival.before]]
        way.reverse()
        events, ending = _with_choices(way, self.rules.procs)
        return Counterexample(
            shown.error,
            self.rules.inputs,
            events,
            shown.process,
            shown.other,
            shown.clause,
            shown.span,
            _number_of(way, state, shown),
            shown.text,
            ending,
        )


def _with_choices(
    way: list[tuple[State, VisibleEvent, tuple[int, ...]]], procs: int
) -> tuple[tuple[VisibleEvent, ...], tuple[tuple[int, ...], ...]]:
    """Return the events, each with the choices made before it, and the choices that each process makes after its last."""
    pending: list[tuple[int, ...]] = [()] * procs
    events = []
    for _, event, choices in way:
        events.append(replace(event, choices=pending[event.process]))
        pending[event.process] = choices
    return tuple(events), tuple(pending)


def _number_of(way: list[tuple[State, VisibleEvent, tuple[int, ...]]], state: State, shown: Shown) -> int:
    """Return how many calls come before the one in which a violation is: its place among the open calls says which."""
    numbers = [0]
    following = 1
    for at, (before, event, _) in enumerate(way):
        after = way[at + 1][0] if at + 1 < len(way) else state
        place = before.locals[event.process].calls
        if event.event == "enter" and all(call.entered[event.process] for call in before.calls):
            numbers.append(following)
            following += 1
        elif event.event == "exit" and len(after.calls) < len(before.calls):
            del numbers[place[-1]]
    return numbers[shown.call]
