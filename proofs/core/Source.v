(* A pivot need not read from its store buffer (rule T3): tau can be chosen so that what it reads is before it. *)
Require Import List Arith Lia Classical Relations Setoid.
From RR Require Import Model Hardware Orders Cells Stores Rules Traces Lemma2.

Section Source.
Context {U : events} (hw : hardware) {OK : hardware_ok hw}.

(* A pivot is not ob-before a store that it forwards: from a read that is last of its thread only rb leads, to writes that
   are mo-after that store. *)
Variables (T : trace) (m : ev).
Hypotheses (W : wft T) (C : rdma_consistent hw T) (M : maximal hw T m).

Lemma only_rb x : knd m = LR -> ob1 hw T m x -> rb T m x.
Proof.
  intros K H. assert (forall y, E T y -> ~ po m y) as La by apply M.
  assert (~ wr m) as NW by (unfold wr; rewrite K; simpl; tauto).
  assert (forall y, ~ nfo T m y) as NN.
  { intros y Y. destruct (t_nfo _ W _ _ Y) as (_ & _ & _ & Z). rewrite K in Z. intuition discriminate. }
  assert (forall y, ib1 hw T m y -> False) as NI.
  { intros y [(_&Ey&Y)|(_&Ey&Y)|Y|Y O|(_ & Y)].
    - apply (La y Ey), Y.
    - destruct (pf_ok _ _ Y) as (Z & _). exact (La y Ey Z).
    - apply NW, (t_rf _ W _ _ Y).
    - pose proof Y as (_ & u & _ & Z). apply (La y); [apply (t_mo _ W _ _ Z)|]. exact (own_rb_po hw T m y W C Y O).
    - exact (NN y Y). }
  destruct H as [(_&Ey&Y)|(_&Ey&Y) _|y (_&Ey&Y) _ _|Y _|(_ & Y)|Y|Y|_ Y]; auto; exfalso.
  - apply (La x Ey), Y.
  - destruct (pf_ok _ _ Y) as (Z & _). exact (La x Ey Z).
  - apply (La y Ey), Y.
  - apply NW, (t_rf _ W _ _ Y).
  - exact (NN x Y).
  - apply NW, (t_mo _ W _ _ Y).
  - apply clos_trans_t1n in Y. destruct Y; eauto.
Qed.
Lemma not_before_source u : rf T u m -> own hw u m -> ~ ob hw T m u.
Proof.
  intros H (_ & _ & K) O. apply clos_trans_t1n in O.
  assert (forall x, rb T m x -> mo T u x) as R.
  { intros x (_ & v & Hv & Mo). now rewrite (t_rf_fun _ W _ _ _ H Hv). }
  destruct O as [x X|x y X Y].
  - exact (t_mo_irr _ W _ (R _ (only_rb _ K X))).
  - apply (C y). apply t_trans with x.
    + apply t_step, ob_mo, R. now apply only_rb.
    + now apply clos_t1n_trans.
Qed.

(* so what it reads can be put before it *)
Definition with_source a b := ob1 hw T a b \/ (rf T a b /\ b = m).
Lemma with_source_path a b : clos_trans ev with_source a b ->
  ob hw T a b \/ exists u, rf T u m /\ own hw u m /\ (a = u \/ ob hw T a u) /\ (m = b \/ ob hw T m b).
Proof.
  intros H. apply clos_trans_tn1 in H.
  assert (forall x y, with_source x y -> ob1 hw T x y \/ (rf T x m /\ own hw x m /\ y = m)) as St.
  { intros x y [X|(X & ->)]; [auto|]. destruct (classic (own hw x m)); [auto|]. left. now apply ob_rf. }
  induction H as [b H|b c H _ IH].
  - destruct (St _ _ H) as [X|(X & O & ->)]; [left; now apply t_step|right]. exists a; auto.
  - destruct (St _ _ H) as [X|(X & O & ->)].
    + destruct IH as [I|(u & I & J & K & Q)]; [left; eapply t_trans; [exact I|now apply t_step]|right].
      exists u. split; [auto|split; [auto|split; [auto|]]]. right.
      destruct Q as [<-|Q]; [now apply t_step|eapply t_trans; [exact Q|now apply t_step]].
    + right. exists b. split; [auto|split; [auto|]]. split; [|auto].
      destruct IH as [I|(u & I & J & K & Q)]; [auto|exfalso].
      rewrite (t_rf_fun _ W _ _ _ X I) in Q. destruct Q as [Q|Q]; [|exact (not_before_source u I J Q)].
      destruct J as (_ & (_ & J) & J'). congruence.
Qed.
Lemma with_source_acyclic a : ~ clos_trans ev with_source a a.
Proof.
  intros H. destruct (with_source_path a a H) as [X|(u & X & O & K & Q)]; [exact (C a X)|].
  apply (not_before_source u X O). destruct K as [->|K], Q as [Q|Q]; auto.
  - subst. destruct O as (_ & (_ & O) & O'). congruence.
  - now subst.
  - eapply t_trans; eauto.
Qed.
End Source.
