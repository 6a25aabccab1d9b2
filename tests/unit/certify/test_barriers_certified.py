"""No run or proof passes over a barrier: `prove` has no machine for it, and the checker says so."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest

from tests.conftest import Cli

TEXT = """node A { x }
thread T on A {
  x = 1
  {T}
}
thread U on A {
  reg r
  {U}
  r = x
}
outcome U.r == 0 : forbidden under sc, forbidden under rdma
"""


@pytest.mark.parametrize("model", ["sc", "rdma"])
@pytest.mark.parametrize("instead", ["mfence", "assume 1 == 1"])
def test_a_run_past_a_barrier_is_no_proof(cli: Cli, tmp_path: Path, model: str, instead: str) -> None:
    """The certificate of the program without its barrier, with the digest of that which has one."""
    without, real = (TEXT.replace("{T}", each).replace("{U}", each) for each in (instead, "barrier"))
    (tmp_path / "p.rdma").write_text(without)
    assert cli("prove", "p.rdma", "--model", model, "--certificate", "proofs").returncode == 1
    (proof,) = (path for path in (tmp_path / "proofs").rglob("*.json*") if path.is_file())
    assert cli("verify-certificate", str(proof)).returncode == 0
    (tmp_path / "p.rdma").write_text(real)
    forged = proof.read_text().replace(digest(without), digest(real))
    assert forged != proof.read_text()
    proof.write_text(forged)
    done = cli("verify-certificate", str(proof))
    assert done.returncode == 1 and "has no machine for it" in " ".join(done.stdout.split())


def digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()
