"""The checker shares nothing with what it checks."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from rdma_robust.cli.app import run
from tests.conftest import NOT_ROBUST, ROBUST

ENGINES = (
    "rdma_robust.counters.searches",
    "rdma_robust.counters.lower",
    "rdma_robust.counters.inductive",
    "rdma_robust.counters.independence",
    "rdma_robust.petri.cover",
    "rdma_robust.vass.engines",
    "rdma_robust.counters.search",
    "rdma_robust.counters.kernel.driver",
    "rdma_robust.counters.kernel.bytecode",
    "rdma_robust.counters.counter_bounds",
    "rdma_robust.robustness.decide",
    "rdma_robust.robustness.lift",
    "rdma_robust.robustness.invariant",
    "rdma_robust.pipeline",
)
READERS = {
    "rdma_robust.vass",
    "rdma_robust.petri.net",
    "rdma_robust.petri.spec.reader",
    "rdma_robust.petri.spec.fast",
    "rdma_robust.petri.spec.spec_syntax",
    "rdma_robust.petri.spec.spec_tree",
}
"""What the checker may know of the room of the engines: what a net is, and how it is read."""


def loaded_after(code: str, folder: Path) -> set[str]:
    code = f"import sys\n{code}\nprint(*sorted(m for m in sys.modules if m.startswith('rdma_robust')), file=sys.stderr)"
    done = subprocess.run([sys.executable, "-c", code], cwd=folder, capture_output=True, text=True, check=True)
    return set(done.stderr.split())


def test_checking_loads_no_engine(tmp_path: Path) -> None:
    for name, text in (("calm", ROBUST), ("sb", NOT_ROBUST)):
        (tmp_path / f"{name}.rdma").write_text(text)
    proofs = tmp_path / "proofs"
    assert run(["check", "--jobs", "1", "--quiet", "--certificate", str(proofs), str(tmp_path)]) == 1
    for code in (
        "import rdma_robust.certify.checker",
        "from rdma_robust.cli.app import run\nassert run(['verify-certificate', 'proofs']) == 0",
    ):
        # The package itself looks whether the compiled kernel is there, to say so in `--version`.
        modules = loaded_after(code, tmp_path) - {"rdma_robust.counters.kernel._kernel"}
        assert "rdma_robust.certify.checker" in modules
        assert not modules & set(ENGINES)
        assert {m for m in modules if m.startswith("rdma_robust.vass")} <= READERS
        assert "rdma_robust.certify.produce" not in modules
