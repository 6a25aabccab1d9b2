(* Theorem 7 of docs/theory-crowds.md, fewer threads: where events are left out of a trace and every read of a write that
   is gone reads the last one before it that is left, ob does not grow, and conflicts among what is left are ordered as
   before. *)
Require Import List Arith Classical Relations.
Import ListNotations.
From RR Require Import Model Orders Cells Traces.

Section Fewer.
Context {U : events} (hw : hardware).
Variables (T : trace) (kept : ev -> Prop).
Hypotheses (W : wft T) (sub : forall e, kept e -> E T e) (WE : wfE kept).

(* r reads the last of the writes that are left and not after the one it has read *)
Definition until w u := w = u \/ mo T w u.
Definition rf_left w r := kept w /\ kept r /\ wr w /\ rd r /\ loc w = loc r /\ exists u, rf T u r /\ until w u /\
  forall w', kept w' -> wr w' -> loc w' = loc r -> until w' u -> until w' w.
Definition fewer : trace := {| E := kept; rf := rf_left; mo := fun a b => kept a /\ kept b /\ mo T a b;
                               nfo := fun a b => kept a /\ kept b /\ nfo T a b |}.

Lemma init_wr i : knd i = Init -> wr i.
Proof. unfold wr. now intros ->. Qed.

Lemma source r : kept r -> rd r -> exists w, rf_left w r.
Proof.
  intros Hr R. destruct (t_rf_ex T W r (sub r Hr) R) as (u & Hu). pose proof (t_rf T W u r Hu) as (Eu & _ & Wu & _ & Lu).
  destruct (wf_fin kept WE) as (l & Hl).
  assert (spo (mo T)) as S by (split; [exact (t_mo_irr T W)|exact (t_mo_trans T W)]).
  destruct (max_elem l (fun w => kept w /\ wr w /\ loc w = loc r /\
    until w u) (mo T) S) as (w & (Kw & Ww & Lw & Uw) & Mx).
  - intros a (Ka & _). auto.
  - destruct (wf_init kept WE r Hr R) as (i & Ki & Ii & Li). exists i. split; [auto|]. split; [now apply init_wr|].
    split; [auto|].
    destruct (t_mo_total T W i u) as [Q|[Q|Q]]; auto; [now apply init_wr|congruence|now left|now right|].
    destruct (t_mo_init T W u i Q Ii).
  - exists w. repeat split; auto. exists u. split; [auto|]. split; [auto|]. intros w' K' W' L' U'.
    destruct (t_mo_total T W w' w) as [Q|[Q|Q]]; auto; [congruence|now left|now right|].
    destruct (Mx w' (conj K' (conj W' (conj L' U'))) Q).
Qed.
Lemma source_one w w' r : rf_left w r -> rf_left w' r -> w = w'.
Proof.
  intros (K1 & _ & W1 & _ & L1 & u & R1 & U1 & M1) (K2 & _ & W2 & _ & L2 & u' & R2 & U2 & M2).
  assert (u = u') as <- by exact (t_rf_fun T W u u' r R1 R2).
  destruct (M1 w' K2 W2 L2 U2) as [Q|Q]; [auto|]. destruct (M2 w K1 W1 L1 U1) as [Q'|Q']; [auto|].
  destruct (t_mo_irr T W w). now apply (t_mo_trans T W w w' w).
Qed.
Lemma fewer_wft : wft fewer.
Proof.
  constructor; simpl.
  - exact WE.
  - intros w r (K1 & K2 & W1 & R1 & L & _). auto.
  - exact source.
  - exact source_one.
  - intros a b (Ka & Kb & H). destruct (t_mo T W a b H) as (_ & _ & Q). tauto.
  - intros a (_ & _ & H). exact (t_mo_irr T W a H).
  - intros a b c (Ka & _ & H) (_ & Kc & H'). split; [auto|split; [auto|]]. now apply (t_mo_trans T W a b c).
  - intros a b Ka Kb Wa Wb L. destruct (t_mo_total T W a b) as [Q|[Q|Q]]; auto.
  - intros a b (_ & _ & H). exact (t_mo_init T W a b H).
  - intros a b (Ka & Kb & H). destruct (t_nfo T W a b H) as (_ & _ & Q). tauto.
  - intros a b (_ & _ & H) (_ & _ & H'). exact (t_nfo_asym T W a b H H').
  - intros a b Ka Kb N. destruct (t_nfo_total T W a b); auto.
Qed.

(* ob has not grown *)
Notation ib := (ib hw).
Notation ob := (ob hw).
Lemma on_sub R a b : on fewer R a b -> on T R a b.
Proof. intros (Ka & Kb & H). split; [|split]; auto. Qed.
Lemma until_ob w u : until w u -> w = u \/ ob T w u.
Proof. intros [->|H]; [auto|right; now apply t_step, ob_mo]. Qed.
Lemma rb_left r w : rb fewer r w -> rb T r w.
Proof.
  intros (N & v & (Kv & Kr & Wv & Rr & Lv & u & Ru & Uv & Mv) & (_ & Kw & H)). split; [auto|]. exists u. split; [auto|].
  destruct (t_mo T W v w H) as (_ & Ew & _ & Ww & Lw). pose proof (t_rf T W u r Ru) as (Eu & _ & Wu & _ & Lu).
  destruct (t_mo_total T W u w) as [Q|[Q|Q]]; auto; [congruence| |].
  - exfalso. subst w. destruct (Mv u Kw Wu Lu (or_introl eq_refl)) as [Q|Q]; [subst; exact (t_mo_irr T W _ H)|].
    exact (t_mo_irr T W _ (t_mo_trans T W _ _ _ H Q)).
  - exfalso. assert (loc w = loc r) as Lr by congruence.
    destruct (Mv w Kw Ww Lr (or_intror Q)) as [Z|Z]; [subst; exact (t_mo_irr T W _ H)|].
    exact (t_mo_irr T W _ (t_mo_trans T W _ _ _ H Z)).
Qed.
(* Threads are left out as a whole, so a read of its own thread's store keeps it. *)
Hypothesis whole : forall a b, kept a -> noninit a -> E T b -> noninit b -> thr a = thr b -> kept b.
Lemma rf_kept w r : rf_left w r -> rf T w r \/ exists u, mo T w u /\ rf T u r /\ ~ own hw u r.
Proof.
  intros (Kw & Kr & Ww & Rr & L & u & Ru & Uw & Mx). destruct Uw as [->|Mw]; [now left|]. right. exists u.
    split; [auto|]. split; [auto|].
  intros O. pose proof (own_facts hw u r O) as (Nu & Nr & Wu & _). pose proof (t_rf T W u r Ru) as (Eu & _ & _ & _ & Lu).
  assert (kept u) as Ku by (apply (whole r u Kr Nr Eu Nu); destruct O as (Q & _); auto).
  destruct (Mx u Ku Wu Lu (or_introl eq_refl)) as [->|Z]; [exact (t_mo_irr T W _ Mw)|].
  exact (t_mo_irr T W w (t_mo_trans T W w u w Mw Z)).
Qed.
(* a path of ib is one of before, or leads by a write and a read of it that is new *)
Lemma ib_left a b : ib fewer a b -> ib T a b \/
  exists w r, (a = w \/ ib T a w) /\ ob T w r /\ (r = b \/ ob T r b).
Proof.
  intros H. apply clos_trans_t1n in H.
  assert (forall a c, ib1 hw fewer a c -> ib T a c \/ (rd c /\ ob T a c)) as One.
  { clear a b H. intros a c [H|H|H|H O|(F & H)].
    - left. now apply t_step, ib_ippo, on_sub.
    - left. now apply t_step, ib_pf, on_sub.
    - destruct (rf_kept a c H) as [Z|(u & M & Z & N)]; [left; now apply t_step, ib_rf|right]. split; [apply H|].
      eapply t_trans; [apply t_step, ob_mo; exact M|now apply t_step, ob_rf].
    - left. apply t_step, ib_rbb; [now apply rb_left|auto].
    - left. apply t_step, ib_nfo. split; [auto|apply H]. }
  induction H as [a b H|a c b H _ IH].
  - destruct (One a b H) as [Z|(_ & Z)]; [now left|right]. exists a, b. auto.
  - destruct (One a c H) as [Z|(Rc & Z)].
    + destruct IH as [IH|(w & r & Hw & Ho & Hr)]; [left; eapply t_trans; eauto|right].
      exists w, r. split; [|auto]. right. destruct Hw as [->|Hw]; [auto|eapply t_trans; eauto].
    + right. exists a, c. split; [auto|]. split; [auto|]. right. pose proof (rd_inst hw c Rc) as I.
      destruct IH as [IH|(w & r & Hw & Ho & Hr)]; [now apply t_step, ob_ib|].
      assert (ob T c r) as Q.
      { destruct Hw as [->|Hw]; [auto|]. eapply t_trans; [apply t_step, ob_ib; [exact I|exact Hw]|exact Ho]. }
      destruct Hr as [->|Hr]; [auto|eapply t_trans; eauto].
Qed.
Lemma ob_left a b : ob fewer a b -> ob T a b.
Proof.
  induction 1 as [a b H|a c b _ IH _ IH']; [|eapply t_trans; eauto].
  destruct H as [H|H Kn|x H H' S|H N|(F & H)|H|H|I H].
  - now apply t_step, ob_oppo, on_sub.
  - apply t_step, ob_pf; [now apply on_sub|auto].
  - apply t_step, ob_post with x; [now apply on_sub|now apply on_sub|auto].
  - destruct (rf_kept a b H) as [Z|(u & M & Z & Nu)]; [now apply t_step, ob_rf|].
    eapply t_trans; [apply t_step, ob_mo; exact M|now apply t_step, ob_rf].
  - apply t_step, ob_nfo. split; [auto|apply H].
  - now apply t_step, ob_rb, rb_left.
  - apply t_step, ob_mo, H.
  - destruct (ib_left a b H) as [Q|(w & r & Hw & Ho & Hr)]; [now apply t_step, ob_ib|].
    assert (ob T a r) as Q.
    { destruct Hw as [->|Hw]; [auto|]. eapply t_trans; [apply t_step, ob_ib; [exact I|exact Hw]|exact Ho]. }
    destruct Hr as [->|Hr]; [auto|eapply t_trans; eauto].
Qed.
Theorem fewer_consistent : rdma_consistent hw T -> rdma_consistent hw fewer.
Proof. intros C a H. exact (C a (ob_left a a H)). Qed.

(* the order of conflicts *)
Definition before a b := E T a /\ E T b /\ ((wr a /\ mo T a b) \/ (exists u, rf T u b /\ wr a /\ loc a = loc b /\
  until a u) \/
  rb T a b).
Lemma before_left a b : kept a -> kept b -> before a b -> sc fewer a b.
Proof.
  intros Ka Kb (_ & _ & [(_ & H)|[(u & Hu & Wa & La & Ua)|(N & u & Hu & H)]]).
  - apply t_step, sc_mo. simpl. auto.
  - assert (rd b) as Rb by (apply (t_rf T W u b Hu)). destruct (source b Kb Rb) as (v & Hv).
    pose proof Hv as (Kv & _ & _ & _ & _ & u' & Hu' & _ & Mx). assert (u' = u) as -> by exact (t_rf_fun T W _ _ _ Hu' Hu).
    destruct (Mx a Ka Wa La Ua) as [->|Q]; [now apply t_step, sc_rf|].
    eapply t_trans; [apply t_step, sc_mo|apply t_step, sc_rf; exact Hv]. simpl. auto.
  - assert (rd a) as Ra by (apply (t_rf T W u a Hu)). destruct (source a Ka Ra) as (v & Hv).
    pose proof Hv as (Kv & _ & _ & _ & _ & u' & Hu' & Uv & _). assert (u' = u) as -> by exact (t_rf_fun T W _ _ _ Hu' Hu).
    apply t_step, sc_rb. split; [auto|]. exists v. split; [exact Hv|]. simpl. split; [auto|split; [auto|]].
    destruct Uv as [->|Q]; [auto|now apply (t_mo_trans T W v u b)].
Qed.
Lemma before_conflict a b : a <> b -> before a b -> conflict a b.
Proof.
  intros N B. unfold conflict. destruct B as (Ea & Eb & [(Wa & H)|[(u & Hu & Wa & La & Ua)|(_ & u & Hu & H)]]).
  - destruct (t_mo T W a b H) as (_ & _ & _ & Wb & L). tauto.
  - destruct (t_rf T W u b Hu) as (_ & _ & _ & Rb & _). tauto.
  - destruct (t_rf T W u a Hu) as (_ & _ & _ & Ra & L). destruct (t_mo T W u b H) as (_ & _ & _ & Wb & L').
    assert (loc a = loc b) by congruence. tauto.
Qed.
Lemma conflict_before a b : E T a -> E T b -> conflict a b -> before a b \/ before b a.
Proof.
  assert (forall a b, E T a -> E T b -> wr a -> (wr b \/ rd b) -> loc a = loc b -> a <> b ->
    before a b \/ before b a) as H.
  { clear a b. intros a b Ea Eb Wa [Wb|Rb] L N; unfold before.
    - destruct (t_mo_total T W a b) as [Q|[Q|Q]]; auto; tauto.
    - destruct (t_rf_ex T W b Eb Rb) as (u & Hu). pose proof (t_rf T W u b Hu) as (Eu & _ & Wu & _ & Lu).
      destruct (t_mo_total T W a u) as [Q|[Q|Q]]; auto; [congruence| | |].
      + left. split; [auto|split; [auto|]]. right; left. exists u. repeat split; auto. now left.
      + left. split; [auto|split; [auto|]]. right; left. exists u. repeat split; auto. now right.
      + right. split; [auto|split; [auto|]]. right; right. split; [auto|]. exists u. auto. }
  intros Ea Eb (A & B & [Wa|Wb] & L & N); [now apply H|]. destruct (H b a); auto; tauto.
Qed.
Lemma sc_before a b : sc1 T a b -> on T po a b \/ before a b.
Proof.
  intros [H|H|H|H]; auto; right; unfold before.
  - destruct (t_rf T W a b H) as (Ea & Eb & Wa & _ & L). split; [auto|split; [auto|]]. right; left. exists a.
    repeat split; auto. now left.
  - pose proof H as (_ & u & Hu & Hm). destruct (t_rf T W u a Hu) as (_ & Ea & _).
    destruct (t_mo T W u b Hm) as (_ & Eb & _). tauto.
  - destruct (t_mo T W a b H) as (Ea & Eb & Wa & _). tauto.
Qed.

(* Without compare-and-swap conflicts are ordered without cycles,
   whatever is consistent: a write is at its place of mo, a read
   behind the write that it reads. *)
Hypothesis no_cas : forall e, E T e -> knd e <> CAS.
Definition placed e u i := (wr e /\ u = e /\ i = 0) \/ (rd e /\ rf T u e /\ i = 1).
Definition sooner u i v j := mo T u v \/ (u = v /\ i < j).
Lemma one_of e : E T e -> rd e -> wr e -> False.
Proof. intros H. pose proof (no_cas e H). unfold rd, wr. destruct (knd e); simpl; tauto. Qed.
Lemma before_sooner a b u i v j : before a b -> placed a u i -> placed b v j -> sooner u i v j.
Proof.
  intros (Ea & Eb & B) Pa Pb. pose proof (one_of a Ea) as Oa. pose proof (one_of b Eb) as Ob. unfold placed, sooner in *.
  destruct B as [(Wa & H)|[(x & Hx & Wa & _ & Ux)|(_ & x & Hx & H)]].
  - destruct (t_mo T W a b H) as (_ & _ & _ & Wb & _). destruct Pa as [(_ & -> & ->)|(Ra & _)]; [|tauto].
    destruct Pb as [(_ & -> & ->)|(Rb & _)]; tauto.
  - destruct (t_rf T W x b Hx) as (_ & _ & _ & Rb & _). destruct Pa as [(_ & -> & ->)|(Ra & _)]; [|tauto].
    destruct Pb as [(Wb & _)|(_ & Hv & ->)]; [tauto|]. rewrite (t_rf_fun T W v x b Hv Hx). destruct Ux as [->|Ux]; auto.
  - destruct (t_rf T W x a Hx) as (_ & _ & _ & Ra & _). destruct (t_mo T W x b H) as (_ & _ & _ & Wb & _).
    destruct Pa as [(Wa & _)|(_ & Hu & ->)]; [tauto|]. destruct Pb as [(_ & -> & ->)|(Rb & _)]; [|tauto].
    rewrite (t_rf_fun T W u x a Hu Hx). auto.
Qed.
Lemma before_placed a b : before a b -> (exists u i, placed a u i) /\ exists v j, placed b v j.
Proof.
  intros (Ea & Eb & [(Wa & H)|[(x & Hx & Wa & _)|(_ & x & Hx & H)]]); unfold placed.
  - destruct (t_mo T W a b H) as (_ & _ & _ & Wb & _). split; [exists a, 0; auto|exists b, 0; auto].
  - destruct (t_rf T W x b Hx) as (_ & _ & _ & Rb & _). split; [exists a, 0; auto|exists x, 1; auto].
  - destruct (t_rf T W x a Hx) as (_ & _ & _ & Ra & _). destruct (t_mo T W x b H) as (_ & _ & _ & Wb & _).
    split; [exists x, 1; auto|exists b, 0; auto].
Qed.
Lemma path_sooner a b : clos_trans ev before a b -> (exists u i, placed a u i) /\
  forall u i v j, placed a u i -> placed b v j -> sooner u i v j.
Proof.
  induction 1 as [a b B|a c b _ (P1 & IH1) _ (P2 & IH2)].
  - split; [apply (before_placed a b B)|]. intros u i v j. now apply before_sooner.
  - split; [auto|]. intros u i v j Pa Pb. destruct P2 as (w & k & Pc). specialize (IH1 u i w k Pa Pc).
    specialize (IH2 w k v j Pc Pb). unfold sooner in *. destruct IH1 as [X|(-> & X)], IH2 as [Y|(-> & Y)]; auto.
    + left. now apply (t_mo_trans T W u w v).
    + right. split; [auto|]. now apply Nat.lt_trans with k.
Qed.
Theorem before_acyclic a : ~ clos_trans ev before a a.
Proof.
  intros H. destruct (path_sooner a a H) as ((u & i & Pa) & S). destruct (S u i u i Pa Pa) as [Z|(_ & Z)].
  - exact (t_mo_irr T W u Z).
  - exact (Nat.lt_irrefl i Z).
Qed.

End Fewer.
