"""The kinds of the words of `.mp`, in programs, contracts and claims: as messages/language/message_words.py reads."""

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
    "declaration": "program const fun proc reg req",
    "control": "if else while loop choose or for in halt skip return",
    "condition": "assume await assert",
    "operation": "send recv isend irecv wait",
    "constant": "PID NPROCS",
}
_ALL: Final = any_of(" ".join(_WORDS.values()))
_NAME: Final = rf"(?!{_ALL})([A-Za-z_]\w*)(?![\w(])"
_CALLS: Final = (
    rule(r"\b(?:len|new)(?=\()", "builtin"),
    rule(rf"(?!{_ALL})\b([A-Za-z_]\w*)(?=\()", "function"),
)
_TAKES: Final = "const reg req assume await assert if while return send isend recv irecv wait"
"""Words that something follows, which may have the name of a word that follows something."""

_JOINS: Final = "to|from|on|tag|into|of|size|room|root|op|sig|give|get"

_EXPECTED: Final = (
    *BEHIND_COMMA,
    rule(r"\b(contract)[ \t]+(\w+)", "claim", "function"),
    word_rule("claim", "no under matchings verified from"),
    word_rule("outcome", "holds violated deadlock race zero infinite any eager"),
    *REST,
)
_CLAUSES: Final = (
    rule(rf"{BEGINS}(behavior)[ \t]+([A-Za-z_]\w*)", "contract", "label"),
    rule(rf"{BEGINS}(quiet)[ \t]+(to|from)\b", "contract", "contract"),
    rule(rf"{BEGINS}(complete|disjoint)[ \t]+(behaviors)\b", "contract", "contract"),
    rule(rf"{BEGINS}(bounds)[ \t]+([A-Za-z_]\w*)", "contract", "name"),
    rule(rf"{BEGINS}({any_of('assigns assumes decreases ensures invariant requires waitsfor')})", "contract"),
    rule(rf"{BEHIND}(on|tag|until|len|in|if)(?=[ \t]+[\\\w(!-])", "contract"),
    rule(r"(\\(?:count|exists|forall|let|max|min|sum))[ \t]+([A-Za-z_]\w*)", "contract", "name"),
    rule(r"\\(?:after|enter|exit|no|send|until|count|exists|forall|let|max|min|sum)\b", "contract"),
    rule(r"\\(?:agree|mpi_agree|old|on|pre)\b", "builtin"),
    rule(r"\\(?:all|others|nameless|nothing|result|mpi_comm_rank|mpi_comm_size|i|j)\b", "constant"),
    word_rule("constant", _WORDS["constant"]),
)
_CONTRACT: Final = part(
    r"\b(contract)[ \t]+(collective|local|loop)\b(?:[ \t]+([A-Za-z_]\w*))?",
    *("contract", "contract", "label"),
    end=r"\}",
    inside=(*COMMENTS, *_CLAUSES, *_CALLS, *REST),
)
_DECLARATIONS: Final = (
    rule(r"\b(program)[ \t]+(\w+)", "declaration", "program"),
    rule(
        r"(?:\b(daemon)[ \t]+)?\b(proc)[ \t]+(\w+)(?:[ \t]*\[[ \t]*(\w+)[ \t]+(in)\b)?",
        *("modifier", "declaration", "thread", "parameter", "declaration"),
    ),
    rule(r"\b(fun)[ \t]+(\w+)", "declaration", "function"),
    rule(rf"{BEGINS}(port|group)[ \t]+([A-Za-z_]\w*)", "declaration", "name"),
)
_MESSAGES: Final = (
    rule(rf"\b(i?send)[ \t]+(sync|buffered|ready)[ \t]+(?!to\b){_NAME}", "operation", "operation", "name"),
    rule(r"\b(i?send)[ \t]+(sync|buffered|ready)(?=[ \t]+(?!to\b)[\w(!])", "operation", "operation"),
    rule(r"\b(wait)[ \t]+(any|some)[ \t]+([A-Za-z_]\w*)", "operation", "operation", "name"),
    rule(rf"{BEGINS}(test)(?:[ \t]+(any|some|all))?[ \t]+([A-Za-z_]\w*)", "operation", "operation", "name"),
    rule(rf"{BEGINS}(i?probe)(?=[ \t]+{any_of('from on tag into')}|[ \t]*(?:[;}}/]|$))", "operation"),
    rule(rf"{BEGINS}(i?mprobe|mrecv)[ \t]+([A-Za-z_]\w*)", "operation", "name"),
    rule(r"(=)[ \t]*(imrecv)[ \t]+([A-Za-z_]\w*)", "operator", "operation", "name"),
    rule(r"(=)[ \t]*(icollective)[ \t]+([A-Za-z_]\w*)", "operator", "operation", "function"),
    rule(rf"{BEGINS}(collective)[ \t]+([A-Za-z_]\w*)", "operation", "function"),
    rule(rf"{BEGINS}(abort)(?=[ \t]+[\w!-])", "operation"),
    rule(rf"{BEHIND}(from|tag)[ \t]+(any)\b", "operation", "operation"),
    rule(rf"{BEHIND}(to|from)[ \t]+{_NAME}", "operation", "thread"),
    rule(rf"{BEHIND}(of)[ \t]+(type)[ \t]+{_NAME}", "operation", "operation", "name"),
    rule(rf"{BEHIND}(of)[ \t]+(type)(?=[ \t]+[\w(!-])", "operation", "operation"),
    rule(rf"{BEHIND}({_JOINS})[ \t]+{_NAME}", "operation", "name"),
    rule(rf"{BEHIND}({_JOINS})(?=[ \t]+[\w(!-])", "operation"),
)
MESSAGE_RULES: Final = (
    *COMMENTS,
    part(r"\b(expect)\b", "claim", end=LINE_ENDS, inside=_EXPECTED),
    _CONTRACT,
    *_DECLARATIONS,
    rule(r"\b(for)[ \t]+(\w+)[ \t]+(in)\b", "control", "parameter", "control"),
    *_MESSAGES,
    *_CALLS,
    *(
        rule(rf"({any_of(kept)})[ \t]+{_NAME}", kind, "name")
        for kind, text in _WORDS.items()
        if (kept := " ".join(word for word in text.split() if word in _TAKES.split()))
    ),
    *(word_rule(kind, text) for kind, text in _WORDS.items()),
    *REST,
)
"""The rules of a program."""
