(* Transitive closures of finite relations, after Warshall: what they compute is the closure. *)
Require Import List Arith Bool Lia Relations.
Import ListNotations.

Definition matrix := list (list bool).
Definition get (M : matrix) i j := nth j (nth i M []) false.
Definition tabulate n (f : nat -> nat -> bool) : matrix := map (fun i => map (f i) (seq 0 n)) (seq 0 n).

Lemma get_tabulate n f i j : get (tabulate n f) i j = true <-> i < n /\ j < n /\ f i j = true.
Proof.
  unfold get, tabulate. destruct (le_lt_dec n i) as [L|L].
  - rewrite nth_overflow with (n := i) by (rewrite map_length, seq_length; lia). destruct j; simpl; split;
    try discriminate; lia.
  - rewrite nth_indep with (n := i) (d' := map (f 0) (seq 0 n)) by (rewrite map_length, seq_length; lia).
    rewrite (map_nth (fun i => map (f i) (seq 0 n))). rewrite seq_nth by lia. simpl.
    destruct (le_lt_dec n j) as [L'|L'].
    + rewrite nth_overflow by (rewrite map_length, seq_length; lia). split; [discriminate|lia].
    + rewrite nth_indep with (d' := f i 0) by (rewrite map_length, seq_length; lia).
      rewrite map_nth, seq_nth by lia. simpl. tauto.
Qed.

Fixpoint or_row (a b : list bool) :=
  match a, b with x :: a, y :: b => (if x then true else y) :: or_row a b | [], b => b | a, [] => a end.
Lemma or_row_nth a : forall b j, nth j (or_row a b) false = nth j a false || nth j b false.
Proof.
  induction a as [|x a IH]; intros [|y b] [|j]; simpl; auto; try (now destruct x); try (now rewrite orb_false_r).
Qed.

(* paths through v *)
Definition through (M : matrix) v : matrix :=
  let row_v := nth v M [] in map (fun row => if nth v row false then or_row row row_v else row) M.
Lemma get_through M v i j : get (through M v) i j = get M i j || (get M i v && get M v j).
Proof.
  unfold get, through. destruct (le_lt_dec (length M) i) as [L|L].
  - rewrite !nth_overflow with (n := i) by (try rewrite map_length; lia). destruct j, v; reflexivity.
  - rewrite nth_indep with (n := i) (d' :=
    (fun row => if nth v row false then or_row row (nth v M []) else row) []) by (rewrite map_length; lia).
    rewrite (map_nth (fun row => if nth v row false then or_row row (nth v M []) else row)).
    destruct (nth v (nth i M []) false); simpl.
    + apply or_row_nth.
    + now rewrite orb_false_r.
Qed.

Definition closure n (M : matrix) := fold_left through (seq 0 n) M.

Section Warshall.
Variables (n : nat) (M : matrix).
Hypothesis small : forall i j, get M i j = true -> i < n /\ j < n.
Let R i j := get M i j = true.

Definition good vs (S : matrix) :=
  (forall i j, get M i j = true -> get S i j = true) /\
  (forall i j, get S i j = true -> clos_trans nat R i j) /\
  (forall v i j, In v vs -> get S i v = true -> get S v j = true -> get S i j = true).

Lemma good_step vs v S : good vs S -> good (v :: vs) (through S v).
Proof.
  intros (I & C & T). split; [|split].
  - intros i j H. rewrite get_through, (I i j H). reflexivity.
  - intros i j H. rewrite get_through in H. apply orb_prop in H. destruct H as [H|H]; [auto|].
    apply andb_prop in H. destruct H. eapply t_trans; apply C; eauto.
  - intros u i j [<-|Iu] H K; rewrite get_through in *; apply orb_prop in H, K; rewrite andb_true_iff in *;
    apply orb_true_iff.
    + right. apply andb_true_iff. tauto.
    + destruct H as [H|H], K as [K|K].
      * left. eapply T; eauto.
      * right. apply andb_true_iff. split; [eapply (T u); [exact Iu|exact H|apply K]|apply K].
      * right. apply andb_true_iff. split; [apply H|eapply (T u); [exact Iu|apply H|exact K]].
      * right. apply andb_true_iff. tauto.
Qed.
Lemma good_fold l : forall vs S, good vs S -> good (rev l ++ vs) (fold_left through l S).
Proof.
  induction l as [|v l IH]; intros vs S H; simpl; [auto|]. rewrite <- app_assoc. simpl. apply IH, good_step, H.
Qed.
Lemma closure_small i j : clos_trans nat R i j -> i < n /\ j < n.
Proof. induction 1; [auto|tauto]. Qed.

Theorem closure_spec i j : get (closure n M) i j = true <-> clos_trans nat R i j.
Proof.
  assert (good [] M) as G.
  { split; [auto|]. split; [intros; now apply t_step|]. intros v a b []. }
  apply (good_fold (seq 0 n)) in G. destruct G as (I & C & T). split; [apply C|].
  induction 1 as [a b H|a b c H IH K IK]; [now apply I|].
  apply (T b); auto. apply in_or_app; left. rewrite <- in_rev, in_seq. apply closure_small in H. lia.
Qed.
End Warshall.

Definition acyclic n M := let C := closure n M in forallb (fun i => negb (get C i i)) (seq 0 n).
Theorem acyclic_spec n M : (forall i j, get M i j = true -> i < n /\ j < n) ->
  (acyclic n M = true <-> forall i, ~ clos_trans nat (fun i j => get M i j = true) i i).
Proof.
  intros S. unfold acyclic. rewrite forallb_forall. split; intros H i.
  - intros K. pose proof (closure_small n M S i i K) as (L & _).
    apply (closure_spec n M S) in K. specialize (H i). rewrite K in H. simpl in H.
    assert (false = true) by (apply H, in_seq; lia). discriminate.
  - intros I. destruct (get (closure n M) i i) eqn:K; [|reflexivity].
    apply (closure_spec n M S) in K. destruct (H i K).
Qed.
