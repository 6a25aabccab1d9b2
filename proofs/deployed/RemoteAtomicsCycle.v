(* Remote atomics: an sc cycle of T through the vertex of the pivot is one of alpha, pivot, beta, whatever flips (M1, M5). *)
Require Import List Arith Lia Classical Relations.
From RR Require Import Orders RemoteAtomicsModel RemoteAtomicsRules RemoteAtomicsValues RemoteAtomicsTraces
  RemoteAtomicsBase RemoteAtomicsPivot
  RemoteAtomicsExecuted.

Section Cycle.
Context {U : slots} {ord : order} {P : program} {S l : ev -> Prop} {tau : relation ev} {m pr : ev} {S' l' : ev -> Prop}.
Context {G : setting ord P S l tau m pr S' l'}.
Context {sig : relation ev} {lX : ev -> Prop}.
Definition none (x : ev) := False.
Context {A : arranged ord S l tau m pr S' l' sig lX none}.
Let M := M m pr.
Let rfT := rf_in S l tau.
Let T := tr S l tau.
Let X := tr S lX sig.

Local Notation WS := (wS).
Local Notation TT := (tt _ _ _).
Local Notation TA := (ta _ _).

Lemma rep_rep a : rep (rep a) = rep a.
Proof. destruct (rep_spec (rep a)) as [(K & _)|(_ & ->)]; auto. destruct (rep_nar a K). Qed.
Lemma rep_src_cond x : cond x -> rep (src x) = rep x.
Proof.
  intros C. destruct (rep_spec x) as [(K & -> & _ & Ks)|(K & ->)].
  - destruct (rep_spec (src x)) as [(K' & _)|(_ & ->)]; congruence.
  - unfold cond in C. destruct (knd x) eqn:Kx; simpl in C; try tauto. rewrite (src_na x Kx).
    destruct (rep_spec x) as [(K' & _)|(_ & ->)]; congruence.
Qed.
Lemma src_le x : S x -> cond x -> src x = x \/ tau (src x) x.
Proof.
  intros Sx C. destruct (cond_cases x C) as [N|]; auto. right. now apply src_before.
Qed.
Lemma early x : S x -> M x \/ tau x m -> cond x -> ~ depr rfT m (src x).
Proof.
  intros Sx H C D. pose proof (depr_after m _ D) as Y.
  assert (tau m x) as Z. { destruct (src_le x Sx C) as [Q|Q]; [now rewrite Q in Y|exact (TT Y Q)]. }
  destruct H as [H|H]; [|exact (TA Z H)].
  destruct (M_le x H) as [->|H']; [exact (ti _ Z)|exact (TA Z H')].
Qed.
Lemma clean_X x : S x -> cond x -> ~ depr rfT m (src x) -> (l x <-> lX x) /\ (S' x -> (l x <-> l' x)).
Proof.
  intros Sx C D.
  assert (lY (l:=l) (m:=m) (pr:=pr) (l':=l') x <-> lX x) as H.
  { apply (X_live); auto. intros Y. apply D.
    exact (poison_r _ Y). }
  assert (S' x -> (l x <-> l' x)) as H' by (intros Sx'; apply (T'_live); auto).
  split; auto. rewrite <- H. unfold lY. destruct (M_or_S' x Sx) as [Mx|Sx']; [unfold M in *; tauto|].
  pose proof (not_M x Sx'). specialize (H' Sx'). tauto.
Qed.
Lemma wrX_early x : S x -> M x \/ tau x m -> wr l x -> wr lX x.
Proof. intros Sx H (Ix & Cx). split; auto. intros C. apply (clean_X x Sx C (early x Sx H C)). auto. Qed.

Definition good e := S' e /\ (rd e \/ (wr l' e /\ wr lX e)).
Lemma internal_w e a : is_w (knd a) -> ~ (knd e = NAW /\ src e = a).
Proof. intros I (K & Q). destruct (naw_facts e K) as (_ & _ & Y & _). rewrite Q in Y. rewrite Y in I. destruct I. Qed.
Lemma joinX a b : S a -> S b -> conflict lX a b -> sig a b -> ~ (knd b = NAW /\ src b = a) -> sc X (rep a) (rep b).
Proof. intros. apply join; auto; [exact WS|apply (s_sto)|apply (s_init)]. Qed.

(* what depends on m is reached from m, also where the write itself does not happen: then by the write that its naR has
  read *)
Lemma reached d : dep rfT m d -> S d -> wr l d -> forall e, good e -> loc e = loc d -> tau d e -> sc X (rep m) (rep e).
Proof.
  intros D; induction D as [|w d C R D IH]; intros Sd Wd e (Se & Ge) Le H.
  - pose proof (in_S e Se) as Se0.
    assert (wr lX m) as Wm by (apply wrX_early; auto; left; left; auto).
    apply joinX; auto.
    + unfold conflict. split; auto. split; [tauto|]. split; auto. split; auto. intros Q. rewrite <- Q in H. exact (ti _ H).
    + apply s_M0; auto; [left; left; auto|]. apply touch_l; auto. unfold acc. destruct Ge as [|((Ie & _) & _)]; auto.
    + apply internal_w. apply Wm.
  - assert (tau m (src w)) as Hr by (apply (depr_after); exists d; auto).
    assert (S (src w)) as Sr by apply R.
    assert (S' (src w)) as Sr' by (apply (after_S'); auto).
    pose proof R as (Sd' & _ & Wd' & Rr & Lr & Htr & _).
    assert (sc X (rep m) (rep (src w))) as H1 by (apply IH; auto; split; auto).
    assert (src w = w \/ tau (src w) w) as Hw.
    { destruct (classic (fed w)) as [N|N]; [right; now apply src_before|].
      destruct C as [C|C]; [tauto|]. now apply src_le. }
    assert (tau m w) as Hmw by (destruct Hw as [Q|Q]; [now rewrite Q in Hr|exact (TT Hr Q)]).
    assert (S' w) as Sw' by (apply (after_S'); auto).
    destruct (classic (wr l' w /\ wr lX w)) as [(W1 & W2)|NW].
    + assert (sc X (rep m) (rep w)) as H2.
      { destruct (classic (cond w)) as [Cw|Cw]; [now rewrite <- (rep_src_cond w Cw)|].
        assert (fed w) as N by tauto.
        destruct (po_scv X (src w) w) as [Q|V]; auto; [exact WS|now apply src_ok|now rewrite <- Q|].
        eapply t_trans; [exact H1|now apply t_step]. }
      eapply t_trans; [exact H2|].
      assert (loc w = loc e) as Le' by congruence.
      assert (w <> e) as N by (intros ->; exact (ti _ H)).
      apply joinX; auto; [now apply (in_S)| | |apply internal_w; apply W2].
      * unfold conflict. tauto.
      * apply (s_conf); auto. unfold conflict. tauto.
    + assert (cond w) as Cw. { apply NNPP. intros Cw. apply NW. destruct Wd as (Iw & _). split; split; tauto. }
      destruct (cond_rd w Cw) as (_ & Lw & _).
      apply IH; auto; [split; auto|congruence|]. apply (TT Htr). destruct Hw as [Q|Q]; [now rewrite Q|exact (TT Q H)].
Qed.

(* a write that flips belongs to a vertex that is reached *)
Lemma flipped b : S' b -> wr l b -> ~ (wr l' b /\ wr lX b) -> dep rfT m b /\ sc X (rep m) (rep b).
Proof.
  intros Sb (Ib & Cb) N. pose proof (in_S b Sb) as Sb0.
  assert (cond b) as C. { apply NNPP. intros C. apply N. split; split; tauto. }
  assert (depr rfT m (src b)) as Dr.
  { apply NNPP. intros D. apply N. destruct (clean_X b Sb0 C D) as (H1 & H2). specialize (H2 Sb). split; split; tauto. }
  pose proof (depr_after m _ Dr) as Hr.
  destruct Dr as (d & R & D). split; [apply dep_src with d; auto|].
  rewrite <- (rep_src_cond b C). pose proof R as (Sd & Sr & Wd & Rr & Lr & Htr & _).
  apply (reached d); auto. split; auto. apply (after_S'); auto.
Qed.

Lemma rep_po_neq a b : po a b -> ~ (knd b = NAW /\ src b = a) -> rep a <> rep b.
Proof.
  intros H N Q. destruct (rep_spec a) as [(Ka & Qa & Pa & _)|(Ka & Qa)], (rep_spec b) as [(Kb & Qb & Pb & _)|(Kb & Qb)];
  rewrite Qa, Qb in Q.
  - rewrite (src_naw a b Ka Kb Q) in H. destruct (po_irr _ H).
  - subst. destruct (po_irr a). eapply po_trans; eauto.
  - apply N. auto.
  - subst. destruct (po_irr _ H).
Qed.

Lemma conf_up k1 k2 a b : conflict k1 a b -> (wr k1 a -> wr k2 a) -> (wr k1 b -> wr k2 b) -> conflict k2 a b.
Proof. unfold conflict. clear. intuition auto. Qed.
Lemma flips_or b : S' b -> (wr l b -> wr l' b /\ wr lX b) \/ (wr l b /\ dep rfT m b /\ sc X (rep m) (rep b)).
Proof.
  intros Sb. destruct (classic (wr l b)) as [Wb|Wb]; [|left; intros Q; destruct (Wb Q)].
  destruct (classic (wr l' b /\ wr lX b)) as [Q|Q]; [left; auto|right]. split; [exact Wb|now apply flipped].
Qed.

Lemma cycle_step x y : scv T x y -> x = rep m \/ sc X (rep m) x -> sc X (rep m) y.
Proof.
  intros (a & b & -> & -> & E1 & N) Hx.
  assert (sc X (rep a) (rep b) -> sc X (rep m) (rep b)) as Go.
  { intros H. destruct Hx as [Q|Hx]; [now rewrite <- Q|eapply t_trans; eauto]. }
  assert (on T po a b \/ (rf_in S l tau a b \/ rb T a b \/ mo_in S l tau a b)) as [((Sa & _) & (Sb & _) & H)|H].
  { destruct E1; auto. }
  - apply Go. destruct (po_scv X a b WS Sa Sb H) as [Q|V]; [destruct (rep_po_neq a b H N Q)|now apply t_step].
  - destruct (eco_conflict S l tau a b g_sto H) as (Sa & Sb & C & Hab). pose proof C as (Aa & Ab & Aw & Lo & Nab).
    assert (forall x, wr l x \/ rd x -> acc x) as Acc by (intros x [Q|Q]; [exact (acc_w x _ Q)|now apply acc_r]).
    assert (touches (S:=S) (l:=l) (m:=m) a b) as Tab by (destruct Aw; [apply touch_l|apply touch_r]; auto).
    destruct (M_or_S' b Sb) as [Mb|Sb'].
    + (* back at the pivot *)
      assert (M a \/ tau a m) as Ha.
      { destruct (M_le b Mb) as [->|Y]; [auto|right; exact (TT Hab Y)]. }
      apply Go, joinX; auto; [|apply s_M0; auto].
      exact (conf_up l lX a b C (wrX_early a Sa Ha) (wrX_early b Sb (or_introl Mb))).
    + destruct (flips_or b Sb') as [Gb|(_ & _ & Hb)]; [|exact Hb].
      assert (good b) as Gb' by (split; [exact Sb'|destruct Ab as [Wb|Rb]; [right; exact (Gb Wb)|left; exact Rb]]).
      assert (wr l b -> wr lX b) as GX by (intros Q; apply (Gb Q)).
      destruct (M_or_S' a Sa) as [Ma|Sa'].
      * apply Go, joinX; auto; [|apply s_M0; auto]. exact (conf_up l lX a b C (wrX_early a Sa (or_introl Ma)) GX).
      * destruct (flips_or a Sa') as [Ga|(Wa & Da & _)]; [|exact (reached a Da Sa Wa b Gb' (eq_sym Lo) Hab)].
        apply Go, joinX; auto.
        -- exact (conf_up l lX a b C (fun Q => proj2 (Ga Q)) GX).
        -- apply s_conf; auto. exact (conf_up l l' a b C (fun Q => proj1 (Ga Q)) (fun Q => proj1 (Gb Q))).
Qed.

Theorem cycle_stays : sc T (rep m) (rep m) -> sc X (rep m) (rep m).
Proof.
  assert (forall y, clos_trans_n1 ev (scv T) (rep m) y -> sc X (rep m) y) as H.
  { intros y H. induction H as [y H|y z H _ IH]; eapply cycle_step; eauto. }
  intros C. apply H. now apply clos_trans_tn1.
Qed.

Theorem executed_violating : sc T (rep m) (rep m) -> violating ord P (tr S lX sig).
Proof.
  intros C. split; [exact (executed_trace)|split].
  - exact (executed_consistent).
  - intros N. exact (N (rep m) (cycle_stays C)).
Qed.

End Cycle.
