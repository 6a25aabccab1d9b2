(* Theorem 5 and Theorem 7 for programs: a program that is not robust has a violating trace in normal form. *)
Require Import List Arith Lia Classical Relations Setoid.
Import ListNotations.
From RR Require Import Model Hardware Orders Cells Stores Rules Traces Lemma2 Source Parts Lemma6 Theorem7.

Section NormalForm.
Context {U : events} (hw : hardware) {OK : hardware_ok hw} (P : program).

(* sizes: E is covered by a list of n events *)
Definition covered n (E : ev -> Prop) := exists l, length l = n /\ forall e, E e -> In e l.

Lemma covered_without n E m : covered n E -> E m -> exists k, k < n /\ covered k (without E m).
Proof.
  intros (l & Hl & C) Em. destruct (in_split _ _ (C m Em)) as (l1 & l2 & ->).
  exists (length (l1 ++ l2)). split.
  - rewrite app_length in *. simpl in Hl. lia.
  - exists (l1 ++ l2); split; [auto|]. intros e (Ee & Ne). specialize (C e Ee).
    rewrite in_app_iff in *. simpl in C. destruct C as [|[|]]; auto; congruence.
Qed.

(* minimal: taking out any last event (with any new relations) leaves no violation *)
Definition minimal T := violating hw P T /\
  forall T1 m, last (E T) m -> E T1 = without (E T) m -> ~ violating hw P T1.

Lemma minimal_exists T : violating hw P T -> exists T0, minimal T0.
Proof.
  intros V. assert (exists n, covered n (E T)) as (n & C).
  { destruct (wf_fin _ (t_E _ (proj1 (proj2 (proj1 V))))) as (l & Hl). exists (length l), l; auto. }
  revert T V C. induction n as [n IH] using lt_wf_ind. intros T V C.
  destruct (classic (minimal T)) as [|N]; [eauto|].
  assert (exists T1 m, last (E T) m /\ E T1 = without (E T) m /\ violating hw P T1) as (T1 & m & Lm & Q & V1).
  { apply NNPP; intro K. apply N. split; [auto|]. intros T1 m Lm Q V1. apply K; eauto. }
  destruct (covered_without n (E T) m C (proj1 Lm)) as (k & Hk & C1).
  apply (IH k Hk T1); auto. now rewrite Q.
Qed.

(* an order in which a sequentially consistent machine executes E *)
Definition sc_order E L := sc_order_of (tr E L) L.

Lemma sc_order_intro E L : wfE E -> sto E L -> initfirst E L -> (forall a b, E a -> E b -> po a b -> L a b) -> sc_order E L.
Proof.
  intros W S I Hp. constructor; auto. intros a b [(Ea & Eb & H)|H|H|H].
  - auto.
  - apply H.
  - exact (rb_tr_fwd E L a b S H).
  - apply H.
Qed.

(* so an SC order of T' is one of the trace that it makes itself *)
Lemma sc_order_self T L : wft T -> sc_order_of T L -> sc_order (E T) L.
Proof.
  intros W [S I Hp]. apply sc_order_intro; auto; [apply W|].
  intros a b Ea Eb H. apply Hp, sc_po. repeat split; auto.
Qed.

Lemma sc_order_exists T : wft T -> sc_consistent T -> exists L, sc_order_of T L.
Proof.
  intros W C. destruct (linear (E T) (sc1 T)) as (L & SL & IL & HL).
  - apply (wf_fin _ (t_E _ W)).
  - exact C.
  - intros a b. now apply sc1_noninit.
  - exists L; constructor; auto.
Qed.

Lemma sc1_in T a b : wft T -> sc1 T a b -> E T b.
Proof.
  intros W [H|H|(_ & u & _ & H)|H]; [apply H|apply (t_rf _ W _ _ H)|apply (t_mo _ W _ _ H)|apply (t_mo _ W _ _ H)].
Qed.
Lemma something T : wft T -> ~ sc_consistent T -> exists x, E T x /\ noninit x.
Proof.
  intros W N. apply NNPP; intro K. apply N. intros a H. apply K.
  apply clos_trans_tn1 in H. exists a. destruct H; eauto using sc1_in, sc1_noninit.
Qed.

(* A minimal violating trace has all that Lemma 2 to Theorem 7 ask for. *)
Lemma setup T : minimal T -> exists m tau L, pivot hw P T m tau /\ sc_order_of (T' hw T m tau) L.
Proof.
  intros (V & Hm). pose proof V as ((_ & W & _) & Co & N).
  destruct (lemma_1 hw T W Co (something T W N)) as (m & M).
  destruct (linear (E T) (with_source hw T m)) as (tau & St & It & Ht).
  { apply (wf_fin _ (t_E _ W)). }
  { now apply with_source_acyclic. }
  { intros a b [H|(H & _)]; [eapply ob1_noninit; eauto|]. apply rd_noninit. apply (t_rf _ W _ _ H). }
  assert (Piv : pivot hw P T m tau).
  { constructor; auto; intros; apply Ht; [now left|right; auto]. }
  exists m, tau. destruct (sc_order_exists (T' hw T m tau) WT') as (L & Sco); [|eauto].
  apply NNPP. intros X. apply (Hm (T' hw T m tau) m); [apply M|reflexivity|].
  split; [exact lemma_2_1|]. split; [exact lemma_2_2|exact X].
Qed.

(* a violating trace, its pivot and both orders, of every program that is not robust *)
Lemma setup_exists : ~ robust hw P -> exists T m tau L, pivot hw P T m tau /\ sc_order_of (T' hw T m tau) L.
Proof.
  intros N. assert (exists T, violating hw P T) as (T1 & V1).
  { apply NNPP; intro K. apply N. intros T V. apply K; eauto. }
  destruct (minimal_exists T1 V1) as (T & Hmin). exists T. now apply setup.
Qed.

(* alpha in the order L, then m, then beta in the order L; with store buffers reads take their own stores that come later *)
Definition normal_form E m (B : ev -> Prop) L := trace_by hw E (sigma m L B).

Theorem normal_form_exists : ~ robust hw P -> exists E m B L,
  last E m /\ ~ B m /\ (forall b, B b -> without E m b) /\ sc_order (without E m) L /\
  violating hw P (normal_form E m B L).
Proof.
  intros N. destruct (setup_exists N) as (T & m & tau & L & Piv & Sco).
  exists (E T), m, (B0 T m tau), L. split; [apply Piv|]. split; [intros ((_ & X) & _); auto|]. split; [|split].
  - intros b (H & _); exact H.
  - exact (sc_order_self (T' hw T m tau) L WT' Sco).
  - exact theorem_5.
Qed.

(* With the split determined by L, m and s (Theorem 7), and the pivot as the search has it: it does not forward (T3). *)
Theorem pivot_form_exists : ~ robust hw P -> exists T m tau L s,
  pivot hw P T m tau /\ sc_order (without (E T) m) L /\ without (E T) m s /\ conflict m s /\
  violating hw P (normal_form (E T) m (beta hw T m L s) L) /\
  (forall b, beta hw T m L s b -> cpu b -> thr b = thr m -> store hw b /\ knd m = LR /\ loc b <> loc m).
Proof.
  intros N. destruct (setup_exists N) as (T & m & tau & L & Piv & Sco).
  destruct (sc_cycle L Sco) as (e & x & Cy). pose proof Cy as (Hme & _ & _ & Ne & _).
  destruct (start_exists e) as (s & Hs); [apply (m_edge e Hme Ne)|].
  pose proof (start_B0 e s Hme Ne Hs) as Bs. pose proof (start_conflict e s Hme Ne Hs) as Cs.
  destruct (theorem_7 e x s Cy Hs) as (V7 & HB).
  exists T, m, tau, L, s. split; [exact Piv|]. split; [exact (sc_order_self (T' hw T m tau) L WT' Sco)|].
  split; [apply Bs|]. split; [exact Cs|]. split; [exact V7|].
  intros b Hb Cb Tb. apply (theorem_8_thread b (HB b Hb) Cb Tb). apply Cs.
Qed.

Theorem robust_iff : robust hw P <-> forall E m B L, last E m -> sc_order (without E m) L ->
  ~ violating hw P (normal_form E m B L).
Proof.
  split.
  - intros R E m B L _ _. apply R.
  - intros H. apply NNPP; intro N. destruct (normal_form_exists N) as (E & m & B & L & ? & ? & ? & ? & V).
    exact (H E m B L H0 H3 V).
Qed.

(* Robust: every RDMA trace is executed by a sequentially consistent machine in some order. *)
Theorem robust_sc : robust hw P -> forall T, trace_of P T -> rdma_consistent hw T ->
  exists L, sc_order (E T) L /\ (forall w r, rf T w r <-> rf_in (E T) L w r) /\ (forall a b, mo T a b <-> mo_in (E T) L a b).
Proof.
  intros R T Tr C. pose proof (proj1 (proj2 Tr)) as W.
  assert (sc_consistent T) as Sc.
  { apply NNPP; intro N. apply (R T). split; [auto|split; auto]. }
  destruct (sc_order_exists T W Sc) as (L & Sco). exists L. pose proof Sco as [SL IL HL].
  split; [exact (sc_order_self T L W Sco)|]. split.
  - intros w r. apply same_rf; auto; intros a b H; apply HL; [now apply sc_rf|now apply sc_rb|now apply sc_mo].
  - intros a b. apply same_mo; auto; intros x y H; apply HL. now apply sc_mo.
Qed.
End NormalForm.
