(* The counters of the search are those of Corollary 4: unpolled completions, and those before the first forcing one. *)
Require Import List Arith Bool Lia Classical Relations.
Import ListNotations.
From RR Require Import Model Hardware Orders Cells Stores Rules Traces Search Marks Along Counted.

Section Counters.
Context {U : events} {K : searchable} (hw : hardware) {OK : hardware_ok hw} {SO : search_ok hw} (zero : bool).
Variables (F : ev -> Prop) (L : relation ev) (B : ev -> Prop).
Hypotheses (W : wfE F) (SL : sto F L) (IL : initfirst F L) (X : wfx F).
Hypothesis PL : forall a b, F a -> F b -> po a b -> L a b.
Hypothesis H1 : R1 hw F B.
(* an nF of B is there because an event of B is observed before it *)
Hypothesis HF : forall f, B f -> knd f = NF -> exists b, B b /\ F b /\ oppo hw b f.
Notation pre := (pre F L).
Notation along := (along F L).

Definition flags h := forall mv, In mv h -> (mb mv = true <-> B (me mv)).
Lemma inB_flags h e : flags h -> (inB h e <-> In e (evs h) /\ B e).
Proof.
  intros Fl; split.
  - intros (t & H). split; [now apply (in_map me) in H|]. now apply (Fl _ H).
  - intros (H & Be). apply in_map_iff in H. destruct H as (mv & <- & H). exists (mt mv).
    apply (Fl _ H) in Be. destruct mv; simpl in *; now subst.
Qed.
Lemma flags_at h mv h2 : flags h -> at_ h mv h2 -> flags h2.
Proof. intros Fl H y Hy. apply Fl. eapply at_in2; eauto. Qed.
Lemma along_at h mv h2 : along h -> at_ h mv h2 -> along h2.
Proof.
  intros A (h1 & ->) mv' h3 (h4 & ->). apply A. exists (h1 ++ mv :: h4). now rewrite <- app_assoc.
Qed.

Lemma nicw_facts w : nicw w -> noninit w /\ ~ cpu w /\ knd w <> Poll.
Proof. unfold nicw, noninit, cpu. destruct (knd w); simpl; try tauto; repeat split; auto; discriminate. Qed.
Lemma nic_thr a b : nicw a -> nicw b -> qp a = qp b -> thr a = thr b.
Proof. intros Na Nb. apply nicw_facts in Na, Nb. apply qp_thr; tauto. Qed.
Lemma forcing_nicw w : forcing hw F B w -> nicw w.
Proof. intros (_ & _ & [Q|(Q & _)]); unfold nicw; rewrite Q; simpl; auto. Qed.

(* no CPU event of a thread is in B so far, but stores that wait; none of the queue pair's thread *)
Definition alone (l : list ev) t := forall b, In b l -> B b -> cpu b -> ~ store hw b -> thr b <> t.
Definition open_ l q := forall w, nicw w -> qp w = q -> alone l (thr w).

Lemma alone_flags h t : flags h -> (alone_ hw h t <-> alone (evs h) t).
Proof.
  intros Fl. split.
  - intros A b Hb Bb. apply A. now apply (inB_flags h b Fl).
  - intros A b Hb. apply (inB_flags h b Fl) in Hb. now apply A.
Qed.
Lemma alone_at h mv h2 t : at_ h mv h2 -> alone (evs h) t -> alone (evs h2) t.
Proof.
  intros (h1 & ->) A b Hb. apply A. unfold evs. rewrite map_app. apply in_app_iff. right; now right.
Qed.

Lemma oppo_nic b e : oppo hw b e -> cpu b \/ (~ cpu b /\ ~ cpu e /\ qp b = qp e /\ table hw (knd b) (knd e) = Qp).
Proof.
  intros (P & _ & H). unfold cpu. pose proof (po_init_l _ _ P) as Nb. pose proof (po_init_r _ _ P) as Ne.
  destruct (classic (is_cpu (knd b))) as [C|C]; [auto|right]. split; [auto|].
  assert (nic_kind (knd b) = true) as Kb by (destruct (knd b); simpl in *; auto; try congruence; tauto).
  assert (~ is_cpu (knd e)) as Ce.
  { intros Ce. pose proof (nic_cpu _ _ Kb Ce) as Z. unfold seen in Z. destruct (table hw (knd b) (knd e));
      try discriminate; auto. }
  assert (nic_kind (knd e) = true) as Ke by (destruct (knd e); simpl in *; auto; try congruence; tauto).
  pose proof (nic_not_all hw _ _ Kb Ke) as N. destruct (table hw (knd b) (knd e)); tauto.
Qed.

(* An nF of B that no CPU event but a store has forced comes after an nlR or an nlW of B, or a store: so Rules.forces_poll
   need not ask for it. *)
Lemma fence_cause h : along h -> forall x, In x (evs h) -> B x -> knd x = NF -> alone (evs h) (thr x) ->
  exists g, In g (evs h) /\ B g /\ po g x /\ ((qp g = qp x /\ (knd g = NLR \/ knd g = NLW)) \/ store hw g).
Proof.
  induction h as [|mv h IH]; intros A x Hx Bx Kx Al; [destruct Hx|].
  apply along_cons in A. destruct A as (A & P).
  assert (forall y, In y (evs h) -> B y -> knd y = NF -> thr y = thr x -> exists g, In g (evs h) /\ B g /\ po g y /\
    ((qp g = qp y /\ (knd g = NLR \/ knd g = NLW)) \/ store hw g)) as IH2.
  { intros y Hy By Ky Q. apply (IH A); auto. rewrite Q. intros b Hb. apply Al. now right. }
  destruct Hx as [<-|Hx].
  - destruct (HF _ Bx Kx) as (b & Bb & Fb & O). pose proof (proj1 O) as Po.
    assert (In b (evs h)) as Hb by (eapply pre_po_in; eauto).
    destruct (oppo_nic _ _ O) as [C|(Cb & _ & Q & Tb)].
    { destruct (classic (store hw b)) as [Sb|NS]; [exists b; split; [now right|auto]|].
      exfalso. apply (Al b); auto; [now right|]. now apply po_thr. }
    pose proof (po_init_l _ _ Po) as Nb. destruct (knd b) eqn:Kb; try congruence; try (exfalso; apply Cb; unfold cpu;
      rewrite Kb; exact I).
    + exists b. repeat split; auto. now right.
    + exfalso. pose proof nrw_fence as Z. unfold seen in Z. rewrite Kx in Tb. now rewrite Tb in Z.
    + pose proof P as (Fm & _). destruct (x_get _ X b (me mv) Fm) as (w & C & Hw); [tauto|auto|].
      destruct (carry_ok _ _ C) as (Pw & Qw & [(Z & _)|(_ & Kw)]); [congruence|].
      destruct Hw as [->|Hw]; [congruence|].
      assert (F w) as Fw by (eapply wf_down; eauto).
      exists w. split; [right; eapply pre_po_in; eauto|]. split; [|split; [auto|left; split; [congruence|auto]]].
      apply (H1 w b); auto. now apply (carry_oppo hw).
    + exists b. repeat split; auto. now right.
    + destruct (IH2 b Hb Bb Kb (po_thr _ _ Po)) as (g & Hg & Bg & Pg & Kg).
      exists g. split; [now right|]. split; [auto|split; [eapply po_trans; eauto|]].
      destruct Kg as [(Qg & Kg)|Kg]; [left; split; [congruence|auto]|auto].
  - destruct (IH2 x Hx Bx Kx eq_refl) as (g & Hg & G). exists g. split; [now right|auto].
Qed.

(* the flag forced[qp], and what Rules.forces_poll asks *)
Lemma forcing_behind h e : along h -> flags h -> pre (evs h) e -> B e -> knd e = NRW -> behind hw h e -> forcing hw F B e.
Proof.
  intros A Fl P Be Ke (x & Hx & Kx). pose proof P as (Fe & _ & _). split; [auto|split; [auto|right]]. split; auto. exists x.
  apply (inB_flags _ _ Fl) in Hx. destruct Hx as (Hx & Bx). destruct (along_in F L h x A Hx) as (Fx & Nx).
  assert (thr x = thr e) as T.
  { destruct Kx as [(Kx & Qx)|(_ & T & _)]; [|auto].
    apply qp_thr; auto; unfold cpu; rewrite ?Kx, ?Ke; simpl; auto; discriminate. }
  split; [auto|split; [auto|split; [eapply pre_po; eauto|]]]. tauto.
Qed.
(* what stands before an nrW of B and makes it forcing leaves a mark, or a forcing nlW does *)
Lemma behind_forcing h e : along h -> flags h -> pre (evs h) e -> alone (evs h) (thr e) -> knd e = NRW -> forcing hw F B e ->
  behind hw h e \/ exists g, In g (evs h) /\ B g /\ knd g = NLW /\ qp g = qp e.
Proof.
  intros A Fl P Al Ke (_ & _ & [Z|(_ & x & Fx & Bx & Px & Kx)]); [congruence|].
  assert (forall y, In y (evs h) -> B y -> inB h y) as Hin by (intros; apply (inB_flags h); auto).
  assert (forall y, po y e -> B y -> store hw y -> behind hw h e) as St.
  { intros y Py By Sy. exists y. split; [apply Hin; auto; eapply pre_po_in; eauto|right]. split; auto.
    split; [now apply po_thr|]. now apply (alone_flags h _ Fl). }
  destruct Kx as [Sx|([Kx|Kx] & Qx)]; [left; now apply (St x)| |].
  - left. exists x. split; [apply Hin; auto; eapply pre_po_in; eauto|auto].
  - destruct (fence_cause h A x) as (g & Hg & Bg & Pg & Kg); auto; [eapply pre_po_in; eauto|now rewrite (po_thr _ _ Px)|].
    destruct Kg as [(Qg & [Kg|Kg])|Sg].
    + left. exists g. split; [now apply Hin|left; split; [auto|congruence]].
    + right. exists g. repeat split; auto. congruence.
    + left. apply (St g); auto. eapply po_trans; eauto.
Qed.
Lemma forcing_at_forcing h w h2 : along h -> flags h -> forcing_at hw h w h2 -> In w (evs h) /\ forcing hw F B w.
Proof.
  intros A Fl (t & H & Kw). pose proof (at_in _ _ _ H) as Hi. split; [now apply (in_map me) in Hi|].
  pose proof (A _ _ H) as P. pose proof P as (Fw & _). assert (B w) as Bw by (now apply (Fl _ Hi)).
  destruct Kw as [Kw|(Kw & Z)]; [split; auto|].
  eapply (forcing_behind h2 w); eauto using along_at, flags_at.
Qed.
Lemma forcing_forcing_at h w : along h -> flags h -> In w (evs h) -> forcing hw F B w -> alone (evs h) (thr w) ->
  exists w' h2, forcing_at hw h w' h2 /\ qp w' = qp w.
Proof.
  intros A Fl Hw Fw Al. assert (forall y, In y (evs h) -> B y -> exists t h2, at_ h (Mv y true t) h2) as At.
  { intros y Hy By. apply in_map_iff in Hy. destruct Hy as (mv & <- & Hy). destruct (in_at _ _ Hy) as (h2 & At).
    exists (mt mv), h2. apply (Fl _ Hy) in By. destruct mv; simpl in *; now subst. }
  pose proof Fw as (_ & Bw & Kw). destruct (At w Hw Bw) as (t & h2 & Aw).
  destruct Kw as [Kw|(Kw & _)]; [exists w, h2; split; [exists t; auto|auto]|].
  destruct (behind_forcing h2 w) as [Z|(g & Hg & Bg & Kg & Qg)]; eauto using along_at, flags_at, alone_at.
  - exact (A _ _ Aw).
  - exists w, h2. split; [exists t; auto|auto].
  - destruct (At g) as (t' & h3 & Ag); [|auto|exists g, h3; split; [exists t'; auto|auto]].
    destruct Aw as (h1 & ->). unfold evs. rewrite map_app. apply in_app_iff. right; now right.
Qed.
Lemma fod_iff s q : meaning hw s -> along (hist (th s)) -> flags (hist (th s)) -> open_ (evs (hist (th s))) q ->
  (fod (sd s) q = true <-> exists w, In w (evs (hist (th s))) /\ forcing hw F B w /\ qp w = q).
Proof.
  intros M A Fl O. rewrite (m_fod hw s M). split.
  - intros (w & h2 & H & Q). exists w. destruct (forcing_at_forcing _ _ _ A Fl H). auto.
  - intros (w & H & Fw & Q). destruct (forcing_forcing_at _ w A Fl H Fw) as (w' & h2 & H' & Q').
    + apply O; [now apply forcing_nicw|auto].
    + exists w', h2. split; [auto|congruence].
Qed.
Lemma forces_forcing s e : meaning hw s -> along (hist (th s)) -> flags (hist (th s)) -> pre (evs (hist (th s))) e ->
  nicw e -> B e ->
  open_ (evs (hist (th s))) (qp e) ->
  (forces (sd s) e = true <-> forcing hw F B e \/ exists w, In w (evs (hist (th s))) /\ forcing hw F B w /\ qp w = qp e).
Proof.
  intros M A Fl P Ne Be O. rewrite (forces_iff hw s e M). pose proof (fod_iff s (qp e) M A Fl O) as Fo.
  pose proof P as (Fe & _).
  assert (knd e = NLW \/ knd e = NRW) as [Ke|Ke] by (unfold nicw in Ne; destruct (knd e); simpl in Ne; tauto).
  - split; [|auto]. intros _. left. split; auto.
  - split.
    + intros [Z|(_ & [Z|Z])]; [congruence|right; now apply Fo|left; eapply forcing_behind; eauto].
    + intros [Z|Z]; right; (split; [auto|]); [|left; now apply Fo].
      destruct (behind_forcing _ e A Fl P (O e Ne eq_refl) Ke Z) as [Y|(g & Hg & Bg & Kg & Qg)]; [auto|left].
      apply Fo. exists g. split; [auto|]. split; [|auto]. destruct (along_in F L _ g A Hg) as (Fg & _). split; auto.
Qed.

(* completions that no poll has taken yet *)
Definition unpolled l q w := In w l /\ sgn w = true /\ qp w = q /\ forall p, In p l -> ~ pf w p.
Definition early l q w := unpolled l q w /\ forall w0, In w0 l -> forcing hw F B w0 -> qp w0 = q -> po w w0.
Record counting (h : list move) (c : counts) : Prop := {
  c_unp : forall q, counted (unp c q) (unpolled (evs h) q);
  c_ear : forall q, open_ (evs h) q -> counted (ear c q) (early (evs h) q);
}.

Lemma counting_start : counting [] (Cnt (fun _ => 0) (fun _ => 0)).
Proof.
  constructor; simpl; intros; apply counted_none; intros w Z; [destruct Z as ([] & _)|destruct Z as (([] & _) & _)].
Qed.

Section Step.
Variables (s : state) (e : ev) (b t : bool).
Hypotheses (M : meaning hw s) (A : along (hist (th s))) (Fl : flags (hist (th s))) (P : pre (evs (hist (th s))) e).
Hypothesis C : counting (hist (th s)) (cn s).
Let l := evs (hist (th s)).

Lemma unpolled_other q w : knd e <> Poll -> (unpolled (e :: l) q w <-> (w = e /\ sgn e = true /\
  qp e = q) \/ unpolled l q w).
Proof.
  intros N. unfold unpolled. split.
  - intros ([<-|H] & Sg & Q & Hp); [left; auto|right; repeat split; auto]. intros p Hp'. apply Hp; now right.
  - intros [(-> & Sg & Q)|(H & Sg & Q & Hp)].
    + repeat split; auto; [now left|]. intros p [<-|Hp] Z; destruct (pf_ok _ _ Z) as (Y & _ & Kp & _).
      * now apply N.
      * eapply pre_not_po; eauto.
    + repeat split; auto; [now right|]. intros p [<-|Hp'] Z; [|eapply Hp; eauto].
      destruct (pf_ok _ _ Z) as (_ & _ & Kp & _). now apply N.
Qed.
Lemma forcing_in w : nicw w -> In w l -> nicw e -> qp w = qp e -> po w e.
Proof. intros. eapply pre_po; eauto. now apply nic_thr. Qed.
Lemma early_other q w : knd e <> Poll -> w <> e -> (early (e :: l) q w <-> early l q w).
Proof.
  intros N Nw. unfold early. rewrite unpolled_other; auto. split.
  - intros ([(H & _)|H] & Hf); [congruence|split; auto]. intros w0 H0. apply Hf; now right.
  - intros (H & Hf). split; [auto|]. intros w0 [<-|H0] Fw Q; [|now apply Hf].
    destruct H as (H & Sg & Q' & _). apply forcing_in; auto; [|now apply forcing_nicw|congruence].
    unfold nicw. now apply sgn_nicw.
Qed.
Lemma early_self q : sgn e = true -> qp e = q -> ~ B e \/ ~ forcing hw F B e ->
  (early (e :: l) q e <-> ~ exists w, In w l /\ forcing hw F B w /\ qp w = q).
Proof.
  intros Sg Q Nf. assert (nicw e) as Ne by (now apply sgn_nicw). split.
  - intros (_ & Hf) (w & H & Fw & Qw). apply (po_irr e). eapply po_trans; [apply Hf|apply (forcing_in w)]; auto.
    + now right.
    + now apply forcing_nicw.
    + congruence.
  - intros H. split.
    + rewrite unpolled_other; [tauto|]. now apply nicw_facts.
    + intros w0 [<-|H0] Fw Qw; [|destruct H; eauto]. exfalso. destruct Nf as [Nf|Nf]; [apply Nf, Fw|auto].
Qed.

(* not a poll: a completion, or nothing to count *)
Lemma counting_other late : knd e <> Poll -> (sgn e = true -> open_ (e :: l) (qp e) ->
  (late = true <-> ~ early (e :: l) (qp e) e)) ->
  counting (Mv e b t :: hist (th s)) (completion (cn s) e late).
Proof.
  intros N Hl.
  assert (forall q, open_ (e :: l) q -> open_ l q) as Op by (intros q H w Nw Qw p Hp; apply (H w Nw Qw); now right).
  assert (~ In e l) as Ni by (eapply pre_not; eauto).
  unfold completion. destruct (sgn e) eqn:Sg.
  - constructor; simpl; fold l; intros q.
    + unfold updq. destruct (qp_dec q (qp e)) as [->|Nq].
      * apply counted_add with (unpolled l (qp e)) e; [apply C|intros (H & _); auto|].
        intros w. rewrite unpolled_other; auto. rewrite Sg. tauto.
      * eapply counted_ext; [apply C|]. intros w. rewrite unpolled_other; auto. intuition congruence.
    + intros O. pose proof (c_ear _ _ C q (Op q O)) as Ce. fold l in Ce.
      destruct late.
      * eapply counted_ext; [exact Ce|]. intros w. destruct (classic (w = e)) as [->|Nw]; [|now rewrite early_other].
        destruct (qp_dec q (qp e)) as [->|Nq]; [|split; intros ((Q & Q') & _); [tauto|destruct Q' as (_ & Q' & _);
          congruence]].
        split; [intros ((H & _) & _); tauto|]. intros H. now apply (proj1 (Hl eq_refl O)) in H.
      * unfold updq. destruct (qp_dec q (qp e)) as [->|Nq].
        -- apply counted_add with (early l (qp e)) e; [exact Ce|intros ((H & _) & _); auto|].
           intros w. destruct (classic (w = e)) as [->|Nw].
           ++ split; [auto|]. intros _. apply NNPP. intros Z. apply (Hl eq_refl O) in Z. discriminate.
           ++ rewrite early_other; auto. tauto.
        -- eapply counted_ext; [exact Ce|]. intros w. destruct (classic (w = e)) as [->|Nw]; [|now rewrite early_other].
           split; intros ((Q & Q') & _); [tauto|destruct Q' as (_ & Q' & _); congruence].
  - constructor; simpl; fold l; intros q.
    + eapply counted_ext; [apply C|]. intros w. rewrite unpolled_other; auto. rewrite Sg. intuition discriminate.
    + intros O. eapply counted_ext; [apply (c_ear _ _ C q (Op q O))|]. intros w.
      destruct (classic (w = e)) as [->|Nw]; [|now rewrite early_other].
      split; intros ((Q & Q') & _); [tauto|destruct Q' as (Q' & _); congruence].
Qed.
Lemma not_sgn : ~ nicw e -> sgn e = false.
Proof. intros N. destruct (sgn e) eqn:Q; auto. destruct N. now apply sgn_nicw. Qed.
Lemma counting_alpha_other : ~ B e -> knd e <> Poll -> counting (Mv e b t :: hist (th s)) (counts_alpha (cn s) (sd s) e).
Proof.
  intros NB N. unfold counts_alpha. replace (is Poll e) with false by (symmetry; unfold is;
    destruct (kind_dec (knd e) Poll); congruence).
  apply counting_other; auto. intros Sg O. rewrite (fod_iff s (qp e) M A Fl), early_self; auto; [fold l; tauto|].
  intros w Nw Qw b' Hb. apply (O w Nw Qw). now right.
Qed.
Lemma counting_beta_other : B e -> knd e <> Poll -> counting (Mv e b t :: hist (th s)) (counts_beta (cn s) (sd s) e).
Proof.
  intros Be N. unfold counts_beta. replace (is Poll e) with false by (symmetry; unfold is;
    destruct (kind_dec (knd e) Poll); congruence).
  apply counting_other; auto. intros Sg O.
  assert (nicw e) as Ne by (now apply sgn_nicw).
  rewrite (forces_forcing s e M A Fl P Ne Be) by (intros w Nw Qw b' Hb; apply (O w Nw Qw); now right). fold l.
  destruct (classic (forcing hw F B e)) as [Fe|NFe].
  - split; [|auto]. intros _ (_ & Hf). apply (po_irr e). apply Hf; auto. now left.
  - rewrite early_self; auto. tauto.
Qed.

(* a poll *)
Section Poll.
Hypothesis Kp : knd e = Poll.
Variable w : ev.
Hypotheses (Sw : sgn w = true) (Pw : pf w e).
Lemma polled_unp : unpolled l (qp e) w.
Proof.
  pose proof (pf_ok _ _ Pw) as (Pwe & Nw & _ & Qw). repeat split; auto.
  - eapply pre_po_in; eauto.
  - intros p Hp Z. destruct (along_in F L _ _ A Hp) as (Fp & _). pose proof P as (Fe & _).
    rewrite (x_pf _ X w p e Sw Fp Fe Z Pw) in Hp. eapply pre_not; eauto.
Qed.
Lemma unpolled_poll q a : unpolled (e :: l) q a <-> unpolled l q a /\ a <> w.
Proof.
  unfold unpolled; split.
  - intros ([<-|H] & Sg & Q & Hp).
    + exfalso. apply sgn_nicw in Sg. rewrite Kp in Sg. contradiction.
    + split; [repeat split; auto; intros p Hp'; apply Hp; now right|]. intros ->. apply (Hp e); [now left|auto].
  - intros ((H & Sg & Q & Hp) & N). repeat split; auto; [now right|]. intros p [<-|Hp'] Z; [|eapply Hp; eauto].
    apply N. eapply pf_one; eauto.
Qed.
Lemma early_poll q a : early (e :: l) q a <-> early l q a /\ a <> w.
Proof.
  unfold early. rewrite unpolled_poll. split.
  - intros ((H & N) & Hf). split; [split; auto|auto]. intros w0 H0. apply Hf. now right.
  - intros ((H & Hf) & N). split; [auto|]. intros w0 [<-|H0] Fw; [|now apply Hf].
    apply forcing_nicw in Fw. unfold nicw in Fw. rewrite Kp in Fw. contradiction.
Qed.
Lemma other_qp q : q <> qp e -> (forall a, unpolled (e :: l) q a <-> unpolled l q a) /\
  (forall a, early (e :: l) q a <-> early l q a).
Proof.
  intros N. assert (forall a, unpolled l q a -> a <> w) as Z.
  { intros a (_ & _ & Q & _) ->. destruct (pf_ok _ _ Pw) as (_ & _ & _ & Q'). congruence. }
  split; intros a; [rewrite unpolled_poll|rewrite early_poll]; split; try tauto; intros H; split; auto; apply Z; auto.
  apply H.
Qed.
Lemma unp_pos : unp (cn s) (qp e) > 0 /\ counted (pred (unp (cn s) (qp e))) (unpolled (e :: l) (qp e)).
Proof. apply counted_remove with (unpolled l (qp e)) w; [apply C|apply polled_unp|apply unpolled_poll]. Qed.
Lemma unp_after q : counted (updq (unp (cn s)) (qp e) (pred (unp (cn s) (qp e))) q) (unpolled (e :: l) q).
Proof.
  unfold updq. destruct (qp_dec q (qp e)) as [->|N]; [apply unp_pos|].
  eapply counted_ext; [apply C|]. intros a. symmetry. now apply other_qp.
Qed.
Lemma poll_alone : alone l (thr e) -> open_ l (qp e).
Proof.
  intros Al w0 Nw0 Q0. pose proof (pf_ok _ _ Pw) as (Y & Nw & _ & Q). rewrite (nic_thr w0 w); auto; [|congruence].
  now rewrite (po_thr _ _ Y).
Qed.
Lemma open_alpha : ~ B e -> open_ l (qp e).
Proof.
  intros NB. apply poll_alone. intros b0 Hb Bb Cb Sb Q. apply NB. destruct (along_in F L _ _ A Hb) as (Fb & _).
  pose proof P as (Fe & Ne & _). apply (H1 e b0); auto. apply cpu_oppo; auto using not_overtaken. eapply pre_po; eauto.
Qed.
(* with R2, or where there is an early completion, the one that the poll takes is early *)
Lemma early_R2 : ~ B e -> R2 hw F B -> early l (qp e) w.
Proof.
  intros NB H2. split; [apply polled_unp|]. intros w0 H0 Fw Q. pose proof P as (Fe & _).
  apply (proj1 (corollary_4 hw F B W H1) H2 w e w0); auto. destruct (pf_ok _ _ Pw) as (_ & _ & _ & Q'). congruence.
Qed.
Lemma early_first : ~ B e -> ear (cn s) (qp e) > 0 -> early l (qp e) w.
Proof.
  intros NB Z. destruct (counted_pos _ _ (c_ear _ _ C _ (open_alpha NB)) Z) as (a & (Ha & Sa & Qa & Hp) & Hf).
  destruct (classic (a = w)) as [->|Na]; [split; auto; apply polled_unp|].
  pose proof P as (Fe & _). pose proof (pf_ok _ _ Pw) as (_ & Nw & _ & Qw).
  assert (nicw a) as Nca by (now apply sgn_nicw). pose proof polled_unp as (Iw & _).
  destruct (along_in F L _ _ A Ha) as (Fa & _), (along_in F L _ _ A Iw) as (Fw & _).
  destruct (wf_total _ W a w) as [|[Po|Po]]; auto; try (now apply nicw_facts); [apply nic_thr; auto;
    congruence|congruence| |].
  - exfalso. destruct (wf_older _ W w e a Fe Pw Nca) as (p' & Z1 & [->|Z2]); auto; [congruence| |].
    + apply Na. eapply pf_one; eauto.
    + apply (Hp p'); auto. eapply pre_po_in; eauto.
  - split; [apply polled_unp|]. intros w0 H0 Fw0 Q. eapply po_trans; [exact Po|now apply Hf].
Qed.
Lemma counting_alpha_early : ~ B e -> early l (qp e) w ->
  poll_alpha s e /\ counting (Mv e b t :: hist (th s)) (counts_alpha (cn s) (sd s) e).
Proof.
  intros NB Ew. pose proof (open_alpha NB) as O. pose proof P as (Fe & _).
  destruct (counted_remove _ _ (early (e :: l) (qp e)) w (c_ear _ _ C _ O) Ew (early_poll (qp e))) as (Z & Y).
  split; [intros _; split; [apply unp_pos|auto]|]. unfold counts_alpha. rewrite (proj2 (is_iff Poll e) Kp).
  constructor; simpl; fold l; [apply unp_after|]. intros q Oq. unfold updq. destruct (qp_dec q (qp e)) as [->|N]; [auto|].
  eapply counted_ext; [apply C|]; [|intros a; symmetry; now apply other_qp]. intros w0 Nw Qw p Hp. apply (Oq w0 Nw Qw).
  now right.
Qed.
Lemma counting_alpha_poll : ~ B e -> R2 hw F B ->
  poll_alpha s e /\ counting (Mv e b t :: hist (th s)) (counts_alpha (cn s) (sd s) e).
Proof. intros NB H2. apply counting_alpha_early; auto. now apply early_R2. Qed.
Lemma counting_beta_poll : B e -> counting (Mv e b t :: hist (th s)) (counts_beta (cn s) (sd s) e).
Proof.
  intros Be. unfold counts_beta. rewrite (proj2 (is_iff Poll e) Kp).
  constructor; simpl; fold l; [apply unp_after|]. intros q Oq.
  assert (q <> qp e) as N.
  { intros ->. pose proof (pf_ok _ _ Pw) as (Y & Nw & _ & Q).
    apply (Oq w Nw Q e); [now left|auto|unfold cpu; rewrite Kp; exact I|apply no_store; congruence|].
    symmetry. now apply po_thr. }
  eapply counted_ext; [apply C|]; [|intros a; symmetry; now apply other_qp]. intros w0 Nw Qw p Hp. apply (Oq w0 Nw Qw).
  now right.
Qed.
(* a poll that takes a forcing completion finds no early one *)
Lemma zero_beta wf : forcing hw F B wf -> pf wf e -> open_ l (qp e) -> ear (cn s) (qp e) = 0.
Proof.
  intros Fw Pf O. apply (counted_zero _ _ (c_ear _ _ C _ O)). intros a ((Ha & Sa & Qa & Hp) & Hf).
  pose proof P as (Fe & _). pose proof (pf_ok _ _ Pf) as (Y & N & _ & Q).
  assert (po a wf) as Pa by (apply Hf; auto; eapply pre_po_in; eauto).
  destruct (wf_older _ W wf e a Fe Pf) as (p' & Z & Z'); auto; [now apply sgn_nicw|congruence|].
  destruct Z' as [->|Z'].
  - destruct (x_sgn _ X wf e Fe Pf) as (w' & Sw' & Pw' & Q'). assert (a = w') as -> by (eapply pf_one; eauto).
    destruct Q' as [->|Q']; [eapply po_irr; eauto|]. eapply po_irr, po_trans; eauto.
  - apply (Hp p'); auto. eapply pre_po_in; eauto.
Qed.
End Poll.
End Step.
End Counters.
