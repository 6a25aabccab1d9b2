"""Failed rounds of spin loops are left out, however the loop is written, and nothing else is."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from rdma_robust.certify.checker import verify
from rdma_robust.certify.document import InvalidCertificate
from rdma_robust.evidence.produce import robustness_certificate
from rdma_robust.language.flow import cfg
from rdma_robust.language.flow.spinning import spin_assumed, waits
from rdma_robust.language.load import load_decidable
from rdma_robust.limits import Limits
from rdma_robust.options import CheckOptions
from rdma_robust.outcome import Verdict
from rdma_robust.pipeline import check_text
from tests.unit.language.language_support import load, show_edge

DATA = Path(__file__).parents[2] / "data" / "spin"


def shown(statements: str) -> list[str]:
    thread = spin_assumed(load(statements)).threads[0]
    return [show_edge(thread, *edge) for edge in cfg.steps(thread)]


def read_once(statements: str) -> bool:
    """Whether no point can be come back to: every round but the last is left out."""
    thread = spin_assumed(load(statements)).threads[0]
    seen: set[int] = set()
    todo = [thread.entry]
    order = thread.following
    while todo:
        point = todo.pop()
        if point in seen:
            continue
        seen.add(point)
        todo += order[point]
    return _no_cycle(order, thread.entry, frozenset())


def _no_cycle(order: dict[int, list[int]], point: int, above: frozenset[int]) -> bool:
    return point not in above and all(_no_cycle(order, to, above | {point}) for to in set(order[point]))


@pytest.mark.parametrize(
    "loop",
    [
        "while x == 0 { }",
        "r = x\nwhile r == 0 { r = x }",
        "r = 0\nwhile r == 0 { r = x }",
        "r = x\nwhile q >= r { r = x }",
        "r = x\nq = y\nwhile r == 0 || q == 0 { r = x\nq = y }",
        "r = x\nwhile r + 1 < 2 * q { r = x }",
        "r = 0\nwhile r == 0 { r = x\nq = y\nr = r * q }\nq = 0",
        "while x == 0 { r = y }\nr = 0",
        "r = 0\nwhile r == 0 { while y == 0 { }\nr = x }",
        "r = 0\nwhile r == 0 { q = 0\nwhile q == 0 { q = y }\nr = x }",
        "r = ring[q % 2]\nwhile r == 0 { r = ring[q % 2] }",
    ],
)
def test_however_a_loop_waits_its_failed_rounds_go(loop: str) -> None:
    assert read_once(loop)


def test_what_is_read_is_what_leads_on() -> None:
    assert shown("r = x\nwhile r == 0 { r = x }")[0] == "0>D: R A.x [!(V == 0)] r:=V"
    both = shown("r = x\nq = y\nwhile r == 0 || q == 0 { r = x\nq = y }")
    assert both[0].startswith("0>D: R A.x [!(V == 0)")
    assert "[(!(r == 0) && !(V == 0))" in both[1]


@pytest.mark.parametrize(
    "loop",
    [
        "r = x\nwhile r == 0 { r = x\nq = q + 1 }",  # the register counts at the end
        "r = x\nwhile r == 0 { y = 1\nr = x }",
        "r = x\nwhile r == 0 { put B.z = x\nr = x }",
        "r = x\nwhile r == 0 { put B.z = x\npoll B\nr = x }",
        "r = x\nwhile r == 0 { get y = B.z\nr = x }",
        "r = x\nwhile r == 0 { mfence\nr = x }",
        "r = x\nwhile r == 0 { r = cas(x, 0, 1) }",
        "r = x\nwhile r == 0 { y = r\nr = x }",
        "loop { r = x }",
        "loop { await x == 1 }",
        "r = x\nwhile r == 0 { q = r\nr = x }",
        "r = 1\nwhile r { }",
        "while 1 { r = x }",
    ],
)
def test_rounds_that_do_something_stay(loop: str) -> None:
    program = load(loop)
    assert spin_assumed(program) is program


@pytest.mark.parametrize("inside", ["assert x == 0", "r = ring[x]"])
def test_rounds_in_which_something_goes_wrong_stay(inside: str) -> None:
    program = load(f"domain_ok: skip\nr = 0\nwhile r == 0 {{ {inside.replace('ring[x]', 'ring[q]')}\nr = y }}\nr = 0")
    before = {step.fault for t in program.threads for _, _, step in cfg.steps(t) if step.fault}
    after = {step.fault for t in spin_assumed(program).threads for _, _, step in cfg.steps(t) if step.fault}
    assert before == after != set()


def test_without_spin_loops_or_unless_wanted_a_program_is_itself() -> None:
    program, waiting = load("x = 1"), load("r = x\nwhile r == 0 { r = x }")
    assert spin_assumed(program) is program
    assert spin_assumed(waiting, wanted=False) is waiting
    assert not waits(waiting), "for states and hangs such a loop is followed as it is"


def test_a_round_with_more_ways_than_are_written_out_stays() -> None:
    choices = "\n".join("if x == 0 { r = y } else { r = x }" for _ in range(9))
    assert not read_once(f"r = 0\nwhile r == 0 {{ {choices} }}\nr = 0\nq = 0")


@pytest.mark.parametrize(
    "name", ["credit-ring", "store-buffering-await", "store-buffering-registers", "store-buffering-pure"]
)
def test_programs_are_not_robust_only_through_failed_spin_reads(name: str) -> None:
    text = (DATA / f"{name}.rdma").read_text()
    outcome = check_text(text, name, CheckOptions())
    waiting = check_text(text, name, CheckOptions(await_loops=True))
    assert waiting.verdict is Verdict.ROBUST
    assert outcome.spin_only is (outcome.verdict is Verdict.NOT_ROBUST)
    assert outcome.spin_only is (name != "store-buffering-await")


def test_a_bug_behind_a_spin_loop_is_not_called_spinning() -> None:
    text = (DATA / "credit-ring.rdma").read_text().replace("put C.ring[i % SLOTS] = stage[i % SLOTS] unsignaled\n", "")
    text = text.replace(
        "put C.tail = i inline\n", "put C.tail = i inline\n    put C.ring[i % SLOTS] = stage[i % SLOTS] unsignaled\n"
    )
    assert "stage[i % SLOTS] unsignaled" in text
    outcome = check_text(text, "early", CheckOptions())
    assert outcome.verdict is Verdict.NOT_ROBUST
    assert not outcome.spin_only


def test_hangs_are_those_of_the_program_as_it_is_written() -> None:
    # The second read fails behind a first one that is made again: left out, the thread would seem to wait forever.
    waits = "reg r, q\nr = x\nq = y\nwhile r != q { r = x\nq = y }"
    text = f"node A {{ x, y }}\nthread P on A {{ {waits} }}\nthread Q on A {{ x = 1\ny = 1 }}\n"
    assert check_text(text, "t", CheckOptions(await_loops=True)).hang is None
    assert spin_assumed(load_decidable(text, "t")) is not load_decidable(text, "t")


@pytest.mark.parametrize("name", ["credit-ring", "trypoll-and-read"])
def test_the_certificate_of_the_blocking_program_is_checked_from_the_text(name: str) -> None:
    text, options = (DATA / f"{name}.rdma").read_text(), CheckOptions(await_loops=True)
    certificate = robustness_certificate(check_text(text, name, options), options, Limits.of(60), text)
    assert certificate is not None
    assert verify(certificate, text, name).claim == "robust"
    wrong = replace(certificate, options={**certificate.options, "await_loops": False})
    with pytest.raises(InvalidCertificate):
        verify(wrong, text, name)
