(* The parts A and B of the events, and the order sigma: A, the pivot, B.  What reads take in trace(sigma) they take in
   trace(L), or from the pivot; sc of trace(L) is in the closure of sc of trace(sigma). *)
Require Import List Arith Lia Classical Relations Setoid.
From RR Require Import Model Hardware Orders Cells Stores Rules Traces.

(* L is an order of E without m; A is what is neither in B nor m.  Conflicting events of A and B stand in L as in sigma, but
   for a read of A whose L-last write is a store of its own thread in B: it takes that store from the buffer (rule T2).
   m takes none (rule T3). *)
Class parts {U : events} (hw : hardware) (E : ev -> Prop) (m : ev) (L : relation ev) (B : ev -> Prop) : Prop := {
  pa_wf : wfE E;
  pa_last : last E m;
  pa_total : sto (without E m) L;
  pa_init : initfirst (without E m) L;
  pa_po : forall a b, without E m a -> without E m b -> po a b -> L a b;
  pa_B : forall b, B b -> without E m b /\ noninit b;
  pa_R1 : R1 hw E B;
  pa_ii : forall a b, without E m a -> without E m b -> ~ B a -> B b -> conflict a b ->
    L a b \/ exists u, rf_in (without E m) L u a /\ own hw u a /\ B u;
  pa_pivot : forall b, B b -> own hw b m -> loc b <> loc m;
}.

(* A in the order L, then m, then B in the order L *)
Definition sigma {U : events} (m : ev) (L : relation ev) (B : ev -> Prop) := lex B (lex (fun x => x = m) L).

(* what depends on m in T: a read of m, and what takes or carries the value of such an event *)
Inductive dep {U : events} (T : trace) (m : ev) : ev -> Prop :=
| dep_m r : rf T m r -> dep T m r
| dep_rf w r : rf T w r -> dep T m w -> dep T m r
| dep_carry r w : E T w -> carry r w -> dep T m r -> dep T m w.
Arguments dep_m {U T m}.
Arguments dep_rf {U T m}.
Arguments dep_carry {U T m}.

Lemma val_mono {U : events} (rf rf' : relation ev) w v : (forall a b, rf a b -> rf' a b) -> val rf w v -> val rf' w v.
Proof. intros I H; induction H; eauto using val_own, val_nicr, val_nicw. Qed.

Section Parts.
Context {U : events} {hw : hardware} {OK : hardware_ok hw} {E : ev -> Prop} {m : ev} {L : relation ev} {B : ev -> Prop}.
Context {Pa : parts hw E m L B}.
Notation F := (without E m).
Notation sigma := (sigma m L B).
Notation Ts := (trace_by hw E sigma).
Notation dep := (dep Ts m).

Let W : wfE E := pa_wf.
Let Lm : last E m := pa_last.
Let SL : sto F L := pa_total.
Let HB : forall b, B b -> F b /\ noninit b := pa_B.

Lemma p_last b : E b -> ~ po m b. Proof. apply Lm. Qed.
Lemma p_m : E m. Proof. apply Lm. Qed.
Lemma p_wf : wfE F. Proof. apply wf_without; [exact W|exact Lm]. Qed.
Lemma p_irr a : ~ L a a. Proof. apply SL. Qed.
Lemma p_trans a b c : L a b -> L b c -> L a c. Proof. apply SL. Qed.
Lemma p_asym a b : L a b -> ~ L b a. Proof. apply (sto_asym _ _ _ _ SL). Qed.
Lemma p_tot a b : F a -> F b -> a = b \/ L a b \/ L b a. Proof. apply SL. Qed.
Lemma NBm : ~ B m. Proof. intros H. destruct (HB m H) as ((_ & N) & _); auto. Qed.

(* the order sigma *)
Lemma sto_m : sto E (lex (fun x => x = m) L).
Proof.
  destruct SL as (Hi & Ht & Hc). unfold lex. split; [|split].
  - intros a [H|(_ & H)]; [tauto|eapply Hi; eauto].
  - intros a b c [H|(H & H')] [K|(K & K')]; try tauto. right; split; [tauto|eauto].
  - intros a b Ea Eb. destruct (classic (a = m)) as [->|Na], (classic (b = m)) as [->|Nb]; try tauto.
    destruct (Hc a b) as [|[|]]; try (split; auto; fail); tauto.
Qed.
Lemma Ss : sto E sigma. Proof. apply lex_sto, sto_m. Qed.
Lemma s_irr a : ~ sigma a a. Proof. apply Ss. Qed.
Lemma s_trans a b c : sigma a b -> sigma b c -> sigma a c. Proof. apply Ss. Qed.
Lemma s_asym a b : sigma a b -> ~ sigma b a. Proof. apply (sto_asym _ _ _ _ Ss). Qed.
Lemma s_tot a b : E a -> E b -> a = b \/ sigma a b \/ sigma b a. Proof. apply Ss. Qed.
Lemma s_am a : a <> m -> (sigma a m <-> ~ B a).
Proof. intros N. pose proof NBm. unfold Parts.sigma, lex. tauto. Qed.
Lemma s_mb b : b <> m -> (sigma m b <-> B b).
Proof. intros N. pose proof NBm. unfold Parts.sigma, lex. destruct (classic (B b)); tauto. Qed.
Lemma s_same a b : a <> m -> b <> m -> (B a <-> B b) -> (sigma a b <-> L a b).
Proof. intros Na Nb H. unfold Parts.sigma, lex. tauto. Qed.
Lemma s_split a b : ~ B a -> B b -> sigma a b.
Proof. unfold Parts.sigma, lex; tauto. Qed.
(* what is backward in L is so between A and B *)
Lemma s_back a b : a <> m -> b <> m -> L b a -> ~ L a b -> sigma a b -> ~ B a /\ B b.
Proof. intros Na Nb H H' K. unfold Parts.sigma, lex in K. tauto. Qed.
Lemma s_B a b : B a -> sigma a b -> B b.
Proof. unfold Parts.sigma, lex; tauto. Qed.
Lemma Is : initfirst E sigma.
Proof.
  intros i x Ei Ex Ki Nx. assert (i <> m) as Ni by (intros ->; now apply Lm).
  assert (~ B i) as NBi by (intros H; destruct (HB i H); auto).
  destruct (classic (B x)) as [Bx|NBx]; [now apply s_split|].
  destruct (classic (x = m)) as [->|Nxm]; [now apply s_am|].
  apply s_same; [auto|auto|tauto|]. apply pa_init; auto; split; auto.
Qed.
Lemma s_po a b : E a -> E b -> (B a <-> B b) -> po a b -> sigma a b.
Proof.
  intros Ea Eb H P. assert (a <> m) as Na by (intros ->; eapply p_last; eauto).
  destruct (classic (b = m)) as [->|Nb]; [pose proof NBm; apply s_am; tauto|].
  apply s_same; auto. apply pa_po; auto; split; auto.
Qed.
Lemma s_oppo a b : E a -> E b -> oppo hw a b -> sigma a b.
Proof.
  intros Ea Eb O. destruct (classic (B a)) as [Ba|Na], (classic (B b)) as [Bb|Nb].
  - apply s_po; tauto || apply O.
  - destruct Nb. exact (pa_R1 b a Eb Ea Ba O).
  - now apply s_split.
  - apply s_po; tauto || apply O.
Qed.
(* Lemma 3 *)
Lemma s_ob : R2 hw E B -> R3 hw E B -> forall a b, ob1 hw Ts a b -> sigma a b.
Proof.
  intros H2 H3. apply (rules_if hw E sigma B W Ss); auto using s_po; [|exact pa_R1]. intros; now apply s_split.
Qed.
Lemma p_consistent : R2 hw E B -> R3 hw E B -> rdma_consistent hw Ts.
Proof. intros H2 H3 a H. apply (s_irr a). eapply (forward_trans (ob1 hw Ts) sigma); eauto using s_trans, s_ob. Qed.
Lemma Ws : wft Ts.
Proof. apply trace_by_wft; auto using Ss, Is. Qed.

(* a write stands before what conflicts with it in sigma as in L, but for the exception *)
Lemma ii_write a b : F a -> F b -> ~ B a -> B b -> wr a -> conflict a b -> L a b.
Proof.
  intros Fa Fb Na Bb Wa C. destruct (pa_ii a b Fa Fb Na Bb C) as [|(u & _ & O & _)]; [auto|].
  destruct (not_own_write hw a u Wa O).
Qed.
Lemma write_s a b : F a -> F b -> wr a -> conflict a b -> sigma a b -> L a b.
Proof.
  intros Fa Fb Wa C H. destruct (p_tot a b Fa Fb) as [|[|Lba]]; [unfold conflict in C; tauto|auto|exfalso].
  destruct (s_back a b) as (Na & Bb); auto using p_asym; [apply Fa|apply Fb|].
  exact (p_asym _ _ Lba (ii_write a b Fa Fb Na Bb Wa C)).
Qed.
Lemma writes_s a b : F a -> F b -> wr a -> wr b -> conflict a b -> (sigma a b <-> L a b).
Proof.
  intros Fa Fb Wa Wb C. split; [now apply write_s|]. intros H.
  destruct (s_tot a b) as [->|[|K]]; [apply Fa|apply Fb|destruct (p_irr _ H)|auto|].
  destruct (p_asym _ _ H). apply write_s; auto. now apply conflict_sym.
Qed.
Lemma p_mo a b : mo_in F L a b -> mo Ts a b.
Proof.
  intros ((Ea & Na) & (Eb & Nb) & Wa & Wb & Lo & H). repeat split; auto.
  apply writes_s; auto; try (split; auto; fail). apply conflict_intro; auto. intros ->; exact (p_irr _ H).
Qed.

(* no store waits for an event of B; m takes no store from the buffer *)
Lemma B_waits r w : B r -> ~ waits hw E sigma r w.
Proof.
  intros Br (Ew & O & _ & P & S). destruct (HB r Br) as (Fr & _). apply (s_asym _ _ S), s_po; [auto|apply Fr| |auto].
  split; [auto|]. intros _. exact (s_B _ _ Br S).
Qed.
Lemma m_no_wait w : ~ waits hw E sigma m w.
Proof.
  intros (Ew & O & Lo & P & S). assert (w <> m) as N by (intros ->; eapply po_irr; eauto).
  apply s_mb in S; auto. exact (pa_pivot w S O Lo).
Qed.
Lemma rf_no_wait w r : (forall u, ~ waits hw E sigma r u) -> (rf Ts w r <-> rf_in E sigma w r).
Proof.
  intros N. rewrite trace_by_rf. split.
  - intros (_ & _ & [(H & _)|(_ & H)]); [destruct (N w H)|auto].
  - intros H. split; [apply H|split; [apply H|auto]].
Qed.

(* A read for which a store of its thread waits in sigma takes what it takes in trace(L). *)
Lemma wait_source r w : F r -> waits hw E sigma r w -> exists u, rf_in F L u r /\ forwards hw E sigma u r.
Proof.
  intros Fr (Ew & O & Lo & Pw & Sg). assert (F w) as Fw.
  { split; auto. intros ->. apply (p_last r); auto. apply Fr. }
  pose proof (pa_po w r Fw Fr Pw) as Lwr. pose proof (own_facts hw _ _ O) as (_ & Nr & Ww & Rr & _).
  destruct (s_back r w) as (NBr & Bw); auto using p_asym; [apply Fr|apply Fw|].
  assert (conflict r w) as C by (apply conflict_intro; auto; intros ->; eapply po_irr; eauto).
  destruct (pa_ii r w Fr Fw NBr Bw C) as [K|(u & Hu & Ou & Bu)]; [destruct (p_asym _ _ Lwr K)|].
  pose proof Hu as (Fu & _ & _ & _ & Lu & Lur & Last). pose proof (own_facts hw _ _ Ou) as (Nu & _ & Wu & _).
  assert (po u r) as Pu.
  { destruct (wf_total _ W u r) as [->|[|Q]]; auto; [apply Fu|apply Fr|apply Ou|destruct (p_irr _ Lur)|].
    destruct (p_asym _ _ Lur). now apply pa_po. }
  exists u. split; [auto|]. split.
  - split; [apply Fu|]. split; [auto|]. split; [auto|]. split; [auto|now apply s_split].
  - intros w' (Ewx & Ox & Lx & Px & Sx). pose proof (own_facts hw _ _ Ox) as (Nx & _ & Wx & _).
    assert (F w') as Fx by (split; auto; intros ->; apply (p_last r); auto; apply Fr).
    assert (thr w' = thr u) as Th by (destruct Ox as (-> & _), Ou as (-> & _); auto).
    destruct (wf_total _ W w' u) as [|[|Q]]; auto; [apply Fu|exfalso].
    pose proof (pa_po u w' Fu Fx Q) as Luw. destruct (Last w' Fx Wx Lx (pa_po w' r Fx Fr Px)) as [->|K].
    + eapply p_irr; eauto.
    + eapply p_asym; eauto.
Qed.
(* Lemma 6 (2) *)
Lemma p_2a w r : rf Ts w r -> w <> m -> r <> m -> rf_in F L w r.
Proof.
  intros H Nw Nr. apply trace_by_rf in H. destruct H as (Er & Rr & H). assert (F r) as Fr by (split; auto).
  destruct H as [H|(Nwait & Ew & _ & Ww & _ & Lo & Lt & K)].
  - destruct (wait_source r w Fr (proj1 H)) as (u & Hu & Fu).
    assert (w = u) as ->; [|auto].
    destruct H as (H & K), Fu as (Fu & Ku). destruct (K u Fu) as [|Q]; [auto|]. destruct (Ku w H) as [|Q']; [auto|].
    destruct (po_irr w). eauto using po_trans.
  - assert (F w) as Fw by (split; auto). assert (w <> r) as N by (intros ->; eapply s_irr; eauto).
    repeat split; auto.
    + apply write_s; auto. apply conflict_intro; auto.
    + intros w' Fwx Wx Lx Ltx. assert (w' <> r) as Nx by (intros ->; eapply p_irr; eauto).
      assert (sigma w' r) as X.
      { destruct (s_tot w' r) as [|[|Sx]]; [apply Fwx|auto|congruence|auto|exfalso].
        destruct (s_back r w') as (NBr & Bw); auto using p_asym; [apply Fwx|].
        destruct (pa_ii r w' Fr Fwx NBr Bw) as [Q|(u & Hu & Ou & Bu)]; [apply conflict_intro; auto|eapply p_asym; eauto|].
        apply (Nwait u). pose proof Hu as (Fu & _ & _ & _ & Lu & Lur & _).
        split; [apply Fu|]. split; [auto|]. split; [auto|]. split; [|now apply s_split].
        pose proof (own_facts hw _ _ Ou) as (Nu & Nr' & _).
        destruct (wf_total _ W u r) as [->|[|Q]]; auto; [apply Fu|apply Ou|destruct (p_irr _ Lur)|].
        destruct (p_asym _ _ Lur). now apply pa_po. }
      destruct (K w') as [|Y]; auto; [apply Fwx|]. right.
      assert (w' <> w) by (intros ->; eapply s_irr; eauto).
      apply write_s; auto. apply conflict_intro; auto. congruence.
Qed.
Lemma rf_m_in r : rf Ts m r -> rf_in E sigma m r /\ B r /\ F r.
Proof.
  intros H. apply trace_by_rf in H.
  destruct H as (Er & Rr & [((_ & _ & _ & Pm & _) & _)|(_ & H)]); [destruct (p_last r Er Pm)|].
  assert (r <> m) as N by (intros ->; eapply s_irr; apply H).
  split; [auto|]. split; [apply s_mb; auto; apply H|split; auto].
Qed.
Lemma p_2c w r : rf_in F L w r -> rf Ts w r \/ rf Ts m r.
Proof.
  intros H. pose proof H as (_ & Fr & _ & Rr & _). destruct (t_rf_ex _ Ws r (proj1 Fr) Rr) as (w2 & H2).
  destruct (classic (w2 = m)) as [->|N]; [auto|left].
  now rewrite (rf_in_fun (tr F L) L SL w w2 r H (p_2a _ _ H2 N (proj2 Fr))).
Qed.

(* Lemma 6 (3): what depends on m is in B; the values of other events are those of trace(L) *)
Lemma dep_no_store e : dep e -> ~ store hw e.
Proof.
  intros [r H|w r H _|r w _ C _]; [apply rd_no_store, (t_rf _ Ws _ _ H)|apply rd_no_store, (t_rf _ Ws _ _ H)|].
  now destruct (carry_no_store hw _ _ C).
Qed.
Lemma rf_dep w r : rf Ts w r -> dep w -> sigma w r.
Proof. intros H D. apply (rf_not_own hw E sigma w r H). intros (_ & X & _). exact (dep_no_store w D X). Qed.
Lemma dep_s e : dep e -> E e /\ sigma m e.
Proof.
  induction 1 as [r H|w r H D IH|r w Ew C _ IH].
  - split; [apply (t_rf _ Ws _ _ H)|]. destruct (rf_m_in r H) as (K & _). apply K.
  - split; [apply (t_rf _ Ws _ _ H)|]. eapply s_trans; [apply IH|]. now apply rf_dep.
  - split; [exact Ew|]. eapply s_trans; [apply IH|]. apply s_oppo; [apply IH|exact Ew|now apply carry_oppo].
Qed.
Lemma dep_B e : dep e -> B e.
Proof. intros D. destruct (dep_s e D) as (_ & S). apply s_mb; auto. intros ->. exact (s_irr _ S). Qed.
Lemma p_val w v : val (rf_in F L) w v -> F w -> ~ dep w -> val (rf Ts) w v.
Proof.
  intros H; induction H as [w Ww Nw|w r v Rr Cr H _ IH|r w v C H IH]; intros Fw N.
  - now apply val_own.
  - destruct (p_2c _ _ H) as [X|X]; [|destruct N; now apply dep_m].
    apply val_nicr with w; auto. apply IH; [apply H|]. intros D; apply N. now apply dep_rf with w.
  - assert (F r) as Fr by (eapply wf_down; [apply p_wf|apply (carry_ok _ _ C)|auto]).
    apply val_nicw with r; auto. apply IH; auto. intros D; apply N. apply dep_carry with r; auto. apply Fw.
Qed.

(* Lemma 6 (4) *)
Lemma p_4 a b : sc1 (tr F L) a b -> clos_trans ev (sc1 Ts) a b.
Proof.
  intros [(Fa & Fb & H)|H|(N & u & H & K)|H].
  - apply t_step, sc_po. split; [apply Fa|split; [apply Fb|auto]].
  - destruct (p_2c _ _ H) as [X|X]; [apply t_step; now apply sc_rf|].
    destruct (rf_m_in b X) as ((_ & _ & Wm & _ & Lo & _ & Q) & Bb & Fb). pose proof H as (Fa & _ & Wa & _ & La & Lab & _).
    apply t_trans with m; apply t_step; [apply sc_mo|now apply sc_rf].
    repeat split; auto using p_m; [apply Fa|congruence|]. apply s_am; [apply Fa|]. intros Ba.
    assert (sigma a b) as Y by (apply s_same; auto; [apply Fa|apply Fb|tauto]).
    destruct (Q a (proj1 Fa) Wa La Y) as [->|Z]; [apply (proj2 Fa); auto|]. apply s_am in Z; auto. apply Fa.
  - pose proof H as (Fu & Fa & Wu & Ra & La & _). pose proof K as (_ & Fb & _ & Wb & Lb & Lub).
    assert (L a b) as Lab by exact (rb_tr_fwd F L a b SL (conj N (ex_intro _ u (conj H K)))).
    apply t_step, sc_rb. split; [auto|]. destruct (p_2c _ _ H) as [X|X]; [exists u; split; [auto|now apply p_mo]|].
    destruct (rf_m_in a X) as ((_ & _ & Wm & _ & Lo & _) & Ba & _).
    exists m. split; [auto|]. repeat split; auto using p_m; [apply Fb|congruence|]. apply s_mb; [apply Fb|].
    apply NNPP; intros NBb. assert (conflict b a) as C by (apply conflict_intro; auto; congruence).
    exact (p_asym _ _ Lab (ii_write b a Fb Fa NBb Ba Wb C)).
  - apply t_step, sc_mo. now apply p_mo.
Qed.
Lemma p_4_path a b : clos_trans ev (sc1 (tr F L)) a b -> clos_trans ev (sc1 Ts) a b.
Proof. induction 1 as [a b H|]; [now apply p_4|eapply t_trans; eauto]. Qed.
Lemma p_join a b : F a -> F b -> conflict a b -> L a b -> clos_trans ev (sc1 Ts) a b.
Proof.
  intros Fa Fb C H. apply p_4_path. pose proof (conflict_eco F L a b p_wf SL pa_init Fa Fb C H) as K.
  clear -K. induction K as [a b [H|[H|H]]|]; [apply t_step; now apply sc_rf|apply t_step; now apply sc_rb|
    apply t_step; now apply sc_mo|eapply t_trans; eauto].
Qed.

(* edges of m: to what conflicts with it in B, and from what conflicts with it in A and does not take a store of B *)
Lemma write_to a b : E a -> E b -> conflict a b -> wr a -> sigma a b -> (rd b -> forall w, ~ waits hw E sigma b w) ->
  clos_trans ev (sc1 Ts) a b.
Proof.
  intros Ea Eb (Aa & Ab & Wab & Lo & N) Wa S NW.
  destruct (classic (wr b)) as [Wb|NWb]; [apply t_step, sc_mo; repeat split; auto|].
  assert (rd b) as Rb by tauto. destruct (t_rf_ex _ Ws b Eb Rb) as (u & H). pose proof H as K.
  apply (rf_no_wait u b (NW Rb)) in K. destruct K as (Eu & _ & Wu & _ & Lu & Lt & K).
  destruct (K a Ea Wa Lo S) as [->|X]; [apply t_step; now apply sc_rf|].
  apply t_trans with u; apply t_step; [apply sc_mo; repeat split; auto; congruence|now apply sc_rf].
Qed.
Lemma m_to b : B b -> conflict m b -> clos_trans ev (sc1 Ts) m b.
Proof.
  intros Bb C. destruct (HB b Bb) as ((Eb & Nb) & _). assert (sigma m b) as Smb by (now apply s_mb).
  destruct (classic (wr m)) as [Wm|NWm].
  - apply write_to; auto using p_m. intros _ w. now apply B_waits.
  - destruct C as (Am & Ab & Wab & Lo & N). assert (rd m) as Rm by tauto. assert (wr b) as Wb by tauto.
    destruct (t_rf_ex _ Ws m p_m Rm) as (u & H). pose proof H as K.
    apply (rf_no_wait u m m_no_wait) in K. destruct K as (Eu & _ & Wu & _ & Lu & Lt & _).
    apply t_step, sc_rb. split; [auto|]. exists u. split; [auto|]. repeat split; auto; [congruence|eapply s_trans; eauto].
Qed.
Lemma to_m a : F a -> ~ B a -> conflict a m -> (forall u, rf_in F L u a -> own hw u a -> ~ B u) ->
  clos_trans ev (sc1 Ts) a m.
Proof.
  intros Fa NB C NO. assert (sigma a m) as S by (apply s_am; auto; apply Fa).
  destruct (classic (wr a)) as [Wa|NWa].
  - apply write_to; auto using p_m; [apply Fa|]. intros _ w. apply m_no_wait.
  - destruct C as (Aa & Am & Wam & Lo & N). assert (rd a) as Ra by tauto. assert (wr m) as Wm by tauto.
    destruct (t_rf_ex _ Ws a (proj1 Fa) Ra) as (u & H). destruct (t_rf _ Ws _ _ H) as (Eu & _ & Wu & _ & Lu).
    assert (u <> m) as Nu by (intros ->; destruct (rf_m_in a H) as (_ & Ba & _); auto).
    pose proof (p_2a u a H Nu (proj2 Fa)) as K.
    apply t_step, sc_rb. split; [auto|]. exists u. split; [auto|]. repeat split; auto using p_m; [congruence|].
    apply s_am; auto. intros Bu. destruct (classic (own hw u a)) as [O|O]; [exact (NO u K O Bu)|].
    apply (s_asym _ _ (rf_not_own hw E sigma u a H O)). now apply s_split.
Qed.
End Parts.
