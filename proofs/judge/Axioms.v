(* A deci
  sion of the axioms for a trace that is given: label sequences, and rf, mo, nfo as lists of pairs of numbers of events. *)
Require Import List Arith ZArith Bool Lia Relations.
Import ListNotations.
From RR Require Import Model Hardware Programs Places Listed Checks Listing Closure.

Record graph := {
  holds : list Z;                      (* what each cell holds at first; initial writes are the first events *)
  sequences : list (list item);        (* then those of the threads, one thread after the other *)
  rf_pairs : list (nat * nat);
  mo_pairs : list (nat * nat);
  nfo_pairs : list (nat * nat);
}.
Fixpoint all_places t ts := match ts with [] => [] | l :: r => places t l ++ all_places (S t) r end.

(* an event: initial, or at its place *)
Definition vertex := (nat + placed)%type.
Definition vertices nv ts : list vertex := map inl (seq 0 nv) ++ map inr (all_places 0 ts).
Definition po_test (v w : vertex) :=
  match v, w with inr p, inr q => (who p =? who q) && (nth_of p <? nth_of q) | _, _ => false end.
Definition ippo_test hw (v w : vertex) :=
  po_test v w && match v, w with
  | inr p, inr q => match table hw (lknd (lab (what p))) (lknd (lab (what q))) with
                    | All => true | Never => false | _ => lq (lab (what p)) =? lq (lab (what q)) end
  | _, _ => false end.
Definition oppo_test hw (v w : vertex) :=
  po_test v w && match v, w with inr p, inr q => kept_order hw (lab (what p)) (lab (what q)) | _, _ => false end.
Definition pf_test (v w : vertex) :=
  po_test v w && match v, w with
  | inr p, inr q => match lab (what q) with
                    | Lp n => polledb (lab (what p)) (map lab (past p)) n (map lab (past q)) | _ => false end
  | _, _ => false end.
Definition kind_of (v : vertex) := match v with inl _ => Init | inr p => lknd (lab (what p)) end.

Definition pair_in (l : list (nat * nat)) i j := existsb (fun e => (fst e =? i) && (snd e =? j)) l.
Definition clean n (l : list (nat * nat)) := filter (fun e => (fst e <? n) && (snd e <? n)) l.

Section Tests.
Variables (hw : hardware) (g : graph).
Let vs := vertices (length (holds g)) (sequences g).
Let n := length vs.
Let at_ i := nth i vs (inl 0).
Definition rf_test := pair_in (clean n (rf_pairs g)).
Definition mo_test := pair_in (clean n (mo_pairs g)).
Definition nfo_test i j := flush hw && pair_in (clean n (nfo_pairs g)) i j.
Definition rb_test i j := negb (i =? j) && existsb (fun e => (snd e =? i) && mo_test (fst e) j) (clean n (rf_pairs g)).
Definition ib_test i j := ippo_test hw (at_ i) (at_ j) || pf_test (at_ i) (at_ j) || rf_test i j || nfo_test i j.
Definition ib_closure := closure n (tabulate n ib_test).
Definition ob_test (C : matrix) i j :=
  oppo_test hw (at_ i) (at_ j) || (pf_test (at_ i) (at_ j) &&
    kind_beq (kind_of (at_ i)) NLW) || rf_test i j || nfo_test i j ||
  rb_test i j || mo_test i j || (negb (write_kind (kind_of (at_ i))) && get C i j).
Definition sc_test i j := po_test (at_ i) (at_ j) || rf_test i j || rb_test i j || mo_test i j.
(* RDMA-consistent, SC-consistent *)
Definition decide_rdma := let C := ib_closure in acyclic n (tabulate n (ob_test C)).
Definition decide_sc := acyclic n (tabulate n sc_test).
End Tests.

(* The trace that a graph is *)
Definition initially g x := nth x (holds g) 0%Z.
Definition event_list g := events_in_order (length (holds g)) (initially g) (all_places 0 (sequences g)).
Definition listed_pairs g (l : list (nat * nat)) (x y : event) :=
  exists i j, In (i, j) l /\ nth_error (event_list g) i = Some x /\ nth_error (event_list g) j = Some y.
Definition trace_of_graph g : trace (U := concrete) :=
  {| Model.E := (Listing.E (sequences g) (length (holds g)) (initially g) : @ev concrete -> Prop);
     rf := listed_pairs g (rf_pairs g); mo := listed_pairs g (mo_pairs g); nfo := listed_pairs g (nfo_pairs g) |}.

Lemma all_places_in ts : forall n p, In p (all_places n ts) <-> n <= who p /\ In p (places (who p) (nth (who p - n) ts [])).
Proof.
  induction ts as [|l ts IH]; intros n p; simpl.
  - split; [tauto|]. intros (_ & H). destruct (who p - n); destruct H.
  - rewrite in_app_iff, IH. destruct (Nat.eq_dec (who p) n) as [Q|N].
    + rewrite Q, Nat.sub_diag. split; [intros [H|(H & _)]; [auto|lia]|intros (_ & H); auto].
    + split.
      * intros [H|(H & K)].
        { apply places_spec in H. destruct H as (? & ? & _ & _ & _ & H). congruence. }
        { split; [lia|]. replace (who p - n) with (S (who p - S n)) by lia. exact K. }
      * intros (H & K). right. split; [lia|]. now replace (who p - n) with (S (who p - S n)) in K by lia.
Qed.
Lemma all_places_nodup ts : forall n, NoDup (all_places n ts).
Proof.
  induction ts as [|l ts IH]; intros n; simpl; [constructor|]. apply nodup_app; [apply places_nodup|apply IH|].
  intros p H K. apply all_places_in in K. apply places_spec in H. destruct H as (? & ? & _ & _ & _ & H). lia.
Qed.
Lemma all_listing ts : listing ts (all_places 0 ts).
Proof.
  split; [|apply all_places_nodup]. intros p. rewrite all_places_in, Nat.sub_0_r. unfold thread. split; [tauto|].
    intros; split; [lia|auto].
Qed.

(* Relations of events, and tests of their numbers *)
Section Numbers.
Variable g : graph.
Let ts := sequences g.
Let nv := length (holds g).
Let vs := vertices nv ts.
Let n := length vs.
Let s := all_places 0 ts.
Let whole : listing ts s := all_listing ts.
Let is_at i x := nth_error (event_list g) i = Some x.
Let at_ i := nth i vs (inl 0).
Definition event_of (v : vertex) := match v with inl x => Ini x (initially g x) | inr p => evt p end.

Lemma event_list_map : event_list g = map event_of vs.
Proof. unfold event_list, events_in_order, vs, vertices. now rewrite map_app, !map_map. Qed.
Lemma is_at_vertex i x : is_at i x <-> exists v, nth_error vs i = Some v /\ event_of v = x.
Proof.
  unfold is_at. rewrite event_list_map, nth_error_map. destruct (nth_error vs i) as [v|]; simpl.
  - split; [intros H; inversion H; eauto|intros (w & H & <-); now inversion H].
  - split; [discriminate|intros (w & H & _); discriminate].
Qed.
Lemma is_at_lt i x : is_at i x -> i < n.
Proof. intros H. apply is_at_vertex in H. destruct H as (v & H & _). apply nth_error_Some. congruence. Qed.
Lemma is_at_at i x : is_at i x -> event_of (at_ i) = x /\ In (at_ i) vs.
Proof.
  intros H. apply is_at_vertex in H. destruct H as (v & H & Q). assert (at_ i = v) as -> by (apply nth_error_nth; exact H).
  split; [auto|]. eapply nth_error_In; eauto.
Qed.
Lemma lt_is_at i : i < n -> exists x, is_at i x.
Proof.
  intros H. destruct (nth_error vs i) as [v|] eqn:K.
  - exists (event_of v). apply is_at_vertex. eauto.
  - apply nth_error_None in K. unfold n in H. lia.
Qed.
Lemma number_unique i j x : is_at i x -> is_at j x -> i = j.
Proof. apply place_unique. apply (nodup_events ts nv (initially g) s whole). Qed.
Lemma event_at x : Model.E (trace_of_graph g) x <-> exists i, is_at i x.
Proof.
  change (Listing.E ts nv (initially g) x <-> exists i, is_at i x).
  rewrite (E_iff ts nv (initially g) s whole). split.
  - intros H. apply In_nth_error in H. exact H.
  - intros (i & H). eapply nth_error_In; exact H.
Qed.

(* a test that says of numbers what a relation says of the events *)
Definition says (f : nat -> nat -> bool) (R : relation event) :=
  (forall x y, R x y -> (exists i, is_at i x) /\ exists j, is_at j y) /\
  (forall i j x y, is_at i x -> is_at j y -> (f i j = true <-> R x y)).

Lemma says_closure f R : says f R -> says (get (closure n (tabulate n f))) (clos_trans event R).
Proof.
  intros (I & F).
  assert (forall i j, get (tabulate n f) i j = true -> i < n /\ j < n) as Sm.
  { intros i j H. apply get_tabulate in H. tauto. }
  split.
  - induction 1 as [x y H|x y z _ (A & _) _ (_ & B)]; auto.
  - intros i j x y Hx Hy. rewrite (closure_spec n _ Sm). split.
    + intros H. revert x y Hx Hy. induction H as [i j H|i k j H IH K JH]; intros x y Hx Hy.
      * apply get_tabulate in H. apply t_step, (F i j x y Hx Hy), H.
      * pose proof (closure_small n _ Sm _ _ H) as (_ & Lk). destruct (lt_is_at k Lk) as (z & Hz). eapply t_trans; eauto.
    + intros H. revert i j Hx Hy. induction H as [x y H|x z y H IH K JH]; intros i j Hx Hy.
      * apply t_step, get_tabulate. split; [eapply is_at_lt; eauto|split; [eapply is_at_lt; eauto|]].
        now apply (F i j x y Hx Hy).
      * assert (exists k, is_at k z) as (k & Hk).
        { clear -I H. induction H as [x y H|x y z _ _ _ IH]; [apply (I x y H)|exact IH]. }
        eapply t_trans; eauto.
Qed.
Lemma says_acyclic f R : says f R -> (acyclic n (tabulate n f) = true <-> forall x, ~ clos_trans event R x x).
Proof.
  intros S. assert (forall i j, get (tabulate n f) i j = true -> i < n /\ j < n) as Sm.
  { intros i j H. apply get_tabulate in H. tauto. }
  rewrite (acyclic_spec n _ Sm). destruct (says_closure f R S) as (I & F). split; intros H.
  - intros x K. destruct (I x x K) as ((i & Hi) & _). apply (H i). apply (closure_spec n _ Sm), (F i i x x Hi Hi), K.
  - intros i K. pose proof (closure_small n _ Sm _ _ K) as (Li & _). destruct (lt_is_at i Li) as (x & Hx).
    apply (H x), (F i i x x Hx Hx), (closure_spec n _ Sm), K.
Qed.

(* the relations *)
Lemma pair_in_spec l i j : pair_in l i j = true <-> In (i, j) l.
Proof.
  unfold pair_in. rewrite existsb_exists. split.
  - intros ((a & b) & I & H). simpl in H. apply andb_prop in H as (A & B). apply Nat.eqb_eq in A, B. now subst.
  - intros I. exists (i, j). simpl. rewrite !Nat.eqb_refl. auto.
Qed.
Lemma clean_in l i j : In (i, j) (clean n l) <-> In (i, j) l /\ i < n /\ j < n.
Proof. unfold clean. rewrite filter_In. simpl. rewrite andb_true_iff, !Nat.ltb_lt. tauto. Qed.
Lemma says_pairs l : says (pair_in (clean n l)) (listed_pairs g l).
Proof.
  split.
  - intros x y (i & j & _ & Hx & Hy). split; [exists i|exists j]; auto.
  - intros i j x y Hx Hy. rewrite pair_in_spec, clean_in. split.
    + intros (H & _). exists i, j. auto.
    + intros (i' & j' & H & Hx' & Hy'). rewrite (number_unique i i' x Hx Hx'), (number_unique j j' y Hy Hy').
      repeat split; [auto|eapply is_at_lt; eauto|eapply is_at_lt; eauto].
Qed.

(* places *)
Lemma vertex_place i x : is_at i x -> (exists c, at_ i = inl c /\ x = Ini c (initially g c)) \/
  exists p, In p s /\ at_ i = inr p /\ evt p = x.
Proof.
  intros H. destruct (is_at_at i x H) as (Q & I). unfold vs, vertices in I. apply in_app_or in I.
  destruct I as [I|I]; apply in_map_iff in I; destruct I as (v & V & I); rewrite <- V in Q |- *; simpl in Q;
    [left|right]; eauto.
Qed.
Lemma thread_past p q : In p s -> In q s -> who p = who q -> nth_of p < nth_of q -> exists k, past q = k ++ what p :: past p.
Proof.
  rewrite !(listed ts s whole). intros I J W L. rewrite W in I. unfold places in I, J. apply places_spec in I, J.
  destruct I as (l1 & l2 & Q & P & N & _), J as (k1 & k2 & Q' & P' & N' & _).
  rewrite app_nil_r in P, P'. rewrite P, P'. rewrite Q in Q'. clear - Q' N N' L. simpl in N, N'.
  assert (exists m, k1 = l1 ++ what p :: m) as (m & ->).
  { revert k1 Q' N' L. revert N. generalize (nth_of p) (nth_of q). induction l1 as [|a l1 IH];
    intros a1 a2 N [|b k1] Q' N' L; simpl in *; try lia.
    - inversion Q'; subst. now exists k1.
    - inversion Q'; subst. destruct (IH (length l1) (length k1) eq_refl k1 H1 eq_refl) as (m & ->); [lia|]. now exists m. }
  exists (rev m). rewrite rev_app_distr. simpl. now rewrite <- app_assoc.
Qed.
Lemma says_po_test i j x y : is_at i x -> is_at j y -> (po_test (at_ i) (at_ j) = true <-> epo x y).
Proof.
  intros Hx Hy. destruct (vertex_place i x Hx) as [(c & -> & ->)|(p & I & -> & <-)]; [simpl; split; [discriminate|tauto]|].
  destruct (vertex_place j y Hy) as [(c & -> & ->)|(q & J & -> & <-)]; [simpl; split; [discriminate|tauto]|].
  unfold po_test. rewrite andb_true_iff, Nat.eqb_eq, Nat.ltb_lt. split.
  - intros (W & L). apply past_po; [auto|]. now apply thread_past.
  - intros H. destruct (po_place ts s whole _ q J H) as (p' & I' & Q & W & (k & K)).
    rewrite (evt_inj ts s whole p' p I' I Q) in W, K. split; [auto|].
    apply (listed ts s whole) in I, J. rewrite (places_nth _ _ _ I), (places_nth _ _ _ J), K, app_length. simpl. lia.
Qed.
End Numbers.
