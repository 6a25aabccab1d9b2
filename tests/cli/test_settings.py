"""Settings from a file, through the installed command."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
import typer.main

from rdma_robust.cli.app import command_line
from rdma_robust.frame import registry
from tests.conftest import NOT_ROBUST, ROBUST, Cli
from tests.support.shares import share


@pytest.fixture
def programs(tmp_path: Path) -> Path:
    (tmp_path / "calm.rdma").write_text(ROBUST)
    (tmp_path / "sb.rdma").write_text(NOT_ROBUST)
    return tmp_path


def settings(text: str, folder: Path, name: str = "rdma-robust.toml") -> None:
    (folder / name).write_text(text)


def test_settings_are_the_options_of_commands() -> None:
    """A setting is declared by the option of its name; what the table says of it is what the options are."""
    group = typer.main.get_command(command_line())
    kinds = {"float": "number", "int": "whole", "bool": "yes or no", "boolean": "yes or no"}
    declared: dict[str, list[tuple[str, str]]] = {}
    own = {command: [*group.commands[command].params] for command in registry.commands()}  # type: ignore[attr-defined]
    for name in registry.nested_commands():
        below = group.commands[name].commands.values()  # type: ignore[attr-defined]
        own[name] += [param for command in below for param in command.params]
    for command in registry.commands():
        for param in own[command]:
            names = [each.removeprefix("--") for each in param.opts if each.startswith("--")]
            if names and names[0] in registry.settings():
                declared.setdefault(names[0], []).append(
                    (
                        command,
                        "list"
                        if param.multiple
                        else kinds.get(param.type.name.replace("integer", "int").split()[0], "text"),
                    )
                )
                assert param.name == names[0].replace("-", "_")
    otherwise = {
        "timeout": {"explore", "lsp", "hardware"},
        "max-states": {"export"},
        "engine": {"cover", "prove", "messages", "contracts"},
        "instrumentation": {"export"},
    }
    otherwise |= {"strict": {"compare"}, "buffer": {"explore", "contracts"}, "order": {"needs"}, "threads": {"synthesise"}}
    assert set(declared) == set(registry.settings())
    for name, (kind, commands) in registry.settings().items():
        assert {each for each, _ in declared[name]} - otherwise.get(name, set()) == set(commands), name
        assert {each for command, each in declared[name] if command in commands} == {kind}, name


ONE_RUN = {
    *("-D", "--format", "--output", "--force", "--write", "--diff", "--check", "--watch", "--certificate", "--dump-after"),
    *(
        "--cache",
        "--no-cache",
        "--executor",
        "--checkpoint",
        "--repair",
        "--all-minimal",
        "--hint",
        "--solution",
        "--remove-needless",
        "--markings",
        "--model",
    ),
    *("--goal", "--sites", "--from-full", "--for", "--needs", "--runs"),
    *("--target", "--depth", "--under-way", "--of", "--final-states", "--width", "--all-steps", "--races", "--expand"),
    *("--between", "--size", "--statements", "--models", "--orders"),
    *("-I", "--with", "--compile-commands", "-n", "--arg", "--wc-errors", "--c"),
    *("--hint", "--solution"),
    *("--number", "--join", "--run-timeout", "--out", "--races"),
}
"""Options of the commands that decide which are about one run, one program, or where answers are kept and found."""


def test_an_option_is_a_setting_or_about_one_run() -> None:
    group = typer.main.get_command(command_line())
    found = {
        max(param.opts, key=len)
        for command in (*registry.settings()["timeout"][1], "fmt")
        for param in group.commands[command].params  # type: ignore[attr-defined]
        if param.param_type_name == "option"
    }
    assert found - {f"--{name}" for name in registry.settings()} == ONE_RUN & found
    assert found >= ONE_RUN


@pytest.mark.ci
def test_a_setting_counts_and_the_command_line_more(installed: Cli, programs: Path) -> None:
    assert installed("sb.rdma").returncode == 1
    settings("expect = true\n", programs)
    assert installed("sb.rdma").returncode == 0
    settings("max-states = 1\n", programs)
    assert installed("sb.rdma").returncode == 3
    assert installed("sb.rdma", "--max-states", "0").returncode == 1
    settings("max-states = 1\n[check]\nmax-states = 0\n", programs)
    assert installed("sb.rdma").returncode == 1
    settings("[verify]\nmax-states = 1\n", programs)
    assert installed("sb.rdma").returncode == 1


def test_the_nearest_file_counts(cli: Cli, programs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    inner = programs / "a" / "b"
    inner.mkdir(parents=True)
    settings("max-states = 1\n", programs)
    monkeypatch.chdir(inner)
    assert cli("../../sb.rdma").returncode == 3
    settings("[project]\nname = 'x'\n", inner, "pyproject.toml")
    assert cli("../../sb.rdma").returncode == 3, "a project without settings is no settings file"
    settings("[project]\nname = 'x'\n[tool.rdma-robust]\nexpect = true\n", inner.parent, "pyproject.toml")
    assert cli("../../sb.rdma").returncode == 0
    settings("", inner)
    assert cli("../../sb.rdma").returncode == 1


WRONG = [
    (
        "timeuot = 20\n",
        "1:1: error: there is no setting `timeuot` [RR802]\n  1 | timeuot = 20\n    | ^^^^^^^\n"
        "  hint: did you mean `timeout`?",
    ),
    (
        "\n[chek]\ntimeout = 1\n",
        "2:2: error: there is no setting `chek` [RR802]\n  2 | [chek]\n    |  ^^^^\n  hint: did you mean `check`?",
    ),
    ("[repair]\nexpect = true\n", "2:1: error: there is no setting `expect` of repair [RR802]"),
    (
        'timeout = "20 s"\n',
        '1:1: error: `timeout` is the text `20 s` [RR803]\n  1 | timeout = "20 s"\n    | ^^^^^^^\n'
        "  expected: a number, 0 or more",
    ),
    ("expect = 1\n", "1:1: error: `expect` is 1 [RR803]\n  1 | expect = 1\n    | ^^^^^^\n  expected: true or false"),
    ("timeout = true\n", "1:1: error: `timeout` is true [RR803]"),
    ("timeout = -1\n", "1:1: error: `timeout` is -1 [RR803]"),
    ("jobs = 1.5\n", "1:1: error: `jobs` is 1.5 [RR803]"),
    ("timeout = 2020-01-01\n", "1:1: error: `timeout` is a date or time [RR803]"),
    (
        "color = 'red'\n",
        "1:1: error: `color` is the text `red` [RR803]\n  1 | color = 'red'\n    | ^^^^^\n  expected: auto, always or never",
    ),
    (
        "engine = 'fast'\n",
        "1:1: error: `engine` is fast: it is one of auto, bfs, dfs, karp-miller [RR803]\n  1 | engine = 'fast'\n"
        "    | ^^^^^^",
    ),
    ("disable = ['RR999']\n", "no warning has the code 'RR999'"),
    ("timeout = 20 s\n", "error: not TOML: "),
    ("timeout = 20\ntimeout = 30\n", "error: not TOML: "),
]


@pytest.mark.parametrize(("text", "said"), WRONG, ids=[text for text, _ in WRONG])
def test_what_is_wrong_has_a_place(text: str, said: str, cli: Cli, programs: Path) -> None:
    settings(text, programs)
    done = cli("calm.rdma")
    assert (done.returncode, done.stdout) == (2, "")
    assert said in done.stderr
    assert done.stderr.startswith(("rdma-robust.toml:", "error: --disable: "))
    settings(
        f"[tool.rdma-robust]\n{text.replace('[', '[tool.rdma-robust.') if '[r' in text or '[c' in text else text}",
        programs,
        "pyproject.toml",
    )
    (programs / "rdma-robust.toml").unlink()
    assert cli("calm.rdma").returncode == 2


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("[tool.rdma-robust]\nmax-states = 1\n", 3),
        ('[tool."rdma-robust"]\nmax-states = 1\n', 3),
        ("[ tool . rdma-robust ]\nmax-states = 1\n", 3),
        ("[tool.rdma-robust.check]\nmax-states = 1\n", 3),
        ("[[tool.rdma-robust]]\nmax-states = 1\n", 2),
        ("[tool.rdma-robust-x]\nmax-states = 1\n", 1),
        ('a = """\n[tool.rdma-robust]\nmax-states = 1\n"""\n', 1),
        ("not toml\n", 1),
    ],
)
def test_tables_of_a_project(text: str, code: int, cli: Cli, programs: Path) -> None:
    settings(text, programs, "pyproject.toml")
    assert cli("sb.rdma").returncode == code


def test_everything_that_is_wrong_is_said_at_once(cli: Cli, programs: Path) -> None:
    settings("timeuot = 1\nexpect = 3\n[verify]\nstrikt = true\n", programs)
    done = cli("verify", "calm.rdma")
    assert [line.split(": ")[0] for line in done.stderr.splitlines() if "error: " in line] == [
        f"rdma-robust.toml:{place}" for place in ("1:1", "2:1", "4:1")
    ]


def test_help_needs_no_settings(cli: Cli, programs: Path) -> None:
    settings("timeuot = 1\n", programs)
    assert cli("check", "--help").returncode == 0
    assert cli("--help").returncode == 0
    assert cli("completion", "bash").returncode == 0


def test_settings_are_shown_with_where_they_come_from(installed: Cli, programs: Path) -> None:
    settings("timeout = 20\n\n[check]\nmemory = 100\n\n[repair]\ncost-poll = 7\n", programs)
    done = installed("check", "--show-settings", "--jobs", "2", "calm.rdma")
    assert (done.returncode, done.stderr) == (0, "")
    rows = [line.split() for line in done.stdout.splitlines()]
    assert rows[0] == ["settings", "file:", "rdma-robust.toml"]
    assert ["timeout", "20", "rdma-robust.toml:1"] in rows
    assert ["memory", "100", "rdma-robust.toml:4"] in rows
    assert ["jobs", "2", "command", "line"] in rows
    assert ["expect", "false", "default"] in rows
    assert rows[-2:] == [["for", "other", "commands:"], ["repair.cost-poll", "=", "7"]]
    assert installed("--show-settings").stdout.split("\n")[2] == "check:"
    repair = [line.split() for line in installed("repair", "--show-settings").stdout.splitlines()]
    assert ["cost-poll", "7", "rdma-robust.toml:7"] in repair
    assert max(map(len, done.stdout.splitlines())) <= 80
    (programs / "rdma-robust.toml").unlink()
    assert "none (rdma-robust.toml, or [tool.rdma-robust] in pyproject.toml" in installed("--show-settings").stdout


def test_lints_are_chosen(cli: Cli, programs: Path) -> None:
    (programs / "v.rdma").write_text("node A { v = 1, w }\nnode B { d = 0 }\nthread T on A {\n  put B.d = v\n  v = 2\n}\n")
    assert cli("check", "v.rdma").stderr.count("[RR701]") == 1
    assert cli("check", "v.rdma", "--disable", "RR701").stderr == ""
    assert "[RR722]" in cli("check", "v.rdma", "--enable", "RR722").stderr
    assert "[RR726]" not in cli("check", "v.rdma", "--enable", "RR722").stderr
    settings("disable = ['RR701', 'RR726']\n[check]\nenable = ['RR722']\n", programs)
    done = cli("check", "v.rdma")
    assert "[RR701]" not in done.stderr
    assert "[RR722]" in done.stderr
    linted = cli("lint", "v.rdma", "--format", "concise")
    assert [line[-7:] for line in linted.stdout.splitlines()] == ["[RR722]"]
    assert "[RR701]" in cli("lint", "v.rdma", "--enable", "rr701,RR722", "--disable", "RR726").stdout
    assert cli("lint", "v.rdma", "--disable", "RR201").returncode == 2


WRONG = {
    "no table": ("pyproject.toml", 'tool = 5\nx = """\n[tool.rdma-robust]\n"""\n', 1, "`tool` is 5"),
    "a list of tables": ("pyproject.toml", "[[tool]]\nx=1\n[[tool.rdma-robust]]\n", 1, "`tool` is a list"),
    "the table a list": ("pyproject.toml", "[[tool.rdma-robust]]\ntimeout=1\n", 1, "`tool.rdma-robust` is a list"),
    "long": ("rdma-robust.toml", f"timeout = {'9' * 5000}", 0, "a number is too long"),
    "long in hexadecimal": ("rdma-robust.toml", f"\nmax-states = 0x{'f' * 9000}", 2, "a number of more than 30 digits"),
    "no float": ("rdma-robust.toml", f"timeout = {'9' * 400}", 1, "a number of more than 30 digits"),
    "infinite": ("rdma-robust.toml", "timeout = inf", 1, "`timeout` is inf"),
    "no number": ("rdma-robust.toml", "timeout = nan", 1, "`timeout` is nan"),
    "large": ("rdma-robust.toml", "jobs = 9999999999999999999", 1, "`jobs` is 9999999999999999999"),
    "deep": ("rdma-robust.toml", f"enable = {'[' * 900}{']' * 900}", 1, "nested too deeply"),
    "a key of many parts": ("rdma-robust.toml", f"{'a.' * 100_000}b = 1", 1, "nested too deeply"),
    "a code": ("rdma-robust.toml", 'quiet = true\nenable = ["RR999"]', 2, "RR999"),
    "reductions": ("rdma-robust.toml", '[check]\nreductions = "-x"', 2, "no reduction is called"),
    "truth": ("rdma-robust.toml", "timeout = true", 1, "`timeout` is true"),
    "inline": ("rdma-robust.toml", 'check = { quiet = true, timeout = "x" }', 1, "`timeout` is the text"),
    "dotted": ("pyproject.toml", 'x = """\n[a]\n"""\ntool.rdma-robust.jobs = -1', 4, "`jobs` is -1"),
}


@pytest.mark.parametrize("name", WRONG)
def test_what_is_wrong_has_its_place(cli: Cli, programs: Path, name: str) -> None:
    file, text, line, said = WRONG[name]
    settings(text, programs, file)
    done = cli("check", "--no-explain", "calm.rdma")
    assert done.returncode == 2, done.stderr
    assert done.stderr.startswith(f"{file}:{line}:" if line else f"{file}: error: "), done.stderr
    assert said in done.stderr.splitlines()[0]


@pytest.mark.ci
@pytest.mark.parametrize(
    "text",
    share(
        [
            "\n" * 500_000 + "[tool.x]",
            "[" + " " * 500_000,
            "x" * 1_000_000,
            "[tool" * 100_000,
            '"\\"' * 300_000,
            "'" * 500_000,
        ]
    ),
    ids=["lines", "spaces", "a word", "heads", "escapes", "quotes"],
)
def test_long_files_take_time_by_their_length(installed: Cli, programs: Path, text: str) -> None:
    """`installed` waits for two minutes; by the square of the length it would be hours."""
    settings(text + " # rdma-robust", programs, "pyproject.toml")
    assert installed("check", "calm.rdma").returncode in (0, 2)


def test_a_file_that_is_too_large_is_an_error(cli: Cli, programs: Path) -> None:
    settings("#" * (1 << 20) + "\n", programs)
    done = cli("check", "calm.rdma")
    assert (done.returncode, "larger than 1 MiB" in done.stderr) == (2, True)


PIECES = (
    *("timeout", "enable", "check", "tool", "rdma-robust", "[", "]", "[[", "]]", "{", "}", "=", ".", ",", "\n", "\n", " "),
    *(
        '"',
        "'",
        '"""',
        "'''",
        "\\",
        "1",
        "-1",
        "1e999",
        "inf",
        "nan",
        "true",
        "1979-05-27",
        '"RR999"',
        '"x"',
        "#",
        "0x",
        "\0",
    ),
    *("\ud800", "é", "\r", "quiet", "color", "jobs", "9" * 30, "[tool.rdma-robust]\n", "\n[check]\n", " = "),
)


@pytest.mark.ci
def test_no_text_of_settings_is_an_internal_error(cli: Cli, programs: Path) -> None:
    """Pieces of settings in any order: an answer, or an error in the file."""
    dice = random.Random(7)
    for _ in range(60):
        text = "".join(dice.choice(PIECES) for _ in range(dice.randint(1, 14)))
        name = dice.choice(("pyproject.toml", "rdma-robust.toml"))
        (programs / name).write_bytes(text.encode("utf-8", "surrogatepass"))
        done = cli("--version" if dice.random() < 0.05 else "check", "calm.rdma")
        assert done.returncode in (0, 2, 3), f"{name}: {text!r}\n{done.stderr}"
        (programs / name).unlink()
