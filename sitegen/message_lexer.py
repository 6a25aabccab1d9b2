"""Colours for `.mp` programs; the keywords are those of the grammar."""

from __future__ import annotations

import re
from typing import Any, ClassVar

from pygments.lexer import RegexLexer, bygroups, words
from pygments.token import Comment, Error, Keyword, Name, Number, Operator, Punctuation, Whitespace

from rdma_robust.messages.language.message_words import WORDS, message_grammar

MESSAGES = ("send", "recv", "isend", "irecv", "wait")
SOMETIMES = tuple(sorted(text for kind, text in message_grammar().keywords.items() if kind in WORDS))
NUMBERS = ("PID", "NPROCS")
KEYWORDS = tuple(
    text for kind, text in message_grammar().keywords.items() if kind not in WORDS and text not in (*MESSAGES, *NUMBERS)
)
CLAIMS = ("holds", "violated", "no", "deadlock", "race", "matchings", "under", "zero", "infinite", "any", "eager")

_parts: Any = bygroups


class MessageLexer(RegexLexer):
    name = "mp"
    aliases: ClassVar = ["mp"]
    filenames: ClassVar = ["*.mp"]
    tokens: ClassVar = {
        "root": [
            (r"(?<=[\w)\]])([ \t]+)(to|from|on|tag)([ \t]+)(any)\b", _parts(Whitespace, Name.Builtin, Whitespace, Keyword)),
            (r"(?<=[\w)\]])([ \t]+)(to|from|on|tag)(?=[ \t]+[\w(!-])", _parts(Whitespace, Name.Builtin)),
            (r"\s+", Whitespace),
            (r"//[^\n]*", Comment.Single),
            (r"/\*.*?\*/", Comment.Multiline),
            (r"(for)(\s+)(\w+)(\s+)(in)\b", _parts(Keyword, Whitespace, Name, Whitespace, Keyword)),
            (r"(daemon)(\s+)(?=proc\b)", _parts(Keyword, Whitespace)),
            (
                r"(proc)(\s+)(\w+)(\s*\[\s*)(\w+)(\s+)(in)\b",
                _parts(Keyword, Whitespace, Name.Function, Punctuation, Name, Whitespace, Keyword),
            ),
            (r"(proc|fun)(\s+)(\w+)", _parts(Keyword, Whitespace, Name.Function)),
            (r"(port)(\s+)(?=[A-Za-z_])", _parts(Keyword, Whitespace)),
            (r"expect\b", Keyword, "claims"),
            (r"\\[A-Za-z]+", Keyword),
            (words(NUMBERS, prefix=r"\b", suffix=r"\b"), Name.Constant),
            (r"(?:len|new)(?=\()", Name.Builtin),
            (r"(i?send)(\s+)(sync|buffered|ready)(?=\s+(?!to\b)[\w(!])", _parts(Name.Builtin, Whitespace, Keyword)),
            (r"(?<![\w.])i?probe(?=[ \t]+(?:from|on|tag|into)\b|[ \t]*(?:\n|;|\}|//))", Name.Builtin),
            (r"(?<![\w.])i?m(?:probe|recv)(?=[ \t]+[A-Za-z_])", Name.Builtin),
            (r"(?<=[\w)\]])([ \t]+)(into|of)(?=[ \t]+\w)", _parts(Whitespace, Name.Builtin)),
            (words(MESSAGES, prefix=r"\b", suffix=r"\b"), Name.Builtin),
            (words(KEYWORDS, prefix=r"\b", suffix=r"\b"), Keyword),
            (r"[A-Za-z_]\w*(?=\()", Name.Function),
            (r"[A-Za-z_]\w*", Name),
            (r"\d+", Number.Integer),
            (r"\.\.|[|]{2}|&&|[-+*/%=!<>]=|[-+*/%<>=!]", Operator),
            (r"[{}()\[\],;:.?]", Punctuation),
            (r".", Error),
        ],
        "claims": [
            (r"(?<=,)\s+|[ \t]+", Whitespace),
            (r"(?=\n|;|//)", Whitespace, "#pop"),
            (words(CLAIMS, prefix=r"\b", suffix=r"\b"), Keyword),
            (r"\d+", Number.Integer),
            (r",", Punctuation),
            (r"", Whitespace, "#pop"),
        ],
    }
    flags = re.DOTALL
