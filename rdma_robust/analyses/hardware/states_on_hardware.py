"""Final states of one program on all hardware: which setting is the first to allow each."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from rdma_robust.analyses.hardware.hardware_settings import settings_of, weakness
from rdma_robust.language.flow.cfg import Program
from rdma_robust.limits import Limits
from rdma_robust.model import Model
from rdma_robust.semantics.machines.final import FinalState
from rdma_robust.semantics.machines.outcomes import OutcomesReport


@dataclass(frozen=True, slots=True)
class StateOnHardware:
    """A final state: whether SC reaches it, the numbers of the settings that do, and of those the ones with the fewest steps
    away from the strongest."""

    values: FinalState
    sc: bool
    allowed_by: tuple[int, ...]
    first: tuple[int, ...]


@dataclass(frozen=True)
class StatesOnHardware:
    """The final states of a program under all settings, sorted by their values, and the searches, the strongest first."""

    program: Program
    names: tuple[str, ...]
    models: tuple[Model, ...]
    searches: tuple[OutcomesReport, ...]
    left_out: tuple[str, ...]
    states: tuple[StateOnHardware, ...]

    @property
    def complete(self) -> bool:
        """Whether no search was cut, so that these are all."""
        return all(search.complete for search in self.searches)


def states_on_hardware(
    program: Program, limits: Limits, search: Callable[[Model, Limits], OutcomesReport]
) -> StatesOnHardware:
    """Explore the final states under every setting that can make a difference.

    `search` is given a model and its share of what is left of `limits`, which are those of all together.
    """
    settings = settings_of(program)
    parts = range(len(settings.models), 0, -1)
    searches = [search(model, limits.share(1 / part)) for model, part in zip(settings.models, parts, strict=True)]
    found = sorted({state.values for each in searches for state in each.states})
    states = tuple(_state(values, settings.models, searches) for values in found)
    return StatesOnHardware(program, searches[0].names, settings.models, tuple(searches), settings.left_out, states)


def _state(values: FinalState, models: tuple[Model, ...], searches: list[OutcomesReport]) -> StateOnHardware:
    allowed = tuple(k for k, each in enumerate(searches) if any(s.rdma and s.values == values for s in each.states))
    least = min((weakness(models[k]) for k in allowed), default=0)
    sc = any(s.sc and s.values == values for s in searches[0].states)
    return StateOnHardware(values, sc, allowed, tuple(k for k in allowed if weakness(models[k]) == least))
