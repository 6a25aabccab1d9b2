(* Crowds: a step of a copy that is no read-modify-write can be taken again by the next copy in the same local state,
   and leads to the
   same: the condition of Lemma 4 of docs/theory-crowds.md.  Not so for the step that starts phase 2. *)
Require Import List Arith ZArith Bool Lia.
Import ListNotations.
From RR Require Import Model Hardware Programs Search Searched Marks Counting CrowdProgram Views Untouched Moves
  Locality CrowdRules
  Joined CrowdSearch.

Section Again.
Context {K : crowd} (hw : hardware) {OK : hardware_ok hw} {SO : search_ok hw} {SC : cpu_sc hw} (zero : bool).
Notation state := (@state concrete).
Notation ev := (@ev concrete).
Notation moves := (moves hw zero).
Local Arguments thr : simpl never.
Local Arguments loc : simpl never.
Local Arguments qp : simpl never.
Local Arguments knd : simpl never.
Local Arguments cwv : simpl never.
Local Arguments crv : simpl never.
Local Arguments sgn : simpl never.
Local Arguments brings : simpl never.

(* after the step from s to s', but the words of [mine] and all that is local to threads as before *)
Variables (s s' : state) (mine : nat -> bool).
Definition mix {A} (f g : nat -> A) x := if mine x then f x else g x.
Definition behind : state := State (Thr (hist (th s)) (mix (mem (th s)) (mem (th s'))) (car (th s))) (cn s) (cls s')
  (sd s)
  (Cel (mix (cr (acc s)) (cr (acc s'))) (mix (cw (acc s)) (cw (acc s'))))
  (Tnt (Cel (mix (cr (tce (tn s))) (cr (tce (tn s')))) (mix (cw (tce (tn s))) (cw (tce (tn s'))))) (tth (tn s))
    (clo (tn s')))
  (Psn (mix (poi (ps s)) (poi (ps s'))) (poc (ps s))) (fro s') (fwd s).

Variables (ts : list nat) (e : ev).
Hypothesis M : moves ts e s s'.
Hypothesis no_rmw : knd e <> CAS.
Hypothesis no_start : cls s' = cls s.
(* the pivot's word is none of these *)
Hypothesis not_mine : forall c, cls s = Some c -> mine (ccell c) = false.

Lemma one_side : rd_b e = true -> wr_b e = false.
Proof. unfold rd_b, wr_b. destruct (knd e); congruence. Qed.
Lemma mix_same {A} (f g : nat -> A) x : f x = g x -> mix f g x = f x.
Proof. unfold mix. now destruct (mine x). Qed.
(* what is marked again is marked *)
Lemma left_again (a : touched) x :
  cr (left_by (Cel (mix (cr a) (cr (left_by a e))) (mix (cw a) (cw (left_by a e)))) e) x = cr (left_by a e) x /\
  cw (left_by (Cel (mix (cr a) (cr (left_by a e))) (mix (cw a) (cw (left_by a e)))) e) x = cw (left_by a e) x.
Proof.
  unfold left_by, mix; simpl. destruct (rd_b e), (wr_b e); unfold upd; destruct (x =? loc e) eqn:Q; rewrite ?Q;
    destruct (mine x); auto.
Qed.
Lemma meets_more a b : (forall x, cr a x = true -> cr b x = true) -> (forall x, cw a x = true -> cw b x = true) ->
  meets_marks a e = true -> meets_marks b e = true.
Proof.
  unfold meets_marks. intros R W H. apply orb_true_iff in H. apply orb_true_iff. rewrite !andb_true_iff in *.
  destruct H as [(A & B)|(A & B)]; [left|right]; split; auto.
Qed.
Lemma left_more a x : (cr a x = true -> cr (left_by a e) x = true) /\ (cw a x = true -> cw (left_by a e) x = true).
Proof.
  unfold left_by; simpl. destruct (rd_b e), (wr_b e); unfold upd; destruct (x =? loc e); auto.
Qed.
Lemma mix_more (f g : nat -> bool) x : (f x = true -> g x = true) -> f x = true -> mix f g x = true.
Proof. unfold mix. destruct (mine x); auto. Qed.
Lemma spread_again (t0 : taint) m cl :
  let r a := tth t0 (thr e) || meets_marks (tce a) e in
  let t' := spreading t0 e (r t0 || m) cl in
  let t1 := Tnt (Cel (mix (cr (tce t0)) (cr (tce t'))) (mix (cw (tce t0)) (cw (tce t')))) (tth t0) (clo t') in
  let t2 := spreading t1 e (r t1 || m) cl in
  clo t2 = clo t' /\ (clo t' = false -> (forall t, tth t2 t = tth t' t) /\
    forall x, cr (tce t2) x = cr (tce t') x /\ cw (tce t2) x = cw (tce t') x).
Proof.
  intros r t' t1 t2. destruct (clo t') eqn:C'.
  - assert (clo t2 = true) as ->; [|split; [auto|discriminate]]. unfold t2, spreading.
    assert (clo t1 = true) as -> by reflexivity. auto.
  - assert (clo t0 = false /\ (r t0 || m) && cl = false) as (C0 & Q).
    { unfold t', spreading in C'. destruct (clo t0); [discriminate|]. destruct ((r t0 || m) && cl); [discriminate|auto]. }
    assert (t' = if r t0 || m then Tnt (left_by (tce t0) e) (upd (tth t0) (thr e) true) false else t0) as E'.
    { unfold t', spreading. now rewrite C0, Q. }
    assert (r t1 || m = r t0 || m) as R1.
    { destruct (r t0 || m) eqn:R0.
      - apply orb_true_iff in R0. apply orb_true_iff. destruct R0 as [R0|R0]; [left|now right]. unfold r in *.
        apply orb_true_iff in R0. apply orb_true_iff. destruct R0 as [R0|R0]; [now left|right].
        revert R0. unfold t1; cbn [tce]. rewrite E'. cbn [tce].
          apply meets_more; intros x; apply mix_more; apply left_more.
      - apply orb_false_iff in R0. destruct R0 as (R0 & ->). rewrite orb_false_r. unfold r in *.
        apply orb_false_iff in R0. destruct R0 as (R0 & R0'). apply orb_false_iff. split; [exact R0|].
        unfold t1; cbn [tce]. rewrite E'. unfold meets_marks in *. cbn [cr cw]. now rewrite !mix_same. }
    assert (t2 = if r t0 || m then Tnt (left_by (tce t1) e) (upd (tth t0) (thr e) true) false else t1) as E2.
    { unfold t2, spreading. rewrite R1, Q. assert (clo t1 = false) as -> by reflexivity. reflexivity. }
    rewrite E2. unfold t1. rewrite E'. destruct (r t0 || m); cbn [tce tth clo].
    + split; [auto|]. intros _. split; [auto|]. intros x. apply left_again.
    + split; [auto|]. intros _. split; [auto|]. intros x. cbn [cr cw]. now rewrite !mix_same.
Qed.

(* two states that are the same for all that the search asks *)
Definition same (a b : state) := (forall t, like (clo (tn a)) (part_of a t) (part_of b t)) /\
  (forall x, wlike (clo (tn a)) (word_of a x) (word_of b x)) /\ clo (tn a) = clo (tn b) /\ fro a = fro b /\ cls a = cls b.
Lemma mem_step (b t : bool) x : mem (th s') = mem (th_after (th s) (Mv e b t)) ->
  mem (th_after (th behind) (Mv e b t)) x = mem (th s') x.
Proof.
  intros Q. unfold th_after, behind, written, mix. cbn [mem th car me]. rewrite Q. unfold th_after, written; cbn [mem me].
  unfold upd. destruct (wr_b e), (x =? loc e) eqn:X; destruct (mine x); auto.
Qed.
Lemma mem_read (b t : bool) : mem (th s') = mem (th_after (th s) (Mv e b t)) -> rd_b e = true ->
  mem (th behind) (loc e) = mem (th s) (loc e).
Proof.
  intros Q R. unfold behind; cbn [mem th]. apply mix_same. rewrite Q. unfold th_after; cbn [mem me].
    now rewrite (one_side R).
Qed.
Lemma car_step (b t : bool) y : mem (th s') = mem (th_after (th s) (Mv e b t)) ->
  car (th_after (th behind) (Mv e b t)) y = car (th_after (th s) (Mv e b t)) y.
Proof.
  intros Q. unfold th_after; cbn [car me]. destruct (rd_b e) eqn:R; cbn [andb]; [|reflexivity].
  rewrite (mem_read b t Q R). reflexivity.
Qed.
Lemma tn_again m cl : tn s' = spreading (tn s) e (reached s e || m) cl ->
  let t2 := spreading (tn behind) e (reached behind e || m) cl in
  clo t2 = clo (tn s') /\ (clo (tn s') = false -> (forall t, tth t2 t = tth (tn s') t) /\
    forall x, cr (tce t2) x = cr (tce (tn s')) x /\ cw (tce t2) x = cw (tce (tn s')) x).
Proof. intros Q. pose proof (spread_again (tn s) m cl) as H. unfold behind, reached; cbn [tn tth tce]. rewrite Q.
  exact H. Qed.
Lemma same_alpha : s' = after_alpha s e -> same s' (after_alpha behind e).
Proof.
  intros Q. assert (closing_alpha behind e = closing_alpha s e) as Cl
    by (unfold closing_alpha, takes_own, behind; cbn [cls fwd]; now rewrite no_start).
  assert (mem (th s') = mem (th_after (th s) (Mv e false (reached s e)))) as Qm by now rewrite Q.
  destruct (tn_again false (closing_alpha s e)) as (S1 & S2); [rewrite orb_false_r; now rewrite Q|].
  rewrite orb_false_r in S1, S2.
  assert (tn (after_alpha behind e) = spreading (tn behind) e (reached behind e) (closing_alpha s e)) as Qb
    by (unfold after_alpha; now rewrite Cl).
  split; [|split; [|split; [|split; [|symmetry]]]].
  - intros t. constructor; unfold part_of; cbn [p_car p_cpub p_taint p_poc p_unp p_ear p_typ p_fen p_fod]; intros;
    try (rewrite Q; reflexivity).
    + rewrite Q at 1. symmetry. exact (car_step false (reached s e) t Qm).
    + rewrite Qb. symmetry. now apply S2.
  - intros x. constructor; unfold word_of; cbn [w_mem w_read w_written w_tread w_twritten w_poison]; intros.
    + symmetry. exact (mem_step false (reached s e) x Qm).
    + rewrite Q. unfold after_alpha, behind; cbn [acc cr]. symmetry. apply mix_same; rewrite Q; reflexivity.
    + rewrite Q. unfold after_alpha, behind; cbn [acc cw]. symmetry. apply mix_same; rewrite Q; reflexivity.
    + rewrite Qb. symmetry. now apply S2.
    + rewrite Qb. symmetry. now apply S2.
    + rewrite Q. unfold after_alpha, behind; cbn [ps poi]. symmetry. apply mix_same; rewrite Q; reflexivity.
  - rewrite Qb. now symmetry.
  - reflexivity.
  - reflexivity.
Qed.
Lemma poisoning_again (p : poison) : let p' := poisoning p e in let p2 := poisoning (Psn (mix (poi p) (poi p'))
  (poc p)) e in
  (forall x, poi p2 x = poi p' x) /\ forall t, poc p2 t = poc p' t.
Proof.
  unfold poisoning. pose proof one_side as O. destruct (rd_b e) eqn:R; [destruct (cpu_b e); cbn [poi poc]|
    destruct (brings e); [|destruct (wr_b e)]; cbn [poi poc]]; split; intros y; auto; unfold mix, upd;
  repeat match goal with |- context [if ?b then _ else _] => destruct b end; auto.
Qed.
Lemma same_beta c : cls s = Some c -> s' = after_beta hw c s e -> same s' (after_beta hw c behind e).
Proof.
  intros Qc Q. assert (mem (th s') = mem (th_after (th s) (Mv e true (reached s e || meets c e)))) as Qm by now rewrite Q.
  destruct (tn_again (meets c e) (own c e)) as (S1 & S2); [now rewrite Q|].
  assert (tn (after_beta hw c behind e) = spreading (tn behind) e (reached behind e || meets c e) (own c e))
    as Qb by reflexivity.
  pose proof (poisoning_again (ps s)) as (P1 & P2).
  assert (acc s' = left_by (acc s) e) as Qa by now rewrite Q. assert (ps s' = poisoning (ps s) e) as Qp by now rewrite Q.
  split; [|split; [|split; [|split; [|symmetry]]]].
  - intros t. constructor; unfold part_of; cbn [p_car p_cpub p_taint p_poc p_unp p_ear p_typ p_fen p_fod]; intros;
    try (rewrite Q; reflexivity).
    + rewrite Q at 1. symmetry. exact (car_step true (reached s e || meets c e) t Qm).
    + rewrite Qb. symmetry. now apply S2.
    + unfold after_beta at 1, behind; cbn [ps]. rewrite Qp. symmetry. apply P2.
  - intros x. constructor; unfold word_of; cbn [w_mem w_read w_written w_tread w_twritten w_poison]; intros.
    + symmetry. exact (mem_step true (reached s e || meets c e) x Qm).
    + unfold after_beta at 1, behind; cbn [acc]. rewrite Qa. symmetry. apply left_again.
    + unfold after_beta at 1, behind; cbn [acc]. rewrite Qa. symmetry. apply left_again.
    + rewrite Qb. symmetry. now apply S2.
    + rewrite Qb. symmetry. now apply S2.
    + unfold after_beta at 1, behind; cbn [ps]. rewrite Qp. symmetry. apply P1.
  - rewrite Qb. now symmetry.
  - unfold after_beta at 1; cbn [fro]. unfold freeze. cbn [th acc behind cw fro]. rewrite Qa.
    unfold mix. rewrite (not_mine c Qc). destruct (wr_b e) eqn:Wr; cbn [andb]; [|reflexivity].
    destruct (Nat.eqb_spec (loc e) (ccell c)) as [E|]; cbn [andb]; [|reflexivity].
    unfold left_by; cbn [cw]. rewrite Wr, E, upd_same. reflexivity.
  - reflexivity.
Qed.
Lemma behind_moves : exists s2, moves ts e behind s2 /\ same s' s2.
Proof.
  pose proof (moves_inv _ _ _ _ _ _ M) as ((Ne & Nd & Hc & Hv) & As).
  assert (forall b t, mem (th s') = mem (th_after (th s) (Mv e b t)) -> enabled (ini_of ts) (ctl_of ts) behind e) as En.
  { intros b t Q. split; [auto|split; [exact Nd|split; [exact Hc|]]]. intros C R. rewrite (mem_read b t Q R). auto. }
  destruct As as [(C & Pa & Q)|[(c & C & Ho & St & Q)|[(c & C & Ho & F & Pa & Q)|(c & C & Ho & F & Pb & Cu & Po & Q)]]].
  - exists (after_alpha behind e). split; [|now apply same_alpha].
    apply moves_intro; [now apply (En false (reached s e)); rewrite Q|].
    left. split; [cbn; congruence|split; [exact Pa|auto]].
  - exfalso. rewrite Q in no_start. cbn in no_start. congruence.
  - exists (after_alpha behind e). split; [|now apply same_alpha].
    apply moves_intro; [now apply (En false (reached s e)); rewrite Q|].
    right; right; left. exists c. split; [cbn; congruence|]. split; [exact Ho|]. split; [|split; [exact Pa|auto]].
    rewrite <- F. unfold forced, takes_own, behind, meets_marks; cbn [sd acc cr cw fwd].
    assert (acc s' = acc s) as -> by now rewrite Q.
    now rewrite !mix_same.
  - exists (after_beta hw c behind e). split; [|now apply same_beta].
    apply moves_intro; [now apply (En true (reached s e || meets c e)); rewrite Q|].
    right; right; right. exists c. split; [cbn; congruence|]. split; [exact Ho|]. split.
    + destruct F as [F|F]; [now left|right]. unfold forced in *. apply orb_true_iff in F. apply orb_true_iff.
      destruct F as [F|F]; [now left|right]. apply andb_prop in F as (F & O). apply andb_true_iff.
        split; [|exact O]. revert F. unfold behind; cbn [acc].
        assert (acc s' = left_by (acc s) e) as -> by now rewrite Q.
      apply meets_more; intros x; apply mix_more; apply left_more.
    + split; [exact Pb|]. split; [exact Cu|]. split; [|auto]. unfold poisons in *. destruct (cpu_b e) eqn:Cp; [|auto].
      destruct (rd_b e) eqn:R; [|auto]. cbn [andb] in *. unfold behind; cbn [ps poi].
      assert (ps s' = ps s) as -> by (rewrite Q; cbn; unfold poisoning; now rewrite R, Cp). now rewrite mix_same.
Qed.
Lemma word_behind x : word_of behind x = if mine x then word_of s x else word_of s' x.
Proof. unfold word_of, behind, mix; cbn. now destruct (mine x). Qed.
End Again.

Section Copies.
Context {K : crowd} (hw : hardware) {OK : hardware_ok hw} {SO : search_ok hw} {SC : cpu_sc hw} (zero : bool).
Notation state := (@state concrete).
Notation ev := (@ev concrete).
Notation moves := (moves hw zero).

Lemma same_made ts s1 s2 jh js c ls : same s1 s2 -> (forall t, path_of s1 t = path_of s2 t) ->
  made ts s1 jh js c ls -> made ts s2 jh js c ls.
Proof.
  intros (Pa & Wo & Cl & Fr & Cs) Pt M.
  assert (forall j l, lives ts s1 j l -> lives ts s2 j l) as Lv.
  { intros j l [T1 T2 T3 T4]. constructor; [auto|now rewrite <- Pt| |]; rewrite <- Cl.
    - eapply like_trans; [exact T3|apply Pa].
    - intros x X. eapply wlike_trans; [now apply T4|apply Wo]. }
  destruct M as [M1 M2 M3 M4 M5 M6 M7 M8 M9 M10]. constructor; auto; try congruence.
  - intros t L. rewrite <- Pt. auto.
  - intros t L. rewrite <- Cl. eapply like_trans; [now apply M2|apply Pa].
  - intros x L. rewrite <- Cl. eapply wlike_trans; [now apply M3|apply Wo].
  - destruct jh, (c_hero c); auto.
  - clear -M5 Lv. induction M5; constructor; auto.
Qed.

(* a step of a copy that is no read-modify-write and does not start phase 2 *)
Definition copy_plainly c l c' l' := exists jh j ts s s' e, length ts = length (everyone jh [j]) /\ sound ts s /\
  made ts s jh [j] c [l] /\ moves ts e s s' /\ thr e = nt + j /\ made ts s' jh [j] c' [l'] /\ knd e <> CAS /\
    cls s' = cls s.
Theorem copy_again c l c' l' : copy_plainly c l c' l' -> copy hw zero c l c' l' /\ copy hw zero c' l c' l'.
Proof.
  intros (jh & j & ts & s & s' & e & Len & S & M & Mv & Te & M' & Nr & Ns).
  split; [exists jh, j, ts, s, s', e; auto 10|]. destruct (mover hw zero ts e s s' S Mv) as (_ & l0 & h0 & Ee).
  set (mine := fun x => negb (x <? nv) && ((x - nv) / ow =? j)).
  assert (forall x, x < nv -> mine x = false) as Low by (intros x L; unfold mine; apply Nat.ltb_lt in L; now rewrite L).
  assert (forall i y, nv <= y < nv + ow -> mine (place i y) = (i =? j)) as Own.
  { intros i y Y. unfold mine. pose proof (place_high i y). destruct (Nat.ltb_spec (place i y) nv); [lia|].
    destruct (own_index i y Y) as (-> & _). reflexivity. }
  assert (forall a, jh = Some a -> a =? j = false) as Apart.
  { intros a ->. pose proof (m_once _ _ _ _ _ _ M) as N. inversion N as [|? ? N1]; subst. apply Nat.eqb_neq. intros ->.
    apply N1. now left. }
  assert (forall c0, cls s = Some c0 -> mine (ccell c0) = false) as Nm.
  { intros c0 Q. rewrite (m_class _ _ _ _ _ _ M) in Q. pose proof (m_fits _ _ _ _ _ _ M) as F. unfold class_fits in F.
    pose proof (m_hero _ _ _ _ _ _ M) as Mh. destruct (c_class c) as [[t x w]|]; [|discriminate]. simpl in Q.
      inversion Q; subst c0. simpl in *.
    destruct (le_lt_dec nv x) as [G|G]; [|rewrite place_low by auto; now apply Low].
    destruct F as [(_ & F & _)|(_ & F & Nh)]; [lia|]. destruct jh as [a|]; [|destruct (c_hero c); tauto].
    simpl. rewrite Own by lia. now apply Apart. }
  destruct (behind_moves hw zero s s' mine ts e Mv Nr Ns Nm) as (s2 & Mv2 & Sm).
  rewrite Ee in Mv, Mv2. rewrite Te in Mv, Mv2.
  pose proof (fun t => path_moves hw zero ts _ _ _ _ _ t Mv) as Pm.
    pose proof (fun t => path_moves hw zero ts _ _ _ _ _ t Mv2) as Pm2.
  assert (forall t, path_of (behind s s' mine) t = path_of s t) as Pb by reflexivity.
  assert (forall t, t <> nt + j -> path_of s' t = path_of s t) as Po by (intros t N; rewrite Pm;
    destruct (Nat.eqb_spec (nt + j) t); congruence).
  assert (forall t, t <> nt + j -> like (clo (tn s')) (part_of s' t) (part_of (behind s s' mine) t)) as Pp.
  { intros t N. apply like_sym. apply (far_part hw zero ts (Ev (nt + j) l0 h0) s s' t Mv); auto. }
  assert (sound ts (behind s s' mine)) as S1 by (constructor; [apply S|apply S|apply S|exact (s_plain _ _ S)]).
  assert (forall i l1, i =? j = false -> lives ts s' i l1 -> lives ts (behind s s' mine) i l1) as Lv.
  { intros i l1 Ni [T1 T2 T3 T4]. apply Nat.eqb_neq in Ni. constructor; auto.
    - rewrite Pb, <- Po by lia. exact T2.
    - eapply like_trans; [exact T3|]. apply Pp. lia.
    - intros x X. rewrite word_behind, Own by auto. apply Nat.eqb_neq in Ni. rewrite Ni. now apply T4. }
  assert (made ts (behind s s' mine) jh [j] c' [l]) as M1.
  { pose proof M' as [A1 A2 A3 A4 A5 A6 A7 A8 A9 A10]. constructor; auto.
    - intros t L. rewrite Pb, <- Po by lia. auto.
    - intros t L. eapply like_trans; [now apply A2|]. apply Pp. lia.
    - intros x L. rewrite word_behind, Low by auto. now apply A3.
    - destruct jh as [a|], (c_hero c'); auto.
    - constructor; [|constructor]. pose proof (m_copies _ _ _ _ _ _ M) as Fc.
      inversion Fc as [|? ? ? ? [T1 T2 T3 T4] _]; subst.
      pose proof (clo_later hw zero ts _ s s' Mv) as Cl. constructor; auto.
      + apply like_later with (clo (tn s)); [exact Cl|exact T3].
      + intros x X. rewrite word_behind, Own, Nat.eqb_refl by auto.
        apply wlike_later with (clo (tn s)); [exact Cl|now apply T4]. }
  exists jh, j, ts, (behind s s' mine), s2, (Ev (nt + j) l0 h0).
    split; [auto|split; [exact S1|split; [exact M1|split; [exact Mv2|split; [auto|]]]]].
  apply (same_made ts s'); auto. intros t. rewrite Pm, Pm2. reflexivity.
Qed.
(* Lemma 4 for these: as many copies as wanted in l give as many as wanted in l' *)
Notation count := (count control local initial (explicit hw zero) (copy hw zero) (hero hw zero) (copy_hero hw zero)
  (own_hero hw zero)).
Corollary plain_copycats c c' l l' m : copy_plainly c l c' l' -> (forall k, count (control0, []) (c, repeat l k ++ m)) ->
  forall k j, count (control0, []) (c', repeat l' (S k) ++ repeat l j ++ m).
Proof. intros H Pl. destruct (copy_again c l c' l' H) as (H1 & H2).
  exact (copycats _ _ _ _ _ _ _ _ control0 c c' l l' m Pl H1 H2). Qed.
End Copies.
