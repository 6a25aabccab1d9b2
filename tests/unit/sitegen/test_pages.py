"""Pieces of the generated pages, and the promise that pages load nothing from elsewhere."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from markdown import markdown
from mkdocs.exceptions import PluginError

from sitegen.hooks import LOADED, on_post_build
from sitegen.json_reference import Page, Schema, json_reference, load_schemas
from sitegen.text import cell, table


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
