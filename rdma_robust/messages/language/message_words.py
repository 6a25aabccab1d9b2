"""Words of `.mp` that are keywords only where nothing else can stand; what syntax errors say; limits on trees.

More than 400 lines: the words, and what is said of each of them.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator, Sequence
from typing import Final

from lark import Token

from rdma_robust.diagnose import Reporter
from rdma_robust.language.syntax import ast
from rdma_robust.language.syntax.grammar import Grammar, grammar_of
from rdma_robust.language.syntax.syntax_words import SyntaxWords
from rdma_robust.language.syntax.tree_limits import shallow
from rdma_robust.messages.language.contract_tree import ContractText
from rdma_robust.messages.language.message_builder import MessageBuilder
from rdma_robust.messages.language.message_parts import inner_operands, operands_in

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
_OPERAND_ENDS: Final = frozenset({"NAME", "NUMBER", "RPAR", "RSQB", "PID", "NPROCS"}) | {
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
            return self._clause == "QUIET" and previous in _OPERAND_ENDS
        if kind == "LEN":
            return self._clause == "BOUNDS" and previous in _OPERAND_ENDS
        if kind == "IN":
            return (self._clause == "BOUNDS" or before[-2] in _RANGED) and previous in _OPERAND_ENDS
        return False


_CLAIMS: Final = frozenset(
    {"HOLDS", "VIOLATED", "DEADLOCK", "NO", "RACE", "MATCHINGS", "ZERO", "INFINITE", "EAGER", "UNDER"}
)
_TAKING: Final = frozenset({"MPROBE", "IMPROBE"})
_PROBES: Final = frozenset({"PROBE", "IPROBE"}) | _TAKING
_TAKEN: Final = frozenset({"MRECV", "IMRECV"})
_COLLECTIVES: Final = frozenset({"COLLECTIVE", "ICOLLECTIVE"})
_SAID_OF_COLLECTIVES: Final = ("ROOT", "OP", "SIG", "GIVE", "GET")
_LED_BY: Final = {
    "TO": frozenset({"SEND", "ISEND"}),
    **dict.fromkeys(_SAID_OF_COLLECTIVES, _COLLECTIVES),
    "FROM": frozenset({"RECV", "IRECV"}) | _PROBES,
    "ON": frozenset({"SEND", "ISEND", "RECV", "IRECV"}) | _PROBES | _COLLECTIVES,
    "TAG": frozenset({"SEND", "ISEND", "RECV", "IRECV"}) | _PROBES,
    "OF": _TAKEN,
}
_MESSAGES: Final = _LED_BY["ON"] | _TAKEN | {"TEST"}
_PICKING: Final = frozenset({"ANY", "SOME", "ALL"})
_OF_CONTRACTS: Final = frozenset({"CONTRACT", "VERIFIED", "FROM"})
_MODES: Final = frozenset({"SYNC", "BUFFERED", "READY"})
_LOOKS: Final = _PROBES | _TAKEN | {"INTO", "TEST", "SOME", "ALL"}
_AGREED: Final = {
    "OF": frozenset({"SEND", "ISEND", "RECV", "IRECV"}),
    "SIZE": frozenset({"SEND", "ISEND"}),
    "ROOM": frozenset({"RECV", "IRECV"}),
}
WORDS: Final = (
    _AGREED.keys()
    | {"TYPE"}
    | _CLAIMS
    | _LED_BY.keys()
    | CONTRACT_WORDS
    | _MODES
    | _LOOKS
    | {"ABORT", "ANY", "DAEMON", "GROUP", "ICOLLECTIVE", "IN", "PORT"}
)
"""The terminals of words that are keywords in places only."""

_WHOLE: Final = frozenset({"NAME", "NUMBER", "RPAR", "RSQB", "PID", "NPROCS", "ANY"})
"""What an expression, or a part of a pattern, ends with."""

_SENT: Final = frozenset({"NAME", "NUMBER", "LPAR", "OP_NOT", "PID", "NPROCS"}) | WORDS
"""What is sent begins with one of them, or with a minus, which may also stand behind a register."""

_STARTS: Final = frozenset({"", "NEWLINE", "SEMICOLON", "LBRACE", "RBRACE"})
_OUTSIDE: Final = frozenset({"EXPECT", "FUN", "PROC"})
"""Where a line begins so, all braces before it were to be closed."""

_COUNTED: Final = {"LPAR": 1, "LSQB": 1, "RPAR": -1, "RSQB": -1}


def message_tokens(tokens: Sequence[Token]) -> Iterator[Token]:
    """Yield the tokens of a file, comments left out, with names for the words that are none of the language's there.

    - words of claims, `under` and buffers are in an `expect` line;
    - `to`, `from`, `on` and `tag` follow something whole in the statements that have them;
    - `of type`, `size` and `room` follow something whole in sends and receives, and something follows them;
    - the mode of a send follows `send` or `isend`, and what is sent begins behind it;
    - `probe` and `iprobe` begin a line that goes on with such words, and `into` is in that of an `iprobe`;
    - `mprobe`, `improbe` and `mrecv` begin a line that goes on with a name, which stands behind `imrecv` too, and `of` is in
      that of the last two;
    - `any` follows such a `from` or `tag` of a receive, or is in an `expect` line;
    - `test` begins a line that goes on with a name; `any`, `some` and `all` follow it, or the first two `wait`, if a name
      follows; `into` is in the rest of that line;
    - `collective` begins a line that goes on with a name, as it stands behind `icollective`; `root`, `op`, `sig`, `give` and
      `get` are in such lines, behind something whole; `group` begins a line outside of braces, with a word behind it;
    - `abort` begins a line that goes on with an expression, but in parentheses: that is a call;
    - `in` is the second word after `for`, or behind the bracket after `proc NAME`;
    - `daemon` stands before `proc`, and `port` begins a line outside of braces, with a word behind it;
    - `contract` follows the parentheses of a function, or the head of a loop;
    - words of contracts are in one, or in an `expect` line.

    Line ends around contracts and in them are left out.
    """
    yield from _Reader(tokens).read()


class _Reader:
    """One pass over the tokens; what stands around a token is noted as the pass comes by."""

    def __init__(self, tokens: Sequence[Token]) -> None:
        self._tokens = tokens
        self._before = ("", "", "", "")
        """The last tokens that were no line ends."""
        self._previous = ""
        self._line = ""
        """`EXPECT`, or the word of a message, if such a line was begun."""
        self._tagged = False
        """Whether the message had its `tag`, which is the last part."""
        self._brackets = 0
        self._depth = 0
        self._contract: ContractWords | None = None
        self._looping = False
        """Whether the head of a `while` or `for` is read."""

    def read(self) -> Iterator[Token]:
        for at, token in enumerate(self._tokens):
            kind = token.type
            if kind in WORDS and not self._is_keyword(kind, at):
                token, kind = token.update(type="NAME"), "NAME"
            if kind == "NEWLINE" and (self._contract is not None or self._is_followed_by_contract(at)):
                continue
            self._note(kind)
            yield token
            self._previous = kind
            if kind != "NEWLINE":
                self._before = (*self._before[1:], kind)

    def _is_followed_by_contract(self, at: int) -> bool:
        """Whether a contract begins behind a line end."""
        if not self._may_have_contract():
            return False
        after = next((token for token in self._tokens[at:] if token.type != "NEWLINE"), None)
        return after is not None and after.type == "CONTRACT"

    def _may_have_contract(self) -> bool:
        """Whether the head of a function or loop is over."""
        if self._depth:
            return self._looping and not self._brackets and self._before[-1] in _WHOLE
        return self._before[-1] == "RPAR"

    def _note(self, kind: str) -> None:
        if kind in _OUTSIDE and self._previous in _STARTS:
            self._depth = 0
        if kind == "CONTRACT" and self._line != "EXPECT":
            self._contract = ContractWords()
        elif self._contract is not None and not self._contract.note(kind):
            self._contract = None
        if kind in {"WHILE", "FOR"}:
            self._looping, self._brackets = True, 0
        elif kind in {"LBRACE", "SEMICOLON"}:
            self._looping = False
        if kind in _COUNTED:
            self._brackets = max(0, self._brackets + _COUNTED[kind])
        elif kind in _PICKING and self._previous == "WAIT":
            self._line, self._brackets = "TEST", 0
        elif kind in _MESSAGES or (kind == "EXPECT" and not self._depth):
            self._line, self._brackets, self._tagged = kind, 0, False
        elif kind == "TAG":
            self._tagged = True
        elif kind in {"SEMICOLON", "LBRACE", "RBRACE"}:
            self._line, self._brackets = "", 0
            self._depth = max(0, self._depth + (kind == "LBRACE") - (kind == "RBRACE"))
        elif kind == "NEWLINE" and not self._goes_on():
            self._line = ""

    def _goes_on(self) -> bool:
        """Whether what stands before a line end does not end there."""
        return self._brackets > 0 or self._before[-1] == "COMMA" or self._before[-1].startswith("OP_")

    def _is_keyword(self, kind: str, at: int) -> bool:
        after = self._tokens[at + 1] if at + 1 < len(self._tokens) else None
        if self._contract is not None:
            return self._contract.is_keyword(kind, self._before)
        if self._line == "EXPECT" and kind in _CLAIMS | _OF_CONTRACTS:
            return self._previous != "CONTRACT"
        if kind in _AGREED and self._line in _AGREED[kind]:
            follows = after is not None and (after.type == "TYPE" if kind == "OF" else after.type in _SENT | {"OP_MINUS"})
            return self._previous in _WHOLE and follows
        if kind in _LED_BY:
            return self._line in _LED_BY[kind] and self._previous in _WHOLE | _PROBES and not self._tagged
        match kind:
            case "CONTRACT":
                return self._may_have_contract()
            case "PROBE" | "IPROBE":
                ends = after is None or after.type in {*_STARTS, "FROM", "ON", "TAG", "INTO"}
                return bool(self._depth) and self._previous in _STARTS and ends
            case "INTO":
                return self._line in {"IPROBE", "IMPROBE", "TEST"} and self._previous in _WHOLE | _PROBES
            case "SOME" | "ALL":
                return self._is_picking(kind, after)
            case "TYPE":
                return self._previous == "OF" and self._line in _AGREED["OF"]
            case "TEST":
                return bool(self._depth) and self._previous in _STARTS and after is not None and after.isidentifier()
            case "ABORT":
                follows = after is not None and after.type in (_SENT - {"LPAR"}) | {"OP_MINUS"}
                return bool(self._depth) and self._previous in _STARTS and follows
            case "MPROBE" | "IMPROBE" | "MRECV" | "IMRECV":
                begins = self._previous == "EQUAL" if kind == "IMRECV" else self._previous in _STARTS
                return bool(self._depth) and begins and after is not None and after.isidentifier()
            case "SYNC" | "BUFFERED" | "READY":
                return self._previous in _LED_BY["TO"] and after is not None and after.type in _SENT - {"TO"}
            case "ANY":
                asked = self._line in _LED_BY["FROM"] and self._previous in {"FROM", "TAG"}
                return self._line == "EXPECT" or asked or self._is_picking(kind, after)
            case "IN":
                declared = self._before == ("PROC", "NAME", "LSQB", "NAME")
                return declared or self._before[-2:] == ("FOR", "NAME")
            case "DAEMON":
                return self._previous in _STARTS and after is not None and after.type == "PROC"
            case "COLLECTIVE" | "ICOLLECTIVE":
                begins = self._previous == "EQUAL" if kind == "ICOLLECTIVE" else self._previous in _STARTS
                return bool(self._depth) and begins and after is not None and after.isidentifier()
            case "PORT" | "GROUP":
                word = after is not None and after.isidentifier()
                return not self._depth and self._previous in _STARTS and word
            case _:
                return False

    def _is_picking(self, kind: str, after: Token | None) -> bool:
        """Whether a word says how many of the requests behind it are to complete."""
        begins = self._previous == "TEST" or (self._previous == "WAIT" and kind != "ALL")
        return begins and after is not None and after.isidentifier()


PATH_FORMS: Final = (
    r"the long forms are `ensures \no \exit(PID) \after \enter(PID) \until \enter(S)`, "
    r"`ensures \no \send(PID, S) \after \enter(PID) \until \enter(S)` and "
    r"`requires \no \send(S, PID) \after \exit(S) \until \exit(PID)`, each with or without a tag in `\send`"
)
_IN_CONTRACT: Final = "a contract stands before the block of a function: `fun f(x) contract collective { ... } { ... }`"
_IN_LOOP: Final = "a contract of a loop stands before its block: `for i in 0..9 contract loop NAME { ... } { ... }`"

_SYNTAX: Final = SyntaxWords(
    declarations=frozenset({"PROGRAM", "CONST", "PORT", "GROUP", "FUN", "PROC", "DAEMON", "EXPECT"}),
    declaring="PROC",
    statements=frozenset(
        {
            "REG",
            "REQ",
            "SEND",
            "RECV",
            "PROBE",
            "IPROBE",
            "MPROBE",
            "IMPROBE",
            "MRECV",
            "WAIT",
            "TEST",
            "ABORT",
            "COLLECTIVE",
            "ASSUME",
            "AWAIT",
            "ASSERT",
            "HALT",
            "SKIP",
            "RETURN",
            "IF",
        }
    )
    | {"WHILE", "FOR", "LOOP", "CHOOSE", "NAME"},
    operands=frozenset({"NAME", "NUMBER", "LPAR", "OP_MINUS", "OP_NOT", "PID", "NPROCS"}),
    besides=frozenset(),
    inside=_CLAIMS
    | CONTRACT_WORDS
    | _LED_BY.keys()
    | {"ANY", "IN", "PID", "NPROCS", "ISEND", "IRECV"}
    | {"IMRECV", "INTO", "SOME", "ALL", "ICOLLECTIVE"},
    outside="statements stand inside of a process, `proc NAME { }`, or a function, `fun NAME() { }`",
    called="a call stands alone: `r = f(x)`, or `f(x)` on a line of its own",
    other_languages={
        "break": "loops end when their condition is false",
        "continue": "loops end when their condition is false",
        "do": "use `while` or `loop`",
        "for": "`for i in 0..3 { }` runs its block once for each number; else use `while` or `loop`",
        "int": "registers are declared by `reg`",
        "let": "registers are declared by `reg`",
        "var": "registers are declared by `reg`",
        "request": "requests are declared by `req`",
        "process": "a process is declared as `proc NAME { }`",
        "thread": "a process is declared as `proc NAME { }`",
        "node": "there is no shared memory; a process is declared as `proc NAME { }`",
        "domain": "values are integers without bounds",
        "channel": "ports are declared by `port NAME`, and `on NAME` uses one",
        "macro": "a function is declared as `fun NAME(PARAMETERS) { }`",
        "function": "a function is declared as `fun NAME(PARAMETERS) { }`",
        "def": "a function is declared as `fun NAME(PARAMETERS) { }`",
        "nop": "`skip` does nothing",
        "true": "true is `1`",
        "false": "false is `0`",
        "and": "write `&&`",
        "receive": "`recv r from P` waits for a message, `h = irecv r from P` posts a receive",
        "isend": "it has a request: `h = isend VALUE to PROCESS`",
        "irecv": "it has a request: `h = irecv REGISTER from PROCESS`",
        "on": "`on PORT` stands before `tag`",
        "from": "`from` stands right behind what is received",
        "to": "`to` stands right behind what is sent",
        "test": "it has a flag: `test h into REGISTER`; `test any h, g into FLAG, REGISTER` says which is complete",
        "abort": "it has an error: `abort 1`",
        "collective": "it has a name: `collective barrier`, `collective reduce root 0 give v get r`",
        "icollective": "it has a request: `h = icollective barrier`",
        "probe": "it stands alone: `probe from P on PORT tag T`, whose parts may all be left out",
        "iprobe": "it has a flag: `iprobe from P on PORT tag T into REGISTER`",
        "mprobe": "it has a request, which holds the message: `mprobe m from P on PORT tag T`",
        "improbe": "it has a request and a flag: `improbe m from P on PORT tag T into REGISTER`",
        "mrecv": "it names the request that holds the message: `mrecv REGISTER of m`",
        "imrecv": "it has two requests, its own and the one that holds the message: `h = imrecv REGISTER of m`",
        "requires": _IN_CONTRACT,
        "ensures": _IN_CONTRACT,
        "assigns": _IN_CONTRACT,
        "behavior": _IN_CONTRACT,
        "waitsfor": _IN_CONTRACT,
        "quiet": _IN_CONTRACT,
        "bounds": _IN_CONTRACT,
        "contract": _IN_CONTRACT,
        "invariant": _IN_LOOP,
        "decreases": _IN_LOOP,
        "\\no": PATH_FORMS,
        "?": "use `if` and `else`",
    },
    characters={"\\": "keywords with a backslash, such as `\\result`, stand in contracts"},
    clauses=CLAUSES,
    behind={
        ("wait", "any"): "it says which it was: `wait any h, g into REGISTER`",
        ("wait", "some"): "it says how many and which they were: `wait some h, g into REGISTER, ARRAY`",
    },
    one_word={
        "int": "reg",
        "let": "reg",
        "var": "reg",
        "request": "req",
        "process": "proc",
        "function": "fun",
        "def": "fun",
        "nop": "skip",
        "true": "1",
        "false": "0",
        "and": "&&",
    },
)


def _within_limits(program: ast.ProgramTree, report: Reporter) -> bool:
    return shallow(operands_in(program, report), inner_operands, report, ContractText)


@functools.cache
def message_grammar() -> Grammar:
    """Return the grammar of `.mp`."""
    return grammar_of("mp", MessageBuilder(), message_tokens, _SYNTAX, _within_limits)
