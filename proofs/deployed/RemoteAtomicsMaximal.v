(* Remote atomics: pivots exist, and if every one of them is read, some sc cycle passes through one (completeness where all
  flip). *)
Require Import List Arith Lia Classical Relations.
From RR Require Import Orders RemoteAtomicsModel RemoteAtomicsRules RemoteAtomicsValues RemoteAtomicsTraces
  RemoteAtomicsBase.

(* where values flow, sc leads *)
Section Flow.
Context {U : slots} {S l : ev -> Prop} {tau : relation ev}.
Hypothesis Ws : wfS S.
Let T := tr S l tau.
Let rfT := rf_in S l tau.

Lemma rf_scv d r : rfT d r -> scv T (rep d) (rep r).
Proof.
  intros R. exists d, r. split; auto. split; auto. split; [apply sc_rf; exact R|]. intros (K & _).
  destruct R as (_ & _ & _ & R & _). unfold rd in R. rewrite K in R. destruct R.
Qed.
Lemma rt_po x y : S x -> S y -> po x y -> rep x = rep y \/ sc T (rep x) (rep y).
Proof. intros Sx Sy H. destruct (po_scv T x y Ws Sx Sy H); auto. right. now apply t_step. Qed.

Lemma dep_sc m d : dep rfT m d -> S d -> rep d = rep m \/ sc T (rep m) (rep d).
Proof.
  intros D; induction D as [|w d C R D IH]; intros Sw; [auto|right].
  assert (sc T (rep m) (rep (src w))) as H.
  { destruct (IH (proj1 R)) as [<-|H]; [now apply t_step, rf_scv|]. eapply t_trans; [exact H|]. now apply t_step, rf_scv. }
  assert (S (src w)) as Sr by apply R.
  destruct (classic (fed w)) as [N|N].
  - destruct (rt_po (src w) w Sr Sw) as [<-|V]; [now apply src_ok|auto|eapply t_trans; eauto].
  - destruct C as [C|C]; [tauto|]. destruct (cond_cases w C) as [|Q]; [tauto|]. now rewrite Q in H.
Qed.
Lemma depr_sc m r : depr rfT m r -> sc T (rep m) (rep r).
Proof.
  intros (d & R & D). destruct (dep_sc m d D (proj1 R)) as [<-|H]; [now apply t_step, rf_scv|].
  eapply t_trans; [exact H|]. now apply t_step, rf_scv.
Qed.
End Flow.

Section Maximal.
Context {U : slots} {ord : order} {P : program} {S l : ev -> Prop} {tau : relation ev}.
Context {G : base ord P S l tau}.
Let T := tr S l tau.
Let rfT := rf_in S l tau.

(* last of its thread, and no CPU event depends on it.  (Lemma 1 asks for less than ib: a value has to flow.) *)
Definition pivotal m := last S m /\ forall c, S c -> cpu c -> ~ depr rfT m c.

Lemma last_above x : S x -> noninit x -> exists m, (m = x \/ po x m) /\ last S m.
Proof.
  intros Sx Nx. destruct (wf_fin _ W) as (es & Hl).
  destruct (max_elem es (fun m => S m /\ (m = x \/ po x m)) po) as (m & (Sm & Hm) & K).
  - split; [apply po_irr|apply po_trans].
  - intros a (Sa & _). auto.
  - eauto.
  - exists m; split; [auto|]. split; [auto|]. split.
    + destruct Hm as [->|Hm]; [auto|]. exact (po_init_r _ _ Hm).
    + intros b Sb H. apply (K b); [|auto]. split; [auto|]. right. destruct Hm as [->|Hm]; eauto using po_trans.
Qed.

Lemma cpu_tau c x : S c -> S x -> cpu c -> noninit x -> po c x -> tau c x.
Proof.
  intros Sc Sx C N H. apply oppo_slots; auto. now apply cpu_oppo.
Qed.
Lemma not_pivotal m : last S m -> ~ pivotal m -> exists c, S c /\ cpu c /\ depr rfT m c.
Proof. intros L N. apply NNPP. intros K. apply N. split; auto. intros c Sc Cc D. apply K; eauto. Qed.

(* from every last event sc leads to a pivotal one *)
Lemma next_pivotal m0 : last S m0 -> exists m, pivotal m /\ (rep m = rep m0 \/ sc T (rep m0) (rep m)).
Proof.
  intros L0. destruct (classic (pivotal m0)) as [|N]; [exists m0; auto|].
  destruct (not_pivotal m0 L0 N) as (c0 & Sc0 & Cc0 & D0). destruct (wf_fin _ W) as (es & Hl).
  destruct (max_elem es (fun c => S c /\ cpu c /\ sc T (rep m0) (rep c)) tau) as (c & (Sc & Cc & Hc) & K).
  - split; [apply g_sto|apply g_sto].
  - intros a (Sa & _). auto.
  - exists c0. split; auto. split; auto. now apply (depr_sc W).
  - assert (noninit c) as Nc by (unfold noninit, cpu in *; destruct (knd c); simpl in Cc; try tauto; discriminate).
    destruct (last_above c Sc Nc) as (m & Hm & Lm). exists m.
    assert (sc T (rep m0) (rep m)) as Hs.
    { destruct Hm as [->|Hm]; auto. destruct (rt_po (l:=l) (tau:=tau) W c m Sc (proj1 Lm) Hm) as [<-|V]; auto.
      eapply t_trans; eauto. }
    split; auto. apply NNPP. intros Np. destruct (not_pivotal m Lm Np) as (c2 & Sc2 & Cc2 & D2).
    apply (K c2); [split; auto; split; auto; eapply t_trans; [exact Hs|now apply (depr_sc W)]|].
    pose proof (depr_after m _ D2) as Z. destruct Hm as [->|Hm]; auto. eapply t_trans'; [|exact Z].
    apply cpu_tau; auto; apply Lm.
Qed.

(* and every CPU event stands before one, by values and program order, forward in tau *)
Lemma next_after c0 : S c0 -> cpu c0 -> exists c m, S c /\ cpu c /\ (c = c0 \/ tau c0 c) /\ (m = c \/ po c m) /\ pivotal m.
Proof.
  intros Sc0 Cc0. destruct (wf_fin _ W) as (es & Hl).
  destruct (max_elem es (fun c => S c /\ cpu c /\ (c = c0 \/ tau c0 c)) tau) as (c & (Sc & Cc & Hc) & K).
  - split; [apply g_sto|apply g_sto].
  - intros a (Sa & _). auto.
  - eauto.
  - assert (noninit c) as Nc by (unfold noninit, cpu in *; destruct (knd c); simpl in Cc; try tauto; discriminate).
    destruct (last_above c Sc Nc) as (m & Hm & Lm). exists c, m. split; [auto|split; [auto|split; [auto|split; [auto|]]]].
    apply NNPP. intros Np. destruct (not_pivotal m Lm Np) as (c2 & Sc2 & Cc2 & D2).
    assert (tau c c2) as H.
    { pose proof (depr_after m _ D2) as Z. destruct Hm as [->|Hm]; auto. eapply t_trans'; [|exact Z].
      apply cpu_tau; auto; apply Lm. }
    apply (K c2); [|exact H]. split; auto. split; auto. right. destruct Hc as [->|Hc]; auto. eapply t_trans'; eauto.
Qed.

Theorem cycle_at_pivot : (exists x, S x /\ noninit x) -> (forall m, pivotal m -> exists n, rfT m n) ->
  exists m, pivotal m /\ sc T (rep m) (rep m).
Proof.
  intros (x & Sx & Nx) Hr. apply NNPP. intros N. destruct (wf_fin _ W) as (es & Hl).
  destruct (max_elem es pivotal (fun a b => pivotal a /\ sc T (rep a) (rep b))) as (m & Pm & K).
  - split.
    + intros a (Pa & H). apply N; eauto.
    + intros a b c (Pa & H) (_ & H'). split; auto. eapply t_trans; eauto.
  - intros a (La & _). apply Hl, La.
  - destruct (last_above x Sx Nx) as (m0 & _ & L0). destruct (next_pivotal m0 L0) as (m & Pm & _). eauto.
  - destruct (Hr m Pm) as (n & R). pose proof R as (_ & Sn & _ & Rn & _).
    destruct (last_above n Sn (rd_noninit n Rn)) as (m0 & Hm & L0). destruct (next_pivotal m0 L0) as (m' & Pm' & H').
    apply (K m' Pm'). split; auto.
    assert (sc T (rep m) (rep n)) as H by (now apply t_step, rf_scv).
    assert (sc T (rep m) (rep m0)) as H0.
    { destruct Hm as [->|Hm]; auto. destruct (rt_po (l:=l) (tau:=tau) W n m0 Sn (proj1 L0) Hm) as [<-|V]; auto.
      eapply t_trans; eauto. }
    destruct H' as [->|H']; auto. eapply t_trans; eauto.
Qed.

(* nothing reads m: nothing depends on it *)
Lemma unread m d : (forall n, ~ rfT m n) -> dep rfT m d -> d = m.
Proof. intros N D. induction D as [|w d C R D IH]; auto. subst. destruct (N _ R). Qed.

End Maximal.
