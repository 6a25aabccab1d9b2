"""`races` and `check` of a file of OpenSHMEM: by the standard, and on queue pairs."""

from __future__ import annotations

import json
from pathlib import Path

from tests.conftest import Cli

MESSAGE = """#include <shmem.h>
static long data, flag;
int main(void)
{
	shmem_init();
	shmem_barrier_all();
	if (shmem_my_pe() == 0) {
		shmem_long_p(&data, 42, 1);
		shmem_long_p(&flag, 1, 1);
	} else {
		shmem_wait_until(&flag, SHMEM_CMP_EQ, 1);
		long seen = data;
	}
	shmem_finalize();
}
"""


def test_races_are_by_the_standard_unless_an_order_is_asked_for(cli: Cli, tmp_path: Path) -> None:
    file = tmp_path / "message.c"
    file.write_text(MESSAGE)
    by_standard = cli("races", str(file))
    assert by_standard.returncode == 1
    assert "(line 8)" in by_standard.stdout and "(line 12)" in by_standard.stdout and "order none" in by_standard.stdout
    assert "line 8 may take effect later: `shmem_quiet` before line 9, by which" in " ".join(by_standard.stdout.split())
    assert "RR707" not in by_standard.stderr
    assert cli("races", "--order", "default", str(file)).returncode == 0
    assert cli("check", str(file)).returncode == 0


def test_a_race_by_the_standard_has_a_certificate(cli: Cli, tmp_path: Path) -> None:
    file, proofs = tmp_path / "message.c", tmp_path / "proofs"
    file.write_text(MESSAGE)
    assert "no certificate" not in cli("races", "--certificate", str(proofs), str(file)).stderr
    told = cli("verify-certificate", str(proofs)).stdout
    assert "VALID: message.c has a data race under order none" in told and "accesses of lines 8 and 12" in told
    made = json.loads((proofs / "message.c.json").read_text())
    made["claim"]["about"] = "a queue pair"
    (proofs / "message.c.json").write_text(json.dumps(made))
    refused = cli("verify-certificate", str(proofs))
    assert refused.returncode == 1 and "`claim.about`" in refused.stdout


def test_a_fence_between_the_two_puts_orders_them_and_that_has_a_certificate(cli: Cli, tmp_path: Path) -> None:
    file, proofs = tmp_path / "message.c", tmp_path / "proofs"
    file.write_text(MESSAGE.replace("42, 1);", "42, 1); shmem_fence();"))
    assert cli("races", "--certificate", str(proofs), str(file)).returncode == 0
    told = cli("verify-certificate", str(proofs)).stdout
    assert "VALID: message.c is race free under order none, proved by an inductive invariant" in told
    file.write_text(MESSAGE)
    assert cli("verify-certificate", str(proofs)).returncode == 1
