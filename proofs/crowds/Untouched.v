(* What a step of the search leaves as it is: what is local to other threads and to other words (docs/theory-crowds.md,
   Lemma 2), but for taint, which is forgotten when the cycle is closed. *)
Require Import List Arith ZArith Bool Lia.
Import ListNotations.
From RR Require Import Model Hardware Programs Search Searched Marks Views.

Section Far.
Notation state := (@state concrete).
Notation ev := (@ev concrete).
Local Arguments thr : simpl never.
Local Arguments loc : simpl never.
Local Arguments qp : simpl never.
Local Arguments knd : simpl never.
Local Arguments cwv : simpl never.
Local Arguments crv : simpl never.
Local Arguments sgn : simpl never.
Local Arguments brings : simpl never.
Context (hw : hardware) {SC : cpu_sc hw}.
Variables (s : state) (e : ev).
Lemma far_sc : store_b hw e = false. Proof. unfold store_b. now rewrite (no_buffers (hw := hw)). Qed.
Lemma far_th b t0 t : t <> thr e -> car (th_after (th s) (Mv e b t0)) t = car (th s) t.
Proof.
  intros N. unfold th_after; simpl. destruct (rd_b e && negb (cpu_b e)); [now apply upd_other|].
  destruct (brings e); [now apply upd_other|auto].
Qed.
Lemma far_mem b t0 x : x <> loc e -> mem (th_after (th s) (Mv e b t0)) x = mem (th s) x.
Proof. intros N. unfold th_after; simpl. destruct (wr_b e); [now apply upd_other|auto]. Qed.
Lemma far_left a x : x <> loc e -> cr (left_by a e) x = cr a x /\ cw (left_by a e) x = cw a x.
Proof. intros N. unfold left_by; simpl. destruct (rd_b e), (wr_b e); rewrite ?upd_other by auto; auto. Qed.
Lemma far_spread tn0 t0 cl : let a := spreading tn0 e t0 cl in (clo a = false -> clo tn0 = false) /\
  (clo a = false -> (forall t, t <> thr e -> tth a t = tth tn0 t) /\
    forall x, x <> loc e -> cr (tce a) x = cr (tce tn0) x /\ cw (tce a) x = cw (tce tn0) x).
Proof.
  unfold spreading. destruct (clo tn0) eqn:F; simpl; [split; discriminate|].
  destruct (t0 && cl); simpl; [split; discriminate|]. split; [auto|]. intros _.
  destruct t0; simpl; [|auto]. split; [intros; now rewrite upd_other|intros; now apply far_left].
Qed.
Lemma far_counts t q (c : counts) (late : bool) : fst (qp e) = thr e -> t <> thr e ->
  unp (completion c e late) (t, q) = unp c (t, q) /\ ear (completion c e late) (t, q) = ear c (t, q).
Proof.
  intros Q N. unfold completion. destruct (qp e) as (t1, q1). simpl in Q. subst t1.
  destruct (sgn e); simpl; [|auto]. rewrite updq_far by auto. destruct late; [auto|]. now rewrite updq_far.
Qed.
Lemma far_alpha t : fst (qp e) = thr e -> t <> thr e ->
  like (clo (tn (after_alpha s e))) (part_of s t) (part_of (after_alpha s e) t).
Proof.
  intros Q N. destruct (far_spread (tn s) (reached s e) (closing_alpha s e)) as (S1 & S2).
  pose proof (far_counts t) as Fc. destruct (qp e) as (t1, q1) eqn:Qe. simpl in Q. subst t1.
  constructor; unfold after_alpha, part_of; cbv zeta; cbn [p_car p_cpub p_taint p_poc p_unp p_ear p_typ p_fen p_fod th
    cn sd tn ps]; auto.
  - symmetry. now apply far_th.
  - unfold sides_alpha. destruct (_ && _); auto.
  - intros F. symmetry. now apply S2.
  - intros q. unfold counts_alpha. destruct (is Poll e); simpl; [rewrite Qe, updq_far; auto|]. symmetry. now apply Fc.
  - intros q. unfold counts_alpha. destruct (is Poll e); simpl; [rewrite Qe, updq_far; auto|]. symmetry. now apply Fc.
  - intros q k. unfold sides_alpha. destruct (_ && _); auto.
  - intros q. unfold sides_alpha. destruct (_ && _); simpl; [rewrite Qe, updq_far; auto|auto].
  - intros q. unfold sides_alpha. destruct (_ && _); auto.
Qed.
Lemma far_beta c t : fst (qp e) = thr e -> t <> thr e ->
  like (clo (tn (after_beta hw c s e))) (part_of s t) (part_of (after_beta hw c s e) t).
Proof.
  intros Q N. destruct (far_spread (tn s) (reached s e || meets c e) (own c e)) as (S1 & S2).
  pose proof (far_counts t) as Fc. destruct (qp e) as (t1, q1) eqn:Qe. simpl in Q. subst t1.
  constructor; unfold after_beta, part_of; cbv zeta; cbn [p_car p_cpub p_taint p_poc p_unp p_ear p_typ p_fen p_fod th cn
    sd tn ps]; auto.
  - symmetry. now apply far_th.
  - unfold sides_beta. rewrite far_sc. destruct (cpu_b e); simpl; [now rewrite upd_other|auto].
  - intros F. symmetry. now apply S2.
  - unfold poisoning. destruct (rd_b e); [destruct (cpu_b e); simpl; auto; now rewrite upd_other|].
    destruct (brings e); simpl; [now rewrite upd_other|]. destruct (wr_b e); auto.
  - intros q. unfold counts_beta. destruct (is Poll e); simpl; [rewrite Qe, updq_far; auto|]. symmetry. now apply Fc.
  - intros q. unfold counts_beta. destruct (is Poll e); simpl; [auto|]. symmetry. now apply Fc.
  - intros q k. unfold sides_beta. rewrite far_sc. destruct (cpu_b e); simpl; [auto|]. rewrite Qe, updq_far; auto.
  - intros q. unfold sides_beta. rewrite far_sc. destruct (cpu_b e); auto.
  - intros q. unfold sides_beta. rewrite far_sc. destruct (cpu_b e); simpl; [auto|].
    destruct (forces _ _); [rewrite Qe, updq_far; auto|auto].
Qed.
Lemma far_word_alpha x : x <> loc e -> wlike (clo (tn (after_alpha s e))) (word_of s x) (word_of (after_alpha s e) x).
Proof.
  intros N. destruct (far_spread (tn s) (reached s e) (closing_alpha s e)) as (S1 & S2).
  constructor; unfold after_alpha, word_of; cbv zeta; cbn [w_mem w_read w_written w_tread w_twritten w_poison th acc tn
    ps]; auto.
  - symmetry. now apply far_mem.
  - intros F. symmetry. now apply (S2 F).
  - intros F. symmetry. now apply (S2 F).
Qed.
Lemma far_word_beta c x : x <> loc e -> wlike (clo (tn (after_beta hw c s e))) (word_of s x)
  (word_of (after_beta hw c s e) x).
Proof.
  intros N. destruct (far_spread (tn s) (reached s e || meets c e) (own c e)) as (S1 & S2).
  constructor; unfold after_beta, word_of; cbv zeta; cbn [w_mem w_read w_written w_tread w_twritten w_poison th acc tn
    ps]; auto.
  - symmetry. now apply far_mem.
  - symmetry. now apply far_left.
  - symmetry. now apply far_left.
  - intros F. symmetry. now apply (S2 F).
  - intros F. symmetry. now apply (S2 F).
  - unfold poisoning. destruct (rd_b e); [destruct (cpu_b e); auto|].
    destruct (brings e); simpl; [now rewrite upd_other|]. destruct (wr_b e); simpl; [now rewrite upd_other|auto].
Qed.
Lemma far_begun c t x : x <> ccell c ->
  like (clo (tn s)) (part_of s t) (part_of (begun c s) t) /\ wlike (clo (tn s)) (word_of s x) (word_of (begun c s) x).
Proof.
  intros N. split; [apply like_refl|]. constructor; auto. simpl. destruct (cwr c); [now rewrite upd_other|auto].
Qed.
End Far.
