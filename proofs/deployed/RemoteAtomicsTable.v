(* The table with remote atomics as it is printed and compared with the Python code. *)
Require Import List.
Import ListNotations.
From RR Require Import RemoteAtomicsModel.

Definition events_kinds := [LR; LW; CAS; Poll; Fence; NLR; NRW; NRR; NLW; NF; NAR; NAW; NA].
Definition listed (ord : order) :=
  (flush ord, flat_map (fun a => map (fun b => (a, b, table ord a b)) events_kinds) events_kinds).
