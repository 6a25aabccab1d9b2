(* Theorem 9 for flow graphs: what is in A or is the pivot behind an event of B is what Relaxation.overtaking lists, with the
   paths of the thread joined as it joins them. *)
Require Import List Arith Bool Lia Classical Relations.
Import ListNotations.
From RR Require Import Model Hardware Orders Cells Rules Search Along Counted Marks Least FirstHalf Filter StoreFilter Critical
  Worklist FlowGraphs Outstanding.

(* what is known, where it is joined *)
Lemma weaker_refl k : weaker k k.
Proof. split; [auto|split; [auto|]]. intros n H. exists n. auto. Qed.
Lemma weaker_trans k1 k2 k3 : weaker k1 k2 -> weaker k2 k3 -> weaker k1 k3.
Proof.
  intros (A1 & A2 & A3) (B1 & B2 & B3). split; [auto|split; [auto|]]. intros n H. destruct (A3 n H) as (n' & H' & L).
  destruct (B3 n' H') as (n2 & H2 & L2). exists n2. split; auto. lia.
Qed.
Definition less_known (s s' : nat * known) := fst s = fst s' /\ weaker (snd s) (snd s').
Lemma same_key_iff s s' : same_key s s' = true -> fst s = fst s' /\ (forall a, kbeta (snd s) a = kbeta (snd s') a) /\
  kfenced (snd s) = kfenced (snd s').
Proof.
  unfold same_key. rewrite !andb_true_iff, Nat.eqb_eq. intros ((Q & H) & F). apply eqb_prop in F.
  split; auto. split; auto. intros a. apply eqb_prop. exact (every_spec _ H a).
Qed.

(* and behind stores *)
Lemma less_refl {U : events} (k : behind) : less_behind k k.
Proof. intros q n H. eauto. Qed.
Definition fewer_known {U : events} {K : searchable} (s s' : nat * behind) := fst s = fst s' /\ less_behind (snd s) (snd s').

Section Overtaking.
Context {U : events} {K : searchable} (hw : hardware) {OK : hardware_ok hw} {SO : search_ok hw}.
Variables (arcs : list arc) (entry : nat -> nat) (fuel : nat).
Notation drawn := (drawn arcs entry).
Notation quiet := (quiet arcs).
Notation out := (outstanding arcs entry fuel).
Notation after_arc := (after_arc hw arcs entry fuel).

Lemma known_closed b k l : known_behind hw arcs entry fuel b k = Some l -> covered less_known l (a_to b, k) /\
  forall e s, In e l -> In s (known_next hw arcs entry fuel (a_thr b) (a_qp b) e) -> covered less_known l s.
Proof.
  apply explore_closed; unfold less_known.
  - intros s. split; auto using weaker_refl.
  - intros s1 s2 s3 (-> & H) (-> & H'). split; auto. eapply weaker_trans; eauto.
  - intros now old Q H. apply same_key_iff in Q. destruct Q as (Q & Hb & Hf). split; auto.
    split; [intros a; now rewrite Hb|split; [now rewrite Hf|]]. intros n Kp. unfold no_later in H. rewrite Kp in H.
    destruct (kpolls (snd now)) as [[n'|]|]; try discriminate. apply Nat.leb_le in H. eauto.
  - intros now old Q. simpl. split; auto. split; [auto|split; [auto|]]. simpl. intros n. unfold later.
    destruct (kpolls (snd old)) as [u|], (kpolls (snd now)) as [v|]; try discriminate. intros H. injection H as H.
    pose proof (higher_l u v) as Le. rewrite H in Le. destruct u as [u|]; [|discriminate]. apply Nat.leb_le in Le. eauto.
  - intros now old Q. apply same_key_iff in Q. destruct Q as (Q & Hb & Hf). simpl. split; auto. split; [|split]; simpl.
    + intros a. now rewrite Hb.
    + now rewrite Hf.
    + intros n. unfold later. destruct (kpolls (snd old)) as [u|], (kpolls (snd now)) as [v|]; try discriminate.
      intros H. injection H as H. pose proof (higher_r u v) as Le. rewrite H in Le. destruct v as [v|]; [|discriminate].
      apply Nat.leb_le in Le. eauto.
Qed.
Lemma known_step b k l a p k1 k2 : known_behind hw arcs entry fuel b k = Some l -> In (p, k1) l ->
  In a (from_point arcs (a_thr b) p) -> after_arc (a_qp b) k1 a = Some k2 ->
  exists k3, In (a_to a, k3) l /\ weaker k3 k2.
Proof.
  intros Q H Ha Qa. destruct (proj2 (known_closed _ _ _ Q) (p, k1) (a_to a, k2) H) as ((p3, k3) & H3 & Q3 & W3).
  - unfold known_next. apply in_flat_map. exists a. split; auto. simpl. rewrite Qa. now left.
  - simpl in *. subst. eauto.
Qed.

Lemma store_closed b l : behind_store arcs entry fuel b = Some l -> covered fewer_known l (a_to b, Behind [] []) /\
  forall e s, In e l -> In s (store_next arcs entry fuel (a_thr b) e) -> covered fewer_known l s.
Proof.
  apply explore_closed; unfold fewer_known.
  - intros s. split; auto using less_refl.
  - intros s1 s2 s3 (-> & H) (-> & H'). split; auto. intros q n Hn. destruct (H q n Hn) as (n1 & H1 & L1).
    destruct (H' q n1 H1) as (n2 & H2 & L2). exists n2. split; auto. lia.
  - intros now old Q H. unfold same_behind in Q. rewrite !andb_true_iff, Nat.eqb_eq in Q. split; [symmetry; tauto|].
    intros q n Hn. unfold none_later in H. rewrite forallb_forall in H. specialize (H _ Hn). apply existsb_exists in H.
    destruct H as ((q' & u) & Hi & H). rewrite andb_true_iff, of_queue_iff in H. simpl in H. destruct H as (-> & H).
    destruct u as [u|]; [|discriminate]. apply Nat.leb_le in H. eauto.
  - intros now old _. split; auto. simpl. intros q n Hn. unfold later_of in Hn. apply in_flat_map in Hn.
    destruct Hn as ((q0 & u) & Hi & Hn). simpl in Hn. destruct (find _ _) as [(q1 & v)|]; [|destruct Hn].
    destruct Hn as [Hn|[]]. inversion Hn; subst. pose proof (higher_l u v) as Le. rewrite H1 in Le.
    destruct u as [u|]; [|discriminate]. apply Nat.leb_le in Le. eauto.
  - intros now old Q. unfold same_behind in Q. rewrite !andb_true_iff, Nat.eqb_eq in Q. split; [symmetry; tauto|].
    simpl. intros q n Hn. unfold later_of in Hn. apply in_flat_map in Hn.
    destruct Hn as ((q0 & u) & _ & Hn). simpl in Hn. destruct (find _ _) as [(q1 & v)|] eqn:Fi; [|destruct Hn].
    apply find_some in Fi. destruct Fi as (Hi & Qq). apply of_queue_iff in Qq. simpl in Qq. subst q1.
    destruct Hn as [Hn|[]]. inversion Hn; subst. pose proof (higher_r u v) as Le. simpl in H1. rewrite H1 in Le.
    destruct v as [v|]; [|discriminate]. apply Nat.leb_le in Le. eauto.
Qed.
Lemma store_step b l a p k1 k2 : behind_store arcs entry fuel b = Some l -> In (p, k1) l ->
  In a (from_point arcs (a_thr b) p) -> store_arc arcs entry fuel k1 a = Some k2 ->
  exists k3, In (a_to a, k3) l /\ less_behind k3 k2.
Proof.
  intros Q H Ha Qa. destruct (proj2 (store_closed _ _ Q) (p, k1) (a_to a, k2) H) as ((p3, k3) & H3 & Q3 & W3).
  - unfold store_next. apply in_flat_map. exists a. split; auto. simpl. rewrite Qa. now left.
  - simpl in *. subst. eauto.
Qed.

Variables (E : ev -> Prop) (edge : ev -> arc).
Hypotheses (W : wfE E) (X : wfx E) (D : drawn E edge).
Lemma arc_of e : E e -> noninit e -> In (edge e) (from_point arcs (thr e) (a_from (edge e))) /\ a_kind (edge e) = knd e /\
  silent (edge e) = false /\ a_qp (edge e) = qp e.
Proof.
  intros Ee Ne. destruct (d_arc _ _ _ _ D e Ee Ne) as (I & T & _ & Q & _). destruct (arc_kind arcs entry E edge D e Ee Ne).
  split; [apply in_from_point; auto|auto].
Qed.

(* the way of the thread from b to x *)
Section Way.
Variable t : nat.
Definition hop p (o : option ev) p' := match o with
  | None => exists a, In a (from_point arcs t p) /\ a_type a = None /\ a_to a = p'
  | Some y => E y /\ noninit y /\ thr y = t /\ a_from (edge y) = p /\ a_to (edge y) = p'
  end.
Lemma way_quiet p p' path p2 : quiet t p p' -> way hop p' path p2 -> way hop p path p2.
Proof. induction 1 as [p|p a p' I Q _ IH]; intros Wy; auto. apply way_silent with (a_to a); [|auto]. exists a. auto. Qed.
Lemma way_between path : forall b x, E x -> thr x = t -> po b x -> between E b path x ->
  way hop (a_to (edge b)) path (a_from (edge x)).
Proof.
  induction path as [|y path IH]; intros b x Ex Tx Po (I & O).
  - apply way_quiet with (a_from (edge x)); [|constructor]. rewrite <- Tx. apply (d_next _ _ _ _ D); auto.
    intros c Pc Pc'. assert (E c) as Ec by (eapply wf_down; eauto). now apply (I c).
  - destruct (proj1 (I y) (or_introl eq_refl)) as (Ey & Pb & Px).
    assert (noninit y) as Ny by (eapply po_init_l; eauto).
    assert (thr y = t) as Ty by (rewrite (po_thr _ _ Px); auto).
    assert (forall z, In z path -> po y z) as Hy.
    { intros z Hz. apply in_split in Hz. destruct Hz as (l1 & l2 & ->).
      destruct (O (y :: l1) z (l2 ++ [x])) as (_ & _ & H); [simpl; now rewrite <- app_assoc|].
      apply H. simpl. auto. }
    apply way_quiet with (a_from (edge y)).
    { rewrite <- Ty. apply (d_next _ _ _ _ D); auto. intros c Pc Pc'.
      assert (In c (y :: path)) as Hc by (apply I; repeat split; auto; [eapply wf_down; eauto|eapply po_trans; eauto]).
      destruct Hc as [->|Hc]; [exact (po_irr _ Pc')|]. exact (po_irr _ (po_trans _ _ _ Pc' (Hy c Hc))). }
    apply way_event with (a_to (edge y)); [repeat split; auto|]. apply IH; auto. split.
    + intros z. split.
      * intros Hz. destruct (proj1 (I z) (or_intror Hz)) as (Ez & _ & Pz). auto.
      * intros (Ez & Pz & Pz'). assert (In z (y :: path)) as Hz by (apply I; repeat split; auto; eapply po_trans; eauto).
        destruct Hz as [->|]; auto. destruct (po_irr _ Pz).
    + intros l1 z l2 Q. destruct (O (y :: l1) z l2) as (Ez & Nz & H); [simpl; now rewrite Q|]. split; auto. split; auto.
      intros c Hc. apply H. simpl in *. tauto.
Qed.
End Way.

Lemma walked_arc q k y : E y -> noninit y ->
  walked hw a_kind a_qp q (out q) k (edge y) = walked hw knd qp q (fun e => out q (edge e)) k y.
Proof.
  intros Ey Ny. destruct (arc_of y Ey Ny) as (_ & Ak & _ & Aq).
  unfold walked, forced_by_known, after_nic, completes_forcing, cpu_kind, isk, mine. now rewrite Ak, Aq.
Qed.
Lemma first_arc q y : E y -> noninit y ->
  first hw a_kind (out q) (edge y) = first hw knd (fun e => out q (edge e)) y.
Proof.
  intros Ey Ny. destruct (arc_of y Ey Ny) as (_ & Ak & _ & Aq).
  unfold first, after_nic, completes_forcing, isk. now rewrite Ak.
Qed.
Lemma store_walked_arc k y : E y -> noninit y ->
  store_walked a_kind a_qp out k (edge y) = store_walked knd qp (fun q e => out q (edge e)) k y.
Proof.
  intros Ey Ny. destruct (arc_of y Ey Ny) as (_ & Ak & _ & Aq).
  unfold store_walked, store_poll, store_nic, cpu_kind, isk. now rewrite Ak, Aq.
Qed.
Theorem theorem_9_graph_store B b x : parted hw E B -> B b -> store hw b -> E x -> ~ B x -> po b x ->
  may_overtake hw arcs entry fuel (edge b) (edge x) = true.
Proof.
  intros Pa Bb Sb Ex NB Po. destruct (p_in _ _ _ Pa b Bb) as (Eb & Nb).
  assert (noninit x) as Nx by (eapply po_init_r; eauto).
  destruct (between_exists E b x) as (path & Bt); auto. pose proof (way_between (thr b) path b x Ex) as Wy.
  specialize (Wy (eq_sym (po_thr _ _ Po)) Po Bt).
  destruct (arc_of b Eb Nb) as (Ib & Ak & As & Aq). destruct (d_arc _ _ _ _ D b Eb Nb) as (_ & Ta & _).
  destruct (arc_of x Ex Nx) as (_ & Akx & _ & _). unfold may_overtake.
  assert (waits hw (edge b) = true) as ->.
  { destruct Sb as (Fl & Kb). unfold waits, isk. rewrite Fl, Ak, Kb. reflexivity. }
  destruct (behind_store arcs entry fuel (edge b)) as [l|] eqn:Ql; auto.
  destruct (proj1 (store_closed _ _ Ql)) as ((p0, k0) & H0 & Q0 & W0). simpl in Q0, W0. subst p0.
  destruct (theorem_9_stores hw (fun q e => out q (edge e)) E B W X (p_R1 _ _ _ Pa) (p_R2 _ _ _ Pa)
    (fun w n Ew Nw Cw => outstanding_bounds arcs entry fuel E edge w n W X D Ew Nw Cw) b Bb Sb (hop (thr b))
    (fun p k => In (p, k) l)) with (p := a_to (edge b)) (path := path) (p2 := a_from (edge x)) (x := x) (k0 := k0)
    as (Fx & k & Hk); auto.
  - intros p p' k1 (a & Ia & Qa & <-) Hk. apply (store_step _ _ a p k1 k1 Ql Hk); [now rewrite Ta|].
    unfold store_arc, silent. now rewrite Qa.
  - intros p y p' k1 k2 (Ey & Ny & Ty & <- & <-) Hk Wk. destruct (arc_of y Ey Ny) as (Iy & _ & Sy & _).
    apply (store_step _ _ (edge y) (a_from (edge y)) k1 k2 Ql Hk); [now rewrite Ta, <- Ty|].
    unfold store_arc. now rewrite Sy, store_walked_arc.
  - apply Bt.
  - apply existsb_exists. exists (a_from (edge x), k). split; auto. simpl. rewrite Nat.eqb_refl. simpl.
    apply orb_true_iff. right. unfold forced_by_store, isk in *. now rewrite Akx, Fx.
Qed.
Theorem theorem_9_graph B b x : parted hw E B -> B b -> E x -> ~ B x -> po b x ->
  may_overtake hw arcs entry fuel (edge b) (edge x) = true.
Proof.
  intros Pa Bb Ex NB Po. destruct (classic (store hw b)) as [Sb|Sb]; [now apply (theorem_9_graph_store B)|].
  destruct (p_in _ _ _ Pa b Bb) as (Eb & Nb). assert (noninit x) as Nx by (eapply po_init_r; eauto).
  destruct (between_exists E b x) as (path & Bt); auto. pose proof (way_between (thr b) path b x Ex) as Wy.
  specialize (Wy (eq_sym (po_thr _ _ Po)) Po Bt).
  destruct (arc_of b Eb Nb) as (Ib & Ak & As & Aq). destruct (d_arc _ _ _ _ D b Eb Nb) as (_ & Ta & _).
  set (l := fun k => known_behind hw arcs entry fuel (edge b) k).
  assert (forall at_point : nat -> known -> Prop,
    (forall p p' k, hop (thr b) p None p' -> at_point p k -> exists k2, at_point p' k2 /\ weaker k2 k) ->
    (forall p y p' k k', hop (thr b) p (Some y) p' -> at_point p k ->
      walked hw knd qp (qp b) (fun e => out (qp b) (edge e)) k y = Some k' -> exists k2, at_point p' k2 /\ weaker k2 k') ->
    (forall k, first hw knd (fun e => out (qp b) (edge e)) b = Some k -> exists k0, at_point (a_to (edge b)) k0 /\
      weaker k0 k) ->
    cpu_kind knd b = false /\ first hw knd (fun e => out (qp b) (edge e)) b <> None /\
    exists k, at_point (a_from (edge x)) k /\ forced_by_known hw knd qp (qp b) k x = false) as H9.
  { intros at_point Hs He H0. apply (theorem_9_points hw (qp b) (fun e => out (qp b) (edge e)) E B) with
      (hop := hop (thr b)) (p := a_to (edge b)) (path := path); auto; try apply Pa;
      try apply Bt.
    intros w n Ew Nw Cw Qw. rewrite <- Qw. now apply outstanding_bounds. }
  unfold may_overtake. assert (waits hw (edge b) = false) as ->.
  { apply not_true_iff_false. intros Z. apply Sb. unfold waits in Z. apply andb_true_iff in Z. destruct Z as (Fl & Z).
    split; [auto|]. unfold isk in Z. rewrite Ak in Z. destruct (kind_dec (knd b) LW); congruence. }
  rewrite As, Aq. simpl.
  assert (cpu_kind a_kind (edge b) = false) as ->.
  { destruct (H9 (fun _ _ => True)) as (Z & _); eauto using weaker_refl. unfold cpu_kind in *. now rewrite Ak. }
  simpl. rewrite first_arc; auto. destruct (first hw knd _ b) as [k|] eqn:Fk.
  2: { destruct (H9 (fun _ _ => True)) as (_ & Z & _); eauto using weaker_refl. }
  destruct (known_behind hw arcs entry fuel (edge b) k) as [tb|] eqn:Ql; auto.
  destruct (H9 (fun p k => In (p, k) tb)) as (_ & _ & k2 & H2 & F2).
  - intros p p' k1 (a & Ia & Qa & <-) Hk. apply (known_step _ _ _ a p k1 k1 Ql Hk); [now rewrite Ta|].
    unfold FlowGraphs.after_arc, silent. now rewrite Qa.
  - intros p y p' k1 k2 (Ey & Ny & Ty & <- & <-) Hk Wk. destruct (arc_of y Ey Ny) as (Iy & _ & Sy & _).
    apply (known_step _ _ _ (edge y) (a_from (edge y)) k1 k2 Ql Hk); [now rewrite Ta, <- Ty|].
    unfold FlowGraphs.after_arc. now rewrite Sy, Aq, walked_arc.
  - intros k' Q. injection Q as <-. destruct (proj1 (known_closed _ _ _ Ql)) as ((p0, k0) & H0 & Q0 & W0). simpl in *. subst.
    eauto.
  - apply existsb_exists. exists (a_from (edge x), k2). split; auto. simpl. rewrite Nat.eqb_refl. simpl.
    apply orb_true_iff. right. destruct (arc_of x Ex Nx) as (_ & Akx & _ & Aqx).
    unfold forced_by_known, cpu_kind, isk, mine in *. rewrite Akx, Aqx. now rewrite F2.
Qed.
End Overtaking.
