(* Lemma 3 with remote atomics, for any total order: all ob edges of trace(sigma) are forward iff five kinds of short ones
  are. *)
Require Import List Arith Lia Classical Relations.
From RR Require Import Orders RemoteAtomicsModel.

Section Rules.
Context {U : slots} (ord : bool).
Variables (S0 l : ev -> Prop) (lt : relation ev).
Hypothesis W : wfS S0.
Hypothesis St : sto S0 lt.

Let T := tr S0 l lt.

(* rao leads forward: no other naR of the word comes between naR and naW *)
Definition O_oppo := forall a b, E T a -> E T b -> oppo ord a b -> lt a b.
Definition O_poll := forall w p, S0 p -> pf w p -> knd w = NLW -> lt w p.
Definition before_nrw k := k = NLR \/ k = NF \/ k = NAR \/ k = NA.
Definition O_forcing := forall e w p, S0 p -> pf w p -> knd w = NRW -> before_nrw (knd e) -> qp e = qp w -> po e w -> lt e p.
Definition O_fence := forall w f r, S0 w -> S0 f -> S0 r -> knd w = NLW -> knd f = NF -> knd r = NLR ->
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

(* only the rows of NIC writes distinguish issue and observation *)
Lemma inst_ippo_oppo a b : inst a -> ippo ord a b -> oppo ord a b.
Proof.
  unfold inst, is_inst, ippo, oppo; intros I (H & K); split; auto.
  destruct (knd a); simpl in *; try tauto; destruct (knd b); simpl in *; try destruct ord; tauto.
Qed.
Lemma ippo_nicw_trans a b c : inst a -> nicw b -> nicw c -> ippo ord a b -> ippo ord b c -> ippo ord a c.
Proof.
  unfold inst, is_inst, nicw, ippo; intros I Nb Nc (P & H) (Q & K); split; [eapply po_trans; eauto|].
  destruct (knd b); simpl in *; try tauto; destruct (knd c); simpl in *; try tauto;
  destruct (knd a); simpl in *; try tauto; congruence.
Qed.
Lemma oppo_ippo a b : oppo ord a b -> ippo ord a b.
Proof. unfold ippo, oppo; intros (H & K); split; auto. destruct (table _ _ _); tauto. Qed.

Lemma po_tot a b : S0 a -> S0 b -> noninit a -> noninit b -> ~ cpu a -> ~ cpu b -> qp a = qp b -> a = b \/ po a b \/ po b a.
Proof. intros. apply W; auto. now apply qp_thr. Qed.

Section If.
Hypotheses (H1 : O_oppo) (H2 : O_poll) (H3 : O_forcing) (H4 : O_fence) (H5 : O_rao).

Lemma ib1_E a b : ib1 ord T a b -> E T a /\ E T b.
Proof.
  intros [H|H|H|H|H]; try (split; apply H).
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
  - destruct H as (_ & _ & (_ & H) & _). exfalso. unfold nicw, rread, rwrite in *.
    destruct (knd a); simpl in *; try tauto; destruct (knd b); simpl in *; try tauto; intuition discriminate.
  - destruct H as [(_ & _ & _ & K & _)|(_ & _ & _ & _ & _ & K & _)]; red in Nb; rewrite K in Nb; destruct Nb.
Qed.

Definition nfo_free a b := nfo_in S0 l lt a b /\ qp a = qp b /\
  ((knd a = NLR /\ knd b = NLW) \/ (knd a = NRR /\ rwrite (knd b))).

(* from an instantaneous event to a NIC write: ippo, or one of the pairs that nfo orders freely *)
Lemma iw a b : inst a -> nicw b -> ib1 ord T a b -> ippo ord a b \/ nfo_free a b.
Proof.
  intros Ia Nb [H|H|H|H|H].
  - left; apply H.
  - destruct H as (_ & _ & H). destruct (pf_ok _ _ H) as (_ & _ & K & _). red in Nb; rewrite K in Nb; destruct Nb.
  - destruct H as (_ & _ & _ & K & _). red in Nb, K. destruct (knd b); destruct Nb; destruct K.
  - pose proof H as ((Ea & La) & (Eb & Lb) & (Q & K) & L).
    assert (nfo_free a b \/ ((knd a = NAR \/ knd a = NA) /\ rwrite (knd b))) as [F|(Ka & Kb)].
    { unfold nfo_free. unfold inst, is_inst, nicw, rread, rwrite in *.
      destruct K as [(Ka & Kb)|[(Ka & Kb)|[([Ka|[Ka|Ka]] & Kb)|([Ka|Ka] & Kb)]]]; rewrite Ka in *; simpl in *; tauto. }
    { right; exact F. }
    assert (noninit a /\ ~ cpu a) as (Na & Ca) by (unfold noninit, cpu; destruct Ka as [-> | ->]; simpl; split; auto;
      discriminate).
    assert (noninit b /\ ~ cpu b) as (Nb' & Cb) by (unfold noninit, cpu; destruct Kb as [-> | ->]; simpl; split; auto;
      discriminate).
    left. destruct (po_tot a b) as [->|[P|P]]; auto.
    + destruct (irr _ L).
    + split; auto. destruct Ka as [-> | ->], Kb as [-> | ->]; simpl; auto.
    + exfalso; apply (asym a b); auto. apply H1; [split; auto|split; auto|]. split; auto.
      destruct Ka as [-> | ->], Kb as [-> | ->]; simpl; auto.
  - destruct H as [(_ & _ & _ & K & _)|(_ & _ & _ & _ & _ & K & _)]; red in Nb; rewrite K in Nb; destruct Nb.
Qed.

Lemma single a b : inst a -> ib1 ord T a b -> lt a b.
Proof.
  intros I [(Ea & Eb & H)|(Ea & Eb & H)|H|H|H].
  - apply H1; auto. now apply inst_ippo_oppo.
  - destruct (pf_ok _ _ H) as (_ & K & _). destruct I. destruct K as [-> | ->]; exact Logic.I.
  - apply H.
  - apply H.
  - destruct H as [H|(K & _)]; [apply H|]. destruct I; rewrite K; exact Logic.I.
Qed.

Lemma free_kinds a b : nfo_free a b -> S0 a /\ S0 b /\ E T a /\ E T b /\ lt a b /\ qp a = qp b /\
  noninit a /\ noninit b /\ ~ cpu a /\ ~ cpu b.
Proof.
  intros ((Ea & Eb & _ & L) & Q & K). unfold noninit, cpu, rwrite in *.
  repeat split; auto; try apply Ea; try apply Eb;
  destruct K as [(Ka & Kb)|(Ka & [Kb|Kb])]; rewrite ?Ka, ?Kb; simpl; try tauto; discriminate.
Qed.

(* part (d): the first two edges can be shortened *)
Lemma shorten a b c : inst a -> nicw b -> nicw c -> ib1 ord T a b -> ib1 ord T b c -> ib1 ord T a c.
Proof.
  intros Ia Nb Nc Hab Hbc.
  destruct (ib1_E _ _ Hab) as (Ea & Eb). destruct (ib1_E _ _ Hbc) as (_ & Ec).
  pose proof (ww _ _ Nb Nc Hbc) as Pbc.
  destruct (iw _ _ Ia Nb Hab) as [Pab|F].
  - apply ib_ippo. split; [exact Ea|split; [exact Ec|]]. exact (ippo_nicw_trans a b c Ia Nb Nc Pab Pbc).
  - destruct (free_kinds _ _ F) as (Sa & Sb & _ & _ & L & Q & Na0 & Nb0 & Ca & Cb). destruct F as (_ & _ & K).
    assert (nfopair a c \/ (knd a = NRR /\ rwrite (knd b) /\ knd c = NLW)) as Kc.
    { destruct Pbc as (_ & P). unfold nfopair, nicw, rread, rwrite in *.
      destruct K as [(Ka & Kb)|(Ka & [Kb|Kb])]; rewrite Ka, Kb in *; destruct (knd c); simpl in *; try tauto;
      left; (split; [congruence|tauto]). }
    destruct Pbc as (Pbc & Tbc).
    assert (qp b = qp c) as Qbc.
    { destruct K as [(Ka & Kb)|(Ka & [Kb|Kb])]; unfold nicw in Nc; rewrite Kb in Tbc; destruct (knd c); simpl in *; tauto. }
    destruct Kc as [Pr|(Ka & Kb & Kc)].
    + apply ib_nfo. split; [exact Ea|split; [exact Ec|split; [exact Pr|]]].
      eapply trans; [exact L|]. apply H1; auto. split; auto. clear H1 H2 H3 H4 H5.
      unfold nfopair, rread, rwrite, nicw in *. destruct Pr as (_ & Pr).
      destruct K as [(Ka & Kb)|(Ka & [Kb|Kb])]; rewrite Ka, Kb in *; destruct (knd c); simpl in *; try tauto; intuition
        discriminate.
    + destruct (po_tot a c) as [->|[P|P]]; auto.
      * apply Ec.
      * unfold noninit; congruence.
      * unfold cpu; rewrite Kc; simpl; tauto.
      * congruence.
      * congruence.
      * apply ib_ippo. split; [exact Ea|split; [exact Ec|split; [exact P|]]]. rewrite Ka, Kc; simpl; congruence.
      * exfalso. apply (asym a b); auto. apply H1; auto. split; [eapply po_trans; eauto|].
        rewrite Ka. destruct Kb as [-> | ->]; simpl; congruence.
Qed.

(* part (e): a path that ends with a NIC write and an nF *)
Lemma last_fence a w f : inst a -> nicw w -> ib1 ord T a w -> on T (ippo ord) w f -> ~ nicw f -> lt a f.
Proof.
  intros Ia Nw Haw (Ew & Ef & Pwf & Twf) Nf. destruct (ib1_E _ _ Haw) as (Ea & _).
  assert (oppo ord w f \/ (knd f = NF /\ qp w = qp f)) as [O|(Kf & Q)].
  { unfold oppo, nicw in *. destruct (knd w); simpl in *; try tauto; destruct (knd f); simpl in *; tauto. }
  { eapply trans; [apply single; eauto|now apply H1]. }
  assert (forall b, (knd b = NLR \/ knd b = NRR) -> E T b -> po b f -> qp b = qp f -> lt b f) as R.
  { intros b Kb Eb P Qb. apply H1; auto. split; auto. rewrite Kf. destruct Kb as [-> | ->]; simpl; auto. }
  destruct (iw _ _ Ia Nw Haw) as [(P & Pab)|F].
  - apply H1; auto. split; [eapply po_trans; eauto|]. rewrite Kf. clear H1 H2 H3 H4 H5 R.
    unfold inst, is_inst, nicw in *. destruct (knd w); simpl in *; try tauto;
    destruct (knd a); simpl in *; try tauto; congruence.
  - destruct (free_kinds _ _ F) as (Sa & Sb & _ & _ & L & Qa & Na0 & Nb0 & Ca & Cb). destruct F as (_ & _ & K).
    destruct (po_tot a f) as [->|[P|P]]; auto.
    + apply Ef.
    + unfold noninit; congruence.
    + unfold cpu; rewrite Kf; simpl; tauto.
    + congruence.
    + destruct K as [(Ka & _)|(Ka & _)]; congruence.
    + apply R; auto; [tauto|congruence].
    + exfalso. apply (asym a w); auto. destruct K as [(Ka & Kw)|(Ka & Kw)].
      * apply (H4 w f a); auto; try congruence. apply Ef.
      * apply H1; auto. split; [eapply po_trans; eauto|]. rewrite Ka. destruct Kw as [-> | ->]; simpl; congruence.
Qed.

(* part (f): a path that ends with a poll *)
Lemma last_poll a w p : inst a -> nicw w -> ib1 ord T a w -> on T pf w p -> lt a p.
Proof.
  intros Ia Nw Haw (Ew & Ep & H). destruct (ib1_E _ _ Haw) as (Ea & _). pose proof (single _ _ Ia Haw) as L.
  destruct (pf_ok _ _ H) as (Pwp & Kw & Kp & Qwp).
  destruct Kw as [Kw|Kw]; [|eapply trans; [exact L|apply H2; auto; apply Ep]].
  destruct (iw _ _ Ia Nw Haw) as [(P & Pab)|F].
  - destruct (classic (cpu a)) as [C|C].
    + apply H1; auto. split; [eapply po_trans; eauto|]. rewrite Kp. unfold cpu in C.
      destruct (knd a); simpl in *; tauto.
    + apply (H3 a w p); auto; [apply Ep| |].
      * unfold before_nrw. unfold cpu, inst, is_inst in *. rewrite Kw in Pab. destruct (knd a); simpl in *; tauto.
      * unfold cpu in C. rewrite Kw in Pab. destruct (knd a); simpl in *; tauto.
  - destruct (free_kinds _ _ F) as (Sa & Sb & _ & _ & _ & Qa & Na0 & Nb0 & Ca & Cb). destruct F as (_ & _ & K).
    assert (knd a = NRR) as Ka by (destruct K as [(_ & X)|(X & _)]; congruence).
    destruct (po_tot a w) as [->|[P|P]]; auto; [congruence| |].
    + destruct (wf_get _ W a w Sa Sb Ka P) as (w' & Sw' & Kw' & <- & Hw').
      destruct (src_ok w') as (Paw & Qaw & _); [rewrite Kw'; exact Logic.I|].
      destruct Hw' as [->|Hw']; [congruence|].
      destruct (wf_older _ W w p w') as (p' & Hp' & Pp'); auto; [apply Ep|congruence|].
      destruct (pf_ok _ _ Hp') as (_ & _ & Kp' & _).
      assert (S0 p') as Sp' by (destruct Pp' as [->|Pp']; [apply Ep|eapply wf_down; [exact W|exact Pp'|apply Ep]]).
      apply trans with w'.
      { apply H1; auto. { split; auto. red; congruence. } split; auto. rewrite Ka, Kw'; simpl; auto. }
      assert (lt w' p') as X by (apply H2; auto).
      destruct Pp' as [->|Pp']; [exact X|]. eapply trans; [exact X|]. apply H1; auto.
      { split; auto. red; congruence. } split; auto. rewrite Kp, Kp'; exact Logic.I.
    + exfalso. apply (asym a w); auto. apply H1; auto. split; auto. rewrite Ka, Kw; simpl; congruence.
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
    + eapply trans; [exact L1|]. apply K.
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
  - apply H.
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
  - intros e w p Sp H K Ke Q P. destruct (pf_ok _ _ H) as (Pwp & _ & Kp & _).
    assert (S0 w) as Sw by (eapply wf_down; eauto). assert (S0 e) as Se by (eapply wf_down; eauto).
    assert (E T e) as Ee by (apply E_in; auto; destruct Ke as [-> |[-> |[-> | ->]]]; discriminate).
    assert (E T w) as Ew by (apply E_in; [auto|congruence]). assert (E T p) as Ep by (apply E_in; [auto|congruence]).
    apply F, ob_ib.
    { unfold inst, is_inst; destruct Ke as [-> |[-> |[-> | ->]]]; simpl; tauto. }
    apply t_trans with w; apply t_step.
    + apply ib_ippo. split; [auto|split; [auto|split; [auto|]]]. rewrite K. destruct Ke as [-> |[-> |[-> | ->]]]; simpl;
      auto.
    + apply ib_pf. split; auto.
  - intros w f r Sw Sf Sr Kw Kf Kr Q Q' P P'.
    assert (E T w) as Ew by (apply E_in; [auto|congruence]). assert (E T f) as Ef by (apply E_in; [auto|congruence]).
    assert (E T r) as Er by (apply E_in; [auto|congruence]).
    destruct St as (_ & _ & Hc). destruct (Hc w r Sw Sr) as [->|[X|X]]; [congruence|auto|exfalso].
    assert (lt f r) as X1. { apply F, ob_oppo. split; [auto|split; [auto|split; [auto|]]]. rewrite Kf, Kr; simpl; auto. }
    apply (asym _ _ X1). apply F, ob_ib.
    { unfold inst, is_inst; rewrite Kr; simpl; tauto. }
    apply t_trans with w; apply t_step.
    + apply ib_nfo. split; [exact Er|split; [exact Ew|split; [|exact X]]]. split; [congruence|tauto].
    + apply ib_ippo. split; [auto|split; [auto|split; [auto|]]]. rewrite Kw, Kf; simpl; auto.
  - intros w b Ew K R. apply F, ob_rao. right; auto.
Qed.

Theorem lemma_3_atomics : (forall a b, ob1 ord T a b -> lt a b) <-> O_oppo /\ O_poll /\ O_forcing /\ O_fence /\ O_rao.
Proof. split; [apply rules_only_if|]. intros (H1 & H2 & H3 & H4 & H5). now apply rules_if. Qed.

End Rules.

(* Corollary 4: under R1, R2 says that polls of A poll completions older than the first forcing one. *)
Section Counters.
Context {U : slots} (ord : bool).
Variables (S0 B : ev -> Prop).
Definition forcing w := S0 w /\ B w /\
  (knd w = NLW \/ (knd w = NRW /\ exists e, S0 e /\ B e /\ before_nrw (knd e) /\ qp e = qp w /\ po e w)).
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
      split; auto. rewrite Kp', Kp. exact I.
  - intros H w p Sp Hp F. apply NNPP; intro N. apply (po_irr w). eapply H; eauto.
Qed.
End Counters.
