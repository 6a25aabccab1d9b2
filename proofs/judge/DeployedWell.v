(* Deployed.v where no thread does anything beyond core/Programs.v: a trace is well-formed there iff it is so in
   core/Model.v. *)
Require Import List Arith ZArith Bool Lia Classical Relations.
Import ListNotations.
From RR Require Import Model Hardware Programs DeployedPlain DeployedCore DeployedSame.
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
Proof.
  destruct e; simpl; [intuition discriminate|]. intros _. split; [|auto]. intros _. destruct (does T t n); discriminate.
Qed.

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
    destruct (Deployed.mo T a b) eqn:X; [left; now apply (c_mo T T' C)|right]. apply (c_mo T T' C); auto;
      now destruct (Deployed.mo T b a).
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
    destruct (Deployed.nfo T a b) eqn:X; [left; now apply (c_nfo T T' C)|right]. apply (c_nfo T T' C); auto;
      now destruct (Deployed.nfo T b a).
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
