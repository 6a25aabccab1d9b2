(* The conflict graph that is computed of flow graphs has what Theorem 9 asks, for every program whose runs are drawn
   along them. *)
Require Import List Arith Bool Lia Classical Relations.
Import ListNotations.
From RR Require Import Model Hardware Orders Rules Traces NormalForm Search Along Marks Least FirstHalf Filter Critical
  Filtered FlowGraphs Outstanding Overtaking.

Section FlowCovers.
Context {U : events} {K : searchable} (hw : hardware) {OK : hardware_ok hw} {SO : search_ok hw}.
Variables (arcs : list arc) (entry : nat -> nat) (fuel : nat) (once : nat -> bool).
Notation drawn := (drawn arcs entry).

Section Drawn.
Variables (E : ev -> Prop) (edge : ev -> arc).
Hypotheses (W : wfE E) (D : drawn E edge).
Lemma arc_writes e : E e -> noninit e -> a_writes (edge e) = wr_b e.
Proof.
  intros Ee Ne. destruct (arc_kind arcs entry E edge D e Ee Ne) as (Ak & As). unfold a_writes, wr_b, noninit in *.
  rewrite As, Ak. destruct (knd e); auto; now destruct Ne.
Qed.
Lemma arc_reads e : E e -> noninit e -> a_reads (edge e) = rd_b e.
Proof. intros Ee Ne. destruct (arc_kind arcs entry E edge D e Ee Ne) as (Ak & _). unfold a_reads, rd_b. now rewrite Ak. Qed.
Lemma arc_touches e : E e -> noninit e -> (touches (edge e) = true <-> rd e \/ wr e).
Proof. intros Ee Ne. unfold touches. rewrite arc_writes, arc_reads, orb_true_iff, rd_iff, wr_iff; tauto. Qed.
Lemma arc_writes_iff e : E e -> noninit e -> (a_writes (edge e) = true <-> wr e).
Proof. intros Ee Ne. rewrite arc_writes, wr_iff; tauto. Qed.
Lemma arc_place e : E e -> noninit e -> In (edge e) arcs /\ a_thr (edge e) = thr e /\ a_loc (edge e) = loc e.
Proof. intros Ee Ne. destruct (d_arc _ _ _ _ D e Ee Ne) as (I & T & _ & _ & L & _). auto. Qed.
Lemma arc_conflict e e' : E e -> E e' -> noninit e -> noninit e' -> conflict e e' ->
  touches (edge e) = true /\ touches (edge e') = true /\ a_loc (edge e) = a_loc (edge e') /\
  (a_writes (edge e) = true \/ a_writes (edge e') = true).
Proof.
  intros Ee Ee' Ne Ne' (A1 & A2 & A3 & A4 & _). destruct (arc_place e Ee Ne) as (_ & _ & ->).
  destruct (arc_place e' Ee' Ne') as (_ & _ & ->). rewrite !arc_touches, !arc_writes_iff; tauto.
Qed.
Lemma arc_access e e' : E e -> E e' -> noninit e -> noninit e' -> conflict e e' -> an_access arcs (edge e).
Proof.
  intros Ee Ee' Ne Ne' C. destruct (arc_conflict e e' Ee Ee' Ne Ne' C) as (T & T' & L & Wr).
  destruct (arc_place e Ee Ne) as (I & _). destruct (arc_place e' Ee' Ne') as (I' & _).
  split; [auto|split; [auto|]]. destruct Wr; [exists (edge e)|exists (edge e')]; auto.
Qed.
Lemma way_ahead t p path p2 : way (hop arcs E edge t) p path p2 -> ahead arcs t p p2.
Proof.
  induction 1 as [p|p p' path p2 (a & I & _ & <-) _ IH|p y p' path p2 (Ey & Ny & <- & <- & <-) _ IH]; [constructor| |].
  - eapply ahead_step; eauto.
  - eapply ahead_step; [|exact IH]. now apply (arc_of arcs entry E edge D).
Qed.
Lemma drawn_ahead a b : E b -> po a b -> ahead arcs (a_thr (edge a)) (a_to (edge a)) (a_from (edge b)).
Proof.
  intros Eb Po. assert (E a) as Ea by (eapply wf_down; eauto). assert (noninit a) as Na by (eapply po_init_l; eauto).
  destruct (between_exists E a b) as (path & Bt); auto; [eapply po_init_r; eauto..|].
  destruct (arc_place a Ea Na) as (_ & -> & _). apply way_ahead with path.
  apply (way_between arcs entry E edge W D (thr a) path a b); auto. now rewrite (po_thr _ _ Po).
Qed.
End Drawn.

Theorem graph_covers P : (forall E, runs P E -> wfE E /\ wfx E /\ exists edge, drawn E edge) ->
  covers hw (graph_of hw arcs entry fuel once) P.
Proof.
  intros H. assert (forall E, runs P E -> wfE E) as HW by (intros E R; now apply H).
  constructor; simpl.
  - intros E R. now apply H.
  - intros E R. now apply H.
  - intros E edge e R D Ee Ne. now apply (arc_place E edge D).
  - intros E edge e e' R D Ee Ee' Ne Ne' C. now apply (arc_access E edge D e e').
  - intros E edge a b R D Eb Po _. apply (drawn_ahead E); auto.
  - intros E edge B b x R D Pa Bb Ex NB Po _. destruct (H E R) as (W & X & _).
    exact (theorem_9_graph hw arcs entry fuel E edge W X D B b x Pa Bb Ex NB Po).
  - intros E edge a b R D Ea Eb Na Nb C N. destruct (arc_conflict E edge D a b Ea Eb Na Nb C) as (T & T' & L & Wr).
    destruct (arc_place E edge D a Ea Na) as (_ & Ta & _), (arc_place E edge D b Eb Nb) as (_ & Tb & _).
    split; [congruence|auto].
  - intros E edge m e R D (Em & Nm & _) Ee Ne C. destruct (arc_place E edge D m Em Nm) as (_ & Tm & Lm).
    split; [now apply (arc_access E edge D m e)|]. split; [auto|split; [auto|]]. now apply (arc_writes E edge D).
  - intros E edge m b R D (Em & Nm & _) Eb Nb C N. destruct (arc_conflict E edge D b m Eb Em Nb Nm C) as (T & _ & L & Wr).
    destruct (arc_place E edge D m Em Nm) as (_ & Tm & Lm), (arc_place E edge D b Eb Nb) as (_ & Tb & _).
    split; [now apply (arc_access E edge D b m)|]. split; [simpl; congruence|split; [simpl; congruence|]]. simpl.
    destruct Wr as [|Wr]; auto. right. now rewrite <- (arc_writes E edge D m Em Nm).
Qed.

Lemma arc_starts E edge c e : drawn E edge -> E e -> noninit e -> can_start c e = arc_can_start c (edge e).
Proof.
  intros D Ee Ne. destruct (arc_place E edge D e Ee Ne) as (_ & T & L).
  destruct (arc_kind arcs entry E edge D e Ee Ne) as (Ak & _).
  unfold can_start, arc_can_start, meets, own, touches, cpu_kind.
  rewrite (arc_writes E edge D e Ee Ne), (arc_reads E edge D e Ee Ne), T, L, Ak. reflexivity.
Qed.
Theorem graph_nothing_kept P : (forall E, runs P E -> wfE E /\ wfx E /\ exists edge, drawn E edge) ->
  (forall c x seen a, g_sites (graph_of hw arcs entry fuel once) c x -> In a arcs -> arc_can_start c a = true ->
    ~ useful (graph_of hw arcs entry fuel once) c seen true a) ->
  robust hw P.
Proof.
  intros HP H. apply (nothing_kept hw P (graph_of hw arcs entry fuel once)); [now apply graph_covers|].
  intros E edge c x seen e R D Sx Ee Ne Cs. apply (H c x); auto; [now apply (d_arc _ _ _ _ D)|].
  now rewrite <- (arc_starts E edge).
Qed.
End FlowCovers.
