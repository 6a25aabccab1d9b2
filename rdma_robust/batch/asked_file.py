"""What is asked of a file whose answer may be kept: its text, and all that the answer depends on."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import PurePath
from typing import Any, Literal

from rdma_robust.batch.cache import Question
from rdma_robust.text import sha256

_LIMITS = ("timeout", "memory")


@dataclass(frozen=True, slots=True)
class AskedFile:
    """What is asked of the text of a file: what kind of question, all that its answer depends on, and the limits."""

    kind: Literal["messages", "contracts"]
    name: str
    text: str
    asking: Mapping[str, object]
    limits: Mapping[str, object]

    @staticmethod
    def of(kind: Literal["messages", "contracts"], name: str, text: str, asking: Any) -> AskedFile:
        """Return what a record of options, with `timeout` and `memory`, asks of a text."""
        options = json.loads(json.dumps(dataclasses.asdict(asking)))
        limits = {each: options.pop(each) for each in _LIMITS}
        return AskedFile(kind, name, text, options, limits)

    def questions(self) -> tuple[Question, Question]:
        """Return what is asked without the limits, and with them: what a limit cut short answers only the same limits."""
        named = self.name if self.asking.get("page") else PurePath(self.name).stem
        settled: Question = {self.kind: True, "text": sha256(self.text), "name": named, **self.asking}
        return settled, {**settled, **self.limits}
