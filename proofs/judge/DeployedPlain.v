(* Deployed.v where no thread does anything beyond core/Programs.v: its relations are those of core/Model.v. *)
Require Import List Arith ZArith Bool Lia Relations.
Import ListNotations.
From RR Require Import Model Hardware Cells Rules Programs.
From RR Require Deployed DeployedTraces DeployedDecides.

Definition plain_label (l : Deployed.label) := match l with Deployed.Plain l => l | _ => Lmf end.
Definition is_plain (l : Deployed.label) := match l with Deployed.Plain _ => True | _ => False end.
Definition hardware_of hw := with_buffers (Deployed.buffered hw)
  (of_flags {| ordered := Deployed.reads_ordered hw; net := if Deployed.weaker hw then Weaker else Default |}).
Global Instance hardware_of_ok hw : hardware_ok (hardware_of hw) := with_buffers_ok _ _.
Lemma buffered_same hw : buffered (hardware_of hw) = Deployed.buffered hw.
Proof. unfold hardware_of. destruct (Deployed.buffered hw) eqn:B; reflexivity. Qed.

(* the tables *)
Definition old_cell (c : Deployed.cell) := match c with
  | Deployed.All => All | Deployed.Qp => Qp | Deployed.Issue => Issue | Deployed.Never => Never end.
Lemma table_same hw l l' : old_cell (Deployed.table hw (Deployed.plain_kind l) (Deployed.plain_kind l')) =
  table (hardware_of hw) (lknd l) (lknd l').
Proof. destruct hw as [[] a [] []]; destruct l, l'; reflexivity. Qed.
Lemma issued_same hw l k : Deployed.issued hw (Deployed.plain_kind l) k = Deployed.table hw (Deployed.plain_kind l) k.
Proof. destruct l; reflexivity. Qed.
(* a store that a later read or poll overtakes *)
Definition passed l l' := match l, l' with Lw _ _, (Lr _ _ | Lp _) => true | _, _ => false end.
Lemma observed_same hw l l' : Deployed.observed hw (Deployed.plain_kind l) (Deployed.plain_kind l') =
  if Deployed.buffered hw && passed l l' then Deployed.Never
  else match Deployed.table hw (Deployed.plain_kind l) (Deployed.plain_kind l') with Deployed.Issue => Deployed.Never | c
    => c end.
Proof. destruct hw as [[] a [] []]; destruct l, l'; reflexivity. Qed.

Local Arguments Deployed.lab : simpl never.
Local Arguments Deployed.past : simpl never.

Section Plain.
Variables (hw : Deployed.platform) (T : Deployed.trace).
Notation R := (Deployed.run_of T).
Notation many t := (length (Deployed.sequence R t)).
Notation lab e := (Deployed.lab R e).
Notation is_event := (Deployed.is_event R).
Notation kin := (Deployed.kin R).
Notation nv := (length (Deployed.held R)).
Notation hw' := (hardware_of hw).
Hypothesis All_plain : forall t n, n < many t -> is_plain (lab (Deployed.At t n)).
(* the grammar: what the source of a write is *)
Hypothesis Grammar : forall t n, S n < many t -> DeployedTraces.follows (lab (Deployed.At t n)) (lab (Deployed.At t (S
  n))) = true.
Hypothesis Begins : forall t, 0 < many t -> DeployedTraces.begins (lab (Deployed.At t 0)) = true.

Definition does t n := plain_label (lab (Deployed.At t n)).
Fixpoint hist t n := match n with 0 => [] | S n => does t n :: hist t n end.
Definition image (e : Deployed.event) := match e with
  | Deployed.Initial x => Ini x (nth x (Deployed.held R) 0%Z) | Deployed.At t n => Ev t (does t n) (hist t n) end.
Definition path t := hist t (many t).

Lemma hist_length t n : length (hist t n) = n.
Proof. induction n; simpl; auto. Qed.
Lemma hist_suf t m n : suf (does t m :: hist t m) (hist t n) <-> m < n.
Proof.
  split.
  - intros H. apply suf_len in H. simpl in H. rewrite !hist_length in H. lia.
  - induction 1 as [|n _ IH]; [apply suf_refl|]. eapply suf_trans; [exact IH|]. now exists [does t n].
Qed.
Lemma suf_hist t l h n : suf (l :: h) (hist t n) -> exists m, m < n /\ l = does t m /\ h = hist t m.
Proof.
  induction n as [|n IH]; simpl; intros H.
  - apply suf_len in H. simpl in H. lia.
  - destruct (suf_tail _ _ _ H) as [Q|Q].
    + inversion Q. exists n. auto.
    + destruct (IH Q) as (m & L & X). exists m. split; [lia|exact X].
Qed.
Lemma image_inj a b : image a = image b -> a = b.
Proof.
  destruct a as [x|t n], b as [y|u m]; simpl; intros H; inversion H; auto. subst u. f_equal.
  rewrite <- (hist_length t n), <- (hist_length t m). congruence.
Qed.
Lemma is_event_at t n : is_event (Deployed.At t n) = true <-> n < many t.
Proof. apply Nat.ltb_lt. Qed.
Lemma inrun_image x : inrun nv (fun c => nth c (Deployed.held R) 0%Z) path x <-> exists e, is_event e = true /\ image e = x.
Proof.
  split.
  - destruct x as [c v|t l h]; simpl.
    + intros (L & ->). exists (Deployed.Initial c). split; [now apply Nat.ltb_lt|reflexivity].
    + intros H. destruct (suf_hist _ _ _ _ H) as (m & L & -> & ->). exists (Deployed.At t m).
      split; [now apply is_event_at|reflexivity].
  - intros ([c|t n] & E & <-); simpl.
    + split; [now apply Nat.ltb_lt|reflexivity].
    + apply hist_suf. now apply is_event_at.
Qed.
Lemma lab_does t n : n < many t -> lab (Deployed.At t n) = Deployed.Plain (does t n).
Proof. intros L. pose proof (All_plain t n L) as P. unfold does. now destruct (lab _). Qed.

(* counting *)
Lemma past_count (f : Deployed.label -> bool) g t n : n <= many t -> (forall l, f (Deployed.Plain l) = g l) ->
  Deployed.count f (Deployed.past R (Deployed.At t n)) = cnt g (hist t n).
Proof.
  intros L G. unfold Deployed.count, Deployed.past. induction n as [|n IH]; [reflexivity|].
  assert (firstn (S n) (Deployed.sequence R t) = firstn n (Deployed.sequence R t) ++ [lab (Deployed.At t n)]) as ->.
  { unfold Deployed.lab. clear -L. revert n L. induction (Deployed.sequence R t) as [|y s IH]; intros n L; simpl in L;
    [lia|].
    destruct n as [|n]; [reflexivity|]. simpl. f_equal. apply IH. lia. }
  rewrite filter_app, app_length, IH by lia. rewrite (lab_does t n) by lia. simpl. rewrite G, cnt_cons.
  destruct (g (does t n)); simpl; lia.
Qed.

(* relations of program order *)
Lemma po_image a b : Deployed.po a b = true <-> epo (image a) (image b).
Proof.
  destruct a as [x|t n], b as [y|u m]; simpl; try (split; [discriminate|tauto]).
  rewrite andb_true_iff, Nat.eqb_eq, Nat.ltb_lt. split; intros (Q & H).
  - subst u. split; [auto|]. exact (proj2 (hist_suf t n m) H).
  - subst u. split; [auto|]. exact (proj1 (hist_suf t n m) H).
Qed.
Lemma kind_image k e : is_event e = true -> Deployed.is R k e = true -> match e with Deployed.Initial _ => False
  | Deployed.At t n => Deployed.plain_kind (does t n) = k end.
Proof.
  intros E. unfold Deployed.is, Deployed.kin. destruct e as [x|t n]; [discriminate|].
  rewrite (lab_does t n) by now apply is_event_at. simpl. destruct (does t n), k; simpl; intuition (try discriminate; auto).
Qed.
Lemma queue_image a b t n u m : a = Deployed.At t n -> b = Deployed.At u m -> n < many t -> m < many u -> t = u ->
  ((Deployed.queue (lab a) =? Deployed.queue (lab b)) = true <-> eqp (image a) = eqp (image b)).
Proof.
  intros -> -> L L' ->. rewrite (lab_does u n L), (lab_does u m L'). simpl. rewrite Nat.eqb_eq. split; [congruence|].
  intros H; now inversion H.
Qed.

(* the source of a write is ordered before it by the tables *)
Lemma source_image a b : is_event b = true -> Deployed.source R b = Some a -> is_event a = true /\
  ecarry (image a) (image b).
Proof.
  destruct b as [y|t [|n]]; simpl Deployed.source; try discriminate. intros E.
  apply is_event_at in E. pose proof (Grammar t n E) as G. rewrite (lab_does t n), (lab_does t (S n)) in G by lia.
  rewrite (lab_does t n), (lab_does t (S n)) by lia.
  destruct (does t (S n)) eqn:Q; try discriminate; intros H; inversion H; subst a; clear H;
    (split; [apply is_event_at; lia|]); simpl; fold (does t n); (split; [auto|split; [auto|]]); rewrite Q;
    destruct (does t n); simpl in G; try discriminate; apply Nat.eqb_eq in G; subst; simpl; auto.
Qed.
Lemma carry_source a b : is_event b = true -> ecarry (image a) (image b) -> Deployed.source R b = Some a.
Proof.
  destruct a as [x|t n], b as [y|u m]; simpl; try tauto. intros E (-> & Q & C). apply Nat.ltb_lt in E.
  destruct m as [|m]; [discriminate|]. simpl in Q. inversion Q as [[Q1 Q2]].
  assert (m = n) as -> by (rewrite <- (hist_length u m), <- (hist_length u n); congruence).
  rewrite (lab_does u n), (lab_does u (S n)) by lia.
  destruct (does u n), (does u (S n)); simpl in C; try tauto; subst; reflexivity.
Qed.
Lemma same_operation_image a b : is_event b = true -> Deployed.of_one_operation R a b = true -> ecarry (image a) (image b).
Proof.
  unfold Deployed.of_one_operation. intros E H. destruct (Deployed.source R b) as [r|] eqn:Q; [|discriminate].
  apply DeployedDecides.same_spec in H. subst r. now apply (source_image a b E).
Qed.
Lemma kin_at t n : n < many t -> kin (Deployed.At t n) = Deployed.plain_kind (does t n).
Proof. intros L. simpl. now rewrite (lab_does t n L). Qed.
Lemma kept_image c t n m : n < many t -> m < many t ->
  Deployed.kept R c (Deployed.At t n) (Deployed.At t m) = true <->
  match old_cell c with
  | All => True | Qp | Issue => eqp (image (Deployed.At t n)) = eqp (image (Deployed.At t m)) | Never => False end.
Proof.
  intros L L'. unfold Deployed.kept. rewrite (lab_does t n L), (lab_does t m L'). simpl.
  assert ((lq (does t n) =? lq (does t m)) = true <-> (t, lq (does t n)) = (t, lq (does t m))) as Q.
  { rewrite Nat.eqb_eq. split; [congruence|intros H; now inversion H]. }
  destruct c; simpl; try exact Q; [tauto|]. split; [discriminate|tauto].
Qed.
Lemma ippo_image a b : is_event a = true -> is_event b = true ->
  (Deployed.ippo hw R a b = true <-> ippo hw' (U := concrete) (image a) (image b)).
Proof.
  intros Ea Eb. unfold Deployed.ippo, ippo. rewrite andb_true_iff, po_image, orb_true_iff.
  split; intros (P & H); (split; [exact P|]).
  - destruct H as [H|H].
    + apply (oppo_ippo hw' (U := concrete)). now apply (carry_oppo hw' (U := concrete)), same_operation_image.
    + destruct a as [x|t n], b as [y|u m]; try (now destruct P). destruct P as (-> & _).
      apply is_event_at in Ea, Eb. rewrite (kin_at u n Ea), (kin_at u m Eb), issued_same, (kept_image _ u n m Ea Eb),
        table_same in H.
      exact H.
  - right. destruct a as [x|t n], b as [y|u m]; try (now destruct P). destruct P as (-> & _).
    apply is_event_at in Ea, Eb. rewrite (kin_at u n Ea), (kin_at u m Eb), issued_same, (kept_image _ u n m Ea Eb),
      table_same.
    exact H.
Qed.
Lemma passed_image t n m : Deployed.buffered hw && passed (does t n) (does t m) = true <->
  overtaken hw' (U := concrete) (image (Deployed.At t n)) (image (Deployed.At t m)).
Proof.
  unfold overtaken, store. rewrite buffered_same, andb_true_iff. simpl.
  destruct (does t n), (does t m); simpl; intuition (auto; discriminate).
Qed.
Lemma oppo_image a b : is_event a = true -> is_event b = true ->
  (Deployed.oppo hw R a b = true <-> oppo hw' (U := concrete) (image a) (image b)).
Proof.
  intros Ea Eb. unfold Deployed.oppo, oppo. rewrite andb_true_iff, po_image, orb_true_iff.
  split.
  - intros (P & [H|H]).
    + exact (carry_oppo hw' (U := concrete) _ _ (same_operation_image a b Eb H)).
    + destruct a as [x|t n], b as [y|u m]; try (now destruct P). pose proof P as (-> & _).
      apply is_event_at in Ea, Eb. rewrite (kin_at u n Ea), (kin_at u m Eb), observed_same, (kept_image _ u n m Ea Eb) in H.
      rewrite <- passed_image.
      destruct (Deployed.buffered hw && passed (does u n) (does u m)); [destruct H|]. split; [exact P|].
      split; [discriminate|].
      change (knd (events := concrete) (image (Deployed.At u n))) with (lknd (does u n)).
      change (knd (events := concrete) (image (Deployed.At u m))) with (lknd (does u m)).
      rewrite <- table_same. destruct (Deployed.table _ _ _); simpl in *; auto.
  - intros (P & N & H). split; [exact P|right]. destruct a as [x|t n], b as [y|u m]; try (now destruct P).
    destruct P as (-> & _).
    apply is_event_at in Ea, Eb. rewrite (kin_at u n Ea), (kin_at u m Eb), observed_same, (kept_image _ u n m Ea Eb).
    rewrite <- passed_image in N.
    destruct (Deployed.buffered hw && passed (does u n) (does u m)); [tauto|].
    change (knd (events := concrete) (image (Deployed.At u n))) with (lknd (does u n)) in H.
    change (knd (events := concrete) (image (Deployed.At u m))) with (lknd (does u m)) in H. rewrite <- table_same in H.
    destruct (Deployed.table _ _ _); simpl in *; auto.
Qed.
Lemma pf_image a b : is_event a = true -> is_event b = true -> (Deployed.pf R a b = true <-> epf (image a) (image b)).
Proof.
  intros Ea Eb. unfold Deployed.pf. rewrite andb_true_iff, po_image.
  destruct a as [x|t n], b as [y|u m]; try (simpl; tauto). apply is_event_at in Ea, Eb.
  rewrite (lab_does t n Ea), (lab_does u m Eb). simpl. destruct (does u m) as [| | |q| | | | | | |]; try (split;
    [intros (_ & H); discriminate|tauto]).
  unfold takes. rewrite andb_true_iff.
  rewrite (past_count (Deployed.signals q) (isS q) t n), (past_count (Deployed.polls q) (isP q) u m) by (auto; lia).
  destruct (isS q (does t n)); rewrite ?Nat.eqb_eq, ?Nat.leb_le; intuition.
Qed.
End Plain.
