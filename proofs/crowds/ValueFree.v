(* Theorem 7 of docs/theory-crowds.md: programs without values, and the events of the program with fewer copies. Copies
   [js] of P ts are those of P (ts2): copy [index j] is copy j, with its own words, and with the values that are read
   there. *)
Require Import List Arith ZArith Bool Lia.
Import ListNotations.
From RR Require Import Model Hardware Programs Searched CrowdProgram Views Locality CrowdRules Joined.

(* what labels have values *)
Definition revalue l r w := match l with Lr x _ => Lr x r | Lw x _ => Lw x w | Linl s q x _ => Linl s q x w | l => l end.
Definition plain l := match l with Lc _ _ _ => False | _ => True end.
(* the same events; the read at place i reads R i, and writes write what W makes of what was done before *)
Fixpoint fill (W : list label -> Z) (R : nat -> Z) (h : list label) := match h with
  | [] => []
  | l :: h => revalue l (R (length h)) (W (fill W R h)) :: fill W R h end.
(* A thread can go the same way whatever its reads return, and what it writes is a function of what they return. *)
Definition value_free (code : list label -> Prop) := forall h, code h ->
  (forall l, In l h -> plain l) /\ exists W, forall R, code (fill W R h).

Lemma fill_length W R h : length (fill W R h) = length h.
Proof. induction h; simpl; auto. Qed.
Lemma fill_ext W R R' h : (forall x v h', suf (Lr x v :: h') h -> R (length h') = R' (length h')) ->
  fill W R h = fill W R' h.
Proof.
  induction h as [|l h IH]; simpl; intros H; [auto|]. rewrite IH.
  - f_equal. destruct l; simpl; auto. f_equal. apply (H x v h). apply suf_refl.
  - intros x v h' S. apply (H x v h'). eapply suf_trans; [exact S|now exists [l]].
Qed.

(* the place of j in a list *)
Fixpoint index (js : list nat) j := match js with [] => 0 | a :: r => if a =? j then 0 else S (index r j) end.
Lemma index_nth js j : In j js -> nth_error js (index js j) = Some j.
Proof.
  induction js as [|a js IH]; simpl; [tauto|]. intros [->|I]; [now rewrite Nat.eqb_refl|].
  destruct (Nat.eqb_spec a j) as [->|N]; simpl; auto.
Qed.
Lemma index_lt js j : In j js -> index js j < length js.
Proof. intros I. apply nth_error_Some. rewrite index_nth by auto. discriminate. Qed.
Lemma index_inj js i j : In i js -> In j js -> index js i = index js j -> i = j.
Proof. intros I J E. apply index_nth in I, J. congruence. Qed.
Lemma index_of_nth js i : NoDup js -> i < length js -> index js (nth i js 0) = i.
Proof.
  intros N L. assert (In (nth i js 0) js) as I by now apply nth_In.
  pose proof (index_nth _ _ I) as E. pose proof (nth_error_nth' js 0 L) as E'.
  apply (proj1 (NoDup_nth_error js) N); [now apply index_lt|congruence].
Qed.

Section Events.
Context {K : crowd}.
Variables (js : list nat) (W : nat -> list label -> Z) (R : nat -> nat -> Z).
Notation ev := (@ev concrete).

Definition alive t := t < nt \/ exists j, In j js /\ t = nt + j.
Definition kept_word x := x < nv \/ exists j y, In j js /\ nv <= y < nv + ow /\ x = place j y.
Definition thread_to t := if t <? nt then t else nt + index js (t - nt).
Definition word_to x := if x <? nv then x else let j := (x - nv) / ow in place (index js j) (x - j * ow).
(* the words of the template; those of the new copy *)
Definition unplaced t x := if t <? nt then x else if x <? nv then x else x - (t - nt) * ow.
Definition placed t x := if t <? nt then x else place (index js (t - nt)) x.
Definition base t (h : list label) := map (put_at (unplaced t)) h.
Definition filled_base t h := fill (W t) (R t) (base t h).
Definition new_label t l h := put_at (placed t) (revalue (put_at (unplaced t) l) (R t (length h))
  (W t (filled_base t h))).
Definition new_hist t h := map (put_at (placed t)) (filled_base t h).
Definition to (e : ev) : ev := match e with Ini x v => Ini (word_to x) v | Ev t l h => Ev (thread_to t)
  (new_label t l h) (new_hist t h) end.

Lemma new_cons t l h : new_hist t (l :: h) = new_label t l h :: new_hist t h.
Proof. unfold new_hist, new_label, filled_base, base. simpl. now rewrite map_length. Qed.
Lemma new_length t h : length (new_hist t h) = length h.
Proof. unfold new_hist, filled_base, base. now rewrite map_length, fill_length, map_length. Qed.
Lemma new_suf t h p : suf h p -> suf (new_hist t h) (new_hist t p).
Proof.
  intros (k & ->). induction k as [|l k IH]; simpl; [apply suf_refl|]. rewrite new_cons. eapply suf_trans; [exact IH|].
  now exists [new_label t l (k ++ h)].
Qed.
Lemma suf_new t p l2 h2 : suf (l2 :: h2) (new_hist t p) -> exists l h, suf (l :: h) p /\ l2 = new_label t l h /\
  h2 = new_hist t h.
Proof.
  induction p as [|l p IH]; intros S; [apply suf_len in S; simpl in S; lia|]. rewrite new_cons in S.
  destruct (suf_tail _ _ _ S) as [Q|Q].
  - inversion Q; subst. exists l, p. split; [apply suf_refl|auto].
  - destruct (IH Q) as (l0 & h0 & S0 & Z). exists l0, h0. split; [eapply suf_trans; [exact S0|now exists [l]]|auto].
Qed.
(* suffixes of one path that become the same are the same *)
Lemma new_inj t p a b : suf a p -> suf b p -> new_hist t a = new_hist t b -> a = b.
Proof.
  intros A B E. apply (f_equal (@length _)) in E. rewrite !new_length in E.
  destruct (suf_total _ _ _ A B) as [Q|Q]; [now apply suf_eq|symmetry; now apply suf_eq].
Qed.
Lemma new_suf_inv t p a b : suf a p -> suf b p -> suf (new_hist t a) (new_hist t b) -> suf a b.
Proof.
  intros A B S. destruct (suf_total _ _ _ A B) as [Q|Q]; [auto|]. apply suf_len in S. rewrite !new_length in S.
  rewrite (suf_eq b a Q); [apply suf_refl|]. apply suf_len in Q. lia.
Qed.

(* what of a label stays *)
Lemma new_knd t l h : lknd (new_label t l h) = lknd l.
Proof. unfold new_label. rewrite put_kind. destruct l; reflexivity. Qed.
Lemma new_lq t l h : lq (new_label t l h) = lq l. Proof. destruct l; reflexivity. Qed.
Lemma new_isW q t l h : isW q (new_label t l h) = isW q l. Proof. destruct l; reflexivity. Qed.
Lemma new_isS q t l h : isS q (new_label t l h) = isS q l. Proof. destruct l; reflexivity. Qed.
Lemma new_isP q t l h : isP q (new_label t l h) = isP q l. Proof. destruct l; reflexivity. Qed.
Lemma new_poll t l h q : new_label t l h = Lp q <-> l = Lp q.
Proof. destruct l; split; simpl; unfold new_label; simpl; congruence. Qed.
Lemma new_carries t l h t' l' h' : carries (new_label t l h) (new_label t' l' h') <-> carries l l'.
Proof. destruct l, l'; simpl; tauto. Qed.
Lemma new_cntS q t h : cnt (isS q) (new_hist t h) = cnt (isS q) h.
Proof. induction h as [|l h IH]; [auto|]. now rewrite new_cons, !cnt_cons, IH, new_isS. Qed.
Lemma new_cntP q t h : cnt (isP q) (new_hist t h) = cnt (isP q) h.
Proof. induction h as [|l h IH]; [auto|]. now rewrite new_cons, !cnt_cons, IH, new_isP. Qed.
Lemma new_takes q t l h h' : takes q (new_label t l h) (new_hist t h) (new_hist t h') <-> takes q l h h'.
Proof. unfold takes. rewrite new_isS, !new_cntS, new_cntP. tauto. Qed.
Lemma new_follows t l h : follows (new_label t l h) (new_hist t h) <-> follows l h.
Proof. destruct h as [|l0 h]; [destruct l; simpl; tauto|]. rewrite new_cons. destruct l, l0; simpl; tauto. Qed.
Lemma new_polls t l h : polls (new_label t l h) (new_hist t h) <-> polls l h.
Proof. destruct l; simpl; try tauto. now rewrite new_cntP, new_cntS. Qed.
Lemma new_ok n n' t h : ok n h -> (forall l h', suf (l :: h') h -> lloc (new_label t l h') < n') -> ok n' (new_hist t h).
Proof.
  induction h as [|l h IH]; [simpl; auto|]. rewrite new_cons. simpl. intros (A & B & C & D) H. split; [|split; [|split]].
  - apply IH; [auto|]. intros l' h' S. apply H. eapply suf_trans; [exact S|now exists [l]].
  - now apply new_follows.
  - now apply new_polls.
  - apply H. apply suf_refl.
Qed.

(* threads and words *)
Lemma thread_inj t t' : alive t -> alive t' -> thread_to t = thread_to t' -> t = t'.
Proof.
  unfold alive, thread_to. intros [L|(j & I & ->)] [L'|(j' & I' & ->)].
  - apply Nat.ltb_lt in L, L'. now rewrite L, L'.
  - destruct (Nat.ltb_spec t nt), (Nat.ltb_spec (nt + j') nt); lia.
  - destruct (Nat.ltb_spec (nt + j) nt), (Nat.ltb_spec t' nt); lia.
  - destruct (Nat.ltb_spec (nt + j) nt), (Nat.ltb_spec (nt + j') nt); try lia.
    replace (nt + j - nt) with j by lia. replace (nt + j' - nt) with j' by lia. intros Q.
    f_equal. apply (index_inj js); auto. lia.
Qed.
Lemma word_low x : x < nv -> word_to x = x.
Proof. intros L. unfold word_to. apply Nat.ltb_lt in L. now rewrite L. Qed.
Lemma word_own j y : nv <= y < nv + ow -> word_to (place j y) = place (index js j) y.
Proof.
  intros Y. unfold word_to. pose proof (place_high j y). destruct (Nat.ltb_spec (place j y) nv); [lia|].
  destruct (own_index j y Y) as (-> & ->). reflexivity.
Qed.
Lemma word_inj x x' : kept_word x -> kept_word x' -> word_to x = word_to x' -> x = x'.
Proof.
  intros [L|(j & y & I & Y & ->)] [L'|(j' & y' & I' & Y' & ->)].
  - now rewrite !word_low.
  - rewrite word_low, word_own by auto. pose proof (place_high (index js j') y'). lia.
  - rewrite (word_low x'), word_own by auto. pose proof (place_high (index js j) y). lia.
  - rewrite !word_own by auto. intros Q. apply place_apart in Q; auto. destruct Q as (Q & E).
    apply index_inj in Q; auto; congruence.
Qed.
(* the word of a label of a thread that is left *)
Lemma new_loc ts t l h p : prog_of ts t p -> In l p -> alive t ->
  lloc (new_label t l h) = word_to (lloc l) /\ kept_word (lloc l).
Proof.
  intros Pr I Al. unfold new_label. assert (forall r w, lloc (revalue (put_at (unplaced t) l) r w)
    = lloc (put_at (unplaced t) l)) as Rv
    by (intros; destruct l; reflexivity).
  assert (unplaced t 0 = 0) as U0.
  { unfold unplaced. destruct (t <? nt); [auto|]. destruct (Nat.ltb_spec 0 nv); auto. }
  assert (placed t 0 = 0) as P0 by (unfold placed; destruct (t <? nt); [auto|apply place_0]).
  rewrite lloc_put, Rv, lloc_put by auto. unfold placed, unplaced, prog_of in *. destruct Al as [L|(j & J & ->)].
  - apply Nat.ltb_lt in L. rewrite L in *. pose proof (named_words _ _ _ Pr I).
    split; [symmetry; now apply word_low|now left].
  - destruct (Nat.ltb_spec (nt + j) nt); [lia|]. replace (nt + j - nt) with j in * by lia.
    destruct (nth_error ts j) as [k|]; [|subst p; destruct I]. destruct Pr as (h0 & Hh & ->).
    apply in_map_iff in I. destruct I as (l0 & <- & I). pose proof (templ_words _ _ _ Hh I) as B.
    rewrite lloc_put by apply place_0. destruct (le_lt_dec nv (lloc l0)) as [G|G].
    + pose proof (place_high j (lloc l0) G). destruct (Nat.ltb_spec (place j (lloc l0)) nv); [lia|].
      replace (place j (lloc l0) - j * ow) with (lloc l0) by (rewrite place_own by auto; lia).
      split; [symmetry; apply word_own; lia|right; exists j, (lloc l0); auto].
    + rewrite (place_low j) by auto. pose proof G as G'. apply Nat.ltb_lt in G'. rewrite G'.
      split; [rewrite word_low, place_low by auto; auto|now left].
Qed.
(* the new history is one of the program with fewer copies *)
Lemma unput g g' h : (forall x, g (g' x) = x) -> map (put_at g) (map (put_at g') h) = h.
Proof.
  intros G. induction h as [|l h IH]; simpl; [auto|]. rewrite IH. f_equal. destruct l; simpl; rewrite ?G; auto.
Qed.
Lemma unplaced_place j x : unplaced (nt + j) (place j x) = x.
Proof.
  unfold unplaced. destruct (Nat.ltb_spec (nt + j) nt); [lia|]. replace (nt + j - nt) with j by lia. unfold place.
  destruct (Nat.ltb_spec x nv) as [L|L]; [apply Nat.ltb_lt in L; now rewrite L|].
    destruct (Nat.ltb_spec (x + j * ow) nv); lia.
Qed.
Lemma base_copy j h : base (nt + j) (map (put_at (place j)) h) = h.
Proof. apply unput. apply unplaced_place. Qed.
Lemma base_named t h : t < nt -> base t h = h.
Proof.
  intros L. unfold base, unplaced. apply Nat.ltb_lt in L. rewrite L. apply put_ids.
Qed.
Lemma new_named t h : t < nt -> new_hist t h = fill (W t) (R t) h.
Proof.
  intros L. unfold new_hist, filled_base. rewrite base_named by auto. unfold placed. apply Nat.ltb_lt in L. rewrite L.
    apply put_ids.
Qed.
Lemma new_copy j h : new_hist (nt + j) (map (put_at (place j)) h) = map (put_at (place (index js j)))
  (fill (W (nt + j)) (R (nt + j)) h).
Proof.
  unfold new_hist, filled_base. rewrite base_copy. unfold placed. destruct (Nat.ltb_spec (nt + j) nt); [lia|].
  now replace (nt + j - nt) with j by lia.
Qed.
End Events.
