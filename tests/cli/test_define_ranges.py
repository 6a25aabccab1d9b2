"""`-D N=2..8`: one instance of the program for each value, in every command that answers for many programs."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from rdma_robust.errors import UsageError
from rdma_robust.value_ranges import MOST_INSTANCES, definition_combinations, file_of, told_instance
from tests.conftest import Cli
from tests.support.rounds import ROUNDS


@pytest.fixture
def rounds(tmp_path: Path) -> Path:
    (path := tmp_path / "rounds.rdma").write_text(ROUNDS)
    return path


def names(stdout: str) -> list[str]:
    return [line.split("  ")[0] for line in stdout.splitlines() if line.startswith(("rounds", "<stdin>"))]


def test_every_combination_is_decided_the_last_value_changing_fastest(cli: Cli, rounds: Path) -> None:
    done = cli("check", "-D", "ROUNDS=1,0", "-D", "BACK=0..2", "--quiet", "--format", "jsonl", rounds.name)
    assert done.returncode == 1
    found = [json.loads(line) for line in done.stdout.splitlines()]
    assert [each["file"] for each in found] == [
        f"rounds.rdma (ROUNDS={there}, BACK={back})" for there in (1, 0) for back in (0, 1, 2)
    ]
    assert [each["verdict"] for each in found] == ["robust", "not-robust", "not-robust", "robust", "robust", "robust"]


def test_a_stream_is_read_once_for_all_its_instances(cli: Cli) -> None:
    for options in ((), ("--jobs", "1", "--timeout", "0", "--memory", "0")):
        done = cli("check", "-D", "BACK=0..1", *options, "-", stdin=ROUNDS)
        assert names(done.stdout) == ["<stdin> (BACK=0)", "<stdin> (BACK=1)"], done.stderr
        assert "2 programs" in done.stdout


@pytest.mark.ci
def test_every_command_for_many_programs_takes_ranges(cli: Cli, rounds: Path) -> None:
    for command in ("check", "report", "models", "verify", "lint", "prove"):
        more = ("--no-cache", "--repair", "0", "--claims", "0") if command == "report" else ()
        done = cli(command, *more, "--format", "json", "-D", "BACK=0..1", rounds.name)
        files = [each["file"] for each in json.loads(done.stdout)["results"]]
        assert files == ["rounds.rdma (BACK=0)", "rounds.rdma (BACK=1)"]


def test_logs_of_other_tools_name_the_file(cli: Cli, rounds: Path) -> None:
    found = cli("check", "-D", "ROUNDS=1..2", "--format", "github", rounds.name).stdout.splitlines()
    assert len(found) == 2
    assert all(line.startswith("::error file=rounds.rdma,line=") for line in found)
    assert [line.partition(" (ROUNDS=")[2][0] for line in found] == ["1", "2"]
    log = json.loads(cli("check", "-D", "ROUNDS=1..2", "--format", "sarif", rounds.name).stdout)["runs"][0]
    assert log["artifacts"] == []
    places = [each["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] for each in log["results"]]
    assert places == ["rounds.rdma"] * 2


def test_certificates_of_instances(cli: Cli, rounds: Path, tmp_path: Path) -> None:
    assert cli("check", "-D", "BACK=0..1", "--certificate", "proofs", rounds.name).returncode == 1
    for value in (0, 1):
        (file,) = (tmp_path / "proofs").glob(f"rounds.rdma,BACK={value}.json*")
        assert cli("verify-certificate", "-D", f"BACK={value}", str(file)).returncode == 0
        assert cli("verify-certificate", "-D", f"BACK={1 - value}", str(file)).returncode == 1


@pytest.mark.parametrize(
    "command", [("explain",), ("outcomes",), ("repair",), ("export", "--to", "spec"), ("explore",), ("fmt", "--expand")]
)
def test_a_command_for_one_program_takes_one_value(cli: Cli, rounds: Path, command: tuple[str, ...]) -> None:
    done = cli(*command, "-D", "ROUNDS=1..3", rounds.name)
    assert done.returncode == 2 and not done.stdout
    assert done.stderr.count("\n") == 1 and "takes one value for `ROUNDS`, and `-D ROUNDS=1..3` is several" in done.stderr


@pytest.mark.parametrize(
    ("values", "message"),
    [
        (["ROUNDS=3..2"], "`3..2` for `ROUNDS` has no value: write the smaller number first"),
        (["ROUNDS=1..x"], "`1..x` for `ROUNDS` is no constant expression, and no values either"),
        (["ROUNDS=1..2..3"], "no values either, such as `2..8` or `2,4,8`"),
        (["ROUNDS=1..1001"], "`-D ROUNDS=1..1001` stands for 1,001 instances, and at most 1,000 are decided"),
        (["ROUNDS=1..100", "BACK=0..10"], "`-D ROUNDS=1..100 -D BACK=0..10` stands for 1,100 instances"),
        (["OTHER=1..2"], "no constant `OTHER` to define; it has `ROUNDS` and `BACK`"),
    ],
)
def test_what_is_no_range_is_said(cli: Cli, rounds: Path, values: list[str], message: str) -> None:
    done = cli("check", *(word for each in values for word in ("-D", each)), rounds.name)
    assert done.returncode == 2
    assert message in done.stderr


def test_values_of_ranges() -> None:
    assert [each.shown for each in definition_combinations(["N=2,4..6, 5,-1"])] == ["N=2", "N=4", "N=5", "N=6", "N=-1"]
    assert [each.define for each in definition_combinations(["M=k + 1", "N = 3..3"])] == [("M=k + 1", "N=3")]
    (plain,) = definition_combinations(["N=3"])
    assert (plain.define, plain.named("a.rdma")) == (("N=3",), "a.rdma")
    assert len(definition_combinations([f"N=1..{MOST_INSTANCES}"])) == MOST_INSTANCES
    for name in ("a.rdma", "a (N=3).rdma", "<stdin>"):
        for each in definition_combinations(["N=-1..1", "M=2,4"]):
            assert file_of(each.named(name)) == name
            assert told_instance(each.named(name)) == each.shown
        assert file_of(name) == name and told_instance(name) == ""
    with pytest.raises(UsageError, match="has no value"):
        definition_combinations(["N=1..0"])
