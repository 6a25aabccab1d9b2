"""What holds of a message program that is explored, and runs that show it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rdma_robust.limits import Limits

if TYPE_CHECKING:
    from rdma_robust.messages.language.message_program import MessageProgram
    from rdma_robust.teaching.explorer.message_view import MessageVerdictView


def decided_messages(program: MessageProgram, limits: Limits) -> MessageVerdictView:
    """Return the verdict under every buffer semantics, each with an equal part of the time that is left.

    Raises InternalError if a run that was found cannot be run.
    """
    from rdma_robust.messages.engines.engine_table import answered  # noqa: PLC0415 - slow, and nobody needs it at first
    from rdma_robust.messages.language.message_program import BUFFERS  # noqa: PLC0415
    from rdma_robust.messages.message_answers import MessageQuestions  # noqa: PLC0415
    from rdma_robust.teaching.explorer.message_session import MessageSession  # noqa: PLC0415
    from rdma_robust.teaching.explorer.message_witness import found_runs  # noqa: PLC0415

    answers = [
        answered(program, buffer, MessageQuestions(pairs=False), limits.share(1 / (len(BUFFERS) - number)))
        for number, buffer in enumerate(BUFFERS)
    ]
    return found_runs(MessageSession(program), answers)
