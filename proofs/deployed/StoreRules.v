(* Lemma 3 with store buffers. *)
Require Import List Arith Lia Classical Relations Setoid.
From RR Require Import Model Hardware Orders Rules StoreModel.

(* What holds of trace(sigma) where the edges of oppo are forward. *)
Section Forward.
Context {U : events} (hw : hardware) {OK : tso_ok hw}.
Variables (E : ev -> Prop) (lt : relation ev).
Hypothesis W : wfE E.
Hypothesis S : sto E lt.

Let T := tr_tso E lt.
Let irr a : ~ lt a a. Proof. apply S. Qed.
Let trans a b c : lt a b -> lt b c -> lt a c. Proof. apply S. Qed.
Let asym a b : lt a b -> lt b a -> False. Proof. intros; eapply irr, trans; eauto. Qed.
Let tot a b : E a -> E b -> noninit a -> noninit b -> thr a = thr b -> a = b \/ po a b \/ po b a.
Proof. apply W. Qed.

Lemma rf_cases w r : rf T w r -> forwards E lt w r \/ rf_in E lt w r.
Proof. intros (_ & _ & [H|(_ & H)]); auto. Qed.
Lemma rf_not_own w r : rf T w r -> ~ own w r -> lt w r.
Proof. intros H N. destruct (rf_cases w r H) as [((_ & O & _) & _)|K]; [tauto|apply K]. Qed.
Lemma rf_E w r : rf T w r -> E w /\ E r /\ rd r /\ wr w.
Proof.
  intros H. destruct (rf_cases w r H) as [((Ew & O & _) & _)|K].
  - destruct H as (Er & Rr & _). split; [auto|]. split; [auto|]. split; [auto|]. now apply own_facts in O.
  - split; [apply K|]. split; [apply K|]. split; apply K.
Qed.
Lemma rb_tso_fwd r w : rb T r w -> lt r w.
Proof.
  intros (N & u & H & M). destruct (rf_cases u r H) as [((_ & _ & _ & _ & L) & _)|K].
  - eapply trans; [exact L|apply M].
  - exact (rb_tr_fwd E lt r w S (conj N (ex_intro _ u (conj K M)))).
Qed.

Hypothesis Hop : forall a b, E a -> E b -> oppo_tso hw a b -> lt a b.

Lemma stores_fwd a b : E a -> E b -> store a -> store b -> po a b -> lt a b.
Proof.
  intros Ea Eb Sa Sb P. apply Hop; auto.
  apply store_oppo; auto; [exact (po_init_r _ _ P)| |]; unfold store in Sb; congruence.
Qed.

(* rfb and rbb run along po *)
Lemma rfb_po w r : rf T w r -> own w r -> po w r.
Proof.
  intros H O. destruct (rf_cases w r H) as [((_ & _ & _ & P & _) & _)|K]; [auto|].
  pose proof (own_facts _ _ O) as (Nw & Nr & _ & Rr & Cr & Sr & Rw). destruct (rf_E w r H) as (Ew & Er & _).
  destruct (tot w r Ew Er Nw Nr) as [->|[P|P]]; [apply O|tauto|auto|].
  exfalso. apply (asym w r); [apply K|]. apply Hop; auto. apply to_tso; auto. apply (cpu_oppo hw); auto.
Qed.
Lemma rbb_po r w : rb T r w -> own w r -> po r w.
Proof.
  intros H O. pose proof (rb_tso_fwd r w H) as L. destruct H as (N & u & H & M).
  destruct (rf_E u r H) as (_ & Er & _). pose proof M as (Eu & Ew & _ & _ & Lo & Luw).
  pose proof (own_facts _ _ O) as (Nw & Nr & _).
  destruct (tot r w Er Ew Nr Nw) as [->|[P|P]]; [symmetry; apply O|tauto|auto|exfalso].
  assert (loc u = loc r) as Lu by (destruct (rf_cases u r H) as [((_ & _ & Q & _) & _)|K]; [auto|apply K]).
  assert (waits E lt r w) as X by (repeat split; auto; try apply O; congruence).
  destruct H as (_ & _ & [(X' & K)|(K & _)]); [|exact (K w X)].
  destruct (K w X) as [->|P']; [eapply irr; eauto|].
  apply (asym u w Luw), stores_fwd; auto; [apply O|apply X'].
Qed.

End Forward.

Section Rules.
Context {U : events} (hw : hardware) {OK : tso_ok hw}.
Variables (E : ev -> Prop) (lt : relation ev) (B : ev -> Prop).
Hypothesis W : wfE E.
Hypothesis S : sto E lt.
Hypothesis split_lt : forall a b, E a -> E b -> ~ B a -> B b -> lt a b.
Hypothesis po_within : forall a b, E a -> E b -> (B a <-> B b) -> po a b -> lt a b.

Let T := tr_tso E lt.

(* forcing also: an nrW behind a store of its thread in B *)
Definition forcing_tso w := E w /\ B w /\ (knd w = NLW \/ (knd w = NRW /\ exists e, E e /\ B e /\ po e w /\
  (store e \/ ((knd e = NLR \/ knd e = NF) /\ qp e = qp w)))).
Definition R1_tso := forall a b, E a -> E b -> B b -> oppo_tso hw b a -> B a.
Definition R2_tso := forall w p, E p -> pf w p -> forcing_tso w -> B p.

Let irr a : ~ lt a a. Proof. apply S. Qed.
Let trans a b c : lt a b -> lt b c -> lt a c. Proof. apply S. Qed.
Let asym a b : lt a b -> lt b a -> False. Proof. intros; eapply irr, trans; eauto. Qed.
Let not_AB a b : E a -> E b -> ~ B a -> B b -> ~ lt b a. Proof. intros ? ? ? ? ?; eapply asym; eauto. Qed.
Let tot a b : E a -> E b -> noninit a -> noninit b -> thr a = thr b -> a = b \/ po a b \/ po b a.
Proof. apply W. Qed.

Let rf_not_own w r : rf T w r -> ~ own w r -> lt w r. Proof. apply rf_not_own. Qed.
Let rf_E w r : rf T w r -> E w /\ E r /\ rd r /\ wr w. Proof. apply rf_E. Qed.
Let rb_fwd r w : rb T r w -> lt r w. Proof. apply (rb_tso_fwd E lt S). Qed.

Section If.
Hypotheses (H1 : R1_tso).

Lemma oppo_tso_fwd a b : E a -> E b -> oppo_tso hw a b -> lt a b.
Proof.
  intros Ea Eb H. assert (po a b) as P by apply H.
  destruct (classic (B a)) as [Ba|Na], (classic (B b)) as [Bb|Nb]; auto.
  - apply po_within; tauto.
  - destruct Nb; apply (H1 b a); auto.
  - apply po_within; tauto.
Qed.
Let rfb w r : rf T w r -> own w r -> po w r. Proof. apply (rfb_po hw E lt W S oppo_tso_fwd). Qed.
Let rbb r w : rb T r w -> own w r -> po r w. Proof. apply (rbb_po hw E lt W S oppo_tso_fwd). Qed.

(* one step from and to what is not a NIC write *)
Lemma single_tso a b : inst_tso a -> ib1_tso hw T a b -> lt a b.
Proof.
  intros (I & N) [(Ea & Eb & H)|(Ea & Eb & H)|H|H O|(_ & H)].
  - apply oppo_tso_fwd; auto. apply to_tso; auto. apply inst_ippo_oppo; auto. apply OK.
  - destruct (pf_ok _ _ H) as (_ & K & _). now destruct I.
  - apply rf_not_own; auto. intros (_ & X & _); auto.
  - now apply rb_fwd.
  - apply H.
Qed.
Lemma ib1_tso_E a b : ib1_tso hw T a b -> E a /\ E b.
Proof.
  intros [H|H|H|H _|(_ & H)]; try (split; apply H).
  - destruct (rf_E _ _ H) as (?&?&_); auto.
  - destruct H as (_ & u & H & M). destruct (rf_E _ _ H) as (?&?&_). split; [auto|apply M].
Qed.
Lemma into_store a l : store l -> ib1_tso hw T a l -> ippo hw a l /\ cpu a.
Proof.
  intros Sl H. assert (po a l -> ippo hw a l -> ippo hw a l /\ cpu a) as K.
  { intros P I. split; [auto|]. apply NNPP; intros C.
    apply (card_never hw a l); auto using store_cpu.
    pose proof (po_init_l _ _ P) as N. unfold cpu in C. destruct (knd a); simpl in *; tauto. }
  unfold store in Sl. destruct H as [(_ & _ & H)|(_ & _ & H)|H|H O|(_ & _ & _ & (_ & H) & _)].
  - apply K; auto. apply H.
  - destruct (pf_ok _ _ H) as (_ & _ & X & _). congruence.
  - destruct (rf_E _ _ H) as (_ & _ & X & _). unfold rd in X. rewrite Sl in X. destruct X.
  - pose proof (rbb _ _ H O) as P. apply K; auto. apply own_facts in O. apply oppo_ippo, (cpu_oppo hw); auto; [tauto|].
    exact (po_init_r _ _ P).
  - exfalso. intuition congruence.
Qed.
Lemma from_store c l x : store l -> cpu c -> ippo hw c l -> E c -> ib1_tso hw T l x ->
  ib1_tso hw T c x \/ (rf T l x /\ ~ own l x).
Proof.
  intros Sl Cc Pcl Ec H. destruct (ib1_tso_E _ _ H) as (El & Ex).
  assert (po l x -> ib1_tso hw T c x) as K.
  { intros P. apply ibt_ippo. split; [exact Ec|split; [exact Ex|]]. apply oppo_ippo.
    apply (cpu_oppo hw); auto; [exact (po_init_r _ _ P)|]. eapply po_trans; [apply Pcl|auto]. }
  unfold store in Sl. destruct H as [(_ & _ & H)|(_ & _ & H)|H|H O|(_ & _ & _ & (_ & H) & _)].
  - left; apply K, H.
  - destruct (pf_ok _ _ H) as (_ & X & _). rewrite Sl in X. destruct X.
  - destruct (classic (own l x)) as [O|O]; [left|right; auto]. apply K. now apply rfb.
  - destruct O as (_ & _ & X). congruence.
  - exfalso. intuition congruence.
Qed.

(* between NIC writes only ippo is possible *)
Lemma ww_tso a b : nicw a -> nicw b -> ib1_tso hw T a b -> ippo hw a b.
Proof.
  intros Na Nb [H|H|H|H O|H].
  - apply H.
  - destruct H as (_ & _ & H). destruct (pf_ok _ _ H) as (_ & _ & K & _). red in Nb; rewrite K in Nb; destruct Nb.
  - destruct (rf_E _ _ H) as (_ & _ & K & _). red in Nb, K. destruct (knd b); destruct Nb; destruct K.
  - destruct O as (_ & K & _). unfold store in K. red in Nb; rewrite K in Nb; destruct Nb.
  - destruct H as (_ & _ & _ & (_ & H) & _). kinds.
Qed.
Lemma iw_tso a b : inst a -> nicw b -> ib1_tso hw T a b -> ippo hw a b \/
  (nfo_in E lt a b /\ qp a = qp b /\ nfo_kinds hw (knd a) (knd b) = true).
Proof.
  intros Ia Nb [H|H|H|H O|H].
  - left; apply H.
  - destruct H as (_ & _ & H). destruct (pf_ok _ _ H) as (_ & _ & K & _). red in Nb; rewrite K in Nb; destruct Nb.
  - destruct (rf_E _ _ H) as (_ & _ & K & _). red in Nb, K. destruct (knd b); destruct Nb; destruct K.
  - destruct O as (_ & K & _). unfold store in K. red in Nb; rewrite K in Nb; destruct Nb.
  - right; destruct H as (F & H); split; [exact H|]. destruct H as (_ & _ & (Q & H) & _). split; [auto|].
    assert ((knd a = NLR /\ knd b = NLW) \/ (knd a = NRR /\ knd b = NRW)) as [(-> & ->)|(-> & ->)] by kinds; exact F.
Qed.
Let nfo_card a b : nfo_kinds hw (knd a) (knd b) = true -> nic_inst (knd a) = true /\ nicw b /\ flush hw = true.
Proof. unfold nicw, nfo_kinds; destruct (knd a); try discriminate; destruct (knd b); try discriminate; simpl; auto. Qed.
Let nic_tot a b : E a -> E b -> nic_kind (knd a) = true -> nic_kind (knd b) = true -> qp a = qp b ->
  a = b \/ po a b \/ po b a.
Proof.
  intros Ea Eb Na Nb Q. destruct (nic_not_cpu a Na), (nic_not_cpu b Nb). apply tot; auto. now apply qp_thr.
Qed.
Let nic_store a : nic_kind (knd a) = true -> ~ store a.
Proof. unfold store. intros H K. rewrite K in H. discriminate. Qed.
Let seen_tso a b : po a b -> qp a = qp b -> seen hw (knd a) (knd b) = true -> ~ store a -> oppo_tso hw a b.
Proof. intros. apply to_tso; auto. now apply seen_oppo. Qed.
Let nicw_store a : nicw a -> ~ store a.
Proof. intros H. apply nic_store. now apply nicw_nic. Qed.
Let inst_store a : nic_inst (knd a) = true -> ~ store a.
Proof. intros H. apply nic_store. now apply nic_inst_nic. Qed.

(* part (d) *)
Lemma shorten_tso a b c : inst_tso a -> nicw b -> nicw c -> ib1_tso hw T a b -> ib1_tso hw T b c -> ib1_tso hw T a c.
Proof.
  intros (Ia & Sa) Nb Nc Hab Hbc.
  destruct (ib1_tso_E _ _ Hab) as (Ea & Eb). destruct (ib1_tso_E _ _ Hbc) as (_ & Ec).
  pose proof (ww_tso _ _ Nb Nc Hbc) as Pbc.
  destruct (iw_tso _ _ Ia Nb Hab) as [Pab|(Hn & Qab & K)].
  - apply ibt_ippo. split; [exact Ea|split; [exact Ec|]]. exact (ippo_nicw_trans hw a b c Ia Nb Nc Pab Pbc).
  - destruct (nfo_card _ _ K) as (Na & _ & F). pose proof Hn as (_ & _ & _ & Lab).
    assert (qp b = qp c) as Qbc by (apply (ippo_qp hw); auto using nicw_nic).
    destruct (flush_chain_use hw _ _ _ K Nc (ippo_issued hw _ _ Pbc)) as [(Kc & O)|(I & O)].
    + apply ibt_nfo. split; [exact F|]. split; [exact Ea|split; [exact Ec|]]. split.
      * split; [congruence|]. rewrite <- Kc. destruct Hn as (_ & _ & (_ & N) & _). exact N.
      * eapply trans; [exact Lab|]. apply oppo_tso_fwd; auto. apply seen_tso; auto. apply Pbc.
    + destruct (nic_tot a c) as [->|[P|P]]; auto using nicw_nic, nic_inst_nic; try congruence.
      * destruct Ia; exact Nc.
      * apply ibt_ippo. split; [exact Ea|split; [exact Ec|]]. apply issued_ippo; auto. congruence.
      * exfalso. apply (asym a b Lab), oppo_tso_fwd; auto. apply seen_tso; auto. eapply po_trans; [apply Pbc|auto].
Qed.

Hypotheses (H2 : R2_tso) (H3 : R3 hw E B).

(* part (e) *)
Lemma last_issued_tso a w f : inst_tso a -> nicw w -> E a -> E w -> E f -> ib1_tso hw T a w -> ippo hw w f -> lt a f.
Proof.
  intros Ita Nw Ea Ew Ef Haw Pwf. pose proof (single_tso _ _ Ita Haw) as Law. destruct Ita as (Ia & Sa).
  destruct (classic (B w)) as [Bw|NBw].
  2:{ eapply trans; [exact Law|]. destruct (classic (B f)); [auto|]. apply po_within; try tauto. apply Pwf. }
  destruct (classic (B f)) as [Bf|NBf].
  { eapply trans; [exact Law|]. apply po_within; try tauto. apply Pwf. }
  destruct (classic (oppo hw w f)) as [O|NO]; [destruct NBf; apply (H1 f w); auto using to_tso|].
  destruct (ippo_only hw _ _ Pwf NO) as (Qwf & Swf).
  assert (forall b, E b -> B b -> ~ store b -> ~ oppo hw b f) as NB.
  { intros b Eb Bb Sb O. apply NBf, (H1 f b); auto using to_tso. }
  destruct (issue_only_use hw (knd w) (knd f) (knd a) Nw (ippo_issued hw _ _ Pwf) Swf) as (U1 & U2).
  assert (po a f -> qp a = qp w -> seen hw (knd a) (knd f) = true -> lt a f) as Hpo.
  { intros P Q O. destruct (classic (B a)) as [Ba|NBa].
    - destruct (NB a Ea Ba Sa). apply seen_oppo; auto; congruence.
    - apply po_within; tauto. }
  destruct (iw_tso _ _ Ia Nw Haw) as [Paw|(Hn & Q & K)].
  - assert (po a f) as P by (eapply po_trans; [apply Paw|apply Pwf]).
    destruct (inst_cases a Ia (po_init_l _ _ P)) as [C|A].
    + destruct (classic (B a)) as [Ba|NBa]; [|apply po_within; tauto].
      destruct (NB a Ea Ba Sa). apply (cpu_oppo hw); auto. exact (po_init_r _ _ P).
    + apply Hpo; auto using ippo_issued. apply (ippo_qp hw); auto using nicw_nic, nic_inst_nic.
  - destruct (nfo_card _ _ K) as (A & _ & F). destruct (U2 K) as (O & O').
    assert (thr a = thr f) as Th.
    { destruct (nic_not_cpu a (nic_inst_nic a A)), (nic_not_cpu w (nicw_nic w Nw)).
      rewrite <- (po_thr w f) by apply Pwf. now apply qp_thr. }
    destruct (tot a f Ea Ef (proj1 (nic_not_cpu a (nic_inst_nic a A))) (po_init_r _ _ (proj1 Pwf)) Th) as [->|[P|P]]; auto.
    + exfalso. destruct O' as [O'|(_ & Kf & Ka)]; [|congruence]. apply NO, seen_oppo; auto. apply Pwf.
    + exfalso. assert (po w a) as Pwa by (eapply po_trans; [apply Pwf|auto]).
      destruct O' as [O'|(Kw & Kf & Ka)].
      * apply (asym a w Law), oppo_tso_fwd; auto.
      * destruct (classic (B a)) as [Ba|NBa]; [apply (asym a w Law), po_within; tauto|].
        apply NBa. apply (H3 F w f a); auto; try congruence. apply Pwf.
Qed.

(* part (f) *)
Lemma last_poll_tso a w p : inst_tso a -> nicw w -> E a -> E w -> E p -> ib1_tso hw T a w -> pf w p -> lt a p.
Proof.
  intros Ita Nw Ea Ew Ep Haw Pwp. pose proof (single_tso _ _ Ita Haw) as Law. destruct Ita as (Ia & Sa).
  destruct (pf_ok _ _ Pwp) as (Owp & _ & Kp & Qwp).
  assert (cpu p /\ noninit p /\ ~ store p) as (Cp & Np & Sp).
  { unfold cpu, noninit, store; rewrite Kp; split; [exact I|split; discriminate]. }
  destruct (classic (B w)) as [Bw|NBw].
  2:{ eapply trans; [exact Law|]. destruct (classic (B p)); [auto|apply po_within; tauto]. }
  destruct (classic (B p)) as [Bp|NBp].
  { eapply trans; [exact Law|]. apply po_within; tauto. }
  assert (~ forcing_tso w) as NF by (intro F; apply NBp; eapply H2; eauto).
  assert (knd w = NRW) as Kw.
  { destruct (nicw_kind _ Nw) as [K|K]; auto. destruct NF; red; auto. }
  assert (po a p -> (B a -> False) -> lt a p) as Hpo.
  { intros P N. apply po_within; tauto. }
  destruct (iw_tso _ _ Ia Nw Haw) as [Paw|(Hn & Q & K)].
  - assert (po a p) as Pap by (eapply po_trans; [apply Paw|auto]).
    apply Hpo; [auto|]. intros Ba. destruct (inst_cases a Ia (po_init_l _ _ Pap)) as [C|A].
    + apply NBp, (H1 p a); auto. apply to_tso; auto. apply (cpu_oppo hw); auto.
    + apply NF. split; [auto|]. split; [auto|]. right. split; [auto|]. exists a.
      pose proof (ippo_issued hw _ _ Paw) as J. rewrite Kw in J.
      repeat split; auto; [apply Paw|]. right. split; [now apply (forcing_only_use hw)|].
      apply (ippo_qp hw); auto using nicw_nic, nic_inst_nic.
  - destruct (nfo_card _ _ K) as (A & _ & F). rewrite Kw in K.
    assert (knd a = NRR) as Ka by (destruct (knd a); simpl in K; congruence).
    destruct (nic_tot a w) as [->|[P|P]]; auto using nicw_nic, nic_inst_nic; try congruence.
    + assert (po a p) as Pap by (eapply po_trans; eauto).
      apply Hpo; [auto|]. intros Ba.
      destruct (wf_get _ W a w Ew Ka P) as (w' & C & Hw').
      destruct (carry_ok _ _ C) as (Paw' & Qaw' & [(X & _)|(_ & Kw')]); [congruence|].
      destruct Hw' as [->|Hw']; [congruence|].
      assert (E w') as Ew' by (eapply wf_down; eauto).
      assert (B w') as Bw'.
      { apply (H1 w' a); auto. apply seen_tso; auto. rewrite Ka, Kw'. apply (operation_cells hw). }
      destruct (wf_older _ W w p w' Ep Pwp) as (p' & Pw'p' & Pp'p); auto.
      { red; rewrite Kw'; exact I. }
      { congruence. }
      assert (E p') as Ep' by (destruct Pp'p as [->|Pp'p]; [auto|eapply wf_down; eauto]).
      destruct (pf_ok _ _ Pw'p') as (_ & _ & Kp' & _).
      assert (B p') as Bp' by (apply (H2 w' p'); auto; red; auto).
      destruct Pp'p as [->|Pp'p]; [auto|].
      apply NBp, (H1 p p'); auto. apply to_tso; [unfold store; congruence|].
      apply (cpu_oppo hw); auto; [red; rewrite Kp'; exact I].
    + exfalso. apply (asym a w Law), oppo_tso_fwd; auto. apply seen_tso; auto. rewrite Ka, Kw. now apply (flush_poll_use hw).
Qed.

(* a path of two edges whose inner event is a NIC write *)
Lemma through_write a w b : inst_tso a -> nicw w -> ib1_tso hw T a w -> ib1_tso hw T w b -> lt a b.
Proof.
  intros Ia Nw Haw Hwb. destruct (ib1_tso_E _ _ Haw) as (Ea & Ew). destruct (ib1_tso_E _ _ Hwb) as (_ & Eb).
  pose proof (single_tso _ _ Ia Haw) as L. destruct Hwb as [K|K|K|K O|(_ & K)].
  - eapply last_issued_tso; eauto. apply K.
  - eapply last_poll_tso; eauto. apply K.
  - eapply trans; [exact L|]. apply rf_not_own; auto. intros (_ & X & _). exact (nicw_store w Nw X).
  - destruct O as (_ & _ & X). unfold nicw in Nw. rewrite X in Nw. destruct Nw.
  - eapply trans; [exact L|apply K].
Qed.

Lemma inst_ib_tso_fwd n : forall a b, n > 0 -> inst_tso a -> path (ib1_tso hw T) n a b -> lt a b.
Proof.
  induction n as [n IH] using lt_wf_ind; intros a b Hn Ia H.
  destruct n as [|[|n]]; [lia| apply single_tso; auto; now apply path_1|].
  destruct H as (e1 & E01 & e2 & E12 & H).
  assert (lt a e2 -> inst_tso e2 -> lt a b) as Go.
  { intros L I2. destruct n as [|n]; [destruct H; auto|]. eapply trans; [exact L|].
    apply (IH (Datatypes.S n)); auto; lia. }
  assert (ib1_tso hw T a e2 -> lt a b) as Short.
  { intros K. apply (IH (Datatypes.S n)); [lia|lia|auto|]. exists e2; auto. }
  destruct (kind_cases e1) as [I1|[S1|N1]].
  - eapply trans; [apply single_tso; eauto|]. apply (IH (Datatypes.S n)); auto; [lia|]. exists e2; auto.
  - destruct (into_store a e1 S1 E01) as (P & C). destruct (ib1_tso_E _ _ E01) as (Ea & _).
    destruct (from_store a e1 e2 S1 C P Ea E12) as [K|(K & O)]; [auto|].
    apply Go; [|apply rd_inst_tso; now destruct (rf_E _ _ K) as (_ & _ & R & _)].
    eapply trans; [apply single_tso; eauto|now apply rf_not_own].
  - destruct (kind_cases e2) as [I2|[S2|N2]].
    + apply Go; auto. exact (through_write a e1 e2 Ia N1 E01 E12).
    + exfalso. destruct (into_store e1 e2 S2 E12) as (_ & C). unfold nicw, cpu in *. destruct (knd e1); simpl in *; tauto.
    + apply Short. exact (shorten_tso a e1 e2 Ia N1 N2 E01 E12).
Qed.

Theorem rules_tso_if : forall a b, ob1_tso hw T a b -> lt a b.
Proof.
  intros a b [(Ea & Eb & H)|(Ea & Eb & H) K|x (Ea & Ex & H) (_ & Eb & K) Sa|H O|(_ & H)|H|H|I H].
  - apply oppo_tso_fwd; auto.
  - destruct (pf_ok _ _ H) as (P & _). destruct (classic (B b)) as [Bb|Nb].
    + destruct (classic (B a)); [apply po_within; tauto|auto].
    + apply po_within; auto. split; [|tauto]. intros Ba. apply (H2 a b); auto. red; auto.
  - destruct (pf_ok _ _ K) as (P & Nx & _). assert (po a b) as Pab by (eapply po_trans; [apply H|auto]).
    destruct (classic (B b)) as [Bb|Nb].
    + destruct (classic (B a)); [apply po_within; tauto|auto].
    + apply po_within; auto. split; [|tauto]. intros Ba. apply (H2 x b); auto.
      assert (B x) as Bx by (apply (H1 x a); auto). split; [auto|split; [auto|]].
      destruct (nicw_kind x Nx) as [Q|Q]; [right|left; auto]. split; [auto|]. exists a. repeat split; auto. apply H.
  - now apply rf_not_own.
  - apply H.
  - now apply rb_fwd.
  - apply H.
  - destruct (trans_path _ _ _ H) as (n & Hn & P). eapply inst_ib_tso_fwd; eauto.
Qed.
End If.

Theorem rules_tso_only_if : (forall a b, ob1_tso hw T a b -> lt a b) -> R1_tso /\ R2_tso /\ R3 hw E B.
Proof.
  intros F. split; [|split].
  - intros a b Ea Eb Bb H. apply NNPP; intro NBa.
    apply (not_AB a b); auto. apply F, obt_oppo. repeat split; auto; apply H.
  - intros w p Ep H (Ew & Bw & K). apply NNPP; intro NBp.
    destruct (pf_ok _ _ H) as (P & Nw & Kp & Q).
    destruct K as [K|(K & e & Ee & Be & Pe & [Se|(Ke & Qe)])].
    + apply (not_AB p w); auto. apply F, obt_pf; repeat split; auto.
    + apply (not_AB p e); auto. apply F, obt_post with w; [|repeat split; auto|auto].
      split; [auto|split; [auto|]]. apply store_oppo; auto; congruence.
    + apply (not_AB p e); auto. apply F, obt_ib.
      { unfold inst_tso, inst, is_inst, store; destruct Ke as [-> | ->]; simpl; intuition discriminate. }
      eapply t_trans; apply t_step.
      * apply ibt_ippo. split; [exact Ee|split; [exact Ew|]]. apply issued_ippo; auto. rewrite K. now apply (forcing_use hw).
      * apply ibt_pf. repeat split; auto.
  - intros Fl w f r Ew Ef Er Kw Kf Kr Q Q' P P' Bw NBf. apply NNPP; intro NBr.
    apply (asym f r); [apply po_within; tauto|]. apply F, obt_ib.
    { unfold inst_tso, inst, is_inst, store; rewrite Kr; simpl; intuition discriminate. }
    apply t_trans with w; apply t_step.
    + apply ibt_nfo. split; [exact Fl|]. split; [exact Er|split; [exact Ew|]]. split; [|apply split_lt; auto].
      red. split; [congruence|tauto].
    + apply ibt_ippo. split; [exact Ew|split; [exact Ef|]]. apply issued_ippo; auto.
      rewrite Kw, Kf. now apply (fence_use hw).
Qed.

Theorem lemma_3_tso : (forall a b, ob1_tso hw T a b -> lt a b) <-> R1_tso /\ R2_tso /\ R3 hw E B.
Proof. split; [apply rules_tso_only_if | intros (H1 & H2 & H3); now apply rules_tso_if]. Qed.
End Rules.
