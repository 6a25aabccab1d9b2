"""What `contracts infer` prints: clauses as they would stand in a contract, and JSON."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from rdma_robust.contracts.inference.inferred_clauses import Inference
from rdma_robust.contracts.language.contract_program import ContractProgram
from rdma_robust.frame.answer import JsonObject
from rdma_robust.frame.formats.json_text import valid_unicode
from rdma_robust.reports.contracts.contract_words import procs_ranges
from rdma_robust.text import filled, printable

FORMAT: Final = "rdma-robust/contracts-infer"
VERSION: Final = 1
WIDTH: Final = 80


def inference_text(found: Sequence[Inference], width: int | None) -> list[str]:
    """Return the clauses of functions as lines, each function after an empty line but the first."""
    room = width or WIDTH
    lines: list[str] = []
    for each in found:
        lines += [*([""] if lines else []), f"{printable(each.function)}, n = {procs_ranges(each.procs)}:"]
        if each.reason:
            lines += filled(f"nothing is inferred: {printable(each.reason)}", room, "  ", "    ")
            continue
        clauses = (*each.quiet_from, *each.waitsfor, *each.quiet_to)
        lines += [f"  {clause};" for clause in clauses] or [
            "  no clause: nothing is promised, and nothing has to be required"
        ]
    return lines


def inference_object(program: ContractProgram, found: Sequence[Inference], tool: Mapping[str, object]) -> JsonObject:
    """Return the clauses as JSON (`schema/contracts-infer.schema.json`); `tool` says what made it."""
    return {
        "format": FORMAT,
        "version": VERSION,
        "tool": dict(tool),
        "file": valid_unicode(program.file),
        "functions": [
            {
                "name": each.function,
                "n": list(each.procs),
                "quiet_from": list(each.quiet_from),
                "waitsfor": list(each.waitsfor),
                "quiet_to": list(each.quiet_to),
                "tried": each.tried,
                "reason": each.reason,
            }
            for each in found
        ],
    }
