(* Theorem 8, second half: along a run that reports, memory, counters, poison and the frozen value are
  as in the first half;
   the counters keep R2. *)
Require Import List Arith Bool Lia Classical Relations.
Import ListNotations.
From RR Require Import Model Hardware Orders Cells Stores Rules Traces Parts Search Marks Tainted Along Counted
  Counters Poison Forced Answers Split.

Section Kept.
Context {U : events} {K : searchable} (hw : hardware) {OK : hardware_ok hw} {SO : search_ok hw} (zero : bool)
  (P : program).
Variables (ini : ev -> Prop) (mem0 : nat -> value) (ctl : (ev -> Prop) -> Prop) (hope : class -> (ev -> Prop) -> Prop).
Hypothesis G : answers P ini mem0 ctl.
Notation reach := (reach hw zero ini mem0 ctl hope).
Notation step := (step hw zero ini ctl hope).
Notation steps := (steps hw zero ini ctl hope).
Variables (t : state) (m : ev).
Hypothesis Rt : reach t.
Hypotheses (Ct : cls t = Some (class_of m)) (Am : (rd_b m || wr_b m) = true) (Nm : noninit m) (Nd : ~ done ini t m).
Hypothesis Hctl : ctl (with_ ini t m).
Hypotheses (Hst : stored (sd t) m = false) (Hnic : cpu_b m = false -> nic_forces hw (sd t) m = false).
Notation final := (final ini t m).
Notation F := (without (E final) m).
Notation L := (L ini t).
Notation B := (B t).
Notation h := (hist (th t)).
Notation dp := (dep (trace_by hw (E final) (sigma m L B)) m).
Local Instance k_parts : parts hw (E final) m L B. Proof. eapply z_parts; eauto. Qed.
Lemma W : wfE F. Proof. eapply z_W; eauto. Qed.
Lemma X : wfx F. Proof. eapply z_X; eauto. Qed.
Lemma SL : sto F L. Proof. eapply z_SL; eauto. Qed.
Lemma IL : initfirst F L. Proof. eapply z_IL; eauto. Qed.
Lemma PL a b : F a -> F b -> po a b -> L a b. Proof. eapply z_PL; eauto. Qed.
Lemma R1F : R1 hw F B. Proof. eapply z_R1F; eauto. Qed.
Lemma HF f : B f -> knd f = NF -> exists b, B b /\ F b /\ oppo hw b f. Proof. eapply z_fence; eauto. Qed.
Lemma BF b : B b -> F b /\ noninit b. Proof. eapply z_BF; eauto. Qed.
Lemma ER1 : R1 hw (E final) B. Proof. eapply z_R1; eauto. Qed.
Lemma Mlast : last (E final) m. Proof. eapply z_last; eauto. Qed.

Record kept (s : state) : Prop := {
  k_sc : scinv F L (th s);
  k_cnt : counting hw F B (hist (th s)) (cn s);
  k_psn : forall c, cls s = Some c -> poisoning_ hw final m L B (evs (hist (th s))) (ps s);
  k_psn0 : cls s = None -> ps s = no_poison;
  k_fro : frozen final m L B (evs (hist (th s))) (fro s);
}.
Lemma kept_start : kept (start_state mem0).
Proof.
  constructor; simpl; auto.
  - eapply scinv_start; [|exact (a_mem P ini mem0 ctl G)]. intros i. eapply z_ini; eauto.
  - apply counting_start.
  - discriminate.
  - intros (w & [] & _).
Qed.

Section Step.
Variables (s s' : state) (e : ev).
Hypotheses (Rs : reach s) (Ks : kept s) (Hs : step s s') (Ss : steps s' t).
Let Sst : steps s t := steps_front _ _ _ _ _ _ _ _ Hs Ss.
Lemma s_along : along F L (hist (th s)). Proof. eapply way_along; eauto. Qed.
Lemma s_flags : flags B (hist (th s)). Proof. eapply way_flags; eauto. Qed.
Lemma s_meaning : meaning hw s. Proof. eapply reach_meaning; eauto. Qed.
Lemma s_pre b tt : hist (th s') = Mv e b tt :: hist (th s) -> pre F L (evs (hist (th s))) e /\ (b = true <-> B e).
Proof.
  intros Q. assert (along F L (hist (th s'))) as A by (eapply way_along; eauto).
  assert (flags B (hist (th s'))) as Fl by (eapply way_flags; eauto).
  rewrite Q in A, Fl. apply along_cons in A. split; [apply A|]. apply (Fl (Mv e b tt)). now left.
Qed.
Lemma s_source : pre F L (evs (hist (th s))) e -> knd e = Poll -> exists w, sgn w = true /\ pf w e.
Proof.
  intros (Fe & _) Ke. destruct (wf_poll _ W e Fe Ke) as (w & H). destruct (x_sgn _ X w e Fe H) as (w' & Sw & Pw & _).
  eauto.
Qed.
Lemma kept_alpha : s' = after_alpha s e -> poll_alpha s e -> kept s'.
Proof.
  intros Q Pa. destruct (s_pre false (reached s e)) as (Pe & Fb); [now rewrite Q|].
  assert (~ B e) as NB by (intros Z; apply Fb in Z; discriminate). rewrite Q.
  constructor; simpl.
  - apply scinv_step; auto using W, SL, IL, PL. apply Ks.
  - destruct (kind_dec (knd e) Poll) as [Ke|Ke].
    + destruct (s_source Pe Ke) as (w & Sw & Pw). destruct (Pa Ke) as (_ & Ear).
      eapply (counting_alpha_early hw F L B W SL X PL R1F); eauto using s_along; try apply Ks.
      eapply (early_first hw F L B W SL X PL R1F); eauto using s_along; apply Ks.
    + eapply (counting_alpha_other hw F L B W SL X PL R1F HF); eauto using s_along, s_flags, s_meaning. apply Ks.
  - intros c Qc. eapply (poisoning_alpha hw final m L B X); eauto. eapply k_psn; eauto.
  - apply Ks.
  - apply frozen_alpha; auto. apply Ks.
Qed.
Lemma kept_beta s0 : s' = after_beta hw (class_of m) s0 e -> th s0 = th s -> cn s0 = cn s -> sd s0 = sd s ->
  acc s0 = acc s ->
  fro s0 = fro s -> cls s0 = Some (class_of m) -> poisoning_ hw final m L B (evs (hist (th s))) (ps s0) ->
  (cpu e -> rd e -> poi (ps s0) (loc e) = false) -> kept s'.
Proof.
  intros Q E1 E2 E3 E4 E5 E6 Hp Hc.
  destruct (s_pre true (reached s0 e || meets (class_of m) e)) as (Pe & Fb); [rewrite Q; simpl; now rewrite E1|].
  assert (B e) as Be by tauto. rewrite Q.
  constructor; simpl; rewrite ?E1, ?E2, ?E3.
  - apply scinv_step; auto using W, SL, IL, PL. apply Ks.
  - destruct (kind_dec (knd e) Poll) as [Ke|Ke].
    + destruct (s_source Pe Ke) as (w & Sw & Pw).
      eapply (counting_beta_poll hw F L B W SL X PL); eauto using s_along. apply Ks.
    + eapply (counting_beta_other hw F L B W SL X PL R1F HF); eauto using s_along, s_flags, s_meaning. apply Ks.
  - intros c _. eapply (poisoning_beta hw final m L B X); eauto.
  - congruence.
  - replace (freeze (class_of m) s0 e) with (freeze (class_of m) s e) by (unfold freeze; now rewrite E1, E4, E5).
    apply (frozen_beta hw final m L B s e); auto using s_meaning, s_flags, s_along; apply Ks.
Qed.
(* the marks that the search begins with *)
Lemma begun_poison : cls s = None -> poisoning_ hw final m L B (evs (hist (th s))) (ps (begun (class_of m) s)).
Proof.
  intros Q. simpl. rewrite (k_psn0 s Ks Q). simpl. apply (poisoning_begun hw final m L B).
  intros y Hy By. apply in_map_iff in Hy. destruct Hy as (mv & <- & Hy). apply s_flags in By; auto.
  pose proof (n_none hw s (reach_tainting hw _ _ _ _ _ _ Rs) Q _ Hy) as (Z & _). congruence.
Qed.
Lemma begun_cpu : cls s = None -> can_start (class_of m) e = true -> cpu e -> rd e ->
  poi (ps (begun (class_of m) s)) (loc e) = false.
Proof.
  intros Q Cs C R. simpl. rewrite (k_psn0 s Ks Q). simpl. unfold can_start in Cs. apply andb_true_iff in Cs.
  destruct Cs as (_ & Cs).
  apply cpu_iff in C. apply rd_iff in R. rewrite C, R in Cs. simpl in Cs. destruct (wr_b m); [|reflexivity].
  rewrite orb_true_r in Cs. discriminate.
Qed.
End Step.
Lemma kept_step s s' : reach s -> kept s -> step s s' -> steps s' t -> kept s'.
Proof.
  intros Rs Ks Hs Ss. pose proof (steps_front _ _ _ _ _ _ _ _ Hs Ss) as Sst. inversion Hs; subst.
  - eapply kept_alpha; eauto.
  - assert (c = class_of m) as ->.
    { pose proof (steps_cls hw zero ini ctl hope _ _ c Ss eq_refl) as Z. congruence. }
    eapply (kept_beta s _ e Rs Ks Hs Ss (begun (class_of m) s)); auto; [eapply begun_poison|eapply begun_cpu]; eauto.
  - eapply kept_alpha; eauto.
  - assert (c = class_of m) as ->.
    { pose proof (steps_cls hw zero ini ctl hope _ _ c Sst H) as Z. congruence. }
    eapply (kept_beta s _ e Rs Ks Hs Ss s); auto; [eapply k_psn; eauto|]. intros C R. apply cpu_iff in C.
    apply rd_iff in R.
    unfold poisons in H5. rewrite C, R in H5. exact H5.
Qed.
Lemma way_kept s : reach s -> steps s t -> kept s.
Proof.
  induction 1 as [|s s' Rs IH H]; intros Ss; [apply kept_start|]. eapply kept_step; eauto. apply IH.
  eapply steps_front; eauto.
Qed.

(* the counters keep R2 *)
Lemma z_R2 : R2 hw (E final) B.
Proof.
  intros w p Ep Pw Fo. apply NNPP; intros NB. pose proof (pf_ok _ _ Pw) as (Po & _ & Kp & Q).
  assert (F p) as Fp by (split; [exact Ep|intros ->; exact (m_poll m Am Kp)]).
  assert (noninit p) as Np by (unfold noninit; congruence).
  assert (exists mv h2, at_ h mv h2 /\ me mv = p /\ mb mv = false) as (mv & h2 & At & <- & Mb) by (eapply alpha_at;
    eauto).
  destruct (met hw zero ini mem0 ctl hope t Rt _ _ At) as (s & s' & Rs & Hs & Ss & Q1 & Q2).
  pose proof (steps_front _ _ _ _ _ _ _ _ Hs Ss) as Sst. pose proof (way_kept s Rs Sst) as Ks.
  assert (ear (cn s) (qp (me mv)) > 0) as Ear.
  { inversion Hs; subst; simpl in Q2; injection Q2 as <-; simpl in *; try discriminate; [now apply H1|now apply H3]. }
  assert (pre F L (evs (hist (th s))) (me mv)) as Pe by (rewrite Q1; eapply z_along; eauto).
  destruct (x_sgn _ X w (me mv) Fp Pw) as (w' & Sw & Pw' & Qw).
  assert (early hw F B (evs (hist (th s))) (qp (me mv)) w') as (_ & Hf).
  { eapply (early_first hw F L B W SL X PL R1F); eauto; [eapply way_along; eauto|apply Ks]. }
  assert (F w) as Fw by (eapply (wf_down _ W); eauto).
  assert (po w' w) as Pww.
  { apply Hf; auto; [exact (pre_po_in F L W PL _ _ _ Pe Po)|].
    destruct Fo as (_ & Bw & Fo). split; [auto|split; [auto|]]. destruct Fo as [Fo|(Fo & x & Ex & Bx & Z)]; [auto|right].
    split; auto. exists x. split; [now apply BF|auto]. }
  destruct Qw as [->|Qw]; [exact (po_irr _ Pww)|exact (po_irr _ (po_trans _ _ _ Pww Qw))].
Qed.

(* CPU reads: what they read does not depend on m *)
Lemma cpu_reads r : F r -> cpu r -> rd r -> ~ dp r /\ exists w, rf_in F L w r /\ val (rf_in F L) w (crv r).
Proof.
  intros Fr C R. assert (noninit r) as Nr by (now apply rd_noninit).
  assert (In r (evs h)) as Hr by (eapply z_hist; eauto). destruct (in_evs_at _ _ Hr) as (mv & h2 & At & <-).
  destruct (met hw zero ini mem0 ctl hope t Rt _ _ At) as (s & s' & Rs & Hs & Ss & Q1 & Q2).
  pose proof (steps_front _ _ _ _ _ _ _ _ Hs Ss) as Sst. pose proof (way_kept s Rs Sst) as Ks.
  assert (pre F L (evs (hist (th s))) (me mv)) as Pe by (rewrite Q1; eapply z_along; eauto).
  destruct (source F L W SL IL _ _ Pe R) as (w & Hw & _). split.
  - intros D. pose proof (Parts.dep_B _ D) as Br.
    assert (forall s0, poisoning_ hw final m L B (evs (hist (th s))) (ps s0) -> poi (ps s0) (loc (me mv)) = false ->
      False) as N.
    { intros s0 Hp Z. apply (dep_read hw final m L B _ _ Pe Br R) in D.
      apply (p_poi _ _ _ _ _ _ _ Hp) in D. congruence. }
    assert (flags B h) as Fl by (eapply z_flags; eauto).
    assert (mb mv = true) as Mb by (apply Fl; [eapply at_in; eauto|exact Br]).
    inversion Hs; subst; simpl in Q2; injection Q2 as <-; simpl in *; try discriminate.
    + assert (c = class_of m) as -> by (pose proof (steps_cls hw zero ini ctl hope _ _ c Ss eq_refl) as Z; congruence).
      apply (N (begun (class_of m) s)); [eapply begun_poison|eapply begun_cpu]; eauto.
    + apply (N s); [eapply k_psn; eauto|]. apply cpu_iff in C. apply rd_iff in R. unfold poisons in H5.
      now rewrite C, R in H5.
  - exists w. split; auto. replace (crv (me mv)) with (mem (th s) (loc (me mv)));
      [exact (sc_read F L IL _ _ _ (k_sc s Ks) Pe Hw)|].
    apply cpu_iff in C. apply rd_iff in R.
    inversion Hs; subst; simpl in Q2; injection Q2 as <-; simpl in *; match goal with H : Search.enabled _ _ _ _
      |- _ => apply H end; auto.
Qed.
End Kept.
