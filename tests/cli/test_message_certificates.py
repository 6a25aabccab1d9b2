"""`messages check --certificate` and `verify-certificate`: files for each buffer semantics, programs and recorded runs."""

from __future__ import annotations

from pathlib import Path

import pytest

from rdma_robust.cli.app import run

HEAD_ON = """
proc P { reg v; send 1 to Q; recv v from Q; assert v == 2 }
proc Q { reg v; send 2 to P; recv v from P }
"""


@pytest.fixture
def program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "head-on.mp"
    path.write_text(HEAD_ON)
    return path


def test_each_buffer_has_certificates(program: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert run(["messages", "check", "--jobs", "1", "--certificate", "proofs", program.name]) == 1
    assert sorted(path.name for path in Path("proofs").iterdir()) == [
        f"head-on.mp.{buffer}.{word}.json" for buffer in ("any", "infinite", "zero") for word in ("asserts", "deadlock")
    ]
    capfd.readouterr()
    assert run(["verify-certificate", "proofs"]) == 0
    said = capfd.readouterr().out.replace("\n  ", " ").splitlines()
    assert said[3] == (
        "proofs/head-on.mp.infinite.deadlock.json: VALID: head-on.mp has no deadlock under infinite, proved by all states "
        "of the normal form"
    )
    assert said[5].endswith("VALID: head-on.mp has a deadlock under zero, proved by a run")
    program.write_text(HEAD_ON.replace("== 2", "== 3"))
    assert run(["verify-certificate", "proofs/head-on.mp.zero.asserts.json"]) == 1
    assert "INVALID: it is not about this text" in capfd.readouterr().out


def test_a_recorded_run_has_certificates(program: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert run(["messages", "trace", program.name, "-o", "run.json"]) == 0
    assert run(["messages", "check", "--jobs", "1", "--certificate", "proofs", "run.json"]) == 1
    capfd.readouterr()
    assert run(["verify-certificate", "proofs"]) == 0
    assert "VALID: run.json" in capfd.readouterr().out


def test_a_certificate_that_cannot_be_had_is_said(program: Path, capfd: pytest.CaptureFixture[str]) -> None:
    program.write_text("proc P { reg x; while 1 { x = 1 - x } }")
    arguments = ["messages", "check", "--jobs", "1", "--buffer", "zero", "--quiet", "--certificate", "proofs"]
    assert run([*arguments, program.name]) == 3
    warning = "head-on.mp: warning: no certificate: zero: a process computes forever, which certificates do not cover"
    assert warning in capfd.readouterr().err
    assert list(Path("proofs").iterdir()) == []
