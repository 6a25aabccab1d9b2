"""Repairs by the flags of requests: one that is signaled after all, or whose data is inline, so that its source is free.

A fenced request is one behind a remote fence, which the search for insertions has. Flags are no insertions, so nothing is
learnt about them: every set of at most MOST_FLAGS of them is tried, and for each the cheapest insertions are searched that
the program then still needs. That is exact: what costs less than the best one found is tried.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Final, Literal

from rdma_robust.analyses.repair.cheapest import Checker
from rdma_robust.analyses.repair.edits import SourceEdit, SourceText, apply_edits, one_edit, text_edits
from rdma_robust.analyses.repair.keeping import Deviation, HangComparison, where_of
from rdma_robust.analyses.repair.patch import unified
from rdma_robust.analyses.repair.repairs import Insertion, Repair, RepairSolution, Status, TextEdit
from rdma_robust.errors import ProgramError
from rdma_robust.language.load import load_decidable
from rdma_robust.language.syntax import ast
from rdma_robust.language.syntax.tree_limits import blocks_of
from rdma_robust.outcome import Verdict
from rdma_robust.text import lines_of

FLAG_COST: Final = 1
"""Of one flag: a completion more, or a copy by the CPU."""

MOST_FLAGS: Final = 2
MOST_CHANGES: Final = 16
"""Flags of a program up to which sets of them are tried: beyond, there are too many sets."""

TRIED: Final = f"and all sets of at most {MOST_FLAGS} requests that become signaled or inline"
NOT_TRIED: Final = f"flags of requests were not tried: more than {MOST_CHANGES} could change"
NOT_KNOWN: Final = "the cheapest found: what some flags of requests would do is not known"

Decide = Callable[[str, int | None], Repair]
"""The cheapest insertions for a text; with a number only if they cost less, else none are found."""


@dataclass(frozen=True, slots=True)
class FlagChange:
    """One flag: the edit that makes it, and the statement that it is about."""

    kind: Literal["signaled", "inline"]
    thread: str
    node: str
    statement: ast.Statement
    edit: SourceEdit


def flag_changes(text: str, file: str) -> tuple[FlagChange, ...]:
    """Return the flags that can change, outside of `for` and macros, in the order of the text. Raises ProgramError.

    None of a program whose requests have no flags and that sends no messages: it is repaired in the words that it has.
    """
    source = SourceText.of(text, file)
    if not any(_speaks_of_flags(s) for thread in source.threads for s in _statements(thread.body)):
        return ()
    nodes = {thread.name.text: thread.node.text for thread in source.threads}
    return tuple(
        change
        for thread in source.threads
        for statement in _statements(thread.body)
        for change in _of(text, thread.name.text, statement, nodes)
    )


def _statements(block: ast.Block) -> Iterator[ast.Statement]:
    for statement in block.statements:
        yield statement
        if not isinstance(statement, ast.For):
            for inner in blocks_of(statement):
                yield from _statements(inner)


def _speaks_of_flags(statement: ast.Statement) -> bool:
    match statement:
        case ast.PutStatement(flags=flags, imm=imm):
            return bool(flags) or imm is not None
        case ast.GetStatement(flags=flags) | ast.Call(flags=flags):
            return bool(flags)
        case _:
            return isinstance(statement, ast.SendStatement)


def _of(text: str, thread: str, statement: ast.Statement, nodes: dict[str, str]) -> Iterator[FlagChange]:
    if not isinstance(statement, ast.PutStatement | ast.GetStatement | ast.SendStatement | ast.Call):
        return
    node = _node_of(statement, nodes)
    words = {flag.word: flag for flag in statement.flags}
    if "unsignaled" in words:
        span = words["unsignaled"].span
        start = len(text[: span.start].rstrip(" \t"))
        yield FlagChange("signaled", thread, node, statement, SourceEdit(start, "", span.end - start))
    carries = isinstance(statement, ast.PutStatement | ast.SendStatement) and isinstance(statement.source, ast.Ref)
    if carries and "inline" not in words:
        yield FlagChange("inline", thread, node, statement, SourceEdit(statement.span.end, " inline"))


def _node_of(statement: ast.PutStatement | ast.GetStatement | ast.SendStatement | ast.Call, nodes: dict[str, str]) -> str:
    match statement:
        case ast.PutStatement(ast.Ref(ast.Ident(node))):
            return node
        case ast.SendStatement(to=ast.Ident(thread)):
            return nodes.get(thread, thread)
        case ast.GetStatement(_, ast.Ref(ast.Ident(node))):
            return node
        case ast.Call(call) | ast.GetStatement(_, call) if isinstance(call, ast.AtomicCall):
            return "" if call.target.owner is None else call.target.owner.text
        case _:
            return ""


def with_flags(text: str, file: str, base: Repair, decide: Decide, checker: Checker) -> Repair:
    """Return `base`, the cheapest repair by insertions, or a cheaper one that changes flags of requests as well.

    `decide` finds the cheapest insertions for a text; every answer of it is decided from its text. `checker` is what
    decides.
    """
    found = flag_changes(text, file) if base.status in ("repaired", "impossible") else ()
    if not found:
        return base
    if len(found) > MOST_CHANGES:
        status: Status = "unknown" if base.status == "impossible" else base.status
        return replace(base, status=status, reason=f"{base.reason}; {NOT_TRIED}", optimal=False, complete=False)
    work = _Work(text, file, decide, checker, checker.comparison(load_decidable(text, file)))
    best, cycles, known = base, base.cycles, True
    for size in range(1, MOST_FLAGS + 1):
        for chosen in combinations(found, size):
            if best.solutions and size * FLAG_COST >= best.cost:
                continue
            below = best.cost - size * FLAG_COST if best.solutions else None
            repaired = _tried(work, chosen, below)
            if repaired is None:
                continue
            cycles += repaired.cycles
            known = known and (repaired.status == "impossible" or repaired.optimal)
            if repaired.solutions and (not best.solutions or repaired.cost < best.cost):
                best = repaired
    scope = f"{base.scope}; {TRIED}"
    if not best.solutions:
        reason = base.reason.replace(base.scope, scope) if base.scope else base.reason
        return replace(base, reason=reason, scope=scope, cycles=cycles)
    optimal = known and (base.optimal or base.status == "impossible")
    reason = f"a cheapest repair among {scope}" if optimal else NOT_KNOWN if best.optimal else best.reason
    return replace(best, reason=reason, scope=scope, optimal=optimal, complete=False, cycles=cycles)


@dataclass(frozen=True)
class _Work:
    """The text and the searches that all flags of a program share."""

    text: str
    file: str
    decide: Decide
    checker: Checker
    comparison: HangComparison


def _tried(work: _Work, chosen: Sequence[FlagChange], below: int | None) -> Repair | None:
    """Return the repair with these flags and what they still need; None if the text is not one of the language any more."""
    text = work.text
    changed = [change.edit for change in chosen]
    flagged, _ = apply_edits(text, changed)
    try:
        repaired = work.decide(flagged, below)
    except ProgramError:
        return None
    if repaired.status in ("robust", "safe"):
        expecting = _expecting(SourceText.of(flagged, work.file), work.checker)
        solution = RepairSolution((), 0, (), apply_edits(flagged, expecting)[0], "", edits=text_edits(flagged, expecting))
    elif repaired.solutions:
        solution = repaired.solutions[0]
    else:
        return repaired
    inserted, flagging = where_of(solution.edits), where_of(changed)

    def where(offset: int) -> int | None:
        there = inserted(offset)
        return None if there is None else flagging(there)

    hangs = work.comparison.hangs(solution.patched, where, None)
    if isinstance(hangs, Deviation):
        return replace(repaired, status="unknown", solutions=(), optimal=False)
    solution = replace(solution, hangs=hangs)
    flags = tuple(_shown(change, text, flagged, solution.edits) for change in chosen)
    whole = replace(
        solution,
        insertions=tuple(sorted((*flags, *solution.insertions), key=lambda each: each.line)),
        cost=solution.cost + FLAG_COST * len(flags),
        diff=unified(text, solution.patched, work.file),
        edits=(one_edit(text, solution.patched),),
    )
    return replace(repaired, status="repaired", solutions=(whole,), optimal=repaired.optimal)


def _expecting(source: SourceText, checker: Checker) -> list[SourceEdit]:
    """Return the edits after which lines expect what is true of a text that is as it should be."""
    if checker.fine == "robust":
        return source.expect_robust()
    expecting = source.expect_robust()
    robust = expecting and checker.check(source.text).verdict is Verdict.ROBUST
    return [*source.expect_safe("rdma"), *(expecting if robust else ())]


def _shown(change: FlagChange, text: str, flagged: str, later: Sequence[TextEdit]) -> Insertion:
    """The changed request as it stands in the patched text: `later` are the edits of the flagged one."""
    start = change.statement.span.start
    line = text.count("\n", 0, start)
    words = lines_of(flagged)[line].strip().rstrip(";")
    before = [edit for edit in later if edit.line <= line + 1 and edit.offset <= start]
    line += sum(edit.text.count("\n") - (edit.end_line - edit.line) for edit in before)
    return Insertion(change.kind, change.thread, change.node, line + 1, (words,), FLAG_COST)
