"""The JSON documents as a page: every member of every schema in rdma_robust/schema, with its type and meaning."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sitegen.text import GENERATED, cell, table

SCHEMAS = Path(__file__).parents[1] / "rdma_robust/schema"

INTRODUCTION = f"""{GENERATED}

# JSON

The documents that the commands write with `--format json` and into certificates, by their JSON schemas.
Every member is always there unless it is said otherwise, and there are no others. `[]` stands for every element of an array,
`*` for every member of an object whose names are free.
"""


@dataclass(frozen=True)
class Schema:
    """A schema with the name that headings and anchors have for it."""

    name: str
    file: str
    content: dict[str, Any]


def load_schemas() -> tuple[Schema, ...]:
    """Return the schemas, by name."""
    files = sorted(SCHEMAS.glob("*.json"))
    return tuple(
        Schema(each.name.partition(".")[0], each.name, json.loads(each.read_text(encoding="utf-8"))) for each in files
    )


def json_reference() -> str:
    """Return the page."""
    schemas = load_schemas()
    return "\n".join((INTRODUCTION, *(text for schema in schemas for text in Page(schema, schemas).texts())))


class Page:
    """The part about one schema. References may lead to the others."""

    def __init__(self, schema: Schema, schemas: tuple[Schema, ...]) -> None:
        self.schema = schema
        self.by_id = {each.content["$id"]: each for each in schemas}

    def texts(self) -> Iterator[str]:
        content = self.schema.content
        yield f"## {self.schema.name}\n"
        file = f"[{self.schema.file}](../../rdma_robust/schema/{self.schema.file})"
        about = (_sentence(content["title"]), _sentence(content.get("description", "")), f"Schema: {file}.\n")
        yield " ".join(filter(None, about))
        if _has_members(content):
            yield self.members(content)
        for name, part in content.get("$defs", {}).items():
            if _has_members(part):
                yield f"### {self.schema.name} {name}\n"
                if "description" in part:
                    yield f"{_sentence(part['description'])}\n"
                yield self.members(part)

    def members(self, part: dict[str, Any]) -> str:
        rows = [(f"`{path}`", self.type_of(each), self.meaning(each)) for path, each in _flatten(part, "")]
        conditions = "".join(f"\n{self.condition(each)}\n" for each in part.get("allOf", ()))
        return table(("member", "type", "meaning"), rows) + conditions

    def meaning(self, part: dict[str, Any]) -> str:
        own = part.get("description")
        if own is None and "$ref" in part:
            _, _, target = self.resolve(part["$ref"])
            own = None if _has_members(target) else target.get("description")
        return cell(own or "")

    def type_of(self, part: dict[str, Any]) -> str:
        """Return the type in words; parts that have a table of their own are linked."""
        match part:
            case {"$ref": reference}:
                schema, name, target = self.resolve(reference)
                return f"[{name}](#{_anchor(schema, name)})" if _has_members(target) else self.type_of(target)
            case {"const": value}:
                return _value(value)
            case {"enum": values}:
                return ", ".join(map(_value, values))
            case {"anyOf": choices} | {"oneOf": choices}:
                return " or ".join(map(self.type_of, choices))
            case {"type": "array", "prefixItems": items}:
                return f"array of {len(items)}: {', '.join(map(self.type_of, items))}"
            case {"type": "array", "items": items}:
                return f"array of {self.type_of(items)}{_length(part)}"
            case {"type": "object", "additionalProperties": dict(values)}:
                return f"object, each member {self.type_of(values)}"
            case {"type": list(types)}:
                return " or ".join(types) + _range(part)
            case {"type": str(name)}:
                return name + _range(part)
        raise ValueError(f"{self.schema.file}: what is {part}?")

    def resolve(self, reference: str) -> tuple[Schema, str, dict[str, Any]]:
        """Return the schema, the name and the content of what `reference` (of this schema) leads to."""
        base, _, path = reference.partition("#/")
        schema = self.by_id[base] if base else self.schema
        target = schema.content
        for step in path.split("/"):
            target = target[step]
        return schema, path.rpartition("/")[2], target

    def condition(self, rule: dict[str, Any]) -> str:
        def said(part: dict[str, Any]) -> str:
            return " and ".join(f"`{name}` is {self.type_of(each)}" for name, each in part["properties"].items())

        return f"If {said(rule['if'])}, {said(rule['then'])}; otherwise {said(rule['else'])}."


def _flatten(part: dict[str, Any], path: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield path and schema of every member that is described in `part` itself, outer ones first."""
    for name, each in part.get("properties", {}).items():
        inner = f"{path}.{name}" if path else name
        yield inner, each
        yield from _flatten(each, inner)
    if isinstance(part.get("items"), dict):
        yield from _flatten(part["items"], f"{path}[]")
    if isinstance(part.get("additionalProperties"), dict):
        yield from _flatten(part["additionalProperties"], f"{path}.*")
    for choice in (*part.get("anyOf", ()), *part.get("oneOf", ())):
        yield from _flatten(choice, path)


def _has_members(part: dict[str, Any]) -> bool:
    return next(_flatten(part, ""), None) is not None


def _anchor(schema: Schema, name: str) -> str:
    """Return the anchor of a definition, or of the schema for a part of its top."""
    return f"{schema.name}-{name}".lower() if name in schema.content.get("$defs", {}) else schema.name


def _value(value: object) -> str:
    return f"`{json.dumps(value)}`"


def _length(part: dict[str, Any]) -> str:
    least, most = part.get("minItems"), part.get("maxItems")
    if least is None and most is None:
        return ""
    return f" ({least})" if least == most else f" (at least {least})" if most is None else f" (at most {most})"


def _range(part: dict[str, Any]) -> str:
    bounds = [f"{sign} {part[key]}" for key, sign in (("minimum", "at least"), ("exclusiveMinimum", "above")) if key in part]
    pattern = [f"matching `{part['pattern']}`"] if "pattern" in part else []
    return "".join(f", {each}" for each in (*bounds, *pattern))


def _sentence(text: str) -> str:
    return f"{cell(text).removesuffix('.')}." if text else ""
