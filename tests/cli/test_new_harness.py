"""Harnesses for C: of each shape of the public programs of docs/c, one is written, parses, and says what is left to do."""

from __future__ import annotations

from pathlib import Path

import pytest

from rdma_robust import check, parse
from rdma_robust.c.harness import harness_of
from rdma_robust.c.read_c import units_of
from rdma_robust.errors import ProgramError, UsageError
from tests.conftest import ROOT, Cli

HEAD = "#include <infiniband/verbs.h>\n#include <stdint.h>\n#include <stdlib.h>\n"
POST = """	struct ibv_sge sge = { .addr = (uintptr_t)FROM, .length = 8 };
	struct ibv_send_wr wr = { .sg_list = &sge, .num_sge = 1, .opcode = IBV_WR_RDMA_WRITE }, *bad;
	wr.send_flags = IBV_SEND_SIGNALED;
	wr.wr.rdma.remote_addr = THERE;
"""
PINGPONG = f"""{HEAD}extern int exchange(int socket, void *mine, void *theirs);
static uint64_t buffer[4];
int main(int argc, char **argv)
{{
	struct ibv_device **list = ibv_get_device_list(NULL);
	struct ibv_context *context = ibv_open_device(list[0]);
	struct ibv_pd *pd = ibv_alloc_pd(context);
	struct ibv_cq *cq = ibv_create_cq(context, 16, NULL, NULL, 0);
	struct ibv_qp_init_attr attr = {{ .send_cq = cq, .recv_cq = cq, .qp_type = IBV_QPT_RC, .cap = {{ 8, 8, 1, 1 }} }};
	struct ibv_qp *qp = ibv_create_qp(pd, &attr);
	uint64_t mine = (uintptr_t)buffer, theirs;
	exchange(3, &mine, &theirs);
{POST.replace("FROM", "buffer").replace("THERE", "theirs")}	return ibv_post_send(qp, &wr, &bad);
}}
"""
PERFTEST = f"""{HEAD}typedef unsigned long cycles_t;
struct stamp {{ cycles_t at; }};
extern cycles_t get_cycles(void);
extern struct stamp stamp_of(struct parameters *par);
extern void report(struct parameters *par, int number);
struct context {{ struct ibv_qp *qp; struct ibv_cq *send_cq; char *buf; uint64_t there; }};
struct parameters {{ int iterations; cycles_t began; }};
int run_iter(struct context *ctx, struct parameters *par, int client)
{{
{POST.replace("FROM", "ctx->buf").replace("THERE", "ctx->there")}	par->began = get_cycles();
	struct stamp first = stamp_of(par);
	if (first.at > 5)
		report(par, 1);
	return client ? ibv_post_send(ctx->qp, &wr, &bad) : 0;
}}
"""
ECHO = f"""{HEAD}static struct ibv_qp *qp;
static struct ibv_cq *cq;
extern int configured(void);
void client(uint64_t *box, uint64_t there)
{{
{POST.replace("FROM", "box").replace("THERE", "there")}	if (configured())
		ibv_post_send(qp, &wr, &bad);
}}
void server(void) {{ struct ibv_wc wc; while (ibv_poll_cq(cq, 1, &wc) == 0) ; }}
"""
SHAPES = {"pingpong": PINGPONG, "perftest": PERFTEST, "echo": ECHO}
STUBBED = {"pingpong": ("exchange",), "perftest": ("stamp_of",), "echo": ("configured",)}


@pytest.mark.ci
@pytest.mark.parametrize("name", SHAPES)
def test_a_harness_parses_and_stubs_what_is_not_known(name: str, tmp_path: Path) -> None:
    file, made = tmp_path / f"{name}.c", tmp_path / "made" / "harness.c"
    file.write_text(SHAPES[name])
    made.parent.mkdir()
    text = harness_of(SHAPES[name], str(file), str(made))
    made.write_text(text)
    units = units_of(text, str(made))
    assert [process for process, _ in units.processes()] == ["A", "B"]
    assert f'#include "../{name}.c"' in text
    for function in STUBBED[name]:
        assert units.instead(function) == f"stub_{function}"
    assert "TODO" in text
    try:
        check(parse(text, str(made)))
    except ProgramError as error:
        left = [each.message for each in error.diagnostics]
        assert all(message in text for message in left)
        assert not any("is not known here" in message for message in left)


def test_processes_are_functions_that_post_or_poll(tmp_path: Path) -> None:
    file = tmp_path / "echo.c"
    file.write_text(ECHO)
    text = harness_of(ECHO, str(file), str(tmp_path / "harness.c"))
    assert "\tclient((void *)box, 1 /* TODO: there */);\n" in text
    assert "\tserver();\n" in text
    assert '\tRR_QP(qp, cq, cq);\n\tRR_CONNECT(qp, "c");\n' in text


def test_what_needs_no_harness_is_said_so() -> None:
    mailbox = ROOT / "tests/data/mailbox.c"
    with pytest.raises(UsageError, match="says which function is which process already"):
        harness_of(mailbox.read_text(), str(mailbox), "harness.c")
    with pytest.raises(UsageError, match="C of OpenSHMEM needs no harness"):
        harness_of("#include <shmem.h>\nint main(void) { shmem_init(); }\n", "one.c", "harness.c")
    with pytest.raises(UsageError, match="has no function that posts or polls"):
        harness_of(f"{HEAD}int add(int a) {{ return a; }}\n", "one.c", "harness.c")


@pytest.mark.ci
def test_the_command_writes_it_with_the_options(cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "src").mkdir()
    (tmp_path / "src/echo.c").write_text(ECHO.replace("configured()", "configured() == ASKED"))
    done = cli("new", "harness", "src/echo.c", "-D", "ASKED=1", "-I", "src", "-o", "harness.c")
    assert (done.returncode, done.stdout) == (0, "")
    assert "TODOs, then rdma-robust check harness.c" in done.stderr
    text = (tmp_path / "harness.c").read_text()
    assert text.endswith("/* rdma-robust: options -D ASKED=1 -I src */\n")
    assert cli("new", "ring", "src/echo.c").returncode == 2
    assert "is for `rdma-robust new harness FILE.c`" in cli("new", "ring", "-I", "src").stderr
