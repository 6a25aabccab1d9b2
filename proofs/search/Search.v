(* The search of docs/theory-search.md (Theorem 8) as a transition system.

   Beside each definition stands what it is in the code, robustness/: [pivot.py] (class PivotInstrumentation), [rules.py],
   [taint.py], [marks.py], [pivot_classes.py], [forwarding.py].  It is the plain instrumentation, without reductions, for CPUs
   with and without store buffers, and programs without remote atomics and messages.  Differences:
   - program counters and registers follow from the events done so far and from silent choices, so a state has the events
     instead ([hist]); any choices that fit the events count ([ctl]), and silent steps are none of the search's;
   - the code has variables only where they matter: no marks on cells that no event writes, no types but those that occur, no
     counters and no [fod] for queue pairs that nobody polls, no [fen] where there are no nF, nlW and nlR, no counters of queue
     pairs that nobody polls any more, no ALPHA_VALUE for classes that do not look at it;
   - marks of store buffers are kept for all threads and cells, also where no thread reads what it has stored; an nrW behind a
     store is asked for it ([stored]) also where its operation has an nlR, which that store has forced;
   - any class can be started here, with or without a site; one without a site has no target;
   - [hope] stands for any test whether the pivot's thread can still come to its event ([current_kept], [ahead_now]; the code
     asks [current_kept] at silent steps too);
   - that starts must be allowed ([may_start]) is added in Filtered.v;
   - [zero] is whether polls go to beta only where no early completion is left (Zero), as where counters are bounded. *)
Require Import List Arith Bool Classical.
Import ListNotations.
From RR Require Import Model Hardware.

(* What the search asks of events. *)
Class searchable {U : events} := {
  qp_dec : forall a b : qpair, {a = b} + {a <> b};
  no_value : value;                       (* what is in carried[thread] while nothing is carried *)
  sgn : ev -> bool;                       (* edge.completes: a poll can take this completion *)
  brings : ev -> bool;                    (* stores_carried: it writes what its operation has read before *)
  sgn_nicw : forall w, sgn w = true -> is_nicw (knd w);
  pf_one : forall w w' p, sgn w = true -> sgn w' = true -> pf w p -> pf w' p -> w = w';
  carry_next : forall r w x, carry r w -> po r x -> po x w -> False;
  brings_iff : forall w, brings w = true <-> exists r, carry r w;
}.

Definition kind_dec (a b : kind) : {a = b} + {a <> b}.
Proof. decide equality. Defined.

(* What the search asks of the table beside [hardware_ok]: the NIC forces no CPU event, an nrW no nF. *)
Class search_ok (hw : hardware) : Prop := {
  nic_cpu : forall a b, nic_kind a = true -> is_cpu b -> seen hw a b = false;
  nrw_fence : seen hw NRW NF = false;
}.
Global Instance flags_search_ok f : search_ok (of_flags f).
Proof. constructor; [|reflexivity]. intros a b H B. destruct a; try discriminate; destruct b; simpl in B;
  tauto || reflexivity. Qed.
Global Instance tso_search_ok f : search_ok (tso (of_flags f)).
Proof. destruct (flags_search_ok f) as [H K]. now constructor. Qed.
Global Instance with_buffers_search_ok b f : search_ok (with_buffers b (of_flags f)).
Proof. destruct b; exact _. Qed.
Global Instance paper_search_ok (ord : bool) : search_ok ord.
Proof. apply flags_search_ok. Qed.

Section Search.
Context {U : events} {K : searchable} (hw : hardware) (zero : bool).

Definition is (k : kind) (e : ev) := if kind_dec (knd e) k then true else false.
Definition cpu_b (e : ev) := match knd e with LR | LW | CAS | Poll | Fence => true | _ => false end.
Definition wr_b (e : ev) := match knd e with Init | LW | CAS | NRW | NLW => true | _ => false end.
Definition rd_b (e : ev) := match knd e with LR | CAS | NLR | NRR => true | _ => false end.
(* forwarding.py: buffered *)
Definition store_b (e : ev) := buffered hw && is LW e.

Definition upd {A} (f : nat -> A) x v := fun y => if y =? x then v else f y.
Definition updq {A} (f : qpair -> A) q v := fun y => if qp_dec y q then v else f y.

(* PivotClass *)
Record class := Cls { cthr : nat; ccell : nat; cwr : bool }.
Definition class_of e := Cls (thr e) (loc e) (wr_b e).

(* EventLabel: an event, whether it is in beta, whether it is tainted *)
Record move := Mv { me : ev; mb : bool; mt : bool }.

(* The threads, memory, carried[thread] *)
Record threads := Thr { hist : list move; mem : nat -> value; car : nat -> value }.
(* Rules.counters: unpolled[qp], early[qp] *)
Record counts := Cnt { unp : qpair -> nat; ear : qpair -> nat }.
(* Rules.variables: CPU_BETA, STORE_BETA, beta[qp], fenced[qp], forced[qp] *)
Record sides := Sd { cpub : nat -> bool; stob : nat -> bool; typ : qpair -> kind -> bool; fen : qpair -> bool;
                     fod : qpair -> bool }.
(* AccessMarks: cells read, cells written *)
Record touched := Cel { cr : nat -> bool; cw : nat -> bool }.
(* Remembered.tainted: cells, threads; CLOSED *)
Record taint := Tnt { tce : touched; tth : nat -> bool; clo : bool }.
(* Remembered.poison, POISON_CARRIED *)
Record poison := Psn { poi : nat -> bool; poc : nat -> bool }.
(* CLASS, Remembered.accessed, ALPHA_VALUE, StoreBuffers.marks: of a cell the thread whose mark is set *)
Record state := State { th : threads; cn : counts; cls : option class; sd : sides; acc : touched; tn : taint; ps : poison;
                        fro : value; fwd : nat -> option nat }.

Definition no_cells := Cel (fun _ => false) (fun _ => false).
Definition no_sides := Sd (fun _ => false) (fun _ => false) (fun _ _ => false) (fun _ => false) (fun _ => false).
Definition no_taint := Tnt no_cells (fun _ => false) false.
Definition no_poison := Psn (fun _ => false) (fun _ => false).

(* effect: memory and what is carried *)
Definition written (t : threads) e := if brings e then car t (thr e) else cwv e.
Definition th_after (t : threads) (mv : move) := let e := me mv in
  Thr (mv :: hist t)
      (if wr_b e then upd (mem t) (loc e) (written t e) else mem t)
      (if rd_b e && negb (cpu_b e) then upd (car t) (thr e) (mem t (loc e))
       else if brings e then upd (car t) (thr e) no_value else car t).

(* AccessMarks.left_by, AccessMarks.conflicting *)
Definition left_by (c : touched) e :=
  Cel (if rd_b e then upd (cr c) (loc e) true else cr c) (if wr_b e then upd (cw c) (loc e) true else cw c).
Definition meets_marks (c : touched) e := (wr_b e && cr c (loc e)) || ((rd_b e || wr_b e) && cw c (loc e)).

(* Rules.nic_forcing_types, Rules.nic_forces, Rules.oppo_forces *)
Definition forcing_type (e : ev) (k : kind) := match table hw k (knd e) with Qp => true | _ => false end.
Definition nic_forces (s : sides) e :=
  existsb (fun k => typ s (qp e) k && forcing_type e k) kinds || (flush hw && is NLR e && fen s (qp e)).
(* Rules.store_forces, Rules.forced_by_store: T1 *)
Definition stored (s : sides) e := stob s (thr e) && negb (is LR e) && negb (is Poll e).
Definition oppo_forces (s : sides) e := cpub s (thr e) || stored s e || (negb (cpu_b e) && nic_forces s e).
(* StoreBuffers.forwards: T2 *)
Definition takes_own (s : state) e := is LR e && match fwd s (loc e) with Some t => t =? thr e | None => false end.
(* PivotInstrumentation._forced *)
Definition forced (s : state) e := oppo_forces (sd s) e || (meets_marks (acc s) e && negb (takes_own s e)).

(* Rules.forces_poll; the types asked are NLR alone *)
Definition forces (s : sides) e := is NLW e || (is NRW e && (fod s (qp e) || typ s (qp e) NLR || stored s e)).

(* Rules._completion, and what a poll takes; Rules.first_part, Rules.second_part *)
Definition completion (c : counts) e (late : bool) :=
  if sgn e then Cnt (updq (unp c) (qp e) (S (unp c (qp e)))) (if late then ear c else updq (ear c) (qp e)
    (S (ear c (qp e))))
  else c.
Definition counts_alpha (c : counts) (s : sides) e :=
  if is Poll e then Cnt (updq (unp c) (qp e) (pred (unp c (qp e)))) (updq (ear c) (qp e) (pred (ear c (qp e))))
  else completion c e (fod s (qp e)).
Definition counts_beta (c : counts) (s : sides) e :=
  if is Poll e then Cnt (updq (unp c) (qp e) (pred (unp c (qp e)))) (ear c)
  else completion c e (forces s e).
Definition sides_alpha (s : sides) e :=
  if is NF e && typ s (qp e) NLW then Sd (cpub s) (stob s) (typ s) (updq (fen s) (qp e) true) (fod s) else s.
(* Rules._buffered: a store leaves the mark of stores, unless its thread has the other *)
Definition sides_beta (s : sides) e :=
  if store_b e then Sd (cpub s) (if cpub s (thr e) then stob s else upd (stob s) (thr e) true) (typ s) (fen s) (fod s)
  else if cpu_b e then Sd (upd (cpub s) (thr e) true) (upd (stob s) (thr e) false) (typ s) (fen s) (fod s)
  else Sd (cpub s) (stob s) (updq (typ s) (qp e) (fun k => typ s (qp e) k || is k e)) (fen s)
          (if forces s e then updq (fod s) (qp e) true else fod s).
(* StoreBuffers.after_beta_write *)
Definition left_own (s : state) e :=
  if wr_b e then upd (fwd s) (loc e) (if store_b e && negb (cpub (sd s) (thr e)) then Some (thr e) else None) else fwd s.

(* PivotInstrumentation._taint, _meets_pivot, PivotClasses.own, Taint.spreading *)
Definition reached (s : state) e := tth (tn s) (thr e) || meets_marks (tce (tn s)) e.
Definition meets (c : class) e := (rd_b e || wr_b e) && (loc e =? ccell c) && (wr_b e || cwr c).
Definition own (c : class) e := thr e =? cthr c.
Definition spreading (t : taint) e (tainted closing : bool) :=
  if clo t || (tainted && closing) then Tnt no_cells (fun _ => false) true
  else if tainted then Tnt (left_by (tce t) e) (upd (tth t) (thr e) true) false
  else t.

(* PivotInstrumentation._poisons, _poisoning, _freeze, _cuts *)
Definition poisons (s : state) e := cpu_b e && rd_b e && poi (ps s) (loc e).
Definition poisoning (p : poison) e :=
  if rd_b e then (if cpu_b e then p else Psn (poi p) (upd (poc p) (thr e) (poi p (loc e))))
  else if brings e then Psn (upd (poi p) (loc e) (poc p (thr e))) (upd (poc p) (thr e) false)
  else if wr_b e then Psn (upd (poi p) (loc e) false) (poc p) else p.
Definition freeze (c : class) (s : state) e :=
  if wr_b e && (loc e =? ccell c) && negb (cw (acc s) (ccell c)) then mem (th s) (loc e) else fro s.
(* forwarding.py: keeps_pivot_out (T3) *)
Definition cuts (c : class) e := cpu_b e && own c e && (negb (store_b e) || cwr c || (loc e =? ccell c)).

(* PivotInstrumentation._phase1 and _alpha; StoreBuffers.is_before_pivot *)
Definition closing_alpha (s : state) e :=
  match cls s with Some c => (meets c e && negb (takes_own s e)) || own c e | None => false end.
Definition after_alpha (s : state) e :=
  let t := reached s e in
  State (th_after (th s) (Mv e false t)) (counts_alpha (cn s) (sd s) e) (cls s) (sides_alpha (sd s) e) (acc s)
        (spreading (tn s) e t (closing_alpha s e)) (ps s) (fro s) (fwd s).
(* PivotInstrumentation._beta, _beta_poll and _into_beta *)
Definition after_beta (c : class) (s : state) e :=
  let t := reached s e || meets c e in
  State (th_after (th s) (Mv e true t)) (counts_beta (cn s) (sd s) e) (cls s) (sides_beta (sd s) e) (left_by (acc s) e)
        (spreading (tn s) e t (own c e)) (poisoning (ps s) e) (freeze c s e) (left_own s e).
(* PivotInstrumentation._started: the class is chosen, its cell is poisoned if the pivot writes *)
Definition begun (c : class) (s : state) :=
  State (th s) (cn s) (Some c) (sd s) (acc s) (tn s)
        (Psn (if cwr c then upd (poi (ps s)) (ccell c) true else poi (ps s)) (poc (ps s))) (fro s) (fwd s).
(* pivot_classes.py: can_start *)
Definition can_start (c : class) e := meets c e && (negb (cpu_b e) || negb (own c e || (cwr c && rd_b e))).

(* [ini]: the initial writes;
  [ctl]: events of threads that follow their programs, whether polls find completions or not *)
Variables (ini : ev -> Prop) (mem0 : nat -> value) (ctl : (ev -> Prop) -> Prop) (hope : class -> (ev -> Prop) -> Prop).

Definition evs (h : list move) := map me h.
Definition done (s : state) x := ini x \/ In x (evs (hist (th s))).
Definition with_ (s : state) e x := done s x \/ x = e.
Definition enabled (s : state) e :=
  noninit e /\ ~ done s e /\ ctl (with_ s e) /\
  (cpu_b e = true -> rd_b e = true -> mem (th s) (loc e) = crv e).
Definition poll_alpha (s : state) e := knd e = Poll -> unp (cn s) (qp e) > 0 /\ ear (cn s) (qp e) > 0.
Definition poll_beta (s : state) e := knd e = Poll ->
  unp (cn s) (qp e) > 0 /\ (cpub (sd s) (thr e) = true \/ (zero = true -> ear (cn s) (qp e) = 0)).

Definition start_state :=
  State (Thr [] mem0 (fun _ => no_value)) (Cnt (fun _ => 0) (fun _ => 0)) None no_sides no_cells no_taint no_poison
        no_value (fun _ => None).

Inductive step (s : state) : state -> Prop :=
| step_phase1 e : cls s = None -> enabled s e -> poll_alpha s e -> step s (after_alpha s e)
| step_start c e : cls s = None -> enabled s e -> hope c (with_ s e) -> can_start c e = true ->
    step s (after_beta c (begun c s) e)
| step_alpha c e : cls s = Some c -> enabled s e -> hope c (with_ s e) -> forced s e = false -> poll_alpha s e ->
    step s (after_alpha s e)
| step_beta c e : cls s = Some c -> enabled s e -> hope c (with_ s e) -> (knd e = Poll \/ forced s e = true) -> 
    poll_beta s e -> cuts c e = false -> poisons s e = false -> step s (after_beta c s e).

Inductive reach : state -> Prop :=
| reach_start : reach start_state
| reach_step s s' : reach s -> step s s' -> reach s'.

(* PivotInstrumentation._targets: the pivot can be put last into alpha *)
Definition pivot_value (s : state) v := if cw (acc s) v then fro s else mem (th s) v.
Definition reports_at (s : state) m := cls s = Some (class_of m) /\ clo (tn s) = true /\ (rd_b m || wr_b m) = true /\
  noninit m /\ ~ done s m /\ ctl (with_ s m) /\
  (cpu_b m = true -> rd_b m = true -> pivot_value s (loc m) = crv m) /\
  stored (sd s) m = false /\ (cpu_b m = false -> nic_forces (sd s) m = false).
Definition reports s := exists m, reports_at s m.

Definition found := exists s, reach s /\ reports s.
End Search.
