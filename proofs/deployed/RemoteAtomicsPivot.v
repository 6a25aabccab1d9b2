(* Remote atomics: taking out the pivot, where other RMWs may flip (Lemma 2 with M2). *)
Require Import List Arith Lia Classical Relations.
From RR Require Import Orders RemoteAtomicsModel RemoteAtomicsRules RemoteAtomicsValues RemoteAtomicsTraces.

Section Pivot.
Context {U : slots} (ord : bool) (P : program).
Variables (S l : ev -> Prop) (tau : relation ev) (m pr : ev) (S' l' : ev -> Prop).
Let T := tr S l tau.

(* m is last of its thread; [pr] is m, or its naR if m is a naW: then both are the pivot *)
Definition M e := e = m \/ e = pr.
Class setting : Prop := {
  g_V : violating ord P T;
  g_sto : sto S tau;
  g_init : initfirst S tau;
  g_ob : forall a b, ob1 ord T a b -> tau a b;
  (* the slot of a naW that does not happen stands directly behind its naR *)
  g_adj : forall x e, S x -> knd x = NAW -> ~ l x -> S e -> tau e x -> e = src x \/ tau e (src x);
  g_void : forall x, S x -> knd x = NAW -> ~ l x -> tau (src x) x;
  g_last : last S m;
  g_pr : pr = rep m;
  (* no CPU event depends on m *)
  g_max : forall c, S c -> cpu c -> ~ depr (rf_in S l tau) m c;
  g_S' : forall e, S' e <-> S e /\ ~ M e;
  g_run : runs P S';
  g_real : real_in S' l' tau;
}.
Context {G : setting}.

Lemma W : wfS S. Proof. apply g_V. Qed.
Lemma Sm : S m. Proof. apply g_last. Qed.
Lemma m_last b : S b -> ~ po m b. Proof. apply g_last. Qed.
Lemma Spr : S pr. Proof. rewrite g_pr. apply rep_S; auto using W, Sm. Qed.
Lemma t_irr a : ~ tau a a. Proof. apply g_sto. Qed.
Lemma t_trans' a b c : tau a b -> tau b c -> tau a c. Proof. apply g_sto. Qed.
Lemma t_asym a b : tau a b -> ~ tau b a. Proof. apply (sto_asym _ _ _ _ g_sto). Qed.
Lemma t_tot a b : S a -> S b -> a = b \/ tau a b \/ tau b a. Proof. apply g_sto. Qed.
Lemma O_T : O_oppo ord S l tau /\ O_poll S tau /\ O_forcing S tau /\ O_fence S tau /\ O_rao S l tau.
Proof. apply rules_only_if with (ord := ord); auto using W, g_sto, g_ob. Qed.

Lemma naw_facts x : knd x = NAW -> po (src x) x /\ qp (src x) = qp x /\ knd (src x) = NAR /\ loc (src x) = loc x.
Proof. intros K. destruct (src_ok x) as (A & B & C); [rewrite K; exact I|]. rewrite K in C. tauto. Qed.
Lemma src_S w : S w -> nicw w -> S (src w).
Proof. intros Sw N. eapply wf_down; [apply W| |exact Sw]. now apply src_ok. Qed.
Lemma src_tau : srcfwd S tau.
Proof.
  intros w Sw N. split; [now apply src_S|].
  destruct (classic (knd w = NAW /\ ~ l w)) as [(K & L)|K]; [now apply g_void|].
  apply (proj1 O_T).
  - apply rd_in_E; [now apply src_S|now apply src_rd].
  - split; auto. intros K'. apply NNPP. tauto.
  - destruct (src_ok w N) as (A & B & C). split; auto. unfold nicw in N.
    destruct (knd w); simpl in *; try tauto; [rewrite C|destruct C as [-> |[-> | ->]]|destruct C as (-> & _)]; simpl; auto.
Qed.

(* oppo leads forward between slots as well: a naW that does not happen stands with its naR *)
Lemma oppo_slots a b : S a -> S b -> oppo ord a b -> tau a b.
Proof.
  assert (forall a b, S a -> S b -> (knd a = NAW -> l a) -> oppo ord a b -> tau a b) as H.
  { intros a0 b0 Sa Sb La O. destruct (classic (knd b0 = NAW /\ ~ l b0)) as [(K & L)|K].
    - destruct (naw_facts b0 K) as (Pb & Qb & Ks & _). pose proof (g_void b0 Sb K L) as Y.
      destruct (wf_total _ W a0 (src b0)) as [->|[X|X]]; auto.
      + eapply wf_down; eauto using W.
      + eapply po_init_l; apply O.
      + unfold noninit; congruence.
      + destruct O as (O & _). rewrite (po_thr _ _ O). symmetry. now apply po_thr.
      + apply t_trans' with (src b0); auto. apply (proj1 O_T); [now split|apply rd_in_E; [eapply wf_down; eauto using W|]|].
        * unfold rd; now rewrite Ks.
        * split; auto. destruct O as (_ & O). rewrite K in O. rewrite Ks, Qb. destruct (knd a0); simpl in *; auto.
      + destruct (naw_next b0 a0 K X) as [->|Z]; destruct O as (O & _); [destruct (po_irr _ O)|].
        destruct (po_irr b0); eapply po_trans; eauto.
    - apply (proj1 O_T); auto. { now split. } split; auto. intros K'. apply NNPP. tauto. }
  intros Sa Sb O. destruct (classic (knd a = NAW /\ ~ l a)) as [(K & L)|K].
  2:{ apply H; auto. intros K'. apply NNPP. tauto. }
  destruct (naw_facts a K) as (Pa & Qa & Ks & _).
  assert (tau (src a) b) as X.
  { apply H; auto.
    - eapply wf_down; eauto using W.
    - congruence.
    - destruct O as (O & Q). split; [eapply po_trans; eauto|]. rewrite K in Q. rewrite Ks, Qa. destruct (knd b); simpl in *; tauto. }
  destruct (t_tot a b Sa Sb) as [->|[|Y]]; auto.
  - destruct O as (O & _). destruct (po_irr _ O).
  - destruct (g_adj a b Sa K L Sb Y) as [->|Z]; [destruct (t_irr _ X)|destruct (t_asym _ _ X Z)].
Qed.
Lemma rao_slots x b : S x -> knd x = NAW -> S b -> knd b = NAR -> loc b = loc x -> tau (src x) b -> tau x b.
Proof.
  intros Sx K Sb Kb Lb H. destruct (naw_facts x K) as (Pa & Qa & Ks & Lx).
  destruct (classic (l x)) as [L|L].
  - apply O_T; auto. { split; auto. red; auto. } split; [eapply wf_down; eauto using W|].
    split; [auto|split; [auto|split; [auto|split; [congruence|auto]]]].
  - destruct (t_tot x b Sx Sb) as [->|[|Y]]; auto; [congruence|].
    destruct (g_adj x b Sx K L Sb Y) as [->|Z]; [destruct (t_irr _ H)|destruct (t_asym _ _ H Z)].
Qed.

(* what depends on m comes after it *)
Let rfT := rf_in S l tau.
Lemma dep_after e : dep rfT m e -> S e -> e = m \/ tau m e.
Proof.
  intros D; induction D as [|w d C R D IH]; intros Sw; [auto|right].
  assert (tau (src w) w \/ src w = w) as X.
  { destruct (classic (nicw w)) as [N|N]; [left; now apply src_tau|right]. destruct C as [C|C]; [tauto|].
    destruct (cond_cases w C); tauto. }
  destruct (IH (proj1 R)) as [->|Y]; destruct R as (_ & _ & _ & _ & _ & R & _);
  destruct X as [X|X]; try rewrite X in *; eauto using t_trans'.
Qed.
Lemma depr_after r : depr rfT m r -> tau m r.
Proof.
  intros (d & R & D). destruct (dep_after d D (proj1 R)) as [->|X]; destruct R as (_ & _ & _ & _ & _ & R & _);
  eauto using t_trans'.
Qed.
Lemma pr_cases : (pr = m /\ knd m <> NAW) \/ (knd m = NAW /\ pr = src m /\ po pr m /\ knd pr = NAR /\ tau pr m).
Proof.
  rewrite g_pr. destruct (rep_spec m) as [(K & -> & A & B)|(K & ->)]; [right|left; auto]. repeat split; auto.
  apply src_tau; [apply Sm|unfold nicw; now rewrite K].
Qed.
Lemma M_le z : M z -> z = m \/ tau z m.
Proof. intros [->| ->]; auto. destruct pr_cases as [(->&_)|(_&_&_&_&?)]; auto. Qed.
Lemma M_S z : M z -> S z. Proof. intros [->| ->]; auto using Sm, Spr. Qed.
Lemma M_w z : M z -> is_w (knd z) -> z = m.
Proof. intros [->| ->] H; auto. destruct pr_cases as [(->&_)|(_&_&_&K&_)]; auto. rewrite K in H; destruct H. Qed.
Lemma S'_S e : S' e -> S e. Proof. intros H. now apply g_S'. Qed.
Lemma S'_M e : S' e -> ~ M e. Proof. intros H. now apply g_S'. Qed.
Lemma S'_intro e : S e -> ~ M e -> S' e. Proof. intros. now apply g_S'. Qed.
Lemma after_S' e : S e -> tau m e -> S' e.
Proof.
  intros Se H. apply S'_intro; auto. intros N. destruct (M_le e N) as [->|X]; [eapply t_irr; eauto|eapply t_asym; eauto].
Qed.
Lemma M_clean e u : M e -> rfT u e -> ~ dep rfT m u.
Proof. intros N R D. assert (tau m e) as X by (apply depr_after; exists u; auto). exact (S'_M e (after_S' e (M_S e N) X) N). Qed.

Lemma dep_w u : S u -> wr l u -> ~ dep rfT m u -> S' u.
Proof. intros Su (Iu & _) D. apply S'_intro; auto. intros N. rewrite (M_w u N Iu) in D. apply D, dep_m. Qed.

Lemma po_final a e : M a -> S e -> po a e -> M e.
Proof.
  intros [->| ->] Se H; [destruct (m_last e Se H)|].
  destruct pr_cases as [(Q&_)|(K&Q&_)]; [rewrite Q in H; destruct (m_last e Se H)|].
  rewrite Q in H. destruct (naw_next m e K H) as [->|X]; [left; auto|destruct (m_last e Se X)].
Qed.
Lemma wfS' : wfS S'.
Proof.
  pose proof W as W0. constructor.
  - destruct (wf_fin _ W0) as (es & H). exists es. intros e He. apply H, S'_S, He.
  - intros a b H Sb. apply S'_intro; [eapply wf_down; eauto using S'_S|]. intros N.
    apply (S'_M b Sb). eapply po_final; eauto using S'_S.
  - intros a b Sa Sb. apply W0; auto using S'_S.
  - intros w p w' Sp. apply W0. auto using S'_S.
  - intros e x Se Sx K H. destruct (wf_get _ W0 e x (S'_S _ Se) (S'_S _ Sx) K H) as (w & Sw & Kw & Q & X).
    exists w. repeat split; auto. apply S'_intro; auto. intros N. destruct X as [->|X]; [exact (S'_M x Sx N)|].
    exact (S'_M x Sx (po_final w x N (S'_S _ Sx) X)).
  - intros e x Se Sx K H. destruct (wf_naw _ W0 e x (S'_S _ Se) (S'_S _ Sx) K H) as (w & Sw & Kw & Q).
    exists w. repeat split; auto. apply S'_intro; auto. intros N. apply (S'_M e Se).
    destruct N as [->|N]; [right|].
    + rewrite g_pr. destruct (rep_spec m) as [(_ & -> & _)|(Z & _)]; congruence.
    + destruct pr_cases as [(Z & Kz)|(_ & _ & _ & Kz & _)]; congruence.
  - intros e Se Re. destruct (wf_init _ W0 e (S'_S _ Se) Re) as (i & Si & K & L). exists i. repeat split; auto.
    apply S'_intro; auto. intros N. destruct N as [->|N]; [now apply g_last|].
    rewrite N, g_pr in K. apply (rep_noninit m); [apply g_last|auto].
  - intros i j Si Sj. apply W0; auto using S'_S.
Qed.
Lemma sto' : sto S' tau. Proof. apply (sto_sub S); auto using S'_S, g_sto. Qed.
Lemma init' : initfirst S' tau. Proof. intros i x Si Sx. apply g_init; auto using S'_S. Qed.
Lemma src' : srcfwd S' tau.
Proof. intros w Sw N. split; [|now apply src_tau; auto using S'_S]. eapply wf_down; [apply wfS'| |exact Sw]. now apply src_ok. Qed.
Lemma ex_T r : S r -> rd r -> exists w, rfT w r.
Proof. intros. apply rf_in_ex; auto using g_sto, g_init; apply W. Qed.

Let rf' := rf_in S' l' tau.
Lemma flip_adj x a : S' x -> knd x = NAW -> ~ l x -> S a -> is_w (knd a) -> loc a = loc x -> tau a x -> tau a (src x).
Proof.
  intros Sx K L Sa Ia _ H. destruct (g_adj x a (S'_S _ Sx) K L Sa H) as [->|]; auto.
  destruct (naw_facts x K) as (_ & _ & X & _). rewrite X in Ia. destruct Ia.
Qed.
Lemma T_real x : S x -> cond x -> (l x <-> exists u, wval rfT x u).
Proof. apply (proj1 g_V). Qed.
Lemma T'_rf e u : S' e -> rd e -> rfT u e -> ~ dep rfT m u -> rf' u e.
Proof.
  apply (flip_rf S S' l l' tau m); eauto using g_sto, S'_S, dep_w, flip_adj, T_real, g_real, src', ex_T. apply W.
Qed.
Lemma T'_live e : S' e -> cond e -> ~ depr rfT m (src e) -> (l e <-> l' e).
Proof.
  apply (flip_live S S' l l' tau m); eauto using g_sto, S'_S, dep_w, flip_adj, T_real, g_real, src', ex_T. apply W.
Qed.
Lemma T'_val d v : S' d -> ~ dep rfT m d -> (wval rfT d v <-> wval rf' d v).
Proof.
  apply (flip_val S S' l l' tau m); eauto using g_sto, S'_S, dep_w, flip_adj, T_real, g_real, src', ex_T. apply W.
Qed.
Lemma T'_wr u : S' u -> wr l u -> ~ dep rfT m u -> wr l' u.
Proof.
  intros Su (Iu & Cu) D. split; auto. intros C. apply (T'_live u); auto. intros (d & R & D'). apply D, dep_src with d; auto.
Qed.

(* Lemma 2 (1) *)
Theorem lemma_2_1_atomics : trace_of P (tr S' l' tau).
Proof.
  split; [apply g_run|split; [|split]].
  - apply tr_wft; auto using wfS', sto', init'. intros a b (Sa & Sb & Ka & Kb & Lo & H).
    destruct (t_rao_naw T (proj1 (proj2 (proj1 g_V))) a b) as (w & Sw & Kw & Q).
    { repeat split; auto using S'_S. }
    exists w. repeat split; auto. apply S'_intro; auto. intros [->|N].
    + apply (S'_M a Sa). right. rewrite g_pr. destruct (rep_spec m) as [(_ & -> & _)|(Z & _)]; congruence.
    + destruct pr_cases as [(Z & Kz)|(_ & _ & _ & Kz & _)]; congruence.
  - intros c (Sc & _) Cc Rc. destruct (proj1 (proj2 (proj2 (proj1 g_V))) c) as (u & R & V); auto.
    { apply rd_in_E; auto. now apply S'_S. }
    assert (~ dep rfT m u) as D. { intros D. apply (g_max c (S'_S _ Sc) Cc). exists u; auto. }
    exists u. split; [now apply T'_rf|]. apply T'_val; auto. apply dep_w; auto; apply R.
  - exact g_real.
Qed.

(* Lemma 2 (2) *)
Theorem lemma_2_2_atomics : rdma_consistent ord (tr S' l' tau).
Proof.
  destruct O_T as (_ & H2 & H3 & H4 & _).
  apply rules_consistent; auto using wfS', sto'.
  - intros a b Ea Eb O. apply oppo_slots; auto; apply S'_S; [apply Ea|apply Eb].
  - intros w p Sp. apply H2. now apply S'_S.
  - intros e w p Sp. apply H3. now apply S'_S.
  - intros w f r Sw Sf Sr. apply H4; now apply S'_S.
  - intros w b (Sw & _) K (_ & Sb & _ & Kb & Lo & H). apply rao_slots; auto using S'_S.
    destruct (naw_facts w K) as (_ & _ & _ & X). simpl in *. congruence.
Qed.

End Pivot.
