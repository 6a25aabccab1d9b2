"""What helps while a program is typed: which words may come next, and new names for old ones."""

from __future__ import annotations

import re
from typing import Final

from rdma_robust.editing.declared_names import Names
from rdma_robust.errors import ProgramError, Span
from rdma_robust.frame.editor import Offer, RenameError
from rdma_robust.language.load import load_program
from rdma_robust.language.syntax.grammar import load_grammar

_MEMBER: Final = re.compile(r"(?<![A-Za-z0-9_])([A-Za-z_][A-Za-z0-9_]*+)(?:\[[^\[\]]*+\])?\.[A-Za-z0-9_]*$")
_NODE: Final = re.compile(r"\b(?:poll|trypoll|rfence|flush|on)\s+[A-Za-z0-9_]*$")
_THREAD: Final = re.compile(r"(?:\brpoll|[\w)\]]\s+(?:to|from))\s+[A-Za-z0-9_]*$")
_LABEL: Final = re.compile(r"\b([A-Za-z_][A-Za-z0-9_]*)\s+at\s+[A-Za-z0-9_]*$")
_NAME: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


def completions(text: str, offset: int) -> list[Offer]:
    """Return the words that may stand at the 0-based `offset`: members after a dot, and nodes,
    threads and labels where only they may."""
    before = text[text.rfind("\n", 0, offset) + 1 : offset]
    names = Names(text)
    member = _MEMBER.search(before)
    if member:
        found = names.members(member[1])
    elif _NODE.search(before):
        found = [s for s in names.symbols if s.kind == "node"]
    elif _THREAD.search(before):
        found = [s for s in names.symbols if s.kind == "thread"]
    elif place := _LABEL.search(before):
        found = names.labels(place[1])
    else:
        found = names.in_scope(offset)
    offers = [Offer(s.name, s.kind, f"{s.kind} {s.qualified}") for s in found]
    only_names = member or any(form.search(before) for form in (_NODE, _THREAD, _LABEL))
    words = [] if only_names else sorted(load_grammar().keywords.values())
    return offers + [Offer(word, "keyword", "keyword") for word in words]


def renaming(text: str, offset: int, new: str) -> list[Span]:
    """Return where the name at the 0-based `offset` stands, to be replaced by `new`.

    Raises RenameError if no name is there, or if the program with the new name is not the same but for that name.
    """
    names = Names(text)
    found = names.at(offset)
    if found is None:
        raise RenameError("there is no name here")
    if not _NAME.fullmatch(new) or new in load_grammar().keywords.values():
        raise RenameError(f"{new!r} is not a name")
    spans = [o.span for o in names.of(found.symbol)]
    after, shifts = text, 0
    for span in spans:
        after = after[: span.start + shifts] + new + after[span.end + shifts :]
        shifts += len(new) - (span.end - span.start)
    if _refers(Names(after)) != _refers(names):
        raise RenameError(f"{new!r} is the name of something else here")
    if not _wrong(text) and _wrong(after):
        raise RenameError(f"{new!r} cannot be a name here")
    return spans


def _refers(names: Names) -> list[int]:
    """Return for every occurrence which declaration it stands for, by numbers that do not depend on texts."""
    numbers = {symbol: i for i, symbol in enumerate(names.symbols)}
    return [numbers[o.symbol] for o in names.occurrences]


def _wrong(text: str) -> bool:
    try:
        load_program(text, "")
    except ProgramError:
        return True
    return False
