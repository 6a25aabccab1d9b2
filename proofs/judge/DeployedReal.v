(* A trace of slots as a trace of Deployed.v: it is well-formed there, and has its values. *)
Require Import List Arith ZArith Bool Lia Classical Relations.
Import ListNotations.
From RR Require Import Sequences Orders RemoteAtomicsModel RemoteAtomicsRules RemoteAtomicsValues RemoteAtomicsTraces
  RemoteAtomicsPrograms DeployedSlots DeployedAtomics DeployedBridge DeployedValues DeployedHappening DeployedThere.
From RR Require Programs Deployed DeployedTraces DeployedDecides DeployedWell.
Local Arguments Deployed.lab : simpl never.

(* In a consistent trace every write has a value. *)
Lemma has_value {U : slots} ord (X : trace) : wft X -> real X -> rdma_consistent ord X -> forall x, E X x ->
  wr (live X) x ->
  exists v, wval (rf X) x v.
Proof.
  intros Wf Rl Con x Ex Wx. apply NNPP. intros N. destruct (wf_fin _ (t_S _ Wf)) as (es & Hes).
  destruct (max_elem es (fun y => E X y /\ wr (live X) y /\ ~ exists v, wval (rf X) y v) (fun a b => ob ord X b a))
    as (y & (Ey & (Iy & Cy) & Ny) & K).
  - split; [exact Con|]. intros a b c A B. eapply t_trans; eauto.
  - intros a (Ea & _). apply Hes, Ea.
  - exists x. auto.
  - apply Ny. destruct (classic (cond y)) as [C|C]; [apply (Rl y (proj1 Ey) C); auto|].
    destruct (classic (fed y)) as [F|F]; [|exists (cwv y); now apply wv_cpu].
    destruct (src_ok y F) as (P & _). pose proof (src_rd y F) as R.
    assert (S X (src y)) as Ss by (eapply wf_down; [apply t_S, Wf|exact P|apply Ey]).
    assert (E X (src y)) as Es. { split; [exact Ss|]. intros Q. unfold rd in R. rewrite Q in R. destruct R. }
    destruct (t_rf_ex _ Wf _ Es R) as (d & D). destruct (t_rf _ Wf _ _ D) as (Ed & _ & Wd & _).
    assert (ob ord X d y) as O.
    { apply t_trans with (src y); apply t_step; [now apply ob_rf|]. apply ob_oppo. split; [exact Es|split; [exact Ey|]].
      now apply src_oppo. }
    destruct (classic (exists v, wval (rf X) d v)) as [(v & V)|Nd]; [|destruct (K d); auto].
    exists v. now apply wv_copy with d.
Qed.

Section Real.
Variables (hw : Deployed.platform) (nt nv : nat) (init : nat -> Z) (prog : nat -> list label -> Prop).
Hypothesis Of : forall t h, prog t h -> forall l, In l h -> of_hardware hw l = true.
Variables (X : trace) (path : nat -> list label) (f : event -> bool).
Hypothesis Path : pathok nt nv prog path.
Hypothesis SX : forall e, S X e <-> inrun nv init path e.
Hypothesis Fl : forall e, S X e -> (f e = true <-> live X e).
Variable T : Deployed.trace.
Hypothesis RT : Deployed.run_of T = run_there nt nv init path f.
Notation run := (Deployed.run_of T).
Notation hca := (Deployed.ranked hw).
Notation lab t n := (Deployed.lab run (Deployed.At t n)).
Notation many t := (length (Deployed.sequence run t)).
Notation is_event := (Deployed.is_event run).
Notation kin := (Deployed.kin run).
Notation image := (image hw T).
Notation place a := (DeployedDecides.index Deployed.same (Deployed.events run) a).
Hypothesis Wf : wft X.
Hypothesis Rrf : forall a b, is_event a = true -> is_event b = true ->
(Deployed.rf T a b = true <-> rf X (image a) (image b)).
Hypothesis Rmo : forall a b, is_event a = true -> is_event b = true ->
(Deployed.mo T a b = true <-> mo X (image a) (image b)).
Hypothesis Rnfo : forall a b, is_event a = true -> is_event b = true ->
(Deployed.nfo T a b = true <-> nfo X (image a) (image b)).
Hypothesis Rrao : forall a b, is_event a = true -> is_event b = true -> (Deployed.rao T a b = true <->
  if hca then rao X (image a) (image b) else Deployed.rao_pair run a b = true /\ place a < place b).
Let Covered := covered_there hw nt nv init prog Of path f Path T RT.
Let Possible := possible_there hw nt nv init prog Of path f Path T RT.
Let happens := happens_there hw nt nv init prog Of X path f Path SX Fl T RT.

Lemma in_X a : is_event a = true -> E X (image a).
Proof. intros Ea. apply happens. eauto. Qed.
Lemma writes_X a : is_event a = true -> (wr (live X) (image a) <-> Deployed.writes run a = true).
Proof.
  intros Ea. rewrite <- (image_writes hw T Covered Possible a Ea). unfold wr. rewrite (live_image hw T a Ea).
  pose proof (live_there hw nt nv init prog Of X path f Path SX Fl T RT a Ea) as L. split; intros (I0 & C); (split;
  [exact I0|]);
  intros Ca; apply L; auto; now apply C.
Qed.
Lemma mo_pair_X a b : is_event a = true -> is_event b = true -> (Deployed.mo_pair run a b = true <->
  wr (live X) (image a) /\ wr (live X) (image b) /\ loc (image a) = loc (image b)).
Proof.
  intros Ea Eb. rewrite !writes_X by auto. unfold Deployed.mo_pair. rewrite !andb_true_iff. split.
  - intros ((Wa & Wb) & C). repeat split; auto. apply (image_cell hw T Covered); auto.
  - intros (Wa & Wb & C). repeat split; auto. apply (image_cell hw T Covered); auto.
Qed.
Lemma one_way (r r' : bool) : (r = true -> r' = true -> False) -> r = true \/ r' = true -> xorb r r' = true.
Proof. destruct r, r'; simpl; intuition. Qed.
Lemma place_inj a b : is_event a = true -> is_event b = true -> place a = place b -> a = b.
Proof.
  intros Ea Eb Q. apply DeployedDecides.is_event_in in Ea, Eb.
  apply (DeployedDecides.index_in Deployed.same (Deployed.events run) DeployedDecides.same_spec) in Ea, Eb. congruence.
Qed.

Lemma well_formed_there : DeployedTraces.well_formed hw T = true.
Proof.
  unfold DeployedTraces.well_formed. rewrite !andb_true_iff. repeat split.
  - apply DeployedDecides.every_spec. intros [x|t n] Ea; [reflexivity|]. apply Possible. now apply event_at.
  - apply DeployedWell.rf_fine_spec. split.
    + intros r Er Rd. apply (image_reads hw T Covered Possible r Er) in Rd. destruct (t_rf_ex _ Wf _ (in_X r Er) Rd)
      as (x & R).
      pose proof (proj1 (t_rf _ Wf _ _ R)) as Ex. apply happens in Ex. destruct Ex as (w & Ew & ->). exists w.
      split; [exact Ew|split; [now apply Rrf|]]. intros w' Ew' R'. apply Rrf in R'; auto.
      apply (image_inj hw T). exact (t_rf_fun _ Wf _ _ _ R' R).
    + intros w r Ew Er R. apply Rrf in R; auto. destruct (t_rf _ Wf _ _ R) as (_ & _ & Ww & Rr & C).
      apply writes_X in Ww; auto. apply (image_reads hw T Covered Possible r Er) in Rr. split; [exact Ww|split;
      [exact Rr|]].
      apply (image_cell hw T Covered); auto.
  - apply DeployedWell.orders_spec. split.
    + intros a b Ea Eb. split.
      * intros M. apply Rmo in M; auto. apply mo_pair_X; auto. destruct (t_mo _ Wf _ _ M) as (_ & _ & H). exact H.
      * intros Pr. apply mo_pair_X in Pr; auto. destruct Pr as (Wa & Wb & C). destruct (Deployed.same a b) eqn:Q.
        { apply DeployedDecides.same_spec in Q. subst b. destruct (Deployed.mo T a a) eqn:M; auto. apply Rmo in M; auto.
          destruct (t_mo_irr _ Wf _ M). }
        apply one_way.
        -- intros M M'. apply Rmo in M, M'; auto. exact (t_mo_irr _ Wf _ (t_mo_trans _ Wf _ _ _ M M')).
        -- destruct (t_mo_total _ Wf _ _ (in_X a Ea) (in_X b Eb) Wa Wb C) as [K|[K|K]]; [|left; now apply Rmo|right;
         now apply Rmo].
           apply image_inj in K. subst b. now rewrite DeployedDecides.same_refl in Q.
    + intros a b c Ea Eb Ec M M'. apply Rmo in M, M'; auto. apply Rmo; auto. exact (t_mo_trans _ Wf _ _ _ M M').
  - unfold DeployedTraces.initial_first. rewrite DeployedWell.every2. intros a b Ea Eb.
    destruct (Deployed.mo T a b) eqn:M; [|reflexivity]. apply Rmo in M; auto. apply t_mo_init in M; auto.
    destruct b as [x|t n]; [destruct M; reflexivity|reflexivity].
  - unfold DeployedTraces.nfo_fine. rewrite DeployedWell.every2. intros a b Ea Eb.
    destruct (Deployed.nfo_pair run a b) eqn:Pr.
    + apply (image_nfo_pair hw T Covered Possible a b Ea Eb) in Pr. apply one_way.
      * intros M M'. apply Rnfo in M, M'; auto. exact (t_nfo_asym _ Wf _ _ M M').
      * destruct (t_nfo_total _ Wf _ _ (in_X a Ea) (in_X b Eb) Pr); [left|right]; now apply Rnfo.
    + destruct (Deployed.nfo T a b) eqn:M; [|reflexivity]. apply Rnfo in M; auto. destruct (t_nfo _ Wf _ _ M)
      as (_ & _ & H).
      apply (image_nfo_pair hw T Covered Possible a b Ea Eb) in H. congruence.
  - apply DeployedWell.orders_spec. destruct hca eqn:H.
    + split.
      * intros a b Ea Eb. split.
        -- intros M. apply Rrao in M; auto. apply (image_rao_pair hw T Covered Possible a b Ea Eb H).
           destruct (t_rao _ Wf _ _ M) as (_ & _ & K). exact K.
        -- intros Pr. apply (image_rao_pair hw T Covered Possible a b Ea Eb H) in Pr. destruct Pr as (Ka & Kb & C).
           destruct (Deployed.same a b) eqn:Q.
           { apply DeployedDecides.same_spec in Q. subst b. destruct (Deployed.rao T a a) eqn:M; auto. apply Rrao in M;
             auto.
             destruct (t_rao_irr _ Wf _ M). }
           apply one_way.
           ++ intros M M'. apply Rrao in M, M'; auto. exact (t_rao_irr _ Wf _ (t_rao_trans _ Wf _ _ _ M M')).
           ++ destruct (t_rao_total _ Wf _ _ (proj1 (in_X a Ea)) (proj1 (in_X b Eb)) Ka Kb C) as [K|[K|K]];
              [|left; now apply Rrao|right; now apply Rrao].
              apply image_inj in K. subst b. now rewrite DeployedDecides.same_refl in Q.
      * intros a b c Ea Eb Ec M M'. apply Rrao in M, M'; auto. apply Rrao; auto. exact (t_rao_trans _ Wf _ _ _ M M').
    + assert (forall a b, Deployed.rao_pair run a b = true <-> Deployed.is run Deployed.KnaR a = true /\
        Deployed.is run Deployed.KnaR b = true /\ Deployed.same_cell run a b = true) as Rp.
      { intros a b. unfold Deployed.rao_pair. rewrite !andb_true_iff. tauto. }
      assert (forall a b, Deployed.same_cell run a b = Deployed.same_cell run b a) as Sy.
      { intros a b. unfold Deployed.same_cell. destruct (Deployed.accessed _), (Deployed.accessed _); auto.
        apply Nat.eqb_sym. }
      split.
      * intros a b Ea Eb. split; [intros M; now apply Rrao in M|]. intros Pr. destruct (Deployed.same a b) eqn:Q.
        { apply DeployedDecides.same_spec in Q. subst b. destruct (Deployed.rao T a a) eqn:M; auto. apply Rrao in M;
          auto. lia. }
        apply one_way.
        -- intros M M'. apply Rrao in M, M'; auto. lia.
        -- assert (Deployed.rao_pair run b a = true) as Pr' by (apply Rp in Pr; apply Rp; rewrite Sy; tauto).
           destruct (lt_eq_lt_dec (place a) (place b)) as [[L|L]|L]; [left; now apply Rrao| |right; now apply Rrao].
           apply place_inj in L; auto. subst b. now rewrite DeployedDecides.same_refl in Q.
      * intros a b c Ea Eb Ec M M'. apply Rrao in M, M'; auto. apply Rrao; auto. destruct M as (M & L), M' as (M' & L').
        split; [|lia]. apply Rp in M, M'. apply Rp. repeat split; try tauto. destruct M as (_ & _ & C),
        M' as (_ & _ & C').
        unfold Deployed.same_cell in *. destruct (Deployed.accessed (Deployed.lab run a)),
        (Deployed.accessed (Deployed.lab run b)),
          (Deployed.accessed (Deployed.lab run c)); try discriminate. apply Nat.eqb_eq in C, C'. apply Nat.eqb_eq.
          congruence.
Qed.

(* values *)
Hypothesis Rl : real X.
Lemma value_there x v : wval (rf X) x v -> forall d, is_event d = true -> x = image d -> DeployedTraces.written T d v.
Proof.
  intros V. induction V as [x Ix Nf Nc|x y v Fx Nc R V IH|x y v u Cx R V IH A]; intros d Ed ->.
  - destruct (image_source hw T Covered Possible d Ed) as (Sr & _).
    assert (Deployed.source run d = None) as Q.
    { destruct (Deployed.source run d) as [r|] eqn:Q; [|reflexivity]. exfalso. apply Nf. unfold fed. rewrite Sr.
      intros I0.
      apply image_inj in I0. subst r. destruct (image_source hw T Covered Possible d Ed) as (_ & So).
      destruct (So d Q) as (_ & P). apply po_places in P as (t & n & m & -> & I0 & L). inversion I0. lia. }
    apply DeployedTraces.written_said. unfold cond in Nc. rewrite (image_kind hw T Covered Possible d Ed) in Ix, Nc.
    destruct d as [x|t n]; [reflexivity|]. pose proof Ed as L. apply event_at in L. pose proof (Covered t n L) as C.
    pose proof (possible_cases hw T Possible t n L) as (F & _). unfold Deployed.source in Q. unfold Deployed.kin in Ix,
    Nc.
    unfold DeployedTraces.says.
    change (cwv (image (Deployed.At t n))) with (ewv (Ev t (slot_of hw (lab t n)) (slots_to hw T t n))).
    destruct (lab t n) as [[]|?|? ? ?|? ?|? ? ?|? ? ?|? ? ? ? ?|? ? ? ?|? ?|? ?]; try discriminate C; try (destruct Ix;
    fail);
      try reflexivity; try (destruct Nc; exact I).
    + destruct n; [discriminate F|discriminate Q].
    + destruct n as [|n]; [discriminate F|]. destruct (lab t n); try discriminate Q. destruct n; discriminate Q.
    + simpl in Ix, Nc. destruct hca; [destruct Ix|destruct Nc; exact I].
  - destruct (image_source hw T Covered Possible d Ed) as (Sr & So). destruct (Deployed.source run d) as [r|] eqn:Q;
    [|destruct (Fx Sr)].
    destruct (So r eq_refl) as (Er & _). rewrite Sr in R. pose proof (proj1 (t_rf _ Wf _ _ R)) as Ey. apply happens in Ey.
    destruct Ey as (c & Ec & ->). apply (DeployedTraces.written_copied T d r c v); auto; [|now apply Rrf].
    unfold DeployedTraces.copies. unfold cond in Nc. rewrite (image_kind hw T Covered Possible d Ed) in Nc.
    destruct d as [x|t n]; [discriminate Q|]. unfold Deployed.kin in Nc.
    destruct (lab t n); auto. destruct Nc. exact I.
  - destruct (image_source hw T Covered Possible d Ed) as (Sr & So).
    assert (acts (kin d) = true) as Ac.
    { apply (live_there hw nt nv init prog Of X path f Path SX Fl T RT d Ed Cx). apply (Rl _ (proj1 (in_X d Ed)) Cx).
      exists u. now apply wv_rmw with y v. }
    assert (exists r o, DeployedTraces.swaps T d = Some (r, o) /\ is_event r = true /\ src (image d) = image r /\
      awv (image r) = result (same_operation o)) as (r & o & Sw & Er & Q & Aw).
    { destruct d as [x|t n]; [discriminate Ac|]. pose proof Ed as L. apply event_at in L. pose proof (Covered t n L) as C.
      pose proof (possible_cases hw T Possible t n L) as (F & _). unfold DeployedTraces.swaps. unfold Deployed.kin in Ac.
      destruct (lab t n) as [[]|?|? ? ?|q x|q x o|? ? ?|? ? ? ? ?|? ? ? ?|? ?|? ?] eqn:K; try discriminate C;
      try discriminate Ac.
      - destruct n as [|n]; [rewrite ?K in F; discriminate F|].
        assert (Deployed.source run (Deployed.At t (Datatypes.S n)) = Some (Deployed.At t n)) as Q by
          (unfold Deployed.source; now rewrite K).
        rewrite Q in Sr, So |- *. rewrite ?K in F.
        destruct (lab t n) as [[]|?|q2 x2 o2|? ?|? ? ?|? ? ?|? ? ? ? ?|? ? ? ?|? ?|? ?] eqn:K2; try discriminate F.
        exists (Deployed.At t n), o2. destruct (So _ eq_refl) as (Er & _).
        split; [auto|split; [exact Er|split; [exact Sr|]]]. apply (image_rmw hw T t n q2 x2). auto.
      - exists (Deployed.At t n), o. split; [auto|split; [exact Ed|]].
        assert (Deployed.source run (Deployed.At t n) = None) as Q by (unfold Deployed.source; rewrite K; now destruct n).
        rewrite Q in Sr. split; [exact Sr|]. apply (image_rmw hw T t n q x). auto. }
    rewrite Q in R, A. pose proof (proj1 (t_rf _ Wf _ _ R)) as Ey. apply happens in Ey. destruct Ey as (c & Ec & ->).
    apply (DeployedTraces.written_swapped T d r o c v u); auto; [now apply Rrf|]. rewrite <- same_result, <- Aw. exact A.
Qed.

Hypothesis Con : rdma_consistent (order_for hw) X.
Hypothesis Vl : valid X.
Lemma read_there a : is_event a = true -> rd (image a) -> exists d v, is_event d = true /\ rf X (image d) (image a) /\
  wval (rf X) (image d) v /\ DeployedTraces.reads_value T a v.
Proof.
  intros Ea Ra. destruct (t_rf_ex _ Wf _ (in_X a Ea) Ra) as (x & R). destruct (t_rf _ Wf _ _ R) as (Ex & _ & Wx & _).
  destruct (has_value (order_for hw) X Wf Rl Con x Ex Wx) as (v & V). apply happens in Ex. destruct Ex as (d & Ed & ->).
  exists d, v. split; [exact Ed|split; [exact R|split; [exact V|]]]. exists d. split; [exact Ed|split; [now apply Rrf|]].
  now apply (value_there (image d)).
Qed.
(* an RMW of two slots *)
Lemma nar_there t n q x o v : n < many t -> lab t n = Deployed.Lnar q x o -> hca = true ->
  (exists d, is_event d = true /\ rf X (image d) (image (Deployed.At t n)) /\ wval (rf X) (image d) v) ->
  awv (image (Deployed.At t n)) = result (same_operation o) ->
  match Deployed.result o v with None => DeployedTraces.has_write T (Deployed.At t n) = false
  | Some _ => hca = true /\
    (DeployedTraces.has_write T (Deployed.At t n) = true \/ DeployedTraces.unfinished T (Deployed.At t n) = true)
  end.
Proof.
  intros L K H (d & Ed & R & V) Aw.
  assert (is_event (Deployed.At t n) = true) as Ee by now apply event_at.
  destruct (event_stands hw nt nv init prog path f Path T RT t n L) as (l & h & e & St & Qn).
  destruct (stands_event hw nt nv init prog Of path f Path T RT t l h e St) as (_ & A & Im). rewrite <- Qn in A, Im.
  rewrite K in A. subst e. pose proof St as (Sf & Hp).
  destruct (path_good hw nt nv prog Of path Path t) as (G & O & _).
  assert (l = Lnar q x (same_operation o)) as El.
  { change (Ev t (slot_of hw (lab t n)) (slots_to hw T t n) = Ev t l h) in Im. rewrite K in Im. simpl in Im.
    rewrite H in Im. congruence. }
  assert (forall w, S X w -> knd w = NAW -> src w = image (Deployed.At t n) -> w = Ev t (Lnaw q x) (l :: h) /\
          suf (Lnaw q x :: l :: h) (path t)) as Its.
  { intros w Sw Kw Sr. destruct (naw_parts w Kw) as (t' & q' & x' & o' & h' & Qw & Qs & _).
    assert (Ev t' (Lnar q' x' o') h' = Ev t l h) as Q by (rewrite <- Im, <- Sr; now symmetry). injection Q as -> El' ->.
    rewrite El in El'. injection El' as -> -> ->. rewrite Qw, El. split; [reflexivity|]. apply SX in Sw.
    rewrite Qw in Sw. exact Sw. }
  (* if its naW happens, that is the next event *)
  assert (DeployedTraces.has_write T (Deployed.At t n) = true <->
          suf (Lnaw q x :: l :: h) (path t) /\ f (Ev t (Lnaw q x) (l :: h)) = true) as Hw.
  { unfold DeployedTraces.has_write, Deployed.after.
    assert (length (happening f t (l :: h)) = Datatypes.S n) as Len.
    { change (length (happening f t h ++ happens_of f t l h) = Datatypes.S n). rewrite Hp, app_length. simpl. lia. }
    split.
    - destruct (nth_error _ _) as [e2|] eqn:Nx; [|discriminate]. intros Ew.
      assert (Datatypes.S n < many t) as L' by (apply nth_error_Some; congruence).
      assert (lab t (Datatypes.S n) = e2) as Ke by (unfold Deployed.lab; now apply nth_error_nth).
      destruct (event_stands hw nt nv init prog path f Path T RT t _ L') as (l2 & h2 & e3 & St2 & Qn2).
      destruct (stands_event hw nt nv init prog Of path f Path T RT t l2 h2 e3 St2) as (_ & A2 & _). rewrite <- Qn2,
      Ke in A2. subst e3.
      destruct St2 as (Sf2 & Hp2). destruct e2 as [?|?|? ? ?|q2 x2|? ? ?|? ? ?|? ? ? ? ?|? ? ? ?|? ?|? ?];
      try discriminate Ew.
      assert (l2 = Lnaw q2 x2 /\ f (Ev t l2 h2) = true) as (-> & F2).
      { destruct l2 as [p|? ? ?|? ?|? ? ?]; simpl in Hp2; try discriminate Hp2; destruct (f _) eqn:F;
        try discriminate Hp2.
        injection Hp2 as -> ->. auto. }
      pose proof (grammar_suf _ _ Sf2 G) as G2. apply grammar_cons in G2 as (_ & F). destruct h2 as [|l3 h3];
      [discriminate F|].
      destruct l3 as [[]|q3 x3 o3| |]; try discriminate F. apply andb_prop in F as (Fq & Fx). apply Nat.eqb_eq in Fq,
      Fx. subst q3 x3.
      assert (Lnar q2 x2 o3 :: h3 = l :: h) as Q.
      { apply (happening_one f t _ _ (Deployed.Lnar q2 x2 (that_operation o3)) _ _ (Deployed.Lnar q x o) (path t));
        [now apply suf_cons in Sf2|exact Sf|reflexivity|exact Hp|].
        change (Datatypes.S n = length (happening f t h3 ++ [Deployed.Lnar q2 x2 (that_operation o3)])) in Qn2.
        rewrite app_length in Qn2. simpl in Qn2. lia. }
      rewrite Q in *. rewrite El in Q. injection Q as -> -> _ _. auto.
    - intros (S2 & F2). assert (stands path f t (Lnaw q x) (l :: h) (Deployed.Lnaw q x)) as St2.
      { split; [exact S2|]. simpl. now rewrite F2. }
      destruct (stands_event hw nt nv init prog Of path f Path T RT t _ _ _ St2) as (L2 & A2 & _). rewrite Len in L2, A2.
      rewrite (nth_error_nth' _ (Deployed.Plain Programs.Lmf) L2). unfold Deployed.lab in A2. now rewrite A2. }
  (* and what it writes is what it makes of what it has read *)
  assert (suf (Lnaw q x :: l :: h) (path t) -> (f (Ev t (Lnaw q x) (l :: h)) = true <-> exists u,
  Deployed.result o v = Some u)) as Wr.
  { intros S2. set (w := Ev t (Lnaw q x) (l :: h)). assert (S X w) as Sw by now apply SX.
    destruct (good_kind t _ _ (grammar_suf _ _ S2 G)) as (Kw & Sr).
    assert (knd (w : ev) = NAW) as Kw' by exact Kw. assert (src (w : ev) = image (Deployed.At t n)) as Sr'.
    { rewrite Im. transitivity (source w); [exact Sr|reflexivity]. }
    assert (cond w) as Cw by (unfold cond; now rewrite Kw').
    rewrite (Fl w Sw), (Rl w Sw Cw). rewrite <- (same_result o v). split.
    - intros (u & W). destruct (@wval_cond concrete_slots w Cw _ _ W) as (d' & v' & R' & V' & A'). rewrite Sr' in R', A'.
      rewrite (t_rf_fun _ Wf _ _ _ R' R) in V'.
      rewrite (wval_fun (rf X) (fun a b c => t_rf_fun _ Wf a b c) _ _ V' _ V) in A'. rewrite Aw in A'. eauto.
    - intros (u & Q). exists u. apply wv_rmw with (image d) v; auto; rewrite Sr'; auto. now rewrite Aw. }
  destruct (Deployed.result o v) as [u|] eqn:Q.
  - split; [exact H|]. destruct (classic (suf (Lnaw q x :: l :: h) (path t))) as [S2|N2].
    + left. apply Hw. split; [exact S2|]. apply Wr; eauto.
    + right. unfold DeployedTraces.unfinished, Deployed.after. destruct (nth_error _ _) as [e2|] eqn:Nx.
      * exfalso. apply N2. destruct (next _ _ _ Sf) as [E0|(l2 & S2)].
        -- assert (Datatypes.S n < many t) as L' by (apply nth_error_Some; congruence).
           rewrite (sequence_there nt nv init prog path f Path T RT), <- E0 in L'.
           change (Datatypes.S n < length (happening f t h ++ happens_of f t l h)) in L'. rewrite Hp, app_length in L'.
           simpl in L'. lia.
        -- pose proof (grammar_suf _ _ S2 G) as G2. apply grammar_cons in G2 as (_ & F). rewrite El in F.
           destruct l2 as [[]| |q2 x2|]; try discriminate F. apply andb_prop in F as (Fq & Fx). apply Nat.eqb_eq in Fq,
           Fx. now subst.
      * apply negb_true_iff. destruct (Deployed.some run _) eqn:Sm; [exfalso|reflexivity].
        apply DeployedDecides.some_spec in Sm.
        destruct Sm as (b & Eb & M). apply Rrao in M; auto. rewrite H in M. destruct (t_rao_naw _ Wf _ _ M)
        as (w & Sw & Kw & Sr).
        now destruct (Its w Sw Kw Sr).
  - destruct (DeployedTraces.has_write T (Deployed.At t n)) eqn:Q2; [|reflexivity]. exfalso.
    destruct (proj1 Hw eq_refl) as (S2 & F2).
    apply (Wr S2) in F2. destruct F2 as (u & F2). discriminate F2.
Qed.
Theorem valid_there : DeployedTraces.valid hw T.
Proof.
  intros e Ee. destruct e as [x|t n]; [exact I|]. pose proof Ee as L. apply event_at in L.
  pose proof (Covered t n L) as C.
  pose proof (image_kind hw T Covered Possible _ Ee) as Ke. unfold Deployed.kin in Ke.
  pose proof (live_there hw nt nv init prog Of X path f Path SX Fl T RT _ Ee) as Lv. unfold Deployed.kin in Lv.
  assert (forall v, is_cpu (knd (image (Deployed.At t n))) -> is_r (knd (image (Deployed.At t n))) ->
    crv (image (Deployed.At t n)) = v -> DeployedTraces.reads_value T (Deployed.At t n) v) as Cpu.
  { intros v Cp Rd <-. destruct (Vl _ (in_X _ Ee) Cp Rd) as (y & R & V). pose proof (proj1 (t_rf _ Wf _ _ R)) as Ey.
    apply happens in Ey. destruct Ey as (d & Ed & ->). exists d. split; [exact Ed|split; [now apply Rrf|]].
    now apply (value_there (image d)). }
  change (crv (image (Deployed.At t n))) with (erv (Ev t (slot_of hw (lab t n)) (slots_to hw T t n))) in Cpu.
  unfold DeployedTraces.fits.
  destruct (lab t n) as [[]|?|q x o|q x|q x o|? ? ?|? ? ? ? ?|? ? ? ?|? ?|? ?] eqn:K; try discriminate C; try exact I;
    try (apply Cpu; [rewrite Ke; exact I|rewrite Ke; exact I|reflexivity]).
  - (* naR *)
    assert (rd (image (Deployed.At t n))) as Rd by (unfold rd; rewrite Ke; simpl; destruct hca; exact I).
    destruct (read_there _ Ee Rd) as (d & v & Ed & R & V & Rv). exists v. split; [exact Rv|].
    assert (awv (image (Deployed.At t n)) = result (same_operation o)) as Aw by (apply (image_rmw hw T t n q x); auto).
    assert (DeployedTraces.has_write T (Deployed.At t n) = true -> exists q' x', Datatypes.S n < many t /\
      lab t (Datatypes.S n) = Deployed.Lnaw q' x') as Hw.
    { unfold DeployedTraces.has_write, Deployed.after. destruct (nth_error _ _) as [l|] eqn:Nx; [|discriminate].
      assert (Datatypes.S n < many t) as L' by (apply nth_error_Some; congruence).
      assert (lab t (Datatypes.S n) = l) as Kl by (unfold Deployed.lab; now apply nth_error_nth).
      destruct l; try discriminate. eauto. }
    assert (hca = true \/ hca = false) as [H|H] by (destruct hca; auto).
    + exact (nar_there t n q x o v L K H (ex_intro _ d (conj Ed (conj R V))) Aw).
    + assert (cond (image (Deployed.At t n))) as Cd by (unfold cond; rewrite Ke; simpl; rewrite H; exact I).
      assert (src (image (Deployed.At t n)) = image (Deployed.At t n)) as Sr by (apply src_na; rewrite Ke; simpl;
      now rewrite H).
      destruct (Deployed.result o v) as [u|] eqn:Q.
      * exfalso. assert (acts Deployed.KnaR = true) as X0; [|discriminate X0]. apply (Lv Cd).
        apply (Rl _ (proj1 (in_X _ Ee)) Cd).
        exists u. apply wv_rmw with (image d) v; auto; rewrite Sr; auto. rewrite Aw, same_result. exact Q.
      * destruct (DeployedTraces.has_write T (Deployed.At t n)); [|reflexivity]. destruct (Hw eq_refl)
        as (q' & x' & L' & K').
        destruct (proj1 (proj2 (proj2 (proj2 (possible_cases hw T Possible t _ L')))) q' x' H K').
  - (* nA *)
    assert (rd (image (Deployed.At t n))) as Rd by (unfold rd; rewrite Ke; exact I).
    assert (cond (image (Deployed.At t n))) as Cd by (unfold cond; rewrite Ke; exact I).
    destruct (proj1 (Rl _ (proj1 (in_X _ Ee)) Cd) (proj2 (Lv Cd) eq_refl)) as (u & W).
    destruct (wval_cond _ Cd _ _ W) as (d & v & R & V & A).
    assert (src (image (Deployed.At t n)) = image (Deployed.At t n)) as Sr by (apply src_na; now rewrite Ke).
    rewrite Sr in R, A. pose proof (proj1 (t_rf _ Wf _ _ R)) as Ey. apply happens in Ey. destruct Ey as (c & Ec & ->).
    exists v. split; [exists c; split; [exact Ec|split; [now apply Rrf|now apply (value_there (image c))]]|].
    rewrite (image_rmw hw T t n q x o) in A by auto. rewrite same_result in A. congruence.
Qed.
End Real.
