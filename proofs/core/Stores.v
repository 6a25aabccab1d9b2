(* trace(sigma): what a read takes, from memory or from the store buffer of its thread; rfb and rbb run along po. *)
Require Import List Arith Lia Classical Relations Setoid.
From RR Require Import Model Hardware Orders Cells.

Section Forward.
Context {U : events} (hw : hardware) {OK : hardware_ok hw}.
Variables (E : ev -> Prop) (lt : relation ev).
Hypothesis W : wfE E.
Hypothesis S : sto E lt.

Notation T := (trace_by hw E lt).
Let irr a : ~ lt a a. Proof. apply S. Qed.
Let trans a b c : lt a b -> lt b c -> lt a c. Proof. apply S. Qed.
Let asym a b : lt a b -> lt b a -> False. Proof. intros; eapply irr, trans; eauto. Qed.
Let tot a b : E a -> E b -> noninit a -> noninit b -> thr a = thr b -> a = b \/ po a b \/ po b a.
Proof. apply W. Qed.

(* one definition for both: without store buffers no store waits *)
Lemma trace_by_rf w r : rf T w r <-> rf_buffered hw E lt w r.
Proof.
  simpl. destruct (buffered hw) eqn:F; [tauto|]. unfold rf_buffered.
  assert (forall w', ~ waits hw E lt r w') as N.
  { intros w' (_ & (_ & (F' & _) & _) & _). congruence. }
  split.
  - intros H. split; [apply H|split; [apply H|auto]].
  - intros (_ & _ & [(H & _)|(_ & H)]); [destruct (N w H)|auto].
Qed.
Lemma rf_cases w r : rf T w r -> forwards hw E lt w r \/ rf_in E lt w r.
Proof. intros H. apply trace_by_rf in H. destruct H as (_ & _ & [H|(_ & H)]); auto. Qed.
Lemma rf_not_own w r : rf T w r -> ~ own hw w r -> lt w r.
Proof. intros H N. destruct (rf_cases w r H) as [((_ & O & _) & _)|K]; [tauto|apply K]. Qed.
Lemma rf_facts w r : rf T w r -> E w /\ E r /\ wr w /\ rd r /\ loc w = loc r.
Proof.
  intros H. destruct (rf_cases w r H) as [((Ew & O & L & _) & _)|K]; [|split; [apply K|]; repeat split; apply K].
  apply trace_by_rf in H. destruct H as (Er & _). apply own_facts in O. tauto.
Qed.
Lemma rb_fwd r w : rb T r w -> lt r w.
Proof.
  intros (N & u & H & M). destruct (rf_cases u r H) as [((_ & _ & _ & _ & L) & _)|K].
  - eapply trans; [exact L|apply M].
  - exact (rb_tr_fwd E lt r w S (conj N (ex_intro _ u (conj K M)))).
Qed.

(* Where the edges of oppo are forward: *)
Hypothesis Hop : forall a b, E a -> E b -> oppo hw a b -> lt a b.

Lemma stores_fwd a b : E a -> E b -> store hw a -> store hw b -> po a b -> lt a b.
Proof. intros Ea Eb Sa (_ & K) P. apply Hop; auto. apply store_oppo; auto; congruence. Qed.

(* rfb and rbb run along po *)
Lemma rfb_po w r : rf T w r -> own hw w r -> po w r.
Proof.
  intros H O. destruct (rf_cases w r H) as [((_ & _ & _ & P & _) & _)|K]; [auto|].
  pose proof (own_facts hw _ _ O) as (Nw & Nr & _ & Rr & Cr & Sr & Rw). destruct (rf_facts w r H) as (Ew & Er & _).
  destruct (tot w r Ew Er Nw Nr) as [->|[P|P]]; [apply O|tauto|auto|].
  exfalso. apply (asym w r); [apply K|]. apply Hop, cpu_oppo; auto using not_overtaken.
Qed.
Lemma rbb_po r w : rb T r w -> own hw w r -> po r w.
Proof.
  intros H O. pose proof (rb_fwd r w H) as L. destruct H as (N & u & H & M).
  destruct (rf_facts u r H) as (_ & Er & _ & _ & Lu). pose proof M as (Eu & Ew & _ & _ & Lo & Luw).
  pose proof (own_facts hw _ _ O) as (Nw & Nr & _).
  destruct (tot r w Er Ew Nr Nw) as [->|[P|P]]; [symmetry; apply O|tauto|auto|exfalso].
  assert (waits hw E lt r w) as X by (repeat split; auto; try apply O; congruence).
  apply trace_by_rf in H. destruct H as (_ & _ & [(X' & K)|(K & _)]); [|exact (K w X)].
  destruct (K w X) as [->|P']; [eapply irr; eauto|].
  apply (asym u w Luw), stores_fwd; auto; [apply O|apply X'].
Qed.
End Forward.
