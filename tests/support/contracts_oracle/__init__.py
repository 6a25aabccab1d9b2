"""The oracle of contracts: every interleaving of the visible events, from every input within bounds, with real bodies.

In: a ContractProgram, one of its functions and a number of processes. Out: a ProcsAnswer, or one counterexample for each
class of violations that there is. Definition: the classes of docs/theory-contracts.md, each as it is written there.
"""
