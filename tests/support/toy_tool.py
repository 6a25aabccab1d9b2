"""A toy tool, registered by one record: equations of sums, which hold or not, in two notations of one suffix.

`let NAME = VALUE`, `claim SUM = SUM` and `include "FILE"`, or, in files that begin with `%`, `% SUM is SUM`. It has what
tools for C will need: two front ends chosen by the text, inputs of several files, findings in a file that was not named,
configurations of an input (`-n 2..4`), an option of its own, certificates, explanations, and support for editors.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from rdma_robust import TOOL as MADE_BY
from rdma_robust.certify.checker import ProofCheck
from rdma_robust.certify.document import Certificate, content_digest, reject
from rdma_robust.diagnose import Reporter
from rdma_robust.errors import Diagnostic, ProgramError, Span
from rdma_robust.evidence.envelope import write_document
from rdma_robust.frame.answer import Answer, Failure, JsonObject
from rdma_robust.frame.command_asking import CommandAsking
from rdma_robust.frame.editor import Asker, Editor
from rdma_robust.frame.exits import Exit
from rdma_robust.frame.finding import Finding
from rdma_robust.frame.formats.answer_table import AnswerTable, Row, verdict_totals
from rdma_robust.frame.formats.columns import Column
from rdma_robust.frame.formats.junit import Case
from rdma_robust.frame.question import Layout, Question, Section, View
from rdma_robust.frame.registry import CertificateKind, CommandEntry, FrontEnd, QuestionOption, Tool
from rdma_robust.frame.shell.inputs import Source, read_source
from rdma_robust.limits import Limits, Progress
from rdma_robust.value_ranges import file_of

NAME, VERSION = "rdma-robust/toy", 1
HELP = """Decide whether equations of sums hold.

FILE is a file, a directory (every *.toy below it), a glob pattern, or - for standard input.

\b
Exit codes
  0  all hold      1  some do not      2  usage, invalid input      3  a limit      4  internal error
\b
Examples
  rdma-robust toy sums.toy
"""


@dataclass(frozen=True, slots=True)
class Equation:
    """Two sums, and the 1-based line of a file where they are said to be equal."""

    file: str
    line: int
    left: int
    right: int

    @property
    def holds(self) -> bool:
        return self.left == self.right


@dataclass(frozen=True, slots=True)
class ToyRecord:
    """What was found out about one input."""

    file: str
    verdict: Literal["holds", "broken", "unknown", "error"]
    reason: str = ""
    error_kind: str | None = None
    equations: tuple[Equation, ...] = ()

    @property
    def broken(self) -> tuple[Equation, ...]:
        return tuple(each for each in self.equations if not each.holds)


def is_percent(text: str, file: str) -> bool:
    """Return whether a text is in the notation with `%`."""
    return _may_be(file) and text.startswith("%")


def is_let(text: str, file: str) -> bool:
    """Return whether a text is in the notation with words."""
    return _may_be(file) and (file_of(file).endswith(".toy") or text.startswith(("let ", "claim "))) and text[:1] != "%"


def _may_be(file: str) -> bool:
    """Return whether the name of a file is of this suffix, or says nothing."""
    return file_of(file).endswith(".toy") or "." not in file


def included(text: str, file: str) -> Iterator[str]:
    """Yield the files that a text is made of besides."""
    for name in re.findall(r'^include "(.*)"$', text, re.MULTILINE):
        yield os.path.join(os.path.dirname(file), name)


def defined(text: str, define: Sequence[str], _: str) -> str:
    """Return the text with other values for its names."""
    for each in define:
        name, _, value = each.partition("=")
        text = re.sub(rf"^let {name} = .*$", f"let {name} = {value}", text, flags=re.MULTILINE)
    return text


def formatted(text: str, file: str) -> str:
    """Return a text without blanks at the ends of lines. Raises ProgramError."""
    list(equations(text, file))
    return "\n".join(line.rstrip() for line in text.split("\n"))


def equations(text: str, file: str, known: Mapping[str, int] | None = None) -> Iterator[Equation]:
    """Yield the equations of a text and of what it includes. Raises ProgramError with all that is wrong in one file."""
    report, names, found = Reporter(file, text), dict(known or {}), []
    percent, start = is_percent(text, file), 0
    for number, line in enumerate(text.split("\n"), 1):
        form = r"% (.*) is (.*)" if percent else r"claim (.*) = (.*)"
        if let := re.fullmatch(r"let (\w+) = (\d+)", line):
            names[let[1]] = int(let[2])
        elif claim := re.fullmatch(form, line.rstrip()):
            found.append(Equation(file_of(file), number, *(_sum(each, names) for each in claim.groups())))
        elif re.fullmatch(r'include ".*"', line):
            other = os.path.join(os.path.dirname(file_of(file)), line[9:-1])
            found += equations(Path(other).read_text(encoding="utf-8"), other, names)
        elif line.strip():
            span = Span(number, 1, number, len(line) + 1, start, start + len(line))
            report.error("RR101", span, "this is no equation", expected="SUM = SUM")
        start += len(line) + 1
    report.raise_errors()
    yield from found


def _sum(text: str, names: Mapping[str, int]) -> int:
    return sum(names[each] if each in names else int(each) for each in text.split(" + "))


class ToyView(View[ToyRecord]):
    """The answers of the toy question."""

    def text(self, layout: Layout) -> AnswerTable[ToyRecord]:
        def rows(record: ToyRecord, room: int) -> Sequence[Row]:
            del room
            if layout.quiet and record.verdict == "holds":
                return ()
            cells = record.verdict if record.verdict != "broken" else "BROKEN", str(len(record.equations))
            return (Row(cells, record.reason, [f"line {each.line} does not hold" for each in record.broken]),)

        columns = Column("verdict", 7), Column("equations", right=True)
        last = verdict_totals("holds", "broken", "unknown")
        return AnswerTable(layout, columns, rows, last, self.asking.expect, self.asking.explain)

    def objects(self, record: ToyRecord) -> Sequence[JsonObject]:
        lines: list[object] = [{"file": each.file, "line": each.line} for each in record.broken]
        return ({"file": record.file, "verdict": record.verdict, "reason": record.reason, "broken": lines},)

    def numbers(self, records: Sequence[ToyRecord]) -> Mapping[str, int]:
        words = ("holds", "broken", "unknown", "error", "as_expected", "mismatched")
        return {word: sum(each.verdict == word for each in records) for word in words}

    def exit_of(self, record: ToyRecord) -> Exit:
        if record.verdict == "broken":
            return Exit.NOT_ROBUST
        if record.verdict == "error":
            return Exit.INTERNAL if record.error_kind == "internal" else Exit.INVALID
        return Exit.OK if record.verdict == "holds" else Exit.UNKNOWN

    def findings(self, record: ToyRecord) -> Iterator[Finding]:
        for each in record.broken:
            yield Finding(each.file, each.line, 1, "error", "RR016", f"{each.left} is not {each.right}")

    def cases(self, section: Section[CommandAsking, ToyRecord]) -> Mapping[str, Sequence[Case]]:
        return {"toy": [_case(record) for record in section.records]}


def _case(record: ToyRecord) -> Case:
    kind: Literal["", "failure", "error"] = {"holds": "", "broken": "failure"}.get(record.verdict, "error")  # type: ignore[assignment]
    return Case(record.file, "rdma-robust.toy", 0.0, kind, record.verdict, record.reason)


def _answer(
    source: Source, asking: CommandAsking, limits: Limits, progress: Progress, tell: Callable[[Answer[ToyRecord]], None]
) -> Answer[ToyRecord]:
    del limits, progress, tell
    text = read_source(source)
    found = tuple(equations(text, source.name))
    if asking.values.get("first"):
        found = found[:1]
    record = ToyRecord(source.name, "holds" if all(each.holds for each in found) else "broken", equations=found)
    if source.certificate is not None and record.verdict == "holds":
        shown: list[object] = [each.left for each in found]
        folder = os.path.dirname(os.path.realpath(source.certificate))
        about = None if source.path is None else os.path.relpath(os.path.realpath(source.path), folder)
        made = Certificate("toy", about, content_digest(text), {"kind": "equal"}, {}, {"kind": "sums", "sums": shown})
        Path(source.certificate).write_bytes(write_document(made, MADE_BY))
    return Answer(record, text=text)


def verify_sums(certificate: Certificate, text: str, name: str) -> ProofCheck:
    """Check that the sums of a certificate are those on the right. Raises InvalidCertificate."""
    if certificate.evidence["sums"] != [each.right for each in equations(text, name)]:
        reject("another sum is on the right")
    return ProofCheck("equal", "addition")


def explained(source: Source, form: str, limits: Limits) -> tuple[str, Exit]:
    """Return each equation with its sums, and the exit code."""
    del limits
    found = list(equations(read_source(source), source.name))
    lines = [f"line {each.line}: {each.left} {'is' if each.holds else 'is not'} {each.right}" for each in found]
    text = "\n".join(lines) if form == "text" else f'{{"lines": {len(lines)}}}'
    return text, Exit.OK if all(each.holds for each in found) else Exit.NOT_ROBUST


def diagnostics(text: str, file: str) -> tuple[Diagnostic, ...]:
    """Return what is wrong with a text."""
    try:
        list(equations(text, file))
    except ProgramError as error:
        return error.diagnostics
    return ()


async def decide(asker: Asker) -> None:
    """Ask the toy question."""
    report = await asker.ask("toy")
    result = report["results"][0]
    asker.decision.verdict = result["verdict"]
    asker.decision.findings = [Finding("", each["line"], 1, "error", "RR016", "it is not") for each in result["broken"]]


def editor() -> Editor:
    """Return what editors ask of equations."""
    return Editor(diagnostics, decide=decide)


def _unanswered(failure: Failure, _: CommandAsking) -> ToyRecord:
    return ToyRecord(failure.file, failure.verdict, failure.reason, failure.error_kind)


TOY: Question[CommandAsking, ToyRecord] = Question("toy", (NAME, VERSION), "equation", _answer, _unanswered, ToyView)


HERE = "tests.support.toy_tool"
TOOL = Tool(
    "toy",
    front_ends=(
        FrontEnd("percent", (".toy",), is_percent, default=("toy",), editor=editor, explain=explained),
        FrontEnd(
            "let",
            (".toy",),
            is_let,
            formatted,
            defined=defined,
            parts=included,
            default=("toy",),
            editor=editor,
            explain=explained,
        ),
    ),
    commands=(
        CommandEntry(
            "toy",
            HELP,
            group=("Decide", 500),
            reads=(".toy",),
            question=lambda: TOY,
            options=(
                QuestionOption("n", "text", "Values of n, such as 2..4.", short="-n", metavar="VALUES", configures=True),
                QuestionOption("first", "yes or no", "Look at the first equation only.", default=False),
                QuestionOption("style", "text", "How it is decided.", default="plain", choices=("plain", "fancy")),
            ),
        ),
    ),
    certificates=(CertificateKind("toy", f"{HERE}:verify_sums", {"equal": "has equal sums"}),),
    folders=(".toy",),
    written=(".toy",),
)
