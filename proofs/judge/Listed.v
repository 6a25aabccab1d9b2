(* The order of a list without repetitions is a total order of its elements. *)
Require Import List Arith Lia Relations.
Import ListNotations.
From RR Require Import Model.

Section Listed.
Context {A : Type}.
Definition before (l : list A) a b := exists i j, i < j /\ nth_error l i = Some a /\ nth_error l j = Some b.

Lemma before_intro l1 l2 a b : In b l2 -> before (l1 ++ a :: l2) a b.
Proof.
  intros I. destruct (In_nth_error _ _ I) as (k & K). exists (length l1), (length l1 + S k). split; [lia|]. split.
  - rewrite nth_error_app2, Nat.sub_diag by lia. reflexivity.
  - rewrite nth_error_app2 by lia. replace (length l1 + S k - length l1) with (S k) by lia. exact K.
Qed.
Lemma before_intro_l l1 l2 a b : In a l1 -> before (l1 ++ b :: l2) a b.
Proof.
  intros I. destruct (in_split _ _ I) as (k1 & k2 & ->). rewrite <- app_assoc. simpl.
  apply before_intro, in_or_app. right; now left.
Qed.
Lemma before_app l l' a b : In a l -> In b l' -> before (l ++ l') a b.
Proof. intros I J. destruct (in_split _ _ J) as (k1 & k2 & ->). rewrite app_assoc. apply before_intro_l, in_or_app;
  now left. Qed.
Lemma before_inv l a b : before l a b -> exists l1 l2, l = l1 ++ a :: l2 /\ In b l2.
Proof.
  intros (i & j & L & Hi & Hj). destruct (nth_error_split _ _ Hi) as (l1 & l2 & -> & Q). exists l1, l2. split; [auto|].
  rewrite nth_error_app2 in Hj by lia. destruct (j - length l1) as [|k] eqn:K; [lia|]. simpl in Hj.
  eapply nth_error_In; eauto.
Qed.
Lemma before_in l a b : before l a b -> In a l /\ In b l.
Proof. intros (i & j & _ & H & K). split; eapply nth_error_In; eauto. Qed.

Section Order.
Variables (l : list A) (N : NoDup l).
Lemma place_unique i j a : nth_error l i = Some a -> nth_error l j = Some a -> i = j.
Proof.
  intros H K. apply (proj1 (NoDup_nth_error l) N).
  - apply nth_error_Some. congruence.
  - congruence.
Qed.
Lemma before_irr a : ~ before l a a.
Proof. intros (i & j & L & H & K). rewrite (place_unique i j a H K) in L. lia. Qed.
Lemma before_trans a b c : before l a b -> before l b c -> before l a c.
Proof.
  intros (i & j & L & H & K) (i' & j' & L' & H' & K'). rewrite (place_unique j i' b K H') in L.
  exists i, j'. repeat split; auto; lia.
Qed.
Lemma before_total a b : In a l -> In b l -> a = b \/ before l a b \/ before l b a.
Proof.
  intros Ia Ib. destruct (In_nth_error _ _ Ia) as (i & Hi), (In_nth_error _ _ Ib) as (j & Hj).
  destruct (lt_eq_lt_dec i j) as [[L| ->]|L].
  - right; left; exists i, j; auto.
  - left; congruence.
  - right; right; exists j, i; auto.
Qed.
End Order.

(* the last element of [l] that [f] holds of, looked for from the end *)
Lemma find_spec (f : A -> bool) l x : find f l = Some x ->
  exists l1 l2, l = l1 ++ x :: l2 /\ f x = true /\ forall y, In y l1 -> f y = false.
Proof.
  induction l as [|a l IH]; simpl; [discriminate|]. destruct (f a) eqn:K; intros H.
  - inversion H; subst. exists [], l. repeat split; auto. intros y [].
  - destruct (IH H) as (l1 & l2 & -> & F & N). exists (a :: l1), l2. repeat split; auto. intros y [<-|I]; auto.
Qed.
End Listed.

Lemma before_map {A B} (f : A -> B) l a b : before l a b -> before (map f l) (f a) (f b).
Proof. intros (i & j & L & H & K). exists i, j. rewrite !nth_error_map, H, K. auto. Qed.
