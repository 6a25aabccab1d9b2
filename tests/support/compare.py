"""Deciding one program by two methods, and what to do when they disagree: shrink it and keep it."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from pathlib import Path
from random import Random

from rdma_robust.errors import InternalError, SizeLimitError
from rdma_robust.language.flow.cfg import Program
from rdma_robust.language.load import load_program
from rdma_robust.model import rdma
from rdma_robust.options import ALL_REDUCTIONS, LARGE, CheckOptions, Instrumentation
from rdma_robust.robustness.decide import decide
from rdma_robust.semantics.oracle.brute_force import oracle_robust
from tests.support.random_programs import Size, random_program
from tests.support.shrinking import shrink

REGRESSIONS = Path(__file__).parents[1] / "agreement" / "regressions"

Method = Callable[[Program, bool], str]
"""From a program and `ordered_reads` to `robust`, `not-robust`, or the limit that stopped it in parentheses."""


def by_oracle(program: Program, ordered_reads: bool) -> str:
    try:
        return "robust" if oracle_robust(program, rdma(ordered_reads)) is None else "not-robust"
    except SizeLimitError:
        return "(too large for the oracle)"


def by(
    instrumentation: Instrumentation,
    max_states: int = 30_000,
    *,
    reductions: frozenset[str] = ALL_REDUCTIONS,
    large: int = LARGE,
) -> Method:
    """Deciding with these options; with `large` 0 no program is too small for any of the reductions."""

    def method(program: Program, ordered_reads: bool) -> str:
        options = CheckOptions(
            instrumentation=instrumentation,
            ordered_reads=ordered_reads,
            max_states=max_states,
            reductions=reductions,
            large=large,
        )
        try:
            verdict = decide(program, options).verdict.value
        except InternalError as error:
            return f"internal error: {error}"
        return f"({max_states} states)" if verdict == "unknown" else verdict

    return method


def disagree(text: str, one: Method, other: Method, ordered_reads: bool) -> bool:
    """Whether both methods answer and their answers differ."""
    program = load_program(text, "random.rdma")
    a, b = one(program, ordered_reads), other(program, ordered_reads)
    return not a.startswith("(") and not b.startswith("(") and a != b


def count_agreeing(
    seeds: range, size: Size, one: Method, other: Method, *, loops: bool = False, enough: int | None = None
) -> int:
    """Compare two methods on random programs; return on how many both answered (stopping after `enough`).

    Seeds alternate between the two settings of `ordered_reads`. Fails with a shrunk program, which it also saves.
    """
    answered = 0
    for seed in seeds:
        if enough is not None and answered >= enough:
            break
        text = random_program(Random(seed), size, loops=loops)
        program, ordered = load_program(text, f"seed {seed}"), bool(seed % 2)
        a, b = one(program, ordered), other(program, ordered)
        if a.startswith("(") or b.startswith("("):
            continue
        answered += 1
        if a != b:
            fail(text, f"seed {seed}, ordered_reads {ordered}: {a} against {b}", one, other, ordered)
    return answered


def fail(text: str, what: str, one: Method, other: Method, ordered_reads: bool) -> None:
    small = shrink(text, lambda t: disagree(t, one, other, ordered_reads))
    REGRESSIONS.mkdir(exist_ok=True)
    path = REGRESSIONS / f"{hashlib.sha256(small.encode()).hexdigest()[:10]}.rdma"
    path.write_text(f"// found at random: {what}\n{small}\n")
    raise AssertionError(f"{what}; shrunk and saved as {path.name}:\n{small}")
