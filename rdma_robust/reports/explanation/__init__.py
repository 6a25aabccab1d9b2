"""Explanations drawn and told. In: an explanation of `analyses.explain`. Out: text, JSON, DOT, SVG, HTML."""
