"""What programs run on: the command line comes first, then their `hardware` lines, then the defaults."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator
from referencing import Registry, Resource

import rdma_robust
from rdma_robust import CheckOptions, UsageError, Verdict
from rdma_robust.model import Hardware, Model
from tests.conftest import ROOT, Cli

SB = """\
node A { x, y }
thread T on A { reg r; x = 1; r = y }
thread U on A { reg r; y = 1; r = x }
"""
"""Robust unless processors buffer stores."""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "plain.rdma").write_text(f"{SB}expect robust\n")
    (tmp_path / "buffered.rdma").write_text(f"hardware cpu tso\n{SB}expect not robust\n")
    return tmp_path


@pytest.mark.usefixtures("folder")
def test_the_command_line_comes_before_the_program(cli: Cli) -> None:
    for options, verdicts in (
        ((), ["robust", "not-robust"]),
        (("--cpu", "tso"), ["not-robust", "not-robust"]),
        (("--cpu", "sc"), ["robust", "robust"]),
    ):
        done = cli("check", "plain.rdma", "buffered.rdma", "--format", "json", *options)
        report = json.loads(done.stdout)
        schema = json.loads((ROOT / "rdma_robust/schema/check.schema.json").read_text())
        Draft202012Validator(schema).validate(report)
        assert [each["verdict"] for each in report["results"]] == verdicts
        told = [(each["model"] or {"cpu": "sc"})["cpu"] for each in report["results"]]
        assert told == ["tso" if verdict == "not-robust" else "sc" for verdict in verdicts]
    table = cli("check", "plain.rdma", "buffered.rdma").stdout.splitlines()
    assert table[2].endswith("cpu tso") and "cpu" not in table[1]


@pytest.mark.usefixtures("folder")
def test_the_verdict_is_compared_under_the_hardware_that_results(cli: Cli) -> None:
    assert cli("check", "--expect", "plain.rdma", "buffered.rdma").returncode == 0
    assert cli("check", "--expect", "--cpu", "tso", "plain.rdma").returncode == 1


def test_settings_name_hardware_too(cli: Cli, folder: Path) -> None:
    (folder / "rdma-robust.toml").write_text('cpu = "tso"\nrecv-depth = 4\n')
    assert json.loads(cli("check", "plain.rdma", "--format", "json").stdout)["results"][0]["verdict"] == "not-robust"
    assert json.loads(cli("check", "plain.rdma", "--format", "json").stdout)["options"]["recv_depth"] == 4
    assert cli("check", "plain.rdma", "--cpu", "sc").returncode == 0


def test_a_cached_answer_is_one_for_the_same_hardware(cli: Cli, folder: Path) -> None:
    (folder / "cache").mkdir(mode=0o700)

    def answered(*options: str) -> str:
        done = cli("report", "plain.rdma", "--cache", "cache", "--format", "json", "--repair", "0", *options)
        report = json.loads(done.stdout)
        names = ("check", "report")
        schemas = [json.loads((ROOT / f"rdma_robust/schema/{name}.schema.json").read_text()) for name in names]
        registry: Registry[dict[str, object]] = Registry().with_resources(
            [(schema["$id"], Resource.from_contents(schema)) for schema in schemas]
        )
        Draft202012Validator(schemas[1], registry=registry).validate(report)
        return str(report["results"][0]["verdict"])

    assert [answered(*o) for o in ((), ("--cpu", "tso"), (), ("--cpu", "tso"))] == ["robust", "not-robust"] * 2


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--cpu", "pso"), "tso"),
        (("--atomics", "all"), "glob"),
        (("--order", "any"), "multipath"),
        (("--recv-depth", "0"), "1"),
        (("--recv-depth", "17"), "16"),
    ],
)
def test_words_that_mean_nothing(options: tuple[str, ...], said: str, cli: Cli) -> None:
    done = cli("check", "plain.rdma", *options)
    assert done.returncode == 2 and options[0] in done.stderr and said in done.stderr and "Traceback" not in done.stderr


def test_hardware_in_the_library() -> None:
    buffered = f"hardware cpu tso, reads ordered\n{SB}"
    assert rdma_robust.check(buffered).verdict is Verdict.NOT_ROBUST
    assert rdma_robust.check(buffered).model == Model(cpu="tso", ordered_reads=True)
    assert rdma_robust.check(buffered, cpu="sc").verdict is Verdict.ROBUST
    assert rdma_robust.check(buffered, hardware=Model()).verdict is Verdict.ROBUST
    assert rdma_robust.check(SB, cpu="tso").verdict is Verdict.NOT_ROBUST
    options = CheckOptions(order="relaxed")
    assert options.on(Hardware(cpu="tso", order="multipath")).model == Model(cpu="tso", order="relaxed")
    assert options.on(Hardware(cpu="tso")).on(Hardware(cpu="sc")).model == Model(cpu="tso", order="relaxed")
    with pytest.raises(UsageError, match="no cpu is called 'pso'"):
        CheckOptions(cpu="pso")  # type: ignore[arg-type]
    with pytest.raises(UsageError, match="no order is called"):
        CheckOptions(order="any")  # type: ignore[arg-type]
    with pytest.raises(UsageError, match="whole memory model"):
        CheckOptions(cpu="tso", hardware=Model())
    with pytest.raises(UsageError, match="1 to 16"):
        CheckOptions(recv_depth=17)


FLAG = """\
node A {}
node B { x, f }
thread T on A { put B.x = 1; put B.f = 1 }
thread U on B { reg r, s; r = f; s = x }
outcome U.r == 1 && U.s == 0 : forbidden under rdma
"""


def test_options_in_python_take_the_tables_that_the_command_line_takes(tmp_path: Path) -> None:
    (tmp_path / "mine.toml").write_text('name = "mine"\nbased-on = "srd"\n')
    (tmp_path / "wrong.toml").write_text('name = "mine"\nbased-on = "nothing"\n')
    robust = {"default": True, "srd": False, "fi(RMA_WAW)": True, "fi(SAS)": False, str(tmp_path / "mine.toml"): False}
    for order, holds in robust.items():
        assert (rdma_robust.check(FLAG, order=order).verdict is Verdict.ROBUST) == holds, order
        assert (rdma_robust.check(FLAG, CheckOptions(order=order)).verdict is Verdict.ROBUST) == holds
        reached = rdma_robust.reach(FLAG, "U ended && U.r == 1 && U.s == 0", order=order)
        assert reached.answer.value == ("unreachable" if holds else "reachable")
        assert rdma_robust.verify(FLAG, order=order).status.value == ("holds" if holds else "violated")
    assert CheckOptions(order="fi(RMA_WAW)").model.order_name == "fi(RMA_WAW)"
    for order in ("fi(ANY)", "no.toml", str(tmp_path)):
        with pytest.raises(UsageError):
            rdma_robust.check(FLAG, order=order)
    with pytest.raises(rdma_robust.ProgramError, match="nothing"):
        rdma_robust.verify(FLAG, order=str(tmp_path / "wrong.toml"))
