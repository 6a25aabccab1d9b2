(* Lemma 2 with store buffers. *)
Require Import List Arith Lia Classical Relations Setoid.
From RR Require Import Model Hardware Orders Rules Traces StoreModel StoreRules StoreTraces.

(* As [pivot], and what m reads is before m in tau: a pivot never forwards (rule T3).  That there is such a tau is shown in
   StoreForm.v. *)
Class pivot_tso {U : events} (hw : hardware) (P : program) (T : trace) (m : ev) (tau : relation ev) : Prop := {
  pt_violating : violating_tso hw P T;
  pt_maximal : maximal_tso hw T m;
  pt_total : sto (E T) tau;
  pt_init : initfirst (E T) tau;
  pt_ob : forall a b, ob1_tso hw T a b -> tau a b;
  pt_source : forall w, rf T w m -> tau w m;
}.

(* The trace of tau without m. *)
Definition Tt' {U : events} (T : trace) (m : ev) (tau : relation ev) := tr_tso (without (E T) m) tau.

Section Lemma2.
Context {U : events} {hw : hardware} {OK : tso_ok hw} {P : program} {T : trace} {m : ev} {tau : relation ev}.
Context {Piv : pivot_tso hw P T m tau}.
Notation E' := (without (E T) m).
Notation T' := (Tt' T m tau).

Let V : violating_tso hw P T := pt_violating.
Let M : maximal_tso hw T m := pt_maximal.
Let S : sto (E T) tau := pt_total.
Let I0 : initfirst (E T) tau := pt_init.
Let Hob : forall a b, ob1_tso hw T a b -> tau a b := pt_ob.

Lemma tWT : wft T. Proof. apply V. Qed.
Lemma tC : tso_consistent hw T. Proof. apply V. Qed.
Lemma tWE : wfE (E T). Proof. apply t_E, tWT. Qed.
Lemma tEm : E T m. Proof. apply M. Qed.
Lemma tNm : noninit m. Proof. apply M. Qed.
Lemma tm_last b : E T b -> ~ po m b. Proof. apply M. Qed.
Lemma tt_irr a : ~ tau a a. Proof. apply S. Qed.
Lemma tt_trans a b c : tau a b -> tau b c -> tau a c. Proof. apply S. Qed.
Lemma tt_asym a b : tau a b -> ~ tau b a. Proof. apply (sto_asym _ _ _ _ S). Qed.
Lemma tt_rb a b : rb T a b -> tau a b. Proof. intros; apply Hob; now apply obt_rb. Qed.
Lemma tt_mo a b : mo T a b -> tau a b. Proof. intros; apply Hob; now apply obt_mo. Qed.
Lemma tT_rf w r : rf T w r <-> rf_tso (E T) tau w r.
Proof. exact (same_rf_tso hw T tau tWT tC S Hob w r). Qed.
Lemma tT_mo a b : mo T a b <-> mo_in (E T) tau a b.
Proof. exact (same_mo_tso hw T tau tWT S Hob a b). Qed.
Lemma tT_nfo a b : flush hw = true -> (nfo T a b <-> nfo_in (E T) tau a b).
Proof. exact (same_nfo_tso hw T tau tWT S Hob a b). Qed.

(* nothing reads m from the store buffer, and m does not read from it *)
Lemma m_not_own r : rf T m r -> ~ own m r.
Proof.
  intros H O. apply (tm_last r); [apply (t_rf _ tWT _ _ H)|]. exact (own_rf_po hw T m r tWT tC H O).
Qed.
Lemma rf_m r : rf T m r -> tau m r.
Proof. intros H. apply Hob, obt_rf; auto. now apply m_not_own. Qed.
Lemma m_waits w : ~ waits (E T) tau m w.
Proof.
  intros H. destruct (waits_last (E T) tau tWE m) as (u & K); [eauto|].
  assert (rf T u m) as R.
  { apply tT_rf. split; [apply tEm|]. split; [|auto]. destruct H as (_ & O & _). now apply own_facts in O. }
  apply (tt_asym _ _ (pt_source u R)). apply K.
Qed.

Lemma twfE' : wfE E'.
Proof.
  pose proof tWE as W. constructor; unfold without in *.
  - destruct (wf_fin _ W) as (l & Hl). exists l; intros e (He & _); auto.
  - intros a b H (Eb & Nb); split; [eapply wf_down; eauto|]. intros ->. eapply tm_last; eauto.
  - intros a b (?&_) (?&_); apply W; auto.
  - intros p (?&_); apply W; auto.
  - intros w p w' (?&_); apply W; auto.
  - intros e x (?&_); apply W; auto.
  - intros e (Ee & _) Re. destruct (wf_init _ W e Ee Re) as (i & Ei & K & L). exists i; repeat split; auto.
    intros ->. now apply tNm.
  - intros i j (?&_) (?&_); apply W; auto.
Qed.
Lemma tS' : sto E' tau.
Proof. destruct S as (A & B & C). repeat split; auto. intros a b (Ea & _) (Eb & _); auto. Qed.
Lemma tI0' : initfirst E' tau.
Proof. intros i x (Ei & _) (Ex & _); auto. Qed.
Lemma tWT' : wft T'.
Proof. apply tr_tso_wft; auto using twfE', tS', tI0'. Qed.

Lemma waits_E' r w : E T r -> (waits E' tau r w <-> waits (E T) tau r w).
Proof.
  intros Er. split.
  - intros ((Ew & _) & H). split; auto.
  - intros (Ew & H). split; auto. split; auto. intros ->. apply (tm_last r Er). apply H.
Qed.
Lemma forwards_E' w r : E T r -> (forwards E' tau w r <-> forwards (E T) tau w r).
Proof.
  intros Er. unfold forwards. rewrite waits_E' by auto.
  split; intros (H & K); (split; [auto|intros w' H'; apply K; now apply waits_E']).
Qed.

(* rf of T' against rf of T *)
Lemma trf_T_T' w r : rf T w r -> w <> m -> r <> m -> rf T' w r.
Proof.
  intros H Nw Nr. apply tT_rf in H. destruct H as (Er & Rr & H). split; [split; auto|split; [auto|]].
  destruct H as [H|(N & Ew & _ & Ww & _ & L & Lt & K)].
  - left. now apply forwards_E'.
  - right. split; [intros w' X; apply (N w'); now apply waits_E'|].
    repeat split; auto. intros w' (Ew' & _); auto.
Qed.
Lemma trf_T'_T w r : rf T' w r -> rf T w r \/ (rf T m r /\ tau w m).
Proof.
  intros ((Er & Nr) & Rr & [H|(N & (Ew & Nw) & _ & Ww & _ & L & H & K)]).
  { left. apply tT_rf. split; [auto|split; [auto|left]]. now apply forwards_E'. }
  assert (forall w', ~ waits (E T) tau r w') as N' by (intros w' X; apply (N w'); now apply waits_E').
  assert (forall u, rf_in (E T) tau u r -> rf T u r) as Q.
  { intros u X. apply tT_rf. split; [auto|split; [auto|right; auto]]. }
  destruct (classic (wr m /\ loc m = loc r /\ tau m r)) as [(Wm & Lm & Hm)|Z].
  - destruct S as (_ & _ & Hc). destruct (Hc w m Ew tEm) as [|[Hwm|Hmw]]; [congruence| |].
    + right; split; auto. apply Q. repeat split; auto using tEm.
      intros w' Ew' Ww' Lw' L'. destruct (classic (w' = m)) as [|Nw']; [auto|right].
      destruct (K w') as [->|]; auto; [split; auto|eauto using tt_trans].
    + left. apply Q. repeat split; auto. intros w' Ew' Ww' Lw' L'.
      destruct (classic (w' = m)) as [->|Nw']; [auto|]. apply K; auto. split; auto.
  - left. apply Q. repeat split; auto. intros w' Ew' Ww' Lw' L'.
    destruct (classic (w' = m)) as [->|Nw']; [destruct Z; auto|]. apply K; auto. split; auto.
Qed.

Theorem lemma_2_3_tso a b : sc1 T a b -> a <> m -> b <> m -> sc1 T' a b.
Proof.
  intros H Na Nb. destruct H as [(Ea & Eb & H)|H|(N & u & H & K)|H].
  - apply sc_po. repeat split; auto.
  - apply sc_rf. now apply trf_T_T'.
  - apply sc_rb. destruct (t_rf _ tWT _ _ H) as (Eu & Ea & Wu & Ra & L).
    apply tT_mo in K. destruct K as (_ & Eb & _ & Wb & Lb & K).
    split; [auto|]. destruct (classic (u = m)) as [->|Nu].
    + destruct (t_rf_ex _ tWT' a) as (u' & H'); [split; auto|auto|].
      exists u'; split; [exact H'|]. destruct (t_rf _ tWT' _ _ H') as (Eu' & _ & Wu' & _ & Lu').
      destruct (trf_T'_T _ _ H') as [X|(_ & X)].
      * rewrite (t_rf_fun _ tWT _ _ _ X H) in Eu'. destruct Eu'; congruence.
      * repeat split; auto; try congruence; try apply Eu'. eapply tt_trans; eauto.
    + exists u; split; [now apply trf_T_T'|]. repeat split; auto.
  - apply sc_mo. apply tT_mo in H. destruct H as (?&?&?&?&?&?). repeat split; auto.
Qed.

Lemma oppo_T' a b : E' a -> E' b -> oppo_tso hw a b -> tau a b.
Proof. intros (Ea & _) (Eb & _) H. apply Hob, obt_oppo. repeat split; auto; apply H. Qed.

Lemma ib1_T't a b : ib1_tso hw T' a b -> ib1_tso hw T a b \/ (rf T m b /\ tau a b /\ rd b).
Proof.
  intros [((Ea&_)&(Eb&_)&H)|((Ea&_)&(Eb&_)&H)|H|H O|(F & H)].
  - left; apply ibt_ippo; repeat split; auto; apply H.
  - left; apply ibt_pf; repeat split; auto.
  - destruct (trf_T'_T _ _ H) as [X|(X & L)]; [left; now apply ibt_rf|right].
    repeat split; auto; [|apply (t_rf _ tWT _ _ X)]. eapply tt_trans; [exact L|now apply rf_m].
  - left. pose proof (rbb_po hw E' tau twfE' tS' oppo_T' a b H O) as Q. destruct H as (_ & u & H & K).
    destruct (t_rf _ tWT' _ _ H) as (_ & (Ea & _) & _). destruct (t_mo _ tWT' _ _ K) as (_ & (Eb & _) & _).
    apply ibt_ippo. split; [auto|split; [auto|]]. apply own_facts in O. apply oppo_ippo, (cpu_oppo hw); tauto.
  - left; destruct H as ((?&_)&(?&_)&?&?). apply ibt_nfo. split; [auto|]. apply tT_nfo; auto. repeat split; auto; apply H1.
Qed.

Lemma ib_T't_inst a b : inst_tso a -> ib_tso hw T' a b -> tau a b.
Proof.
  intros Ia H.
  assert (exists i, inst_tso i /\ ((i = a /\ ib_tso hw T i b) \/ (tau a i /\ (i = b \/ ib_tso hw T i b)))) as (i & Ii & K).
  { apply clos_trans_tn1 in H. induction H as [b H|b c H _ IH].
    - destruct (ib1_T't _ _ H) as [X|(X & L & R)].
      + exists a; split; [auto|left; split; [auto|now apply t_step]].
      + exists b; split; [now apply rd_inst_tso|right; auto].
    - destruct IH as (i & Ii & K). destruct (ib1_T't _ _ H) as [X|(X & L & R)].
      + exists i; split; [auto|]. destruct K as [(-> & K)|(K & [->|K'])].
        * left; split; [auto|]. eapply t_trans; [exact K|now apply t_step].
        * right; split; [auto|right; now apply t_step].
        * right; split; [auto|right]. eapply t_trans; [exact K'|now apply t_step].
      + exists c; split; [now apply rd_inst_tso|right; split; [|auto]].
        destruct K as [(-> & K)|(K & [->|K'])].
        * eapply tt_trans; [|exact L]. apply Hob, obt_ib; auto.
        * eapply tt_trans; eauto.
        * eapply tt_trans; [exact K|]. eapply tt_trans; [|exact L]. apply Hob, obt_ib; auto. }
  destruct K as [(-> & K)|(K & [->|K'])]; auto.
  - apply Hob, obt_ib; auto.
  - eapply tt_trans; [exact K|]. apply Hob, obt_ib; auto.
Qed.
Lemma ob1_T't a b : ob1_tso hw T' a b -> tau a b.
Proof.
  intros [(Ea&Eb&H)|((Ea&_)&(Eb&_)&H) K|x ((Ea&_)&(Ex&_)&H) (_&(Eb&_)&K) Sa|H O|(_ & H)|H|H|I H].
  - now apply oppo_T'.
  - apply Hob, obt_pf; auto; repeat split; auto.
  - apply Hob, obt_post with x; auto; repeat split; auto; apply H.
  - exact (rf_not_own E' tau a b H O).
  - apply H.
  - exact (rb_tso_fwd E' tau tS' a b H).
  - apply H.
  - now apply ib_T't_inst.
Qed.
Theorem lemma_2_2_tso : tso_consistent hw T'.
Proof.
  intros a H. apply (tt_irr a). eapply (forward_trans (ob1_tso hw T') tau); eauto using tt_trans, ob1_T't.
Qed.

Lemma val_keep_tso w v : val (rf T) w v -> E T w -> ~ ib_tso hw T m w -> w <> m -> val (rf T') w v.
Proof.
  intros H; induction H as [w Ww Nw|w r v Rr Cr H _ IH|r w v C H IH]; intros Ew N Nm'.
  - now apply val_own.
  - assert (w <> m) as Nw by (intros ->; apply N, t_step; now apply ibt_rf).
    apply val_nicr with w; [auto|auto| |].
    + now apply trf_T_T'.
    + apply IH; auto; [apply (t_rf _ tWT _ _ H)|].
      intros K; apply N. eapply t_trans; [exact K|]. apply t_step; now apply ibt_rf.
  - pose proof (carry_ok _ _ C) as (Pc & _).
    assert (E T r) as Er by (eapply wf_down; eauto using tWE).
    apply val_nicw with r; [auto|]. apply IH; auto.
    + intros K; apply N. eapply t_trans; [exact K|]. apply t_step, ibt_ippo.
      split; [auto|split; [auto|]]. now apply oppo_ippo, (carry_oppo hw).
    + intros ->. apply (tm_last w Ew); auto.
Qed.

Theorem lemma_2_1_tso : trace_of P T'.
Proof.
  split; [|split].
  - apply (runs_prefix P (E T) m); [apply V|apply M].
  - apply tWT'.
  - intros r (Er & Nr) Cr Rr.
    destruct V as ((_ & _ & Val) & _). destruct (Val r Er Cr Rr) as (w & H & K).
    assert (w <> m) as Nw.
    { intros ->. apply (proj2 M r Cr). apply t_step; now apply ibt_rf. }
    exists w; split; [now apply trf_T_T'|]. apply val_keep_tso; auto.
    + apply (t_rf _ tWT _ _ H).
    + intros X. apply (proj2 M r Cr). eapply t_trans; [exact X|]. apply t_step; now apply ibt_rf.
Qed.
End Lemma2.
