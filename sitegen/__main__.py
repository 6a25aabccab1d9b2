"""`python -m sitegen` writes anew what is made from other files (make promote): the reference, the figures, the indexes of
the litmus suite, numbers in prose, the tables of the grammars, the colours in editors; where the proofs are compiled,
what Coq prints of them."""

from __future__ import annotations

from rdma_robust.grammar_tables import NAMES, are_stored, tables
from sitegen.address import write_address
from sitegen.contracts_index import CONTRACTS_INDEX, contracts_index
from sitegen.counts import counted, pages_with_counts
from sitegen.figures import figures
from sitegen.litmus_index import INDEX, litmus_index
from sitegen.messages_index import MESSAGES_INDEX, messages_index
from sitegen.prove_index import PROVE_INDEX, prove_index
from sitegen.reference import DOCS, GRAMMARS, pages
from sitegen.shelved_index import FOLDERS
from sitegen.text_mate import SYNTAXES, grammars
from sitegen.theorems import PRINTED, ask_coq, not_compiled, written


def main() -> None:
    if reason := not_compiled():
        print(f"What Coq prints is left as it is: {reason}")
    else:
        PRINTED.write_text(written(ask_coq()), encoding="utf-8")
    for name, text in {**pages(), **figures()}.items():
        path = DOCS / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")
    for name, text in grammars().items():
        (SYNTAXES / name).write_text(text, encoding="utf-8")
    for page in pages_with_counts():
        page.write_text(counted(page.read_text(encoding="utf-8")), encoding="utf-8")
    write_address()
    INDEX.write_text(litmus_index(), encoding="utf-8")
    for folder in FOLDERS:
        folder.index.write_text(folder.text(), encoding="utf-8")
    CONTRACTS_INDEX.write_text(contracts_index(), encoding="utf-8")
    MESSAGES_INDEX.write_text(messages_index(), encoding="utf-8")
    PROVE_INDEX.write_text(prove_index(), encoding="utf-8")
    for name in NAMES:
        if not are_stored(name):
            (GRAMMARS / f"{name}.tables.json").write_text(tables(name), encoding="utf-8")


if __name__ == "__main__":
    main()
