"""The outcome of a check: a verdict with its reason, the counts of the search, and the confirmed counterexample."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import Final

from rdma_robust.errors import Diagnostic
from rdma_robust.language.flow.cfg import Fault, Program
from rdma_robust.model import RDMA, Model
from rdma_robust.notebook_view import NotebookView
from rdma_robust.semantics.hang import Hang
from rdma_robust.semantics.trace import Cycle, Event, Trace

BY_FILTER: Final = "no pivot lies on a critical cycle of the conflict graph: robust without a search"
"""The reason of ROBUST where the static filter was enough; a search then only asks which faults are reachable."""

UNFOLLOWED: Final = "value not followed"
"""The fault of a value that leaves the range in which a program was read: of no claim."""

NO_SEARCH: Final = "none"
"""The engine of an answer for which nothing was searched."""

BRUTE_FORCE: Final = "brute force"
"""The engine of an answer from all traces, over the axioms."""


class Verdict(Enum):
    """ROBUST follows only an exhausted search, NOT_ROBUST only a confirmed counterexample, UNKNOWN names a limit."""

    ROBUST = "robust"
    NOT_ROBUST = "not-robust"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Counts:
    """Sizes of the search: stored states, fired transitions, pivot classes started, unbounded poll counters; and its
    threads, or processes if it had some."""

    states: int = 0
    transitions: int = 0
    pivots: int = 0
    counters: int = 0
    threads: int = 1
    processes: int = 0


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
class BrokenClaim:
    """A claim of a program that is known to fail, although no `expect` line says so: `kind` is that of the fault, `hang`, or
    `violated`, for an `expect` line by which something goes wrong where nothing does."""

    kind: str
    line: int
    column: int
    text: str


@dataclass(frozen=True, slots=True)
class ClaimStanding:
    """A claim of a program (`kind`, as in `assertion`, `text`, `line`), and what the hardware does to it: `holds`,
    `violated`, `unknown` or, where nothing it is about is ever reached, `unreachable`.

    `under_sc` says of a violated one whether it is violated under SC too, None if that is not known."""

    kind: str
    text: str
    line: int
    status: str
    under_sc: bool | None = None
    places: tuple[str, ...] = ()
    """As :attr:`rdma_robust.errors.Span.places`."""


@dataclass(frozen=True, slots=True)
class Matters:
    """The consequences of a program not being robust.

    `claims` are those that something does not happen on the hardware. `final_states`, where no claim was
    decided, are those that only the hardware reaches, each as (name, value) pairs: () if there is none, None if they are not
    known. `skipped` says what was not asked.
    """

    claims: tuple[ClaimStanding, ...] = ()
    final_states: tuple[tuple[tuple[str, int], ...], ...] | None = None
    skipped: tuple[str, ...] = ()


@dataclass(frozen=True)
class Outcome(NotebookView):
    """The answer for one program. `reason` says in one line why (the limit, for UNKNOWN).

    `faults` may be reachable, and are if `faults_exact`; of others those that a run was seen to meet are `met`. `left_out`
    says what was not found out beside the verdict, and by which limit. `hang` is one that was come by; None says nothing
    about hangs. `model` is the memory model that was asked about. For a program with crowds the verdict is about any number
    of copies, and `witness` is one of `copies.program`; without `copies` a crowd that is NOT_ROBUST is so for some number
    that was not found within a limit, and `witness` is None. `matters` is None where that was not asked.
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
    met: frozenset[Fault] = frozenset()
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
        """True or False if the program has an `expect` line and the answer is known to meet it or not, else None.

        It does not if the verdict is another one, and if a claim is seen to fail (`broken`)."""
        if self.broken and self.program.expectations:
            return False
        if self.program.expect_robust is None or self.verdict is Verdict.UNKNOWN:
            return None
        return self.verdict is (Verdict.ROBUST if self.program.expect_robust else Verdict.NOT_ROBUST)

    def meets(self, fault: Fault) -> bool:
        """Return whether some run is known to meet one of the faults."""
        return self.faults_exact or fault in self.met

    @property
    def broken(self) -> tuple[BrokenClaim, ...]:
        """The claims that are known to fail although no `expect` line says so, in the order of the source.

        A program claims that its assertions hold, that nothing else goes wrong in it, and that it does not hang.
        """
        met = [f for f in self.faults if self.meets(f) and f.kind != UNFOLLOWED]
        meant = next((e for e in self.program.expectations if e.kind == "violated"), None)
        found = [BrokenClaim(f.kind, f.span.line, f.span.column, f.text or f.message) for f in met if meant is None]
        if meant is not None and not met and self._nothing_fails:
            found.append(
                BrokenClaim("violated", meant.span.line, meant.span.column, f"`{meant.text}`, but nothing goes wrong")
            )
        if self.hang is not None:
            first = self.hang.waits[0]
            found.append(BrokenClaim("hang", first.line or 1, first.column or 1, first.text))
        return tuple(found)

    @property
    def _nothing_fails(self) -> bool:
        """Whether it is known that no run meets a fault and no state is against an invariant."""
        exact = self.verdict is Verdict.ROBUST and self.faults_exact
        return exact and not self.faults and not self.program.invariants

    @property
    def warnings(self) -> tuple[Diagnostic, ...]:
        return self.program.warnings
