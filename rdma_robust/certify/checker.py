"""The checker: from a certificate and the text that it is about to a proof that its claim is true, or a reason why not.

It shares nothing with what finds verdicts. What it trusts is the front end of the language, the two instrumentations as
counter programs, and the axioms; for nets the reader of the format.
"""

from __future__ import annotations

from dataclasses import dataclass

from rdma_robust.certify.document import Certificate, Claim, digest, reject
from rdma_robust.certify.invariants import check_robust
from rdma_robust.certify.nets import check_safe, check_unsafe
from rdma_robust.certify.traces import check_not_robust
from rdma_robust.errors import ProgramError
from rdma_robust.language.flow.waiting import blocking
from rdma_robust.language.load import load_program
from rdma_robust.petri.spec.reader import read_spec


@dataclass(frozen=True, slots=True)
class Proved:
    """What a valid certificate proves, and by what."""

    claim: Claim
    by: str


def verify(certificate: Certificate, text: str, name: str) -> Proved:
    """Check `certificate` against the text of the program or net that it is about; `name` is for messages only.

    Raises InvalidCertificate with the reason if it does not prove its claim.
    """
    if digest(text) != certificate.sha256:
        reject(f"it is not about this text: the SHA-256 of {name} is another one")
    try:
        return Proved(certificate.claim, _check(certificate, text, name))
    except ProgramError as error:
        first = next(d for d in error.diagnostics if d.severity == "error")
        reject(f"{name} is not well-formed: line {first.span.line}: {first.message}")


def _check(certificate: Certificate, text: str, name: str) -> str:
    setting, evidence = certificate.setting, certificate.evidence
    if setting is None:
        net = read_spec(text, name)
        return check_safe(net, evidence) if certificate.claim == "safe" else check_unsafe(net, evidence)
    program = blocking(load_program(text, name), setting.await_loops)
    check = check_robust if certificate.claim == "robust" else check_not_robust
    return check(program, setting, evidence)
