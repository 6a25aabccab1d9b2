"""What docs/hardness.md shows is what the commands print."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import ROOT

DOC = (ROOT / "docs/hardness.md").read_text(encoding="utf-8")
CONSOLE = re.findall(r"```console\n\$ (.+)\n((?:.*\n)*?)```", DOC)


@pytest.mark.parametrize(("command", "shown"), CONSOLE, ids=[command for command, _ in CONSOLE])
def test_commands_print_what_the_document_shows(command: str, shown: str) -> None:
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    environment = {name: value for name, value in os.environ.items() if name != "COLUMNS"} | {"PATH": path}
    done = subprocess.run(
        command, shell=True, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=120, check=False
    )
    assert done.stdout == shown, done.stderr


def test_links_lead_somewhere() -> None:
    for target in re.findall(r"\]\(([^)#:]+)\)", DOC):
        assert (ROOT / "docs" / target).exists(), target
