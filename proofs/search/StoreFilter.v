(* Theorem 9 behind a store of B that waits in a buffer (relaxation.py, with [store] set): every event behind it but reads
   and polls of the thread is forced, and so is all that is behind a CPU event that does not wait, or behind a poll that must
   be in B.  Every NIC write behind the store is forcing, so polls are counted on each queue pair. *)
Require Import List Arith Bool Lia Classical Relations.
Import ListNotations.
From RR Require Import Model Hardware Orders Cells Stores Rules Traces Search Along Counted Counters Filter.

Section Analysis.
Context {U : events} {K : searchable}.
Context {A : Type} (kind_of : A -> kind) (qp_of : A -> qpair).
(* Relaxation._outstanding, of a queue pair *)
Variable outstanding : qpair -> A -> bound.

(* _After, behind a store: which types are in beta since, with their queue pairs, which matters only where paths join; after
   how many polls one is in beta, of queue pairs of which that is known *)
Record behind := Behind { s_beta : list (qpair * kind); s_polls : list (qpair * bound) }.
Definition of_queue (q : qpair) (e : qpair * bound) := if qp_dec (fst e) q then true else false.
Definition known_of q (l : list (qpair * bound)) := existsb (of_queue q) l.
(* Relaxation._forced: oppo of a store *)
Definition forced_by_store y := negb (isk kind_of LR y) && negb (isk kind_of Poll y).
(* Relaxation._after_nic *)
Definition store_nic k y : option behind :=
  let beta := (qp_of y, kind_of y) :: s_beta k in
  if write_kind (kind_of y) && negb (known_of (qp_of y) (s_polls k)) then
    match outstanding (qp_of y) y with Some 0 => None | u => Some (Behind beta ((qp_of y, u) :: s_polls k)) end
  else Some (Behind beta (s_polls k)).
(* Relaxation._after_poll *)
Definition one_less q (e : qpair * bound) := if of_queue q e then (fst e, option_map pred (snd e)) else e.
Definition store_poll k q : option behind :=
  if existsb (fun e => of_queue q e && match snd e with Some n => n <=? 1 | None => false end) (s_polls k) then None
  else Some (Behind (s_beta k) (map (one_less q) (s_polls k))).
(* Relaxation._step *)
Definition store_walked k y : option behind :=
  if isk kind_of Poll y then store_poll k (qp_of y)
  else if isk kind_of LR y || isk kind_of LW y then Some k
  else if cpu_kind kind_of y then None
  else store_nic k y.
End Analysis.

Section StoreFilter.
Context {U : events} {K : searchable} (hw : hardware) {OK : hardware_ok hw} {SO : search_ok hw}.
Variables (outstanding : qpair -> ev -> bound) (E B : ev -> Prop).
Notation walked := (store_walked knd qp outstanding).
Hypotheses (W : wfE E) (X : wfx E) (BE : forall b, B b -> E b /\ noninit b).
Hypotheses (H1 : R1 hw E B) (H2 : R2 hw E B).
Hypothesis Hout : forall w n, E w -> noninit w -> ~ cpu w -> outstanding (qp w) w = Some n ->
  exists u, u < n /\ counted u (pending E w).
Notation before := (before E).
Notation ordered := (ordered E).

Variable b : ev.
Hypotheses (Bb : B b) (Sb : store hw b).
Definition store_sound (done : list ev) (k : behind) := In b done /\
  forall q n, In (q, Some n) (s_polls k) -> exists w ps u, In w done /\ forcing hw E B w /\ qp w = q /\
    counted u (pending E w) /\
    NoDup ps /\ u < n + length ps /\ forall p, In p ps -> In p done /\ knd p = Poll /\ qp p = q /\ po w p.
Lemma store_more done k y : store_sound done k -> store_sound (done ++ [y]) k.
Proof.
  intros (Hb & S). split; [rewrite in_app_iff; auto|]. intros q n H.
  destruct (S q n H) as (w & ps & u & Hw & Fw & Qw & Cu & Np & Lu & Hp). exists w, ps, u.
  rewrite in_app_iff. split; [auto|split; [auto|split; [auto|split; [auto|split; [auto|split; [auto|]]]]]].
  intros p Hi. rewrite in_app_iff. destruct (Hp p Hi). auto.
Qed.
Lemma forced_B_store done k y : store_sound done k -> before done y -> forced_by_store knd y = true -> B y.
Proof.
  intros (Hb & _) (Ey & Ny & Hz) Fo. unfold forced_by_store in Fo. rewrite andb_true_iff, !negb_true_iff in Fo.
  destruct Fo as (F1 & F2). destruct (Hz b Hb) as (Eb & Po). apply (H1 y b); auto.
  apply (store_oppo hw); auto; intros Z; [rewrite (proj2 (isk_iff LR y) Z) in F1|rewrite (proj2 (isk_iff Poll y) Z) in F2];
    discriminate.
Qed.
Lemma of_queue_iff q e : of_queue q e = true <-> fst e = q.
Proof. unfold of_queue. destruct (qp_dec (fst e) q); intuition congruence. Qed.
Lemma store_walked_sound done k y x : store_sound done k -> before done y -> before (done ++ [y]) x -> ~ B x ->
  exists k', walked k y = Some k' /\ store_sound (done ++ [y]) k'.
Proof.
  intros S Hy (Ex & Nx & Hx) NB. pose proof Hy as (Ey & Ny & Hz). pose proof (store_more _ _ y S) as S'.
  unfold store_walked. destruct (isk knd Poll y) eqn:Ip.
  - apply isk_iff in Ip. unfold store_poll.
    assert (forall n, In (qp y, Some n) (s_polls k) -> exists w ps u, In w done /\ forcing hw E B w /\ qp w = qp y /\
      counted u (pending E w) /\ NoDup (y :: ps) /\ u < n + length ps /\
      forall p, In p (y :: ps) -> In p (done ++ [y]) /\ knd p = Poll /\ qp p = qp y /\ po w p) as P1.
    { intros n H. destruct (proj2 S _ _ H) as (w & ps & u & Hw & Fw & Qw & Cu & Np & Lu & Hp). exists w, ps, u.
      split; [auto|split; [auto|split; [auto|split; [auto|split]]]].
      { constructor; auto. intros Z. destruct (Hp y Z) as (Z' & _). exact (po_irr _ (proj2 (Hz y Z'))). }
      split; [auto|]. intros p [<-|Hi]; rewrite in_app_iff; [|destruct (Hp p Hi); auto].
      split; [right; now left|]. repeat split; auto. now apply Hz. }
    destruct (existsb _ (s_polls k)) eqn:Ex1.
    + exfalso. apply existsb_exists in Ex1. destruct Ex1 as ((q & [n|]) & Hi & Z); rewrite andb_true_iff, of_queue_iff in Z;
        simpl in Z; destruct Z as (-> & Z); [|discriminate]. apply Nat.leb_le in Z.
      destruct (P1 n Hi) as (w & ps & u & Hw & Fw & Qw & Cu & Np & Lu & Hp).
      destruct (enough_polls hw E B W X H1 H2 w (y :: ps) u Fw Cu Np) as (p & Hp' & Bp); [|simpl; lia|].
      * intros p Hp'. destruct (Hp p Hp') as (Z1 & Z2 & Z3 & Z4). split; [|repeat split; auto; congruence].
        now apply Hx in Z1.
      * destruct (Hp p Hp') as (Z1 & Kp & _). apply NB. destruct (Hx p Z1) as (Ep & Po). apply (H1 x p); auto.
        now apply (poll_oppo hw).
    + eexists; split; [reflexivity|]. split; [apply S'|]. simpl. intros q n H. apply in_map_iff in H.
      destruct H as ((q0 & u0) & Q & Hi). unfold one_less in Q. destruct (of_queue (qp y) (q0, u0)) eqn:Oq.
      2: { inversion Q; subst. now apply S'. }
      apply of_queue_iff in Oq. simpl in Oq. subst q0. destruct u0 as [n0|]; inversion Q; subst.
      destruct (P1 n0 Hi) as (w & ps & u & Hw & Fw & Qw & Cu & Np & Lu & Hp). exists w, (y :: ps), u.
      rewrite in_app_iff. split; [auto|split; [auto|split; [auto|split; [auto|split; [auto|split; [|auto]]]]]].
      simpl. assert (1 < n0); [|lia]. apply Nat.nle_gt. intros Le. rewrite <- not_true_iff_false in Ex1. apply Ex1.
      apply existsb_exists. exists (qp y, Some n0). split; [auto|]. rewrite andb_true_iff, of_queue_iff. simpl.
      split; [auto|now apply Nat.leb_le].
  - destruct (isk knd LR y || isk knd LW y) eqn:Il; [eauto|]. apply orb_false_iff in Il. destruct Il as (I1 & I2).
    assert (B y) as By by (apply (forced_B_store done k); auto; unfold forced_by_store; now rewrite Ip, I1).
    destruct (cpu_kind knd y) eqn:Cy.
    + exfalso. apply NB. destruct (Hx y) as (_ & Po); [rewrite in_app_iff; right; now left|]. apply (H1 x y); auto.
      apply (cpu_oppo hw); auto.
      * apply NNPP. intros N. apply cpu_kind_not in N. congruence.
      * apply (not_overtaken hw), no_store. intros Z. rewrite (proj2 (isk_iff LW y) Z) in I2. discriminate.
    + apply cpu_kind_not in Cy. unfold store_nic.
      destruct (write_kind (knd y) && negb (known_of (qp y) (s_polls k))) eqn:Wk.
      2: { eexists; split; [reflexivity|]. split; [apply S'|]. exact (proj2 S'). }
      apply andb_true_iff in Wk. destruct Wk as (Wk & _).
      assert (forcing hw E B y) as Fy.
      { split; [auto|split; [auto|]]. destruct (knd y); try discriminate Wk; [right; split; [auto|]|now left].
        exists b. destruct (Hz b (proj1 S)). split; [auto|split; [auto|split; [auto|now left]]]. }
      destruct (outstanding (qp y) y) as [n|] eqn:Ho.
      2: { eexists; split; [reflexivity|]. split; [apply S'|]. simpl. intros q n [H|H]; [discriminate|now apply S']. }
      destruct (Hout y n Ey Ny Cy Ho) as (u & Lu & Cu). destruct n as [|n]; [lia|].
      eexists; split; [reflexivity|]. split; [apply S'|]. simpl. intros q n' [H|H]; [|now apply S']. inversion H; subst.
      exists y, [], u. rewrite in_app_iff. simpl.
      split; [auto|split; [auto|split; [auto|split; [auto|split; [constructor|split; [lia|tauto]]]]]].
Qed.

(* at all points of the thread's code, as [theorem_9_points] *)
Definition less_behind (k2 k : behind) := forall q n2, In (q, Some n2) (s_polls k2) ->
  exists n, In (q, Some n) (s_polls k) /\ n <= n2.
Lemma store_sound_less done k2 k : less_behind k2 k -> store_sound done k -> store_sound done k2.
Proof.
  intros L (Hb & S). split; auto. intros q n2 H. destruct (L q n2 H) as (n & Hn & Le).
  destruct (S q n Hn) as (w & ps & u & Hw & Fw & Qw & Cu & Np & Lu & Hp). exists w, ps, u.
  split; [auto|split; [auto|split; [auto|split; [auto|split; [auto|split; [lia|auto]]]]]].
Qed.
Section Points.
Context {point : Type} (hop : point -> option ev -> point -> Prop) (at_point : point -> behind -> Prop).
Hypothesis closed_silent : forall p p' k, hop p None p' -> at_point p k -> exists k2, at_point p' k2 /\ less_behind k2 k.
Hypothesis closed_event : forall p y p' k k', hop p (Some y) p' -> at_point p k -> walked k y = Some k' ->
  exists k2, at_point p' k2 /\ less_behind k2 k'.
Lemma store_way p path p2 : way hop p path p2 -> forall done k0 x, store_sound done k0 -> ordered done path x -> ~ B x ->
  at_point p k0 -> forced_by_store knd x = false /\ exists k, at_point p2 k.
Proof.
  induction 1 as [p|p p' path p2 Hh _ IH|p y p' path p2 Hh _ IH]; intros done k0 x S0 O NB Hk0.
  - split; [|eauto]. destruct (forced_by_store knd x) eqn:Fo; auto. destruct NB. apply (forced_B_store done k0); auto.
    rewrite <- (app_nil_r done). apply (O [] x []). reflexivity.
  - destruct (closed_silent _ _ _ Hh Hk0) as (k2 & H2' & Hw2). apply (IH done k2); auto.
    now apply (store_sound_less _ k2 k0).
  - assert (before done y) as Hy by (rewrite <- (app_nil_r done); apply (O [] y (path ++ [x])); reflexivity).
    assert (before (done ++ [y]) x) as Hx.
    { destruct (O (y :: path) x []) as (Ex & Nx & Hx); [reflexivity|]. split; auto. split; auto. intros z Hz. apply Hx.
      rewrite in_app_iff in *. simpl in *. intuition. }
    destruct (store_walked_sound done k0 y x S0 Hy Hx NB) as (k' & Wk & S').
    destruct (closed_event _ _ _ _ _ Hh Hk0 Wk) as (k2 & H2' & Hw2).
    apply (IH (done ++ [y]) k2); auto; [now apply (store_sound_less _ k2 k')|].
    intros l1 z l2 Q. rewrite <- app_assoc. apply (O (y :: l1) z l2). simpl. now rewrite Q.
Qed.
Theorem theorem_9_stores p path p2 x k0 : ordered [b] path x -> ~ B x -> way hop p path p2 ->
  at_point p k0 -> less_behind k0 (Behind [] []) -> forced_by_store knd x = false /\ exists k, at_point p2 k.
Proof.
  intros O NB Wy H0 L. apply (store_way p path p2 Wy [b] k0 x); auto. apply (store_sound_less _ _ _ L).
  split; [now left|]. intros q n [].
Qed.
End Points.
End StoreFilter.
