"""Words that are keywords only where nothing else can stand, so that programs which use them as names keep their meaning.

The lexer takes them for keywords everywhere; here they become names again wherever they are none. A word that the language
gets later belongs here, with the place where it is a keyword: one at which no name could stand before.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Final

from lark import Token

_MODELS: Final = frozenset({"TSO", "PSO", "RMA"})
_CALLED: Final = frozenset({"FAA", "FETCH", "SWAP", "NONDET"})
_EXPECTED: Final = frozenset({"FREE", "HANG", "NO", "RACE", "SAFE", "UNSAFE", "VIOLATED"})
_BEFORE_A_WORD: Final = frozenset({"FOR", "MACRO", "FLUSH", "JOIN", "ORDER", "POSTED", "QP", "RECV", "START"})
_GIVEN: Final = frozenset({"RPOLL", "TRYPOLL"})
_FLAGS: Final = frozenset({"UNSIGNALED", "INLINE", "FENCED"})
_JOINING: Final = frozenset({"TO", "FROM", "IMM", "DEPTH"})
_BEFORE_A_NUMBER: Final = frozenset({"IMM", "DEPTH"})
_COPIES: Final = frozenset({"ALL", "COUNT", "SOME"})
_SINGLE: Final = frozenset(
    {"AT", "BARRIER", "ENDED", "HARDWARE", "IN", "INVARIANT", "MFENCE", "NEEDS", "RELAXED", "SEND", "SYNC", "VIA", "WHEN"}
)

_SAID_WITH: Final = {"RELAXED": "SYNC", "SYNC": "RELAXED"}
"""What is said of variables, and what may stand before it."""

WORDS: Final = _MODELS | _CALLED | _EXPECTED | _BEFORE_A_WORD | _GIVEN | _FLAGS | _JOINING | _COPIES | _SINGLE
"""The terminals of words that are keywords in places only."""

_ASKED: Final = WORDS | {"CAS"}
_NOTED: Final = frozenset(
    {"EXPECT", "SEMICOLON", "NEWLINE", "NODE", "LBRACE", "RBRACE", "LPAR", "RPAR", "PUT", "GET", "OUTCOME"}
)
_ATOMICS: Final = frozenset({"CAS", "FAA", "SWAP"})
_REQUESTS: Final = frozenset({"PUT", "GET", "SEND"}) | _ATOMICS
_LED_BY: Final = {
    "TO": frozenset({"SEND", "PUT", "QP"}),
    "FROM": frozenset({"POSTED", "RECV"}),
    "IMM": frozenset({"PUT"}),
    "DEPTH": frozenset({"QP"}),
}
_WHOLE: Final = frozenset({"NAME", "NUMBER", "RPAR", "RSQB"}) | _FLAGS
"""What an expression, or a flag, ends with."""

_CLAIMED: Final = frozenset({"ROBUST", "RACE", "FREE", "SC", "RDMA"}) | _MODELS
"""What an `expect` or `outcome` line ends with."""

_NAMED: Final = frozenset({"NAME", "RSQB"})
_DECLARED: Final = frozenset({"NODE", "THREAD"})

_STARTS: Final = frozenset({"", "NEWLINE", "SEMICOLON", "LBRACE", "RBRACE", "COLON"})
_ENDS: Final = frozenset({"", "NEWLINE", "SEMICOLON", "RBRACE"})
_GOES_ON: Final = frozenset({"COMMA", "LPAR", "LSQB", "DOT"})
_BEGINS_EXPRESSION: Final = frozenset({"NUMBER", "OP_NOT"})


def contextual_tokens(tokens: Sequence[Token]) -> Iterator[Token]:
    """Yield the tokens of a file, comments left out, with names for the words that are none of the language's there.

    - `for`, `macro`, `flush`, `join`, `order`, `posted`, `qp`, `recv` and `start` begin a line or follow a label, and a word
      follows;
    - `rpoll` does too, or it and `trypoll` follow the `=` of an assignment, and a word follows;
    - `send` begins a line, or follows a label, and an expression follows, and a word after that if it is in brackets;
    - `unsignaled`, `inline` and `fenced` follow an expression in such a statement or in a `put`, a `get`, or a `cas`,
      `faa` or `swap` that is a statement;
    - `to`, `from`, `imm` and `depth` do so in the statements that have them, and an expression follows;
    - `hardware` and `needs` begin a line outside of braces, and a word follows;
    - `in` is the second word after such a `for`, or what stands second in brackets behind a name that is declared;
    - `when` follows a model, `robust`, `race` or `free`, or what is whole in an `invariant` line;
    - `free`, `hang`, `no`, `race`, `safe`, `unsafe` and `violated` are in an `expect` line;
    - `tso`, `pso` and `rma` follow `under`;
    - `mfence` is a whole statement, and so is `barrier`, or a word follows it;
    - `relaxed` and `sync` begin the declaration of a variable of a node, and a word follows;
    - `via` follows the name of a node that is declared, or its range, and a word follows;
    - a bracket follows `faa`, `fetch`, `swap` and `nondet`;
    - `invariant` begins a line outside of braces, or one in which an expression follows it;
    - `at` and `ended` are in an `invariant` line and follow a name;
    - `some`, `all` and `count` are in an `invariant` or `outcome` line: a word and `:` follow, after `count` a bracket.

    A macro may have the name of what the language can be asked to do by a statement of that form: `cas`, `faa` or `swap`.
    Then such a statement is the macro. `fetch` and `nondet` are no statements, so there they always are macros.
    """
    yield from _Reader(tokens).read()


class _Reader:
    """One pass over the tokens; what stands around a token is noted as the pass comes by."""

    def __init__(self, tokens: Sequence[Token]) -> None:
        self._tokens = tokens
        self._hidden = {b.type for a, b in pairwise(tokens) if a.type == "MACRO"} | {"FETCH", "NONDET"}
        self._expecting = False
        self._invariant = False
        self._outcome = False
        self._in_node = False
        self._depth = 0
        self._brackets = 0
        self._previous = ""
        self._solid = ""
        """The last token that was no line end."""
        self._counter = -1
        """Where the name after a `for` stands."""
        self._before = ("", "", "", "")
        """The last tokens that were no line ends."""
        self._request = ""
        """The word that the statement began with, of those after which others are words of the language."""

    def read(self) -> Iterator[Token]:
        for at, token in enumerate(self._tokens):
            kind = token.type
            if kind in _ASKED:
                if not self._is_keyword(kind, at):
                    token, kind = token.update(type="NAME"), "NAME"
            elif kind in _NOTED:
                self._note(kind)
            if kind == "INVARIANT":
                self._invariant, self._brackets = True, 0
            elif kind in {"SEND", "POSTED", "QP", "RECV"} or (kind in _ATOMICS and self._begins()):
                self._request, self._brackets = kind, 0
            elif kind == "WHEN":
                self._expecting = self._invariant = self._outcome = False
            yield token
            self._previous = kind
            if kind != "NEWLINE":
                self._solid = kind
                self._before = (*self._before[1:], kind)

    def _note(self, kind: str) -> None:
        match kind:
            case "EXPECT":
                self._expecting = True
            case "PUT" | "GET":
                self._request, self._brackets = kind, 0
            case "OUTCOME":
                self._outcome, self._brackets = True, 0
            case "SEMICOLON":
                self._expecting = self._invariant = self._outcome = False
                self._request = ""
            case "NEWLINE":
                self._expecting = self._expecting and self._solid == "COMMA"
                goes_on = self._brackets > 0 or self._goes_on()
                self._invariant = self._invariant and goes_on
                self._outcome = self._outcome and goes_on
                self._request = self._request if goes_on else ""
            case "NODE":
                self._in_node = True
            case "LBRACE":
                self._depth += 1
                self._invariant = self._outcome = False
                self._request = ""
            case "RBRACE":
                self._depth = max(0, self._depth - 1)
                self._in_node = False
                self._request = ""
            case "LPAR":
                self._brackets += 1
            case "RPAR":
                self._brackets -= 1
            case _:
                pass

    def _goes_on(self) -> bool:
        """Whether what stands before a line end does not end there."""
        return self._solid in _GOES_ON or self._solid.startswith("OP_")

    def _begins(self) -> bool:
        """Whether a statement or declaration begins here."""
        return self._previous in _STARTS and not (self._previous == "NEWLINE" and self._goes_on())

    def _next(self, at: int) -> Token | None:
        return self._tokens[at + 1] if at + 1 < len(self._tokens) else None

    def _is_keyword(self, kind: str, at: int) -> bool:
        after = self._next(at)
        follows = "" if after is None else after.type
        if kind in _EXPECTED:
            return self._expecting
        if kind in _MODELS:
            return self._previous == "UNDER"
        if kind in _BEFORE_A_WORD:
            keyword = self._begins() and after is not None and after.isidentifier()
            self._counter = at + 1 if keyword and kind == "FOR" else self._counter
            return keyword
        if kind in _CALLED or kind == "CAS":
            return self._is_called(kind, follows)
        if kind in _COPIES:
            return (self._invariant or self._outcome) and self._asks_for_copies(kind, at)
        if kind in _FLAGS:
            return self._request in _REQUESTS and self._previous in _WHOLE
        word = after is not None and after.isidentifier()
        if kind in _JOINING:
            expression = word or (kind in _BEFORE_A_NUMBER and self._begins_operand(follows))
            return self._request in _LED_BY[kind] and self._previous in _WHOLE and expression
        if kind in _GIVEN:
            given = self._previous == "EQUAL" and not self._request
            return word and (given or (kind == "RPOLL" and self._previous in _STARTS))
        match kind:
            case "HARDWARE" | "NEEDS":
                return not self._depth and self._begins() and word
            case "RELAXED" | "SYNC":
                return self._in_node and self._previous in _STARTS | {"COMMA", _SAID_WITH[kind]} and word
            case "VIA":
                return self._in_node and not self._depth and self._previous in _NAMED and word
            case "SEND":
                return not self._in_node and self._begins() and (word or self._sends(at))
            case "IN":
                declared = self._before[0] in _DECLARED or self._request == "QP"
                begins = declared and self._before[2] == "LSQB"
                return self._counter == at - 1 or (begins and self._solid in {"NAME", "OP_TIMES"})
            case "WHEN":
                whole = self._previous in _WHOLE | {"ENDED"}
                return self._previous in _CLAIMED or (self._invariant and whole)
            case "MFENCE" | "BARRIER":
                whole = follows in _ENDS or (kind == "BARRIER" and word)
                return not self._in_node and self._begins() and whole
            case "INVARIANT":
                expression = follows in _BEGINS_EXPRESSION or (after is not None and after.isidentifier())
                return self._begins() and (expression or not self._depth)
            case "AT":
                return self._invariant and self._previous in _NAMED and after is not None and after.isidentifier()
            case _:
                return self._invariant and self._previous in _NAMED

    def _asks_for_copies(self, kind: str, at: int) -> bool:
        """Whether a word is followed by what stands behind it where it asks for copies."""
        after = self._next(at)
        if after is None or kind == "COUNT":
            return after is not None and after.type == "LPAR"
        colon = self._next(at + 1)
        return after.isidentifier() and colon is not None and colon.type == "COLON"

    @staticmethod
    def _begins_operand(follows: str) -> bool:
        return follows in _BEGINS_EXPRESSION or follows in {"LPAR", "OP_MINUS"}

    def _sends(self, at: int) -> bool:
        """Whether what follows is an expression, and no argument of a macro that is called `send`."""
        follows = self._tokens[at + 1].type if at + 1 < len(self._tokens) else ""
        if follows != "LPAR":
            return self._begins_operand(follows)
        depth = 0
        for k in range(at + 1, len(self._tokens)):
            kind = self._tokens[k].type
            depth += (kind == "LPAR") - (kind == "RPAR")
            if not depth:
                after = self._next(k)
                return after is not None and after.type not in _ENDS
        return False

    def _is_called(self, kind: str, follows: str) -> bool:
        if kind != "CAS" and follows != "LPAR":
            return False
        calls_macro = kind in self._hidden and follows == "LPAR" and self._begins()
        return not calls_macro and self._previous != "MACRO"
