(* The test of the search whether an event is forced into beta is F1, F3 and F4. *)
Require Import List Arith Bool Lia Classical Relations.
Import ListNotations.
From RR Require Import Model Hardware Orders Cells Stores Rules Traces CpuSc Search Marks Along Counters.

Section Forced.
Context {U : events} {K : searchable} (hw : hardware) {OK : hardware_ok hw} {SO : search_ok hw}.

Section Marks.
Variable s : state.
Hypothesis M : meaning s.
Notation h := (hist (th s)).

Lemma nic_forces_iff e : nic_forces hw (sd s) e = true <->
  (exists b, inB h b /\ ~ cpu b /\ qp b = qp e /\ table hw (knd b) (knd e) = Qp) \/
  (flush hw = true /\ knd e = NLR /\ exists f t h2 w, at_ h (Mv f false t) h2 /\ knd f = NF /\ qp f = qp e /\
    inB h2 w /\ knd w = NLW /\ qp w = qp e).
Proof.
  unfold nic_forces. rewrite orb_true_iff, !andb_true_iff, is_iff, (m_fen s M), existsb_exists. split.
  - intros [(k & _ & H)|H]; [left|right; tauto]. apply andb_true_iff in H. destruct H as (H & Q).
    apply (m_typ s M) in H. destruct H as (b & Hb & C & Qb & <-). exists b. repeat split; auto.
    unfold forcing_type in Q. destruct (table hw (knd b) (knd e)); auto; discriminate.
  - intros [(b & Hb & C & Q & Tb)|H]; [left|right; tauto]. exists (knd b). split.
    + unfold kinds. destruct (knd b); simpl; tauto.
    + rewrite andb_true_iff. split; [apply (m_typ s M); eauto|]. unfold forcing_type. now rewrite Tb.
Qed.
(* F1 *)
Lemma forces_F1 b e : inB h b -> oppo hw b e -> oppo_forces hw (sd s) e = true.
Proof.
  intros Hb O. unfold oppo_forces. apply orb_true_iff. destruct (oppo_nic hw b e O) as [C|(Cb & Ce & Q & Tb)].
  - left. apply (m_cpub s M). exists b. repeat split; auto. apply po_thr, O.
  - right. apply cpu_not in Ce. rewrite Ce. simpl. apply nic_forces_iff. left; eauto.
Qed.
(* F3 *)
Lemma forces_F3 f t h2 w e : flush hw = true -> at_ h (Mv f false t) h2 -> inB h2 w -> knd w = NLW -> knd f = NF ->
  knd e = NLR ->
  qp w = qp f -> qp f = qp e -> oppo_forces hw (sd s) e = true.
Proof.
  intros Fl Hf Hw Kw Kf Ke Q Q'. unfold oppo_forces. apply orb_true_iff; right.
  replace (cpu_b e) with false by (symmetry; apply cpu_not; unfold cpu; rewrite Ke; simpl; auto). simpl.
  apply nic_forces_iff. right. split; auto. split; auto. exists f, t, h2, w. repeat split; auto. congruence.
Qed.
(* F4 *)
Lemma forces_F4 e : meets_marks (acc s) e = true <-> exists b, inB h b /\ conf b e.
Proof. apply meets_marks_iff; [apply (m_cr s M)|apply (m_cw s M)]. Qed.
End Marks.

Section Sound.
Variables (F : ev -> Prop) (L : relation ev) (B : ev -> Prop).
Hypotheses (W : wfE F) (SL : sto F L).
Hypothesis PL : forall a b, F a -> F b -> po a b -> L a b.
Variable s : state.
Hypotheses (M : meaning s) (A : along F L (hist (th s))) (Fl : flags B (hist (th s))).
Notation h := (hist (th s)).
Notation l := (evs (hist (th s))).

Lemma in_B b : inB h b -> B b /\ F b /\ noninit b /\ In b l.
Proof.
  intros H. apply (inB_flags B _ _ Fl) in H. destruct H as (H & Hb). destruct (along_in F L _ _ A H). auto.
Qed.
(* the marks force only what R1 and R3 force: also for the pivot, which is none of F *)
Lemma nic_forces_B (E : ev -> Prop) e : (forall y, F y -> E y) -> R1 hw E B -> R3 hw E B -> E e -> noninit e -> ~ cpu e ->
  (forall b, In b l -> thr b = thr e -> po b e) -> nic_forces hw (sd s) e = true -> B e.
Proof.
  intros FE H1 H3 Ee Ne Ce Hp H. apply (nic_forces_iff s M) in H. destruct H
    as [(b & Hb & Cb & Q & Tb)|(Fh & Ke & f & t & h2 & w & H & Kf & Qf & Hw & Kw & Qw)].
  - destruct (in_B b Hb) as (Bb & Fb & Nb & Ib). apply (H1 e b); auto. apply oppo_sc; [apply SO|]. split; [|now rewrite Tb].
    apply Hp; auto. now apply qp_thr.
  - pose proof (in_map me _ _ (at_in _ _ _ H)) as If. simpl in If.
    destruct (along_in F L _ _ A If) as (Ff & Nf).
    assert (~ B f) as NBf by (intros Z; apply (Fl _ (at_in _ _ _ H)) in Z; discriminate).
    pose proof (along_at F L _ _ _ A H) as A2. pose proof (flags_at B _ _ _ Fl H) as Fl2.
    apply (inB_flags B _ _ Fl2) in Hw. destruct Hw as (Iw & Bw). destruct (along_in F L _ _ A2 Iw) as (Fw & Nw).
    apply (H3 Fh w f e); auto; try congruence.
    + apply (pre_po F L W SL PL (evs h2) f w (A _ _ H)); auto. apply qp_thr; auto; try congruence;
      unfold cpu; rewrite ?Kw, ?Kf; simpl; auto.
    + apply Hp; auto. apply qp_thr; auto. unfold cpu; rewrite Kf; simpl; auto.
Qed.
Lemma forced_B e : R1 hw F B -> R3 hw F B -> (forall a b, F a -> F b -> ~ B a -> B b -> conflict a b -> L a b) ->
  pre F L l e -> forced hw s e = true -> B e.
Proof.
  intros H1 H3 Cii P H. pose proof P as (Fe & Ne & Pl). unfold forced, oppo_forces in H.
  apply orb_true_iff in H. rewrite orb_true_iff, andb_true_iff in H. destruct H as [[H|(Ce & H)]|H].
  - apply (m_cpub s M) in H. destruct H as (b & Hb & C & Q). destruct (in_B b Hb) as (Bb & Fb & Nb & Ib).
    apply (H1 e b); auto. apply cpu_oppo_sc; auto; [apply SO|]. eapply pre_po; eauto.
  - apply nic_forces_B with (E := F); auto.
    + apply cpu_not. now destruct (cpu_b e).
    + intros b Ib Q. eapply pre_po; eauto.
  - apply (forces_F4 s M) in H. destruct H as (b & Hb & Ab & Ae & Wb & Q). destruct (in_B b Hb) as (Bb & Fb & Nb & Ib).
    apply NNPP. intros NB. apply (l_asym F L SL b e); [now apply Pl|]. apply Cii; auto. repeat split; auto; try tauto.
    congruence.
Qed.
End Sound.
End Forced.
