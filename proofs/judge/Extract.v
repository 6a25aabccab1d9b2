(* The judges and the decision of the axioms as OCaml.
   Booleans, options, lists and pairs become OCaml's own (ExtrOcamlBasic);
   numbers stay what they are in Coq: places and cells unary, values binary of any size. *)
Require Import ZArith Extraction ExtrOcamlBasic.
From RR Require Import Model Checks.
From RR Require DeployedJudge.
Extraction Language OCaml.
Extraction "judge/build/judged.ml" judge of_flags Z.add Z.mul Z.opp
  DeployedJudge.judge_deployed DeployedJudge.trace_of_account DeployedDecides.decide_deployed DeployedDecides.decide_sequential.
