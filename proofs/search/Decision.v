(* The loop over the states of the search, and with it the decision: its answers are right. *)
Require Import List Arith ZArith Bool Lia FMapPositive.
Import ListNotations.
From RR Require Import Model Hardware Programs Search Searched Automata Executed Explored Executes Decided.

Lemma list_eqb_eq {A} (eqb : A -> A -> bool) : (forall a b, eqb a b = true -> a = b) ->
  forall a b, list_eqb eqb a b = true -> a = b.
Proof.
  intros H a. induction a as [|x a IH]; intros [|y b]; simpl; try discriminate; auto.
  rewrite andb_true_iff. intros (Q & R). f_equal; auto.
Qed.
Lemma class_eqb_eq a b : class_eqb a b = true -> a = b.
Proof.
  destruct a as [[t x w]|], b as [[t' x' w']|]; simpl; try discriminate; auto.
  rewrite !andb_true_iff, !Nat.eqb_eq, eqb_true_iff. intros ((-> & ->) & ->). reflexivity.
Qed.
Lemma positives_eq a b : list_eqb Pos.eqb a b = true -> a = b.
Proof. apply list_eqb_eq. intros; now apply Pos.eqb_eq. Qed.
Lemma values_eq a b : list_eqb Z.eqb a b = true -> a = b.
Proof. apply list_eqb_eq. intros; now apply Z.eqb_eq. Qed.
Lemma numbers_eq a b : list_eqb Nat.eqb a b = true -> a = b.
Proof. apply list_eqb_eq. intros; now apply Nat.eqb_eq. Qed.
Lemma queues_eq a b : list_eqb queue_eqb a b = true -> a = b.
Proof. apply list_eqb_eq. intros; now apply queue_eqb_iff. Qed.
Lemma types_eq a b : list_eqb typed_eqb a b = true -> a = b.
Proof. apply list_eqb_eq. intros; now apply typed_eqb_iff. Qed.
Lemma owners_eq a b : list_eqb own_eqb a b = true -> a = b.
Proof.
  apply list_eqb_eq. intros [t|] [t'|]; simpl; try discriminate; auto. rewrite Nat.eqb_eq. congruence.
Qed.
Lemma data_eqb_eq a b : data_eqb a b = true -> a = b.
Proof.
  unfold data_eqb. intros H. repeat (apply andb_prop in H as (H & ?)).
  repeat match goal with
  | H : class_eqb _ _ = true |- _ => apply class_eqb_eq in H
  | H : list_eqb Pos.eqb _ _ = true |- _ => apply positives_eq in H
  | H : list_eqb Z.eqb _ _ = true |- _ => apply values_eq in H
  | H : list_eqb Nat.eqb _ _ = true |- _ => apply numbers_eq in H
  | H : list_eqb queue_eqb _ _ = true |- _ => apply queues_eq in H
  | H : list_eqb typed_eqb _ _ = true |- _ => apply types_eq in H
  | H : list_eqb own_eqb _ _ = true |- _ => apply owners_eq in H
  | H : Bool.eqb _ _ = true |- _ => apply eqb_prop in H
  | H : (_ =? _)%Z = true |- _ => apply Z.eqb_eq in H
  end.
  destruct a, b; simpl in *; subst; reflexivity.
Qed.

Section Decision.
Variables (hw : hardware).
Context {OK : hardware_ok hw} {SO : search_ok hw}.
Variables (most : nat) (P : automata) (hash : data -> positive).
Notation sh := (shape_of P).

Lemma member_adding seen d x : member hash (adding hash seen d) x = true -> x = d \/ member hash seen x = true.
Proof.
  unfold member, adding. unfold beside at 1. destruct (Pos.eq_dec (hash x) (hash d)) as [Q|N].
  - rewrite Q, PositiveMap.gss. simpl. rewrite orb_true_iff. intros [H|H]; [left; now apply data_eqb_eq|right].
    unfold beside in *. now rewrite Q.
  - rewrite PositiveMap.gso; auto.
Qed.

(* [entered]: all states that were ever to be visited *)
Record visited (todo : list data) seen (unclear : bool) (entered : list data) : Prop := {
  v_seen : forall d, member hash seen d = true -> In d entered;
  v_start : In (the_start sh) entered;
  v_comes : forall d, In d entered -> comes_to hw most P d;
  v_todo : incl todo entered;
  v_done : unclear = false -> forall d, In d entered -> In d todo \/
    (reporting hw sh d = false /\ incl (successors hw most sh d) entered) }.

Lemma enter_spec ds : forall todo seen n entered, (forall d, member hash seen d = true -> In d entered) ->
  let '(todo', seen', _) := enter hash ds todo seen n in exists new, incl new ds /\
    (forall d, member hash seen' d = true -> In d (new ++ entered)) /\ incl ds (new ++ entered) /\
    (forall d, In d todo' <-> In d new \/ In d todo).
Proof.
  induction ds as [|d ds IH]; intros todo seen n entered H; simpl.
  - exists []. repeat split; auto; try (intros x []); simpl; tauto.
  - destruct (member hash seen d) eqn:Q.
    + specialize (IH todo seen n entered H). destruct (enter hash ds todo seen n) as ((todo', seen'), n').
      destruct IH as (new & H1 & H2 & H3 & H4). exists new. split; [now apply incl_tl|]. split; [auto|]. split; [|auto].
      intros x [<-|Hx]; auto. apply in_or_app. right. auto.
    + specialize (IH (d :: todo) (adding hash seen d) (N.succ n) (d :: entered)).
      destruct (enter hash ds (d :: todo) (adding hash seen d) (N.succ n)) as ((todo', seen'), n').
      destruct IH as (new & H1 & H2 & H3 & H4).
      { intros x Hx. apply member_adding in Hx. destruct Hx as [->|Hx]; [now left|right; auto]. }
      assert (forall x, In x (new ++ d :: entered) -> In x ((d :: new) ++ entered)) as Mv.
      { intros x. simpl. rewrite !in_app_iff. simpl. intuition. }
      exists (d :: new). split; [intros x [<-|Hx]; [now left|right; auto]|]. split; [auto|]. split.
      * intros x [<-|Hx]; [now left|auto].
      * intros x. rewrite H4. simpl. tauto.
Qed.

Hypothesis F : formed P = true.
Hypothesis Hm : 0 < most.
Hypothesis Ha : all_ahead_ok sh = true.

Lemma all_visited seen entered : visited [] seen false entered -> robust hw (program_of P).
Proof.
  intros V. apply (closed_robust hw most P F Hm Ha (fun d => In d entered)).
  - exact (v_start _ _ _ _ V).
  - intros d d' H. destruct (v_done _ _ _ _ V eq_refl d H) as [[]|(_ & Z)]. apply Z.
  - intros d H. now destruct (v_done _ _ _ _ V eq_refl d H) as [[]|(Z & _)].
Qed.
Theorem explore_right fuel : forall todo seen n unclear entered, visited todo seen unclear entered ->
  match explore hw most sh hash fuel todo seen n unclear with
  | Robust _ => robust hw (program_of P)
  | Not_robust => ~ robust hw (program_of P)
  | _ => True
  end.
Proof.
  induction fuel as [|fuel IH]; intros [|d todo] seen n unclear entered V; simpl; auto.
  1, 2: destruct unclear; auto; now apply (all_visited seen entered).
  assert (comes_to hw most P d) as C by (apply (v_comes _ _ _ _ V), (v_todo _ _ _ _ V); now left).
  destruct (reporting hw sh d) eqn:Rp.
  - destruct (exact most d) eqn:X; [now apply (reported_not_robust hw most P F Hm d)|].
    apply (IH todo seen n true entered). destruct V as [V1 V2 V3 V4 V5]. constructor; auto; [|discriminate].
    intros x Hx. apply V4. now right.
  - pose proof (enter_spec (successors hw most sh d) todo seen n entered (v_seen _ _ _ _ V)) as En.
    destruct (enter hash (successors hw most sh d) todo seen n) as ((todo', seen'), n').
    destruct En as (new & H1 & H2 & H3 & H4). apply (IH _ _ _ _ (new ++ entered)). constructor; auto.
    + apply in_or_app. right. exact (v_start _ _ _ _ V).
    + intros x Hx. apply in_app_or in Hx. destruct Hx as [Hx|Hx]; [|now apply (v_comes _ _ _ _ V)].
      eapply comes_next; eauto.
    + intros x Hx. apply in_or_app. apply H4 in Hx. destruct Hx as [Hx|Hx]; auto. right. apply (v_todo _ _ _ _ V).
      now right.
    + intros U x Hx. apply in_app_or in Hx. destruct Hx as [Hx|Hx]; [left; apply H4; auto|].
      destruct (v_done _ _ _ _ V U x Hx) as [[<-|Z]|(Z1 & Z2)]; [right; auto|left; apply H4; auto|right].
      split; auto. intros y Hy. apply in_or_app. auto.
Qed.
End Decision.

Section Answers.
Variables (hw : hardware).
Context {OK : hardware_ok hw} {SO : search_ok hw}.
Lemma decide_right most fuel hash P :
  match decide hw most fuel hash P with
  | Robust _ => robust hw (program_of P)
  | Not_robust => ~ robust hw (program_of P)
  | _ => True
  end.
Proof.
  unfold decide. destruct (formed P && (0 <? n_cells P) && (0 <? most) && all_ahead_ok (shape_of P)) eqn:Q; auto.
  rewrite !andb_true_iff, !Nat.ltb_lt in Q. destruct Q as (((F & _) & Hm) & Ha).
  apply (explore_right hw most P hash F Hm Ha fuel _ _ _ _ [the_start (shape_of P)]). constructor.
  - intros d Hd. apply member_adding in Hd. destruct Hd as [->|Hd]; [now left|].
    unfold member, beside in Hd. rewrite PositiveMap.gempty in Hd. discriminate.
  - now left.
  - intros d [<-|[]]. constructor.
  - apply incl_refl.
  - auto.
Qed.
Theorem decide_robust most fuel hash P n : decide hw most fuel hash P = Robust n -> robust hw (program_of P).
Proof. intros H. pose proof (decide_right most fuel hash P) as Z. now rewrite H in Z. Qed.
Theorem decide_not_robust most fuel hash P : decide hw most fuel hash P = Not_robust -> ~ robust hw (program_of P).
Proof. intros H. pose proof (decide_right most fuel hash P) as Z. now rewrite H in Z. Qed.
End Answers.

(* for the tool's hardware nothing is left to assume *)
Corollary decide_robust_flags buffers f most fuel hash P n : let hw := with_buffers buffers (of_flags f) in
  decide hw most fuel hash P = Robust n -> robust hw (program_of P).
Proof. intros hw H. exact (decide_robust hw most fuel hash P n H). Qed.
Corollary decide_not_robust_flags buffers f most fuel hash P : let hw := with_buffers buffers (of_flags f) in
  decide hw most fuel hash P = Not_robust -> ~ robust hw (program_of P).
Proof. intros hw H. exact (decide_not_robust hw most fuel hash P H). Qed.

(* `put B.w = y; y = 1`, and with a poll between them *)
Fixpoint edges_from p (ls : list label) :=
  match ls with
  | [] => PositiveMap.empty _
  | l :: ls => PositiveMap.add p [(l, Pos.succ p)] (edges_from (Pos.succ p) ls)
  end.
Definition line ls := Pgm [0%Z; 0%Z] [Aut 1 (edges_from 1%positive ls)].
Example decides_example :
  decide (paper false) 2 50 (fun _ => 1%positive) (line [Lnlr 1 0; Lnrw true 1 1; Lw 0 1]) = Not_robust.
Proof. vm_compute. reflexivity. Qed.
Example decides_polled :
  decide (paper false) 2 50 (fun _ => 1%positive) (line [Lnlr 1 0; Lnrw true 1 1; Lp 1; Lw 0 1]) = Robust 7.
Proof. vm_compute. reflexivity. Qed.
Corollary polled_robust : robust (paper false) (program_of (line [Lnlr 1 0; Lnrw true 1 1; Lp 1; Lw 0 1])).
Proof. exact (decide_robust_flags false _ _ _ _ _ _ decides_polled). Qed.

(* store buffering: two threads, each writes a cell and reads the other's; robust but with store buffers *)
Definition crossing x y := Aut 1 (PositiveMap.add 1%positive [(Lw x 1, 2%positive)]
  (PositiveMap.add 2%positive [(Lr y 0, 3%positive); (Lr y 1, 3%positive)] (PositiveMap.empty _))).
Definition buffering := Pgm [0%Z; 0%Z] [crossing 0 1; crossing 1 0].
Example decides_buffering : decide (paper false) 2 100 (fun _ => 1%positive) buffering = Robust 17 /\
  decide (tso (paper false)) 2 100 (fun _ => 1%positive) buffering = Not_robust.
Proof. split; vm_compute; reflexivity. Qed.
