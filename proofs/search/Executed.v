(* The search of Search.v, executed: states as data, their successors, and whether they report.

   Functions of a state are written down as lists over what the program has ([shape]); a step reads the lists, applies the
   rules of Search.v as they stand there, and writes down what they give.  Instead of what was done so far a state has the
   points of the threads.  Left out are counters of queue pairs that no edge polls, and states whose pivot's thread cannot
   come to an event of the class any more ([kept]).  A counter that has reached [most] stays there and stands for any
   number. *)
Require Import List Arith ZArith Bool FMapPositive.
Import ListNotations.
From RR Require Import Model Hardware Programs Search Searched Automata.

(* Functions as lists of their values; sets as lists of what is in them *)
Fixpoint look {A B} (eqb : A -> A -> bool) (domain : list A) (values : list B) (other : B) (x : A) : B :=
  match domain, values with
  | y :: domain, v :: values => if eqb x y then v else look eqb domain values other x
  | _, _ => other
  end.
Definition has {A} (eqb : A -> A -> bool) (l : list A) x := existsb (eqb x) l.
Definition queue_eqb (a b : nat * nat) := (fst a =? fst b) && (snd a =? snd b).
Definition typed_eqb (a b : (nat * nat) * kind) := queue_eqb (fst a) (fst b) && kind_beq (snd a) (snd b).

(* A class without its thread: a cell, and whether it is written. *)
Definition access := (nat * bool)%type.
Definition access_eqb (a b : access) := (fst a =? fst b) && Bool.eqb (snd a) (snd b).
Definition found_in (m : PositiveMap.t (list access)) p := match PositiveMap.find p m with Some l => l | None => [] end.

(* What a program has; [ahead]: for each thread and point, the accesses to which it may come. *)
Record shape := Shape {
  program_ : automata;
  of_threads : list nat; of_cells : list nat; of_queues : list (nat * nat); of_types : list ((nat * nat) * kind);
  polled_queues : list (nat * nat);
  ahead : list (PositiveMap.t (list access)) }.

Record data := Data {
  points : list positive; d_mem : list Z; d_car : list Z;
  d_unp : list nat; d_ear : list nat; d_cls : option class;
  d_cpub : list nat; d_stob : list nat; d_typ : list ((nat * nat) * kind);
  d_fen : list (nat * nat); d_fod : list (nat * nat);
  d_cr : list nat; d_cw : list nat; d_tcr : list nat; d_tcw : list nat; d_tth : list nat; d_clo : bool;
  d_poi : list nat; d_poc : list nat; d_fro : Z; d_own : list (option nat) }.

Section Executed.
Variables (hw : hardware) (most : nat) (sh : shape).
Notation state := (@state concrete).
Notation ev := (@ev concrete).

Definition point d t := look Nat.eqb (of_threads sh) (points d) 1%positive t.
Definition of_queue (l : list nat) (q : nat * nat) := look queue_eqb (polled_queues sh) l 0 q.
Definition of_cell (l : list Z) x := look Nat.eqb (of_cells sh) l 0%Z x.
Definition of_thread (l : list Z) t := look Nat.eqb (of_threads sh) l 0%Z t.
Definition own_of (l : list (option nat)) x := look Nat.eqb (of_cells sh) l None x.

(* the state that is written down; events done are not *)
Definition meaning (d : data) : state :=
  State (Thr [] (of_cell (d_mem d) : nat -> @value concrete) (of_thread (d_car d)))
        (Cnt (of_queue (d_unp d) : @qpair concrete -> nat) (of_queue (d_ear d)))
        (d_cls d)
        (Sd (has Nat.eqb (d_cpub d)) (has Nat.eqb (d_stob d)) (fun q k => has typed_eqb (d_typ d) (q, k))
            (has queue_eqb (d_fen d)) (has queue_eqb (d_fod d)))
        (Cel (has Nat.eqb (d_cr d)) (has Nat.eqb (d_cw d)))
        (Tnt (Cel (has Nat.eqb (d_tcr d)) (has Nat.eqb (d_tcw d))) (has Nat.eqb (d_tth d)) (d_clo d))
        (Psn (has Nat.eqb (d_poi d)) (has Nat.eqb (d_poc d)))
        (d_fro d) (own_of (d_own d)).

(* what is written down of a state, with the points and counters given *)
Definition noted (at_points : nat -> positive) (unpolled early : nat * nat -> nat) (s : state) : data :=
  Data (map at_points (of_threads sh)) (map (mem (th s)) (of_cells sh)) (map (car (th s)) (of_threads sh))
       (map unpolled (polled_queues sh)) (map early (polled_queues sh)) (cls s)
       (filter (cpub (sd s)) (of_threads sh)) (filter (stob (sd s)) (of_threads sh))
       (filter (fun qk => typ (sd s) (fst qk) (snd qk)) (of_types sh))
       (filter (fen (sd s)) (of_queues sh)) (filter (fod (sd s)) (of_queues sh))
       (filter (cr (acc s)) (of_cells sh)) (filter (cw (acc s)) (of_cells sh))
       (filter (cr (tce (tn s))) (of_cells sh)) (filter (cw (tce (tn s))) (of_cells sh))
       (filter (tth (tn s)) (of_threads sh)) (clo (tn s))
       (filter (poi (ps s)) (of_cells sh)) (filter (poc (ps s)) (of_threads sh)) (fro s)
       (map (fwd s) (of_cells sh)).

(* a counter behind a step; what has reached [most] stays *)
Definition counted_on (before after : nat) := if before =? most then most else after.
Definition after_step (d : data) t p (s : state) : data :=
  noted (upd (point d) t p) (fun q => counted_on (of_queue (d_unp d) q) (unp (cn s) q))
        (fun q => counted_on (of_queue (d_ear d) q) (ear (cn s) q)) s.
Definition exact d := forallb (fun n => negb (n =? most)) (d_unp d ++ d_ear d).

(* An event of a thread: of what it has done before, only whether it carries something matters. *)
Definition made_before l :=
  match l with Lnrw _ q _ => [Lnlr q 0] | Lnlw _ q _ => [Lnrr q 0] | _ => [] end.
Definition event_of t l : ev := Ev t l (made_before l).

Definition accepts (s : state) (v : Z) (e : ev) := negb (cpu_b e && rd_b e) || Z.eqb v (crv e).
Definition polls_early (s : state) (e : ev) := negb (is Poll e) || ((0 <? unp (cn s) (qp e)) && (0 <? ear (cn s) (qp e))).
Definition polls_late (s : state) (e : ev) := negb (is Poll e) || ((0 <? unp (cn s) (qp e)) &&
  (cpub (sd s) (thr e) || (ear (cn s) (qp e) =? 0) || (ear (cn s) (qp e) =? most))).
Definition starts (e : ev) := filter (fun c => can_start c e)
  (flat_map (fun t => [Cls t (loc e) true; Cls t (loc e) false]) (of_threads sh)).

(* the steps of Search.v by one event *)
Definition afters (s : state) (e : ev) : list state :=
  match cls s with
  | None =>
      (if polls_early s e then [after_alpha s e] else []) ++ map (fun c => after_beta hw c (begun c s) e) (starts e)
  | Some c =>
      (if negb (forced hw s e) && polls_early s e then [after_alpha s e] else []) ++
      (if (is Poll e || forced hw s e) && polls_late s e && negb (cuts hw c e) && negb (poisons s e)
       then [after_beta hw c s e] else [])
  end.

Definition accesses_ahead t p := found_in (nth t (ahead sh) (PositiveMap.empty _)) p.
Definition kept (d : data) :=
  match d_cls d with
  | Some c => has access_eqb (accesses_ahead (cthr c) (point d (cthr c))) (ccell c, cwr c)
  | None => true
  end.

Definition of_edge (d : data) t (lp : label * positive) : list data :=
  let s := meaning d in let e := event_of t (fst lp) in
  if accepts s (mem (th s) (loc e)) e then filter kept (map (after_step d t (snd lp)) (afters s e)) else [].
Definition successors (d : data) : list data :=
  flat_map (fun t => flat_map (of_edge d t) (out (part (program_ sh) t) (point d t))) (of_threads sh).

Definition the_start : data :=
  noted (fun t => start_point (part (program_ sh) t)) (fun _ => 0) (fun _ => 0)
        (start_state (U := concrete) (initially (program_ sh) : nat -> @value concrete)).

(* the event of an edge is the pivot *)
Definition is_pivot (s : state) t (l : label) :=
  let e := event_of t l in
  match cls s with
  | Some c => (cthr c =? t) && (ccell c =? loc e) && Bool.eqb (cwr c) (wr_b e) && clo (tn s) && (rd_b e || wr_b e) &&
      accepts s (pivot_value s (loc e)) e && negb (stored (sd s) e) && (cpu_b e || negb (nic_forces hw (sd s) e))
  | None => false
  end.
Definition reporting (d : data) :=
  existsb (fun t => existsb (fun lp => is_pivot (meaning d) t (fst lp)) (out (part (program_ sh) t) (point d t)))
    (of_threads sh).
End Executed.

(* What a program has *)
Definition queue_dec (a b : nat * nat) : {a = b} + {a <> b}.
Proof. decide equality; apply Nat.eq_dec. Defined.
Definition labels_of a := map (fun e : positive * label * positive => snd (fst e)) (edges_of a).
Definition queues_of (P : automata) (f : label -> bool) :=
  nodup queue_dec (flat_map (fun t => map (fun l => (t, lq l)) (filter f (labels_of (part P t)))) (seq 0 (n_threads P))).
Definition is_poll l := match l with Lp _ => true | _ => false end.

(* What is ahead, computed backwards until nothing is added.  [ahead_ok] is the test of what is used of it. *)
Definition accesses (l : label) : list access := let e := event_of 0 l in
  if rd_b (U := concrete) e || wr_b (U := concrete) e then [(lloc l, wr_b (U := concrete) e)] else [].
Definition behind (m : PositiveMap.t (list access)) (e : positive * label * positive) :=
  let '(_, l, p') := e in accesses l ++ found_in m p'.
Definition adds (m : PositiveMap.t (list access)) (e : positive * label * positive) :=
  filter (fun a => negb (has access_eqb (found_in m (fst (fst e))) a)) (behind m e).
Definition add_behind m e :=
  match adds m e with
  | [] => m
  | new =>
      let once a l := if has access_eqb l a then l else a :: l in
      PositiveMap.add (fst (fst e)) (fold_right once (found_in m (fst (fst e))) new) m
  end.
Definition ahead_ok es m := forallb (fun e => match adds m e with [] => true | _ => false end) es.
Fixpoint settled (rounds : nat) es m : PositiveMap.t (list access) :=
  match rounds with 0 => m | S n => if ahead_ok es m then m else settled n es (fold_left add_behind es m) end.
Definition ahead_of a := let es := edges_of a in settled (length es) es (PositiveMap.empty _).

Definition shape_of (P : automata) : shape :=
  let ts := seq 0 (n_threads P) in let qs := queues_of P (fun _ => true) in
  Shape P ts (seq 0 (n_cells P)) qs (list_prod qs kinds) (queues_of P is_poll) (map ahead_of (parts P)).
Definition all_ahead_ok (sh : shape) :=
  forallb (fun t => ahead_ok (edges_of (part (program_ sh) t)) (nth t (ahead sh) (PositiveMap.empty _))) (of_threads sh).
