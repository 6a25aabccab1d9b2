"""What the page is told: its tabs, the hardware that it offers, the suite by shelf, and the rules of colours."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any, Final

from pygments.lexer import RegexLexer, words
from pygments.token import Comment, Error, Keyword, Name, Number, Token, _TokenType

from rdma_robust.teaching.exercises import Exercise, course
from rdma_robust.teaching.playground.page_questions import HARDWARE_OFFERED, TABS
from sitegen.lexer import RdmaLexer
from sitegen.litmus_index import LITMUS, SHELVES, on
from sitegen.message_lexer import MessageLexer
from sitegen.messages_index import all_programs

FIRST: Final = "mailbox-plain.rdma"
KINDS: Final[dict[_TokenType, str]] = {
    Comment.Single: "comment",
    Comment.Multiline: "comment",
    Keyword: "keyword",
    Name.Builtin: "builtin",
    Name.Function: "name",
    Name.Label: "name",
    Name.Constant: "number",
    Number.Integer: "number",
    Error: "error",
}
"""Kinds of tokens that have a colour."""


def page_data() -> dict[str, Any]:
    """Return what `playground.json` says."""
    return {
        "first": FIRST,
        "tabs": [asdict(each) for each in TABS],
        "hardware": [{"name": name, "label": label, "values": values} for name, (label, values) in HARDWARE_OFFERED.items()],
        "examples": [*_shelves()],
        "exercises": [_exercise(each) for each in course()],
        "colours": {"rdma": colour_rules(RdmaLexer), "mp": colour_rules(MessageLexer)},
    }


def _shelves() -> Iterator[dict[str, Any]]:
    programs = sorted(LITMUS.glob("*.rdma"), key=lambda path: path.stem)
    for shelf in SHELVES:
        yield {"title": shelf.title, "programs": [_program(path) for path in on(shelf, programs)]}
    yield {"title": "proofs", "programs": [_program(path) for path in sorted(LITMUS.glob("prove/*.rdma"))]}
    yield {"title": "messages", "programs": [_program(path) for path in all_programs()]}
    yield {"title": "contracts", "programs": [_program(path) for path in sorted(LITMUS.glob("contracts/*.mp"))]}


def _exercise(exercise: Exercise) -> dict[str, Any]:
    """Return what the page shows of an exercise; the judge and the solutions are in Python."""
    shown = {name: getattr(exercise, name) for name in ("number", "name", "title", "program", "hint")}
    return {**shown, "task": exercise.full_task.replace("`", "")}


def _program(path: Path) -> dict[str, str]:
    return {"path": path.relative_to(LITMUS).as_posix(), "text": path.read_text(encoding="utf-8")}


def colour_rules(lexer: type[RegexLexer]) -> dict[str, list[tuple[str, Any, str]]]:
    """Return the rules of a lexer, state by state: a pattern as JavaScript has it, the kind of what it matches or those of
    its groups, and the state that it leads to."""
    return {state: [_rule(*rule) for rule in rules] for state, rules in lexer.tokens.items()}


def _rule(pattern: Any, action: Any, following: str = "") -> tuple[str, Any, str]:
    text = str(pattern.get()) if isinstance(pattern, words) else pattern  # type: ignore[no-untyped-call]
    assert not re.search(r"\(\?(?!:|=|!|<=|<!)", text), f"{text}: JavaScript has no such group"
    kinds = KINDS.get(action, "") if action in Token else [KINDS.get(kind, "") for kind in _groups(action)]
    return text, kinds, following


def _groups(action: Any) -> tuple[_TokenType, ...]:
    """Return the kinds that were given to `bygroups`."""
    (kinds,) = [cell.cell_contents for cell in action.__closure__ if isinstance(cell.cell_contents, tuple)]
    return kinds
