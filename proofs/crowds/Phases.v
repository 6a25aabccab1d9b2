(* Crowds: free steps, and phase 2 from maximal markings only. docs/theory-crowds.md, Lemma 5 and Lemma 6, for the steps
   of Counting.v. A marking with omegas is a set of local states, in which there are as many copies as wanted, and a list.
   *)
Require Import List Permutation Relations.
Import ListNotations.
From RR Require Import Counting.

Section Phases.
Variables (C L : Type) (initial : L -> Prop).
Variables (explicit : C -> C -> Prop) (copy : C -> L -> C -> L -> Prop).
Variables (hero : C -> L -> C -> Prop) (copy_hero : C -> L -> L -> C -> L -> Prop) (own_hero : C -> L -> C -> Prop).
Notation count_step := (count_step C L initial explicit copy hero copy_hero own_hero).
Notation count := (count C L initial explicit copy hero copy_hero own_hero).

(* d is reached from c with the marking m and with copies in states of W, as many as wanted *)
Definition taking (W : L -> Prop) c m d := exists ws m', Forall W ws /\ count (c, ws ++ m) (d, m').

(* Steps are monotone in the marking, and its order does not count. *)
Lemma step_perm c m s m1 : count_step (c, m) s -> Permutation m m1 -> count_step (c, m1) s.
Proof.
  intros H Q. inversion H; subst.
  - apply count_rule with ins outs rest; auto. now rewrite <- Q.
  - apply count_supply with i; auto. now rewrite <- Q.
Qed.
Lemma step_more c m d m' x : count_step (c, m) (d, m') -> count_step (c, m ++ x) (d, m' ++ x).
Proof.
  intros H. inversion H as [c1 m1 c2 m2 ins outs rest R P P'|c1 m1 m2 i Hi P]; subst.
  - apply count_rule with ins outs (rest ++ x);
    [auto|rewrite P, <- app_assoc; reflexivity|rewrite P', <- app_assoc; reflexivity].
  - apply count_supply with i; [auto|]. now rewrite P.
Qed.

(* A copy in l, among others, goes to l'; so do all of a list. *)
Lemma one_free c l l' a m : copy c l c l' -> count (c, a ++ l :: m) (c, a ++ l' :: m).
Proof.
  intros H. apply rt_step. apply count_rule with [l] [l'] (a ++ m); [now apply rule_copy| |];
  simpl; symmetry; apply Permutation_middle.
Qed.
Lemma all_free (W : L -> Prop) c l l' m ws : W l -> copy c l c l' -> Forall (fun x => W x \/ x = l') ws ->
  exists vs, Forall W vs /\ forall a, count (c, a ++ vs ++ m) (c, a ++ ws ++ m).
Proof.
  intros Wl H F. induction F as [|x ws D F (vs & Fv & R)]; [exists []; split; [constructor|intros; apply rt_refl]|].
  assert (exists y, W y /\ forall a, count (c, a ++ y :: vs ++ m) (c, a ++ x :: vs ++ m)) as (y & Wy & Ry).
  { destruct D as [D| ->]; [exists x; split; [auto|intros; apply rt_refl]|].
    exists l. split; [auto|intros; now apply one_free]. }
  exists (y :: vs). split; [auto|]. intros a. eapply rt_trans; [apply Ry|].
  specialize (R (a ++ [x])). rewrite <- !app_assoc in R. exact R.
Qed.

(* Lemma 5: a step from a state with as many copies as wanted that leaves the control as it is gives as many as wanted behind
   it, and what was reached before is reached then. *)
Theorem free_steps (W : L -> Prop) c l l' m d : W l -> copy c l c l' ->
  (taking W c m d <-> taking (fun x => W x \/ x = l') c m d).
Proof.
  intros Wl H. split; intros (ws & m' & F & R).
  - exists ws, m'. split; [|auto]. eapply Forall_impl; [|exact F]. auto.
  - destruct (all_free W c l l' m ws Wl H F) as (vs & Fv & Rv). exists vs, m'. split; [auto|].
    eapply rt_trans; [exact (Rv [])|exact R].
Qed.

(* Phases: the controls of phase 1, the steps out of it.  Markings with omegas that have all markings of phase 1 below them,
   and have no more in them than is reached. *)
Variables (phase1 : C -> Prop) (M : C -> (L -> Prop) -> list L -> Prop) (c0 : C).
Definition below (m : list L) (W : L -> Prop) m1 := exists ws x, Forall W ws /\ Permutation (m ++ x) (ws ++ m1).
Definition maximal := forall c m, phase1 c -> count (c0, []) (c, m) -> exists W m1, M c W m1 /\ below m W m1.
Definition reached := forall c W m1, M c W m1 -> forall ws, Forall W ws -> exists x, count (c0, []) (c, (ws ++ m1) ++ x).
Definition starts c m s := phase1 c /\ count_step (c, m) s /\ ~ phase1 (fst s).

(* Lemma 6: it is enough to start phase 2 from these. *)
Theorem phases d : maximal -> reached ->
  ((exists c m s m', count (c0, []) (c, m) /\ starts c m s /\ count s (d, m')) <->
   (exists c W m1 ws s m', M c W m1 /\ Forall W ws /\ starts c (ws ++ m1) s /\ count s (d, m'))).
Proof.
  intros Mx Re. split.
  - intros (c & m & [e n] & m' & R & (P & S & N) & R'). destruct (Mx c m P R) as (W & m1 & Hm & ws & x & F & Q).
    exists c, W, m1, ws, (e, n ++ x), (m' ++ x). split; [auto|split; [auto|split; [split; [auto|split; [|auto]]|]]].
    + apply step_perm with (m ++ x); [|auto]. now apply step_more.
    + now apply more_tokens.
  - intros (c & W & m1 & ws & [e n] & m' & Hm & F & (P & S & N) & R'). destruct (Re c W m1 Hm ws F) as (x & R).
    exists c, ((ws ++ m1) ++ x), (e, n ++ x), (m' ++ x). split; [auto|split; [split; [auto|split; [|auto]]|]].
    + now apply step_more.
    + now apply more_tokens.
Qed.
End Phases.
