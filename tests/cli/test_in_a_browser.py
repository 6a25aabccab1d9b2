"""The commands in a Python as a browser has it: no processes, no timer, no kernels, and none of the libraries in C."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from rdma_robust.cli import page_worker
from tests.conftest import ROOT

LITMUS = ROOT / "litmus"

AS_IN_A_BROWSER = """
import os, signal, sys

def lacking(*_args, **_named):
    raise OSError(52, "Function not implemented")

class Missing:
    def find_spec(self, name, path=None, target=None):
        top = name.partition(".")[0]
        compiled = name in KERNELS
        if compiled or top in LACKING:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

LACKING = ("resource", "fcntl", "multiprocessing", "_multiprocessing", "termios", "z3", "highspy", "numpy", "pysat",
           "pygraphviz", "clang", "rich", "uvicorn", "textual", "sympy")
KERNELS = sys.argv[1].split(",")
sys.meta_path.insert(0, Missing())
sys.platform = "emscripten"
os.fork = signal.setitimer = lacking
from rdma_robust.cli.app import run
sys.exit(run(sys.argv[2:]))
"""


def kernels() -> str:
    """The modules that are compiled."""
    found = [path.relative_to(ROOT).with_suffix("") for path in (ROOT / "rdma_robust").rglob("*.pyx")]
    return ",".join(".".join(path.parts) for path in found)


@pytest.mark.parametrize(
    ("arguments", "exit_code", "said"),
    [
        (("check", "mailbox-plain.rdma"), 1, "NOT ROBUST"),
        pytest.param(("check", "mailbox-polled.rdma"), 0, "robust", marks=pytest.mark.ci),
        pytest.param(("explain", "mailbox-plain.rdma"), 1, "before itself", marks=pytest.mark.ci),
        pytest.param(("outcomes", "mailbox-plain.rdma"), 0, "only RDMA", marks=pytest.mark.ci),
        pytest.param(("models", "mailbox-plain.rdma"), 1, "first to break it", marks=pytest.mark.ci),
        pytest.param(("lint", "mailbox-plain.rdma"), 1, "RR722", marks=pytest.mark.ci),
        pytest.param(("verify", "mailbox-plain.rdma"), 0, "3 hold", marks=pytest.mark.ci),
        pytest.param(("prove", "mailbox-plain.rdma"), 0, "SAFE", marks=pytest.mark.ci),
        pytest.param(("fmt", "mailbox-plain.rdma"), 0, "put B.d = v", marks=pytest.mark.ci),
    ],
)
def test_a_command_needs_nothing_that_a_browser_lacks(arguments: tuple[str, ...], exit_code: int, said: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", AS_IN_A_BROWSER, kernels(), *arguments],
        cwd=LITMUS,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (exit_code, ""), done.stderr
    assert said in done.stdout


def test_findings_and_hovers_are_placed_by_characters() -> None:
    text = "// 𝄞\n" + (LITMUS / "mailbox-plain.rdma").read_text(encoding="utf-8").replace("put B.d = v", "put B.d = w")
    found = json.loads(page_worker.findings(text, "program.rdma"))
    assert [(each["severity"], text[each["from"] : each["to"]], each["message"][-7:]) for each in found] == [
        ("error", "w", "[RR201]")
    ]
    said = json.loads(page_worker.hover_at(text, "program.rdma", text.index("await")))
    assert text[said["from"] : said["to"]] == "await f == 2" and "Waits until" in said["text"]
    assert page_worker.hover_at(text, "program.rdma", 0) == "null"
