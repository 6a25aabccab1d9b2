"""The kinds of the words of `.rdma`: a word that is a keyword in places only is one there."""

from __future__ import annotations

from typing import Final

from rdma_robust.reports.share.program_colours import (
    BEGINS,
    BEHIND,
    BEHIND_COMMA,
    COMMENTS,
    LINE_ENDS,
    REST,
    any_of,
    part,
    rule,
    word_rule,
)

_WORDS: Final = {
    "declaration": "program allow const domain node thread on reg",
    "outcome": "loopback sc rdma robust",
    "claim": "outcome expect forbidden allowed under not",
    "control": "if else while loop choose or halt skip",
    "condition": "assume await assert",
    "operation": "put get poll rfence",
    "builtin": "cas",
}
_KEYWORDS: Final = tuple(word_rule(kind, text) for kind, text in _WORDS.items())
_FAMILY: Final = r"(?:[ \t]*\[[ \t]*(\w+|\*)[ \t]+(in)\b)?"
_ALL: Final = any_of(" ".join(_WORDS.values()))

_EXPECTED: Final = (
    *BEHIND_COMMA,
    word_rule("claim", "no not under"),
    word_rule("outcome", "robust hang race free safe unsafe violated sc rdma tso pso rma"),
    rule(r"(?<=[\w)] )(when)\b", "claim"),
    *REST,
)
_DECLARATIONS: Final = (
    rule(r"\b(program)[ \t]+(\w+)", "declaration", "program"),
    rule(rf"\b(node)[ \t]+(\w+){_FAMILY}", "declaration", "node", "parameter", "declaration"),
    rule(rf"\b(thread)[ \t]+(\w+){_FAMILY}", "declaration", "thread", "parameter", "declaration"),
    rule(rf"{BEGINS}(qp)[ \t]+(\w+){_FAMILY}", "declaration", "node", "parameter", "declaration"),
    rule(r"\b(on)[ \t]+(\w+)", "declaration", "node"),
    rule(rf"{BEHIND}(via)[ \t]+(\w+)(?=[^{{}}\n]*\{{)", "declaration", "node"),
    rule(rf"{BEGINS}(macro)[ \t]+(\w+)(?=[ \t]*\()", "declaration", "function"),
    rule(rf"{BEGINS}(posted)[ \t]+([A-Za-z_]\w*)", "declaration", "name"),
    rule(r"(?:^|[{,;])[ \t]*(relaxed|sync)(?:[ \t]+(relaxed|sync))?(?=[ \t]+[A-Za-z_])", "modifier", "modifier"),
    part(rf"{BEGINS}(hardware|needs)(?=[ \t]+[A-Za-z_])", "declaration", end=LINE_ENDS, inside=(*BEHIND_COMMA, *REST)),
)
_CLAIMS: Final = (
    part(r"\b(expect)\b", "claim", end=LINE_ENDS, inside=_EXPECTED),
    rule(r"(?:^|;)[ \t]*(invariant)(?=[ \t]+[\w(!-]|\()", "claim"),
    rule(r"\b(under)[ \t]+(tso|pso|rma)\b", "claim", "outcome"),
    rule(r"\b(some|all)[ \t]+(\w+)(?=[ \t]*:)", "claim", "thread"),
    rule(r"\b(count)(?=\([ \t]*\w+[ \t]*(?::|\b(?:at|ended)\b))", "claim"),
    rule(rf"{BEHIND}(at)[ \t]+([A-Za-z_]\w*)", "claim", "label"),
    rule(rf"{BEHIND}(ended)\b", "claim"),
    rule(rf"{BEHIND}(when)(?=[ \t]+[\w(!-])", "claim"),
)
_STATEMENTS: Final = (
    rule(rf"{BEGINS}([A-Za-z_]\w*)(?=[ \t]*:(?!=))", "label"),
    rule(rf"{BEGINS}(for)[ \t]+(\w+)[ \t]+(in)\b", "control", "parameter", "control"),
    rule(rf"{BEGINS}(flush|order)[ \t]+([A-Za-z_]\w*)", "operation", "node"),
    rule(rf"{BEGINS}(barrier|join|rpoll|start)[ \t]+([A-Za-z_]\w*)", "operation", "thread"),
    rule(rf"{BEGINS}(mfence|barrier)(?=[ \t]*(?:[;}}/]|$))", "operation"),
    rule(rf"{BEGINS}(recv|send)[ \t]+([A-Za-z_]\w*)(?![\w.])", "operation", "name"),
    rule(rf"{BEGINS}(recv|send)(?=[ \t]+[\w(!-])", "operation"),
    rule(r"(=)[ \t]*(rpoll)[ \t]+([A-Za-z_]\w*)", "operator", "operation", "thread"),
    rule(r"(=)[ \t]*(trypoll)[ \t]+([A-Za-z_]\w*)", "operator", "operation", "node"),
    rule(r"\b(poll|rfence)[ \t]+([A-Za-z_]\w*)", "operation", "node"),
    rule(rf"{BEHIND}(to|from)[ \t]+([A-Za-z_]\w*)", "operation", "thread"),
    rule(rf"{BEHIND}(imm|depth)(?=[ \t]+[\w(!-])", "operation"),
    rule(rf"{BEHIND}(unsignaled|inline|fenced)\b", "modifier"),
    rule(r"\b(?:faa|fetch|swap|nondet)(?=\()", "builtin"),
    rule(rf"(?!{_ALL})\b([A-Za-z_]\w*)(?=\()", "function"),
)
RDMA_RULES: Final = (
    *COMMENTS,
    *_DECLARATIONS,
    *_CLAIMS,
    *_STATEMENTS,
    rule(r"\b([A-Za-z_]\w*)(\.)(?!\.)([A-Za-z_]\w*)", "node", "punctuation", "member"),
    *_KEYWORDS,
    *REST,
)
"""The rules of a program."""
