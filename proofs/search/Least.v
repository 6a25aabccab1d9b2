(* Theorem 8, first half: what Theorem 7 says of the least beta, in the form that the search needs. *)
Require Import List Arith Bool Lia Classical Relations Sorted.
Import ListNotations.
From RR Require Import Model Hardware Orders Cells Stores Rules Traces Lemma2 Parts Lemma6 Theorem7 NormalForm
  Search Marks Along Counters Poison Forced.

Section Least.
Context {U : events} {K : searchable} (hw : hardware) {OK : hardware_ok hw} {SO : search_ok hw}.

Section Facts.
Context {P : program} {T : trace} {m : ev} {tau L : relation ev} {Piv : pivot hw P T m tau} {Sco : sc_order_of (T' hw T m
  tau) L}.
Variables (e x s : ev).
Hypotheses (Cy : cycle_at T m e x) (Hs : start T m tau L e s).
Notation F := (without (E T) m).
Notation B := (beta hw T m L s).
Let V : violating hw P T := pv_violating.
Let M : maximal hw T m := pv_maximal.
Let S : sto (E T) tau := pv_total.
Let I0 : initfirst (E T) tau := pv_init.
Let Hob : forall a b, ob1 hw T a b -> tau a b := pv_ob.
Let SL : sto F L := so_total.
Let IL : initfirst F L := so_init.
Let HL : forall a b, sc1 (T' hw T m tau) a b -> L a b := so_sc.
Let Hme : sc1 T m e := proj1 Cy.
Let Ne : e <> m := proj1 (proj2 (proj2 (proj2 Cy))).
Local Instance t7_split : split hw T m tau L B := split_beta e s Hme Ne Hs.

(* what theorem 7 has of B *)
Lemma t7_HB b : B b -> B0 T m tau b.
Proof. exact (proj2 (theorem_7 e x s Cy Hs) b). Qed.
Lemma t7_viol : violating hw P (trace_by hw (E T) (sigma m L B)).
Proof. exact (proj1 (theorem_7 e x s Cy Hs)). Qed.
Lemma t7_W : wfE F. Proof. eapply wfE'. Qed.
Lemma t7_PL a b : F a -> F b -> po a b -> L a b.
Proof. intros Fa Fb H. apply HL, sc_po. repeat split; auto; try apply Fa; apply Fb. Qed.
Lemma t7_last : last (E T) m. Proof. apply M. Qed.
Lemma t7_prefix : runs P F. Proof. apply runs_prefix; [apply V|apply M]. Qed.
Lemma t7_BF b : B b -> F b /\ noninit b.
Proof.
  intros H. destruct (t7_HB b H) as (Fb & Tb). split; auto. intros Kb.
  apply (tau_asym _ _ Tb). apply I0; auto; [apply Fb|apply M|apply M].
Qed.
Lemma t7_after a : E T a -> tau m a -> F a.
Proof. intros Ea H; split; auto. intros ->. now apply (proj1 S m). Qed.
Lemma t7_cpu r : cpu r -> ~ dep (trace_by hw (E T) (sigma m L B)) m r.
Proof. apply no_cpu_dep. Qed.
(* the start is the first of B *)
Lemma t7_first b : B b -> b = s \/ L s b.
Proof.
  assert (forall a b, B a -> F b -> a = s \/ L s a -> po a b -> b = s \/ L s b) as Hp.
  { intros a c Ba Fc [->|Ha] Hpo; right; [|eapply (proj1 (proj2 SL)); [exact Ha|]]; apply t7_PL; auto; now apply t7_BF. }
  intros H; induction H as [|a y H IH Ey O|w y H IH Ey O Kw|f w y H IH Ey O Kw H2 IH2 P2 K2
      |w f y Fl H IH Ef Ey Kw Kf Ky Q Q' Pp Pp'|a y H IH Ey Cf Lb _]; auto.
  - apply (Hp a); auto. apply O.
  - apply (Hp w); auto. now apply pf_ok.
  - apply (Hp w); auto. now apply pf_ok.
  - apply (Hp w); auto. eapply po_trans; eauto.
  - right. destruct IH as [->|IH]; auto. eapply (proj1 (proj2 SL)); eauto.
Qed.
(* m reads the last write of A to its cell *)
Lemma t7_pivot : cpu m -> rd m -> exists w, sourceA T m L B w /\ forall v, val (rf_in F L) w v -> v = crv m.
Proof.
  intros C R. pose proof t7_viol as V7. destruct (proj2 (proj2 (proj1 V7)) m (proj1 t7_last) C R) as (w & H & Hv).
  apply (rf_no_wait w m) in H; [|intros u; apply m_no_wait]. destruct H as (Ew & _ & Ww & _ & Q & Sw & H).
  assert (~ B m) as NBm by (intros Z; destruct (t7_BF m Z) as ((_ & Z') & _); auto).
  unfold sigma, lex in Sw.
  assert (w <> m) as N by (intros ->; pose proof (proj1 SL m); tauto).
  assert (F w) as Fw by (split; auto).
  assert (~ B w) as NB by tauto.
  exists w. split.
  - split; [auto|split; [auto|split; [auto|split; [auto|]]]]. intros w' Fw' NB' Ww' Q'.
    pose proof Fw' as (Ew' & Nw'). destruct (classic (w' = w)) as [|Nw]; [auto|right].
    assert (sigma m L B w' m) as Sw' by (unfold sigma, lex; tauto). destruct (H w' Ew' Ww' Q' Sw') as [|Z]; [congruence|].
    unfold sigma, lex in Z. tauto.
  - intros v Hv'. pose proof (proj1 (proj2 (proj1 V7))) as W7.
    refine (val_fun (E T) (rf (trace_by hw (E T) (sigma m L B))) w v WE _ (t_rf_fun _ W7) _ Ew _ Hv).
    + intros c d Z. apply (t_rf _ W7 _ _ Z).
    + apply (val_T'_Ts w v); auto.
      * eapply val_mono; [|exact Hv']. intros c d Z. now apply T'_rf.
      * intros D. apply NB. exact (Parts.dep_B w D).
Qed.
Lemma t7_val r : F r -> cpu r -> rd r -> exists w, rf_in F L w r /\ val (rf_in F L) w (crv r).
Proof.
  intros Fr C R. destruct lemma_2_1 as (_ & WT & Val). destruct (Val r Fr C R) as (w & H & Hv).
  exists w. split; [now apply T'_rf|]. eapply val_mono; [|exact Hv].
  intros a b. apply T'_rf.
Qed.
Lemma t7_begin : wr m -> cpu s -> rd s -> False.
Proof. exact (theorem_8_start e s Hme Ne Hs). Qed.
Lemma t7_own b : B b -> cpu b -> thr b = thr m -> store hw b /\ knd m = LR /\ loc b <> loc m.
Proof. intros Bb C Q. apply (theorem_8_thread b (t7_HB b Bb) C Q). apply (start_conflict e s Hme Ne Hs). Qed.

(* F1 to F4 *)
Definition forced_by (Q : ev -> Prop) y := (exists b, Q b /\ oppo hw b y) \/ (exists w, forcing hw F Q w /\ pf w y) \/
  (exists w f, flush hw = true /\ Q w /\ F f /\ knd w = NLW /\ knd f = NF /\ knd y = NLR /\ qp w = qp f /\
    qp f = qp y /\ po w f /\ po f y) \/
  (exists b, Q b /\ conflict b y /\ L b y /\ forall u, rf_in F L u y -> ~ Model.own hw u y).
Lemma t7_why y : B y -> y = s \/ forced_by B y.
Proof.
  intros H; inversion H as [Z|b z Hb Ey O Z|w z Hb Ey O Kw Z|f w z Hb Ey O Kw H2 P2 K2 Z
    |w f z Fl Hb Ef Ey Kw Kf Kz Q1 Q2 Pp Pp' Z|b z Hb Ey Cf Lb NO Z]; subst; [auto|right..].
  - left; eauto.
  - right; left. exists w. split; auto. split; [now apply t7_BF|split; auto].
  - right; left. exists w. split; auto. split; [now apply t7_BF|split; auto]. right. split; auto. exists f.
    repeat split; auto; now apply t7_BF.
  - right; right; left. exists w, f. tauto.
  - right; right; right; eauto.
Qed.

(* the cycle: from s forward in L to an event that leads to m *)
Definition link a b := F a /\ F b /\ noninit b /\ L a b /\ (po a b \/ conflict a b).
Lemma t7_links a b : clos_refl_trans ev (off (sc1 T) m) a b -> clos_refl_trans ev link a b.
Proof.
  induction 1 as [a b (H & Na & Nb)|a|a b c _ IH _ IH']; [|apply rt_refl|exact (rt_trans _ _ _ _ _ IH IH')].
  apply rt_step. pose proof (lemma_2_3 a b H Na Nb) as H'.
  pose proof (WT' (hw := hw) (T := T) (m := m) (tau := tau)) as W'.
  assert (on (T' hw T m tau) po a b \/ eco1 (T' hw T m tau) a b) as X.
  { destruct H'; [left; auto|right; left|right; right; left|right; right; right]; auto. }
  assert (noninit b) as Nb' by (eapply sc1_noninit; eauto).
  destruct X as [(Fa & Fb & Po)|Z].
  - split; [exact Fa|split; [exact Fb|]]. auto.
  - assert (forall y, ~ rf (T' hw T m tau) y y) as Ir by (intros y Y; apply (proj1 SL y), HL; now apply sc_rf).
    destruct (eco_conflict (T' hw T m tau) a b W' Ir Z) as (Cf & Fa & Fb).
    split; [exact Fa|split; [exact Fb|]]. auto.
Qed.
(* it comes back to m by po, or from an event of A that takes no store of B *)
Definition comes_back (Q : ev -> Prop) a := po a m \/
  (conflict a m /\ ~ Q a /\ forall u, rf_in F L u a -> Model.own hw u a -> ~ Q u).
Lemma t7_cycle : exists a, clos_refl_trans ev link s a /\ comes_back B a.
Proof.
  exists x. destruct (m_edge e Hme Ne) as (C & Fe & Te).
  destruct (t7_BF s (beta_s hw T m L s)) as (Fs & Ns).
  split.
  - apply rt_trans with e.
    + destruct Hs as (H1 & [<-|Ls] & _); [apply rt_refl|]. apply rt_step. destruct H1 as [<-|(_ & Ws & Q)].
      { exfalso. eapply (proj1 SL); eauto. }
      destruct C as (_ & Ae & _ & Q' & _). split; [exact Fs|split; [exact Fe|split; [|split; [exact Ls|right]]]].
      * intros Ke. apply (tau_asym _ _ Te). apply I0; auto; [apply Fe|apply M|apply M].
      * apply conflict_intro; auto; [intros ->; eapply (proj1 SL); eauto|congruence].
    + apply t7_links, Cy.
  - assert (on T po x m \/ eco1 T x m) as [X|X].
    { pose proof (proj1 (proj2 (proj2 Cy))) as Hxm. destruct Hxm; [left|right; left|right; right; left|right; right;
        right]; auto. }
    + left. apply X.
    + right. pose proof (proj2 (proj2 (proj2 (proj2 Cy)))) as Nx. pose proof (proj1 (proj2 (proj2 Cy))) as Hxm.
      destruct (eco_conflict T x m WT) as (Cf & Ex & _); auto.
      { intros y Y. apply (sc1_irr y). now apply sc_rf. }
      assert (tau x m) as Txm by (destruct X as [X|[X|X]]; [now apply pv_source|now apply tau_rb|now apply tau_mo]).
      split; [auto|split].
      * intros Bx. exact (tau_asym _ _ Txm (proj2 (t7_HB x Bx))).
      * (* a read that takes a store u of B is rb-before writes that are mo-after u *)
        intros u Hu O Bu. apply T'_rf in Hu. destruct O as (_ & _ & Kx).
        assert (~ wr x) as NW by (unfold wr; rewrite Kx; simpl; tauto).
        destruct X as [X|[(_ & u' & Hu' & Mo)|X]]; [apply NW, (t_rf _ WT _ _ X)| |apply NW, (t_mo _ WT _ _ X)].
        assert (u' <> m) as Nu by (intros ->; exact (t_mo_irr _ WT _ Mo)).
        rewrite <- (t_rf_fun _ WT' _ _ _ (rf_T_T' _ _ Hu' Nu Nx) Hu) in Bu.
        exact (tau_asym _ _ (tau_mo _ _ Mo) (proj2 (t7_HB u' Bu))).
Qed.
End Facts.

(* all of it *)
Record least (P : program) T m L s (B : ev -> Prop) : Prop := {
  b_run : runs P (E T); b_prefix : runs P (without (E T) m);
  b_W : wfE (without (E T) m); b_WT : wfE (E T); b_last : last (E T) m;
  b_SL : sto (without (E T) m) L; b_IL : initfirst (without (E T) m) L;
    b_PL : forall a b, without (E T) m a -> without (E T) m b -> po a b -> L a b;
  b_val : forall r, without (E T) m r -> cpu r -> rd r -> exists w, rf_in (without (E T) m) L w r /\
    val (rf_in (without (E T) m) L) w (crv r);
  b_BF : forall b, B b -> without (E T) m b /\ noninit b;
  b_R1 : R1 hw (E T) B; b_R2 : R2 hw (E T) B; b_R3 : R3 hw (E T) B;
  b_Cii : forall a b, without (E T) m a -> without (E T) m b -> ~ B a -> B b -> conflict a b ->
    L a b \/ exists u, rf_in (without (E T) m) L u a /\ Model.own hw u a /\ B u;
  b_cpu : forall r, cpu r -> ~ dep (trace_by hw (E T) (sigma m L B)) m r;
  b_own : forall b, B b -> cpu b -> thr b = thr m -> store hw b /\ knd m = LR /\ loc b <> loc m;
  b_s : B s; b_sm : conflict m s; b_first : forall b, B b -> b = s \/ L s b; b_begin : wr m -> cpu s -> rd s -> False;
  b_why : forall y, B y -> y = s \/ forced_by (T := T) (m := m) (L := L) B y;
  b_cycle : exists a, clos_refl_trans ev (link (T := T) (m := m) (L := L)) s a /\ comes_back (T := T) (m := m) (L := L) B a;
  b_pivot : cpu m -> rd m -> exists w, sourceA T m L B w /\ forall v, val (rf_in (without (E T) m) L) w v -> v = crv m;
}.

Lemma least_parts P T m L s B : least P T m L s B -> parts hw (E T) m L B.
Proof.
  intros LB. constructor; try apply LB. intros b Bb (Tb & Sb & Km) Q.
  apply (b_own _ _ _ _ _ _ LB b Bb); auto. now apply (store_cpu hw).
Qed.

Theorem least_exists P : ~ robust hw P -> exists T m L s B, least P T m L s B.
Proof.
  intros N. destruct (setup_exists hw P N) as (T & m & tau & L & Piv & Sco).
  destruct (sc_cycle L Sco) as (e & x & Cy). pose proof Cy as (Hme & _ & _ & Ne & _).
  destruct (start_exists e) as (s & Hs); [apply (m_edge e Hme Ne)|].
  pose proof (split_beta e s Hme Ne Hs) as Spl.
  exists T, m, L, s, (beta hw T m L s).
  constructor; try apply sp_i_R1; try apply sp_i_R2; try apply sp_i_R3; try exact (@so_total _ (T' hw T m tau) L Sco);
    try exact (@so_init _ (T' hw T m tau) L Sco); try apply beta_s.
  - apply pv_violating.
  - apply t7_prefix.
  - apply wfE'.
  - apply WE.
  - apply t7_last.
  - apply t7_PL.
  - apply t7_val.
  - eapply t7_BF; eassumption.
  - apply sp_ii.
  - intros r C. eapply t7_cpu; eassumption.
  - eapply t7_own; eassumption.
  - exact (start_conflict e s Hme Ne Hs).
  - eapply t7_first; eassumption.
  - eapply t7_begin; eassumption.
  - eapply t7_why; eassumption.
  - eapply t7_cycle; eassumption.
  - eapply t7_pivot; eassumption.
Qed.
End Least.
