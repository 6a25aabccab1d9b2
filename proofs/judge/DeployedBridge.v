(* Deployed.v without store buffers, messages and locked sections: the trace of slots of a trace. *)
Require Import List Arith ZArith Bool Lia Classical Relations.
Import ListNotations.
From RR Require Import Sequences RemoteAtomicsModel RemoteAtomicsRules RemoteAtomicsValues RemoteAtomicsTraces
  RemoteAtomicsPrograms DeployedSlots DeployedAtomics.
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
Notation slots := (slots_to hw T).
Notation ord := (order_for hw).

Definition first_value x := nth x (Deployed.held run) 0%Z.
Definition acts k := match k with Deployed.KnaW | Deployed.KnA => true | _ => false end.
Definition related (r : Deployed.event -> Deployed.event -> bool) : relation ev := fun x y =>
  exists a b, is_event a = true /\ is_event b = true /\ x = image a /\ y = image b /\ r a b = true.
Definition slot_trace : trace := {|
  S := inrun nv first_value (all_slots hw T);
  live := fun x => exists a, is_event a = true /\ x = image a /\ acts (kin a) = true;
  rf := related (Deployed.rf T);
  mo := related (Deployed.mo T);
  nfo := related (Deployed.nfo T);
  rao := fun x y => hca = true /\ related (Deployed.rao T) x y |}.
Notation T' := slot_trace.

Hypothesis Cpus : Deployed.cpus hw = Deployed.Sequential.
Hypothesis Covered : forall t n, n < many t -> covered_label (lab t n) = true.
Hypothesis Possible : forall t n, n < many t -> DeployedTraces.possible hw T (Deployed.At t n) = true.

Lemma related_image r a b : is_event a = true -> is_event b = true -> (related r (image a) (image b) <-> r a b = true).
Proof.
  intros Ea Eb. split; [|intros H; exists a, b; auto].
  intros (a' & b' & _ & _ & Qa & Qb & H). apply image_inj in Qa, Qb. congruence.
Qed.
Lemma related_inv r x b : is_event b = true -> related r x (image b) -> exists a, is_event a = true /\ x = image a /\
  r a b = true.
Proof. intros Eb (a & b' & Ea & _ & Qa & Qb & H). apply image_inj in Qb. subst b'. eauto. Qed.

(* which slots happen *)
Definition filler_slot t n q x := Ev t (Lnaw q x) (slot_of hw (lab t n) :: slots t n).
Lemma S_image a : is_event a = true -> S T' (image a).
Proof.
  destruct a as [x|t n]; intros L; [|apply event_at in L; now apply slots_lt].
  split; [now apply Nat.ltb_lt in L|reflexivity].
Qed.
Lemma S_cases x : S T' x -> (exists a, is_event a = true /\ x = image a) \/
  exists t n q y o, n < many t /\ x = filler_slot t n q y /\ filler hw T t n = [Lnaw q y] /\
  lab t n = Deployed.Lnar q y o.
Proof.
  destruct x as [x v|t l h].
  - intros (L & ->). left. exists (Deployed.Initial x). split; [now apply Nat.ltb_lt|reflexivity].
  - intros H. destruct (slots_cases hw T t l h _ H) as (m & L & [(-> & ->)|(F & ->)]).
    + left. exists (Deployed.At t m). split; [now apply event_at|reflexivity].
    + right. destruct (filler_cases hw T t m l F) as (q & y & o & K & -> & _). exists t, m, q, y, o. auto.
Qed.
Lemma filler_not_image t n q x a : filler hw T t n = [Lnaw q x] -> filler_slot t n q x <> image a.
Proof.
  intros F. destruct a as [y|u m]; [discriminate|]. intros Q. injection Q as <- _ Q.
  destruct (le_lt_dec m n) as [L|L].
  - apply (slots_le hw T t), suf_len in L. rewrite <- Q in L. simpl in L. lia.
  - apply (slots_le hw T t), suf_len in L. rewrite <- Q in L.
    change (slots t (Datatypes.S n)) with (filler hw T t n ++ slot_of hw (lab t n) :: slots t n) in L. rewrite F in L.
    simpl in L. lia.
Qed.
Lemma live_image a : is_event a = true -> (live T' (image a) <-> acts (kin a) = true).
Proof.
  intros Ea. split; [|intros H; exists a; auto]. intros (b & _ & Q & H). apply image_inj in Q. now subst b.
Qed.
Lemma filler_kind t n q x : n < many t -> filler hw T t n = [Lnaw q x] ->
  knd (filler_slot t n q x) = NAW /\ src (filler_slot t n q x) = image (Deployed.At t n).
Proof.
  intros L F. assert (grammar (Lnaw q x :: slot_of hw (lab t n) :: slots t n) = true) as G.
  { assert (ok nv (slots t (Datatypes.S n))) as O by (apply slots_fine; auto).
    change (slots t (Datatypes.S n)) with (filler hw T t n ++ slot_of hw (lab t n) :: slots t n) in O. rewrite F in O.
    exact (ok_grammar _ _ O). }
  destruct (good_kind t _ _ G) as (A & B). split; [exact A|exact B].
Qed.
Lemma E_image x : E T' x <-> exists a, is_event a = true /\ x = image a.
Proof.
  split.
  - intros (Sx & Hx). destruct (S_cases x Sx) as [|(t & n & q & y & o & L & -> & F & K)]; [auto|exfalso].
    destruct (Hx (proj1 (filler_kind t n q y L F))) as (a & _ & Q & _). exact (filler_not_image t n q y a F Q).
  - intros (a & Ea & ->). split; [now apply S_image|]. intros K. apply live_image; auto.
    rewrite (image_kind hw T Covered Possible a Ea) in K. destruct (kin a); try discriminate K; auto. simpl in K.
    destruct hca; discriminate K.
Qed.

(* accesses *)
Lemma image_reads a : is_event a = true -> (rd (image a) <-> Deployed.reads run a = true).
Proof.
  intros Ea. unfold rd, Deployed.reads. rewrite (image_kind hw T Covered Possible a Ea).
  destruct (kin a); simpl; try destruct hca; simpl; split; auto; try discriminate; tauto.
Qed.
Lemma writing_accesses a : is_event a = true -> Deployed.writing (kin a) = true -> exists x,
  Deployed.accessed (Deployed.lab run a) = Some x.
Proof.
  destruct a as [x|t n]; [eexists; reflexivity|]. intros L W. apply event_at, Covered in L. unfold Deployed.kin in W.
  destruct (lab t n) as [[]| | | | | | | | |]; try discriminate L; try discriminate W; simpl; eauto.
Qed.
Lemma image_writes a : is_event a = true -> (wr (live T') (image a) <-> Deployed.writes run a = true).
Proof.
  intros Ea. unfold wr, cond, Deployed.writes. rewrite (live_image a Ea), (image_kind hw T Covered Possible a Ea).
  pose proof (writing_accesses a Ea) as W.
  destruct (kin a) eqn:K; simpl in *; try (destruct (W eq_refl) as (x & ->)); simpl; try destruct hca; simpl;
  split; auto; try discriminate; try tauto; intros (_ & H); try (specialize (H I); discriminate H).
Qed.
Lemma accessed_loc a : is_event a = true -> Deployed.reads run a = true \/ Deployed.writes run a = true ->
  Deployed.accessed (Deployed.lab run a) = Some (loc (image a)).
Proof.
  destruct a as [x|t n]; [reflexivity|]. intros L H. apply event_at, Covered in L.
  change (loc (image (Deployed.At t n))) with (lloc (slot_of hw (lab t n))).
  unfold Deployed.reads, Deployed.writes, Deployed.kin in H.
  destruct (lab t n) as [[]| | | | | | | | |]; try discriminate L; try reflexivity; simpl in H;
    try (destruct H; discriminate). simpl. now destruct hca.
Qed.
Lemma image_cell a b : is_event a = true -> is_event b = true ->
  Deployed.reads run a = true \/ Deployed.writes run a = true ->
  Deployed.reads run b = true \/ Deployed.writes run b = true ->
  (Deployed.same_cell run a b = true <-> loc (image a) = loc (image b)).
Proof.
  intros Ea Eb Aa Ab. unfold Deployed.same_cell. rewrite (accessed_loc a Ea Aa), (accessed_loc b Eb Ab). apply Nat.eqb_eq.
Qed.

(* what a well-formed order says *)
Lemma orders_say (pair r : Deployed.event -> Deployed.event -> bool) : DeployedTraces.orders T pair r = true ->
  (forall a b, is_event a = true -> is_event b = true -> r a b = true -> pair a b = true) /\
  (forall a, is_event a = true -> r a a = false) /\
  (forall a b c, is_event a = true -> is_event b = true -> is_event c = true -> r a b = true -> r b c = true ->
  r a c = true) /\
  (forall a b, is_event a = true -> is_event b = true -> pair a b = true -> a = b \/ r a b = true \/ r b a = true).
Proof.
  intros H. apply andb_prop in H as (H1 & H2).
  assert (forall a b, is_event a = true -> is_event b = true -> (r a b = true -> pair a b = true) /\
    (pair a b = true -> if Deployed.same a b then r a b = false else xorb (r a b) (r b a) = true)) as P.
  { intros a b Ea Eb. pose proof (proj1 (DeployedDecides.every_spec run _) H1 a Ea) as K.
    pose proof (proj1 (DeployedDecides.every_spec run _) K b Eb) as K2. simpl in K2.
    apply andb_prop in K2 as (K2 & K3). split.
    - intros Q. now rewrite Q in K2.
    - intros Q. rewrite Q in K3. simpl in K3. destruct (Deployed.same a b); [now apply negb_true_iff|exact K3]. }
  split; [|split; [|split]].
  - intros a b Ea Eb. now apply P.
  - intros a Ea. destruct (r a a) eqn:Q; auto. destruct (P a a Ea Ea) as (A & B). specialize (B (A Q)).
    rewrite DeployedDecides.same_refl in B. congruence.
  - intros a b c Ea Eb Ec Q Q'. pose proof (proj1 (DeployedDecides.every_spec run _) H2 a Ea) as K.
    pose proof (proj1 (DeployedDecides.every_spec run _) K b Eb) as K2. simpl in K2. rewrite Q in K2. simpl in K2.
    pose proof (proj1 (DeployedDecides.every_spec run _) K2 c Ec) as K3. simpl in K3. now rewrite Q' in K3.
  - intros a b Ea Eb Q. destruct (P a b Ea Eb) as (_ & B). specialize (B Q). destruct (Deployed.same a b) eqn:Sm.
    + left. now apply DeployedDecides.same_spec.
    + right. destruct (r a b), (r b a); auto; discriminate.
Qed.
End Bridge.
