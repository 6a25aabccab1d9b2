"""The forms a report can have, the one for standard output first."""

from typing import Final, Literal, get_args

Format = Literal["text", "json", "jsonl"]
FindingFormat = Literal["text", "concise", "github", "json", "jsonl"]
ExplainFormat = Literal["text", "json", "dot", "svg", "html"]
ContractFormat = Literal["text", "json", "svg", "html", "mermaid"]
CompareFormat = Literal["text", "json", "md"]
RepairFormat = Literal["text", "json", "sarif"]
Drawing = Literal["graph", "timeline"]
ScaleFormat = Literal["text", "json", "csv", "svg", "html"]
TextOrJson = Literal["text", "json"]
VerdictFormat = Literal["text", "concise", "github", "json", "jsonl", "junit", "sarif"]
NeedsFormat = Literal["text", "concise", "github", "json", "jsonl", "junit", "sarif", "md", "csv"]

FORMATS: Final[tuple[str, ...]] = get_args(Format)
FINDING_FORMATS: Final[tuple[str, ...]] = get_args(FindingFormat)
EXPLAIN_FORMATS: Final[tuple[str, ...]] = get_args(ExplainFormat)
CONTRACT_FORMATS: Final[tuple[str, ...]] = get_args(ContractFormat)
COMPARE_FORMATS: Final[tuple[str, ...]] = get_args(CompareFormat)
VERDICT_FORMATS: Final[tuple[str, ...]] = get_args(VerdictFormat)
NEEDS_FORMATS: Final[tuple[str, ...]] = get_args(NeedsFormat)
SCALE_FORMATS: Final[tuple[str, ...]] = get_args(ScaleFormat)
TEXT_OR_JSON: Final[tuple[str, ...]] = get_args(TextOrJson)
