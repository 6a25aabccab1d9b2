(* Theorem 7 of docs/theory-crowds.md, how many threads: a shortest cycle of program order and order of conflicts has at
   most two edges on each word that lead from thread to thread, so it meets at most twice as many threads as there are
   such words. *)
Require Import List Arith Lia Classical Relations.
Import ListNotations.
From RR Require Import Orders.

Lemma least (Q : nat -> Prop) : (exists n, Q n) -> exists n, Q n /\ forall m, Q m -> n <= m.
Proof.
  intros (n & H). revert H. induction n as [n IH] using (well_founded_induction lt_wf). intros H.
  destruct (classic (exists m, Q m /\ m < n)) as [(m & Qm & L)|N]; [now apply (IH m)|].
  exists n. split; [auto|]. intros m Qm. destruct (le_lt_dec n m); [auto|]. destruct N. eauto.
Qed.

(* A list of things of which at most k have each colour *)
Lemma few_per_colour {A} (col : A -> nat) k (cs : list nat) : forall l : list A, (forall a, In a l -> In (col a) cs) ->
  (forall c, length (filter (fun a => col a =? c) l) <= k) -> length l <= k * length cs.
Proof.
  induction cs as [|c cs IH]; intros l H F; simpl.
  - destruct l as [|a l]; [simpl; lia|]. destruct (H a (or_introl eq_refl)).
  - assert (length l = length (filter (fun a => col a =? c) l) + length (filter (fun a => negb (col a =? c)) l)) as E.
    { clear. induction l as [|a l IH]; simpl; [auto|]. destruct (col a =? c); simpl; lia. }
    assert (length (filter (fun a => negb (col a =? c)) l) <= k * length cs) as L.
    { apply IH.
      - intros a I. apply filter_In in I. destruct I as (I & N). destruct (H a I) as [Q|Q]; [|auto].
        rewrite Q, Nat.eqb_refl in N. discriminate.
      - intros c'. eapply Nat.le_trans; [|apply (F c')]. clear. induction l as [|a l IH]; simpl; [auto|].
        destruct (col a =? c); simpl; destruct (col a =? c'); simpl; lia. }
    specialize (F c). lia.
Qed.
Lemma at_most_two (l : list nat) a b : NoDup l -> (forall x, In x l -> x = a \/ x = b) -> length l <= 2.
Proof.
  intros N H. change 2 with (length [a; b]). apply NoDup_incl_length; [auto|]. intros x I. simpl. destruct (H x I); auto.
Qed.

Section Shortest.
Context {A : Type}.
(* program order, order of conflicts; threads and words *)
Variables (R P C : A -> A -> Prop) (thr loc : A -> nat) (wr acc : A -> Prop).
Hypothesis parts : forall a b, R a b <-> P a b \/ C a b.
Hypothesis P_thr : forall a b, P a b -> thr a = thr b.
Hypothesis C_acyclic : forall a, ~ clos_trans A C a a.
Hypothesis C_acc : forall a b, C a b -> acc a /\ acc b /\ (wr a \/ wr b) /\ loc a = loc b.
Hypothesis C_total : forall a b, acc a -> acc b -> (wr a \/ wr b) -> loc a = loc b -> a <> b -> C a b \/ C b a.

Lemma path_fun n : forall x y, path R n x y -> exists g : nat -> A, g 0 = x /\ g n = y /\ forall i, i < n ->
  R (g i) (g (S i)).
Proof.
  induction n as [|n IH]; intros x y H; simpl in H.
  - subst. exists (fun _ => y). repeat split; auto. lia.
  - destruct H as (c & H & H'). destruct (IH c y H') as (g & G0 & Gn & G).
    exists (fun i => match i with 0 => x | S j => g j end). split; [auto|]. split; [auto|].
    intros [|i] L; [now rewrite G0|]. apply G. lia.
Qed.
Lemma fun_path n (g : nat -> A) : (forall i, i < n -> R (g i) (g (S i))) -> forall k j, j + k <= n ->
  path R k (g j) (g (j + k)).
Proof.
  intros G. induction k as [|k IH]; intros j L; simpl; [f_equal; lia|].
  exists (g (S j)). split; [apply G; lia|]. replace (j + S k) with (S j + k) by lia. apply IH. lia.
Qed.

Section Cycle.
Variables (n : nat) (g : nat -> A).
Hypotheses (n_pos : 0 < n) (closed : g n = g 0) (steps : forall i, i < n -> R (g i) (g (S i))).
Hypothesis shortest : forall m x, 0 < m -> path R m x x -> n <= m.
Definition next i := if S i =? n then 0 else S i.
Lemma next_lt i : i < n -> next i < n.
Proof. unfold next. destruct (Nat.eqb_spec (S i) n); lia. Qed.
Lemma next_inj i j : i < n -> j < n -> next i = next j -> i = j.
Proof. unfold next. destruct (Nat.eqb_spec (S i) n), (Nat.eqb_spec (S j) n); lia. Qed.
Lemma next_step i : i < n -> R (g i) (g (next i)).
Proof. intros L. unfold next. destruct (Nat.eqb_spec (S i) n) as [E|E]; [|now apply steps]. rewrite <- closed, <- E.
  now apply steps. Qed.
(* no short cuts *)
Lemma no_chord i j : i < n -> j < n -> R (g i) (g j) -> j = next i.
Proof.
  intros Li Lj H. unfold next. destruct (le_lt_dec j i) as [L|L].
  - assert (path R (S (i - j)) (g i) (g i)) as Z.
    { simpl. exists (g j). split; [auto|]. replace i with (j + (i - j)) at 2 by lia. apply (fun_path n); [auto|lia]. }
    apply shortest in Z; [|lia]. destruct (Nat.eqb_spec (S i) n); lia.
  - assert (path R (S ((n - j) + i)) (g i) (g i)) as Z.
    { simpl. exists (g j). split; [auto|]. apply path_app with (g n).
      - replace n with (j + (n - j)) at 2 by lia. apply (fun_path n); [auto|lia].
      - rewrite closed. apply (fun_path n g steps i 0). lia. }
    apply shortest in Z; [|lia]. destruct (Nat.eqb_spec (S i) n); lia.
Qed.
Definition cross i := thr (g i) <> thr (g (next i)).
Lemma cross_C i : i < n -> cross i -> C (g i) (g (next i)).
Proof. intros L X. destruct (proj1 (parts _ _) (next_step i L)) as [H|H]; [destruct X; now apply P_thr|auto]. Qed.
Lemma same_index i j : i < n -> j < n -> g i = g j -> i = j.
Proof.
  intros Li Lj E. apply next_inj; auto. symmetry. apply no_chord; auto; [now apply next_lt|]. rewrite E.
    now apply next_step.
Qed.
(* of the accesses of a word one writes, w; the others are its neighbours *)
Lemma neighbours w i x : w < n -> wr (g w) -> acc (g w) -> loc (g w) = x -> i < n -> cross i -> loc (g i) = x ->
  i = w \/ next i = w.
Proof.
  intros Lw Ww Aw Xw Li Ci Xi. pose proof (cross_C i Li Ci) as E. pose proof (C_acc _ _ E) as (A1 & A2 & _ & L12).
  destruct (Nat.eq_dec i w) as [|N1]; [auto|]. destruct (Nat.eq_dec (next i) w) as [|N2]; [auto|]. exfalso.
  pose proof (next_lt i Li) as Ln.
  assert (g w <> g i) as D1 by (intros Q; apply same_index in Q; auto).
  assert (g w <> g (next i)) as D2 by (intros Q; apply same_index in Q; auto).
  destruct (C_total (g w) (g i)) as [Z1|Z1]; auto; [congruence| |].
  - destruct (C_total (g w) (g (next i))) as [Z2|Z2]; auto; [congruence| |].
    + assert (i = next w) by (apply no_chord; auto; apply parts; auto).
      assert (next i = next w) by (apply no_chord; auto; apply parts; auto).
      assert (i = next i) as Q by congruence. apply (C_acyclic (g i)). apply t_step. now rewrite Q at 2.
    + apply (C_acyclic (g w)). eapply t_trans; [apply t_step; exact Z1|]. eapply t_trans; apply t_step; eassumption.
  - apply N2. symmetry. apply no_chord; auto. apply parts; auto.
Qed.
Lemma two_per_word x l : NoDup l -> (forall i, In i l -> i < n /\ cross i /\ loc (g i) = x) -> length l <= 2.
Proof.
  intros N H. destruct l as [|i0 l0] eqn:El; [simpl; lia|]. rewrite <- El in *.
  destruct (H i0) as (L0 & C0 & X0); [rewrite El; now left|]. pose proof (cross_C i0 L0 C0) as E.
  pose proof (C_acc _ _ E) as (A1 & A2 & Wr & L12).
  assert (exists w, w < n /\ wr (g w) /\ acc (g w) /\ loc (g w) = x) as (w & Lw & Ww & Aw & Xw).
  { destruct Wr as [W|W]; [exists i0; auto|]. exists (next i0). split; [now apply next_lt|]. repeat split; auto.
    congruence. }
  destruct (classic (exists p, p < n /\ next p = w)) as [(p & Lp & Np)|Np].
  - apply at_most_two with w p; auto. intros i I. destruct (H i I) as (Li & Ci & Xi).
    destruct (neighbours w i x) as [Q|Q]; auto. right. apply next_inj; auto. congruence.
  - apply at_most_two with w w; auto. intros i I. destruct (H i I) as (Li & Ci & Xi).
    destruct (neighbours w i x) as [Q|Q]; auto. destruct Np. eauto.
Qed.

(* threads of the cycle *)
Variable sh : list nat.
Hypothesis sh_ok : forall a b, C a b -> thr a <> thr b -> In (loc a) sh.
Definition threads := nodup Nat.eq_dec (map (fun i => thr (g i)) (seq 0 n)).
Definition cross_b i := negb (thr (g i) =? thr (g (next i))).
Lemma cross_iff i : cross_b i = true <-> cross i.
Proof. unfold cross_b, cross. destruct (Nat.eqb_spec (thr (g i)) (thr (g (next i)))); simpl; split; congruence. Qed.
Lemma threads_in t : In t threads <-> exists i, i < n /\ thr (g i) = t.
Proof.
  unfold threads. rewrite nodup_In, in_map_iff. split; intros (i & H & H'); exists i; [apply in_seq in H'; split;
    [lia|auto]|].
  split; [auto|apply in_seq; lia].
Qed.
(* a thread that is not left is the only one *)
Lemma stays i : (forall j, j < n -> thr (g j) = thr (g i) -> ~ cross j) -> i < n -> forall j, j < n ->
  thr (g j) = thr (g i).
Proof.
  intros H Li.
  assert (forall k j, j < n -> thr (g j) = thr (g i) -> j + k < n -> thr (g (j + k)) = thr (g i)) as Up.
  { induction k as [|k IH]; intros j Lj Tj L; [now rewrite Nat.add_0_r|].
    assert (thr (g (j + k)) = thr (g i)) as T by (apply IH; auto; lia).
    destruct (classic (cross (j + k))) as [X|X]; [destruct (H (j + k)); auto; lia|].
    unfold cross in X. apply NNPP in X. unfold next in X. destruct (Nat.eqb_spec (S (j + k)) n); [lia|].
    replace (j + S k) with (S (j + k)) by lia. congruence. }
  assert (thr (g 0) = thr (g i)) as T0.
  { assert (thr (g (n - 1)) = thr (g i)) as T by (replace (n - 1) with (i + (n - 1 - i)) by lia; apply Up; auto; lia).
    destruct (classic (cross (n - 1))) as [X|X]; [destruct (H (n - 1)); auto; lia|]. unfold cross in X. apply NNPP in X.
    unfold next in X. destruct (Nat.eqb_spec (S (n - 1)) n); [congruence|lia]. }
  intros j Lj. apply (Up j 0); auto.
Qed.
Lemma few_threads : length threads <= Nat.max 1 (2 * length sh).
Proof.
  set (cs := filter cross_b (seq 0 n)).
  assert (length cs <= 2 * length sh) as Lc.
  { apply few_per_colour with (fun i => loc (g i)).
    - intros i I. apply filter_In in I. destruct I as (I & X). apply in_seq in I. apply cross_iff in X.
      apply sh_ok with (g (next i)); [apply cross_C; auto; lia|auto].
    - intros x. apply two_per_word with x; [repeat apply NoDup_filter; apply seq_NoDup|].
      intros i I. apply filter_In in I. destruct I as (I & X). apply Nat.eqb_eq in X. apply filter_In in I.
        destruct I as (I & Y).
      apply in_seq in I. apply cross_iff in Y. split; [lia|auto]. }
  destruct (classic (exists i, i < n /\ forall j, j < n -> thr (g j) = thr (g i) -> ~ cross j)) as [(i & Li & Hi)|N].
  - assert (length threads <= length [thr (g i)]) as L; [|simpl in L; lia]. apply NoDup_incl_length; [apply NoDup_nodup|].
    intros t I. apply threads_in in I. destruct I as (j & Lj & <-). left. symmetry. now apply stays.
  - assert (length threads <= length (map (fun i => thr (g i)) cs)) as L; [|rewrite map_length in L; lia].
    apply NoDup_incl_length; [apply NoDup_nodup|]. intros t I. apply threads_in in I. destruct I as (i & Li & <-).
    apply NNPP. intros Q. apply N. exists i. split; [auto|]. intros j Lj Tj X. apply Q. apply in_map_iff. exists j.
    split; [auto|]. apply filter_In. split; [apply in_seq; lia|now apply cross_iff].
Qed.
Lemma cycle_stays_in : clos_trans A (fun a b => R a b /\ In (thr a) threads /\ In (thr b) threads) (g 0) (g 0).
Proof.
  assert (forall k, 0 < k -> k <= n -> clos_trans A (fun a b => R a b /\ In (thr a) threads /\
    In (thr b) threads) (g 0) (g k)) as H.
  { assert (forall k, k <= n -> In (thr (g k)) threads) as I.
    { intros k L. apply threads_in. destruct (Nat.eq_dec k n) as [->|N]; [exists 0; rewrite closed; auto|exists k;
      split; [lia|auto]]. }
    induction k as [|k IH]; intros L0 L; [lia|]. destruct k as [|k].
    - apply t_step. split; [apply steps; lia|split; apply I; lia].
    - eapply t_trans; [apply IH; lia|]. apply t_step. split; [apply steps; lia|split; apply I; lia]. }
  rewrite <- closed at 2. apply H; lia.
Qed.
End Cycle.

Theorem few_threads_meet sh : (forall a b, C a b -> thr a <> thr b -> In (loc a) sh) -> (exists a, clos_trans A R a a) ->
  exists ts x, NoDup ts /\ length ts <= Nat.max 1 (2 * length sh) /\
    clos_trans A (fun a b => R a b /\ In (thr a) ts /\ In (thr b) ts) x x.
Proof.
  intros Sh (a & H). destruct (trans_path R a a H) as (m & M & Pm).
  destruct (least (fun n => 0 < n /\ exists x, path R n x x)) as (n & (Np & x & Px) & Mn); [exists m; eauto|].
  destruct (path_fun n x x Px) as (g & G0 & Gn & G). exists (threads n g), (g 0). split; [apply NoDup_nodup|]. split.
  - apply few_threads; auto; [congruence|]. intros k y K Pk. apply Mn. eauto.
  - apply cycle_stays_in; auto. congruence.
Qed.
End Shortest.
