(* The definitions are not empty: a remote fetch-and-add and a store of a CPU on one word are not robust (atomics hca). *)
Require Import List Arith ZArith Lia Classical Relations.
Import ListNotations.
From RR Require Import Sequences Orders RemoteAtomicsModel RemoteAtomicsRules RemoteAtomicsValues RemoteAtomicsTraces
  RemoteAtomicsPrograms.
From RR Require Programs.

(* thread 0 adds 1 to word 0 by its card and gets the answer in word 1; thread 1 stores 5 in word 0 *)
Definition add := Lnar 1 0 (FetchAdd 1 (Some (0, 9)%Z)).
Definition store := Plain (Programs.Lw 0 5%Z).
Definition answer := Plain (Lnlw true 1 1).
Definition path (t : nat) : list label := match t with 0 => [answer; Lnaw 1 0; add] | 1 => [store] | _ => [] end.
Definition prog t h := suf h (path t).
Lemma prog_pre t l h : prog t (l :: h) -> prog t h.
Proof. apply suf_cons. Qed.
Definition init (x : nat) := 0%Z.
Definition example : program := the_program 2 2 init prog prog_pre.

Definition r := Ev 0 add [].
Definition w := Ev 0 (Lnaw 1 0) [add].
Definition n := Ev 0 answer [Lnaw 1 0; add].
Definition c := Ev 1 store [].
Definition S0 : ev -> Prop := inrun 2 init path.
Lemma S0_inv e : S0 e -> e = Ini 0 0%Z \/ e = Ini 1 0%Z \/ e = r \/ e = w \/ e = n \/ e = c.
Proof.
  destruct e as [x v|t l h]; unfold S0; simpl; intros H.
  - destruct H as (H & ->). destruct x as [|[|x]]; auto; lia.
  - destruct t as [|[|t]]; simpl in H; [| |apply suf_len in H; simpl in H; lia];
    repeat (destruct (suf_tail _ _ _ H) as [X|X]; [inversion X; subst; auto 7|clear H; rename X into H]);
    apply suf_len in H; simpl in H; lia.
Qed.
Lemma in_S0 : S0 (Ini 0 0%Z) /\ S0 r /\ S0 w /\ S0 c.
Proof.
  unfold S0; simpl. repeat split; auto; [now exists [answer; Lnaw 1 0]|now exists [answer]|now exists []].
Qed.
Ltac cases H := apply S0_inv in H; destruct H as [-> | [-> | [-> | [-> | [-> | ->]]]]].
Definition pos (e : event) :=
  match e with Ini x _ => x | Ev _ (Lnar _ _ _) _ => 2 | Ev 1 _ _ => 3 | Ev _ (Lnaw _ _) _ => 4 | _ => 5 end.
Definition lt0 (a b : event) := pos a < pos b.

Lemma run0 : is_run 2 2 init prog S0.
Proof.
  exists path; split; [split|].
  - intros t; split; [apply suf_refl|]. destruct t as [|[|t]]; simpl; auto; unfold in_memory; simpl; repeat split; auto; lia.
  - intros [|[|t]] H; auto; lia.
  - unfold S0; tauto.
Qed.
Lemma wf0 : wfS S0.
Proof. exact (run_wf 2 2 init prog _ run0). Qed.
Lemma sto0 : sto S0 lt0.
Proof.
  split; [|split]; unfold lt0.
  - intros x; lia.
  - intros x y z; lia.
  - intros x y Hx Hy. cases Hx; cases Hy; simpl; auto; right; lia.
Qed.
Lemma first0 : initfirst S0 lt0.
Proof. intros i x Hi Hx K N. unfold lt0. cases Hi; cases Hx; simpl in *; try discriminate; try lia; now destruct N. Qed.
Lemma po0 a b : S0 a -> S0 b -> po a b -> lt0 a b.
Proof.
  intros Ha Hb P. unfold lt0. cases Ha; cases Hb; simpl in P |- *; try lia; try tauto; exfalso; destruct P as (Q & P & _);
  try discriminate Q; apply suf_len in P; simpl in P; lia.
Qed.
Lemma no_poll a p : S0 p -> ~ pf a p.
Proof. intros Hp F. destruct (pf_ok _ _ F) as (_ & _ & K & _). cases Hp; discriminate. Qed.

Definition T0 := tr S0 (fun _ => True) lt0.
Lemma rf0 : rf T0 (Ini 0 0%Z) r.
Proof.
  destruct in_S0 as (I0 & Ir & _). split; [exact I0|split; [exact Ir|]].
  split; [now apply init_wr|split; [exact I|split; [reflexivity|split; [unfold lt0; simpl; lia|]]]].
  intros x Hx _ Lx H. unfold lt0 in H. cases Hx; simpl in *; try lia; try discriminate; auto.
Qed.

Theorem example_violating (ord : order) : violating ord example T0.
Proof.
  destruct in_S0 as (Ii & Ir & Iw & Ic).
  split; [split; [exact run0|split; [|split]]|split].
  - apply tr_wft; auto using wf0, sto0, first0. intros a b (Ha & Hb & Ka & Kb & _ & H). unfold lt0 in H.
    cases Ha; cases Hb; simpl in *; try discriminate; lia.
  - intros x (Hx & _) C R. cases Hx; simpl in *; tauto.
  - intros x Hx C. cases Hx; simpl in C; try tauto. split; [intros _|intros; exact I].
    exists 1%Z. apply (wv_rmw (rf T0) w (Ini 0 0%Z) 0%Z 1%Z); [exact I|exact rf0| |reflexivity].
    apply (wv_cpu (rf T0) (Ini 0 0%Z)); [exact I|intros F; now apply F|intros F; exact F].
  - apply rules_consistent; auto using wf0, sto0.
    + intros a b (Ha & _) (Hb & _) (P & _). now apply po0.
    + intros a p Hp F. destruct (no_poll a p Hp F).
    + intros e a p Hp F. destruct (no_poll a p Hp F).
    + intros _ a f b Ha Hf Hb K Kf. cases Hf; discriminate.
    + intros a b (Ha & _) K (_ & Hb & _ & Kb & _ & H). exfalso. unfold lt0 in H.
      cases Ha; cases Hb; simpl in *; try discriminate; lia.
  - intros N. apply (N r). apply t_trans with c; apply t_step.
    + exists r, c. split; [reflexivity|split; [reflexivity|split; [|intros (K & _); discriminate]]].
      apply sc_rb. split; [discriminate|]. exists (Ini 0 0%Z). split; [exact rf0|].
      split; [exact Ii|split; [exact Ic|repeat split; unfold lt0; simpl; auto; lia]].
    + exists c, w. split; [reflexivity|split; [reflexivity|split; [|intros (_ & K); discriminate]]].
      apply sc_mo. split; [exact Ic|split; [exact Iw|repeat split; unfold lt0; simpl; auto; lia]].
Qed.
Corollary example_not_robust_atomics (ord : order) : ~ robust ord example.
Proof. intros R. exact (R T0 (example_violating ord)). Qed.
