(* Deployed.v where no thread does anything beyond core/Programs.v: a trace is consistent there iff it is so in
   core/Model.v. *)
Require Import List Arith ZArith Bool Lia Relations.
Import ListNotations.
From RR Require Import Model Hardware Programs DeployedPlain.
From RR Require Deployed DeployedTraces DeployedDecides.
Local Arguments Deployed.lab : simpl never.
Local Arguments Deployed.past : simpl never.

Section Core.
Variables (hw : Deployed.platform) (T : Deployed.trace).
Notation R := (Deployed.run_of T).
Notation many t := (length (Deployed.sequence R t)).
Notation lab e := (Deployed.lab R e).
Notation is_event := (Deployed.is_event R).
Notation kin := (Deployed.kin R).
Notation hw' := (hardware_of hw).
Notation image := (image T).
Hypothesis All_plain : forall t n, n < many t -> is_plain (lab (Deployed.At t n)).
Hypothesis Grammar : forall t n, S n < many t -> DeployedTraces.follows (lab (Deployed.At t n)) (lab (Deployed.At t (S
  n))) = true.
Hypothesis No_rao : forall a b, is_event a = true -> is_event b = true -> Deployed.rao T a b = false.

(* the same trace *)
Record corresponds (T' : trace (U := concrete)) : Prop := {
  c_E : forall x, E T' x <-> exists e, is_event e = true /\ image e = x;
  c_rf : forall a b, is_event a = true -> is_event b = true -> (Deployed.rf T a b = true <-> rf T' (image a) (image b));
  c_mo : forall a b, is_event a = true -> is_event b = true -> (Deployed.mo T a b = true <-> mo T' (image a) (image b));
  c_nfo : forall a b, is_event a = true -> is_event b = true -> (Deployed.nfo T a b = true <-> nfo T' (image a) (image b));
  c_rf_in : forall x y, rf T' x y -> E T' x /\ E T' y;
  c_mo_in : forall x y, mo T' x y -> E T' x /\ E T' y;
  c_nfo_in : forall x y, nfo T' x y -> E T' x /\ E T' y;
}.
Variable T' : trace (U := concrete).
Hypothesis C : corresponds T'.

Lemma in_E e : is_event e = true -> E T' (image e).
Proof. intros H. apply (c_E _ C). eauto. Qed.
Lemma of_E x : E T' x -> exists e, is_event e = true /\ image e = x.
Proof. apply (c_E _ C). Qed.

(* kinds *)
Lemma lab_at t n : is_event (Deployed.At t n) = true -> lab (Deployed.At t n) = Deployed.Plain (does T t n).
Proof. intros H. apply (lab_does T All_plain). now apply is_event_at. Qed.
Definition old_kind (k : Deployed.kind) := match k with
  | Deployed.KlR => LR | Deployed.KlW => LW | Deployed.KCAS => CAS | Deployed.KP => Poll | Deployed.KF => Fence
  | Deployed.KnlR => NLR | Deployed.KnrW => NRW | Deployed.KnrR => NRR | Deployed.KnlW => NLW | Deployed.KnF => NF | _ =>
    Init end.
Lemma is_image k e : is_event e = true -> old_kind k <> Init -> k <> Deployed.KCAS -> k <> Deployed.KP -> k <> Deployed.KF ->
  k <> Deployed.KnF -> (Deployed.is R k e = true <-> eknd (image e) = old_kind k).
Proof.
  intros E N N1 N2 N3 N4. unfold Deployed.is, Deployed.kin. destruct e as [x|t n].
  - simpl. split; [discriminate|congruence].
  - rewrite (lab_at t n E). simpl. destruct (does T t n), k; simpl in *; try congruence; split; intros; congruence.
Qed.
Lemma atomics_none k e : is_event e = true -> old_kind k = Init -> Deployed.is R k e = false.
Proof.
  intros E N. unfold Deployed.is, Deployed.kin. destruct e as [x|t n]; [reflexivity|].
  rewrite (lab_at t n E). simpl. destruct (does T t n), k; simpl in *; auto; discriminate.
Qed.
Lemma inst_image e : is_event e = true -> (Deployed.instantaneous hw (kin e) = true <->
  inst hw' (U := concrete) (image e)).
Proof.
  intros E. unfold Deployed.instantaneous, Deployed.kin, inst, is_inst, is_nicw, store. rewrite buffered_same.
  destruct e as [x|t n].
  - simpl. intuition discriminate.
  - rewrite (lab_at t n E). simpl. destruct (does T t n), (Deployed.buffered hw); simpl;
      intuition (auto; discriminate).
Qed.
Lemma thread_image a b : is_event a = true -> is_event b = true -> eknd (image a) <> Init -> eknd (image b) <> Init ->
  (Deployed.same_thread a b = true <-> ethr (image a) = ethr (image b)).
Proof. destruct a, b; simpl; try congruence. intros _ _ _ _. apply Nat.eqb_eq. Qed.

(* relations *)
Lemma rb_image a b : is_event a = true -> is_event b = true -> (Deployed.rb T a b = true <-> rb T' (image a) (image b)).
Proof.
  intros Ea Eb. unfold Deployed.rb. rewrite andb_true_iff, negb_true_iff. split.
  - intros (N & H). apply DeployedDecides.some_spec in H as (w & Ew & H). apply andb_prop in H as (F & M). split.
    + intros Q. apply (image_inj T) in Q. subst. rewrite DeployedDecides.same_refl in N. discriminate.
    + exists (image w). split; [now apply (c_rf _ C)|now apply (c_mo _ C)].
  - intros (N & x & F & M). split.
    + destruct (Deployed.same a b) eqn:Q; [|reflexivity]. apply DeployedDecides.same_spec in Q. congruence.
    + destruct (of_E x (proj1 (c_rf_in _ C _ _ F))) as (w & Ew & <-). apply DeployedDecides.some_spec. exists w.
      split; [auto|].
      apply andb_true_iff. split; [now apply (c_rf _ C)|now apply (c_mo _ C)].
Qed.
Lemma own_image w r : is_event w = true -> is_event r = true ->
  (Deployed.own hw T w r = true <-> own hw' (U := concrete) (image w) (image r)).
Proof.
  intros Ew Er. unfold Deployed.own, own, store. rewrite buffered_same, !andb_true_iff, (is_image _ w Ew),
    (is_image _ r Er) by discriminate.
  simpl. split.
  - intros (((B & S) & K) & L). repeat split; auto. apply thread_image; auto; congruence.
  - intros (L & (B & S) & K). repeat split; auto. apply thread_image; auto; congruence.
Qed.
Lemma flushed_image a b : is_event a = true -> is_event b = true ->
  (Deployed.flushed hw T a b = true <-> flushed hw' T' (image a) (image b)).
Proof.
  intros Ea Eb. unfold Deployed.flushed, flushed, hardware_of. rewrite andb_true_iff, (c_nfo _ C a b Ea Eb). simpl.
  destruct (Deployed.weaker hw), (Deployed.buffered hw); simpl; intuition discriminate.
Qed.
Lemma no_turn a b : is_event a = true -> is_event b = true -> Deployed.in_turn hw T a b = false.
Proof.
  intros Ea Eb. unfold Deployed.in_turn. rewrite (No_rao a b Ea Eb), (atomics_none _ a Ea) by reflexivity. simpl.
  apply andb_false_r.
Qed.
Lemma no_sm a b : is_event a = true -> is_event b = true -> Deployed.sm R a b = false.
Proof.
  intros Ea Eb. destruct a as [x|t n], b as [y|u m]; try reflexivity. unfold Deployed.sm. now rewrite (lab_at t n Ea).
Qed.
Lemma no_rpf a b : is_event a = true -> is_event b = true -> Deployed.rpf R a b = false.
Proof.
  intros Ea Eb. destruct a as [x|t n], b as [y|u m]; try reflexivity. unfold Deployed.rpf. now rewrite (lab_at t n Ea).
Qed.
Lemma not_received a b : is_event a = true -> is_event b = true -> Deployed.received hw R a b = false.
Proof.
  intros Ea Eb. unfold Deployed.received. rewrite (no_rpf a b Ea Eb). simpl.
  destruct (Deployed.some R _) eqn:Q; [|now rewrite andb_false_r]. apply DeployedDecides.some_spec in Q as (m & Em & Q).
  rewrite (no_rpf m b Em Eb), andb_false_r in Q. discriminate.
Qed.
Lemma on_image (r : relation event) a b : is_event a = true -> is_event b = true ->
  (r (image a) (image b) <-> on (U := concrete) T' r (image a) (image b)).
Proof. intros Ea Eb. unfold on. split; [|tauto]. intros H. repeat split; auto using in_E. Qed.

(* vertices are events *)
Lemma alone vertex : (forall e, is_event e = true -> vertex e = e) -> forall r a b, is_event a = true -> is_event b = true ->
  (Deployed.at_once R vertex r a b = true <-> r a b = true).
Proof.
  intros V r a b Ea Eb. unfold Deployed.at_once. rewrite Ea, Eb. simpl. rewrite DeployedDecides.some_spec. split.
  - intros (a' & Ea' & H). apply andb_prop in H as (Qa & H). apply DeployedDecides.some_spec in H as (b' & Eb' & H).
    apply andb_prop in H as (H & _). apply andb_prop in H as (Qb & H).
    rewrite !V in Qa, Qb by auto. apply DeployedDecides.same_spec in Qa, Qb. now subst.
  - intros H. exists a. split; [auto|]. rewrite DeployedDecides.same_refl. simpl. apply DeployedDecides.some_spec.
    exists b. split; [auto|]. rewrite DeployedDecides.same_refl, H, !V by auto. simpl.
    destruct (Deployed.same a b) eqn:Q; [|reflexivity]. apply DeployedDecides.same_spec in Q. subst.
    destruct b as [y|u m]; simpl; [reflexivity|]. now rewrite Nat.ltb_irrefl, andb_false_r.
Qed.
Lemma section_alone e : is_event e = true -> Deployed.section R e = e.
Proof.
  intros E. destruct e as [x|t n]; [reflexivity|]. unfold Deployed.section. f_equal. destruct n as [|n]; [reflexivity|].
  pose proof (lab_at t (S n) E) as L. unfold Deployed.lab in L. cbn [Deployed.section_start]. now rewrite L.
Qed.
Lemma step_alone e : is_event e = true -> Deployed.sc_step R e = e.
Proof.
  intros E. destruct e as [x|t [|n]]; [reflexivity|reflexivity|]. unfold Deployed.sc_step.
  rewrite (lab_at t (S n) E). now apply section_alone.
Qed.

(* closures *)
Lemma transfer (r : relation Deployed.event) (r' : relation event) :
  (forall a b, r a b -> is_event a = true /\ is_event b = true) -> (forall x y, r' x y -> E T' x /\ E T' y) ->
  (forall a b, is_event a = true -> is_event b = true -> (r a b <-> r' (image a) (image b))) ->
  forall a b, is_event a = true -> is_event b = true -> (clos_trans _ r a b <-> clos_trans _ r' (image a) (image b)).
Proof.
  intros I I' H a b Ea Eb. split.
  - intros P. clear Ea Eb. assert (is_event a = true /\ is_event b = true /\ clos_trans _ r' (image a) (image b)) as X;
    [|apply X].
    induction P as [a b P|a b c _ (Ea & Eb & IH) _ (_ & Ec & IH')].
    + destruct (I a b P) as (Ea & Eb). repeat split; auto. apply t_step. now apply H.
    + repeat split; auto. eapply t_trans; eauto.
  - intros P. remember (image a) as x eqn:Qa. remember (image b) as y eqn:Qb. revert a b Ea Eb Qa Qb.
    induction P as [x y P|x z y P IH P' IH']; intros a b Ea Eb -> ->.
    + apply t_step. now apply H.
    + assert (E T' z) as Ez.
      { clear -I' P. induction P as [x z P|x y z _ _ _ IH]; [apply (I' x z P)|exact IH]. }
      destruct (of_E z Ez) as (c & Ec & <-). eapply t_trans; [apply (IH a c)|apply (IH' c b)]; auto.
Qed.
Lemma irreflexive_image (r : relation Deployed.event) (r' : relation event) :
  (forall a b, r a b -> is_event a = true /\ is_event b = true) -> (forall x y, r' x y -> E T' x /\ E T' y) ->
  (forall a b, is_event a = true -> is_event b = true -> (r a b <-> r' (image a) (image b))) ->
  ((forall a, ~ clos_trans _ r a a) <-> forall x, ~ clos_trans _ r' x x).
Proof.
  intros I I' H. split; intros N x P.
  - assert (forall x y, clos_trans _ r' x y -> E T' x) as Ex by (induction 1 as [y z Q|y u z _ IH _ _];
    [apply (I' y z Q)|exact IH]).
    specialize (Ex x x P).
    destruct (of_E x Ex) as (a & Ea & <-). apply (N a). now apply (transfer r r').
  - assert (forall x y, clos_trans _ r x y -> is_event x = true) as Ex
      by (induction 1 as [y z Q|y u z _ IH _ _]; [apply (I y z Q)|exact IH]).
    specialize (Ex x x P).
    apply (N (image x)). now apply (transfer r r').
Qed.
Lemma at_once_events v r a b : Deployed.at_once R v r a b = true -> is_event a = true /\ is_event b = true.
Proof. unfold Deployed.at_once. intros H. apply andb_prop in H as (H & _). now apply andb_prop. Qed.

Lemma sc_image : Deployed.sc_consistent T <-> sc_consistent T'.
Proof.
  unfold Deployed.sc_consistent, sc_consistent, irreflexive. apply irreflexive_image.
  - intros a b. apply at_once_events.
  - intros x y [(X & Y & _)|H|(N & u & H & K)|H]; [auto|now apply (c_rf_in _ C)| |now apply (c_mo_in _ C)].
    split; [apply (c_rf_in _ C _ _ H)|apply (c_mo_in _ C _ _ K)].
  - intros a b Ea Eb. unfold Deployed.sc1. rewrite (alone _ step_alone _ a b Ea Eb). unfold Deployed.sc_edge.
    rewrite (no_sm a b Ea Eb), (no_rpf a b Ea Eb), !orb_false_r, !orb_true_iff, (po_image T), (c_rf _ C a b Ea Eb),
      (rb_image a b Ea Eb), (c_mo _ C a b Ea Eb), (on_image epo a b Ea Eb).
    split; [intros [[[H|H]|H]|H]; [now apply sc_po|now apply sc_rf|now apply sc_rb|now apply sc_mo]|].
    intros [H|H|H|H]; auto.
Qed.

(* ib and ob *)
Lemma ib_edge_image a b : is_event a = true -> is_event b = true -> (Deployed.ib1 hw T a b = true <->
  ippo hw' (U := concrete) (image a) (image b) \/ rf T' (image a) (image b) \/
  (rb T' (image a) (image b) /\ own hw' (U := concrete) (image b) (image a)) \/
  epf (image a) (image b) \/ flushed hw' T' (image a) (image b)).
Proof.
  intros Ea Eb. unfold Deployed.ib1. rewrite (alone _ section_alone _ a b Ea Eb). unfold Deployed.ib_edge.
  rewrite (no_sm a b Ea Eb), (not_received a b Ea Eb), (no_turn a b Ea Eb), !orb_false_r, !orb_true_iff, andb_true_iff.
  rewrite (ippo_image hw T All_plain Grammar a b Ea Eb), (c_rf _ C a b Ea Eb), (rb_image a b Ea Eb), (own_image b a Eb Ea),
    (pf_image T All_plain a b Ea Eb), (flushed_image a b Ea Eb). tauto.
Qed.
Lemma rb_inside x y : rb T' x y -> E T' x /\ E T' y.
Proof. intros (_ & u & H & K). split; [apply (c_rf_in _ C _ _ H)|apply (c_mo_in _ C _ _ K)]. Qed.
Lemma flushed_inside x y : flushed hw' T' x y -> E T' x /\ E T' y.
Proof. intros (_ & H). now apply (c_nfo_in _ C). Qed.
Lemma ib_inside a b : Deployed.ib1 hw T a b = true -> is_event a = true /\ is_event b = true.
Proof. apply at_once_events. Qed.
Lemma ob_inside a b : Deployed.ob1 hw T a b -> is_event a = true /\ is_event b = true.
Proof. intros H. apply DeployedDecides.ob_inside in H. now rewrite !DeployedDecides.is_event_in. Qed.

Definition behind x y := exists z, on (U := concrete) T' (oppo hw') x z /\ on (U := concrete) T' epf z y /\
  store hw' (U := concrete) x.
Lemma behind_image a b : is_event a = true -> is_event b = true -> (Deployed.posted_behind hw T a b = true <->
  behind (image a) (image b)).
Proof.
  intros Ea Eb. unfold Deployed.posted_behind, behind, store. rewrite buffered_same.
  rewrite !andb_true_iff, (is_image _ a Ea), DeployedDecides.some_spec
    by discriminate. split.
  - intros ((B & K) & x & Ex & H). exists (image x). apply andb_prop in H as (O & P).
    apply (oppo_image hw T All_plain Grammar a x Ea Ex) in O. apply (pf_image T All_plain x b Ex Eb) in P.
    repeat split; auto using in_E; try apply O; apply P.
  - intros (z & (_ & Ez & O) & (_ & _ & P) & BK). split; [exact BK|].
    destruct (of_E z Ez) as (x & Ex & <-). exists x. split; [exact Ex|]. apply andb_true_iff. split.
    + now apply (oppo_image hw T All_plain Grammar a x Ea Ex).
    + now apply (pf_image T All_plain x b Ex Eb).
Qed.
Lemma ob_edge_image a b : is_event a = true -> is_event b = true ->
  (Deployed.at_once R (Deployed.section R) (Deployed.ob_edge hw T) a b = true <->
  oppo hw' (U := concrete) (image a) (image b) \/
  (rf T' (image a) (image b) /\ ~ own hw' (U := concrete) (image a) (image b)) \/
  (epf (image a) (image b) /\ eknd (image a) = NLW) \/ behind (image a) (image b) \/
  flushed hw' T' (image a) (image b) \/ rb T' (image a) (image b) \/ mo T' (image a) (image b)).
Proof.
  intros Ea Eb. rewrite (alone _ section_alone _ a b Ea Eb). unfold Deployed.ob_edge.
  rewrite (no_sm a b Ea Eb), (not_received a b Ea Eb), (no_turn a b Ea Eb), !orb_false_r, !orb_true_iff, !andb_true_iff.
  rewrite negb_true_iff, <- not_true_iff_false.
  rewrite (oppo_image hw T All_plain Grammar a b Ea Eb), (c_rf _ C a b Ea Eb), (own_image a b Ea Eb),
    (pf_image T All_plain a b Ea Eb),
    (is_image _ a Ea), (behind_image a b Ea Eb), (flushed_image a b Ea Eb), (rb_image a b Ea Eb),
      (c_mo _ C a b Ea Eb) by discriminate.
  simpl old_kind. tauto.
Qed.

Lemma paths_inside (r : relation event) : (forall x y, r x y -> E T' x /\ E T' y) ->
  forall x y, clos_trans event r x y -> E T' x /\ E T' y.
Proof. intros I x y. induction 1 as [x y H|x y z _ IH _ IH']; [auto|tauto]. Qed.

Lemma ib_image a b : is_event a = true -> is_event b = true ->
  (Deployed.ib1 hw T a b = true <-> ib1 hw' T' (image a) (image b)).
Proof.
  intros Ea Eb. rewrite (ib_edge_image a b Ea Eb). split.
  - intros [H|[H|[(H & O)|[H|H]]]]; [apply ib_ippo|now apply ib_rf|now apply ib_rbb|apply ib_pf|now apply ib_nfo];
      now apply (proj1 (on_image _ a b Ea Eb)).
  - intros [(_ & _ & H)|(_ & _ & H)|H|H O|H]; auto 8.
Qed.
Lemma ib1_inside x y : ib1 hw' T' x y -> E T' x /\ E T' y.
Proof.
  intros [(X & Y & _)|(X & Y & _)|H|H _|H]; auto;
    [now apply (c_rf_in _ C)|now apply rb_inside|now apply flushed_inside].
Qed.
Lemma ob1_inside x y : ob1 hw' T' x y -> E T' x /\ E T' y.
Proof.
  intros [(X & Y & _)|(X & Y & _) _|z (X & _) (_ & Y & _) _|H _|H|H|H|_ H]; auto; [now apply (c_rf_in _ C)|
    now apply flushed_inside|now apply rb_inside|now apply (c_mo_in _ C)|now apply (paths_inside _ ib1_inside)].
Qed.
Lemma ob_image a b : is_event a = true -> is_event b = true ->
  (Deployed.ob1 hw T a b <-> ob1 hw' T' (image a) (image b)).
Proof.
  intros Ea Eb. unfold Deployed.ob1. rewrite (ob_edge_image a b Ea Eb), (inst_image a Ea). unfold Deployed.ib.
  rewrite (transfer (fun a b => Deployed.ib1 hw T a b = true) (ib1 hw' T') ib_inside ib1_inside ib_image a b Ea Eb). split.
  - intros [[H|[(H & N)|[(H & K)|[(z & H & K & S)|[H|[H|H]]]]]]|(I & H)].
    + apply ob_oppo. now apply (proj1 (on_image _ a b Ea Eb)).
    + now apply ob_rf.
    + apply ob_pf; [now apply (proj1 (on_image _ a b Ea Eb))|exact K].
    + now apply ob_post with z.
    + now apply ob_nfo.
    + now apply ob_rb.
    + now apply ob_mo.
    + now apply ob_ib.
  - intros [(_ & _ & H)|(_ & _ & H) K|z H K S|H N|H|H|H|K H]; auto 9. left; right; right; right; left. now exists z.
Qed.

Theorem rdma_image : Deployed.rdma_consistent hw T <-> irreflexive (ib hw' T') /\ rdma_consistent hw' T'.
Proof.
  unfold Deployed.rdma_consistent.
  pose proof (irreflexive_image (fun a b => Deployed.ib1 hw T a b = true) (ib1 hw' T') ib_inside ib1_inside ib_image) as H1.
  pose proof (irreflexive_image (Deployed.ob1 hw T) (ob1 hw' T') ob_inside ob1_inside ob_image) as H2.
  unfold Deployed.ib, Deployed.ob. now rewrite H1, H2.
Qed.
End Core.
