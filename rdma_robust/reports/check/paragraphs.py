"""Why a program is not robust, or why nobody knows: the paragraphs printed beneath a program's row."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from rdma_robust.language.flow.send_queues import slots_text
from rdma_robust.limits import MANY
from rdma_robust.outcome import BY_FILTER, NO_SEARCH, Matters
from rdma_robust.reports.check.result import FaultView, Result, WitnessView
from rdma_robust.reports.share.searchers_text import searchers_text
from rdma_robust.reports.share.steps_table import witness_timeline
from rdma_robust.semantics.hang import Wait
from rdma_robust.semantics.wording import SPIN_ONLY, proved_by_filter, torn
from rdma_robust.text import count, filled, printable

MOST_CLAIMS: Final = 4
"""That are named of those that fail, or were not decided."""


def explain(result: Result, width: int = 100, *, full: bool = False) -> list[str]:
    """Return the lines that explain `result`, at most `width` characters wide where possible; [] if it needs none.

    Of long runs the steps that matter are shown, with `full` all, and the names of the events.
    """
    blocks: list[list[str]] = []
    if result.witness is not None:
        blocks += _witness(result.witness, width, full)
        blocks += [filled(_unless(result.witness, w.message), width) for w in result.warnings if w.code == "RR852"]
    if result.reason == BY_FILTER and result.states:
        blocks.append(filled(proved_by_filter(result.engine or NO_SEARCH, result.states), width))
    if result.spin_only:
        blocks.append(filled(SPIN_ONLY, width))
    if result.verdict == "unknown":
        blocks.append(filled(f"Undecided: {printable(result.reason)}; the search got as far as {progress(result)}.", width))
    if result.faults:
        blocks += [_faults(each, width) for met in (True, False) if (each := [f for f in result.faults if f.met is met])]
    if result.hangs:
        blocks.append(_hangs(result.hangs, width))
    if result.left_out:
        blocks.append(_left_out(result.left_out, width))
    if result.checked_by:
        blocks.append(filled(f"Checked by: {printable(', '.join(result.checked_by))}.", width))
    if result.matters is not None:
        blocks.append(filled(matters_line(result.matters), width))
    if full and result.states:
        blocks.append(filled(searched_by(result), width))
    if full and result.send_slots:
        blocks.append(filled(slots_text(result.send_slots), width))
    lines: list[str] = []
    for block in blocks:
        lines += ["", *block] if lines else block
    return lines


def searched_by(result: Result) -> str:
    """Return how many threads or processes have made the search, and why it is one."""
    again = ", and once more in one thread to what these had found" if result.witness is not None else ""
    if result.processes or result.threads > 1:
        return f"Searched in {searchers_text(result.threads, result.processes)}{again}."
    if result.counters:
        return "Searched in one thread: completions are counted without bound, and what was found before counts."
    if result.states < MANY:
        return f"Searched in one thread: there are fewer than {MANY:,} states."
    return "Searched in one thread: there is no other, or the search is in Python."


def _left_out(notes: Sequence[str], width: int) -> list[str]:
    """Return what was not found out beside the verdict, and why."""
    return [line for note in notes for line in filled(f"Left out: {printable(note)}.", width, "", "  ")]


def matters_line(matters: Matters) -> str:
    """Return in one line whether it matters that a program is not robust: what its claims, or its final states, say."""
    return f"Does it matter? {_of_claims(matters) or _of_states(matters)}"


def _of_claims(matters: Matters) -> str:
    """Return what becomes of the claims, "" if none was decided."""
    by_status = {word: [c for c in matters.claims if c.status == word] for word in ("violated", "unknown", "unreachable")}
    failed, unknown, idle = by_status["violated"], by_status["unknown"], by_status["unreachable"]
    if len(unknown) == len(matters.claims):
        return ""
    number = count(len(matters.claims), "claim")
    if failed:
        new = [c for c in failed if not c.under_sc]
        shown = new or failed
        which = "; ".join(f"{c.kind} (line {' from '.join(c.places)}): {printable(c.text)}" for c in shown[:MOST_CLAIMS])
        more = f"; and {len(shown) - MOST_CLAIMS} more" if len(shown) > MOST_CLAIMS else ""
        where = "on the hardware" if new else "on the hardware, and under sequential consistency too"
        text = (
            f"{'Yes: ' if new else ''}{len(shown)} of {number} fail{'s' if len(shown) == 1 else ''} {where}: {which}{more}."
        )
    elif unknown:
        text = f"{len(matters.claims) - len(unknown)} of {number} hold on the hardware."
    else:
        text = f"Not for what it claims: {number} hold{'s' if len(matters.claims) == 1 else ''} on the hardware."
    if unknown:
        lines = ", ".join(" from ".join(c.places) for c in unknown[:MOST_CLAIMS])
        text += f" Not decided: {count(len(unknown), 'claim')} (line {lines}); `rdma-robust verify` searches further."
    if idle:
        text += f" {count(len(idle), 'claim')} about what is never reached."
    return text


def _of_states(matters: Matters) -> str:
    skipped = "; ".join(printable(each) for each in matters.skipped)
    if matters.final_states is None:
        return f"Not known: {skipped or 'it was not asked'}."
    start = f"Its claims were not decided ({skipped}); its" if matters.claims else "It forbids nothing; its"
    if not matters.final_states:
        return f"{start} final states are the same as under sequential consistency."
    example = ", ".join(f"{name} = {value}" for name, value in matters.final_states[0])
    return f"{start} final states can be new, as {printable(example)}."


def progress(result: Result) -> str:
    """Return how far the search got, in words."""
    return (
        f"{count(result.states, 'state')}, {count(result.transitions, 'transition')} and "
        f"{count(result.pivots, 'pivot')} in {result.time_s:.1f} s"
    )


def _witness(witness: WitnessView, width: int, full: bool) -> list[list[str]]:
    step = {event: k for k, event in enumerate(witness.order, 1)}
    intro = (
        "RDMA hardware can run it like this, each step where it takes effect; under sequential consistency no execution has "
        "the same reads and the same order of writes."
    )
    pivot = "; * the pivot: without this step the run is sequentially consistent" if witness.pivot is not None else ""
    legend = filled(f"+ on the cycle below{pivot}.", width, "  ", "  ")
    cycle = ["The cycle (steps of the table in brackets):"]
    for edge in witness.cycle:
        steps = f"[{step.get(edge.source, 0)} -> {step.get(edge.target, 0)}]"
        cycle += filled(f"{edge.text} {steps}", width, "  ", "  ")
    blocks = [filled(intro, width), witness_timeline(witness, width, full=full) + legend, cycle]
    events = {event.id: event for event in witness.events}
    atomics = [events[edge.source] for edge in witness.cycle if edge.relation == "rmw"]
    why = [r.text for r in witness.relaxed] + [torn(f"`{e.statement}` (line {e.line})") for e in atomics]
    if why:
        blocks.append(
            ["What makes it possible:", *(x for text in dict.fromkeys(why) for x in filled(text, width, "  ", "  "))]
        )
    return blocks


def _unless(witness: WitnessView, unrecorded: str) -> str:
    """Return of a run with an order that is not recorded which two accesses that would have to order."""
    events = {event.id: event.text for event in witness.events}
    first, second = next(
        ((each.earlier, each.later) for each in witness.relaxed),
        next(((edge.source, edge.target) for edge in witness.cycle), (witness.order[0], witness.order[-1])),
    )
    return f"It is not robust unless something unrecorded orders {events[first]} and {events[second]}: {unrecorded}."


def _hangs(hangs: tuple[Wait, ...], width: int) -> list[str]:
    lines = ["It can hang (`rdma-robust verify` shows a run):"]
    for wait in hangs:
        lines += filled(printable(wait.text), width, "  ", "  ")
    return lines


def _faults(faults: list[FaultView], width: int) -> list[str]:
    lines = ["Reachable faults:" if faults[0].met else "Faults that may be reachable (the search did not end):"]
    for fault in faults:
        lines += filled(f"line {fault.where}: {printable(fault.kind)}: {printable(fault.message)}", width, "  ", "  ")
    return lines
