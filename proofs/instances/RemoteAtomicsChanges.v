(* One-cell changes of a table with remote atomics: of which of the facts that the proofs need each is the end.  Printed, see
   docs/proof-tables.md. *)
Require Import String List Bool.
Import ListNotations.
From RR Require Import RemoteAtomicsHardware.

(* the kinds that have a row and a column of their own; LR stands for all events of a CPU, NAR for naR and nA *)
Definition rows := [LR; NLR; NRW; NRR; NLW; NF; NAR; NAW].
Definition row_of k := if cpu_kind k then LR else match k with NA => NAR | _ => k end.
Definition cell_beq x y := match x, y with All, All | Qp, Qp | Issue, Issue | Never, Never => true | _, _ => false end.

Definition changed (ord : order) r c x a b := if kind_beq (row_of a) r && kind_beq (row_of b) c then x else table ord a b.
Definition changes ord : list (kind * kind * cell * list string) :=
  flat_map (fun r => flat_map (fun c => flat_map (fun x =>
    if cell_beq x (table ord r c) then [] else [(r, c, x, failing (changed ord r c x) (flush ord))])
    [All; Qp; Issue; Never]) rows) rows.

(* What is listed without a fact is an order of which all theorems about remote atomics hold. *)
Theorem changes_atomics_ok ord r c x : In (r, c, x, []) (changes ord) -> order_ok (changed ord r c x) (flush ord) = true.
Proof.
  unfold changes. intros H. apply in_flat_map in H as (r' & _ & H). apply in_flat_map in H as (c' & _ & H).
  apply in_flat_map in H as (x' & _ & H). destruct (cell_beq _ _); [destruct H|].
  destruct H as [H|[]]. injection H as -> -> -> H. unfold order_ok. now rewrite H.
Qed.
