(* Theorem 8, second half: the order of a run that reports, and its parts, satisfy R1, R3 and F4. *)
Require Import List Arith Bool Lia Classical Relations.
Import ListNotations.
From RR Require Import Model Hardware Orders Cells Stores Rules Traces Parts Search Marks Tainted Along Counters
  Forced Answers.

Section Lists.
Context {U : events}.
Lemma at_trans h mv h2 mv' h3 : at_ h mv h2 -> at_ h2 mv' h3 -> at_ h mv' h3.
Proof. intros (h1 & ->) (h4 & ->). exists (h1 ++ mv :: h4). now rewrite <- app_assoc. Qed.
Lemma at_evs h mv h2 y : at_ h mv h2 -> In y (evs h2) -> In y (evs h).
Proof. intros (h1 & ->) H. unfold evs in *. rewrite map_app. apply in_app_iff. right; now right. Qed.
Lemma in_evs_at h y : In y (evs h) -> exists mv h2, at_ h mv h2 /\ me mv = y.
Proof. intros H. apply in_map_iff in H. destruct H as (mv & Q & H). destruct (in_at _ _ H) as (h2 & At). eauto. Qed.
Lemma at_unique h : NoDup (evs h) -> forall mv h2 mv' h2', at_ h mv h2 -> at_ h mv' h2' -> me mv = me mv' ->
  mv = mv' /\ h2 = h2'.
Proof.
  induction h as [|x h IH]; intros N mv h2 mv' h2' A A' Q; [destruct A as ([|] & A); discriminate|].
  inversion N as [|? ? Nx N']; subst. apply at_cons in A, A'.
  destruct A as [(-> & ->)|A], A' as [(E1 & E2)|A'].
  - subst; auto.
  - exfalso. apply Nx. rewrite Q. eapply (in_map me), at_in; eauto.
  - exfalso. apply Nx. rewrite E1, <- Q. eapply (in_map me), at_in; eauto.
  - eapply IH; eauto.
Qed.
Lemma at_total h : forall mv h2 mv' h2', at_ h mv h2 -> at_ h mv' h2' ->
  me mv = me mv' \/ In (me mv) (evs h2') \/ In (me mv') (evs h2).
Proof.
  induction h as [|x h IH]; intros mv h2 mv' h2' A A'; [destruct A as ([|] & A); discriminate|].
  apply at_cons in A, A'. destruct A as [(-> & ->)|A], A' as [(-> & ->)|A']; auto.
  - right; right. apply (in_map me). eapply at_in; eauto.
  - subst. right; left. apply (in_map me). eapply at_in; eauto.
Qed.
Lemma at_not_in h mv h2 : NoDup (evs h) -> at_ h mv h2 -> ~ In (me mv) (evs h2).
Proof.
  intros N (h1 & ->). unfold evs in *. rewrite map_app in N. simpl in N. apply NoDup_remove_2 in N.
  intros H. apply N. apply in_app_iff. now right.
Qed.
End Lists.

Section Split.
Context {U : events} {K : searchable} (hw : hardware) {OK : hardware_ok hw} {SO : search_ok hw} (zero : bool)
  (P : program).
Variables (ini : ev -> Prop) (mem0 : nat -> value) (ctl : (ev -> Prop) -> Prop) (hope : class -> (ev -> Prop) -> Prop).
Hypothesis G : answers P ini mem0 ctl.
Notation reach := (reach hw zero ini mem0 ctl hope).
Notation step := (step hw zero ini ctl hope).
Notation steps := (steps hw zero ini ctl hope).
Variables (t : state) (m : ev).
Hypothesis Rt : reach t.
Hypotheses (Ct : cls t = Some (class_of m)) (Am : (rd_b m || wr_b m) = true) (Nm : noninit m) (Nd : ~ done ini t m).
Hypothesis Hctl : ctl (with_ ini t m).
Hypotheses (Hst : stored (sd t) m = false) (Hnic : cpu_b m = false -> nic_forces hw (sd t) m = false).
Notation h := (hist (th t)).

Definition final := {| E := with_ ini t m; rf := fun _ _ => False; mo := fun _ _ => False; nfo := fun _ _ => False |}.
Notation F := (without (E final) m).
Lemma F_iff x : F x <-> done ini t x.
Proof. unfold without; simpl. unfold with_. split; [tauto|]. intros H. split; [auto|]. intros ->. auto. Qed.
Lemma z_running : running P ini t.
Proof. eapply reach_running; eauto. Qed.
Lemma z_runF : runs P F.
Proof. eapply (a_ext P ini mem0 ctl G); [|apply (r_runs P ini t z_running)]. intros x. now rewrite F_iff. Qed.
Lemma m_poll : knd m <> Poll.
Proof. intros Q. unfold rd_b, wr_b in Am. rewrite Q in Am. discriminate. Qed.
Lemma z_run : runs P (E final).
Proof. apply (a_step P ini mem0 ctl G); auto using m_poll. apply z_running. Qed.
Lemma z_W : wfE F. Proof. exact (a_wf P ini mem0 ctl G _ z_runF). Qed.
Lemma z_X : wfx F. Proof. exact (a_wfx P ini mem0 ctl G _ z_runF). Qed.
Lemma z_WE : wfE (E final). Proof. exact (a_wf P ini mem0 ctl G _ z_run). Qed.
Lemma z_last : last (E final) m.
Proof.
  split; [now right|]. split; auto. intros b [Hb|<-] Po; [|eapply po_irr; eauto].
  apply F_iff in Hb. assert (F m) as (_ & Z) by (eapply wf_down; eauto using z_W). auto.
Qed.
Lemma z_nodup : NoDup (evs h). Proof. apply z_running. Qed.
Lemma z_ini i : ini i <-> F i /\ knd i = Init.
Proof.
  rewrite F_iff. split.
  - intros H. split; [now left|]. now apply (a_ini P ini mem0 ctl G).
  - intros ([H|H] & Q); auto. exfalso. now apply (r_noninit P ini t z_running i H).
Qed.
Lemma z_hist y : F y -> noninit y -> In y (evs h).
Proof. intros H N. apply F_iff in H. destruct H as [H|H]; auto. exfalso. apply N. now apply (a_ini P ini mem0 ctl G). Qed.
Lemma z_in y : In y (evs h) -> F y /\ noninit y.
Proof. intros H. split; [apply F_iff; now right|now apply (r_noninit P ini t z_running)]. Qed.

(* L: initial writes, then the order of the run *)
Definition bef a b := exists mv h2, at_ h mv h2 /\ me mv = b /\ In a (evs h2).
Definition L a b := (ini a /\ ini b /\ loc a < loc b) \/ (ini a /\ In b (evs h)) \/ bef a b.
Lemma bef_in a b : bef a b -> In a (evs h) /\ In b (evs h).
Proof.
  intros (mv & h2 & At & <- & H). split; [eapply at_evs; eauto|]. apply (in_map me). eapply at_in; eauto.
Qed.
Lemma ini_not a : ini a -> ~ In a (evs h).
Proof. intros H Z. apply z_in in Z. apply Z. now apply z_ini. Qed.
Lemma z_SL : sto F L.
Proof.
  split; [|split].
  - intros a [(_ & _ & H)|[(H & H')|(mv & h2 & At & <- & H)]]; [lia|exact (ini_not a H H')|].
    exact (at_not_in _ _ _ z_nodup At H).
  - intros a b c [(Ia & Ib & H)|[(Ia & Hb)|H]] [(Ib' & Ic & H')|[(Ib' & Hc)|H']].
    + left. repeat split; auto. lia.
    + right; left; auto.
    + exfalso. apply (ini_not b Ib). now apply bef_in in H'.
    + exfalso. exact (ini_not b Ib' Hb).
    + exfalso. exact (ini_not b Ib' Hb).
    + right; left. split; auto. now apply bef_in in H'.
    + exfalso. apply (ini_not b Ib'). now apply bef_in in H.
    + exfalso. apply (ini_not b Ib'). now apply bef_in in H.
    + right; right. destruct H as (mv & h2 & At & Q & Ha), H' as (mv' & h2' & At' & Q' & Hb).
      exists mv', h2'. split; auto. split; auto. destruct (in_evs_at _ _ Hb) as (mv3 & h3 & At3 & Q3).
      destruct (at_unique _ z_nodup _ _ _ _ At (at_trans _ _ _ _ _ At' At3)) as (_ & ->); [congruence|].
      eapply at_evs; eauto.
  - intros a b Fa Fb. destruct (classic (knd a = Init)) as [Ka|Ka], (classic (knd b = Init)) as [Kb|Kb].
    + assert (ini a /\ ini b) as (Ia & Ib) by (split; apply z_ini; auto).
      destruct (lt_eq_lt_dec (loc a) (loc b)) as [[Q|Q]|Q].
      * right; left; left; auto.
      * left. eapply (wf_init1 _ z_W); eauto.
      * right; right; left; auto.
    + right; left; right; left. split; [now apply z_ini|now apply z_hist].
    + right; right; right; left. split; [now apply z_ini|now apply z_hist].
    + destruct (in_evs_at _ _ (z_hist a Fa Ka)) as (ma & ha & Aa & Qa), (in_evs_at _ _ (z_hist b Fb Kb))
        as (mb & hb & Ab & Qb).
      destruct (at_total _ _ _ _ _ Aa Ab) as [Z|[Z|Z]]; [left; congruence| |].
      * right; left; right; right. exists mb, hb. subst; auto.
      * right; right; right; right. exists ma, ha. subst; auto.
Qed.
Lemma z_IL : initfirst F L.
Proof. intros i x Fi Fx Ki Nx. right; left. split; [now apply z_ini|now apply z_hist]. Qed.
Lemma z_along : along F L h.
Proof.
  intros mv h2 At. pose proof (in_map me _ _ (at_in _ _ _ At)) as Hi. destruct (z_in _ Hi) as (Fe & Ne).
  split; auto. split; auto. intros y. split.
  - intros Hy. destruct (z_in y (at_evs _ _ _ _ At Hy)) as (Fy & Ny). repeat split; auto; try apply Fy.
    right; right. exists mv, h2; auto.
  - intros (Fy & Ny & [(Iy & _)|[(Iy & _)|(mv' & h2' & At' & Q & Hy)]]).
    + exfalso. apply Ny. now apply z_ini.
    + exfalso. apply Ny. now apply z_ini.
    + now destruct (at_unique _ z_nodup _ _ _ _ At At') as (_ & ->).
Qed.

(* the states on the way *)
Lemma way_at s : steps s t -> forall mv h2, at_ (hist (th s)) mv h2 -> at_ h mv h2.
Proof.
  intros St mv h2 (h1 & Q). destruct (steps_hist _ _ _ _ _ _ _ St) as (h0 & ->). rewrite Q.
  exists (h0 ++ h1). now rewrite <- app_assoc.
Qed.
Lemma way_along s : steps s t -> along F L (hist (th s)).
Proof. intros St mv h2 At. apply z_along. eapply way_at; eauto. Qed.
Definition B x := inB h x.
Lemma z_flags : flags B h.
Proof.
  intros mv Hmv. unfold B. split.
  - intros Q. exists (mt mv). destruct mv; simpl in *; now subst.
  - intros (tt & Hm). destruct (in_at _ _ Hmv) as (h2 & At), (in_at _ _ Hm) as (h3 & At').
    now destruct (at_unique _ z_nodup _ _ _ _ At At' eq_refl) as (-> & _).
Qed.
Lemma way_flags s : steps s t -> flags B (hist (th s)).
Proof.
  intros St mv Hm. destruct (in_at _ _ Hm) as (h2 & At). apply z_flags. eapply at_in, way_at; eauto.
Qed.
Lemma B_in x : B x -> In x (evs h).
Proof. intros (tt & H). now apply (in_map me) in H. Qed.
Lemma z_BF b : B b -> F b /\ noninit b.
Proof. intros H. now apply z_in, B_in. Qed.
Lemma z_PL a b : F a -> F b -> po a b -> L a b.
Proof.
  intros Fa Fb Po. destruct (proj2 (proj2 z_SL) a b Fa Fb) as [->|[|H]]; auto; [destruct (po_irr _ Po)|].
  exfalso. destruct H as [(_ & Ia & _)|[(Ib & _)|(mv & h2 & At & Q & Hb)]].
  - apply (po_init_l _ _ Po). now apply z_ini.
  - apply (po_init_r _ _ Po). now apply z_ini.
  - destruct (met hw zero ini mem0 ctl hope t Rt _ _ At) as (s & s' & Rs & Hs & Ss & Q1 & Q2).
    pose proof (reach_running hw zero P ini mem0 ctl hope G s Rs) as Rn.
    assert (done ini s a) as Da.
    { eapply (wf_down _ (a_wf P ini mem0 ctl G _ (r_runs P ini s Rn))); eauto. right. now rewrite Q1. }
    destruct Da as [Ia|Ia]; [apply (po_init_l _ _ Po); now apply z_ini|].
    rewrite Q1 in Ia. rewrite <- Q in Ia. exact (at_not_in _ _ _ z_nodup At Ia).
Qed.

(* an event of alpha was not forced by what was in beta; an event of beta was, or is the start *)
Lemma met_alpha mv h2 : at_ h mv h2 -> mb mv = false -> exists s, reach s /\ steps s t /\ hist (th s) = h2 /\
  (forced hw s (me mv) = false \/ forall b, ~ inB h2 b).
Proof.
  intros At Q. destruct (met hw zero ini mem0 ctl hope t Rt _ _ At) as (s & s' & Rs & Hs & Ss & Q1 & Q2).
  exists s. split; [auto|]. split; [eapply steps_front; eauto|]. split; auto.
  pose proof (reach_tainting hw _ _ _ _ _ _ Rs) as Tn.
  inversion Hs; subst; simpl in Q2; injection Q2 as <-; simpl in *; try discriminate; auto.
  right. intros b (tt & Hb). destruct (n_none hw s Tn H _ Hb) as (Z & _). discriminate.
Qed.
Lemma met_beta mv h2 : at_ h mv h2 -> mb mv = true -> exists s, reach s /\ steps s t /\ hist (th s) = h2 /\
  ((exists c, cls s = None /\ can_start c (me mv) = true /\ steps (after_beta hw c (begun c s) (me mv)) t) \/
   (exists c, cls s = Some c /\ (knd (me mv) = Poll \/ forced hw s (me mv) = true) /\ cuts hw c (me mv) = false)).
Proof.
  intros At Q. destruct (met hw zero ini mem0 ctl hope t Rt _ _ At) as (s & s' & Rs & Hs & Ss & Q1 & Q2).
  exists s. split; [auto|]. split; [eapply steps_front; eauto|]. split; auto.
  inversion Hs; subst; simpl in Q2; injection Q2 as <-; simpl in *; try discriminate; [left|right]; eauto 8.
Qed.
Lemma way_cls s c : steps s t -> cls s = Some c -> c = class_of m.
Proof. intros St Q. apply (steps_cls _ _ _ _ _ _ _ _ St) in Q. congruence. Qed.
Lemma own_cpu b : B b -> cpu b -> thr b = thr m -> store hw b /\ ~ wr m /\ loc b <> loc m.
Proof.
  intros (tt & Hb) C T. destruct (in_at _ _ Hb) as (h2 & At).
  destruct (met_beta _ _ At eq_refl) as (s & Rs & Ss & Q & [(c & Cn & Cs & Sa)|(c & Cn & _ & Cu)]); simpl in *.
  - exfalso. assert (c = class_of m) as -> by (eapply way_cls; [exact Sa|reflexivity]).
    unfold can_start in Cs. apply cpu_iff in C. rewrite C in Cs. apply andb_true_iff in Cs. destruct Cs as (_ & Cs).
    simpl in Cs.
    apply negb_true_iff, orb_false_iff in Cs. destruct Cs as (Cs & _). unfold own in Cs. now apply Nat.eqb_neq in Cs.
  - rewrite (way_cls _ _ Ss Cn) in Cu. unfold cuts, own in Cu. apply cpu_iff in C. rewrite C in Cu. simpl in Cu.
    rewrite T, Nat.eqb_refl in Cu. simpl in Cu. rewrite !orb_false_iff, negb_false_iff in Cu. destruct Cu as ((Sb & Wm) & Lm).
    split; [now apply store_iff|]. split; [rewrite <- wr_iff; congruence|now apply Nat.eqb_neq].
Qed.
Lemma inB_at mv h2 b : at_ h mv h2 -> B b -> In b (evs h2) -> inB h2 b.
Proof.
  intros At Bb Hb. apply (inB_flags B); auto. eapply flags_at; eauto using z_flags.
Qed.
(* for an event of alpha *)
Lemma alpha_at a : F a -> noninit a -> ~ B a -> exists mv h2, at_ h mv h2 /\ me mv = a /\ mb mv = false.
Proof.
  intros Fa Na NB. destruct (in_evs_at _ _ (z_hist a Fa Na)) as (mv & h2 & At & Q). exists mv, h2. repeat split; auto.
  destruct (mb mv) eqn:Z; auto. destruct NB. rewrite <- Q. apply z_flags; auto. eapply at_in; eauto.
Qed.
Lemma z_R1F : R1 hw F B.
Proof.
  intros a b Fa Fb Bb O. apply NNPP; intros NB. pose proof (po_init_r _ _ (proj1 O)) as Na.
  destruct (alpha_at a Fa Na NB) as (mv & h2 & At & <- & Q).
  pose proof (inB_at _ _ b At Bb (pre_po_in F L z_W z_PL _ _ _ (z_along _ _ At) (proj1 O))) as Ib.
  destruct (met_alpha _ _ At Q) as (s & Rs & Ss & Q1 & [Fo|No]); [|exact (No b Ib)]. rewrite <- Q1 in Ib.
  pose proof (forces_F1 hw s (reach_meaning hw _ _ _ _ _ _ Rs) b (me mv) Ib O) as Z.
  unfold forced in Fo. now rewrite Z in Fo.
Qed.
(* what an event of A conflicts with in B comes later, but for reads that take a store of their own thread *)
Lemma met_conflict a b : F a -> F b -> ~ B a -> B b -> conflict a b -> L a b \/ exists mv h2 s, at_ h mv h2 /\ me mv = a /\
  reach s /\ steps s t /\ hist (th s) = h2 /\ takes_own s a = true.
Proof.
  intros Fa Fb NB Bb C. destruct (proj2 (proj2 z_SL) a b Fa Fb) as [->|[|Lba]]; auto; [tauto|right].
  destruct (z_BF b Bb) as (_ & Nb).
  assert (noninit a) as Na by (intros Ka; apply (l_asym F L z_SL _ _ Lba); apply z_IL; auto).
  destruct (alpha_at a Fa Na NB) as (mv & h2 & At & <- & Q).
  assert (In b (evs h2)) as Hb by (destruct (z_along _ _ At) as (_ & _ & Z); apply Z; auto).
  pose proof (inB_at _ _ b At Bb Hb) as Ib.
  destruct (met_alpha _ _ At Q) as (s & Rs & Ss & Q1 & [Fo|No]); [|destruct (No b Ib)]. exists mv, h2, s.
  repeat split; auto. rewrite <- Q1 in Ib. pose proof (reach_meaning hw _ _ _ _ _ _ Rs) as Ms.
  unfold forced in Fo. apply orb_false_iff in Fo. destruct Fo as (_ & Fo).
  assert (meets_marks (acc s) (me mv) = true) as Mm.
  { apply (forces_F4 hw s Ms). exists b. split; auto. destruct C as (C1 & C2 & C3 & C4 & _). repeat split; auto; tauto. }
  rewrite Mm in Fo. now destruct (takes_own s (me mv)).
Qed.
Lemma z_Cw a b : F a -> F b -> ~ B a -> B b -> wr a -> conflict a b -> L a b.
Proof.
  intros Fa Fb NB Bb Wa C. destruct (met_conflict a b Fa Fb NB Bb C) as [|(mv & h2 & s & _ & _ & _ & _ & _ & H)]; [auto|].
  exfalso. unfold takes_own in H. apply andb_true_iff in H. destruct H as (H & _). apply is_iff in H.
  unfold wr in Wa. now rewrite H in Wa.
Qed.
Lemma z_Cii a b : F a -> F b -> ~ B a -> B b -> conflict a b ->
  L a b \/ exists u, rf_in F L u a /\ Model.own hw u a /\ B u.
Proof.
  intros Fa Fb NB Bb C. destruct (met_conflict a b Fa Fb NB Bb C) as [|(mv & h2 & s & At & <- & Rs & Ss & Q & H)];
    [auto|right].
  apply (takes_own_rf hw F L B z_IL s (reach_meaning hw _ _ _ _ _ _ Rs) (way_along s Ss) (way_flags s Ss) z_Cw); auto.
  rewrite Q. exact (z_along _ _ At).
Qed.
Lemma fence_at w f : B w -> F f -> knd w = NLW -> knd f = NF -> po w f -> ~ B f ->
  exists mv h2, at_ h mv h2 /\ me mv = f /\ mb mv = false /\ inB h2 w.
Proof.
  intros Bw Ff Kw Kf Po NB. destruct (alpha_at f Ff (po_init_r _ _ Po) NB) as (mv & h2 & At & <- & Q).
  exists mv, h2. repeat split; auto. apply (inB_at _ _ w At Bw). exact (pre_po_in F L z_W z_PL _ _ _ (z_along _ _ At) Po).
Qed.
Lemma z_R1 : R1 hw (E final) B.
Proof.
  intros a b [Ha| ->] Eb Bb O.
  - apply (z_R1F a b); auto; [now apply F_iff|now apply z_BF].
  - exfalso. pose proof (reach_meaning hw _ _ _ _ _ _ Rt) as Mt. pose proof (po_thr _ _ (proj1 O)) as T.
    destruct (oppo_nic hw b m O) as [C|(Cb & Cm & Q & Tb)].
    + destruct (own_cpu b Bb C T) as (Sb & _). assert (stored (sd t) m = true); [|congruence].
      apply (stored_iff hw t m Mt). destruct O as (_ & NO & _). unfold overtaken in NO.
      split; [tauto|split; [tauto|split; [|exists b; auto]]].
      intros y Hy Cy NS Ty. now destruct (own_cpu y Hy Cy Ty).
    + apply cpu_not in Cm. specialize (Hnic Cm).
      assert (nic_forces hw (sd t) m = true); [|congruence].
      apply (nic_forces_iff hw t (reach_meaning hw _ _ _ _ _ _ Rt)). left. exists b. auto.
Qed.
Lemma z_R3 : R3 hw (E final) B.
Proof.
  intros Fl w f r Ew Ef Er Kw Kf Kr Q Q' Po Po' Bw NBf. apply NNPP; intros NBr.
  assert (F f) as Ff.
  { split; auto. intros ->. exact (proj2 (proj2 z_last) r Er Po'). }
  destruct (fence_at w f Bw Ff Kw Kf Po NBf) as (mf & hf & Af & Qf & Mf & Iw).
  assert (at_ h (Mv f false (mt mf)) hf) as Af' by (destruct mf; simpl in *; now subst).
  destruct (classic (r = m)) as [->|Nr].
  - assert (cpu_b m = false) as Cm by (unfold cpu_b; now rewrite Kr).
    specialize (Hnic Cm). assert (nic_forces hw (sd t) m = true); [|congruence].
    apply (nic_forces_iff hw t (reach_meaning hw _ _ _ _ _ _ Rt)). right. split; auto. split; auto.
    exists f, (mt mf), hf, w. repeat split; auto. congruence.
  - assert (F r) as Fr by (split; auto). destruct (alpha_at r Fr (po_init_r _ _ Po') NBr) as (mr & hr & Ar & <- & Mr).
    assert (In f (evs hr)) as Hf by (exact (pre_po_in F L z_W z_PL _ _ _ (z_along _ _ Ar) Po')).
    destruct (in_evs_at _ _ Hf) as (mf' & hf' & Af2 & Qf').
    destruct (at_unique _ z_nodup _ _ _ _ Af (at_trans _ _ _ _ _ Ar Af2)) as (<- & <-); [congruence|].
    destruct (met_alpha _ _ Ar Mr) as (s & Rs & Ss & Q1 & [Fo|No]).
    + unfold forced in Fo. rewrite (forces_F3 hw s (reach_meaning hw _ _ _ _ _ _ Rs) f (mt mf) hf w (me mr)) in Fo; auto.
      * discriminate.
      * rewrite Q1. destruct mf; simpl in *; now subst.
    + apply (No w). apply (inB_at _ _ w Ar Bw). eapply at_evs; eauto. destruct Iw as (tw & Iw).
      now apply (in_map me) in Iw.
Qed.
(* an nF of B is forced by F1 *)
Lemma z_fence f : B f -> knd f = NF -> exists b, B b /\ F b /\ oppo hw b f.
Proof.
  intros (tt & Hf) Kf. destruct (in_at _ _ Hf) as (h2 & At). pose proof (z_along _ _ At) as Pf. simpl in Pf.
  destruct (met_beta _ _ At eq_refl) as (s & Rs & Ss & Q & Hc); simpl in Hc.
  pose proof (reach_meaning hw _ _ _ _ _ _ Rs) as Ms.
  assert (forall b, inB h2 b -> B b /\ F b /\ noninit b /\ In b (evs h2)) as InB.
  { intros b (tb & Hb). assert (B b) as Bb by (exists tb; eapply at_in2; eauto). destruct (z_BF b Bb).
    repeat split; auto; try apply H.
    now apply (in_map me) in Hb. }
  assert (forced hw s f = true) as Fo.
  { destruct Hc as [(c & _ & Cs & _)|(c & _ & [Kp|Fo] & _)]; [|congruence|auto]. exfalso.
    unfold can_start, meets, rd_b, wr_b in Cs. rewrite Kf in Cs. discriminate. }
  assert (forall b, inB h2 b -> thr b = thr f -> po b f) as Po.
  { intros b Hb T. destruct (InB b Hb) as (_ & _ & _ & Ib). exact (pre_po F L z_W z_SL z_PL _ _ _ Pf Ib T). }
  unfold forced, oppo_forces in Fo. rewrite !orb_true_iff, !andb_true_iff in Fo. destruct Fo as [[[Fo|Fo]|(_ & Fo)]|(Fo & _)].
  - apply (m_cpub hw s Ms) in Fo. rewrite Q in Fo. destruct Fo as (b & Ib & C & NS & T).
    destruct (InB b Ib) as (Bb & Fb & Nb & Hb).
    exists b. split; auto. split; auto. apply cpu_oppo; auto using not_overtaken.
  - apply (stored_iff hw s f Ms) in Fo. rewrite Q in Fo. destruct Fo as (_ & _ & _ & b & Ib & Sb & T).
    destruct (InB b Ib) as (Bb & Fb & Nb & Hb).
    exists b. split; auto. split; auto. apply store_oppo; auto; congruence.
  - apply (nic_forces_iff hw s Ms) in Fo. destruct Fo as [(b & Ib & C & Qb & Tb)|(_ & Kr & _)]; [|congruence].
    rewrite Q in Ib. destruct (InB b Ib) as (Bb & Fb & Nb & Hb). exists b. split; auto. split; auto.
    split; [|split; [apply not_overtaken; intros Sb; apply C; now apply (store_cpu hw)|now rewrite Tb]].
    apply Po; auto. apply qp_thr; auto; try (rewrite Kf; simpl; intuition discriminate); congruence.
  - apply (forces_F4 hw s Ms) in Fo. destruct Fo as (b & _ & _ & A2 & _). unfold wr, rd in A2. rewrite Kf in A2.
    simpl in A2. tauto.
Qed.
Lemma z_parts : parts hw (E final) m L B.
Proof.
  constructor; auto using z_WE, z_last, z_SL, z_IL, z_PL, z_BF, z_R1, z_Cii.
  intros b Bb (Tb & Sb & Km). apply (own_cpu b Bb (store_cpu hw b Sb) Tb).
Qed.
End Split.
