(* What the executed search answers is right: [decide_robust], [decide_not_robust]. *)
Require Import List Arith ZArith Bool Lia FMapPositive.
Import ListNotations.
From RR Require Import Model Hardware Programs Search Searched Answers Automata Executed Explored Alike Points Executes
  Simulates.

Section Decided.
Variables (hw : hardware).
Context {OK : hardware_ok hw} {SO : search_ok hw}.
Variables (most : nat) (P : automata).
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
Notation reach := (reach (U := concrete) hw true ini (init : nat -> @value concrete) ctl hope).
Notation went := (went P).
Notation at_points := (at_points P).
Notation image := (image most P).

Lemma program_answers : answers (program_of P) ini (init : nat -> @value concrete) ctl.
Proof. apply concrete_answers. intros t. apply can_do_nothing. Qed.
Lemma found_iff : found (U := concrete) hw true ini (init : nat -> @value concrete) ctl hope <->
  ~ robust hw (program_of P).
Proof. apply concrete_theorem_8; auto; [now intros ? ?|intros t; apply can_do_nothing]. Qed.

(* a state of the search is one of a run: paths of the threads, with points where they lead *)
Lemma reach_went s : reach s -> exists path, went path s /\ forall t, can_do P t (path t).
Proof.
  intros R. pose proof (r_runs _ _ _ (reach_running hw true (program_of P) ini _ ctl hope program_answers s R)) as Z.
  destruct Z as (path & (Hok & Hnt) & HE). exists path. split; [split; auto|]. intros t. apply Hok.
Qed.
Lemma went_unique path path' s : went path s -> went path' s -> forall t, path t = path' t.
Proof. intros (H & _) (H' & _). apply (same_path nv init). intros e. now rewrite <- H, <- H'. Qed.
Lemma start_image path : went path (start_state (init : nat -> @value concrete)) ->
  image path (the_start sh) (start_state (init : nat -> @value concrete)).
Proof.
  intros Wt. constructor; auto.
  - intros t Ht. unfold the_start. rewrite noted_point; auto.
    assert (path t = []) as ->; [|constructor]. destruct (path t) as [|l h] eqn:Q; auto.
    assert (inrun nv init path (Ev t l h)) as Z by (simpl; rewrite Q; apply suf_refl). apply (proj1 Wt) in Z.
    destruct Z as [Z|[]]. destruct Z.
  - apply noted_like.
  - constructor; intros q Hq; right; simpl; unfold of_queue; rewrite (look_map queue_eqb queue_eqb_iff); auto.
Qed.
Lemma image_ext path path' d s : went path' s -> image path d s -> image path' d s.
Proof.
  intros Wt I. constructor; auto; [|apply I|apply I]. intros t Ht.
  rewrite (went_unique path' path s); auto; [apply (i_at _ _ _ _ _ I); auto|apply I].
Qed.

Section Closed.
Variable All : data -> Prop.
Hypothesis All_start : All (the_start sh).
Hypothesis All_next : forall d d', All d -> In d' (successors hw most sh d) -> All d'.

(* every run of Search.v can be followed, whichever points lead to where its threads go on *)
Lemma followed s : reach s -> forall path pts, went path s -> at_points path pts -> hopeful P (cls s) pts ->
  exists d, All d /\ image path d s /\ forall t, t < nt -> point sh d t = pts t.
Proof.
  intros R. induction R as [|s u R IH S]; intros path' pts' Wt At Hp.
  - exists (the_start sh). pose proof (start_image path' Wt) as I. split; auto. split; auto. intros t Ht.
    pose proof (i_at _ _ _ _ _ I t Ht) as Z. pose proof (At t Ht) as Z'. unfold the_start at 1. rewrite noted_point; auto.
    assert (path' t = []) as Q; [|rewrite Q in Z'; now inversion Z'].
    destruct (path' t) as [|l h] eqn:Q; auto.
    assert (inrun nv init path' (Ev t l h)) as Y by (simpl; rewrite Q; apply suf_refl). apply (proj1 Wt) in Y.
    destruct Y as [[]|[]].
  - destruct (reach_went s R) as (path & Ws & Cs).
    destruct (step_stepped hw true ini ctl hope s u S) as (mv & St).
    pose proof (st_enabled _ _ _ _ _ St) as (N & D & Ct & _).
    destruct (next_of_thread P path s (me mv) Ws N D Ct) as (t & l & Q & Ht & _).
    pose proof (went_after P path s u t l mv Ws Ht (st_hist _ _ _ _ _ St) Q) as Wu.
    assert (forall v, path' v = longer path t l v) as E' by (now apply (went_unique path' (longer path t l) u)).
    pose proof (At t Ht) as Lt. rewrite E', longer_same in Lt. inversion Lt as [|h p l0 p' Lh Eh]; subst.
    destruct (IH path (upd pts' t p)) as (d & Ad & I & Pd); auto.
    + intros v Hv. unfold upd. destruct (Nat.eqb_spec v t) as [->|Nv]; auto.
      rewrite <- (longer_other path t l v Nv), <- E'. now apply At.
    + apply (hopeful_before P Ha (cls s) (cls u) pts' t l p (pts' t)); auto. exact (st_cls _ _ _ _ _ St).
    + assert (In (l, pts' t) (out (part P t) (point sh d t))) as E.
      { rewrite Pd; auto. unfold upd. now rewrite Nat.eqb_refl. }
      assert (forall c, cls u = Some c -> cthr c < nt) as Hc by (intros c Hc; rewrite Hc in Hp; apply Hp).
      destruct (step_image hw most P F Hm path d s t l (pts' t) I Ht E u mv S (st_hist _ _ _ _ _ St) Q Hc)
        as (x & Hx & Ac & Cx & Ix).
      assert (forall v, v < nt -> point sh (after_step most sh d t (pts' t) x) v = pts' v) as Px.
      { intros v Hv. unfold after_step. rewrite noted_point; auto. unfold upd.
        destruct (Nat.eqb_spec v t) as [->|Nv]; auto.
        rewrite Pd; auto. unfold upd. now apply Nat.eqb_neq in Nv as ->. }
      exists (after_step most sh d t (pts' t) x). split; [|split; [eapply image_ext; eauto|exact Px]].
      eapply All_next; [exact Ad|]. eapply succ_in; eauto. apply (hopeful_kept P _ pts'); auto. simpl. now rewrite Cx.
Qed.

Hypothesis All_quiet : forall d, All d -> reporting hw sh d = false.
Theorem closed_robust : robust hw (program_of P).
Proof.
  apply Classical_Prop.NNPP. intros NR. apply found_iff in NR.
  destruct NR as (s & R & m & Cm & Cl & Am & N & D & Ct & V & G).
  destruct (reach_went s R) as (path & Ws & Cs).
  destruct (next_of_thread P path s m Ws N D Ct) as (t & l & -> & Ht & (p' & Lt)).
  inversion Lt as [|h p l0 p0 Lh E]; subst.
  destruct (choose nt (fun v q => leads (part P v) (path v) q) (fun v _ => Cs v)) as (f & Hf).
  destruct (followed s R path (upd f t p)) as (d & Ad & I & Pd); auto.
  - intros v Hv. unfold upd. destruct (Nat.eqb_spec v t) as [->|Nv]; auto.
  - rewrite Cm. simpl. split; auto. unfold upd. rewrite Nat.eqb_refl. eapply ahead_edge; eauto. left.
    unfold accesses. change (rd_b (event_of 0 l : @ev concrete)) with (rd_b (Ev t l (path t) : @ev concrete)).
    change (wr_b (event_of 0 l : @ev concrete)) with (wr_b (Ev t l (path t) : @ev concrete)). rewrite Am. now left.
  - assert (In (l, p') (out (part P t) (point sh d t))) as E'.
    { rewrite Pd; auto. unfold upd. now rewrite Nat.eqb_refl. }
    assert (reporting hw sh d = true) as Z; [|rewrite All_quiet in Z; auto; discriminate].
    apply existsb_exists. exists t. split; [now apply thread_in|]. apply existsb_exists. exists (l, p'). split; auto.
    apply (is_pivot_iff hw most P F path d s t l p' I Ht E'). auto.
Qed.
End Closed.

(* what the executed search comes to *)
Inductive comes_to : data -> Prop :=
| comes_start : comes_to (the_start sh)
| comes_next d d' : comes_to d -> In d' (successors hw most sh d) -> comes_to d'.
Lemma comes_image d : comes_to d -> exactly most P d -> exists path s, reach s /\ image path d s.
Proof.
  induction 1 as [|d d' C IH H]; intros X.
  - exists (fun _ => []), (start_state (init : nat -> @value concrete)). split; [constructor|]. apply start_image.
    split; auto.
    intros [x v|t l h]; unfold done; simpl; [tauto|]. split; [tauto|]. intros S. apply suf_len in S. simpl in S. lia.
  - apply in_flat_map in H. destruct H as (t & Ht & H). apply in_flat_map in H. destruct H as ((l, p) & E & H).
    unfold of_edge in H. cbn [fst snd] in H. assert (t < nt) as Ht' by (apply in_seq in Ht; simpl in Ht; lia).
    destruct (accepts _ _ _) eqn:Ac; [|destruct H]. apply filter_In in H. destruct H as (H & _).
    apply in_map_iff in H. destruct H as (x & <- & Hx).
    assert (exactly most P d) as X' by (eapply exactly_before; eauto).
    destruct (IH X') as (path & s & R & I).
    destruct (step_back hw most P F path d s t l p I Ht' E x X' Hx Ac) as (u & S & Iu).
    exists (longer path t l), u. split; auto. econstructor; eauto.
Qed.
Theorem reported_not_robust d : comes_to d -> exact most d = true -> reporting hw sh d = true ->
  ~ robust hw (program_of P).
Proof.
  intros C X Rp. apply found_iff. destruct (comes_image d C) as (path & s & R & I); [now apply exact_exactly|].
  exists s. split; auto. apply existsb_exists in Rp. destruct Rp as (t & Ht & Rp). apply existsb_exists in Rp.
  destruct Rp as ((l, p) & E & Rp). assert (t < nt) as Ht' by (apply in_seq in Ht; simpl in Ht; lia).
  apply (is_pivot_iff hw most P F path d s t l p I Ht' E) in Rp. destruct Rp as (Z1 & Z2 & Z3 & Z4 & Z6 & Z5).
  destruct (with_ctl P F path s t l (i_went _ _ _ _ _ I)) as (Y1 & Y2 & Y3); auto.
  - eapply at_points_can; [apply I|apply (i_at _ _ _ _ _ I)].
  - exists p. econstructor; [apply (i_at _ _ _ _ _ I); auto|exact E].
  - exists (Ev t l (path t)). repeat split; auto.
Qed.
End Decided.
