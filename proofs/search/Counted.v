(* Numbers of things: n is the number of all a with P a. *)
Require Import List Arith Lia.
Import ListNotations.

Section Counted.
Context {A : Type}.
Definition counted (n : nat) (P : A -> Prop) := exists l, NoDup l /\ length l = n /\ forall a, In a l <-> P a.
Lemma counted_ext n P Q : counted n P -> (forall a, P a <-> Q a) -> counted n Q.
Proof. intros (l & N & H & I) E. exists l. repeat split; auto; intros; [apply E, I|apply I, E]; auto. Qed.
Lemma counted_add n P Q x : counted n P -> ~ P x -> (forall a, Q a <-> a = x \/ P a) -> counted (S n) Q.
Proof.
  intros (l & N & H & I) Nx E. exists (x :: l). split; [constructor; auto; now rewrite I|]. split; [simpl; auto|].
  intros a. rewrite E, <- I. simpl. intuition congruence.
Qed.
Lemma counted_remove n P Q x : counted n P -> P x -> (forall a, Q a <-> P a /\ a <> x) -> n > 0 /\ counted (pred n) Q.
Proof.
  intros (l & N & H & I) Px E. apply I in Px. destruct (in_split _ _ Px) as (l1 & l2 & ->).
  pose proof (NoDup_remove_1 _ _ _ N) as N1. pose proof (NoDup_remove_2 _ _ _ N) as N2.
  assert (n = S (length (l1 ++ l2))) as -> by (rewrite <- H, !app_length; simpl; lia).
  split; [lia|]. exists (l1 ++ l2). split; [auto|]. split; [auto|]. intros a. rewrite E, <- I, !in_app_iff. simpl.
  rewrite in_app_iff in N2. intuition congruence.
Qed.
Lemma counted_zero n P : counted n P -> (forall a, ~ P a) -> n = 0.
Proof. intros ([|a l] & _ & <- & I) H; auto. destruct (H a). apply I; now left. Qed.
Lemma counted_pos n P : counted n P -> n > 0 -> exists a, P a.
Proof. intros ([|a l] & _ & <- & I) H; simpl in H; [lia|]. exists a. apply I; now left. Qed.
Lemma counted_none P : (forall a, ~ P a) -> counted 0 P.
Proof. intros H. exists nil. repeat split; auto using NoDup_nil; intros X; [destruct X|destruct (H _ X)]. Qed.
End Counted.
