"""The rules of the SARIF report: the codes of what was found, with the help that code scanning shows."""

from __future__ import annotations

from typing import Any, Final

from rdma_robust.codes.registry import Code, codes
from rdma_robust.frame.finding import Level

NOT_SO_SURE: Final = ("RR014", "RR015", "RR023", "RR024", "RR7")
"""Beginnings of codes that are right about the program, and may be meant."""


NOTES: Final = ("RR023", "RR024", "RR7")
"""Beginnings of codes of what never changes an answer."""


def level_of(code: str) -> Level:
    """Return how bad a finding is."""
    return "note" if code.startswith(NOTES) else codes()[code].severity


def rule(code: str) -> dict[str, Any]:
    """Return the rule of a code as SARIF has it (a reportingDescriptor, SARIF 3.49)."""
    entry = codes()[code]
    level = level_of(code)
    return {
        "id": code,
        "shortDescription": {"text": _sentence(entry.title)},
        "fullDescription": {"text": " ".join(entry.explanation.split("\n\n", 1)[0].split())},
        "help": {"text": entry.explanation, "markdown": _help(entry)},
        "defaultConfiguration": {"level": level},
        "properties": {
            "precision": "high" if code.startswith(NOT_SO_SURE) else "very-high",
            # GitHub's word for a note.
            "problem.severity": "recommendation" if level == "note" else level,
            "tags": ["rdma", "concurrency" if code.startswith("RR0") else "correctness"],
        },
    }


def _sentence(title: str) -> str:
    return title[:1].upper() + title[1:]


def _help(entry: Code) -> str:
    if entry.kind not in ("program", "runs", "violations"):
        return entry.explanation
    return (
        f"{entry.explanation}\n\nGives {entry.name}:\n\n```\n{entry.bad.rstrip()}\n```\n\n"
        f"Does not:\n\n```\n{entry.repaired.rstrip()}\n```\n"
    )
