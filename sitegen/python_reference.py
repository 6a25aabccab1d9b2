"""The Python API as a page: every public name of the package, with its signature and its docstring."""

from __future__ import annotations

import ast
import inspect
import re
import sys
from dataclasses import is_dataclass
from enum import Enum
from textwrap import dedent
from typing import Any, Literal, get_args, get_origin

import rdma_robust
from sitegen.text import GENERATED, cell, table

INTRODUCTION = f"""{GENERATED}

# Python

The public names of the package `rdma_robust`. [The guide](../python-api.md) shows them at work. Everything else may change.
"""


def python_reference() -> str:
    """Return the page: functions first, then options and answers, then errors, each in alphabetical order."""
    members = {name: getattr(rdma_robust, name) for name in rdma_robust.__all__ if name != "__version__"}
    functions = {name: each for name, each in members.items() if inspect.isfunction(each)}
    errors = {name: each for name, each in members.items() if inspect.isclass(each) and issubclass(each, Exception)}
    data = {name: each for name, each in members.items() if name not in functions and name not in errors}
    parts = [INTRODUCTION]
    for title, group in (("Functions", functions), ("Data", data), ("Errors", errors)):
        parts.append(f"## {title}\n")
        parts += [f"### {name}\n\n{_describe(name, each)}" for name, each in sorted(group.items())]
    parts.append(f"## Constants\n\n{table(('name', 'is'), [('`__version__`', 'the version of the package, a string')])}")
    return "\n".join(parts)


def _describe(name: str, member: Any) -> str:
    doc = _prose(inspect.getdoc(member) or "")
    if inspect.isfunction(member):
        return f"{_code(f'def {name}{_signature(member)}')}\n{doc}"
    if issubclass(member, Enum):
        return f"{doc}\n{table(('member', 'value'), [(f'`{name}.{each.name}`', f'`{each.value!r}`') for each in member])}"
    if is_dataclass(member):
        return f"{doc}\n{_fields(member)}{_methods(member)}"
    bases = ", ".join(base.__name__ for base in member.__bases__)
    attributes = _attributes(member) if "__init__" in vars(member) else ""
    return f"{_code(f'class {name}({bases})')}\n{doc}{attributes}{_methods(member)}"


def _signature(function: Any) -> str:
    """Return parameters and result as the source has them: the interpreter's texts depend on its version."""
    node = _syntax(function)
    assert isinstance(node, ast.FunctionDef)
    result = f" -> {ast.unparse(node.returns)}" if node.returns else ""
    parameters = re.sub(r"(: [^=]+?)=", r"\1 = ", ast.unparse(node.args))
    if len(parameters) < 90:
        return f"({parameters}){result}"
    lines = re.split(r", (?![^\[]*\])", parameters)
    return "(\n" + "".join(f"    {line},\n" for line in lines) + f"){result}"


def _syntax(member: Any) -> ast.stmt:
    (node,) = ast.parse(dedent(inspect.getsource(member))).body
    return node


def _fields(member: Any) -> str:
    node = _syntax(member)
    assert isinstance(node, ast.ClassDef)
    rows = [
        (f"`{each.target.id}`", _type(member, each.annotation), f"`{ast.unparse(each.value)}`" if each.value else "")
        for each in node.body
        if isinstance(each, ast.AnnAssign) and isinstance(each.target, ast.Name)
    ]
    return table(("field", "type", "default"), rows)


def _type(member: Any, annotation: ast.expr) -> str:
    """Return an annotation as code. The values of a Literal are named; a bar would end the cell of a table."""
    text = ast.unparse(annotation)
    named = getattr(sys.modules[member.__module__], text, None)
    choices = map(repr, get_args(named)) if get_origin(named) is Literal else text.split(" | ")
    return " or ".join(f"`{each}`" for each in choices)


def _attributes(member: Any) -> str:
    """What `__init__` takes, which an error keeps under the same names."""
    names = [f"`{name}`" for name in inspect.signature(member).parameters]
    return f"\nAttributes: {', '.join(names)}.\n"


def _methods(member: Any) -> str:
    parts = []
    for name, each in vars(member).items():
        doc = inspect.getdoc(each) if isinstance(each, property) or inspect.isfunction(each) else None
        if name.startswith("_") or not doc:
            continue
        shown = f"`{name}`" if isinstance(each, property) else f"`{name}{_signature(each)}`"
        parts.append(f"\n{shown}: {_prose(doc)}")
    return "".join(parts)


def _code(text: str) -> str:
    return f"```text\n{text}\n```\n"


def _prose(doc: str) -> str:
    paragraphs = re.split(r"\n\s*\n", doc.strip())
    text = "\n\n".join(cell(" ".join(re.sub(r":\w+:`", "`", each).split())) for each in paragraphs)
    return f"{text}\n"
