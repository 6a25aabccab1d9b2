"""Completions of one of several requests, tests whether some are complete, and looks for messages, as guarded events.

What a look sees is a choice, which its event limits to what is there.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from rdma_robust.messages.encoding import unrolled as events
from rdma_robust.messages.encoding.evaluation import Evaluation
from rdma_robust.messages.encoding.symbolic_terms import Symbol
from rdma_robust.messages.encoding.unrolled import NotEncodedError
from rdma_robust.messages.encoding.unrolled_statements import (
    INACTIVE,
    PathState,
    Statements,
    SymbolicRequest,
    merge_requests,
    requests_in,
)
from rdma_robust.messages.language import message_program as mp

_MOST_AT_ONCE: Final = 8
"""Of so many requests every set is told apart."""

_ListedRequest = tuple[str, tuple[Symbol, ...], SymbolicRequest]
"""One request: its name, its index in an array, and what it is active with."""


@dataclass(frozen=True, slots=True)
class _Choice:
    """The choice, the truth that a request is active, and for each request whether the choice completes it."""

    choice: Symbol
    active: Symbol
    of_request: tuple[Symbol, ...]


class Completions(Statements):
    """The statements of one process that complete requests, or look for messages.

    It chooses which, and stops where it has no such choice."""

    def completion(self, statement: mp.Completion, state: PathState) -> None:
        """Go through one statement. Raises NotEncodedError."""
        symbols = self.symbols
        requests = self._listed(statement, state)
        if state.guard is symbols.false:
            return
        beside = tuple(
            [
                events.WaitedBeside(condition, operation.kind, operation.number)
                for *_, each in requests
                for condition, operation in each.active
            ]
        )
        chosen = self._chosen(statement, state, requests)
        for (name, indices, _), taken in zip(requests, chosen.of_request, strict=True):
            now = self.request(Evaluation(symbols, state.registers), state, name, indices, None)
            assert isinstance(now, SymbolicRequest)
            if statement.how != "all":
                here = symbols.any_of(condition for condition, _ in now.active)
                state.guard = symbols.conjunction(state.guard, symbols.disjunction(symbols.negation(taken), here))
            for condition, operation in now.active:
                self.wait_for(operation, symbols.conjunction(taken, condition), statement, state, beside)
            left = merge_requests(symbols, taken, INACTIVE, now)
            self.request(Evaluation(symbols, state.registers), state, name, indices, left)
        self._store(statement, state, chosen)

    def _listed(self, statement: mp.Completion, state: PathState) -> list[_ListedRequest]:
        """Return all requests, after the faults of evaluating which they are."""
        run, found = Evaluation(self.symbols, state.registers), list[_ListedRequest]()
        for place in statement.requests:
            indices = self.indices(run, place)
            there = self.request(run, state, place.name, indices, None)
            found += [(place.name, (*indices, *map(self.symbols.const, at)), each) for at, each in requests_in(there)]
        self.faults(run, state, statement.span)
        return found

    def _chosen(self, statement: mp.Completion, state: PathState, requests: list[_ListedRequest]) -> _Choice:
        """Let the process choose; nothing may be chosen by what tests, and where no request is active."""
        symbols, count = self.symbols, len(requests)
        if statement.how == "some" and count > _MOST_AT_ONCE:
            raise NotEncodedError(f"some of more than {_MOST_AT_ONCE} requests")
        options = {"any": count + 1, "some": 1 << count, "all": 2}[statement.how]
        choice = self.choice(options, statement.span, state)
        active = symbols.any_of(condition for *_, each in requests for condition, _ in each.active)
        idle = symbols.true if statement.tests else symbols.negation(active)
        possible = symbols.choice_of(symbols.truth(choice), active, idle)
        state.guard = symbols.conjunction(state.guard, symbols.truth(possible))
        return _Choice(choice, active, tuple([self._takes(statement.how, choice, number) for number in range(count)]))

    def _takes(self, how: mp.CompletionKind, choice: Symbol, number: int) -> Symbol:
        """Return whether a choice completes a request, by its number."""
        symbols = self.symbols
        match how:
            case "all":
                return symbols.truth(choice)
            case "any":
                return symbols.apply("==", choice, symbols.const(number + 1))
            case "some":
                shifted = symbols.apply("/", choice, symbols.const(1 << number))
                return symbols.truth(symbols.apply("%", shifted, symbols.const(2)))

    def _store(self, statement: mp.Completion, state: PathState, chosen: _Choice) -> None:
        """Store which requests have completed."""
        symbols, run = self.symbols, Evaluation(self.symbols, state.registers)
        done = symbols.disjunction(symbols.truth(chosen.choice), symbols.negation(chosen.active))
        number = symbols.apply("-", chosen.choice, symbols.true)
        before = [symbols.false]
        for each in chosen.of_request:
            before.append(symbols.apply("+", before[-1], each))
        if statement.how == "some":
            number = symbols.choice_of(chosen.active, before[-1], symbols.const(-1))
        for place, value in ((statement.flag, done), (statement.which, number)):
            if place is not None:
                self.store(run, state, (place.name, self.indices(run, place)), value, symbols.true)
                if not self.faults(run, state, statement.span):
                    return
        if statement.places is not None:
            indices = self.indices(run, statement.places)
            for at, taken in enumerate(chosen.of_request):
                self.store(run, state, (statement.places.name, (*indices, before[at])), symbols.const(at), taken)
            self.faults(run, state, statement.span)

    def look(self, statement: mp.Probe, state: PathState) -> None:
        """Go through one statement. Raises NotEncodedError if the message is taken off, or looks are not asked for."""
        if statement.taken is not None or not self.made.with_looks:
            raise NotEncodedError("what probes see")
        symbols, run = self.symbols, Evaluation(self.symbols, state.registers)
        source, tag = self.pattern(run, statement)
        if not self.faults(run, state, statement.span):
            return
        choice = self.choice(len(self.program.processes) + 1, statement.span, state)
        number, waits = self.made.looks, statement.flag is None
        self.made.looks += 1
        here = self.number, len(self.events), state.guard, number
        self.add(events.LookEvent(*here, source, statement.port, tag, choice, waits, statement.span))
        seen = symbols.truth(choice)
        sender = symbols.apply("-", choice, symbols.true)
        for place, value, under in (
            (statement.flag, seen, symbols.true),
            (statement.sender, sender, symbols.true if waits else seen),
            (statement.which, symbols.leaf("seen", number), symbols.true if waits else seen),
        ):
            if place is not None:
                run = Evaluation(symbols, state.registers)
                indices = tuple([run.number(run.value(each, under), under) for each in place.indices])
                self.store(run, state, (place.name, indices), value, under)
                if not self.faults(run, state, statement.span):
                    return
