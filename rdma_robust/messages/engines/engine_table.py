"""Which engines decide message programs, and what every answer goes through."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from rdma_robust.errors import UsageError
from rdma_robust.limits import Limits
from rdma_robust.messages.engines.engine_choice import by_auto
from rdma_robust.messages.engines.engine_names import MessageEngineName
from rdma_robust.messages.language.message_program import Buffer, MessageProgram
from rdma_robust.messages.machine.states import by_states
from rdma_robust.messages.message_answers import BufferAnswer, MessageEngine, Questions
from rdma_robust.messages.replay.replaying import confirm

_ENGINES: Final[Mapping[MessageEngineName, Callable[[], MessageEngine]]] = {
    "auto": lambda: by_auto,
    "states": lambda: by_states,
}
"""The engines by name, each by what loads it."""


def engine_named(name: MessageEngineName) -> MessageEngine:
    """Return the engine of a name. Raises UsageError if there is none here."""
    found = _ENGINES.get(name)
    if found is None:
        raise UsageError(f"there is no engine {name}, only {', '.join(_ENGINES)}")
    return found()


def answered(
    program: MessageProgram, buffer: Buffer, questions: Questions, limits: Limits, engine: MessageEngineName = "auto"
) -> BufferAnswer:
    """Return what an engine answers, after every schedule in it was replayed.

    Raises InternalError if a replay does not come to what the engine has said.
    """
    answer = engine_named(engine)(program, buffer, questions, limits)
    confirm(program, answer)
    return answer
