"""What cannot be put in order has a circle, and one is found."""

from __future__ import annotations

from itertools import product

from bench.message_programs import traffic
from rdma_robust.messages.encoding.match_candidates import candidate_pairs
from rdma_robust.messages.encoding.order_graph import MatchSolution, Overtaking, order_matches
from rdma_robust.messages.encoding.unrolling import unroll
from rdma_robust.messages.engines.solved_models import circles_of_two
from rdma_robust.messages.language.load_messages import load_messages

FEW_BEFORE_MANY = """
proc A { reg v; recv v; send 1 to B; for i in 1..150 { send i to C } }
proc B { reg v; recv v; send 1 to A }
proc C { reg v; for i in 1..150 { recv v } }
"""


def test_circles_of_two_are_circles_whichever_receives_take_the_sends() -> None:
    unrolled = unroll(load_messages(traffic(40, safe=True), "p.mp"), 8)
    left = candidate_pairs(unrolled, "infinite")
    overtaking = Overtaking(left)
    known = list(circles_of_two(left, overtaking))
    assert len(known) > 4
    for circle in known:
        ends = [[(receive, each.send) for receive in {each.first, each.last}] for each in circle.taken]
        for matches in product(*ends):
            assert not order_matches(left, overtaking, MatchSolution(matches, lambda _: True, lambda _: True)).matches


def test_a_circle_of_two_before_many_matches_that_are_on_none() -> None:
    """Each of A and B is to get what the other one sends afterwards; what comes behind A's receive is on no circle."""
    unrolled = unroll(load_messages(FEW_BEFORE_MANY, "p.mp"), 8)
    left = candidate_pairs(unrolled, "infinite", rules=frozenset({1}))
    of_a, of_b, *of_c = [each.number for each in unrolled.receives]
    from_a, *to_c = [each.number for each in unrolled.sends if each.process == 0]
    from_b = next(each.number for each in unrolled.sends if each.process == 1)
    many = list(zip(of_c, to_c, strict=True))
    matches = [many[0], (of_a, from_b), many[1], (of_b, from_a), *many[2:]]
    found = order_matches(left, Overtaking(left), MatchSolution(matches, lambda _: True, lambda _: True))
    assert not found.matches
    assert [{each.send for each in circle.taken} for circle in found.circles] == [{from_a, from_b}]
