(* Crowds: which copy is which does not matter, and more copies do more. Where the copies of one program are found among
   those of another, the search of the one goes on in the other: docs/theory-crowds.md, Lemma 1 and the exchange of copies
   of Lemma 2. *)
Require Import List Arith ZArith Bool Lia Permutation FinFun.
Import ListNotations.
From RR Require Import Model Hardware Programs Search Searched CrowdProgram Views Moves Locality CrowdRules Joined
  CrowdSearch CrowdTheorem.

Section Embedded.
Context {K : crowd} (hw : hardware) {OK : hardware_ok hw} {SO : search_ok hw} {SC : cpu_sc hw}.
Notation state := (@state concrete).
Notation ev := (@ev concrete).
Notation moves := (moves hw false).

Section Copies.
(* copy a of P ts is copy [e a] of P ts2 *)
Variables (ts ts2 : list nat) (e : nat -> nat).
Hypothesis e_templ : forall a, a < length ts -> nth_error ts2 (e a) = nth_error ts a.
Hypothesis e_inj : forall a b, a < length ts -> b < length ts -> e a = e b -> a = b.
Definition is_copy a b := a < length ts /\ b = e a.
Lemma copy_l a b c : is_copy a c -> is_copy b c -> a = b.
Proof. intros (A & ->) (B & Q). now apply e_inj. Qed.
Lemma copy_r a b c : is_copy a b -> is_copy a c -> b = c.
Proof. intros (A & ->) (B & ->). auto. Qed.
Definition class_e (c : class) := Cls (if cthr c <? nt then cthr c else nt + e (cthr c - nt))
  (if ccell c <? nv then ccell c else let i := (ccell c - nv) / ow in place (e i) (ccell c - i * ow)) (cwr c).
Lemma e_lt a : a < length ts -> e a < length ts2.
Proof. intros L. apply nth_error_Some. rewrite e_templ by auto. now apply nth_error_Some. Qed.
Lemma same_class_e c D : hope_of ts c D -> same_class is_copy ts2 c (class_e c).
Proof.
  intros (L & A). destruct c as [t x w]; simpl in *. unfold threads_of in L.
  assert (paired is_copy t (if t <? nt then t else nt + e (t - nt))) as Pt.
  { destruct (Nat.ltb_spec t nt) as [G|G]; [left; auto|]. right. exists (t - nt), (e (t - nt)).
    split; [split; [lia|auto]|lia]. }
  unfold same_class, class_e; simpl. split; [exact Pt|].
  assert (exists x2, (if x <? nv then x else place (e ((x - nv) / ow)) (x - (x - nv) / ow * ow)) = x2 /\
    wpaired is_copy x x2 /\
    can_access (if t <? nt then t else nt + e (t - nt)) x2) as (x2 & E & Pw & A2).
  { eexists. split; [reflexivity|]. destruct A as [G|(y & Y & -> & G)].
    - pose proof G as G'. apply Nat.ltb_lt in G'. rewrite G'. split; left; auto.
    - pose proof (place_high (t - nt) y). destruct (Nat.ltb_spec (place (t - nt) y) nv); [lia|].
      destruct (own_index (t - nt) y Y) as (-> & ->). destruct (Nat.ltb_spec t nt); [lia|]. split.
      + right. exists (t - nt), (e (t - nt)), y. split; [split; [lia|auto]|auto].
      + right. exists y. replace (nt + e (t - nt) - nt) with (e (t - nt)) by lia. split; [auto|split; [auto|lia]]. }
  rewrite E. split; [exact Pw|]. split; [auto|]. intros D2. split; simpl; [|exact A2]. unfold threads_of.
  destruct (Nat.ltb_spec t nt); [lia|]. pose proof (e_lt (t - nt)). lia.
Qed.
Lemma agree_start : agree is_copy ts (start_of ts) ts2 (start_of ts2).
Proof.
  constructor; auto.
  - intros a b (A & ->). split; [symmetry; now apply e_templ|]. now exists [].
  - intros t1 t2 _. constructor; auto.
  - intros x1 x2 H. constructor; auto. simpl. unfold init_of.
    destruct H as [(-> & L)|(a & b & x & (A & ->) & X & -> & ->)].
    + apply Nat.ltb_lt in L. now rewrite L.
    + pose proof (place_high a x). pose proof (place_high (e a) x). destruct (Nat.ltb_spec (place a x) nv); [lia|].
      destruct (Nat.ltb_spec (place (e a) x) nv); [lia|]. destruct (own_index a x X) as (-> & ->).
      destruct (own_index (e a) x X) as (-> & ->). f_equal. pose proof (nth_error_nth' ts 0 A) as E1.
      pose proof (e_templ a A) as E2. rewrite E1 in E2. symmetry. exact (nth_error_nth _ _ _ E2).
Qed.
Definition hoped (s : state) := forall c, cls s = Some c -> exists D, hope_of ts c D.
Lemma hoped_moves ev0 s s' : hoped s -> moves ts ev0 s s' -> hoped s'.
Proof.
  intros H M c C. apply moves_inv in M. destruct M as (_ & [(Q & _ & ->)|[(c1 & Q & Ho & _ & ->)|[(c1 & Q & _ & _ & _ &
    ->)|
    (c1 & Q & _ & _ & _ & _ & _ & ->)]]]); simpl in C; try (now apply H).
  inversion C; subst. eauto.
Qed.
Lemma reach_on s : reach_of hw false ts s -> exists s2, reach_of hw false ts2 s2 /\ sound ts s /\ sound ts2 s2 /\
  hoped s /\
  agree is_copy ts s ts2 s2 /\ cls s2 = option_map class_e (cls s).
Proof.
  induction 1 as [|s s' _ (s2 & R2 & S & S2 & Hp & A & C) H].
  - exists (start_of ts2). split; [apply reach_start|]. split; [apply sound_start|]. split; [apply sound_start|].
    split; [intros c Q; discriminate|]. split; [exact agree_start|reflexivity].
  - destruct (step_moves hw false ts s s' H) as (e1 & M). destruct (mover hw false ts e1 s s' S M) as (L & _).
    pose proof (hoped_moves e1 s s' Hp M) as Hp'.
    destruct (goes_on hw false is_copy copy_l copy_r ts ts2 s s2 s' e1 (fun c => c) class_e (cls s) (cls s')) as
      (t2 & l2 & h2 & s2' & M2 & A2 & C2 & _); auto.
    + destruct (le_lt_dec nt (thr e1)) as [G|G]; [|exists (thr e1); left; auto]. unfold threads_of in L.
      exists (nt + e (thr e1 - nt)). right. exists (thr e1 - nt), (e (thr e1 - nt)). split; [split; [lia|auto]|lia].
    + now destruct (cls s).
    + now destruct (cls s').
    + intros c Q. destruct (Hp' c Q) as (D & Hd). now apply same_class_e with D.
    + intros c Q. now apply (keeps_class hw false ts e1 s s').
    + exists s2'. split; [apply reach_step with s2; [auto|apply M2]|].
      split; [exact (sound_moves hw false ts e1 s s' S M)|].
      split; [exact (sound_moves hw false ts2 _ s2 s2' S2 M2)|]. auto.
Qed.
Theorem embedded : ~ robust hw (P ts) -> ~ robust hw (P ts2).
Proof.
  intros N. apply (search_decides hw false) in N. destruct N as (s & R & Rp). apply (search_decides hw false).
  destruct (reach_on s R) as (s2 & R2 & S & S2 & Hp & A & C). exists s2. split; [exact R2|].
  assert (exists c, cls s = Some c) as (c & Q) by (destruct Rp as (m & Q & _); eauto). destruct (Hp c Q) as (D & Hd).
  apply (reports_on hw is_copy copy_l copy_r ts ts2 s s2 c (class_e c)); auto.
  - rewrite C, Q. reflexivity.
  - now apply same_class_e with D.
Qed.
End Copies.

(* The order of copies does not matter: copies of one template can be exchanged. *)
Theorem exchanged ts ts2 : Permutation ts ts2 -> (robust hw (P ts) <-> robust hw (P ts2)).
Proof.
  assert (forall ts ts2, Permutation ts ts2 -> ~ robust hw (P ts2) -> ~ robust hw (P ts)) as H.
  { clear ts ts2. intros ts ts2 Q. apply Permutation_nth_error_bis in Q. destruct Q as (f & I & B & E).
    apply (embedded ts2 ts f); [intros; now rewrite E|]. intros a b _ _. apply I. }
  intros Q. split; intros R; apply Classical_Prop.NNPP; intros N.
  - exact (H ts ts2 Q N R).
  - exact (H ts2 ts (Permutation_sym Q) N R).
Qed.
(* Lemma 1 *)
Theorem more_copies_not_robust ts us : ~ robust hw (P ts) -> ~ robust hw (P (ts ++ us)).
Proof. apply (embedded ts (ts ++ us) (fun a => a)); [intros a L; now apply nth_error_app1|auto]. Qed.

(* P(n): n copies of each template *)
Definition copies n := flat_map (fun k => repeat k n) (seq 0 nk).
Lemma counted_copies n k : k < nk -> count_occ Nat.eq_dec (copies n) k = n.
Proof.
  unfold copies. assert (forall m a, count_occ Nat.eq_dec (flat_map (fun k => repeat k n) (seq a m)) k =
    if (a <=? k) && (k <? a + m) then n else 0) as H.
  { induction m as [|m IH]; intros a; cbn [seq flat_map].
    - destruct (Nat.leb_spec a k), (Nat.ltb_spec k (a + 0)); simpl; auto; lia.
    - rewrite count_occ_app, IH. assert (count_occ Nat.eq_dec (repeat a n) k = if a =? k then n else 0) as ->.
      { clear. destruct (Nat.eqb_spec a k) as [->|N]; induction n; simpl; auto.
        - destruct (Nat.eq_dec k k); congruence.
        - destruct (Nat.eq_dec a k); congruence. }
      destruct (Nat.eqb_spec a k), (Nat.leb_spec (S a) k), (Nat.leb_spec a k), (Nat.ltb_spec k (S a + m)),
        (Nat.ltb_spec k (a + S m));
      simpl; lia. }
  intros L. rewrite H. destruct (Nat.leb_spec 0 k), (Nat.ltb_spec k (0 + nk)); simpl; auto; lia.
Qed.
Lemma included (l1 : list nat) : forall l2, (forall k, count_occ Nat.eq_dec l1 k <= count_occ Nat.eq_dec l2 k) ->
  exists us, Permutation l2 (l1 ++ us).
Proof.
  induction l1 as [|a l1 IH]; intros l2 H; [exists l2; auto|].
  assert (In a l2) as I.
  { apply (count_occ_In Nat.eq_dec). specialize (H a). simpl in H. destruct (Nat.eq_dec a a); [lia|congruence]. }
  destruct (in_split _ _ I) as (b & c & ->). destruct (IH (b ++ c)) as (us & Q).
  - intros k. specialize (H k). rewrite count_occ_app in *. simpl in H. destruct (Nat.eq_dec a k); lia.
  - exists us. simpl. rewrite <- (Permutation_middle b c a). now apply perm_skip.
Qed.
Theorem within_copies ts n : templates ts -> length ts <= n -> ~ robust hw (P ts) -> ~ robust hw (P (copies n)).
Proof.
  intros Tm L N. destruct (included ts (copies n)) as (us & Q).
  - intros k. destruct (in_dec Nat.eq_dec k ts) as [I|I].
    + rewrite counted_copies by auto. pose proof (count_occ_bound Nat.eq_dec k ts). lia.
    + apply (count_occ_not_In Nat.eq_dec) in I. rewrite I. lia.
  - intros R. apply (exchanged _ _ Q) in R. now apply (more_copies_not_robust ts us N).
Qed.
Lemma copies_templates n : templates (copies n).
Proof. intros k I. apply in_flat_map in I. destruct I as (i & I & J). apply repeat_spec in J. apply in_seq in I. subst.
  lia. Qed.
End Embedded.
