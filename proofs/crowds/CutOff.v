(* Theorem 7 of docs/theory-crowds.md: a trace of a value-free program from which copies have been taken out is, with
   other values, one of the program without these copies. *)
Require Import List Arith ZArith Bool Lia Classical Relations.
Import ListNotations.
From RR Require Import Model Hardware Orders Rules Traces Programs Searched CrowdProgram Views Moves Locality CrowdRules
  Joined Fewer Shortest Filled Moved ValueFree.

Lemma event_dec (a b : event) : {a = b} + {a <> b}.
Proof. repeat decide equality. Defined.
Lemma choose_below {A} (d : A) (Q : nat -> A -> Prop) n : (forall i, i < n -> exists x, Q i x) ->
  exists f, forall i, i < n -> Q i (f i).
Proof.
  induction n as [|n IH]; intros H; [exists (fun _ => d); intros; lia|]. destruct IH as (f & F); [auto|].
  destruct (H n) as (x & X); [auto|]. exists (fun i => if i =? n then x else f i). intros i L.
  destruct (Nat.eqb_spec i n) as [->|N]; [auto|apply F; lia].
Qed.

Section Remaining.
Context {K : crowd}.
Notation ev := (@ev concrete).
Variables (ts js : list nat) (T : @trace concrete) (path : nat -> list label) (W : nat -> list label -> Z).
Hypotheses (once : NoDup js) (js_in : forall j, In j js -> j < length ts).
Hypothesis path_ok : forall t, prog_of ts t (path t) /\ ok (words_of ts) (path t).
Hypothesis path_E : forall e, E T e <-> inrun (words_of ts) (init_of ts) path e.
Hypothesis no_cas : forall t l, In l (path t) -> plain l.
Hypothesis W_named : forall t, t < nt -> forall R, named t (fill (W t) R (path t)).
Hypothesis W_copy : forall j k h, In j js -> nth_error ts j = Some k -> path (nt + j) = map (put_at (place j)) h ->
  forall R, templ k (fill (W (nt + j)) R h).
Hypothesis Wt : wft T.
Notation alive := (alive js).
Notation kept_word := (kept_word js).

Definition kept (e : ev) := E T e /\ match e with Ini x _ => kept_word x | Ev t _ _ => alive t end.
Lemma kept_suf t l h : kept (Ev t l h) -> suf (l :: h) (path t) /\ alive t.
Proof. intros (H & A). apply path_E in H. auto. Qed.
Lemma suf_in (l : label) h p : suf (l :: h) p -> In l p.
Proof. intros (k & ->). apply in_or_app. right. now left. Qed.
Lemma kept_loc R (e : ev) : kept e -> loc (to js W R e) = word_to js (loc e) /\ kept_word (loc e).
Proof.
  intros H. destruct e as [x v|t l h]; [split; [reflexivity|exact (proj2 H)]|]. destruct (kept_suf t l h H) as (S & A).
  exact (new_loc js W R ts t l h (path t) (proj1 (path_ok t)) (suf_in l h _ S) A).
Qed.
Lemma kept_word_below x : kept_word x -> x < words_of ts.
Proof.
  unfold words_of. intros [L|(j & y & I & Y & ->)]; [lia|]. apply js_in in I. rewrite place_own by lia. nia.
Qed.
Lemma kept_wfE : wfE kept.
Proof.
  pose proof (t_E T Wt) as WE. constructor.
  - destruct (wf_fin _ WE) as (l & Hl). exists l. intros e (H & _). auto.
  - intros a b Po (Hb & Ab). split; [exact (wf_down _ WE a b Po Hb)|].
    destruct a as [x v|t l h], b as [x' v'|t' l' h']; simpl in *; try tauto. destruct Po as (-> & _). exact Ab.
  - intros a b (Ha & _) (Hb & _). now apply (wf_total _ WE).
  - intros p (Hp & _). now apply (wf_poll _ WE).
  - intros w p w' (Hp & _). now apply (wf_older _ WE w p w').
  - intros e x (Hx & _). now apply (wf_get _ WE).
  - intros e Ke Re. destruct (wf_init _ WE e (proj1 Ke) Re) as (i & Hi & Ki & Li). exists i. split; [|auto].
    split; [auto|].
    destruct i as [x v|t l h]; [|destruct l; discriminate]. simpl in Li. rewrite Li.
      exact (proj2 (kept_loc (fun _ _ => 0%Z) e Ke)).
  - intros i j (Hi & _) (Hj & _). now apply (wf_init1 _ WE).
Qed.
Notation T1 := (fewer T kept).
Lemma kept_sub e : kept e -> E T e. Proof. intros H; apply H. Qed.
Lemma T1_wft : wft T1. Proof. exact (fewer_wft T kept Wt kept_sub kept_wfE). Qed.

(* values: [rho] says what CPU reads read, [reads rho t] what thread t reads at its places *)
Definition reads (rho : ev -> Z) t i := match skipn (length (path t) - S i) (path t) with l :: h => rho (Ev t l h)
  | [] => 0%Z end.
Lemma reads_at rho t l h : suf (l :: h) (path t) -> reads rho t (length h) = rho (Ev t l h).
Proof.
  intros (k & E). unfold reads. rewrite E, app_length. simpl.
    replace (length k + S (length h) - S (length h)) with (length k) by lia.
  rewrite skipn_app, skipn_all, Nat.sub_diag. reflexivity.
Qed.
Definition writes (rho : ev -> Z) (w : ev) := cwv (to js W (reads rho) w) : Z.
Lemma writes_causal (rho rho' : ev -> Z) w : E T1 w -> wr w -> (forall r, E T1 r -> cpu r -> rd r -> po r w ->
  rho r = rho' r) ->
  writes rho w = writes rho' w.
Proof.
  intros Kw Ww A. destruct w as [x v|t l h]; [reflexivity|]. destruct (kept_suf t l h Kw) as (S & Al).
  assert (filled_base W (reads rho) t h = filled_base W (reads rho') t h) as E.
  { unfold filled_base. apply fill_ext. intros x v h' S'. unfold base in S'. destruct S' as (k & Q).
    assert (exists k0 l0 h0, h = k0 ++ l0 :: h0 /\ put_at (unplaced t) l0 = Lr x v /\
      length h0 = length h') as (k0 & l0 & h0 & -> & Q0 & Lh).
    { clear -Q. revert k Q. induction h as [|y h IH]; intros k Q; simpl in Q; [destruct k; discriminate|].
      destruct k as [|z k]; simpl in Q; inversion Q.
      - exists [], y, h. split; [auto|split; [auto|]]. now rewrite map_length.
      - destruct (IH k H1) as (k0 & l0 & h0 & -> & Z). exists (y :: k0), l0, h0. auto. }
    assert (suf (l0 :: h0) (path t)) as S0 by (eapply suf_trans; [|exact S]; now exists (l :: k0)).
    rewrite <- Lh, !(reads_at _ t l0 h0 S0). apply A.
    - split; [now apply path_E|exact Al].
    - unfold cpu. simpl. now destruct l0.
    - unfold rd. simpl. now destruct l0.
    - simpl. split; [auto|]. now exists k0. }
  unfold writes, to, new_label. rewrite E. destruct l; try reflexivity; destruct Ww.
Qed.

Section Values.
Variable rho : ev -> Z.
Hypothesis rho_right : right T1 writes rho kept.
Notation R := (reads rho).
Notation go := (to js W R).

(* the paths of the program with fewer copies *)
Notation ts2 := (map (fun j => nth j ts 0) js).
Definition from t := if t <? nt then t else nt + nth (t - nt) js 0.
Definition path2 t := if t <? nt + length js then new_hist js W R (from t) (path (from t)) else [].
Lemma from_alive t : t < nt + length js -> alive (from t) /\ thread_to js (from t) = t.
Proof.
  intros L. unfold from, alive, thread_to. destruct (Nat.ltb_spec t nt) as [G|G].
  - split; [auto|]. apply Nat.ltb_lt in G. now rewrite G.
  - assert (In (nth (t - nt) js 0) js) as I by (apply nth_In; lia). split; [right; eauto|].
    destruct (Nat.ltb_spec (nt + nth (t - nt) js 0) nt); [lia|].
      replace (nt + nth (t - nt) js 0 - nt) with (nth (t - nt) js 0) by lia.
    rewrite index_of_nth by (auto; lia). lia.
Qed.
Lemma to_below t : alive t -> thread_to js t < nt + length js /\ from (thread_to js t) = t.
Proof.
  intros A. unfold from, thread_to. destruct A as [L|(j & I & ->)].
  - pose proof L as L'. apply Nat.ltb_lt in L'. rewrite !L'. lia.
  - destruct (Nat.ltb_spec (nt + j) nt); [lia|]. replace (nt + j - nt) with j by lia. pose proof (index_lt js j I).
    destruct (Nat.ltb_spec (nt + index js j) nt); [lia|]. replace (nt + index js j - nt) with (index js j) by lia.
    rewrite (nth_error_nth js _ 0 (index_nth js j I)). lia.
Qed.
Lemma ts2_nth i : i < length js -> nth_error ts2 i = nth_error ts (nth i js 0).
Proof.
  intros L. rewrite nth_error_map, (nth_error_nth' js 0 L). simpl. symmetry. apply nth_error_nth'. apply js_in.
    now apply nth_In.
Qed.
Lemma path2_prog t : prog_of ts2 t (path2 t).
Proof.
  unfold path2. destruct (Nat.ltb_spec t (nt + length js)) as [L|L]; [|apply prog_nil]. unfold from, prog_of.
  destruct (Nat.ltb_spec t nt) as [G|G].
  - rewrite new_named by auto. now apply W_named.
  - set (j := nth (t - nt) js 0). assert (In j js) as I by (apply nth_In; lia). pose proof (js_in j I) as Jl.
    rewrite ts2_nth by lia. fold j. destruct (nth_error ts j) as [k|] eqn:E; [|apply nth_error_None in E; lia].
    pose proof (proj1 (path_ok (nt + j))) as Pr. unfold prog_of in Pr. destruct (Nat.ltb_spec (nt + j) nt); [lia|].
    replace (nt + j - nt) with j in Pr by lia. rewrite E in Pr. destruct Pr as (h & Hh & Q). rewrite Q, new_copy.
    exists (fill (W (nt + j)) (R (nt + j)) h). split; [now apply W_copy|]. unfold j.
      now rewrite index_of_nth by (auto; lia).
Qed.
Lemma word_below x : kept_word x -> word_to js x < words_of ts2.
Proof.
  unfold words_of. rewrite map_length. intros [L|(j & y & I & Y & ->)]; [rewrite word_low by auto; lia|].
  rewrite word_own, place_own by (auto; lia). pose proof (index_lt js j I). nia.
Qed.
Lemma path2_ok t : ok (words_of ts2) (path2 t).
Proof.
  unfold path2. destruct (Nat.ltb_spec t (nt + length js)) as [L|L]; [|exact I]. destruct (from_alive t L) as (A & _).
  apply (new_ok js W R (words_of ts)); [apply path_ok|]. intros l h S.
  destruct (new_loc js W R ts (from t) l h (path (from t)) (proj1 (path_ok _)) (suf_in l h _ S) A) as (-> & Kw).
  now apply word_below.
Qed.
Lemma init_to x : kept_word x -> init_of ts2 (word_to js x) = init_of ts x.
Proof.
  intros [L|(j & y & I & Y & ->)].
  - rewrite word_low by auto. unfold init_of. apply Nat.ltb_lt in L. now rewrite L.
  - rewrite word_own by auto. unfold init_of. pose proof (place_high j y). pose proof (place_high (index js j) y).
    destruct (Nat.ltb_spec (place (index js j) y) nv); [lia|]. destruct (Nat.ltb_spec (place j y) nv); [lia|].
    destruct (own_index j y Y) as (-> & ->). destruct (own_index (index js j) y Y) as (-> & ->). f_equal.
    pose proof (nth_error_map (fun j => nth j ts 0) (index js j) js) as Q. rewrite (index_nth js j I) in Q. simpl in Q.
    exact (nth_error_nth _ _ _ Q).
Qed.
Lemma word_from x : x < words_of ts2 -> exists x0, kept_word x0 /\ word_to js x0 = x.
Proof.
  unfold words_of. rewrite map_length. intros L. destruct (le_lt_dec nv x) as [G|G]; [|exists x; split;
    [now left|now apply word_low]].
  assert (ow <> 0) as N by nia. set (i := (x - nv) / ow). pose proof (Nat.div_mod (x - nv) ow N) as D. fold i in D.
  pose proof (Nat.mod_upper_bound (x - nv) ow N) as B. assert (i < length js) as Li by nia.
  set (j := nth i js 0). assert (In j js) as I by (now apply nth_In). exists (place j (nv + (x - nv) mod ow)). split.
  - right. exists j, (nv + (x - nv) mod ow). split; [auto|split; [lia|auto]].
  - rewrite word_own by lia. unfold j. rewrite index_of_nth, place_own by (auto; lia). lia.
Qed.
Definition E2 (b : ev) := exists a, kept a /\ b = go a.
Lemma E2_run b : E2 b <-> inrun (words_of ts2) (init_of ts2) path2 b.
Proof.
  split.
  - intros ([x v|t l h] & Ka & ->); simpl.
    + destruct Ka as (H & Kw). apply path_E in H. destruct H as (_ & ->).
      split; [now apply word_below|symmetry; now apply init_to].
    + destruct (kept_suf t l h Ka) as (S & A). destruct (to_below t A) as (L & F). unfold path2. apply Nat.ltb_lt in L.
      rewrite L, F.
      rewrite <- new_cons. now apply new_suf.
  - destruct b as [x v|t l h]; simpl.
    + intros (L & ->). destruct (word_from x L) as (x0 & Kw & <-). exists (Ini x0 (init_of ts x0)). simpl.
      rewrite (init_to x0 Kw).
      split; [|auto]. split; [|exact Kw]. apply path_E. split; [now apply kept_word_below|auto].
    + unfold path2. destruct (Nat.ltb_spec t (nt + length js)) as [L|L]; [|intros S; apply suf_len in S; simpl in S; lia].
      destruct (from_alive t L) as (A & F). intros S. apply suf_new in S. destruct S as (l0 & h0 & S & -> & ->).
      exists (Ev (from t) l0 h0). simpl. rewrite F. split; [|auto]. split; [now apply path_E|exact A].
Qed.
Lemma E2_is_run : is_run (threads_of ts2) (words_of ts2) (init_of ts2) (prog_of ts2) E2.
Proof.
  exists path2. split; [split|exact E2_run].
  - intros t. split; [apply path2_prog|apply path2_ok].
  - intros t L. unfold threads_of in L. rewrite map_length in L. unfold path2.
    now destruct (Nat.ltb_spec t (nt + length js)); [lia|].
Qed.
Lemma E2_wfE : wfE (U := concrete) E2.
Proof. exact (run_wf _ _ _ _ _ E2_is_run). Qed.

(* the new events are like the old ones *)
Lemma go_inj a b : kept a -> kept b -> go a = go b -> a = b.
Proof.
  intros Ka Kb. destruct a as [x v|t l h], b as [x' v'|t' l' h']; simpl; intros Q; inversion Q as [[Q1 Q2]]; clear Q.
  - f_equal. apply (word_inj js); [exact (proj2 Ka)|exact (proj2 Kb)|auto].
  - destruct (kept_suf _ _ _ Ka) as (S & A), (kept_suf _ _ _ Kb) as (S' & A'). apply thread_inj in Q1; auto. subst t'.
    assert (l :: h = l' :: h') as Z; [|now inversion Z].
    apply (new_inj js W R t (path t)); auto. rewrite !new_cons. congruence.
Qed.
Lemma go_knd a : kept a -> knd (go a) = knd a.
Proof. intros _. destruct a as [x v|t l h]; simpl; [auto|apply new_knd]. Qed.
Lemma kept_tail t l h : kept (Ev t l h) -> suf h (path t).
Proof. intros H. apply kept_suf in H. now apply suf_cons with l. Qed.
Lemma go_po a b : kept a -> kept b -> (po a b <-> po (go a) (go b)).
Proof.
  intros Ka Kb. destruct a as [x v|t l h], b as [x' v'|t' l' h']; simpl; try tauto.
  destruct (kept_suf _ _ _ Ka) as (S & A), (kept_suf _ _ _ Kb) as (S' & A'). rewrite <- new_cons. split.
  - intros (-> & Q). split; [auto|now apply new_suf].
  - intros (Q1 & Q). apply thread_inj in Q1; auto. subst t'. split; [auto|].
    apply (new_suf_inv js W R t (path t)); auto. now apply kept_tail with l'.
Qed.
Lemma go_pf a b : kept a -> kept b -> (pf a b <-> pf (go a) (go b)).
Proof.
  intros Ka Kb. destruct a as [x v|t l h], b as [x' v'|t' l' h']; try (simpl; tauto).
  pose proof (go_po _ _ Ka Kb) as Po. destruct (kept_suf _ _ _ Ka) as (_ & A), (kept_suf _ _ _ Kb) as (_ & A').
  destruct l'; simpl in *; try tauto. split.
  - intros (-> & S & Q & Tk). rewrite new_isW, new_takes. tauto.
  - intros (Q1 & S & Q & Tk). pose proof (thread_inj _ _ _ A A' Q1). subst t'. rewrite new_isW in Q.
    rewrite new_takes in Tk. tauto.
Qed.
Lemma go_carry a b : kept a -> kept b -> (carry a b <-> carry (go a) (go b)).
Proof.
  intros Ka Kb. destruct a as [x v|t l h], b as [x' v'|t' l' h']; simpl; try tauto.
  destruct (kept_suf _ _ _ Ka) as (S & A), (kept_suf _ _ _ Kb) as (S' & A'). rewrite new_carries, <- new_cons. split.
  - intros (-> & -> & Q). auto.
  - intros (Q1 & Q2 & Q). apply thread_inj in Q1; auto. subst t'. split; [auto|split; [|auto]].
    apply (new_inj js W R t (path t)); auto. now apply kept_tail with l'.
Qed.
Lemma go_qp a b : kept a -> kept b -> noninit a -> noninit b -> (qp a = qp b <-> qp (go a) = qp (go b)).
Proof.
  intros Ka Kb Na Nb. destruct a as [x v|t l h]; [now destruct Na|]. destruct b as [x' v'|t' l' h']; [now destruct Nb|].
  destruct (kept_suf _ _ _ Ka) as (S & A), (kept_suf _ _ _ Kb) as (S' & A'). simpl. rewrite !new_lq.
    split; intros Q; inversion Q as [[Q1 Q2]].
  - reflexivity.
  - rewrite (thread_inj _ _ _ A A' Q1). congruence.
Qed.
Lemma go_loc a b : kept a -> kept b -> (loc a = loc b <-> loc (go a) = loc (go b)).
Proof.
  intros Ka Kb. destruct (kept_loc R a Ka) as (-> & Wa), (kept_loc R b Kb) as (-> & Wb).
    split; [congruence|now apply word_inj].
Qed.
Notation T2 := (moved T1 go E2).
Lemma E2_image b : E2 b <-> (exists a, E T1 a /\ b = go a) \/ False.
Proof. unfold E2. simpl. tauto. Qed.
Lemma T2_wft : wft T2.
Proof.
  apply (moved_wft T1 go E2 (fun _ => False)); [exact T1_wft|exact E2_wfE|exact E2_image|intros b []|intros b a []|
    exact go_inj|exact go_knd|exact go_qp|].
    intros a b Ka Kb _ _. now apply go_loc.
Qed.
Lemma go_thr a b : kept a -> kept b -> noninit a -> noninit b -> (thr a = thr b <-> thr (go a) = thr (go b)).
Proof.
  intros Ka Kb Na Nb. destruct a as [x v|t l h]; [now destruct Na|]. destruct b as [x' v'|t' l' h']; [now destruct Nb|].
  destruct (kept_suf _ _ _ Ka) as (S & A), (kept_suf _ _ _ Kb) as (S' & A'). simpl.
  split; [congruence|now apply thread_inj].
Qed.
Lemma T2_consistent hw : rdma_consistent hw T1 -> rdma_consistent hw T2.
Proof. apply (moved_consistent hw T1 go E2 (fun _ => False));
  [exact E2_image|intros b []|exact go_inj|exact go_knd|exact go_po|exact go_pf|exact go_qp|exact
  go_thr]. Qed.

(* values *)
Lemma go_filled a v : filled T1 writes rho a v -> kept a -> val (rf T2) (go a) v.
Proof.
  intros H; induction H as [w Ww N|w r v Rr Cr H _ IH|r w v C _ IH]; intros Ka.
  - apply val_own; [unfold wr; now rewrite go_knd|]. intros r2 C. destruct (carry_ok _ _ C) as (Po & _).
    assert (E2 r2) as (r & Kr & ->) by (eapply (wf_down _ E2_wfE); [exact Po|exists w; auto]). apply (N r).
      now apply go_carry.
  - pose proof H as (Kw & _). apply val_nicr with (go w); auto.
    + unfold rd. now rewrite go_knd.
    + unfold cpu. now rewrite go_knd.
    + exists w, r. auto.
  - assert (kept r) as Kr by (eapply (wf_down _ kept_wfE); [apply (carry_ok _ _ C)|auto]).
    apply val_nicw with (go r); auto. now apply (go_carry r w).
Qed.
Lemma T2_valid : valid T2.
Proof.
  intros r2 (r & Kr & ->) Cr Rr. unfold cpu in Cr. unfold rd in Rr. rewrite go_knd in Cr, Rr by auto.
  destruct (rho_right r Kr Cr Rr) as (w & H & F). exists (go w). split; [exists w, r; pose proof H as (Kw & _); auto|].
  assert (crv (go r) = rho r) as ->; [|apply go_filled; [exact F|apply H]].
  destruct r as [x v|t l h]; [destruct Cr|]. destruct (kept_suf _ _ _ Kr) as (S & _). rewrite <- (reads_at rho t l h S).
  pose proof (no_cas t l (suf_in l h _ S)) as Pl. destruct l; simpl in Cr, Rr, Pl; tauto || reflexivity.
Qed.
Lemma T2_trace : trace_of (P ts2) T2.
Proof. split; [exact E2_is_run|split; [exact T2_wft|exact T2_valid]]. Qed.
Lemma T2_cycle : ~ sc_consistent T1 -> ~ sc_consistent T2.
Proof. apply (moved_cycle T1 go E2 (fun _ => False)); [exact T1_wft|exact E2_image|exact go_inj|exact go_po]. Qed.
End Values.

Theorem remaining : irreflexive (needs T1) -> exists T2, trace_of (P (map (fun j => nth j ts 0) js)) T2 /\
  (~ sc_consistent T1 -> ~ sc_consistent T2) /\
  (forall hw, rdma_consistent hw T1 -> rdma_consistent hw T2).
Proof.
  intros Ir. destruct (values_exist (U := concrete) event_dec T1 writes T1_wft Ir) as (rho & Hr).
  - exact writes_causal.
  - now exists (0%Z).
  - exists (moved T1 (to js W (reads rho)) (E2 rho)). split; [exact (T2_trace rho Hr)|]. split; [exact (T2_cycle rho)|].
    exact (T2_consistent rho).
Qed.
End Remaining.
