"""Moves of the machines in words."""

from __future__ import annotations

from dataclasses import dataclass

from rdma_robust.language.flow.cfg import Program
from rdma_robust.semantics.machines.machine import Action, Verb, act_of
from rdma_robust.semantics.order_table import VISIBLE_WHEN_POLLED
from rdma_robust.semantics.trace import CPU_TYPES, FENCE_TYPES, STORE_TYPES, Event, EventType
from rdma_robust.semantics.wording import Words, deed
from rdma_robust.teaching.explorer.follow import Link
from rdma_robust.text import one_line


@dataclass(frozen=True, slots=True)
class Phrases:
    """The wording for one program and one machine: under SC a NIC write takes effect at once, and where CPUs have store
    `buffers` a store does not."""

    program: Program
    sc: bool
    buffers: bool = False

    def label(self, action: Action, operation: int | None) -> str:
        """Return what a move does, without who does it."""
        label, act = deed(self.program, action, sc=self.sc), act_of(action)
        if self._waits(action) and action.step is not None:
            return f"puts {one_line(action.step.text)} into the store buffer"
        if act is None or action.step is None:
            return label
        if act.type is EventType.P and operation is not None and not self.sc:
            return f"{one_line(action.step.text)}: takes the completion of #{operation}"
        return f"{label}: {one_line(action.step.text)}" if act.type in (EventType.LR, EventType.CAS) else label

    def takes_effect(self, action: Action) -> bool:
        """Return whether an event takes effect with a move."""
        if action.verb is Verb.DRAIN:
            return action.cell is not None
        return action.verb is not Verb.NIC_WRITE and act_of(action) is not None and not self._waits(action)

    def _waits(self, action: Action) -> bool:
        """Whether a store or a receive goes into a store buffer."""
        act = act_of(action)
        return self.buffers and act is not None and act.type in STORE_TYPES and action.verb is not Verb.DRAIN

    def hint(self, action: Action) -> str:
        """Return what a move means for who does not know the machine."""
        if action.step is None or self.sc:
            return ""
        act = act_of(action)
        late = act is not None and act.type in VISIBLE_WHEN_POLLED
        match action.verb:
            case Verb.DRAIN:
                return "from the store buffer"
            case Verb.ISSUE if self.buffers:
                return "into the store buffer, and from there to the NIC"
            case Verb.ISSUE:
                return "the CPU hands it to the NIC and goes on"
            case Verb.NIC_WRITE if act is not None and act.type in FENCE_TYPES:
                return "into the write buffer: later writes wait there behind it"
            case Verb.NIC_WRITE if late:
                return "into the write buffer: neither in memory nor complete"
            case Verb.NIC_WRITE:
                return "into the write buffer: complete for a poll, not yet in memory"
            case Verb.FLUSH if late:
                return "from the write buffer: now complete for a poll"
            case Verb.FLUSH:
                return "from the write buffer"
            case Verb.NIC_READ, _:
                return "takes the value out of memory"
        return ""

    def link(self, link: Link) -> str:
        """Return one reason of a cycle as a sentence without a full stop."""
        words = Words(self.program)
        if link.relation == "waits":
            return f"{self._deed(link.source)} still waits for a buffer, and what comes after it has happened"
        if link.relation != "later":
            return words.edge(link.source, link.relation, link.target)
        return f"{self._deed(link.source)} has happened before {self._deed(link.target)}, which was still to come"

    def _deed(self, event: Event) -> str:
        """Return an event as a noun, also one whose value is not known yet."""
        noun = Words(self.program).noun(event)
        thread = self.program.threads[event.thread].name
        return f"{thread}'s {noun}" if event.type in CPU_TYPES else f"{noun} by {thread}"
