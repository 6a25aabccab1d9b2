(* Theorem 7 of docs/theory-crowds.md: a value-free program with a crowd that is not robust for some number of copies is
   not
   robust with at most 2V copies in all, where V is the number of words that several threads can access (one,
     where V is 0). *)
Require Import List Arith ZArith Bool Lia Classical Relations.
Import ListNotations.
From RR Require Import Model Hardware Orders Traces Programs CrowdProgram Locality Fewer Shortest Filled
  ValueFree CutOff.

Lemma NoDup_map_in {A B} (f : A -> B) l : NoDup l -> (forall a b, In a l -> In b l -> f a = f b -> a = b) ->
  NoDup (map f l).
Proof.
  induction 1 as [|x l N _ IH]; intros H; simpl; [constructor|]. constructor.
  - intros I. apply in_map_iff in I. destruct I as (y & E & I). apply N. rewrite (H x y); simpl; auto.
  - apply IH. intros a b Ia Ib. apply H; simpl; auto.
Qed.
Lemma filter_shorter {A} (f : A -> bool) l : length (filter f l) <= length l.
Proof. induction l as [|a l IH]; simpl; [auto|]. destruct (f a); simpl; lia. Qed.

Section FewCopies.
Context {K : crowd}.
Notation ev := (@ev concrete).
Definition crowd_value_free := (forall t, value_free (named t)) /\ forall k, value_free (templ k).
(* thread t of P ts can access the word x *)
Definition touches ts t x := exists h l, prog_of ts t h /\ In l h /\ lloc l = x /\ (is_r (lknd l) \/ is_w (lknd l)).
Hypothesis free : crowd_value_free.

Lemma plain_path ts t h l : prog_of ts t h -> In l h -> plain l.
Proof.
  unfold prog_of. destruct (t <? nt).
  - intros H I. now apply (proj1 (proj1 free t h H)).
  - destruct (nth_error ts (t - nt)) as [k|]; [|intros ->; intros []]. intros (h0 & H & ->) I.
    apply in_map_iff in I. destruct I as (l0 & <- & I). pose proof (proj1 (proj2 free k h0 H) l0 I). now destruct l0.
Qed.
(* how each thread fills its path *)
Lemma filling ts path : (forall t, prog_of ts t (path t)) -> exists W : nat -> list label -> Z,
  (forall t, t < nt -> forall R, named t (fill (W t) R (path t))) /\
  (forall j k h, j < length ts -> nth_error ts j = Some k -> path (nt + j) = map (put_at (place j)) h ->
     forall R, templ k (fill (W (nt + j)) R h)).
Proof.
  intros Pr.
  destruct (choose_below (fun _ => 0%Z) (fun t w => (t < nt -> forall R, named t (fill w R (path t))) /\
    forall j k h, t = nt + j -> nth_error ts j = Some k -> path t = map (put_at (place j)) h ->
      forall R, templ k (fill w R h))
    (threads_of ts)) as (W & HW).
  - intros t _. specialize (Pr t). unfold prog_of in Pr. destruct (Nat.ltb_spec t nt) as [L|L].
    + destruct (proj2 (proj1 free t _ Pr)) as (w & Hw). exists w. split; [auto|]. intros j k h ->. lia.
    + destruct (nth_error ts (t - nt)) as [k|] eqn:E.
      * destruct Pr as (h0 & H0 & Q0). destruct (proj2 (proj2 free k h0 H0)) as (w & Hw). exists w. split; [lia|].
        intros j k' h -> Ek Q R. replace (nt + j - nt) with j in * by lia. rewrite Q0 in Q.
          apply puts_inj in Q; [|apply place_inj].
        subst h0. replace k' with k by congruence. apply Hw.
      * exists (fun _ => 0%Z). split; [lia|]. intros j k h -> Ek. replace (nt + j - nt) with j in E by lia. congruence.
  - exists W. split.
    + intros t L. apply HW; [unfold threads_of; lia|auto].
    + intros j k h L Ek Q. apply (proj2 (HW (nt + j) ltac:(unfold threads_of; lia)) j k h); auto.
Qed.

Section Violation.
Variables (ts : list nat) (T : @trace concrete) (path : nat -> list label).
Hypotheses (Wt : wft T) (cyclic : ~ sc_consistent T).
Hypothesis path_ok : forall t, prog_of ts t (path t) /\ ok (words_of ts) (path t).
Hypothesis path_end : forall t, threads_of ts <= t -> path t = [].
Hypothesis path_E : forall e, E T e <-> inrun (words_of ts) (init_of ts) path e.
Variable sh : list nat.
Hypothesis shared : forall t t' x, t <> t' -> touches ts t x -> touches ts t' x -> In x sh.

Definition order (a b : ev) := before T a b /\ noninit a /\ noninit b.
Definition edge (a b : ev) := on T po a b \/ order a b.
Lemma no_cas (e : ev) : E T e -> knd e <> CAS.
Proof.
  intros H. destruct e as [x v|t l h]; [discriminate|]. apply path_E in H. destruct H as (k & Q).
  pose proof (plain_path ts t (path t) l (proj1 (path_ok t))) as Pl. rewrite Q in Pl. simpl. destruct l; try discriminate.
  destruct Pl. apply in_or_app. right. now left.
Qed.
Lemma sc_edges (a b : ev) : sc T a b -> noninit b /\ (noninit a -> clos_trans ev edge a b).
Proof.
  intros H. induction H as [a b H|a c b _ (N1 & IH1) _ (N2 & IH2)].
  - split; [exact (sc1_noninit T a b Wt H)|]. intros Na. apply t_step.
    destruct (sc_before T Wt a b H) as [Z|Z]; [now left|right].
    split; [auto|split; [auto|exact (sc1_noninit T a b Wt H)]].
  - split; [auto|]. intros Na. eapply t_trans; eauto.
Qed.
Lemma has_cycle : exists a, clos_trans ev edge a a.
Proof.
  apply NNPP. intros N. apply cyclic. intros a H. apply N. exists a. destruct (sc_edges a a H).
    auto.
Qed.
Lemma touched (a : ev) : E T a -> noninit a -> wr a \/ rd a -> touches ts (thr a) (loc a).
Proof.
  intros Ha Na A. destruct a as [x v|t l h]; [now destruct Na|]. apply path_E in Ha. simpl in Ha. exists (path t), l.
  split; [apply path_ok|]. split; [|split; [auto|unfold wr, rd in A; simpl in A; tauto]].
  destruct Ha as (k & ->). apply in_or_app. right. now left.
Qed.
Lemma order_irr (a : ev) : ~ clos_trans ev order a a.
Proof.
  intros H. apply (before_acyclic T Wt no_cas a). revert H. generalize a at 2 4. intros b H.
  induction H as [a b H|]; [apply t_step, H|eapply t_trans; eauto].
Qed.
Lemma order_acc (a b : ev) : order a b -> (E T a /\ noninit a /\ (wr a \/ rd a)) /\
  (E T b /\ noninit b /\ (wr b \/ rd b)) /\ (wr a \/ wr b) /\ loc a = loc b.
Proof.
  intros H. assert (a <> b) as N by (intros ->; apply (order_irr b); now apply t_step). destruct H as (B & Na & Nb).
  destruct (before_conflict T Wt a b N B) as (A1 & A2 & A3 & A4 & _). pose proof B as (Ea & Eb & _). tauto.
Qed.

Lemma few_alive : exists js, NoDup js /\ (forall j, In j js -> j < length ts) /\ length js <= Nat.max 1 (2 * length sh) /\
  ~ sc_consistent (fewer T (kept js T)).
Proof.
  destruct (few_threads_meet edge (on T po) order thr loc wr (fun a => E T a /\ noninit a /\
    (wr a \/ rd a))) with sh as (tl & x & Nt & Lt & Cy).
  - intros a b. reflexivity.
  - intros a b (_ & _ & H). exact (po_thr a b H).
  - exact order_irr.
  - exact order_acc.
  - intros a b (Ea & Na & Aa) (Eb & Nb & Ab) Wr L N. unfold order.
    destruct (conflict_before T Wt a b Ea Eb) as [Z|Z]; [unfold conflict; tauto|auto|auto].
  - intros a b C N. destruct (order_acc a b C) as ((Ea & Na & Aa) & (Eb & Nb & Ab) & _ & L).
    apply (shared (thr a) (thr b)); [auto|now apply touched|]. rewrite L. now apply touched.
  - exact has_cycle.
  - set (f := fun t => (nt <=? t) && (t <? threads_of ts)). set (js := map (fun t => t - nt) (filter f tl)).
    assert (forall t, In t (filter f tl) -> In t tl /\ nt <= t < threads_of ts) as Ff.
    { intros t I. apply filter_In in I. destruct I as (I & F). unfold f in F. apply andb_true_iff in F.
      destruct F as (F1 & F2).
      apply Nat.leb_le in F1. apply Nat.ltb_lt in F2. auto. }
    exists js. split; [|split; [|split]].
    + apply NoDup_map_in; [now apply NoDup_filter|]. intros a b Ia Ib Q. apply Ff in Ia, Ib. lia.
    + intros j I. apply in_map_iff in I. destruct I as (t & <- & I). apply Ff in I. unfold threads_of in I. lia.
    + unfold js. rewrite map_length. pose proof (filter_shorter f tl). lia.
    + assert (forall a : ev, E T a -> noninit a -> In (thr a) tl -> kept js T a) as Kp.
      { intros a Ea Na I. split; [auto|]. destruct a as [y v|t l h]; [now destruct Na|]. simpl in I.
        destruct (le_lt_dec nt t) as [G|G]; [right|now left]. exists (t - nt). split; [|lia]. apply in_map_iff. exists t.
        split; [auto|]. apply filter_In. split; [auto|]. unfold f. apply andb_true_iff.
          split; [now apply Nat.leb_le|apply Nat.ltb_lt].
        destruct (le_lt_dec (threads_of ts) t) as [G2|G2]; [|auto]. apply path_E in Ea. simpl in Ea.
          rewrite (path_end t G2) in Ea.
        apply suf_len in Ea. simpl in Ea. lia. }
      intros C. apply (C x). revert Cy. generalize x at 2 4. intros y Cy.
      induction Cy as [a b ([(Ea & Eb & H)|H] & Ia & Ib)|]; [| |eapply t_trans; eauto].
      * apply t_step, sc_po. split; [apply Kp; auto; exact (po_init_l a b H)|].
        split; [apply Kp; auto; exact (po_init_r a b H)|exact H].
      * destruct (order_acc a b H) as ((Ea & Na & _) & (Eb & Nb & _) & _). destruct H as (B & _).
        apply (before_left T (kept js T) Wt); auto; [intros e Ke; apply Ke|].
        exact (kept_wfE ts js T path (fun _ _ => 0%Z) path_ok path_E Wt).
Qed.
End Violation.

(* Threads are taken out as a whole. *)
Lemma kept_whole js T (a b : ev) : kept js T a -> noninit a -> E T b -> noninit b -> thr a = thr b -> kept js T b.
Proof.
  intros (_ & A) Na Eb Nb Q. split; [auto|]. destruct a as [x v|t l h]; [now destruct Na|].
  destruct b as [x' v'|t' l' h']; [now destruct Nb|]. simpl in Q. now subst.
Qed.
Lemma fewer_copies ts sh T : (forall t t' x, t <> t' -> touches ts t x -> touches ts t' x -> In x sh) ->
  runs (P ts) (E T) -> wft T -> ~ sc_consistent T -> exists js, NoDup js /\ (forall j, In j js -> j < length ts) /\
    length js <= Nat.max 1 (2 * length sh) /\ wft (fewer T (kept js T)) /\
    (irreflexive (needs (fewer T (kept js T))) -> exists T2, trace_of (P (map (fun j => nth j ts 0) js)) T2 /\
      ~ sc_consistent T2 /\
      (forall hw, rdma_consistent hw (fewer T (kept js T)) -> rdma_consistent hw T2)).
Proof.
  intros Sh (path & (Hp & He) & HE) Wt N. destruct (few_alive ts T path Wt N Hp He HE sh Sh) as (js & N1 & N2 & N3 & N4).
  exists js. split; [auto|split; [auto|split; [auto|split]]].
  - apply (T1_wft ts js T path (fun _ _ => 0%Z)); auto.
  - intros Ir. destruct (filling ts path (fun t => proj1 (Hp t))) as (W & W1 & W2).
    destruct (remaining ts js T path W) as (T2 & Tr & Cy & C1); auto; [|exists T2; auto].
    intros t l. exact (plain_path ts t (path t) l (proj1 (Hp t))).
Qed.

(* Theorem 7: [sh] are the words that several threads can access *)
Theorem cut_off hw {OK : hardware_ok hw} ts sh :
  (forall t t' x, t <> t' -> touches ts t x -> touches ts t' x -> In x sh) -> ~ robust hw (P ts) ->
  exists js, NoDup js /\ (forall j, In j js -> j < length ts) /\ length js <= Nat.max 1 (2 * length sh) /\
    ~ robust hw (P (map (fun j => nth j ts 0) js)).
Proof.
  intros Sh N. assert (exists T, violating hw (P ts) T) as (T & (Rn & Wt & _) & Co & Cy)
    by (apply NNPP; intros Q; apply N; intros T V; apply Q; eauto).
  destruct (fewer_copies ts sh T Sh Rn Wt Cy) as (js & N1 & N2 & N3 & W1 & H). exists js.
    split; [auto|split; [auto|split; [auto|]]].
  pose proof (fewer_consistent hw T (kept js T) Wt (fun e Ke => proj1 Ke) (kept_whole js T) Co) as C1.
  destruct (H (needs_irr hw _ W1 C1)) as (T2 & Tr & Cy2 & C2). intros R. apply (R T2).
    split; [auto|split; [now apply C2|auto]].
Qed.
End FewCopies.
