"""`-D NAME=VALUE` gives a constant another value, in every command that reads programs."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import rdma_robust
from rdma_robust.errors import UsageError
from rdma_robust.language.defines import undefined, with_definitions
from tests.conftest import Cli

PROGRAM = """\
// Robust for one round only.
const ROUNDS = 0, LAST = ROUNDS  // rounds
node A { x = 0, scrap = 0 }
node B { y = 0 }

thread T on A {
  reg r
  for i in 1..ROUNDS { put B.y = 1 }
  r = x
}

thread U on B {
  reg r
  for i in 1..LAST { put A.x = 1 }
  r = y
}

outcome T.r == 0 && U.r == 0 : allowed under sc
"""
ROBUST_AS_WRITTEN = ("check", "explain", "repair")


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "rounds.rdma"
    path.write_text(PROGRAM)
    return path


@pytest.mark.usefixtures("file")
@pytest.mark.parametrize("command", ROBUST_AS_WRITTEN)
def test_verdicts_are_those_of_the_defined_program(cli: Cli, command: str) -> None:
    assert cli(command, "rounds.rdma").returncode == 0
    done = cli(command, "-D", "ROUNDS=1", "rounds.rdma")
    assert done.returncode == (0 if command == "repair" else 1)
    assert "Traceback" not in done.stderr
    if command == "repair":
        assert "repaired at cost" in done.stdout
    assert cli(command, "-DROUNDS = 3 - 2", "-D", "LAST=0", "rounds.rdma").returncode == 0


@pytest.mark.ci
def test_every_command_takes_it(cli: Cli, file: Path, tmp_path: Path) -> None:
    for arguments in (
        ("verify",),
        ("reach", "--target", "T ended && A.x == 1"),
        ("outcomes",),
        ("export", "--to", "promela"),
        ("report", "--format", "md", "--repair", "0"),
        ("check", "--dump-after", "parse"),
        ("fmt", "--expand"),
        ("explain", "--format", "json"),
    ):
        plain, more = (cli(*arguments, *d, file.name) for d in ((), ("-D", "ROUNDS=2")))
        assert plain.stdout != more.stdout, arguments
        wrong = cli(*arguments, "-D", "ROUND=2", file.name)
        assert wrong.returncode == 2
        assert "no constant `ROUND` to define; did you mean `ROUNDS`?" in wrong.stderr
    assert cli("fmt", "-D", "ROUNDS=2", file.name).returncode == 2
    for rounds in (0, 2):
        local = tmp_path / "local.rdma"
        local.write_text("const N = 7\ndomain 0..7\nnode A { x }\nthread T on A { for i in 1..N { x = i } }\n")
        demo = cli("demo", "finite", "-D", f"N={rounds}", "local.rdma", "--target", "A.x == 2", "--pace", "0")
        assert demo.returncode == 0
        assert ("the target cannot be reached" in " ".join(demo.stdout.split()).lower()) == (rounds == 0), demo.stdout
    certified = cli("check", "-D", "ROUNDS=1", "--certificate", "proofs", "rounds.rdma")
    assert certified.returncode == 1
    (proof,) = (tmp_path / "proofs").iterdir()
    assert cli("verify-certificate", "-D", "ROUNDS=1", str(proof)).returncode == 0
    assert cli("verify-certificate", str(proof)).returncode == 1


@pytest.mark.usefixtures("file")
def test_reports_say_it(cli: Cli) -> None:
    for arguments in (
        ("check", "--format", "json"),
        ("verify", "--format", "json"),
        ("reach", "--target", "drained", "--format", "json"),
        ("outcomes", "--format", "json"),
        ("repair", "--format", "json"),
        ("report", "--format", "json", "--repair", "0"),
    ):
        for given in ([], ["ROUNDS=1", "LAST=0"]):
            options = [word for each in given for word in ("-D", each)]
            assert json.loads(cli(*arguments, *options, "rounds.rdma").stdout)["options"]["define"] == given


def test_a_cached_answer_is_one_for_the_same_values(cli: Cli, file: Path, tmp_path: Path) -> None:
    def verdict(*options: str) -> str:
        done = cli("report", "--format", "json", "--repair", "0", "--cache", str(tmp_path / "cache"), *options, file.name)
        result: str = json.loads(done.stdout)["results"][0]["verdict"]
        return result

    for _ in range(2):
        assert [verdict(), verdict("-D", "ROUNDS=1"), verdict("-D", "ROUNDS=1", "-D", "LAST=0")] == [
            "robust",
            "not-robust",
            "robust",
        ]


def test_a_repair_leaves_constants_as_they_were(cli: Cli, file: Path) -> None:
    done = cli("repair", "-D", "ROUNDS=1", "--write", "rounds.rdma")
    assert done.returncode == 0
    text = file.read_text()
    assert text != PROGRAM
    assert "const ROUNDS = 0, LAST = ROUNDS  // rounds\n" in text
    assert cli("check", "-D", "ROUNDS=1", "rounds.rdma").returncode == 0
    file.write_text(PROGRAM)
    diff = cli("repair", "-D", "ROUNDS=1", "--diff", "rounds.rdma").stdout
    assert not [line for line in diff.splitlines() if line.startswith(("-const", "+const"))]


@pytest.mark.usefixtures("file")
@pytest.mark.parametrize(
    ("values", "message"),
    [
        (["ROUNDS"], "`ROUNDS` defines no constant: write `NAME=VALUE`, for example `N=3`"),
        (["1=2"], "`1=2` defines no constant"),
        (["ROUNDS="], "the value `` for `ROUNDS` is no constant expression"),
        (["ROUNDS=1 // "], "is no constant expression"),
        (["ROUNDS=1, LAST = 2"], "is no constant expression"),
        (["ROUNDS=(1"], "is no constant expression"),
        (["ROUNDS=1", "ROUNDS=2"], "the constant `ROUNDS` is defined twice"),
        (["OTHER=1"], "no constant `OTHER` to define; it has `ROUNDS` and `LAST`"),
        (["ROUNDS=x"], "`x` is not a named constant"),
    ],
)
def test_what_defines_nothing_is_said(cli: Cli, values: list[str], message: str) -> None:
    done = cli("check", *(word for each in values for word in ("-D", each)), "rounds.rdma")
    assert done.returncode == 2
    assert message in done.stderr


def test_from_python(file: Path) -> None:
    assert rdma_robust.check(PROGRAM).verdict.value == "robust"
    assert rdma_robust.check(PROGRAM, define={"ROUNDS": 1}).verdict.value == "not-robust"
    assert rdma_robust.check(file, define={"ROUNDS": "2 - 1", "LAST": 0}).verdict.value == "robust"
    program = rdma_robust.parse(PROGRAM, define={"ROUNDS": 3})
    assert dict(program.constants) == {"ROUNDS": 3, "LAST": 3}
    assert rdma_robust.reach(file, "A.x == 1", define={"LAST": 1}).run is not None
    assert rdma_robust.verify(PROGRAM, define={"ROUNDS": 1}).program.source == with_definitions(PROGRAM, ["ROUNDS=1"])
    with pytest.raises(UsageError, match="no constant `R`"):
        rdma_robust.parse(PROGRAM, define={"R": 3})
    with pytest.raises(UsageError, match="loaded already"):
        rdma_robust.check(program, define={"ROUNDS": 3})


def test_only_values_change() -> None:
    text = with_definitions(PROGRAM, ["LAST=7", "ROUNDS=(1 + 1)"])
    assert text == PROGRAM.replace("ROUNDS = 0, LAST = ROUNDS", "ROUNDS = (1 + 1), LAST = 7")
    assert undefined(text, PROGRAM, ["LAST=7", "ROUNDS=(1 + 1)"]) == PROGRAM
    assert with_definitions("node A {", ["N=1"]) == "node A {"  # an error of the text comes from whoever reads it
