"""What is given to others beside the distributions: a container file, a recipe for conda-forge, a script for reviewers."""

from __future__ import annotations

import hashlib
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from release.fill_recipe import ZEROS, main
from release.reproduce import CLAIMS
from tests.conftest import ROOT

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
BY_ANOTHER_NAME = {"libclang": "python-clang"}
"""What conda-forge calls otherwise."""
EXTRAS = ("cluster", "lsp", "watch", "mcp", "smt", "c")


def recipe() -> dict[str, Any]:
    found = yaml.safe_load((ROOT / "release/recipe.yaml").read_text(encoding="utf-8"))
    assert isinstance(found, dict)
    return found


def bounds(requirements: list[str]) -> dict[str, str]:
    """Return the bounds by name, in one order."""
    found = {}
    for each in requirements:
        one = Requirement(each)
        name = canonicalize_name(one.name)
        found[BY_ANOTHER_NAME.get(name, name)] = ",".join(sorted(str(one.specifier).split(",")))
    return found


def test_the_recipe_needs_what_the_project_needs() -> None:
    needs = recipe()["requirements"]
    python = [f"python {PROJECT['requires-python']}"]
    assert bounds(needs["run"]) == bounds([*PROJECT["dependencies"], *python])
    extras = [each for name in EXTRAS for each in PROJECT["optional-dependencies"][name]]
    assert bounds(needs["run_constraints"]) == bounds(extras)
    built_with = bounds(PROJECT["optional-dependencies"]["build"])
    assert {name: bound for name, bound in bounds(needs["host"]).items() if name in built_with} == built_with


def test_the_recipe_is_of_this_version() -> None:
    found = recipe()
    assert found["context"]["version"] == PROJECT["version"]
    (entry,) = found["build"]["python"]["entry_points"]
    assert tuple(entry.split(" = ")) in PROJECT["scripts"].items()
    assert found["about"]["license"] == PROJECT["license"]


def test_the_recipe_is_filled_with_the_hash_of_the_sdist(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "release").mkdir()
    (tmp_path / "dist").mkdir()
    shutil.copy(ROOT / "release/recipe.yaml", tmp_path / "release")
    assert main(tmp_path) == 2
    assert f"rdma_robust-{PROJECT['version']}.tar.gz: `make dist`" in capsys.readouterr().err
    (tmp_path / f"dist/rdma_robust-{PROJECT['version']}.tar.gz").write_bytes(b"an sdist")
    assert main(tmp_path) == 0
    found = yaml.safe_load((tmp_path / "dist/recipe.yaml").read_text(encoding="utf-8"))
    assert found["source"]["sha256"] == hashlib.sha256(b"an sdist").hexdigest() != ZEROS
    assert {**found, "source": recipe()["source"]} == recipe()


def test_the_container_has_what_the_package_is_built_from() -> None:
    text = (ROOT / "release/Containerfile").read_text(encoding="utf-8")
    copied = {name for line in re.findall(r"^COPY (?!--from)(.*) \S+$", text, re.MULTILINE) for name in line.split()}
    assert {name for name in copied if not (ROOT / name).exists()} == set()
    sources = {
        "pyproject.toml",
        "setup.py",
        "MANIFEST.in",
        "rdma_robust",
        "grammars",
        PROJECT["readme"],
        *PROJECT["license-files"],
    }
    assert sources <= copied
    (extras,) = re.findall(r"'\.\[(.+)\]'", text)
    assert set(extras.split(",")) <= set(PROJECT["optional-dependencies"])


def test_claims_are_about_programs_that_there_are() -> None:
    text = (ROOT / "docs/artifact.md").read_text(encoding="utf-8")
    assert re.findall(r"^\| `([\w-]+)` \|", text, re.MULTILINE) == [each.name for each in CLAIMS]
    for claim in CLAIMS:
        for pattern in re.findall(r"litmus/\S+", " ".join(claim.commands)):
            assert list(ROOT.glob(pattern)), f"{claim.name}: nothing is called {pattern}"


@pytest.mark.ci
def test_a_reviewer_sees_what_is_as_expected_and_what_is_not(tmp_path: Path) -> None:
    """With this environment in place of the artifact's own."""
    (tmp_path / "release").mkdir()
    shutil.copy(ROOT / "release/reproduce.py", tmp_path / "release")
    (tmp_path / "litmus").symlink_to(ROOT / "litmus")
    (tmp_path / ".venv").symlink_to(Path(sys.executable).parents[1])

    def reproduce(*arguments: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "release/reproduce.py", *arguments]
        return subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=300, check=False)

    assert reproduce("--quick", "--record").returncode == 0
    found = tmp_path / "expected/certificates.txt"
    assert "VALID" in found.read_text(encoding="utf-8")
    again = reproduce("--quick")
    assert (again.returncode, again.stdout.count("as expected: ")) == (0, 2), again.stdout + again.stderr
    found.write_text(found.read_text(encoding="utf-8").replace("VALID", "INVALID", 1), encoding="utf-8")
    wrong = reproduce("certificates")
    assert wrong.returncode == 1
    assert wrong.stdout.startswith("DIFFERS: certificates: ")
    assert "INVALID" in wrong.stdout
    assert reproduce("no-such-claim").returncode == 2
