(* Remote atomics: the normal form for every program (Theorem 5 with remote read-modify-writes). *)
Require Import List Arith Lia Classical Relations.
From RR Require Import Orders RemoteAtomicsModel RemoteAtomicsRules RemoteAtomicsValues RemoteAtomicsTraces RemoteAtomicsBase
  RemoteAtomicsPivot RemoteAtomicsExecuted RemoteAtomicsCycle RemoteAtomicsMaximal RemoteAtomicsParts RemoteAtomicsForm
  RemoteAtomicsNormalForm.

Section Theorem5.
Context {U : slots} (ord : order) (P : program).

Section Smallest.
Variables (S l : ev -> Prop) (tau : relation ev) (n : nat).
Hypothesis B : base ord P S l tau.
Hypothesis Small : smallest ord P n.
Hypothesis Cn : covered n S.
Let T := tr S l tau.
Local Notation WS := (@W U ord P S l tau B).

(* the pivot is one slot, or naR and naW: program and size allow to leave it out *)
Definition pivot_slots m pr := pr = rep m \/ (knd m = NAW /\ pr = m /\ l m).
Lemma leave_out m pr : last S m -> pivot_slots m pr -> exists S' : ev -> Prop,
  (forall e, S' e <-> S e /\ ~ M m pr e) /\ runs P S' /\ exists k, k < n /\ covered k S'.
Proof.
  intros L Q0. assert (runs P S) as R by exact (proj1 (proj1 (@g_V U ord P S l tau B))).
  destruct (covered_without n S m Cn (proj1 L)) as (k & Hk & Ck).
  assert (pr = m \/ (knd m = NAW /\ pr = src m)) as [->|(K & ->)].
  { destruct Q0 as [->|(_ & -> & _)]; auto. destruct (rep_spec m) as [(K & -> & _)|(_ & ->)]; auto. }
  - exists (without S m). split; [|split].
    + intros e. unfold without, M. tauto.
    + now apply runs_prefix.
    + eauto.
  - destruct (naw_facts m K) as (Pm & _ & Ks & _).
    assert (S (src m)) as Ss by (eapply wf_down; [exact WS|exact Pm|apply L]).
    assert (src m <> m) as Ns by congruence.
    exists (without (without S m) (src m)). split; [|split].
    + intros e. unfold without, M. tauto.
    + apply runs_prefix; [now apply runs_prefix|]. split; [split; auto|]. split; [unfold noninit; congruence|].
      intros b (Sb & Nb) H. destruct (naw_next m b K H) as [->|H']; [auto|]. exact (proj2 (proj2 L) b Sb H').
    + destruct (covered_without k (without S m) (src m) Ck) as (k' & Hk' & Ck'); [split; auto|]. exists k'. split;
      [lia|auto].
Qed.

Lemma setting_exists m pr : pivotal (S:=S) (l:=l) (tau:=tau) m -> pivot_slots m pr -> exists S' l',
  setting ord P S l tau m pr S' l' /\ exists k, k < n /\ covered k S'.
Proof.
  intros (L & Hm) Q0. destruct (leave_out m pr L Q0) as (S' & HS & R & k & Hk & Ck).
  destruct Ck as (es & He & Hes).
  destruct (exec_exists (length es) S' tau) as (l' & Rl).
  { exists es; auto. }
  { apply (sto_sub S); [intros e H; now apply HS|apply (g_sto (base:=B))]. }
  { intros w Sw N. apply HS in Sw. destruct Sw as (Sw & Nw). destruct (@src_tau U ord P S l tau B w Sw N) as (Ss & Ht).
    split; auto. apply HS. split; auto. pose proof (proj1 (src_ok w N)) as H. intros [Q|Q].
    - rewrite Q in H. exact (proj2 (proj2 L) w Sw H).
    - destruct Q0 as [Q0|(_ & Q0 & _)]; rewrite Q0 in Q; [|rewrite Q in H; exact (proj2 (proj2 L) w Sw H)].
      destruct (rep_spec m) as [(K & Q' & _)|(_ & Q')]; rewrite Q' in Q; rewrite Q in H.
      + destruct (naw_next m w K H) as [->|H']; [apply Nw; left; auto|exact (proj2 (proj2 L) w Sw H')].
      + exact (proj2 (proj2 L) w Sw H). }
  exists S', l'. split; [constructor; auto|]. exists k. split; [auto|exists es; auto].
Qed.
(* a smaller trace is sc-consistent *)
Lemma left_sc m S' l' k : setting ord P S l tau m (rep m) S' l' -> k < n -> covered k S' -> sc_consistent (tr S' l' tau).
Proof.
  intros G Hk Ck. apply NNPP. intros N. apply (Small k (tr S' l' tau) Hk Ck).
  split; [exact (@lemma_2_1_atomics U ord P S l tau m (rep m) S' l' G eq_refl)|].
  split; [exact (@lemma_2_2_atomics U ord P S l tau m (rep m) S' l' G)|exact N].
Qed.

(* Lemma 2 (3): if nothing flips, every sc cycle passes through the pivot's vertex *)
Lemma cycles_through m S' l' z : setting ord P S l tau m (rep m) S' l' -> sc_consistent (tr S' l' tau) ->
  (forall x, S' x -> cond x -> (l x <-> l' x)) -> sc T z z -> z = rep m \/ (sc T z (rep m) /\ sc T (rep m) z).
Proof.
  intros G SC Live Hz.
  assert (forall x, S' x -> (wr l x <-> wr l' x)) as Wr.
  { intros x Sx. unfold wr. split; intros (Ix & Cx); split; auto; intros C; apply (Live x Sx C); auto. }
  assert (forall a, S a -> rep a <> rep m -> S' a) as HS.
  { intros a Sa N. apply (@S'_intro U ord P S l tau m (rep m) S' l' G); auto. intros Q. apply N. destruct Q as [Q|Q];
    rewrite Q; [auto|apply rep_rep]. }
  assert (forall x y, off (scv T) (rep m) x y -> sc (tr S' l' tau) x y) as Off.
  { intros x y ((a & b & -> & -> & E1 & N) & Na & Nb).
    assert (on T po a b \/ (rf_in S l tau a b \/ rb T a b \/ mo_in S l tau a b)) as [((Sa & _) & (Sb & _) & H)|H].
    { destruct E1; tauto. }
    - destruct (po_scv (tr S' l' tau) a b (@wfS' U ord P S l tau m (rep m) S' l' G) (HS a Sa Na) (HS b Sb Nb) H) as [Q|V].
      + destruct (rep_po_neq a b H N Q).
      + now apply t_step.
    - destruct (eco_conflict S l tau a b (g_sto (base:=B)) H) as (Sa & Sb & C & Hab).
      apply join; auto; [exact (@wfS' U ord P S l tau m (rep m) S' l' G)|exact (@sto' U ord P S l tau m (rep m) S' l' G)|
        exact (@init' U ord P S l tau m (rep m) S' l' G)|].
      pose proof (Wr a (HS a Sa Na)). pose proof (Wr b (HS b Sb Nb)). unfold conflict in *. tauto. }
  destruct (classic (z = rep m)) as [->|Nz]; [auto|right].
  destruct (through (scv T) (rep m) z z Hz Nz) as [(H & _)|(H & H')].
  - exfalso. apply (SC z). assert (forall x y, clos_trans ev (off (scv T) (rep m)) x y -> sc (tr S' l' tau) x y) as K; auto.
    intros x y K. induction K; [now apply Off|eapply t_trans; eauto].
  - destruct (rt_ct _ _ _ H') as [Q|H'']; [congruence|]. split; auto.
Qed.
Lemma unread_cycle m S' l' : setting ord P S l tau m (rep m) S' l' -> sc_consistent (tr S' l' tau) ->
  (forall x, ~ rf_in S l tau m x) -> sc T (rep m) (rep m).
Proof.
  intros G SC Nr. destruct (proj2 (@g_V U ord P S l tau B)) as (_ & Nsc). apply not_all_ex_not in Nsc. destruct Nsc as (z &
    Hz).
  apply NNPP in Hz. destruct (cycles_through m S' l' z G SC) as [<-|(H & H')]; auto; [|eapply t_trans; eauto].
  intros x Sx C. apply (@T'_live U ord P S l tau m (rep m) S' l' G); auto. intros (d & R & D).
  rewrite (unread m d Nr D) in R. exact (Nr _ R).
Qed.

Lemma nonempty : exists x, S x /\ noninit x.
Proof.
  destruct (proj2 (@g_V U ord P S l tau B)) as (_ & Nsc). apply not_all_ex_not in Nsc. destruct Nsc as (z & Hz).
  apply NNPP in Hz. apply clos_trans_tn1 in Hz.
  assert (forall x y, scv T x y -> exists e, S e /\ noninit e) as H.
  { pose proof (proj1 (proj2 (proj1 (@g_V U ord P S l tau B)))) as Wt.
    intros x y (a & b & _ & _ & E1 & _). exists b. destruct E1 as [(_ & (Sb & _) & H)|H|(_ & u & _ & H)|H].
    - split; auto. eapply po_init_r; eauto.
    - split; [apply H|]. apply rd_noninit, H.
    - split; [apply H|exact (t_mo_init _ Wt _ _ H)].
    - split; [apply H|exact (t_mo_init _ Wt _ _ H)]. }
  destruct Hz; eauto.
Qed.

(* some pivot lies on an sc cycle, whatever flips *)
Theorem pivot_on_cycle : exists m, pivotal (S:=S) (l:=l) (tau:=tau) m /\ sc T (rep m) (rep m).
Proof.
  destruct (classic (exists m, pivotal (S:=S) (l:=l) (tau:=tau) m /\ forall x, ~ rf_in S l tau m x)) as [(m & Pm & N)|N].
  - exists m. split; auto. destruct (setting_exists m (rep m) Pm (or_introl eq_refl)) as (S' & l' & G & k & Hk & Ck).
    pose proof (left_sc m S' l' k G Hk Ck) as SC. exact (unread_cycle m S' l' G SC N).
  - apply (@cycle_at_pivot U ord P S l tau B nonempty). intros m Pm. apply NNPP. intros K. apply N. exists m. split; auto.
    intros x R. apply K; eauto.
Qed.
End Smallest.

(* The normal form.  S: slots; m: the pivot, last of its thread, together with its naR if it is a naW; L: an order of the
  other
   slots in which a sequentially consistent machine runs the program, an RMW in one piece; lX: what happens with real
     values. *)
Theorem normal_form_atomics : ~ robust ord P -> exists S m Be Mi L S' l' lX,
  last S m /\ (forall e, S' e <-> S e /\ ~ M m (rep m) e) /\ (knd m <> NAW -> forall e, ~ Mi e) /\
  trace_of P (tr S' l' L) /\ (forall a b, S' a -> S' b -> po a b -> L a b) /\
  (forall x e, S' x -> knd x = NAW -> L e x -> e = src x \/ L e (src x)) /\
  real_in S lX (in_parts Be Mi m (rep m) L) /\ violating ord P (tr S lX (in_parts Be Mi m (rep m) L)).
Proof.
  intros N. assert (exists T, violating ord P T) as (T1 & V1).
  { apply NNPP; intro K. apply N. intros T V. apply K; eauto. }
  destruct (smallest_exists ord P T1 V1) as (n & T & Cn & V & Sm).
  destruct (base_exists ord P T V) as (tau & B).
  destruct (pivot_on_cycle (S T) (live T) tau n B Sm Cn) as (m & Pm & Cyc).
  destruct (setting_exists (S T) (live T) tau n B Cn m (rep m) Pm (or_introl eq_refl)) as (S' & l' & G & k & Hk & Ck).
  pose proof (left_sc (S T) (live T) tau n Sm m S' l' k G Hk Ck) as SC.
  destruct (@sc_run_exists U ord P (S T) (live T) tau m (rep m) S' l' G SC) as (L & HL).
  pose (sig := in_parts (beta (tau:=tau) (m:=m)) (middle (tau:=tau) (m:=m) (pr:=rep m)) m (rep m) L).
  assert (sto (S T) sig) as Ss by (unfold sig, in_parts; repeat apply lexP_sto; apply HL).
  destruct Cn as (es & Le & Hes).
  destruct (exec_exists (length es) (S T) sig) as (lX & Rx); [exists es; auto|exact Ss| |].
  { intros w Sw Nw. destruct (@src_tau U ord P (S T) (live T) tau B w Sw Nw) as (A1 & A2). split; auto.
    assert (S' w \/ ~ S' w) as [Sw'|Sw'] by apply classic.
    - apply (@sigma_fwd U ord P (S T) (live T) tau m (rep m) S' l' G); auto. do 4 right.
      apply (L_po (sc_run:=HL)); auto; [|now apply src_ok]. apply (@src' U ord P (S T) (live T) tau m (rep m) S' l' G); auto.
    - apply (@sigma_M U ord P (S T) (live T) tau m (rep m) S' l' G); auto. right.
      destruct (@M_or_S' U ord P (S T) (live T) tau m (rep m) S' l' G w Sw); tauto. }
  pose proof (@sigma_arranged U ord P (S T) (live T) tau m (rep m) S' l' G L HL lX Rx) as A.
  exists (S T), m, (beta (tau:=tau) (m:=m)), (middle (tau:=tau) (m:=m) (pr:=rep m)), L, S', l', lX.
  split; [apply Pm|]. split; [apply (@g_S' U ord P (S T) (live T) tau m (rep m) S' l' G)|]. split; [|split; [|split;
    [|split; [|split]]]].
  - intros K e (H1 & H2). destruct (rep_spec m) as [(K' & _)|(_ & Q)]; [congruence|]. rewrite Q in H1.
    exact (sto_asym _ _ _ _ (g_sto (base:=B)) H1 H2).
  - exact (@sc_run_trace U ord P (S T) (live T) tau m (rep m) S' l' G L HL eq_refl).
  - apply (L_po (sc_run:=HL)).
  - apply (L_adj (sc_run:=HL)).
  - exact Rx.
  - exact (@executed_violating U ord P (S T) (live T) tau m (rep m) S' l' G sig lX A Cyc).
Qed.

Corollary robust_iff_atomics : robust ord P <-> forall S m Be Mi L lX, last S m ->
  ~ violating ord P (tr S lX (in_parts Be Mi m (rep m) L)).
Proof.
  split.
  - intros R S m Be Mi L lX _. apply R.
  - intros H. apply NNPP; intro N. destruct (normal_form_atomics N) as (S & m & Be & Mi & L & S' & l' & lX & Lm & _ & _ & _
    & _ & _ & _ & V).
    exact (H S m Be Mi L lX Lm V).
Qed.

End Theorem5.
Print Assumptions normal_form_atomics.
