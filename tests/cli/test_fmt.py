"""The installed command: `fmt`."""

from __future__ import annotations

from pathlib import Path

from tests.conftest import NOT_ROBUST, Cli

CROOKED = "node A{x=0} // kept\nthread T on A{x=1}\n"


def test_printing_checking_and_writing(cli: Cli, tmp_path: Path) -> None:
    path = tmp_path / "crooked.rdma"
    path.write_text(CROOKED)
    path.chmod(0o640)
    printed = cli("fmt", "crooked.rdma")
    assert printed.returncode == 0
    assert printed.stdout != CROOKED
    assert "// kept" in printed.stdout
    assert path.read_text() == CROOKED
    check = cli("fmt", "--check", "crooked.rdma")
    assert (check.returncode, check.stdout) == (1, "")
    assert "crooked.rdma: would be reformatted" in check.stderr
    assert path.read_text() == CROOKED
    assert cli("fmt", "--write", "crooked.rdma").returncode == 0
    assert path.read_text() == printed.stdout
    assert path.stat().st_mode & 0o777 == 0o640
    assert cli("fmt", "--check", "crooked.rdma").returncode == 0
    assert cli("fmt", "-", stdin=CROOKED).stdout == printed.stdout
    assert cli("fmt", "--write", "-", stdin=CROOKED).returncode == 2


def test_what_does_not_parse_is_never_written(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "bad.rdma").write_text("node A { x\n")
    (tmp_path / "crooked.rdma").write_text(CROOKED)
    done = cli("fmt", "--write", "bad.rdma", "crooked.rdma", "missing.rdma")
    assert done.returncode == 2
    assert "bad.rdma:" in done.stderr
    assert "missing.rdma: error: no such file" in done.stderr
    assert (tmp_path / "bad.rdma").read_text() == "node A { x\n"
    assert (tmp_path / "crooked.rdma").read_text() != CROOKED


def test_message_programs_have_the_same_layout(cli: Cli, tmp_path: Path) -> None:
    crooked = "proc P[i in 0..1]{reg r;recv r from any // kept\n}\nexpect no  deadlock under any"
    formatted = """\
proc P[i in 0..1] {
  reg r
  recv r from any  // kept
}
expect no deadlock under any
"""
    (tmp_path / "a.mp").write_text(crooked)
    assert cli("fmt", "a.mp").stdout == formatted
    assert cli("fmt", "-", stdin=crooked).stdout == formatted
    assert cli("fmt", "--write", ".").returncode == 0
    assert (tmp_path / "a.mp").read_text() == formatted
    (tmp_path / "b.mp").write_text("proc P { recv r form Q }")
    wrong = cli("fmt", "b.mp")
    assert wrong.returncode == 2
    assert "b.mp:1:17: error: unexpected `form` [RR101]" in wrong.stderr
    assert "did you mean `from`?" in wrong.stderr


def test_message_programs_are_written_out(cli: Cli, tmp_path: Path) -> None:
    text = "const N = 1\nfun f(x) { return x + N }\nproc P[i in 0..N] { reg r\n if i < N { r = f(i) } }\n"
    (tmp_path / "a.mp").write_text(text)
    written = cli("fmt", "--expand", "-D", "N=2", "a.mp")
    assert (
        written.stdout
        == """\
program a
fun f() { return 2 }
fun f_2() { return 3 }
proc P[k in 0..2] {
  if k == 0 { reg r = f() } else if k == 1 { reg r = f_2() } else { reg r }
}
"""
    )
    (tmp_path / "b.mp").write_text("proc P { x = 1 }")
    assert "[RR901]" in cli("fmt", "--expand", "b.mp").stderr


def test_usage(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "a.rdma").write_text(NOT_ROBUST)
    assert cli("fmt", "--check", "--write", "a.rdma").returncode == 2
    assert cli("fmt").returncode == 2
