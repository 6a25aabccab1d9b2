(* Remote atomics: an SC order L of what is left without the pivot, and alpha, naR, middle, m, beta in the order L. *)
Require Import List Arith Lia Classical Relations.
From RR Require Import Orders RemoteAtomicsModel RemoteAtomicsRules RemoteAtomicsValues RemoteAtomicsTraces RemoteAtomicsBase
  RemoteAtomicsPivot RemoteAtomicsExecuted RemoteAtomicsCycle RemoteAtomicsParts.

Section Form.
Context {U : slots} {ord : order} {P : program} {S l : ev -> Prop} {tau : relation ev} {m pr : ev} {S' l' : ev -> Prop}.
Context {G : setting ord P S l tau m pr S' l'}.
Hypothesis SC : sc_consistent (tr S' l' tau).
Let M := M m pr.
Let T' := tr S' l' tau.
Let in_S e : S' e -> S e := RemoteAtomicsExecuted.in_S e.

Lemma join' a b : S' a -> S' b -> conflict l' a b -> tau a b -> ~ (knd b = NAW /\ src b = a) -> sc T' (rep a) (rep b).
Proof. intros. apply join; auto; [apply wfS'|apply sto'|apply init']. Qed.

(* What L has to contain: sc, and before a naR without its naW the naR of its word that come before it. *)
Definition ends r e := S' r /\ knd r = NAR /\ (forall w, S' w -> knd w = NAW -> src w <> r) /\
  S' e /\ knd e = NAR /\ loc e = loc r /\ tau e r.
Definition L_edge x y := scv T' x y \/ ends y x.

Lemma ends_trans r e r2 : ends r e -> ends r2 r -> ends r2 e.
Proof.
  intros (_ & _ & _ & Se & Ke & Lo & Ht) (Sr2 & K2 & N2 & _ & _ & Lo2 & Ht2).
  repeat split; auto; [congruence|exact (tt _ _ _ Ht Ht2)].
Qed.
(* behind which its thread ends: then it is behind all of them *)
Definition stops r := S' r /\ knd r = NAR /\ forall w, S w -> knd w = NAW -> src w <> r.
Lemma stop_tau r e : S r -> knd r = NAR -> (forall w, S w -> knd w = NAW -> src w <> r) ->
  S e -> knd e = NAR -> loc e = loc r -> e <> r -> tau e r.
Proof.
  intros Sr Kr N Se Ke Lo Ne. destruct (t_tot e r Se Sr) as [|[|H]]; auto; [congruence|exfalso].
  destruct (t_rao_naw _ (proj1 (proj2 (proj1 (g_V (ord:=ord) (P:=P) (S:=S) (l:=l) (tau:=tau))))) r e) as (w & Sw & Kw & Q).
  - split; [auto|split; auto].
  - exact (N w Sw Kw Q).
Qed.
Lemma stops_ends r e : stops r -> S' e -> knd e = NAR -> loc e = loc r -> e <> r -> ends r e.
Proof. intros (Sr & Kr & N) Se Ke Lo Ne. repeat split; auto using in_S. apply stop_tau; auto using in_S. Qed.
(* so is the naR of a naW that is the pivot alone, of those that come before it *)
Lemma own_ends b : knd m = NAW -> S' (src m) -> S' b -> knd b = NAR -> loc b = loc m -> tau b (src m) -> ends (src m) b.
Proof.
  intros K Ss Sb Kb Lo H. destruct (naw_facts m K) as (_ & _ & Ks & Ls). repeat split; auto; [|congruence].
  intros w Sw Kw Q. apply (not_M w Sw). left. now apply src_naw.
Qed.
(* what follows such a naR under sc are writes, and they follow the others too *)
Lemma ends_scv r e y : ends r e -> scv T' r y -> sc T' e y.
Proof.
  intros H (a & b & Qa & -> & E1 & Nin). pose proof H as (Sr & Kr & N & Se & Ke & Lo & Her).
  assert (a = r) as ->.
  { destruct (rep_spec a) as [(K & Q & _)|(_ & Q)]; rewrite Q in Qa; auto. exfalso.
    assert (S' a) as Sa.
    { destruct E1 as [((X & _) & _)|X|(_ & u & X & _)|X]; auto; try apply X. }
    exact (N a Sa K (eq_sym Qa)). }
  destruct E1 as [((_ & _) & (Sb & _) & Hp)|X|X|X].
  - destruct (wf_naw _ wfS' r b Sr Sb Kr Hp) as (w & Sw & Kw & Q). destruct (N w Sw Kw Q).
  - destruct X as (_ & _ & (X & _) & _). rewrite Kr in X. destruct X.
  - destruct (eco_conflict S' l' tau r b sto' (or_intror (or_introl X))) as (_ & Sb & C & Hrb).
    assert (rep e = e) as Re. { destruct (rep_spec e) as [(K & _)|(_ & Q)]; congruence. }
    rewrite <- Re. apply join'; auto.
    + destruct C as (_ & _ & Wb & Lb & _). assert (wr l' b) as Wb'.
      { destruct Wb as [(Wr & _)|]; auto. rewrite Kr in Wr. destruct Wr. }
      unfold conflict. split; [right; unfold rd; rewrite Ke; exact I|]. split; [auto|]. split; [auto|].
      split; [congruence|]. intros ->. destruct Wb' as (Y & _). rewrite Ke in Y. destruct Y.
    + exact (tt _ _ _ Her Hrb).
    + intros (Kb & Qb). assert (tau b r) as Y.
      { apply rao_slots; auto using in_S; [rewrite <- (proj2 (proj2 (proj2 (naw_facts b Kb)))), Qb; congruence|].
        now rewrite Qb. }
      exact (ta _ _ Hrb Y).
  - destruct X as (_ & _ & (X & _) & _). rewrite Kr in X. destruct X.
Qed.

Lemma L_path x y : clos_trans ev L_edge x y -> sc T' x y \/ exists z, (x = z \/ sc T' x z) /\ ends y z.
Proof.
  intros H. apply clos_trans_tn1 in H. induction H as [y [H|H]|y z [H|H] _ IH].
  - left. now apply t_step.
  - right. eauto.
  - left. destruct IH as [IH|(w & [->|Hw] & E0)].
    + eapply t_trans; [exact IH|now apply t_step].
    + eapply ends_scv; eauto.
    + eapply t_trans; [exact Hw|]. eapply ends_scv; eauto.
  - right. destruct IH as [IH|(w & Hw & E0)]; [eauto|]. exists w. split; [exact Hw|now apply (ends_trans y)].
Qed.
Lemma L_acyclic x : ~ clos_trans ev L_edge x x.
Proof.
  intros H. destruct (L_path x x H) as [K|(z & [<-|K] & E0)].
  - exact (SC x K).
  - exact (ti _ (proj2 (proj2 (proj2 (proj2 (proj2 (proj2 E0))))))).
  - apply clos_trans_t1n in K. inversion K as [y K1|y z' K1 K2]; subst.
    + exact (SC z (ends_scv x z z E0 K1)).
    + apply (SC z). eapply t_trans; [exact (ends_scv x z y E0 K1)|]. now apply clos_t1n_trans.
Qed.
Lemma mo_noninit u b : mo T' u b -> noninit b.
Proof.
  intros (Su & Sb & _ & _ & Lo & H) K. destruct (classic (knd u = Init)) as [Ku|Ku].
  - rewrite (wf_init1 _ wfS' u b) in H; auto. exact (ti _ H).
  - exact (ta _ _ H (init' b u Sb Su K Ku)).
Qed.
Lemma scv_noninit x y : scv T' x y -> noninit y.
Proof.
  intros (a & b & _ & -> & E1 & _). apply rep_noninit. destruct E1 as [(_ & _ & H)|H|H|H].
  - eapply po_init_r; eauto.
  - apply rd_noninit. apply H.
  - destruct H as (_ & u & _ & H). exact (mo_noninit _ _ H).
  - exact (mo_noninit _ _ H).
Qed.

Class sc_run (L : relation ev) : Prop := {
  L_sto : sto S L;
  L_init : initfirst S L;
  L_po : forall a b, S' a -> S' b -> po a b -> L a b;
  L_conf : forall a b, S' a -> S' b -> conflict l' a b -> tau a b -> L a b;
  L_adj : forall x e, S' x -> knd x = NAW -> L e x -> e = src x \/ L e (src x);
  L_end : forall r e, ends r e -> L e r;
}.

Theorem sc_run_exists : exists L, sc_run L.
Proof.
  destruct (linear S L_edge) as (L0 & St0 & I0 & H0).
  { apply (wf_fin _ W). }
  { exact L_acyclic. }
  { intros a b [H|(_ & K & _)]; [now apply (scv_noninit a)|]. unfold noninit; congruence. }
  assert (forall a b, sc T' a b -> L0 a b) as Hsc.
  { intros a b H. induction H; [apply H0; now left|eapply St0; eauto]. }
  pose (K := fun a k => k = rep a).
  assert (forall a k k', K a k -> K a k' -> k = k') as k2 by (unfold K; congruence).
  assert (forall a k, K a k -> K k k) as k3 by (unfold K; intros a k ->; now rewrite rep_rep).
  exists (squash K L0). constructor.
  - apply squash_sto; auto.
    + intros a; exists (rep a); reflexivity.
    + unfold K. intros a b k Qa Qb. subst k. destruct (rep_spec a) as [(Ka & Ra & _)|(Ka & Ra)], (rep_spec b) as [(Kb & Rb
      & _)|(Kb & Rb)];
      rewrite Ra, Rb in *; auto.
      left. now apply src_naw.
    + unfold K. intros a k Sa ->. apply rep_S; auto. exact W.
  - intros i x Si Sx Ki Nx. exists i, (rep x). split; [|split; [reflexivity|left; apply I0; auto using rep_noninit]].
    + unfold K. destruct (rep_spec i) as [(Q & _)|(_ & ->)]; congruence.
    + apply rep_S; auto. exact W.
  - intros a b Sa Sb H. exists (rep a), (rep b). split; [reflexivity|split; [reflexivity|]].
    destruct (classic (knd b = NAW /\ src b = a)) as [(Kb & Qb)|N].
    + right. destruct (rep_spec b) as [(_ & Rb & _ & Ks)|]; [|tauto]. rewrite Rb, Qb in *.
      destruct (rep_spec a) as [(Ka & _)|(_ & Ra)]; [congruence|]. rewrite Ra. split; auto. split; auto. intros ->.
      destruct (po_irr _ H).
    + left. destruct (po_scv T' a b wfS' Sa Sb H) as [Q|V]; [destruct (rep_po_neq a b H N Q)|]. apply H0. now left.
  - intros a b Sa Sb C H. destruct (classic (knd b = NAW /\ src b = a)) as [(Kb & Qb)|N].
    + destruct (rep_spec b) as [(_ & Rb & Pb & Ks)|]; [|tauto].
      exists (rep a), (rep b). split; [reflexivity|split; [reflexivity|]]. right. rewrite Rb, Qb in *.
      destruct (rep_spec a) as [(Ka & _)|(_ & Ra)]; [congruence|]. rewrite Ra. split; auto. split; auto. intros ->.
      destruct (po_irr _ Pb).
    + exists (rep a), (rep b). split; [reflexivity|split; [reflexivity|]]. left. apply Hsc. now apply join'.
  - intros x e Sx Kx. apply squash_adj; auto. unfold K, rep. now rewrite Kx.
  - intros r e H. pose proof H as (_ & Kr & _ & _ & Ke & _).
    apply squash_key; auto; try (unfold K, rep; first [now rewrite Kr|now rewrite Ke]). apply H0. now right.
Qed.

(* sigma *)
Section Sigma.
Variable L : relation ev.
Context {HL : sc_run L}.

(* L is a run of the program, with the reads of T' *)
Lemma conf_L a b : S' a -> S' b -> conflict l' a b -> (L a b <-> tau a b).
Proof.
  intros Sa Sb C. split; [|now apply L_conf]. intros H.
  destruct (t_tot a b (in_S a Sa) (in_S b Sb)) as [->|[X|X]]; auto; [destruct (proj1 L_sto _ H)|].
  exfalso. apply (sto_asym _ _ _ _ L_sto H). apply L_conf; auto. unfold conflict in *. intuition auto.
Qed.
Lemma L_rf u e : rf_in S' l' tau u e <-> rf_in S' l' L u e.
Proof.
  assert (forall x y, S' x -> S' y -> wr l' x -> (wr l' y \/ rd y) -> loc x = loc y -> x <> y -> (L x y <-> tau x y)) as C.
  { intros x y Sx Sy Wx Ay Lo N. apply conf_L; auto. unfold conflict. tauto. }
  split; intros (Su & Se & Wu & Re & Lo & H & K).
  - assert (u <> e) as N by (intros ->; exact (ti _ H)).
    split; [auto|split; [auto|split; [auto|split; [auto|split; [auto|split; [now apply C; auto|]]]]]].
    intros x Sx Wx Lx Hx. assert (x <> e) as Ne by (intros ->; exact (proj1 L_sto _ Hx)).
    destruct (K x) as [|Y]; auto; [now apply C; auto|]. right. apply C; auto; [congruence|]. intros ->; exact (ti _ Y).
  - assert (u <> e) as N by (intros ->; exact (proj1 L_sto _ H)).
    split; [auto|split; [auto|split; [auto|split; [auto|split; [auto|split; [now apply C; auto|]]]]]].
    intros x Sx Wx Lx Hx. assert (x <> e) as Ne by (intros ->; exact (ti _ Hx)).
    destruct (K x) as [|Y]; auto; [now apply C; auto|]. right. apply C; auto; [congruence|]. intros ->; exact (proj1 L_sto
      _ Y).
Qed.
(* what a sequentially consistent machine does: reads and writes as the program says, an RMW in one piece *)
Definition sc_machine (S l : ev -> Prop) (L : relation ev) :=
  runs P S /\ wfS S /\ sto S L /\ initfirst S L /\ valid (tr S l L) /\ real_in S l L /\
  (forall a b, S a -> S b -> po a b -> L a b) /\ (forall x e, S x -> knd x = NAW -> L e x -> e = src x \/ L e (src x)).
Theorem sc_run_machine : sc_machine S' l' L.
Proof.
  split; [apply g_run|split; [exact wfS'|split; [|split; [|split; [|split; [|split]]]]]].
  - apply (sto_sub S); [exact in_S|apply L_sto].
  - intros i x Si Sx. apply L_init; auto using in_S.
  - intros c Ec Cc Rc. destruct (T'_valid (tau:=tau) c Ec Cc Rc) as (u & Ru & Vu). exists u. split; [now apply L_rf|].
    apply (wval_local (fun _ => True) (rf_in S' l' tau)); auto; intros; split; auto; now apply L_rf.
  - intros w Sw Cw. rewrite (g_real w Sw Cw). split; intros (u & Vu); exists u.
    + apply (wval_local (fun _ => True) (rf_in S' l' tau)); auto; intros; split; auto; now apply L_rf.
    + apply (wval_local (fun _ => True) (rf_in S' l' L)); auto; intros; split; auto; now apply L_rf.
  - exact L_po.
  - exact L_adj.
Qed.
(* it is a trace, but for the RMWs that follow a pivot that is a naW alone *)
Theorem sc_run_trace : pr = rep m -> trace_of P (tr S' l' L).
Proof.
  intros Q0. destruct sc_run_machine as (R & _ & St & It & V & Re & _). split; [exact R|split; [|auto]].
  apply tr_wft; auto; [exact wfS'|]. intros a b (Sa & Sb & Ka & Kb & Lo & H). apply NNPP. intros N.
  assert (stops a) as Ha.
  { split; [auto|split; [auto|]]. intros w Sw Kw Q. apply N. exists w. split; [|auto]. apply S'_intro; auto. intros Mw.
    assert (w = m) as -> by (apply (M_w w Mw); rewrite Kw; exact I).
    apply (not_M a Sa). right. rewrite Q0. unfold rep. now rewrite Kw. }
  apply (sto_asym _ _ _ _ L_sto H). apply L_end. apply stops_ends; auto. intros ->. exact (proj1 L_sto _ H).
Qed.

Definition beta e := tau m e.
Definition middle e := tau pr e /\ tau e m.
Definition sigma := in_parts beta middle m pr L.
Let Q2 e := e = m \/ beta e.
Let Q3 e := middle e \/ e = m \/ beta e.
Let Q4 e := e = pr \/ middle e \/ e = m \/ beta e.

Lemma up1 a b : tau a b -> beta a -> beta b. Proof. unfold beta. intros H K. exact (tt _ _ _ K H). Qed.
Lemma up2 a b : tau a b -> Q2 a -> Q2 b.
Proof. intros H [->|K]; right; [exact H|]. exact (up1 _ _ H K). Qed.
Lemma up3 a b : S b -> tau a b -> Q3 a -> Q3 b.
Proof.
  intros Sb H [(K1 & K2)|K]; [|right; exact (up2 _ _ H K)].
  pose proof (tt _ _ _ K1 H). destruct (t_tot b m Sb Sm) as [|[|]]; [right; left; auto|left; split; auto|right; right; auto].
Qed.
Lemma up4 a b : S b -> tau a b -> Q4 a -> Q4 b.
Proof.
  intros Sb H [->|K]; right; [|exact (up3 _ _ Sb H K)].
  destruct (t_tot b m Sb Sm) as [|[|]]; [right; left; auto|left; split; auto|right; right; auto].
Qed.
Lemma sigma_fwd a b : S a -> S b -> tau a b ->
  ((~ beta a /\ beta b) \/ (~ Q2 a /\ Q2 b) \/ (~ Q3 a /\ Q3 b) \/ (~ Q4 a /\ Q4 b) \/ L a b) -> sigma a b.
Proof.
  intros Sa Sb H K. unfold sigma, in_parts. fold Q2 Q3 Q4.
  apply lexP_fwd; [exact (up1 _ _ H)|]. destruct K as [K|K]; [auto|right].
  apply lexP_fwd; [exact (up2 _ _ H)|]. destruct K as [K|K]; [auto|right].
  apply lexP_fwd; [exact (up3 _ _ Sb H)|]. destruct K as [K|K]; [auto|right].
  apply lexP_fwd; [exact (up4 _ _ Sb H)|]. tauto.
Qed.
Lemma sigma_M a b : S a -> S b -> tau a b -> M a \/ M b -> sigma a b.
Proof.
  intros Sa Sb H K. apply sigma_fwd; auto. destruct K as [[->| ->]|[->| ->]].
  - left. split; [exact (ti m)|exact H].
  - destruct (t_tot b m Sb Sm) as [->|[Y|Y]].
    + right; left. split; [|left; auto]. intros [Q|Q]; [rewrite Q in H; exact (ti _ H)|exact (ta _ _ Q H)].
    + right; right; left. split; [|left; split; auto]. intros [(Q & _)|[Q|Q]];
      [exact (ti _ Q)|rewrite Q in H; exact (ta _ _ H Y)|exact (ta _ _ Q (tt _ _ _ H Y))].
    + destruct (classic (beta pr)) as [Q|Q]; [|left; split; auto].
      destruct (M_le pr (or_intror eq_refl)) as [->|Z]; [destruct (ti _ Q)|destruct (ta _ _ Q Z)].
  - right; left. split; [|left; auto]. intros [->|Q]; [exact (ti _ H)|exact (ta _ _ Q H)].
  - right; right; right; left. split; [|left; auto].
    assert (forall z, z = m -> tau z pr -> False) as X.
    { intros z -> Hz. destruct (M_le pr (or_intror eq_refl)) as [->|Z]; [exact (ti _ Hz)|exact (ta _ _ Hz Z)]. }
    intros [->|[(Q & _)|[Q|Q]]]; [exact (ti _ H)|exact (ta _ _ H Q)|exact (X a Q H)|].
    apply (X m eq_refl). exact (tt _ _ _ Q H).
Qed.
Lemma sigma_sto : sto S sigma.
Proof. unfold sigma, in_parts. repeat apply lexP_sto. apply L_sto. Qed.

Lemma sigma_adj x e : S' x -> knd x = NAW -> S' e -> sigma e x -> e = src x \/ sigma e (src x) \/ torn (tau:=tau) (m:=m)
  (pr:=pr) x.
Proof.
  intros Sx K Se H. destruct (classic (torn (tau:=tau) (m:=m) (pr:=pr) x)) as [|Nt]; [auto|].
  assert (e = src x \/ sigma e (src x)) as [|]; auto.
  destruct (naw_facts x K) as (Px & _ & Ks & _). destruct (src' x Sx) as (Ss & Hs); [now apply naw_fed|].
  assert (forall z, M z -> tau z x -> tau z (src x)) as Nz.
  { intros z Mz Hz. destruct (t_tot z (src x) (M_S z Mz) (in_S _ Ss)) as [Q|[|Y]]; auto.
    - destruct (not_M _ Ss). now rewrite <- Q.
    - destruct Nt. exists z. auto. }
  assert (M m) as Mm by (left; auto). assert (M pr) as Mp by (right; auto).
  assert (forall y, S' y -> y <> m /\ y <> pr) as NM.
  { intros y Sy. split; intros ->; apply (not_M _ Sy); auto. }
  destruct (NM x Sx) as (N1 & N2), (NM _ Ss) as (N3 & N4).
  assert (beta x <-> beta (src x)) as B1. { unfold beta. split; [now apply Nz|intros Y; exact (tt _ _ _ Y Hs)]. }
  assert (Q3 x <-> Q3 (src x)) as B3.
  { split; [|exact (up3 _ _ (in_S _ Sx) Hs)]. intros [(Y1 & Y2)|[Y|Y]]; [left|congruence|right; right; tauto].
    split; [now apply Nz|exact (tt _ _ _ Hs Y2)]. }
  revert H. unfold sigma, in_parts. fold Q2 Q3 Q4.
  apply lexP_cong; [exact B1|]. apply lexP_cong; [unfold Q2; tauto|]. apply lexP_cong; [exact B3|].
  apply lexP_cong; [|now apply L_adj].
  split; (intros [Y|Y]; [congruence|right; now apply B3]).
Qed.

Lemma sigma_arranged lX : real_in S lX sigma -> arranged ord S l tau m pr S' l' sigma lX none.
Proof.
  assert (forall a b, S' a -> S' b -> tau a b -> L a b -> sigma a b) as F.
  { intros a b Sa Sb H K. apply sigma_fwd; auto using in_S. }
  intros Hr. constructor; auto.
  - exact sigma_sto.
  - intros i x Si Sx Ki Nx. apply sigma_fwd; auto; [now apply g_init|]. do 4 right. now apply L_init.
  - intros a b Sa Sb K _ _ _. split; [|intros; now apply sigma_M].
    intros H. destruct (t_tot a b Sa Sb) as [->|[|Y]]; auto.
    + destruct (proj1 sigma_sto _ H).
    + destruct (sto_asym _ _ _ _ sigma_sto H). apply sigma_M; auto. tauto.
  - intros x [].
  - intros a b Sa Sb Hk. pose proof (keeps_po a b Hk) as H. pose proof (keeps_tau a b Sa Sb Hk) as Ht.
    destruct (M_or_S' a Sa) as [Ma|Sa']; [apply sigma_M; auto|].
    destruct (M_or_S' b Sb) as [Mb|Sb']; [apply sigma_M; auto|]. apply F; auto. now apply L_po.
  - intros a b Sa Sb C H. apply F; auto. now apply L_conf.
  - intros x e Sx Kx _. now apply sigma_adj.
  - intros x b Sx Kx Lx Sb Kb Lo Nb H. destruct (naw_facts x Kx) as (_ & _ & _ & Lsx).
    destruct (src' x Sx) as (Ss & Hs); [now apply naw_fed|].
    assert (conflict l' b x) as C.
    { unfold conflict, wr, rd, cond. rewrite Kx, Kb. simpl. split; [auto|]. split; [auto|]. split; [auto|]. split;
      [auto|congruence]. }
    assert (conflict l' x b) as C' by (unfold conflict in *; intuition auto).
    destruct (t_tot x b (in_S x Sx) (in_S b Sb)) as [Q|[Y|Y]]; [congruence|apply F; auto; now apply L_conf|].
    exfalso. apply (sto_asym _ _ _ _ sigma_sto H). apply F; auto.
    + destruct (t_tot (src x) b (in_S _ Ss) (in_S b Sb)) as [Q|[Z|Z]]; [congruence| |exact Z].
      destruct (ta _ _ Y). apply rao_slots; auto using in_S.
    + destruct (L_adj x b Sx Kx) as [Q|Z]; [now apply L_conf|congruence|exact Z].
  - intros r e Sr Kr N Se Ke Lo Ne. pose proof (stop_tau r e Sr Kr N Se Ke Lo Ne) as H.
    destruct (M_or_S' r Sr) as [Mr|Sr']; [apply sigma_M; auto|].
    destruct (M_or_S' e Se) as [Me|Se']; [apply sigma_M; auto|].
    apply F; auto. apply L_end. apply stops_ends; auto. split; auto.
  - intros b K Ss Sb Kb Lo H. apply F; auto. apply L_end. now apply own_ends.
Qed.
End Sigma.

End Form.
