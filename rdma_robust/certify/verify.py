"""The checker: from a certificate and the text that it is about to a proof that its claim is true, or a reason why not.

It shares nothing with what finds verdicts. What it trusts is the front end of the language, the two instrumentations as
counter programs, and the axioms; for nets the reader of the format.
"""

from __future__ import annotations

from dataclasses import dataclass

from rdma_robust.certify.document import Certificate, Claim, digest, reject
from rdma_robust.certify.invariants import check_robust
from rdma_robust.certify.traces import check_not_robust
from rdma_robust.errors import ProgramError
from rdma_robust.language.load import load_program


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
        if certificate.setting is None:
            raise NotImplementedError
        program = load_program(text, name, await_loops=certificate.setting.await_loops)
    except ProgramError as error:
        reject(f"{name} is not well-formed: {error.diagnostics[0].message}")
    check = {"robust": check_robust, "not-robust": check_not_robust}[certificate.claim]
    return Proved(certificate.claim, check(program, certificate.setting, certificate.evidence))
