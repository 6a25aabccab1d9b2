(* A trace of slots as a trace of Deployed.v: its events, and that they are possible there. *)
Require Import List Arith ZArith Bool Lia Classical Relations.
Import ListNotations.
From RR Require Import Sequences Orders RemoteAtomicsModel RemoteAtomicsRules RemoteAtomicsValues RemoteAtomicsTraces
  RemoteAtomicsPrograms DeployedSlots DeployedAtomics DeployedBridge DeployedHappening.
From RR Require Programs Deployed DeployedTraces DeployedDecides.
Local Arguments Deployed.lab : simpl never.

Section There.
Variables (hw : Deployed.platform) (nt nv : nat) (init : nat -> Z) (prog : nat -> list label -> Prop).
Hypothesis Of : forall t h, prog t h -> forall l, In l h -> of_hardware hw l = true.
Variables (X : trace) (path : nat -> list label) (f : event -> bool).
Hypothesis Path : pathok nt nv prog path.
Hypothesis SX : forall e, S X e <-> inrun nv init path e.
Hypothesis Fl : forall e, S X e -> (f e = true <-> live X e).
Notation happening t := (happening f t).
Notation happens_of t := (happens_of f t).

Definition run_there : Deployed.run := {| Deployed.held := map init (seq 0 nv); Deployed.posted := fun _ _ => [];
  Deployed.does := map (fun t => happening t (path t)) (seq 0 nt) |}.
Variable T : Deployed.trace.
Hypothesis RT : Deployed.run_of T = run_there.
Notation run := (Deployed.run_of T).
Notation lab t n := (Deployed.lab run (Deployed.At t n)).
Notation many t := (length (Deployed.sequence run t)).
Notation is_event := (Deployed.is_event run).
Notation kin := (Deployed.kin run).
Notation image := (image hw T).

Lemma sequence_there t : Deployed.sequence run t = happening t (path t).
Proof.
  rewrite RT. unfold Deployed.sequence. simpl. destruct (le_lt_dec nt t) as [L|L].
  - rewrite nth_overflow by (rewrite map_length, seq_length; exact L). now rewrite (proj2 Path t L).
  - rewrite nth_indep with (d' := (fun t => happening t (path t)) 0) by (rewrite map_length, seq_length; exact L).
    rewrite (map_nth (fun t => happening t (path t))). now rewrite seq_nth.
Qed.
Lemma held_there x : x < nv -> nth x (Deployed.held run) 0%Z = init x.
Proof.
  intros L. rewrite RT. simpl. rewrite nth_indep with (d' := init 0) by (rewrite map_length, seq_length; exact L).
  now rewrite map_nth, seq_nth by exact L.
Qed.
Lemma cells_there : length (Deployed.held run) = nv.
Proof. rewrite RT. simpl. now rewrite map_length, seq_length. Qed.
Lemma path_good t : grammar (path t) = true /\ (forall l, In l (path t) -> of_hardware hw l = true) /\ ok nv (path t).
Proof.
  destruct (proj1 Path t) as (P & O). split; [now apply (ok_grammar nv)|split; [now apply (Of t)|exact O]].
Qed.
(* an event there is a slot that happens *)
Definition stands t l h e := suf (l :: h) (path t) /\ happens_of t l h = [e].
Lemma stands_event t l h e : stands t l h e -> length (happening t h) < many t /\ lab t (length (happening t h)) = e /\
  image (Deployed.At t (length (happening t h))) = Ev t l h.
Proof.
  intros (Sf & H). destruct (path_good t) as (G & O & _).
  destruct (lab_at T f t (path t) (sequence_there t) l h e Sf H) as (A & B). split; [exact B|split; [exact A|]].
  unfold DeployedAtomics.image. simpl. rewrite A.
  rewrite (slots_at hw T f t (path t) (sequence_there t) G O _ l h e (le_n _) Sf H).
  destruct (happens_cases hw f t l h) as [(Q & _)|(e' & Q & _ & Sl)]; [congruence|].
  rewrite H in Q. injection Q as <-. rewrite Sl; [reflexivity|]. apply O. eapply suf_in; exact Sf.
Qed.
Lemma event_stands t n : n < many t -> exists l h e, stands t l h e /\ n = length (happening t h).
Proof.
  rewrite sequence_there. intros L. destruct (happening_place hw f t n (path t) L) as (l & h & e & Sf & H & Q).
  exists l, h, e. split; [split; auto|auto].
Qed.
Lemma covered_there t n : n < many t -> covered_label (lab t n) = true.
Proof.
  intros L. destruct (event_stands t n L) as (l & h & e & St & ->). destruct (stands_event t l h e St) as (_ & -> & _).
  destruct St as (_ & H). destruct (happens_cases hw f t l h) as [(Q & _)|(e' & Q & C & _)]; rewrite H in Q;
  [discriminate|].
  now injection Q as <-.
Qed.
Lemma happens_there x : E X x <-> exists a, is_event a = true /\ x = image a.
Proof.
  split.
  - intros (Sx & Hx). pose proof Sx as I0. apply SX in I0. destruct x as [x v|t l h].
    + destruct I0 as (L & ->). exists (Deployed.Initial x). split; [apply Nat.ltb_lt; now rewrite cells_there|].
      unfold DeployedAtomics.image. simpl. now rewrite held_there.
    + destruct (happens_cases hw f t l h) as [(Q & (q & y & ->) & F)|(e & Q & _)].
      * exfalso. assert (f (Ev t (Lnaw q y) h) = true) as F'; [|congruence]. apply Fl; [exact Sx|]. apply Hx.
        change (eknd (Ev t (Lnaw q y) h) = NAW). unfold eknd. rewrite (grammar_suf _ _ I0 (proj1 (path_good t))).
        reflexivity.
      * destruct (stands_event t l h e (conj I0 Q)) as (L & _ & Im). exists (Deployed.At t (length (happening t h))).
        split; [now apply event_at|now rewrite Im].
  - intros (a & Ea & ->). destruct a as [x|t n].
    + apply Nat.ltb_lt in Ea. rewrite cells_there in Ea. split.
      * apply SX. unfold DeployedAtomics.image. simpl. now rewrite held_there.
      * intros K. discriminate K.
    + apply event_at in Ea. destruct (event_stands t n Ea) as (l & h & e & St & ->).
      destruct (stands_event t l h e St) as (_ & _ & ->). destruct St as (Sf & H).
      assert (S X (Ev t l h)) as Sx by (now apply SX). split; [exact Sx|]. intros K. apply Fl; [exact Sx|].
      apply lknd_plain in K as (_ & K); [|discriminate]. destruct l as [[]| |q y|]; try discriminate K.
      simpl in H. destruct (f _); [reflexivity|discriminate H].
Qed.
Lemma live_there a : is_event a = true -> cond (image a) -> (live X (image a) <-> acts (kin a) = true).
Proof.
  intros Ea C. pose proof (proj1 (proj2 (happens_there (image a)) (ex_intro _ a (conj Ea eq_refl)))) as Sx.
  rewrite <- (Fl _ Sx). destruct a as [x|t n]; [destruct C|]. apply event_at in Ea.
  destruct (event_stands t n Ea) as (l & h & e & St & ->). destruct (stands_event t l h e St) as (_ & A & Im).
  unfold Deployed.kin. rewrite A. rewrite Im in *. destruct St as (Sf & H).
  assert (is_cond (eknd (Ev t l h))) as C' by exact C. unfold eknd in C'.
  rewrite (grammar_suf _ _ Sf (proj1 (path_good t))) in C'.
  destruct l as [[]|? ? ?|? ?|? ? ?]; try (destruct C'; fail); simpl in H.
  - destruct (f _); [injection H as <-; split; reflexivity|discriminate H].
  - injection H as <-. destruct (f _); split; auto; discriminate.
Qed.

(* it is possible *)
Lemma follows_there l l1 h1 e e1 t h' : follows l (l1 :: h1) = true -> happens_of t l h' = [e] ->
  happens_of t l1 h1 = [e1] ->
  DeployedTraces.follows e1 e = true.
Proof.
  intros F H H1. destruct l1 as [[]|? ? ?|? ?|? ? ?]; simpl in H1;
    try (destruct (f _); [|try discriminate H1]); injection H1 as <-;
    destruct l as [[]|? ? ?|? ?|? ? ?]; simpl in F, H |- *; try discriminate F; try (injection H as <-);
    try (destruct (f _); [|try discriminate H]; injection H as <-); simpl; auto; destruct (f _); reflexivity.
Qed.
Lemma begins_there l h' t e : follows l [] = true -> happens_of t l h' = [e] -> DeployedTraces.begins e = true.
Proof.
  intros F H. destruct l as [[]|? ? ?|? ?|? ? ?]; simpl in F, H; try discriminate F; try (injection H as <-);
  try reflexivity.
  destruct (f _); reflexivity.
Qed.
Lemma past_there t l h e : stands t l h e -> firstn (length (happening t h)) (Deployed.sequence run t) = happening t h.
Proof.
  intros (Sf & _). rewrite sequence_there. destruct (happening_suf f t h (path t) (suf_cons _ _ _ Sf)) as (r & ->).
  now rewrite firstn_app, Nat.sub_diag, firstn_all, app_nil_r.
Qed.
Lemma before_there t l h e n : stands t l h e -> length (happening t h) = Datatypes.S n ->
  DeployedTraces.follows (lab t n) e = true.
Proof.
  intros (Sf & H) Q. destruct (path_good t) as (G & O & _).
  assert (follows l h = true) as F by (apply (grammar_suf _ _ Sf), grammar_cons in G; tauto).
  destruct h as [|l1 h1]; [discriminate Q|]. assert (suf (l1 :: h1) (path t)) as S1 by now apply suf_cons in Sf.
  change (length (happening t h1 ++ happens_of t l1 h1) = Datatypes.S n) in Q.
  destruct (happens_cases hw f t l1 h1) as [(E1 & (q & x & ->) & _)|(e1 & E1 & _)]; rewrite E1, app_length in Q;
  simpl in Q.
  - pose proof (grammar_suf _ _ S1 G) as G1. apply grammar_cons in G1 as (_ & F1).
    destruct h1 as [|l2 h2]; [discriminate F1|]. destruct l2 as [[]|q2 x2 o| |]; try discriminate F1.
    apply andb_prop in F1 as (Fq & Fx). apply Nat.eqb_eq in Fq, Fx. subst q2 x2.
    assert (stands t (Lnar q x o) h2 (Deployed.Lnar q x (that_operation o))) as S2 by (split;
    [now apply suf_cons in S1|reflexivity]).
    destruct (stands_event _ _ _ _ S2) as (_ & A & _).
    change (length (happening t h2 ++ [Deployed.Lnar q x (that_operation o)]) + 0 = Datatypes.S n) in Q.
    rewrite app_length in Q. simpl in Q. assert (n = length (happening t h2)) as -> by lia. rewrite A.
    destruct l as [[]| | |]; try discriminate F. simpl in H. injection H as <-. exact F.
  - destruct (stands_event t l1 h1 e1 (conj S1 E1)) as (_ & A & _). assert (n = length (happening t h1)) as -> by lia.
    rewrite A.
    exact (follows_there l l1 h1 e e1 t (l1 :: h1) F H E1).
Qed.
Lemma possible_there t n : n < many t -> DeployedTraces.possible hw T (Deployed.At t n) = true.
Proof.
  intros L. destruct (event_stands t n L) as (l & h & e & St & ->). destruct (stands_event t l h e St) as (_ & A & _).
  pose proof St as (Sf & H). destruct (path_good t) as (G & O & Ok).
  assert (ok nv (l :: h)) as (_ & F & Ti & Me) by (eapply ok_suf; eauto).
  assert (of_hardware hw l = true) as Oh by (apply O; eapply suf_in; exact Sf).
  unfold DeployedTraces.possible. rewrite A. rewrite !andb_true_iff. repeat split.
  - destruct (length (happening t h)) as [|n] eqn:Q.
    + apply (begins_there l h t); auto. destruct h as [|l1 h1]; [exact F|exfalso].
      change (length (happening t h1 ++ happens_of t l1 h1) = 0) in Q. rewrite app_length in Q.
      destruct (happens_cases hw f t l1 h1) as [(E1 & (q & x & ->) & _)|(e1 & E1 & _)]; rewrite E1 in Q; simpl in Q;
      [|lia].
      assert (grammar (Lnaw q x :: h1) = true) as G1 by (apply (grammar_suf _ _ (suf_cons _ _ _ Sf)); exact G).
      apply grammar_cons in G1 as (_ & F1). destruct h1 as [|l2 h2]; [discriminate F1|].
      destruct l2 as [[]| | |]; try discriminate F1.
      change (length (happening t h2 ++ [Deployed.Lnar q0 x0 (that_operation o)]) + 0 = 0) in Q. rewrite app_length in Q.
      simpl in Q. lia.
    + exact (before_there t l h e n St Q).
  - destruct e as [[]|?|? ? ?|? ?|? ? ?|? ? ?|? ? ? ? ?|? ? ? ?|? ?|? ?]; auto.
    apply Nat.ltb_lt. unfold Deployed.past. rewrite (past_there t l h _ St).
    assert (l = Plain (Programs.Lp q)) as ->.
    { destruct l as [p|? ? ?|? ?|? ? ?]; simpl in H; try (destruct (f _)); try discriminate H. now injection H as ->. }
    simpl in Ti. unfold Deployed.count.
    assert (forall l, In l h -> of_hardware hw l = true) as Oh' by (intros l' I'; apply O; destruct Sf as (k & ->);
      apply in_or_app; right; now right).
    rewrite (count_happening hw f t (polls q) (Deployed.polls q)) in Ti;
    [rewrite (count_happening hw f t (signals q) (Deployed.signals q)) in Ti; [exact Ti|..]|..]; auto;
    intros l' [p| | | | | | | | |] C <-; try discriminate C; simpl; auto; destruct (Deployed.ranked hw); auto.
  - destruct (Deployed.accessed e) as [x|] eqn:Ac; [|reflexivity]. apply Nat.ltb_lt. rewrite cells_there.
    unfold in_memory in Me.
    destruct l as [[]|? ? ?|? ?|? ? ?]; simpl in H; try (destruct (f _)); try discriminate H; injection H as <-;
    simpl in *;
    try discriminate Ac; injection Ac as <-; exact Me.
  - unfold Deployed.is, Deployed.kin. rewrite A.
    destruct l as [[]|? ? ?|? ?|? ? ?]; simpl in H, Oh; try (destruct (f _)); try discriminate H; injection H as <-;
    simpl;
    destruct (Deployed.ranked hw); try discriminate Oh; reflexivity.
  - pose proof (covered_there t _ L) as C. rewrite A in C. unfold DeployedTraces.connected. rewrite A.
    destruct e as [?|?|? ? ?|? ?|? ? ?|? ? ?|? ? ? ? ?|? ? ? ?|? ?|? ?]; try discriminate C; reflexivity.
Qed.
End There.
