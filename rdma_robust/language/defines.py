"""Constants of a program with other values, and crowds with a number: `-D NAME=VALUE`.

The value takes the place of the one in the text before anything else reads it, so that all that is said about the program,
and all that is kept of it, is about the program with that value. No line moves. The `[*]` of a crowd of threads, and that of
the nodes on which each of them runs, becomes `[* in 1..VALUE]`. `send depth=VALUE` and `hardware rnr=VALUE` are
settings of the `hardware` line; a program that has none gets a line at its end.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from rdma_robust.diagnose import Reporter, did_you_mean, listing, quote
from rdma_robust.errors import Span, UsageError
from rdma_robust.language.flow.send_queues import HARDWARE, RNR, RNR_SETTING, SEND_DEPTH
from rdma_robust.language.load import is_c, is_trencher, with_c_options
from rdma_robust.language.syntax import ast
from rdma_robust.language.syntax.grammar import Grammar
from rdma_robust.language.syntax.parse import parse_tree
from rdma_robust.value_ranges import is_option, is_range

_SETTINGS: Final = {SEND_DEPTH: SEND_DEPTH, RNR_SETTING: RNR}
"""The settings of the `hardware` line that are definitions, by the names that these have, which no constant can have."""

_ADDED: Final = {name: re.compile(rf"\n{HARDWARE} {word} \w+\n\Z") for name, word in _SETTINGS.items()}
"""The lines of a program that had none."""

_NAME: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_SIGNS: Final = re.compile(r"[\w \t+\-*/%=!<>&|()]+", re.ASCII)


def definitions(values: Mapping[str, int | str] | None) -> tuple[str, ...]:
    """Return definitions as the command line has them, `NAME=VALUE`."""
    return tuple(f"{name}={value}" for name, value in (values or {}).items())


def with_definitions(text: str, define: Sequence[str], grammar: Grammar | None = None, file: str = "") -> str:
    """Return the text of a program in which each constant that `define` names, as `NAME=VALUE`, has this value, and of each
    crowd of threads that it names there are so many. The text, that of `file`, is one of the language of `grammar`, or else
    a program; in C the definitions are those of its preprocessor.

    Raises UsageError for what defines nothing, and for a name that is neither in the program.
    """
    if grammar is None and define and is_c(text, file):
        return with_c_options(text, define, file)
    values = _read([each for each in define if not is_option(each)])
    if grammar is not None or is_trencher(text, ""):
        values = {name: value for name, value in values.items() if name not in _SETTINGS}
    if not values:
        return text
    if grammar is None and is_trencher(text, ""):
        raise UsageError(f"{quote(next(iter(values)))} is no constant: programs of Trencher have none")
    report = Reporter("", text)
    tree, _, _ = parse_tree(text, report, grammar)
    if tree is None:
        return text  # whoever reads it says what is wrong
    found = _places(tree)
    for name in [each for each in _SETTINGS if each in values and each not in found]:
        text = f"{text.rstrip()}\n{HARDWARE} {_SETTINGS[name]} {values.pop(name)}\n"
    for name in values:
        if name not in found and not report.failed:
            raise UsageError(_unknown(name, found, tree))
    pieces = [piece for name, value in values.items() for piece in found.get(name, _NOWHERE).filled(value)]
    return _with(text, pieces)


def undefined(text: str, original: str, define: Sequence[str]) -> str:
    """Return `text`, made from what :func:`with_definitions` made of `original`, with the values that `original` has."""
    names = set(_read(define))
    for name in [each for each in reversed(_SETTINGS) if each in names and not _ADDED[each].search(original)]:
        text = _ADDED[name].sub("\n", text)
    trees = [parse_tree(each, Reporter("", each))[0] for each in (original, text)]
    if not names or trees[0] is None or trees[1] is None:
        return text
    before, now = (_places(tree) for tree in trees if tree is not None)
    pieces = []
    for name in names & before.keys() & now.keys():
        written = [original[span.start : span.end] for span in before[name].spans]
        pieces += list(zip(now[name].spans, written, strict=False))
    return _with(text, pieces)


@dataclass(frozen=True, slots=True)
class _Place:
    """Where the value of a constant or the number of a crowd stands; `before` is what is written before it there."""

    spans: tuple[Span, ...]
    before: str = ""

    def filled(self, value: str) -> list[tuple[Span, str]]:
        return [(span, self.before + value) for span in self.spans]


_NOWHERE: Final = _Place(())


def _with(text: str, pieces: list[tuple[Span, str]]) -> str:
    for span, value in sorted(pieces, key=lambda each: -each[0].start):
        text = text[: span.start] + value + text[span.end :]
    return text


def _places(tree: ast.ProgramTree) -> dict[str, _Place]:
    """Return where the values of the constants that a program declares stand, and the numbers of its crowds of threads."""
    found: dict[str, _Place] = {}
    nodes: dict[str, ast.NodeDeclaration] = {}
    for item in tree.items:
        if isinstance(item, ast.Constants):
            for binding in item.bindings:
                if binding.value is not None:
                    found.setdefault(binding.name.text, _Place((binding.value.span,)))
        elif isinstance(item, ast.HardwareDeclaration):
            for setting in item.settings:
                name = next((name for name, word in _SETTINGS.items() if word == setting.word.text), None)
                if name is not None:
                    found.setdefault(name, _Place((setting.value.span,)))
        elif isinstance(item, ast.NodeDeclaration):
            nodes.setdefault(item.name.text, item)
    for item in tree.items:
        if isinstance(item, ast.ThreadDeclaration) and item.family is not None and item.family.many:
            node = nodes.get(item.node.text) if item.on_own else None
            families = (item.family, node.family if node is not None else None)
            spans = tuple(each.span for each in families if each is not None and each.many)
            found.setdefault(item.name.text, _Place(spans, "* in 1.."))
    return found


def _unknown(name: str, found: Mapping[str, _Place], tree: ast.ProgramTree) -> str:
    """Return what to say about a name of which nothing can be defined."""
    for item in tree.items:
        if isinstance(item, ast.ThreadDeclaration | ast.NodeDeclaration) and item.name.text == name:
            what = "thread" if isinstance(item, ast.ThreadDeclaration) else "node"
            threads = (each for each in tree.items if isinstance(each, ast.ThreadDeclaration) and each.on_own)
            own = next((each.name.text for each in threads if each.node.text == name), None)
            hint = f"; there are as many as threads {quote(own)}" if own is not None and what == "node" else ""
            return f"{quote(name)} is a {what}: a number is given to constants and to crowds of threads, `[*]`{hint}"
    hint = did_you_mean(name, found) or _list(found)
    return f"the program has no constant {quote(name)} to define{f'; {hint}' if hint else ''}"


def _read(define: Sequence[str]) -> dict[str, str]:
    values: dict[str, str] = {}
    for each in define:
        name, sign, value = (part.strip() for part in each.partition("="))
        if not sign or not (_NAME.fullmatch(name) or name in _SETTINGS):
            raise UsageError(f"{quote(each)} defines no constant: write `NAME=VALUE`, for example `N=3`")
        if is_range(value):
            raise UsageError(
                f"{quote(value)} for {quote(name)} is several values, and here one is taken: {quote('NAME=VALUE')}"
            )
        if not _is_expression(value):
            raise UsageError(
                f"the value {quote(value)} for {quote(name)} is no constant expression, such as `3` or `2 * M + 1`"
            )
        if name in values:
            raise UsageError(f"the constant {quote(name)} is defined twice")
        values[name] = value
    return values


def _is_expression(text: str) -> bool:
    if not _SIGNS.fullmatch(text) or "//" in text or "/*" in text:
        return False
    report = Reporter("", line := f"const it = {text}")
    tree, _, _ = parse_tree(line, report)
    return tree is not None and not report.failed and list(_places(tree)) == ["it"]


def _list(names: Mapping[str, _Place]) -> str:
    shown = [quote(name) for name in names]
    return f"it has {listing(shown, 'and')}" if 0 < len(shown) <= 5 else "" if shown else "it has none"
