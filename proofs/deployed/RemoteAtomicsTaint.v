(* Remote atomics: taint along L finds the cycle (M1, M5), where every RMW acts as in L and its two events are one vertex. *)
Require Import List Arith Lia Classical Relations.
From RR Require Import Orders RemoteAtomicsModel RemoteAtomicsRules RemoteAtomicsValues RemoteAtomicsTraces RemoteAtomicsBase
  RemoteAtomicsPivot RemoteAtomicsExecuted RemoteAtomicsCycle RemoteAtomicsParts RemoteAtomicsForm RemoteAtomicsLeast.

(* S', l', L: the events but the pivot, what they do, and their run; B: beta; m, pr: the pivot; [writes]: whether it writes *)
Section Taint.
Context {U : slots} (S' l' : ev -> Prop) (L : relation ev) (B : ev -> Prop) (m pr : ev) (writes : Prop).
(* e conflicts with a part z of the pivot, where an RMW that writes counts for a naR as well (M3) *)
Definition meets z e := loc e = loc z /\ acc e /\
  (writes \/ wr l' e \/ (knd z = NAR /\ knd e = NAR /\ exists w, S' w /\ knd w = NAW /\ l' w /\ src w = e)).
Inductive tainted : ev -> Prop :=
| t_pivot z e : B e -> M m pr z -> meets z e -> tainted e
| t_po a b : tainted a -> S' b -> po a b -> tainted b
| t_word a b : tainted a -> S' b -> conflict l' a b -> L a b -> tainted b
| t_rmw a b : tainted a -> S' b -> rep a = rep b -> tainted b.
Definition closed := exists x, tainted x /\ (thr x = thr m \/ (~ B x /\ exists z, M m pr z /\ meets z x)).
End Taint.
Lemma meets_iff {U : slots} S' l' (w1 w2 : Prop) z e : (w1 <-> w2) -> (meets S' l' w1 z e <-> meets S' l' w2 z e).
Proof. intros H. unfold meets. rewrite H. tauto. Qed.
Lemma closed_if {U : slots} S' l' L B m pr (w1 w2 : Prop) : (w1 <-> w2) ->
  closed S' l' L B m pr w1 -> closed S' l' L B m pr w2.
Proof.
  intros H (x & T & Hx). exists x. split.
  - clear Hx. induction T as [z e Be Mz Me|a b T IH Sb P|a b T IH Sb C K|a b T IH Sb Q].
    + apply t_pivot with z; auto. now apply (meets_iff S' l' w1).
    + now apply t_po with a.
    + now apply t_word with a.
    + now apply t_rmw with a.
  - destruct Hx as [|(N & z & Mz & Me)]; [auto|right]. split; auto. exists z. split; auto. now apply (meets_iff S' l' w1).
Qed.

Section Found.
Context {U : slots} {ord : order} {P : program} {S l : ev -> Prop} {tau : relation ev} {m pr : ev} {S' l' : ev -> Prop}.
Context {G : setting ord P S l tau m pr S' l'}.
Hypothesis Empty : forall e, S' e -> tau pr e -> ~ tau e m.
Hypothesis Whole : pr = rep m.
Variable L : relation ev.
Context {HL : sc_run (S:=S) (tau:=tau) (S':=S') (l':=l') L}.
Notation back := (behind (S:=S) (l:=l) (tau:=tau) (m:=m) (pr:=pr) (S':=S')).
Variable B : ev -> Prop.
Hypothesis B_after : forall e, B e -> S' e /\ tau m e.
Notation tnt := (tainted S' l' L B m pr (wr l m)).
Notation cls := (closed S' l' L B m pr (wr l m)).
Notation pivot := (M m pr).
Notation rfT := (rf_in S l tau).
Let T := tr S l tau.

Lemma rep_src x : cond x -> rep (src x) = rep x.
Proof. exact (rep_src_cond (S:=S) (l:=l) (tau:=tau) (m:=m) (pr:=pr) x). Qed.
Definition sound e := S' e /\ (rd e \/ wr l' e).
Lemma sound_acc e : sound e -> acc e.
Proof. intros (_ & [R|(I & _)]); [now apply acc_r|now left]. Qed.
Lemma M_loc' z : pivot z -> loc z = loc m.
Proof. intros [->| ->]; auto. destruct (pr_cases (G:=G)) as [(-> & _)|(K & -> & _)]; auto. now apply naw_facts. Qed.
(* what conflicts with a part of the pivot and comes behind it is in beta *)
Section Behind.
Hypothesis B_back : forall e, back e -> B e.
Lemma meeting z e : pivot z -> acc z -> S' e -> tau z e -> loc e = loc z -> acc e ->
  (wr l m \/ wr l' e) -> (wr l m \/ wr l e) -> tnt e.
Proof.
  intros Mz Az Se H Lo Ae W W2. apply t_pivot with z; auto; [|split; auto; split; auto; tauto]. apply B_back. split; auto.
  split; [|exists z; split; auto; split; auto; split; auto; split; auto; tauto].
  destruct (t_tot m e Sm (in_S e Se)) as [Q|[X|X]]; auto; [destruct (S'_M (G:=G) e Se); left; auto|].
  destruct Mz as [->| ->]; [destruct (ta _ _ H X)|destruct (Empty e Se H X)].
Qed.

Lemma reached_taint d : dep rfT m d -> S d -> wr l d -> forall e, sound e -> loc e = loc d -> tau d e -> tnt e.
Proof.
  intros D; induction D as [|w d C R D IH]; intros Sd Wd e He Le H.
  - apply (meeting m); auto; [left; auto|eapply acc_w; eauto|apply He|now apply sound_acc].
  - assert (tau m (src w)) as Hr by (apply depr_after; exists d; auto).
    assert (S (src w)) as Sr by apply R.
    assert (S' (src w)) as Sr' by (apply after_S'; auto).
    pose proof R as (Sd' & _ & Wd' & Rr & Lr & Htr & _).
    assert (tnt (src w)) as H1 by (apply IH; auto; split; auto).
    assert (src w = w \/ tau (src w) w) as Hw.
    { destruct (classic (fed w)) as [N|N]; [right; now apply src_before|]. destruct C as [C|C]; [tauto|]. now apply src_le. }
    assert (tau m w) as Hmw by (destruct Hw as [Q|Q]; [now rewrite Q in Hr|exact (tt _ _ _ Hr Q)]).
    assert (S' w) as Sw' by (apply after_S'; auto).
    destruct (classic (wr l' w)) as [W1|NW].
    + assert (tnt w) as H2.
      { destruct Hw as [Q|_]; [now rewrite Q in H1|]. destruct (classic (fed w)) as [N|N].
        - apply t_po with (src w); auto. now apply src_ok.
        - destruct C as [C|C]; [tauto|]. apply t_rmw with (src w); auto. now apply rep_src. }
      assert (conflict l' w e) as Cf.
      { destruct He as (_ & He). unfold conflict. split; [auto|split; [tauto|split; [auto|split; [congruence|]]]].
        intros ->. exact (ti _ H). }
      apply t_word with w; auto; [apply He|]. apply (L_conf (sc_run:=HL)); auto. apply He.
    + assert (cond w) as Cw. { apply NNPP. intros Cw. apply NW. destruct Wd as (Iw & _). split; tauto. }
      destruct (cond_rd w Cw) as (_ & Lw & _).
      apply IH; auto; [congruence|]. apply (tt _ _ _ Htr). destruct Hw as [Q|Q]; [now rewrite Q|exact (tt _ _ _ Q H)].
Qed.
(* a write of T that L does not have belongs to a vertex that is tainted *)
Lemma missing_taint b : S' b -> wr l b -> ~ wr l' b -> dep rfT m b /\ tnt b.
Proof.
  intros Sb (Ib & Cb) N. pose proof (in_S b Sb) as Sb0.
  assert (cond b) as C. { apply NNPP. intros C. apply N. split; tauto. }
  assert (depr rfT m (src b)) as Dr.
  { apply NNPP. intros D. apply N. split; auto. intros _. apply (T'_live (G:=G) b Sb C D). auto. }
  pose proof (depr_after m _ Dr) as Hr. destruct Dr as (d & R & D). split; [apply dep_src with d; auto|].
  pose proof R as (Sd & Sr & Wd & Rr & Lr & Htr & _).
  apply t_rmw with (src b); auto; [|now apply rep_src].
  apply (reached_taint d); auto. split; auto. now apply after_S'.
Qed.

End Behind.

(* the events of a vertex are in the pivot, or tainted *)
Definition reaches y := y <> rep m /\ forall a, S a -> rep a = y -> tnt a.
Lemma vertex_M z : S z -> rep z = rep m -> pivot z.
Proof.
  intros Sz Q. destruct (rep_spec z) as [(K & Qz & _)|(_ & Qz)]; rewrite Qz in Q; [|right; congruence].
  destruct (rep_spec m) as [(Km & Qm & _)|(_ & Qm)]; rewrite Qm in Q; [left; now apply src_naw|].
  exfalso. apply (m_last (G:=G) z Sz). rewrite <- Q. now apply naw_facts.
Qed.
Lemma thr_M z : pivot z -> thr z = thr m.
Proof. intros [->| ->]; auto. destruct (pr_cases (G:=G)) as [(-> & _)|(_ & _ & P0 & _)]; auto. now apply po_thr. Qed.
Lemma to_reaches b : S' b -> tnt b -> reaches (rep b).
Proof.
  intros Sb Tb. split; [intros Q; exact (S'_M (G:=G) b Sb (vertex_M b (in_S b Sb) Q))|].
  intros a Sa Q. apply t_rmw with b; auto. apply in_S'; auto. intros Ma.
  apply (S'_M (G:=G) b Sb). apply vertex_M; [now apply in_S|]. rewrite <- Q. now apply (rep_M (G:=G)).
Qed.

(* how taint goes on from the pivot, and where writes of T are missing in L *)
Definition leaves := forall a b, pivot a -> acc a -> S' b -> tau a b -> loc b = loc a -> acc b -> (wr l m \/ wr l' b) ->
  (wr l m \/ wr l b) -> tnt b.
Definition missing := forall a, S' a -> wr l a -> ~ wr l' a -> tau m a /\ tnt a /\
  forall b, sound b -> loc b = loc a -> tau a b -> tnt b.
Lemma taint_step x y : missing -> scv T x y -> ((x = rep m /\ leaves) \/ reaches x) -> cls \/ reaches y.
Proof.
  intros Mis (a & b & -> & -> & E1 & N) Hx.
  assert (on T po a b \/ (rf_in S l tau a b \/ rb T a b \/ mo_in S l tau a b)) as H by (destruct E1; auto).
  assert (S a /\ S b) as (Sa & Sb).
  { destruct H as [((A & _) & (B' & _) & _)|H]; [auto|]. destruct (eco_conflict S l tau a b g_sto H) as (A & B' & _). auto. }
  assert ((pivot a /\ leaves) \/ (S' a /\ tnt a)) as Ha.
  { destruct Hx as [(Q & Lv)|(Nx & Hx)]; [left; split; [now apply vertex_M|exact Lv]|right].
    split; [|auto]. apply in_S'; auto. intros Ma.
    apply Nx. now apply (rep_M (G:=G)). }
  destruct H as [(_ & _ & H)|H].
  - destruct Ha as [(Ma & _)|(Sa' & Ta)].
    + exfalso. pose proof (po_final (G:=G) a b Ma Sb H) as Mb. destruct Ma as [->| ->]; [exact (m_last (G:=G) b Sb H)|].
      destruct Mb as [->| ->]; [|exact (po_irr _ H)]. apply N.
      destruct (pr_cases (G:=G)) as [(Q & _)|(Km & Q & _)]; [rewrite Q in H; destruct (po_irr _ H)|auto].
    + destruct (M_or_S' (G:=G) b Sb) as [Mb|Sb'].
      * left. exists a. split; auto. left. rewrite (po_thr _ _ H). now apply thr_M.
      * right. apply to_reaches; auto. now apply t_po with a.
  - destruct (eco_conflict S l tau a b g_sto H) as (_ & _ & (Aa & Ab & Aw & Lo & Nab) & Hab).
    assert (forall z, wr l z \/ rd z -> acc z) as Acc by (intros z [Q|Q]; [exact (acc_w z _ Q)|now apply acc_r]).
    assert (forall z, pivot z -> wr l z -> wr l m) as Mw.
    { intros z Mz Wz. now rewrite <- (M_w (G:=G) z Mz (proj1 Wz)). }
    destruct (M_or_S' (G:=G) b Sb) as [Mb|Sb'].
    + assert (tau a m) as Ham by (destruct (M_le (G:=G) b Mb) as [Q|X]; [now rewrite <- Q|exact (tt _ _ _ Hab X)]).
      destruct Ha as [(Ma & _)|(Sa' & Ta)].
      * exfalso. destruct Ma as [->| ->]; [exact (ti _ Ham)|]. destruct Mb as [->| ->]; [|exact (ti _ Hab)]. apply N.
        destruct (pr_cases (G:=G)) as [(Q & _)|(Km & Q & _)]; [rewrite Q in Hab; destruct (ti _ Hab)|auto].
      * left. exists a. split; auto. right. split.
        -- intros Ba. exact (ta _ _ Ham (proj2 (B_after a Ba))).
        -- exists b. split; auto. split; auto. split; auto. destruct Aw as [Wa|Wb]; [|left; exact (Mw b Mb Wb)].
           right; left. apply NNPP. intros Na. destruct (Mis a Sa' Wa Na) as (X & _). exact (ta _ _ Ham X).
    + right. apply to_reaches; auto. destruct (classic (wr l b /\ ~ wr l' b)) as [(Wb & Nb)|Gb].
      { exact (proj1 (proj2 (Mis b Sb' Wb Nb))). }
      assert (wr l b -> wr l' b) as Wb by tauto. assert (sound b) as Sob by (split; tauto).
      destruct Ha as [(Ma & Lv)|(Sa' & Ta)].
      * apply (Lv a b); auto; destruct Aw as [Wa|]; auto; left; exact (Mw a Ma Wa).
      * destruct (classic (wr l a /\ ~ wr l' a)) as [(Wa & Na)|Ga].
        -- apply (proj2 (proj2 (Mis a Sa' Wa Na))); auto.
        -- assert (conflict l' a b) as Cf by (unfold conflict; tauto).
           apply t_word with a; auto. now apply (L_conf (sc_run:=HL)).
Qed.
Theorem taint_closes : (forall e, back e -> B e) -> sc T (rep m) (rep m) -> cls.
Proof.
  intros B_back.
  assert (missing) as Mis.
  { intros a Sa Wa Na. destruct (missing_taint B_back a Sa Wa Na) as (D & Ta). split; [|split; [exact Ta|]].
    - destruct (dep_after m a D (in_S a Sa)) as [->|X]; [destruct (S'_M (G:=G) m Sa); left; auto|exact X].
    - intros b. apply (reached_taint B_back a D (in_S a Sa) Wa). }
  assert leaves as Lv by (intros a b; apply (meeting B_back)).
  assert (forall y, clos_trans_n1 ev (scv T) (rep m) y -> cls \/ reaches y) as H.
  { intros y H. induction H as [y H|y z H _ [IH|IH]]; [eapply taint_step; eauto|auto|eapply taint_step; eauto]. }
  intros Cy. destruct (H (rep m)) as [|(N & _)]; [now apply clos_trans_tn1|auto|tauto].
Qed.
(* where every write of T is one of L, from an event of beta that meets the pivot *)
Theorem taint_closes_from s z : (forall a, S' a -> wr l a -> wr l' a) -> B s -> pivot z -> meets S' l' (wr l m) z s ->
  clos_trans ev (fun x y => scv T x y /\ x <> rep m) (rep s) (rep m) -> cls.
Proof.
  intros All Bs Mz Ms H. assert missing as Mis by (intros a Sa Wa Na; destruct (Na (All a Sa Wa))).
  assert (reaches (rep s)) as Rs by (apply to_reaches; [now apply B_after|now apply t_pivot with z]).
  assert (forall y, clos_trans_n1 ev (fun x y => scv T x y /\ x <> rep m) (rep s) y -> cls \/ reaches y) as K.
  { intros y K. induction K as [y (K & _)|y x (K & _) _ [IH|IH]]; [eapply taint_step; eauto|auto|eapply taint_step; eauto]. }
  destruct (K (rep m)) as [|(N & _)]; [now apply clos_trans_tn1|auto|tauto].
Qed.
End Found.
