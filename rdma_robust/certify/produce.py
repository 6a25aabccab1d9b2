"""Making certificates from what the engines found."""

from __future__ import annotations

from rdma_robust.certify.document import Certificate, Claim, Setting, digest
from rdma_robust.certify.invariants import robust_evidence
from rdma_robust.certify.nets import invariant_evidence, run_evidence
from rdma_robust.certify.traces import trace_evidence
from rdma_robust.limits import Limits
from rdma_robust.options import CheckOptions
from rdma_robust.outcome import Outcome, Verdict
from rdma_robust.petri.net import CoverResult, EnumeratedInvariant, Net
from rdma_robust.robustness.invariant import inductive_invariant


def robustness_certificate(outcome: Outcome, options: CheckOptions, limits: Limits, file: str | None) -> Certificate | None:
    """Return the certificate of a robustness verdict, None for UNKNOWN.

    `options` are those of the check, `file` the path of the program relative to the certificate. For ROBUST the
    instrumented program is explored anew, within `limits`. Raises SizeLimitError if one of them is reached, and
    InternalError if that search contradicts the verdict.
    """
    program = outcome.program
    claim: Claim
    evidence: object
    match outcome.verdict:
        case Verdict.UNKNOWN:
            return None
        case Verdict.ROBUST:
            found = inductive_invariant(program, options, limits)
            claim, evidence = "robust", robust_evidence(found.fields, found.counters, found.states)
        case Verdict.NOT_ROBUST:
            assert outcome.witness is not None
            claim, evidence = "not-robust", trace_evidence(program, outcome.witness.trace)
    setting = Setting(options.instrumentation, options.model.ordered_reads, options.await_loops)
    return Certificate(claim, file, digest(program.source), setting, evidence)


def cover_certificate(net: Net, text: str, result: CoverResult, file: str | None) -> Certificate | None:
    """Return the certificate of a coverability verdict, None for UNKNOWN and where the proof is too large for one.

    `text` is that from which `net` was read.
    """
    if result.run is not None:
        run = result.run
        return Certificate("unsafe", file, digest(text), None, run_evidence(net, run.start, run.transitions, run.target))
    if result.invariant is not None and not isinstance(result.invariant, EnumeratedInvariant):
        return Certificate("safe", file, digest(text), None, invariant_evidence(net, result.invariant))
    return None
