"""The LALR tables of `grammars/rdma.lark`, made once per process."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib import resources
from typing import Any

from lark import Lark, Token
from lark.lark import PostLex

from rdma_robust.language.syntax.tree import TreeBuilder

ERROR = "ERROR"
END = "$END"


@dataclass(frozen=True, slots=True)
class Shift:
    state: int


@dataclass(frozen=True, slots=True)
class Reduce:
    """Replace `size` symbols by `callback` of their values, and go on from the state below with `rule`.

    Without a callback the one value stays as it is; most reductions are such steps between levels of expressions.
    """

    size: int
    rule: str
    callback: Callable[[list[Any]], Any] | None


@dataclass(frozen=True, slots=True)
class Grammar:
    """What the parser needs: what to do at a terminal, and the state after a rule was reduced, each by state.

    `literals` are the texts of the terminals that have just one; `keywords` are those of them that are words.
    """

    actions: dict[int, dict[str, Shift | Reduce]]
    gotos: dict[int, dict[str, int]]
    start: int
    end: int
    literals: dict[str, str]
    keywords: dict[str, str]
    lex: Callable[[str], Iterator[Token]]


class _KeepTerminals(PostLex):
    """Makes lark keep the terminals that no rule uses; layout.py removes their tokens."""

    always_accept = ("COMMENT", "UNCLOSED", "INVALID")

    def process(self, stream: Iterator[Token]) -> Iterator[Token]:
        return stream


def _reduction(rule: Any, callback: Callable[[list[Any]], Any]) -> Reduce:
    size = len(rule.expansion)
    passes_on = size == 1 and rule.options.expand1 and rule.alias is None
    return Reduce(size, str(rule.origin.name), None if passes_on else callback)


@functools.cache
def load_grammar() -> Grammar:
    """Return the tables. The grammar is package data, so nothing is raised for an installed package."""
    source = (resources.files("rdma_robust.grammars") / "rdma.lark").read_text(encoding="utf-8")
    lark = Lark(
        source,
        parser="lalr",
        lexer="basic",
        start="program",
        keep_all_tokens=True,
        maybe_placeholders=True,
        postlex=_KeepTerminals(),
        transformer=TreeBuilder(),
    )
    conf = lark.parse_interactive().parser_state.parse_conf
    actions: dict[int, dict[str, Shift | Reduce]] = {}
    gotos: dict[int, dict[str, int]] = {}
    reductions: dict[Any, Reduce] = {}
    for state, row in conf.states.items():
        actions[state], gotos[state] = {}, {}
        for symbol, (action, target) in row.items():
            if action.name == "Reduce":
                if target not in reductions:
                    reductions[target] = _reduction(target, conf.callbacks[target])
                actions[state][str(symbol)] = reductions[target]
            elif symbol == END or symbol.isupper():
                actions[state][str(symbol)] = Shift(target)
            else:
                gotos[state][str(symbol)] = target
    literals = {t.name: t.pattern.value for t in lark.terminals if t.pattern.type == "str"}
    keywords = {name: text for name, text in literals.items() if text.isalpha()}
    return Grammar(actions, gotos, conf.start_state, conf.end_state, literals, keywords, lark.lex)
