(* The search for a program with a crowd, as a control and a marking: docs/theory-crowds.md, Theorem 3. The control is
   what is shared and local to named threads and the hero; each other copy has a local state. The rules are read off the
   search for programs with one or two copies, the hero among them. *)
Require Import List Arith ZArith Bool Lia.
Import ListNotations.
From RR Require Import Model Hardware Programs Search Searched Marks CrowdProgram Views Moves Locality.

(* A copy: its template, what it has done (with the words of the template), what is local to it, its own words *)
Record local := Local { l_templ : nat; l_path : list label; l_part : part; l_own : nat -> word }.
(* Named threads, words that are no copy's own, the hero, the class, CLOSED, the frozen value.
   In a class [nt] stands for the
   hero, and [nv] .. for its own words. *)
Record control := Control { c_path : nat -> list label; c_part : nat -> part; c_word : nat -> word; c_hero : option local;
                            c_class : option class; c_closed : bool; c_frozen : Z }.

Section Rules.
Context {K : crowd} (hw : hardware) {OK : hardware_ok hw} {SO : search_ok hw} {SC : cpu_sc hw} (zero : bool).
Notation state := (@state concrete).
Notation ev := (@ev concrete).
Notation moves := (moves hw zero).

(* copy j of P ts is in the local state l *)
Record lives ts (s : state) j l : Prop := {
  i_templ : nth_error ts j = Some (l_templ l);
  i_path : path_of s (nt + j) = map (put_at (place j)) (l_path l);
  i_part : like (clo (tn s)) (l_part l) (part_of s (nt + j));
  i_own : forall x, nv <= x < nv + ow -> wlike (clo (tn s)) (l_own l x) (word_of s (place j x));
}.
Definition class_at h (c : class) := Cls (if cthr c <? nt then cthr c else nt + h) (place h (ccell c)) (cwr c).
Definition where_ (jh : option nat) := match jh with Some j => j | None => 0 end.
Definition everyone (jh : option nat) js := match jh with Some j => j :: js | None => js end.
Definition class_fits (c : control) := match c_class c with
  | None => c_hero c = None
  | Some c0 => (cthr c0 < nt /\ ccell c0 < nv /\ c_hero c = None) \/ (cthr c0 = nt /\ ccell c0 < nv + ow /\
    c_hero c <> None)
  end.
(* a state of the search for P ts is made of the control c, with copy jh as the hero,
   and of the copies js in the states ls *)
Record made ts (s : state) jh js c ls : Prop := {
  m_path : forall t, t < nt -> path_of s t = c_path c t;
  m_part : forall t, t < nt -> like (clo (tn s)) (c_part c t) (part_of s t);
  m_word : forall x, x < nv -> wlike (clo (tn s)) (c_word c x) (word_of s x);
  m_hero : match jh, c_hero c with Some j, Some l => lives ts s j l | None, None => True | _, _ => False end;
  m_copies : Forall2 (lives ts s) js ls;
  m_once : NoDup (everyone jh js);
  m_class : cls s = option_map (class_at (where_ jh)) (c_class c);
  m_fits : class_fits c;
  m_closed : clo (tn s) = c_closed c;
  m_frozen : fro s = c_frozen c;
}.

(* A step of thread t of a program with these copies and no others *)
Definition leads jh js c ls t jh' js' c' ls' := exists ts s s' e, length ts = length (everyone jh js) /\ sound ts s /\
  made ts s jh js c ls /\ moves ts e s s' /\ thr e = t /\ made ts s' jh' js' c' ls'.
(* Steps of a named thread or the hero; of a copy; of a named thread that starts phase 2 with a copy as the hero;
   of a copy
   that does so; of a copy that is the hero itself *)
Definition explicit c c' := exists jh t, leads jh [] c [] t jh [] c' [].
Definition copy c l c' l' := exists jh j, leads jh [j] c [l] (nt + j) jh [j] c' [l'].
Definition hero c h c' := exists j t, t < nt /\ leads None [j] c [h] t (Some j) [] c' [].
Definition copy_hero c l h c' l' := exists i j, leads None [i; j] c [l; h] (nt + i) (Some j) [i] c' [l'].
Definition own_hero c h c' := exists j, leads None [j] c [h] (nt + j) (Some j) [] c' [].

(* where it starts: copies that have done nothing *)
Definition part0 := Part 0 false false false (fun _ => 0) (fun _ => 0) (fun _ _ => false) (fun _ => false)
  (fun _ => false).
Definition word0 v := Word v false false false false false.
Definition local0 k := Local k [] part0 (fun x => word0 (own_value k x)).
Definition control0 := Control (fun _ => []) (fun _ => part0) (fun x => word0 (first_value x)) None None false 0.
Definition initial l := exists k, k < nk /\ l = local0 k.
(* a control with a report *)
Definition reporting c := exists ts s jh, length ts = length (everyone jh []) /\ sound ts s /\ made ts s jh [] c [] /\
  reports_of hw ts s.

(* Copies of two programs that are paired: those at the same places of two lists *)
Section Paired.
Variables (E1 E2 : list nat).
Definition at_once a b := In (a, b) (combine E1 E2).
Lemma once_l : NoDup E2 -> forall a b c, at_once a c -> at_once b c -> a = b.
Proof.
  unfold at_once. intros N. revert E1. induction N as [|y l2 Ny N IH]; intros [|x l1] a b c; simpl; try tauto.
  intros [A|A] [B|B]; try congruence.
  - inversion A; subst. apply in_combine_r in B. tauto.
  - inversion B; subst. apply in_combine_r in A. tauto.
  - eapply IH; eauto.
Qed.
Lemma once_r : NoDup E1 -> forall a b c, at_once a b -> at_once a c -> b = c.
Proof.
  unfold at_once. intros N. revert E2. induction N as [|y l2 Ny N IH]; intros [|x l1] a b c; simpl; try tauto.
  intros [A|A] [B|B]; try congruence.
  - inversion A; subst. apply in_combine_l in B. tauto.
  - inversion B; subst. apply in_combine_l in A. tauto.
  - eapply IH; eauto.
Qed.
End Paired.
Lemma Forall2_combine {A B C} (R : A -> C -> Prop) (Q : B -> C -> Prop) l1 l2 l3 a b : Forall2 R l1 l3 ->
  Forall2 Q l2 l3 ->
  In (a, b) (combine l1 l2) -> exists c, R a c /\ Q b c.
Proof.
  intros H. revert l2. induction H as [|x z l1 l3 X H IH]; intros l2 H2; inversion H2; subst; simpl; [tauto|].
  intros [E|I]; [inversion E; subst; eauto|eauto].
Qed.

(* everyone that a state is made of *)
Definition heroes c : list local := match c_hero c with Some l => [l] | None => [] end.
Lemma made_all ts s jh js c ls : made ts s jh js c ls -> Forall2 (lives ts s) (everyone jh js) (heroes c ++ ls).
Proof.
  intros M. pose proof (m_hero _ _ _ _ _ _ M) as H. unfold heroes. destruct jh, (c_hero c); simpl in *; try tauto.
  - constructor; [auto|apply M].
  - apply M.
Qed.
Lemma made_agree ts1 s1 jh1 js1 ts2 s2 jh2 js2 c ls : made ts1 s1 jh1 js1 c ls -> made ts2 s2 jh2 js2 c ls ->
  agree (at_once (everyone jh1 js1) (everyone jh2 js2)) ts1 s1 ts2 s2.
Proof.
  intros M1 M2.
  assert (forall a b, at_once (everyone jh1 js1) (everyone jh2 js2) a b ->
    exists l, lives ts1 s1 a l /\ lives ts2 s2 b l) as Pl.
  { intros a b H. eapply Forall2_combine; [exact (made_all _ _ _ _ _ _ M1)|exact (made_all _ _ _ _ _ _ M2)|exact H]. }
  assert (clo (tn s1) = clo (tn s2)) as Cl by (rewrite (m_closed _ _ _ _ _ _ M1); symmetry; apply M2).
  constructor.
  - intros t L. rewrite (m_path _ _ _ _ _ _ M1 t L). symmetry. now apply (m_path _ _ _ _ _ _ M2).
  - intros a b H. destruct (Pl a b H) as (l & A & B). split; [rewrite (i_templ _ _ _ _ A); symmetry; apply B|].
    exists (l_path l). split; [apply A|apply B].
  - intros t1 t2 [(-> & L)|(a & b & H & -> & ->)].
    + apply like_trans with (c_part c t2); [apply like_sym; now apply M1|]. rewrite Cl. now apply M2.
    + destruct (Pl a b H) as (l & A & B). apply like_trans with (l_part l); [apply like_sym, A|]. rewrite Cl. apply B.
  - intros t1 t2 [(-> & L)|(a & b & x & H & X & -> & ->)].
    + apply wlike_trans with (c_word c t2); [apply wlike_sym; now apply M1|]. rewrite Cl. now apply M2.
    + destruct (Pl a b H) as (l & A & B). apply wlike_trans with (l_own l x); [apply wlike_sym; now apply A|].
      rewrite Cl. now apply B.
  - exact Cl.
  - rewrite (m_frozen _ _ _ _ _ _ M1). symmetry. apply M2.
Qed.

Section Agree.
Variable P : nat -> nat -> Prop.
Lemma lives_on ts1 s1 ts2 s2 a b l : agree P ts1 s1 ts2 s2 -> P a b -> lives ts1 s1 a l -> lives ts2 s2 b l.
Proof.
  intros A H L. destruct (a_copies _ _ _ _ _ A a b H) as (T & p & P1 & P2). rewrite (i_path _ _ _ _ L) in P1.
  apply puts_inj in P1; [|apply place_inj]. subst p. constructor; auto.
  - rewrite <- T. apply L.
  - apply like_trans with (part_of s1 (nt + a)); [rewrite <- (a_closed _ _ _ _ _ A); apply L|].
    rewrite <- (a_closed _ _ _ _ _ A). apply (a_part _ _ _ _ _ A). right; eauto.
  - intros x X. apply wlike_trans with (word_of s1 (place a x)); rewrite <- (a_closed _ _ _ _ _ A); [now apply L|].
    apply (a_word _ _ _ _ _ A). right. exists a, b, x. auto.
Qed.
Lemma Forall2_on ts1 s1 ts2 s2 js1 js2 ls : agree P ts1 s1 ts2 s2 -> Forall2 P js1 js2 -> Forall2 (lives ts1 s1) js1 ls ->
  Forall2 (lives ts2 s2) js2 ls.
Proof.
  intros A H. revert ls. induction H as [|a b js1 js2 Q H IH]; intros ls F; inversion F; subst; constructor; auto.
  now apply lives_on with ts1 s1 a.
Qed.
(* the hero of both, the copies of both *)
Definition match_up jh1 js1 jh2 js2 := Forall2 P js1 js2 /\ NoDup (everyone jh2 js2) /\
  match jh1, jh2 with Some a, Some b => P a b | None, None => True | _, _ => False end.
Lemma made_on ts1 s1 ts2 s2 jh1 js1 jh2 js2 c ls : agree P ts1 s1 ts2 s2 -> match_up jh1 js1 jh2 js2 ->
  made ts1 s1 jh1 js1 c ls -> cls s2 = option_map (class_at (where_ jh2)) (c_class c) -> made ts2 s2 jh2 js2 c ls.
Proof.
  intros A (F & N & H) M C. pose proof (a_closed _ _ _ _ _ A) as Cl. constructor; auto.
  - intros t L. rewrite <- (a_named _ _ _ _ _ A t L). now apply M.
  - intros t L. rewrite <- Cl. apply like_trans with (part_of s1 t); [now apply M|]. apply (a_part _ _ _ _ _ A).
    left; auto.
  - intros x L. rewrite <- Cl. apply wlike_trans with (word_of s1 x); [now apply M|]. apply (a_word _ _ _ _ _ A).
    left; auto.
  - pose proof (m_hero _ _ _ _ _ _ M) as Mh. destruct jh1, jh2, (c_hero c); try tauto. now apply lives_on with ts1 s1 n.
  - eapply Forall2_on; eauto. apply M.
  - apply M.
  - rewrite <- Cl. apply M.
  - rewrite <- (a_frozen _ _ _ _ _ A). apply M.
Qed.
End Agree.
End Rules.
