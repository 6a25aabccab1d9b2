(* The judges, the decision of the axioms, and the search (search/Explored.v) as OCaml.
   Booleans, options, lists and pairs become OCaml's own (ExtrOcamlBasic);
   numbers stay what they are in Coq: places and cells unary, values binary of any size. *)
Require Import ZArith FMapPositive Extraction ExtrOcamlBasic.
From RR Require Import Model Checks.
From RR Require DeployedJudge Automata Executed Explored.
Extraction Language OCaml.
Extraction "judge/build/judged.ml" judge of_flags with_buffers Z.add Z.mul Z.opp
  DeployedJudge.judge_deployed DeployedJudge.trace_of_account DeployedDecides.decide_deployed DeployedDecides.decide_sequential
  Explored.decide Explored.data_eqb Executed.successors Executed.reporting Executed.the_start Executed.shape_of
  PositiveMap.add PositiveMap.empty.
