"""The paper's own encoding of an execution, as its text gives it, for z3: to be measured beside the engines of the package.

Source: Huang, Mercer and McCarthy (2013), Definitions 2 to 9, steps 1 to 4, and Figure 7 for the match pairs; infinite
buffers. Its steps order sends and receives of one endpoint and receives before their waits, but no wait before what follows
it, so programs in which that matters have executions that are none; `whole_order` adds it, as the authors did later.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import combinations, pairwise
from typing import Any

from rdma_robust.limits import NO_LIMITS
from rdma_robust.messages.encoding.symbolic_terms import Symbol
from rdma_robust.messages.encoding.unrolled import AssertEvent, ReceiveEvent, SendEvent, UnrolledProgram, WaitEvent
from rdma_robust.messages.encoding.unrolling import unroll
from rdma_robust.messages.engines.clock_formula import SmtTerms
from rdma_robust.messages.engines.smt_solver import SmtSolver
from rdma_robust.messages.language.message_program import MessageProgram


class PaperEncoding:
    """The formulas of a program whose control flow is fixed, without tags, named sources, and ports."""

    def __init__(self, program: MessageProgram, *, whole_order: bool) -> None:
        import z3  # noqa: PLC0415 -- an extra

        self.z3: Any = z3
        self.trace: UnrolledProgram = unroll(program, 0)
        self.solver = z3.Solver()
        self._terms = SmtTerms(SmtSolver(NO_LIMITS), self.trace, lambda _: (), linked=False)
        for events in self.trace.events:
            waits = [each for each in events if isinstance(each, WaitEvent) and each.kind == "receive"]
            received = [each for each in events if isinstance(each, ReceiveEvent)]
            sent = [each for each in events if isinstance(each, SendEvent)]
            self._steps(sent, received, waits)
            if whole_order:
                ordered = [each for each in events if isinstance(each, SendEvent | ReceiveEvent | WaitEvent)]
                for one, other in pairwise(ordered):
                    self.solver.add(self._event(one) < self._event(other))
        self.pairs = set(self._match_pairs())
        for receive in self.trace.receives:
            self._receive_matches(receive)

    def violable(self) -> bool | None:
        """Return whether the negation of the assertions can be true (Definition 7), None if z3 does not know."""
        events = [event for events in self.trace.events for event in events]
        asserted = [self._terms.truth(event.condition) for event in events if isinstance(event, AssertEvent)]
        self.solver.add(self.z3.Not(self.z3.And(asserted)))
        answer = self.solver.check()
        return None if answer == self.z3.unknown else bool(answer == self.z3.sat)

    def _int(self, name: str, of: SendEvent | ReceiveEvent | WaitEvent) -> Any:
        return self.z3.Int(f"{name} {type(of).__name__} {of.process} {of.position}")

    def _event(self, of: SendEvent | ReceiveEvent | WaitEvent) -> Any:
        return self._int("order", of)

    def _steps(self, sent: Sequence[SendEvent], received: Sequence[ReceiveEvent], waits: Sequence[WaitEvent]) -> None:
        """Definitions 3 to 5, and steps 1 to 4 for one task."""
        for send in sent:
            assert isinstance(send.value, Symbol)
            self.solver.add(
                self._int("value", send) == self._terms.number(send.value), self._int("e", send) == send.to.value
            )
        for one, other in combinations(sent, 2):
            if one.to is other.to:
                self.solver.add(self._event(one) < self._event(other))
                self.solver.add(self._int("M", one) < self._int("M", other))
        for one_, other_ in combinations(received, 2):
            self.solver.add(self._event(one_) < self._event(other_))
        for receive in received:
            enclosing = next(each for each in waits if each.operation >= receive.number)
            self.solver.add(
                self._int("nw", receive) == self._event(enclosing), self._event(receive) < self._event(enclosing)
            )
            self.solver.add(self._int("e", receive) == receive.process)

    def _match_pairs(self) -> Iterator[tuple[int, int]]:
        """Figure 7."""
        indices: Counter[tuple[int, ...]] = Counter()
        index_of_send: list[int] = []
        for send in self.trace.sends:
            index_of_send.append(indices[send.process, send.to.value])
            indices[send.process, send.to.value] += 1
        to = Counter(send.to.value for send in self.trace.sends)
        for receive in self.trace.receives:
            index, endpoint = indices[(receive.process,)], receive.process
            indices[(endpoint,)] += 1
            for send, at in zip(self.trace.sends, index_of_send, strict=True):
                others = to[endpoint] - indices[send.process, endpoint]
                if send.to.value == endpoint and at <= index <= at + others:
                    yield receive.number, send.number

    def _receive_matches(self, receive: ReceiveEvent) -> None:
        """Definitions 8 and 9."""
        z3, ways = self.z3, []
        value = self._terms.number(self.trace.symbols.leaf("value", receive.number))
        for send in self.trace.sends:
            if (receive.number, send.number) in self.pairs:
                ways.append(
                    z3.And(
                        self._int("M", receive) == self._event(send),
                        self._int("M", send) == self._event(receive),
                        self._int("e", receive) == self._int("e", send),
                        value == self._int("value", send),
                        self._event(send) < self._int("nw", receive),
                    )
                )
        self.solver.add(z3.Or(ways))
