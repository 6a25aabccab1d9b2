"""Making certificates from verdicts."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, replace
from typing import Final

from rdma_robust.certify.checker import has_waiting_messages
from rdma_robust.certify.document import GRAPHS, NET, PROGRAM, Certificate, JsonObject, content_digest
from rdma_robust.certify.hardware import ORDERS
from rdma_robust.certify.table_facts import UNDER
from rdma_robust.errors import InternalError, ProgramError, SizeLimitError
from rdma_robust.evidence.of_checkers_search import checkers_evidence, needs_checkers_search
from rdma_robust.evidence.of_copies import copies_evidence, copies_trace_evidence
from rdma_robust.evidence.of_invariants import invariant_evidence_of
from rdma_robust.evidence.of_nets import invariant_evidence, run_evidence
from rdma_robust.evidence.of_traces import trace_evidence
from rdma_robust.language.flow.canonical import canonical_text, same_program
from rdma_robust.language.flow.cfg import Program
from rdma_robust.language.flow.spinning import spin_assumed
from rdma_robust.language.load import load_decidable
from rdma_robust.limits import Limits
from rdma_robust.model import Model
from rdma_robust.options import CheckOptions
from rdma_robust.orders.known_orders import BASE, order_table, told_in_full, told_order
from rdma_robust.orders.order_changes import reading, told_of_source, weaker_with_facts
from rdma_robust.orders.order_facts import OF_ATOMICS, lacking
from rdma_robust.orders.order_strength import keeps_all_of
from rdma_robust.outcome import BRUTE_FORCE, Outcome, Verdict
from rdma_robust.petri.net import CoverResult, EnumeratedInvariant, Net
from rdma_robust.robustness.decide import decide
from rdma_robust.robustness.invariant import inductive_invariant
from rdma_robust.robustness.searched_orders import has_atomics, has_messages, lacked_facts, takes_operands

NO_ANY_RECEIVE: Final = "the checker of certificates has no rules for messages that may take any posted receive"


def robustness_certificate(outcome: Outcome, options: CheckOptions, limits: Limits, file: str | None) -> Certificate | None:
    """Return the certificate of a robustness verdict, None for UNKNOWN.

    `options` are those of the check, `file` the path of the program relative to the certificate. For ROBUST the program
    is explored anew, within `limits`, whatever the verdict was found by: what is proved is the claim. That is done by
    the pivot instrumentation, or, where docs/deployed.md has extended the model and for crowds, by the rules of the
    checker. Raises SizeLimitError if one of the limits is reached, those rules do not prove it, or no number of copies
    is known, and InternalError if the search contradicts the verdict.
    """
    program, options = outcome.program, options.on(outcome.program.hardware)
    order = _order_of(options.model)
    if outcome.verdict is Verdict.ROBUST and program.memories and takes_operands(program):
        raise SizeLimitError("no rules are argued for operands of atomics in memory beside memory behind a card")
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
            if any(event.takes is not None for event in outcome.witness.trace.events):
                raise SizeLimitError(NO_ANY_RECEIVE)
            claim, evidence = "not-robust", trace_evidence(program, outcome.witness.trace)
    settings = {"model": asdict(replace(options.model, order=order)), "await_loops": options.await_loops}
    written = says(program.source, program, await_loops=options.await_loops)
    text = program.source if written else canonical_text(program)
    return Certificate(PROGRAM if written else GRAPHS, file, content_digest(text), {"kind": claim}, settings, evidence)


def _order_of(model: Model) -> str:
    """Return the order of a certificate: a name that the checker knows, or a table in full. Raises SizeLimitError."""
    if model.order in ORDERS:
        return model.order
    table = order_table(model.order)
    if (table.behind_polls or BASE) not in ORDERS:
        raise SizeLimitError(f"the checker of certificates cannot read the table of order {model.order_name}")
    return _told(model.order)


def _told(order: str) -> str:
    """Return an order as certificates have it, without the reasons."""
    return order if order in ORDERS else told_in_full(replace(order_table(order), why={}))


def _robust_evidence(program: Program, options: CheckOptions, limits: Limits) -> JsonObject:
    """Return the evidence that a program is robust under the order of the options; under another one that keeps less, if the
    checker has no rules for that. Raises SizeLimitError."""
    model = options.model
    if model.order in ORDERS:
        return _evidence_under(program, model, options, limits)
    if order_table(model.order).matching == "any" and has_messages(program):
        raise SizeLimitError(NO_ANY_RECEIVE)
    for order in _orders_below(program, model.order):
        weaker = replace(model, order=_told(order))
        if order == _read_by_checker(program, model.order):
            try:
                return _evidence_under(program, weaker, options, limits)
            except InternalError:  # a run to a target need be no counterexample where the table lacks a fact
                if not lacked_facts(program, weaker):
                    raise
                continue
        if decide(program, replace(options, hardware=weaker), limits=limits).verdict is Verdict.ROBUST:
            return {**_evidence_under(program, weaker, options, limits), UNDER: weaker.order}
    raise SizeLimitError(
        f"the checker of certificates has no rules of normal form for order {model.order_name}, "
        "and the program is robust under no weaker one for which it has"
    )


def _read_by_checker(program: Program, order: str) -> str:
    """Return an order as the checker reads it for ROBUST: what it says of messages counts only where there are some, and of
    what is open it takes the weaker reading."""
    if order in ORDERS:
        return order
    plain = order if has_messages(program) else told_order(replace(order_table(order), messages={}, matching="in order"))
    return reading(plain, frozenset()) if order_table(plain).unknown else plain


def _orders_below(program: Program, order: str) -> Iterator[str]:
    """Yield orders that keep no more than an order, and for which the checker has rules."""
    asked = {"atomics": has_atomics(program), "messages": has_messages(program)}
    read = told_of_source(_read_by_checker(program, order))
    lacks = lacking(read, **asked)
    near = weaker_with_facts(read, **asked) if lacks else None
    mine = None if {*OF_ATOMICS}.intersection(lacks) else read
    found = dict.fromkeys(each for each in (mine, near, *ORDERS) if each is not None)
    for each in found:
        refused = each not in ORDERS and (program.has_regions or program.crowds)
        if not refused and keeps_all_of(read, each):
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
