(* What a thread does with remote atomics, as a sequence of slots: Deployed.v lists the events that happen, the normal form
   wants the naW of every RMW (RemoteAtomicsPrograms.v). *)
Require Import List Arith ZArith Bool Lia.
Import ListNotations.
From RR Require Import Sequences RemoteAtomicsModel RemoteAtomicsPrograms.
From RR Require Programs Deployed DeployedTraces DeployedDecides.

(* the events of which this model speaks: no locked sections, no messages *)
Definition covered_label (l : Deployed.label) := match l with
  | Deployed.Plain _ | Deployed.Lnar _ _ _ | Deployed.Lnaw _ _ | Deployed.Lna _ _ _ => true | _ => false end.
Definition same_operation o := match o with
  | Deployed.CompareSwap a b => CompareSwap a b | Deployed.FetchAdd d w => FetchAdd d w
  | Deployed.Exchange v => Exchange v end.
Lemma same_result o v : result (same_operation o) v = Deployed.result o v.
Proof. destruct o; reflexivity. Qed.

Local Arguments Deployed.lab : simpl never.

Section Slots.
Variables (hw : Deployed.platform) (T : Deployed.trace).
Notation run := (Deployed.run_of T).
Notation hca := (Deployed.ranked hw).
Notation lab t n := (Deployed.lab run (Deployed.At t n)).
Notation many t := (length (Deployed.sequence run t)).
Notation event_of := (Deployed.is_event run).

(* An naR of hardware where RMWs are one event (glob) is an nA that does not write. *)
Definition slot_of (l : Deployed.label) := match l with
  | Deployed.Plain l => Plain l
  | Deployed.Lnar q x o => if hca then Lnar q x (same_operation o) else Lna q x (same_operation o)
  | Deployed.Lnaw q x => Lnaw q x
  | Deployed.Lna q x o => Lna q x (same_operation o)
  | _ => Plain Programs.Lmf end.
(* The naW of an RMW that does not write is a slot, too, unless the thread has ended before it. *)
Definition void t n := hca && negb (DeployedTraces.has_write T (Deployed.At t n)) &&
  negb (DeployedTraces.unfinished T (Deployed.At t n)).
Definition filler t n := match lab t n with Deployed.Lnar q x _ => if void t n then [Lnaw q x] else [] | _ => [] end.
Fixpoint slots_to t n := match n with 0 => [] | Datatypes.S n => filler t n ++ slot_of (lab t n) :: slots_to t n end.
Definition image (e : Deployed.event) := match e with
  | Deployed.Initial x => Ini x (nth x (Deployed.held run) 0%Z)
  | Deployed.At t n => Ev t (slot_of (lab t n)) (slots_to t n) end.
Definition all_slots t := slots_to t (many t).

(* places *)
Lemma suf_app (k h : list label) : suf h (k ++ h).
Proof. now exists k. Qed.
Lemma slots_step t n : suf (slot_of (lab t n) :: slots_to t n) (slots_to t (Datatypes.S n)).
Proof. simpl. apply suf_app. Qed.
Lemma slots_le t m n : m <= n -> suf (slots_to t m) (slots_to t n).
Proof.
  induction 1 as [|n _ IH]; [apply suf_refl|]. eapply suf_trans; [exact IH|]. eapply suf_cons. apply slots_step.
Qed.
Lemma slots_lt t m n : m < n -> suf (slot_of (lab t m) :: slots_to t m) (slots_to t n).
Proof. intros H. eapply suf_trans; [apply slots_step|now apply slots_le]. Qed.
Lemma slots_lt_inv t m n l : suf (l :: slots_to t m) (slots_to t n) -> m < n.
Proof.
  intros H. destruct (le_lt_dec n m) as [L|]; [|auto]. apply (slots_le t) in L. apply suf_len in H, L. simpl in H. lia.
Qed.
Lemma slots_inj t m n : slots_to t m = slots_to t n -> m = n.
Proof.
  intros H. destruct (lt_eq_lt_dec m n) as [[L|]|L]; auto; apply (slots_lt t), suf_len in L; rewrite H in L;
  simpl in L; lia.
Qed.
Lemma image_inj a b : image a = image b -> a = b.
Proof.
  destruct a as [x|t n], b as [y|u m]; simpl; intros H; inversion H; auto. subst u. f_equal. eapply slots_inj; eauto.
Qed.
(* every slot is that of an event, or a filler *)
Lemma slots_cases t l h n : suf (l :: h) (slots_to t n) -> exists m, m < n /\
  ((l = slot_of (lab t m) /\ h = slots_to t m) \/ filler t m = [l] /\ h = slot_of (lab t m) :: slots_to t m).
Proof.
  induction n as [|n IH]; intros H.
  - apply suf_len in H. simpl in H. lia.
  - assert (suf (l :: h) (slot_of (lab t n) :: slots_to t n) -> exists m, m < Datatypes.S n /\
      ((l = slot_of (lab t m) /\ h = slots_to t m) \/ filler t m = [l] /\ h = slot_of (lab t m) :: slots_to t m)) as K.
    { intros S1. apply suf_tail in S1 as [Q|S1]; [exists n; inversion Q; auto|].
      destruct (IH S1) as (m & L & C). exists m. auto. }
    simpl in H. destruct (filler t n) as [|f r] eqn:F; [now apply K|].
    assert (r = []) as -> by (unfold filler in F; destruct (lab t n); try discriminate F; destruct (void t n);
    congruence).
    apply suf_tail in H as [Q|H]; [|now apply K]. inversion Q; subst. exists n. auto.
Qed.
Lemma event_at t n : event_of (Deployed.At t n) = true <-> n < many t.
Proof. simpl. apply Nat.ltb_lt. Qed.
Lemma filler_cases t n l : filler t n = [l] -> exists q x o, lab t n = Deployed.Lnar q x o /\ l = Lnaw q x /\
  hca = true /\ slot_of (lab t n) = Lnar q x (same_operation o) /\
  DeployedTraces.has_write T (Deployed.At t n) = false /\ DeployedTraces.unfinished T (Deployed.At t n) = false.
Proof.
  unfold filler. destruct (lab t n) as [p|p|q x o|q x|q x o|q x d|s q u x d|s q u v|u x|u v] eqn:L; try discriminate.
  destruct (void t n) eqn:V; [|discriminate]. intros Q. injection Q as <-. unfold void in V.
  apply andb_prop in V as (V & V3). apply andb_prop in V as (V1 & V2). apply negb_true_iff in V2, V3.
  exists q, x, o. simpl. rewrite V1. auto 10.
Qed.

(* Threads *)
Hypothesis Covered : forall t n, n < many t -> covered_label (lab t n) = true.
Hypothesis Possible : forall t n, n < many t -> DeployedTraces.possible hw T (Deployed.At t n) = true.
Notation nv := (length (Deployed.held run)).

Lemma possible_cases t n : n < many t ->
  match n with
  | 0 => DeployedTraces.begins (lab t n)
  | Datatypes.S m => DeployedTraces.follows (lab t m) (lab t n) end = true /\
  match lab t n with
  | Deployed.Plain (Programs.Lp q) => Deployed.count (Deployed.polls q) (firstn n (Deployed.sequence run t)) <
      Deployed.count (Deployed.signals q) (firstn n (Deployed.sequence run t)) | _ => True end /\
  (forall x, Deployed.accessed (lab t n) = Some x -> x < nv) /\
  (forall q x, hca = false -> lab t n <> Deployed.Lnaw q x) /\ (forall q x o, hca = true ->
  lab t n <> Deployed.Lna q x o).
Proof.
  intros L. pose proof (Possible t n L) as P. unfold DeployedTraces.possible in P.
  apply andb_prop in P as (P & _). apply andb_prop in P as (P & P4). apply andb_prop in P as (P & P3).
  apply andb_prop in P as (P1 & P2). split; [|split; [|split]].
  - destruct n; exact P1.
  - destruct (lab t n) as [[]|p|q x o|q x|q x o|q x d|s q u x d|s q u v|u x|u v]; auto. now apply Nat.ltb_lt in P2.
  - intros x Q. rewrite Q in P3. now apply Nat.ltb_lt.
  - unfold Deployed.is, Deployed.kin in P4. split.
    + intros q x N Q. rewrite Q, N in P4. discriminate.
    + intros q x o N Q. rewrite Q, N in P4. discriminate.
Qed.

Lemma count_slots (f : label -> bool) (g : Deployed.label -> bool) t n : (forall q x, f (Lnaw q x) = false) ->
  (forall l, covered_label l = true -> f (slot_of l) = g l) -> n <= many t ->
  cnt f (slots_to t n) = Deployed.count g (firstn n (Deployed.sequence run t)).
Proof.
  intros Hw Hf. induction n as [|n IH]; intros L; [reflexivity|].
  assert (firstn (Datatypes.S n) (Deployed.sequence run t) = firstn n (Deployed.sequence run t) ++ [lab t n]) as ->.
  { unfold Deployed.lab. clear IH. revert L. generalize (Deployed.sequence run t) as s. induction n as [|n IH];
    intros [|l s] L;
    simpl in *; try lia; auto. f_equal. apply IH. lia. }
  unfold Deployed.count in *. rewrite filter_app, app_length, <- IH by lia.
  change (slots_to t (Datatypes.S n)) with (filler t n ++ slot_of (lab t n) :: slots_to t n).
  assert (cnt f (filler t n ++ slot_of (lab t n) :: slots_to t n) = cnt f (slot_of (lab t n) :: slots_to t n)) as ->.
  { unfold filler. destruct (lab t n); try reflexivity. destruct (void t n); [|reflexivity]. simpl.
    now rewrite cnt_cons, Hw. }
  rewrite cnt_cons, Hf by (now apply Covered). cbn [filter]. destruct (g (lab t n)); cbn [length]; lia.
Qed.
Lemma count_polls q t n : n <= many t ->
  cnt (polls q) (slots_to t n) = Deployed.count (Deployed.polls q) (firstn n (Deployed.sequence run t)).
Proof. apply count_slots; auto. intros [p| | | | | | | | |] C; try discriminate C; simpl; auto; destruct hca; auto. Qed.
Lemma count_signals q t n : n <= many t ->
  cnt (signals q) (slots_to t n) = Deployed.count (Deployed.signals q) (firstn n (Deployed.sequence run t)).
Proof. apply count_slots; auto. intros [p| | | | | | | | |] C; try discriminate C; simpl; auto; destruct hca; auto. Qed.

(* a naR of an RMW behind which the thread goes on has its naW in the slots *)
Lemma goes_on t n q x o : Datatypes.S n < many t -> lab t n = Deployed.Lnar q x o -> hca = true ->
  (filler t n = [] /\ lab t (Datatypes.S n) = Deployed.Lnaw q x) \/
  (filler t n = [Lnaw q x] /\ exists s y, lab t (Datatypes.S n) = Deployed.Plain (Programs.Lnlw s q y)).
Proof.
  intros L K H. destruct (possible_cases t (Datatypes.S n) L) as (F & _). rewrite K in F. simpl in F.
  assert (DeployedTraces.unfinished T (Deployed.At t n) = false /\
          DeployedTraces.has_write T (Deployed.At t n) =
          match lab t (Datatypes.S n) with Deployed.Lnaw _ _ => true | _ => false end)
    as (U & W).
  { unfold DeployedTraces.unfinished, DeployedTraces.has_write, Deployed.after.
    rewrite (nth_error_nth' _ (Deployed.Plain Programs.Lmf) L). auto. }
  unfold filler, void. rewrite K, H, U, W. simpl.
  destruct (lab t (Datatypes.S n)) as [[]|p|q' x' o'|q' x'|q' x' o'|q' x' d|s q' u x' d|s q' u v|u x'|u v];
  try discriminate F.
  - apply Nat.eqb_eq in F. subst. right. simpl. eauto.
  - apply andb_prop in F as (F & F'). apply Nat.eqb_eq in F, F'. subst. left. auto.
Qed.

Lemma slots_follow t n : n < many t -> follows (slot_of (lab t n)) (slots_to t n) = true.
Proof.
  intros L. pose proof (possible_cases t n L) as (F & _ & _ & Gn & Hn). pose proof (Covered t n L) as C.
  destruct n as [|n]; simpl slots_to.
  - destruct (lab t 0) as [[]|p|q x o|q x|q x o|q x d|s q u x d|s q u v|u x|u v]; try discriminate; try reflexivity.
    simpl. destruct hca; reflexivity.
  - change (slots_to t (Datatypes.S n)) with (filler t n ++ slot_of (lab t n) :: slots_to t n).
    destruct (lab t n) as [p|p|q x o|q x|q x o|q x d|s q u x d|s q u v|u x|u v] eqn:K;
      try (pose proof (Covered t n ltac:(lia)) as C'; rewrite K in C'; discriminate C').
    + unfold filler. rewrite K. destruct p; simpl in F |- *;
        destruct (lab t (Datatypes.S n)) as [[]|?|? ? ?|q2 x2|? ? ?|? ? ?|? ? ? ? ?|? ? ? ?|? ?|? ?];
        simpl in F |- *; try discriminate; auto; destruct hca; reflexivity.
    + destruct hca eqn:H.
      * destruct (goes_on t n q x o L K H) as [(-> & ->)|(-> & s & y & ->)]; simpl; rewrite ?H, !Nat.eqb_refl;
        reflexivity.
      * unfold filler, void. rewrite K, H. simpl. rewrite H. simpl in F.
        destruct (lab t (Datatypes.S n)) as [[]|?|? ? ?|q2 x2|? ? ?|? ? ?|? ? ? ? ?|? ? ? ?|? ?|? ?];
        try discriminate; auto. destruct (Gn q2 x2 eq_refl eq_refl).
    + unfold filler. rewrite K. simpl in F |- *.
      destruct (lab t (Datatypes.S n)) as [[]|?|? ? ?|q2 x2|? ? ?|? ? ?|? ? ? ? ?|? ? ? ?|? ?|? ?];
      try discriminate; auto.
    + unfold filler. rewrite K. simpl in F |- *.
      destruct (lab t (Datatypes.S n)) as [[]|?|? ? ?|q2 x2|? ? ?|? ? ?|? ? ? ? ?|? ? ? ?|? ?|? ?];
      try discriminate; auto.
Qed.

Theorem slots_ok t n : n <= many t -> ok nv (slots_to t n).
Proof.
  induction n as [|n IH]; intros L; [exact I|]. assert (ok nv (slots_to t n)) as O by (apply IH; lia).
  pose proof (possible_cases t n L) as (_ & P & A & _). pose proof (Covered t n L) as C.
  assert (ok nv (slot_of (lab t n) :: slots_to t n)) as O'.
  { split; [exact O|split; [now apply slots_follow|]]. split.
    - destruct (lab t n) as [[]|p|q x o|q x|q x o|q x d|s q u x d|s q u v|u x|u v]; try exact I; try discriminate C.
      + simpl. now rewrite count_polls, count_signals by lia.
      + simpl. destruct hca; exact I.
    - unfold in_memory. destruct (lab t n) as [[]|p|q x o|q x|q x o|q x d|s q u x d|s q u v|u x|u v]; try discriminate C;
      try exact I; try (apply A; reflexivity). simpl. destruct hca; apply A; reflexivity. }
  change (slots_to t (Datatypes.S n)) with (filler t n ++ slot_of (lab t n) :: slots_to t n).
  destruct (filler t n) as [|f r] eqn:F; [exact O'|].
  assert (r = []) as -> by (unfold filler in F; destruct (lab t n); try discriminate F; destruct (void t n); congruence).
  destruct (filler_cases t n f F) as (q & x & o & K & -> & H & Q & _). rewrite Q in *.
  split; [exact O'|]. simpl. rewrite !Nat.eqb_refl. split; [reflexivity|split; [exact I|]]. apply A. now rewrite K.
Qed.
End Slots.
