"""The engine `auto`: what needs no search first, then searches; and one program decided by two engines.

A few states are looked at first, since they decide most programs in milliseconds, with the shortest runs. Then comes what
decides special programs without a search (:mod:`one_run`), then `sat`, and where that leaves something open all states.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from rdma_robust.errors import InternalError
from rdma_robust.limits import Limits
from rdma_robust.messages.engines.answers_compared import contradictions
from rdma_robust.messages.engines.one_run import by_one_run
from rdma_robust.messages.language.message_program import Buffer, MessageProgram
from rdma_robust.messages.machine.states import by_states
from rdma_robust.messages.message_answers import BufferAnswer, Questions

FEW: Final = 200
"""States that are looked at before anything else is tried."""


def by_auto(program: MessageProgram, buffer: Buffer, questions: Questions, limits: Limits) -> BufferAnswer:
    """Answer all questions about a program by the engine that is likely to be the fastest, and by others if it fails.

    Where something is left open the reason has what every search says of it.
    """
    answer = by_states(program, buffer, questions, _few(limits))
    if not answer.reason:
        return answer
    without_search = by_one_run(program, buffer, questions, limits)
    if without_search is not None:
        return without_search
    return by_states(program, buffer, questions, limits)


def _few(limits: Limits) -> Limits:
    return replace(limits, states=FEW if limits.states is None else min(FEW, limits.states))


def self_checked(program: MessageProgram, buffer: Buffer, questions: Questions, limits: Limits) -> tuple[BufferAnswer, str]:
    """Return what `auto` answers, after another engine was asked too; and what that one leaves open, '' for nothing.

    Raises InternalError if the two contradict each other.
    """
    answer = by_auto(program, buffer, questions, limits.share(0.5))
    other = _other(program, buffer, questions, limits, answer.engine)
    if found := contradictions(answer, other):
        raise InternalError(f"two engines disagree under {buffer}: {'; '.join(found)}")
    return answer, other.reason and f"{other.engine}: {other.reason}"


def _other(program: MessageProgram, buffer: Buffer, questions: Questions, limits: Limits, engine: str) -> BufferAnswer:
    """Return the answer of an engine that is not the one of this name."""
    if engine == "states":
        run = by_one_run(program, buffer, questions, limits)
        if run is not None:
            return run
    return by_states(program, buffer, questions, limits)
