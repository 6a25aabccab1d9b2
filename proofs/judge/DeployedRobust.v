(* Deployed.v where no thread does anything beyond core/Programs.v: it calls the same programs robust as core/Model.v. *)
Require Import List Arith ZArith Bool Lia Classical Relations.
Import ListNotations.
From RR Require Import Model Hardware Rules Traces Programs DeployedPlain DeployedCore DeployedSame DeployedWell.
From RR Require Deployed DeployedTraces DeployedDecides.
Local Arguments Deployed.lab : simpl never.
Local Arguments Deployed.past : simpl never.

(* The decision for such a trace is one of the axioms of core/Model.v. *)
Theorem decides_core hw (T : Deployed.trace) (T' : trace (U := concrete)) :
  (forall t n, n < length (Deployed.sequence (Deployed.run_of T) t) ->
    is_plain (Deployed.lab (Deployed.run_of T) (Deployed.At t n))) ->
  (forall t, ok (length (Deployed.held (Deployed.run_of T))) (path T t)) -> (forall a b, Deployed.rao T a b = false) ->
    corresponds T T' -> wft T' ->
  (DeployedDecides.decide_deployed hw T = true <-> rdma_consistent (hardware_of hw) T') /\
  (DeployedDecides.decide_sequential T = true <-> sc_consistent T').
Proof.
  intros Plain Ok No_rao C W. rewrite DeployedDecides.decide_deployed_spec, DeployedDecides.decide_sequential_spec. split.
  - rewrite (rdma_image hw T Plain (grammar_of T Plain Ok) (fun a b _ _ => No_rao a b) T' C).
    split; [tauto|]. intros H. split; [now apply (ib_irreflexive (hardware_of hw))|exact H].
  - exact (sc_image T Plain T' C).
Qed.

(* Programs *)
Section Programs.
Variables (hw : Deployed.platform) (nt nv : nat) (init : nat -> Z) (prog : nat -> list label -> Prop).
Hypothesis prefix : forall t l h, prog t (l :: h) -> prog t h.
Hypothesis Cells : 0 < nv.
(* the same threads: their sequences are written the other way round there *)
Definition deployed_program : DeployedTraces.program := {|
  DeployedTraces.its_held := map init (seq 0 nv); DeployedTraces.its_posted := fun _ _ => []; DeployedTraces.threads := nt;
  DeployedTraces.makes := fun t s => exists h, prog t h /\ s = map Deployed.Plain (rev h) |}.
Notation P := (the_program nt nv init prog prefix).

Lemma held_nth x : x < nv -> nth x (map init (seq 0 nv)) 0%Z = init x.
Proof.
  intros L. rewrite nth_indep with (d' := init 0) by (rewrite map_length, seq_length; exact L).
  now rewrite map_nth, seq_nth by exact L.
Qed.
(* the history of a thread that does this *)
Lemma hist_of (T : Deployed.trace) (t : nat) (h : list label) : Deployed.sequence (Deployed.run_of T) t = map
  Deployed.Plain (rev h) ->
  path T t = h /\ forall n, n < length (Deployed.sequence (Deployed.run_of T) t) ->
    is_plain (Deployed.lab (Deployed.run_of T) (Deployed.At t n)).
Proof.
  intros Q. assert (length (Deployed.sequence (Deployed.run_of T) t) = length h) as Len by (rewrite Q, map_length;
    apply rev_length).
  assert (forall n, n < length h -> Deployed.lab (Deployed.run_of T) (Deployed.At t n) = Deployed.Plain (nth n (rev h)
    Lmf)) as Lab.
  { intros n L. unfold Deployed.lab. rewrite Q. exact (map_nth Deployed.Plain (rev h) Lmf n). }
  split; [|intros n L; rewrite Len in L; now rewrite (Lab n L)].
  unfold path. rewrite Len. assert (forall n, n <= length h -> hist T t n = rev (firstn n (rev h))) as H.
  { induction n as [|n IH]; intros L; [reflexivity|]. simpl hist. rewrite (IH ltac:(lia)). unfold does.
    rewrite (Lab n) by lia.
    assert (firstn (S n) (rev h) = firstn n (rev h) ++ [nth n (rev h) Lmf]) as ->; [|now rewrite rev_app_distr].
    assert (n < length (rev h)) as L' by (rewrite rev_length; lia). clear -L'. revert n L'.
    induction (rev h) as [|y s IH]; intros n L; simpl in L; [lia|]. destruct n as [|n]; [reflexivity|]. simpl. f_equal.
    apply IH. lia. }
  rewrite (H _ (le_n _)). rewrite <- (rev_length h), firstn_all. apply rev_involutive.
Qed.

(* a trace there, and the one here that it is *)
Lemma trace_here (T : Deployed.trace) : DeployedTraces.trace_of hw deployed_program T -> exists T' : trace (U := concrete),
  (forall t n, n < length (Deployed.sequence (Deployed.run_of T) t) ->
    is_plain (Deployed.lab (Deployed.run_of T) (Deployed.At t n))) /\
  (forall t, ok (length (Deployed.held (Deployed.run_of T))) (path T t)) /\ corresponds T T' /\ trace_of P T' /\
  forall a b, Deployed.is_event (Deployed.run_of T) a = true -> Deployed.is_event (Deployed.run_of T) b = true ->
    Deployed.rao T a b = false.
Proof.
  intros ((Held & _ & Len & Makes) & W & V). cbn in Held, Len, Makes.
  assert (length (Deployed.held (Deployed.run_of T)) = nv) as Nv by (rewrite Held, map_length; apply seq_length).
  assert (forall t, exists h, prog t h /\ path T t = h /\
    forall n, n < length (Deployed.sequence (Deployed.run_of T) t) ->
      is_plain (Deployed.lab (Deployed.run_of T) (Deployed.At t n))) as Hist.
  { intros t. destruct (Makes t) as (h & Ph & Q). destruct (hist_of T t h Q). eauto. }
  assert (forall t n, n < length (Deployed.sequence (Deployed.run_of T) t) ->
    is_plain (Deployed.lab (Deployed.run_of T) (Deployed.At t n))) as Plain.
  { intros t n L. destruct (Hist t) as (_ & _ & _ & H). auto. }
  assert (0 < length (Deployed.held (Deployed.run_of T))) as Cs by (rewrite Nv; exact Cells).
  assert (forall t, ok (length (Deployed.held (Deployed.run_of T))) (path T t)) as Ok.
  { apply (all_possible hw T Plain Cs). unfold DeployedTraces.well_formed in W. rewrite !andb_true_iff in W. tauto. }
  assert (forall a b, Deployed.is_event (Deployed.run_of T) a = true -> Deployed.is_event (Deployed.run_of T) b = true ->
    Deployed.rao T a b = false) as No_rao.
  { intros a b Ea Eb. unfold DeployedTraces.well_formed in W. rewrite !andb_true_iff in W. destruct W as (_ & W).
    apply orders_spec in W as (W & _). destruct (W a b Ea Eb) as (X & _). destruct (Deployed.rao T a b); [|reflexivity].
    rewrite (rao_pair_none T Plain a b Ea Eb) in X. discriminate (X eq_refl). }
  set (lift := fun (r : Deployed.event -> Deployed.event -> bool) (x y : event) => exists a b,
    Deployed.is_event (Deployed.run_of T) a = true /\ Deployed.is_event (Deployed.run_of T) b = true /\
      image T a = x /\ image T b = y /\ r a b = true).
  assert (forall r a b, Deployed.is_event (Deployed.run_of T) a = true -> Deployed.is_event (Deployed.run_of T) b = true ->
    (r a b = true <-> lift r (image T a) (image T b))) as Lift.
  { intros r a b Ea Eb. split; [intros H; exists a, b; auto|]. intros (a' & b' & _ & _ & Qa & Qb & H).
    apply (image_inj T) in Qa, Qb. now subst. }
  set (E' := fun x => inrun nv init (path T) x).
  assert (forall x, E' x <-> exists e, Deployed.is_event (Deployed.run_of T) e = true /\ image T e = x) as EE.
  { intros x. rewrite <- (inrun_image T). unfold E', inrun. destruct x as [c v|t l h]; [|tauto]. rewrite Nv, Held.
    split; intros (L & ->); (split; [exact L|]); now rewrite held_nth. }
  set (T' := {| E := E' : @ev concrete -> Prop; rf := lift (Deployed.rf T); mo := lift (Deployed.mo T);
    nfo := lift (Deployed.nfo T) |}).
  assert (corresponds T T') as C.
  { constructor; auto; try (intros a b Ea Eb; now apply Lift); intros x y (a & b & Ea & Eb & <- & <- & _); split;
    apply EE; eauto. }
  exists T'. split; [exact Plain|split; [exact Ok|split; [exact C|split; [|exact No_rao]]]].
  assert (runs P E') as Rn.
  { exists (path T). split; [split|reflexivity].
    - intros t. rewrite <- Nv. split; [|apply Ok]. destruct (Hist t) as (h & Ph & -> & _). exact Ph.
    - intros t L. unfold path. assert (Deployed.sequence (Deployed.run_of T) t = []) as ->; [|reflexivity].
      unfold Deployed.sequence. now rewrite nth_overflow by lia. }
  assert (wft T') as Wf by (apply (wft_of hw T Plain T' C); [exact (run_wf _ _ _ _ _ Rn)|exact W]).
  split; [exact Rn|split; [exact Wf|]].
  apply (valid_same hw T Plain Cs T' C Ok); [|exact V]. intros w r H. destruct (t_rf _ Wf w r H) as (_ & _ & A & B & _).
  auto.
Qed.

(* and the other way round *)
Lemma sequence_of (h : nat -> list label) t : (forall t, nt <= t -> h t = []) ->
  nth t (map (fun t => map Deployed.Plain (rev (h t))) (seq 0 nt)) [] = map Deployed.Plain (rev (h t)).
Proof.
  intros H. destruct (le_lt_dec nt t) as [L|L].
  - rewrite nth_overflow by (rewrite map_length, seq_length; exact L). now rewrite H.
  - rewrite nth_indep with (d' := (fun t => map Deployed.Plain (rev (h t))) 0) by (rewrite map_length, seq_length; exact L).
    rewrite (map_nth (fun t => map Deployed.Plain (rev (h t)))). now rewrite seq_nth.
Qed.
Lemma trace_there (T' : trace (U := concrete)) : trace_of P T' ->
  exists T : Deployed.trace, DeployedTraces.trace_of hw deployed_program T /\
  (forall t n, n < length (Deployed.sequence (Deployed.run_of T) t) ->
    is_plain (Deployed.lab (Deployed.run_of T) (Deployed.At t n))) /\
  (forall t, ok (length (Deployed.held (Deployed.run_of T))) (path T t)) /\ corresponds T T' /\
    (forall a b, Deployed.rao T a b = false).
Proof.
  intros ((h & (Hok & Hnt) & HE) & Wf & V).
  set (R := {| Deployed.held := map init (seq 0 nv); Deployed.posted := fun _ _ => [];
               Deployed.does := map (fun t => map Deployed.Plain (rev (h t))) (seq 0 nt) |}).
  set (T0 := fun f g k => {| Deployed.run_of := R; Deployed.rf := f; Deployed.mo := g; Deployed.nfo := k;
    Deployed.rao := fun _ _ => false |}).
  set (none := fun _ _ : Deployed.event => false).
  destruct (boolean_on (list_prod (Deployed.events R) (Deployed.events R)) (fun a b => rf T' (image (T0 none none none)
    a) (image (T0 none none none) b))) as (f & Hf).
  destruct (boolean_on (list_prod (Deployed.events R) (Deployed.events R)) (fun a b => mo T' (image (T0 none none none)
    a) (image (T0 none none none) b))) as (g & Hg).
  destruct (boolean_on (list_prod (Deployed.events R) (Deployed.events R)) (fun a b => nfo T' (image (T0 none none none)
    a) (image (T0 none none none) b))) as (k & Hk).
  set (T := T0 f g k). exists T.
  assert (forall t, Deployed.sequence R t = map Deployed.Plain (rev (h t))) as Sq by (intros t; now apply sequence_of).
  assert (length (Deployed.held R) = nv) as Nv by (simpl; rewrite map_length; apply seq_length).
  assert (0 < length (Deployed.held R)) as Cs by (rewrite Nv; exact Cells).
  assert (forall t, path T t = h t) as Path by (intros t; exact (proj1 (hist_of T t (h t) (Sq t)))).
  assert (forall t n, n < length (Deployed.sequence R t) -> is_plain (Deployed.lab R (Deployed.At t n))) as Plain.
  { intros t. exact (proj2 (hist_of T t (h t) (Sq t))). }
  assert (forall t, ok (length (Deployed.held R)) (path T t)) as Ok by (intros t; rewrite Nv, Path; apply Hok).
  assert (forall a b, Deployed.is_event R a = true -> Deployed.is_event R b = true ->
    In (a, b) (list_prod (Deployed.events R) (Deployed.events R))) as Pr.
  { intros a b Ea Eb. apply in_prod; now apply DeployedDecides.is_event_in. }
  assert (corresponds T T') as C.
  { constructor.
    - intros x. rewrite <- (inrun_image T), HE. unfold inrun. destruct x as [c v|t l hh]; [|now rewrite Path].
      change (Deployed.held (Deployed.run_of T)) with (Deployed.held R). rewrite Nv.
      split; intros (L & ->); (split; [exact L|]); simpl; now rewrite held_nth.
    - intros a b Ea Eb. exact (Hf a b (Pr a b Ea Eb)).
    - intros a b Ea Eb. exact (Hg a b (Pr a b Ea Eb)).
    - intros a b Ea Eb. exact (Hk a b (Pr a b Ea Eb)).
    - intros x y H. now destruct (t_rf _ Wf _ _ H) as (A & B & _).
    - intros x y H. now destruct (t_mo _ Wf _ _ H) as (A & B & _).
    - intros x y H. now destruct (t_nfo _ Wf _ _ H) as (A & B & _). }
  split; [|split; [exact Plain|split; [exact Ok|split; [exact C|reflexivity]]]]. split; [|split].
  - split; [reflexivity|split; [reflexivity|split]].
    + simpl. rewrite map_length, seq_length. apply le_n.
    + intros t. exists (h t). split; [apply Hok|apply Sq].
  - exact (well_formed_of hw T Plain Cs T' C Ok (fun _ _ => eq_refl) Wf).
  - apply (valid_same hw T Plain Cs T' C Ok); [|exact V]. intros w r H.
    destruct (t_rf _ Wf w r H) as (_ & _ & A & B & _). auto.
Qed.

(* The same programs are robust. *)
Theorem deployed_robust : DeployedTraces.robust hw deployed_program <-> robust (hardware_of hw) P.
Proof.
  split; intros Rb T V.
  - destruct V as (Tr & Rc & N). destruct (trace_there T Tr) as (D & Td & Plain & Ok & C & No_rao).
    pose proof (grammar_of D Plain Ok) as G. apply (Rb D). split; [exact Td|split].
    + apply (rdma_image hw D Plain G (fun a b _ _ => No_rao a b) T C). split; [|exact Rc].
      apply (ib_irreflexive (hardware_of hw)); [apply Tr|exact Rc].
    + rewrite (sc_image D Plain T C). exact N.
  - destruct V as (Td & Rc & N). destruct (trace_here T Td) as (T' & Plain & Ok & C & Tr & No_rao).
    pose proof (grammar_of T Plain Ok) as G. apply (Rb T'). split; [exact Tr|split].
    + now apply (rdma_image hw T Plain G No_rao T' C) in Rc.
    + rewrite <- (sc_image T Plain T' C). exact N.
Qed.
End Programs.
