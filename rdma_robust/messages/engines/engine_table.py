"""Which engines decide message programs, and what every answer goes through."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from rdma_robust.errors import InternalError, UsageError
from rdma_robust.limits import Limits
from rdma_robust.messages.engines.answers_compared import contradictions
from rdma_robust.messages.engines.engine_choice import by_auto
from rdma_robust.messages.engines.engine_names import MessageEngineName
from rdma_robust.messages.language.message_program import Buffer, MessageProgram
from rdma_robust.messages.machine.few_buffers import lean
from rdma_robust.messages.machine.states import by_states
from rdma_robust.messages.message_answers import BufferAnswer, MessageEngine, Questions
from rdma_robust.messages.replay.replaying import confirm
from rdma_robust.solver_library import has_solver, require_solver


def _sat() -> MessageEngine:
    from rdma_robust.messages.engines.sat import by_sat  # noqa: PLC0415 -- only those who ask it load it

    return by_sat


def _smt() -> MessageEngine:
    require_solver("smt")
    from rdma_robust.messages.engines.smt import by_smt  # noqa: PLC0415 -- slow, and seldom asked

    return by_smt


_ENGINES: Final[Mapping[MessageEngineName, Callable[[], MessageEngine]]] = {
    "auto": lambda: by_auto,
    "states": lambda: by_states,
    "sat": _sat,
    "smt": _smt,
}
"""The engines by name, each by what loads it."""


CHECKING_S: Final = 5.0
"""Seconds of each engine that only checks what another one has answered, under one buffer semantics."""


def engine_named(name: MessageEngineName) -> MessageEngine:
    """Return the engine of a name. Raises UsageError if there is none here, or if it needs what is not installed."""
    found = _ENGINES.get(name)
    if found is None:
        raise UsageError(f"there is no engine {name}, only {', '.join(_ENGINES)}")
    return found()


def answered(
    program: MessageProgram, buffer: Buffer, questions: Questions, limits: Limits, engine: MessageEngineName = "auto"
) -> BufferAnswer:
    """Return what an engine answers, after every schedule in it was replayed; under `any` with as few buffers as they need.

    Raises InternalError if a replay does not come to what the engine has said.
    """
    answer = engine_named(engine)(program, buffer, questions, limits)
    if buffer == "any" and engine != "states":
        answer = lean(program, answer)
    confirm(program, answer)
    return answer


def other_engines(engine: MessageEngineName) -> tuple[MessageEngineName, ...]:
    """Return the engines that can check the answers of one: all others that are installed and do not choose among them."""
    return tuple(name for name in _ENGINES if name not in ("auto", engine) and (name != "smt" or has_solver()))


@dataclass(frozen=True, slots=True)
class SelfChecked:
    """An answer, and those of the other engines, which do not contradict it; they may leave something open."""

    answer: BufferAnswer
    others: tuple[BufferAnswer, ...]


def self_checked(
    program: MessageProgram, buffer: Buffer, questions: Questions, limits: Limits, engine: MessageEngineName = "auto"
) -> SelfChecked:
    """Return what an engine answers, after all others were asked the same; each has an equal part of the time.

    The others have no more than CHECKING_S: on programs that are decided without a search they may all search for ever.
    Raises InternalError if two answers contradict each other, and as :func:`answered` does.
    """
    others = other_engines(engine)
    answer = answered(program, buffer, questions, limits.share(1 / (len(others) + 1)), engine)
    checks = []
    for number, other in enumerate(others):
        short = limits.share(1 / (len(others) - number)).within(CHECKING_S)
        found = answered(program, buffer, questions, short, other)
        wrong = contradictions(answer, found)
        if wrong:
            raise InternalError(f"two engines disagree under {buffer}: {'; '.join(wrong)}")
        checks.append(found)
    return SelfChecked(answer, tuple(checks))


def comparison(checked: Sequence[SelfChecked]) -> str:
    """Return which engines were compared under all buffer semantics, and what they have left open."""
    opened: dict[tuple[str, str], list[str]] = {}
    for each in checked:
        for other in each.others:
            if other.reason:
                opened.setdefault((other.engine, other.reason), []).append(other.buffer)
    names = dict.fromkeys(other.engine for each in checked for other in each.others)
    alike = f"the engines {', '.join(names)} answer alike"
    parts = [f"{engine} leaves something open under {', '.join(under)} ({why})" for (engine, why), under in opened.items()]
    return "; ".join([f"{alike} where they answer", *parts]) if parts else alike
