"""The engine `auto`: what needs no search first, then searches.

A few states are looked at first, since they decide most programs in milliseconds, with the shortest runs. Then comes what
decides special programs without a search (:mod:`one_run`, :mod:`gathers`), then `sat` without the assertions that are
proved by a relaxation (:mod:`relaxed`), and where that leaves something open all states, and at last `smt`, where it is
installed: it decides some arithmetic on what is received for which `sat` has to try all matchings.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from rdma_robust.errors import LimitReached
from rdma_robust.limits import Limits
from rdma_robust.messages.engines.answers_compared import together
from rdma_robust.messages.engines.one_run import by_one_run
from rdma_robust.messages.language.message_program import Buffer, MessageProgram
from rdma_robust.messages.machine.interchangeable import alike
from rdma_robust.messages.machine.states import by_states
from rdma_robust.messages.message_answers import BufferAnswer, Questions
from rdma_robust.solver_library import has_solver

if TYPE_CHECKING:
    from rdma_robust.messages.encoding.match_candidates import Candidates
    from rdma_robust.messages.encoding.unrolled import Unrolled

FEW: Final = 200
"""States that are looked at before anything else is tried."""

_IF_ALIKE: Final = 25
"""So many times as many where processes are interchangeable: a state stands for many then, which `sat` goes through."""

_SOON: Final = 1.0
"""Seconds that they may take."""

_SOLVING: Final = 0.6
"""Of the time that is left, the part that `sat` gets; all states get what is left then, or this part of it before `smt`."""

_BEYOND_SMT: Final = ("not encoded", "the bound of loops")
"""What `smt` cannot do either, in the words of `sat`."""


def by_auto(program: MessageProgram, buffer: Buffer, questions: Questions, limits: Limits) -> BufferAnswer:
    """Answer all questions about a program by the engine that is likely to be the fastest, and by others if it fails.

    Runs that the few states have shown already stay, since they are short.
    Where something is left open the reason has what every search says of it.
    """
    from rdma_robust.messages.engines.gathers import by_gathering  # noqa: PLC0415 -- slow, and few states are often enough
    from rdma_robust.messages.engines.sat import by_sat  # noqa: PLC0415

    few = FEW if alike(program) is None else FEW * _IF_ALIKE
    answer = by_states(program, buffer, questions, _few(limits, few))
    if not answer.reason:
        return answer
    found = by_one_run(program, buffer, questions, limits)
    unrolled = None if found else _unrolled(program, questions, limits)
    if unrolled is not None:
        found = by_gathering(program, buffer, questions, limits, unrolled)
    if found is not None:
        return found
    left = None if unrolled is None else _candidates(unrolled, buffer, limits)
    easier = program if left is None else _easier(left, limits)
    solved = by_sat(easier, buffer, questions, limits.share(_SOLVING), left=left if easier is program else None)
    solved = together(answer, solved)
    if not solved.reason:
        return solved
    last_resort = has_solver() and not any(each in solved.reason for each in _BEYOND_SMT)
    answer = together(solved, by_states(program, buffer, questions, limits.share(_SOLVING) if last_resort else limits))
    return together(answer, _by_smt(program, buffer, questions, limits)) if last_resort and answer.reason else answer


def _by_smt(program: MessageProgram, buffer: Buffer, questions: Questions, limits: Limits) -> BufferAnswer:
    from rdma_robust.messages.engines.smt import by_smt  # noqa: PLC0415 -- slow, and the last resort

    return by_smt(program, buffer, questions, limits)


def _few(limits: Limits, few: int) -> Limits:
    return limits.within(_SOON).at_most(few)


def _unrolled(program: MessageProgram, questions: Questions, limits: Limits) -> Unrolled | None:
    """Return a program unrolled, None if it is not encoded or there is no time."""
    from rdma_robust.messages.encoding.message_shapes import unroll  # noqa: PLC0415
    from rdma_robust.messages.encoding.unrolled import NotEncodedError  # noqa: PLC0415

    try:
        return unroll(program, questions.loop_bound, limits)
    except (NotEncodedError, LimitReached):
        return None


def _candidates(unrolled: Unrolled, buffer: Buffer, limits: Limits) -> Candidates | None:
    """Return the candidate pairs, None if there is no time."""
    from rdma_robust.messages.encoding.match_candidates import candidates  # noqa: PLC0415

    try:
        return candidates(unrolled, buffer, limits)
    except LimitReached:
        return None


def _easier(left: Candidates, limits: Limits) -> MessageProgram:
    """Return a program, given its candidate pairs, without the assertions that surely hold, to the same places and steps."""
    from rdma_robust.messages.engines.relaxed import proved, without  # noqa: PLC0415

    program = left.unrolled.program
    try:
        places = proved(left.unrolled, left.endpoints, limits)
    except LimitReached:
        return program
    return without(program, places) if places else program
