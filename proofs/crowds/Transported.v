(* Crowds: which copy is which does not matter, and more copies do more.
   Where the copies of one program are found among those of
   another, a violating trace of the one is one of the other, with other threads and words: docs/theory-crowds.md,
     Lemma 1. *)
Require Import List Arith ZArith Bool Lia Classical Relations.
Import ListNotations.
From RR Require Import Model Hardware Orders Traces Programs Searched CrowdProgram Moves Locality Joined Moved
  ValueFree.

(* labels with other words *)
Section Labels.
Variable g : nat -> nat.
Notation put := (map (put_at g)).
Lemma put_cntS q h : cnt (isS q) (put h) = cnt (isS q) h.
Proof. induction h as [|l h IH]; [auto|]. simpl. rewrite !cnt_cons, IH. now destruct l. Qed.
Lemma put_cntP q h : cnt (isP q) (put h) = cnt (isP q) h.
Proof. induction h as [|l h IH]; [auto|]. simpl. rewrite !cnt_cons, IH. now destruct l. Qed.
Lemma put_ok n n' h : ok n h -> (forall l, In l h -> lloc (put_at g l) < n') -> ok n' (put h).
Proof.
  induction h as [|l h IH]; simpl; [auto|]. intros (A & B & C & _) H. split; [auto|]. split; [now apply put_follows|].
    split; [|auto].
  destruct l; simpl in *; auto. now rewrite put_cntP, put_cntS.
Qed.
Lemma put_suf h p : suf h p -> suf (put h) (put p).
Proof. intros (k & ->). exists (put k). apply map_app. Qed.
Lemma suf_put p l2 h2 : suf (l2 :: h2) (put p) -> exists l h, suf (l :: h) p /\ l2 = put_at g l /\ h2 = put h.
Proof.
  induction p as [|l p IH]; intros S; [apply suf_len in S; simpl in S; lia|]. simpl in S.
    destruct (suf_tail _ _ _ S) as [Q|Q].
  - inversion Q; subst. exists l, p. split; [apply suf_refl|auto].
  - destruct (IH Q) as (l0 & h0 & S0 & Z). exists l0, h0. split; [eapply suf_trans; [exact S0|now exists [l]]|auto].
Qed.
Lemma put_one p a b : suf a p -> suf b p -> put a = put b -> a = b.
Proof.
  intros A B E. apply (f_equal (@length _)) in E. rewrite !map_length in E.
  destruct (suf_total _ _ _ A B) as [Q|Q]; [now apply suf_eq|symmetry; now apply suf_eq].
Qed.
Lemma put_suf_inv p a b : suf a p -> suf b p -> suf (put a) (put b) -> suf a b.
Proof.
  intros A B S. destruct (suf_total _ _ _ A B) as [Q|Q]; [auto|]. apply suf_len in S. rewrite !map_length in S.
  rewrite (suf_eq b a Q); [apply suf_refl|]. apply suf_len in Q. lia.
Qed.
Lemma put_takes q l h h' : takes q (put_at g l) (put h) (put h') <-> takes q l h h'.
Proof. unfold takes. rewrite !put_cntS, put_cntP. assert (isS q (put_at g l) = isS q l) as -> by (now destruct l).
  tauto. Qed.
End Labels.

Section Transported.
Context {K : crowd}.
Notation ev := (@ev concrete).
(* copy a of P ts is copy [e a] of P ts2 *)
Variables (ts ts2 : list nat) (e : nat -> nat).
Hypothesis e_templ : forall a, a < length ts -> nth_error ts2 (e a) = nth_error ts a.
Hypothesis e_inj : forall a b, a < length ts -> b < length ts -> e a = e b -> a = b.
Definition thread_e t := if t <? nt then t else nt + e (t - nt).
Definition word_e x := if x <? nv then x else place (e ((x - nv) / ow)) (x - (x - nv) / ow * ow).
Definition event_e (a : ev) : ev := match a with
  | Ini x v => Ini (word_e x) v
  | Ev t l h => Ev (thread_e t) (put_at word_e l) (map (put_at word_e) h) end.

Lemma e_below a : a < length ts -> e a < length ts2.
Proof. intros L. apply nth_error_Some. rewrite e_templ by auto. now apply nth_error_Some. Qed.
Lemma word_e_low x : x < nv -> word_e x = x.
Proof. intros L. unfold word_e. apply Nat.ltb_lt in L. now rewrite L. Qed.
Lemma word_e_own a y : nv <= y < nv + ow -> word_e (place a y) = place (e a) y.
Proof.
  intros Y. unfold word_e. pose proof (place_high a y). destruct (Nat.ltb_spec (place a y) nv); [lia|].
  destruct (own_index a y Y) as (-> & ->). reflexivity.
Qed.
Lemma word_e_place a y : y < nv + ow -> word_e (place a y) = place (e a) y.
Proof. intros Y. destruct (le_lt_dec nv y); [apply word_e_own; lia|]. rewrite !place_low by auto. now apply word_e_low.
  Qed.
Lemma word_cases x : x < words_of ts -> x < nv \/ exists a y, a < length ts /\ nv <= y < nv + ow /\ x = place a y.
Proof.
  unfold words_of. intros L. destruct (le_lt_dec nv x) as [G|G]; [right|now left].
  assert (ow <> 0) as N by nia. pose proof (Nat.div_mod (x - nv) ow N) as D.
    pose proof (Nat.mod_upper_bound (x - nv) ow N) as B.
  exists ((x - nv) / ow), (nv + (x - nv) mod ow). split; [nia|]. split; [lia|]. rewrite place_own by lia. lia.
Qed.
Lemma word_e_inj x x' : x < words_of ts -> x' < words_of ts -> word_e x = word_e x' -> x = x'.
Proof.
  intros L L'. destruct (word_cases x L) as [G|(a & y & A & Y & ->)], (word_cases x' L') as [G'|(a' & y' & A' & Y' & ->)].
  - now rewrite !word_e_low.
  - rewrite word_e_low, word_e_own by auto. pose proof (place_high (e a') y'). lia.
  - rewrite (word_e_low x'), word_e_own by auto. pose proof (place_high (e a) y). lia.
  - rewrite !word_e_own by auto. intros Q. apply place_apart in Q; auto. destruct Q as (Q & ->). f_equal. now apply e_inj.
Qed.
Lemma word_e_below x : x < words_of ts -> word_e x < words_of ts2.
Proof.
  intros L. unfold words_of. destruct (word_cases x L) as [G|(a & y & A & Y & ->)]; [rewrite word_e_low by auto; lia|].
  rewrite word_e_own, place_own by (auto; lia). pose proof (e_below a A). nia.
Qed.
Lemma init_e x : x < words_of ts -> init_of ts2 (word_e x) = init_of ts x.
Proof.
  intros L. destruct (word_cases x L) as [G|(a & y & A & Y & ->)].
  - rewrite word_e_low by auto. unfold init_of. apply Nat.ltb_lt in G. now rewrite G.
  - rewrite word_e_own by auto. unfold init_of. pose proof (place_high a y). pose proof (place_high (e a) y).
    destruct (Nat.ltb_spec (place (e a) y) nv); [lia|]. destruct (Nat.ltb_spec (place a y) nv); [lia|].
    destruct (own_index a y Y) as (-> & ->). destruct (own_index (e a) y Y) as (-> & ->). f_equal.
    pose proof (nth_error_nth' ts 0 A) as E1. pose proof (e_templ a A) as E2. rewrite E1 in E2.
      exact (nth_error_nth _ _ _ E2).
Qed.
Lemma thread_e_inj t t' : t < threads_of ts -> t' < threads_of ts -> thread_e t = thread_e t' -> t = t'.
Proof.
  unfold threads_of, thread_e. intros L L'. destruct (Nat.ltb_spec t nt), (Nat.ltb_spec t' nt); try lia. intros Q.
  assert (t - nt = t' - nt) by (apply e_inj; lia). lia.
Qed.

Section Trace.
Variables (T : @trace concrete) (path : nat -> list label).
Hypothesis path_ok : forall t, prog_of ts t (path t) /\ ok (words_of ts) (path t).
Hypothesis path_end : forall t, threads_of ts <= t -> path t = [].
Hypothesis path_E : forall a, E T a <-> inrun (words_of ts) (init_of ts) path a.
Hypotheses (Wt : wft T) (V : valid T).
Notation put := (map (put_at word_e)).

Lemma in_path t l h : E T (Ev t l h) -> suf (l :: h) (path t) /\ t < threads_of ts /\ lloc l < words_of ts.
Proof.
  intros H. apply path_E in H. simpl in H. split; [auto|]. split.
  - destruct (le_lt_dec (threads_of ts) t) as [L|L]; [|auto]. rewrite (path_end t L) in H. apply suf_len in H.
    simpl in H. lia.
  - pose proof (ok_suf _ _ _ H (proj2 (path_ok t))) as O. simpl in O. tauto.
Qed.
Lemma loc_e a : E T a -> loc (event_e a) = word_e (loc a) /\ loc a < words_of ts.
Proof.
  destruct a as [x v|t l h]; intros H.
  - split; [reflexivity|]. apply path_E in H. apply H.
  - split; [|apply (in_path t l h H)]. simpl. apply lloc_put. apply word_e_low, some_word.
Qed.
(* the paths of the other program *)
Definition es := map e (seq 0 (length ts)).
Definition path2 t := if t <? nt then put (path t) else
  if in_dec Nat.eq_dec (t - nt) es then put (path (nt + index es (t - nt))) else [].
Lemma index_e a : a < length ts -> In (e a) es /\ index es (e a) = a.
Proof.
  intros L. assert (In (e a) es) as I by (apply in_map_iff; exists a; split; [auto|apply in_seq; lia]). split; [auto|].
  pose proof (index_nth es _ I) as E1. unfold es in E1 at 1. rewrite nth_error_map in E1.
  pose proof (index_lt es _ I) as Li. unfold es in Li at 2. rewrite map_length, seq_length in Li.
  rewrite (nth_error_nth' _ 0) in E1 by (rewrite seq_length; auto). rewrite seq_nth in E1 by auto. simpl in E1.
  apply e_inj; auto. congruence.
Qed.
Lemma path2_e t : t < threads_of ts -> path2 (thread_e t) = put (path t).
Proof.
  intros L. unfold path2, thread_e, threads_of in *. destruct (Nat.ltb_spec t nt) as [G|G].
  - apply Nat.ltb_lt in G. now rewrite G.
  - destruct (Nat.ltb_spec (nt + e (t - nt)) nt); [lia|]. replace (nt + e (t - nt) - nt) with (e (t - nt)) by lia.
    destruct (index_e (t - nt)) as (I & Q); [lia|]. destruct (in_dec Nat.eq_dec (e (t - nt)) es); [|tauto]. rewrite Q.
      f_equal. f_equal. lia.
Qed.
Lemma path2_from t : path2 t = [] \/ exists u, u < threads_of ts /\ thread_e u = t.
Proof.
  unfold path2. destruct (Nat.ltb_spec t nt) as [G|G].
  - right. exists t. unfold thread_e, threads_of. pose proof G as G'. apply Nat.ltb_lt in G'. rewrite G'. lia.
  - destruct (in_dec Nat.eq_dec (t - nt) es) as [I|I]; [right|now left]. apply in_map_iff in I. destruct I as (a & Q & I).
    apply in_seq in I. exists (nt + a). unfold thread_e, threads_of. destruct (Nat.ltb_spec (nt + a) nt); [lia|].
    replace (nt + a - nt) with a by lia. lia.
Qed.
Lemma put_low h : (forall l, In l h -> lloc l < nv) -> put h = h.
Proof.
  induction h as [|l h IH]; simpl; intros H; [auto|]. rewrite IH by auto. f_equal.
    pose proof (H l (or_introl eq_refl)) as L.
  destruct l; simpl in *; rewrite ?word_e_low by auto; auto.
Qed.
Lemma put_own a h : (forall l, In l h -> lloc l < nv + ow) -> put (map (put_at (place a)) h)
  = map (put_at (place (e a))) h.
Proof.
  induction h as [|l h IH]; simpl; intros H; [auto|]. rewrite IH by auto. f_equal.
    pose proof (H l (or_introl eq_refl)) as L.
  destruct l; simpl in *; rewrite ?word_e_place by auto; auto.
Qed.
Lemma path2_prog t : prog_of ts2 t (path2 t).
Proof.
  destruct (path2_from t) as [->|(u & L & <-)]; [apply prog_nil|]. rewrite path2_e by auto.
  pose proof (proj1 (path_ok u)) as Pr. unfold prog_of, thread_e, threads_of in *. destruct (Nat.ltb_spec u nt) as [G|G].
  - apply Nat.ltb_lt in G. rewrite G. rewrite put_low; [auto|]. intros l. now apply named_words with u.
  - destruct (Nat.ltb_spec (nt + e (u - nt)) nt); [lia|]. replace (nt + e (u - nt) - nt) with (e (u - nt)) by lia.
    rewrite e_templ by lia. destruct (nth_error ts (u - nt)) as [k|]; [|now rewrite Pr].
    destruct Pr as (h0 & Hh & ->). exists h0. split; [auto|]. apply put_own. intros l. now apply templ_words with k.
Qed.
Lemma path2_ok t : ok (words_of ts2) (path2 t).
Proof.
  destruct (path2_from t) as [->|(u & L & <-)]; [exact I|]. rewrite path2_e by auto.
  apply (put_ok word_e (words_of ts)); [apply path_ok|]. intros l Il. rewrite lloc_put by (apply word_e_low, some_word).
  apply word_e_below. destruct (in_split _ _ Il) as (k & h & Q). apply (in_path u l h). apply path_E. now exists k.
Qed.
Lemma path2_end t : threads_of ts2 <= t -> path2 t = [].
Proof. intros L. exact (beyond ts2 t _ L (path2_prog t)). Qed.
Definition E2 (b : ev) := inrun (words_of ts2) (init_of ts2) path2 b.
Definition extra (b : ev) := exists x, x < words_of ts2 /\ b = Ini x (init_of ts2 x) /\ forall y, y < words_of ts ->
  word_e y <> x.
Lemma E2_is_run : is_run (threads_of ts2) (words_of ts2) (init_of ts2) (prog_of ts2) E2.
Proof. exists path2. split; [split; [intros t; split; [apply path2_prog|apply path2_ok]|exact path2_end]|reflexivity].
  Qed.
Lemma E2_wfE : wfE (U := concrete) E2.
Proof. exact (run_wf _ _ _ _ _ E2_is_run). Qed.
Lemma E2_image b : E2 b <-> (exists a, E T a /\ b = event_e a) \/ extra b.
Proof.
  split.
  - destruct b as [x v|t l h]; simpl.
    + intros (L & ->). destruct (classic (exists y, y < words_of ts /\ word_e y = x)) as [(y & Ly & <-)|N].
      * left. exists (Ini y (init_of ts y)). simpl. rewrite (init_e y Ly). split; [|auto]. apply path_E. simpl. auto.
      * right. exists x. split; [auto|split; [auto|]]. intros y Ly Q. apply N. eauto.
    + intros S. left. destruct (path2_from t) as [Q|(u & L & <-)]; [rewrite Q in S; apply suf_len in S; simpl in S; lia|].
      rewrite path2_e in S by auto. apply suf_put in S. destruct S as (l0 & h0 & S & -> & ->). exists (Ev u l0 h0).
      split; [now apply path_E|auto].
  - intros [([x v|t l h] & H & ->)|(x & L & -> & _)]; simpl; [| |auto].
    + apply path_E in H. destruct H as (L & ->). split; [now apply word_e_below|symmetry; now apply init_e].
    + destruct (in_path t l h H) as (S & L & _). rewrite path2_e by auto. exact (put_suf word_e _ _ S).
Qed.
Lemma extra_init b : extra b -> knd b = Init.
Proof. intros (x & _ & -> & _). reflexivity. Qed.
Lemma extra_loc b a : extra b -> E T a -> wr a \/ rd a -> loc (event_e a) <> loc b.
Proof. intros (x & _ & -> & N) H _. destruct (loc_e a H) as (-> & L). exact (N _ L). Qed.

(* the new events are like the old ones *)
Lemma event_e_inj a b : E T a -> E T b -> event_e a = event_e b -> a = b.
Proof.
  intros Ha Hb. destruct a as [x v|t l h], b as [x' v'|t' l' h']; simpl; intros Q; try discriminate.
  - inversion Q. f_equal. apply word_e_inj; auto; [apply path_E in Ha; apply Ha|apply path_E in Hb; apply Hb].
  - destruct (in_path _ _ _ Ha) as (S & L & _), (in_path _ _ _ Hb) as (S' & L' & _).
    assert (thread_e t = thread_e t') as Q1 by congruence. apply thread_e_inj in Q1; auto. subst t'.
    assert (l :: h = l' :: h') as Z; [|now inversion Z]. apply (put_one word_e (path t)); auto. simpl. congruence.
Qed.
Lemma event_e_knd a : E T a -> knd (event_e a) = knd a.
Proof. intros _. destruct a as [x v|t l h]; simpl; [auto|apply put_kind]. Qed.
Lemma event_e_po a b : E T a -> E T b -> (po a b <-> po (event_e a) (event_e b)).
Proof.
  intros Ha Hb. destruct a as [x v|t l h], b as [x' v'|t' l' h']; simpl; try tauto.
  destruct (in_path _ _ _ Ha) as (S & L & _), (in_path _ _ _ Hb) as (S' & L' & _). split.
  - intros (-> & Q). split; [auto|exact (put_suf word_e _ _ Q)].
  - intros (Q1 & Q). apply thread_e_inj in Q1; auto. subst t'. split; [auto|].
    apply (put_suf_inv word_e (path t)); [auto|now apply suf_cons in S'|exact Q].
Qed.
Lemma event_e_pf a b : E T a -> E T b -> (pf a b <-> pf (event_e a) (event_e b)).
Proof.
  intros Ha Hb. pose proof (event_e_po a b Ha Hb) as Po. destruct a as [x v|t l h], b as [x' v'|t' l' h']; simpl in *;
    try tauto.
  destruct l'; simpl in *; try tauto. rewrite put_takes. assert (isW q (put_at word_e l) = isW q l) as ->
    by (now destruct l). tauto.
Qed.
Lemma event_e_carry a b : E T a -> E T b -> (carry a b <-> carry (event_e a) (event_e b)).
Proof.
  intros Ha Hb. destruct a as [x v|t l h], b as [x' v'|t' l' h']; simpl; try tauto.
  destruct (in_path _ _ _ Ha) as (S & L & _), (in_path _ _ _ Hb) as (S' & L' & _).
  assert (carries (put_at word_e l) (put_at word_e l') <-> carries l l') as -> by (destruct l, l'; simpl; tauto). split.
  - intros (-> & -> & Q). auto.
  - intros (Q1 & Q2 & Q). apply thread_e_inj in Q1; auto. subst t'. split; [auto|split; [|auto]].
    apply (put_one word_e (path t)); auto. now apply suf_cons in S'.
Qed.
Lemma event_e_qp a b : E T a -> E T b -> noninit a -> noninit b -> (qp a = qp b <-> qp (event_e a) = qp (event_e b)).
Proof.
  intros Ha Hb Na Nb. destruct a as [x v|t l h]; [now destruct Na|]. destruct b as [x' v'|t' l' h']; [now destruct Nb|].
  destruct (in_path _ _ _ Ha) as (S & L & _), (in_path _ _ _ Hb) as (S' & L' & _). simpl.
  assert (forall l0, lq (put_at word_e l0) = lq l0) as Q by (intros []; auto). rewrite !Q.
    split; intros Z; inversion Z as [[Z1 Z2]].
  - reflexivity.
  - rewrite (thread_e_inj t t' L L' Z1). congruence.
Qed.
Lemma event_e_thr a b : E T a -> E T b -> noninit a -> noninit b -> (thr a = thr b <-> thr (event_e a) = thr (event_e b)).
Proof.
  intros Ha Hb Na Nb. destruct a as [x v|t l h]; [now destruct Na|]. destruct b as [x' v'|t' l' h']; [now destruct Nb|].
  destruct (in_path _ _ _ Ha) as (S & L & _), (in_path _ _ _ Hb) as (S' & L' & _). simpl.
    split; [congruence|now apply thread_e_inj].
Qed.
Lemma event_e_loc a b : E T a -> E T b -> (loc a = loc b <-> loc (event_e a) = loc (event_e b)).
Proof.
  intros Ha Hb. destruct (loc_e a Ha) as (-> & La), (loc_e b Hb) as (-> & Lb). split; [congruence|now apply word_e_inj].
Qed.
Notation T2 := (moved T event_e E2).
Lemma e_val a v : val (rf T) a v -> E T a -> val (rf T2) (event_e a) v.
Proof.
  intros H; induction H as [w Ww N|w r v Rr Cr H _ IH|r w v C _ IH]; intros Ha.
  - assert (cwv (event_e w) = cwv w) as <- by (destruct w as [x v|t [] h]; reflexivity).
    apply val_own; [unfold wr; now rewrite event_e_knd|]. intros r2 C. destruct (carry_ok _ _ C) as (Po & _).
    assert (E2 r2) as Hr by (eapply (wf_down _ E2_wfE); [exact Po|apply E2_image; left; eauto]).
    apply E2_image in Hr. destruct Hr as [(r & Er & ->)|Xr]; [apply (N r); now apply (event_e_carry r w)|].
    apply (po_init_l _ _ Po). now apply extra_init.
  - pose proof (t_rf T Wt w r H) as (Ew & _). apply val_nicr with (event_e w); auto.
    + unfold rd. now rewrite event_e_knd.
    + unfold cpu. now rewrite event_e_knd.
    + exists w, r. auto.
  - assert (E T r) as Er by (eapply (wf_down _ (t_E T Wt)); [apply (carry_ok _ _ C)|auto]).
    apply val_nicw with (event_e r); auto. now apply (event_e_carry r w).
Qed.
Lemma T2_trace : trace_of (P ts2) T2.
Proof.
  split; [exact E2_is_run|split].
  - apply (moved_wft T event_e E2 extra); [exact Wt|exact E2_wfE|exact E2_image|exact extra_init|exact extra_loc|exact
    event_e_inj|
      exact event_e_knd|exact event_e_qp|]. intros a b Ha Hb _ _. now apply event_e_loc.
  - intros r2 H2 Cr Rr. apply E2_image in H2. destruct H2 as [(r & Er & ->)|X].
    + unfold cpu in Cr. unfold rd in Rr. rewrite event_e_knd in Cr, Rr by auto. destruct (V r Er Cr Rr) as (w & H & F).
      pose proof (t_rf T Wt w r H) as (Ew & _). exists (event_e w). split; [exists w, r; auto|].
      assert (crv (event_e r) = crv r) as -> by (destruct r as [x v|t [] h]; reflexivity). now apply e_val.
    + apply extra_init in X. unfold rd in Rr. now rewrite X in Rr.
Qed.
Lemma T2_consistent hw : rdma_consistent hw T -> rdma_consistent hw T2.
Proof.
  apply (moved_consistent hw T event_e E2 extra); [exact E2_image|exact extra_init|exact event_e_inj|exact
    event_e_knd|exact event_e_po|
    exact event_e_pf|exact event_e_qp|exact event_e_thr].
Qed.
Lemma T2_cycle : ~ sc_consistent T -> ~ sc_consistent T2.
Proof. apply (moved_cycle T event_e E2 extra); [exact Wt|exact E2_image|exact event_e_inj|exact event_e_po]. Qed.
End Trace.

Theorem embedded hw : ~ robust hw (P ts) -> ~ robust hw (P ts2).
Proof.
  intros N R. apply N. intros T (((path & (Hp & He) & HE) & Wt & V) & Co & Cy).
  apply (R (moved T event_e (E2 path))). split; [exact (T2_trace T path Hp He HE Wt V)|].
  split; [exact (T2_consistent T path Hp He HE hw Co)|exact (T2_cycle T path Hp He HE Wt Cy)].
Qed.
End Transported.
