(* Deployed.v without store buffers, messages and locked sections,
and the model of the normal form with remote atomics: their
   tables, and events, program order and polls in both. *)
Require Import List Arith ZArith Bool Lia Classical Relations.
Import ListNotations.
From RR Require Import Sequences RemoteAtomicsModel RemoteAtomicsRules RemoteAtomicsValues RemoteAtomicsTraces
  RemoteAtomicsPrograms DeployedSlots.
From RR Require Programs Deployed DeployedTraces DeployedDecides.
Local Arguments Deployed.lab : simpl never.

(* hardware *)
Definition network_of hw := match Deployed.routes hw with
  | Deployed.Usual => Default | Deployed.Multipath => Multipath | Deployed.Relaxed => Relaxed end.
Definition order_for hw := order_of {| ordered := Deployed.reads_ordered hw; net := network_of hw |}.
Definition cell_of c := match c with
  | Deployed.All => All | Deployed.Qp => Qp | Deployed.Issue => Issue | Deployed.Never => Never end.
Definition kind_for hw k := match k with
  | Deployed.KInit => Init | Deployed.KlR => LR | Deployed.KlW => LW | Deployed.KCAS => CAS | Deployed.KP => Poll
  | Deployed.KF => Fence | Deployed.KnlR => NLR | Deployed.KnrW => NRW | Deployed.KnrR => NRR | Deployed.KnlW => NLW
  | Deployed.KnF => NF | Deployed.KnaR => if Deployed.ranked hw then NAR else NA | Deployed.KnaW => NAW | Deployed.KnA => NA
  | Deployed.KV | Deployed.KRP => Fence end.
Definition of_messages k := match k with Deployed.KV | Deployed.KRP => true | _ => false end.
Lemma same_cells hw a b : Deployed.cpus hw = Deployed.Sequential -> of_messages a = false -> of_messages b = false ->
  table (order_for hw) (kind_for hw a) (kind_for hw b) = cell_of (Deployed.issued hw a b) /\
  Deployed.observed hw a b = match Deployed.issued hw a b with Deployed.Issue => Deployed.Never | c => c end.
Proof.
  destruct hw as [cpus cards net ro]. simpl. intros ->.
  destruct a; try discriminate; destruct b; try discriminate; destruct cards, net, ro; split; reflexivity.
Qed.
Lemma same_flush hw : flush (order_for hw) = negb (Deployed.weaker hw).
Proof. destruct hw as [? ? [] ?]; reflexivity. Qed.

(* what well-formedness says *)
Lemma fine_parts hw T : DeployedTraces.well_formed hw T = true ->
  (forall e, Deployed.is_event (Deployed.run_of T) e = true -> DeployedTraces.possible hw T e = true) /\
  DeployedTraces.rf_fine T = true /\
  DeployedTraces.orders T (Deployed.mo_pair (Deployed.run_of T)) (Deployed.mo T) = true /\
  DeployedTraces.initial_first T = true /\ DeployedTraces.nfo_fine T = true /\
  DeployedTraces.orders T (Deployed.rao_pair (Deployed.run_of T)) (Deployed.rao T) = true.
Proof.
  unfold DeployedTraces.well_formed. intros Fine. repeat (apply andb_prop in Fine as (Fine & ?)). repeat split; auto.
  now apply DeployedDecides.every_spec.
Qed.
Lemma fine_possible hw T : DeployedTraces.well_formed hw T = true -> forall t n,
  n < length (Deployed.sequence (Deployed.run_of T) t) -> DeployedTraces.possible hw T (Deployed.At t n) = true.
Proof. intros Fine t n L. apply fine_parts; [exact Fine|]. now apply event_at. Qed.

Section Bridge.
Variables (hw : Deployed.platform) (T : Deployed.trace).
Notation run := (Deployed.run_of T).
Notation hca := (Deployed.ranked hw).
Notation lab t n := (Deployed.lab run (Deployed.At t n)).
Notation many t := (length (Deployed.sequence run t)).
Notation is_event := (Deployed.is_event run).
Notation kin := (Deployed.kin run).
Notation nv := (length (Deployed.held run)).
Definition image (a : Deployed.event) : ev := DeployedSlots.image hw T a.
Notation slots := (slots_to hw T).
Notation ord := (order_for hw).
Hypothesis Cpus : Deployed.cpus hw = Deployed.Sequential.
Hypothesis Covered : forall t n, n < many t -> covered_label (lab t n) = true.
Hypothesis Possible : forall t n, n < many t -> DeployedTraces.possible hw T (Deployed.At t n) = true.

Lemma slots_fine t n : n <= many t -> ok nv (slots t n).
Proof. apply slots_ok; [exact Covered|exact Possible]. Qed.
Lemma good t n : n < many t -> grammar (slot_of hw (lab t n) :: slots t n) = true.
Proof.
  intros L. eapply grammar_suf; [apply slots_step|]. eapply ok_grammar. apply slots_fine. lia.
Qed.

(* events and their slots *)
Definition covered_kind k := of_messages k = false.
Lemma kin_covered a : is_event a = true -> covered_kind (kin a).
Proof.
  destruct a as [x|t n]; [reflexivity|]. intros L. apply event_at, Covered in L. unfold covered_kind, Deployed.kin.
  destruct (lab t n) as [[]| | | | | | | | |]; try discriminate L; reflexivity.
Qed.
Lemma image_kind a : is_event a = true -> knd (image a) = kind_for hw (kin a).
Proof.
  destruct a as [x|t n]; [reflexivity|]. intros L. apply event_at in L. change (knd (image (Deployed.At t n))) with
    (eknd (Ev t (slot_of hw (lab t n)) (slots t n))). rewrite (proj1 (good_kind t _ _ (good t n L))). apply Covered in L.
  unfold Deployed.kin. destruct (lab t n) as [[]| | | | | | | | |]; try discriminate L; try reflexivity. simpl.
  now destruct hca.
Qed.
Lemma filler_none t n : (forall q x o, lab t n <> Deployed.Lnar q x o) -> filler hw T t n = [].
Proof. unfold filler. destruct (lab t n); auto. intros N. destruct (N q x o eq_refl). Qed.
Lemma slots_next t n : slots t (Datatypes.S n) = filler hw T t n ++ slot_of hw (lab t n) :: slots t n.
Proof. reflexivity. Qed.
Lemma before_event t n : Datatypes.S n < many t -> is_event (Deployed.At t n) = true /\
  Deployed.po (Deployed.At t n) (Deployed.At t (Datatypes.S n)) = true.
Proof. intros L. split; [apply event_at; lia|]. simpl. rewrite Nat.eqb_refl. apply Nat.ltb_lt. lia. Qed.
Lemma image_source a : is_event a = true ->
  src (image a) = match Deployed.source run a with Some r => image r | None => image a end /\
  (forall r, Deployed.source run a = Some r -> is_event r = true /\ Deployed.po r a = true).
Proof.
  destruct a as [x|t n]; [intros _; split; [reflexivity|intros r; discriminate]|]. intros L. apply event_at in L.
  change (src (image (Deployed.At t n))) with (esrc (Ev t (slot_of hw (lab t n)) (slots t n))).
  rewrite (proj2 (good_kind t _ _ (good t n L))).
  pose proof (possible_cases hw T Possible t n L) as (F & _ & _ & Gn & _). pose proof (Covered t n L) as C.
  destruct (lab t n) as [[]|?|q x o|q x|q x o|? ? ?|? ? ? ? ?|? ? ? ?|? ?|? ?] eqn:K; try discriminate C;
    try (assert (Deployed.source run (Deployed.At t n) = None) as -> by (unfold Deployed.source; rewrite K;
    now destruct n);
         split; [unfold image; simpl; rewrite K; simpl; destruct hca; reflexivity|intros r; discriminate]).
  - destruct n as [|n]; [discriminate F|]. rewrite slots_next. destruct (lab t n)
    as [[]|?|? ? ?|? ?|? ? ?|? ? ?|? ? ? ? ?|? ? ? ?|? ?|? ?]
      eqn:K'; try discriminate F. rewrite filler_none by (intros; congruence).
    assert (Deployed.source run (Deployed.At t (Datatypes.S n)) = Some (Deployed.At t n)) as -> by
      (unfold Deployed.source; now rewrite K).
    split; [unfold image; simpl; now rewrite K'|]. intros r Q. injection Q as <-. now apply before_event.
  - destruct n as [|n]; [discriminate F|]. rewrite slots_next.
    destruct (lab t n) as [[]|?|q2 x2 o2|q2 x2|? ? ?|? ? ?|? ? ? ? ?|? ? ? ?|? ?|? ?] eqn:K'; try discriminate F.
    + rewrite filler_none by (intros; congruence).
      assert (Deployed.source run (Deployed.At t (Datatypes.S n)) = Some (Deployed.At t n)) as -> by
        (unfold Deployed.source; now rewrite K, K').
      split; [unfold image; simpl; now rewrite K'|]. intros r Q. injection Q as <-. now apply before_event.
    + assert (Deployed.source run (Deployed.At t (Datatypes.S n)) = Some (Deployed.At t n)) as -> by
        (unfold Deployed.source; now rewrite K, K').
      split; [|intros r Q; injection Q as <-; now apply before_event].
      destruct hca eqn:H.
      * destruct (goes_on hw T Possible t n q2 x2 o2 L K' H) as [(_ & Q)|(Fi & _)]; [congruence|].
        rewrite Fi. unfold image. simpl. rewrite K'. simpl. now rewrite H.
      * unfold filler, void. rewrite K', H. unfold image. simpl. rewrite K'. simpl. now rewrite H.
    + rewrite filler_none by (intros; congruence).
      assert (n < many t) as L' by lia. pose proof (possible_cases hw T Possible t n L') as (F' & _).
      destruct n as [|n]; [rewrite K' in F'; discriminate F'|]. rewrite K' in F'. rewrite slots_next.
      destruct (lab t n) as [[]|?|q3 x3 o3|? ?|? ? ?|? ? ?|? ? ? ? ?|? ? ? ?|? ?|? ?] eqn:K2; try discriminate F'.
      assert (Deployed.source run (Deployed.At t (Datatypes.S (Datatypes.S n))) = Some (Deployed.At t n)) as -> by
        (unfold Deployed.source; now rewrite K, K').
      split.
      * destruct (possible_cases hw T Possible t (Datatypes.S n) L') as (_ & _ & _ & Gn' & _).
        destruct hca eqn:H; [|destruct (Gn' q2 x2 eq_refl K')].
        destruct (goes_on hw T Possible t n q3 x3 o3 L' K2 H) as [(Fi & _)|(_ & s2 & y & Q)]; [|congruence].
        rewrite Fi. unfold image. simpl. rewrite K2. simpl. now rewrite H.
      * intros r Q. injection Q as <-. split; [apply event_at; lia|]. simpl. rewrite Nat.eqb_refl. apply Nat.ltb_lt. lia.
    + rewrite filler_none by (intros; congruence).
      assert (Deployed.source run (Deployed.At t (Datatypes.S n)) = Some (Deployed.At t n)) as -> by
        (unfold Deployed.source; now rewrite K, K').
      split; [unfold image; simpl; now rewrite K'|]. intros r Q. injection Q as <-. now apply before_event.
  - destruct n as [|n]; [discriminate F|]. rewrite slots_next.
    destruct (lab t n) as [[]|?|q2 x2 o2|? ?|? ? ?|? ? ?|? ? ? ? ?|? ? ? ?|? ?|? ?] eqn:K'; try discriminate F.
    assert (Deployed.source run (Deployed.At t (Datatypes.S n)) = Some (Deployed.At t n)) as -> by
      (unfold Deployed.source; now rewrite K).
    split; [|intros r Q; injection Q as <-; now apply before_event].
    destruct hca eqn:H; [|destruct (Gn q x eq_refl eq_refl)].
    destruct (goes_on hw T Possible t n q2 x2 o2 L K' H) as [(Fi & _)|(_ & s2 & y & Q)]; [|congruence].
    rewrite Fi. unfold image. simpl. rewrite K'. simpl. now rewrite H.
Qed.

(* program order, queue pairs, cells *)
Lemma image_po a b : is_event b = true -> (po (image a) (image b) <-> Deployed.po a b = true).
Proof.
  destruct a as [x|t n], b as [y|u m]; try (simpl; split; [tauto|discriminate]). intros L. apply event_at in L.
  change (po (image (Deployed.At t n)) (image (Deployed.At u m))) with (t = u /\
    suf (slot_of hw (lab t n) :: slots t n) (slots u m) /\ grammar (slot_of hw (lab u m) :: slots u m) = true).
  unfold Deployed.po. rewrite (andb_true_iff (t =? u)), Nat.eqb_eq, Nat.ltb_lt. split.
  - intros (-> & H & _). split; [auto|]. eapply slots_lt_inv; eauto.
  - intros (-> & H). split; [auto|]. split; [now apply slots_lt|now apply good].
Qed.
Lemma image_queue t n u m : n < many t -> m < many u -> (qp (image (Deployed.At t n)) = qp (image (Deployed.At u m)) <->
  t = u /\ Deployed.queue (lab t n) = Deployed.queue (lab u m)).
Proof.
  intros L L'. assert (forall t n, n < many t -> lq (slot_of hw (lab t n)) = Deployed.queue (lab t n)) as Q.
  { intros v k Lk. apply Covered in Lk. destruct (lab v k) as [p| | | | | | | | |]; try discriminate Lk; try reflexivity.
    simpl. now destruct hca. }
  change ((t, lq (slot_of hw (lab t n))) = (u, lq (slot_of hw (lab u m))) <->
    t = u /\ Deployed.queue (lab t n) = Deployed.queue (lab u m)). rewrite !Q by auto.
  split; [intros H; inversion H; auto|intros (-> & ->); auto].
Qed.
Lemma po_places a b : Deployed.po a b = true -> exists t n m, a = Deployed.At t n /\ b = Deployed.At t m /\ n < m.
Proof.
  destruct a as [x|t n], b as [y|u m]; try discriminate. unfold Deployed.po. rewrite andb_true_iff, Nat.eqb_eq,
  Nat.ltb_lt.
  intros (-> & L). exists u, n, m. auto.
Qed.
Lemma image_operation a b : is_event a = true -> is_event b = true -> po (image a) (image b) -> src (image b) = image a ->
  Deployed.of_one_operation run a b = true.
Proof.
  intros Ea Eb P Q. unfold Deployed.of_one_operation. destruct (image_source b Eb) as (S1 & _).
  destruct (Deployed.source run b) as [r|].
  - rewrite Q in S1. apply image_inj in S1. subst r. apply DeployedDecides.same_refl.
  - rewrite S1 in Q. rewrite Q in P. destruct (po_irr _ P).
Qed.
Lemma kept_queue c a b : is_event a = true -> is_event b = true -> Deployed.po a b = true ->
  match cell_of c with All => True | Qp | Issue => qp (image a) = qp (image b) | Never => False end ->
  Deployed.kept run c a b = true.
Proof.
  intros Ea Eb P. destruct (po_places a b P) as (t & n & m & -> & -> & L). apply event_at in Ea, Eb.
  destruct c; simpl; try tauto; rewrite (image_queue t n t m Ea Eb); rewrite Nat.eqb_eq; tauto.
Qed.
Lemma image_ippo a b : is_event a = true -> is_event b = true -> ippo ord (image a) (image b) ->
  Deployed.ippo hw run a b = true.
Proof.
  intros Ea Eb (P & H). unfold Deployed.ippo. pose proof P as P'. apply (image_po a b Eb) in P'. rewrite P'. simpl.
  apply orb_true_iff. destruct H as [H|H]; [left; now apply image_operation|right].
  rewrite !image_kind in H by auto.
  destruct (same_cells hw (kin a) (kin b) Cpus (kin_covered a Ea) (kin_covered b Eb)) as (C & _). rewrite C in H.
  now apply kept_queue.
Qed.
Lemma image_oppo a b : is_event a = true -> is_event b = true -> oppo ord (image a) (image b) ->
  Deployed.oppo hw run a b = true.
Proof.
  intros Ea Eb (P & H). unfold Deployed.oppo. pose proof P as P'. apply (image_po a b Eb) in P'. rewrite P'. simpl.
  apply orb_true_iff. destruct H as [H|H]; [left; now apply image_operation|right].
  rewrite !image_kind in H by auto.
  destruct (same_cells hw (kin a) (kin b) Cpus (kin_covered a Ea) (kin_covered b Eb)) as (C & C'). rewrite C in H.
  rewrite C'.
  apply kept_queue; auto. destruct (Deployed.issued hw (kin a) (kin b)); simpl in *; tauto.
Qed.
Lemma image_pf a b : is_event a = true -> is_event b = true -> pf (image a) (image b) -> Deployed.pf run a b = true.
Proof.
  intros Ea Eb H. unfold Deployed.pf. pose proof (proj1 (pf_ok _ _ H)) as P. apply (image_po a b Eb) in P. rewrite P.
  simpl.
  destruct (po_places a b P) as (t & n & m & -> & -> & L). apply event_at in Ea, Eb.
  change (epf (Ev t (slot_of hw (lab t n)) (slots t n)) (Ev t (slot_of hw (lab t m)) (slots t m))) in H. simpl in H.
  pose proof (Covered t n Ea) as Ca. pose proof (Covered t m Eb) as Cb.
  destruct (lab t m) as [[]|?|? ? ?|? ?|? ? ?|? ? ?|? ? ? ? ?|? ? ? ?|? ?|? ?]; simpl in H; try discriminate Cb;
    try (destruct hca; tauto); try tauto.
  destruct H as (_ & W & C). unfold takes in C.
  assert (forall l, covered_label l = true -> completes q (slot_of hw l) = Deployed.completes q l /\
                    signals q (slot_of hw l) = Deployed.signals q l) as Same.
  { intros [p| | | | | | | | |] X; try discriminate X; simpl; auto; destruct hca; auto. }
  destruct (Same _ Ca) as (S1 & S2). rewrite S1 in W. rewrite S2 in C. rewrite W. simpl.
  rewrite (count_polls hw T Covered), (count_signals hw T Covered) in C by lia.
  destruct (Deployed.signals q (lab t n)); [now apply Nat.eqb_eq|now apply Nat.leb_le].
Qed.
End Bridge.
