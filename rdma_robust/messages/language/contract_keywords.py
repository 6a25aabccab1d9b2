"""Words of contracts that are keywords only where nothing else can stand."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

CLAUSES: Final = frozenset({"ASSIGNS", "ASSUMES", "BEHAVIOR", "BOUNDS", "ENSURES", "QUIET", "REQUIRES", "WAITSFOR"}) | {
    "COMPLETE",
    "DECREASES",
    "DISJOINT",
    "INVARIANT",
}
"""What begins a clause."""

_KINDS: Final = frozenset({"COLLECTIVE", "LOCAL"})
_OF_QUIET: Final = frozenset({"ON", "TAG", "UNTIL"})
CONTRACT_WORDS: Final = CLAUSES | _KINDS | {"BEHAVIORS", "CONTRACT", "LEN", "UNTIL", "VERIFIED"}
"""The terminals of words that are keywords in contracts only, or in what is expected of them."""

_RANGED: Final = frozenset(f"SL_{word}" for word in ("FORALL", "EXISTS", "SUM", "COUNT", "MAX", "MIN"))
_TYPED: Final = frozenset((word, "NAME") for word in _RANGED)
_WHOLE: Final = frozenset({"NAME", "NUMBER", "RPAR", "RSQB", "PID", "NPROCS"}) | {
    "SL_ALL",
    "SL_OTHERS",
    "SL_NAMELESS",
    "SL_RESULT",
    "SL_I",
    "SL_J",
    "SL_MPI_COMM_RANK",
    "SL_MPI_COMM_SIZE",
}
"""What an expression or a set ends with."""


class ContractWords:
    """One pass over the tokens of a contract, from its first word on."""

    def __init__(self) -> None:
        self._clause = ""
        """The word that began the clause; nothing where one can begin."""
        self._inside = False
        self._before = ("", "", "")

    def note(self, kind: str) -> bool:
        """Note what a token is; return whether the contract goes on behind it."""
        quantified = self._before[2] == "NAME" and (self._before[1] in _RANGED or self._before[:2] in _TYPED)
        self._before = (*self._before[1:], kind)
        if kind == "LBRACE":
            again, self._inside, self._clause = self._inside, True, ""
            return not again
        if kind in CLAUSES and not self._clause:
            self._clause = kind
        elif (kind == "SEMICOLON" and not quantified) or (kind == "COLON" and self._clause == "BEHAVIOR"):
            self._clause = ""
        elif not self._clause:
            self._clause = kind
        return kind != "RBRACE"

    def is_keyword(self, kind: str, before: Sequence[str]) -> bool:
        """Return whether a word is a keyword behind these tokens, line ends left out."""
        previous = before[-1]
        if not self._inside:
            return kind in _KINDS and previous == "CONTRACT"
        if kind in CLAUSES:
            return not self._clause
        if kind == "BEHAVIORS":
            return self._clause == previous and previous in {"COMPLETE", "DISJOINT"}
        if kind in {"TO", "FROM"}:
            return self._clause == previous == "QUIET"
        if kind in _OF_QUIET:
            return self._clause == "QUIET" and previous in _WHOLE
        if kind == "LEN":
            return self._clause == "BOUNDS" and previous in _WHOLE
        if kind == "IN":
            return (self._clause == "BOUNDS" or before[-2] in _RANGED) and previous in _WHOLE
        return False
