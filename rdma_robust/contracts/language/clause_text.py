"""The text of a clause, from the file in which it stands."""

from __future__ import annotations

from typing import Final

from rdma_robust.contracts.language.contract_program import ContractProgram
from rdma_robust.errors import NO_SPAN, Span
from rdma_robust.messages.language.message_library import library_text

CHANNELS_EMPTY: Final = "channels are empty"
"""The clause that every contract has without saying so, at entry and at exit."""

NO_REQUEST: Final = "no request is active"
"""Part of that at exit: every send and receive was waited for."""


def clause_text(program: ContractProgram, span: Span) -> str:
    """Return what stands at the place of a clause, on one line; "" for none."""
    if span == NO_SPAN:
        return ""
    source = program.source if span.file in ("", program.file) else library_text()
    return " ".join(source[span.start : span.end].split())
