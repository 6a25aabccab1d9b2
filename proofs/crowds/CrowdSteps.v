(* Crowds, the two directions of one step: what a control with a marking can do the search does, with as many copies
   ([back_step]), and what the search does is a step of a control with a marking ([forth_step]). *)
Require Import List Arith ZArith Bool Lia Permutation Relations.
Import ListNotations.
From RR Require Import Model Hardware Programs Search Searched Marks Counting CrowdProgram Views Moves Locality CrowdRules
  Joined CrowdSearch.

Section CrowdSteps.
Context {K : crowd} (hw : hardware) {OK : hardware_ok hw} {SO : search_ok hw} {SC : cpu_sc hw} (zero : bool).
Notation state := (@state concrete).
Notation ev := (@ev concrete).
Notation moves := (moves hw zero).
Notation leads := (leads hw zero).
Notation explicit := (explicit hw zero).
Notation copy := (copy hw zero).
Notation hero := (hero hw zero).
Notation copy_hero := (copy_hero hw zero).
Notation own_hero := (own_hero hw zero).
Notation run_step := (run_step control local explicit copy hero copy_hero own_hero).
Notation count_step := (count_step control local initial explicit copy hero copy_hero own_hero).

(* From counting to the search *)
Lemma made_hero ts s jh js c ls : made ts s jh js c ls -> jh = None <-> c_hero c = None.
Proof. intros M. pose proof (m_hero _ _ _ _ _ _ M) as H. destruct jh, (c_hero c); tauto || (split;
  congruence || tauto). Qed.
Lemma leads_hero jh js c ls t jh' js' c' ls' : leads jh js c ls t jh' js' c' ls' -> jh = None <-> c_hero c = None.
Proof. intros (ts & s & s' & e & _ & _ & M & _). eapply made_hero; eauto. Qed.
Lemma Forall2_split {A B} (R : A -> B -> Prop) l1 l2 m1 m2 : Forall2 R (l1 ++ l2) (m1 ++ m2) -> length l1 = length m1 ->
  Forall2 R l1 m1 /\ Forall2 R l2 m2.
Proof.
  revert m1. induction l1 as [|x l1 IH]; intros [|y m1] F Le; simpl in *; try discriminate; auto.
  inversion F; subst. destruct (IH m1) as (A1 & A2); auto.
Qed.
Lemma once_apart jh jins jrest j : NoDup (everyone jh (jins ++ jrest)) -> In j jrest -> ~ In j (everyone jh jins).
Proof.
  assert (forall l1 l2 : list nat, NoDup (l1 ++ l2) -> In j l2 -> ~ In j l1) as H.
  { intros l1 l2 N I J. induction l1 as [|x l1 IH]; simpl in *; [tauto|]. inversion N; subst.
    destruct J as [->|J]; [|tauto].
    apply H1. apply in_or_app. auto. }
  intros N. apply H. now destruct jh.
Qed.
Lemma once_sub jh jins jrest : NoDup (everyone jh (jins ++ jrest)) -> NoDup (everyone jh jins).
Proof.
  assert (forall l1 l2 : list nat, NoDup (l1 ++ l2) -> NoDup l1) as H.
  { intros l1 l2 N. induction l1 as [|x l1 IH]; [constructor|]. inversion N; subst. constructor; [|auto].
    intros I. apply H1. apply in_or_app. auto. }
  intros N. apply H with jrest. now destruct jh.
Qed.
Lemma big_step jh1 js1 c ins t jh1' js1' c' outs ts s jh jins jh' jouts rest jrest ls' :
  leads jh1 js1 c ins t jh1' js1' c' outs -> sound ts s -> made ts s jh (jins ++ jrest) c (ins ++ rest) ->
  length jins = length ins -> match_up (pairs jh1 js1 jh jins) jh1' js1' jh' jouts ->
  (c_hero c <> None -> jh1' = jh1 /\ jh' = jh) -> NoDup (everyone jh' (jouts ++ jrest)) ->
    Permutation (outs ++ rest) ls' ->
  exists s' jh2 js2, step_of hw zero ts s s' /\ sound ts s' /\ made ts s' jh2 js2 c' ls'.
Proof.
  intros Ld S M Le Mu Hh N Q. destruct (Forall2_split _ _ _ _ _ (m_copies _ _ _ _ _ _ M) Le) as (F1 & F2).
  assert (made ts s jh jins c ins) as M0 by (apply made_with with (jins ++ jrest) (ins ++ rest); auto; eapply once_sub;
    apply M).
  destruct (leads_big hw zero jh1 js1 c ins t jh1' js1' c' outs ts s jh jins jh' jouts Ld S M0 Mu Hh)
    as (s' & St & S' & M' & Al).
  assert (Forall2 (lives ts s') jrest rest) as F2'.
  { pose proof (fun j => once_apart jh jins jrest j (m_once _ _ _ _ _ _ M)) as Ap. clear -F2 Al Ap.
    induction F2; constructor; [apply Al; auto; apply Ap; now left|]. apply IHF2. intros j I. apply Ap. now right. }
  destruct (made_perm ts s' jh' (jouts ++ jrest) c' (outs ++ rest) ls') as (js2 & _ & M2); [|auto|exists s', jh', js2;
    auto].
  apply made_with with jouts outs; auto. apply Forall2_app; [apply M'|auto].
Qed.
Lemma once_middle (i j : nat) l : NoDup (i :: j :: l) -> NoDup (j :: i :: l).
Proof. apply Permutation_NoDup, perm_swap. Qed.
Lemma back_step ts s jh js c ls c' ls' : sound ts s -> made ts s jh js c ls -> run_step (c, ls) (c', ls') ->
  exists s' jh2 js2, step_of hw zero ts s s' /\ sound ts s' /\ made ts s' jh2 js2 c' ls'.
Proof.
  intros S M H.
  assert (forall l a b, ls = a ++ l :: b -> exists j jr, made ts s jh (j :: jr) c (l :: a ++ b)) as One.
  { intros l a b ->. destruct (made_perm ts s jh js c (a ++ l :: b) (l :: a ++ b) M) as (js2 & _ & M2);
    [symmetry; apply Permutation_middle|]. pose proof (m_copies _ _ _ _ _ _ M2) as F. inversion F; subst. eauto. }
  assert (forall l h r, Permutation ls (l :: h :: r) -> exists i j jr,
    made ts s jh (i :: j :: jr) c (l :: h :: r)) as Two.
  { intros l h r Q. destruct (made_perm ts s jh js c ls (l :: h :: r) M Q) as (js2 & _ & M2).
    pose proof (m_copies _ _ _ _ _ _ M2) as F. inversion F as [|? ? ? ? ? F']; subst. inversion F'; subst. eauto. }
  assert (forall l h t i1 j1 r ls2, leads None [i1; j1] c [l; h] t (Some j1) [i1] c' ls2 -> forall i j jr,
    made ts s jh (i :: j :: jr) c (l :: h :: r) -> Permutation (ls2 ++ r) ls' ->
    exists s' jh2 js2, step_of hw zero ts s s' /\ sound ts s' /\ made ts s' jh2 js2 c' ls') as Hero2.
  { intros l h t i1 j1 r ls2 Ld i j jr M2 Q. assert (jh = None) as -> by (apply (made_hero _ _ _ _ _ _ M);
    now apply (leads_hero _ _ _ _ _ _ _ _ _ Ld)).
    pose proof (once_middle i j jr (m_once _ _ _ _ _ _ M2)) as N.
    apply (big_step _ _ _ _ _ _ _ _ _ ts s None [i; j] (Some j) [i] r jr ls' Ld S M2 eq_refl); auto.
    - split; [|split].
      + constructor; [|constructor]. unfold pairs, at_once. simpl. auto.
      + exact (once_sub (Some j) [i] jr N).
      + unfold pairs, at_once. simpl. auto.
    - intros Z. destruct Z. now apply (leads_hero _ _ _ _ _ _ _ _ _ Ld). }
  assert (forall h t j1 r, leads None [j1] c [h] t (Some j1) [] c' [] -> forall j jr,
    made ts s jh (j :: jr) c (h :: r) -> Permutation r ls' ->
    exists s' jh2 js2, step_of hw zero ts s s' /\ sound ts s' /\ made ts s' jh2 js2 c' ls') as Hero1.
  { intros h t j1 r Ld j jr M2 Q. assert (jh = None) as -> by (apply (made_hero _ _ _ _ _ _ M);
    now apply (leads_hero _ _ _ _ _ _ _ _ _ Ld)).
    apply (big_step _ _ _ _ _ _ _ _ _ ts s None [j] (Some j) [] r jr ls' Ld S M2 eq_refl); auto.
    - split; [constructor|]. split; [exact (once_sub (Some j) [] jr (m_once _ _ _ _ _ _ M2))|].
      unfold pairs, at_once. simpl. auto.
    - intros Z. destruct Z. now apply (leads_hero _ _ _ _ _ _ _ _ _ Ld).
    - apply M2. }
  inversion H as [c1 c2 ls1 X|c1 c2 l l' a b X|c1 c2 h a b X|c1 c2 l l' h a b d X|c1 c2 l l' h a b d X|c1 c2 h a b X];
    subst.
  - destruct X as (jh1 & t & Ld). apply (big_step _ _ _ _ _ _ _ _ _ ts s jh [] jh [] ls' js ls' Ld S M eq_refl); auto.
    + split; [constructor|]. split; [exact (once_sub jh [] js (m_once _ _ _ _ _ _ M))|].
      pose proof (made_hero _ _ _ _ _ _ M) as E1. pose proof (leads_hero _ _ _ _ _ _ _ _ _ Ld) as E2.
      destruct jh1, jh; auto; [now left| |]; (assert (Some n = None) by tauto; discriminate).
    + apply M.
  - destruct X as (jh1 & j1 & Ld). destruct (One l a b eq_refl) as (j & jr & M2).
    apply (big_step _ _ _ _ _ _ _ _ _ ts s jh [j] jh [j] (a ++ b) jr _ Ld S M2 eq_refl); auto;
      [|apply M2|exact (Permutation_middle a b l')].
    pose proof (made_hero _ _ _ _ _ _ M) as E1. pose proof (leads_hero _ _ _ _ _ _ _ _ _ Ld) as E2.
    split; [|split; [exact (once_sub jh [j] jr (m_once _ _ _ _ _ _ M2))|]].
    + constructor; [|constructor]. unfold pairs, at_once. destruct jh1, jh; simpl; auto;
      (assert (Some n = None) by tauto; discriminate).
    + destruct jh1, jh; auto; [now left| |]; (assert (Some n = None) by tauto; discriminate).
  - destruct X as (j1 & t & _ & Ld). destruct (One h a b eq_refl) as (j & jr & M2).
    exact (Hero1 _ _ _ _ Ld j jr M2 (Permutation_refl _)).
  - destruct X as (i1 & j1 & Ld). destruct (Two l h (a ++ b ++ d)) as (i & j & jr & M2).
    { rewrite <- (Permutation_middle a). apply perm_skip. rewrite <- (Permutation_middle b), <- (Permutation_middle a).
      reflexivity. }
    apply (Hero2 _ _ _ _ _ _ _ Ld i j jr M2). simpl. apply Permutation_middle.
  - destruct X as (i1 & j1 & Ld). destruct (Two l h (a ++ b ++ d)) as (i & j & jr & M2).
    { rewrite <- (Permutation_middle a), <- (Permutation_middle b), <- (Permutation_middle a). apply perm_swap. }
    apply (Hero2 _ _ _ _ _ _ _ Ld i j jr M2). simpl.
    rewrite <- (Permutation_middle b), <- (Permutation_middle a). reflexivity.
  - destruct X as (j1 & Ld). destruct (One h a b eq_refl) as (j & jr & M2).
    exact (Hero1 _ _ _ _ Ld j jr M2 (Permutation_refl _)).
Qed.

(* From the search to counting: the control and the local states of a state *)
Lemma local_at ts s j : sound ts s -> j < length ts -> exists l, lives ts s j l.
Proof.
  intros S L. pose proof (s_prog _ _ S (nt + j)) as Pr. unfold prog_of in Pr. destruct (Nat.ltb_spec (nt + j) nt); [lia|].
  replace (nt + j - nt) with j in Pr by lia. destruct (nth_error ts j) as [k|] eqn:E.
  - destruct Pr as (h0 & _ & Q). exists (Local k h0 (part_of s (nt + j)) (fun x => word_of s (place j x))).
    constructor; simpl; auto; [apply like_refl|intros; apply wlike_refl].
  - apply nth_error_None in E. lia.
Qed.
Definition fits (jh : option nat) (co : option class) := match co with
  | None => jh = None
  | Some c0 => (cthr c0 < nt /\ ccell c0 < nv /\ jh = None) \/ (cthr c0 = nt /\ ccell c0 < nv + ow /\ jh <> None) end.
Lemma made_new ts s jh js co : sound ts s -> NoDup (everyone jh js) -> (forall j, In j (everyone jh js) ->
  j < length ts) ->
  cls s = option_map (class_at (where_ jh)) co -> fits jh co -> exists c ls, made ts s jh js c ls.
Proof.
  intros S N L C F.
  assert (exists ls, Forall2 (lives ts s) js ls) as (ls & Fl).
  { assert (forall j, In j js -> j < length ts) as L' by (intros j I; apply L; destruct jh; simpl; auto). clear -S L'.
    induction js as [|j js IH]; [exists []; auto|]. destruct (local_at ts s j S) as (l & Hl); [apply L'; now left|].
    destruct IH as (ls & Fl); [intros; apply L'; now right|]. exists (l :: ls). auto. }
  assert (exists ho, match jh, ho with Some j, Some l => lives ts s j l | None, None => True | _,
    _ => False end) as (ho & Ho).
  { destruct jh as [j|]; [|now exists None]. destruct (local_at ts s j S) as (l & Hl); [apply L; now left|].
    now exists (Some l). }
  exists (Control (path_of s) (part_of s) (word_of s) ho co (clo (tn s)) (fro s)), ls. constructor; auto.
  - intros; apply like_refl.
  - intros; apply wlike_refl.
  - unfold fits in F. unfold class_fits; simpl. destruct co, jh, ho; tauto || intuition congruence.
Qed.

(* the mover and its word *)
Lemma mover_word ts s e s' jh js : sound ts s -> moves ts e s s' ->
  (thr e < nt \/ exists j, In j (everyone jh js) /\ thr e = nt + j) ->
  paired (pairs jh js jh js) (thr e) (thr e) /\ wpaired (pairs jh js jh js) (loc e) (loc e) /\
    exists l h, e = Ev (thr e) l h.
Proof.
  intros S M Who. pose proof (moves_inv _ _ _ _ _ _ M) as ((Ne & Nd & Hc & _) & _).
  assert (ready ts s e) as R by (split; [auto|split; auto]). apply (ready_iff ts s e S) in R.
    destruct R as (t & l & -> & Pr & _).
  simpl in Who |- *. assert (forall E j, In j E -> at_once E E j j) as Self.
  { unfold at_once. intros E j I. induction E as [|x E IH]; simpl in *; [tauto|]. destruct I as [->|I]; auto. }
  assert (paired (pairs jh js jh js) t t) as Pt.
  { destruct Who as [L|(j & I & ->)]; [left; auto|]. right. exists j, j. split; [now apply Self|auto]. }
  split; [auto|]. split; [|eauto]. change (loc (Ev t l (path_of s t) : ev)) with (lloc l).
  destruct (label_access ts t _ l Pr) as [L|(x & X & Q & G)]; [now left|left; auto|].
  right. destruct Who as [L|(j & I & ->)]; [lia|]. exists j, j, x. replace (nt + j - nt) with j in Q by lia.
  split; [now apply Self|auto].
Qed.
Lemma small_step ts s jh jins jrest c ins rest e s' jh' jouts co jh0' jouts0 : sound ts s ->
  made ts s jh (jins ++ jrest) c (ins ++ rest) -> length jins = length ins -> moves ts e s s' ->
  (thr e < nt \/ exists j, In j (everyone jh jins) /\ thr e = nt + j) ->
  cls s' = option_map (class_at (where_ jh')) co -> fits jh' co -> NoDup (everyone jh' (jouts ++ jrest)) ->
  (forall j, In j (everyone jh' jouts) -> In j (everyone jh jins)) ->
  match_up (pairs jh jins (hero0 c) (copies0 c ins)) jh' jouts jh0' jouts0 -> (c_hero c <> None ->
    jh' = jh /\ jh0' = hero0 c) ->
  exists t0 c' outs, made ts s' jh' (jouts ++ jrest) c' (outs ++ rest) /\ length outs = length jouts /\
    paired (pairs jh jins (hero0 c) (copies0 c ins)) (thr e) t0 /\
      leads (hero0 c) (copies0 c ins) c ins t0 jh0' jouts0 c' outs.
Proof.
  intros S M Le Mv Who C F N Inc Mu Hh. destruct (Forall2_split _ _ _ _ _ (m_copies _ _ _ _ _ _ M) Le) as (F1 & F2).
  assert (made ts s jh jins c ins) as M0 by (apply made_with with (jins ++ jrest) (ins ++ rest); auto; eapply once_sub;
    apply M).
  pose proof (sound_moves hw zero ts e s s' S Mv) as S'.
  destruct (made_new ts s' jh' jouts co S' (once_sub _ _ _ N)) as (c' & outs & M'); auto.
  { intros j I. eapply everyone_in; [exact M0|auto]. }
  destruct (leads_small hw zero ts s jh jins c ins e s' jh' jouts jh0' jouts0 c' outs S M0 Mv Who M' Mu Hh)
    as (t0 & Pt & Ld).
  exists t0, c', outs. split; [|split; [symmetry; exact (Forall2_len _ _ _ (m_copies _ _ _ _ _ _ M'))|auto]].
  assert (Forall2 (lives ts s') jrest rest) as F2'.
  { destruct (mover_word ts s e s' jh jins S Mv Who) as (P1 & P2 & l & h & E). rewrite E in Mv, P2.
    pose proof (fun j => once_apart jh jins jrest j (m_once _ _ _ _ _ _ M)) as Ap.
    assert (forall j l0, In j jrest -> lives ts s j l0 -> lives ts s' j l0) as Al.
    { intros j l0 I. apply (left_alone hw zero jh jins ts s jh jins (thr e) l h s' (lloc l) (thr e)); auto. }
    clear -F2 Al. induction F2; constructor; [apply Al; auto; now left|]. apply IHF2. intros. apply Al; auto. now right. }
  apply made_with with jouts outs; auto. apply Forall2_app; [apply M'|auto].
Qed.

(* what becomes of the class *)
Lemma hope_class ts cc D : hope_of ts cc D -> (cthr cc < nt /\ ccell cc < nv) \/
  exists j c0, j < length ts /\ cc = class_at j c0 /\ cthr c0 = nt /\ ccell c0 < nv + ow.
Proof.
  intros (L & A). destruct cc as [t x w]; simpl in *. unfold threads_of in L. destruct (le_lt_dec nt t) as [G|G].
  - right. exists (t - nt). destruct A as [A|(i & I & -> & _)].
    + exists (Cls nt x w). unfold class_at; simpl. rewrite Nat.ltb_irrefl, place_low by auto.
      split; [lia|]. split; [f_equal; lia|]. split; [auto|lia].
    + exists (Cls nt i w). unfold class_at; simpl. rewrite Nat.ltb_irrefl. split; [lia|]. split; [f_equal; lia|].
      split; [auto|lia].
  - left. split; [auto|]. destruct A as [A|(i & _ & _ & A)]; [auto|lia].
Qed.
Lemma fits_made ts s jh js c ls : made ts s jh js c ls -> fits jh (c_class c).
Proof.
  intros M. pose proof (m_fits _ _ _ _ _ _ M) as F. pose proof (made_hero _ _ _ _ _ _ M) as H. unfold class_fits in F.
    unfold fits.
  destruct (c_class c); tauto.
Qed.
Lemma class_moves ts s jh js c ls e s' : made ts s jh js c ls -> moves ts e s s' ->
  (exists co, cls s' = option_map (class_at (where_ jh)) co /\ fits jh co) \/
  (jh = None /\ exists j c0, j < length ts /\ cls s' = option_map (class_at (where_ (Some j))) (Some c0) /\
    fits (Some j) (Some c0)).
Proof.
  intros M Mv. assert (cls s' = cls s -> exists co, cls s' = option_map (class_at (where_ jh)) co /\ fits jh co) as Same.
  { intros Q. exists (c_class c). split; [rewrite Q; apply M|eapply fits_made; eauto]. }
  apply moves_inv in Mv. destruct Mv as (_ & [(_ & _ & ->)|[(cc & Q & Ho & _ & ->)|[(cc & _ & _ & _ & _ & ->)|
    (cc & Q & _ & _ & _ & _ & _ & ->)]]]); auto.
  assert (jh = None) as ->.
  { pose proof (fits_made _ _ _ _ _ _ M) as F. pose proof (m_class _ _ _ _ _ _ M) as C. rewrite Q in C. unfold fits in F.
    destruct (c_class c); [discriminate|auto]. }
  destruct (hope_class _ _ _ Ho) as [(L & L')|(j & c0 & J & -> & A & B)].
  - left. exists (Some cc). split; [|left; auto]. simpl. destruct cc as [t x w]; simpl in *. unfold class_at; simpl.
    rewrite place_low by auto. apply Nat.ltb_lt in L. now rewrite L.
  - right. split; [auto|]. exists j, c0. split; [auto|]. split; [reflexivity|]. right.
    split; [auto|split; [auto|discriminate]].
Qed.

Definition cover (ts : list nat) jh js := forall j, j < length ts -> In j (everyone jh js).
Definition stepped_to ts s' c ls := exists jh' js' c' ls', sound ts s' /\ made ts s' jh' js' c' ls' /\ cover ts jh' js' /\
  count_step (c, ls) (c', ls').
Lemma taken_out j (js : list nat) : In j js -> exists r, Permutation js (j :: r).
Proof. intros I. destruct (in_split _ _ I) as (a & b & ->). exists (a ++ b). symmetry. apply Permutation_middle. Qed.
Lemma cover_perm ts jh (js js2 : list nat) : Permutation js js2 -> cover ts jh js -> cover ts jh js2.
Proof.
  intros Q H j J. specialize (H j J). assert (Permutation (everyone jh js) (everyone jh js2)) as Q' by (destruct jh;
    simpl; auto).
  eapply Permutation_in; eauto.
Qed.
Lemma take_one ts s jh js c ls j : made ts s jh js c ls -> In j js -> exists r l lr, Permutation js (j :: r) /\
  Permutation ls (l :: lr) /\ made ts s jh (j :: r) c (l :: lr).
Proof.
  intros M I. destruct (taken_out j js I) as (r & Q). destruct (made_perm_l ts s jh js c ls (j :: r) M Q)
    as (ls2 & Q2 & M2).
  pose proof (m_copies _ _ _ _ _ _ M2) as F. inversion F; subst. eauto 8.
Qed.

(* a step that makes no hero *)
Lemma forth_explicit ts s jh js c ls e s' co : sound ts s -> made ts s jh js c ls -> cover ts jh js -> moves ts e s s' ->
  (thr e < nt \/ jh = Some (thr e - nt) /\ nt <= thr e) -> cls s' = option_map (class_at (where_ jh)) co -> fits jh co ->
  stepped_to ts s' c ls.
Proof.
  intros S M Cv Mv Who C F. pose proof (made_hero _ _ _ _ _ _ M) as Mh.
  destruct (small_step ts s jh [] js c [] ls e s' jh [] co (hero0 c) [] S M eq_refl Mv)
    as (t0 & c' & outs & M' & Le & Pt & Ld); auto.
  - destruct Who as [L|(Q & G)]; [auto|right]. exists (thr e - nt). rewrite Q. split; [now left|lia].
  - apply M.
  - split; [constructor|]. unfold hero0. split; [destruct (c_hero c); repeat constructor; auto|].
    destruct jh, (c_hero c); auto; [now left| |]; (assert (Some n = None) by tauto;
      discriminate) || (assert (@None nat = None) as Z by auto; apply Mh in Z; discriminate).
  - destruct outs; [|discriminate]. exists jh, js, c', ls. split; [eapply sound_moves; eauto|]. split; [exact M'|].
    split; [auto|].
    apply count_rule with [] [] ls; auto. apply rule_explicit. exists (hero0 c), t0. exact Ld.
Qed.
Lemma forth_copy ts s jh js c ls e s' co j : sound ts s -> made ts s jh js c ls -> cover ts jh js -> moves ts e s s' ->
  In j js -> thr e = nt + j -> cls s' = option_map (class_at (where_ jh)) co -> fits jh co -> stepped_to ts s' c ls.
Proof.
  intros S M Cv Mv I Te C F. destruct (take_one _ _ _ _ _ _ _ M I) as (r & l & lr & Q & Ql & M1).
  pose proof (made_hero _ _ _ _ _ _ M1) as Mh.
  destruct (small_step ts s jh [j] r c [l] lr e s' jh [j] co (hero0 c) (copies0 c [l]) S M1 eq_refl Mv) as
    (t0 & c' & outs & M' & Le & Pt & Ld); auto.
  - right. exists j. split; [destruct jh; simpl; auto|auto].
  - apply M1.
  - unfold hero0, copies0, heroes, pairs, at_once. split; [|split].
    + destruct jh, (c_hero c); simpl; repeat constructor; simpl; auto;
      (assert (Some n = None) by tauto; discriminate) || (assert (@None nat = None) as Z by auto; apply Mh in Z;
        discriminate).
    + destruct (c_hero c); simpl; repeat constructor; simpl; intuition discriminate.
    + destruct jh, (c_hero c); simpl; auto;
      (assert (Some n = None) by tauto; discriminate) || (assert (@None nat = None) as Z by auto; apply Mh in Z;
        discriminate).
  - destruct outs as [|l' [|]]; try discriminate. exists jh, (j :: r), c', (l' :: lr).
    split; [eapply sound_moves; eauto|]. split; [exact M'|]. split; [now apply cover_perm with js|].
    apply count_rule with [l] [l'] lr; auto. apply rule_copy. exists (hero0 c), (length (heroes c)).
    assert (t0 = nt + length (heroes c)) as <-; [|exact Ld].
    destruct Pt as [(_ & G)|(a & b & P1 & P2 & ->)]; [lia|]. assert (a = j) as -> by lia. f_equal.
    pose proof (m_once _ _ _ _ _ _ M1) as N. unfold pairs, at_once, hero0, copies0, heroes in *.
    destruct jh as [n|], (c_hero c); simpl in P1; try (assert (Some n = None) by tauto; discriminate);
      try (assert (@None nat = None) as Z by auto; apply Mh in Z; discriminate).
    + destruct P1 as [P1|[P1|[]]]; inversion P1; subst; auto. inversion N as [|? ? N1]; subst. destruct N1. now left.
    + destruct P1 as [P1|[]]; inversion P1; auto.
Qed.
(* a step that makes copy j the hero *)
Lemma forth_hero ts s js c ls e s' c0 j : sound ts s -> made ts s None js c ls -> cover ts None js -> moves ts e s s' ->
  In j js -> (thr e < nt \/ thr e = nt + j) -> cls s' = option_map (class_at j) (Some c0) -> fits (Some j) (Some c0) ->
  stepped_to ts s' c ls.
Proof.
  intros S M Cv Mv I Te C F. destruct (take_one _ _ _ _ _ _ _ M I) as (r & h & lr & Q & Ql & M1).
  assert (c_hero c = None) as Hc by (now apply (made_hero _ _ _ _ _ _ M)).
  destruct (small_step ts s None [j] r c [h] lr e s' (Some j) [] (Some c0) (Some 0) [] S M1 eq_refl Mv) as
    (t0 & c' & outs & M' & Le & Pt & Ld); auto.
  - destruct Te as [L|L]; [auto|right]. exists j. simpl; auto.
  - apply M1.
  - unfold hero0, copies0, heroes, pairs, at_once. rewrite Hc. split; [constructor|].
    split; [repeat constructor; auto|simpl; auto].
  - tauto.
  - destruct outs; [|discriminate]. exists (Some j), r, c', lr. split; [eapply sound_moves; eauto|]. split; [exact M'|].
    split; [exact (cover_perm _ _ _ _ Q Cv)|]. unfold hero0, copies0, heroes in *. rewrite Hc in *. simpl in Ld.
    apply count_rule with [h] [] lr; auto.
    destruct Pt as [(<- & G)|(a & b & P1 & P2 & ->)].
    + apply rule_hero. exists 0, (thr e). auto.
    + destruct P1 as [P1|[]]. inversion P1; subst. apply rule_own_hero. exists 0. exact Ld.
Qed.
Lemma forth_copy_hero ts s js c ls e s' c0 i j : sound ts s -> made ts s None js c ls -> cover ts None js ->
  moves ts e s s' ->
  In i js -> In j js -> i <> j -> thr e = nt + i -> cls s' = option_map (class_at j) (Some c0) ->
    fits (Some j) (Some c0) ->
  stepped_to ts s' c ls.
Proof.
  intros S M Cv Mv Ii Ij Nq Te C F. destruct (taken_out i js Ii) as (r0 & Q0).
  assert (In j r0) as Ij'. { apply (Permutation_in _ Q0) in Ij. destruct Ij; [congruence|auto]. }
  destruct (taken_out j r0 Ij') as (r & Q1). assert (Permutation js (i :: j :: r)) as Q by (now rewrite Q0, Q1).
  destruct (made_perm_l ts s None js c ls _ M Q) as (ls2 & Ql & M1).
  pose proof (m_copies _ _ _ _ _ _ M1) as Fl. inversion Fl as [|? l ? ls3 _ Fl']; subst.
    inversion Fl' as [|? h ? lr _ _]; subst.
  assert (c_hero c = None) as Hc by (now apply (made_hero _ _ _ _ _ _ M)).
  pose proof (once_middle i j r (m_once _ _ _ _ _ _ M1)) as N.
  destruct (small_step ts s None [i; j] r c [l; h] lr e s' (Some j) [i] (Some c0) (Some 1) [0] S M1 eq_refl Mv) as
    (t0 & c' & outs & M' & Le & Pt & Ld); auto.
  - right. exists i. simpl; auto.
  - intros x. simpl. tauto.
  - unfold hero0, copies0, heroes, pairs, at_once. rewrite Hc. split; [|split].
    + constructor; simpl; auto.
    + simpl. repeat constructor; simpl; intuition discriminate.
    + simpl; auto.
  - tauto.
  - destruct outs as [|l' [|]]; try discriminate. exists (Some j), (i :: r), c', (l' :: lr).
    split; [eapply sound_moves; eauto|].
    split; [exact M'|].
    split; [intros x X; apply Cv in X; apply (Permutation_in _ Q) in X; simpl in *; tauto|].
    unfold hero0, copies0, heroes in *. rewrite Hc in *. simpl in Ld.
    apply count_rule with [l; h] [l'] lr; auto. apply rule_copy_hero. exists 0, 1.
    destruct Pt as [(_ & G)|(a & b & P1 & P2 & ->)]; [lia|]. assert (a = i) as -> by lia.
    destruct P1 as [P1|[P1|[]]]; inversion P1; subst; [exact Ld|congruence].
Qed.
Lemma forth_step ts s jh js c ls s' : sound ts s -> made ts s jh js c ls -> cover ts jh js -> step_of hw zero ts s s' ->
  stepped_to ts s' c ls.
Proof.
  intros S M Cv St. destruct (step_moves hw zero ts s s' St) as (e & Mv).
    destruct (mover hw zero ts e s s' S Mv) as (L & _).
  unfold threads_of in L.
  assert (thr e < nt \/ jh = Some (thr e - nt) /\ nt <= thr e \/ exists j, In j js /\ thr e = nt + j) as Who.
  { destruct (le_lt_dec nt (thr e)) as [G|G]; [right|auto]. assert (thr e - nt < length ts) as J by lia. apply Cv in J.
    assert (thr e = nt + (thr e - nt)) as E by lia.
    destruct jh as [n|]; simpl in J; [destruct J as [->|J]; [left; auto|right; eauto]|right; eauto]. }
  destruct (class_moves ts s jh js c ls e s' M Mv) as [(co & C & F)|(-> & j & c0 & J & C & F)].
  - destruct Who as [W|[W|(j & I & W)]].
    + apply (forth_explicit ts s jh js c ls e s' co); auto.
    + apply (forth_explicit ts s jh js c ls e s' co); auto.
    + apply (forth_copy ts s jh js c ls e s' co j); auto.
  - apply Cv in J. simpl in J. destruct Who as [W|[(W & _)|(i & I & W)]]; [|discriminate|].
    + apply (forth_hero ts s js c ls e s' c0 j); auto.
    + destruct (Nat.eq_dec i j) as [->|N]; [apply (forth_hero ts s js c ls e s' c0 j); auto|].
      apply (forth_copy_hero ts s js c ls e s' c0 i j); auto.
Qed.
End CrowdSteps.
