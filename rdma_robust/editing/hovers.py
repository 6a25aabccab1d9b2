"""Hovers: a place of a program in words, a name and its declaration, or a statement and its events.

The texts are data; the events come from the event table (docs/model.md, "Events").
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields
from typing import Any, Final

from rdma_robust.editing.declared_names import DeclaredNames
from rdma_robust.errors import ProgramError, Span
from rdma_robust.frame.editor import DeclaredSymbol, Hover
from rdma_robust.language.flow.cfg import Program, Step, is_padding, steps
from rdma_robust.language.load import load_program
from rdma_robust.language.syntax import ast
from rdma_robust.semantics.event_table import TABLE, acts_of, remote_of
from rdma_robust.semantics.trace import NIC_WRITE_TYPES, EventType
from rdma_robust.text import count

T = EventType

MEANING: Final[dict[type, str]] = {
    ast.Registers: "Registers: private to the thread, 0 unless given.",
    ast.Assign: "A local read, a local write, or a calculation over registers, in one step.",
    ast.Call: "An atomic operation: of a location of this node one step of the CPU, of another node's a request to its NIC, "
    "whose old value goes nowhere. `cas` writes the new value if the location holds the expected one, `faa` adds, `swap` "
    "writes in any case. A poll tells that a NIC has been asked and has read, not that the location is written.",
    ast.PutStatement: "Remote write. The thread goes on at once; later the NIC reads the source, then writes "
    "the target. With an "
    "immediate it is a message too.",
    ast.SendStatement: "A message to a thread of another node. The NIC reads the source, then fills the receive "
    "buffer that the "
    "other thread has posted for it. A polled message has found a buffer. `a[0..3]` are words of an array: one message, and "
    "one completion.",
    ast.Flag: "`unsignaled`: no poll takes a completion of this request. `inline`: the CPU reads the data when it posts, so "
    "its variable is free at once. `fenced`: a remote fence before this request. `on LANE`: its queue pair, else the one to "
    "the node that has no name; of a receive, that of its sender.",
    ast.Lanes: "Queue pairs of the thread to a node, beside the one without a name that it has to each: `on LANE` puts a "
    "request on one. Completions and fences of one say nothing of any other.",
    ast.Immediate: "A number that the message carries: `r = rpoll THREAD` gives it to the other thread.",
    ast.PostedStatement: "Receive buffers that are posted before anything runs, in this order.",
    ast.RecvStatement: "Posts a receive buffer for a message of this thread: the k-th message fills the k-th buffer. In "
    "`b[0..3]` a shorter message leaves the rest as it is; a longer one than its buffer finds no room.",
    ast.RecvPollStatement: "Waits for the earliest message that was not polled yet; the value is its immediate, or 0.",
    ast.BarrierStatement: "Waits until all of these threads stand at such a barrier, or all threads without any. Then they "
    "go on; what a thread did before is before what the others do next. It orders nothing that NICs still have to do: "
    "a put that is in flight may land behind it.",
    ast.GetStatement: "Remote read. The thread goes on at once; later the NIC reads the remote location, then "
    "writes the local one.",
    ast.PollStatement: "Waits for the completion of the earliest operation towards this node that was not "
    "polled yet. A polled get "
    "has arrived. A polled put has been sent: its source may change, but the remote location may not have its value yet.",
    ast.PollAny: "Takes a completion of one of several queue pairs, as from a shared completion queue; the value is the "
    "number of the node, counted from 0.",
    ast.TryPoll: "Takes a completion and gives 1, or gives 0, which it may always do.",
    ast.RFenceStatement: "Remote fence. The NIC begins later operations towards this node once the earlier ones "
    "have been issued; "
    "the thread does not wait.",
    ast.FlushStatement: "Waits until every earlier operation of the thread towards this node has taken effect, "
    "on both sides. It takes no completion.",
    ast.OrderStatement: "Remote writes and atomics towards this node before it take effect before those behind it; "
    "the thread does not wait.",
    ast.MFenceStatement: "Waits until the thread's own store buffers are empty; nothing under models without store buffers.",
    ast.StartStatement: "Lets a thread begin, which waits for that; what this one has stored before is in memory then.",
    ast.JoinStatement: "Waits until a thread has ended and its stores are in memory. Requests of that thread may still be "
    "in flight.",
    ast.LabelStatement: "A label: `THREAD at LABEL` says in an `invariant` that this statement is the next one "
    "of the thread.",
    ast.Assert: "A claim. Where it fails `verify` says so, and the thread goes on.",
    ast.Halt: "Ends the thread.",
    ast.Skip: "Does nothing.",
    ast.If: "Branches tried in order. A condition that names a variable reads it once.",
    ast.While: "Each evaluation of the condition reads its variable once.",
    ast.Loop: "Any number of times, also zero.",
    ast.Choose: "One of the branches, any of them.",
    ast.For: "A copy of the block for each number from the first to the last; the counter is a constant in each copy.",
    ast.MacroCall: "The statements of the macro, with the arguments for its parameters and registers of their own.",
    ast.OutcomeDeclaration: "A claim about final states: every thread has ended and nothing is in flight.",
    ast.InvariantDeclaration: "A claim about every reachable state, answered by `prove` and `verify`.",
    ast.Expect: "The expected answer, compared by `check --expect`; `race` and `race free` by `races --expect`.",
    ast.NeedsDeclaration: "Guarantees of a network that are enough to be robust, compared by `needs --expect`.",
    ast.Domain: "The range of all values, both ends included. A result outside of it ends the execution.",
    ast.HardwareDeclaration: "What the program runs on; options of the command line come first. What is not said: "
    "cpu sc, atomics hca, "
    "order default, reads as they are, rnr fault, and send queues with room for all.",
    ast.AllowLoopback: "The thread's own node may be the other end of a queue pair.",
}
"""What a statement or declaration means."""

BEHIND: Final = "; its memory lies behind the NIC of that other node: requests for it are of queue pairs to that"
"""What `via` says of a node."""

SAID_OF_WORDS: Final = {
    "relaxed": "; in a relaxed region, where an access may pass earlier ones of its queue pair",
    "sync": "; meant for synchronisation: accesses of it are no data races. No behaviour depends on that",
}
"""What stands before the name of a variable, and what it says."""

SETTINGS: Final = {
    "cpu": "`sc`: what a CPU does takes effect at once. `tso`: stores and posted requests wait in a buffer, as on x86.",
    "atomics": "`hca`: remote atomics exclude only each other. `glob`: every other access too.",
    "order": "What is kept of the order of a queue pair: `default` as reliable connections have it, `multipath` with "
    "adaptive routing, `relaxed` with relaxed ordering of PCIe, `none` what standards of libraries promise, `accumulate` "
    'that with atomics of one word in order. The others are tables as their pages have them, `"mine.toml"` is one of your '
    "own, and `fi(RMA_WAW, SAS)` what flags of libfabric promise.",
    "reads": "`ordered`: two gets of a queue pair read in order. `unordered`: they need not.",
    "rnr": "What a message does that finds no buffer (receiver not ready): `fault`, or it is to `wait`, forever if need "
    "be, and with it what is behind it on its queue pair.",
    "send depth": "`send depth N`: a send queue has room for N requests whose completions were not taken. One more is a "
    "fault.",
}
"""What a setting of a `hardware` line says."""

WAITING: Final = {
    "await": "Waits until the condition is true. A thread that stands here forever hangs.",
    "assume": "Goes on if the condition is true. Executions that stop here are set aside: neither complete nor hangs.",
}

EVENTS: Final[dict[EventType, str]] = {
    T.LR: "the CPU reads {cell}",
    T.LW: "the CPU writes {cell}",
    T.CAS: "the CPU reads and writes {cell} in one step",
    T.P: "the CPU takes a completion from {remote}",
    T.NLR: "the NIC reads {cell} here",
    T.NRW: "the NIC writes {cell} on {remote}: a poll tells that it was issued, not that it arrived",
    T.NRR: "the NIC reads {cell} on {remote}",
    T.NLW: "the NIC writes {cell} here: a poll tells that it arrived",
    T.NF: "the NIC passes the fence towards {remote}",
    T.NAR: "the NIC of {remote} reads {cell} for an atomic operation",
    T.NAW: "the NIC of {remote} writes {cell}: a poll tells that the answer came back, not that the location is written",
    T.NA: "the NIC of {remote} reads and writes {cell} in one step for everybody",
    T.F: "the CPU waits until its store buffer is empty",
    T.V: "the CPU posts a receive buffer",
    T.RP: "the CPU takes a receive completion",
    T.BAR: "the CPU meets the other threads of the barrier",
    T.FL: "the CPU waits until all that was posted to {remote} has taken effect",
    T.NO: "the NIC puts it between the writes and atomics towards {remote}",
}
"""What happens in an event of each type."""

MOST_EVENTS: Final = 8
"""Events of one statement that are shown: an access with a computed index has one for every element."""


def hover(text: str, offset: int) -> Hover | None:
    """Return what can be said about the character of `text` at the 0-based `offset`, None if nothing."""
    names = DeclaredNames(text)
    named = names.at(offset)
    part = _innermost(names.tree, offset)
    parts = []
    if named is not None:
        parts.append(_symbol(text, named.symbol))
    if part is not None and (named is None or named.span != named.symbol.span):
        parts.append(_meaning(part))
        parts += _events(_program(text), part.span)
    span = named.span if named is not None else part.span if part is not None else None
    return Hover("\n\n".join(parts), span) if span is not None and parts else None


def _symbol(text: str, symbol: DeclaredSymbol) -> str:
    whole = text[symbol.whole.start : symbol.whole.end].partition("\n")[0].partition("{")[0].strip()
    of = {"variable": f" of node {symbol.owner}", "array": f" of node {symbol.owner}"}
    owner = of.get(symbol.kind, f" of {symbol.owner}" if symbol.owner else "")
    said = text[symbol.whole.start : symbol.span.start].split() if symbol.kind in of else []
    more = "".join(SAID_OF_WORDS.get(each, "") for each in said) + (
        BEHIND if symbol.kind == "node" and " via " in whole else ""
    )
    return f"`{whole}`: {symbol.kind}{owner}, line {symbol.span.line}{more}"


def _meaning(part: Any) -> str:
    match part:
        case ast.Assume():
            return WAITING[part.keyword]
        case ast.HardwareSetting():
            return SETTINGS[part.word.text]
        case _:
            return MEANING[type(part)]


def _innermost(tree: Any, offset: int) -> Any:
    """Return the smallest statement or declaration around `offset` that has a meaning of its own."""
    found = None
    todo = [tree]
    while todo:
        part = todo.pop()
        if isinstance(part, tuple):
            todo.extend(part)
        elif hasattr(part, "__dataclass_fields__") and not isinstance(part, Span):
            inside = part.span.start <= offset <= part.span.end
            said = isinstance(part, ast.HardwareSetting) and part.word.text in SETTINGS
            if inside and (said or type(part) in MEANING or isinstance(part, ast.Assume)):
                found = part if found is None or _length(part.span) <= _length(found.span) else found
            if inside or isinstance(part, ast.Arm):
                todo.extend(getattr(part, field.name) for field in fields(part))
    return found


def _length(span: Span) -> int:
    return span.end - span.start


def _program(text: str) -> Program | None:
    try:
        return load_program(text, "")
    except ProgramError:
        return None


def _events(program: Program | None, span: Span) -> Iterator[str]:
    """Yield the events of the steps of the statement at `span`, as a list."""
    if program is None:
        return
    every = (step for thread in program.threads for _, _, step in steps(thread))
    mine = [s for s in every if not is_padding(s.op) and any(at.start == span.start for at in (s.span, *s.span.chain()))]
    rows = list(dict.fromkeys(row for step in mine if step.fault is None for row in _rows(step)))
    if rows:
        more = [f"- and {count(len(rows) - MOST_EVENTS, 'more event')}"] if len(rows) > MOST_EVENTS else []
        yield "\n".join(["Events:", "", *rows[:MOST_EVENTS], *more])


def _rows(step: Step) -> Iterator[str]:
    for act in acts_of(step.op) if type(step.op) in TABLE else ():
        cell = None if act.fills else act.cell
        shown = "a constant" if cell is not None and cell.hidden else f"`{cell}`"
        if act.message is not None:
            takes = "a location of the buffer that {} has posted" if act.fills else "no location, but takes a buffer of {},"
            shown = takes.format(act.peer)
        what = EVENTS[act.type].format(cell=shown, remote=remote_of(step.op))
        if cell is not None and cell.via and act.type in NIC_WRITE_TYPES:
            where = f"behind the NIC of {cell.card}"
            what = f"the NIC writes {shown}, {where}: a poll tells that it was issued, not that it arrived"
        yield f"- **{act.type.value}**: {what}"
