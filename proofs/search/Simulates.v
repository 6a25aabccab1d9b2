(* Runs of Search.v and runs of the executed search: what is closed under successors and does not report shows that the
   program is robust; what is reached and reports, with exact counters, that it is not. *)
Require Import List Arith ZArith Bool Lia.
Import ListNotations.
From RR Require Import Model Hardware Programs Search Searched Answers Automata Executed Alike Points Executes.

Section Simulates.
Variables (hw : hardware) (most : nat) (P : automata).
Hypothesis F : formed P = true.
Hypothesis Hm : 0 < most.
Hypothesis Ha : all_ahead_ok (shape_of P) = true.
Notation sh := (shape_of P).
Notation nt := (n_threads P).
Notation nv := (n_cells P).
Notation init := (initially P).
Notation ini := (ini0 nv init).
Notation ctl := (ctl0 nt nv init (can_do P)).
Notation hope := (fun _ _ => True).
Notation st := (@state concrete).
Notation step := (step (U := concrete) hw true ini ctl hope).
Notation image := (image most P).

(* what is ahead *)
Lemma ahead_edge t p l p' a : t < nt -> In (l, p') (out (part P t) p) ->
  In a (accesses l) \/ In a (accesses_ahead sh t p') -> In a (accesses_ahead sh t p).
Proof.
  intros Ht E H. unfold all_ahead_ok in Ha. rewrite forallb_forall in Ha. specialize (Ha t (thread_in P t Ht)).
  unfold ahead_ok in Ha. rewrite forallb_forall in Ha. specialize (Ha _ (edges_in _ _ _ _ E)).
  unfold accesses_ahead in *. unfold adds in Ha. cbn [fst] in Ha. set (m := nth t (ahead sh) _) in *.
  assert (In a (behind m (p, l, p'))) as B by (apply in_or_app; exact H).
  destruct (has access_eqb (found_in m p) a) eqn:Q; [now apply (has_iff _ access_eqb_iff) in Q|].
  assert (In a (filter (fun a => negb (has access_eqb (found_in m p) a)) (behind m (p, l, p')))) as Z
    by (apply filter_In; split; auto; now rewrite Q).
  destruct (filter _ _); [destruct Z|discriminate].
Qed.
Definition hopeful (c : option class) (pts : nat -> positive) :=
  match c with
  | Some c => cthr c < nt /\ In (ccell c, cwr c) (accesses_ahead sh (cthr c) (pts (cthr c)))
  | None => True
  end.
Lemma hopeful_kept d pts : hopeful (d_cls d) pts -> (forall t, t < nt -> point sh d t = pts t) -> kept sh d = true.
Proof.
  unfold kept, hopeful. destruct (d_cls d) as [c|]; auto. intros (H1 & H2) Q. rewrite Q; auto.
  now apply (has_iff _ access_eqb_iff).
Qed.
Lemma hopeful_before (c c' : option class) pts t l p p' : t < nt -> In (l, p') (out (part P t) p) -> pts t = p' ->
  (forall x, c = Some x -> c' = Some x) -> hopeful c' pts -> hopeful c (upd pts t p).
Proof.
  intros Ht E Q C H. destruct c as [c|]; simpl; auto. rewrite (C c eq_refl) in H. destruct H as (H1 & H2). split; auto.
  unfold upd. destruct (Nat.eqb_spec (cthr c) t) as [Z|Z]; auto. rewrite Z, Q in H2. rewrite Z. eapply ahead_edge; eauto.
Qed.

(* the event is the pivot *)
Lemma is_pivot_iff path d s t l p : image path d s -> t < nt -> In (l, p) (out (part P t) (point sh d t)) ->
  let m := Ev t l (path t) : @ev concrete in
  is_pivot hw (meaning sh d) t l = true <->
  cls s = Some (class_of m) /\ clo (tn s) = true /\ (rd_b m || wr_b m) = true /\
  (cpu_b m = true -> rd_b m = true -> pivot_value s (loc m) = crv m) /\
  stored (sd s) m = false /\ (cpu_b m = false -> nic_forces hw (sd s) m = false).
Proof.
  intros I Ht E m. pose proof (i_like _ _ _ _ _ I) as H. pose proof (e_alike most P F path d s t l p I Ht E) as A.
  pose proof (e_within most P F path d s t l p I Ht E) as W.
  unfold is_pivot. rewrite (l_cls _ _ _ _ _ H). destruct (cls s) as [c|]; [|split; [discriminate|now intros (? & _)]].
  rewrite !andb_true_iff, !Nat.eqb_eq, eqb_true_iff, (l_clo _ _ _ _ _ H), (s_rd _ _ A), (s_wr _ _ A), (s_cpu _ _ A),
    (a_loc _ _ A).
  rewrite (s_nic_forces hw _ _ _ _ _ _ _ H A W), (s_stored _ _ _ _ _ _ _ H A W), negb_true_iff.
  rewrite (accepts_spec most P F path d s t l p I Ht E). rewrite <- (a_loc _ _ A), (s_pivot_value _ _ _ _ _ _ _ H A W).
  fold m. rewrite (a_loc _ _ A). fold m. split.
  - intros (((((((H1 & H2) & H3) & H4) & H5) & H6) & H8) & H7). repeat split; auto.
    + destruct c; simpl in *; subst. reflexivity.
    + intros Z. rewrite Z in H7. now apply negb_true_iff.
  - intros (H1 & H2 & H3 & H4 & H8 & H5). inversion H1; subst. simpl. repeat split; auto.
    destruct (cpu_b m) eqn:Z; auto. apply negb_true_iff. auto.
Qed.

(* Steps by the event of an edge *)
Section Step.
Variables (path : nat -> list label) (d : data) (s : st) (t : nat) (l : label) (p : positive).
Hypothesis I : image path d s.
Hypothesis Ht : t < nt.
Hypothesis E : In (l, p) (out (part P t) (point sh d t)).
Notation e := (Ev t l (path t) : @ev concrete).
Notation e' := (event_of t l : @ev concrete).
Notation s' := (meaning sh d).
Notation H := (i_like _ _ _ _ _ I).
Notation A := (e_alike most P F path d s t l p I Ht E).
Notation W := (e_within most P F path d s t l p I Ht E).
Notation after := (after_step most sh d t p).

Lemma accepts_enabled : (cpu_b e = true -> rd_b e = true -> mem (th s) (loc e) = crv e) <->
  accepts s' (mem (th s') (loc e')) e' = true.
Proof.
  rewrite (accepts_spec most P F path d s t l p I Ht E). rewrite (a_loc _ _ A).
  now rewrite (l_mem _ _ _ _ _ H _ (in_loc _ _ _ _ W)).
Qed.
Lemma starts_in c : can_start c e = true -> cthr c < nt -> In c (starts sh e').
Proof.
  intros St Hc. apply filter_In. split; [|now rewrite (s_can_start _ _ A)].
  apply in_flat_map. exists (cthr c). split; [now apply thread_in|]. rewrite (a_loc _ _ A).
  unfold can_start, meets in St. rewrite !andb_true_iff, Nat.eqb_eq in St. destruct St as (((_ & ->) & _) & _).
  destruct c as [ct cc []]; simpl; auto.
Qed.

(* a step of Search.v is one of the executed search *)
Lemma step_image u mv : step s u -> hist (th u) = mv :: hist (th s) -> me mv = e ->
  (forall c, cls u = Some c -> cthr c < nt) ->
  exists x, In x (afters hw most sh s' e') /\ accepts s' (mem (th s') (loc e')) e' = true /\ cls x = cls u /\
    image (longer path t l) (after x) u.
Proof.
  intros S Hh Q Hc.
  assert (forall e0, e0 = e -> enabled ini ctl s e0 -> accepts s' (mem (th s') (loc e')) e' = true) as Acc.
  { intros e0 -> (_ & _ & _ & V). now apply accepts_enabled. }
  unfold afters. rewrite (l_cls _ _ _ _ _ H).
  inversion S as [e0 C En Po Q'|c e0 C En _ St Q'|c e0 C En _ Fo Po Q'|c e0 C En _ Fo Po Cu Ps Q']; subst u; simpl in Hh;
    inversion Hh as [Hh']; rewrite <- Hh' in Q; simpl in Q; pose proof (Acc e0 Q En) as Ac; subst e0; rewrite C.
  - exists (after_alpha s' e'). rewrite (polls_early_true most P F Hm path d s t l p I Ht E Po).
    refine (conj _ (conj Ac (conj _ _))); [apply in_or_app; left; now left|apply H|eapply image_alpha; eauto].
  - exists (after_beta hw c (begun c s') e'). refine (conj _ (conj Ac (conj eq_refl _))).
    + apply in_or_app. right. apply (in_map (fun c => after_beta hw c (begun c s') e')).
      apply starts_in; [exact St|now apply Hc].
    + eapply image_beta; eauto. apply begun_like, H.
  - exists (after_alpha s' e'). rewrite (polls_early_true most P F Hm path d s t l p I Ht E Po).
    rewrite (s_forced hw _ _ _ _ _ _ _ H A W), Fo.
    refine (conj _ (conj Ac (conj _ _))); [apply in_or_app; left; now left|apply H|eapply image_alpha; eauto].
  - exists (after_beta hw c s' e'). rewrite (polls_late_true most P F Hm path d s t l p I Ht E Po).
    rewrite (s_forced hw _ _ _ _ _ _ _ H A W), (s_cuts _ _ _ A), (s_poisons _ _ _ _ _ _ _ H A W), Cu, Ps, (s_is _ _ A).
    refine (conj _ (conj Ac (conj _ _))); [|apply H|eapply image_beta; eauto; apply H].
    apply in_or_app. right. replace (is Poll e || forced hw s e) with true; [now left|]. symmetry.
    destruct Fo as [Fo|Fo]; [|rewrite Fo; now rewrite orb_true_r]. apply Marks.is_iff in Fo. now rewrite Fo.
Qed.
Lemma succ_in x : In x (afters hw most sh s' e') -> accepts s' (mem (th s') (loc e')) e' = true ->
  kept sh (after x) = true ->
  In (after x) (successors hw most sh d).
Proof.
  intros Hx Ac Kp. apply in_flat_map. exists t. split; [now apply thread_in|]. apply in_flat_map. exists (l, p).
  split; [exact E|].
  unfold of_edge. cbn [fst snd]. rewrite Ac. apply filter_In. split; auto. now apply in_map.
Qed.

(* and the other way round *)
Lemma step_back x : exactly most P d -> In x (afters hw most sh s' e') -> accepts s' (mem (th s') (loc e')) e' = true ->
  exists u, step s u /\ image (longer path t l) (after x) u.
Proof.
  intros X Hx Ac.
  assert (enabled ini ctl s e) as En.
  { destruct (with_ctl P F path s t l (i_went _ _ _ _ _ I)) as (Z1 & Z2 & Z3); auto.
    - eapply at_points_can; [apply I|apply (i_at _ _ _ _ _ I)].
    - exists p. econstructor; [apply (i_at _ _ _ _ _ I); auto|exact E].
    - repeat split; auto. now apply accepts_enabled. }
  unfold afters in Hx. rewrite (l_cls _ _ _ _ _ H) in Hx.
  destruct (cls s) as [c|] eqn:C; apply in_app_or in Hx; destruct Hx as [Hx|Hx].
  - destruct (negb (forced hw s' e') && polls_early s' e') eqn:Z; [|destruct Hx]. destruct Hx as [<-|[]].
    apply andb_prop in Z as (Z1 & Z2). rewrite (s_forced hw _ _ _ _ _ _ _ H A W) in Z1.
    exists (after_alpha s e). split; [|eapply image_alpha; eauto].
    apply step_alpha with c; auto; [now apply negb_true_iff|]. eapply polls_early_exact; eauto.
  - destruct ((is Poll e' || forced hw s' e') && polls_late most s' e' && negb (cuts hw c e') && negb (poisons s' e')) eqn:Z;
      [|destruct Hx]. destruct Hx as [<-|[]].
    rewrite (s_forced hw _ _ _ _ _ _ _ H A W), (s_cuts _ _ _ A), (s_poisons _ _ _ _ _ _ _ H A W), (s_is _ _ A) in Z.
    rewrite !andb_true_iff, !negb_true_iff in Z. destruct Z as (((Z1 & Z2) & Z3) & Z4).
    exists (after_beta hw c s e). split; [|eapply image_beta; eauto; apply H].
    apply step_beta; auto; [|eapply polls_late_exact; eauto].
    apply orb_prop in Z1 as [Z1|Z1]; auto. left. now apply Marks.is_iff.
  - destruct (polls_early s' e') eqn:Z; [|destruct Hx]. destruct Hx as [<-|[]].
    exists (after_alpha s e). split; [|eapply image_alpha; eauto].
    apply step_phase1; auto. eapply polls_early_exact; eauto.
  - apply in_map_iff in Hx. destruct Hx as (c & <- & Hc). apply filter_In in Hc. destruct Hc as (_ & Hc).
    rewrite (s_can_start _ _ A) in Hc. exists (after_beta hw c (begun c s) e). split; [now apply step_start|].
    eapply image_beta; eauto. apply begun_like, H.
Qed.
Lemma exactly_before x : exactly most P (after x) -> exactly most P d.
Proof.
  intros X q Hq. destruct (X q Hq) as (X1 & X2). unfold after_step, noted in X1, X2. simpl in X1, X2.
  unfold of_queue at 1 in X1. unfold of_queue at 1 in X2.
  rewrite (look_map queue_eqb queue_eqb_iff) in X1, X2; auto.
  split; eapply counted_on_exact; eauto.
Qed.
End Step.
Lemma exact_exactly d : exact most d = true -> exactly most P d.
Proof.
  intros X q Hq. unfold exact in X. rewrite forallb_forall in X.
  assert (forall n, In n (d_unp d ++ d_ear d) -> n <> most) as Z.
  { intros n Hn ->. apply X in Hn. now rewrite Nat.eqb_refl in Hn. }
  unfold of_queue. split.
  - destruct (look_in queue_eqb (polled_queues sh) (d_unp d) 0 q) as [Q|Q]; [rewrite Q; lia|apply Z, in_or_app; auto].
  - destruct (look_in queue_eqb (polled_queues sh) (d_ear d) 0 q) as [Q|Q]; [rewrite Q; lia|apply Z, in_or_app; auto].
Qed.
End Simulates.
