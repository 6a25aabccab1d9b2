(* Remote atomics: what a search has to look for (Theorem 7 with M1 to M6), for every program: the classes of pivots,
   where beta begins, and what chooses its part. *)
Require Import List Arith Lia Classical Relations.
From RR Require Import Orders RemoteAtomicsModel RemoteAtomicsRules RemoteAtomicsValues RemoteAtomicsTraces RemoteAtomicsBase
  RemoteAtomicsPivot RemoteAtomicsExecuted RemoteAtomicsCycle RemoteAtomicsMaximal RemoteAtomicsParts RemoteAtomicsForm
  RemoteAtomicsNormalForm RemoteAtomicsTheorem RemoteAtomicsMiddle RemoteAtomicsTogether RemoteAtomicsLeast
  RemoteAtomicsTaint RemoteAtomicsClasses.

Section Searched.
Context {U : slots} (ord : order) (P : program).

(* the pivot acts with real values, all others act as in L (M1) *)
Definition acting m pr (l' lX : ev -> Prop) e := (M m pr e /\ lX e) \/ (~ M m pr e /\ l' e).

(* S: slots; m, pr: the pivot; S', l', L: the others, what they do, and their run; C: what begins beta or chooses to be in
   it; lX: what happens with real values *)
Section Form.
Variables (S : ev -> Prop) (m pr : ev) (S' l' : ev -> Prop) (L : relation ev) (C lX : ev -> Prop).
Let beta := least ord S S' l' L C.
Let sg := around beta m pr L.
Record searched : Prop := {
  n_last : last S m;
  n_rest : forall e, S' e <-> S e /\ ~ M m pr e;
  n_total : sto S L;
  n_machine : sc_machine (P:=P) S' l' L;
  (* one event that is no naW, or naR and naW together *)
  n_class : (knd m <> NAW /\ pr = m) \/ (knd m = NAW /\ pr = src m);
  (* a thread ends behind a naR only if the pivot is a naR behind which its thread ends *)
  n_ends : forall r, stops (S:=S) (S':=S') r -> knd m = NAR /\ forall w, S w -> knd w = NAW -> src w <> m;
  n_meets : forall e, C e -> S' e /\ noninit e /\ exists z, M m pr z /\ meets S' l' (wr lX m) z e;
  (* if the pivot writes, all but reads of CPUs choose; else only the first event of beta is chosen *)
  n_chosen : forall e, C e -> (wr lX m -> ~ (cpu e /\ rd e)) /\ (~ wr lX m -> forall b, C b -> b = e);
  (* beta begins, in L, with what is chosen *)
  n_start : forall b, beta b -> exists e, C e /\ (e = b \/ L e b);
  n_begins : exists e, C e;
  (* nothing keeps the pivot out of alpha (M3): no RMW of the word of a naR is torn, none is behind a naR that ends its
     thread *)
  n_own : forall c, beta c -> cpu c -> thr c <> thr m;
  n_untorn : forall x z, S' x -> knd x = NAW -> l' x -> M m pr z -> knd z = NAR -> loc z = loc x -> beta x -> beta (src x);
  n_stop : forall z b, M m pr z -> knd z = NAR -> (forall w, S w -> knd w = NAW -> src w <> z) ->
    S' b -> knd b = NAR -> loc b = loc z -> ~ beta b;
  (* taint along L comes back to the pivot *)
  n_closed : closed S' l' L beta m pr (wr lX m);
  (* no CPU event is poisoned *)
  n_poison : forall c, S c -> cpu c -> ~ depr (rf_in S (acting m pr l' lX) sg) m c;
  n_real : real_in S lX sg;
  n_violating : violating ord P (tr S lX sg);
}.
End Form.

Section Proof.
Variables (S l : ev -> Prop) (tau : relation ev) (m pr : ev) (S' l' : ev -> Prop).
Hypothesis F : found ord P S l tau m pr S' l'.
Local Instance G : setting ord P S l tau m pr S' l'. Proof. exact (f_setting _ _ _ _ _ _ _ _ _ F). Defined.
Variable L : relation ev.
Context {HL : sc_run (S:=S) (tau:=tau) (S':=S') (l':=l') L}.
Notation pivot := (M m pr).
Notation back := (behind (S:=S) (l:=l) (tau:=tau) (m:=m) (pr:=pr) (S':=S')).

Lemma M_loc z : pivot z -> loc z = loc m.
Proof.
  intros [->| ->]; auto. destruct (pr_cases (G:=G)) as [(-> & _)|(K & -> & _)]; auto. now apply naw_facts.
Qed.
Lemma still x : ~ wr l m -> S' x -> cond x -> (l x <-> l' x).
Proof.
  intros N Sx Cx. apply (T'_live (G:=G)); auto. intros (d & R & D). exact (N (dep_writes _ _ D R)).
Qed.
(* what is behind a pivot that does not write *)
Lemma behind_still e : ~ wr l m -> back e -> S' e /\ loc e = loc m /\
  (wr l' e \/ (knd e = NAR /\ exists w, S' w /\ knd w = NAW /\ l' w /\ src w = e)).
Proof.
  intros N (Se & Ht & z & Mz & Lo & _ & Ae & Tc). split; auto. split; [rewrite <- Lo; now apply M_loc|].
  destruct Tc as [W|[W|[W|(Kz & Ke & Wr)]]]; [tauto| | |].
  - exfalso. apply N. rewrite <- (M_w (G:=G) z Mz); [exact W|apply W].
  - left. destruct W as (I & C). split; auto. intros Ce. apply still; auto.
  - right. split; auto. destruct Wr as [(w & Sw & Kw & Lw & Q)|(w & Sw & Kw & Lw & Q)].
    + exfalso. assert (w = m) as ->.
      { destruct Mz as [->| ->].
        - exfalso. apply (m_last (G:=G) w Sw). rewrite <- Q. now apply naw_facts.
        - destruct (pr_cases (G:=G)) as [(Q' & _)|(Km & Q' & _)]; rewrite Q' in Q.
          + exfalso. apply (m_last (G:=G) w Sw). rewrite <- Q. now apply naw_facts.
          + now apply src_naw. }
      apply N. split; [rewrite Kw; exact I|auto].
    + assert (S' w) as Sw'.
      { apply (S'_intro (G:=G)); auto. intros Mw. apply (S'_M (G:=G) e Se).
        assert (w = m) as -> by (apply (M_w (G:=G) w Mw); rewrite Kw; exact I).
        right. destruct (pr_cases (G:=G)) as [(_ & Q')|(_ & -> & _)]; auto. destruct N. split; [rewrite Kw; exact I|auto]. }
      exists w. repeat split; auto. apply still; auto. red. now rewrite Kw.
Qed.

Definition first e := back e /\ forall b, back b -> b = e \/ L e b.
Definition chosen e := (wr l m /\ back e /\ ~ (cpu e /\ rd e)) \/ (~ wr l m /\ first e).
Notation B := (least ord S S' l' L chosen).

Lemma chosen_behind e : chosen e -> back e.
Proof. intros [(_ & H & _)|(_ & H & _)]; exact H. Qed.
Lemma first_exists e : back e -> exists b, first b.
Proof.
  intros He. destruct (wf_fin _ wS) as (es & Hes).
  destruct (max_elem es back (fun a b => L b a)) as (b & Hb & K).
  - pose proof (L_sto (sc_run:=HL)) as (Hi & Ht & _). split; auto. intros x y z X Y. eauto.
  - intros a (Sa & _). apply Hes. exact (in_S a Sa).
  - eauto.
  - exists b. split; auto. intros c Hc. pose proof (L_sto (sc_run:=HL)) as (_ & _ & Hc').
    destruct (Hc' b c (in_S _ (proj1 Hb)) (in_S _ (proj1 Hc))) as [|[|X]]; auto. destruct (K c Hc X).
Qed.
(* a read of a CPU does not read the pivot, so a write that is behind it comes before *)
Lemma forced_writing : wr l m -> forall e, S e -> back e -> B e.
Proof.
  intros Wm. apply (sto_ind S tau (fun e => back e -> B e)); [exact (wf_fin _ wS)|apply g_sto|]. intros e Se IH He.
  destruct (classic (cpu e /\ rd e)) as [(Ce & Re)|N]; [|apply b_touch; left; auto].
  pose proof He as (Se' & Ht & z & Mz & Lo & _).
  destruct (ex_T e Se Re) as (u & Ru). pose proof Ru as (Su & _ & Wu & _ & Lu & Hu & K).
  assert (~ dep (rf_in S l tau) m u) as Du by (intros D; apply (g_max e Se Ce); exists u; auto).
  assert (u <> m) as Num by (intros ->; apply Du, dep_m).
  assert (loc m = loc e) as Lm by (rewrite <- Lo; symmetry; now apply M_loc).
  assert (tau m u) as Hmu by (destruct (K m) as [|X]; auto; [exact Sm|congruence]).
  assert (S' u) as Su' by now apply dep_w.
  assert (wr l' u) as Wu' by now apply T'_wr.
  assert (B u) as Bu.
  { apply IH; auto. split; auto. split; auto. exists m. split; [left; auto|]. apply touch_m; auto.
    - eapply acc_w; eauto. - eapply acc_w; eauto. - congruence. }
  assert (conflict l' u e) as Cf.
  { unfold conflict. repeat split; auto. intros ->. exact (ti _ Hu). }
  apply b_conf with u; auto. now apply (L_conf (sc_run:=HL)).
Qed.
Lemma forced_still : ~ wr l m -> forall e, back e -> B e.
Proof.
  intros N e He. destruct (first_exists e He) as (b & Hb & K). assert (B b) as Bb by (apply b_touch; right; split; auto;
    split; auto).
  destruct (K e He) as [->|Hbe]; [auto|]. assert (b <> e) as Nbe by (intros ->; exact (proj1 (L_sto (sc_run:=HL)) _ Hbe)).
  destruct (behind_still b N Hb) as (Sb & Lb & Wb), (behind_still e N He) as (Se & Le & We).
  assert (forall x, knd x = NAR -> rd x) as Rd by (intros x K'; unfold rd; now rewrite K').
  destruct Wb as [Wb|(Kb & _)], We as [We|(Ke & w & Sw & Kw & Lw & Q)].
  - apply b_conf with b; auto. unfold conflict. repeat split; auto. congruence.
  - apply b_conf with b; auto. unfold conflict. repeat split; auto. congruence.
  - apply b_conf with b; auto. unfold conflict. repeat split; auto. congruence.
  - destruct (naw_facts w Kw) as (_ & _ & _ & Lsw). rewrite <- Q in *. apply b_rao with b; auto. congruence.
Qed.
Lemma behind_forced e : back e -> B e.
Proof.
  intros He. destruct (classic (wr l m)); [|now apply forced_still]. apply forced_writing; auto. exact (in_S e (proj1 He)).
Qed.

Lemma whole : pr = rep m.
Proof.
  destruct (f_class _ _ _ _ _ _ _ _ _ F) as [(K & Q)|(K & Q)]; destruct (rep_class m) as [(K' & Q')|(K' & Q')]; congruence.
Qed.
(* the cycle leaves the pivot to an event behind it *)
Lemma begins : exists e, back e.
Proof.
  assert (pr = rep m) as Q0.
  { destruct (f_class _ _ _ _ _ _ _ _ _ F) as [(K & Q)|(K & Q)]; destruct (rep_class m) as [(K' & Q')|(K' & Q')];
    congruence. }
  pose proof (f_cycle _ _ _ _ _ _ _ _ _ F) as Cy.
  apply clos_trans_t1n in Cy. assert (exists y, scv (tr S l tau) (rep m) y) as (y & a & b & Qa & _ & E1 & N).
  { inversion Cy as [y H|y z H _]; eauto. }
  assert (pivot a) as Ma.
  { rewrite Q0. unfold M. destruct (rep_spec a) as [(K & Q & _)|(_ & Q)]; rewrite Q in Qa; [|right; auto].
    destruct (rep_spec m) as [(Km & Q' & _)|(K' & Q')]; rewrite Q' in Qa; [left; symmetry; now apply src_naw|].
    exfalso. apply (m_last (G:=G) a).
    - destruct E1 as [((X & _) & _)|X|(_ & u & X & _)|X]; auto; try apply X.
    - rewrite Qa. now apply naw_facts. }
  assert (on (tr S l tau) po a b \/ (rf_in S l tau a b \/ rb (tr S l tau) a b \/ mo_in S l tau a b)) as [((Sa & _) & (Sb &
    _) & H)|H].
  { destruct E1; auto. }
  - exfalso. destruct Ma as [->| ->]; [exact (m_last (G:=G) b Sb H)|].
    destruct (rep_spec m) as [(Km & Q' & _)|(K' & Q')]; rewrite Q0, Q' in H; [|exact (m_last (G:=G) b Sb H)].
    destruct (naw_next m b Km H) as [->|X]; [|exact (m_last (G:=G) b Sb X)]. apply N. split; congruence.
  - destruct (eco_conflict S l tau a b g_sto H) as (Sa & Sb & (Aa & Ab & Aw & Lo & Nab) & Hab).
    assert (forall x, wr l x \/ rd x -> acc x) as Acc by (intros x [Q|Q]; [exact (acc_w x _ Q)|now apply acc_r]).
    exists b. assert (~ pivot b) as Nb.
    { intros Mb. destruct (M_le (G:=G) b Mb) as [->|Y].
      - destruct Ma as [->| ->]; [tauto|]. destruct (rep_spec m) as [(Km & Q' & _)|(K' & Q')]; [|congruence].
        apply N. split; congruence.
      - destruct Ma as [->| ->]; [exact (ta _ _ Hab Y)|]. destruct Mb as [->| ->]; [exact (ti _ Y)|tauto]. }
    assert (S' b) as Sb' by (apply in_S'; auto). split; auto. split.
    + destruct (t_tot m b Sm Sb) as [<-|[X|X]]; auto; [destruct Nb; left; auto|].
      destruct Ma as [->| ->]; [destruct (ta _ _ X Hab)|]. destruct (f_empty _ _ _ _ _ _ _ _ _ F b Sb' Hab X).
    + exists a. split; auto. split; auto. split; auto. split; auto. tauto.
Qed.

Lemma rf_same (S0 l1 l2 : ev -> Prop) lt u e : (forall x, cond x -> (l1 x <-> l2 x)) -> rf_in S0 l1 lt u e -> rf_in S0 l2
  lt u e.
Proof.
  intros H (Su & Se & Wu & Re & Lo & L0 & K).
  assert (forall x, wr l1 x <-> wr l2 x) as Hw.
  { intros x. unfold wr. split; intros (I & C); split; auto; intros Cx; apply (H x Cx); auto. }
  split; [auto|split; [auto|split; [now apply Hw|split; [auto|split; [auto|split; [auto|]]]]]].
  intros w Sw Ww. apply K; auto. now apply Hw.
Qed.

(* whatever begins beta or chooses, if the executed trace is violating *)
Lemma searched_from (C free lX : ev -> Prop) : (forall e, C e -> back e) -> (exists e, C e) ->
  (forall e, C e -> (wr l m -> ~ (cpu e /\ rd e)) /\ (~ wr l m -> forall b, C b -> b = e)) ->
  arranged ord S l tau m pr S' l' (around (least ord S S' l' L C) m pr L) lX free ->
  (forall e, back e -> knd e = NAR -> least ord S S' l' L C e) ->
  closed S' l' L (least ord S S' l' L C) m pr (wr l m) ->
  violating ord P (tr S lX (around (least ord S S' l' L C) m pr L)) -> searched S m pr S' l' L C lX.
Proof.
  intros CB Ex Ch A NB Cl V. assert (forall e, S' e -> S e) as Into by exact in_S.
  pose proof (s_real (arranged:=A)) as Rx.
  assert (forall z, pivot z -> cond z -> (l z <-> lX z)) as Real.
  { intros z Mz Cz. assert (z = m) as -> by (apply (M_w (G:=G) z Mz); unfold cond in Cz; destruct (knd z); simpl in *;
    tauto).
    pose proof (early (G:=G) m Sm (or_introl (or_introl eq_refl)) Cz) as D.
    assert (lY (l:=l) (m:=m) (pr:=pr) (l':=l') m <-> lX m) as H.
    { apply (X_live (A:=A)); auto; [exact Sm|]. intros Y. apply D. exact (poison_r (A:=A) _ Y). }
    rewrite <- H. unfold lY, M. tauto. }
  assert (wr l m <-> wr lX m) as Wm.
  { unfold wr. split; intros (I & Cw); split; auto; intros Cm; apply (Real m (or_introl eq_refl) Cm); auto. }
  constructor; auto.
  - exact g_last.
  - exact g_S'.
  - exact (L_sto (sc_run:=HL)).
  - exact (sc_run_machine L).
  - exact (f_class _ _ _ _ _ _ _ _ _ F).
  - exact (f_ends _ _ _ _ _ _ _ _ _ F).
  - intros e He. pose proof (CB e He) as (Se & Ht & z & Mz & Lo & _ & Ae & Tc). split; auto.
    split; [intros K; exact (ta _ _ Ht (g_init (base:=g_base) e m (in_S e Se) Sm K (proj1 (proj2 g_last))))|]. exists z.
    split; auto. split; auto. split; auto. rewrite <- Wm. destruct (classic (wr l m)) as [|N]; auto. right.
    destruct (behind_still e N (CB e He)) as (_ & Le & [W|(Ke & Hw)]); auto. right.
    destruct Tc as [W|[W|[(W & _)|(Kz & _)]]]; [tauto| | |auto].
    + destruct N. rewrite <- (M_w (G:=G) z Mz); [exact W|apply W].
    + rewrite Ke in W. destruct W.
  - intros e He. rewrite <- Wm. now apply Ch.
  - intros b Hb. apply (least_start (G:=G) L C CB); auto.
  - intros c Bc Cc Q. pose proof (least_after (G:=G) L C CB c Bc) as (Sc & Hc).
    assert (noninit c) as Nc by (unfold noninit, cpu in *; destruct (knd c); simpl in Cc; try tauto; discriminate).
    destruct (wf_total _ wS c m) as [->|[X|X]]; auto.
    + exact Sm.
    + apply g_last.
    + exact (ti _ Hc).
    + apply (ta _ _ Hc). apply (cpu_tau (G:=g_base)); auto; [exact Sm|apply g_last].
    + exact (m_last (G:=G) c (in_S c Sc) X).
  - intros x z Sx Kx Lx Mz Kz Lo Bx. pose proof (least_after (G:=G) L C CB x Bx) as (_ & Hx).
    destruct (naw_facts x Kx) as (Px & _ & Ks & Ls).
    assert (S' (src x)) as Ss by exact (wf_down _ (wfS' (G:=G)) _ _ Px Sx).
    destruct (t_tot m (src x) Sm (in_S _ Ss)) as [Q|[X|X]]; [destruct (S'_M (G:=G) _ Ss); left; auto| |].
    + apply NB; auto. split; auto. split; auto. exists z. split; auto. split; [congruence|].
      split; [right; unfold rd; now rewrite Kz|]. split; [right; unfold rd; now rewrite Ks|].
      destruct (classic (wr l m)) as [|N]; [auto|]. right; right; right. split; auto. split; auto. right.
      exists x. split; [now apply in_S|]. split; auto. split; auto. apply (still x N Sx); [red; now rewrite Kx|auto].
    + exfalso. assert (tau (src x) z) as Y.
      { destruct Mz as [->| ->]; [exact X|]. destruct (t_tot (src x) pr (in_S _ Ss) (Spr (G:=G))) as [Q|[Y|Y]]; auto.
        - destruct (S'_M (G:=G) _ Ss). right; auto.
        - destruct (f_empty _ _ _ _ _ _ _ _ _ F _ Ss Y X). }
      assert (tau x z) as Z by (apply rao_slots; auto; exact (M_S (G:=G) z Mz)).
      destruct (M_le (G:=G) z Mz) as [->|W]; [exact (ta _ _ Hx Z)|exact (ta _ _ Hx (tt _ _ _ Z W))].
  - intros z b Mz Kz N Sb Kb Lo Bb. pose proof (least_after (G:=G) L C CB b Bb) as (_ & Hb).
    assert (b <> z) as Nbz by (intros ->; exact (S'_M (G:=G) z Sb Mz)).
    assert (tau b z) as Y by (apply (stop_tau (G:=G)); auto; exact (M_S (G:=G) z Mz)).
    destruct (M_le (G:=G) z Mz) as [->|W]; [exact (ta _ _ Hb Y)|exact (ta _ _ Hb (tt _ _ _ Y W))].
  - exact (closed_if S' l' L _ m pr _ _ Wm Cl).
  - intros c Sc Cc (d & R & D). apply (g_max c Sc Cc). apply (poison_r (A:=A)).
    assert (forall u x, rf_in S (acting m pr l' lX) (around (least ord S S' l' L C) m pr L) u x ->
      rf_in S (lY (l:=l) (m:=m) (pr:=pr) (l':=l')) (around (least ord S S' l' L C) m pr L) u x) as H.
    { intros u x. apply rf_same. intros y Cy. unfold acting, lY. destruct (classic (pivot y)) as [My|My]; [|tauto].
      rewrite (Real y My Cy). tauto. }
    exists d. split; [now apply H|]. eapply dep_more; [exact H|exact D].
Qed.
Theorem proof_searched : exists lX, searched S m pr S' l' L chosen lX.
Proof.
  destruct (theorem_7_atomics (G:=G) L chosen (f_empty _ _ _ _ _ _ _ _ _ F) chosen_behind behind_forced
    (f_stop _ _ _ _ _ _ _ _ _ F) (f_cycle _ _ _ _ _ _ _ _ _ F)) as (lX & A & V).
  exists lX. apply (searched_from chosen none lX chosen_behind); auto.
  - destruct begins as (e & He). assert (B e) as Be by now apply behind_forced.
    destruct (least_start (G:=G) L chosen chosen_behind e Be) as (b & Hb & _). eauto.
  - intros e [(W & _ & N)|(W & Fe)].
    + split; [auto|]. tauto.
    + split; [tauto|]. intros _ b [(W' & _)|(_ & Fb)]; [tauto|].
      destruct (proj2 Fe b (proj1 Fb)) as [|X]; auto. destruct (proj2 Fb e (proj1 Fe)) as [|Y]; auto.
      destruct (sto_asym _ _ _ _ (L_sto (sc_run:=HL)) X Y).
  - intros e He _. now apply behind_forced.
  - apply (taint_closes (G:=G) (tau:=tau) (l:=l) (S:=S)); auto.
    + exact (f_empty _ _ _ _ _ _ _ _ _ F).
    + exact whole.
    + exact (least_after (G:=G) L chosen chosen_behind).
    + exact behind_forced.
    + exact (f_cycle _ _ _ _ _ _ _ _ _ F).
Qed.
End Proof.

Theorem normal_form_searched : one_kind P -> ~ robust ord P ->
  exists S m pr S' l' L C lX, searched S m pr S' l' L C lX.
Proof.
  intros O N. assert (exists T, violating ord P T) as (T1 & V1).
  { apply NNPP; intro K. apply N. intros T V. apply K; eauto. }
  destruct (smallest_exists ord P T1 V1) as (n & T & Cn & V & Sm).
  destruct (base_exists ord P T V) as (tau & B).
  destruct (found_exists ord P (S T) n Sm Cn (live T) tau O B) as (l2 & tau2 & m & pr & S' & l' & F).
  destruct (sc_run_exists (G:=f_setting _ _ _ _ _ _ _ _ _ F) (f_sc _ _ _ _ _ _ _ _ _ F)) as (L & HL).
  destruct (proof_searched _ _ _ _ _ _ _ F L (HL:=HL)) as (lX & H). eauto 10.
Qed.

(* polls can be counted, as without RMWs (R1 and R2 for beta, and Corollary 4) *)
Theorem polls_counted S m pr S' l' L C lX : searched S m pr S' l' L C lX -> let B := least ord S S' l' L C in
  R1 ord S' B /\ R2 ord S' B /\
  forall w p w0, S' p -> ~ B p -> pf w p -> forcing ord S' B w0 -> qp w0 = qp w -> po w w0.
Proof.
  intros H B. destruct (n_machine _ _ _ _ _ _ _ _ H) as (_ & W' & _).
  assert (R1 ord S' B) as H1 by (intros b a _ Sa Bb O; apply b_keep with b; auto; now apply k_oppo).
  assert (R2 ord S' B) as H2.
  { intros w p Sp Hp (_ & Bw & [K|(K & e & _ & Be & Ke & Pe)]).
    - apply b_keep with w; auto. now apply k_poll.
    - apply b_keep with e; auto. now apply k_forcing with w. }
  split; auto. split; auto. now apply (corollary_4_atomics ord).
Qed.
End Searched.
