"""`prove --certificate` and `verify-certificate`: one file per model, both verdicts, and what cannot be had is said."""

from __future__ import annotations

from pathlib import Path

import pytest

from rdma_robust.certify.safety.models import REDUCTIONS
from rdma_robust.cli.app import run

DEKKER = """
node M { x = 0, y = 0 }
thread T0 on M { reg r; x = 1; r = y; assume r == 0; cs: skip }
thread T1 on M { reg r; y = 1; r = x; assume r == 0; cs: skip }
invariant !(T0 at cs && T1 at cs)
"""


@pytest.fixture
def program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "dekker.rdma"
    path.write_text(DEKKER)
    return path


def test_each_model_has_a_certificate(program: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert run(["prove", "--jobs", "1", "--model", "sc,tso,rma", "--certificate", "proofs", program.name]) == 1
    capfd.readouterr()
    assert sorted(path.name for path in Path("proofs").iterdir()) == [f"dekker.rdma.{m}.json" for m in ("rma", "sc", "tso")]
    assert run(["verify-certificate", "proofs"]) == 0
    assert capfd.readouterr().out.splitlines() == [
        "proofs/dekker.rdma.rma.json: VALID: dekker.rdma is safe under rma, proved by an inductive invariant of 25 states",
        "proofs/dekker.rdma.sc.json: VALID: dekker.rdma is safe under sc, proved by an inductive invariant of 25 states",
        "proofs/dekker.rdma.tso.json: VALID: dekker.rdma is unsafe under tso, proved by a run of 6 moves to: "
        "invariant !(T0 at cs && T1 at cs)",
    ]
    program.write_text(DEKKER.replace("r = y; ", "mfence; r = y; "))
    assert run(["verify-certificate", "proofs/dekker.rdma.tso.json"]) == 1
    assert "INVALID: it is not about this text" in capfd.readouterr().out


def test_a_certificate_that_cannot_be_had_is_said(
    program: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delitem(REDUCTIONS, "rdma")  # type: ignore[arg-type]
    assert run(["prove", "--jobs", "1", "--model", "rdma", "--certificate", "proofs", "--quiet", program.name]) == 3
    shown = capfd.readouterr()
    assert (
        "dekker.rdma: warning: no certificate: rdma: the checker knows the models sc, tso, pso, rma, and not rdma [RR006]"
    ) in shown.err
    assert list(Path("proofs").iterdir()) == []


def test_what_excludes_a_certificate(program: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert run(["prove", "--dump-after", "reduce", "--certificate", "proofs", program.name]) == 2
    assert "--certificate and --dump-after exclude one another" in capfd.readouterr().err
