"""Expressions have the same values for SPIN, which simulates or compiles them, as for us."""

from __future__ import annotations

import itertools
import subprocess
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from random import Random

import pytest

from rdma_robust.counters.promela.write import spell
from rdma_robust.errors import ProgramError
from rdma_robust.exports import promela_of
from rdma_robust.expr import Expr, evaluate
from rdma_robust.language.flow.cfg import Program
from rdma_robust.language.load import load_program
from rdma_robust.limits import Limits
from rdma_robust.options import CheckOptions
from rdma_robust.robustness.decide import decide
from rdma_robust.semantics.machines.outcomes import explore
from rdma_robust.semantics.machines.sc import ScMachine
from tests.support.nested_expressions import NAMES, nested, random_source
from tests.support.spin import MISSING, compile_verifier, generate, verify_all

VALUES = ((3, 2, 1), (0, 1, 2), (1, 1, 1), (2, 0, 3), (1, 3, 0), (-1, 2, 4), (5, -2, 2))

pytestmark = pytest.mark.skipif(
    bool(MISSING), reason=f"{' and '.join(MISSING)} is not installed: not run: SPIN's values of expressions"
)

PROGRAM = """
domain -4..4
node A {{ x = 1, g = 0 }}
node B {{ z = 0 }}
thread T on A {{
  reg r, s, one = 1, zero
  choose {{ x = 2 }} or {{ x = -1 }} or {{ skip }}
  r = x
  s = {value}
  assert {asserted}
  if {condition} {{ put B.z = g; g = 1 }}
}}
"""


def value(expr: Expr, values: tuple[int, ...]) -> int | None:
    """Return the value, or None where there is none: a division by zero, a shift by a negative number."""
    try:
        return evaluate(expr, dict(zip(NAMES, values, strict=True)))
    except (ZeroDivisionError, ValueError):
        return None


def test_every_operator_under_every_operator(tmp_path: Path) -> None:
    """One model prints the values of all combinations, simulated first, then compiled."""
    expected: list[str] = []
    lines = ["int a, b, c;", "active proctype all() {"]
    for values in VALUES:
        lines.append("; ".join(f"{name} = {number}" for name, number in zip(NAMES, values, strict=True)) + ";")
        for expr in nested():
            number = value(expr, values)
            if number is not None:
                text = spell(expr, {name: name for name in NAMES})
                lines.append(f'printf("{len(expected)} %d\\n", {text});')
                expected.append(f"{len(expected)} {number}")
    generate("\n".join([*lines, "end: false }", ""]), tmp_path)
    simulated = subprocess.run(["spin", "-T", "model.pml"], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert [line for line in simulated.stdout.splitlines() if line[:1].isdigit()][: len(expected)] == expected
    compile_verifier(tmp_path, "-DPRINTF")
    verified = subprocess.run(["./pan", "-m100000"], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert [line for line in verified.stdout.splitlines() if line[:1].isdigit()][: len(expected)] == expected


def programs() -> Iterator[tuple[str, Program]]:
    """Random programs with deep conditions and values, but for those in which a constant part divides by zero."""
    for seed in itertools.count():
        rng = Random(seed)
        asserted, condition = (random_source(rng, ("r", "s", "one", "zero"), 3) for _ in range(2))
        value = random_source(rng, ("r", "one", "zero"), 3)
        text = PROGRAM.format(value=value, asserted=asserted, condition=condition)
        with suppress(ProgramError):
            yield text, load_program(text, f"seed {seed}")


@pytest.mark.ci
def test_conditions_and_values_of_programs(tmp_path: Path) -> None:
    """After assignments were substituted into guards and constant registers were taken out."""
    chosen = list(itertools.islice(programs(), 60))
    ours = [decide(program, CheckOptions()).verdict.value for _, program in chosen]
    ours += ["not-robust" if explore(ScMachine(program), Limits()).faults else "robust" for _, program in chosen]
    models = [promela_of(program, question).text for question in ("pivot", "none") for _, program in chosen]
    found = verify_all(models, tmp_path, "-O0")
    for (text, _), verdict, spin in zip(chosen * 2, ours, found, strict=True):
        assert spin.verdict == verdict, text
    assert set(ours[:60]) == set(ours[60:]) == {"robust", "not-robust"}
