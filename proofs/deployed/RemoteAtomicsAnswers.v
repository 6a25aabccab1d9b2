(* Remote atomics: programs have what is asked for the search: one kind of RMW, one answer of an operation,
behind which its
   thread goes on. *)
Require Import List Arith ZArith Bool Lia Classical Relations.
Import ListNotations.
From RR Require Import Sequences Orders RemoteAtomicsModel RemoteAtomicsRules RemoteAtomicsValues RemoteAtomicsTraces
  RemoteAtomicsBase RemoteAtomicsPivot RemoteAtomicsParts RemoteAtomicsForm RemoteAtomicsLeast RemoteAtomicsClasses
  RemoteAtomicsSearched RemoteAtomicsPoison RemoteAtomicsCarried RemoteAtomicsPrograms.
From RR Require Programs.

Section Answers.
Variables (nt nv : nat) (init : nat -> Z) (prog : nat -> list label -> Prop).
Notation run := (is_run nt nv init prog).

Lemma source_shape t l h r h' : source (Ev t l h) = Ev t r h' ->
  h = r :: h' \/ (exists q x, h = Lnaw q x :: r :: h') \/ (r = l /\ h' = h).
Proof.
  destruct l as [p|? ? ?|? ?|? ? ?]; [destruct p|..]; try (intros Q; injection Q as <- <-; auto; fail);
  destruct h as [|r1 h1]; try (intros Q; injection Q as <- <-; auto; fail).
  destruct r1 as [?|? ? ?|? ?|? ? ?]; [|..]; try (intros Q; injection Q as <- <-; auto; fail).
  destruct h1 as [|r2 h2]; intros Q; injection Q as <- <-; eauto.
Qed.
(* between an answer and its read is at most a naW *)
Lemma between (w a : ev) : answer w -> fed w -> po (src w) a -> po a w -> knd a = NAW.
Proof.
  intros A F P P'. destruct (esrc_cases w) as [(Q & _)|(t & l & h & r & h' & -> & Q & G & _)]; [destruct (F Q)|].
  assert (esrc (Ev t l h) = source (Ev t l h)) as Sr by now apply good_kind. rewrite Sr in Q.
  assert (po (Ev t r h') a) as Pa by (rewrite <- Q, <- Sr; exact P). clear P.
  destruct a as [x v|t' la ha]; [destruct P'|]. destruct Pa as (_ & S1 & _), P' as (-> & S2 & _).
  destruct (source_shape t l h r h' Q) as [-> |[(q & x & ->)|(-> & ->)]].
  - apply suf_len in S1, S2. simpl in S1, S2. lia.
  - apply suf_tail in S2 as [E|S2]; [|apply suf_len in S1, S2; simpl in S1, S2; lia]. injection E as -> ->.
    change (eknd (Ev t (Lnaw q x) (r :: h')) = NAW). apply grammar_cons in G as (G & _). unfold eknd. now rewrite G.
  - destruct F. change (esrc (Ev t l h) = Ev t l h). now rewrite Sr.
Qed.
Lemma run_one (E : ev -> Prop) (w w' : ev) : run E -> E w -> E w' -> answer w -> answer w' -> src w = src w' -> w = w'.
Proof.
  intros R Ew Ew' A A' Q. pose proof (run_wf _ _ _ _ E R) as W.
  assert (forall y z, answer y -> answer z -> src y = src z -> src y = y -> fed z -> False) as Half.
  { intros y z Ay Az Qyz Fy Fz. destruct (fed_rd z Fz) as (Rd & _). rewrite <- Qyz, Fy in Rd. unfold rd in Rd.
    destruct Ay as [K|K]; rewrite K in Rd; destruct Rd. }
  assert (forall y z, answer y -> answer z -> src y = src z -> fed y -> fed z -> po y z -> False) as Po.
  { intros y z Ay Az Qyz Fy Fz P. assert (knd y = NAW) as K; [|destruct Ay; congruence].
    apply (between z y Az Fz); [rewrite <- Qyz; now apply src_ok|exact P]. }
  destruct (classic (src w = w)) as [F|F], (classic (src w' = w')) as [F'|F'].
  - congruence.
  - destruct (Half w w' A A' Q F F').
  - destruct (Half w' w A' A (eq_sym Q) F' F).
  - assert (forall y, answer y -> noninit y) as Ni by (intros y [K|K] I0; congruence).
    destruct (wf_total _ W w w' Ew Ew' (Ni w A) (Ni w' A')) as [|[P|P]]; auto.
    + rewrite <- (po_thr _ _ (proj1 (src_ok w F))), Q. now apply po_thr, src_ok.
    + destruct (Po w w' A A' Q F F' P).
    + destruct (Po w' w A' A (eq_sym Q) F' F P).
Qed.
Lemma run_done (E : ev -> Prop) (r e : ev) : run E -> E r -> E e -> nic_read r -> po r e -> ~ (knd e = NAW /\
  src e = r) ->
  exists w, E w /\ answer w /\ src w = r /\ (w = e \/ po w e).
Proof.
  intros (path & Hp & HE) Er Ee (Rd & Nc) P N. destruct r as [x v|t l h]; [destruct Rd|].
  destruct e as [x v|t' l' h']; [destruct P|]. destruct P as (<- & Sf & G).
  apply HE in Ee. simpl in Ee.
  assert (forall l2 h2, suf (l2 :: h2) (l' :: h') -> E (Ev t l2 h2) /\
  (Ev t l2 h2 = Ev t l' h' \/ po (Ev t l2 h2) (Ev t l' h'))) as In.
  { intros l2 h2 S2. split; [apply HE; eapply suf_trans; eauto|]. apply suf_tail in S2 as [Q|S2]; [left;
    congruence|right]. simpl. auto. }
  assert (suf (l :: h) (l' :: h')) as S1 by (eapply suf_trans; [exact Sf|now exists [l']]).
  destruct (next _ _ _ S1) as [Q|(l2 & S2)]; [injection Q as -> ->; destruct (suf_strict _ _ Sf)|].
  pose proof (grammar_suf _ _ S2 G) as G2. pose proof G2 as F2. apply grammar_cons in F2 as (G1 & F2).
  assert (is_r (lknd l) /\ ~ is_cpu (lknd l)) as (Rl & Cl).
  { change (is_r (eknd (Ev t l h))) in Rd. change (~ is_cpu (eknd (Ev t l h))) in Nc. unfold eknd in Rd, Nc.
    rewrite G1 in Rd, Nc. auto. }
  destruct (In l2 _ S2) as (E2 & P2). destruct (good_kind t _ _ G2) as (K2 & Q2).
  destruct l as [[]|q x o|? ?|q x o]; try (destruct Rl; fail); try (destruct Cl; exact I);
    destruct l2 as [[]|? ? ?|q2 x2|? ? ?]; try discriminate F2;
    try (eexists; split; [exact E2|split; [first [left; exact K2|right; exact K2]|split; [exact Q2|exact P2]]]; fail).
  (* naR: behind its naW *)
  apply andb_prop in F2 as (Fq & Fx). apply Nat.eqb_eq in Fq, Fx. subst q2 x2.
  destruct (next _ _ _ S2) as [Q|(l3 & S3)].
  { destruct N. injection Q as <- <-. split; [exact K2|exact Q2]. }
  destruct (In l3 _ S3) as (E3 & P3). pose proof (grammar_suf _ _ S3 G) as G3. destruct (good_kind t _ _ G3) as (K3 & Q3).
  apply grammar_cons in G3 as (_ & F3). destruct l3 as [[]|? ? ?|? ?|? ? ?]; try discriminate F3.
  eexists. split; [exact E3|split; [right; exact K3|split; [exact Q3|exact P3]]].
Qed.

(* What the search looks for, for programs whose cards have one kind of atomics *)
Hypothesis prefix : forall t l h, prog t (l :: h) -> prog t h.
Hypothesis Kinds : (forall t h q x o, prog t h -> ~ In (Lna q x o) h) \/ (forall t h q x o, prog t h ->
~ In (Lnar q x o) h).
Notation P := (the_program nt nv init prog prefix).
Lemma run_kinds : one_kind P.
Proof.
  intros E (path & Hp & HE).
  assert (forall t l h, E (Ev t l h) -> In l (path t) /\ prog t (path t)) as H.
  { intros t l h Se. apply HE in Se. destruct Se as (k & Q). split; [rewrite Q; apply in_or_app; right; now left|].
    apply (proj1 Hp t). }
  assert (forall e k, E e -> eknd e = k -> k <> Fence -> k <> Init -> exists t l, In l (path t) /\ prog t (path t) /\
  lknd l = k) as Lb.
  { intros [x v|t l h] k Se K N N'; [destruct N'; now rewrite <- K|]. destruct (H t l h Se) as (I0 & Ph).
    apply lknd_plain in K as (_ & K); eauto. }
  destruct Kinds as [K|K]; [left|right]; intros e Se Q; apply (Lb e _ Se) in Q; try discriminate;
  destruct Q as (t & l & I0 & Ph & Q); destruct l as [[]| | |]; try discriminate Q; exact (K _ _ _ _ _ Ph I0).
Qed.
Theorem concrete_normal_form_searched (ord : order) : ~ robust ord P -> exists S m pr S' l' L C lX,
  searched ord P S m pr S' l' L C lX.
Proof. exact (normal_form_searched ord P run_kinds). Qed.
Theorem concrete_poison_by_thread (ord : order) S m pr S' l' L C lX : searched ord P S m pr S' l' L C lX ->
  forall l e, along S' L (e :: l) -> least ord S S' l' L C e -> rd e ->
  (depr (rf_in S (acting m pr l' lX) (around (least ord S S' l' L C) m pr L)) m e <->
   tword (tmarked (least ord S S' l' L C) l' (tbegun (wr lX m) m) l) (loc e)).
Proof.
  intros H. assert (run S') as R by exact (proj1 (n_machine _ _ _ _ _ _ _ _ _ _ H)).
  apply (poison_by_thread ord P S m pr S' l' L C lX H).
  - intros w w' Sw Sw' A A' Q. exact (run_one S' w w' R Sw Sw' A A' Q).
  - intros r e Sr Se Nr Pr N. exact (run_done S' r e R Sr Se Nr Pr N).
Qed.
End Answers.
