(* Remote atomics: the poison that a search keeps along L is dependence on the pivot, where every RMW acts as in L (M1).
   The rules are those of PivotInstrumentation._poisoning and RemoteAtomics.after_torn; what is carried is marked at its
   read. *)
Require Import List Arith Lia Classical Relations.
Import ListNotations.
From RR Require Import Orders RemoteAtomicsModel RemoteAtomicsRules RemoteAtomicsValues RemoteAtomicsTraces RemoteAtomicsBase
  RemoteAtomicsPivot RemoteAtomicsExecuted RemoteAtomicsParts RemoteAtomicsForm RemoteAtomicsLeast RemoteAtomicsSearched.

Section Marks.
Context {U : slots}.
Variables (B l' : ev -> Prop).
Record marks := { word : nat -> Prop; carried : ev -> Prop }.
(* before beta: the word of a pivot that writes *)
Definition begun (writes : Prop) m := {| word := fun x => x = loc m /\ writes; carried := fun _ => False |}.
Definition nic_read e := rd e /\ ~ cpu e.
Definition step (p : marks) e := {|
  word := fun x => (~ B e /\ word p x) \/ (B e /\ match knd e with
    | LW => x <> loc e /\ word p x
    | NRW | NLW => (x = loc e /\ carried p (src e)) \/ (x <> loc e /\ word p x)
    (* the word stays as it is; it is clean behind an RMW that is torn *)
    | NAW => word p x /\ (l' e -> ~ B (src e) -> x <> loc e)
    | _ => word p x end);
  carried := fun r => (r = e /\ B e /\ nic_read e /\ word p (loc e)) \/ (r <> e /\ carried p r) |}.
(* the newest event is the first of the list *)
Definition marked (p : marks) (l : list ev) := fold_right (fun e p => step p e) p l.
End Marks.

Section Poison.
Context {U : slots} (ord : order) (S S' l' lX B : ev -> Prop) (m pr : ev) (L : relation ev).
Notation pivot := (M m pr).
Notation sg := (around B m pr L).
Notation act := (acting m pr l' lX).
Notation rfA := (rf_in S act sg).
Hypothesis Pivot : S m /\ S pr /\ (pr = m \/ knd pr = NAR).
Hypothesis Rest : forall e, S' e <-> S e /\ ~ pivot e.
Hypothesis Total : sto S L.
Hypothesis First : initfirst S' L.
Hypothesis Adj : forall x e, S' x -> knd x = NAW -> L e x -> e = src x \/ L e (src x).
Hypothesis Po : forall a b, S' a -> S' b -> po a b -> L a b.
Hypothesis Down : forall a b, po a b -> S' b -> S' a.
Hypothesis Beta : forall e, B e -> S' e /\ noninit e.
Hypothesis F1 : forall w, S' w -> fed w -> B (src w) -> B w.
Hypothesis F4 : forall a b, S' a -> S' b -> conflict l' a b -> L a b -> B a -> B b.
(* the search leaves a branch where a read of a CPU is marked *)
Hypothesis Clean : forall c, B c -> cpu c -> rd c -> ~ depr rfA m c.

Lemma Beta_M e : B e -> ~ pivot e. Proof. intros Be. apply Rest, Beta, Be. Qed.
Lemma a_wr e : S' e -> (wr act e <-> wr l' e).
Proof. intros Se. assert (~ pivot e) by (apply Rest; auto). unfold wr, acting. tauto. Qed.
Lemma a_asym a b : L a b -> ~ L b a. Proof. exact (sto_asym _ _ _ _ Total). Qed.
Lemma sg_as a b : sg a b -> ~ sg b a. Proof. exact (around_asym S B m pr L Total a b). Qed.
Lemma sg_irr a : ~ sg a a. Proof. exact (proj1 (around_sto S B m pr L Total) a). Qed.
Lemma pivot_w z : pivot z -> is_w (knd z) -> z = m.
Proof. intros [->| ->] H; auto. destruct Pivot as (_ & _ & [Q|K]); auto. rewrite K in H. destruct H. Qed.
Lemma in_S0 e : S' e -> S e. Proof. intros H. now apply Rest. Qed.
Lemma w_cases w : S w -> is_w (knd w) -> w = m \/ S' w.
Proof.
  intros Sw Iw. destruct (classic (pivot w)) as [Pw|Pw]; [left; now apply pivot_w|right; apply Rest; auto].
Qed.

Lemma src_naR x : fed x \/ cond x -> rd (src x) /\ (src x = x \/ (fed x /\ po (src x) x)).
Proof.
  intros C. destruct (classic (fed x)) as [N|N]; [split; [now apply src_rd|right; split; auto; now apply src_ok]|].
  destruct C as [C|C]; [tauto|]. split; [now apply cond_rd|left]. destruct (cond_cases x C); tauto.
Qed.
(* what depends on the pivot is in beta *)
Lemma dep_beta x : dep rfA m x -> S x -> x = m \/ B x.
Proof.
  intros D; induction D as [|w d C R D IH]; intros Sw; [auto|].
  pose proof R as (Sd & Ss & _ & _ & _ & H & _).
  assert (B (src w)) as Bs.
  { destruct (IH Sd) as [->|Bd].
    - assert (~ pivot (src w)) as N.
      { intros Q. assert (src w = m \/ (src w = pr /\ pr <> m)) as [Q'|(Q' & E)].
        { destruct Q as [Q|Q]; [auto|]. destruct (classic (pr = m)); [left; congruence|right; auto]. }
        - rewrite Q' in H. exact (sg_irr _ H).
        - rewrite Q' in H. exact (sg_as _ _ H (around_pivot B m pr L Beta_M E)). }
      now apply (around_from S B m pr L Total Beta_M m (src w) (or_introl eq_refl) N).
    - apply NNPP. intros N. destruct (classic (pivot (src w))) as [Pw|Pw].
      + exact (sg_as _ _ H (around_after B m pr L Beta_M d _ Bd Pw)).
      + exact (sg_as _ _ H (around_split B m pr L _ _ N Bd)). }
  destruct (src_naR w C) as (_ & [Q|(Nw & _)]); [rewrite Q in Bs; auto|].
  destruct (w_cases w Sw) as [|Sw']; [pose proof (fed_nicw w Nw) as Iw; unfold nicw in Iw; destruct (knd w); simpl in *; tauto|auto|].
  right. now apply F1.
Qed.
Lemma dep_iff w : S' w -> (dep rfA m w <-> (fed w \/ cond w) /\ depr rfA m (src w)).
Proof.
  intros Sw. assert (w <> m) as N by (intros ->; apply (proj1 (Rest m) Sw); left; auto). split.
  - intros D. inversion D as [|w0 d C R D']; subst; [tauto|]. split; auto. exists d; auto.
  - intros (C & d & R & D). eapply dep_src; eauto.
Qed.
Lemma depr_beta r : depr rfA m r -> ~ pivot r -> B r.
Proof.
  intros (d & R & D) N. pose proof R as (Sd & _ & _ & _ & _ & H & _). destruct (dep_beta d D Sd) as [->|Bd].
  - now apply (around_from S B m pr L Total Beta_M m r (or_introl eq_refl) N).
  - apply NNPP. intros Nb. exact (sg_as _ _ H (around_split B m pr L _ _ Nb Bd)).
Qed.

(* the last write among some events *)
Definition before e y := S' y /\ noninit y /\ L y e.
Definition lastw (Q : ev -> Prop) w := Q w /\ wr l' w /\ forall w', Q w' -> wr l' w' -> loc w' = loc w -> w' = w \/ L w' w.
Definition poisoned (Q : ev -> Prop) x := (x = loc m /\ wr act m /\ forall w, Q w -> B w -> wr l' w -> loc w <> x) \/
  exists w, lastw Q w /\ loc w = x /\ B w /\ dep rfA m w.

Lemma reads_pivot e : B e -> rd e -> (rfA m e <-> loc e = loc m /\ wr act m /\
  forall w, before e w -> B w -> wr l' w -> loc w <> loc e).
Proof.
  intros Be Re. pose proof (proj1 (Beta e Be)) as Se. pose proof (Beta_M e Be) as Ne. split.
  - intros (_ & _ & Wm & _ & Lo & H & K). split; [auto|split; [auto|]]. intros w (Sw & _ & Lw) Bw Ww Q.
    destruct (K w (in_S0 w Sw)) as [->|X]; auto.
    + now apply a_wr.
    + apply around_same; auto using Beta_M. tauto.
    + exact (Beta_M m Bw (or_introl eq_refl)).
    + exact (sg_as _ _ X (around_after B m pr L Beta_M w m Bw (or_introl eq_refl))).
  - intros (Lo & Wm & K). split; [apply Pivot|split; [now apply in_S0|split; [auto|split; [auto|split; [auto|split]]]]].
    + apply (around_after B m pr L Beta_M); auto. left; auto.
    + intros w Sw Ww Lw H. destruct (w_cases w Sw) as [|Sw']; [apply Ww|auto|right].
      assert (~ pivot w) as Nw by (apply Rest; auto).
      apply (around_before B m pr L Beta_M); auto; [|left; auto]. intros Bw. apply (K w); auto.
      * split; [auto|split; [apply Beta; auto|]]. apply around_same in H; auto. tauto.
      * now apply a_wr.
Qed.
Lemma reads_beta u e : B u -> B e -> rd e -> (rfA u e <-> lastw (before e) u /\ loc u = loc e).
Proof.
  intros Bu Be Re. pose proof (proj1 (Beta e Be)) as Se. pose proof (Beta_M e Be) as Ne.
  pose proof (Beta u Bu) as (Su & Iu). pose proof (Beta_M u Bu) as Nu. split.
  - intros (_ & _ & Wu & _ & Lo & H & K). split; [|auto]. apply a_wr in Wu; auto.
    split; [split; [auto|split; [auto|]]; apply around_same in H; auto; tauto|split; [auto|]].
    intros w (Sw & Iw & Lw) Ww Q. assert (~ pivot w) as Nw by (apply Rest; auto).
    destruct (classic (w = u)) as [|Nwu]; [auto|right]. destruct (classic (B w)) as [Bw|Bw].
    + destruct (K w (in_S0 w Sw)) as [|X]; auto; [now apply a_wr|congruence|apply around_same; auto; tauto|tauto|].
      apply around_same in X; auto. tauto.
    + destruct (proj2 (proj2 Total) w u (in_S0 w Sw) (in_S0 u Su)) as [|[X|X]]; auto; [tauto|].
      destruct Bw. apply (F4 u w); auto. unfold conflict. repeat split; auto.
  - intros (((_ & _ & Lu) & Wu & K) & Lo).
    split; [now apply in_S0|split; [now apply in_S0|split; [now apply a_wr|split; [auto|split; [auto|split]]]]].
    + apply around_same; auto. tauto.
    + intros w Sw Ww Lw H. destruct (w_cases w Sw) as [->|Sw']; [apply Ww| |].
      * right. apply (around_after B m pr L Beta_M); auto. left; auto.
      * assert (~ pivot w) as Nw by (apply Rest; auto). apply a_wr in Ww; auto.
        destruct (classic (B w)) as [Bw|Bw]; [|right; now apply around_split].
        apply around_same in H; auto; [|tauto]. destruct (K w) as [|X]; auto; [split; auto; split; auto; apply Beta; auto|
          congruence|].
        right. apply around_same; auto. tauto.
Qed.
Lemma dep_read e : B e -> rd e -> (depr rfA m e <-> poisoned (before e) (loc e)).
Proof.
  intros Be Re. split.
  - intros (d & R & D). destruct (dep_beta d D (proj1 R)) as [->|Bd].
    + left. now apply reads_pivot in R.
    + right. exists d. apply reads_beta in R; auto. tauto.
  - intros [H|(w & H & Q & Bw & D)].
    + exists m. split; [now apply reads_pivot|apply dep_m].
    + exists w. split; [now apply reads_beta|exact D].
Qed.

(* one event more *)
Definition and_now (Q : ev -> Prop) e y := Q y \/ y = e.
Lemma poisoned_ext Q Q2 x : (forall y, Q y <-> Q2 y) -> (poisoned Q x <-> poisoned Q2 x).
Proof.
  intros H. assert (forall Q Q2, (forall y, Q y <-> Q2 y) -> poisoned Q x -> poisoned Q2 x) as K; [|split; apply K; auto;
    intros; symmetry; auto].
  intros Q3 Q4 E [(A1 & A2 & A3)|(w & (W1 & W2 & W3) & R)].
  - left. split; auto. split; auto. intros w Hw. apply A3. now apply E.
  - right. exists w. split; [|auto]. split; [now apply E|split; [auto|]]. intros w' Hw'. apply W3. now apply E.
Qed.
Lemma poisoned_same Q e x : S' e -> noninit e -> (forall y, Q y <-> before e y) -> (~ B e \/ ~ wr l' e) ->
  (poisoned (and_now Q e) x <-> poisoned Q x).
Proof.
  intros Se Ie HQ N. unfold poisoned. split.
  - intros [(A1 & A2 & A3)|(w & (W1 & W2 & W3) & Lw & Bw & D)].
    + left. split; auto. split; auto. intros w Hw. apply A3. now left.
    + right. exists w. split; [|auto]. destruct W1 as [W1| ->]; [|tauto]. split; [auto|split; [auto|]].
      intros w' Hw'. apply W3. now left.
  - intros [(A1 & A2 & A3)|(w & (W1 & W2 & W3) & Lw & Bw & D)].
    + left. split; auto. split; auto. intros w [Hw| ->]; [now apply A3|tauto].
    + right. exists w. split; [|auto]. split; [now left|split; [auto|]]. intros w' [Hw'| ->] Ww' Lw'; [now apply W3|].
      destruct N as [N|N]; [|tauto]. exfalso. apply N. pose proof (proj1 (HQ w) W1) as (Sw & _ & Lwe).
      apply (F4 w e); auto. unfold conflict. repeat split; auto. intros ->. exact (proj1 Total _ Lwe).
Qed.
Lemma poisoned_write Q e x : S' e -> (forall y, Q y <-> before e y) -> B e -> wr l' e ->
  (poisoned (and_now Q e) x <-> (x = loc e /\ dep rfA m e) \/ (x <> loc e /\ poisoned Q x)).
Proof.
  intros Se HQ Be We. unfold poisoned. assert (forall w, Q w -> L w e) as Le by (intros w Hw; exact (proj2 (proj2 (proj1
    (HQ w) Hw)))).
  destruct (classic (x = loc e)) as [->|N]; split.
  - intros [(A1 & A2 & A3)|(w & (W1 & W2 & W3) & Lw & Bw & D)].
    + destruct (A3 e); auto. now right.
    + left. split; auto. destruct W1 as [W1| ->]; [|auto]. destruct (W3 e) as [->|X]; auto; [now right|].
      destruct (a_asym _ _ X (Le w W1)).
  - intros [(_ & D)|(X & _)]; [|congruence]. right. exists e. split; [|auto]. split; [now right|split; [auto|]].
    intros w' [Hw'| ->] _ _; [right; auto|left; auto].
  - intros [(A1 & A2 & A3)|(w & (W1 & W2 & W3) & Lw & Bw & D)]; right; (split; [auto|]).
    + left. split; auto. split; auto. intros w Hw. apply A3. now left.
    + right. exists w. destruct W1 as [W1| ->]; [|congruence]. split; [|auto]. split; [auto|split; [auto|]].
      intros w' Hw'. apply W3. now left.
  - intros [(X & _)|(_ & [(A1 & A2 & A3)|(w & (W1 & W2 & W3) & Lw & Bw & D)])]; [congruence| |].
    + left. split; auto. split; auto. intros w [Hw| ->]; [now apply A3|congruence].
    + right. exists w. split; [|auto]. split; [now left|split; [auto|]]. intros w' [Hw'| ->]; [now apply W3|congruence].
Qed.

Variable writes : Prop.
Hypothesis Writes : wr act m <-> writes.
(* the events of L up to one of them *)
Inductive along : list ev -> Prop :=
| along_nil : along []
| along_cons l e : along l -> S' e -> noninit e -> (forall y, In y l <-> before e y) -> along (e :: l).
Notation marks_of := (marked B l' (begun writes m)).
Lemma dep_not_nic e : S' e -> ~ fed e -> ~ cond e -> ~ dep rfA m e.
Proof. intros Se N C D. apply dep_iff in D; tauto. Qed.
Lemma src_before_in Q e : S' e -> fed e -> (forall y, Q y <-> before e y) -> Q (src e) /\ nic_read (src e) /\ S' (src e).
Proof.
  intros Se Ne HQ. destruct (src_ok e Ne) as (P & _ & K). pose proof (src_rd e Ne) as R. assert (S' (src e)) as Ss by eauto.
  split; [apply HQ; split; [auto|split; [now apply rd_noninit|now apply Po]]|split; [split; [auto|]|auto]].
  apply nic_not_cpu, nic_inst_nic. now apply fed_rd.
Qed.
Lemma naw_read Q e : S' e -> knd e = NAW -> (forall y, Q y <-> before e y) -> B (src e) ->
  (depr rfA m (src e) <-> poisoned Q (loc e)).
Proof.
  intros Se K HQ Bs. destruct (naw_facts e K) as (P & _ & Ks & Ls).
  destruct (src_before_in Q e Se) as (Qs & (Rs & _) & Ss); auto; [now apply naw_fed|].
  rewrite (dep_read (src e) Bs Rs), Ls.
  rewrite <- (poisoned_same (before (src e)) (src e)); auto; [|now apply Beta|tauto|].
  - apply poisoned_ext. intros y. rewrite HQ. unfold and_now, before. split.
    + intros [(Sy & Iy & Ly)| ->]; [|now apply HQ in Qs]. split; auto. split; auto.
      apply (proj1 (proj2 Total)) with (src e); auto.
    + intros (Sy & Iy & Ly). destruct (Adj e y Se K Ly); auto.
  - right. intros (I & _). rewrite Ks in I. destruct I.
Qed.

(* there is such a list for every event *)
Lemma along_exists : (exists es, forall e, S' e -> In e es) -> forall e, S' e -> noninit e -> exists l, along (e :: l).
Proof.
  intros Fin. apply (sto_ind S' L (fun e => noninit e -> exists l, along (e :: l))); [exact Fin|apply (sto_sub S);
    auto using in_S0|].
  intros e Se IH Ie. pose proof Total as (Hi & Ht & Hc). destruct Fin as (es & Hes).
  destruct (classic (exists y, before e y)) as [(y0 & Hy0)|N].
  - destruct (max_elem es (before e) L) as (y & (Sy & Iy & Ly) & K); [split; auto| |eauto|].
    { intros a (Sa & _). auto. }
    destruct (IH y Sy Ly Iy) as (l & Al). exists (y :: l). constructor; auto. inversion Al as [|l0 y1 _ _ _ HQ]; subst.
    intros z. simpl. rewrite HQ. split.
    + intros [<-|(Sz & Iz & Lz)]; [split; auto|split; eauto].
    + intros (Sz & Iz & Lz). destruct (Hc y z (in_S0 y Sy) (in_S0 z Sz)) as [|[X|X]]; auto; [|right; split; auto].
      destruct (K z); auto. split; auto.
  - exists []. constructor; auto; [constructor|]. intros y. split; [intros []|intros Hy; apply N; eauto].
Qed.

Theorem marked_mean l : along l -> (forall x, word (marks_of l) x <-> poisoned (fun y => In y l) x) /\
  (forall r, carried (marks_of l) r <-> In r l /\ nic_read r /\ depr rfA m r).
Proof.
  intros H; induction H as [|l e H (IHw & IHc) Se Ie HQ].
  - split.
    + intros x. unfold poisoned. simpl. rewrite <- Writes. split; [intros (Q & W); left; auto|].
      intros [(Q & W & _)|(w & (W & _) & _)]; [auto|destruct W].
    + intros r. simpl. tauto.
  - assert (forall x, poisoned (fun y => In y (e :: l)) x <-> poisoned (and_now (fun y => In y l) e) x) as Now.
    { intros x. apply poisoned_ext. intros y. unfold and_now. simpl. intuition auto. }
    assert (B e -> rd e -> (depr rfA m e <-> word (marks_of l) (loc e))) as Read.
    { intros Be Re. rewrite IHw, (dep_read e Be Re). apply poisoned_ext. intros y. symmetry. apply HQ. }
    split.
    + intros x. rewrite Now. simpl. destruct (classic (B e)) as [Be|Be].
      2:{ rewrite poisoned_same, <- IHw; auto. tauto. }
      destruct (classic (wr l' e)) as [We|We].
      2:{ rewrite poisoned_same, <- IHw; auto. unfold wr, cond in We. destruct (knd e) eqn:K; simpl in We; tauto. }
      rewrite poisoned_write, <- IHw; auto. destruct (classic (x = loc e)) as [->|Nx].
      * (* its own word *)
        assert (dep rfA m e <-> (fed e \/ cond e) /\ depr rfA m (src e)) as D by now apply dep_iff.
        assert (carried (marks_of l) e -> False) as Own.
        { intros X. apply IHc in X. destruct X as (X & _). apply HQ in X. exact (proj1 Total _ (proj2 (proj2 X))). }
        pose proof (fed_nicw e) as Fn. unfold nicw in Fn. unfold cond in D. destruct (knd e) eqn:K; simpl in D, Fn.
        -- destruct (Ie K).
        -- exfalso. destruct We as (I & _). rewrite K in I. destruct I.
        -- tauto.
        -- assert (~ word (marks_of l) (loc e)); [|tauto]. rewrite <- Read; auto; [|unfold rd; now rewrite K].
           apply Clean; auto; [unfold cpu|unfold rd]; now rewrite K.
        -- exfalso. destruct We as (I & _). rewrite K in I. destruct I.
        -- exfalso. destruct We as (I & _). rewrite K in I. destruct I.
        -- exfalso. destruct We as (I & _). rewrite K in I. destruct I.
        -- destruct (classic (fed e)) as [Fe|Fe].
           ++ destruct (src_before_in (fun y => In y l) e) as (A1 & A2 & _); auto. rewrite IHc. tauto.
           ++ assert (src e = e) as -> by (apply NNPP; exact Fe). tauto.
        -- exfalso. destruct We as (I & _). rewrite K in I. destruct I.
        -- destruct (classic (fed e)) as [Fe|Fe].
           ++ destruct (src_before_in (fun y => In y l) e) as (A1 & A2 & _); auto. rewrite IHc. tauto.
           ++ assert (src e = e) as -> by (apply NNPP; exact Fe). tauto.
        -- exfalso. destruct We as (I & _). rewrite K in I. destruct I.
        -- exfalso. destruct We as (I & _). rewrite K in I. destruct I.
        -- assert (l' e) as Le by (apply We; unfold cond; now rewrite K). destruct (classic (B (src e))) as [Bs|Bs].
           ++ rewrite D, (naw_read (fun y => In y l) e), <- IHw; auto. tauto.
           ++ assert (~ depr rfA m (src e)); [|tauto]. intros Dr. apply Bs. apply depr_beta; auto.
              apply Rest. apply (src_before_in (fun y => In y l) e); auto. now apply naw_fed.
        -- rewrite (src_na e K) in D. rewrite <- Read; auto; [tauto|unfold rd; now rewrite K].
      * destruct (knd e) eqn:K; tauto.
    + intros r. simpl. rewrite IHc. split.
      * intros [(-> & Be & (Re & Ne) & H1)|(N & H1 & H2)]; [|tauto]. split; [auto|split; [split; auto|]]. now apply Read.
      * intros ([<-|Hr] & (Re & Ne) & D).
        -- left. assert (B e) as Be by (apply depr_beta; auto; now apply Rest). repeat split; auto. now apply Read.
        -- right. split; [|split; [auto|split; [split; auto|auto]]]. intros ->. apply HQ in Hr.
           exact (proj1 Total _ (proj2 (proj2 Hr))).
Qed.
End Poison.

(* for what [normal_form_searched] finds: a word is marked iff who reads it in beta depends on the pivot, and then it is no
   CPU *)
Section Searched.
Context {U : slots} (ord : order) (P : program) (S : ev -> Prop) (m pr : ev) (S' l' : ev -> Prop) (L : relation ev)
  (C lX : ev -> Prop).
Hypothesis H : searched ord P S m pr S' l' L C lX.
Notation B := (least ord S S' l' L C).
Notation sg := (around B m pr L).
Notation rfA := (rf_in S (acting m pr l' lX) sg).

Lemma searched_wf : wfS S.
Proof. exact (t_S _ (proj1 (proj2 (proj1 (n_violating _ _ _ _ _ _ _ _ _ _ H))))). Qed.
Lemma searched_beta e : B e -> S' e /\ noninit e.
Proof.
  destruct (n_machine _ _ _ _ _ _ _ _ _ _ H) as (_ & W' & _ & It & _).
  intros Be; induction Be as [e He|b x Hb (Sb & Ib) Sx K|b x Hb (Sb & Ib) Sx Cf K|b x Hb (Sb & Ib) Kb Sx Kx Lx Lo N K|
    b r Hb (Sb & Ib) Kb (Sr & Kr & _) Lo N].
  - destruct (n_meets _ _ _ _ _ _ _ _ _ _ H e He) as (A1 & A2 & _). auto.
  - split; auto. exact (po_init_r _ _ (keeps_po (ord:=ord) (S:=S) b x K)).
  - split; auto. intros Kx. exact (sto_asym _ _ _ _ (n_total _ _ _ _ _ _ _ _ _ _ H) K (It x b Sx Sb Kx Ib)).
  - destruct (naw_facts x Kx) as (Px & _ & Ks & _). split; [exact (wf_down _ W' _ _ Px Sx)|unfold noninit; congruence].
  - split; [auto|unfold noninit; congruence].
Qed.

Theorem poison_is_dependence l e : along S' L (e :: l) -> B e -> rd e ->
  (depr rfA m e <-> word (marked B l' (begun (wr lX m) m) l) (loc e)) /\
  (cpu e -> ~ word (marked B l' (begun (wr lX m) m) l) (loc e)).
Proof.
  intros Al Be Re. destruct (n_machine _ _ _ _ _ _ _ _ _ _ H) as (_ & W' & _ & It & _ & _ & Po & Adj).
  pose proof (n_rest _ _ _ _ _ _ _ _ _ _ H) as Rest.
  assert (forall c, B c -> cpu c -> rd c -> ~ depr rfA m c) as Clean.
  { intros c Bc Cc _. apply (n_poison _ _ _ _ _ _ _ _ _ _ H); auto. apply Rest. now apply searched_beta. }
  assert (S m /\ S pr /\ (pr = m \/ knd pr = NAR)) as Pv.
  { pose proof (proj1 (n_last _ _ _ _ _ _ _ _ _ _ H)) as Sm. split; auto.
    destruct (n_class _ _ _ _ _ _ _ _ _ _ H) as [(_ & Q)|(K & Q)]; rewrite Q; auto.
    destruct (naw_facts m K) as (Pm & _ & Ks & _). split; auto. exact (wf_down _ searched_wf _ _ Pm Sm). }
  assert (wr (acting m pr l' lX) m <-> wr lX m) as Wm by (unfold wr, acting, M; tauto).
  assert (forall w, S' w -> fed w -> B (src w) -> B w) as F1.
  { intros w Sw Nw Bs. apply b_keep with (src w); auto. now apply k_oppo, src_oppo. }
  assert (forall a b, S' a -> S' b -> conflict l' a b -> L a b -> B a -> B b) as F4.
  { intros a b Sa Sb Cf K Ba. now apply b_conf with a. }
  inversion Al as [|l0 e0 Al' Se Ie HQ]; subst.
  assert (depr rfA m e <-> word (marked B l' (begun (wr lX m) m) l) (loc e)) as D; [|split; [exact D|]].
  2:{ intros Ce. rewrite <- D. now apply Clean. }
  rewrite (proj1 (marked_mean S S' l' lX B m pr L Pv Rest (n_total _ _ _ _ _ _ _ _ _ _ H) Adj Po
    (fun a b => wf_down _ W' a b) searched_beta F1 F4 Clean (wr lX m) Wm l Al') (loc e)).
  rewrite (dep_read S S' l' lX B m pr L Pv Rest (n_total _ _ _ _ _ _ _ _ _ _ H) searched_beta F1 F4 e Be Re).
  apply poisoned_ext. intros y. symmetry. apply HQ.
Qed.
End Searched.
