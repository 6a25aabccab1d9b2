(* Sequences, newest first: what is older is a suffix; counting. *)
Require Import List Arith Lia.
Import ListNotations.

Section Sequences.
Context {A : Type}.
Definition suf (h h' : list A) := exists k, h' = k ++ h.
Definition cnt (f : A -> bool) h := length (filter f h).

Lemma suf_refl h : suf h h. Proof. now exists []. Qed.
Lemma suf_trans a b c : suf a b -> suf b c -> suf a c.
Proof. intros (k & ->) (k' & ->). exists (k' ++ k). now rewrite app_assoc. Qed.
Lemma suf_len a b : suf a b -> length a <= length b.
Proof. intros (k & ->). rewrite app_length; lia. Qed.
Lemma suf_cons l h h' : suf (l :: h) h' -> suf h h'.
Proof. intros (k & ->). exists (k ++ [l]). now rewrite <- app_assoc. Qed.
Lemma suf_tail x l h : suf x (l :: h) -> x = l :: h \/ suf x h.
Proof. intros ([|y k] & H); simpl in H; [auto|right]. inversion H; subst. now exists k. Qed.
Lemma suf_total a b c : suf a c -> suf b c -> suf a b \/ suf b a.
Proof.
  revert a b; induction c as [|y c IH]; intros a b Ha Hb.
  - destruct Ha as (k & Ha), Hb as (k' & Hb). symmetry in Ha, Hb.
    apply app_eq_nil in Ha, Hb. destruct Ha, Hb; subst; left; apply suf_refl.
  - destruct (suf_tail _ _ _ Ha) as [->|Ha'], (suf_tail _ _ _ Hb) as [->|Hb'].
    + left; apply suf_refl.
    + right; auto.
    + left; auto.
    + auto.
Qed.
Lemma suf_eq a b : suf a b -> length a = length b -> a = b.
Proof. intros (k & ->) H. rewrite app_length in H. destruct k; [auto|simpl in H; lia]. Qed.
Lemma suf_cnt f a b : suf a b -> cnt f a <= cnt f b.
Proof. intros (k & ->). unfold cnt. rewrite filter_app, app_length; lia. Qed.

Lemma suf_strict l h : ~ suf (l :: h) h.
Proof. intros H. apply suf_len in H. simpl in H. lia. Qed.

Lemma next l h p : suf (l :: h) p -> l :: h = p \/ exists l', suf (l' :: l :: h) p.
Proof.
  intros (k & ->). induction k as [|y k IH] using rev_ind; [auto|right].
  exists y, k. now rewrite <- app_assoc.
Qed.

Lemma cnt_cons f l h : cnt f (l :: h) = (if f l then 1 else 0) + cnt f h.
Proof. unfold cnt; simpl; destruct (f l); auto. Qed.

(* the element of its sort with a given number *)
Lemma nth_where f h : forall j, j < cnt f h -> exists l h', suf (l :: h') h /\ f l = true /\ cnt f h' = j.
Proof.
  induction h as [|l h IH]; intros j H; [unfold cnt in H; simpl in H; lia|].
  assert (j < cnt f h -> exists l0 h', suf (l0 :: h') (l :: h) /\ f l0 = true /\ cnt f h' = j) as K.
  { intros L. destruct (IH j L) as (l' & h' & S & W & C). exists l', h'. repeat split; auto.
    eapply suf_trans; [exact S|]. now exists [l]. }
  rewrite cnt_cons in H. destruct (f l) eqn:G; [|auto].
  destruct (Nat.eq_dec j (cnt f h)) as [->|N]; [|apply K; lia].
  exists l, h. repeat split; auto. apply suf_refl.
Qed.
End Sequences.
