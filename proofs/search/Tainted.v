(* What taint and "closed" mean: which events a tainted event leads to, and that one leads to the pivot. *)
Require Import List Arith Bool Lia Classical.
Import ListNotations.
From RR Require Import Model Hardware Orders Cells Search Marks.

Section Tainted.
Context {U : events} {K : searchable} (hw : hardware).
Notation alone_ := (alone_ hw).
Notation own_at := (own_at hw).

(* Taint and "closed" *)
Definition inT h e := exists b, In (Mv e b true) h.
Lemma inT_cons e b t h x : inT (Mv e b t :: h) x <-> (t = true /\ e = x) \/ inT h x.
Proof.
  unfold inT; split.
  - intros (t' & [H|H]); [inversion H; subst; auto|eauto].
  - intros [(-> & ->)|(t' & H)]; [exists b; now left|exists t'; now right].
Qed.
Record tainting (s : state) : Prop := {
  n_tth : clo (tn s) = false -> forall t, tth (tn s) t = true <-> exists e, inT (hist (th s)) e /\ thr e = t;
  n_cr : clo (tn s) = false -> forall c, cr (tce (tn s)) c = true <-> exists e, inT (hist (th s)) e /\ rd e /\ loc e = c;
  n_cw : clo (tn s) = false -> forall c, cw (tce (tn s)) c = true <-> exists e, inT (hist (th s)) e /\ wr e /\ loc e = c;
  n_spread : clo (tn s) = false -> forall e b h2 y, at_ (hist (th s)) (Mv e b false) h2 -> inT h2 y ->
             thr y <> thr e /\ ~ conf y e;
  n_open : clo (tn s) = false -> forall e b h2 c, at_ (hist (th s)) (Mv e b true) h2 -> cls s = Some c ->
             own c e = false /\ (b = false -> meets c e = false \/ own_at h2 e);
  n_meets : forall e c, In (Mv e true false) (hist (th s)) -> cls s = Some c -> meets c e = false;
  n_why : forall e b h2, at_ (hist (th s)) (Mv e b true) h2 ->
            (exists y, inT h2 y /\ (thr y = thr e \/ conf y e)) \/
            (b = true /\ exists c, cls s = Some c /\ meets c e = true);
  n_clo : clo (tn s) = true -> exists c e b h2, cls s = Some c /\ at_ (hist (th s)) (Mv e b true) h2 /\
             (own c e = true \/ (b = false /\ meets c e = true /\ ~ (own_at h2 e /\ alone_ h2 (thr e))));
  n_none : cls s = None -> forall mv, In mv (hist (th s)) -> mb mv = false /\ mt mv = false;
  n_none2 : cls s = None -> clo (tn s) = false;
  n_empty : clo (tn s) = true -> (forall t, tth (tn s) t = false) /\ forall e, meets_marks (tce (tn s)) e = false;
}.

Lemma reached_iff s e : tainting s -> clo (tn s) = false ->
  (reached s e = true <-> exists y, inT (hist (th s)) y /\ (thr y = thr e \/ conf y e)).
Proof.
  intros T C. unfold reached. rewrite orb_true_iff, (n_tth s T C).
  rewrite (meets_marks_iff (inT (hist (th s))) _ e (n_cr s T C) (n_cw s T C)).
  split; [intros [(y & H & X)|(y & H & X)]; exists y; tauto|intros (y & H & [X|X]); [left|right]; exists y; tauto].
Qed.
Lemma reached_clo s e : tainting s -> clo (tn s) = true -> reached s e = false.
Proof. intros T C. destruct (n_empty s T C) as (H & X). unfold reached. now rewrite H, X. Qed.

(* one step more, of either part *)
Section Grow.
Variables (s s' : state) (e : ev) (b t closing : bool).
Hypothesis T : tainting s.
Hypothesis Hh : hist (th s') = Mv e b t :: hist (th s).
Hypothesis Hn : tn s' = spreading (tn s) e t closing.
Hypothesis Hc : cls s' = None -> b = false /\ closing = false /\ cls s = None.
Hypothesis Hs : forall c, cls s' = Some c -> (cls s = Some c \/ cls s = None) /\
  (closing = true -> own c e = true \/ (b = false /\ meets c e = true /\
    ~ (own_at (hist (th s)) e /\ alone_ (hist (th s)) (thr e)))) /\
  (own c e = true -> closing = true) /\
  (b = false -> meets c e = true -> closing = true \/ own_at (hist (th s)) e).
Hypothesis Ht : t = true <-> reached s e = true \/ (b = true /\ exists c, cls s' = Some c /\ meets c e = true).

Lemma tainting_grow : tainting s'.
Proof.
  assert (clo (tn s') = false -> clo (tn s) = false /\ (t = true -> closing = false)) as C1.
  { rewrite Hn. unfold spreading. destruct (clo (tn s)); simpl; [discriminate|].
    destruct t, closing; simpl; auto; discriminate. }
  assert (clo (tn s') = false -> tn s' =
    if t then Tnt (left_by (tce (tn s)) e) (upd (tth (tn s)) (thr e) true) false else tn s) as C2.
  { rewrite Hn. unfold spreading. destruct (clo (tn s)); simpl; [discriminate|].
    destruct t, closing; simpl; auto; discriminate. }
  constructor; rewrite ?Hh.
  - intros C u. rewrite (C2 C). destruct (C1 C) as (C' & _). destruct t; simpl.
    + rewrite upd_iff, (n_tth s T C'). split.
      * intros [(x & H & X)|X]; [exists x|exists e]; rewrite inT_cons; tauto.
      * intros (x & H & X). rewrite inT_cons in H. destruct H as [(_ & <-)|H]; [auto|left; eauto].
    + rewrite (n_tth s T C'). split; intros (x & H & X); exists x; rewrite inT_cons in *; split; auto.
      destruct H as [(H & _)|H]; [discriminate|auto].
  - intros C u. rewrite (C2 C). destruct (C1 C) as (C' & _). destruct t; simpl.
    + transitivity (cr (tce (tn s)) u = true \/ (rd e /\ loc e = u)).
      { destruct (rd_b e) eqn:I; [apply rd_iff in I; rewrite upd_iff; tauto|].
        assert (~ rd e) by (intros J; apply rd_iff in J; congruence). tauto. }
      rewrite (n_cr s T C'). split.
      * intros [(x & H & X)|X]; [exists x|exists e]; rewrite inT_cons; tauto.
      * intros (x & H & X). rewrite inT_cons in H. destruct H as [(_ & <-)|H]; [auto|left; eauto].
    + rewrite (n_cr s T C'). split; intros (x & H & X); exists x; rewrite inT_cons in *; split; auto.
      destruct H as [(H & _)|H]; [discriminate|auto].
  - intros C u. rewrite (C2 C). destruct (C1 C) as (C' & _). destruct t; simpl.
    + transitivity (cw (tce (tn s)) u = true \/ (wr e /\ loc e = u)).
      { destruct (wr_b e) eqn:I; [apply wr_iff in I; rewrite upd_iff; tauto|].
        assert (~ wr e) by (intros J; apply wr_iff in J; congruence). tauto. }
      rewrite (n_cw s T C'). split.
      * intros [(x & H & X)|X]; [exists x|exists e]; rewrite inT_cons; tauto.
      * intros (x & H & X). rewrite inT_cons in H. destruct H as [(_ & <-)|H]; [auto|left; eauto].
    + rewrite (n_cw s T C'). split; intros (x & H & X); exists x; rewrite inT_cons in *; split; auto.
      destruct H as [(H & _)|H]; [discriminate|auto].
  - intros C x b' h2 y H Y. destruct (C1 C) as (C' & _). rewrite at_cons in H. destruct H as [(H & <-)|H].
    + inversion H; subst. assert (reached s x <> true) as N by (intros R; assert (false = true) by tauto; discriminate).
      rewrite (reached_iff s x T C') in N. split; intros Z; apply N; eauto.
    + eapply (n_spread s T C'); eauto.
  - intros C x b' h2 c H Q; destruct (C1 C) as (C' & C3). rewrite at_cons in H. destruct H as [(H & <-)|H].
    + inversion H; subst. destruct (Hs c Q) as (_ & _ & X & Y). specialize (C3 eq_refl). split.
      * destruct (own c x); auto. rewrite X in C3; auto.
      * intros ->. destruct (meets c x); auto. right. destruct (Y eq_refl eq_refl); [congruence|auto].
    + destruct (Hs c Q) as ([X|X] & _); [eapply (n_open s T C'); eauto|].
      destruct (n_none s T X _ (at_in _ _ _ H)) as (_ & Z). discriminate.
  - intros x c [H|H] Q.
    + inversion H; subst. destruct (meets c x) eqn:Y; auto. assert (false = true); [|discriminate]. apply Ht. right.
      eauto.
    + destruct (Hs c Q) as ([X|X] & _); [eapply (n_meets s T); eauto|].
      destruct (n_none s T X _ H) as (Z & _). discriminate.
  - intros x b' h2 H. rewrite at_cons in H. destruct H as [(H & <-)|H].
    + inversion H; subst. destruct (proj1 Ht eq_refl) as [R|R]; [left|right; auto].
      destruct (clo (tn s)) eqn:C; [rewrite (reached_clo s x T C) in R; discriminate|]. now apply reached_iff.
    + destruct (n_why s T _ _ _ H) as [X|(-> & c & X & Y)]; [auto|right; split; auto]. exists c; split; auto.
      destruct (cls s') as [c'|] eqn:Q; [destruct (Hs c' eq_refl) as ([Z|Z] & _); congruence|].
      destruct (Hc eq_refl) as (_ & _ & Z). congruence.
  - intros C. destruct (clo (tn s)) eqn:C'.
    + destruct (n_clo s T C') as (c & x & b' & h2 & Q & H & X). exists c, x, b', h2.
      split; [|split; [apply at_cons; auto|auto]].
      destruct (cls s') as [c'|] eqn:Q'; [destruct (Hs c' eq_refl) as ([Z|Z] & _); congruence|].
      destruct (Hc eq_refl) as (_ & _ & Z). congruence.
    + rewrite Hn in C. unfold spreading in C. rewrite C' in C. simpl in C.
      destruct t; simpl in C; [|congruence]. destruct closing eqn:Cl; simpl in C; [|discriminate].
      destruct (cls s') as [c'|] eqn:Q'; [|destruct (Hc eq_refl) as (_ & Z & _); congruence].
      destruct (Hs c' eq_refl) as (_ & Z & _). exists c', e, b, (hist (th s)).
      split; [auto|split; [apply at_cons; auto|auto]].
  - intros Q mv [<-|H]; destruct (Hc Q) as (-> & _ & Q').
    + simpl. split; [auto|]. destruct t; [|auto]. destruct (proj1 Ht eq_refl) as [R|(R & _)]; [|discriminate].
      pose proof (n_none2 s T Q') as C. rewrite (reached_iff s e T C) in R. destruct R as (y & (b' & Y) & _).
      destruct (n_none s T Q' _ Y) as (_ & Z). discriminate.
    + now apply (n_none s T Q').
  - intros Q. destruct (Hc Q) as (Hb & Hcl & Q'). pose proof (n_none2 s T Q') as C. rewrite Hn. unfold spreading.
    rewrite C, Hcl. rewrite andb_false_r. simpl. destruct t; auto.
  - intros C. destruct (clo (tn s)) eqn:C'.
    + rewrite Hn. unfold spreading. rewrite C'. simpl. split; [auto|].
      intros x. unfold meets_marks; simpl. now rewrite !andb_false_r.
    + rewrite Hn in C |- *. unfold spreading in *. rewrite C' in *. simpl in *. destruct t; simpl in *; [|congruence].
      destruct closing; simpl in *; [|discriminate]. split; [auto|].
      intros x. unfold meets_marks; simpl. now rewrite !andb_false_r.
Qed.
End Grow.

Lemma tainting_start mem0 : tainting (start_state mem0).
Proof.
  constructor; simpl; try discriminate; try tauto.
  - intros _ t; split; [discriminate|]. intros (e & (b & []) & _).
  - intros _ t; split; [discriminate|]. intros (e & (b & []) & _).
  - intros _ t; split; [discriminate|]. intros (e & (b & []) & _).
  - intros _ e b h2 y ([|] & H); discriminate.
  - intros e b h2 ([|] & H); discriminate.
Qed.
Lemma tainting_alpha s e : meaning hw s -> tainting s -> tainting (after_alpha s e).
Proof.
  intros M T. apply (tainting_grow s _ e false (reached s e) (closing_alpha s e)); auto; unfold closing_alpha; simpl.
  - intros ->. auto.
  - intros c ->. split; [auto|]. rewrite orb_true_iff, andb_true_iff, negb_true_iff. split; [|split; [auto|]].
    + intros [(H & N)|H]; [right|auto]. split; auto. split; auto. intros (O & A).
      rewrite (own_at_takes hw s e M O A) in N. discriminate.
    + intros _ H. destruct (takes_own s e) eqn:O; [right; now apply takes_own_at|auto].
  - intuition discriminate.
Qed.
Lemma tainting_beta c s e : cls s = Some c -> tainting s -> tainting (after_beta hw c s e).
Proof.
  intros Q T. apply (tainting_grow s _ e true (reached s e || meets c e) (own c e)); auto; simpl.
  - congruence.
  - intros c' Q'. rewrite Q in Q'. inversion Q'; subst. split; [auto|]. split; [auto|]. split; [auto|discriminate].
  - rewrite orb_true_iff, Q. split; [intros [H|H]; eauto|]. intros [H|(_ & c' & Q' & H)]; [auto|].
    inversion Q'; subst; auto.
Qed.
Lemma tainting_begun c s : cls s = None -> tainting s -> tainting (begun c s).
Proof.
  intros Q T. pose proof (n_none s T Q) as N. constructor; simpl; try apply T.
  - intros C e b h2 c' H _. destruct (N _ (at_in _ _ _ H)) as (_ & X). discriminate.
  - intros e c' H _. destruct (N _ H) as (X & _). discriminate.
  - intros e b h2 H. destruct (N _ (at_in _ _ _ H)) as (_ & X). discriminate.
  - rewrite (n_none2 s T Q). discriminate.
  - discriminate.
  - discriminate.
Qed.
End Tainted.

Theorem reach_tainting {U : events} {K : searchable} hw zero ini mem0 ctl hope s :
  reach hw zero ini mem0 ctl hope s -> tainting hw s.
Proof.
  induction 1 as [|s s' R T H]; [apply tainting_start|]. apply reach_meaning in R.
  inversion H; subst; auto using tainting_alpha, tainting_beta, tainting_begun.
Qed.
