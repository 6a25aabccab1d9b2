"""What helps while a program is typed: which words may come next, and new names for old ones."""

from __future__ import annotations

import re
from typing import Final

from rdma_robust.editing.declared_names import DeclaredNames
from rdma_robust.errors import ProgramError, Span
from rdma_robust.frame.editor import DeclaredSymbol, Offer, RenameError, SymbolKind
from rdma_robust.language.check.program_lines import WORDS
from rdma_robust.language.load import load_program
from rdma_robust.language.syntax.grammar import load_grammar

_MEMBER: Final = re.compile(r"(?<![A-Za-z0-9_])([A-Za-z_][A-Za-z0-9_]*+)(?:\[[^\[\]]*+\])?\.[A-Za-z0-9_]*$")
_WORD: Final = r"[A-Za-z0-9_]*$"
_SENDER: Final = re.compile(rf"\b(?:from|rpoll)\s+(\w+)\s+on\s+{_WORD}")
_KINDS: Final[dict[str, tuple[SymbolKind, ...]]] = {
    r"^\s*thread\s.*\son|\bvia|\bqp\b.*\sto": ("node",),
    r"\b(?:poll|trypoll|rfence|flush|order)(?:\s+\w+\s+or)*": ("node", "lane"),
    r"\bon": ("lane",),
    r"\b(?:rpoll|start|join|barrier(?:\s+\w+\s*,)*)|[\w)\]]\s+(?:to|from)": ("thread",),
}
"""Where in a line only names of some kinds may stand. A lane is one of the thread itself, or of the sender of a message."""

_SETTING: Final = re.compile(rf"^\s*hardware\s(?:.*,)?\s*(?:(\w+)\s+)?{_WORD}")
_LABEL: Final = re.compile(r"\b([A-Za-z_][A-Za-z0-9_]*)\s+at\s+[A-Za-z0-9_]*$")
_NAME: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


def typing_offers(text: str, offset: int) -> list[Offer]:
    """Return the words that may stand at the 0-based `offset`: members after a dot, nodes, lanes,
    threads and labels where only they may, and the words of a `hardware` line."""
    before = text[text.rfind("\n", 0, offset) + 1 : offset]
    if setting := _SETTING.search(before):
        values = WORDS[setting[1]][1] if setting[1] in WORDS else () if setting[1] else WORDS
        return [Offer(word, "keyword", "keyword") for word in values]
    names = DeclaredNames(text)
    found = _only_names(names, before, offset)
    words = sorted(load_grammar().keywords.values()) if found is None else ()
    found = names.in_scope(offset) if found is None else found
    return [
        *(Offer(s.name, s.kind, f"{s.kind} {s.qualified}") for s in found),
        *(Offer(word, "keyword", "keyword") for word in words),
    ]


def _only_names(names: DeclaredNames, before: str, offset: int) -> list[DeclaredSymbol] | None:
    """Return the names that may stand behind the beginning of a line; None where keywords may, too."""
    if member := _MEMBER.search(before):
        return names.members(member[1])
    kinds = next((kinds for form, kinds in _KINDS.items() if re.search(rf"(?:{form})\s+{_WORD}", before)), ())
    if kinds:
        sender = _SENDER.search(before)
        lanes = names.lanes(sender[1]) if sender else [s for s in names.in_scope(offset) if s.kind == "lane"]
        here = [s for s in names.symbols if s.kind in kinds and s.kind != "lane"]
        return [*here, *(lanes if "lane" in kinds else ())]
    place = _LABEL.search(before)
    return names.labels(place[1]) if place else None


def renaming(text: str, offset: int, new: str) -> list[Span]:
    """Return where the name at the 0-based `offset` stands, to be replaced by `new`.

    Raises RenameError if no name is there, or if the program with the new name is not the same but for that name.
    """
    names = DeclaredNames(text)
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
    if _refers(DeclaredNames(after)) != _refers(names):
        raise RenameError(f"{new!r} is the name of something else here")
    if not _wrong(text) and _wrong(after):
        raise RenameError(f"{new!r} cannot be a name here")
    return spans


def _refers(names: DeclaredNames) -> list[int]:
    """Return for every occurrence which declaration it stands for, by numbers that do not depend on texts."""
    numbers = {symbol: i for i, symbol in enumerate(names.symbols)}
    return [numbers[o.symbol] for o in names.occurrences]


def _wrong(text: str) -> bool:
    try:
        load_program(text, "")
    except ProgramError:
        return True
    return False
