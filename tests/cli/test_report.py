"""The `report` and `compare` commands: formats, exit codes, the cache, and what happens when something goes wrong."""

from __future__ import annotations

import csv
import json
import os
import re
import signal
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest
from lxml import etree

from rdma_robust.frame import registry
from tests.cli.test_stop import endless
from tests.conftest import COMMAND, INVALID, NOT_ROBUST, ROBUST, Cli
from tests.support.batches import HOSTILE_NAMES

FAST = ("--repair", "0")


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Keep the user's cache out of the tests, and, where no process of the command is started, other processes too."""
    monkeypatch.setenv("RDMA_ROBUST_CACHE", str(tmp_path / ".cache"))
    monkeypatch.setattr("rdma_robust.cli.commands.report.can_fork", lambda: False)
    return tmp_path / ".cache"


def results(path: Path) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(path.read_text())["results"]
    return found


def without_times(text: str) -> str:
    document = json.loads(text)
    for each in (*document["results"], *document["families"], document["summary"]):
        each["time_s"] = 0
    return json.dumps(document)


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (["calm.rdma"], 0),
        (["sb.rdma"], 1),
        (["bad.rdma"], 2),
        (["calm.rdma", "sb.rdma", "--expect"], 0),
        (["sb.rdma", "--max-states", "2"], 3),
        (["sb.rdma", "bad.rdma", "--max-states", "2"], 2),
        (["missing.rdma"], 2),
        ([".", "--expect"], 2),
        (["calm.rdma", "--format", "pdf"], 2),
        (["calm.rdma", "--format", "json", "--format", "csv"], 2),
        (["calm.rdma", "-o", "x.json", "--format", "json", "--format", "csv"], 2),
        (["calm.rdma", "-o", "nowhere/x.json"], 2),
        (["calm.rdma", "-o", "x.pdf"], 2),
        (["calm.rdma", "-o", "calm.rdma", "--format", "json"], 2),
        (["calm.rdma", "-o", "other.rdma", "--format", "json"], 2),
        (["calm.rdma", "--cache", "c", "--no-cache"], 2),
        (["calm.rdma", "--executor", "slurm"], 2),
        (["calm.rdma", "--timeout", "-1"], 2),
        (["calm.rdma", "--repair", "nan"], 2),
        (["calm.rdma", "--jobs", "0"], 2),
        ([], 2),
        (["--help"], 0),
    ],
)
def test_exit_codes(cli: Cli, programs: Path, arguments: list[str], code: int) -> None:
    form = [] if {"--format", "-o", "--help"} & set(arguments) else ["--format", "json"]
    done = cli("report", *arguments, *form)
    assert done.returncode == code, done.stdout + done.stderr
    assert "internal error" not in done.stderr
    assert (programs / "calm.rdma").read_text() == ROBUST
    assert code != 2 or "rror" in done.stderr


@pytest.mark.usefixtures("programs")
def test_every_form_at_once_goes_into_a_folder(cli: Cli, tmp_path: Path) -> None:
    forms = ("html", "md", "json", "jsonl", "csv", "junit", "sarif")
    asked = [word for name in forms for word in ("--format", name)]
    done = cli("report", ".", "-o", "out/new/", *asked, *FAST)
    assert done.returncode == 2, done.stderr
    files = {p.name for p in (tmp_path / "out/new").iterdir()}
    assert files == {f"report.{s}" for s in ("html", "md", "json", "jsonl", "csv", "junit.xml", "sarif")}
    assert [Path(r["file"]).name for r in results(tmp_path / "out/new/report.json")] == ["bad.rdma", "calm.rdma", "sb.rdma"]
    assert len(list(csv.DictReader((tmp_path / "out/new/report.csv").read_text().splitlines()))) == 3
    assert len(etree.parse(str(tmp_path / "out/new/report.junit.xml")).findall(".//testcase")) == 3 + 4
    assert (tmp_path / "out/new/report.html").read_text().count('<tr class="row') == 3


@pytest.mark.usefixtures("programs")
@pytest.mark.parametrize(
    ("file", "beginning"),
    [
        ("r.html", "<!DOCTYPE"),
        ("r.md", "# "),
        ("r.json", "{"),
        ("r.ndjson", '{"file"'),
        ("r.csv", "file,"),
        ("r.xml", "<?xml"),
        ("r.sarif", "{"),
    ],
)
def test_the_suffix_says_the_form(cli: Cli, tmp_path: Path, file: str, beginning: str) -> None:
    assert cli("report", "calm.rdma", "-o", file, *FAST).returncode == 0
    assert (tmp_path / file).read_text().startswith(beginning)


@pytest.mark.usefixtures("programs")
def test_standard_input_and_output(cli: Cli) -> None:
    done = cli("report", "-", "--format", "jsonl", stdin=NOT_ROBUST)
    assert (json.loads(done.stdout)["file"], json.loads(done.stdout)["verdict"]) == ("<stdin>", "not-robust")
    assert cli("report", "calm.rdma", *FAST).stdout.startswith("<!DOCTYPE html>")


def test_a_second_run_decides_nothing(cli: Cli, programs: Path, own_cache: Path) -> None:
    assert cli("report", "calm.rdma", "sb.rdma", "-o", "a.json").returncode == 1
    entries = {p: p.stat().st_mtime_ns for p in own_cache.rglob("*.z")}
    assert len(entries) == 2
    again = cli("report", "sb.rdma", "calm.rdma", "-o", "b.json")
    assert again.returncode == 1
    assert {p: p.stat().st_mtime_ns for p in own_cache.rglob("*.z")} == entries
    first, second = (results(programs / name) for name in ("a.json", "b.json"))
    assert "2 programs: 1 robust, 1 not robust" in again.stderr
    assert "; 2 from the cache\nwritten: b.json" in again.stderr
    assert first == second[::-1]


def test_the_cache_can_be_elsewhere_or_nowhere(cli: Cli, programs: Path, own_cache: Path) -> None:
    cli("report", "calm.rdma", "-o", "a.json", "--no-cache")
    cli("report", "calm.rdma", "-o", "b.json", "--cache", "mine")
    assert not own_cache.exists()
    assert list((programs / "mine").rglob("*.z"))


def test_a_cache_that_cannot_be_written_costs_a_warning(cli: Cli, programs: Path) -> None:
    done = cli("report", "calm.rdma", "-o", "a.json", "--cache", "calm.rdma/cache")
    assert done.returncode == 0
    assert "could not be kept" in done.stderr
    assert results(programs / "a.json")[0]["verdict"] == "robust"


@pytest.mark.ci
@pytest.mark.usefixtures("programs")
def test_reports_do_not_depend_on_the_hash_seed_or_on_jobs(cli: Cli, installed: Cli) -> None:
    """The tests themselves run under a random seed, without processes; the command under another one, with two."""
    arguments = ("report", ".", "--format", "json", "--no-cache")
    there = installed(*arguments, "--jobs", "2", env={"PYTHONHASHSEED": "1"}).stdout
    here = json.loads(cli(*arguments).stdout)
    memory = json.loads(there)["options"]["memory"]  # by default what the number of jobs leaves for each
    assert without_times(json.dumps(here | {"options": here["options"] | {"memory": memory}})) == without_times(there)


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full here")
@pytest.mark.usefixtures("programs")
def test_a_report_that_cannot_be_written_loses_nothing(cli: Cli, own_cache: Path) -> None:
    done = cli("report", "sb.rdma", "-o", "/dev/full", "--format", "json")
    assert done.returncode == 2
    assert "No space left" in done.stderr
    assert "Nothing is lost" in done.stderr
    assert len(list(own_cache.rglob("*.z"))) == 1
    lost = cli("report", "sb.rdma", "-o", "/dev/full", "--format", "json", "--no-cache")
    assert lost.returncode == 2
    assert "lost with it" in lost.stderr


def test_a_full_disk_leaves_the_older_report(programs: Path, own_cache: Path) -> None:
    """A limit on the size of files stands for the full disk: small entries of the cache fit, the report does not."""
    (programs / "old.html").write_text("older")
    done = subprocess.run(
        ["sh", "-c", f"ulimit -f 16; PYTHONDONTWRITEBYTECODE=1 exec {COMMAND} report calm.rdma -o old.html --repair 0"],
        cwd=programs,
        env={**os.environ, "RDMA_ROBUST_CACHE": str(own_cache)},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 2, done.stderr
    assert "cannot write to old.html" in done.stderr
    assert "Traceback" not in done.stderr
    assert (programs / "old.html").read_text() == "older"
    assert sorted(p.name for p in programs.iterdir()) == [".cache", "bad.rdma", "calm.rdma", "old.html", "sb.rdma"]


@pytest.mark.usefixtures("programs")
def test_a_protected_report_is_found_out_at_once(cli: Cli, own_cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The system is asked, not the mode of the file: this also has to hold where the tests are run by root."""
    monkeypatch.setattr("rdma_robust.cli.destinations.os.access", lambda path, _mode: path != "old.json")
    Path("old.json").write_text("older")
    done = cli("report", "sb.rdma", "-o", "old.json")
    assert (done.returncode, "write-protected" in done.stderr) == (2, True)
    assert not own_cache.exists()


@pytest.mark.usefixtures("programs")
def test_a_mistake_in_the_output_costs_no_time(cli: Cli, own_cache: Path) -> None:
    assert "its folder does not exist" in cli("report", "sb.rdma", "-o", "nowhere/r.json").stderr
    assert "is a program" in cli("report", "sb.rdma", "-o", "sb.rdma").stderr
    assert "says no form" in cli("report", "sb.rdma", "-o", "r.doc").stderr
    assert not own_cache.exists()


def test_hostile_names(cli: Cli, tmp_path: Path) -> None:
    folder = tmp_path / "programs"
    folder.mkdir()
    for number, name in enumerate(HOSTILE_NAMES):
        with open(os.fsencode(folder) + b"/" + os.fsencode(name.replace("/", ":")), "w") as stream:
            stream.write((ROBUST, NOT_ROBUST, INVALID)[number % 3])
    forms = [word for name in ("html", "md", "json", "csv", "junit", "sarif") for word in ("--format", name)]
    done = cli("report", "programs", "-o", "out/", *forms, *FAST)
    assert done.returncode == 2, done.stderr
    assert "\x1b" not in done.stderr
    assert len(results(tmp_path / "out/report.json")) == len(HOSTILE_NAMES)
    page = (tmp_path / "out/report.html").read_text()
    assert "<script>alert" not in page
    assert "<img" not in page


@pytest.mark.ci
def test_an_interrupted_run_reports_what_is_done_and_goes_on(cli: Cli, programs: Path, own_cache: Path) -> None:
    (programs / "endless.rdma").write_text(endless())
    command = [COMMAND, "report", "calm.rdma", "endless.rdma", "sb.rdma", "-o", "r.json", "--jobs", "2"]
    environment = {**os.environ, "RDMA_ROBUST_CACHE": str(own_cache)}
    with subprocess.Popen(
        [*command, "--timeout", "100", "--reductions", "none"],
        cwd=programs,
        env=environment,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    ) as process:
        try:
            end = time.monotonic() + 40
            while len(list(own_cache.rglob("*.json.z"))) < 2 and time.monotonic() < end:
                time.sleep(0.05)
            os.kill(process.pid, signal.SIGINT)
            _, err = process.communicate(timeout=30)
        finally:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
    assert process.returncode == 130
    assert "interrupted: 2 of 3 done" in err
    assert "Run it again to go on" in err
    report = json.loads((programs / "r.json").read_text())
    assert report["interrupted"] is True
    assert [r["file"] for r in report["results"]] == ["calm.rdma", "sb.rdma"]
    before = set(own_cache.rglob("*.json.z"))
    assert cli(*command[1:], "--timeout", "0.5", "--reductions", "none").returncode == 3
    assert [r["verdict"] for r in results(programs / "r.json")] == ["robust", "unknown", "not-robust"]
    assert len(set(own_cache.rglob("*.json.z")) - before) == 1


def test_compare(cli: Cli, programs: Path) -> None:
    cli("report", "calm.rdma", "sb.rdma", "-o", "old.json")
    assert cli("compare", "old.json", "old.json").returncode == 0
    (programs / "calm.rdma").write_text(NOT_ROBUST.replace("expect not robust", ""))
    cli("report", "calm.rdma", "bad.rdma", "-o", "new.json")
    done = cli("compare", "old.json", "new.json")
    assert done.returncode == 1
    assert "calm.rdma: robust -> NOT ROBUST (the program was edited)" in done.stdout
    assert "Missing programs:\n  sb.rdma" in done.stdout
    assert json.loads(cli("compare", "old.json", "new.json", "--format", "json").stdout)["summary"]["regression"] == 1
    assert cli("compare", "old.json", "new.json", "--format", "md", "-o", "c.md").returncode == 1
    assert "### Regressions" in (programs / "c.md").read_text()


def test_an_improvement_fails_only_where_changes_do(cli: Cli, programs: Path) -> None:
    (programs / "calm.rdma").write_text(NOT_ROBUST.replace("expect not robust", ""))
    cli("report", "calm.rdma", "-o", "old.json")
    (programs / "calm.rdma").write_text(ROBUST)
    cli("report", "calm.rdma", "-o", "new.json")
    for more, code in (((), 0), (("--fail-on", "regressions"), 0), (("--fail-on", "changes"), 1), (("--strict",), 0)):
        done = cli("compare", "old.json", "new.json", *more)
        assert (done.returncode, "1 improvement" in done.stdout) == (code, True)
    assert cli("compare", "new.json", "old.json").returncode == 1
    assert cli("compare", "new.json", "old.json", "--fail-on", "nothing").returncode == 2


def test_compare_counts_new_programs_if_strict(cli: Cli, programs: Path) -> None:
    cli("report", "calm.rdma", "-o", "old.json")
    (programs / "check.json").write_text(cli("check", "calm.rdma", "sb.rdma", "--format", "json").stdout)
    assert cli("compare", "old.json", "check.json").returncode == 0
    assert cli("compare", "old.json", "check.json", "--strict").returncode == 1


@pytest.mark.parametrize("name", ["missing.json", "calm.rdma", ".", "bytes.json"])
def test_compare_refuses_what_is_no_report(cli: Cli, programs: Path, name: str) -> None:
    (programs / "bytes.json").write_bytes(b"\xff\xfe{")
    cli("report", "calm.rdma", "-o", "old.json")
    done = cli("compare", "old.json", name)
    assert done.returncode == 2
    assert name in done.stderr


def test_both_are_commands() -> None:
    assert {"report", "compare"} <= set(registry.commands())


@pytest.mark.usefixtures("programs")
@pytest.mark.parametrize("form", ["sarif", "junit"])
def test_check_writes_the_forms_for_other_tools_as_report_does(cli: Cli, form: str) -> None:
    suffix = "xml" if form == "junit" else form
    for expect in ((), ("--expect",)):
        checked = cli("check", ".", "-o", f"check.{suffix}", *expect)
        reported = cli("report", ".", "-o", f"report.{suffix}", "--no-cache", "--claims", "0", *FAST, *expect)
        assert checked.returncode == reported.returncode == 2
        texts = [re.sub(r'time="[0-9.]+"', "", Path(f"{name}.{suffix}").read_text()) for name in ("check", "report")]
        assert texts[0] == texts[1]
