(* Theorem 8, second half: every state of the search is one of a run of the program. *)
Require Import List Arith Bool Lia Classical Relations.
Import ListNotations.
From RR Require Import Model Hardware Orders Cells Stores Rules Traces Search Marks Along Counted Counters.

(* What the search is told about the program is no more than the program can do: its steps lead from runs to runs. *)
Record answers {U : events} {K : searchable} (P : program) (ini : ev -> Prop) (mem0 : nat -> value)
    (ctl : (ev -> Prop) -> Prop) : Prop := {
  a_ext : forall E E', (forall e, E e <-> E' e) -> runs P E -> runs P E';
  a_start : runs P ini;
  a_step : forall D e, runs P D -> ctl (fun x => D x \/ x = e) -> knd e <> Poll -> runs P (fun x => D x \/ x = e);
  a_poll : forall D e w, runs P D -> ctl (fun x => D x \/ x = e) -> knd e = Poll -> D w -> sgn w = true -> qp w = qp e ->
             (forall p, D p -> ~ pf w p) -> runs P (fun x => D x \/ x = e);
  a_wf : forall E, runs P E -> wfE E;
  a_wfx : forall E, runs P E -> wfx E;
  a_ini : forall i, ini i -> knd i = Init;
  a_mem : forall i, ini i -> mem0 (loc i) = cwv i;
}.

Section Answers.
Context {U : events} {K : searchable} (hw : hardware) (zero : bool) (P : program).
Variables (ini : ev -> Prop) (mem0 : nat -> value) (ctl : (ev -> Prop) -> Prop) (hope : class -> (ev -> Prop) -> Prop).
Hypothesis G : answers P ini mem0 ctl.
Notation reach := (reach hw zero ini mem0 ctl hope).
Notation step := (step hw zero ini ctl hope).
Notation enabled := (enabled ini ctl).

(* the event of a step, its part *)
Record stepped (s s' : state) (mv : move) : Prop := {
  st_hist : hist (th s') = mv :: hist (th s);
  st_enabled : enabled s (me mv);
  st_unp : forall q, unp (cn s') q = unp (counts_alpha (cn s) (sd s) (me mv)) q;
  st_poll : knd (me mv) = Poll -> unp (cn s) (qp (me mv)) > 0;
  st_cls : forall c, cls s = Some c -> cls s' = Some c;
}.
Lemma unp_same c s e q : unp (counts_beta c s e) q = unp (counts_alpha c s e) q.
Proof. unfold counts_beta, counts_alpha, completion. destruct (is Poll e), (sgn e); reflexivity. Qed.
Lemma step_stepped s s' : step s s' -> exists mv, stepped s s' mv.
Proof.
  intros H; inversion H; subst.
  - exists (Mv e false (reached s e)). constructor; simpl; auto. intros Kp. now apply H2.
  - exists (Mv e true (reached s e || meets c e)). constructor; simpl; auto; [intros; apply unp_same| |congruence].
    intros Kp. unfold can_start, meets in H3. apply andb_true_iff in H3. destruct H3 as (H3 & _).
    assert (rd_b e = false /\ wr_b e = false) as (Z1 & Z2) by (unfold rd_b, wr_b; now rewrite Kp).
    rewrite Z1, Z2 in H3. discriminate.
  - exists (Mv e false (reached s e)). constructor; simpl; auto. intros Kp. now apply H4.
  - exists (Mv e true (reached s e || meets c e)). constructor; simpl; auto; [intros; apply unp_same|].
    intros Kp. now apply H4.
Qed.

Record running (s : state) : Prop := {
  r_runs : runs P (done ini s);
  r_nodup : NoDup (evs (hist (th s)));
  r_noninit : forall e, In e (evs (hist (th s))) -> noninit e;
  r_unp : forall q, counted (unp (cn s) q) (unpolled (evs (hist (th s))) q);
}.
Lemma running_start : running (start_state mem0).
Proof.
  constructor; simpl.
  - apply (a_ext P ini mem0 ctl G ini); [|apply (a_start P ini mem0 ctl G)]. intros e. unfold done; simpl. tauto.
  - constructor.
  - intros e [].
  - intros q. apply counted_none. intros w ([] & _).
Qed.
Lemma running_step s s' mv : running s -> stepped s s' mv -> running s'.
Proof.
  intros R H. pose proof (st_enabled _ _ _ H) as (Ne & Nd & Ct & _). pose proof (st_hist _ _ _ H) as Hh.
  set (e := me mv) in *. set (l := evs (hist (th s))) in *.
  assert (evs (hist (th s')) = e :: l) as Hl by (rewrite Hh; reflexivity).
  assert (~ In e l) as Nl by (intros Z; apply Nd; now right).
  assert (runs P (with_ ini s e)) as Rn.
  { destruct (kind_dec (knd e) Poll) as [Kp|Kp]; [|now apply (a_step P ini mem0 ctl G); [apply R|exact Ct|exact Kp]].
    destruct (counted_pos _ _ (r_unp s R (qp e)) (st_poll _ _ _ H Kp)) as (w & Hw & Sw & Qw & Hp).
    apply (a_poll P ini mem0 ctl G (done ini s) e w); auto; [apply R|now right|].
    intros p [Hp'|Hp'] Z; [|eapply Hp; eauto]. destruct (pf_ok _ _ Z) as (Po & _). apply po_init_r in Po.
    apply Po. now apply (a_ini P ini mem0 ctl G). }
  assert (forall x, done ini s' x <-> with_ ini s e x) as Hd.
  { intros x. unfold done, with_. rewrite Hl. unfold done. simpl. intuition. }
  pose proof (a_wf P ini mem0 ctl G _ Rn) as W. pose proof (a_wfx P ini mem0 ctl G _ Rn) as X.
  assert (forall y, In y l -> ~ po e y) as Nb.
  { intros y Hy Z. apply Nd. pose proof (a_wf P ini mem0 ctl G _ (r_runs s R)) as W0.
    eapply (wf_down _ W0); eauto. now right. }
  constructor.
  - eapply (a_ext P ini mem0 ctl G); [|exact Rn]. intros x. now rewrite Hd.
  - rewrite Hl. constructor; auto. apply R.
  - rewrite Hl. intros x [<-|Hx]; auto. now apply (r_noninit s R).
  - intros q. rewrite Hl, (st_unp _ _ _ H q). fold e. pose proof (r_unp s R) as Un. fold l in Un.
    unfold counts_alpha. destruct (is Poll e) eqn:Ip; simpl.
    + apply is_iff in Ip. destruct (wf_poll _ W e) as (w0 & Z0); [now right|auto|].
      destruct (x_sgn _ X w0 e) as (w & Sw & Pw & _); [now right|auto|].
      pose proof (pf_ok _ _ Pw) as (Pwe & Nw & _ & Qw).
      assert (In w l) as Iw.
      { assert (with_ ini s e w) as [[Z|Z]|Z] by (eapply (wf_down _ W); eauto; now right); auto.
        - exfalso. apply (po_init_l _ _ Pwe). now apply (a_ini P ini mem0 ctl G).
        - exfalso. subst w. eapply po_irr; eauto. }
      assert (unpolled l (qp e) w) as Uw.
      { repeat split; auto. intros p Hp Z. assert (p = e); [|subst; auto].
        eapply (x_pf _ X w); eauto; [left; now right|now right]. }
      assert (forall q' a, unpolled (e :: l) q' a <-> unpolled l q' a /\ a <> w) as Up.
      { intros q' a. unfold unpolled. split.
        - intros ([<-|Ha] & Sa & Qa & Hp).
          + exfalso. apply sgn_nicw in Sa. rewrite Ip in Sa. contradiction.
          + split; [repeat split; auto; intros p Hp'; apply Hp; now right|]. intros ->. apply (Hp e); [now left|auto].
        - intros ((Ha & Sa & Qa & Hp) & N). repeat split; auto; [now right|]. intros p [<-|Hp'] Z; [|eapply Hp; eauto].
          apply N. eapply pf_one; eauto. }
      unfold updq. destruct (qp_dec q (qp e)) as [->|Nq].
      * apply (counted_remove _ (unpolled l (qp e)) _ w); auto.
      * eapply counted_ext; [apply Un|]. intros a. rewrite Up. split; [|tauto]. intros Z. split; auto.
        intros ->. destruct Z as (_ & _ & Z & _). congruence.
    + assert (knd e <> Poll) as Np by (intros Z; apply is_iff in Z; congruence).
      assert (forall q' a, unpolled (e :: l) q' a <-> (a = e /\ sgn e = true /\ qp e = q') \/ unpolled l q' a) as Up.
      { intros q' a. unfold unpolled. split.
        - intros ([<-|Ha] & Sa & Qa & Hp); [left; auto|right; repeat split; auto]. intros p Hp'. apply Hp; now right.
        - intros [(-> & Sa & Qa)|(Ha & Sa & Qa & Hp)].
          + repeat split; auto; [now left|]. intros p [<-|Hp] Z; destruct (pf_ok _ _ Z) as (Y & _ & Kp & _);
              [now apply Np|].
            eapply Nb; eauto.
          + repeat split; auto; [now right|]. intros p [<-|Hp'] Z; [|eapply Hp; eauto].
            destruct (pf_ok _ _ Z) as (_ & _ & Kp & _). now apply Np. }
      unfold completion. destruct (sgn e) eqn:Sg; simpl.
      * unfold updq. destruct (qp_dec q (qp e)) as [->|Nq].
        -- apply counted_add with (unpolled l (qp e)) e; auto; [intros (Z & _); auto|]. intros a. rewrite Up. tauto.
        -- eapply counted_ext; [apply Un|]. intros a. rewrite Up. intuition congruence.
      * eapply counted_ext; [apply Un|]. intros a. rewrite Up. intuition discriminate.
Qed.
Theorem reach_running s : reach s -> running s.
Proof.
  induction 1 as [|s s' _ R H]; [apply running_start|]. destruct (step_stepped s s' H) as (mv & St).
  eapply running_step; eauto.
Qed.

(* the way from one state to another *)
Inductive steps (s : state) : state -> Prop :=
| steps_none : steps s s
| steps_more t t' : step t t' -> steps s t -> steps s t'.
Lemma steps_front s s' t : step s s' -> steps s' t -> steps s t.
Proof. intros H K'. induction K'; eauto using steps_none, steps_more. Qed.
Lemma steps_hist s t : steps s t -> exists h1, hist (th t) = h1 ++ hist (th s).
Proof.
  induction 1 as [|t t' H _ (h1 & IH)]; [now exists []|]. destruct (step_stepped _ _ H) as (mv & St).
  exists (mv :: h1). rewrite (st_hist _ _ _ St), IH. reflexivity.
Qed.
Lemma steps_cls s t c : steps s t -> cls s = Some c -> cls t = Some c.
Proof.
  intros H Q. induction H as [|t t' H _ IH]; auto. destruct (step_stepped _ _ H) as (mv & St).
  now apply (st_cls _ _ _ St).
Qed.
(* every event was met in a state on the way *)
Lemma met t : reach t -> forall mv h2, at_ (hist (th t)) mv h2 ->
  exists s s', reach s /\ step s s' /\ steps s' t /\ hist (th s) = h2 /\ hist (th s') = mv :: h2.
Proof.
  induction 1 as [|s s' R IH H]; intros mv h2 At.
  - destruct At as ([|] & At); discriminate.
  - destruct (step_stepped _ _ H) as (mv' & St). rewrite (st_hist _ _ _ St) in At. apply at_cons in At.
    destruct At as [(<- & <-)|At].
    + exists s, s'. repeat split; auto; [apply steps_none|apply (st_hist _ _ _ St)].
    + destruct (IH _ _ At) as (u & u' & Ru & Hu & Su & Q & Q'). exists u, u'. repeat split; auto.
      eapply steps_more; eauto.
Qed.
End Answers.
