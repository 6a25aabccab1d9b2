(* A decision of the axioms of Deployed.v for a trace that is given, and that it is right, both ways. *)
Require Import List Arith ZArith Bool Lia Relations.
Import ListNotations.
From RR Require Import Closure Deployed.

(* Closures of relations between the elements of a list *)
Section Reaching.
Context {A : Type}.
Variables (eqb : A -> A -> bool) (l : list A).
Hypothesis eqb_spec : forall a b, eqb a b = true <-> a = b.
Fixpoint index (k : list A) a := match k with [] => 0 | b :: k => if eqb b a then 0 else S (index k a) end.
Definition listed (f : A -> A -> bool) := tabulate (length l) (fun i j =>
  match nth_error l i, nth_error l j with Some a, Some b => f a b | _, _ => false end).
Definition reaching f := closure (length l) (listed f).
Definition reach (C : matrix) a b := get C (index l a) (index l b).
Definition acyclic_on f := acyclic (length l) (listed f).

Lemma index_in a : In a l -> nth_error l (index l a) = Some a.
Proof.
  induction l as [|b k IH]; simpl; [tauto|]. intros H. destruct (eqb b a) eqn:Q.
  - apply eqb_spec in Q. now subst.
  - simpl. apply IH. destruct H as [->|H]; [|exact H]. rewrite (proj2 (eqb_spec a a) eq_refl) in Q. discriminate.
Qed.
Lemma index_nth i a : NoDup l -> nth_error l i = Some a -> index l a = i.
Proof.
  intros N H. apply (proj1 (NoDup_nth_error l) N).
  - apply nth_error_Some. rewrite index_in; [discriminate|]. eapply nth_error_In; eauto.
  - rewrite index_in; [congruence|]. eapply nth_error_In; eauto.
Qed.

Variables (f : A -> A -> bool) (R : A -> A -> Prop).
Hypothesis unique : NoDup l.
Hypothesis inside : forall a b, R a b -> In a l /\ In b l.
Hypothesis spec : forall a b, In a l -> In b l -> (f a b = true <-> R a b).

Lemma listed_spec i j : get (listed f) i j = true <->
  exists a b, nth_error l i = Some a /\ nth_error l j = Some b /\ R a b.
Proof.
  unfold listed. rewrite get_tabulate. split.
  - intros (_ & _ & H). destruct (nth_error l i) as [a|] eqn:Ha; [|discriminate].
    destruct (nth_error l j) as [b|] eqn:Hb; [|discriminate]. exists a, b. repeat split; auto.
    apply spec; [eapply nth_error_In; eauto|eapply nth_error_In; eauto|exact H].
  - intros (a & b & Ha & Hb & H). rewrite Ha, Hb.
    split; [apply nth_error_Some; congruence|split; [apply nth_error_Some; congruence|]].
    apply spec; [eapply nth_error_In; eauto|eapply nth_error_In; eauto|exact H].
Qed.
Lemma listed_small i j : get (listed f) i j = true -> i < length l /\ j < length l.
Proof. intros H. apply get_tabulate in H. tauto. Qed.
Lemma path_numbers a b : clos_trans A R a b -> clos_trans nat (fun i j => get (listed f) i j = true) (index l a) (index l b).
Proof.
  induction 1 as [a b H|a b c _ IH _ IH']; [|eapply t_trans; eauto].
  apply t_step, listed_spec. destruct (inside a b H) as (Ia & Ib). exists a, b. auto using index_in.
Qed.
Lemma path_of_numbers i j : clos_trans nat (fun i j => get (listed f) i j = true) i j ->
  exists a b, nth_error l i = Some a /\ nth_error l j = Some b /\ clos_trans A R a b.
Proof.
  induction 1 as [i j H|i j k _ (a & b & Ha & Hb & P) _ (b' & c & Hb' & Hc & P')].
  - apply listed_spec in H. destruct H as (a & b & Ha & Hb & H). exists a, b. auto using t_step.
  - rewrite Hb in Hb'. inversion Hb'; subst b'. exists a, c. repeat split; auto. eapply t_trans; eauto.
Qed.
Lemma path_inside a b : clos_trans A R a b -> In a l /\ In b l.
Proof. induction 1 as [a b H|a b c _ IH _ IH']; [auto|tauto]. Qed.

Lemma reach_spec a b : In a l -> In b l -> (reach (reaching f) a b = true <-> clos_trans A R a b).
Proof.
  intros Ia Ib. unfold reach, reaching. rewrite (closure_spec _ _ listed_small). split; [|apply path_numbers].
  intros H. destruct (path_of_numbers _ _ H) as (a' & b' & Ha & Hb & P). rewrite index_in in Ha, Hb by auto. congruence.
Qed.
Lemma acyclic_on_spec : acyclic_on f = true <-> forall a, ~ clos_trans A R a a.
Proof.
  unfold acyclic_on. rewrite (acyclic_spec _ _ listed_small). split; intros H a P.
  - exact (H _ (path_numbers a a P)).
  - destruct (path_of_numbers a a P) as (x & y & Hx & Hy & Q). rewrite Hx in Hy. inversion Hy; subst. exact (H _ Q).
Qed.
End Reaching.

Lemma same_spec a b : same a b = true <-> a = b.
Proof.
  destruct a, b; simpl; try (split; discriminate).
  - rewrite Nat.eqb_eq. split; congruence.
  - rewrite andb_true_iff, !Nat.eqb_eq. split; [intros (-> & ->); auto|intros H; inversion H; auto].
Qed.
Lemma same_refl a : same a a = true.
Proof. now apply same_spec. Qed.

Section Events.
Variable R : run.
Lemma is_event_in e : is_event R e = true <-> In e (events R).
Proof.
  unfold events. rewrite in_app_iff, in_map_iff, in_flat_map. destruct e as [x|t n]; simpl; rewrite Nat.ltb_lt.
  - split.
    + intros H. left. exists x. split; [auto|apply in_seq; lia].
    + intros [(y & Q & I)|(t & _ & I)].
      * inversion Q; subst. apply in_seq in I. lia.
      * apply in_map_iff in I. destruct I as (n & Q & _). discriminate.
  - split.
    + intros H. right. exists t. split; [|apply in_map_iff; exists n; split; [auto|apply in_seq; lia]].
      apply in_seq. split; [lia|]. destruct (le_lt_dec (length (does R)) t) as [L|L]; [|simpl; lia].
      unfold sequence in H. rewrite nth_overflow in H by exact L. simpl in H. lia.
    + intros [(y & Q & I)|(t' & _ & I)]; [discriminate|].
      apply in_map_iff in I. destruct I as (n' & Q & I). inversion Q; subst. apply in_seq in I. lia.
Qed.
Lemma nodup_map_inj {A B} (f : A -> B) l : (forall a b, f a = f b -> a = b) -> NoDup l -> NoDup (map f l).
Proof.
  intros F. induction 1 as [|a l N _ IH]; simpl; constructor; auto. rewrite in_map_iff. intros (b & Q & I).
  apply F in Q. now subst.
Qed.
Lemma nodup_concat {A} (l l' : list A) : NoDup l -> NoDup l' -> (forall x, In x l -> In x l' -> False) -> NoDup (l ++ l').
Proof.
  induction 1 as [|a l N _ IH]; simpl; intros N' D; [auto|]. constructor.
  - rewrite in_app_iff. intros [I|I]; [auto|]. exact (D a (or_introl eq_refl) I).
  - apply IH; [exact N'|]. intros x I J. exact (D x (or_intror I) J).
Qed.
Lemma events_nodup : NoDup (events R).
Proof.
  apply nodup_concat.
  - apply nodup_map_inj; [congruence|apply seq_NoDup].
  - induction (seq_NoDup (length (does R)) 0) as [|t ts N _ IH]; simpl; [constructor|].
    apply nodup_concat; [apply nodup_map_inj; [congruence|apply seq_NoDup]|apply IH|].
    intros e I J. apply in_map_iff in I. destruct I as (n & <- & _). apply in_flat_map in J. destruct J as (t' & I & J).
    apply in_map_iff in J. destruct J as (n' & Q & _). inversion Q; now subst.
  - intros e I J. apply in_map_iff in I. destruct I as (x & <- & _). apply in_flat_map in J. destruct J as (t & _ & J).
    apply in_map_iff in J. destruct J as (n & Q & _). discriminate.
Qed.
Lemma every_spec f : every R f = true <-> forall e, is_event R e = true -> f e = true.
Proof. unfold every. rewrite forallb_forall. split; intros H e I; apply H; now apply is_event_in. Qed.
Lemma some_spec f : some R f = true <-> exists e, is_event R e = true /\ f e = true.
Proof. unfold some. rewrite existsb_exists. split; intros (e & I & H); exists e; (split;
  [now apply is_event_in|exact H]). Qed.
End Events.

(* The decision *)
Section Decision.
Variables (hw : platform) (T : trace).
Definition issued_before := reaching (events T) (ib1 hw T).
Definition observed_edge (C : matrix) a b := at_once T (section T) (ob_edge hw T) a b ||
  (instantaneous hw (kin T a) && reach same (events T) C a b).
Definition decide_issue := acyclic_on (events T) (ib1 hw T).
Definition decide_observation := let C := issued_before in acyclic_on (events T) (observed_edge C).
Definition decide_deployed := decide_issue && decide_observation.
Definition decide_sequential := acyclic_on (events T) (sc1 T).


Lemma at_once_inside v r a b : at_once T v r a b = true -> In a (events T) /\ In b (events T).
Proof.
  unfold at_once. intros H. apply andb_prop in H as (H & _). apply andb_prop in H as (Ha & Hb). split; now apply is_event_in.
Qed.
Lemma ib_inside a b : ib hw T a b -> In a (events T) /\ In b (events T).
Proof. induction 1 as [a b H|a b c _ IH _ IH']; [eapply at_once_inside; exact H|tauto]. Qed.
Lemma ob_inside a b : ob1 hw T a b -> In a (events T) /\ In b (events T).
Proof. intros [H|(_ & H)]; [eapply at_once_inside; exact H|now apply ib_inside]. Qed.
Lemma issued_before_spec a b : In a (events T) -> In b (events T) ->
  (reach same (events T) issued_before a b = true <-> ib hw T a b).
Proof.
  apply (reach_spec same (events T) same_spec (ib1 hw T) (fun a b => ib1 hw T a b = true)).
  - intros x y. apply at_once_inside.
  - tauto.
Qed.
Theorem decide_issue_spec : decide_issue = true <-> forall a, ~ ib hw T a a.
Proof.
  apply (acyclic_on_spec same (events T) same_spec (ib1 hw T) (fun a b => ib1 hw T a b = true)).
  - intros x y. apply at_once_inside.
  - tauto.
Qed.
Theorem decide_observation_spec : decide_observation = true <-> forall a, ~ ob hw T a a.
Proof.
  apply (acyclic_on_spec same (events T) same_spec (observed_edge issued_before) (ob1 hw T)).
  - exact ob_inside.
  - intros a b Ia Ib. unfold observed_edge, ob1. rewrite orb_true_iff, andb_true_iff, (issued_before_spec a b Ia Ib). tauto.
Qed.
Theorem decide_deployed_spec : decide_deployed = true <-> rdma_consistent hw T.
Proof. unfold decide_deployed, rdma_consistent. now rewrite andb_true_iff, decide_issue_spec, decide_observation_spec. Qed.
Theorem decide_sequential_spec : decide_sequential = true <-> sc_consistent T.
Proof.
  apply (acyclic_on_spec same (events T) same_spec (sc1 T) (fun a b => sc1 T a b = true)).
  - intros x y. apply at_once_inside.
  - tauto.
Qed.
End Decision.
