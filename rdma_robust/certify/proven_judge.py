"""The proven judge: a program that `make proofs` builds from proofs/judge; where it is, what it says of a certificate.

It judges counterexamples, and makes the search of Theorem 8 for programs that are said to be robust.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path
from typing import Final

from rdma_robust.certify.checker import program_of_certificate
from rdma_robust.certify.copies_invariants import with_claimed_copies
from rdma_robust.certify.document import PROGRAM, Certificate, json_array, mapping, natural, read_program_options
from rdma_robust.certify.judge_account import Account, account_of
from rdma_robust.certify.judge_question import JudgeQuestion, NotCovered, check_in_order, question_of
from rdma_robust.certify.program_question import ProgramQuestion, program_question_of
from rdma_robust.certify.violations import claimed_events
from rdma_robust.errors import UsageError
from rdma_robust.language.flow.cfg import RemoteRmw, steps

NAME: Final = "rdma-judge"
VARIABLE: Final = "RDMA_ROBUST_JUDGE"
"""The variable of the environment that names the program."""

BUILT: Final = Path(__file__).resolve().parents[2] / "proofs" / "judge" / "build" / NAME
"""Where `make proofs` puts it, in a checkout of the repository."""

VIOLATING: Final = "violating"

ROBUST: Final = "robust: "
"""What the answer of the search begins with, where the program is robust."""

UNCLEAR: Final = "unclear: "
"""What it begins with where the search does not know."""

REFUSED: Final = "refused: "
"""What it begins with where the threads are none that it knows."""

MORE_COMPLETIONS: Final = f"{UNCLEAR}more completions than are counted may matter"
"""The answer where counters stopped too early."""

COUNTERS: Final = (2, 4, 8, 16)
"""Where counters stop, one after the other, until it does not matter."""


def find_judge() -> str:
    """Return the path of the judge: what the environment names, or in PATH, or built here. Raises UsageError without one."""
    named = os.environ.get(VARIABLE)
    if named:
        if not os.access(named, os.X_OK) or os.path.isdir(named):
            raise UsageError(f"{VARIABLE} names {named}, which is no program that can be run")
        return os.path.abspath(named)
    found = shutil.which(NAME) or (str(BUILT) if os.access(BUILT, os.X_OK) else None)
    if found is None:
        raise UsageError(
            f"--proven needs the program {NAME}, which is not in PATH; build it with `make proofs` in a checkout of the "
            f"repository (Debian's `coq` is enough), and name it, proofs/judge/build/{NAME}, in {VARIABLE}"
        )
    return found


def judge_question(certificate: Certificate, text: str, name: str) -> JudgeQuestion | Account:
    """Return what the judge is asked about a certificate that the checker has accepted: by the rules of Lemma 3, or where
    they do not cover the trace, by all axioms. Raises NotCovered."""
    if certificate.about != (PROGRAM, "not-robust"):
        raise NotCovered(f"the claim {certificate.claim['kind']!r} (it judges whether programs are robust)")
    program = program_of_certificate(certificate, text, name)
    if any(isinstance(s.op, RemoteRmw) and s.op.operands for thread in program.threads for _, _, s in steps(thread)):
        raise NotCovered("operands of atomics in memory")
    if program.crowds:
        program = with_claimed_copies(program, certificate.evidence["copies"])
    platform = read_program_options(certificate.options).platform
    claimed = claimed_events(program, certificate.evidence["events"])
    written = mapping(certificate.evidence["mo"], "`evidence.mo`")
    mo = {cell: json_array(order, "`evidence.mo`", natural) for cell, order in written.items()}
    try:
        check_in_order(claimed, mo)
        return question_of(program, platform, claimed)
    except NotCovered:
        return account_of(program, platform, claimed, mo)


def search_question(certificate: Certificate, text: str, name: str) -> ProgramQuestion:
    """Return what the search is asked about a certificate that the checker has accepted. Raises NotCovered."""
    platform = read_program_options(certificate.options).platform
    return program_question_of(program_of_certificate(certificate, text, name), platform)


def ask_search(judge: str, question: ProgramQuestion) -> str:
    """Return what the search answers, with counters as high as it takes. Raises UsageError if it does not answer."""
    said = MORE_COMPLETIONS
    for counters in COUNTERS:
        if said == MORE_COMPLETIONS:
            said = "; ".join(ask_judge(judge, replace(question, counters=counters).text()))
    return said


def ask_judge(judge: str, question: str) -> list[str]:
    """Return the answers of the judge to questions, a line for each. Raises UsageError if it does not answer."""
    try:
        done = subprocess.run([judge], input=question, capture_output=True, text=True, check=False)
    except OSError as error:
        raise UsageError(f"cannot run {judge}: {error.strerror or error}") from error
    if done.returncode not in (0, 1) or done.stderr:
        said = done.stderr.strip() or f"it ended with code {done.returncode}"
        raise UsageError(f"{judge} does not answer as {NAME} does ({said}); build it again with `make proofs`")
    return done.stdout.splitlines()
