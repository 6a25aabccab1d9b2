(* Theorem 3 of docs/theory-crowds.md for the search itself: a program with a crowd is not robust for some number of
   copies iff counting comes to a control with a report. *)
Require Import List Arith ZArith Bool Lia Permutation Relations.
Import ListNotations.
From RR Require Import Model Hardware Programs Search Searched Marks Counting CrowdProgram Views Moves Locality CrowdRules
  Joined CrowdSearch CrowdSteps.

Section CrowdTheorem.
Context {K : crowd} (hw : hardware) {OK : hardware_ok hw} {SO : search_ok hw} {SC : cpu_sc hw} (zero : bool).
Notation state := (@state concrete).
Notation reach_of := (reach_of hw zero).
Notation run := (run control local (explicit hw zero) (copy hw zero) (hero hw zero) (copy_hero hw zero)
  (own_hero hw zero)).
Notation count := (count control local initial (explicit hw zero) (copy hw zero) (hero hw zero) (copy_hero hw zero)
  (own_hero hw zero)).
Notation by_counting := (by_counting control local initial (explicit hw zero) (copy hw zero) (hero hw zero)
  (copy_hero hw zero)
  (own_hero hw zero)).

(* the start *)
Lemma sound_start ts : sound ts (start_of ts).
Proof.
  constructor.
  - intros t. apply prog_nil.
  - intros t. exact I.
  - intros [x v|t l h]; unfold done; simpl; [tauto|]. split; [intros [[]|[]]|]. intros H. apply suf_len in H.
    simpl in H. lia.
  - split; reflexivity.
Qed.
Lemma made_start ts : made ts (start_of ts) None (seq 0 (length ts)) control0 (map local0 ts).
Proof.
  constructor; auto.
  - intros t L. constructor; auto.
  - intros x L. constructor; auto. simpl. unfold init_of. apply Nat.ltb_lt in L. now rewrite L.
  - exact I.
  - rewrite <- (map_length local0 ts). apply Forall2_seq. intros i l E. rewrite nth_error_map in E.
    destruct (nth_error ts i) as [k|] eqn:T; [|discriminate]. inversion E; subst. constructor; auto.
    + constructor; auto.
    + intros x X. constructor; auto. simpl. unfold init_of. pose proof (place_high i x).
      destruct (Nat.ltb_spec (place i x) nv); [lia|]. destruct (own_index i x X) as (-> & ->).
      now rewrite (nth_error_nth ts i 0 T).
  - apply seq_NoDup.
  - reflexivity.
Qed.
Lemma cover_start ts : cover ts None (seq 0 (length ts)).
Proof. intros j J. apply in_seq. lia. Qed.

(* runs of the search are runs of the control with a marking *)
Definition templates ts := forall k, In k ts -> k < nk.
Lemma forth ts s : templates ts -> reach_of ts s -> exists jh js c ls, sound ts s /\ made ts s jh js c ls /\
  cover ts jh js /\
  count (control0, []) (c, ls).
Proof.
  intros Tm. induction 1 as [|s s' _ (jh & js & c & ls & S & M & Cv & R) H].
  - exists None, (seq 0 (length ts)), control0, (map local0 ts). split; [apply sound_start|]. split; [apply made_start|].
    split; [apply cover_start|]. apply supply_all. apply Forall_forall. intros l I. apply in_map_iff in I.
    destruct I as (k & <- & I). exists k. auto.
  - destruct (forth_step hw zero ts s jh js c ls s' S M Cv H) as (jh' & js' & c' & ls' & S' & M' & Cv' & St).
    exists jh', js', c', ls'. split; [auto|split; [auto|split; [auto|]]]. eapply rt_trans; [exact R|now apply rt_step].
Qed.
Lemma back ts s0 cl0 cl : reach_of ts s0 -> sound ts s0 -> (exists jh js, made ts s0 jh js (fst cl0) (snd cl0)) ->
  run cl0 cl -> exists s jh js, reach_of ts s /\ sound ts s /\ made ts s jh js (fst cl) (snd cl).
Proof.
  intros R S (jh & js & M) H. apply clos_rt_rtn1 in H. induction H
    as [|[c ls] [c' ls'] St _ (s & jh1 & js1 & R1 & S1 & M1)]; [eauto 8|].
  simpl in *. destruct (back_step hw zero ts s jh1 js1 c ls c' ls' S1 M1 St) as (s' & jh2 & js2 & Hs & S2 & M2).
  exists s', jh2, js2. split; [now apply reach_step with s|auto].
Qed.

(* reports *)
Lemma report_made ts1 s1 jh1 ts2 s2 jh2 c : sound ts1 s1 -> sound ts2 s2 -> made ts1 s1 jh1 [] c [] ->
  made ts2 s2 jh2 [] c [] ->
  reports_of hw ts1 s1 -> reports_of hw ts2 s2.
Proof.
  intros S1 S2 M1 M2 Rp. pose proof (made_agree _ _ _ _ _ _ _ _ _ _ M1 M2) as A.
  destruct (c_class c) as [c0|] eqn:C.
  - apply (reports_on hw (at_once (everyone jh1 []) (everyone jh2 [])) (once_l _ _ (m_once _ _ _ _ _ _ M2))
      (once_r _ _ (m_once _ _ _ _ _ _ M1)) ts1 ts2 s1 s2 (class_at (where_ jh1) c0) (class_at (where_ jh2) c0)); auto.
    + rewrite (m_class _ _ _ _ _ _ M1), C. reflexivity.
    + rewrite (m_class _ _ _ _ _ _ M2), C. reflexivity.
    + apply (same_class_at _ ts1 s1 ts2 jh1 [] c [] jh2 c0 M1 C).
      * intros a b H. now apply (a_copies _ _ _ _ _ A).
      * pose proof (made_hero _ _ _ _ _ _ M1) as E1. pose proof (made_hero _ _ _ _ _ _ M2) as E2.
        destruct jh1, jh2; auto; [now left| |]; (assert (Some n = None) by tauto; discriminate).
  - exfalso. destruct Rp as (m & Q & _). rewrite (m_class _ _ _ _ _ _ M1), C in Q. discriminate.
Qed.
Lemma made_alone ts s jh js c ls : made ts s jh js c ls -> made ts s jh [] c [].
Proof.
  intros M. apply made_with with js ls; [auto|constructor|]. apply (once_sub jh [] js). apply M.
Qed.
Lemma report_forth ts s jh js c ls : sound ts s -> made ts s jh js c ls -> reports_of hw ts s -> reporting hw c.
Proof.
  intros S M Rp. apply made_alone in M. destruct (shrink ts s jh [] c [] S M) as (ts0 & s0 & Len & S0 & M0).
  exists ts0, s0, (hero0 c). split; [auto|]. split; [auto|]. split; [exact M0|].
  exact (report_made _ _ _ _ _ _ _ S S0 M M0 Rp).
Qed.
Lemma report_back ts s jh js c ls : sound ts s -> made ts s jh js c ls -> reporting hw c -> reports_of hw ts s.
Proof.
  intros S M (ts0 & s0 & jh0 & _ & S0 & M0 & Rp). apply made_alone in M. exact (report_made _ _ _ _ _ _ _ S0 S M0 M Rp).
Qed.

(* Theorem 3: not robust for some number of copies iff counting finds a report *)
Theorem crowd_counting : (exists ts, templates ts /\ ~ robust hw (P ts)) <->
  exists c, by_counting control0 c /\ reporting hw c.
Proof.
  split.
  - intros (ts & Tm & H). apply (search_decides hw zero) in H. destruct H as (s & R & Rp).
    destruct (forth ts s Tm R) as (jh & js & c & ls & S & M & _ & Cn). exists c. split; [now exists ls|].
    now apply (report_forth ts s jh js c ls).
  - intros (c & Bc & Rp). apply coverability in Bc. destruct Bc as (n & ls0 & ls & _ & In & R).
    assert (exists ts, templates ts /\ ls0 = map local0 ts) as (ts & Tm & ->).
    { clear R. induction In as [|l ls0 (k & L & ->) _ (ts & Tm & ->)]; [exists []; split; [intros k []|auto]|].
      exists (k :: ts). split; [intros i [<-|I]; auto|auto]. }
    exists ts. split; [exact Tm|]. apply (search_decides hw zero).
    destruct (back ts (start_of ts) (control0, map local0 ts) (c, ls)) as (s & jh & js & Rs & S & M); auto.
    + apply reach_start.
    + apply sound_start.
    + exists None, (seq 0 (length ts)). apply made_start.
    + exists s. split; [exact Rs|]. now apply (report_back ts s jh js c ls).
Qed.
End CrowdTheorem.
