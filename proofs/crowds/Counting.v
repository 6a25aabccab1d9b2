(* Crowds need only counting: runs of any number of alike processes, and runs of a control with a marking that says how many
   processes are in each local state.  docs/theory-crowds.md, Lemma 1 to Lemma 4, for steps of the form that Lemma 2
      states. *)
Require Import List Arith Lia Permutation Relations.
Import ListNotations.

Section Crowd.
(* controls (the shared part, and the local parts of explicit threads), local states; which of them are initial *)
Variables (C L : Type) (initial : L -> Prop).
(* A step of an explicit thread; of a copy; of a thread that starts phase 2 with a copy as the hero, which becomes a
   part of the
   control; of a copy that does so, with another copy as the hero; of a copy that starts it and is the hero itself. *)
Variables (explicit : C -> C -> Prop) (copy : C -> L -> C -> L -> Prop).
Variables (hero : C -> L -> C -> Prop) (copy_hero : C -> L -> L -> C -> L -> Prop) (own_hero : C -> L -> C -> Prop).

(* Processes with names: their places in a list.  The hero leaves the list. *)
Definition named := (C * list L)%type.
Inductive run_step : named -> named -> Prop :=
| run_explicit c c' ls : explicit c c' -> run_step (c, ls) (c', ls)
| run_copy c c' l l' a b : copy c l c' l' -> run_step (c, a ++ l :: b) (c', a ++ l' :: b)
| run_hero c c' h a b : hero c h c' -> run_step (c, a ++ h :: b) (c', a ++ b)
| run_copy_hero c c' l l' h a b d : copy_hero c l h c' l' -> run_step (c, a ++ l :: b ++ h :: d) (c', a ++ l' :: b ++ d)
| run_hero_copy c c' l l' h a b d : copy_hero c l h c' l' -> run_step (c, a ++ h :: b ++ l :: d) (c', a ++ b ++ l' :: d)
| run_own_hero c c' h a b : own_hero c h c' -> run_step (c, a ++ h :: b) (c', a ++ b).
Definition run := clos_refl_trans named run_step.

(* A control and a marking: a list of which the order does not count.  Initial local states get tokens at any time. *)
Inductive rule : C -> list L -> C -> list L -> Prop :=
| rule_explicit c c' : explicit c c' -> rule c [] c' []
| rule_copy c l c' l' : copy c l c' l' -> rule c [l] c' [l']
| rule_hero c h c' : hero c h c' -> rule c [h] c' []
| rule_copy_hero c l h c' l' : copy_hero c l h c' l' -> rule c [l; h] c' [l']
| rule_own_hero c h c' : own_hero c h c' -> rule c [h] c' [].
Inductive count_step : named -> named -> Prop :=
| count_rule c m c' m' ins outs rest : rule c ins c' outs -> Permutation m (ins ++ rest) -> Permutation m' (outs ++ rest) ->
    count_step (c, m) (c', m')
| count_supply c m m' i : initial i -> Permutation m' (i :: m) -> count_step (c, m) (c, m').
Definition count := clos_refl_trans named count_step.

(* What n copies reach, for some n; what counting reaches *)
Definition with_copies n c0 c := exists ls0 ls, length ls0 = n /\ Forall initial ls0 /\ run (c0, ls0) (c, ls).
Definition by_counting c0 c := exists m, count (c0, []) (c, m).

(* Forgetting the names loses no step. *)
Lemma forget s s' : run_step s s' -> count_step s s'.
Proof.
  intros [c c' ls H|c c' l l' a b H|c c' h a b H|c c' l l' h a b d H|c c' l l' h a b d H|c c' h a b H].
  - apply count_rule with [] [] ls; [now constructor|reflexivity|reflexivity].
  - apply count_rule with [l] [l'] (a ++ b); [now apply rule_copy| |]; simpl; symmetry; apply Permutation_middle.
  - apply count_rule with [h] [] (a ++ b); [now apply rule_hero| |reflexivity]. simpl; symmetry; apply Permutation_middle.
  - apply count_rule with [l; h] [l'] (a ++ b ++ d); [now apply rule_copy_hero| |]; simpl.
    + rewrite <- (Permutation_middle a). apply perm_skip.
      rewrite <- (Permutation_middle b), <- (Permutation_middle a). reflexivity.
    + symmetry. apply Permutation_middle.
  - apply count_rule with [l; h] [l'] (a ++ b ++ d); [now apply rule_copy_hero| |]; simpl.
    + rewrite <- (Permutation_middle a), <- (Permutation_middle b), <- (Permutation_middle a). apply perm_swap.
    + rewrite <- (Permutation_middle b), <- (Permutation_middle a). reflexivity.
  - apply count_rule with [h] [] (a ++ b); [now apply rule_own_hero| |reflexivity]. simpl; symmetry;
    apply Permutation_middle.
Qed.
Lemma supply_all ls0 c : Forall initial ls0 -> count (c, []) (c, ls0).
Proof.
  induction 1 as [|i ls H _ IH]; [apply rt_refl|]. eapply rt_trans; [exact IH|]. apply rt_step, count_supply with i; auto.
Qed.
Lemma count_of_run s s' : run s s' -> count s s'.
Proof. induction 1; [now apply rt_step, forget|apply rt_refl|eapply rt_trans; eauto]. Qed.

(* A step of the marking is a step of processes, up to their names. *)
Lemma perm_one {A} (x : A) m rest : Permutation m (x :: rest) -> exists a b, m = a ++ x :: b /\ Permutation (a ++ b) rest.
Proof.
  intros H. assert (In x m) as I by (eapply Permutation_in; [symmetry; exact H|now left]).
  destruct (in_split _ _ I) as (a & b & ->). exists a, b. split; [auto|].
  apply (Permutation_cons_inv (a := x)). now rewrite (Permutation_middle a b x).
Qed.
Lemma recall c ls m c' m' ins outs rest : rule c ins c' outs -> Permutation m (ins ++ rest) ->
  Permutation m' (outs ++ rest) ->
  Permutation ls m -> exists ls', run_step (c, ls) (c', ls') /\ Permutation ls' m'.
Proof.
  intros R P P' Q. assert (Permutation ls (ins ++ rest)) as P0 by (rewrite Q; exact P). clear Q P. revert R P0 P'.
  clear m. rename ls into m. intros [? ? H|? l ? l' H|? h ? H|? l h ? l' H|? h ? H] P P'; simpl in *.
  - exists m. split; [now constructor|]. now rewrite P, P'.
  - destruct (perm_one l m rest P) as (a & b & -> & K). exists (a ++ l' :: b). split; [now constructor|].
    now rewrite <- (Permutation_middle a), K, P'.
  - destruct (perm_one h m rest P) as (a & b & -> & K). exists (a ++ b). split; [now constructor|]. now rewrite K, P'.
  - destruct (perm_one l m (h :: rest) P) as (a & b & -> & K). destruct (perm_one h (a ++ b) rest K) as (d & e & D & K').
    assert (exists k1 k2, (a = d ++ h :: k1 /\ e = k1 ++ b) \/ (b = k2 ++ h :: e /\
      d = a ++ k2)) as (k1 & k2 & [(-> & ->)|(-> & ->)]).
    { clear -D. revert a D. induction d as [|x d IH]; intros [|y a] D; simpl in D.
      - exists [], []. right. auto.
      - inversion D; subst. exists a, []. left. auto.
      - exists [], (x :: d). right. auto.
      - inversion D; subst. destruct (IH a H1) as (k1 & k2 & [(-> & ->)|(-> & ->)]).
        + exists k1, []. left. auto.
        + exists [], k2. right. auto. }
    + exists (d ++ k1 ++ l' :: b). split; [rewrite <- app_assoc; now apply run_hero_copy|].
      rewrite <- (Permutation_middle k1), <- (Permutation_middle d), K'. now rewrite P'.
    + exists (a ++ l' :: k2 ++ e). split; [now apply run_copy_hero|].
      rewrite <- (Permutation_middle a), app_assoc, K'. now rewrite P'.
  - destruct (perm_one h m rest P) as (a & b & -> & K). exists (a ++ b). split; [now apply run_own_hero|]. now rewrite K, P'.
Qed.

(* Copies that do nothing change nothing. *)
Lemma more_step x s s' : run_step s s' -> run_step (fst s, snd s ++ x) (fst s', snd s' ++ x).
Proof.
  intros [c c' ls H|c c' l l' a b H|c c' h a b H|c c' l l' h a b d H|c c' l l' h a b d H|c c' h a b H]; simpl;
  repeat (rewrite <- app_assoc; simpl); try (now constructor); try (now apply run_hero_copy); now apply run_own_hero.
Qed.
Lemma more_run x s s' : run s s' -> run (fst s, snd s ++ x) (fst s', snd s' ++ x).
Proof. induction 1; [now apply rt_step, more_step|apply rt_refl|eapply rt_trans; eauto]. Qed.

(* Lemma 1: more copies, more behaviour. *)
Theorem more_copies n n' c0 c : (exists i, initial i) -> n <= n' -> with_copies n c0 c -> with_copies n' c0 c.
Proof.
  intros (i & Hi) Le (ls0 & ls & Len & I & R). exists (ls0 ++ repeat i (n' - n)), (ls ++ repeat i (n' - n)). split; [|split].
  - rewrite app_length, repeat_length. lia.
  - apply Forall_app. split; [auto|]. apply Forall_forall. intros x X. apply repeat_spec in X. now subst.
  - exact (more_run (repeat i (n' - n)) _ _ R).
Qed.

(* What counting reaches some number of copies reaches, with the same tokens. *)
Lemma run_of_count c0 s : count (c0, []) s -> exists ls0 ls, Forall initial ls0 /\ run (c0, ls0) (fst s, ls) /\
  Permutation ls (snd s).
Proof.
  intros H. apply clos_rt_rtn1 in H. induction H as [|s s' H _ IH].
  - exists [], []. repeat split; [constructor|apply rt_refl|reflexivity].
  - destruct IH as (ls0 & ls & I & R & P). destruct H as [c m c' m' ins outs rest H P1 P2|c m m' i Hi P1]; simpl in *.
    + destruct (recall c ls m c' m' ins outs rest H P1 P2 P) as (ls' & S & Q). exists ls0, ls'. repeat split; auto.
      eapply rt_trans; [exact R|]. now apply rt_step.
    + exists (ls0 ++ [i]), (ls ++ [i]). split; [apply Forall_app; auto|]. split; [exact (more_run [i] _ _ R)|].
      rewrite P1, <- P. symmetry. apply Permutation_cons_append.
Qed.

(* Theorem 3: some number of copies reaches a control iff counting does. *)
Theorem coverability c0 c : (exists n, with_copies n c0 c) <-> by_counting c0 c.
Proof.
  split.
  - intros (n & ls0 & ls & _ & I & R). exists ls. eapply rt_trans; [apply (supply_all ls0 c0 I)|exact (count_of_run _ _ R)].
  - intros (m & H). destruct (run_of_count _ _ H) as (ls0 & ls & I & R & _). exists (length ls0), ls0, ls. auto.
Qed.

(* No step asks for the absence of tokens. *)
Theorem more_tokens x c m c' m' : count (c, m) (c', m') -> count (c, m ++ x) (c', m' ++ x).
Proof.
  assert (forall s s', count_step s s' -> count_step (fst s, snd s ++ x) (fst s', snd s' ++ x)) as St.
  { intros _ _ [c1 m1 c2 m2 ins outs rest H P P'|c1 m1 m2 i Hi P]; simpl.
    - apply count_rule with ins outs (rest ++ x); [auto|rewrite P, <- app_assoc;
      reflexivity|rewrite P', <- app_assoc; reflexivity].
    - apply count_supply with i; [auto|]. now rewrite P. }
  intros H. change (count (fst (c, m), snd (c, m) ++ x) (fst (c', m'), snd (c', m') ++ x)). revert H.
  generalize (c, m) (c', m'). intros s s' H. induction H; [now apply rt_step, St|apply rt_refl|eapply rt_trans; eauto].
Qed.

(* Lemma 4, copycats: as many copies as wanted in l, beside a marking; a step of one that can be taken again. *)
Definition plenty c0 c m l := forall k, count (c0, []) (c, repeat l k ++ m).
Lemma copy_once c l c' l' m : copy c l c' l' -> count (c, l :: m) (c', l' :: m).
Proof. intros H. apply rt_step. apply count_rule with [l] [l'] m; [now apply rule_copy|reflexivity|reflexivity]. Qed.
Theorem copycats c0 c c' l l' m : plenty c0 c m l -> copy c l c' l' -> copy c' l c' l' ->
  forall k j, count (c0, []) (c', repeat l' (S k) ++ repeat l j ++ m).
Proof.
  intros P H H' k j.
  assert (forall n, count (c, repeat l (S n) ++ repeat l j ++ m) (c', repeat l' (S n) ++ repeat l j ++ m)) as M.
  { intros n. simpl. eapply rt_trans; [exact (copy_once c l c' l' _ H)|]. generalize (repeat l j ++ m). intros r. revert r.
    induction n as [|n IH]; intros r; [apply rt_refl|]. simpl.
    (* the copies that are done wait at the end of the list *)
    assert (forall d, count (c', repeat l' d ++ l :: r) (c', repeat l' d ++ l' :: r)) as One.
    { intros d. apply rt_step. apply count_rule with [l] [l'] (repeat l' d ++ r); [now apply rule_copy| |];
      simpl; symmetry; apply Permutation_middle. }
    specialize (IH (l :: r)).
    assert (forall d, repeat l d ++ l :: r = l :: repeat l d ++ r) as E.
    { intros d. induction d as [|d E]; simpl; [auto|]. now rewrite E. }
    rewrite E in IH. eapply rt_trans; [exact IH|].
    assert (forall d, repeat l' d ++ l' :: r = l' :: repeat l' d ++ r) as E'.
    { intros d. induction d as [|d E']; simpl; [auto|]. now rewrite E'. }
    rewrite <- E'. exact (One (S n)). }
  eapply rt_trans; [|exact (M k)]. pose proof (P (S k + j)) as Q. rewrite repeat_app, <- app_assoc in Q. exact Q.
Qed.
End Crowd.
