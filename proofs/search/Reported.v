(* Theorem 8, second half: what the search reports is a violation. *)
Require Import List Arith Bool Lia Classical Relations.
Import ListNotations.
From RR Require Import Model Hardware Orders Cells Stores Rules Traces Parts Search Marks Tainted Along Counted
  Counters Poison Forced Least FirstHalf Target Answers Split Kept.

Section Reported.
Context {U : events} {K : searchable} (hw : hardware) {OK : hardware_ok hw} {SO : search_ok hw} (zero : bool)
  (P : program).
Variables (ini : ev -> Prop) (mem0 : nat -> value) (ctl : (ev -> Prop) -> Prop) (hope : class -> (ev -> Prop) -> Prop).
Hypothesis G : answers P ini mem0 ctl.
Notation reach := (reach hw zero ini mem0 ctl hope).
Variables (t : state) (m : ev).
Hypothesis Rt : reach t.
Hypotheses (Ct : cls t = Some (class_of m)) (Am : (rd_b m || wr_b m) = true) (Nm : noninit m) (Nd : ~ done ini t m).
Hypothesis Hctl : ctl (with_ ini t m).
Hypotheses (Hst : stored (sd t) m = false) (Hnic : cpu_b m = false -> nic_forces hw (sd t) m = false).
Hypothesis Hval : cpu_b m = true -> rd_b m = true -> pivot_value t (loc m) = crv m.
Hypothesis Hclo : clo (tn t) = true.
Notation final := (final ini t m).
Notation F := (without (E final) m).
Notation L := (L ini t).
Notation B := (B t).
Notation h := (hist (th t)).
Notation sg := (sigma m L B).
Notation Tsig := (trace_by hw (E final) sg).
Notation dp := (dep (trace_by hw (E final) (sigma m L B)) m).
Local Instance y_parts : parts hw (E final) m L B. Proof. eapply z_parts; eauto. Qed.
Lemma y_SL : sto F L. Proof. apply (pa_total (hw := hw)). Qed.
Lemma y_BF b : B b -> F b /\ noninit b. Proof. apply (pa_B (hw := hw)). Qed.
Lemma y_last : last (E final) m. Proof. apply (pa_last (hw := hw)). Qed.
Lemma y_consistent : rdma_consistent hw Tsig.
Proof. apply p_consistent; [eapply z_R2|eapply z_R3]; eauto. Qed.

Lemma y_valid_m : cpu m -> rd m -> exists w, rf Tsig w m /\ val (rf Tsig) w (crv m).
Proof.
  intros C R. destruct (t_rf_ex _ (Ws (Pa := y_parts)) m (proj1 y_last) R) as (w & H). exists w. split; auto.
  apply (rf_no_wait w m) in H; [|intros u; apply m_no_wait]. destruct H as (Ew & _ & Ww & _ & Q & Sw & Hk).
  assert (w <> m) as N by (intros ->; exact (s_irr _ Sw)).
  assert (F w) as Fw by (split; auto). assert (~ B w) as NB by (now apply s_am in Sw).
  assert (sourceA final m L B w) as Sa.
  { split; [auto|split; [auto|split; [auto|split; [auto|]]]]. intros w' Fw' NB' Ww' Q'.
    destruct (Hk w') as [|Z]; auto; [apply Fw'|apply s_am; auto; apply Fw'|].
    right. apply (s_same (m := m) (L := L) (B := B) w' w) in Z; auto; [apply Fw'|tauto]. }
  apply p_val; auto; [|intros D; apply NB; now apply Parts.dep_B].
  assert (Kept.kept hw ini t m t) as Ks by (eapply way_kept; eauto; apply steps_none).
  pose proof (reach_meaning hw _ _ _ _ _ _ Rt) as Ms. assert (flags B h) as Fl by (eapply z_flags; eauto).
  rewrite <- Hval; [|now apply cpu_iff|now apply rd_iff]. unfold pivot_value. destruct (cw (acc t) (loc m)) eqn:Z.
  - apply (k_fro _ _ _ _ _ Ks); auto. apply (m_cw hw t Ms) in Z. destruct Z as (b & Hb & Wb & Lb).
    apply (inB_flags B _ _ Fl) in Hb. exists b. tauto.
  - rewrite <- Q. apply (s_mem F L _ (k_sc _ _ _ _ _ Ks)). apply (sourceA_lastw hw final m L B); auto.
    + intros y Hy. eapply z_in; eauto.
    + intros y Hy By Wy Ly. assert (cw (acc t) (loc m) = true); [|congruence]. apply (m_cw hw t Ms). exists y.
      split; [now apply (inB_flags B _ _ Fl)|auto].
    + split; auto. destruct (classic (knd w = Init)); [auto|right]. eapply z_hist; eauto.
Qed.
Lemma y_trace : trace_of P Tsig.
Proof.
  split; [eapply z_run; eauto|]. split; [apply Ws|]. intros r Er C R.
  destruct (classic (r = m)) as [->|N]; [now apply y_valid_m|]. assert (F r) as Fr by (split; auto).
  assert (~ dp r /\ exists w, rf_in F L w r /\ val (rf_in F L) w (crv r)) as (ND & w & H & Hv) by (eapply cpu_reads;
    eauto).
  destruct (p_2c _ _ H) as [Z|Z]; [|destruct ND; now apply dep_m].
  exists w. split; auto. apply p_val; auto; [apply H|]. intros D. apply ND. now apply dep_rf with w.
Qed.

(* the cycle *)
Lemma conf_conflict a b : conf a b -> a <> b -> conflict a b.
Proof. unfold conf, conflict. tauto. Qed.
Lemma y_tainted g : (forall mv h2, at_ g mv h2 -> at_ h mv h2) -> forall mv, In mv g -> mt mv = true ->
  clos_trans ev (sc1 Tsig) m (me mv).
Proof.
  assert (tainting hw t) as Tn by (eapply reach_tainting; eauto). assert (along F L h) as A by (eapply z_along; eauto).
  assert (NoDup (evs h)) as Nod by (eapply z_nodup; eauto).
  induction g as [|x g IH]; intros Hg mv Hm Tm; [destruct Hm|].
  assert (forall mv h2, at_ g mv h2 -> at_ h mv h2) as Hg' by (intros; apply Hg, at_cons; auto).
  destruct Hm as [<-|Hm]; [|now apply (IH Hg')].
  assert (at_ h x g) as At by (apply Hg, at_cons; auto). pose proof (A _ _ At) as (Fe & Ne & Pe).
  destruct (n_why hw t Tn (me x) (mb x) g) as [(y & (by_ & Hy) & C)|(Mb & c & Qc & Me)].
  { destruct x; simpl in *; now subst. }
  - pose proof (IH Hg' _ Hy eq_refl) as Path. simpl in Path. eapply t_trans; [exact Path|].
    assert (In y (evs g)) as Iy by (now apply (in_map me) in Hy). pose proof (proj1 (Pe y) Iy) as (Fy & Ny & Ly).
    destruct C as [C|C].
    + apply t_step, sc_po. split; [apply Fy|split; [apply Fe|]].
      exact (pre_po F L p_wf y_SL pa_po _ _ _ (A _ _ At) Iy C).
    + apply p_join; auto. apply conf_conflict; auto. intros ->; exact (proj1 y_SL _ Ly).
  - assert (c = class_of m) as -> by congruence. apply meets_iff in Me. destruct Me as (A1 & A2 & A3).
    apply m_to.
    + assert (flags B h) as Fl by (eapply z_flags; eauto). apply Fl; [eapply at_in; eauto|auto].
    + apply conflict_intro; auto; [intros Q; apply (proj2 Fe); auto|tauto| |tauto].
      rewrite <- rd_iff, <- wr_iff. apply orb_true_iff in Am. tauto.
Qed.
Lemma y_cycle : clos_trans ev (sc1 Tsig) m m.
Proof.
  assert (tainting hw t) as Tn by (eapply reach_tainting; eauto). assert (flags B h) as Fl by (eapply z_flags; eauto).
  destruct (n_clo hw t Tn Hclo) as (c & e & b & h2 & Qc & At & C). assert (c = class_of m) as -> by congruence.
  pose proof (at_in _ _ _ At) as He. pose proof (y_tainted h (fun _ _ H => H) _ He eq_refl) as Path. simpl in Path.
  assert (F e /\ noninit e) as (Fe & Ne) by (eapply z_in; eauto; apply (in_map me) in He; exact He).
  eapply t_trans; [exact Path|]. destruct C as [C|(-> & C & NO)].
  - apply t_step, sc_po. split; [apply Fe|split; [apply y_last|]]. unfold own in C. apply Nat.eqb_eq in C. simpl in C.
    destruct (wf_total _ (pa_wf (hw := hw)) e m) as [Q|[Q|Q]]; auto; [apply Fe|apply y_last|destruct Fe; congruence|].
    exfalso. exact (proj2 (proj2 y_last) e (proj1 Fe) Q).
  - apply meets_iff in C. destruct C as (A1 & A2 & A3).
    assert (~ B e) as NB by (intros Be; apply (Fl _ He) in Be; discriminate).
    apply to_m; auto.
    + apply conflict_intro; auto; [apply Fe|tauto|]. rewrite <- rd_iff, <- wr_iff. apply orb_true_iff in Am. tauto.
    + (* it takes no store of B, or the marks would say so *)
      intros u Hu (Tu & Su & Ke) Bu. assert (along F L h) as A by (eapply z_along; eauto). apply NO. split.
      * split; [auto|]. exists u. split; [|auto].
        pose proof (along_at F L h _ _ A At) as A'. apply (rf_lastB F L B h2 y_SL); auto.
        { exact (flags_at B h _ _ Fl At). } { exact (A _ _ At). } { apply (y_BF u Bu). }
      * intros y Hy Cy NS Ty. apply NB. assert (B y) as By by (apply (inB_flags B h2 y (flags_at B h _ _ Fl At)); auto).
        apply (pa_R1 e y); auto; [apply Fe|apply (y_BF y By)|]. apply cpu_oppo; auto using not_overtaken.
        apply (inB_flags B h2 y (flags_at B h _ _ Fl At)) in Hy.
        exact (pre_po F L p_wf y_SL pa_po _ _ _ (A _ _ At) (proj1 Hy) Ty).
Qed.
Lemma y_violating : violating hw P Tsig.
Proof. split; [apply y_trace|]. split; [apply y_consistent|]. intros N. exact (N m y_cycle). Qed.
End Reported.

Theorem theorem_8_second_half {U : events} {K : searchable} (hw : hardware)
  {OK : hardware_ok hw} {SO : search_ok hw} (zero : bool)
  P ini mem0 ctl hope : answers P ini mem0 ctl -> found hw zero ini mem0 ctl hope -> ~ robust hw P.
Proof.
  intros G (t & Rt & m & Ct & Hclo & Am & Nm & Nd & Hctl & Hval & Hst & Hnic) R.
  eapply R. eapply (y_violating hw zero P ini mem0 ctl hope G t m); eauto.
Qed.

(* Both halves: the strict rule for polls and the other find the same. *)
Theorem theorem_8 {U : events} {K : searchable} (hw : hardware) {OK : hardware_ok hw} {SO : search_ok hw} (zero : bool)
  P ini mem0 ctl hope : searches P ini mem0 ctl hope -> answers P ini mem0 ctl ->
  (found hw zero ini mem0 ctl hope <-> ~ robust hw P).
Proof.
  intros G A. split; [now apply theorem_8_second_half|]. apply (Target.theorem_8_first_half hw zero). exact G.
Qed.
