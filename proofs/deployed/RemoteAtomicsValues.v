(* Remote atomics: executing an order with real values (M2), and what a flip can change (M1). *)
Require Import List Arith Lia Classical Relations.
From RR Require Import Orders RemoteAtomicsModel RemoteAtomicsRules.

Section Values.
Context {U : slots}.

Definition fin (S : ev -> Prop) := exists l, forall e : ev, S e -> In e l.

Lemma sto_asym (S : ev -> Prop) lt a b : sto S lt -> lt a b -> ~ lt b a.
Proof. intros (Hi & Ht & _) H K. eapply Hi; eauto. Qed.
Lemma sto_sub (S S' : ev -> Prop) lt : (forall e, S' e -> S e) -> sto S lt -> sto S' lt.
Proof. intros H (Hi & Ht & Hc). repeat split; auto. Qed.

(* induction along an order *)
Lemma sto_ind (S : ev -> Prop) lt (P : ev -> Prop) : fin S -> sto S lt ->
  (forall e, S e -> (forall x, S x -> lt x e -> P x) -> P e) -> forall e, S e -> P e.
Proof.
  intros (l & Hl) (Hi & Ht & _) H e Se. apply NNPP. intros N.
  destruct (max_elem l (fun x => S x /\ ~ P x) (fun a b => lt b a)) as (x & (Sx & Nx) & K).
  - split; [auto|]. intros a b c X Y; eauto.
  - intros a (Sa & _); auto.
  - eauto.
  - apply Nx, H; auto. intros y Sy L. apply NNPP. intros Ny. apply (K y); auto.
Qed.

Lemma wval_local (Q : ev -> Prop) (rf1 rf2 : relation ev) :
  (forall w d, Q w -> fed w \/ cond w -> rf1 d (src w) -> rf2 d (src w) /\ Q d) ->
  forall w u, wval rf1 w u -> Q w -> wval rf2 w u.
Proof.
  intros H w u V; induction V as [w Iw Nw Cw|w d v Fw Cw R V IH|w d v u Cw R V IH A]; intros Qw.
  - now apply wv_cpu.
  - destruct (H w d Qw) as (R' & Qd); auto. apply wv_copy with d; auto.
  - destruct (H w d Qw) as (R' & Qd); auto. apply wv_rmw with d v; auto.
Qed.
Lemma wval_fun (rf1 : relation ev) : (forall w w' r, rf1 w r -> rf1 w' r -> w = w') ->
  forall w u, wval rf1 w u -> forall u', wval rf1 w u' -> u = u'.
Proof.
  intros F w u V; induction V as [w Iw Nw Cw|w d v Fw Cw R V IH|w d v u Cw R V IH A]; intros u' V';
  inversion V' as [w0 Iw' Nw' Cw'|w0 d' v' Fw' Cw' R' V0|w0 d' v' u0 Cw' R' V0 A']; subst; try tauto.
  - apply IH. now rewrite (F _ _ _ R R').
  - rewrite <- (F _ _ _ R R') in V0. rewrite (IH _ V0) in A. congruence.
Qed.

Lemma wval_cond x : cond x -> forall rf0 u, wval rf0 x u ->
  exists d v, rf0 d (src x) /\ wval rf0 d v /\ awv (src x) v = Some u.
Proof. intros C rf0 u V. inversion V; subst; [tauto|tauto|eauto]. Qed.

Lemma rf_in_fun (S l : ev -> Prop) lt w w' r : sto S lt -> rf_in S l lt w r -> rf_in S l lt w' r -> w = w'.
Proof.
  intros St (Ew & Er & Ww & Rr & L & H & K) (Ew' & _ & Ww' & _ & L' & H' & K').
  destruct (K w' Ew' Ww' L' H') as [|X]; [auto|]. destruct (K' w Ew Ww L H) as [|Y]; [auto|].
  destruct (sto_asym _ _ _ _ St X); auto.
Qed.
Lemma init_wr (l : ev -> Prop) i : knd i = Init -> wr l i.
Proof. intros K; unfold wr, cond; rewrite K; simpl; tauto. Qed.
Lemma rd_noninit r : rd r -> noninit r.
Proof. unfold rd, noninit; intros R K; rewrite K in R; destruct R. Qed.
Lemma rf_in_ex (S l : ev -> Prop) lt r : fin S -> sto S lt -> initfirst S lt ->
  (forall e, S e -> rd e -> exists i, S i /\ knd i = Init /\ loc i = loc e) -> S r -> rd r -> exists w, rf_in S l lt w r.
Proof.
  intros (es & Hl) St Ifst Hin Sr Rr. pose proof St as (Hi & Ht & Hc).
  destruct (Hin r Sr Rr) as (i & Si & Ki & Li).
  destruct (max_elem es (fun w => S w /\ wr l w /\ loc w = loc r /\ lt w r) lt) as (w & (Ew & Ww & Lw & L) & K).
  - split; auto.
  - intros a (Ea & _); auto.
  - exists i; repeat split; auto; try now apply (init_wr l i). apply Ifst; auto. now apply rd_noninit.
  - exists w; split; [auto|split; [auto|split; [auto|split; [auto|split; [auto|split; [auto|]]]]]].
    intros w' Ew' Ww' Lw' L'. destruct (Hc w' w Ew' Ew) as [|[|X]]; auto. destruct (K w'); auto.
Qed.

(* M2: every order can be executed with real values. *)
Definition srcfwd (S : ev -> Prop) (lt : relation ev) := forall w, S w -> fed w -> S (src w) /\ lt (src w) w.
Definition real_in (S l : ev -> Prop) (lt : relation ev) := forall w, S w -> cond w -> (l w <-> exists u, wval (rf_in S l
  lt) w u).

Lemma cond_cases w : cond w -> fed w \/ src w = w.
Proof. unfold fed. intros _. destruct (classic (src w = w)); auto. Qed.
Lemma naw_fed w : knd w = NAW -> fed w.
Proof. intros K Q. destruct (src_own w Q). congruence. Qed.
Lemma src_na a : knd a = NA -> src a = a.
Proof. intros K. apply NNPP. intros N. destruct (src_ok a N) as (_ & _ & X). rewrite K in X. destruct X. Qed.

Theorem exec_exists n : forall (S : ev -> Prop) lt, (exists es, length es = n /\ forall e, S e -> In e es) -> sto S lt ->
  srcfwd S lt ->
  exists l, real_in S l lt.
Proof.
  induction n as [|n IH]; intros S lt (es & Hn & Hl) St Hs.
  - exists (fun _ => True). intros w Sw. destruct es; [destruct (Hl w Sw)|discriminate].
  - destruct (classic (exists e, S e)) as [(e0 & Se0)|N].
    2:{ exists (fun _ => True). intros w Sw. destruct N; eauto. }
    pose proof St as (Hi & Ht & Hc).
    destruct (max_elem es S lt) as (z & Sz & Mz); [split; auto|auto|eauto|].
    pose (S0 := fun e => S e /\ e <> z).
    assert (forall e, S e -> e <> z -> lt e z) as Lz.
    { intros e Se Ne. destruct (Hc e z Se Sz) as [|[|X]]; auto; [congruence|]. destruct (Mz e Se X). }
    destruct (IH S0 lt) as (l0 & R0).
    { destruct (in_split _ _ (Hl z Sz)) as (l1 & l2 & ->). exists (l1 ++ l2). split.
      - rewrite app_length in *. simpl in Hn. lia.
      - intros e (Se & Ne). specialize (Hl e Se). rewrite in_app_iff in *. simpl in Hl. destruct Hl as [|[|]]; auto;
        congruence. }
    { apply (sto_sub S); auto. intros e (Se & _); auto. }
    { intros w (Sw & Nw) Cw. destruct (Hs w Sw Cw) as (A & B). split; auto. split; auto. intros Q. apply (Mz w Sw).
      congruence. }
    pose (lA := fun e => e <> z /\ l0 e).
    pose (lB := fun e => lA e \/ (e = z /\ exists u, wval (rf_in S lA lt) z u)).
    (* nothing reads z *)
    assert (forall x, x <> z -> (wr lA x <-> wr lB x) /\ (wr lA x <-> wr l0 x)) as Wx.
    { intros x Nx. unfold wr, lA, lB, lA. split; split; intros (A & B); (split; [auto|]); intros C; specialize (B C);
      tauto. }
    assert (forall d r, rf_in S lA lt d r <-> rf_in S lB lt d r) as RAB.
    { intros d r. split; intros (Sd & Sr & Wd & Rr & Lo & L & K);
      (assert (d <> z) as Nd by (intros ->; exact (Mz r Sr L)); destruct (Wx d Nd) as (Wd' & _));
      (split; [auto|split; [auto|split; [tauto|split; [auto|split; [auto|split; [auto|]]]]]]);
      intros w' Sw' Ww' Lo' L'; (assert (w' <> z) as Nw' by (intros ->; exact (Mz r Sr L')); destruct (Wx w' Nw') as (Ww''
        & _));
      apply K; tauto. }
    assert (forall d r, r <> z -> (rf_in S lA lt d r <-> rf_in S0 l0 lt d r)) as R0A.
    { intros d r Nr. split.
      - intros (Sd & Sr & Wd & Rr & Lo & L & K). assert (d <> z) as Nd by (intros ->; exact (Mz r Sr L)).
        split; [split; auto|split; [split; auto|split; [now apply Wx|split; [auto|split; [auto|split; [auto|]]]]]].
        intros w' (Sw' & Nw') Ww' Lo' L'. apply K; auto. now apply Wx.
      - intros ((Sd & Nd) & (Sr & _) & Wd & Rr & Lo & L & K).
        split; [auto|split; [auto|split; [now apply Wx|split; [auto|split; [auto|split; [auto|]]]]]].
        intros w' Sw' Ww' Lo' L'. assert (w' <> z) by (intros ->; exact (Mz r Sr L')). apply K; auto; [split; auto|]. now
          apply Wx. }
    assert (forall w, S w -> w <> z -> fed w \/ cond w -> src w <> z) as Sz'.
    { intros w Sw Nw C Q. destruct (classic (fed w)) as [C'|C'].
      - destruct (Hs w Sw C') as (_ & L). rewrite Q in L. exact (Mz w Sw L).
      - destruct C as [C|C]; [auto|]. destruct (cond_cases w C); [tauto|congruence]. }
    exists lB. intros w Sw Cw. destruct (classic (w = z)) as [->|Nw].
    + split.
      * intros [(X & _)|(_ & u & V)]; [congruence|]. exists u.
        apply (wval_local (fun _ => True) (rf_in S lA lt)); auto. intros; split; auto. now apply RAB.
      * intros (u & V). right; split; auto. exists u.
        apply (wval_local (fun _ => True) (rf_in S lB lt)); auto. intros; split; auto. now apply RAB.
    + assert (l0 w <-> lB w) as ->%iff_sym by (unfold lB, lA; tauto).
      rewrite (R0 w (conj Sw Nw) Cw). split; intros (u & V); exists u.
      * apply (wval_local S0 (rf_in S0 l0 lt)); auto; [|split; auto].
        intros x d (Sx & Nx) C R. split; [apply RAB, R0A; auto|apply R].
      * apply (wval_local S0 (rf_in S lB lt)); auto; [|split; auto].
        intros x d (Sx & Nx) C R. apply RAB in R. apply R0A in R; auto. split; [auto|apply R].
Qed.

(* What depends on m: every slot of an RMW whose read depends on m counts, written or not (M1). *)
Inductive dep (rf1 : relation ev) (m : ev) : ev -> Prop :=
| dep_m : dep rf1 m m
| dep_src w d : fed w \/ cond w -> rf1 d (src w) -> dep rf1 m d -> dep rf1 m w.
Definition depr rf1 m r := exists d, rf1 d r /\ dep rf1 m d.

Lemma cond_rd x : cond x -> rd (src x) /\ loc (src x) = loc x /\ (fed x -> knd x = NAW).
Proof.
  intros C. unfold cond, rd in *. destruct (knd x) eqn:K; simpl in *; try tauto.
  - destruct (src_ok x (naw_fed x K)) as (_ & _ & X). rewrite K in X. destruct X as (X & Y). rewrite X; simpl; auto.
  - rewrite (src_na x K), K; simpl. repeat split; auto. intros F. destruct (F (src_na x K)).
Qed.
Lemma src_rd x : fed x -> rd (src x).
Proof. intros F. now apply fed_rd. Qed.
Lemma src_in (S2 : ev -> Prop) (lt : relation ev) x : srcfwd S2 lt -> S2 x -> fed x \/ cond x -> S2 (src x) /\ (src x = x
  \/ lt (src x) x) /\ rd (src x).
Proof.
  intros Src Sx C. destruct (classic (fed x)) as [N|N].
  - destruct (Src x Sx N). auto using src_rd.
  - destruct C as [C|C]; [tauto|]. destruct (cond_cases x C) as [|Q]; [tauto|]. pose proof (proj1 (cond_rd x C)).
    rewrite Q in *; auto.
Qed.

(* One order, two ways to go: what does not depend on m reads the same and acts the same.  A write that flips in stands
   directly behind a read of its word that depends on m, so whoever reads behind it does not read what is clean. *)
Section Flip.
Variables (S1 S2 l1 l2 : ev -> Prop) (lt : relation ev) (m : ev).
Let rf1 := rf_in S1 l1 lt.
Let rf2 := rf_in S2 l2 lt.
Hypothesis Fin : fin S1.
Hypothesis St : sto S1 lt.
Hypothesis Sub : forall e, S2 e -> S1 e.
Hypothesis Keep : forall u, S1 u -> wr l1 u -> ~ dep rf1 m u -> S2 u.
Hypothesis Adj : forall x a, S2 x -> knd x = NAW -> ~ l1 x -> S1 a -> wr l1 a -> loc a = loc x -> lt a x -> lt a (src x).
Hypothesis Real1 : forall x, S2 x -> cond x -> ~ depr rf1 m (src x) -> (l1 x <-> exists u, wval rf1 x u).
Hypothesis Real2 : real_in S2 l2 lt.
Hypothesis Src : srcfwd S2 lt.
Hypothesis Ex : forall r, S1 r -> rd r -> exists w, rf1 w r.

Lemma st2 : sto S2 lt. Proof. exact (sto_sub _ _ _ Sub St). Qed.
Definition C1 e := forall u, rd e -> rf1 u e -> ~ dep rf1 m u -> rf2 u e.
Definition C2 e := cond e -> ~ depr rf1 m (src e) -> (l1 e <-> l2 e).

Lemma flip_C1 e : S2 e -> (forall x, S2 x -> lt x e -> C1 x /\ C2 x) -> C1 e.
Proof.
  intros Se IH u Re (Su & _ & Wu & _ & Lu & L & K) Du. pose proof St as (Hi & Ht & Hc).
  assert (S2 u) as Su2 by auto.
  assert (wr l2 u) as Wu2.
  { destruct Wu as (Iu & Cu). split; auto. intros C. apply (IH u Su2 L); auto. intros (d & R & D). apply Du, dep_src with
    d; auto. }
  split; [auto|split; [auto|split; [auto|split; [auto|split; [auto|split; [auto|]]]]]].
  intros x Sx Wx Lx Lxe. destruct (classic (wr l1 x)) as [Wx1|NW]; [apply K; auto|].
  (* x flips in *)
  destruct (classic (x = u \/ lt x u)) as [|N]; [auto|exfalso].
  assert (lt u x) as Lux by (destruct (Hc x u (Sub _ Sx) Su) as [|[|]]; auto; tauto).
  destruct Wx as (Ix & Cx).
  assert (cond x /\ ~ l1 x) as (C & Nl) by (unfold wr in NW; split; apply NNPP; intros Y; apply NW; split; auto; tauto).
  assert (depr rf1 m (src x)) as (d & R & D).
  { apply NNPP; intros Nd. apply Nl. apply (proj2 (IH x Sx Lxe) C Nd). auto. }
  destruct (cond_rd x C) as (Rx & Lsx & Kx). destruct (src_in S2 lt x Src Sx (or_intror C)) as (Ssx & Hsx & _).
  assert (lt u (src x)) as Lus.
  { destruct Hsx as [Q|Q]; [now rewrite Q|]. apply Adj; auto; [|congruence].
    apply Kx. destruct (cond_cases x C) as [|Q']; auto. rewrite Q' in Q. destruct (Hi _ Q). }
  destruct R as (Sd & _ & Wd & _ & Ld & Lds & Kd).
  destruct (Kd u Su Wu) as [->|Lud]; [congruence|auto|auto|].
  assert (lt d e) as Lde. { destruct Hsx as [Q|Q]; [rewrite Q in Lds; eauto|eauto]. }
  destruct (K d Sd Wd) as [->|Y]; [congruence|auto|auto|]. exact (Hi _ (Ht _ _ _ Lud Y)).
Qed.

Lemma flip_vals e d v : S2 d -> ~ dep rf1 m d -> (d = e \/ lt d e) -> (forall x, S2 x -> (x = e \/ lt x e) -> C1 x) ->
  (wval rf1 d v <-> wval rf2 d v).
Proof.
  intros Sd Dd Ld H. pose proof St as (Hi & Ht & Hc).
  assert (forall x w, S2 x -> fed x \/ cond x -> (x = e \/ lt x e) -> rf1 w (src x) -> ~ dep rf1 m x ->
          ~ dep rf1 m w /\ rf2 w (src x) /\ S2 w /\ (w = e \/ lt w e)) as Step.
  { intros x w Sx C Lx R Dx. destruct (src_in S2 lt x Src Sx C) as (Ss & Hs & Rs).
    assert (~ dep rf1 m w) as Dw by (intros D; apply Dx, dep_src with w; auto).
    assert (src x = e \/ lt (src x) e) as Lse by (destruct Hs as [-> |Hs], Lx as [<- |Lx]; eauto).
    split; [auto|split; [now apply (H (src x))|split]].
    - apply Keep; auto; apply R.
    - right. destruct Lse as [<-|Lse]; [apply R|]. eapply Ht; [apply R|auto]. }
  split; intros V.
  - apply (wval_local (fun x => S2 x /\ ~ dep rf1 m x /\ (x = e \/ lt x e)) rf1); auto.
    intros x w (Sx & Dx & Lx) C R. destruct (Step x w Sx C Lx R Dx) as (A & B & C' & D). auto.
  - apply (wval_local (fun x => S2 x /\ ~ dep rf1 m x /\ (x = e \/ lt x e)) rf2); auto.
    intros x w (Sx & Dx & Lx) C R2. destruct (src_in S2 lt x Src Sx C) as (Ss & Hs & Rs).
    destruct (Ex (src x)) as (w' & R); auto.
    destruct (Step x w' Sx C Lx R Dx) as (A & B & C' & D).
    rewrite (rf_in_fun _ _ _ _ _ _ st2 R2 B). auto.
Qed.

Lemma flip_all : forall e, S2 e -> C1 e /\ C2 e.
Proof.
  apply (sto_ind S2 lt).
  { destruct Fin as (es & H). exists es; auto. }
  { apply st2. }
  intros e Se IH. pose proof (flip_C1 e Se IH) as H1. split; [exact H1|].
  assert (forall x, S2 x -> (x = e \/ lt x e) -> C1 x) as H.
  { intros x Sx [->|L]; [auto|]. now apply IH. }
  intros C N. destruct (src_in S2 lt e Src Se (or_intror C)) as (Ss & Hs & Rs).
  assert (src e = e \/ lt (src e) e) as Hs' by auto.
  rewrite (Real1 e Se C N), (Real2 e Se C).
  destruct (Ex (src e)) as (d & R); auto.
  assert (~ dep rf1 m d) as Dd by (intros D; apply N; exists d; auto).
  assert (rf2 d (src e)) as R2 by (apply (H (src e)); auto).
  assert (S2 d) as Sd by (apply Keep; auto; apply R).
  assert (d = e \/ lt d e) as Ld.
  { right. destruct Hs as [Q|Q]; [rewrite Q in R; apply R|]. destruct St as (_ & Ht & _). eapply Ht; [apply R|auto]. }
  pose proof (wval_cond) as Inv.
  split; intros (u & V); destruct (Inv e C _ _ V) as (d' & v & R' & V' & A); exists u.
  - rewrite (rf_in_fun _ _ _ _ _ _ St R' R) in V'. apply wv_rmw with d v; auto. now apply (flip_vals e d v).
  - rewrite (rf_in_fun _ _ _ _ _ _ st2 R' R2) in V'. apply wv_rmw with d v; auto. now apply (flip_vals e d v).
Qed.

Theorem flip_rf e u : S2 e -> rd e -> rf1 u e -> ~ dep rf1 m u -> rf2 u e.
Proof. intros Se. now apply flip_all. Qed.
Theorem flip_live e : S2 e -> cond e -> ~ depr rf1 m (src e) -> (l1 e <-> l2 e).
Proof. intros Se. now apply flip_all. Qed.
Theorem flip_val d v : S2 d -> ~ dep rf1 m d -> (wval rf1 d v <-> wval rf2 d v).
Proof. intros Sd Dd. apply (flip_vals d d v); auto. intros x Sx _. now apply flip_all. Qed.

End Flip.
End Values.
