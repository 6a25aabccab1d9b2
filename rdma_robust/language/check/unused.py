"""Names that nothing uses."""

from __future__ import annotations

from rdma_robust.diagnose import Reporter, quote
from rdma_robust.language.check.labels import warn_unused_labels
from rdma_robust.language.check.names import NamedConstant, ProgramNames, Register, SharedVariable, family_name


def warn_unused_names(world: ProgramNames, report: Reporter) -> None:
    """Warn of names that nothing uses: of those of a family if none of it does, and of none where it is empty."""
    if any(group.numbers is not None and not group.numbers for group in world.groups.values()):
        return
    found: list[tuple[str, str, NamedConstant | SharedVariable | Register]] = [
        ("constant", constant.name, constant) for constant in world.constants.values()
    ]
    for node in world.nodes.values():
        found += (("variable", f"{family_name(node.name)}.{v.name}", v) for v in node.variables.values())
    for thread in world.threads.values():
        found += (("register", f"{family_name(thread.name)}.{r.name}", r) for r in thread.registers.values())
    used = {each.span.start for _, _, each in found if each.used}
    for what, name, each in found:
        if not each.used and each.span.start not in used and each.span.origin is None:
            report.warn("RR701", each.span, f"{what} {quote(name)} is never used")
    warn_unused_labels(world.threads.values(), report)
