"""The order that is missing between two accesses that race, in words."""

from __future__ import annotations

from rdma_robust.analyses.races.find_races import Race, RaceOutcome
from rdma_robust.language.flow.cfg import Program
from rdma_robust.language.flow.looking import waits_for_value
from rdma_robust.semantics.kinds import kind_of
from rdma_robust.semantics.order_table import delayed_types, visible_when_polled
from rdma_robust.semantics.trace import CPU_TYPES, Event, EventType


def what_would_order(outcome: RaceOutcome, race: Race) -> str:
    """Return what would order the accesses of a race: how the thread of the first learns that it has taken effect, and how
    that of the second learns of it."""
    first, second = race.first, race.second
    done = _effect_known(outcome, first)
    a, b = _line(first), _line(second)
    if first.thread == second.thread:
        return f"nothing orders line {a} before line {b}: {done or 'a fence'} between them would"
    threads = outcome.program.threads
    if race.teller is not None and done:
        said = f"line {a} may take effect later: {done} before line {_line(race.teller)}, by which"
        return f"{said} {threads[first.thread].name} tells {threads[second.thread].name}, would order them"
    told = (
        f"a message or a barrier, or a word declared `sync` that {threads[first.thread].name} writes and "
        f"{threads[second.thread].name} reads"
    )
    behind = f"{done} behind line {a}, and then {told}" if done else told
    said = f"nothing tells {threads[second.thread].name} of line {a} before line {b}: {behind} would"
    return said + _meant_to_synchronise(outcome.program, race)


def _effect_known(outcome: RaceOutcome, event: Event) -> str:
    """Return the statement by which a thread waits until an event of its card has taken effect; nothing for its CPU."""
    if event.type in CPU_TYPES or event.remote is None:
        return "`mfence`" if event.type is EventType.LW and outcome.model.cpu == "tso" else ""
    kind = kind_of(event.type, event)
    shown = event.type not in delayed_types(outcome.model) or visible_when_polled(kind, outcome.model)
    return f"`{'poll' if shown else 'flush'} {event.remote}`"


def _meant_to_synchronise(program: Program, race: Race) -> str:
    """Return what to say where an access only looks for a value: a word that is waited for, or assumed to have one."""
    looks = [event for event in (race.first, race.second) if event.step is not None and waits_for_value(event.step)]
    if not looks or looks[0].cell is None:
        return ""
    cell, declared = looks[0].cell, any(each.sync for each in program.cells)
    more = " beside the others" if declared else ""
    return f"; if {cell} is there to synchronise, declare it `sync {cell.name}`{more}"


def _line(event: Event) -> int:
    return 0 if event.step is None else event.step.span.line
