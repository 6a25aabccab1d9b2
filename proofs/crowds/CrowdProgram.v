(* Programs with a crowd: P(n) of docs/theory-crowds.md, and that the search decides each. P ts has the named threads and
   one copy for each entry of the list ts, which says of what template; P(n) is the list with n entries for each template.
   *)
Require Import List Arith ZArith Lia.
Import ListNotations.
From RR Require Import Model Hardware Programs Search Searched.

(* Words below [nv] are no copy's own.  Labels of a template call its own words [nv] .. [nv + ow - 1]. *)
Class crowd := {
  nt : nat; nk : nat; nv : nat; ow : nat;       (* named threads, templates, words that are no copy's own,
    own words of a copy *)
  named : nat -> list label -> Prop;            (* thread t < nt can come to h *)
  templ : nat -> list label -> Prop;            (* a copy of template k < nk can come to h *)
  first_value : nat -> Z;                       (* of a word *)
  own_value : nat -> nat -> Z;                  (* of an own word of a copy of template k *)
  some_word : 0 < nv;
  named_nil : forall t, named t [];
  named_prefix : forall t l h, named t (l :: h) -> named t h;
  named_words : forall t h l, named t h -> In l h -> lloc l < nv;
  templ_nil : forall k, templ k [];
  templ_prefix : forall k l h, templ k (l :: h) -> templ k h;
  templ_words : forall k h l, templ k h -> In l h -> lloc l < nv + ow;
}.

(* a label with other words *)
Definition put_at (g : nat -> nat) l := match l with
  | Lr x v => Lr (g x) v | Lw x v => Lw (g x) v | Lc x v v' => Lc (g x) v v' | Lp q => Lp q | Lmf => Lmf
  | Lnlr q x => Lnlr q (g x) | Lnrw s q x => Lnrw s q (g x) | Linl s q x v => Linl s q (g x) v
  | Lnrr q x => Lnrr q (g x) | Lnlw s q x => Lnlw s q (g x) | Lnf q => Lnf q end.

Section Program.
Context {K : crowd}.

(* where the words of copy j are *)
Definition place j x := if x <? nv then x else x + j * ow.
Definition init_of ts x := if x <? nv then first_value x else let j := (x - nv) / ow in own_value (nth j ts 0)
  (x - j * ow).
Definition prog_of ts t h := if t <? nt then named t h else
  match nth_error ts (t - nt) with
  | Some k => exists h0, templ k h0 /\ h = map (put_at (place (t - nt))) h0
  | None => h = [] end.
Definition threads_of (ts : list nat) := nt + length ts.
Definition words_of (ts : list nat) := nv + length ts * ow.

Lemma prog_prefix ts t l h : prog_of ts t (l :: h) -> prog_of ts t h.
Proof.
  unfold prog_of. destruct (t <? nt); [apply named_prefix|]. destruct (nth_error ts (t - nt)) as [k|]; [|discriminate].
  intros ([|l0 h0] & H & Q); inversion Q; subst. exists h0. split; [now apply templ_prefix with l0|auto].
Qed.
Lemma prog_nil ts t : prog_of ts t [].
Proof.
  unfold prog_of. destruct (t <? nt); [apply named_nil|]. destruct (nth_error ts (t - nt)) as [k|]; [|auto].
  exists []. split; [apply templ_nil|auto].
Qed.
Definition P ts := the_program (threads_of ts) (words_of ts) (init_of ts) (prog_of ts) (prog_prefix ts).

(* The search for P ts, which may ask that the class is one of a thread that there is, and of a word that this thread can
   access. *)
Context (hw : hardware) {OK : hardware_ok hw} {SO : search_ok hw} {SC : cpu_sc hw} (zero : bool).
Definition can_access t x := x < nv \/ exists i, nv <= i < nv + ow /\ x = place (t - nt) i /\ nt <= t.
Definition hope_of (ts : list nat) (c : class) (D : @ev concrete -> Prop) :=
  cthr c < threads_of ts /\ can_access (cthr c) (ccell c).
Definition ini_of ts := ini0 (words_of ts) (init_of ts).
Definition ctl_of ts := ctl0 (threads_of ts) (words_of ts) (init_of ts) (prog_of ts).
Definition start_of ts : @state concrete := start_state (init_of ts : nat -> @value concrete).
Definition step_of ts := step hw zero (ini_of ts) (ctl_of ts) (hope_of ts).
Definition reach_of ts := reach hw zero (ini_of ts) (init_of ts : nat -> @value concrete) (ctl_of ts) (hope_of ts).
Definition reports_of ts := reports hw (ini_of ts) (ctl_of ts).
Definition found_of ts := found hw zero (ini_of ts) (init_of ts : nat -> @value concrete) (ctl_of ts) (hope_of ts).

Lemma lloc_put g l : g 0 = 0 -> lloc (put_at g l) = g (lloc l).
Proof. intros G. destruct l; simpl; auto. Qed.
Lemma place_low j x : x < nv -> place j x = x.
Proof. intros H. unfold place. apply Nat.ltb_lt in H. now rewrite H. Qed.
Lemma place_own j x : nv <= x -> place j x = x + j * ow.
Proof. intros H. unfold place. apply Nat.ltb_ge in H. now rewrite H. Qed.
Lemma place_0 j : place j 0 = 0.
Proof. apply place_low, some_word. Qed.

Lemma label_access ts t h l : prog_of ts t h -> In l h -> can_access t (lloc l).
Proof.
  unfold prog_of, can_access. destruct (t <? nt) eqn:T; [intros H I; left; now apply named_words with t h|].
  apply Nat.ltb_ge in T. destruct (nth_error ts (t - nt)) as [k|]; [|intros ->; intros []].
  intros (h0 & H & ->) I. apply in_map_iff in I. destruct I as (l0 & <- & I). rewrite lloc_put by apply place_0.
  pose proof (templ_words _ _ _ H I). destruct (le_lt_dec nv (lloc l0)) as [Q|Q]; [right; now exists (lloc l0)|].
  left. now rewrite place_low.
Qed.
Lemma hopes_of ts : hopes (threads_of ts) (words_of ts) (init_of ts) (prog_of ts) (hope_of ts).
Proof.
  intros E m D (path & (Hok & Hnt) & HE) (Em & Nm & _) _ _ _. apply HE in Em.
  destruct m as [x v|t l h]; [now destruct Nm|]. simpl in Em. split; simpl.
  - destruct (le_lt_dec (threads_of ts) t) as [Q|Q]; [|auto]. rewrite (Hnt t Q) in Em. apply suf_len in Em.
    simpl in Em. lia.
  - apply label_access with ts (path t); [apply Hok|]. destruct Em as (k & ->). apply in_or_app. right. now left.
Qed.

(* Theorem 8 for each P ts *)
Theorem search_decides ts : found_of ts <-> ~ robust hw (P ts).
Proof. apply concrete_theorem_8; [auto|auto|apply hopes_of|apply prog_nil]. Qed.
End Program.
