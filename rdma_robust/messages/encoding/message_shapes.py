"""A program unrolled with the shapes of messages that its receives really get: numbers or arrays of known lengths."""

from __future__ import annotations

from typing import Final

from rdma_robust.errors import NO_SPAN, Span
from rdma_robust.limits import NO_LIMITS, Limits
from rdma_robust.messages.encoding.evaluation import shape_of
from rdma_robust.messages.encoding.match_candidates import candidates
from rdma_robust.messages.encoding.symbolic_terms import Symbol
from rdma_robust.messages.encoding.unrolled import NotEncodedError, Shape, Shapes, Unrolled
from rdma_robust.messages.encoding.unrolling import unrolled_with
from rdma_robust.messages.language.message_program import MessageProgram

_ROUNDS: Final = 12


def unroll(program: MessageProgram, loop_bound: int, limits: Limits = NO_LIMITS) -> Unrolled:
    """Return `program` unrolled: `while` and `loop` to `loop_bound` rounds, `for` exactly where its bounds are known.

    What a receive can get is found by unrolling with a guess and looking at its candidates, until these have the guessed
    shape. Then it is right: of a run in which a receive gets another shape, the part before is one of the unrolled program,
    in which that pair is feasible, so it is a candidate. Raises NotEncodedError and LimitReached.
    """
    shapes = Shapes()
    for _ in range(_ROUNDS):
        unrolled = unrolled_with(program, loop_bound, shapes, limits)
        if not shapes.known and all(isinstance(each.value, Symbol) for each in unrolled.sends):
            return unrolled
        found = _shapes(unrolled, limits)
        if all(each.shape == found.get(each.number, each.shape) for each in unrolled.receives):
            return unrolled
        shapes = _guessed(unrolled, found)
    raise NotEncodedError("arrays whose lengths depend on which messages arrive")


def _guessed(unrolled: Unrolled, found: dict[int, Shape]) -> Shapes:
    """Return what was found, for the next round: later rounds of a loop are likely to get what the last one gets."""
    known: dict[tuple[int, int], Shape] = {}
    of_statement: dict[tuple[int, Span], Shape] = {}
    first: dict[int, int] = {}
    for each in unrolled.receives:
        nth = each.number - first.setdefault(each.process, each.number)
        if each.number in found:
            known[each.process, nth] = found[each.number]
            if each.span != NO_SPAN:
                of_statement[each.process, each.span] = found[each.number]
    return Shapes(known, of_statement)


def _shapes(unrolled: Unrolled, limits: Limits) -> dict[int, Shape]:
    """Return the shape that the candidates of each receive have. Raises NotEncodedError if they have several."""
    found: dict[int, Shape] = {}
    left = candidates(unrolled, "infinite", limits)
    for receive in unrolled.receives:
        shapes = {shape_of(each.value) for each in left.senders(receive.number)}
        if len(shapes) > 1:
            raise NotEncodedError("a receive that may get a number or an array, or arrays of different lengths")
        if shapes:
            found[receive.number] = shapes.pop()
    return found
