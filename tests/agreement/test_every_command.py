"""Random programs of every family are answered by every command, and no answer is, or has in it, an internal error."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import pytest

from tests.conftest import Cli
from tests.support.random_deployed import FAMILIES, random_deployed
from tests.support.random_lanes import on_lanes

LIMIT: Final = ("--timeout", "3")
COMMANDS: Final = (
    ("verify", *LIMIT),
    ("check", "--certificate", "proofs", *LIMIT),
    ("check", "--self-check", *LIMIT),
    ("check", "--order", "srd", *LIMIT),
    ("explain", *LIMIT),
    ("explain", "--order", "fi(RMA_WAW)", *LIMIT),
    ("repair", *LIMIT),
    ("outcomes", "--max-states", "3000"),
    ("verify", "--order", "ooo-dp", *LIMIT),
    ("reach", "-t", "1 == 0", *LIMIT),
    ("models", *LIMIT),
    ("needs", *LIMIT),
    ("lint",),
    ("export", "--to", "promela"),
    ("export", "--to", "dot"),
    ("prove", *LIMIT),
    ("fmt",),
)


@pytest.mark.parametrize("kind", FAMILIES)
@pytest.mark.parametrize(
    "seeds",
    [
        pytest.param(range(8), marks=pytest.mark.ci),
        *(pytest.param(range(n, n + 400), marks=pytest.mark.long) for n in range(8, 4008, 400)),
    ],
    ids=lambda seeds: str(seeds.start),
)
def test_no_answer_is_an_internal_error(cli: Cli, tmp_path: Path, kind: str, seeds: range) -> None:
    for seed in seeds:
        programs = random_deployed(kind, range(9_000_000 + seed, 9_000_001 + seed))
        command = COMMANDS[(seed + FAMILIES.index(kind)) % len(COMMANDS)]
        for program, _ in on_lanes(programs) if seed % 3 == 0 else programs:
            (tmp_path / "p.rdma").write_text(program.source)
            done = cli(*command, "p.rdma")
            assert done.returncode != 4, f"{command}\n{program.source}\n{done.stderr}"
            assert "internal error" not in done.stdout + done.stderr, f"{command}\n{program.source}\n{done.stdout}"


ORDERED = """node A {{ a = 1 }}
node B {{ b }}
thread T on A {{
  reg r
  {0}
  put B.b = 2 inline
  {0}
  r = a
  assert r == 2
}}
"""


@pytest.mark.parametrize("statement", ["order B", "flush B", "rfence B"])
def test_a_run_under_sc_goes_past_what_orders_requests(cli: Cli, tmp_path: Path, statement: str) -> None:
    (tmp_path / "p.rdma").write_text(ORDERED.format(statement))
    done = cli("verify", "p.rdma")
    assert done.returncode == 1, done.stderr
    assert f"posts {statement}" in done.stdout or statement == "flush B"
