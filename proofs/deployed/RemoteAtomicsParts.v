(* Remote atomics: orders in parts: alpha, naR, middle, m, beta; and alpha, pivot, beta. *)
Require Import List Arith Lia Classical Relations.
From RR Require Import Orders RemoteAtomicsModel RemoteAtomicsRules RemoteAtomicsValues RemoteAtomicsPivot.

Section Lex.
Context {U : slots}.
(* those outside of Q first *)
Definition lexP (Q : ev -> Prop) (R : relation ev) a b := (~ Q a /\ Q b) \/ ((Q a <-> Q b) /\ R a b).
Lemma lexP_sto (S Q : ev -> Prop) (R : relation ev) : sto S R -> sto S (lexP Q R).
Proof.
  intros (Hi & Ht & Hc); unfold lexP; split; [|split].
  - intros a [H|H]; [tauto|]. eapply Hi; apply H.
  - intros a b c [H|(H & H')] [K|(K & K')]; try tauto. right; split; [tauto|eauto].
  - intros a b Ea Eb. specialize (Hc a b Ea Eb). destruct (classic (Q a)), (classic (Q b)); tauto.
Qed.
Lemma lexP_fwd (Q : ev -> Prop) (R : relation ev) a b : (Q a -> Q b) -> (~ Q a /\ Q b) \/ R a b -> lexP Q R a b.
Proof. unfold lexP. intros U0 [H|H]; [auto|]. destruct (classic (Q a)), (classic (Q b)); tauto. Qed.
Lemma lexP_cong (Q : ev -> Prop) (R : relation ev) e x y : (Q x <-> Q y) -> (R e x -> e = y \/ R e y) -> lexP Q R e x -> e
  = y \/ lexP Q R e y.
Proof. unfold lexP. intros H K [A|(A & B)]; [tauto|]. destruct (K B); [auto|]. right; right; tauto. Qed.

(* alpha, pr, I, m, beta; where m is alone, pr = m and I is empty *)
Definition in_parts (B I : ev -> Prop) m pr L := lexP B (lexP (fun e => e = m \/ B e)
  (lexP (fun e => I e \/ e = m \/ B e) (lexP (fun e => e = pr \/ I e \/ e = m \/ B e) L))).
Lemma lexP_same (Q : ev -> Prop) (R : relation ev) a b : (Q a <-> Q b) -> (lexP Q R a b <-> R a b).
Proof. unfold lexP. tauto. Qed.
Lemma lexP_split (Q : ev -> Prop) (R : relation ev) a b : ~ Q a -> Q b -> lexP Q R a b.
Proof. left; auto. Qed.

(* alpha, pivot, beta: nothing between the events of the pivot *)
Definition nobody (e : ev) := False.
Definition around (B : ev -> Prop) m pr L := in_parts B nobody m pr L.

Section Around.
Variables (S B : ev -> Prop) (m pr : ev) (L : relation ev).
Hypothesis SL : sto S L.
Hypothesis BM : forall e, B e -> ~ M m pr e.
Notation sg := (around B m pr L).
Notation pivot := (M m pr).

Lemma around_sto : sto S sg.
Proof. unfold around, in_parts. repeat apply lexP_sto. exact SL. Qed.
Lemma around_asym a b : sg a b -> ~ sg b a.
Proof. exact (sto_asym _ _ _ _ around_sto). Qed.
Lemma around_split a b : ~ B a -> B b -> sg a b.
Proof. left; auto. Qed.
Lemma around_same a b : ~ pivot a -> ~ pivot b -> (B a <-> B b) -> (sg a b <-> L a b).
Proof.
  intros Na Nb H. assert (forall e, ~ pivot e -> e <> m /\ e <> pr) as N by (unfold M; tauto).
  destruct (N a Na), (N b Nb). unfold around, in_parts, nobody. repeat (rewrite lexP_same; [|tauto]). tauto.
Qed.
Lemma around_before a z : ~ pivot a -> ~ B a -> pivot z -> sg a z.
Proof.
  intros Na Nb Pz. assert (a <> m /\ a <> pr) as (N1 & N2) by (unfold M in Na; tauto).
  assert (~ B z) as Bz by (intros Bz; exact (BM z Bz Pz)).
  unfold around, in_parts, nobody. apply lexP_same; [tauto|].
  destruct (classic (z = m)); [apply lexP_split; tauto|apply lexP_same; [tauto|]].
  apply lexP_same; [tauto|]. apply lexP_split; [tauto|]. destruct Pz; tauto.
Qed.
Lemma around_after b z : B b -> pivot z -> sg z b.
Proof. intros Bb Pz. apply around_split; auto. intros Bz. exact (BM z Bz Pz). Qed.
Lemma around_pivot : pr <> m -> sg pr m.
Proof.
  intros N. assert (~ B m) as Bm by (intros H; apply (BM m H); left; auto).
  assert (~ B pr) as Bp by (intros H; apply (BM pr H); right; auto).
  unfold around, in_parts, nobody. apply lexP_same; [tauto|]. apply lexP_split; tauto.
Qed.
Lemma around_fwd a b : ~ pivot a -> ~ pivot b -> L a b -> (B a -> B b) -> sg a b.
Proof.
  intros Na Nb K H. destruct (classic (~ B a /\ B b)) as [(A & C)|N]; [now apply around_split|].
  apply around_same; auto. split; [auto|]. intros C. apply NNPP. tauto.
Qed.
(* where an event stands to the pivot *)
Lemma around_from z b : pivot z -> ~ pivot b -> (sg z b <-> B b).
Proof.
  intros Pz Nb. split; [|intros; now apply around_after]. intros H. apply NNPP. intros N.
  exact (around_asym _ _ H (around_before b z Nb N Pz)).
Qed.
Lemma around_to z a : pivot z -> ~ pivot a -> (sg a z <-> ~ B a).
Proof.
  intros Pz Na. split; [|intros; now apply around_before]. intros H Ba. exact (around_asym _ _ H (around_after a z Ba Pz)).
Qed.
End Around.
End Lex.

