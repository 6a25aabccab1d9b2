(* In every run that is drawn along a flow graph, no more completions are outstanding than Relaxation._most_unpolled says. *)
Require Import List Arith Bool Lia Classical Relations Sorted.
Import ListNotations.
From RR Require Import Model Hardware Orders Rules Search Along Counted Marks FirstHalf Filter Critical Worklist FlowGraphs.

Lemma in_from_point {U : events} {K : searchable} (arcs : list arc) t p a :
  In a (from_point arcs t p) <-> In a arcs /\ a_thr a = t /\ a_from a = p.
Proof. unfold from_point. rewrite filter_In, andb_true_iff, !Nat.eqb_eq. tauto. Qed.

Section Outstanding.
Context {U : events} {K : searchable}.
Variables (arcs : list arc) (entry : nat -> nat) (fuel : nat).
Notation drawn := (drawn arcs entry).
Notation quiet := (quiet arcs).

Lemma at_most_refl u : at_most u u = true.
Proof. destruct u; simpl; auto. apply Nat.leb_refl. Qed.
Lemma at_most_trans u v w : at_most u v = true -> at_most v w = true -> at_most u w = true.
Proof. destruct u, v, w; simpl; auto; try discriminate. rewrite !Nat.leb_le. lia. Qed.
Lemma higher_l u v : at_most u (higher u v) = true.
Proof. unfold higher. destruct (at_most u v) eqn:Q; auto using at_most_refl. Qed.
Lemma higher_r u v : at_most v (higher u v) = true.
Proof.
  unfold higher. destruct (at_most u v) eqn:Q; auto using at_most_refl.
  destruct u as [n|], v as [n'|]; simpl in *; auto; try discriminate. apply Nat.leb_gt in Q. apply Nat.leb_le. lia.
Qed.

(* what is said of a point *)
Definition counts (s s' : nat * bound) := fst s = fst s' /\ at_most (snd s') (snd s) = true.
Lemma most_closed t q l : most_unpolled arcs entry fuel t q = Some l -> covered counts l (entry t, Some 0) /\
  forall e s, In e l -> In s (unpolled_next arcs t q e) -> covered counts l s.
Proof.
  apply explore_closed; unfold counts; simpl.
  - intros (p, u). split; auto using at_most_refl.
  - intros (p, u) (p', u') (p'', u'') (-> & H) (-> & H'). simpl in *. eauto using at_most_trans.
  - intros (p, u) (p', u') Q H. apply Nat.eqb_eq in Q. simpl in *. auto.
  - intros (p, u) (p', u') Q. apply Nat.eqb_eq in Q. simpl in *. auto using higher_l.
  - intros (p, u) (p', u') Q. apply Nat.eqb_eq in Q. simpl in *. auto using higher_r.
Qed.
Lemma unpolled_mono q u v a w : at_most u v = true -> unpolled_after q u a = Some w ->
  exists w', unpolled_after q v a = Some w' /\ at_most w w' = true.
Proof.
  unfold unpolled_after. intros H. destruct (silent a); [intros Q; injection Q as <-; eauto|].
  destruct (isk a_kind Poll a && mine a_qp q a).
  - destruct u as [[|n]|], v as [[|n']|]; simpl in H; try discriminate; intros Q; injection Q as <-; eexists;
      (split; [reflexivity|simpl; auto]).
  - destruct (a_sgn a && mine a_qp q a).
    + destruct u as [n|], v as [n'|]; try discriminate; intros Q; injection Q as <-; eexists; (split; [reflexivity|auto]);
        simpl in *; try (destruct (n <? MOST_UNPOLLED); auto; fail).
      apply Nat.leb_le in H. destruct (Nat.ltb_spec n MOST_UNPOLLED), (Nat.ltb_spec n' MOST_UNPOLLED); simpl; auto; [|lia].
      apply Nat.leb_le. lia.
    + intros Q; injection Q as <-. eauto.
Qed.
Section Table.
Variables (t : nat) (q : qpair) (l : list (nat * bound)).
Hypothesis Ql : most_unpolled arcs entry fuel t q = Some l.
Lemma table_step a u w : In a arcs -> a_thr a = t -> covered counts l (a_from a, u) -> unpolled_after q u a = Some w ->
  covered counts l (a_to a, w).
Proof.
  intros Ia Ta ((p, v) & Hv & Qp & Le) Q. simpl in Qp, Le. destruct (unpolled_mono q u v a w Le Q) as (w' & Q' & Le').
  destruct (proj2 (most_closed _ _ _ Ql) (p, v) (a_to a, w') Hv) as ((p', v') & Hv' & Qp' & Le2).
  - unfold unpolled_next. apply in_flat_map. exists a. split; [apply in_from_point; auto|]. simpl. rewrite Q'. now left.
  - exists (p', v'). split; auto. split; auto. simpl in *. eauto using at_most_trans.
Qed.
Lemma table_quiet p p' : quiet t p p' -> forall u, covered counts l (p, u) -> covered counts l (p', u).
Proof.
  induction 1 as [p|p a p' Ia Qa _ IH]; intros u C; auto. apply in_from_point in Ia. destruct Ia as (Ia & Ta & Fa).
  apply IH. apply (table_step a u); auto; [congruence|]. unfold unpolled_after, silent. now rewrite Qa.
Qed.

Variables (E : ev -> Prop) (edge : ev -> arc).
Hypotheses (W : wfE E) (X : wfx E) (D : drawn E edge).
(* the completions of the queue pair that nobody has polled before y *)
Definition left_at y a := E a /\ sgn a = true /\ qp a = q /\ po a y /\ forall p, po p y -> ~ pf a p.
Section Step.
Variables z y : ev.
Hypotheses (Ez : E z) (Ey : E y) (Po : po z y) (Next : forall c, po z c -> ~ po c y).
Lemma step_nz : noninit z. Proof. eapply po_init_l; eauto. Qed.
Lemma before_next a : E a -> po a y -> a = z \/ po a z.
Proof.
  intros Ea Pa. destruct (wf_total _ W a z) as [|[|H]]; auto using step_nz; [eapply po_init_l; eauto| |].
  - rewrite (po_thr _ _ Pa). now rewrite (po_thr _ _ Po).
  - destruct (Next a H Pa).
Qed.
Lemma poll_of a p : sgn a = true -> pf a p -> knd p = Poll /\ qp p = qp a /\ po a p.
Proof. intros _ P. destruct (pf_ok _ _ P) as (H & _ & Kp & Q). auto. Qed.
Lemma left_same : (sgn z = true -> qp z <> q) -> (knd z = Poll -> qp z <> q) -> forall a, left_at z a <-> left_at y a.
Proof.
  intros N N' a. unfold left_at. split; intros (Ea & Sa & Qa & Pa & H); split; auto; split; auto; split; auto.
  - split; [eapply po_trans; eauto|]. intros p Pp Z. assert (E p) as Ep by (eapply wf_down; eauto).
    destruct (before_next p Ep Pp) as [->|Pz]; [|exact (H p Pz Z)]. destruct (poll_of _ _ Sa Z) as (Kp & Q & _).
    apply N'; congruence.
  - split.
    + destruct (before_next a Ea Pa) as [->|]; auto. destruct (N Sa Qa).
    + intros p Pp. apply H. eapply po_trans; eauto.
Qed.
Lemma left_completion n : sgn z = true -> qp z = q -> counted n (left_at z) -> counted (S n) (left_at y).
Proof.
  intros Sz Qz C. apply counted_add with (P := left_at z) (x := z); auto.
  - intros (_ & _ & _ & H & _). exact (po_irr _ H).
  - intros a. unfold left_at. split.
    + intros (Ea & Sa & Qa & Pa & H). destruct (before_next a Ea Pa) as [|Pz]; auto. right. repeat split; auto.
      intros p Pp. apply H. eapply po_trans; eauto.
    + intros [->|(Ea & Sa & Qa & Pa & H)].
      * repeat split; auto. intros p Pp Z. destruct (poll_of _ _ Sz Z) as (_ & _ & Pz). exact (Next p Pz Pp).
      * repeat split; auto; [eapply po_trans; eauto|]. intros p Pp Z. assert (E p) as Ep by (eapply wf_down; eauto).
        destruct (before_next p Ep Pp) as [->|Pz]; [|exact (H p Pz Z)]. destruct (poll_of _ _ Sa Z) as (Kp & _ & _).
        apply sgn_nicw in Sz. rewrite Kp in Sz. exact Sz.
Qed.
Lemma left_poll n : knd z = Poll -> qp z = q -> counted n (left_at z) -> n > 0 /\ counted (pred n) (left_at y).
Proof.
  intros Kz Qz C. destruct (wf_poll _ W z Ez Kz) as (w0 & P0). destruct (x_sgn _ X w0 z Ez P0) as (w & Sw & Pw & _).
  destruct (poll_of _ _ Sw Pw) as (_ & Qw & Pwz). assert (E w) as Ew by (eapply wf_down; eauto).
  apply counted_remove with (P := left_at z) (x := w); auto.
  - repeat split; auto; [congruence|]. intros p Pp Z. assert (E p) as Ep by (eapply wf_down; eauto).
    rewrite (x_pf _ X w p z Sw Ep Ez Z Pw) in Pp. exact (po_irr _ Pp).
  - intros a. unfold left_at. split.
    + intros (Ea & Sa & Qa & Pa & H). assert (a <> w) as N by (intros ->; exact (H z Po Pw)). split; auto.
      destruct (before_next a Ea Pa) as [->|Pz].
      * apply sgn_nicw in Sa. rewrite Kz in Sa. destruct Sa.
      * repeat split; auto. intros p Pp. apply H. eapply po_trans; eauto.
    + intros ((Ea & Sa & Qa & Pa & H) & N). repeat split; auto; [eapply po_trans; eauto|]. intros p Pp Z.
      assert (E p) as Ep by (eapply wf_down; eauto). destruct (before_next p Ep Pp) as [->|Pz]; [|exact (H p Pz Z)].
      apply N. exact (pf_one _ _ _ Sa Sw Z Pw).
Qed.
End Step.

Lemma arc_mine e : E e -> noninit e -> mine a_qp q (edge e) = true <-> qp e = q.
Proof.
  intros Ee Ne. destruct (d_arc _ _ _ _ D e Ee Ne) as (_ & _ & _ & Q & _). unfold mine. rewrite Q.
  destruct (qp_dec (qp e) q); intuition congruence.
Qed.
Lemma arc_kind e : E e -> noninit e -> a_kind (edge e) = knd e /\ silent (edge e) = false.
Proof. intros Ee Ne. destruct (d_arc _ _ _ _ D e Ee Ne) as (_ & _ & Q & _). unfold a_kind, silent. now rewrite Q. Qed.
(* one event of the run in the table *)
Lemma left_step z y n : E z -> E y -> po z y -> (forall c, po z c -> ~ po c y) -> counted n (left_at z) ->
  exists n' w, counted n' (left_at y) /\ unpolled_after q (Some n) (edge z) = Some w /\ at_most (Some n') w = true.
Proof.
  intros Ez Ey Po Next C. pose proof (step_nz z y Po) as Nz. destruct (arc_kind z Ez Nz) as (Ak & As).
  destruct (d_arc _ _ _ _ D z Ez Nz) as (_ & _ & _ & _ & _ & Sg). unfold unpolled_after, isk. rewrite As, Ak, Sg.
  destruct (mine a_qp q (edge z)) eqn:My; rewrite ?andb_false_r, ?andb_true_r.
  2: { assert (qp z <> q) as N by (intros Z; apply (arc_mine z Ez Nz) in Z; congruence).
       exists n, (Some n). split; [|split; [auto|apply at_most_refl]].
       apply counted_ext with (left_at z); auto. apply left_same; auto. }
  apply (arc_mine z Ez Nz) in My. destruct (kind_dec (knd z) Poll) as [Kz|Kz].
  - destruct (left_poll z y Ez Ey Po Next n Kz My C) as (Hn & C'). destruct n as [|n]; [lia|]. simpl in C'.
    exists n, (Some n). split; [auto|split; [auto|apply at_most_refl]].
  - destruct (sgn z) eqn:Sz.
    + exists (S n). eexists. split; [now apply (left_completion z y)|split; [reflexivity|]].
      destruct (n <? MOST_UNPOLLED); auto. apply at_most_refl.
    + exists n, (Some n). split; [|split; [auto|apply at_most_refl]].
      apply counted_ext with (left_at z); auto. apply left_same; auto. congruence.
Qed.
(* along the events before y *)
Lemma table_left path : forall y, E y -> noninit y -> thr y = t -> StronglySorted po path ->
  (forall z, In z path <-> E z /\ po z y) ->
  exists n, counted n (left_at y) /\ covered counts l (a_from (edge y), Some n).
Proof.
  induction path as [|z path IH] using rev_ind; intros y Ey Ny Ty S I.
  - assert (forall b, ~ po b y) as N by (intros b Pb; apply (I b); split; auto; eapply wf_down; eauto).
    exists 0. split; [apply counted_none; intros a (_ & _ & _ & Pa & _); exact (N a Pa)|].
    apply (table_quiet (entry t)); [|apply most_closed with (q := q); auto]. rewrite <- Ty. now apply (d_first _ _ _ _ D).
  - assert (E z /\ po z y) as (Ez & Po) by (apply I, in_app_iff; right; now left).
    assert (forall a, In a path -> po a z) as Hz.
    { clear - S. induction path as [|a path IH]; intros b [].
      - subst. simpl in S. inversion S as [|? ? _ F]; subst. rewrite Forall_forall in F. apply F, in_app_iff. right;
        now left.
      - simpl in S. inversion S; subst. auto. }
    assert (forall c, po z c -> ~ po c y) as Next.
    { intros c Pc Pc'. assert (In c (path ++ [z])) as Hc by (apply I; split; auto; eapply wf_down; eauto).
      apply in_app_iff in Hc. destruct Hc as [Hc|[<-|[]]]; [|exact (po_irr _ Pc)].
      exact (po_irr _ (po_trans _ _ _ Pc (Hz c Hc))). }
    destruct (IH z) as (n & C & T); auto.
    + eapply po_init_l; eauto.
    + now rewrite (po_thr _ _ Po).
    + clear - S. induction path as [|a path IH]; [constructor|]. simpl in S. inversion S as [|? ? S' F]; subst.
      constructor; auto. rewrite Forall_forall in *. intros b Hb. apply F, in_app_iff. now left.
    + intros a. split; [intros Ha; split; auto; apply I, in_app_iff; now left|]. intros (Ea & Pa).
      assert (In a (path ++ [z])) as Hi by (apply I; split; auto; eapply po_trans; eauto).
      apply in_app_iff in Hi. destruct Hi as [|[<-|[]]]; auto. destruct (po_irr _ Pa).
    + destruct (left_step z y n Ez Ey Po Next C) as (n' & w & C' & Q & Le). exists n'. split; auto.
      assert (covered counts l (a_to (edge z), w)) as T'.
      { assert (noninit z) as Nz by (eapply po_init_l; eauto). destruct (d_arc _ _ _ _ D z Ez Nz) as (Ia & Ta & _).
        apply (table_step (edge z) (Some n)); auto. rewrite Ta, (po_thr _ _ Po). auto. }
      apply (table_quiet (a_to (edge z))); [rewrite <- Ty; now apply (d_next _ _ _ _ D)|].
      destruct T' as (e & He & Qe & Le'). exists e. split; auto. split; auto. exact (at_most_trans _ _ _ Le Le').
Qed.
End Table.

Lemma highest_least p l e : In e l -> fst e = p -> exists u, highest p l = Some u /\ at_most (snd e) u = true.
Proof.
  intros H <-. induction l as [|a l IH]; [destruct H|]. simpl. destruct H as [->|H].
  - rewrite Nat.eqb_refl. destruct (highest (fst e) l); eexists; (split; [reflexivity|]); auto using higher_r, at_most_refl.
  - destruct (IH H) as (u & -> & Le). destruct (fst a =? fst e); eexists; (split; [reflexivity|]); auto.
    eauto using at_most_trans, higher_l.
Qed.
(* Relaxation._outstanding: fewer completions than it says are before w, so as many polls take that of w or a younger one *)
Theorem outstanding_bounds E edge w n : wfE E -> wfx E -> drawn E edge -> E w -> noninit w -> ~ cpu w ->
  outstanding arcs entry fuel (qp w) (edge w) = Some n -> exists u, u < n /\ counted u (pending E w).
Proof.
  intros W X D Ew Nw Cw. unfold outstanding. destruct (d_arc _ _ _ _ D w Ew Nw) as (Ia & Ta & _ & _ & _ & Sg). rewrite Ta.
  destruct (most_unpolled arcs entry fuel (thr w) (qp w)) as [l|] eqn:Ql; [|discriminate].
  destruct (wf_fin _ W) as (l0 & H0).
  destruct (sorted_list po) with (P := fun z => E z /\ po z w) (l0 := l0) as (path & So & I).
  { exact po_trans. }
  { intros a (Ea & _). auto. }
  { intros a c (Ea & Pa) (Ec & Pc). apply (wf_total _ W); auto; try (eapply po_init_l; eauto).
    rewrite (po_thr _ _ Pa). symmetry. now apply po_thr. }
  destruct (table_left (thr w) (qp w) l Ql E edge W X D path w) as (u & C & T); auto.
  assert (counted u (pending E w)) as Cp by exact C. intros H. exists u. split; [|auto].
  assert (exists v, covered counts l (a_to (edge w), v) /\ at_most (Some (if sgn w then S u else u)) v = true) as (v &
    T' & Le).
  { assert (exists v, unpolled_after (qp w) (Some u) (edge w) = Some v /\ at_most (Some (if sgn w then S u else u)) v = true)
      as (v & Qv & Le).
    { destruct (arc_kind E edge D w Ew Nw) as (Ak & As). unfold unpolled_after, isk. rewrite As, Ak, Sg.
      rewrite (proj2 (arc_mine (qp w) E edge D w Ew Nw)), !andb_true_r; auto.
      destruct (kind_dec (knd w) Poll) as [Kw|_]; [destruct Cw; unfold cpu; rewrite Kw; exact Logic.I|].
      destruct (sgn w); [destruct (u <? MOST_UNPOLLED)|]; eexists; (split; [reflexivity|]); auto using at_most_refl. }
    exists v. split; auto. eapply table_step; eauto. }
  destruct T' as (e & He & Qe & Le'). simpl in Qe, Le'. destruct (highest_least (a_to (edge w)) l e He Qe) as (h & Hh & Le2).
  rewrite Hh, Sg in H. pose proof (at_most_trans _ _ _ Le (at_most_trans _ _ _ Le' Le2)) as Z.
  destruct (sgn w).
  - subst h. apply Nat.leb_le in Z. lia.
  - destruct h as [h|]; [|discriminate]. simpl in H. injection H as <-. apply Nat.leb_le in Z. lia.
Qed.
End Outstanding.
