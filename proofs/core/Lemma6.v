(* Lemma 6: one memory.  A and B may be split in any way that keeps (i) to (iv). *)
Require Import List Arith Lia Classical Relations Setoid.
From RR Require Import Model Hardware Orders Rules Traces Lemma2.

(* L is an SC order of T. *)
Class sc_order_of {U : events} (T : trace) (L : relation ev) : Prop := {
  so_total : sto (E T) L;
  so_init : initfirst (E T) L;
  so_sc : forall a b, sc1 T a b -> L a b;
}.

(* The conditions on the part B, as numbered in Lemma 6; all that is not in B and not m is A. *)
Class split {U : events} (hw : hardware) (T : trace) (m : ev) (tau L : relation ev) (B : ev -> Prop) : Prop := {
  sp_i_R1 : R1 hw (E T) B;
  sp_i_R2 : R2 (E T) B;
  sp_i_R3 : R3 hw (E T) B;
  sp_ii : forall a b, without (E T) m a -> without (E T) m b -> ~ B a -> B b -> conflict a b -> L a b;
  sp_iii : forall b, B b -> without (E T) m b /\ tau m b;
  sp_iv : forall w, without (E T) m w -> wr w -> loc w = loc m -> tau m w -> B w;
}.

(* A in the order L, then m, then B in the order L *)
Definition sigma {U : events} (m : ev) (L : relation ev) (B : ev -> Prop) := lex B (lex (fun x => x = m) L).

Section Lemma6.
Context {U : events} {hw : hardware} {OK : hardware_ok hw} {P : program} {T : trace} {m : ev} {tau : relation ev}.
Context {Piv : pivot hw P T m tau}.
Notation E' := (without (E T) m).
Notation T' := (T' T m tau).

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

Lemma L_irr a : ~ L a a. Proof. apply SL. Qed.
Lemma L_trans a b c : L a b -> L b c -> L a c. Proof. apply SL. Qed.
Lemma L_asym a b : L a b -> ~ L b a. Proof. apply (sto_asym _ _ _ _ SL). Qed.
Lemma T'_rf w r : rf T' w r <-> rf_in E' L w r.
Proof.
  apply same_rf; auto using WT'; intros; apply HL; [now apply sc_rf|now apply sc_rb|now apply sc_mo].
Qed.

(* Lemma 6 (1): conflicting events stand in L as in tau *)
Lemma conf_tau_L a b : E' a -> E' b -> conflict a b -> tau a b -> L a b.
Proof.
  intros Ea Eb C H. pose proof (conflict_eco E' tau a b wfE' S' I0' Ea Eb C H) as K.
  eapply forward_trans; [apply L_trans| |exact K].
  intros x y [Q|[Q|Q]]; apply HL; [now apply sc_rf|now apply sc_rb|now apply sc_mo].
Qed.
Theorem lemma_6_1 a b : E' a -> E' b -> ~ tau m a -> tau m b -> conflict a b -> L a b.
Proof.
  intros Ea Eb NA HB C. apply conf_tau_L; auto. destruct S as (_ & _ & Hc).
  destruct (Hc a m) as [->|[H|H]]; [apply Ea|apply Em|destruct Ea; congruence| |tauto].
  eapply tau_trans; eauto.
Qed.

Section Split.
Context {B : ev -> Prop} {Spl : split hw T m tau L B}.
Let C1 : R1 hw (E T) B := sp_i_R1.
Let C2 : R2 (E T) B := sp_i_R2.
Let C3 : R3 hw (E T) B := sp_i_R3.
Let Cii : forall a b, E' a -> E' b -> ~ B a -> B b -> conflict a b -> L a b := sp_ii.
Let Ciii : forall b, B b -> E' b /\ tau m b := sp_iii.
Let Civ : forall w, E' w -> wr w -> loc w = loc m -> tau m w -> B w := sp_iv.
Notation sigma := (sigma m L B).
Notation Ts := (tr (E T) sigma).

Lemma NBm : ~ B m.
Proof. intros H. destruct (Ciii m H) as ((_ & N) & _); auto. Qed.
Lemma sto_m : sto (E T) (lex (fun x => x = m) L).
Proof.
  destruct SL as (Hi & Ht & Hc). unfold lex. split; [|split].
  - intros a [H|(_ & H)]; [tauto|eapply Hi; eauto].
  - intros a b c [H|(H & H')] [K|(K & K')]; try tauto. right; split; [tauto|eauto].
  - intros a b Ea Eb. destruct (classic (a = m)) as [->|Na], (classic (b = m)) as [->|Nb]; try tauto.
    destruct (Hc a b) as [|[|]]; try (split; auto; fail); tauto.
Qed.
Lemma Ss : sto (E T) sigma. Proof. apply lex_sto, sto_m. Qed.
Lemma s_irr a : ~ sigma a a. Proof. apply Ss. Qed.
Lemma s_trans a b c : sigma a b -> sigma b c -> sigma a c. Proof. apply Ss. Qed.
Lemma s_asym a b : sigma a b -> ~ sigma b a. Proof. apply (sto_asym _ _ _ _ Ss). Qed.
Lemma s_am a : a <> m -> (sigma a m <-> ~ B a).
Proof. intros N. pose proof NBm. unfold sigma, lex. tauto. Qed.
Lemma s_mb b : b <> m -> (sigma m b <-> B b).
Proof. intros N. pose proof NBm. unfold sigma, lex. destruct (classic (B b)); tauto. Qed.
Lemma s_same a b : a <> m -> b <> m -> (B a <-> B b) -> (sigma a b <-> L a b).
Proof. intros Na Nb H. unfold sigma, lex. tauto. Qed.
Lemma s_split a b : ~ B a -> B b -> sigma a b.
Proof. unfold sigma, lex; tauto. Qed.

Lemma Is : initfirst (E T) sigma.
Proof.
  intros i x Ei Ex Ki Nx.
  assert (i <> m) as Ni by (intros ->; now apply Nm).
  assert (~ B i) as NBi.
  { intros H. destruct (Ciii i H) as (_ & K). apply (tau_asym _ _ K). apply I0; auto using Em, Nm. }
  destruct (classic (B x)) as [Bx|NBx]; [now apply s_split|].
  destruct (classic (x = m)) as [->|Nxm]; [now apply s_am|].
  apply s_same; [auto|auto|tauto|]. apply IL; auto; split; auto.
Qed.

Lemma s_po a b : E T a -> E T b -> (B a <-> B b) -> po a b -> sigma a b.
Proof.
  intros Ea Eb H P0. assert (a <> m) as Na by (intros ->; eapply m_last; eauto).
  destruct (classic (b = m)) as [->|Nb]; [pose proof NBm; apply s_am; tauto|].
  apply s_same; auto. apply HL, sc_po. repeat split; auto.
Qed.

Lemma s_ob a b : ob1 hw Ts a b -> sigma a b.
Proof.
  apply (rules_if hw (E T) sigma B W Ss); auto.
  - intros; now apply s_split.
  - apply s_po.
Qed.

Lemma conf_s a b : E' a -> E' b -> conflict a b -> (sigma a b <-> L a b).
Proof.
  intros Ea Eb C. pose proof (conflict_sym _ _ C) as C'.
  destruct (classic (B a)) as [Ba|Na], (classic (B b)) as [Bb|Nb].
  - apply s_same; [apply Ea|apply Eb|tauto].
  - split; intros H.
    + exfalso; apply (s_asym _ _ H). now apply s_split.
    + exfalso; apply (L_asym _ _ H). auto.
  - split; intros H; [auto|now apply s_split].
  - apply s_same; [apply Ea|apply Eb|tauto].
Qed.
(* Lemma 6 (2) *)
Lemma six_2a w r : rf Ts w r -> w <> m -> r <> m -> rf T' w r.
Proof.
  intros (Ew & Er & Ww & Rr & Lo & H & K) Nw Nr. apply T'_rf.
  assert (E' w) as Ew' by (split; auto). assert (E' r) as Er' by (split; auto).
  assert (w <> r) as N by (intros ->; eapply s_irr; eauto).
  repeat split; auto.
  - apply conf_s; auto. apply conflict_intro; auto.
  - intros w' Ew'' Ww' Lw' L'.
    assert (w' <> r) as N' by (intros ->; eapply L_irr; eauto).
    assert (sigma w' r) as X by (apply conf_s; auto; apply conflict_intro; auto).
    destruct (K w') as [|Y]; auto; [apply Ew''|]. right.
    apply conf_s; auto. apply conflict_intro; auto; [|congruence]. intros ->; eapply s_irr; eauto.
Qed.
Lemma six_2b r : rf Ts m r -> rf T m r.
Proof.
  intros (_ & Er & Wm & Rr & Lo & H & K).
  assert (r <> m) as Nr by (intros ->; eapply s_irr; eauto).
  assert (B r) as Br by (now apply s_mb).
  destruct (Ciii r Br) as (Er' & Hr).
  apply T_rf. repeat split; auto using Em.
  intros w' Ew' Ww' Lw' L'. destruct (classic (w' = m)) as [|Nw']; [auto|right].
  destruct S as (_ & _ & Hc). destruct (Hc w' m Ew' Em) as [|[|X]]; [congruence|auto|exfalso].
  assert (E' w') as Ew'' by (split; auto).
  assert (B w') as Bw' by (apply Civ; auto; congruence).
  assert (conflict w' r) as C by (apply conflict_intro; auto; intros ->; eapply tau_irr; eauto).
  assert (sigma w' r) as Y by (apply conf_s; auto; now apply conf_tau_L).
  destruct (K w' Ew' Ww' Lw' Y) as [|Z]; [auto|].
  apply s_am in Z; auto.
Qed.
Lemma Ws : wft Ts.
Proof. apply tr_wft; auto using W, Ss, Is. Qed.
Lemma six_2c w r : rf T' w r -> rf Ts w r \/ rf Ts m r.
Proof.
  intros H. destruct (t_rf_ex _ Ws r) as (w2 & H2).
  - apply H.
  - apply H.
  - destruct (classic (w2 = m)) as [->|N]; [auto|left].
    assert (rf T' w2 r) as H3 by (apply six_2a; auto; apply H).
    now rewrite (t_rf_fun _ WT' _ _ _ H H3).
Qed.

(* Lemma 6 (3) *)
Theorem lemma_6_3_consistent : rdma_consistent hw Ts.
Proof. intros a H. apply (s_irr a). eapply (forward_trans (ob1 hw Ts) sigma); eauto using s_trans, s_ob. Qed.

Inductive dep : ev -> Prop :=
| dep_m r : rf Ts m r -> dep r
| dep_rf w r : rf Ts w r -> dep w -> dep r
| dep_carry r w : E T w -> carry r w -> dep r -> dep w.

Lemma dep_s e : dep e -> E T e /\ sigma m e.
Proof.
  induction 1 as [r H|w r H _ IH|r w Ew C _ IH].
  - split; apply H.
  - split; [apply H|]. eapply s_trans; [apply IH|apply H].
  - split; [auto|]. eapply s_trans; [apply IH|]. apply s_ob, ob_oppo, carry_on; auto.
Qed.
Lemma dep_ib e : dep e -> ib hw T m e.
Proof.
  intros H; induction H as [r H|w r H D IH|r w Ew C _ IH].
  - apply t_step, ib_rf. now apply six_2b.
  - destruct (dep_s _ D) as (_ & X).
    assert (w <> m) as Nw by (intros ->; eapply s_irr; eauto).
    assert (r <> m) as Nr.
    { intros ->. apply (s_asym _ _ X). apply H. }
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
    apply val_nicr with w; auto. apply IH; [apply H|]. intros D; apply N. now apply dep_rf with w.
  - assert (E' r) as Er by (eapply wf_down; [apply wfE'|apply (carry_ok _ _ C)|auto]).
    apply val_nicw with r; auto. apply IH; auto. intros D; apply N. apply dep_carry with r; auto. apply Ew.
Qed.
Lemma val_before w v : val (rf T) w v -> E T w -> tau w m -> val (rf T') w v.
Proof.
  intros H; induction H as [w Ww Nw|w r v Rr Cr H _ IH|r w v C H IH]; intros Ew Lm.
  - now apply val_own.
  - pose proof (tau_rf _ _ H) as X. apply val_nicr with w; auto.
    + apply rf_T_T'; auto; intros ->; [eapply tau_asym; eauto|eapply tau_irr; eauto].
    + apply IH; [apply (t_rf _ WT _ _ H)|eapply tau_trans; eauto].
  - pose proof (carry_on hw T r w W Ew C) as X. apply val_nicw with r; auto. apply IH; [apply X|].
    eapply tau_trans; [|exact Lm]. apply Hob; now apply ob_oppo.
Qed.

Theorem lemma_6_3_trace : trace_of P Ts.
Proof.
  split; [apply V|]. split; [apply Ws|].
  intros r Er Cr Rr. destruct (classic (r = m)) as [->|Nr].
  - destruct V as ((_ & _ & Val) & _). destruct (Val m Er Cr Rr) as (w & H & K).
    pose proof (tau_rf _ _ H) as X.
    assert (w <> m) as Nw by (intros ->; eapply tau_irr; eauto).
    apply T_rf in H. destruct H as (Ew & _ & Ww & _ & Lo & _ & Q).
    assert (E' w) as Ew' by (split; auto).
    assert (~ B w) as NBw by (intros Y; apply (tau_asym _ _ X); now apply Ciii).
    assert (sigma w m) as Y by (now apply s_am).
    exists w; split.
    + repeat split; auto. intros w' Ew'' Ww' Lw' L'.
      assert (w' <> m) as Nw' by (intros ->; eapply s_irr; eauto).
      destruct S as (_ & _ & Hc). destruct (Hc w' m Ew'' Em) as [|[Z|Z]]; [congruence| |].
      * destruct (Q w' Ew'' Ww' Lw' Z) as [|Z']; [auto|right].
        assert (E' w') as Ew3 by (split; auto).
        assert (conflict w' w) as C by (apply conflict_intro; auto; [intros ->; eapply tau_irr; eauto|congruence]).
        apply conf_s; auto. now apply conf_tau_L.
      * exfalso. apply s_am in L'; auto. apply L'. apply Civ; auto. split; auto.
    + apply val_T'_Ts; auto.
      * apply val_before; auto.
      * intros D. destruct (dep_s _ D) as (_ & Z). eapply s_asym; eauto.
  - assert (E' r) as Er' by (split; auto).
    destruct (lemma_2_1) as (_ & _ & Val). destruct (Val r Er' Cr Rr) as (w & H & K).
    destruct (six_2c _ _ H) as [X|X].
    + exists w; split; auto. apply val_T'_Ts; auto; [apply H|].
      intros D. apply (no_cpu_dep r Cr). now apply dep_rf with w.
    + destruct (no_cpu_dep r Cr). now apply dep_m.
Qed.

(* conflicting events are joined in trace(sigma) *)
Lemma join a b : E T a -> E T b -> conflict a b -> sigma a b -> clos_trans ev (sc1 Ts) a b.
Proof.
  intros Ea Eb C H. pose proof (conflict_eco (E T) sigma a b W Ss Is Ea Eb C H) as K.
  clear -K. induction K as [a b [H|[H|H]]|]; [apply t_step; now apply sc_rf|apply t_step; now apply sc_rb|
    apply t_step; now apply sc_mo|eapply t_trans; eauto].
Qed.

(* Lemma 6 (4) *)
Theorem lemma_6_4 a b : sc1 T' a b -> clos_trans ev (sc1 Ts) a b.
Proof.
  intros H. pose proof (HL _ _ H) as Lab.
  assert (on T' po a b \/ eco1 T' a b) as [(Ea & Eb & X)|X].
  { destruct H; [left|right; left|right; right; left|right; right; right]; auto. }
  - apply t_step, sc_po. split; [apply Ea|split; [apply Eb|auto]].
  - destruct (eco_conflict T' a b WT') as (C & Ea & Eb); auto.
    { intros x Y. apply (L_irr x), HL. now apply sc_rf. }
    apply join; [apply Ea|apply Eb|auto|]. now apply conf_s.
Qed.

(* the rest of the cycle m, e, ..., x, m *)
Lemma off_m e x : clos_refl_trans ev (off (sc1 T) m) e x -> clos_refl_trans ev (sc1 Ts) e x.
Proof.
  induction 1 as [a b (H & Na & Nb)|a|a b c _ IH _ IH']; [|apply rt_refl|eapply rt_trans; eauto].
  pose proof (lemma_6_4 a b (lemma_2_3 a b H Na Nb)) as J. clear -J.
  induction J; [now apply rt_step|eapply rt_trans; eauto].
Qed.
Lemma rest e x : clos_refl_trans ev (off (sc1 T) m) e x -> sc1 T x m -> x <> m ->
  clos_trans ev (sc1 Ts) m e -> clos_trans ev (sc1 Ts) m m.
Proof.
  intros Hex Hxm Nx K.
  pose proof (off_m e x Hex) as K2.
  assert (clos_trans ev (sc1 Ts) x m) as K3.
  { assert (on T po x m \/ eco1 T x m) as [X|X].
    { destruct Hxm; [left|right; left|right; right; left|right; right; right]; auto. }
    - apply t_step, sc_po. exact X.
    - destruct (eco_conflict T x m WT) as (C & Ex & _); auto.
      { intros y Y. apply (tau_irr y). now apply tau_rf. }
      apply join; auto using Em. apply s_am; auto. intros Bx.
      destruct (Ciii x Bx) as (_ & Y). apply (tau_asym _ _ Y).
      destruct X as [X|[X|X]]; [now apply tau_rf|now apply tau_rb|now apply tau_mo]. }
  eapply t_trans; [|exact K3]. eapply ct_rt; eauto.
Qed.
End Split.
End Order.
End Lemma6.
