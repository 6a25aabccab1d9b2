(* Theorem 9 along the paths of a thread: what is in A or is the pivot behind an event b of B is among what
   reductions/relaxation.py lists (Relaxation.overtaking), where b is no store that waits in a buffer
   (StoreFilter.v): then only b's own queue pair matters, of others no event is ever taken to be in B.  The analysis is written over anything that has a kind and a queue pair:
   events here, arcs of flow graphs in Overtaking.v.
   A difference to the code: it lists no polls of b's queue pair; they are no accesses, so nothing asks. *)
Require Import List Arith Bool Lia Classical Relations Sorted.
Import ListNotations.
From RR Require Import Model Hardware Orders Cells Stores Rules Traces Parts Lemma6 CpuSc Search Marks Along Counted
  Counters Least.

Section Analysis.
Context {U : events} {K : searchable} (hw : hardware).
Context {A : Type} (kind_of : A -> kind) (qp_of : A -> qpair).

(* After how many polls one takes a completion, or a younger one: _UNBOUNDED is None *)
Definition bound := option nat.
(* _After: types of b's queue pair that are in beta since b, whether an nF overtook an nlW, after how many polls one is in
   beta (None: nothing is known) *)
Record known := Known { kbeta : kind -> bool; kfenced : bool; kpolls : option bound }.
Variable q : qpair.
(* _outstanding; 0: no run comes there *)
Variable outstanding : A -> bound.

Definition isk k y := if kind_dec (kind_of y) k then true else false.
Definition cpu_kind y := match kind_of y with LR | LW | CAS | Poll | Fence => true | _ => false end.
Definition mine y := if qp_dec (qp_of y) q then true else false.
(* Relaxation._forced *)
Definition forced_by_known k y := negb (cpu_kind y) && mine y &&
  (existsb (fun a => kbeta k a && match table hw a (kind_of y) with Qp => true | _ => false end)
    kinds || (flush hw && isk NLR y && kfenced k)).
(* Relaxation._forces_poll *)
Definition completes_forcing k y :=
  isk NLW y || (isk NRW y && existsb (fun a => kbeta k a && negb (write_kind a) && issued hw a NRW) kinds).
(* Relaxation._after_nic; None: no run comes there *)
Definition after_nic k y : option known :=
  let beta := fun a => kbeta k a || isk a y in
  match kpolls k with
  | Some u => Some (Known beta (kfenced k) (Some u))
  | None => if completes_forcing k y then match outstanding y with Some 0 => None
      | u => Some (Known beta (kfenced k) (Some u)) end
    else Some (Known beta (kfenced k) None)
  end.
(* Relaxation._after_poll; None: nothing behind can be in alpha *)
Definition after_poll k : option known :=
  match kpolls k with
  | Some (Some n) => if n <=? 1 then None else Some (Known (kbeta k) (kfenced k) (Some (Some (pred n))))
  | _ => Some k
  end.
(* Relaxation._step *)
Definition walked k y : option known :=
  if isk Poll y then if mine y then after_poll k else Some k
  else if forced_by_known k y then after_nic k y
  else Some (Known (kbeta k) (kfenced k || (isk NF y && mine y && kbeta k NLW)) (kpolls k)).
Fixpoint walk k path := match path with [] => Some k | y :: path => match walked k y with Some k' => walk k' path
  | None => None end end.
Definition first b := after_nic (Known (fun _ => false) false None) b.
(* x is listed behind b and the events [path] between them *)
Definition listed b path x := cpu_kind b = false /\ exists k0 k, first b = Some k0 /\ walk k0 path = Some k /\
  forced_by_known k x = false.
End Analysis.

Section Filter.
Context {U : events} {K : searchable} (hw : hardware) {OK : hardware_ok hw} {SO : search_ok hw}.
Variables (q : qpair) (outstanding : ev -> bound).
Notation mine := (mine qp q).
Notation forced_by_known := (forced_by_known hw knd qp q).
Notation completes_forcing := (completes_forcing hw knd).
Notation after_nic := (after_nic hw knd outstanding).
Notation walked := (walked hw knd qp q outstanding).
Notation walk := (walk hw knd qp q outstanding).
Notation first := (first hw knd outstanding).
Notation listed := (listed hw knd qp q outstanding).

Variables (E B : ev -> Prop).
Hypotheses (W : wfE E) (X : wfx E) (BE : forall b, B b -> E b /\ noninit b).
Hypotheses (H1 : R1 hw E B) (H2 : R2 hw E B) (H3 : R3 hw E B).

(* the completions of the queue pair that nobody has polled when w completes, without w itself *)
Definition pending w a := E a /\ sgn a = true /\ qp a = qp w /\ po a w /\ forall p, po p w -> ~ pf a p.
Hypothesis Hout : forall w n, E w -> noninit w -> ~ cpu w -> qp w = q -> outstanding w = Some n ->
  exists u, u < n /\ counted u (pending w).

Lemma isk_iff k y : isk knd k y = true <-> knd y = k.
Proof. exact (is_iff k y). Qed.
Lemma cpu_kind_not y : cpu_kind knd y = false <-> ~ cpu y.
Proof. exact (cpu_not y). Qed.
Lemma mine_iff y : mine y = true <-> qp y = q.
Proof. unfold Filter.mine. destruct (qp_dec (qp y) q); intuition congruence. Qed.

(* what is known is so; [done] are the events from b on *)
Record sound (done : list ev) (k : known) : Prop := {
  so_beta : forall a, kbeta k a = true -> exists y, In y done /\ B y /\ ~ cpu y /\ qp y = q /\ knd y = a;
  so_fenced : kfenced k = true -> exists w f, In w done /\ In f done /\ B w /\ po w f /\ knd w = NLW /\ knd f = NF /\
    qp w = q /\ qp f = q;
  so_polls : forall n, kpolls k = Some (Some n) -> exists w ps u, In w done /\ forcing hw E B w /\ qp w = q /\
    counted u (pending w) /\
    NoDup ps /\ u < n + length ps /\ forall p, In p ps -> In p done /\ knd p = Poll /\ qp p = q /\ po w p;
}.
(* done is in program order before y *)
Definition before done y := E y /\ noninit y /\ forall z, In z done -> E z /\ po z y.

Lemma forced_B done k y : sound done k -> before done y -> forced_by_known k y = true -> B y /\ ~ cpu y /\ qp y = q.
Proof.
  intros S (Ey & Ny & Hz) Fo. unfold Filter.forced_by_known in Fo. rewrite !andb_true_iff, orb_true_iff in Fo.
  destruct Fo as ((C & Q) & Fo).
  apply mine_iff in Q. assert (~ cpu y) as Cy by (apply cpu_kind_not; now destruct (cpu_kind knd y)). split; [|auto].
  destruct Fo as [Fo|Fo].
  - apply existsb_exists in Fo. destruct Fo as (a & _ & Fo). apply andb_true_iff in Fo. destruct Fo as (Ka & Ta).
    destruct (so_beta _ _ S a Ka) as (b & Hb & Bb & Cb & Qb & Kb). apply (H1 y b); auto; [now apply BE|].
    split; [now apply Hz|]. split; [apply (not_overtaken hw); intros Sb; now apply Cb, (store_cpu hw)|]. rewrite Kb.
    destruct (table hw a (knd y)); try discriminate. congruence.
  - rewrite !andb_true_iff, isk_iff in Fo. destruct Fo as ((Fl & Kr) & Kf).
    destruct (so_fenced _ _ S Kf) as (w & f & Hw & Hf & Bw & Po & Kw & Kf' & Qw & Qf).
    destruct (Hz f Hf) as (Ef & Pf). destruct (classic (B f)) as [Bf|NBf].
    + apply (H1 y f); auto. apply (seen_oppo hw); auto; [congruence|apply no_store; congruence|].
      rewrite Kf', Kr. now apply (fence_use hw Fl).
    + apply (H3 Fl w f y); auto; try congruence. now apply Hz.
Qed.
Lemma forces_forcing_known done k y : sound done k -> before done y -> B y -> completes_forcing k y = true ->
  qp y = q -> forcing hw E B y.
Proof.
  intros S (Ey & Ny & Hz) By Fo Q. unfold Filter.completes_forcing in Fo. rewrite orb_true_iff, andb_true_iff, !isk_iff
    in Fo.
  split; [auto|split; [auto|]]. destruct Fo as [Ky|(Ky & Fo)]; [auto|right]. split; auto.
  apply existsb_exists in Fo. destruct Fo as (a & _ & Fo). rewrite !andb_true_iff, negb_true_iff in Fo.
  destruct Fo as ((Ka & Na) & Ia).
  destruct (so_beta _ _ S a Ka) as (b & Hb & Bb & Cb & Qb & Kb). destruct (Hz b Hb) as (Eb & Pb). exists b.
  assert (nic_inst a = true) as Ni.
  { pose proof (po_init_l _ _ Pb) as Nb. unfold cpu in Cb. rewrite <- Kb in *.
    destruct (knd b); simpl in *; auto; try congruence; tauto. }
  rewrite Kb. repeat split; auto. right. split; [|congruence]. exact (forcing_only_use hw a Ni Ia).
Qed.
(* what is known stays so *)
Lemma sound_more done k y : sound done k -> sound (done ++ [y]) k.
Proof.
  intros S. constructor.
  - intros a H. destruct (so_beta _ _ S a H) as (z & Hz & Z). exists z. rewrite in_app_iff. tauto.
  - intros H. destruct (so_fenced _ _ S H) as (w & f & Hw & Hf & Z). exists w, f. rewrite !in_app_iff. tauto.
  - intros n H. destruct (so_polls _ _ S n H) as (w & ps & u & Hw & Fw & Qw & Cu & Np & Lu & Hp). exists w, ps, u.
    rewrite in_app_iff. split; [auto|split; [auto|split; [auto|split; [auto|split; [auto|split; [auto|]]]]]].
    intros p Hi. rewrite in_app_iff. destruct (Hp p Hi). auto.
Qed.
Lemma sound_beta done k y : sound done k -> B y -> ~ cpu y -> qp y = q -> forall a, kbeta k a || isk knd a y = true ->
  exists z, In z (done ++ [y]) /\ B z /\ ~ cpu z /\ qp z = q /\ knd z = a.
Proof.
  intros S By Cy Q a H. apply orb_true_iff in H. destruct H as [H|H].
  - destruct (so_beta _ _ S a H) as (z & Hz & Z). exists z. rewrite in_app_iff. tauto.
  - apply isk_iff in H. exists y. rewrite in_app_iff. simpl. tauto.
Qed.
Lemma sound_nic done k y : sound done k -> before done y -> B y -> ~ cpu y -> qp y = q ->
  exists k', after_nic k y = Some k' /\ sound (done ++ [y]) k'.
Proof.
  intros S Hy By Cy Q. pose proof (sound_more _ _ y S) as S'. pose proof (sound_beta _ _ _ S By Cy Q) as Hb.
  unfold Filter.after_nic. destruct (kpolls k) as [u|] eqn:Kp.
  { eexists. split; [reflexivity|]. constructor; simpl; [exact Hb|apply S'|]. intros n H. apply S'. congruence. }
  destruct (completes_forcing k y) eqn:Cf.
  2: { eexists. split; [reflexivity|]. constructor; simpl; [exact Hb|apply S'|discriminate]. }
  assert (forcing hw E B y) as Fy by exact (forces_forcing_known _ _ _ S Hy By Cf Q).
  destruct (outstanding y) as [n|] eqn:Ho.
  2: { eexists. split; [reflexivity|]. constructor; simpl; [exact Hb|apply S'|discriminate]. }
  destruct (Hout y n (proj1 Hy) (proj1 (proj2 Hy)) Cy Q Ho) as (u & Lu & Cu). destruct n as [|n]; [lia|].
  eexists. split; [reflexivity|]. constructor; simpl; [exact Hb|apply S'|]. intros n' H. injection H as <-.
  exists y, [], u. rewrite in_app_iff.
  split; [right; now left|split; [exact Fy|split; [exact Q|split; [exact Cu|split; [constructor|split; [simpl; lia|]]]]]].
  intros p Hi. destruct Hi.
Qed.
(* of more polls behind a forcing completion than there were completions before it, one is in B *)
Lemma enough_polls w ps u : forcing hw E B w -> counted u (pending w) -> NoDup ps ->
  (forall p, In p ps -> E p /\ knd p = Poll /\ qp p = qp w /\ po w p) -> u < length ps -> exists p, In p ps /\ B p.
Proof.
  intros Fw (l & Nl & <- & Il) Np Hp Lt. apply NNPP; intros N.
  assert (forall p, In p ps -> exists a, In a l /\ sgn a = true /\ pf a p) as Ha.
  { intros p Hi. destruct (Hp p Hi) as (Ep & Kp & Qp & Po). destruct (wf_poll _ W p Ep Kp) as (w1 & P1).
    destruct (x_sgn _ X w1 p Ep P1) as (a & Sa & Pa & _). exists a. split; [|auto]. apply Il.
    pose proof (pf_ok _ _ Pa) as (Pap & _ & _ & Qa). assert (~ B p) as NB by (intros Z; apply N; eauto).
    assert (po a w) as Paw by (apply (proj1 (corollary_4 hw E B W H1) H2 a p w); auto; congruence).
    split; [exact (wf_down _ W a p Pap Ep)|split; [auto|split; [congruence|split; [exact Paw|]]]]. intros p' Pp' Z.
    assert (E p') as Ep' by (eapply wf_down; [exact W|exact Pp'|apply Fw]).
    rewrite (x_pf _ X a p p' Sa Ep Ep' Pa Z) in Po. exact (po_irr _ (po_trans _ _ _ Po Pp')). }
  assert (exists f : list ev, length f = length ps /\ NoDup f /\ (forall a, In a f -> In a l) /\
    forall a, In a f -> exists p, In p ps /\ sgn a = true /\ pf a p)
    as (f & Lf & Nf & If & _).
  { assert (forall p, In p ps -> E p) as Ein by (intros p Hi; now apply Hp). clear Lt N Hp.
    induction ps as [|p ps IH]; [exists []; split; [auto|split; [constructor|split; intros a Hi; destruct Hi]]|].
    inversion Np as [|? ? Np1 Np2]; subst. destruct IH as (f & Lf & Nf & If & Pf); auto; [intros; apply Ha;
      now right|intros; apply Ein; now right|].
    destruct (Ha p) as (a & Hl & Sa & Pa); [now left|]. exists (a :: f). split; [simpl; auto|]. split; [|split].
    - constructor; auto. intros Z. destruct (Pf a Z) as (p' & Hp' & _ & Pa'). apply Np1.
      assert (p = p') as ->; auto.
      apply (x_pf _ X a p p'); auto; apply Ein; [now left|now right].
    - intros z [<-|Hz]; auto.
    - intros z [<-|Hz]; [exists p; split; [now left|auto]|]. destruct (Pf z Hz) as (p' & Hp' & Y). exists p'.
      split; [now right|auto]. }
  pose proof (NoDup_incl_length Nf If). lia.
Qed.

(* the walk along the events behind b, up to x *)
Definition ordered done path x := forall l1 y l2, path ++ [x] = l1 ++ y :: l2 -> before (done ++ l1) y.
Lemma walked_sound done k y x : sound done k -> before done y -> before (done ++ [y]) x -> ~ B x ->
  exists k', walked k y = Some k' /\ sound (done ++ [y]) k'.
Proof.
  intros S Hy (Ex & Nx & Hx) NB. pose proof Hy as (Ey & Ny & Hz). unfold Filter.walked.
  destruct (isk knd Poll y) eqn:Ip.
  - apply isk_iff in Ip. destruct (mine y) eqn:My; [|eauto using sound_more]. apply mine_iff in My. unfold after_poll.
    destruct (kpolls k) as [[n|]|] eqn:Kp; [|eauto using sound_more..].
    destruct (so_polls _ _ S n Kp) as (w & ps & u & Hw & Fw & Qw & Cu & Np & Lu & Hp).
    assert (NoDup (y :: ps)) as Np'.
    { constructor; auto. intros Z. destruct (Hp y Z) as (Z' & _). exact (po_irr _ (proj2 (Hz y Z'))). }
    assert (forall p, In p (y :: ps) -> In p (done ++ [y]) /\ knd p = Poll /\ qp p = q /\ po w p) as Hp'.
    { intros p [<-|Hi]; rewrite in_app_iff; [|destruct (Hp p Hi); auto]. split; [right; now left|]. repeat split; auto.
      now apply Hz. }
    destruct (n <=? 1) eqn:N1.
    + exfalso. apply Nat.leb_le in N1.
      destruct (enough_polls w (y :: ps) u Fw Cu Np') as (p & Hi & Bp); [|simpl; lia|].
      * intros p Hi. destruct (Hp' p Hi) as (Z & Z1 & Z2 & Z3). split; [|repeat split; auto; congruence].
        apply Hx in Z. apply Z.
      * destruct (Hp' p Hi) as (Z & Kpp & _). apply NB. destruct (Hx p Z) as (Ep & Po). apply (H1 x p); auto.
        now apply (poll_oppo hw).
    + apply Nat.leb_gt in N1. eexists; split; [reflexivity|]. pose proof (sound_more _ _ y S) as S'.
      constructor; simpl; [exact (so_beta _ _ S')|exact (so_fenced _ _ S')|]. intros n' Q. injection Q as <-.
      exists w, (y :: ps), u. rewrite in_app_iff.
      split; [auto|split; [auto|split; [auto|split; [auto|split; [auto|split; [simpl; lia|auto]]]]]].
  - destruct (forced_by_known k y) eqn:Fo.
    + destruct (forced_B _ _ _ S Hy Fo) as (By & Cy & Q). now apply sound_nic.
    + eexists; split; [reflexivity|]. pose proof (sound_more _ _ y S) as S'.
      constructor; simpl; [exact (so_beta _ _ S')| |exact (so_polls _ _ S')]. intros H. apply orb_true_iff in H.
      destruct H as [H|H]; [now apply (so_fenced _ _ S')|]. rewrite !andb_true_iff, isk_iff, mine_iff in H.
      destruct H as ((Ky & Qy) & Kw). destruct (so_beta _ _ S NLW Kw) as (w & Hw & Bw & _ & Qw & Kw').
      exists w, y. rewrite !in_app_iff. simpl. pose proof (proj2 (Hz w Hw)). tauto.
Qed.
Lemma walk_sound path : forall done k x, sound done k -> ordered done path x -> ~ B x ->
  exists k', walk k path = Some k' /\ sound (done ++ path) k'.
Proof.
  induction path as [|y path IH]; intros done k x S O NB; [exists k; rewrite app_nil_r; auto|].
  assert (before done y) as Hy by (rewrite <- (app_nil_r done); apply (O [] y (path ++ [x])); reflexivity).
  assert (ordered (done ++ [y]) path x) as O'.
  { intros l1 z l2 Q. rewrite <- app_assoc. apply (O (y :: l1) z l2). simpl. now rewrite Q. }
  assert (before (done ++ [y]) x) as Hx.
  { destruct (O (y :: path) x []) as (Ex & Nx & Hx); [reflexivity|]. split; auto. split; auto. intros z Hz. apply Hx.
    rewrite in_app_iff in *. simpl in *. intuition. }
  destruct (walked_sound done k y x S Hy Hx NB) as (k' & Wk & S'). simpl. rewrite Wk.
  destruct (IH (done ++ [y]) k' x S' O' NB) as (k2 & W2 & S2). exists k2. split; auto. now rewrite <- app_assoc in S2.
Qed.

Lemma first_sound b : B b -> ~ cpu b -> qp b = q -> exists k0, first b = Some k0 /\ sound [b] k0.
Proof.
  intros Bb Cb Qb. destruct (BE b Bb). apply (sound_nic [] (Known (fun _ => false) false None)); auto.
  - constructor; simpl; discriminate.
  - split; auto. split; auto. intros z [].
Qed.
Lemma behind_nic b path x : B b -> ~ store hw b -> ordered [b] path x -> ~ B x -> ~ cpu b.
Proof.
  intros Bb Sb O NB Cb. destruct (O path x []) as (Ex & Nx & Hx); [reflexivity|]. destruct (Hx b) as (_ & Po); [now left|].
  apply NB. apply (H1 x b); auto; [now apply BE|]. now apply (cpu_oppo hw); [|apply (not_overtaken hw)|].
Qed.
Lemma not_forced done k x : sound done k -> before done x -> ~ B x -> forced_by_known k x = false.
Proof.
  intros S Hx NB. destruct (forced_by_known k x) eqn:Fo; auto. destruct NB. eapply forced_B; eauto.
Qed.

(* Theorem 9, for the path that the thread has taken: what is not in B is listed, behind all but stores that wait *)
Theorem theorem_9_path b path x : B b -> ~ store hw b -> (~ cpu b -> qp b = q) -> ordered [b] path x -> ~ B x ->
  listed b path x.
Proof.
  intros Bb Sb Qb O NB. pose proof (behind_nic _ _ _ Bb Sb O NB) as Cb. split; [now apply cpu_kind_not|].
  destruct (first_sound b Bb Cb (Qb Cb)) as (k0 & F0 & S). destruct (walk_sound path [b] k0 x S O NB) as (k & Wk & S').
  assert (before ([b] ++ path) x) as Hx by (apply (O path x []); reflexivity).
  exists k0, k. repeat split; auto. eapply not_forced; eauto.
Qed.

(* Theorem 9, for all paths at once: at each point of the thread's code a set of what may be known, closed under what
  the walk does
   but for weakening, as where paths join. *)
Definition weaker k2 k := (forall a, kbeta k2 a = true -> kbeta k a = true) /\ (kfenced k2 = true -> kfenced k = true) /\
  forall n2, kpolls k2 = Some (Some n2) -> exists n, kpolls k = Some (Some n) /\ n <= n2.
Lemma sound_weaker done k2 k : weaker k2 k -> sound done k -> sound done k2.
Proof.
  intros (Wb & Wf & Wp) S. constructor.
  - intros a H. apply (so_beta _ _ S). auto.
  - intros H. apply (so_fenced _ _ S). auto.
  - intros n2 H. destruct (Wp n2 H) as (n & Kp & Le). destruct (so_polls _ _ S n Kp)
      as (w & ps & u & Hw & Fw & Qw & Cu & Np & Lu & Hp).
    exists w, ps, u. split; [auto|split; [auto|split; [auto|split; [auto|split; [auto|split; [lia|auto]]]]]].
Qed.
(* Steps between points of the thread's code, silent or with an event. *)
Section Points.
Context {point : Type} (hop : point -> option ev -> point -> Prop) (at_point : point -> known -> Prop).
Hypothesis closed_silent : forall p p' k, hop p None p' -> at_point p k -> exists k2, at_point p' k2 /\ weaker k2 k.
Hypothesis closed_event : forall p y p' k k', hop p (Some y) p' -> at_point p k -> walked k y = Some k' ->
  exists k2, at_point p' k2 /\ weaker k2 k'.
Inductive way : point -> list ev -> point -> Prop :=
| way_none p : way p [] p
| way_silent p p' path p2 : hop p None p' -> way p' path p2 -> way p path p2
| way_event p y p' path p2 : hop p (Some y) p' -> way p' path p2 -> way p (y :: path) p2.
Lemma way_sound p path p2 : way p path p2 -> forall done k0 x, sound done k0 -> ordered done path x -> ~ B x ->
  at_point p k0 -> exists k, at_point p2 k /\ forced_by_known k x = false.
Proof.
  induction 1 as [p|p p' path p2 Hh _ IH|p y p' path p2 Hh _ IH]; intros done k0 x S0 O NB Hk0.
  - exists k0. split; auto. eapply not_forced; eauto. rewrite <- (app_nil_r done). apply (O [] x []). reflexivity.
  - destruct (closed_silent _ _ _ Hh Hk0) as (k2 & H2' & Hw2). apply (IH done k2); auto. now apply (sound_weaker _ k2 k0).
  - assert (before done y) as Hy by (rewrite <- (app_nil_r done); apply (O [] y (path ++ [x])); reflexivity).
    assert (before (done ++ [y]) x) as Hx.
    { destruct (O (y :: path) x []) as (Ex & Nx & Hx); [reflexivity|]. split; auto. split; auto. intros z Hz. apply Hx.
      rewrite in_app_iff in *. simpl in *. intuition. }
    destruct (walked_sound done k0 y x S0 Hy Hx NB) as (k' & Wk & S'). destruct (closed_event _ _ _ _ _ Hh Hk0 Wk)
      as (k2 & H2' & Hw2).
    apply (IH (done ++ [y]) k2); auto; [now apply (sound_weaker _ k2 k')|].
    intros l1 z l2 Q. rewrite <- app_assoc. apply (O (y :: l1) z l2). simpl. now rewrite Q.
Qed.
Theorem theorem_9_points b p path p2 x : B b -> ~ store hw b -> (~ cpu b -> qp b = q) -> ordered [b] path x -> ~ B x ->
  way p path p2 ->
  (forall k, first b = Some k -> exists k0, at_point p k0 /\ weaker k0 k) ->
  cpu_kind knd b = false /\ first b <> None /\ exists k, at_point p2 k /\ forced_by_known k x = false.
Proof.
  intros Bb Sb Qb O NB Wy H0. pose proof (behind_nic _ _ _ Bb Sb O NB) as Cb. split; [now apply cpu_kind_not|].
  destruct (first_sound b Bb Cb (Qb Cb)) as (k & Fk & S). destruct (H0 k Fk) as (k0 & Hk0 & Hw). split; [congruence|].
  apply (way_sound p path p2 Wy [b] k0 x); auto. now apply (sound_weaker _ k0 k).
Qed.
End Points.
End Filter.

(* The cycle of Theorem 7: it starts with s, which is in B; where it goes from B to A or to m, it does so by po.  For
   where it goes by a conflict to a read of A that takes a store of B, that store is on the way as well. *)
Section Cycle.
Context {U : events} {K : searchable} (hw : hardware) {OK : hardware_ok hw} {SO : search_ok hw}.
Variables (P : program) (T : trace) (m : ev) (L : relation ev) (s : ev) (B : ev -> Prop).
Hypothesis LB : least hw P T m L s B.
Notation F := (without (E T) m).
Notation link := (link (T := T) (m := m) (L := L)).
Definition forth c d := link c d /\ (B c -> ~ B d -> po c d).
Lemma link_forth c d : link c d -> clos_refl_trans ev forth c d.
Proof.
  intros H. pose proof H as (Fc & Fd & Nd & Lcd & R). pose proof (b_SL _ _ _ _ _ _ _ LB) as (Si & St & _).
  destruct (classic (B c /\ ~ B d /\ ~ po c d)) as [(Bc & NBd & NP)|N]; [|apply rt_step; split; [auto|tauto]].
  assert (conflict c d) as Cf by tauto.
  destruct (b_Cii _ _ _ _ _ _ _ LB d c Fd Fc NBd Bc (conflict_sym _ _ Cf)) as [Z|(u & Ru & Ou & Bu)].
  { destruct (Si c). eauto. }
  destruct Ru as (Fu & _ & Wu & Rd & Lu & Lud & Mx). destruct (own_facts hw u d Ou) as (Nu & _).
  assert (po u d) as Pud.
  { destruct (wf_total _ (b_W _ _ _ _ _ _ _ LB) u d) as [->|[Z|Z]]; auto; [now destruct Ou|now destruct (Si d)|].
    destruct (Si u). apply (St u d u); auto. now apply (b_PL _ _ _ _ _ _ _ LB). }
  assert (wr c) as Wc by (destruct Cf as (_ & _ & [Z|Z] & _); [auto|destruct Ou as (_ & _ & Kd); unfold wr in Z;
    rewrite Kd in Z; destruct Z]).
  assert (loc c = loc d) as Lc by apply Cf.
  apply rt_trans with u; [|apply rt_step; unfold forth, Least.link; tauto].
  destruct (Mx c Fc Wc Lc Lcd) as [->|Lcu]; [apply rt_refl|apply rt_step]. split; [|tauto].
  split; [auto|split; [auto|split; [auto|split; [auto|right]]]].
  split; [auto|split; [auto|split; [auto|split; [congruence|]]]]. intros ->. exact (Si u Lcu).
Qed.
Lemma links_forth c d : clos_refl_trans ev link c d -> clos_refl_trans ev forth c d.
Proof.
  induction 1 as [c d H|c|c d e _ IH _ IH']; [now apply link_forth|apply rt_refl|exact (rt_trans _ _ _ _ _ IH IH')].
Qed.
Theorem theorem_9_cycle : B s /\ conflict m s /\ exists a,
  clos_refl_trans ev forth s a /\ (po a m \/ (conflict a m /\ ~ B a)).
Proof.
  split; [apply LB|]. split; [apply LB|]. destruct (b_cycle _ _ _ _ _ _ _ LB) as (a & Path & Hm). exists a.
  split; [|unfold comes_back in Hm; tauto].
  now apply links_forth.
Qed.
End Cycle.
