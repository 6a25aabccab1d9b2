"""`rdma-robust messages record`: our own programs, compiled with Open MPI and MPICH, run, recorded and decided."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from rdma_robust.c.libraries.mpi import ROWS
from rdma_robust.foreign import own_command
from rdma_robust.record.recorder_of_mpi import UNRECORDED, WRAPPED, recorder_source
from tests.conftest import ROOT, Cli

PROGRAMS = ROOT / "tests" / "data" / "record_mpi"
AS_ROOT = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}


def record(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = own_command(["messages", "record", *arguments])
    environment = {**os.environ, **AS_ROOT}
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False, timeout=120)


@pytest.mark.ci
@pytest.mark.parametrize(("mpi", "file"), [("openmpi", "many.c"), ("mpich", "ring.f90")])
def test_runs_are_decided(mpi: str, file: str, tmp_path: Path) -> None:
    compiler = shutil.which(f"mpif90.{mpi}" if file.endswith("90") else f"mpicc.{mpi}")
    if compiler is None:
        pytest.skip(f"nothing was recorded: {mpi} is not installed, or has no Fortran")
    subprocess.run([compiler, "-w", "-g", "-o", tmp_path / "program", PROGRAMS / file], check=True, cwd=tmp_path)
    done = record(tmp_path, "-n", "4", "--buffer", "infinite", "--out", "run.json", "./program")
    assert done.returncode == 0, done.stdout + done.stderr
    row = next(line for line in done.stdout.splitlines() if line.startswith("run of program"))
    assert row.split()[3:7] == ["hold", "no", "3", "6"]
    assert f'"source": "{PROGRAMS / file}"' in (tmp_path / "run.json").read_text()


@pytest.mark.ci
def test_a_run_that_hangs_is_decided_with_the_lines_of_the_program(tmp_path: Path) -> None:
    if shutil.which("mpicc") is None or shutil.which("mpirun") is None:
        pytest.skip("nothing was recorded: there is no MPI")
    subprocess.run(["mpicc", "-g", "-o", "program", PROGRAMS / "hang.c"], check=True, cwd=tmp_path)
    done = record(tmp_path, "-n", "2", "--run-timeout", "1", "./program")
    assert done.returncode == 1, done.stdout + done.stderr
    assert "the run was ended after 1 s (--run-timeout)" in done.stderr
    assert "10  #       #   rank 0 waits forever for a message from rank 1" in done.stdout


def test_what_is_missing_is_said(cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: tuple[tuple[str, str], ...] = (
        ("-n 2", "which program?"),
        ("--library-only", "--library-only compiles the library into the file of -o"),
        ("-n 2 ./absent", "`./absent` cannot be run"),
    )
    for arguments, said in asked:
        done = cli("messages", "record", *arguments.split())
        assert (done.returncode, done.stdout) == (2, "")
        assert said in done.stderr
    monkeypatch.setenv("PATH", str(tmp_path))
    done = cli("messages", "record", "--library-only", "-o", "library.so")
    assert done.returncode == 2
    assert "there is no MPI: `mpicc` and `mpirun` are not both found; install one" in done.stderr


def test_every_call_that_is_read_as_one_that_waits_has_a_wrapper() -> None:
    source = recorder_source()
    for name in ("Send", "Irecv", "Waitsome", "Bcast", "Ialltoallv", "Comm_split", "Win_fence", "Start", "Mprobe"):
        assert name in WRAPPED
        assert f"int MPI_{name}(" in source
        assert f"void mpi_{name.lower()}_(" in source
    for letters in ("q", "qs", "pc", "pw"):
        of_handles = {name for name, each in ROWS.items() if letters in each and not UNRECORDED.fullmatch(name)}
        local = {"Request_get_status", "Rput", "Rget", "Raccumulate", "Rget_accumulate"}
        assert of_handles - set(WRAPPED) <= local | {"Reduce_local"}
    assert not any(UNRECORDED.fullmatch(name) for name in WRAPPED)
