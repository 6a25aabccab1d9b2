"""What a card's read of a remote atomic makes of the word that it reads."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from rdma_robust.certify.safety.thread_steps import Instruction, Known, Small, ThreadSteps, known, step_expression
from rdma_robust.expr import VALUE, Const, Expr, names, negate, substitute


def remote_operands(instruction: Instruction) -> tuple[str, ...]:
    """Return the registers that a remote atomic uses, whose values are those of the moment of posting."""
    if instruction.new is None:
        return ()
    used = {*names(instruction.new), *names(instruction.when)} - {VALUE.name}
    return tuple(sorted(used))


def operand_values(code: ThreadSteps, instruction: Instruction, registers: Small) -> dict[str, Expr]:
    """Return the values of a remote atomic's operands where the thread's registers have these values."""
    values = code.values(registers)
    return {name: values[name] for name in remote_operands(instruction)}


def remote_change(
    instruction: Instruction, values: Mapping[str, Expr], read: Known
) -> Iterator[tuple[Known | None, tuple[Expr, ...]]]:
    """Yield what the card writes into the word that it has read (None: nothing), with what that assumes."""
    if instruction.new is None:
        yield None, ()
        return
    every = {**values, VALUE.name: step_expression(read)}
    when = substitute(instruction.when, every)
    if known(when) != 0:
        yield known(substitute(instruction.new, every)), () if isinstance(when, Const) else (when,)
    if not isinstance(when, Const) or when.value == 0:
        yield None, () if isinstance(when, Const) else (negate(when),)
