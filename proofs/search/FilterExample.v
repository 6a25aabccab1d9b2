(* The filter at work: `loop { put B.w = y; wait(B) }; y = 1` is robust, since nothing overtakes an access of the same word;
   without the wait the write of y may overtake the read of the put (and `put B.w = y; y = 1` is not robust, Example.v).
   With order multipath or relaxed one put's write may overtake another's. *)
Require Import List Arith ZArith Bool.
Import ListNotations.
From RR Require Import Model Hardware Programs Search Searched Filter Critical FlowGraphs FlowCovers FilteredPrograms.

(* y is word 0, B.w is word 1; without [wait] nobody polls *)
Definition loop (wait : bool) : list edge_of_flow :=
  [Edge 0 0 1 (Some (Lnlr 1 0)); Edge 0 1 2 (Some (Lnrw true 1 1)); Edge 0 2 0 (if wait then Some (Lp 1) else None);
   Edge 0 0 3 (Some (Lw 0 1))].
Notation arcs wait := (map arc_of_edge (loop wait)).
Notation overtakes f wait := (may_overtake (U := concrete) f (arcs wait) (fun _ => 0) 100).
Definition nothing_overtakes (f : bool) wait :=
  forallb (fun a => forallb (fun x => negb (touches x && (a_loc a =? a_loc x) && overtakes f wait a x)) (arcs wait))
    (arcs wait).
Lemma loop_waits (f : bool) : nothing_overtakes f true = true.
Proof. destruct f; vm_compute; reflexivity. Qed.
Lemma loop_without (f : bool) : nothing_overtakes f false = false.
Proof. destruct f; vm_compute; reflexivity. Qed.

Section Robust.
Variable f : bool.
Notation graph := (graph_of f (arcs true) (fun _ => 0) 100 (fun _ => true)).
Lemma overtakes_other a x : an_access (arcs true) a -> an_access (arcs true) x -> overtakes f true a x = true ->
  a_loc a <> a_loc x.
Proof.
  intros (Ia & _) (Ix & Tx & _) O Q. pose proof (loop_waits f) as H. unfold nothing_overtakes in H.
  rewrite forallb_forall in H. specialize (H a Ia). rewrite forallb_forall in H. specialize (H x Ix).
  apply Nat.eqb_eq in Q. rewrite Tx, O, Q in H. discriminate.
Qed.
Lemma one_thread a : an_access (arcs true) a -> a_thr a = 0.
Proof. intros (Ia & _). repeat (destruct Ia as [<-|Ia]; [reflexivity|]). destruct Ia. Qed.
Lemma useful_access c seen p a : useful graph c seen p a -> an_access (arcs true) a.
Proof. destruct 1 as [a x A|a x A|b p a _ _ _ (A & _)|seen r x q b p a _ _ _ _ _ (A & _)]; exact A. Qed.
Lemma no_start c seen late a : useful graph c seen late a -> late = true -> a_loc a <> ccell c.
Proof.
  destruct 1 as [a x A _ _ _|a x A _ (S & _ & Lx & _) O|b p a B _ (_ & _ & Lb & _) (A & _ & O)
    |seen r x q b p a H B _ (N & _) _ _]; intros Q; try discriminate; try subst p; simpl in *.
  - rewrite <- Lx. exact (overtakes_other a x A S O).
  - rewrite <- Lb. exact (overtakes_other a b A B O).
  - destruct N. rewrite (one_thread b B). symmetry. apply one_thread. eapply useful_access; eauto.
Qed.
Theorem loop_robust : robust f (flow_program 1 2 (fun _ => 0%Z) (loop true) (fun _ => 0)).
Proof.
  apply (flow_nothing_kept 1 2 _ (loop true) (fun _ => 0) f 100 (fun _ => true)).
  intros c seen a _ St H. unfold arc_can_start in St. rewrite !andb_true_iff, Nat.eqb_eq in St.
  exact (no_start c seen true a H eq_refl (proj2 (proj1 (proj1 St)))).
Qed.
End Robust.
