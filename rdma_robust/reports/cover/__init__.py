"""Answers about Petri nets. In: what `petri` found. Out: records, text and JSON."""
