"""Programs of Trencher, a tool that decides robustness against TSO: automata over one memory of numbered locations.

In: the text of such a file. Out: a :class:`~rdma_robust.language.flow.cfg.Program` whose hardware is `cpu tso`, or every
diagnostic at once. `trencher_syntax` reads, `trencher_values` finds the words and the range of values, `locked_sections`
makes one step of what runs with the memory locked, `trencher_reader` puts it together, `trencher_to_rdma` writes it in the
language of `.rdma` files. Source: Bouajjani, Derevenetc, Meyer 2013.
"""
