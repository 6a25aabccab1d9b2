"""Solutions that are executions: the solver's models, checked for circles and for what terms are worth in them.

What a model gets wrong becomes clauses that hold in every execution, and the search goes on.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice, permutations
from typing import Final

import numpy as np

from rdma_robust.errors import InternalError
from rdma_robust.messages.encoding.endpoint_pairs import EndpointPairs, Truths
from rdma_robust.messages.encoding.match_candidates import Candidates
from rdma_robust.messages.encoding.order_graph import FAMILIES, Circle, MatchSolution, Overtaking, SendRange, order_matches
from rdma_robust.messages.encoding.possible_values import component
from rdma_robust.messages.encoding.symbolic_terms import Symbol, SymbolicValue, evaluate_symbol
from rdma_robust.messages.encoding.unrolled import ChoiceEvent, Event, SendEvent, WaitEvent
from rdma_robust.messages.engines.match_clauses import MatchClauses
from rdma_robust.messages.message_answers import MatchedPair, OperationId

_MOST: Final = 20_000
"""Circles that are returned; others are found when they are needed."""


def circles_of_two(candidates: Candidates, overtaking: Overtaking) -> Iterator[Circle]:
    """Yield circles: p waits for a receive that takes S of q before it sends S', and q for one that takes S' before S.

    Of sends of one channel with no wait between them only the first counts: the others are taken later.
    """
    found = (
        Circle((ours, theirs), ())
        for here, there in permutations(candidates.endpoints, 2)
        if here.process < there.process
        for ours, theirs in _mutual(here, there, overtaking)
    )
    return islice(found, _MOST)


def _mutual(here: EndpointPairs, there: EndpointPairs, overtaking: Overtaking) -> Iterator[tuple[SendRange, SendRange]]:
    arriving, leaving = list(_firsts(here, there, overtaking)), list(_firsts(there, here, overtaking))
    rows = [np.flatnonzero(here.possible[:, column]).tolist() for column, _ in arriving]
    others = [np.flatnonzero(there.possible[:, column]).tolist() for column, _ in leaving]
    for (column, waited_there), first in zip(arriving, rows, strict=True):
        for (other, waited_here), second in zip(leaving, others, strict=True):
            ours, theirs = _taken(here, column, first, waited_here), _taken(there, other, second, waited_there)
            if ours is not None and theirs is not None:
                yield ours, theirs


def _firsts(to: EndpointPairs, of: EndpointPairs, overtaking: Overtaking) -> Iterator[tuple[int, int]]:
    """Yield the columns of `to` that the process of `of` sends, and how many of its receives it has waited for by then;
    of equally many the first one."""
    last = 0
    for column, send in enumerate(to.sends):
        if send.process == of.process and send.to.constant:
            waited = _waited(of, send, overtaking)
            if waited > last:
                yield column, waited
            last = waited


def _waited(pairs: EndpointPairs, send: SendEvent, overtaking: Overtaking) -> int:
    """Return how many receives, from the first on, the process has surely waited for where it issues a send."""
    waits = overtaking.waits[pairs.process]
    for count, receive in enumerate(pairs.receives):
        wait = waits.get(receive.number)
        if wait is None or wait.position > send.position or not overtaking.guards.implies(send.guard, wait.guard):
            return count
    return len(pairs.receives)


def _taken(pairs: EndpointPairs, column: int, rows: Sequence[int], before: int) -> SendRange | None:
    """Return that a send is taken by one of the first receives, of the rows that may take it; None if it cannot be."""
    count = bisect_left(rows, before)
    if not count:
        return None
    return SendRange(pairs.sends[column].number, pairs.receives[rows[0]].number, pairs.receives[rows[count - 1]].number)


class UnmatchedError(Exception):
    """A term is made of what was not received."""


@dataclass(frozen=True, slots=True, eq=False)
class SolverModel:
    """An execution, cut somewhere: `matches` are its pairs by numbers in an order in which they can happen.

    `sender[n]` is the send that receive n gets; `known` has what terms are worth, as far as they were asked for.
    """

    formula: MatchClauses
    values: Truths
    matches: tuple[tuple[int, int], ...]
    sender: dict[int, SendEvent]
    known: dict[int, int] = field(default_factory=dict)

    def true(self, literal: int) -> bool:
        return bool(self.values[literal]) if literal > 0 else not self.values[-literal]

    def worth(self, symbol: Symbol) -> int:
        """Return what a term is worth. Raises UnmatchedError where it is made of what was not received."""
        return evaluate_symbol(symbol, self._leaf, self.known)

    def receive_all(self) -> None:
        """Evaluate all messages in the order of the matches, so that no evaluation goes deep."""
        symbols = self.formula.unrolled.symbols
        for receive, send in self.matches:
            for path, part in _parts(self.formula.unrolled.sends[send].value):
                self.known[symbols.leaf("value", receive, path).number] = self.worth(part)

    def _leaf(self, leaf: Symbol) -> int:
        if leaf.op == "choice":
            return self.chosen(leaf.value)
        if leaf.value not in self.sender:
            raise UnmatchedError
        send = self.sender[leaf.value]
        if leaf.op == "sender":
            return send.process
        if leaf.op == "tag":
            return self.worth(send.tag)
        part = component(send.value, leaf.path)
        assert part is not None
        return self.worth(part)

    def chosen(self, choice: int) -> int:
        """Return what a choice is: 0 if nothing depends on it."""
        literals = self.formula.terms.chosen(choice)
        return next((option for option, literal in literals.items() if self._known_true(literal)), 0)

    def _known_true(self, literal: int) -> bool:
        return abs(literal) < len(self.values) and self.true(literal)

    def happens(self, event: Event) -> bool:
        """Return whether an event happens, by what its guard is worth."""
        if not self.true(self.formula.reached[event.process][event.position]):
            return False
        return bool(self.worth(event.guard))

    def name(self, process: int, rank: Symbol) -> OperationId:
        return OperationId(process, self.worth(rank))

    def pairs(self) -> Iterator[MatchedPair]:
        """Yield the pairs by the names that the operations have in the run, in an order in which they can happen."""
        unrolled = self.formula.unrolled
        for receive, send in self.matches:
            a, b = unrolled.receives[receive], unrolled.sends[send]
            yield MatchedPair(self.name(a.process, a.rank), self.name(b.process, b.rank))

    def order(self) -> tuple[MatchedPair, ...]:
        """Return the pairs: programs with looks are not encoded."""
        return tuple(self.pairs())

    def choices(self) -> tuple[tuple[int, ...], ...]:
        """Return the choices of each process, in the order in which it makes them."""
        found = []
        for events in self.formula.unrolled.events:
            made = [each for each in events if isinstance(each, ChoiceEvent) and self.happens(each)]
            found.append(tuple([self.chosen(each.number) for each in made]))
        return tuple(found)

    def granted(self) -> frozenset[OperationId]:
        """Return the sends whose waits are passed."""
        found = []
        for events in self.formula.unrolled.events:
            for event in events:
                if isinstance(event, WaitEvent) and event.kind == "send" and self.happens(event):
                    passed = self.formula.passed.get((event.process, event.position), self.formula.clauses.true)
                    send = self.formula.unrolled.sends[event.operation]
                    if self.true(passed):
                        found.append(self.name(send.process, send.rank))
        return frozenset(found)


class Executions:
    """Asks the solver for executions. `circles` are those that were learnt, `facts` counts what was learnt of values."""

    def __init__(self, formula: MatchClauses) -> None:
        self.formula = formula
        self.circles: list[Circle] = []
        self.facts = 0
        if formula.families >= FAMILIES:
            for circle in circles_of_two(formula.candidates, formula.overtaking):
                self._forbid(circle)

    def find(self, assumptions: Sequence[int]) -> SolverModel | None:
        """Return an execution in which these literals are true, None if there is none. Raises LimitReached."""
        while self.formula.clauses.solve(assumptions):
            model = self._checked(self.formula.clauses.model())
            if model is not None:
                return model
        return None

    def _checked(self, values: Truths) -> SolverModel | None:
        formula, found = self.formula, []
        for block in formula.blocks:
            for row, column in block.matched(values):
                found.append((block.pairs.receives[row].number, block.pairs.sends[column].number))

        def true(literal: int) -> bool:
            return bool(values[literal]) if literal > 0 else not values[-literal]

        def passed(event: Event) -> bool:
            if not isinstance(event, WaitEvent):
                return True
            return true(formula.passed[event.process, event.position]) and true(formula.terms.truth(event.guard))

        solution = MatchSolution(found, passed, lambda symbol: true(formula.terms.truth(symbol)))
        order = order_matches(formula.candidates, formula.overtaking, solution, formula.families)
        if order.circles:
            for circle in order.circles:
                self._forbid(circle)
            return None
        if len(order.matches) != len(found):
            raise InternalError("matches that cannot be put in order have no circle")
        sends = formula.unrolled.sends
        model = SolverModel(formula, values, order.matches, {receive: sends[send] for receive, send in order.matches})
        if not formula.terms.open_truths:
            return model
        model.receive_all()
        return None if self._learn(model) else model

    def _forbid(self, circle: Circle) -> None:
        formula = self.formula
        self.circles.append(circle)
        literals = [literal for taken in circle.taken for literal in formula.not_taken(taken)]
        formula.clauses.clause(*literals, *[-formula.terms.truth(each) for each in circle.conditions])

    def _learn(self, model: SolverModel) -> bool:
        """Learn what truths are that the model has wrong; return whether there is any."""
        wrong = False
        for literal, symbol in list(self.formula.terms.open_truths.items()):
            try:
                value = bool(model.worth(symbol))
            except UnmatchedError:
                continue
            if value != model.true(literal):
                wrong = True
                self.facts += 1
                self.formula.clauses.clause(*self._because(model, symbol), literal if value else -literal)
        return wrong

    def _because(self, model: SolverModel, symbol: Symbol) -> list[int]:
        """Return the negations of what makes a term worth what it is in a model: matches and choices."""
        formula, seen, literals = self.formula, {symbol.number}, set()
        todo = [symbol]
        while todo:
            each = todo.pop()
            inner: Sequence[Symbol] = _decisive(each, model)
            if each.op in ("value", "tag", "sender"):
                send = model.sender[each.value]
                literals.add(-formula.literal(each.value, send.number))
                part = component(send.value, each.path)
                inner = [send.tag] if each.op == "tag" else [part] if each.op == "value" and part is not None else []
            elif each.op == "choice":
                chosen = formula.terms.chosen(each.value)
                literals.update(-literal for option, literal in chosen.items() if option == model.chosen(each.value))
            todo += [of for of in inner if of.number not in seen]
            seen.update(of.number for of in inner)
        return sorted(literals)


def _decisive(symbol: Symbol, model: SolverModel) -> Sequence[Symbol]:
    """Return operands that are enough to know what a term is worth."""
    if symbol.op == "?":
        return symbol.operands[0], symbol.operands[1 if model.worth(symbol.operands[0]) else 2]
    if symbol.op in ("&&", "||"):
        deciding = symbol.op == "||"
        found = [each for each in symbol.operands if bool(model.known.get(each.number, not deciding)) is deciding]
        return found[:1] or symbol.operands
    return symbol.operands


def _parts(value: SymbolicValue, path: tuple[int, ...] = ()) -> Iterator[tuple[tuple[int, ...], Symbol]]:
    if isinstance(value, Symbol):
        yield path, value
    else:
        for at, item in enumerate(value):
            yield from _parts(item, (*path, at))
