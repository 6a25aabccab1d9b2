(* The definitions with store buffers are not empty: "x = 1; r = y" against "y = 1; s = x" is not robust. *)
Require Import List Arith ZArith Lia Classical Relations.
Import ListNotations.
From RR Require Import Model Hardware Orders Cells Stores Rules Traces Programs.

Definition sb_path (t : nat) : list label :=
  match t with 0 => [Lr 1 0%Z; Lw 0 1%Z] | 1 => [Lr 0 0%Z; Lw 1 1%Z] | _ => [] end.
Definition sb_prog t h := suf h (sb_path t).
Lemma sb_pre t l h : sb_prog t (l :: h) -> sb_prog t h.
Proof. apply suf_cons. Qed.
Definition sb_init (x : nat) := 0%Z.
Definition sb_example : program := the_program 2 2 sb_init sb_prog sb_pre.

Definition w0 := Ev 0 (Lw 0 1%Z) [].
Definition r0 := Ev 0 (Lr 1 0%Z) [Lw 0 1%Z].
Definition w1 := Ev 1 (Lw 1 1%Z) [].
Definition r1 := Ev 1 (Lr 0 0%Z) [Lw 1 1%Z].
Definition sb_E : event -> Prop := inrun 2 sb_init sb_path.
Lemma sb_inv e : sb_E e -> e = Ini 0 0%Z \/ e = Ini 1 0%Z \/ e = w0 \/ e = r0 \/ e = w1 \/ e = r1.
Proof.
  destruct e as [x v|t l h]; unfold sb_E; simpl; intros H.
  - destruct H as (H & ->). destruct x as [|[|x]]; auto; lia.
  - destruct t as [|[|t]]; simpl in H; [| |apply suf_len in H; simpl in H; lia];
    destruct (suf_tail _ _ _ H) as [X|X]; try (inversion X; subst; auto 7; fail);
    destruct (suf_tail _ _ _ X) as [Y|Y]; try (inversion Y; subst; auto 7; fail);
    apply suf_len in Y; simpl in Y; lia.
Qed.
(* both reads, then both stores *)
Definition sb_pos (e : event) := match e with Ini x _ => x | Ev t (Lr _ _) _ => 2 + t | Ev t _ _ => 4 + t end.
Definition sb_lt (e f : event) := sb_pos e < sb_pos f.
Ltac sb_cases H := apply sb_inv in H; destruct H as [-> | [-> | [-> | [-> | [-> | ->]]]]].

Lemma sb_run : is_run 2 2 sb_init sb_prog sb_E.
Proof.
  exists sb_path; split; [split|].
  - intros t; split; [apply suf_refl|]. destruct t as [|[|t]]; simpl; auto; repeat split; auto; lia.
  - intros [|[|t]] H; [lia|lia|auto].
  - unfold sb_E; tauto.
Qed.
Lemma sb_sto : sto (sb_E : ev -> Prop) sb_lt.
Proof.
  split; [|split]; unfold sb_lt.
  - intros x; lia.
  - intros x y z; lia.
  - intros x y Hx Hy. sb_cases Hx; sb_cases Hy; simpl; auto; right; lia.
Qed.
Lemma sb_first : initfirst (sb_E : ev -> Prop) sb_lt.
Proof.
  intros i x Hi Hx K N. unfold sb_lt.
  sb_cases Hi; sb_cases Hx; simpl in *; try discriminate; try lia; now destruct N.
Qed.
Section Network.
Variable f : flags.   (* under every order of the network *)
Notation hw := (tso (of_flags f)).
Definition sb_T := trace_by hw (sb_E : ev -> Prop) sb_lt.
Lemma in_w0 : sb_E w0. Proof. exists [Lr 1 0%Z]; reflexivity. Qed.
Lemma in_r0 : sb_E r0. Proof. exists []; reflexivity. Qed.
Lemma in_w1 : sb_E w1. Proof. exists [Lr 0 0%Z]; reflexivity. Qed.
Lemma in_r1 : sb_E r1. Proof. exists []; reflexivity. Qed.
Lemma in_i x : x < 2 -> sb_E (Ini x 0%Z). Proof. intros; unfold sb_E; simpl; auto. Qed.

Lemma sb_rf x r : (r = r0 /\ x = 1) \/ (r = r1 /\ x = 0) -> rf sb_T (Ini x 0%Z) r.
Proof.
  intros H. assert (sb_E r /\ x < 2) as (Er & Lx).
  { destruct H as [(-> & ->)|(-> & ->)]; (split; [exact in_r0 || exact in_r1|lia]). }
  split; [exact Er|]. split; [destruct H as [(-> & _)|(-> & _)]; exact I|]. right. split.
  - intros w (Hw & (T & (_ & Sw) & _) & Lo & _).
    destruct H as [(-> & ->)|(-> & ->)]; sb_cases Hw; simpl in *; discriminate.
  - split; [now apply in_i|]. split; [exact Er|].
    destruct H as [(-> & ->)|(-> & ->)]; repeat split; simpl; auto; unfold sb_lt; simpl; try lia;
    intros w' Hw' Ww' Lw' L'; sb_cases Hw'; simpl in *; try tauto; try lia; try discriminate; auto.
Qed.
Lemma sb_rb x r w : (r = r0 /\ x = 1 /\ w = w1) \/ (r = r1 /\ x = 0 /\ w = w0) -> sc1 sb_T r w.
Proof.
  intros H. apply sc_rb. split; [destruct H as [(-> & _ & ->)|(-> & _ & ->)]; discriminate|].
  exists (Ini x 0%Z). split; [apply sb_rf; tauto|].
  destruct H as [(-> & -> & ->)|(-> & -> & ->)]; (split; [apply in_i; lia|]);
    (split; [exact in_w0 || exact in_w1|]); repeat split; simpl; auto; unfold sb_lt; simpl; lia.
Qed.

Lemma sb_val x : @val concrete (rf sb_T) (Ini x 0%Z) 0%Z.
Proof. refine (@val_own concrete (rf sb_T) (Ini x 0%Z) I _). intros [y v|t l h] H; exact H. Qed.

Theorem sb_violating : violating hw sb_example sb_T.
Proof.
  pose proof (run_wf 2 2 sb_init sb_prog _ sb_run) as W.
  split; [split; [|split]|split].
  - exact sb_run.
  - apply trace_by_wft; auto using sb_sto, sb_first.
  - intros r Er Cr Rr. simpl in Er. sb_cases Er; simpl in *; try tauto.
    + exists (Ini 1 0%Z). split; [apply sb_rf; auto|]. apply sb_val.
    + exists (Ini 0 0%Z). split; [apply sb_rf; auto|]. apply sb_val.
  - assert (forall x y, ob1 hw sb_T x y -> sb_lt x y) as F.
    { apply (@rules_if concrete hw (tso_ok f) sb_E sb_lt (fun e => e = w0 \/ e = w1) W sb_sto).
      - intros x y Hx Hy Nx [-> | ->]; unfold sb_lt; sb_cases Hx; simpl; try lia; tauto.
      - intros x y Hx Hy B P. unfold sb_lt. sb_cases Hx; sb_cases Hy; simpl in *; try lia; try tauto;
        try (destruct P as (Q & P); try discriminate Q; apply suf_len in P; simpl in P; lia);
        exfalso; unfold w0, w1, r0, r1 in *; intuition discriminate.
      - intros x y Hx Hy [-> | ->] (P & O & _); sb_cases Hx; simpl in *; try tauto; exfalso;
        (destruct P as (Q & P); try discriminate Q; apply suf_len in P; simpl in P; lia) ||
        (apply O; split; [split; reflexivity|left; reflexivity]).
      - intros w p Hp H _. sb_cases Hp; destruct w; simpl in H; tauto.
      - intros _ w g r Hw Hf Hr Kw Kf Kr. sb_cases Hf; discriminate. }
    intros x H. apply (proj1 sb_sto x).
    eapply (@forward_trans event (ob1 hw sb_T) sb_lt); [apply sb_sto|exact F|exact H].
  - intros N. apply (N w0). apply t_trans with r0; [|apply t_trans with w1; [|apply t_trans with r1]]; apply t_step.
    + apply sc_po. split; [apply in_w0|split; [apply in_r0|]]. simpl. split; auto. apply suf_refl.
    + apply (sb_rb 1); auto.
    + apply sc_po. split; [apply in_w1|split; [apply in_r1|]]. simpl. split; auto. apply suf_refl.
    + apply (sb_rb 0); auto.
Qed.
Corollary sb_not_robust : ~ robust hw sb_example.
Proof. intros R. exact (R sb_T sb_violating). Qed.
End Network.
