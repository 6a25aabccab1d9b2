(* Lemma 6: one memory. *)
Require Import List Arith Lia Classical Relations Setoid.
From RR Require Import Model Hardware Orders Cells Stores Rules Traces Lemma2 Parts.

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

Section Order.
Context {L : relation ev} {Sco : sc_order_of T' L}.
Let SL : sto E' L := so_total.
Let IL : initfirst E' L := so_init.
Let HL : forall a b, sc1 T' a b -> L a b := so_sc.

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
Let C1 : R1 hw (E T) B := sp_i_R1.
Let C2 : R2 hw (E T) B := sp_i_R2.
Let C3 : R3 hw (E T) B := sp_i_R3.
Let Ciii : forall b, B b -> E' b /\ tau m b := sp_iii.
Let Civ : forall w, E' w -> wr w -> loc w = loc m -> tau m w -> B w := sp_iv.
Notation sigma := (sigma m L B).
Notation Ts := (trace_by hw (E T) sigma).
Let Ss : sto (E T) sigma := Parts.Ss.
Let Ws : wft Ts := Parts.Ws.
Let Em : E T m := Lemma2.Em.
Let s_irr a : ~ sigma a a. Proof. apply Ss. Qed.
Let s_trans a b c : sigma a b -> sigma b c -> sigma a c. Proof. apply Ss. Qed.
Let s_asym a b : sigma a b -> ~ sigma b a. Proof. apply (sto_asym _ _ _ _ Ss). Qed.
Let s_back a b : a <> m -> b <> m -> L b a -> ~ L a b -> sigma a b -> ~ B a /\ B b. Proof. apply Parts.s_back. Qed.

(* a write stands before what conflicts with it in sigma as in L, but for the exception *)
Lemma write_s a b : E' a -> E' b -> wr a -> conflict a b -> sigma a b -> L a b.
Proof.
  intros Ea Eb Wa C H. destruct (classic (L a b)) as [|N]; [auto|exfalso].
  assert (L b a) as Lba.
  { destruct SL as (_ & _ & Hc). destruct (Hc a b Ea Eb) as [X|[X|X]]; [unfold conflict in C; tauto|tauto|auto]. }
  destruct (s_back a b) as (Na & Bb); auto; [apply Ea|apply Eb|].
  destruct (sp_ii a b Ea Eb Na Bb C) as [|(u & _ & (_ & _ & K) & _)]; [auto|].
  unfold wr in Wa. rewrite K in Wa. destruct Wa.
Qed.
Lemma writes_s a b : E' a -> E' b -> wr a -> wr b -> conflict a b -> (sigma a b <-> L a b).
Proof.
  intros Ea Eb Wa Wb C. split; [now apply write_s|]. intros H.
  destruct Ss as (_ & _ & Hc). destruct (Hc a b) as [->|[|K]]; [apply Ea|apply Eb|destruct (L_irr _ H)|auto|].
  destruct (L_asym _ _ H). apply write_s; auto. now apply conflict_sym.
Qed.

(* A read for which a store of its thread waits in sigma takes what it takes in T'. *)
Lemma wait_source r w : E' r -> waits hw (E T) sigma r w -> exists u, rf T' u r /\ forwards hw (E T) sigma u r.
Proof.
  intros Er (Ew & O & Lo & Pw & Sg). assert (E' w) as Ew'.
  { split; auto. intros ->. apply (m_last r); auto. apply Er. }
  pose proof (L_po w r Ew' Er Pw) as Lwr. pose proof (own_facts hw _ _ O) as (_ & Nr & Ww & Rr & _).
  destruct (s_back r w) as (NBr & Bw); auto; [apply Er|apply Ew'|now apply L_asym|].
  assert (conflict r w) as C by (apply conflict_intro; auto; intros ->; eapply po_irr; eauto).
  destruct (sp_ii r w Er Ew' NBr Bw C) as [K|(u & Hu & Ou & Bu)]; [destruct (L_asym _ _ Lwr K)|].
  pose proof Hu as (Eu & _ & _ & _ & Lu & Lur & Last).
  pose proof (own_facts hw _ _ Ou) as (Nu & _ & Wu & _).
  assert (po u r) as Pu.
  { destruct (wf_total _ W u r) as [->|[|Q]]; auto; [apply Eu|apply Er|apply Ou|destruct (L_irr _ Lur)|].
    destruct (L_asym _ _ Lur). now apply L_po. }
  exists u. split; [now apply T'_rf|]. split.
  - split; [apply Eu|]. split; [auto|]. split; [auto|]. split; [auto|now apply s_split].
  - intros w' (Ewx & Ox & Lx & Px & Sx). pose proof (own_facts hw _ _ Ox) as (Nx & _ & Wx & _).
    assert (E' w') as Ex' by (split; auto; intros ->; apply (m_last r); auto; apply Er).
    assert (thr w' = thr u) as Th by (destruct Ox as (-> & _), Ou as (-> & _); auto).
    destruct (wf_total _ W w' u) as [|[|Q]]; auto; [apply Eu|exfalso].
    pose proof (L_po u w' Eu Ex' Q) as Luw. destruct (Last w' Ex' Wx Lx (L_po w' r Ex' Er Px)) as [->|K].
    + eapply L_irr; eauto.
    + eapply L_asym; eauto.
Qed.

(* Lemma 6 (2) *)
Lemma six_2a w r : rf Ts w r -> w <> m -> r <> m -> rf T' w r.
Proof.
  intros H Nw Nr. apply trace_by_rf in H. destruct H as (Er & Rr & H). assert (E' r) as Er' by (split; auto).
  destruct H as [H|(Nwait & Ew & _ & Ww & _ & Lo & Lt & K)].
  - destruct (wait_source r w Er' (proj1 H)) as (u & Hu & Fu).
    assert (w = u) as ->; [|auto].
    destruct H as (H & K), Fu as (Fu & Ku). destruct (K u Fu) as [|Q]; [auto|]. destruct (Ku w H) as [|Q']; [auto|].
    destruct (po_irr w). eauto using po_trans.
  - assert (E' w) as Ew' by (split; auto). apply T'_rf.
    assert (w <> r) as N by (intros ->; eapply s_irr; eauto).
    repeat split; auto.
    + apply write_s; auto. apply conflict_intro; auto.
    + intros w' Ewx Wx Lx Ltx.
      assert (w' <> r) as Nx by (intros ->; eapply L_irr; eauto).
      assert (sigma w' r) as X.
      { destruct Ss as (_ & _ & Hc). destruct (Hc w' r) as [|[|Sx]]; [apply Ewx|auto|congruence|auto|exfalso].
        destruct (s_back r w') as (NBr & Bw); auto; [apply Ewx|now apply L_asym|].
        destruct (sp_ii r w' Er' Ewx NBr Bw) as [Q|(u & Hu & Ou & Bu)]; [apply conflict_intro; auto|eapply L_asym; eauto|].
        apply T'_rf in Hu. apply (Nwait u). destruct (t_rf _ WT' _ _ Hu) as (Eu & _ & _ & _ & Lu).
        split; [apply Eu|]. split; [auto|]. split; [auto|].
        split; [exact (rfb_po hw E' tau wfE' S' oppo_T' u r Hu Ou)|now apply s_split]. }
      destruct (K w') as [|Y]; auto; [apply Ewx|]. right.
      assert (w' <> w) by (intros ->; eapply s_irr; eauto).
      apply write_s; auto. apply conflict_intro; auto. congruence.
Qed.
Lemma rf_m_in r : rf Ts m r -> rf_in (E T) sigma m r /\ B r /\ E' r.
Proof.
  intros H. apply trace_by_rf in H.
  destruct H as (Er & Rr & [((_ & _ & _ & Pm & _) & _)|(_ & H)]); [destruct (m_last r Er Pm)|].
  assert (r <> m) as N by (intros ->; eapply s_irr; apply H).
  split; [auto|]. split; [apply s_mb; auto; apply H|split; auto].
Qed.
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
Proof.
  intros H. destruct (t_rf _ WT' _ _ H) as (_ & (Er & Nr) & _ & Rr & _).
  destruct (t_rf_ex _ Ws r Er Rr) as (w2 & H2).
  destruct (classic (w2 = m)) as [->|N]; [auto|left].
  pose proof (six_2a _ _ H2 N Nr) as H3. now rewrite (t_rf_fun _ WT' _ _ _ H H3).
Qed.

(* m reads what it reads in T *)
Lemma m_waits_s w : ~ waits hw (E T) sigma m w.
Proof.
  intros (Ew & O & Lo & Pw & Sg). assert (w <> m) as N by (intros ->; eapply po_irr; eauto).
  apply (m_waits (OK := OK) w). split; [auto|]. split; [auto|]. split; [auto|]. split; [auto|].
  apply s_mb in Sg; auto. now apply Ciii.
Qed.
Lemma m_source w : rf T w m -> rf Ts w m.
Proof.
  intros H. pose proof (pv_source w H) as X. apply T_rf in H.
  destruct H as (_ & Rm & [(H & _)|(_ & Ew & _ & Ww & _ & Lo & _ & Q)]); [destruct (m_waits _ H)|].
  assert (w <> m) as Nw by (intros ->; eapply tau_irr; eauto).
  assert (E' w) as Ew' by (split; auto).
  assert (~ B w) as NBw by (intros Y; apply (tau_asym _ _ X); now apply Ciii).
  apply trace_by_rf. split; [apply Em|]. split; [auto|]. right. split; [apply m_waits_s|].
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
Proof. intros a H. apply (s_irr a). eapply (forward_trans (ob1 hw Ts) sigma); eauto using s_trans, s_ob. Qed.

Notation dep := (dep Ts m).
Lemma dep_no_store e : dep e -> ~ store hw e.
Proof.
  intros [r H|w r H _|r w _ C _]; [apply rd_no_store, (t_rf _ Ws _ _ H)|apply rd_no_store, (t_rf _ Ws _ _ H)|].
  now destruct (carry_no_store hw _ _ C).
Qed.
Lemma carry_sigma r w : E T w -> carry r w -> sigma r w.
Proof. intros Ew C. apply s_ob, ob_oppo. exact (carry_on hw T r w W Ew C). Qed.
Lemma dep_s e : dep e -> E T e /\ sigma m e.
Proof.
  induction 1 as [r H|w r H D IH|r w Ew C _ IH].
  - split; [apply (t_rf _ Ws _ _ H)|]. destruct (rf_m_in r H) as (K & _). apply K.
  - split; [apply (t_rf _ Ws _ _ H)|]. eapply s_trans; [apply IH|].
    apply (rf_not_own hw (E T) sigma w r H). intros (_ & X & _). exact (dep_no_store w D X).
  - split; [auto|]. eapply s_trans; [apply IH|]. now apply carry_sigma.
Qed.
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
Proof.
  intros H; induction H as [w Ww Nw|w r v Rr Cr H _ IH|r w v C H IH]; intros Ew N.
  - now apply val_own.
  - destruct (six_2c _ _ H) as [X|X]; [|destruct N; now apply dep_m].
    apply val_nicr with w; auto. apply IH; [apply (t_rf _ WT' _ _ H)|]. intros D; apply N. now apply dep_rf with w.
  - assert (E' r) as Er by (eapply wf_down; [apply wfE'|apply (carry_ok _ _ C)|auto]).
    apply val_nicw with r; auto. apply IH; auto. intros D; apply N. apply dep_carry with r; auto. apply Ew.
Qed.
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

Lemma mo_Ts a b : E T a -> E T b -> wr a -> wr b -> loc a = loc b -> sigma a b -> mo Ts a b.
Proof. repeat split; auto. Qed.
Lemma mo_T'_Ts a b : mo T' a b -> mo Ts a b.
Proof.
  intros H. pose proof (HL _ _ (sc_mo _ _ _ H)) as K. destruct (t_mo _ WT' _ _ H) as (Ea & Eb & Wa & Wb & Lo).
  apply mo_Ts; auto; [apply Ea|apply Eb|]. apply writes_s; auto. apply conflict_intro; auto.
  intros ->. exact (L_irr _ K).
Qed.

(* Lemma 6 (4) *)
Theorem lemma_6_4 a b : sc1 T' a b -> clos_trans ev (sc1 Ts) a b.
Proof.
  intros H. pose proof (HL _ _ H) as Lab. destruct H as [(Ea & Eb & H)|H|(N & u & H & K)|H].
  - apply t_step, sc_po. split; [apply Ea|split; [apply Eb|auto]].
  - destruct (six_2c _ _ H) as [X|X]; [apply t_step; now apply sc_rf|].
    destruct (rf_m_in b X) as ((_ & _ & Wm & _ & Lo & _ & Q) & Bb & Eb).
    destruct (t_rf _ WT' _ _ H) as ((Ea & Na) & _ & Wa & _ & La).
    apply t_trans with m; apply t_step; [apply sc_mo|now apply sc_rf].
    apply mo_Ts; auto; [congruence|]. apply s_am; auto. intros Ba.
    assert (sigma a b) as Y by (apply s_same; auto; [apply Eb|tauto]).
    destruct (Q a Ea Wa La Y) as [|Z]; [auto|]. apply s_am in Z; auto.
  - destruct (t_rf _ WT' _ _ H) as ((Eu & Nu) & (Ea & Na) & Wu & Ra & La).
    destruct (t_mo _ WT' _ _ K) as (_ & (Eb & Nb) & _ & Wb & Lb).
    apply t_step, sc_rb. split; [auto|].
    destruct (six_2c _ _ H) as [X|X]; [exists u; split; [auto|now apply mo_T'_Ts]|].
    destruct (rf_m_in a X) as ((_ & _ & Wm & _ & Lo & _) & Ba & Ea').
    exists m. split; [auto|]. apply mo_Ts; auto; [congruence|]. apply s_mb; auto.
    apply NNPP; intros NBb. assert (E' b) as Eb' by (split; auto).
    assert (conflict b a) as C by (apply conflict_intro; auto; congruence).
    destruct (sp_ii b a Eb' Ea' NBb Ba C) as [Y|(v & _ & (_ & _ & Y) & _)].
    + exact (L_asym _ _ Lab Y).
    + unfold wr in Wb. rewrite Y in Wb. destruct Wb.
  - apply t_step, sc_mo. now apply mo_T'_Ts.
Qed.
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
    + apply mo_Ts; auto. apply s_am; auto. intros Bu.
      apply (tau_asym _ _ (tau_mo _ _ Mo)). now apply Ciii.
  - apply sc_mo. destruct (t_mo _ WT _ _ H) as (Ex & _ & Wx & Wm & Lx).
    apply mo_Ts; auto. apply K, tau_mo, H.
Qed.

(* m leads to what conflicts with it in B *)
Lemma m_to b : B b -> conflict m b -> clos_trans ev (sc1 Ts) m b.
Proof.
  intros Bb (Am & Ab & Wab & Lo & N). destruct (Ciii b Bb) as ((Eb & Nb) & _).
  assert (sigma m b) as Smb by (now apply s_mb).
  destruct (classic (wr m)) as [Wm|NWm].
  - destruct (classic (wr b)) as [Wb|NWb]; [apply t_step, sc_mo, mo_Ts; auto|].
    assert (rd b) as Rb by tauto. destruct (t_rf_ex _ Ws b Eb Rb) as (u & H).
    destruct (t_rf _ Ws _ _ H) as (Eu & _ & Wu & _ & Lu).
    destruct (classic (u = m)) as [->|Nu]; [apply t_step; now apply sc_rf|].
    apply t_trans with u; apply t_step; [|now apply sc_rf].
    apply sc_mo, mo_Ts; auto; [congruence|].
    destruct (rf_cases hw _ _ _ _ H) as [((_ & _ & _ & _ & X) & _)|X]; [eapply s_trans; eauto|].
    destruct X as (_ & _ & _ & _ & _ & _ & X). destruct (X m Em Wm Lo Smb) as [|K]; [congruence|exact K].
  - assert (rd m) as Rm by tauto. assert (wr b) as Wb by tauto.
    destruct (t_rf_ex _ Ws m Em Rm) as (u & H). destruct (t_rf _ Ws _ _ H) as (Eu & _ & Wu & _ & Lu).
    apply t_step, sc_rb. split; [auto|]. exists u. split; [auto|]. apply mo_Ts; auto; [congruence|].
    destruct (rf_cases hw _ _ _ _ H) as [(X & _)|X]; [destruct (m_waits_s _ X)|].
    eapply s_trans; [apply X|auto].
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
