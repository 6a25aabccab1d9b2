"""Making certificates from verdicts.

Evidence for ROBUST where the checker's own search finds it: on other hardware than the usual, and with operations that
only such programs have. Its states are in the words of the checker already.

Evidence for SAFE and UNSAFE: what the engines for nets found, by the names of places and the numbers of rules.

Repetitions in firing sequences become loops, so that a run that pumps a place a million times stays a few lines long.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Final, assert_never

from rdma_robust.certify.checker import STANDARD, has_waiting_messages
from rdma_robust.certify.document import GRAPHS, NET, PROGRAM, Certificate, JsonObject, content_digest
from rdma_robust.certify.firing import Firing, FiringLoop
from rdma_robust.certify.hardware import ORDERS, Platform
from rdma_robust.certify.invariant_states import KIND
from rdma_robust.certify.mailboxes import connections_of
from rdma_robust.certify.message_receives import has_choice_of_receives
from rdma_robust.certify.racing_traces import KIND as RACING
from rdma_robust.certify.remembered import Mail, Marks
from rdma_robust.certify.table_facts import UNDER
from rdma_robust.certify.thread_events import LocalState
from rdma_robust.errors import InternalError, ProgramError, SizeLimitError
from rdma_robust.evidence.checkers_search import CheckersStates, Spot, all_states
from rdma_robust.evidence.of_copies import MarkWords, copies_evidence, copies_trace_evidence, number_in, told_local
from rdma_robust.evidence.of_invariants import invariant_evidence_of
from rdma_robust.evidence.of_races import race_free_evidence
from rdma_robust.evidence.of_traces import trace_evidence
from rdma_robust.language.flow.canonical import canonical_text, same_program
from rdma_robust.language.flow.cfg import Cas, Get, MFence, Poll, Program, Put, Read, RFence, Rmw, Silent, Write, steps
from rdma_robust.language.flow.looking import with_looks
from rdma_robust.language.flow.spinning import spin_assumed
from rdma_robust.language.load import load_decidable
from rdma_robust.limits import Limits
from rdma_robust.model import Model
from rdma_robust.options import CheckOptions
from rdma_robust.orders.known_orders import order_table, told_in_full, told_order
from rdma_robust.orders.order_changes import reading, told_of_source, weaker_with_facts
from rdma_robust.orders.order_facts import OF_ATOMICS, lacking
from rdma_robust.orders.order_record import MESSAGE
from rdma_robust.orders.order_strength import keeps_all_of
from rdma_robust.outcome import BRUTE_FORCE, Outcome, Verdict
from rdma_robust.petri import net as net_data
from rdma_robust.petri.net import (
    CoverResult,
    DownwardInvariant,
    EnumeratedInvariant,
    Invariant,
    LinearInvariant,
    Net,
    StagedInvariant,
    UpwardInvariant,
    Vector,
)
from rdma_robust.robustness.decide import decide
from rdma_robust.robustness.invariant import inductive_invariant
from rdma_robust.robustness.searched_orders import forces_less, has_messages
from rdma_robust.semantics.like_orders import atomic_rows
from rdma_robust.semantics.linearise import trace_of_order

if TYPE_CHECKING:
    from rdma_robust.analyses.races.find_races import RaceOutcome


def run_evidence(net: Net, start: Sequence[int], firings: Sequence[net_data.Firing], target: int) -> JsonObject:
    """Return the evidence for UNSAFE; places are given by name, transitions and targets by number from 0."""
    return {
        "kind": "firing-sequence",
        "start": {net.places[p]: tokens for p, tokens in enumerate(start) if tokens},
        "firing": show_firings(compressed([_firing(f) for f in firings])),
        "target": target,
    }


def _firing(firing: net_data.Firing) -> Firing:
    if not isinstance(firing, net_data.RepeatedFirings):
        return firing
    body = tuple(t if times == 1 else FiringLoop(times, (t,)) for t, times in firing.body)
    return body[0] if firing.times == 1 and len(body) == 1 else FiringLoop(firing.times, body)


def invariant_evidence(net: Net, invariant: Invariant) -> JsonObject:
    """Return the evidence for SAFE."""

    def named(vector: Vector) -> JsonObject:
        return {net.places[p]: value for p, value in vector}

    def places(marked: Iterable[int] | None) -> list[str]:
        return list(net.places) if marked is None else [net.places[p] for p in sorted(marked)]

    match invariant:
        case DownwardInvariant(limits):
            first = limits[0] if limits else ()
            same = [p for p, value in enumerate(first) if all(limit[p] == value for limit in limits)]
            rest = sorted(set(range(len(first))) - set(same))
            return {
                "kind": "downward",
                "common": {net.places[p]: first[p] for p in same if first[p] != 0},
                "limits": [{net.places[p]: limit[p] for p in rest if limit[p] != 0} for limit in limits],
            }
        case UpwardInvariant(basis, weights, bounds, marked, scope, traps, shares):
            rows = [{"weights": named(w), "most": most} for w, most in zip(weights, bounds, strict=True)]
            evidence: JsonObject = {"kind": "upward", "marked": places(marked), "basis": [named(b) for b in basis]}
            if not traps:
                return evidence | {"bounds": rows}
            known = [row | {"traps": list(map(list, share))} for row, share in zip(rows, shares, strict=True)]
            return (
                evidence
                | {"kind": "upward-with-traps", "scope": places(scope)}
                | {"traps": [places(trap) for trap in traps], "bounds": known}
            )
        case StagedInvariant(never, marked, rest_invariant):
            evidence = {"kind": "staged", "marked": places(marked), "never": [named(cone) for cone in never]}
            return evidence | {"rest": invariant_evidence(net, rest_invariant)}
        case LinearInvariant(marked, weights):
            return {"kind": "linear", "marked": places(marked), "weights": [named(w) for w in weights]}
        case _:
            assert_never(invariant)


LONGEST_BODY: Final = 400
"""Transitions of the longest loop body that is looked for."""

WORK: Final = 4_000_000
"""Comparisons spent at most on finding loops."""


def compressed(transitions: Sequence[Firing]) -> tuple[Firing, ...]:
    """Return the same firing sequence with repetitions as loops, the shortest bodies first, loops of loops included."""
    sequence: list[Firing] = list(transitions)
    work = 0
    length = 1
    while length <= min(LONGEST_BODY, len(sequence) // 2) and work < WORK:
        work += len(sequence)
        sequence = list(_folded(sequence, length))
        length += 1
    return tuple(sequence)


def _folded(sequence: Sequence[Firing], length: int) -> Iterator[Firing]:
    """Yield `sequence` with every block of `length` firings that is repeated at once made a loop."""
    same = 0
    at = 0
    while at < len(sequence):
        while at + same + length < len(sequence) and sequence[at + same] == sequence[at + same + length]:
            same += 1
        times = same // length + 1
        if times > 1 and (length > 1 or times > 2):
            yield FiringLoop(times, tuple(sequence[at : at + length]))
            at += times * length
            same = 0
        else:
            yield sequence[at]
            at += 1
            same = max(0, same - 1)


def show_firings(firings: Sequence[Firing]) -> list[object]:
    """Return a firing sequence as JSON."""
    return [f if isinstance(f, int) else {"times": f.times, "of": show_firings(f.body)} for f in firings]


_USUAL = Silent | Read | Write | Cas | Rmw | MFence | Put | Get | Poll | RFence
"""The operations that the instrumentation and the checker read alike. Of any other the checker's own search is evidence."""


def needs_checkers_search(program: Program, model: Model) -> bool:
    """Return whether the program has operations, or the hardware orders, that the invariant of the checker's own search is
    about."""
    listed = [step.op for thread in program.threads for _, _, step in steps(thread)]
    new = any(not isinstance(op, _USUAL) or not getattr(op, "signaled", True) for op in listed)
    new = new or program.has_regions or bool(program.memories)
    return new or model.cpu != "sc" or model.order != "default" or bool(connections_of(program))


def checkers_evidence(program: Program, model: Model, depth: int, limits: Limits) -> JsonObject:
    """Return the evidence that the program is robust, see docs/certificate-evidence.md. Raises as :func:`all_states`."""
    platform = Platform(model.cpu, model.atomics, model.order, model.ordered_reads)
    return _Words(program, all_states(program, platform, depth, limits)).evidence()


class _Words:
    """States as JSON: what they have in common once and numbered."""

    def __init__(self, program: Program, found: CheckersStates) -> None:
        self._program, self._found = program, found
        self._names = {t: thread.name for t, thread in enumerate(program.threads)}
        self._words = MarkWords(self._names, {cell: str(cell) for cell in program.cells}, {})
        self._locals: list[dict[LocalState, int]] = [{} for _ in program.threads]
        self._marks: dict[Marks, int] = {}
        self._mail: dict[Mail, int] = {}

    def evidence(self) -> JsonObject:
        rows = [self._row(spot, list(limit)) for spot, limits in self._found.states.items() for limit in limits]
        connected = bool(self._found.steps.connections)
        return {
            "kind": KIND,
            "threads": [
                {
                    "thread": thread.name,
                    "registers": [name for name, _ in thread.registers],
                    "states": [told_local(local) for local in self._locals[t]],
                }
                for t, thread in enumerate(self._program.threads)
            ],
            "cells": [str(cell) for cell in self._found.cells],
            "counted": self._words.pairs(self._found.counted),
            "watched": self._words.pairs(self._found.watched),
            **(self._words.messages(self._found.steps.connections, self._mail) if connected else {}),
            "marks": [self._words.marks(marks) for marks in self._marks],
            "states": rows if connected else [row[:4] for row in rows],
        }

    def _row(self, spot: Spot, limit: list[int | None]) -> list[object]:
        locals_, values, marks, mail = spot
        return [
            [number_in(self._locals[t], local) for t, local in enumerate(locals_)],
            list(values),
            None if marks is None else number_in(self._marks, marks),
            limit,
            number_in(self._mail, mail),
        ]


def robustness_certificate(outcome: Outcome, options: CheckOptions, limits: Limits, file: str | None) -> Certificate | None:
    """Return the certificate of a robustness verdict, None for UNKNOWN.

    `options` are those of the check, `file` the path of the program relative to the certificate. For ROBUST the program
    is explored anew, within `limits`, whatever the verdict was found by: what is proved is the claim. That is done by
    the pivot instrumentation, or, where docs/deployed.md has extended the model and for crowds, by the rules of the
    checker. Raises SizeLimitError if one of the limits is reached, those rules do not prove it, or no number of copies
    is known, and InternalError if the search contradicts the verdict.
    """
    program, options = outcome.program, options.on(outcome.program.hardware)
    order = _told(options.model.order)
    if has_waiting_messages(program) and (outcome.verdict is Verdict.NOT_ROBUST or outcome.engine == BRUTE_FORCE):
        raise SizeLimitError("the checker of certificates has no rules for messages that wait (rnr wait)")
    match outcome.verdict:
        case Verdict.UNKNOWN:
            return None
        case Verdict.ROBUST:
            claim, evidence = "robust", _robust_evidence(program, options, limits)
        case Verdict.NOT_ROBUST if program.crowds:
            claim, evidence = "not-robust", copies_trace_evidence(outcome)
        case Verdict.NOT_ROBUST:
            assert outcome.witness is not None
            claim, evidence = "not-robust", trace_evidence(program, outcome.witness.trace)
    settings = {"model": asdict(replace(options.model, order=order)), "await_loops": options.await_loops}
    written = says(program.source, program, await_loops=options.await_loops)
    text = program.source if written else canonical_text(program)
    return Certificate(PROGRAM if written else GRAPHS, file, content_digest(text), {"kind": claim}, settings, evidence)


def race_certificate(
    outcome: RaceOutcome, text: str, file: str | None, options: CheckOptions, limits: Limits, *, of_standard: bool = False
) -> Certificate | None:
    """Return the certificate of the first race of a program in `text`, or that it has none; None for UNKNOWN. Of C it may be
    one by the standard of its library.

    That there is none is found anew, within `limits`, by the checker's own rules. Raises SizeLimitError if one is reached,
    or for an order table that the checker cannot read, and InternalError if those rules find a race.
    """
    program, order = outcome.program, _told(outcome.model.order)
    if outcome.races:
        claim, evidence = "race", _race_evidence(outcome)
    elif outcome.reason:
        return None
    else:
        platform = Platform(outcome.model.cpu, outcome.model.atomics, order, outcome.model.ordered_reads)
        claim, evidence = "race-free", race_free_evidence(program, platform, options.recv_depth, limits)
    settings = {"model": asdict(replace(outcome.model, order=order)), "await_loops": options.await_loops}
    about = {"about": STANDARD} if of_standard else {}
    return Certificate(PROGRAM, file, content_digest(text), {"kind": claim, **about}, settings, evidence)


def _race_evidence(outcome: RaceOutcome) -> JsonObject:
    """The run of the first race."""
    race, looking = outcome.races[0], with_looks(outcome.program)
    trace = trace_of_order([event for _, mine in race.run for event in mine], looking, outcome.model)
    pair = {"first": race.first.index - len(looking.cells), "second": race.second.index - len(looking.cells)}
    return {**trace_evidence(looking, trace), "kind": RACING, **pair}


def _told(order: str) -> str:
    """Return an order as certificates have it: a name that the checker knows, or a table in full without the reasons."""
    return order if order in ORDERS else told_in_full(replace(order_table(order), why={}), ORDERS)


def _robust_evidence(program: Program, options: CheckOptions, limits: Limits) -> JsonObject:
    """Return the evidence that a program is robust under the order of the options; under another one that keeps less, if the
    checker has no rules for that. Raises SizeLimitError."""
    model = options.model
    if model.order in ORDERS:
        return _evidence_under(program, model, options, limits)
    if order_table(model.order).matching == "any" and has_choice_of_receives(program):
        raise SizeLimitError("the checker of certificates has no rules for messages that have a choice of posted receives")
    for order in _orders_below(program, model.order):
        weaker = replace(model, order=_told(order))
        if order == _read_by_checker(program, model.order):
            try:
                return _evidence_under(program, weaker, options, limits)
            except InternalError:  # a run to a target need be no counterexample where the table lacks a fact
                if not forces_less(program, weaker):
                    raise
                continue
        if decide(program, replace(options, hardware=weaker), limits=limits).verdict is Verdict.ROBUST:
            return {**_evidence_under(program, weaker, options, limits), UNDER: weaker.order}
    raise SizeLimitError(
        f"the checker of certificates has no rules of normal form for order {model.order_name}, "
        "and the program is robust under no weaker one for which it has"
    )


def _read_by_checker(program: Program, order: str) -> str:
    """Return an order as the checker reads it for ROBUST, if messages have no choice of receives: what it says of messages
    counts only where there are some, and of what is open it takes the weaker reading."""
    if order in ORDERS:
        return order
    table = replace(order_table(order), matching="in order")
    if not has_messages(program):
        table = replace(table, variants={cell: kept for cell, kept in table.variants.items() if MESSAGE not in cell})
    plain = told_order(table)
    return reading(plain, frozenset()) if order_table(plain).unknown else plain


def _orders_below(program: Program, order: str) -> Iterator[str]:
    """Yield orders that keep no more than an order, and for which the checker has rules."""
    atomics, messages = atomic_rows(program), has_messages(program)
    read = told_of_source(_read_by_checker(program, order))
    lacks = lacking(read, atomics=atomics, messages=messages)
    near = weaker_with_facts(read, atomics=atomics, messages=messages) if lacks else None
    mine = None if {*OF_ATOMICS}.intersection(lacks) else read
    found = dict.fromkeys(each for each in (mine, near, *ORDERS) if each is not None)
    for each in found:
        if keeps_all_of(read, each):
            yield each


def _evidence_under(program: Program, model: Model, options: CheckOptions, limits: Limits) -> JsonObject:
    if program.crowds:
        return copies_evidence(program, model, options.recv_depth, limits)
    if needs_checkers_search(program, model):
        return checkers_evidence(program, model, options.recv_depth, limits)
    return invariant_evidence_of(inductive_invariant(program, model, limits, options.recv_depth))


def says(text: str, program: Program, *, await_loops: bool) -> bool:
    """Return whether `text` is that of `program`, which may have been changed since it was read, or built without one."""
    try:
        return same_program(spin_assumed(load_decidable(text, program.file, crowds=True), await_loops), program)
    except ProgramError:
        return False


def cover_certificate(net: Net, text: str, result: CoverResult, file: str | None) -> Certificate | None:
    """Return the certificate of a coverability verdict, None for UNKNOWN and where the proof is too large for one.

    `text` is that from which `net` was read.
    """
    if result.run is not None:
        run = result.run
        evidence: JsonObject = run_evidence(net, run.start, run.transitions, run.target)
        return Certificate(NET, file, content_digest(text), {"kind": "unsafe"}, {}, evidence)
    if result.invariant is not None and not isinstance(result.invariant, EnumeratedInvariant):
        return Certificate(NET, file, content_digest(text), {"kind": "safe"}, {}, invariant_evidence(net, result.invariant))
    return None
