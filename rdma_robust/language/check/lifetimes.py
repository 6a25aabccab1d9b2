"""Threads that others start, and threads whose end others wait for.

Both are words that no program names. `start T` is a locked store to one of them, and T begins with a read that waits for
it; T ends with a locked store to the other, for which `join T` waits. So what either statement orders is an edge of rf,
which ib, ob and sc have, and nothing else happens to these words (docs/theory-deployed.md, "Threads that are started").

A thread that ends without having started one that it could start says so, and that one ends without having begun.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from rdma_robust.diagnose import Reporter, quote
from rdma_robust.digraph import reachable
from rdma_robust.errors import Span
from rdma_robust.expr import VALUE, Const, equals
from rdma_robust.language.check.names import ProgramNames
from rdma_robust.language.flow import cfg

_BEFORE: Final = Const(0)
HAPPENED: Final = Const(1)
_NEVER: Final = Const(2)
"""What the word of a moment holds before it, after it, and where it is never to come."""


def with_lifetimes(threads: Sequence[cfg.Thread], world: ProgramNames, report: Reporter) -> tuple[cfg.Thread, ...]:
    """Return the threads with what they begin and end with. Threads that are started twice, or never, are reported."""
    starters = _starters(threads, world, report)
    if not any(cell.moment for cell in world.hidden.values()) or report.failed:
        return tuple(threads)
    return tuple(_Lifetime(each, world, report, _left_out(threads, starters)).thread() for each in threads)


def _starters(threads: Iterable[cfg.Thread], world: ProgramNames, report: Reporter) -> dict[str, str]:
    """Return by which thread each one is started that is, after checking that it is so once and that one of all begins."""
    found: dict[str, str] = {}
    for thread in threads:
        for name, spans in _starts(thread, world).items():
            for span in spans[: 2 if name in found else 0]:
                report.error("RR441", span, f"thread {quote(name)} is started by thread {found[name]}, too")
            found.setdefault(name, thread.name)
            for span in _again(thread, world.moment_cell("start", name)):
                message = f"thread {quote(name)} may have been started before when {thread.name} comes here"
                report.error("RR441", span, message, hint="a thread runs once; `for i in 1..3 { start T[i] }` starts three")
    for name, starter in found.items():
        begins, seen = starter, {name}
        while begins in found and begins not in seen:
            seen.add(begins)
            begins = found[begins]
        if begins in seen:
            span = world.threads[starter].starts[name][0]
            report.error("RR442", span, f"thread {quote(name)} never begins: {starter} waits to be started because of it")
    return found


def _starts(thread: cfg.Thread, world: ProgramNames) -> Mapping[str, list[Span]]:
    named = world.threads.get(thread.name)
    return {} if named is None else named.starts


def _again(thread: cfg.Thread, word: cfg.Cell) -> Iterator[Span]:
    """Yield where a thread can come to a `start` when it has been at one of the same thread."""
    following = thread.following
    made = [(source, target, step.span) for source, target, step in thread.edges if _stores(step, word)]
    behind = reachable([target for _, target, _ in made], following)
    yield from dict.fromkeys(span for source, _, span in made if source in behind)


def _stores(step: cfg.Step, word: cfg.Cell) -> bool:
    return isinstance(step.op, cfg.Rmw) and step.op.cell == word


def _left_out(threads: Iterable[cfg.Thread], starters: Mapping[str, str]) -> frozenset[str]:
    """Return the threads of which one may end without having started it."""
    by_name = {thread.name: thread for thread in threads}

    def may_miss(name: str) -> bool:
        thread = by_name[starters[name]]
        others = {point: set[int]() for point in thread.points}
        for source, target, step in thread.edges:
            if not (isinstance(step.op, cfg.Rmw) and step.op.cell.moment and step.op.cell.name == f"start of {name}"):
                others[source].add(target)
        return thread.exit in reachable([thread.entry], others)

    found = {name for name in starters if may_miss(name)}
    while more := {name for name, starter in starters.items() if starter in found} - found:
        found |= more
    return frozenset(found)


@dataclass(frozen=True, slots=True)
class _Lifetime:
    """A thread and what it begins and ends with; of those `left_out` one may end without having started them."""

    written: cfg.Thread
    world: ProgramNames
    report: Reporter
    left_out: frozenset[str]

    def thread(self) -> cfg.Thread:
        """Return the thread with what is before its first statement and behind its last one; as it is without any."""
        written, name = self.written, self.written.name
        ended = self._word("end")
        first = [] if ended is None else [self._at_end(cfg.Rmw(ended, HAPPENED), f"end of {name}")]
        missed = sorted(self.left_out.intersection(_starts(written, self.world)))
        words = {other: self.world.moment_cell("start", other) for other in missed}
        last = [self._at_end(cfg.Cas(word, _BEFORE, _NEVER), f"no start of {other}") for other, word in words.items()]
        free = max(written.points) + 1
        ends = [written.exit, *range(free, free + len(first) + len(last))]
        behind = [(ends[k], ends[k + 1], step) for k, step in enumerate([*first, *last])]
        points, edges = (*written.points, *ends[1:]), (*written.edges, *behind)
        begun = self._word("start")
        if begun is None:
            return replace(written, points=points, edges=edges, exit=ends[-1])
        entry = max(points) + 1
        span = self.report.at(self.world.threads[name].span)
        waits = cfg.Step(cfg.Read(begun), equals(VALUE, HAPPENED), span=span, text=f"start of {name}")
        before = [(entry, written.entry, waits)]
        if name in self.left_out:
            before.append((entry, ends[len(first)], replace(waits, guard=equals(VALUE, _NEVER))))
        return replace(written, points=(*points, entry), edges=(*before, *edges), entry=entry, exit=ends[-1])

    def _word(self, what: str) -> cfg.Cell | None:
        """Return the word of a moment of this thread, None if nothing asks for it."""
        return self.world.hidden.get((self.written.node, f"{what} of {self.written.name}"))

    def _at_end(self, op: cfg.Op, text: str) -> cfg.Step:
        """Return a step that stands where the thread ends in the text."""
        names = self.world.threads[self.written.name]
        span = names.span if names.body is None else names.body.span
        last = replace(span, line=span.end_line, column=max(span.end_column - 1, 1), start=max(span.end - 1, 0))
        return cfg.Step(op, span=self.report.at(last), text=text)
