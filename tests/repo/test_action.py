"""The GitHub action: what its work does in a checkout, which may be of somebody else."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from tests.conftest import INVALID, NOT_ROBUST, ROBUST, ROOT
from tests.support.hostile import MARK, ran, shadow_modules

ACTION = yaml.safe_load((ROOT / "action.yml").read_text())
BIN = Path(sys.executable).parent


def test_the_action_is_valid() -> None:
    done = subprocess.run(
        [str(BIN / "check-jsonschema"), "--builtin-schema", "vendor.github-actions", "action.yml"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout


def test_the_action_uses_what_it_declares() -> None:
    text = (ROOT / "action.yml").read_text()
    assert set(re.findall(r"inputs\.([a-z-]+)", text)) == set(ACTION["inputs"])
    outputs = set(re.findall(r"steps\.report\.outputs\.([a-z-]+)", text))
    assert outputs == set(ACTION["outputs"])
    assert {f"{name}=" in (ROOT / ".ci/action.sh").read_text() for name in outputs} == {True}


def test_no_input_of_the_action_is_part_of_a_script() -> None:
    """Inputs come from pull requests: in a script they would be code."""
    for step in ACTION["runs"]["steps"]:
        assert "${{" not in step.get("run", "")


PLANTED = ("files", "folder", "link to nowhere")
"""What a checkout brings where the reports go, besides links."""


def act(folder: Path, **settings: str) -> tuple[dict[str, str], str]:
    """Run the work of the action in `folder`; return its outputs and the job's summary."""
    environment = {
        "PATH": f"{BIN}{os.pathsep}{os.environ['PATH']}",
        "HOME": str(folder),
        "ACTION": str(ROOT),
        "PATHS": ".",
        "EXPECT": "false",
        "OPTIONS": "",
        "OUTPUT": "out",
        "CACHE": str(folder / "cache"),
        "GITHUB_OUTPUT": str(folder / "outputs"),
        "GITHUB_STEP_SUMMARY": str(folder / "summary"),
    } | settings
    for name in ("outputs", "summary"):
        (folder / name).unlink(missing_ok=True)
    done = subprocess.run(
        ["bash", str(ROOT / ".ci/action.sh")],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=600,
    )
    if done.returncode:
        return {"exit-code": str(done.returncode), "error": done.stdout.strip()}, ""
    outputs = dict(line.split("=", 1) for line in (folder / "outputs").read_text().splitlines())
    summary = folder / "summary"
    return outputs, summary.read_text() if summary.exists() else ""


@pytest.mark.ci
def test_the_action_reports(tmp_path: Path) -> None:
    (tmp_path / "src").mkdir()
    (tmp_path / "calm.rdma").write_text(ROBUST)
    (tmp_path / "src/sb.rdma").write_text(NOT_ROBUST)
    outputs, summary = act(tmp_path, PATHS="calm.rdma src\n", OPTIONS="--repair=0\n--timeout=20\n", EXPECT="true")
    assert outputs == {"exit-code": "0", "report": "out/report.html", "sarif": "out/report.sarif"}
    assert "`src/sb.rdma`" in summary
    assert json.loads((tmp_path / "out/report.sarif").read_text())["runs"][0]["results"] == []
    assert {p.name for p in (tmp_path / "out").iterdir()} == {
        f"report.{s}" for s in ("html", "sarif", "junit.xml", "json", "md")
    }


@pytest.mark.ci
def test_inputs_of_the_action_are_words_and_not_code(tmp_path: Path) -> None:
    (tmp_path / "sb.rdma").write_text(INVALID)
    outputs, _ = act(tmp_path, PATHS="sb.rdma $(touch${IFS}taken) `touch${IFS}taken`;touch${IFS}taken", OPTIONS="--repair=0")
    assert outputs["exit-code"] == "2"
    assert not (tmp_path / "taken").exists()


@pytest.mark.parametrize("brought", ["links", *(pytest.param(each, marks=pytest.mark.ci) for each in PLANTED)])
@pytest.mark.parametrize("works", [True, False])
def test_the_action_takes_no_report_that_the_checkout_has_brought(works: bool, brought: str, tmp_path: Path) -> None:
    checkout = tmp_path / "checkout"
    checkout.mkdir()
    (checkout / "sb.rdma").write_text(NOT_ROBUST)
    if not works:
        (checkout / "rdma-robust.toml").write_text('timeout = "x"\n')
    precious = tmp_path / "precious"
    precious.mkdir()
    names = ("report.md", "report.sarif", "report.html", "report.json", "report.junit.xml", "more.txt")
    for name in names:
        (precious / name).write_text("planted")
    out = checkout / "out"
    if brought == "folder":
        out.symlink_to("../precious")
    elif brought == "link to nowhere":
        out.symlink_to("../new")
    else:
        out.mkdir()
        for name in names:
            if brought == "links":
                (out / name).symlink_to(f"../../precious/{name}")
            else:
                (out / name).write_text("planted")
    outputs, summary = act(checkout, OPTIONS="--repair=0")
    assert {(precious / name).read_text() for name in names} == {"planted"}
    assert "planted" not in summary
    assert not out.is_symlink()
    if works:
        assert outputs == {"exit-code": "1", "report": "out/report.html", "sarif": "out/report.sarif"}
        assert len(list(out.iterdir())) == 5 and not any(each.read_text() == "planted" for each in out.iterdir())
    else:
        assert (outputs, list(out.iterdir())) == ({"exit-code": "2"}, [])
    assert not (tmp_path / "new").exists()


@pytest.mark.parametrize(
    "output",
    ["", ".", "./", "..", "../out", "out/../..", "out\nexit-code=0", "link/out", "/", ".git/hooks", "-x", "{above}"],
)
def test_the_action_writes_only_into_a_folder_of_its_own(output: str, tmp_path: Path) -> None:
    checkout = tmp_path / "checkout"
    (checkout / ".git").mkdir(parents=True)
    (tmp_path / "elsewhere/out").mkdir(parents=True)
    (tmp_path / "elsewhere/out/precious").write_text("precious")
    (checkout / "link").symlink_to("../elsewhere")
    (checkout / "sb.rdma").write_text(NOT_ROBUST)
    outputs, _ = act(checkout, OPTIONS="--repair=0", OUTPUT=output.format(above=tmp_path))
    assert outputs["exit-code"] == "2" and outputs["error"].startswith("::error::rdma-robust: ")
    assert (checkout / "sb.rdma").exists() and (tmp_path / "elsewhere/out/precious").read_text() == "precious"


@pytest.mark.ci
@pytest.mark.parametrize("output", ["out/", "a/b/out", "{checkout}/out", "{outside}/out"])
def test_the_action_writes_where_it_is_told(output: str, tmp_path: Path) -> None:
    checkout = tmp_path / "checkout"
    checkout.mkdir()
    (checkout / "calm.rdma").write_text(ROBUST)
    outputs, _ = act(checkout, OPTIONS="--repair=0", OUTPUT=output.format(checkout=checkout, outside=tmp_path))
    assert outputs["exit-code"] == "0"
    assert (checkout / outputs["sarif"]).is_file()


@pytest.mark.ci
def test_the_action_shows_no_file_that_a_link_of_the_checkout_leads_to(tmp_path: Path) -> None:
    checkout = tmp_path / "checkout"
    (checkout / ".git").mkdir(parents=True)
    (checkout / ".git/config").write_text("a secret token")
    (tmp_path / "keys").write_text("a secret key")
    (checkout / "one.rdma").symlink_to(".git/config")
    (checkout / "two.rdma").symlink_to("../keys")
    outputs, summary = act(checkout, OPTIONS="--repair=0")
    assert outputs["exit-code"] == "2"
    assert "secret" not in summary + "".join(each.read_text() for each in (checkout / "out").iterdir())


@pytest.mark.long
def test_the_action_installs_pinned_versions_and_runs_nothing_of_the_checkout(tmp_path: Path) -> None:
    """On a machine that has Python and no rdma-robust, beside modules that take over who looks for any there."""
    checkout = tmp_path / "checkout"
    checkout.mkdir()
    shadow_modules(checkout)
    for command in ("python", "python3", "rdma-robust"):
        (checkout / command).write_text(f"#!/bin/sh\necho {command} >> {checkout / MARK}\n")
        (checkout / command).chmod(0o755)
    (checkout / "sb.rdma").write_text(NOT_ROBUST)
    python = tmp_path / "bin"
    python.mkdir()
    (python / "python").write_text(f'#!/bin/sh\nexec {sys.executable} "$@"\n')
    (python / "python").chmod(0o755)
    path = os.pathsep.join((".", str(python), "/usr/bin", "/bin"))
    outputs, _ = act(checkout, PATH=path, OPTIONS="--repair=0")
    assert ran(checkout) == ""
    assert outputs == {"exit-code": "1", "report": "out/report.html", "sarif": "out/report.sarif"}


def test_actions_of_others_are_pinned_by_commit() -> None:
    """A tag is moved by who owns it."""
    used = [step["uses"] for step in ACTION["runs"]["steps"] if "uses" in step]
    assert used and all(re.fullmatch(r"[\w.-]+(/[\w.-]+)+@[0-9a-f]{40}", each) for each in used)


@pytest.mark.parametrize(
    ("fail_on", "code", "exits"),
    [("not-robust", 1, 1), ("not-robust", 0, 0), ("error", 1, 0), ("error", 3, 0), ("error", 2, 2), ("never", 4, 0)],
)
def test_the_last_step_fails_the_job(fail_on: str, code: int, exits: int) -> None:
    script = ACTION["runs"]["steps"][-1]["run"]
    environment = {"FAIL_ON": fail_on, "CODE": str(code), "PATH": os.environ["PATH"]}
    assert subprocess.run(["bash", "-e", "-c", script], env=environment, check=False).returncode == exits
