"""The `import` command, as users run it."""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest

from rdma_robust.errors import UsageError
from rdma_robust.language.flow.cfg import Section
from rdma_robust.language.load import load_program
from rdma_robust.language.trencher.trencher_reader import read_trencher
from rdma_robust.language.trencher.trencher_to_rdma import as_rdma
from rdma_robust.model import Model
from rdma_robust.options import CheckOptions
from rdma_robust.outcome import Verdict
from rdma_robust.robustness.decide import decide
from tests.conftest import ROOT, Cli
from tests.support.trencher_machine import random_trencher, robust

TWINS = sorted((ROOT / "litmus/trencher").glob("*.trencher"))
TSO = CheckOptions(hardware=Model(cpu="tso"))

SWAP = """\
thread t
initial q0
transition q0 q1 lock
transition q1 q2 read r 5
transition q2 q3 write + r 1 5
transition q3 q4 unlock
end
"""


def test_a_program_is_written_in_the_language(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "t.trencher").write_text(SWAP)
    done = cli("import", "trencher", "t.trencher", "-o", "t.rdma")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert (tmp_path / "t.rdma").read_text().splitlines() == [
        "// from t.trencher",
        "hardware cpu tso",
        "domain 0..1",
        "node M { m5 }",
        "thread t on M {",
        "  reg pc = 1, r, got",
        "  while pc != 0 {",
        "      assume (pc == 1)",
        "      got = faa(m5, 1)",
        "      r = got",
        "      pc = 0",
        "  }",
        "}",
    ]
    assert cli("import", "trencher", "t.trencher", "-o", "t.rdma").returncode == 2  # --force replaces it


def test_what_cannot_be_written_is_said(cli: Cli, tmp_path: Path) -> None:
    waiting = SWAP.replace("transition q2 q3 write", "transition q2 q2a check != r 0\ntransition q2a q3 write")
    other = "thread u\ninitial q0\ntransition q0 q1 write 1 5\nend\n"
    (tmp_path / "t.trencher").write_text(waiting + other)
    done = cli("import", "trencher", "t.trencher")
    assert done.returncode == 2
    assert "line 3: a thread may keep the memory locked, which `.rdma` programs cannot; `check` decides it" in done.stderr
    (tmp_path / "bad.trencher").write_text(SWAP.replace("lock", "lck", 1))
    done = cli("import", "trencher", "bad.trencher")
    assert done.returncode == 2
    assert "bad.trencher:3:18: error: unknown instruction `lck` [RR631]" in done.stderr
    for wrong in ("9", "5..2", "0..99999"):
        assert "expected LO..HI" in cli("import", "trencher", "t.trencher", "--addresses", wrong).stderr


def test_addresses_can_be_said(cli: Cli, tmp_path: Path) -> None:
    grows = (
        "thread t\ninitial q0\ntransition q0 q1 read a 0\ntransition q1 q2 read b a\ntransition q2 q0 write + a 1 0\nend\n"
    )
    (tmp_path / "t.trencher").write_text(grows)
    assert "RR633" in cli("import", "trencher", "t.trencher").stderr
    done = cli("import", "trencher", "t.trencher", "--addresses", "0..3")
    assert "values grow beyond" in done.stderr


QUICK = frozenset({"burns", "clh", "double-word-cas", "fast-mutex", "mcs", "nbw", "parker-fenced"})


@pytest.mark.parametrize(
    "path", [pytest.param(p, id=p.stem, marks=() if p.stem in QUICK else pytest.mark.long) for p in TWINS]
)
def test_a_twin_keeps_its_verdict(path: Path) -> None:
    read = read_trencher(path.read_text(), path.name, trusting=True)
    if any(isinstance(step.op, Section) for thread in read.threads for _, _, step in thread.edges):
        with pytest.raises(UsageError, match=r"line \d+: a locked section of several locations \(m0, m1\) has no words"):
            as_rdma(read, path.name)
        return
    text = as_rdma(read, path.name)
    program = load_program(text, "imported.rdma")
    assert program.hardware.cpu == "tso"
    assert decide(program, TSO).verdict is (Verdict.ROBUST if program.expect_robust else Verdict.NOT_ROBUST)


@pytest.mark.parametrize("seeds", [range(10), pytest.param(range(100, 1500), marks=pytest.mark.long)], ids=["few", "many"])
def test_random_programs_keep_their_verdicts(seeds: range) -> None:
    written = 0
    for seed in seeds:
        text = random_trencher(Random(seed), (2, 2), (2, 4))
        try:
            imported = as_rdma(read_trencher(text, "random.trencher", trusting=True), "random.trencher")
        except UsageError:
            continue
        outcome = decide(load_program(imported, "imported.rdma"), TSO)
        assert (outcome.verdict is Verdict.ROBUST) == robust(text), text
        written += 1
    assert written > len(seeds) // 2
