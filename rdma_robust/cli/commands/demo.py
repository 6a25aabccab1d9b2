"""The `demo` command: the demos, and their list."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Annotated

import typer

from rdma_robust.cli.options.arguments import Define, MaxStates, limit
from rdma_robust.cli.options.demo_options import MaybeFile, SearchTimeout, Showing
from rdma_robust.cli.options.help_page import HelpedCommand
from rdma_robust.cli.options.option_sets import with_option_sets
from rdma_robust.errors import UsageError

if TYPE_CHECKING:
    from rdma_robust.hardness.pcp import PcpInstance
    from rdma_robust.teaching.demos.walk import Walkthrough

PCP_HELP = """Solve an instance of Post's Correspondence Problem by running an RDMA program: why reachability is undecidable.

FILE has the instance as two lines, the top and the bottom words between commas, or as JSON: {"top": ["a", "ab"],
"bottom": ["baa", "aa"]}. Without an instance a classic one is solved. The search answers with a shortest solution, with the
proof that there is none, or with how far it came: no procedure can do better for every instance.

\b
Examples
  rdma-robust demo pcp
  rdma-robust demo pcp --top a,ab,bba --bottom baa,aa,bb -o pcp.rdma
  rdma-robust demo pcp instance.txt --indices 30 --html pcp.html
"""

ABP_HELP = """Send symbols by puts: bare, by the alternating-bit protocol as told in the paper, and with one more check.

Every run of the RDMA machine is checked for every word up to a length: what can the receiver have received when it ends?

\b
Examples
  rdma-robust demo abp
  rdma-robust demo abp --word aba --length 2
  rdma-robust demo abp -o transfers/ --html abp.html
"""

VASS_HELP = """Turn a VASS into an RDMA program and back: why robustness is ExpSpace-hard, and why it is no harder.

FILE is a Petri net in the `.spec` format, a VASS as JSON (what `export --to json` writes), or a program, `.rdma`. A net or
VASS becomes a program that is not robust iff a target can be covered. A program becomes the VASS that the checker builds for
it, drawn, and that VASS becomes a program again. Without FILE a small net is taken.

With a program, -o saves the VASS: as JSON if the name ends with .json, else as a net.

\b
Examples
  rdma-robust demo vass
  rdma-robust demo vass tests/nets/mutex-semaphore.spec -o mutex.rdma
  rdma-robust demo vass litmus/mailbox-polled.rdma --html mailbox.html
"""

FINITE_HELP = """Turn a finite-state program and a target into an RDMA program without polls: why that case is PSpace-hard.

FILE is a program without remote instructions. --target is a condition over its variables and `T ended`, and over
registers of threads that have ended. Or --automata is a JSON file with finite automata (schema/automata.schema.json), and
the question is whether there is a word that each accepts. Without either, built-in automata are taken.

\b
Examples
  rdma-robust demo finite
  rdma-robust demo finite turns.rdma --target 'T1 ended && T1.r == 2'
  rdma-robust demo finite --automata automata.json -o automata.rdma
"""

demo_command = typer.Typer(invoke_without_command=True, no_args_is_help=False)


@demo_command.callback(invoke_without_command=True)
def _list(context: typer.Context) -> None:
    if context.invoked_subcommand is None:
        from rdma_robust.cli.commands.demo_show import list_demos  # noqa: PLC0415 - each loads what it needs

        names = [(str(each.name), str(each.short_help)) for each in demo_command.registered_commands]
        context.obj.append(lambda: list_demos(names))


@demo_command.command(
    "pcp", cls=HelpedCommand, help=PCP_HELP, short_help="undecidability: Post's problem as a program, solved by running it"
)
@with_option_sets
def _pcp(
    context: typer.Context,
    file: MaybeFile = None,
    *,
    top: Annotated[
        str | None, typer.Option(metavar="WORDS", help="The top words, between commas.", show_default=False)
    ] = None,
    bottom: Annotated[
        str | None, typer.Option(metavar="WORDS", help="The bottom words, between commas.", show_default=False)
    ] = None,
    indices: Annotated[int, typer.Option(metavar="N", min=1, help="Search sequences of up to N indices.")] = 20,
    max_states: MaxStates = 0,
    timeout: SearchTimeout = 60,
    shown: Showing,
) -> None:
    from rdma_robust.cli.commands.demo_show import run_demo  # noqa: PLC0415 - each loads what it needs

    if (top is None) != (bottom is None) or (file is not None and top is not None):
        raise UsageError("an instance is a FILE, or both --top and --bottom")
    build = partial(_pcp_walk, file, top, bottom, (indices, max_states or None, limit(timeout)))
    context.obj.append(partial(run_demo, "demo pcp", build, shown, file, ".pcp"))


def _pcp_walk(
    file: str | None, top: str | None, bottom: str | None, limits: tuple[int, int | None, float | None], text: str
) -> Walkthrough:
    from rdma_robust.teaching.demos.walk_pcp import pcp_walk  # noqa: PLC0415

    return pcp_walk(_pcp_instance(file, text, top, bottom), *limits)


def _pcp_instance(file: str | None, text: str, top: str | None, bottom: str | None) -> PcpInstance:
    from rdma_robust.hardness.pcp import pcp_instance, read_instance  # noqa: PLC0415
    from rdma_robust.teaching.demos.walk_pcp import CLASSIC  # noqa: PLC0415

    if file is None:
        return CLASSIC if top is None or bottom is None else pcp_instance(top, bottom)
    return read_instance(text, file)


@demo_command.command(
    "abp", cls=HelpedCommand, help=ABP_HELP, short_help="lost and duplicated symbols without a protocol, none with it"
)
@with_option_sets
def _abp(
    context: typer.Context,
    *,
    word: Annotated[str, typer.Option(metavar="WORD", help="The word whose programs and runs are shown.")] = "ab",
    letters: Annotated[str, typer.Option(metavar="LETTERS", help="The alphabet.")] = "ab",
    length: Annotated[int, typer.Option(metavar="N", min=0, help="Check every word of up to N letters.")] = 3,
    shown: Showing,
) -> None:
    from rdma_robust.cli.commands.demo_show import run_demo  # noqa: PLC0415 - each loads what it needs
    from rdma_robust.teaching.demos.walk_abp import abp_walk  # noqa: PLC0415

    context.obj.append(partial(run_demo, "demo abp", lambda _: abp_walk(word, letters, length), shown))


@demo_command.command(
    "vass", cls=HelpedCommand, help=VASS_HELP, short_help="hardness: a vector addition system as a program, and back"
)
@with_option_sets
def _vass(
    context: typer.Context,
    file: MaybeFile = None,
    *,
    timeout: SearchTimeout = 60,
    max_states: Annotated[
        int, typer.Option(metavar="N", min=1, help="Control states of a program's VASS that are written out.")
    ] = 5_000,
    shown: Showing,
) -> None:
    from rdma_robust.cli.commands.demo_show import run_demo  # noqa: PLC0415 - each loads what it needs

    build = partial(_vass_walk, file, limit(timeout), max_states, shown.output)
    context.obj.append(partial(run_demo, "demo vass", build, shown, file, ".spec"))


def _vass_walk(file: str | None, timeout: float | None, max_states: int, output: str | None, text: str) -> Walkthrough:
    from rdma_robust.teaching.demos.walk_vass import EXAMPLE, EXAMPLE_FILE, read_question, vass_walk  # noqa: PLC0415

    if file is None:
        return vass_walk(read_question(EXAMPLE, EXAMPLE_FILE), timeout)
    if file.endswith(".rdma"):
        from rdma_robust.teaching.demos.walk_vass_back import back_walk  # noqa: PLC0415

        return back_walk(text, file, timeout, max_states, output)
    return vass_walk(read_question(text, file), timeout)


@demo_command.command(
    "finite",
    cls=HelpedCommand,
    help=FINITE_HELP,
    short_help="hardness without polls: reachability, and automata, as programs",
)
@with_option_sets
def _finite(
    context: typer.Context,
    file: MaybeFile = None,
    *,
    target: Annotated[
        str | None, typer.Option(metavar="CONDITION", help="What is to be reached in FILE.", show_default=False)
    ] = None,
    automata: Annotated[
        str | None, typer.Option(metavar="FILE.json", help="Automata instead of a program.", show_default=False)
    ] = None,
    define: Define = None,
    timeout: SearchTimeout = 60,
    shown: Showing,
) -> None:
    from rdma_robust.cli.commands.demo_show import run_demo  # noqa: PLC0415 - each loads what it needs

    if (file is None) != (target is None) or (file is not None and automata is not None):
        raise UsageError("a question is a FILE with --target, or --automata alone")
    if define and file is None:
        raise UsageError("-D defines constants of a FILE")

    def build(text: str) -> Walkthrough:
        from rdma_robust.language.defines import with_definitions  # noqa: PLC0415 - slow

        return _finite_walk(file, target, automata, limit(timeout), with_definitions(text, define or ()))

    suffix = ".rdma" if file is not None else ".json"
    context.obj.append(partial(run_demo, "demo finite", build, shown, file or automata, suffix))


def _finite_walk(
    file: str | None, target: str | None, automata: str | None, timeout: float | None, text: str
) -> Walkthrough:
    from rdma_robust.teaching.demos.walk_finite import automata_question, finite_walk, program_question  # noqa: PLC0415

    if file is not None and target is not None:
        question = program_question(text, file, target)
    elif automata is not None:
        question = automata_question(text, automata)
    else:
        question = automata_question(None)
    return finite_walk(question, timeout)
