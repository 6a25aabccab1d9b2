"""Reports of `models` on programs: a table for each, and JSON."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Final

from rdma_robust.analyses.hardware.on_all_hardware import OnAllHardware
from rdma_robust.frame.answer import Counts, DiagnosticView, JsonObject, diagnostics
from rdma_robust.frame.exits import Exit, worst
from rdma_robust.frame.formats.answer_table import AnswerParagraphs, counted
from rdma_robust.frame.formats.columns import Column, Columns, sentence
from rdma_robust.frame.formats.json_text import valid_unicode
from rdma_robust.frame.question import Layout, View
from rdma_robust.model import PROMISED, Model
from rdma_robust.orders import order_name
from rdma_robust.outcome import Outcome, Verdict
from rdma_robust.reports.check.robustness_view import VERDICTS
from rdma_robust.text import count, printable

HEADS: Final = ("cpu", "atomics", "order", "reads", "verdict", "states")
OF_STANDARDS: Final = "order {}: what standards of one-sided libraries promise, not what a NIC does"
EXITS: Final = {Verdict.ROBUST: Exit.OK, Verdict.NOT_ROBUST: Exit.NOT_ROBUST, Verdict.UNKNOWN: Exit.UNKNOWN}


@dataclass(frozen=True, slots=True)
class SettingView:
    """One setting of the hardware: the verdict, and whether it is among the first that break the program, and then why.

    `own` is that of the program itself.
    """

    model: Model
    verdict: str
    reason: str
    states: int
    time_s: float
    own: bool
    first: bool
    why: tuple[str, ...]
    exit_code: int


@dataclass(frozen=True, slots=True)
class ModelsRecord:
    """The answer for one program; without `settings` none was found, and `reason` says why. `without_regions` is what
    its own setting would say if all words were strict, `without_memories` if none lay behind a card, None if that is so."""

    file: str
    status: str
    exit_code: int
    reason: str = ""
    error_kind: str | None = None
    program: str | None = None
    settings: tuple[SettingView, ...] = ()
    left_out: tuple[str, ...] = ()
    without_regions: SettingView | None = None
    without_memories: SettingView | None = None
    warnings: tuple[DiagnosticView, ...] = ()
    errors: tuple[DiagnosticView, ...] = ()
    time_s: float = 0.0


def models_record(found: OnAllHardware) -> ModelsRecord:
    """Return the record of a program."""
    views = tuple(_view(found, k, each) for k, each in enumerate(found.outcomes))
    code = worst([Exit(view.exit_code) for view in views])
    status = {Exit.OK: "robust", Exit.NOT_ROBUST: "not-robust"}.get(code, "unknown")
    return ModelsRecord(
        found.program.file,
        status,
        code,
        program=found.program.name,
        settings=views,
        left_out=found.left_out,
        without_regions=_plainer(found, found.without_regions),
        without_memories=_plainer(found, found.without_memories),
        warnings=diagnostics(found.program.warnings),
        time_s=round(found.time_s, 6),
    )


def _plainer(found: OnAllHardware, outcome: Outcome | None) -> SettingView | None:
    return None if outcome is None else _view(found, -1, outcome)


def _view(found: OnAllHardware, number: int, outcome: Outcome) -> SettingView:
    word = {Verdict.ROBUST: "robust", Verdict.NOT_ROBUST: "not-robust", Verdict.UNKNOWN: "unknown"}[outcome.verdict]
    time_s, states = round(outcome.time_s, 6), outcome.counts.states
    first, why, code = number in found.firsts, found.firsts.get(number, ()), EXITS[outcome.verdict]
    return SettingView(outcome.model, word, outcome.reason, states, time_s, outcome.model == found.own, first, why, code)


def models_text(record: ModelsRecord, width: int | None) -> list[str]:
    """Return the lines of one program."""
    if not record.settings:
        return sentence(f"{printable(record.file)}: {record.status}: {printable(record.reason)}", width)
    counts = Counter(view.verdict for view in record.settings)
    said = ", ".join(f"{counts[word]} {VERDICTS[word]}" for word in ("robust", "not-robust", "unknown") if counts[word])
    lines = sentence(f"{printable(record.file)}: {count(len(record.settings), 'setting')}: {said}", width)
    plainer = ((getattr(record, name), text) for name, text in PLAINER.items())
    shown = [
        *((view, _note(view)) for view in record.settings),
        *((view, _note_of(text, view)) for view, text in plainer if view is not None),
    ]
    rows = [_cells(view) for view, _ in shown]
    widths = [max(len(row[k]) for row in rows) for k in range(len(HEADS))]
    named = [Column(head, most, right=head == "states") for head, most in zip(HEADS, widths, strict=True)]
    columns = Columns(named, width, "  ")
    lines += columns.head()
    for (_, note), row in zip(shown, rows, strict=True):
        lines += columns.row(row, note)
    for order in dict.fromkeys(view.model.order for view in record.settings if view.model.order in PROMISED):
        lines += sentence(OF_STANDARDS.format(order), width, "  ")
    for reason in record.left_out:
        lines += sentence(f"left out: {reason}", width, "  ")
    for view in record.settings:
        if view.first:
            lines += sentence(f"Not robust first {setting_text(view.model, record.settings[0].model)}:", width, "  ")
            for reason in view.why:
                lines += sentence(printable(reason), width, "    ")
    return lines


def setting_text(model: Model, strongest: Model) -> str:
    """Return where a setting is weaker than the strongest one: `under cpu tso, atomics hca`."""
    words = [
        f"{'reads' if name == 'ordered_reads' else name} {_word(name, value)}"
        for name, value in asdict(model).items()
        if value != getattr(strongest, name)
    ]
    return f"under {', '.join(words)}" if words else "on the strongest hardware already"


def _word(name: str, value: object) -> str:
    if name == "order":
        return order_name(str(value))
    return ("ordered" if value else "unordered") if name == "ordered_reads" else str(value)


def _cells(view: SettingView) -> list[str]:
    model = view.model
    reads = _word("ordered_reads", model.ordered_reads)
    return [model.cpu, model.atomics, model.order_name, reads, VERDICTS[view.verdict], f"{view.states}"]


PLAINER: Final = {
    "without_regions": "that of the program without relaxed regions",
    "without_memories": "that of the program with all memory beside its NIC",
}
"""The rows that there are for some programs only."""


def _note_of(text: str, view: SettingView) -> str:
    return "; ".join([text, *[printable(view.reason)] * (view.verdict == "unknown")])


def _note(view: SettingView) -> str:
    undecided = [printable(view.reason)] * (view.verdict == "unknown")
    return "; ".join(["that of the program"] * view.own + ["first to break it"] * view.first + undecided)


WORDS: Final = {
    "robust": "robust everywhere",
    "not-robust": "not robust somewhere",
    "unknown": "unknown",
    "error": "in error",
}


class ModelsView(View[ModelsRecord]):
    """The answers of `models`."""

    def text(self, layout: Layout) -> AnswerParagraphs[ModelsRecord]:
        return AnswerParagraphs(layout, models_text, _said, lambda record: record.exit_code == Exit.OK)

    def objects(self, record: ModelsRecord) -> Sequence[JsonObject]:
        told = asdict(record) | {"file": valid_unicode(record.file), "exit_code": int(record.exit_code)}
        return ({key: value for key, value in told.items() if key not in PLAINER or value is not None},)

    def numbers(self, records: Sequence[ModelsRecord]) -> Mapping[str, int]:
        found = Counter(record.status for record in records)
        return {status.replace("-", "_"): found[status] for status in WORDS}

    def exit_of(self, record: ModelsRecord) -> Exit:
        return Exit(record.exit_code)


def _said(counts: Counts) -> str:
    return counted(counts, ((status.replace("-", "_"), words) for status, words in WORDS.items()))
