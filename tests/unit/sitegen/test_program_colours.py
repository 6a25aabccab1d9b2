"""Every word of a program has the colour that the grammar says: in reports, the site, the playground and editors."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Literal, NamedTuple

import pytest
from pygments.lexer import RegexLexer
from pygments.token import Error, Punctuation, Whitespace, _TokenType

from rdma_robust.language.syntax.contextual import contextual_tokens
from rdma_robust.language.syntax.grammar import load_grammar
from rdma_robust.messages.language.message_words import message_grammar, message_tokens
from rdma_robust.reports.share.html_templates import coloured_lines
from rdma_robust.reports.share.message_colours import MESSAGE_RULES
from rdma_robust.reports.share.program_colours import KINDS, ColourRules
from rdma_robust.reports.share.rdma_colours import RDMA_RULES
from sitegen.lexer import TOKENS, MessageLexer, RdmaLexer
from sitegen.playground.page_data import page_rules
from sitegen.text_mate import SYNTAXES, grammars
from tests.conftest import ROOT
from tests.support.text_mate import scopes_in

KEYWORDS = frozenset({"builtin", "claim", "condition", "constant", "contract", "control"}) | {
    "declaration",
    "modifier",
    "operation",
    "outcome",
}
"""The kinds of what is a word of the language."""

LIBRARY = ("len", "new")
"""Names that have the colour of words where they are called."""

LINES = {
    "rdma": "expect robust, // why\n\n  // and\n  race free // so\nhang = 1\nprogram all\n"
    "hardware order multipath, // x\n  cpu tso\nnode free { sync relaxed at, hang }\n"
    "thread when on free { reg to, send; send send to to; cs: to = hang }\n"
    "/* put\nget */ thread U on B { x = 1; r = trypoll B; order B; send (x) to T }\n"
    "invariant !(T at cs) || some when: r == 1 || T ended\ninvariant all T: count(C at cs) + count(x: y)\n"
    "outcome r == 1: allowed under sc, forbidden under rma when N > 1\n"
    "macro count(all) { all = 1 }\nthread V on B { count(B.x); put B.free = to to U; r = B.ended }\n",
    "mp": "expect holds, // why\n\n  /* and */ no race under zero; reg zero\nport any\n"
    "proc to { reg to, tag; send tag to to tag tag; recv any from any r tag any; send size to P size size }\n"
    "program any\nproc P { await of; test of into to; h = isend ready of to from tag on of type root size size }\n"
    "fun all(len) contract local { bounds len in \\mpi_comm_rank..\\mpi_comm_size; requires \\mpi_agree(tag)\n"
    "    /* bounds */ && \\exists until in 0..\\min(quiet, on): \\old(from) ==> bounds; assigns tag, len }\n"
    "{ return len(len) }\n",
}
"""What programs of the suite have seldom: declarations over several lines, and names that are words elsewhere."""


class Language(NamedTuple):
    grammar: Any
    in_context: Any
    lexer: RegexLexer
    rules: ColourRules
    text_mate: Mapping[str, Any]


def language(name: str) -> Language:
    text_mate = json.loads(grammars()[f"{name}.tmLanguage.json"])
    if name == "mp":
        return Language(message_grammar(), message_tokens, MessageLexer(), MESSAGE_RULES, text_mate)
    return Language(load_grammar(), contextual_tokens, RdmaLexer(), RDMA_RULES, text_mate)


def programs(name: str) -> list[str]:
    """Return the programs of the suite, and before them what they have seldom."""
    paths = sorted((ROOT / "litmus").rglob(f"*.{name}"))
    return [LINES[name], *(path.read_text(encoding="utf-8") for path in paths)]


def with_each_word(name: str) -> list[str]:
    """Return one program of the suite for each word, if there is one."""
    found = programs(name)
    ends = [re.compile(rf"^[^/\n]*(?<!\w){re.escape(word)}\b", re.MULTILINE) for word in words(name).values()]
    return [found[0], *dict.fromkeys(text for end in ends for text in [*filter(end.search, found[1:])][:1])]


@pytest.mark.parametrize("name", ["rdma", "mp"])
def test_reports_have_the_same_colours(name: Literal["rdma", "mp"]) -> None:
    each = language(name)
    for text in programs(name)[::40]:
        kinds, shown = in_editors(text, each), in_reports(text, name)
        for at, letter in enumerate(text):
            if not letter.isspace():
                assert shown[at] == (KINDS[kinds[at]].report if at in kinds else ""), text[at - 20 : at + 9]


def test_a_line_that_is_too_long_has_no_colours() -> None:
    """Others have; the states go on behind it."""
    long = "put " * 300
    kinds = in_reports(f"put /*\n{long}\n*/ put\n", "rdma")
    assert kinds[:6] == ["word"] * 3 + [""] + ["comment"] * 2
    assert {*kinds[7 : 7 + len(long)]} == {""}
    assert kinds[-7:] == ["comment"] * 2 + [""] + ["word"] * 3 + [""]


def words(name: str) -> dict[str, str]:
    return {kind: text for kind, text in language(name).grammar.literals.items() if re.match(r"\\?[A-Za-z]", text)}


def in_editors(text: str, each: Language) -> dict[int, str]:
    """Return the kind of each character, by the TextMate grammar."""
    kinds = {f"{kind.scope}.{each.text_mate['fileTypes'][0]}": name for name, kind in KINDS.items()}
    found = scopes_in(text, each.text_mate)
    return {at: kinds[scope] for start, end, scope in found for at in range(start, end)}


def in_reports(text: str, name: Literal["rdma", "mp"]) -> list[str]:
    """Return the kind of each character, by what colours reports."""
    lines = coloured_lines(text, name)
    return [kind for line in lines for kind, piece in (*line.pieces, ("", "\n")) for _ in piece]


def on_the_site(text: str, each: Language) -> dict[int, _TokenType]:
    return {at + k: kind for at, kind, piece in each.lexer.get_tokens_unprocessed(text) for k in range(len(piece))}


def compared(name: str, texts: list[str]) -> set[str]:
    """Compare grammar, site and editors; return the terminals of the words that there were."""
    each = language(name)
    seen = set()
    for text in texts:
        kinds, site = in_editors(text, each), on_the_site(text, each)
        tokens = [*each.grammar.lex(text)]
        told = [token for token in tokens if token.type == "COMMENT"]
        comments = {token.start_pos + k for token in told for k in range(len(token))}
        for at, letter in enumerate(text):
            if not letter.isspace():
                assert (kinds.get(at) in {"comment", "block"}) == (at in comments), text[at - 20 : at + 9]
                assert site[at] is (TOKENS[kinds[at]] if at in kinds else Punctuation), text[at - 20 : at + 9]
                assert site[at] is not Error, text[at - 20 : at + 9]
        for token in each.in_context([token for token in tokens if token.type != "COMMENT"]):
            if re.match(r"\\?[A-Za-z]", token):
                start = token.start_pos
                (kind,) = {kinds[at] for at in range(start, start + len(token))}
                called = token in LIBRARY and text[start + len(token)] == "("
                assert (kind in KEYWORDS) == (token.type != "NAME" or called), (text[start - 20 : start + 20], kind)
                seen.add(token.type)
    return seen


@pytest.mark.parametrize("name", ["rdma", "mp"])
def test_words_have_the_colours_that_the_grammar_says(name: str) -> None:
    assert len(compared(name, programs(name)[::80])) > 30


@pytest.mark.ci
@pytest.mark.parametrize("name", ["rdma", "mp"])
def test_each_word_has_the_colour_that_the_grammar_says(name: str) -> None:
    assert words(name).keys() - compared(name, with_each_word(name)) == set()


@pytest.mark.long
@pytest.mark.parametrize("name", ["rdma", "mp"])
def test_all_words_of_all_programs_have_the_colours_that_the_grammar_says(name: str) -> None:
    assert words(name).keys() - compared(name, programs(name)) == set()


def spans(text: str, each: Language) -> Iterator[tuple[int, str]]:
    for at, kind in in_editors(text, each).items():
        if KINDS[kind].page and not text[at].isspace():
            yield at, KINDS[kind].page


@pytest.mark.ci
@pytest.mark.parametrize("name", ["rdma", "mp"])
def test_the_playground_has_the_same_colours(name: str, tmp_path: Path) -> None:
    node = shutil.which("node")
    if node is None:
        pytest.skip("the editor of the playground is not run: node is not installed")
    each = language(name)
    shutil.copyfile(ROOT / "sitegen/playground/page/tokens.js", tmp_path / "tokens.mjs")
    asked = {"rules": page_rules(each.rules), "texts": programs(name)[::20]}
    (tmp_path / "asked.json").write_text(json.dumps(asked), encoding="utf-8")
    (tmp_path / "run.mjs").write_text(
        'import { readFileSync } from "node:fs";\nimport { compiled, tokens } from "./tokens.mjs";\n'
        'const asked = JSON.parse(readFileSync("asked.json", "utf-8"));\nconst rules = compiled(asked.rules);\n'
        "console.log(JSON.stringify(asked.texts.map((text) => tokens(rules, text))));\n"
    )
    done = subprocess.run([node, "run.mjs"], cwd=tmp_path, capture_output=True, text=True, check=True, timeout=120)
    for text, found in zip(asked["texts"], json.loads(done.stdout), strict=True):
        shown = {at: kind for start, end, kind in found for at in range(start, end) if not text[at].isspace()}
        assert shown == dict(spans(text, each))


@pytest.mark.parametrize("name", ["rdma", "mp"])
def test_every_engine_can_read_the_rules(name: str) -> None:
    """JavaScript and TextMate know no other groups, and TextMate sees one line."""
    for state in page_rules(language(name).rules).values():
        for pattern, _, _ in state:
            assert not re.search(r"\(\?(?!:|=|!|<=|<!)|\\[AZ]|[+*?]\+", pattern), pattern


def test_the_grammars_of_editors_are_those_that_are_made() -> None:
    assert {path.name for path in SYNTAXES.iterdir()} == set(grammars())
    for name, text in grammars().items():
        assert (SYNTAXES / name).read_text(encoding="utf-8") == text, "make promote writes it anew"


def test_a_text_that_is_no_program_stays_as_it_is() -> None:
    text = "  größe =\t12ab \\nothing @ /* for"
    for lexer in (RdmaLexer(), MessageLexer()):
        found = [*lexer.get_tokens_unprocessed(text)]
        assert "".join(piece for _, _, piece in found) == text
        assert {piece for _, kind, piece in found if kind is Error} >= {"12ab", "@"}
        assert not any(piece.isspace() for _, kind, piece in found if kind not in {Whitespace, TOKENS["block"]})


@pytest.mark.parametrize(
    ("name", "text", "kinds"),
    [
        (
            "rdma",
            "thread Sender[i in 0..N] on A {",
            {"Sender": "thread", "i": "parameter", "in": "declaration", "A": "node"},
        ),
        (
            "rdma",
            "put B.d = v imm 1 to U",
            {"put": "operation", "B": "node", "d": "member", "imm": "operation", "U": "thread"},
        ),
        ("rdma", "domain 0..7 // poll B", {"domain": "declaration", "..": "operator", "// poll B": "comment"}),
        ("rdma", "  cs: lock(l)", {"cs": "label", "lock": "function", "l": "name"}),
        ("rdma", "expect safe under tso", {"expect": "claim", "safe": "outcome", "tso": "outcome"}),
        ("rdma", "loops put12 1put", {"loops": "name", "put12": "name", "1put": "error"}),
        (
            "mp",
            "daemon proc P { send ready f(x) to Q }",
            {"daemon": "modifier", "P": "thread", "f": "function", "Q": "thread"},
        ),
        ("mp", "h = irecv v from any s tag PID", {"irecv": "operation", "any": "operation", "PID": "constant"}),
        (
            "mp",
            "fun f(x) contract loop l { behavior b: assumes 1; }",
            {"f": "function", "l": "label", "assumes": "contract"},
        ),
    ],
)
def test_lines_look_right(name: str, text: str, kinds: dict[str, str]) -> None:
    found = in_editors(text, language(name))
    places = {word: [at.start() for at in re.finditer(re.escape(word), text)] for word in kinds}
    assert all(kind in {found.get(at) for at in places[word]} for word, kind in kinds.items()), found
