"""The `export` command: every form, where it goes, and what it says when it cannot."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from rdma_robust.counters.explicit_json import read_vass_json
from rdma_robust.petri.spec.reader import read_spec
from tests.conftest import Cli

LOOP = """node A { x }
node B { y }
thread T on A { loop { put B.y = x }; x = 1; poll B }
thread S on B { y = 2 }
"""


@pytest.mark.parametrize("model", ["pivot", "paper", "none"])
def test_promela(cli: Cli, programs: Path, model: str) -> None:
    answer = cli("export", "--to", "promela", "--instrumentation", model, "sb.rdma", "-o", "sb.pml")
    text = (programs / "sb.pml").read_text(encoding="ascii")
    assert (answer.returncode, answer.stdout, answer.stderr) == (0, "", "")
    assert text.count("active proctype T") == 2
    assert "line 4: put B.y = 1" in text
    assert ("assert(false)" in text) == (model != "none")


def test_defaults(cli: Cli, programs: Path) -> None:
    """Promela is of the paper's instrumentation unless said otherwise, the others of the pivot's."""
    assert programs.exists()
    for form, model in (("promela", "paper"), ("spec", "pivot"), ("dot", "pivot"), ("json", "pivot")):
        plain = cli("export", "--to", form, "sb.rdma")
        said = cli("export", "--to", form, "--instrumentation", model, "sb.rdma")
        assert plain.stdout == said.stdout != ""


def test_promela_of_what_the_paper_has_not_is_of_the_pivot_and_says_what_is_open(cli: Cli, programs: Path) -> None:
    """It was refused; and nothing said that a compare-and-swap in the model need not go as in the program."""
    (programs / "cas.rdma").write_text(
        "domain 0..2\nnode A { a }\nnode B { y }\nthread T on A { get a = cas(B.y, 0, 1) }\nthread U on B { y = 2 }\n"
    )
    plain = cli("export", "--to", "promela", "cas.rdma")
    assert plain.returncode == 0
    assert "does not have remote atomics: this is the pivot's" in plain.stderr
    assert "need be no violation of the program" in plain.stderr
    assert "need be no violation of the program" in plain.stdout
    assert plain.stdout == cli("export", "--to", "promela", "--instrumentation", "pivot", "cas.rdma").stdout
    refused = cli("export", "--to", "promela", "--instrumentation", "paper", "cas.rdma")
    assert refused.returncode == 2
    net = cli("export", "--to", "spec", "cas.rdma")
    assert "need be no violation of the program" in net.stderr
    (programs / "send.rdma").write_text(
        "node A { a }\nnode B { b }\nthread T on A { send a to U }\nthread U on B { recv b from T }\n"
    )
    assert "can find no buffer" in cli("export", "--to", "promela", "send.rdma").stderr


def test_bounded_models_say_so(cli: Cli, programs: Path) -> None:
    (programs / "loop.rdma").write_text(LOOP)
    answer = cli("export", "--to", "promela", "loop.rdma", "--counter-bound", "4")
    assert answer.returncode == 0
    assert "bounded model: unpolled[T>B] has no proven bound and stays at 4" in answer.stdout
    assert "bounded model: unpolled[T>B], early[T>B] have no proven bound and stop at 4" in answer.stderr
    exact = cli("export", "--to", "promela", "sb.rdma")
    assert "bounded model" not in exact.stdout + exact.stderr


def test_nets_and_graphs(cli: Cli, programs: Path) -> None:
    (programs / "loop.rdma").write_text(LOOP)
    net = read_spec(cli("export", "--to", "spec", "loop.rdma").stdout, "loop.spec")
    vass = read_vass_json(cli("export", "--to", "json", "loop.rdma").stdout, "loop.json")
    assert vass.counters == ("unpolled[T>B]", "early[T>B]")
    assert len(net.places) == len(vass.states) + 2
    assert len(net.transitions) == len(vass.edges)
    drawn = cli("export", "--to", "dot", "loop.rdma").stdout
    assert drawn.startswith('digraph "loop"')
    assert drawn.count(" -> q") == len(vass.edges) + 1
    processes = cli("export", "--to", "dot", "--of", "program", "loop.rdma").stdout
    assert processes.count("subgraph cluster_") == 2
    assert "line 3: put B.y = x" in processes


def test_too_large_a_graph(cli: Cli, programs: Path) -> None:
    assert programs.exists()
    answer = cli("export", "--to", "dot", "--max-states", "5", "sb.rdma")
    assert (answer.returncode, answer.stdout) == (3, "")
    assert (
        "more than 5 control states; --max-states N allows more, --of program draws the processes instead" in answer.stderr
    )


def test_bad_input(cli: Cli, programs: Path) -> None:
    big = "domain 0..3000000000\nnode A { x }\nthread T on A { reg r; r = x; x = r + 1 }\nthread S on A { x = 2 }\n"
    (programs / "big.rdma").write_text(big)
    for arguments, said in (
        (["--to", "promela", "bad.rdma"], "bad.rdma:2:"),
        (["--to", "promela", "none.rdma"], "no such file"),
        (["--to", "promela", "--instrumentation", "pivot", "big.rdma"], "smaller `domain`"),
        (["--to", "promela", "."], "takes one program"),
        (["--to", "smv", "sb.rdma"], "smv"),
        (["--to", "promela", "sb.rdma", "-o", "no/such/folder.pml"], "cannot write"),
        (["--to", "promela", "--counter-bound", "0", "sb.rdma"], "counter-bound"),
    ):
        answer = cli("export", *arguments)
        assert (answer.returncode, answer.stdout) == (2, ""), arguments
        assert said in answer.stderr, answer.stderr


def test_standard_input_and_options(cli: Cli, programs: Path) -> None:
    text = (programs / "sb.rdma").read_text()
    assert "proctype T1" in cli("export", "--to", "promela", "-", stdin=text).stdout
    reader = "thread T on A { while x != 1 { } }"
    writer = "thread S on B { get y = A.x; get y = A.x; poll A; put A.x = 1 }"
    spin = f"node A {{ x }}\nnode B {{ y }}\n{reader}\n{writer}"
    several = [cli("export", "--to", "json", *options, "-", stdin=spin).stdout for options in ([], ["--await-loops"])]
    assert len(json.loads(several[0])["edges"]) > len(json.loads(several[1])["edges"])
    ordered = [cli("export", "--to", "promela", *more, "-", stdin=spin).stdout for more in ([], ["--ordered-reads"])]
    assert ordered[0] != ordered[1]


def test_c_of_verbs(cli: Cli, programs: Path) -> None:
    text = cli("export", "--to", "verbs-c", "sb.rdma").stdout
    assert "ibv_post_send(qp, &wr, &bad);" in text
    assert text.count("RR_PROCESS(") == 2
    (programs / "flushed.rdma").write_text("node A { }\nnode B { y }\nthread T on A {\n  put B.y = 1\n  flush B\n}\n")
    refused = cli("export", "--to", "verbs-c", "flushed.rdma")
    assert (refused.returncode, refused.stdout) == (2, "")
    assert "flushed.rdma:5:3: error: verbs have no `flush` [RR850]" in refused.stderr
    assert cli("export", "--to", "verbs-c", "--order", "none", "sb.rdma").returncode == 2


def test_tests_for_libraries_have_the_states_that_are_allowed(cli: Cli, programs: Path) -> None:
    (programs / "flushed.rdma").write_text(
        "node A { x }\nnode B { y }\nthread T on A {\n  reg r\n  put B.y = 1 inline\n  flush B\n  r = x\n}\n"
        "thread U on B {\n  reg s\n  put A.x = 1 inline\n  s = y\n}\n"
    )
    for form, flush in (("shmem-test", "shmem_quiet();"), ("mpi-test", "MPI_Win_flush(pe, window);")):
        text = cli("export", "--to", form, "flushed.rdma").stdout
        assert "static const char is_sc[ALLOWED] = { 0, 1, 1, 1 };" in text
        assert "\tput_value(1, 1, 1);\n\tcompleted(1);\n\tr = WORD(0);\n" in text
        assert flush in text
    (programs / "operands.rdma").write_text(
        "domain 0..2\nnode A { s = 1, t = 2 }\nnode B { c }\nthread T on A { swap(B.c, s); cas(B.c, 1, t) }\n"
    )
    assert "void *)&WORD(0));" in cli("export", "--to", "mpi-test", "operands.rdma").stdout
    assert "kept(1), (void *)&WORD(1));" in cli("export", "--to", "mpi-test", "operands.rdma").stdout
    assert "takes operands along when it is called" in cli("export", "--to", "shmem-test", "operands.rdma").stderr
    refused = cli("export", "--to", "verbs-test", "flushed.rdma")
    assert "flushed.rdma:6:3: error: no call of this library does this [RR850]" in refused.stderr
    text = cli("export", "--to", "verbs-test", "sb.rdma").stdout
    assert "enum { RELAXED = 0 };" in text
    (programs / "relaxed.rdma").write_text(
        (programs / "sb.rdma").read_text().replace("{ x", "{ relaxed x").replace("{ y", "{ relaxed y")
    )
    assert "enum { RELAXED = 1 };" in cli("export", "--to", "verbs-test", "relaxed.rdma").stdout
    assert "ibv_post_send" in text and "static const char is_sc[ALLOWED] = { 0, 1, 1, 1 };" in text
    (programs / "polled.rdma").write_text(
        "node A { }\nnode B { x, y }\nthread T on A {\n  put B.x = 1\n  poll B\n  put B.y = 1\n}\n"
        "thread U on B {\n  reg r, s\n  r = y\n  s = x\n}\n"
    )
    text = cli("export", "--to", "verbs-test", "polled.rdma").stdout
    assert "enum { STATES = 4, ALLOWED = 3, KNOWN = 4 };" in text
    assert '{ 1, 1, 1, 0 },\n};\nstatic const char *const given_up[KNOWN] = {\n\t"",\n\t"",\n\t"",\n' in text
    assert '\t"nrW nrW, completions order",\n};' in text
    (programs / "messages.rdma").write_text(
        "node A { x }\nnode B { y }\nthread T on A { send x to U }\nthread U on B { rpoll T }\n"
    )
    refused = cli("export", "--to", "shmem-test", "messages.rdma")
    assert "messages.rdma:3:17: error: no call of this library does this [RR850]" in refused.stderr
    assert refused.stderr.count("[RR850]") == 2


@pytest.mark.parametrize("form", ["verbs-c", "shmem-test"])
def test_what_c_does_not_have_is_refused_at_its_place(cli: Cli, programs: Path, form: str) -> None:
    """A kernel that reads a word of its host was an internal error."""
    (programs / "via.rdma").write_text(
        "node A { }\nnode H { f }\nnode G via H { x }\nthread T on A {\n  qp l to H\n  put G.x = 1 on l\n}\n"
        "thread K on G {\n  reg r\n  r = H.f\n}\n"
    )
    refused = cli("export", "--to", form, "via.rdma")
    assert refused.returncode == 2 and "via.rdma:10:7: error: memory behind the NIC of another node" in refused.stderr
    assert ("via.rdma:6:15: error: a runner has one queue pair to each process" in refused.stderr) == (form == "shmem-test")
