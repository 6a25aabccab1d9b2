(* What the marks of the search mean: each is a set of events of the run so far. *)
Require Import List Arith Bool Lia Classical.
Import ListNotations.
From RR Require Import Model Hardware Search.

Section Bools.
Context {U : events} {K : searchable}.
Lemma cpu_iff e : cpu_b e = true <-> cpu e.
Proof. unfold cpu_b, cpu, is_cpu; destruct (knd e); simpl; split; intros; auto; try discriminate; tauto. Qed.
Lemma wr_iff e : wr_b e = true <-> wr e.
Proof. unfold wr_b, wr, is_w; destruct (knd e); simpl; split; intros; auto; try discriminate; tauto. Qed.
Lemma rd_iff e : rd_b e = true <-> rd e.
Proof. unfold rd_b, rd, is_r; destruct (knd e); simpl; split; intros; auto; try discriminate; tauto. Qed.
Lemma is_iff k e : is k e = true <-> knd e = k.
Proof. unfold is; destruct (kind_dec (knd e) k); split; intros; auto; discriminate. Qed.
Lemma cpu_not e : cpu_b e = false <-> ~ cpu e.
Proof. rewrite <- cpu_iff; destruct (cpu_b e); intuition congruence. Qed.
Lemma upd_iff f x y : upd f x true y = true <-> f y = true \/ x = y.
Proof. unfold upd; destruct (Nat.eqb_spec y x); intuition congruence. Qed.
Lemma updq_iff f q y : updq f q true y = true <-> f y = true \/ q = y.
Proof. unfold updq; destruct (qp_dec y q); intuition congruence. Qed.
Lemma updq_same {A} f q (v : A) : updq f q v q = v.
Proof. unfold updq; destruct (qp_dec q q); congruence. Qed.
Lemma updq_other {A} f q (v : A) y : y <> q -> updq f q v y = f y.
Proof. unfold updq; destruct (qp_dec y q); congruence. Qed.
Lemma upd_same {A} f x (v : A) : upd f x v x = v.
Proof. unfold upd; now rewrite Nat.eqb_refl. Qed.
Lemma upd_other {A} f x (v : A) y : y <> x -> upd f x v y = f y.
Proof. unfold upd; destruct (Nat.eqb_spec y x); congruence. Qed.
(* two events conflict, or are the same *)
Definition conf y e := (wr y \/ rd y) /\ (wr e \/ rd e) /\ (wr y \/ wr e) /\ loc y = loc e.
End Bools.

Section Marks.
Context {U : events} {K : searchable}.

Definition at_ (h : list move) mv h2 := exists h1, h = h1 ++ mv :: h2.
Lemma at_cons mv' h mv h2 : at_ (mv' :: h) mv h2 <-> (mv' = mv /\ h = h2) \/ at_ h mv h2.
Proof.
  split.
  - intros ([|x h1] & H); simpl in H; inversion H; subst; [auto|right; now exists h1].
  - intros [(-> & ->)|(h1 & ->)]; [now exists []|now exists (mv' :: h1)].
Qed.
Lemma at_in h mv h2 : at_ h mv h2 -> In mv h.
Proof. intros (h1 & ->). apply in_app_iff; right; now left. Qed.
Lemma in_at h mv : In mv h -> exists h2, at_ h mv h2.
Proof. intros H. destruct (in_split _ _ H) as (h1 & h2 & ->). exists h2; now exists h1. Qed.
Lemma at_in2 h mv h2 y : at_ h mv h2 -> In y h2 -> In y h.
Proof. intros (h1 & ->) H. apply in_app_iff; right; now right. Qed.

Definition inB h e := exists t, In (Mv e true t) h.
Lemma inB_cons e b t h x : inB (Mv e b t :: h) x <-> (b = true /\ e = x) \/ inB h x.
Proof.
  unfold inB; split.
  - intros (t' & [H|H]); [inversion H; subst; auto|eauto].
  - intros [(-> & ->)|(t' & H)]; [exists t; now left|exists t'; now right].
Qed.

(* An nlW, or an nrW with an nlR of its queue pair before it: what the code calls forcing *)
Definition forcing_at h w h2 := exists t, at_ h (Mv w true t) h2 /\
  (knd w = NLW \/ (knd w = NRW /\ exists e, inB h2 e /\ knd e = NLR /\ qp e = qp w)).

Record meaning (s : state) : Prop := {
  m_cpub : forall t, cpub (sd s) t = true <-> exists e, inB (hist (th s)) e /\ cpu e /\ thr e = t;
  m_typ : forall q k, typ (sd s) q k = true <-> exists e, inB (hist (th s)) e /\ ~ cpu e /\ qp e = q /\ knd e = k;
  m_fen : forall q, fen (sd s) q = true <-> exists f t h2 w, at_ (hist (th s)) (Mv f false t) h2 /\ knd f = NF /\
    qp f = q /\
            inB h2 w /\ knd w = NLW /\ qp w = q;
  m_fod : forall q, fod (sd s) q = true <-> exists w h2, forcing_at (hist (th s)) w h2 /\ qp w = q;
  m_cr : forall c, cr (acc s) c = true <-> exists e, inB (hist (th s)) e /\ rd e /\ loc e = c;
  m_cw : forall c, cw (acc s) c = true <-> exists e, inB (hist (th s)) e /\ wr e /\ loc e = c;
}.

Lemma forcing_cons mv h w h2 : forcing_at (mv :: h) w h2 <->
  (mb mv = true /\ me mv = w /\ h = h2 /\
   (knd w = NLW \/ (knd w = NRW /\ exists e, inB h e /\ knd e = NLR /\ qp e = qp w))) \/
  forcing_at h w h2.
Proof.
  unfold forcing_at; split.
  - intros (t & H & X). rewrite at_cons in H. destruct H as [(-> & ->)|H]; [left; auto|right; eauto].
  - intros [(Hb & <- & -> & X)|(t & H & X)].
    + exists (mt mv). rewrite at_cons. split; [left; split; [destruct mv; simpl in *; now subst|auto]|auto].
    + exists t. rewrite at_cons. eauto.
Qed.

Lemma meaning_start mem0 : meaning (start_state mem0).
Proof.
  constructor; intros; simpl; (split; [discriminate|]).
  - intros (e & (t' & []) & _).
  - intros (e & (t' & []) & _).
  - intros (f & t & h2 & w & ([|] & H) & _); discriminate.
  - intros (w & h2 & (t & ([|] & H) & _) & _); discriminate.
  - intros (e & (t' & []) & _).
  - intros (e & (t' & []) & _).
Qed.

Lemma meaning_alpha s e : meaning s -> meaning (after_alpha s e).
Proof.
  intros M; constructor; simpl; intros.
  - replace (cpub (sides_alpha (sd s) e)) with (cpub (sd s)) by (unfold sides_alpha; now destruct (_ && _)).
    rewrite (m_cpub s M). split; intros (x & H & X); exists x; rewrite inB_cons in *; split; auto.
    destruct H as [(H & _)|H]; [discriminate|auto].
  - replace (typ (sides_alpha (sd s) e)) with (typ (sd s)) by (unfold sides_alpha; now destruct (_ && _)).
    rewrite (m_typ s M). split; intros (x & H & X); exists x; rewrite inB_cons in *; split; auto.
    destruct H as [(H & _)|H]; [discriminate|auto].
  - transitivity (fen (sd s) q = true \/ (knd e = NF /\ qp e = q /\ typ (sd s) q NLW = true)).
    { unfold sides_alpha. destruct (is NF e) eqn:I; simpl.
      - apply is_iff in I. destruct (typ (sd s) (qp e) NLW) eqn:Y; simpl.
        + rewrite updq_iff. intuition congruence.
        + intuition congruence.
      - assert (knd e <> NF) by (intros J; apply is_iff in J; congruence). tauto. }
    rewrite (m_fen s M), (m_typ s M). split.
    + intros [(f & t & h2 & w & H & X)|(Ke & Qe & w & Hw & _ & Qw & Kw)].
      * exists f, t, h2, w. rewrite at_cons. tauto.
      * exists e, (reached s e), (hist (th s)), w. rewrite at_cons. tauto.
    + intros (f & t & h2 & w & H & Kf & Qf & Hw & Kw & Qw). rewrite at_cons in H. destruct H as [(H & <-)|H].
      * right. inversion H; subst. repeat split; auto. exists w; repeat split; auto.
        unfold cpu; rewrite Kw; simpl; auto.
      * left. exists f, t, h2, w; tauto.
  - replace (fod (sides_alpha (sd s) e)) with (fod (sd s)) by (unfold sides_alpha; now destruct (_ && _)).
    rewrite (m_fod s M). split; intros (w & h2 & H & Q); exists w, h2; rewrite forcing_cons in *; simpl in *; split; auto.
    destruct H as [(H & _)|H]; [discriminate|auto].
  - rewrite (m_cr s M). split; intros (x & H & X); exists x; rewrite inB_cons in *; split; auto.
    destruct H as [(H & _)|H]; [discriminate|auto].
  - rewrite (m_cw s M). split; intros (x & H & X); exists x; rewrite inB_cons in *; split; auto.
    destruct H as [(H & _)|H]; [discriminate|auto].
Qed.

Lemma forces_iff s e : meaning s -> forces (sd s) e = true <->
  knd e = NLW \/ (knd e = NRW /\ (fod (sd s) (qp e) = true \/ exists x, inB (hist (th s)) x /\ knd x = NLR /\
    qp x = qp e)).
Proof.
  intros M. unfold forces. rewrite orb_true_iff, andb_true_iff, orb_true_iff, !is_iff, (m_typ s M).
  split; intros [H|(H & [X|X])]; auto; right; split; auto; right; destruct X as (x & X); exists x.
  - tauto.
  - destruct X as (X & Y & Z). repeat split; auto. unfold cpu; rewrite Y; simpl; auto.
Qed.

Lemma meaning_beta c s e : meaning s -> meaning (after_beta c s e).
Proof.
  intros M; constructor; simpl; intros.
  - transitivity (cpub (sd s) t = true \/ (cpu e /\ thr e = t)).
    { unfold sides_beta. destruct (cpu_b e) eqn:I; simpl.
      - apply cpu_iff in I. rewrite upd_iff. tauto.
      - apply cpu_not in I. tauto. }
    rewrite (m_cpub s M). split.
    + intros [(x & H & X)|X]; [exists x|exists e]; rewrite inB_cons; tauto.
    + intros (x & H & X). rewrite inB_cons in H. destruct H as [(_ & <-)|H]; [auto|left; eauto].
  - transitivity (typ (sd s) q k = true \/ (~ cpu e /\ qp e = q /\ knd e = k)).
    { unfold sides_beta. destruct (cpu_b e) eqn:I; simpl.
      - apply cpu_iff in I. tauto.
      - apply cpu_not in I. unfold updq. destruct (qp_dec q (qp e)) as [->|].
        + rewrite orb_true_iff, is_iff. tauto.
        + intuition congruence. }
    rewrite (m_typ s M). split.
    + intros [(x & H & X)|X]; [exists x|exists e]; rewrite inB_cons; tauto.
    + intros (x & H & X). rewrite inB_cons in H. destruct H as [(_ & <-)|H]; [auto|left; eauto].
  - replace (fen (sides_beta (sd s) e)) with (fen (sd s)) by (unfold sides_beta; now destruct (cpu_b e)).
    rewrite (m_fen s M). split; intros (f & t & h2 & w & H & X); exists f, t, h2, w; rewrite at_cons in *; split;
      try tauto.
    destruct H as [(H & _)|H]; [discriminate|auto].
  - transitivity (fod (sd s) q = true \/ (qp e = q /\ forces (sd s) e = true)).
    { unfold sides_beta. destruct (cpu_b e) eqn:I; simpl.
      - split; [auto|]. intros [H|(_ & H)]; [auto|]. apply cpu_iff in I. unfold cpu, forces in *.
        unfold is in H. destruct (knd e); simpl in *; try tauto; discriminate.
      - destruct (forces (sd s) e); [rewrite updq_iff; tauto|intuition discriminate]. }
    rewrite (forces_iff s e M). rewrite (m_fod s M). split.
    + intros [(w & h2 & H & Q)|(Q & [H|(H & [X|X])])].
      * exists w, h2. rewrite forcing_cons. tauto.
      * exists e, (hist (th s)). rewrite forcing_cons; simpl. tauto.
      * apply (m_fod s M) in X. destruct X as (w & h2 & X & Qw). exists w, h2. rewrite forcing_cons.
        split; [tauto|congruence].
      * exists e, (hist (th s)). rewrite forcing_cons; simpl. tauto.
    + intros (w & h2 & H & Q). rewrite forcing_cons in H. simpl in H.
      destruct H as [(_ & <- & <- & H)|H]; [right|left; eauto].
      split; [auto|]. tauto.
  - unfold left_by; simpl. transitivity (cr (acc s) c0 = true \/ (rd e /\ loc e = c0)).
    { destruct (rd_b e) eqn:I; [apply rd_iff in I; rewrite upd_iff; tauto|].
      assert (~ rd e) by (intros J; apply rd_iff in J; congruence). tauto. }
    rewrite (m_cr s M). split.
    + intros [(x & H & X)|X]; [exists x|exists e]; rewrite inB_cons; tauto.
    + intros (x & H & X). rewrite inB_cons in H. destruct H as [(_ & <-)|H]; [auto|left; eauto].
  - unfold left_by; simpl. transitivity (cw (acc s) c0 = true \/ (wr e /\ loc e = c0)).
    { destruct (wr_b e) eqn:I; [apply wr_iff in I; rewrite upd_iff; tauto|].
      assert (~ wr e) by (intros J; apply wr_iff in J; congruence). tauto. }
    rewrite (m_cw s M). split.
    + intros [(x & H & X)|X]; [exists x|exists e]; rewrite inB_cons; tauto.
    + intros (x & H & X). rewrite inB_cons in H. destruct H as [(_ & <-)|H]; [auto|left; eauto].
Qed.

Lemma meaning_begun c s : meaning s -> meaning (begun c s).
Proof. intros M; constructor; simpl; apply M. Qed.

(* Conflicts as the marks see them *)
Lemma meets_marks_iff (P : ev -> Prop) m e : (forall c, cr m c = true <-> exists x, P x /\ rd x /\ loc x = c) ->
  (forall c, cw m c = true <-> exists x, P x /\ wr x /\ loc x = c) ->
  (meets_marks m e = true <-> exists x, P x /\ conf x e).
Proof.
  intros R W. unfold meets_marks. rewrite orb_true_iff, !andb_true_iff, orb_true_iff, R, W, !rd_iff, !wr_iff. unfold conf.
  split.
  - intros [(We & x & H & Rx & L)|(A & x & H & Wx & L)]; exists x; tauto.
  - intros (x & H & [Wx|Rx] & A & B & L); [right|]; [split; [tauto|exists x; tauto]|].
    destruct (classic (wr e)); [left; split; [auto|exists x; tauto]|right; split; [tauto|exists x; tauto]].
Qed.

(* Taint and "closed" *)
Definition inT h e := exists b, In (Mv e b true) h.
Lemma inT_cons e b t h x : inT (Mv e b t :: h) x <-> (t = true /\ e = x) \/ inT h x.
Proof.
  unfold inT; split.
  - intros (t' & [H|H]); [inversion H; subst; auto|eauto].
  - intros [(-> & ->)|(t' & H)]; [exists b; now left|exists t'; now right].
Qed.
Record tainting (s : state) : Prop := {
  n_tth : clo (tn s) = false -> forall t, tth (tn s) t = true <-> exists e, inT (hist (th s)) e /\ thr e = t;
  n_cr : clo (tn s) = false -> forall c, cr (tce (tn s)) c = true <-> exists e, inT (hist (th s)) e /\ rd e /\ loc e = c;
  n_cw : clo (tn s) = false -> forall c, cw (tce (tn s)) c = true <-> exists e, inT (hist (th s)) e /\ wr e /\ loc e = c;
  n_spread : clo (tn s) = false -> forall e b h2 y, at_ (hist (th s)) (Mv e b false) h2 -> inT h2 y ->
             thr y <> thr e /\ ~ conf y e;
  n_open : clo (tn s) = false -> forall e b c, In (Mv e b true) (hist (th s)) -> cls s = Some c ->
             own c e = false /\ (b = false -> meets c e = false);
  n_meets : forall e c, In (Mv e true false) (hist (th s)) -> cls s = Some c -> meets c e = false;
  n_why : forall e b h2, at_ (hist (th s)) (Mv e b true) h2 ->
            (exists y, inT h2 y /\ (thr y = thr e \/ conf y e)) \/
            (b = true /\ exists c, cls s = Some c /\ meets c e = true);
  n_clo : clo (tn s) = true -> exists c e b, cls s = Some c /\ In (Mv e b true) (hist (th s)) /\
             (own c e = true \/ (b = false /\ meets c e = true));
  n_none : cls s = None -> forall mv, In mv (hist (th s)) -> mb mv = false /\ mt mv = false;
  n_none2 : cls s = None -> clo (tn s) = false;
  n_empty : clo (tn s) = true -> (forall t, tth (tn s) t = false) /\ forall e, meets_marks (tce (tn s)) e = false;
}.

Lemma reached_iff s e : tainting s -> clo (tn s) = false ->
  (reached s e = true <-> exists y, inT (hist (th s)) y /\ (thr y = thr e \/ conf y e)).
Proof.
  intros T C. unfold reached. rewrite orb_true_iff, (n_tth s T C).
  rewrite (meets_marks_iff (inT (hist (th s))) _ e (n_cr s T C) (n_cw s T C)).
  split; [intros [(y & H & X)|(y & H & X)]; exists y; tauto|intros (y & H & [X|X]); [left|right]; exists y; tauto].
Qed.
Lemma reached_clo s e : tainting s -> clo (tn s) = true -> reached s e = false.
Proof. intros T C. destruct (n_empty s T C) as (H & X). unfold reached. now rewrite H, X. Qed.

(* one step more, of either part *)
Section Grow.
Variables (s s' : state) (e : ev) (b t closing : bool).
Hypothesis T : tainting s.
Hypothesis Hh : hist (th s') = Mv e b t :: hist (th s).
Hypothesis Hn : tn s' = spreading (tn s) e t closing.
Hypothesis Hc : cls s' = None -> b = false /\ closing = false /\ cls s = None.
Hypothesis Hs : forall c, cls s' = Some c -> (cls s = Some c \/ cls s = None) /\
  (closing = true <-> own c e = true \/ (b = false /\ meets c e = true)).
Hypothesis Ht : t = true <-> reached s e = true \/ (b = true /\ exists c, cls s' = Some c /\ meets c e = true).

Lemma tainting_grow : tainting s'.
Proof.
  assert (clo (tn s') = false -> clo (tn s) = false /\ (t = true -> closing = false)) as C1.
  { rewrite Hn. unfold spreading. destruct (clo (tn s)); simpl; [discriminate|].
    destruct t, closing; simpl; auto; discriminate. }
  assert (clo (tn s') = false -> tn s' =
    if t then Tnt (left_by (tce (tn s)) e) (upd (tth (tn s)) (thr e) true) false else tn s) as C2.
  { rewrite Hn. unfold spreading. destruct (clo (tn s)); simpl; [discriminate|].
    destruct t, closing; simpl; auto; discriminate. }
  constructor; rewrite ?Hh.
  - intros C u. rewrite (C2 C). destruct (C1 C) as (C' & _). destruct t; simpl.
    + rewrite upd_iff, (n_tth s T C'). split.
      * intros [(x & H & X)|X]; [exists x|exists e]; rewrite inT_cons; tauto.
      * intros (x & H & X). rewrite inT_cons in H. destruct H as [(_ & <-)|H]; [auto|left; eauto].
    + rewrite (n_tth s T C'). split; intros (x & H & X); exists x; rewrite inT_cons in *; split; auto.
      destruct H as [(H & _)|H]; [discriminate|auto].
  - intros C u. rewrite (C2 C). destruct (C1 C) as (C' & _). destruct t; simpl.
    + transitivity (cr (tce (tn s)) u = true \/ (rd e /\ loc e = u)).
      { destruct (rd_b e) eqn:I; [apply rd_iff in I; rewrite upd_iff; tauto|].
        assert (~ rd e) by (intros J; apply rd_iff in J; congruence). tauto. }
      rewrite (n_cr s T C'). split.
      * intros [(x & H & X)|X]; [exists x|exists e]; rewrite inT_cons; tauto.
      * intros (x & H & X). rewrite inT_cons in H. destruct H as [(_ & <-)|H]; [auto|left; eauto].
    + rewrite (n_cr s T C'). split; intros (x & H & X); exists x; rewrite inT_cons in *; split; auto.
      destruct H as [(H & _)|H]; [discriminate|auto].
  - intros C u. rewrite (C2 C). destruct (C1 C) as (C' & _). destruct t; simpl.
    + transitivity (cw (tce (tn s)) u = true \/ (wr e /\ loc e = u)).
      { destruct (wr_b e) eqn:I; [apply wr_iff in I; rewrite upd_iff; tauto|].
        assert (~ wr e) by (intros J; apply wr_iff in J; congruence). tauto. }
      rewrite (n_cw s T C'). split.
      * intros [(x & H & X)|X]; [exists x|exists e]; rewrite inT_cons; tauto.
      * intros (x & H & X). rewrite inT_cons in H. destruct H as [(_ & <-)|H]; [auto|left; eauto].
    + rewrite (n_cw s T C'). split; intros (x & H & X); exists x; rewrite inT_cons in *; split; auto.
      destruct H as [(H & _)|H]; [discriminate|auto].
  - intros C x b' h2 y H Y. destruct (C1 C) as (C' & _). rewrite at_cons in H. destruct H as [(H & <-)|H].
    + inversion H; subst. assert (reached s x <> true) as N by (intros R; assert (false = true) by tauto; discriminate).
      rewrite (reached_iff s x T C') in N. split; intros Z; apply N; eauto.
    + eapply (n_spread s T C'); eauto.
  - intros C x b' c [H|H] Q; destruct (C1 C) as (C' & C3).
    + inversion H; subst. destruct (Hs c Q) as (_ & X). specialize (C3 eq_refl).
      destruct (own c x) eqn:O, (meets c x) eqn:Y; split; auto;
        try (intros ->); try (assert (closing = true) by tauto; congruence).
    + destruct (Hs c Q) as ([X|X] & _); [eapply (n_open s T C'); eauto|].
      destruct (n_none s T X _ H) as (_ & Z). discriminate.
  - intros x c [H|H] Q.
    + inversion H; subst. destruct (meets c x) eqn:Y; auto. assert (false = true); [|discriminate]. apply Ht. right.
      eauto.
    + destruct (Hs c Q) as ([X|X] & _); [eapply (n_meets s T); eauto|].
      destruct (n_none s T X _ H) as (Z & _). discriminate.
  - intros x b' h2 H. rewrite at_cons in H. destruct H as [(H & <-)|H].
    + inversion H; subst. destruct (proj1 Ht eq_refl) as [R|R]; [left|right; auto].
      destruct (clo (tn s)) eqn:C; [rewrite (reached_clo s x T C) in R; discriminate|]. now apply reached_iff.
    + destruct (n_why s T _ _ _ H) as [X|(-> & c & X & Y)]; [auto|right; split; auto]. exists c; split; auto.
      destruct (cls s') as [c'|] eqn:Q; [destruct (Hs c' eq_refl) as ([Z|Z] & _); congruence|].
      destruct (Hc eq_refl) as (_ & _ & Z). congruence.
  - intros C. destruct (clo (tn s)) eqn:C'.
    + destruct (n_clo s T C') as (c & x & b' & Q & H & X). exists c, x, b'. split; [|split; [now right|auto]].
      destruct (cls s') as [c'|] eqn:Q'; [destruct (Hs c' eq_refl) as ([Z|Z] & _); congruence|].
      destruct (Hc eq_refl) as (_ & _ & Z). congruence.
    + rewrite Hn in C. unfold spreading in C. rewrite C' in C. simpl in C.
      destruct t; simpl in C; [|congruence]. destruct closing eqn:Cl; simpl in C; [|discriminate].
      destruct (cls s') as [c'|] eqn:Q'; [|destruct (Hc eq_refl) as (_ & Z & _); congruence].
      destruct (Hs c' eq_refl) as (_ & Z). exists c', e, b. split; [auto|split; [now left|tauto]].
  - intros Q mv [<-|H]; destruct (Hc Q) as (-> & _ & Q').
    + simpl. split; [auto|]. destruct t; [|auto]. destruct (proj1 Ht eq_refl) as [R|(R & _)]; [|discriminate].
      pose proof (n_none2 s T Q') as C. rewrite (reached_iff s e T C) in R. destruct R as (y & (b' & Y) & _).
      destruct (n_none s T Q' _ Y) as (_ & Z). discriminate.
    + now apply (n_none s T Q').
  - intros Q. destruct (Hc Q) as (Hb & Hcl & Q'). pose proof (n_none2 s T Q') as C. rewrite Hn. unfold spreading.
    rewrite C, Hcl. rewrite andb_false_r. simpl. destruct t; auto.
  - intros C. destruct (clo (tn s)) eqn:C'.
    + rewrite Hn. unfold spreading. rewrite C'. simpl. split; [auto|].
      intros x. unfold meets_marks; simpl. now rewrite !andb_false_r.
    + rewrite Hn in C |- *. unfold spreading in *. rewrite C' in *. simpl in *. destruct t; simpl in *; [|congruence].
      destruct closing; simpl in *; [|discriminate]. split; [auto|].
      intros x. unfold meets_marks; simpl. now rewrite !andb_false_r.
Qed.
End Grow.

Lemma tainting_start mem0 : tainting (start_state mem0).
Proof.
  constructor; simpl; try discriminate; try tauto.
  - intros _ t; split; [discriminate|]. intros (e & (b & []) & _).
  - intros _ t; split; [discriminate|]. intros (e & (b & []) & _).
  - intros _ t; split; [discriminate|]. intros (e & (b & []) & _).
  - intros _ e b h2 y ([|] & H); discriminate.
  - intros e b h2 ([|] & H); discriminate.
Qed.
Lemma tainting_alpha s e : tainting s -> tainting (after_alpha s e).
Proof.
  intros T. apply (tainting_grow s _ e false (reached s e) (closing_alpha s e)); auto; unfold closing_alpha; simpl.
  - intros ->. auto.
  - intros c ->. split; [auto|]. rewrite orb_true_iff. tauto.
  - intuition discriminate.
Qed.
Lemma tainting_beta c s e : cls s = Some c -> tainting s -> tainting (after_beta c s e).
Proof.
  intros Q T. apply (tainting_grow s _ e true (reached s e || meets c e) (own c e)); auto; simpl.
  - congruence.
  - intros c' Q'. rewrite Q in Q'. inversion Q'; subst. split; [auto|]. intuition discriminate.
  - rewrite orb_true_iff, Q. split; [intros [H|H]; eauto|]. intros [H|(_ & c' & Q' & H)]; [auto|].
    inversion Q'; subst; auto.
Qed.
Lemma tainting_begun c s : cls s = None -> tainting s -> tainting (begun c s).
Proof.
  intros Q T. pose proof (n_none s T Q) as N. constructor; simpl; try apply T.
  - intros C e b c' H _. destruct (N _ H) as (_ & X). discriminate.
  - intros e c' H _. destruct (N _ H) as (X & _). discriminate.
  - intros e b h2 H. destruct (N _ (at_in _ _ _ H)) as (_ & X). discriminate.
  - rewrite (n_none2 s T Q). discriminate.
  - discriminate.
  - discriminate.
Qed.
End Marks.

Theorem reach_meaning {U : events} {K : searchable} hw zero ini mem0 ctl hope s :
  reach hw zero ini mem0 ctl hope s -> meaning s.
Proof.
  induction 1 as [|s s' _ M H]; [apply meaning_start|].
  inversion H; subst; auto using meaning_alpha, meaning_beta, meaning_begun.
Qed.
Theorem reach_tainting {U : events} {K : searchable} hw zero ini mem0 ctl hope s :
  reach hw zero ini mem0 ctl hope s -> tainting s.
Proof.
  induction 1 as [|s s' _ T H]; [apply tainting_start|].
  inversion H; subst; auto using tainting_alpha, tainting_beta, tainting_begun.
Qed.
