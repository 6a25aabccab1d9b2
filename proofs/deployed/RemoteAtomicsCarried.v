(* Remote atomics: the mark of a carried value can be kept by thread, as the search does (POISON_CARRIED), where the events
   of an operation stand together. *)
Require Import List Arith Lia Classical Relations.
Import ListNotations.
From RR Require Import Orders RemoteAtomicsModel RemoteAtomicsRules RemoteAtomicsValues RemoteAtomicsTraces RemoteAtomicsBase
  RemoteAtomicsPivot RemoteAtomicsParts RemoteAtomicsForm RemoteAtomicsLeast RemoteAtomicsSearched RemoteAtomicsPoison.

Section Carried.
Context {U : slots}.
Variables (B l' : ev -> Prop).
Definition answer e := knd e = NRW \/ knd e = NLW.      (* the last event of an operation *)
Record by_thread := { tword : nat -> Prop; tcarried : nat -> Prop }.
Definition tbegun (writes : Prop) m := {| tword := fun x => x = loc m /\ writes; tcarried := fun _ => False |}.
Definition tstep (p : by_thread) e := {|
  tword := fun x => (~ B e /\ tword p x) \/ (B e /\ match knd e with
    | LW => x <> loc e /\ tword p x
    | NRW | NLW => (x = loc e /\ tcarried p (thr e)) \/ (x <> loc e /\ tword p x)
    | NAW => tword p x /\ (l' e -> ~ B (src e) -> x <> loc e)
    | _ => tword p x end);
  tcarried := fun t => (B e /\ nic_read e /\ t = thr e /\ tword p (loc e)) \/
    (~ (B e /\ (nic_read e \/ answer e) /\ t = thr e) /\ tcarried p t) |}.
Definition tmarked (p : by_thread) (l : list ev) := fold_right (fun e p => tstep p e) p l.

Variables (S' : ev -> Prop) (L : relation ev).
Hypothesis Wf : wfS S'.
Hypothesis Irr : forall a, ~ L a a.
Hypothesis Asym : forall a b, L a b -> ~ L b a.
Hypothesis Po : forall a b, S' a -> S' b -> po a b -> L a b.
(* an operation has one answer, and a thread goes on behind it *)
Hypothesis One : forall w w', S' w -> S' w' -> answer w -> answer w' -> src w = src w' -> w = w'.
Hypothesis Done : forall r e, S' r -> S' e -> nic_read r -> po r e -> ~ (knd e = NAW /\ src e = r) ->
  exists w, S' w /\ answer w /\ src w = r /\ (w = e \/ po w e).
Variables (writes : Prop) (m : ev).
Notation full := (marked B l' (begun writes m)).
Notation short := (tmarked (tbegun writes m)).
Hypothesis Forced : forall w, S' w -> fed w -> B (src w) -> B w.

(* what is carried was read by an event of the list, and by one of beta *)
Lemma carried_seen l r : carried (full l) r -> In r l /\ nic_read r /\ B r.
Proof.
  induction l as [|e l IH]; simpl; [tauto|]. intros [(-> & Be & Re & _)|(_ & H)]; [auto|]. destruct (IH H); auto.
Qed.

Definition open (l : list ev) r := In r l /\ carried (full l) r /\ forall w, In w l -> answer w -> src w <> r.

(* at most one operation of a thread is under way *)
Lemma open_one l e r : along S' L (e :: l) -> open l r -> thr r = thr e -> (answer e \/ nic_read e) -> answer e /\ src e = r.
Proof.
  intros Al (Hr & Cr & N) Q Ke. inversion Al as [|l0 e0 Al' Se Ie HQ]; subst.
  destruct (carried_seen l r Cr) as (_ & Nr & _). pose proof (proj1 (HQ r) Hr) as (Sr & Ir & Lr).
  assert (po r e) as P.
  { destruct (wf_total _ Wf r e) as [->|[X|X]]; auto; [destruct (Irr _ Lr)|]. destruct (Asym _ _ Lr (Po _ _ Se Sr X)). }
  destruct (Done r e Sr Se Nr P) as (w & Sw & Aw & Qw & [->|X]); auto.
  - intros (K & _). unfold answer, nic_read, rd in Ke. rewrite K in Ke. simpl in Ke. intuition discriminate.
  - destruct (N w); auto. apply HQ. split; auto. split; [unfold noninit; destruct Aw as [-> | ->]; discriminate|now apply Po].
Qed.
(* an event whose read comes before it is no inline put *)
Lemma new_fed l e : along S' L (e :: l) -> In (src e) l -> fed e.
Proof.
  intros Al Hs Q. inversion Al as [|l0 e0 Al' Se Ie HQ]; subst. rewrite Q in Hs. apply HQ in Hs. exact (Irr _ (proj2 (proj2 Hs))).
Qed.
Lemma old_fed l e w : along S' L (e :: l) -> In w l -> src w = e -> fed w.
Proof.
  intros Al Hw Qe Q. inversion Al as [|l0 e0 Al' Se Ie HQ]; subst. rewrite Q in HQ. apply HQ in Hw. exact (Irr _ (proj2 (proj2 Hw))).
Qed.
Lemma answer_read e : answer e -> ~ nic_read e.
Proof. intros A (R & _). unfold rd in R. destruct A as [K|K]; rewrite K in R; destruct R. Qed.
Lemma open_src l e : along S' L (e :: l) -> answer e -> carried (full l) (src e) -> open l (src e).
Proof.
  intros Al Ae C. inversion Al as [|l0 e0 Al' Se Ie HQ]; subst. destruct (carried_seen l _ C) as (H & _).
  split; auto. split; auto. intros w Hw Aw Q. rewrite (One w e (proj1 (proj1 (HQ w) Hw)) Se Aw Ae Q) in Hw. apply HQ in Hw. destruct Hw as (_ & _ & X).
  exact (Irr _ X).
Qed.
Lemma carried_next l e r : In r l -> along S' L (e :: l) -> (carried (full (e :: l)) r <-> carried (full l) r).
Proof.
  intros Hr Al. inversion Al as [|l0 e0 Al' Se Ie HQ]; subst. simpl.
  assert (r <> e) as N by (intros ->; apply HQ in Hr; exact (Irr _ (proj2 (proj2 Hr)))). tauto.
Qed.

Theorem by_thread_same l : along S' L l -> (forall x, tword (short l) x <-> word (full l) x) /\
  (forall t, tcarried (short l) t <-> exists r, open l r /\ thr r = t).
Proof.
  intros Al; induction Al as [|l e Al (IHw & IHc) Se Ie HQ].
  - split; [intros x; simpl; tauto|]. intros t. simpl. split; [intros []|intros (r & ([] & _) & _)].
  - assert (along S' L (e :: l)) as Al2 by now constructor.
    assert (answer e -> (tcarried (short l) (thr e) <-> carried (full l) (src e))) as Ans.
    { intros Ae. rewrite IHc. split.
      - intros (r & Hr & Q). destruct (open_one l e r Al2 Hr Q (or_introl Ae)) as (_ & ->). apply Hr.
      - intros C. exists (src e). split; [now apply open_src|]. apply po_thr. apply src_ok, (new_fed l e Al2). now destruct (carried_seen l _ C). }
    split.
    + intros x. simpl. pose proof (IHw x) as Hx. destruct (knd e) eqn:K; try tauto;
      (assert (tcarried (short l) (thr e) <-> carried (full l) (src e)) by (apply Ans; unfold answer; auto)); tauto.
    + intros t. simpl. rewrite IHw, IHc. split.
      * intros [(Be & Re & -> & W)|(N & r & Hr & Q)].
        -- exists e. split; [|auto]. split; [now left|split; [simpl; auto|]]. intros w [<-|Hw] Aw Q.
           ++ exact (answer_read _ Aw Re).
           ++ pose proof (old_fed l e w Al2 Hw Q) as Fw. apply HQ in Hw. destruct Hw as (Sw & _ & Lw). apply (Asym _ _ Lw).
              apply Po; auto. rewrite <- Q. now apply src_ok.
        -- pose proof Hr as (Ir & Cr & Nr). exists r. split; [|auto]. split; [now right|split; [now apply carried_next|]].
           intros w [<-|Hw] Aw Qw; [|exact (Nr w Hw Aw Qw)].
           (* then the answer is in beta, and takes it *)
           apply N. destruct (carried_seen l r Cr) as (_ & _ & Br). rewrite <- Qw in Br.
           assert (fed e) as Fe by (apply (new_fed l e Al2); now rewrite Qw).
           split; [apply Forced; auto|split; [now right|]]. rewrite <- Q, <- Qw. apply po_thr. now apply src_ok.
      * intros (r & (Ir & Cr & Nr) & Q). destruct (classic (r = e)) as [->|N].
        -- left. simpl in Cr. destruct Cr as [(_ & A1 & A2 & A3)|(C1 & _)]; [auto|tauto].
        -- right. assert (In r l) as Hr by (destruct Ir as [<-|]; [tauto|auto]).
           apply (carried_next l e r Hr Al2) in Cr. assert (open l r) as Or.
           { split; auto. split; auto. intros w Hw. apply Nr. now right. }
           split; [|exists r; auto]. intros (Be & Ke & Qt). subst t.
           assert (answer e \/ nic_read e) as Ke' by tauto.
           destruct (open_one l e r Al2 Or Qt Ke') as (Ae & Qe). exact (Nr e (or_introl eq_refl) Ae Qe).
Qed.
End Carried.

Section Searched.
Context {U : slots} (ord : order) (P : program) (S : ev -> Prop) (m pr : ev) (S' l' : ev -> Prop) (L : relation ev)
  (C lX : ev -> Prop).
Hypothesis H : searched ord P S m pr S' l' L C lX.
Notation B := (least ord S S' l' L C).
Notation rfA := (rf_in S (acting m pr l' lX) (around B m pr L)).
Hypothesis One : forall w w', S' w -> S' w' -> answer w -> answer w' -> src w = src w' -> w = w'.
Hypothesis Done : forall r e, S' r -> S' e -> nic_read r -> po r e -> ~ (knd e = NAW /\ src e = r) ->
  exists w, S' w /\ answer w /\ src w = r /\ (w = e \/ po w e).

(* what an event of beta reads depends on the pivot iff the search has marked its word, with marks of words and threads *)
Theorem poison_by_thread l e : along S' L (e :: l) -> B e -> rd e ->
  (depr rfA m e <-> tword (tmarked B l' (tbegun (wr lX m) m) l) (loc e)).
Proof.
  intros Al Be Re. rewrite (proj1 (poison_is_dependence ord P S m pr S' l' L C lX H l e Al Be Re)).
  destruct (n_machine _ _ _ _ _ _ _ _ _ _ H) as (_ & W' & _ & _ & _ & _ & Po & _).
  pose proof (n_total _ _ _ _ _ _ _ _ _ _ H) as Total. inversion Al as [|l0 e0 Al' Se Ie HQ]; subst.
  symmetry. apply (by_thread_same B l' S' L); auto.
  - apply Total.
  - intros a b. exact (sto_asym _ _ _ _ Total).
  - intros w Sw Nw Bs. apply b_keep with (src w); auto. now apply k_oppo, src_oppo.
Qed.
End Searched.
