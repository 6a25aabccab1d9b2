(* Traces of programs on hardware as deployed: which are well-formed, what values they have; `violating`.
   docs/deployed.md *)
Require Import List Arith ZArith Bool.
Import ListNotations.
From RR Require Programs.
From RR Require Import Deployed.

(* The grammar of operations: what stands where nothing is begun;
   what follows what begins an operation, or goes on with it *)
Definition begins l := match l with
  | Plain (Programs.Lnrw _ _ _) | Plain (Programs.Lnlw _ _ _) | Lnaw _ _ | Lput _ _ Fetched | Lsend _ _ _ _ Fetched
  | Limm _ _ _ _ | Joined _ => false | _ => true end.
Definition locked l := match l with
  | Plain l | Joined l => match l with Programs.Lr _ _ | Programs.Lc _ _ _ => true | _ => false end
  | _ => false end.
Definition follows l l' := match l with
  | Plain (Programs.Lnlr q _) => match l' with
    | Plain (Programs.Lnrw _ q' _) | Lput q' _ Fetched | Lsend _ q' _ _ Fetched => q =? q' | _ => false end
  | Plain (Programs.Lnrr q _) | Lnaw q _ | Lna q _ _ =>
    match l' with Plain (Programs.Lnlw _ q' _) => q =? q' | _ => false end
  | Lnar q x _ => match l' with
    | Plain (Programs.Lnlw _ q' _) => q =? q' | Lnaw q' x' => (q =? q') && (x =? x') | _ => false end
  | Lput q _ _ => match l' with Limm _ q' _ _ => q =? q' | _ => false end
  | _ => match l' with
    | Joined _ => locked l' && (locked l || match l with Plain Programs.Lmf => true | _ => false end) | _ => begins l' end
  end.

Section WellFormed.
Variables (hw : platform) (T : trace).
Notation every := (every T).
Notation some := (some T).

(* the buffers that thread u posts for messages of thread t, in this order *)
Definition buffers u t := posted T u t ++
  flat_map (fun l => match l with Lrecv t' x => if t =? t' then [x] else [] | _ => [] end) (sequence T u).
(* every message finds a buffer, and a receive completion that is taken is that of a message *)
Definition connected e := match e with
  | Initial _ => true
  | At t _ => match lab T e with
    | Lsend _ _ u x _ =>
      match nth_error (buffers u t) (count (messages u) (past T e)) with Some y => x =? y | None => false end
    | Limm _ _ u _ => count (messages u) (past T e) <? length (buffers u t)
    | Lrp _ v => some (fun m => rpf T m e && (immediate (lab T m) =? v)%Z)
    | _ => true end end.
Definition possible e := match e with
  | Initial _ => true
  | At _ _ => match before T e with Some l => follows l (lab T e) | None => begins (lab T e) end &&
      match lab T e with
      | Plain (Programs.Lp q) => count (polls q) (past T e) <? count (signals q) (past T e) | _ => true end &&
      match accessed (lab T e) with Some x => x <? length (held T) | None => true end &&
      negb (is T (if ranked hw then KnA else KnaW) e) && connected e end.

(* rf: every read has one source.  mo: a total order on the writes of each cell, the initial one first.  nfo orders its
   pairs.  rao: a total order on the RMWs of each cell. *)
Definition rf_fine := every (fun r => negb (reads T r) || (length (filter (fun w => rf T w r) (events T)) =? 1)) &&
  every (fun w => every (fun r => negb (rf T w r) || (writes T w && reads T r && same_cell T w r))).
Definition orders (pair r : event -> event -> bool) :=
  every (fun a => every (fun b => (negb (r a b) || pair a b) &&
    (negb (pair a b) || (if same a b then negb (r a b) else xorb (r a b) (r b a))))) &&
  every (fun a => every (fun b => negb (r a b) || every (fun c => negb (r b c) || r a c))).
Definition initial_first := every (fun a => every (fun b => negb (mo T a b) ||
  match b with Initial _ => false | At _ _ => true end)).
Definition nfo_fine := every (fun a => every (fun b =>
  if nfo_pair T a b then xorb (nfo T a b) (nfo T b a) else negb (nfo T a b))).
Definition well_formed := every possible && rf_fine && orders (mo_pair T) (mo T) && initial_first && nfo_fine &&
  orders (rao_pair T) (rao T).

(* Values follow from rf.  What a write says itself; the read that it takes its value from; the RMW that it belongs to. *)
Definition says e := match lab T e with
  | Plain (Programs.Lw _ v) | Plain (Programs.Lc _ _ v) | Joined (Programs.Lc _ _ v) | Plain (Programs.Linl _ _ _ v)
  | Lput _ _ (Said v) | Lsend _ _ _ _ (Said v) => Some v
  | _ => None end.
Definition copies e := match lab T e with Lnaw _ _ => None | _ => source T e end.
Definition swaps e := match lab T e with
  | Lna _ _ o => Some (e, o)
  | Lnaw _ _ =>
    match source T e with Some r => match lab T r with Lnar _ _ o => Some (r, o) | _ => None end | None => None end
  | _ => None end.
Inductive written : event -> Z -> Prop :=
| written_said w v : says w = Some v -> written w v
| written_copied w r d v : copies w = Some r -> is_event T d = true -> rf T d r = true -> written d v -> written w v
| written_swapped w r o d v u : swaps w = Some (r, o) -> is_event T d = true -> rf T d r = true -> written d v ->
    result o v = Some u -> written w u.
Definition reads_value e v := exists d, is_event T d = true /\ rf T d e = true /\ written d v.

(* A CPU reads what its label says.  An RMW writes iff the value that it has read says so: as one event under glob, where its
   naR never writes; under hca a thread may end between its naR and naW, if no other RMW on the word follows. *)
Definition has_write e := match after T e with Some (Lnaw _ _) => true | _ => false end.
Definition unfinished e := match after T e with None => negb (some (fun b => rao T e b)) | Some _ => false end.
Definition fits e := match lab T e with
  | Plain (Programs.Lr _ v) | Plain (Programs.Lc _ v _) | Joined (Programs.Lr _ v) | Joined (Programs.Lc _ v _) =>
    reads_value e v
  | Lna _ _ o => exists v, reads_value e v /\ result o v <> None
  | Lnar _ _ o => exists v, reads_value e v /\
      match result o v with None => has_write e = false
      | Some _ => ranked hw = true /\ (has_write e = true \/ unfinished e = true) end
  | _ => True end.
Definition valid := forall e, is_event T e = true -> fits e.
End WellFormed.

(* Programs: initial values, buffers that are posted at first, and for each thread the label sequences that it can make. *)
Record program := {
  its_held : list Z;
  its_posted : nat -> nat -> list nat;
  threads : nat;
  makes : nat -> list label -> Prop }.
Definition run_by (P : program) R := held R = its_held P /\ posted R = its_posted P /\ length (does R) <= threads P /\
  forall t, makes P t (sequence R t).
Definition trace_of hw P (T : trace) := run_by P T /\ well_formed hw T = true /\ valid hw T.
Definition violating hw P T := trace_of hw P T /\ rdma_consistent hw T /\ ~ sc_consistent T.
Definition robust hw P := forall T, ~ violating hw P T.
