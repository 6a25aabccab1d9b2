(* Lemma 2: taking out the pivot. *)
Require Import List Arith Lia Classical Relations Setoid.
From RR Require Import Model Hardware Orders Rules Traces.

(* What Lemma 2 to Theorem 7 are about: T is violating, m is a maximal event of it, tau is a total order that contains ob.
   The record is a class, so inside of a section with [Context {H : pivot hw P T m tau}] lemmas find it by themselves. *)
Class pivot {U : events} (hw : hardware) (P : program) (T : trace) (m : ev) (tau : relation ev) : Prop := {
  pv_violating : violating hw P T;
  pv_maximal : maximal hw T m;
  pv_total : sto (E T) tau;
  pv_init : initfirst (E T) tau;
  pv_ob : forall a b, ob1 hw T a b -> tau a b;
}.

(* The trace of tau without m. *)
Definition T' {U : events} (T : trace) (m : ev) (tau : relation ev) := tr (without (E T) m) tau.

Section Lemma2.
Context {U : events} {hw : hardware} {OK : hardware_ok hw} {P : program} {T : trace} {m : ev} {tau : relation ev}.
Context {Piv : pivot hw P T m tau}.
Notation E' := (without (E T) m).
Notation T' := (T' T m tau).

Let V : violating hw P T := pv_violating.
Let M : maximal hw T m := pv_maximal.
Let S : sto (E T) tau := pv_total.
Let I0 : initfirst (E T) tau := pv_init.
Let Hob : forall a b, ob1 hw T a b -> tau a b := pv_ob.

Lemma WT : wft T. Proof. apply V. Qed.
Lemma WE : wfE (E T). Proof. apply t_E, WT. Qed.
Lemma Em : E T m. Proof. apply M. Qed.
Lemma Nm : noninit m. Proof. apply M. Qed.
Lemma m_last b : E T b -> ~ po m b. Proof. apply M. Qed.
Lemma tau_irr a : ~ tau a a. Proof. apply S. Qed.
Lemma tau_trans a b c : tau a b -> tau b c -> tau a c. Proof. apply S. Qed.
Lemma tau_asym a b : tau a b -> ~ tau b a. Proof. apply (sto_asym _ _ _ _ S). Qed.
Lemma tau_rf a b : rf T a b -> tau a b. Proof. intros; apply Hob; now apply ob_rf. Qed.
Lemma tau_rb a b : rb T a b -> tau a b. Proof. intros; apply Hob; now apply ob_rb. Qed.
Lemma tau_mo a b : mo T a b -> tau a b. Proof. intros; apply Hob; now apply ob_mo. Qed.
Lemma tau_nfo a b : flushed hw T a b -> tau a b. Proof. intros; apply Hob; now apply ob_nfo. Qed.
Lemma T_rf w r : rf T w r <-> rf_in (E T) tau w r.
Proof. apply same_rf; auto using WT, tau_rf, tau_rb, tau_mo. Qed.
Lemma T_mo a b : mo T a b <-> mo_in (E T) tau a b.
Proof. apply same_mo; auto using WT, tau_rf, tau_rb, tau_mo. Qed.
Lemma T_nfo a b : flush hw = true -> (nfo T a b <-> nfo_in (E T) tau a b).
Proof.
  intros F. split; intros H.
  - destruct (t_nfo _ WT _ _ H) as (?&?&?); repeat split; auto; try apply H2. apply tau_nfo; split; auto.
  - destruct H as (Ea & Eb & N & L). destruct (t_nfo_total _ WT a b Ea Eb N); auto.
    destruct (tau_asym _ _ L). apply tau_nfo; split; auto.
Qed.

Lemma wfE' : wfE E'.
Proof.
  pose proof WE as W. constructor; unfold E', without in *.
  - destruct (wf_fin _ W) as (l & Hl). exists l; intros e (He & _); auto.
  - intros a b H (Eb & Nb); split; [eapply wf_down; eauto|]. intros ->. eapply m_last; eauto.
  - intros a b (?&_) (?&_); apply W; auto.
  - intros p (?&_); apply W; auto.
  - intros w p w' (?&_); apply W; auto.
  - intros e x (?&_); apply W; auto.
  - intros e (Ee & _) Re. destruct (wf_init _ W e Ee Re) as (i & Ei & K & L). exists i; repeat split; auto.
    intros ->. now apply Nm.
  - intros i j (?&_) (?&_); apply W; auto.
Qed.
Lemma S' : sto E' tau.
Proof. destruct S as (A & B & C). repeat split; auto. intros a b (Ea & _) (Eb & _); auto. Qed.
Lemma I0' : initfirst E' tau.
Proof. intros i x (Ei & _) (Ex & _); auto. Qed.
Lemma WT' : wft T'.
Proof. apply tr_wft; auto using wfE', S', I0'. Qed.

(* rf of T' against rf of T *)
Lemma rf_T_T' w r : rf T w r -> w <> m -> r <> m -> rf T' w r.
Proof.
  intros H Nw Nr. apply T_rf in H. destruct H as (Ew & Er & Ww & Rr & L & H & K).
  repeat split; auto. intros w' (Ew' & _); auto.
Qed.
Lemma rf_T'_T w r : rf T' w r -> rf T w r \/ (rf T m r /\ tau w m).
Proof.
  intros ((Ew & Nw) & (Er & Nr) & Ww & Rr & L & H & K).
  destruct (classic (wr m /\ loc m = loc r /\ tau m r)) as [(Wm & Lm & Hm)|N].
  - destruct S as (_ & _ & Hc). destruct (Hc w m Ew Em) as [|[Hwm|Hmw]]; [congruence| |].
    + right; split; auto. apply T_rf. repeat split; auto using Em.
      intros w' Ew' Ww' Lw' L'. destruct (classic (w' = m)) as [|Nw']; [auto|right].
      destruct (K w') as [->|]; auto; [split; auto|eauto using tau_trans].
    + left. apply T_rf. repeat split; auto. intros w' Ew' Ww' Lw' L'.
      destruct (classic (w' = m)) as [->|Nw']; [auto|]. apply K; auto. split; auto.
  - left. apply T_rf. repeat split; auto. intros w' Ew' Ww' Lw' L'.
    destruct (classic (w' = m)) as [->|Nw']; [destruct N; auto|]. apply K; auto. split; auto.
Qed.

(* Lemma 2 (3) *)
Theorem lemma_2_3 a b : sc1 T a b -> a <> m -> b <> m -> sc1 T' a b.
Proof.
  intros H Na Nb. destruct H as [(Ea & Eb & H)|H|(N & u & H & K)|H].
  - apply sc_po. repeat split; auto.
  - apply sc_rf. now apply rf_T_T'.
  - apply sc_rb. destruct (t_rf _ WT _ _ H) as (Eu & Ea & Wu & Ra & L).
    apply T_mo in K. destruct K as (_ & Eb & _ & Wb & Lb & K).
    split; [auto|]. destruct (classic (u = m)) as [->|Nu].
    + destruct (t_rf_ex _ WT' a) as (u' & H'); [split; auto|auto|].
      exists u'; split; [exact H'|].
      destruct (rf_T'_T _ _ H') as [X|(_ & X)].
      * rewrite (t_rf_fun _ WT _ _ _ X H) in H'. destruct H' as ((_ & Y) & _); congruence.
      * destruct H' as (Eu' & _ & Wu' & _ & Lu' & _). repeat split; auto; try congruence; try apply Eu'.
        eapply tau_trans; eauto.
    + exists u; split; [now apply rf_T_T'|]. repeat split; auto.
  - apply sc_mo. apply T_mo in H. destruct H as (?&?&?&?&?&?). repeat split; auto.
Qed.

(* Lemma 2 (2) *)
Lemma ib1_T' a b : ib1 hw T' a b -> ib1 hw T a b \/ (rf T m b /\ tau a b /\ rd b).
Proof.
  intros [((Ea&_)&(Eb&_)&H)|((Ea&_)&(Eb&_)&H)|H|H].
  - left; apply ib_ippo; repeat split; auto; apply H.
  - left; apply ib_pf; repeat split; auto.
  - destruct (rf_T'_T _ _ H) as [X|(X & _)]; [left; now apply ib_rf|right].
    repeat split; auto; apply H.
  - left; destruct H as (F & (?&_)&(?&_)&?&?). apply ib_nfo. split; [auto|]. apply T_nfo; auto. repeat split; auto; apply H1.
Qed.

Lemma ib_T'_inst a b : inst a -> ib hw T' a b -> tau a b.
Proof.
  intros Ia H.
  assert (exists i, inst i /\ ((i = a /\ ib hw T i b) \/ (tau a i /\ (i = b \/ ib hw T i b)))) as (i & Ii & K).
  { apply clos_trans_tn1 in H. induction H as [b H|b c H _ IH].
    - destruct (ib1_T' _ _ H) as [X|(X & L & R)].
      + exists a; split; [auto|left; split; [auto|now apply t_step]].
      + exists b; split; [now apply rd_inst|right; auto].
    - destruct IH as (i & Ii & K). destruct (ib1_T' _ _ H) as [X|(X & L & R)].
      + exists i; split; [auto|]. destruct K as [(-> & K)|(K & [->|K'])].
        * left; split; [auto|]. eapply t_trans; [exact K|now apply t_step].
        * right; split; [auto|right; now apply t_step].
        * right; split; [auto|right]. eapply t_trans; [exact K'|now apply t_step].
      + exists c; split; [now apply rd_inst|right; split; [|auto]].
        destruct K as [(-> & K)|(K & [->|K'])].
        * eapply tau_trans; [|exact L]. apply Hob, ob_ib; auto.
        * eapply tau_trans; eauto.
        * eapply tau_trans; [exact K|]. eapply tau_trans; [|exact L]. apply Hob, ob_ib; auto. }
  destruct K as [(-> & K)|(K & [->|K'])]; auto.
  - apply Hob, ob_ib; auto.
  - eapply tau_trans; [exact K|]. apply Hob, ob_ib; auto.
Qed.
Lemma ob1_T' a b : ob1 hw T' a b -> tau a b.
Proof.
  intros [((Ea&_)&(Eb&_)&H)|((Ea&_)&(Eb&_)&H) K|H|H|H|H|I H].
  - apply Hob, ob_oppo; repeat split; auto; apply H.
  - apply Hob, ob_pf; auto; repeat split; auto.
  - apply H.
  - apply H.
  - exact (rb_tr_fwd E' tau a b S' H).
  - apply H.
  - now apply ib_T'_inst.
Qed.
Theorem lemma_2_2 : rdma_consistent hw T'.
Proof.
  intros a H. apply (tau_irr a). eapply (forward_trans (ob1 hw T') tau); eauto using tau_trans, ob1_T'.
Qed.

(* Lemma 2 (1) *)
(* val does not stay inside E, so the lemma is stated for events of T *)
Lemma val_keep w v : val (rf T) w v -> E T w -> ~ ib hw T m w -> w <> m -> val (rf T') w v.
Proof.
  intros H; induction H as [w Ww Nw|w r v Rr Cr H _ IH|r w v C H IH]; intros Ew N Nm'.
  - now apply val_own.
  - assert (w <> m) as Nw by (intros ->; apply N, t_step; now apply ib_rf).
    apply val_nicr with w; [auto|auto| |].
    + now apply rf_T_T'.
    + apply IH; auto; [apply (t_rf _ WT _ _ H)|].
      intros K; apply N. eapply t_trans; [exact K|]. apply t_step; now apply ib_rf.
  - pose proof (carry_ok _ _ C) as (Pc & _).
    assert (E T r) as Er by (eapply wf_down; eauto using WE).
    apply val_nicw with r; [auto|]. apply IH; auto.
    + intros K; apply N. eapply t_trans; [exact K|]. apply t_step, ib_ippo. 
      split; [auto|split; [auto|]]. now apply oppo_ippo, carry_oppo.
    + intros ->. apply (m_last w Ew); auto.
Qed.

Theorem lemma_2_1 : trace_of P T'.
Proof.
  split; [|split].
  - apply (runs_prefix P (E T) m); [apply V|apply M].
  - apply WT'.
  - intros r (Er & Nr) Cr Rr.
    destruct V as ((_ & _ & Val) & _). destruct (Val r Er Cr Rr) as (w & H & K).
    assert (w <> m) as Nw.
    { intros ->. apply (proj2 M r Cr). apply t_step; now apply ib_rf. }
    exists w; split; [now apply rf_T_T'|]. apply val_keep; auto.
    + apply (t_rf _ WT _ _ H).
    + intros X. apply (proj2 M r Cr). eapply t_trans; [exact X|]. apply t_step; now apply ib_rf.
Qed.
End Lemma2.
