(* Store buffers: Lemma 1, and trace(sigma). *)
Require Import List Arith Lia Classical Relations Setoid.
From RR Require Import Model Hardware Orders Rules Traces StoreModel StoreRules.

Section Traces.
Context {U : events} (hw : hardware) {OK : tso_ok hw}.

Lemma ib1_tso_in T a b : wft T -> ib1_tso hw T a b -> E T a /\ E T b.
Proof.
  intros W [H|H|H|(_ & u & H & M) _|(_ & H)]; try (split; apply H).
  - split; apply (t_rf _ W _ _ H).
  - split; [apply (t_rf _ W _ _ H)|apply (t_mo _ W _ _ M)].
  - split; apply (t_nfo _ W _ _ H).
Qed.
Lemma ib_tso_in T a b : wft T -> ib_tso hw T a b -> E T a /\ E T b.
Proof. intros W H; induction H; [now apply ib1_tso_in|tauto]. Qed.

(* Between events that are delayed an edge of ib is po, so every cycle of ib has an event of Inst. *)
Lemma delayed_po T a b : wft T -> ~ inst_tso a -> ~ inst_tso b -> ib1_tso hw T a b -> po a b.
Proof.
  intros W Na Nb [(_&_&H)|(_&_&H)|H|_ O|(_ & H)].
  - apply H.
  - now destruct (pf_ok _ _ H).
  - destruct Nb. apply rd_inst_tso, (t_rf _ W _ _ H).
  - destruct Na. apply own_facts in O. apply rd_inst_tso; tauto.
  - exfalso. destruct (t_nfo _ W _ _ H) as (_ & _ & _ & K). unfold inst_tso, inst, is_inst, store in *.
    destruct K as [(K & K')|[(K & K')|[(K & K')|(K & K')]]]; rewrite K, K' in *; simpl in *;
    [apply Na|apply Nb|apply Na|apply Nb]; split; (tauto || discriminate).
Qed.
Lemma ib_tso_inst_on T a b : wft T -> ib_tso hw T a b -> (po a b /\ ~ inst_tso a /\ ~ inst_tso b) \/
  exists i, inst_tso i /\ (a = i \/ ib_tso hw T a i) /\ (i = b \/ ib_tso hw T i b).
Proof.
  intros W H; induction H as [a b H|a b c H IH K IK].
  - destruct (classic (inst_tso a)) as [Ia|Na]; [|destruct (classic (inst_tso b)) as [Ib|Nb]].
    + right; exists a; repeat split; auto; try apply Ia. right; now apply t_step.
    + right; exists b; repeat split; auto; try apply Ib. right; now apply t_step.
    + left; eauto using delayed_po.
  - destruct IH as [(P & Na & Nb)|(i & Ii & X & Y)].
    + destruct IK as [(P' & _ & Nc)|(i & Ii & X & Y)].
      * left; eauto using po_trans.
      * right; exists i; split; [exact Ii|split; [|exact Y]]. right.
        destruct X as [<-|X]; [auto|eapply t_trans; eauto].
    + right; exists i; split; [exact Ii|split; [exact X|]]. right.
      destruct Y as [->|Y]; [auto|eapply t_trans; eauto].
Qed.
Theorem ib_tso_irreflexive T : wft T -> tso_consistent hw T -> irreflexive (ib_tso hw T).
Proof.
  intros W C a H. destruct (ib_tso_inst_on T a a W H) as [(P & _)|(i & Ii & X & Y)].
  - eapply po_irr; eauto.
  - apply (C i). apply t_step, obt_ib; auto.
    destruct X as [->|X], Y as [Y|Y]; try subst; auto. eapply t_trans; eauto.
Qed.

Lemma cpu_ib T a b : E T a -> E T b -> cpu a -> po a b -> ib_tso hw T a b.
Proof.
  intros Ea Eb C P. apply t_step, ibt_ippo. split; [auto|split; [auto|]].
  apply oppo_ippo, (cpu_oppo hw); auto. exact (po_init_r _ _ P).
Qed.

Theorem lemma_1_tso T : wft T -> tso_consistent hw T -> (exists x, E T x /\ noninit x) -> exists m, maximal_tso hw T m.
Proof.
  intros W C (x & Ex & Nx).
  destruct (wf_fin _ (t_E _ W)) as (l & Hl).
  destruct (classic (exists c, E T c /\ cpu c)) as [Hc|Hc].
  - destruct (max_elem l (fun c => E T c /\ cpu c) (ib_tso hw T)) as (c & (Ec & Cc) & K); auto.
    { split; [now apply ib_tso_irreflexive|]. intros a b d H H'. eapply t_trans; eauto. }
    { intros a (Ea & _); auto. }
    destruct (last_above T c W Ec (cpu_noninit _ Cc)) as (m & Hm & Lm).
    exists m; split; [auto|]. intros c' Cc' H.
    apply (K c'). { split; [apply (ib_tso_in T _ _ W H)|auto]. }
    destruct Hm as [->|Hm]; [auto|]. eapply t_trans; [|exact H]. apply cpu_ib; auto. apply Lm.
  - destruct (last_above T x W Ex Nx) as (m & _ & Lm).
    exists m; split; [auto|]. intros c Cc H. apply Hc. exists c; split; [apply (ib_tso_in T _ _ W H)|auto].
Qed.

(* In a consistent trace rfb and rbb run along po. *)
Lemma own_rf_po T w r : wft T -> tso_consistent hw T -> rf T w r -> own w r -> po w r.
Proof.
  intros W C H O. pose proof (own_facts _ _ O) as (Nw & Nr & _ & _ & Cr & _).
  destruct (t_rf _ W _ _ H) as (Ew & Er & _).
  destruct (wf_total _ (t_E _ W) w r Ew Er Nw Nr) as [->|[P|P]]; auto;
    [apply O|destruct O as (_ & Q & Q'); unfold store in Q; congruence|].
  destruct (ib_tso_irreflexive T W C r). apply t_trans with w; [apply (cpu_ib T r w); auto|]. apply t_step. now apply ibt_rf.
Qed.
Lemma own_rb_po T r w : wft T -> tso_consistent hw T -> rb T r w -> own w r -> po r w.
Proof.
  intros W C H O. pose proof (own_facts _ _ O) as (Nw & Nr & _). pose proof H as (N & u & Hu & M).
  destruct (t_rf _ W _ _ Hu) as (_ & Er & _). destruct (t_mo _ W _ _ M) as (_ & Ew & _).
  destruct (wf_total _ (t_E _ W) w r Ew Er Nw Nr) as [->|[P|P]]; [apply O|tauto| |auto].
  destruct (ib_tso_irreflexive T W C w). eapply t_trans; [apply (cpu_ib T w r); auto; apply store_cpu, O|].
  apply t_step. now apply ibt_rbb.
Qed.

(* trace(sigma) is well formed *)
Section Formed.
Variables (E : ev -> Prop) (lt : relation ev).
Hypotheses (W : wfE E) (S : sto E lt) (I : initfirst E lt).

Lemma waits_last r : (exists w, waits E lt r w) -> exists w, forwards E lt w r.
Proof.
  intros H. destruct (wf_fin _ W) as (l & Hl).
  destruct (max_elem l (waits E lt r) po po_spo) as (w & Hw & K); auto.
  { intros a (Ea & _); auto. }
  exists w. split; [auto|]. intros w' Hw'.
  pose proof Hw as (Ew & (Tw & Sw & _) & _). pose proof Hw' as (Ew' & (Tw' & Sw' & _) & _).
  destruct (wf_total _ W w' w) as [|[|P]]; auto; try (unfold store, noninit in *; congruence).
  destruct (K w' Hw' P).
Qed.
Lemma rf_tso_fun w w' r : rf_tso E lt w r -> rf_tso E lt w' r -> w = w'.
Proof.
  intros (_ & _ & [(H & K)|(N & H)]) (_ & _ & [(H' & K')|(N' & H')]).
  - destruct (K w' H') as [|P]; [auto|]. destruct (K' w H) as [|P']; [auto|]. destruct (po_irr w). eauto using po_trans.
  - destruct (N' w H).
  - destruct (N w' H').
  - exact (rf_in_fun (tr E lt) lt S w w' r H H').
Qed.
Lemma rf_tso_ex r : E r -> rd r -> exists w, rf_tso E lt w r.
Proof.
  intros Er Rr. destruct (classic (exists w, waits E lt r w)) as [H|H].
  - destruct (waits_last r H) as (w & K). exists w. split; [auto|split; auto].
  - destruct (t_rf_ex _ (tr_wft E lt W S I) r Er Rr) as (w & K). exists w. split; [auto|split; [auto|right]].
    split; [intros w' X; apply H; eauto|exact K].
Qed.
Lemma rf_tso_facts w r : rf_tso E lt w r -> E w /\ E r /\ wr w /\ rd r /\ loc w = loc r.
Proof.
  intros (Er & Rr & [((Ew & O & L & _) & _)|(_ & H)]).
  - apply own_facts in O. tauto.
  - split; [apply H|]. split; [auto|]. split; [apply H|]. split; [auto|apply H].
Qed.
Lemma tr_tso_wft : wft (tr_tso E lt).
Proof.
  pose proof (tr_wft E lt W S I) as K. constructor; try apply K.
  - exact rf_tso_facts.
  - exact rf_tso_ex.
  - exact rf_tso_fun.
Qed.
End Formed.

(* If an order contains ob of T then rf, mo and nfo of T are those of trace(sigma). *)
Section Same.
Variables (T : trace) (lt : relation ev).
Hypotheses (W : wft T) (C : tso_consistent hw T) (S : sto (E T) lt) (I : initfirst (E T) lt).
Hypothesis Hob : forall a b, ob1_tso hw T a b -> lt a b.

Let Hmo a b : mo T a b -> lt a b. Proof. intros; apply Hob; now apply obt_mo. Qed.
Let Hrb a b : rb T a b -> lt a b. Proof. intros; apply Hob; now apply obt_rb. Qed.

Lemma same_mo_tso a b : mo T a b <-> mo_in (E T) lt a b.
Proof.
  split.
  - intros H; destruct (t_mo _ W _ _ H) as (?&?&?&?&?). repeat split; auto.
  - intros (Ea & Eb & Wa & Wb & L & H). destruct (t_mo_total _ W a b Ea Eb Wa Wb L) as [->|[|K]]; auto.
    + destruct S as (Hi & _); destruct (Hi _ H).
    + destruct (sto_asym _ _ _ _ S H); auto.
Qed.
(* no store of the reader's thread that is mo-after what is read stands before it in po *)
Lemma no_later w r w' : rf T w r -> own w' r -> po w' r -> mo T w w' -> False.
Proof.
  intros H O P M. assert (rb T r w') as R.
  { split; [|eauto]. intros ->. eapply po_irr; eauto. }
  eapply po_irr, po_trans; [exact P|]. exact (own_rb_po T r w' W C R O).
Qed.
Lemma rf_forward w r : rf T w r -> rf_tso (E T) lt w r.
Proof.
  intros H. destruct (t_rf _ W _ _ H) as (Ew & Er & Ww & Rr & L). split; [auto|split; [auto|]].
  assert (forall w', waits (E T) lt r w' -> w' = w \/ mo T w' w) as K.
  { intros w' (Ew' & O & L' & P & _). destruct (t_mo_total _ W w w') as [|[M|M]]; auto.
    - now apply own_facts in O.
    - congruence.
    - destruct (no_later w r w' H O P M). }
  destruct (classic (waits (E T) lt r w)) as [X|X].
  - left. split; [auto|]. intros w' Hw'. destruct (K w' Hw') as [|M]; [auto|right].
    pose proof X as (_ & (Tw & Sw & _) & _). pose proof Hw' as (Ew' & (Tw' & Sw' & _) & _).
    destruct (wf_total _ (t_E _ W) w' w) as [->|[P|P]]; auto; try (unfold store, noninit in *; congruence).
    + destruct (t_mo_irr _ W _ M).
    + destruct (sto_asym _ _ _ _ S (Hmo _ _ M)). apply Hob, obt_oppo. split; [auto|split; [auto|]].
      apply store_oppo; auto; unfold store, noninit in *; congruence.
  - assert (lt w r) as Lw.
    { destruct (classic (own w r)) as [O|O]; [|apply Hob; now apply obt_rf].
      pose proof (own_rf_po T w r W C H O) as P. pose proof S as (_ & _ & Hc).
      destruct (Hc w r Ew Er) as [->|[|L']]; auto.
      - destruct (po_irr _ P).
      - destruct X. repeat split; auto; apply O. }
    right. split.
    + intros w' Hw'. destruct (K w' Hw') as [->|M]; [auto|]. pose proof Hw' as (_ & _ & _ & _ & L').
      apply (sto_asym _ _ _ _ S L'). destruct S as (_ & Ht & _). eauto.
    + repeat split; auto. intros w' Ew' Ww' Lw' L'.
      destruct (t_mo_total _ W w' w) as [|[|M]]; auto; try congruence.
      exfalso. apply (sto_asym _ _ _ _ S L'). apply Hrb. split; [|eauto].
      intros ->. destruct S as (Hi & _); eapply Hi; eauto.
Qed.
Lemma same_rf_tso w r : rf T w r <-> rf_tso (E T) lt w r.
Proof.
  split; [apply rf_forward|]. intros H.
  destruct (t_rf_ex _ W r) as (w' & H'); [apply H|apply H|].
  rewrite (rf_tso_fun (E T) lt S w w' r H (rf_forward _ _ H')). auto.
Qed.
Lemma same_nfo_tso a b : flush hw = true -> (nfo T a b <-> nfo_in (E T) lt a b).
Proof.
  intros F. split; intros H.
  - destruct (t_nfo _ W _ _ H) as (Ea & Eb & N). split; [auto|split; [auto|split; [auto|]]].
    apply Hob, obt_nfo. split; auto.
  - destruct H as (Ea & Eb & N & L). destruct (t_nfo_total _ W a b Ea Eb N) as [|K]; [auto|].
    destruct (sto_asym _ _ _ _ S L). apply Hob, obt_nfo. split; auto.
Qed.
End Same.

(* Corollary 4: under R1, R2 says that polls of A poll completions older than the first forcing one. *)
Theorem corollary_4_tso E B : wfE E -> R1_tso hw E B ->
  (R2_tso E B <-> forall w p w0, E p -> ~ B p -> pf w p -> forcing_tso E B w0 -> qp w0 = qp w -> po w w0).
Proof.
  intros W H1; split.
  - intros H2 w p w0 Ep NBp H F Q.
    destruct (pf_ok _ _ H) as (Pwp & Nw & Kp & Qwp).
    assert (E w) as Ew by (eapply wf_down; eauto).
    assert (nicw w0) as N0 by (destruct F as (_ & _ & [K|(K & _)]); red; rewrite K; exact I).
    destruct (nic_not_cpu w (nicw_nic w Nw)) as (X1 & X2). destruct (nic_not_cpu w0 (nicw_nic w0 N0)) as (X3 & X4).
    destruct (wf_total _ W w w0) as [->|[P|P]]; auto; [apply F|symmetry; now apply qp_thr| |].
    + destruct NBp. eapply H2; eauto.
    + exfalso. destruct (wf_older _ W w p w0 Ep H N0 Q P) as (p' & H' & P').
      assert (E p') as Ep' by (destruct P' as [->|P']; [auto|eapply wf_down; eauto]).
      assert (B p') as Bp' by (eapply H2; eauto).
      destruct P' as [->|P']; [auto|].
      destruct (pf_ok _ _ H') as (_ & _ & Kp' & _).
      apply NBp, (H1 p p'); auto. apply to_tso; [unfold store; congruence|].
      apply (cpu_oppo hw); auto; [red; rewrite Kp'; exact I|unfold noninit; congruence].
  - intros H w p Ep Hp F. apply NNPP; intro N. apply (po_irr w). eapply H; eauto.
Qed.
End Traces.
