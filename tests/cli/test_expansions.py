"""The installed command on programs with `for` and macros: every command answers as for the program written out."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from rdma_robust.errors import ProgramError
from rdma_robust.language.flow.canonical import canonical_text
from rdma_robust.language.load import load_program
from tests.conftest import Cli

SHORT = """\
const N = 2
node A { x = 0, ring[N] = 0, s = 0 }
node B { y[N] = 0, t = 0 }

macro tell(there, v, r, own) {
  put there.v = 1
  r = own
}

macro await_all(a, old) {
  for i in 0..N - 1 { await a[i] == old }
}

thread T on A {
  reg r
  tell(B, t, r, x)
  for i in 0..N - 1 {
    ring[i] = i
    put B.y[i] = ring[i]
  }
  poll B
}

thread U on B {
  reg r
  tell(A, x, r, t)
  await_all(y, 0)
  assert r == 0 || r == 1
}

outcome T.r == 0 && U.r == 0 : forbidden under sc, allowed under rdma
expect not robust
"""


@pytest.fixture
def both(cli: Cli, tmp_path: Path) -> tuple[str, str]:
    """The program and what `fmt --expand` makes of it."""
    (tmp_path / "short.rdma").write_text(SHORT)
    done = cli("fmt", "--expand", "short.rdma", "-o", "long.rdma")
    assert done.returncode == 0
    text = (tmp_path / "long.rdma").read_text()
    assert not re.search(r"\b(for|macro)\b", text)
    assert canonical_text(load_program(text, "p")) == canonical_text(load_program(SHORT, "p"))
    return "short.rdma", "long.rdma"


@pytest.mark.ci
def test_commands_answer_as_for_the_program_written_out(cli: Cli, both: tuple[str, str]) -> None:
    for arguments in (
        ("check",),
        ("check", "--instrumentation", "paper"),
        ("check", "--self-check"),
        ("verify",),
        ("reach", "--target", "T ended && B.y[1] == 0"),
        ("outcomes",),
        ("explain", "--format", "json"),
        ("repair", "--remove-needless"),
        ("export", "--to", "promela"),
        ("export", "--to", "spec"),
        ("export", "--to", "dot"),
        ("report", "--format", "json"),
        ("report", "--format", "sarif"),
        ("check", "--dump-after", "await"),
    ):
        short, long = (cli(*arguments, each) for each in both)
        assert short.returncode == long.returncode, arguments
        assert "internal error" not in short.stderr
    for arguments in (("check",), ("explain",), ("report", "--repair", "0")):
        counts = [
            re.findall(r'"(?:verdict|states|pivots)": [^,}]+', cli(*arguments, "--format", "json", f).stdout) for f in both
        ]
        assert counts[0] == counts[1]
    finals = [cli("outcomes", each).stdout for each in both]
    assert finals[0].replace("short", "").splitlines()[2:8] == finals[1].replace("long", "").splitlines()[2:8]


def test_certificates_of_expansions_are_checked(cli: Cli, tmp_path: Path) -> None:
    robust = SHORT.replace("put there.v = 1", "put there.v = 1\n  poll there").replace("expect not robust", "")
    for name, text in (("short.rdma", SHORT), ("other.rdma", robust)):
        (tmp_path / name).write_text(text)
        cli("check", "--certificate", "proofs", name)
    found = sorted((tmp_path / "proofs").iterdir())
    assert len(found) == 2
    assert cli("verify-certificate", *map(str, found)).returncode == 0
    (tmp_path / "short.rdma").write_text(SHORT.replace("tell(A, x, r, t)", "tell(A, x, r, y[0])"))
    assert cli("verify-certificate", str(found[-1] if "short" in found[-1].name else found[0])).returncode == 1


def test_a_counterexample_names_both_places(cli: Cli, both: tuple[str, str]) -> None:
    lines = SHORT.splitlines()
    call = {name: 1 + next(k for k, line in enumerate(lines) if line.strip().startswith(f"tell({name}")) for name in "AB"}
    put = 1 + lines.index("  put there.v = 1")
    text = cli("check", both[0]).stdout
    for name in "AB":
        assert re.search(rf"\(line\s+{put}\s+from\s+{call[name]}\)", text)
    assert f"{put}<{call['A']}" in text
    assert "expanded from line " in text
    run = cli("reach", "--target", "T ended", both[0]).stdout
    assert f"{put}<{call['B']}" in run
    witness = json.loads(cli("check", "--format", "json", both[0]).stdout)["results"][0]["witness"]
    places = {(e["line"], *e["expanded_from"]) for e in witness["events"] if e["line"] is not None}
    assert {(put, call["A"]), (put, call["B"]), (put + 1, call["A"])} <= places
    assert f"line {put} from {call['A']}" in " ".join(cli("explain", both[0]).stdout.split())


def test_targets_name_lines_of_macros_and_of_calls(cli: Cli, both: tuple[str, str]) -> None:
    lines = SHORT.splitlines()
    read = 1 + lines.index("  r = own")
    call = 1 + lines.index("  tell(A, x, r, t)")
    loop = 1 + lines.index("  for i in 0..N - 1 {")
    body = 1 + lines.index("    ring[i] = i")
    for target, reachable in (
        (f"T at {read} && U at {read}", True),
        (f"U at {call} && U at {read}", True),
        (f"T at {loop} && T at {body} && A.ring[1] == 0 && B.y[0] == 0", True),
        (f"T at {body} && T at {read}", False),
        (f"U at {call} && A.x == 1", True),
    ):
        done = cli("reach", "--target", target, both[0])
        assert done.returncode == (1 if reachable else 0), (target, done.stdout)
    missing = cli("reach", "--target", "U at 1", both[0])
    assert missing.returncode == 2
    assert f"{read}, " in missing.stderr
    assert f"{call}, " in missing.stderr


def test_repair_puts_nothing_into_expansions(cli: Cli, tmp_path: Path) -> None:
    """Between two calls it can, and the macro stays; where only the macro could be mended, it says that it does not."""
    head = "node A { x = 0 }\nnode B { y = 0 }\nmacro tell(n, v) { put n.v = 1 }\n"
    threads = "thread T on A { reg r; tell(B, y); r = x }\nthread U on B { reg r; tell(A, x); r = y }\n"
    (tmp_path / "between.rdma").write_text(head + threads)
    said = json.loads(cli("repair", "--format", "json", "between.rdma").stdout)
    assert (said["status"], said["optimal"], said["complete"]) == ("repaired", False, False)
    assert "nothing is put inside of a `for` or a macro" in said["reason"]
    done = cli("repair", "--write", "between.rdma")
    assert done.returncode == 0
    assert "no cheaper" not in done.stdout
    text = (tmp_path / "between.rdma").read_text()
    assert "macro tell(n, v) { put n.v = 1 }\n" in text
    assert cli("check", "between.rdma").returncode == 0
    inside = "macro both(n, v, r, w) { put n.v = 1; r = w }\n"
    calls = "thread T on A { reg r; both(B, y, r, x) }\nthread U on B { reg r; both(A, x, r, y) }\n"
    (tmp_path / "inside.rdma").write_text("node A { x = 0 }\nnode B { y = 0 }\n" + inside + calls)
    done = cli("repair", "inside.rdma")
    assert done.returncode == 3
    assert "`for` or a macro" in " ".join(done.stdout.split())
    assert "fmt --expand" in " ".join(done.stdout.split())


def test_needless_statements_of_a_for_go_from_all_copies(cli: Cli, tmp_path: Path) -> None:
    text = (
        "node A { x = 0 }\nnode B { y[2] = 0 }\nthread T on A {\n  for i in 0..1 {\n    put B.y[i] = x\n    poll B\n  }\n}\n"
    )
    (tmp_path / "n.rdma").write_text(text)
    assert cli("repair", "--remove-needless", "--write", "n.rdma").returncode == 0
    assert (tmp_path / "n.rdma").read_text() == text.replace("    poll B\n", "")


def test_errors_name_both_places(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "bad.rdma").write_text("node A { x }\nmacro m(v) {\n  x = v + y\n}\nthread T on A {\n  m(1)\n}\n")
    done = cli("check", "bad.rdma")
    assert done.returncode == 2
    assert "bad.rdma:3:11: error: unknown name `y`" in done.stderr
    assert "  expanded from bad.rdma:6: m(1)\n" in done.stderr
    error = json.loads(cli("check", "--format", "json", "bad.rdma").stdout)["results"][0]["errors"][0]
    assert (error["line"], error["expanded_from"]) == (3, [6])


def test_finite_reduction_reads_expansions(cli: Cli, tmp_path: Path) -> None:
    text = """\
domain 0..7
node A { x = 0 }
macro add(v, n) { reg q; q = v; q += n; v = q }
thread T on A { for i in 1..2 { add(x, i) } }
"""
    (tmp_path / "f.rdma").write_text(text)
    done = cli("demo", "finite", "f.rdma", "--target", "A.x == 3", "--pace", "0", "-o", "out")
    assert done.returncode == 0, done.stderr


def test_expanded_programs_are_only_printed(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "short.rdma").write_text(SHORT)
    assert cli("fmt", "--expand", "--write", "short.rdma").returncode == 2
    assert cli("fmt", "--expand", "--check", "short.rdma").returncode == 2
    (tmp_path / "bad.rdma").write_text("node A { x }\nthread T on A { m() }\n")
    assert cli("fmt", "--expand", "bad.rdma").returncode == 2
    assert (tmp_path / "short.rdma").read_text() == SHORT
    with pytest.raises(ProgramError):
        load_program("thread T on A { m() }", "t")
