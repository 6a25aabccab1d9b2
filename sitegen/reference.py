"""The pages that are made from the code. They are kept in docs/, most in docs/reference, to be read without building the
site."""

from __future__ import annotations

from pathlib import Path

from sitegen.cli_reference import cli_reference
from sitegen.code_reference import code_reference
from sitegen.exercises_page import exercises_page
from sitegen.hardware_page import hardware_page
from sitegen.json_reference import json_reference
from sitegen.message_words import message_words
from sitegen.proof_page import proof_page
from sitegen.proof_tables import proof_tables
from sitegen.python_reference import python_reference

DOCS = Path(__file__).parents[1] / "docs"
GRAMMARS = DOCS.parent / "grammars"


def pages() -> dict[str, str]:
    """Return name below docs/ and text of each page."""
    return {
        "exercises.md": exercises_page(),
        "hardware-tables.md": hardware_page(),
        "proof.md": proof_page(),
        "proof-tables.md": proof_tables(),
        "reference/cli.md": cli_reference(),
        "reference/codes.md": code_reference(),
        "reference/json.md": json_reference(),
        "reference/mp-words.md": message_words(),
        "reference/python.md": python_reference(),
    }
