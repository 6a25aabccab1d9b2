(* Programs as data: a finite automaton for each thread.  Its edges have labels of Programs.v, its paths from the
   start are what the thread can do; [formed] is a test that they are sequences of the grammar of puts and gets. *)
Require Import List Arith ZArith Bool FMapPositive.
Import ListNotations.
From RR Require Import Model Programs Example Search Searched.

(* Points of a thread are numbers; from each lead its edges. *)
Record automaton := Aut { start_point : positive; leading : PositiveMap.t (list (label * positive)) }.
(* What cells hold at first, and the threads. *)
Record automata := Pgm { at_first : list Z; parts : list automaton }.

Definition out (a : automaton) p := match PositiveMap.find p (leading a) with Some l => l | None => [] end.
Definition nothing := Aut 1 (PositiveMap.empty _).
Definition part (P : automata) t := nth t (parts P) nothing.

(* [h] is newest first *)
Inductive leads (a : automaton) : list label -> positive -> Prop :=
| leads_start : leads a [] (start_point a)
| leads_edge h p l p' : leads a h p -> In (l, p') (out a p) -> leads a (l :: h) p'.
Definition n_threads P := length (parts P).
Definition n_cells P := length (at_first P).
Definition initially P x := nth x (at_first P) 0%Z.
Definition can_do P t h := exists p, leads (part P t) h p.
Lemma can_do_prefix P t l h : can_do P t (l :: h) -> can_do P t h.
Proof. intros (p & H). inversion H; subst. eexists; eauto. Qed.
Lemma can_do_nothing P t : can_do P t [].
Proof. eexists; constructor. Qed.
Definition program_of P := the_program (n_threads P) (n_cells P) (initially P) (can_do P) (can_do_prefix P).

(* All edges *)
Definition edges_of a := flat_map (fun pl => map (fun lp => (fst pl, fst lp, snd lp)) (snd pl))
  (PositiveMap.elements (leading a)).
Lemma edges_in a p l p' : In (l, p') (out a p) -> In (p, l, p') (edges_of a).
Proof.
  unfold out, edges_of. destruct (PositiveMap.find p (leading a)) as [ls|] eqn:Q; [|intros []]. intros H.
  apply in_flat_map. exists (p, ls). split; [now apply PositiveMap.elements_correct|].
  apply in_map_iff. now exists (l, p').
Qed.

(* what may follow what *)
Definition follows_b l h :=
  match h, l with
  | Lnlr q _ :: _, Lnrw _ q' _ => q =? q' | Lnlr _ _ :: _, _ => false
  | Lnrr q _ :: _, Lnlw _ q' _ => q =? q' | Lnrr _ _ :: _, _ => false
  | _, (Lnrw _ _ _ | Lnlw _ _ _) => false
  | _, _ => true
  end.
Lemma follows_iff l h : follows_b l h = true <-> follows l h.
Proof. destruct h as [|[] h], l; simpl; try apply Nat.eqb_eq; split; try discriminate; tauto. Qed.

(* every cell is one of the program's; reads of the card are followed by their writes, and these by nothing else *)
Definition formed_out nv a p h :=
  forallb (fun lp : label * positive => (lloc (fst lp) <? nv) && follows_b (fst lp) h) (out a p).
Definition formed_part nv a := formed_out nv a (start_point a) [] &&
  forallb (fun e : positive * label * positive => let '(_, l, p') := e in formed_out nv a p' [l]) (edges_of a).
Definition formed P := forallb (formed_part (n_cells P)) (parts P).

Lemma formed_out_in nv a p h l p' : formed_out nv a p h = true -> In (l, p') (out a p) -> lloc l < nv /\ follows l h.
Proof.
  intros F H. unfold formed_out in F. rewrite forallb_forall in F. apply F in H. simpl in H.
  apply andb_prop in H as (H1 & H2). split; [now apply Nat.ltb_lt|now apply follows_iff].
Qed.
Lemma leads_fine nv a h p : formed_part nv a = true -> leads a h p -> fine nv h.
Proof.
  intros F H. apply andb_prop in F as (F1 & F2). rewrite forallb_forall in F2.
  induction H as [|h p l p' H IH E]; simpl; auto. split; [auto|]. destruct H as [|h p0 l0 p H E0].
  - destruct (formed_out_in _ _ _ _ _ _ F1 E). auto.
  - apply edges_in, F2 in E0. simpl in E0. destruct (formed_out_in _ _ _ _ _ _ E0 E) as (Z1 & Z2).
    split; auto.
Qed.
Lemma nothing_leads h p : leads nothing h p -> h = [].
Proof.
  intros H. destruct H as [|h p l p' H E]; auto. unfold out in E. cbn [leading nothing] in E.
  rewrite PositiveMap.gempty in E. destruct E.
Qed.
Lemma can_do_fine P t h : formed P = true -> can_do P t h -> fine (n_cells P) h.
Proof.
  intros F (p & H). unfold part in H. destruct (nth_in_or_default t (parts P) nothing) as [Z|Z].
  - unfold formed in F. rewrite forallb_forall in F. eapply leads_fine; eauto.
  - rewrite Z in H. apply nothing_leads in H. subst. simpl; auto.
Qed.
Lemma can_do_beyond P t h : n_threads P <= t -> can_do P t h -> h = [].
Proof.
  intros H (p & L). unfold part in L. rewrite nth_overflow in L; auto. now apply nothing_leads in L.
Qed.
