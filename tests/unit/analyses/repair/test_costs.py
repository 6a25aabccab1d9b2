"""What the cheapest repair of small programs costs, each the smallest of its kind on which one was missed."""

from __future__ import annotations

import pytest

from rdma_robust.analyses.repair.needless import remove_needless
from rdma_robust.analyses.repair.plan import repair
from rdma_robust.analyses.repair.repairs import Costs, RepairOptions, WaitOptions
from rdma_robust.analyses.repair.safe.placement import make_safe
from rdma_robust.options import CheckOptions
from tests.conftest import ROOT
from tests.support.naive_repair import robust
from tests.support.shares import share

COSTS = {
    "message-of-two-queue-pairs": 9,
    "unsignaled-get": 1,
    "unsignaled-put": 1,
    "unsignaled-nine": 7,
    "unsignaled-circle": 21,
    "unsignaled-in-loop": 1,
    "unsignaled-behind-fenced": 1,
    "shared-queue": 2,
    "counted-loop": 4,
    "exclusive-branches": 2,
    "behind-await-in-choose": 2,
    "choice-made-early": 2,
    "two-places": 2,
    "quiet-atomic": 2,
}

STANDARDS = {
    "accumulate-then-get": "flush B",
    "accumulates-two-windows": "poll one",
    "accumulates-two-words": "order B",
    "nbi-data-then-flag": "order B",
    "source-read-after-next-put": "rfence B",
}
"""Of programs under orders that promise nothing of two requests what is inserted."""

HANGING = ("unsignaled-behind-fenced", "choice-made-early")
"""Programs in which threads wait forever in any case."""


@pytest.mark.ci
@pytest.mark.parametrize("name", share(COSTS))
def test_the_cheapest_repair(name: str) -> None:
    text = (ROOT / "tests" / "data" / "repair" / f"{name}.rdma").read_text(encoding="utf-8")
    answer = repair(text, f"{name}.rdma")
    assert (answer.status, answer.cost, answer.optimal) == ("repaired", COSTS[name], True)
    assert answer.solutions[0].hangs == ("kept" if name in HANGING else "none")
    assert robust(answer.patched)


@pytest.mark.parametrize("name", STANDARDS)
def test_what_is_inserted_where_standards_promise_nothing(name: str) -> None:
    text = (ROOT / "litmus" / "standards" / f"{name}.rdma").read_text(encoding="utf-8")
    (insertion,) = repair(text, f"{name}.rdma").insertions
    assert insertion.lines == (STANDARDS[name],)


@pytest.mark.parametrize(("order", "kind", "cost"), [(6, "order", 6), (8, "flush", 7)])
def test_an_order_has_a_cost_of_its_own(order: int, kind: str, cost: int) -> None:
    text = (ROOT / "litmus" / "standards" / "nbi-data-then-flag.rdma").read_text(encoding="utf-8")
    answer = repair(text, "t.rdma", RepairOptions(Costs(order=order)))
    assert (answer.insertions[0].kind, answer.cost) == (kind, cost)


def test_an_order_that_is_not_needed_can_go_at_its_own_price() -> None:
    text = (ROOT / "litmus" / "standards" / "nbi-fence-then-flag.rdma").read_text(encoding="utf-8")
    twice = text.replace("order B\n", "order B\n  order B\n", 1)
    (removed,) = remove_needless(twice, "t.rdma").removed
    assert (removed.kind, removed.cost) == ("order", 3)


def text_of(name: str) -> str:
    return (ROOT / "tests" / "data" / "repair" / f"{name}.rdma").read_text(encoding="utf-8")


def test_all_irreducible_repairs_are_at_every_place() -> None:
    answer = repair(text_of("two-places"), "p", RepairOptions(all_minimal=True))
    assert answer.complete
    assert [[i.lines for i in s.insertions] for s in answer.solutions] == [[("poll B",)], [("poll B",)]]
    assert len({s.patched for s in answer.solutions}) == 2
    assert all(robust(s.patched) for s in answer.solutions)


@pytest.mark.parametrize("own", [False, True])
def test_no_wait_stands_where_it_makes_a_choice(own: bool) -> None:
    answer = make_safe(text_of("safe-beside-choose"), "p", WaitOptions("rma", "all", own))
    assert (answer.status, answer.cost, answer.optimal) == ("repaired", 1, True)


def test_what_makes_a_choice_is_not_needless() -> None:
    """Without the fence S takes the branch that can be taken; with it, it may wait forever in the other."""
    text = """node A { f, g, x }
node B { d }
thread S on A { choose { rfence B; await f == 1 } or { await g == 1 }; put B.d = x }
thread U on A { g = 1 }
"""
    assert remove_needless(text, "p").removed == ()
    assert remove_needless(text.replace("rfence B; await f == 1", "await f == 1; rfence B"), "p").removed


def test_a_flush_is_inserted_where_nothing_else_orders_two_puts_and_an_immediate_offered() -> None:
    text = (ROOT / "litmus/deployed/deepep-flag-relaxed.rdma").read_text(encoding="utf-8")
    answer = repair(text, "p")
    assert "`put B.flag = one imm 1 to U`; U waits for it with `rpoll T`" in answer.reason
    assert [(each.kind, each.lines, each.cost) for each in answer.insertions] == [("flush", ("flush B",), 7)]


def test_a_get_is_inserted_where_it_flushes() -> None:
    text = (ROOT / "litmus/sb-put-plain.rdma").read_text(encoding="utf-8")
    default, multipath = repair(text, "p"), repair(text, "p", limits=CheckOptions(order="multipath"))
    assert all(each.lines[0].startswith("get scrap") for each in default.insertions)
    assert {each.lines for each in multipath.insertions} == {("flush A",), ("flush B",)}


def test_a_message_that_can_wait_is_said_at_once() -> None:
    text = """node A { a, b }
node B { x }
thread T on A { put B.x = a; recv b from U; a = 1 }
thread U on B { reg r; send 1 to T; r = x }
"""
    answer = repair(text, "p", RepairOptions(timeout=20))
    assert answer.status == "unknown"
    assert "no repair can be proven: rnr" in answer.reason
