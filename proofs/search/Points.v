(* The states of Search.v and the points of threads: what is done is a path of each thread, an event that is enabled
   is the next edge of one. *)
Require Import List Arith ZArith Bool Lia.
Import ListNotations.
From RR Require Import Model Hardware Programs Search Searched Automata Executed Alike.

(* Paths with the same events are the same. *)
Section Paths.
Variables (nv : nat) (init : nat -> Z).
Notation inrun := (inrun nv init).

Lemma newest (path path' : nat -> list label) t : (forall l h, inrun path (Ev t l h) -> inrun path' (Ev t l h)) ->
  suf (path t) (path' t).
Proof.
  intros H. destruct (path t) as [|l h] eqn:Q; [exists (path' t); now rewrite app_nil_r|].
  apply (H l h). simpl. rewrite Q. apply suf_refl.
Qed.
Lemma suf_antisym (a b : list label) : suf a b -> suf b a -> a = b.
Proof. intros S S'. apply suf_eq; auto. apply suf_len in S, S'. lia. Qed.
Lemma same_path path path' : (forall e, inrun path e <-> inrun path' e) -> forall t, path t = path' t.
Proof. intros H t. apply suf_antisym; apply newest; intros l h; apply H. Qed.

Definition longer (path : nat -> list label) t l := fun u => if u =? t then l :: path t else path u.
Lemma longer_other path t l u : u <> t -> longer path t l u = path u.
Proof. intros N. unfold longer. now apply Nat.eqb_neq in N as ->. Qed.
Lemma longer_same path t l : longer path t l t = l :: path t.
Proof. unfold longer. now rewrite Nat.eqb_refl. Qed.
Lemma longer_inrun path t l e : inrun (longer path t l) e <-> inrun path e \/ e = Ev t l (path t).
Proof.
  destruct e as [x v|u l' h']; simpl; [intuition discriminate|]. destruct (Nat.eq_dec u t) as [->|N].
  - rewrite longer_same. split.
    + intros S. destruct (suf_tail _ _ _ S) as [Z|Z]; auto. inversion Z; subst. auto.
    + intros [Z|Z]; [eapply suf_trans; [exact Z|now exists [l]]|inversion Z; subst; apply suf_refl].
  - rewrite longer_other; auto. split; [auto|]. intros [Z|Z]; auto. inversion Z; congruence.
Qed.
Lemma not_yet path t l : ~ inrun path (Ev t l (path t)).
Proof. simpl. apply suf_strict. Qed.

(* one event more is the next of a thread *)
Lemma next_event path path' e :
  noninit (U := concrete) e -> (forall x, inrun path' x <-> inrun path x \/ x = e) -> ~ inrun path e ->
  exists t l, e = Ev t l (path t) /\ forall u, path' u = longer path t l u.
Proof.
  destruct e as [x v|t l h]; [intros N; now destruct N|]. intros _ H N.
  assert (inrun path' (Ev t l h)) as S by (apply H; auto).
  assert (path' t = l :: h) as Q.
  { destruct (path' t) as [|l0 h0] eqn:Q; [simpl in S; rewrite Q in S; apply suf_len in S; simpl in S; lia|].
    assert (inrun path' (Ev t l0 h0)) as S0 by (simpl; rewrite Q; apply suf_refl). apply H in S0. destruct S0 as [S0|S0].
    - exfalso. apply N. simpl in *. rewrite Q in S. eapply suf_trans; eauto.
    - now inversion S0. }
  assert (h = path t) as ->.
  { apply suf_antisym.
    - destruct h as [|l1 h1]; [exists (path t); now rewrite app_nil_r|].
      assert (inrun path' (Ev t l1 h1)) as S1 by (simpl; rewrite Q; now exists [l]). apply H in S1.
      destruct S1 as [S1|S1]; auto.
      inversion S1 as [[Z1 Z2]]. exfalso. apply (f_equal (@length _)) in Z2. simpl in Z2. lia.
    - destruct (path t) as [|l2 h2] eqn:Q2; [exists h; now rewrite app_nil_r|].
      assert (inrun path' (Ev t l2 h2)) as S2 by (apply H; left; simpl; rewrite Q2; apply suf_refl).
      simpl in S2. rewrite Q in S2. destruct (suf_tail _ _ _ S2) as [Z|Z]; auto.
      exfalso. apply N. simpl. rewrite Q2, Z. apply suf_refl. }
  exists t, l. split; auto. apply same_path. intros x. rewrite H. now rewrite longer_inrun.
Qed.
End Paths.

Lemma brings_before t l h : follows l h -> brings (event_of t l : @ev concrete) = brings (Ev t l h : @ev concrete).
Proof.
  destruct l; destruct h as [|l0 h]; simpl; try tauto; try (destruct l0; simpl; tauto);
    destruct l0; simpl; try tauto; intros ->; now rewrite !Nat.eqb_refl.
Qed.
Lemma alike_before t l h : follows l h -> alike (U := concrete) (Ev t l h) (event_of t l).
Proof. intros F. constructor; try reflexivity. now apply brings_before. Qed.

Section Points.
Variables (P : automata).
Hypothesis F : formed P = true.
Notation nt := (n_threads P).
Notation nv := (n_cells P).
Notation init := (initially P).
Notation ini := (ini0 nv init).
Notation ctl := (ctl0 nt nv init (can_do P)).
Notation st := (@state concrete).

Lemma queues_in f t p l p' : t < nt -> In (l, p') (out (part P t) p) -> f l = true -> In (t, lq l) (queues_of P f).
Proof.
  intros Ht H Hf. unfold queues_of. apply nodup_In, in_flat_map. exists t. split; [apply in_seq; lia|].
  apply in_map_iff. exists l. split; auto. apply filter_In. split; auto. unfold labels_of. apply in_map_iff.
  exists (p, l, p'). split; auto. now apply edges_in.
Qed.
Lemma edge_fine t h p l p' : leads (part P t) h p -> In (l, p') (out (part P t) p) -> lloc l < nv /\ follows l h.
Proof.
  intros L H. assert (can_do P t (l :: h)) as C by (exists p'; econstructor; eauto).
  apply (can_do_fine P t _ F) in C. simpl in C. tauto.
Qed.
Lemma edge_within t h p l p' : t < nt -> leads (part P t) h p -> In (l, p') (out (part P t) p) ->
  within (U := concrete) nt nv (queues_of P (fun _ => true)) (Ev t l h).
Proof.
  intros Ht L H. constructor; simpl; auto; [eapply edge_fine; eauto|]. eapply (queues_in (fun _ => true)); eauto.
Qed.

(* what is done, as paths *)
Definition went (path : nat -> list label) (s : st) :=
  (forall e, done ini s e <-> inrun nv init path e) /\ forall t, nt <= t -> path t = [].
(* the points where the threads are *)
Definition at_points (path : nat -> list label) (pts : nat -> positive) :=
  forall t, t < nt -> leads (part P t) (path t) (pts t).

Lemma went_after path (s s' : st) t l mv : went path s -> t < nt -> hist (th s') = mv :: hist (th s) ->
  me mv = Ev t l (path t) ->
  went (longer path t l) s'.
Proof.
  intros (H & B) Ht Hh Q. split.
  - intros e. rewrite longer_inrun, <- H. unfold done. rewrite Hh. simpl. rewrite Q. intuition.
  - intros u Hu. rewrite longer_other; auto. lia.
Qed.
Lemma next_of_thread path s e : went path s -> noninit (U := concrete) e -> ~ done ini s e -> ctl (with_ ini s e) ->
  exists t l, e = Ev t l (path t) /\ t < nt /\ can_do P t (l :: path t).
Proof.
  intros (H & B) N D (path' & C1 & C2 & C3).
  destruct (next_event nv init path path' e N) as (t & l & Q & E).
  - intros x. rewrite <- C3. unfold with_. now rewrite H.
  - now rewrite <- H.
  - exists t, l. split; auto. assert (path' t = l :: path t) as Z by (rewrite E; apply longer_same). split.
    + destruct (le_lt_dec nt t) as [X|X]; auto. apply C2 in X. congruence.
    + rewrite <- Z. apply C1.
Qed.
Lemma with_ctl path s t l : went path s -> (forall u, can_do P u (path u)) -> t < nt -> can_do P t (l :: path t) ->
  noninit (U := concrete) (Ev t l (path t)) /\ ~ done ini s (Ev t l (path t)) /\ ctl (with_ ini s (Ev t l (path t))).
Proof.
  intros (H & B) C Ht Cl. split; [unfold noninit; simpl; destruct l; discriminate|]. split; [rewrite H; apply not_yet|].
  exists (longer path t l). split; [|split].
  - intros u. assert (can_do P u (longer path t l u)) as Z.
    { destruct (Nat.eq_dec u t) as [->|N]; [now rewrite longer_same|now rewrite longer_other]. }
    split; auto. now apply (can_do_fine P u).
  - intros u Hu. rewrite longer_other; auto. lia.
  - intros e. rewrite longer_inrun, <- H. reflexivity.
Qed.
Lemma at_points_can path pts s : went path s -> at_points path pts -> forall u, can_do P u (path u).
Proof.
  intros (_ & B) A u. destruct (le_lt_dec nt u) as [X|X]; [rewrite B; auto; apply can_do_nothing|]. exists (pts u); auto.
Qed.
Lemma at_longer path pts t l p : at_points path pts -> In (l, p) (out (part P t) (pts t)) -> t < nt ->
  at_points (longer path t l) (upd pts t p).
Proof.
  intros A H Ht u Hu. unfold upd. destruct (Nat.eqb_spec u t) as [->|N].
  - rewrite longer_same. econstructor; eauto.
  - rewrite longer_other; auto.
Qed.

(* a choice for each of finitely many threads *)
Lemma choose n (R : nat -> positive -> Prop) : (forall t, t < n -> exists p, R t p) ->
  exists f, forall t, t < n -> R t (f t).
Proof.
  induction n as [|n IH]; intros H; [exists (fun _ => 1%positive); intros; lia|].
  destruct IH as (f & Hf); [intros; apply H; lia|]. destruct (H n) as (p & Hp); [lia|].
  exists (upd f n p). intros t Ht. unfold upd. destruct (Nat.eqb_spec t n) as [->|N]; auto. apply Hf. lia.
Qed.
End Points.
