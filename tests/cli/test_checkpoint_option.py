"""The option `--checkpoint`: a run that goes on, and everything that is no checkpoint of it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from bench.families import pipeline
from rdma_robust.counters.kernel import driver
from rdma_robust.counters.parts import checkpoint
from tests.conftest import ROBUST, Cli
from tests.support.parts_here import HostsHere

pytestmark = pytest.mark.skipif(not driver.AVAILABLE, reason="the compiled kernel is not installed: it is not tested")

KEPT = ("--executor", "local:2", "--checkpoint", "kept")


@pytest.fixture(autouse=True)
def _here(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "it.rdma").write_text(pipeline(3, 2))
    (tmp_path / "calm.rdma").write_text(ROBUST)
    monkeypatch.setattr(driver, "MANY", 0)
    monkeypatch.setattr(checkpoint, "EVERY_S", 0.0)
    monkeypatch.setattr(driver, "hosts_of", lambda _: HostsHere(2))


@pytest.mark.ci
def test_another_run_goes_on_and_no_other_program(cli: Cli, tmp_path: Path) -> None:
    alone = json.loads(cli("check", "it.rdma", "--threads", "1", "--format", "json").stdout)["results"][0]
    cut = cli("check", "it.rdma", *KEPT, "--max-states", "300", "--format", "json")
    assert cut.returncode == 3 and list((tmp_path / "kept").glob("*.states"))
    found = json.loads(cli("check", "it.rdma", *KEPT, "--format", "json").stdout)["results"][0]
    assert {name: found[name] for name in ("verdict", "states", "transitions")} == {
        name: alone[name] for name in ("verdict", "states", "transitions")
    }
    for arguments in (("check", "calm.rdma"), ("check", "it.rdma", "--reductions", "none"), ("verify", "it.rdma")):
        other = cli(*arguments, *KEPT)
        assert other.returncode == 2
        assert "of another program, or other options (it.rdma): name another folder, or remove that one" in " ".join(
            (other.stdout + other.stderr).split()
        )
    next((tmp_path / "kept").glob("*-1.states")).unlink()
    half = cli("check", "it.rdma", *KEPT)
    assert half.returncode == 2
    assert "the file of part 2 is missing; remove that folder, or name another one" in " ".join(
        (half.stdout + half.stderr).split()
    )


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("it.rdma", "--checkpoint", "kept"), "add --executor local"),
        (("it.rdma", "calm.rdma", *KEPT), "for one program, these are 2"),
        (("it.rdma", "--executor", "local:2", "--checkpoint", ""), "the name of a folder is needed"),
        (("it.rdma", "--executor", "local:2", "--checkpoint", "."), "has other files"),
        (("it.rdma", "--executor", "local:2", "--checkpoint", "it.rdma/kept"), "Not a directory"),
        (("it.rdma", "--executor", "local:2", "--checkpoint", "nowhere://x"), "nowhere"),
    ],
)
def test_no_place_for_checkpoints(cli: Cli, arguments: tuple[str, ...], said: str) -> None:
    done = cli("check", *arguments)
    assert done.returncode == 2
    assert said in " ".join((done.stdout + done.stderr).split())
