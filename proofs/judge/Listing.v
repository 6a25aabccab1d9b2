(* Lists of all events of a run: each event of the threads' sequences has one place. *)
Require Import List Arith ZArith Bool Lia Permutation.
Import ListNotations.
From RR Require Import Model Hardware Programs Places Listed Checks.

Lemma nodup_app {A} (l l' : list A) : NoDup l -> NoDup l' -> (forall x, In x l -> ~ In x l') -> NoDup (l ++ l').
Proof.
  induction 1 as [|a l N _ IH]; simpl; intros N' D; [auto|]. constructor.
  - rewrite in_app_iff. intros [I|I]; [auto|]. apply (D a); auto.
  - apply IH; auto.
Qed.
Lemma map_eq_split {A B} (f : A -> B) l k x r : map f l = k ++ x :: r ->
  exists k' y r', l = k' ++ y :: r' /\ f y = x /\ map f r' = r.
Proof.
  revert k; induction l as [|a l IH]; intros [|b k] H; simpl in H; try discriminate; inversion H; subst.
  - exists [], a, l. auto.
  - destruct (IH k) as (k' & y & r' & -> & Y & R); auto. exists (a :: k'), y, r'. auto.
Qed.
Lemma all_past_spec f h k x r : all_past f h = true -> h = k ++ x :: r -> f x r = true.
Proof.
  revert k; induction h as [|y h IH]; intros [|z k] H Q; simpl in Q; inversion Q; subst; simpl in H;
  apply andb_prop in H; destruct H; eauto.
Qed.

Section Listing.
Variables (ts : list (list item)) (nv : nat) (init : nat -> Z).
Definition thread t := nth t ts [].
Definition path_of t := history (thread t).
Definition E (e : event) : Prop := inrun nv init path_of e.

Record listing (s : list placed) : Prop := {
  listed : forall p, In p s <-> In p (places (who p) (thread (who p)));
  once : NoDup s;
}.
Definition events_in_order s := map (fun x => Ini x (init x)) (seq 0 nv) ++ map evt s.
Definition lt s := before (events_in_order s).

Variable s : list placed.
Hypothesis L : listing s.
Let in_s p : In p s <-> In p (places (who p) (thread (who p))) := listed s L p.
Let nodup_s : NoDup s := once s L.

Lemma evt_inj p q : In p s -> In q s -> evt p = evt q -> p = q.
Proof.
  rewrite !in_s. unfold evt. intros I J H. inversion H as [[W X P]]. rewrite W in I.
  apply (places_inj (who q) (thread (who q))); auto. rewrite <- (map_length lab (past p)), P. apply map_length.
Qed.
Lemma nodup_events : NoDup (events_in_order s).
Proof.
  apply nodup_app.
  - apply nodup_map; [apply seq_NoDup|]. intros x y _ _ H; now inversion H.
  - apply nodup_map; [apply nodup_s|]. apply evt_inj.
  - intros x I J. apply in_map_iff in I, J. destruct I as (i & <- & _), J as (p & H & _). discriminate.
Qed.

(* An event of a thread's sequence has a place. *)
Lemma place_of t l h : suf (l :: h) (path_of t) -> exists p, In p s /\ evt p = Ev t l h.
Proof.
  intros (k & H). unfold path_of, history in H. rewrite <- map_rev in H.
  destruct (map_eq_split _ _ _ _ _ H) as (k' & x & r & Q & X & R).
  exists {| who := t; nth_of := length r; what := x; past := r |}. split; [|unfold evt; simpl; congruence].
  apply in_s. simpl. apply places_spec. exists (rev r), (rev k'). simpl.
  rewrite rev_involutive, app_nil_r, rev_length. repeat split; auto.
  rewrite <- (rev_involutive (thread t)), Q, rev_app_distr. simpl. now rewrite <- app_assoc.
Qed.
Lemma place_in p : In p s -> suf (lab (what p) :: map lab (past p)) (path_of (who p)).
Proof.
  rewrite in_s. unfold places; rewrite places_spec. intros (l1 & l2 & Q & P & _ & _).
  rewrite app_nil_r in P. exists (rev (map lab l2)). unfold path_of, history.
  rewrite Q, P, map_app, rev_app_distr. simpl. rewrite <- app_assoc, map_rev. reflexivity.
Qed.
Lemma E_iff e : E e <-> In e (events_in_order s).
Proof.
  unfold events_in_order. rewrite in_app_iff, !in_map_iff. destruct e as [x v|t l h]; simpl.
  - split.
    + intros (H & ->). left. exists x. split; [auto|]. apply in_seq; lia.
    + intros [(y & Q & I)|(p & Q & _)]; [|discriminate]. inversion Q; subst. apply in_seq in I. split; [lia|auto].
  - split.
    + intros H. right. destruct (place_of t l h H) as (p & I & Q). eauto.
    + intros [(y & Q & _)|(p & Q & I)]; [discriminate|]. unfold evt in Q. inversion Q; subst. now apply place_in.
Qed.
Lemma E_evt p : In p s -> E (evt p).
Proof. intros I. apply E_iff. apply in_or_app; right. now apply in_map. Qed.
Lemma E_place e : E e -> noninit e -> exists p, In p s /\ evt p = e.
Proof. intros H N. destruct e as [x v|t l h]; [now destruct N|]. now apply place_of. Qed.

Lemma sto_lt : sto (E : ev -> Prop) (lt s).
Proof.
  split; [apply before_irr, nodup_events|split; [apply before_trans, nodup_events|]].
  intros x y Ex Ey. apply before_total; now apply E_iff.
Qed.
Lemma init_first : initfirst (E : ev -> Prop) (lt s).
Proof.
  intros i x Ei Ex K N. destruct (E_place x Ex N) as (p & I & <-).
  apply before_app; [|now apply in_map]. destruct i as [c v|t l h]; [|destruct l; discriminate].
  destruct Ei as (Lc & ->). apply in_map_iff. exists c. split; [auto|apply in_seq; lia].
Qed.
Lemma before_evt p q : before s p q -> lt s (evt p) (evt q).
Proof.
  intros H. apply (before_map evt) in H. destruct (before_inv _ _ _ H) as (l1 & l2 & Q & I).
  unfold lt, events_in_order; rewrite Q, app_assoc. now apply before_intro.
Qed.
(* What is po-before an event of the order has its place in the past of that one. *)
Lemma po_place e q : In q s -> epo e (evt q) ->
  exists p, In p s /\ evt p = e /\ who p = who q /\ exists k, past q = k ++ what p :: past p.
Proof.
  intros I H. destruct e as [x v|t l h]; [destruct H|]. destruct H as (-> & (k & K)).
  destruct (map_eq_split _ _ _ _ _ K) as (k' & x & r & Q & X & R).
  exists {| who := who q; nth_of := length r; what := x; past := r |}. unfold evt; simpl.
  split; [|split; [congruence|split; [auto|eauto]]]. apply in_s. simpl. eapply places_past; [now apply in_s|eauto].
Qed.
Lemma past_po p q : who p = who q -> (exists k, past q = k ++ what p :: past p) -> epo (evt p) (evt q).
Proof. intros W (k & K). split; [auto|]. exists (map lab k). rewrite K, map_app. reflexivity. Qed.

End Listing.
