(* Theorem 8, first half: at the end of L the search reports a violation. *)
Require Import List Arith Bool Lia Classical Relations Sorted.
Import ListNotations.
From RR Require Import Model Hardware Orders Cells Stores Rules Traces Lemma2 Parts Lemma6 Theorem7 NormalForm
  Search Marks Tainted Along Counters Poison Forced Least FirstHalf.

Section Target.
Context {U : events} {K : searchable} (hw : hardware) {OK : hardware_ok hw} {SO : search_ok hw} (zero : bool)
  (P : program).
Variables (ini : ev -> Prop) (mem0 : nat -> value) (ctl : (ev -> Prop) -> Prop) (hope : class -> (ev -> Prop) -> Prop).
Hypothesis G : searches P ini mem0 ctl hope.
Variables (T : trace) (m : ev) (L : relation ev) (s : ev) (B : ev -> Prop).
Hypothesis LB : least hw P T m L s B.
Variables (all : list ev) (st : state).
Notation F := (without (E T) m).
Hypothesis Iall : forall y, In y all <-> F y /\ noninit y.
Hypothesis I : inv hw zero ini mem0 ctl hope T m L s B all st.
Notation h := (hist (th st)).

Lemma s_all : In s all. Proof. apply Iall. apply LB. apply LB. Qed.
Lemma e_cls : cls st = Some (class_of m). Proof. apply (v_cls _ _ _ _ _ _ _ _ _ _ _ _ _ I), s_all. Qed.
Lemma e_meaning : meaning hw st. Proof. eapply reach_meaning, I. Qed.
Lemma e_tainting : tainting hw st. Proof. eapply reach_tainting, I. Qed.
Lemma e_in y : F y -> noninit y -> exists mv h2, at_ h mv h2 /\ me mv = y /\ In mv h.
Proof.
  intros Fy Ny. assert (In y (evs h)) as Hy by (rewrite (v_hist _ _ _ _ _ _ _ _ _ _ _ _ _ I); now apply Iall).
  apply in_map_iff in Hy. destruct Hy as (mv & Q & Hy). destruct (in_at _ _ Hy) as (h2 & At). eauto.
Qed.

(* taint follows the cycle *)
Definition tainted y := F y /\ noninit y /\ forall mv, In mv h -> me mv = y -> mt mv = true.
Lemma start_tainted : tainted s.
Proof.
  destruct (b_BF _ _ _ _ _ _ _ LB s (b_s _ _ _ _ _ _ _ LB)) as (Fs & Ns). split; auto. split; auto. intros mv Hmv Q.
  destruct (mt mv) eqn:Z; auto. exfalso.
  assert (mb mv = true) as Mb by (apply (v_flags _ _ _ _ _ _ _ _ _ _ _ _ _ I _ Hmv); rewrite Q; apply LB).
  assert (meets (class_of m) s = false) as N.
  { rewrite <- Q. apply (n_meets hw st e_tainting); [destruct mv; simpl in *; now subst|apply e_cls]. }
  pose proof (b_sm _ _ _ _ _ _ _ LB) as (A1 & A2 & A3 & A4 & _).
  assert (meets (class_of m) s = true); [|congruence]. apply meets_iff. repeat split; auto; tauto.
Qed.
Lemma link_tainted a b : clo (tn st) = false -> link (T := T) (m := m) (L := L) a b -> tainted a -> tainted b.
Proof.
  intros Cl (Fa & Fb & Nb & Lab & C) (_ & Na & Ta). split; auto. split; auto. intros mv Hmv Q.
  destruct (mt mv) eqn:Z; auto. exfalso. destruct (in_at _ _ Hmv) as (h2 & At).
  pose proof (v_along _ _ _ _ _ _ _ _ _ _ _ _ _ I _ _ At) as (_ & _ & Pre). rewrite Q in Pre.
  assert (In a (evs h2)) as Ha by (apply Pre; auto). apply in_map_iff in Ha. destruct Ha as (mva & Qa & Ha).
  assert (mt mva = true) as Ma by (apply Ta; auto; eapply at_in2; eauto).
  assert (inT h2 a) as It by (exists (mb mva); destruct mva; simpl in *; now subst).
  assert (mv = Mv b (mb mv) false) as E1 by (destruct mv; simpl in *; now subst). rewrite E1 in At.
  destruct (n_spread hw st e_tainting Cl b (mb mv) h2 a At It) as (N1 & N2). destruct C as [C|C].
  - apply N1. now apply po_thr.
  - apply N2. unfold conflict in C. unfold conf. tauto.
Qed.
Lemma path_tainted a b : clo (tn st) = false -> clos_refl_trans ev (link (T := T) (m := m) (L := L)) a b ->
  tainted a -> tainted b.
Proof. intros Cl H; induction H; eauto using link_tainted. Qed.
Lemma e_lastB a h2 w b t : at_ h (Mv a b t) h2 -> rd a -> lastB h2 (loc a) w -> rf_in F L w a /\ B w.
Proof.
  intros At Ra Lw. pose proof (v_along _ _ _ _ _ _ _ _ _ _ _ _ _ I) as Al.
  pose proof (v_flags _ _ _ _ _ _ _ _ _ _ _ _ _ I) as Fl. pose proof (least_parts hw P T m L s B LB) as Pa.
  apply (lastB_rf F L B h2 pa_init (along_at F L _ _ _ Al At) (flags_at B _ _ _ Fl At) (ii_write (hw := hw)) a w); auto.
  exact (Al _ _ At).
Qed.
Lemma closed : clo (tn st) = true.
Proof.
  destruct (clo (tn st)) eqn:Cl; auto. exfalso.
  destruct (b_cycle _ _ _ _ _ _ _ LB) as (a & Path & Hm).
  destruct (path_tainted s a Cl Path start_tainted) as (Fa & Na & Ta).
  destruct (e_in a Fa Na) as (mv & h2 & At & Q & Hmv). pose proof (Ta mv Hmv Q) as Tm.
  assert (at_ h (Mv a (mb mv) true) h2) as Ha by (destruct mv; simpl in *; now subst).
  destruct (n_open hw st e_tainting Cl a (mb mv) h2 _ Ha e_cls) as (N1 & N2).
  destruct Hm as [Po|(C & NB & NO)].
  - unfold own in N1; simpl in N1. apply Nat.eqb_neq in N1. apply N1. now apply po_thr.
  - assert (mb mv = false) as Mb.
    { destruct (mb mv) eqn:Z; auto. apply (v_flags _ _ _ _ _ _ _ _ _ _ _ _ _ I _ Hmv) in Z. rewrite Q in Z. tauto. }
    destruct (N2 Mb) as [N3|(Ka & w & Lw & Sw & Tw)].
    + assert (meets (class_of m) a = true); [|congruence].
      apply meets_iff. destruct C as (A1 & A2 & A3 & A4 & _). tauto.
    + pose proof (v_along _ _ _ _ _ _ _ _ _ _ _ _ _ I) as Al. pose proof (v_flags _ _ _ _ _ _ _ _ _ _ _ _ _ I) as Fl.
      assert (rd a) as Ra by (unfold rd; rewrite Ka; exact Logic.I).
      pose proof (e_lastB a h2 w _ _ Ha Ra Lw) as (Hr & Bw). apply (NO w Hr); [split; auto|auto].
Qed.

(* the pivot stands next, may be put into alpha, and reads what has been frozen *)
Lemma e_done z : done ini st z <-> F z.
Proof.
  unfold Search.done. rewrite (v_hist _ _ _ _ _ _ _ _ _ _ _ _ _ I), Iall.
  rewrite (g_ini P ini mem0 ctl hope G F (b_prefix _ _ _ _ _ _ _ LB)). unfold noninit. tauto.
Qed.
Lemma e_ctl : ctl (with_ ini st m).
Proof.
  apply (g_ext P ini mem0 ctl hope G (E T)); [|apply (g_run P ini mem0 ctl hope G), LB].
  intros z. unfold with_. rewrite e_done. unfold without. pose proof (proj1 (b_last _ _ _ _ _ _ _ LB)) as Em.
  destruct (classic (z = m)) as [->|]; tauto.
Qed.
Lemma e_nic : ~ cpu m -> nic_forces hw (sd st) m = false.
Proof.
  intros C. destruct (nic_forces hw (sd st) m) eqn:Z; auto. exfalso.
  pose proof (b_last _ _ _ _ _ _ _ LB) as (Em & Nm & Lm).
  assert (B m) as Bm; [|destruct (b_BF _ _ _ _ _ _ _ LB m Bm) as ((_ & N) & _); auto].
  eapply (nic_forces_B hw F L B) with (s := st) (E := E T); try (apply LB); try (apply I); auto using e_meaning.
  - intros y Fy. apply Fy.
  - intros b Hb Q. rewrite (v_hist _ _ _ _ _ _ _ _ _ _ _ _ _ I) in Hb. apply Iall in Hb. destruct Hb as ((Eb & Nb) & Ni).
    destruct (wf_total (E T)) with (a := b) (b := m) as [|[|X]]; auto; [|congruence|destruct (Lm b Eb X)].
    apply (b_WT _ _ _ _ _ _ _ LB).
Qed.
Lemma e_stored : stored (sd st) m = false.
Proof.
  destruct (stored (sd st) m) eqn:Z; auto. exfalso. apply (stored_iff hw st m e_meaning) in Z.
  destruct Z as (N & _ & _ & b & Hb & Sb & Tb).
  apply (inB_flags B _ _ (v_flags _ _ _ _ _ _ _ _ _ _ _ _ _ I)) in Hb. destruct Hb as (_ & Bb).
  apply N. apply (b_own _ _ _ _ _ _ _ LB b Bb (store_cpu hw b Sb) Tb).
Qed.
Lemma e_value : cpu m -> rd m -> pivot_value st (loc m) = crv m.
Proof.
  intros C R. destruct (b_pivot _ _ _ _ _ _ _ LB C R) as (w & Hw & Hv). apply Hv. unfold pivot_value.
  pose proof Hw as (Fw & NBw & Ww & Q & _).
  destruct (cw (acc st) (loc m)) eqn:Z.
  - apply (v_fro _ _ _ _ _ _ _ _ _ _ _ _ _ I); auto. apply (m_cw hw st e_meaning) in Z. destruct Z as (b & Hb & Wb & Lb).
    apply (inB_flags B _ _ (v_flags _ _ _ _ _ _ _ _ _ _ _ _ _ I)) in Hb.
    rewrite (v_hist _ _ _ _ _ _ _ _ _ _ _ _ _ I) in Hb. exists b. tauto.
  - rewrite <- Q. apply (s_mem F L _ (v_sc _ _ _ _ _ _ _ _ _ _ _ _ _ I)). rewrite (v_hist _ _ _ _ _ _ _ _ _ _ _ _ _ I).
    apply (sourceA_lastw hw T m L B (Pa := least_parts hw P T m L s B LB)); auto.
    + intros y Hy. now apply Iall.
    + intros y Hy By Wy Ly. assert (cw (acc st) (loc m) = true); [|congruence]. apply (m_cw hw st e_meaning). exists y.
      split; [|auto]. apply (inB_flags B _ _ (v_flags _ _ _ _ _ _ _ _ _ _ _ _ _ I)).
      now rewrite (v_hist _ _ _ _ _ _ _ _ _ _ _ _ _ I).
    + split; auto. rewrite Iall. unfold noninit. tauto.
Qed.
Lemma e_reports : reports_at hw ini ctl st m.
Proof.
  pose proof (b_last _ _ _ _ _ _ _ LB) as (Em & Nm & Lm). pose proof (b_sm _ _ _ _ _ _ _ LB) as (A1 & _).
  split; [apply e_cls|]. split; [apply closed|]. split; [rewrite orb_true_iff, rd_iff, wr_iff; tauto|].
  split; auto.
  split; [rewrite e_done; intros (_ & N); auto|]. split; [apply e_ctl|]. split.
  - intros C R. apply e_value; [now apply cpu_iff|now apply rd_iff].
  - split; [apply e_stored|]. intros C. apply e_nic. now apply cpu_not.
Qed.
End Target.

(* the run along L, to its end *)
Lemma run_along {U : events} {K : searchable} (hw : hardware) {OK : hardware_ok hw} {SO : search_ok hw} (zero : bool)
  P ini mem0 ctl hope T m L s B : searches P ini mem0 ctl hope -> least hw P T m L s B ->
  exists all st, (forall y, In y all <-> without (E T) m y /\ noninit y) /\
    inv hw zero ini mem0 ctl hope T m L s B all st /\ reports_at hw ini ctl st m.
Proof.
  intros G LB. pose proof (b_SL _ _ _ _ _ _ _ LB) as (Si & St & Sc).
  destruct (wf_fin _ (b_W _ _ _ _ _ _ _ LB)) as (l0 & Hl0).
  destruct (sorted_list (fun a b => L b a)) with (P := fun y => without (E T) m y /\
    noninit y) (l0 := l0) as (all & Sall & Iall).
  - intros a b c H1 H2. eauto.
  - intros a (Fa & _). auto.
  - intros a b (Fa & _) (Fb & _). destruct (Sc a b Fa Fb) as [|[|]]; auto.
  - destruct (along_all hw zero P ini mem0 ctl hope G T m L s B LB all Sall Iall all []) as (st & I); [auto|].
    exists all, st. split; [auto|]. split; [auto|]. eapply e_reports; eauto.
Qed.

Theorem theorem_8_first_half {U : events} {K : searchable} (hw : hardware)
  {OK : hardware_ok hw} {SO : search_ok hw} (zero : bool) P ini mem0 ctl hope :
  searches P ini mem0 ctl hope -> ~ robust hw P -> found hw zero ini mem0 ctl hope.
Proof.
  intros G N. destruct (least_exists hw P N) as (T & m & L & s & B & LB).
  destruct (run_along hw zero P ini mem0 ctl hope T m L s B G LB) as (all & st & _ & I & R).
  exists st. split; [apply I|now exists m].
Qed.
