(* Remote atomics: a violating trace and an order that contains its ob, slots of naW that do not happen included. *)
Require Import List Arith Lia Classical Relations.
From RR Require Import Orders RemoteAtomicsModel RemoteAtomicsRules RemoteAtomicsValues RemoteAtomicsTraces.

Section Base.
Context {U : slots} {ord : order} {P : program} {S l : ev -> Prop} {tau : relation ev}.
Let T := tr S l tau.

Class base : Prop := {
  g_V : violating ord P T;
  g_sto : sto S tau;
  g_init : initfirst S tau;
  g_ob : forall a b, ob1 ord T a b -> tau a b;
  (* the slot of a naW that does not happen stands directly behind its naR *)
  g_adj : forall x e, S x -> knd x = NAW -> ~ l x -> S e -> tau e x -> e = src x \/ tau e (src x);
  g_void : forall x, S x -> knd x = NAW -> ~ l x -> tau (src x) x;
}.
Context {G : base}.

Lemma W : wfS S. Proof. apply g_V. Qed.
Lemma t_irr a : ~ tau a a. Proof. apply g_sto. Qed.
Lemma t_trans' a b c : tau a b -> tau b c -> tau a c. Proof. apply g_sto. Qed.
Lemma t_asym a b : tau a b -> ~ tau b a. Proof. apply (sto_asym _ _ _ _ g_sto). Qed.
Lemma t_tot a b : S a -> S b -> a = b \/ tau a b \/ tau b a. Proof. apply g_sto. Qed.
Lemma O_T : O_oppo ord S l tau /\ O_poll S tau /\ O_forcing ord S tau /\ O_fence ord S tau /\ O_rao S l tau.
Proof. apply rules_only_if with (ord := ord); auto using W, g_sto, g_ob. Qed.

Lemma naw_facts x : knd x = NAW -> po (src x) x /\ qp (src x) = qp x /\ knd (src x) = NAR /\ loc (src x) = loc x.
Proof. intros K. destruct (src_ok x (naw_fed x K)) as (A & B & C). rewrite K in C. tauto. Qed.
Lemma src_S w : S w -> fed w -> S (src w).
Proof. intros Sw N. eapply wf_down; [apply W| |exact Sw]. now apply src_ok. Qed.
Lemma src_tau w : S w -> fed w -> S (src w) /\ tau (src w) w.
Proof.
  intros Sw N. split; [now apply src_S|].
  destruct (classic (knd w = NAW /\ ~ l w)) as [(K & L)|K]; [now apply g_void|].
  apply (proj1 O_T).
  - apply rd_in_E; [now apply src_S|now apply src_rd].
  - split; auto. intros K'. apply NNPP. tauto.
  - now apply src_oppo.
Qed.
Lemma src_before w : S w -> fed w -> tau (src w) w.
Proof. intros. now apply src_tau. Qed.

(* oppo leads forward between slots as well: a naW that does not happen stands with its naR *)
Lemma column a x : knd x = NAW -> po a (src x) -> oppo ord a x -> oppo ord a (src x).
Proof.
  intros K Pa (_ & O). destruct (naw_facts x K) as (Px & Qx & Ks & _). split; auto. right.
  destruct O as [Q|O]; [rewrite Q in Pa; destruct (po_irr _ Pa)|].
  pose proof (rmw_column ord (knd a)) as H. rewrite K in O. rewrite Ks, Qx. unfold seen, seen_in in H.
  destruct (nic_kind (knd a)) eqn:N.
  - pose proof (nic_not_all ord (knd a) NAW N). pose proof (nic_not_all ord (knd a) NAR N).
    destruct (table ord (knd a) NAW), (table ord (knd a) NAR); try tauto; try congruence;
    specialize (H eq_refl); discriminate.
  - rewrite (cpu_all ord (knd a)); auto; [|discriminate]. apply po_init_l in Pa. destruct (knd a); try discriminate; auto.
Qed.
Lemma row x b : knd x = NAW -> oppo ord x b -> oppo ord (src x) b.
Proof.
  intros K O. pose proof O as (Pb & _). destruct (naw_facts x K) as (Px & Qx & Ks & _).
  assert (po (src x) b) as P' by (eapply po_trans; eauto). split; auto. right.
  destruct O as (_ & [Q|O]).
  { destruct (fed_rd b (po_fed _ _ Pb Q)) as (X & _). rewrite Q in X. unfold rd in X. rewrite K in X. destruct X. }
  rewrite K in *. rewrite Ks, Qx. assert (seen ord NAR (knd b) = true) as H'.
  { apply inst_seen; [auto|]. apply rmw_row. unfold issued, issued_in. destruct (table _ _ _); tauto. }
  unfold seen, seen_in in H'. pose proof (nic_not_all ord NAR (knd b) eq_refl).
  pose proof (nic_not_all ord NAW (knd b) eq_refl). destruct (table ord NAW (knd b)), (table ord NAR (knd b)); tauto || congruence.
Qed.
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
        * now apply column.
      + destruct (naw_next b0 a0 K X) as [->|Z]; destruct O as (O & _); [destruct (po_irr _ O)|].
        destruct (po_irr b0); eapply po_trans; eauto.
    - apply (proj1 O_T); auto. { now split. } split; auto. intros K'. apply NNPP. tauto. }
  intros Sa Sb O. destruct (classic (knd a = NAW /\ ~ l a)) as [(K & L)|K].
  2:{ apply H; auto. intros K'. apply NNPP. tauto. }
  destruct (naw_facts a K) as (Pa & Qa & Ks & _).
  assert (tau (src a) b) as X.
  { apply H; auto; [eapply wf_down; eauto using W|congruence|now apply row]. }
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
Lemma dep_after m e : dep rfT m e -> S e -> e = m \/ tau m e.
Proof.
  intros D; induction D as [|w d C R D IH]; intros Sw; [auto|right].
  assert (tau (src w) w \/ src w = w) as X.
  { destruct (classic (fed w)) as [N|N]; [left; now apply src_tau|right]. destruct C as [C|C]; [tauto|].
    destruct (cond_cases w C); tauto. }
  destruct (IH (proj1 R)) as [->|Y]; destruct R as (_ & _ & _ & _ & _ & R & _);
  destruct X as [X|X]; try rewrite X in *; eauto using t_trans'.
Qed.
Lemma depr_after m r : depr rfT m r -> tau m r.
Proof.
  intros (d & R & D). destruct (dep_after m d D (proj1 R)) as [->|X]; destruct R as (_ & _ & _ & _ & _ & R & _);
  eauto using t_trans'.
Qed.
Lemma ex_T r : S r -> rd r -> exists w, rfT w r.
Proof. intros. apply rf_in_ex; auto using g_sto, g_init; apply W. Qed.

(* the short edges of Lemma 3 that are po edges *)
Inductive keeps a b : Prop :=
| k_oppo : oppo ord a b -> keeps a b
| k_poll : pf a b -> knd a = NLW -> keeps a b
| k_forcing w : pf w b -> knd w = NRW -> nic_inst (knd a) = true -> ippo ord a w -> keeps a b
| k_fence f : flush ord = true -> S f -> knd a = NLW -> knd f = NF -> knd b = NLR -> qp a = qp f -> qp f = qp b ->
  po a f -> po f b -> keeps a b.

Lemma keeps_po a b : keeps a b -> po a b.
Proof.
  intros [H|H _|w H _ _ (H' & _)|f _ _ _ _ _ _ _ H H']; [apply H|now apply pf_ok| |]; eapply po_trans; eauto. now apply pf_ok.
Qed.
Lemma keeps_tau a b : S a -> S b -> keeps a b -> tau a b.
Proof.
  destruct O_T as (_ & H2 & H3 & H4 & _). intros Sa Sb [H|H K|w H K Ka H'|f Fl Sf Ka Kf Kb Q Q' H H'].
  - now apply oppo_slots.
  - now apply H2.
  - now apply (H3 a w b).
  - now apply (H4 Fl a f b).
Qed.

Lemma T_real x : S x -> cond x -> (l x <-> exists u, wval rfT x u).
Proof. apply (proj1 g_V). Qed.

End Base.
Arguments base {U} ord P S l tau.
