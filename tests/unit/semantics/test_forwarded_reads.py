"""A CPU reads its own store before anybody else does, and events that follow the read may come before the store."""

from __future__ import annotations

from rdma_robust.language.load import load_program
from rdma_robust.model import RDMA, Model
from rdma_robust.semantics.oracle.brute_force import oracle_robust

R = """\
domain 0..2
node A {{ x = 0, y = 0 }}
thread T on A {{ reg r, q; x = 1; {}r = y }}
thread U on A {{ y = 1; x = 2 }}
"""


def test_brute_force_reads_a_store_that_comes_later_for_all_others() -> None:
    """With r = 0 and x = 1 in the end, the store x = 1 is behind everything of U, and q = x has read it before."""
    for between in ("", "q = x; "):
        program = load_program(R.format(between), "r.rdma")
        assert oracle_robust(program, Model(cpu="tso")) is not None
        assert oracle_robust(program, RDMA) is None
