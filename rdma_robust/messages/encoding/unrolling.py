"""From a message program to guarded events: branches meet again at joins, values by if-then-else; never a tree of paths.

The shapes of messages, numbers or arrays of known lengths, are those that receives really get: they are guessed, and the
program is unrolled again with what its candidates send.
"""

from __future__ import annotations

from typing import Final

from rdma_robust.errors import NO_SPAN, Span
from rdma_robust.limits import NO_LIMITS, Limits
from rdma_robust.messages.encoding import unrolled as events
from rdma_robust.messages.encoding.evaluation import Evaluation, Held, value_shape
from rdma_robust.messages.encoding.match_candidates import candidate_pairs
from rdma_robust.messages.encoding.symbolic_terms import Symbol, Symbols
from rdma_robust.messages.encoding.unrolled import NotEncodedError, Shape, Shapes, UnrolledProgram
from rdma_robust.messages.encoding.unrolled_completions import Completions
from rdma_robust.messages.encoding.unrolled_statements import (
    INACTIVE,
    PathState,
    Requests,
    Unrolling,
    join_paths,
)
from rdma_robust.messages.language import message_program as mp
from rdma_robust.messages.language.message_program import MessageProgram
from rdma_robust.messages.language.message_terms import Term, term_names

Exit = tuple[Symbol, Symbol, PathState]
"""A way out of a loop: the guard before the test, the test, and where it leads if the test is false."""

_FREE_ROUNDS: Final = 10_000
"""Rounds of a `while` whose condition is known and changes; they do not count for the bound of loops."""


def unrolled_with(
    program: mp.MessageProgram, loop_bound: int, shapes: Shapes, limits: Limits = NO_LIMITS, *, with_looks: bool = False
) -> UnrolledProgram:
    """Return `program` unrolled, where receives get messages of these shapes, `with_looks` also those that see messages.

    Raises NotEncodedError, and LimitReached.
    """
    symbols = Symbols()
    made = Unrolling(program, loop_bound, symbols, shapes, limits, with_looks)
    ends, of_process = [], []
    for number in range(len(program.processes)):
        process = _Process(number, made)
        ends.append(process.run())
        of_process.append(tuple(process.events))
    return UnrolledProgram(
        program,
        loop_bound,
        symbols,
        tuple(of_process),
        tuple(ends),
        tuple(made.sends),
        tuple(made.receives),
        tuple(made.choices),
    )


class _Process(Completions):
    """Unrolls one process: its control structures."""

    returned: list[list[PathState]]
    ended: Symbol

    def run(self) -> Symbol:
        """Go through the body; return where the process ends."""
        self.returned, self.ended = [], self.symbols.false
        process, zero = self.program.processes[self.number], self.symbols.false
        registers: dict[str, Held] = dict.fromkeys(process.registers, zero)
        requests: dict[str, Requests] = dict.fromkeys(process.requests, INACTIVE)
        last = self.block(process.body, PathState(self.symbols.true, registers, requests, zero, zero, zero))
        return self.symbols.disjunction(self.ended, last.guard)

    def block(self, statements: mp.Block, state: PathState) -> PathState:
        for statement in statements:
            if state.guard is self.symbols.false:
                break
            self.poll()
            state = self.statement(statement, state)
        return state

    def statement(self, statement: mp.Statement, state: PathState) -> PathState:
        """Go through one statement; return where it leads. Changes `state`."""
        match statement:
            case mp.If():
                return self._if(statement, state)
            case mp.While(condition, body, span):
                return self._while(condition, body, span, state)
            case mp.For():
                return self._for(statement, state)
            case mp.Loop(body, span):
                return self._loop(body, span, state)
            case mp.Choose(branches, span):
                return self._choose(branches, span, state)
            case mp.InlinedCall(_, body, _):
                self.returned.append([])
                state = self.block(body, state)
                for each in self.returned.pop():
                    state = join_paths(self.symbols, None, each.guard, each, state)
                return state
            case mp.Return():
                self.returned[-1].append(state.copy(state.guard))
                state.guard = self.symbols.false
            case mp.Probe():
                self.look(statement, state)
            case mp.Completion():
                self.completion(statement, state)
            case mp.Halt():
                self.ended = self.symbols.disjunction(self.ended, state.guard)
                state.guard = self.symbols.false
            case _:
                self.simple(statement, state)
        return state

    def _if(self, statement: mp.If, state: PathState) -> PathState:
        truth = self.truth(statement.condition, state, statement.span)
        if truth.constant:
            return self.block(statement.then if truth.value else statement.other, state)
        return self._branches(truth, statement.then, statement.other, state)

    def _branches(self, test: Symbol, then: mp.Block, other: mp.Block, state: PathState) -> PathState:
        symbols, entry = self.symbols, state.guard
        opposite = symbols.negation(test)
        a = self.block(then, state.copy(symbols.conjunction(entry, test)))
        b = self.block(other, state.copy(symbols.conjunction(entry, opposite)))
        return join_paths(self.symbols, entry, test, a, b)

    def _choose(self, branches: tuple[mp.Block, ...], span: Span, state: PathState) -> PathState:
        taken = self.choice(len(branches), span, state)
        return self._alternatives(taken, branches, 0, state)

    def _alternatives(self, taken: Symbol, branches: tuple[mp.Block, ...], first: int, state: PathState) -> PathState:
        if first == len(branches) - 1:
            return self.block(branches[first], state)
        entry, test = state.guard, self.symbols.apply("==", taken, self.symbols.const(first))
        a = self.block(branches[first], state.copy(self.symbols.conjunction(entry, test)))
        rest = state.copy(self.symbols.conjunction(entry, self.symbols.negation(test)))
        return join_paths(self.symbols, entry, test, a, self._alternatives(taken, branches, first + 1, rest))

    def _while(self, condition: Term, body: mp.Block, span: Span, state: PathState) -> PathState:
        exits: list[Exit] = []
        read = sorted(set(term_names(condition)))
        counted, free, before = 0, 0, None
        while state.guard is not self.symbols.false:
            truth = self.truth(condition, state, span)
            held = [state.registers[name] for name in read]
            changed = before is not None and any(a is not b for a, b in zip(before, held, strict=True))
            before = held
            if truth is self.symbols.false:
                break
            if truth.constant and changed and free < _FREE_ROUNDS:
                free += 1
            else:
                counted += 1
            state = self._round(truth, body, span, state, exits, over=counted > self.loop_bound)
        return self._left(state, exits)

    def _loop(self, body: mp.Block, span: Span, state: PathState) -> PathState:
        exits: list[Exit] = []
        rounds = 0
        while state.guard is not self.symbols.false:
            rounds += 1
            taken = self.choice(2, span, state)
            state = self._round(self.symbols.truth(taken), body, span, state, exits, over=rounds > self.loop_bound)
        return self._left(state, exits)

    def _for(self, statement: mp.For, state: PathState) -> PathState:
        run, always, symbols = Evaluation(self.symbols, state.registers), self.symbols.true, self.symbols
        low = run.number(run.value(statement.low, always), always)
        high = run.number(run.value(statement.high, always), always)
        self.faults(run, state, statement.span)
        exits: list[Exit] = []
        rounds = 0
        while state.guard is not symbols.false:
            counter = symbols.apply("+", low, symbols.const(rounds))
            truth = symbols.apply("<=", counter, high)
            if truth is symbols.false:
                break
            rounds += 1
            state.registers[statement.counter] = counter
            over = not truth.constant and rounds > self.loop_bound
            state = self._round(truth, statement.body, statement.span, state, exits, over=over)
        return self._left(state, exits)

    def _round(
        self, truth: Symbol, body: mp.Block, span: Span, state: PathState, exits: list[Exit], *, over: bool
    ) -> PathState:
        """Note the way out of a loop in `exits`, and return where its body leads; nowhere if that is `over` the bound."""
        entry, symbols = state.guard, self.symbols
        if not truth.constant:
            exits.append((entry, truth, state.copy(symbols.conjunction(entry, symbols.negation(truth)))))
            state.guard = symbols.conjunction(entry, truth)
        if over:
            self.add(events.CutEvent(self.number, len(self.events), state.guard, span))
            state.guard = symbols.false
            return state
        return self.block(body, state)

    def _left(self, state: PathState, exits: list[Exit]) -> PathState:
        for entry, truth, left in reversed(exits):
            state = join_paths(self.symbols, entry, truth, state, left)
        return state


_ROUNDS: Final = 12


def unroll(
    program: MessageProgram, loop_bound: int, limits: Limits = NO_LIMITS, *, with_looks: bool = False
) -> UnrolledProgram:
    """Return `program` unrolled: `while` and `loop` to `loop_bound` rounds, `for` exactly where its bounds are known.

    A program that looks for messages, or sends them ready, is not encoded but `with_looks`, for who knows their events.

    What a receive can get is found by unrolling with a guess and looking at its candidates, until these have the guessed
    shape. Then it is right: of a run in which a receive gets another shape, the part before is one of the unrolled program,
    in which that pair is feasible, so it is a candidate. Raises NotEncodedError and LimitReached.
    """
    shapes = Shapes()
    for _ in range(_ROUNDS):
        unrolled = unrolled_with(program, loop_bound, shapes, limits, with_looks=with_looks)
        if not shapes.known and all(isinstance(each.value, Symbol) for each in unrolled.sends):
            return unrolled
        found = _shapes(unrolled, limits)
        if all(each.shape == found.get(each.number, each.shape) for each in unrolled.receives):
            return unrolled
        shapes = _guessed(unrolled, found)
    raise NotEncodedError("arrays whose lengths depend on which messages arrive")


def _guessed(unrolled: UnrolledProgram, found: dict[int, Shape]) -> Shapes:
    """Return what was found, for the next round: later rounds of a loop are likely to get what the last one gets."""
    known: dict[tuple[int, int], Shape] = {}
    of_statement: dict[tuple[int, Span], Shape] = {}
    first: dict[int, int] = {}
    for each in unrolled.receives:
        nth = each.number - first.setdefault(each.process, each.number)
        if each.number in found:
            known[each.process, nth] = found[each.number]
            if each.span != NO_SPAN:
                of_statement[each.process, each.span] = found[each.number]
    return Shapes(known, of_statement)


def _shapes(unrolled: UnrolledProgram, limits: Limits) -> dict[int, Shape]:
    """Return the shape that the candidates of each receive have. Raises NotEncodedError if they have several."""
    found: dict[int, Shape] = {}
    left = candidate_pairs(unrolled, "infinite", limits)
    for receive in unrolled.receives:
        shapes = {value_shape(each.value) for each in left.senders(receive.number)}
        if len(shapes) > 1:
            raise NotEncodedError("a receive that may get a number or an array, or arrays of different lengths")
        if shapes:
            found[receive.number] = shapes.pop()
    return found
