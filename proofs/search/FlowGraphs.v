(* The conflict graph of a program given by flow graphs, as reductions/critical.py and relaxation.py compute it: definitions.
   An arc is what these look at of an edge of an event graph (event_edge.py).  Differences to the code:
   - of the events of one thread and word two arcs may differ in what they read, where the code has one edge with a guard;
   - the code's loops end by themselves; here [fuel] bounds them, and without an end everything is listed, or any number
     can be outstanding. *)
Require Import List Arith Bool Classical Relations.
Import ListNotations.
From RR Require Import Model Hardware Search Filter StoreFilter Critical Worklist.

Section FlowGraphs.
Context {U : events} {K : searchable} (hw : hardware).

(* EventEdge: thread, source, target, type (None: a silent step), queue pair, word, completes *)
Record arc := Arc { a_thr : nat; a_from : nat; a_to : nat; a_type : option kind; a_qp : qpair; a_loc : nat; a_sgn : bool }.
Variables (arcs : list arc) (entry : nat -> nat) (fuel : nat).
Definition a_kind a := match a_type a with Some k => k | None => Init end.
Definition silent a := match a_type a with Some _ => false | None => true end.
Definition from_point t p := filter (fun a => (a_thr a =? t) && (a_from a =? p)) arcs.

(* By which arcs the events of a run are made: silent steps may stand before each. *)
Inductive quiet t : nat -> nat -> Prop :=
| quiet_here p : quiet t p p
| quiet_step p a p' : In a (from_point t p) -> a_type a = None -> quiet t (a_to a) p' -> quiet t p p'.
Record drawn (E : ev -> Prop) (edge : ev -> arc) : Prop := {
  d_arc : forall e, E e -> noninit e -> In (edge e) arcs /\ a_thr (edge e) = thr e /\ a_type (edge e) = Some (knd e) /\
    a_qp (edge e) = qp e /\ a_loc (edge e) = loc e /\ a_sgn (edge e) = sgn e;
  d_first : forall e, E e -> noninit e -> (forall b, ~ po b e) -> quiet (thr e) (entry (thr e)) (a_from (edge e));
  d_next : forall a b, E b -> po a b -> (forall c, po a c -> ~ po c b) -> quiet (thr b) (a_to (edge a)) (a_from (edge b));
}.

Definition at_most (u v : bound) :=
  match u, v with _, None => true | None, Some _ => false | Some n, Some n' => n <=? n' end.
Definition higher (u v : bound) := if at_most u v then v else u.

(* Relaxation._most_unpolled, _MOST_UNPOLLED: of the queue pair q of thread t *)
Definition MOST_UNPOLLED := 16.
Definition unpolled_after (q : qpair) u a : option bound :=
  if silent a then Some u
  else if isk a_kind Poll a && mine a_qp q a then
    match u with Some 0 => None | Some (S n) => Some (Some n) | None => Some None end
  else if a_sgn a && mine a_qp q a then
    match u with Some n => Some (if n <? MOST_UNPOLLED then Some (S n) else None) | None => Some None end
  else Some u.
Definition unpolled_next t q (s : nat * bound) :=
  flat_map (fun a => match unpolled_after q (snd s) a with Some u => [(a_to a, u)] | None => [] end) (from_point t (fst s)).
Definition most_unpolled t q := explore (fun s s' => fst s =? fst s') (fun now old => at_most (snd now) (snd old))
  (fun old now => (fst old, higher (snd old) (snd now))) (unpolled_next t q) fuel [(entry t, Some 0)] [].
(* Relaxation._outstanding *)
Definition highest p (l : list (nat * bound)) :=
  fold_right (fun s u => if fst s =? p then Some match u with Some u => higher u (snd s) | None => snd s end else u) None l.
Definition outstanding q a : bound :=
  match most_unpolled (a_thr a) q with
  | None => None
  | Some l => match highest (a_to a) l with
    | None => Some 0
    | Some u => if a_sgn a then u else option_map S u
    end
  end.

(* Relaxation.overtaking *)
Definition after_arc q k a := if silent a then Some k else walked hw a_kind a_qp q (outstanding q) k a.
Definition known_next t q (s : nat * known) :=
  flat_map (fun a => match after_arc q (snd s) a with Some k => [(a_to a, k)] | None => [] end) (from_point t (fst s)).
Definition same_key (s s' : nat * known) := (fst s =? fst s') &&
  forallb (fun k => eqb (kbeta (snd s) k) (kbeta (snd s') k)) kinds && eqb (kfenced (snd s)) (kfenced (snd s')).
(* _later *)
Definition later (u v : option bound) := match u, v with Some u, Some v => Some (higher u v) | _, _ => None end.
Definition no_later (now old : option bound) := match now, old with
  | _, None => true | None, Some _ => false | Some u, Some v => at_most u v end.
Definition joined (old now : nat * known) :=
  (fst old, Known (kbeta (snd old)) (kfenced (snd old)) (later (kpolls (snd old)) (kpolls (snd now)))).
Definition known_behind b k :=
  explore same_key (fun now old => no_later (kpolls (snd now)) (kpolls (snd old))) joined
    (known_next (a_thr b) (a_qp b)) fuel [(a_to b, k)] [].
(* behind a store that waits in a buffer *)
Definition waits b := buffered hw && isk a_kind LW b.
Definition store_arc k a := if silent a then Some k else store_walked a_kind a_qp outstanding k a.
Definition store_next t (s : nat * behind) :=
  flat_map (fun a => match store_arc (snd s) a with Some k => [(a_to a, k)] | None => [] end) (from_point t (fst s)).
Definition in_beta (l : list (qpair * kind)) e := existsb (fun e' => (if qp_dec (fst e) (fst e') then true else false) &&
  kind_beq (snd e) (snd e')) l.
Definition same_behind (s s' : nat * behind) := (fst s =? fst s') &&
  forallb (in_beta (s_beta (snd s))) (s_beta (snd s')) && forallb (in_beta (s_beta (snd s'))) (s_beta (snd s)).
Definition none_later (now old : list (qpair * bound)) :=
  forallb (fun e => existsb (fun e' => of_queue (fst e) e' && at_most (snd e') (snd e)) now) old.
Definition later_of (old now : list (qpair * bound)) :=
  flat_map (fun e => match find (of_queue (fst e)) now with
    | Some e' => [(fst e, higher (snd e) (snd e'))] | None => [] end) old.
Definition joined_behind (old now : nat * behind) :=
  (fst old, Behind (s_beta (snd old)) (later_of (s_polls (snd old)) (s_polls (snd now)))).
Definition behind_store b := explore same_behind (fun now old => none_later (s_polls (snd now)) (s_polls (snd old)))
  joined_behind (store_next (a_thr b)) fuel [(a_to b, Behind [] [])] [].
Definition may_overtake b x := if waits b then
  match behind_store b with
  | None => true
  | Some l => existsb (fun s => (fst s =? a_from x) && (silent x || negb (forced_by_store a_kind x))) l
  end else negb (silent b) && negb (cpu_kind a_kind b) &&
  match first hw a_kind (outstanding (a_qp b)) b with
  | None => false
  | Some k => match known_behind b k with
    | None => true
    | Some l => existsb (fun s => (fst s =? a_from x) &&
        (silent x || negb (forced_by_known hw a_kind a_qp (a_qp b) (snd s) x))) l
    end
  end.

(* CriticalCycles: accesses, after, conflicting, sites, meeting *)
Definition a_writes a := negb (silent a) && match a_kind a with LW | CAS | NRW | NLW => true | _ => false end.
Definition a_reads a := match a_kind a with LR | CAS | NLR | NRR => true | _ => false end.
Definition touches a := a_reads a || a_writes a.
Definition an_access a := In a arcs /\ touches a = true /\ exists b, In b arcs /\ a_loc b = a_loc a /\ a_writes b = true.
(* pivot_classes.py: can_start *)
Definition arc_can_start c a := touches a && (a_loc a =? ccell c) && (a_writes a || cwr c) &&
  (negb (cpu_kind a_kind a) || negb ((a_thr a =? cthr c) || (cwr c && a_reads a))).
Inductive ahead t : nat -> nat -> Prop :=
| ahead_here p : ahead t p p
| ahead_step p a p' : In a (from_point t p) -> ahead t (a_to a) p' -> ahead t p p'.
Definition conflicting_arcs a b := a_thr a <> a_thr b /\ a_loc a = a_loc b /\ touches a = true /\ touches b = true /\
  (a_writes a = true \/ a_writes b = true).
Definition graph_of (once : nat -> bool) : conflict_graph := {|
  g_access := arc; g_thread := a_thr; g_drawn := drawn;
  g_accesses := an_access;
  g_after := fun a b => ahead (a_thr a) (a_to a) (a_from b);
  g_overtaking := fun a b => may_overtake a b = true;
  g_conflicting := conflicting_arcs;
  g_sites := fun c a => an_access a /\ a_thr a = cthr c /\ a_loc a = ccell c /\ a_writes a = cwr c;
  g_meeting := fun c a => an_access a /\ a_thr a <> cthr c /\ a_loc a = ccell c /\ (a_writes a = true \/ cwr c = true);
  g_once := once |}.
End FlowGraphs.
