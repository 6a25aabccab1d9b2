(* Remote atomics: alpha, pivot, beta, executed with real values, is a consistent trace of the program (M1, M2, M3). *)
Require Import List Arith Lia Classical Relations.
From RR Require Import Orders RemoteAtomicsModel RemoteAtomicsRules RemoteAtomicsValues RemoteAtomicsTraces RemoteAtomicsBase RemoteAtomicsPivot.

Section Executed.
Context {U : slots} {ord : bool} {P : program} {S l : ev -> Prop} {tau : relation ev} {m pr : ev} {S' l' : ev -> Prop}.
Context {G : setting ord P S l tau m pr S' l'}.
Let M := M m pr.
Let rfT := rf_in S l tau.
Let rf' := rf_in S' l' tau.

Context {sig : relation ev} {lX : ev -> Prop}.
Definition torn x := exists z, M z /\ tau (src x) z /\ tau z x.

(* sigma: around the pivot as tau, else conflicts of T' as in tau, and program order where tau keeps it *)
Class arranged : Prop := {
  s_sto : sto S sig;
  s_init : initfirst S sig;
  s_M : forall a b, S a -> S b -> M a \/ M b -> (sig a b <-> tau a b);
  s_po : forall a b, S a -> S b -> po a b -> tau a b -> sig a b;
  s_conf : forall a b, S' a -> S' b -> conflict l' a b -> tau a b -> sig a b;
  (* an RMW that m does not tear is in one piece, and behind the RMWs that read before it *)
  s_adj : forall x e, S' x -> knd x = NAW -> S' e -> sig e x -> e = src x \/ sig e (src x) \/ torn x;
  s_rao : forall x e, S' x -> knd x = NAW -> l' x -> S' e -> knd e = NAR -> loc e = loc x -> tau e (src x) -> sig e (src x);
  (* a naR behind which its thread ends is behind all RMWs of its word *)
  s_end : forall r e, S' r -> knd r = NAR -> (forall w, S w -> knd w = NAW -> src w <> r) ->
          S' e -> knd e = NAR -> loc e = loc r -> e <> r -> sig e r;
  s_real : real_in S lX sig;
}.
Context {A : arranged}.

Local Notation DEP := (dep rfT m).
Definition lY e := (M e /\ l e) \/ (~ M e /\ l' e).
Let rfY := rf_in S lY sig.
Let rfX := rf_in S lX sig.

Lemma wS : wfS S. Proof. exact (W). Qed.
Lemma s_irr a : ~ sig a a. Proof. apply s_sto. Qed.
Lemma s_trans a b c : sig a b -> sig b c -> sig a c. Proof. apply s_sto. Qed.
Lemma s_asym a b : sig a b -> ~ sig b a. Proof. apply (sto_asym _ _ _ _ s_sto). Qed.
Lemma s_tot a b : S a -> S b -> a = b \/ sig a b \/ sig b a. Proof. apply s_sto. Qed.
Lemma tt a b c : tau a b -> tau b c -> tau a c. Proof. exact (t_trans' a b c). Qed.
Lemma ta a b : tau a b -> ~ tau b a. Proof. exact (t_asym a b). Qed.
Lemma ti a : ~ tau a a. Proof. exact (t_irr a). Qed.
Lemma in_S e : S' e -> S e. Proof. exact (S'_S e). Qed.
Lemma not_M e : S' e -> ~ M e. Proof. exact (S'_M e). Qed.
Lemma in_S' e : S e -> ~ M e -> S' e. Proof. exact (S'_intro e). Qed.
Lemma M_or_S' e : S e -> M e \/ S' e. Proof. intros Se. destruct (classic (M e)); auto using in_S'. Qed.

Lemma conf_sig a b : S' a -> S' b -> conflict l' a b -> (sig a b <-> tau a b).
Proof.
  intros Sa Sb C. split; [|now apply s_conf]. intros H.
  destruct (t_tot a b (in_S a Sa) (in_S b Sb)) as [->|[X|X]]; auto; [destruct (s_irr _ H)|].
  exfalso. apply (s_asym _ _ H). apply s_conf; auto. unfold conflict in *. intuition auto.
Qed.
Lemma conf_w u e : wr l' u -> rd e \/ wr l' e -> loc u = loc e -> u <> e -> conflict l' u e.
Proof. unfold conflict; tauto. Qed.

Lemma wrY e : ~ M e -> (wr lY e <-> wr l' e).
Proof. intros N. unfold wr, lY. tauto. Qed.
Lemma wrYM e : M e -> (wr lY e <-> wr l e).
Proof. intros N. unfold wr, lY. tauto. Qed.
Lemma w_S' u : S u -> is_w (knd u) -> u <> m -> S' u.
Proof. intros Su Iu N. apply in_S'; auto. intros X. apply N. exact (M_w u X Iu). Qed.

(* Lemma 6 (2) *)
Lemma Y_rf u e : rfY u e -> u <> m -> S' e -> rf' u e.
Proof.
  intros (Su & Se & Wu & Re & L & H & K) N Se'. assert (S' u) as Su' by (apply w_S'; auto; apply Wu).
  assert (wr l' u) as Wu' by (apply wrY; auto; now apply not_M).
  assert (u <> e) as Nue by (intros ->; eapply s_irr; eauto).
  split; [auto|split; [auto|split; [auto|split; [auto|split; [auto|split]]]]].
  - apply conf_sig; auto. now apply conf_w; auto.
  - intros x Sx Wx Lx Hx. assert (x <> e) as Nxe by (intros ->; eapply ti; eauto).
    assert (sig x e) as Hx' by (apply conf_sig; auto; apply conf_w; auto).
    destruct (K x) as [->|X]; auto using in_S; [apply wrY; auto; now apply not_M|right].
    apply conf_sig; auto. apply conf_w; auto; [congruence|]. intros ->; eapply s_irr; eauto.
Qed.
Lemma Y_ex e : S e -> rd e -> exists u, rfY u e.
Proof. intros. apply rf_in_ex; auto using s_sto, s_init; apply wS. Qed.
Lemma rf'_fun u v e : rf' u e -> rf' v e -> u = v.
Proof. apply rf_in_fun. apply (sto'). Qed.

(* what is poisoned in the run of the search depends on m in T: no CPU event does *)
Lemma poison_read d e : rfY d e -> DEP d -> depr rfT m e.
Proof.
  intros R D. pose proof R as (Sd & Se & Wd & Re & Lo & H & K).
  destruct (ex_T e Se Re) as (u & Ru).
  destruct (classic (DEP u)) as [Du|Du]; [exists u; auto|exfalso].
  destruct (M_or_S' e Se) as [Me|Se'].
  - assert (tau d e) as X by (apply s_M; auto).
    assert (tau m e) as Y.
    { destruct (dep_after m d D Sd) as [->|Y]; eauto using tt. }
    exact (not_M e (after_S' e Se Y) Me).
  - assert (rf' u e) as Ru' by (apply (T'_rf); auto).
    destruct (classic (d = m)) as [->|N].
    + assert (tau m e) as Y by (apply s_M; auto; left; left; auto).
      assert (u <> m) as Num by (intros ->; apply Du, dep_m).
      assert (S' u) as Su' by apply Ru'. assert (wr l' u) as Wu' by apply Ru'.
      assert (sig u e) as Hu. { apply s_conf; auto; [apply conf_w; auto|apply Ru']; [apply Ru'|]. intros ->. eapply ti; apply Ru'. }
      destruct (K u) as [|X]; auto using in_S; [apply wrY; auto; now apply not_M|apply Ru'|].
      assert (tau u m) as X' by (apply s_M; auto using in_S; right; left; auto).
      destruct Ru as (_ & _ & _ & _ & Lu & _ & Ku). destruct (Ku m) as [|Z]; auto.
      * apply (wrYM m); auto. left; auto.
      * exact (ta _ _ X' Z).
    + assert (rf' d e) as R' by now apply Y_rf. apply Du. now rewrite (rf'_fun _ _ _ Ru' R').
Qed.
Lemma poison e : dep rfY m e -> DEP e.
Proof.
  intros D; induction D as [|w d C R D IH]; [apply dep_m|].
  destruct (poison_read _ _ R IH) as (u & Ru & Du). now apply dep_src with u.
Qed.
Lemma poison_r e : depr rfY m e -> depr rfT m e.
Proof. intros (d & R & D). apply (poison_read d e R). now apply poison. Qed.

(* the pivot reads what it reads in T *)
Lemma M_rf u e : M e -> rfT u e -> rfY u e.
Proof.
  intros Me R. pose proof (M_clean e u Me R) as Du. destruct R as (Su & Se & Wu & Re & Lo & H & K).
  assert (S' u) as Su' by (apply (dep_w); auto).
  assert (wr l' u) as Wu' by (apply (T'_wr); auto).
  split; [auto|split; [auto|split; [apply wrY; auto; now apply not_M|split; [auto|split; [auto|split]]]]].
  - now apply s_M; auto.
  - intros x Sx Wx Lx Hx. assert (tau x e) as Hx' by (apply s_M; auto).
    assert (e = m \/ tau e m) as Hem by exact (M_le e Me).
    assert (x <> m) as Nxm. { intros ->. destruct Hem as [->|Y]; [eapply ti; eauto|eapply ta; eauto]. }
    assert (S' x) as Sx' by (apply w_S'; auto; apply Wx). apply (wrY x (not_M x Sx')) in Wx.
    assert (wr l x) as Wx1.
    { destruct Wx as (Ix & Cx). split; auto. intros C. apply (T'_live); auto.
      intros Dr. pose proof (depr_after m (src x) Dr) as Z.
      destruct (src_in S' tau x (src') Sx' (or_intror C)) as (_ & [Q|Q] & _);
      (assert (tau m x) as Zx by (first [now rewrite Q in Z|exact (tt _ _ _ Z Q)]));
      (destruct Hem as [->|Y]; [exact (ta _ _ Zx Hx')|exact (ta _ _ Zx (tt _ _ _ Hx' Y))]). }
    destruct (K x) as [|X]; auto. right. apply s_conf; auto. apply conf_w; auto; [congruence|].
    intros ->; eapply ti; eauto.
Qed.

Lemma Y_val d v : S' d -> ~ dep rfY m d -> (wval rf' d v <-> wval rfY d v).
Proof.
  assert (forall x w, S' x -> ~ dep rfY m x -> nicw x \/ cond x -> rfY w (src x) -> rf' w (src x) /\ S' w /\ ~ dep rfY m w) as Step.
  { intros x w Sx Dx C R. destruct (src_in S' tau x (src') Sx C) as (Ss & _ & Rs).
    assert (~ dep rfY m w) as Dw by (intros D; apply Dx, dep_src with w; auto).
    assert (w <> m) as Nw by (intros ->; apply Dw, dep_m).
    assert (rf' w (src x)) as R' by now apply Y_rf. split; auto. split; auto. apply R'. }
  intros Sd Dd. split; intros V.
  - apply (wval_local (fun x => S' x /\ ~ dep rfY m x) rf'); auto. intros x w (Sx & Dx) C R.
    destruct (src_in S' tau x (src') Sx C) as (Ss & _ & Rs).
    destruct (Y_ex (src x) (in_S _ Ss) Rs) as (w' & R'). destruct (Step x w' Sx Dx C R') as (R2 & B & D).
    rewrite (rf'_fun _ _ _ R R2). auto.
  - apply (wval_local (fun x => S' x /\ ~ dep rfY m x) rfY); auto. intros x w (Sx & Dx) C R.
    destruct (Step x w Sx Dx C R) as (R' & B & D). auto.
Qed.

Lemma Y_adj x a : S x -> knd x = NAW -> ~ lY x -> S a -> is_w (knd a) -> loc a = loc x -> sig a x -> sig a (src x).
Proof.
  intros Sx K Ly Sa Ia _ H. destruct (naw_facts x K) as (Px & _ & Ks & _).
  assert (a <> src x) as Na. { intros ->. rewrite Ks in Ia. destruct Ia. }
  assert (S (src x)) as Ss by (eapply wf_down; eauto using wS).
  assert (forall y, tau y x -> ~ l x -> S y -> y = src x \/ tau y (src x)) as Adj.
  { intros y Hy Lx Sy. exact (g_adj x y Sx K Lx Sy Hy). }
  destruct (M_or_S' x Sx) as [Mx|Sx'].
  - assert (~ l x) as Lx by (intros L; apply Ly; left; auto).
    assert (x = m) as -> by (apply (M_w x Mx); rewrite K; exact I).
    assert (M (src m)) as Ms. { right. rewrite (g_pr (pr:=pr)). unfold rep. now rewrite K. }
    apply s_M; auto. destruct (Adj a) as [X|X]; auto; [apply s_M; auto|congruence].
  - assert (~ l' x) as Lx. { intros L; apply Ly; right; split; auto. now apply not_M. }
    destruct (M_or_S' a Sa) as [Ma|Sa'].
    + apply s_M; auto. assert (tau a x) as Hx by (apply s_M; auto).
      destruct (classic (l x)) as [L1|L1]; [|destruct (Adj a) as [X|X]; auto; congruence].
      assert (a = m) as -> by (apply (M_w a Ma Ia)).
      destruct (t_tot m (src x)) as [X|[X|X]]; auto; [congruence|].
      exfalso. apply Lx. apply (T'_live); auto; [red; now rewrite K|].
      intros D. apply (ta _ _ X). exact (depr_after m _ D).
    + destruct (s_adj x a Sx' K Sa' H) as [|[|(z & Mz & H1 & H2)]]; auto; [congruence|exfalso].
      assert (~ tau m (src x)) as Nm.
      { intros X. destruct (M_le z Mz) as [->|Y]; [exact (ta _ _ X H1)|exact (ta _ _ X (tt _ _ _ H1 Y))]. }
      assert (~ l x) as L1.
      { intros L1. apply Lx. apply (T'_live); auto; [red; now rewrite K|].
        intros D. apply Nm. exact (depr_after m _ D). }
      destruct (Adj z) as [->|X]; auto.
      * exact (M_S z Mz).
      * exact (ti _ H1).
      * exact (ta _ _ H1 X).
Qed.

Lemma X_src : srcfwd S sig.
Proof.
  intros w Sw N. destruct (src_tau w Sw N) as (Ss & H). split; auto.
  apply s_po; auto. now apply src_ok.
Qed.

Lemma Y_real x : S x -> cond x -> ~ depr rfY m (src x) -> (lY x <-> exists u, wval rfY x u).
Proof.
  intros Sx C N. destruct (M_or_S' x Sx) as [Mx|Sx'].
  - assert (x = m) as ->. { apply (M_w x Mx). unfold cond in C. destruct (knd x); simpl in *; tauto. }
    assert (lY m <-> l m) as -> by (unfold lY; tauto).
    rewrite (T_real m Sx C).
    assert (M (src m)) as Ms.
    { unfold cond in C. destruct (knd m) eqn:K; simpl in C; try tauto; [right|left; now apply src_na].
      rewrite (g_pr (pr:=pr)). unfold rep. now rewrite K. }
    assert (rd (src m)) as Rs by (apply cond_rd; auto).
    destruct (ex_T (src m) (M_S _ Ms) Rs) as (d & R).
    pose proof (M_rf d _ Ms R) as RY. pose proof (M_clean _ d Ms R) as Dd.
    assert (S' d) as Sd by (apply (dep_w); auto; apply R).
    assert (forall v, wval rfT d v <-> wval rfY d v) as Hv.
    { intros v. eapply iff_trans; [exact (T'_val d v Sd Dd)|]. apply Y_val; auto.
      intros D; apply Dd. now apply poison. }
    assert (forall rf0 u, wval rf0 m u -> exists d v, rf0 d (src m) /\ wval rf0 d v /\ awv (src m) v = Some u) as Inv.
    { intros rf0 u V. inversion V as [w0 _ _ Cw'|w0 d' v' Kw' R' V0|w0 d' v' u0 Cw' R' V0 A']; subst; eauto; [tauto|].
      unfold cond in C. destruct Kw' as [K|K]; rewrite K in C; destruct C. }
    split; intros (u & V); destruct (Inv _ _ V) as (d' & v & R' & V' & Aw); exists u; apply wv_rmw with d v; auto; apply Hv.
    + now rewrite <- (rf_in_fun _ _ _ _ _ _ (g_sto) R' R).
    + now rewrite <- (rf_in_fun _ _ _ _ _ _ s_sto R' RY).
  - assert (lY x <-> l' x) as -> by (unfold lY; pose proof (not_M x Sx'); tauto).
    assert (~ dep rfY m x) as Dx.
    { intros D. inversion D as [|w d Cw R Dd]; subst; [exact (not_M m Sx' (or_introl eq_refl))|]. apply N; exists d; auto. }
    rewrite (g_real x Sx' C). split; intros (u & V); exists u; now apply Y_val.
Qed.

Lemma X_rf e u : S e -> rd e -> rfY u e -> ~ dep rfY m u -> rfX u e.
Proof.
  apply (flip_rf S S lY lX sig m); eauto using s_sto, Y_adj, Y_real, s_real, X_src, Y_ex. apply wS.
Qed.
Lemma X_live e : S e -> cond e -> ~ depr rfY m (src e) -> (lY e <-> lX e).
Proof.
  apply (flip_live S S lY lX sig m); eauto using s_sto, Y_adj, Y_real, s_real, X_src, Y_ex. apply wS.
Qed.
Lemma X_val d v : S d -> ~ dep rfY m d -> (wval rfY d v <-> wval rfX d v).
Proof.
  apply (flip_val S S lY lX sig m); eauto using s_sto, Y_adj, Y_real, s_real, X_src, Y_ex. apply wS.
Qed.

(* CPU events do not depend on m: they read the same values *)
Theorem executed_valid c : S c -> cpu c -> rd c -> exists u, rfX u c /\ wval rfX u (crv c).
Proof.
  intros Sc Cc Rc. destruct (proj1 (proj2 (proj2 (proj1 (g_V)))) c) as (u & R & V); auto.
  { now apply rd_in_E. }
  change (rfT u c) in R. change (wval rfT u (crv c)) in V.
  assert (~ DEP u) as D. { intros D. apply (g_max c Sc Cc). exists u; auto. }
  assert (S' u) as Su by (apply (dep_w); auto; apply R).
  assert (~ dep rfY m u) as DY by (intros X; apply D; now apply poison).
  assert (rfY u c) as RY.
  { destruct (M_or_S' c Sc) as [Mc|Sc']; [now apply M_rf|].
    destruct (Y_ex c Sc Rc) as (d & Rd). assert (d <> m) as Nd.
    { intros ->. apply (g_max c Sc Cc). apply poison_r. exists m. split; auto. apply dep_m. }
    assert (rf' u c) as R' by (apply (T'_rf); auto).
    now rewrite (rf'_fun _ _ _ R' (Y_rf _ _ Rd Nd Sc')). }
  exists u. split; [apply X_rf; auto|]. apply X_val; auto; [now apply in_S|]. apply Y_val; auto.
  now apply (T'_val).
Qed.

Theorem executed_trace : trace_of P (tr S lX sig).
Proof.
  split; [exact (proj1 (proj1 (g_V (ord:=ord) (P:=P) (S:=S) (l:=l) (tau:=tau))))|split; [|split]].
  - apply tr_wft; auto using wS, s_sto, s_init. intros a b (Sa & Sb & Ka & Kb & Lo & H).
    apply NNPP. intros N.
    assert (~ tau a b) as Nt.
    { intros X. apply N. destruct (t_rao_naw _ (proj1 (proj2 (proj1 (g_V)))) a b) as (w & Sw & Kw & Q); eauto.
      repeat split; auto. }
    destruct (M_or_S' a Sa) as [Ma|Sa']; [apply Nt, s_M; auto|].
    destruct (M_or_S' b Sb) as [Mb|Sb']; [apply Nt, s_M; auto|].
    apply (s_asym _ _ H). apply s_end; auto.
    + intros w Sw Kw Q. apply N; eauto.
    + intros ->. eapply s_irr; eauto.
  - intros c (Sc & _) Cc Rc. destruct (executed_valid c Sc Cc Rc) as (u & R & V). exists u; auto.
  - exact s_real.
Qed.

(* M3: rao leads forward in sigma *)
Lemma executed_rao w b : S w -> knd w = NAW -> rao_in S sig (src w) b -> sig w b.
Proof.
  intros Sw K (Ss & Sb & Ks & Kb & Lo & H). destruct (naw_facts w K) as (Pw & _ & _ & Lw).
  assert (S (src w)) as Ss' by auto.
  destruct (M_or_S' b Sb) as [Mb|Sb'].
  { apply s_M; auto. apply (rao_slots); auto; [congruence|]. apply s_M; auto. }
  destruct (M_or_S' w Sw) as [Mw|Sw'].
  { apply s_M; auto. apply (rao_slots); auto; [congruence|]. apply s_M; auto. left.
    assert (w = m) as -> by (apply (M_w w Mw); rewrite K; exact I).
    right. rewrite (g_pr (pr:=pr)). unfold rep. now rewrite K. }
  assert (w <> b) as Nwb by congruence.
  destruct (s_tot w b Sw Sb) as [|[|X]]; auto; [congruence|].
  destruct (s_adj w b Sw' K Sb' X) as [->|[Y|(z & Mz & H1 & H2)]]; [destruct (s_irr _ H)|destruct (s_asym _ _ H Y)|].
  assert (~ depr rfT m (src w)) as Nd.
  { intros D. pose proof (depr_after m _ D) as Y.
    destruct (M_le z Mz) as [->|Z]; [exact (ta _ _ Y H1)|exact (ta _ _ Y (tt _ _ _ H1 Z))]. }
  assert (l w) as Lw1.
  { apply NNPP. intros Lw1. destruct (g_adj w z Sw K Lw1 (M_S z Mz) H2) as [->|Y];
    [exact (ti _ H1)|exact (ta _ _ H1 Y)]. }
  assert (cond w) as Cw by (red; now rewrite K).
  assert (l' w) as Lw' by (apply (T'_live); auto).
  assert (b <> src w) as Nb by (intros ->; destruct (s_irr _ H)).
  destruct (t_tot (src w) b Ss Sb) as [|[Y|Y]]; [congruence| |].
  - apply s_conf; auto.
    + apply conf_w; [split; [rewrite K; exact I|auto]| |congruence|auto]. left. unfold rd. now rewrite Kb.
    + apply (rao_slots); auto. congruence.
  - exfalso. apply (s_asym _ _ H). apply s_rao; auto. congruence.
Qed.

Theorem executed_consistent : rdma_consistent ord (tr S lX sig).
Proof.
  destruct (O_T) as (_ & H2 & H3 & H4 & _).
  apply rules_consistent; auto using wS, s_sto.
  - intros a b (Sa & _) (Sb & _) O. apply s_po; auto; [apply O|]. now apply (oppo_slots).
  - intros w p Sp H K. destruct (pf_ok _ _ H) as (Pw & _). apply s_po; auto. eapply wf_down; eauto using wS.
  - intros e w p Sp H K Ke Q Pe. destruct (pf_ok _ _ H) as (Pw & _).
    assert (po e p) by (eapply po_trans; eauto). apply s_po; auto; [eapply wf_down; eauto using wS|]. apply (H3 e w p); auto.
  - intros w f r Sw Sf Sr Kw Kf Kr Q Q' Pf Pr. apply s_po; auto; [eapply po_trans; eauto|]. apply (H4 w f r); auto.
  - intros w b (Sw & _) K R. now apply executed_rao.
Qed.

End Executed.
Arguments arranged {U} S tau m pr S' l' sig lX.
