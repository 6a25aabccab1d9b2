"""What is said where nothing that is inserted orders two puts: under `order relaxed` a write with immediate does."""

from __future__ import annotations

from rdma_robust.language.flow.cfg import Program
from rdma_robust.model import Model
from rdma_robust.outcome import Witness
from rdma_robust.semantics.trace import Event, EventType, Trace


def immediate_for(program: Program, witness: Witness, model: Model) -> str:
    """Return which two puts of a violation no poll, fence or get orders, and what would; nothing if there are none."""
    if model.order != "relaxed":
        return ""
    puts = [(a, put) for a, b in witness.relaxed if a.type is EventType.NRW and (put := _put_behind(b, witness.trace))]
    if not puts:
        return ""
    earlier, later = min(puts, key=lambda pair: (pair[0].remote != pair[1].remote, pair[0].position, pair[1].position))
    said = f"no poll, fence or get orders two puts under order relaxed, as those of {_lines(earlier, later)}"
    receivers = [thread.name for thread in program.threads if thread.node == later.remote]
    if earlier.remote != later.remote or not receivers or later.step is None:
        return f"{said}; a receive completion tells of earlier puts of its queue pair only"
    sender, receiver = program.threads[later.thread].name, receivers[0]
    offered = f"`{later.step.text} imm 1 to {receiver}`" if later.peer is None else f"`{later.step.text}`"
    waits = f"{receiver} waits for it with `rpoll {sender}`, behind a buffer for it, `posted b from {sender}`"
    return f"{said}: an immediate does, {offered}; {waits}"


def _put_behind(event: Event, trace: Trace) -> Event | None:
    """Return the first put of a thread from an event on."""
    later = (e for e in trace.events if e.thread == event.thread and e.position >= event.position)
    puts = (e for e in later if e.type is EventType.NRW and e.step is not None)
    return min(puts, key=lambda e: e.position, default=None)


def _lines(earlier: Event, later: Event) -> str:
    lines = [str(event.step.span.line) for event in (earlier, later) if event.step is not None]
    return f"lines {' and '.join(dict.fromkeys(lines))}" if len(set(lines)) > 1 else f"line {lines[0]}"
