(* Theorem 8, second half: what the search reports is a violation. *)
Require Import List Arith Bool Lia Classical Relations.
Import ListNotations.
From RR Require Import Model Hardware Orders Cells Stores Rules Traces Parts Lemma6 CpuSc Search Marks Along Counted
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
Hypothesis Hnic : cpu_b m = false -> nic_forces hw (sd t) m = false.
Hypothesis Hval : cpu_b m = true -> rd_b m = true -> pivot_value t (loc m) = crv m.
Hypothesis Hclo : clo (tn t) = true.
Notation final := (final ini t m).
Notation F := (without (E final) m).
Notation L := (L ini t).
Notation B := (B t).
Notation h := (hist (th t)).
Notation sg := (sigma m L B).
Notation Tsig := (tr (E final) sg).
Notation dp := (dep (tr (E final) (sigma m L B)) m).
Lemma y_SL : sto F L. Proof. eapply SL; eauto. Qed.
Lemma y_IL : initfirst F L. Proof. eapply IL; eauto. Qed.
Lemma y_W : wfE F. Proof. eapply W; eauto. Qed.
Lemma y_BF b : B b -> F b /\ noninit b. Proof. eapply BF; eauto. Qed.
Lemma y_PL a b : F a -> F b -> po a b -> L a b. Proof. eapply PL; eauto. Qed.
Lemma y_R1 : R1 hw (E final) B. Proof. eapply z_R1; eauto. Qed.
Lemma y_R2 : R2 hw (E final) B. Proof. eapply z_R2; eauto. Qed.
Lemma y_R3 : R3 hw (E final) B. Proof. eapply z_R3; eauto. Qed.
Lemma y_Cii a b : F a -> F b -> ~ B a -> B b -> conflict a b -> L a b. Proof. eapply Cii; eauto. Qed.
Lemma y_last : last (E final) m. Proof. eapply z_last; eauto. Qed.
Lemma y_WE : wfE (E final). Proof. eapply z_WE; eauto. Qed.
Lemma y_NBm : ~ B m. Proof. intros H. apply (proj2 (proj1 (y_BF m H))); auto. Qed.
Lemma F_of a : E final a -> a <> m -> F a. Proof. intros; split; auto. Qed.

Lemma sto_m : sto (E final) (lex (fun x => x = m) L).
Proof.
  destruct y_SL as (Hi & Ht & Hc). unfold lex. split; [|split].
  - intros a [H|(_ & H)]; [tauto|eapply Hi; eauto].
  - intros a b c [H|(H & H')] [Q|(Q & Q')]; try tauto. right; split; [tauto|eauto].
  - intros a b Ea Eb. destruct (classic (a = m)) as [->|Na], (classic (b = m)) as [->|Nb]; try tauto.
    destruct (Hc a b) as [|[|]]; try (split; auto; fail); tauto.
Qed.
Lemma y_sto : sto (E final) sg. Proof. apply lex_sto, sto_m. Qed.
Lemma y_split a b : ~ B a -> B b -> sg a b. Proof. unfold sigma, lex; tauto. Qed.
Lemma y_same a b : a <> m -> b <> m -> (B a <-> B b) -> (sg a b <-> L a b).
Proof. intros Na Nb H. unfold sigma, lex. tauto. Qed.
Lemma y_am a : a <> m -> (sg a m <-> ~ B a). Proof. intros N. pose proof y_NBm. unfold sigma, lex. tauto. Qed.
Lemma y_mb b : b <> m -> (sg m b <-> B b).
Proof. intros N. pose proof y_NBm. unfold sigma, lex. destruct (classic (B b)); tauto. Qed.
Lemma y_first : initfirst (E final) sg.
Proof.
  intros i x Ei Ex Ki Nx. assert (i <> m) as Ni by (intros ->; auto).
  assert (~ B i) as NB by (intros Z; destruct (y_BF i Z) as (_ & Z'); auto).
  destruct (classic (B x)); [now apply y_split|]. destruct (classic (x = m)) as [->|Nxm]; [now apply y_am|].
  apply y_same; [auto|auto|tauto|]. apply y_IL; auto using F_of.
Qed.
Lemma y_po a b : E final a -> E final b -> (B a <-> B b) -> po a b -> sg a b.
Proof.
  intros Ea Eb H Po. assert (a <> m) as Na by (intros ->; exact (proj2 (proj2 y_last) b Eb Po)).
  destruct (classic (b = m)) as [->|Nb]; [pose proof y_NBm; apply y_am; tauto|].
  apply y_same; auto. apply y_PL; auto using F_of.
Qed.
Lemma y_conf a b : F a -> F b -> conflict a b -> (sg a b <-> L a b).
Proof.
  intros Fa Fb C. pose proof (conflict_sym _ _ C) as C'.
  destruct (classic (B a)) as [Ba|Na], (classic (B b)) as [Bb|Nb].
  - apply y_same; [apply Fa|apply Fb|tauto].
  - split; intros H; exfalso.
    + apply (sto_asym _ _ _ _ y_sto H). now apply y_split.
    + apply (l_asym F L y_SL _ _ H). now apply y_Cii.
  - split; intros H; [now apply y_Cii|now apply y_split].
  - apply y_same; [apply Fa|apply Fb|tauto].
Qed.
Lemma y_wft : wft Tsig. Proof. apply tr_wft; auto using y_WE, y_sto, y_first. Qed.
Lemma y_consistent : rdma_consistent hw Tsig.
Proof.
  intros a H. apply (proj1 y_sto a). eapply (forward_trans (ob1 hw Tsig) sg); [apply y_sto| |exact H].
  apply (lemma_3_sc hw (E final) sg B y_WE y_sto); auto using y_R1, y_R2, y_R3, y_po. intros; now apply y_split.
Qed.

(* reads-from *)
Lemma y_rf w r : rf Tsig w r -> w <> m -> r <> m -> rf_in F L w r.
Proof.
  intros (Ew & Er & Ww & Rr & Lo & H & Hk) Nw Nr.
  assert (F w) as Fw by (split; auto). assert (F r) as Fr by (split; auto).
  assert (w <> r) as N by (intros ->; exact (proj1 y_sto _ H)).
  repeat split; auto.
  - apply y_conf; auto. apply conflict_intro; auto.
  - intros w' Fw' Ww' Lw' L'. assert (w' <> r) as N' by (intros ->; exact (proj1 y_SL _ L')).
    assert (sg w' r) as Z by (apply y_conf; auto; apply conflict_intro; auto).
    destruct (Hk w') as [|Y]; auto; [apply Fw'|]. right. apply y_conf; auto.
    apply conflict_intro; auto; [intros ->; exact (proj1 y_sto _ Y)|congruence].
Qed.
Lemma y_rf_F w r : rf_in F L w r -> rf Tsig w r \/ rf Tsig m r.
Proof.
  intros H. pose proof H as (_ & Fr & _ & Rr & _).
  destruct (t_rf_ex _ y_wft r (proj1 Fr) Rr) as (w2 & H2). destruct (classic (w2 = m)) as [->|N]; [auto|left].
  assert (rf_in F L w2 r) as H3 by (apply y_rf; auto; apply Fr).
  now rewrite (rf_in_fun (tr F L) L y_SL w w2 r H H3).
Qed.
Lemma y_val w v : val (rf_in F L) w v -> F w -> ~ dp w -> val (rf Tsig) w v.
Proof.
  intros H; induction H as [w Ww Nw|w r v Rr Cr H _ IH|r w v C H IH]; intros Fw N.
  - now apply val_own.
  - destruct (y_rf_F _ _ H) as [Z|Z]; [|destruct N; now apply dep_m].
    apply val_nicr with w; auto. apply IH; [apply H|]. intros D; apply N. now apply dep_rf with w.
  - assert (F r) as Fr by (eapply wf_down; [apply y_W|apply (carry_ok _ _ C)|auto]).
    apply val_nicw with r; auto. apply IH; auto. intros D; apply N. apply dep_carry with r; auto. apply Fw.
Qed.
Lemma y_dep_B x : dp x -> B x. Proof. exact (dep_B hw final m L B y_SL y_BF y_R1 x). Qed.

Lemma y_valid_m : cpu m -> rd m -> exists w, rf Tsig w m /\ val (rf Tsig) w (crv m).
Proof.
  intros C R. destruct (t_rf_ex _ y_wft m (proj1 y_last) R) as (w & H). exists w. split; auto.
  pose proof H as (Ew & _ & Ww & _ & Q & Sw & Hk).
  assert (w <> m) as N by (intros ->; exact (proj1 y_sto _ Sw)).
  assert (F w) as Fw by (now apply F_of). assert (~ B w) as NB by (now apply y_am).
  assert (sourceA final m L B w) as Sa.
  { split; [auto|split; [auto|split; [auto|split; [auto|]]]]. intros w' Fw' NB' Ww' Q'.
    destruct (Hk w') as [|Z]; auto; [apply Fw'|apply y_am; auto; apply Fw'|].
    right. apply (y_same w' w); auto; [apply Fw'|tauto]. }
  apply y_val; auto; [|intros D; apply NB; now apply y_dep_B].
  assert (Kept.kept hw ini t m t) as Ks by (eapply way_kept; eauto; apply steps_none).
  pose proof (reach_meaning _ _ _ _ _ _ _ Rt) as Ms. assert (flags B h) as Fl by (eapply z_flags; eauto).
  rewrite <- Hval; [|now apply cpu_iff|now apply rd_iff]. unfold pivot_value. destruct (cw (acc t) (loc m)) eqn:Z.
  - apply (k_fro _ _ _ _ _ Ks); auto. apply (m_cw t Ms) in Z. destruct Z as (b & Hb & Wb & Lb).
    apply (inB_flags B _ _ Fl) in Hb. exists b. tauto.
  - rewrite <- Q. apply (s_mem F L _ (k_sc _ _ _ _ _ Ks)). apply (sourceA_lastw final m L B y_BF); auto.
    + intros y Hy. eapply z_in; eauto.
    + intros y Hy By Wy Ly. assert (cw (acc t) (loc m) = true); [|congruence]. apply (m_cw t Ms). exists y.
      split; [now apply (inB_flags B _ _ Fl)|auto].
    + split; auto. destruct (classic (knd w = Init)); [auto|right]. eapply z_hist; eauto.
Qed.
Lemma y_trace : trace_of P Tsig.
Proof.
  split; [eapply z_run; eauto|]. split; [apply y_wft|]. intros r Er C R.
  destruct (classic (r = m)) as [->|N]; [now apply y_valid_m|]. assert (F r) as Fr by (split; auto).
  assert (~ dp r /\ exists w, rf_in F L w r /\ val (rf_in F L) w (crv r)) as (ND & w & H & Hv) by (eapply cpu_reads;
    eauto).
  destruct (y_rf_F _ _ H) as [Z|Z]; [|destruct ND; now apply dep_m].
  exists w. split; auto. apply y_val; auto; [apply H|]. intros D. apply ND. now apply dep_rf with w.
Qed.

(* the cycle *)
Lemma y_join a b : E final a -> E final b -> conflict a b -> sg a b -> clos_trans ev (sc1 Tsig) a b.
Proof.
  intros Ea Eb C H. pose proof (conflict_eco (E final) sg a b y_WE y_sto y_first Ea Eb C H) as Z.
  clear -Z. induction Z as [a b [H|[H|H]]|]; [apply t_step; now apply sc_rf|apply t_step; now apply sc_rb|
    apply t_step; now apply sc_mo|eapply t_trans; eauto].
Qed.
Lemma conf_conflict a b : conf a b -> a <> b -> conflict a b.
Proof. unfold conf, conflict. tauto. Qed.
Lemma y_tainted g : (forall mv h2, at_ g mv h2 -> at_ h mv h2) -> forall mv, In mv g -> mt mv = true ->
  clos_trans ev (sc1 Tsig) m (me mv).
Proof.
  assert (tainting t) as Tn by (eapply reach_tainting; eauto). assert (along F L h) as A by (eapply z_along; eauto).
  assert (NoDup (evs h)) as Nod by (eapply z_nodup; eauto).
  induction g as [|x g IH]; intros Hg mv Hm Tm; [destruct Hm|].
  assert (forall mv h2, at_ g mv h2 -> at_ h mv h2) as Hg' by (intros; apply Hg, at_cons; auto).
  destruct Hm as [<-|Hm]; [|now apply (IH Hg')].
  assert (at_ h x g) as At by (apply Hg, at_cons; auto). pose proof (A _ _ At) as (Fe & Ne & Pe).
  destruct (n_why t Tn (me x) (mb x) g) as [(y & (by_ & Hy) & C)|(Mb & c & Qc & Me)].
  { destruct x; simpl in *; now subst. }
  - pose proof (IH Hg' _ Hy eq_refl) as Path. simpl in Path. eapply t_trans; [exact Path|].
    assert (In y (evs g)) as Iy by (now apply (in_map me) in Hy). pose proof (proj1 (Pe y) Iy) as (Fy & Ny & Ly).
    destruct C as [C|C].
    + apply t_step, sc_po. split; [apply Fy|split; [apply Fe|]].
      exact (pre_po F L y_W y_SL y_PL _ _ _ (A _ _ At) Iy C).
    + apply y_join; [apply Fy|apply Fe| |apply y_conf; auto]; apply conf_conflict; auto;
      intros ->; exact (proj1 y_SL _ Ly).
  - assert (c = class_of m) as -> by congruence. apply meets_iff in Me. destruct Me as (A1 & A2 & A3).
    apply y_join; [apply y_last|apply Fe| |].
    + apply conflict_intro; auto; [intros Q; apply (proj2 Fe); auto|tauto| |tauto].
      rewrite <- rd_iff, <- wr_iff. apply orb_true_iff in Am. tauto.
    + apply y_mb; [apply Fe|]. assert (flags B h) as Fl by (eapply z_flags; eauto). apply Fl; [eapply at_in; eauto|auto].
Qed.
Lemma y_cycle : clos_trans ev (sc1 Tsig) m m.
Proof.
  assert (tainting t) as Tn by (eapply reach_tainting; eauto). assert (flags B h) as Fl by (eapply z_flags; eauto).
  destruct (n_clo t Tn Hclo) as (c & e & b & Qc & He & C). assert (c = class_of m) as -> by congruence.
  pose proof (y_tainted h (fun _ _ H => H) _ He eq_refl) as Path. simpl in Path.
  assert (F e /\ noninit e) as (Fe & Ne) by (eapply z_in; eauto; apply (in_map me) in He; exact He).
  eapply t_trans; [exact Path|]. destruct C as [C|(-> & C)].
  - apply t_step, sc_po. split; [apply Fe|split; [apply y_last|]]. unfold own in C. apply Nat.eqb_eq in C. simpl in C.
    destruct (wf_total _ y_WE e m) as [Q|[Q|Q]]; auto; [apply Fe|apply y_last|destruct Fe; congruence|].
    exfalso. exact (proj2 (proj2 y_last) e (proj1 Fe) Q).
  - apply meets_iff in C. destruct C as (A1 & A2 & A3). apply y_join; [apply Fe|apply y_last| |].
    + apply conflict_intro; auto; [apply Fe|tauto|]. rewrite <- rd_iff, <- wr_iff. apply orb_true_iff in Am. tauto.
    + apply y_am; [apply Fe|]. intros Be. apply (Fl _ He) in Be. discriminate.
Qed.
Lemma y_violating : violating hw P Tsig.
Proof. split; [apply y_trace|]. split; [apply y_consistent|]. intros N. exact (N m y_cycle). Qed.
End Reported.

Theorem theorem_8_second_half {U : events} {K : searchable} (hw : hardware)
  {OK : hardware_ok hw} {SO : search_ok hw} (zero : bool)
  P ini mem0 ctl hope : answers P ini mem0 ctl -> found hw zero ini mem0 ctl hope -> ~ robust hw P.
Proof.
  intros G (t & Rt & m & Ct & Hclo & Am & Nm & Nd & Hctl & Hval & Hnic) R.
  eapply R. eapply (y_violating hw zero P ini mem0 ctl hope G t m); eauto.
Qed.

(* Both halves: the strict rule for polls and the other find the same. *)
Theorem theorem_8 {U : events} {K : searchable} (hw : hardware) {OK : hardware_ok hw} {SO : search_ok hw} (zero : bool)
  P ini mem0 ctl hope : searches P ini mem0 ctl hope -> answers P ini mem0 ctl ->
  (found hw zero ini mem0 ctl hope <-> ~ robust hw P).
Proof.
  intros G A. split; [now apply theorem_8_second_half|]. apply (Target.theorem_8_first_half hw zero). exact G.
Qed.
