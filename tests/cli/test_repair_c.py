"""Repairs of C: statements and flags as a patch, which is robust, of the file itself and of what a harness includes."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path
from random import Random

import pytest

from rdma_robust import check, parse
from rdma_robust.analyses.repair.plan import repair
from rdma_robust.analyses.repair.repairs import Repair, RepairOptions
from tests.conftest import ROOT, Cli
from tests.support.random_c import random_twin

STORE_BUFFERS = """#include <shmem.h>
static long x, y;
int main(void)
{
	shmem_init();
	long r, me = shmem_my_pe();
	if (me == 0) {
		shmem_long_p(&x, 1, 1);
		r = shmem_long_g(&y, 0); // the other one
	} else {
		shmem_long_p(&y, 1, 0);
		r = shmem_long_g(&x, 1);
	}
	shmem_barrier_all();
	shmem_finalize();
	return r;
}
"""

REUSED = """#include <mpi.h>
int main(int argc, char **argv)
{
	MPI_Init(&argc, &argv);
	int me; long *base; MPI_Win win;
	MPI_Comm_rank(MPI_COMM_WORLD, &me);
	MPI_Win_allocate(16, 8, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win);
	MPI_Barrier(MPI_COMM_WORLD);
	MPI_Win_lock_all(0, win);
	if (me == 0) {
		long one = 1;
		MPI_Put(&one, 1, MPI_LONG, 1, 0, 1, MPI_LONG, win);
		one = 2;
		MPI_Put(&one, 1, MPI_LONG, 1, 1, 1, MPI_LONG, win);
	}
	MPI_Win_unlock_all(win);
	MPI_Win_free(&win);
	MPI_Finalize();
	return 0;
}
"""

STORES = """#include <pthread.h>
#include <rdma_robust.h>
static volatile long x, y; static long a, b;
static void *other(void *p) { y = 1; b = x; return p; }
RR_PROCESS(A) void both(void)
{
	pthread_t t;
	RR_HARDWARE("cpu tso"); RR_START();
	pthread_create(&t, 0, other, 0);
	if (RR_LIKELY)
		x = 1; /* then */
	a = y;
	pthread_join(t, 0);
	RR_ASSERT(a + b > 0);
}
#include <infiniband/verbs.h>
"""

LIBRARY = """static uint64_t box = 1, got;
static struct ibv_qp *qp; static struct ibv_cq *cq;
static int fetch(char *there)
{
	struct ibv_sge sge = { .addr = (uintptr_t)&got, .length = 8 };
	struct ibv_send_wr wr = { .sg_list = &sge, .num_sge = 1, .opcode = IBV_WR_RDMA_READ }, *bad, *first = &wr;
	wr.wr.rdma.remote_addr = (uintptr_t)there;
	return ibv_post_send(qp, first, &bad);
}
static void use(char *there)
{
	if (fetch(there))
		return;
	RR_ASSERT(got == 1);
}
"""

HARNESS = """#include <infiniband/verbs.h>
#include <rdma_robust.h>
#include <stdint.h>
#include "library.c"
RR_PROCESS(A) void reader(void)
{
	char *there;
	RR_IMPORT(there, "box"); RR_CQ(cq); RR_QP(qp, cq, cq); RR_CONNECT(qp, "c");
	use(there);
}
RR_PROCESS(B) void owner(void) { RR_EXPORT("box", &box); RR_CQ(cq); RR_QP(qp, cq, cq); RR_CONNECT(qp, "c"); }
"""


def inserted(found: Repair) -> list[tuple[str, str]]:
    """Return the kinds and statements of a repair."""
    return [(each.kind, *each.lines) for each in found.insertions]


def test_a_quiet_comes_behind_each_put() -> None:
    found = repair(STORE_BUFFERS, "sb.c")
    assert inserted(found) == [("flush", "shmem_quiet();")] * 2
    assert "p(&x, 1, 1);\n\t\tshmem_quiet();\n\t\tr = shmem_long_g(&y, 0); // the other one\n" in found.patched
    assert check(parse(found.patched, "sb.c")).verdict.value == "robust"


@pytest.mark.ci
def test_a_flush_of_a_window_names_target_and_window() -> None:
    assert inserted(repair(REUSED, "reused.c")) == [("flush", "MPI_Win_flush(1, win);")]


@pytest.mark.ci
def test_fences_are_put_into_blocks_and_bring_their_header() -> None:
    text = STORES.replace("RR_LIKELY", "1")
    found = repair(text, "stores.c")
    fence = "atomic_thread_fence(memory_order_seq_cst);"
    assert inserted(found) == [("mfence", fence)] * 2
    assert f"{{ x = 1; {fence} }} /* then */" in found.patched
    assert f"y = 1; {fence} b = x;" in found.patched
    assert found.patched.startswith("#include <stdatomic.h>\n#include <pthread.h>")
    assert (found.cost, found.solutions[0].hangs) == (2, "none")


@pytest.mark.ci
def test_what_a_harness_includes_is_patched_there(cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "library.c").write_text(LIBRARY)
    (tmp_path / "harness.c").write_text(HARNESS)
    done = cli("repair", "harness.c")
    assert done.returncode == 0
    assert "in other files: library.c" in done.stdout
    assert "+\tfirst->send_flags |= IBV_SEND_SIGNALED;\n \treturn ibv_post_send(" in done.stdout
    refused = cli("repair", "--write", "harness.c")
    assert refused.returncode == 2
    assert "what is to be changed is in library.c; `--diff` prints it, for `patch -p0`" in refused.stderr
    subprocess.run(["patch", "-p0"], input=cli("repair", "--diff", "harness.c").stdout, text=True, check=True)
    assert cli("check", "harness.c").returncode == 0


@pytest.mark.ci
def test_options_of_the_command_line_are_not_written(cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "stores.c").write_text(STORES)
    report = json.loads(cli("repair", "-D", "RR_LIKELY=1", "--write", "--format", "json", "stores.c").stdout)
    (solution,) = report["solutions"]
    text = (tmp_path / "stores.c").read_text()
    assert text == solution["patched"]
    assert "rdma-robust:" not in text + solution["diff"]
    assert cli("check", "-D", "RR_LIKELY=1", "stores.c").returncode == 0


@pytest.mark.ci
def test_a_poll_that_takes_what_a_later_one_waits_for_is_no_repair() -> None:
    text = (ROOT / "tests/data/mailbox.c").read_text(encoding="utf-8")
    found = repair(text, "mailbox.c")
    assert inserted(found) == [("inline", "wr.send_flags |= IBV_SEND_INLINE;")]
    without = text.replace("\tibv_post_send(qp, &wr, &bad);", "\treturn (void)ibv_post_send(qp, &wr, &bad);")
    found = repair(without.replace("wr = {", "wr = {").replace("&wr, &bad", "(&wr), &bad"), "mailbox.c")
    assert "(&wr))->send_flags |= IBV_SEND_INLINE;\n\treturn (void)" in found.patched


@pytest.mark.ci
def test_repairs_of_which_nothing_can_be_left_out_are_listed() -> None:
    text = (ROOT / "tests/data/mailbox.c").read_text(encoding="utf-8")
    found = repair(text, "mailbox.c", RepairOptions(all_minimal=True, timeout=100))
    sets = [frozenset((row.kind, row.line, row.lines) for row in each.insertions) for each in found.solutions]
    assert [row[0] for row in sets[0]] == ["inline"]
    assert len(sets) > 1
    assert not any(one < other for one in sets for other in sets)
    assert [each.cost for each in found.solutions] == sorted(each.cost for each in found.solutions)
    for each in found.solutions:
        assert check(parse(each.patched, "mailbox.c")).verdict.value == "robust"


@pytest.mark.ci
@pytest.mark.parametrize("options", [("--goal", "safe"), ("--remove-needless",)])
def test_what_is_only_answered_about_the_language_names_import(cli: Cli, tmp_path: Path, options: tuple[str, ...]) -> None:
    (tmp_path / "sb.c").write_text(STORE_BUFFERS)
    done = cli("repair", *options, str(tmp_path / "sb.c"))
    assert done.returncode == 2
    assert "rdma-robust import FILE.c" in done.stderr or "--goal safe needs" in done.stderr


def repaired_at_random(seed: int, folder: Path) -> str:
    """Repair a random program; return the status, after the patched C was compiled and decided again."""
    text = random_twin(seed).c
    found = repair(text, "random.c", RepairOptions(timeout=20))
    if found.status == "repaired":
        assert check(parse(found.patched, "random.c")).verdict.value == "robust", seed
        (folder / "random.c").write_text(found.patched)
        if shutil.which("gcc"):
            headers = ROOT / "rdma_robust/c/front/headers"
            shutil.copy(headers / "first/rdma_robust.h", folder)
            command = ["gcc", "-fsyntax-only", "-I.", "-idirafter", f"{headers}/fallback", "random.c"]
            subprocess.run(command, cwd=folder, check=True)
    return found.status


@pytest.mark.ci
def test_random_programs_are_repaired(tmp_path: Path) -> None:
    found = [repaired_at_random(seed, tmp_path) for seed in range(5)]
    assert found.count("repaired") >= 1, found


@pytest.mark.long
def test_many_random_programs_are_repaired(tmp_path: Path) -> None:
    start = Random().randrange(10**6)
    found = [repaired_at_random(seed, tmp_path) for seed in range(start, start + 500)]
    assert found.count("repaired") >= 50
