"""The registry: every tool with its front ends, commands, settings and certificates, which all surfaces read.

A tool is a module of `rdma_robust/tools/` with a `TOOL`. Such a module is light, for each start of the program loads them
all: help texts, and names of what is loaded once it is needed, each a :data:`Place`. What names no tool finds them here: the
command line, completion, settings, `fmt`, `--watch`, the language server, and who checks certificates.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Any, Final, Literal

if TYPE_CHECKING:
    from rdma_robust.frame.answer import Failure
    from rdma_robust.frame.editor import Editor
    from rdma_robust.frame.exits import Exit
    from rdma_robust.frame.question import AnyQuestion
    from rdma_robust.frame.shell.inputs import Source
    from rdma_robust.limits import Limits

PACKAGE: Final = "rdma_robust.tools"
TITLES: Final = ("Decide", "Understand", "Write and repair", "Report", "Theory", "Set up")
"""The groups of the list of commands, in its order; what is in none comes last."""

Place = str
"""Where something is: `package.module:name`, loaded once it is needed."""

Kind = Literal["number", "whole", "yes or no", "text", "list"]
"""What the value of a setting is."""


@dataclass(frozen=True, slots=True)
class FrontEnd:
    """A way in which texts are read: by the first whose `reads`, asked with the text and the name of its file, says yes.

    Several may have one of the `suffixes`; the text decides among them. Without `reads` it is for what no other reads.
    `formatted` and `written_out` return a text in its one layout, and without what stands for several statements; both take
    the text and its file; `no_layout` says why there is none. `defined` returns a text, of a file, with the values that
    definitions, `NAME=VALUE`, give, and if it is `optioned` with options such as `-I=FOLDER`, which stand among them.
    `parts` returns the further files that a text of a file is made of. `editor` loads what editors ask for.
    `explain` decides a source within limits and returns what is to be told, in a form, and the exit code.
    `default` is the command for its files where none is named. `elsewhere` has, by suffix, what to say of a file
    to who reads files of this suffix, and not those; who reads some that are `alike` reads these too.
    """

    name: str
    suffixes: tuple[str, ...]
    reads: Callable[[str, str], bool] | None = None
    formatted: Callable[[str, str], str] | None = None
    written_out: Callable[[str, str], str] | None = None
    no_layout: str = ""
    defined: Callable[[str, Sequence[str], str], str] | None = None
    optioned: bool = False
    parts: Callable[[str, str], Iterable[str]] | None = None
    default: tuple[str, ...] = ()
    editor: Callable[[], Editor] | None = None
    explain: Callable[[Source, str, Limits], tuple[str, Exit]] | None = None
    elsewhere: Mapping[str, str] = field(default_factory=dict)
    alike: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class QuestionOption:
    """An option of the command of a question, `--name`, beside those that all have: what its value is, one of `choices` if
    there are some. Each of the values of one that `configures` is a configuration of each input, as of `-D NAME=VALUES`;
    others are settings too."""

    name: str
    kind: Kind
    help: str
    default: object = None
    short: str = ""
    metavar: str = ""
    choices: tuple[str, ...] = ()
    configures: bool = False

    @property
    def parameter(self) -> str:
        """The name of its parameter."""
        return self.name.replace("-", "_")


LIMITS: Final = ("timeout", "memory", "max-states")
RUNS: Final = ("jobs", "expect", "quiet")
"""Settings that many commands have: limits of one input, and how inputs are run and judged."""

OF_QUESTIONS: Final = ("timeout", "memory", "jobs", "expect", "explain", "quiet")
"""The settings of every command that is made of a question."""


def function_of(command: str) -> Place:
    """Return where the function of a command is, `messages check` for one: in the module of its name."""
    module, name = (re.sub("[ -]", "_", words) for words in (command, command.rsplit(maxsplit=1)[-1]))
    return f"rdma_robust.cli.commands.{module}:{name}_command"


@dataclass(frozen=True, slots=True)
class CommandEntry:
    """A command: what its help says, where its function with options is (`place`), and where it stands in lists.

    `rank` is its place among all commands, `group` the title under which the list of commands has it, with its place there.
    `reads` are the suffixes of its files, if they are not those of the front end for all others, `settings` what a file of
    settings may set for it. A command with commands of its own has them in `below`; with a `default`, the command line is
    made of them, else its place has it. Without a place it is made of its `question` and the `options` that this has for
    itself.
    """

    name: str
    help: str
    place: Place = ""
    rank: int = 1000
    group: tuple[str, int] = ("Other", 1000)
    reads: tuple[str, ...] = ()
    settings: tuple[str, ...] = ()
    below: tuple[CommandEntry, ...] = ()
    default: str = ""
    question: Callable[[], AnyQuestion] | None = None
    options: tuple[QuestionOption, ...] = ()
    passes_on: tuple[str, ...] = ()
    """Its first words behind which all arguments are those of another program."""

    @property
    def sets(self) -> tuple[str, ...]:
        """What a file of settings may set for it."""
        own = tuple(each.name for each in self.options if not each.configures)
        return self.settings if self.question is None else (*OF_QUESTIONS, *own, *self.settings)

    @property
    def is_group(self) -> bool:
        """Whether it has commands of its own, one of which is what is meant where none is named."""
        return bool(self.default)


@dataclass(frozen=True, slots=True)
class SettingKind:
    """A setting by its name, that of an option of commands: what its value is, and its place in lists of settings."""

    name: str
    kind: Kind
    rank: int = 1000


@dataclass(frozen=True, slots=True)
class CertificateKind:
    """Certificates about one kind of input: where the function is that checks one against a text, and what claims mean.

    The function takes the certificate, the text and its name, and returns what is proved; `phrases` says each claim after
    the name of the input. With `any_bytes` the text may be what is no UTF-8.
    """

    input: str
    verify: Place
    phrases: Mapping[str, str]
    any_bytes: bool = False


@dataclass(frozen=True, slots=True)
class Tool:
    """A tool, with all that it registers. `reports` are its parts of `report` (`frame/report_part.py`), `folders`
    suffixes of files that `report` and `--watch` look for in folders."""

    name: str
    front_ends: tuple[FrontEnd, ...] = ()
    commands: tuple[CommandEntry, ...] = ()
    settings: tuple[SettingKind, ...] = ()
    certificates: tuple[CertificateKind, ...] = ()
    reports: tuple[Place, ...] = ()
    folders: tuple[str, ...] = ()
    written: tuple[str, ...] = ()
    """Suffixes of what people write: a report never has one of them."""


_MORE: Final[list[Tool]] = []


@cache
def _modules() -> tuple[Tool, ...]:
    """Return the tools of the package, by the names of their modules, which in the page have no sources."""
    folder = next(iter(import_module(PACKAGE).__path__))
    names = {name.partition(".")[0] for name in os.listdir(folder) if name.endswith((".py", ".pyc")) and name[0] != "_"}
    return tuple(import_module(f"{PACKAGE}.{name}").TOOL for name in sorted(names))


def tools() -> tuple[Tool, ...]:
    """Return every tool, added ones first: they know best what is theirs."""
    return (*_MORE, *_modules())


@contextmanager
def registered(tool: Tool) -> Iterator[None]:
    """Have one tool more for a while."""
    _MORE.append(tool)
    try:
        yield
    finally:
        _MORE.remove(tool)


def at(place: Place) -> Any:
    """Return what is at a place."""
    module, _, name = place.partition(":")
    return getattr(import_module(module), name)


def late(place: Place) -> Callable[..., Any]:
    """Return what calls the function or class at a place; the module is loaded by the first call."""

    def called(*arguments: Any) -> Any:
        return at(place)(*arguments)

    return called


def late_record(place: Place) -> Callable[[Failure, object], Any]:
    """Return what makes a record of the class at a place for an input without an answer."""
    return lambda failure, _: failure.record(at(place))


def loading(*modules: str) -> Callable[[], None]:
    """Return what loads modules."""

    def load() -> None:
        for module in modules:
            import_module(module)

    return load


def commands() -> dict[str, CommandEntry]:
    """Return the commands by name, in the order of their ranks."""
    found = sorted((each for tool in tools() for each in tool.commands), key=lambda each: each.rank)
    return {each.name: each for each in found}


def command_at(path: str) -> CommandEntry | None:
    """Return the command with these names, of a command and of one of its own or of a command alone, None if none has."""
    first, _, rest = path.partition(" ")
    one = commands().get(first)
    return one if one is None or not rest else next((each for each in one.below if each.name == rest), None)


def groups() -> dict[str, list[str]]:
    """Return the names of commands by the titles under which they are listed."""
    found = sorted(commands().values(), key=lambda each: each.group[1])
    titles = [*TITLES, *sorted({each.group[0] for each in found} - set(TITLES))]
    return {title: names for title in titles if (names := [each.name for each in found if each.group[0] == title])}


def nested_commands() -> dict[str, dict[str, CommandEntry]]:
    """Return the commands of commands by their names, for those commands of which one of them is the default."""
    return {name: {each.name: each for each in one.below} for name, one in commands().items() if one.is_group}


def settings() -> dict[str, tuple[Kind, tuple[str, ...]]]:
    """Return each setting with what its value is, and the commands for which it counts at the top of the file."""
    having = commands().values()
    kinds = [each for tool in tools() for each in tool.settings]
    kinds += [SettingKind(each.name, each.kind) for one in having for each in one.options if not each.configures]
    kinds.sort(key=lambda each: each.rank)
    return {kind.name: (kind.kind, tuple(one.name for one in having if kind.name in one.sets)) for kind in kinds}


def front_ends() -> list[FrontEnd]:
    """Return every front end, in the order in which they are asked; the one for what no other reads comes last."""
    return sorted((each for tool in tools() for each in tool.front_ends), key=lambda each: each.reads is None)


def front_end_of(text: str, file: str) -> FrontEnd:
    """Return the front end that reads a text."""
    return next(each for each in front_ends() if each.reads is None or each.reads(text, file))


def explained_by(file: str) -> FrontEnd | None:
    """Return a front end for files with the suffix of `file` that explains them by itself, None if none does."""
    return next((each for each in front_ends() if each.explain is not None and file.endswith(each.suffixes)), None)


def default_command(arguments: Sequence[str]) -> tuple[str, ...]:
    """Return the command for arguments that name none: that of their front ends, where all files are of those with the same
    and none is a folder; () else."""
    if any(os.path.isdir(each) for each in arguments):
        return ()
    meant = {one.default for one in front_ends() for each in arguments if each.endswith(one.suffixes)}
    return meant.pop() if len(meant) == 1 else ()


def default_suffixes() -> dict[tuple[str, ...], tuple[str, ...]]:
    """Return the commands for files where none is named, each with the suffixes of those."""
    meant: dict[str, set[tuple[str, ...]]] = {}
    for one in front_ends():
        for suffix in one.suffixes:
            meant.setdefault(suffix, set()).add(one.default)
    found: dict[tuple[str, ...], tuple[str, ...]] = {}
    for suffix, commands_ in meant.items():
        if len(commands_) == 1 and (command := next(iter(commands_))):
            found[command] = (*found.get(command, ()), suffix)
    return found


def optioned_suffixes() -> tuple[str, ...]:
    """Return the suffixes of files that are read with options; they are looked for in folders only where that is asked."""
    return tuple(suffix for each in front_ends() if each.optioned for suffix in each.suffixes)


def elsewhere(file: str, suffixes: tuple[str, ...]) -> str:
    """Return what to say of a file to who reads files of other `suffixes`, '' where there is nothing to say."""
    if file.endswith(suffixes):
        return ""
    found = [each for each in front_ends() if file.endswith(each.suffixes)]
    if any(suffix in each.alike for each in found for suffix in suffixes):
        return ""
    return next(filter(None, (each.elsewhere.get(suffix, "") for each in found for suffix in suffixes)), "")


def folder_suffixes() -> tuple[str, ...]:
    """Return the suffixes of the programs that are looked for in folders."""
    return tuple(dict.fromkeys(suffix for tool in reversed(tools()) for suffix in tool.folders))


def fallback_suffixes() -> tuple[str, ...]:
    """Return the suffixes of the front end for what no other reads."""
    return front_ends()[-1].suffixes


def written_suffixes() -> tuple[str, ...]:
    """Return the suffixes of what people write."""
    return tuple(dict.fromkeys(suffix for tool in tools() for suffix in tool.written))


def certificate_kind(kind: str) -> CertificateKind | None:
    """Return what is known of certificates about a kind of input, None if nothing is."""
    return next((each for tool in tools() for each in tool.certificates if each.input == kind), None)
