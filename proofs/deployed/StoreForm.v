(* Theorems 5 and 7 with store buffers, for programs: one that is not robust has a violating trace in normal form. *)
Require Import List Arith Lia Classical Relations Setoid.
From RR Require Import Model Hardware Orders Rules Traces Lemma6 Theorem7 NormalForm.
From RR Require Import StoreModel StoreRules StoreTraces StoreLemma2 StoreLemma6 StoreCycle StoreTheorem7 Programs.

Section Form.
Context {U : events} (hw : hardware) {OK : tso_ok hw} (P : program).

Definition minimal_tso T := violating_tso hw P T /\
  forall T1 m, last (E T) m -> E T1 = without (E T) m -> ~ violating_tso hw P T1.

Lemma minimal_exists_tso T : violating_tso hw P T -> exists T0, minimal_tso T0.
Proof.
  intros V. assert (exists n, covered n (E T)) as (n & C).
  { destruct (wf_fin _ (t_E _ (proj1 (proj2 (proj1 V))))) as (l & Hl). exists (length l), l; auto. }
  revert T V C. induction n as [n IH] using lt_wf_ind. intros T V C.
  destruct (classic (minimal_tso T)) as [|N]; [eauto|].
  assert (exists T1 m, last (E T) m /\ E T1 = without (E T) m /\ violating_tso hw P T1) as (T1 & m & Lm & Q & V1).
  { apply NNPP; intro K. apply N. split; [auto|]. intros T1 m Lm Q V1. apply K; eauto. }
  destruct (covered_without n (E T) m C (proj1 Lm)) as (k & Hk & C1).
  apply (IH k Hk T1); auto. now rewrite Q.
Qed.

Lemma ib1_tso_noninit T a b : wft T -> ib1_tso hw T a b -> noninit b.
Proof.
  intros W [(_&_&H)|(_&_&H)|H|H O|(_ & H)].
  - eapply po_init_r; apply H.
  - destruct (pf_ok _ _ H) as (K & _). eapply po_init_r; eauto.
  - apply rd_noninit. apply (t_rf _ W _ _ H).
  - apply own_facts in O. tauto.
  - destruct (t_nfo _ W _ _ H) as (_ & _ & _ & K). unfold noninit; intuition congruence.
Qed.
Lemma ob1_tso_noninit T a b : wft T -> ob1_tso hw T a b -> noninit b.
Proof.
  intros W [(_&_&H)|(_&_&H) _|x _ (_&_&H) _|H _|(_ & H)|H|H|_ H].
  - eapply po_init_r; apply H.
  - destruct (pf_ok _ _ H) as (K & _). eapply po_init_r; eauto.
  - destruct (pf_ok _ _ H) as (K & _). eapply po_init_r; eauto.
  - apply rd_noninit. apply (t_rf _ W _ _ H).
  - destruct (t_nfo _ W _ _ H) as (_ & _ & _ & K). unfold noninit; intuition congruence.
  - eapply rb_noninit; eauto.
  - eapply t_mo_init; eauto.
  - apply clos_trans_tn1 in H. destruct H; eapply ib1_tso_noninit; eauto.
Qed.

(* A pivot is not ob-before a store that it forwards: from a read that is last of its thread only rb leads, to writes that are
   mo-after that store. *)
Section Source.
Variables (T : trace) (m : ev).
Hypotheses (W : wft T) (C : tso_consistent hw T) (M : maximal_tso hw T m).

Lemma only_rb x : knd m = LR -> ob1_tso hw T m x -> rb T m x.
Proof.
  intros K H. assert (forall y, E T y -> ~ po m y) as La by apply M.
  assert (~ wr m) as NW by (unfold wr; rewrite K; simpl; tauto).
  assert (forall y, ~ nfo T m y) as NN.
  { intros y Y. destruct (t_nfo _ W _ _ Y) as (_ & _ & _ & Z). rewrite K in Z. intuition discriminate. }
  assert (forall y, ib1_tso hw T m y -> False) as NI.
  { intros y [(_&Ey&Y)|(_&Ey&Y)|Y|Y O|(_ & Y)].
    - apply (La y Ey), Y.
    - destruct (pf_ok _ _ Y) as (Z & _). exact (La y Ey Z).
    - apply NW, (t_rf _ W _ _ Y).
    - pose proof Y as (_ & u & _ & Z). apply (La y); [apply (t_mo _ W _ _ Z)|]. exact (own_rb_po hw T m y W C Y O).
    - exact (NN y Y). }
  destruct H as [(_&Ey&Y)|(_&Ey&Y) _|y (_&Ey&Y) _ _|Y _|(_ & Y)|Y|Y|_ Y]; auto; exfalso.
  - apply (La x Ey), Y.
  - destruct (pf_ok _ _ Y) as (Z & _). exact (La x Ey Z).
  - apply (La y Ey), Y.
  - apply NW, (t_rf _ W _ _ Y).
  - exact (NN x Y).
  - apply NW, (t_mo _ W _ _ Y).
  - apply clos_trans_t1n in Y. destruct Y; eauto.
Qed.
Lemma not_before_source u : rf T u m -> own u m -> ~ ob_tso hw T m u.
Proof.
  intros H (_ & _ & K) O. apply clos_trans_t1n in O.
  assert (forall x, rb T m x -> mo T u x) as R.
  { intros x (_ & v & Hv & Mo). now rewrite (t_rf_fun _ W _ _ _ H Hv). }
  destruct O as [x X|x y X Y].
  - exact (t_mo_irr _ W _ (R _ (only_rb _ K X))).
  - apply (C y). apply t_trans with x.
    + apply t_step, obt_mo, R. now apply only_rb.
    + now apply clos_t1n_trans.
Qed.

(* so what it reads can be put before it *)
Definition with_source a b := ob1_tso hw T a b \/ (rf T a b /\ b = m).
Lemma with_source_path a b : clos_trans ev with_source a b ->
  ob_tso hw T a b \/ exists u, rf T u m /\ own u m /\ (a = u \/ ob_tso hw T a u) /\ (m = b \/ ob_tso hw T m b).
Proof.
  intros H. apply clos_trans_tn1 in H.
  assert (forall x y, with_source x y -> ob1_tso hw T x y \/ (rf T x m /\ own x m /\ y = m)) as St.
  { intros x y [X|(X & ->)]; [auto|]. destruct (classic (own x m)); [auto|]. left. now apply obt_rf. }
  induction H as [b H|b c H _ IH].
  - destruct (St _ _ H) as [X|(X & O & ->)]; [left; now apply t_step|right]. exists a; auto.
  - destruct (St _ _ H) as [X|(X & O & ->)].
    + destruct IH as [I|(u & I & J & K & Q)]; [left; eapply t_trans; [exact I|now apply t_step]|right].
      exists u. split; [auto|split; [auto|split; [auto|]]]. right.
      destruct Q as [<-|Q]; [now apply t_step|eapply t_trans; [exact Q|now apply t_step]].
    + right. exists b. split; [auto|split; [auto|]]. split; [|auto].
      destruct IH as [I|(u & I & J & K & Q)]; [auto|exfalso].
      rewrite (t_rf_fun _ W _ _ _ X I) in Q. destruct Q as [Q|Q]; [|exact (not_before_source u I J Q)].
      destruct J as (_ & J & J'). unfold store in J. congruence.
Qed.
Lemma with_source_acyclic a : ~ clos_trans ev with_source a a.
Proof.
  intros H. destruct (with_source_path a a H) as [X|(u & X & O & K & Q)]; [exact (C a X)|].
  apply (not_before_source u X O). destruct K as [->|K], Q as [Q|Q]; auto.
  - subst. destruct O as (_ & O & O'). unfold store in O. congruence.
  - now subst.
  - eapply t_trans; eauto.
Qed.
End Source.

Lemma setup_tso T : minimal_tso T -> exists m tau L, pivot_tso hw P T m tau /\ sc_order_of (Tt' T m tau) L.
Proof.
  intros (V & Hm). pose proof V as ((_ & W & _) & Co & N).
  destruct (lemma_1_tso hw T W Co (something T W N)) as (m & M).
  destruct (linear (E T) (with_source T m)) as (tau & St & It & Ht).
  { apply (wf_fin _ (t_E _ W)). }
  { now apply with_source_acyclic. }
  { intros a b [H|(H & _)]; [eapply ob1_tso_noninit; eauto|]. apply rd_noninit. apply (t_rf _ W _ _ H). }
  assert (Piv : pivot_tso hw P T m tau).
  { constructor; auto; intros; apply Ht; [now left|right; auto]. }
  exists m, tau. destruct (sc_order_exists (Tt' T m tau) tWT') as (L & Sco); [|eauto].
  apply NNPP. intros X. apply (Hm (Tt' T m tau) m); [apply M|reflexivity|].
  split; [exact lemma_2_1_tso|]. split; [exact lemma_2_2_tso|exact X].
Qed.
Lemma setup_exists_tso : ~ robust_tso hw P -> exists T m tau L, pivot_tso hw P T m tau /\ sc_order_of (Tt' T m tau) L.
Proof.
  intros N. assert (exists T, violating_tso hw P T) as (T1 & V1).
  { apply NNPP; intro K. apply N. intros T V. apply K; eauto. }
  destruct (minimal_exists_tso T1 V1) as (T & Hmin). exists T. now apply setup_tso.
Qed.

(* alpha in the order L, then m, then beta in the order L, where reads take stores of their own that come later *)
Definition normal_form_tso E m (B : ev -> Prop) L := tr_tso E (sigma m L B).

Theorem normal_form_exists_tso : ~ robust_tso hw P -> exists E m B L,
  last E m /\ ~ B m /\ (forall b, B b -> without E m b) /\ sc_order (without E m) L /\
  violating_tso hw P (normal_form_tso E m B L).
Proof.
  intros N. destruct (setup_exists_tso N) as (T & m & tau & L & Piv & Sco).
  exists (E T), m, (B0 T m tau), L. split; [apply Piv|]. split; [intros ((_ & X) & _); auto|]. split; [|split].
  - intros b (H & _); exact H.
  - exact (sc_order_self (Tt' T m tau) L tWT' Sco).
  - exact theorem_5_tso.
Qed.

(* With the split determined (Theorem 7), and the pivot as the search has it (T3): it does not forward. *)
Theorem pivot_form_exists_tso : ~ robust_tso hw P -> exists T m tau L s,
  pivot_tso hw P T m tau /\ sc_order (without (E T) m) L /\ without (E T) m s /\ conflict m s /\
  violating_tso hw P (normal_form_tso (E T) m (beta_tso hw T m tau L s) L) /\
  (forall b, beta_tso hw T m tau L s b -> cpu b -> thr b = thr m -> store b /\ knd m = LR /\ loc b <> loc m).
Proof.
  intros N. destruct (setup_exists_tso N) as (T & m & tau & L & Piv & Sco).
  destruct (sc_cycle_tso L Sco) as (e & x & Cy). pose proof Cy as (Hme & _ & _ & Ne & _).
  assert (exists s, start T m tau L e s) as (s & Hs).
  { destruct (wf_fin _ tWE) as (l & Hl).
    pose (Q := fun x => x = e \/ (B0 T m tau x /\ wr x /\ loc x = loc m)).
    assert (forall x, Q x -> without (E T) m x) as QE.
    { intros y [->|(H & _)]; [apply (m_edge_tso e Hme Ne)|apply H]. }
    destruct (max_elem l Q (fun a b => L b a)) as (s & Qs & K).
    - split; [apply so_total|]. intros a b c H H'. eapply (proj1 (proj2 (so_total (L := L)))); eauto.
    - intros a Qa. apply Hl, QE, Qa.
    - exists e; left; auto.
    - exists s. assert (forall y, Q y -> s = y \/ L s y) as F.
      { intros y Qy. destruct (so_total (L := L)) as (_ & _ & Hc).
        destruct (Hc s y) as [|[|X]]; auto; try (apply QE; auto). destruct (K y Qy X). }
      split; [exact Qs|]. split; [apply F; left; auto|]. intros w H1 H2 H3. apply F. right; auto. }
  pose proof (start_B0_tso e s Hme Ne Hs) as Bs. pose proof (start_conflict_tso e s Hme Ne Hs) as Cs.
  destruct (theorem_7_tso e x s Cy Hs) as (V7 & HB).
  exists T, m, tau, L, s. split; [exact Piv|]. split; [exact (sc_order_self (Tt' T m tau) L tWT' Sco)|].
  split; [apply Bs|]. split; [exact Cs|]. split; [exact V7|].
  intros b Hb Cb Tb. apply (theorem_8_thread_tso b (HB b Hb) Cb Tb). apply Cs.
Qed.

Theorem robust_tso_iff : robust_tso hw P <-> forall E m B L, last E m -> sc_order (without E m) L ->
  ~ violating_tso hw P (normal_form_tso E m B L).
Proof.
  split.
  - intros R E m B L _ _. apply R.
  - intros H. apply NNPP; intro N. destruct (normal_form_exists_tso N) as (E & m & B & L & ? & ? & ? & ? & V).
    exact (H E m B L H0 H3 V).
Qed.
End Form.

(* The concrete programs of Programs.v *)
Theorem concrete_normal_form_tso (hw : hardware) {OK : tso_ok hw} nt nv init prog pre :
  ~ robust_tso hw (the_program nt nv init prog pre) -> exists E m B L,
  last E m /\ sc_order (without E m) L /\ violating_tso hw (the_program nt nv init prog pre) (normal_form_tso E m B L).
Proof.
  intros N. destruct (normal_form_exists_tso hw _ N) as (E & m & B & L & H & _ & _ & S & V). exists E, m, B, L; auto.
Qed.
