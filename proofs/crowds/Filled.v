(* Theorem 7 of docs/theory-crowds.md, values: where what a thread writes depends on what its CPU has read before, and
   nothing else on values, the reads of an RDMA-consistent trace can be given the values of what they read from. *)
Require Import List Arith Lia Classical Relations.
Import ListNotations.
From RR Require Import Model Hardware Orders Cells Rules Traces.

Section Filled.
Context {U : events}.
Variable ev_dec : forall a b : ev, {a = b} + {a <> b}.
Variables (T : trace) (cw : (ev -> value) -> ev -> value).
(* what values depend on *)
Inductive needs1 a b : Prop :=
| needs_rf : rf T a b -> needs1 a b
| needs_po : on T po a b -> cpu a -> rd a -> needs1 a b
| needs_carry : on T carry a b -> needs1 a b.
Definition needs := clos_trans ev needs1.
Hypotheses (W : wft T) (Co : irreflexive needs).
(* what w writes if r reads (rho r), for each CPU read r *)
Hypothesis causal : forall rho rho' w, E T w -> wr w -> (forall r, E T r -> cpu r -> rd r -> po r w -> rho r = rho' r) ->
  cw rho w = cw rho' w.

Inductive filled (rho : ev -> value) : ev -> value -> Prop :=
| filled_own w : wr w -> (forall r, ~ carry r w) -> filled rho w (cw rho w)
| filled_nicr w r v : rd r -> ~ cpu r -> rf T w r -> filled rho w v -> filled rho r v
| filled_nicw r w v : carry r w -> filled rho r v -> filled rho w v.

Lemma needs_in a b : needs a b -> E T a.
Proof.
  intros H. apply clos_trans_t1n in H. assert (exists c, needs1 a c) as (c & Z) by (destruct H; eauto).
  destruct Z as [Z|Z _ _|Z]; try apply Z. apply (t_rf T W _ _ Z).
Qed.
Lemma rf_needs w r : rf T w r -> needs w r.
Proof. intros H. now apply t_step, needs_rf. Qed.
Lemma po_needs r w : E T r -> E T w -> cpu r -> rd r -> po r w -> needs r w.
Proof. intros Er Ew C R Po. apply t_step, needs_po; auto. split; [auto|split; auto]. Qed.
Lemma carry_in r w : E T w -> carry r w -> E T r.
Proof. intros Ew C. eapply wf_down; [apply (t_E T W)|apply (carry_ok _ _ C)|auto]. Qed.
Lemma carry_needs r w : E T w -> carry r w -> needs r w.
Proof. intros Ew C. apply t_step, needs_carry. split; [exact (carry_in r w Ew C)|split; auto]. Qed.

(* induction along what is needed *)
Lemma needs_ind (Q : ev -> Prop) : (forall a, E T a -> (forall b, E T b -> needs b a -> Q b) -> Q a) ->
  forall a, E T a -> Q a.
Proof.
  intros H a Ea. apply NNPP. intros Na. destruct (wf_fin _ (t_E T W)) as (l & Hl).
  destruct (max_elem l (fun b => E T b /\ ~ Q b) (fun x y => needs y x)) as (m & (Em & Nm) & Mx).
  - split; [exact Co|]. intros x y z X Y. eapply t_trans; eauto.
  - intros b (Eb & _). auto.
  - eauto.
  - apply Nm. apply H; [auto|]. intros b Eb Ob. apply NNPP. intros Nb. exact (Mx b (conj Eb Nb) Ob).
Qed.
Lemma filled_total rho a : E T a -> (wr a \/ (rd a /\ ~ cpu a)) -> exists v, filled rho a v.
Proof.
  intros Ea. revert a Ea. apply (needs_ind (fun a => (wr a \/ (rd a /\ ~ cpu a)) -> exists v, filled rho a v)).
  intros a Ea IH [Wa|(Ra & Ca)].
  - destruct (classic (exists r, carry r a)) as [(r & C)|N].
    + pose proof (carry_in r a Ea C) as Er.
      destruct (IH r Er (carry_needs r a Ea C)) as (v & V); [|exists v; now apply filled_nicw with r].
      right. destruct (carry_ok _ _ C) as (_ & _ & [(Kr & _)|(Kr & _)]); unfold rd, cpu; rewrite Kr; simpl; auto.
    + exists (cw rho a). apply filled_own; [auto|]. intros r C. apply N. eauto.
  - destruct (t_rf_ex T W a Ea Ra) as (w & R). pose proof (t_rf T W w a R) as (Ew & _ & Ww & _).
    destruct (IH w Ew) as (v & V); [now apply rf_needs|now left|]. exists v. now apply filled_nicr with w.
Qed.
(* what a write writes depends on the reads that it needs *)
Lemma filled_same rho rho' a v : filled rho a v -> E T a -> (forall r, E T r -> cpu r -> rd r -> needs r a ->
  rho r = rho' r) ->
  filled rho' a v.
Proof.
  intros H; induction H as [w Ww N|w r v Rr Cr R _ IH|r w v C _ IH]; intros Ea A.
  - rewrite (causal rho rho' w Ea Ww); [now apply filled_own|]. intros r Er Cr Rr Po. apply A; auto. now apply po_needs.
  - apply filled_nicr with w; auto. apply IH; [apply (t_rf T W w r R)|]. intros r' Er' Cr' Rr' Ob. apply A; auto.
    eapply t_trans; [exact Ob|now apply rf_needs].
  - pose proof (carry_in r w Ea C) as Er.
    apply filled_nicw with r; auto. apply IH; [auto|]. intros r' Er' Cr' Rr' Ob. apply A; auto.
    eapply t_trans; [exact Ob|now apply carry_needs].
Qed.

(* reads of D have the value of what they read from *)
Definition right rho (D : ev -> Prop) := forall r, D r -> cpu r -> rd r -> exists w, rf T w r /\ filled rho w (rho r).
Lemma right_ext n : forall D : ev -> Prop, (exists l, length l <= n /\ forall a, D a -> In a l) -> (forall a, D a ->
  E T a) ->
  (forall a b, D b -> needs a b -> D a) -> (exists v : value, True) -> exists rho, right rho D.
Proof.
  induction n as [|n IH]; intros D (l & Len & Hl) Sub Down (v0 & _).
  - exists (fun _ => v0). intros r Dr. apply Hl in Dr. destruct l; [destruct Dr|simpl in Len; lia].
  - destruct (classic (exists a, D a)) as [Ex|N]; [|exists (fun _ => v0); intros r Dr; destruct N; eauto].
    destruct (max_elem l D needs) as (m & Dm & Mx); auto.
    { split; [exact Co|]. intros x y z. apply t_trans. }
    destruct (IH (fun a => D a /\ a <> m)) as (rho & Hr).
    + destruct (in_split _ _ (Hl m Dm)) as (l1 & l2 & ->). exists (l1 ++ l2). rewrite app_length in *. simpl in Len.
      split; [lia|]. intros a (Da & Na). apply Hl in Da. apply in_app_or in Da. apply in_or_app.
      destruct Da as [Da|[Da|Da]]; auto. congruence.
    + intros a (Da & _). auto.
    + intros a b (Db & Nb) Ob. split; [eapply Down; eauto|]. intros ->. exact (Mx b Db Ob).
    + now exists v0.
    + destruct (classic (cpu m /\ rd m)) as [(Cm & Rm)|Nm].
      * destruct (t_rf_ex T W m (Sub m Dm) Rm) as (w & R). pose proof (t_rf T W w m R) as (Ew & _ & Ww & _).
        destruct (filled_total rho w Ew (or_introl Ww)) as (v & V).
        set (rho' := fun e => if ev_dec e m then v else rho e).
        assert (forall r, r <> m -> rho r = rho' r) as Same by (intros r N; unfold rho'; destruct (ev_dec r m);
          congruence).
        assert (forall a u, D a -> filled rho a u -> filled rho' a u) as Keep.
        { intros a u Da F. apply (filled_same rho rho' a u F); auto. intros r Er Cr Rr Ob. apply Same. intros ->.
          exact (Mx a Da Ob). }
        exists rho'. intros r Dr Cr Rr. destruct (ev_dec r m) as [->|Nr].
        -- exists w. split; [auto|]. unfold rho' at 2. destruct (ev_dec m m); [|congruence]. apply Keep; [|auto].
           apply (Down w m Dm). now apply rf_needs.
        -- destruct (Hr r (conj Dr Nr) Cr Rr) as (w' & R' & F'). exists w'. split; [auto|]. rewrite <- (Same r Nr).
           apply Keep; [|auto]. apply (Down w' r Dr). now apply rf_needs.
      * exists rho. intros r Dr Cr Rr. apply Hr; auto. split; [auto|]. intros ->. tauto.
Qed.
Theorem values_exist : (exists v : value, True) -> exists rho, right rho (E T).
Proof.
  intros V. destruct (wf_fin _ (t_E T W)) as (l & Hl). apply (right_ext (length l)); auto; [exists l; auto|].
  intros a b _ Ob. exact (needs_in a b Ob).
Qed.
End Filled.

(* Nothing needs itself in a consistent trace. *)
Section Needs.
Context {U : events} (hw : hardware).
Lemma needs_irr {OK : hardware_ok hw} T : wft T -> rdma_consistent hw T -> irreflexive (needs T).
Proof.
  intros W C a H. apply (ib_irreflexive hw T W C a). unfold ib. revert H. generalize a at 2 4. intros b H.
  induction H as [a b [H|(Ea & Eb & P) Ca _|(Ea & Eb & P)]|]; [| | |eapply t_trans; eauto]; apply t_step.
  - now apply ib_rf.
  - apply ib_ippo. split; [auto|split; [auto|split; [auto|]]].
    now rewrite (cpu_all hw (knd a) (knd b) Ca (po_init_r a b P)).
  - apply ib_ippo. split; [auto|split; [auto|]]. now apply (oppo_ippo hw), (carry_oppo hw).
Qed.
End Needs.
