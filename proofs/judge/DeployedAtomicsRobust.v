(* Deployed.v without store buffers, messages and locked sections calls the same programs robust as the model of the
   normal form with remote atomics. *)
Require Import List Arith ZArith Bool Lia Classical Relations.
Import ListNotations.
From RR Require Import Sequences Orders RemoteAtomicsModel RemoteAtomicsRules RemoteAtomicsValues RemoteAtomicsTraces
  RemoteAtomicsPrograms DeployedSlots DeployedAtomics DeployedBridge DeployedValues DeployedNormalForm DeployedBack
  DeployedHappening DeployedThere DeployedReal.
From RR Require Programs Deployed DeployedTraces DeployedDecides DeployedWell DeployedRobust.
Local Arguments Deployed.lab : simpl never.

(* two traces with the same events and relations; slots that do not happen do not matter *)
Lemma same_edges {U : slots} ord (T T0 : trace) : (forall a, E T a <-> E T0 a) -> (forall a b, rf T a b <-> rf T0 a b) ->
  (forall a b, mo T a b <-> mo T0 a b) -> (forall a b, nfo T a b <-> nfo T0 a b) -> (forall a b,
  rao T a b <-> rao T0 a b) ->
  (forall a b, ob1 ord T a b -> ob1 ord T0 a b) /\ (forall a b, sc T a b -> sc T0 a b).
Proof.
  intros HE Hrf Hmo Hnfo Hrao.
  assert (forall a b, rb T a b -> rb T0 a b) as Hrb.
  { intros a b (N & u & A & B). split; auto. exists u. split; [now apply Hrf|now apply Hmo]. }
  assert (forall R a b, on T R a b -> on T0 R a b) as Hon.
  { intros R a b (A & B & C). split; [now apply HE|split; [now apply HE|auto]]. }
  assert (forall a b, raoE T a b -> raoE T0 a b) as HraoE.
  { intros a b [A|(A & B & C)]; [left; now apply Hrao|right; split; [auto|split; [now apply HE|now apply Hrao]]]. }
  assert (forall a b, flushed ord T a b -> flushed ord T0 a b) as Hf by (intros a b (A & B); split; auto; now apply Hnfo).
  assert (forall a b, ib1 ord T a b -> ib1 ord T0 a b) as Hib.
  { intros a b [A|A|A|A|A]; [apply ib_ippo|apply ib_pf|apply ib_rf|apply ib_nfo|apply ib_rao];
    first [now apply Hon|now apply Hrf|now apply Hf|now apply HraoE]. }
  split.
  - intros a b [A|A K|A|A|A|A|A|I A];
      [apply ob_oppo|apply ob_pf|apply ob_rf|apply ob_nfo|apply ob_rao|apply ob_rb|apply ob_mo|apply ob_ib];
      try (first [now apply Hon|now apply Hrf|now apply Hf|now apply HraoE|now apply Hrb|now apply Hmo|assumption]).
    clear -A Hib. induction A; [apply t_step; auto|eapply t_trans; eauto].
  - assert (forall a b, scv T a b -> scv T0 a b) as Hv.
    { intros x y (a & b & A & B & C & D). exists a, b. split; auto. split; auto. split; auto.
      destruct C as [C|C|C|C]; [apply sc_po|apply sc_rf|apply sc_rb|apply sc_mo];
      first [now apply Hon|now apply Hrf|now apply Hrb|now apply Hmo]. }
    intros a b A. induction A; [apply t_step; auto|eapply t_trans; eauto].
Qed.
Lemma boolean_set (es : list event) (P : event -> Prop) : exists f : event -> bool, forall e, In e es ->
  (f e = true <-> P e).
Proof.
  induction es as [|x es (f & IH)]; [exists (fun _ => true); intros e []|].
  assert (exists c : bool, c = true <-> P x) as (c & Hc).
  { destruct (classic (P x)); [exists true; tauto|exists false; intuition discriminate]. }
  assert (forall a b : event, {a = b} + {a <> b}) as Dec.
  { repeat decide equality. }
  exists (fun e => if Dec e x then c else f e). intros e H. destruct (Dec e x) as [->|N]; [exact Hc|].
  apply IH. destruct H as [H|H]; [now destruct N|exact H].
Qed.

Section Robust.
Variables (hw : Deployed.platform) (nt nv : nat) (init : nat -> Z) (prog : nat -> list label -> Prop).
Hypothesis prefix : forall t l h, prog t (l :: h) -> prog t h.
Hypothesis Cpus : Deployed.cpus hw = Deployed.Sequential.
(* naR and naW under hca, nA under glob; where a thread has read in an RMW it has the slot of its naW *)
Hypothesis Of : forall t h, prog t h -> forall l, In l h -> of_hardware hw l = true.
Hypothesis Goes_on : forall t q x o h, prog t (Lnar q x o :: h) -> prog t (Lnaw q x :: Lnar q x o :: h).
Notation P := (the_program nt nv init prog prefix).

(* the same threads: their sequences the other way round, where an RMW may write or not *)
Definition deployed_slots : DeployedTraces.program := {|
  DeployedTraces.its_held := map init (seq 0 nv); DeployedTraces.its_posted := fun _ _ => [];
  DeployedTraces.threads := nt;
  DeployedTraces.makes := fun t s => exists f h, prog t h /\ grammar h = true /\ s = happening f t h |}.

(* from there *)
Lemma slots_made (T : Deployed.trace) f t h : Deployed.sequence (Deployed.run_of T) t = happening f t h -> prog t h ->
  grammar h = true -> prog t (all_slots hw T t) /\
  forall n, n < length (Deployed.sequence (Deployed.run_of T) t) ->
    covered_label (Deployed.lab (Deployed.run_of T) (Deployed.At t n)) = true.
Proof.
  intros Sq Ph G. pose proof (Of t h Ph) as O.
  assert (forall l h' e, suf (l :: h') h -> happens_of f t l h' = [e] ->
  slots_to hw T t (Datatypes.S (length (happening f t h'))) =
    filler hw T t (length (happening f t h')) ++ l :: h' /\ (forall r, filler hw T t (length (happening f t h')) = [r] ->
      exists q x o, r = Lnaw q x /\ l = Lnar q x o)) as St.
  { intros l h' e Sf H. destruct (lab_at T f t h Sq l h' e Sf H) as (A & B).
    destruct (happens_cases hw f t l h') as [(Q & _)|(e' & Q & _ & Sl)]; [congruence|]. rewrite H in Q. injection Q as <-.
    assert (slot_of hw e = l) as Se by (apply Sl, O; eapply suf_in; exact Sf). split.
    - change (slots_to hw T t (Datatypes.S (length (happening f t h')))) with
        (filler hw T t (length (happening f t h')) ++ slot_of hw (Deployed.lab (Deployed.run_of T) (Deployed.At t
        (length (happening f t h')))) :: slots_to hw T t (length (happening f t h'))).
      rewrite A, Se. now rewrite (slots_at hw T f t h Sq G O _ l h' e (le_n _) Sf H).
    - intros r Fi. destruct (filler_cases hw T t _ r Fi) as (q & x & o & K & -> & Hc & K' & _). rewrite A in K, K'.
      exists q, x, (same_operation o). split; [reflexivity|]. now rewrite <- Se. }
  assert (forall n r0 k, filler hw T t n = r0 :: k -> k = []) as One.
  { intros n r0 k. unfold filler. destruct (Deployed.lab _ _); try discriminate. destruct (void _ _ _ _); congruence. }
  split.
  - unfold all_slots. rewrite Sq. destruct h as [|l1 h1]; [exact Ph|]. simpl happening. rewrite app_length.
    destruct (happens_cases hw f t l1 h1) as [(Q & (q & x & ->) & _)|(e & Q & _)]; rewrite Q; simpl length.
    + pose proof G as G1. apply grammar_cons in G1 as (G1 & F). destruct h1 as [|l2 h2]; [discriminate F|].
      destruct l2 as [[]|q2 x2 o| |]; try discriminate F. apply andb_prop in F as (Fq & Fx). apply Nat.eqb_eq in Fq,
      Fx. subst q2 x2.
      assert (happens_of f t (Lnar q x o) h2 = [Deployed.Lnar q x (that_operation o)]) as E2 by reflexivity.
      change (length (happening f t (Lnar q x o :: h2))) with
        (length (happening f t h2 ++ [Deployed.Lnar q x (that_operation o)])).
      rewrite app_length. simpl length.
      replace (length (happening f t h2) + 1 + 0) with (Datatypes.S (length (happening f t h2))) by lia.
      destruct (St (Lnar q x o) h2 _ ltac:(now exists [Lnaw q x]) E2) as (-> & Fi).
      destruct (filler hw T t (length (happening f t h2))) as [|r k] eqn:R; [now apply prefix in Ph|].
      rewrite (One _ _ _ R) in *. destruct (Fi r eq_refl) as (q' & x' & o' & -> & Q'). injection Q' as <- <- <-. exact Ph.
    + replace (length (happening f t h1) + 1) with (Datatypes.S (length (happening f t h1))) by lia.
      destruct (St l1 h1 e (suf_refl _) Q) as (-> & Fi).
      destruct (filler hw T t (length (happening f t h1))) as [|r k] eqn:R; [exact Ph|].
      rewrite (One _ _ _ R) in *. destruct (Fi r eq_refl) as (q' & x' & o' & -> & ->). now apply Goes_on.
  - intros n L. rewrite Sq in L. destruct (happening_place hw f t n h L) as (l & h' & e & Sf & H & <-).
    destruct (lab_at T f t h Sq l h' e Sf H) as (-> & _).
    destruct (happens_cases hw f t l h') as [(Q & _)|(e' & Q & C & _)]; rewrite H in Q; [discriminate|].
    now injection Q as <-.
Qed.
Lemma run_same_init (i j : nat -> Z) (E0 : event -> Prop) : (forall x, x < nv -> i x = j x) ->
  is_run nt nv i prog E0 -> is_run nt nv j prog E0.
Proof.
  intros H (p & Hp & HE). exists p. split; [exact Hp|]. intros e. rewrite HE. destruct e as [x v|t l h]; [|tauto]. simpl.
  split; intros (L & ->); (split; [exact L|]); [|symmetry]; now apply H.
Qed.
Theorem violating_here T : DeployedTraces.violating hw deployed_slots T -> violating (order_for hw) P (slot_trace hw T).
Proof.
  intros V. pose proof V as (((Hd & _ & Ln & Mk) & _) & _). cbn in Hd, Ln, Mk.
  assert (covered_run (Deployed.run_of T) /\ forall t, prog t (all_slots hw T t)) as (Cv & M).
  { split.
    - intros t. destruct (Mk t) as (f & h & Ph & G & Sq). exact (proj2 (slots_made T f t h Sq Ph G)).
    - intros t. destruct (Mk t) as (f & h & Ph & G & Sq). exact (proj1 (slots_made T f t h Sq Ph G)). }
  destruct (slots_violating hw deployed_slots T nt prog prefix Cpus Cv V (le_n nt) M) as ((Rn & Tr) & Rest).
  split; [split; [|exact Tr]|exact Rest]. simpl in Rn |- *.
  assert (length (Deployed.held (Deployed.run_of T)) = nv) as Nv by (rewrite Hd, map_length; apply seq_length).
  rewrite Nv in *. revert Rn. apply run_same_init. intros x L. unfold first_value. rewrite Hd.
  now apply DeployedRobust.held_nth.
Qed.

(* and back *)
Theorem violating_there X : violating (order_for hw) P X -> exists T, DeployedTraces.violating hw deployed_slots T.
Proof.
  intros (((path & Path & SX) & Wf & Vl & Rl) & Con & Nsc).
  destruct (wf_fin _ (t_S _ Wf)) as (es & Hes). destruct (boolean_set es (live X)) as (f & Hf).
  assert (forall e, S X e -> (f e = true <-> live X e)) as Fl by (intros e He; apply Hf, Hes, He).
  set (R := run_there nt nv init path f).
  set (T0 := fun r m n o => {| Deployed.run_of := R; Deployed.rf := r; Deployed.mo := m; Deployed.nfo := n;
  Deployed.rao := o |}).
  set (no := fun _ _ : Deployed.event => false). set (pairs := list_prod (Deployed.events R) (Deployed.events R)).
  set (im := DeployedAtomics.image hw (T0 no no no no)).
  set (place := DeployedDecides.index Deployed.same (Deployed.events R)).
  destruct (DeployedWell.boolean_on pairs (fun a b => rf X (im a) (im b))) as (r & Hr).
  destruct (DeployedWell.boolean_on pairs (fun a b => mo X (im a) (im b))) as (m & Hm).
  destruct (DeployedWell.boolean_on pairs (fun a b => nfo X (im a) (im b))) as (n & Hn).
  destruct (DeployedWell.boolean_on pairs (fun a b => if Deployed.ranked hw then rao X (im a) (im b)
    else Deployed.rao_pair R a b = true /\ place a < place b)) as (o & Ho).
  set (T := T0 r m n o).
  assert (forall a, Deployed.is_event R a = true -> DeployedAtomics.image hw T a = im a) as Im.
  { intros [x|t k] Ea; [reflexivity|]. apply (event_at (T0 no no no no)) in Ea.
    destruct (event_stands hw nt nv init prog path f Path (T0 no no no no) eq_refl t k Ea) as (l & h & e & St & ->).
    unfold im. rewrite (proj2 (proj2 (stands_event hw nt nv init prog Of path f Path (T0 no no no no) eq_refl t l h e St))).
    exact (proj2 (proj2 (stands_event hw nt nv init prog Of path f Path T eq_refl t l h e St))). }
  assert (forall a b, Deployed.is_event R a = true -> Deployed.is_event R b = true -> In (a, b) pairs) as Pr.
  { intros a b Ea Eb. apply in_prod; now apply DeployedDecides.is_event_in. }
  assert (forall a b, Deployed.is_event R a = true -> Deployed.is_event R b = true ->
    (Deployed.rf T a b = true <-> rf X (DeployedAtomics.image hw T a) (DeployedAtomics.image hw T b))) as Rrf.
  { intros a b Ea Eb. rewrite !Im by auto. exact (Hr a b (Pr a b Ea Eb)). }
  assert (forall a b, Deployed.is_event R a = true -> Deployed.is_event R b = true ->
    (Deployed.mo T a b = true <-> mo X (DeployedAtomics.image hw T a) (DeployedAtomics.image hw T b))) as Rmo.
  { intros a b Ea Eb. rewrite !Im by auto. exact (Hm a b (Pr a b Ea Eb)). }
  assert (forall a b, Deployed.is_event R a = true -> Deployed.is_event R b = true ->
    (Deployed.nfo T a b = true <-> nfo X (DeployedAtomics.image hw T a) (DeployedAtomics.image hw T b))) as Rnfo.
  { intros a b Ea Eb. rewrite !Im by auto. exact (Hn a b (Pr a b Ea Eb)). }
  assert (forall a b, Deployed.is_event R a = true -> Deployed.is_event R b = true -> (Deployed.rao T a b = true <->
    if Deployed.ranked hw then rao X (DeployedAtomics.image hw T a) (DeployedAtomics.image hw T b)
    else Deployed.rao_pair R a b = true /\ place a < place b)) as Rrao.
  { intros a b Ea Eb. rewrite !Im by auto. exact (Ho a b (Pr a b Ea Eb)). }
  assert (DeployedTraces.well_formed hw T = true) as Fine by
    exact (well_formed_there hw nt nv init prog Of X path f Path SX Fl T eq_refl Wf Rrf Rmo Rnfo Rrao).
  assert (DeployedTraces.valid hw T) as Val by
    exact (valid_there hw nt nv init prog Of X path f Path SX Fl T eq_refl Wf Rrf Rrao Rl Con Vl).
  pose proof (covered_there hw nt nv init prog Of path f Path T eq_refl) as Cov.
  pose proof (possible_there hw nt nv init prog Of path f Path T eq_refl) as Pos.
  pose proof (happens_there hw nt nv init prog Of X path f Path SX Fl T eq_refl) as Ev.
  assert (forall (q : Deployed.event -> Deployed.event -> bool) (Q : relation ev), (forall x y, Q x y -> E X x /\
  E X y) ->
    (forall a b, Deployed.is_event R a = true -> Deployed.is_event R b = true ->
      (q a b = true <-> Q (DeployedAtomics.image hw T a) (DeployedAtomics.image hw T b))) ->
    forall x y, Q x y <-> related hw T q x y) as Same.
  { intros q Q In Iff x y. split.
    - intros H. destruct (In x y H) as (Ex & Ey). apply Ev in Ex, Ey. destruct Ex as (a & Ea & ->), Ey as (b & Eb & ->).
      exists a, b. repeat split; auto. now apply Iff.
    - intros (a & b & Ea & Eb & -> & -> & H). now apply Iff. }
  assert ((forall a, E X a <-> E (slot_trace hw T) a) /\ (forall a b, rf X a b <-> rf (slot_trace hw T) a b) /\
    (forall a b, mo X a b <-> mo (slot_trace hw T) a b) /\ (forall a b, nfo X a b <-> nfo (slot_trace hw T) a b) /\
    (forall a b, rao X a b <-> rao (slot_trace hw T) a b)) as (S1 & S2 & S3 & S4 & S5).
  { split; [|split; [|split; [|split]]].
    - intros a. rewrite Ev. symmetry. apply (E_image hw T Cov Pos).
    - apply Same; auto. intros x y H. destruct (t_rf _ Wf _ _ H) as (A & B & _). auto.
    - apply Same; auto. intros x y H. destruct (t_mo _ Wf _ _ H) as (A & B & _). auto.
    - apply Same; auto. intros x y H. destruct (t_nfo _ Wf _ _ H) as (A & B & _). auto.
    - intros x y. assert (Deployed.ranked hw = true \/ Deployed.ranked hw = false) as [H|H]
      by (destruct (Deployed.ranked hw); auto).
      + rewrite H in Rrao.
        assert (rao X x y <-> related hw T (Deployed.rao T) x y) as ->; [|simpl; rewrite H; tauto]. apply Same; auto.
        intros a b K. destruct (t_rao _ Wf _ _ K) as (A & B & Ka & Kb & _). split; split; auto; intros Q; congruence.
      + split; [|simpl; intros (Q & _); congruence]. intros K. exfalso. destruct (t_rao _ Wf _ _ K) as (A & _ & Ka & _).
        apply SX in A. destruct x as [c v|t l h]; [discriminate Ka|]. apply lknd_plain in Ka as (_ & Ka); [|discriminate].
        pose proof (Of t (path t) (proj1 (proj1 Path t)) l (suf_in l h _ A)) as O. destruct l as [[]| | |];
        try discriminate Ka.
        simpl in O. congruence. }
  assert (wft (slot_trace hw T)) as Wf'.
  { apply (slots_well_formed hw T Cov Pos Fine (length (Deployed.does R)) (fun _ _ => True)); auto. }
  exists T. split; [split; [|split; [exact Fine|exact Val]]|split].
  - split; [reflexivity|split; [reflexivity|split]].
    + simpl. now rewrite map_length, seq_length.
    + intros t. exists f, (path t). split; [apply Path|split; [apply (ok_grammar nv), Path|]].
      exact (sequence_there nt nv init prog path f Path T eq_refl t).
  - apply (consistent_back hw T Cpus Cov Pos); [exact Wf'|]. intros a H. apply (Con a).
    destruct (same_edges (order_for hw) (slot_trace hw T) X) as (K & _); try (intros; symmetry; auto; fail).
    assert (forall y z, ob (order_for hw) (slot_trace hw T) y z -> ob (order_for hw) X y z) as Up.
    { intros y z Q. induction Q; [apply t_step; auto|eapply t_trans; eauto]. }
    now apply Up.
  - apply (not_sequential_back hw T Cov Pos). intros C. apply Nsc. intros a H. apply (C a).
    destruct (same_edges (order_for hw) X (slot_trace hw T)) as (_ & K); auto.
Qed.

(* The same programs are robust. *)
Theorem deployed_robust_atomics : DeployedTraces.robust hw deployed_slots <-> robust (order_for hw) P.
Proof.
  split; intros Rb T V.
  - destruct (violating_there T V) as (D & Vd). exact (Rb D Vd).
  - exact (Rb _ (violating_here T V)).
Qed.
End Robust.

(* The hypotheses are those of programs: the example of the normal form is one. *)
From RR Require RemoteAtomicsExample.
Corollary example_there hw : Deployed.cpus hw = Deployed.Sequential -> Deployed.ranked hw = true ->
  ~ DeployedTraces.robust hw (deployed_slots 2 2 RemoteAtomicsExample.init RemoteAtomicsExample.prog).
Proof.
  intros C H R. apply (RemoteAtomicsExample.example_not_robust_atomics (order_for hw)).
  apply (deployed_robust_atomics hw 2 2 _ _ RemoteAtomicsExample.prog_pre C); [| |exact R].
  - intros t h (k & Q) l I. assert (In l (RemoteAtomicsExample.path t)) as J by (rewrite Q; apply in_or_app; auto).
    destruct t as [|[|t]]; simpl in J; repeat destruct J as [<-|J]; try exact H; try reflexivity; destruct J.
  - intros t q x o h (k & Q). destruct t as [|[|t]]; simpl in Q.
    + destruct k as [|a [|b [|c k]]]; try discriminate Q.
      * inversion Q; subst. now exists [RemoteAtomicsExample.answer].
      * apply (f_equal (@length label)) in Q. simpl in Q. rewrite app_length in Q. simpl in Q. lia.
    + destruct k as [|a k]; [discriminate Q|]. apply (f_equal (@length label)) in Q. simpl in Q.
      rewrite app_length in Q. simpl in Q. lia.
    + destruct k; discriminate Q.
Qed.
