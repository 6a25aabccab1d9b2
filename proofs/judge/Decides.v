(* The decision of the axioms is right, both ways. *)
Require Import List Arith ZArith Bool Lia Relations.
Import ListNotations.
From RR Require Import Model Hardware CpuSc Programs Places Listed Checks Listing Closure Axioms.

Section Decides.
Variables (hw : hardware) (g : graph).
Context {SC : cpu_sc hw}.
Let T := trace_of_graph g.
Let vs := vertices (length (holds g)) (sequences g).
Let n := length vs.
Let at_ i := nth i vs (inl 0).
Let is_at i x := nth_error (event_list g) i = Some x.
Let says := says g.

Lemma in_trace i x : is_at i x -> Model.E T x.
Proof. intros H. apply event_at. eauto. Qed.
Lemma says_or f f' R R' : says f R -> says f' R' -> says (fun i j => f i j || f' i j) (fun x y => R x y \/ R' x y).
Proof.
  intros (I & F) (I' & F'). split.
  - intros x y [H|H]; auto.
  - intros i j x y Hx Hy. now rewrite orb_true_iff, (F i j x y Hx Hy), (F' i j x y Hx Hy).
Qed.
Lemma says_iff f R R' : says f R -> (forall x y, R x y <-> R' x y) -> says f R'.
Proof.
  intros (I & F) H. split.
  - intros x y K. apply I, H, K.
  - intros i j x y Hx Hy. now rewrite (F i j x y Hx Hy).
Qed.
(* a structural relation, restricted to the events of the trace *)
Lemma says_on (t : vertex -> vertex -> bool) (R : relation event) :
  (forall i j x y, is_at i x -> is_at j y -> (t (at_ i) (at_ j) = true <-> R x y)) ->
  says (fun i j => t (at_ i) (at_ j)) (on (U := concrete) T R).
Proof.
  intros H. split.
  - intros x y (Ex & Ey & _). split; apply event_at; auto.
  - intros i j x y Hx Hy. rewrite (H i j x y Hx Hy). split; [|intros (_ & _ & K); exact K].
    intros K. split; [eapply in_trace; eauto|split; [eapply in_trace; eauto|exact K]].
Qed.

Lemma kind_beq_spec k k' : kind_beq k k' = true <-> k = k'.
Proof. split; [apply internal_kind_dec_bl|apply internal_kind_dec_lb]. Qed.
Lemma po_at i j x y : is_at i x -> is_at j y -> (po_test (at_ i) (at_ j) = true <-> epo x y).
Proof. exact (says_po_test g i j x y). Qed.
Lemma place_cases i x : is_at i x ->
  (exists c v, at_ i = inl c /\ x = Ini c v) \/ exists p, at_ i = inr p /\ x = evt p.
Proof.
  intros H. destruct (vertex_place g i x H) as [(c & A & ->)|(p & _ & A & <-)]; [left|right]; eauto.
Qed.
Lemma kind_at i x : is_at i x -> kind_of (at_ i) = eknd x.
Proof. intros H. destruct (place_cases i x H) as [(c & v & -> & ->)|(p & -> & ->)]; reflexivity. Qed.
Lemma qp_same p q : who p = who q -> (lq (lab (what p)) =? lq (lab (what q))) = true <-> eqp (evt p) = eqp (evt q).
Proof. intros W. simpl. rewrite Nat.eqb_eq, W. split; [congruence|intros H; now inversion H]. Qed.

Lemma says_table (c : cell -> bool) (t : label -> label -> bool) i j x y : is_at i x -> is_at j y ->
  (forall l l', t l l' = match table hw (lknd l) (lknd l') with All => true | k => c k && (lq l =? lq l') end) ->
  (po_test (at_ i) (at_ j) && match at_ i, at_ j with inr p, inr q => t (lab (what p)) (lab (what q)) |
    _, _ => false end = true <->
   epo x y /\ match table hw (eknd x) (eknd y) with All => True | k => c k = true /\ eqp x = eqp y end).
Proof.
  intros Hx Hy Ht. rewrite andb_true_iff, (po_at i j x y Hx Hy).
  destruct (place_cases i x Hx) as [(e & v & -> & ->)|(p & -> & ->)]; [simpl; tauto|].
  destruct (place_cases j y Hy) as [(e & v & -> & ->)|(q & -> & ->)]; [simpl; tauto|].
  rewrite Ht. split; intros (P & H); split; auto; simpl in *; destruct P as (W & _);
  destruct (table hw (lknd (lab (what p))) (lknd (lab (what q)))); auto;
  try (apply andb_prop in H as (A & B); split; [auto|apply (proj1 (qp_same p q W) B)]);
  destruct H as (A & B); apply andb_true_iff; split; auto; exact (proj2 (qp_same p q W) B).
Qed.
Lemma says_ippo : says (fun i j => ippo_test hw (at_ i) (at_ j)) (on (U := concrete) T (ippo hw)).
Proof.
  apply says_on. intros i j x y Hx Hy.
  unfold ippo_test. rewrite (says_table (fun k => match k with Never => false | _ => true end)
    (fun l l' => match table hw (lknd l) (lknd l') with All => true | Never => false |
      _ => lq l =? lq l' end) i j x y Hx Hy).
  - unfold ippo; simpl. destruct (table hw (eknd x) (eknd y)); intuition discriminate.
  - intros l l'. now destruct (table hw (lknd l) (lknd l')).
Qed.
Lemma says_oppo : says (fun i j => oppo_test hw (at_ i) (at_ j)) (on (U := concrete) T (oppo hw)).
Proof.
  apply says_on. intros i j x y Hx Hy.
  unfold oppo_test. rewrite (says_table (fun k => match k with Qp => true | _ => false end) (kept_order hw) i j x y Hx Hy).
  - rewrite oppo_sc by exact SC. simpl. destruct (table hw (eknd x) (eknd y)); intuition discriminate.
  - intros l l'. unfold kept_order. now destruct (table hw (lknd l) (lknd l')).
Qed.
Lemma polledb_spec l h q h' : polledb l h q h' = true <-> isW q l = true /\ takes q l h h'.
Proof.
  unfold polledb, takes. rewrite andb_true_iff. destruct (isS q l); rewrite ?Nat.eqb_eq, ?Nat.leb_le; tauto.
Qed.
Lemma says_pf_at i j x y : is_at i x -> is_at j y -> (pf_test (at_ i) (at_ j) = true <-> epf x y).
Proof.
  intros Hx Hy. unfold pf_test. rewrite andb_true_iff, (po_at i j x y Hx Hy).
  destruct (place_cases i x Hx) as [(e & v & -> & ->)|(p & -> & ->)]; [simpl; tauto|].
  destruct (place_cases j y Hy) as [(e & v & -> & ->)|(q & -> & ->)]; [simpl; tauto|].
  simpl. destruct (lab (what q)); try (split; [intros (_ & H); discriminate|tauto]).
  rewrite polledb_spec. tauto.
Qed.
Lemma says_pf : says (fun i j => pf_test (at_ i) (at_ j)) (on (U := concrete) T epf).
Proof. apply says_on, says_pf_at. Qed.
Lemma says_po : says (fun i j => po_test (at_ i) (at_ j)) (on (U := concrete) T epo).
Proof. apply says_on. exact po_at. Qed.
Lemma says_pf_nlw : says (fun i j => pf_test (at_ i) (at_ j) && kind_beq (kind_of (at_ i)) NLW)
  (fun x y => on (U := concrete) T epf x y /\ eknd x = NLW).
Proof.
  destruct says_pf as (I & F). split.
  - intros x y (H & _). auto.
  - intros i j x y Hx Hy. now rewrite andb_true_iff, (F i j x y Hx Hy), kind_beq_spec, (kind_at i x Hx).
Qed.
Lemma says_rf : says (rf_test g) (rf T).
Proof. apply says_pairs. Qed.
Lemma says_mo : says (mo_test g) (mo T).
Proof. apply says_pairs. Qed.
Lemma says_nfo : says (nfo_test hw g) (flushed (U := concrete) hw T).
Proof.
  destruct (says_pairs g (nfo_pairs g)) as (I & F). split.
  - intros x y (_ & H). auto.
  - intros i j x y Hx Hy. unfold nfo_test, flushed. rewrite andb_true_iff.
    destruct (F i j x y Hx Hy) as (P & Q). split; intros (X & Y); (split; [exact X|]); [exact (P Y)|exact (Q Y)].
Qed.
Lemma says_rb : says (rb_test g) (rb (U := concrete) T).
Proof.
  destruct says_rf as (I & F), says_mo as (I' & F'). split.
  - intros x y (_ & u & H & K). split; [apply (I _ _ H)|apply (I' _ _ K)].
  - intros i j x y Hx Hy. unfold rb_test. rewrite andb_true_iff, negb_true_iff, Nat.eqb_neq, existsb_exists. split.
    + intros (N & (k & i') & J & H). simpl in H. apply andb_prop in H as (Q & H). apply Nat.eqb_eq in Q. subst i'.
      split; [intros ->; apply N; exact (number_unique g i j y Hx Hy)|].
      apply clean_in in J. destruct J as (J & Lk & _). destruct (lt_is_at g k Lk) as (u & Hu).
      exists u. split; [exists k, i; auto|]. apply (F' k j u y Hu Hy), H.
    + intros (N & u & H & K). split; [intros ->; apply N; unfold is_at in *; congruence|].
      destruct (I _ _ H) as ((k & Hk) & _). exists (k, i). simpl. split.
      * apply pair_in_spec, (F k i u x Hk Hx), H.
      * rewrite Nat.eqb_refl. apply (F' k j u y Hk Hy), K.
Qed.
Lemma says_ib1 : says (ib_test hw g) (ib1 (U := concrete) hw T).
Proof.
  eapply says_iff.
  - apply (says_or _ _ _ _ (says_or _ _ _ _ (says_or _ _ _ _ says_ippo says_pf) says_rf) says_nfo).
  - intros x y. rewrite ib1_sc by exact SC. tauto.
Qed.
Lemma says_inst_ib : says (fun i j => negb (write_kind (kind_of (at_ i))) && get (ib_closure hw g) i j)
  (fun x y => is_inst (eknd x) /\ ib (U := concrete) hw T x y).
Proof.
  destruct (says_closure g _ _ says_ib1) as (I & F). split.
  - intros x y (_ & H). auto.
  - intros i j x y Hx Hy. rewrite andb_true_iff, (kind_at i x Hx).
    change (get (ib_closure hw g) i j) with (get (closure (length (vertices (length (holds g)) (sequences g)))
      (tabulate (length (vertices (length (holds g)) (sequences g))) (ib_test hw g))) i j).
    rewrite (F i j x y Hx Hy). unfold is_inst, is_nicw. destruct (eknd x); simpl; intuition discriminate.
Qed.
Lemma says_ob1 : says (ob_test hw g (ib_closure hw g)) (ob1 (U := concrete) hw T).
Proof.
  eapply says_iff.
  - apply (says_or _ _ _ _ (says_or _ _ _ _ (says_or _ _ _ _ (says_or _ _ _ _ (says_or _ _ _ _ (says_or _ _ _ _
      says_oppo says_pf_nlw) says_rf) says_nfo) says_rb) says_mo) says_inst_ib).
  - intros x y. rewrite ob1_sc by exact SC. simpl. tauto.
Qed.
Lemma says_sc1 : says (sc_test g) (sc1 (U := concrete) T).
Proof.
  eapply says_iff.
  - apply (says_or _ _ _ _ (says_or _ _ _ _ (says_or _ _ _ _ says_po says_rf) says_rb) says_mo).
  - intros x y. split.
    + intros [[[H|H]|H]|H]; [now apply sc_po|now apply sc_rf|now apply sc_rb|now apply sc_mo].
    + intros [H|H|H|H]; auto.
Qed.

Theorem decide_rdma_spec : decide_rdma hw g = true <-> rdma_consistent (U := concrete) hw T.
Proof. apply (says_acyclic g _ _ says_ob1). Qed.
Theorem decide_sc_spec : decide_sc g = true <-> sc_consistent (U := concrete) T.
Proof. apply (says_acyclic g _ _ says_sc1). Qed.
End Decides.
