"""From an outcome to its explanation.

Explanations of programs with crowds: by a program with so many copies, and what of it holds for any number.

A violation is one of P(n), and is explained there. Where none is known, the pairs are those of P(2): what a thread reorders
and what keeps its orders does not depend on others, and who races on a word is known from two copies of each template. That
no cycle closes is said of P(2) only, so of other pairs nothing is taken over but what the search for any number has shown.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from itertools import combinations
from typing import TypeVar

from rdma_robust.analyses.explain.explanation import (
    Condition,
    CycleStep,
    Explanation,
    FaultNote,
    FinalStates,
    Graph,
    LineMark,
    Pair,
    Timeline,
    VerdictWord,
)
from rdma_robust.analyses.explain.pairs import explained_pairs
from rdma_robust.analyses.explain.schedule import machine_run
from rdma_robust.analyses.explain.story import headline, paragraphs
from rdma_robust.analyses.explain.timeline import graph, timeline
from rdma_robust.diagnose import listing
from rdma_robust.errors import UsageError
from rdma_robust.guard import found_within
from rdma_robust.language.flow.cfg import Program
from rdma_robust.language.flow.copies import copies_of
from rdma_robust.language.flow.send_queues import needed_slots, slots_text
from rdma_robust.limits import Limits
from rdma_robust.model import Model
from rdma_robust.options import CheckOptions
from rdma_robust.outcome import Counts, Outcome, Verdict, Witness
from rdma_robust.robustness.crowds.numbers_said import copies
from rdma_robust.robustness.decide import decide
from rdma_robust.robustness.searched_orders import not_searched
from rdma_robust.semantics.machines.machine import FinalState
from rdma_robust.semantics.machines.outcomes import OutcomesReport, explore_outcomes
from rdma_robust.semantics.trace import Event
from rdma_robust.semantics.values import is_loop_free
from rdma_robust.semantics.wording import Words

_SHOWN = 2
"""Copies with which pairs are looked at: as many as can race with each other."""


def explicit_outcome(outcome: Outcome) -> Outcome:
    """Return the outcome as one of a program with a number of copies: that of the counterexample, if there is one."""
    program = outcome.program
    if not program.crowds:
        return outcome
    explicit = outcome.copies.program if outcome.copies else copies_of(program, dict.fromkeys(_names(program), _SHOWN))
    return replace(outcome, program=explicit, copies=None)


def of_templates(pairs: Sequence[Pair], outcome: Outcome) -> tuple[Pair, ...]:
    """Return the pairs of templates, each template once, and of the named threads; `outcome` is of the crowd."""
    program = outcome.program
    if not program.crowds:
        return tuple(pairs)
    first = {f"{name}[1]": name for name in _names(program)}
    others = {f"{name}[{k}]" for name in _names(program) for k in range(2, _SHOWN + 1)}
    return tuple(
        _of_any(replace(pair, thread=first.get(pair.thread, pair.thread)), outcome.verdict, program)
        for pair in pairs
        if pair.thread not in others
    )


def copies_text(outcome: Outcome) -> str:
    """Return the sentences about the number of copies; nothing without templates."""
    program = outcome.program
    if not program.crowds:
        return ""
    templates = listing((f"`{name}`" for name in _names(program)), "and")
    any_number = f"There can be any number of copies of {templates}."
    if outcome.verdict is Verdict.ROBUST:
        return f"{any_number} It is {outcome.reason}."
    if outcome.copies is None:
        return any_number
    some = (copies(number, f"`{name}`") for name, number in outcome.copies.numbers if number)
    found = listing(some, "and") or "no copy"
    least = "fewer copies in all are not enough" if outcome.copies.least else "fewer may be enough as well"
    return f"{any_number} What follows is a run with {found}; {least}, and with more it is possible, too."


def _names(program: Program) -> list[str]:
    return [thread.name for thread in program.crowds]


def _of_any(pair: Pair, verdict: Verdict, program: Program) -> Pair:
    """Return a pair of P(2) with what holds of it for any number, in the names of the program."""
    for node in program.many_nodes:
        own = f"{node}[1]"
        earlier, later = (
            replace(each, cell=each.cell.replace(own, node), text=each.text.replace(own, node))
            for each in (pair.earlier, pair.later)
        )
        pair = replace(pair, earlier=earlier, later=later, reason=pair.reason.replace(own, node))
    if pair.why in ("no-cycle", "filter", "search"):
        if verdict is Verdict.ROBUST:
            return replace(pair, why="search", reason="conflicts lead back, but no cycle closes for any number of copies")
        return replace(pair, why="open", reason="conflicts may lead back, so a cycle may close with some number of copies")
    return pair


STATES = 100_000
"""States of each machine that are searched for final states, unless told otherwise; for programs with loops a tenth."""

Found = TypeVar("Found")

WORDS: dict[Verdict, VerdictWord] = {
    Verdict.ROBUST: "robust",
    Verdict.NOT_ROBUST: "not-robust",
    Verdict.UNKNOWN: "unknown",
}


def explanation(
    outcome: Outcome, options: CheckOptions, limits: Limits | None = None, *, final_state_limit: int = STATES
) -> Explanation:
    """Return why `outcome`, decided with `options`, is what it is.

    Of each machine at most `final_state_limit` states are searched for final states (a tenth for programs with loops; 0: the
    final states are not compared). All of it takes as long as `limits` say, else as `options.timeout` does; what that leaves
    out, the last paragraphs say. Raises InternalError if the machine cannot run the witness.
    """
    limits = Limits.of(options.timeout, None, options.memory) if limits is None else limits
    left = list(outcome.left_out)
    crowd, outcome = outcome, explicit_outcome(outcome)
    program, witness = outcome.program, outcome.witness
    options = options.on(program.hardware)
    run, drawn, found, complete, finals = _parts(outcome, options, final_state_limit, limits, left)
    pairs = found if witness is not None else of_templates(found, crowd)
    told = [copies_text(crowd), *paragraphs(outcome, run, finals, pairs, complete)]
    told += _more(crowd, outcome, options, limits, left)
    words = Words(program)
    edges = () if witness is None else witness.cycle.edges
    return Explanation(
        file=program.file,
        program=program.name,
        source=program.source,
        verdict=WORDS[outcome.verdict],
        reason=outcome.reason,
        headline=headline(outcome),
        paragraphs=tuple(filter(None, told)),
        ordered_reads=options.model.ordered_reads,
        model=options.model,
        instrumentation=outcome.instrumentation,
        engine=outcome.engine,
        states=outcome.counts.states,
        transitions=outcome.counts.transitions,
        pivots=outcome.counts.pivots,
        spin_only=outcome.spin_only,
        checked_by=outcome.checked_by,
        faults=tuple(FaultNote(f.kind, f.message, f.span.line) for f in outcome.faults),
        faults_exact=outcome.faults_exact,
        lines=line_marks(outcome, words, pairs),
        cycle=tuple(
            CycleStep(e.source.index, e.relation, e.target.index, words.edge(e.source, e.relation, e.target)) for e in edges
        ),
        timeline=run,
        graph=drawn,
        final_states=finals,
        pairs=pairs,
        pairs_complete=complete,
    )


def _more(crowd: Outcome, outcome: Outcome, options: CheckOptions, limits: Limits, left: list[str]) -> list[str]:
    """Return the last paragraphs: what would help, what send queues need, and what is left out."""
    glob = _told(
        "whether `atomics glob` would help", partial(_under_glob, outcome, options, limits), "", limits.share(0.3), left
    )
    return [glob, slots_text(needed_slots(crowd.program.threads)), *(f"Left out: {each}." for each in left)]


def undecided_outcome(program: Program, options: CheckOptions, reason: str) -> Outcome:
    """Return the outcome of a search that was stopped from outside, so that what is known can be told."""
    return Outcome(program, Verdict.UNKNOWN, reason, options.instrumentation, options.engine, Counts(), 0.0)


def _parts(
    outcome: Outcome, options: CheckOptions, most: int, limits: Limits, left: list[str]
) -> tuple[Timeline | None, Graph | None, tuple[Pair, ...], bool, FinalStates]:
    """Return the run, its drawing, the pairs and whether these are all, the final states; add what is left out to `left`."""
    program, witness = outcome.program, outcome.witness
    run = drawn = None
    if witness is not None:
        run = _told("the run step by step", partial(_timeline, program, witness, options.model), None, limits, left)
        drawn = _told("the drawing", partial(graph, program, witness, options.model), None, limits, left)
    none: tuple[tuple[Pair, ...], bool] = ((), False)
    look = partial(explained_pairs, outcome, options)
    why = not_searched(program, options.model)
    if why:
        left.append(f"which pairs keep their order: {why}")
    pairs, complete = none if why else _told("which pairs keep their order", look, none, limits.share(0.5), left)
    compare = partial(_finals, outcome, options, most, limits)
    finals = _told("which final states are new", compare, not_asked("it was left out"), limits, left)
    return run, drawn, pairs, complete, finals


def _told(what: str, work: Callable[[], Found], otherwise: Found, limits: Limits, left: list[str]) -> Found:
    """Return what `work` finds, else `otherwise`, and add to `left` that it was left out, and by which limit, or for want of
    a machine for the order."""

    def leave_out(why: str) -> Found:
        left.append(f"{what}: {why}")
        return otherwise

    try:
        return found_within(limits, work, leave_out)
    except UsageError as error:
        return leave_out(str(error))


def _under_glob(outcome: Outcome, options: CheckOptions, limits: Limits) -> str:
    """Return whether a program is robust where the atomics of cards exclude everything else, of one whose counterexample has
    something between the read and the write of one; nothing for others."""
    witness = outcome.witness
    if options.model.atomics == "glob" or witness is None or all(e.relation != "rmw" for e in witness.cycle.edges):
        return ""
    exclusive = replace(options, hardware=replace(options.model, atomics="glob"))
    match decide(outcome.program, exclusive, limits=limits.share(0.3)).verdict:
        case Verdict.ROBUST:
            return "Under `atomics glob` the program is robust."
        case Verdict.NOT_ROBUST:
            return "Under `atomics glob` the program is not robust either."
        case Verdict.UNKNOWN:
            return ""


def _timeline(program: Program, witness: Witness, model: Model) -> Timeline:
    return timeline(program, witness, machine_run(program, witness, model))


def _finals(outcome: Outcome, options: CheckOptions, limit: int, limits: Limits) -> FinalStates:
    if outcome.verdict is Verdict.ROBUST:
        return not_asked("a robust program reaches the same final states under both")
    if limit == 0:
        return not_asked("it was switched off")
    if outcome.verdict is Verdict.UNKNOWN and not is_loop_free(outcome.program):
        return not_asked("the program has loops and is undecided")
    return final_states(outcome.program, options.model, limit, limits)


def line_marks(outcome: Outcome, words: Words, pairs: Sequence[Pair]) -> tuple[LineMark, ...]:
    """Return the lines of the cycle with what happens there, and for robust programs those that keep an order."""
    roles: dict[int, dict[str, None]] = {}
    notes: dict[int, dict[str, None]] = {}

    def mark(line: int, role: str, note: str) -> None:
        roles.setdefault(line, {})[role] = None
        notes.setdefault(line, {})[note] = None

    witness = outcome.witness
    if witness is not None:
        members = {e.index: e for edge in witness.cycle.edges for e in (edge.source, edge.target)}
        late, early = {a.index for a, _ in witness.relaxed}, {b.index for _, b in witness.relaxed}
        for event in (members[i] for i in sorted(members)):
            if event.step is not None:
                for role in _roles(event, late, early, witness.pivot):
                    for line in (event.step.span.line, *event.step.span.expanded_from):
                        mark(line, role, words.clause(event))
    if outcome.verdict is Verdict.ROBUST:
        for pair in pairs:
            for keeper in pair.kept_by:
                mark(keeper.line, "keeps", "keeps an order that the hardware alone does not")
    for fault in outcome.faults:
        mark(fault.span.line, "fault", f"{fault.kind}: {fault.message}")
    return tuple(LineMark(line, tuple(roles[line]), tuple(notes[line])) for line in sorted(roles))


def _roles(event: Event, late: set[int], early: set[int], pivot: Event | None) -> list[str]:
    found = ["cycle"]
    found += ["late"] if event.index in late else []
    found += ["early"] if event.index in early else []
    return found + (["pivot"] if pivot is not None and pivot.index == event.index else [])


# ---- final states that RDMA reaches and sequential consistency does not

MOST_CONDITIONS = 3
"""Values up to which every combination is tried; of more an irreducible one is taken."""


def not_asked(reason: str) -> FinalStates:
    return FinalStates("not-asked", reason, 0, 0, 0, False, (), ())


def final_states(program: Program, model: Model, states: int, limits: Limits) -> FinalStates:
    """Compare the final states of both machines, searching at most `states` states of each within `limits`.

    `new` and `none` are claims about all executions: `new` needs the whole of the SC machine, `none` both. What the limits
    do not allow to know is `unknown`.
    """
    bound = states if is_loop_free(program) else max(1, states // 10)
    report = explore_outcomes(program, model, max_states=bound, limits=limits)
    counts = (sum(s.sc for s in report.states), sum(s.rdma for s in report.states), len(report.only_rdma))
    if report.sc.cut is not None:
        reason = f"the search of the states under sequential consistency was cut at {report.sc.cut}"
        return FinalStates("unknown", reason, *counts, False, (), ())
    if not report.only_rdma:
        if report.rdma.cut is not None:
            reason = f"the search of the states under RDMA was cut at {report.rdma.cut}, without a new one so far"
            return FinalStates("unknown", reason, *counts, False, (), ())
        return FinalStates("none", "both machines were searched completely", *counts, True, (), ())
    telling, example = _telling(report)
    reason = "both machines were searched completely"
    if report.rdma.cut is not None:
        reason = f"the search of the states under RDMA was cut at {report.rdma.cut}"
    return FinalStates("new", reason, *counts, report.rdma.cut is None, telling, example)


def _telling(report: OutcomesReport) -> tuple[tuple[Condition, ...], tuple[Condition, ...]]:
    """Return values in a new final state that no final state of SC has together, and that state: the fewest such values if
    those are at most `MOST_CONDITIONS`, else some of which none can be left out.

    Registers are named before memory words: they are what a thread has seen.
    """
    reached = [s.values for s in report.states if s.sc]
    new = [s.values for s in report.only_rdma]
    cells = sum(not cell.hidden for cell in report.program.cells)
    places = [*range(cells, len(report.names)), *range(cells)]
    for size in range(MOST_CONDITIONS + 1):
        for chosen in combinations(places, size):
            known = {tuple(state[i] for i in chosen) for state in reached}
            for state in new:
                if tuple(state[i] for i in chosen) not in known:
                    return _conditions(report.names, state, chosen), _conditions(report.names, state)
    left = list(places)
    for i in reversed(places):
        fewer = [j for j in left if j != i]
        if tuple(new[0][j] for j in fewer) not in {tuple(state[j] for j in fewer) for state in reached}:
            left = fewer
    return _conditions(report.names, new[0], left), _conditions(report.names, new[0])


def _conditions(names: Sequence[str], state: FinalState, chosen: Sequence[int] | None = None) -> tuple[Condition, ...]:
    return tuple(Condition(names[i], state[i]) for i in (range(len(names)) if chosen is None else chosen))
