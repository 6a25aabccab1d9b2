"""Verdicts about programs with crowds by the checker's own search, and their certificates, in tests."""

from __future__ import annotations

from dataclasses import replace
from itertools import product

from rdma_robust import TOOL
from rdma_robust.certify.checker import ProofCheck, verify, verify_graphs
from rdma_robust.certify.document import GRAPHS, InvalidCertificate, read_document
from rdma_robust.evidence.copies_search import all_markings
from rdma_robust.evidence.envelope import write_document
from rdma_robust.evidence.produce import robustness_certificate
from rdma_robust.language.flow.cfg import Program
from rdma_robust.language.flow.copies import copies_of
from rdma_robust.limits import Limits
from rdma_robust.model import Model
from rdma_robust.options import RECV_DEPTH, CheckOptions
from rdma_robust.outcome import Copies, Counts, Outcome, Verdict
from rdma_robust.robustness.decide import decide
from tests.support.checker_search import platform_of


def by_own_search(program: Program, model: Model, limits: Limits) -> str:
    """Return `robust` or `not-robust` for any number of copies, or in parentheses why neither.

    Raises SizeLimitError.
    """
    found = all_markings(program, platform_of(model), RECV_DEPTH, limits)
    if found.violation is None:
        return "robust"
    return "(any number of completions)" if found.widened else "not-robust"


def first_bad(program: Program, model: Model, most: int, states: int | None = 50_000) -> tuple[Outcome | None, str]:
    """Return the outcome for the fewest copies, at most so many, with which a program is not robust; and what was found:
    `not-robust`, `robust` with all of these numbers, or in parentheses why neither."""
    names = [thread.name for thread in program.crowds]
    numbers = sorted(product(range(most + 1), repeat=len(names)), key=sum)
    unknown = ""
    for each in numbers:
        if sum(each) > most:
            break
        explicit = copies_of(program, dict(zip(names, each, strict=True)))
        found = decide(explicit, CheckOptions(hardware=model, max_states=states))
        if found.verdict is Verdict.NOT_ROBUST:
            copies = Copies(tuple(zip(names, each, strict=True)), explicit, least=True)
            return replace(found, program=program, copies=copies), "not-robust"
        if found.verdict is Verdict.UNKNOWN:
            unknown = f"({found.reason})"
    return None, unknown or "robust"


def certificate_of(program: Program, model: Model, outcome: Outcome | None = None) -> bytes:
    """Return the certificate's file for an outcome, by default ROBUST."""
    made = outcome or Outcome(program, Verdict.ROBUST, "", "pivot", "forward", Counts(), 0.0)
    certificate = robustness_certificate(made, CheckOptions(hardware=model), Limits(states=20_000), "crowd.rdma")
    assert certificate is not None
    return write_document(certificate, TOOL)


def checked(data: bytes, program: Program) -> ProofCheck:
    """Check a certificate's file against a program, by its text if that is what it is about. Raises InvalidCertificate."""
    certificate = read_document(data)
    return (
        verify_graphs(certificate, program) if certificate.input == GRAPHS else verify(certificate, program.source, "crowd")
    )


def refusal(data: bytes, program: Program) -> str:
    """Return why a certificate is refused, '' if it is not."""
    try:
        checked(data, program)
    except InvalidCertificate as error:
        return str(error)
    return ""
