"""Records of answers of `prove` about one program: plain data that crosses processes, for every form of report.

Field names are the JSON's (`schema/prove.schema.json`), but for `lines`, `source` and `exit_code`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, Literal

from rdma_robust.frame.answer import DiagnosticView, ErrorKind
from rdma_robust.frame.exits import Exit, within
from rdma_robust.reports.share.totals import Verdicts

SAFETY: Final = Verdicts("safe", "unsafe")
SafetyWord = Literal["safe", "unsafe", "unknown", "refused"]
Expected = Literal["safe", "unsafe"]


@dataclass(frozen=True, slots=True)
class ProofClaim:
    """A claim of the program: `kind` is `assertion`, `invariant`, `outcome`, or what else can go wrong."""

    kind: str
    text: str
    line: int
    column: int


@dataclass(frozen=True, slots=True)
class ProofMove:
    """A move of a machine: whose, for which statement, what kind (`does`), what it read and wrote, and all of it in words.

    `where` is `T1 CPU on A`, or who moves for the thread: its store buffer, or its NIC.
    """

    thread: str | None
    line: int | None
    column: int | None
    statement: str | None
    does: str
    read: int | None
    written: int | None
    where: str
    text: str
    faults: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ProofRun:
    """A run that the model's machine has replayed, and the state at its end in words."""

    moves: tuple[ProofMove, ...]
    end: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class PossibleView:
    """An outcome that is claimed to be possible, and whether it is; None if that is not known."""

    claim: ProofClaim
    possible: bool | None
    reason: str
    run: ProofRun | None = None


@dataclass(frozen=True, slots=True)
class PlaceFacts:
    """Facts that are true whenever threads are at certain places: `place` as in `T1 at cs`, the facts in order, strongest
    first."""

    place: str
    facts: tuple[str, ...]
    states: int


@dataclass(frozen=True, slots=True)
class NeedView:
    """A flush or fence of the text, and what the program is without it: the claim that fails then, and its last moves."""

    statement: str
    line: int
    column: int
    verdict: SafetyWord
    reason: str
    claim: str | None = None
    run: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class DifferenceView:
    """Two neighbouring models of which only the `weaker` one has a run that violates a claim, and the reordering in it."""

    stronger: str
    weaker: str
    text: str
    lines: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class ModelRecord:
    """The answer under one model. `expected` is what the `expect` line at `expected_line` says.

    `engine` is None where there was nothing to search. SAFE has `facts`, UNSAFE a `claim` and its `run`, UNKNOWN may have
    the moves of a path (`suspect`) that was not decided. `facts_of` says whether facts hold of every state that can be
    reached, or of those that the search kept. `unreachable` are claims of a safe program that are about nothing. `counts`
    are the engine's own numbers.
    """

    model: str
    verdict: SafetyWord
    reason: str
    expected: Expected | None = None
    expected_line: int | None = None
    as_expected: bool | None = None
    engine: str | None = None
    reduction: str | None = None
    bound: int | None = None
    claims: int = 0
    states: int = 0
    transitions: int = 0
    counts: Mapping[str, int | float] = field(default_factory=dict)
    time_s: float = 0.0
    claim: ProofClaim | None = None
    run: ProofRun | None = None
    suspect: tuple[str, ...] = ()
    possible: tuple[PossibleView, ...] = ()
    unreachable: tuple[ProofClaim, ...] = ()
    facts: tuple[PlaceFacts, ...] = ()
    facts_of: Literal["reachable", "kept"] | None = None
    needs: tuple[NeedView, ...] = ()
    lines: tuple[str, ...] = ()

    @property
    def error_kind(self) -> str | None:
        """Nothing: errors are those of a program."""
        return None

    def exit_of(self, expect: bool) -> Exit:
        """Return what this answer alone would exit with; a refused model asks nothing, so nothing is wrong with it.

        An outcome that is claimed to be possible and is not counts like a violated claim.
        """
        if self.verdict == "refused":
            return Exit.OK
        codes = [SAFETY.exit_of(self, expect)]
        codes += [Exit.NOT_ROBUST for each in self.possible if each.possible is False]
        codes += [Exit.UNKNOWN for each in self.possible if each.possible is None]
        return within(codes)


@dataclass(frozen=True, slots=True)
class ProofRecord:
    """The answers for one program. `verdict` is the worst of its models', `unknown`, or `error`, then with `error_kind`."""

    file: str
    verdict: str
    reason: str = ""
    error_kind: ErrorKind | None = None
    program: str | None = None
    models: tuple[ModelRecord, ...] = ()
    differences: tuple[DifferenceView, ...] = ()
    warnings: tuple[DiagnosticView, ...] = ()
    errors: tuple[DiagnosticView, ...] = ()
    time_s: float = 0.0
    lines: tuple[str, ...] = ()
    source: str | None = None

    def exit_of(self, expect: bool) -> Exit:
        """Return the exit code of the program alone."""
        if self.verdict == "error":
            return Exit.INTERNAL if self.error_kind == "internal" else Exit.INVALID
        if not self.models:
            return Exit.UNKNOWN
        return within(each.exit_of(expect) for each in self.models)


def worst_word(models: Sequence[ModelRecord]) -> str:
    """Return the verdict of a program from those under its models."""
    found = {each.verdict for each in models}
    return next((word for word in ("unsafe", "unknown", "safe") if word in found), "safe")
