"""An explanation in English: what the hardware does, why sequential consistency does not, and what can be seen of it."""

from __future__ import annotations

from collections.abc import Sequence

from rdma_robust.analyses.explain.explanation import Condition, FinalStates, Operation, Pair, Timeline, TimelineStep
from rdma_robust.language.flow.cfg import Program, Recv, RecvPoll, Step
from rdma_robust.outcome import BRUTE_FORCE, BY_FILTER, NO_SEARCH, Outcome, Verdict, Witness
from rdma_robust.semantics.trace import CPU_TYPES, CycleEdge, Event, EventType
from rdma_robust.semantics.wording import SPIN_ONLY, Words, edge_kind, proved_by_filter, torn, why_reordered
from rdma_robust.text import count, one_line

EDGES = {
    "po": "{source} comes before {target} in the text of {thread}",
    "rf": "{source} comes before {target}, which reads its value {read}",
    "moment": "{source} comes before {target}, which waits for it",
    "mo": "{source} comes before {target}, which overwrites {cell}",
    "rb": "{source} comes before {target}, because it reads {cell} = {seen} from before that write",
    "section": "{source} is one step, from `lock` to `unlock`",
    "rmw": "{source} and {target} are one step",
    "barrier": "{source} and {target} are one step, at which the threads meet",
    "sm": "{source} comes before {target}, which fills the buffer that it posts",
    "rpf": "{source} comes before {target}, which takes its receive completion",
    "turn": "{source} fills {cell}, which is not the buffer whose turn it is",
}
"""Why the source of an edge of the SC cycle comes before its target."""

WHERE = {
    ("put", "posted"): "This put is still in the pipe to {remote}, its source not yet read,",
    ("put", "read"): "Its value has been read but not yet sent to {remote}",
    ("put", "sent"): "Its value is on its way to {remote}, complete for a poll but not yet in memory,",
    ("get", "posted"): "This get is still in the pipe to {remote}, nothing read yet,",
    ("get", "read"): "Its value has been read at {remote}, but the answer is not back",
    ("get", "sent"): "Its answer is back, but not yet stored in memory,",
    ("atomic", "posted"): "This atomic is still in the pipe to {remote}, nothing read yet,",
    ("atomic", "read"): "Its location has been read at {remote}, but its answer is not back",
    ("atomic", "sent"): "Its location has been read at {remote}, and its answer is not in memory yet,",
    ("rfence", "posted"): "The NIC has not come to this fence",
    ("order", "posted"): "The NIC has not come to it",
    ("order", "sent"): "It waits behind writes on their way to {remote}",
}
"""How far an operation is while a later step of its thread overtakes it, by how far it has come."""

FLEXIBLE = "Its value is still in the pipe to {remote}"
"""Of a put that carries a constant."""

ENDINGS = {1: "st", 2: "nd", 3: "rd"}

SUMMARY = {
    "kept": ("is kept in order by polls and {fences}", "are kept in order by polls and {fences}"),
    "no-race": ("may be reordered, but no other thread races on it", "may be reordered, but no other thread races on them"),
    "no-cycle": (
        "may be reordered, but no conflicts lead from its later access back to the earlier one",
        "may be reordered, but no conflicts lead from the later accesses back to the earlier ones",
    ),
    "filter": (
        "may be reordered, but the static filter finds no cycle through it that has a last event",
        "may be reordered, but the static filter finds no cycle through them that has a last event",
    ),
    "search": (
        "may be reordered, but the exhausted search found no execution in which a cycle closes",
        "may be reordered, but the exhausted search found no execution in which a cycle closes",
    ),
    "cycle": ("is reordered by the counterexample", "are reordered by the counterexample"),
    "open": (
        "may be reordered with conflicts that may close a cycle: nothing is known about it",
        "may be reordered with conflicts that may close a cycle: nothing is known about them",
    ),
}
"""What becomes of the pairs of each kind, of one and of several."""


def headline(outcome: Outcome) -> str:
    name = f"`{outcome.program.name}`"
    match outcome.verdict:
        case Verdict.ROBUST:
            return f"{name} is robust: all it can do on RDMA hardware it can also do under sequential consistency."
        case Verdict.NOT_ROBUST:
            return f"{name} is not robust: RDMA hardware can run it in a way that sequential consistency does not allow."
        case Verdict.UNKNOWN:
            return f"It is not known whether {name} is robust."


def paragraphs(
    outcome: Outcome, run: Timeline | None, finals: FinalStates, pairs: Sequence[Pair], complete: bool
) -> tuple[str, ...]:
    """Return the paragraphs of the explanation, without markup; code is in backquotes. `complete` if `pairs` are all."""
    if outcome.witness is not None and run is not None:
        found = [
            reordering(outcome.program, outcome.witness, run, outcome.model.order),
            circle(outcome.program, outcome.witness),
        ]
    else:
        found = [_decided(outcome), orders(pairs, complete), messages(outcome)]
    found.append(finals_text(finals))
    if outcome.spin_only:
        found.append(SPIN_ONLY)
    return tuple(text for text in found if text)


def reordering(program: Program, witness: Witness, run: Timeline, order: str) -> str:
    """Return what happens: how far each overtaken operation is when it is overtaken, and what lets the hardware do so."""
    words = Words(program)
    rounds = _rounds(witness)
    sentences = []
    for earlier, later in witness.relaxed:
        operation, step = _overtaken(run, earlier.index), _step_of(run, later.index)
        name = program.threads[earlier.thread].name
        if operation is None or step is None:
            again = rounds.get(later.index, "").rstrip(",")
            sentences += [
                f"{name} executes {words.noun(earlier)}{rounds.get(earlier.index, '').rstrip(',')}.",
                f"It is still in the store buffer when {_action(words, name, later)}{again}.",
                f"The CPU allows this: {why_reordered(earlier, later, order)}.",
            ]
            continue
        line = operation.line if earlier.step is None else earlier.step.span.where
        where = _where(program, witness, operation, _progress(operation, step.number)).format(remote=earlier.remote)
        sentences += [
            f"{name} posts `{operation.statement}` (line {line}){rounds.get(earlier.index, '').rstrip(',')}.",
            f"{where} when {_action(words, name, later)}{rounds.get(later.index, '').rstrip(',')}.",
            f"RDMA allows this: {why_reordered(earlier, later, order)}.",
        ]
    for edge in witness.cycle.edges:
        if edge.relation == "rmw" and edge.source.step is not None:
            why = torn(f"`{words.statement(edge.source)}` (line {edge.source.step.span.where})")
            sentences.append(f"{why[0].upper()}{why[1:]}.")
    return " ".join(dict.fromkeys(sentences))


def circle(program: Program, witness: Witness) -> str:
    """Return why no sequentially consistent execution does the same: the SC cycle as a chain of what comes before what."""
    words = Words(program)
    edges = _rotated(witness)
    met: set[int] = set()
    rounds = _rounds(witness)

    def name(event: Event) -> str:
        known = event.index in met
        met.add(event.index)
        return (words.short(event) if known else words.noun(event)) + rounds.get(event.index, "")

    clauses = []
    for edge in edges:
        source, target = name(edge.source), name(edge.target)
        clauses.append(
            EDGES[edge_kind(edge.source, edge.relation)].format(
                source=source,
                target=target,
                thread=program.threads[edge.source.thread].name if edge.source.thread >= 0 else "",
                read=edge.target.read,
                cell=f"`{edge.target.cell}`",
                seen=edge.source.read,
            )
        )
    return (
        "Under sequential consistency every step takes effect at once and in program order, so one order of all steps "
        f"explains what is read. Here there is none: {'; '.join(clauses)}. So {name(edges[0].source)} would come before "
        "itself."
    )


def _rounds(witness: Witness) -> dict[int, str]:
    """Return for the events of statements that are executed more than once which time it is, in words."""
    same: dict[tuple[object, ...], list[Event]] = {}
    for event in sorted(witness.order, key=lambda e: e.position):
        same.setdefault((event.thread, event.type, event.step, event.cell), []).append(event)
    found = {}
    for events in same.values():
        for k, event in enumerate(events, 1) if len(events) > 1 else ():
            found[event.index] = f", the {k}{ENDINGS.get(k if k < 20 else k % 10, 'th')} time,"
    return found


def finals_text(finals: FinalStates) -> str:
    """Return what the comparison of the final states says, "" if there was none."""
    match finals.change:
        case "new":
            return f"{_new(finals)} {_number(finals)}"
        case "none":
            return (
                f"The final states are the same under both, {count(finals.sc, 'final state')}: the reordering shows only on "
                "the way, in what is read and in the order of writes."
            )
        case "unknown":
            return f"Whether RDMA reaches new final states is not known: {finals.reason}."
        case "not-asked":
            return ""


def messages(outcome: Outcome) -> str:
    """Return what messages order in a robust program: which polls wait for one, and which receives let the next one come."""
    if outcome.verdict is not Verdict.ROBUST:
        return ""
    sentences = []
    for thread in outcome.program.threads:
        polls = {(s.span.start, s.op.sender): s for _, _, s in thread.edges if isinstance(s.op, RecvPoll)}
        posts = {(s.span.start, s.op.sender): s for _, _, s in thread.edges if isinstance(s.op, Recv)}
        for sender in dict.fromkeys(sender for _, sender in sorted(polls)):
            taken, posted = (_named([s for at, s in sorted(found.items()) if at[1] == sender]) for found in (polls, posts))
            text = f"{thread.name} goes on behind {taken} only when a message from {sender} is in its buffer"
            if posted:
                text += f", and further messages find a buffer by {posted}"
            sentences.append(f"{text}.")
    return f"Messages keep the order of threads: {' '.join(sentences)}" if sentences else ""


def _named(found: Sequence[Step]) -> str:
    return " or ".join(f"`{one_line(step.text)}` (line {step.span.where})" for step in found)


def orders(pairs: Sequence[Pair], complete: bool) -> str:
    """Return in one paragraph how many pairs could be reordered, and what becomes of them."""
    if not pairs and not complete:
        return ""
    if not pairs:
        return "The hardware keeps the program order of all accesses here: no two of one thread can be reordered."
    parts = []
    for why, (one, several) in SUMMARY.items():
        number = sum(1 for p in pairs if (p.why or "kept") == why)
        if number:
            which = "all" if number == len(pairs) > 1 else f"{number:,}"
            parts.append(f"{which} {(one if number == 1 else several).format(fences=fences(pairs))}")
    told = "; ".join(parts)
    if not complete:
        many = f"more than {len(pairs):,} pairs of accesses"
        return f"Without polls and fences the hardware could reorder {many}. Of those listed {told}."
    return (
        f"Without polls and fences the hardware could reorder {count(len(pairs), 'pair')} of accesses: {told}. "
        "Every other pair of accesses of one thread takes effect in program order."
    )


def fences(pairs: Sequence[Pair]) -> str:
    """Return what beside polls keeps accesses in order: on CPUs with store buffers not only remote fences."""
    return "fences" if any(p.earlier.type == "CPU" for p in pairs) else "remote fences"


def values(conditions: Sequence[Condition]) -> str:
    """Return values of a final state as an enumeration."""
    *first, last = [f"`{c.name} = {c.value}`" for c in conditions]
    return f"{', '.join(first)} and {last}" if first else last


def _new(finals: FinalStates) -> str:
    if not finals.telling:
        return "New outcome: executions end, which none does under sequential consistency."
    together = " together" if len(finals.telling) > 1 else ""
    return f"New outcome: {values(finals.telling)}{together}. No execution under sequential consistency ends so."


def _number(finals: FinalStates) -> str:
    reached = f"{count(finals.rdma, 'final state')}, {finals.only_rdma:,} of them only under RDMA."
    return f"RDMA reaches {reached}" if finals.complete else f"RDMA reaches at least {reached}"


def _decided(outcome: Outcome) -> str:
    counts = outcome.counts
    classes = f"{counts.pivots:,} class{'' if counts.pivots == 1 else 'es'} of last events"
    if outcome.verdict is Verdict.UNKNOWN:
        begun = f" The search had begun with {classes}." if counts.pivots else ""
        return f"Undecided: {outcome.reason}.{begun}"
    if outcome.reason == BY_FILTER or outcome.engine == NO_SEARCH:
        return proved_by_filter(outcome.engine, counts.states)
    if outcome.engine == BRUTE_FORCE:
        return "Proved by brute force over the axioms: none of all traces of the program is violating."
    searched = f"{count(counts.states, 'state')}, all that there are"
    begun = f"{classes} in " if counts.pivots else ""
    return f"Proved by search: {begun}{searched} (engine {outcome.engine}), and no cycle closes."


def _where(program: Program, witness: Witness, operation: Operation, progress: str) -> str:
    reads = next((e for e in witness.order if _is_read_of(program, e, operation)), None)
    constant = reads is not None and reads.cell is not None and reads.cell.hidden
    where = FLEXIBLE if constant and progress != "sent" else WHERE[operation.kind, progress]
    return where.replace("This put", "This message") if operation.statement.startswith("send ") else where


def _is_read_of(program: Program, event: Event, operation: Operation) -> bool:
    place = f"{program.threads[event.thread].name}>{event.remote}"
    return (
        event.type is EventType.NLR
        and operation.lane == place
        and event.step is not None
        and event.step.span.line == operation.line
        and one_line(event.step.text) == operation.statement
    )


def _overtaken(run: Timeline, event: int) -> Operation | None:
    """Return the remote operation that an event is of, None for one of a CPU."""
    step = _step_of(run, event)
    return next((o for o in run.operations if step is not None and o.number == step.operation), None)


def _step_of(run: Timeline, event: int) -> TimelineStep | None:
    """Return the step with which an event takes effect; that a failed atomic waits for the store buffer has none."""
    return next((s for s in run.steps if s.event == event), None)


def _progress(operation: Operation, now: int) -> str:
    """Return how far the operation is just before step `now`."""
    if operation.sent is not None and operation.sent < now:
        return "sent"
    return "read" if operation.read is not None and operation.read < now else "posted"


def _action(words: Words, thread: str, event: Event) -> str:
    if event.type is EventType.LW:
        return f"{thread} executes {words.noun(event)}"
    if event.type in CPU_TYPES:
        return f"{thread} {words.label(event)} in {words.noun(event)}"
    return f"its NIC {words.label(event)} for `{words.statement(event)}` (line {event.step.span.where if event.step else 0})"


def _rotated(witness: Witness) -> tuple[CycleEdge, ...]:
    """Return the cycle, beginning with the first reordered pair."""
    edges = witness.cycle.edges
    relaxed = {(a.index, b.index) for a, b in witness.relaxed}
    start = next((i for i, e in enumerate(edges) if (e.source.index, e.target.index) in relaxed), 0)
    return edges[start:] + edges[:start]
