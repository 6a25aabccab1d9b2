(* Remote atomics: alpha, pivot, beta, executed with real values, is a consistent trace of the program (M1, M2, M3). *)
Require Import List Arith Lia Classical Relations.
From RR Require Import Orders RemoteAtomicsModel RemoteAtomicsRules RemoteAtomicsValues RemoteAtomicsTraces
  RemoteAtomicsBase RemoteAtomicsPivot.

Section Executed.
Context {U : slots} {ord : order} {P : program} {S l : ev -> Prop} {tau : relation ev} {m pr : ev} {S' l' : ev -> Prop}.
Context {G : setting ord P S l tau m pr S' l'}.
Let M := M m pr.
Let rfT := rf_in S l tau.
Let rf' := rf_in S' l' tau.

Context {sig : relation ev} {lX free : ev -> Prop}.
Local Notation keeps := (keeps (ord:=ord) (S:=S)).
Definition torn x := exists z, M z /\ tau (src x) z /\ tau z x.

(* the accesses whose place around the pivot matters: those that conflict with it, the naR of an RMW that writes for a naR,
   and all if m writes *)
Definition acc a := is_w (knd a) \/ rd a.
Definition writing a := exists w, S w /\ knd w = NAW /\ l w /\ src w = a.
Definition two_naR a b := knd a = NAR /\ knd b = NAR /\ (writing a \/ writing b).
Definition touches a b := loc a = loc b /\ acc a /\ acc b /\ (wr l m \/ wr l a \/ wr l b \/ two_naR a b).
(* sigma: what touches the pivot is where it is in tau, conflicts of T' are as in tau, and the short edges are forward *)
Class arranged : Prop := {
  s_sto : sto S sig;
  s_init : initfirst S sig;
  s_M0 : forall a b, S a -> S b -> M a \/ M b -> ~ free a -> ~ free b -> touches a b -> (sig a b <-> tau a b);
  (* but for reads of m, of puts and gets, which may be before m *)
  s_free : forall x, free x -> S' x /\ ~ is_w (knd x) /\ knd x <> NAR /\ rf_in S l tau m x;
  s_keep : forall a b, S a -> S b -> keeps a b -> sig a b;
  s_conf : forall a b, S' a -> S' b -> conflict l' a b -> tau a b -> sig a b;
  (* an RMW that does not write and is not torn by m is in one piece *)
  s_adj : forall x e, S' x -> knd x = NAW -> ~ l' x -> S' e -> sig e x -> e = src x \/ sig e (src x) \/ torn x;
  (* M3: no naR comes between naR and naW of another RMW of its word *)
  s_rao : forall x b, S' x -> knd x = NAW -> l' x -> S' b -> knd b = NAR -> loc b = loc x -> b <> src x ->
          sig (src x) b -> sig x b;
  (* a naR behind which its thread ends is behind all RMWs of its word *)
  s_end : forall r e, S r -> knd r = NAR -> (forall w, S w -> knd w = NAW -> src w <> r) ->
          S e -> knd e = NAR -> loc e = loc r -> e <> r -> sig e r;
  (* if a naW is the pivot alone: the RMWs before its naR stay before it *)
  s_own : forall b, knd m = NAW -> S' (src m) -> S' b -> knd b = NAR -> loc b = loc m -> tau b (src m) -> sig b (src m);
  s_real : real_in S lX sig;
}.
Context {A : arranged}.

Local Notation DEP := (dep rfT m).
Definition lY e := (M e /\ l e) \/ (~ M e /\ l' e).
Let rfY := rf_in S lY sig.
Let rfX := rf_in S lX sig.

Lemma wS : wfS S. Proof. exact (W). Qed.
Definition fixed x := is_w (knd x) \/ M x \/ knd x = NAR.
Lemma fixed_free x : fixed x -> ~ free x.
Proof. intros H F. destruct (s_free x F) as (Sx & N & N' & _). destruct H as [H|[H|H]]; auto. exact (S'_M x Sx H). Qed.
Lemma s_M a b : S a -> S b -> fixed a -> fixed b -> M a \/ M b -> touches a b -> (sig a b <-> tau a b).
Proof. intros. apply s_M0; auto using fixed_free. Qed.
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

Lemma acc_w x k : wr k x -> acc x. Proof. intros (H & _). now left. Qed.
Lemma acc_r x : rd x -> acc x. Proof. now right. Qed.
Lemma touch_l a b : wr l a -> acc b -> loc a = loc b -> touches a b.
Proof. intros Wa Ab Lo. split; auto. split; [eapply acc_w; eauto|]. split; auto. Qed.
Lemma touch_r a b : acc a -> wr l b -> loc a = loc b -> touches a b.
Proof. intros Aa Wb Lo. split; auto. split; auto. split; [eapply acc_w; eauto|auto]. Qed.
Lemma touch_m a b : wr l m -> acc a -> acc b -> loc a = loc b -> touches a b.
Proof. intros Wm Aa Ab Lo. split; auto. Qed.
Lemma touch_naR w b : S w -> knd w = NAW -> l w -> knd b = NAR -> loc (src w) = loc b -> touches (src w) b.
Proof.
  intros Sw Kw Lw Kb Lo. destruct (naw_facts w Kw) as (_ & _ & Ks & _). split; auto.
  unfold acc, rd, two_naR, writing. rewrite Ks, Kb. simpl. split; [auto|split; [auto|]]. right; right; right. eauto 8.
Qed.
(* what depends on m shows that m writes *)
Lemma dep_writes d e : DEP d -> rfT d e -> wr l m.
Proof. intros D. revert e. induction D as [|w d C R D IH]; intros e R'; [apply R'|exact (IH _ R)]. Qed.

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

Lemma dep_wl d : DEP d -> wr lY d -> wr l m.
Proof.
  intros D Wd. inversion D as [|w d' C R D']; subst; [|exact (dep_writes _ _ D' R)].
  apply (wrYM m); auto. left; auto.
Qed.
(* if m does not write, nothing flips *)
Lemma m_or_l x : S' x -> wr l' x -> wr l m \/ wr l x.
Proof.
  intros Sx (Ix & Cx). destruct (classic (wr l m)) as [|N]; [auto|right]. split; auto. intros C.
  apply (T'_live x Sx C); auto. intros (d & R & D). exact (N (dep_writes _ _ D R)).
Qed.
Lemma Y_or_l x : S x -> wr lY x -> wr l m \/ wr l x.
Proof.
  intros Sx Wx. destruct (M_or_S' x Sx) as [Mx|Sx']; [right; now apply wrYM|]. apply m_or_l; auto. apply wrY; auto. now
    apply not_M.
Qed.
Lemma touch_Y a b : S a -> wr lY a -> acc b -> loc a = loc b -> touches a b.
Proof.
  intros Sa Wa Ab Lo. pose proof (acc_w a _ Wa). destruct (Y_or_l a Sa Wa); [now apply touch_m|now apply touch_l].
Qed.

Local Hint Extern 1 (fixed ?x) => solve [left; match goal with H : wr _ x |- _ => apply H end
  | left; match goal with H : knd x = NAW |- _ => rewrite H; exact I end | right; left; assumption
  | right; left; exact (or_introl eq_refl) | right; right; assumption] : core.

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
  intros R D. destruct (classic (free e)) as [F|NF].
  { exists m. split; [now apply s_free|apply dep_m]. }
  pose proof R as (Sd & Se & Wd & Re & Lo & H & K). destruct (ex_T e Se Re) as (u & Ru).
  destruct (classic (DEP u)) as [Du|Du]; [exists u; auto|exfalso].
  destruct (M_or_S' e Se) as [Me|Se'].
  - assert (tau d e) as X by (apply s_M; auto; apply touch_Y; auto; now apply acc_r).
    assert (tau m e) as Y.
    { destruct (dep_after m d D Sd) as [->|Y]; eauto using tt. }
    exact (not_M e (after_S' e Se Y) Me).
  - assert (rf' u e) as Ru' by (apply (T'_rf); auto).
    destruct (classic (d = m)) as [->|N].
    + assert (wr l m) as Wm by (apply (wrYM m); auto; left; auto).
      assert (tau m e) as Y.
      { apply s_M0; auto; [left; left; auto|apply fixed_free; auto|apply touch_l; auto; now apply acc_r]. }
      assert (u <> m) as Num by (intros ->; apply Du, dep_m).
      assert (S' u) as Su' by apply Ru'. assert (wr l' u) as Wu' by apply Ru'.
      assert (sig u e) as Hu. { apply s_conf; auto; [apply conf_w; auto|apply Ru']; [apply Ru'|]. intros ->. eapply ti;
        apply Ru'. }
      destruct (K u) as [|X]; auto using in_S; [apply wrY; auto; now apply not_M|apply Ru'|].
      assert (tau u m) as X'.
      { apply s_M; auto using in_S; [right; left; auto|]. apply touch_r; auto; [eapply acc_w; eauto|]. rewrite Lo. apply
        Ru'. }
      destruct Ru as (_ & _ & _ & _ & Lu & _ & Ku). destruct (Ku m) as [|Z]; auto.
      exact (ta _ _ X' Z).
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
  - apply s_M; auto. apply touch_l; auto. now apply acc_r.
  - intros x Sx Wx Lx Hx. assert (tau x e) as Hx' by (apply s_M; auto; apply touch_Y; auto; now apply acc_r).
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

(* and so does its naR, where a naW is the pivot alone *)
Lemma src_m : cond m -> S (src m).
Proof.
  intros C. destruct (cond_cases m C) as [N|Q]; [apply src_S; auto; exact Sm|rewrite Q; exact Sm].
Qed.
Lemma src_m_le : cond m -> src m = m \/ tau (src m) m.
Proof. intros C. destruct (cond_cases m C) as [N|Q]; [right; apply src_before; auto; exact Sm|auto]. Qed.
Lemma src_m_clean d : cond m -> rfT d (src m) -> ~ DEP d.
Proof.
  intros C R D. assert (tau m (src m)) as X by (apply depr_after; exists d; auto).
  destruct (src_m_le C) as [Q|Y]; [rewrite Q in X; exact (ti _ X)|exact (ta _ _ X Y)].
Qed.
Lemma src_m_rf d : cond m -> rfT d (src m) -> rfY d (src m).
Proof.
  intros C R. destruct (M_or_S' (src m) (src_m C)) as [Ms|Ss]; [now apply M_rf|].
  assert (rd (src m)) as Rs by (apply cond_rd; auto). pose proof (src_m_clean d C R) as Dd.
  destruct (Y_ex (src m) (src_m C) Rs) as (d' & R').
  assert (d' <> m) as N.
  { intros ->. assert (tau m (src m)) as X by (apply depr_after, (poison_read m); auto; apply dep_m).
    destruct (src_m_le C) as [Q|Y]; [rewrite Q in X; exact (ti _ X)|exact (ta _ _ X Y)]. }
  assert (rf' d (src m)) as R1 by (apply T'_rf; auto).
  now rewrite (rf'_fun _ _ _ R1 (Y_rf _ _ R' N Ss)).
Qed.

Lemma Y_val d v : S' d -> ~ dep rfY m d -> (wval rf' d v <-> wval rfY d v).
Proof.
  assert (forall x w, S' x -> ~ dep rfY m x -> fed x \/ cond x -> rfY w (src x) -> rf' w (src x) /\ S' w /\ ~ dep rfY m w)
    as Step.
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

(* an RMW that is torn writes *)
Lemma void_not_torn x : S' x -> knd x = NAW -> ~ l' x -> ~ torn x.
Proof.
  intros Sx K Lx (z & Mz & H1 & H2). assert (cond x) as C by (red; now rewrite K).
  assert (~ l x) as L1.
  { intros L1. apply Lx. apply (T'_live x Sx C); auto. intros D. pose proof (depr_after m _ D) as X.
    destruct (M_le z Mz) as [->|Y]; [exact (ta _ _ X H1)|exact (ta _ _ X (tt _ _ _ H1 Y))]. }
  destruct (g_adj x z (in_S x Sx) K L1 (M_S z Mz) H2) as [->|X]; [exact (ti _ H1)|exact (ta _ _ H1 X)].
Qed.

Lemma Y_adj x a : S x -> knd x = NAW -> ~ lY x -> S a -> wr lY a -> loc a = loc x -> sig a x -> sig a (src x).
Proof.
  intros Sx K Ly Sa Wa Lo H. destruct (naw_facts x K) as (Px & _ & Ks & Lx).
  assert (a <> src x) as Na. { intros ->. destruct Wa as (Ia & _). rewrite Ks in Ia. destruct Ia. }
  assert (S (src x)) as Ss by (eapply wf_down; eauto using wS).
  assert (acc x /\ acc (src x)) as (Ax & As) by (unfold acc, rd; rewrite K, Ks; simpl; tauto).
  assert (loc a = loc (src x)) as Ls by congruence.
  destruct (M_or_S' x Sx) as [Mx|Sx'].
  - assert (~ l x) as L1 by (intros L; apply Ly; left; auto).
    assert (x = m) as -> by (apply (M_w x Mx); rewrite K; exact I).
    assert (M (src m)) as Ms. { destruct pr_cases as [(_ & Q)|(_ & Q & _)]; [destruct (L1 (Q K))|right; auto]. }
    apply s_M; auto; [now apply touch_Y|].
    assert (tau a m) as Ht by (apply s_M; auto; now apply touch_Y).
    destruct (g_adj m a Sx K L1 Sa Ht) as [X|X]; [congruence|exact X].
  - assert (~ l' x) as L1. { intros L; apply Ly; right; split; auto. now apply not_M. }
    destruct (M_or_S' a Sa) as [Ma|Sa'].
    + assert (a = m) as -> by (apply (M_w a Ma); apply Wa).
      apply s_M; auto; [now apply touch_Y|]. assert (tau m x) as Ht by (apply s_M; auto; now apply touch_Y).
      destruct (t_tot m (src x)) as [X|[X|X]]; auto; [congruence|].
      destruct (void_not_torn x Sx' K L1). exists m. split; auto.
    + destruct (s_adj x a Sx' K L1 Sa' H) as [|[|X]]; auto; [congruence|]. destruct (void_not_torn x Sx' K L1 X).
Qed.

Lemma X_src : srcfwd S sig.
Proof.
  intros w Sw N. destruct (src_tau w Sw N) as (Ss & H). split; auto.
  apply s_keep; auto. now apply k_oppo, src_oppo.
Qed.

Lemma Y_real x : S x -> cond x -> ~ depr rfY m (src x) -> (lY x <-> exists u, wval rfY x u).
Proof.
  intros Sx C N. destruct (M_or_S' x Sx) as [Mx|Sx'].
  - assert (x = m) as ->. { apply (M_w x Mx). unfold cond in C. destruct (knd x); simpl in *; tauto. }
    assert (lY m <-> l m) as -> by (unfold lY; tauto).
    rewrite (T_real m Sx C).
    assert (rd (src m)) as Rs by (apply cond_rd; auto).
    destruct (ex_T (src m) (src_m C) Rs) as (d & R).
    pose proof (src_m_rf d C R) as RY. pose proof (src_m_clean d C R) as Dd.
    assert (S' d) as Sd by (apply (dep_w); auto; apply R).
    assert (forall v, wval rfT d v <-> wval rfY d v) as Hv.
    { intros v. eapply iff_trans; [exact (T'_val d v Sd Dd)|]. apply Y_val; auto.
      intros D; apply Dd. now apply poison. }
    pose proof (wval_cond m C) as Inv.
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
    apply (s_asym _ _ H). apply s_end; auto.
    + intros w Sw Kw Q. apply N; eauto.
    + intros ->. eapply s_irr; eauto.
  - intros c (Sc & _) Cc Rc. destruct (executed_valid c Sc Cc Rc) as (u & R & V). exists u; auto.
  - exact s_real.
Qed.

(* M3: rao leads forward in sigma *)
Lemma executed_rao w b : S w -> knd w = NAW -> lX w -> rao_in S sig (src w) b -> sig w b.
Proof.
  intros Sw K LX (Ss & Sb & Ks & Kb & Lo & H). destruct (naw_facts w K) as (Pw & _ & _ & Lw).
  assert (cond w) as C by (red; now rewrite K).
  assert (rd b) as Rb by (unfold rd; now rewrite Kb).
  assert (w <> b /\ b <> src w) as (Nwb & Nb). { split; [congruence|]. intros ->. exact (s_irr _ H). }
  destruct (classic (M b \/ M w)) as [HM|HM].
  - assert (wr l m \/ l w) as Lw'.
    { destruct (classic (wr l m)) as [Wm|Wm]; [auto|right].
      assert (~ depr rfT m (src w)) as Nd by (intros (d & R & D); exact (Wm (dep_writes _ _ D R))).
      assert (lY w) as LY by (apply (X_live w Sw C); auto; intros D; apply Nd; now apply poison_r).
      destruct LY as [(_ & L)|(NM & L)]; [exact L|]. apply (T'_live w (in_S' w Sw NM) C Nd). exact L. }
    assert (acc w /\ acc b /\ acc (src w)) as (Aw & Ab & As) by (unfold acc, rd; rewrite K, Kb, Ks; simpl; auto).
    assert (tau w b) as Ht.
    { apply rao_slots; auto; [congruence|]. assert (M b \/ M (src w) -> tau (src w) b) as HM'.
      { intros HM'. apply s_M; auto; [tauto|]. destruct Lw'; [now apply touch_m|now apply touch_naR]. }
      destruct HM as [|Mw]; [auto|].
      assert (w = m) as -> by (apply (M_w w Mw); rewrite K; exact I).
      destruct (M_or_S' (src m) Ss) as [Ms|Ss']; [auto|]. destruct (M_or_S' b Sb) as [Mb|Sb']; [auto|].
      destruct (t_tot (src m) b Ss Sb) as [Q|[X|X]]; [congruence|auto|].
      destruct (s_asym _ _ H). apply s_own; auto. congruence. }
    apply s_M; auto; [tauto|]. destruct Lw' as [|L]; [apply touch_m; auto; congruence|].
    apply touch_l; auto; [|congruence]. split; [rewrite K; exact I|auto].
  - destruct (M_or_S' b Sb) as [Mb|Sb']; [tauto|]. destruct (M_or_S' w Sw) as [Mw|Sw']; [tauto|].
    destruct (classic (l' w)) as [Lw'|Lw']; [apply s_rao; auto; congruence|].
    destruct (s_tot w b Sw Sb) as [|[|X]]; auto; [tauto|].
    destruct (s_adj w b Sw' K Lw' Sb' X) as [|[Y|Y]]; [tauto|destruct (s_asym _ _ H Y)|destruct (void_not_torn w Sw' K Lw'
      Y)].
Qed.

Theorem executed_consistent : rdma_consistent ord (tr S lX sig).
Proof.
  apply rules_consistent; auto using wS, s_sto.
  - intros a b (Sa & _) (Sb & _) O. apply s_keep; auto. now apply k_oppo.
  - intros w p Sp H K. destruct (pf_ok _ _ H) as (Pw & _). apply s_keep; auto; [exact (wf_down _ wS _ _ Pw Sp)|now apply
    k_poll].
  - intros e w p Sp H K Ke Pe. destruct (pf_ok _ _ H) as (Pw & _).
    apply s_keep; auto; [exact (wf_down _ wS _ _ (proj1 Pe) (wf_down _ wS _ _ Pw Sp))|]. now apply k_forcing with w.
  - intros Fl w f r Sw Sf Sr Kw Kf Kr Q Q' Pf Pr. apply s_keep; auto. now apply k_fence with f.
  - intros w b (Sw & Lw) K R. apply executed_rao; auto. exact (Lw K).
Qed.

End Executed.
Arguments arranged {U} ord S l tau m pr S' l' sig lX free.
