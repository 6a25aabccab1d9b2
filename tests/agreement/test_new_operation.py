"""An operation that is new: every command knows it after edits of at most twelve files, and answers as for one like it.

`clear B.x` is what `put B.x = 0 inline` is, so there is something to compare every answer with.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from random import Random
from typing import Any

import pytest

from rdma_robust.frame import registry
from tests.support.new_operation import edits, package_with_clear
from tests.support.random_programs import SMALL, random_program

MOST_FILES = 12

SB = """node A { x = 1 }
node B { y = 1 }
thread T on A { reg r; clear B.y; r = x }
thread U on B { reg s; clear A.x; s = y }
outcome T.r == 1 && U.s == 1 : allowed under rdma, forbidden under sc
invariant T ended
"""
CALM = """node A { x = 1 }
node B { y = 1 }
thread T on A { reg r; clear B.y; poll B; r = x }
"""
COPIED = """node A { x = 1 }
node B { y = 1; cells[3] }
macro wipe(place) { clear place }
thread T on A { for k in 0..2 { clear B.cells[k] }; wipe(B.y); poll B 4 }
thread U[k in 1..2] on B { reg s; s = y }
thread V[*] on B { reg t; t = cells[0] }
"""
POLLED = """node A { x = 1; seen }
node B { y = 1 }
thread T on A { reg r; clear B.y; get seen = B.y; poll B 2; r = x }
thread U on B { reg s; clear A.x; get y = A.seen; poll A 2; s = y }
"""
MANY = """const N = 1
node A { x }
node B { y[2] }
thread T on A { for k in 0..N { clear B.y[k]; poll B } }
"""
WRONG = """node A { x = 1 }
node B { y = 1 }
thread T on A { for k in 0..1 { clear y } }
"""

ASK = """
import json, os, sys, tempfile
from rdma_robust.cli.app import run
answers, said = os.dup(1), []
for arguments in json.load(sys.stdin):
    with tempfile.TemporaryFile("w+") as out, tempfile.TemporaryFile("w+") as err:
        os.dup2(out.fileno(), 1), os.dup2(err.fileno(), 2)
        code = run(arguments)
        sys.stdout.flush(), sys.stderr.flush(), out.seek(0), err.seek(0)
        said.append([int(code), out.read(), err.read()])
os.write(answers, json.dumps(said).encode())
"""

TABLES = """
import rdma_robust.grammar_tables as grammars
from pathlib import Path
Path(grammars.__file__).with_name("grammars").joinpath("rdma.tables.json").write_text(grammars.tables("rdma"))
print("null")
"""
"""As `make promote` does, so that no command makes the tables anew."""

COMPARE = """
import json, sys
from rdma_robust.errors import RdmaRobustError
from rdma_robust.language.load import load_decidable
from rdma_robust.limits import Limits
from rdma_robust.options import CheckOptions
from rdma_robust.pipeline import check_program
from rdma_robust.semantics.machines.chosen import machine_of
from rdma_robust.semantics.machines.outcomes import explore
from rdma_robust.evidence.produce import robustness_certificate
from rdma_robust.certify.checker import verify
said = []
for texts in json.load(sys.stdin):
    rows = []
    for text in texts:
        program = load_decidable(text, "random.rdma")
        outcome = check_program(program, CheckOptions())
        finals = sorted(map(repr, explore(machine_of(program), Limits()).finals))
        certificate = robustness_certificate(outcome, CheckOptions(), Limits(), None)
        verify(certificate, text, "random.rdma")
        rows.append([outcome.verdict.name, finals])
    said.append(rows)
json.dump(said, sys.stdout)
"""


@pytest.fixture(scope="module")
def package(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = package_with_clear(tmp_path_factory.mktemp("package"))
    (folder / "work").mkdir()
    asked(folder, TABLES, None)
    for name, text in {"sb": SB, "calm": CALM, "copied": COPIED, "poll": POLLED, "many": MANY, "wrong": WRONG}.items():
        (folder / "work" / f"{name}.rdma").write_text(text, encoding="utf-8")
    return folder


def asked(package: Path, script: str, question: object) -> Any:
    """What a script says that runs in the copy of the package."""
    done = subprocess.run(
        [sys.executable, "-c", script],
        input=json.dumps(question),
        capture_output=True,
        text=True,
        cwd=package / "work",
        env=os.environ | {"PYTHONPATH": str(package), "XDG_CACHE_HOME": str(package / "cache")},
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_at_most_twelve_files_are_to_be_changed() -> None:
    assert 3 < len(edits()) <= MOST_FILES


COMMANDS = {
    "check sb.rdma": (1, "the NIC's write of `B.y` for `clear B.y` (line 3)"),
    "check calm.rdma": (0, "robust"),
    "check copied.rdma": (0, "robust for any number of copies of V"),
    "check --quiet --certificate proofs sb.rdma calm.rdma poll.rdma": (1, ""),
    "verify-certificate proofs": (0, "poll.rdma is robust, proved by an inductive invariant"),
    "outcomes sb.rdma": (0, "RDMA only"),
    "models sb.rdma": (1, "NOT ROBUST"),
    "verify sb.rdma": (1, "posts clear B.y"),
    "reach sb.rdma --target T.r==1": (1, "posts clear B.y"),
    "repair sb.rdma": (0, "get "),
    "explain sb.rdma": (1, "clear B.y"),
    "explain -o - --format html sb.rdma": (1, "clear B.y"),
    "explain -o - --format svg sb.rdma": (1, "clear B.y"),
    "explain -o - --format json sb.rdma": (1, "clear B.y"),
    "lint sb.rdma": (0, "no warnings"),
    "fmt sb.rdma": (0, "  clear B.y\n"),
    "report -o old.json sb.rdma": (1, "1 not robust"),
    "report -o - sb.rdma calm.rdma": (1, "sb.rdma"),
    "report -o new.json sb.rdma calm.rdma": (1, "1 robust, 1 not robust"),
    "compare old.json new.json": (0, "calm.rdma: robust"),
    "needs sb.rdma": (1, "no guarantee of the order of a queue pair makes it robust"),
    "races sb.rdma": (1, "`clear B.y` (line 3) and `s = y` (line 4) race"),
    "scale -D N=0..1 many.rdma": (0, "2 programs: 2 robust"),
    "export --to promela sb.rdma": (0, "this is the pivot's"),
    "export --to verbs-c sb.rdma": (2, "no call of verbs does this"),
    "share sb.rdma": (0, "http"),
    "prove sb.rdma": (2, "`prove` has no machine for it"),
    "check wrong.rdma": (2, "`clear` needs a variable of another node"),
}
"""With the exit code and a part of what is said."""
OF_NO_PROGRAM = (
    "contracts cover messages hardware synthesise import record new playground explain-code completion lsp mcp demo "
    "explore exercise"
)
"""Commands that are given no program of this language, or wait for somebody who reads: explanations and runs are above."""


def test_every_command_is_asked() -> None:
    commands = {command.name for tool in registry.tools() for command in tool.commands}
    assert {command.split()[0] for command in COMMANDS} == commands - set(OF_NO_PROGRAM.split())


@pytest.mark.ci
def test_every_command_knows_a_new_operation(package: Path) -> None:
    answers = asked(package, ASK, [command.split() for command in COMMANDS])
    for (command, (code, text)), (exit_code, out, err) in zip(COMMANDS.items(), answers, strict=True):
        assert exit_code == code and text in out + err, (command, exit_code, out[:2000], err)
        assert "internal error" not in out + err and "cannot be drawn" not in err, (command, err)


PUT = r"put ([\w.\[\]]+) = [\w.\[\]]+"


def cleared(seed: int) -> list[str]:
    """A random program with some of its puts as `clear`, and the same with what that stands for."""
    rng = Random(f"cleared {seed}")
    text = random_program(rng, SMALL)
    chosen = [rng.random() < 0.6 for _ in re.findall(PUT, text)]
    return [_put_in(text, form, chosen) for form in ("clear {}", "put {} = 0 inline")]


def _put_in(text: str, form: str, chosen: list[bool]) -> str:
    places = iter(chosen)
    return re.sub(PUT, lambda put: form.format(put[1]) if next(places) else put[0], text)


@pytest.mark.ci
def test_a_new_operation_is_answered_for_as_what_it_stands_for(package: Path) -> None:
    agree(package, range(50))


@pytest.mark.ci
def test_ci_a_new_operation_is_answered_for_as_what_it_stands_for(package: Path) -> None:
    agree(package, range(50, 350))


def agree(package: Path, seeds: range) -> None:
    """Verdicts, final states, and certificates that the checker accepts."""
    pairs = [pair for pair in map(cleared, seeds) if pair[0] != pair[1]]
    verdicts = set()
    for pair, (new, known) in zip(pairs, asked(package, COMPARE, pairs), strict=True):
        assert new == known, pair[0]
        verdicts.add(new[0])
    assert len(pairs) >= len(seeds) // 6 and verdicts == {"ROBUST", "NOT_ROBUST"}
