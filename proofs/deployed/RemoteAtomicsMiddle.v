(* Remote atomics: naR and naW of the pivot are put together (M4).  What stands between them in tau is cut in two: the naR
   moves behind the first part, the naW before the second.  The first part has no write of their word. *)
Require Import List Arith Lia Classical Relations.
From RR Require Import Orders RemoteAtomicsModel RemoteAtomicsRules RemoteAtomicsValues RemoteAtomicsTraces RemoteAtomicsBase
  RemoteAtomicsPivot RemoteAtomicsParts RemoteAtomicsNormalForm.

(* orders that agree where two events are related *)
Section Agree.
Context {U : slots} (ord : order).
Variables (S l : ev -> Prop).
Definition related a b := conflict l a b \/ (flush ord = true /\ nfopair a b) \/ (knd a = NAR /\ knd b = NAR /\ loc a = loc b).
Definition agree (lt lt2 : relation ev) := forall a b, S a -> happens l a -> S b -> happens l b -> related a b ->
  (lt a b <-> lt2 a b).
Lemma agree_sym lt lt2 : agree lt lt2 -> agree lt2 lt.
Proof. intros H a b Sa Ha Sb Hb R. symmetry. now apply H. Qed.

Lemma agree_rf lt lt2 : sto S lt -> sto S lt2 -> agree lt lt2 -> forall u e, rf_in S l lt u e -> rf_in S l lt2 u e.
Proof.
  intros St St2 H u e (Su & Se & Wu & Re & Lo & L & K).
  assert (forall x y lt0, sto S lt0 -> lt0 x y -> x <> y) as Ne by (intros x y lt0 St0 L0 ->; exact (proj1 St0 _ L0)).
  assert (forall x y, S x -> S y -> wr l x -> (wr l y \/ rd y) -> loc x = loc y -> x <> y -> (lt x y <-> lt2 x y)) as C.
  { intros x y Sx Sy Wx Ay Lx N. destruct (wr_in_E S l x Sx Wx), (acc_in_E S l y Sy Ay).
    apply H; auto. left. unfold conflict. tauto. }
  pose proof (Ne _ _ _ St L) as N.
  split; [auto|split; [auto|split; [auto|split; [auto|split; [auto|split; [apply C; auto|]]]]]].
  intros w Sw Ww Lw L'. pose proof (Ne _ _ _ St2 L') as N'. apply C in L'; auto. destruct (K w Sw Ww Lw L') as [|X]; auto.
  right. apply C; auto; [congruence|]. exact (Ne _ _ _ St X).
Qed.
Lemma agree_mo lt lt2 : sto S lt -> agree lt lt2 -> forall a b, mo_in S l lt a b -> mo_in S l lt2 a b.
Proof.
  intros St H a b (Sa & Sb & Wa & Wb & Lo & L).
  split; [auto|split; [auto|split; [auto|split; [auto|split; [auto|]]]]].
  destruct (wr_in_E S l a Sa Wa) as (_ & Ha). destruct (wr_in_E S l b Sb Wb) as (_ & Hb).
  apply H; auto. left. unfold conflict. repeat split; auto. intros ->. exact (proj1 St _ L).
Qed.
Lemma agree_nfo lt lt2 : flush ord = true -> agree lt lt2 -> forall a b, nfo_in S l lt a b -> nfo_in S l lt2 a b.
Proof.
  intros Fl H a b ((Sa & Ha) & (Sb & Hb) & N & L). split; [split; auto|split; [split; auto|split; [auto|]]].
  apply H; auto. right; left; auto.
Qed.
Lemma agree_rao lt lt2 : agree lt lt2 -> forall a b, rao_in S lt a b -> rao_in S lt2 a b.
Proof.
  intros H a b (Sa & Sb & Ka & Kb & Lo & L). repeat split; auto. apply H; auto; try (unfold happens; congruence).
  right; right; auto.
Qed.
(* so they make the same trace *)
Theorem agree_same lt lt2 : sto S lt -> sto S lt2 -> agree lt lt2 ->
  (forall a b, ob1 ord (tr S l lt) a b -> ob1 ord (tr S l lt2) a b) /\
  (forall a b, sc (tr S l lt) a b -> sc (tr S l lt2) a b).
Proof.
  intros St St2 H. pose proof (agree_sym _ _ H) as H2.
  apply ob1_mono; auto; [| |intros Fl|]; intros a b; split.
  - now apply agree_rf.
  - now apply agree_rf.
  - now apply agree_mo.
  - now apply agree_mo.
  - now apply agree_nfo.
  - now apply agree_nfo.
  - now apply agree_rao.
  - now apply agree_rao.
Qed.
Lemma agree_wval lt lt2 : sto S lt -> sto S lt2 -> agree lt lt2 ->
  forall w v, wval (rf_in S l lt) w v <-> wval (rf_in S l lt2) w v.
Proof.
  intros St St2 H w v. pose proof (agree_sym _ _ H) as H2.
  split; intros V.
  - apply (wval_local (fun _ => True) (rf_in S l lt)); auto. intros; split; auto. eapply agree_rf; [exact St| | |]; eauto.
  - apply (wval_local (fun _ => True) (rf_in S l lt2)); auto. intros; split; auto. eapply agree_rf; [exact St2| | |]; eauto.
Qed.
End Agree.

Section Middle.
Context {U : slots} {ord : order} {P : program} {S l : ev -> Prop} {tau : relation ev} {m : ev}.
Context {G : base ord P S l tau}.
Let W : wfS S := RemoteAtomicsBase.W.
Hypothesis Last : last S m.
Hypothesis Km : knd m = NAW.
Variable D : ev -> Prop.
Notation r := (src m).
Notation Mm := (M m r).
Hypothesis D_mid : forall e, D e -> S e /\ tau r e /\ tau e m.
Hypothesis D_down : forall x e, D e -> S x -> tau r x -> tau x e -> D x.
Hypothesis D_word : forall e, D e -> wr l e -> loc e <> loc m.

Definition up e := S e /\ ~ Mm e /\ ~ tau e r /\ ~ D e.
Definition together := around up m r tau.

Lemma Kr : knd r = NAR. Proof. apply (naw_facts m Km). Qed.
Lemma Lr : loc r = loc m. Proof. apply (naw_facts m Km). Qed.
Lemma mid_Sm : S m. Proof. apply Last. Qed.
Lemma mid_Sr : S r. Proof. apply src_S; [exact mid_Sm|]. now apply naw_fed. Qed.
Lemma mid_rm : tau r m. Proof. apply src_before; [exact mid_Sm|]. now apply naw_fed. Qed.
Lemma up_M e : up e -> ~ Mm e. Proof. intros (_ & H & _); auto. Qed.
Lemma up_up a b : up a -> S b -> ~ Mm b -> tau a b -> up b.
Proof.
  intros (Sa & Na & Ra & Da) Sb Nb H. split; [auto|split; [auto|split]].
  - intros H'. apply Ra. exact (t_trans' _ _ _ H H').
  - intros Db. destruct (t_tot a r Sa mid_Sr) as [->|[X|X]]; [apply Na; right; auto|auto|].
    apply Da. now apply (D_down a b).
Qed.
Lemma up_after e : up e -> tau r e.
Proof.
  intros (Se & Ne & Re & _). destruct (t_tot e r Se mid_Sr) as [->|[X|X]]; auto; [destruct Ne; right; auto|tauto].
Qed.
Lemma not_up e : S e -> ~ Mm e -> ~ up e -> tau e r \/ D e.
Proof. intros Se Ne H. apply NNPP. intros N. apply H. unfold up. tauto. Qed.
Lemma before_not_up e : S e -> tau e r \/ D e -> ~ up e.
Proof. intros Se [H|H] (_ & _ & A & B); auto. Qed.

Lemma to_sto : sto S together. Proof. apply around_sto, g_sto. Qed.
Lemma to_same a b : S a -> S b -> ~ Mm a -> ~ Mm b -> (together a b <-> tau a b).
Proof.
  intros Sa Sb Na Nb. destruct (classic (up a)) as [Ua|Ua], (classic (up b)) as [Ub|Ub].
  - apply around_same; tauto.
  - split; intros H.
    + destruct (around_asym S up m r tau g_sto _ _ H). now apply around_split.
    + destruct (Ub (up_up a b Ua Sb Nb H)).
  - split; intros H; [|now apply around_split].
    destruct (t_tot a b Sa Sb) as [->|[X|X]]; auto; [tauto|]. destruct (Ua (up_up b a Ub Sa Na X)).
  - apply around_same; tauto.
Qed.
Lemma to_from z b : Mm z -> ~ Mm b -> (together z b <-> up b).
Proof. apply (around_from S up m r tau g_sto up_M). Qed.
Lemma to_to z a : Mm z -> ~ Mm a -> (together a z <-> ~ up a).
Proof. apply (around_to S up m r tau g_sto up_M). Qed.
Lemma to_rm : together r m.
Proof. apply around_pivot; [exact up_M|]. intros Q. pose proof Kr. congruence. Qed.
Lemma to_init : initfirst S together.
Proof.
  intros i x Si Sx Ki Nx. assert (forall e, knd e = Init -> ~ Mm e) as N.
  { intros e Ke [->| ->]; [|rewrite Kr in Ke]; congruence. }
  destruct (classic (Mm x)) as [Mx|Mx]; [|apply to_same; auto; now apply g_init].
  apply to_to; auto. apply before_not_up; auto. left. apply g_init; auto using mid_Sr. red. rewrite Kr. discriminate.
Qed.

(* the RMWs of the word *)
Lemma word_not_D b : S b -> knd b = NAR -> loc b = loc m -> ~ D b.
Proof.
  intros Sb Kb Lo H. destruct (D_mid b H) as (_ & A1 & A2). apply (t_asym _ _ A2). apply rao_slots; auto. exact mid_Sm.
Qed.
Lemma to_rao a b : S a -> S b -> knd a = NAR -> knd b = NAR -> loc a = loc b -> (together a b <-> tau a b).
Proof.
  intros Sa Sb Ka Kb Lo. assert (forall e, knd e = NAR -> Mm e -> e = r) as N by (intros e Ke [->|]; congruence).
  destruct (classic (Mm a)) as [Ma|Ma], (classic (Mm b)) as [Mb|Mb].
  - rewrite (N a Ka Ma), (N b Kb Mb). split; intros H; [destruct (proj1 to_sto _ H)|destruct (t_irr _ H)].
  - rewrite (to_from a b Ma Mb). rewrite (N a Ka Ma) in *. split; [apply up_after|]. intros H.
    split; [auto|split; [auto|split; [now apply t_asym|apply word_not_D; auto]]]. pose proof Lr. congruence.
  - rewrite (to_to b a Mb Ma). rewrite (N b Kb Mb) in *. pose proof Lr. split.
    + intros H1. destruct (not_up a Sa Ma H1) as [|X]; auto. destruct (word_not_D a); auto. congruence.
    + intros H1. apply before_not_up; auto.
  - now apply to_same.
Qed.

(* the short edges stay forward *)
Lemma to_keeps a b : S a -> S b -> keeps (ord:=ord) (S:=S) a b -> together a b.
Proof.
  intros Sa Sb K. pose proof (keeps_tau a b Sa Sb K) as Ht. pose proof (keeps_po a b K) as Hp.
  destruct (classic (Mm a)) as [[->| ->]|Ma].
  - destruct (proj2 (proj2 Last) b Sb Hp).
  - destruct (naw_next m b Km Hp) as [->|X]; [exact to_rm|destruct (proj2 (proj2 Last) b Sb X)].
  - destruct (classic (Mm b)) as [Mb|Mb]; [|now apply to_same].
    apply to_to; auto. apply before_not_up; auto. left. destruct Mb as [->| ->]; auto.
    apply oppo_slots; auto using mid_Sr.
    assert (oppo ord a m) as O.
    { destruct K as [O|Hp' _|w Hp' _ _ _ _|f _ _ _ _ K2 _ _ _ _]; auto; try congruence;
      destruct (pf_ok _ _ Hp') as (_ & _ & Kb & _); congruence. }
    destruct (naw_facts m Km) as (Pm & _). apply (column a m Km); [|exact O].
    destruct (wf_total _ W a r) as [->|[X|X]]; auto using mid_Sr.
    + eapply po_init_l; eauto.
    + unfold noninit; rewrite Kr; discriminate.
    + rewrite (po_thr _ _ Hp). symmetry. now apply po_thr.
    + destruct Ma. right; auto.
    + destruct (naw_next m a Km X) as [->|Y]; [destruct (po_irr _ Hp)|]. destruct (po_irr m). eapply po_trans; eauto.
Qed.

(* so that it is consistent, whatever happens in it *)
Section Consistent.
Variable l2 : ev -> Prop.
Hypothesis Real : real_in S l2 together.
Hypothesis Valid : valid (tr S l2 together).
Lemma to_ob : forall a b, ob1 ord (tr S l2 together) a b -> together a b.
Proof.
  apply rules_if; auto using W, to_sto.
  - intros x y (Sx & _) (Sy & _) O. apply to_keeps; auto. now apply k_oppo.
  - intros w p Sp H K. destruct (pf_ok _ _ H) as (Pw & _). apply to_keeps; auto; [exact (wf_down _ W _ _ Pw Sp)|now apply
    k_poll].
  - intros e w p Sp H K Ke Pe. destruct (pf_ok _ _ H) as (Pw & _).
    apply to_keeps; auto; [exact (wf_down _ W _ _ (proj1 Pe) (wf_down _ W _ _ Pw Sp))|]. now apply k_forcing with w.
  - intros Fl w f x Sw Sf Sx Kw Kf Kx Q Q' Pf Pr. apply to_keeps; auto. now apply k_fence with f.
  - intros w b (Sw & _) Kw (Ss & Sb & Ks & Kb & Lo & H).
    destruct (naw_facts w Kw) as (_ & _ & _ & Lw).
    assert (tau w b) as Ht. { apply rao_slots; auto; [congruence|]. now apply to_rao. }
    destruct (classic (w = m)) as [->|N].
    + assert (~ Mm b) as Nb. { intros [->| ->]; [congruence|exact (proj1 to_sto _ H)]. }
      apply to_from; [left; auto|auto|]. now apply (to_from r b (or_intror eq_refl) Nb).
    + assert (~ Mm w) as Nw. { intros [->| ->]; [auto|rewrite Kr in Kw; congruence]. }
      destruct (classic (Mm b)) as [[->| ->]|Mb]; [congruence| |now apply to_same].
      apply to_to; [right; auto|auto|]. apply before_not_up; auto.
Qed.
Lemma to_trace : trace_of P (tr S l2 together).
Proof.
  split; [exact (proj1 (proj1 (g_V (base:=G))))|split; [|split; [exact Valid|exact Real]]].
  apply tr_wft; auto using W, to_sto, to_init. intros a b (Sa & Sb & Ka & Kb & Lo & H). apply to_rao in H; auto.
  destruct (t_rao_naw _ (proj1 (proj2 (proj1 (g_V (base:=G))))) a b) as (w & Sw & Kw & Q); eauto.
  repeat split; auto.
Qed.
Lemma to_violating : ~ sc_consistent (tr S l2 together) -> violating ord P (tr S l2 together).
Proof.
  intros N. split; [exact to_trace|split; [|exact N]].
  intros a H. apply (proj1 to_sto a). eapply (forward_trans (ob1 ord (tr S l2 together)) together); eauto using to_ob.
  apply to_sto.
Qed.

(* an order as [base] asks for, with nothing between naR and naW *)
Theorem to_base : ~ sc_consistent (tr S l2 together) -> l2 m -> exists tau2, base ord P S l2 tau2 /\
  (forall e, S e -> tau2 r e -> ~ tau2 e m) /\
  (forall u e, rf_in S l2 tau2 u e <-> rf_in S l2 together u e) /\
  (forall x y, sc (tr S l2 together) x y -> sc (tr S l2 tau2) x y).
Proof.
  intros N Lm.
  destruct (base_of ord P (tr S l2 together) (to_violating N) together to_sto to_init to_ob) as (tau2 & B2 & Ag & Bt).
  simpl in *. exists tau2. split; [exact B2|].
  assert (agree ord S l2 tau2 together) as A.
  { intros a b Sa Ha Sb Hb _. apply Ag; split; auto. }
  assert (sto S tau2) as St2 by exact (g_sto (base:=B2)).
  split; [|split].
  - intros e Se H1 H2.
    destruct (Bt r m e) as (k & Ek & H3 & H4 & H5); auto.
    { split; [exact mid_Sr|]. intros Q. rewrite Kr in Q. discriminate. }
    { split; [exact mid_Sm|]. intros _. exact Lm. }
    assert (k <> m) as Nkm by (intros ->; exact (proj1 to_sto _ H4)).
    assert (k = r) as ->.
    { destruct H3 as [|H3]; [auto|]. destruct (classic (k = r)) as [|Nk]; [auto|exfalso].
      assert (~ Mm k) as Nm by (intros [|]; auto).
      apply (to_to m k (or_introl eq_refl) Nm); auto. now apply (to_from r k (or_intror eq_refl) Nm). }
    destruct H5 as [<-|(Ke & Le & Q)]; [exact (proj1 St2 _ H1)|].
    rewrite (src_naw m e Km Ke Q) in Lm. exact (Le Lm).
  - intros u e. split; apply (agree_rf ord); auto using to_sto. now apply agree_sym.
  - apply (agree_same ord S l2); auto using to_sto. now apply agree_sym.
Qed.
End Consistent.
End Middle.
