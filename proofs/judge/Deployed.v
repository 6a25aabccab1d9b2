(* RDMA as deployed: one model of all of it, for traces that are given; store buffers, remote atomics, messages, locked
   sections, weaker orders.  docs/deployed.md (events and order; axioms)

   Everything but closures and values is a function that answers true or false: the judge is made of these definitions. *)
Require Import List Arith ZArith Bool Relations.
Import ListNotations.
From RR Require Programs.

(* Hardware *)
Inductive cpu_model := Sequential | Buffered.            (* cpu sc, tso *)
Inductive atomicity := Hca | Glob.                       (* atomics hca, glob *)
Inductive network := Usual | Multipath | Relaxed.        (* order default, multipath, relaxed *)
Record platform := { cpus : cpu_model; cards : atomicity; routes : network; reads_ordered : bool }.
Definition buffered hw := match cpus hw with Buffered => true | Sequential => false end.
Definition ranked hw := match cards hw with Hca => true | Glob => false end.
Definition weaker hw := match routes hw with Usual => false | _ => true end.

(* Kinds of events: initial, lR, lW, CAS, P, F, V, RP; nlR, nrW, nrR, nlW, nF, naR, naW, nA *)
Inductive kind := KInit | KlR | KlW | KCAS | KP | KF | KV | KRP | KnlR | KnrW | KnrR | KnlW | KnF | KnaR | KnaW | KnA.
Definition of_cpu k := match k with KlR | KlW | KCAS | KP | KF | KV | KRP => true | _ => false end.
Definition reading k := match k with KlR | KCAS | KnlR | KnrR | KnaR | KnA => true | _ => false end.
Definition writing k := match k with KInit | KlW | KCAS | KnrW | KnlW | KnaW | KnA => true | _ => false end.
Definition atomic k := match k with KnaR | KnaW | KnA => true | _ => false end.
(* Inst *)
Definition instantaneous hw k := match k with KnrW | KnlW | KnaW => false | KlW => negb (buffered hw) | _ => true end.

(* The table of preserved order: rows are the earlier event, columns the later one; [Issue] is Qp in ippo, Never in oppo. *)
Inductive cell := All | Qp | Issue | Never.
Definition usual hw a b : cell :=
  match a, b with
  | KInit, _ | _, KInit => Never
  | (KlR | KlW | KCAS | KP | KF | KV | KRP), _ => All
  | _, (KlR | KlW | KCAS | KP | KF | KV | KRP) => Never
  | KnlR, _ => Qp
  | KnrW, KnlR => Never | KnrW, KnF => Issue | KnrW, _ => Qp
  | KnrR, KnrR => if reads_ordered hw then Qp else Never | KnrR, (KnlW | KnF) => Qp | KnrR, _ => Never
  | KnlW, KnlW => Qp | KnlW, KnF => Issue | KnlW, _ => Never
  | KnF, _ => Qp
  | (KnaR | KnA), KnlR => Never | (KnaR | KnA), _ => Qp
  | KnaW, KnlR => Never | KnaW, (KnlW | KnF) => Issue | KnaW, _ => Qp
  end.
(* the cells that weaker orders give up *)
Definition relaxed a b :=
  match a, b with
  | KnrW, (KnrW | KnrR | KnlW | KnaR | KnaW | KnA) => true
  | (KnaR | KnaW | KnA), (KnrW | KnrR | KnaR | KnaW | KnA) => true
  | KnlW, KnlW => true
  | _, _ => false end.
Definition lost hw a b :=
  match routes hw with Usual => false | Relaxed => relaxed a b | Multipath => relaxed a b && negb (atomic b) end.
Definition table hw a b := if lost hw a b then Never else usual hw a b.
(* Store buffers: what overtakes a store, or the posting of a receive buffer,
   whose one point is when it leaves the store buffer *)
Definition overtakes b := match b with KlR | KP | KRP => true | _ => false end.
Definition issued hw a b :=
  match a with
  | KV => if buffered hw && (overtakes b || match b with KlW => true | _ => false end) then Never else table hw a b
  | _ => table hw a b end.
Definition observed hw a b :=
  match a with
  | KlW | KV => if buffered hw && overtakes b then Never else table hw a b
  | _ => match table hw a b with Issue => Never | c => c end end.

(* What an event is.  A remote read-modify-write writes [result] of what it reads, or nothing;
   operands are those of the post.
   A fetch-and-add that leaves the domain goes on at its other end. *)
Inductive operation := CompareSwap (a b : Z) | FetchAdd (d : Z) (domain : option (Z * Z)) | Exchange (v : Z).
Definition result o v :=
  match o with
  | CompareSwap a b => if (v =? a)%Z then Some b else None
  | FetchAdd d None => Some (v + d)%Z
  | FetchAdd d (Some (lo, hi)) => Some (lo + (v + d - lo) mod (hi - lo + 1))%Z
  | Exchange u => Some u end.
(* what a request carries: what its card reads, in the event before, or what the CPU said when it posted it *)
Inductive payload := Fetched | Said (v : Z).
Inductive label :=
| Plain (l : Programs.label)                              (* as in core/Programs.v *)
| Joined (l : Programs.label)                             (* the same, in one locked section with the event before *)
| Lnar (q x : nat) (o : operation) | Lnaw (q x : nat) | Lna (q x : nat) (o : operation)
| Lput (q x : nat) (d : payload)                          (* nrW of a put with immediate: its message completes it *)
| Lsend (s : bool) (q u x : nat) (d : payload)            (* message to thread u: nrW, to the buffer x that it finds there *)
| Limm (s : bool) (q u : nat) (v : Z)                     (* message to thread u of a put with immediate: nrW of no cell *)
| Lrecv (u x : nat)                                       (* V: posts the buffer x for messages of thread u *)
| Lrp (u : nat) (v : Z).                                  (* RP: takes a message of thread u that carries v *)

Definition plain_kind (l : Programs.label) := match l with
  | Programs.Lr _ _ => KlR | Programs.Lw _ _ => KlW | Programs.Lc _ _ _ => KCAS | Programs.Lp _ => KP | Programs.Lmf => KF
  | Programs.Lnlr _ _ => KnlR | Programs.Lnrw _ _ _ | Programs.Linl _ _ _ _ => KnrW | Programs.Lnrr _ _ => KnrR
  | Programs.Lnlw _ _ _ => KnlW | Programs.Lnf _ => KnF end.
Definition kind_of l := match l with
  | Plain l | Joined l => plain_kind l
  | Lnar _ _ _ => KnaR | Lnaw _ _ => KnaW | Lna _ _ _ => KnA
  | Lput _ _ _ | Lsend _ _ _ _ _ | Limm _ _ _ _ => KnrW
  | Lrecv _ _ => KV | Lrp _ _ => KRP end.
Definition queue l := match l with
  | Plain l | Joined l => Programs.lq l
  | Lnar q _ _ | Lnaw q _ | Lna q _ _ | Lput q _ _ | Lsend _ q _ _ _ | Limm _ q _ _ => q
  | Lrecv _ _ | Lrp _ _ => 0 end.
(* the cell that it reads or writes *)
Definition accessed l := match l with
  | Plain l | Joined l =>
    match l with Programs.Lp _ | Programs.Lmf | Programs.Lnf _ => None | _ => Some (Programs.lloc l) end
  | Lnar _ x _ | Lnaw _ x | Lna _ x _ | Lput _ x _ | Lsend _ _ _ x _ => Some x
  | Limm _ _ _ _ | Lrecv _ _ | Lrp _ _ => None end.

(* operations of a queue pair that complete with this event; those that have a completion *)
Definition completes q l := match l with
  | Plain l => Programs.isW q l | Lsend _ q' _ _ _ | Limm _ q' _ _ => q =? q' | _ => false end.
Definition signals q l := match l with
  | Plain l => Programs.isS q l | Lsend s q' _ _ _ | Limm s q' _ _ => s && (q =? q') | _ => false end.
Definition polls q l := match l with Plain l => Programs.isP q l | _ => false end.
(* messages to thread u; buffers posted for those of thread t, receive completions of these that are taken *)
Definition messages u l := match l with Lsend _ _ u' _ _ | Limm _ _ u' _ => u =? u' | _ => false end.
Definition receives t l := match l with Lrecv t' _ => t =? t' | _ => false end.
Definition takes t l := match l with Lrp t' _ => t =? t' | _ => false end.
Definition immediate l := match l with Limm _ _ _ v => v | _ => 0%Z end.
Definition count f (h : list label) := length (filter f h).

(* A trace: what each thread does, in program order, and relations of events.  An event is an initial write, or number n of
   thread t. *)
Inductive event := Initial (x : nat) | At (t n : nat).
Definition same (a b : event) := match a, b with
  | Initial x, Initial y => x =? y | At t n, At t' n' => (t =? t') && (n =? n') | _, _ => false end.
Record run := {
  held : list Z;                      (* what each cell holds at first *)
  posted : nat -> nat -> list nat;      (* buffers that thread u has posted for messages of thread t before anything runs *)
  does : list (list label);
}.
Record trace := { run_of :> run; rf : event -> event -> bool; mo : event -> event -> bool; nfo : event -> event -> bool;
                  rao : event -> event -> bool }.

Section Run.
Variables (hw : platform) (R : run).
Definition sequence t := nth t (does R) [].
Definition events := map Initial (seq 0 (length (held R))) ++
  flat_map (fun t => map (At t) (seq 0 (length (sequence t)))) (seq 0 (length (does R))).
Definition is_event e := match e with Initial x => x <? length (held R) | At t n => n <? length (sequence t) end.
Definition every f := forallb f events.
Definition some f := existsb f events.

Definition lab e := match e with
  | Initial x => Plain (Programs.Lw x (nth x (held R) 0%Z)) | At t n => nth n (sequence t) (Plain Programs.Lmf) end.
Definition past e := match e with Initial _ => [] | At t n => firstn n (sequence t) end.
Definition before e := match e with At t (S n) => Some (lab (At t n)) | _ => None end.
Definition after e := match e with At t n => nth_error (sequence t) (S n) | _ => None end.
Definition kin e := match e with Initial _ => KInit | At _ _ => kind_of (lab e) end.
Definition reads e := reading (kin e).
Definition writes e := writing (kin e) && match accessed (lab e) with Some _ => true | None => false end.
Definition same_cell a b := match accessed (lab a), accessed (lab b) with Some x, Some y => x =? y | _, _ => false end.
Definition same_thread a b := match a, b with At t _, At t' _ => t =? t' | _, _ => false end.
Definition same_queue a b := same_thread a b && (queue (lab a) =? queue (lab b)).
Definition is k e := match kin e, k with
  | KlR, KlR | KlW, KlW | KnlR, KnlR | KnrW, KnrW | KnrR, KnrR | KnlW, KnlW | KnaR, KnaR | KnaW, KnaW | KnA, KnA => true
  | _, _ => false end.

Definition po a b := match a, b with At t n, At t' n' => (t =? t') && (n <? n') | _, _ => false end.

(* the read of the operation that a NIC write belongs to *)
Definition source e := match e with
  | At t (S n) => match lab e with
    | Plain (Programs.Lnrw _ _ _) | Lput _ _ Fetched | Lsend _ _ _ _ Fetched | Lnaw _ _ => Some (At t n)
    | Plain (Programs.Lnlw _ _ _) => match lab (At t n), n with Lnaw _ _, S m => Some (At t m) | _, _ => Some (At t n) end
    | _ => None end
  | _ => None end.
Definition of_one_operation a b := match source b with Some r => same a r | None => false end.

Definition kept (c : cell) a b :=
  match c with All => true | Qp | Issue => queue (lab a) =? queue (lab b) | Never => false end.
Definition ippo a b := po a b && (of_one_operation a b || kept (issued hw (kin a) (kin b)) a b).
Definition oppo a b := po a b && (of_one_operation a b || kept (observed hw (kin a) (kin b)) a b).

(* pf: the k-th poll of a queue pair takes its k-th signaled operation;
   it tells of the unsignaled ones before that as well *)
Definition pf a b := po a b && match lab b with
  | Plain (Programs.Lp q) => completes q (lab a) &&
      if signals q (lab a) then count (signals q) (past a) =? count (polls q) (past b)
      else count (signals q) (past a) <=? count (polls q) (past b)
  | _ => false end.

(* Messages: the k-th one from t to u finds the k-th buffer of u for t, and the k-th RP of u for t takes it. *)
Definition sm a b := match a, b with
  | At u _, At t _ => match lab a with Lrecv t' _ => t =? t' | _ => false end && messages u (lab b) &&
      (length (posted R u t) + count (receives t) (past a) =? count (messages u) (past b))
  | _, _ => false end.
Definition rpf a b := match a, b with
  | At t _, At u _ => messages u (lab a) && match lab b with Lrp t' _ => t =? t' | _ => false end &&
      (count (messages u) (past a) =? count (takes t) (past b))
  | _, _ => false end.
(* under weaker orders a receive completion stays behind all earlier remote writes and atomics of the sender's queue pair *)
Definition remote_write e := is KnrW e || is KnaR e || is KnaW e || is KnA e.
Definition received a b := rpf a b || (weaker hw && remote_write a && some (fun m => po a m && same_queue a m && rpf m b)).

(* pairs that nfo orders; RMWs that rao orders *)
Definition remote_read e := is KnrR e || is KnaR e || is KnA e.
Definition flushes a b := same_queue a b &&
  ((is KnlR a && is KnlW b) || (remote_read a && (is KnrW b || is KnaW b))).
Definition nfo_pair a b := flushes a b || flushes b a.
Definition rao_pair a b := is KnaR a && is KnaR b && same_cell a b.
Definition mo_pair a b := writes a && writes b && same_cell a b.

(* What is one vertex: a locked section, in ib, ob and sc; naR and naW of one RMW, in sc. *)
Fixpoint section_start (l : list label) n := match n with
  | S m => match nth n l (Plain Programs.Lmf) with Joined _ => section_start l m | _ => n end | 0 => 0 end.
Definition section e := match e with At t n => At t (section_start (sequence t) n) | _ => e end.
Definition sc_step e := match e with At t (S n) => match lab e with Lnaw _ _ => At t n | _ => section e end | _ => e end.
(* a relation of events of the trace as one of vertices; what leads forward inside of one is no edge *)
Definition at_once (vertex : event -> event) (r : event -> event -> bool) a b := is_event a && is_event b &&
  some (fun a' => same (vertex a') (vertex a) && some (fun b' => same (vertex b') (vertex b) &&
    r a' b' && negb (same (vertex a') (vertex b') && po a' b'))).
End Run.

Section Axioms.
Variables (hw : platform) (T : trace).
Notation is := (is T).
Definition rb a b := negb (same a b) && some T (fun w => rf T w a && mo T w b).
(* a store of a CPU, and a read of its own: rfb and rbb are rf and rb between such, where there are store buffers *)
Definition own w r := buffered hw && same_thread w r && is KlW w && is KlR r.
Definition flushed a b := negb (weaker hw) && nfo T a b.
Definition in_turn a b := ranked hw &&
  (rao T a b || (is KnaW a && match source T a with Some r => rao T r b | None => false end)).

Definition ib_edge a b := ippo hw T a b || rf T a b || (rb a b && own b a) || pf T a b || flushed a b || in_turn a b ||
  sm T a b || received hw T a b.
(* a request leaves the store buffer behind stores, also where its card reads nothing: [lW];oppo;pf *)
Definition posted_behind a b := buffered hw && is KlW a && some T (fun x => oppo hw T a x && pf T x b).
Definition ob_edge a b := oppo hw T a b || (rf T a b && negb (own a b)) || (pf T a b && is KnlW a) || posted_behind a b ||
  flushed a b || in_turn a b || sm T a b || received hw T a b || rb a b || mo T a b.
Definition sc_edge a b := po a b || rf T a b || rb a b || mo T a b || sm T a b || rpf T a b.

Definition ib1 := at_once T (section T) ib_edge.
Definition ib := clos_trans event (fun a b => ib1 a b = true).
Definition ob1 a b := at_once T (section T) ob_edge a b = true \/ (instantaneous hw (kin T a) = true /\ ib a b).
Definition ob := clos_trans event ob1.
Definition sc1 := at_once T (sc_step T) sc_edge.
Definition sc := clos_trans event (fun a b => sc1 a b = true).
Definition rdma_consistent := (forall a, ~ ib a a) /\ forall a, ~ ob a a.
Definition sc_consistent := forall a, ~ sc a a.
End Axioms.
