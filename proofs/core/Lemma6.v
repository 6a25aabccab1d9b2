(* Lemma 6: one memory. *)
Require Import List Arith Lia Classical Relations Setoid.
From RR Require Import Model Hardware Orders Cells Stores Rules Traces Lemma2 Parts.

(* L is an SC order of T. *)
Class sc_order_of {U : events} (T : trace) (L : relation ev) : Prop := {
  so_total : sto (E T) L;
  so_init : initfirst (E T) L;
  so_sc : forall a b, sc1 T a b -> L a b;
}.

(* The conditions on the part B, as numbered in Lemma 6; all that is not in B and not m is A.  (ii) has an exception: a read
   of A whose L-last write is a store of its own thread in B takes that store from the buffer (rule T2). *)
Class split {U : events} (hw : hardware) (T : trace) (m : ev) (tau L : relation ev) (B : ev -> Prop) : Prop := {
  sp_i_R1 : R1 hw (E T) B;
  sp_i_R2 : R2 hw (E T) B;
  sp_i_R3 : R3 hw (E T) B;
  sp_ii : forall a b, without (E T) m a -> without (E T) m b -> ~ B a -> B b -> conflict a b ->
    L a b \/ exists u, rf_in (without (E T) m) L u a /\ own hw u a /\ B u;
  sp_iii : forall b, B b -> without (E T) m b /\ tau m b;
  sp_iv : forall w, without (E T) m w -> wr w -> loc w = loc m -> tau m w -> B w;
}.

Section Lemma6.
Context {U : events} {hw : hardware} {OK : hardware_ok hw} {P : program} {T : trace} {m : ev} {tau : relation ev}.
Context {Piv : pivot hw P T m tau}.
Notation E' := (without (E T) m).
Notation T' := (T' hw T m tau).

Let V : violating hw P T := pv_violating.
Let M : maximal hw T m := pv_maximal.
Let S : sto (E T) tau := pv_total.
Let I0 : initfirst (E T) tau := pv_init.
Let Hob : forall a b, ob1 hw T a b -> tau a b := pv_ob.
Let W : wfE (E T) := WE.
Let Em : E T m := Lemma2.Em.
Let Nm : noninit m := Lemma2.Nm.
Let WT' : wft T' := Lemma2.WT'.

Section Order.
Context {L : relation ev} {Sco : sc_order_of T' L}.
Let SL : sto E' L := so_total.
Let IL : initfirst E' L := so_init.
Let HL : forall a b, sc1 T' a b -> L a b := so_sc.

Lemma L_irr a : ~ L a a. Proof. apply SL. Qed.
Lemma L_trans a b c : L a b -> L b c -> L a c. Proof. apply SL. Qed.
Lemma L_asym a b : L a b -> ~ L b a. Proof. apply (sto_asym _ _ _ _ SL). Qed.
Lemma T'_rf w r : rf T' w r <-> rf_in E' L w r.
Proof.
  apply same_rf; auto using WT'; intros; apply HL; [now apply sc_rf|now apply sc_rb|now apply sc_mo].
Qed.
Lemma T'_mo a b : mo T' a b <-> mo_in E' L a b.
Proof. apply same_mo; auto using WT'. intros; apply HL. now apply sc_mo. Qed.
Lemma L_po a b : E' a -> E' b -> po a b -> L a b.
Proof. intros Ea Eb H. apply HL, sc_po. repeat split; auto; try apply Ea; apply Eb. Qed.
(* so sc of T' is that of trace(L) *)
Lemma T'_sc a b : sc1 T' a b -> sc1 (tr E' L) a b.
Proof.
  intros [H|H|(N & u & H & K)|H].
  - now apply sc_po.
  - apply sc_rf. now apply T'_rf.
  - apply sc_rb. split; [auto|]. exists u. split; [now apply T'_rf|now apply T'_mo].
  - apply sc_mo. now apply T'_mo.
Qed.

(* conflicting events stand in L as in tau, but for a read that takes a store of its own thread *)
Lemma conf_tau_L a b : E' a -> E' b -> conflict a b -> tau a b ->
  L a b \/ exists u, rf T' u a /\ own hw u a /\ tau a u /\ (b = u \/ tau b u).
Proof.
  intros Ea Eb (Aa & Ab & Wab & Lo & N) H.
  assert (forall u v, E' u -> E' v -> wr u -> wr v -> loc u = loc v -> tau u v -> mo T' u v) as Mo.
  { repeat split; auto; try apply H0; apply H1. }
  assert (forall x y, mo T' x y -> L x y) as ML by (intros; apply HL; now apply sc_mo).
  destruct (classic (wr a)) as [Wa|NWa].
  - left. destruct (classic (wr b)) as [Wb|NWb]; [apply ML, Mo; auto|].
    assert (rd b) as Rb by tauto.
    destruct (t_rf_ex _ WT' b Eb Rb) as (u & Hu). destruct (t_rf _ WT' _ _ Hu) as (Eu & _ & Wu & _ & Lu).
    assert (L u b) as Lub by (apply HL; now apply sc_rf).
    assert (u = a \/ tau a u) as [->|K]; auto.
    { destruct (rf_cases hw _ _ _ _ Hu) as [((_ & _ & _ & _ & X) & _)|X].
      - right. eapply tau_trans; eauto.
      - destruct X as (_ & _ & _ & _ & _ & _ & X). destruct (X a Ea Wa Lo H); auto. }
    apply L_trans with u; [apply ML, Mo; auto; congruence|auto].
  - assert (rd a) as Ra by tauto. assert (wr b) as Wb by tauto.
    destruct (t_rf_ex _ WT' a Ea Ra) as (u & Hu). destruct (t_rf _ WT' _ _ Hu) as (Eu & _ & Wu & _ & Lu).
    destruct (classic (tau u b)) as [X|X].
    + left. apply HL, sc_rb. split; [auto|]. exists u. split; [auto|]. apply Mo; auto; congruence.
    + assert (b = u \/ tau b u) as Y.
      { pose proof S' as (_ & _ & Hc). destruct (Hc b u Eb Eu) as [|[|]]; tauto. }
      assert (tau a u) as Z by (destruct Y as [<-|Y]; [auto|eapply tau_trans; eauto]).
      right. exists u. split; [auto|]. split; [|auto].
      destruct (rf_cases hw _ _ _ _ Hu) as [((_ & O & _) & _)|K]; [auto|].
      exfalso. apply (tau_asym _ _ Z). apply K.
Qed.
(* Lemma 6 (1) *)
Theorem lemma_6_1 a b : E' a -> E' b -> ~ tau m a -> tau m b -> conflict a b ->
  L a b \/ exists u, rf_in E' L u a /\ own hw u a /\ tau m u.
Proof.
  intros Ea Eb NA HB C. assert (tau a m) as Lam.
  { destruct S as (_ & _ & Hc). destruct (Hc a m) as [->|[H|H]]; [apply Ea|apply Em|destruct Ea; congruence|auto|tauto]. }
  destruct (conf_tau_L a b Ea Eb C) as [|(u & H & O & _ & K)]; [eapply tau_trans; eauto|auto|].
  right. exists u. split; [now apply T'_rf|split; [auto|]]. destruct K as [<-|K]; [auto|eapply tau_trans; eauto].
Qed.
(* writes are no such reads *)
Lemma conf_write_L a b : E' a -> E' b -> wr a -> conflict a b -> tau a b -> L a b.
Proof.
  intros Ea Eb Wa C H. destruct (conf_tau_L a b Ea Eb C H) as [|(u & _ & (_ & _ & K) & _)]; [auto|].
  unfold wr in Wa. rewrite K in Wa. destruct Wa.
Qed.

Section Split.
Context {B : ev -> Prop} {Spl : split hw T m tau L B}.
Let Ciii : forall b, B b -> E' b /\ tau m b := sp_iii.
Let Civ : forall w, E' w -> wr w -> loc w = loc m -> tau m w -> B w := sp_iv.
Notation sigma := (sigma m L B).
Notation Ts := (trace_by hw (E T) sigma).

Global Instance split_parts : parts hw (E T) m L B.
Proof.
  constructor; try exact L_po; auto; try apply M.
  - intros b Bb. destruct (Ciii b Bb) as (Eb & Tb). split; [auto|]. intros Kb.
    apply (tau_asym _ _ Tb), I0; auto using Em, Nm. apply Eb.
  - apply sp_i_R1.
  - apply sp_ii.
  - intros b Bb O Lo. destruct (Ciii b Bb) as ((Eb & Nb) & Tb). apply (m_waits (OK := OK) b).
    split; [auto|split; [auto|split; [auto|split; [|auto]]]].
    pose proof (own_facts hw _ _ O) as (N1 & N2 & _).
    destruct (wf_total _ W b m Eb Em N1 N2) as [|[|X]]; [apply O|congruence|auto|destruct (m_last b Eb X)].
Qed.
Let s_irr a : ~ sigma a a. Proof. apply Ss. Qed.
Let s_asym a b : sigma a b -> ~ sigma b a. Proof. apply (sto_asym _ _ _ _ Ss). Qed.
Let s_same a b : a <> m -> b <> m -> (B a <-> B b) -> (sigma a b <-> L a b). Proof. apply Parts.s_same. Qed.

(* Lemma 6 (2) *)
Lemma six_2a w r : rf Ts w r -> w <> m -> r <> m -> rf T' w r.
Proof. intros. now apply T'_rf, p_2a. Qed.
Lemma six_2b r : rf Ts m r -> rf T m r.
Proof.
  intros H0. destruct (rf_m_in r H0) as ((_ & Er & Wm & Rr & Lo & H & K) & Br & Er').
  destruct (Ciii r Br) as (_ & Hr).
  (* a write of the cell of m in B0 stands behind r *)
  assert (forall w, E' w -> wr w -> loc w = loc r -> tau m w -> L w r -> False) as Q.
  { intros w Ew Ww Lw Hw Lwr. assert (B w) as Bw by (apply Civ; auto; congruence).
    assert (sigma w r) as X by (apply s_same; auto; [apply Ew|apply Er'|tauto]).
    destruct (K w (proj1 Ew) Ww Lw X) as [Y|Y]; [destruct Ew; congruence|]. apply s_am in Y; [auto|apply Ew]. }
  apply T_rf. split; [auto|split; [auto|right]]. split.
  - intros w (Ew & O & Lw & Pw & Lt).
    assert (E' w) as Ew' by (split; auto; intros ->; apply (m_last r); auto).
    pose proof (own_facts hw _ _ O) as (_ & _ & Ww & _).
    apply (Q w); auto; [eapply tau_trans; eauto|now apply L_po].
  - repeat split; auto using Em. intros w' Ew' Ww' Lw' L'. destruct (classic (w' = m)) as [|Nw']; [auto|right].
    destruct S as (_ & _ & Hc). destruct (Hc w' m Ew' Em) as [|[|X]]; [congruence|auto|exfalso].
    assert (E' w') as Ewx by (split; auto). apply (Q w'); auto.
    apply conf_write_L; auto. apply conflict_intro; auto. intros ->; eapply tau_irr; eauto.
Qed.
Lemma six_2c w r : rf T' w r -> rf Ts w r \/ rf Ts m r.
Proof. intros H. now apply p_2c, T'_rf. Qed.

(* m reads what it reads in T *)
Lemma m_source w : rf T w m -> rf Ts w m.
Proof.
  intros H. pose proof (pv_source w H) as X. apply T_rf in H.
  destruct H as (_ & Rm & [(H & _)|(_ & Ew & _ & Ww & _ & Lo & _ & Q)]); [destruct (m_waits _ H)|].
  assert (w <> m) as Nw by (intros ->; eapply tau_irr; eauto).
  assert (E' w) as Ew' by (split; auto).
  assert (~ B w) as NBw by (intros Y; apply (tau_asym _ _ X); now apply Ciii).
  apply trace_by_rf. split; [apply Em|]. split; [auto|]. right. split; [apply m_no_wait|].
  split; [auto|]. split; [apply Em|]. split; [auto|]. split; [auto|]. split; [auto|].
  split; [now apply s_am|]. intros w' Ew'' Ww' Lw' L'.
  assert (w' <> m) as Nw' by (intros ->; eapply s_irr; eauto).
  destruct S as (_ & _ & Hc). destruct (Hc w' m Ew'' Em) as [|[Z|Z]]; [congruence| |].
  - destruct (Q w' Ew'' Ww' Lw' Z) as [|Z']; [auto|right].
    assert (E' w') as Ew3 by (split; auto).
    assert (conflict w' w) as C by (apply conflict_intro; auto; [intros ->; eapply tau_irr; eauto|congruence]).
    apply writes_s; auto. now apply conf_write_L.
  - exfalso. apply s_am in L'; auto. apply L'. apply Civ; auto. split; auto.
Qed.

(* Lemma 6 (3) *)
Theorem lemma_6_3_consistent : rdma_consistent hw Ts.
Proof. apply p_consistent; [apply sp_i_R2|apply sp_i_R3]. Qed.

Notation dep := (dep Ts m).
Lemma dep_ib e : dep e -> ib hw T m e.
Proof.
  intros H; induction H as [r H|w r H D IH|r w Ew C _ IH].
  - apply t_step, ib_rf. now apply six_2b.
  - destruct (dep_s _ D) as (_ & X).
    assert (w <> m) as Nw by (intros ->; eapply s_irr; eauto).
    assert (r <> m) as Nr.
    { intros ->. apply (s_asym _ _ X). apply (rf_not_own hw (E T) sigma w m H).
      intros (_ & Y & _). exact (dep_no_store w D Y). }
    destruct (rf_T'_T _ _ (six_2a _ _ H Nw Nr)) as [Y|(Y & _)].
    + eapply t_trans; [exact IH|]. apply t_step; now apply ib_rf.
    + apply t_step; now apply ib_rf.
  - eapply t_trans; [exact IH|]. apply t_step, ib_ippo.
    destruct (carry_on hw T r w W Ew C) as (X & Y & Z). split; [exact X|split; [exact Y|now apply oppo_ippo]].
Qed.
Lemma no_cpu_dep r : cpu r -> ~ dep r.
Proof. intros C D. apply (proj2 M r C), dep_ib, D. Qed.

Lemma val_T'_Ts w v : val (rf T') w v -> E' w -> ~ dep w -> val (rf Ts) w v.
Proof. intros H. apply p_val. eapply val_mono; [|exact H]. intros a b. apply T'_rf. Qed.
Lemma val_before w v : val (rf T) w v -> E T w -> tau w m -> val (rf T') w v.
Proof.
  intros H; induction H as [w Ww Nw|w r v Rr Cr H _ IH|r w v C H IH]; intros Ew Lm.
  - now apply val_own.
  - assert (tau w r) as X.
    { apply Hob, ob_rf; auto. intros (_ & _ & K). apply Cr. now apply lr_cpu. }
    apply val_nicr with w; auto.
    + apply rf_T_T'; auto; intros ->; [eapply tau_asym; eauto|eapply tau_irr; eauto].
    + apply IH; [apply (t_rf _ WT _ _ H)|eapply tau_trans; eauto].
  - destruct (carry_on hw T r w W Ew C) as (Er & _ & O). apply val_nicw with r; auto. apply IH; [auto|].
    eapply tau_trans; [|exact Lm]. apply Hob, ob_oppo. split; auto.
Qed.

Theorem lemma_6_3_trace : trace_of P Ts.
Proof.
  split; [apply V|]. split; [apply Ws|].
  intros r Er Cr Rr. destruct (classic (r = m)) as [->|Nr].
  - destruct V as ((_ & _ & Val) & _). destruct (Val m Er Cr Rr) as (w & H & K).
    pose proof (pv_source w H) as X. exists w. split; [now apply m_source|].
    assert (w <> m) as Nw by (intros ->; eapply tau_irr; eauto).
    destruct (t_rf _ WT _ _ H) as (Ew & _). apply val_T'_Ts; [now apply val_before|split; auto|].
    intros D. destruct (dep_s _ D) as (_ & Z). apply (s_asym _ _ Z). apply s_am; auto.
    intros Y. apply (tau_asym _ _ X). now apply Ciii.
  - assert (E' r) as Er' by (split; auto).
    destruct (lemma_2_1) as (_ & _ & Val). destruct (Val r Er' Cr Rr) as (w & H & K).
    destruct (six_2c _ _ H) as [X|X].
    + exists w; split; auto. apply val_T'_Ts; auto; [apply (t_rf _ WT' _ _ H)|].
      intros D. apply (no_cpu_dep r Cr). now apply dep_rf with w.
    + destruct (no_cpu_dep r Cr). now apply dep_m.
Qed.

(* Lemma 6 (4) *)
Theorem lemma_6_4 a b : sc1 T' a b -> clos_trans ev (sc1 Ts) a b.
Proof. intros H. now apply p_4, T'_sc. Qed.
Lemma lemma_6_4_path a b : clos_trans ev (sc1 T') a b -> clos_trans ev (sc1 Ts) a b.
Proof. induction 1 as [a b H|]; [now apply lemma_6_4|eapply t_trans; eauto]. Qed.
Lemma off_m e x : clos_refl_trans ev (off (sc1 T) m) e x -> clos_refl_trans ev (sc1 Ts) e x.
Proof.
  induction 1 as [a b (H & Na & Nb)|a|a b c _ IH _ IH']; [|apply rt_refl|eapply rt_trans; eauto].
  pose proof (lemma_6_4 a b (lemma_2_3 a b H Na Nb)) as J. clear -J.
  induction J; [now apply rt_step|eapply rt_trans; eauto].
Qed.

(* the edge by which the cycle comes back to m *)
Lemma into_m x : sc1 T x m -> x <> m -> sc1 Ts x m.
Proof.
  intros H Nx. assert (tau x m -> sigma x m) as K.
  { intros H0. apply s_am; auto. intros Bx. apply (tau_asym _ _ H0). now apply Ciii. }
  destruct H as [H|H|R|H].
  - now apply sc_po.
  - apply sc_rf. now apply m_source.
  - pose proof (K (tau_rb _ _ R)) as Sx. destruct R as (N & u & H & Mo).
    apply sc_rb. split; [auto|]. exists u. destruct (t_mo _ WT _ _ Mo) as (Eu & _ & Wu & Wm & Lu).
    assert (u <> m) as Nu by (intros ->; exact (t_mo_irr _ WT _ Mo)).
    split.
    + destruct (six_2c _ _ (rf_T_T' _ _ H Nu Nx)) as [X|X]; [auto|].
      destruct (rf_m_in x X) as (_ & Bx & _). apply s_am in Sx; tauto.
    + repeat split; auto using Em. apply s_am; auto. intros Bu.
      apply (tau_asym _ _ (tau_mo _ _ Mo)). now apply Ciii.
  - apply sc_mo. destruct (t_mo _ WT _ _ H) as (Ex & _ & Wx & Wm & Lx).
    repeat split; auto using Em. apply K, tau_mo, H.
Qed.

(* the cycle m, e, ..., x, m *)
Lemma rest e x : clos_refl_trans ev (off (sc1 T) m) e x -> sc1 T x m -> x <> m ->
  clos_trans ev (sc1 Ts) m e -> clos_trans ev (sc1 Ts) m m.
Proof.
  intros Hex Hxm Nx K. eapply t_trans; [|apply t_step; exact (into_m x Hxm Nx)].
  eapply ct_rt; [exact K|now apply off_m].
Qed.
End Split.
End Order.
End Lemma6.
