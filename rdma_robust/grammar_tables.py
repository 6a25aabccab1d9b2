"""The grammars of `grammars/` as lark parsers, from LALR tables that lie beside them.

Building the tables of `rdma.lark` takes longer than deciding a small program, so `make promote` stores them as text. They
count only for the very grammar and the version of lark that they were made by; otherwise they are built anew. Every command
that reads a program waits for this module, so it imports little.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from io import BytesIO
from pickle import loads
from pkgutil import get_data
from typing import Any, Final, Literal

import lark
from lark import Lark, Token
from lark.lark import PostLex

Name = Literal["rdma", "target", "mp", "acsl", "spec"]


@dataclass(frozen=True)
class _Description:
    """The files that are read one after the other, terminals to keep although no rule uses them, and lark's options."""

    files: tuple[str, ...]
    kept: tuple[str, ...] = ()
    options: dict[str, Any] = field(default_factory=dict)


_WHOLE_TREE: Final = {"keep_all_tokens": True, "maybe_placeholders": True}
_PROGRAMS: Final = {**_WHOLE_TREE, "start": "program", "lexer": "basic"}
_LAID_OUT: Final = ("COMMENT", "UNCLOSED", "INVALID")
_GRAMMARS: Final[dict[Name, _Description]] = {
    "rdma": _Description(("common.lark", "rdma.lark"), _LAID_OUT, _PROGRAMS),
    "target": _Description(("common.lark", "rdma.lark", "target.lark"), (), {**_WHOLE_TREE, "start": "target"}),
    "mp": _Description(("common.lark", "mp.lark"), (*_LAID_OUT, "BACKSLASHED"), _PROGRAMS),
    "acsl": _Description(
        ("common.lark", "mp.lark", "acsl.lark"),
        (*_LAID_OUT, "BACKSLASHED", "NEWLINE"),
        {**_PROGRAMS, "start": "acsl"},
    ),
    "spec": _Description(
        ("spec.lark",),
        (),
        {
            "start": ["program", "vars", "rule", "init", "target", "invariants"],
            "maybe_placeholders": False,
            "lexer": "basic",
        },
    ),
}
NAMES: Final = tuple(_GRAMMARS)


@dataclass(frozen=True)
class _KeepTerminals(PostLex):
    """Makes lark keep the terminals that no rule uses; who lays out the tokens removes theirs."""

    always_accept: tuple[str, ...]

    def process(self, stream: Iterator[Token]) -> Iterator[Token]:
        return stream


def parser(name: Name, transformer: lark.Transformer[Token, Any] | None = None) -> Lark:
    """Return the parser of a grammar, which hands what it reads to `transformer`.

    The grammars are package data, so nothing is raised for an installed package.
    """
    stored = _stored(name)
    if stored is None:
        return build(name, transformer)
    description = _GRAMMARS[name]
    data: dict[str, Any] = stored["data"]
    options = {**data["options"], "transformer": transformer, "postlex": _KeepTerminals(description.kept)}
    found: Lark = Lark.load({"data": {**data, "options": options}, "memo": stored["memo"]})
    return found


def are_stored(name: Name) -> bool:
    """Whether the tables that lie beside a grammar are made of it, by this version of lark."""
    return _stored(name) is not None


def tables(name: Name) -> str:
    """Return a text for the file with the tables of a grammar; the numbers in it differ from run to run."""
    stream = BytesIO()
    build(name).save(stream, exclude_options=("transformer", "postlex"))
    return json.dumps({"made_of": _made_of(name), **loads(stream.getvalue())}, separators=(",", ":")) + "\n"


def build(name: Name, transformer: lark.Transformer[Token, Any] | None = None) -> Lark:
    """Return the parser of a grammar, made from its text alone."""
    description = _GRAMMARS[name]
    postlex = _KeepTerminals(description.kept)
    return Lark(_source(name), parser="lalr", postlex=postlex, transformer=transformer, **description.options)


def _stored(name: Name) -> dict[str, Any] | None:
    """Return what is stored of a grammar, None if that is nothing or something else."""
    try:
        stored: dict[str, Any] = json.loads(_read(f"{name}.tables.json"))
    except FileNotFoundError:
        return None
    if stored["made_of"] != _made_of(name):
        return None
    table = stored["data"]["parser"]["parser"]
    table["tokens"] = _numbered(table["tokens"])
    table["states"] = {state: _numbered(row) for state, row in _numbered(table["states"]).items()}
    return {**stored, "memo": _numbered(stored["memo"])}


def _made_of(name: Name) -> str:
    """Return what tables depend on: lark, the options and the grammar."""
    return f"lark {lark.__version__}, {_GRAMMARS[name].kept}, {_GRAMMARS[name].options}\n{_source(name)}"


def _source(name: Name) -> str:
    return "".join(_read(each) for each in _GRAMMARS[name].files)


def _read(name: str) -> str:
    """Return a file of package data. Raises FileNotFoundError."""
    return (get_data("rdma_robust.grammars", name) or b"").decode()


def _numbered(members: dict[str, Any]) -> dict[int, Any]:
    """Return an object of JSON whose keys were numbers with numbers as keys again."""
    return {int(key): value for key, value in members.items()}
