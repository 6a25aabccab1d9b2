"""Looks for messages as guarded events: what a look sees is a choice, which its event limits to what is there."""

from __future__ import annotations

from rdma_robust.messages.encoding import unrolled as events
from rdma_robust.messages.encoding.evaluation import Evaluation
from rdma_robust.messages.encoding.unrolled import NotEncodedError
from rdma_robust.messages.encoding.unrolled_statements import PathState, Statements
from rdma_robust.messages.language import message_program as mp


class Looks(Statements):
    """The statements of one process that look for messages and leave them where they are."""

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
