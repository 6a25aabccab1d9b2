"""Nothing that lies in the folder of a program is ever run, whatever its name: every command beside modules out to be."""

from __future__ import annotations

import re
import shutil
import signal
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

from rdma_robust.foreign import own_command
from rdma_robust.frame import registry
from tests.conftest import COMMAND, NOT_ROBUST, ROBUST, ROOT, Cli
from tests.support.hostile import ran, shadow_modules
from tests.support.processes import started

PROOF = "node M { x }\nthread T on M { reg r\n loop { r = x\n x = r + 1 } }\ninvariant M.x >= 0\n"
MESSAGES = "proc P { send 1 to Q }\nproc Q { reg v; recv v from any; assert v == 1 }\n"
FAST = {
    "prove": ("prove", "--model", "sc", "--certificate", "kept", "proof.rdma"),
    "messages": ("messages", "check", "--engine", "smt", "calls.mp"),
    "explain": ("explain", "sb.rdma", "-o", "sb.html"),
}
"""The commands that load most of what is not ours."""

OTHERS = {
    "record": ("record", "--", "/bin/true"),
    "check": ("check", "sb.rdma"),
    "models": ("models", "sb.rdma"),
    "scale": ("scale", "scaled.rdma"),
    "cover": ("cover", "net.spec"),
    "outcomes": ("outcomes", "sb.rdma"),
    "repair": ("repair", "sb.rdma"),
    "report": ("report", ".", "--jobs", "2", "-o", "out/", "--format", "html", "--format", "md"),
    "reach": ("reach", "sb.rdma"),
    "verify": ("verify", "sb.rdma"),
    "lint": ("lint", "sb.rdma"),
    "fmt": ("fmt", "sb.rdma"),
    "export": ("export", "sb.rdma", "--format", "spec"),
    "verify-certificate": ("verify-certificate", "kept/proof.rdma.sc.json"),
    "synthesise": ("synthesise", "--timeout", "5"),
    "import": ("import", "calls.mp"),
    "compare": ("compare", "one.json", "one.json"),
    "contracts": ("contracts", "check", "calls.mp"),
    "demo": ("demo", "vass", "--pace", "0"),
    "new": ("new", "lock"),
    "needs": ("needs", "calm.rdma"),
    "races": ("races", "calm.rdma"),
    "hardware": ("hardware", "show", "ooo-dp"),
    "explain-code": ("explain-code", "RR010"),
    "completion": ("completion", "bash"),
    "share": ("share", "sb.rdma"),
    "exercise": ("exercise", "2", "sb.rdma"),
}


@pytest.fixture
def hostile(tmp_path: Path) -> Path:
    names = shadow_modules(tmp_path)
    assert len(names) >= 200
    (tmp_path / "calm.rdma").write_text(ROBUST)
    (tmp_path / "sb.rdma").write_text(NOT_ROBUST)
    (tmp_path / "proof.rdma").write_text(PROOF)
    (tmp_path / "calls.mp").write_text(MESSAGES)
    (tmp_path / "scaled.rdma").write_text("const N = 2\nnode A[i in 0..N - 1] { x }\nthread T on A[0] { x = 1 }\n")
    shutil.copy(ROOT / "tests/nets/mutex-peterson.spec", tmp_path / "net.spec")
    return tmp_path


@pytest.mark.ci
@pytest.mark.parametrize("command", FAST)
def test_a_command_that_loads_much(command: str, hostile: Path, installed: Cli) -> None:
    answer = installed(*FAST[command])
    assert ran(hostile) == ""
    assert answer.returncode in (0, 1), answer.stderr


@pytest.mark.ci
def test_every_other_command(hostile: Path, installed: Cli) -> None:
    (hostile / "one.json").write_text(installed("check", "calm.rdma", "--format", "json").stdout)
    installed(*FAST["prove"])
    for command, arguments in OTHERS.items():
        answer = installed(*arguments)
        assert ran(hostile) == "", command
        assert answer.returncode in (0, 1, 2, 3), f"{command}: {answer.stderr}"
        assert "no such option" not in answer.stderr.lower(), f"{command}: {answer.stderr}"
    assert {*FAST, *OTHERS, "explore", "playground", "lsp", "mcp"} == set(
        registry.commands()
    )  # for `lsp` see tests/editing, for --watch tests/cli/test_watch.py


@pytest.mark.ci
def test_the_explorer(hostile: Path) -> None:
    command = [COMMAND, "explore", "sb.rdma", "--no-browser"]
    with started(command, cwd=hostile, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stdout.readline().startswith("Exploring at ")
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=20)
    assert ran(hostile) == ""


@pytest.mark.ci
def test_a_module_that_is_run_by_its_name_forgets_the_folder(tmp_path: Path) -> None:
    """`python -m rdma_robust`: what Python itself loads before is its own affair."""
    for name in ("typer", "lark", "networkx", "rich"):
        (tmp_path / f"{name}.py").write_text("raise SystemExit(77)\n")
    (tmp_path / "sb.rdma").write_text(NOT_ROBUST)
    done = subprocess.run(
        [sys.executable, "-m", "rdma_robust", "--quiet", "sb.rdma"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1, done.stderr


def test_the_tool_starts_itself_in_one_way() -> None:
    """Wherever it does: `-m` without `-P` looks for modules in the current folder first."""
    assert own_command(["check"])[1:] == ["-P", "-m", "rdma_robust", "check"]
    for path in (ROOT / "rdma_robust").rglob("*.py"):
        if path.name != "foreign.py":
            assert "sys.executable" not in path.read_text(encoding="utf-8"), f"{path}: use own_command"


def test_the_library_of_z3_is_the_one_of_its_package(tmp_path: Path) -> None:
    """z3 itself looks into the current folder first."""
    spec = find_spec("z3")
    assert spec is not None and spec.submodule_search_locations
    package = Path(spec.submodule_search_locations[0])
    for library in package.rglob("libz3.so*"):
        shutil.copy(library, tmp_path / library.name)
        shutil.copy(library, tmp_path / "libz3.so")
    code = "import rdma_robust.guarded_z3; print(open('/proc/self/maps').read())"
    done = subprocess.run([sys.executable, "-P", "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True)
    loaded = {line.split()[-1] for line in done.stdout.splitlines() if "libz3" in line}
    assert loaded and all(Path(each).is_relative_to(package.resolve()) for each in loaded)


def test_z3_is_loaded_in_one_way() -> None:
    for path in (ROOT / "rdma_robust").rglob("*.py"):
        if path.name != "guarded_z3.py":
            text = path.read_text(encoding="utf-8")
            plain = re.search(r"^\s*(import z3|from z3)\b|import_module\(\"z3\"", text, re.MULTILINE)
            assert plain is None, f"{path}: from rdma_robust.guarded_z3 import z3"
