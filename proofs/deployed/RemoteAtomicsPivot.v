(* Remote atomics: taking out the pivot, where other RMWs may flip (Lemma 2 with M2). *)
Require Import List Arith Lia Classical Relations.
From RR Require Import Orders RemoteAtomicsModel RemoteAtomicsRules RemoteAtomicsValues RemoteAtomicsTraces
  RemoteAtomicsBase.

Section Pivot.
Context {U : slots} {ord : order} {P : program} {S l : ev -> Prop} {tau : relation ev} {m pr : ev} {S' l' : ev -> Prop}.
Let T := tr S l tau.

(* m is last of its thread.  The pivot is m alone, and [pr] is m; or m is a naW and [pr] its naR: then both are the pivot.
   If a naW is the pivot alone, it happens. *)
Definition M e := e = m \/ e = pr.
Class setting : Prop := {
  g_base : base ord P S l tau;
  g_last : last S m;
  g_pr : pr = rep m \/ (knd m = NAW /\ pr = m /\ l m);
  (* no CPU event depends on m *)
  g_max : forall c, S c -> cpu c -> ~ depr (rf_in S l tau) m c;
  g_S' : forall e, S' e <-> S e /\ ~ M e;
  g_run : runs P S';
  g_real : real_in S' l' tau;
}.
Global Existing Instance g_base.
Context {G : setting}.
Let Base : base ord P S l tau := g_base.
Let W : wfS S := RemoteAtomicsBase.W.
Let Sto : sto S tau := g_sto.

Lemma Sm : S m. Proof. apply g_last. Qed.
Lemma m_last b : S b -> ~ po m b. Proof. apply g_last. Qed.
Lemma Spr : S pr. Proof. destruct g_pr as [->|(_ & -> & _)]; [apply rep_S; auto using W, Sm|exact Sm]. Qed.
Let rfT := rf_in S l tau.
Lemma pr_cases : (pr = m /\ (knd m = NAW -> l m)) \/ (knd m = NAW /\ pr = src m /\ po pr m /\ knd pr = NAR /\ tau pr m).
Proof.
  destruct g_pr as [->|(K & -> & L)]; [|auto].
  destruct (rep_spec m) as [(K & -> & A & B)|(K & ->)]; [right|left; split; [auto|congruence]]. repeat split; auto.
  apply src_before; [apply Sm|now apply naw_fed].
Qed.
Lemma rep_M z : M z -> rep z = rep m.
Proof.
  intros [->| ->]; auto. destruct g_pr as [->|(_ & -> & _)]; auto.
  destruct (rep_spec (rep m)) as [(K & _)|(_ & ->)]; auto. destruct (rep_nar m K).
Qed.
Lemma M_le z : M z -> z = m \/ tau z m.
Proof. intros [->| ->]; auto. destruct pr_cases as [(->&_)|(_&_&_&_&?)]; auto. Qed.
Lemma M_S z : M z -> S z. Proof. intros [->| ->]; auto using Sm, Spr. Qed.
Lemma M_w z : M z -> is_w (knd z) -> z = m.
Proof. intros [->| ->] H; auto. destruct pr_cases as [(->&_)|(_&_&_&K&_)]; auto. rewrite K in H; destruct H. Qed.
Lemma S'_S e : S' e -> S e. Proof. intros H. now apply g_S'. Qed.
Lemma S'_M e : S' e -> ~ M e. Proof. intros H. now apply g_S'. Qed.
Lemma S'_intro e : S e -> ~ M e -> S' e. Proof. intros. now apply g_S'. Qed.
Lemma after_S' e : S e -> tau m e -> S' e.
Proof.
  intros Se H. apply S'_intro; auto. intros N. destruct (M_le e N) as [->|X]; [eapply t_irr; eauto|eapply t_asym; eauto].
Qed.
Lemma M_clean e u : M e -> rfT u e -> ~ dep rfT m u.
Proof. intros N R D. assert (tau m e) as X by (apply depr_after; exists u; auto). exact (S'_M e (after_S' e (M_S e N) X)
  N). Qed.

Lemma dep_w u : S u -> wr l u -> ~ dep rfT m u -> S' u.
Proof. intros Su (Iu & _) D. apply S'_intro; auto. intros N. rewrite (M_w u N Iu) in D. apply D, dep_m. Qed.

Lemma po_final a e : M a -> S e -> po a e -> M e.
Proof.
  intros [->| ->] Se H; [destruct (m_last e Se H)|].
  destruct pr_cases as [(Q&_)|(K&Q&_)]; [rewrite Q in H; destruct (m_last e Se H)|].
  rewrite Q in H. destruct (naw_next m e K H) as [->|X]; [left; auto|destruct (m_last e Se X)].
Qed.
Lemma wfS' : wfS S'.
Proof.
  pose proof W as W0. constructor.
  - destruct (wf_fin _ W0) as (es & H). exists es. intros e He. apply H, S'_S, He.
  - intros a b H Sb. apply S'_intro; [eapply wf_down; eauto using S'_S|]. intros N.
    apply (S'_M b Sb). eapply po_final; eauto using S'_S.
  - intros a b Sa Sb. apply W0; auto using S'_S.
  - intros w p w' Sp. apply W0. auto using S'_S.
  - intros e x Se Sx K H. destruct (wf_get _ W0 e x (S'_S _ Se) (S'_S _ Sx) K H) as (w & Sw & Kw & Q & X).
    exists w. repeat split; auto. apply S'_intro; auto. intros N. destruct X as [->|X]; [exact (S'_M x Sx N)|].
    exact (S'_M x Sx (po_final w x N (S'_S _ Sx) X)).
  - intros e x Se Sx K H. destruct (wf_naw _ W0 e x (S'_S _ Se) (S'_S _ Sx) K H) as (w & Sw & Kw & Q).
    exists w. repeat split; auto. apply S'_intro; auto. intros N.
    assert (w = m) as -> by (apply M_w; auto; rewrite Kw; exact I).
    destruct (naw_next m x Kw) as [->|X]; [congruence|exact (S'_M m Sx (or_introl eq_refl))|exact (m_last x (S'_S _ Sx) X)].
  - intros e Se Re. destruct (wf_init _ W0 e (S'_S _ Se) Re) as (i & Si & K & L). exists i. repeat split; auto.
    apply S'_intro; auto. intros N. assert (i = m) as -> by (apply M_w; auto; rewrite K; exact I). now apply g_last.
  - intros i j Si Sj. apply W0; auto using S'_S.
Qed.
Lemma sto' : sto S' tau. Proof. apply (sto_sub S); auto using S'_S. Qed.
Lemma init' : initfirst S' tau. Proof. intros i x Si Sx. apply g_init; auto using S'_S. Qed.
Lemma src' : srcfwd S' tau.
Proof. intros w Sw N. split; [|now apply src_before; auto using S'_S]. eapply wf_down; [apply wfS'| |exact Sw]. now apply
  src_ok. Qed.
Let rf' := rf_in S' l' tau.
Lemma flip_adj x a : S' x -> knd x = NAW -> ~ l x -> S a -> wr l a -> loc a = loc x -> tau a x -> tau a (src x).
Proof.
  intros Sx K L Sa (Ia & _) _ H. destruct (g_adj x a (S'_S _ Sx) K L Sa H) as [->|]; auto.
  destruct (naw_facts x K) as (_ & _ & X & _). rewrite X in Ia. destruct Ia.
Qed.
Lemma T'_rf e u : S' e -> rd e -> rfT u e -> ~ dep rfT m u -> rf' u e.
Proof.
  apply (flip_rf S S' l l' tau m); eauto using S'_S, dep_w, flip_adj, T_real, g_real, src', ex_T. apply W.
Qed.
Lemma T'_live e : S' e -> cond e -> ~ depr rfT m (src e) -> (l e <-> l' e).
Proof.
  apply (flip_live S S' l l' tau m); eauto using S'_S, dep_w, flip_adj, T_real, g_real, src', ex_T. apply W.
Qed.
Lemma T'_val d v : S' d -> ~ dep rfT m d -> (wval rfT d v <-> wval rf' d v).
Proof.
  apply (flip_val S S' l l' tau m); eauto using S'_S, dep_w, flip_adj, T_real, g_real, src', ex_T. apply W.
Qed.
Lemma T'_wr u : S' u -> wr l u -> ~ dep rfT m u -> wr l' u.
Proof.
  intros Su (Iu & Cu) D. split; auto. intros C. apply (T'_live u); auto. intros (d & R & D'). apply D, dep_src with d; auto.
Qed.

Lemma T'_valid : valid (tr S' l' tau).
Proof.
  intros c (Sc & _) Cc Rc. destruct (proj1 (proj2 (proj2 (proj1 g_V))) c) as (u & R & V); auto.
  { apply rd_in_E; auto. now apply S'_S. }
  assert (~ dep rfT m u) as D. { intros D. apply (g_max c (S'_S _ Sc) Cc). exists u; auto. }
  exists u. split; [now apply T'_rf|]. apply T'_val; auto. apply dep_w; auto; apply R.
Qed.

(* Lemma 2 (1) *)
Theorem lemma_2_1_atomics : pr = rep m -> trace_of P (tr S' l' tau).
Proof.
  intros Qpr. split; [apply g_run|split; [|split; [exact T'_valid|exact g_real]]].
  - apply tr_wft; auto using wfS', sto', init'. intros a b (Sa & Sb & Ka & Kb & Lo & H).
    destruct (t_rao_naw T (proj1 (proj2 (proj1 g_V))) a b) as (w & Sw & Kw & Q).
    { repeat split; auto using S'_S. }
    exists w. repeat split; auto. apply S'_intro; auto. intros N.
    assert (w = m) as -> by (apply M_w; auto; rewrite Kw; exact I).
    apply (S'_M a Sa). right. rewrite Qpr. destruct (rep_spec m) as [(_ & -> & _)|(Z & _)]; congruence.
Qed.

(* Lemma 2 (2) *)
Theorem lemma_2_2_atomics : rdma_consistent ord (tr S' l' tau).
Proof.
  destruct O_T as (_ & H2 & H3 & H4 & _).
  apply rules_consistent; auto using wfS', sto'.
  - intros a b Ea Eb O. apply oppo_slots; auto; apply S'_S; [apply Ea|apply Eb].
  - intros w p Sp. apply H2. now apply S'_S.
  - intros e w p Sp. apply H3. now apply S'_S.
  - intros Fl w f r Sw Sf Sr. apply (H4 Fl); now apply S'_S.
  - intros w b (Sw & _) K (_ & Sb & _ & Kb & Lo & H). apply rao_slots; auto using S'_S.
    destruct (naw_facts w K) as (_ & _ & _ & X). simpl in *. congruence.
Qed.

End Pivot.
Arguments M {U} m pr e.
Arguments setting {U} ord P S l tau m pr S' l'.
