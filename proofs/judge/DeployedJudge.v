(* The judge of counterexamples on hardware as deployed, and that what it calls violating is violating. *)
Require Import List Arith ZArith Bool Relations.
Import ListNotations.
From RR Require Programs.
From RR Require Import Closure Deployed DeployedTraces DeployedDecides.

(* What it is given: what each thread does, the source of each read, and orders of all events, of which mo, nfo and rao are
   what concerns their pairs; they may be one. *)
Record account := {
  first_values : list Z;
  first_buffers : list (nat * nat * list nat);       (* of thread u for messages of thread t *)
  work : list (list label);
  sources : list (event * event);
  mo_order : list event; nfo_order : list event; rao_order : list event;
}.
Definition posted_of l u t : list nat :=
  flat_map (fun e : nat * nat * list nat => if (fst (fst e) =? u) && (snd (fst e) =? t) then snd e else []) l.
Definition run_of_account g := {| held := first_values g; posted := posted_of (first_buffers g); does := work g |}.
Definition rank l e := match e with Initial _ => 0 | At _ _ => S (index same l e) end.
Definition earlier l a b := rank l a <? rank l b.
Definition has_source l w r := existsb (fun e : event * event => same (fst e) w && same (snd e) r) l.
Definition trace_of_account g := let R := run_of_account g in {|
  run_of := R;
  rf := has_source (sources g);
  mo := fun a b => mo_pair R a b && earlier (mo_order g) a b;
  nfo := fun a b => nfo_pair R a b && earlier (nfo_order g) a b;
  rao := fun a b => rao_pair R a b && earlier (rao_order g) a b |}.

(* Values, as far as they can be followed in that many steps *)
Section Values.
Variables (hw : platform) (T : trace).
Definition source_of r := find (fun d => rf T d r) (events T).
Fixpoint value_of fuel w : option Z := match fuel with 0 => None | S n =>
  match says T w with
  | Some v => Some v
  | None => match copies T w with
    | Some r => match source_of r with Some d => value_of n d | None => None end
    | None => match swaps T w with
      | Some (r, o) => match source_of r with
        | Some d => match value_of n d with Some v => result o v | None => None end
        | None => None end
      | None => None end
    end
  end end.
Definition read_by e := match source_of e with Some d => value_of (S (length (events T))) d | None => None end.
Definition has_read e v := match read_by e with Some u => (u =? v)%Z | None => false end.
Definition fitting e := match e with Initial _ => true | At _ _ => match lab T e with
  | Plain (Programs.Lr _ v) | Plain (Programs.Lc _ v _) | Joined (Programs.Lr _ v) | Joined (Programs.Lc _ v _) =>
    has_read e v
  | Lna _ _ o => match read_by e with Some v => match result o v with Some _ => true | None => false end | None => false end
  | Lnar _ _ o => match read_by e with
    | Some v => match result o v with
      | None => negb (has_write T e) | Some _ => ranked hw && (has_write T e || unfinished T e) end
    | None => false end
  | _ => true end end.

Lemma source_of_spec r d : source_of r = Some d -> is_event T d = true /\ rf T d r = true.
Proof. intros H. apply find_some in H. now rewrite is_event_in. Qed.
Lemma value_of_spec n : forall w v, value_of n w = Some v -> written T w v.
Proof.
  induction n as [|n IH]; simpl; intros w v H; [discriminate|].
  destruct (says T w) as [u|] eqn:S; [inversion H; subst; now apply written_said|].
  destruct (copies T w) as [r|] eqn:C.
  - destruct (source_of r) as [d|] eqn:D; [|discriminate]. apply source_of_spec in D as (E & F).
    eapply written_copied; eauto.
  - destruct (swaps T w) as [(r, o)|] eqn:X; [|discriminate]. destruct (source_of r) as [d|] eqn:D; [|discriminate].
    apply source_of_spec in D as (E & F). destruct (value_of n d) as [u|] eqn:V; [|discriminate].
    eapply written_swapped; eauto.
Qed.
Lemma read_by_spec e v : read_by e = Some v -> reads_value T e v.
Proof.
  unfold read_by. destruct (source_of e) as [d|] eqn:D; [|discriminate]. intros H. apply source_of_spec in D as (E & F).
  exists d. split; [exact E|split; [exact F|]]. eapply value_of_spec; exact H.
Qed.
Lemma has_read_spec e v : has_read e v = true -> reads_value T e v.
Proof.
  unfold has_read. destruct (read_by e) as [u|] eqn:Q; [|discriminate]. intros H. apply Z.eqb_eq in H. subst.
  now apply read_by_spec.
Qed.
Lemma fitting_spec t n : fitting (At t n) = true -> fits hw T (At t n).
Proof.
  unfold fitting, fits. destruct (lab T (At t n)) as [l|l|q x o|q x|q x o|q x d|s q u x d|s q u v|u x|u v]; auto.
  - destruct l; auto using has_read_spec.
  - destruct l; auto using has_read_spec.
  - destruct (read_by (At t n)) as [v|] eqn:Q; [|discriminate]. intros H. exists v.
    split; [now apply read_by_spec|]. destruct (result o v).
    + apply andb_prop in H as (H & K). split; [exact H|]. now apply orb_prop.
    + now apply negb_true_iff.
  - destruct (read_by (At t n)) as [v|] eqn:Q; [|discriminate]. intros H. exists v.
    split; [now apply read_by_spec|]. destruct (result o v); [discriminate|discriminate H].
Qed.
End Values.

(* The judge *)
Inductive objection :=
| Impossible (t n : nat)      (* event n of thread t cannot stand there: grammar, a poll too early, no buffer or message *)
| Sources                     (* a read has not one source, or one that is no write of its cell *)
| Orders                      (* an order leaves out an event *)
| Misread (t n : nat)         (* event n of thread t reads another value, or the RMW writes against what it has read *)
| Forbidden                   (* ib or ob has a cycle *)
| Sequential_too.             (* sc has none *)
Definition place e := match e with Initial x => (x, x) | At t n => (t, n) end.
Definition judge_deployed hw g : option objection :=
  let T := trace_of_account g in
  match find (fun e => negb (possible hw T e)) (events T) with
  | Some e => Some (Impossible (fst (place e)) (snd (place e)))
  | None =>
    if negb (rf_fine T) then Some Sources else
    if negb (well_formed hw T) then Some Orders else
    match find (fun e => negb (fitting hw T e)) (events T) with
    | Some e => Some (Misread (fst (place e)) (snd (place e)))
    | None =>
      if negb (decide_deployed hw T) then Some Forbidden else if decide_sequential T then Some Sequential_too else None
    end
  end.

(* What is called violating is violating, for every program whose threads can make these events. *)
Theorem judge_deployed_sound hw g P : judge_deployed hw g = None -> run_by P (run_of_account g) ->
  violating hw P (trace_of_account g).
Proof.
  unfold judge_deployed. set (T := trace_of_account g). intros H By.
  destruct (find _ (events T)) eqn:F1 in H; [discriminate|]. destruct (negb (rf_fine T)); [discriminate|].
  destruct (well_formed hw T) eqn:W; [|discriminate]. cbn [negb] in H.
  destruct (find _ (events T)) eqn:F2 in H; [discriminate|]. destruct (decide_deployed hw T) eqn:D; [|discriminate].
  cbn [negb] in H.
  destruct (decide_sequential T) eqn:S; [discriminate|].
  split; [split; [exact By|split; [exact W|]]|split].
  - intros [x|t n] E; [exact I|]. apply fitting_spec. apply is_event_in in E.
    pose proof (find_none _ _ F2 _ E) as N. now apply negb_false_iff.
  - now apply decide_deployed_spec.
  - intros C. apply decide_sequential_spec in C. congruence.
Qed.
