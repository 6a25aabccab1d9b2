(* Lemma 2: taking out the pivot. *)
Require Import List Arith Lia Classical Relations Setoid.
From RR Require Import Model Hardware Orders Cells Stores Rules Traces.

(* What Lemma 2 to Theorem 7 are about: T is violating, m is a maximal event of it, tau is a total order that contains ob, in
   which what m reads is before m: a pivot does not forward (rule T3; that there is such a tau is shown in Source.v).
   The record is a class, so inside of a section with [Context {H : pivot hw P T m tau}] lemmas find it by themselves. *)
Class pivot {U : events} (hw : hardware) (P : program) (T : trace) (m : ev) (tau : relation ev) : Prop := {
  pv_violating : violating hw P T;
  pv_maximal : maximal hw T m;
  pv_total : sto (E T) tau;
  pv_init : initfirst (E T) tau;
  pv_ob : forall a b, ob1 hw T a b -> tau a b;
  pv_source : forall w, rf T w m -> tau w m;
}.

(* The trace of tau without m. *)
Definition T' {U : events} (hw : hardware) (T : trace) (m : ev) (tau : relation ev) := trace_by hw (without (E T) m) tau.

Section Lemma2.
Context {U : events} {hw : hardware} {OK : hardware_ok hw} {P : program} {T : trace} {m : ev} {tau : relation ev}.
Context {Piv : pivot hw P T m tau}.
Notation E' := (without (E T) m).
Notation T' := (T' hw T m tau).

Let V : violating hw P T := pv_violating.
Let M : maximal hw T m := pv_maximal.
Let S : sto (E T) tau := pv_total.
Let I0 : initfirst (E T) tau := pv_init.
Let Hob : forall a b, ob1 hw T a b -> tau a b := pv_ob.

Lemma WT : wft T. Proof. apply V. Qed.
Lemma Cons : rdma_consistent hw T. Proof. apply V. Qed.
Lemma WE : wfE (E T). Proof. apply t_E, WT. Qed.
Lemma Em : E T m. Proof. apply M. Qed.
Lemma Nm : noninit m. Proof. apply M. Qed.
Lemma m_last b : E T b -> ~ po m b. Proof. apply M. Qed.
Lemma tau_irr a : ~ tau a a. Proof. apply S. Qed.
Lemma tau_trans a b c : tau a b -> tau b c -> tau a c. Proof. apply S. Qed.
Lemma tau_asym a b : tau a b -> ~ tau b a. Proof. apply (sto_asym _ _ _ _ S). Qed.
Lemma tau_rb a b : rb T a b -> tau a b. Proof. intros; apply Hob; now apply ob_rb. Qed.
Lemma tau_mo a b : mo T a b -> tau a b. Proof. intros; apply Hob; now apply ob_mo. Qed.
Lemma T_rf w r : rf T w r <-> rf_buffered hw (E T) tau w r.
Proof. rewrite <- trace_by_rf. exact (trace_rf hw T tau WT Cons S Hob w r). Qed.
Lemma T_mo a b : mo T a b <-> mo_in (E T) tau a b.
Proof. exact (trace_mo hw T tau WT S Hob a b). Qed.
Lemma T_nfo a b : flush hw = true -> (nfo T a b <-> nfo_in (E T) tau a b).
Proof. exact (trace_nfo hw T tau WT S Hob a b). Qed.

(* nothing reads m from the store buffer, and m does not read from it *)
Lemma m_not_own r : rf T m r -> ~ own hw m r.
Proof.
  intros H O. apply (m_last r); [apply (t_rf _ WT _ _ H)|]. exact (own_rf_po hw T m r WT Cons H O).
Qed.
Lemma rf_m r : rf T m r -> tau m r.
Proof. intros H. apply Hob, ob_rf; auto. now apply m_not_own. Qed.
Lemma m_waits w : ~ waits hw (E T) tau m w.
Proof.
  intros H. destruct (waits_last hw (E T) tau WE m) as (u & K); [eauto|].
  assert (rf T u m) as R.
  { apply T_rf. split; [apply Em|]. split; [|auto]. destruct H as (_ & O & _). now apply own_facts in O. }
  apply (tau_asym _ _ (pv_source u R)). apply K.
Qed.

Lemma wfE' : wfE E'.
Proof. apply wf_without; [apply WE|apply M]. Qed.
Lemma S' : sto E' tau.
Proof. destruct S as (A & B & C). repeat split; auto. intros a b (Ea & _) (Eb & _); auto. Qed.
Lemma I0' : initfirst E' tau.
Proof. intros i x (Ei & _) (Ex & _); auto. Qed.
Lemma WT' : wft T'.
Proof. apply trace_by_wft; auto using wfE', S', I0'. Qed.

Lemma waits_E' r w : E T r -> (waits hw E' tau r w <-> waits hw (E T) tau r w).
Proof.
  intros Er. split.
  - intros ((Ew & _) & H). split; auto.
  - intros (Ew & H). split; auto. split; auto. intros ->. apply (m_last r Er). apply H.
Qed.
Lemma forwards_E' w r : E T r -> (forwards hw E' tau w r <-> forwards hw (E T) tau w r).
Proof.
  intros Er. unfold forwards. rewrite waits_E' by auto.
  split; intros (H & K); (split; [auto|intros w' H'; apply K; now apply waits_E']).
Qed.

(* rf of T' against rf of T *)
Lemma rf_T_T' w r : rf T w r -> w <> m -> r <> m -> rf T' w r.
Proof.
  intros H Nw Nr. apply T_rf in H. destruct H as (Er & Rr & H). apply trace_by_rf. split; [split; auto|split; [auto|]].
  destruct H as [H|(N & Ew & _ & Ww & _ & L & Lt & K)].
  - left. now apply forwards_E'.
  - right. split; [intros w' X; apply (N w'); now apply waits_E'|].
    repeat split; auto. intros w' (Ew' & _); auto.
Qed.
Lemma rf_T'_T w r : rf T' w r -> rf T w r \/ (rf T m r /\ tau w m).
Proof.
  intros H0. apply trace_by_rf in H0. destruct H0 as ((Er & Nr) & Rr & [H|(N & (Ew & Nw) & _ & Ww & _ & L & H & K)]).
  { left. apply T_rf. split; [auto|split; [auto|left]]. now apply forwards_E'. }
  assert (forall w', ~ waits hw (E T) tau r w') as N' by (intros w' X; apply (N w'); now apply waits_E').
  assert (forall u, rf_in (E T) tau u r -> rf T u r) as Q.
  { intros u X. apply T_rf. split; [auto|split; [auto|right; auto]]. }
  destruct (classic (wr m /\ loc m = loc r /\ tau m r)) as [(Wm & Lm & Hm)|Z].
  - destruct S as (_ & _ & Hc). destruct (Hc w m Ew Em) as [|[Hwm|Hmw]]; [congruence| |].
    + right; split; auto. apply Q. repeat split; auto using Em.
      intros w' Ew' Ww' Lw' L'. destruct (classic (w' = m)) as [|Nw']; [auto|right].
      destruct (K w') as [->|]; auto; [split; auto|eauto using tau_trans].
    + left. apply Q. repeat split; auto. intros w' Ew' Ww' Lw' L'.
      destruct (classic (w' = m)) as [->|Nw']; [auto|]. apply K; auto. split; auto.
  - left. apply Q. repeat split; auto. intros w' Ew' Ww' Lw' L'.
    destruct (classic (w' = m)) as [->|Nw']; [destruct Z; auto|]. apply K; auto. split; auto.
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
      exists u'; split; [exact H'|]. destruct (t_rf _ WT' _ _ H') as (Eu' & _ & Wu' & _ & Lu').
      destruct (rf_T'_T _ _ H') as [X|(_ & X)].
      * rewrite (t_rf_fun _ WT _ _ _ X H) in Eu'. destruct Eu'; congruence.
      * repeat split; auto; try congruence; try apply Eu'. eapply tau_trans; eauto.
    + exists u; split; [now apply rf_T_T'|]. repeat split; auto.
  - apply sc_mo. apply T_mo in H. destruct H as (?&?&?&?&?&?). repeat split; auto.
Qed.

(* Lemma 2 (2) *)
Lemma oppo_T' a b : E' a -> E' b -> oppo hw a b -> tau a b.
Proof. intros (Ea & _) (Eb & _) H. apply Hob, ob_oppo. repeat split; auto; apply H. Qed.

Lemma ib1_T' a b : ib1 hw T' a b -> ib1 hw T a b \/ (rf T m b /\ tau a b /\ rd b).
Proof.
  intros [((Ea&_)&(Eb&_)&H)|((Ea&_)&(Eb&_)&H)|H|H O|(F & H)].
  - left; apply ib_ippo; repeat split; auto; apply H.
  - left; apply ib_pf; repeat split; auto.
  - destruct (rf_T'_T _ _ H) as [X|(X & L)]; [left; now apply ib_rf|right].
    repeat split; auto; [|apply (t_rf _ WT _ _ X)]. eapply tau_trans; [exact L|now apply rf_m].
  - left. pose proof (rbb_po hw E' tau wfE' S' oppo_T' a b H O) as Q. destruct H as (_ & u & H & K).
    destruct (t_rf _ WT' _ _ H) as (_ & (Ea & _) & _). destruct (t_mo _ WT' _ _ K) as (_ & (Eb & _) & _).
    apply ib_ippo. split; [auto|split; [auto|]]. apply own_facts in O. apply cpu_ippo; tauto.
  - left; destruct H as ((?&_)&(?&_)&?&?). apply ib_nfo. split; [auto|]. apply T_nfo; auto. repeat split; auto; apply H1.
Qed.

Lemma ib_T'_inst a b : inst hw a -> ib hw T' a b -> tau a b.
Proof.
  intros Ia H.
  assert (exists i, inst hw i /\ ((i = a /\ ib hw T i b) \/ (tau a i /\ (i = b \/ ib hw T i b)))) as (i & Ii & K).
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
  intros [(Ea&Eb&H)|((Ea&_)&(Eb&_)&H) K|x ((Ea&_)&(Ex&_)&H) (_&(Eb&_)&K) Sa|H O|(_ & H)|H|H|I H].
  - now apply oppo_T'.
  - apply Hob, ob_pf; auto; repeat split; auto.
  - apply Hob, ob_post with x; auto; repeat split; auto; apply H.
  - exact (rf_not_own hw E' tau a b H O).
  - apply H.
  - exact (rb_fwd hw E' tau S' a b H).
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
