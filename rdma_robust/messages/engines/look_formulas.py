"""Formulas of what looks see, and of what finds a posted receive where it is sent ready, by the clocks of the other events.

A match that has the clock of a look comes after it, as a receive does that is posted with the clock of what is sent ready.
Definition: "What an execution is" of docs/theory-messages.md.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from rdma_robust.messages.encoding.unrolled import LookEvent, ReadyEvent, ReceiveEvent, SendEvent, acceptance

if TYPE_CHECKING:
    from rdma_robust.messages.engines.clock_formula import ClockFormula


class LookFormulas:
    """The formulas of the looks of a program; they are said when this is made."""

    def __init__(self, formula: ClockFormula) -> None:
        self._formula, self._z3 = formula, formula.z3
        for events in formula.unrolled.events:
            for event in events:
                if isinstance(event, LookEvent):
                    self._look(event)
                elif isinstance(event, ReadyEvent):
                    self._ready(event)

    def _look(self, look: LookEvent) -> None:
        """A look that is made has chosen the process of a message that can be seen, or sees nothing and does not wait."""
        z3, formula, symbols = self._z3, self._formula, self._formula.unrolled.symbols
        made, choice = formula.done(look), formula.terms.number(look.choice)
        if look.waits:
            made = z3.And(made, formula.passed[look.process, look.position])
            if "look waits" in formula.parts:
                formula.solver.add(z3.Implies(made, choice >= 1))
        tag = formula.terms.number(symbols.leaf("seen", look.number))
        for process in range(len(formula.unrolled.events)):
            seen = [
                z3.And(self._sees(look, send), tag == formula.terms.number(send.tag))
                for send in self.messages(look)
                if send.process == process
            ]
            formula.solver.add(z3.Implies(z3.And(made, choice == process + 1), z3.Or(seen)))

    def messages(self, look: LookEvent) -> Iterable[SendEvent]:
        """Yield the sends that a look may accept."""
        return [each for each in self._formula.unrolled.sends if self.accepts(look, each) is not None]

    def accepts(self, receive: ReceiveEvent | LookEvent, send: SendEvent | ReadyEvent) -> Any | None:
        """Return where a receive or a look accepts a message, None if nowhere."""
        found = acceptance(self._formula.unrolled, receive, send)
        return None if found.constant and not found.value else self._formula.terms.truth(found)

    def _sees(self, look: LookEvent, send: SendEvent) -> Any:
        """Return whether a look can see a message: it is there, and no other one of its channel is seen before it, and no
        receive that is posted before takes it."""
        formula, now = self._formula, self._formula.clock(look)
        earlier = [each for each in formula.unrolled.sends[: send.number] if each.process == send.process]
        posted = [each for each in formula.unrolled.receives if each.process == look.process]
        conditions = {
            "issued": [formula.done(send), formula.clock(send) < now, self.accepts(look, send)],
            "there": [self._z3.Not(self._gone(send, now))],
            "channel": self._all_gone([(each, self.accepts(look, each)) for each in earlier], now),
            "posted": self._all_gone(
                [(each, self.accepts(each, send)) for each in posted if each.position < look.position], now
            ),
        }
        return self._all_kept("look", conditions)

    def _all_kept(self, what: str, conditions: Mapping[str, Sequence[Any]]) -> Any:
        """Return that all of these hold, without the parts that are left out for tests."""
        kept = [each for part, some in conditions.items() if f"{what} {part}" in self._formula.parts for each in some]
        return self._z3.And(kept)

    def _gone(self, operation: SendEvent | ReceiveEvent, now: Any) -> Any:
        """Return whether an operation is matched before a time."""
        formula, number = self._formula, operation.number
        if isinstance(operation, SendEvent):
            return self._z3.And(formula.matched_send[number], formula.send_time[number] < now)
        return self._z3.And(formula.matched_receive[number], formula.receive_time[number] < now)

    def _all_gone(self, those: Iterable[tuple[SendEvent | ReceiveEvent, Any | None]], now: Any) -> list[Any]:
        """Return that these are matched before a time, each if it is issued, and what stands beside it holds."""
        z3, truth = self._z3, self._formula.terms.truth
        return [
            z3.Implies(z3.And(truth(each.guard), condition), self._gone(each, now))
            for each, condition in those
            if condition is not None
        ]

    def _ready(self, event: ReadyEvent) -> None:
        """What is sent ready is expected exactly if a posted receive takes it."""
        formula, symbols = self._formula, self._formula.unrolled.symbols
        expected = formula.terms.number(symbols.leaf("expected", event.number))
        takes = [
            self._takes(receive, event) for receive in formula.unrolled.receives if self.accepts(receive, event) is not None
        ]
        formula.solver.add(self._z3.Implies(formula.done(event), expected == self._z3.If(self._z3.Or(takes), 1, 0)))

    def _takes(self, receive: ReceiveEvent, event: ReadyEvent) -> Any:
        """Return whether a receive can take a message where it is sent: the rule `match`."""
        formula, now = self._formula, self._formula.clock(event)
        sends = [each for each in formula.unrolled.sends if each.process == event.process and each.position < event.position]
        posted = [each for each in formula.unrolled.receives[: receive.number] if each.process == receive.process]
        conditions = {
            "issued": [formula.done(receive), formula.clock(receive) < now, self.accepts(receive, event)],
            "there": [self._z3.Not(self._gone(receive, now))],
            "channel": self._all_gone([(each, self.accepts(receive, each)) for each in sends], now),
            "posted": self._all_gone([(each, self.accepts(each, event)) for each in posted], now),
        }
        return self._all_kept("ready", conditions)
