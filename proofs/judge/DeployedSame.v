(* Deployed.v where no thread does anything beyond core/Programs.v: well-formed traces and their values. *)
Require Import List Arith ZArith Bool Lia Relations.
Import ListNotations.
From RR Require Import Model Hardware Programs DeployedPlain DeployedCore.
From RR Require Deployed DeployedTraces DeployedDecides.
Local Arguments Deployed.lab : simpl never.
Local Arguments Deployed.past : simpl never.

(* The grammar *)
Lemma begins_same l : DeployedTraces.begins (Deployed.Plain l) = true <-> follows l [].
Proof. destruct l; simpl; intuition discriminate. Qed.
Lemma follows_same l l' h : DeployedTraces.follows (Deployed.Plain l) (Deployed.Plain l') = true <-> follows l' (l :: h).
Proof. destruct l, l'; simpl; try rewrite Nat.eqb_eq; intuition discriminate. Qed.

(* what writes, and not what an event before has read *)
Lemma own_writes t l h : match l with Lnrw _ _ _ | Lnlw _ _ _ => False | _ => True end -> forall r, ~ ecarry r (Ev t l h).
Proof. intros N [y u|u k g]; simpl; [tauto|]. intros (_ & _ & K). destruct k, l; simpl in *; tauto. Qed.

Section Same.
Variables (hw : Deployed.platform) (T : Deployed.trace).
Notation R := (Deployed.run_of T).
Notation many t := (length (Deployed.sequence R t)).
Notation lab e := (Deployed.lab R e).
Notation is_event := (Deployed.is_event R).
Notation nv := (length (Deployed.held R)).
Notation image := (image T).
Notation does t n := (does T t n).
Hypothesis All_plain : forall t n, n < many t -> is_plain (lab (Deployed.At t n)).
Hypothesis Cells : 0 < nv.

Lemma lab_plain t n : n < many t -> lab (Deployed.At t n) = Deployed.Plain (does t n).
Proof. apply (lab_does T All_plain). Qed.

(* what threads can do: of an event, and of all *)
Lemma possible_same t n : n < many t -> (DeployedTraces.possible hw T (Deployed.At t n) = true <->
  follows (does t n) (hist T t n) /\ polls (does t n) (hist T t n) /\ lloc (does t n) < nv).
Proof.
  intros L. unfold DeployedTraces.possible. rewrite !andb_true_iff.
  assert (match Deployed.before R (Deployed.At t n) with
    | Some l => DeployedTraces.follows l (lab (Deployed.At t n)) | None => DeployedTraces.begins (lab (Deployed.At t n))
      end = true
    <-> follows (does t n) (hist T t n)) as ->.
  { destruct n as [|n]; simpl Deployed.before; cbv iota.
    - rewrite (lab_plain t 0 L). apply begins_same.
    - rewrite (lab_plain t (S n) L), (lab_plain t n) by lia. apply follows_same. }
  assert (match lab (Deployed.At t n) with Deployed.Plain (Lp q) =>
      Deployed.count (Deployed.polls q) (Deployed.past R (Deployed.At t n)) <?
      Deployed.count (Deployed.signals q) (Deployed.past R (Deployed.At t n)) | _ => true end = true
    <-> polls (does t n) (hist T t n)) as ->.
  { rewrite (lab_plain t n L). destruct (does t n); simpl; try tauto.
    rewrite (past_count T All_plain (Deployed.polls q) (isP q)),
      (past_count T All_plain (Deployed.signals q) (isS q)) by (auto; lia).
    apply Nat.ltb_lt. }
  assert (match Deployed.accessed (lab (Deployed.At t n)) with Some x => x <? nv | None => true end = true
    <-> lloc (does t n) < nv) as ->.
  { rewrite (lab_plain t n L). destruct (does t n); simpl; try apply Nat.ltb_lt; tauto. }
  assert (Deployed.is R (if Deployed.ranked hw then Deployed.KnA else Deployed.KnaW) (Deployed.At t n) = false) as ->.
  { apply (atomics_none T All_plain); [now apply is_event_at|]. now destruct (Deployed.ranked hw). }
  assert (DeployedTraces.connected T (Deployed.At t n) = true) as -> by (unfold DeployedTraces.connected;
    now rewrite (lab_plain t n L)).
  simpl. tauto.
Qed.
Lemma all_possible : Deployed.every R (DeployedTraces.possible hw T) = true <-> forall t, ok nv (path T t).
Proof.
  rewrite DeployedDecides.every_spec. split.
  - intros H t. unfold path. assert (forall n, n <= many t -> ok nv (hist T t n)) as K; [|now apply K].
    induction n as [|n IH]; intros L; simpl; [exact I|]. split; [apply IH; lia|].
    apply (possible_same t n); [lia|]. apply H. now apply is_event_at.
  - intros H [x|t n] E; [reflexivity|]. apply is_event_at in E. apply (possible_same t n E).
    pose proof (ok_suf nv _ _ (proj2 (hist_suf T t n (many t)) E) (H t)) as (_ & K). exact K.
Qed.
Lemma grammar_of : (forall t, ok nv (path T t)) -> forall t n, S n < many t ->
  DeployedTraces.follows (lab (Deployed.At t n)) (lab (Deployed.At t (S n))) = true.
Proof.
  clear Cells. intros H t n L. rewrite (lab_plain t n), (lab_plain t (S n)) by lia. apply (follows_same _ _ (hist T t n)).
  pose proof (ok_suf nv _ _ (proj2 (hist_suf T t (S n) (many t)) L) (H t)) as (_ & K & _). exact K.
Qed.

(* reads, writes, cells, pairs *)
Lemma writes_image e : is_event e = true -> (Deployed.writes R e = true <-> wr (U := concrete) (image e)).
Proof.
  intros E. unfold Deployed.writes, Deployed.kin, wr. destruct e as [x|t n]; [simpl; tauto|].
  apply is_event_at in E. rewrite (lab_plain t n E). simpl. destruct (does t n); simpl; intuition discriminate.
Qed.
Lemma reads_image e : is_event e = true -> (Deployed.reads R e = true <-> rd (U := concrete) (image e)).
Proof.
  intros E. unfold Deployed.reads, Deployed.kin, rd. destruct e as [x|t n]; [simpl; intuition discriminate|].
  apply is_event_at in E. rewrite (lab_plain t n E). simpl. destruct (does t n); simpl; intuition discriminate.
Qed.
Lemma accessed_image e : is_event e = true -> Deployed.writes R e = true \/ Deployed.reads R e = true ->
  Deployed.accessed (lab e) = Some (eloc (image e)).
Proof.
  intros E H. destruct e as [x|t n]; [reflexivity|]. unfold Deployed.writes, Deployed.reads, Deployed.kin in H.
  apply is_event_at in E. rewrite (lab_plain t n E) in *. simpl in *.
  destruct (does t n); simpl in *; auto; intuition discriminate.
Qed.
Lemma cell_image a b : is_event a = true -> is_event b = true -> Deployed.writes R a = true \/ Deployed.reads R a = true ->
  Deployed.writes R b = true \/ Deployed.reads R b = true -> (Deployed.same_cell R a b = true <-> eloc (image a) = eloc
    (image b)).
Proof.
  intros Ea Eb Ha Hb. unfold Deployed.same_cell. rewrite (accessed_image a Ea Ha), (accessed_image b Eb Hb).
  apply Nat.eqb_eq.
Qed.
Lemma mo_pair_image a b : is_event a = true -> is_event b = true -> (Deployed.mo_pair R a b = true <->
  wr (U := concrete) (image a) /\ wr (U := concrete) (image b) /\ eloc (image a) = eloc (image b)).
Proof.
  intros Ea Eb. unfold Deployed.mo_pair. rewrite !andb_true_iff, <- (writes_image a Ea), <- (writes_image b Eb).
  split; [intros ((A & B) & H)|intros (A & B & H)]; repeat split; auto; apply (cell_image a b Ea Eb); auto.
Qed.
Lemma rao_pair_none a b : is_event a = true -> is_event b = true -> Deployed.rao_pair R a b = false.
Proof. intros Ea Eb. unfold Deployed.rao_pair. now rewrite (atomics_none T All_plain Deployed.KnaR a Ea). Qed.
Lemma flushes_image a b : is_event a = true -> is_event b = true -> (Deployed.flushes R a b = true <->
  eqp (image a) = eqp (image b) /\ ((eknd (image a) = NLR /\ eknd (image b) = NLW) \/
    (eknd (image a) = NRR /\ eknd (image b) = NRW))).
Proof.
  intros Ea Eb. unfold Deployed.flushes, Deployed.remote_read.
  rewrite (atomics_none T All_plain Deployed.KnaR a Ea), (atomics_none T All_plain Deployed.KnA a Ea),
    (atomics_none T All_plain Deployed.KnaW b Eb), !orb_false_r by reflexivity.
  rewrite !andb_true_iff, orb_true_iff, !andb_true_iff.
  rewrite (is_image T All_plain Deployed.KnlR a Ea), (is_image T All_plain Deployed.KnlW b Eb),
    (is_image T All_plain Deployed.KnrR a Ea), (is_image T All_plain Deployed.KnrW b Eb) by discriminate.
  simpl old_kind. destruct a as [x|t n], b as [y|u m];
    try (split; [intros (H & _)|intros (_ & [(H & H')|(H & H')])]; first [simpl in H; discriminate H|simpl in H';
      discriminate H']).
  - apply is_event_at in Ea, Eb. unfold Deployed.same_queue. simpl. rewrite (lab_plain t n Ea), (lab_plain u m Eb). simpl.
    rewrite andb_true_iff, !Nat.eqb_eq. split; intros (Q & H); (split; [|exact H]).
    + destruct Q. congruence.
    + inversion Q. auto.
Qed.
Lemma nfo_pair_image a b : is_event a = true -> is_event b = true ->
  (Deployed.nfo_pair R a b = true <-> nfopair (U := concrete) (image a) (image b)).
Proof.
  intros Ea Eb. unfold Deployed.nfo_pair, nfopair. rewrite orb_true_iff, (flushes_image a b Ea Eb),
    (flushes_image b a Eb Ea). simpl.
  intuition congruence.
Qed.

(* Values *)
Variable T' : trace (U := concrete).
Hypothesis C : corresponds T T'.
Hypothesis Ok : forall t, ok nv (path T t).
Hypothesis Rf_fine : forall w r, rf T' w r -> wr (U := concrete) w /\ rd (U := concrete) r.

Lemma read_of_write t n : S n < many t -> carries (does t n) (does t (S n)) ->
  ecarry (image (Deployed.At t n)) (image (Deployed.At t (S n))).
Proof. intros L K. simpl. auto. Qed.
Lemma copies_image e r : is_event e = true -> (DeployedTraces.copies T e = Some r <-> is_event r = true /\
  ecarry (image r) (image e)).
Proof.
  intros E. unfold DeployedTraces.copies. assert (match lab e with Deployed.Lnaw _ _ => None | _ => Deployed.source R e end =
    Deployed.source R e) as ->.
  { destruct e as [x|t n]; [reflexivity|]. apply is_event_at in E. now rewrite (lab_plain t n E). }
  split; [apply (source_image T All_plain (grammar_of Ok) r e E)|]. intros (_ & K). now apply (carry_source T All_plain).
Qed.
Lemma says_image e v : is_event e = true -> (DeployedTraces.says T e = Some v <->
  wr (U := concrete) (image e) /\ (forall r, ~ ecarry r (image e)) /\ v = ewv (image e)).
Proof.
  intros E. unfold DeployedTraces.says. destruct e as [x|t n].
  - simpl. split; [intros H; inversion H; repeat split; auto; intros [] []|intros (_ & _ & ->); reflexivity].
  - pose proof E as L. apply is_event_at in L. rewrite (lab_plain t n L).
    pose proof (ok_suf nv _ _ (proj2 (hist_suf T t n (many t)) L) (Ok t)) as (_ & F & _).
    unfold wr. simpl. fold (does t n). destruct (does t n) eqn:Q; simpl.
    all: try (split; [intros H; inversion H; subst; split; [exact I|split; [now apply own_writes|reflexivity]]|
      intros (_ & _ & ->); reflexivity]).
    all: split; [intros H; discriminate H|intros (W & X & _); exfalso]; try exact W.
    all: simpl in F; destruct n as [|n]; simpl in F; try tauto; apply (X (image (Deployed.At t n))); simpl.
    all: fold (does t n); destruct (does t n); simpl in *; tauto.
Qed.
Lemma carried_event e x : is_event e = true -> ecarry x (image e) -> exists r, is_event r = true /\ image r = x.
Proof.
  intros E K. destruct e as [y|t [|n]], x as [c u|k l h]; try (now destruct K). destruct K as (-> & Q & K).
  simpl in Q. inversion Q; subst. apply is_event_at in E. exists (Deployed.At t n).
  split; [apply is_event_at; lia|reflexivity].
Qed.
Lemma fetching r w : ecarry r w -> rd (U := concrete) r /\ ~ cpu (U := concrete) r /\ ~ wr (U := concrete) r.
Proof.
  intros K. destruct (@carry_ok concrete _ _ K) as (_ & _ & [(Q & _)|(Q & _)]); unfold rd, cpu, wr; rewrite Q; simpl; tauto.
Qed.

Lemma written_val e v : DeployedTraces.written T e v -> is_event e = true -> val (U := concrete) (rf T') (image e) v.
Proof.
  induction 1 as [w v S|w r d v S Ed F _ IH|w r o d v u S Ed F _ IH Q]; intros Ew.
  - apply (says_image w v Ew) in S as (W & N & ->). now apply (@val_own concrete (rf T') (image w)).
  - apply (copies_image w r Ew) in S as (Er & K). apply (val_nicw (U := concrete) (rf T') (image r)); [exact K|].
    destruct (fetching _ _ K) as (Rd & Nc & _). apply val_nicr with (image d); auto. now apply (c_rf T T' C).
  - unfold DeployedTraces.swaps in S. destruct w as [x|t n]; [discriminate|]. apply is_event_at in Ew.
    now rewrite (lab_plain t n Ew) in S.
Qed.
Lemma val_written x v : val (U := concrete) (rf T') x v -> forall e, is_event e = true -> image e = x ->
  (wr (U := concrete) x -> DeployedTraces.written T e v) /\
  (rd (U := concrete) x -> ~ wr (U := concrete) x -> DeployedTraces.reads_value T e v).
Proof.
  induction 1 as [w W N|w r v Rd Nc F V IH|r w v K V IH]; intros e E Q.
  - split; [|tauto]. intros _. apply DeployedTraces.written_said. apply (says_image e _ E). now rewrite Q.
  - split.
    + intros W. exfalso. unfold wr, rd, cpu in *. destruct (knd r); simpl in *; tauto.
    + intros _ _. destruct (proj1 (c_E T T' C w) (proj1 (c_rf_in T T' C _ _ F))) as (d & Ed & Qd). exists d.
      split; [exact Ed|]. split; [apply (c_rf T T' C d e Ed E); congruence|]. apply (IH d Ed Qd). now apply (Rf_fine w r).
  - split.
    + intros _. subst w. destruct (carried_event e r E K) as (f & Ef & Qf). destruct (fetching _ _ K) as (Rd & _ & Nw).
      destruct (proj2 (IH f Ef Qf) Rd Nw) as (d & Ed & F & V'). eapply DeployedTraces.written_copied; eauto.
      apply (copies_image e f E). split; [exact Ef|]. now rewrite Qf.
    + intros Rd _. exfalso. destruct (@carry_ok concrete _ _ K) as (_ & _ & Kw). unfold rd in Rd.
      destruct Kw as [(_ & X)|(_ & X)]; rewrite X in Rd; destruct Rd.
Qed.
Lemma read_same e v : is_event e = true -> (DeployedTraces.reads_value T e v <->
  exists w, rf T' w (image e) /\ val (U := concrete) (rf T') w v).
Proof.
  intros E. split.
  - intros (d & Ed & F & W). exists (image d). split; [now apply (c_rf T T' C)|now apply written_val].
  - intros (w & F & V). destruct (proj1 (c_E T T' C w) (proj1 (c_rf_in T T' C _ _ F))) as (d & Ed & <-). exists d.
    split; [exact Ed|]. split; [now apply (c_rf T T' C)|]. apply (val_written _ v V d Ed eq_refl).
    now apply (Rf_fine (image d) (image e)).
Qed.
Lemma valid_same : DeployedTraces.valid hw T <-> valid T'.
Proof.
  split.
  - intros V r Er Cr Rr. destruct (proj1 (c_E T T' C r) Er) as (e & E & <-). apply (read_same e _ E). specialize (V e E).
    destruct e as [x|t n]; [destruct Cr|]. unfold DeployedTraces.fits in V. pose proof E as L. apply is_event_at in L.
    rewrite (lab_plain t n L) in V. unfold cpu, rd in *. simpl in *. fold (does t n) in *.
    destruct (does t n); simpl in *; tauto.
  - intros V e E. unfold DeployedTraces.fits. destruct e as [x|t n]; [exact I|]. pose proof E as L. apply is_event_at in L.
    rewrite (lab_plain t n L). specialize (V (image (Deployed.At t n)) (proj2 (c_E T T' C _) (ex_intro _ _ (conj E
      eq_refl)))).
    pose proof (read_same (Deployed.At t n)) as K. unfold cpu, rd in V. simpl in V, K. fold (does t n) in *.
    destruct (does t n); simpl in V; auto; apply (K _ E); apply V; exact I.
Qed.
End Same.
