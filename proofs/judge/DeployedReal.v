(* A trace of slots as a trace of Deployed.v: it is well-formed there, and has its values. *)
Require Import List Arith ZArith Bool Lia Classical Relations.
Import ListNotations.
From RR Require Import Sequences Orders RemoteAtomicsModel RemoteAtomicsRules RemoteAtomicsValues RemoteAtomicsTraces
  RemoteAtomicsPrograms DeployedSlots DeployedAtomics DeployedBridge DeployedValues DeployedHappening DeployedThere.
From RR Require Programs Deployed DeployedTraces DeployedDecides DeployedRobust.
Local Arguments Deployed.lab : simpl never.

(* In a consistent trace every write has a value. *)
Lemma has_value {U : slots} ord (X : trace) : wft X -> real X -> rdma_consistent ord X -> forall x, E X x -> wr (live X) x ->
  exists v, wval (rf X) x v.
Proof.
  intros Wf Rl Con x Ex Wx. apply NNPP. intros N. destruct (wf_fin _ (t_S _ Wf)) as (es & Hes).
  destruct (max_elem es (fun y => E X y /\ wr (live X) y /\ ~ exists v, wval (rf X) y v) (fun a b => ob ord X b a))
    as (y & (Ey & (Iy & Cy) & Ny) & K).
  - split; [exact Con|]. intros a b c A B. eapply t_trans; eauto.
  - intros a (Ea & _). apply Hes, Ea.
  - exists x. auto.
  - apply Ny. destruct (classic (cond y)) as [C|C]; [apply (Rl y (proj1 Ey) C); auto|].
    destruct (classic (fed y)) as [F|F]; [|exists (cwv y); now apply wv_cpu].
    destruct (src_ok y F) as (P & _). pose proof (src_rd y F) as R.
    assert (S X (src y)) as Ss by (eapply wf_down; [apply t_S, Wf|exact P|apply Ey]).
    assert (E X (src y)) as Es. { split; [exact Ss|]. intros Q. unfold rd in R. rewrite Q in R. destruct R. }
    destruct (t_rf_ex _ Wf _ Es R) as (d & D). destruct (t_rf _ Wf _ _ D) as (Ed & _ & Wd & _).
    assert (ob ord X d y) as O.
    { apply t_trans with (src y); apply t_step; [now apply ob_rf|]. apply ob_oppo. split; [exact Es|split; [exact Ey|]].
      now apply src_oppo. }
    destruct (classic (exists v, wval (rf X) d v)) as [(v & V)|Nd]; [|destruct (K d); auto].
    exists v. now apply wv_copy with d.
Qed.

Section Real.
Variables (hw : Deployed.platform) (nt nv : nat) (init : nat -> Z) (prog : nat -> list label -> Prop).
Hypothesis Of : forall t h, prog t h -> forall l, In l h -> of_hardware hw l = true.
Variables (X : trace) (path : nat -> list label) (f : event -> bool).
Hypothesis Path : pathok nt nv prog path.
Hypothesis SX : forall e, S X e <-> inrun nv init path e.
Hypothesis Fl : forall e, S X e -> (f e = true <-> live X e).
Variable T : Deployed.trace.
Hypothesis RT : Deployed.run_of T = run_there nt nv init path f.
Notation run := (Deployed.run_of T).
Notation hca := (Deployed.ranked hw).
Notation lab t n := (Deployed.lab run (Deployed.At t n)).
Notation many t := (length (Deployed.sequence run t)).
Notation is_event := (Deployed.is_event run).
Notation kin := (Deployed.kin run).
Notation image := (image hw T).
Notation place a := (DeployedDecides.index Deployed.same (Deployed.events run) a).
Hypothesis Wf : wft X.
Hypothesis Rrf : forall a b, is_event a = true -> is_event b = true -> (Deployed.rf T a b = true <-> rf X (image a) (image b)).
Hypothesis Rmo : forall a b, is_event a = true -> is_event b = true -> (Deployed.mo T a b = true <-> mo X (image a) (image b)).
Hypothesis Rnfo : forall a b, is_event a = true -> is_event b = true -> (Deployed.nfo T a b = true <-> nfo X (image a) (image b)).
Hypothesis Rrao : forall a b, is_event a = true -> is_event b = true -> (Deployed.rao T a b = true <->
  if hca then rao X (image a) (image b) else Deployed.rao_pair run a b = true /\ place a < place b).
Let Covered := covered_there hw nt nv init prog Of path f Path T RT.
Let Possible := possible_there hw nt nv init prog Of path f Path T RT.
Let happens := happens_there hw nt nv init prog Of X path f Path SX Fl T RT.

Lemma in_X a : is_event a = true -> E X (image a).
Proof. intros Ea. apply happens. eauto. Qed.
Lemma writes_X a : is_event a = true -> (wr (live X) (image a) <-> Deployed.writes run a = true).
Proof.
  intros Ea. rewrite <- (image_writes hw T Covered Possible a Ea). unfold wr. rewrite (live_image hw T a Ea).
  pose proof (live_there hw nt nv init prog Of X path f Path SX Fl T RT a Ea) as L. split; intros (I0 & C); (split; [exact I0|]);
  intros Ca; apply L; auto; now apply C.
Qed.
Lemma mo_pair_X a b : is_event a = true -> is_event b = true -> (Deployed.mo_pair run a b = true <->
  wr (live X) (image a) /\ wr (live X) (image b) /\ loc (image a) = loc (image b)).
Proof.
  intros Ea Eb. rewrite !writes_X by auto. unfold Deployed.mo_pair. rewrite !andb_true_iff. split.
  - intros ((Wa & Wb) & C). repeat split; auto. apply (image_cell hw T Covered); auto.
  - intros (Wa & Wb & C). repeat split; auto. apply (image_cell hw T Covered); auto.
Qed.
Lemma one_way (r r' : bool) : (r = true -> r' = true -> False) -> r = true \/ r' = true -> xorb r r' = true.
Proof. destruct r, r'; simpl; intuition. Qed.
Lemma place_inj a b : is_event a = true -> is_event b = true -> place a = place b -> a = b.
Proof.
  intros Ea Eb Q. apply DeployedDecides.is_event_in in Ea, Eb.
  apply (DeployedDecides.index_in Deployed.same (Deployed.events run) DeployedDecides.same_spec) in Ea, Eb. congruence.
Qed.

Lemma well_formed_there : DeployedTraces.well_formed hw T = true.
Proof.
  unfold DeployedTraces.well_formed. rewrite !andb_true_iff. repeat split.
  - apply DeployedDecides.every_spec. intros [x|t n] Ea; [reflexivity|]. apply Possible. now apply event_at.
  - apply DeployedRobust.rf_fine_spec. split.
    + intros r Er Rd. apply (image_reads hw T Covered Possible r Er) in Rd. destruct (t_rf_ex _ Wf _ (in_X r Er) Rd) as (x & R).
      pose proof (proj1 (t_rf _ Wf _ _ R)) as Ex. apply happens in Ex. destruct Ex as (w & Ew & ->). exists w.
      split; [exact Ew|split; [now apply Rrf|]]. intros w' Ew' R'. apply Rrf in R'; auto.
      apply (image_inj hw T). exact (t_rf_fun _ Wf _ _ _ R' R).
    + intros w r Ew Er R. apply Rrf in R; auto. destruct (t_rf _ Wf _ _ R) as (_ & _ & Ww & Rr & C).
      apply writes_X in Ww; auto. apply (image_reads hw T Covered Possible r Er) in Rr. split; [exact Ww|split; [exact Rr|]].
      apply (image_cell hw T Covered); auto.
  - apply DeployedRobust.orders_spec. split.
    + intros a b Ea Eb. split.
      * intros M. apply Rmo in M; auto. apply mo_pair_X; auto. destruct (t_mo _ Wf _ _ M) as (_ & _ & H). exact H.
      * intros Pr. apply mo_pair_X in Pr; auto. destruct Pr as (Wa & Wb & C). destruct (Deployed.same a b) eqn:Q.
        { apply DeployedDecides.same_spec in Q. subst b. destruct (Deployed.mo T a a) eqn:M; auto. apply Rmo in M; auto.
          destruct (t_mo_irr _ Wf _ M). }
        apply one_way.
        -- intros M M'. apply Rmo in M, M'; auto. exact (t_mo_irr _ Wf _ (t_mo_trans _ Wf _ _ _ M M')).
        -- destruct (t_mo_total _ Wf _ _ (in_X a Ea) (in_X b Eb) Wa Wb C) as [K|[K|K]]; [|left; now apply Rmo|right; now apply Rmo].
           apply image_inj in K. subst b. now rewrite DeployedDecides.same_refl in Q.
    + intros a b c Ea Eb Ec M M'. apply Rmo in M, M'; auto. apply Rmo; auto. exact (t_mo_trans _ Wf _ _ _ M M').
  - unfold DeployedTraces.initial_first. rewrite DeployedRobust.every2. intros a b Ea Eb.
    destruct (Deployed.mo T a b) eqn:M; [|reflexivity]. apply Rmo in M; auto. apply t_mo_init in M; auto.
    destruct b as [x|t n]; [destruct M; reflexivity|reflexivity].
  - unfold DeployedTraces.nfo_fine. rewrite DeployedRobust.every2. intros a b Ea Eb.
    destruct (Deployed.nfo_pair run a b) eqn:Pr.
    + apply (image_nfo_pair hw T Covered Possible a b Ea Eb) in Pr. apply one_way.
      * intros M M'. apply Rnfo in M, M'; auto. exact (t_nfo_asym _ Wf _ _ M M').
      * destruct (t_nfo_total _ Wf _ _ (in_X a Ea) (in_X b Eb) Pr); [left|right]; now apply Rnfo.
    + destruct (Deployed.nfo T a b) eqn:M; [|reflexivity]. apply Rnfo in M; auto. destruct (t_nfo _ Wf _ _ M) as (_ & _ & H).
      apply (image_nfo_pair hw T Covered Possible a b Ea Eb) in H. congruence.
  - apply DeployedRobust.orders_spec. destruct hca eqn:H.
    + split.
      * intros a b Ea Eb. split.
        -- intros M. apply Rrao in M; auto. apply (image_rao_pair hw T Covered Possible a b Ea Eb H).
           destruct (t_rao _ Wf _ _ M) as (_ & _ & K). exact K.
        -- intros Pr. apply (image_rao_pair hw T Covered Possible a b Ea Eb H) in Pr. destruct Pr as (Ka & Kb & C).
           destruct (Deployed.same a b) eqn:Q.
           { apply DeployedDecides.same_spec in Q. subst b. destruct (Deployed.rao T a a) eqn:M; auto. apply Rrao in M; auto.
             destruct (t_rao_irr _ Wf _ M). }
           apply one_way.
           ++ intros M M'. apply Rrao in M, M'; auto. exact (t_rao_irr _ Wf _ (t_rao_trans _ Wf _ _ _ M M')).
           ++ destruct (t_rao_total _ Wf _ _ (proj1 (in_X a Ea)) (proj1 (in_X b Eb)) Ka Kb C) as [K|[K|K]];
              [|left; now apply Rrao|right; now apply Rrao].
              apply image_inj in K. subst b. now rewrite DeployedDecides.same_refl in Q.
      * intros a b c Ea Eb Ec M M'. apply Rrao in M, M'; auto. apply Rrao; auto. exact (t_rao_trans _ Wf _ _ _ M M').
    + assert (forall a b, Deployed.rao_pair run a b = true <-> Deployed.is run Deployed.KnaR a = true /\
        Deployed.is run Deployed.KnaR b = true /\ Deployed.same_cell run a b = true) as Rp.
      { intros a b. unfold Deployed.rao_pair. rewrite !andb_true_iff. tauto. }
      assert (forall a b, Deployed.same_cell run a b = Deployed.same_cell run b a) as Sy.
      { intros a b. unfold Deployed.same_cell. destruct (Deployed.accessed _), (Deployed.accessed _); auto. apply Nat.eqb_sym. }
      split.
      * intros a b Ea Eb. split; [intros M; now apply Rrao in M|]. intros Pr. destruct (Deployed.same a b) eqn:Q.
        { apply DeployedDecides.same_spec in Q. subst b. destruct (Deployed.rao T a a) eqn:M; auto. apply Rrao in M; auto. lia. }
        apply one_way.
        -- intros M M'. apply Rrao in M, M'; auto. lia.
        -- assert (Deployed.rao_pair run b a = true) as Pr' by (apply Rp in Pr; apply Rp; rewrite Sy; tauto).
           destruct (lt_eq_lt_dec (place a) (place b)) as [[L|L]|L]; [left; now apply Rrao| |right; now apply Rrao].
           apply place_inj in L; auto. subst b. now rewrite DeployedDecides.same_refl in Q.
      * intros a b c Ea Eb Ec M M'. apply Rrao in M, M'; auto. apply Rrao; auto. destruct M as (M & L), M' as (M' & L').
        split; [|lia]. apply Rp in M, M'. apply Rp. repeat split; try tauto. destruct M as (_ & _ & C), M' as (_ & _ & C').
        unfold Deployed.same_cell in *. destruct (Deployed.accessed (Deployed.lab run a)), (Deployed.accessed (Deployed.lab run b)),
          (Deployed.accessed (Deployed.lab run c)); try discriminate. apply Nat.eqb_eq in C, C'. apply Nat.eqb_eq. congruence.
Qed.
End Real.
