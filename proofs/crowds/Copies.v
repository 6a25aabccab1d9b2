(* A violating trace of a program is one of the program with more threads, and with words of their own:
   docs/theory-crowds.md, Lemma 1. *)
Require Import List Arith ZArith Lia Relations.
Import ListNotations.
From RR Require Import Model Hardware Orders Cells Stores Rules Traces Programs.

Section More.
Variables (hw : hardware) (nt nt' nv nv' : nat) (init : nat -> Z) (prog prog' : nat -> list label -> Prop).
Hypothesis prefix : forall t l h, prog t (l :: h) -> prog t h.
Hypothesis prefix' : forall t l h, prog' t (l :: h) -> prog' t h.
Hypotheses (threads : nt <= nt') (words : nv <= nv').
(* the threads that there are do what they did; the others may not have begun *)
Hypothesis same : forall t h, t < nt -> prog t h -> prog' t h.
Hypothesis begin : forall t, prog' t [].
Notation P := (the_program nt nv init prog prefix).
Notation P' := (the_program nt' nv' init prog' prefix').

(* the initial writes of the new words, which nothing reads *)
Definition new_write (e : event) := exists x, nv <= x < nv' /\ e = Ini x (init x).
Definition larger (T : trace (U := concrete)) : trace (U := concrete) :=
  {| E := fun e => E T e \/ new_write e; rf := rf T; mo := mo T; nfo := nfo T |}.

Section Trace.
Variable T : trace (U := concrete).
Hypothesis R : is_run nt nv init prog (E T).
Hypothesis W : wft T.

Lemma ok_more h : ok nv h -> ok nv' h.
Proof. induction h as [|l h IH]; simpl; [auto|]. intros (O & F & Q & C). repeat split; auto. lia. Qed.
Lemma larger_run : is_run nt' nv' init prog' (E (larger T)).
Proof.
  destruct R as (path & (Hok & Hnt) & HE). exists path. split; [split|].
  - intros t. destruct (Hok t) as (Q & O). split; [|now apply ok_more].
    destruct (le_lt_dec nt t) as [L|L]; [rewrite (Hnt t L); auto|auto].
  - intros t L. apply Hnt. lia.
  - intros e. simpl. rewrite HE. destruct e as [x v|t l h]; simpl.
    + split; [intros [(L & ->)|(y & L & Q)]; [split; [lia|auto]|inversion Q; subst; split; [lia|auto]]|].
      intros (L & ->). destruct (le_lt_dec nv x); [right; exists x; split; [lia|auto]|left; auto].
    + split; [intros [H|(x & _ & Q)]; [auto|discriminate]|auto].
Qed.
Lemma old_cell e : E T e -> (wr e \/ rd e) -> eloc e < nv.
Proof.
  intros H A. destruct R as (path & (Hok & _) & HE). apply HE in H. destruct e as [x v|t l h]; simpl in *; [tauto|].
  pose proof (ok_suf nv _ _ H (proj2 (Hok t))) as O. simpl in O. tauto.
Qed.
Lemma old_event e : E (larger T) e -> noninit e -> E T e.
Proof. intros [H|(x & _ & ->)] N; [auto|now destruct N]. Qed.
Lemma larger_wft : wft (larger T).
Proof.
  constructor; simpl.
  - apply (run_wf nt' nv' init prog'). apply larger_run.
  - intros w r H. destruct (t_rf _ W _ _ H) as (Ew & Er & K). tauto.
  - intros r Er Rr. apply (t_rf_ex _ W); [|auto]. apply old_event; [exact Er|now apply rd_noninit].
  - apply (t_rf_fun _ W).
  - intros a b H. destruct (t_mo _ W _ _ H) as (Ea & Eb & K). tauto.
  - apply (t_mo_irr _ W).
  - apply (t_mo_trans _ W).
  - intros a b [Ea|(x & Lx & ->)] [Eb|(y & Ly & ->)] Wa Wb Q; simpl in Q.
    + apply (t_mo_total _ W); auto.
    + pose proof (old_cell a Ea (or_introl Wa)). simpl in *. lia.
    + pose proof (old_cell b Eb (or_introl Wb)). simpl in *. lia.
    + left. congruence.
  - apply (t_mo_init _ W).
  - intros a b H. destruct (t_nfo _ W _ _ H) as (Ea & Eb & K). tauto.
  - apply (t_nfo_asym _ W).
  - intros a b Ea Eb N. apply (t_nfo_total _ W); auto; apply old_event; auto;
    destruct N as (_ & [(K & K')|[(K & K')|[(K & K')|(K & K')]]]); unfold noninit; congruence.
Qed.
Lemma on_po (S : relation event) a b : (forall x y, S x y -> po (events := concrete) x y) -> on (larger T) S a b ->
  on T S a b.
Proof.
  intros H (Ea & Eb & K). pose proof (H a b K) as Q. split; [|split; [|exact K]]; apply old_event; auto.
  - exact (@po_init_l concrete a b Q).
  - exact (@po_init_r concrete a b Q).
Qed.
Lemma larger_ib1 a b : ib1 hw (larger T) a b -> ib1 hw T a b.
Proof.
  intros [H|H|H|H O|H].
  - apply ib_ippo. revert H. apply on_po. intros x y K; apply K.
  - apply ib_pf. revert H. apply on_po. intros x y K. now destruct (@pf_ok concrete x y K).
  - now apply ib_rf.
  - now apply ib_rbb.
  - now apply ib_nfo.
Qed.
Lemma larger_ib a b : ib hw (larger T) a b -> ib hw T a b.
Proof. unfold ib. induction 1; [now apply t_step, larger_ib1|]. eapply t_trans; eauto. Qed.
Lemma larger_ob1 a b : ob1 hw (larger T) a b -> ob1 hw T a b.
Proof.
  intros [H|H K|x H K S|H O|H|H|H|I H].
  - apply ob_oppo. revert H. apply on_po. intros x y K; apply K.
  - apply ob_pf; [|exact K]. revert H. apply on_po. intros x y Q. now destruct (@pf_ok concrete x y Q).
  - apply ob_post with x; [| |exact S].
    + revert H. apply on_po. intros y z Q; apply Q.
    + revert K. apply on_po. intros y z Q. now destruct (@pf_ok concrete y z Q).
  - now apply ob_rf.
  - now apply ob_nfo.
  - now apply ob_rb.
  - now apply ob_mo.
  - apply ob_ib; [auto|]. now apply larger_ib.
Qed.
Lemma smaller_sc1 a b : sc1 T a b -> sc1 (larger T) a b.
Proof.
  intros [(Ea & Eb & H)|H|H|H].
  - apply sc_po. split; [now left|split; [now left|exact H]].
  - now apply sc_rf.
  - now apply sc_rb.
  - now apply sc_mo.
Qed.
End Trace.

Theorem more_threads T : violating hw P T -> violating hw P' (larger T).
Proof.
  intros ((R & W & V) & C & N). split; [split; [|split]|split].
  - exact (larger_run T R).
  - exact (larger_wft T R W).
  - intros r Er Cr Rr. apply V; auto. apply (old_event T r Er). now apply rd_noninit.
  - intros a H. apply (C a). unfold ob in *. revert H. generalize a at 2 4. intros b H.
    induction H; [now apply t_step, larger_ob1|]. eapply t_trans; eauto.
  - intros H. apply N. intros a K. apply (H a). unfold sc in *. revert K. generalize a at 2 4. intros b K.
    induction K; [now apply t_step, smaller_sc1|]. eapply t_trans; eauto.
Qed.
Corollary robust_fewer : robust hw P' -> robust hw P.
Proof. intros H T V. exact (H (larger T) (more_threads T V)). Qed.
End More.
