"""The installed command: `check --certificate` and `verify-certificate`."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from rdma_robust.frame.shell.inputs import Source
from rdma_robust.questions.certificate_files import certificate_names
from tests.conftest import NOT_ROBUST, ROBUST, ROOT, Cli

MUTEX = """vars pool lock critical
rules
  pool >= 1, lock >= 1 -> pool' = pool - 1, lock' = lock - 1, critical' = critical + 1 ;
  critical >= 1 -> critical' = critical - 1, lock' = lock + 1, pool' = pool + 1 ;
init pool >= 1, lock = 1, critical = 0
target critical >= 2
"""


def test_every_verdict_gets_a_certificate(cli: Cli, programs: Path) -> None:
    done = cli("check", "--certificate", "proofs", ".")
    assert done.returncode == 2, done.stderr
    assert sorted(p.name for p in (programs / "proofs").iterdir()) == ["calm.rdma.json", "sb.rdma.json"]
    done = cli("verify-certificate", "proofs")
    assert done.returncode == 0, done.stderr
    first, second = done.stdout.splitlines()
    assert first.startswith("proofs/calm.rdma.json: VALID: calm.rdma is robust, proved by an inductive invariant of ")
    assert second == "proofs/sb.rdma.json: VALID: sb.rdma is not robust, proved by a trace of 6 events"


@pytest.mark.ci
def test_in_parallel_it_is_the_same(installed: Cli, cli: Cli, programs: Path) -> None:
    (programs / "bad.rdma").unlink()
    assert cli("--quiet", "--certificate", "one", "sb.rdma", "calm.rdma").returncode == 1
    assert installed("--quiet", "--certificate", "two", "--jobs", "2", "sb.rdma", "calm.rdma").returncode == 1
    for name in ("calm.rdma.json", "sb.rdma.json"):
        assert (programs / "one" / name).read_bytes() == (programs / "two" / name).read_bytes()
    done = cli("verify-certificate", "one/calm.rdma.json", "two/*.json")
    assert done.returncode == 0
    assert done.stdout.count(": VALID: ") == 3


def test_a_changed_program_makes_its_certificate_invalid(cli: Cli, programs: Path) -> None:
    cli("check", "--certificate", "proofs", "calm.rdma", "sb.rdma")
    (programs / "calm.rdma").write_text(ROBUST.replace("x = 1", "x = 2"))
    done = cli("verify-certificate", "proofs")
    assert done.returncode == 1
    assert done.stdout.startswith("proofs/calm.rdma.json: INVALID: it is not about this text: the SHA-256")
    assert "sb.rdma.json: VALID" in done.stdout


def test_certificates_find_their_program_or_are_told(cli: Cli, programs: Path) -> None:
    cli("check", "--certificate", "deep/proofs", "sb.rdma")
    shutil.move(programs / "deep", programs / "moved")
    done = cli("verify-certificate", "moved/proofs/sb.rdma.json")
    assert done.returncode == 0
    (programs / "sb.rdma").rename(programs / "renamed.rdma")
    done = cli("verify-certificate", "moved/proofs/sb.rdma.json")
    assert done.returncode == 2
    assert "--input" in done.stderr
    done = cli("verify-certificate", "moved/proofs/sb.rdma.json", "--input", "renamed.rdma")
    assert done.returncode == 0
    assert "renamed.rdma is not robust" in done.stdout
    assert cli("verify-certificate", "moved/proofs/sb.rdma.json", "--input", "missing.rdma").returncode == 2


def test_standard_input(cli: Cli, programs: Path) -> None:
    assert cli("check", "--certificate", "proofs", "-", stdin=NOT_ROBUST).returncode == 1
    assert json.loads((programs / "proofs/stdin.json").read_text())["input"]["file"] is None
    done = cli("verify-certificate", "proofs/stdin.json")
    assert done.returncode == 2
    assert "does not say which file" in done.stderr
    text = (programs / "proofs/stdin.json").read_text()
    done = cli("verify-certificate", "-", "--input", "sb.rdma", stdin=text)
    assert (done.returncode, done.stdout[:14]) == (0, "<stdin>: VALID")


def test_windows_line_ends_and_byte_order_marks(cli: Cli, programs: Path) -> None:
    (programs / "odd.rdma").write_bytes(b"\xef\xbb\xbf" + ROBUST.replace("\n", "\r\n").encode())
    assert cli("check", "--certificate", "proofs", "odd.rdma").returncode == 0
    assert cli("verify-certificate", "proofs/odd.rdma.json").returncode == 0


@pytest.mark.parametrize(
    ("arguments", "code", "says"),
    [
        ([], 2, ""),
        (["missing.json"], 2, "no such file"),
        (["empty"], 2, "no .json or .json.gz file"),
        (["*.none"], 2, "no file matches"),
        (["sb.rdma"], 1, "INVALID: it is not JSON"),
        (["wrong.json"], 1, "INVALID: the certificate has no member 'format'"),
        (["sb.rdma", "missing.json"], 2, "no such file"),
        (["--input"], 2, ""),
    ],
)
def test_what_is_no_certificate(cli: Cli, programs: Path, arguments: list[str], code: int, says: str) -> None:
    (programs / "empty").mkdir()
    (programs / "wrong.json").write_text("{}")
    done = cli("verify-certificate", *arguments)
    assert done.returncode == code
    assert says in done.stdout + done.stderr
    assert "internal error" not in done.stderr


def test_no_certificate_within_the_limits_is_said_and_counts(cli: Cli, programs: Path) -> None:
    """The search for the invariant goes without reductions and may need more than the verdict."""
    shutil.copy(ROOT / "litmus/mailbox-loop-polled.rdma", programs / "loop.rdma")
    done = cli("check", "--certificate", "proofs", "--max-states", "130", "--format", "json", "loop.rdma")
    report = json.loads(done.stdout)
    assert report["results"][0]["verdict"] == "robust"
    assert done.returncode == report["summary"]["exit_code"] == 3
    assert "loop.rdma: warning: no certificate: the search for the invariant reached the limit of states" in done.stderr
    shutil.copy(ROOT / "litmus/ring-loop-credit.rdma", programs / "ring.rdma")
    done = cli("check", "--certificate", "proofs", "--max-states", "2", "ring.rdma")
    assert done.returncode == 3 and "UNKNOWN" in done.stdout
    assert "no certificate" not in done.stderr


def test_nets(cli: Cli, tmp_path: Path) -> None:
    """The proofs are of each kind that the engines give; the lock of the second net is taken twice."""
    (tmp_path / "mutex.spec").write_text(MUTEX)
    (tmp_path / "broken.spec").write_bytes(b"# caf\xe9\n" + MUTEX.replace("lock = 1", "lock = 2").encode())
    for engine in ("auto", "backward", "karp-miller"):
        done = cli("cover", "--engine", engine, "--certificate", "proofs", "--jobs", "1", "mutex.spec", "broken.spec")
        assert done.returncode == 1, done.stderr
        done = cli("verify-certificate", "proofs")
        assert done.returncode == 0, done.stdout + done.stderr
        assert "broken.spec is unsafe, proved by a firing sequence" in done.stdout
        assert "mutex.spec is safe" in done.stdout
    (tmp_path / "mutex.spec").write_text(MUTEX + "# changed\n")
    assert cli("verify-certificate", "proofs").returncode == 1


def test_folders_that_cannot_be(cli: Cli, programs: Path) -> None:
    (programs / "file").write_text("")
    done = cli("check", "--certificate", "file", "sb.rdma")
    assert done.returncode == 2
    assert "cannot make the folder" in done.stderr
    assert cli("check", "--certificate", "proofs", "--dump-after", "parse", "sb.rdma").returncode == 2


def test_a_compressed_certificate_replaces_a_plain_one(cli: Cli, programs: Path) -> None:
    shutil.copy(ROOT / "litmus/scale-ring-n3-flushed.rdma", programs / "ring.rdma")
    (programs / "proofs").mkdir()
    (programs / "proofs/ring.rdma.json").write_text("{}")
    cli("check", "--certificate", "proofs", "ring.rdma")
    assert [p.name for p in (programs / "proofs").iterdir()] == ["ring.rdma.json.gz"]
    assert cli("verify-certificate", "proofs").returncode == 0


def test_names_are_readable_and_never_collide(tmp_path: Path) -> None:
    def names(*paths: str) -> list[str]:
        return certificate_names([Source(p, None if p == "-" else str(tmp_path / p)) for p in paths])

    assert names("a/x.rdma", "b/y.rdma", "-") == ["x.rdma.json", "y.rdma.json", "stdin.json"]
    assert names("a/x.rdma", "b/x.rdma") == ["a+x.rdma.json", "b+x.rdma.json"]
    assert names("q/a/x.rdma", "r/a/x.rdma") == ["q+a+x.rdma.json", "r+a+x.rdma.json"]
    tricky = ["a+x.rdma", "a/x.rdma", "a%2Bx.rdma", "A/X.rdma", "a/X.rdma", *(f"{a}/{'l' * 250}.rdma" for a in "bc")]
    found = names(*tricky)
    assert len({name.casefold() for name in found}) == len(tricky)
    assert max(map(len, found)) < 250


SB = """node A { x, y }
thread T on A { reg r; x = 1; mfence; r = y }
thread U on A { reg s; y = 1; mfence; s = x }
"""


def test_a_certificate_names_its_hardware(cli: Cli, tmp_path: Path) -> None:
    """The hardware is that of the check, whatever the program says, and no other."""
    (tmp_path / "sb.rdma").write_text("hardware cpu tso\n" + SB)
    (tmp_path / "weak.rdma").write_text("hardware cpu tso\n" + SB.replace("mfence; ", ""))
    (tmp_path / "strong.rdma").write_text("hardware cpu tso, order relaxed\n" + SB.replace("mfence; ", ""))
    assert cli("check", "--quiet", "--certificate", "proofs", "sb.rdma", "weak.rdma").returncode == 1
    assert cli("check", "--quiet", "--certificate", "proofs", "--cpu", "sc", "strong.rdma").returncode == 0
    done = cli("verify-certificate", "proofs")
    assert done.returncode == 0, done.stdout
    sb, strong, weak = done.stdout.splitlines()
    assert ": VALID: sb.rdma is robust under cpu tso, proved by an inductive invariant of " in sb
    assert ": VALID: strong.rdma is robust under order relaxed, proved by an inductive invariant of " in strong
    assert weak.endswith(": VALID: weak.rdma is not robust under cpu tso, proved by a trace of 4 events")
    for name, cpu in (("strong", "tso"), ("weak", "sc")):
        proof = tmp_path / "proofs" / f"{name}.rdma.json"
        told = json.loads(proof.read_text())
        told["options"]["model"]["cpu"] = cpu
        proof.write_text(json.dumps(told))
        done = cli("verify-certificate", f"proofs/{name}.rdma.json")
        assert done.returncode == 1
        assert ": INVALID: " in done.stdout


FLAG = """node S { x, y }
node Client[*] { one = 1, got }
thread C[*] on Client[*] { put S.x = one; put S.y = one }
thread T on S { reg r, q; r = y; q = x }
"""


def test_any_number_of_threads(cli: Cli, tmp_path: Path) -> None:
    """Of the verdict for any number, and of that for two; for other numbers of copies a proof is none."""
    (tmp_path / "flag.rdma").write_text(FLAG)
    (tmp_path / "late.rdma").write_text(
        FLAG.replace("put S.x = one; put S.y = one", "put S.x = one; one = 2; put S.y = one")
    )
    assert cli("check", "--quiet", "--certificate", "proofs", "flag.rdma", "late.rdma").returncode == 1
    done = cli("verify-certificate", "proofs")
    assert done.returncode == 0, done.stdout
    assert "flag.rdma is robust, proved by an inductive invariant of " in done.stdout
    assert "markings, for any number of copies of C\n" in done.stdout
    assert "late.rdma is not robust, proved by a trace of " in done.stdout
    assert "events with 1 copy of C\n" in done.stdout
    proof = tmp_path / "proofs" / "late.rdma.json"
    false = json.loads(proof.read_text())
    false["evidence"]["copies"][0]["copies"] = 0
    proof.write_text(json.dumps(false))
    done = cli("verify-certificate", "proofs/late.rdma.json")
    assert done.returncode == 1
    assert "INVALID" in done.stdout
    assert cli("check", "--quiet", "-D", "C=2", "--certificate", "two", "flag.rdma").returncode == 0
    assert cli("verify-certificate", "-D", "C=2", "two").returncode == 0
    assert cli("verify-certificate", "two").returncode == 1
