(* The search along an order L of the events F of the program: memory, and what is carried, are those of trace(L). *)
Require Import List Arith Bool Lia Classical Relations.
Import ListNotations.
From RR Require Import Model Hardware Orders Cells Stores Rules Traces Search Marks.

(* The two events of an operation stand together, and a completion is taken by one poll. *)
Record wfx {U : events} {K : searchable} (E : ev -> Prop) : Prop := {
  x_get : forall r x, E x -> knd r = NLR \/ knd r = NRR -> po r x -> exists w, carry r w /\ (w = x \/ po w x);
  x_pf : forall w p p', sgn w = true -> E p -> E p' -> pf w p -> pf w p' -> p = p';
  x_sgn : forall w p, E p -> pf w p -> exists w', sgn w' = true /\ pf w' p /\ (w' = w \/ po w w');
}.

Section Values.
Context {U : events} {K : searchable}.
Lemma carry_fun E r r' w : wfE E -> E w -> carry r w -> carry r' w -> r = r'.
Proof.
  intros W Ew C C'. destruct (carry_ok _ _ C) as (P & Q & H). destruct (carry_ok _ _ C') as (P' & Q' & H').
  destruct (wf_total _ W r r') as [|[X|X]]; auto; try (eapply wf_down; eauto; fail).
  - eapply po_init_l; eauto.
  - eapply po_init_l; eauto.
  - now rewrite (po_thr _ _ P), (po_thr _ _ P').
  - destruct (carry_next r w r'); auto.
  - destruct (carry_next r' w r); auto.
Qed.
Lemma carry_nicw r w : carry r w -> nicw w /\ ~ rd w.
Proof. intros C. destruct (carry_ok _ _ C) as (_ & _ & [(_ & Q)|(_ & Q)]); unfold nicw, rd; rewrite Q; simpl; tauto. Qed.
Lemma val_fun (E : ev -> Prop) (rf : relation ev) w v : wfE E -> (forall w r, rf w r -> E w) ->
  (forall w w' r, rf w r -> rf w' r -> w = w') -> val rf w v -> E w -> forall v', val rf w v' -> v = v'.
Proof.
  intros W HE HF H; induction H as [w Ww Nw|w r v Rr Cr H _ IH|r w v C H IH]; intros Ew v' H';
  inversion H' as [w0 Ww' Nw' Q Q'|w0 r0 v0 Rr' Cr' R' V' Q Q'|r0 w0 v0 C' V' Q Q']; subst; auto.
  - destruct Cr'. unfold wr, rd, cpu in *. destruct (knd w); simpl in *; tauto.
  - destruct (Nw _ C').
  - destruct Cr. unfold wr, rd, cpu in *. destruct (knd r); simpl in *; tauto.
  - rewrite (HF _ _ _ R' H) in V'. eauto.
  - apply carry_nicw in C'. tauto.
  - destruct (Nw' _ C).
  - apply carry_nicw in C. tauto.
  - rewrite (carry_fun E _ _ w W Ew C' C) in V'. apply IH; auto. eapply wf_down; [exact W|apply (carry_ok _ _ C)|auto].
Qed.
End Values.

Section Along.
Context {U : events} {K : searchable} (hw : hardware) {OK : hardware_ok hw} {SO : search_ok hw}.
Variables (F : ev -> Prop) (L : relation ev) (ini : ev -> Prop) (mem0 : nat -> value).
Hypotheses (W : wfE F) (SL : sto F L) (IL : initfirst F L) (X : wfx F).
Hypothesis PL : forall a b, F a -> F b -> po a b -> L a b.
Hypothesis Hini : forall i, ini i <-> F i /\ knd i = Init.
Hypothesis Hmem : forall i, ini i -> mem0 (loc i) = cwv i.

Lemma l_asym a b : L a b -> ~ L b a. Proof. apply (sto_asym _ _ _ _ SL). Qed.
Lemma l_irr a : ~ L a a. Proof. apply SL. Qed.
Lemma l_trans a b c : L a b -> L b c -> L a c. Proof. apply SL. Qed.
Lemma l_tot a b : F a -> F b -> a = b \/ L a b \/ L b a. Proof. apply SL. Qed.

(* l: the events before e that are not initial *)
Definition pre (l : list ev) e := F e /\ noninit e /\ forall y, In y l <-> F y /\ noninit y /\ L y e.
Definition along h := forall mv h2, at_ h mv h2 -> pre (evs h2) (me mv).
Definition upto (l : list ev) y := F y /\ (knd y = Init \/ In y l).

Lemma along_cons mv h : along (mv :: h) <-> along h /\ pre (evs h) (me mv).
Proof.
  unfold along; split.
  - intros H; split; [intros; apply H, at_cons; auto|apply H, at_cons; auto].
  - intros (H & P) mv' h2 Q. apply at_cons in Q. destruct Q as [(<- & <-)|Q]; auto.
Qed.
Lemma along_in h y : along h -> In y (evs h) -> F y /\ noninit y.
Proof.
  intros A H. apply in_map_iff in H. destruct H as (mv & <- & H). destruct (in_at _ _ H) as (h2 & Q).
  destruct (A _ _ Q) as (? & ? & _); auto.
Qed.
Lemma upto_before l e w : pre l e -> F w -> (upto l w <-> L w e).
Proof.
  intros (Fe & Ne & P) Fw. unfold upto. rewrite P. destruct (classic (knd w = Init)) as [Kw|Kw].
  - split; [intros _; apply IL; auto|auto].
  - unfold noninit. tauto.
Qed.
Lemma pre_not l e : pre l e -> ~ In e l.
Proof. intros (_ & _ & P) H. apply P in H. destruct H as (_ & _ & H). eapply l_irr; eauto. Qed.
Lemma pre_po l e y : pre l e -> In y l -> thr y = thr e -> po y e.
Proof.
  intros (Fe & Ne & P) H T. apply P in H. destruct H as (Fy & Ny & Lye).
  destruct (wf_total _ W y e) as [->|[|Q]]; auto; [destruct (l_irr _ Lye)|].
  exfalso. apply (l_asym _ _ Lye). auto.
Qed.
Lemma pre_po_in l e y : pre l e -> po y e -> In y l.
Proof.
  intros (Fe & Ne & P) Q. apply P. assert (F y) by (eapply wf_down; eauto).
  repeat split; auto. eapply po_init_l; eauto.
Qed.
Lemma pre_not_po l e y : pre l e -> In y l -> ~ po e y.
Proof.
  intros (Fe & Ne & P) H Q. apply P in H. destruct H as (Fy & Ny & Lye). apply (l_asym _ _ Lye). auto.
Qed.

(* the last write of a cell so far *)
Definition lastw l w := upto l w /\ wr w /\ forall w', upto l w' -> wr w' -> loc w' = loc w -> w' = w \/ L w' w.
Lemma lastw_rf l e w : pre l e -> rd e -> (rf_in F L w e <-> lastw l w /\ loc w = loc e).
Proof.
  intros P Re. pose proof P as (Fe & Ne & _). split.
  - intros (Fw & _ & Ww & _ & Q & Lw & H). split; [|auto]. split; [now apply (upto_before l e)|]. split; [auto|].
    intros w' Uw' Ww' Q'. pose proof Uw' as (Fw' & _). apply (upto_before l e) in Uw'; auto. apply H; auto. congruence.
  - intros ((Uw & Ww & H) & Q). pose proof Uw as (Fw & _). apply (upto_before l e) in Uw; auto.
    repeat split; auto. intros w' Fw' Ww' Q' Lw'. apply H; auto; [|congruence]. now apply (upto_before l e).
Qed.
Lemma lastw_cons l e w : pre l e -> (lastw (e :: l) w <-> (w = e /\ wr e) \/ (lastw l w /\ ~ (wr e /\ loc e = loc w))).
Proof.
  intros P. pose proof P as (Fe & Ne & _). split.
  - intros ((Fw & Uw) & Ww & H). destruct (classic (w = e)) as [->|N]; [left; auto|right].
    assert (upto l w) as Ul by (destruct Uw as [|[|]]; [split; auto|congruence|split; auto]).
    split.
    + split; [auto|]. split; [auto|]. intros w' (Fw' & Uw') Ww' Q. apply H; auto. split; auto. destruct Uw'; auto.
      right; right; auto.
    + intros (We & Q). apply (upto_before l e) in Ul; auto. destruct (H e) as [|Z]; auto; [split; auto; right; left;
        auto|].
      exact (l_asym _ _ Z Ul).
  - intros [(-> & We)|((Uw & Ww & H) & N)].
    + split; [split; auto; right; left; auto|]. split; [auto|]. intros w' (Fw' & Uw') Ww' Q.
      destruct (classic (w' = e)) as [|N]; [auto|right]. apply (upto_before l e); auto. split; auto.
      destruct Uw' as [|[|]]; auto. congruence.
    + split; [split; [apply Uw|destruct Uw as (_ & [|]); auto; right; right; auto]|]. split; [auto|].
      intros w' (Fw' & Uw') Ww' Q. destruct (classic (w' = e)) as [->|N']; [destruct N; auto|].
      apply H; auto. split; auto. destruct Uw' as [|[|]]; auto. congruence.
Qed.

Notation vl := (val (rf_in F L)).
Record scinv (t : threads) : Prop := {
  s_mem : forall w, lastw (evs (hist t)) w -> vl w (mem t (loc w));
  s_car : forall r, In r (evs (hist t)) -> rd r -> ~ cpu r -> (forall y, In y (evs (hist t)) -> ~ po r y) ->
    vl r (car t (thr r));
}.
Lemma scinv_start : scinv (Thr [] mem0 (fun _ => no_value)).
Proof.
  constructor; simpl; [|tauto]. intros w ((Fw & [Kw|[]]) & Ww & _).
  rewrite Hmem by (now apply Hini). apply val_own; auto. intros r C. apply carry_nicw in C. unfold nicw in C.
  rewrite Kw in C.
  simpl in C. tauto.
Qed.

Lemma source l e : pre l e -> rd e -> exists w, rf_in F L w e /\ lastw l w /\ loc w = loc e.
Proof.
  intros P Re. pose proof P as (Fe & _). destruct (t_rf_ex _ (tr_wft F L W SL IL) e Fe Re) as (w & H). exists w.
  split; [exact H|]. now apply lastw_rf.
Qed.
Lemma sc_read t e w : scinv t -> pre (evs (hist t)) e -> rf_in F L w e -> vl w (mem t (loc e)).
Proof.
  intros I P H. assert (rd e) by apply H. apply (lastw_rf _ e w P) in H; auto. destruct H as (H & <-). now apply s_mem.
Qed.
Lemma carried t e : scinv t -> pre (evs (hist t)) e -> brings e = true -> exists r, carry r e /\ In r (evs (hist t)) /\
  rd r /\ ~ cpu r /\ thr r = thr e /\ (forall y, In y (evs (hist t)) -> ~ po r y).
Proof.
  intros I P N. apply brings_iff in N. destruct N as (r & C). exists r. destruct (carry_ok _ _ C) as (Q & _ & Kr).
  split; [auto|]. split; [eapply pre_po_in; eauto|]. split; [|split; [|split]].
  - unfold rd; destruct Kr as [(-> & _)|(-> & _)]; simpl; auto.
  - unfold cpu; destruct Kr as [(-> & _)|(-> & _)]; simpl; auto.
  - now apply po_thr.
  - intros y Hy Q'. apply (carry_next r e y); auto. eapply pre_po; eauto. rewrite <- (po_thr _ _ Q'). now apply po_thr.
Qed.
Lemma scinv_step t e b tt : scinv t -> pre (evs (hist t)) e -> scinv (th_after t (Mv e b tt)).
Proof.
  intros I P. pose proof P as (Fe & Ne & _). constructor; simpl.
  - intros w H. apply (lastw_cons _ _ _ P) in H. destruct H as [(-> & We)|(H & N)].
    + rewrite (proj2 (wr_iff e) We), upd_same. unfold written. destruct (brings e) eqn:Ni.
      * destruct (carried t e I P Ni) as (r & C & Hr & Rr & Cr & <- & H).
        apply val_nicw with r; auto. now apply s_car.
      * apply val_own; auto. intros r C. assert (brings e = true) by (apply brings_iff; eauto). congruence.
    + destruct (wr_b e) eqn:We; [apply wr_iff in We|now apply s_mem].
      rewrite upd_other; [now apply s_mem|]. intros Q; apply N; auto.
  - intros r [<-|Hr] Rr Cr H.
    + rewrite (proj2 (rd_iff e) Rr). replace (cpu_b e) with false by (symmetry; now apply cpu_not). simpl.
      rewrite upd_same.
      destruct (source _ _ P Rr) as (w & R & _). apply val_nicr with w; auto. eapply sc_read; eauto.
    + assert (thr r <> thr e) as N.
      { intros Q. apply (H e); auto. eapply pre_po; eauto. }
      destruct (rd_b e && negb (cpu_b e)); [|destruct (brings e)]; rewrite ?upd_other; auto; apply s_car; auto.
Qed.
End Along.
