(* Lemma 2 of docs/theory-crowds.md: threads and copies of two programs with a crowd are paired; where the states look
   alike to these, a step of one of them is possible in both programs, and leads to states that look alike to them. *)
Require Import List Arith ZArith Bool Lia.
Import ListNotations.
From RR Require Import Model Hardware Programs Search Searched Marks CrowdProgram Views Moves.

Section Labels.
Lemma put_id l : put_at (fun x => x) l = l. Proof. now destruct l. Qed.
Lemma put_ids h : map (put_at (fun x => x)) h = h.
Proof. induction h as [|l h IH]; simpl; [auto|]. now rewrite put_id, IH. Qed.
Lemma put_kind g l : lknd (put_at g l) = lknd l. Proof. now destruct l. Qed.
Lemma put_follows g l h : follows (put_at g l) (map (put_at g) h) <-> follows l h.
Proof. destruct h as [|[] h], l; simpl; tauto. Qed.
Lemma put_inj g : (forall x y, g x = g y -> x = y) -> forall l l', put_at g l = put_at g l' -> l = l'.
Proof. intros G l l' H. destruct l, l'; simpl in H; inversion H; subst; f_equal; auto. Qed.
Lemma puts_inj g : (forall x y, g x = g y -> x = y) -> forall h h', map (put_at g) h = map (put_at g) h' -> h = h'.
Proof.
  intros G. induction h as [|l h IH]; intros [|l' h'] H; simpl in H; try discriminate; auto.
  inversion H as [[A B]]. f_equal; [now apply put_inj with g|auto].
Qed.
Lemma twins_put t1 t2 g1 g2 l p : twins (Ev t1 (put_at g1 l) (map (put_at g1) p)) (Ev t2 (put_at g2 l) (map (put_at g2)
  p)).
Proof.
  constructor; try (destruct l; reflexivity).
  - destruct p as [|l0 p]; [reflexivity|]. destruct l, l0; reflexivity.
  - exists (lq l). simpl. destruct l; auto.
Qed.
End Labels.

Section Locality.
Context {K : crowd} (hw : hardware) {OK : hardware_ok hw} {SO : search_ok hw} {SC : cpu_sc hw} (zero : bool).
Notation state := (@state concrete).
Notation ev := (@ev concrete).
Notation moves := (moves hw zero).

Lemma place_inj j x y : place j x = place j y -> x = y.
Proof. unfold place. destruct (Nat.ltb_spec x nv), (Nat.ltb_spec y nv); lia. Qed.
Lemma place_apart j j' x y : nv <= x < nv + ow -> nv <= y < nv + ow -> place j x = place j' y -> j = j' /\ x = y.
Proof. intros X Y. rewrite !place_own by lia. intros H. assert (j = j') by nia. subst. lia. Qed.
Lemma place_high j x : nv <= x -> nv <= place j x.
Proof. intros H. rewrite place_own by auto. nia. Qed.

(* copy j1 of the one program is paired with copy j2 of the other *)
Variable P : nat -> nat -> Prop.
Hypothesis P_l : forall a b c, P a c -> P b c -> a = b.
Hypothesis P_r : forall a b c, P a b -> P a c -> b = c.
Definition paired t1 t2 := (t1 = t2 /\ t1 < nt) \/ exists j1 j2, P j1 j2 /\ t1 = nt + j1 /\ t2 = nt + j2.
Definition wpaired x1 x2 := (x1 = x2 /\ x1 < nv) \/
  exists j1 j2 x, P j1 j2 /\ nv <= x < nv + ow /\ x1 = place j1 x /\ x2 = place j2 x.
Lemma paired_iff t1 t2 u1 u2 : paired t1 t2 -> paired u1 u2 -> (t1 = u1 <-> t2 = u2).
Proof.
  intros [(-> & A)|(j1 & j2 & Q & -> & ->)] [(-> & A')|(i1 & i2 & Q' & -> & ->)]; try lia. split; intros H.
  - assert (i1 = j1) as -> by lia. f_equal. eapply P_r; eauto.
  - assert (i2 = j2) as -> by lia. f_equal. eapply P_l; eauto.
Qed.
Lemma wpaired_iff x1 x2 y1 y2 : wpaired x1 x2 -> wpaired y1 y2 -> (x1 = y1 <-> x2 = y2).
Proof.
  intros [(-> & A)|(j1 & j2 & x & Q & X & -> & ->)] [(-> & A')|(i1 & i2 & y & Q' & Y & -> & ->)].
  - tauto.
  - pose proof (place_high i1 y). pose proof (place_high i2 y). lia.
  - pose proof (place_high j1 x). pose proof (place_high j2 x). lia.
  - split; intros H; apply place_apart in H; auto; destruct H as (-> & ->); f_equal; [eapply P_r|eapply P_l]; eauto.
Qed.
Lemma wpaired_place j1 j2 x : P j1 j2 -> x < nv + ow -> wpaired (place j1 x) (place j2 x).
Proof.
  intros H L. destruct (le_lt_dec nv x); [right; exists j1, j2, x; repeat split; auto|].
  left. now rewrite !place_low.
Qed.

(* the states look alike to what is paired *)
Record agree (ts1 : list nat) (s1 : state) (ts2 : list nat) (s2 : state) : Prop := {
  a_named : forall t, t < nt -> path_of s1 t = path_of s2 t;
  a_copies : forall j1 j2, P j1 j2 -> nth_error ts1 j1 = nth_error ts2 j2 /\
    exists p, path_of s1 (nt + j1) = map (put_at (place j1)) p /\ path_of s2 (nt + j2) = map (put_at (place j2)) p;
  a_part : forall t1 t2, paired t1 t2 -> like (clo (tn s1)) (part_of s1 t1) (part_of s2 t2);
  a_word : forall x1 x2, wpaired x1 x2 -> wlike (clo (tn s1)) (word_of s1 x1) (word_of s2 x2);
  a_closed : clo (tn s1) = clo (tn s2);
  a_frozen : fro s1 = fro s2;
}.

(* the same label, in the other program *)
Record same_next ts2 (s1 s2 : state) t1 l1 t2 l2 : Prop := {
  x_prog : prog_of ts2 t2 (l2 :: path_of s2 t2);
  x_fine : fine (words_of ts2) (l2 :: path_of s2 t2);
  x_twins : twins (Ev t1 l1 (path_of s1 t1)) (Ev t2 l2 (path_of s2 t2));
  x_loc : wpaired (lloc l1) (lloc l2);
  x_named : t1 < nt -> l1 = l2;
  x_copy : forall j1 j2, t1 = nt + j1 -> P j1 j2 ->
    exists l, l1 = put_at (place j1) l /\ l2 = put_at (place j2) l;
}.
Lemma next_label ts1 s1 ts2 s2 t1 l1 t2 : agree ts1 s1 ts2 s2 -> sound ts2 s2 -> paired t1 t2 ->
  prog_of ts1 t1 (l1 :: path_of s1 t1) -> fine (words_of ts1) (l1 :: path_of s1 t1) ->
  exists l2, same_next ts2 s1 s2 t1 l1 t2 l2.
Proof.
  intros A S2 Pt Pr (_ & Fo & _). destruct Pt as [(-> & L)|(j1 & j2 & Q & -> & ->)].
  - rename t2 into t. pose proof (a_named _ _ _ _ A t L) as E. exists l1.
    assert (named t (l1 :: path_of s1 t)) as Nm.
    { unfold prog_of in Pr. apply Nat.ltb_lt in L. now rewrite L in Pr. }
    assert (lloc l1 < nv) as Ll by (eapply named_words; [exact Nm|now left]).
    constructor; auto.
    + rewrite <- E. unfold prog_of. apply Nat.ltb_lt in L. now rewrite L.
    + split; [apply (s_fine _ _ S2)|]. rewrite <- E. split; [auto|]. unfold words_of. lia.
    + rewrite <- E. rewrite <- (put_ids (path_of s1 t)), <- (put_id l1). apply twins_put.
    + left. auto.
    + intros i1 i2 -> _. lia.
  - destruct (a_copies _ _ _ _ A j1 j2 Q) as (T & p & E1 & E2). unfold prog_of in Pr.
    assert (nt + j1 <? nt = false) as F by (apply Nat.ltb_ge; lia). rewrite F in Pr.
    replace (nt + j1 - nt) with j1 in Pr by lia. destruct (nth_error ts1 j1) as [k|] eqn:T1; [|discriminate].
    destruct Pr as ([|l h0] & Pr & Q1); simpl in Q1; [discriminate|]. inversion Q1 as [[Q2 Q3]]. rewrite E1 in Q3.
    apply puts_inj in Q3; [|apply place_inj]. subst h0. rewrite Q2, E1, put_follows in Fo.
    assert (lloc l < nv + ow) as Ll by (eapply templ_words; [exact Pr|now left]).
    exists (put_at (place j2) l). constructor.
    + unfold prog_of. assert (nt + j2 <? nt = false) as F2 by (apply Nat.ltb_ge; lia). rewrite F2.
      replace (nt + j2 - nt) with j2 by lia. rewrite <- T. exists (l :: p). split; [auto|]. now rewrite E2.
    + split; [apply (s_fine _ _ S2)|]. rewrite E2, put_follows, lloc_put by apply place_0. split; [auto|].
      assert (j2 < length ts2) as J by (apply nth_error_Some; congruence). unfold words_of, place.
      destruct (Nat.ltb_spec (lloc l) nv); nia.
    + rewrite E1, E2. apply twins_put.
    + rewrite !lloc_put by apply place_0. now apply wpaired_place.
    + lia.
    + intros i1 i2 I Q'. assert (i1 = j1) as -> by lia. rewrite (P_r _ _ _ Q' Q). eauto.
Qed.

(* what comes next in the one program comes next in the other *)
Lemma ready_on ts1 s1 ts2 s2 e1 : agree ts1 s1 ts2 s2 -> sound ts1 s1 -> sound ts2 s2 -> ready ts1 s1 e1 ->
  (exists t2, paired (thr e1) t2) -> exists l1 t2 l2, e1 = Ev (thr e1) l1 (path_of s1 (thr e1)) /\ paired (thr e1) t2 /\
    same_next ts2 s1 s2 (thr e1) l1 t2 l2 /\ ready ts2 s2 (Ev t2 l2 (path_of s2 t2)) /\
    near s1 (thr e1) (lloc l1) s2 t2 (lloc l2).
Proof.
  intros A S1 S2 R (t2 & Pt). apply (ready_iff ts1 s1 e1 S1) in R. destruct R as (t & l1 & -> & Pr & Fi).
  simpl in Pt. simpl. destruct (next_label ts1 s1 ts2 s2 t l1 t2 A S2 Pt Pr Fi) as (l2 & Nx).
  exists l1, t2, l2. split; [auto|split; [auto|split; [auto|split]]].
  - apply ready_iff; [auto|]. exists t2, l2. split; [auto|split; apply Nx].
  - constructor; [now apply (a_part _ _ _ _ A)|apply (a_word _ _ _ _ A), Nx|apply A|apply A|apply S1|apply S2].
Qed.
Lemma path_moves ts t0 l0 h0 s s' t : moves ts (Ev t0 l0 h0) s s' ->
  path_of s' t = if t0 =? t then l0 :: path_of s t else path_of s t.
Proof. intros (_ & b & t' & Q). unfold path_of. rewrite Q. simpl. destruct (t0 =? t); auto. Qed.
Lemma sound_moves ts e s s' : sound ts s -> moves ts e s s' -> sound ts s'.
Proof.
  intros S M. pose proof (moves_inv _ _ _ _ _ _ M) as ((Ne & Nd & Hc & _) & _).
  assert (ready ts s e) as R by (split; [auto|split; auto]). apply (ready_iff ts s e S) in R.
  destruct R as (t & l & -> & Pr & Fi). pose proof (fun t' => path_moves _ _ _ _ _ _ t' M) as Pm.
  constructor.
  - intros t'. rewrite Pm. destruct (Nat.eqb_spec t t') as [->|_]; [auto|apply S].
  - intros t'. rewrite Pm. destruct (Nat.eqb_spec t t') as [->|_]; [auto|apply S].
  - intros e. destruct M as (_ & b & tt & Q). unfold done. rewrite Q. simpl.
    assert (done (ini_of ts) s e \/ Ev t l (path_of s t) = e <-> inrun (words_of ts) (init_of ts) (path_of s') e) as <-;
    [|unfold done; tauto]. rewrite (s_done _ _ S).
    destruct e as [x v|t' l' h']; simpl; [split; [intros [H|H]; [auto|discriminate]|auto]|].
    rewrite Pm. destruct (Nat.eqb_spec t t') as [->|N].
    + split; [intros [H|H]; [eapply suf_trans; [exact H|now exists [l]]|inversion H; apply suf_refl]|].
      intros H. destruct (suf_tail _ _ _ H) as [Z|Z]; [inversion Z; auto|auto].
    + split; [intros [H|H]; [auto|congruence]|auto].
  - apply (plain_moves _ _ _ _ _ _ M), S.
Qed.

(* the class of the one search, and that of the other *)
Definition same_class ts2 (c1 c2 : class) := paired (cthr c1) (cthr c2) /\ wpaired (ccell c1) (ccell c2) /\
  cwr c1 = cwr c2 /\
  forall D, hope_of ts2 c2 D.
Lemma class_looks ts2 e1 e2 c1 c2 : paired (thr e1) (thr e2) -> wpaired (loc e1) (loc e2) -> same_class ts2 c1 c2 ->
  looks e1 e2 c1 c2.
Proof.
  intros Pt Pw (Ct & Cw & W & _). constructor; auto.
  - pose proof (paired_iff _ _ _ _ Pt Ct). destruct (Nat.eqb_spec (thr e1) (cthr c1)),
    (Nat.eqb_spec (thr e2) (cthr c2)); tauto.
  - pose proof (wpaired_iff _ _ _ _ Pw Cw). destruct (Nat.eqb_spec (loc e1) (ccell c1)),
    (Nat.eqb_spec (loc e2) (ccell c2)); tauto.
Qed.

Theorem goes_on ts1 ts2 s1 s2 s1' e1 (k1 k2 : class -> class) co co' : agree ts1 s1 ts2 s2 -> sound ts1 s1 ->
  sound ts2 s2 ->
  moves ts1 e1 s1 s1' -> (exists t2, paired (thr e1) t2) ->
  cls s1 = option_map k1 co -> cls s2 = option_map k2 co -> cls s1' = option_map k1 co' ->
  (forall c, co' = Some c -> same_class ts2 (k1 c) (k2 c)) -> (forall c, co = Some c -> co' = Some c) ->
  exists t2 l2 h2 s2', moves ts2 (Ev t2 l2 h2) s2 s2' /\ agree ts1 s1' ts2 s2' /\ cls s2' = option_map k2 co' /\
    paired (thr e1) t2 /\ wpaired (loc e1) (lloc l2).
Proof.
  intros A S1 S2 M Pt C1 C2 C1' Sc Co. pose proof (moves_inv _ _ _ _ _ _ M) as ((Ne & Nd & Hc & Hv) & _).
  assert (ready ts1 s1 e1) as R by (split; [auto|split; auto]).
  destruct (ready_on ts1 s1 ts2 s2 e1 A S1 S2 R Pt) as (l1 & t2 & l2 & E1 & Pt2 & Nx & R2 & N).
  set (e2 := Ev t2 l2 (path_of s2 t2) : ev). rewrite E1 in *. set (t1 := thr e1) in *. clearbody t1. clear e1 E1.
  set (e1 := Ev t1 l1 (path_of s1 t1) : ev) in *. pose proof (x_twins _ _ _ _ _ _ _ Nx) as T. fold e1 e2 in T.
  assert (enabled (ini_of ts2) (ctl_of ts2) s2 e2) as En.
  { destruct R2 as (Q1 & Q2 & Q3). split; [auto|split; [auto|split; [auto|]]]. intros Cp Rd.
    rewrite <- (t_cpu e1 e2 T) in Cp. rewrite <- (t_rd e1 e2 T) in Rd.
    etransitivity; [symmetry; exact (t_mem s1 s2 e1 e2 N)|]. rewrite <- (w_crv _ _ T). now apply Hv. }
  destruct (transfer hw zero ts1 ts2 s1 s2 s1' e1 e2 k1 k2 co co') as (s2' & M2 & N' & C2'); auto.
  { intros c Hcs. split; [apply (class_looks ts2); auto; apply Nx|]. intros D. now apply Sc. }
  exists t2, l2, (path_of s2 t2), s2'. split; [exact M2|]. split; [|split; [auto|split; [auto|apply Nx]]].
  pose proof (fun t => path_moves ts1 t1 l1 _ s1 s1' t M) as Pm1.
    pose proof (fun t => path_moves ts2 t2 l2 _ s2 s2' t M2) as Pm2.
  pose proof (clo_later hw zero ts1 e1 s1 s1' M) as Cl. pose proof (n_closed _ _ _ _ _ _ N') as Cc.
  constructor.
  - intros t L. rewrite Pm1, Pm2. assert (paired t t) as Pq by (left; auto). pose proof (paired_iff _ _ _ _ Pt2 Pq).
    rewrite <- (a_named _ _ _ _ A t L). destruct (Nat.eqb_spec t1 t), (Nat.eqb_spec t2 t); try tauto.
    f_equal. apply (x_named _ _ _ _ _ _ _ Nx). lia.
  - intros j1 j2 Q. destruct (a_copies _ _ _ _ A j1 j2 Q) as (Tq & p & Q1 & Q2). split; [auto|]. rewrite Pm1, Pm2.
    assert (paired (nt + j1) (nt + j2)) as Pq by (right; eauto). pose proof (paired_iff _ _ _ _ Pt2 Pq).
    destruct (Nat.eqb_spec t1 (nt + j1)) as [Z|], (Nat.eqb_spec t2 (nt + j2)); try tauto; [|eauto].
    destruct (x_copy _ _ _ _ _ _ _ Nx j1 j2 Z Q) as (l & -> & ->). exists (l :: p). simpl. now rewrite Q1, Q2.
  - intros u1 u2 Pu. pose proof (paired_iff _ _ _ _ Pt2 Pu). destruct (Nat.eq_dec u1 t1) as [->|Nq].
    + assert (u2 = t2) as -> by (symmetry; now apply H). apply N'.
    + apply like_trans with (part_of s1 u1); [apply like_sym; now apply (far_part hw zero ts1 e1)|].
      apply like_trans with (part_of s2 u2); [apply like_later with (clo (tn s1));
        [exact Cl|now apply (a_part _ _ _ _ A)]|].
      rewrite Cc. apply (far_part hw zero ts2 e2); auto. intros Z. apply Nq. symmetry. apply H. symmetry. exact Z.
  - intros y1 y2 Py. pose proof (wpaired_iff _ _ _ _ (x_loc _ _ _ _ _ _ _ Nx) Py).
    destruct (Nat.eq_dec y1 (lloc l1)) as [->|Nq].
    + assert (y2 = lloc l2) as -> by (symmetry; now apply H). apply N'.
    + apply wlike_trans with (word_of s1 y1); [apply wlike_sym; now apply (far_word hw zero ts1 e1)|].
      apply wlike_trans with (word_of s2 y2); [apply wlike_later with (clo (tn s1));
        [exact Cl|now apply (a_word _ _ _ _ A)]|].
      rewrite Cc. apply (far_word hw zero ts2 e2); auto. intros Z. apply Nq. symmetry. apply H. symmetry. exact Z.
  - exact Cc.
  - apply N'.
Qed.

Theorem reports_on ts1 ts2 s1 s2 c1 c2 : agree ts1 s1 ts2 s2 -> sound ts1 s1 -> sound ts2 s2 ->
  cls s1 = Some c1 -> cls s2 = Some c2 -> same_class ts2 c1 c2 -> reports_of hw ts1 s1 -> reports_of hw ts2 s2.
Proof.
  intros A S1 S2 C1 C2 Sc (m & Cm & Hclo & Am & Nm & Nd & Hc & Hv & _ & Hn). assert (c1 = class_of m) as -> by congruence.
  assert (ready ts1 s1 m) as R by (split; [auto|split; auto]). destruct Sc as (Pt & Pw & W & _).
  destruct (ready_on ts1 s1 ts2 s2 m A S1 S2 R (ex_intro _ _ Pt)) as (l1 & t2 & l2 & E1 & Pt2 & Nx & (R1 & R2 & R3) & N).
  set (m2 := Ev t2 l2 (path_of s2 t2) : ev) in *. set (t1 := thr m) in *.
  pose proof (x_twins _ _ _ _ _ _ _ Nx) as T. rewrite <- E1 in T. fold m2 in T.
  assert (lloc l1 = loc m) as Lm by (rewrite E1; reflexivity).
  assert (class_of m2 = c2) as Q.
  { destruct c2 as [a b w0]. simpl in Pt, Pw, W. unfold class_of. simpl. f_equal.
    - pose proof (paired_iff _ _ _ _ Pt2 Pt). tauto.
    - pose proof (wpaired_iff _ _ _ _ (x_loc _ _ _ _ _ _ _ Nx) Pw). tauto.
    - now rewrite <- (t_wr m m2 T). }
  rewrite Lm in N. assert (near s1 (thr m) (loc m) s2 (thr m2) (loc m2)) as N' by exact N.
  exists m2. unfold reports_at. rewrite Q. split; [auto|]. split; [now rewrite <- (a_closed _ _ _ _ A)|].
  rewrite <- (t_rd m m2 T), <- (t_wr m m2 T), <- (t_cpu m m2 T).
  split; [auto|split; [auto|split; [auto|split; [auto|split]]]].
  - intros Cp Rd. rewrite <- (w_crv _ _ T), <- (Hv Cp Rd). unfold pivot_value.
    now rewrite (t_cw s1 s2 m m2 N'), (n_frozen _ _ _ _ _ _ N'), (t_mem s1 s2 m m2 N').
  - split; [apply plain_stored, S2|]. intros Cp. rewrite <- (t_nic hw s1 s2 m m2 T N'). auto.
Qed.
End Locality.
