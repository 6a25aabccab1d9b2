(* What the judge tests of a counterexample, event by event: computable, and extracted. *)
Require Import List Arith ZArith Bool Lia.
Import ListNotations.
From RR Require Import Model Hardware Programs Places.

Definition writes_kind k := match k with Init | LW | CAS | NRW | NLW => true | _ => false end.
Definition reads_kind k := match k with LR | CAS | NLR | NRR => true | _ => false end.

(* Sequences of labels, newest first: the grammar of puts and gets, no poll too early, cells that there are *)
Definition followsb l h :=
  match h, l with
  | Lnlr q _ :: _, Lnrw _ q' _ => q =? q' | Lnlr _ _ :: _, _ => false
  | Lnrr q _ :: _, Lnlw _ q' _ => q =? q' | Lnrr _ _ :: _, _ => false
  | _, (Lnrw _ _ _ | Lnlw _ _ _) => false
  | _, _ => true
  end.
Definition pollsb l h := match l with Lp q => cnt (isP q) h <? cnt (isS q) h | _ => true end.
Fixpoint okb nv h :=
  match h with [] => true | l :: h => followsb l h && pollsb l h && (lloc l <? nv) && okb nv h end.

(* [f] holds of every place of a history, and of what comes before it *)
Fixpoint all_past (f : item -> list item -> bool) h := match h with [] => true | x :: r => f x r && all_past f r end.

(* The rules of Lemma 3 *)
Definition kept_order hw l l' := match table hw (lknd l) (lknd l') with All => true | Qp => lq l =? lq l' | _ => false end.
Definition rule1 hw x h := if late x then true else all_past (fun y _ => negb (late y && kept_order hw (lab y) (lab x))) h.

Definition starts q y := match lknd (lab y) with NLR | NF => lq (lab y) =? q | _ => false end.
Definition forcingb y h :=
  late y && match lknd (lab y) with
            | NLW => true
            | NRW => existsb (fun z => late z && starts (lq (lab y)) z) h
            | _ => false end.
Definition polledb l h q h' :=
  isW q l && (if isS q l then cnt (isS q) h =? cnt (isP q) h' else cnt (isS q) h <=? cnt (isP q) h').
Definition rule2 x h :=
  if late x then true else
  match lab x with
  | Lp q => all_past (fun y r => if forcingb y r then negb (polledb (lab y) (map lab r) q (map lab h)) else true) h
  | _ => true end.

Definition of_queue k q y := kind_beq k (lknd (lab y)) && (lq (lab y) =? q).
Definition rule3 hw x h :=
  if late x then true else if flush hw && kind_beq NLR (lknd (lab x)) then
    all_past (fun f r => if negb (late f) && of_queue NF (lq (lab x)) f
                         then all_past (fun w _ => negb (late w && of_queue NLW (lq (lab x)) w)) r else true) h
  else true.

(* Values: what an event claims to read and to write, by the last write before it in the order *)
Definition read_value x := match lab x with Lnlr _ _ | Lnrr _ _ => carried x | l => lrv l end.
Definition write_value x := match lab x with Lnrw _ _ _ | Lnlw _ _ _ => carried x | l => lwv l end.
Definition writes_to c p := writes_kind (lknd (lab (what p))) && (lloc (lab (what p)) =? c).
Definition reads_memory (init : nat -> Z) (earlier : list placed) p :=
  if reads_kind (lknd (lab (what p))) then
    match find (writes_to (lloc (lab (what p)))) earlier with
    | Some w => (write_value (what w) =? read_value (what p))%Z
    | None => (init (lloc (lab (what p))) =? read_value (what p))%Z
    end
  else true.
Definition carries_on p :=
  match lab (what p) with
  | Lnrw _ _ _ | Lnlw _ _ _ => match past p with r :: _ => (carried r =? carried (what p))%Z | [] => false end
  | _ => true end.

(* The first event of [l] that [f] does not hold of, each with what is earlier in the order, newest first *)
Fixpoint first_wrong (f : list placed -> placed -> bool) earlier l : option placed :=
  match l with [] => None | p :: l => if f earlier p then first_wrong f (p :: earlier) l else Some p end.
Lemma first_wrong_spec f l : forall e, first_wrong f e l = None -> forall l1 p l2, l = l1 ++ p :: l2 ->
  f (rev l1 ++ e) p = true.
Proof.
  induction l as [|q l IH]; intros e H l1 p l2 Q; [destruct l1; discriminate|].
  simpl in H. destruct (f e q) eqn:K; [|discriminate]. destruct l1 as [|y l1]; simpl in Q; inversion Q; subst; [exact K|].
  simpl. rewrite <- app_assoc. simpl. eapply IH; eauto.
Qed.

(* The cycle: events by their numbers in the order, each with its edge to the next *)
Inductive edge := Po | Rf | Rb | Mo.
Definition same_cell p q := lloc (lab (what p)) =? lloc (lab (what q)).
Definition writesb p := writes_kind (lknd (lab (what p))).
Definition readsb p := reads_kind (lknd (lab (what p))).
Definition between (l : list placed) i j := firstn (j - S i) (skipn (S i) l).
Definition edgeb (l : list placed) i k j :=
  match nth_error l i, nth_error l j with
  | Some a, Some b =>
    match k with
    | Po => (who a =? who b) && (nth_of a <? nth_of b)
    | Rf => (i <? j) && writesb a && readsb b && same_cell a b &&
            forallb (fun w => negb (writes_to (lloc (lab (what b))) w)) (between l i j)
    | Rb => (i <? j) && readsb a && writesb b && same_cell a b
    | Mo => (i <? j) && writesb a && writesb b && same_cell a b
    end
  | _, _ => false end.
(* edges from i along the list, the last one to [back]; answers the number of the first that is none *)
Fixpoint wrong_edge l n i k (rest : list (nat * edge)) back : option nat :=
  match rest with
  | [] => if edgeb l i k back then None else Some n
  | (j, k') :: rest => if edgeb l i k j then wrong_edge l (S n) j k' rest back else Some n
  end.

(* The judge *)
Record input := {
  initial : list Z;                    (* what each cell holds at first *)
  threads : list (list item);          (* what each thread does, in program order *)
  alpha : list (nat * nat);            (* thread and place there *)
  pivot : nat * nat;
  beta : list (nat * nat);
  cycle : list (nat * edge);
}.
Inductive fault :=
| Shape (t : nat)             (* the labels of thread t are no sequence of puts, gets, polls ... of a thread *)
| Next (t n : nat)            (* event n of thread t is not the next of its thread in its part *)
| Missing                     (* alpha and pivot, or beta, leave out an event of the part *)
| Value (t n : nat)           (* a read of another value than memory holds, or a write of another than is carried *)
| Rule (r t n : nat)          (* event n of thread t is in alpha against rule r *)
| Edge (n : nat)              (* edge n of the cycle is none *)
| No_cycle.
Inductive answer := Violating | Refused (why : fault).

Definition history l := rev (map lab l).
Fixpoint wrong_shape nv t (ts : list (list item)) : option nat :=
  match ts with [] => None | l :: r => if okb nv (history l) then wrong_shape nv (S t) r else Some t end.
Fixpoint queues part t (ts : list (list item)) : list (list placed) :=
  match ts with [] => [] | l :: r => filter (fun p => Bool.eqb (late (what p)) part) (places t l) :: queues part (S t) r end.

Definition values_and_rules hw (init : nat -> Z) (s : list placed) : option fault :=
  match first_wrong (fun e p => reads_memory init e p && carries_on p) [] s with
  | Some p => Some (Value (who p) (nth_of p))
  | None =>
    match first_wrong (fun _ p => rule1 hw (what p) (past p)) [] s with
    | Some p => Some (Rule 1 (who p) (nth_of p))
    | None =>
      match first_wrong (fun _ p => rule2 (what p) (past p)) [] s with
      | Some p => Some (Rule 2 (who p) (nth_of p))
      | None =>
        match first_wrong (fun _ p => rule3 hw (what p) (past p)) [] s with
        | Some p => Some (Rule 3 (who p) (nth_of p))
        | None => None
        end
      end
    end
  end.
Definition judge_order hw init (s : list placed) (c : list (nat * edge)) : answer :=
  match values_and_rules hw init s with
  | Some why => Refused why
  | None =>
    match c with
    | [] => Refused No_cycle
    | (i, k) :: r => match wrong_edge s 0 i k r i with None => Violating | Some n => Refused (Edge n) end
    end
  end.
Definition judge hw (g : input) : answer :=
  match wrong_shape (length (initial g)) 0 (threads g) with
  | Some t => Refused (Shape t)
  | None =>
    match take (alpha g ++ [pivot g]) (queues false 0 (threads g)) with
    | Not_next t n => Refused (Next t n)
    | Left_over => Refused Missing
    | All_of a =>
      match take (beta g) (queues true 0 (threads g)) with
      | Not_next t n => Refused (Next t n)
      | Left_over => Refused Missing
      | All_of b => judge_order hw (fun x => nth x (initial g) 0%Z) (a ++ b) (cycle g)
      end
    end
  end.
