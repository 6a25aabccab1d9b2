(* Theorem 3 of docs/theory-crowds.md for the search itself: a program with a crowd is not robust for some number of copies iff
   counting comes to a control with a report. *)
Require Import List Arith ZArith Bool Lia Permutation Relations.
Import ListNotations.
From RR Require Import Model Hardware Programs Search Searched Marks Counting CrowdProgram Views Moves Locality CrowdRules Joined
  CrowdSearch.

Section CrowdTheorem.
Context {K : crowd} (hw : hardware) {OK : hardware_ok hw} {SO : search_ok hw} (zero : bool).
Notation state := (@state concrete).
Notation ev := (@ev concrete).
Notation moves := (moves hw zero).
Notation leads := (leads hw zero).
Notation explicit := (explicit hw zero).
Notation copy := (copy hw zero).
Notation hero := (hero hw zero).
Notation copy_hero := (copy_hero hw zero).
Notation own_hero := (own_hero hw zero).
Notation run_step := (run_step control local explicit copy hero copy_hero own_hero).
Notation count_step := (count_step control local initial explicit copy hero copy_hero own_hero).

(* From counting to the search *)
Lemma made_hero ts s jh js c ls : made ts s jh js c ls -> jh = None <-> c_hero c = None.
Proof. intros M. pose proof (m_hero _ _ _ _ _ _ M) as H. destruct jh, (c_hero c); tauto || (split; congruence || tauto). Qed.
Lemma leads_hero jh js c ls t jh' js' c' ls' : leads jh js c ls t jh' js' c' ls' -> jh = None <-> c_hero c = None.
Proof. intros (ts & s & s' & e & _ & _ & M & _). eapply made_hero; eauto. Qed.
Lemma Forall2_split {A B} (R : A -> B -> Prop) l1 l2 m1 m2 : Forall2 R (l1 ++ l2) (m1 ++ m2) -> length l1 = length m1 ->
  Forall2 R l1 m1 /\ Forall2 R l2 m2.
Proof.
  revert m1. induction l1 as [|x l1 IH]; intros [|y m1] F Le; simpl in *; try discriminate; auto.
  inversion F; subst. destruct (IH m1) as (A1 & A2); auto.
Qed.
Lemma once_apart jh jins jrest j : NoDup (everyone jh (jins ++ jrest)) -> In j jrest -> ~ In j (everyone jh jins).
Proof.
  assert (forall l1 l2 : list nat, NoDup (l1 ++ l2) -> In j l2 -> ~ In j l1) as H.
  { intros l1 l2 N I J. induction l1 as [|x l1 IH]; simpl in *; [tauto|]. inversion N; subst. destruct J as [->|J]; [|tauto].
    apply H1. apply in_or_app. auto. }
  intros N. apply H. now destruct jh.
Qed.
Lemma once_sub jh jins jrest : NoDup (everyone jh (jins ++ jrest)) -> NoDup (everyone jh jins).
Proof.
  assert (forall l1 l2 : list nat, NoDup (l1 ++ l2) -> NoDup l1) as H.
  { intros l1 l2 N. induction l1 as [|x l1 IH]; [constructor|]. inversion N; subst. constructor; [|auto].
    intros I. apply H1. apply in_or_app. auto. }
  intros N. apply H with jrest. now destruct jh.
Qed.
Lemma big_step jh1 js1 c ins t jh1' js1' c' outs ts s jh jins jh' jouts rest jrest ls' :
  leads jh1 js1 c ins t jh1' js1' c' outs -> sound ts s -> made ts s jh (jins ++ jrest) c (ins ++ rest) ->
  length jins = length ins -> match_up (pairs jh1 js1 jh jins) jh1' js1' jh' jouts ->
  (c_hero c <> None -> jh1' = jh1 /\ jh' = jh) -> NoDup (everyone jh' (jouts ++ jrest)) -> Permutation (outs ++ rest) ls' ->
  exists s' jh2 js2, step_of hw zero ts s s' /\ sound ts s' /\ made ts s' jh2 js2 c' ls'.
Proof.
  intros Ld S M Le Mu Hh N Q. destruct (Forall2_split _ _ _ _ _ (m_copies _ _ _ _ _ _ M) Le) as (F1 & F2).
  assert (made ts s jh jins c ins) as M0 by (apply made_with with (jins ++ jrest) (ins ++ rest); auto; eapply once_sub; apply M).
  destruct (leads_big hw zero jh1 js1 c ins t jh1' js1' c' outs ts s jh jins jh' jouts Ld S M0 Mu Hh) as (s' & St & S' & M' & Al).
  assert (Forall2 (lives ts s') jrest rest) as F2'.
  { pose proof (fun j => once_apart jh jins jrest j (m_once _ _ _ _ _ _ M)) as Ap. clear -F2 Al Ap.
    induction F2; constructor; [apply Al; auto; apply Ap; now left|]. apply IHF2. intros j I. apply Ap. now right. }
  destruct (made_perm ts s' jh' (jouts ++ jrest) c' (outs ++ rest) ls') as (js2 & _ & M2); [|auto|exists s', jh', js2; auto].
  apply made_with with jouts outs; auto. apply Forall2_app; [apply M'|auto].
Qed.
Lemma once_middle (i j : nat) l : NoDup (i :: j :: l) -> NoDup (j :: i :: l).
Proof. apply Permutation_NoDup, perm_swap. Qed.
Lemma back_step ts s jh js c ls c' ls' : sound ts s -> made ts s jh js c ls -> run_step (c, ls) (c', ls') ->
  exists s' jh2 js2, step_of hw zero ts s s' /\ sound ts s' /\ made ts s' jh2 js2 c' ls'.
Proof.
  intros S M H.
  assert (forall l a b, ls = a ++ l :: b -> exists j jr, made ts s jh (j :: jr) c (l :: a ++ b)) as One.
  { intros l a b ->. destruct (made_perm ts s jh js c (a ++ l :: b) (l :: a ++ b) M) as (js2 & _ & M2);
    [symmetry; apply Permutation_middle|]. pose proof (m_copies _ _ _ _ _ _ M2) as F. inversion F; subst. eauto. }
  assert (forall l h r, Permutation ls (l :: h :: r) -> exists i j jr, made ts s jh (i :: j :: jr) c (l :: h :: r)) as Two.
  { intros l h r Q. destruct (made_perm ts s jh js c ls (l :: h :: r) M Q) as (js2 & _ & M2).
    pose proof (m_copies _ _ _ _ _ _ M2) as F. inversion F as [|? ? ? ? ? F']; subst. inversion F'; subst. eauto. }
  assert (forall l h t i1 j1 r ls2, leads None [i1; j1] c [l; h] t (Some j1) [i1] c' ls2 -> forall i j jr,
    made ts s jh (i :: j :: jr) c (l :: h :: r) -> Permutation (ls2 ++ r) ls' ->
    exists s' jh2 js2, step_of hw zero ts s s' /\ sound ts s' /\ made ts s' jh2 js2 c' ls') as Hero2.
  { intros l h t i1 j1 r ls2 Ld i j jr M2 Q. assert (jh = None) as -> by (apply (made_hero _ _ _ _ _ _ M); now apply (leads_hero _ _ _ _ _ _ _ _ _ Ld)).
    pose proof (once_middle i j jr (m_once _ _ _ _ _ _ M2)) as N.
    apply (big_step _ _ _ _ _ _ _ _ _ ts s None [i; j] (Some j) [i] r jr ls' Ld S M2 eq_refl); auto.
    - split; [|split].
      + constructor; [|constructor]. unfold pairs, at_once. simpl. auto.
      + exact (once_sub (Some j) [i] jr N).
      + unfold pairs, at_once. simpl. auto.
    - intros Z. destruct Z. now apply (leads_hero _ _ _ _ _ _ _ _ _ Ld). }
  assert (forall h t j1 r, leads None [j1] c [h] t (Some j1) [] c' [] -> forall j jr,
    made ts s jh (j :: jr) c (h :: r) -> Permutation r ls' ->
    exists s' jh2 js2, step_of hw zero ts s s' /\ sound ts s' /\ made ts s' jh2 js2 c' ls') as Hero1.
  { intros h t j1 r Ld j jr M2 Q. assert (jh = None) as -> by (apply (made_hero _ _ _ _ _ _ M); now apply (leads_hero _ _ _ _ _ _ _ _ _ Ld)).
    apply (big_step _ _ _ _ _ _ _ _ _ ts s None [j] (Some j) [] r jr ls' Ld S M2 eq_refl); auto.
    - split; [constructor|]. split; [exact (once_sub (Some j) [] jr (m_once _ _ _ _ _ _ M2))|].
      unfold pairs, at_once. simpl. auto.
    - intros Z. destruct Z. now apply (leads_hero _ _ _ _ _ _ _ _ _ Ld).
    - apply M2. }
  inversion H as [c1 c2 ls1 X|c1 c2 l l' a b X|c1 c2 h a b X|c1 c2 l l' h a b d X|c1 c2 l l' h a b d X|c1 c2 h a b X]; subst.
  - destruct X as (jh1 & t & Ld). apply (big_step _ _ _ _ _ _ _ _ _ ts s jh [] jh [] ls' js ls' Ld S M eq_refl); auto.
    + split; [constructor|]. split; [exact (once_sub jh [] js (m_once _ _ _ _ _ _ M))|].
      pose proof (made_hero _ _ _ _ _ _ M) as E1. pose proof (leads_hero _ _ _ _ _ _ _ _ _ Ld) as E2.
      destruct jh1, jh; auto; [now left| |]; (assert (Some n = None) by tauto; discriminate).
    + apply M.
  - destruct X as (jh1 & j1 & Ld). destruct (One l a b eq_refl) as (j & jr & M2).
    apply (big_step _ _ _ _ _ _ _ _ _ ts s jh [j] jh [j] (a ++ b) jr _ Ld S M2 eq_refl); auto; [|apply M2|exact (Permutation_middle a b l')].
    pose proof (made_hero _ _ _ _ _ _ M) as E1. pose proof (leads_hero _ _ _ _ _ _ _ _ _ Ld) as E2.
    split; [|split; [exact (once_sub jh [j] jr (m_once _ _ _ _ _ _ M2))|]].
    + constructor; [|constructor]. unfold pairs, at_once. destruct jh1, jh; simpl; auto;
      (assert (Some n = None) by tauto; discriminate).
    + destruct jh1, jh; auto; [now left| |]; (assert (Some n = None) by tauto; discriminate).
  - destruct X as (j1 & t & _ & Ld). destruct (One h a b eq_refl) as (j & jr & M2). exact (Hero1 _ _ _ _ Ld j jr M2 (Permutation_refl _)).
  - destruct X as (i1 & j1 & Ld). destruct (Two l h (a ++ b ++ d)) as (i & j & jr & M2).
    { rewrite <- (Permutation_middle a). apply perm_skip. rewrite <- (Permutation_middle b), <- (Permutation_middle a). reflexivity. }
    apply (Hero2 _ _ _ _ _ _ _ Ld i j jr M2). simpl. apply Permutation_middle.
  - destruct X as (i1 & j1 & Ld). destruct (Two l h (a ++ b ++ d)) as (i & j & jr & M2).
    { rewrite <- (Permutation_middle a), <- (Permutation_middle b), <- (Permutation_middle a). apply perm_swap. }
    apply (Hero2 _ _ _ _ _ _ _ Ld i j jr M2). simpl.
    rewrite <- (Permutation_middle b), <- (Permutation_middle a). reflexivity.
  - destruct X as (j1 & Ld). destruct (One h a b eq_refl) as (j & jr & M2). exact (Hero1 _ _ _ _ Ld j jr M2 (Permutation_refl _)).
Qed.
End CrowdTheorem.
