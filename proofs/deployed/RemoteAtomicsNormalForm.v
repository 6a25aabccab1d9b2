(* Remote atomics: a program that is not robust has a violating trace alpha, pivot, beta, executed with real values. *)
Require Import List Arith Lia Classical Relations.
Import ListNotations.
From RR Require Import Orders RemoteAtomicsModel RemoteAtomicsRules RemoteAtomicsValues RemoteAtomicsTraces RemoteAtomicsBase
  RemoteAtomicsPivot RemoteAtomicsExecuted RemoteAtomicsCycle RemoteAtomicsMaximal RemoteAtomicsForm.

Section Main.
Context {U : slots} (ord : order) (P : program).

(* sizes: an RMW has three slots, also where it does not write *)
Definition covered n (E : ev -> Prop) := exists l, length l = n /\ forall e, E e -> In e l.
Lemma covered_without n E m : covered n E -> E m -> exists k, k < n /\ covered k (without E m).
Proof.
  intros (l & Hl & C) Em. destruct (in_split _ _ (C m Em)) as (l1 & l2 & ->).
  exists (length (l1 ++ l2)). split.
  - rewrite app_length in *. simpl in Hl. lia.
  - exists (l1 ++ l2); split; [auto|]. intros e (Ee & Ne). specialize (C e Ee).
    rewrite in_app_iff in *. simpl in C. destruct C as [|[|]]; auto; congruence.
Qed.
Lemma fin_covered S : fin S -> exists n, covered n S.
Proof. intros (l & H). exists (length l), l. auto. Qed.

(* no violating trace has fewer slots *)
Definition smallest n := forall k T, k < n -> covered k (S T) -> ~ violating ord P T.
Lemma smallest_exists T : violating ord P T -> exists n T0, covered n (S T0) /\ violating ord P T0 /\ smallest n.
Proof.
  intros V. destruct (fin_covered (S T)) as (n & C). { apply (wf_fin _ (t_S _ (proj1 (proj2 (proj1 V))))). }
  revert T V C. induction n as [n IH] using lt_wf_ind. intros T V C.
  destruct (classic (smallest n)) as [|N]; [eauto|]. apply not_all_ex_not in N. destruct N as (k & N).
  assert (k < n /\ exists T1, covered k (S T1) /\ violating ord P T1) as (Hk & T1 & C1 & V1).
  { apply not_all_ex_not in N. destruct N as (T1 & N). split; [apply NNPP; tauto|]. exists T1. split; apply NNPP; tauto. }
  now apply (IH k Hk T1).
Qed.

(* an order that contains ob; slots of naW that do not happen stand behind their naR *)
Section Base.
Variable T : trace.
Hypothesis V : violating ord P T.
Let Wt : wft T. Proof. apply V. Qed.
Let Ws : wfS (S T). Proof. apply t_S, Wt. Qed.

Lemma ob1_E a b : ob1 ord T a b -> E T a /\ E T b /\ noninit b.
Proof.
  assert (forall a b, ib1 ord T a b -> E T a /\ E T b /\ noninit b) as H1.
  { intros x y [(A & B & H)|(A & B & H)|H|H|H].
    - split; auto. split; auto. eapply po_init_r; apply H.
    - split; auto. split; auto. destruct (pf_ok _ _ H) as (_ & _ & K & _). unfold noninit; congruence.
    - destruct (t_rf _ Wt _ _ H) as (A & B & _ & R & _). auto using rd_noninit.
    - destruct (t_nfo _ Wt _ _ (proj2 H)) as (A & B & _ & K). split; auto. split; auto. unfold noninit, rread, rwrite in *.
      intros Q. rewrite Q in K. intuition discriminate.
    - assert (forall z, rao T z y -> E T z /\ E T y /\ noninit y) as R.
      { intros z R. destruct (t_rao _ Wt _ _ R) as (A & B & Ka & Kb & _). split; [split; [auto|red; congruence]|].
        split; [split; [auto|red; congruence]|]. unfold noninit; congruence. }
      destruct H as [H|(K & A & H)]; [now apply R|]. split; [auto|apply (R _ H)]. }
  assert (forall x y, mo T x y -> E T x /\ E T y /\ noninit y) as Hm.
  { intros x y H. destruct (t_mo _ Wt _ _ H) as (A & B & _). split; auto. split; auto. exact (t_mo_init _ Wt _ _ H). }
  intros [H|H K|H|H|H|H|H|I H].
  - destruct H as (A & B & H). split; auto. split; auto. eapply po_init_r; apply H.
  - apply H1. now apply ib_pf.
  - apply H1. now apply ib_rf.
  - apply H1. now apply ib_nfo.
  - apply H1. now apply ib_rao.
  - destruct H as (_ & u & A & B). split; [apply (t_rf _ Wt _ _ A)|apply (Hm _ _ B)].
  - now apply Hm.
  - split; [|].
    + apply clos_trans_t1n in H. destruct H; apply (H1 _ _ H).
    + apply clos_trans_tn1 in H. destruct H; apply (H1 _ _ H).
Qed.

(* any order of the events that contains ob will do *)
Theorem base_of t1 : sto (S T) t1 -> initfirst (S T) t1 -> (forall a b, ob1 ord T a b -> t1 a b) -> exists tau,
  base ord P (S T) (live T) tau /\ (forall a b, E T a -> E T b -> (tau a b <-> t1 a b)) /\
  forall a b e, E T a -> E T b -> S T e -> tau a e -> tau e b ->
    exists k, E T k /\ (a = k \/ t1 a k) /\ t1 k b /\ (k = e \/ (knd e = NAW /\ ~ live T e /\ k = src e)).
Proof.
  intros St1 I1 H1.
  pose (void a := knd a = NAW /\ ~ live T a).
  pose (K a k := (void a /\ k = src a) \/ (~ void a /\ k = a)).
  assert (forall a, E T a -> K a a) as KE. { intros a (_ & H). right. split; auto. intros (Q & N). auto. }
  assert (forall x, void x -> K (src x) (src x)) as Kv.
  { intros x (Kx & _). right. split; auto. intros (Q & _). destruct (naw_facts x Kx) as (_ & _ & Y & _). congruence. }
  assert (forall a k k', K a k -> K a k' -> k = k') as k2 by (unfold K; intros a k k'; intuition congruence).
  assert (forall a k, K a k -> K k k) as k3. { intros a k [(H & ->)|(H & ->)]; [now apply Kv|right; auto]. }
  pose (tau := squash K t1).
  assert (forall a b, E T a -> E T b -> (tau a b <-> t1 a b)) as HE. { intros. apply squash_key; auto. }
  assert (sto (S T) tau) as St.
  { apply squash_sto; auto.
    - intros a. destruct (classic (void a)); [exists (src a); left|exists a; right]; auto.
    - intros a b k [((Ka & _) & Qa)|(_ & ->)] [((Kb & _) & Qb)|(_ & ->)]; auto. left. apply src_naw; congruence.
    - intros a k Sa [((Ka & _) & ->)|(_ & ->)]; auto. eapply wf_down; [exact Ws| |exact Sa]. now apply naw_facts. }
  assert (initfirst (S T) tau) as It.
  { intros i x Si Sx Ki Nx.
    assert (K i i) as Kii by (right; split; auto; intros (Q & _); congruence).
    destruct (classic (void x)) as [Vx|Vx].
    - exists i, (src x). split; auto. split; [left; auto|left]. destruct Vx as (Kx & _). destruct (naw_facts x Kx) as (Px &
      _ & Ks & _).
      apply I1; auto; [eapply wf_down; eauto|unfold noninit; congruence].
    - exists i, x. split; auto. split; [right; auto|left; auto]. }
  assert (forall a b, ob1 ord T a b -> tau a b) as Ht.
  { intros a b H. destruct (ob1_E _ _ H) as (A & B & _). apply HE; auto. }
  pose (T0 := tr (S T) (live T) tau).
  assert (forall a, S T a -> wr (live T) a -> E T a) as WE by (intros; now apply wr_in_E).
  assert (forall a b, mo T a b <-> mo T0 a b) as Hmo.
  { intros a b. split.
    - intros H. destruct (t_mo _ Wt _ _ H) as (A & B & Wa & Wb & L).
      split; [apply A|split; [apply B|split; [auto|split; [auto|split; [auto|apply Ht; now apply ob_mo]]]]].
    - intros (Sa & Sb & Wa & Wb & L & H). destruct (t_mo_total _ Wt a b) as [->|[|X]]; auto.
      + destruct (proj1 St _ H).
      + destruct (sto_asym _ _ _ _ St H). apply Ht. now apply ob_mo. }
  assert (forall a b, rf T a b -> rf T0 a b) as Hrf1.
  { intros w r H. destruct (t_rf _ Wt _ _ H) as (A & B & Ww & Rr & L).
    split; [apply A|split; [apply B|split; [auto|split; [auto|split; [auto|split; [apply Ht; now apply ob_rf|]]]]]].
    intros w' Sw' Ww' Lw' H'. destruct (t_mo_total _ Wt w' w) as [|[X|X]]; auto; [congruence|right; apply Ht; now apply
      ob_mo|].
    exfalso. apply (sto_asym _ _ _ _ St H'). apply Ht, ob_rb. split; [intros ->; destruct (proj1 St _ H')|eauto]. }
  assert (forall a b, rf T a b <-> rf T0 a b) as Hrf.
  { intros w r. split; [auto|]. intros H. destruct (t_rf_ex _ Wt r) as (w' & H'); [apply rd_in_E; apply H|apply H|].
    now rewrite (rf_in_fun _ _ _ _ _ _ St H (Hrf1 _ _ H')). }
  assert (flush ord = true -> forall a b, nfo T a b <-> nfo T0 a b) as Hnfo.
  { intros Fl a b. split.
    - intros H. destruct (t_nfo _ Wt _ _ H) as (A & B & N). split; auto. split; auto. split; auto.
      apply Ht, ob_nfo. split; auto.
    - intros (A & B & N & H). destruct (t_nfo_total _ Wt a b A B N) as [|X]; auto.
      destruct (sto_asym _ _ _ _ St H). apply Ht, ob_nfo. split; auto. }
  assert (forall a b, rao T a b <-> rao T0 a b) as Hrao.
  { intros a b. split.
    - intros H. destruct (t_rao _ Wt _ _ H) as (A & B & Ka & Kb & L).
      split; [auto|split; [auto|split; [auto|split; [auto|split; [auto|apply Ht; apply ob_rao; now left]]]]].
    - intros (A & B & Ka & Kb & L & H). destruct (t_rao_total _ Wt a b A B Ka Kb L) as [->|[|X]]; auto.
      + destruct (proj1 St _ H).
      + destruct (sto_asym _ _ _ _ St H). apply Ht, ob_rao. now left. }
  destruct (ob1_mono ord T0 T) as (Mob & _); try reflexivity; try (intros; symmetry; auto; fail).
  destruct (ob1_mono ord T T0) as (_ & Msc); try reflexivity; auto.
  assert (forall a b, ob1 ord T0 a b -> tau a b) as Ht0 by auto.
  assert (forall a b e, E T a -> E T b -> S T e -> tau a e -> tau e b ->
    exists k, E T k /\ (a = k \/ t1 a k) /\ t1 k b /\ (k = e \/ (knd e = NAW /\ ~ live T e /\ k = src e))) as Between.
  { intros a b e Ea Eb Se (k & k2' & A1 & A2 & HA) (k3' & k4' & A3 & A4 & HB).
    rewrite (k2 _ _ _ A3 A2) in *. rewrite (k2 _ _ _ A1 (KE _ Ea)) in *. rewrite (k2 _ _ _ A4 (KE _ Eb)) in *.
    exists k2'. destruct HB as [HB|HB].
    - split; [|split; [destruct HA as [|(Q & _)]; auto|split; [exact HB|]]].
      + destruct A2 as [((Ke & Le) & ->)|(Nv & ->)].
        * destruct (naw_facts e Ke) as (Pe & _ & Ks & _). split; [eapply wf_down; eauto|red; congruence].
        * split; [auto|]. intros Ke. apply NNPP. intros Le. apply Nv. split; auto.
      + destruct A2 as [((Ke & Le) & ->)|(Nv & ->)]; auto.
    - destruct HB as (Qk & _ & Nb). congruence. }
  exists tau. split; [|split; [exact HE|exact Between]]. constructor; auto.
  - destruct V as ((R & _ & Val & Re) & _ & Nsc). split; [split; [exact R|split; [|split]]|split].
    + apply tr_wft; auto. intros a b H. apply Hrao in H. exact (t_rao_naw _ Wt _ _ H).
    + intros r Er Cr Rr. destruct (Val r Er Cr Rr) as (w & H & Vw). exists w. split; [now apply Hrf|].
      apply (wval_local (fun _ => True) (rf T)); auto; intros; split; auto; now apply Hrf.
    + intros w Sw Cw. rewrite (Re w Sw Cw). split; intros (u & Vw); exists u.
      * apply (wval_local (fun _ => True) (rf T)); auto; intros; split; auto; now apply Hrf.
      * apply (wval_local (fun _ => True) (rf T0)); auto; intros; split; auto; now apply Hrf.
    + intros a H. apply (proj1 St a). eapply (forward_trans (ob1 ord T0) tau); eauto. apply St.
    + intros N. apply Nsc. intros a H. exact (N a (Msc _ _ H)).
  - intros x e Sx Kx Lx Se H. apply (squash_adj K t1 k2 k3 x); auto. left; split; auto. split; auto.
  - intros x Sx Kx Lx. exists (src x), (src x). split; [apply Kv; split; auto|]. split; [left; split; auto; split; auto|].
    right. split; auto. split; auto. destruct (naw_facts x Kx) as (_ & _ & Ks & _). congruence.
Qed.
Theorem base_exists : exists tau, base ord P (S T) (live T) tau.
Proof.
  destruct (linear (S T) (ob1 ord T)) as (t1 & St1 & I1 & H1).
  { apply (wf_fin _ Ws). } { apply V. } { intros a b H. apply (ob1_E _ _ H). }
  destruct (base_of t1 St1 I1 H1) as (tau & B & _). eauto.
Qed.
End Base.
End Main.
