(* The executed search is that of Search.v: what is written down stands for states of it, its steps for their steps. *)
Require Import List Arith ZArith Bool Lia.
Import ListNotations.
From RR Require Marks.
From RR Require Import Model Hardware Programs Search Searched Answers Automata Executed Alike Points.

(* Lists as functions and sets *)
Section Lists.
Context {A : Type} (eqb : A -> A -> bool) (eqb_iff : forall a b, eqb a b = true <-> a = b).
Lemma look_map {B} (f : A -> B) domain d x : In x domain -> look eqb domain (map f domain) d x = f x.
Proof.
  induction domain as [|y dom IH]; simpl; [tauto|]. intros H. destruct (eqb x y) eqn:Q; [apply eqb_iff in Q; now subst|].
  destruct H as [->|H]; auto. assert (eqb x x = true) by now apply eqb_iff. congruence.
Qed.
Lemma look_in {B} domain (l : list B) d x : look eqb domain l d x = d \/ In (look eqb domain l d x) l.
Proof.
  revert l; induction domain as [|y dom IH]; intros [|v l]; simpl; auto. destruct (eqb x y); auto.
  destruct (IH l); auto.
Qed.
Lemma has_iff l x : has eqb l x = true <-> In x l.
Proof.
  unfold has. rewrite existsb_exists. split; [intros (y & H & Q); apply eqb_iff in Q; now subst|].
  intros H. exists x. split; auto. now apply eqb_iff.
Qed.
Lemma has_filter f domain x : In x domain -> has eqb (filter f domain) x = f x.
Proof.
  intros H. destruct (f x) eqn:Q.
  - apply has_iff, filter_In. auto.
  - apply not_true_iff_false. rewrite has_iff, filter_In. intuition congruence.
Qed.
End Lists.
Lemma queue_eqb_iff a b : queue_eqb a b = true <-> a = b.
Proof.
  destruct a, b. unfold queue_eqb. simpl. rewrite andb_true_iff, !Nat.eqb_eq. split; [intros []; congruence|].
  intros Q; inversion Q; auto.
Qed.
Lemma typed_eqb_iff a b : typed_eqb a b = true <-> a = b.
Proof.
  destruct a as (q, k), b as (q', k'). unfold typed_eqb. simpl. rewrite andb_true_iff, queue_eqb_iff. split.
  - intros (-> & Z). apply internal_kind_dec_bl in Z. congruence.
  - intros Z; inversion Z; subst. split; auto. now apply internal_kind_dec_lb.
Qed.
Lemma access_eqb_iff a b : access_eqb a b = true <-> a = b.
Proof.
  destruct a, b. unfold access_eqb. simpl. rewrite andb_true_iff, Nat.eqb_eq, eqb_true_iff.
  split; [intros []; congruence|].
  intros Q; inversion Q; auto.
Qed.
Lemma all_kinds k : In k kinds.
Proof. destruct k; simpl; auto 12. Qed.

Section Executes.
Variables (most : nat) (P : automata).
Hypothesis F : formed P = true.
Hypothesis Hm : 0 < most.
Notation sh := (shape_of P).
Notation nt := (n_threads P).
Notation nv := (n_cells P).
Notation queues := (queues_of P (fun _ => true)).
Notation polled := (queues_of P is_poll).
Notation st := (@state concrete).
Notation like := (like (U := concrete) nt nv queues).
Notation went := (went P).
Notation at_points := (at_points P).

Lemma thread_in t : t < nt -> In t (of_threads sh).
Proof. clear Hm. intros H. apply in_seq. simpl. lia. Qed.
Lemma cell_in x : x < nv -> In x (of_cells sh).
Proof. clear Hm. intros H. apply in_seq. simpl. lia. Qed.

(* what is noted means what it is noted of *)
Lemma noted_like pts u e (s : st) : like s (meaning sh (noted sh pts u e s)).
Proof.
  constructor; intros; simpl; auto;
    try (apply (look_map Nat.eqb Nat.eqb_eq); now (apply thread_in || apply cell_in));
    try (apply (has_filter Nat.eqb Nat.eqb_eq); now (apply thread_in || apply cell_in));
    try (now apply (has_filter queue_eqb queue_eqb_iff)).
  apply (has_filter typed_eqb typed_eqb_iff (fun qk => typ (sd s) (fst qk) (snd qk)) (of_types sh) (q, k)).
  apply in_prod; auto. apply all_kinds.
Qed.
Lemma noted_point pts u e (s : st) t : t < nt -> point sh (noted sh pts u e s) t = pts t.
Proof. intros H. apply (look_map Nat.eqb Nat.eqb_eq). now apply thread_in. Qed.

(* a number of the executed search and the counter that it stands for *)
Definition stands n (real : nat) := n = most \/ n = real.
Record counters d (s : st) : Prop := {
  c_unp : forall q, In q polled -> stands (of_queue sh (d_unp d) q) (unp (cn s) q);
  c_ear : forall q, In q polled -> stands (of_queue sh (d_ear d) q) (ear (cn s) q) }.
Definition exactly d := forall q, In q polled -> of_queue sh (d_unp d) q <> most /\ of_queue sh (d_ear d) q <> most.

Record image path d (s : st) : Prop := {
  i_went : went path s;
  i_at : at_points path (point sh d);
  i_like : like s (meaning sh d);
  i_counters : counters d s }.

Lemma counted_on_stands n real after after' : stands n real -> (n = real -> after = after') ->
  stands (counted_on most n after) after'.
Proof.
  intros S H. unfold counted_on, stands in *. destruct (Nat.eqb_spec n most) as [|N]; auto.
  destruct S as [|S]; [tauto|auto].
Qed.
Lemma counted_on_exact n after : counted_on most n after <> most -> n <> most.
Proof. unfold counted_on. destruct (Nat.eqb_spec n most); tauto. Qed.

(* An event that stands next in both: the same edge. *)
Section Edge.
Variables (path : nat -> list label) (d : data) (s : st) (t : nat) (l : label) (p : positive).
Hypothesis I : image path d s.
Hypothesis Ht : t < nt.
Hypothesis E : In (l, p) (out (part P t) (point sh d t)).
Notation e := (Ev t l (path t) : @ev concrete).
Notation e' := (event_of t l).
Notation s' := (meaning sh d).

Lemma e_alike : alike e e'.
Proof. apply alike_before. eapply (edge_fine P F t (path t)); eauto. now apply (i_at _ _ _ I). Qed.
Lemma e_within : within (U := concrete) nt nv queues e.
Proof. eapply edge_within; eauto. now apply (i_at _ _ _ I). Qed.
Lemma e_polled : is Poll e = true -> In (qp e) polled.
Proof. intros H. apply (queues_in P is_poll t (point sh d t) l p); auto. destruct l; simpl in *; auto; discriminate. Qed.

Lemma accepts_spec v : accepts s' v e' = true <-> (cpu_b e = true -> rd_b e = true -> v = crv e).
Proof.
  unfold accepts. rewrite (s_cpu _ _ e_alike), (s_rd _ _ e_alike), (a_crv _ _ e_alike).
  rewrite orb_true_iff, negb_true_iff, andb_false_iff, (Z.eqb_eq v).
  destruct (cpu_b e), (rd_b e); intuition discriminate.
Qed.
Lemma is_poll_knd : is Poll e = true <-> knd e = Poll.
Proof. apply Marks.is_iff. Qed.
Lemma unp_pos : is Poll e = true -> unp (cn s) (qp e) > 0 -> (0 <? unp (cn s') (qp e')) = true.
Proof.
  intros K G. apply Nat.ltb_lt. rewrite (a_qp _ _ e_alike).
  destruct (c_unp _ _ (i_counters _ _ _ I) _ (e_polled K)) as [Q|Q].
  - replace (unp (cn s') (qp e)) with most by (symmetry; exact Q). exact Hm.
  - replace (unp (cn s') (qp e)) with (unp (cn s) (qp e)) by (symmetry; exact Q). exact G.
Qed.
Lemma polls_early_true : poll_alpha s e -> polls_early s' e' = true.
Proof.
  intros H. unfold polls_early. rewrite (s_is _ _ e_alike). destruct (is Poll e) eqn:K; auto.
  destruct (H (proj1 is_poll_knd K)) as (H1 & H2).
  rewrite (unp_pos K H1). apply Nat.ltb_lt. rewrite (a_qp _ _ e_alike).
  destruct (c_ear _ _ (i_counters _ _ _ I) _ (e_polled K)) as [Q|Q].
  - replace (ear (cn s') (qp e)) with most by (symmetry; exact Q). exact Hm.
  - replace (ear (cn s') (qp e)) with (ear (cn s) (qp e)) by (symmetry; exact Q). exact H2.
Qed.
Lemma s_cpub : cpub (sd s') (thr e') = cpub (sd s) (thr e).
Proof. rewrite (a_thr _ _ e_alike). apply (l_cpub _ _ _ _ _ (i_like _ _ _ I)). exact Ht. Qed.
Lemma polls_late_true : poll_beta true s e -> polls_late most s' e' = true.
Proof.
  intros H. unfold polls_late. rewrite (s_is _ _ e_alike). destruct (is Poll e) eqn:K; auto.
  destruct (H (proj1 is_poll_knd K)) as (H1 & H2).
  rewrite (unp_pos K H1), s_cpub. destruct H2 as [H2|H2]; [rewrite H2; auto|].
  rewrite (a_qp _ _ e_alike). destruct (c_ear _ _ (i_counters _ _ _ I) _ (e_polled K)) as [Q|Q].
  - replace (ear (cn s') (qp e)) with most by (symmetry; exact Q). rewrite (Nat.eqb_refl most). now rewrite !orb_true_r.
  - replace (ear (cn s') (qp e)) with (ear (cn s) (qp e)) by (symmetry; exact Q). rewrite (H2 eq_refl). simpl.
    now rewrite orb_true_r.
Qed.
(* the other way round: where no counter stands for others *)
Hypothesis X : exactly d.
Lemma unp_exact : is Poll e = true -> unp (cn s') (qp e') = unp (cn s) (qp e).
Proof. rewrite (a_qp _ _ e_alike). intros K. destruct (X _ (e_polled K)) as (X1 & _).
  destruct (c_unp _ _ (i_counters _ _ _ I) _ (e_polled K)); tauto. Qed.
Lemma ear_exact : is Poll e = true -> ear (cn s') (qp e') = ear (cn s) (qp e).
Proof. rewrite (a_qp _ _ e_alike). intros K. destruct (X _ (e_polled K)) as (_ & X1).
  destruct (c_ear _ _ (i_counters _ _ _ I) _ (e_polled K)); tauto. Qed.
Lemma polls_early_exact : polls_early s' e' = true -> poll_alpha s e.
Proof.
  unfold polls_early. rewrite (s_is _ _ e_alike). intros H K. apply is_poll_knd in K. rewrite K in H.
  rewrite (unp_exact K), (ear_exact K) in H. apply andb_prop in H as (H1 & H2). split; now apply Nat.ltb_lt.
Qed.
Lemma polls_late_exact : polls_late most s' e' = true -> poll_beta true s e.
Proof.
  unfold polls_late. rewrite (s_is _ _ e_alike). intros H K. apply is_poll_knd in K. rewrite K in H.
  pose proof (proj2 (X _ (e_polled K))) as X1. change (of_queue sh (d_ear d) (qp e)) with (ear (cn s') (qp e)) in X1.
  rewrite <- (a_qp _ _ e_alike) in X1. rewrite s_cpub in H. rewrite (ear_exact K) in H, X1. rewrite (unp_exact K) in H.
  apply andb_prop in H as (H1 & H2). split; [now apply Nat.ltb_lt|].
  apply orb_prop in H2 as [H2|H2]; [apply orb_prop in H2 as [H2|H2]|].
  - now left.
  - right. intros _. now apply Nat.eqb_eq.
  - apply Nat.eqb_eq in H2. contradiction.
Qed.
(* what is noted behind the event *)
Section Behind.
Variables (s1 s1' : st) (mv : move).
Hypothesis Hh : hist (th s1) = mv :: hist (th s).
Hypothesis Hmv : me mv = e.
Hypothesis L : like s1 s1'.
Hypothesis Cu : forall q, In q polled -> of_queue sh (d_unp d) q = unp (cn s) q -> unp (cn s1') q = unp (cn s1) q.
Hypothesis Ce : forall q, In q polled -> of_queue sh (d_ear d) q = ear (cn s) q -> ear (cn s1') q = ear (cn s1) q.
Notation d1 := (after_step most sh d t p s1').
Lemma point_behind u : u < nt -> point sh d1 u = upd (point sh d) t p u.
Proof. intros Hu. unfold after_step. now rewrite noted_point. Qed.
Lemma image_behind : image (longer path t l) d1 s1.
Proof.
  constructor.
  - eapply went_after; eauto. apply I.
  - intros u Hu. rewrite point_behind; auto. eapply at_longer; eauto. apply I.
  - eapply like_trans; [exact L|apply noted_like].
  - pose proof (i_counters _ _ _ I) as (C1 & C2). constructor; intros q Hq; simpl.
    + unfold of_queue at 1. rewrite (look_map queue_eqb queue_eqb_iff); auto.
      eapply counted_on_stands; [now apply C1|]. intros Q. apply Cu; auto.
    + unfold of_queue at 1. rewrite (look_map queue_eqb queue_eqb_iff); auto.
      eapply counted_on_stands; [now apply C2|]. intros Q. apply Ce; auto.
Qed.
End Behind.
Lemma s_fod : fod (sd s') (qp e') = fod (sd s) (qp e).
Proof. rewrite (a_qp _ _ e_alike). apply (l_fod _ _ _ _ _ (i_like _ _ _ I)). apply (in_qp _ _ _ _ e_within). Qed.
Lemma image_alpha : image (longer path t l) (after_step most sh d t p (after_alpha s' e')) (after_alpha s e).
Proof.
  eapply image_behind; try reflexivity; simpl.
  - exact (after_alpha_like _ _ _ _ _ _ _ (i_like _ _ _ I) e_alike e_within).
  - intros q Hq Q. now apply alpha_unp; [apply e_alike|].
  - intros q Hq Q. apply alpha_ear; auto; [apply e_alike|apply s_fod].
Qed.
Lemma image_beta hw c b b' : like b b' -> th b = th s -> cn b = cn s -> cn b' = cn s' ->
  image (longer path t l) (after_step most sh d t p (after_beta hw c b' e')) (after_beta hw c b e).
Proof.
  intros Hb Ht' Hc Hc'. eapply image_behind; simpl; rewrite ?Ht', ?Hc, ?Hc'; try reflexivity.
  - exact (after_beta_like _ _ _ _ _ _ _ _ Hb e_alike e_within c).
  - intros q Hq Q. now apply beta_unp; [apply e_alike|].
  - intros q Hq Q. apply beta_ear; auto; [apply e_alike|]. exact (s_forces _ _ _ _ _ _ _ Hb e_alike e_within).
Qed.
End Edge.
End Executes.
