(* What the marks of the search mean: each is a set of events of the run so far. *)
Require Import List Arith Bool Lia Classical.
Import ListNotations.
From RR Require Import Model Hardware Orders Cells Search.

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
Lemma store_iff hw e : store_b hw e = true <-> store hw e.
Proof. unfold store_b, store. rewrite andb_true_iff, is_iff. tauto. Qed.
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
Context {U : events} {K : searchable} (hw : hardware).

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

(* no CPU event of the thread is in B, but stores that wait *)
Definition alone_ h t := forall y, inB h y -> cpu y -> ~ store hw y -> thr y <> t.
(* the last write of B to a cell *)
Definition lastB h x w := exists t h1 h2, h = h1 ++ Mv w true t :: h2 /\ wr w /\ loc w = x /\
  forall y, inB h1 y -> wr y -> loc y <> x.
Lemma lastB_cons e b t h x w : lastB (Mv e b t :: h) x w <->
  (b = true /\ wr e /\ loc e = x /\ w = e) \/ (lastB h x w /\ ~ (b = true /\ wr e /\ loc e = x)).
Proof.
  split.
  - intros (t' & h1 & h2 & Q & Ww & Lw & N). destruct h1 as [|mv h1]; simpl in Q; inversion Q; subst; [left; auto|right].
    split.
    + exists t', h1, h2. split; [auto|split; [auto|split; [auto|]]]. intros y Hy. apply N. apply inB_cons. auto.
    + intros (-> & We & Q'). apply (N e); auto. apply inB_cons. auto.
  - intros [(-> & We & Le & ->)|((t' & h1 & h2 & -> & Ww & Lw & N) & No)].
    + exists t, [], h. split; [auto|split; [auto|split; [auto|]]]. intros y (t' & []).
    + exists t', (Mv e b t :: h1), h2. split; [auto|split; [auto|split; [auto|]]]. intros y Hy Wy Ly.
      apply inB_cons in Hy. destruct Hy as [(-> & <-)|Hy]; [tauto|exact (N y Hy Wy Ly)].
Qed.
Lemma lastB_in h x w : lastB h x w -> inB h w /\ wr w /\ loc w = x.
Proof. intros (t & h1 & h2 & -> & Ww & Lw & _). split; [|auto]. exists t. apply in_app_iff. right; now left. Qed.

(* An nlW, or an nrW with an nlR of its queue pair before it, or behind a store of a thread that is alone: what the code calls
   forcing *)
Definition behind h w := exists e, inB h e /\
  ((knd e = NLR /\ qp e = qp w) \/ (store hw e /\ thr e = thr w /\ alone_ h (thr w))).
Definition forcing_at h w h2 := exists t, at_ h (Mv w true t) h2 /\ (knd w = NLW \/ (knd w = NRW /\ behind h2 w)).

Record meaning (s : state) : Prop := {
  m_cpub : forall t, cpub (sd s) t = true <-> exists e, inB (hist (th s)) e /\ cpu e /\ ~ store hw e /\ thr e = t;
  m_stob : forall t, stob (sd s) t = true <-> (exists e, inB (hist (th s)) e /\ store hw e /\ thr e = t) /\
    cpub (sd s) t = false;
  m_typ : forall q k, typ (sd s) q k = true <-> exists e, inB (hist (th s)) e /\ ~ cpu e /\ qp e = q /\ knd e = k;
  m_fen : forall q, fen (sd s) q = true <-> exists f t h2 w, at_ (hist (th s)) (Mv f false t) h2 /\ knd f = NF /\
    qp f = q /\
            inB h2 w /\ knd w = NLW /\ qp w = q;
  m_fod : forall q, fod (sd s) q = true <-> exists w h2, forcing_at (hist (th s)) w h2 /\ qp w = q;
  m_cr : forall c, cr (acc s) c = true <-> exists e, inB (hist (th s)) e /\ rd e /\ loc e = c;
  m_cw : forall c, cw (acc s) c = true <-> exists e, inB (hist (th s)) e /\ wr e /\ loc e = c;
  m_own : forall t x, fwd s x = Some t -> exists w, lastB (hist (th s)) x w /\ store hw w /\ thr w = t;
  m_own2 : forall x w, lastB (hist (th s)) x w -> store hw w -> cpub (sd s) (thr w) = false -> fwd s x = Some (thr w);
}.
Lemma cpub_not s t : meaning s -> (cpub (sd s) t = false <-> alone_ (hist (th s)) t).
Proof.
  intros M. split.
  - intros Q y Hy C N T. assert (cpub (sd s) t = true); [|congruence]. apply (m_cpub s M). exists y. auto.
  - intros A. destruct (cpub (sd s) t) eqn:Q; auto. apply (m_cpub s M) in Q. destruct Q as (e & He & C & N & T).
    destruct (A e He C N T).
Qed.
Lemma stored_iff s e : meaning s -> (stored (sd s) e = true <-> knd e <> LR /\ knd e <> Poll /\
  alone_ (hist (th s)) (thr e) /\ exists b, inB (hist (th s)) b /\ store hw b /\ thr b = thr e).
Proof.
  intros M. unfold stored. rewrite !andb_true_iff, !negb_true_iff, (m_stob s M), <- (cpub_not s _ M).
  assert (forall k, is k e = false <-> knd e <> k) as N.
  { intros k. rewrite <- (is_iff k e). destruct (is k e); intuition congruence. }
  rewrite !N. tauto.
Qed.

Lemma forcing_cons mv h w h2 : forcing_at (mv :: h) w h2 <->
  (mb mv = true /\ me mv = w /\ h = h2 /\ (knd w = NLW \/ (knd w = NRW /\ behind h w))) \/
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
  constructor; intros; simpl; try (split; [discriminate|]); try discriminate.
  - intros (e & (t' & []) & _).
  - intros ((e & (t' & []) & _) & _).
  - intros (e & (t' & []) & _).
  - intros (f & t & h2 & w & ([|] & H) & _); discriminate.
  - intros (w & h2 & (t & ([|] & H) & _) & _); discriminate.
  - intros (e & (t' & []) & _).
  - intros (e & (t' & []) & _).
  - destruct H as (t & [|] & h2 & Q & _); discriminate.
Qed.

Lemma inB_alpha e t h x : inB (Mv e false t :: h) x <-> inB h x.
Proof. rewrite inB_cons. intuition discriminate. Qed.
Lemma lastB_alpha e t h x w : lastB (Mv e false t :: h) x w <-> lastB h x w.
Proof. rewrite lastB_cons. intuition discriminate. Qed.
Lemma meaning_alpha s e : meaning s -> meaning (after_alpha s e).
Proof.
  intros M. assert (forall s0, cpub (sides_alpha s0 e) = cpub s0 /\ stob (sides_alpha s0 e) = stob s0 /\
    typ (sides_alpha s0 e) = typ s0 /\ fod (sides_alpha s0 e) = fod s0) as Same.
  { intros s0. unfold sides_alpha. now destruct (_ && _). }
  destruct (Same (sd s)) as (S1 & S2 & S3 & S4).
  assert (forall P : ev -> Prop, (exists x, inB (Mv e false (reached s e) :: hist (th s)) x /\ P x) <->
    exists x, inB (hist (th s)) x /\ P x) as Ex.
  { intros P. split; intros (x & H & X); exists x; (split; [|exact X]); now rewrite inB_alpha in *. }
  constructor; simpl; intros; rewrite ?S1, ?S2, ?S3, ?S4.
  - rewrite Ex. apply (m_cpub s M).
  - rewrite Ex. apply (m_stob s M).
  - rewrite Ex. apply (m_typ s M).
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
  - rewrite (m_fod s M). split; intros (w & h2 & H & Q); exists w, h2; rewrite forcing_cons in *; simpl in *; split; auto.
    destruct H as [(H & _)|H]; [discriminate|auto].
  - rewrite Ex. apply (m_cr s M).
  - rewrite Ex. apply (m_cw s M).
  - destruct (m_own s M t x H) as (w & Lw & X). exists w. split; [apply (proj2 (lastB_alpha _ _ _ _ _)); exact Lw|auto].
  - apply (proj1 (lastB_alpha _ _ _ _ _)) in H. rewrite S1 in H1. now apply (m_own2 s M).
Qed.

Lemma forces_iff s e : meaning s -> forces (sd s) e = true <->
  knd e = NLW \/ (knd e = NRW /\ (fod (sd s) (qp e) = true \/ behind (hist (th s)) e)).
Proof.
  intros M. unfold forces. rewrite orb_true_iff, andb_true_iff, !orb_true_iff, !is_iff, (m_typ s M), (stored_iff s e M).
  unfold behind. split; intros [H|(H & X)]; auto; right; (split; [auto|]).
  - destruct X as [[X|(x & X)]|(_ & _ & A & x & X)]; [auto|right; exists x; tauto|right; exists x; tauto].
  - destruct X as [X|(x & X & [(Y & Z)|(Y & Z & A)])]; [auto|left; right; exists x|right].
    + repeat split; auto. unfold cpu; rewrite Y; simpl; auto.
    + split; [congruence|split; [congruence|split; [auto|eauto]]].
Qed.

(* what the sides are behind an event of beta *)
Lemma beta_cpub d e t : cpub (sides_beta hw d e) t = true <-> cpub d t = true \/ (cpu e /\ ~ store hw e /\ thr e = t).
Proof.
  unfold sides_beta. destruct (store_b hw e) eqn:S; [apply store_iff in S; simpl; tauto|].
  assert (~ store hw e) as NS by (rewrite <- store_iff; congruence).
  destruct (cpu_b e) eqn:I; simpl; [apply cpu_iff in I; rewrite upd_iff; tauto|apply cpu_not in I; tauto].
Qed.
Lemma beta_stob d e t : (stob d t = true -> cpub d t = false) ->
  stob (sides_beta hw d e) t = true <-> (stob d t = true \/ (store hw e /\ thr e = t)) /\ cpub (sides_beta hw d e) t = false.
Proof.
  intros Ex. unfold sides_beta. destruct (store_b hw e) eqn:S; simpl.
  - apply store_iff in S. destruct (cpub d (thr e)) eqn:Q.
    + split; [auto|]. intros ([H|(_ & <-)] & Z); [auto|congruence].
    + rewrite upd_iff. split; [|tauto]. intros [H|<-]; split; auto.
  - assert (~ store hw e) as NS by (rewrite <- store_iff; congruence).
    destruct (cpu_b e) eqn:I; simpl; [|split; [auto|tauto]].
    unfold upd. destruct (Nat.eqb_spec t (thr e)) as [->|N]; split; try discriminate;
      [intros (_ & Z); discriminate|auto|tauto].
Qed.

Lemma meaning_beta c s e : meaning s -> meaning (after_beta hw c s e).
Proof.
  intros M; constructor; simpl; intros.
  - rewrite beta_cpub, (m_cpub s M). split.
    + intros [(x & H & X)|X]; [exists x|exists e]; rewrite inB_cons; tauto.
    + intros (x & H & X). rewrite inB_cons in H. destruct H as [(_ & <-)|H]; [auto|left; eauto].
  - rewrite beta_stob by (intros H; now apply (m_stob s M) in H). rewrite (m_stob s M). split.
    + intros ([((x & H & X) & _)|X] & Z); (split; [|exact Z]); [exists x|exists e]; rewrite inB_cons; tauto.
    + intros ((x & H & X) & Z). split; [|exact Z]. rewrite inB_cons in H. destruct H as [(_ & <-)|H]; [auto|left].
      split; [eauto|]. destruct (cpub (sd s) t) eqn:Q; auto.
      assert (cpub (sides_beta hw (sd s) e) t = true); [|congruence]. apply beta_cpub. auto.
  - transitivity (typ (sd s) q k = true \/ (~ cpu e /\ qp e = q /\ knd e = k)).
    { unfold sides_beta. destruct (store_b hw e) eqn:S.
      - apply store_iff, (store_cpu hw) in S. simpl. tauto.
      - destruct (cpu_b e) eqn:I; simpl.
        + apply cpu_iff in I. tauto.
        + apply cpu_not in I. unfold updq. destruct (qp_dec q (qp e)) as [->|].
          * rewrite orb_true_iff, is_iff. tauto.
          * intuition congruence. }
    rewrite (m_typ s M). split.
    + intros [(x & H & X)|X]; [exists x|exists e]; rewrite inB_cons; tauto.
    + intros (x & H & X). rewrite inB_cons in H. destruct H as [(_ & <-)|H]; [auto|left; eauto].
  - replace (fen (sides_beta hw (sd s) e)) with (fen (sd s))
      by (unfold sides_beta; destruct (store_b hw e); [reflexivity|now destruct (cpu_b e)]).
    rewrite (m_fen s M). split; intros (f & t & h2 & w & H & X); exists f, t, h2, w; rewrite at_cons in *; split;
      try tauto.
    destruct H as [(H & _)|H]; [discriminate|auto].
  - transitivity (fod (sd s) q = true \/ (qp e = q /\ forces (sd s) e = true)).
    { assert (cpu e -> forces (sd s) e = false) as Fc.
      { unfold forces, is, cpu. intros C. destruct (knd e); simpl in *; tauto || reflexivity. }
      unfold sides_beta. destruct (store_b hw e) eqn:S.
      - apply store_iff, (store_cpu hw) in S. rewrite (Fc S). simpl. intuition discriminate.
      - destruct (cpu_b e) eqn:I; simpl.
        + apply cpu_iff in I. rewrite (Fc I). intuition discriminate.
        + destruct (forces (sd s) e); [rewrite updq_iff; tauto|intuition discriminate]. }
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
  - unfold left_own in H. destruct (wr_b e) eqn:We; [unfold upd in H; destruct (Nat.eqb_spec x (loc e)) as [->|N]|].
    + destruct (store_b hw e && negb (cpub (sd s) (thr e))) eqn:S; [|discriminate]. injection H as <-.
      apply andb_true_iff in S. destruct S as (S & _). exists e. split; [|split; [now apply store_iff|auto]].
      apply lastB_cons; left. repeat split; auto. now apply wr_iff.
    + destruct (m_own s M t x H) as (w & Lw & X). exists w. split; [|auto]. apply lastB_cons. right. split; [auto|].
      intros (_ & _ & Q). congruence.
    + destruct (m_own s M t x H) as (w & Lw & X). exists w. split; [|auto]. apply lastB_cons. right. split; [auto|].
      intros (_ & Q & _). apply wr_iff in Q. congruence.
  - unfold left_own. assert (cpub (sd s) (thr w) = false) as Cw.
    { destruct (cpub (sd s) (thr w)) eqn:Q; auto. assert (cpub (sides_beta hw (sd s) e) (thr w) = true); [|congruence].
      apply beta_cpub. auto. }
    apply lastB_cons in H. destruct H as [(_ & We & <- & ->)|(Lw & N)].
    + apply wr_iff in We. rewrite We, upd_same, (proj2 (store_iff hw e) H0), Cw. reflexivity.
    + destruct (wr_b e) eqn:We; [|now apply (m_own2 s M)]. rewrite upd_other; [now apply (m_own2 s M)|].
      intros ->. apply N. split; auto. split; auto. now apply wr_iff.
Qed.

Lemma meaning_begun c s : meaning s -> meaning (begun c s).
Proof. intros M; constructor; simpl; apply M. Qed.

(* a read that takes a store of its own thread *)
Definition own_at h e := knd e = LR /\ exists w, lastB h (loc e) w /\ store hw w /\ thr w = thr e.
Lemma takes_own_at s e : meaning s -> takes_own s e = true -> own_at (hist (th s)) e.
Proof.
  intros M H. apply andb_true_iff in H. destruct H as (K1 & H). apply is_iff in K1. split; [auto|].
  destruct (fwd s (loc e)) as [t|] eqn:Q; [|discriminate]. apply Nat.eqb_eq in H. subst t. exact (m_own s M _ _ Q).
Qed.
Lemma own_at_takes s e : meaning s -> own_at (hist (th s)) e -> alone_ (hist (th s)) (thr e) -> takes_own s e = true.
Proof.
  intros M (K1 & w & Lw & Sw & Tw) A. apply andb_true_iff. split; [now apply is_iff|].
  rewrite (m_own2 s M _ w Lw Sw), Tw; [apply Nat.eqb_refl|]. apply (cpub_not s _ M). now rewrite Tw.
Qed.
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

End Marks.


Theorem reach_meaning {U : events} {K : searchable} hw zero ini mem0 ctl hope s :
  reach hw zero ini mem0 ctl hope s -> meaning hw s.
Proof.
  induction 1 as [|s s' _ M H]; [apply meaning_start|].
  inversion H; subst; auto using meaning_alpha, meaning_beta, meaning_begun.
Qed.
