(* The judge of DeployedJudge.v calls every violating trace so: it follows values far enough. *)
Require Import List Arith ZArith Bool Lia.
Import ListNotations.
From RR Require Programs.
From RR Require Import Deployed DeployedTraces DeployedDecides DeployedJudge.

Section Complete.
Variables (hw : platform) (T : trace).
Hypothesis Fine : well_formed hw T = true.
Local Arguments lab : simpl never.

(* a read has one source *)
Lemma one_source d r : is_event T d = true -> is_event T r = true -> rf T d r = true -> source_of T r = Some d.
Proof.
  intros Ed Er F. unfold well_formed in Fine. rewrite !andb_true_iff in Fine.
  destruct Fine as (((((_ & H) & _) & _) & _) & _).
  unfold rf_fine in H. apply andb_prop in H as (One & Kinds). rewrite every_spec in One, Kinds.
  pose proof (proj1 (every_spec T _) (Kinds d Ed) r Er) as K. simpl in K. rewrite F in K. simpl in K.
  apply andb_prop in K as (K & _). apply andb_prop in K as (_ & K). specialize (One r Er). rewrite K in One. simpl in One.
  apply Nat.eqb_eq in One. unfold source_of. destruct (find (fun d => rf T d r) (events T)) as [d'|] eqn:Q.
  - apply find_some in Q as (I & F'). destruct (filter (fun w => rf T w r) (events T)) as [|x [|y l]] eqn:L;
    try discriminate.
    assert (forall w, In w (events T) -> rf T w r = true -> w = x) as X.
    { intros w Iw Fw. assert (In w [x]) as J by (rewrite <- L; now apply filter_In). destruct J as [->|[]]; auto. }
    rewrite (X d' I F'), (X d (proj1 (is_event_in T d) Ed) F). reflexivity.
  - pose proof (find_none _ _ Q d (proj1 (is_event_in T d) Ed)) as N. simpl in N. congruence.
Qed.
Lemma copies_event w r : is_event T w = true -> copies T w = Some r -> is_event T r = true /\ says T w = None /\
  swaps T w = None.
Proof.
  unfold copies, says, swaps, source. destruct w as [x|t [|n]]; intros E; try discriminate.
  - destruct (lab T (At t 0)) as [[]|[]| | | |? ? []|? ? ? ? []| | |]; discriminate.
  - assert (is_event T (At t n) = true /\ forall m, S m = n -> is_event T (At t m) = true) as (En & Em).
    { simpl in *. rewrite !Nat.ltb_lt in *. split; [lia|]. intros m <-. apply Nat.ltb_lt. lia. }
    destruct (lab T (At t (S n))) as [[]|[]| | | |? ? []|? ? ? ? []| | |]; try discriminate; intros H;
      try (inversion H; subst; auto; fail).
    destruct (lab T (At t n)); try (inversion H; subst; auto; fail). destruct n; inversion H; subst; auto.
Qed.
Lemma swaps_event w r o : is_event T w = true -> swaps T w = Some (r, o) ->
  is_event T r = true /\ says T w = None /\ copies T w = None.
Proof.
  unfold copies, says, swaps, source. destruct w as [x|t n]; intros E; try discriminate.
  destruct (lab T (At t n)) as [[]|[]| | | |? ? []|? ? ? ? []| | |] eqn:L; try discriminate.
  - destruct n as [|n]; [discriminate|]. intros H.
    destruct (lab T (At t n)); try discriminate. inversion H; subst. repeat split; auto. simpl in *.
    rewrite Nat.ltb_lt in *. lia.
  - intros H. inversion H; subst. repeat split; auto. now destruct n.
Qed.

(* one step of [value_of]: what is needed *)
Definition needs w d (f : Z -> option Z) := is_event T d = true /\ says T w = None /\
  ((exists r, copies T w = Some r /\ source_of T r = Some d /\ f = Some) \/
   (exists r o, copies T w = None /\ swaps T w = Some (r, o) /\ source_of T r = Some d /\ f = result o)).
Lemma value_needs n w d f : needs w d f -> value_of T (S n) w = match value_of T n d with Some v => f v | None => None end.
Proof.
  intros (_ & K & [(r & C & Q & ->)|(r & o & C & X & Q & ->)]); simpl; rewrite K, C.
  - rewrite Q. now destruct (value_of T n d).
  - now rewrite X, Q.
Qed.
Lemma value_step n w v : value_of T (S n) w = Some v ->
  (forall m, value_of T (S m) w = Some v) \/ exists d f u, needs w d f /\ value_of T n d = Some u /\ f u = Some v.
Proof.
  simpl. destruct (says T w) as [u|] eqn:K; [left; auto|]. destruct (copies T w) as [r|] eqn:C.
  - destruct (source_of T r) as [d|] eqn:Q; [|discriminate]. intros V. right. exists d, Some, v.
    split; [|auto]. apply source_of_spec in Q as E. split; [apply E|split; [auto|left; eauto]].
  - destruct (swaps T w) as [(r, o)|] eqn:X; [|discriminate]. destruct (source_of T r) as [d|] eqn:Q; [|discriminate].
    destruct (value_of T n d) as [u|] eqn:V; [|discriminate]. intros H. right. exists d, (result o), u.
    split; [|auto]. apply source_of_spec in Q as E. split; [apply E|split; [auto|right; eauto 6]].
Qed.
Lemma value_more n : forall w v, value_of T n w = Some v -> value_of T (S n) w = Some v.
Proof.
  induction n as [|n IH]; intros w v H; [discriminate|].
  destruct (value_step n w v H) as [A|(d & f & u & N & V & F)]; [apply A|].
  rewrite (value_needs (S n) w d f N), (IH d u V). exact F.
Qed.
Lemma value_le m n w v : m <= n -> value_of T m w = Some v -> value_of T n w = Some v.
Proof. induction 1; auto using value_more. Qed.
Lemma written_value w v : written T w v -> is_event T w = true -> exists n, value_of T n w = Some v.
Proof.
  induction 1 as [w v K|w r d v K Ed F _ IH|w r o d v u K Ed F _ IH Q]; intros Ew.
  - exists 1. simpl. now rewrite K.
  - destruct (copies_event w r Ew K) as (Er & N & _), (IH Ed) as (n & V). exists (S n).
    rewrite (value_needs n w d Some), V; [reflexivity|]. split; [exact Ed|split; [exact N|left]]. eauto using one_source.
  - destruct (swaps_event w r o Ew K) as (Er & N & N'), (IH Ed) as (n & V). exists (S n).
    rewrite (value_needs n w d (result o)), V; [exact Q|]. split; [exact Ed|split; [exact N|right]]. exists r, o.
    auto using one_source.
Qed.

(* Events that need exactly so many steps are different ones, so there are not more steps than events. *)
Definition exactly n w := value_of T n w = None /\ exists v, value_of T (S n) w = Some v.
Lemma exactly_once m n w : exactly m w -> exactly n w -> m = n.
Proof.
  intros (A & v & B) (A' & v' & B'). destruct (lt_eq_lt_dec m n) as [[L|]|L]; auto; exfalso.
  - apply (value_le _ n) in B; [congruence|lia].
  - apply (value_le _ m) in B'; [congruence|lia].
Qed.
Lemma chain n : forall w, is_event T w = true -> exactly n w ->
  exists l, NoDup l /\ incl l (events T) /\ length l = S n /\ forall e, In e l -> exists m, m <= n /\ exactly m e.
Proof.
  induction n as [|n IH]; intros w E X.
  - exists [w]. repeat split; [constructor; [intros []|constructor]|intros e [<-|[]]; now apply is_event_in|].
    intros e [<-|[]]. exists 0. auto.
  - destruct X as (A & v & B). destruct (value_step (S n) w v B) as [H|(d & f & u & N & V & F)]; [rewrite H in A;
    discriminate|].
    assert (exactly n d) as Xd.
    { split; [|eauto]. destruct (value_of T n d) as [u'|] eqn:Q; [|reflexivity]. exfalso.
      rewrite (value_needs n w d f N), Q in A. apply value_more in Q. congruence. }
    destruct (IH d (proj1 N) Xd) as (l & Nd & I & L & K). exists (w :: l). repeat split.
    + constructor; [|exact Nd]. intros J. destruct (K w J) as (m & Lm & Xm).
      assert (m = S n) by (eapply exactly_once; [exact Xm|split; eauto]). lia.
    + intros e [<-|J]; [now apply is_event_in|auto].
    + simpl. congruence.
    + intros e [<-|J]; [exists (S n); split; [auto|split; eauto]|]. destruct (K e J) as (m & Lm & Xm). exists m. auto.
Qed.
Lemma enough w v : written T w v -> is_event T w = true -> value_of T (S (length (events T))) w = Some v.
Proof.
  intros W E. destruct (written_value w v W E) as (n & V).
  assert (exists k, k <= n /\ exactly k w) as (k & L & X).
  { clear W. induction n as [|n IH]; [discriminate|]. destruct (value_of T n w) as [u|] eqn:Q.
    - assert (u = v) as -> by (apply value_more in Q; congruence). destruct (IH eq_refl) as (k & L & X). exists k. auto.
    - exists n. split; [auto|split; eauto]. }
  destruct (chain k w E X) as (l & Nd & I & Len & _). apply (NoDup_incl_length Nd) in I. destruct X as (_ & u & B).
  assert (u = v) as ->.
  { pose proof (value_le (S k) (S k + n) _ _ ltac:(lia) B). pose proof (value_le n (S k + n) _ _ ltac:(lia) V). congruence. }
  apply (value_le (S k)); [lia|exact B].
Qed.
Lemma read_enough e v : is_event T e = true -> reads_value T e v -> read_by T e = Some v.
Proof.
  intros E (d & Ed & F & W). unfold read_by. rewrite (one_source d e Ed E F). now apply enough.
Qed.
Lemma fitting_complete e : is_event T e = true -> fits hw T e -> fitting hw T e = true.
Proof.
  unfold fitting, fits. destruct e as [x|t n]; [reflexivity|]. intros E.
  assert (forall v, reads_value T (At t n) v -> has_read T (At t n) v = true) as H.
  { intros v K. unfold has_read. now rewrite (read_enough _ v E K), Z.eqb_refl. }
  destruct (lab T (At t n)) as [[]|[]|q x o|q x|q x o|q x d|s q u x d|s q u v|u x|u v]; auto.
  - intros (v & K & F). rewrite (read_enough _ v E K). destruct (result o v); [|now apply negb_true_iff].
    destruct F as (-> & F). now apply orb_true_iff.
  - intros (v & K & F). rewrite (read_enough _ v E K). now destruct (result o v).
Qed.
End Complete.

Theorem judge_deployed_complete hw g P : violating hw P (trace_of_account g) -> judge_deployed hw g = None.
Proof.
  intros ((_ & W & V) & D & N). unfold judge_deployed. set (T := trace_of_account g) in *.
  assert (forall f, (forall e, is_event T e = true -> f e = true) -> find (fun e => negb (f e)) (events T) = None) as None_.
  { intros f H. destruct (find _ _) as [e|] eqn:Q; [|reflexivity]. apply find_some in Q as (I & Q).
    apply is_event_in in I. rewrite (H e I) in Q. discriminate. }
  pose proof W as W'. unfold well_formed in W'. rewrite !andb_true_iff in W'. destruct W' as (((((A & B) & _) & _) & _) & _).
  rewrite (None_ (possible hw T)) by (now apply every_spec). rewrite B, W. cbn [negb].
  rewrite (None_ (fitting hw T)) by (intros e E; apply fitting_complete; auto).
  rewrite (proj2 (decide_deployed_spec hw T) D). cbn [negb].
  destruct (decide_sequential T) eqn:S; [|reflexivity]. apply decide_sequential_spec in S. contradiction.
Qed.
