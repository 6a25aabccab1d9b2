(* Lemma 3 with remote atomics, for any total order: all ob edges of trace(sigma) are forward iff five kinds of short ones
  are. *)
Require Import List Arith Lia Classical Relations.
From RR Require Import Orders RemoteAtomicsModel.

Section Rules.
Context {U : slots} (ord : order).
Variables (S0 l : ev -> Prop) (lt : relation ev).
Hypothesis W : wfS S0.
Hypothesis St : sto S0 lt.

Let T := tr S0 l lt.

(* rao leads forward: no other naR of the word comes between naR and naW *)
Definition O_oppo := forall a b, E T a -> E T b -> oppo ord a b -> lt a b.
Definition O_poll := forall w p, S0 p -> pf w p -> knd w = NLW -> lt w p.
Definition O_forcing := forall e w p, S0 p -> pf w p -> knd w = NRW -> nic_inst (knd e) = true -> ippo ord e w -> lt e p.
(* where reads push out writes *)
Definition O_fence := flush ord = true -> forall w f r, S0 w -> S0 f -> S0 r -> knd w = NLW -> knd f = NF -> knd r = NLR ->
  qp w = qp f -> qp f = qp r -> po w f -> po f r -> lt w r.
Definition O_rao := forall w b, E T w -> knd w = NAW -> rao_in S0 lt (src w) b -> lt w b.

Lemma irr a : ~ lt a a. Proof. apply St. Qed.
Lemma trans a b c : lt a b -> lt b c -> lt a c. Proof. apply St. Qed.
Lemma asym a b : lt a b -> lt b a -> False. Proof. intros; eapply irr, trans; eauto. Qed.

Lemma rb_fwd a b : rb T a b -> lt a b.
Proof.
  intros (N & u & (Eu & Ea & Wu & Ra & L & H & K) & (_ & Eb & _ & Wb & L' & H')); simpl in *.
  destruct St as (Hi & Ht & Hc). destruct (Hc a b Ea Eb) as [|[|X]]; [congruence|auto|].
  destruct (K b Eb Wb) as [->|Y]; try congruence; [destruct (Hi u H')|]. destruct (asym b u); auto.
Qed.

(* events by their kinds *)
Lemma nicw_write a : nicw a -> write_kind (knd a) = true.
Proof. unfold nicw; destruct (knd a); simpl; tauto. Qed.
Lemma inst_write a : inst a -> write_kind (knd a) = false.
Proof. unfold inst, is_inst; destruct (knd a); simpl; tauto. Qed.
Lemma inst_cases a : inst a -> noninit a -> cpu a \/ nic_inst (knd a) = true.
Proof. unfold inst, noninit, cpu; destruct (knd a); simpl; unfold is_inst; simpl; intuition congruence. Qed.
Lemma nic_inst_nic k : nic_inst k = true -> nic_kind k = true.
Proof. unfold nic_kind; intros ->. apply Bool.orb_true_r. Qed.
Lemma write_nic k : write_kind k = true -> nic_kind k = true.
Proof. unfold nic_kind; now intros ->. Qed.
Lemma nic_not_cpu a : nic_kind (knd a) = true -> noninit a /\ ~ cpu a.
Proof. unfold noninit, cpu; destruct (knd a); simpl; try discriminate; split; try discriminate; tauto. Qed.
Lemma cpu_kinds a : cpu a -> cpu_kind (knd a) = true.
Proof. unfold cpu; destruct (knd a); simpl; tauto. Qed.

(* a read and a write of one operation *)
Lemma po_fed a b : po a b -> src b = a -> fed b.
Proof. intros P Q N. rewrite N in Q. subst a. exact (po_irr _ P). Qed.
Lemma fed_nicw w : fed w -> nicw w.
Proof. intros F. destruct (src_ok w F) as (_ & _ & K). unfold nicw. destruct (knd w); simpl in *; tauto. Qed.
Lemma fed_rd w : fed w -> rd (src w) /\ nic_inst (knd (src w)) = true.
Proof.
  intros F. destruct (src_ok w F) as (_ & _ & K). unfold rd. destruct (knd w); simpl in K; try tauto.
  - now rewrite K.
  - destruct K as [-> |[-> | ->]]; auto; split; exact I || reflexivity.
  - destruct K as (-> & _). split; [exact I|reflexivity].
Qed.
Lemma fed_kinds w : fed w -> of_operation ord (knd (src w)) (knd w).
Proof.
  intros F. destruct (src_ok w F) as (_ & _ & K). destruct (operation_use ord) as (O1 & O2 & O3 & O4).
  destruct (knd w); simpl in K; try tauto; [rewrite K; auto|destruct K as [-> |[-> | ->]]; auto|].
  destruct K as (-> & _). right. exact (rmw_row ord).
Qed.

(* On one queue pair the cell decides. *)
Lemma seen_oppo a b : po a b -> qp a = qp b -> seen ord (knd a) (knd b) = true -> oppo ord a b.
Proof. unfold seen, seen_in, oppo; intros P Q H; split; auto. destruct (table _ _ _); auto; discriminate. Qed.
Lemma issued_ippo a b : po a b -> qp a = qp b -> issued ord (knd a) (knd b) = true -> ippo ord a b.
Proof. unfold issued, issued_in, ippo; intros P Q H; split; auto. destruct (table _ _ _); auto; discriminate. Qed.
Lemma src_oppo w : fed w -> oppo ord (src w) w.
Proof. intros F. destruct (src_ok w F) as (P & _). split; auto. Qed.
Lemma oppo_ippo a b : oppo ord a b -> ippo ord a b.
Proof. unfold ippo, oppo; intros (H & [K|K]); split; auto. destruct (table _ _ _); tauto. Qed.
Lemma ippo_qp a b : nic_kind (knd a) = true -> ippo ord a b -> qp a = qp b.
Proof.
  intros A (P & [Q|H]).
  - pose proof (po_fed _ _ P Q) as F. destruct (src_ok b F) as (_ & X & _). congruence.
  - pose proof (nic_not_all ord _ (knd b) A) as N. destruct (table _ _ _); tauto.
Qed.
(* the cell says so, or they are the read and a write of one operation *)
Lemma ippo_issued a b : ippo ord a b -> issued ord (knd a) (knd b) = true \/ (src b = a /\ fed b).
Proof.
  intros (P & [Q|H]); [right; split; [exact Q|exact (po_fed _ _ P Q)]|left].
  unfold issued, issued_in. destruct (table _ _ _); tauto.
Qed.
Lemma ippo_kinds a b : ippo ord a b -> issued ord (knd a) (knd b) = true \/
  (forall c, issued ord (knd b) c = true -> issued ord (knd a) c = true).
Proof.
  intros P. destruct (ippo_issued a b P) as [|(Q & F)]; [auto|]. destruct (fed_kinds b F) as [S|R]; rewrite Q in *; [left|auto].
  unfold seen, seen_in, issued, issued_in in *. destruct (table _ _ _); auto.
Qed.
Lemma ippo_from_write a b : nicw a -> ippo ord a b -> issued ord (knd a) (knd b) = true.
Proof.
  intros N P. destruct (ippo_issued a b P) as [|(Q & F)]; [auto|exfalso]. destruct (fed_rd b F) as (_ & K). rewrite Q in K.
  unfold nicw in N. destruct (knd a); try discriminate K; destruct N.
Qed.
Lemma ippo_row a b c : ippo ord a b -> nic_inst (knd a) = true -> nicw b -> write_kind c = true ->
  issued ord (knd b) c = true -> issued ord (knd a) c = true.
Proof.
  intros P A B C I. destruct (ippo_kinds a b P) as [K|K]; auto. apply (chain_issued ord _ (knd b)); auto using nicw_write.
Qed.

(* only the rows of NIC writes distinguish issue and observation *)
Lemma inst_ippo_oppo a b : inst a -> ippo ord a b -> oppo ord a b.
Proof.
  intros I (H & [Q|K]); split; auto. right.
  pose proof (inst_not_issue ord _ (knd b) (inst_write _ I)) as N. destruct (table _ _ _); tauto.
Qed.
Lemma cpu_oppo a b : cpu a -> noninit b -> po a b -> oppo ord a b.
Proof. intros C N P; split; auto. right. now rewrite (cpu_all ord _ _ (cpu_kinds _ C) N). Qed.
Lemma ippo_nicw_trans a b c : inst a -> nicw b -> nicw c -> ippo ord a b -> ippo ord b c -> ippo ord a c.
Proof.
  intros I Nb Nc Pab Pbc. assert (po a c) as P by (eapply po_trans; [apply Pab|apply Pbc]).
  destruct (inst_cases a I (po_init_l _ _ P)) as [C|A].
  - apply oppo_ippo, cpu_oppo; auto. exact (po_init_r _ _ P).
  - assert (issued ord (knd b) (knd c) = true) as J.
    { now apply ippo_from_write. }
    apply issued_ippo; [auto| |].
    + rewrite (ippo_qp a b), (ippo_qp b c); auto using nicw_write, nic_inst_nic, write_nic.
    + apply (ippo_row a b); auto using nicw_write.
Qed.

Lemma po_tot a b : S0 a -> S0 b -> noninit a -> noninit b -> ~ cpu a -> ~ cpu b -> qp a = qp b -> a = b \/ po a b \/ po b a.
Proof. intros. apply W; auto. now apply qp_thr. Qed.

Section If.
Hypotheses (H1 : O_oppo) (H2 : O_poll) (H3 : O_forcing) (H4 : O_fence) (H5 : O_rao).

Lemma ib1_E a b : ib1 ord T a b -> E T a /\ E T b.
Proof.
  intros [H|H|H|(_ & H)|H]; try (split; apply H).
  - destruct H as (A & B & (Wa & Ca) & Rb & _). split; split; auto; intros K.
    + apply Ca. unfold cond; now rewrite K.
    + unfold rd in Rb; rewrite K in Rb; destruct Rb.
  - destruct H as [(A & B & Ka & Kb & _)|(Ka & Ea & _ & B & _ & Kb & _)]; split; auto; split; auto; unfold happens;
    congruence.
Qed.

Lemma ww a b : nicw a -> nicw b -> ib1 ord T a b -> ippo ord a b.
Proof.
  intros Na Nb [H|H|H|H|H].
  - apply H.
  - destruct H as (_ & _ & H). destruct (pf_ok _ _ H) as (_ & _ & K & _). red in Nb; rewrite K in Nb; destruct Nb.
  - destruct H as (_ & _ & _ & K & _). red in Nb, K. destruct (knd b); destruct Nb; destruct K.
  - destruct H as (_ & _ & _ & (_ & H) & _). exfalso. unfold nicw, rread, rwrite in *.
    destruct (knd a); simpl in *; try tauto; destruct (knd b); simpl in *; try tauto; intuition discriminate.
  - destruct H as [(_ & _ & _ & K & _)|(_ & _ & _ & _ & _ & K & _)]; red in Nb; rewrite K in Nb; destruct Nb.
Qed.

Definition nfo_free a b := nfo_in S0 l lt a b /\ qp a = qp b /\ nfo_kinds ord (knd a) (knd b) = true.

(* from an instantaneous event to a NIC write: ippo, or nfo *)
Lemma iw a b : inst a -> nicw b -> ib1 ord T a b -> ippo ord a b \/ nfo_free a b.
Proof.
  intros Ia Nb [H|H|H|H|H].
  - left; apply H.
  - destruct H as (_ & _ & H). destruct (pf_ok _ _ H) as (_ & _ & K & _). red in Nb; rewrite K in Nb; destruct Nb.
  - destruct H as (_ & _ & _ & K & _). red in Nb, K. destruct (knd b); destruct Nb; destruct K.
  - right. destruct H as (F & H). split; [exact H|]. destruct H as (_ & _ & (Q & K) & _). split; [auto|].
    unfold inst, is_inst, nicw, rread, rwrite in *.
    destruct K as [(Ka & Kb)|[(Ka & Kb)|[([Ka|[Ka|Ka]] & [Kb|Kb])|([Ka|Ka] & Kb)]]]; rewrite Ka in *; simpl in *; try tauto;
    rewrite Kb; exact F.
  - destruct H as [(_ & _ & _ & K & _)|(_ & _ & _ & _ & _ & K & _)]; red in Nb; rewrite K in Nb; destruct Nb.
Qed.
Lemma nfo_nic r w : nfo_kinds ord r w = true -> nic_inst r = true /\ write_kind w = true /\ flush ord = true.
Proof.
  unfold nfo_kinds, nfo_in_kinds. intros H. destruct r; try discriminate; destruct w; try discriminate; auto.
Qed.

Lemma single a b : inst a -> ib1 ord T a b -> lt a b.
Proof.
  intros I [(Ea & Eb & H)|(Ea & Eb & H)|H|H|H].
  - apply H1; auto. now apply inst_ippo_oppo.
  - destruct (pf_ok _ _ H) as (_ & K & _). destruct I. destruct K as [-> | ->]; exact Logic.I.
  - apply H.
  - destruct H as (_ & H). apply H.
  - destruct H as [H|(K & _)]; [apply H|]. destruct I; rewrite K; exact Logic.I.
Qed.

Lemma free_kinds a b : nfo_free a b -> S0 a /\ S0 b /\ E T a /\ E T b /\ lt a b /\ qp a = qp b /\
  noninit a /\ noninit b /\ ~ cpu a /\ ~ cpu b.
Proof.
  intros ((Ea & Eb & _ & L) & Q & K). destruct (nfo_nic _ _ K) as (A & B & _).
  destruct (nic_not_cpu a (nic_inst_nic _ A)), (nic_not_cpu b (write_nic _ B)).
  repeat split; auto; try apply Ea; apply Eb.
Qed.
(* a read that an nfo edge leads from is not observed after the write *)
Lemma free_forward a b c : nfo_free a b -> S0 c -> noninit c -> ~ cpu c -> po b c -> qp b = qp c ->
  seen ord (knd b) (knd a) = true -> a <> c -> po a c.
Proof.
  intros F Sc Nc Cc P Q O N. destruct (free_kinds _ _ F) as (Sa & Sb & Ea & Eb & L & Qa & Na & Nb & Ca & Cb).
  destruct (po_tot a c) as [|[|P']]; auto; [congruence|congruence|].
  exfalso. apply (asym a b); auto. apply H1; auto. apply seen_oppo; auto. eapply po_trans; eauto.
Qed.

(* part (d): the first two edges can be shortened *)
Lemma shorten a b c : inst a -> nicw b -> nicw c -> ib1 ord T a b -> ib1 ord T b c -> ib1 ord T a c.
Proof.
  intros Ia Nb Nc Hab Hbc.
  destruct (ib1_E _ _ Hab) as (Ea & Eb). destruct (ib1_E _ _ Hbc) as (_ & Ec).
  pose proof (ww _ _ Nb Nc Hbc) as Pbc.
  destruct (iw _ _ Ia Nb Hab) as [Pab|F].
  - apply ib_ippo. split; [exact Ea|split; [exact Ec|]]. exact (ippo_nicw_trans a b c Ia Nb Nc Pab Pbc).
  - destruct (free_kinds _ _ F) as (Sa & Sb & _ & _ & L & Q & Na0 & Nb0 & Ca & Cb). pose proof F as (_ & _ & K).
    destruct (nfo_nic _ _ K) as (Ka & _ & Fl).
    assert (issued ord (knd b) (knd c) = true) as J.
    { now apply ippo_from_write. }
    assert (qp b = qp c) as Qbc by (apply ippo_qp; auto using nicw_write, write_nic).
    destruct (nic_not_cpu c (write_nic _ (nicw_write _ Nc))) as (Nc0 & Cc).
    destruct (flush_chain_use ord _ _ _ K (nicw_write _ Nc) J) as [(Pr & O)|(I & O)].
    + apply ib_nfo. split; [exact Fl|]. split; [exact Ea|split; [exact Ec|split]].
      * split; [congruence|]. unfold rread, rwrite, nfo_kinds, nfo_in_kinds in *. clear -Pr.
        destruct (knd a); try discriminate; destruct (knd c); try discriminate; tauto.
      * eapply trans; [exact L|]. apply H1; auto. apply seen_oppo; auto. apply Pbc.
    + apply ib_ippo. split; [exact Ea|split; [exact Ec|]]. apply issued_ippo; auto; [|congruence].
      apply (free_forward a b c); auto; [apply Ec|apply Pbc|].
      intros <-. unfold inst, is_inst, nicw in *. tauto.
Qed.

(* part (e): a path that ends with a NIC write and a cell `i` *)
Lemma last_fence a w f : inst a -> nicw w -> ib1 ord T a w -> on T (ippo ord) w f -> ~ nicw f -> lt a f.
Proof.
  intros Ia Nw Haw (Ew & Ef & Pwf) Nf. destruct (ib1_E _ _ Haw) as (Ea & _).
  destruct (classic (oppo ord w f)) as [O|O]; [eapply trans; [apply single; eauto|now apply H1]|].
  assert (issued ord (knd w) (knd f) = true) as J.
  { now apply ippo_from_write. }
  assert (seen ord (knd w) (knd f) = false /\ qp w = qp f) as (Ns & Q).
  { clear -O Pwf. unfold ippo, oppo, seen, seen_in in *. destruct Pwf as (P & [|K]); [tauto|].
    destruct (table ord (knd w) (knd f)); tauto. }
  destruct (issue_only_use ord _ (knd f) (knd a) (nicw_write _ Nw) (inst_write _ Nf) J Ns) as (U1 & U2).
  destruct (iw _ _ Ia Nw Haw) as [P|F].
  - assert (po a f) as Paf by (eapply po_trans; [apply P|apply Pwf]).
    destruct (inst_cases a Ia (po_init_l _ _ Paf)) as [C|A].
    { apply H1; auto. apply cpu_oppo; auto. exact (po_init_r _ _ Paf). }
    apply H1; auto. apply seen_oppo; auto.
    + rewrite <- Q. apply ippo_qp; auto using nic_inst_nic, nicw_write, write_nic.
    + destruct (ippo_kinds a w P) as [I|I]; [auto|]. apply inst_seen; auto. now apply inst_write.
  - destruct (free_kinds _ _ F) as (Sa & Sw & _ & _ & L & Qa & Na0 & Nw0 & Ca & Cw). pose proof F as (_ & _ & K).
    destruct (U2 K) as (Sf & Or). destruct (nfo_nic _ _ K) as (_ & _ & Fl).
    assert (thr a = thr f) as Th by (rewrite <- (po_thr w f) by apply Pwf; now apply qp_thr).
    destruct (wf_total _ W a f Sa (proj1 Ef) Na0 (po_init_r _ _ (proj1 Pwf)) Th) as [->|[P|P]].
    + exfalso. destruct Or as [Or|(_ & Kf & Ka)]; congruence.
    + apply H1; auto. apply seen_oppo; auto. congruence.
    + exfalso. apply (asym a w); auto. destruct Or as [Or|(Kw & Kf & Ka)].
      * apply H1; auto. apply seen_oppo; auto. eapply po_trans; [apply Pwf|auto].
      * apply (H4 Fl w f a); auto; try congruence; [apply Ef|apply Pwf].
Qed.

(* part (f): a path that ends with a poll *)
Lemma last_poll a w p : inst a -> nicw w -> ib1 ord T a w -> on T pf w p -> lt a p.
Proof.
  intros Ia Nw Haw (Ew & Ep & H). destruct (ib1_E _ _ Haw) as (Ea & _). pose proof (single _ _ Ia Haw) as L.
  destruct (pf_ok _ _ H) as (Pwp & Kw & Kp & Qwp).
  destruct Kw as [Kw|Kw]; [|eapply trans; [exact L|apply H2; auto; apply Ep]].
  destruct (iw _ _ Ia Nw Haw) as [P|F].
  - assert (po a p) as Pap by (eapply po_trans; [apply P|auto]).
    destruct (inst_cases a Ia (po_init_l _ _ Pap)) as [C|A].
    + apply H1; auto. apply cpu_oppo; auto. unfold noninit; congruence.
    + apply (H3 a w p); auto. apply Ep.
  - destruct (free_kinds _ _ F) as (Sa & Sb & _ & _ & _ & Qa & Na0 & Nb0 & Ca & Cb). pose proof F as (_ & _ & K).
    rewrite Kw in K. destruct (nfo_nic _ _ K) as (Ka0 & _ & Fl).
    destruct (flush_poll_use ord Fl) as (F1 & F2 & F3 & _ & F4 & F5).
    assert ((knd a = NRR \/ issued ord (knd a) NRW = true) /\ seen ord NRW (knd a) = true) as (Ka & Kb).
    { unfold nfo_kinds, nfo_in_kinds in *. destruct (knd a); try discriminate K; auto. }
    destruct (po_tot a w) as [->|[P|P]]; auto.
    + rewrite Kw in Ka0. discriminate.
    + destruct Ka as [Ka|Ka]; [|apply (H3 a w p); auto; [apply Ep|apply issued_ippo; auto; now rewrite Kw]].
      destruct (wf_get _ W a w Sa Sb Ka P) as (w' & Sw' & Kw' & <- & Hw').
      assert (fed w') as Fw by (intros Q; destruct (src_own w' Q); congruence).
      destruct (src_ok w' Fw) as (Paw & Qaw & _).
      destruct Hw' as [->|Hw']; [congruence|].
      destruct (wf_older _ W w p w') as (p' & Hp' & Pp'); auto; [apply Ep|congruence|].
      destruct (pf_ok _ _ Hp') as (_ & _ & Kp' & _).
      assert (S0 p') as Sp' by (destruct Pp' as [->|Pp']; [apply Ep|eapply wf_down; [exact W|exact Pp'|apply Ep]]).
      apply trans with w'.
      { apply H1; auto; [split; auto; red; congruence|]. now apply src_oppo. }
      assert (lt w' p') as X by (apply H2; auto).
      destruct Pp' as [->|Pp']; [exact X|]. eapply trans; [exact X|]. apply H1; auto.
      { split; auto. red; congruence. }
      apply cpu_oppo; auto; unfold cpu, noninit; [rewrite Kp'; exact Logic.I|congruence].
    + exfalso. apply (asym a w); auto. apply H1; auto. apply seen_oppo; auto. now rewrite Kw.
Qed.

Lemma inst_ib_fwd n : forall a b, n > 0 -> inst a -> path (ib1 ord T) n a b -> lt a b.
Proof.
  induction n as [n IH] using lt_wf_ind; intros a b Hn Ia H.
  destruct n as [|[|n]]; [lia| apply single; auto; now apply path_1|].
  destruct (classic (lt a b)) as [|NL]; [auto|exfalso].
  assert (forall i x, i > 0 -> i < 2 + n -> path (ib1 ord T) i a x -> path (ib1 ord T) (2 + n - i) x b -> lt a x /\ nicw x)
    as Mid.
  { intros i x Hi Hi' P Q.
    assert (lt a x) as L by (eapply (IH i); eauto; lia). split; [auto|].
    apply NNPP; intro K. apply NL. eapply trans; [exact L|]. eapply (IH (2 + n - i)); eauto; lia. }
  destruct H as (e1 & E01 & H).
  assert (nicw e1) as N1 by (apply (Mid 1 e1); try lia; [now apply path_1 | exact H]).
  pose proof (single _ _ Ia E01) as L1.
  destruct n as [|n].
  - destruct H as (b0 & H & ->). apply NL. destruct H as [K|K|K|K|K].
    + destruct (classic (nicw b)) as [Nb|Nb]; [|eapply last_fence; eauto].
      apply single; auto. apply (shorten a e1 b); auto. now apply ib_ippo.
    + eapply last_poll; eauto.
    + eapply trans; [exact L1|]. apply K.
    + eapply trans; [exact L1|]. destruct K as (_ & K). apply K.
    + eapply trans; [exact L1|]. destruct K as [K|(Kw & Ew & K)]; [apply K|]. now apply H5.
  - destruct H as (e2 & E12 & H).
    assert (nicw e2) as N2.
    { apply (Mid 2 e2); try lia.
      - exists e1; split; [auto|now apply path_1].
      - replace (2 + Datatypes.S n - 2) with (Datatypes.S n) by lia. exact H. }
    apply NL. apply (IH (2 + n)); [lia|lia|exact Ia|].
    exists e2; split; [exact (shorten a e1 e2 Ia N1 N2 E01 E12)|exact H].
Qed.

Theorem rules_if : forall a b, ob1 ord T a b -> lt a b.
Proof.
  intros a b [(Ea & Eb & H)|(Ea & Eb & H) K|H|H|H|H|H|I H].
  - now apply H1.
  - apply H2; auto. apply Eb.
  - apply H.
  - destruct H as (_ & H). apply H.
  - destruct H as [H|(Kw & Ew & H)]; [apply H|now apply H5].
  - now apply rb_fwd.
  - apply H.
  - destruct (trans_path _ _ _ H) as (n & Hn & P). eapply inst_ib_fwd; eauto.
Qed.
Corollary rules_consistent : rdma_consistent ord T.
Proof. intros a H. apply (irr a). eapply (forward_trans (ob1 ord T) lt); eauto using trans, rules_if. Qed.
End If.

Lemma E_in a : S0 a -> knd a <> NAW -> E T a.
Proof. intros H K; split; [exact H|]. red; congruence. Qed.

(* the five kinds of short edges are in ob, or would close an ob cycle *)
Theorem rules_only_if : (forall a b, ob1 ord T a b -> lt a b) -> O_oppo /\ O_poll /\ O_forcing /\ O_fence /\ O_rao.
Proof.
  intros F. repeat split.
  - intros a b Ea Eb H. apply F, ob_oppo. split; auto.
  - intros w p Sp H K. destruct (pf_ok _ _ H) as (P & _ & Kp & _). apply F, ob_pf; auto.
    split; [apply E_in; [eapply wf_down; eauto|congruence]|split; [apply E_in; [auto|congruence]|auto]].
  - intros e w p Sp H K Ke P. destruct (pf_ok _ _ H) as (Pwp & _ & Kp & _).
    assert (S0 w) as Sw by (eapply wf_down; eauto). assert (S0 e) as Se by (eapply wf_down; [eauto|apply P|auto]).
    assert (E T e) as Ee by (apply E_in; auto; intros X; rewrite X in Ke; discriminate).
    assert (E T w) as Ew by (apply E_in; [auto|congruence]). assert (E T p) as Ep by (apply E_in; [auto|congruence]).
    apply F, ob_ib.
    { unfold inst, is_inst; destruct (knd e); try discriminate Ke; simpl; tauto. }
    apply t_trans with w; apply t_step.
    + apply ib_ippo. split; auto.
    + apply ib_pf. split; auto.
  - intros Fl w f r Sw Sf Sr Kw Kf Kr Q Q' P P'. destruct (fence_use ord Fl) as (F1 & F2).
    assert (E T w) as Ew by (apply E_in; [auto|congruence]). assert (E T f) as Ef by (apply E_in; [auto|congruence]).
    assert (E T r) as Er by (apply E_in; [auto|congruence]).
    destruct St as (_ & _ & Hc). destruct (Hc w r Sw Sr) as [->|[X|X]]; [congruence|auto|exfalso].
    assert (lt f r) as X1 by (apply F, ob_oppo; split; [auto|split; [auto|]]; apply seen_oppo; auto; now rewrite Kf, Kr).
    apply (asym _ _ X1). apply F, ob_ib.
    { unfold inst, is_inst; rewrite Kr; simpl; tauto. }
    apply t_trans with w; apply t_step.
    + apply ib_nfo. split; [exact Fl|]. split; [exact Er|split; [exact Ew|split; [|exact X]]]. split; [congruence|tauto].
    + apply ib_ippo. split; [auto|split; [auto|]]. apply issued_ippo; auto. now rewrite Kw, Kf.
  - intros w b Ew K R. apply F, ob_rao. right; auto.
Qed.

Theorem lemma_3_atomics : (forall a b, ob1 ord T a b -> lt a b) <-> O_oppo /\ O_poll /\ O_forcing /\ O_fence /\ O_rao.
Proof. split; [apply rules_only_if|]. intros (H1 & H2 & H3 & H4 & H5). now apply rules_if. Qed.

End Rules.

(* Corollary 4: under R1, R2 says that polls of A poll completions older than the first forcing one. *)
Section Counters.
Context {U : slots} (ord : order).
Variables (S0 B : ev -> Prop).
Definition forcing w := S0 w /\ B w /\
  (knd w = NLW \/ (knd w = NRW /\ exists e, S0 e /\ B e /\ nic_inst (knd e) = true /\ ippo ord e w)).
Definition R1 := forall b a, S0 b -> S0 a -> B b -> oppo ord b a -> B a.
Definition R2 := forall w p, S0 p -> pf w p -> forcing w -> B p.
Theorem corollary_4_atomics : wfS S0 -> R1 ->
  (R2 <-> forall w p w0, S0 p -> ~ B p -> pf w p -> forcing w0 -> qp w0 = qp w -> po w w0).
Proof.
  intros W H1; split.
  - intros H2 w p w0 Sp NBp H F Q. destruct (pf_ok _ _ H) as (Pwp & Kw & Kp & _).
    assert (S0 w) as Sw by (eapply wf_down; eauto).
    assert (knd w0 = NRW \/ knd w0 = NLW) as K0 by (destruct F as (_ & _ & [K|(K & _)]); auto).
    assert (forall x, knd x = NRW \/ knd x = NLW -> noninit x /\ ~ cpu x) as X.
    { intros x K. unfold noninit, cpu. destruct K as [-> | ->]; simpl; split; auto; discriminate. }
    destruct (X w Kw) as (X1 & X2), (X w0 K0) as (X3 & X4).
    destruct (wf_total _ W w w0) as [->|[P|P]]; auto; [apply F|symmetry; now apply qp_thr| |].
    + destruct NBp. eapply H2; eauto.
    + exfalso. destruct (wf_older _ W w p w0 Sp H K0 Q P) as (p' & H' & P').
      assert (S0 p') as Sp' by (destruct P' as [->|P']; [auto|eapply wf_down; eauto]).
      assert (B p') as Bp' by (eapply H2; eauto).
      destruct P' as [->|P']; [auto|]. apply NBp, (H1 p' p); auto. destruct (pf_ok _ _ H') as (_ & _ & Kp' & _).
      apply cpu_oppo; auto; unfold cpu, noninit; [rewrite Kp'; exact I|congruence].
  - intros H w p Sp Hp F. apply NNPP; intro N. apply (po_irr w). eapply H; eauto.
Qed.
End Counters.
