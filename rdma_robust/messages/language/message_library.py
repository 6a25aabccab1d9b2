"""The library procedures: `grammars/library.mp`."""

from __future__ import annotations

import functools
from importlib import resources
from typing import Final

from rdma_robust.diagnose import Reporter
from rdma_robust.language.syntax.parse import parse_tree
from rdma_robust.messages.language import message_tree as tree
from rdma_robust.messages.language.message_words import message_grammar

LIBRARY_FILE: Final = "library.mp"
"""Its name in messages."""


def library_text() -> str:
    """Return the text of the library."""
    return resources.files("rdma_robust.grammars").joinpath(LIBRARY_FILE).read_text("utf-8")


LIBRARY_REPORT: Final = Reporter(LIBRARY_FILE, "")
"""Gives what stands in the library its file."""


@functools.cache
def library() -> dict[str, tree.FunctionItem]:
    """Return the functions of the library by their names."""
    text = library_text()
    report = Reporter(LIBRARY_FILE, text)
    found, _, _ = parse_tree(text, report, message_grammar())
    report.raise_errors()
    assert found is not None
    return {item.name.text: item for item in tree.declarations(found) if isinstance(item, tree.FunctionItem)}
