(* The definitions are not empty: a remote fetch-and-add and a store of a CPU on one word are not robust (atomics hca). *)
Require Import List Arith Lia Classical Relations.
Import ListNotations.
From RR Require Import Orders RemoteAtomicsModel RemoteAtomicsRules RemoteAtomicsValues RemoteAtomicsTraces
  RemoteAtomicsTheorem.

(* operations; an event is its thread, the operations before it, its operation, and the number of the slot in that *)
Inductive op := OLr (x v : nat) | OLw (x v : nat) | OCas (x v v' : nat) | OPoll (q : nat) | OFence (q : nat)
  | OPut (q x y : nat) | OGet (q y x : nat) | ORmw (q y : nat) (f : nat -> option nat) (x : nat)
  | OGlob (q y : nat) (f : nat -> option nat) (x : nat).
Inductive event := Ini (x : nat) | Ev (t : nat) (h : list op) (o : op) (s : nat).

Definition okind o s := match o, s with
  | OLr _ _, _ => LR | OLw _ _, _ => LW | OCas _ _ _, _ => CAS | OPoll _, _ => Poll | OFence _, _ => NF
  | OPut _ _ _, 0 => NLR | OPut _ _ _, 1 => NRW | OGet _ _ _, 0 => NRR | OGet _ _ _, 1 => NLW
  | ORmw _ _ _ _, 0 => NAR | ORmw _ _ _ _, 1 => NAW | ORmw _ _ _ _, 2 => NLW
  | OGlob _ _ _ _, 0 => NA | OGlob _ _ _ _, 1 => NLW
  | _, _ => LR end.
Definition oqp o := match o with OPoll q | OFence q | OPut q _ _ | OGet q _ _ | ORmw q _ _ _ | OGlob q _ _ _ => q | _ => 0
  end.
Definition oloc o s := match o, s with
  | OLr x _, _ | OLw x _, _ | OCas x _ _, _ => x | OPut _ x _, 0 => x | OPut _ _ y, _ => y
  | OGet _ y _, 0 => y | OGet _ _ x, _ => x | ORmw _ y _ _, 0 => y | ORmw _ y _ _, 1 => y | ORmw _ _ _ x, _ => x
  | OGlob _ y _ _, 0 => y | OGlob _ _ _ x, _ => x | _, _ => 0 end.
Definition completes q o := match o with
  | OPut q' _ _ | OGet q' _ _ | ORmw q' _ _ _ | OGlob q' _ _ _ => q =? q' | _ => false end.
Definition polls q o := match o with OPoll q' => q =? q' | _ => false end.
Definition count (f : op -> bool) h := length (filter f h).

Definition suf (h h' : list op) := exists k, h' = k ++ h.
Lemma suf_trans a b c : suf a b -> suf b c -> suf a c.
Proof. intros (k & ->) (k' & ->). exists (k' ++ k). now rewrite app_assoc. Qed.
Lemma suf_cons o h h' : suf (o :: h) h' -> suf h h'.
Proof. intros (k & ->). exists (k ++ [o]). now rewrite <- app_assoc. Qed.
Lemma suf_strict o h : ~ suf (o :: h) h.
Proof. intros (k & H). apply (f_equal (@length op)) in H. rewrite app_length in H. simpl in H. lia. Qed.

Definition eknd e := match e with Ini _ => Init | Ev _ _ o s => okind o s end.
Definition ethr e := match e with Ini _ => 0 | Ev t _ _ _ => t end.
Definition eqp e := match e with Ini _ => (0, 0) | Ev t _ o _ => (t, oqp o) end.
Definition eloc e := match e with Ini x => x | Ev _ _ o s => oloc o s end.
Definition epo a b := match a, b with
  | Ev t h o s, Ev t' h' o' s' => t = t' /\ (suf (o :: h) h' \/ (h = h' /\ o = o' /\ s < s')) | _, _ => False end.
Definition epf a b := match a, b with
  | Ev t h o s, Ev t' h' o' s' => epo a b /\ (okind o s = NRW \/ okind o s = NLW) /\ okind o' s' = Poll /\ eqp a = eqp b /\
      count (completes (oqp o)) h = count (polls (oqp o')) h'
  | _, _ => False end.
Definition esrc e := match e with
  | Ev t h o s => match okind o s with NRW | NLW | NAW => Ev t h o 0 | _ => e end | _ => e end.
Definition ecrv e := match e with Ev _ _ (OLr _ v) _ | Ev _ _ (OCas _ v _) _ => v | _ => 0 end.
Definition ecwv e := match e with Ev _ _ (OLw _ v) _ | Ev _ _ (OCas _ _ v) _ => v | _ => 0 end.
Definition eawv e := match e with Ev _ _ (ORmw _ _ f _) _ | Ev _ _ (OGlob _ _ f _) _ => f | _ => fun _ => None end.

Global Instance concrete_slots : slots.
Proof.
  refine {| ev := event; knd := eknd; thr := ethr; qpair := nat * nat; qp := eqp; loc := eloc; crv := ecrv; cwv := ecwv;
            awv := eawv; po := epo; pf := epf; src := esrc |}.
  - intros [x|t h o s]; simpl; [auto|]. intros (_ & [H|(_ & _ & H)]); [exact (suf_strict _ _ H)|lia].
  - intros [x|t h o s] [y|t' h' o' s'] [z|t2 h2 o2 s2]; simpl; try tauto.
    intros (-> & [H|(-> & -> & H)]) (-> & [K|(-> & -> & K)]); (split; [auto|]); auto.
    + left. eapply suf_trans; [exact H|]. now apply suf_cons in K.
    + right. split; auto. split; auto. lia.
  - intros [x|t h o s] [y|t' h' o' s']; simpl; tauto.
  - intros [x|t h o s] [y|t' h' o' s']; simpl; try tauto. intros _. destruct o; try discriminate; destruct s as [|[|[|s]]];
    discriminate.
  - intros [x|t h o s] [y|t' h' o' s']; simpl; try tauto. intros _. destruct o'; try discriminate; destruct s' as
    [|[|[|s']]]; discriminate.
  - intros [x|t h o s] [y|t' h' o' s']; simpl; congruence.
  - intros [x|t h o s] [y|t' h' o' s']; simpl; tauto.
  - intros [x|t h o s] N; simpl in *; [tauto|].
    destruct o, s as [|[|[|s]]]; simpl in *; try tauto; (split; [split; [auto|right; split; [auto|split; [auto|lia]]]|auto]).
  - intros [x|t h o s]; simpl; [auto|]. destruct o, s as [|[|[|s]]]; simpl; auto; discriminate.
  - intros [x|t h o s] [y|t' h' o' s']; simpl; try discriminate.
    destruct o, s as [|[|[|s]]]; simpl; try discriminate; destruct o', s' as [|[|[|s']]]; simpl; try discriminate;
      congruence.
  - intros [x|t h o s] [y|t' h' o' s']; simpl; try discriminate; [intros _ H; destruct o, s as [|[|[|s]]]; simpl in H;
    tauto|].
    destruct o, s as [|[|[|s]]]; simpl; try discriminate. intros _ (-> & [H|(-> & <- & H)]).
    + right. auto.
    + destruct s' as [|[|s']]; [lia|left; auto|right]. split; auto. right. split; auto. split; auto. lia.
Defined.

(* an operation has one answer (RemoteAtomicsCarried.v asks for that) *)
Lemma concrete_answer a b : (eknd a = NRW \/ eknd a = NLW) -> (eknd b = NRW \/ eknd b = NLW) -> esrc a = esrc b -> a = b.
Proof.
  destruct a as [x|t h o s], b as [y|t' h' o' s']; simpl; try (intuition discriminate).
  destruct o, s as [|[|[|s]]]; simpl; try (intuition discriminate);
  destruct o', s' as [|[|[|s']]]; simpl; try (intuition discriminate); intros _ _ H; congruence.
Qed.

(* thread 0 adds 1 to word 0 by its card and gets the answer in word 1; thread 1 stores 5 in word 0 *)
Definition rmw := ORmw 1 0 (fun v => Some (Datatypes.S v)) 1.
Definition r := Ev 0 [] rmw 0.
Definition w := Ev 0 [] rmw 1.
Definition c := Ev 1 [] (OLw 0 5) 0.
Definition S0 (e : event) := e = Ini 0 \/ e = Ini 1 \/ e = r \/ e = w \/ e = c.
Definition pos (e : event) := match e with Ini x => x | Ev 0 _ _ 0 => 2 | Ev 0 _ _ _ => 4 | _ => 3 end.
Definition lt0 (a b : event) := pos a < pos b.
Ltac cases H := destruct H as [-> | [-> | [-> | [-> | ->]]]].

(* the prefixes of the run: every set that can be left by taking out last events one by one *)
Inductive prefixes : (event -> Prop) -> Prop :=
| p_all : prefixes S0
| p_less S m : prefixes S -> @last concrete_slots S m -> prefixes (@without concrete_slots S m).
Definition example : @program concrete_slots := {| runs := prefixes; runs_prefix := p_less |}.

Lemma wf0 : @wfS concrete_slots S0.
Proof.
  constructor.
  - exists [Ini 0; Ini 1; r; w; c]. intros e H. cases H; simpl; auto 7.
  - intros a b P H. cases H; destruct a as [x|t h o s]; simpl in P; try tauto.
    + destruct P as (_ & [(k & P)|(_ & _ & P)]); [destruct k; discriminate|lia].
    + destruct P as (-> & [(k & P)|(-> & -> & P)]); [destruct k; discriminate|]. destruct s; [|lia]. unfold S0, r; auto.
    + destruct P as (_ & [(k & P)|(_ & _ & P)]); [destruct k; discriminate|lia].
  - intros a b Ha Hb Na Nb T. cases Ha; cases Hb; simpl in *; auto; try (now destruct Na); try (now destruct Nb); try
    discriminate.
    + right. left. split; auto.
    + right. right. split; auto.
  - intros v p v' Hp Hf. exfalso. cases Hp; destruct v; simpl in Hf; try tauto; destruct Hf as (_ & _ & K & _); discriminate.
  - intros e x He _ K. cases He; discriminate.
  - intros e x He _ K _. cases He; try discriminate. exists w. unfold S0. simpl. auto 7.
  - intros e He R. cases He; simpl in R; try tauto; exists (Ini 0); unfold S0; auto.
  - intros i j Hi Hj K K' L. cases Hi; cases Hj; simpl in *; try discriminate; auto.
Qed.
Lemma sto0 : @sto concrete_slots S0 lt0.
Proof.
  split; [|split]; unfold lt0.
  - intros x; lia.
  - intros x y z; lia.
  - intros x y Hx Hy. cases Hx; cases Hy; simpl; auto; right; lia.
Qed.
Lemma first0 : @initfirst concrete_slots S0 lt0.
Proof. intros i x Hi Hx K N. unfold lt0. cases Hi; cases Hx; simpl in *; try discriminate; try lia; now destruct N. Qed.

Definition all (e : event) := True.
Definition T0 := @tr concrete_slots S0 all lt0.
Lemma rf0 : rf T0 (Ini 0) r.
Proof.
  repeat split; unfold S0; auto; try (unfold lt0; simpl; lia).
  intros x Hx _ Lx H. unfold lt0 in H. cases Hx; simpl in *; try lia; try discriminate; auto.
Qed.

Theorem example_violating ord : violating ord example T0.
Proof.
  split; [split; [apply p_all|split; [|split]]|split].
  - apply tr_wft; auto using wf0, sto0, first0. intros a b (Ha & Hb & Ka & Kb & _ & H). unfold lt0 in H.
    cases Ha; cases Hb; simpl in *; try discriminate; lia.
  - intros x (Hx & _) C R. cases Hx; simpl in *; tauto.
  - intros x Hx C. cases Hx; simpl in C; try tauto. split; [intros _|intros; exact I].
    exists 1. apply (@wv_rmw concrete_slots (rf T0) w (Ini 0) 0 1); simpl; auto; [exact rf0|].
    apply (@wv_cpu concrete_slots (rf T0) (Ini 0)); simpl; tauto.
  - apply rules_consistent; auto using wf0, sto0.
    + intros a b (Ha & _) (Hb & _) (P & _). unfold lt0.
      cases Ha; cases Hb; simpl in *; try tauto; try lia; destruct P as (_ & [(k & P)|(_ & _ & P)]); try lia; destruct k;
        discriminate.
    + intros a p Hp Hf. exfalso. cases Hp; destruct a; simpl in Hf; try tauto; destruct Hf as (_ & _ & K & _); discriminate.
    + intros e a p Hp Hf. exfalso. cases Hp; destruct a; simpl in Hf; try tauto; destruct Hf as (_ & _ & K & _);
      discriminate.
    + intros a f b Ha Hf Hb K. exfalso. cases Ha; discriminate.
    + intros a b (Ha & _) K (_ & Hb & _ & Kb & _ & H). exfalso. unfold lt0 in H. cases Ha; cases Hb; simpl in *; try
      discriminate; lia.
  - intros N. apply (N r). apply t_trans with c; apply t_step.
    + exists r, c. split; [reflexivity|split; [reflexivity|split; [|intros (K & _); discriminate]]].
      apply sc_rb. split; [discriminate|]. exists (Ini 0). split; [exact rf0|].
      repeat split; unfold S0; auto 7; unfold lt0; simpl; try lia; tauto.
    + exists c, w. split; [reflexivity|split; [reflexivity|split; [|intros (_ & K); discriminate]]].
      apply sc_mo. repeat split; unfold S0; auto 7; unfold lt0; simpl; try lia; tauto.
Qed.
Corollary example_not_robust_atomics ord : ~ robust ord example.
Proof. intros R. exact (R T0 (example_violating ord)). Qed.
