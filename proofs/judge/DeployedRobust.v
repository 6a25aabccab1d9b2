(* Deployed.v where no thread does anything beyond core/Programs.v: it calls the same programs robust as core/Model.v does
   and, with store buffers, deployed/StoreModel.v. *)
Require Import List Arith ZArith Bool Lia Classical Relations.
Import ListNotations.
From RR Require Import Model Hardware Traces Programs StoreModel StoreTraces DeployedPlain DeployedCore DeployedSame.
From RR Require Deployed DeployedTraces DeployedDecides.
Local Arguments Deployed.lab : simpl never.
Local Arguments Deployed.past : simpl never.

(* exactly one element *)
Lemma one_of_list {A} (f : A -> bool) l : NoDup l ->
  (length (filter f l) =? 1) = true <-> exists a, In a l /\ f a = true /\ forall b, In b l -> f b = true -> b = a.
Proof.
  intros N. rewrite Nat.eqb_eq. split.
  - destruct (filter f l) as [|a [|b k]] eqn:Q; try discriminate. intros _.
    assert (forall b, In b l /\ f b = true <-> b = a) as H by (intros b; rewrite <- filter_In, Q; simpl;
      intuition congruence).
    exists a. destruct (proj2 (H a) eq_refl). repeat split; auto. intros b I F. now apply H.
  - intros (a & I & F & U). assert (incl (filter f l) [a]) as S.
    { intros b J. apply filter_In in J as (J & K). left. symmetry. auto. }
    assert (In a (filter f l)) as J by (now apply filter_In).
    apply NoDup_incl_length in S; [|now apply NoDup_filter]. simpl in S.
    destruct (filter f l) as [|b [|c k]]; simpl in *; try lia; tauto.
Qed.
(* finite relations are boolean *)
Lemma boolean_on (l : list (Deployed.event * Deployed.event)) (P : Deployed.event -> Deployed.event -> Prop) :
  exists f, forall a b, In (a, b) l -> (f a b = true <-> P a b).
Proof.
  induction l as [|(x, y) l (f & IH)]; [exists (fun _ _ => true); intros a b []|].
  assert (exists c : bool, c = true <-> P x y) as (c & Hc).
  { destruct (classic (P x y)); [exists true; tauto|exists false; intuition discriminate]. }
  exists (fun a b => if Deployed.same a x && Deployed.same b y then c else f a b). intros a b I.
  destruct (Deployed.same a x && Deployed.same b y) eqn:Q.
  - apply andb_prop in Q as (Q & Q'). apply DeployedDecides.same_spec in Q, Q'. now subst.
  - apply IH. destruct I as [I|I]; [|exact I]. inversion I; subst. now rewrite !DeployedDecides.same_refl in Q.
Qed.

Section WellFormed.
Variables (hw : Deployed.platform) (T : Deployed.trace).
Notation R := (Deployed.run_of T).
Notation many t := (length (Deployed.sequence R t)).
Notation lab e := (Deployed.lab R e).
Notation is_event := (Deployed.is_event R).
Notation nv := (length (Deployed.held R)).
Notation image := (image T).
Hypothesis All_plain : forall t n, n < many t -> is_plain (lab (Deployed.At t n)).
Hypothesis Cells : 0 < nv.

Lemma every2 f : Deployed.every R (fun a => Deployed.every R (fun b => f a b)) = true <->
  forall a b, is_event a = true -> is_event b = true -> f a b = true.
Proof.
  rewrite DeployedDecides.every_spec. split.
  - intros H a b Ea Eb. exact (proj1 (DeployedDecides.every_spec R _) (H a Ea) b Eb).
  - intros H a Ea. apply DeployedDecides.every_spec. auto.
Qed.
Lemma rf_fine_spec : DeployedTraces.rf_fine T = true <->
  (forall r, is_event r = true -> Deployed.reads R r = true -> exists w, is_event w = true /\ Deployed.rf T w r = true /\
     forall w', is_event w' = true -> Deployed.rf T w' r = true -> w' = w) /\
  (forall w r, is_event w = true -> is_event r = true -> Deployed.rf T w r = true ->
     Deployed.writes R w = true /\ Deployed.reads R r = true /\ Deployed.same_cell R w r = true).
Proof.
  unfold DeployedTraces.rf_fine. rewrite andb_true_iff, every2, DeployedDecides.every_spec.
  assert (forall r, (length (filter (fun w => Deployed.rf T w r) (Deployed.events R)) =? 1) = true <->
    exists w, is_event w = true /\ Deployed.rf T w r = true /\ forall w', is_event w' = true ->
      Deployed.rf T w' r = true -> w' = w) as One.
  { intros r. rewrite (one_of_list (fun w => Deployed.rf T w r) _ (DeployedDecides.events_nodup R)).
    split; intros (w & E & F & U); exists w; (split; [now apply DeployedDecides.is_event_in|split; [exact F|]]);
    intros w' E'; apply U; now apply DeployedDecides.is_event_in. }
  split; intros (A & B); split.
  - intros r E Rd. specialize (A r E). rewrite Rd in A. now apply One.
  - intros w r Ew Er F. specialize (B w r Ew Er). rewrite F in B. simpl in B. apply andb_prop in B as (B & ?).
    now apply andb_prop in B.
  - intros r E. destruct (Deployed.reads R r) eqn:Rd; [|reflexivity]. simpl. apply One, A; auto.
  - intros w r Ew Er. destruct (Deployed.rf T w r) eqn:F; [|reflexivity]. destruct (B w r Ew Er F) as (-> & -> & ->).
    reflexivity.
Qed.
Lemma orders_spec p r : DeployedTraces.orders T p r = true <->
  (forall a b, is_event a = true -> is_event b = true -> (r a b = true -> p a b = true) /\ (p a b = true ->
     if Deployed.same a b then r a b = false else xorb (r a b) (r b a) = true)) /\
  (forall a b c, is_event a = true -> is_event b = true -> is_event c = true -> r a b = true -> r b c = true ->
    r a c = true).
Proof.
  unfold DeployedTraces.orders. rewrite andb_true_iff, !every2. split; intros (A & B); split.
  - intros a b Ea Eb. specialize (A a b Ea Eb). apply andb_prop in A as (A & A').
    split; intros H; rewrite H in *; simpl in *; auto.
    destruct (Deployed.same a b); auto. now apply negb_true_iff.
  - intros a b c Ea Eb Ec H K. specialize (B a b Ea Eb). rewrite H in B. simpl in B.
    pose proof (proj1 (DeployedDecides.every_spec R _) B c Ec) as X. simpl in X. now rewrite K in X.
  - intros a b Ea Eb. destruct (A a b Ea Eb) as (X & Y). apply andb_true_iff. split.
    + destruct (r a b); [now rewrite X|reflexivity].
    + destruct (p a b); [|reflexivity]. specialize (Y eq_refl). simpl. destruct (Deployed.same a b); [now rewrite Y|exact Y].
  - intros a b Ea Eb. destruct (r a b) eqn:H; [|reflexivity]. simpl. apply DeployedDecides.every_spec. intros c Ec.
    destruct (r b c) eqn:K; [|reflexivity]. exact (B a b c Ea Eb Ec H K).
Qed.

Variable T' : trace (U := concrete).
Hypothesis C : corresponds T T'.
Let cE := c_E T T' C.
Let event_of x (H : E T' x) := proj1 (cE x) H.

Lemma mo_event a b : is_event a = true -> is_event b = true -> (Deployed.mo_pair R a b = true <->
  wr (U := concrete) (image a) /\ wr (U := concrete) (image b) /\
    loc (events := concrete) (image a) = loc (events := concrete) (image b)).
Proof. apply (mo_pair_image T All_plain). Qed.
Lemma rf_event w r : is_event w = true -> is_event r = true ->
  (Deployed.writes R w = true /\ Deployed.reads R r = true /\ Deployed.same_cell R w r = true <->
   wr (U := concrete) (image w) /\ rd (U := concrete) (image r) /\
     loc (events := concrete) (image w) = loc (events := concrete) (image r)).
Proof.
  intros Ew Er. rewrite <- (writes_image T All_plain w Ew), <- (reads_image T All_plain r Er).
  split; intros (A & B & H); repeat split; auto; apply (cell_image T All_plain w r Ew Er); auto.
Qed.
Lemma initial_image e : is_event e = true -> (match e with Deployed.Initial _ => false | Deployed.At _ _ => true end =
  true <->
  knd (events := concrete) (image e) <> Init).
Proof. destruct e; simpl; [intuition|]. intros _. split; [|auto]. intros _. destruct (does T t n); discriminate. Qed.

Lemma wft_of : wfE (U := concrete) (E T') -> DeployedTraces.well_formed hw T = true -> wft T'.
Proof.
  intros W H. unfold DeployedTraces.well_formed in H. rewrite !andb_true_iff in H.
  destruct H as (((((_ & F) & M) & I) & N) & _).
  apply rf_fine_spec in F as (F1 & F2). apply orders_spec in M as (M1 & M2). unfold DeployedTraces.initial_first in I.
  unfold DeployedTraces.nfo_fine in N. rewrite every2 in I, N. constructor; [exact W|..].
  - intros w r H. destruct (c_rf_in T T' C _ _ H) as (Ew & Er). split; [exact Ew|split; [exact Er|]].
    destruct (event_of _ Ew) as (a & Ea & <-), (event_of _ Er) as (b & Eb & <-). apply (rf_event a b Ea Eb), F2; auto.
    now apply (c_rf T T' C).
  - intros r Er Rd. destruct (event_of _ Er) as (b & Eb & <-). destruct (F1 b Eb) as (a & Ea & H & _).
    + now apply (reads_image T All_plain).
    + exists (image a). now apply (c_rf T T' C).
  - intros w w' r H H'. destruct (c_rf_in T T' C _ _ H) as (Ew & Er), (c_rf_in T T' C _ _ H') as (Ew' & _).
    destruct (event_of _ Ew) as (a & Ea & <-), (event_of _ Er) as (b & Eb & <-), (event_of _ Ew') as (a' & Ea' & <-).
    apply (c_rf T T' C) in H, H'; auto. destruct (F1 b Eb) as (d & Ed & K & U); [now apply (F2 a b)|].
    now rewrite (U a Ea H), (U a' Ea' H').
  - intros x y H. destruct (c_mo_in T T' C _ _ H) as (Ex & Ey). split; [exact Ex|split; [exact Ey|]].
    destruct (event_of _ Ex) as (a & Ea & <-), (event_of _ Ey) as (b & Eb & <-). apply (mo_event a b Ea Eb), (M1 a b Ea Eb).
    now apply (c_mo T T' C).
  - intros x H. destruct (c_mo_in T T' C _ _ H) as (Ex & _). destruct (event_of _ Ex) as (a & Ea & <-).
    apply (c_mo T T' C) in H; auto. destruct (M1 a a Ea Ea) as (P & Q). specialize (Q (P H)).
    rewrite DeployedDecides.same_refl in Q. congruence.
  - intros x y z H K. destruct (c_mo_in T T' C _ _ H) as (Ex & Ey), (c_mo_in T T' C _ _ K) as (_ & Ez).
    destruct (event_of _ Ex) as (a & Ea & <-), (event_of _ Ey) as (b & Eb & <-), (event_of _ Ez) as (d & Ed & <-).
    apply (c_mo T T' C) in H, K; auto. apply (c_mo T T' C); auto. exact (M2 a b d Ea Eb Ed H K).
  - intros x y Ex Ey Wx Wy L. destruct (event_of _ Ex) as (a & Ea & <-), (event_of _ Ey) as (b & Eb & <-).
    destruct (M1 a b Ea Eb) as (_ & Q). specialize (Q (proj2 (mo_event a b Ea Eb) (conj Wx (conj Wy L)))).
    destruct (Deployed.same a b) eqn:S; [left; apply DeployedDecides.same_spec in S; congruence|right].
    destruct (Deployed.mo T a b) eqn:X; [left; now apply (c_mo T T' C)|right]. apply (c_mo T T' C); auto.
    destruct (Deployed.mo T b a); [reflexivity|discriminate Q].
  - intros x y H. destruct (c_mo_in T T' C _ _ H) as (Ex & Ey).
    destruct (event_of _ Ex) as (a & Ea & <-), (event_of _ Ey) as (b & Eb & <-). apply (c_mo T T' C) in H; auto.
    apply (initial_image b Eb). specialize (I a b Ea Eb). now rewrite H in I.
  - intros x y H. destruct (c_nfo_in T T' C _ _ H) as (Ex & Ey). split; [exact Ex|split; [exact Ey|]].
    destruct (event_of _ Ex) as (a & Ea & <-), (event_of _ Ey) as (b & Eb & <-). apply (c_nfo T T' C) in H; auto.
    apply (nfo_pair_image T All_plain a b Ea Eb). specialize (N a b Ea Eb).
    destruct (Deployed.nfo_pair R a b); [reflexivity|].
    now rewrite H in N.
  - intros x y H K. destruct (c_nfo_in T T' C _ _ H) as (Ex & Ey).
    destruct (event_of _ Ex) as (a & Ea & <-), (event_of _ Ey) as (b & Eb & <-). apply (c_nfo T T' C) in H, K; auto.
    specialize (N a b Ea Eb). rewrite H, K in N. destruct (Deployed.nfo_pair R a b); discriminate.
  - intros x y Ex Ey P. destruct (event_of _ Ex) as (a & Ea & <-), (event_of _ Ey) as (b & Eb & <-).
    apply (nfo_pair_image T All_plain a b Ea Eb) in P. specialize (N a b Ea Eb). rewrite P in N.
    destruct (Deployed.nfo T a b) eqn:X; [left; now apply (c_nfo T T' C)|right]. apply (c_nfo T T' C); auto.
    destruct (Deployed.nfo T b a); [reflexivity|discriminate N].
Qed.
Lemma well_formed_of : (forall t, ok nv (path T t)) -> (forall a b, Deployed.rao T a b = false) -> wft T' ->
  DeployedTraces.well_formed hw T = true.
Proof.
  intros Ok No_rao W. unfold DeployedTraces.well_formed. rewrite !andb_true_iff.
  assert (forall e, is_event e = true -> E T' (image e)) as In by (intros e H; apply cE; eauto).
  repeat split.
  - now apply (all_possible hw T All_plain Cells).
  - apply rf_fine_spec. split.
    + intros r Er Rd. apply (reads_image T All_plain r Er) in Rd. destruct (t_rf_ex _ W _ (In r Er) Rd) as (x & F).
      destruct (event_of _ (proj1 (c_rf_in T T' C _ _ F))) as (w & Ew & <-). exists w. split; [exact Ew|split].
      * now apply (c_rf T T' C).
      * intros w' Ew' F'. apply (c_rf T T' C) in F'; auto. apply (image_inj T). exact (t_rf_fun _ W _ _ _ F' F).
    + intros w r Ew Er F. apply (rf_event w r Ew Er). apply (c_rf T T' C) in F; auto.
      destruct (t_rf _ W _ _ F) as (_ & _ & H). exact H.
  - apply orders_spec. split.
    + intros a b Ea Eb. split.
      * intros H. apply (mo_event a b Ea Eb). apply (c_mo T T' C) in H; auto. destruct (t_mo _ W _ _ H) as (_ & _ & K).
        exact K.
      * intros P. apply (mo_event a b Ea Eb) in P as (Wa & Wb & L). destruct (Deployed.same a b) eqn:S.
        { apply DeployedDecides.same_spec in S. subst. destruct (Deployed.mo T b b) eqn:X; [|reflexivity]. exfalso.
          apply (c_mo T T' C) in X; auto. exact (t_mo_irr _ W _ X). }
        assert (~ (Deployed.mo T a b = true /\ Deployed.mo T b a = true)) as N.
        { intros (X & Y). apply (c_mo T T' C) in X, Y; auto. exact (t_mo_irr _ W _ (t_mo_trans _ W _ _ _ X Y)). }
        assert (Deployed.mo T a b = true \/ Deployed.mo T b a = true) as O.
        { destruct (t_mo_total _ W _ _ (In a Ea) (In b Eb) Wa Wb L) as [Q|[Q|Q]]; [|left|right];
          try (now apply (c_mo T T' C)).
          apply (image_inj T) in Q. subst. now rewrite DeployedDecides.same_refl in S. }
        destruct (Deployed.mo T a b), (Deployed.mo T b a); simpl; auto; tauto.
    + intros a b d Ea Eb Ed X Y. apply (c_mo T T' C) in X, Y; auto. apply (c_mo T T' C); auto.
      exact (t_mo_trans _ W _ _ _ X Y).
  - unfold DeployedTraces.initial_first. rewrite every2. intros a b Ea Eb.
    destruct (Deployed.mo T a b) eqn:X; [|reflexivity]. simpl.
    apply (initial_image b Eb). apply (c_mo T T' C) in X; auto. exact (t_mo_init _ W _ _ X).
  - unfold DeployedTraces.nfo_fine. rewrite every2. intros a b Ea Eb. destruct (Deployed.nfo_pair R a b) eqn:P.
    + apply (nfo_pair_image T All_plain a b Ea Eb) in P.
      assert (~ (Deployed.nfo T a b = true /\ Deployed.nfo T b a = true)) as N.
      { intros (X & Y). apply (c_nfo T T' C) in X, Y; auto. exact (t_nfo_asym _ W _ _ X Y). }
      assert (Deployed.nfo T a b = true \/ Deployed.nfo T b a = true) as O.
      { destruct (t_nfo_total _ W _ _ (In a Ea) (In b Eb) P) as [Q|Q]; [left|right]; now apply (c_nfo T T' C). }
      destruct (Deployed.nfo T a b), (Deployed.nfo T b a); simpl; auto; tauto.
    + destruct (Deployed.nfo T a b) eqn:X; [|reflexivity]. apply (c_nfo T T' C) in X; auto.
      destruct (t_nfo _ W _ _ X) as (_ & _ & K). apply (nfo_pair_image T All_plain a b Ea Eb) in K. congruence.
  - apply orders_spec. split.
    + intros a b Ea Eb. rewrite No_rao, (rao_pair_none T All_plain a b Ea Eb). split; discriminate.
    + intros a b d _ _ _ X. rewrite No_rao in X. discriminate.
Qed.
End WellFormed.

(* Programs *)
Section Programs.
Variables (hw : Deployed.platform) (nt nv : nat) (init : nat -> Z) (prog : nat -> list label -> Prop).
Hypothesis prefix : forall t l h, prog t (l :: h) -> prog t h.
Hypothesis Cells : 0 < nv.
(* the same threads: their sequences are written the other way round there *)
Definition deployed_program : DeployedTraces.program := {|
  DeployedTraces.its_held := map init (seq 0 nv); DeployedTraces.its_posted := fun _ _ => []; DeployedTraces.threads := nt;
  DeployedTraces.makes := fun t s => exists h, prog t h /\ s = map Deployed.Plain (rev h) |}.
Notation P := (the_program nt nv init prog prefix).

Lemma held_nth x : x < nv -> nth x (map init (seq 0 nv)) 0%Z = init x.
Proof.
  intros L. rewrite nth_indep with (d' := init 0) by (rewrite map_length, seq_length; exact L).
  now rewrite map_nth, seq_nth by exact L.
Qed.
(* the history of a thread that does this *)
Lemma hist_of (T : Deployed.trace) (t : nat) (h : list label) : Deployed.sequence (Deployed.run_of T) t = map
  Deployed.Plain (rev h) ->
  path T t = h /\ forall n, n < length (Deployed.sequence (Deployed.run_of T) t) ->
    is_plain (Deployed.lab (Deployed.run_of T) (Deployed.At t n)).
Proof.
  intros Q. assert (length (Deployed.sequence (Deployed.run_of T) t) = length h) as Len by (rewrite Q, map_length;
    apply rev_length).
  assert (forall n, n < length h -> Deployed.lab (Deployed.run_of T) (Deployed.At t n) = Deployed.Plain (nth n (rev h)
    Lmf)) as Lab.
  { intros n L. unfold Deployed.lab. rewrite Q. exact (map_nth Deployed.Plain (rev h) Lmf n). }
  split; [|intros n L; rewrite Len in L; now rewrite (Lab n L)].
  unfold path. rewrite Len. assert (forall n, n <= length h -> hist T t n = rev (firstn n (rev h))) as H.
  { induction n as [|n IH]; intros L; [reflexivity|]. simpl hist. rewrite (IH ltac:(lia)). unfold does.
    rewrite (Lab n) by lia.
    assert (firstn (S n) (rev h) = firstn n (rev h) ++ [nth n (rev h) Lmf]) as ->; [|now rewrite rev_app_distr].
    assert (n < length (rev h)) as L' by (rewrite rev_length; lia). clear -L'. revert n L'.
    induction (rev h) as [|y s IH]; intros n L; simpl in L; [lia|]. destruct n as [|n]; [reflexivity|]. simpl. f_equal.
    apply IH. lia. }
  rewrite (H _ (le_n _)). rewrite <- (rev_length h), firstn_all. apply rev_involutive.
Qed.

(* a trace there, and the one here that it is *)
Lemma trace_here (T : Deployed.trace) : DeployedTraces.trace_of hw deployed_program T -> exists T' : trace (U := concrete),
  (forall t n, n < length (Deployed.sequence (Deployed.run_of T) t) ->
    is_plain (Deployed.lab (Deployed.run_of T) (Deployed.At t n))) /\
  (forall t, ok (length (Deployed.held (Deployed.run_of T))) (path T t)) /\ corresponds T T' /\ trace_of P T' /\
  forall a b, Deployed.is_event (Deployed.run_of T) a = true -> Deployed.is_event (Deployed.run_of T) b = true ->
    Deployed.rao T a b = false.
Proof.
  intros ((Held & _ & Len & Makes) & W & V). cbn in Held, Len, Makes.
  assert (length (Deployed.held (Deployed.run_of T)) = nv) as Nv by (rewrite Held, map_length; apply seq_length).
  assert (forall t, exists h, prog t h /\ path T t = h /\
    forall n, n < length (Deployed.sequence (Deployed.run_of T) t) ->
      is_plain (Deployed.lab (Deployed.run_of T) (Deployed.At t n))) as Hist.
  { intros t. destruct (Makes t) as (h & Ph & Q). destruct (hist_of T t h Q). eauto. }
  assert (forall t n, n < length (Deployed.sequence (Deployed.run_of T) t) ->
    is_plain (Deployed.lab (Deployed.run_of T) (Deployed.At t n))) as Plain.
  { intros t n L. destruct (Hist t) as (_ & _ & _ & H). auto. }
  assert (0 < length (Deployed.held (Deployed.run_of T))) as Cs by (rewrite Nv; exact Cells).
  assert (forall t, ok (length (Deployed.held (Deployed.run_of T))) (path T t)) as Ok.
  { apply (all_possible hw T Plain Cs). unfold DeployedTraces.well_formed in W. rewrite !andb_true_iff in W. tauto. }
  assert (forall a b, Deployed.is_event (Deployed.run_of T) a = true -> Deployed.is_event (Deployed.run_of T) b = true ->
    Deployed.rao T a b = false) as No_rao.
  { intros a b Ea Eb. unfold DeployedTraces.well_formed in W. rewrite !andb_true_iff in W. destruct W as (_ & W).
    apply orders_spec in W as (W & _). destruct (W a b Ea Eb) as (X & _). destruct (Deployed.rao T a b); [|reflexivity].
    rewrite (rao_pair_none T Plain a b Ea Eb) in X. discriminate (X eq_refl). }
  set (lift := fun (r : Deployed.event -> Deployed.event -> bool) (x y : event) => exists a b,
    Deployed.is_event (Deployed.run_of T) a = true /\ Deployed.is_event (Deployed.run_of T) b = true /\
      image T a = x /\ image T b = y /\ r a b = true).
  assert (forall r a b, Deployed.is_event (Deployed.run_of T) a = true -> Deployed.is_event (Deployed.run_of T) b = true ->
    (r a b = true <-> lift r (image T a) (image T b))) as Lift.
  { intros r a b Ea Eb. split; [intros H; exists a, b; auto|]. intros (a' & b' & _ & _ & Qa & Qb & H).
    apply (image_inj T) in Qa, Qb. now subst. }
  set (E' := fun x => inrun nv init (path T) x).
  assert (forall x, E' x <-> exists e, Deployed.is_event (Deployed.run_of T) e = true /\ image T e = x) as EE.
  { intros x. rewrite <- (inrun_image T). unfold E', inrun. destruct x as [c v|t l h]; [|tauto]. rewrite Nv, Held.
    split; intros (L & ->); (split; [exact L|]); now rewrite held_nth. }
  set (T' := {| E := E' : @ev concrete -> Prop; rf := lift (Deployed.rf T); mo := lift (Deployed.mo T);
    nfo := lift (Deployed.nfo T) |}).
  assert (corresponds T T') as C.
  { constructor; auto; try (intros a b Ea Eb; now apply Lift); intros x y (a & b & Ea & Eb & <- & <- & _); split;
    apply EE; eauto. }
  exists T'. split; [exact Plain|split; [exact Ok|split; [exact C|split; [|exact No_rao]]]].
  assert (runs P E') as Rn.
  { exists (path T). split; [split|reflexivity].
    - intros t. rewrite <- Nv. split; [|apply Ok]. destruct (Hist t) as (h & Ph & -> & _). exact Ph.
    - intros t L. unfold path. assert (Deployed.sequence (Deployed.run_of T) t = []) as ->; [|reflexivity].
      unfold Deployed.sequence. now rewrite nth_overflow by lia. }
  assert (wft T') as Wf by (apply (wft_of hw T Plain T' C); [exact (run_wf _ _ _ _ _ Rn)|exact W]).
  split; [exact Rn|split; [exact Wf|]].
  apply (valid_same hw T Plain Cs T' C Ok); [|exact V]. intros w r H. destruct (t_rf _ Wf w r H) as (_ & _ & A & B & _).
  auto.
Qed.

(* and the other way round *)
Lemma sequence_of (h : nat -> list label) t : (forall t, nt <= t -> h t = []) ->
  nth t (map (fun t => map Deployed.Plain (rev (h t))) (seq 0 nt)) [] = map Deployed.Plain (rev (h t)).
Proof.
  intros H. destruct (le_lt_dec nt t) as [L|L].
  - rewrite nth_overflow by (rewrite map_length, seq_length; exact L). now rewrite H.
  - rewrite nth_indep with (d' := (fun t => map Deployed.Plain (rev (h t))) 0) by (rewrite map_length, seq_length; exact L).
    rewrite (map_nth (fun t => map Deployed.Plain (rev (h t)))). now rewrite seq_nth.
Qed.
Lemma trace_there (T' : trace (U := concrete)) : trace_of P T' ->
  exists T : Deployed.trace, DeployedTraces.trace_of hw deployed_program T /\
  (forall t n, n < length (Deployed.sequence (Deployed.run_of T) t) ->
    is_plain (Deployed.lab (Deployed.run_of T) (Deployed.At t n))) /\
  (forall t, ok (length (Deployed.held (Deployed.run_of T))) (path T t)) /\ corresponds T T' /\
    (forall a b, Deployed.rao T a b = false).
Proof.
  intros ((h & (Hok & Hnt) & HE) & Wf & V).
  set (R := {| Deployed.held := map init (seq 0 nv); Deployed.posted := fun _ _ => [];
               Deployed.does := map (fun t => map Deployed.Plain (rev (h t))) (seq 0 nt) |}).
  set (T0 := fun f g k => {| Deployed.run_of := R; Deployed.rf := f; Deployed.mo := g; Deployed.nfo := k;
    Deployed.rao := fun _ _ => false |}).
  set (none := fun _ _ : Deployed.event => false).
  destruct (boolean_on (list_prod (Deployed.events R) (Deployed.events R)) (fun a b => rf T' (image (T0 none none none)
    a) (image (T0 none none none) b))) as (f & Hf).
  destruct (boolean_on (list_prod (Deployed.events R) (Deployed.events R)) (fun a b => mo T' (image (T0 none none none)
    a) (image (T0 none none none) b))) as (g & Hg).
  destruct (boolean_on (list_prod (Deployed.events R) (Deployed.events R)) (fun a b => nfo T' (image (T0 none none none)
    a) (image (T0 none none none) b))) as (k & Hk).
  set (T := T0 f g k). exists T.
  assert (forall t, Deployed.sequence R t = map Deployed.Plain (rev (h t))) as Sq by (intros t; now apply sequence_of).
  assert (length (Deployed.held R) = nv) as Nv by (simpl; rewrite map_length; apply seq_length).
  assert (0 < length (Deployed.held R)) as Cs by (rewrite Nv; exact Cells).
  assert (forall t, path T t = h t) as Path by (intros t; exact (proj1 (hist_of T t (h t) (Sq t)))).
  assert (forall t n, n < length (Deployed.sequence R t) -> is_plain (Deployed.lab R (Deployed.At t n))) as Plain.
  { intros t. exact (proj2 (hist_of T t (h t) (Sq t))). }
  assert (forall t, ok (length (Deployed.held R)) (path T t)) as Ok by (intros t; rewrite Nv, Path; apply Hok).
  assert (forall a b, Deployed.is_event R a = true -> Deployed.is_event R b = true ->
    In (a, b) (list_prod (Deployed.events R) (Deployed.events R))) as Pr.
  { intros a b Ea Eb. apply in_prod; now apply DeployedDecides.is_event_in. }
  assert (corresponds T T') as C.
  { constructor.
    - intros x. rewrite <- (inrun_image T), HE. unfold inrun. destruct x as [c v|t l hh]; [|now rewrite Path].
      change (Deployed.held (Deployed.run_of T)) with (Deployed.held R). rewrite Nv.
      split; intros (L & ->); (split; [exact L|]); simpl; now rewrite held_nth.
    - intros a b Ea Eb. exact (Hf a b (Pr a b Ea Eb)).
    - intros a b Ea Eb. exact (Hg a b (Pr a b Ea Eb)).
    - intros a b Ea Eb. exact (Hk a b (Pr a b Ea Eb)).
    - intros x y H. now destruct (t_rf _ Wf _ _ H) as (A & B & _).
    - intros x y H. now destruct (t_mo _ Wf _ _ H) as (A & B & _).
    - intros x y H. now destruct (t_nfo _ Wf _ _ H) as (A & B & _). }
  split; [|split; [exact Plain|split; [exact Ok|split; [exact C|reflexivity]]]]. split; [|split].
  - split; [reflexivity|split; [reflexivity|split]].
    + simpl. rewrite map_length, seq_length. apply le_n.
    + intros t. exists (h t). split; [apply Hok|apply Sq].
  - exact (well_formed_of hw T Plain Cs T' C Ok (fun _ _ => eq_refl) Wf).
  - apply (valid_same hw T Plain Cs T' C Ok); [|exact V]. intros w r H.
    destruct (t_rf _ Wf w r H) as (_ & _ & A & B & _). auto.
Qed.

(* The same programs are robust. *)
Theorem deployed_robust : Deployed.buffered hw = false -> (DeployedTraces.robust hw deployed_program <-> robust
  (hardware_of hw) P).
Proof.
  intros B. split; intros Rb T V.
  - destruct V as (Tr & Rc & N). destruct (trace_there T Tr) as (D & Td & Plain & Ok & C & No_rao).
    pose proof (grammar_of D Plain Ok) as G. apply (Rb D). split; [exact Td|split].
    + apply (rdma_image hw D Plain G (fun a b _ _ => No_rao a b) T C B). split; [|exact Rc].
      apply (ib_irreflexive (hardware_of hw)); [apply Tr|exact Rc].
    + rewrite (sc_image D Plain T C). exact N.
  - destruct V as (Td & Rc & N). destruct (trace_here T Td) as (T' & Plain & Ok & C & Tr & No_rao).
    pose proof (grammar_of T Plain Ok) as G. apply (Rb T'). split; [exact Tr|split].
    + now apply (rdma_image hw T Plain G No_rao T' C B) in Rc.
    + rewrite <- (sc_image T Plain T' C). exact N.
Qed.
Theorem deployed_robust_tso : Deployed.buffered hw = true ->
  (DeployedTraces.robust hw deployed_program <-> robust_tso (hardware_of hw) P).
Proof.
  intros B. split; intros Rb T V.
  - destruct V as (Tr & Rc & N). destruct (trace_there T Tr) as (D & Td & Plain & Ok & C & No_rao).
    pose proof (grammar_of D Plain Ok) as G. apply (Rb D). split; [exact Td|split].
    + apply (tso_image hw D Plain G (fun a b _ _ => No_rao a b) T C B). split; [|exact Rc].
      apply (ib_tso_irreflexive (hardware_of hw)); [apply Tr|exact Rc].
    + rewrite (sc_image D Plain T C). exact N.
  - destruct V as (Td & Rc & N). destruct (trace_here T Td) as (T' & Plain & Ok & C & Tr & No_rao).
    pose proof (grammar_of T Plain Ok) as G. apply (Rb T'). split; [exact Tr|split].
    + now apply (tso_image hw T Plain G No_rao T' C B) in Rc.
    + rewrite <- (sc_image T Plain T' C). exact N.
Qed.
End Programs.
