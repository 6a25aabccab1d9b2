"""The rules by which message programs run, and the engine `states`, which explores them.

In: a MessageProgram. Out: what can happen in it under one buffer semantics, runs as schedules. Definition: the rules of
docs/theory-messages.md; the exploration is in the normal form of its Lemma 1.
"""
