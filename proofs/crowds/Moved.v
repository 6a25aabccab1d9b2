(* Theorem 7 of docs/theory-crowds.md: a trace stays one, RDMA-consistent and not SC-consistent, when its events are
   replaced by others of the same kinds in the same order, as those of other threads, with other words and values. *)
Require Import List Classical Relations.
Import ListNotations.
From RR Require Import Model Orders Cells Traces.

Section Moved.
Context {U : events} (hw : hardware).
Variables (T : trace) (to : ev -> ev) (E2 : ev -> Prop) (extra : ev -> Prop).
Hypotheses (W : wft T) (W2 : wfE E2).
(* beside the images initial writes of words that nothing accesses *)
Hypothesis image : forall b, E2 b <-> (exists a, E T a /\ b = to a) \/ extra b.
Hypothesis extra_init : forall b, extra b -> knd b = Init.
Hypothesis extra_loc : forall b a, extra b -> E T a -> (wr a \/ rd a) -> loc (to a) <> loc b.
Hypothesis to_inj : forall a b, E T a -> E T b -> to a = to b -> a = b.
Hypothesis to_knd : forall a, E T a -> knd (to a) = knd a.
Hypothesis to_po : forall a b, E T a -> E T b -> (po a b <-> po (to a) (to b)).
Hypothesis to_pf : forall a b, E T a -> E T b -> (pf a b <-> pf (to a) (to b)).
Hypothesis to_qp : forall a b, E T a -> E T b -> noninit a -> noninit b -> (qp a = qp b <-> qp (to a) = qp (to b)).
Hypothesis to_loc : forall a b, E T a -> E T b -> (wr a \/ rd a) -> (wr b \/ rd b) -> (loc a = loc b <->
  loc (to a) = loc (to b)).

Definition img (R : relation ev) b b' := exists a a', E T a /\ E T a' /\ b = to a /\ b' = to a' /\ R a a'.
Definition moved : trace := {| E := E2; rf := img (rf T); mo := img (mo T); nfo := img (nfo T) |}.
Lemma img_in R b b' : img R b b' -> E2 b /\ E2 b'.
Proof. intros (a & a' & Ea & Ea' & -> & -> & _). split; apply image; left; eauto. Qed.
Lemma not_extra b : E2 b -> noninit b -> exists a, E T a /\ b = to a.
Proof. intros H N. apply image in H. destruct H as [H|H]; [auto|]. apply extra_init in H. now destruct N. Qed.
Lemma img_iff R a a' : E T a -> E T a' -> (img R (to a) (to a') <-> R a a').
Proof.
  intros Ea Ea'. split; [|intros H; exists a, a'; auto]. intros (x & y & Ex & Ey & Qx & Qy & H).
  apply to_inj in Qx, Qy; auto. now subst.
Qed.
Lemma to_wr a : E T a -> wr (to a) <-> wr a. Proof. intros Ea. unfold wr. now rewrite to_knd. Qed.
Lemma to_rd a : E T a -> rd (to a) <-> rd a. Proof. intros Ea. unfold rd. now rewrite to_knd. Qed.
Lemma to_nfopair a b : E T a -> E T b -> nfopair a b <-> nfopair (to a) (to b).
Proof.
  intros Ea Eb. unfold nfopair. rewrite !to_knd by auto.
  assert ((knd a = NLR /\ knd b = NLW) \/ (knd a = NLW /\ knd b = NLR) \/ (knd a = NRR /\ knd b = NRW) \/
    (knd a = NRW /\ knd b = NRR) -> (qp a = qp b <-> qp (to a) = qp (to b))) as H; [|tauto].
  intros H. apply to_qp; auto; unfold noninit; intros Q; rewrite Q in H; intuition discriminate.
Qed.
Lemma moved_wft : wft moved.
Proof.
  constructor; simpl.
  - exact W2.
  - intros w r H. split; [apply (img_in _ _ _ H)|]. split; [apply (img_in _ _ _ H)|].
    destruct H as (a & b & Ea & Eb & -> & -> & H). destruct (t_rf T W a b H) as (_ & _ & Wa & Rb & L).
    split; [now apply (to_wr a)|]. split; [now apply (to_rd b)|]. apply (to_loc a b); auto.
  - intros r Hr Rr. destruct (not_extra r Hr (rd_noninit r Rr)) as (b & Eb & ->). apply (to_rd b Eb) in Rr.
    destruct (t_rf_ex T W b Eb Rr) as (w & H). exists (to w). apply img_iff; auto. apply (t_rf T W w b H).
  - intros w w' r (a & b & Ea & Eb & -> & -> & H) (a' & b' & Ea' & Eb' & -> & Q & H'). apply to_inj in Q; auto. subst b'.
    f_equal. exact (t_rf_fun T W a a' b H H').
  - intros x y H. split; [apply (img_in _ _ _ H)|]. split; [apply (img_in _ _ _ H)|].
    destruct H as (a & b & Ea & Eb & -> & -> & H). destruct (t_mo T W a b H) as (_ & _ & Wa & Wb & L).
    split; [now apply (to_wr a)|]. split; [now apply (to_wr b)|]. apply (to_loc a b); auto.
  - intros x (a & b & Ea & Eb & -> & Q & H). apply to_inj in Q; auto. subst b. exact (t_mo_irr T W a H).
  - intros x y z (a & b & Ea & Eb & -> & -> & H) (b' & c & Eb' & Ec & Q & -> & H'). apply to_inj in Q; auto. subst b'.
    apply img_iff; auto. now apply (t_mo_trans T W a b c).
  - intros x y Hx Hy Wx Wy L. pose proof Hx as Hx'. pose proof Hy as Hy'. apply image in Hx, Hy.
    destruct Hx as [(a & Ea & ->)|Xx], Hy as [(b & Eb & ->)|Xy].
    + apply (to_wr a Ea) in Wx. apply (to_wr b Eb) in Wy. apply (to_loc a b) in L; auto.
      destruct (t_mo_total T W a b) as [Q|[Q|Q]]; auto; [left; now subst|right; left|right; right]; now apply img_iff.
    + apply (to_wr a Ea) in Wx. destruct (extra_loc _ a Xy Ea (or_introl Wx) L).
    + apply (to_wr b Eb) in Wy. destruct (extra_loc _ b Xx Eb (or_introl Wy)). auto.
    + left. apply (wf_init1 _ W2); auto.
  - intros x y (a & b & Ea & Eb & -> & -> & H). rewrite to_knd by auto. exact (t_mo_init T W a b H).
  - intros x y H. split; [apply (img_in _ _ _ H)|]. split; [apply (img_in _ _ _ H)|].
    destruct H as (a & b & Ea & Eb & -> & -> & H). apply (to_nfopair a b); auto. apply (t_nfo T W a b H).
  - intros x y (a & b & Ea & Eb & -> & -> & H) (b' & a' & Eb' & Ea' & Q & Q' & H'). apply to_inj in Q, Q'; auto. subst.
    exact (t_nfo_asym T W _ _ H H').
  - intros x y Hx Hy N. assert (noninit x /\ noninit y) as (Nx & Ny).
    { destruct N as (_ & N). unfold noninit. intuition congruence. }
    destruct (not_extra x Hx Nx) as (a & Ea & ->), (not_extra y Hy Ny) as (b & Eb & ->).
      apply (to_nfopair a b) in N; auto.
    destruct (t_nfo_total T W a b) as [Q|Q]; auto; [left|right]; now apply img_iff.
Qed.

Lemma img_ct (R S : relation ev) : (forall x y, S x y -> img R x y) -> forall x y, clos_trans ev S x y ->
  img (clos_trans ev R) x y.
Proof.
  intros H x y C. induction C as [x y C|x y z _ (a & b & Ea & Eb & -> & -> & IH) _ (b' & c & Eb' & Ec & Q & -> & IH')].
  - destruct (H x y C) as (a & b & Ea & Eb & -> & -> & Z). apply img_iff; auto. now apply t_step.
  - apply to_inj in Q; auto. subst b'. apply img_iff; auto. now apply t_trans with b.
Qed.
Lemma po_init a b : po a b -> noninit a /\ noninit b.
Proof. intros P. split; [exact (po_init_l a b P)|exact (po_init_r a b P)]. Qed.
Lemma on_img (R R' : relation ev) x y : (forall a b, R a b -> po a b) ->
  (forall a b, E T a -> E T b -> R (to a) (to b) -> R' a b) -> on moved R x y -> img (on T R') x y.
Proof.
  intros Po H (Hx & Hy & Z). destruct (po_init x y (Po x y Z)) as (Nx & Ny).
  destruct (not_extra x Hx Nx) as (a & Ea & ->), (not_extra y Hy Ny) as (b & Eb & ->). apply img_iff; auto.
  split; [auto|split; auto].
Qed.
Lemma pf_po a b : pf a b -> po a b.
Proof. intros H. apply (pf_ok a b H). Qed.
Lemma pf_img x y : on moved pf x y -> img (on T pf) x y.
Proof. apply on_img; [exact pf_po|]. intros a b Ea Eb. now apply (to_pf a b). Qed.
Lemma rb_img x y : rb moved x y -> img (rb T) x y.
Proof.
  intros (N & u & (a & b & Ea & Eb & -> & -> & Z) & (a' & c & Ea' & Ec & Q & -> & Z')). apply to_inj in Q; auto. subst a'.
  apply img_iff; auto. split; [congruence|eauto].
Qed.
Lemma sc1_in a b : sc1 T a b -> E T a /\ E T b.
Proof.
  intros [H|H|(_ & u & H & H')|H]; try (split; apply H).
  - split; apply (t_rf T W a b H).
  - split; [apply (t_rf T W u a H)|apply (t_mo T W u b H')].
  - split; apply (t_mo T W a b H).
Qed.
Theorem moved_cycle : ~ sc_consistent T -> ~ sc_consistent moved.
Proof.
  intros N C. apply N. intros a H. apply (C (to a)). unfold sc in *. revert H. generalize a at 2 4. intros b H.
  induction H as [a b H|]; [apply t_step|eapply t_trans; eauto]. destruct (sc1_in a b H) as (Ea & Eb).
    destruct H as [H|H|H|H].
  - apply sc_po. split; [apply image; left; eauto|split; [apply image; left; eauto|]]. apply (to_po a b); auto. apply H.
  - apply sc_rf. now apply img_iff.
  - destruct H as (Nq & u & Hu & Hm). apply sc_rb. split; [intros Q; apply Nq; now apply to_inj|]. exists (to u).
    assert (E T u) as Eu by (apply (t_rf T W u a Hu)). split; now apply img_iff.
  - apply sc_mo. now apply img_iff.
Qed.

Hypothesis to_thr : forall a b, E T a -> E T b -> noninit a -> noninit b -> (thr a = thr b <-> thr (to a) = thr (to b)).
Lemma to_own a b : E T a -> E T b -> own hw a b <-> own hw (to a) (to b).
Proof.
  intros Ea Eb. unfold own, store. rewrite !to_knd by auto.
  assert (knd a = LW -> knd b = LR -> (thr a = thr b <-> thr (to a) = thr (to b))) as H; [|tauto].
  intros Ka Kb. apply to_thr; auto; unfold noninit; congruence.
Qed.
Lemma oppo_img x y : on moved (oppo hw) x y -> img (on T (oppo hw)) x y.
Proof.
  apply on_img; [intros a b (P & _); exact P|]. intros a b Ea Eb (P & N & C). apply (to_po a b) in P; auto.
    destruct (po_init a b P) as (Na & Nb).
  split; [auto|split].
  - intros O. apply N. unfold overtaken, store in *. now rewrite !to_knd by auto.
  - rewrite !to_knd in C by auto. destruct (table hw (knd a) (knd b)); auto; now apply (to_qp a b).
Qed.
Lemma ib_img x y : ib hw moved x y -> img (ib hw T) x y.
Proof.
  apply img_ct. clear x y. intros x y [H|H|H|H O|(F & H)].
  - destruct (on_img (ippo hw) (ippo hw) x y) as (a & b & Ea & Eb & -> & -> & Z); auto.
    + intros a b (P & _). exact P.
    + intros a b Ea Eb (P & C). apply (to_po a b) in P; auto. destruct (po_init a b P) as (Na & Nb). split; [auto|].
      rewrite !to_knd in C by auto. destruct (table hw (knd a) (knd b)); auto; now apply (to_qp a b).
    + apply img_iff; auto. now apply ib_ippo.
  - destruct (pf_img x y) as (a & b & Ea & Eb & -> & -> & Z); auto.
    apply img_iff; auto. now apply ib_pf.
  - destruct H as (a & b & Ea & Eb & -> & -> & Z). apply img_iff; auto. now apply ib_rf.
  - destruct (rb_img x y H) as (a & b & Ea & Eb & -> & -> & Z). apply img_iff; auto. apply ib_rbb; [auto|].
    now apply (to_own b a).
  - destruct H as (a & b & Ea & Eb & -> & -> & Z). apply img_iff; auto. now apply ib_nfo.
Qed.
Lemma ob_img x y : ob hw moved x y -> img (ob hw T) x y.
Proof.
  apply img_ct. clear x y. intros x y [H|H Kn|z H H' S|H N|(F & H)|H|H|I H].
  - destruct (oppo_img x y H) as (a & b & Ea & Eb & -> & -> & Z). apply img_iff; auto. now apply ob_oppo.
  - destruct (pf_img x y) as (a & b & Ea & Eb & -> & -> & Z); auto.
    apply img_iff; auto. apply ob_pf; [auto|]. now rewrite to_knd in Kn.
  - destruct (oppo_img x z H) as (a & b & Ea & Eb & -> & -> & Z).
    destruct (pf_img (to b) y) as (b' & c & Eb' & Ec & Q & -> & Z'); auto.
    apply to_inj in Q; auto. subst b'. apply img_iff; auto. apply ob_post with b; auto. unfold store in *.
    now rewrite to_knd in S.
  - destruct H as (a & b & Ea & Eb & -> & -> & Z). apply img_iff; auto. apply ob_rf; [auto|]. intros O. apply N.
    now apply (to_own a b).
  - destruct H as (a & b & Ea & Eb & -> & -> & Z). apply img_iff; auto. now apply ob_nfo.
  - destruct (rb_img x y H) as (a & b & Ea & Eb & -> & -> & Z). apply img_iff; auto. now apply ob_rb.
  - destruct H as (a & b & Ea & Eb & -> & -> & Z). apply img_iff; auto. now apply ob_mo.
  - destruct (ib_img x y H) as (a & b & Ea & Eb & -> & -> & Z). apply img_iff; auto. apply ob_ib; [|auto].
    unfold inst, inst, store in *. now rewrite to_knd in I.
Qed.
Theorem moved_consistent : rdma_consistent hw T -> rdma_consistent hw moved.
Proof.
  intros C x H. destruct (ob_img x x H) as (a & b & Ea & Eb & -> & Q & Z). apply to_inj in Q; auto. subst b.
    exact (C a Z).
Qed.
End Moved.
