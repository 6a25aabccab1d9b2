(* Steps of the search for programs with a crowd, with their events: what they leave as it is, which events can come next,
   and that a step depends on no more than what it is said to read. *)
Require Import List Arith ZArith Bool Lia Classical.
Import ListNotations.
From RR Require Import Model Hardware Programs Search Searched Marks CrowdProgram Views Untouched.

Section Moves.
Context {K : crowd} (hw : hardware) {OK : hardware_ok hw} {SO : search_ok hw} {SC : cpu_sc hw} (zero : bool).
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

(* a step with the event e *)
Definition moves ts (e : ev) s s' := step_of hw zero ts s s' /\ exists b t, hist (th s') = Mv e b t :: hist (th s).
Notation enabled_of ts := (enabled (ini_of ts) (ctl_of ts)).
Definition moves_as ts (e : ev) s s' :=
  (cls s = None /\ poll_alpha s e /\ s' = after_alpha s e) \/
  (exists c, cls s = None /\ hope_of ts c (with_ (ini_of ts) s e) /\ can_start c e = true /\
    s' = after_beta hw c (begun c s) e) \/
  (exists c, cls s = Some c /\ hope_of ts c (with_ (ini_of ts) s e) /\ forced hw s e = false /\ poll_alpha s e /\
     s' = after_alpha s e) \/
  (exists c, cls s = Some c /\ hope_of ts c (with_ (ini_of ts) s e) /\ (knd e = Poll \/ forced hw s e = true) /\
     poll_beta zero s e /\ cuts hw c e = false /\ poisons s e = false /\ s' = after_beta hw c s e).
Lemma step_moves ts s s' : step_of hw zero ts s s' -> exists e, moves ts e s s'.
Proof.
  intros H. assert (exists e b t, hist (th s') = Mv e b t :: hist (th s)) as (e & b & t & Q).
  { inversion H; subst; simpl; eauto. }
  exists e. split; eauto.
Qed.
Lemma moves_inv ts e s s' : moves ts e s s' -> enabled_of ts s e /\ moves_as ts e s s'.
Proof.
  intros (H & b & t & Q). unfold moves_as. inversion H; subst; simpl in Q; inversion Q; subst; split; auto.
  - right; left. eauto.
  - right; right; left. eauto 10.
  - right; right; right. eauto 10.
Qed.
Lemma moves_intro ts e s s' : enabled_of ts s e -> moves_as ts e s s' -> moves ts e s s'.
Proof.
  intros En [(C & Pa & ->)|[(c & C & Ho & St & ->)|[(c & C & Ho & F & Pa & ->)|(c & C & Ho & F & Pb & Cu & Po & ->)]]].
  - split; [now apply step_phase1|simpl; eauto].
  - split; [now apply step_start|simpl; eauto].
  - split; [now apply step_alpha with c|simpl; eauto].
  - split; [now apply step_beta|simpl; eauto].
Qed.

(* what a step leaves as it is *)
Lemma meets_loc c e : can_start c e = true -> loc e = ccell c.
Proof.
  unfold can_start, meets. rewrite !andb_true_iff. intros (((_ & H) & _) & _). now apply Nat.eqb_eq.
Qed.
Lemma clo_later ts e s s' : moves ts e s s' -> clo (tn s') = false -> clo (tn s) = false.
Proof.
  intros M. apply moves_inv in M. destruct M as (_ & [(_ & _ & ->)|[(c & _ & _ & _ & ->)|[(c & _ & _ & _ & _ & ->)|
    (c & _ & _ & _ & _ & _ & _ & ->)]]]).
  - apply (far_spread e (tn s) (reached s e) (closing_alpha s e)).
  - apply (far_spread e (tn s) (reached (begun c s) e || meets c e) (own c e)).
  - apply (far_spread e (tn s) (reached s e) (closing_alpha s e)).
  - apply (far_spread e (tn s) (reached s e || meets c e) (own c e)).
Qed.
Lemma far_part ts e s s' t : moves ts e s s' -> fst (qp e) = thr e -> t <> thr e ->
  like (clo (tn s')) (part_of s t) (part_of s' t).
Proof.
  intros M Q N. apply moves_inv in M. destruct M as (_ & [(_ & _ & ->)|[(c & _ & _ & St & ->)|[(c & _ & _ & _ & _ & ->)|
    (c & _ & _ & _ & _ & _ & _ & ->)]]]); try (now apply far_alpha); [|now apply (far_beta hw)].
  exact (far_beta hw (begun c s) e c t Q N).
Qed.
Lemma far_word ts e s s' x : moves ts e s s' -> x <> loc e -> wlike (clo (tn s')) (word_of s x) (word_of s' x).
Proof.
  intros M N. apply moves_inv in M. destruct M as (_ & [(_ & _ & ->)|[(c & _ & _ & St & ->)|[(c & _ & _ & _ & _ & ->)|
    (c & _ & _ & _ & _ & _ & _ & ->)]]]); try (now apply far_word_alpha); [|now apply (far_word_beta hw)].
  apply wlike_trans with (word_of (begun c s) x); [|now apply (far_word_beta hw)].
  apply wlike_later with (clo (tn s)); [apply (far_spread e (tn s) (reached (begun c s) e || meets c e) (own c e))|].
  apply (far_begun s c 0). rewrite <- (meets_loc c e St). auto.
Qed.

(* Lemma 2: where a state looks alike to an event, its twin is possible and leads to what looks alike. *)
Lemma transfer ts1 ts2 s1 s2 s1' e1 e2 (k1 k2 : class -> class) co co' : moves ts1 e1 s1 s1' -> twins e1 e2 ->
  near s1 (thr e1) (loc e1) s2 (thr e2) (loc e2) -> enabled_of ts2 s2 e2 ->
  cls s1 = option_map k1 co -> cls s2 = option_map k2 co -> cls s1' = option_map k1 co' ->
  (forall c, co' = Some c -> looks e1 e2 (k1 c) (k2 c) /\ forall D, hope_of ts2 (k2 c) D) ->
  (forall c, co = Some c -> co' = Some c) ->
  exists s2', moves ts2 e2 s2 s2' /\ near s1' (thr e1) (loc e1) s2' (thr e2) (loc e2) /\ cls s2' = option_map k2 co'.
Proof.
  intros M T N En C1 C2 C1' L Co. apply moves_inv in M. destruct M as (_ & M).
  destruct M as [(C & Pa & ->)|[(c & C & Ho & St & ->)|[(c & C & Ho & F & Pa & ->)|(c & C & Ho & F & Pb & Cu & Po &
    ->)]]].
  - assert (co = None) as -> by (destruct co; simpl in C1; congruence). simpl in C2.
    assert (co' = None) as -> by (destruct co'; simpl in C1'; congruence).
    exists (after_alpha s2 e2). split; [|split; [|exact C2]].
    + apply moves_intro; auto. left. split; [auto|split; [|auto]]. now apply (t_poll_alpha s1 s2 e1 e2).
    + apply near_alpha; auto. now rewrite C, C2.
  - assert (co = None) as -> by (destruct co; simpl in C1; congruence). simpl in C2.
    destruct co' as [c0|]; simpl in C1'; [|discriminate]. inversion C1'; subst c. destruct (L c0 eq_refl) as (Lk & Hh).
    exists (after_beta hw (k2 c0) (begun (k2 c0) s2) e2). split; [|split; [|auto]].
    + apply moves_intro; auto. right; left. exists (k2 c0). split; [auto|]. split; [apply Hh|].
      split; [now rewrite <- (t_start e1 e2 T _ _ Lk)|auto].
    + apply near_beta; auto. now apply near_begun.
  - destruct co as [c0|]; simpl in C1; [|congruence]. pose proof (Co c0 eq_refl). subst co'. simpl in C2.
    destruct (L c0 eq_refl) as (Lk & Hh). assert (c = k1 c0) as -> by congruence.
    exists (after_alpha s2 e2). split; [|split; [|exact C2]].
    + apply moves_intro; auto. right; right; left. exists (k2 c0). split; [auto|]. split; [apply Hh|].
      split; [now rewrite <- (t_forced hw s1 s2 e1 e2 T N)|]. split; [now apply (t_poll_alpha s1 s2 e1 e2)|auto].
    + apply near_alpha; auto. now rewrite C, C2.
  - destruct co as [c0|]; simpl in C1; [|congruence]. pose proof (Co c0 eq_refl). subst co'. simpl in C2.
    destruct (L c0 eq_refl) as (Lk & Hh). assert (c = k1 c0) as -> by congruence.
    exists (after_beta hw (k2 c0) s2 e2). split; [|split; [|exact C2]].
    + apply moves_intro; auto. right; right; right. exists (k2 c0). split; [auto|]. split; [apply Hh|].
      split; [rewrite <- (w_knd _ _ T), <- (t_forced hw s1 s2 e1 e2 T N); auto|].
      split; [now apply (t_poll_beta zero s1 s2 e1 e2)|].
      split; [now rewrite <- (t_cuts hw e1 e2 T _ _ Lk)|]. split; [now rewrite <- (t_poisons s1 s2 e1 e2 T N)|auto].
    + now apply near_beta.
Qed.

Lemma suf_eq_both (a b : list label) : suf a b -> suf b a -> a = b.
Proof. intros A B. apply suf_eq; [auto|]. apply suf_len in A, B. lia. Qed.

(* States whose events are paths of the threads; which events can come next *)
Definition path_of (s : state) t := labels_of t (hist (th s)).
Record sound ts s : Prop := {
  s_prog : forall t, prog_of ts t (path_of s t);
  s_fine : forall t, fine (words_of ts) (path_of s t);
  s_done : forall e, done (ini_of ts) s e <-> inrun (words_of ts) (init_of ts) (path_of s) e;
  s_plain : plain s;
}.
Lemma plain_moves ts e s s' : moves ts e s s' -> plain s -> plain s'.
Proof.
  intros M H. apply moves_inv in M. destruct M as (_ & [(_ & _ & ->)|[(c & _ & _ & _ & ->)|[(c & _ & _ & _ & _ & ->)|
    (c & _ & _ & _ & _ & _ & _ & ->)]]]); auto using plain_alpha, plain_beta, plain_begun.
Qed.
Definition ready ts s (e : ev) := noninit e /\ ~ done (ini_of ts) s e /\ ctl_of ts (with_ (ini_of ts) s e).
Lemma beyond ts t h : threads_of ts <= t -> prog_of ts t h -> h = [].
Proof.
  unfold threads_of, prog_of. intros Q. destruct (t <? nt) eqn:T; [apply Nat.ltb_lt in T; lia|].
  apply Nat.ltb_ge in T. rewrite (proj2 (nth_error_None ts (t - nt))) by lia. auto.
Qed.
Lemma ready_iff ts s e : sound ts s -> (ready ts s e <-> exists t l, e = Ev t l (path_of s t) /\
  prog_of ts t (l :: path_of s t) /\ fine (words_of ts) (l :: path_of s t)).
Proof.
  intros [Sp Sf Sd _]. split.
  - intros (Ne & Nd & (path & Hp & Hn & HE)). destruct e as [x v|t l h]; [now destruct Ne|].
    assert (forall l' h', suf (l' :: h') (path_of s t) -> suf (l' :: h') (path t)) as In1.
    { intros l' h' H. apply (HE (Ev t l' h')). left. now apply Sd. }
    assert (suf (l :: h) (path t)) as I by (apply (HE (Ev t l h)); now right).
    assert (path t = l :: h) as Pt.
    { destruct (next _ _ _ I) as [X|(l' & X)]; [auto|]. exfalso. apply Nd. apply Sd. simpl.
      apply (HE (Ev t l' (l :: h))) in X. destruct X as [X|X].
      - apply Sd in X. simpl in X. now apply suf_cons in X.
      - exfalso. assert (l :: h = h) as Q by congruence. apply (f_equal (@length _)) in Q. simpl in Q. lia. }
    assert (h = path_of s t) as Q.
    { apply suf_eq_both.
      - destruct h as [|y h']; [now exists (path_of s t); rewrite app_nil_r|].
        assert (with_ (ini_of ts) s (Ev t l (y :: h')) (Ev t y h')) as [X|X].
        + apply HE. simpl. rewrite Pt. now exists [l].
        + now apply Sd in X.
        + exfalso. assert (y :: h' = h') as Q by congruence. apply (f_equal (@length _)) in Q. simpl in Q. lia.
      - destruct (path_of s t) as [|y p] eqn:E; [now exists h; rewrite app_nil_r|].
        pose proof (In1 y p (suf_refl _)) as X. rewrite Pt in X. destruct (suf_tail _ _ _ X) as [Z|Z]; [|auto].
        exfalso. apply Nd. apply Sd. simpl. rewrite E, Z. apply suf_refl. }
    exists t, l. rewrite <- Q, <- Pt. split; [auto|]. apply Hp.
  - intros (t & l & -> & Hp & Hf). split; [destruct l; discriminate|]. split.
    + intros H. apply Sd in H. simpl in H. exact (suf_strict _ _ H).
    + exists (fun t' => if t' =? t then l :: path_of s t else path_of s t'). split; [|split].
      * intros t'. destruct (Nat.eqb_spec t' t) as [->|_]; [auto|]. split; [apply Sp|apply Sf].
      * intros t' Q. destruct (Nat.eqb_spec t' t) as [->|_]; [|now apply (beyond ts t')].
        now apply (beyond ts t).
      * intros e. unfold with_. rewrite Sd. destruct e as [x v|t' l' h']; simpl; [split; [intros [H|H];
        [auto|discriminate]|auto]|].
        destruct (Nat.eqb_spec t' t) as [->|N].
        -- split; [intros [H|H]; [eapply suf_trans; [exact H|now exists [l]]|inversion H; apply suf_refl]|].
           intros H. destruct (suf_tail _ _ _ H) as [Z|Z]; [inversion Z; auto|auto].
        -- split; [intros [H|H]; [auto|congruence]|auto].
Qed.
End Moves.
