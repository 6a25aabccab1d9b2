"""The units of a C program as evaluation asks for them."""

from __future__ import annotations

from typing import Protocol

from rdma_robust.c.code import Function, Leaf, SourcePlace, Variable


class Units(Protocol):
    """All files of a program that are read together. Names of globals and functions are unique among them."""

    file: str
    """The file that was asked for."""
    text: str
    """What stands in it."""
    libraries: set[str]
    """Those of OpenSHMEM and MPI that it includes the header of."""
    arguments: tuple[str, ...]
    """Those that `main` is run with."""
    hardware: dict[str, SourcePlace]
    """The hardware that is asked about (RR_HARDWARE), as far as the program is read; more than one is an error."""

    def function(self, name: str) -> Function | None:
        """Return the function of this name, or None if no unit has its body."""

    def initialiser(self, variable: Variable) -> Function:
        """Return code without parameters that stores the initial value of a global; what it leaves out is zero."""

    def globals(self) -> tuple[Variable, ...]:
        """Return the globals of all units, static locals among them."""

    def leaves(self, type_name: str) -> tuple[Leaf, ...]:
        """Return the scalars in an object of a type (as `CType.name` has it, `struct ibv_send_wr`).

        Of a union they are those of all its members; there are none if there is no such type.
        """

    def annotations(self, function: str) -> tuple[str, ...]:
        """Return what rdma_robust.h says of a function: `rr_process:A`, `rr_instead:g`, `rr_setup`."""

    def instead(self, name: str) -> str | None:
        """Return the function that stands for calls of `name` (RR_INSTEAD), if there is one."""

    def declared(self, name: str) -> SourcePlace | None:
        """Return where a function or global is declared."""

    def processes(self) -> tuple[tuple[str, str], ...]:
        """Return each process with the function that it runs (RR_PROCESS), in the order of the text; of a program of
        OpenSHMEM or MPI all of them, which run `main`."""

    def any_locals(self) -> frozenset[tuple[str, str]]:
        """Return the locals that may have any value (RR_ANY): function, and name."""
