"""`prove --dump-after reduce`: what programs are reduced to, state by state."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rdma_robust.cli.answering import answer_each
from rdma_robust.frame.exits import Exit
from rdma_robust.frame.shell.inputs import Item, Source
from rdma_robust.frame.shell.output import StandardOutput
from rdma_robust.questions.proof_question import ProofAsking, models_of_claims, refused_models
from rdma_robust.text import printable


def run_dump_reduced(items: Sequence[Item], asking: ProofAsking) -> Exit:
    """Print the reduced system of every item under every model; return the worst exit code."""

    def dumped(source: Source, text: str) -> Exit:
        for line in _dump(source, text, asking):
            StandardOutput().line(printable(line))
        return Exit.OK

    return answer_each(items, asking.limits, dumped)


def _dump(source: Source, text: str, asking: ProofAsking) -> Iterator[str]:
    from rdma_robust.analyses.prove.reductions import reduce_program  # noqa: PLC0415 - slow
    from rdma_robust.analyses.prove.safety_outcome import ReductionOptions  # noqa: PLC0415
    from rdma_robust.analyses.prove.transition_system import safety_claims  # noqa: PLC0415
    from rdma_robust.language.load import load_program, without_crowds  # noqa: PLC0415
    from rdma_robust.reports.prove.system_text import system_lines  # noqa: PLC0415

    program = without_crowds(load_program(text, source.name))
    models = asking.models or models_of_claims(program)
    refused = refused_models(program, models, every=asking.every)
    for model in models:
        if model not in refused:
            options = ReductionOptions(asking.reduction, asking.bound)
            yield f"{program.name} under {model}"
            yield from system_lines(
                reduce_program(program, model, safety_claims(program, model), options), asking.max_states
            )
