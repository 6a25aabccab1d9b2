(* Sequences of slots and what happens of them: programs of slots as programs of Deployed.v. *)
Require Import List Arith ZArith Bool Lia.
Import ListNotations.
From RR Require Import Sequences RemoteAtomicsModel RemoteAtomicsPrograms DeployedSlots.
From RR Require Programs Deployed DeployedTraces.
Local Arguments Deployed.lab : simpl never.

Definition that_operation o := match o with
  | CompareSwap a b => Deployed.CompareSwap a b | FetchAdd d w => Deployed.FetchAdd d w
  | Exchange v => Deployed.Exchange v end.
Lemma that_same o : same_operation (that_operation o) = o.
Proof. destruct o; reflexivity. Qed.

Lemma suf_in (l : label) h p : suf (l :: h) p -> In l p.
Proof. intros (k & ->). apply in_or_app. right. now left. Qed.

Section Happening.
Variable hw : Deployed.platform.
Notation hca := (Deployed.ranked hw).
(* the slots of the hardware: naR and naW under hca, nA under glob *)
Definition of_hardware l := match l with Lnar _ _ _ | Lnaw _ _ => hca | Lna _ _ _ => negb hca | _ => true end.

(* what happens of a thread's slots, the first event first, where [f] says which RMWs write *)
Section Writes.
Variables (f : event -> bool) (t : nat).
Definition happens_of l h : list Deployed.label := match l with
  | Plain l => [Deployed.Plain l]
  | Lnar q x o => [Deployed.Lnar q x (that_operation o)]
  | Lnaw q x => if f (Ev t l h) then [Deployed.Lnaw q x] else []
  | Lna q x o => [if f (Ev t l h) then Deployed.Lna q x (that_operation o) else Deployed.Lnar q x (that_operation o)] end.
Fixpoint happening h : list Deployed.label := match h with [] => [] | l :: h => happening h ++ happens_of l h end.

Lemma happens_cases l h : happens_of l h = [] /\ (exists q x, l = Lnaw q x) /\ f (Ev t l h) = false \/
  exists e, happens_of l h = [e] /\ covered_label e = true /\ (of_hardware l = true -> slot_of hw e = l).
Proof.
  destruct l as [l|q x o|q x|q x o]; simpl.
  - right. eexists. split; [reflexivity|]. auto.
  - right. eexists. split; [reflexivity|]. split; [reflexivity|]. intros H. unfold slot_of. rewrite H.
    now rewrite that_same.
  - destruct (f (Ev t (Lnaw q x) h)) eqn:F; [right|left; eauto 6]. eexists. split; [reflexivity|]. auto.
  - right. eexists. split; [reflexivity|]. destruct (f (Ev t (Lna q x o) h)); split; auto; intros H; unfold slot_of;
    [|apply negb_true_iff in H; rewrite H]; now rewrite that_same.
Qed.
Lemma happening_suf h p : suf h p -> exists r, happening p = happening h ++ r.
Proof.
  intros (k & ->). induction k as [|l k (r & IH)]; simpl; [exists []; now rewrite app_nil_r|].
  rewrite IH. exists (r ++ happens_of l (k ++ h)). now rewrite app_assoc.
Qed.
Lemma happening_at l h p e : suf (l :: h) p -> happens_of l h = [e] ->
  length (happening h) < length (happening p) /\ forall d, nth (length (happening h)) (happening p) d = e.
Proof.
  intros S H. destruct (happening_suf _ _ S) as (r & Q). simpl in Q. rewrite H in Q. rewrite Q, !app_length. simpl.
  split; [lia|].
  intros d. rewrite <- app_assoc, app_nth2, Nat.sub_diag by lia. reflexivity.
Qed.
Lemma happening_place n p : n < length (happening p) -> exists l h e, suf (l :: h) p /\ happens_of l h = [e] /\
  length (happening h) = n.
Proof.
  induction p as [|l p IH]; simpl; [lia|]. rewrite app_length. intros L.
  destruct (le_lt_dec (length (happening p)) n) as [G|G].
  - destruct (happens_cases l p) as [(Q & _)|(e & Q & _)]; rewrite Q in L; simpl in L; [lia|].
    exists l, p, e. split; [apply suf_refl|split; [exact Q|lia]].
  - destruct (IH G) as (l' & h & e & S & H). exists l', h, e. split; [|exact H]. eapply suf_trans;
    [exact S|now exists [l]].
Qed.
Lemma happening_one l h e l' h' e' p : suf (l :: h) p -> suf (l' :: h') p -> happens_of l h = [e] ->
  happens_of l' h' = [e'] ->
  length (happening h) = length (happening h') -> l :: h = l' :: h'.
Proof.
  intros S S' H H' Q. destruct (suf_total _ _ _ S S') as [K|K]; apply suf_tail in K as [K|K]; auto; exfalso.
  - apply (happening_at _ _ _ _ K) in H as (L & _). lia.
  - apply (happening_at _ _ _ _ K) in H' as (L & _). lia.
Qed.
Lemma count_happening (g : label -> bool) (g' : Deployed.label -> bool) h : (forall q x, g (Lnaw q x) = false) ->
  (forall q x, g' (Deployed.Lnaw q x) = false) ->
  (forall l e, covered_label e = true -> slot_of hw e = l -> g l = g' e) -> (forall l, In l h -> of_hardware l = true) ->
  cnt g h = Deployed.count g' (happening h).
Proof.
  intros G G' Gs. unfold Deployed.count. induction h as [|l h IH]; intros Hh; [reflexivity|]. simpl happening.
  rewrite cnt_cons, filter_app, app_length, IH by (intros; apply Hh; now right).
  destruct (happens_cases l h) as [(-> & (q & x & ->) & _)|(e & -> & C & Q)]; [rewrite G; simpl; lia|].
  rewrite (Gs l e C (Q (Hh l (or_introl eq_refl)))). simpl. destruct (g' e); simpl; lia.
Qed.
End Writes.

(* Slots of a sequence of events in Deployed.v *)
Section Slots.
Variables (T : Deployed.trace) (f : event -> bool) (t : nat) (p : list label).
Notation run := (Deployed.run_of T).
Notation lab n := (Deployed.lab run (Deployed.At t n)).
Notation happening := (happening f t).
Notation happens_of := (happens_of f t).
Hypothesis Sequence : Deployed.sequence run t = happening p.
Hypothesis Good : grammar p = true.
Hypothesis Of : forall l, In l p -> of_hardware l = true.

Lemma lab_at l h e : suf (l :: h) p -> happens_of l h = [e] -> lab (length (happening h)) = e /\
  length (happening h) < length (Deployed.sequence run t).
Proof.
  intros S H. destruct (happening_at f t l h p e S H) as (L & Q). unfold Deployed.lab. rewrite Sequence. split;
  [apply Q|exact L].
Qed.
Lemma next_at l h e : suf (l :: h) p -> happens_of l h = [e] -> forall n, length (happening h) = Datatypes.S n ->
  DeployedTraces.unfinished T (Deployed.At t n) = false /\
  DeployedTraces.has_write T (Deployed.At t n) = match e with Deployed.Lnaw _ _ => true | _ => false end.
Proof.
  intros S H n Q. destruct (lab_at l h e S H) as (A & B). rewrite Q in A, B.
  unfold DeployedTraces.unfinished, DeployedTraces.has_write, Deployed.after.
  rewrite (nth_error_nth' _ (Deployed.Plain Programs.Lmf) B). unfold Deployed.lab in A. rewrite A. auto.
Qed.
Lemma slots_at n : forall l h e, length h <= n -> suf (l :: h) p -> happens_of l h = [e] ->
  slots_to hw T t (length (happening h)) = h.
Proof.
  induction n as [n IH] using lt_wf_ind. intros l h e Ln S H. destruct h as [|l1 h1]; [reflexivity|].
  assert (suf (l1 :: h1) p) as S1 by now apply suf_cons in S.
  assert (follows l (l1 :: h1) = true) as F by (apply (grammar_suf _ _ S), grammar_cons in Good; tauto).
  destruct (happens_cases f t l1 h1) as [(E1 & (q & x & ->) & _)|(e1 & E1 & C1 & Q1)].
  - (* a naW that does not happen *)
    pose proof (grammar_suf _ _ S1 Good) as G1. apply grammar_cons in G1 as (_ & F1).
    destruct h1 as [|l2 h2]; [discriminate F1|]. destruct l2 as [[]|q2 x2 o| |]; try discriminate F1.
    apply andb_prop in F1 as (Fq & Fx). apply Nat.eqb_eq in Fq, Fx. subst q2 x2.
    assert (suf (Lnar q x o :: h2) p) as S2 by now apply suf_cons in S1.
    assert (happens_of (Lnar q x o) h2 = [Deployed.Lnar q x (that_operation o)]) as E2 by reflexivity.
    simpl in Ln.
    pose proof (IH (length h2) ltac:(lia) (Lnar q x o) h2 _ (le_n _) S2 E2) as I2.
    destruct (lab_at _ _ _ S2 E2) as (A2 & _).
    assert (hca = true) as Hc by exact (Of _ (suf_in _ _ _ S2)).
    assert (length (happening (Lnaw q x :: Lnar q x o :: h2)) = Datatypes.S (length (happening h2))) as Len.
    { change (happening (Lnaw q x :: Lnar q x o :: h2)) with
        ((happening h2 ++ happens_of (Lnar q x o) h2) ++ happens_of (Lnaw q x) (Lnar q x o :: h2)).
      rewrite E1, E2, app_nil_r, app_length. simpl. lia. }
    rewrite Len. destruct (next_at l _ e S H _ Len) as (U & W).
    change (slots_to hw T t (Datatypes.S (length (happening h2)))) with
      (filler hw T t (length (happening h2)) ++
       slot_of hw (lab (length (happening h2))) :: slots_to hw T t (length (happening h2))).
    rewrite I2. unfold filler, void. rewrite A2, Hc, U, W.
    assert (match e with Deployed.Lnaw _ _ => true | _ => false end = false) as ->.
    { destruct l as [[]| | |]; try discriminate F. injection H as <-. reflexivity. }
    simpl. rewrite Hc. now rewrite that_same.
  - simpl in Ln. pose proof (IH (length h1) ltac:(lia) l1 h1 e1 (le_n _) S1 E1) as I1.
    destruct (lab_at _ _ _ S1 E1) as (A1 & _).
    assert (length (happening (l1 :: h1)) = Datatypes.S (length (happening h1))) as Len.
    { simpl. rewrite E1, app_length. simpl. lia. }
    rewrite Len. destruct (next_at l _ e S H _ Len) as (U & W).
    change (slots_to hw T t (Datatypes.S (length (happening h1)))) with
      (filler hw T t (length (happening h1)) ++
       slot_of hw (lab (length (happening h1))) :: slots_to hw T t (length (happening h1))).
    rewrite I1, A1, (Q1 (Of _ (suf_in _ _ _ S1))).
    assert (filler hw T t (length (happening h1)) = []) as ->; [|reflexivity].
    unfold filler, void. rewrite A1, U, W. destruct e1 as [?|?|q x o|? ?|? ? ?|? ? ?|? ? ? ? ?|? ? ? ?|? ?|? ?]; auto.
    destruct hca eqn:Hc; [|reflexivity].
    assert (l1 = Lnar q x (same_operation o)) as -> by (pose proof (Q1 (Of _ (suf_in _ _ _ S1))) as X; simpl in X;
    rewrite Hc in X; auto).
    destruct l as [[]|? ? ?|q' x'|? ? ?]; try discriminate F. simpl in H. destruct (f _); [injection H as <-;
    reflexivity|discriminate].
Qed.
End Slots.
End Happening.
