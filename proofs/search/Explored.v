(* All states of the search, visited one after the other: [decide] answers whether the program is robust.

   The states seen are kept by a number that [hash] gives for each; nothing depends on what numbers these are. *)
Require Import List Arith ZArith Bool FMapPositive.
Import ListNotations.
From RR Require Import Model Hardware Programs Search Searched Automata Executed.

Fixpoint list_eqb {A} (eqb : A -> A -> bool) (a b : list A) :=
  match a, b with
  | [], [] => true
  | x :: a, y :: b => eqb x y && list_eqb eqb a b
  | _, _ => false
  end.
Definition class_eqb (a b : option class) :=
  match a, b with
  | None, None => true
  | Some c, Some c' => (cthr c =? cthr c') && (ccell c =? ccell c') && Bool.eqb (cwr c) (cwr c')
  | _, _ => false
  end.
Definition own_eqb (a b : option nat) :=
  match a, b with None, None => true | Some t, Some t' => t =? t' | _, _ => false end.
Definition data_eqb (a b : data) :=
  list_eqb Pos.eqb (points a) (points b) && class_eqb (d_cls a) (d_cls b) && list_eqb Z.eqb (d_mem a) (d_mem b) &&
  list_eqb Z.eqb (d_car a) (d_car b) && list_eqb Nat.eqb (d_unp a) (d_unp b) && list_eqb Nat.eqb (d_ear a) (d_ear b) &&
  list_eqb Nat.eqb (d_cpub a) (d_cpub b) && list_eqb typed_eqb (d_typ a) (d_typ b) &&
  list_eqb queue_eqb (d_fen a) (d_fen b) && list_eqb queue_eqb (d_fod a) (d_fod b) &&
  list_eqb Nat.eqb (d_cr a) (d_cr b) && list_eqb Nat.eqb (d_cw a) (d_cw b) &&
  list_eqb Nat.eqb (d_tcr a) (d_tcr b) && list_eqb Nat.eqb (d_tcw a) (d_tcw b) &&
  list_eqb Nat.eqb (d_tth a) (d_tth b) && Bool.eqb (d_clo a) (d_clo b) &&
  list_eqb Nat.eqb (d_poi a) (d_poi b) && list_eqb Nat.eqb (d_poc a) (d_poc b) && Z.eqb (d_fro a) (d_fro b) &&
  list_eqb Nat.eqb (d_stob a) (d_stob b) && list_eqb own_eqb (d_own a) (d_own b).

Inductive verdict :=
| Robust (states : N)         (* with the number of states *)
| Not_robust
| Unclear                     (* a state reports in which a counter stands for any number *)
| Too_many                    (* there are more states than [fuel] *)
| Not_formed.                 (* the threads do not follow the grammar of puts and gets *)

Section Explored.
Variables (hw : hardware) (most : nat) (sh : shape) (hash : data -> positive).

Definition seen_states := PositiveMap.t (list data).
Definition beside (seen : seen_states) d := match PositiveMap.find (hash d) seen with Some l => l | None => [] end.
Definition member seen d := existsb (data_eqb d) (beside seen d).
Definition adding seen d : seen_states := PositiveMap.add (hash d) (d :: beside seen d) seen.

Fixpoint enter (ds todo : list data) seen n :=
  match ds with
  | [] => (todo, seen, n)
  | d :: ds => if member seen d then enter ds todo seen n else enter ds (d :: todo) (adding seen d) (N.succ n)
  end.
Fixpoint explore (fuel : nat) (todo : list data) seen n (unclear : bool) : verdict :=
  match todo, fuel with
  | [], _ => if unclear then Unclear else Robust n
  | _, 0 => Too_many
  | d :: todo, S fuel =>
      if reporting hw sh d then
        if exact most d then Not_robust else explore fuel todo seen n true
      else
        let '(todo, seen, n) := enter (successors hw most sh d) todo seen n in explore fuel todo seen n unclear
  end.
End Explored.

Definition decide (hw : hardware) (most fuel : nat) (hash : data -> positive) (P : automata) : verdict :=
  let sh := shape_of P in let d := the_start sh in
  if formed P && (0 <? n_cells P) && (0 <? most) && all_ahead_ok sh
  then explore hw most sh hash fuel [d] (adding hash (PositiveMap.empty _) d) 1%N false
  else Not_formed.
