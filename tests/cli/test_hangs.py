"""The installed command: programs that stand still, and claims about nothing."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from tests.conftest import ROOT, Cli

CHECK_SCHEMA = Draft202012Validator(json.loads((ROOT / "rdma_robust/schema/check.schema.json").read_text()))
SCHEMA = Draft202012Validator(json.loads((ROOT / "rdma_robust/schema/verify.schema.json").read_text()))

RING = """
domain 0..3
node P { stage = 0, credit = 0 }
node C { slot = 0, full = 0 }
thread Producer on P {
  await credit == 1
  stage = 1
  put C.slot = stage
  put C.full = 1
}
thread Consumer on C {
  reg v
  await full == 1
  v = slot
  assert v == 1
  put P.credit = 1
}
outcome Consumer.v == 0 : forbidden under rdma
"""
STARVING = "node A { x = 1 }\nnode B { z }\nthread T on A {\n put B.z = x\n poll B\n poll B\n}\n"


@pytest.fixture
def verified(cli: Cli, tmp_path: Path) -> Any:
    """Return a function from a program and options to the report, checked, and the text for people."""

    def run(text: str, *options: str) -> tuple[dict[str, Any], str]:
        (tmp_path / "p.rdma").write_text(text)
        done = cli("verify", "p.rdma", "--format", "json", *options)
        report = json.loads(done.stdout)
        SCHEMA.validate(report)
        assert report["exit_code"] == done.returncode
        said = cli("verify", "p.rdma", *options)
        assert said.returncode == done.returncode
        return report, said.stdout

    return run


def test_a_ring_in_which_nothing_can_ever_run(verified: Any) -> None:
    report, text = verified(RING)
    assert report["exit_code"] == 1
    assert [(c["kind"], c["status"], c["reached"]) for c in report["claims"]] == [
        ("assertion", "unreachable", False),
        ("outcome", "unreachable", False),
        ("hang", "violated", None),
    ]
    hang = report["claims"][2]["hang"]
    assert (hang["kind"], hang["lines"]) == ("deadlock", [6, 13])
    assert "p.rdma: 3 claims: 1 violated, 2 unreachable" in text
    assert "line 15 is never reached: every execution hangs at line 6, line 13" in text
    assert "no final state is reached: every execution hangs at line 6, line 13" in text
    assert "Producer waits at line 6 for credit == 1; nobody can change P.credit" in text
    assert "Consumer waits at line 13 for full == 1; nobody can change C.full" in text


def test_a_poll_without_a_completion(verified: Any) -> None:
    report, text = verified(STARVING)
    assert report["exit_code"] == 1
    (wait,) = report["claims"][0]["hang"]["waits"]
    assert (wait["remote"], wait["posted"], wait["polled"], wait["line"]) == ("B", 1, 1, 6)
    assert "T waits at line 6 for a completion from B: 1 was posted, 1 polled" in text
    assert report["claims"][0]["argument"] == "sc run"


def test_without_the_claim_only_vacuity_is_left(verified: Any) -> None:
    report, text = verified(RING, "--no-hangs")
    assert (report["exit_code"], report["status"]) == (0, "unreachable")
    assert "2 claims: 2 unreachable" in text
    report, _ = verified(RING, "--no-hangs", "--strict")
    assert (report["exit_code"], report["options"]["strict"], report["options"]["hangs"]) == (1, True, False)
    assert "nothing to verify" in verified(STARVING, "--no-hangs")[1]


@pytest.mark.parametrize(
    ("loop", "kind"),
    [
        ("while y != 1 { }", "stuck spin"),
        ("r = y\n while r != 1 { r = y }", "stuck spin"),
        ("get w = A.x\n poll A\n while w != 1 { get w = A.x\n poll A }", "stuck spin"),
        ("r = cas(y, 1, 2)\n while r != 1 { r = cas(y, 1, 2) }", "stuck spin"),
        ("while r == 0 { }", "stuck spin"),
        ("await y == 1", "deadlock"),
        ("await r == 1", "deadlock"),
        ("poll A", "deadlock"),
        ("choose { await y == 1 } or { await w == 1 }", "deadlock"),
        ("loop { y = 0 }\n while y != 1 { }", "stuck spin"),
        ("while 1 == 1 { await y == 1 }", "deadlock"),
        ("assume y == 1", None),
        ("assume r == 1", None),
        ("while y != 1 { y = 0 }", None),
        ("while y != 1 { put A.x = y }", None),
        ("while y != 1 { r = cas(y, 0, 0) }", None),
        ("while 1 == 1 { r = y }", None),
        ("while 1 == 1 { r = y\n if r == 1 { y = 0 } }", None),
        ("loop { await y == 1 }", None),
        ("choose { await y == 1 } or { y = 0 }", None),
        ("r = 9 / w", None),
        ("r = 9 / w\n await y == 1", None),
        ("choose { assume y == 1 } or { skip }", None),
    ],
)
def test_which_ways_to_stand_still_are_hangs(cli: Cli, tmp_path: Path, loop: str, kind: str | None) -> None:
    nodes = "domain 0..9\nnode A { x }\nnode B { y, w }\n"
    text = f"{nodes}thread T on B {{ reg r\n {loop}\n w = 0\n}}\nthread U on A {{ x = 0 }}\n"
    (tmp_path / "p.rdma").write_text(text)
    report = json.loads(cli("verify", "p.rdma", "--format", "json").stdout)
    claim = next(c for c in report["claims"] if c["kind"] == "hang")
    assert (claim["status"], claim["hang"] and claim["hang"]["kind"]) == ("violated" if kind else "holds", kind)


def test_a_server_that_idles_is_no_hang_but_a_client_that_waits_for_it_is(verified: Any) -> None:
    server = "thread S on B { reg r\n while 1 == 1 {\n r = req\n if r == 1 { req = 0\n put A.ack = 1 }\n }\n}\n"
    head = "node A { ack, one = 1 }\nnode B { req }\n" + server
    idle, _ = verified(head + "thread C on A { put B.req = one\n await ack == 1\n}\n")
    assert idle["claims"][-1]["status"] == "holds"
    stuck, text = verified(head + "thread C on A { await ack == 1\n put B.req = one\n}\n")
    assert stuck["claims"][-1]["status"] == "violated"
    assert "C waits at line 10 for ack == 1; nobody can change A.ack" in text


def test_a_hang_of_the_hardware_alone(verified: Any) -> None:
    text = (
        "node A { v = 1 }\nnode B { data, flag }\nthread S on A { put B.data = v\n v = 2\n put B.flag = 1 }\n"
        "thread R on B { await flag == 1\n await data == 1 }\n"
    )
    report, said = verified(text)
    (claim,) = report["claims"]
    assert (claim["status"], claim["argument"], claim["hang"]["lines"]) == ("violated", "rdma run", [7])
    assert "a run of the hardware; no run under SC leads there" in said
    under = "expect no hang under sc, hang under rdma\n"
    report, _ = verified(text + under)
    assert [(c["text"], c["status"]) for c in report["claims"]] == [
        ("no hang under sc", "holds"),
        ("hang under rdma", "holds"),
    ]
    report, _ = verified(text + "expect hang under sc\n")
    assert [(c["text"], c["status"]) for c in report["claims"]] == [("hang under sc", "violated")]


def test_values_that_cannot_occur(verified: Any) -> None:
    text = STARVING.replace(" poll B\n poll B\n", "")
    for condition, why in {
        "B.z == 3": "`B.z` is never anything but 0, 1",
        "B.z == 0 && B.z == 1": "its parts exclude one another",
    }.items():
        report, said = verified(f"{text}outcome {condition} : forbidden under rdma\n")
        assert [c["status"] for c in report["claims"]] == ["unreachable", "holds"]
        assert why in said
    report, _ = verified(f"{text}outcome B.z == 3 : allowed under rdma\n")
    assert [c["status"] for c in report["claims"]] == ["violated", "holds"]
    report, _ = verified(f"{text}outcome B.z == 0 : forbidden under rdma\n")
    assert [(c["status"], c["reached"]) for c in report["claims"]] == [("holds", True), ("holds", None)]


def test_completions_that_grow_are_named(verified: Any) -> None:
    text = "node A { x = 1 }\nnode B { z }\nthread T on A { put B.z = x\n loop { put B.z = x\n }\n poll B\n}\n"
    text += "thread U on B { await z == 1 }\n"
    report, said = verified(text, "--max-states", "300")
    assert report["exit_code"] == 3
    assert "completions that are not polled grow without bound" in said
    assert "the limit of 300 states" in said


def test_check_notes_a_hang_that_it_comes_by_and_keeps_its_answer(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "ring.rdma").write_text(RING)
    (tmp_path / "fine.rdma").write_text(STARVING.replace(" poll B\n poll B\n", " poll B\n"))
    done = cli("check", "ring.rdma", "fine.rdma")
    assert done.returncode == 0
    rows = done.stdout.splitlines()
    assert "hangs: line 6, line 13" in rows[1]
    assert "hangs" not in rows[2]
    (tmp_path / "meant.rdma").write_text(RING + "expect hang under sc\n")
    assert "hangs" not in cli("check", "meant.rdma").stdout
    done = cli("check", "ring.rdma")
    assert "It can hang" in done.stdout
    assert "Consumer waits at line 13 for full == 1; nobody can change C.full" in done.stdout
    report = json.loads(cli("check", "ring.rdma", "fine.rdma", "--format", "json").stdout)
    CHECK_SCHEMA.validate(report)
    ring, fine = report["results"]
    assert [(w["thread"], w["line"], w["column"]) for w in ring["hangs"]] == [("Producer", 6, 3), ("Consumer", 13, 3)]
    assert fine["hangs"] == []


def test_the_note_is_in_every_report(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "ring.rdma").write_text(RING)
    forms = {
        "html": "hangs: line 6, line 13",
        "md": "hangs\\: line 6, line 13",
        "sarif": "RR015",
        "csv": "line 6; line 13",
        "xml": "hangs: Producer",
    }
    options = [option for form in ("html", "md", "sarif", "csv", "junit") for option in ("--format", form)]
    done = cli("report", "ring.rdma", *options, "-o", "out/", "--claims", "0")
    assert done.returncode == 0, done.stderr
    texts = {path.suffix[1:]: path.read_text(encoding="utf-8") for path in (tmp_path / "out").iterdir()}
    for form, said in forms.items():
        assert said in texts[form], form
    assert "Producer waits at line 6 for credit == 1" in texts["sarif"]


def test_nothing_is_noted_of_a_program_that_is_large(cli: Cli, tmp_path: Path) -> None:
    long = "".join(f" x = {i % 2}\n" for i in range(1100))
    (tmp_path / "large.rdma").write_text(f"node A {{ x, y }}\nthread T on A {{\n{long} await y == 1\n}}\n")
    assert "hangs" not in cli("check", "large.rdma").stdout
