(* Lemma 6 (4) with store buffers: the cycle is in trace(sigma). *)
Require Import List Arith Lia Classical Relations Setoid.
From RR Require Import Model Hardware Orders Rules Traces Lemma6 StoreModel StoreRules StoreTraces StoreLemma2 StoreLemma6.

Section Cycle.
Context {U : events} {hw : hardware} {OK : tso_ok hw} {P : program} {T : trace} {m : ev} {tau : relation ev}.
Context {Piv : pivot_tso hw P T m tau} {L : relation ev} {Sco : sc_order_of (Tt' T m tau) L}.
Context {B : ev -> Prop} {Spl : split_tso hw T m tau L B}.
Notation E' := (without (E T) m).
Notation T' := (Tt' T m tau).
Notation sigma := (sigma m L B).
Notation Ts := (tr_tso (E T) sigma).

Let Ciii : forall b, B b -> E' b /\ tau m b := st_iii.
Let HL : forall a b, sc1 T' a b -> L a b := so_sc.

Let Wt : wft Ts := tWs.
Let Em : E T m := tEm.

Lemma mo_Ts a b : E T a -> E T b -> wr a -> wr b -> loc a = loc b -> sigma a b -> mo Ts a b.
Proof. repeat split; auto. Qed.
Lemma mo_T'_Ts a b : mo T' a b -> mo Ts a b.
Proof.
  intros H. pose proof (HL _ _ (sc_mo _ _ _ H)) as K. destruct (t_mo _ tWT' _ _ H) as (Ea & Eb & Wa & Wb & Lo).
  apply mo_Ts; auto; [apply Ea|apply Eb|]. apply writes_s; auto. apply conflict_intro; auto.
  intros ->. exact (tL_irr _ K).
Qed.

(* Lemma 6 (4) *)
Theorem lemma_6_4_tso a b : sc1 T' a b -> clos_trans ev (sc1 Ts) a b.
Proof.
  intros H. pose proof (HL _ _ H) as Lab. destruct H as [(Ea & Eb & H)|H|(N & u & H & K)|H].
  - apply t_step, sc_po. split; [apply Ea|split; [apply Eb|auto]].
  - destruct (six_2c_tso _ _ H) as [X|X]; [apply t_step; now apply sc_rf|].
    destruct (rf_m_in b X) as ((_ & _ & Wm & _ & Lo & _ & Q) & Bb & Eb).
    destruct (t_rf _ tWT' _ _ H) as ((Ea & Na) & _ & Wa & _ & La).
    apply t_trans with m; apply t_step; [apply sc_mo|now apply sc_rf].
    apply mo_Ts; auto; [congruence|]. apply ts_am; auto. intros Ba.
    assert (sigma a b) as Y by (apply ts_same; auto; [apply Eb|tauto]).
    destruct (Q a Ea Wa La Y) as [|Z]; [auto|]. apply ts_am in Z; auto.
  - destruct (t_rf _ tWT' _ _ H) as ((Eu & Nu) & (Ea & Na) & Wu & Ra & La).
    destruct (t_mo _ tWT' _ _ K) as (_ & (Eb & Nb) & _ & Wb & Lb).
    apply t_step, sc_rb. split; [auto|].
    destruct (six_2c_tso _ _ H) as [X|X]; [exists u; split; [auto|now apply mo_T'_Ts]|].
    destruct (rf_m_in a X) as ((_ & _ & Wm & _ & Lo & _) & Ba & Ea').
    exists m. split; [auto|]. apply mo_Ts; auto; [congruence|]. apply ts_mb; auto.
    apply NNPP; intros NBb. assert (E' b) as Eb' by (split; auto).
    assert (conflict b a) as C by (apply conflict_intro; auto; congruence).
    destruct (st_ii b a Eb' Ea' NBb Ba C) as [Y|(v & _ & (_ & _ & Y) & _)].
    + exact (tL_asym _ _ Lab Y).
    + unfold wr in Wb. rewrite Y in Wb. destruct Wb.
  - apply t_step, sc_mo. now apply mo_T'_Ts.
Qed.
Lemma lemma_6_4_path a b : clos_trans ev (sc1 T') a b -> clos_trans ev (sc1 Ts) a b.
Proof. induction 1 as [a b H|]; [now apply lemma_6_4_tso|eapply t_trans; eauto]. Qed.
Lemma off_m_tso e x : clos_refl_trans ev (off (sc1 T) m) e x -> clos_refl_trans ev (sc1 Ts) e x.
Proof.
  induction 1 as [a b (H & Na & Nb)|a|a b c _ IH _ IH']; [|apply rt_refl|eapply rt_trans; eauto].
  pose proof (lemma_6_4_tso a b (lemma_2_3_tso a b H Na Nb)) as J. clear -J.
  induction J; [now apply rt_step|eapply rt_trans; eauto].
Qed.

(* the edge by which the cycle comes back to m *)
Lemma into_m x : sc1 T x m -> x <> m -> sc1 Ts x m.
Proof.
  intros H Nx. assert (tau x m -> sigma x m) as K.
  { intros H0. apply ts_am; auto. intros Bx. apply (tt_asym _ _ H0). now apply Ciii. }
  destruct H as [H|H|R|H].
  - now apply sc_po.
  - apply sc_rf. now apply m_source.
  - pose proof (K (tt_rb _ _ R)) as Sx. destruct R as (N & u & H & Mo).
    apply sc_rb. split; [auto|]. exists u. destruct (t_mo _ tWT _ _ Mo) as (Eu & _ & Wu & Wm & Lu).
    assert (u <> m) as Nu by (intros ->; exact (t_mo_irr _ tWT _ Mo)).
    split.
    + destruct (six_2c_tso _ _ (trf_T_T' _ _ H Nu Nx)) as [X|X]; [auto|].
      destruct (rf_m_in x X) as (_ & Bx & _). apply ts_am in Sx; tauto.
    + apply mo_Ts; auto. apply ts_am; auto. intros Bu.
      apply (tt_asym _ _ (tt_mo _ _ Mo)). now apply Ciii.
  - apply sc_mo. destruct (t_mo _ tWT _ _ H) as (Ex & _ & Wx & Wm & Lx).
    apply mo_Ts; auto. apply K, tt_mo, H.
Qed.

(* m leads to what conflicts with it in B *)
Lemma m_to b : B b -> conflict m b -> clos_trans ev (sc1 Ts) m b.
Proof.
  intros Bb (Am & Ab & Wab & Lo & N). destruct (Ciii b Bb) as ((Eb & Nb) & _).
  assert (sigma m b) as Smb by (now apply ts_mb).
  destruct (classic (wr m)) as [Wm|NWm].
  - destruct (classic (wr b)) as [Wb|NWb]; [apply t_step, sc_mo, mo_Ts; auto|].
    assert (rd b) as Rb by tauto. destruct (t_rf_ex _ Wt b Eb Rb) as (u & H).
    destruct (t_rf _ Wt _ _ H) as (Eu & _ & Wu & _ & Lu).
    destruct (classic (u = m)) as [->|Nu]; [apply t_step; now apply sc_rf|].
    apply t_trans with u; apply t_step; [|now apply sc_rf].
    apply sc_mo, mo_Ts; auto; [congruence|].
    destruct (rf_cases _ _ _ _ H) as [((_ & _ & _ & _ & X) & _)|X]; [eapply ts_trans; eauto|].
    destruct X as (_ & _ & _ & _ & _ & _ & X). destruct (X m Em Wm Lo Smb) as [|K]; [congruence|exact K].
  - assert (rd m) as Rm by tauto. assert (wr b) as Wb by tauto.
    destruct (t_rf_ex _ Wt m Em Rm) as (u & H). destruct (t_rf _ Wt _ _ H) as (Eu & _ & Wu & _ & Lu).
    apply t_step, sc_rb. split; [auto|]. exists u. split; [auto|]. apply mo_Ts; auto; [congruence|].
    destruct (rf_cases _ _ _ _ H) as [(X & _)|X]; [destruct (m_waits_s _ X)|].
    eapply ts_trans; [apply X|auto].
Qed.

(* the cycle m, e, ..., x, m *)
Lemma rest_tso e x : clos_refl_trans ev (off (sc1 T) m) e x -> sc1 T x m -> x <> m ->
  clos_trans ev (sc1 Ts) m e -> clos_trans ev (sc1 Ts) m m.
Proof.
  intros Hex Hxm Nx K. eapply t_trans; [|apply t_step; exact (into_m x Hxm Nx)].
  eapply ct_rt; [exact K|now apply off_m_tso].
Qed.
End Cycle.
