"""Moves of the machines in words."""

from __future__ import annotations

from dataclasses import dataclass

from rdma_robust.language.flow.cfg import Get, Program, Put
from rdma_robust.semantics.machines.effects import event_of, event_type
from rdma_robust.semantics.machines.machine import Action, Verb
from rdma_robust.semantics.trace import CPU_TYPES, Event, EventType
from rdma_robust.semantics.wording import Words
from rdma_robust.teaching.explorer.follow import Link
from rdma_robust.text import one_line

SC_WRITES = {Put: EventType.NRW, Get: EventType.NLW}


@dataclass(frozen=True, slots=True)
class Phrases:
    """The wording for one program and one machine: under SC a NIC write takes effect at once."""

    program: Program
    sc: bool

    def label(self, action: Action, operation: int | None) -> str:
        """Return what a move does, without who does it."""
        step = action.step
        if step is None:
            return "starts"
        text = one_line(step.text)
        kind = event_type(action)
        if self.sc and action.verb is Verb.NIC_WRITE:
            kind = SC_WRITES[type(step.op)]
        if kind is EventType.P and not self.sc:
            return f"{text}: takes the completion of #{operation}"
        if kind is not None:
            label = Words(self.program).label(event_of(action, kind))
            if action.verb is Verb.FLUSH:
                return f"{label} in memory"
            return f"{label}: {text}" if kind in (EventType.LR, EventType.CAS) else label
        if action.verb is Verb.ISSUE:
            return f"posts {text}"
        assert isinstance(step.op, Put | Get)
        return f"{'sends' if isinstance(step.op, Put) else 'receives'} {step.op.target} = {action.written}"

    def hint(self, action: Action) -> str:
        """Return what a move means for who does not know the machine."""
        if action.step is None or self.sc:
            return ""
        match action.verb, action.step.op:
            case Verb.ISSUE, _:
                return "the CPU hands it to the NIC and goes on"
            case Verb.NIC_WRITE, Put():
                return "into the write buffer: complete for a poll, not yet in memory"
            case Verb.NIC_WRITE, _:
                return "into the write buffer: neither in memory nor complete"
            case Verb.FLUSH, Get():
                return "from the write buffer: now complete for a poll"
            case Verb.FLUSH, _:
                return "from the write buffer"
            case Verb.NIC_READ, _:
                return "takes the value out of memory"
        return ""

    def link(self, link: Link) -> str:
        """Return one reason of a cycle as a sentence without a full stop."""
        words = Words(self.program)
        if link.relation != "later":
            return words.edge(link.source, link.relation, link.target)
        return f"{self._deed(link.source)} has happened before {self._deed(link.target)}, which was still to come"

    def _deed(self, event: Event) -> str:
        """Return an event as a noun, also one whose value is not known yet."""
        noun = Words(self.program).noun(event)
        thread = self.program.threads[event.thread].name
        return f"{thread}'s {noun}" if event.type in CPU_TYPES else f"{noun} by {thread}"
