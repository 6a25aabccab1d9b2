(* The filter at work: `loop { put B.w = y; wait(B) }; y = 1` is robust, as nothing is left; without the wait the write of y may
   overtake the read of the put.  With order multipath or relaxed one put's write may overtake another's. *)
Require Import List ZArith Bool.
Import ListNotations.
From RR Require Import Model Hardware Programs Search Searched FlowGraphs Useful FilteredPrograms.

(* y is word 0, B.w is word 1; without [wait] nobody polls *)
Definition loop (wait : bool) : list edge_of_flow :=
  [Edge 0 0 1 (Some (Lnlr 1 0)); Edge 0 1 2 (Some (Lnrw true 1 1)); Edge 0 2 0 (if wait then Some (Lp 1) else None);
   Edge 0 0 3 (Some (Lw 0 1))].
Notation left_nothing hw wait :=
  (nothing_left (U := concrete) hw (map arc_of_edge (loop wait)) (fun _ => 0) 100 (fun _ => true)).
Lemma loop_filtered (ord : bool) : left_nothing ord true = true.
Proof. destruct ord; vm_compute; reflexivity. Qed.
Lemma loop_without_wait (ord : bool) : left_nothing ord false = false.
Proof. destruct ord; vm_compute; reflexivity. Qed.
Lemma loop_relaxed (ord : bool) : left_nothing (of_flags {| ordered := ord; net := Weaker |}) true = false.
Proof. destruct ord; vm_compute; reflexivity. Qed.

Theorem loop_robust (ord : bool) : robust ord (flow_program 1 2 (fun _ => 0%Z) (loop true) (fun _ => 0)).
Proof. apply (flow_nothing_left 1 2 _ _ _ ord 100 (fun _ => true)), loop_filtered. Qed.
