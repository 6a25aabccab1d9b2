(* The test of the search whether an event is forced into beta is F1, F3 and F4. *)
Require Import List Arith Bool Lia Classical Relations.
Import ListNotations.
From RR Require Import Model Hardware Orders Cells Stores Rules Traces Search Marks Along Counters.

Section Forced.
Context {U : events} {K : searchable} (hw : hardware) {OK : hardware_ok hw} {SO : search_ok hw}.

Section Marks.
Variable s : state.
Hypothesis M : meaning hw s.
Notation h := (hist (th s)).

Lemma nic_forces_iff e : nic_forces hw (sd s) e = true <->
  (exists b, inB h b /\ ~ cpu b /\ qp b = qp e /\ table hw (knd b) (knd e) = Qp) \/
  (flush hw = true /\ knd e = NLR /\ exists f t h2 w, at_ h (Mv f false t) h2 /\ knd f = NF /\ qp f = qp e /\
    inB h2 w /\ knd w = NLW /\ qp w = qp e).
Proof.
  unfold nic_forces. rewrite orb_true_iff, !andb_true_iff, is_iff, (m_fen hw s M), existsb_exists. split.
  - intros [(k & _ & H)|H]; [left|right; tauto]. apply andb_true_iff in H. destruct H as (H & Q).
    apply (m_typ hw s M) in H. destruct H as (b & Hb & C & Qb & <-). exists b. repeat split; auto.
    unfold forcing_type in Q. destruct (table hw (knd b) (knd e)); auto; discriminate.
  - intros [(b & Hb & C & Q & Tb)|H]; [left|right; tauto]. exists (knd b). split.
    + unfold kinds. destruct (knd b); simpl; tauto.
    + rewrite andb_true_iff. split; [apply (m_typ hw s M); eauto|]. unfold forcing_type. now rewrite Tb.
Qed.
(* F1 *)
Lemma forces_F1 b e : inB h b -> oppo hw b e -> oppo_forces hw (sd s) e = true.
Proof.
  intros Hb O. unfold oppo_forces. rewrite !orb_true_iff. pose proof (po_thr _ _ (proj1 O)) as T.
  destruct (oppo_nic hw b e O) as [C|(Cb & Ce & Q & Tb)].
  - left. destruct (cpub (sd s) (thr e)) eqn:Cp; [auto|right]. apply (stored_iff hw s e M).
    apply (cpub_not hw s _ M) in Cp. destruct (classic (store hw b)) as [Sb|NS]; [|destruct (Cp b Hb C NS T)].
    destruct O as (_ & NO & _). unfold overtaken in NO.
    split; [tauto|split; [tauto|split; [auto|eauto]]].
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
Proof. apply meets_marks_iff; [apply (m_cr hw s M)|apply (m_cw hw s M)]. Qed.
End Marks.

(* Along L, what B has written last to a cell is the L-last write; a read takes it from the buffer if it is its thread's. *)
Section Own.
Variables (F : ev -> Prop) (L : relation ev) (B : ev -> Prop) (h : list move).
Hypotheses (SL : sto F L) (IL : initfirst F L) (A : along F L h) (Fl : flags B h).
Hypothesis Cw : forall a b, F a -> F b -> ~ B a -> B b -> wr a -> conflict a b -> L a b.
Lemma lastB_rf e w : pre F L (evs h) e -> rd e -> lastB h (loc e) w -> rf_in F L w e /\ B w.
Proof.
  intros (Fe & _ & Pl) Re Lw. pose proof (lastB_in _ _ _ Lw) as (Iw & Ww & Q). apply (inB_flags B _ _ Fl) in Iw.
  destruct Iw as (Hw & Bw).
  destruct (along_in F L _ _ A Hw) as (Fw & Nw).
  split; [|auto]. pose proof (proj1 (Pl w) Hw) as (_ & _ & Lwe).
  repeat split; auto. intros x Fx Wx Qx Lxe. destruct (classic (x = w)) as [|Nx]; [auto|right].
  destruct (classic (B x)) as [Bx|NB]; [|apply Cw; auto; repeat split; auto; congruence].
  destruct Lw as (t & h1 & h2 & Qh & _ & _ & N).
  destruct (classic (knd x = Init)) as [Kx|Kx]; [now apply IL|].
  assert (inB h x) as (tx & Hx) by (apply (inB_flags B _ _ Fl); split; [apply Pl; auto|auto]).
  rewrite Qh in Hx. apply in_app_iff in Hx. destruct Hx as [Hx|[Hx|Hx]]; [|inversion Hx; congruence|].
  - exfalso. apply (N x); auto. now exists tx.
  - assert (at_ h (Mv w true t) h2) as At by (exists h1; exact Qh). pose proof (A _ _ At) as (_ & _ & P2).
    apply P2. apply (in_map me) in Hx. exact Hx.
Qed.
Lemma rf_lastB e u : pre F L (evs h) e -> rf_in F L u e -> B u -> noninit u -> lastB h (loc e) u.
Proof.
  intros (Fe & _ & Pl) (Fu & _ & Wu & _ & Q & Lue & K1) Bu Nu.
  assert (inB h u) as (t & Hu) by (apply (inB_flags B _ _ Fl); split; [apply Pl; auto|auto]).
  destruct (in_at _ _ Hu) as (h2 & (h1 & Qh)). exists t, h1, h2. split; [auto|split; [auto|split; [auto|]]].
  intros y (ty & Hy) Wy Qy. destruct (in_at _ _ Hy) as (h3 & (h4 & Qh1)).
  assert (at_ h (Mv y true ty) (h3 ++ Mv u true t :: h2)) as At.
  { exists h4. rewrite Qh, Qh1, <- app_assoc. reflexivity. }
  pose proof (A _ _ At) as (Fy & Ny & P2). simpl in Fy, P2.
  assert (In u (evs (h3 ++ Mv u true t :: h2))) as Iu.
  { unfold evs. rewrite map_app. apply in_app_iff. right; now left. }
  apply P2 in Iu. destruct Iu as (_ & _ & Luy).
  assert (In y (evs h)) as Iy by (apply (in_map me) in Hy; unfold evs; rewrite Qh, map_app; apply in_app_iff; auto).
  apply Pl in Iy. destruct Iy as (_ & _ & Lye).
  destruct (K1 y Fy Wy Qy Lye) as [->|Z]; [exact (l_irr F L SL _ Luy)|exact (l_asym F L SL _ _ Luy Z)].
Qed.
End Own.

Section Sound.
Variables (F : ev -> Prop) (L : relation ev) (B : ev -> Prop).
Hypotheses (W : wfE F) (SL : sto F L) (IL : initfirst F L).
Hypothesis PL : forall a b, F a -> F b -> po a b -> L a b.
Variable s : state.
Hypotheses (M : meaning hw s) (A : along F L (hist (th s))) (Fl : flags B (hist (th s))).
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
  - destruct (in_B b Hb) as (Bb & Fb & Nb & Ib). apply (H1 e b); auto. split; [|split; [|now rewrite Tb]].
    + apply Hp; auto. now apply qp_thr.
    + apply not_overtaken. intros S. apply Cb. now apply (store_cpu hw).
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
Lemma stored_B (E : ev -> Prop) e : (forall y, F y -> E y) -> R1 hw E B -> E e ->
  (forall b, In b l -> thr b = thr e -> po b e) -> stored (sd s) e = true -> B e.
Proof.
  intros FE H1 Ee Hp H. apply (stored_iff hw s e M) in H. destruct H as (N1 & N2 & _ & b & Hb & Sb & T).
  destruct (in_B b Hb) as (Bb & Fb & _ & Ib). apply (H1 e b); auto. apply store_oppo; auto.
Qed.
Lemma cpub_B (E : ev -> Prop) e : (forall y, F y -> E y) -> R1 hw E B -> E e ->
  (forall b, In b l -> thr b = thr e -> po b e) -> cpub (sd s) (thr e) = true -> B e.
Proof.
  intros FE H1 Ee Hp H. apply (m_cpub hw s M) in H. destruct H as (b & Hb & C & NS & T).
  destruct (in_B b Hb) as (Bb & Fb & _ & Ib). apply (H1 e b); auto. apply cpu_oppo; auto using not_overtaken.
Qed.

(* A read takes a store of its own thread in B where the marks say so. *)
Hypothesis Cw : forall a b, F a -> F b -> ~ B a -> B b -> wr a -> conflict a b -> L a b.
Lemma takes_own_rf e : pre F L l e -> takes_own s e = true -> exists u, rf_in F L u e /\ Model.own hw u e /\ B u.
Proof.
  intros P H. destruct (takes_own_at hw s e M H) as (Ke & w & Lw & Sw & Tw).
  assert (rd e) as Re by (unfold rd; rewrite Ke; exact I). destruct (lastB_rf F L B h IL A Fl Cw e w P Re Lw) as (Hr & Bw).
  exists w. split; [auto|split; [split; auto|auto]].
Qed.
Lemma rf_takes_own e u : pre F L l e -> rf_in F L u e -> Model.own hw u e -> B u -> cpub (sd s) (thr e) = false ->
  takes_own s e = true.
Proof.
  intros P Hr (Tu & Su & Ke) Bu C. apply (own_at_takes hw s e M); [|now apply (cpub_not hw s _ M)].
  split; [auto|]. exists u. split; [|auto]. apply (rf_lastB F L B h); auto.
  unfold noninit. destruct Su as (_ & ->). discriminate.
Qed.

Lemma forced_B e : R1 hw F B -> R3 hw F B -> (forall a b, F a -> F b -> ~ B a -> B b -> conflict a b ->
    L a b \/ exists u, rf_in F L u a /\ Model.own hw u a /\ B u) ->
  pre F L l e -> forced hw s e = true -> B e.
Proof.
  intros H1 H3 Cii P H. pose proof P as (Fe & Ne & Pl).
  assert (forall b, In b l -> thr b = thr e -> po b e) as Hp by (intros; eapply pre_po; eauto).
  assert (cpub (sd s) (thr e) = true -> B e) as Hc by (intros; apply cpub_B with (E := F); auto).
  unfold forced, oppo_forces in H. rewrite !orb_true_iff, !andb_true_iff in H. destruct H as [[[H|H]|(Ce & H)]|(H & N)].
  - auto.
  - apply stored_B with (E := F); auto.
  - apply nic_forces_B with (E := F); auto. apply cpu_not. now destruct (cpu_b e).
  - apply (forces_F4 s M) in H. destruct H as (b & Hb & Ab & Ae & Wb & Q). destruct (in_B b Hb) as (Bb & Fb & Nb & Ib).
    apply NNPP. intros NB. destruct (Cii e b) as [Z|(u & Hu & O & Bu)]; auto.
    + apply conflict_intro; [intros ->; tauto|tauto|auto|auto|congruence].
    + apply (l_asym F L SL b e); [now apply Pl|auto].
    + destruct (cpub (sd s) (thr e)) eqn:C; [now apply NB, Hc|].
      rewrite (rf_takes_own e u P Hu O Bu C) in N. discriminate.
Qed.
End Sound.
End Forced.
