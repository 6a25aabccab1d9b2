"""The checker: from a certificate and what it is about to a proof that its claim is true, or a reason why not.

It shares nothing with what finds verdicts: it has its own reading of the flow graphs, its own normal form, its own copy of
the axioms. What it trusts is the front ends, from text to flow graphs and from `.spec` files to nets.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Final, TypeVar

from rdma_robust.certify import (
    copies_invariants,
    copies_states,
    invariant_states,
    invariants,
    nets,
    race_invariants,
    racing_traces,
    violations,
)
from rdma_robust.certify.document import (
    GRAPHS,
    MESSAGES,
    NET,
    PROGRAM,
    Certificate,
    content_digest,
    json_members,
    json_word,
    natural,
    read_program_options,
    reject,
)
from rdma_robust.certify.hardware import Platform
from rdma_robust.certify.messages.proven_claims import CLAIMS, check_message_claim
from rdma_robust.certify.own_tables import TableReading
from rdma_robust.certify.safety import safety_invariants, safety_runs, safety_states
from rdma_robust.certify.safety.models import REDUCTIONS
from rdma_robust.certify.table_facts import weaker_platform
from rdma_robust.diagnose import Reporter
from rdma_robust.errors import ProgramError
from rdma_robust.language.flow.canonical import canonical_text
from rdma_robust.language.flow.cfg import ImmPut, Program, Send
from rdma_robust.language.flow.spinning import blocking, spin_assumed
from rdma_robust.language.load import OF_NO_FILE, is_c, is_foreign, load_decidable, load_program, with_c_options
from rdma_robust.messages.language.load_messages import load_messages
from rdma_robust.messages.language.message_program import ALL_BUFFERS, BUFFERS, MessageProgram
from rdma_robust.messages.traces.trace_program import program_of
from rdma_robust.messages.traces.trace_record import trace_of
from rdma_robust.petri.net import Net
from rdma_robust.petri.spec.reader import read_spec

PROGRAM_CHECKS: Final[Mapping[str, Mapping[str, Callable[[Program, Platform, object], str]]]] = {
    "robust": {invariant_states.KIND: invariants.check_robust},
    "not-robust": {violations.KIND: violations.check_not_robust},
}
"""For each claim about a program the kinds of evidence, and what checks them on that hardware."""

RACE_CHECKS: Final[Mapping[str, Mapping[str, Callable[[Program, Platform, object], str]]]] = {
    "race": {racing_traces.KIND: racing_traces.check_race},
    "race-free": {race_invariants.KIND: race_invariants.check_race_free},
}
"""The same for data races."""

COPIES_CHECKS: Final[Mapping[str, Mapping[str, Callable[[Program, Platform, object], str]]]] = {
    "robust": {copies_states.KIND: copies_invariants.check_robust_copies},
    "not-robust": {copies_invariants.COPIES_TRACE: copies_invariants.check_trace_of_copies},
}
"""The same for programs with threads of which there are any number."""

SAFETY_CHECKS: Final[Mapping[str, Mapping[str, Callable[[Program, str, object], str]]]] = {
    "safe": {
        safety_states.KIND: safety_invariants.check_safe,
        safety_invariants.NOTHING: safety_invariants.check_nothing_forbidden,
    },
    "unsafe": {safety_runs.KIND: safety_runs.check_unsafe_run},
}
"""For each claim about what a program must not do under a memory model the kinds of evidence, and what checks them."""

NET_CHECKS: Final[Mapping[str, Mapping[str, Callable[[Net, object], str]]]] = {
    "safe": {**nets.INVARIANTS, "staged": nets.check_staged},
    "unsafe": {"firing-sequence": nets.check_unsafe},
}


Check = TypeVar("Check")
STANDARD: Final = "standard"
"""What a claim says that is about what the standard of a library promises."""


@dataclass(frozen=True, slots=True)
class ProofCheck:
    """The claim that a valid certificate proves, under which memory model if that is not RDMA by itself, and by what."""

    claim: str
    by: str
    model: str = ""


def verify(certificate: Certificate, text: str, name: str) -> ProofCheck:
    """Check `certificate` against the text of the program or net that it is about; `name` is for messages only.

    Raises InvalidCertificate with the reason if it does not prove its claim.
    """
    kind = json_word(certificate.input, "`input.kind`", (PROGRAM, NET, GRAPHS, MESSAGES))
    if kind == GRAPHS:
        reject("it is about a program that is no text, and can be checked against that program only")
    if content_digest(text) != certificate.sha256:
        reject(f"it is not about this text: the SHA-256 of {name} is another one")
    try:
        if kind == NET:
            json_members(certificate.options, "`options`", ())
            return _proved(certificate, NET_CHECKS, lambda check, evidence: check(read_spec(text, name), evidence))
        if kind == MESSAGES:
            return _about_messages(certificate, message_program(text, name))
        file = name if is_foreign(text, name) else OF_NO_FILE
        if "about" in certificate.claim:
            certificate, text = _about_standard(certificate, text, name)
        if certificate.claim["kind"] in SAFETY_CHECKS:
            return _about_program(certificate, load_program(text, file))
        return _about_program(certificate, load_decidable(text, file, crowds=True))
    except ProgramError as error:
        first = next(d for d in error.diagnostics if d.severity == "error")
        reject(f"{name} is not well-formed: line {first.span.line}: {first.message}")


def _about_standard(certificate: Certificate, text: str, name: str) -> tuple[Certificate, str]:
    """Return a certificate of a race by the standard of a library, and the C as it is read for that."""
    claim = json_members(certificate.claim, "`claim`", ("kind", "about"))
    json_word(claim["about"], "`claim.about`", (STANDARD,))
    if claim["kind"] not in RACE_CHECKS or not is_c(text, name):
        reject("only races of C are about the standard of a library")
    return replace(certificate, claim={"kind": claim["kind"]}), with_c_options(text, ("--about=races",), name)


def verify_graphs(certificate: Certificate, program: Program) -> ProofCheck:
    """Check `certificate` against a program that is no text, by its canonical form. Raises InvalidCertificate."""
    if certificate.input != GRAPHS:
        reject("it is about a text, and can be checked against that only")
    given = program
    if certificate.claim["kind"] not in SAFETY_CHECKS:
        given = spin_assumed(program, read_program_options(certificate.options).await_loops)
    if content_digest(canonical_text(given)) != certificate.sha256:
        reject(f"it is not about this program: the SHA-256 of the canonical form of {program.name} is another one")
    return _about_program(certificate, program)


def program_of_certificate(certificate: Certificate, text: str, name: str) -> Program:
    """Return the program that a certificate about robustness is about, its loops read as it says. Raises ProgramError."""
    return spin_assumed(load_decidable(text, name, crowds=True), read_program_options(certificate.options).await_loops)


def has_waiting_messages(program: Program) -> bool:
    """Whether messages that find no buffer wait, in a program that has messages."""
    return program.hardware.rnr == "wait" and _has_messages(program)


def _has_messages(program: Program) -> bool:
    return any(isinstance(step.op, Send | ImmPut) for thread in program.threads for _, _, step in thread.edges)


def _about_program(certificate: Certificate, program: Program) -> ProofCheck:
    if certificate.claim["kind"] in SAFETY_CHECKS:
        if program.crowds:
            reject(f"there is any number of threads {program.crowds[0].name}, and no proof of this kind is about any number")
        options = json_members(certificate.options, "`options`", ("model",))
        model = json_word(options["model"], "`options.model`", tuple(REDUCTIONS))
        proved = _proved(certificate, SAFETY_CHECKS, lambda check, evidence: check(program, model, evidence))
        return replace(proved, model=model)
    settings = read_program_options(certificate.options)
    races = certificate.claim["kind"] in RACE_CHECKS
    if races and program.crowds:
        reject(f"there is any number of threads {program.crowds[0].name}, and races are asked of numbers")
    meant = spin_assumed(blocking(program) if races else program, settings.await_loops)
    if certificate.claim["kind"] != "robust" and has_waiting_messages(meant):
        reject("no trace is evidence where messages wait (rnr wait): a run in which one waits may have it")
    robust = certificate.claim["kind"] == "robust"
    # What a table leaves open is read against the claim.
    stronger = certificate.claim["kind"] not in ("robust", "race-free")
    claimed = replace(settings.platform, how=TableReading(messages=_has_messages(meant), stronger=stronger))
    platform = claimed
    if robust:
        platform, evidence = weaker_platform(meant, platform, certificate.evidence)
        certificate = replace(certificate, evidence=evidence)
    table = RACE_CHECKS if races else COPIES_CHECKS if meant.crowds else PROGRAM_CHECKS
    proved = _proved(certificate, table, lambda check, evidence: check(meant, platform, evidence))
    weaker = f" under a weaker order, {platform.order_name}" if platform != claimed else ""
    return replace(proved, by=f"{proved.by}{weaker}", model=str(settings.platform))


def message_program(text: str, name: str) -> MessageProgram:
    """Return the message program in a text, or of the recorded run in it, which is JSON. Raises ProgramError."""
    if not text.lstrip().startswith("{"):
        return load_messages(text, name)
    report = Reporter(name, text)
    return program_of(trace_of(text, report), report)


def _about_messages(certificate: Certificate, program: MessageProgram) -> ProofCheck:
    options = json_members(certificate.options, "`options`", ("buffer",), ("eager",))
    buffer = json_word(options["buffer"], "`options.buffer`", ALL_BUFFERS if "eager" in options else BUFFERS)
    if buffer == "eager":
        program = replace(program, eager=natural(options["eager"], "`options.eager`"))
    json_members(certificate.claim, "`claim`", ("kind",))
    claim = json_word(certificate.claim["kind"], "`claim.kind` about the input 'mp'", CLAIMS)
    return ProofCheck(claim, check_message_claim(program, buffer, claim, certificate.evidence), buffer)


def _proved(
    certificate: Certificate, table: Mapping[str, Mapping[str, Check]], run: Callable[[Check, object], str]
) -> ProofCheck:
    """Let the check for the kinds of the claim and the evidence, of those in `table`, judge the evidence."""
    json_members(certificate.claim, "`claim`", ("kind",))
    claim = json_word(certificate.claim["kind"], f"`claim.kind` about the input {certificate.input!r}", tuple(table))
    kind = json_word(certificate.evidence["kind"], f"`evidence.kind` for the claim {claim!r}", tuple(table[claim]))
    return ProofCheck(claim, run(table[claim][kind], certificate.evidence))
