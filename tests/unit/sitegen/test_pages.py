"""Pieces of the generated pages, the colours of programs, and the promise that pages load nothing from elsewhere."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from markdown import markdown
from mkdocs.exceptions import PluginError
from pygments.token import Error, Keyword, Name, Punctuation, Whitespace

from sitegen import message_lexer
from sitegen.hooks import LOADED, on_post_build
from sitegen.json_reference import Page, Schema, json_reference, load_schemas
from sitegen.lexer import KEYWORDS, RdmaLexer
from sitegen.message_lexer import MessageLexer
from sitegen.text import cell, table
from tests.conftest import ROOT


@pytest.mark.parametrize("text", ["a|b", "*x* _y_", "[a](b)", "<b>", "x # y", "back\\slash", "1 * 2 * 3"])
def test_a_cell_reads_as_it_was(text: str) -> None:
    page = markdown(table(("h",), [(cell(text),)]), extensions=["tables"])
    shown = text.replace("<", "&lt;").replace(">", "&gt;")
    assert f"<td>{shown}</td>" in page


def test_code_in_a_cell_stays_code() -> None:
    assert cell("a `b_c` d_e") == "a `b_c` d\\_e"


def test_pages_that_are_named_are_linked() -> None:
    assert cell("see docs/python-api.md.") == "see [python-api.md](../python-api.md)."


SMALL: dict[str, Any] = {
    "$id": "urn:small",
    "title": "Small",
    "type": "object",
    "properties": {
        "kind": {"enum": ["a", "b"]},
        "pair": {"$ref": "#/$defs/pair"},
        "size": {"$ref": "#/$defs/natural"},
        "list": {"type": "array", "minItems": 1, "items": {"type": "object", "properties": {"deep": {"type": "string"}}}},
        "map": {"type": "object", "additionalProperties": {"type": ["integer", "null"]}},
    },
    "allOf": [
        {
            "if": {"properties": {"kind": {"const": "a"}}},
            "then": {"properties": {"size": {"const": 1}}},
            "else": {"properties": {"size": {"const": 2}}},
        }
    ],
    "$defs": {
        "natural": {"description": "A size", "type": "integer", "minimum": 0},
        "pair": {"type": "object", "properties": {"left": {"anyOf": [{"$ref": "#/$defs/pair"}, {"type": "null"}]}}},
    },
}


def test_a_schema_becomes_tables() -> None:
    schema = Schema("small", "small.json", SMALL)
    text = "\n".join(Page(schema, (schema,)).texts())
    for row in (
        '| `kind` | `"a"`, `"b"` |  |',
        "| `pair` | [pair](#small-pair) |  |",
        "| `size` | integer, at least 0 | A size |",
        "| `list` | array of object (at least 1) |  |",
        "| `list[].deep` | string |  |",
        "| `map` | object, each member integer or null |  |",
        "| `left` | [pair](#small-pair) or null |  |",
    ):
        assert row in text.split("\n")
    assert 'If `kind` is `"a"`, `size` is `1`; otherwise `size` is `2`.' in text
    assert "### small pair" in text


def test_every_member_of_every_schema_is_in_the_reference() -> None:
    text = json_reference()

    def visit(part: object) -> None:
        if isinstance(part, dict):
            properties = part.get("properties")
            if isinstance(properties, dict):
                for name in properties:
                    assert f"{name}` |" in text, name
            for each in part.values():
                visit(each)
        elif isinstance(part, list):
            for each in part:
                visit(each)

    for schema in load_schemas():
        assert f"\n## {schema.name}\n" in text
        visit(schema.content)


def test_programs_have_colours() -> None:
    lexer = RdmaLexer()
    for path in sorted((ROOT / "litmus").glob("*.rdma"))[::20]:
        assert not [value for kind, value in lexer.get_tokens(path.read_text(encoding="utf-8")) if kind is Error], path
    kinds = {value: kind for kind, value in lexer.get_tokens(f"{' '.join(KEYWORDS)} loops put")}
    assert kinds["loop"] is Keyword
    assert kinds["loops"] is Name
    assert kinds["put"] is Name.Builtin
    assert all(kinds[each] in (Keyword, Name.Builtin) for each in KEYWORDS)
    assert len(KEYWORDS) > 30


def test_message_programs_have_colours() -> None:
    lexer = MessageLexer()
    for path in [ROOT / "grammars/library.mp", *sorted((ROOT / "litmus/messages").rglob("*.mp"))[::10]]:
        assert not [value for kind, value in lexer.get_tokens(path.read_text(encoding="utf-8")) if kind is Error], path
    kinds = {value: kind for kind, value in lexer.get_tokens("; ".join(message_lexer.KEYWORDS))}
    assert set(kinds.values()) - {Whitespace, Punctuation} == {Keyword}
    assert len(message_lexer.KEYWORDS) >= 20
    names = {value: kind for kind, value in lexer.get_tokens(" = 1; ".join((*message_lexer.SOMETIMES, "x")))}
    assert all(names[word] is Name for word in message_lexer.SOMETIMES)
    for text, words in (
        (
            "expect no deadlock, matchings 6 under zero, any",
            ("expect", "no", "deadlock", "matchings", "under", "zero", "any"),
        ),
        ("daemon proc P[i in 0..2] { }", ("daemon", "proc", "in")),
        ("for i in 0..2 { }", ("for", "in")),
        ("port ctl", ("port",)),
        ("  recv v from any s tag any", ("any",)),
    ):
        kinds = {value: kind for kind, value in lexer.get_tokens(text)}
        assert all(kinds[word] is Keyword for word in words)
    kinds = {value: kind for kind, value in lexer.get_tokens("send f(x) to P[0] on ctl tag PID")}
    assert {kinds[word] for word in ("send", "to", "on", "tag")} == {Name.Builtin}
    assert (kinds["f"], kinds["PID"], kinds["ctl"]) == (Name.Function, Name.Constant, Name)


@pytest.mark.parametrize(
    ("html", "loads"),
    [
        ('<script src="https://cdn.example.org/x.js"></script>', True),
        ("<link rel=stylesheet href=//fonts.example.org/a.css>", True),
        ('<img alt="" src="http://example.org/x.png">', True),
        ('<a href="https://example.org">there</a>', False),
        ('<script src="assets/x.js"></script><link rel="icon" href="../a.png">', False),
        ('<link rel="canonical" href="https://example.org/">', False),
    ],
)
def test_pages_load_nothing_from_elsewhere(html: str, loads: bool, tmp_path: Path) -> None:
    assert (LOADED.search(html) is not None) == loads
    (tmp_path / "page.html").write_text(html)
    config: Any = SimpleNamespace(site_dir=str(tmp_path))
    if loads:
        with pytest.raises(PluginError, match=r"page\.html loads"):
            on_post_build(config)
    else:
        on_post_build(config)
