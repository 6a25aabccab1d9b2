"""The `report` command: decide a batch, from the cache where it can be, and write its reports."""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from rdma_robust import TOOL
from rdma_robust.batch.cache import Cache, default_folder
from rdma_robust.batch.job import Job, Record
from rdma_robust.batch.run import Answers, Executor, Numbered, Tick, run_batch
from rdma_robust.cli.asked_files import memory_each, threads_each, without_proofs
from rdma_robust.cli.destinations import Destination, destinations
from rdma_robust.cli.options import arguments
from rdma_robust.cli.options.option_sets import HardwareOptions, SearchOptions, with_option_sets
from rdma_robust.cli.processes.decide_job import decide_job, kept_record
from rdma_robust.cli.report_parts import PartsRun, report_parts, split
from rdma_robust.errors import UsageError
from rdma_robust.frame import registry
from rdma_robust.frame.deciding import answer_item, failure_of_process
from rdma_robust.frame.exits import WORST_FIRST, Exit, worst
from rdma_robust.frame.report_part import ReportAsking
from rdma_robust.frame.shell.apart import overdue
from rdma_robust.frame.shell.defaults import TIMEOUT_S
from rdma_robust.frame.shell.inputs import Item, Missing, Source, UnreadableError, all_loaded, expand, read_source
from rdma_robust.frame.shell.meter import Meter, wanted
from rdma_robust.frame.shell.pool import Work, in_processes, retirement
from rdma_robust.frame.shell.stderr import error_line, warn
from rdma_robust.frame.shell.stop import Stopped, released
from rdma_robust.limits import NO_LIMITS, Limits, executor_of, processors
from rdma_robust.options import CheckOptions
from rdma_robust.processes import can_fork
from rdma_robust.questions.needs_question import NEEDS_PART
from rdma_robust.questions.robustness_question import CHECK, RobustnessAsking
from rdma_robust.reports.batch.batch_formats import FORMS
from rdma_robust.reports.batch.batch_view import BatchReport, ReportEntry
from rdma_robust.reports.check.result import summarise, unanswered_result
from rdma_robust.reports.check.robustness_view import described, verdicts_line
from rdma_robust.text import count, printable, sha256

REPAIR_S = 10.0
CLAIMS_S = 10.0
NEEDS_S = 0.0


@dataclass(frozen=True, slots=True)
class ReportRequest:
    """The files to decide, and how to report on them. `cache` of None is none, of "" the user's; `repair`, `claims` and
    `needs` are seconds a program."""

    items: Sequence[Item]
    options: CheckOptions
    jobs: int | None = None
    expect: bool = False
    formats: tuple[str, ...] = ()
    path: str | None = None
    repair: float = 0.0
    claims: float = 0.0
    needs: float = 0.0
    orders: tuple[str, ...] = ()
    cache: str | None = ""
    executor: str | None = None
    quiet: bool = False
    passed_over: int = 0
    others: Sequence[Source] = ()


@dataclass
class _Batch:
    """The state of a run: what is known of each item, by number."""

    request: ReportRequest
    entries: dict[int, ReportEntry] = field(default_factory=dict)

    def jobs(self, page: bool) -> Iterator[Numbered]:
        """Yield a job for each program that can be read; the others are entries at once."""
        for number, item in enumerate(all_loaded(self.request.items, self.request.options.limits)):
            try:
                text = None if isinstance(item, Missing) else read_source(item)
            except UnreadableError as error:
                item, text = Missing(item.name, str(error)), None
            if text is None:
                answer = answer_item(CHECK, RobustnessAsking(self.request.options), item)
                self.entries[number] = ReportEntry(answer.record)
                _say(answer.messages)
            else:
                repair = self.request.repair if page else 0.0
                yield number, Job(item.name, text, self.request.options, page, repair, self.request.claims)

    def add(self, number: int, job: Job, record: Record) -> None:
        self.entries[number] = ReportEntry(record.result, job.text, sha256(job.text), record.page, record.claims)

    def report(self, started: float, stopped: Exit | None) -> BatchReport:
        entries = [self.entries[number] for number in sorted(self.entries)]
        summary = summarise(
            [e.result for e in entries],
            requested=len(self.request.items),
            expect=self.request.expect,
            time_s=time.monotonic() - started,
            stopped=stopped,
            passed_over=self.request.passed_over,
        )
        if stopped is None:
            code = worst([entry.exit_code(self.request.expect) for entry in entries])
            summary = dataclasses.replace(summary, exit_code=code)
        options = described(self.request.options, self.request.expect)
        return BatchReport(entries, summary, self.request.expect, TOOL, options)


def _known(names: list[str] | None) -> list[str] | None:
    for name in names or ():
        if name not in FORMS:
            raise typer.BadParameter(f"{printable(name)!r} is none of {', '.join(FORMS)}")
    return names


ReportOutput = Annotated[
    str | None,
    typer.Option("--output", "-o", metavar="FILE|DIR", help="Where the report goes. Default: standard output."),
]
ReportFormats = Annotated[
    list[str] | None,
    typer.Option(
        "--format",
        metavar="|".join(FORMS),
        callback=_known,
        help="Form of the report; may be given several times if the output is a folder. Default: by the suffix of the "
        "output file, else html.",
        show_default=False,
    ),
]
RepairSeconds = Annotated[
    float,
    typer.Option(
        metavar="SECONDS",
        callback=arguments.seconds,
        help="html: how long to look for a repair of each program that is not robust; 0 for not at all.",
    ),
]
ClaimsSeconds = Annotated[
    float,
    typer.Option(
        metavar="SECONDS",
        callback=arguments.seconds,
        help="How long to answer the claims of each program, as verify does; 0 for not at all.",
    ),
]
NeedsSeconds = Annotated[
    float,
    typer.Option(
        metavar="SECONDS",
        callback=arguments.seconds,
        help="How long to look for what each program relies on, as needs does; 0 for not at all.",
    ),
]
CacheFolder = Annotated[
    str | None,
    typer.Option(metavar="DIR", help="Where answers are kept between runs. Default: the user's cache folder."),
]
NoCache = Annotated[bool, typer.Option("--no-cache", help="Neither read nor keep answers.")]
OnlyErrors = Annotated[bool, typer.Option("--quiet", "-q", help="Print nothing but errors on standard error.")]


@with_option_sets
def report_command(
    context: typer.Context,
    paths: Annotated[list[str], typer.Argument(metavar="PATH...", hidden=True)],
    *,
    output: ReportOutput = None,
    formats: ReportFormats = None,
    expect: arguments.Expect = False,
    jobs: arguments.Jobs = None,
    timeout: arguments.Timeout = TIMEOUT_S,
    memory: arguments.Memory = None,
    max_states: arguments.MaxStates = 0,
    repair: RepairSeconds = REPAIR_S,
    claims: ClaimsSeconds = CLAIMS_S,
    needs: NeedsSeconds = NEEDS_S,
    orders: arguments.ColumnsOption = arguments.SHIPPED_NAMES,
    cache: CacheFolder = None,
    no_cache: NoCache = False,
    executor: arguments.Processes = None,
    search: SearchOptions,
    hardware: HardwareOptions,
    define: arguments.Defines = None,
    self_check: arguments.SelfCheck = False,
    reductions: arguments.Reductions = "all",
    quiet: OnlyErrors = False,
) -> None:
    """Note in the context what is to be done."""
    given, others = split(expand(paths, suffixes=registry.folder_suffixes(), define=define), report_parts())
    items, passed_over = without_proofs(given)
    if no_cache and cache is not None:
        raise UsageError("--cache and --no-cache exclude one another")
    options = CheckOptions(
        **search.values(),
        **hardware.values(),
        timeout=arguments.limit(timeout),
        max_states=max_states or None,
        memory=memory_each(memory, jobs, items),
        self_check=self_check,
        reductions=arguments.parse_reductions(reductions),
        define=tuple(define or ()),
        threads=threads_each(None, jobs, items)[0] if executor is None else 1,
        executor=executor if executor is not None and executor_of(executor)[0] == "local" else "",
    )
    request = ReportRequest(
        items=items,
        options=options,
        jobs=jobs,
        expect=expect,
        formats=tuple(dict.fromkeys(formats or ())),
        path=output,
        repair=repair,
        claims=claims,
        needs=needs,
        orders=arguments.columns_in(orders),
        cache=None if no_cache else cache or "",
        executor=executor,
        quiet=quiet,
        passed_over=passed_over,
        others=others,
    )
    context.obj.append(partial(run_report, request))


def run_report(request: ReportRequest) -> Exit:
    """Decide every item of `request`, write the reports and return the exit code. Raises UsageError, BrokenPipeError."""
    started = time.monotonic()
    places = destinations(request.path, request.formats, [*request.items, *request.others])
    executor = _executor(request)
    cache = _cache(request)
    batch = _Batch(request)
    stopped: Exit | None = None
    meter = Meter(len(request.items), wanted(request.quiet))
    try:
        jobs = dict(batch.jobs(page=any(place.format == "html" for place in places)))
        with meter.running(), closing(run_batch(list(jobs.items()), executor, cache, meter.tick)) as answers:
            for number, record in answers:
                batch.add(number, jobs[number], record)
                if record.messages:
                    meter.printing(partial(_say, record.messages))
                meter.done(len(batch.entries))
    except Stopped as stop:
        stopped = stop.exit
        released()
    report, hits = batch.report(started, stopped), 0 if cache is None else cache.hits
    lines: list[str] = []
    if stopped is None:
        forms, options = frozenset(place.format for place in places), request.options
        how = ReportAsking(options.timeout, options.memory, request.expect, options.define, forms, kept=cache is not None)
        parts = PartsRun(how, request.jobs or processors(), request.quiet, cache)
        if request.needs:
            asked = PartsRun(replace(how, timeout=request.needs, columns=request.orders), parts.jobs, request.quiet)
            programs = [item for item in request.items if isinstance(item, Source)]
            report, lines = asked.added(report, [NEEDS_PART], programs)
        report, more = parts.added(report, report_parts(), request.others)
        lines += more
    written = _write(places, report, kept=cache is not None and not cache.trouble)
    if cache is not None and cache.trouble:
        warn(f"warning: answers could not be kept: {printable(cache.trouble)} [RR006]")
    if not request.quiet:
        warn(_last_words(report, places if written else [], hits, lines))
    code = Exit(report.summary.exit_code)
    return code if written or code not in WORST_FIRST else worst([code, Exit.INVALID])


def _write(places: Sequence[Destination], report: BatchReport, *, kept: bool) -> bool:
    """Write what can be written; say what cannot, and that nothing is lost. Return whether all was written."""
    problems = []
    for place in places:
        try:
            place.write(FORMS[place.format].write(report))
        except UsageError as error:
            problems.append(str(error))
    for problem in problems:
        warn(error_line(problem, UsageError.code))
    if problems and kept:
        warn("Nothing is lost: the answers are kept, and the same command with another output needs no time to decide.")
    elif problems:
        warn("The answers are lost with it, since none are kept between runs.")
    return not problems


def _say(messages: Sequence[str]) -> None:
    for message in messages:
        warn(message)


def _last_words(report: BatchReport, places: Sequence[Destination], hits: int, parts: Sequence[str]) -> str:
    """Return the totals, also those of `parts`, where the reports are, and how to go on after an interruption; `hits` are
    the answers about programs from the cache."""
    summary = report.summary
    results = [entry.result for entry in report.entries]
    lines = [] if report.others and not results else verdicts_line(results, summary, report.expect)
    violated = sum(len(entry.violated) for entry in report.entries)
    if violated:
        lines[0] += f"; {count(violated, 'claim')} violated"
    if hits:
        lines[0] += f"; {hits:,} from the cache"
    lines += parts
    if summary.interrupted:
        lines.append("Run it again to go on from there.")
    lines += [f"written: {printable(place.path)}" for place in places if place.path is not None]
    return "\n".join(lines)


def _cache(request: ReportRequest) -> Cache | None:
    if request.cache is None:
        return None
    cache = Cache(Path(request.cache) if request.cache else default_folder())
    cache.open()
    return cache


def _executor(request: ReportRequest) -> Executor:
    """Return who decides. Raises UsageError if that is nobody."""
    kind, where = ("local", "") if request.executor is None else executor_of(request.executor)
    if kind == "local":
        return LocalExecutor(request.jobs or processors(), request.options.limits(), request.repair + request.claims)
    from rdma_robust.batch.cluster import ClusterExecutor  # noqa: PLC0415 - only where it is wanted
    from rdma_robust.cli.processes.cluster_job import TASKS  # noqa: PLC0415

    return ClusterExecutor(where, TASKS)


@dataclass(frozen=True, slots=True)
class LocalExecutor:
    """Processes of this machine, `jobs` at a time, each with a program at a time, ended from outside beyond `limits`.

    `more` are seconds that a program may take beyond its time limit.
    """

    jobs: int
    limits: Limits = NO_LIMITS
    more: float = 0.0

    def run(self, jobs: Sequence[Numbered], tick: Tick) -> Answers:
        """Yield (number, record) of each job as it is done; the death of a process costs its program and nothing else."""
        from rdma_robust import pipeline  # noqa: F401, PLC0415 - loaded once, before the forks

        if can_fork():
            work = Work(decide_job, _lost, self._overdue, retire=retirement(self.limits), kept=kept_record)
            yield from in_processes(jobs, work, min(self.jobs, len(jobs)), tick)
            return
        for number, job in jobs:
            tick()
            yield number, decide_job(job)

    def _overdue(self, process: int, seconds: float) -> str:
        """Return why a process has to end although its own guard should have ended its work, if it has to."""
        return overdue(self.limits, process, seconds - self.more)


def _lost(name: str, why: str, defect: bool, time_s: float) -> Record:
    failure = failure_of_process(name, why, defect, time_s)
    result = dataclasses.replace(unanswered_result(failure), time_s=time_s)
    return Record(result, (f"{printable(name)}: {failure.reason}",))
