(* Remote atomics: the least beta (Theorem 7 with M3 and M6).  What touches the pivot keeps its part; else only what is
  forced is in beta. *)
Require Import List Arith Lia Classical Relations.
From RR Require Import Orders RemoteAtomicsModel RemoteAtomicsRules RemoteAtomicsValues RemoteAtomicsTraces RemoteAtomicsBase
  RemoteAtomicsPivot RemoteAtomicsExecuted RemoteAtomicsCycle RemoteAtomicsForm.

Section Least.
Context {U : slots} {ord : order} {P : program} {S l : ev -> Prop} {tau : relation ev} {m pr : ev} {S' l' : ev -> Prop}.
Context {G : setting ord P S l tau m pr S' l'}.
Hypothesis Single : pr = m.
Variable L : relation ev.
Context {HL : sc_run (S:=S) (tau:=tau) (S':=S') (l':=l') L}.
Local Notation touching := (touches (l:=l) (m:=m)).
Local Notation keeping := (keeps (ord:=ord) (S:=S)).
Local Notation ending := (ends (S:=S) (S':=S')).

Inductive least : ev -> Prop :=
| b_touch e : S' e -> tau m e -> touching m e -> least e                                            (* M6 *)
| b_keep b x : least b -> S' x -> keeping b x -> least x                                            (* F1 to F3 *)
| b_conf b x : least b -> S' x -> conflict l' b x -> L b x -> least x                               (* F4 *)
| b_rao b x : least b -> knd b = NAR -> S' x -> knd x = NAW -> l' x -> loc b = loc x -> b <> src x ->
              L b (src x) -> least (src x)                                                          (* M3 *)
| b_end b r : least b -> ending r b -> least r.                                                     (* M3, M4 *)

Definition sigma_least := lexP least (lexP (fun e => e = m \/ least e) L).

Lemma touching_sym a b : touching a b -> touching b a.
Proof. unfold touches. intuition auto. Qed.
Lemma l_sto : sto S L. Proof. exact (L_sto (sc_run:=HL)). Qed.

Lemma naw_conf x b : S' x -> knd x = NAW -> l' x -> knd b = NAR -> loc b = loc x -> conflict l' b x /\ conflict l' x b.
Proof.
  intros Sx Kx Lx Kb Lo. unfold conflict, wr, rd, cond. rewrite Kx, Kb. simpl.
  repeat split; auto; try congruence; intros Q; rewrite Q in *; congruence.
Qed.
Lemma src_in' x : S' x -> knd x = NAW -> S' (src x) /\ tau (src x) x.
Proof. intros Sx Kx. apply (src' x Sx). now apply naw_fed. Qed.

Lemma least_after e : least e -> S' e /\ tau m e.
Proof.
  intros H; induction H as [e Se Ht _|b x H (Sb & IH) Sx K|b x H (Sb & IH) Sx C K|b x H (Sb & IH) Kb Sx Kx Lx Lo N K|b r H
    (Sb & IH) E0].
  - auto.
  - split; auto. pose proof (keeps_tau b x (in_S b Sb) (in_S x Sx) K) as Y. exact (tt _ _ _ IH Y).
  - split; auto. exact (tt _ _ _ IH (proj1 (conf_L L b x Sb Sx C) K)).
  - destruct (src_in' x Sx Kx) as (Ss & Hs). split; auto.
    assert (L (src x) x) as Ls by (apply (L_po (sc_run:=HL)); auto; now apply naw_facts).
    assert (L b x) as Lb by (eapply (proj1 (proj2 l_sto)); eauto).
    destruct (naw_conf x b Sx Kx Lx Kb Lo) as (C & _). pose proof (proj1 (conf_L L b x Sb Sx C) Lb) as Y.
    destruct (t_tot (src x) b (in_S _ Ss) (in_S b Sb)) as [Q|[Z|Z]]; [congruence| |exact (tt _ _ _ IH Z)].
    destruct (ta _ _ Y). apply rao_slots; auto using in_S.
  - split; [apply E0|]. exact (tt _ _ _ IH (ends_tau _ _ E0)).
Qed.
Lemma not_m b : least b -> b <> m.
Proof. intros H ->. destruct (least_after m H) as (_ & Y). exact (ti _ Y). Qed.

Lemma sg_split a b : ~ least a -> least b -> sigma_least a b.
Proof. left; auto. Qed.
Lemma sg_same a b : (least a <-> least b) -> a <> m -> b <> m -> L a b -> sigma_least a b.
Proof. intros H Na Nb K. right. split; auto. right. tauto. Qed.
Lemma sg_to_m a : ~ least a -> a <> m -> sigma_least a m.
Proof. intros H N. right. split; [pose proof (not_m m); tauto|]. left. tauto. Qed.
Lemma sg_from_m b : least b -> sigma_least m b.
Proof. intros H. apply sg_split; auto. intros K. exact (not_m m K eq_refl). Qed.
Lemma sg_sto : sto S sigma_least.
Proof. unfold sigma_least. repeat apply lexP_sto. exact l_sto. Qed.
Lemma sg_asym a b : sigma_least a b -> ~ sigma_least b a.
Proof. exact (sto_asym _ _ _ _ sg_sto). Qed.
Lemma S'_m e : S' e -> e <> m.
Proof. intros Se ->. apply (not_M m Se). left; auto. Qed.
Lemma sg_fwd a b : S' a -> S' b -> L a b -> (least a -> least b) -> sigma_least a b.
Proof.
  intros Sa Sb K H. destruct (classic (~ least a /\ least b)) as [(A & B)|N]; [now apply sg_split|].
  apply sg_same; auto using S'_m. split; [auto|]. intros B. apply NNPP. tauto.
Qed.

(* an RMW that does not write is forced in one piece, unless m tears it *)
Lemma least_void x : S' x -> knd x = NAW -> ~ l' x -> least x -> least (src x) \/ torn (tau:=tau) (m:=m) (pr:=pr) x.
Proof.
  intros Sx Kx Lx H. revert Sx Kx Lx.
  destruct H as [x Se Ht Tc|b x Hb Sy K|b x Hb Sy C K|b y Hb Kb Sy Ky Ly Lo N K|b r Hb E0]; intros Sx Kx Lx;
  destruct (src_in' _ Sx Kx) as (Ss & Hs); destruct (naw_facts _ Kx) as (Px & Qx & Ks & Lsx).
  - destruct (t_tot m (src x) Sm (in_S _ Ss)) as [Y|[Y|Y]].
    + destruct (S'_m _ Ss). auto.
    + left. apply b_touch; auto.
      assert (wr l m) as Wm.
      { destruct Tc as (_ & _ & _ & [W|[W|[W|(_ & Y2)]]]); auto; [|congruence].
        apply NNPP. intros N. apply Lx. apply (T'_live x Sx); [red; now rewrite Kx| |].
        - intros (d & R & D). exact (N (dep_writes _ _ D R)).
        - apply W. red; now rewrite Kx. }
      apply touch_m; auto; [eapply acc_w; eauto|right; unfold rd; now rewrite Ks|]. destruct Tc as (Lo & _). congruence.
    + right. exists m. split; [left; auto|auto].
  - left. assert (oppo ord b x) as O.
    { destruct K as [O|Hp _|w Hp _ _ _ _|f _ _ _ _ K2 _ _ _ _]; auto.
      - destruct (pf_ok _ _ Hp) as (_ & _ & K & _). congruence.
      - destruct (pf_ok _ _ Hp) as (_ & _ & K & _). congruence.
      - congruence. }
    pose proof (in_S b (proj1 (least_after b Hb))) as Sb.
    destruct (wf_total _ wS b (src x)) as [<-|[Y|Y]]; auto.
    + now apply in_S.
    + eapply po_init_l; apply O.
    + unfold noninit; congruence.
    + destruct O as (O & _). rewrite (po_thr _ _ O). symmetry. now apply po_thr.
    + apply b_keep with b; auto. apply k_oppo. now apply column.
    + destruct O as (O & _). destruct (naw_next x b Kx Y) as [->|Z]; [destruct (po_irr _ O)|].
      destruct (po_irr x). eapply po_trans; eauto.
  - exfalso. destruct C as (_ & [(_ & C)|C] & _).
    + apply Lx, C. red; now rewrite Kx.
    + unfold rd in C. rewrite Kx in C. destruct C.
  - destruct (naw_facts y Ky) as (_ & _ & X & _). congruence.
  - destruct E0 as (_ & X & _). congruence.
Qed.

Theorem least_arranged lX : real_in S lX sigma_least -> arranged ord S l tau m pr S' l' sigma_least lX.
Proof.
  assert (forall z, M m pr z -> z = m) as HM by (intros z [->| ->]; auto).
  intros Hr. constructor; auto.
  - exact sg_sto.
  - intros i x Si Sx Ki Nx.
    assert (tau i m) as Ht by (apply g_init; auto; [apply Sm|apply g_last]).
    assert (~ least i) as Ni. { intros H. destruct (least_after i H) as (_ & Y). exact (ta _ _ Ht Y). }
    assert (i <> m) as Nm by (intros ->; exact (ti _ Ht)).
    destruct (classic (least x)); [now apply sg_split|]. destruct (classic (x = m)) as [->|]; [now apply sg_to_m|].
    apply sg_same; auto; [tauto|]. now apply (L_init (sc_run:=HL)).
  - assert (forall b, S b -> touching m b -> (sigma_least m b <-> tau m b)) as F.
    { intros b Sb Tc. destruct (classic (b = m)) as [->|N].
      - split; intros H; [destruct (proj1 sg_sto _ H)|destruct (ti _ H)].
      - split; intros H.
        + apply NNPP. intros K. apply (sg_asym _ _ H). apply sg_to_m; auto. intros Lb. apply K. now apply least_after.
        + apply sg_from_m. apply b_touch; auto. now apply after_S'. }
    intros a b Sa Sb [Ma|Mb] Tc.
    + apply HM in Ma. subst a. now apply F.
    + apply HM in Mb. subst b. apply touching_sym in Tc. specialize (F a Sa Tc).
      destruct (classic (a = m)) as [->|N]; [tauto|].
      destruct (proj2 (proj2 sg_sto) a m Sa Sb) as [|[X|X]], (t_tot a m Sa Sb) as [|[Y|Y]]; try tauto.
      * exfalso. apply F in Y. exact (sg_asym _ _ X Y).
      * exfalso. apply F in X. exact (ta _ _ X Y).
      * split; intros H; [destruct (sg_asym _ _ X H)|destruct (ta _ _ Y H)].
  - intros a b Sa Sb K. pose proof (keeps_tau a b Sa Sb K) as Ht. pose proof (keeps_po a b K) as Hp.
    destruct (M_or_S' a Sa) as [Ma|Sa'].
    { apply HM in Ma. subst a. destruct (m_last b Sb Hp). }
    destruct (M_or_S' b Sb) as [Mb|Sb'].
    + apply HM in Mb. subst b. apply sg_to_m; [|now apply S'_m]. intros H. destruct (least_after a H) as (_ & Y). exact (ta
      _ _ Ht Y).
    + apply sg_fwd; auto; [now apply (L_po (sc_run:=HL))|]. intros H. now apply b_keep with a.
  - intros a b Sa Sb C H. pose proof (L_conf (sc_run:=HL) a b Sa Sb C H) as K. apply sg_fwd; auto. intros Ha. now apply
    b_conf with a.
  - intros x e Sx Kx Lx Se H. destruct (classic (torn (tau:=tau) (m:=m) (pr:=pr) x)) as [|Nt]; [auto|].
    assert (e = src x \/ sigma_least e (src x)) as [|]; auto.
    destruct (src_in' x Sx Kx) as (Ss & Hs).
    assert (least x <-> least (src x)) as Bx.
    { split; intros Y; [destruct (least_void x Sx Kx Lx Y); tauto|]. apply b_keep with (src x); auto.
      apply k_oppo, src_oppo. now apply naw_fed. }
    pose proof (S'_m x Sx). pose proof (S'_m _ Ss).
    revert H. unfold sigma_least. apply lexP_cong; [exact Bx|]. apply lexP_cong; [tauto|]. now apply (L_adj (sc_run:=HL)).
  - intros x b Sx Kx Lx Sb Kb Lo Nb H. destruct (src_in' x Sx Kx) as (Ss & Hs).
    destruct (naw_conf x b Sx Kx Lx Kb Lo) as (C & C').
    destruct (proj2 (proj2 l_sto) x b (in_S x Sx) (in_S b Sb)) as [Q|[Y|Y]]; [congruence| |].
    + apply sg_fwd; auto. intros Hx. now apply b_conf with x.
    + destruct (L_adj (sc_run:=HL) x b Sx Kx Y) as [Q|Z]; [congruence|].
      exfalso. apply (sg_asym _ _ H). apply sg_fwd; auto. intros Hb. now apply b_rao with b.
  - intros r e Sr Kr N Se Ke Lo Ne. assert (ending r e) as H by (repeat split; auto).
    apply sg_fwd; auto; [now apply (L_end (sc_run:=HL))|]. intros He. now apply b_end with e.
Qed.

(* Theorem 7, with the choice of M6: for this beta, with real values, it is a violating trace of the program *)
Theorem theorem_7_atomics : sc (tr S l tau) pr pr -> exists lX, real_in S lX sigma_least /\
  violating ord P (tr S lX sigma_least) /\ forall b, least b -> tau m b.
Proof.
  intros C. destruct (wf_fin _ wS) as (es & Hes).
  destruct (exec_exists (length es) S sigma_least) as (lX & Rx); [exists es; auto|exact sg_sto| |].
  { intros w Sw N. destruct (src_tau w Sw N) as (A1 & A2). split; auto.
    assert (keeping (src w) w) as K by (now apply k_oppo, src_oppo).
    destruct (M_or_S' w Sw) as [Mw|Sw'].
    - assert (w = m) as -> by (destruct Mw; congruence). apply sg_to_m; [|intros Q; rewrite Q in A2; exact (ti _ A2)].
      intros H. destruct (least_after _ H) as (_ & Y). exact (ta _ _ A2 Y).
    - destruct (src' w Sw' N) as (Ss & _). apply sg_fwd; auto; [apply (L_po (sc_run:=HL)); auto; now apply src_ok|].
      intros H. now apply b_keep with (src w). }
  exists lX. split; [exact Rx|]. pose proof (least_arranged lX Rx) as A. split; [|intros b H; now apply least_after].
  exact (@executed_violating U ord P S l tau m pr S' l' G sigma_least lX A C).
Qed.

End Least.
