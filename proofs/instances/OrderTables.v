(* The tables of the package, but those of [flags], in which no read pushes writes and which keep nothing word by word, as rows of
   letters: a, all; q, on one queue pair; i, issued; -, not kept.  All theorems about remote atomics hold under each; tests/proofs
   compares the rows with the files. *)
Require Import List Bool String Ascii.
Import ListNotations.
From RR Require Import RemoteAtomicsHardware.

(* CPUs, nlR, nrW, nrR, nlW, nF, naR, naW.  Where a table tells atomics that fetch nothing apart, the last two stand for theirs in
   rows of their own. *)
Definition number k := match k with
  NLR => 1 | NRW => 2 | NRR => 3 | NLW => 4 | NF => 5 | NAR | NA => 6 | NAW => 7 | _ => 0 end.
Definition cell_of c :=
  if Ascii.eqb c "a" then All else if Ascii.eqb c "q" then Qp else if Ascii.eqb c "i" then Issue else Never.
Definition read (rows : list string) (a b : kind) : cell := match a, b with
  | Init, _ | _, Init => Never
  | _, _ => match get (number b) (nth (number a) rows EmptyString) with Some c => cell_of c | None => Never end end.

Local Open Scope string_scope.
Definition tables : list (string * list string) := [
  ("none", ["aaaaaaaa"; "-----q--"; "-----i--"; "-----q--"; "-----i--"; "-qqqqqqq"; "-----q--"; "-----i--"]);
  ("relaxed-mr", ["aaaaaaaa"; "-qqqqqqq"; "---qqiqq"; "----qq--"; "-----i--"; "-qqqqqqq"; "--qqqqqq"; "--qqiiqq"]);
  ("srd", ["aaaaaaaa"; "-----q--"; "-----i--"; "-----q--"; "-----i--"; "-qqqqqqq"; "-----q--"; "-----i--"]);
  ("fi-verbs", ["aaaaaaaa"; "--qq-qqq"; "--qq-iqq"; "---q-qqq"; "-----i--"; "-qqqqqqq"; "---q-qqq"; "---q-iqq"]);
  ("fi-verbs, atomics that fetch nothing", ["aaaaaaaa"; "--qq-qqq"; "--qq-iqq"; "---q-q--"; "-----i--"; "-qqqqqqq"; "--qq-qqq"; "--qq-iqq"]);
  ("fi-tcp", ["aaaaaaaa"; "--qq-qqq"; "--qq-iqq"; "---q-qqq"; "-----i--"; "-qqqqqqq"; "---q-qqq"; "---q-iqq"]);
  ("fi-tcp, atomics that fetch nothing", ["aaaaaaaa"; "--qq-qqq"; "--qq-iqq"; "---q-q--"; "-----i--"; "-qqqqqqq"; "--qq-qqq"; "--qq-iqq"]);
  ("fi-cxi", ["aaaaaaaa"; "--q--q--"; "--q--i--"; "---q-q--"; "-----i--"; "-qqqqqqq"; "-----qqq"; "-----iqq"]);
  ("fi-cxi, atomics that fetch nothing", ["aaaaaaaa"; "--q--qqq"; "--q--iqq"; "---q-q--"; "-----i--"; "-qqqqqqq"; "--q--qqq"; "--q--iqq"]);
  ("fi-efa", ["aaaaaaaa"; "-----q--"; "-----i--"; "-----q--"; "-----i--"; "-qqqqqqq"; "-----qqq"; "-----iqq"]);
  ("fi-opx", ["aaaaaaaa"; "-----q--"; "-----i--"; "-----q--"; "-----i--"; "-qqqqqqq"; "-----qqq"; "-----iqq"]);
  ("fi-psm3", ["aaaaaaaa"; "--qq-qqq"; "--qq-iqq"; "--qq-qqq"; "-----i--"; "-qqqqqqq"; "--qq-qqq"; "--qq-iqq"]);
  ("fi-none", ["aaaaaaaa"; "-----q--"; "-----i--"; "-----q--"; "-----i--"; "-qqqqqqq"; "-----q--"; "-----i--"])].

Lemma tables_ok : forallb (fun named => order_ok (read (snd named)) false) tables = true.
Proof. vm_compute; reflexivity. Qed.

Theorem tables_are_orders name rows : In (name, rows) tables -> exists ord : order, table ord = read rows /\ flush ord = false.
Proof.
  intros I. pose proof tables_ok as H. rewrite forallb_forall in H. specialize (H _ I). simpl in H.
  now exists {| table := read rows; flush := false; covered := H |}.
Qed.
