"""The colours of programs in editors, as TextMate grammars."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any, Final

from rdma_robust.reports.share.message_colours import MESSAGE_RULES
from rdma_robust.reports.share.program_colours import KINDS, ColourRules, Rule
from rdma_robust.reports.share.rdma_colours import RDMA_RULES

SYNTAXES: Final = Path(__file__).parents[1] / "editors/vscode/syntaxes"


def grammars() -> dict[str, str]:
    """Return name below SYNTAXES and text of each grammar."""
    return {
        "rdma.tmLanguage.json": text_mate("rdma", "RDMA program", RDMA_RULES),
        "mp.tmLanguage.json": text_mate("mp", "Message program", MESSAGE_RULES),
    }


def text_mate(name: str, title: str, rules: ColourRules) -> str:
    """Return the rules of a language as a TextMate grammar."""
    content = {
        "$schema": "https://raw.githubusercontent.com/martinring/tmlanguage/master/tmlanguage.json",
        "comment": "Written by `make promote` from reports/share/program_colours.py and the rules beside it: edit those.",
        "name": title,
        "scopeName": f"source.{name}",
        "fileTypes": [name],
        "patterns": [_text_mate_rule(each, name) for each in rules],
    }
    return json.dumps(content, indent=1) + "\n"


def _text_mate_rule(each: Rule, name: str) -> dict[str, Any]:
    first = 1 if re.compile(each.pattern).groups else 0
    scopes = {str(group): {"name": f"{KINDS[kind].scope}.{name}"} for group, kind in enumerate(each.kinds, first)}
    if not each.end:
        return {"match": each.pattern, "captures": scopes}
    inside = [_text_mate_rule(inner, name) for inner in each.inside]
    ends = {"0": {"name": f"{KINDS[each.kinds[0]].scope}.{name}"}}
    return {"begin": each.pattern, "beginCaptures": scopes, "end": each.end, "endCaptures": ends, "patterns": inside}
