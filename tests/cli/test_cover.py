"""The command `cover`: verdicts, runs, reports, limits, and what is said about bad files."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

from rdma_robust.cli.commands import cover as cover_command
from rdma_robust.frame.answer import Answer
from rdma_robust.frame.deciding import answer_item
from rdma_robust.frame.shell.apart import overdue
from rdma_robust.frame.shell.inputs import Item, Source
from rdma_robust.frame.shell.pool import Work, in_processes
from rdma_robust.limits import Limits
from rdma_robust.petri import cover as engines
from rdma_robust.petri.net import CoverResult, DownwardInvariant, NetRun
from rdma_robust.processes import family_mebibytes
from rdma_robust.questions.cover_question import COVER, CoverAsking
from rdma_robust.reports.cover.cover_result import CoverRecord
from tests.conftest import COMMAND, ROOT, Cli

SCHEMA = Draft202012Validator(json.loads((ROOT / "rdma_robust/schema/cover.schema.json").read_text()))
SAFE = """# expect: safe
vars idle crit lock
rules
  idle >= 1, lock >= 1 -> idle' = idle - 1, lock' = lock - 1, crit' = crit + 1;
  crit >= 1 -> crit' = crit - 1, idle' = idle + 1, lock' = lock + 1;
init idle >= 0, crit = 0, lock = 1
target crit >= 2
"""
UNSAFE = """# expect: unsafe
vars a b c
rules
  a >= 1 -> a' = a - 1, b' = b + 1;
  b >= 1 -> b' = b - 1, a' = a + 1, c' = c + 2;
  c >= 8 -> ;
init a = 1, b = 0, c = 0
target c >= 8, a >= 1
"""
pytestmark = pytest.mark.filterwarnings("ignore:.*multi-threaded.*:DeprecationWarning")


@pytest.fixture
def nets(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder, the one `cli` runs in, with a safe, an unsafe and an invalid net."""
    monkeypatch.setattr(cover_command, "processors", lambda: 1)
    (tmp_path / "safe.spec").write_text(SAFE)
    (tmp_path / "unsafe.spec").write_text(UNSAFE)
    (tmp_path / "bad.spec").write_text(SAFE.replace("crit' = crit + 1", "crit' = lock"))
    return tmp_path


@pytest.mark.usefixtures("nets")
def test_the_run_is_shown_with_lines_and_repetitions(cli: Cli) -> None:
    done = cli("cover", "unsafe.spec", "--markings")
    assert done.returncode == 1
    text = " ".join(done.stdout.split())
    assert "unsafe.spec UNSAFE yes" in text
    assert "Initial marking: a = 1 From there, 8 rules" in text
    assert "4 times: line 4 a - 1, b + 1 line 5 a + 1, b - 1, c + 2 => a = 1, c = 8" in text
    assert "It covers target 1: a >= 1, c >= 8" in text


@pytest.mark.usefixtures("nets")
def test_verdicts_and_exit_codes(cli: Cli) -> None:
    assert cli("cover", "safe.spec").returncode == 0
    assert "No reachable marking covers a target" in " ".join(cli("cover", "safe.spec").stdout.split())
    assert cli("cover", "safe.spec", "unsafe.spec").returncode == 1
    assert cli("cover", "unsafe.spec", "--max-states", "1").returncode in (1, 3)
    assert cli("cover", "--expect", "safe.spec", "unsafe.spec").returncode == 0
    assert cli("cover", "-", stdin=UNSAFE).returncode == 1
    done = cli("cover", ".", "missing.spec", "*.none")
    assert done.returncode == 2
    assert "bad.spec:4:63: error: `crit' = lock` is a transfer" in done.stderr
    assert "missing.spec: error: no such file" in done.stderr
    assert "5 nets: 1 safe, 1 unsafe, 3 errors" in done.stdout


@pytest.mark.usefixtures("nets")
def test_expectations(cli: Cli, nets: Path) -> None:
    (nets / "wrong.spec").write_text(SAFE.replace("expect: safe", "expect: unsafe"))
    (nets / "none.spec").write_text(SAFE.replace("# expect: safe", ""))
    done = cli("cover", "--expect", "safe.spec", "wrong.spec", "none.spec", "--quiet")
    assert done.returncode == 1
    assert [line.split()[:3] for line in done.stdout.splitlines()[:2]] == [
        ["wrong.spec", "safe", "NO"],
        ["none.spec", "safe", "-"],
    ]
    assert "1 as expected, 2 not" in done.stdout


def test_json_follows_its_schema(cli: Cli, nets: Path) -> None:
    done = cli("cover", ".", "--format", "json", "--markings", "-o", "report.json")
    assert (done.returncode, done.stdout) == (2, "")
    report = json.loads((nets / "report.json").read_text())
    SCHEMA.validate(report)
    assert [(r["file"], r["verdict"]) for r in report["results"]] == [
        ("./bad.spec", "error"),
        ("./safe.spec", "safe"),
        ("./unsafe.spec", "unsafe"),
    ]
    run = report["results"][2]["run"]
    assert run["length"] == sum(s["times"] * sum(r["times"] for r in s["rules"]) for s in run["steps"])
    lines = cli("cover", ".", "--format", "jsonl").stdout.splitlines()
    for line, result in zip(lines, report["results"], strict=True):
        assert json.loads(line)["verdict"] == result["verdict"]
    assert cli("cover", "safe.spec", "-o", "safe.spec").returncode == 2


@pytest.mark.parametrize(
    ("net", "engine"),
    [
        ("mutex-semaphore-double-release.spec", "forward"),
        ("mutex-semaphore.spec", "state-equation"),
        ("init-no-tokens.spec", "slice"),
    ],
)
def test_the_engine_that_answered_is_told(cli: Cli, net: str, engine: str) -> None:
    file = str(ROOT / "tests/nets" / net)
    assert cli("cover", "--jobs", "1", file).stdout.splitlines()[1].split()[3] == engine
    report = json.loads(cli("cover", "--jobs", "1", file, "--format", "json").stdout)
    assert (report["results"][0]["engine"], report["options"]["engine"]) == (engine, "auto")
    again = json.loads(cli("cover", "--engine", engine if engine != "slice" else "bfs", file, "--format", "json").stdout)
    assert again["results"][0]["verdict"] == report["results"][0]["verdict"]


@pytest.mark.usefixtures("nets")
def test_usage(cli: Cli) -> None:
    done = cli("cover", "safe.spec", "--engine", "magic")
    assert done.returncode == 2
    assert "the engines are auto, " in done.stderr
    assert cli("cover").returncode == 2
    assert cli("cover", "--timeout", "-1", "safe.spec").returncode == 2
    assert "cover" in cli("--help").stdout


def test_bytes_that_are_not_unicode_may_stand_in_comments(cli: Cli, nets: Path) -> None:
    (nets / "latin.spec").write_bytes(b"# Andr\xe9\r\n" + SAFE.encode())
    assert cli("cover", "latin.spec").returncode == 0
    (nets / "latin.spec").write_bytes(SAFE.encode().replace(b"idle crit", b"idle cr\xeft"))
    done = cli("cover", "latin.spec")
    assert done.returncode == 2
    assert "latin.spec:2:13: error: unexpected `\\udcef`" in done.stderr
    (nets / "latin.spec").write_bytes(b"\x00\x01\x02")
    assert cli("cover", "latin.spec").returncode == 2


def answer(monkeypatch: pytest.MonkeyPatch, nets: Path, engine: object, **options: object) -> Answer[CoverRecord]:
    monkeypatch.setattr(engines, "cover", engine)
    return answer_item(COVER, CoverAsking(**options), Source("unsafe.spec", str(nets / "unsafe.spec")))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("result", "verdict", "said"),
    [
        (CoverResult("e", cut="time"), "unknown", "reached the time limit of 7 s while searching"),
        (CoverResult("e", cut="rounds"), "unknown", "the engine gave up: rounds"),
        (CoverResult("e"), "error", "not exactly one of a run, an invariant and a limit"),
        (CoverResult("e", run=NetRun((1, 0, 0), (0,), 0), cut="time"), "error", "not exactly one"),
        (CoverResult("e", run=NetRun((1, 0, 0), (0, 0), 0)), "error", "fires r1, which is not enabled"),
        (CoverResult("e", run=NetRun((2, 0, 0), (0,), 0)), "error", "a marking that is not initial"),
        (CoverResult("e", run=NetRun((1, 0, 0), (0, 1), 0)), "error", "does not cover its target"),
        (CoverResult("e", run=NetRun((1, 0, 0), (0, 1, 2), 0)), "error", "fires r3, which is not enabled"),
        (CoverResult("e", invariant=DownwardInvariant(((1, 1, None),))), "safe", "no target is coverable"),
    ],
)
def test_what_an_engine_says_is_checked(
    monkeypatch: pytest.MonkeyPatch, nets: Path, result: CoverResult, verdict: str, said: str
) -> None:
    record = answer(monkeypatch, nets, lambda *_, **__: result, timeout=7.0).record
    assert record.verdict == verdict
    assert said in record.reason


@pytest.mark.parametrize(("error", "verdict"), [(MemoryError(), "unknown"), (RecursionError("deep"), "error")])
def test_no_exception_leaves_a_net(monkeypatch: pytest.MonkeyPatch, nets: Path, error: Exception, verdict: str) -> None:
    def fail(*_: object, **__: object) -> CoverResult:
        raise error

    assert answer(monkeypatch, nets, fail).record.verdict == verdict


def stuck(*_: object, **__: object) -> CoverResult:
    """An engine that does not look at its limits, with a process of its own that does not either, nor lets a timer in."""
    signal.signal(signal.SIGALRM, signal.SIG_IGN)
    subprocess.Popen(["sleep", "60"])
    time.sleep(60)
    return CoverResult("stuck", cut="time")


def greedy(*_: object, **__: object) -> CoverResult:
    """An engine that takes memory and does not look at its limits, nor lets a timer in.

    In one piece: small ones could come from what this process has freed and not given back, which is counted already.
    """
    signal.signal(signal.SIGALRM, signal.SIG_IGN)
    kept = b"x" * (400 << 20)
    time.sleep(60)
    return CoverResult(f"greedy {len(kept)}", cut="memory")


@pytest.mark.usefixtures("nets")
def test_limits_are_kept_from_outside(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engines, "cover", stuck)
    done = cli("cover", "unsafe.spec", "--timeout", "0.1")
    assert done.returncode == 3
    assert "reached the time limit of 0.1 s, and was ended from outside" in done.stdout
    monkeypatch.setattr(engines, "cover", greedy)
    most = family_mebibytes(os.getpid()) + 60
    done = cli("cover", "unsafe.spec", "--memory", str(most))
    assert done.returncode == 3
    assert f"reached the memory limit of {most} MiB, and was ended from outside" in done.stdout


def test_the_memory_of_a_family_is_counted() -> None:
    mebibytes = family_mebibytes(os.getpid())
    ballast = bytes(64 << 20) + b"x"
    with subprocess.Popen(["sleep", "60"]) as child:
        more = family_mebibytes(os.getpid())
        assert mebibytes + 60 < more
        assert "memory limit" in overdue(Limits.of(None, memory=more // 3), os.getpid(), 0)
        assert overdue(Limits.of(None, memory=2 * more), os.getpid(), 0) == ""
        assert overdue(Limits.of(1), child.pid, 60).startswith("reached the time limit of 1 s")
        child.kill()
    assert len(ballast) > 1
    assert family_mebibytes(child.pid) == 0


def test_ctrl_c_prints_what_is_done(nets: Path) -> None:
    (nets / "slow.py").write_text(
        "import sys, time\n"
        "from rdma_robust.petri import cover\n"
        "real = cover.cover\n"
        "def slow(net, *rest, **more):\n"
        "    return time.sleep(60) if net.name == 'unsafe.spec' else real(net, *rest, **more)\n"
        "cover.cover = slow\n"
        "from rdma_robust.__main__ import main\n"
        "sys.exit(main())\n"
    )
    python = str(Path(COMMAND).parent / "python")
    process = subprocess.Popen(
        [python, "slow.py", "cover", "safe.spec", "unsafe.spec", "--jobs", "1"],
        cwd=nets,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    try:
        assert process.stdout is not None
        lines = [process.stdout.readline(), process.stdout.readline()]
        os.killpg(process.pid, signal.SIGINT)
        out, err = process.communicate(timeout=30)
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
    assert process.returncode == 130
    assert lines[1].split()[:2] == ["safe.spec", "safe"]
    assert "interrupted: 1 of 2 done" in out
    assert "Traceback" not in err


def test_processes_tell_how_far_they_are() -> None:
    def decide(item: Item, tell: Callable[[int, int], None]) -> str:
        tell(5, 2)
        return item.name

    told: list[tuple[int, int]] = []
    crew = Work(decide, lambda name, *_: name, watch=lambda *numbers: told.append(numbers))
    items: list[tuple[int, Item]] = [(0, Source("one", "one")), (1, Source("two", "two"))]
    assert list(in_processes(items, crew, 1, lambda: None)) == [(0, "one"), (1, "two")]
    assert told[0] == (5, 2)
