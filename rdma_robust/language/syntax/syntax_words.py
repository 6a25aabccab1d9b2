"""Words of syntax errors in a language: which words begin what, and what words of other languages are here."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final


@dataclass(frozen=True, slots=True)
class SyntaxWords:
    """The terminals of a language, and what is said of it.

    `declarations` begin declarations, and the one `declaring` is among them alone; `statements` begin statements, `operands`
    expressions, and what `besides` has stands where an expression can. `inside` never begin a line, or are too short or too
    rare to be what was meant. `outside` is the hint for statements outside of what they belong in, and `called` that for a
    call where none can stand.
    """

    declarations: frozenset[str]
    declaring: str
    statements: frozenset[str]
    operands: frozenset[str]
    besides: frozenset[str]
    inside: frozenset[str]
    outside: str
    called: str
    other_languages: Mapping[str, str]
    one_word: Mapping[str, str]
    """Those of the words of other languages for which one word stands here."""
    characters: Mapping[str, str] = field(default_factory=dict)
    """Hints for characters that have a meaning in no language."""
    behind: Mapping[tuple[str, str], str] = field(default_factory=dict)
    """Hints for what cannot stand behind two words."""
    clauses: frozenset[str] = frozenset()
    """The terminals that begin clauses of contracts, each ended by `;`."""


RDMA_WORDS: Final = SyntaxWords(
    declarations=frozenset(
        {
            "PROGRAM",
            "ALLOW",
            "HARDWARE",
            "CONST",
            "DOMAIN",
            "NODE",
            "THREAD",
            "MACRO",
            "OUTCOME",
            "INVARIANT",
            "EXPECT",
            "NEEDS",
        }
    ),
    declaring="THREAD",
    statements=frozenset({"REG", "PUT", "GET", "POLL", "RFENCE", "ASSUME", "AWAIT", "ASSERT", "HALT", "SKIP", "IF", "WHILE"})
    | {"LOOP", "CHOOSE", "FOR", "NAME", "CAS", "FAA", "SWAP", "FLUSH", "MFENCE", "ORDER", "POSTED", "RECV", "RPOLL", "SEND"}
    | {"BARRIER"},
    operands=frozenset({"NAME", "NUMBER", "LPAR", "OP_MINUS", "OP_NOT", "CAS", "FAA", "FETCH", "SWAP", "NONDET"}),
    besides=frozenset({"POLL", "RPOLL", "TRYPOLL", "ALL", "COUNT", "SOME"}),
    inside=frozenset({"AT", "ENDED", "FREE", "RACE", "SAFE", "UNSAFE", "VIOLATED", "TSO", "PSO", "RMA", "NONDET", "FETCH"})
    | {
        "ALL",
        "COUNT",
        "SOME",
        "FENCED",
        "FROM",
        "IMM",
        "INLINE",
        "TO",
        "TRYPOLL",
        "UNSIGNALED",
    },
    outside="statements stand inside a thread, `thread NAME on NODE { }`",
    called="only `cas`, `faa`, `swap` and `nondet` have a value; a macro can be given a register to put one into",
    other_languages={
        "return": "`halt` ends a thread",
        "break": "loops end when their condition is false",
        "continue": "loops end when their condition is false",
        "for": "`for i in 0..3 { }` has a copy of its block for each number; else use `while` or `loop`",
        "macro": "a macro is declared as `macro NAME(PARAMETERS) { }`",
        "do": "use `while` or `loop`",
        "wait": "`await` waits for a condition, `poll` for a remote operation",
        "fence": "`rfence NODE` is the remote fence, `mfence` waits for the own store buffers",
        "flush": "`flush NODE` waits until all operations towards a node have taken effect",
        "order": "`order NODE` keeps earlier remote writes and atomics before later ones",
        "int": "registers are declared by `reg`",
        "let": "registers are declared by `reg`",
        "var": "registers are declared by `reg`",
        "nop": "`skip` does nothing",
        "true": "true is `1`",
        "false": "false is `0`",
        "and": "write `&&`",
        "write": "a remote write is `put NODE.variable = variable`",
        "read": "a remote read is `get variable = NODE.variable`",
        "trypoll": "it has a value: `r = trypoll NODE`",
        "receive": "`recv BUFFER from THREAD` posts a buffer, `rpoll THREAD` waits for a message",
        "recv": "`recv BUFFER from THREAD` posts a buffer",
        "barrier": "`barrier` stands alone, or the threads follow that meet: `barrier T, U`",
        "mfence": "`mfence` stands alone: it waits until the store buffer of its thread is empty",
        "rpoll": "`rpoll THREAD` waits for a message",
        "posted": "`posted BUFFER from THREAD` declares buffers that are there before anything runs",
        "send": "`send VARIABLE to THREAD` is a message",
        "hardware": "`hardware cpu tso` at the top says what the program runs on",
    },
    one_word={
        "return": "halt",
        "int": "reg",
        "let": "reg",
        "var": "reg",
        "nop": "skip",
        "true": "1",
        "false": "0",
        "and": "&&",
    },
)
