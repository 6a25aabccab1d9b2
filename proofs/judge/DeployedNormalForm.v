(* Deployed.v without store buffers, messages and locked sections: what is violating there is violating in the model of the
   normal form with remote atomics, so the normal form holds of it. *)
Require Import List Arith ZArith Bool Lia Classical Relations.
Import ListNotations.
From RR Require Import Sequences RemoteAtomicsModel RemoteAtomicsRules RemoteAtomicsValues RemoteAtomicsTraces
  RemoteAtomicsPrograms DeployedSlots DeployedAtomics DeployedBridge DeployedValues.
From RR Require Programs Deployed DeployedTraces DeployedDecides.
Local Arguments Deployed.lab : simpl never.

Section Bridge.
Variables (hw : Deployed.platform) (T : Deployed.trace).
Notation run := (Deployed.run_of T).
Notation hca := (Deployed.ranked hw).
Notation lab t n := (Deployed.lab run (Deployed.At t n)).
Notation many t := (length (Deployed.sequence run t)).
Notation is_event := (Deployed.is_event run).
Notation kin := (Deployed.kin run).
Notation nv := (length (Deployed.held run)).
Notation image := (image hw T).
Notation ord := (order_for hw).
Notation T' := (slot_trace hw T).
Hypothesis Cpus : Deployed.cpus hw = Deployed.Sequential.
Hypothesis Covered : forall t n, n < many t -> covered_label (lab t n) = true.
Hypothesis Possible : forall t n, n < many t -> DeployedTraces.possible hw T (Deployed.At t n) = true.
Hypothesis Fine : DeployedTraces.well_formed hw T = true.

Lemma po_irreflexive a : Deployed.po a a = false.
Proof. destruct a; simpl; auto. rewrite Nat.eqb_refl. simpl. apply Nat.ltb_irrefl. Qed.
Lemma section_alone a : is_event a = true -> Deployed.section run a = a.
Proof.
  destruct a as [x|t n]; [reflexivity|]. intros L. apply event_at in L. pose proof (Covered t n L) as C. simpl. f_equal.
  destruct n; [reflexivity|]. unfold Deployed.lab in C.
  change (match nth (Datatypes.S n) (Deployed.sequence run t) (Deployed.Plain Programs.Lmf) with
    | Deployed.Joined _ => Deployed.section_start (Deployed.sequence run t) n | _ => Datatypes.S n end = Datatypes.S n).
  destruct (nth (Datatypes.S n) (Deployed.sequence run t) (Deployed.Plain Programs.Lmf)); try discriminate C; reflexivity.
Qed.
Lemma edge (r : Deployed.event -> Deployed.event -> bool) a b : is_event a = true -> is_event b = true -> r a b = true ->
  Deployed.at_once run (Deployed.section run) r a b = true.
Proof.
  intros Ea Eb H. unfold Deployed.at_once. rewrite Ea, Eb. simpl. apply DeployedDecides.some_spec. exists a. split;
  [exact Ea|].
  rewrite DeployedDecides.same_refl. simpl. apply DeployedDecides.some_spec. exists b. split; [exact Eb|].
  rewrite DeployedDecides.same_refl, H. simpl. rewrite !section_alone by auto. apply negb_true_iff, andb_false_iff.
  destruct (Deployed.same a b) eqn:Q; [right|auto]. apply DeployedDecides.same_spec in Q. subst b. apply po_irreflexive.
Qed.

Definition lifts (R : Deployed.event -> Deployed.event -> Prop) (x y : ev) :=
  exists a b, is_event a = true /\ is_event b = true /\ x = image a /\ y = image b /\ R a b.
Lemma lifts_trans R x y : clos_trans ev (lifts R) x y -> lifts (clos_trans Deployed.event R) x y.
Proof.
  induction 1 as [x y (a & b & Ea & Eb & Qa & Qb & H)|
    x y z _ (a & b & Ea & Eb & Qa & Qb & H) _ (c & d & Ec & Ed & Qc & Qd & H')].
  - exists a, b. auto 8 using t_step.
  - exists a, d. split; [auto|split; [auto|split; [auto|split; [auto|]]]]. rewrite Qb in Qc. apply image_inj in Qc.
    subst c.
    eapply t_trans; eauto.
Qed.
Lemma lifts_some (R R' : Deployed.event -> Deployed.event -> Prop) x y :
  (forall a b, is_event a = true -> is_event b = true -> R a b -> R' a b) -> lifts R x y -> lifts R' x y.
Proof. intros H (a & b & Ea & Eb & Qa & Qb & K). exists a, b. auto 7. Qed.
Lemma on_lifts (R : relation ev) x y : on T' R x y -> lifts (fun a b => R (image a) (image b)) x y.
Proof.
  intros (Ex & Ey & H). apply (E_image hw T Covered Possible) in Ex, Ey. destruct Ex as (a & Ea & ->),
  Ey as (b & Eb & ->).
  exists a, b. auto.
Qed.
Lemma in_turn_lifts x y : raoE T' x y -> lifts (fun a b => Deployed.in_turn hw T a b = true) x y.
Proof.
  intros [(H & a & b & Ea & Eb & -> & -> & R)|(K & Ex & H & R)].
  - exists a, b. unfold Deployed.in_turn. rewrite H, R. auto.
  - apply (E_image hw T Covered Possible) in Ex. destruct Ex as (a & Ea & ->). destruct R as (r & b & Er & Eb & Q & ->
    & R).
    exists a, b. split; [auto|split; [auto|split; [auto|split; [auto|]]]]. unfold Deployed.in_turn. rewrite H. simpl.
    apply orb_true_iff. right. rewrite (image_kind hw T Covered Possible a Ea) in K.
    assert (Deployed.is run Deployed.KnaW a = true) as ->.
    { unfold Deployed.is. destruct (kin a); try discriminate K; auto. simpl in K. destruct hca; discriminate K. }
    simpl. destruct (image_source hw T Covered Possible a Ea) as (Sr & _).
    destruct (Deployed.source run a) as [r'|]; rewrite Sr in Q; apply image_inj in Q; subst; auto.
    exfalso. destruct (fine_parts hw T Fine) as (_ & _ & _ & _ & _ & F). apply (orders_say T) in F as (F & _).
    pose proof (F _ _ Er Eb R) as Pr. apply (image_rao_pair hw T Covered Possible r b Er Eb H) in Pr as (Pr & _).
    rewrite (image_kind hw T Covered Possible r Er) in Pr. congruence.
Qed.
Lemma flushed_lifts x y : flushed ord T' x y -> lifts (fun a b => Deployed.flushed hw T a b = true) x y.
Proof.
  intros (F & a & b & Ea & Eb & -> & -> & R). exists a, b. unfold Deployed.flushed. rewrite <- same_flush, F, R. auto.
Qed.
Lemma image_rb x y : rb T' x y -> lifts (fun a b => Deployed.rb T a b = true) x y.
Proof.
  intros (N & u & (c & a & Ec & Ea & Qc & -> & R) & M). rewrite Qc in M. destruct M as (c' & b & _ & Eb & Q & -> & M).
  apply image_inj in Q. subst c'. exists a, b. split; [auto|split; [auto|split; [auto|split; [auto|]]]].
  unfold Deployed.rb. apply andb_true_iff. split.
  - apply negb_true_iff. destruct (Deployed.same a b) eqn:Q; auto. apply DeployedDecides.same_spec in Q. subst.
    now destruct N.
  - apply DeployedDecides.some_spec. exists c. now rewrite R, M.
Qed.

Lemma ib_lifts x y : ib1 ord T' x y -> lifts (fun a b => Deployed.ib1 hw T a b = true) x y.
Proof.
  intros H. apply (lifts_some (fun a b => Deployed.ib_edge hw T a b = true)); [intros a b; apply edge|].
  unfold Deployed.ib_edge.
  destruct H as [H|H|H|H|H].
  - apply on_lifts in H. revert H. apply lifts_some. intros a b Ea Eb H.
    now rewrite (image_ippo hw T Cpus Covered Possible a b Ea Eb H).
  - apply on_lifts in H. revert H. apply lifts_some. intros a b Ea Eb H.
    rewrite (image_pf hw T Covered Possible a b Ea Eb H).
    now rewrite !orb_true_r.
  - revert H. apply lifts_some. intros a b _ _ ->. now rewrite !orb_true_r.
  - apply flushed_lifts in H. revert H. apply lifts_some. intros a b _ _ ->. now rewrite !orb_true_r.
  - apply in_turn_lifts in H. revert H. apply lifts_some. intros a b _ _ ->. now rewrite !orb_true_r.
Qed.
Lemma ob_lifts x y : ob1 ord T' x y -> lifts (Deployed.ob1 hw T) x y.
Proof.
  intros H.
  assert (lifts (fun a b => Deployed.ob_edge hw T a b = true) x y ->
          lifts (Deployed.ob1 hw T) x y) as E1.
  { apply lifts_some. intros a b Ea Eb K. left. now apply edge. }
  unfold Deployed.ob_edge in E1. destruct H as [H|H K|H|H|H|H|H|I H]; [apply E1..|].
  - apply on_lifts in H. revert H. apply lifts_some. intros a b Ea Eb H.
    now rewrite (image_oppo hw T Cpus Covered Possible a b Ea Eb H).
  - apply on_lifts in H. destruct H as (a & b & Ea & Eb & -> & -> & H). exists a, b. repeat split; auto.
    rewrite (image_pf hw T Covered Possible a b Ea Eb H). rewrite (image_kind hw T Covered Possible a Ea) in K.
    assert (Deployed.is run Deployed.KnlW a = true) as ->.
    { unfold Deployed.is. destruct (kin a); try discriminate K; auto. simpl in K. destruct hca; discriminate K. }
    now rewrite !orb_true_r.
  - revert H. apply lifts_some. intros a b _ _ ->. unfold Deployed.own, Deployed.buffered. rewrite Cpus. simpl.
    now rewrite !orb_true_r.
  - apply flushed_lifts in H. revert H. apply lifts_some. intros a b _ _ ->. now rewrite !orb_true_r.
  - apply in_turn_lifts in H. revert H. apply lifts_some. intros a b _ _ ->. now rewrite !orb_true_r.
  - apply image_rb in H. revert H. apply lifts_some. intros a b _ _ ->. now rewrite !orb_true_r.
  - revert H. apply lifts_some. intros a b _ _ ->. now rewrite !orb_true_r.
  - assert (clos_trans ev (lifts (fun a b => Deployed.ib1 hw T a b = true)) x y) as H'.
    { clear -H Cpus Covered Possible Fine. induction H; [apply t_step; now apply ib_lifts|eapply t_trans; eauto]. }
    apply lifts_trans in H'. destruct H' as (a & b & Ea & Eb & -> & -> & H'). exists a, b. repeat split; auto.
    right. split; [|exact H']. unfold inst in I. rewrite (image_kind hw T Covered Possible a Ea) in I.
    destruct (kin a); simpl in *; auto; try (destruct I; exact Logic.I). unfold Deployed.buffered. now rewrite Cpus.
Qed.
Theorem slots_consistent : Deployed.rdma_consistent hw T -> rdma_consistent ord T'.
Proof.
  intros (_ & C) x H.
  assert (forall y z, clos_trans ev (ob1 ord T') y z -> clos_trans ev (lifts (Deployed.ob1 hw T)) y z) as Up.
  { intros y z K. induction K; [apply t_step; now apply ob_lifts|eapply t_trans; eauto]. }
  apply Up in H as H'.
  apply lifts_trans in H'. destruct H' as (a & b & _ & _ & -> & Q & H'). apply image_inj in Q. subst b. exact (C a H').
Qed.

(* vertices *)
Lemma sc_step_image a : is_event a = true -> rep (image a) = image (Deployed.sc_step run a) /\
  is_event (Deployed.sc_step run a) = true.
Proof.
  intros Ea. unfold rep. rewrite (image_kind hw T Covered Possible a Ea). pose proof (section_alone a Ea) as Sa.
  destruct a as [x|t n]; [auto|]. pose proof Ea as L. apply event_at in L.
  assert ((exists q x, lab t n = Deployed.Lnaw q x) \/ kind_for hw (kin (Deployed.At t n)) <> NAW /\
          Deployed.sc_step run (Deployed.At t n) = Deployed.At t n) as [(q & x & K)|(N & Q)].
  { pose proof (Covered t n L) as C. unfold Deployed.kin, Deployed.sc_step.
    destruct (lab t n) as [[]|?|q x o|q x|q x o|? ? ?|? ? ? ? ?|? ? ? ?|? ?|? ?]; try discriminate C; eauto;
    right; (split; [try discriminate; simpl; destruct hca; discriminate|]); destruct n; auto. }
  - pose proof (possible_cases hw T Possible t n L) as (F & _).
    destruct n as [|n]; [rewrite K in F; discriminate F|].
    destruct (image_source hw T Covered Possible _ Ea) as (Sr & So).
    assert (Deployed.source run (Deployed.At t (Datatypes.S n)) = Some (Deployed.At t n)) as Q
    by (unfold Deployed.source; now rewrite K).
    rewrite Q in Sr. unfold Deployed.kin. simpl Deployed.sc_step. rewrite K. split; [exact Sr|]. now apply So.
  - rewrite Q. split; [|exact Ea]. destruct (kind_for hw (kin (Deployed.At t n))); auto. congruence.
Qed.
Lemma sc_edge_plain a b : is_event a = true -> is_event b = true -> Deployed.sc_edge T a b = true ->
  po (image a) (image b) \/ rf T' (image a) (image b) \/ rb T' (image a) (image b) \/ mo T' (image a) (image b).
Proof.
  intros Ea Eb H. unfold Deployed.sc_edge in H.
  assert (Deployed.sm run a b = false /\ Deployed.rpf run a b = false) as (N1 & N2).
  { destruct a as [x|t n], b as [y|u m]; auto. apply event_at, Covered in Ea. apply event_at, Covered in Eb.
    unfold Deployed.sm, Deployed.rpf. split.
    - destruct (lab t n) as [| | | | | | | | |]; try discriminate Ea; reflexivity.
    - destruct (lab t n) as [| | | | | | | | |]; try discriminate Ea; reflexivity. }
  rewrite N1, N2, !orb_false_r in H. apply orb_prop in H as [H|H]; [apply orb_prop in H as [H|H];
  [apply orb_prop in H as [H|H]|]|].
  - left. now apply (image_po hw T Covered Possible).
  - right; left. now apply related_image.
  - right; right; left. unfold Deployed.rb in H. apply andb_prop in H as (N & H). apply DeployedDecides.some_spec in H.
    destruct H as (w & Ew & H). apply andb_prop in H as (R & M). split.
    + intros Q. apply image_inj in Q. subst b. rewrite DeployedDecides.same_refl in N. discriminate.
    + exists (image w). split; now apply related_image.
  - right; right; right. now apply related_image.
Qed.
Lemma sc_down a b : Deployed.sc1 T a b = true -> is_event a = true /\ is_event b = true /\
  scv T' (rep (image a)) (rep (image b)).
Proof.
  intros H. unfold Deployed.sc1, Deployed.at_once in H. apply andb_prop in H as (H & K).
  apply andb_prop in H as (Ea & Eb).
  apply DeployedDecides.some_spec in K. destruct K as (a' & Ea' & K). apply andb_prop in K as (Qa & K).
  apply DeployedDecides.some_spec in K. destruct K as (b' & Eb' & K). apply andb_prop in K as (K & N).
  apply andb_prop in K as (Qb & K).
  apply DeployedDecides.same_spec in Qa, Qb. apply negb_true_iff in N. split; [auto|split; [auto|]].
  rewrite (proj1 (sc_step_image a Ea)), (proj1 (sc_step_image b Eb)), <- Qa, <- Qb.
  exists (image a'), (image b'). rewrite (proj1 (sc_step_image a' Ea')), (proj1 (sc_step_image b' Eb')).
  split; [auto|split; [auto|]]. split.
  - assert (E T' (image a') /\ E T' (image b')) as (Xa & Xb) by (split; apply (E_image hw T Covered Possible); eauto).
    destruct (sc_edge_plain a' b' Ea' Eb' K) as [H|[H|[H|H]]]; [apply sc_po|apply sc_rf|apply sc_rb|apply sc_mo]; auto.
    split; [auto|split; auto].
  - intros (Kb & Sb). assert (rep (image b') = image a') as R by (unfold rep; now rewrite Kb).
    rewrite (proj1 (sc_step_image b' Eb')) in R. apply image_inj in R.
    assert (fed (image b')) as Fb by now apply naw_fed.
    destruct (src_ok _ Fb) as (P & _ & Ks). rewrite Kb, Sb in Ks. destruct Ks as (Ks & _). rewrite Sb in P.
    assert (rep (image a') = image a') as R2 by (unfold rep; now rewrite Ks).
    rewrite (proj1 (sc_step_image a' Ea')) in R2. apply image_inj in R2.
    rewrite R, R2, DeployedDecides.same_refl in N. simpl in N. apply (image_po hw T Covered Possible) in P; auto.
    congruence.
Qed.
Theorem slots_not_sequential : ~ Deployed.sc_consistent T -> ~ sc_consistent T'.
Proof.
  intros N C. apply N. intros a H.
  assert (forall x y, Deployed.sc T x y -> sc T' (rep (image x)) (rep (image y))) as Down.
  { intros x y K. induction K as [x y K|x y z _ IH _ IH']; [|eapply t_trans; eauto]. apply t_step. now apply sc_down. }
  exact (C _ (Down a a H)).
Qed.
End Bridge.

(* A trace of this model: no locked sections, no messages. *)
Definition covered_run R := forall t n, n < length (Deployed.sequence R t) ->
  covered_label (Deployed.lab R (Deployed.At t n)) = true.

(* for every program of slots whose threads can make these *)
Theorem slots_violating hw P T threads (prog : nat -> list label ->
  Prop) prog_prefix : Deployed.cpus hw = Deployed.Sequential ->
  covered_run (Deployed.run_of T) -> DeployedTraces.violating hw P T -> DeployedTraces.threads P <= threads ->
  (forall t, prog t (all_slots hw T t)) ->
  violating (order_for hw)
    (the_program threads (length (Deployed.held (Deployed.run_of T))) (first_value T) prog prog_prefix) (slot_trace hw T).
Proof.
  intros C Cv ((By & F & V) & Co & N) L M.
  assert (length (Deployed.does (Deployed.run_of T)) <= threads) as L' by (destruct By as (_ & _ & By & _); lia).
  pose proof (fine_possible hw T F) as Po.
  split; [split; [|split; [|split]]|split].
  - exact (slots_run hw T Cv Po threads prog L' M).
  - exact (slots_well_formed hw T Cv Po F threads prog L' M).
  - exact (slots_valid hw T Cv Po threads L' V).
  - exact (slots_real hw T Cv Po F threads prog L' M V).
  - exact (slots_consistent hw T C Cv Po F Co).
  - exact (slots_not_sequential hw T Cv Po N).
Qed.

(* the program of slots of a program: what its threads can make, with the naW of every RMW *)
Definition makes_slots hw P t h := exists T, DeployedTraces.trace_of hw P T /\ covered_run (Deployed.run_of T) /\
  suf h (all_slots hw T t).
Lemma makes_prefix hw P t l h : makes_slots hw P t (l :: h) -> makes_slots hw P t h.
Proof. intros (T & Tr & C & S). exists T. split; [auto|split; [auto|]]. eapply suf_cons; exact S. Qed.
Definition program_of_slots hw P := the_program (DeployedTraces.threads P) (length (DeployedTraces.its_held P))
  (fun x => nth x (DeployedTraces.its_held P) 0%Z) (makes_slots hw P) (makes_prefix hw P).
Corollary judged_not_robust hw P T : Deployed.cpus hw = Deployed.Sequential -> covered_run (Deployed.run_of T) ->
  DeployedTraces.violating hw P T -> ~ robust (order_for hw) (program_of_slots hw P).
Proof.
  intros C Cv V R. pose proof V as ((By & F) & _). pose proof By as (Q & _).
  pose proof (slots_violating hw P T (DeployedTraces.threads P) (makes_slots hw P) (makes_prefix hw P) C Cv V (le_n _)) as X.
  apply (R (slot_trace hw T)). unfold program_of_slots. rewrite <- Q. apply X. intros t. exists T.
  split; [split; [exact By|exact F]|split; [exact Cv|apply suf_refl]].
Qed.
