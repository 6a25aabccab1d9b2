(* L, the parts A and B, and the order sigma: A, the pivot, B.  A and B may be split in any way that keeps (i) to (iv). *)
Require Import List Arith Lia Classical Relations Setoid.
From RR Require Import Model Hardware Orders Cells Stores Rules Traces Lemma2.

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

(* A in the order L, then m, then B in the order L *)
Definition sigma {U : events} (m : ev) (L : relation ev) (B : ev -> Prop) := lex B (lex (fun x => x = m) L).

(* what depends on m in T: a read of m, and what takes or carries the value of such an event *)
Inductive dep {U : events} (T : trace) (m : ev) : ev -> Prop :=
| dep_m r : rf T m r -> dep T m r
| dep_rf w r : rf T w r -> dep T m w -> dep T m r
| dep_carry r w : E T w -> carry r w -> dep T m r -> dep T m w.
Arguments dep_m {U T m}.
Arguments dep_rf {U T m}.
Arguments dep_carry {U T m}.

Section Parts.
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

Lemma L_irr a : ~ L a a. Proof. apply SL. Qed.
Lemma L_trans a b c : L a b -> L b c -> L a c. Proof. apply SL. Qed.
Lemma L_asym a b : L a b -> ~ L b a. Proof. apply (sto_asym _ _ _ _ SL). Qed.
Lemma T'_rf w r : rf T' w r <-> rf_in E' L w r.
Proof.
  apply same_rf; auto using WT'; intros; apply HL; [now apply sc_rf|now apply sc_rb|now apply sc_mo].
Qed.
Lemma L_po a b : E' a -> E' b -> po a b -> L a b.
Proof. intros Ea Eb H. apply HL, sc_po. repeat split; auto; try apply Ea; apply Eb. Qed.


Section Split.
Context {B : ev -> Prop} {Spl : split hw T m tau L B}.
Let C1 : R1 hw (E T) B := sp_i_R1.
Let C2 : R2 hw (E T) B := sp_i_R2.
Let C3 : R3 hw (E T) B := sp_i_R3.
Let Ciii : forall b, B b -> E' b /\ tau m b := sp_iii.
Let Civ : forall w, E' w -> wr w -> loc w = loc m -> tau m w -> B w := sp_iv.
Notation sigma := (sigma m L B).
Notation Ts := (trace_by hw (E T) sigma).

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
(* what is backward in L is so between A and B *)
Lemma s_back a b : a <> m -> b <> m -> L b a -> ~ L a b -> sigma a b -> ~ B a /\ B b.
Proof. intros Na Nb H H' K. unfold sigma, lex in K. tauto. Qed.

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
  apply s_same; auto. apply L_po; auto; split; auto.
Qed.
Lemma s_ob a b : ob1 hw Ts a b -> sigma a b.
Proof.
  apply (rules_if hw (E T) sigma B W Ss); auto.
  - intros; now apply s_split.
  - apply s_po.
Qed.
Lemma Ws : wft Ts.
Proof. apply trace_by_wft; auto using WE, Ss, Is. Qed.

End Split.
End Order.
End Parts.
