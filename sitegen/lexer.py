"""Colours for `.rdma` programs; the keywords are those of the grammar."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any, ClassVar

from pygments.lexer import RegexLexer, bygroups, words
from pygments.token import Comment, Error, Keyword, Name, Number, Operator, Punctuation, Whitespace

from rdma_robust.language.syntax.contextual import WORDS

GRAMMARS = Path(__file__).parents[1] / "grammars"
GRAMMAR = "".join((GRAMMARS / f"{name}.lark").read_text(encoding="utf-8") for name in ("common", "rdma"))
_WORDS = tuple(re.findall(r'^([A-Z]+): "([a-z]+)"$', GRAMMAR, re.MULTILINE))
KEYWORDS = tuple(word for name, word in _WORDS if name not in WORDS)
__all__ = ["RdmaLexer"]

_parts: Any = bygroups
REMOTE = ("put", "get", "poll", "rfence", "cas")


class RdmaLexer(RegexLexer):
    name = "rdma"
    aliases: ClassVar = ["rdma"]
    filenames: ClassVar = ["*.rdma"]
    tokens: ClassVar = {
        "root": [
            (r"\s+", Whitespace),
            (r"//[^\n]*", Comment.Single),
            (r"/\*.*?\*/", Comment.Multiline),
            (r"(for)(\s+)(\w+)(\s+)(in)\b", _parts(Keyword, Whitespace, Name, Whitespace, Keyword)),
            (
                r"(node|thread)(\s+)(\w+)(\s*\[\s*)(\w+|\*)(\s+)(in)\b",
                _parts(Keyword, Whitespace, Name, Punctuation, Name, Whitespace, Keyword),
            ),
            (r"(?<=[\w)\]] )when(?=[ \t]+[\w(!-])", Keyword),
            (r"(?<=[\w\]] )via(?=[ \t]+\w+(?:\[[^\]]*\])?\s*\{)", Keyword),
            (r"(macro)(\s+)(\w+)(\s*\()", _parts(Keyword, Whitespace, Name.Function, Punctuation)),
            (r"(barrier|flush|join|recv|rpoll|start|trypoll)([ \t]+)(\w+)", _parts(Name.Builtin, Whitespace, Name)),
            (r"(order)([ \t]+)(\w+)(?=[ \t]*(?:[;}/\n]|$))", _parts(Name.Builtin, Whitespace, Name)),
            (r"(qp)([ \t]+)(?=\w)", _parts(Keyword, Whitespace)),
            (r"(posted)([ \t]+)(?=\w)|(send)([ \t]+)(?=[\w(!-])", _parts(Keyword, Whitespace, Name.Builtin, Whitespace)),
            (r"(?<=[\w)\]])([ \t]+)(to|from|imm|depth)([ \t]+)(?=[\w(!-])", _parts(Whitespace, Name.Builtin, Whitespace)),
            (r"(?<=[\w)\]])([ \t]+)(unsignaled|inline|fenced)\b", _parts(Whitespace, Name.Builtin)),
            (r"(relaxed|sync)([ \t]+)(?=\w)", _parts(Keyword, Whitespace)),
            (r"(hardware|needs)([ \t]+)(?=\w)", _parts(Keyword, Whitespace)),
            (r"(?:mfence|barrier)(?=\s*(?:[;}/\n]|$))|(?:faa|fetch|swap|nondet)(?=\()", Name.Builtin),
            (r"(some|all)([ \t]+)(\w+)(?=[ \t]*:)", _parts(Keyword, Whitespace, Name)),
            (r"count(?=\(\s*\w+\s*(?::|\b(?:at|ended)\b))", Keyword),
            (r"(\w+)([ \t]+)(at)([ \t]+)(\w+)", _parts(Name, Whitespace, Keyword, Whitespace, Name.Label)),
            (r"(\w+)([ \t]+)(ended)\b", _parts(Name, Whitespace, Keyword)),
            (r"invariant(?=\s+[\w(!]|\()|(?:un)?safe(?=\s+under\b)", Keyword),
            (r"(under)(\s+)(tso|pso|rma)\b", _parts(Keyword, Whitespace, Keyword)),
            (r"no(?=\s+hang\b)|hang(?=\s+under\b)", Keyword),
            (r"(?:(?<=expect )|(?<=robust, )|(?<=sc, )|(?<=rdma, ))race(?:\s+free)?(?=\s*(?:[,;/\n]|when\b|$))", Keyword),
            (words(REMOTE, prefix=r"\b", suffix=r"\b"), Name.Builtin),
            (words(KEYWORDS, prefix=r"\b", suffix=r"\b"), Keyword),
            (r"[A-Za-z_]\w*", Name),
            (r"\d+", Number.Integer),
            (r"\.\.|[|]{2}|&&|[-+*/%=!<>]=|[-+*/%<>=!]", Operator),
            (r"[{}()\[\],;:.]", Punctuation),
            (r".", Error),
        ]
    }
    flags = re.DOTALL
