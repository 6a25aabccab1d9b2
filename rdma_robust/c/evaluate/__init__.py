"""Evaluation of register code: what is known before the run is computed, what remains of each thread is an automaton."""
