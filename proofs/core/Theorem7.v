(* Theorem 5: there is a violating trace in normal form.  Theorem 7: its split is determined by L, m and s. *)
Require Import List Arith Lia Classical Relations Setoid.
From RR Require Import Model Hardware Orders Cells Stores Rules Traces Lemma2 Parts Lemma6.

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

(* The least beta.  F4 leaves out a read whose L-last write is a store of its own thread (rule T2): it takes that store from
   the buffer, if an event of beta conflicts with it, for then that store is in beta. *)
Inductive beta (s : ev) : ev -> Prop :=
| beta_s : beta s s
| beta_F1 b x : beta s b -> E' x -> oppo hw b x -> beta s x
| beta_F2 w x : beta s w -> E' x -> pf w x -> knd w = NLW -> beta s x
| beta_F2' e w x : beta s w -> E' x -> pf w x -> knd w = NRW -> beta s e -> po e w ->
    store hw e \/ ((knd e = NLR \/ knd e = NF) /\ qp e = qp w) -> beta s x
| beta_F3 w f x : flush hw = true -> beta s w -> E' f -> E' x -> knd w = NLW -> knd f = NF -> knd x = NLR ->
    qp w = qp f -> qp f = qp x -> po w f -> po f x -> beta s x
| beta_F4 b x : beta s b -> E' x -> conflict b x -> L b x -> (forall u, rf_in E' L u x -> ~ own hw u x) -> beta s x.
End Definitions.

Section Theorem7.
Context {U : events} {hw : hardware} {OK : hardware_ok hw} {P : program} {T : trace} {m : ev} {tau : relation ev}.
Context {Piv : pivot hw P T m tau}.
Notation E' := (without (E T) m).
Notation T' := (T' hw T m tau).
Notation B0 := (B0 T m tau).

Let V : violating hw P T := pv_violating.
Let M : maximal hw T m := pv_maximal.
Let S : sto (E T) tau := pv_total.
Let Hob : forall a b, ob1 hw T a b -> tau a b := pv_ob.
Let W : wfE (E T) := WE.
Let Em : E T m := Lemma2.Em.
Let trans a b c : tau a b -> tau b c -> tau a c. Proof. apply S. Qed.
Let irr a : ~ tau a a. Proof. apply S. Qed.

Lemma m_edge e : sc1 T m e -> e <> m -> conflict m e /\ E' e /\ tau m e.
Proof.
  intros H N.
  assert (forall x y, wr x \/ rd x -> wr y \/ rd y -> wr x \/ wr y -> loc x = loc y -> E T y -> x <> y -> y <> m ->
    conflict x y /\ E' y) as K by (intros; split; [apply conflict_intro; tauto|split; auto]).
  destruct H as [(_ & Ee & H)|H|R|H].
  - destruct (m_last e Ee H).
  - destruct (t_rf _ WT _ _ H) as (_ & Ee & Ww & Rr & Lo). destruct (K m e) as (C & Ee'); auto. split; [auto|split; auto].
    now apply rf_m.
  - pose proof (tau_rb _ _ R). destruct R as (Ne & u & Hu & Mo). destruct (t_rf _ WT _ _ Hu) as (_ & _ & Ww & Rr & Lo).
    destruct (t_mo _ WT _ _ Mo) as (_ & Ee & _ & We & Le). destruct (K m e) as (C & Ee'); auto; congruence.
  - pose proof (tau_mo _ _ H). destruct (t_mo _ WT _ _ H) as (_ & Ee & Ww & We & Lo). destruct (K m e) as (C & Ee'); auto.
Qed.
Lemma sc1_irr a : ~ sc1 T a a.
Proof.
  intros [(_ & _ & H)|H|(N & _)|H].
  - eapply po_irr; eauto.
  - destruct (t_rf _ WT _ _ H) as (Ea & _ & _ & R & _). apply (proj1 (proj2 V) a).
    apply t_step, ob_ib; [now apply rd_inst|]. apply t_step. now apply ib_rf.
  - auto.
  - exact (t_mo_irr _ WT _ H).
Qed.
Lemma sc_cycle L : sc_order_of T' L -> exists e x, cycle_at T m e x.
Proof.
  intros [SL _ HL]. apply cycle_through.
  - exact sc1_irr.
  - intros a H. apply (proj1 SL a). eapply (forward_trans _ L); [apply SL| |exact H].
    intros x y (K & Nx & Ny). apply HL. now apply lemma_2_3.
  - destruct V as (_ & _ & N). apply NNPP; intro K. apply N. intros a H. apply K. eauto.
Qed.

(* The split at m in tau *)
Lemma in_E' a : E T a -> tau m a -> E' a.
Proof. intros Ea H. split; auto. intros ->. exact (irr _ H). Qed.
Lemma B0_R1 : R1 hw (E T) B0.
Proof.
  intros a b Ea Eb (Eb' & H) O.
  assert (tau m a) as X by (eapply trans; [exact H|]; apply Hob, ob_oppo; repeat split; auto; apply O).
  split; [now apply in_E'|auto].
Qed.
Lemma B0_forcing (B : ev -> Prop) w p : (forall x, B x -> B0 x) -> E T p -> pf w p -> forcing hw (E T) B w -> tau m p.
Proof.
  intros HB Ep H (Ew & Bw & [K|(K & e & Ee & Be & Pe & [Se|(Ke & Qe)])]).
  - eapply trans; [apply (HB w Bw)|]. apply Hob, ob_pf; auto. repeat split; auto.
  - eapply trans; [apply (HB e Be)|]. apply Hob, ob_post with w; [|repeat split; auto|auto].
    split; [auto|split; [auto|]]. apply store_oppo; auto; congruence.
  - eapply trans; [apply (HB e Be)|]. apply Hob, ob_ib.
    { apply nic_inst_inst. now destruct Ke as [-> | ->]. }
    apply t_trans with w; apply t_step.
    + apply ib_ippo. split; [exact Ee|split; [exact Ew|]]. apply issued_ippo; auto. rewrite K. now apply (forcing_use hw).
    + apply ib_pf. repeat split; auto.
Qed.
Lemma B0_F3 w f r : flush hw = true -> E T w -> E T f -> E T r -> knd w = NLW -> knd f = NF -> knd r = NLR ->
  qp w = qp f -> qp f = qp r -> po w f -> po f r -> tau m w -> tau m r.
Proof.
  intros F Ew Ef Er Kw Kf Kr Q Q' Pp Pp' H. destruct (fence_use hw F) as (If & Sf).
  assert (tau f r) as Hfr.
  { apply Hob, ob_oppo. split; [exact Ef|split; [exact Er|]].
    apply seen_oppo; [auto|auto|apply no_store; congruence|now rewrite Kf, Kr]. }
  destruct S as (_ & _ & Hc). destruct (Hc r w Er Ew) as [X|[X|X]]; [congruence| |eapply trans; eauto].
  exfalso. apply (tau_asym _ _ Hfr). apply Hob, ob_ib.
  { apply nic_inst_inst. now rewrite Kr. }
  apply t_trans with w; apply t_step.
  - apply ib_nfo. split; [exact F|]. apply T_nfo; [exact F|]. split; [exact Er|split; [exact Ew|split; [|exact X]]].
    split; [congruence|tauto].
  - apply ib_ippo. split; [exact Ew|split; [exact Ef|]]. apply issued_ippo; auto. now rewrite Kw, Kf.
Qed.

Section Order.
Context {L : relation ev} {Sco : sc_order_of T' L}.
Let SL : sto E' L := so_total.
Notation beta := (beta hw T m L).
Notation start := (start T m tau L).

Lemma split_B0 : split hw T m tau L B0.
Proof.
  constructor; auto using B0_R1.
  - intros w p Ep H F. pose proof (B0_forcing B0 w p (fun x H => H) Ep H F) as X. split; [now apply in_E'|auto].
  - intros F w f r Ew Ef Er Kw Kf Kr Q Q' Pp Pp' (_ & H) _.
    assert (tau m r) as X by (apply (B0_F3 w f r); auto). split; [now apply in_E'|auto].
  - intros a b Ea Eb Na Hb C. destruct (lemma_6_1 a b Ea Eb) as [|(u & Hu & O & Tu)]; auto.
    + intros X; apply Na; split; auto.
    + apply Hb.
    + right. exists u. split; [auto|split; [auto|split; [apply Hu|auto]]].
  - intros; split; auto.
Qed.

Theorem theorem_5 : violating hw P (trace_by hw (E T) (sigma m L B0)).
Proof.
  pose proof split_B0 as Spl.
  split; [|split; [apply lemma_6_3_consistent|]]; [apply lemma_6_3_trace|].
  intros N. apply (N m).
  destruct (sc_cycle L Sco) as (e & x & Hme & Hex & Hxm & Ne & Nx).
  destruct (m_edge e Hme Ne) as (C & Ee & Te). apply (rest e x Hex Hxm Nx).
  apply m_to; [split|]; auto.
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
  intros Bs b H; induction H as [|b y H IH Ey O|w y H IH Ey O K|f w y H IH Ey O K H2 IH2 P2 K2
    |w f y Fl H IH Ef Ey Kw Kf Ky Q Q' Pp Pp'|b y H IH Ey Cf Lb X]; auto; split; auto.
  - eapply trans; [apply IH|]. apply Hob, ob_oppo. split; [apply IH|split; [apply Ey|auto]].
  - apply (B0_forcing B0 w y); auto; [apply Ey|]. split; [apply IH|split; [apply IH|left; auto]].
  - apply (B0_forcing B0 w y); auto; [apply Ey|]. split; [apply IH|split; [apply IH|right]].
    split; auto. exists f. split; [apply IH2|]; auto.
  - apply (B0_F3 w f y); auto; try apply IH; try apply Ef; apply Ey.
  - apply NNPP; intros N. destruct (lemma_6_1 y b Ey (proj1 IH) N (proj2 IH)) as [Y|(u & Hu & O & _)].
    + now apply conflict_sym.
    + exact (L_asym _ _ Lb Y).
    + exact (X u Hu O).
Qed.

(* (i) to (iv) for the least beta *)
Section Start.
Variables e s : ev.
Hypothesis Hme : sc1 T m e.
Hypothesis Ne : e <> m.
Hypothesis St : start e s.

Lemma start_B0 : B0 s.
Proof.
  destruct (m_edge e Hme Ne) as (_ & Ee & Te). destruct St as ([->|(H & _)] & _); [|exact H]. split; auto.
Qed.
Lemma start_conflict : conflict m s.
Proof.
  destruct (m_edge e Hme Ne) as (C & _). destruct St as ([->|(H & H1 & H2)] & _); auto.
  apply conflict_intro; auto; [|apply C]. intros Q. apply (proj2 (proj1 H)); auto.
Qed.

Lemma split_beta : split hw T m tau L (beta s).
Proof.
  pose proof (beta_B0 s start_B0) as HB. constructor.
  - intros a b Ea Eb Bb O. pose proof (HB b Bb) as Hb.
    pose proof (B0_R1 a b Ea Eb Hb O) as Ha. apply beta_F1 with b; auto. apply Ha.
  - intros w p Ep H F. pose proof (B0_forcing _ w p HB Ep H F) as X.
    assert (E' p) as Ep' by (now apply in_E').
    destruct F as (Ew & Bw & [K|(K & f & Ef & Bf & Pf & Kf)]).
    + apply beta_F2 with w; auto.
    + apply beta_F2' with f w; auto.
  - intros Fl w f r Ew Ef Er Kw Kf Kr Q Q' Pp Pp' Bw _.
    assert (tau m r) as X by (apply (B0_F3 w f r); auto; apply (HB w Bw)).
    apply beta_F3 with w f; auto; [|now apply in_E'].
    split; auto. intros ->; exact (m_last r Er Pp').
  - intros a b Ea Eb Na Bb Cf. destruct SL as (_ & _ & Hc).
    destruct (Hc a b Ea Eb) as [->|[|X]]; [tauto|auto|right].
    destruct (classic (forall u, rf_in E' L u a -> ~ own hw u a)) as [Z|Z].
    { destruct Na. apply beta_F4 with b; auto. now apply conflict_sym. }
    apply not_all_ex_not in Z as (u & Z). apply imply_to_and in Z as (Hu & Z). apply NNPP in Z.
    exists u. split; [auto|split; [auto|]].
    pose proof (own_facts hw _ _ Z) as (_ & _ & Wu & _). pose proof Hu as (Eu & _ & _ & _ & Lu & _ & K).
    pose proof Cf as (_ & _ & Wab & Lo & _).
    assert (wr b) as Wb by (destruct Wab as [Wa|]; [destruct (not_own_write hw a u Wa Z)|auto]).
    destruct (K b Eb Wb) as [->|Y]; auto.
    apply beta_F4 with b; auto; [|intros; now apply not_own_write].
    apply conflict_intro; auto; [|congruence]. intros ->; exact (L_irr _ Y).
  - intros b H. apply (HB b H).
  - intros w Ew Ww Lw H. destruct St as (_ & _ & Hsw).
    destruct (Hsw w) as [<-|X]; auto; [split; auto|apply beta_s|].
    destruct start_conflict as (_ & As & _ & Ls & _).
    apply beta_F4 with s; auto; [apply beta_s| |intros; now apply not_own_write].
    apply conflict_intro; [intros ->; exact (L_irr _ X)|auto|auto|auto|congruence].
Qed.

(* s leads to e in T' *)
Lemma start_to_e : s <> e -> clos_trans ev (sc1 T') s e.
Proof.
  intros N. destruct (m_edge e Hme Ne) as (C & Ee & Te).
  destruct St as (Hs & Hse & _). destruct Hs as [|(Bs & Ws & Ls)]; [tauto|].
  destruct Hse as [|Lse]; [tauto|]. pose proof (proj1 Bs) as Es.
  assert (loc s = loc e) as Lo by (destruct C as (_ & _ & _ & Q & _); congruence).
  assert (forall w, E' w -> wr w -> loc w = loc s -> L s w -> mo T' s w) as Mo.
  { intros w Ew Ww Lw H. destruct (t_mo_total _ WT' s w Es Ew Ws Ww) as [->|[|K]]; auto.
    - destruct (L_irr _ H).
    - destruct (L_asym _ _ H). apply so_sc. now apply sc_mo. }
  destruct (classic (wr e)) as [We|NWe]; [apply t_step, sc_mo, Mo; auto|].
  assert (rd e) as Re by (destruct C as (_ & Q & _); tauto).
  destruct (t_rf_ex _ WT' e Ee Re) as (u & H). pose proof H as K. apply T'_rf in K.
  destruct K as (Eu & _ & Wu & _ & Lu & _ & K).
  destruct (K s Es Ws Lo Lse) as [->|Y]; [apply t_step; now apply sc_rf|].
  apply t_trans with u; apply t_step; [apply sc_mo, Mo; auto; congruence|now apply sc_rf].
Qed.
Lemma m_to_e : clos_trans ev (sc1 (trace_by hw (E T) (sigma m L (beta s)))) m e.
Proof.
  pose proof split_beta as Spl.
  pose proof (m_to s (beta_s hw T m L s) start_conflict) as K.
  destruct (classic (s = e)) as [<-|N]; [exact K|]. eapply t_trans; [exact K|].
  exact (lemma_6_4_path (Spl := Spl) s e (start_to_e N)).
Qed.
End Start.

Theorem theorem_7 e x s : cycle_at T m e x -> start e s ->
  violating hw P (trace_by hw (E T) (sigma m L (beta s))) /\ forall b, beta s b -> B0 b.
Proof.
  intros (Hme & Hex & Hxm & Ne & Nx) St.
  pose proof (split_beta e s Hme Ne St) as Spl.
  split; [|apply beta_B0; apply (start_B0 e); auto].
  split; [apply lemma_6_3_trace|]. split; [apply lemma_6_3_consistent|].
  intros N. apply (N m). apply (rest e x Hex Hxm Nx). apply (m_to_e e); auto.
Qed.

(* T3: of CPU events of the pivot's thread only stores can be in beta, and then m is a read, of another cell than theirs. *)
Theorem theorem_8_thread b : B0 b -> cpu b -> thr b = thr m -> wr m \/ rd m -> store hw b /\ knd m = LR /\ loc b <> loc m.
Proof.
  intros ((Eb & Nb) & H) C Q Am.
  assert (po b m) as Pbm.
  { destruct (wf_total _ W b m Eb Em (cpu_noninit _ C) Nm Q) as [|[X|X]]; [tauto|auto|destruct (m_last b Eb X)]. }
  assert (overtaken hw b m) as (Sb & K).
  { apply NNPP; intros K. apply (tau_asym _ _ H), Hob, ob_oppo. split; [auto|split; [auto|now apply cpu_oppo]]. }
  assert (knd m = LR) as Km.
  { destruct K as [|K]; [auto|]. exfalso. unfold wr, rd in Am. rewrite K in Am. simpl in Am. tauto. }
  split; [auto|split; [auto|]]. intros Lo. apply (m_waits (OK := OK) b). repeat split; auto; apply Sb.
Qed.

(* If the pivot writes then the start s is no CPU read or CAS. *)
Theorem theorem_8_start e s : sc1 T m e -> e <> m -> start e s -> wr m -> cpu s -> rd s -> False.
Proof.
  intros Hme Ne St Wm Cs Rs. apply (proj2 M s Cs). apply t_step, ib_rf.
  pose proof (start_B0 e s Hme Ne St) as Bs. pose proof (start_conflict e s Hme Ne St) as (_ & _ & _ & Q & _).
  destruct (classic (knd s = LR)) as [Ks|Ks].
  - assert (s = e) as ->.
    { destruct St as ([|(_ & K & _)] & _); [auto|]. unfold wr in K. rewrite Ks in K. destruct K. }
    destruct Hme as [(_ & Ee & H)|H|(_ & u & _ & Mo)|H]; [destruct (m_last e Ee H)|auto|exfalso|exfalso].
    + destruct (t_mo _ WT _ _ Mo) as (_ & _ & _ & K & _). unfold wr in K. rewrite Ks in K. destruct K.
    + destruct (t_mo _ WT _ _ H) as (_ & _ & _ & K & _). unfold wr in K. rewrite Ks in K. destruct K.
  - assert (wr s) as Ws by (unfold wr, rd, cpu in *; destruct (knd s); simpl in *; tauto).
    apply T_rf. split; [apply Bs|split; [auto|right]]. split; [intros w (_ & (_ & _ & K) & _); auto|].
    repeat split; auto; try apply Bs. intros w Ew Ww Lw K.
    destruct (classic (w = m)) as [|Nw]; [auto|right].
    destruct S as (_ & _ & Hc). destruct (Hc w m Ew Em) as [|[X|X]]; [congruence|auto|exfalso].
    assert (E' w) as Ew' by (split; auto).
    assert (w <> s) as Nws by (intros ->; exact (irr _ K)).
    assert (conflict w s) as C by (apply conflict_intro; auto).
    pose proof (conf_write_L w s Ew' (proj1 Bs) Ww C K) as Y.
    destruct St as (_ & _ & H3).
    destruct (H3 w) as [Z|Z]; [split; auto|auto|congruence|congruence|exact (L_asym _ _ Y Z)].
Qed.
End Order.
End Theorem7.
