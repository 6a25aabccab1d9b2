"""The dual of repair: polls, fences, flags of fenced requests and flushes that can go while the program stays robust.

A program from which instructions X are removed is one into which they can be inserted. So by the projection lemma
(`replay`), if it is robust without X then also without any part of X, as long as X are polls and fences: trying one after
the other, and keeping what can go, ends with a set to which nothing can be added. A get that nobody reads goes together
with a poll.

What is removed must not have kept a thread waiting, and must not make one wait: on every path of a thread, every poll
that is removed has something to take, and every poll that stays has something to take without X exactly if it has with X.
And it must not have decided between branches where what comes behind it may have to wait. Then both programs have the same
executions under sequential consistency, but for the removed instructions.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from rdma_robust.analyses.repair.cheapest import Checker, checker_of
from rdma_robust.analyses.repair.each_copy import as_declared
from rdma_robust.analyses.repair.edits import SourceEdit, SourceText, apply_edits, disjoint_edits, text_edits
from rdma_robust.analyses.repair.patch import WordUsage, unified
from rdma_robust.analyses.repair.repairs import Barrier, Insertion, Repair, RepairOptions, RepairSolution
from rdma_robust.diagnose import quote
from rdma_robust.errors import Diagnostic, LimitReached, Span, UsageError
from rdma_robust.expr import names
from rdma_robust.language.flow.cfg import Get, Op, Program, RFence, Step, Thread, peer_of, steps
from rdma_robust.language.flow.spinning import spin_assumed
from rdma_robust.language.load import is_trencher, load_decidable, refuse_edits
from rdma_robust.language.syntax import ast, printer
from rdma_robust.language.syntax.tree_limits import blocks_of
from rdma_robust.options import CheckOptions
from rdma_robust.outcome import Verdict
from rdma_robust.semantics.event_table import cells_written, completes_on, polls_of
from rdma_robust.semantics.machines.waiting_points import makes_choices

Removed = frozenset[int]
"""Statements, and the flags of fenced requests, by the offset where they begin."""


_Removable = ast.PollStatement | ast.RFenceStatement | ast.FlushStatement | ast.OrderStatement | ast.GetStatement | ast.Flag


@dataclass(frozen=True, slots=True)
class RemovablePart:
    """A statement, or the flag of a fenced request, that could go; `thread` is the one that has it, as it is written. `node`
    is that of its queue pair, or the family of that."""

    statement: _Removable
    thread: str
    node: str
    depth: int

    @property
    def at(self) -> int:
        return self.statement.span.start

    @property
    def kind(self) -> Barrier:
        match self.statement:
            case ast.PollStatement():
                return Barrier.POLL
            case ast.GetStatement():
                return Barrier.GET
            case ast.FlushStatement():
                return Barrier.FLUSH
            case ast.OrderStatement():
                return Barrier.ORDER
            case ast.RFenceStatement() | ast.Flag():
                return Barrier.RFENCE


def remove_needless(
    text: str,
    file: str,
    options: RepairOptions | None = None,
    limits: CheckOptions | None = None,
    within: Sequence[tuple[int, int]] | None = None,
) -> Repair:
    """Return a set of polls, fences, flushes and gets that nobody reads which can go, and to which nothing can be added.

    The most expensive are tried first. What is left was decided again from its text. `within` are half-open parts of the
    text: then only statements that begin there are looked at. Raises ProgramError.
    """
    started = time.monotonic()
    refuse_edits(text, file)
    if is_trencher(text, file):
        raise UsageError(
            "needless fences of Trencher's programs are not looked for: take them all out, and `repair` finds the fewest"
        )
    options, limits = options or RepairOptions(), limits or CheckOptions()
    deadline = None if options.timeout is None else started + options.timeout
    try:
        limits = limits.on(load_decidable(text, file).hardware)
        checker = checker_of(Checker, file, limits, options, deadline)
        found = _searched(text, options, checker, within)
    except LimitReached as reached:
        found = Repair("unknown", str(reached))
    return replace(found, time_s=time.monotonic() - started)


def own_polls(
    text: str, inserted: Sequence[tuple[int, int]], checker: Checker, options: RepairOptions
) -> tuple[Insertion, ...]:
    """Return polls of a repaired program that were not inserted and can go with a get that was.

    No repair is cheaper without removing statements of the program; with it, there may be one: the same poll, elsewhere.
    Empty too if a limit comes first.
    """
    program = spin_assumed(load_decidable(text, checker.file), checker.options.await_loops)
    source = SourceText.of(text, checker.file)
    parts = list(_parts(source, program))
    new = {p.at for p in parts if any(a <= p.at < b for a, b in inserted)}
    found = []
    for get in (p for p in parts if p.at in new and isinstance(p.statement, ast.GetStatement)):
        for poll in (p for p in parts if p.at not in new and isinstance(p.statement, ast.PollStatement)):
            gone = frozenset({get.at, poll.at})
            if (get.thread, get.node) != (poll.thread, poll.node) or not keeps_executions(program, gone):
                continue
            if not checker.late and checker.check(_without(source, parts, gone)).verdict is Verdict.ROBUST:
                found.append(poll)
    return tuple(_row(p, options) for p in sorted(set(found), key=lambda p: p.at))


def _searched(text: str, options: RepairOptions, checker: Checker, within: Sequence[tuple[int, int]] | None) -> Repair:
    program = spin_assumed(load_decidable(text, checker.file), checker.options.await_loops)
    first = checker.decide(program)
    if first.verdict is not Verdict.ROBUST:
        robustly = first.verdict is Verdict.NOT_ROBUST
        reason = "the program is not robust: repair it first" if robustly else first.reason
        return Repair("impossible" if robustly else "unknown", reason, checked=1)
    source = SourceText.of(text, checker.file)
    some = (p for p in _parts(source, program) if within is None or any(a <= p.at < b for a, b in within))
    parts = sorted(some, key=lambda p: (-_saves(p, options), p.at))
    gone, complete = _greatest(source, program, parts, checker)
    removed = tuple(p for p in sorted(parts, key=lambda p: p.at) if p.at in gone)
    reason = "nothing more can go without a violation, or a poll that waits or a choice that is made where it was not"
    if not complete:
        reason = "a limit came before it was known whether more can go"
    solutions = (_solution(source, program, removed, options),) if removed else ()
    return Repair("repaired" if removed else "robust", reason, solutions, complete, complete, checker.checked)


def _greatest(source: SourceText, program: Program, parts: list[RemovablePart], checker: Checker) -> tuple[Removed, bool]:
    """Return what can go, and whether that is known to be all: pass after pass, until one finds nothing."""
    gone: Removed = frozenset()
    changed, complete = True, True
    while changed:
        changed = False
        for unit in _units(parts):
            if gone & unit or not keeps_executions(program, gone | unit):
                continue
            if checker.late:
                return gone, False
            verdict = checker.check(_without(source, parts, gone | unit)).verdict
            complete &= verdict is not Verdict.UNKNOWN
            if verdict is Verdict.ROBUST:
                gone |= unit
                changed = True
        # A set of polls and fences alone is complete after one pass.
        changed &= any(isinstance(p.statement, ast.GetStatement) for p in parts)
    return gone, complete


def _units(parts: list[RemovablePart]) -> Iterator[Removed]:
    """Yield what to try at once: a poll, a fence, or a get with a poll of its queue pair or without."""
    for part in parts:
        if isinstance(part.statement, ast.GetStatement):
            polls = [
                p
                for p in parts
                if isinstance(p.statement, ast.PollStatement) and (p.thread, p.node) == (part.thread, part.node)
            ]
            for poll in sorted(polls, key=lambda p: (p.at < part.at, p.at)):
                yield frozenset({part.at, poll.at})
        yield frozenset({part.at})


def _without(source: SourceText, parts: list[RemovablePart], gone: Removed) -> str:
    return apply_edits(source.text, _removals(source, parts, gone))[0]


def _removals(source: SourceText, parts: list[RemovablePart], gone: Removed) -> list[SourceEdit]:
    return disjoint_edits([_removal(source, p) for p in parts if p.at in gone])


def _removal(source: SourceText, part: RemovablePart) -> SourceEdit:
    if not isinstance(part.statement, ast.Flag):
        return source.remove(part.statement)
    span = part.statement.span
    start = len(source.text[: span.start].rstrip(" \t"))
    return SourceEdit(start, "", span.end - start)


def keeps_executions(program: Program, gone: Removed) -> bool:
    """Whether removing `gone` neither lets a thread go on where it waited forever nor makes it wait where it went on.

    A statement may be one of several threads, those of a family.
    """
    return all(
        not makes_choices(thread, lambda step: _is_gone(step, gone))
        and all(_same_polls(thread, node, gone) for node in _touched(thread, gone))
        for thread in program.threads
    )


def _is_gone(step: Step, gone: Removed) -> bool:
    """Whether a step is one of a removed statement, or the fence of a request whose flag is removed."""
    start = step.span.start
    return start in gone or (isinstance(step.op, RFence) and any(start < at < step.span.end for at in gone))


def _touched(thread: Thread, gone: Removed) -> set[str]:
    """Return the nodes of the queue pairs of a thread of whose operations and polls some are `gone`."""
    ops = [step.op for _, _, step in steps(thread) if step.span.start in gone]
    return {node for op in ops for node in (polls_of(op), completes_on(op)) if node is not None}


def _same_polls(thread: Thread, node: str, gone: Removed) -> bool:
    """Follow all paths by states (point, outstanding with what is gone, how many more without it), values ignored."""
    edges = steps(thread)
    out: dict[int, list[tuple[int, bool, int]]] = {}
    for source, target, step in edges:
        change = -1 if polls_of(step.op) == node else int(completes_on(step.op) == node)
        out.setdefault(source, []).append((target, step.span.start in gone, change))
    many = 1 + sum(change != 0 for each in out.values() for _, _, change in each)
    start = (thread.entry, 0, 0)
    seen, todo = {start}, [start]
    while todo:
        point, have, more = todo.pop()
        for target, removed, change in out.get(point, ()):
            if change < 0 and (have == 0 if removed else (have > 0) != (have + more > 0)):
                return False
            if change < 0 and have == 0:
                continue
            after = max(-many, min(many, more - change)) if removed else more
            counts = (many - 1, many) if change < 0 and have == many else (min(have + change, many),)
            for now in counts:
                state = (target, now, after)
                if state not in seen:
                    seen.add(state)
                    todo.append(state)
    return True


def _parts(source: SourceText, program: Program) -> Iterator[RemovablePart]:
    unread = _unread(program)
    fences = {at: (peer_of(op) or "").partition("[")[0] for at, op in _ops(program) if isinstance(op, RFence)}
    for thread in source.threads:
        yield from _parts_in(thread.body, as_declared(thread), 0, unread, fences)


def _parts_in(
    block: ast.Block, thread: str, depth: int, unread: Mapping[int, str], fences: Mapping[int, str]
) -> Iterator[RemovablePart]:
    """Yield what could go of a block: `unread` are the gets that nobody reads and `fences` all fences, those of fenced
    requests too, by where they begin, with their nodes."""
    labelled = False
    for statement in block.statements:
        free, labelled = not labelled, isinstance(statement, ast.LabelStatement)
        at = statement.span.start
        if isinstance(statement, ast.PutStatement | ast.GetStatement | ast.SendStatement):
            fenced = (flag for flag in statement.flags if flag.word == "fenced" and at in fences)
            yield from (RemovablePart(flag, thread, fences[at], depth) for flag in fenced)
        match statement:
            case (
                ast.PollStatement(node) | ast.RFenceStatement(node) | ast.FlushStatement(node) | ast.OrderStatement(node)
            ) if free:
                yield RemovablePart(statement, thread, node.text, depth)
            case ast.GetStatement() if free and at in unread:
                yield RemovablePart(statement, thread, unread[at].partition("[")[0], depth)
            case _:
                inner = depth + isinstance(statement, ast.While | ast.Loop)
                for inside in blocks_of(statement):
                    yield from _parts_in(inside, thread, inner, unread, fences)


def _ops(program: Program) -> list[tuple[int, Op]]:
    """Return the operations of a program, with where their statements begin."""
    return [(step.span.start, step.op) for thread in program.threads for _, _, step in steps(thread)]


def _unread(program: Program) -> dict[int, str]:
    """Return the gets into words that nothing but gets ever touches, by where they begin, with the node they read from."""
    ops = _ops(program)
    conditions = [line.condition for line in program.outcomes] + [line.condition for line in program.invariants]
    asked = {name for condition in conditions for name in names(condition)}
    usage = WordUsage(program)
    kept = usage.read | {str(c) for _, op in ops if not isinstance(op, Get) for c in cells_written(op)} | asked
    found: dict[int, str] = {}
    spoilt: set[int] = set()
    for at, op in ops:
        if isinstance(op, Get):
            found[at] = peer_of(op) or ""
            spoilt |= {at} if str(op.target) in kept else set()
    return {at: node for at, node in found.items() if at not in spoilt}


def _saves(part: RemovablePart, options: RepairOptions) -> int:
    return options.costs.of(part.kind, part.depth)


def _solution(
    source: SourceText, program: Program, removed: tuple[RemovablePart, ...], options: RepairOptions
) -> RepairSolution:
    removals = _removals(source, list(removed), frozenset(p.at for p in removed))
    patched = apply_edits(source.text, removals)[0]
    rows = [_row(part, options) for part in removed]
    diff = unified(source.text, patched, program.file)
    edits = text_edits(source.text, removals)
    return RepairSolution((), sum(r.cost for r in rows), (), patched, diff, tuple(rows), edits)


def _row(part: RemovablePart, options: RepairOptions) -> Insertion:
    statement = part.statement
    shown = statement.word if isinstance(statement, ast.Flag) else printer.statement(statement)
    kind = shown if isinstance(statement, ast.Flag) else part.kind.value
    return Insertion(kind, part.thread, part.node, statement.span.line, (shown,), _saves(part, options))


def needless_statements(text: str, file: str, options: RepairOptions, limits: CheckOptions) -> tuple[Diagnostic, ...]:
    """Return the polls, fences and gets that a robust program does not need, all of which can go together.

    Nothing is said of programs that are not robust or were not decided within the limits. Raises ProgramError.
    """
    found = remove_needless(text, file, options, limits).removed
    return tuple(
        Diagnostic(
            "warning",
            "RR727",
            f"{quote(part.lines[0])} is not needed: without it the program is robust, too",
            _place(text, file, part.line, part.lines[0]),
            hint="`rdma-robust repair --remove-needless` takes out all that is not needed",
        )
        for part in found
    )


def _place(text: str, file: str, line: int, statement: str) -> Span:
    """Return where a statement is in its line, the first column that is not blank if it is written otherwise there."""
    lines = text.split("\n")
    written = lines[line - 1]
    column = max(written.find(statement), 0) or len(written) - len(written.lstrip())
    start = sum(len(each) + 1 for each in lines[: line - 1]) + column
    width = len(statement) if written[column:].startswith(statement) else 1
    return Span(line, column + 1, line, column + 1 + width, start, start + width, file)
