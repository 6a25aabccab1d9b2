(* Remote atomics: naR and naW of the pivot can be put together (M4): where nothing between them writes their word, and
   where the trace without the naW alone is not sc-consistent either. *)
Require Import List Arith Lia Classical Relations.
From RR Require Import Orders RemoteAtomicsModel RemoteAtomicsRules RemoteAtomicsValues RemoteAtomicsTraces RemoteAtomicsBase
  RemoteAtomicsPivot RemoteAtomicsParts RemoteAtomicsNormalForm RemoteAtomicsMiddle.

Section Together.
Context {U : slots} {ord : order} {P : program} {S l : ev -> Prop} {tau : relation ev} {m : ev}.
Context {G : base ord P S l tau}.
Let Sto : sto S tau := g_sto.
Hypothesis Last : last S m.
Hypothesis Km : knd m = NAW.
Hypothesis Lm : l m.
Notation r := (src m).
Notation Mm := (M m r).
Definition middle_of e := S e /\ tau r e /\ tau e m.

(* nothing between them writes their word: the naR moves to the naW, and the trace is the same *)
Section Unwritten.
Hypothesis None : forall e, middle_of e -> wr l e -> loc e <> loc m.
Let D := middle_of.
Let D_mid : forall e, D e -> S e /\ tau r e /\ tau e m. Proof. auto. Qed.
Let D_down : forall x e, D e -> S x -> tau r x -> tau x e -> D x.
Proof. intros x e (_ & _ & H) Sx Hr Hx. repeat split; auto. exact (t_trans' _ _ _ Hx H). Qed.
Notation sg := (together (S:=S) (tau:=tau) (m:=m) D).

Lemma side z b : Mm z -> ~ Mm b -> S b -> happens l b -> related ord l z b -> (sg z b <-> tau z b).
Proof.
  intros Mz Nb Sb Hb R. rewrite (to_from D z b Mz Nb).
  split; [intros Ub|intros H].
  - assert (tau r b) as Hr by exact (up_after Last Km D b Ub).
    destruct Mz as [->| ->]; auto. destruct (t_tot m b (proj1 Last) Sb) as [<-|[X|X]]; auto; [destruct Nb; left; auto|].
    destruct Ub as (_ & _ & _ & N). destruct N. repeat split; auto.
  - assert (tau r b) as Hr.
    { destruct Mz as [->| ->]; auto. exact (t_trans' _ _ _ (mid_rm Last Km) H). }
    split; [auto|split; [auto|split; [now apply t_asym|]]]. intros (_ & _ & Hbm).
    destruct Mz as [->| ->]; [exact (t_asym _ _ H Hbm)|].
    destruct R as [C|[(Fl & Q & N)|(_ & Kb & Lo)]].
    + destruct C as (_ & _ & [(W & _)|W] & Lo & _); [rewrite (Kr Km) in W; destruct W|].
      apply (None b); auto; [repeat split; auto|]. rewrite <- Lo. apply (Lr Km).
    + assert (rwrite (knd b)) as Rb.
      { unfold rread, rwrite in *. rewrite (Kr Km) in N. intuition discriminate. }
      assert (S r) as Sr by exact (mid_Sr Last Km).
      assert (po b r) as Pb.
      { destruct (po_tot S W b r) as [->|[X|X]]; auto.
        - unfold noninit. destruct Rb as [-> | ->]; discriminate.
        - unfold noninit. rewrite (Kr Km). discriminate.
        - unfold cpu. destruct Rb as [-> | ->]; simpl; auto.
        - unfold cpu. rewrite (Kr Km). simpl; auto.
        - destruct Nb. right; auto.
        - destruct (naw_next m b Km X) as [->|Y]; [destruct Nb; left; auto|destruct (proj2 (proj2 Last) b Sb Y)]. }
      apply (t_asym _ _ Hr). apply oppo_slots; auto. apply seen_oppo; auto. rewrite (Kr Km).
      destruct (flush_poll_use ord Fl) as (_ & F1 & _ & F2 & _). destruct Rb as [-> | ->]; auto.
    + apply (word_not_D Last Km D D_mid b); auto; [rewrite <- Lo; apply (Lr Km)|repeat split; auto].
Qed.
Lemma related_sym a b : related ord l a b -> related ord l b a.
Proof.
  intros [C|[(Fl & Q & N)|(Ka & Kb & Lo)]]; [left; unfold conflict in *; intuition auto|right; left|right; right; auto].
  split; [auto|]. split; [auto|]. tauto.
Qed.
Lemma unwritten_agree : agree ord S l tau sg.
Proof.
  intros a b Sa Ha Sb Hb R. symmetry.
  assert (sto S sg) as St by apply to_sto.
  destruct (classic (Mm a)) as [Ma|Ma], (classic (Mm b)) as [Mb|Mb].
  - assert (sg r m) as X by (apply to_rm; auto). pose proof (mid_rm Last Km) as Y.
    destruct Ma as [->| ->], Mb as [->| ->]; split; intros H; auto; exfalso;
    first [exact (proj1 St _ H)|exact (t_irr _ H)|exact (sto_asym _ _ _ _ St H X)|exact (t_asym _ _ H Y)].
  - now apply side.
  - pose proof (side b a Mb Ma Sa Ha (related_sym _ _ R)) as X.
    destruct (t_tot a b Sa Sb) as [Q|[Y|Y]]; [congruence| |].
    + split; auto. intros _. destruct (proj2 (proj2 St) a b Sa Sb) as [Q|[Z|Z]]; [congruence|auto|].
      apply X in Z. destruct (t_asym _ _ Y Z).
    + apply X in Y. split; intros H; [destruct (sto_asym _ _ _ _ St H Y)|apply X in Y; destruct (t_asym _ _ H Y)].
  - apply to_same; auto.
Qed.
Theorem unwritten : exists tau2, base ord P S l tau2 /\ (forall e, S e -> tau2 r e -> ~ tau2 e m) /\
  (forall u e, rf_in S l tau2 u e <-> rf_in S l tau u e) /\ (forall x y, sc (tr S l tau) x y -> sc (tr S l tau2) x y).
Proof.
  pose proof unwritten_agree as A. assert (sto S sg) as St by apply to_sto.
  destruct (agree_same ord S l tau sg g_sto St A) as (_ & Hsc).
  pose proof (agree_sym _ _ _ _ _ A) as A'.
  assert (forall u e, rf_in S l sg u e <-> rf_in S l tau u e) as Hrf.
  { intros u e. split; apply (agree_rf ord); auto. }
  assert (forall w v, wval (rf_in S l tau) w v <-> wval (rf_in S l sg) w v) as Hv.
  { apply (agree_wval ord); auto. }
  destruct (to_base Last Km D D_mid D_down l) as (tau2 & B2 & Em & R2 & Sc2); auto.
  - intros w Sw Cw. rewrite (T_real w Sw Cw). split; intros (u & V); exists u; now apply Hv.
  - intros c Ec Cc Rc. destruct (proj1 (proj2 (proj2 (proj1 (g_V (base:=G))))) c) as (u & R & V); auto.
    exists u. split; [now apply Hrf|now apply Hv].
  - intros N. apply (proj2 (proj2 (g_V (base:=G)))). intros a H. exact (N a (Hsc _ _ H)).
  - exists tau2. split; [exact B2|split; [exact Em|split; [|auto]]]. intros u e. rewrite R2. apply Hrf.
Qed.
End Unwritten.

(* e is the first write of their word between them, and does not read; without m alone there is an sc cycle: the naW moves
   to e, and nothing reads it there *)
Section Written.
Variables (S1 l1 : ev -> Prop) (e : ev).
Context {G1 : setting ord P S l tau m m S1 l1}.
Hypothesis Ee : middle_of e.
Hypothesis We : wr l e.
Hypothesis Le : loc e = loc m.
Hypothesis Ne : ~ cond e /\ ~ rd e.
Hypothesis First : forall x, middle_of x -> wr l x -> loc x = loc m -> x = e \/ tau e x.
Hypothesis Cycle : ~ sc_consistent (tr S1 l1 tau).

Let D x := S x /\ tau r x /\ tau x e.
Let D_mid : forall x, D x -> S x /\ tau r x /\ tau x m.
Proof. intros x (Sx & H1 & H2). split; auto. split; auto. exact (t_trans' _ _ _ H2 (proj2 (proj2 Ee))). Qed.
Let D_down : forall x y, D y -> S x -> tau r x -> tau x y -> D x.
Proof. intros x y (_ & _ & H) Sx Hr Hx. repeat split; auto. exact (t_trans' _ _ _ Hx H). Qed.
Let D_word : forall x, D x -> wr l x -> loc x <> loc m.
Proof.
  intros x Hx Wx Lx. destruct (First x (D_mid x Hx) Wx Lx) as [->|X]; destruct Hx as (_ & _ & H);
  [exact (t_irr _ H)|exact (t_asym _ _ H X)].
Qed.
Notation sg := (together (S:=S) (tau:=tau) (m:=m) D).
Definition l2 x := (x = m /\ l m) \/ (x <> m /\ l1 x).

Lemma S1_iff x : S1 x <-> S x /\ x <> m.
Proof. rewrite (g_S' (setting:=G1) x). unfold M. tauto. Qed.
Lemma wr2 x : x <> m -> (wr l2 x <-> wr l1 x).
Proof. intros N. unfold wr, l2. tauto. Qed.
Lemma e_up : up (S:=S) (tau:=tau) (m:=m) D e.
Proof.
  destruct Ee as (Se & H1 & H2). split; [auto|split; [|split; [now apply t_asym|]]].
  - intros [->| ->]; [exact (t_irr _ H2)|exact (t_irr _ H1)].
  - intros (_ & _ & H). exact (t_irr _ H).
Qed.
Lemma e_writes : wr l2 e /\ e <> m.
Proof.
  assert (e <> m) as N by (intros Q; exact (up_M D e e_up (or_introl Q))). split; auto.
  destruct We as (I & _). split; auto. intros C. destruct (proj1 Ne C).
Qed.
(* e stands between m and whoever could read m *)
Lemma m_e : sg m e.
Proof. apply to_from; [left; auto|exact (up_M D e e_up)|exact e_up]. Qed.
Lemma beyond_e x : S x -> rd x -> sg m x -> sg e x /\ ~ Mm x.
Proof.
  intros Sx Rx H. assert (sg r m) as Hrm by (apply to_rm; auto).
  assert (~ Mm x) as Nx.
  { intros [->| ->]; [exact (proj1 (to_sto D) _ H)|exact (sto_asym _ _ _ _ (to_sto D) H Hrm)]. }
  split; [|exact Nx].
  assert (up (S:=S) (tau:=tau) (m:=m) D x) as Ux by (apply (to_from D m x); [left; auto|auto|auto]).
  assert (x <> e) as Nxe by (intros ->; exact (proj2 Ne Rx)).
  apply to_same; auto; [exact (proj1 Ee)|exact (up_M D e e_up)|].
  destruct (t_tot e x (proj1 Ee) Sx) as [Q|[X|X]]; auto; [congruence|].
  pose proof (up_after Last Km D x Ux). destruct Ux as (_ & _ & _ & N). destruct N. repeat split; auto.
Qed.
(* nobody reads m *)
Lemma unread2 x : ~ rf_in S l2 sg m x.
Proof.
  intros (_ & Sx & _ & Rx & Lx & H & K). destruct e_writes as (W2 & Nem). destruct (beyond_e x Sx Rx H) as (Hex & _).
  destruct (K e) as [Q|X]; auto; [exact (proj1 Ee)|congruence|]. exact (sto_asym _ _ _ _ (to_sto D) X m_e).
Qed.
(* what it reads is what T without m alone reads *)
Lemma word_dead x : D x -> wr l1 x -> loc x <> loc m.
Proof.
  intros Hx (Ix & Cx) Lx. destruct (D_mid x Hx) as (Sx & _ & Hxm).
  assert (x <> m) as N by (intros ->; exact (t_irr _ Hxm)).
  assert (S1 x) as S1x by (apply S1_iff; auto).
  apply (D_word x Hx); auto. split; auto. intros C. apply (T'_live (G:=G1) x S1x C); auto. intros Dr.
  pose proof (depr_after m _ Dr) as Y. destruct (cond_cases x C) as [Nx|Q]; [|rewrite Q in Y; exact (t_asym _ _ Y Hxm)].
  exact (t_asym _ _ (t_trans' _ _ _ Y (src_before x Sx Nx)) Hxm).
Qed.
(* the order of a write and a read of its word *)
Lemma order1 u x : S1 u -> S1 x -> rd x -> wr l1 u -> loc u = loc x -> (sg u x <-> tau u x).
Proof.
  intros Su Sx Rx Wu Lo. apply S1_iff in Su. apply S1_iff in Sx. destruct Su as (Su & Nu), Sx as (Sx & Nx).
  assert (u <> r) as Nur. { intros ->. destruct Wu as (I & _). rewrite (Kr Km) in I. destruct I. }
  assert (~ Mm u) as NMu by (intros [|]; auto).
  destruct (classic (Mm x)) as [Mx|Mx]; [|now apply to_same].
  rewrite (to_to D x u Mx NMu). destruct Mx as [|Q]; [tauto|]. subst x. split.
  - intros H. destruct (not_up D u Su NMu H) as [|Y]; auto. destruct (word_dead u Y Wu). rewrite Lo. apply (Lr Km).
  - intros H. apply before_not_up; auto.
Qed.
Lemma rf2 u x : S1 x -> (rf_in S l2 sg u x <-> rf_in S1 l1 tau u x).
Proof.
  intros S1x. pose proof (proj1 (proj1 (S1_iff x) S1x)) as Sx. split.
  - intros H. assert (u <> m) as Nu by (intros ->; exact (unread2 x H)).
    destruct H as (Su & _ & Wu & Rx & Lo & L & K). apply wr2 in Wu; auto.
    assert (S1 u) as S1u by (apply S1_iff; auto).
    split; [auto|split; [auto|split; [auto|split; [auto|split; [auto|split; [now apply order1|]]]]]].
    intros w Sw Ww Lw Hw. pose proof (proj1 (S1_iff w) Sw) as (Sw' & Nw).
    destruct (K w) as [|X]; auto; [now apply wr2|now apply order1|]. right.
    assert (~ Mm w /\ ~ Mm u) as (A1 & A2).
    { split; intros [Q|Q]; auto; [destruct Ww as (I & _)|destruct Wu as (I & _)]; rewrite Q, (Kr Km) in I; destruct I. }
    now apply to_same in X.
  - intros (Su & _ & Wu & Rx & Lo & L & K). pose proof (proj1 (S1_iff u) Su) as (Su' & Nu).
    split; [auto|split; [auto|split; [now apply wr2|split; [auto|split; [auto|split; [now apply order1|]]]]]].
    intros w Sw Ww Lw Hw. destruct (classic (w = m)) as [->|Nw].
    + (* then e stands between them *)
      right. destruct e_writes as (W2 & Nem). apply (wr2 e Nem) in W2. destruct (beyond_e x Sx Rx Hw) as (Hex & Nx).
      assert (S1 e) as S1e by (apply S1_iff; split; [exact (proj1 Ee)|auto]).
      assert (tau e x) as Hex' by (apply order1; auto; congruence).
      destruct (K e S1e W2) as [Q|X]; [congruence|auto|rewrite <- Q; exact m_e|].
      apply (proj1 (proj2 (to_sto D)) _ e); [exact m_e|]. apply to_same; auto; [exact (proj1 Ee)|exact (up_M D e e_up)|].
      intros [Q|Q]; auto. destruct Wu as (I & _). rewrite Q, (Kr Km) in I. destruct I.
    + assert (S1 w) as S1w by (apply S1_iff; auto). apply wr2 in Ww; auto.
      destruct (K w) as [|X]; auto; [now apply order1 in Hw|]. right.
      assert (~ Mm w /\ ~ Mm u) as (A1 & A2).
      { split; intros [Q|Q]; auto; [destruct Ww as (I & _)|destruct Wu as (I & _)]; rewrite Q, (Kr Km) in I; destruct I. }
      now apply to_same.
Qed.
Lemma S1_src w : S1 w -> fed w \/ cond w -> S1 (src w).
Proof. intros Sw C. exact (proj1 (src_in S1 tau w (src' (G:=G1)) Sw C)). Qed.
Lemma wval2 w v : S1 w -> (wval (rf_in S l2 sg) w v <-> wval (rf_in S1 l1 tau) w v).
Proof.
  intros Sw. split; intros V.
  - apply (wval_local S1 (rf_in S l2 sg)); auto. intros x d Sx C R. apply rf2 in R; [|now apply S1_src].
    split; [exact R|apply R].
  - apply (wval_local S1 (rf_in S1 l1 tau)); auto. intros x d Sx C R. split; [|apply R]. apply rf2; auto. now apply S1_src.
Qed.
Lemma real2 : real_in S l2 sg.
Proof.
  intros w Sw Cw. destruct (classic (w = m)) as [->|N].
  - split; [intros _|left; auto].
    destruct (proj1 (T_real m Sw Cw) Lm) as (u & V). exists u.
    assert (S1 r) as Sr.
    { apply S1_iff. split; [exact (mid_Sr Last Km)|]. intros Q. pose proof (Kr Km). congruence. }
    inversion V as [w0 _ _ Cw'|w0 d v Kw R V0|w0 d v u0 Cw' R V0 A]; subst; [tauto|destruct Kw; congruence|].
    assert (~ dep (rf_in S l tau) m d) as Nd.
    { intros Dd. assert (tau m r) as X by (apply depr_after; exists d; auto). exact (t_asym _ _ X (mid_rm Last Km)). }
    assert (rf_in S1 l1 tau d r) as R1 by (apply (T'_rf (G:=G1)); auto; apply R).
    apply wv_rmw with d v; auto; [now apply rf2|]. apply wval2; [apply R1|].
    apply (T'_val (G:=G1)); auto. apply R1.
  - assert (S1 w) as S1w by (apply S1_iff; auto).
    assert (l2 w <-> l1 w) as -> by (unfold l2; tauto).
    rewrite (g_real (setting:=G1) w S1w Cw). split; intros (u & V); exists u; now apply wval2.
Qed.
Lemma valid2 : valid (tr S l2 sg).
Proof.
  intros c (Sc & _) Cc Rc. assert (c <> m) as N by (intros ->; unfold cpu in Cc; rewrite Km in Cc; destruct Cc).
  assert (S1 c) as S1c by (apply S1_iff; auto).
  destruct (T'_valid (G:=G1) c) as (u & R & V); auto.
  { split; [exact S1c|]. intros K. unfold cpu in Cc. simpl in *. rewrite K in Cc. destruct Cc. }
  exists u. split; [now apply rf2|]. apply wval2; auto. apply R.
Qed.
Lemma mo2 a b : mo_in S1 l1 tau a b -> mo_in S l2 sg a b.
Proof.
  intros (Sa & Sb & Wa & Wb & Lo & H). apply S1_iff in Sa. apply S1_iff in Sb.
  assert (forall x, S x /\ x <> m -> wr l1 x -> ~ Mm x) as N.
  { intros x (_ & Nx) (I & _) [Q|Q]; auto. rewrite Q, (Kr Km) in I. destruct I. }
  split; [apply Sa|split; [apply Sb|split; [apply wr2; tauto|split; [apply wr2; tauto|split; [auto|]]]]].
  apply to_same; auto; tauto.
Qed.
Lemma cycle2 x y : scv (tr S1 l1 tau) x y -> scv (tr S l2 sg) x y.
Proof.
  assert (forall a, E (tr S1 l1 tau) a -> E (tr S l2 sg) a) as HE.
  { intros a (Sa & Ha). apply S1_iff in Sa. split; [apply Sa|]. intros K. right. split; [apply Sa|now apply Ha]. }
  intros (a & b & Qa & Qb & E1 & N). exists a, b. split; auto. split; auto. split; auto.
  destruct E1 as [(A & B & H)|H|(Nab & u & A & B)|H].
  - apply sc_po. split; auto.
  - apply sc_rf. apply rf2; auto. apply H.
  - apply sc_rb. split; auto. exists u. split; [apply rf2; auto; apply A|now apply mo2].
  - apply sc_mo. now apply mo2.
Qed.
Theorem written : exists l2 tau2, base ord P S l2 tau2 /\ (forall e, S e -> tau2 r e -> ~ tau2 e m) /\
  forall x, ~ rf_in S l2 tau2 m x.
Proof.
  destruct (to_base Last Km D D_mid D_down l2 real2 valid2) as (tau2 & B2 & Em & R2 & _).
  - intros N. apply Cycle. intros x H. apply (N x).
    assert (forall a b, clos_trans ev (scv (tr S1 l1 tau)) a b -> sc (tr S l2 sg) a b) as K; [|now apply K].
    intros a b Hab. induction Hab; [apply t_step; now apply cycle2|eapply t_trans; eauto].
  - left; auto.
  - exists l2, tau2. split; [exact B2|split; [exact Em|]]. intros x R. apply R2 in R. exact (unread2 x R).
Qed.
End Written.
End Together.
