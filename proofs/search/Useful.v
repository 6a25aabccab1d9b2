(* The walks of the filter, computed (CriticalCycles._useful), over flow graphs: what [useful] says is found, and a program of which
   nothing is left is robust. *)
Require Import List Arith Bool Lia Classical Relations.
Import ListNotations.
From RR Require Import Model Hardware Search Along Filter Critical Worklist FlowGraphs FlowCovers.

Section Useful.
Context {U : events} {K : searchable} (hw : hardware) {OK : hardware_ok hw} {SO : search_ok hw}.
Variables (arcs : list arc) (entry : nat -> nat) (fuel : nat) (once : nat -> bool).
Notation graph := (graph_of hw arcs entry fuel once).

Definition opt_kind_dec (a b : option kind) : {a = b} + {a <> b}.
Proof. decide equality. apply kind_dec. Defined.
Definition arc_dec (a b : arc) : {a = b} + {a <> b}.
Proof. decide equality; auto using Nat.eq_dec, bool_dec, opt_kind_dec, qp_dec. Defined.
Definition arc_eqb a b := if arc_dec a b then true else false.

(* CriticalCycles.ahead *)
Definition points_ahead t p := explore Nat.eqb (fun _ _ => true) (fun old _ => old)
  (fun p => map a_to (from_point arcs t p)) fuel [p] [].
Definition after_arcs a b := match points_ahead (a_thr a) (a_to a) with
  | None => true | Some l => existsb (Nat.eqb (a_from b)) l end.
Definition accesses_of := filter (fun a => touches a && existsb (fun b => (a_loc b =? a_loc a) && a_writes b) arcs) arcs.

(* a walk has come to its last thread by an access, in beta or not, through some threads *)
Record walker := Walker { w_seen : list nat; w_beta : bool; w_at : arc }.
Definition entry_b (q : bool) b (p : bool) a := (a_thr a =? a_thr b) && match p, q with
  | false, false | true, true => arc_eqb a b || after_arcs a b
  | false, true => after_arcs a b
  | true, false => may_overtake hw arcs entry fuel a b
  end.
(* CriticalCycles._entries *)
Definition entries seen q b := flat_map (fun a => map (fun p => Walker seen p a)
  (filter (fun p => entry_b q b p a) [false; true])) accesses_of.
Fixpoint inserted (t : nat) l := match l with [] => [t]
  | u :: l' => if t <? u then t :: l else if t =? u then l else u :: inserted t l' end.
Definition now_seen t seen := if once t then inserted t seen else seen.
Definition conflicting_b a b := negb (a_thr a =? a_thr b) && (a_loc a =? a_loc b) && touches a && touches b &&
  (a_writes a || a_writes b).
(* CriticalCycles._exits, and where they come from *)
Definition walk_next w := flat_map (fun b =>
    if negb (existsb (Nat.eqb (a_thr b)) (w_seen w)) && conflicting_b b (w_at w) then
      flat_map (fun q => entries (now_seen (a_thr b) (w_seen w)) q b) (if w_beta w then [false; true] else [false])
    else []) accesses_of.
Definition walk_starts c :=
  flat_map (fun x => if (a_thr x =? cthr c) && (a_loc x =? ccell c) && eqb (a_writes x) (cwr c) then
      flat_map (fun a => if a_thr a =? cthr c then
          map (fun p => Walker [cthr c] p a) (filter (fun p : bool =>
            if p then may_overtake hw arcs entry fuel a x else after_arcs a x) [false; true])
        else []) accesses_of
    else []) accesses_of ++
  flat_map (fun b => if negb (a_thr b =? cthr c) && (a_loc b =? ccell c) && (a_writes b || cwr c) then
      entries (now_seen (a_thr b) [cthr c]) false b else []) accesses_of.
Definition same_walker w w' := (if list_eq_dec Nat.eq_dec (w_seen w) (w_seen w') then true else false) &&
  eqb (w_beta w) (w_beta w') && arc_eqb (w_at w) (w_at w').
Definition walks c := explore same_walker (fun _ _ => true) (fun old _ => old) walk_next fuel (walk_starts c) [].
(* CriticalCycles.may_start *)
Definition may_start c a := match walks c with
  | None => true | Some l => existsb (fun w => w_beta w && arc_eqb (w_at w) a) l end.

Lemma arc_eqb_iff a b : arc_eqb a b = true <-> a = b.
Proof. unfold arc_eqb. destruct (arc_dec a b); intuition congruence. Qed.
Lemma accesses_iff a : an_access arcs a <-> In a accesses_of.
Proof.
  unfold an_access, accesses_of. rewrite filter_In, andb_true_iff, existsb_exists. split.
  - intros (I & T & b & Ib & L & Wr). repeat split; auto. exists b. rewrite L, Nat.eqb_refl, Wr. auto.
  - intros (I & T & b & Ib & H). apply andb_true_iff in H. rewrite Nat.eqb_eq in H. repeat split; auto. exists b. tauto.
Qed.
Lemma inserted_iff t l y : In y (inserted t l) <-> y = t \/ In y l.
Proof.
  induction l as [|u l IH]; simpl; [intuition congruence|]. destruct (Nat.ltb_spec t u); [simpl; intuition congruence|].
  destruct (Nat.eqb_spec t u) as [->|N]; simpl; [intuition congruence|]. rewrite IH. tauto.
Qed.
Lemma ahead_found t p l : points_ahead t p = Some l -> forall p', ahead arcs t p p' -> In p' l.
Proof.
  intros Q. assert (covered eq l p /\ forall e s, In e l -> In s (map a_to (from_point arcs t e)) -> covered eq l s) as (C & N).
  { refine (explore_closed _ _ _ _ eq _ _ _ _ _ _ _ _ Q).
    - auto.
    - intros a b c -> ->. auto.
    - intros now old H _. now apply Nat.eqb_eq in H.
    - auto.
    - intros now old H. now apply Nat.eqb_eq in H. }
  destruct C as (e & He & ->). intros p' H. clear Q. revert He. induction H as [|p a p' Ia _ IH]; intros Hp; auto. apply IH.
  destruct (N p (a_to a) Hp) as (e & He & ->); auto. now apply in_map.
Qed.
Lemma after_found a b : ahead arcs (a_thr a) (a_to a) (a_from b) -> after_arcs a b = true.
Proof.
  intros H. unfold after_arcs. destruct (points_ahead _ _) as [l|] eqn:Q; auto. apply existsb_exists.
  exists (a_from b). rewrite Nat.eqb_refl. split; auto. eapply ahead_found; eauto.
Qed.
Lemma entries_found seen q b p a : Critical.entry graph q b p a -> In (Walker seen p a) (entries seen q b).
Proof.
  intros (A & T & H). apply accesses_iff in A. apply in_flat_map. exists a. split; auto. apply in_map_iff. exists p. split; auto.
  apply filter_In. split; [destruct p; simpl; auto|]. unfold entry_b. simpl in T. rewrite T, Nat.eqb_refl. simpl.
  destruct p, q; simpl in H; auto using after_found; apply orb_true_iff; rewrite arc_eqb_iff; destruct H; auto using after_found.
Qed.

(* w goes through no more threads *)
Definition fewer w w' := incl (w_seen w) (w_seen w') /\ w_beta w = w_beta w' /\ w_at w = w_at w'.
Lemma same_walker_iff w w' : same_walker w w' = true -> w = w'.
Proof.
  unfold same_walker. destruct (list_eq_dec Nat.eq_dec (w_seen w) (w_seen w')) as [E1|]; [|discriminate]. simpl.
  rewrite andb_true_iff, arc_eqb_iff. intros (E2 & E3). apply eqb_prop in E2. destruct w, w'; simpl in *; congruence.
Qed.
Lemma walks_closed c l : walks c = Some l -> (forall w, In w (walk_starts c) -> covered fewer l w) /\
  forall w w', In w l -> In w' (walk_next w) -> covered fewer l w'.
Proof.
  intros Q. unfold walks in Q. eapply explored with (below := fewer) in Q.
  - destruct Q as (C & N). split; [|exact N]. intros w Hw. apply C. apply covered_in; [intros; unfold fewer; auto using incl_refl|auto].
  - intros w. unfold fewer. auto using incl_refl.
  - intros w1 w2 w3 (A1 & A2 & A3) (B1 & B2 & B3). split; [eapply incl_tran; eauto|split; congruence].
  - intros now old H _. apply same_walker_iff in H. subst. unfold fewer. auto using incl_refl.
  - intros now old _. unfold fewer. auto using incl_refl.
  - intros now old H. apply same_walker_iff in H. subst. unfold fewer. auto using incl_refl.
  - intros w s [].
Qed.
Lemma now_fewer t seen seen' : incl seen seen' -> incl (now_seen t seen) (now graph t seen').
Proof.
  unfold now_seen, now. simpl. destruct (once t); auto. intros I y Hy. apply inserted_iff in Hy. simpl.
  destruct Hy as [->|Hy]; auto.
Qed.
Lemma useful_found c l : walks c = Some l -> forall seen p a, useful graph c seen p a -> covered fewer l (Walker seen p a).
Proof.
  intros Q. destruct (walks_closed c l Q) as (St & Ne).
  assert (forall seen seen' q b p a, Critical.entry graph q b p a -> incl seen' seen ->
    (forall w, In w (entries seen' q b) -> covered fewer l w) -> covered fewer l (Walker seen p a)) as He.
  { intros seen seen' q b p a En I H. destruct (H (Walker seen' p a)) as (w & Hw & (A1 & A2 & A3)).
    - now apply entries_found.
    - exists w. split; auto. simpl in *. split; [eapply incl_tran; eauto|auto]. }
  induction 1 as [a x A T S O|a x A T S O|b p a B N M En|seen r x q b p a _ IH B N Cf Qr En]; simpl in *.
  - apply St. apply in_app_iff. left. destruct S as (Ax & Tx & Lx & Wx). apply in_flat_map. exists x.
    split; [now apply accesses_iff|]. rewrite Tx, Lx, Wx, !Nat.eqb_refl, eqb_reflx. simpl. apply in_flat_map. exists a.
    split; [now apply accesses_iff|]. rewrite T, Nat.eqb_refl. apply in_map_iff. exists false. split; auto. rewrite after_found; auto. now left.
  - apply St. apply in_app_iff. left. destruct S as (Ax & Tx & Lx & Wx). apply in_flat_map. exists x.
    split; [now apply accesses_iff|]. rewrite Tx, Lx, Wx, !Nat.eqb_refl, eqb_reflx. simpl. apply in_flat_map. exists a.
    split; [now apply accesses_iff|]. rewrite T, Nat.eqb_refl. apply in_map_iff. exists true. split; auto. rewrite O. destruct (after_arcs a x); simpl; auto.
  - destruct M as (_ & _ & Lb & Wb).
    apply (He _ (now_seen (a_thr b) [cthr c]) false b p a En); [apply now_fewer, incl_refl|]. intros w Hw. apply St.
    apply in_app_iff. right. apply in_flat_map. exists b. split; [now apply accesses_iff|].
    apply Nat.eqb_neq in N. rewrite N, Lb, Nat.eqb_refl. simpl. apply orb_true_iff in Wb. now rewrite Wb.
  - destruct IH as ([seen' r' x'] & Hw & (I & E1 & E2)). simpl in I, E1, E2. subst r' x'.
    apply (He _ (now_seen (a_thr b) seen') q b p a En); [now apply now_fewer|]. intros w' Hw'. apply (Ne _ w' Hw).
    apply in_flat_map. exists b. split; [now apply accesses_iff|]. simpl.
    destruct Cf as (Nt & Ls & Tb & Tx & Wr). apply Nat.eqb_neq in Nt. apply orb_true_iff in Wr.
    unfold conflicting_b. rewrite Nt, Ls, Nat.eqb_refl, Tb, Tx, Wr.
    destruct (existsb (Nat.eqb (a_thr b)) seen') eqn:Ex.
    + exfalso. apply existsb_exists in Ex. destruct Ex as (t & Ht & Et). apply Nat.eqb_eq in Et. subst. auto.
    + simpl. apply in_flat_map. exists q. split; auto. destruct r; [destruct q; simpl; auto|].
      destruct q; simpl; auto.
Qed.
Theorem useful_may_start c seen a : useful graph c seen true a -> may_start c a = true.
Proof.
  intros H. unfold may_start. destruct (walks c) as [l|] eqn:Q; auto.
  destruct (useful_found c l Q _ _ _ H) as (w & Hw & (_ & E1 & E2)). apply existsb_exists. exists w. split; auto.
  simpl in E1, E2. now rewrite E1, E2, (proj2 (arc_eqb_iff a a)).
Qed.

(* classes_of, with `filter`: no class is left *)
Definition class_of_arc x := Cls (a_thr x) (a_loc x) (a_writes x).
Definition nothing_left := forallb (fun x => forallb (fun a =>
  negb (arc_can_start (class_of_arc x) a && may_start (class_of_arc x) a)) accesses_of) accesses_of.
Theorem nothing_left_robust P : (forall E, runs P E -> wfE E /\ wfx E /\ exists edge, drawn arcs entry E edge) ->
  nothing_left = true -> robust hw P.
Proof.
  intros HP H. apply (graph_nothing_kept hw arcs entry fuel once P HP). intros c x seen a (Ax & Tx & Lx & Wx) Ia Cs Us.
  assert (c = class_of_arc x) as -> by (unfold class_of_arc; destruct c; simpl in *; congruence).
  assert (an_access arcs a) as Aa by (destruct Us as [? ? A|? ? A|? ? ? _ _ _ (A & _)|? ? ? ? ? ? ? _ _ _ _ _ (A & _)]; exact A).
  unfold nothing_left in H. rewrite forallb_forall in H. specialize (H x). rewrite forallb_forall in H.
  specialize (H (proj1 (accesses_iff x) Ax) a (proj1 (accesses_iff a) Aa)).
  rewrite Cs, (useful_may_start _ _ _ Us) in H. discriminate.
Qed.
End Useful.
