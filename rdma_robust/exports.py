"""Programs for other tools: Promela for SPIN, Petri nets for coverability tools, graphs and JSON, C for compilers."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final, Literal

from rdma_robust.counters.explicit import ExplicitVass, explicit_vass, to_net, write_dot
from rdma_robust.counters.explicit_json import vass_json
from rdma_robust.counters.lower import lower
from rdma_robust.counters.program import Choose, CounterProgram
from rdma_robust.counters.promela.write import Legend, Promela, promela
from rdma_robust.counters.vass import Control
from rdma_robust.errors import SizeLimitError, UsageError
from rdma_robust.language.flow.cfg import Program
from rdma_robust.language.flow.spinning import spin_assumed
from rdma_robust.language.load import has_text, load_decidable
from rdma_robust.limits import Limits
from rdma_robust.model import RDMA, UNSAID, Hardware, Model
from rdma_robust.petri.spec.writer import write_spec
from rdma_robust.robustness.frame import EventLabel
from rdma_robust.robustness.paper import beyond_paper, instrument_paper
from rdma_robust.robustness.pivot import instrument_pivot
from rdma_robust.robustness.pivot_classes import CLASS
from rdma_robust.robustness.plain import instrument_plain
from rdma_robust.robustness.rules import NIC_BITS, OWN_DATA, OWN_READ, WORDS
from rdma_robust.robustness.searched_orders import has_messages
from rdma_robust.robustness.unconfirmed import may_differ

if TYPE_CHECKING:
    from rdma_robust.c.export.runner_c import RunnerLibrary
    from rdma_robust.semantics.machines.machine import FinalState

Form = Literal["promela", "spec", "dot", "json", "verbs-c", "shmem-test", "mpi-test", "verbs-test"]
Variant = Literal["pivot", "paper", "none"]
Graph = Literal["vass", "program"]

VARIANTS: Final[Mapping[Variant, Callable[[Program, Model], CounterProgram[EventLabel]]]] = {
    "pivot": instrument_pivot,
    "paper": instrument_paper,
    "none": instrument_plain,
}
COUNTER_BOUND: Final = 7
MAX_STATES: Final = 100_000
SECONDS: Final = 60
"""For the final states that a test compares with."""
MAX_DRAWN: Final = 2_000
"""Control states of a graph for people."""


@dataclass(frozen=True, slots=True)
class ExportOptions:
    """The choices for what is written. `variant` None is `paper` for Promela of programs that the paper has, and `pivot`
    for the others; `max_states` bounds the control states written out (None: by the form), `counter_bound` the counters
    of a Promela model without a proven bound. `hardware` is the memory model; where it is None, that is what is `told` of
    the hardware, and then what the program says."""

    form: Form
    variant: Variant | None = None
    graph: Graph = "vass"
    counter_bound: int = COUNTER_BOUND
    max_states: int | None = None
    hardware: Model | None = None
    await_loops: bool = False
    told: Hardware = UNSAID

    def model_of(self, program: Program) -> Model:
        """Return the memory model that `program` is asked about."""
        return self.hardware or self.told.over(program.hardware).model


@dataclass(frozen=True, slots=True)
class Export:
    """The text for the other tool, and what its user must know."""

    text: str
    remarks: tuple[str, ...] = ()


def _verbs_c(text: str, file: str) -> str:
    from rdma_robust.c.export.verbs_c import verbs_c  # noqa: PLC0415 - one form of many

    return verbs_c(text, file)


def _shmem_test(text: str, file: str) -> str:
    return _test(text, file, "shmem", "none")


def _mpi_test(text: str, file: str) -> str:
    return _test(text, file, "mpi", "accumulate")


def _verbs_test(text: str, file: str) -> str:
    return _test(text, file, "verbs", None)


def _test(text: str, file: str, library: RunnerLibrary, order: str | None) -> str:
    """Return the test of a program, with the final states that are allowed: by the standard of its library, as an order, or
    by the hardware of the program. No processor buffers stores: the test waits for each."""
    from rdma_robust.c.export.exported_program import ExportedProgram  # noqa: PLC0415 - one form of many
    from rdma_robust.c.export.runner_calls import AllowedStates, runner  # noqa: PLC0415 - one form of many
    from rdma_robust.semantics.machines.machine import state_names  # noqa: PLC0415 - one form of many
    from rdma_robust.semantics.machines.outcomes import explore_outcomes  # noqa: PLC0415 - one form of many

    given = ExportedProgram.read(text, file)
    runner(given, library, AllowedStates(state_names(given.program), ()))  # what it cannot say is refused before a search
    hardware = given.program.hardware
    if order is not None:
        hardware = replace(hardware, order=order, ordered_reads=None)
    found = explore_outcomes(given.program, hardware.model, timeout=SECONDS)
    if not found.complete:
        raise SizeLimitError(f"not all final states that are allowed were found in {SECONDS} s")
    states = [(tuple(each.values), each.sc) for each in found.states]
    without = given_up(given.program, Limits.of(SECONDS)) if library == "verbs" else {}
    return runner(given, library, AllowedStates(found.names, states, without))


def given_up(program: Program, limits: Limits) -> Mapping[FinalState, tuple[str, ...]] | None:
    """Return for each final state that some hardware has, and sequential consistency does not, the guarantees that a NIC
    with this state does not give: any one of them alone excludes it. None if a limit is reached."""
    from rdma_robust.orders.guarantees import guarantees, order_giving  # noqa: PLC0415 - one form of many
    from rdma_robust.semantics.like_orders import like_orders  # noqa: PLC0415 - one form of many
    from rdma_robust.semantics.machines.outcomes import OutcomesReport, explore_outcomes  # noqa: PLC0415 - one form of many

    hardware = replace(program.hardware.model, atomics="hca", ordered_reads=False)
    weakest = order_giving(frozenset())
    given = {name: order_giving(frozenset({name})) for name in guarantees()}
    like = like_orders(program, (weakest, *given.values()))
    found: dict[str, OutcomesReport] = {}
    for order in dict.fromkeys(like.values()):
        found[order] = explore_outcomes(program, replace(hardware, order=order), limits=limits)
        if not found[order].complete:
            return None
    having = {order: {state.values for state in each.states if state.rdma} for order, each in found.items()}
    beyond = [state.values for state in found[weakest].states if state.only_rdma]
    without = {state: [name for name, order in given.items() if state not in having[like[order]]] for state in beyond}
    return {state: tuple(name for name in names if not _follows(name, names)) for state, names in without.items()}


def _follows(name: str, names: Collection[str]) -> bool:
    """Whether a guarantee comes with one of these that comes with less."""
    from rdma_robust.orders.guarantees import implied_by  # noqa: PLC0415 - one form of many

    return any(other in names and name not in implied_by(other) for other in implied_by(name))


C_FORMS: Final[Mapping[str, Callable[[str, str], str]]] = {
    "verbs-c": _verbs_c,
    "shmem-test": _shmem_test,
    "mpi-test": _mpi_test,
    "verbs-test": _verbs_test,
}


def export_text(text: str, file: str, options: ExportOptions) -> Export:
    """Return the program in `text` in the form asked for, see :func:`export_program`; `file` is for messages.

    Raises ProgramError for an ill-formed program, or one that the C asked for cannot say, and UsageError for C of another
    hardware than the program's.
    """
    if options.form in C_FORMS:
        if options.hardware is not None or options.told.said:
            raise UsageError("C is written for the hardware of the program: leave --cpu, --order and the like out")
        return Export(C_FORMS[options.form](text, file))
    return export_program(load_decidable(text, file), options)


def export_program(program: Program, options: ExportOptions) -> Export:
    """Return `program` in the form asked for.

    Raises UsageError for a program that the form cannot express, SizeLimitError for one whose control graph is too large.
    C is written from the text of the program, as by :func:`export_text`: UsageError where it has none.
    """
    if options.form in C_FORMS:
        if not has_text(program):
            raise UsageError("C is written from the text of a program, and this one has none")
        return export_text(program.source, program.file, options)
    program = spin_assumed(program, options.await_loops)
    hardware = options.model_of(program)
    if options.form == "promela":
        more = beyond_paper(program, hardware)
        variant = options.variant or ("pivot" if more else "paper")
        model = promela_of(program, variant, options.counter_bound, hardware)
        taken = (
            ()
            if options.variant or not more
            else (f"the paper's instrumentation does not have {more}: this is the pivot's",)
        )
        return Export(model.text, (*taken, *doubts(program, hardware, variant), *_bounded(model, options.counter_bound)))
    variant = options.variant or "pivot"
    counter_program = VARIANTS[variant](program, hardware)
    remarks = () if options.form == "dot" else tuple(doubts(program, hardware, variant))
    if options.form == "dot" and options.graph == "program":
        from rdma_robust.counters.explicit import program_dot  # noqa: PLC0415 - one form of many

        return Export(program_dot(counter_program, source_of))
    return Export(_WRITERS[options.form](control_graph(counter_program, options)), remarks)


def doubts(program: Program, hardware: Model, variant: Variant) -> Iterator[str]:
    """Yield what the answer of another tool about an instrumented program leaves open; `check` looks into it."""
    if variant != "none" and may_differ(program, hardware):
        yield "what is found in the model need be no violation of the program: `check` tries it with the values that it has"
    if variant != "none" and has_messages(program):
        yield "where a message can find no buffer, a program of which nothing is found in the model need not be robust"


def promela_of(
    program: Program,
    variant: Variant,
    counter_bound: int = COUNTER_BOUND,
    hardware: Model = RDMA,
    keep_dead: bool = False,
) -> Promela:
    """Return the Promela model of a loaded program under one of :data:`VARIANTS`. Raises UsageError, see `promela`."""
    counter_program = VARIANTS[variant](program, hardware)
    legend = Legend((*_notes(counter_program, variant), *doubts(program, hardware, variant)), source_of)
    return promela(counter_program, counter_bound, legend, keep_dead)


def control_graph(program: CounterProgram[EventLabel], options: ExportOptions) -> ExplicitVass:
    """Return the lowered program with its control graph written out. Raises SizeLimitError."""
    lowered = lower(program)
    limit = options.max_states or (MAX_DRAWN if options.form == "dot" else MAX_STATES)

    def state_name(number: int, control: Control) -> str:
        values = (f"{field}={value}" for field, value in zip(lowered.fields, control, strict=True) if value)
        return f"q{number}" if options.form == "spec" else " ".join((f"q{number}", *values))

    try:
        return explicit_vass(
            lowered,
            Limits(states=limit),
            name=program.name,
            counters=lowered.unbounded,
            state_name=state_name,
            edge_name=lambda transition: str(lowered.labels[transition]),
        )
    except SizeLimitError as error:
        instead = ", --of program draws the processes instead" if options.form == "dot" else ""
        raise SizeLimitError(f"{error}; --max-states N allows more{instead}") from error


def _spec(vass: ExplicitVass) -> str:
    return write_spec(to_net(vass))


_WRITERS: Final[Mapping[str, Callable[[ExplicitVass], str]]] = {"spec": _spec, "dot": write_dot, "json": vass_json}


def source_of(label: EventLabel) -> str:
    """Return where in the source program the event of a transition comes from."""
    step = label.edge.step
    return f"line {step.span.line}: {step.text}"


def _bounded(model: Promela, bound: int) -> tuple[str, ...]:
    if not model.bounded:
        return ()
    said = f"{', '.join(model.bounded)} {'has' if len(model.bounded) == 1 else 'have'} no proven bound and stop at {bound}"
    return (f"bounded model: {said}; without an error in the model the program can still be not robust",)


_QUESTION = {
    "pivot": "pan reports an error iff the program is not robust (pivot instrumentation)",
    "paper": "pan reports an error iff the program is not robust (the paper's instrumentation)",
    "none": "the program under sequential consistency; pan reports an error iff a fault or a failed assertion is reachable",
}
_NIC_EVENTS = ", ".join(f"{bit} {event.value}" for event, bit in NIC_BITS.items())
_PARTS = (
    "cpu_beta: set of threads with a CPU event in the second part",
    f"beta[T>N]: set of NIC events of a queue pair in the second part: {_NIC_EVENTS}",
    "forced[T>N]: a completion forces its poll into the second part; early[T>N]: completions before that one",
)
_SETTLED = (
    "settled[T>N]: a poll has taken the completion of a remote write of the second part; ahead[T>N]: completions before that"
)
_BY_WORD = (
    f"beta[T>N] also has {OWN_READ} for the read of the request that T is making, {OWN_DATA} for its data, and from "
    f"{WORDS} on a bit for each location and type of atomic, in the order of the program"
)
_VARIABLES = {
    "pivot": (
        *_PARTS,
        "class: 0 in phase 1, then what kind of event the pivot is:",
    ),
    "paper": (
        *_PARTS,
        "@1, @2, @guess: the memory of the first part, of the second part, and as guessed in between",
        "guessed, known: sets of cells; entry, exit: points of the SC cycle by thread (0 none, 1 linked, else waiting)",
    ),
    "none": (),
}


def _notes(program: CounterProgram[EventLabel], variant: Variant) -> Iterator[str]:
    yield _QUESTION[variant]
    yield "carried[T]: value between the read and the write of a put or get; unpolled[T>N]: completions not yet polled"
    yield from _VARIABLES[variant]
    if any(name.startswith("settled[") for name, _ in program.variables):
        yield _SETTLED
    if any(name.startswith("beta[") and bits >= WORDS.bit_length() for name, bits in program.sizes):
        yield _BY_WORD
    if variant == "pivot":
        for number, what in sorted(_classes(program).items()):
            yield f"  {number}: {what}"


def _classes(program: CounterProgram[EventLabel]) -> dict[int, str]:
    """What the numbers of pivot classes mean, by the transitions that choose them."""
    found: dict[int, str] = {}
    for command in (c for process in program.processes for c in process.commands):
        for statements, labels in command.body.paths():
            for choice in (s for s in statements if isinstance(s, Choose) and s.name == CLASS):
                for (number, _), label in zip(choice.options, labels, strict=True):
                    if (starts := label.starts) is not None:
                        thread = program.processes[starts.thread].name
                        found[number] = f"{thread} {'writes' if starts.writes else 'reads'} {starts.cell}"
    return found
