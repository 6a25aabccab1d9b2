"""Every shape of loop gives a model that SPIN answers, whatever the question."""

from __future__ import annotations

from itertools import product
from pathlib import Path

import pytest

from rdma_robust.exports import VARIANTS, promela_of
from rdma_robust.language.load import load_program
from rdma_robust.limits import Limits
from rdma_robust.options import CheckOptions
from rdma_robust.robustness.decide import decide
from rdma_robust.semantics.machines.outcomes import explore
from rdma_robust.semantics.machines.sc import ScMachine
from tests.support.spin import MISSING, verify_all

PROGRAM = """
domain 0..1
node A {{ x, y, ring[2] }}
node B {{ z, w }}
thread S on B {{ put A.x = w; w = 1 }}
thread T on A {{
  reg r
  {body}
}}
"""

BODIES = (
    "while x == 0 { }",
    "loop { r = x }",
    "loop { }",
    "while 1 { }",
    "while 1 { skip }",
    "while 1 { r = 1 }",
    "while r == 0 { r = 0 }",
    "while x { r = x }",
    "loop { loop { } }",
    "loop { loop { r = y } }",
    "while 1 { while y == 0 { } }",
    "while 1 { choose { } or { r = x } }",
    "choose { loop { } } or { while x == 0 { } }",
    "loop { assume x == 0 }",
    "loop { assert x == 0 }",
    "loop { x = 1 }",
    "loop { x = 0 }",
    "loop { r = cas(y, 1, 0) }",
    "while 1 { r = y; if r { halt } }",
    "while ring[r] == 0 { r = 1 - r }",
    "loop { rfence B }",
    "loop { put B.z = y; poll B }",
    "loop { put B.z = y }; while x == 0 { }",
    "loop { get ring[0] = B.z; poll B }",
    "while 1 { loop { }; if x == 1 { loop { r = x } } }",
    "while x == 0 { }; while x == 1 { }; y = 1",
    "while 1 == 2 { loop { } }; loop { }",
)

pytestmark = pytest.mark.skipif(
    bool(MISSING), reason=f"{' and '.join(MISSING)} is not installed: not run: SPIN's answers on programs with loops"
)


@pytest.mark.ci
def test_every_loop_has_an_answer(tmp_path: Path) -> None:
    """Equal to ours, but that a model with a bounded counter may miss an error."""
    cases = [(load_program(PROGRAM.format(body=body), body), question) for body, question in product(BODIES, VARIANTS)]
    models = [promela_of(program, question, counter_bound=2) for program, question in cases]
    found = verify_all([model.text for model in models], tmp_path, "-O0", "-DMEMLIM=500", timeout=20.0)
    for (program, question), model, spin in zip(cases, models, found, strict=True):
        if question == "none":
            expected = "not-robust" if explore(ScMachine(program), Limits()).faults else "robust"
        else:
            expected = decide(program, CheckOptions()).verdict.value
        assert spin.verdict == expected or (model.bounded and expected == "not-robust"), f"{program.file}, {question}"
