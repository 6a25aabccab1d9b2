"""The view of the answers of `prove`: a row per program and model, models side by side, numbers, JSON."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, Final

from jinja2 import Environment
from markupsafe import Markup

from rdma_robust.frame.answer import Counts, JsonObject
from rdma_robust.frame.exits import Exit
from rdma_robust.frame.finding import Finding, problem_findings
from rdma_robust.frame.formats.answer_table import AnswerTable, Row, Totals, expected_cell
from rdma_robust.frame.formats.columns import Column, Columns, of_files
from rdma_robust.frame.formats.json_text import valid_unicode
from rdma_robust.frame.formats.junit import Case
from rdma_robust.frame.question import Layout, Section, View
from rdma_robust.reports.prove.proof_lines import proof_headline
from rdma_robust.reports.prove.proof_record import ModelRecord, PossibleView, ProofRecord, ProofRun
from rdma_robust.reports.share.claim_findings import ClaimAnswer, StepView, claim_cases, claim_findings
from rdma_robust.reports.share.html_templates import SourceLine, source_listing, templates
from rdma_robust.reports.share.page_style import PAGE_STYLE, SCRIPT, STYLE, page_script
from rdma_robust.text import count, lines_of, one_line, printable

WORDS: Final = {"safe": "safe", "unsafe": "UNSAFE", "unknown": "UNKNOWN", "refused": "refused", "error": "error"}
_MOST_NOTE: Final = 160


class ProofView(View[ProofRecord]):
    """The answers of `prove`."""

    def text(self, layout: Layout) -> ProofTable:
        columns = (
            Column("model", len("rdma")),
            Column("verdict", len("UNKNOWN")),
            Column("expected?", rank=1),
            Column("engine", len("predicates"), rank=4),
            Column("states", 9, rank=3, right=True),
            Column("time", 9, rank=2, right=True),
        )

        def rows(record: ProofRecord, _: int) -> Iterable[Row]:
            return _rows(record, self.asking.expect, layout.quiet)

        return ProofTable(layout, columns, rows, _totals, self.asking.expect, self.asking.explain)

    def objects(self, record: ProofRecord) -> Sequence[JsonObject]:
        members = dataclasses.asdict(record)
        del members["lines"], members["source"]
        models = [_model_object(each, self.asking.expect) for each in record.models]
        code = int(record.exit_of(self.asking.expect))
        return (members | {"file": valid_unicode(record.file), "models": models, "exit_code": code},)

    def numbers(self, records: Sequence[ProofRecord]) -> Mapping[str, int]:
        answers = [each for record in records for each in record.models]
        words = [each.verdict for each in answers]
        return {
            **{word: words.count(word) for word in ("safe", "unsafe", "unknown", "refused")},
            "undecided": sum(r.verdict == "unknown" and not r.models for r in records),
            "error": sum(r.verdict == "error" for r in records),
            "as_expected": sum(each.as_expected is True for each in answers),
            "mismatched": sum(mismatched(each) if self.asking.expect else each.as_expected is False for each in answers),
        }

    def exit_of(self, record: ProofRecord) -> Exit:
        return record.exit_of(self.asking.expect)

    def findings(self, record: ProofRecord) -> Iterable[Finding]:
        return proof_findings(record, self.asking.expect)

    def cases(self, section: Section[Any, ProofRecord]) -> Mapping[str, Sequence[Case]]:
        return {record.file: list(proof_cases(record, self.asking.expect)) for record in section.records}


@dataclass(frozen=True)
class ProofTable(AnswerTable[ProofRecord]):
    """A table with the models side by side beneath it, unless only what counts is shown."""

    def totals(self, section: Section[Any, ProofRecord]) -> list[str]:
        """Return programs and models side by side, and the last line."""
        return [*([] if self.layout.quiet else self.matrix(section.records)), *super().totals(section)]

    def matrix(self, records: Sequence[ProofRecord]) -> list[str]:
        """Return programs and models side by side; nothing if there is only one of either."""
        models = list(dict.fromkeys(each.model for record in records for each in record.models))
        if len(records) < 2 or len(models) < 2:
            return []
        columns = Columns(
            (of_files([r.file for r in records], self.layout.width), *(Column(model, len("UNKNOWN")) for model in models)),
            self.layout.width,
        )
        lines = ["", *columns.head()]
        for record in records:
            found = {each.model: WORDS[each.verdict] for each in record.models}
            none = WORDS[record.verdict] if not record.models else "-"
            lines += columns.row((printable(record.file), *(found.get(model, none) for model in models)))
        return [*lines, ""]


def _rows(record: ProofRecord, expect: bool, quiet: bool) -> list[Row]:
    """Return the rows of a program, with `quiet` only those that count; beneath the last is what explains them."""
    if not record.models:
        if quiet and record.exit_of(expect) is Exit.OK:
            return []
        return [Row(("-", WORDS[record.verdict], *"----"), one_line(record.reason, _MOST_NOTE))]
    shown = [each for each in record.models if not (quiet and each.exit_of(expect) is Exit.OK)]
    rows = [Row(_cells(each), _note(each)) for each in shown]
    if rows and not quiet:
        blocks = [each.lines for each in record.models if each.lines] + ([record.lines] if record.lines else [])
        body = [line for block in blocks for line in ("", *block)][1:]
        rows[-1] = rows[-1]._replace(lines=body)
    return rows


def _totals(records: Sequence[ProofRecord], counts: Counts) -> Totals:
    answers = sum(len(record.models) for record in records)
    counted = count(len(records), "program") + (f", {count(answers, 'answer')}" if answers != len(records) else "")
    numbers = [(word, counts[word]) for word in ("safe", "unsafe")]
    return Totals(counted, [*numbers, ("unknown", counts["unknown"] + counts["undecided"]), ("refused", counts["refused"])])


def _model_object(each: ModelRecord, expect: bool) -> JsonObject:
    members = dataclasses.asdict(each)
    del members["lines"]
    return members | {"counts": dict(each.counts), "exit_code": int(each.exit_of(expect))}


def mismatched(each: ModelRecord) -> bool:
    """Return whether an answer is not the expected one, as `--expect` counts: nor is one that nobody expected."""
    return each.verdict in ("safe", "unsafe") and each.as_expected is not True


def model_expected_word(each: ModelRecord) -> str:
    """Return whether an answer is the expected one: `yes`, `NO`, `?` (undecided), or `-` without an `expect` line."""
    return expected_cell(each.as_expected, claimed=each.expected is not None)


def engine_word(each: ModelRecord) -> str:
    """Return the engine that gave an answer, `machine` if a run was found by searching the model's machine itself."""
    if each.engine is None:
        return "machine" if each.run is not None else "-"
    return each.engine + ("+sets" if each.reduction == "sets" else "")


def _cells(each: ModelRecord) -> tuple[str, ...]:
    searched = each.engine is not None or each.states > 0
    return (
        each.model,
        WORDS[each.verdict],
        model_expected_word(each),
        engine_word(each),
        f"{each.states:,}" if searched else "-",
        f"{each.time_s:.2f} s" if searched else "-",
    )


def _note(each: ModelRecord) -> str:
    """Return what a row says besides its numbers."""
    remarks = []
    if each.claim is None and (each.verdict in ("unknown", "refused") or each.engine is None):
        remarks.append(one_line(each.reason, _MOST_NOTE))
    elif each.claim is not None:
        kind = "" if each.claim.kind == "assertion" else f"{each.claim.kind} "
        remarks.append(f"line {each.claim.line}: {kind}{one_line(each.claim.text)}")
    impossible = [each.claim.line for each in each.possible if each.possible is False]
    undecided = [each.claim.line for each in each.possible if each.possible is None]
    remarks += [f"claimed to be possible and is not: {_lines(impossible)}"] if impossible else []
    remarks += [f"possible or not is open: {_lines(undecided)}"] if undecided else []
    nothing = [claim.line for claim in each.unreachable]
    remarks += [f"UNREACHABLE, a claim about nothing: {_lines(nothing)}"] if nothing else []
    return "; ".join(remark for remark in remarks if remark)


def _lines(numbers: Sequence[int]) -> str:
    return ", ".join(f"line {number}" for number in dict.fromkeys(numbers))


def answers_of(record: ProofRecord, expect: bool) -> Iterator[ClaimAnswer]:
    """Yield an answer for each model that did not refuse the program, as a claim; with `expect` what is expected counts."""
    for each in record.models:
        if each.verdict != "refused":
            yield _finding(each, expect)
            yield from (_possible(each, possible) for possible in each.possible)


def _finding(each: ModelRecord, expect: bool) -> ClaimAnswer:
    code = each.exit_of(expect)
    model, unsafe = each.model, each.verdict == "unsafe"
    if each.verdict == "unknown":
        return ClaimAnswer("safe", f"safe under {model}", model, None, None, "unknown", each.reason, int(Exit.UNKNOWN))
    if expect and each.as_expected is not True:
        wanted = "nothing is expected" if each.expected is None else f"{each.expected} is expected"
        reason = f"{wanted}, and the program is {each.verdict}: {each.reason}"
        text = f"{each.expected or each.verdict} under {model}"
        return ClaimAnswer(
            "safe", text, model, each.expected_line, None, "violated", reason, int(Exit.NOT_ROBUST), (), _run(each.run)
        )
    if not unsafe or code is Exit.OK:
        return ClaimAnswer("safe", f"{each.verdict} under {model}", model, each.expected_line, None, "holds", each.reason, 0)
    claim = each.claim
    kind, text = ("safe", f"safe under {model}") if claim is None else (claim.kind, f"{claim.text} (under {model})")
    line, column = (None, None) if claim is None else (claim.line, claim.column)
    return ClaimAnswer(kind, text, model, line, column, "violated", each.reason, int(Exit.NOT_ROBUST), (), _run(each.run))


def _possible(each: ModelRecord, view: PossibleView) -> ClaimAnswer:
    status = {True: "holds", False: "violated", None: "unknown"}[view.possible]
    code = {True: Exit.OK, False: Exit.NOT_ROBUST, None: Exit.UNKNOWN}[view.possible]
    text, claim = f"{view.claim.text} : allowed under {each.model}", view.claim
    return ClaimAnswer(claim.kind, text, each.model, claim.line, claim.column, status, view.reason, int(code))


def _run(run: ProofRun | None) -> tuple[StepView, ...]:
    moves = () if run is None else run.moves
    return tuple(
        StepView(each.thread or "", each.line, each.column, f"{each.where}: {each.text}") for each in moves if each.line
    )


def proof_findings(record: ProofRecord, expect: bool) -> Iterator[Finding]:
    """Yield what is to be looked at in the answers for one program."""
    reason = "" if record.models or record.verdict != "unknown" else record.reason
    yield from problem_findings(record.file, (*record.errors, *record.warnings), record.error_kind, record.reason, reason)
    yield from claim_findings(record.file, answers_of(record, expect))


def proof_cases(record: ProofRecord, expect: bool) -> Iterator[Case]:
    classname = f"rdma-robust.{record.file}"
    if not record.models:
        says = f"{record.verdict}: {record.reason}"
        yield Case(record.file, classname, record.time_s, "error", record.error_kind or record.verdict, says)
    for each in record.models:
        name = f"{each.model}: "
        if each.verdict == "refused":
            yield Case(f"{name}refused", classname, 0.0, "skipped", "refused", each.reason)
            continue
        found = [_finding(each, expect), *(_possible(each, possible) for possible in each.possible)]
        yield from claim_cases(found, classname, name)


_PACKAGE: Final = "rdma_robust.reports.prove"
_CLASSES: Final = {"safe": "robust", "unsafe": "not-robust", "unknown": "unknown", "refused": "unknown"}
_MARKS: Final = {"fault": "violated under", "keeps": "needed under", "cycle": "reordered by"}
_NEEDED: Final = {"safe": "safe: it is not needed", "unsafe": "unsafe", "unknown": "open"}


def proof_html(record: ProofRecord, drawings: Mapping[str, str], version: str) -> str:
    """Return the page; `drawings` are the runs of unsafe models as SVG, `version` is that of the tool."""
    told = ", ".join(f"{each.model} {WORDS[each.verdict]}" for each in record.models)
    return (
        _templates()
        .get_template("proof.html.j2")
        .render(
            told=record,
            title=f"{record.program}: {told}",
            classes=_CLASSES,
            words=WORDS,
            needed=_NEEDED,
            heads={each.model: proof_headline(each, after="after the run below.") for each in record.models},
            marked={each.weaker for each in record.differences if each.lines},
            style=PAGE_STYLE + STYLE,
            script=page_script(SCRIPT),
            source=source_listing(_page_lines(record)),
            drawings={model: Markup(drawing) for model, drawing in drawings.items()},
            version=version,
        )
    )


@cache
def _templates() -> Environment:
    return templates(_PACKAGE)


def _page_lines(record: ProofRecord) -> list[SourceLine]:
    marks: dict[int, dict[str, list[str]]] = {}

    def mark(line: int, kind: str, model: str) -> None:
        marks.setdefault(line, {}).setdefault(kind, []).append(model)

    for each in record.models:
        if each.claim is not None:
            mark(each.claim.line, "fault", each.model)
        for need in each.needs:
            if need.verdict == "unsafe":
                mark(need.line, "keeps", each.model)
    for difference in record.differences:
        for line in difference.lines:
            mark(line, "cycle", difference.weaker)
    texts = lines_of(record.source or "")
    return [SourceLine(n, text, tuple(marks.get(n, ())), _badge(marks.get(n, {}))) for n, text in enumerate(texts, 1)]


def _badge(marks: Mapping[str, list[str]]) -> str:
    return ", ".join(f"{_MARKS[kind]} {', '.join(models)}" for kind, models in marks.items())
