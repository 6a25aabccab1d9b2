(* Crowds: what a state is made of does not depend on the order of the copies; a step among many copies is one among those
   that take part ([leads_small]), and goes on among many ([leads_big]). *)
Require Import List Arith ZArith Bool Lia Permutation Relations.
Import ListNotations.
From RR Require Import Model Hardware Programs Search Searched Marks Counting CrowdProgram Views Moves Locality CrowdRules
  Joined.

Section CrowdSearch.
Context {K : crowd} (hw : hardware) {OK : hardware_ok hw} {SO : search_ok hw} {SC : cpu_sc hw} (zero : bool).
Notation state := (@state concrete).
Notation ev := (@ev concrete).
Notation moves := (moves hw zero).
Notation leads := (leads hw zero).
Notation both := (both hw zero).

(* a state is made of fewer copies, of more, in another order *)
Lemma made_with ts s jh js c ls js2 ls2 : made ts s jh js c ls -> Forall2 (lives ts s) js2 ls2 ->
  NoDup (everyone jh js2) ->
  made ts s jh js2 c ls2.
Proof. intros M F N. destruct M. constructor; auto. Qed.
Lemma once_perm jh js js2 : Permutation js js2 -> NoDup (everyone jh js) -> NoDup (everyone jh js2).
Proof. intros Q. apply Permutation_NoDup. destruct jh; simpl; auto. Qed.
Lemma Forall2_perm_l {A B} (R : A -> B -> Prop) l l2 m : Permutation l l2 -> Forall2 R l m ->
  exists m2, Permutation m m2 /\ Forall2 R l2 m2.
Proof.
  intros Q. revert m. induction Q as [|x l l2 Q IH|x y l|l l2 l3 Q IH Q' IH']; intros m F.
  - exists m. auto.
  - inversion F as [|? z ? m' Rz F']; subst. destruct (IH m' F') as (m2 & A1 & A2). exists (z :: m2). auto.
  - inversion F as [|? z ? m' Rz F']; subst. inversion F' as [|? z' ? m2 Rz' F2]; subst. exists (z' :: z :: m2).
    split; [apply perm_swap|auto].
  - destruct (IH m F) as (m2 & A1 & A2). destruct (IH' m2 A2) as (m3 & B1 & B2). exists m3. split; [now rewrite A1|auto].
Qed.
Lemma Forall2_len {A B} (R : A -> B -> Prop) l m : Forall2 R l m -> length l = length m.
Proof. induction 1; simpl; auto. Qed.
Lemma Forall2_in_l {A B} (R : A -> B -> Prop) l m a : Forall2 R l m -> In a l -> exists b, R a b.
Proof. induction 1 as [|x y l m Q F IH]; simpl; [tauto|]. intros [<-|I]; eauto. Qed.
Lemma Forall2_in_r {A B} (R : A -> B -> Prop) l m b : Forall2 R l m -> In b m -> exists a, R a b.
Proof. induction 1 as [|x y l m Q F IH]; simpl; [tauto|]. intros [<-|I]; eauto. Qed.
Lemma partner E1 : forall E2 a, length E1 = length E2 -> In a E1 -> exists b, at_once E1 E2 a b.
Proof.
  unfold at_once. induction E1 as [|x E1 IH]; intros [|y E2] a Le I; simpl in *; try tauto; try discriminate.
  destruct I as [->|I]; [eauto|]. destruct (IH E2 a) as (b & J); [lia|auto|eauto].
Qed.
Lemma Forall2_flip' {A B} (R : A -> B -> Prop) l m : Forall2 R l m -> Forall2 (fun y x => R x y) m l.
Proof. induction 1; auto. Qed.
Lemma made_perm ts s jh js c ls ls2 : made ts s jh js c ls -> Permutation ls ls2 ->
  exists js2, Permutation js js2 /\ made ts s jh js2 c ls2.
Proof.
  intros M Q. destruct (Forall2_perm_l _ _ _ js Q (Forall2_flip' _ _ _ (m_copies _ _ _ _ _ _ M))) as (js2 & A1 & A2).
  exists js2. split; [auto|]. apply made_with with js ls; [auto|now apply Forall2_flip'|].
  apply once_perm with js; [auto|apply M].
Qed.
Lemma made_perm_l ts s jh js c ls js2 : made ts s jh js c ls -> Permutation js js2 ->
  exists ls2, Permutation ls ls2 /\ made ts s jh js2 c ls2.
Proof.
  intros M Q. destruct (Forall2_perm_l _ _ _ ls Q (m_copies _ _ _ _ _ _ M)) as (ls2 & A1 & A2).
  exists ls2. split; [auto|]. apply made_with with js ls; [auto|auto|]. apply once_perm with js; [auto|apply M].
Qed.
Lemma everyone_in ts s jh js c ls j : made ts s jh js c ls -> In j (everyone jh js) -> j < length ts.
Proof.
  intros M I. assert (exists l, lives ts s j l) as (l & Hl)
    by exact (Forall2_in_l _ _ _ _ (made_all _ _ _ _ _ _ M) I).
  apply nth_error_Some. pose proof (i_templ _ _ _ _ Hl). congruence.
Qed.

(* who can move: threads that there are *)
Lemma mover ts e s s' : sound ts s -> moves ts e s s' -> thr e < threads_of ts /\ exists l h, e = Ev (thr e) l h.
Proof.
  intros S M. pose proof (moves_inv _ _ _ _ _ _ M) as ((Ne & Nd & Hc & _) & _).
  assert (ready ts s e) as R by (split; [auto|split; auto]). apply (ready_iff ts s e S) in R.
    destruct R as (t & l & -> & Pr & _).
  split; [|simpl; eauto]. simpl. destruct (le_lt_dec (threads_of ts) t) as [L|L]; [|auto].
    pose proof (beyond ts t _ L Pr). discriminate.
Qed.

(* the program with the copies of c and ls only *)
Definition hero0 c := match c_hero c with Some _ => Some 0 | None => None end.
Definition copies0 c (ls : list local) := seq (length (heroes c)) (length ls).
Lemma Forall2_seq {A} (R : nat -> A -> Prop) ls : forall a, (forall i l, nth_error ls i = Some l -> R (a + i) l) ->
  Forall2 R (seq a (length ls)) ls.
Proof.
  induction ls as [|l ls IH]; intros a H; simpl; constructor.
  - rewrite <- (Nat.add_0_r a). now apply H.
  - apply IH. intros i x E. replace (S a + i) with (a + S i) by lia. now apply H.
Qed.
Lemma everyone0 c ls : everyone (hero0 c) (copies0 c ls) = seq 0 (length (heroes c ++ ls)).
Proof. unfold hero0, copies0, heroes. destruct (c_hero c); reflexivity. Qed.
Lemma lives_code ts s j l : sound ts s -> lives ts s j l -> templ (l_templ l) (l_path l) /\
  exists n i, fine n (map (put_at (place i)) (l_path l)).
Proof.
  intros S L. split; [|exists (words_of ts), j; rewrite <- (i_path _ _ _ _ L); apply S].
  pose proof (s_prog _ _ S (nt + j)) as Pr. unfold prog_of in Pr. destruct (Nat.ltb_spec (nt + j) nt); [lia|].
  replace (nt + j - nt) with j in Pr by lia. rewrite (i_templ _ _ _ _ L), (i_path _ _ _ _ L) in Pr.
  destruct Pr as (h0 & Hh & Q). apply puts_inj in Q; [now rewrite Q|apply place_inj].
Qed.
Lemma shrink ts s jh js c ls : sound ts s -> made ts s jh js c ls -> exists ts0 s0,
  length ts0 = length (everyone (hero0 c) (copies0 c ls)) /\ sound ts0 s0 /\ made ts0 s0 (hero0 c) (copies0 c ls) c ls.
Proof.
  intros S M. set (all := heroes c ++ ls). set (cl := option_map (class_at 0) (c_class c)).
  exists (map l_templ all), (joined c all cl). rewrite everyone0. fold all.
  assert (forall l, In l all -> exists j, lives ts s j l) as Al
    by (intros l I; exact (Forall2_in_r _ _ _ _ (made_all _ _ _ _ _ _ M) I)).
  split; [now rewrite map_length, seq_length|]. split.
  - apply sound_joined.
    + intros t L. rewrite <- (m_path _ _ _ _ _ _ M t L). pose proof (s_prog _ _ S t) as Pr. unfold prog_of in Pr.
      apply Nat.ltb_lt in L. now rewrite L in Pr.
    + intros t L. exists (words_of ts). rewrite <- (m_path _ _ _ _ _ _ M t L). apply S.
    + intros l I. destruct (Al l I) as (j & Hl). eapply lives_code; eauto.
    + intros l I. destruct (Al l I) as (j & Hl). eapply lives_code; eauto.
  - assert (forall i l, nth_error all i = Some l -> lives (map l_templ all) (joined c all cl) i l) as Lv
      by (intros; now apply lives_joined).
    constructor.
    + intros t L. rewrite path_joined. unfold path_j. apply Nat.ltb_lt in L. now rewrite L.
    + intros t L. rewrite part_joined. unfold part_j. apply Nat.ltb_lt in L. rewrite L. apply like_refl.
    + intros x L. rewrite word_joined. unfold word_j. apply Nat.ltb_lt in L. rewrite L. apply wlike_refl.
    + unfold hero0. destruct (c_hero c) as [l|] eqn:H; [|auto]. apply Lv. unfold all, heroes. now rewrite H.
    + unfold copies0. apply Forall2_seq. intros i l E. apply Lv. unfold all. rewrite nth_error_app2 by lia.
      now replace (length (heroes c) + i - length (heroes c)) with i by lia.
    + rewrite everyone0. apply seq_NoDup.
    + unfold hero0. cbn [joined cls]. unfold cl. now destruct (c_hero c).
    + apply M.
    + reflexivity.
    + reflexivity.
Qed.

(* a step among many copies is one among those that take part *)
Definition pairs jh1 js1 jh2 js2 := at_once (everyone jh1 js1) (everyone jh2 js2).
Lemma leads_small ts s jh js c ls e s' jh' js' jh0' js0' c' ls' : sound ts s -> made ts s jh js c ls -> moves ts e s s' ->
  (thr e < nt \/ exists j, In j (everyone jh js) /\ thr e = nt + j) -> made ts s' jh' js' c' ls' ->
  match_up (pairs jh js (hero0 c) (copies0 c ls)) jh' js' jh0' js0' -> (c_hero c <> None -> jh' = jh /\ jh0' = hero0 c) ->
  exists t0, paired (pairs jh js (hero0 c) (copies0 c ls)) (thr e) t0 /\
    leads (hero0 c) (copies0 c ls) c ls t0 jh0' js0' c' ls'.
Proof.
  intros S M Mv Who M' Mu Hh. destruct (shrink ts s jh js c ls S M) as (ts0 & s0 & Len & S0 & M0).
  destruct (both ts s jh js ts0 s0 (hero0 c) (copies0 c ls) c ls e s' jh' js' jh0' js0' c' ls') as
    (t2 & l2 & h2 & s2' & Mv2 & S2 & M2 & Pt & _); auto.
  - destruct Who as [L|(j & I & Q)]; [exists (thr e); left; auto|].
    destruct (partner (everyone jh js) (everyone (hero0 c) (copies0 c ls)) j) as (j0 & J); [|auto|].
    { etransitivity; [exact (Forall2_len _ _ _ (made_all _ _ _ _ _ _ M))|]. symmetry.
      exact (Forall2_len _ _ _ (made_all _ _ _ _ _ _ M0)). }
    exists (nt + j0). right. exists j, j0. auto.
  - exists t2. split; [auto|]. exists ts0, s0, s2', (Ev t2 l2 h2). split; [auto|]. split; [auto|]. split; [auto|].
    split; [exact Mv2|]. split; [reflexivity|auto].
Qed.
(* and goes on among many *)
Lemma leads_big jh1 js1 c ls t jh1' js1' c' ls' ts2 s2 jh2 js2 jh2' js2' : leads jh1 js1 c ls t jh1' js1' c' ls' ->
  sound ts2 s2 -> made ts2 s2 jh2 js2 c ls -> match_up (pairs jh1 js1 jh2 js2) jh1' js1' jh2' js2' ->
  (c_hero c <> None -> jh1' = jh1 /\ jh2' = jh2) -> exists s2', step_of hw zero ts2 s2 s2' /\ sound ts2 s2' /\
    made ts2 s2' jh2' js2' c' ls' /\ forall j l, ~ In j (everyone jh2 js2) -> lives ts2 s2 j l -> lives ts2 s2' j l.
Proof.
  intros (ts & s & s' & e & Len & S & M & Mv & Te & M') S2 M2 Mu Hh.
  destruct (both ts s jh1 js1 ts2 s2 jh2 js2 c ls e s' jh1' js1' jh2' js2' c' ls') as
    (t2 & l2 & h2 & s2' & Mv2 & S2' & M2' & Pt & x & Pw); auto.
  - destruct (mover ts e s s' S Mv) as (L & _). destruct (le_lt_dec nt (thr e)) as [G|G]; [|exists (thr e); left; auto].
    assert (In (thr e - nt) (everyone jh1 js1)) as I.
    { assert (incl (seq 0 (length ts)) (everyone jh1 js1)) as Ic.
      { apply NoDup_length_incl; [apply M|rewrite seq_length; lia|]. intros j J. apply in_seq.
        pose proof (everyone_in ts s jh1 js1 c ls j M J). lia. }
      apply Ic. apply in_seq. unfold threads_of in L. lia. }
    destruct (partner (everyone jh1 js1) (everyone jh2 js2) (thr e - nt)) as (j0 & J); [|auto|].
    { etransitivity; [exact (Forall2_len _ _ _ (made_all _ _ _ _ _ _ M))|]. symmetry.
      exact (Forall2_len _ _ _ (made_all _ _ _ _ _ _ M2)). }
    exists (nt + j0). right. exists (thr e - nt), j0. split; [auto|lia].
  - exists s2'. split; [apply Mv2|]. split; [auto|]. split; [auto|]. intros j l N L.
    exact (left_alone hw zero jh1 js1 ts2 s2 jh2 js2 t2 l2 h2 s2' x (thr e) j l Mv2 Pt Pw N L).
Qed.
End CrowdSearch.
