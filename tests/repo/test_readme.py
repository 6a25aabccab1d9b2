"""What the README shows is what happens: its Python runs, its commands print what it says, but for times."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from rdma_robust.cli.app import app
from rdma_robust.cli.help import COMMANDS
from tests.conftest import ROOT

README = (ROOT / "README.md").read_text(encoding="utf-8")
CONSOLE = re.findall(r"```console\n\$ (.+)\n((?:.*\n)*?)```", README)
PYTHON = re.findall(r"```python\n(.*?)```", README, re.DOTALL)


def without_times(text: str) -> str:
    """Return `text` with times replaced and runs of blanks, whose length depends on them, made one."""
    return re.sub(r" +", " ", re.sub(r"\d+\.\d\d s", "T s", text)).strip()


def environment() -> dict[str, str]:
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    return {name: value for name, value in os.environ.items() if name != "COLUMNS"} | {"PATH": path}


@pytest.mark.parametrize(("command", "shown"), CONSOLE, ids=[command for command, _ in CONSOLE])
def test_commands_print_what_the_readme_shows(command: str, shown: str) -> None:
    done = subprocess.run(
        command, shell=True, cwd=ROOT, env=environment(), capture_output=True, text=True, timeout=120, check=False
    )
    assert without_times(done.stdout) == without_times(shown), done.stderr


@pytest.mark.parametrize("code", PYTHON)
def test_python_runs(code: str) -> None:
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", code],
        cwd=ROOT,
        env=environment(),
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "overtakes" in done.stdout


def test_python_is_well_typed(tmp_path: Path) -> None:
    example = tmp_path / "example.py"
    example.write_text("\n".join(PYTHON))
    done = subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", "--cache-dir", str(ROOT / ".mypy_cache"), str(example)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stdout


def test_links_lead_somewhere() -> None:
    for target in re.findall(r"\]\(([^)#:]+)\)", README):
        assert (ROOT / target).exists(), target


def test_every_option_that_the_readme_names_exists() -> None:
    helps = "".join(CliRunner().invoke(app, [command, "--help"]).stdout for command in COMMANDS)
    for option in set(re.findall(r"`(--[a-z-]+)", README)):
        assert option in helps, option
