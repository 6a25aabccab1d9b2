(* Remote atomics: where every RMW writes whatever it reads (fetch-and-add, swap), nothing flips and nothing has to choose
   its part: beta begins with one event, and the rest of it is forced (Theorem 7 without M6). *)
Require Import List Arith Lia Classical Relations.
From RR Require Import Orders RemoteAtomicsModel RemoteAtomicsRules RemoteAtomicsValues RemoteAtomicsTraces RemoteAtomicsBase
  RemoteAtomicsPivot RemoteAtomicsExecuted RemoteAtomicsCycle RemoteAtomicsMaximal RemoteAtomicsParts RemoteAtomicsForm
  RemoteAtomicsNormalForm RemoteAtomicsTheorem RemoteAtomicsLeast RemoteAtomicsTaint RemoteAtomicsClasses
  RemoteAtomicsSearched.

Section Live.
Context {U : slots}.
(* executed with real values, all of them write *)
Lemma all_live (S l : ev -> Prop) lt : fin S -> sto S lt -> srcfwd S lt -> real_in S l lt ->
  (forall r, S r -> rd r -> exists w, rf_in S l lt w r) -> (forall x v, S x -> cond x -> awv (src x) v <> None) ->
  forall x, S x -> cond x -> l x.
Proof.
  intros Fin St Fw Re Ex Always. pose proof St as (Hi & Ht & Hc).
  assert (forall x, S x -> is_w (knd x) -> exists v, wval (rf_in S l lt) x v) as H.
  { apply (sto_ind S lt (fun x => is_w (knd x) -> exists v, wval (rf_in S l lt) x v) Fin St).
    intros x Sx IH Ix. destruct (classic (fed x \/ cond x)) as [C|C]; [|exists (cwv x); apply wv_cpu; tauto].
    destruct (src_in S lt x Fw Sx C) as (Ss & Hs & Rs). destruct (Ex (src x) Ss Rs) as (d & R).
    pose proof R as (Sd & _ & (Id & _) & _ & _ & Ld & _).
    assert (lt d x) as Hdx by (destruct Hs as [Q|Q]; [now rewrite Q in Ld|eauto]).
    destruct (IH d Sd Hdx Id) as (v & V). destruct (classic (cond x)) as [Cx|Cx].
    - destruct (awv (src x) v) as [u|] eqn:A; [|destruct (Always x v Sx Cx A)]. exists u. now apply wv_rmw with d v.
    - exists v. apply wv_copy with d; auto. tauto. }
  intros x Sx Cx. apply (Re x Sx Cx). apply H; auto. unfold cond in Cx. destruct (knd x); simpl in *; tauto.
Qed.
(* a path that leaves its end only once *)
Lemma first_arrival (R : relation ev) a b : clos_trans ev R a b -> a = b \/ clos_trans ev (fun x y => R x y /\ x <> b) a b.
Proof.
  intros H. apply clos_trans_t1n in H. induction H as [a b H|a y b H _ IH].
  - destruct (classic (a = b)); [auto|right; now apply t_step].
  - destruct (classic (a = b)) as [|N]; [auto|right]. destruct IH as [->|IH]; [now apply t_step|].
    eapply t_trans; [apply t_step; split; [exact H|exact N]|exact IH].
Qed.
End Live.

Section Steady.
Context {U : slots} (ord : order) (P : program).
Definition steady := forall S x v, runs P S -> S x -> cond x -> awv (src x) v <> None.
Hypothesis Steady : steady.

Section Proof.
Variables (S l : ev -> Prop) (tau : relation ev) (m pr : ev) (S' l' : ev -> Prop) (n : nat).
Hypothesis Small : smallest ord P n.
Hypothesis Cn : covered n S.
Hypothesis F : found ord P S l tau m pr S' l'.
Local Instance G : setting ord P S l tau m pr S' l'. Proof. exact (f_setting _ _ _ _ _ _ _ _ _ F). Defined.
Variable L : relation ev.
Context {HL : sc_run (S:=S) (tau:=tau) (S':=S') (l':=l') L}.
Hypothesis Wm : wr l m.
Notation pivot := (M m pr).
Notation back := (behind (S:=S) (l:=l) (tau:=tau) (m:=m) (pr:=pr) (S':=S')).
Let T := tr S l tau.

Lemma run_S : runs P S. Proof. exact (proj1 (proj1 (g_V (base:=g_base (setting:=G))))). Qed.
Lemma live_T x : S x -> cond x -> l x.
Proof.
  apply (all_live S l tau); [exact (wf_fin _ wS)|apply g_sto| |exact T_real|exact ex_T|].
  - intros w Sw N. now apply src_tau.
  - intros y v Sy Cy. exact (Steady S y v run_S Sy Cy).
Qed.
Lemma live_left m0 pr0 S1 l1 (G1 : setting ord P S l tau m0 pr0 S1 l1) x : S1 x -> cond x -> l1 x.
Proof.
  apply (all_live S1 l1 tau); [exact (wf_fin _ (wfS' (G:=G1)))|exact (sto' (G:=G1))|exact (src' (G:=G1))|exact (g_real
    (setting:=G1))| |].
  - intros r Sr Rr. apply rf_in_ex; auto; [exact (wf_fin _ (wfS' (G:=G1)))|exact (sto' (G:=G1))|exact (init' (G:=G1))|
    apply (wfS' (G:=G1))].
  - intros y v Sy Cy. apply (Steady S1 y v); auto. exact (g_run (setting:=G1)).
Qed.
Lemma wr_is x : S' x -> is_w (knd x) -> wr l' x.
Proof. intros Sx I. split; auto. intros C. exact (live_left m pr S' l' G x Sx C). Qed.

(* every event leads to the pivot *)
Lemma leads x : S x -> noninit x -> rep x = rep m \/ sc T (rep x) (rep m).
Proof.
  intros Sx Nx. destruct (last_above x Sx Nx) as (m0 & Hm0 & L0).
  assert (rep x = rep m0 \/ sc T (rep x) (rep m0)) as H0.
  { destruct Hm0 as [->|Hp]; [auto|]. apply (rt_po wS); auto. apply L0. }
  destruct (next_pivotal m0 L0) as (p & Pp & Hp).
  assert (rep x = rep p \/ sc T (rep x) (rep p)) as H1.
  { destruct Hp as [Q|Hp], H0 as [Q0|H0].
    - left; congruence. - right. now rewrite Q. - right. now rewrite Q0. - right. eapply t_trans; eauto. }
  destruct (setting_exists ord P S l tau n g_base Cn p (rep p) Pp (or_introl eq_refl)) as (S1 & l1 & G1 & k & Hk & Ck).
  pose proof (left_sc ord P S l tau n Small p S1 l1 k G1 Hk Ck) as SC1.
  destruct (cycles_through ord P S l tau g_base p S1 l1 (rep m) G1 SC1) as [Q|(_ & H2)].
  - intros y Sy Cy. split; intros _; [exact (live_left p (rep p) S1 l1 G1 y Sy Cy)|apply live_T; auto; exact (S'_S (G:=G1)
    y Sy)].
  - exact (f_cycle _ _ _ _ _ _ _ _ _ F).
  - rewrite Q. exact H1.
  - destruct H1 as [Q|H1]; right; [now rewrite Q|eapply t_trans; eauto].
Qed.

(* what is strong forces all that touches the pivot behind it *)
Definition strong e := back e /\ (is_w (knd e) \/ knd e = NAR).
Definition first e := (strong e /\ forall b, strong b -> b = e \/ L e b) \/
  ((forall b, ~ strong b) /\ back e /\ forall b, back b -> b = e \/ L e b).
Notation B := (least ord S S' l' L first).
Definition free x := back x /\ ~ B x.

Lemma first_back e : first e -> back e.
Proof. intros [((H & _) & _)|(_ & H & _)]; exact H. Qed.
Lemma first_one e b : first e -> first b -> b = e.
Proof.
  assert (forall x y, L x y -> L y x -> False) as As by (intros x y X Y; exact (sto_asym _ _ _ _ (L_sto (sc_run:=HL)) X Y)).
  intros [(He & Ke)|(Ne & He & Ke)] [(Hb & Kb)|(Nb & Hb & Kb)].
  - destruct (Ke b Hb) as [|X]; auto. destruct (Kb e He) as [|Y]; auto. destruct (As _ _ X Y).
  - destruct (Nb e He).
  - destruct (Ne b Hb).
  - destruct (Ke b Hb) as [|X]; auto. destruct (Kb e He) as [|Y]; auto. destruct (As _ _ X Y).
Qed.
Lemma least_of (Q : ev -> Prop) : (forall e, Q e -> back e) -> (exists e, Q e) -> exists e, Q e /\ forall b, Q b ->
  b = e \/ L e b.
Proof.
  intros Sub Ex. destruct (wf_fin _ wS) as (es & Hes). pose proof (L_sto (sc_run:=HL)) as (Hi & Ht & Hc).
  destruct (max_elem es Q (fun a b => L b a)) as (e & He & K); auto.
  - split; auto. intros x y z X Y. eauto.
  - intros a Ha. apply Hes. apply in_S. apply Sub, Ha.
  - exists e. split; auto. intros b Hb. destruct (Hc e b) as [|[|X]]; auto; [apply in_S; apply Sub, He|apply in_S;
    apply Sub, Hb|].
    destruct (K b Hb X).
Qed.
Lemma first_ex : exists e, first e.
Proof.
  destruct (classic (exists e, strong e)) as [Ex|N].
  - destruct (least_of strong) as (e & H & K); auto; [intros x (H & _); auto|]. exists e. left. auto.
  - assert (forall b, ~ strong b) as N' by eauto.
    destruct (least_of back) as (e & H & K); auto; [exact (begins ord P S l tau m pr S' l' F)|]. exists e. right. auto.
Qed.
Lemma back_loc e : back e -> loc e = loc m.
Proof. intros (_ & _ & z & Mz & Lo & _). rewrite <- Lo. exact (M_loc ord P S l tau m pr S' l' F z Mz). Qed.
Lemma back_acc e : back e -> wr l' e \/ rd e.
Proof. intros (Se & _ & z & _ & _ & _ & [I|R] & _); [left; now apply wr_is|auto]. Qed.
Lemma forced_by b x : B b -> back b -> back x -> wr l' b \/ wr l' x -> L b x -> B x.
Proof.
  intros Bb Hb Hx W Lbx. apply b_conf with b; auto; [apply Hx|].
  pose proof (back_loc b Hb). pose proof (back_loc x Hx). unfold conflict.
  split; [now apply back_acc|split; [now apply back_acc|split; [auto|split; [congruence|]]]].
  intros ->. exact (proj1 (L_sto (sc_run:=HL)) _ Lbx).
Qed.
Lemma strong_forces s x : first s -> strong s -> back x -> L s x -> B x.
Proof.
  intros Fs (Hs & Ks) Hx Lsx. assert (B s) as Bs by now apply b_touch. pose proof Hs as (Ss & Hms & _).
  destruct Ks as [I|K]; [apply (forced_by s x Bs Hs Hx); auto; left; now apply wr_is|].
  (* the naW of the same RMW *)
  assert (exists w, S w /\ knd w = NAW /\ src w = s) as (w & Sw & Kw & Q).
  { apply NNPP. intros N. destruct (f_ends _ _ _ _ _ _ _ _ _ F s) as (Km & _).
    - split; [auto|split; [auto|]]. intros w Sw Kw Q. apply N. eauto.
    - destruct Wm as (I & _). rewrite Km in I. destruct I. }
  destruct (naw_facts w Kw) as (Pw & _ & _ & Lw). rewrite Q in *.
  assert (S' w) as Sw'.
  { apply in_S'; auto. intros Mw. assert (w = m) as -> by (apply (M_w (G:=G) w Mw); rewrite Kw; exact I).
    apply (S'_M (G:=G) s Ss). destruct (f_class _ _ _ _ _ _ _ _ _ F) as [(N & _)|(_ & ->)]; [tauto|right; auto]. }
  assert (B w) as Bw.
  { apply b_keep with s; auto. apply k_oppo. rewrite <- Q. apply src_oppo. now apply naw_fed. }
  assert (back w) as Hw.
  { split; auto. assert (tau s w) as Hsw by (rewrite <- Q; apply src_before; auto; now apply naw_fed).
    split; [exact (tt _ _ _ Hms Hsw)|]. exists m. split; [left; auto|].
    apply touch_m; auto; [eapply acc_w; eauto|left; rewrite Kw; exact I|]. rewrite <- Lw. symmetry. now apply back_loc. }
  destruct (classic (x = w)) as [->|Nxw]; [auto|].
  apply (forced_by w x Bw Hw Hx); [left; apply wr_is; auto; rewrite Kw; exact I|].
  destruct (proj2 (proj2 (L_sto (sc_run:=HL))) w x Sw (in_S x (proj1 Hx))) as [|[X|X]]; auto; [congruence|].
  destruct (L_adj (sc_run:=HL) w x Sw' Kw X) as [Q'|Y]; rewrite Q in *.
  - rewrite Q' in Lsx. destruct (proj1 (L_sto (sc_run:=HL)) _ Lsx).
  - destruct (sto_asym _ _ _ _ (L_sto (sc_run:=HL)) Lsx Y).
Qed.
(* so what is not forced are reads of the pivot *)
Lemma free_reads x : free x -> S' x /\ ~ is_w (knd x) /\ knd x <> NAR /\ rf_in S l tau m x.
Proof.
  intros (Hx & Nx). pose proof Hx as (Sx & Hmx & _).
  destruct first_ex as (s & Fs).
  assert (forall b, strong b -> L b x -> False) as None.
  { intros b Hb Lbx. destruct Fs as [(Hs & Ks)|(N & _)]; [|exact (N b Hb)].
    apply Nx. apply (strong_forces s x); auto; [left; auto|].
    destruct (Ks b Hb) as [->|X]; [auto|]. exact (proj1 (proj2 (L_sto (sc_run:=HL))) _ _ _ X Lbx). }
  assert (~ strong x) as Ns.
  { intros Hs. destruct Fs as [(Hs' & Ks)|(N & _)]; [|exact (N x Hs)].
    destruct (Ks x Hs) as [->|X]; [|exact (None s Hs' X)]. apply Nx, b_touch. left; auto. }
  assert (~ is_w (knd x) /\ knd x <> NAR) as (Nw & Nr) by (split; intros Y; apply Ns; split; auto).
  split; [auto|split; [auto|split; [auto|]]].
  assert (rd x) as Rx by (destruct (back_acc x Hx) as [(Y & _)|]; tauto).
  destruct (ex_T x (in_S x Sx) Rx) as (u & Ru). pose proof Ru as (Su & _ & Wu & _ & Lu & Hux & K).
  destruct (classic (u = m)) as [->|Num]; [exact Ru|exfalso].
  assert (loc m = loc x) as Lmx by (symmetry; now apply back_loc).
  assert (tau m u) as Hmu by (destruct (K m) as [|X]; auto; [exact Sm|congruence]).
  assert (S' u) as Su' by (apply w_S'; auto; apply Wu).
  apply (None u).
  - split; [|left; apply Wu]. split; auto. split; auto. exists m. split; [left; auto|].
    apply touch_m; auto; [eapply acc_w; eauto|eapply acc_w; eauto|congruence].
  - apply (L_conf (sc_run:=HL)); auto. unfold conflict. pose proof (wr_is u Su' (proj1 Wu)).
    repeat split; auto. intros ->. exact (ti _ Hux).
Qed.
Lemma not_free e : back e -> ~ free e -> B e.
Proof. intros He N. apply NNPP. intros X. apply N. split; auto. Qed.

(* the first of beta is no read of a CPU *)
Lemma first_no_read e : first e -> ~ (cpu e /\ rd e).
Proof.
  intros Fe (Ce & Re). pose proof (first_back e Fe) as He. pose proof He as (Se & Hme & _).
  destruct (ex_T e (in_S e Se) Re) as (u & Ru). pose proof Ru as (Su & _ & Wu & _ & Lu & Hue & K).
  assert (loc m = loc e) as Lme by (symmetry; now apply back_loc).
  assert (u <> m) as Num.
  { intros ->. apply (g_max e (in_S e Se) Ce). exists m. split; [exact Ru|apply dep_m]. }
  assert (tau m u) as Hmu by (destruct (K m) as [|X]; auto; [exact Sm|congruence]).
  assert (S' u) as Su' by (apply w_S'; auto; apply Wu).
  assert (strong u) as Hu.
  { split; [|left; apply Wu]. split; auto. split; auto. exists m. split; [left; auto|].
    apply touch_m; auto; [eapply acc_w; eauto|eapply acc_w; eauto|congruence]. }
  assert (L u e) as Lue.
  { apply (L_conf (sc_run:=HL)); auto. unfold conflict. pose proof (wr_is u Su' (proj1 Wu)).
    repeat split; auto. intros ->. exact (ti _ Hue). }
  destruct Fe as [(_ & Ks)|(N & _)]; [|exact (N u Hu)]. destruct (Ks u Hu) as [Q|X].
  - rewrite Q in Lue. exact (proj1 (L_sto (sc_run:=HL)) _ Lue).
  - exact (sto_asym _ _ _ _ (L_sto (sc_run:=HL)) X Lue).
Qed.

(* the cycle: from the pivot to the first of beta, and back on the way that T has *)
Notation sg := (around B m pr L).
Theorem steady_searched : exists lX, searched ord P S m pr S' l' L first lX.
Proof.
  destruct (least_executed (G:=G) (f_empty _ _ _ _ _ _ _ _ _ F) L first free first_back free_reads not_free
    (f_stop _ _ _ _ _ _ _ _ _ F)) as (lX & Rx & A).
  exists lX. assert (trace_of P (tr S lX sg)) as Tr by exact (executed_trace (A:=A)).
  assert (rdma_consistent ord (tr S lX sg)) as Co by exact (executed_consistent (A:=A)).
  assert (forall x, S x -> cond x -> lX x) as LX.
  { apply (all_live S lX sg); [exact (wf_fin _ wS)|exact (s_sto (arranged:=A))|exact (X_src (A:=A))|exact Rx| |].
    - intros r Sr Rr. apply rf_in_ex; auto; [exact (wf_fin _ wS)|exact (s_sto (arranged:=A))|exact (s_init (arranged:=A))|
      apply wS].
    - intros y v Sy Cy. exact (Steady S y v run_S Sy Cy). }
  assert (forall x, S x -> wr l x -> wr lX x) as WX by (intros x Sx (I & _); split; auto).
  assert (forall a b, S a -> S b -> conflict l a b -> conflict lX a b) as CX.
  { intros a b Sa Sb (A1 & A2 & A3 & A4). unfold conflict. pose proof (WX a Sa). pose proof (WX b Sb). tauto. }
  assert (forall a b, S a -> S b -> conflict l a b -> sg a b -> ~ (knd b = NAW /\ src b = a) -> sc (tr S lX sg) (rep a)
    (rep b)) as J.
  { intros a b Sa Sb Cf H N. apply join; auto; [exact wS|exact (s_sto (arranged:=A))|exact (s_init (arranged:=A))]. }
  destruct first_ex as (s & Fs). pose proof (first_back s Fs) as Hs. pose proof Hs as (Ss & Hms & _).
  assert (S s) as Ss0 by now apply in_S.
  assert (m <> s) as Nms by (intros Q; apply (S'_M (G:=G) s Ss); left; auto).
  assert (clos_trans ev (fun x y => scv T x y /\ x <> rep m) (rep s) (rep m)) as K.
  { assert (rep s <> rep m) as Ns.
    { intros Q. apply (S'_M (G:=G) s Ss). apply (vertex_M (G:=G) (whole ord P S l tau m pr S' l' F)); auto. }
    destruct (leads s Ss0) as [|Lead]; [|tauto|].
    - intros K. apply (ta _ _ Hms). apply g_init; auto; [exact Sm|apply g_last].
    - destruct (first_arrival _ _ _ Lead); tauto. }
  apply (searched_from ord P S l tau m pr S' l' F L first free lX first_back first_ex); auto.
  { intros e He. split; [intros _; now apply first_no_read|tauto]. }
  { intros e He Ke. apply not_free; auto. intros Fe. destruct (free_reads e Fe) as (_ & _ & X & _). auto. }
  { pose proof Hs as (_ & _ & z & Mz & Lo & _ & Ae & _).
    apply (taint_closes_from (G:=G) (f_empty _ _ _ _ _ _ _ _ _ F) (whole ord P S l tau m pr S' l' F) L B
      (least_after (G:=G) L first first_back) s z); auto.
    - intros a Sa (I & _). now apply wr_is.
    - now apply b_touch.
    - split; auto. }
  split; [exact Tr|split; [exact Co|]]. intros N.
  assert (sc (tr S lX sg) (rep m) (rep s)) as H1.
  { apply J; auto; [exact Sm| | |].
    - unfold conflict. pose proof (back_loc s Hs). destruct (back_acc s Hs) as [(I & _)|R].
      + assert (wr l s) by (split; auto; intros; now apply live_T).
        split; [auto|split; [auto|split; [auto|split; [congruence|auto]]]].
      + split; [auto|split; [auto|split; [auto|split; [congruence|auto]]]].
    - apply (around_after B m pr L (least_M (G:=G) L first first_back)); [now apply b_touch|left; auto].
    - intros (Kn & Q). destruct (naw_facts s Kn) as (_ & _ & Ks & _). destruct Wm as (I & _). rewrite Q in Ks.
      rewrite Ks in I. destruct I. }
  apply (N (rep m)).
  assert (forall x y, clos_trans ev (fun x y => scv T x y /\ x <> rep m) x y -> sc (tr S lX sg) x y) as Go.
  2:{ eapply t_trans; [exact H1|now apply Go]. }
  intros x y Hxy. induction Hxy as [x y (V & Nx)|x y z _ IH1 _ IH2]; [|eapply t_trans; eauto].
  destruct V as (a & b & Qa & Qb & E1 & N1). subst x y.
  assert (on T po a b \/ (rf_in S l tau a b \/ rb T a b \/ mo_in S l tau a b)) as [((Sa & _) & (Sb & _) & H)|H].
  { destruct E1; auto. }
  - destruct (po_scv (tr S lX sg) a b wS Sa Sb H) as [Q|V]; [destruct (rep_po_neq a b H N1 Q)|now apply t_step].
  - destruct (eco_conflict S l tau a b g_sto H) as (Sa & Sb & Cf & Hab). pose proof Cf as (Aa & Ab & Aw & Lo & Nab).
    assert (~ pivot a) as Na by (intros Ma; apply Nx; exact (rep_M (G:=G) a Ma)).
    assert (S' a) as Sa' by now apply in_S'.
    apply J; auto. destruct (M_or_S' (G:=G) b Sb) as [Mb|Sb'].
    + assert (tau a m) as Ham by (destruct (M_le (G:=G) b Mb) as [Q|X]; [now rewrite <- Q|exact (tt _ _ _ Hab X)]).
      apply (s_M0 (arranged:=A)); auto.
      * intros Fa. destruct (free_reads a Fa) as (_ & _ & _ & (_ & _ & _ & _ & _ & X & _)). exact (ta _ _ X Ham).
      * intros Fb. destruct (free_reads b Fb) as (X & _). exact (S'_M (G:=G) b X Mb).
      * assert (forall x, wr l x \/ rd x -> acc x) as Acc by (intros x [X|X]; [exact (acc_w x _ X)|now apply acc_r]).
        destruct Aw; [apply touch_l|apply touch_r]; auto.
    + apply (s_conf (arranged:=A)); auto. unfold conflict.
      assert (forall x, S' x -> wr l x -> wr l' x) as W' by (intros x Sx (I & _); now apply wr_is).
      pose proof (W' a Sa'). pose proof (W' b Sb'). tauto.
Qed.
End Proof.

(* Theorem 7 without a choice *)
Theorem normal_form_steady : one_kind P -> ~ robust ord P ->
  exists S m pr S' l' L C lX, searched ord P S m pr S' l' L C lX /\ forall e b, C e -> C b -> b = e.
Proof.
  intros O N. assert (exists T, violating ord P T) as (T1 & V1).
  { apply NNPP; intro K. apply N. intros T V. apply K; eauto. }
  destruct (smallest_exists ord P T1 V1) as (n & T & Cn & V & Sm).
  destruct (base_exists ord P T V) as (tau & B).
  destruct (found_exists ord P (S T) n Sm Cn (live T) tau O B) as (l2 & tau2 & m & pr & S' & l' & F).
  destruct (sc_run_exists (G:=f_setting _ _ _ _ _ _ _ _ _ F) (f_sc _ _ _ _ _ _ _ _ _ F)) as (L & HL).
  destruct (classic (wr l2 m)) as [Wm|Wm].
  - destruct (steady_searched _ _ _ _ _ _ _ n Sm Cn F L (HL:=HL) Wm) as (lX & H).
    exists (S T), m, pr, S', l', L. eexists. exists lX. split; [exact H|]. intros e b He Hb.
    eapply first_one; [exact HL|exact He|exact Hb].
  - destruct (proof_searched ord P _ _ _ _ _ _ _ F L (HL:=HL)) as (lX & H).
    exists (S T), m, pr, S', l', L. eexists. exists lX. split; [exact H|].
    intros e b [(W & _)|(_ & He & Ke)] [(W' & _)|(_ & Hb & Kb)]; try tauto.
    destruct (Ke b Hb) as [|X]; auto. destruct (Kb e He) as [|Y]; auto.
    destruct (sto_asym _ _ _ _ (L_sto (sc_run:=HL)) X Y).
Qed.
End Steady.
