"""Changes between two reports, as text, Markdown and JSON (`schema/compare.schema.json`)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import Final, Literal, get_args

from rdma_robust.frame.answer import JsonObject
from rdma_robust.frame.formats.columns import sentence
from rdma_robust.frame.formats.json_text import layout, valid_unicode
from rdma_robust.reports.batch.batch_markdown import code, markdown_prose
from rdma_robust.reports.check.robustness_view import VERDICTS
from rdma_robust.text import count, one_line, printable

Kind = Literal["regression", "improvement", "new", "missing", "same"]
Key = tuple[str, ...]
"""What a claim is called in both reports: its group, then what tells it from others of the group."""


@dataclass(frozen=True, slots=True)
class ClaimVerdict:
    """An answer for a claim: its name for people, a word, how bad that is (a greater `rank` is worse), and whether it is
    what an `expect` line says, None if none does."""

    name: str
    word: str
    rank: int
    as_expected: bool | None = None

    def named(self, name: str) -> ClaimVerdict:
        return replace(self, name=name)

    @property
    def text(self) -> str:
        """The answer in words."""
        return self.word + ("" if self.as_expected is None else ", as expected" if self.as_expected else ", not as expected")


@dataclass(frozen=True, slots=True)
class Answers:
    """Answers by claim, and by group those for all of its claims that are not listed."""

    claims: Mapping[Key, ClaimVerdict] = field(default_factory=dict)
    groups: Mapping[str, ClaimVerdict] = field(default_factory=dict)

    def of(self, key: Key) -> ClaimVerdict | None:
        return self.claims.get(key) or self.groups.get(key[0])


@dataclass(frozen=True, slots=True)
class ReportedProgram:
    """One program as a report has it; `sha256` is None if it does not say which text it decided.

    `verdict` is `answered` where only claims have answers. `seen` is what a check came by besides; `answers` are those for
    the claims of the program, None where nobody asked.
    """

    verdict: str
    as_expected: bool | None
    reason: str
    sha256: str | None
    seen: Answers = Answers()
    answers: Answers | None = None


@dataclass(frozen=True, slots=True)
class Report:
    """A report that was read: its programs by file, and whether its run was stopped before its end. `counts_expected` says
    whether `expect` lines counted."""

    path: str
    programs: Mapping[str, ReportedProgram]
    interrupted: bool
    version: str
    format: str = "rdma-robust/report"
    counts_expected: bool = False


@dataclass(frozen=True, slots=True)
class VerdictChange:
    """One program in both reports. `old` or `new` is None where a report does not have it.

    `edited` says whether its text changed in between, None if that is not known.
    """

    file: str
    kind: Kind
    old: str | None
    new: str | None
    edited: bool | None
    reason: str


@dataclass(frozen=True, slots=True)
class ClaimChange:
    """One claim of a program that is in both reports; `old` or `new` is None where a report does not have the claim."""

    file: str
    kind: Kind
    claim: str
    old: str | None
    new: str | None
    edited: bool | None


@dataclass(frozen=True, slots=True)
class Comparison:
    """The changes, in the order of the new report, the missing programs last; `same` programs have the same verdict."""

    old: Report
    new: Report
    changes: tuple[VerdictChange, ...]
    claims: tuple[ClaimChange, ...] = ()

    def of(self, kind: Kind) -> list[VerdictChange]:
        return [change for change in self.changes if change.kind == kind]

    def claims_of(self, kind: Kind) -> list[ClaimChange]:
        """Return the claims of a kind."""
        return [change for change in self.claims if change.kind == kind]

    @property
    def worse(self) -> int:
        """How many verdicts and claims got worse."""
        return len(self.of("regression")) + len(self.claims_of("regression"))

    @property
    def better(self) -> int:
        """How many verdicts and claims got better."""
        return len(self.of("improvement")) + len(self.claims_of("improvement"))


FORMAT = "rdma-robust/compare"
ANSWERS: Final = {**VERDICTS, "answered": "answered"}
"""The words for what became of a program."""

CLAIM_TITLES: Final[Mapping[Kind, str]] = {
    "regression": "Claims that got worse",
    "improvement": "Claims that got better",
    "new": "New claims",
    "missing": "Missing claims",
}
TITLES: Final[Mapping[Kind, str]] = {
    "regression": "Regressions",
    "improvement": "Improvements",
    "new": "New programs",
    "missing": "Missing programs",
}
KINDS: Final = get_args(Kind)


def comparison_text(comparison: Comparison, width: int | None = None) -> str:
    """Return the changes for a terminal of this `width`."""
    lines = []
    for kind, title in TITLES.items():
        changes = comparison.of(kind)
        if changes:
            said = [f"{printable(c.file)}: {_step(c, str)}{_remark(c)}" for c in changes]
            lines += [f"{title}:", *(line for each in said for line in sentence(each, width, "  ")), ""]
    for kind, title in CLAIM_TITLES.items():
        claims = comparison.claims_of(kind)
        if claims:
            said = [
                f"{printable(c.file)}: {printable(one_line(c.claim, 160))}: {_claim_step(c, printable)}{_edited(c.edited)}"
                for c in claims
            ]
            lines += [f"{title}:", *(line for each in said for line in sentence(each, width, "  ")), ""]
    for note in (*_notes(comparison), _totals(comparison)):
        lines += sentence(note, width)
    return "\n".join(lines) + "\n"


def comparison_markdown(comparison: Comparison) -> str:
    """Return the changes for a comment on a pull request."""
    lines = ["## RDMA robustness: what changed", ""]
    for kind, title in TITLES.items():
        changes = comparison.of(kind)
        if changes:
            lines += [f"### {title}", ""]
            lines += [
                f"- {code(c.file, cell=False)}: {_step(c, '**{}**'.format)} {markdown_prose(_remark(c))}".rstrip()
                for c in changes
            ]
            lines.append("")
    for kind, title in CLAIM_TITLES.items():
        claims = comparison.claims_of(kind)
        if claims:
            lines += [f"### {title}", ""]
            for c in claims:
                step = _claim_step(c, markdown_prose, "**{}**")
                line = f"- {code(c.file, cell=False)}: {markdown_prose(one_line(c.claim, 160))}: {step}"
                lines.append(f"{line} {markdown_prose(_edited(c.edited))}".rstrip())
            lines.append("")
    return (
        "\n".join(
            [*lines, *(f"{markdown_prose(note)}\n" for note in _notes(comparison)), markdown_prose(_totals(comparison))]
        )
        + "\n"
    )


def comparison_json(comparison: Comparison) -> str:
    """Return the changes for machines; programs and claims whose answer stayed the same are only counted."""
    document: JsonObject = {
        "format": FORMAT,
        "version": 1,
        "old": _side(comparison.old),
        "new": _side(comparison.new),
        "changes": [asdict(c) | {"file": valid_unicode(c.file)} for c in comparison.changes if c.kind != "same"],
        "claims": [
            {
                "file": valid_unicode(c.file),
                "claim": valid_unicode(c.claim),
                "kind": c.kind,
                "old": c.old,
                "new": c.new,
                "edited": c.edited,
            }
            for c in comparison.claims
            if c.kind != "same"
        ],
        "summary": {
            **{kind: len(comparison.of(kind)) for kind in KINDS},
            "claims": {kind: len(comparison.claims_of(kind)) for kind in KINDS},
            "worse": comparison.worse,
            "better": comparison.better,
        },
    }
    return layout(document) + "\n"


def _side(side: Report) -> JsonObject:
    return {"file": valid_unicode(side.path), "tool_version": side.version, "interrupted": side.interrupted}


def _step(change: VerdictChange, emphasise: Callable[[str], str]) -> str:
    old, new = (None if verdict is None else ANSWERS[verdict] for verdict in (change.old, change.new))
    if old is None or new is None:
        return old or new or ""
    return f"{old} -> {emphasise(new)}"


def _remark(change: VerdictChange) -> str:
    """Return what a change of verdict says besides: whether the program was edited, and why it has none any more."""
    if change.old is None or change.new is None:
        return ""
    remarks = []
    if change.edited is not None:
        remarks.append(EDITED[change.edited])
    if change.new in ("unknown", "error"):
        remarks.append(one_line(change.reason, 160))
    return f" ({'; '.join(remarks)})" if remarks else ""


EDITED: Final = {True: "the program was edited", False: "the same program"}


def _edited(edited: bool | None) -> str:
    return "" if edited is None else f" ({EDITED[edited]})"


def _claim_step(change: ClaimChange, escape: Callable[[str], str], form: str = "{}") -> str:
    old, new = ("not asked" if word is None else escape(word) for word in (change.old, change.new))
    return f"{old} -> {form.format(new)}"


def _notes(comparison: Comparison) -> list[str]:
    sides = (("old", comparison.old), ("new", comparison.new))
    return [
        f"The {name} report is of a run that was interrupted: programs may be missing." for name, s in sides if s.interrupted
    ]


def _totals(comparison: Comparison) -> str:
    same = count(len(comparison.of("same")), "verdict")
    numbers = [(len(comparison.of(kind)), title.lower().removesuffix("s")) for kind, title in TITLES.items()]
    said = ", ".join([count(number, noun) for number, noun in numbers if number] + [f"{same} unchanged"])
    if not comparison.claims:
        return said
    words: Mapping[Kind, str] = {
        "regression": "worse",
        "improvement": "better",
        "new": "new",
        "missing": "missing",
        "same": "unchanged",
    }
    of_claims = [(len(comparison.claims_of(kind)), word) for kind, word in words.items()]
    numbered = ", ".join(f"{number} {word}" for number, word in of_claims if number or word in ("worse", "better"))
    return f"{said}; {count(len(comparison.claims), 'claim')}: {numbered}"
