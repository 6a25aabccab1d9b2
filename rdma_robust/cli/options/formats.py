"""The forms a report can have."""

from typing import Literal

Format = Literal["text", "json", "jsonl"]
ExplainFormat = Literal["text", "json", "dot", "svg", "html"]
Drawing = Literal["graph", "timeline"]
TextOrJson = Literal["text", "json"]
