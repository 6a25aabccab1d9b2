"""What a check answers: a verdict with its reason, the counts of the search, and the confirmed counterexample."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import Final

from rdma_robust.errors import Diagnostic
from rdma_robust.language.flow.cfg import Fault, Program
from rdma_robust.model import RDMA, Model
from rdma_robust.semantics.hang import Hang
from rdma_robust.semantics.trace import Cycle, Event, Trace

BY_FILTER: Final = "no pivot lies on a critical cycle of the conflict graph: robust without a search"
"""The reason of ROBUST where the static filter was enough; a search then only asks which faults are reachable."""

NO_SEARCH: Final = "none"
"""The engine of an answer for which nothing was searched."""


class Verdict(Enum):
    """ROBUST follows only an exhausted search, NOT_ROBUST only a confirmed counterexample, UNKNOWN names a limit."""

    ROBUST = "robust"
    NOT_ROBUST = "not-robust"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Counts:
    """Sizes of the search: stored states, fired transitions, pivot classes started, unbounded poll counters."""

    states: int = 0
    transitions: int = 0
    pivots: int = 0
    counters: int = 0


@dataclass(frozen=True)
class Witness:
    """A violating trace in normal form alpha . m . beta, confirmed by the axioms.

    `order` lists the non-initial events in the order alpha, pivot, beta (the RDMA order); `before` of them are alpha.
    `run` lists the same events in the order the search under sequential consistency produced them, without the pivot
    for the pivot instrumentation. For the paper's instrumentation `pivot` is None and `order` is tau1 . tau2.
    `relaxed` lists the program-order pairs (earlier, later) of one thread that take effect in the opposite order and
    make the cycle possible.
    """

    trace: Trace
    order: tuple[Event, ...]
    before: int
    pivot: Event | None
    run: tuple[Event, ...]
    cycle: Cycle
    relaxed: tuple[tuple[Event, Event], ...]


@dataclass(frozen=True)
class Copies:
    """The program P(n) of a counterexample of a crowd: how many copies of each template it has, by name.

    If `least`, it is known that no P(n') with fewer copies in all has a counterexample.
    """

    numbers: tuple[tuple[str, int], ...]
    program: Program
    least: bool


@dataclass(frozen=True, slots=True)
class ClaimStanding:
    """What a program claims (`kind`, as in `assertion`, `text`, `line`), and what the hardware does to it: `holds`,
    `violated`, `unknown` or, where nothing it is about is ever reached, `unreachable`.

    `under_sc` says of a violated one whether it is violated under SC too, None if that is not known."""

    kind: str
    text: str
    line: int
    status: str
    under_sc: bool | None = None


@dataclass(frozen=True, slots=True)
class Matters:
    """What it comes to that a program is not robust.

    `claims` are those that something does not happen on the hardware. `final_states`, where no claim was
    decided, are those that only the hardware reaches, each as (name, value) pairs: () if there is none, None if they are not
    known. `skipped` says what was not asked.
    """

    claims: tuple[ClaimStanding, ...] = ()
    final_states: tuple[tuple[tuple[str, int], ...], ...] | None = None
    skipped: tuple[str, ...] = ()


@dataclass(frozen=True)
class Outcome:
    """The answer for one program. `reason` says in one line why (the limit, for UNKNOWN).

    `left_out` says what was not found out beside the verdict, and by which limit. `hang` is one that was come by; None says
    nothing about hangs. `model` is the memory model that was asked about. For a program with crowds the verdict is about any
    number of copies, and `witness` is one of `copies.program`; without `copies` a crowd that is NOT_ROBUST is so for some
    number that was not found within a limit, and `witness` is None. `matters` is None where that was not asked.
    """

    program: Program
    verdict: Verdict
    reason: str
    instrumentation: str
    engine: str
    counts: Counts
    time_s: float
    witness: Witness | None = None
    faults: tuple[Fault, ...] = ()
    faults_exact: bool = True
    spin_only: bool = False
    checked_by: tuple[str, ...] = ()
    hang: Hang | None = None
    model: Model = RDMA
    copies: Copies | None = None
    left_out: tuple[str, ...] = ()
    matters: Matters | None = None

    @property
    def shown(self) -> Program:
        """The program whose trace `witness` is."""
        return self.copies.program if self.copies else self.program

    @property
    def as_expected(self) -> bool | None:
        """True or False if the program has an `expect` line and the verdict is known to meet it or not, else None."""
        if self.program.expect_robust is None or self.verdict is Verdict.UNKNOWN:
            return None
        return self.verdict is (Verdict.ROBUST if self.program.expect_robust else Verdict.NOT_ROBUST)

    @property
    def warnings(self) -> tuple[Diagnostic, ...]:
        return self.program.warnings
