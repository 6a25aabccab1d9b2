(* Deployed.v without store buffers, messages and locked sections: what is an edge there is one between slots, and the other
   way round for sc; so a trace and its trace of slots are consistent in the same way. *)
Require Import List Arith ZArith Bool Lia Classical Relations.
Import ListNotations.
From RR Require Import Sequences RemoteAtomicsModel RemoteAtomicsRules RemoteAtomicsValues RemoteAtomicsTraces
  RemoteAtomicsPrograms DeployedSlots DeployedAtomics DeployedBridge DeployedValues DeployedNormalForm.
From RR Require Programs Deployed DeployedTraces DeployedDecides.
Local Arguments Deployed.lab : simpl never.

(* the paper's Theorem 4.1: every ib cycle has an instantaneous event, so it is one of ob *)
Lemma nicw_ippo {U : slots} ord (T : trace) a b : wft T -> nicw a -> nicw b -> ib1 ord T a b -> po a b.
Proof.
  intros Wf Na Nb [H|H|H|H|H].
  - apply H.
  - destruct H as (_ & _ & H). now apply pf_ok in H.
  - destruct (t_rf _ Wf _ _ H) as (_ & _ & _ & R & _). unfold nicw in Nb. unfold rd in R. destruct (knd b); simpl in *;
    tauto.
  - destruct H as (_ & H). destruct (t_nfo _ Wf _ _ H) as (_ & _ & _ & K). exfalso. unfold nicw, rread, rwrite in *.
    destruct (knd a); simpl in *; try tauto; destruct (knd b); simpl in *; try tauto; intuition discriminate.
  - assert (forall z, rao T z b -> False) as N.
    { intros z R. destruct (t_rao _ Wf _ _ R) as (_ & _ & _ & K & _). unfold nicw in Nb. rewrite K in Nb. destruct Nb. }
    destruct H as [H|(_ & _ & H)]; destruct (N _ H).
Qed.
Theorem ib_irreflexive_atomics {U : slots} ord (T : trace) : wft T -> rdma_consistent ord T -> forall a, ~ ib ord T a a.
Proof.
  intros Wf C.
  assert (forall a b, ib ord T a b -> (exists x, inst x /\ (a = x \/ ib ord T a x) /\ (x = b \/ ib ord T x b)) \/
    (po a b /\ nicw a /\ nicw b)) as H.
  { intros a b K. induction K as [a b K|a b c K IH K' IH'].
    - destruct (classic (nicw a)) as [Na|Na]; [destruct (classic (nicw b)) as [Nb|Nb]|].
      + right. split; [eapply nicw_ippo; eauto|auto].
      + left. exists b. split; [exact Nb|split; [right; now apply t_step|auto]].
      + left. exists a. split; [exact Na|split; [auto|right; now apply t_step]].
    - destruct IH as [(x & I & A & B)|(P & Na & Nb)].
      + left. exists x. split; [exact I|split; [exact A|right]]. destruct B as [->|B]; [exact K'|eapply t_trans; eauto].
      + destruct IH' as [(x & I & A & B)|(P' & _ & Nc)].
        * left. exists x. split; [exact I|split; [right|exact B]]. destruct A as [<-|A]; [exact K|eapply t_trans; eauto].
        * right. split; [eapply po_trans; eauto|auto]. }
  intros a K. destruct (H a a K) as [(x & I & A & B)|(P & _)]; [|destruct (po_irr _ P)].
  assert (ib ord T x x) as L.
  { destruct A as [<-|A]; [exact K|]. destruct B as [->|B]; [exact A|]. eapply t_trans; eauto. }
  apply (C x). apply t_step. now apply ob_ib.
Qed.

Section Bridge.
Variables (hw : Deployed.platform) (T : Deployed.trace).
Notation run := (Deployed.run_of T).
Notation hca := (Deployed.ranked hw).
Notation lab t n := (Deployed.lab run (Deployed.At t n)).
Notation many t := (length (Deployed.sequence run t)).
Notation is_event := (Deployed.is_event run).
Notation kin := (Deployed.kin run).
Notation image := (image hw T).
Notation slots := (slots_to hw T).
Notation ord := (order_for hw).
Notation T' := (slot_trace hw T).
Hypothesis Cpus : Deployed.cpus hw = Deployed.Sequential.
Hypothesis Covered : forall t n, n < many t -> covered_label (lab t n) = true.
Hypothesis Possible : forall t n, n < many t -> DeployedTraces.possible hw T (Deployed.At t n) = true.
Hypothesis Fine : DeployedTraces.well_formed hw T = true.

Lemma operation_image a b : is_event a = true -> is_event b = true -> Deployed.of_one_operation run a b = true ->
  src (image b) = image a.
Proof.
  intros Ea Eb H. unfold Deployed.of_one_operation in H. destruct (image_source hw T Covered Possible b Eb) as (-> & _).
  destruct (Deployed.source run b) as [r|]; [|discriminate]. apply DeployedDecides.same_spec in H. now subst.
Qed.
Lemma queue_kept c a b : is_event a = true -> is_event b = true -> Deployed.po a b = true ->
  Deployed.kept run c a b = true ->
  match cell_of c with All => True | Qp | Issue => qp (image a) = qp (image b) | Never => False end.
Proof.
  intros Ea Eb P. destruct (po_places a b P) as (t & n & m & -> & -> & L). apply event_at in Ea, Eb.
  destruct c; simpl; try discriminate; auto; rewrite (image_queue hw T Covered t n t m Ea Eb); rewrite Nat.eqb_eq; tauto.
Qed.
Lemma ippo_image a b : is_event a = true -> is_event b = true -> Deployed.ippo hw run a b = true ->
  ippo ord (image a) (image b).
Proof.
  intros Ea Eb H. apply andb_prop in H as (P & H). split; [now apply image_po|]. apply orb_prop in H as [H|H].
  - left. now apply operation_image.
  - right. rewrite !(image_kind hw T Covered Possible) by auto.
    destruct (same_cells hw (kin a) (kin b) Cpus (kin_covered T Covered a Ea) (kin_covered T Covered b Eb)) as (C & _).
    rewrite C. now apply queue_kept.
Qed.
Lemma oppo_image a b : is_event a = true -> is_event b = true -> Deployed.oppo hw run a b = true ->
  oppo ord (image a) (image b).
Proof.
  intros Ea Eb H. apply andb_prop in H as (P & H). split; [now apply image_po|]. apply orb_prop in H as [H|H].
  - left. now apply operation_image.
  - right. rewrite !(image_kind hw T Covered Possible) by auto.
    destruct (same_cells hw (kin a) (kin b) Cpus (kin_covered T Covered a Ea) (kin_covered T Covered b Eb)) as (C & C').
    rewrite C. rewrite C' in H. apply queue_kept in H; auto. destruct (Deployed.issued hw (kin a) (kin b)); simpl in *;
    tauto.
Qed.
Lemma pf_image a b : is_event a = true -> is_event b = true -> Deployed.pf run a b = true -> pf (image a) (image b).
Proof.
  intros Ea Eb H. apply andb_prop in H as (P & H). pose proof (proj2 (image_po hw T Covered Possible a b Eb) P) as P'.
  destruct (po_places a b P) as (t & n & m & -> & -> & L). apply event_at in Ea, Eb.
  pose proof (Covered t n Ea) as Ca. pose proof (Covered t m Eb) as Cb.
  change (epf (Ev t (slot_of hw (lab t n)) (slots t n)) (Ev t (slot_of hw (lab t m)) (slots t m))).
  change (epo (Ev t (slot_of hw (lab t n)) (slots t n)) (Ev t (slot_of hw (lab t m)) (slots t m))) in P'.
  destruct (lab t m) as [[]|?|? ? ?|? ?|? ? ?|? ? ?|? ? ? ? ?|? ? ? ?|? ?|? ?]; try discriminate H; try discriminate Cb.
  split; [exact P'|]. apply andb_prop in H as (W & C).
  assert (forall l, covered_label l = true -> completes q (slot_of hw l) = Deployed.completes q l /\
                    signals q (slot_of hw l) = Deployed.signals q l) as Same.
  { intros [p| | | | | | | | |] X; try discriminate X; simpl; auto; destruct hca; auto. }
  destruct (Same _ Ca) as (S1 & S2). rewrite S1. split; [exact W|]. unfold takes. rewrite S2.
  rewrite (count_polls hw T Covered), (count_signals hw T Covered) by lia.
  destruct (Deployed.signals q (lab t n)); [now apply Nat.eqb_eq|now apply Nat.leb_le].
Qed.

(* edges of events without sections and messages *)
Lemma at_once_edge r a b : Deployed.at_once run (Deployed.section run) r a b = true ->
  is_event a = true /\ is_event b = true /\ r a b = true.
Proof.
  intros H. apply andb_prop in H as (H & K). apply andb_prop in H as (Ea & Eb). split; [exact Ea|split; [exact Eb|]].
  apply DeployedDecides.some_spec in K. destruct K as (a' & Ea' & K). apply andb_prop in K as (Qa & K).
  apply DeployedDecides.some_spec in K. destruct K as (b' & Eb' & K). apply andb_prop in K as (K & _).
  apply andb_prop in K as (Qb & K).
  apply DeployedDecides.same_spec in Qa, Qb. rewrite !(section_alone T Covered) in Qa, Qb by auto. now subst.
Qed.
Lemma no_messages a b : is_event a = true -> is_event b = true -> Deployed.sm run a b = false /\
  Deployed.received hw run a b = false.
Proof.
  intros Ea Eb. assert (forall a b, is_event a = true -> is_event b = true -> Deployed.rpf run a b = false) as Rp.
  { intros c d Ec Ed. destruct c as [x|t n], d as [y|u m]; auto. apply event_at, Covered in Ec.
    unfold Deployed.rpf. destruct (lab t n) as [| | | | | | | | |]; try discriminate Ec; reflexivity. }
  split.
  - destruct a as [x|t n], b as [y|u m]; auto. apply event_at, Covered in Ea. unfold Deployed.sm.
    destruct (lab t n) as [| | | | | | | | |]; try discriminate Ea; reflexivity.
  - unfold Deployed.received. rewrite (Rp a b Ea Eb). simpl. apply andb_false_iff. right.
    destruct (Deployed.some run _) eqn:Q; auto. apply DeployedDecides.some_spec in Q. destruct Q as (m & Em & Q).
    apply andb_prop in Q as (_ & Q). now rewrite Rp in Q.
Qed.
Lemma not_own a b : Deployed.own hw T a b = false.
Proof. unfold Deployed.own, Deployed.buffered. now rewrite Cpus. Qed.
Lemma rb_image a b : is_event a = true -> is_event b = true -> Deployed.rb T a b = true -> rb T' (image a) (image b).
Proof.
  intros Ea Eb H. apply andb_prop in H as (N & H). apply DeployedDecides.some_spec in H.
  destruct H as (w & Ew & H). apply andb_prop in H as (R & M). split.
  - intros Q. apply image_inj in Q. subst b. rewrite DeployedDecides.same_refl in N. discriminate.
  - exists (image w). split; now apply related_image.
Qed.
Lemma on_image (R : relation ev) a b : is_event a = true -> is_event b = true -> R (image a) (image b) ->
  on T' R (image a) (image b).
Proof. intros Ea Eb H. split; [|split; [|exact H]]; apply (E_image hw T Covered Possible); eauto. Qed.
Lemma flushed_image a b : is_event a = true -> is_event b = true -> Deployed.flushed hw T a b = true ->
  flushed ord T' (image a) (image b).
Proof.
  intros Ea Eb H. apply andb_prop in H as (F & H). split; [now rewrite same_flush|now apply related_image].
Qed.
Lemma turn_image a b : is_event a = true -> is_event b = true -> Deployed.in_turn hw T a b = true ->
  raoE T' (image a) (image b).
Proof.
  intros Ea Eb H. apply andb_prop in H as (Hr & H). apply orb_prop in H as [H|H].
  - left. split; [exact Hr|now apply related_image].
  - apply andb_prop in H as (K & H). destruct (image_source hw T Covered Possible a Ea) as (Sr & So).
    destruct (Deployed.source run a) as [r|]; [|discriminate]. destruct (So r eq_refl) as (Er & _). right.
    split; [|split].
    + rewrite (image_kind hw T Covered Possible a Ea). unfold Deployed.is in K. destruct (kin a); try discriminate K.
      reflexivity.
    + apply (E_image hw T Covered Possible). eauto.
    + rewrite Sr. split; [exact Hr|now apply related_image].
Qed.
Lemma ib_image a b : Deployed.ib1 hw T a b = true -> is_event a = true /\ is_event b = true /\
  ib1 ord T' (image a) (image b).
Proof.
  intros H. apply at_once_edge in H as (Ea & Eb & H). split; [exact Ea|split; [exact Eb|]].
  unfold Deployed.ib_edge in H. destruct (no_messages a b Ea Eb) as (N1 & N2).
  rewrite not_own, N1, N2, andb_false_r, !orb_false_r in H. repeat (apply orb_prop in H as [H|H]).
  - apply ib_ippo. apply on_image; auto. now apply ippo_image.
  - apply ib_rf. now apply related_image.
  - apply ib_pf. apply on_image; auto. now apply pf_image.
  - apply ib_nfo. now apply flushed_image.
  - apply ib_rao. now apply turn_image.
Qed.
Lemma ib_path a b : Deployed.ib hw T a b -> is_event a = true /\ is_event b = true /\ ib ord T' (image a) (image b).
Proof.
  induction 1 as [a b H|a b c _ (Ea & _ & H) _ (_ & Ec & H')].
  - apply ib_image in H as (Ea & Eb & H). split; [exact Ea|split; [exact Eb|now apply t_step]].
  - split; [exact Ea|split; [exact Ec|eapply t_trans; eauto]].
Qed.
Lemma ob_image a b : Deployed.ob1 hw T a b -> is_event a = true /\ is_event b = true /\ ob1 ord T' (image a) (image b).
Proof.
  intros [H|(I0 & H)].
  - apply at_once_edge in H as (Ea & Eb & H). split; [exact Ea|split; [exact Eb|]].
    unfold Deployed.ob_edge, Deployed.posted_behind, Deployed.buffered in H. destruct (no_messages a b Ea Eb)
    as (N1 & N2).
    rewrite not_own, N1, N2, Cpus, !andb_true_r in H. simpl in H. rewrite !orb_false_r in H.
    repeat (apply orb_prop in H as [H|H]).
    + apply ob_oppo. apply on_image; auto. now apply oppo_image.
    + apply ob_rf. now apply related_image.
    + apply andb_prop in H as (H & K). apply ob_pf; [apply on_image; auto; now apply pf_image|].
      rewrite (image_kind hw T Covered Possible a Ea). unfold Deployed.is in K. destruct (kin a); try discriminate K.
      reflexivity.
    + apply ob_nfo. now apply flushed_image.
    + apply ob_rao. now apply turn_image.
    + apply ob_rb. now apply rb_image.
    + apply ob_mo. now apply related_image.
  - apply ib_path in H as (Ea & Eb & H). split; [exact Ea|split; [exact Eb|]]. apply ob_ib; [|exact H].
    unfold inst. rewrite (image_kind hw T Covered Possible a Ea). unfold is_inst.
    destruct (kin a); simpl in *; try discriminate I0; try destruct hca; auto.
Qed.
Theorem consistent_back : wft T' -> rdma_consistent ord T' -> Deployed.rdma_consistent hw T.
Proof.
  intros Wf C. split; intros a H.
  - apply ib_path in H as (_ & _ & H). exact (ib_irreflexive_atomics ord T' Wf C _ H).
  - assert (forall x y, Deployed.ob hw T x y -> ob ord T' (image x) (image y)) as Up.
    { intros x y K. induction K as [x y K|x y z _ IH _ IH']; [apply t_step; now apply ob_image|eapply t_trans; eauto]. }
    exact (C _ (Up a a H)).
Qed.

(* sc *)
Lemma sc_edge_image a b : is_event a = true -> is_event b = true ->
  po (image a) (image b) \/ rf T' (image a) (image b) \/ rb T' (image a) (image b) \/ mo T' (image a) (image b) ->
  Deployed.sc_edge T a b = true.
Proof.
  intros Ea Eb H. unfold Deployed.sc_edge. destruct H as [H|[H|[H|H]]].
  - apply (image_po hw T Covered Possible a b Eb) in H. now rewrite H.
  - apply related_image in H; auto. rewrite H. now rewrite !orb_true_r.
  - apply (image_rb hw T) in H. destruct H as (a' & b' & _ & _ & Qa & Qb & H). apply image_inj in Qa, Qb. subst.
    rewrite H.
    now rewrite !orb_true_r.
  - apply related_image in H; auto. rewrite H. now rewrite !orb_true_r.
Qed.
Lemma sc_step_twice a : is_event a = true -> Deployed.sc_step run (Deployed.sc_step run a) = Deployed.sc_step run a.
Proof.
  intros Ea. destruct (sc_step_image hw T Covered Possible a Ea) as (Q & Es).
  destruct (sc_step_image hw T Covered Possible _ Es) as (Q' & _). rewrite <- Q in Q'.
  assert (rep (rep (image a)) = rep (image a)) as R.
  { destruct (rep_spec (rep (image a))) as [(K & _)|(_ & ->)]; auto. destruct (rep_nar _ K). }
  rewrite R, Q in Q'. apply image_inj in Q'. now symmetry.
Qed.
Lemma sc_up x y : scv T' x y -> exists a b, is_event a = true /\ is_event b = true /\
  x = image (Deployed.sc_step run a) /\
  y = image (Deployed.sc_step run b) /\ Deployed.sc1 T (Deployed.sc_step run a) (Deployed.sc_step run b) = true.
Proof.
  intros (u & v & -> & -> & H & N).
  assert (exists a b, is_event a = true /\ is_event b = true /\ u = image a /\ v = image b) as (a & b & Ea & Eb & ->
  & ->).
  { destruct H as [(Xu & Xv & _)|(a & b & Ea & Eb & Qa & Qb & _)|
      (_ & w & (_ & a & _ & Ea & _ & Qa & _) & (_ & b & _ & Eb & _ & Qb & _))|
      (a & b & Ea & Eb & Qa & Qb & _)]; [|exists a, b; auto..].
    apply (E_image hw T Covered Possible) in Xu, Xv. destruct Xu as (a & Ea & Qa), Xv as (b & Eb & Qb). exists a, b.
    auto. }
  exists a, b. split; [exact Ea|split; [exact Eb|]].
  destruct (sc_step_image hw T Covered Possible a Ea) as (Qa & Sa), (sc_step_image hw T Covered Possible b Eb)
  as (Qb & Sb).
  split; [exact Qa|split; [exact Qb|]]. unfold Deployed.sc1, Deployed.at_once. rewrite Sa, Sb. simpl.
  apply DeployedDecides.some_spec. exists a. split; [exact Ea|].
  rewrite (sc_step_twice a Ea), (sc_step_twice b Eb), DeployedDecides.same_refl. simpl.
  apply DeployedDecides.some_spec. exists b. split; [exact Eb|]. rewrite DeployedDecides.same_refl. simpl.
  apply andb_true_iff. split.
  - apply sc_edge_image; auto. destruct H as [(_ & _ & H)|H|H|H]; auto.
  - apply negb_true_iff. destruct (Deployed.same _ _) eqn:Q; [|reflexivity]. simpl.
    destruct (Deployed.po a b) eqn:P; [exfalso|reflexivity]. apply DeployedDecides.same_spec in Q.
    assert (rep (image a) = rep (image b)) as R by congruence. apply (image_po hw T Covered Possible a b Eb) in P.
    destruct (rep_spec (image a)) as [(Ka & Ra & Pa & _)|(Ka & Ra)], (rep_spec (image b))
    as [(Kb & Rb & Pb & _)|(Kb & Rb)];
      rewrite Ra, Rb in R.
    + rewrite (src_naw _ _ Ka Kb R) in P. exact (po_irr _ P).
    + rewrite <- R in P. exact (po_irr _ (po_trans _ _ _ P Pa)).
    + apply N. auto.
    + rewrite R in P. exact (po_irr _ P).
Qed.
Theorem not_sequential_back : ~ sc_consistent T' -> ~ Deployed.sc_consistent T.
Proof.
  intros N C. apply N. intros x H.
  assert (forall y z, sc T' y z -> exists a b, is_event a = true /\ is_event b = true /\
  y = image (Deployed.sc_step run a) /\
    z = image (Deployed.sc_step run b) /\ Deployed.sc T (Deployed.sc_step run a) (Deployed.sc_step run b)) as Up.
  { intros y z K. induction K as [y z K|y z w _ (a & b & Ea & Eb & Qa & Qb & K) _ (c & d & Ec & Ed & Qc & Qd & K')].
    - destruct (sc_up y z K) as (a & b & Ea & Eb & Qa & Qb & K1). exists a, b. repeat split; auto. now apply t_step.
    - exists a, d. repeat split; auto. rewrite Qb in Qc. apply image_inj in Qc. rewrite <- Qc in K'. eapply t_trans;
      eauto. }
  destruct (Up x x H) as (a & b & _ & _ & Qa & Qb & K). rewrite Qa in Qb. apply image_inj in Qb. rewrite <- Qb in K.
  exact (C _ K).
Qed.
End Bridge.
