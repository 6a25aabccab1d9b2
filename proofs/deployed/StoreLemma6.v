(* Lemma 6 with store buffers: one memory. *)
Require Import List Arith Lia Classical Relations Setoid.
From RR Require Import Model Hardware Orders Rules Traces Lemma6 StoreModel StoreRules StoreTraces StoreLemma2.

(* (ii) has an exception: a read of A that takes a store of its own thread in B (rule T2). *)
Class split_tso {U : events} (hw : hardware) (T : trace) (m : ev) (tau L : relation ev) (B : ev -> Prop) : Prop := {
  st_i_R1 : R1_tso hw (E T) B;
  st_i_R2 : R2_tso (E T) B;
  st_i_R3 : R3 hw (E T) B;
  st_ii : forall a b, without (E T) m a -> without (E T) m b -> ~ B a -> B b -> conflict a b ->
    L a b \/ exists u, rf (Tt' T m tau) u a /\ own u a /\ B u;
  st_iii : forall b, B b -> without (E T) m b /\ tau m b;
  st_iv : forall w, without (E T) m w -> wr w -> loc w = loc m -> tau m w -> B w;
}.

Section Lemma6.
Context {U : events} {hw : hardware} {OK : tso_ok hw} {P : program} {T : trace} {m : ev} {tau : relation ev}.
Context {Piv : pivot_tso hw P T m tau}.
Notation E' := (without (E T) m).
Notation T' := (Tt' T m tau).

Let V : violating_tso hw P T := pt_violating.
Let M : maximal_tso hw T m := pt_maximal.
Let S : sto (E T) tau := pt_total.
Let I0 : initfirst (E T) tau := pt_init.
Let Hob : forall a b, ob1_tso hw T a b -> tau a b := pt_ob.
Let W : wfE (E T) := tWE.

Section Order.
Context {L : relation ev} {Sco : sc_order_of T' L}.
Let SL : sto E' L := so_total.
Let IL : initfirst E' L := so_init.
Let HL : forall a b, sc1 T' a b -> L a b := so_sc.

Lemma tL_irr a : ~ L a a. Proof. apply SL. Qed.
Lemma tL_trans a b c : L a b -> L b c -> L a c. Proof. apply SL. Qed.
Lemma tL_asym a b : L a b -> ~ L b a. Proof. apply (sto_asym _ _ _ _ SL). Qed.
Lemma tT'_rf w r : rf T' w r <-> rf_in E' L w r.
Proof.
  apply same_rf; auto using tWT'; intros; apply HL; [now apply sc_rf|now apply sc_rb|now apply sc_mo].
Qed.
Lemma L_po a b : E' a -> E' b -> po a b -> L a b.
Proof. intros Ea Eb H. apply HL, sc_po. repeat split; auto; try apply Ea; apply Eb. Qed.

(* conflicting events stand in L as in tau, but for a read that takes a store of its own thread *)
Lemma conf_tau_Lt a b : E' a -> E' b -> conflict a b -> tau a b ->
  L a b \/ exists u, rf T' u a /\ own u a /\ tau a u /\ (b = u \/ tau b u).
Proof.
  intros Ea Eb (Aa & Ab & Wab & Lo & N) H.
  assert (forall u v, E' u -> E' v -> wr u -> wr v -> loc u = loc v -> tau u v -> mo T' u v) as Mo.
  { repeat split; auto; try apply H0; apply H1. }
  assert (forall x y, mo T' x y -> L x y) as ML by (intros; apply HL; now apply sc_mo).
  destruct (classic (wr a)) as [Wa|NWa].
  - left. destruct (classic (wr b)) as [Wb|NWb]; [apply ML, Mo; auto|].
    assert (rd b) as Rb by tauto.
    destruct (t_rf_ex _ tWT' b Eb Rb) as (u & Hu). destruct (t_rf _ tWT' _ _ Hu) as (Eu & _ & Wu & _ & Lu).
    assert (L u b) as Lub by (apply HL; now apply sc_rf).
    assert (u = a \/ tau a u) as [->|K]; auto.
    { destruct (rf_cases _ _ _ _ Hu) as [((_ & _ & _ & _ & X) & _)|X].
      - right. eapply tt_trans; eauto.
      - destruct X as (_ & _ & _ & _ & _ & _ & X). destruct (X a Ea Wa Lo H); auto. }
    apply tL_trans with u; [apply ML, Mo; auto; congruence|auto].
  - assert (rd a) as Ra by tauto. assert (wr b) as Wb by tauto.
    destruct (t_rf_ex _ tWT' a Ea Ra) as (u & Hu). destruct (t_rf _ tWT' _ _ Hu) as (Eu & _ & Wu & _ & Lu).
    destruct (classic (tau u b)) as [X|X].
    + left. apply HL, sc_rb. split; [auto|]. exists u. split; [auto|]. apply Mo; auto; congruence.
    + assert (b = u \/ tau b u) as Y.
      { pose proof tS' as (_ & _ & Hc). destruct (Hc b u Eb Eu) as [|[|]]; tauto. }
      assert (tau a u) as Z by (destruct Y as [<-|Y]; [auto|eapply tt_trans; eauto]).
      right. exists u. split; [auto|]. split; [|auto].
      destruct (rf_cases _ _ _ _ Hu) as [((_ & O & _) & _)|K]; [auto|].
      exfalso. apply (tt_asym _ _ Z). apply K.
Qed.
Theorem lemma_6_1_tso a b : E' a -> E' b -> ~ tau m a -> tau m b -> conflict a b ->
  L a b \/ exists u, rf T' u a /\ own u a /\ tau m u.
Proof.
  intros Ea Eb NA HB C. assert (tau a m) as Lam.
  { destruct S as (_ & _ & Hc). destruct (Hc a m) as [->|[H|H]]; [apply Ea|apply tEm|destruct Ea; congruence|auto|tauto]. }
  destruct (conf_tau_Lt a b Ea Eb C) as [|(u & H & O & _ & K)]; [eapply tt_trans; eauto|auto|].
  right. exists u. split; [auto|split; [auto|]]. destruct K as [<-|K]; [auto|eapply tt_trans; eauto].
Qed.
(* writes are no such reads *)
Lemma conf_write_L a b : E' a -> E' b -> wr a -> conflict a b -> tau a b -> L a b.
Proof.
  intros Ea Eb Wa C H. destruct (conf_tau_Lt a b Ea Eb C H) as [|(u & _ & (_ & _ & K) & _)]; [auto|].
  unfold wr in Wa. rewrite K in Wa. destruct Wa.
Qed.

Section Split.
Context {B : ev -> Prop} {Spl : split_tso hw T m tau L B}.
Let C1 : R1_tso hw (E T) B := st_i_R1.
Let C2 : R2_tso (E T) B := st_i_R2.
Let C3 : R3 hw (E T) B := st_i_R3.
Let Ciii : forall b, B b -> E' b /\ tau m b := st_iii.
Let Civ : forall w, E' w -> wr w -> loc w = loc m -> tau m w -> B w := st_iv.
Notation sigma := (sigma m L B).
Notation Ts := (tr_tso (E T) sigma).

Lemma tNBm : ~ B m.
Proof. intros H. destruct (Ciii m H) as ((_ & N) & _); auto. Qed.
Lemma tsto_m : sto (E T) (lex (fun x => x = m) L).
Proof.
  destruct SL as (Hi & Ht & Hc). unfold lex. split; [|split].
  - intros a [H|(_ & H)]; [tauto|eapply Hi; eauto].
  - intros a b c [H|(H & H')] [K|(K & K')]; try tauto. right; split; [tauto|eauto].
  - intros a b Ea Eb. destruct (classic (a = m)) as [->|Na], (classic (b = m)) as [->|Nb]; try tauto.
    destruct (Hc a b) as [|[|]]; try (split; auto; fail); tauto.
Qed.
Lemma tSs : sto (E T) sigma. Proof. apply lex_sto, tsto_m. Qed.
Lemma ts_irr a : ~ sigma a a. Proof. apply tSs. Qed.
Lemma ts_trans a b c : sigma a b -> sigma b c -> sigma a c. Proof. apply tSs. Qed.
Lemma ts_asym a b : sigma a b -> ~ sigma b a. Proof. apply (sto_asym _ _ _ _ tSs). Qed.
Lemma ts_am a : a <> m -> (sigma a m <-> ~ B a).
Proof. intros N. pose proof tNBm. unfold sigma, lex. tauto. Qed.
Lemma ts_mb b : b <> m -> (sigma m b <-> B b).
Proof. intros N. pose proof tNBm. unfold sigma, lex. destruct (classic (B b)); tauto. Qed.
Lemma ts_same a b : a <> m -> b <> m -> (B a <-> B b) -> (sigma a b <-> L a b).
Proof. intros Na Nb H. unfold sigma, lex. tauto. Qed.
Lemma ts_split a b : ~ B a -> B b -> sigma a b.
Proof. unfold sigma, lex; tauto. Qed.
(* what is backward in L is so between A and B *)
Lemma ts_back a b : a <> m -> b <> m -> L b a -> ~ L a b -> sigma a b -> ~ B a /\ B b.
Proof. intros Na Nb H H' K. unfold sigma, lex in K. tauto. Qed.

Lemma tIs : initfirst (E T) sigma.
Proof.
  intros i x Ei Ex Ki Nx.
  assert (i <> m) as Ni by (intros ->; now apply tNm).
  assert (~ B i) as NBi.
  { intros H. destruct (Ciii i H) as (_ & K). apply (tt_asym _ _ K). apply I0; auto using tEm, tNm. }
  destruct (classic (B x)) as [Bx|NBx]; [now apply ts_split|].
  destruct (classic (x = m)) as [->|Nxm]; [now apply ts_am|].
  apply ts_same; [auto|auto|tauto|]. apply IL; auto; split; auto.
Qed.
Lemma ts_po a b : E T a -> E T b -> (B a <-> B b) -> po a b -> sigma a b.
Proof.
  intros Ea Eb H P0. assert (a <> m) as Na by (intros ->; eapply tm_last; eauto).
  destruct (classic (b = m)) as [->|Nb]; [pose proof tNBm; apply ts_am; tauto|].
  apply ts_same; auto. apply L_po; auto; split; auto.
Qed.
Lemma ts_ob a b : ob1_tso hw Ts a b -> sigma a b.
Proof.
  apply (rules_tso_if hw (E T) sigma B W tSs); auto.
  - intros; now apply ts_split.
  - apply ts_po.
Qed.
Lemma tWs : wft Ts.
Proof. apply tr_tso_wft; auto using tWE, tSs, tIs. Qed.

(* a write stands before what conflicts with it in sigma as in L, but for the exception *)
Lemma write_s a b : E' a -> E' b -> wr a -> conflict a b -> sigma a b -> L a b.
Proof.
  intros Ea Eb Wa C H. destruct (classic (L a b)) as [|N]; [auto|exfalso].
  assert (L b a) as Lba.
  { destruct SL as (_ & _ & Hc). destruct (Hc a b Ea Eb) as [X|[X|X]]; [unfold conflict in C; tauto|tauto|auto]. }
  destruct (ts_back a b) as (Na & Bb); auto; [apply Ea|apply Eb|].
  destruct (st_ii a b Ea Eb Na Bb C) as [|(u & _ & (_ & _ & K) & _)]; [auto|].
  unfold wr in Wa. rewrite K in Wa. destruct Wa.
Qed.
Lemma writes_s a b : E' a -> E' b -> wr a -> wr b -> conflict a b -> (sigma a b <-> L a b).
Proof.
  intros Ea Eb Wa Wb C. split; [now apply write_s|]. intros H.
  destruct tSs as (_ & _ & Hc). destruct (Hc a b) as [->|[|K]]; [apply Ea|apply Eb|destruct (tL_irr _ H)|auto|].
  destruct (tL_asym _ _ H). apply write_s; auto. now apply conflict_sym.
Qed.

(* A read for which a store of its thread waits in sigma takes what it takes in T'. *)
Lemma wait_source r w : E' r -> waits (E T) sigma r w -> exists u, rf T' u r /\ forwards (E T) sigma u r.
Proof.
  intros Er (Ew & O & Lo & Pw & Sg). assert (E' w) as Ew'.
  { split; auto. intros ->. apply (tm_last r); auto. apply Er. }
  pose proof (L_po w r Ew' Er Pw) as Lwr. pose proof (own_facts _ _ O) as (_ & Nr & Ww & Rr & _).
  destruct (ts_back r w) as (NBr & Bw); auto; [apply Er|apply Ew'|now apply tL_asym|].
  assert (conflict r w) as C by (apply conflict_intro; auto; intros ->; eapply po_irr; eauto).
  destruct (st_ii r w Er Ew' NBr Bw C) as [K|(u & Hu & Ou & Bu)]; [destruct (tL_asym _ _ Lwr K)|].
  pose proof Hu as H. apply tT'_rf in H. destruct H as (Eu & _ & _ & _ & Lu & Lur & Last).
  pose proof (own_facts _ _ Ou) as (Nu & _ & Wu & _).
  assert (po u r) as Pu.
  { destruct (wf_total _ W u r) as [->|[|Q]]; auto; [apply Eu|apply Er|apply Ou|destruct (tL_irr _ Lur)|].
    destruct (tL_asym _ _ Lur). now apply L_po. }
  exists u. split; [auto|]. split.
  - split; [apply Eu|]. split; [auto|]. split; [auto|]. split; [auto|now apply ts_split].
  - intros w' (Ewx & Ox & Lx & Px & Sx). pose proof (own_facts _ _ Ox) as (Nx & _ & Wx & _).
    assert (E' w') as Ex' by (split; auto; intros ->; apply (tm_last r); auto; apply Er).
    assert (thr w' = thr u) as Th by (destruct Ox as (-> & _), Ou as (-> & _); auto).
    destruct (wf_total _ W w' u) as [|[|Q]]; auto; [apply Eu|exfalso].
    pose proof (L_po u w' Eu Ex' Q) as Luw. destruct (Last w' Ex' Wx Lx (L_po w' r Ex' Er Px)) as [->|K].
    + eapply tL_irr; eauto.
    + eapply tL_asym; eauto.
Qed.

(* Lemma 6 (2) *)
Lemma six_2a_tso w r : rf Ts w r -> w <> m -> r <> m -> rf T' w r.
Proof.
  intros (Er & Rr & H) Nw Nr. assert (E' r) as Er' by (split; auto).
  destruct H as [H|(Nwait & Ew & _ & Ww & _ & Lo & Lt & K)].
  - destruct (wait_source r w Er' (proj1 H)) as (u & Hu & Fu).
    assert (w = u) as ->; [|auto].
    destruct H as (H & K), Fu as (Fu & Ku). destruct (K u Fu) as [|Q]; [auto|]. destruct (Ku w H) as [|Q']; [auto|].
    destruct (po_irr w). eauto using po_trans.
  - assert (E' w) as Ew' by (split; auto). apply tT'_rf.
    assert (w <> r) as N by (intros ->; eapply ts_irr; eauto).
    repeat split; auto.
    + apply write_s; auto. apply conflict_intro; auto.
    + intros w' Ewx Wx Lx Ltx.
      assert (w' <> r) as Nx by (intros ->; eapply tL_irr; eauto).
      assert (sigma w' r) as X.
      { destruct tSs as (_ & _ & Hc). destruct (Hc w' r) as [|[|Sx]]; [apply Ewx|auto|congruence|auto|exfalso].
        destruct (ts_back r w') as (NBr & Bw); auto; [apply Ewx|now apply tL_asym|].
        destruct (st_ii r w' Er' Ewx NBr Bw) as [Q|(u & Hu & Ou & Bu)]; [apply conflict_intro; auto|eapply tL_asym; eauto|].
        apply (Nwait u). destruct (t_rf _ tWT' _ _ Hu) as (Eu & _ & _ & _ & Lu).
        split; [apply Eu|]. split; [auto|]. split; [auto|].
        split; [exact (rfb_po hw E' tau twfE' tS' oppo_T' u r Hu Ou)|now apply ts_split]. }
      destruct (K w') as [|Y]; auto; [apply Ewx|]. right.
      assert (w' <> w) by (intros ->; eapply ts_irr; eauto).
      apply write_s; auto. apply conflict_intro; auto. congruence.
Qed.
Lemma rf_m_in r : rf Ts m r -> rf_in (E T) sigma m r /\ B r /\ E' r.
Proof.
  intros (Er & Rr & [((_ & _ & _ & Pm & _) & _)|(_ & H)]); [destruct (tm_last r Er Pm)|].
  assert (r <> m) as N by (intros ->; eapply ts_irr; apply H).
  split; [auto|]. split; [apply ts_mb; auto; apply H|split; auto].
Qed.
Lemma six_2b_tso r : rf Ts m r -> rf T m r.
Proof.
  intros H0. destruct (rf_m_in r H0) as ((_ & Er & Wm & Rr & Lo & H & K) & Br & Er').
  destruct (Ciii r Br) as (_ & Hr).
  (* a write of the cell of m in B0 stands behind r *)
  assert (forall w, E' w -> wr w -> loc w = loc r -> tau m w -> L w r -> False) as Q.
  { intros w Ew Ww Lw Hw Lwr. assert (B w) as Bw by (apply Civ; auto; congruence).
    assert (sigma w r) as X by (apply ts_same; auto; [apply Ew|apply Er'|tauto]).
    destruct (K w (proj1 Ew) Ww Lw X) as [Y|Y]; [destruct Ew; congruence|]. apply ts_am in Y; [auto|apply Ew]. }
  apply tT_rf. split; [auto|split; [auto|right]]. split.
  - intros w (Ew & O & Lw & Pw & Lt).
    assert (E' w) as Ew' by (split; auto; intros ->; apply (tm_last r); auto).
    pose proof (own_facts _ _ O) as (_ & _ & Ww & _).
    apply (Q w); auto; [eapply tt_trans; eauto|now apply L_po].
  - repeat split; auto using tEm. intros w' Ew' Ww' Lw' L'. destruct (classic (w' = m)) as [|Nw']; [auto|right].
    destruct S as (_ & _ & Hc). destruct (Hc w' m Ew' tEm) as [|[|X]]; [congruence|auto|exfalso].
    assert (E' w') as Ewx by (split; auto). apply (Q w'); auto.
    apply conf_write_L; auto. apply conflict_intro; auto. intros ->; eapply tt_irr; eauto.
Qed.
Lemma six_2c_tso w r : rf T' w r -> rf Ts w r \/ rf Ts m r.
Proof.
  intros H. destruct (t_rf _ tWT' _ _ H) as (_ & (Er & Nr) & _ & Rr & _).
  destruct (t_rf_ex _ tWs r Er Rr) as (w2 & H2).
  destruct (classic (w2 = m)) as [->|N]; [auto|left].
  pose proof (six_2a_tso _ _ H2 N Nr) as H3. now rewrite (t_rf_fun _ tWT' _ _ _ H H3).
Qed.

(* m reads what it reads in T *)
Lemma m_waits_s w : ~ waits (E T) sigma m w.
Proof.
  intros (Ew & O & Lo & Pw & Sg). assert (w <> m) as N by (intros ->; eapply po_irr; eauto).
  apply (m_waits (OK := OK) w). split; [auto|]. split; [auto|]. split; [auto|]. split; [auto|].
  apply ts_mb in Sg; auto. now apply Ciii.
Qed.
Lemma m_source w : rf T w m -> rf Ts w m.
Proof.
  intros H. pose proof (pt_source w H) as X. apply tT_rf in H.
  destruct H as (_ & Rm & [(H & _)|(_ & Ew & _ & Ww & _ & Lo & _ & Q)]); [destruct (m_waits _ H)|].
  assert (w <> m) as Nw by (intros ->; eapply tt_irr; eauto).
  assert (E' w) as Ew' by (split; auto).
  assert (~ B w) as NBw by (intros Y; apply (tt_asym _ _ X); now apply Ciii).
  split; [apply tEm|]. split; [auto|]. right. split; [apply m_waits_s|].
  split; [auto|]. split; [apply tEm|]. split; [auto|]. split; [auto|]. split; [auto|].
  split; [now apply ts_am|]. intros w' Ew'' Ww' Lw' L'.
  assert (w' <> m) as Nw' by (intros ->; eapply ts_irr; eauto).
  destruct S as (_ & _ & Hc). destruct (Hc w' m Ew'' tEm) as [|[Z|Z]]; [congruence| |].
  - destruct (Q w' Ew'' Ww' Lw' Z) as [|Z']; [auto|right].
    assert (E' w') as Ew3 by (split; auto).
    assert (conflict w' w) as C by (apply conflict_intro; auto; [intros ->; eapply tt_irr; eauto|congruence]).
    apply writes_s; auto. now apply conf_write_L.
  - exfalso. apply ts_am in L'; auto. apply L'. apply Civ; auto. split; auto.
Qed.

(* Lemma 6 (3) *)
Theorem lemma_6_3_consistent_tso : tso_consistent hw Ts.
Proof. intros a H. apply (ts_irr a). eapply (forward_trans (ob1_tso hw Ts) sigma); eauto using ts_trans, ts_ob. Qed.

(* depends on m in trace(sigma) *)
Inductive dep_tso : ev -> Prop :=
| dept_m r : rf Ts m r -> dep_tso r
| dept_rf w r : rf Ts w r -> dep_tso w -> dep_tso r
| dept_carry r w : E T w -> carry r w -> dep_tso r -> dep_tso w.

Lemma dep_no_store e : dep_tso e -> ~ store e.
Proof.
  assert (forall a b, rf Ts a b -> ~ store b) as K.
  { intros a b H X. destruct (t_rf _ tWs _ _ H) as (_ & _ & _ & R & _). unfold store, rd in *. rewrite X in R. destruct R. }
  intros [r H|w r H _|r w _ C _]; eauto.
  unfold store. destruct (carry_ok _ _ C) as (_ & _ & [(_ & ->)|(_ & ->)]); discriminate.
Qed.
Lemma carry_sigma r w : E T w -> carry r w -> sigma r w.
Proof.
  intros Ew C. apply ts_ob, obt_oppo. destruct (carry_on hw T r w W Ew C) as (X & Y & Z). split; [exact X|split; [exact Y|]].
  apply to_tso; auto. unfold store. destruct (carry_ok _ _ C) as (_ & _ & [(-> & _)|(-> & _)]); discriminate.
Qed.
Lemma dep_s_tso e : dep_tso e -> E T e /\ sigma m e.
Proof.
  induction 1 as [r H|w r H D IH|r w Ew C _ IH].
  - split; [apply (t_rf _ tWs _ _ H)|]. destruct (rf_m_in r H) as (K & _). apply K.
  - split; [apply (t_rf _ tWs _ _ H)|]. eapply ts_trans; [apply IH|].
    apply (rf_not_own (E T) sigma w r H). intros (_ & X & _). exact (dep_no_store w D X).
  - split; [auto|]. eapply ts_trans; [apply IH|]. now apply carry_sigma.
Qed.
Lemma dep_ib_tso e : dep_tso e -> ib_tso hw T m e.
Proof.
  intros H; induction H as [r H|w r H D IH|r w Ew C _ IH].
  - apply t_step, ibt_rf. now apply six_2b_tso.
  - destruct (dep_s_tso _ D) as (_ & X).
    assert (w <> m) as Nw by (intros ->; eapply ts_irr; eauto).
    assert (r <> m) as Nr.
    { intros ->. apply (ts_asym _ _ X). apply (rf_not_own (E T) sigma w m H).
      intros (_ & Y & _). exact (dep_no_store w D Y). }
    destruct (trf_T'_T _ _ (six_2a_tso _ _ H Nw Nr)) as [Y|(Y & _)].
    + eapply t_trans; [exact IH|]. apply t_step; now apply ibt_rf.
    + apply t_step; now apply ibt_rf.
  - eapply t_trans; [exact IH|]. apply t_step, ibt_ippo.
    destruct (carry_on hw T r w W Ew C) as (X & Y & Z). split; [exact X|split; [exact Y|now apply oppo_ippo]].
Qed.
Lemma no_cpu_dep_tso r : cpu r -> ~ dep_tso r.
Proof. intros C D. apply (proj2 M r C), dep_ib_tso, D. Qed.

Lemma val_T'_Ts_tso w v : val (rf T') w v -> E' w -> ~ dep_tso w -> val (rf Ts) w v.
Proof.
  intros H; induction H as [w Ww Nw|w r v Rr Cr H _ IH|r w v C H IH]; intros Ew N.
  - now apply val_own.
  - destruct (six_2c_tso _ _ H) as [X|X]; [|destruct N; now apply dept_m].
    apply val_nicr with w; auto. apply IH; [apply (t_rf _ tWT' _ _ H)|]. intros D; apply N. now apply dept_rf with w.
  - assert (E' r) as Er by (eapply wf_down; [apply twfE'|apply (carry_ok _ _ C)|auto]).
    apply val_nicw with r; auto. apply IH; auto. intros D; apply N. apply dept_carry with r; auto. apply Ew.
Qed.
Lemma val_before_tso w v : val (rf T) w v -> E T w -> tau w m -> val (rf T') w v.
Proof.
  intros H; induction H as [w Ww Nw|w r v Rr Cr H _ IH|r w v C H IH]; intros Ew Lm.
  - now apply val_own.
  - assert (tau w r) as X.
    { apply Hob, obt_rf; auto. intros (_ & _ & K). apply Cr. now apply lr_cpu. }
    apply val_nicr with w; auto.
    + apply trf_T_T'; auto; intros ->; [eapply tt_asym; eauto|eapply tt_irr; eauto].
    + apply IH; [apply (t_rf _ tWT _ _ H)|eapply tt_trans; eauto].
  - destruct (carry_on hw T r w W Ew C) as (Er & _ & O). apply val_nicw with r; auto. apply IH; [auto|].
    eapply tt_trans; [|exact Lm]. apply Hob, obt_oppo. split; [auto|split; [auto|]]. apply to_tso; auto.
    unfold store. destruct (carry_ok _ _ C) as (_ & _ & [(-> & _)|(-> & _)]); discriminate.
Qed.

Theorem lemma_6_3_trace_tso : trace_of P Ts.
Proof.
  split; [apply V|]. split; [apply tWs|].
  intros r Er Cr Rr. destruct (classic (r = m)) as [->|Nr].
  - destruct V as ((_ & _ & Val) & _). destruct (Val m Er Cr Rr) as (w & H & K).
    pose proof (pt_source w H) as X. exists w. split; [now apply m_source|].
    assert (w <> m) as Nw by (intros ->; eapply tt_irr; eauto).
    destruct (t_rf _ tWT _ _ H) as (Ew & _). apply val_T'_Ts_tso; [now apply val_before_tso|split; auto|].
    intros D. destruct (dep_s_tso _ D) as (_ & Z). apply (ts_asym _ _ Z). apply ts_am; auto.
    intros Y. apply (tt_asym _ _ X). now apply Ciii.
  - assert (E' r) as Er' by (split; auto).
    destruct (lemma_2_1_tso) as (_ & _ & Val). destruct (Val r Er' Cr Rr) as (w & H & K).
    destruct (six_2c_tso _ _ H) as [X|X].
    + exists w; split; auto. apply val_T'_Ts_tso; auto; [apply (t_rf _ tWT' _ _ H)|].
      intros D. apply (no_cpu_dep_tso r Cr). now apply dept_rf with w.
    + destruct (no_cpu_dep_tso r Cr). now apply dept_m.
Qed.
End Split.
End Order.
End Lemma6.
