(* The order that the judge reads: its events are those of the run, po is forward in alpha and in beta. *)
Require Import List Arith ZArith Bool Lia Permutation.
Import ListNotations.
From RR Require Import Model Hardware Programs Places Listed Checks Listing.

Section Sigma.
Variables (ts : list (list item)) (nv : nat) (init : nat -> Z) (ids ids' : list (nat * nat)) (a b : list placed).
Hypothesis Ha : take ids (queues false 0 ts) = All_of a.
Hypothesis Hb : take ids' (queues true 0 ts) = All_of b.
Let s := a ++ b.
Notation thread := (thread ts).
Notation E := (E ts nv init).
Notation lt := (lt nv init s).
Definition B (e : event) : Prop := In e (map evt b).

Lemma queues_nth part u : forall n t, nth t (queues part n u) [] =
  filter (fun p => Bool.eqb (late (what p)) part) (places (n + t) (nth t u [])).
Proof.
  induction u as [|l u IH]; intros n [|t]; simpl; auto.
  - now rewrite Nat.add_0_r.
  - rewrite IH. now rewrite <- Nat.add_succ_comm.
Qed.
Lemma taken_filter part i l : take i (queues part 0 ts) = All_of l ->
  forall t, filter (of_thread t) l = filter (fun p => Bool.eqb (late (what p)) part) (places t (thread t)).
Proof.
  intros H t. rewrite (take_spec _ _ _ H).
  - now rewrite queues_nth.
  - intros u p I. rewrite queues_nth in I. apply filter_In in I. destruct I as (I & _). simpl in I.
    apply places_spec in I. now destruct I as (? & ? & _ & _ & _ & ->).
Qed.
Lemma taken_in part i l : take i (queues part 0 ts) = All_of l ->
  forall p, In p l <-> In p (places (who p) (thread (who p))) /\ late (what p) = part.
Proof.
  intros H p. pose proof (taken_filter part i l H (who p)) as F. split; intros I.
  - assert (In p (filter (of_thread (who p)) l)) as J by (apply filter_In; split; [auto|apply Nat.eqb_refl]).
    rewrite F in J. apply filter_In in J. destruct J as (J & K). apply eqb_prop in K. auto.
  - assert (In p (filter (of_thread (who p)) l)) as J.
    { rewrite F. apply filter_In. split; [apply I|]. apply eqb_true_iff, I. }
    now apply filter_In in J.
Qed.
Lemma in_parts p : In p s <-> In p (places (who p) (thread (who p))).
Proof.
  unfold s. rewrite in_app_iff, (taken_in _ _ _ Ha), (taken_in _ _ _ Hb).
  destruct (late (what p)); intuition discriminate.
Qed.
Lemma nodup_parts : NoDup s.
Proof.
  apply nodup_by_thread. intros t. unfold s. rewrite filter_app, (taken_filter _ _ _ Ha), (taken_filter _ _ _ Hb).
  rewrite (filter_ext _ (fun p => negb (late (what p)))) by (intros p; now destruct (late (what p))).
  rewrite (filter_ext (fun p => Bool.eqb (late (what p)) true) (fun p => late (what p))) by (intros p;
    now destruct (late (what p))).
  eapply Permutation_NoDup; [symmetry; apply filter_split|apply places_nodup].
Qed.
Lemma parts_listing : listing ts s.
Proof. split; [apply in_parts|apply nodup_parts]. Qed.
Let whole := parts_listing.
Let in_s := in_parts.
Let evt_inj := evt_inj ts s whole.
Let E_place := E_place ts nv init s whole.
Let po_place := po_place ts s whole.
Let before_evt := before_evt nv init s.
Let init_first := init_first ts nv init s whole.

Lemma mark p : In p s -> (B (evt p) <-> late (what p) = true).
Proof.
  intros I. unfold B. rewrite in_map_iff. split.
  - intros (q & Q & J). assert (q = p) as -> by (apply evt_inj; auto; unfold s; apply in_or_app; now right).
    now apply (taken_in _ _ _ Hb) in J.
  - intros L. exists p. split; [auto|]. apply (taken_in _ _ _ Hb). split; [now apply in_s|auto].
Qed.
Lemma split_lt x y : E x -> E y -> ~ B x -> B y -> lt x y.
Proof.
  intros Ex Ey Nx By. unfold B in By. apply in_map_iff in By. destruct By as (q & <- & J).
  destruct x as [c v|t l h].
  - apply init_first; auto. unfold noninit. simpl. destruct (lab (what q)); discriminate.
  - destruct (E_place (Ev t l h) Ex) as (p & I & Q); [unfold noninit; simpl; destruct l; discriminate|].
    rewrite <- Q in *. apply before_evt, before_app; [|auto].
    unfold s in I. apply in_app_or in I. destruct I as [I|I]; [auto|]. destruct Nx. now apply in_map.
Qed.

Lemma part_order part i l p q : take i (queues part 0 ts) = All_of l -> In p l -> In q l -> who p = who q ->
  nth_of p < nth_of q -> before l p q.
Proof.
  intros H I J W L. pose proof (taken_filter part i l H (who q)) as F.
  assert (In p (filter (of_thread (who q)) l)) as I' by (apply filter_In; split; [auto|apply Nat.eqb_eq; auto]).
  assert (In q (filter (of_thread (who q)) l)) as J' by (apply filter_In; split; [auto|apply Nat.eqb_refl]).
  destruct (in_split _ _ I') as (l1 & l2 & Q). rewrite Q in J'. apply in_app_or in J'. destruct J' as [J'|[<-|J']].
  - exfalso. destruct (in_split _ _ J') as (k1 & k2 & ->). rewrite <- app_assoc in Q. simpl in Q. rewrite F in Q.
    assert (In p (k2 ++ p :: l2)) as X by (apply in_or_app; right; now left).
    destruct (filter_order _ _ _ _ _ _ Q X) as (m1 & m2 & M & X').
    unfold places in M. pose proof (places_sorted _ _ _ _ _ _ _ _ M X'). lia.
  - lia.
  - destruct (filter_order _ _ _ _ _ _ Q J') as (m1 & m2 & -> & X). now apply before_intro.
Qed.
Lemma po_within x y : E x -> E y -> (B x <-> B y) -> epo x y -> lt x y.
Proof.
  intros Ex Ey HB P. destruct y as [c v|t l h]; [destruct x; destruct P|].
  destruct (E_place (Ev t l h) Ey) as (q & J & Q); [unfold noninit; simpl; destruct l; discriminate|]. rewrite <- Q in *.
  destruct (po_place x q J P) as (p & I & <- & W & (k & K)).
  assert (nth_of p < nth_of q) as L.
  { apply in_s in I, J. rewrite (places_nth _ _ _ I), (places_nth _ _ _ J), K, app_length. simpl. lia. }
  assert (late (what p) = late (what q)) as M.
  { rewrite (mark p I), (mark q J) in HB. destruct (late (what p)), (late (what q)); intuition congruence. }
  pose proof (proj1 (in_s _) I) as I'. pose proof (proj1 (in_s _) J) as J'.
  apply before_evt. unfold s. destruct (late (what q)) eqn:Lq.
  - assert (before b p q) as H by (apply (part_order true ids'); auto; apply (taken_in _ _ _ Hb); auto).
    destruct (before_inv _ _ _ H) as (l1 & l2 & Qb & X). rewrite Qb, app_assoc. now apply before_intro.
  - assert (before a p q) as H by (apply (part_order false ids); auto; apply (taken_in _ _ _ Ha); auto).
    destruct (before_inv _ _ _ H) as (l1 & l2 & Qa & X). rewrite Qa, <- app_assoc. simpl.
      apply before_intro, in_or_app. now left.
Qed.
End Sigma.
