"""Repairing a program: the way in from text to answer."""

from __future__ import annotations

import time
from contextlib import suppress
from dataclasses import replace
from typing import Final

from rdma_robust.analyses.repair.anyhow import any_solution
from rdma_robust.analyses.repair.cheapest import Checker, PatchedSolution, RepairSearch, checker_of
from rdma_robust.analyses.repair.crowd_repairs import CrowdRepair
from rdma_robust.analyses.repair.each_copy import EachCopy, as_written, has_families, outside_of_copies
from rdma_robust.analyses.repair.hitting import OutOfTimeError
from rdma_robust.analyses.repair.keeping import Deviation, where_of
from rdma_robust.analyses.repair.needless import own_polls
from rdma_robust.analyses.repair.patch import Patcher
from rdma_robust.analyses.repair.repairs import (
    MOST_COPIES,
    MOST_UNBOUNDED,
    Barrier,
    Repair,
    RepairOptions,
    RepairSolution,
    Status,
)
from rdma_robust.analyses.repair.request_flags import with_flags
from rdma_robust.analyses.repair.sites import AutomataSource, Sites
from rdma_robust.errors import LimitReached, UsageError
from rdma_robust.language.flow.cfg import NAMELESS, Program, RemoteRmw, Thread, on_lane
from rdma_robust.language.flow.spinning import blocking, spin_assumed
from rdma_robust.language.load import has_text, is_c, is_trencher, load_decidable, refuse_c, refuse_edits
from rdma_robust.model import Model
from rdma_robust.options import CheckOptions
from rdma_robust.outcome import Verdict, Witness
from rdma_robust.robustness.decide import values_left
from rdma_robust.robustness.searched_orders import not_searched, takes_any_receive
from rdma_robust.semantics.trace import Event, EventType, Trace
from rdma_robust.text import count


def repair(
    text: str,
    file: str,
    options: RepairOptions | None = None,
    limits: CheckOptions | None = None,
    checking: type[Checker] = Checker,
) -> Repair:
    """Return a cheapest set of insertions that makes the program in `text` robust; `file` names it in messages and the diff.

    With others, that are `checking` for something else, it is a cheapest set that these find good.
    `limits` are the options of every check (its limits count for each one), `options.timeout` limits everything together.
    Every solution was decided again from its patched text, and none makes a poll wait forever (`counting`). The answer is
    plain data. Raises ProgramError for a bad program, SizeLimitError for one too large to be marked, and
    UsageError for a model without a proven normal form.
    """
    started = time.monotonic()
    try:
        return _repaired(text, file, options or RepairOptions(), limits or CheckOptions(), checking)
    except LimitReached as reached:
        return Repair("unknown", str(reached), time_s=time.monotonic() - started)


def _repaired(text: str, file: str, options: RepairOptions, limits: CheckOptions, checking: type[Checker]) -> Repair:
    """Return what `repair` does. Raises LimitReached too."""
    if is_c(text, file):
        return _of_c(text, file, options, limits, checking)
    refuse_edits(text, file)
    started = time.monotonic()
    for_robust = checking.fine == "robust"
    program = load_decidable(text, file, crowds=for_robust)
    limits = limits.on(program.hardware)
    models = options.models(limits.model)
    if why := next(filter(None, (not_searched(program, model) for model in models)), ""):
        raise UsageError(f"what polls and fences keep in order is not known here: {why}")
    if program.crowds:
        return CrowdRepair(text, file, options, limits, lambda other, o: repair(other, file, o, limits), started).run()
    deadline = None if options.timeout is None else started + options.timeout
    checker = checker_of(checking, file, limits, options, deadline)
    found = _searched(text, file, options, checker)
    if not options.all_minimal and not is_trencher(text, file) and not has_families(text, file) and found.scope:
        found = with_flags(text, file, found, lambda other, below: _searched(other, file, options, checker, below), checker)
    if found.status == "impossible" and for_robust:
        found = replace(found, reason=found.reason + _where_atomics_are_glob(load_decidable(text, file), checker))
    other = next((model for model in models if not replace(model, cpu="sc", atomics="hca").is_of_paper), None)
    if found.scope and (not program.plain or other is not None):
        found = _not_compared(found, other or limits.model, program)
    if found.status == "unknown" and any(takes_any_receive(program, model) for model in models):
        found = replace(found, reason=found.reason + _ONE_AT_A_TIME)
    if for_robust and any(model.order == "relaxed" for model in models) and found.status != "robust":
        found = replace(found, reason="; ".join(filter(None, (found.reason, _immediate(text, checker)))))
    found = replace(found, checked=checker.checked, time_s=time.monotonic() - started)
    return outside_of_copies(found, text, file)


_ONE_AT_A_TIME: Final = (
    "; a message may take any posted receive, and where several are posted all along no insertion changes that: "
    "post one buffer of a connection at a time"
)


def _of_c(text: str, file: str, options: RepairOptions, limits: CheckOptions, checking: type[Checker]) -> Repair:
    """Return a repair in C. Raises UsageError for what is only answered about the language."""
    from rdma_robust.analyses.repair.in_c.c_repair import repair_c  # noqa: PLC0415 - few programs are C

    if checking.fine != "robust":
        refuse_c(text, file)
    return repair_c(text, file, options, limits)


def _not_compared(repair: Repair, model: Model, program: Program) -> Repair:
    """Return the answer without what only the default order is known for: which sets of insertions are no better."""
    special = "memory behind a NIC" if program.memories else "relaxed regions" if program.has_regions else ""
    where = f"with {special}" if special else f"under order {model.order_name}"
    about = f"{where} sets that were left out may do as well"
    if repair.status == "impossible":
        reason = f"none was found; {about}{_loopback(program)}"
        return replace(repair, status="unknown", reason=reason, optimal=False, complete=False)
    if repair.status == "repaired":
        return replace(repair, reason=f"the cheapest found; {about}", optimal=False, complete=False)
    return repair


def _loopback(program: Program) -> str:
    """Who could land what was issued to a memory behind its own card, if it may have a queue pair to that."""
    reading = [(t.name, via, memory) for memory, via in program.behind for t in program.threads if t.node == via]
    if program.allow_loopback or not reading:
        return ""
    thread, card, memory = reading[0]
    return f"; with `allow loopback` {thread} on {card} could flush {memory} by a read through its own NIC"


def repair_program(program: Program, options: RepairOptions | None = None, limits: CheckOptions | None = None) -> Repair:
    """Return a cheapest repair of `program`, see :func:`repair`.

    A repair is an edit of the text. Raises UsageError for a program whose source does not do what the program does.
    """
    if not has_text(program):
        raise UsageError(
            f"{program.file}: a repair edits the text of a program, and this one was not read from its source; "
            "`explain` says which order is missing"
        )
    return repair(program.source, program.file, options, limits)


def _searched(text: str, file: str, options: RepairOptions, checker: Checker, below: int | None = None) -> Repair:
    """Return the cheapest insertions for a text; none, if `below` is given, that do not cost less."""
    if is_trencher(text, file) and checker.options.model.cpu != "tso":
        raise UsageError("a program of Trencher is repaired by `mfence`s, which do nothing under `cpu sc`")
    loops = checker.options.await_loops
    copies = EachCopy.of(text, file, await_loops=loops)
    sites = Sites.of(copies.written if copies else text, file, await_loops=loops, models=checker.models)
    first = checker.judge(sites.source.text)
    if first.good is not False:
        return Repair(checker.fine if first.good else "unknown", first.reason, optimal=bool(first.good), checked=1)
    if first.lasting:
        return Repair("impossible", first.reason, complete=True, checked=1)
    if unfollowed := values_left(sites.program):
        return Repair("unknown", f"{_unproven(checker)}: {unfollowed}", checked=1)
    search = RepairSearch(sites, checker, options, checker.comparison(sites.program), copies, below=below)
    try:
        search.run(first)
    except LimitReached:
        search.exact = False
    if search.hopeless:
        return Repair("unknown", f"{_unproven(checker)}: {search.hopeless}", cycles=search.cycles)
    if copies is not None:
        return _in_families(copies, search, options)
    if not search.found and not (search.exhausted and search.exact):
        with suppress(OutOfTimeError, LimitReached):
            any_solution(search)
    return _answer(search, options, first.violation)


def _unproven(checker: Checker) -> str:
    return f"not {checker.fine}, but no repair can be proven"


def _in_families(copies: EachCopy, search: RepairSearch, options: RepairOptions) -> Repair:
    """Return the answer with what was found put into the text of the families, and decided again from there."""
    patcher = Patcher(as_written(copies, search.sites), robust=search.patcher.robust, safe=search.patcher.safe)
    comparison = search.checker.comparison(blocking(copies.program, search.checker.options.await_loops))
    solutions = []
    for found in search.found:
        assert search.ties is not None
        chosen = search.ties.of(found.chosen)
        patch = patcher.patch(chosen)
        if search.checker.judge(patch.text).good:
            hangs = comparison.hangs(patch.text, where_of(patch.edits), search.checker.deadline)
            if not isinstance(hangs, Deviation):
                solutions.append(replace(patcher.solution(patch, options.costs), hangs=hangs))
    known = search.exhausted and search.exact
    cheapest = search.cheapest and len(solutions) == len(search.found)
    status: Status = "repaired" if solutions else "impossible" if known and not search.found else "unknown"
    return Repair(
        status,
        _reason(search, tuple(solutions), ""),
        tuple(solutions),
        cheapest,
        known and status != "unknown",
        search.checker.checked,
        search.cycles,
        scope=_scope(search),
    )


IN_FAMILIES: Final = "what goes into a family goes into each of its threads, towards nodes as the family names them"


def _answer(search: RepairSearch, options: RepairOptions, violation: str) -> Repair:
    found = {f.patch.text: f for f in reversed(search.found)}  # some insertions are the same text as others
    solutions = tuple(_solution(search, f, options) for f in search.found if found[f.patch.text] is f)
    if solutions:
        patch = search.found[0].patch
        alone = isinstance(search.sites.source, AutomataSource) or search.checker.fine == "safe"
        spare = () if alone else own_polls(patch.text, patch.new, search.checker, options)
        solutions = (replace(solutions[0], spare=spare), *solutions[1:])
    known = search.exhausted and search.exact
    status: Status = "repaired" if solutions else "impossible" if known else "unknown"
    return Repair(
        status,
        _reason(search, solutions, violation),
        solutions,
        search.cheapest,
        known,
        search.checker.checked,
        search.cycles,
        scope=_scope(search),
    )


def _solution(search: RepairSearch, found: PatchedSolution, options: RepairOptions) -> RepairSolution:
    """Return what was found as a report shows it. If it happens to be robust, its text expects that it is."""
    patcher, patch = search.patcher, found.patch
    expecting = not patcher.robust and search.sites.source.expect_robust()
    if expecting and search.checker.check(patch.text).verdict is Verdict.ROBUST:
        patcher = Patcher(search.sites, safe=True)
        patch = patcher.patch(found.chosen)
    return replace(patcher.solution(patch, options.costs), hangs=found.hangs)


SCOPE: Final = (
    "all sets of polls, remote fences, and gets between locations that nothing else touches, between any two statements; of "
    f"each at most {MOST_COPIES} at one place for one queue pair, with at most two polls more than are outstanding there "
    f"({MOST_UNBOUNDED} polls where that has no bound) and one get more than polls follow; none that lets a thread wait "
    "forever where it did not, or do otherwise than before"
)
"""Which sets of insertions a repair is a cheapest of, in words."""


def _scope(search: RepairSearch) -> str:
    """Which sets of insertions a repair is a cheapest of, in words."""
    if isinstance(search.sites.source, AutomataSource):
        return "all sets of `mfence`s at states of threads that have nothing locked"
    more = (kind.value for kind in (Barrier.MFENCE, Barrier.FLUSH, Barrier.ORDER) if kind in search.sites.more)
    fences = "".join(f"; with `{word}`s between any two statements as well" for word in more)
    return SCOPE + fences + (f"; {IN_FAMILIES}" if search.copies is not None else "")


def _reason(search: RepairSearch, solutions: tuple[RepairSolution, ...], violation: str) -> str:
    if search.cheapest:
        return f"a cheapest repair among {_scope(search)}"
    undecided = f"; {count(search.undecided, 'set')} of insertions undecided" if search.undecided else ""
    if solutions and search.least < solutions[0].cost and not search.undecided:
        known = f" that cost {search.least} or more" if search.least else ""
        return f"the cheapest found: sets cheaper than {solutions[0].cost}{known} were not all tried"
    if solutions:
        return f"the cheapest found: of some sets that cost less it is not known whether they will do{undecided}"
    if search.exhausted and search.exact:
        found = f"; the first violation found: {violation}" if violation else ""
        return f"no set makes it {search.checker.fine} among {_scope(search)}{found}"
    if search.exhausted and search.undecided:
        return f"none was found, and of {count(search.undecided, 'set')} of insertions it is not known whether they will do"
    return "a limit came before a repair was found"


def _where_atomics_are_glob(program: Program, checker: Checker) -> str:
    """What no insertion mends, if that is that remote atomics do not exclude the CPU."""
    if checker.options.model.atomics == "glob" or not any(map(_uses_remote_atomics, program.threads)):
        return ""
    exclusive = (checker.decide(program, replace(model, atomics="glob")) for model in checker.models)
    if any(outcome.verdict is not Verdict.ROBUST for outcome in exclusive):
        return ""
    return "; under `atomics glob` it is robust: the NIC's atomics do not exclude other accesses under `atomics hca`"


def _immediate(text: str, checker: Checker) -> str:
    """What would order two puts of a violation without waiting, if that is all."""
    program = spin_assumed(load_decidable(text, checker.file), checker.options.await_loops)
    outcome = checker.decide(program)
    return "" if outcome.witness is None else immediate_for(program, outcome.witness, outcome.model)


def _uses_remote_atomics(thread: Thread) -> bool:
    """Return whether a thread posts a remote read-modify-write."""
    return any(isinstance(step.op, RemoteRmw) for _, _, step in thread.edges)


def immediate_for(program: Program, witness: Witness, model: Model) -> str:
    """Return which two puts of a violation only a flush orders, and what does without one; nothing if there are none."""
    if model.order != "relaxed":
        return ""
    puts = [(a, put) for a, b in witness.relaxed if a.type is EventType.NRW and (put := _put_behind(b, witness.trace))]
    if not puts:
        return ""
    earlier, later = min(puts, key=lambda pair: (pair[0].remote != pair[1].remote, pair[0].position, pair[1].position))
    said = f"under order relaxed of all these only a flush orders two puts, as those of {_lines(earlier, later)}"
    lanes = dict(program.threads[later.thread].lanes)
    node = lanes.get(later.remote or "", later.remote)
    receivers = [thread.name for thread in program.threads if thread.node == node]
    if earlier.remote != later.remote or not receivers or later.step is None:
        return f"{said}; a receive completion tells of earlier puts of its queue pair only"
    sender, receiver = program.threads[later.thread].name, receivers[0]
    offered = f"`{later.step.text} imm 1 to {receiver}`" if later.peer is None else f"`{later.step.text}`"
    end = f"{sender}{on_lane(later.remote if later.remote in lanes else NAMELESS)}"
    waits = f"{receiver} waits for it with `rpoll {end}`, behind a buffer for it, `posted b from {end}`"
    return f"{said}; an immediate does without a round trip, {offered}; {waits}"


def _put_behind(event: Event, trace: Trace) -> Event | None:
    """Return the first put of a thread from an event on."""
    later = (e for e in trace.events if e.thread == event.thread and e.position >= event.position)
    puts = (e for e in later if e.type is EventType.NRW and e.step is not None)
    return min(puts, key=lambda e: e.position, default=None)


def _lines(earlier: Event, later: Event) -> str:
    lines = [event.step.span.where for event in (earlier, later) if event.step is not None]
    return f"lines {' and '.join(dict.fromkeys(lines))}" if len(set(lines)) > 1 else f"line {lines[0]}"
