(* `order relaxed-mr`, ibv_reg_mr(3) as documented: the default order but for remote writes, and answers, among themselves, and
   without reads that push writes.  All theorems about remote atomics hold under it; tests/proofs compares it with the file. *)
From RR Require Import RemoteAtomicsHardware.

Definition kept_by_relaxed_mr (a b : kind) :=
  match a, b with NRW, NRW | NLW, NLW | NRR, NRR => false | _, _ => true end.
Lemma relaxed_mr_ok : order_ok (cells kept_by_relaxed_mr) false = true.
Proof. vm_compute; reflexivity. Qed.
Definition relaxed_mr : order := {| covered := relaxed_mr_ok |}.
