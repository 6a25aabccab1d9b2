(* Crowds: which copy is which does not matter, and more copies do more: docs/theory-crowds.md, Lemma 1, for P ts,
   and for P(n),
   which has n copies of each template. *)
Require Import List Arith Bool Lia Permutation FinFun Classical.
Import ListNotations.
From RR Require Import Model Programs CrowdProgram CrowdTheorem Transported.

Section Embedded.
Context {K : crowd} (hw : hardware).

(* The order of copies does not matter: copies of one template can be exchanged. *)
Theorem exchanged ts ts2 : Permutation ts ts2 -> (robust hw (P ts) <-> robust hw (P ts2)).
Proof.
  assert (forall ts ts2, Permutation ts ts2 -> ~ robust hw (P ts2) -> ~ robust hw (P ts)) as H.
  { clear ts ts2. intros ts ts2 Q. apply Permutation_nth_error_bis in Q. destruct Q as (f & I & B & E).
    apply (embedded ts2 ts f); [intros; now rewrite E|]. intros a b _ _. apply I. }
  intros Q. split; intros R; apply Classical_Prop.NNPP; intros N.
  - exact (H ts ts2 Q N R).
  - exact (H ts2 ts (Permutation_sym Q) N R).
Qed.
(* Lemma 1 *)
Theorem more_copies_not_robust ts us : ~ robust hw (P ts) -> ~ robust hw (P (ts ++ us)).
Proof. apply (embedded ts (ts ++ us) (fun a => a)); [intros a L; now apply nth_error_app1|auto]. Qed.

(* P(n): n copies of each template *)
Definition copies n := flat_map (fun k => repeat k n) (seq 0 nk).
Lemma counted_copies n k : k < nk -> count_occ Nat.eq_dec (copies n) k = n.
Proof.
  unfold copies. assert (forall m a, count_occ Nat.eq_dec (flat_map (fun k => repeat k n) (seq a m)) k =
    if (a <=? k) && (k <? a + m) then n else 0) as H.
  { induction m as [|m IH]; intros a; cbn [seq flat_map].
    - destruct (Nat.leb_spec a k), (Nat.ltb_spec k (a + 0)); simpl; auto; lia.
    - rewrite count_occ_app, IH. assert (count_occ Nat.eq_dec (repeat a n) k = if a =? k then n else 0) as ->.
      { clear. destruct (Nat.eqb_spec a k) as [->|N]; induction n; simpl; auto.
        - destruct (Nat.eq_dec k k); congruence.
        - destruct (Nat.eq_dec a k); congruence. }
      destruct (Nat.eqb_spec a k), (Nat.leb_spec (S a) k), (Nat.leb_spec a k), (Nat.ltb_spec k (S a + m)),
        (Nat.ltb_spec k (a + S m));
      simpl; lia. }
  intros L. rewrite H. destruct (Nat.leb_spec 0 k), (Nat.ltb_spec k (0 + nk)); simpl; auto; lia.
Qed.
Lemma included (l1 : list nat) : forall l2, (forall k, count_occ Nat.eq_dec l1 k <= count_occ Nat.eq_dec l2 k) ->
  exists us, Permutation l2 (l1 ++ us).
Proof.
  induction l1 as [|a l1 IH]; intros l2 H; [exists l2; auto|].
  assert (In a l2) as I.
  { apply (count_occ_In Nat.eq_dec). specialize (H a). simpl in H. destruct (Nat.eq_dec a a); [lia|congruence]. }
  destruct (in_split _ _ I) as (b & c & ->). destruct (IH (b ++ c)) as (us & Q).
  - intros k. specialize (H k). rewrite count_occ_app in *. simpl in H. destruct (Nat.eq_dec a k); lia.
  - exists us. simpl. rewrite <- (Permutation_middle b c a). now apply perm_skip.
Qed.
Theorem within_copies ts n : templates ts -> length ts <= n -> ~ robust hw (P ts) -> ~ robust hw (P (copies n)).
Proof.
  intros Tm L N. destruct (included ts (copies n)) as (us & Q).
  - intros k. destruct (in_dec Nat.eq_dec k ts) as [I|I].
    + rewrite counted_copies by auto. pose proof (count_occ_bound Nat.eq_dec k ts). lia.
    + apply (count_occ_not_In Nat.eq_dec) in I. rewrite I. lia.
  - intros R. apply (exchanged _ _ Q) in R. now apply (more_copies_not_robust ts us N).
Qed.
Lemma copies_templates n : templates (copies n).
Proof. intros k I. apply in_flat_map in I. destruct I as (i & I & J). apply repeat_spec in J. apply in_seq in I. subst.
  lia. Qed.
End Embedded.
