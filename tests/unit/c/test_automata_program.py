"""A C file, read, evaluated and decided: verdicts, and places of the C."""

from __future__ import annotations

from typing import Final

import pytest

from rdma_robust.c.evaluate.evaluated_c import evaluate_units
from rdma_robust.c.front.c_options import COptions
from rdma_robust.c.front.c_units import read_units
from rdma_robust.c.text.automata_program import evaluated_program
from rdma_robust.language.flow.cfg import Program, steps
from rdma_robust.options import CheckOptions
from rdma_robust.pipeline import check_program
from tests.conftest import ROOT

MAILBOX: Final = str(ROOT / "tests/data/mailbox.c")


def mailbox(*definitions: str) -> Program:
    units = read_units(MAILBOX, COptions(definitions=definitions))
    return evaluated_program(evaluate_units(units, name="mailbox"), MAILBOX)


@pytest.mark.parametrize(("definitions", "verdict"), [((), "NOT_ROBUST"), (("POLLED",), "ROBUST")])
def test_a_source_is_written_again_before_its_put_has_read_it(definitions: tuple[str, ...], verdict: str) -> None:
    assert check_program(mailbox(*definitions), CheckOptions()).verdict.name == verdict


def test_a_step_has_its_place_in_the_c_and_the_calls_that_lead_there() -> None:
    lines = (ROOT / "tests/data/mailbox.c").read_text(encoding="utf-8").splitlines()
    post = next(n for n, line in enumerate(lines, 1) if "ibv_post_send" in line)
    call = next(n for n, line in enumerate(lines, 1) if "put(&staging.data" in line)
    sender = next(thread for thread in mailbox().threads if thread.name == "sender")
    chains = [[each.line for each in step.span.chain()] for _, _, step in steps(sender)]
    assert [post, call] in chains
