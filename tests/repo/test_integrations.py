"""What other tools read: the GitHub action, the pre-commit hooks, and the extension for editors."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from rdma_robust.frame import registry
from tests.conftest import INVALID, NOT_ROBUST, ROOT, Cli

HOOKS = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text())
VSCODE = ROOT / "editors/vscode"
BIN = Path(sys.executable).parent


def test_the_hooks_are_commands_with_options_that_there_are() -> None:
    for hook in HOOKS:
        program, command, *options = hook["entry"].split()
        assert (program, command in registry.commands(), hook["language"]) == ("rdma-robust", True, "python")
        assert re.search(hook["files"], "a/b.rdma")
        text = subprocess.run([str(BIN / program), command, "--help"], capture_output=True, text=True, check=True).stdout
        assert all(option in text for option in options)


@pytest.mark.parametrize("hook", HOOKS, ids=lambda hook: str(hook["id"]))
def test_a_hook_takes_no_file_for_an_option(hook: dict[str, Any], cli: Cli, tmp_path: Path) -> None:
    """The hooks' own arguments end with `--`, and so do those that the documentation shows, which take their place."""
    name = "--certificate=x.rdma"
    (tmp_path / name).write_text("node A { x }\nthread T on A {\n  x = 1\n}\n")
    done = cli(*hook["entry"].split()[1:], *hook["args"], name)
    assert done.returncode == 0, done.stderr
    assert [each.name for each in tmp_path.iterdir()] == [name]
    shown = re.findall(r"^ +args: \[(.*)\]", (ROOT / "docs/ci.md").read_text(encoding="utf-8"), re.MULTILINE)
    assert shown and all(each.endswith(", --") for each in shown)


def test_the_extension_points_at_its_files() -> None:
    package = json.loads((VSCODE / "package.json").read_text())
    languages, grammars = package["contributes"]["languages"], package["contributes"]["grammars"]
    assert [each["extensions"] for each in languages] == [[".rdma"], [".mp"]]
    assert [each["language"] for each in grammars] == [each["id"] for each in languages]
    for language, grammar in zip(languages, grammars, strict=True):
        assert (VSCODE / language["configuration"]).is_file()
        assert json.loads((VSCODE / grammar["path"]).read_text())["scopeName"] == grammar["scopeName"]
    json.loads((VSCODE / "language-configuration.json").read_text())


@pytest.mark.parametrize(
    "arguments", [["check", "--format", "concise"], ["check"], ["lint", "--format", "concise"], ["lint"]]
)
def test_the_problem_matcher_reads_what_is_printed(arguments: list[str], cli: Cli, tmp_path: Path) -> None:
    """In every form: the file, the place, the code; and with the names of groups that the editor needs."""
    (tmp_path / "a b").mkdir()
    (tmp_path / "a b/c.rdma").write_text(INVALID)
    (tmp_path / "sb.rdma").write_text(f"{NOT_ROBUST}const N = 1\n")
    package = json.loads((VSCODE / "package.json").read_text())
    (matcher,) = package["contributes"]["problemMatchers"]
    pattern = matcher["pattern"]
    answer = cli(*arguments, "a b/c.rdma", "sb.rdma")
    found = set()
    for line in (answer.stdout + answer.stderr).splitlines():
        if each := re.match(pattern["regexp"], line):
            names = ("file", "line", "column", "severity", "code")
            found.add(tuple(each[pattern[name]] for name in names))
            assert each[pattern["message"]]
    wanted = {
        ("a b/c.rdma", "2", "18", "error", "RR201"),
        ("a b/c.rdma", "3", "14", "error", "RR202"),
        ("sb.rdma", "8", "7", "warning", "RR701"),
    }
    if arguments == ["check", "--format", "concise"]:
        wanted.add(("sb.rdma", "5", "25", "error", "RR010"))
    assert found == wanted
