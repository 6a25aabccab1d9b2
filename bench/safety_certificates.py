"""Certificates of the programs in litmus/prove: what it takes to make them and to check them, beside the proof.

`python -m bench certificates` measures on one core and keeps what it measured. Checking should take at most three times as
long as the proof; what is proven within a hundredth of a second does not count.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Final

from bench.records import Certified, save
from bench.safety import models_of, programs
from rdma_robust import TOOL
from rdma_robust.analyses.prove.prove import decide_safety
from rdma_robust.certify.checker import verify
from rdma_robust.certify.document import read_document
from rdma_robust.errors import SizeLimitError
from rdma_robust.evidence.envelope import write_document
from rdma_robust.evidence.of_safety import safety_certificate
from rdma_robust.language.flow.cfg import Program
from rdma_robust.language.flow.claims import AnyModelName
from rdma_robust.limits import Limits

PROOF_S: Final = 20.0
GOAL: Final = 3.0
SHORT_S: Final = 0.01


def report(say: Callable[[str], None]) -> None:
    """Measure every certificate, and keep what was measured."""
    rows = []
    for path, program in programs():
        for model in models_of(program):
            row = _certified(path.stem, program, model, say)
            rows += [] if row is None else [row]
    save("certificates", rows)
    safe = [row for row in rows if row.verdict == "safe" and row.prove_s >= SHORT_S]
    slow = [f"{row.program} {row.model}" for row in safe if row.check_s > GOAL * row.prove_s]
    spent = [sum(row.prove_s for row in rows), sum(row.make_s for row in rows), sum(row.check_s for row in rows)]
    say("{} certificates: proving {:.1f} s, making {:.1f} s, checking {:.1f} s".format(len(rows), *spent))
    named = ", ".join(slow) or "none"
    say(f"of {len(safe)} proofs of {SHORT_S} s or more, checked in over {GOAL:g} times the proof: {named}")


def _certified(name: str, program: Program, model: AnyModelName, say: Callable[[str], None]) -> Certified | None:
    started = time.process_time()
    outcome = decide_safety(program, model, Limits.of(PROOF_S))
    proven = time.process_time()
    try:
        made = safety_certificate(outcome, None, Limits.of(PROOF_S))
    except SizeLimitError as error:
        say(f"{name} {model}: {outcome.safety.value}, no certificate: {error}")
        return None
    if made is None:
        say(f"{name} {model}: {outcome.safety.value}: {outcome.reason}")
        return None
    data = write_document(made, TOOL)
    finished = time.process_time()
    verify(read_document(data), program.source, name)
    checked = time.process_time()
    states, regions = (_length(made.evidence.get(part)) for part in ("states", "regions"))
    times = proven - started, finished - proven, checked - finished
    return Certified(name, model, outcome.safety.value, outcome.engine or "", states, regions, len(data), *times)


def _length(value: object) -> int:
    return len(value) if isinstance(value, list) else 0
