"""Verdicts and their certificates: what the engines find, the checker confirms from the text alone."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path
from random import Random

import pytest
from jsonschema import Draft202012Validator

from rdma_robust import TOOL
from rdma_robust.certify.checker import verify, verify_graphs
from rdma_robust.certify.document import GRAPHS, GZIP, PROGRAM, Certificate, InvalidCertificate, read_document
from rdma_robust.certify.hardware import CPU, ORDERS, STORES, VARIANT_KINDS, EventKind
from rdma_robust.evidence.envelope import LARGE, write_document
from rdma_robust.evidence.produce import robustness_certificate
from rdma_robust.language.flow.cfg import Program
from rdma_robust.language.load import load_program
from rdma_robust.limits import Limits
from rdma_robust.model import Model
from rdma_robust.options import CheckOptions
from rdma_robust.pipeline import check_program
from tests.conftest import NOT_ROBUST, ROBUST, ROOT
from tests.litmus.goldens import PROGRAMS, read_golden
from tests.support.certificates import check, document, rejection, robustness
from tests.support.random_programs import SMALL, random_program
from tests.support.shares import share

SCHEMA = Draft202012Validator(json.loads((ROOT / "rdma_robust/schema/certificate-v2.json").read_text()))
CHEAP = 60
"""States of a search after which a program counts as cheap to certify."""

SAMPLE = [p for i, p in enumerate(PROGRAMS) if i % 4 == 0 and read_golden(p)["pivot"]["states"] <= CHEAP]
PAPER = [p for p in PROGRAMS if read_golden(p)["paper"].get("states", CHEAP + 1) <= CHEAP][::4]
POLLED = """node A { x }
node B { y }
thread T1 on A { loop { put B.y = x; choose { poll B } or { skip } } }
thread T2 on B { reg r; r = y }
"""


def round_trip(text: str, options: CheckOptions) -> str | None:
    data = robustness(text, options)
    if data is None:
        return None
    if not data.startswith(GZIP):
        SCHEMA.validate(document(data))
    return check(data, text).claim


def test_the_schema_has_every_kind_of_event_and_every_order() -> None:
    schema = (ROOT / "rdma_robust/schema/certificate-v2.json").read_text()
    events = set(EventKind) - {*VARIANT_KINDS.values()}  # these are rows of tables, not events
    by_cards = {kind.value for kind in events if kind not in CPU}
    kinds = {kind.value for kind in events} - {EventKind.ANSWERS_RELAXED.value}
    marked = {kind.value for kind in {*EventKind} - CPU | STORES} - {EventKind.ANSWERS_RELAXED.value}
    enums = [set(re.findall(r'"([^"]+)"', found)) for found in re.findall(r'"enum": \[([^]]*)\]', schema)]
    assert [enum for enum in enums if "nlR" in enum] == [by_cards, marked, kinds]
    assert [enum for enum in enums if "multipath" in enum] == [set(ORDERS)]


@pytest.mark.parametrize("path", share(SAMPLE), ids=lambda p: p.stem)
def test_litmus_verdicts(path: Path) -> None:
    golden = read_golden(path)["pivot"]
    text = path.read_text(encoding="utf-8")
    assert round_trip(text, CheckOptions()) == golden["verdict"]


@pytest.mark.parametrize(("name", "claim"), [("buffers-placed", "not-robust"), ("buffers-one-at-a-time", "robust")])
def test_messages_that_may_take_any_receive(name: str, claim: str) -> None:
    text = (ROOT / f"litmus/hardware/{name}.rdma").read_text(encoding="utf-8")
    assert round_trip(text, CheckOptions(hardware=Model(order="ooo-dp"))) == claim


@pytest.mark.parametrize("path", PAPER, ids=lambda p: p.stem)
def test_litmus_verdicts_by_the_papers_instrumentation(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert round_trip(text, CheckOptions(instrumentation="paper")) == read_golden(path)["paper"]["verdict"]


@pytest.mark.long
@pytest.mark.parametrize("path", PROGRAMS, ids=lambda p: p.stem)
@pytest.mark.parametrize("ordered", [False, True])
def test_long_all_litmus_verdicts(path: Path, ordered: bool) -> None:
    golden = read_golden(path)["pivot"]
    text = path.read_text(encoding="utf-8")
    wanted = golden["ordered_reads"] if ordered else golden["verdict"]
    assert round_trip(text, CheckOptions(ordered_reads=ordered)) == wanted


@pytest.mark.parametrize("loops", [False, True])
def test_random_programs(loops: bool) -> None:
    claims = []
    for seed in range(10):
        text = random_program(Random(40_000 + seed), replace(SMALL, atomics=seed % 2 == 1), loops=loops)
        options = CheckOptions(ordered_reads=bool(seed % 2), await_loops=seed % 3 == 0, max_states=1500)
        claims.append(round_trip(text, options))
    assert {"robust", "not-robust"} <= set(claims)


def test_an_unbounded_counter_becomes_omega() -> None:
    data = robustness(POLLED)
    assert data is not None
    limits = [limit for state in document(data)["evidence"]["states"] for limit in state[3]]
    assert None in limits
    assert check(data, POLLED).claim == "robust"


def test_options_belong_to_the_claim() -> None:
    """The text is robust only with ordered reads: that certificate must not pass for the other claim."""
    text = "node A { x, y }\nnode B { u, v }\nthread T on A { get x = B.u; get y = B.v; poll B; poll B }\n"
    text += "thread S on B { v = 1; u = 1 }\n"
    data = robustness(text, CheckOptions(ordered_reads=True))
    assert data is not None
    certificate = document(data)
    assert check(certificate, text).claim == "robust"
    certificate["options"]["model"]["ordered_reads"] = False
    assert rejection(certificate, text)
    plain = robustness(text)
    assert plain is not None
    certificate = document(plain)
    assert check(certificate, text).claim == "not-robust"
    certificate["options"]["model"]["ordered_reads"] = True
    assert "RDMA does not allow" in rejection(certificate, text)


def test_loops_that_wait_are_compiled_as_the_certificate_says() -> None:
    text = "node A { x }\nnode B { y }\nthread T1 on A { put B.y = 1; while x != 1 { } }\n"
    text += "thread T2 on B { put A.x = 1; while y != 1 { } }\n"
    for await_loops in (False, True):
        data = robustness(text, CheckOptions(await_loops=await_loops))
        assert data is not None
        assert check(data, text).claim
        other = document(data)
        other["options"]["await_loops"] = not await_loops
        assert rejection(other, text)


@pytest.mark.parametrize("text", [ROBUST, NOT_ROBUST])
def test_the_same_input_gives_the_same_bytes(text: str) -> None:
    assert robustness(text) == robustness(text)


def test_large_certificates_are_compressed() -> None:
    path = ROOT / "litmus/scale-ring-n3-flushed.rdma"
    text = path.read_text(encoding="utf-8")
    data = robustness(text)
    assert data is not None
    assert len(data) < LARGE < len(json.dumps(document(data)))
    assert read_document(data).claim == {"kind": "robust"}


# ---- corners of the language, where two readings of a flow graph could differ

CORNERS = {
    "registers that only silent steps change": """domain 0..3
node A { x }
node B { y }
thread T on A { reg r, q; loop { choose { r = (r + 1) % 4 } or { q = r } }; if q == 2 { put B.y = x; poll B }; x = 1 }
thread S on B { reg a; a = y }
""",
    "faults": """domain 0..3
node A { x }
node B { y }
thread T on A { reg r; r = x; r = r + 3; put B.y = x; poll B; r = 3 / x; x = 1 }
thread S on B { put A.x = 1; poll A; assert y == 1 }
""",
    "what is never reached": """node A { x, w }
node B { y }
thread T on A { reg r; loop { put B.y = x }; if r == 1 { poll B; rfence B; get w = B.y; put B.y = w } }
thread S on B { reg a; a = y }
""",
    "a put that is never reached behind a fence": """node A { x, w }
node B { y, z }
thread T on A { reg r; get w = B.z; rfence B; if r == 1 { put B.y = x } else { poll B }; x = 1 }
thread S on B { z = 1 }
""",
    "more silent paths than are folded": "domain 0..9\nnode A { x }\nnode B { y }\nthread T on A { reg a, b, c; "
    + "".join(f"choose {{ a = {i} }} or {{ b = {i} }} or {{ c = {i} }}; " for i in range(1, 6))
    + "if a + b == c { put B.y = x; poll B }; x = 1 }\nthread S on B { reg q; q = y }\n",
    "arrays": """domain 0..3
node A { ring[4] }
node B { log[4] }
thread T on A { reg i; while i < 3 { put B.log[i] = ring[i]; i = i + 1 }; poll B; poll B; poll B; ring[i - 1] = 1 }
thread S on B { reg q; q = log[2] }
""",
    "swaps": """node A { l, d }
node B { y }
thread T on A { reg r; r = cas(l, 0, 1); if r == 0 { put B.y = d; poll B; l = 0 } }
thread S on A { reg r; r = cas(l, 0, 1); if r == 0 { d = 1; l = 0 } }
""",
    "nothing": "node M { }\nnode A { x }\nthread T on M { }\nthread S on A { halt; x = 1 }\n",
    "no thread": "node A { x }\n",
    "loopback": "allow loopback\nnode A { x, y }\nthread T on A { put A.x = y; poll A; y = 1; get y = A.x; poll A }\n",
    "a pivot behind a failed condition": """node A { l, c }
node B { y }
thread T on A { reg r; r = cas(l, 0, 1); assume r == 0; put B.y = c; get c = B.y; poll B; poll B; l = 0 }
thread S on A { reg r; r = cas(l, 0, 1); assume r == 0; put B.y = c; get c = B.y; poll B; poll B; l = 0 }
""",
    "signs": """domain -3..3
node A { x = -1 }
node B { y }
thread T on A { reg r; r = x; r = -r / 2 - r % 2; x = r; put B.y = x; poll B; x = 0 - 3 }
thread S on B { reg q; q = y }
""",
}


@pytest.mark.parametrize("name", CORNERS)
@pytest.mark.parametrize("ordered_reads", [False, True])
def test_corners(name: str, ordered_reads: bool) -> None:
    options = CheckOptions(ordered_reads=ordered_reads)
    verdict = check_program(load_program(CORNERS[name], name), options).verdict.value
    assert round_trip(CORNERS[name], options) == verdict


# ---- programs that are no text

PLAIN = (ROOT / "litmus/mailbox-plain.rdma").read_text(encoding="utf-8")
MAILBOX = (ROOT / "litmus/mailbox-polled.rdma").read_text(encoding="utf-8")


def certified(program: Program, options: CheckOptions | None = None) -> Certificate:
    options = options or CheckOptions()
    made = robustness_certificate(check_program(program, options), options, Limits(), None)
    assert made is not None
    return read_document(write_document(made, TOOL))


def test_a_program_that_is_not_what_its_text_says() -> None:
    """The text is that of the program without a poll, the threads are those of the program with it."""
    plain, polled = load_program(PLAIN, "plain.rdma"), load_program(MAILBOX, "polled.rdma")
    changed = replace(plain, threads=polled.threads)
    certificate = certified(changed)
    assert (certificate.input, certificate.claim) == (GRAPHS, {"kind": "robust"})
    assert verify_graphs(certificate, changed).claim == "robust"
    for other in (plain, polled):
        with pytest.raises(InvalidCertificate, match="not about this program"):
            verify_graphs(certificate, other)
    with pytest.raises(InvalidCertificate, match="a program that is no text"):
        verify(certificate, PLAIN, "plain.rdma")


def test_a_program_with_its_text() -> None:
    plain = load_program(PLAIN, "plain.rdma")
    certificate = certified(plain)
    assert certificate.input == PROGRAM
    assert verify(certificate, PLAIN, "plain.rdma").claim == "not-robust"
    with pytest.raises(InvalidCertificate, match="about a text"):
        verify_graphs(certificate, plain)


def test_a_program_without_a_text_takes_its_waiting_loops_along() -> None:
    text = "node A { x }\nnode B { y }\nthread T1 on A { put B.y = 1; while x != 1 { } }\n"
    program = replace(load_program(text + "thread T2 on B { put A.x = 1 }\n", "text.rdma"), source="")
    for await_loops in (False, True):
        certificate = certified(program, CheckOptions(await_loops=await_loops))
        assert certificate.input == GRAPHS
        assert verify_graphs(certificate, program).claim == certificate.claim["kind"]
