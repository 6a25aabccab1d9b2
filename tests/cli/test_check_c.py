"""C files as inputs of every command: verdicts, places of the C, the options with which they are read."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from rdma_robust import check, parse
from rdma_robust.c.read_c import files_of
from rdma_robust.errors import ProgramError
from rdma_robust.frame.shell.inputs import Source, read_source
from tests.conftest import ROOT, Cli

MAILBOX = (ROOT / "tests/data/mailbox.c").read_text(encoding="utf-8")


def line_of(text: str, part: str) -> int:
    """Return the line in which a part of a text begins."""
    return text[: text.index(part)].count("\n") + 1


POST = line_of(MAILBOX, "ibv_post_send")
CALL = line_of(MAILBOX, "put(&staging.data")
WRITE = line_of(MAILBOX, "staging.data = 7")
ASSERT = line_of(MAILBOX, "RR_ASSERT")

pytestmark = pytest.mark.usefixtures("mailbox")


@pytest.fixture
def mailbox(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    shutil.copy(ROOT / "tests/data/mailbox.c", tmp_path / "mailbox.c")
    return tmp_path


def test_a_violation_is_told_with_places_of_the_c(cli: Cli) -> None:
    done = cli("mailbox.c")
    assert (done.returncode, done.stderr) == (1, "")
    assert f"Line {POST}<{CALL}: line {POST}, expanded from line {CALL}." in done.stdout
    assert f"may read `staging_data` of `put B.box_data = staging_data` (line {POST} from {CALL})" in done.stdout


def test_places_are_in_reports_for_machines(cli: Cli) -> None:
    result = json.loads(cli("check", "mailbox.c", "--format", "json").stdout)["results"][0]
    lines = {(event["line"], *event["expanded_from"]) for event in result["witness"]["events"]}
    assert {(POST, CALL), (WRITE,)} <= lines
    found = json.loads(cli("check", "mailbox.c", "--format", "sarif").stdout)["runs"][0]["results"]
    place = found[0]["locations"][0]["physicalLocation"]
    assert place["artifactLocation"]["uri"] == "mailbox.c"
    assert place["region"]["startLine"] in (POST, WRITE)


@pytest.mark.parametrize(
    ("command", "code", "said"),
    [
        (("verify",), 1, f"line {ASSERT}  RR_ASSERT"),
        (("reach", "-t", "receiver.box == 7"), 1, "REACHABLE under RDMA"),
        (("outcomes",), 0, "<- only RDMA"),
        (("explain",), 1, f"(line {POST} from {CALL})"),
        (("lint",), 1, f"mailbox.c:{WRITE}:2: warning: `staging_data` is written before the `put` of it"),
        (("races",), 1, f"(line {POST} from {CALL}) and `staging_data = 7`"),
        (("models",), 1, "Not robust first on the strongest hardware"),
        (("needs",), 1, "no guarantee of the order of a queue pair makes it robust"),
        (("report", "-o", "report.html"), 1, "1 not robust"),
        (("scale", "-D", "N=1..2"), 1, "Not robust for N = 1, 2."),
    ],
)
def test_every_question_is_answered_about_c(cli: Cli, command: tuple[str, ...], code: int, said: str) -> None:
    done = cli(command[0], "mailbox.c", *command[1:])
    assert done.returncode == code
    assert said in done.stdout + done.stderr


def test_definitions_are_those_of_the_preprocessor(cli: Cli) -> None:
    assert cli("check", "-D", "POLLED", "mailbox.c").returncode == 0
    done = cli("check", "-D", "POLLED=1..2", "mailbox.c")
    assert "mailbox.c (POLLED=2)" in done.stdout
    assert done.returncode == 0


def test_headers_and_further_files_are_read(cli: Cli, mailbox: Path) -> None:
    before, _, receiver = MAILBOX.partition("RR_PROCESS(B)")
    head, _, sender = before.partition("static struct ibv_qp")
    (mailbox / "include").mkdir()
    (mailbox / "include" / "box.h").write_text(head.replace("static struct", "static __attribute__((unused)) struct"))
    (mailbox / "sender.c").write_text(f'#include "box.h"\nstatic struct ibv_qp{sender}')
    (mailbox / "receiver.c").write_text(
        f'#include "box.h"\nstatic struct ibv_qp *qp; static struct ibv_cq *cq;\nRR_PROCESS(B){receiver}'
    )
    options = ("-I", "include", "--with", "receiver.c")
    assert "staging_data" in cli("check", *options, "sender.c").stdout
    assert cli("check", *options, "-D", "POLLED", "sender.c").returncode == 0
    assert "'box.h' file not found [RR810]" in cli("check", "sender.c").stderr
    said = (mailbox / "sender.c").read_text() + "/* rdma-robust: options -I include --with receiver.c -D POLLED */\n"
    (mailbox / "sender.c").write_text(said)
    assert cli("check", "sender.c").returncode == 0
    parts = {Path(each).name for each in files_of(said, "sender.c")}
    assert parts == {"box.h", "receiver.c"}
    (mailbox / "compile_commands.json").write_text(
        json.dumps(
            [
                {"directory": str(mailbox), "file": f"{name}.c", "command": f"cc -Iinclude -c {name}.c"}
                for name in ("sender", "receiver")
            ]
        )
    )
    (mailbox / "sender.c").write_text(said.replace("options", "note"))
    assert cli("check", "--compile-commands", ".", "-D", "POLLED", "sender.c").returncode == 0


def test_options_of_the_command_line_are_part_of_the_text(mailbox: Path) -> None:
    (mailbox / "src").mkdir()
    shutil.move(mailbox / "mailbox.c", mailbox / "src" / "mailbox.c")
    text = read_source(Source("src/mailbox.c", "src/mailbox.c", define=("-I=include", "-n=3", "N=2", "send depth=4")))
    assert text.endswith(
        "\n/* rdma-robust: options -I ../include -n 3 -D N=2 */\n/* rdma-robust: hardware send depth 4 */\n"
    )


def test_options_are_for_c_alone(cli: Cli, mailbox: Path) -> None:
    (mailbox / "one.rdma").write_text("node A { x }\nthread T on A { x = 1 }\n")
    done = cli("check", "-I", "include", "one.rdma")
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert "-I is an option of .c files, and none of them is given" in done.stderr
    assert cli("check", "-n", "2..3", "one.rdma", "mailbox.c").stdout.count("one.rdma ") == 1


def test_folders_are_searched_for_c_where_that_is_asked(cli: Cli, mailbox: Path) -> None:
    (mailbox / "one.rdma").write_text("node A { x }\nthread T on A { x = 1 }\n")
    assert "mailbox.c" not in cli("check", ".").stdout
    assert "mailbox.c" in cli("check", "--c", ".").stdout


@pytest.mark.parametrize("name", ["mailbox.cc", "mailbox.cpp", "mailbox.cxx"])
def test_c_plus_plus_is_refused(cli: Cli, mailbox: Path, name: str) -> None:
    shutil.copy(mailbox / "mailbox.c", mailbox / name)
    done = cli("check", name)
    assert done.returncode == 2
    assert "C++ is not read: put the C that posts and polls into a file of its own" in done.stderr


def test_expectations_are_comments_or_annotations(cli: Cli, mailbox: Path) -> None:
    for said in ("/* rdma-robust: expect not robust */", "// rdma-robust: expect not robust", 'RR_EXPECT("not robust");'):
        (mailbox / "mailbox.c").write_text(f"{MAILBOX}\n{said}\n")
        assert cli("check", "--expect", "mailbox.c").returncode == 0
    (mailbox / "mailbox.c").write_text(MAILBOX.replace("\tchar *there;", '\tchar *there; RR_EXPECT("robust");'))
    assert cli("check", "--expect", "mailbox.c").returncode == 1
    (mailbox / "mailbox.c").write_text(f"{MAILBOX}\n/* rdma-robust: expect robust */\n")
    assert cli("check", "--expect", "mailbox.c").returncode == 1
    (mailbox / "mailbox.c").write_text(f"{MAILBOX}\n/* rdma-robust: expect rubost */\n")
    done = cli("check", "mailbox.c")
    assert done.returncode == 2
    assert f"mailbox.c:{MAILBOX.count(chr(10)) + 2}:1: error: " in done.stderr


def test_a_claim_about_final_states_is_checked(cli: Cli, mailbox: Path) -> None:
    (mailbox / "mailbox.c").write_text(f"{MAILBOX}\n/* rdma-robust: outcome B.box_data == 7 : forbidden under sc */\n")
    assert cli("outcomes", "mailbox.c").returncode == 0


def test_the_command_line_says_the_hardware(cli: Cli, mailbox: Path) -> None:
    (mailbox / "mailbox.c").write_text(
        MAILBOX.replace("\tchar *there;", '\tchar *there; RR_HARDWARE("cpu tso, send depth 4");')
    )
    done = cli("check", "mailbox.c", "--send-depth", "3", "--format", "json")
    assert (done.returncode, done.stderr) == (1, "")
    assert json.loads(done.stdout)["results"][0]["model"]["cpu"] == "tso"


def test_warnings_are_ignored_by_comments(cli: Cli, mailbox: Path) -> None:
    lines = MAILBOX.split("\n")
    lines[WRITE - 1] += " /* rdma-robust: ignore RR722 it is read again */"
    (mailbox / "mailbox.c").write_text("\n".join(lines))
    assert cli("lint", "mailbox.c").returncode == 0
    lines[WRITE - 1] = lines[WRITE - 1].replace("ignore", "igonre")
    (mailbox / "mailbox.c").write_text("\n".join(lines))
    done = cli("lint", "mailbox.c")
    assert "this comment asks rdma-robust for `igonre`" in done.stdout + done.stderr


def test_options_in_a_comment_that_are_none(cli: Cli, mailbox: Path) -> None:
    (mailbox / "mailbox.c").write_text(f"{MAILBOX}\n\t/* rdma-robust: options -O2 */\n")
    done = cli("check", "mailbox.c")
    assert done.returncode == 2
    assert f"mailbox.c:{MAILBOX.count(chr(10)) + 2}:2: error: `-O2` is no option of C files" in done.stderr
    assert "[RR848]" in done.stderr


def test_refusals_have_caret_chain_and_remedy(cli: Cli, mailbox: Path) -> None:
    (mailbox / "mailbox.c").write_text(
        MAILBOX.replace("\tibv_post_send(", "wr.wr.rdma.remote_addr *= 2; /* é */ ibv_post_send(")
    )
    done = cli("check", "mailbox.c")
    assert done.returncode == 2
    assert "/* é */ " in done.stderr
    caret = next(i for i, line in enumerate(done.stderr.splitlines()) if "^" in line)
    shown, marked = done.stderr.splitlines()[caret - 1 : caret + 1]
    assert shown[marked.index("^") :].startswith("ibv_post_send(")
    assert f"expanded from mailbox.c:{CALL}: put(&staging.data" in done.stderr
    assert "hint: " in done.stderr


def test_standard_input_may_be_c(cli: Cli) -> None:
    assert cli("check", "-", stdin=MAILBOX).returncode == 1


def test_without_libclang_it_is_said_what_to_install(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    from rdma_robust.c.front import libclang  # noqa: PLC0415

    libclang.index_library.cache_clear()
    monkeypatch.setattr(libclang, "find_spec", lambda _: None)
    done = cli("check", "mailbox.c")
    libclang.index_library.cache_clear()
    assert done.returncode == 2
    assert "reading C needs libclang, which is not installed: pip install libclang" in done.stderr


@pytest.mark.parametrize(("define", "code"), [((), 1), (("-D", "POLLED"), 0)])
def test_a_certificate_is_about_the_file(cli: Cli, mailbox: Path, define: tuple[str, ...], code: int) -> None:
    assert cli("check", "mailbox.c", *define, "--certificate", "proofs").returncode == code
    (made,) = (mailbox / "proofs").iterdir()
    assert cli("verify-certificate", str(made), *define).returncode == 0
    (mailbox / "mailbox.c").write_text(MAILBOX + "\n")
    assert cli("verify-certificate", str(made), *define).returncode == 1


def test_c_has_no_layout_and_is_not_edited(cli: Cli) -> None:
    assert "C has no layout of ours" in cli("fmt", "mailbox.c").stderr


def test_c_is_read_from_python() -> None:
    assert check(Path("mailbox.c"), define={"POLLED": 1}).verdict.name == "ROBUST"
    assert parse(MAILBOX, "mailbox.c").threads[0].name == "sender"


def test_import_writes_the_text(cli: Cli, mailbox: Path) -> None:
    assert cli("import", "mailbox.c", "-o", "mailbox.rdma").returncode == 0
    text = (mailbox / "mailbox.rdma").read_text()
    assert f"  put B.box_data = staging_data    // mailbox.c:{POST}:2 < mailbox.c:{CALL}:21\n" in text
    assert cli("check", "mailbox.rdma").returncode == 1
    assert cli("import", "c", "-D", "POLLED", "mailbox.c", "-o", "polled.rdma").returncode == 0
    assert cli("check", "polled.rdma").returncode == 0


def test_import_writes_what_is_understood(cli: Cli, mailbox: Path) -> None:
    (mailbox / "mailbox.c").write_text(MAILBOX.replace("staging.data = 7;", "int (*f)(void *); f(&staging);"))
    assert cli("import", "mailbox.c").returncode == 2
    done = cli("import", "--skeleton", "mailbox.c")
    assert done.returncode == 0
    assert done.stdout.startswith(f"// TODO mailbox.c:{WRITE}:20: this is a call through `f`")
    assert f"// TODO mailbox.c:{WRITE}:20\n" in done.stdout
    assert "--skeleton is about C" in cli("import", "--skeleton", "trencher", "a.trencher").stderr


@pytest.mark.parametrize("words", [("a.txt",), ("c", "mailbox.c", "mailbox.c"), ("spin", "mailbox.c")])
def test_import_says_what_it_takes(cli: Cli, words: tuple[str, ...]) -> None:
    done = cli("import", *words)
    assert (done.returncode, done.stdout) == (2, "")
    assert "rdma-robust import trencher FILE" in done.stderr


def test_a_program_that_does_nothing_is_an_error() -> None:
    with pytest.raises(ProgramError, match="no process does anything that others see, so there is nothing to decide"):
        parse("#include <shmem.h>\nint main(void) { return 0; }\n", "silent.c")


def test_completions_may_be_errors_if_that_is_asked_for(mailbox: Path) -> None:
    text = read_source(Source("mailbox.c", "mailbox.c", define=("--wc-errors=on",)))
    assert text.endswith("\n/* rdma-robust: options --wc-errors */\n")
    assert (mailbox / "mailbox.c").exists()
    as_it_is, with_errors = (len(parse(each, "mailbox.c").threads[0].edges) for each in (MAILBOX, text))
    assert with_errors > as_it_is


CLAIMS = """
	volatile uint64_t *word = &box.data;
	uint64_t data = box.data;
	assert(box.data == 42 || *word == 7);
	RR_ASSERT(data == 42 && box.flag == 1);
	if (data != 42 && data != 7)
		assert(0 && "never");
	if (data == 7 && *word == 42 && box.flag == 0)
		abort();
"""


def test_claims_are_said_in_the_words_of_the_c(cli: Cli, mailbox: Path) -> None:
    text = MAILBOX.replace("RR_ASSERT(box.data == 42);", CLAIMS).replace("<stdint.h>", "<stdint.h>\n#include <assert.h>")
    (mailbox / "mailbox.c").write_text(text)
    done = cli("verify", "mailbox.c", "--format", "json")
    claims = json.loads(done.stdout)["results"][0]["claims"]
    said = {each["text"]: each["status"] for each in claims if each["kind"] == "assertion"}
    assert said == {
        "assert(box.data == 42 || *word == 7)": "holds",
        "RR_ASSERT(data == 42 && box.flag == 1)": "violated",
        'assert(0 && "never")': "holds",
        "abort()": "holds",
    }


@pytest.fixture
def included(mailbox: Path) -> Path:
    """The mailbox as a harness includes it: all but the second process is in another file."""
    library, _, rest = MAILBOX.partition("RR_PROCESS(B)")
    (mailbox / "library.h").write_text(library)
    (mailbox / "harness.c").write_text(f'#include "library.h"\nRR_PROCESS(B){rest}')
    return mailbox


def test_places_name_the_file_that_is_included(cli: Cli, included: Path) -> None:
    where = f"library.h:{POST}"
    text = cli("check", "harness.c").stdout
    assert f"{where}<library.h:{CALL}" in text
    assert "line 6): RR_ASSERT(box.data == 42)" in " ".join(text.split())
    result = json.loads(cli("check", "harness.c", "--format", "json").stdout)["results"][0]
    assert [where, f"library.h:{CALL}"] in [event["places"] for event in result["witness"]["events"]]
    log = json.loads(cli("check", "harness.c", "--format", "sarif").stdout)["runs"][0]["results"][0]
    places = [log["locations"][0], *log["relatedLocations"]]
    assert {each["physicalLocation"]["artifactLocation"]["uri"] for each in places} == {"library.h"}
    assert cli("check", "harness.c", "--format", "concise").stdout.startswith(f"{where}:2: error: not robust")
    race = json.loads(cli("races", "harness.c", "--format", "json").stdout)["results"][0]["races"][0]
    assert (race["first"]["places"], race["second"]["places"]) == ([where, f"library.h:{CALL}"], [f"library.h:{WRITE}"])
    assert included.name


def test_lines_of_included_files_are_shown(cli: Cli, included: Path) -> None:
    done = cli("lint", "harness.c")
    assert f"library.h:{WRITE}:2: warning: `staging_data` is written before" in done.stderr + done.stdout
    assert f"  {WRITE} | \tstaging.data = 7;".replace("\t", " ") in done.stderr + done.stdout
    library = included / "library.h"
    library.write_text(library.read_text().replace("ibv_post_send(qp,", "ibv_post_send(other(qp),"))
    done = cli("check", "harness.c")
    assert f"  {POST} |  ibv_post_send(other(qp), &wr, &bad);" in done.stderr
    assert "expanded from ./library.h:" in done.stderr


def test_what_does_nothing_is_not_as_expected(cli: Cli, mailbox: Path) -> None:
    said = "/* rdma-robust: expect not robust */\n/* rdma-robust: expect race */\n"
    (mailbox / "mailbox.c").write_text(f"{MAILBOX}\nRR_PROCESS(C) void idle(void) {{ }}\n{said}")
    plain = cli("check", "mailbox.c")
    assert "[RR845]" in plain.stderr
    for command in ("check", "races"):
        done = cli(command, "--expect", "mailbox.c")
        assert (done.returncode, " NO " in done.stdout) == (1, True)
    assert "a process does nothing" in cli("check", "--expect", "mailbox.c").stdout
