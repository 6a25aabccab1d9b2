(* Remote atomics: the least beta (Theorem 7 with M3 and M6).  What touches the pivot keeps its part; else only what is
  forced is in beta.  The pivot is one event, or naR and naW together with nothing between them. *)
Require Import List Arith Lia Classical Relations.
From RR Require Import Orders RemoteAtomicsModel RemoteAtomicsRules RemoteAtomicsValues RemoteAtomicsTraces RemoteAtomicsBase
  RemoteAtomicsPivot RemoteAtomicsExecuted RemoteAtomicsCycle RemoteAtomicsParts RemoteAtomicsForm.

(* What is forced in a run L of the events S', which acts as l' says, where the events of C are in beta.  S has the pivot
   too. *)
Section Forced.
Context {U : slots} (ord : order) (S S' l' : ev -> Prop) (L : relation ev) (C : ev -> Prop).
Inductive least : ev -> Prop :=
| b_touch e : C e -> least e                                                                        (* M6 *)
| b_keep b x : least b -> S' x -> keeps (ord:=ord) (S:=S) b x -> least x                            (* F1 to F3 *)
| b_conf b x : least b -> S' x -> conflict l' b x -> L b x -> least x                               (* F4 *)
| b_rao b x : least b -> knd b = NAR -> S' x -> knd x = NAW -> l' x -> loc b = loc x -> b <> src x ->
              L b (src x) -> least (src x)                                                          (* M3 *)
| b_end b r : least b -> knd b = NAR -> stops (S:=S) (S':=S') r -> loc b = loc r -> b <> r -> least r.   (* M3, M4 *)
End Forced.

Section Least.
Context {U : slots} {ord : order} {P : program} {S l : ev -> Prop} {tau : relation ev} {m pr : ev} {S' l' : ev -> Prop}.
Context {G : setting ord P S l tau m pr S' l'}.
Hypothesis Empty : forall e, S' e -> tau pr e -> ~ tau e m.
Variable L : relation ev.
Context {HL : sc_run (S:=S) (tau:=tau) (S':=S') (l':=l') L}.
Let M := M m pr.
Let in_S e : S' e -> S e := RemoteAtomicsExecuted.in_S e.
Local Notation touching := (touches (S:=S) (l:=l) (m:=m)).
Local Notation keeping := (keeps (ord:=ord) (S:=S)).
Local Notation torn := (torn (tau:=tau) (m:=m) (pr:=pr)).

(* what touches the pivot and comes behind it; C: a part of it that forces all of it, but for some reads of m, the free *)
Definition behind e := S' e /\ tau m e /\ exists z, M z /\ touching z e.
Variables C free : ev -> Prop.
Hypothesis C_behind : forall e, C e -> behind e.
Hypothesis Free : forall x, free x -> S' x /\ ~ is_w (knd x) /\ knd x <> NAR /\ rf_in S l tau m x.
Hypothesis behind_C : forall e, behind e -> ~ free e -> least ord S S' l' L C e.
(* no thread ends behind a naR of the word of a naR that is the pivot and does not write *)
Hypothesis Stop : forall r z, stops (S:=S) (S':=S') r -> M z -> knd z = NAR -> loc z = loc r -> wr l m.
Definition forced := least ord S S' l' L C.
Definition sigma_least := around forced m pr L.

Lemma touching_sym a b : touching a b -> touching b a.
Proof. unfold touches, two_naR. intuition auto. Qed.
Lemma l_sto : sto S L. Proof. exact (L_sto (sc_run:=HL)). Qed.

Lemma naw_conf x b : S' x -> knd x = NAW -> l' x -> knd b = NAR -> loc b = loc x -> conflict l' b x /\ conflict l' x b.
Proof.
  intros Sx Kx Lx Kb Lo. unfold conflict, wr, rd, cond. rewrite Kx, Kb. simpl.
  repeat split; auto; try congruence; intros Q; rewrite Q in *; congruence.
Qed.
Lemma src_in' x : S' x -> knd x = NAW -> S' (src x) /\ tau (src x) x.
Proof. intros Sx Kx. apply (src' x Sx). now apply naw_fed. Qed.

Lemma least_after e : forced e -> S' e /\ tau m e.
Proof.
  intros H; induction H as [e He|b x H (Sb & IH) Sx K|b x H (Sb & IH) Sx Cf K|b x H (Sb & IH) Kb Sx Kx Lx Lo N K|
    b r H (Sb & IH) Kb Hr Lo N].
  - destruct (C_behind e He) as (A & B & _). auto.
  - split; auto. pose proof (keeps_tau b x (in_S b Sb) (in_S x Sx) K) as Y. exact (tt _ _ _ IH Y).
  - split; auto. exact (tt _ _ _ IH (proj1 (conf_L L b x Sb Sx Cf) K)).
  - destruct (src_in' x Sx Kx) as (Ss & Hs). split; auto.
    assert (L (src x) x) as Ls by (apply (L_po (sc_run:=HL)); auto; now apply naw_facts).
    assert (L b x) as Lb by (eapply (proj1 (proj2 l_sto)); eauto).
    destruct (naw_conf x b Sx Kx Lx Kb Lo) as (Cf & _). pose proof (proj1 (conf_L L b x Sb Sx Cf) Lb) as Y.
    destruct (t_tot (src x) b (in_S _ Ss) (in_S b Sb)) as [Q|[Z|Z]]; [congruence| |exact (tt _ _ _ IH Z)].
    destruct (ta _ _ Y). apply rao_slots; auto using in_S.
  - assert (ends (tau:=tau) (S':=S') r b) as E0 by (apply stops_ends; auto).
    split; [apply Hr|]. exact (tt _ _ _ IH (proj2 (proj2 (proj2 (proj2 (proj2 (proj2 E0))))))).
Qed.
Lemma least_M e : forced e -> ~ M e.
Proof. intros H. apply not_M. now apply least_after. Qed.
Lemma least_not_before a : tau a m -> ~ forced a.
Proof. intros H F. destruct (least_after a F) as (_ & Y). exact (ta _ _ H Y). Qed.
Lemma before_m a z : M z -> tau a z -> tau a m.
Proof. intros Mz H. destruct (M_le z Mz) as [->|Y]; [auto|exact (tt _ _ _ H Y)]. Qed.

Lemma sg_sto : sto S sigma_least.
Proof. exact (around_sto S _ m pr L l_sto). Qed.
Lemma sg_asym a b : sigma_least a b -> ~ sigma_least b a.
Proof. exact (sto_asym _ _ _ _ sg_sto). Qed.
Lemma sg_before a z : S' a -> M z -> tau a m -> sigma_least a z.
Proof. intros Sa Mz H. apply around_before; auto using least_M, least_not_before. now apply not_M. Qed.
Lemma sg_fwd a b : S' a -> S' b -> L a b -> (forced a -> forced b) -> sigma_least a b.
Proof. intros Sa Sb. apply around_fwd; now apply not_M. Qed.

(* where the events that touch the pivot stand *)
Lemma sg_touch z b : M z -> S' b -> ~ free b -> touching z b -> (sigma_least z b <-> tau z b).
Proof.
  intros Mz Sb Fb Tc. pose proof (not_M b Sb) as Nb.
  unfold sigma_least. rewrite (around_from S forced m pr L l_sto least_M z b Mz Nb). split.
  - intros H. destruct (least_after b H) as (_ & Y). destruct (M_le z Mz) as [->|X]; [auto|exact (tt _ _ _ X Y)].
  - intros H. apply behind_C; auto. split; auto. split; [|exists z; auto].
    destruct (t_tot m b Sm (in_S b Sb)) as [<-|[X|X]]; auto; [destruct Nb; left; auto|].
    destruct Mz as [->| ->]; [destruct (ta _ _ H X)|destruct (Empty b Sb H X)].
Qed.
Lemma sg_pivot a b : M a -> M b -> (sigma_least a b <-> tau a b).
Proof.
  assert (forall x, ~ sigma_least x x) as Ir by exact (proj1 sg_sto).
  destruct pr_cases as [(Q & _)|(_ & _ & _ & Kp & Ht)].
  - intros Ma Mb. assert (a = m /\ b = m) as (-> & ->) by (destruct Ma, Mb; split; congruence).
    split; intros H; [destruct (Ir _ H)|destruct (ti _ H)].
  - assert (sigma_least pr m) as Hs.
    { apply around_pivot; [exact least_M|]. intros Q. rewrite Q in Ht. exact (ti _ Ht). }
    intros [->| ->] [->| ->]; split; intros H; auto; try (destruct (Ir _ H); fail); try (destruct (ti _ H); fail).
    + destruct (sg_asym _ _ H Hs).
    + destruct (ta _ _ H Ht).
Qed.

(* an RMW that does not write is forced in one piece, unless m tears it *)
Lemma least_void x : S' x -> knd x = NAW -> ~ l' x -> forced x -> forced (src x) \/ torn x.
Proof.
  intros Sx Kx Lx H. revert Sx Kx Lx.
  destruct H as [x He|b x Hb Sy K|b x Hb Sy C0 K|b y Hb Kb Sy Ky Ly Lo N K|b r Hb Kb (_ & Kr & _) Lo N];
  intros Sx Kx Lx; destruct (src_in' _ Sx Kx) as (Ss & Hs); destruct (naw_facts _ Kx) as (Px & Qx & Ks & Lsx).
  - destruct (C_behind x He) as (Se & Ht & z & Mz & Tc). destruct (t_tot m (src x) Sm (in_S _ Ss)) as [Y|[Y|Y]].
    + destruct (not_M _ Ss). now left.
    + left. apply behind_C; [|intros X; destruct (Free _ X) as (_ & _ & X' & _); auto]. split; auto. split; auto. exists m.
      split; [left; auto|].
      assert (wr l m) as Wm.
      { destruct Tc as (_ & _ & _ & [W|[W|[W|(_ & Y2 & _)]]]); auto; [| |congruence].
        - rewrite <- (M_w z Mz); [exact W|apply W].
        - apply NNPP. intros N. apply Lx. apply (T'_live x Sx); [red; now rewrite Kx| |].
          + intros (d & R & D). exact (N (dep_writes _ _ D R)).
          + apply W. red; now rewrite Kx. }
      apply touch_m; auto; [eapply acc_w; eauto|right; unfold rd; now rewrite Ks|]. destruct Tc as (Lo & _).
      destruct Mz as [->| ->]; [congruence|]. destruct pr_cases as [(Q & _)|(Km & Q & _)]; rewrite Q in Lo; [congruence|].
      destruct (naw_facts m Km) as (_ & _ & _ & Lm). congruence.
    + right. exists m. split; [left; auto|auto].
  - left. assert (oppo ord b x) as O.
    { destruct K as [O|Hp _|w Hp _ _ _ _|f _ _ _ _ K2 _ _ _ _]; auto.
      - destruct (pf_ok _ _ Hp) as (_ & _ & K & _). congruence.
      - destruct (pf_ok _ _ Hp) as (_ & _ & K & _). congruence.
      - congruence. }
    pose proof (in_S b (proj1 (least_after b Hb))) as Sb.
    destruct (wf_total _ wS b (src x)) as [<-|[Y|Y]]; auto.
    + eapply po_init_l; apply O.
    + unfold noninit; congruence.
    + destruct O as (O & _). rewrite (po_thr _ _ O). symmetry. now apply po_thr.
    + apply b_keep with b; auto. apply k_oppo. now apply column.
    + destruct O as (O & _). destruct (naw_next x b Kx Y) as [->|Z]; [destruct (po_irr _ O)|].
      destruct (po_irr x). eapply po_trans; eauto.
  - exfalso. destruct C0 as (_ & [(_ & W)|W] & _).
    + apply Lx, W. red; now rewrite Kx.
    + unfold rd in W. rewrite Kx in W. destruct W.
  - destruct (naw_facts y Ky) as (_ & _ & X & _). congruence.
  - congruence.
Qed.

Theorem least_arranged lX : real_in S lX sigma_least -> arranged ord S l tau m pr S' l' sigma_least lX free.
Proof.
  intros Hr. constructor; auto.
  - exact sg_sto.
  - intros i x Si Sx Ki Nx.
    assert (tau i m) as Ht by (apply g_init; auto; [apply Sm|apply g_last]).
    destruct (M_or_S' i Si) as [Mi|Si'].
    { exfalso. assert (i = m) as -> by (apply (M_w i Mi); rewrite Ki; exact I). exact (ti _ Ht). }
    destruct (M_or_S' x Sx) as [Mx|Sx']; [now apply sg_before|].
    apply sg_fwd; auto; [now apply (L_init (sc_run:=HL))|]. intros H. destruct (least_not_before i Ht H).
  - intros a b Sa Sb K Fa Fb Tc. destruct (M_or_S' a Sa) as [Ma|Sa'], (M_or_S' b Sb) as [Mb|Sb'].
    + now apply sg_pivot.
    + now apply sg_touch.
    + apply touching_sym in Tc. pose proof (sg_touch b a Mb Sa' Fa Tc) as F.
      destruct (proj2 (proj2 sg_sto) a b Sa Sb) as [Q|[X|X]], (t_tot a b Sa Sb) as [Q'|[Y|Y]]; try tauto;
        try (subst; destruct (not_M _ Sa'); auto; fail).
      * exfalso. apply F in Y. exact (sg_asym _ _ X Y).
      * exfalso. apply F in X. exact (ta _ _ X Y).
      * split; intros H; [destruct (sg_asym _ _ X H)|destruct (ta _ _ Y H)].
    + destruct K; [destruct (not_M a Sa')|destruct (not_M b Sb')]; auto.
  - intros a b Sa Sb K. pose proof (keeps_tau a b Sa Sb K) as Ht. pose proof (keeps_po a b K) as Hp.
    destruct (M_or_S' a Sa) as [Ma|Sa'].
    { apply sg_pivot; auto. now apply (po_final a). }
    destruct (M_or_S' b Sb) as [Mb|Sb'].
    + apply sg_before; auto. now apply (before_m a b).
    + apply sg_fwd; auto; [now apply (L_po (sc_run:=HL))|]. intros H. now apply b_keep with a.
  - intros a b Sa Sb Cf H. pose proof (L_conf (sc_run:=HL) a b Sa Sb Cf H) as K. apply sg_fwd; auto. intros Ha. now apply
    b_conf with a.
  - intros x e Sx Kx Lx Se H. destruct (classic (torn x)) as [|Nt]; [auto|].
    assert (e = src x \/ sigma_least e (src x)) as [|]; auto.
    destruct (src_in' x Sx Kx) as (Ss & Hs).
    assert (forced x <-> forced (src x)) as Bx.
    { split; intros Y; [destruct (least_void x Sx Kx Lx Y); tauto|]. apply b_keep with (src x); auto.
      apply k_oppo, src_oppo. now apply naw_fed. }
    pose proof (not_M x Sx) as N1. pose proof (not_M _ Ss) as N2. pose proof (not_M e Se) as N3.
    destruct (classic (forced e)) as [Be|Be], (classic (forced x)) as [Bx'|Bx'].
    + apply around_same in H; auto; [|tauto]. destruct (L_adj (sc_run:=HL) x e Sx Kx H); auto. right.
      apply around_same; auto. tauto.
    + destruct (sg_asym _ _ H). now apply around_split.
    + right. apply around_split; tauto.
    + apply around_same in H; auto; [|tauto]. destruct (L_adj (sc_run:=HL) x e Sx Kx H); auto. right.
      apply around_same; auto. tauto.
  - intros x b Sx Kx Lx Sb Kb Lo Nb H. destruct (src_in' x Sx Kx) as (Ss & Hs).
    destruct (naw_conf x b Sx Kx Lx Kb Lo) as (Cf & Cf').
    destruct (proj2 (proj2 l_sto) x b (in_S x Sx) (in_S b Sb)) as [Q|[Y|Y]]; [congruence| |].
    + apply sg_fwd; auto. intros Hx. now apply b_conf with x.
    + destruct (L_adj (sc_run:=HL) x b Sx Kx Y) as [Q|Z]; [congruence|].
      exfalso. apply (sg_asym _ _ H). apply sg_fwd; auto. intros Hb. now apply b_rao with b.
  - intros r e Sr Kr N Se Ke Lo Ne. pose proof (stop_tau r e Sr Kr N Se Ke Lo Ne) as Ht.
    destruct (M_or_S' e Se) as [Me|Se'], (M_or_S' r Sr) as [Mr|Sr'].
    + now apply sg_pivot.
    + apply sg_touch; auto; [intros X; destruct (Free _ X) as (_ & _ & X' & _); auto|]. assert (stops (S:=S) (S':=S') r) as
      Hr' by (split; auto).
      apply touch_m; auto; [exact (Stop r e Hr' Me Ke Lo)| |]; right; unfold rd; [now rewrite Ke|now rewrite Kr].
    + apply sg_before; auto. now apply (before_m e r).
    + assert (stops (S:=S) (S':=S') r) as Hr' by (split; auto).
    apply sg_fwd; auto; [apply (L_end (sc_run:=HL)); apply stops_ends; auto|]. intros He. now apply b_end with e.
  - intros b K Ss Sb Kb Lo H. apply sg_fwd; auto; [apply (L_end (sc_run:=HL)); now apply own_ends|].
    intros Hb. destruct (least_not_before b); auto. apply (tt _ _ _ H). apply src_before; [apply Sm|].
    now apply naw_fed.
Qed.

(* beta begins with what is chosen *)
Lemma least_start x : forced x -> exists b, C b /\ (b = x \/ L b x).
Proof.
  intros H. pose proof l_sto as (_ & Ht & _).
  assert (forall b x, (exists c, C c /\ (c = b \/ L c b)) -> L b x -> exists c, C c /\ (c = x \/ L c x)) as Go.
  { intros b y (c & Cc & Hc) K'. exists c. split; auto. right. destruct Hc as [Q|K]; [now rewrite Q|eauto]. }
  induction H as [e He|b x H IH Sx K|b x H IH Sx Cf K|b x H IH Kb Sx Kx Lx Lo N K|b r H IH Kb Hr Lo N]; eauto.
  - apply (Go b); auto. apply (L_po (sc_run:=HL)); auto; [now apply least_after|exact (keeps_po (ord:=ord) (S:=S) b x K)].
  - apply (Go b); auto. apply (L_end (sc_run:=HL)). apply stops_ends; auto. now apply least_after.
Qed.

(* with real values it is a trace of the program *)
Theorem least_executed : exists lX, real_in S lX sigma_least /\ arranged ord S l tau m pr S' l' sigma_least lX free.
Proof.
  destruct (wf_fin _ wS) as (es & Hes).
  destruct (exec_exists (length es) S sigma_least) as (lX & Rx); [exists es; auto|exact sg_sto| |].
  { intros w Sw N. destruct (src_tau w Sw N) as (A1 & A2). split; auto.
    assert (keeping (src w) w) as K by (now apply k_oppo, src_oppo).
    destruct (M_or_S' w Sw) as [Mw|Sw'].
    - destruct (M_or_S' (src w) A1) as [Ms|Ss]; [now apply sg_pivot|]. apply sg_before; auto. now apply (before_m _ w).
    - destruct (src' w Sw' N) as (Ss & _). apply sg_fwd; auto; [apply (L_po (sc_run:=HL)); auto; now apply src_ok|].
      intros H. now apply b_keep with (src w). }
  exists lX. split; [exact Rx|now apply least_arranged].
Qed.
End Least.

(* Theorem 7, with the choice of M6: for this beta, with real values, it is a violating trace of the program *)
Section Theorem7.
Context {U : slots} {ord : order} {P : program} {S l : ev -> Prop} {tau : relation ev} {m pr : ev} {S' l' : ev -> Prop}.
Context {G : setting ord P S l tau m pr S' l'}.
Variable L : relation ev.
Context {HL : sc_run (S:=S) (tau:=tau) (S':=S') (l':=l') L}.
Variable C : ev -> Prop.
Notation back := (behind (S:=S) (l:=l) (tau:=tau) (m:=m) (pr:=pr) (S':=S')).
Theorem theorem_7_atomics : (forall e, S' e -> tau pr e -> ~ tau e m) -> (forall e, C e -> back e) ->
  (forall e, back e -> least ord S S' l' L C e) ->
  (forall r z, stops (S:=S) (S':=S') r -> M m pr z -> knd z = NAR -> loc z = loc r -> wr l m) ->
  sc (tr S l tau) (rep m) (rep m) ->
  exists lX, arranged ord S l tau m pr S' l' (around (least ord S S' l' L C) m pr L) lX none /\
    violating ord P (tr S lX (around (least ord S S' l' L C) m pr L)).
Proof.
  intros Empty CB BC Stop Cyc. destruct (least_executed Empty L C none) as (lX & _ & A); auto; [intros x []|].
  exists lX. split; [exact A|exact (executed_violating (A:=A) Cyc)].
Qed.
End Theorem7.
