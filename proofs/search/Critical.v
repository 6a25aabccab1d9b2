(* Theorem 9: the walk of the static filter comes to no thread twice, and the filter finds it (reductions/critical.py).
   Differences to the code: it goes on from sets of accesses, one for each set of threads used, instead of from one
   access; and from [meeting] it may come to a thread after others too, which only adds accesses. *)
Require Import List Arith Bool Lia Classical Relations Sorted.
Import ListNotations.
From RR Require Import Model Hardware Orders Cells Stores Rules Traces CpuSc Search Along Counted FirstHalf Least
  Filter StoreFilter.

Section Critical.
Context {U : events} {K : searchable} (hw : hardware) {OK : hardware_ok hw} {SO : search_ok hw}.

Section Walk.
Variables (T : trace) (m : ev) (B : ev -> Prop).
Notation F := (without (E T) m).

(* From event a in the order of po to event b of its thread, or it stays there. *)
Definition within a b := a = b \/ po a b.
(* A walk from a to the pivot m: it comes to the threads of the list, in this order, none twice, and then to that of m, or by
  a conflict to m.  It comes to a thread by a and leaves it by b.  No conflict leads from B to A; within a thread po may. *)
Inductive walk : list nat -> ev -> Prop :=
| walk_home a : F a -> noninit a -> po a m -> walk [] a
| walk_meets a b : F a -> F b -> noninit a -> within a b -> conflict b m -> ~ B b -> thr a <> thr m -> walk [thr a] a
| walk_on a b c ts : F a -> F b -> noninit a -> within a b -> conflict b c -> (B b -> B c) -> thr a <> thr c ->
    ~ In (thr a) ts -> thr a <> thr m -> walk ts c -> walk (thr a :: ts) a.
Lemma walk_threads ts a : walk ts a -> NoDup ts /\ ~ In (thr m) ts.
Proof.
  induction 1 as [| |a b c ts _ _ _ _ _ _ _ Ni Nm _ (Nd & Nt)];
    [|split; [repeat constructor; auto|simpl; intuition congruence]|].
  - split; [constructor|intros []].
  - split; [now constructor|]. intros [Q|Q]; auto.
Qed.

Variables (P : program) (L : relation ev) (s : ev).
Hypothesis LB : least hw P T m L s B.
Notation link := (link (T := T) (m := m) (L := L)).

(* the events of the cycle behind a, the last of which leads to m *)
Inductive chain : ev -> list ev -> Prop :=
| chain_end a : po a m \/ (conflict a m /\ ~ B a) -> chain a []
| chain_link a b l : forth T m L B a b -> chain b l -> chain a (b :: l).
Lemma chain_exists : exists l, chain s l.
Proof.
  destruct (theorem_9_cycle hw P T m L s B LB) as (_ & _ & a & Path & Hm). apply clos_rt_rt1n in Path. clear LB.
  induction Path as [a|a b c H _ IH]; [exists []; now constructor|].
  destruct (IH Hm) as (l & Hl). exists (b :: l). now constructor.
Qed.

(* the last event of a thread on the chain *)
Definition none_of t l := forall y, In y l -> thr y <> t.
Lemma last_of t a l : chain a l -> F a -> noninit a -> none_of t (a :: l) \/
  exists z l', chain z l' /\ F z /\ noninit z /\ thr z = t /\ (a = z \/ L a z) /\ length l' <= length l /\ incl l' l /\
    none_of t l'.
Proof.
  pose proof (b_SL _ _ _ _ _ _ _ LB) as (_ & St & _).
  induction 1 as [a Hm|a b l Hl C IH]; intros Fa Na.
  - destruct (Nat.eq_dec (thr a) t) as [Q|Q]; [right|left; intros y [<-|[]]; auto].
    exists a, []. repeat split; auto; try apply Fa; try apply incl_refl; try constructor; auto. intros y [].
  - pose proof Hl as ((_ & Fb & Nb & Lab & _) & _).
    destruct (IH Fb Nb) as [Z|(z & l' & Cz & Fz & Nz & Qz & Lz & Le & In_ & Z)].
    + destruct (Nat.eq_dec (thr a) t) as [Q|Q]; [right|left; intros y [<-|Hy]; auto].
      exists a, (b :: l). repeat split; auto; try apply Fa; try apply incl_refl. now constructor.
    + right. exists z, l'. split; [auto|split; [auto|split; [auto|split; [auto|split; [right|split; [simpl; lia|split;
        [now apply incl_tl|auto]]]]]]].
      destruct Lz as [<-|Lz]; eauto.
Qed.
(* of two events of one thread the L-first is po-first: po is a short cut *)
Lemma short_cut a z : F a -> F z -> noninit a -> noninit z -> thr a = thr z -> a = z \/ L a z -> within a z.
Proof.
  intros Fa Fz Na Nz Q [->|H]; [now left|right]. pose proof (b_SL _ _ _ _ _ _ _ LB) as (Si & St & _).
  destruct (wf_total _ (b_WT _ _ _ _ _ _ _ LB) a z) as [->|[Po|Po]]; auto; try apply Fa; try apply Fz.
  - destruct (Si z H).
  - destruct (Si a). apply (St a z a); auto. now apply (b_PL _ _ _ _ _ _ _ LB).
Qed.
Lemma to_pivot a : F a -> noninit a -> thr a = thr m -> po a m.
Proof.
  intros (Ea & N) Na Q. pose proof (b_last _ _ _ _ _ _ _ LB) as (Em & Nm & Lm).
  destruct (wf_total _ (b_WT _ _ _ _ _ _ _ LB) a m) as [|[Po|Po]]; auto; [congruence|]. destruct (Lm a Ea Po).
Qed.
Lemma chain_walk n : forall a l, length l < n -> chain a l -> F a -> noninit a ->
  exists ts, walk ts a /\ forall t, In t ts -> In t (map thr (a :: l)).
Proof.
  induction n as [|n IH]; intros a l Le C Fa Na; [lia|].
  destruct (Nat.eq_dec (thr a) (thr m)) as [Q|Nt].
  { exists []. split; [constructor; auto; now apply to_pivot|intros t []]. }
  destruct (last_of (thr a) a l C Fa Na) as [Z|(z & l' & Cz & Fz & Nz & Qz & Lz & Le' & In_ & Z)].
  { now destruct (Z a (or_introl eq_refl)). }
  assert (within a z) as Waz by (apply short_cut; auto).
  (* from z the chain goes to another thread, by a conflict, and never comes back *)
  destruct Cz as [z Hm|z c l2 Hl Cc].
  - exists [thr a]. split; [|intros t [<-|[]]; now left].
    destruct Hm as [Po|(Cf & NB)]; [apply po_thr in Po; congruence|]. now apply walk_meets with z.
  - pose proof Hl as ((_ & Fc & Nc & Lzc & R) & Hp). pose proof (Z c (or_introl eq_refl)) as Qc.
    assert (conflict z c) as Cf by (destruct R as [Po|]; auto; apply po_thr in Po; congruence).
    destruct (IH c l2) as (ts & W & Ht); auto; [simpl in *; lia|].
    exists (thr a :: ts). split.
    + apply walk_on with z c; auto.
      * intros Bz. apply NNPP; intros NB. pose proof (po_thr _ _ (Hp Bz NB)). congruence.
      * intros Hi. apply Ht, in_map_iff in Hi. destruct Hi as (y & Qy & Hy). now apply (Z y).
    + intros t [<-|Hi]; [now left|]. right. apply Ht, in_map_iff in Hi. destruct Hi as (y & <- & Hy). now apply in_map, In_.
Qed.
(* the walk: by a conflict from the pivot to s, which is in B, and on *)
Theorem theorem_9_walk : exists ts, B s /\ conflict m s /\ walk ts s /\ NoDup (thr m :: ts).
Proof.
  destruct chain_exists as (l & C). destruct (b_BF _ _ _ _ _ _ _ LB s (b_s _ _ _ _ _ _ _ LB)) as (Fs & Ns).
  destruct (chain_walk (S (length l)) s l) as (ts & W & _); auto. exists ts. split; [apply LB|]. split; [apply LB|].
  split; [auto|]. constructor; now apply (walk_threads ts s).
Qed.
End Walk.

(* The events between two of a thread are a list in the order of po. *)
Definition between (E : ev -> Prop) b path x := (forall y, In y path <-> E y /\ po b y /\ po y x) /\ ordered E [b] path x.
Lemma between_exists E b x : wfE E -> E b -> E x -> noninit b -> po b x -> exists path, between E b path x.
Proof.
  intros W Eb Ex Nb Po. destruct (wf_fin _ W) as (l0 & H0).
  destruct (sorted_list po) with (P := fun y => E y /\ po b y /\ po y x) (l0 := l0) as (l & S & I).
  - exact po_trans.
  - intros a (Ea & _). auto.
  - intros a c (Ea & Pa & Ya) (Ec & Pc & _). apply (wf_total _ W); auto; try (eapply po_init_r; eauto).
    rewrite <- (po_thr _ _ Pa). now apply po_thr.
  - exists l. split; auto.
    assert (StronglySorted po (b :: l ++ [x])) as Sx.
    { constructor.
      - clear - S I. assert (forall y, In y l -> po y x) as H by (intros y Hy; now apply I). clear I.
        induction S as [|a l S IH Fa]; simpl; [repeat constructor|]. constructor; [apply IH; intros; apply H; now right|].
        apply Forall_app. split; auto. constructor; auto. apply H. now left.
      - apply Forall_app. split; [|repeat constructor; auto]. apply Forall_forall. intros y Hy. now apply I. }
    assert (forall y, In y (b :: l ++ [x]) -> E y) as Es.
    { intros y [<-|Hy]; auto. apply in_app_iff in Hy. destruct Hy as [Hy|[<-|[]]]; auto. now apply I. }
    intros l1 y l2 Q. assert (b :: l ++ [x] = (b :: l1) ++ y :: l2) as Q2 by (simpl; now rewrite Q). rewrite Q2 in *.
    assert (forall z, In z (b :: l1) -> po z y) as Hz.
    { clear - Sx. generalize dependent (b :: l1). intros l Sx z Hz. induction l as [|c l IH]; [destruct Hz|].
      simpl in Sx. inversion Sx as [|? ? S F]; subst. destruct Hz as [<-|Hz]; auto.
      rewrite Forall_forall in F. apply F, in_app_iff. right. now left. }
    split; [|split].
    + apply Es, in_app_iff. right. now left.
    + eapply po_init_r, Hz. now left.
    + intros z Hy. split; [|now apply Hz]. apply Es, in_app_iff. now left.
Qed.

(* The two parts of a run: what Theorem 7 has of beta *)
Record parted (E B : ev -> Prop) : Prop := {
  p_in : forall b, B b -> E b /\ noninit b;
  p_R1 : R1 hw E B; p_R2 : R2 hw E B; p_R3 : R3 hw E B;
}.

(* The filter.  [g_access] are the edges of the event graphs; a [part] tells whether an access is in beta.  Where threads can
   make one event by several edges, a run may be [drawn] in several ways; [edge e] is the edge by which it makes e. *)
Notation part := bool.
Record conflict_graph := { g_access : Type; g_thread : g_access -> nat;
  g_drawn : (ev -> Prop) -> (ev -> g_access) -> Prop;
  g_accesses : g_access -> Prop; g_after : g_access -> g_access -> Prop; g_overtaking : g_access -> g_access -> Prop;
  g_conflicting : g_access -> g_access -> Prop;    (* of other threads *)
  g_sites : class -> g_access -> Prop; g_meeting : class -> g_access -> Prop;
  g_once : nat -> bool;                            (* whether a walk that has come to this thread is kept from it later *)
}.
Variable G : conflict_graph.
Notation access := (g_access G).
Notation drawn := (g_drawn G).
Notation of_thread := (g_thread G).
Notation accesses := (g_accesses G).
Notation after := (g_after G).
Notation overtaking := (g_overtaking G).
Notation conflicting := (g_conflicting G).
Notation sites := (g_sites G).
Notation meeting := (g_meeting G).

Section Useful.
Variable c : class.
(* CriticalCycles._entries: whoever leaves a thread by b may have come to it by a *)
Definition entry (q : part) (b : access) (p : part) a := accesses a /\ of_thread a = of_thread b /\
  match p, q with
  | false, false => a = b \/ after a b
  | false, true => after a b
  | true, true => a = b \/ after a b
  | true, false => overtaking a b
  end.
(* CriticalCycles._useful, backwards from the pivot: by which accesses a walk comes to the thread that was added last *)
Definition now t seen := if g_once G t then t :: seen else seen.
Inductive useful : list nat -> part -> access -> Prop :=
| useful_early a x : accesses a -> of_thread a = cthr c -> sites c x -> after a x -> useful [cthr c] false a
| useful_late a x : accesses a -> of_thread a = cthr c -> sites c x -> overtaking a x -> useful [cthr c] true a
| useful_meets b p a : accesses b -> of_thread b <> cthr c -> meeting c b -> entry false b p a ->
    useful (now (of_thread b) [cthr c]) p a
| useful_exits seen r x q b p a : useful seen r x -> accesses b -> ~ In (of_thread b) seen -> conflicting b x ->
    (q = true -> r = true) -> entry q b p a -> useful (now (of_thread b) seen) p a.
End Useful.

(* what is computed of the program is so in its runs *)
Record covers (P : program) : Prop := {
  c_wfx : forall E, runs P E -> wfx E;
  c_drawn : forall E, runs P E -> exists edge, drawn E edge;
  c_thread : forall E edge e, runs P E -> drawn E edge -> E e -> noninit e -> of_thread (edge e) = thr e;
  c_accesses : forall E edge e e', runs P E -> drawn E edge -> E e -> E e' -> noninit e -> noninit e' ->
    conflict e e' -> accesses (edge e);
  c_after : forall E edge a b, runs P E -> drawn E edge -> E b -> po a b -> accesses (edge b) -> after (edge a) (edge b);
  c_overtaking : forall E edge B b x, runs P E -> drawn E edge -> parted E B -> B b -> E x -> ~ B x -> po b x ->
    accesses (edge x) -> overtaking (edge b) (edge x);
  c_conflicting : forall E edge a b, runs P E -> drawn E edge -> E a -> E b -> noninit a -> noninit b ->
    conflict a b -> thr a <> thr b -> conflicting (edge a) (edge b);
  c_sites : forall E edge m e, runs P E -> drawn E edge -> last E m -> E e -> noninit e -> conflict m e ->
    sites (class_of m) (edge m);
  c_meeting : forall E edge m b, runs P E -> drawn E edge -> last E m -> E b -> noninit b -> conflict b m ->
    thr b <> thr m -> meeting (class_of m) (edge b);
}.

Section Found.
Context {P : program} {T : trace} {m : ev} {L : relation ev} {s : ev} {B : ev -> Prop}.
Context {edge : ev -> access}.
Hypotheses (C : covers P) (D : drawn (E T) edge) (LB : least hw P T m L s B).
Notation F := (without (E T) m).

Lemma least_parted : parted (E T) B.
Proof.
  constructor; try apply LB. intros b Bb. destruct (b_BF _ _ _ _ _ _ _ LB b Bb) as ((Eb & _) & Nb). auto.
Qed.
Lemma overtakes a x : F a -> E T x -> B a -> ~ B x -> po a x -> accesses (edge x) -> overtaking (edge a) (edge x).
Proof.
  intros _ Ex Ba NB Po Ax. apply (c_overtaking P C (E T) edge B a x); auto; [apply LB|apply least_parted].
Qed.
Definition told (p : part) y := p = true <-> B y.
Lemma told_exists y : exists p, told p y.
Proof. destruct (classic (B y)); [exists true|exists false]; unfold told; intuition discriminate. Qed.
Lemma entry_within a b q p : F a -> F b -> noninit a -> within a b -> accesses (edge a) -> accesses (edge b) ->
  told q b -> told p a -> entry q (edge b) p (edge a).
Proof.
  intros Fa Fb Na Wi Aa Ab Tb Ta. pose proof (b_run _ _ _ _ _ _ _ LB) as Rn. pose proof Fa as (Ea & _).
  pose proof Fb as (Eb & _). unfold told in *.
  assert (noninit b) as Nb by (destruct Wi as [<-|Po]; auto; eapply po_init_r; eauto).
  assert (thr a = thr b) as Q by (destruct Wi as [<-|Po]; auto; now apply po_thr).
  split; [auto|]. split; [now rewrite !(c_thread P C (E T) edge)|]. destruct Wi as [<-|Po].
  - destruct p, q; auto; exfalso; intuition discriminate.
  - pose proof (c_after P C (E T) edge a b Rn D Eb Po Ab). destruct p, q; auto. apply overtakes; auto; [tauto|].
    intros Z. apply Tb in Z. discriminate.
Qed.
Lemma touches a b : E T a -> E T b -> noninit a -> noninit b -> conflict a b -> accesses (edge a).
Proof. intros. eapply (c_accesses P C (E T) edge); eauto. apply LB. Qed.
Lemma walk_useful ts a : walk T m B ts a -> accesses (edge a) ->
  exists seen p, told p a /\ incl seen (thr m :: ts) /\ useful (class_of m) seen p (edge a).
Proof.
  pose proof (b_run _ _ _ _ _ _ _ LB) as Rn. pose proof (b_last _ _ _ _ _ _ _ LB) as Lm. pose proof Lm as (Em & Nm & _).
  assert (~ B m) as NBm by (intros Z; destruct (b_BF _ _ _ _ _ _ _ LB m Z) as ((_ & Z') & _); auto).
  assert (forall t seen ts, incl seen (thr m :: ts) -> incl (now t seen) (thr m :: t :: ts)) as Hnow.
  { intros t seen ts' H. unfold now. destruct (g_once G t); intros y Hy; simpl in *.
    - destruct Hy as [<-|Hy]; auto. destruct (H y Hy); auto.
    - destruct (H y Hy); auto. }
  assert (forall e, E T e -> noninit e -> of_thread (edge e) = thr e) as Ht by (intros; now apply (c_thread P C (E T) edge)).
  induction 1 as [a Fa Na Po|a b Fa Fb Na Wi Cf NB Nt|a b c ts Fa Fb Na Wi Cf Bc Nac Ni Nt Wk IH]; intros Aa;
    pose proof Fa as (Ea & _).
  - destruct (b_BF _ _ _ _ _ _ _ LB s (b_s _ _ _ _ _ _ _ LB)) as ((Es & _) & Ns).
    pose proof (b_sm _ _ _ _ _ _ _ LB) as Cs. pose proof (touches m s Em Es Nm Ns Cs) as Am.
    pose proof (c_sites P C (E T) edge m s Rn D Lm Es Ns Cs) as Sm. destruct (told_exists a) as (p & Tp).
    exists [thr m], p. split; [auto|]. split; [apply incl_refl|]. unfold told in Tp.
    assert (of_thread (edge a) = cthr (class_of m)) as Qa by (rewrite Ht; auto; now apply po_thr).
    destruct p; [apply useful_late with (x := edge m)|apply useful_early with (x := edge m)]; auto.
    + apply overtakes; auto. now apply Tp.
    + now apply (c_after P C (E T) edge).
  - assert (noninit b) as Nb by (destruct Wi as [<-|Po]; auto; eapply po_init_r; eauto). pose proof Fb as (Eb & _).
    assert (accesses (edge b)) as Ab by (now apply (touches b m)).
    assert (thr a = thr b) as Q by (destruct Wi as [<-|Po]; auto; now apply po_thr).
    exists (now (thr b) [thr m]). destruct (told_exists a) as (p & Tp). exists p. split; [auto|]. split.
    { rewrite Q. apply Hnow. apply incl_refl. }
    rewrite <- (Ht b); auto. apply useful_meets with (b := edge b); auto.
    + rewrite Ht; auto. simpl. congruence.
    + apply (c_meeting P C (E T) edge); auto. congruence.
    + apply entry_within; auto. unfold told. intuition discriminate.
  - assert (noninit b) as Nb by (destruct Wi as [<-|Po]; auto; eapply po_init_r; eauto). pose proof Fb as (Eb & _).
    assert (F c /\ noninit c) as ((Ec & _) & Nc) by (destruct Wk; auto).
    assert (accesses (edge b)) as Ab by (now apply (touches b c)).
    assert (accesses (edge c)) as Ac by (apply (touches c b); auto; now apply conflict_sym).
    assert (thr a = thr b) as Q by (destruct Wi as [<-|Po]; auto; now apply po_thr).
    destruct (IH Ac) as (seen & r & Tr & Is & Us). exists (now (thr b) seen). destruct (told_exists a) as (p & Tp).
    destruct (told_exists b) as (q & Tq). exists p. split; [auto|]. split; [rewrite Q; now apply Hnow|].
    rewrite <- (Ht b); auto. apply useful_exits with (r := r) (x := edge c) (q := q) (b := edge b); auto.
    + rewrite Ht; auto. rewrite <- Q. intros Hi. destruct (Is _ Hi); auto.
    + apply (c_conflicting P C (E T) edge); auto. congruence.
    + unfold told in *. tauto.
    + now apply entry_within.
Qed.
Theorem theorem_9_start : exists seen, useful (class_of m) seen true (edge s).
Proof.
  destruct (theorem_9_walk T m B P L s LB) as (ts & Bs & Cf & Wk & _).
  destruct (b_BF _ _ _ _ _ _ _ LB s Bs) as ((Es & _) & Ns). pose proof (b_last _ _ _ _ _ _ _ LB) as (Em & Nm & _).
  destruct (walk_useful ts s Wk) as (seen & p & Tp & _ & Us); [apply (touches s m); auto; now apply conflict_sym|].
  exists seen. destruct p; auto. apply Tp in Bs. discriminate.
Qed.
End Found.

(* a program that is not robust has the run along which the search goes, and the filter leaves its start and its class *)
Theorem theorem_9 P : covers P -> ~ robust hw P -> exists T m L s B edge, least hw P T m L s B /\ drawn (E T) edge /\
  exists seen, useful (class_of m) seen true (edge s).
Proof.
  intros C N. destruct (least_exists hw P N) as (T & m & L & s & B & LB).
  destruct (c_drawn P C (E T)) as (edge & D); [apply LB|]. exists T, m, L, s, B, edge. split; auto. split; auto.
  now apply (theorem_9_start C D LB).
Qed.
End Critical.

(* What the theorem asks of a graph can be had: that of the events themselves, along the paths of runs. *)
Definition exact {U : events} {K : searchable} (hw : hardware) : conflict_graph := {|
  g_access := ev; g_thread := thr; g_drawn := fun _ edge => forall e, edge e = e;
  g_accesses := fun e => exists e', conflict e e'; g_after := po;
  g_overtaking := fun b x => (store hw b /\ forced_by_store knd x = false) \/
    (~ store hw b /\ exists E path, between E b path x /\ listed hw knd qp (qp b) (fun _ => None) b path x);
  g_conflicting := conflict; g_sites := fun c e => class_of e = c;
  g_meeting := fun c e => exists m, class_of m = c /\ conflict e m;
  g_once := fun _ => true |}.
Theorem exact_covers {U : events} {K : searchable} (hw : hardware) {OK : hardware_ok hw} {SO : search_ok hw} P :
  (forall E, runs P E -> wfx E /\ wfE E) -> covers hw (exact hw) P.
Proof.
  intros X. constructor; simpl; try (intros E edge; intros; rewrite ?H0; eauto; fail).
  - intros E R. now apply X.
  - intros E _. exists (fun e => e). auto.
  - intros E edge B b x Rn Q Pa Bb Ex NB Po _. rewrite !Q. destruct (X E Rn) as (Xf & W).
    destruct (p_in _ _ _ Pa b Bb) as (Eb & Nb). destruct (between_exists E b x) as (path & Bt); auto.
    destruct (classic (store hw b)) as [Sb|Sb]; [left|right]; (split; [auto|]).
    { apply not_true_iff_false. intros Fo. apply NB.
      apply (forced_B_store hw E B (p_R1 hw _ _ Pa) b Bb Sb [b] (Behind [] [])); auto.
      - split; [now left|intros q n []].
      - split; [auto|split; [now apply (po_init_r b x)|]]. intros z [<-|[]]. auto. }
    exists E, path. split; auto. apply theorem_9_path with (E := E) (B := B); auto; try apply Pa; try apply Bt;
      intros w n _ _ _ _ Z; discriminate.
Qed.
