"""The forms a report can have."""

from typing import Literal

Format = Literal["text", "json", "jsonl"]
TextOrJson = Literal["text", "json"]
