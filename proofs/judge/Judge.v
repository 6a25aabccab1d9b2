(* The judge is right: what it calls violating is violating. *)
Require Import List Arith ZArith Bool Lia Relations.
Import ListNotations.
From RR Require Import Model Hardware Orders Cells Stores Rules Traces CpuSc Programs Places Listed Checks Listing
  Sigma.

Lemma writes_kind_spec k : writes_kind k = true <-> is_w k.
Proof. destruct k; simpl; intuition discriminate. Qed.
Lemma reads_kind_spec k : reads_kind k = true <-> is_r k.
Proof. destruct k; simpl; intuition discriminate. Qed.
Lemma kind_beq_refl k : kind_beq k k = true.
Proof. now destruct k. Qed.

Lemma followsb_spec l h : followsb l h = true -> follows l h.
Proof. destruct h as [|l' h]; destruct l; try destruct l'; simpl; auto; try discriminate; apply Nat.eqb_eq. Qed.
Lemma okb_spec nv h : okb nv h = true -> ok nv h.
Proof.
  induction h as [|l h IH]; simpl; [auto|]. rewrite !andb_true_iff. intros (((F & P) & C) & O).
  split; [auto|]. split; [now apply followsb_spec|]. split; [|now apply Nat.ltb_lt].
  destruct l; simpl in *; auto. now apply Nat.ltb_lt.
Qed.
Lemma wrong_shape_spec nv ts : forall n, wrong_shape nv n ts = None -> forall l, In l ts -> ok nv (history l).
Proof.
  induction ts as [|l ts IH]; simpl; [tauto|]. intros n H k [<-|I].
  - apply okb_spec. now destruct (okb nv (history l)).
  - destruct (okb nv (history l)); [eauto|discriminate].
Qed.

Lemma between_split l1 p m1 q m2 : between (l1 ++ p :: m1 ++ q :: m2) (length l1) (length l1 + S (length m1)) = m1.
Proof.
  unfold between. replace (length l1 + S (length m1) - S (length l1)) with (length m1) by lia.
  assert (skipn (S (length l1)) (l1 ++ p :: m1 ++ q :: m2) = m1 ++ q :: m2) as -> by (induction l1; auto).
  now rewrite firstn_app, firstn_all, Nat.sub_diag, app_nil_r.
Qed.

(* an nrW or nlW that writes what the event before it has read *)
Definition carry_write l := match l with Lnrw _ _ _ | Lnlw _ _ _ => true | _ => false end.

Section Sound.
Context (hw : hardware) {OK : hardware_ok hw} {SC : cpu_sc hw}.
Variables (ts : list (list item)) (nv : nat) (init : nat -> Z) (ids ids' : list (nat * nat)) (a b : list placed).
Hypothesis Ha : take ids (queues false 0 ts) = All_of a.
Hypothesis Hb : take ids' (queues true 0 ts) = All_of b.
Hypothesis shape : wrong_shape nv 0 ts = None.
Let s := a ++ b.
Hypothesis fine : values_and_rules hw init s = None.
Notation E := (E ts nv init).
Notation lt := (lt nv init s).
Notation B := (B b).
Let T := tr (U := concrete) E lt.
Let whole : listing ts s := parts_listing ts nv init ids ids' a b Ha Hb.
Let in_s := listed ts s whole.
Let po_place := po_place ts s whole.
Let mark := mark ts nv init ids ids' a b Ha Hb.
Let sto_lt := sto_lt ts nv init s whole.
Let init_first := init_first ts nv init s whole.
Let before_evt := before_evt nv init s.

Lemma all_tests p l1 l2 : s = l1 ++ p :: l2 ->
  reads_memory init (rev l1) p = true /\ carries_on p = true /\
  rule1 hw (what p) (past p) = true /\ rule2 (what p) (past p) = true /\ rule3 hw (what p) (past p) = true.
Proof.
  intros Q. unfold values_and_rules in fine.
  destruct (first_wrong _ _ _) eqn:K1 in fine; [discriminate|].
  destruct (first_wrong _ _ _) eqn:K2 in fine; [discriminate|].
  destruct (first_wrong _ _ _) eqn:K3 in fine; [discriminate|].
  destruct (first_wrong _ _ _) eqn:K4 in fine; [discriminate|].
  pose proof (first_wrong_spec _ _ _ K1 _ _ _ Q) as X. rewrite app_nil_r in X. apply andb_prop in X.
  split; [apply X|split; [apply X|]].
  split; [exact (first_wrong_spec _ _ _ K2 _ _ _ Q)|].
  split; [exact (first_wrong_spec _ _ _ K3 _ _ _ Q)|exact (first_wrong_spec _ _ _ K4 _ _ _ Q)].
Qed.
Lemma rules_of p : In p s ->
  rule1 hw (what p) (past p) = true /\ rule2 (what p) (past p) = true /\ rule3 hw (what p) (past p) = true.
Proof. intros I. destruct (in_split _ _ I) as (l1 & l2 & Q). apply (all_tests p l1 l2 Q). Qed.

Lemma okT t : ok nv (path_of ts t).
Proof.
  unfold path_of, thread. destruct (nth_in_or_default t ts []) as [I|D].
  - eapply wrong_shape_spec; eauto.
  - rewrite D. simpl. exact I.
Qed.
Lemma prog_ok nt (prog : nat -> list label -> Prop) : length ts <= nt -> (forall t, prog t (path_of ts t)) ->
  is_run nt nv init prog E.
Proof.
  intros L H. exists (path_of ts). split; [split|].
  - intros t. split; [auto|apply okT].
  - intros t Ht. unfold path_of, thread. rewrite nth_overflow by lia. reflexivity.
  - intros e. reflexivity.
Qed.
Lemma wfE_s : wfE (U := concrete) E.
Proof. apply (run_wf (length ts) nv init (fun _ _ => True)). apply prog_ok; auto. Qed.

(* places of the events that the rules speak of *)
Lemma place e : E e -> eknd e <> Init -> exists p, In p s /\ evt p = e.
Proof. intros H N. destruct e as [x v|t l h]; [now destruct N|]. exact (place_of ts s whole t l h H). Qed.
Lemma qp_lq p q : who p = who q -> eqp (evt p) = eqp (evt q) <-> lq (lab (what p)) = lq (lab (what q)).
Proof. intros W. simpl. rewrite W. split; [intros H; now inversion H|congruence]. Qed.

Lemma r1 : R1 (U := concrete) hw E B.
Proof.
  intros x y Ex Ey By O. apply oppo_sc in O; [|exact SC]. destruct O as (P & K). simpl in *.
  destruct (place x Ex) as (q & J & <-).
  { intros X. destruct x as [c v|t l h]; [destruct y; destruct P|destruct l; discriminate]. }
  destruct (po_place y q J P) as (p & I & <- & W & (k & Pq)). apply mark; [auto|].
  destruct (rules_of q J) as (R & _). unfold rule1 in R. destruct (late (what q)); [auto|].
  pose proof (all_past_spec _ _ _ _ _ R Pq) as X. cbv beta in X. apply (mark p I) in By. rewrite By in X. simpl in X.
  exfalso. unfold kept_order in X. simpl in K. destruct (table hw (lknd (lab (what p))) (lknd (lab (what q))));
    try discriminate; try tauto.
  apply (qp_lq p q W) in K. rewrite K, Nat.eqb_refl in X. discriminate.
Qed.

Lemma forcing_b p : In p s -> forcing (U := concrete) hw E B (evt p) -> forcingb (what p) (past p) = true.
Proof.
  intros I Fo. apply forcing_sc in Fo; [|exact SC]. destruct Fo as (_ & Bp & F). unfold forcingb.
  apply (mark p I) in Bp. rewrite Bp. simpl.
  destruct F as [K|(K & e & _ & Be & Ke & Q & P)]; simpl in K; rewrite K; auto.
  apply existsb_exists. simpl in P. destruct (po_place e p I P) as (z & Iz & <- & W & (k & Pz)).
  exists (what z). split; [rewrite Pz; apply in_or_app; right; now left|].
  apply (mark z Iz) in Be. rewrite Be. simpl. unfold starts. simpl in Ke, Q.
  apply (qp_lq z p W) in Q. rewrite Q. destruct Ke as [-> | ->]; apply Nat.eqb_refl.
Qed.
Lemma r2 : R2 (U := concrete) hw E B.
Proof.
  intros w p Ep F Fw. simpl in *. destruct (@pf_ok concrete w p F) as (P & _ & Kp & _). simpl in P, Kp.
  destruct (place p Ep) as (q & J & <-); [congruence|].
  destruct (po_place w q J P) as (z & I & <- & W & (k & Pq)). apply mark; [auto|].
  destruct (rules_of q J) as (_ & R & _). unfold rule2 in R. destruct (late (what q)); [auto|].
  assert (exists n, lab (what q) = Lp n) as (n & Ln) by (simpl in Kp; destruct (lab (what q)); try discriminate; eauto).
  unfold evt in F at 2; simpl in F. rewrite Ln in F, R.
  pose proof (all_past_spec _ _ _ _ _ R Pq) as X. cbv beta in X. rewrite (forcing_b z I Fw) in X.
  destruct F as (_ & _ & F & C). unfold polledb in X. rewrite F in X. unfold takes in C. simpl in X.
  destruct (isS n (lab (what z))); [rewrite C, Nat.eqb_refl in X; discriminate|].
  apply Nat.leb_le in C. rewrite C in X. discriminate.
Qed.
Lemma r3 : R3 (U := concrete) hw E B.
Proof.
  intros Fl w f r Ew Ef Er Kw Kf Kr Q Q' P P' Bw Nf. simpl in *.
  destruct (place r Er) as (z & Iz & <-); [congruence|].
  destruct (po_place f z Iz P') as (y & Iy & <- & Wy & (k & Py)).
  destruct (po_place w y Iy P) as (x & Ix & <- & Wx & (k' & Px)). apply mark; [auto|].
  destruct (rules_of z Iz) as (_ & _ & R). unfold rule3 in R. destruct (late (what z)); [auto|].
  simpl in Kw, Kf, Kr. rewrite Fl, Kr in R. simpl in R.
  pose proof (all_past_spec _ _ _ _ _ R Py) as X. cbv beta in X. unfold of_queue in X at 1. rewrite Kf in X. simpl in X.
  apply (qp_lq y z Wy) in Q'. rewrite Q', Nat.eqb_refl in X.
  rewrite (mark y Iy) in Nf. destruct (late (what y)); [tauto|]. simpl in X.
  pose proof (all_past_spec _ _ _ _ _ X Px) as Y. cbv beta in Y. apply (mark x Ix) in Bw. rewrite Bw in Y.
  apply (qp_lq x y Wx) in Q. unfold of_queue in Y. rewrite Kw, Q, Q', Nat.eqb_refl in Y. discriminate.
Qed.

Lemma forward x y : ob1 hw T x y -> lt x y.
Proof.
  revert x y. apply (lemma_3_sc (U := concrete) hw E lt B wfE_s sto_lt).
  - apply (split_lt ts nv init ids ids' a b Ha Hb).
  - apply (po_within ts nv init ids ids' a b Ha Hb).
  - split; [exact r1|split; [exact r2|exact r3]].
Qed.

(* Values *)
Lemma wft_T : wft T.
Proof. apply tr_wft; [apply wfE_s|apply sto_lt|apply init_first]. Qed.
Lemma in_E p : In p s -> E (evt p).
Proof. apply (E_evt ts nv init s whole). Qed.
Lemma E_in e : E e -> In e (events_in_order nv init s).
Proof. apply (E_iff ts nv init s whole). Qed.
Lemma writes_spec p : writesb p = true <-> wr (U := concrete) (evt p).
Proof. apply writes_kind_spec. Qed.
Lemma reads_spec p : readsb p = true <-> rd (U := concrete) (evt p).
Proof. apply reads_kind_spec. Qed.
Lemma cell_in p : In p s -> lloc (lab (what p)) < nv.
Proof.
  intros I. pose proof (place_in ts s whole p I) as S.
  pose proof (ok_suf nv _ _ S (okT (who p))) as O. simpl in O. tauto.
Qed.
(* what is before an event of the order: an initial write, or listed before it *)
Lemma lt_evt p l1 l2 e : s = l1 ++ p :: l2 -> lt e (evt p) ->
  (exists x v, e = Ini x v /\ E (Ini x v)) \/ exists q, In q l1 /\ evt q = e.
Proof.
  intros Q L. destruct (before_in _ _ _ L) as (I & _). pose proof (proj2 (E_iff ts nv init s whole e) I) as Ee.
  destruct e as [x v|t l h]; [left; eauto|right].
  unfold events_in_order in I. apply in_app_or in I.
  destruct I as [I|I]; apply in_map_iff in I; destruct I as (q & H & I); [discriminate|].
  exists q. split; [|auto]. rewrite Q in I. apply in_app_or in I. destruct I as [I|[<-|I]]; [auto| |]; exfalso.
  - rewrite <- H in L. eapply (proj1 sto_lt); eauto.
  - rewrite <- H in L. eapply (sto_asym (U := concrete)); [exact sto_lt|exact L|].
    apply before_evt. rewrite Q. now apply before_intro.
Qed.

(* a read has a source that has written what the read claims *)
Lemma source p l1 l2 : s = l1 ++ p :: l2 -> readsb p = true -> exists w, rf T w (evt p) /\
  ((exists c v, w = Ini c v /\ v = read_value (what p)) \/
   exists q, In q l1 /\ evt q = w /\ writesb q = true /\ write_value (what q) = read_value (what p)).
Proof.
  intros Q R. assert (In p s) as I by (rewrite Q; apply in_or_app; right; now left).
  destruct (all_tests p l1 l2 Q) as (M & _). unfold reads_memory in M. unfold readsb in R. rewrite R in M.
  set (c := lloc (lab (what p))) in *.
  destruct (find (writes_to c) (rev l1)) as [w|] eqn:F.
  - destruct (find_spec _ _ _ F) as (k1 & k2 & K & Ww & N). apply Z.eqb_eq in M.
    assert (l1 = rev k2 ++ w :: rev k1) as L1.
    { rewrite <- (rev_involutive l1), K, rev_app_distr. simpl. now rewrite <- app_assoc. }
    unfold writes_to in Ww. apply andb_prop in Ww. destruct Ww as (Ww & Cw). apply Nat.eqb_eq in Cw.
    assert (In w l1) as Iw by (rewrite L1; apply in_or_app; right; now left).
    assert (In w s) as Iws by (rewrite Q; apply in_or_app; now left).
    exists (evt w). split; [|right; exists w; auto].
    split; [now apply in_E|]. split; [now apply in_E|]. split; [now apply writes_kind_spec|].
    split; [now apply reads_kind_spec|]. split; [exact Cw|]. split.
    + apply before_evt. rewrite Q. now apply before_intro_l.
    + intros y Ey Wy Ly Hy. destruct (lt_evt p l1 l2 y Q Hy) as [(x & v & -> & _)|(q & Iq & <-)].
      * right. apply init_first; auto; [now apply in_E|]. unfold noninit; simpl.
        destruct (lab (what w)); discriminate.
      * rewrite L1 in Iq. apply in_app_or in Iq. destruct Iq as [Iq|[<-|Iq]]; [right|now left|exfalso].
        { apply before_evt. rewrite Q, L1, <- app_assoc. simpl. apply before_intro_l. exact Iq. }
        apply in_rev in Iq. specialize (N q Iq). unfold writes_to in N. apply writes_kind_spec in Wy. simpl in Wy, Ly.
        rewrite Wy, Ly in N. fold c in N. rewrite Nat.eqb_refl in N. discriminate.
  - apply Z.eqb_eq in M. exists (Ini c (init c)). split; [|left; exists c, (init c); auto].
    assert (E (Ini c (init c))) as Ei by (split; [apply cell_in; auto|reflexivity]).
    split; [exact Ei|]. split; [now apply in_E|]. split; [exact Logic.I|].
    split; [now apply reads_kind_spec|]. split; [reflexivity|]. split.
    + apply init_first; [exact Ei|now apply in_E|reflexivity|].
      unfold noninit; simpl; destruct (lab (what p)); discriminate.
    + intros y Ey Wy Ly Hy. destruct (lt_evt p l1 l2 y Q Hy) as [(x & v & -> & _ & Vx)|(q & Iq & <-)]; [left;
      simpl in Ly; subst x v; reflexivity|exfalso].
      pose proof (find_none _ _ F q) as N. rewrite <- in_rev in N. specialize (N Iq). unfold writes_to in N.
      apply writes_kind_spec in Wy. simpl in Wy, Ly. rewrite Wy, Ly in N. fold c in N. rewrite Nat.eqb_refl in N.
        discriminate.
Qed.

(* what the events claim is what their sources give them *)
Lemma claims n : forall p l1 l2, s = l1 ++ p :: l2 -> length l1 <= n ->
  (writesb p = true -> val (U := concrete) (rf T) (evt p) (write_value (what p))) /\
  (forall w, readsb p = true -> rf T w (evt p) -> val (U := concrete) (rf T) w (read_value (what p))).
Proof.
  induction n as [n IH] using lt_wf_ind. intros p l1 l2 Q L.
  assert (forall q, In q l1 -> exists k1 k2, s = k1 ++ q :: k2 /\ length k1 < length l1) as Sub.
  { intros q I. destruct (in_split _ _ I) as (k1 & k2 & ->). exists k1, (k2 ++ p :: l2). split.
    - now rewrite Q, <- app_assoc.
    - rewrite app_length. simpl. lia. }
  assert (In p s) as I by (rewrite Q; apply in_or_app; right; now left).
  split.
  - intros W. destruct (carry_write (lab (what p))) eqn:C.
    + unfold write_value. assert (match lab (what p) with Lnrw _ _ _ | Lnlw _ _ _ => carried (what p) |
      l => lwv l end = carried (what p)) as ->
        by (destruct (lab (what p)); try discriminate; reflexivity).
      destruct (all_tests p l1 l2 Q) as (_ & K & _). unfold carries_on in K.
      assert (exists r h, past p = r :: h /\ carried r = carried (what p)) as (r & h & Pp & V).
      { destruct (lab (what p)); simpl in *; try discriminate;
        destruct (past p) as [|r h]; try discriminate; exists r, h; split; auto; now apply Z.eqb_eq. }
      pose proof (ok_suf nv _ _ (place_in ts s whole p I) (okT (who p))) as (_ & Fo & _). rewrite Pp in Fo. simpl in Fo.
      set (q := {| who := who p; nth_of := length h; what := r; past := h |}).
      assert (In q s) as Iq by (apply in_s; apply (places_past (who p) _ p r h); [now apply in_s|exists []; exact Pp]).
      assert (carry (events := concrete) (evt q) (evt p)) as Cq.
      { simpl. split; [auto|]. rewrite Pp. split; [reflexivity|].
        destruct (lab r), (lab (what p)); simpl in *; try discriminate; try tauto; subst; auto. }
      assert (lt (evt q) (evt p)) as Lq.
      { apply forward, ob_oppo. split; [now apply in_E|split; [now apply in_E|]]. now apply (carry_oppo hw). }
      destruct (lt_evt p l1 l2 _ Q Lq) as [(x & v & X & _)|(q' & Iq' & Eq)]; [discriminate|].
      assert (q' = q) as ->.
      { apply (evt_inj ts s whole); auto. rewrite Q. apply in_or_app; now left. }
      destruct (Sub q Iq') as (k1 & k2 & Qq & Lk).
      destruct (@carry_ok concrete _ _ Cq) as (_ & _ & Kq).
      assert (readsb q = true) as Rq by (unfold readsb; simpl in Kq |- *; destruct Kq as [(-> & _)|(-> & _)]; reflexivity).
      destruct (source q k1 k2 Qq Rq) as (w & Hw & _).
      eapply val_nicw; [exact Cq|]. apply val_nicr with w; [now apply reads_spec| |exact Hw|].
      * unfold cpu. simpl in Kq |- *. destruct Kq as [(-> & _)|(-> & _)]; simpl; tauto.
      * assert (carried (what p) = read_value (what q)) as ->.
        { rewrite <- V. unfold read_value. simpl in Kq. simpl. destruct (lab r); simpl in Kq; try reflexivity;
          intuition discriminate. }
        assert (length k1 < n) as Ln by lia. exact (proj2 (IH (length k1) Ln q k1 k2 Qq (le_n _)) w Rq Hw).
    + assert (write_value (what p) = cwv (events := concrete) (evt p)) as ->.
      { unfold write_value. simpl. destruct (lab (what p)); try discriminate; reflexivity. }
      apply (@val_own concrete (rf T) (evt p)); [now apply writes_spec|].
      intros [x v|t l h] X; [destruct X|]. destruct X as (_ & _ & X). destruct l; simpl in X; try tauto;
        destruct (lab (what p)); simpl in X; try tauto; discriminate.
  - intros w R Hw. destruct (source p l1 l2 Q R) as (w' & Hw' & S).
    rewrite (t_rf_fun _ wft_T _ _ _ Hw Hw'). destruct S as [(c & v & -> & V)|(q & Iq & <- & Wq & V)].
    + rewrite <- V. apply (@val_own concrete (rf T) (Ini c v)); [exact Logic.I|]. intros [y u|t l h] [].
    + rewrite <- V. destruct (Sub q Iq) as (k1 & k2 & Qq & Lk).
      assert (length k1 < n) as Ln by lia. exact (proj1 (IH (length k1) Ln q k1 k2 Qq (le_n _)) Wq).
Qed.
Lemma valid_T : valid T.
Proof.
  intros r Er Cr Rr. destruct (place r Er) as (p & I & <-).
  { intros K. red in Cr. simpl in Cr. rewrite K in Cr. destruct Cr. }
  destruct (in_split _ _ I) as (l1 & l2 & Q). apply reads_spec in Rr.
  destruct (source p l1 l2 Q Rr) as (w & Hw & _). exists w. split; [exact Hw|].
  assert (read_value (what p) = crv (events := concrete) (evt p)) as <-.
  { unfold read_value. red in Cr. simpl in Cr |- *. destruct (lab (what p)); simpl in Cr; try tauto; reflexivity. }
  exact (proj2 (claims (length l1) p l1 l2 Q (le_n _)) w Rr Hw).
Qed.

(* The cycle *)
Lemma edge_sc i k j p q : edgeb s i k j = true -> nth_error s i = Some p -> nth_error s j = Some q -> sc1 T (evt p) (evt q).
Proof.
  intros H Hp Hq. unfold edgeb in H. rewrite Hp, Hq in H.
  assert (In p s) as Ip by (eapply nth_error_In; eauto). assert (In q s) as Iq by (eapply nth_error_In; eauto).
  pose proof (in_E p Ip) as Ep. pose proof (in_E q Iq) as Eq.
  assert (i < j -> lt (evt p) (evt q)) as L.
  { intros L. apply before_evt. exists i, j. auto. }
  destruct k; rewrite !andb_true_iff in H.
  - destruct H as (W & N). apply Nat.eqb_eq in W. apply Nat.ltb_lt in N. apply sc_po. split; [auto|split; [auto|]].
    destruct (wf_total _ wfE_s (evt p) (evt q)) as [X|[X|X]]; auto; try (unfold noninit; simpl; destruct (lab _);
      discriminate); exfalso.
    + rewrite (evt_inj ts s whole p q Ip Iq X) in N. lia.
    + destruct (po_place _ p Ip X) as (q' & Iq' & Q' & _ & (k & K)).
      rewrite (evt_inj ts s whole q' q Iq' Iq Q') in K.
      apply in_s in Ip, Iq. rewrite (places_nth _ _ _ Ip), (places_nth _ _ _ Iq), K, app_length in N. simpl in N. lia.
  - destruct H as ((((Lt & Wp) & Rq) & C) & F). apply Nat.ltb_lt in Lt. apply Nat.eqb_eq in C.
    apply sc_rf. split; [auto|]. split; [auto|]. split; [now apply writes_spec|]. split; [now apply reads_spec|].
    split; [exact C|]. split; [auto|]. intros y Ey Wy Ly Hy.
    destruct (nth_error_split _ _ Hp) as (l1 & l2 & Q & Li). subst i.
    rewrite Q in Hq. rewrite nth_error_app2 in Hq by lia.
    destruct (j - length l1) as [|d] eqn:D; [lia|]. simpl in Hq.
    destruct (nth_error_split _ _ Hq) as (m1 & m2 & Q2 & Lm). subst l2.
    assert (s = (l1 ++ p :: m1) ++ q :: m2) as Q3 by (rewrite Q, <- app_assoc; reflexivity).
    destruct (lt_evt q _ _ y Q3 Hy) as [(x & v & -> & _)|(z & Iz & <-)].
    + right. apply init_first; auto. unfold noninit; simpl; destruct (lab (what p)); discriminate.
    + apply in_app_or in Iz. destruct Iz as [Iz|[<-|Iz]]; [right|now left|exfalso].
      { apply before_evt. rewrite Q. now apply before_intro_l. }
      rewrite forallb_forall in F. specialize (F z).
      apply writes_kind_spec in Wy. simpl in Wy, Ly. unfold writes_to in F. rewrite Wy, Ly, Nat.eqb_refl in F. simpl in F.
      assert (false = true) as X; [apply F|discriminate].
      replace j with (length l1 + S (length m1)) by lia. rewrite Q. now rewrite between_split.
  - destruct H as (((Lt & Rp) & Wq) & C). apply Nat.ltb_lt in Lt. apply Nat.eqb_eq in C. specialize (L Lt).
    apply sc_rb. split; [intros X; rewrite X in L; eapply (proj1 sto_lt); eauto|].
    destruct (t_rf_ex _ wft_T (evt p)) as (u & Hu); [auto|now apply reads_spec|].
    exists u. split; [exact Hu|]. destruct Hu as (Eu & _ & Wu & _ & Lu & Hu & _).
    split; [auto|]. split; [auto|]. split; [auto|]. split; [now apply writes_spec|]. split; [simpl in *; congruence|].
    eapply (proj1 (proj2 sto_lt)); eauto.
  - destruct H as (((Lt & Wp) & Wq) & C). apply Nat.ltb_lt in Lt. apply Nat.eqb_eq in C. specialize (L Lt).
    apply sc_mo. split; [auto|]. split; [auto|]. split; [now apply writes_spec|]. split; [now apply writes_spec|]. auto.
Qed.
Lemma edge_in i k j : edgeb s i k j = true -> exists p q, nth_error s i = Some p /\ nth_error s j = Some q.
Proof.
  unfold edgeb. destruct (nth_error s i) as [p|]; [|discriminate]. destruct (nth_error s j) as [q|]; [eauto|discriminate].
Qed.
Lemma walk rest : forall n i k back, wrong_edge s n i k rest back = None ->
  exists p q, nth_error s i = Some p /\ nth_error s back = Some q /\ clos_trans event (sc1 T) (evt p) (evt q).
Proof.
  induction rest as [|(j, k') rest IH]; intros n i k back H; simpl in H.
  - destruct (edgeb s i k back) eqn:K; [|discriminate]. destruct (edge_in _ _ _ K) as (p & q & Hp & Hq).
    exists p, q. repeat split; auto. apply t_step. eapply edge_sc; eauto.
  - destruct (edgeb s i k j) eqn:K; [|discriminate]. destruct (edge_in _ _ _ K) as (p & q & Hp & Hq).
    destruct (IH _ _ _ _ H) as (q' & z & Hq' & Hz & C). rewrite Hq in Hq'. inversion Hq'; subst q'.
    exists p, z. repeat split; auto. eapply t_trans; [apply t_step; eapply edge_sc; eauto|exact C].
Qed.

Lemma judged c : judge_order hw init s c = Violating ->
  wft T /\ valid T /\ rdma_consistent hw T /\ ~ sc_consistent T.
Proof.
  intros H. unfold judge_order in H. rewrite fine in H.
  split; [apply wft_T|]. split; [apply valid_T|]. split.
  - intros x X. apply (proj1 sto_lt x). eapply (@forward_trans event (ob1 hw T) lt); [apply sto_lt|apply forward|exact X].
  - intros N. destruct c as [|(i, k) r]; [discriminate|]. destruct (wrong_edge s 0 i k r i) eqn:K; [discriminate|].
    destruct (walk _ _ _ _ _ K) as (p & q & Hp & Hq & C). rewrite Hp in Hq. inversion Hq; subst. exact (N _ C).
Qed.
End Sound.

Definition order_of (g : input) : option (list placed) :=
  match take (alpha g ++ [pivot g]) (queues false 0 (threads g)), take (beta g) (queues true 0 (threads g)) with
  | All_of a, All_of b => Some (a ++ b)
  | _, _ => None end.
Definition first_values g x := nth x (initial g) 0%Z.
Definition trace_of_order g s :=
  tr (U := concrete) (E (threads g) (length (initial g)) (first_values g)) (lt (length (initial g)) (first_values g) s).

(* What is called violating is violating, for every program whose threads can make these events. *)
Theorem judge_sound hw {OK : hardware_ok hw} {SC : cpu_sc hw} g nt (prog : nat -> list label -> Prop)
    (prefix : forall t l h, prog t (l :: h) -> prog t h) :
  judge hw g = Violating -> length (threads g) <= nt -> (forall t, prog t (path_of (threads g) t)) ->
  exists s, order_of g = Some s /\
    violating hw (the_program nt (length (initial g)) (first_values g) prog prefix) (trace_of_order g s).
Proof.
  intros H Hn Hp. unfold judge in H. unfold order_of.
  destruct (wrong_shape _ _ _) eqn:Sh; [discriminate|].
  destruct (take (alpha g ++ [pivot g]) _) as [a| |] eqn:Ha; try discriminate.
  destruct (take (beta g) _) as [b| |] eqn:Hb; try discriminate.
  exists (a ++ b). split; [auto|].
  assert (values_and_rules hw (first_values g) (a ++ b) = None) as F.
  { unfold judge_order in H. unfold first_values. now destruct (values_and_rules _ _ _). }
  destruct (judged hw _ _ _ _ _ _ _ Ha Hb Sh F _ H) as (W & V & C & N).
  split; [split; [|split; [exact W|exact V]]|split; [exact C|exact N]].
  apply prog_ok; auto.
Qed.
