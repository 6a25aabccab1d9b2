(* Theorem 8, first half: a run of the search along L. *)
Require Import List Arith Bool Lia Classical Relations Sorted.
Import ListNotations.
From RR Require Import Model Hardware Orders Cells Stores Rules Traces Lemma2 Parts Lemma6 Theorem7 NormalForm
  Search Marks Tainted Along Counters Poison Forced Least.

(* what the search is told about the program *)
Record searches {U : events} {K : searchable} (P : program) (ini : ev -> Prop) (mem0 : nat -> value) (ctl : (ev ->
  Prop) -> Prop)
    (hope : class -> (ev -> Prop) -> Prop) : Prop := {
  g_run : forall E, runs P E -> ctl E;
  g_ext : forall E E', (forall e, E e <-> E' e) -> ctl E -> ctl E';
  g_wfx : forall E, runs P E -> wfx E;
  g_ini : forall E, runs P E -> forall i, ini i <-> E i /\ knd i = Init;
  g_mem : forall i, ini i -> mem0 (loc i) = cwv i;
  g_hope : forall E m (D : ev -> Prop), runs P E -> last E m -> (forall e, D e -> E e) -> ~ D m -> ctl D ->
    hope (class_of m) D;
}.

Section Sorting.
Context {A : Type} (R : relation A).
Hypotheses (Rt : forall a b c, R a b -> R b c -> R a c).
Lemma insert_sorted a l : StronglySorted R l -> (forall b, In b l -> R a b \/ R b a) ->
  exists l', StronglySorted R l' /\ forall b, In b l' <-> b = a \/ In b l.
Proof.
  induction l as [|c l IH]; intros S H.
  - exists [a]. split; [repeat constructor|]. simpl. intuition.
  - inversion S as [|? ? S' Fc]; subst. destruct (H c) as [Hac|Hca]; [now left| |].
    + exists (a :: c :: l). split; [constructor; auto|simpl; intuition congruence].
      constructor; [auto|]. rewrite Forall_forall in *. eauto.
    + destruct (IH S') as (l' & S2 & I2); [intros; apply H; now right|]. exists (c :: l'). split.
      * constructor; auto. rewrite Forall_forall in *. intros b Hb. apply I2 in Hb. destruct Hb as [->|Hb]; auto.
      * intros b. simpl. rewrite I2. intuition.
Qed.
Lemma sorted_list (P : A -> Prop) l0 : (forall a, P a -> In a l0) -> (forall a b, P a -> P b -> a = b \/ R a b \/
  R b a) ->
  exists l, StronglySorted R l /\ forall a, In a l <-> P a.
Proof.
  revert P. induction l0 as [|a l0 IH]; intros P H T.
  - exists []. split; [constructor|]. intros x. split; [intros []|intros Px; apply (H x Px)].
  - destruct (IH (fun x => P x /\ x <> a)) as (l & S & I).
    + intros x (Px & N). destruct (H x Px); [congruence|auto].
    + intros x y (Px & _) (Py & _). auto.
    + destruct (classic (P a)) as [Pa|N].
      * destruct (insert_sorted a l S) as (l' & S' & I').
        { intros b Hb. apply I in Hb. destruct Hb as (Pb & Nb). destruct (T a b Pa Pb) as [|[|]]; auto. congruence. }
        exists l'. split; auto. intros x. rewrite I', I. destruct (classic (x = a)) as [->|]; tauto.
      * exists l. split; auto. intros x. rewrite I. split; [tauto|]. intros Px; split; auto. congruence.
Qed.
Lemma sorted_before l2 e l1 : StronglySorted R (l2 ++ e :: l1) -> (forall y, In y l2 -> R y e) /\
  (forall y, In y l1 -> R e y).
Proof.
  induction l2 as [|c l2 IH]; simpl; intros S; inversion S as [|? ? S' Fc]; subst; rewrite Forall_forall in Fc.
  - split; [intros y []|auto].
  - destruct (IH S') as (H & H'). split; auto. intros y [<-|Hy]; auto. apply Fc, in_app_iff; right; now left.
Qed.
End Sorting.

Section FirstHalf.
Context {U : events} {K : searchable} (hw : hardware) {OK : hardware_ok hw} {SO : search_ok hw} (zero : bool)
  (P : program).
Variables (ini : ev -> Prop) (mem0 : nat -> value) (ctl : (ev -> Prop) -> Prop) (hope : class -> (ev -> Prop) -> Prop).
Hypothesis G : searches P ini mem0 ctl hope.
Variables (T : trace) (m : ev) (L : relation ev) (s : ev) (B : ev -> Prop).
Hypothesis LB : least hw P T m L s B.
Notation F := (without (E T) m).
Notation reach := (reach hw zero ini mem0 ctl hope).
Notation done := (done ini).
Notation enabled := (enabled ini ctl).
Lemma SL : sto F L. Proof. apply LB. Qed.
Lemma IL : initfirst F L. Proof. apply LB. Qed.
Lemma f_prefix : runs P F. Proof. apply LB. Qed.
Lemma f_run : runs P (E T). Proof. apply LB. Qed.
Lemma f_W : wfE F. Proof. apply LB. Qed.
Lemma f_last : last (E T) m. Proof. apply LB. Qed.
Lemma f_PL : forall a b, F a -> F b -> po a b -> L a b. Proof. apply LB. Qed.
Lemma f_BF : forall b, B b -> F b /\ noninit b. Proof. apply LB. Qed.
Lemma f_R1 : R1 hw (E T) B. Proof. apply LB. Qed.
Lemma f_R2 : R2 hw (E T) B. Proof. apply LB. Qed.
Lemma f_R3 : R3 hw (E T) B. Proof. apply LB. Qed.
Local Instance f_parts : parts hw (E T) m L B. Proof. exact (least_parts hw P T m L s B LB). Qed.
Lemma f_Cw : forall a b, F a -> F b -> ~ B a -> B b -> wr a -> conflict a b -> L a b.
Proof. apply (ii_write (hw := hw)). Qed.
Lemma f_cpu : forall r, cpu r -> ~ dep (trace_by hw (E T) (sigma m L B)) m r. Proof. apply LB. Qed.
Lemma f_first : forall b, B b -> b = s \/ L s b. Proof. apply LB. Qed.
Lemma Bs : B s. Proof. apply LB. Qed.
Lemma f_X : wfx F. Proof. exact (g_wfx P ini mem0 ctl hope G _ f_prefix). Qed.
Lemma f_R1F : R1 hw F B. Proof. intros a b (Ea & _) (Eb & _). now apply f_R1. Qed.
Lemma f_forcing w : forcing hw F B w <-> forcing hw (E T) B w.
Proof.
  unfold forcing. split; intros (Fw & Bw & H); (split; [auto; try apply Fw; now apply f_BF|split; [auto|]]).
  - destruct H as [H|(H & b & Fb & X)]; auto. right. split; auto. exists b. split; [apply Fb|auto].
  - destruct H as [H|(H & b & Fb & Bb & X)]; auto. right. split; auto. exists b. split; [now apply f_BF|auto].
Qed.
Lemma f_R2F : R2 hw F B. Proof. intros w p (Ep & _) H Fo. apply (f_R2 w); auto. now apply f_forcing. Qed.
Lemma f_R3F : R3 hw F B. Proof. intros Fl w f r (Ew & _) (Ef & _) (Er & _). now apply f_R3. Qed.
(* an nF of B is forced by F1 *)
Lemma f_fence f : B f -> knd f = NF -> exists b, B b /\ F b /\ oppo hw b f.
Proof.
  intros Bf Kf. assert (forall a, ~ conflict a f) as NC by (intros a (_ & A2 & _); unfold wr, rd in A2;
    rewrite Kf in A2; simpl in A2; tauto).
  destruct (b_why _ _ _ _ _ _ _ LB f Bf) as [->|[(b & Bb & O)|[(w & _ & Pw)|[(w & g & _ & _ & _ & _ & _ & Kz & _)
    |(b & _ & C & _)]]]].
  - exfalso. apply (NC m). apply LB.
  - exists b. split; [auto|split; [now apply f_BF|auto]].
  - destruct (pf_ok _ _ Pw) as (_ & _ & Kp & _). congruence.
  - congruence.
  - destruct (NC b C).
Qed.
Lemma meets_iff a : meets (class_of m) a = true <-> (rd a \/ wr a) /\ loc a = loc m /\ (wr a \/ wr m).
Proof.
  unfold meets; simpl. rewrite !andb_true_iff, !orb_true_iff, Nat.eqb_eq, !rd_iff, !wr_iff. tauto.
Qed.

(* s may be the first of beta *)
Lemma start_can : can_start (class_of m) s = true.
Proof.
  pose proof (b_sm _ _ _ _ _ _ _ LB) as C. unfold can_start. rewrite andb_true_iff. split.
  - apply meets_iff. destruct C as (A1 & A2 & A3 & A4 & _). repeat split; auto; tauto.
  - rewrite orb_true_iff, !negb_true_iff, orb_false_iff, andb_false_iff. destruct (cpu_b s) eqn:Cs; auto. right.
    apply cpu_iff in Cs. split.
    + unfold own; simpl. apply Nat.eqb_neq. intros T1. destruct (b_own _ _ _ _ _ _ _ LB s Bs Cs T1) as (_ & _ & N).
      apply N. symmetry. apply C.
    + simpl. destruct (wr_b m) eqn:Wm; auto. destruct (rd_b s) eqn:Rs; auto. exfalso.
      apply wr_iff in Wm. apply rd_iff in Rs. exact (b_begin _ _ _ _ _ _ _ LB Wm Cs Rs).
Qed.

(* the events of F in the order L, the last one first *)
Variable all : list ev.
Hypotheses (Sall : StronglySorted (fun a b => L b a) all) (Iall : forall y, In y all <-> F y /\ noninit y).
Lemma all_pre l2 y l1 : all = l2 ++ y :: l1 -> pre F L l1 y.
Proof.
  intros Q. pose proof Sall as S1. rewrite Q in S1. apply sorted_before in S1. destruct S1 as (H2 & H1).
  assert (F y /\ noninit y) as (Fy & Ny) by (apply Iall; rewrite Q; apply in_app_iff; right; now left).
  split; auto. split; auto. intros z. split.
  - intros Hz. assert (F z /\ noninit z) as (Fz & Nz) by (apply Iall; rewrite Q; apply in_app_iff; right; now right).
    repeat split; auto; apply Fz.
  - intros (Fz & Nz & Lz). assert (In z all) as Hz by (apply Iall; auto). rewrite Q in Hz. apply in_app_iff in Hz.
    destruct Hz as [Hz|[<-|Hz]]; auto; exfalso; [apply (l_asym F L SL _ _ Lz); auto|apply (l_irr F L SL _ Lz)].
Qed.
Lemma all_runs l2 : forall l1, all = l2 ++ l1 -> exists E0, runs P E0 /\ forall y, E0 y <-> F y /\
  (knd y = Init \/ In y l1).
Proof.
  induction l2 as [|z l2 IH] using rev_ind; intros l1 Q.
  - exists F. split; [apply f_prefix|]. intros y. simpl in Q. subst l1. split; [|tauto]. intros Fy. split; auto.
    rewrite Iall. unfold noninit. tauto.
  - rewrite <- app_assoc in Q. destruct (IH _ Q) as (E0 & R0 & I1). pose proof (all_pre _ _ _ Q) as Pz.
    pose proof Pz as (Fz & Nz & _).
    exists (without E0 z). split.
    + apply runs_prefix; auto. split; [apply I1; split; auto; right; now left|]. split; auto.
      intros b Eb Pb. apply I1 in Eb. destruct Eb as (Fb & [Kb|[<-|Hb]]).
      * eapply po_init_r; eauto.
      * eapply po_irr; eauto.
      * exact (pre_not_po F L SL f_PL _ _ _ Pz Hb Pb).
    + intros y. unfold without. rewrite I1. simpl. split.
      * intros ((Fy & [Ky|[<-|Hy]]) & N); auto; congruence.
      * intros (Fy & H). split; [split; auto; tauto|]. intros ->. destruct H as [|H]; auto.
        exact (pre_not F L SL _ _ Pz H).
Qed.

Record inv (l : list ev) (st : state) : Prop := {
  v_reach : reach st;
  v_hist : evs (hist (th st)) = l;
  v_along : along F L (hist (th st));
  v_flags : flags B (hist (th st));
  v_cls : (In s l -> cls st = Some (class_of m)) /\ (~ In s l -> cls st = None);
  v_sc : scinv F L (th st);
  v_cnt : counting hw F B (hist (th st)) (cn st);
  v_psn : In s l -> poisoning_ hw T m L B l (ps st);
  v_psn0 : ~ In s l -> ps st = no_poison;
  v_fro : frozen T m L B l (fro st);
}.
Lemma inv_start : inv [] (start_state mem0).
Proof.
  constructor; simpl; auto.
  - constructor.
  - intros mv h2 ([|] & H); discriminate.
  - intros mv [].
  - split; [intros []|auto].
  - eapply scinv_start; [|apply (g_mem P ini mem0 ctl hope G)]. apply (g_ini P ini mem0 ctl hope G). apply f_prefix.
  - apply counting_start.
  - intros [].
  - intros (w & [] & _).
Qed.

(* one step along L *)
Section Next.
Variables (l2 l : list ev) (y : ev) (st : state).
Hypotheses (Q : all = l2 ++ y :: l) (I : inv l st).
Lemma y_pre : pre F L l y. Proof. eapply all_pre; eauto. Qed.
Lemma y_pre_st : pre F L (evs (hist (th st))) y. Proof. rewrite (v_hist _ _ I). apply y_pre. Qed.
Lemma done_iff z : done st z <-> F z /\ (knd z = Init \/ In z l).
Proof.
  unfold Search.done. rewrite (v_hist _ _ I), (g_ini P ini mem0 ctl hope G F f_prefix). split; [|tauto].
  intros [H|H]; [tauto|]. split; auto. pose proof y_pre as (_ & _ & H'). now apply H' in H.
Qed.
Lemma ctl_y : ctl (with_ ini st y).
Proof.
  destruct (all_runs l2 (y :: l) Q) as (E0 & R0 & I1). apply (g_ext P ini mem0 ctl hope G E0);
    [|now apply (g_run P ini mem0 ctl hope G)].
  pose proof y_pre as (Fy & _). intros z. rewrite I1. unfold with_. rewrite done_iff. simpl. split.
  - intros (Fz & [|[|]]); auto.
  - intros [H| ->]; tauto.
Qed.
Lemma en : enabled st y.
Proof.
  pose proof y_pre as (Fy & Ny & _). split; auto. split; [|split; [apply ctl_y|]].
  - intros H. apply done_iff in H. destruct H as (_ & [H|H]); auto. exact (pre_not F L SL _ _ y_pre H).
  - intros C R. apply cpu_iff in C. apply rd_iff in R.
    destruct (b_val _ _ _ _ _ _ _ LB y Fy C R) as (w & H & Hv).
    pose proof (sc_read F L IL (th st) y w (v_sc _ _ I) y_pre_st H) as X.
    refine (val_fun F (rf_in F L) w _ f_W _ _ X _ _ Hv).
    + intros a b Z; apply Z.
    + intros a b c. apply (rf_in_fun (tr F L) L). exact SL.
    + apply H.
Qed.
Lemma hope_y : hope (class_of m) (with_ ini st y).
Proof.
  pose proof y_pre as (Fy & _).
  assert (forall z, with_ ini st y z -> F z) as Z by (intros z [H| ->]; [now apply done_iff in H|auto]).
  apply (g_hope P ini mem0 ctl hope G (E T) m); [apply f_run|apply f_last| | |apply ctl_y].
  - intros z H. now apply Z.
  - intros H. apply Z in H. destruct H as (_ & H). now apply H.
Qed.
Lemma poll_source : knd y = Poll -> exists w, sgn w = true /\ pf w y.
Proof.
  intros Ky. pose proof y_pre as (Fy & _). destruct (wf_poll _ f_W y Fy Ky) as (w & H).
  destruct (x_sgn _ f_X w y Fy H) as (w' & Sw & Pw & _). eauto.
Qed.
Lemma s_in z : F z -> noninit z -> B z -> z <> s -> pre F L l z -> In s l.
Proof.
  intros Fz Nz Bz N (_ & _ & Pz). destruct (f_first z Bz) as [|H]; [congruence|]. apply Pz. destruct (f_BF s Bs). auto.
Qed.
Lemma along_next mv : me mv = y -> along F L (mv :: hist (th st)).
Proof. intros H. apply along_cons. split; [apply I|]. rewrite H. apply y_pre_st. Qed.
Lemma flags_next b t : (b = true <-> B y) -> flags B (Mv y b t :: hist (th st)).
Proof. intros H mv [<-|Hm]; [auto|]. now apply (v_flags _ _ I). Qed.
Lemma meaning_st : meaning hw st. Proof. eapply reach_meaning, I. Qed.

Lemma next_alpha : ~ B y -> exists st', inv (y :: l) st'.
Proof.
  intros NB. pose proof y_pre as (Fy & Ny & _). exists (after_alpha st y).
  assert (poll_alpha st y /\ counting hw F B (Mv y false (reached st y) :: hist (th st)) (counts_alpha (cn st) (sd st) y))
    as (Pa & Ca).
  { destruct (kind_dec (knd y) Poll) as [Ky|Ky].
    - destruct (poll_source Ky) as (w & Sw & Pw).
      eapply (counting_alpha_poll hw F L B f_W SL f_X f_PL f_R1F); eauto using SL, IL, f_R2F, y_pre_st; apply I.
    - split; [intros Z; congruence|].
      eapply (counting_alpha_other hw F L B f_W SL f_X f_PL f_R1F f_fence); eauto using SL, IL, y_pre_st, meaning_st;
        apply I. }
  assert (y <> s) as Ns by (intros ->; apply NB, Bs).
  constructor; simpl.
  - eapply reach_step; [apply I|]. destruct (classic (In s l)) as [Is|Is].
    + eapply step_alpha; [apply (v_cls _ _ I), Is|apply en|apply hope_y| |auto].
      destruct (forced hw st y) eqn:Fo; auto. destruct NB.
      eapply (forced_B hw F L B f_W SL f_PL st); eauto using SL, IL, meaning_st, y_pre_st, f_R1F, f_R3F; try apply I.
      apply LB.
    + apply step_phase1; [apply (v_cls _ _ I), Is|apply en|auto].
  - now rewrite (v_hist _ _ I).
  - now apply along_next.
  - apply flags_next. intuition discriminate.
  - pose proof (v_cls _ _ I). simpl. intuition congruence.
  - apply scinv_step; auto using SL, IL, f_W, f_PL, y_pre_st. apply I.
  - exact Ca.
  - intros [H|H]; [congruence|]. eapply (poisoning_alpha hw T m L B f_X);
      eauto using SL, IL, y_pre. now apply I.
  - intros H. apply (v_psn0 _ _ I). auto.
  - apply frozen_alpha; auto. apply I.
Qed.

(* the effect of an event of beta, from a state where the class is chosen *)
Lemma next_beta st0 : B y -> th st0 = th st -> cn st0 = cn st -> sd st0 = sd st -> acc st0 = acc st -> fro st0 = fro st ->
  cls st0 = Some (class_of m) -> poisoning_ hw T m L B l (ps st0) -> reach (after_beta hw (class_of m) st0 y) -> (y = s \/
    In s l) ->
  inv (y :: l) (after_beta hw (class_of m) st0 y).
Proof.
  intros By E1 E2 E3 E4 E5 E6 Hp R Hy. pose proof y_pre as (Fy & Ny & _).
  constructor; simpl; rewrite ?E1, ?E2, ?E3; auto.
  - now rewrite (v_hist _ _ I).
  - now apply along_next.
  - apply flags_next. tauto.
  - split; auto. intros H. destruct H. destruct Hy as [->|]; auto.
  - apply scinv_step; auto using SL, IL, f_W, f_PL, y_pre_st. apply I.
  - destruct (kind_dec (knd y) Poll) as [Ky|Ky].
    + destruct (poll_source Ky) as (w & Sw & Pw).
      eapply (counting_beta_poll hw F L B f_W SL f_X f_PL); eauto using SL, IL, y_pre_st; apply I.
    + eapply (counting_beta_other hw F L B f_W SL f_X f_PL f_R1F f_fence); eauto using SL, IL, y_pre_st, meaning_st;
        apply I.
  - intros _. eapply (poisoning_beta hw T m L B f_X); eauto using SL, IL, y_pre.
    intros C Rd. destruct (poi (ps st0) (loc y)) eqn:Z; auto. exfalso. apply (f_cpu y C).
    apply (dep_read hw T m L B l); auto using SL, IL, y_pre.
    now apply (p_poi _ _ _ _ _ _ _ Hp).
  - intros H. destruct H. destruct Hy as [->|]; auto.
  - pose proof (frozen_beta hw T m L B st y) as Z. rewrite (v_hist _ _ I) in Z.
    replace (freeze (class_of m) st0 y) with (freeze (class_of m) st y) by (unfold freeze; now rewrite E1, E4, E5).
    apply Z; auto; try apply I; [apply meaning_st|apply y_pre].
Qed.
Lemma next_start : y = s -> exists st', inv (y :: l) st'.
Proof.
  intros Ys.
  assert (~ In s l) as Is by (rewrite <- Ys; exact (pre_not F L SL _ _ y_pre)).
  assert (B y) as By by (rewrite Ys; apply Bs).
  exists (after_beta hw (class_of m) (begun (class_of m) st) y). apply next_beta; simpl; auto.
  - rewrite (v_psn0 _ _ I Is). simpl. apply (poisoning_begun hw T m L B).
    intros z Hz Bz. pose proof y_pre as (_ & _ & Pz). apply Pz in Hz. destruct Hz as (_ & _ & Lz). rewrite Ys in Lz.
    destruct (f_first z Bz) as [->|H]; [apply (l_irr F L SL _ Lz)|apply (l_asym F L SL _ _ Lz H)].
  - eapply reach_step; [apply I|]. apply step_start; [apply (v_cls _ _ I), Is|apply en|apply hope_y|].
    rewrite Ys. exact start_can.
Qed.
(* F1 to F4, or a poll that F2 forces *)
Lemma inB_po b : B b -> po b y -> inB (hist (th st)) b.
Proof.
  intros Bb Pb. apply (inB_flags B _ _ (v_flags _ _ I)). split; [exact (pre_po_in F L f_W f_PL _ y b y_pre_st Pb)|auto].
Qed.
Lemma why : B y -> y <> s -> knd y <> Poll -> forced hw st y = true.
Proof.
  intros By Ns Ky. pose proof meaning_st as Ms. pose proof y_pre_st as Py. unfold forced. apply orb_true_iff.
  destruct (b_why _ _ _ _ _ _ _ LB y By) as [|[(b & Bb & O)|[(w & Fw & Pw)
    |[(w & f & Fh & Bw & Ff & Kw & Kf & Kz & Q1 & Q2 & Pp & Pp')|(b & Bb & Cf & Lb & NO)]]]].
  - congruence.
  - left. apply (forces_F1 hw st Ms b); auto. apply inB_po; auto. apply O.
  - apply pf_ok in Pw. tauto.
  - left. destruct (classic (B f)) as [Bf|NBf].
    + apply (forces_F1 hw st Ms f); [now apply inB_po|]. apply seen_oppo; auto; [apply no_store; congruence|]. rewrite Kf, Kz.
      now apply (fence_use hw Fh).
    + assert (In f (evs (hist (th st)))) as If by (exact (pre_po_in F L f_W f_PL _ y f Py Pp')).
      apply in_map_iff in If. destruct If as (mv & <- & If). destruct (in_at _ _ If) as (h2 & At).
      assert (mb mv = false) as Mb.
      { destruct (mb mv) eqn:Z; auto. apply (v_flags _ _ I) in Z; auto. tauto. }
      apply (forces_F3 hw st Ms (me mv) (mt mv) h2 w); auto.
      * destruct mv; simpl in *; now subst.
      * apply (inB_flags B h2); [exact (flags_at B _ _ _ (v_flags _ _ I) At)|]. split; auto.
        exact (pre_po_in F L f_W f_PL _ _ w (v_along _ _ I _ _ At) Pp).
  - right. apply andb_true_iff. split; [|apply negb_true_iff; destruct (takes_own st y) eqn:To; auto; exfalso].
    2:{ destruct (takes_own_rf hw F L B IL st Ms (v_along _ _ I) (v_flags _ _ I) f_Cw y Py To) as (u & Hu & O & _).
        exact (NO u Hu O). }
    apply (forces_F4 hw st Ms). exists b. destruct (f_BF b Bb) as (Fb & Nb). split.
    + apply (inB_flags B _ _ (v_flags _ _ I)). split; auto. destruct Py as (_ & _ & Z). now apply Z.
    + unfold conf. unfold conflict in Cf. tauto.
Qed.
Lemma poll_no_access a : conflict a y -> knd y <> Poll.
Proof. intros (_ & A2 & _) Ky. unfold wr, rd in A2. rewrite Ky in A2. simpl in A2. tauto. Qed.
Lemma why_poll : B y -> knd y = Poll -> cpub (sd st) (thr y) = true \/ ear (cn st) (qp y) = 0.
Proof.
  intros By Ky. pose proof meaning_st as Ms. pose proof y_pre_st as Py.
  destruct (poll_source Ky) as (w0 & Sw0 & Pw0).
  destruct (classic (alone hw B (evs (hist (th st))) (thr y))) as [O|O].
  - destruct (b_why _ _ _ _ _ _ _ LB y By) as [Ys|[(b & Bb & Ob)|[(w & Fw & Pw)|[(w & f & _ & _ & _ & _ & _ & Kz & _)
      |(b & Bb & Cf & _)]]]].
    + exfalso. pose proof (b_sm _ _ _ _ _ _ _ LB) as C. rewrite <- Ys in C. exact (poll_no_access _ C Ky).
    + left. apply (m_cpub hw st Ms). exists b. split; [|split; [|split; [|apply po_thr, Ob]]].
      * apply inB_po; auto. apply Ob.
      * destruct (oppo_nic hw b y Ob) as [|(_ & Cy & _)]; auto. destruct Cy. unfold cpu. rewrite Ky. exact Logic.I.
      * intros Sb. destruct Ob as (_ & NO & _). apply NO. split; auto.
    + right. eapply (zero_beta hw F L B f_W f_X f_PL st y); eauto; [apply I|]. exact (poll_alone hw B st y w0 Pw0 O).
    + congruence.
    + exfalso. exact (poll_no_access _ Cf Ky).
  - left. apply (m_cpub hw st Ms). apply NNPP. intros N. apply O. intros b Hb Bb Cb Sb Qb. apply N. exists b.
    split; [apply (inB_flags B _ _ (v_flags _ _ I)); auto|auto].
Qed.
Lemma next_later : B y -> y <> s -> exists st', inv (y :: l) st'.
Proof.
  intros By Ns. pose proof y_pre as (Fy & Ny & _). assert (In s l) as Is by (eapply s_in; eauto using SL, IL, y_pre).
  pose proof (proj1 (v_cls _ _ I) Is) as Cl.
  exists (after_beta hw (class_of m) st y). apply next_beta; auto; [now apply I|].
  eapply reach_step; [apply I|]. apply step_beta; auto using SL, IL, en, hope_y.
  - destruct (kind_dec (knd y) Poll); [auto|right; now apply why].
  - intros Ky. destruct (poll_source Ky) as (w & Sw & Pw). split.
    + eapply (unp_pos hw F L B f_W SL f_X f_PL st y); eauto using SL, IL, y_pre_st; apply I.
    + destruct (why_poll By Ky); auto.
  - unfold cuts, own; simpl. destruct (cpu_b y) eqn:Cy; auto. simpl. destruct (thr y =? thr m) eqn:Ty; auto. simpl.
    apply cpu_iff in Cy. apply Nat.eqb_eq in Ty. destruct (b_own _ _ _ _ _ _ _ LB y By Cy Ty) as (Sy & Km & Lm).
    rewrite (proj2 (store_iff hw y) Sy). apply Nat.eqb_neq in Lm. rewrite Lm. unfold wr_b. now rewrite Km.
  - unfold poisons. destruct (cpu_b y) eqn:Cy; auto. destruct (rd_b y) eqn:Ry; auto. simpl.
    destruct (poi (ps st) (loc y)) eqn:Z; auto. exfalso. apply cpu_iff in Cy. apply rd_iff in Ry. apply (f_cpu y Cy).
    apply (dep_read hw T m L B l); auto using SL, IL, y_pre.
    now apply (p_poi _ _ _ _ _ _ _ (v_psn _ _ I Is)).
Qed.
End Next.

Lemma along_all l : forall l2, all = l2 ++ l -> exists st, inv l st.
Proof.
  induction l as [|y l IH]; intros l2 Q; [eexists; apply inv_start|].
  destruct (IH (l2 ++ [y])) as (st & I); [now rewrite <- app_assoc|].
  destruct (classic (B y)) as [By|NB]; [destruct (classic (y = s)) as [E1|N]|];
    eauto using SL, IL, next_start, next_later, next_alpha.
Qed.
End FirstHalf.
