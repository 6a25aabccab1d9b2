(* Store buffers and crowds: docs/theory-crowds.md. In B a thread that has made the last store of a word may read it
   before others do
   ([fwd]), and every other write of B to the word ends that.
     Every run of the search is one with promises: while a thread has
   this right, others do not write the word in B, and it gives the right back at any time. *)
Require Import List Arith Bool.
Import ListNotations.
From RR Require Import Model Hardware Programs Search Searched CrowdProgram.

Section Promises.
Context {U : events} {K : searchable} (hw : hardware) (zero : bool).
Variables (ini : ev -> Prop) (mem0 : nat -> value) (ctl : (ev -> Prop) -> Prop) (hope : class -> (ev -> Prop) -> Prop).
Notation step := (step hw zero ini ctl hope).
Notation enabled := (enabled ini ctl).

Definition give_back (s : state) x := State (th s) (cn s) (cls s) (sd s) (acc s) (tn s) (ps s) (fro s)
  (fun y => if y =? x then None else fwd s y).
Definition keeps_promise (s : state) e := forall t, fwd s (loc e) = Some t -> t = thr e.
Inductive promised (s : state) : state -> Prop :=
| promised_step s' e b t : step s s' -> hist (th s') = Mv e b t :: hist (th s) ->
    (b = true -> wr_b e = true -> keeps_promise s e) -> promised s s'
| promised_back x : promised s (give_back s x).
Inductive promised_reach : state -> Prop :=
| promised_start : promised_reach (start_state mem0)
| promised_more s s' : promised_reach s -> promised s s' -> promised_reach s'.

(* the same, but that rights are given by another function with the same values *)
Record same_rights (s s2 : state) : Prop := {
  r_th : th s2 = th s; r_cn : cn s2 = cn s; r_cls : cls s2 = cls s; r_sd : sd s2 = sd s; r_acc : acc s2 = acc s;
  r_tn : tn s2 = tn s; r_ps : ps s2 = ps s; r_fro : fro s2 = fro s; r_fwd : forall x, fwd s2 x = fwd s x;
}.
(* Before a write of B the thread that has the right gives it back, if it is another. *)
Lemma ready_to_write (s s2 : state) e : same_rights s s2 -> wr_b e = true ->
  exists s3, (s3 = s2 \/ promised s2 s3) /\ keeps_promise s3 e /\
  th s3 = th s /\ cn s3 = cn s /\ cls s3 = cls s /\ sd s3 = sd s /\ acc s3 = acc s /\ tn s3 = tn s /\ ps s3 = ps s /\
  fro s3 = fro s /\ forall x, x <> loc e -> fwd s3 x = fwd s x.
Proof.
  intros [H1 H2 H3 H4 H5 H6 H7 H8 H9] W. exists (give_back s2 (loc e)). split; [right; constructor|]. split.
  - intros t. simpl. now rewrite Nat.eqb_refl.
  - repeat split; auto. intros x N. simpl. destruct (Nat.eqb_spec x (loc e)); [contradiction|apply H9].
Qed.
Lemma no_forward (s : state) e : wr_b e = true -> takes_own s e = false.
Proof. unfold takes_own, is, wr_b. intros W. destruct (kind_dec (knd e) LR) as [Q|]; [rewrite Q in W;
  discriminate|auto]. Qed.

(* two states that are the same for the event e; the rights of its word may differ if it writes *)
Record same_for e (s s2 : state) : Prop := {
  f_th : th s2 = th s; f_cn : cn s2 = cn s; f_cls : cls s2 = cls s; f_sd : sd s2 = sd s; f_acc : acc s2 = acc s;
  f_tn : tn s2 = tn s; f_ps : ps s2 = ps s; f_fro : fro s2 = fro s;
  f_fwd : forall x, wr_b e = false \/ x <> loc e -> fwd s2 x = fwd s x;
}.
Lemma same_forced e s s2 : same_for e s s2 -> forced hw s2 e = forced hw s e.
Proof.
  intros [H1 H2 H3 H4 H5 H6 H7 H8 H9]. unfold forced. rewrite H4, H5. f_equal. f_equal. f_equal. destruct (wr_b e) eqn:W.
  - now rewrite !no_forward.
  - unfold takes_own. now rewrite H9 by auto.
Qed.
Lemma same_enabled e s s2 : same_for e s s2 -> enabled s e -> enabled s2 e.
Proof. intros [H1 H2 H3 H4 H5 H6 H7 H8 H9]. unfold enabled, with_, done. now rewrite H1. Qed.
Lemma same_beta e c s s2 : same_for e s s2 -> same_rights (after_beta hw c s e) (after_beta hw c s2 e).
Proof.
  intros [H1 H2 H3 H4 H5 H6 H7 H8 H9].
  assert (reached s2 e = reached s e) as R by (unfold reached; now rewrite H6).
  constructor; unfold after_beta; cbv zeta; cbn [th cn cls sd acc tn ps fro fwd];
    rewrite ?R, ?H1, ?H2, ?H4, ?H5, ?H6, ?H7; auto.
  - unfold freeze. now rewrite H1, H5, H8.
  - intros x. unfold left_own. rewrite H4. destruct (wr_b e) eqn:W; [|apply H9; auto]. unfold upd.
    destruct (Nat.eqb_spec x (loc e)); [auto|apply H9; auto].
Qed.
Lemma same_alpha e s s2 : same_rights s s2 -> same_rights (after_alpha s e) (after_alpha s2 e).
Proof.
  intros [H1 H2 H3 H4 H5 H6 H7 H8 H9].
  assert (reached s2 e = reached s e) as R by (unfold reached; now rewrite H6).
  assert (closing_alpha s2 e = closing_alpha s e) as C by (unfold closing_alpha, takes_own; now rewrite H3, H9).
  constructor; unfold after_alpha; cbv zeta; cbn [th cn cls sd acc tn ps fro fwd]; rewrite ?R, ?C, ?H1, ?H2, ?H4, ?H6;
    auto.
Qed.
Lemma prepared s s2 e : promised_reach s2 -> same_rights s s2 ->
  exists s3, promised_reach s3 /\ same_for e s s3 /\ (wr_b e = true -> keeps_promise s3 e).
Proof.
  intros R Q. destruct (wr_b e) eqn:W.
  - destruct (ready_to_write s s2 e Q W) as (s3 & R3 & Kp & A1 & A2 & A3 & A4 & A5 & A6 & A7 & A8 & A9). exists s3.
    split; [|split; [|auto]].
    + destruct R3 as [->|R3]; [auto|now apply promised_more with s2].
    + constructor; auto. intros x [Z|Z]; [congruence|auto].
  - exists s2. split; [auto|split; [|discriminate]]. destruct Q as [H1 H2 H3 H4 H5 H6 H7 H8 H9]. constructor; auto.
Qed.
Lemma begun_for e c s s2 : same_for e s s2 -> same_for e (begun c s) (begun c s2).
Proof. intros [H1 H2 H3 H4 H5 H6 H7 H8 H9]. constructor; auto. simpl. now rewrite H7. Qed.
Lemma step_promised s s' s2 : step s s' -> promised_reach s2 -> same_rights s s2 ->
  exists s2', promised_reach s2' /\ same_rights s' s2'.
Proof.
  intros St R Q. destruct St as [e C En Pa|c e C En Ho Cs|c e C En Ho F Pa|c e C En Ho F Pb Cu Po].
  - exists (after_alpha s2 e). split; [|now apply same_alpha]. apply promised_more with s2; [auto|].
    destruct Q as [H1 H2 H3 H4 H5 H6 H7 H8 H9].
    apply promised_step with e false (reached s2 e); [|reflexivity|discriminate]. apply step_phase1; [congruence| |].
    + apply same_enabled with s; [constructor; auto|auto].
    + unfold poll_alpha in *. now rewrite H2.
  - destruct (prepared s s2 e R Q) as (s3 & R3 & Sf & Kp). exists (after_beta hw c (begun c s3) e).
    split; [|now apply same_beta, begun_for].
    apply promised_more with s3; [auto|]. apply promised_step with e true (reached (begun c s3) e || meets c e);
      [|reflexivity|auto].
    apply step_start; [now rewrite (f_cls _ _ _ Sf)|now apply same_enabled with s| |auto].
    unfold with_, done. rewrite (f_th _ _ _ Sf). exact Ho.
  - exists (after_alpha s2 e). split; [|now apply same_alpha]. apply promised_more with s2; [auto|].
    assert (same_for e s s2) as Sf by (destruct Q; constructor; auto). destruct Q as [H1 H2 H3 H4 H5 H6 H7 H8 H9].
    apply promised_step with e false (reached s2 e); [|reflexivity|discriminate].
      apply step_alpha with c; [congruence| | | |].
    + now apply same_enabled with s.
    + unfold with_, done. rewrite H1. exact Ho.
    + now rewrite (same_forced e s s2 Sf).
    + unfold poll_alpha in *. now rewrite H2.
  - destruct (prepared s s2 e R Q) as (s3 & R3 & Sf & Kp). exists (after_beta hw c s3 e). split; [|now apply same_beta].
    apply promised_more with s3; [auto|]. apply promised_step with e true (reached s3 e || meets c e);
      [|reflexivity|auto].
    apply step_beta; [now rewrite (f_cls _ _ _ Sf)|now apply same_enabled with s| | | |auto|].
    + unfold with_, done. rewrite (f_th _ _ _ Sf). exact Ho.
    + now rewrite (same_forced e s s3 Sf).
    + unfold poll_beta in *. now rewrite (f_cn _ _ _ Sf), (f_sd _ _ _ Sf).
    + unfold poisons in *. now rewrite (f_ps _ _ _ Sf).
Qed.
(* A report is found with promises too, so where none is found with promises the program is robust. *)
Theorem promises_suffice : found hw zero ini mem0 ctl hope -> exists s, promised_reach s /\ reports hw ini ctl s.
Proof.
  intros (s & R & Rp). assert (exists s2, promised_reach s2 /\ same_rights s s2) as (s2 & R2 & Q).
  { clear Rp. induction R as [|s s' _ (s2 & R2 & Q) St]; [exists (start_state mem0); split; [constructor|constructor;
    auto]|].
    exact (step_promised s s' s2 St R2 Q). }
  exists s2. split; [auto|]. destruct Rp as (m & H1 & H2 & H3 & H4 & H5 & H6 & H7 & H8 & H9).
    destruct Q as [Q1 Q2 Q3 Q4 Q5 Q6 Q7 Q8 Q9].
  exists m. unfold reports_at, with_, done, pivot_value in *. rewrite Q1, Q3, Q4, Q5, Q6, Q8. auto 10.
Qed.
End Promises.

(* For each P ts: robust, if nothing is found with promises *)
Corollary crowd_promises {K : crowd} (hw : hardware) {OK : hardware_ok hw} {SO : search_ok hw} (zero : bool) ts :
  ~ robust hw (P ts) -> exists s, promised_reach hw zero (ini_of ts) (init_of ts : nat -> @value concrete) (ctl_of ts)
    (hope_of ts) s /\ reports_of hw ts s.
Proof. intros N. apply (search_decides hw zero) in N. exact (promises_suffice hw zero _ _ _ _ N). Qed.
