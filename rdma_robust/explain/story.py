"""An explanation in English: what the hardware does, why sequential consistency does not, and what can be seen of it."""

from __future__ import annotations

from collections.abc import Sequence

from rdma_robust.explain.model import Condition, FinalStates, Operation, Pair, Timeline, TimelineStep
from rdma_robust.language.cfg import Program
from rdma_robust.outcome import Outcome, Verdict, Witness
from rdma_robust.reports.explain import SPIN_ONLY, count
from rdma_robust.reports.wording import Words, why_reordered
from rdma_robust.semantics.trace import CPU_TYPES, CycleEdge, Event, EventType

BECAUSE = {
    "po": "it comes first in the text of {thread}",
    "rf": "the latter reads the value {read} that it wrote",
    "mo": "the latter overwrites it",
    "rb": "it reads {cell} = {seen}, from before the latter wrote {after}",
}
"""Why the source of an edge of the SC cycle comes before its target."""

WHERE = {
    ("put", "posted"): "is still in the pipe to {remote}, not yet read from memory",
    ("put", "read"): "has been read from memory but not sent to {remote}",
    ("put", "sent"): "is on its way to {remote}, complete for a poll but not yet in memory there",
    ("get", "posted"): "is still in the pipe to {remote}, which has not been read yet",
    ("get", "read"): "has been read at {remote} but its answer is not back",
    ("get", "sent"): "has its answer back, which is not yet stored in memory",
    ("rfence", "posted"): "has not been passed by the NIC",
}
"""How far an operation is while a later step of its thread overtakes it, by how far it has come."""


def headline(outcome: Outcome) -> str:
    name = f"`{outcome.program.name}`"
    match outcome.verdict:
        case Verdict.ROBUST:
            return f"{name} is robust: all it can do on RDMA hardware it can also do under sequential consistency."
        case Verdict.NOT_ROBUST:
            return f"{name} is not robust: RDMA hardware can run it in a way that sequential consistency does not allow."
        case Verdict.UNKNOWN:
            return f"Nobody knows whether {name} is robust: a limit was reached."


def paragraphs(
    outcome: Outcome, run: Timeline | None, finals: FinalStates, pairs: Sequence[Pair]
) -> tuple[str, ...]:
    """Return the paragraphs of the explanation, without markup; code is in backquotes."""
    found: list[str] = []
    if outcome.witness is not None and run is not None:
        found += [reordering(outcome.program, outcome.witness, run), circle(outcome.program, outcome.witness)]
    else:
        found.append(_decided(outcome))
        found.append(orders(pairs, outcome.verdict))
    found += [text for text in (finals_text(finals),) if text]
    if outcome.spin_only:
        found.append(SPIN_ONLY)
    return tuple(text for text in found if text)


def reordering(program: Program, witness: Witness, run: Timeline) -> str:
    """Return what happens: how far each overtaken operation is when it is overtaken, and what lets the hardware do so."""
    words = Words(program)
    sentences = []
    for earlier, later in witness.relaxed:
        operation, step = _overtaken(run, earlier.index), _step_of(run, later.index)
        remote = earlier.remote or ""
        where = WHERE[operation.kind, _progress(operation, step.number)].format(remote=remote)
        node = program.threads[earlier.thread]
        sentences.append(
            f"{node.name} posts `{operation.statement}` (line {operation.line}); {_subject(operation)} {where} when "
            f"{_action(words, node.name, later)}. RDMA allows this: {why_reordered(earlier, later)}."
        )
    if not sentences:
        sentences = ["The events of each thread take effect in program order, and yet no order of all of them explains it."]
    return " ".join(dict.fromkeys(sentences))


def circle(program: Program, witness: Witness) -> str:
    """Return why no sequentially consistent execution does the same: the SC cycle as a chain of before and because."""
    words = Words(program)
    edges = _rotated(witness)
    first = words.noun(edges[0].source)
    clauses = [f"{words.noun(e.source)} comes before {words.noun(e.target)}, because {_because(program, e)}" for e in edges]
    return (
        "Under sequential consistency every step takes effect at once and in program order, so all steps stand in one order. "
        f"In that order {'; '.join(clauses)}. So {first} would have to come before itself: no execution does this."
    )


def finals_text(finals: FinalStates) -> str:
    """Return what the comparison of the final states says, "" if there was none."""
    match finals.change:
        case "new":
            number = f"{'' if finals.complete else 'at least '}{finals.only_rdma:,}"
            total = f"{finals.rdma:,}{'' if finals.complete else ' found so far'}"
            whole = "" if len(finals.telling) == len(finals.example) else f" (in full: {values(finals.example)})"
            which = "one" if finals.only_rdma > 1 else "it"
            ends = f"{which} has {values(finals.telling)}" if finals.telling else "under sequential consistency no execution ends"
            return (
                f"New outcome: {ends}{whole}. No execution under sequential consistency ends so; RDMA reaches {total} final "
                f"{'state' if finals.rdma == 1 else 'states'}, {number} of them under RDMA only."
            )
        case "none":
            return (
                f"The final states are the same under both: {count(finals.sc, 'final state')}. The reordering shows only on the "
                "way: in what is read and in the order of writes, not in the end."
            )
        case "unknown":
            return f"Whether RDMA reaches new final states is not known: {finals.reason}."
        case "not-asked":
            return ""


def orders(pairs: Sequence[Pair], verdict: Verdict) -> str:
    """Return in one paragraph how many pairs could be reordered, and what becomes of them."""
    if not pairs:
        return "The hardware keeps the program order of all accesses here: no two of one thread can be reordered."
    kept = sum(1 for p in pairs if p.kept_by)
    parts = [f"{kept:,} {'is' if kept == 1 else 'are'} kept in order by polls and remote fences"] if kept else []
    for why, text in SUMMARY.items():
        number = sum(1 for p in pairs if p.why == why)
        if number:
            parts.append(f"{number:,} may be reordered, but {text}")
    number = sum(1 for p in pairs if p.why == "open")
    if number:
        parts.append(f"{number:,} may be reordered with conflicts that may close a cycle: about these nothing is known")
    rest = "every other pair of accesses of one thread takes effect in program order"
    return f"Without polls and fences the hardware could reorder {count(len(pairs), 'pair')} of accesses: {'; '.join(parts)}; {rest}."


SUMMARY = {
    "no-race": "no other thread races on one of the two",
    "no-cycle": "no chain of conflicts leads back from the later one to the earlier one",
    "filter": "the static filter finds no cycle through them that has a last event",
    "search": "the exhausted search found no execution in which a cycle closes",
}
"""Why the pairs of each kind do no harm."""


def values(conditions: Sequence[Condition]) -> str:
    return ", ".join(f"`{c.name} = {c.value}`" for c in conditions)


def _decided(outcome: Outcome) -> str:
    counts = outcome.counts
    if outcome.verdict is Verdict.UNKNOWN:
        return f"Undecided: {outcome.reason}. The search started {count(counts.pivots, 'class')} of last events.".replace("classs", "classes")
    if outcome.engine == "none" or "without a search" in outcome.reason:
        return "Proved without a search: no access can be the last event of a violation (the static filter)."
    classes = f"{counts.pivots:,} class{'' if counts.pivots == 1 else 'es'} of last events"
    return f"Proved by search: {classes} were tried in {count(counts.states, 'state')}, all that there are, and no cycle closes."


def _overtaken(run: Timeline, event: int) -> Operation:
    step = _step_of(run, event)
    return next(o for o in run.operations if o.number == step.operation)


def _step_of(run: Timeline, event: int) -> TimelineStep:
    return next(s for s in run.steps if s.event == event)


def _progress(operation: Operation, now: int) -> str:
    """Return how far the operation is just before step `now`."""
    if operation.sent is not None and operation.sent < now:
        return "sent"
    return "read" if operation.read is not None and operation.read < now else "posted"


def _subject(operation: Operation) -> str:
    return "it" if operation.kind != "put" else "its value"


def _action(words: Words, thread: str, event: Event) -> str:
    if event.type in CPU_TYPES:
        return f"{thread} {words.label(event)} for {words.noun(event)}"
    return f"its NIC {words.label(event)} for `{words.statement(event)}` (line {event.step.span.line if event.step else 0})"


def _rotated(witness: Witness) -> tuple[CycleEdge, ...]:
    """Return the cycle, beginning with the first reordered pair."""
    edges = witness.cycle.edges
    relaxed = {(a.index, b.index) for a, b in witness.relaxed}
    start = next((i for i, e in enumerate(edges) if (e.source.index, e.target.index) in relaxed), 0)
    return edges[start:] + edges[:start]


def _because(program: Program, edge: CycleEdge) -> str:
    source, target = edge.source, edge.target
    assert edge.relation in BECAUSE
    initial = source.type is EventType.INIT
    return BECAUSE[edge.relation].format(
        thread="" if initial else program.threads[source.thread].name,
        read=target.read,
        cell=f"`{target.cell}`",
        seen=source.read,
        after=target.written,
    )
