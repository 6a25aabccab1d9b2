(* The search as OCaml, as judge/Extract.v does it. *)
Require Import ZArith FMapPositive Extraction ExtrOcamlBasic.
From RR Require Import Model Hardware Automata Executed Explored.
Extraction Language OCaml.
Extraction "judge/build/searched.ml" decide data_eqb successors reporting the_start shape_of of_flags cpus
  PositiveMap.add PositiveMap.empty Z.add Z.mul Z.opp.
