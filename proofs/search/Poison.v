(* Poison marks what depends on the pivot in trace(A, m, B), and the frozen value is what the pivot reads there. *)
Require Import List Arith Bool Lia Classical Relations.
Import ListNotations.
From RR Require Import Model Hardware Orders Cells Stores Rules Traces Parts Search Marks Along
  Counters.

Section Poison.
Context {U : events} {K : searchable} (hw : hardware) {OK : hardware_ok hw} {SO : search_ok hw}.
Variables (T : trace) (m : ev) (L : relation ev) (B : ev -> Prop).
Notation F := (without (E T) m).
Notation sg := (sigma m L B).
Notation Tsig := (trace_by hw (E T) (sigma m L B)).
Notation dp := (dep (trace_by hw (E T) (sigma m L B)) m).
Notation pre := (pre F L).
Notation along := (along F L).
Notation lastw := (lastw F L).
Context {Pa : parts hw (E T) m L B}.
Hypothesis X : wfx F.
Let W : wfE F := p_wf.
Let SL : sto F L := pa_total.
Let IL : initfirst F L := pa_init.
Let PL : forall a b, F a -> F b -> po a b -> L a b := pa_po.
Let Mlast : last (E T) m := pa_last.
Let BF : forall b, B b -> F b /\ noninit b := pa_B.

Let not_Bm : ~ B m. Proof. apply NBm. Qed.
Let sg_split a b : ~ B a -> B b -> sg a b. Proof. apply s_split. Qed.
Let sg_BB a b : B a -> B b -> (sg a b <-> L a b).
Proof. intros Ha Hb. apply s_same; [apply (BF a Ha)|apply (BF b Hb)|tauto]. Qed.
Let sg_mb b : b <> m -> (sg m b <-> B b). Proof. apply s_mb. Qed.
Let sg_am a : a <> m -> (sg a m <-> ~ B a). Proof. apply s_am. Qed.
Let Cii a b : F a -> F b -> ~ B a -> B b -> wr a -> conflict a b -> L a b. Proof. apply (ii_write (hw := hw)). Qed.
Lemma F_E a : F a -> E T a. Proof. intros (H & _); auto. Qed.
Let dep_B x : dp x -> B x. Proof. apply Parts.dep_B. Qed.
(* an event of B reads in trace(A, m, B) the last write before it *)
Let rf_B w r : B r -> (rf Tsig w r <-> rf_in (E T) sg w r).
Proof. intros Br. apply rf_no_wait. intros u. now apply B_waits. Qed.

Definition poisoned l x := (x = loc m /\ wr m /\ forall w, In w l -> B w -> wr w -> loc w <> x) \/
  exists w, lastw l w /\ loc w = x /\ B w /\ dp w.

Lemma reads_m l r : pre l r -> B r -> rd r -> (rf Tsig m r <-> loc r = loc m /\ wr m /\
  forall w, In w l -> B w -> wr w -> loc w <> loc r).
Proof.
  intros P Br Rr. pose proof P as (Fr & Nr & Pl). rewrite rf_B by auto. split.
  - intros (_ & _ & Wm & _ & Q & _ & H). repeat split; auto. intros w Hw Bw Ww Qw. apply Pl in Hw.
    destruct Hw as (Fw & _ & Lw).
    destruct (H w) as [->|Z]; auto; [apply Fw|now apply sg_BB|]. apply sg_am in Z; [auto|apply Fw].
  - intros (Q & Wm & H). split; [apply Mlast|]. split; [apply Fr|]. split; [auto|split; [auto|split; [auto|]]].
    split; [apply sg_mb; auto; apply Fr|].
    intros w Ew Ww Qw Sw. destruct (classic (w = m)) as [|N]; [auto|right]. apply sg_am; auto. intros Bw.
    apply (H w); auto. apply Pl. split; [split; auto|]. split; [now apply BF|]. now apply sg_BB.
Qed.
Lemma reads_B l r w : pre l r -> B r -> rd r -> B w -> (rf Tsig w r <-> lastw l w /\ loc w = loc r).
Proof.
  intros P Br Rr Bw. pose proof P as (Fr & Nr & Pl). rewrite rf_B by auto. split.
  - intros (Ew & _ & Ww & _ & Q & Sw & H). pose proof (proj1 (BF w Bw)) as Fw. apply sg_BB in Sw; auto.
    split; [|auto]. split; [now apply (upto_before F L IL l r)|]. split; [auto|].
    intros w' Uw' Ww' Q'. pose proof Uw' as (Fw' & _). apply (upto_before F L IL l r) in Uw'; auto.
    destruct (classic (w' = w)) as [|N]; [auto|right]. destruct (classic (B w')) as [Bw'|NB].
    + destruct (H w') as [|Z]; auto; [apply Fw'|congruence|now apply sg_BB|tauto|now apply sg_BB in Z].
    + apply Cii; auto. repeat split; auto.
  - intros ((Uw & Ww & H) & Q). pose proof Uw as (Fw & _). apply (upto_before F L IL l r) in Uw; auto.
    repeat split; auto; [apply Fw|apply Fr|now apply sg_BB|].
    intros w' Ew' Ww' Q' Sw'. destruct (classic (B w')) as [Bw'|NB]; [|right; now apply sg_split].
    apply sg_BB in Sw'; auto. destruct (H w') as [|Z]; auto; [|congruence|right; now apply sg_BB].
    apply (upto_before F L IL l r); auto. now apply BF.
Qed.
Lemma dep_read l r : pre l r -> B r -> rd r -> (dp r <-> poisoned l (loc r)).
Proof.
  intros P Br Rr. split.
  - intros D; inversion D as [r0 H|w r0 H Dw|r0 w Ew C Dw]; subst.
    + left. now apply (reads_m l r P Br Rr) in H.
    + right. exists w. pose proof (dep_B _ Dw) as Bw. apply (reads_B l r w P Br Rr Bw) in H. tauto.
    + apply carry_nicw in C. tauto.
  - intros [H|(w & H & Q & Bw & Dw)].
    + apply dep_m, (reads_m l); tauto.
    + apply dep_rf with w; auto. apply (reads_B l); auto.
Qed.
Lemma dep_brings e : dp e -> ~ rd e -> exists r, carry r e /\ dp r.
Proof.
  intros D N; inversion D as [r0 H|w r0 H Dw|r0 w Ew C Dw]; subst; eauto; destruct N;
  apply (t_rf _ (Ws (Pa := Pa)) _ _ H).
Qed.
(* the write that stands behind a NIC read *)
Lemma after_read l r e : pre l e -> In r l -> rd r -> ~ cpu r -> (forall y, In y l -> ~ po r y) -> thr r = thr e ->
  carry r e.
Proof.
  intros P Hr Rr Cr H Q. pose proof P as (Fe & _). assert (po r e) as Pre by (eapply pre_po; eauto).
  destruct (x_get _ X r e) as (w & C & [->|Pw]); auto.
  - unfold rd, cpu in *. destruct (knd r); simpl in *; tauto.
  - exfalso. apply (H w); [|apply (carry_ok _ _ C)]. eapply pre_po_in; eauto.
Qed.

Record poisoning_ (l : list ev) (p : poison) : Prop := {
  p_poi : forall x, poi p x = true <-> poisoned l x;
  p_poc : forall t, poc p t = true <-> exists r, In r l /\ thr r = t /\ rd r /\ ~ cpu r /\ dp r /\
    forall y, In y l -> ~ po r y;
}.

Lemma poisoned_cons_other l e x : pre l e -> (~ B e \/ ~ wr e) -> (poisoned (e :: l) x <-> poisoned l x).
Proof.
  intros P N. unfold poisoned. split.
  - intros [(Q & Wm & H)|(w & H & Q & Bw & Dw)].
    + left. repeat split; auto. intros w Hw. apply H. now right.
    + right. apply (lastw_cons F L SL IL _ _ _ P) in H. destruct H as [(-> & We)|(H & _)]; [tauto|eauto].
  - intros [(Q & Wm & H)|(w & H & Q & Bw & Dw)].
    + left. repeat split; auto. intros w [<-|Hw] Bw Ww; [tauto|now apply H].
    + right. exists w. split; [|auto]. apply (lastw_cons F L SL IL _ _ _ P). right. split; [auto|].
      intros (We & Q'). destruct N as [N|N]; [|auto]. pose proof P as (Fe & _). pose proof H as (Uw & Ww & _).
      pose proof Uw as (Fw & _). apply (upto_before F L IL l e) in Uw; auto.
      apply (l_asym F L SL _ _ Uw). apply Cii; auto. repeat split; auto. intros ->. tauto.
Qed.
Lemma poisoned_cons_B l e x : pre l e -> B e -> wr e ->
  (poisoned (e :: l) x <-> (x = loc e /\ dp e) \/ (x <> loc e /\ poisoned l x)).
Proof.
  intros P Be We. destruct (Nat.eq_dec x (loc e)) as [->|N].
  - unfold poisoned. split.
    + intros [(_ & _ & H)|(w & H & Q & Bw & Dw)]; [exfalso; apply (H e); auto; now left|left; split; auto].
      apply (lastw_cons F L SL IL _ _ _ P) in H. destruct H as [(-> & _)|(_ & H)]; [auto|destruct H; auto].
    + intros [(_ & D)|(N & _)]; [right|congruence]. exists e. split; [|auto]. apply (lastw_cons F L SL IL _ _ _ P).
      now left.
  - unfold poisoned. split.
    + intros [(Q & Wm & H)|(w & H & Q & Bw & Dw)]; right; (split; [auto|]).
      * left. repeat split; auto. intros w Hw. apply H. now right.
      * right. apply (lastw_cons F L SL IL _ _ _ P) in H. destruct H as [(-> & _)|(H & _)]; [congruence|eauto].
    + intros [(Q & _)|(_ & [(Q & Wm & H)|(w & H & Q & Bw & Dw)])]; [congruence| |].
      * left. repeat split; auto. intros w [<-|Hw]; [auto|now apply H].
      * right. exists w. split; [|auto]. apply (lastw_cons F L SL IL _ _ _ P). right. split; [auto|]. intros (_ & Q').
        congruence.
Qed.

(* what a thread carries, behind an event that is neither a NIC read of B nor a NIC write of B *)
Lemma carried_same l p e : poisoning_ l p -> pre l e -> (~ B e \/ (brings e = false /\ (rd e -> cpu e))) ->
  forall t, poc p t = true <-> exists r, In r (e :: l) /\ thr r = t /\ rd r /\ ~ cpu r /\ dp r /\
    forall y, In y (e :: l) -> ~ po r y.
Proof.
  intros I P N t. rewrite (p_poc _ _ I). split.
  - intros (r & Hr & Q & Rr & Cr & D & H). exists r. split; [now right|]. repeat split; auto. intros y [<-|Hy]; [|auto].
    intros Z. pose proof (after_read l r e P Hr Rr Cr H (po_thr _ _ Z)) as C.
    pose proof P as (Fe & _). pose proof (dep_carry (T := Tsig) r e (F_E _ Fe) C D) as D'. apply dep_B in D'.
    assert (brings e = true) by (apply brings_iff; eauto). destruct N as [N|(N & _)]; [auto|congruence].
  - intros (r & [<-|Hr] & Q & Rr & Cr & D & H); [apply dep_B in D; tauto|].
    exists r. repeat split; auto; intros y Hy; apply H; now right.
Qed.
Lemma poisoning_alpha l p e : poisoning_ l p -> pre l e -> ~ B e -> poisoning_ (e :: l) p.
Proof.
  intros I P N. constructor; [|apply carried_same; auto].
  intros x. rewrite (p_poi _ _ I), poisoned_cons_other; tauto.
Qed.
Lemma bool_iff (a b : bool) P : (a = true <-> P) -> (b = a) -> (b = true <-> P).
Proof. now intros H ->. Qed.
Lemma thread_other l e r t : pre l e -> In r l -> thr r = t -> (forall y, In y (e :: l) -> ~ po r y) -> t <> thr e.
Proof. intros P Hr <- H Q. apply (H e); [now left|]. eapply pre_po; eauto. Qed.
Lemma poisoning_beta l p e : poisoning_ l p -> pre l e -> B e ->
  (cpu e -> rd e -> poi p (loc e) = false) -> poisoning_ (e :: l) (poisoning p e).
Proof.
  intros I P Be Hc. pose proof P as (Fe & Ne & _). unfold poisoning. destruct (rd_b e) eqn:R;
    [|destruct (brings e) eqn:N].
  - apply rd_iff in R. destruct (cpu_b e) eqn:C.
    + apply cpu_iff in C. constructor.
      * intros x. rewrite (p_poi _ _ I). destruct (classic (wr e)) as [We|NW]; [|rewrite poisoned_cons_other; tauto].
        rewrite poisoned_cons_B; auto. specialize (Hc C R).
        assert (~ poisoned l (loc e)) as Np by (rewrite <- (p_poi _ _ I); congruence).
        rewrite (dep_read l e); auto. destruct (Nat.eq_dec x (loc e)) as [->|]; tauto.
      * apply carried_same; auto. right. split; [|auto]. destruct (brings e) eqn:Z; auto. apply brings_iff in Z.
        destruct Z as (r & Z). apply carry_nicw in Z. tauto.
    + apply cpu_not in C. assert (~ wr e) as NW by (unfold wr, rd, cpu in *; destruct (knd e); simpl in *; tauto).
      constructor; simpl.
      * intros x. rewrite (p_poi _ _ I), poisoned_cons_other; tauto.
      * intros t. unfold upd. destruct (Nat.eqb_spec t (thr e)) as [->|Nt].
        -- rewrite (p_poi _ _ I), <- (dep_read l e); auto. split.
           ++ intros D. exists e. split; [now left|]. repeat split; auto.
              intros y [<-|Hy]; [apply po_irr|eapply pre_not_po; eauto].
           ++ intros (r & [<-|Hr] & Q & Rr & Cr & D & H); [auto|]. exfalso. eapply thread_other; eauto.
        -- rewrite (p_poc _ _ I). split; intros (r & Hr & Q & Rr & Cr & D & H).
           ++ exists r. split; [now right|]. repeat split; auto. intros y [<-|Hy]; [|auto]. intros Z.
              apply po_thr in Z. congruence.
           ++ destruct Hr as [<-|Hr]; [congruence|]. exists r. repeat split; auto; intros y Hy; apply H; now right.
  - assert (nicw e /\ ~ rd e) as (Nw & NR) by (apply brings_iff in N; destruct N as (r & N); now apply carry_nicw in N).
    assert (wr e) as We by (unfold wr, nicw in *; destruct (knd e); simpl in *; tauto).
    assert (poc p (thr e) = true <-> dp e) as Hp.
    { rewrite (p_poc _ _ I). split.
      - intros (r & Hr & Q & Rr & Cr & D & H). apply dep_carry with r; auto; [apply F_E; auto|]. eapply after_read; eauto.
      - intros D. destruct (dep_brings e D NR) as (r & C & D'). exists r. destruct (carry_ok _ _ C) as (Q & _ & Kr).
        split; [eapply pre_po_in; eauto|]. split; [now apply po_thr|].
        split; [unfold rd; destruct Kr as [(-> & _)|(-> & _)]; simpl; auto|].
        split; [unfold cpu; destruct Kr as [(-> & _)|(-> & _)]; simpl; auto|]. split; [auto|].
        intros y Hy Q'. apply (carry_next r e y); auto. eapply pre_po; eauto. rewrite <- (po_thr _ _ Q').
        now apply po_thr. }
    constructor; simpl.
    + intros x. rewrite poisoned_cons_B; auto. unfold upd. destruct (Nat.eqb_spec x (loc e)) as [->|].
      * rewrite Hp. tauto.
      * rewrite (p_poi _ _ I). tauto.
    + intros t. unfold upd. destruct (Nat.eqb_spec t (thr e)) as [->|Nt].
      * split; [discriminate|]. intros (r & [<-|Hr] & Q & Rr & Cr & D & H).
        -- tauto.
        -- exfalso. eapply thread_other; eauto.
      * rewrite (p_poc _ _ I). split; intros (r & Hr & Q & Rr & Cr & D & H).
        -- exists r. split; [now right|]. repeat split; auto. intros y [<-|Hy]; [|auto]. intros Z. apply po_thr in Z.
           congruence.
        -- destruct Hr as [<-|Hr]; [congruence|]. exists r. repeat split; auto; intros y Hy; apply H; now right.
  - assert (~ rd e) as NR by (rewrite <- rd_iff; congruence).
    assert (~ dp e) as ND.
    { intros D. destruct (dep_brings e D NR) as (r & C & _). assert (brings e = true) by (apply brings_iff; eauto).
      congruence. }
    destruct (wr_b e) eqn:We.
    + apply wr_iff in We. constructor; simpl; [|apply carried_same; auto; right; split; [auto|tauto]].
      intros x. rewrite poisoned_cons_B; auto. unfold upd. destruct (Nat.eqb_spec x (loc e)) as [->|].
      * split; [discriminate|]. intros [(_ & D)|(Z & _)]; [tauto|congruence].
      * rewrite (p_poi _ _ I). tauto.
    + assert (~ wr e) as NW by (rewrite <- wr_iff; congruence).
      constructor; [|apply carried_same; auto; right; split; [auto|tauto]].
      intros x. rewrite (p_poi _ _ I), poisoned_cons_other; tauto.
Qed.
Lemma poisoning_begun l : (forall y, In y l -> ~ B y) -> poisoning_ l (Psn (if wr_b m then upd (fun _ => false) (loc m)
  true else fun _ => false) (fun _ => false)).
Proof.
  intros N. constructor; simpl.
  - intros x. unfold poisoned. destruct (wr_b m) eqn:Wm.
    + apply wr_iff in Wm. rewrite upd_iff. split.
      * intros [H|<-]; [discriminate|left; repeat split; auto]. intros w Hw Bw. destruct (N w); auto.
      * intros [(-> & _)|(w & ((Fw & [Kw|Hw]) & _) & _ & Bw & _)]; [auto| |destruct (N w); auto].
        destruct (BF w Bw) as (_ & Z). now destruct Z.
    + split; [discriminate|]. intros [(_ & Q & _)|(w & ((Fw & [Kw|Hw]) & _) & _ & Bw & _)].
      * apply wr_iff in Q. congruence.
      * destruct (BF w Bw) as (_ & Z). now destruct Z.
      * destruct (N w); auto.
  - intros t. split; [discriminate|]. intros (r & Hr & _ & _ & _ & D & _). destruct (N r Hr). now apply dep_B.
Qed.

(* the frozen value *)
Notation vl := (val (rf_in F L)).
Definition sourceA w := F w /\ ~ B w /\ wr w /\ loc w = loc m /\
  forall w', F w' -> ~ B w' -> wr w' -> loc w' = loc m -> w' = w \/ L w' w.
Definition frozen l v := (exists w, In w l /\ B w /\ wr w /\ loc w = loc m) -> forall w, sourceA w -> vl w v.
Lemma sourceA_lastw l w : sourceA w -> (forall y, In y l -> F y /\ noninit y) -> (forall w', In w' l -> B w' ->
  wr w' -> loc w' <> loc m) ->
  upto F l w -> lastw l w.
Proof.
  intros (Fw & NB & Ww & Q & H) Hl N Uw. split; [auto|]. split; [auto|]. intros w' (Fw' & Uw') Ww' Q'.
  apply H; auto; [|congruence].
  intros Bw'. destruct Uw' as [Kw|Hw']; [destruct (BF _ Bw') as (_ & Z); now destruct Z|]. apply (N w'); auto. congruence.
Qed.
Lemma frozen_beta s e : meaning hw s -> flags B (hist (th s)) -> scinv F L (th s) -> along (hist (th s)) ->
  pre (evs (hist (th s))) e -> B e ->
  frozen (evs (hist (th s))) (fro s) -> frozen (e :: evs (hist (th s))) (freeze (class_of m) s e).
Proof.
  intros M Fl I A P Be H (w0 & Hw0 & Bw0 & Ww0 & Q0) w Hw. unfold freeze; simpl.
  destruct (cw (acc s) (loc m)) eqn:C.
  - rewrite andb_false_r. apply H; auto. apply (m_cw hw s M) in C. destruct C as (y & Y & Wy & Qy).
    apply (inB_flags B _ _ Fl) in Y. exists y. tauto.
  - assert (forall y, In y (evs (hist (th s))) -> B y -> wr y -> loc y <> loc m) as N.
    { intros y Hy By Wy Q. assert (cw (acc s) (loc m) = true); [|congruence]. apply (m_cw hw s M). exists y.
      split; [apply (inB_flags B _ _ Fl)|]; auto. }
    destruct Hw0 as [<-|Hw0]; [|destruct (N w0); auto].
    rewrite (proj2 (wr_iff e) Ww0), Q0, Nat.eqb_refl. simpl.
    pose proof Hw as (Fw & NB & Ww & Q & _). rewrite <- Q. apply (s_mem F L _ I). apply sourceA_lastw; auto.
    + intros y. eapply along_in; eauto.
    + pose proof P as (Fe & _). apply (upto_before F L IL _ e); auto. apply Cii; auto.
      repeat split; auto; try congruence; intros ->; tauto.
Qed.
Lemma frozen_alpha l e v : ~ B e -> frozen l v -> frozen (e :: l) v.
Proof. intros N H (w0 & [<-|Hw0] & Bw0 & X0); [tauto|]. apply H. exists w0. tauto. Qed.
End Poison.
