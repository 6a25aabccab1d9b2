(* Events of a run by their places, and an order of them given as two lists: alpha with m, then beta. *)
Require Import List Arith ZArith Bool Lia Permutation.
Import ListNotations.
From RR Require Import Model Programs.

(* What a counterexample says of an event: its label, whether it is in beta, what a NIC event reads or writes. *)
Record item := { lab : label; late : bool; carried : Z }.

(* An event at its place: its thread, how many come before it there, and these, newest first. *)
Record placed := { who : nat; nth_of : nat; what : item; past : list item }.
Definition evt (p : placed) : event := Ev (who p) (lab (what p)) (map lab (past p)).

Fixpoint places_from t n h l :=
  match l with [] => [] | x :: r => {| who := t; nth_of := n; what := x; past := h |} :: places_from t (S n) (x :: h) r end.
Definition places t l := places_from t 0 [] l.

Lemma places_spec t l : forall n h p, In p (places_from t n h l) <->
  exists l1 l2, l = l1 ++ what p :: l2 /\ past p = rev l1 ++ h /\ nth_of p = n + length l1 /\ who p = t.
Proof.
  induction l as [|x l IH]; intros n h p; simpl.
  - split; [tauto|]. intros (l1 & l2 & Q & _). destruct l1; discriminate.
  - rewrite IH. split.
    + intros [<-|(l1 & l2 & -> & -> & -> & <-)].
      * exists [], l. simpl. repeat split; auto.
      * exists (x :: l1), l2. simpl. rewrite <- app_assoc. simpl. repeat split; auto; lia.
    + intros ([|y l1] & l2 & Q & P & N & W); simpl in *; inversion Q; subst.
      * left. destruct p; simpl in *; subst. f_equal; lia.
      * right. exists l1, l2. rewrite <- app_assoc in P. repeat split; auto; lia.
Qed.

(* A place is known by its thread and its number. *)
Lemma places_inj t l p q : In p (places t l) -> In q (places t l) -> length (past p) = length (past q) -> p = q.
Proof.
  unfold places; rewrite !places_spec.
  intros (l1 & l2 & Q & P & N & W) (k1 & k2 & Q' & P' & N' & W') L.
  rewrite app_nil_r in P, P'. rewrite P, P', !rev_length in L.
  assert (l1 = k1 /\ what p :: l2 = what q :: k2) as (-> & R).
  { rewrite Q in Q'. clear -Q' L. revert k1 Q' L. induction l1 as [|a l1 IH]; intros [|b k1] Q' L; simpl in *;
    try discriminate; auto.
    inversion Q'; subst. destruct (IH k1) as (-> & ->); auto. }
  destruct p, q; simpl in *; subst. inversion R; subst. reflexivity.
Qed.
Lemma places_nth t l p : In p (places t l) -> nth_of p = length (past p).
Proof.
  unfold places; rewrite places_spec. intros (l1 & l2 & _ & P & N & _).
  rewrite P, app_nil_r, rev_length. exact N.
Qed.
Lemma places_nodup t l : NoDup (places t l).
Proof.
  unfold places. generalize (@nil item). generalize 0.
  induction l as [|x l IH]; intros n h; simpl; constructor; auto.
  rewrite places_spec. intros (l1 & l2 & _ & _ & N & _). simpl in N. lia.
Qed.
(* what comes before an event of a thread has its place as well *)
Lemma places_past t l p x r : In p (places t l) -> (exists k, past p = k ++ x :: r) ->
  In {| who := t; nth_of := length r; what := x; past := r |} (places t l).
Proof.
  unfold places; rewrite !places_spec. intros (l1 & l2 & Q & P & N & W) (k & K).
  rewrite app_nil_r in P. rewrite P in K.
  assert (l1 = rev r ++ x :: rev k) as ->.
  { rewrite <- (rev_involutive l1), K, rev_app_distr. simpl. now rewrite <- app_assoc. }
  exists (rev r), (rev k ++ what p :: l2). simpl. rewrite app_nil_r, rev_involutive, rev_length.
  repeat split; auto. now rewrite Q, <- app_assoc.
Qed.

(* Queues, one for each thread; [pop t] takes the next one of thread t. *)
Fixpoint pop (t : nat) (qs : list (list placed)) : option (placed * list (list placed)) :=
  match qs, t with
  | (p :: q) :: r, 0 => Some (p, q :: r)
  | q :: r, S t => match pop t r with Some (p, r') => Some (p, q :: r') | None => None end
  | _, _ => None
  end.
Lemma pop_spec t : forall qs p qs', pop t qs = Some (p, qs') ->
  nth t qs [] = p :: nth t qs' [] /\ forall t', t' <> t -> nth t' qs [] = nth t' qs' [].
Proof.
  induction t as [|t IH]; intros [|q qs] p qs' H; simpl in H; try discriminate; destruct q as [|x q]; try discriminate.
  - inversion H; subst. split; [reflexivity|]. intros [|t'] N; [congruence|reflexivity].
  - destruct (pop t qs) as [(y, r)|] eqn:K; [|discriminate]. inversion H; subst.
    destruct (IH _ _ _ K) as (U & V). split; [exact U|]. intros [|t'] N; [reflexivity|]. apply V; congruence.
  - destruct (pop t qs) as [(y, r)|] eqn:K; [|discriminate]. inversion H; subst.
    destruct (IH _ _ _ K) as (U & V). split; [exact U|]. intros [|t'] N; [reflexivity|]. apply V; congruence.
Qed.

Inductive taken := All_of (l : list placed) | Not_next (t n : nat) | Left_over.

(* The events that [ids] names, each the next of its thread; nothing may be left. *)
Fixpoint take (ids : list (nat * nat)) (qs : list (list placed)) : taken :=
  match ids with
  | [] => if forallb (fun q => match q with [] => true | _ => false end) qs then All_of [] else Left_over
  | (t, n) :: ids =>
    match pop t qs with
    | Some (p, qs') =>
        if nth_of p =? n then match take ids qs' with All_of l => All_of (p :: l) | bad => bad end else Not_next t n
    | None => Not_next t n
    end
  end.

Definition of_thread t p := who p =? t.
Lemma take_spec ids : forall qs l, take ids qs = All_of l ->
  (forall t p, In p (nth t qs []) -> who p = t) -> forall t, filter (of_thread t) l = nth t qs [].
Proof.
  induction ids as [|(t, n) ids IH]; intros qs l H W t'; simpl in H.
  - destruct (forallb _ qs) eqn:K; [|discriminate]. inversion H; subst; simpl.
    destruct (nth_in_or_default t' qs []) as [I|D]; [|now rewrite D].
    rewrite forallb_forall in K. specialize (K _ I). now destruct (nth t' qs []).
  - destruct (pop t qs) as [(p, qs')|] eqn:K; [|discriminate].
    destruct (nth_of p =? n); [|discriminate].
    destruct (take ids qs') as [l'| |] eqn:R; try discriminate. inversion H; subst; clear H.
    destruct (pop_spec _ _ _ _ K) as (U & V).
    assert (who p = t) as Wp by (apply W; rewrite U; simpl; auto).
    assert (forall t p, In p (nth t qs' []) -> who p = t) as W'.
    { intros u x I. destruct (Nat.eq_dec u t) as [->|N].
      - apply W. rewrite U. now right.
      - apply W. now rewrite V. }
    simpl. unfold of_thread at 1. rewrite Wp. destruct (t =? t') eqn:T.
    + apply Nat.eqb_eq in T; subst t'. rewrite U. f_equal. now apply IH.
    + apply Nat.eqb_neq in T. rewrite V by congruence. now apply IH.
Qed.

(* Parts of a list that is split by a test *)
Lemma filter_split {A} (f : A -> bool) l : Permutation (filter (fun x => negb (f x)) l ++ filter f l) l.
Proof.
  induction l as [|a l IH]; simpl; [constructor|]. destruct (f a); simpl.
  - rewrite <- Permutation_middle. now constructor.
  - now constructor.
Qed.
Lemma nodup_by_thread l : (forall t, NoDup (filter (of_thread t) l)) -> NoDup l.
Proof.
  induction l as [|p l IH]; intros H; constructor.
  - intros I. specialize (H (who p)). simpl in H. unfold of_thread at 1 in H. rewrite Nat.eqb_refl in H.
    inversion H; subst. apply H2. apply filter_In. split; [auto|apply Nat.eqb_refl].
  - apply IH. intros t. specialize (H t). simpl in H. destruct (of_thread t p); [now inversion H|auto].
Qed.
Lemma nodup_map {A B} (f : A -> B) l : NoDup l -> (forall a b, In a l -> In b l -> f a = f b -> a = b) -> NoDup (map f l).
Proof.
  induction 1 as [|a l N _ IH]; intros H; simpl; constructor.
  - rewrite in_map_iff. intros (b & Q & I). apply N. rewrite (H a b); simpl; auto.
  - apply IH. intros; apply H; simpl; auto.
Qed.
(* the order of a part is that of the whole *)
Lemma filter_order {A} (f : A -> bool) l : forall l1 a l2 b, filter f l = l1 ++ a :: l2 -> In b l2 ->
  exists k1 k2, l = k1 ++ a :: k2 /\ In b k2.
Proof.
  induction l as [|x l IH]; intros l1 a l2 b H I; simpl in H; [destruct l1; discriminate|].
  destruct (f x).
  - destruct l1 as [|y l1]; simpl in H; inversion H; subst.
    + exists [], l. split; [reflexivity|]. now apply filter_In in I.
    + destruct (IH _ _ _ _ H2 I) as (k1 & k2 & -> & K). exists (y :: k1), k2. auto.
  - destruct (IH _ _ _ _ H I) as (k1 & k2 & -> & K). exists (x :: k1), k2. auto.
Qed.
Lemma places_sorted t l : forall n h l1 p l2 q, places_from t n h l = l1 ++ p :: l2 -> In q l2 -> nth_of p < nth_of q.
Proof.
  induction l as [|x l IH]; intros n h l1 p l2 q H I; simpl in H; [destruct l1; discriminate|].
  destruct l1 as [|y l1]; simpl in H; inversion H; subst.
  - apply places_spec in I. destruct I as (k1 & k2 & _ & _ & -> & _). simpl. lia.
  - eapply IH; eauto.
Qed.
