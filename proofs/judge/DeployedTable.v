(* The tables of preserved order of Deployed.v as they are printed and compared with the Python code. *)
Require Import List.
Import ListNotations.
From RR Require Import Deployed.

Definition events_kinds := [KlR; KlW; KCAS; KP; KF; KV; KRP; KnlR; KnrW; KnrR; KnlW; KnF; KnaR; KnaW; KnA].
(* whether nfo orders anything, and what ippo keeps, and oppo *)
Definition of_issue hw := (negb (weaker hw), issued hw).
Definition of_observation hw := (negb (weaker hw), observed hw).
Definition listed (t : bool * (kind -> kind -> cell)) :=
  (fst t, flat_map (fun a => map (fun b => (a, b, snd t a b)) events_kinds) events_kinds).
