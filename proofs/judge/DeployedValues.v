(* Deployed.v without store buffers, messages and locked sections: the trace of slots is well-formed and has real values. *)
Require Import List Arith ZArith Bool Lia Classical Relations.
Import ListNotations.
From RR Require Import Sequences RemoteAtomicsModel RemoteAtomicsRules RemoteAtomicsValues RemoteAtomicsTraces
  RemoteAtomicsPrograms DeployedSlots DeployedAtomics DeployedBridge.
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
Notation T' := (slot_trace hw T).
Hypothesis Cpus : Deployed.cpus hw = Deployed.Sequential.
Hypothesis Covered : forall t n, n < many t -> covered_label (lab t n) = true.
Hypothesis Possible : forall t n, n < many t -> DeployedTraces.possible hw T (Deployed.At t n) = true.
Hypothesis Fine : DeployedTraces.well_formed hw T = true.

(* a program of slots whose threads can make these *)
Variables (threads : nat) (prog : nat -> list label -> Prop).
Hypothesis Threads : length (Deployed.does run) <= threads.
Hypothesis Makes : forall t, prog t (all_slots hw T t).
Lemma slots_run : is_run threads nv (first_value T) prog (S T').
Proof.
  exists (all_slots hw T). split; [split|].
  - intros t. split; [apply Makes|]. now apply slots_fine.
  - intros t L. unfold all_slots. assert (many t = 0) as ->; [|reflexivity]. unfold Deployed.sequence.
    now rewrite nth_overflow by lia.
  - reflexivity.
Qed.
Lemma slots_wf : wfS (S T').
Proof. exact (run_wf _ _ _ _ _ slots_run). Qed.

(* what well-formedness says *)
Lemma rf_says w r : is_event w = true -> is_event r = true -> Deployed.rf T w r = true ->
  Deployed.writes run w = true /\ Deployed.reads run r = true /\ Deployed.same_cell run w r = true.
Proof.
  intros Ew Er H. destruct (fine_parts hw T Fine) as (_ & F & _). apply andb_prop in F as (_ & F).
  pose proof (proj1 (DeployedDecides.every_spec run _) F w Ew) as F'.
  pose proof (proj1 (DeployedDecides.every_spec run _) F' r Er) as F2. simpl in F2. rewrite H in F2. simpl in F2.
  apply andb_prop in F2 as (F2 & ?). apply andb_prop in F2. tauto.
Qed.
Lemma rf_one r : is_event r = true -> Deployed.reads run r = true ->
  exists w, is_event w = true /\ Deployed.rf T w r = true /\
  forall v, is_event v = true -> Deployed.rf T v r = true -> v = w.
Proof.
  intros Er R. destruct (fine_parts hw T Fine) as (_ & F & _). apply andb_prop in F as (F & _).
  pose proof (proj1 (DeployedDecides.every_spec run _) F r Er) as F'. simpl in F'. rewrite R in F'. simpl in F'.
  apply Nat.eqb_eq in F'. destruct (filter (fun w => Deployed.rf T w r) (Deployed.events run)) as [|w [|? ?]] eqn:Q;
  try discriminate.
  assert (forall v, is_event v = true /\ Deployed.rf T v r = true <-> v = w) as Hv.
  { intros v. rewrite DeployedDecides.is_event_in. rewrite <- (filter_In (fun w => Deployed.rf T w r)), Q. simpl.
    split; [intros [H|[]]; auto|auto]. }
  exists w. split; [now apply Hv|]. split; [now apply Hv|]. intros v Ev Rv. apply Hv; auto.
Qed.
Lemma image_mo_pair a b : is_event a = true -> is_event b = true -> (Deployed.mo_pair run a b = true <->
  wr (live T') (image a) /\ wr (live T') (image b) /\ loc (image a) = loc (image b)).
Proof.
  intros Ea Eb. unfold Deployed.mo_pair. rewrite !andb_true_iff. rewrite !(image_writes hw T Covered Possible) by auto.
  split.
  - intros ((Wa & Wb) & C). repeat split; auto. apply (image_cell hw T Covered); auto.
  - intros (Wa & Wb & C). repeat split; auto. apply (image_cell hw T Covered); auto.
Qed.
Lemma image_rao_pair a b : is_event a = true -> is_event b = true -> hca = true -> (Deployed.rao_pair run a b = true <->
  knd (image a) = NAR /\ knd (image b) = NAR /\ loc (image a) = loc (image b)).
Proof.
  intros Ea Eb H. rewrite !(image_kind hw T Covered Possible) by auto. unfold Deployed.rao_pair.
  assert (forall e, Deployed.is run Deployed.KnaR e = true <-> kind_for hw (kin e) = NAR) as Is.
  { intros e. unfold Deployed.is. destruct (kin e); simpl; rewrite ?H; split; auto; discriminate. }
  assert (forall e, Deployed.is run Deployed.KnaR e = true -> Deployed.reads run e = true) as Rd.
  { intros e. unfold Deployed.is, Deployed.reads. destruct (kin e); auto; discriminate. }
  rewrite !andb_true_iff, !Is. split.
  - intros ((Ka & Kb) & C). repeat split; auto. apply (image_cell hw T Covered); auto; left; now apply Rd, Is.
  - intros (Ka & Kb & C). repeat split; auto. apply (image_cell hw T Covered); auto; left; now apply Rd, Is.
Qed.
Lemma image_same_queue a b : is_event a = true -> is_event b = true -> kin a <> Deployed.KInit ->
  kin b <> Deployed.KInit ->
  (qp (image a) = qp (image b) <-> Deployed.same_queue run a b = true).
Proof.
  destruct a as [x|t n], b as [y|u m]; intros Ea Eb Na Nb; try (now destruct Na); try (now destruct Nb).
  apply event_at in Ea, Eb. rewrite (image_queue hw T Covered t n u m Ea Eb). unfold Deployed.same_queue.
  rewrite andb_true_iff, !Nat.eqb_eq. unfold Deployed.same_thread. rewrite Nat.eqb_eq. tauto.
Qed.
Lemma nfo_kinds_of e : is_event e = true ->
  (knd (image e) = NLR <-> Deployed.is run Deployed.KnlR e = true) /\
  (knd (image e) = NLW <-> Deployed.is run Deployed.KnlW e = true) /\
  (rread (knd (image e)) <-> Deployed.remote_read run e = true) /\
  (rwrite (knd (image e)) <-> Deployed.is run Deployed.KnrW e || Deployed.is run Deployed.KnaW e = true).
Proof.
  intros Ee. unfold rread, rwrite, Deployed.remote_read, Deployed.is. rewrite (image_kind hw T Covered Possible e Ee).
  destruct (kin e); simpl; try destruct hca; repeat split; auto; try discriminate; intros H;
  repeat destruct H as [H|H]; discriminate.
Qed.
Lemma image_nfo_pair a b : is_event a = true -> is_event b = true ->
  (nfopair (image a) (image b) <-> Deployed.nfo_pair run a b = true).
Proof.
  intros Ea Eb. pose proof (image_same_queue a b Ea Eb) as Qab. pose proof (image_same_queue b a Eb Ea) as Qba.
  destruct (nfo_kinds_of a Ea) as (A1 & A2 & A3 & A4), (nfo_kinds_of b Eb) as (B1 & B2 & B3 & B4).
  assert (forall e, is_event e = true -> kin e = Deployed.KInit -> knd (image e) = Init) as Ki.
  { intros e Ee K. now rewrite (image_kind hw T Covered Possible e Ee), K. }
  unfold nfopair, Deployed.nfo_pair, Deployed.flushes. rewrite !orb_true_iff, !andb_true_iff, !orb_true_iff,
  !andb_true_iff.
  rewrite <- A1, <- A2, <- A3, <- A4, <- B1, <- B2, <- B3, <- B4.
  assert (forall (X : Prop), (X -> kin a <> Deployed.KInit /\ kin b <> Deployed.KInit) ->
    (qp (image a) = qp (image b) /\ X <-> Deployed.same_queue run a b = true /\ X) /\
    (qp (image a) = qp (image b) /\ X <-> Deployed.same_queue run b a = true /\ X)) as Go.
  { intros X HX. split; split; intros (Q & HQ); destruct (HX HQ) as (Na & Nb); (split; [|exact HQ]).
    - now apply Qab.
    - now apply Qab.
    - apply Qba; auto.
    - symmetry. now apply Qba. }
  unfold rread, rwrite in *.
  destruct (Go ((knd (image a) = NLR /\ knd (image b) = NLW) \/ (rread (knd (image a)) /\ rwrite (knd (image b)))))
  as (G1 & _).
  { unfold rread, rwrite. intros H. split; intros K; apply Ki in K; auto; rewrite K in H; intuition discriminate. }
  destruct (Go ((knd (image b) = NLR /\ knd (image a) = NLW) \/ (rread (knd (image b)) /\ rwrite (knd (image a)))))
  as (_ & G2).
  { unfold rread, rwrite. intros H. split; intros K; apply Ki in K; auto; rewrite K in H; intuition discriminate. }
  unfold rread, rwrite in G1, G2. rewrite <- G1, <- G2. clear. tauto.
Qed.
Lemma nfo_says a b : is_event a = true -> is_event b = true -> (Deployed.nfo T a b = true ->
  Deployed.nfo_pair run a b = true) /\
  (Deployed.nfo_pair run a b = true -> xorb (Deployed.nfo T a b) (Deployed.nfo T b a) = true).
Proof.
  intros Ea Eb. destruct (fine_parts hw T Fine) as (_ & _ & _ & _ & F & _).
  pose proof (proj1 (DeployedDecides.every_spec run _) F a Ea) as F1.
  pose proof (proj1 (DeployedDecides.every_spec run _) F1 b Eb) as F2. simpl in F2.
  destruct (Deployed.nfo_pair run a b).
  - split; [auto|intros _; exact F2].
  - split; [intros H; now rewrite H in F2|discriminate].
Qed.
Lemma writes_only_by_mo a b : is_event a = true -> is_event b = true -> Deployed.mo T a b = true ->
  match b with Deployed.Initial _ => False | _ => True end.
Proof.
  intros Ea Eb H. destruct (fine_parts hw T Fine) as (_ & _ & _ & F & _).
  pose proof (proj1 (DeployedDecides.every_spec run _) F a Ea) as F1.
  pose proof (proj1 (DeployedDecides.every_spec run _) F1 b Eb) as F2. simpl in F2. rewrite H in F2. destruct b;
  [discriminate|exact I].
Qed.

(* an RMW that another one follows has its naW *)
Lemma followed a b : is_event a = true -> is_event b = true -> hca = true -> Deployed.rao T a b = true ->
  exists w, S T' w /\ knd w = NAW /\ src w = image a.
Proof.
  intros Ea Eb H R. destruct (fine_parts hw T Fine) as (_ & _ & _ & _ & _ & F). apply orders_say in F as (F & _).
  pose proof (F a b Ea Eb R) as Pr. apply (image_rao_pair a b Ea Eb H) in Pr as (Ka & _).
  destruct a as [x|t n]; [discriminate Ka|]. rewrite (image_kind hw T Covered Possible _ Ea) in Ka. apply event_at in Ea.
  assert (exists q x o, lab t n = Deployed.Lnar q x o) as (q & x & o & K).
  { unfold Deployed.kin in Ka. pose proof (Covered t n Ea) as C.
    destruct (lab t n) as [[]|?|q x o|? ?|? ? ?|? ? ?|? ? ? ? ?|? ? ? ?|? ?|? ?]; try discriminate Ka;
    try discriminate C; eauto. }
  assert (DeployedTraces.unfinished T (Deployed.At t n) = true -> False) as Un.
  { unfold DeployedTraces.unfinished. destruct (Deployed.after run (Deployed.At t n)); [discriminate|].
    rewrite negb_true_iff. intros N. assert (Deployed.some run (fun e => Deployed.rao T (Deployed.At t n) e) = true) as Y.
    { apply DeployedDecides.some_spec. exists b. auto. }
    congruence. }
  destruct (DeployedTraces.has_write T (Deployed.At t n)) eqn:Hw.
  - unfold DeployedTraces.has_write, Deployed.after in Hw.
    destruct (nth_error (Deployed.sequence run t) (Datatypes.S n)) as [l|] eqn:Nx; [|discriminate].
    assert (Datatypes.S n < many t) as L by (apply nth_error_Some; congruence).
    assert (lab t (Datatypes.S n) = l) as Kl by (unfold Deployed.lab; now apply nth_error_nth).
    destruct l as [[]|?|? ? ?|q' x'|? ? ?|? ? ?|? ? ? ? ?|? ? ? ?|? ?|? ?]; try discriminate Hw.
    assert (is_event (Deployed.At t (Datatypes.S n)) = true) as Es by now apply event_at.
    exists (image (Deployed.At t (Datatypes.S n))). split; [now apply S_image|]. split.
    + rewrite (image_kind hw T Covered Possible _ Es). unfold Deployed.kin. now rewrite Kl.
    + destruct (image_source hw T Covered Possible _ Es) as (-> & _). unfold Deployed.source. now rewrite Kl.
  - assert (filler hw T t n = [Lnaw q x]) as Fi.
    { unfold filler, void. rewrite K, H, Hw. destruct (DeployedTraces.unfinished T (Deployed.At t n));
      [destruct (Un eq_refl)|].
      reflexivity. }
    exists (filler_slot hw T t n q x). destruct (filler_kind hw T Covered Possible t n q x Ea Fi) as (A & B). split; [|auto].
    assert (suf (Lnaw q x :: slot_of hw (lab t n) :: slots t n) (all_slots hw T t)) as Sf.
    { eapply suf_trans; [|apply (slots_le hw T t (Datatypes.S n)); exact Ea].
      change (slots t (Datatypes.S n)) with (filler hw T t n ++ slot_of hw (lab t n) :: slots t n). rewrite Fi.
      apply suf_refl. }
    exact Sf.
Qed.

Theorem slots_well_formed : wft T'.
Proof.
  destruct (fine_parts hw T Fine) as (_ & _ & Fm & _ & _ & Fr). apply orders_say in Fm as (M1 & M2 & M3 & M4).
  apply orders_say in Fr as (R1 & R2 & R3 & R4).
  assert (forall x, E T' x -> exists a, is_event a = true /\ x = image a) as Ex by (intros x; apply E_image; auto).
  assert (forall a, is_event a = true -> E T' (image a)) as Ei by (intros a Ea; apply E_image; eauto).
  constructor.
  - exact slots_wf.
  - intros x y (a & b & Ea & Eb & -> & -> & H). destruct (rf_says a b Ea Eb H) as (Wa & Rb & C).
    split; [auto|split; [auto|]]. split; [now apply image_writes|]. split; [now apply image_reads|].
    apply (image_cell hw T Covered); auto.
  - intros x Hx Rx. destruct (Ex x Hx) as (b & Eb & ->). apply (image_reads hw T Covered Possible b Eb) in Rx.
    destruct (rf_one b Eb Rx) as (w & Ew & H & _). exists (image w). now apply related_image.
  - intros x x' y H H'. pose proof H as (_ & b & _ & Eb & _ & -> & _).
    destruct (related_inv hw T _ x b Eb H) as (a & Ea & -> & Ha). destruct (related_inv hw T _ x' b Eb H')
    as (a' & Ea' & -> & Ha').
    destruct (rf_says a b Ea Eb Ha) as (_ & Rb & _). destruct (rf_one b Eb Rb) as (w & _ & _ & Un).
    now rewrite (Un a Ea Ha), (Un a' Ea' Ha').
  - intros x y (a & b & Ea & Eb & -> & -> & H). pose proof (M1 a b Ea Eb H) as Pr.
    apply image_mo_pair in Pr; auto.
  - intros x H. pose proof H as (_ & b & _ & Eb & _ & -> & _). apply related_image in H; auto. now rewrite M2 in H.
  - intros x y z H H'. pose proof H as (a & b & Ea & Eb & -> & -> & _). pose proof H' as (_ & c & _ & Ec & _ & -> & _).
    apply related_image in H, H'; auto. apply related_image; eauto.
  - intros x y Hx Hy Wx Wy C. destruct (Ex x Hx) as (a & Ea & ->), (Ex y Hy) as (b & Eb & ->).
    destruct (M4 a b Ea Eb) as [->|[H|H]]; auto; [now apply image_mo_pair|right; left|right; right];
    now apply related_image.
  - intros x y (a & b & Ea & Eb & -> & -> & H) K. pose proof (writes_only_by_mo a b Ea Eb H) as N.
    rewrite (image_kind hw T Covered Possible b Eb) in K. destruct b as [|t n]; [exact N|].
    pose proof (Covered t n (proj1 (event_at _ _ _) Eb)) as C. unfold Deployed.kin in K.
    destruct (lab t n) as [[]| | | | | | | | |]; try discriminate C; try discriminate K; simpl in K; destruct hca;
    discriminate K.
  - intros x y (a & b & Ea & Eb & -> & -> & H). split; [auto|split; [auto|]]. apply image_nfo_pair; auto.
    now apply (nfo_says a b Ea Eb).
  - intros x y H H'. pose proof H as (a & b & Ea & Eb & -> & -> & _). apply related_image in H, H'; auto.
    destruct (nfo_says a b Ea Eb) as (A & B). specialize (B (A H)). rewrite H, H' in B. discriminate.
  - intros x y Hx Hy Pr. destruct (Ex x Hx) as (a & Ea & ->), (Ex y Hy) as (b & Eb & ->).
    apply image_nfo_pair in Pr; auto. destruct (nfo_says a b Ea Eb) as (_ & B). specialize (B Pr).
    destruct (Deployed.nfo T a b) eqn:Q; [left; now apply related_image|right].
    apply related_image; auto; now destruct (Deployed.nfo T b a).
  - intros x y (H & (a & b & Ea & Eb & -> & -> & R)). pose proof (R1 a b Ea Eb R) as Pr. apply image_rao_pair in Pr; auto.
    split; [now apply S_image|split; [now apply S_image|tauto]].
  - intros x (H & R). pose proof R as (_ & b & _ & Eb & _ & -> & _). apply related_image in R; auto. now rewrite R2 in R.
  - intros x y z (H & R) (_ & R'). split; auto. pose proof R as (a & b & Ea & Eb & -> & -> & _).
    pose proof R' as (_ & c & _ & Ec & _ & -> & _). apply related_image in R, R'; auto. apply related_image; eauto.
  - intros x y Sx Sy Kx Ky C.
    assert (forall z, S T' z -> knd z = NAR -> hca = true /\ exists a, is_event a = true /\ z = image a) as Z.
    { intros z Sz Kz. destruct (S_cases hw T z Sz) as [(a & Ea & ->)|(t & n & q & u & o & L & -> & F & K)].
      - split; [|eauto]. rewrite (image_kind hw T Covered Possible a Ea) in Kz. destruct (kin a); try discriminate Kz.
        simpl in Kz.
        destruct hca; [auto|discriminate].
      - destruct (filler_kind hw T Covered Possible t n q u L F). congruence. }
    destruct (Z x Sx Kx) as (H & a & Ea & ->), (Z y Sy Ky) as (_ & b & Eb & ->).
    destruct (R4 a b Ea Eb) as [->|[R|R]]; auto; [now apply image_rao_pair|right; left|right; right]; (split; [auto|]);
    now apply related_image.
  - intros x y (H & (a & b & Ea & Eb & -> & -> & R)). now apply (followed a b).
Qed.

(* Values *)
Lemma image_rmw t n q x o : lab t n = Deployed.Lnar q x o \/ lab t n = Deployed.Lna q x o ->
  awv (image (Deployed.At t n)) = result (same_operation o).
Proof.
  intros H. change (awv (image (Deployed.At t n))) with (eawv (Ev t (slot_of hw (lab t n)) (slots t n))).
  destruct H as [-> | ->]; simpl; [destruct hca; reflexivity|reflexivity].
Qed.
Lemma said w v : is_event w = true -> DeployedTraces.says T w = Some v -> wval (rf T') (image w) v.
Proof.
  intros Ew H. pose proof (image_kind hw T Covered Possible w Ew) as K. destruct (image_source hw T Covered Possible w Ew)
  as (Sr & _).
  assert (Deployed.source run w = None /\ is_w (kind_for hw (kin w)) /\ ~ is_cond (kind_for hw (kin w)) /\
  cwv (image w) = v)
    as (Q & W & C & V).
  { destruct w as [x|t n].
    - unfold DeployedTraces.says, Deployed.lab in H. injection H as <-. repeat split; auto.
    - apply event_at, Covered in Ew. unfold DeployedTraces.says in H. unfold Deployed.kin, Deployed.source.
      change (cwv (image (Deployed.At t n))) with (ewv (Ev t (slot_of hw (lab t n)) (slots t n))).
      destruct (lab t n) as [[]| | | | | | | | |]; try discriminate H; try discriminate Ew; injection H as <-; simpl;
      destruct n; auto. }
  rewrite Q in Sr. rewrite <- V. apply wv_cpu.
  - now rewrite K.
  - unfold fed. now rewrite Sr.
  - unfold cond. now rewrite K.
Qed.
Lemma written_wval w v : DeployedTraces.written T w v -> is_event w = true -> wval (rf T') (image w) v.
Proof.
  intros H. induction H as [w v H|w r d v H Ed R _ IH|w r o d v u H Ed R _ IH A]; intros Ew.
  - now apply said.
  - destruct (image_source hw T Covered Possible w Ew) as (Sr & So). unfold DeployedTraces.copies in H.
    assert (Deployed.source run w = Some r /\ ~ cond (image w)) as (Q & C).
    { unfold cond. rewrite (image_kind hw T Covered Possible w Ew). destruct w as [x|t n]; [discriminate H|].
      apply event_at, Covered in Ew. unfold Deployed.kin.
      destruct (lab t n) as [[]| | | | | | | | |] eqn:K; try discriminate Ew; try discriminate H; split; auto;
        unfold Deployed.source in H; rewrite K in H; destruct n; discriminate H. }
    rewrite Q in Sr. destruct (So r Q) as (Er & P). apply (wv_copy (rf T') (image w) (image d)); auto.
    + unfold fed. rewrite Sr. intros I0. apply image_inj in I0. subst r.
      apply po_places in P as (t & n & m & -> & I0 & L). inversion I0. lia.
    + rewrite Sr. now apply related_image.
  - destruct (image_source hw T Covered Possible w Ew) as (Sr & So).
    assert (cond (image w) /\ src (image w) = image r /\ is_event r = true /\ awv (image r) = result (same_operation o))
      as (C & Q & Er & Aw).
    { unfold cond. rewrite (image_kind hw T Covered Possible w Ew). destruct w as [x|t n]; [discriminate H|].
      pose proof Ew as Ew'. apply event_at, Covered in Ew'. unfold Deployed.kin. unfold DeployedTraces.swaps in H.
      destruct (lab t n) as [[]|?|q x o'|q x|q x o'|? ? ?|? ? ? ? ?|? ? ? ?|? ?|? ?] eqn:K; try discriminate Ew';
      try discriminate H.
      - destruct (Deployed.source run (Deployed.At t n)) as [r'|] eqn:Q; [|discriminate H].
        destruct (Deployed.lab run r') as [[]|?|q' x' o'|? ?|? ? ?|? ? ?|? ? ? ? ?|? ? ? ?|? ?|? ?] eqn:K';
        try discriminate H.
        injection H as -> ->. split; [exact I|]. split; [exact Sr|]. destruct (So r eq_refl) as (Er & P). split;
        [exact Er|].
        destruct r as [y|t' n']; [discriminate P|]. apply (image_rmw t' n' q' x'). auto.
      - injection H as <- <-. split; [exact I|]. split; [|split; [exact Ew|apply (image_rmw t n q x); auto]].
        assert (Deployed.source run (Deployed.At t n) = None) as Q by (unfold Deployed.source; rewrite K; now destruct n).
        now rewrite Q in Sr. }
    apply (wv_rmw (rf T') (image w) (image d) v); auto.
    + rewrite Q. now apply related_image.
    + rewrite Q, Aw. now rewrite same_result.
Qed.

Hypothesis Valid : DeployedTraces.valid hw T.
Theorem slots_valid : valid T'.
Proof.
  intros x Hx Cx Rx. destruct (proj1 (E_image hw T Covered Possible x) Hx) as (e & Ee & ->).
  pose proof (Valid e Ee) as V. unfold cpu, rd in Cx, Rx. rewrite (image_kind hw T Covered Possible e Ee) in Cx, Rx.
  destruct e as [y|t n]; [destruct Cx|]. pose proof Ee as C. apply event_at, Covered in C.
  unfold DeployedTraces.fits in V. unfold Deployed.kin in Cx, Rx.
  assert (DeployedTraces.reads_value T (Deployed.At t n) (crv (image (Deployed.At t n)))) as (d & Ed & R & W).
  { change (crv (image (Deployed.At t n))) with (erv (Ev t (slot_of hw (lab t n)) (slots t n))).
    destruct (lab t n) as [[]| | | | | | | | |]; try discriminate C; try (destruct Rx; fail); try (destruct Cx; fail);
    try exact V.
    simpl in Cx. destruct hca; destruct Cx. }
  exists (image d). split; [now apply related_image|now apply written_wval].
Qed.

(* what an RMW of the slots has read *)
Lemma rmw_reads t n : n < many t -> forall v, DeployedTraces.reads_value T (Deployed.At t n) v -> forall d u,
  rf T' d (image (Deployed.At t n)) -> wval (rf T') d u -> u = v.
Proof.
  intros L v (d & Ed & R & W) d' u R' W'. assert (is_event (Deployed.At t n) = true) as Ee by now apply event_at.
  pose proof slots_well_formed as Wf.
  assert (rf T' (image d) (image (Deployed.At t n))) as R2 by now apply related_image.
  rewrite (t_rf_fun _ Wf _ _ _ R' R2) in W'.
  apply (wval_fun (rf T') (fun a b c => t_rf_fun _ Wf a b c) _ _ W'). now apply written_wval.
Qed.
Theorem slots_real : real T'.
Proof.
  intros w Sw Cw. destruct (S_cases hw T w Sw) as [(e & Ee & ->)|(t & n & q & y & o & L & -> & Fi & K)].
  - rewrite (live_image hw T e Ee). pose proof (Valid e Ee) as V. pose proof (image_kind hw T Covered Possible e Ee) as Ke.
    destruct (image_source hw T Covered Possible e Ee) as (Sr & So).
    unfold cond in Cw. rewrite Ke in Cw. destruct e as [x|t n]; [destruct Cw|]. pose proof Ee as L. apply event_at in L.
    pose proof (Covered t n L) as C. unfold Deployed.kin in Cw |- *. unfold DeployedTraces.fits in V.
    destruct (lab t n) as [[]|?|q x o|q x|q x o|? ? ?|? ? ? ? ?|? ? ? ?|? ?|? ?] eqn:K; try discriminate C;
      try (destruct Cw; fail); simpl in Cw.
    + (* naR where RMWs are one event *)
      destruct hca eqn:H; [destruct Cw|]. split; [discriminate|]. intros (u & W). exfalso.
      destruct V as (v & Rv & V). destruct (Deployed.result o v) as [z|] eqn:Q; [destruct V; congruence|].
      assert (Deployed.source run (Deployed.At t n) = None) as Q0 by (unfold Deployed.source; rewrite K; now destruct n).
      rewrite Q0 in Sr. assert (cond (image (Deployed.At t n))) as Cd.
      { unfold cond. rewrite Ke. unfold Deployed.kin. rewrite K. simpl. rewrite H. exact I. }
      destruct (wval_cond _ Cd _ _ W) as (d & v' & R' & W' & A). rewrite Sr in R', A.
      pose proof (rmw_reads t n L v Rv d v' R' W') as E0.
      rewrite (image_rmw t n q x o) in A by auto. rewrite same_result in A. congruence.
    + (* naW *)
      split; [intros _|reflexivity].
      pose proof (possible_cases hw T Possible t n L) as (F & _ & _ & Gn & _).
      destruct n as [|n]; [rewrite K in F; discriminate F|].
      destruct (lab t n) as [[]|?|q2 x2 o2|? ?|? ? ?|? ? ?|? ? ? ? ?|? ? ? ?|? ?|? ?] eqn:K2; rewrite K in F;
      try discriminate F.
      assert (is_event (Deployed.At t n) = true) as En by (apply event_at; lia).
      pose proof (Valid _ En) as Vn. unfold DeployedTraces.fits in Vn. rewrite K2 in Vn.
      destruct Vn as (v & (d & Ed & R & W) & Vn).
      assert (DeployedTraces.has_write T (Deployed.At t n) = true) as Hw.
      { unfold DeployedTraces.has_write, Deployed.after. rewrite (nth_error_nth' _ (Deployed.Plain Programs.Lmf) L).
        change (nth (Datatypes.S n) (Deployed.sequence run t) (Deployed.Plain Programs.Lmf)) with (lab t (Datatypes.S n)).
        now rewrite K. }
      destruct (Deployed.result o2 v) as [z|] eqn:Q; [|congruence].
      exists z. apply written_wval; auto. apply (DeployedTraces.written_swapped T _ (Deployed.At t n) o2 d v z); auto.
      unfold DeployedTraces.swaps. rewrite K.
      assert (Deployed.source run (Deployed.At t (Datatypes.S n)) = Some (Deployed.At t n)) as ->
        by (unfold Deployed.source; now rewrite K). now rewrite K2.
    + (* nA *)
      split; [intros _|reflexivity]. destruct V as (v & (d & Ed & R & W) & V).
      destruct (Deployed.result o v) as [z|] eqn:Q; [|congruence].
      exists z. apply written_wval; auto. apply (DeployedTraces.written_swapped T _ (Deployed.At t n) o d v z); auto.
      unfold DeployedTraces.swaps. now rewrite K.
  - (* naW of an RMW that does not write *)
    destruct (filler_kind hw T Covered Possible t n q y L Fi) as (Kf & Sf). split.
    + intros (a & _ & Q & _). destruct (filler_not_image hw T t n q y a Fi Q).
    + intros (u & W). exfalso. destruct (filler_cases hw T t n _ Fi) as (q' & x & o' & K' & _ & H & _ & Hw & Hu).
      assert (is_event (Deployed.At t n) = true) as En by now apply event_at.
      pose proof (Valid _ En) as V. unfold DeployedTraces.fits in V. rewrite K' in V. destruct V as (v & Rv & V).
      destruct (Deployed.result o' v) as [z|] eqn:Q; [destruct V as (_ & [V|V]); congruence|].
      destruct (wval_cond _ Cw _ _ W) as (d & v' & R' & W' & A). rewrite Sf in R', A.
      pose proof (rmw_reads t n L v Rv d v' R' W') as E0.
      rewrite (image_rmw t n q' x o') in A by auto. rewrite same_result in A. congruence.
Qed.
End Bridge.
