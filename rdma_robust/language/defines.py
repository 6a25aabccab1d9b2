"""Constants of a program with other values: `-D NAME=VALUE`.

The value takes the place of the one in the text before anything else reads it, so that all that is said about the program,
and all that is kept of it, is about the program with that value. No line moves.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Final

from rdma_robust.diagnose import Reporter, did_you_mean, listing, quote
from rdma_robust.errors import UsageError
from rdma_robust.language.load import is_trencher
from rdma_robust.language.syntax import ast
from rdma_robust.language.syntax.parse import parse
from rdma_robust.language.value_ranges import is_range

_NAME: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_SIGNS: Final = re.compile(r"[\w \t+\-*/%=!<>&|()]+", re.ASCII)


def definitions(values: Mapping[str, int | str] | None) -> tuple[str, ...]:
    """Return definitions as the command line has them, `NAME=VALUE`."""
    return tuple(f"{name}={value}" for name, value in (values or {}).items())


def defined(text: str, define: Sequence[str]) -> str:
    """Return the text of a program in which each constant that `define` names, as `NAME=VALUE`, has this value.

    Raises UsageError for what defines nothing, and for a constant that the program does not have.
    """
    values = _read(define)
    if not values:
        return text
    if is_trencher(text, ""):
        raise UsageError(f"{quote(next(iter(values)))} is no constant: programs of Trencher have none")
    report = Reporter("", text)
    tree, _, _ = parse(text, report)
    if tree is None:
        return text  # whoever reads it says what is wrong
    found = _constants(tree)
    for name in values:
        if name not in found and not report.failed:
            hint = did_you_mean(name, found) or _list(found)
            raise UsageError(f"the program has no constant {quote(name)} to define{f'; {hint}' if hint else ''}")
    return _with(text, {name: (found[name], value) for name, value in values.items() if name in found})


def undefined(text: str, original: str, define: Sequence[str]) -> str:
    """Return `text`, made from what :func:`defined` made of `original`, with the values that `original` has."""
    names = set(_read(define))
    trees = [parse(each, Reporter("", each))[0] for each in (original, text)]
    if not names or trees[0] is None or trees[1] is None:
        return text
    before, now = (_constants(tree) for tree in trees if tree is not None)
    written = {name: original[value.span.start : value.span.end] for name, value in before.items()}
    return _with(text, {name: (now[name], written[name]) for name in names if name in now and name in written})


def _with(text: str, values: Mapping[str, tuple[ast.Expr, str]]) -> str:
    for old, value in sorted(values.values(), key=lambda each: -each[0].span.start):
        text = text[: old.span.start] + value + text[old.span.end :]
    return text


def _constants(tree: ast.Program) -> dict[str, ast.Expr]:
    """Return the constants that a program declares, with their values as written."""
    found: dict[str, ast.Expr] = {}
    for item in tree.items:
        if isinstance(item, ast.Constants):
            for binding in item.bindings:
                if binding.value is not None:
                    found.setdefault(binding.name.text, binding.value)
    return found


def _read(define: Sequence[str]) -> dict[str, str]:
    values: dict[str, str] = {}
    for each in define:
        name, sign, value = (part.strip() for part in each.partition("="))
        if not sign or not _NAME.fullmatch(name):
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
    tree, _, _ = parse(line, report)
    return tree is not None and not report.failed and list(_constants(tree)) == ["it"]


def _list(names: Mapping[str, ast.Expr]) -> str:
    shown = [quote(name) for name in names]
    return f"it has {listing(shown, 'and')}" if 0 < len(shown) <= 5 else "" if shown else "it has none"
