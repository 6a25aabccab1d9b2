(* Theorem 5: there is a violating trace in normal form.  Theorem 7: its split is determined by L, m and s. *)
Require Import List Arith Lia Classical Relations Setoid.
From RR Require Import Model Hardware Orders Rules Traces Lemma2 Lemma6.

Section Definitions.
Context {U : events} (hw : hardware) (T : trace) (m : ev) (tau : relation ev) (L : relation ev).
Notation E' := (without (E T) m).

(* an sc cycle of T that comes to m once: m, e, ..., x, m *)
Definition cycle_at e x :=
  sc1 T m e /\ clos_refl_trans ev (off (sc1 T) m) e x /\ sc1 T x m /\ e <> m /\ x <> m.

(* what comes after m in tau; the other events of E' are A0 *)
Definition B0 x := E' x /\ tau m x.

(* s: the L-first event among e and the writes of v in B0 *)
Definition start e s :=
  (s = e \/ (B0 s /\ wr s /\ loc s = loc m)) /\ (s = e \/ L s e) /\
  (forall w, B0 w -> wr w -> loc w = loc m -> s = w \/ L s w).

(* the least beta *)
Inductive beta (s : ev) : ev -> Prop :=
| beta_s : beta s s
| beta_F1 b x : beta s b -> E' x -> oppo hw b x -> beta s x
| beta_F2 w x : beta s w -> E' x -> pf w x -> knd w = NLW -> beta s x
| beta_F2' e w x : beta s w -> E' x -> pf w x -> knd w = NRW -> beta s e ->
    (knd e = NLR \/ knd e = NF) -> qp e = qp w -> po e w -> beta s x
| beta_F3 w f x : flush hw = true -> beta s w -> E' f -> E' x -> knd w = NLW -> knd f = NF -> knd x = NLR ->
    qp w = qp f -> qp f = qp x -> po w f -> po f x -> beta s x
| beta_F4 b x : beta s b -> E' x -> conflict b x -> L b x -> beta s x.
End Definitions.

Section Theorem7.
Context {U : events} {hw : hardware} {OK : hardware_ok hw} {P : program} {T : trace} {m : ev} {tau : relation ev}.
Context {Piv : pivot hw P T m tau}.
Notation E' := (without (E T) m).
Notation T' := (T' T m tau).
Notation B0 := (B0 T m tau).

Let V : violating hw P T := pv_violating.
Let M : maximal hw T m := pv_maximal.
Let S : sto (E T) tau := pv_total.
Let I0 : initfirst (E T) tau := pv_init.
Let Hob : forall a b, ob1 hw T a b -> tau a b := pv_ob.
Let W : wfE (E T) := WE.

Lemma m_edge e : sc1 T m e -> conflict m e /\ E T e /\ tau m e.
Proof.
  intros H. assert (eco1 T m e) as X.
  { destruct H as [(_ & Ee & H)|H|H|H]; [exfalso; eapply m_last; eauto|left|right; left|right; right]; auto. }
  destruct (eco_conflict T m e WT) as (C & _ & Ee); auto.
  { intros y Y. apply (tau_irr y). now apply tau_rf. }
  repeat split; auto; try apply C.
  destruct X as [X|[X|X]]; [now apply tau_rf|now apply tau_rb|now apply tau_mo].
Qed.

Lemma sc_cycle L : sc_order_of T' L -> exists e x, cycle_at T m e x.
Proof.
  intros [SL _ HL]. apply cycle_through.
  - intros a [(_ & _ & H)|H|(N & _)|H].
    + eapply po_irr; eauto.
    + apply (tau_irr a), tau_rf, H.
    + auto.
    + apply (tau_irr a), tau_mo, H.
  - intros a H. apply (proj1 SL a). eapply (forward_trans _ L); [apply SL| |exact H].
    intros x y (K & Nx & Ny). apply HL. now apply lemma_2_3.
  - destruct V as (_ & _ & N). apply NNPP; intro K. apply N. intros a H. apply K. eauto.
Qed.

Lemma B0_R1 : R1 hw (E T) B0.
Proof.
  intros a b Ea Eb (Eb' & H) O.
  assert (tau b a) as X by (apply Hob, ob_oppo; repeat split; auto; apply O).
  split; [split; auto|eapply tau_trans; eauto]. intros ->. eapply tau_asym; eauto.
Qed.
Lemma B0_forcing (B : ev -> Prop) w p : (forall x, B x -> B0 x) -> E T p -> pf w p -> forcing (E T) B w -> tau m p.
Proof.
  intros HB Ep H (Ew & Bw & [K|(K & e & Ee & Be & Ke & Qe & Pe)]).
  - eapply tau_trans; [apply (HB w Bw)|]. apply Hob, ob_pf; auto. repeat split; auto.
  - eapply tau_trans; [apply (HB e Be)|]. apply Hob, ob_ib.
    { unfold inst, is_inst; destruct Ke as [-> | ->]; simpl; tauto. }
    apply t_trans with w; apply t_step.
    + apply ib_ippo. split; [exact Ee|split; [exact Ew|]]. apply issued_ippo; auto. rewrite K. now apply forcing_use.
    + apply ib_pf. repeat split; auto.
Qed.
Lemma B0_R2 : R2 (E T) B0.
Proof.
  intros w p Ep H F. pose proof (B0_forcing B0 w p (fun x H => H) Ep H F) as X.
  split; [split; [auto|]|auto]. intros ->; eapply tau_irr; eauto.
Qed.
Lemma B0_F3 w f r : flush hw = true -> E T w -> E T f -> E T r -> knd w = NLW -> knd f = NF -> knd r = NLR ->
  qp w = qp f -> qp f = qp r -> po w f -> po f r -> tau m w -> tau m r.
Proof.
  intros F Ew Ef Er Kw Kf Kr Q Q' Pp Pp' H. destruct (fence_use hw F) as (If & Sf).
  assert (tau f r) as Hfr.
  { apply Hob, ob_oppo. split; [exact Ef|split; [exact Er|]]. apply seen_oppo; auto. now rewrite Kf, Kr. }
  destruct S as (_ & _ & Hc). destruct (Hc r w Er Ew) as [X|[X|X]]; [congruence| |eapply tau_trans; eauto].
  exfalso. apply (tau_asym _ _ Hfr). apply Hob, ob_ib.
  { unfold inst, is_inst; rewrite Kr; simpl; tauto. }
  apply t_trans with w; apply t_step.
  - apply ib_nfo. split; [exact F|]. apply T_nfo; [exact F|]. split; [exact Er|split; [exact Ew|split; [|exact X]]].
    split; [congruence|tauto].
  - apply ib_ippo. split; [exact Ew|split; [exact Ef|]]. apply issued_ippo; auto. now rewrite Kw, Kf.
Qed.
Lemma B0_R3 : R3 hw (E T) B0.
Proof.
  intros F w f r Ew Ef Er Kw Kf Kr Q Q' Pp Pp' (_ & H) _.
  assert (tau m r) as X by (apply (B0_F3 w f r); auto).
  split; [split; [auto|]|auto]. intros ->; eapply tau_irr; eauto.
Qed.

Section Order.
Context {L : relation ev} {Sco : sc_order_of T' L}.
Let SL : sto E' L := so_total.
Let IL : initfirst E' L := so_init.
Let HL : forall a b, sc1 T' a b -> L a b := so_sc.
Notation beta := (beta hw T m L).
Notation start := (start T m tau L).

Lemma split_B0 : split hw T m tau L B0.
Proof.
  constructor; auto using B0_R1, B0_R2, B0_R3.
  - intros a b Ea Eb Na Hb C. apply lemma_6_1; auto. intros X; apply Na; split; auto. apply Hb.
  - intros; split; auto.
Qed.

Theorem theorem_5 : violating hw P (tr (E T) (sigma m L B0)).
Proof.
  pose proof split_B0 as Spl.
  split; [|split; [apply lemma_6_3_consistent|]]; [apply lemma_6_3_trace|].
  intros N. apply (N m).
  destruct (sc_cycle L Sco) as (e & x & Cy). destruct (m_edge e (proj1 Cy)) as (C & Ee & Te).
  destruct Cy as (Hme & Hex & Hxm & Ne & Nx). apply (rest e x Hex Hxm Nx).
  apply join; auto using Em. apply s_mb; auto. split; [split; auto|auto].
Qed.

Lemma start_exists e : E' e -> exists s, start e s.
Proof.
  intros Ee. destruct (wf_fin _ W) as (l & Hl).
  pose (Q := fun x => x = e \/ (B0 x /\ wr x /\ loc x = loc m)).
  assert (forall x, Q x -> E' x) as QE by (intros x [->|(H & _)]; [auto|apply H]).
  destruct (max_elem l Q (fun a b => L b a)) as (s & Qs & K).
  - split; [apply SL|]. intros a b c H H'. eapply SL; eauto.
  - intros a Qa. apply Hl, QE, Qa.
  - exists e; left; auto.
  - exists s. assert (forall y, Q y -> s = y \/ L s y) as F.
    { intros y Qy. destruct SL as (_ & _ & Hc). destruct (Hc s y) as [|[|X]]; auto. destruct (K y Qy X). }
    split; [exact Qs|]. split; [apply F; left; auto|]. intros w H1 H2 H3. apply F. right; auto.
Qed.

(* Theorem 7: B is contained in B0 *)
Lemma beta_B0 s : B0 s -> forall b, beta s b -> B0 b.
Proof.
  intros Bs b H; induction H as [|b y H IH Ey O|w y H IH Ey O K|f w y H IH Ey O K H2 IH2 K2 Q2 P2
    |w f y Fl H IH Ef Ey Kw Kf Ky Q Q' Pp Pp'|b y H IH Ey Cf Lb]; auto; split; auto.
  - eapply tau_trans; [apply IH|]. apply Hob, ob_oppo. split; [apply IH|split; [apply Ey|auto]].
  - apply (B0_forcing B0 w y); auto; [apply Ey|]. split; [apply IH|split; [apply IH|left; auto]].
  - apply (B0_forcing B0 w y); auto; [apply Ey|]. split; [apply IH|split; [apply IH|right]].
    split; auto. exists f. split; [apply IH2|]; auto.
  - apply (B0_F3 w f y); auto; try apply IH; try apply Ef; apply Ey.
  - destruct S as (_ & _ & Hc). destruct (Hc y m) as [X|[X|X]]; [apply Ey|apply Em|destruct Ey; congruence| |auto].
    exfalso. apply (L_asym _ _ Lb). apply conf_tau_L; auto; [apply IH|now apply conflict_sym|].
    eapply tau_trans; [exact X|apply IH].
Qed.

(* (i) to (iv) for the least beta *)
Section Start.
Variables e s : ev.
Hypothesis Hme : sc1 T m e.
Hypothesis Ne : e <> m.
Hypothesis St : start e s.

Lemma start_B0 : B0 s.
Proof.
  destruct (m_edge e Hme) as (_ & Ee & Te). destruct St as ([->|(H & _)] & _); [|exact H]. split; [split|]; auto.
Qed.
Lemma start_conflict : conflict m s.
Proof.
  destruct (m_edge e Hme) as (C & _). destruct St as ([->|(H & H1 & H2)] & _); auto.
  apply conflict_intro; auto; [|apply C]. intros Q. apply (proj2 (proj1 H)); auto.
Qed.

Lemma beta_R1 : R1 hw (E T) (beta s).
Proof.
  intros a b Ea Eb Bb O. pose proof (beta_B0 s start_B0 b Bb) as Hb.
  pose proof (B0_R1 a b Ea Eb Hb O) as Ha. apply beta_F1 with b; auto. apply Ha.
Qed.
Lemma beta_R2 : R2 (E T) (beta s).
Proof.
  intros w p Ep H F. pose proof (B0_forcing _ w p (beta_B0 s start_B0) Ep H F) as X.
  assert (E' p) as Ep' by (split; auto; intros ->; eapply tau_irr; eauto).
  destruct F as (Ew & Bw & [K|(K & f & Ef & Bf & Kf & Qf & Pf)]).
  - apply beta_F2 with w; auto.
  - apply beta_F2' with f w; auto.
Qed.
Lemma beta_R3 : R3 hw (E T) (beta s).
Proof.
  intros Fl w f r Ew Ef Er Kw Kf Kr Q Q' Pp Pp' Bw _.
  assert (tau m r) as X by (apply (B0_F3 w f r); auto; apply (beta_B0 s start_B0 w Bw)).
  apply beta_F3 with w f; auto.
  - split; auto. intros ->; eapply m_last; eauto.
  - split; auto. intros ->; eapply tau_irr; eauto.
Qed.
Lemma split_beta : split hw T m tau L (beta s).
Proof.
  constructor; auto using beta_R1, beta_R2, beta_R3.
  - intros a b Ea Eb Na Bb Cf. destruct SL as (_ & _ & Hc).
    destruct (Hc a b Ea Eb) as [->|[|X]]; [tauto|auto|]. destruct Na.
    apply beta_F4 with b; auto. now apply conflict_sym.
  - intros b H. apply (beta_B0 s start_B0 b H).
  - intros w Ew Ww Lw H. destruct St as (_ & _ & Hsw).
    destruct (Hsw w) as [<-|X]; auto; [split; auto|apply beta_s|].
    destruct start_conflict as (_ & As & _ & Ls & _).
    apply beta_F4 with s; auto; [apply beta_s|].
    apply conflict_intro; [intros ->; eapply L_irr; eauto|auto|auto|auto|congruence].
Qed.

Lemma m_to_e : clos_trans ev (sc1 (tr (E T) (sigma m L (beta s)))) m e.
Proof.
  pose proof split_beta as Spl. destruct (m_edge e Hme) as (C & Ee & Te).
  pose proof start_B0 as (Es & _).
  assert (clos_trans ev (sc1 (tr (E T) (sigma m L (beta s)))) m s) as K.
  { apply join; auto using Em; [apply Es|apply start_conflict|]. apply s_mb; [apply Es|apply beta_s]. }
  destruct St as (Hs & Hse & _).
  destruct Hse as [<-|Hse]; [exact K|]. destruct Hs as [->|(H & H1 & H2)]; [exact K|].
  eapply t_trans; [exact K|].
  assert (conflict s e) as Cse.
  { apply conflict_intro; [intros ->; eapply L_irr; eauto|auto|auto|apply C|].
    destruct C as (_ & _ & _ & Q & _); congruence. }
  apply join; auto; [apply Es|]. apply conf_s; auto. split; auto.
Qed.
End Start.

Theorem theorem_7 e x s : cycle_at T m e x -> start e s ->
  violating hw P (tr (E T) (sigma m L (beta s))) /\ forall b, beta s b -> B0 b.
Proof.
  intros (Hme & Hex & Hxm & Ne & Nx) St.
  pose proof (split_beta e s Hme Ne St) as Spl.
  split; [|apply beta_B0; apply (start_B0 e); auto].
  split; [apply lemma_6_3_trace|]. split; [apply lemma_6_3_consistent|].
  intros N. apply (N m). apply (rest e x Hex Hxm Nx). apply (m_to_e e); auto.
Qed.

(* Side conditions of Theorem 8 (first half): no CPU event of the pivot's thread is in beta, and if the pivot writes then
   the start s is no CPU read or CAS. *)
Theorem theorem_8_thread b : B0 b -> cpu b -> thr b = thr m -> False.
Proof.
  intros ((Eb & Nb) & H) C Q.
  destruct (wf_total _ W b m Eb Em (cpu_noninit _ C) Nm Q) as [|[X|X]]; [auto| |exact (m_last b Eb X)].
  apply (tau_asym _ _ H). apply Hob, ob_oppo. split; [exact Eb|split; [exact Em|]]. apply cpu_oppo; auto. apply Nm.
Qed.

Theorem theorem_8_start e s : sc1 T m e -> e <> m -> start e s -> wr m -> cpu s -> rd s -> False.
Proof.
  intros Hme Ne St Wm Cs Rs.
  pose proof (start_B0 e s Hme Ne St) as Bs. pose proof (start_conflict e s Hme St) as (_ & _ & _ & Q & _).
  destruct St as (_ & _ & H3).
  (* s reads m in T *)
  apply (proj2 M s Cs). apply t_step, ib_rf, T_rf.
  repeat split; auto using Em; try apply Bs. intros w Ew Ww Lw K.
  destruct (classic (w = m)) as [|Nw]; [auto|right].
  destruct S as (_ & _ & Hc). destruct (Hc w m Ew Em) as [|[X|X]]; [congruence|auto|exfalso].
  assert (E' w) as Ew' by (split; auto).
  assert (w <> s) as Nws by (intros ->; eapply tau_irr; eauto).
  assert (conflict w s) as C by (apply conflict_intro; auto).
  pose proof (conf_tau_L w s Ew' (proj1 Bs) C K) as Y.
  destruct (H3 w) as [Z|Z]; [split; auto|auto|congruence|congruence|eapply L_asym; eauto].
Qed.
End Order.
End Theorem7.
