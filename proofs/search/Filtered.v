(* Theorem 9 joined to Theorem 8: the search behind the static filter reports a violation iff the program is not robust.
   A start must be allowed, by [CriticalCycles.may_start] (pivot_classes.py: may_start); classes that are not allowed to
   start anywhere are not tried (classes_of).  The rest is the search of Search.v. *)
Require Import List Arith Bool Lia Classical Relations.
Import ListNotations.
From RR Require Import Model Hardware Orders Cells Stores Rules Traces Search Marks Tainted Along Counters Least FirstHalf
  Target Answers Reported Filter Critical.

Section Filtered.
Context {U : events} {K : searchable} (hw : hardware) (zero : bool).
Variables (ini : ev -> Prop) (mem0 : nat -> value) (ctl : (ev -> Prop) -> Prop) (hope : class -> (ev -> Prop) -> Prop).
Notation step := (step hw zero ini ctl hope).
Notation reach := (reach hw zero ini mem0 ctl hope).
Notation enabled := (enabled ini ctl).
Notation with_ := (with_ ini).

Section Allowed.
Variable allowed : class -> ev -> Prop.
Inductive filtered_step (s : state) : state -> Prop :=
| filtered_start c e : cls s = None -> enabled s e -> hope c (with_ s e) -> can_start c e = true -> allowed c e ->
    filtered_step s (after_beta hw c (begun c s) e)
| filtered_other s' : step s s' -> cls s' = cls s -> filtered_step s s'.
Inductive filtered_reach : state -> Prop :=
| filtered_reach_start : filtered_reach (start_state mem0)
| filtered_reach_step s s' : filtered_reach s -> filtered_step s s' -> filtered_reach s'.
Lemma filtered_is_step s s' : filtered_step s s' -> step s s'.
Proof. intros [c e H1 H2 H3 H4 _|s2 H _]; [now apply step_start|auto]. Qed.
Lemma filtered_is_reach s : filtered_reach s -> reach s.
Proof.
  induction 1 as [|s s' _ IH H]; [constructor|]. eapply reach_step; [exact IH|now apply filtered_is_step].
Qed.
End Allowed.

(* The search of a conflict graph: [keep] is what its filter leaves, as starts for pivots of a class.  The run, with its
   pivot, is drawn along edges of the graph. *)
Definition found_filtered (G : conflict_graph) (keep : class -> g_access G -> Prop) := exists E edge s m,
  filtered_reach (fun c e => keep c (edge e)) s /\ reports_at hw ini ctl s m /\
  (forall e, E e <-> with_ s m e) /\ g_drawn G E edge.
(* what the filter must leave *)
Definition keeps (G : conflict_graph) (keep : class -> g_access G -> Prop) :=
  forall c seen a, useful G c seen true a -> keep c a.
Lemma filtered_is_found G keep : found_filtered G keep -> found hw zero ini mem0 ctl hope.
Proof. intros (E & edge & s & m & R & H & _). exists s. split; [eapply filtered_is_reach; eauto|now exists m]. Qed.

(* A run along L starts with s, the first of B. *)
Section Start.
Context {OK : hardware_ok hw} {SO : search_ok hw}.
Context {P : program} {T : trace} {m : ev} {L : relation ev} {s : ev} {B : ev -> Prop}.
Hypothesis LB : least hw P T m L s B.
Notation F := (without (E T) m).
Variable allowed : class -> ev -> Prop.
Hypothesis Hs : allowed (class_of m) s.

Lemma start_is_s t e : reach t -> cls t = None -> pre F L (evs (hist (th t))) e -> flags B (hist (th t)) -> B e -> e = s.
Proof.
  intros R C (_ & _ & Pre) Fl Be. destruct (b_first _ _ _ _ _ _ _ LB e Be) as [|Ls]; auto. exfalso.
  destruct (b_BF _ _ _ _ _ _ _ LB s (b_s _ _ _ _ _ _ _ LB)) as (Fs & Ns).
  assert (In s (evs (hist (th t)))) as Hi by (apply Pre; auto). apply in_map_iff in Hi. destruct Hi as (mv & Q & Hi).
  destruct (n_none hw t (reach_tainting hw _ _ _ _ _ _ R) C mv Hi) as (Z & _).
  assert (mb mv = true) as Z'; [|congruence]. apply (Fl mv Hi). rewrite Q. apply LB.
Qed.
Lemma along_filtered t : reach t -> along F L (hist (th t)) -> flags B (hist (th t)) ->
  (forall c, cls t = Some c -> c = class_of m) -> filtered_reach allowed t.
Proof.
  assert (forall mv h, along F L (mv :: h) -> along F L h /\ pre F L (evs h) (me mv)) as Ha.
  { intros mv h A. apply along_cons in A. tauto. }
  assert (forall mv h, flags B (mv :: h) -> flags B h /\ (mb mv = true <-> B (me mv))) as Hf.
  { intros mv h Fl. split; [intros mv' Hi; apply Fl; now right|apply Fl; now left]. }
  induction 1 as [|t t' R IH St]; [constructor|]. intros A Fl Hc.
  destruct St as [e C En Pa|c e C En Ho Cs|c e C En Ho Fo Pa|c e C En Ho Fo Pb Cu Po]; simpl in A, Fl, Hc;
    apply Ha in A; apply Hf in Fl; destruct A as (A & Pre), Fl as (Fl & Be); simpl in Pre, Be.
  - eapply filtered_reach_step; [apply IH; auto; congruence|]. apply filtered_other; [now apply step_phase1|auto].
  - assert (c = class_of m) as -> by auto. assert (e = s) as -> by (eapply start_is_s; eauto; now apply Be).
    eapply filtered_reach_step; [apply IH; auto; congruence|]. now apply filtered_start.
  - eapply filtered_reach_step; [apply IH; auto|]. apply filtered_other; [now apply step_alpha with c|auto].
  - eapply filtered_reach_step; [apply IH; auto; intros c0 Z; apply Hc; congruence|].
    apply filtered_other; [now apply step_beta|simpl; auto].
Qed.
End Start.

Context {OK : hardware_ok hw} {SO : search_ok hw}.
Theorem filtered_first_half P G keep : searches P ini mem0 ctl hope -> covers hw G P -> keeps G keep -> ~ robust hw P ->
  found_filtered G keep.
Proof.
  intros Se Co Ke N. destruct (theorem_9 hw G P Co N) as (T & m & L & s & B & edge & LB & D & seen & Us).
  destruct (run_along hw zero P ini mem0 ctl hope T m L s B Se LB) as (all & st & Iall & I & R).
  exists (E T), edge, st, m. split; [|split; [auto|split; [|auto]]].
  - apply (along_filtered LB); try apply I; [eauto|]. intros c Z. destruct R as (Z' & _). congruence.
  - intros e. unfold Search.with_. rewrite (e_done hw zero P ini mem0 ctl hope Se T m L s B LB all st); auto.
    pose proof (proj1 (b_last _ _ _ _ _ _ _ LB)) as Em. unfold without. destruct (classic (e = m)) as [->|]; tauto.
Qed.
Theorem theorem_9_search P G keep : searches P ini mem0 ctl hope -> answers P ini mem0 ctl -> covers hw G P ->
  keeps G keep ->
  (found_filtered G keep <-> ~ robust hw P).
Proof.
  intros Se An Co Ke. split; [|now apply filtered_first_half].
  intros Fo. apply (theorem_8_second_half hw zero P ini mem0 ctl hope); auto. eapply filtered_is_found; eauto.
Qed.
End Filtered.

(* Engine none: a program is robust of which the filter leaves no event that can be the first of beta after a pivot. *)
Theorem nothing_kept {U : events} {K : searchable} (hw : hardware) {OK : hardware_ok hw} {SO : search_ok hw} P G :
  covers hw G P ->
  (forall E edge c x seen e, runs P E -> g_drawn G E edge -> g_sites G c x -> E e -> noninit e -> can_start c e = true ->
    ~ useful G c seen true (edge e)) -> robust hw P.
Proof.
  intros Co H. apply NNPP. intros N. destruct (theorem_9 hw G P Co N) as (T & m & L & s & B & edge & LB & D & seen & Us).
  destruct (b_BF _ _ _ _ _ _ _ LB s (b_s _ _ _ _ _ _ _ LB)) as ((Es & _) & Ns).
  assert (g_sites G (class_of m) (edge m)) as Sm by (apply (c_sites hw G P Co (E T) edge m s); auto; apply LB).
  apply (H (E T) edge (class_of m) (edge m) seen s); auto; [apply LB|]. eapply start_can; eauto.
Qed.
