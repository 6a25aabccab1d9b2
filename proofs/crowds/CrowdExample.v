(* The definitions are not empty: any number of threads with "put B.w = y; y = 1" is value-free and not robust, and
   counting finds it. *)
Require Import List Arith ZArith Lia.
Import ListNotations.
From RR Require Import Model Hardware Programs Example Search Searched Counting CrowdProgram CrowdRules CrowdTheorem
  Embedded ValueFree FewCopies Crowds.

Global Instance puts : crowd.
Proof.
  refine {| nt := 0; nk := 1; nv := 2; ow := 0; named := fun _ h => h = []; templ := fun _ h => suf h (path 0);
            first_value := fun _ => 0%Z; own_value := fun _ _ => 0%Z |}.
  - lia.
  - auto.
  - discriminate.
  - intros _ h l -> [].
  - intros _. now exists (path 0); rewrite app_nil_r.
  - intros _. apply prog_pre with (t := 0).
  - intros _ h l (k & E) I. assert (In l (path 0)) as J by (rewrite E; apply in_or_app; auto).
    simpl in J. destruct J as [<-|[<-|[<-|[]]]]; simpl; lia.
Defined.

Lemma place_same j l : put_at (place j) l = l.
Proof.
  assert (forall x, place j x = x) as H by (intros x; unfold place; simpl; destruct (x <? 2); lia).
  destruct l; simpl; rewrite ?H; auto.
Qed.
Lemma placed_same j h : map (put_at (place j)) h = h.
Proof. induction h as [|l h IH]; simpl; [auto|]. now rewrite place_same, IH. Qed.
Lemma one_copy t h : prog_of [0] t h <-> prog t h.
Proof.
  unfold prog_of, prog. simpl. rewrite Nat.sub_0_r. destruct t as [|t]; simpl.
  - split; [intros (h0 & H & ->); now rewrite placed_same|intros H; exists h; now rewrite placed_same].
  - rewrite (proj2 (nth_error_None [] t)) by (simpl; lia). split; [intros ->; now exists []|].
    intros (k & E). symmetry in E. now apply app_eq_nil in E.
Qed.
Lemma same_init x : init_of [0] x = init x.
Proof. unfold init_of. simpl. now destruct (x <? 2). Qed.
Lemma same_runs E : runs (P [0]) E <-> runs example E.
Proof.
  assert (forall (pr pr' : nat -> list label -> Prop) (i i' : nat -> Z), (forall t h, pr t h -> pr' t h) ->
    (forall x, i x = i' x) ->
    is_run 1 2 i pr E -> is_run 1 2 i' pr' E) as H.
  { intros pr pr' i i' Hp Hi (p & (H1 & H2) & H3). exists p. split; [split; [intros t; split; [apply Hp|];
    apply H1|auto]|].
    intros e. rewrite H3. destruct e; simpl; [now rewrite Hi|tauto]. }
  split; apply H; try (intros t h; now apply one_copy); intros x; [apply same_init|symmetry; apply same_init].
Qed.
Theorem puts_not_robust (f : flags) : ~ robust (of_flags f) (P (copies 1)).
Proof.
  intros R. apply (example_not_robust f). intros T ((Rn & W & V) & C & S). apply (R T). split; [split; [|auto]|auto].
  now apply same_runs.
Qed.
Theorem puts_counted (f : flags) (zero : bool) : exists c,
  by_counting control local initial (explicit (of_flags f) zero) (copy (of_flags f) zero) (hero (of_flags f) zero)
    (copy_hero (of_flags f) zero) (own_hero (of_flags f) zero) control0 c /\ reporting (of_flags f) c.
Proof. apply (proj1 (crowd_theorem_3 (of_flags f) zero)). exists 1. apply puts_not_robust. Qed.

Lemma puts_value_free : crowd_value_free.
Proof.
  split.
  { intros t h ->. split; [intros l []|]. exists (fun _ => 0%Z). reflexivity. }
  intros k h H. split.
  - intros l I. destruct H as (k0 & E). assert (In l (path 0)) as J by (rewrite E; apply in_or_app; auto).
    simpl in J. destruct J as [<-|[<-|[<-|[]]]]; simpl; tauto.
  - exists (fun _ => 1%Z). intros R. assert (fill (fun _ => 1%Z) R h = h) as ->; [|exact H].
    destruct H as (k0 & E). assert (forall l, In l h -> forall r, revalue l r 1%Z = l) as Q.
    { intros l I r. assert (In l (path 0)) as J by (rewrite E; apply in_or_app; auto).
      simpl in J. destruct J as [<-|[<-|[<-|[]]]]; reflexivity. }
    clear E. induction h as [|l h IH]; simpl; [auto|]. rewrite IH, Q; simpl; auto. intros l' I. apply Q. now right.
Qed.
