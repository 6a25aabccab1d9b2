(* Remote atomics: the model of core/Model.v with naR, naW (atomics hca) and nA (atomics glob).  docs/deployed.md

   A thread's part is a set of *slots*: a remote read-modify-write has the slots naR, naW and nlW, also where it does not
     write.
   So the slots do not depend on values.  The events of a trace are its slots without the naW that do not happen. *)
Require Import List Classical Relations.
Import ListNotations.
From RR Require Export RemoteAtomicsHardware.

Definition is_cpu k := match k with LR | LW | CAS | Poll | Fence => True | _ => False end.
Definition is_nicw k := match k with NRW | NLW | NAW => True | _ => False end.
Definition is_inst k := ~ is_nicw k.
Definition is_w k := match k with Init | LW | CAS | NRW | NLW | NAW | NA => True | _ => False end.
Definition is_r k := match k with LR | CAS | NLR | NRR | NAR | NA => True | _ => False end.
Definition is_cond k := match k with NAW | NA => True | _ => False end.     (* writes, or not, as its value says *)

(* The universe of slots.  [src w]: the read of the operation that the NIC write w belongs to.  The nrW of an inline put is
   its own: it writes what the CPU said.  So is every other event. *)
Class slots := {
  ev : Type;
  knd : ev -> kind;
  thr : ev -> nat;
  qpair : Type;
  qp : ev -> qpair;
  loc : ev -> nat;
  value : Type;
  crv : ev -> value;                  (* what a CPU read or CAS has to read *)
  cwv : ev -> value;                  (* what a CPU write, CAS, initial write, the nrW of an inline put writes *)
  awv : ev -> value -> option value;  (* what an RMW that has read a value writes, if it writes *)
  po : ev -> ev -> Prop;
  pf : ev -> ev -> Prop;
  src : ev -> ev;
  po_irr : forall a, ~ po a a;
  po_trans : forall a b c, po a b -> po b c -> po a c;
  po_thr : forall a b, po a b -> thr a = thr b;
  po_init_l : forall a b, po a b -> knd a <> Init;
  po_init_r : forall a b, po a b -> knd b <> Init;
  qp_thr : forall a b, knd a <> Init -> knd b <> Init -> ~ is_cpu (knd a) -> ~ is_cpu (knd b) ->
           qp a = qp b -> thr a = thr b;
  pf_ok : forall w p, pf w p -> po w p /\ (knd w = NRW \/ knd w = NLW) /\ knd p = Poll /\ qp w = qp p;
  src_ok : forall w, src w <> w -> po (src w) w /\ qp (src w) = qp w /\
           match knd w with NRW => knd (src w) = NLR | NLW => knd (src w) = NRR \/ knd (src w) = NAR \/ knd (src w) = NA
           | NAW => knd (src w) = NAR /\ loc (src w) = loc w | _ => False end;
  src_own : forall w, src w = w -> knd w <> NLW /\ knd w <> NAW;
  src_naw : forall w w', knd w = NAW -> knd w' = NAW -> src w = src w' -> w = w';
  naw_next : forall w a, knd w = NAW -> po (src w) a -> a = w \/ po w a;   (* the naW is next to its naR *)
}.

Section Model.
Context {U : slots} (ord : order).

Definition cpu a := is_cpu (knd a).
Definition nicw a := is_nicw (knd a).
Definition inst a := is_inst (knd a).
Definition rd a := is_r (knd a).
Definition cond a := is_cond (knd a).
Definition noninit a := knd a <> Init.
(* the NIC writes that belong to a read *)
Definition fed w := src w <> w.
(* a read and a write of one operation are ordered, whatever the table says *)
Definition ippo a b := po a b /\ (src b = a \/
  match table ord (knd a) (knd b) with All => True | Qp | Issue => qp a = qp b | Never => False end).
Definition oppo a b := po a b /\ (src b = a \/
  match table ord (knd a) (knd b) with All => True | Qp => qp a = qp b | _ => False end).
Definition rread k := k = NRR \/ k = NAR \/ k = NA.
Definition rwrite k := k = NRW \/ k = NAW.
Definition nfopair a b := qp a = qp b /\
  ((knd a = NLR /\ knd b = NLW) \/ (knd a = NLW /\ knd b = NLR) \/
   (rread (knd a) /\ rwrite (knd b)) \/ (rwrite (knd a) /\ rread (knd b))).
(* the vertex of an event under SC: naR and naW are one *)
Definition rep a := match knd a with NAW => src a | _ => a end.

Record wfS (S : ev -> Prop) : Prop := {
  wf_fin : exists l, forall e, S e -> In e l;
  wf_down : forall a b, po a b -> S b -> S a;
  wf_total : forall a b, S a -> S b -> noninit a -> noninit b -> thr a = thr b -> a = b \/ po a b \/ po b a;
  wf_older : forall w p w', S p -> pf w p -> (knd w' = NRW \/ knd w' = NLW) -> qp w' = qp w -> po w' w ->
             exists p', pf w' p' /\ (p' = p \/ po p' p);
  wf_get : forall e x, S e -> S x -> knd e = NRR -> po e x -> exists w, S w /\ knd w = NLW /\ src w = e /\ (w = x \/ po w x);
  wf_naw : forall e x, S e -> S x -> knd e = NAR -> po e x -> exists w, S w /\ knd w = NAW /\ src w = e;
  wf_init : forall e, S e -> rd e -> exists i, S i /\ knd i = Init /\ loc i = loc e;
  wf_init1 : forall i j, S i -> S j -> knd i = Init -> knd j = Init -> loc i = loc j -> i = j;
}.

(* [live]: the naW that happen, and the nA that write *)
Record trace := { S : ev -> Prop; live : ev -> Prop; rf : relation ev; mo : relation ev; nfo : relation ev; rao : relation
  ev }.
Definition happens (l : ev -> Prop) a := knd a = NAW -> l a.
Definition wr (l : ev -> Prop) a := is_w (knd a) /\ (cond a -> l a).
Definition E T a := S T a /\ happens (live T) a.

Record wft (T : trace) : Prop := {
  t_S : wfS (S T);
  t_rf : forall w r, rf T w r -> E T w /\ E T r /\ wr (live T) w /\ rd r /\ loc w = loc r;
  t_rf_ex : forall r, E T r -> rd r -> exists w, rf T w r;
  t_rf_fun : forall w w' r, rf T w r -> rf T w' r -> w = w';
  t_mo : forall a b, mo T a b -> E T a /\ E T b /\ wr (live T) a /\ wr (live T) b /\ loc a = loc b;
  t_mo_irr : forall a, ~ mo T a a;
  t_mo_trans : forall a b c, mo T a b -> mo T b c -> mo T a c;
  t_mo_total : forall a b, E T a -> E T b -> wr (live T) a -> wr (live T) b -> loc a = loc b -> a = b \/ mo T a b \/ mo T b
    a;
  t_mo_init : forall a b, mo T a b -> knd b <> Init;
  t_nfo : forall a b, nfo T a b -> E T a /\ E T b /\ nfopair a b;
  t_nfo_asym : forall a b, nfo T a b -> ~ nfo T b a;
  t_nfo_total : forall a b, E T a -> E T b -> nfopair a b -> nfo T a b \/ nfo T b a;
  t_rao : forall a b, rao T a b -> S T a /\ S T b /\ knd a = NAR /\ knd b = NAR /\ loc a = loc b;
  t_rao_irr : forall a, ~ rao T a a;
  t_rao_trans : forall a b c, rao T a b -> rao T b c -> rao T a c;
  t_rao_total : forall a b, S T a -> S T b -> knd a = NAR -> knd b = NAR -> loc a = loc b -> a = b \/ rao T a b \/ rao T b a;
  (* an RMW that another one follows does not end between naR and naW *)
  t_rao_naw : forall a b, rao T a b -> exists w, S T w /\ knd w = NAW /\ src w = a;
}.

(* Values follow from rf. *)
Inductive wval (rf : relation ev) : ev -> value -> Prop :=
| wv_cpu w : is_w (knd w) -> ~ fed w -> ~ cond w -> wval rf w (cwv w)     (* CPU, initial and inline writes *)
| wv_copy w d v : fed w -> ~ cond w -> rf d (src w) -> wval rf d v -> wval rf w v
| wv_rmw w d v u : cond w -> rf d (src w) -> wval rf d v -> awv (src w) v = Some u -> wval rf w u.

Definition real T := forall w, S T w -> cond w -> (live T w <-> exists u, wval (rf T) w u).
Definition valid T := forall r, E T r -> cpu r -> rd r -> exists w, rf T w r /\ wval (rf T) w (crv r).

Definition rb (T : trace) r w := r <> w /\ exists u, rf T u r /\ mo T u w.
Definition on (T : trace) (R : relation ev) a b := E T a /\ E T b /\ R a b.
(* nfo counts where the hardware has it; otherwise it is some order of these pairs that nothing depends on *)
Definition flushed (T : trace) a b := flush ord = true /\ nfo T a b.
(* rao as ib and ob have it: the naW too is before the next naR *)
Definition raoE (T : trace) a b := rao T a b \/ (knd a = NAW /\ E T a /\ rao T (src a) b).

Inductive ib1 (T : trace) a b : Prop :=
| ib_ippo : on T ippo a b -> ib1 T a b
| ib_pf : on T pf a b -> ib1 T a b
| ib_rf : rf T a b -> ib1 T a b
| ib_nfo : flushed T a b -> ib1 T a b
| ib_rao : raoE T a b -> ib1 T a b.
Definition ib T := clos_trans ev (ib1 T).

Inductive ob1 (T : trace) a b : Prop :=
| ob_oppo : on T oppo a b -> ob1 T a b
| ob_pf : on T pf a b -> knd a = NLW -> ob1 T a b
| ob_rf : rf T a b -> ob1 T a b
| ob_nfo : flushed T a b -> ob1 T a b
| ob_rao : raoE T a b -> ob1 T a b
| ob_rb : rb T a b -> ob1 T a b
| ob_mo : mo T a b -> ob1 T a b
| ob_ib : inst a -> ib T a b -> ob1 T a b.
Definition ob T := clos_trans ev (ob1 T).

Inductive sc1 (T : trace) a b : Prop :=
| sc_po : on T po a b -> sc1 T a b
| sc_rf : rf T a b -> sc1 T a b
| sc_rb : rb T a b -> sc1 T a b
| sc_mo : mo T a b -> sc1 T a b.
(* between vertices; what leads from naR to naW of one RMW is no edge *)
Definition scv T x y := exists a b, x = rep a /\ y = rep b /\ sc1 T a b /\ ~ (knd b = NAW /\ src b = a).
Definition sc T := clos_trans ev (scv T).

Definition irreflexive (R : relation ev) := forall a, ~ R a a.
Definition rdma_consistent T := irreflexive (ob T).
Definition sc_consistent T := irreflexive (sc T).

Definition last (S : ev -> Prop) m := S m /\ noninit m /\ forall b, S b -> ~ po m b.
Definition without (S : ev -> Prop) m := fun e => S e /\ e <> m.
(* A program: the slots of the runs of its threads, closed under prefixes. *)
Record program := { runs : (ev -> Prop) -> Prop; runs_prefix : forall S m, runs S -> last S m -> runs (without S m) }.

Definition trace_of (P : program) T := runs P (S T) /\ wft T /\ valid T /\ real T.
Definition violating P T := trace_of P T /\ rdma_consistent T /\ ~ sc_consistent T.
Definition robust P := forall T, ~ violating P T.

(* trace(sigma) *)
Definition sto (S : ev -> Prop) (lt : relation ev) :=
  (forall a, ~ lt a a) /\ (forall a b c, lt a b -> lt b c -> lt a c) /\
  (forall a b, S a -> S b -> a = b \/ lt a b \/ lt b a).
Definition initfirst (S : ev -> Prop) (lt : relation ev) :=
  forall i x, S i -> S x -> knd i = Init -> noninit x -> lt i x.
Definition rf_in (S l : ev -> Prop) (lt : relation ev) w r :=
  S w /\ S r /\ wr l w /\ rd r /\ loc w = loc r /\ lt w r /\
  forall w', S w' -> wr l w' -> loc w' = loc r -> lt w' r -> w' = w \/ lt w' w.
Definition mo_in (S l : ev -> Prop) (lt : relation ev) a b := S a /\ S b /\ wr l a /\ wr l b /\ loc a = loc b /\ lt a b.
Definition nfo_in (S l : ev -> Prop) (lt : relation ev) a b :=
  (S a /\ happens l a) /\ (S b /\ happens l b) /\ nfopair a b /\ lt a b.
Definition rao_in (S : ev -> Prop) (lt : relation ev) a b := S a /\ S b /\ knd a = NAR /\ knd b = NAR /\ loc a = loc b /\
  lt a b.
Definition tr S l lt :=
  {| S := S; live := l; rf := rf_in S l lt; mo := mo_in S l lt; nfo := nfo_in S l lt; rao := rao_in S lt |}.

(* two different accesses of a word, of which one writes *)
Definition conflict l a b := (wr l a \/ rd a) /\ (wr l b \/ rd b) /\ (wr l a \/ wr l b) /\ loc a = loc b /\ a <> b.

End Model.
