(* Theorem 9 for programs of Programs.v: of any, with the graph of the events themselves, and of those that are given by flow
   graphs, with the graph that is computed of them.  The edges of a flow graph have labels, or are silent; two edges may
   have one label, so a thread may be at several points after the same events. *)
Require Import List Arith ZArith Bool Lia Classical Relations.
Import ListNotations.
From RR Require Import Model Hardware Programs Search Along Least FirstHalf Reported Searched Filter Critical Filtered
  FlowGraphs Outstanding Overtaking FlowCovers Useful.

Section Programs.
Variables (nt nv : nat) (init : nat -> Z) (prog : nat -> list label -> Prop).
Hypothesis prog_prefix : forall t l h, prog t (l :: h) -> prog t h.
Hypothesis prog_nothing : forall t, prog t [].
Theorem concrete_theorem_9 hw {OK : hardware_ok hw} {SO : search_ok hw} zero hope keep :
  hopes nt nv init prog hope -> keeps (exact hw) keep ->
  (found_filtered hw zero (ini0 nv init) (init : nat -> @value concrete) (ctl0 nt nv init prog) hope (exact hw) keep <->
   ~ robust hw (the_program nt nv init prog prog_prefix)).
Proof.
  intros Hh Ke. apply (theorem_9_search hw); auto; [now apply concrete_searches|now apply concrete_answers|].
  apply (exact_covers hw). intros E R. split; [exact (run_wfx nt nv init prog E R)|exact (run_wf nt nv init prog E R)].
Qed.
End Programs.

Record edge_of_flow := Edge { f_thr : nat; f_from : nat; f_to : nat; f_label : option label }.
Definition arc_of_edge f : arc :=
  match f_label f with
  | Some l => Arc (f_thr f) (f_from f) (f_to f) (Some (lknd l)) ((f_thr f, lq l) : @qpair concrete) (lloc l) (lsgn l)
  | None => Arc (f_thr f) (f_from f) (f_to f) None ((f_thr f, 0) : @qpair concrete) 0 false
  end.

Section Flow.
Variables (nt nv : nat) (init : nat -> Z) (flow : list edge_of_flow) (entry : nat -> nat).
(* Thread t can do h, newest first, by edges, and be at the point then. *)
Inductive follows_flow t : list label -> list edge_of_flow -> nat -> Prop :=
| flow_start : follows_flow t [] [] (entry t)
| flow_silent h es f : follows_flow t h es (f_from f) -> In f flow -> f_thr f = t -> f_label f = None ->
    follows_flow t h es (f_to f)
| flow_event h es f l : follows_flow t h es (f_from f) -> In f flow -> f_thr f = t -> f_label f = Some l ->
    follows_flow t (l :: h) (f :: es) (f_to f).
Definition flow_prog t h := exists es p, follows_flow t h es p.
Lemma flow_prefix t l h : flow_prog t (l :: h) -> flow_prog t h.
Proof.
  intros (es & p & H). remember (l :: h) as h' eqn:Q. revert l h Q.
  induction H as [|h' es f _ IH _ _ _|h' es f l' H _ _ _ _]; intros l h Q; [discriminate|eauto|].
  injection Q as <- <-. exists es, (f_from f). exact H.
Qed.
Definition flow_program := the_program nt nv init flow_prog flow_prefix.
Notation arcs := (map arc_of_edge flow).
Notation quiet := (quiet arcs).

Lemma flow_arc f : In f flow -> In (arc_of_edge f) (from_point arcs (f_thr f) (f_from f)) /\ a_to (arc_of_edge f) = f_to f.
Proof.
  intros I. rewrite in_from_point. split; [split; [now apply in_map|]|]; unfold arc_of_edge; destruct (f_label f); auto.
Qed.
Lemma quiet_more t p f : quiet t p (f_from f) -> In f flow -> f_thr f = t -> f_label f = None -> quiet t p (f_to f).
Proof.
  intros H I T Q. destruct (flow_arc f I) as (A & To). rewrite T in A. remember (f_from f) as p' eqn:Qp.
  induction H as [p|p a p' Ia Qa _ IH]; [|eapply quiet_step; eauto].
  apply quiet_step with (arc_of_edge f); [congruence| |rewrite To; constructor]. unfold arc_of_edge. now rewrite Q.
Qed.
(* where it stands: silent steps behind the last event *)
Lemma flow_nothing t h es p : follows_flow t h es p -> h = [] -> es = [] /\ quiet t (entry t) p.
Proof.
  induction 1 as [|h es f _ IH I T Q|]; intros Z; try discriminate; [split; auto; constructor|].
  destruct (IH Z). split; auto. now apply quiet_more.
Qed.
Lemma flow_last t h es p : follows_flow t h es p -> forall l h', h = l :: h' -> exists f es', es = f :: es' /\
  follows_flow t h' es' (f_from f) /\ In f flow /\ f_thr f = t /\ f_label f = Some l /\ quiet t (f_to f) p.
Proof.
  induction 1 as [|h es f _ IH I T Q|h es f l H _ I T Q]; intros l0 h' Z; [discriminate| |].
  - destruct (IH l0 h' Z) as (f' & es' & -> & H' & I' & T' & Q' & H2). exists f', es'. repeat split; auto. now apply
    quiet_more.
  - injection Z as <- <-. exists f, es. repeat split; auto. constructor.
Qed.
Lemma flow_length t h es p : follows_flow t h es p -> length es = length h.
Proof. induction 1; simpl; auto. Qed.
(* the edge of an event, which has as many behind it as the event has a past *)
Lemma flow_at t h es p : follows_flow t h es p -> forall l h', suf (l :: h') h -> exists f es0 es', es = es0 ++ f :: es' /\
  length es' = length h' /\ follows_flow t h' es' (f_from f) /\ In f flow /\ f_thr f = t /\ f_label f = Some l.
Proof.
  revert es p. induction h as [|l0 h IH]; intros es p H l h' S; [apply suf_len in S; simpl in S; lia|].
  destruct (flow_last t _ es p H l0 h eq_refl) as (f & es' & -> & H' & I & T & Q & _).
  destruct (suf_tail _ _ _ S) as [Z|Z].
  - injection Z as -> ->. exists f, [], es'. split; auto. split; [eapply flow_length; eauto|auto].
  - destruct (IH _ _ H' _ _ Z) as (f2 & es0 & es2 & -> & X). exists f2, (f :: es0), es2. split; auto.
Qed.
Definition nobody := Edge 0 0 0 None.
Definition edge_at (es : list edge_of_flow) n := nth n (rev es) nobody.
Lemma edge_at_here es0 f es' : edge_at (es0 ++ f :: es') (length es') = f.
Proof.
  unfold edge_at. rewrite rev_app_distr. simpl. rewrite <- app_assoc, <- (rev_length es'). apply nth_middle.
Qed.

(* every run is drawn along edges *)
Lemma trails (path : nat -> list label) : (forall t, flow_prog t (path t)) -> (forall t, nt <= t -> path t = []) ->
  exists es, forall t, exists p, follows_flow t (path t) (es t) p.
Proof.
  intros Hp Hn. assert (forall n, exists es, forall t, t < n \/ nt <= t -> exists p, follows_flow t (path t) (es t) p) as H.
  { induction n as [|n (es & IH)].
    - exists (fun _ => []). intros t [H|H]; [lia|]. rewrite (Hn t H). eexists. constructor.
    - destruct (Hp n) as (e & p & H). exists (fun t => if t =? n then e else es t). intros t Ht.
      destruct (Nat.eqb_spec t n) as [->|N]; [eauto|]. apply IH. lia. }
  destruct (H nt) as (es & He). exists es. intros t. apply He. lia.
Qed.
Lemma runs_drawn E : is_run nt nv init flow_prog E -> exists edge, drawn arcs entry (E : @ev concrete -> Prop) edge.
Proof.
  intros (path & (Hok & Hnt) & HE). destruct (trails path) as (es & Hes); [apply Hok|auto|].
  exists (fun e : @ev concrete => match e with Ini _ _ => arc_of_edge nobody
    | Ev t _ h => arc_of_edge (edge_at (es t) (length h)) end).
  assert (forall t l h, E (Ev t l h) -> exists f es0 es', es t = es0 ++ f :: es' /\
    length es' = length h /\ follows_flow t h es' (f_from f) /\ In f flow /\ f_thr f = t /\ f_label f = Some l) as Hf.
  { intros t l h He. apply HE in He. destruct (Hes t) as (p & Hp). now apply (flow_at t (path t) (es t) p Hp). }
  constructor.
  - intros [x v|t l h] He Ne; [now destruct Ne|]. destruct (Hf t l h He) as (f & es0 & es' & Q & Le & H & I & T & Lb).
    rewrite Q, <- Le, edge_at_here. split; [now apply (in_map arc_of_edge)|]. unfold arc_of_edge. rewrite Lb, T. simpl.
      auto 6.
  - intros [x v|t l h] He Ne Nb; [now destruct Ne|]. destruct (Hf t l h He) as (f & es0 & es' & Q & Le & H & I & T & Lb).
    rewrite Q, <- Le, edge_at_here. destruct h as [|l' h].
    + replace (a_from (arc_of_edge f)) with (f_from f) by (unfold arc_of_edge; rewrite Lb; auto). simpl.
      now apply (flow_nothing t [] es').
    + exfalso. apply (Nb (Ev t l' h)). simpl. split; auto. apply suf_refl.
  - intros [x v|t l h] [y v'|t' l' h'] Eb Po Nb; simpl in Po; try tauto. destruct Po as (<- & S).
    destruct (Hf t l' h' Eb) as (f & es0 & es' & Q & Le & H & I & T & Lb). destruct h' as [|l2 h2].
    { apply suf_len in S. simpl in S. lia. }
    assert (l :: h = l2 :: h2) as Z.
    { destruct (suf_tail _ _ _ S) as [Z|Z]; auto. exfalso. apply (Nb (Ev t l2 h2)); simpl; split; auto. apply suf_refl. }
    injection Z as -> ->. destruct (flow_last t _ es' _ H l2 h2 eq_refl) as (f2 & es2 & -> & H2 & I2 & T2 & Lb2 & Qu).
    rewrite Q. replace (length h2) with (length es2) by (simpl in Le; lia). rewrite <- Le, edge_at_here.
    replace (es0 ++ f :: f2 :: es2) with ((es0 ++ [f]) ++ f2 :: es2) by (now rewrite <- app_assoc). rewrite edge_at_here.
    replace (a_from (arc_of_edge f)) with (f_from f) by (unfold arc_of_edge; rewrite Lb; auto).
    replace (a_to (arc_of_edge f2)) with (f_to f2) by (unfold arc_of_edge; rewrite Lb2; auto). exact Qu.
Qed.

Notation graph hw fuel once := (graph_of hw arcs entry fuel once).
Lemma flow_runs E : is_run nt nv init flow_prog E ->
  wfE (E : @ev concrete -> Prop) /\ wfx (E : @ev concrete -> Prop) /\
  exists edge, drawn arcs entry (E : @ev concrete -> Prop) edge.
Proof.
  intros R. split; [exact (run_wf nt nv init flow_prog E R)|].
  split; [exact (run_wfx nt nv init flow_prog E R)|now apply runs_drawn].
Qed.
(* the search behind the filter *)
Theorem flow_theorem_9 hw {OK : hardware_ok hw} {SO : search_ok hw} zero hope fuel once keep :
  hopes nt nv init flow_prog hope -> keeps (graph hw fuel once) keep ->
  (found_filtered hw zero (ini0 nv init) (init : nat -> @value concrete) (ctl0 nt nv init flow_prog) hope
    (graph hw fuel once) keep <-> ~ robust hw flow_program).
Proof.
  intros Hh Ke. apply (theorem_9_search hw); auto; [now apply concrete_searches| |apply (graph_covers hw), flow_runs].
  apply concrete_answers. intros t. exists [], (entry t). constructor.
Qed.
(* the same with the filter that is computed *)
Corollary flow_filter hw {OK : hardware_ok hw} {SO : search_ok hw} zero hope fuel once :
  hopes nt nv init flow_prog hope ->
  (found_filtered hw zero (ini0 nv init) (init : nat -> @value concrete) (ctl0 nt nv init flow_prog) hope
    (graph hw fuel once) (fun c a => may_start hw arcs entry fuel once c a = true) <-> ~ robust hw flow_program).
Proof. intros Hh. apply (flow_theorem_9 hw); auto. intros c seen a. apply (useful_may_start hw). Qed.
Theorem flow_nothing_left hw {OK : hardware_ok hw} {SO : search_ok hw} fuel once :
  nothing_left hw arcs entry fuel once = true -> robust hw flow_program.
Proof. apply (nothing_left_robust hw), flow_runs. Qed.
End Flow.
