(* One-cell changes of a table: of which of the facts that the proofs need each is the end.  Printed, see docs/proof-tables.md. *)
Require Import String List Bool.
Import ListNotations.
From RR Require Import Model Hardware.

(* the kinds that have a row and a column of their own; LR stands for all events of a CPU *)
Definition rows := [LR; NLR; NRW; NRR; NLW; NF].
Definition row_of k := if cpu_kind k then LR else k.
Definition cell_beq x y := match x, y with All, All | Qp, Qp | Issue, Issue | Never, Never => true | _, _ => false end.

Definition changed (hw : hardware) r c x : hardware :=
  {| table := fun a b => if kind_beq (row_of a) r && kind_beq (row_of b) c then x else table hw a b;
     flush := flush hw; buffered := buffered hw |}.
Definition changes hw : list (kind * kind * cell * list string) :=
  flat_map (fun r => flat_map (fun c => flat_map (fun x =>
    if cell_beq x (table hw r c) then [] else [(r, c, x, failing (changed hw r c x))]) [All; Qp; Issue; Never]) rows) rows.

(* What is listed without a fact has all theorems of core/. *)
Theorem changes_ok hw r c x : In (r, c, x, []) (changes hw) -> hardware_ok (changed hw r c x).
Proof.
  unfold changes. intros H. apply in_flat_map in H as (r' & _ & H). apply in_flat_map in H as (c' & _ & H).
  apply in_flat_map in H as (x' & _ & H). destruct (cell_beq _ _); [destruct H|].
  destruct H as [H|[]]. injection H as -> -> -> H. now apply all_facts.
Qed.
