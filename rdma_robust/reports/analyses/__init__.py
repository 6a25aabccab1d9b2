"""Answers of reach, verify, repair and outcomes. In: their results. Out: text and JSON."""
