"""Repairs of programs with everything that is deployed, with branches and loops, against trying every cheaper set.

A set counts if the program with it is robust and does the same under sequential consistency, by whole graphs of states:
paths, completions and runs side by side, which repair argues with, have no part in it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import islice
from random import Random

import pytest

from rdma_robust.analyses.repair.plan import repair
from rdma_robust.analyses.repair.repairs import Barrier, Costs, Repair, RepairOptions
from rdma_robust.analyses.repair.sites import inserted_on
from rdma_robust.language.load import load_program
from rdma_robust.options import CheckOptions
from rdma_robust.orders import SHIPPED
from rdma_robust.orders.fi_flags import fi_order
from rdma_robust.outcome import Verdict
from tests.conftest import ROOT
from tests.support.naive_keeping import Behaviour, TooLarge, behaviour
from tests.support.naive_repair import Inserts, Prices, all_inserts, patched, sets, verdict
from tests.support.random_repairs import KINDS, WEAKER, repair_text
from tests.support.shares import share

LIMITS = CheckOptions(max_states=4000, timeout=1)
COSTS = Costs(poll=2, rfence=2, flush=3, loop_weight=2, mfence=2, order=2)
"""Prices at which gets and loops are within what can be tried."""

MOST_SETS = 400

LEFT_OUT = "sets that were left out may do as well"
"""Said of an answer that is not known to be the cheapest, though no limit came first."""


def programs(kind: str, seeds: range, *, weaker: bool = False) -> Iterator[tuple[int, str]]:
    """Random programs that are not robust."""
    for seed in seeds:
        text = repair_text(kind, seed, weaker=weaker)
        if text is not None and verdict(text, LIMITS) is Verdict.NOT_ROBUST:
            yield seed, text


def does(text: str) -> Behaviour | None:
    try:
        return behaviour(load_program(text, "random.rdma"))
    except TooLarge:
        return None


def under_all(text: str, orders: Sequence[str]) -> Verdict:
    """Return the verdict of a text, under each of some orders: the first that is not robust."""
    found = (verdict(text, replace(LIMITS, order=order)) for order in orders or (None,))
    return next((each for each in found if each is not Verdict.ROBUST), Verdict.ROBUST)


def cheaper(text: str, own: Behaviour, below: int, orders: Sequence[str] = ()) -> Iterator[Inserts]:
    """Yield the sets that cost less and will do; nothing if there are too many to try."""
    program = load_program(text, "random.rdma")
    models = RepairOptions(orders=tuple(orders)).models(program.hardware.model)
    more = inserted_on(models, program)
    prices = Prices(
        **{"poll": 2, "rfence": 2, "get": 3, "loop": 2, "mfence": 2 if "cpu tso" in text else None},
        flush=5 if Barrier.FLUSH in more else None,
        order=2 if Barrier.ORDER in more else None,
    )
    tried = list(islice(sets(all_inserts(text, prices), below), MOST_SETS + 1))
    for some in tried if len(tried) <= MOST_SETS else ():
        made = patched(text, some)
        if some and under_all(made, orders) is Verdict.ROBUST:
            found = does(made)
            if found is not None and found.keeps(own):
                yield some


def agrees(text: str, *, known: bool = True, orders: tuple[str, ...] = ()) -> Repair | None:
    """Assert that the answer for a program is right, and the cheapest where it is `known` to be that, or if no limit came
    first; None if that was not looked at."""
    answer = repair(text, "random.rdma", RepairOptions(COSTS, timeout=4, orders=orders), LIMITS)
    own = does(text)
    if own is None:
        return None
    flags = any(each.kind in ("signaled", "inline") for each in answer.insertions)
    if answer.solutions:
        assert under_all(answer.patched, orders) is not Verdict.NOT_ROBUST
        found = None if flags else does(answer.patched)
        assert found is None or found.keeps(own), "the repaired program does something else"
        assert sum(i.cost for i in answer.insertions) == answer.cost
    if answer.optimal or answer.status == "impossible" or (not known and LEFT_OUT in answer.reason):
        below = answer.cost if answer.solutions else 7
        assert next(cheaper(text, own, below, orders), None) is None, "a cheaper set will do"
    return answer


@pytest.mark.parametrize(
    "seeds",
    [range(2), pytest.param(range(2, 7), marks=pytest.mark.ci), pytest.param(range(7, 400), marks=pytest.mark.long)],
)
@pytest.mark.parametrize("kind", share(KINDS))
def test_no_cheaper_set_will_do(kind: str, seeds: range) -> None:
    for seed, text in programs(kind, seeds):
        try:
            agrees(text)
        except AssertionError as wrong:
            raise AssertionError(f"{kind} {seed}: {wrong}") from wrong


@pytest.mark.parametrize("name", ["nbi-data-then-flag", "signal-of-another-put", "accumulates-two-words"])
def test_an_order_is_inserted_and_nothing_cheaper_will_do(name: str) -> None:
    """Of orders but the default that is not said of an answer: which places matter there is not known."""
    answer = agrees((ROOT / "litmus" / "standards" / f"{name}.rdma").read_text(encoding="utf-8"), known=False)
    assert answer is not None and [each.kind for each in answer.insertions] == ["order"]


@pytest.mark.long
@pytest.mark.parametrize("kind", WEAKER)
def test_repairs_on_weaker_networks(kind: str) -> None:
    for seed, text in programs(kind, range(200), weaker=True):
        try:
            agrees(text, known=False)
        except AssertionError as wrong:
            raise AssertionError(f"{kind} {seed}: {wrong}") from wrong


@pytest.mark.ci
def test_most_answers_are_proven_and_some_are_impossible() -> None:
    """What is compared above is something: of the first programs of two kinds."""
    answers = [agrees(text) for kind in ("completions", "stores") for _, text in programs(kind, range(6))]
    known = [answer for answer in answers if answer is not None]
    assert len(known) >= 4
    assert sum(answer.optimal for answer in known) >= 3


NETWORKS = (*SHIPPED, fi_order("fi(RMA_WAW, SAS)"), fi_order("fi(RAW, WAW)"))


def for_tables(kind: str, seed: int) -> tuple[str, tuple[str, ...]] | None:
    """Return a random program and two or three orders, one of which at least breaks it."""
    text = repair_text(kind, seed)
    rng = Random(f"tables {kind} {seed}")
    orders = tuple(rng.sample(NETWORKS, rng.choice((2, 2, 3))))
    if text is None or re.search("relaxed|via", text) or under_all(text, orders) is not Verdict.NOT_ROBUST:
        return None
    return text, orders


@pytest.mark.parametrize(
    "seeds",
    [range(1), pytest.param(range(1, 3), marks=pytest.mark.ci), pytest.param(range(3, 300), marks=pytest.mark.long)],
)
@pytest.mark.parametrize("kind", share(KINDS))
def test_what_is_for_several_tables_is_robust_under_each_and_nothing_cheaper_is(kind: str, seeds: range) -> None:
    for seed in seeds:
        asked = for_tables(kind, seed)
        if asked is not None:
            try:
                agrees(asked[0], known=False, orders=asked[1])
            except AssertionError as wrong:
                raise AssertionError(f"{kind} {seed} {asked[1]}: {wrong}") from wrong


def test_one_change_is_for_all_tables() -> None:
    """A poll is enough where completions give order; over EFA they do not, and `order` is."""
    text = (ROOT / "litmus" / "standards" / "nbi-data-then-flag.rdma").read_text(encoding="utf-8")
    found = {orders: agrees(text, known=False, orders=orders) for orders in (("multipath",), ("multipath", "srd"))}
    kinds = {orders: [each.kind for each in answer.insertions] for orders, answer in found.items() if answer is not None}
    assert kinds == {("multipath",): ["poll"], ("multipath", "srd"): ["order"]}


TOLD_BY_A_FLAG = """
node A { one = 1, two = 2, ack }
node B { first, second, flag }
thread Sender on A { send one to Receiver; put B.flag = one; await ack == 1; send two to Receiver }
thread Receiver on B {
  posted first from Sender
  await flag == 1
  recv second from Sender
  put A.ack = 1
  rpoll Sender
  rpoll Sender
}
"""


def test_where_messages_take_any_receive_the_flag_behind_one_waits() -> None:
    """The second buffer is posted behind the flag: a fence before that keeps the first message from it."""
    answer = repair(TOLD_BY_A_FLAG, "flag.rdma", RepairOptions(orders=("ooo-dp", "default")), LIMITS)
    assert [each.kind for each in answer.insertions] == ["rfence"]


def test_where_two_buffers_are_posted_all_along_nothing_that_is_put_in_helps() -> None:
    text = (ROOT / "litmus" / "hardware" / "buffers-placed.rdma").read_text(encoding="utf-8")
    answer = repair(text, "buffers.rdma", RepairOptions(COSTS, orders=("ooo-dp", "srd")), LIMITS)
    assert answer.status == "unknown" and "post one buffer of a connection at a time" in answer.reason
