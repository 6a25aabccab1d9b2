"""Making certificates from verdicts."""

from __future__ import annotations

from dataclasses import asdict, replace

from rdma_robust.certify.checker import has_waiting_messages
from rdma_robust.certify.document import GRAPHS, NET, PROGRAM, Certificate, JsonObject, content_digest
from rdma_robust.certify.hardware import ORDERS
from rdma_robust.errors import ProgramError, SizeLimitError
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
from rdma_robust.orders.known_orders import BASE, order_table, told_in_full
from rdma_robust.outcome import BRUTE_FORCE, Outcome, Verdict
from rdma_robust.petri.net import CoverResult, EnumeratedInvariant, Net
from rdma_robust.robustness.invariant import inductive_invariant
from rdma_robust.robustness.searched_orders import takes_operands


def robustness_certificate(outcome: Outcome, options: CheckOptions, limits: Limits, file: str | None) -> Certificate | None:
    """Return the certificate of a robustness verdict, None for UNKNOWN.

    `options` are those of the check, `file` the path of the program relative to the certificate. For ROBUST the program
    is explored anew, within `limits`, whatever the verdict was found by: what is proved is the claim. That is done by
    the pivot instrumentation, or, where docs/deployed.md has extended the model and for crowds, by the rules of the
    checker. Raises SizeLimitError if one of the limits is reached, those rules do not prove it, or no number of copies
    is known, and InternalError if the search contradicts the verdict.
    """
    program, options = outcome.program, options.on(outcome.program.hardware)
    order = _order_of(outcome, options.model)
    if takes_operands(program):
        raise SizeLimitError("the checker of certificates has no rules for operands of atomics in memory")
    if program.memories and outcome.verdict is Verdict.ROBUST:
        raise SizeLimitError("no invariant is evidence for a program with memory behind a card")
    if has_waiting_messages(program) and (outcome.verdict is Verdict.NOT_ROBUST or outcome.engine == BRUTE_FORCE):
        raise SizeLimitError("the checker of certificates has no rules for messages that wait (rnr wait)")
    match outcome.verdict:
        case Verdict.UNKNOWN:
            return None
        case Verdict.ROBUST if program.crowds:
            claim, evidence = "robust", copies_evidence(program, options.model, options.recv_depth, limits)
        case Verdict.NOT_ROBUST if program.crowds:
            claim, evidence = "not-robust", copies_trace_evidence(outcome)
        case Verdict.ROBUST if needs_checkers_search(program, options.model):
            claim, evidence = "robust", checkers_evidence(program, options.model, options.recv_depth, limits)
        case Verdict.ROBUST:
            found = inductive_invariant(program, options.model, limits, options.recv_depth)
            claim, evidence = "robust", invariant_evidence_of(found)
        case Verdict.NOT_ROBUST:
            assert outcome.witness is not None
            claim, evidence = "not-robust", trace_evidence(program, outcome.witness.trace)
    settings = {"model": asdict(replace(options.model, order=order)), "await_loops": options.await_loops}
    written = says(program.source, program, await_loops=options.await_loops)
    text = program.source if written else canonical_text(program)
    return Certificate(PROGRAM if written else GRAPHS, file, content_digest(text), {"kind": claim}, settings, evidence)


def _order_of(outcome: Outcome, model: Model) -> str:
    """Return the order of a certificate: a name that the checker knows, or a table in full. Raises SizeLimitError."""
    if model.order in ORDERS:
        return model.order
    table = order_table(model.order)
    if outcome.verdict is Verdict.ROBUST:
        raise SizeLimitError(f"the checker of certificates has no rules of normal form for order {model.order_name}")
    if table.unknown or table.messages or table.matching == "any" or (table.behind_polls or BASE) not in ORDERS:
        raise SizeLimitError(f"the checker of certificates cannot read the table of order {model.order_name}")
    return told_in_full(replace(table, why={}))


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
