"""Options that several commands have together: a record of them stands for all, where a command declares its options."""

from __future__ import annotations

import dataclasses
import inspect
from collections.abc import Callable, Mapping, Sequence, Sized
from dataclasses import dataclass
from typing import Any, ClassVar, get_type_hints

from rdma_robust.cli.asked_files import checkpoints_of, memory_each, searchers_each, threads_each
from rdma_robust.cli.options import arguments
from rdma_robust.frame.shell.defaults import TIMEOUT_S
from rdma_robust.frame.shell.inputs import OF_FOLDERS, Item, expand
from rdma_robust.language.flow.send_queues import RNR_SETTING, SEND_DEPTH
from rdma_robust.model import Hardware
from rdma_robust.options import RECV_DEPTH, CheckOptions
from rdma_robust.value_ranges import ARGUMENT, PROCESSES


class OptionSet:
    """A frozen dataclass whose fields are options, with their defaults. Who has one that `reads_c` has options of C."""

    reads_c: ClassVar[bool] = False

    def values(self) -> dict[str, Any]:
        """Return what was given, by the names of the fields."""
        return {each.name: getattr(self, each.name) for each in dataclasses.fields(self)}  # type: ignore[arg-type]


@dataclass(frozen=True)
class ModelOptions(OptionSet):
    """Hardware, as far as it is said on the command line."""

    ordered_reads: arguments.OrderedReads = False
    cpu: arguments.CpuOption = None
    atomics: arguments.AtomicsOption = None
    order: arguments.OrderOption = None

    def hardware(self) -> Hardware:
        """Return what is said."""
        return Hardware(self.cpu, self.atomics, self.order, self.ordered_reads or None)


@dataclass(frozen=True)
class MachineOptions(ModelOptions):
    """The hardware, and how deep receive queues are."""

    recv_depth: arguments.RecvDepth = RECV_DEPTH


@dataclass(frozen=True)
class HardwareOptions(MachineOptions):
    """The hardware that runs a program: members of CheckOptions."""

    await_loops: arguments.AwaitLoops = False


@dataclass(frozen=True)
class SearchOptions(OptionSet):
    """How robustness is decided: members of CheckOptions."""

    instrumentation: arguments.InstrumentationOption = "pivot"
    engine: arguments.Engine = "auto"
    kernel: arguments.Kernel = "auto"


@dataclass(frozen=True)
class LimitOptions(OptionSet):
    """How far an answer is looked for."""

    timeout: arguments.Timeout = TIMEOUT_S
    max_states: arguments.MaxStates = 0
    memory: arguments.Memory = None

    def of_each(self, items: Sized = (None,), jobs: int | None = None) -> dict[str, Any]:
        """Return the limits of one of the inputs, by the names of CheckOptions."""
        most = memory_each(self.memory, jobs, items)
        return {"timeout": arguments.limit(self.timeout), "max_states": self.most_states(), "memory": most}

    def most_states(self) -> int | None:
        """Return the limit of stored states, None for none."""
        return self.max_states or None


@dataclass(frozen=True)
class BatchOptions(LimitOptions):
    """The limits of answers about several inputs, and how many are given at a time."""

    jobs: arguments.Jobs = None


@dataclass(frozen=True)
class SharedSearchOptions(BatchOptions):
    """The same of searches that threads or processes share."""

    threads: arguments.Threads = None
    executor: arguments.Processes = None
    checkpoint: arguments.Checkpoints = None

    def shared(self, items: Sequence[Item]) -> tuple[int | None, dict[str, Any]]:
        """Return how many inputs are answered at a time, and the limits and searchers of each, by the names of CheckOptions.

        Raises UsageError for searchers that there cannot be.
        """
        threads, jobs, executor = searchers_each(self.threads, self.jobs, self.executor, items)
        checkpoint = checkpoints_of(self.checkpoint, executor, items)
        return jobs, {**self.of_each(items, jobs), "threads": threads, "executor": executor, "checkpoint": checkpoint}


@dataclass(frozen=True)
class InstanceOptions(OptionSet):
    """The instances of programs, and the hardware that runs them besides its orders."""

    recv_depth: arguments.RecvDepth = RECV_DEPTH
    await_loops: arguments.AwaitLoops = False
    define: arguments.Defines = None


@dataclass(frozen=True)
class DecisionOptions(BatchOptions, InstanceOptions):
    """How programs are decided under orders that a command has by itself: limits behind the instances."""

    def items(self, files: Sequence[str]) -> list[Item]:
        """Return what the arguments stand for, with the values of constants. Raises UsageError."""
        return expand(files, define=tuple(self.define or ()))

    def check_options(self, items: Sequence[Item]) -> CheckOptions:
        """Return the options of every decision about one of the inputs."""
        return CheckOptions(
            **self.of_each(items, self.jobs),
            await_loops=self.await_loops,
            define=tuple(self.define or ()),
            recv_depth=self.recv_depth,
            threads=threads_each(None, self.jobs, items)[0],
        )


@dataclass(frozen=True)
class CFileOptions(OptionSet):
    """The options with which C files are read, as they stand among the definitions of a program."""

    include: arguments.IncludeFolders = None
    with_: arguments.WithFiles = None
    compile_commands: arguments.CompileCommands = None
    number: arguments.CProcesses = None
    arg: arguments.ProgramArguments = None
    wc_errors: arguments.WcErrors = False
    with_c: arguments.WithC = False

    def definitions(self) -> list[str]:
        """Return what was given."""
        made = [f"-I={each}" for each in self.include or ()] + [f"--with={each}" for each in self.with_ or ()]
        made += [] if self.compile_commands is None else [f"--compile-commands={self.compile_commands}"]
        made += [] if self.number is None else [f"{PROCESSES}={self.number}"]
        made += [f"{ARGUMENT}={each}" for each in self.arg or ()]
        made += ["--wc-errors=on"] if self.wc_errors else []
        return [*made, *([OF_FOLDERS] if self.with_c else [])]


def with_option_sets(command: Callable[..., None]) -> Callable[..., None]:
    """Return a command as the parser takes it: each parameter that is a set of options became the options of the set.

    The parameters keep their order, in which help pages have them. How deep send queues are, what messages without a buffer
    do, and how C is read, changes what a program does: who has `recv_depth` has these too, as definitions that a program is
    read with.
    """
    hints = get_type_hints(command, include_extras=True)
    sets: dict[str, type[OptionSet]] = {}
    parameters: list[inspect.Parameter] = []
    for each in inspect.signature(command).parameters.values():
        kind = hints[each.name]
        if isinstance(kind, type) and issubclass(kind, OptionSet):
            sets[each.name] = kind
            parameters += _options(kind)
        else:
            parameters.append(each.replace(annotation=kind))

    names = [each.name for each in parameters]
    keyword = inspect.Parameter.KEYWORD_ONLY
    decides = "recv_depth" in names
    reads_c = "define" in names and (decides or any(kind.reads_c for kind in sets.values()))
    if reads_c:
        at = names.index("define") + 1
        parameters[at:at] = _options(CFileOptions)
    if decides:
        at = next(i for i, each in enumerate(parameters) if each.name == "recv_depth") + 1
        more = {"send_depth": arguments.SendDepth, "rnr": arguments.RnrOption}
        parameters[at:at] = [inspect.Parameter(name, keyword, default=None, annotation=kind) for name, kind in more.items()]

    def called(**given: Any) -> None:
        defined = list(given.get("define") or ())
        for option, name in (("send_depth", SEND_DEPTH), ("rnr", RNR_SETTING)):
            value = given.pop(option, None) if decides else None
            defined += [] if value is None else [f"{name}={value}"]
        if reads_c:
            defined += CFileOptions(**{each.name: given.pop(each.name) for each in _options(CFileOptions)}).definitions()
        if defined:
            given["define"] = defined
        made = {name: kind(**{each.name: given.pop(each.name) for each in _options(kind)}) for name, kind in sets.items()}
        command(**given, **made)

    called.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    called.__annotations__ = {each.name: each.annotation for each in parameters}
    called.__name__, called.__doc__, called.__module__ = command.__name__, command.__doc__, command.__module__
    return called


def _options(kind: type[OptionSet]) -> list[inspect.Parameter]:
    hints: Mapping[str, Any] = get_type_hints(kind, include_extras=True)
    fields = dataclasses.fields(kind)  # type: ignore[arg-type]
    keyword = inspect.Parameter.KEYWORD_ONLY
    return [inspect.Parameter(each.name, keyword, default=each.default, annotation=hints[each.name]) for each in fields]
