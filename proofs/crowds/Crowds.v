(* The theorems of docs/theory-crowds.md for P(n), the program with n copies of each template: Lemma 1, Theorem 3, Theorem
   7. *)
Require Import List Arith Lia.
Import ListNotations.
From RR Require Import Model Hardware Programs Search Searched Counting CrowdProgram CrowdRules CrowdTheorem Embedded
  ValueFree FewCopies.

Section Crowds.
Context {K : crowd} (hw : hardware).

Theorem crowd_lemma_1 n n' : n <= n' -> ~ robust hw (P (copies n)) -> ~ robust hw (P (copies n')).
Proof.
  intros L N. destruct (included (copies n) (copies n')) as (us & Q).
  - intros k. destruct (in_dec Nat.eq_dec k (copies n)) as [I|I].
    + rewrite !counted_copies by (now apply (copies_templates n)). exact L.
    + apply (count_occ_not_In Nat.eq_dec) in I. rewrite I. lia.
  - intros R. apply (exchanged hw _ _ Q) in R. now apply (more_copies_not_robust hw (copies n) us N).
Qed.
Lemma some_copies : (exists ts, templates ts /\ ~ robust hw (P ts)) <-> exists n, ~ robust hw (P (copies n)).
Proof.
  split.
  - intros (ts & Tm & N). exists (length ts). now apply (within_copies hw ts).
  - intros (n & N). exists (copies n). split; [apply copies_templates|exact N].
Qed.

(* A value-free program is not robust for some n only if it is not robust with 2V copies of each template; [sh] are the V
   words that several threads can access. *)
Theorem crowd_theorem_7 {OK : hardware_ok hw} sh : crowd_value_free ->
  (forall ts t t' x, templates ts -> t <> t' -> touches ts t x -> touches ts t' x -> In x sh) ->
  (exists n, ~ robust hw (P (copies n))) -> ~ robust hw (P (copies (Nat.max 1 (2 * length sh)))).
Proof.
  intros F Sh (n & N).
  destruct (cut_off F hw (copies n) sh (fun t t' x => Sh (copies n) t t' x (copies_templates n)) N)
    as (js & _ & In & Le & N').
  apply (within_copies hw (map (fun j => nth j (copies n) 0) js)); auto; [|now rewrite map_length].
  intros k I. apply in_map_iff in I. destruct I as (j & <- & I). apply (copies_templates n). apply nth_In. auto.
Qed.

(* P(n) is not robust for some n iff a control with a report can be reached by counting. *)
Theorem crowd_theorem_3 {OK : hardware_ok hw} {SO : search_ok hw} {SC : cpu_sc hw} (zero : bool) :
  (exists n, ~ robust hw (P (copies n))) <->
  exists c, by_counting control local initial (explicit hw zero) (copy hw zero) (hero hw zero) (copy_hero hw zero)
    (own_hero hw zero) control0 c /\ reporting hw c.
Proof. rewrite <- some_copies. exact (crowd_counting hw zero). Qed.
End Crowds.
