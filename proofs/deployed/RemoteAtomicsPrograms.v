(* Remote atomics: programs as sets of sequences of slots; the class [slots] and [wfS] hold of them. *)
Require Import List Arith ZArith Bool Lia Classical Relations.
Import ListNotations.
From RR Require Import Sequences Orders RemoteAtomicsModel RemoteAtomicsValues RemoteAtomicsTraces RemoteAtomicsPivot
  RemoteAtomicsParts RemoteAtomicsTheorem.
From RR Require Programs.
Notation Lnlr := Programs.Lnlr. Notation Lnrw := Programs.Lnrw.
Notation Lnrr := Programs.Lnrr. Notation Lnlw := Programs.Lnlw.

(* What an RMW writes when it has read v, if it writes.  A fetch-and-add that leaves the domain goes on at its other end. *)
Inductive operation := CompareSwap (a b : Z) | FetchAdd (d : Z) (domain : option (Z * Z)) | Exchange (u : Z).
Definition result o v := match o with
  | CompareSwap a b => if (v =? a)%Z then Some b else None
  | FetchAdd d None => Some (v + d)%Z
  | FetchAdd d (Some (lo, hi)) => Some (lo + (v + d - lo) mod (hi - lo + 1))%Z
  | Exchange u => Some u end.

(* What a slot is: an event as in core/Programs.v, or one of an RMW of cell x.  Operands are those of the post.  An RMW is
   naR, naW, nlW (atomics hca) or nA, nlW (atomics glob), also where it does not write. *)
Inductive label :=
| Plain (l : Programs.label) | Lnar (q x : nat) (o : operation) | Lnaw (q x : nat) | Lna (q x : nat) (o : operation).
Definition lknd l := match l with
  | Plain l => match l with
    | Programs.Lr _ _ => LR | Programs.Lw _ _ => LW | Programs.Lc _ _ _ => CAS
    | Programs.Lp _ => Poll | Programs.Lmf => Fence
    | Programs.Lnlr _ _ => NLR | Programs.Lnrw _ _ _ | Programs.Linl _ _ _ _ => NRW
    | Programs.Lnrr _ _ => NRR | Programs.Lnlw _ _ _ => NLW | Programs.Lnf _ => NF end
  | Lnar _ _ _ => NAR | Lnaw _ _ => NAW | Lna _ _ _ => NA end.
Definition lq l := match l with Plain l => Programs.lq l | Lnar q _ _ | Lnaw q _ | Lna q _ _ => q end.
Definition lloc l := match l with Plain l => Programs.lloc l | Lnar _ x _ | Lnaw _ x | Lna _ x _ => x end.

(* operations of a queue pair; those that have a completion *)
Definition completes q l := match l with Plain l => Programs.isW q l | _ => false end.
Definition signals q l := match l with Plain l => Programs.isS q l | _ => false end.
Definition polls q l := match l with Plain l => Programs.isP q l | _ => false end.

(* The grammar: what may come behind h. *)
Definition follows l h := match h, l with
  | Plain (Lnlr q _) :: _, Plain (Lnrw _ q' _) | Plain (Lnrr q _) :: _, Plain (Lnlw _ q' _)
  | Lnaw q _ :: _, Plain (Lnlw _ q' _) | Lna q _ _ :: _, Plain (Lnlw _ q' _) => q =? q'
  | Lnar q x _ :: _, Lnaw q' x' => (q =? q') && (x =? x')
  | (Plain (Lnlr _ _ | Lnrr _ _) | Lnar _ _ _ | Lnaw _ _ | Lna _ _ _) :: _, _ => false
  | _, (Plain (Lnrw _ _ _ | Lnlw _ _ _) | Lnaw _ _) => false
  | _, _ => true end.
Fixpoint grammar h := match h with [] => true | l :: h => grammar h && follows l h end.

(* a slot: the initial write of v to x, or thread, label, past (newest first) *)
Inductive event := Ini (x : nat) (v : Z) | Ev (t : nat) (l : label) (h : list label).
(* what is no sequence of the grammar is nobody's: a fence that nothing comes before *)
Definition eknd e := match e with Ini _ _ => Init | Ev _ l h => if grammar (l :: h) then lknd l else Fence end.
Definition ethr e := match e with Ini _ _ => 0 | Ev t _ _ => t end.
Definition eqp e := match e with Ini _ _ => (0, 0) | Ev t l _ => (t, lq l) end.
Definition eloc e := match e with Ini x _ => x | Ev _ l _ => lloc l end.
Definition erv e := match e with Ev _ (Plain l) _ => Programs.lrv l | _ => 0%Z end.
Definition ewv e := match e with Ini _ v => v | Ev _ (Plain l) _ => Programs.lwv l | _ => 0%Z end.
Definition eawv e := match e with Ev _ (Lnar _ _ o) _ | Ev _ (Lna _ _ o) _ => result o | _ => fun _ => None end.
Definition epo a b := match a, b with
  | Ev t l h, Ev t' l' h' => t = t' /\ suf (l :: h) h' /\ grammar (l' :: h') = true | _, _ => False end.

(* as in core/Programs.v: a poll takes the completion with its number, and tells of the operations before that *)
Definition takes q l h h' :=
  if signals q l then cnt (signals q) h = cnt (polls q) h' else cnt (signals q) h <= cnt (polls q) h'.
Definition epf a b := match a, b with
  | Ev t l h, Ev t' (Plain (Programs.Lp q)) h' => epo a b /\ completes q l = true /\ takes q l h h'
  | _, _ => False end.
(* the read of the operation that a NIC write belongs to *)
Definition source e := match e with
  | Ev t (Plain (Lnlw _ _ _)) (Lnaw _ _ :: r :: h) => Ev t r h
  | Ev t (Plain (Lnlw _ _ _ | Lnrw _ _ _) | Lnaw _ _) (r :: h) => Ev t r h
  | _ => e end.
Definition esrc e := match e with Ev _ l h => if grammar (l :: h) then source e else e | _ => e end.

Lemma grammar_cons l h : grammar (l :: h) = true <-> grammar h = true /\ follows l h = true.
Proof. simpl. apply andb_true_iff. Qed.
Lemma grammar_suf a b : suf a b -> grammar b = true -> grammar a = true.
Proof. intros (k & ->). induction k; simpl; [auto|]. intros H. apply andb_prop in H. tauto. Qed.

Lemma source_cases t l h : grammar (l :: h) = true ->
  (source (Ev t l h) = Ev t l h /\ lknd l <> NLW /\ lknd l <> NAW) \/
  exists r h', source (Ev t l h) = Ev t r h' /\ suf (r :: h') h /\ lq r = lq l /\
    match lknd l with NRW => lknd r = NLR | NLW => lknd r = NRR \/ lknd r = NAR \/ lknd r = NA
    | NAW => lknd r = NAR /\ lloc r = lloc l /\ h = r :: h' | _ => False end.
Proof.
  intros G. apply grammar_cons in G as (Gh & F).
  assert (forall r h', h = r :: h' -> suf (r :: h') h) as S1 by (intros r h' ->; apply suf_refl).
  destruct l as [l|q x o|q x|q x o].
  - destruct l; try (left; split; [reflexivity|split; discriminate]); right; destruct h as [|r h]; try discriminate F.
    + exists r, h. destruct r as [[]| | |]; simpl in F |- *; try discriminate F. apply Nat.eqb_eq in F. auto.
    + destruct r as [[]|? ? ?|? ?|? ? ?]; simpl in F; try discriminate F; apply Nat.eqb_eq in F;
        try (eexists _, h; simpl; split; [reflexivity|auto]; fail).
      apply grammar_cons in Gh as (_ & G). destruct h as [|r h]; [discriminate G|].
      exists r, h. destruct r as [[]|? ? ?|? ?|? ? ?]; simpl in G |- *; try discriminate G.
      apply andb_prop in G as (G & _). apply Nat.eqb_eq in G. split; [auto|]. split; [eexists [_]; reflexivity|].
      split; [congruence|auto].
  - left; split; [reflexivity|split; discriminate].
  - right. destruct h as [|r h]; [discriminate F|]. exists r, h.
    destruct r as [[]|? ? ?|? ?|? ? ?]; simpl in F |- *; try discriminate F.
    apply andb_prop in F as (F & F'). apply Nat.eqb_eq in F, F'. auto 10.
  - left; split; [reflexivity|split; discriminate].
Qed.
Lemma good_kind t l h : grammar (l :: h) = true -> eknd (Ev t l h) = lknd l /\ esrc (Ev t l h) = source (Ev t l h).
Proof. intros G. unfold eknd, esrc. now rewrite G. Qed.
Lemma esrc_cases e : esrc e = e /\ eknd e <> NLW /\ eknd e <> NAW \/
  exists t l h r h', e = Ev t l h /\ esrc e = Ev t r h' /\ grammar (l :: h) = true /\ suf (r :: h') h /\ lq r = lq l /\
    eknd e = lknd l /\ eknd (esrc e) = lknd r /\
    match lknd l with NRW => lknd r = NLR | NLW => lknd r = NRR \/ lknd r = NAR \/ lknd r = NA
    | NAW => lknd r = NAR /\ lloc r = lloc l /\ h = r :: h' | _ => False end.
Proof.
  destruct e as [x v|t l h]; [left; split; [reflexivity|split; discriminate]|].
  destruct (grammar (l :: h)) eqn:G.
  2:{ left. unfold eknd, esrc. rewrite G. split; [reflexivity|split; discriminate]. }
  destruct (good_kind t l h G) as (K & Q). rewrite K, Q.
  destruct (source_cases t l h G) as [(A & B)|(r & h' & A & B & C & D)]; rewrite A; [auto|right].
  exists t, l, h, r, h'. repeat split; auto. apply good_kind.
  apply grammar_cons in G as (G & _). eapply grammar_suf; eauto.
Qed.

(* behind a naR comes its naW *)
Lemma behind_nar q x o h l h' : suf (Lnar q x o :: h) h' -> grammar (l :: h') = true ->
  (h' = Lnar q x o :: h /\ l = Lnaw q x) \/ suf (Lnaw q x :: Lnar q x o :: h) h'.
Proof.
  intros S G. destruct (next _ _ _ S) as [<-|(l2 & S2)].
  - left. split; [auto|]. apply grammar_cons in G as (_ & F).
    destruct l as [[]|? ? ?|? ?|? ? ?]; simpl in F; try discriminate F.
    apply andb_prop in F as (F & F'). apply Nat.eqb_eq in F, F'. congruence.
  - right. replace (Lnaw q x) with l2; [exact S2|]. apply grammar_cons in G as (G & _). apply (grammar_suf _ _ S2) in G.
    apply grammar_cons in G as (_ & F). destruct l2 as [[]|? ? ?|? ?|? ? ?]; simpl in F; try discriminate F.
    apply andb_prop in F as (F & F'). apply Nat.eqb_eq in F, F'. congruence.
Qed.
(* a naW and its naR *)
Lemma naw_parts w : eknd w = NAW -> exists t q x o h,
  w = Ev t (Lnaw q x) (Lnar q x o :: h) /\ esrc w = Ev t (Lnar q x o) h /\ grammar (Lnaw q x :: Lnar q x o :: h) = true.
Proof.
  intros K. destruct (esrc_cases w) as [(_ & _ & N)|(t & l & h & r & h' & -> & -> & G & _ & Q & Kl & Kr & C)]; [congruence|].
  rewrite K in Kl. rewrite <- Kl in C. destruct C as (Rk & Lo & ->).
  destruct l as [[]|? ? ?|q x|? ? ?]; simpl in Kl; try discriminate Kl.
  destruct r as [[]|q' x' o|? ?|? ? ?]; simpl in Rk; try discriminate Rk. simpl in Q, Lo. subst q' x'.
  exists t, q, x, o, h'. auto.
Qed.

Global Instance concrete_slots : slots.
Proof.
  refine {| ev := event; knd := eknd; thr := ethr; qpair := nat * nat; qp := eqp; loc := eloc; value := Z;
            crv := erv; cwv := ewv; awv := eawv; po := epo; pf := epf; src := esrc |}.
  - intros [x v|t l h]; simpl; [auto|]. intros (_ & H & _). exact (suf_strict _ _ H).
  - intros [x v|t l h] [y v'|t' l' h'] [z v''|t'' l'' h'']; simpl; try tauto.
    intros (-> & H & _) (-> & H' & G); split; auto. split; [|auto]. eapply suf_trans; [exact H|]. now apply suf_cons in H'.
  - intros [x v|t l h] [y v'|t' l' h']; simpl; tauto.
  - intros [x v|t l h] [y v'|t' l' h'] H; [destruct H..|]. simpl. destruct (_ && _); [|discriminate].
    destruct l as [[]| | |]; discriminate.
  - intros [x v|t l h] [y v'|t' l' h'] H; [destruct H..|]. simpl. destruct (_ && _); [|discriminate].
    destruct l' as [[]| | |]; discriminate.
  - intros [x v|t l h] [y v'|t' l' h'] A B _ _ H; simpl in *; congruence.
  - intros [x v|t l h] [y v'|t' l' h'] H; try (destruct H; fail). simpl in H. destruct l' as [[]| | |]; try tauto.
    destruct H as (H & W & _). pose proof H as (_ & S & G).
    assert (grammar (l :: h) = true) as G' by (apply grammar_cons in G as (G & _); eapply grammar_suf; eauto).
    rewrite (proj1 (good_kind t l h G')), (proj1 (good_kind t' _ h' G)). split; [exact H|].
    destruct H as (-> & _). destruct l as [[]| | |]; simpl in W |- *; try discriminate; apply Nat.eqb_eq in W; subst; auto.
  - intros w N. destruct (esrc_cases w) as [(Q & _)|(t & l & h & r & h' & -> & -> & G & S & Q & -> & Kr & C)]; [congruence|].
    rewrite Kr. split; [simpl; auto|]. split; [simpl; congruence|]. destruct (lknd l); tauto.
  - intros w Q. destruct (esrc_cases w) as [(_ & H)|(t & l & h & r & h' & -> & R & _ & S & _)]; [exact H|exfalso].
    pose proof (eq_trans (eq_sym R) Q) as R2. injection R2 as -> ->. exact (suf_strict _ _ S).
  - intros w w' K K' Q. destruct (naw_parts w K) as (t & q & x & o & h & -> & R & _).
    destruct (naw_parts w' K') as (t' & q' & x' & o' & h' & -> & R' & _). rewrite R, R' in Q. congruence.
  - intros w a K. destruct (naw_parts w K) as (t & q & x & o & h & -> & -> & _). destruct a as [y v|t' l' h']; [intros []|].
    intros (-> & S & G). destruct (behind_nar _ _ _ _ _ _ S G) as [(-> & ->)|S2]; [auto|right]. simpl. auto.
Defined.

(* Sequences of the grammar in which no poll comes too early. *)
Definition in_time l h := match l with Plain (Programs.Lp q) => cnt (polls q) h < cnt (signals q) h | _ => True end.
Definition in_memory nv l := match lknd l with Poll | Fence | NF => True | _ => lloc l < nv end.
Fixpoint ok nv h := match h with [] => True | l :: h => ok nv h /\ follows l h = true /\ in_time l h /\ in_memory nv l end.
Lemma ok_suf nv a b : suf a b -> ok nv b -> ok nv a.
Proof. intros (k & ->). induction k; simpl; tauto. Qed.
Lemma ok_grammar nv h : ok nv h -> grammar h = true.
Proof. induction h; simpl; [auto|]. intros (A & -> & _). now rewrite (IHh A). Qed.

(* [prog t h]: thread t can come to h; prefix-closed, between naR and naW too *)
Section Run.
Variables (nt nv : nat) (init : nat -> Z) (prog : nat -> list label -> Prop).
Hypothesis prog_prefix : forall t l h, prog t (l :: h) -> prog t h.

Definition inrun (path : nat -> list label) (e : event) :=
  match e with Ini x v => x < nv /\ v = init x | Ev t l h => suf (l :: h) (path t) end.
Definition pathok path := (forall t, prog t (path t) /\ ok nv (path t)) /\ forall t, nt <= t -> path t = [].
Definition is_run (E : event -> Prop) := exists path, pathok path /\ forall e, E e <-> inrun path e.

Fixpoint sufs t (h : list label) := match h with [] => [] | l :: h' => Ev t l h' :: sufs t h' end.
Lemma sufs_in t l h p : suf (l :: h) p -> In (Ev t l h) (sufs t p).
Proof.
  induction p as [|y p IH]; intros H.
  - apply suf_len in H; simpl in H; lia.
  - destruct (suf_tail _ _ _ H) as [X|X]; [inversion X; subst; simpl; auto|simpl; auto].
Qed.
Lemma run_good path t l h : pathok path -> suf (l :: h) (path t) -> ok nv (l :: h) /\ grammar (l :: h) = true.
Proof.
  intros (Hok & _) S. assert (ok nv (l :: h)) as O by (eapply ok_suf; [exact S|apply Hok]).
  split; [exact O|now apply ok_grammar in O].
Qed.
Lemma lknd_plain t l h k : eknd (Ev t l h) = k -> k <> Fence -> grammar (l :: h) = true /\ lknd l = k.
Proof. unfold eknd. destruct (grammar (l :: h)); [auto|congruence]. Qed.
Lemma eknd_noninit t l h : eknd (Ev t l h) <> Init.
Proof. unfold eknd. destruct (grammar (l :: h)); [|discriminate]. destruct l as [[]| | |]; discriminate. Qed.

Lemma run_older E w p w' : is_run E -> E p -> epf w p -> eknd w' = NRW \/ eknd w' = NLW -> eqp w' = eqp w -> epo w' w ->
  exists p', epf w' p' /\ (p' = p \/ epo p' p).
Proof.
  intros (path & Hp & HE). destruct w as [x v|t l h], p as [y v'|t' l' h'], w' as [z v''|t'' l'' h'']; try (simpl; tauto).
  intros Ep F K Q Pw. simpl in F. destruct l' as [[]| | |]; try tauto. destruct F as (Pp & W & C).
  pose proof Pp as (<- & S & Gp). pose proof Pw as (-> & S'' & Gw).
  apply HE in Ep. simpl in Ep. assert (lq l'' = lq l) as Ql by (simpl in Q; congruence).
  assert (completes q l'' = true) as W''.
  { assert (lknd l'' = NRW \/ lknd l'' = NLW) as K''.
    { destruct K as [K|K]; apply lknd_plain in K; try discriminate; tauto. }
    destruct l'' as [[]| | |]; simpl in K''; try (destruct K''; discriminate); destruct l as [[]| | |]; simpl in W, Ql |- *;
    try discriminate; congruence. }
  assert (suf (l'' :: h'') h') as S3 by (eapply suf_trans; [exact S''|]; now apply suf_cons in S).
  assert (epo (Ev t l'' h'') (Ev t (Plain (Programs.Lp q)) h')) as P3 by (simpl; auto).
  pose proof (suf_cnt (signals q) _ _ S'') as X. rewrite cnt_cons in X.
  assert (cnt (signals q) h <= cnt (polls q) h') as Y by (unfold takes in C; destruct (signals q l); lia).
  destruct (signals q l'') eqn:Sg.
  - destruct (nth_where (polls q) h' (cnt (signals q) h'')) as (l3 & h3 & T3 & L3 & C3); [lia|].
    destruct l3 as [[]| | |]; try discriminate. apply Nat.eqb_eq in L3. subst q0.
    assert (suf (Plain (Programs.Lp q) :: h3) (path t)) as R3 by (eapply suf_trans; [exact T3|]; now apply suf_cons in Ep).
    destruct (run_good path t _ _ Hp R3) as ((_ & _ & Z & _) & G3). simpl in Z.
    exists (Ev t (Plain (Programs.Lp q)) h3). split; [|right; simpl; auto].
    split; [|split; [auto|unfold takes; rewrite Sg; lia]]. simpl. split; [auto|]. split; [|auto].
    destruct (suf_total _ _ _ S3 (suf_cons _ _ _ T3)) as [V|V]; auto.
    destruct (suf_tail _ _ _ V) as [V'|V'].
    + rewrite V'. apply suf_refl.
    + apply (suf_cnt (signals q)) in V'. lia.
  - exists (Ev t (Plain (Programs.Lp q)) h'). split; [|auto]. split; [exact P3|]. split; [auto|].
    unfold takes. rewrite Sg. lia.
Qed.

Lemma run_wf E : is_run E -> wfS E.
Proof.
  intros R. pose proof R as (path & Hp & HE). pose proof Hp as (Hok & Hnt). constructor.
  - exists (map (fun x => Ini x (init x)) (seq 0 nv) ++ flat_map (fun t => sufs t (path t)) (seq 0 nt)).
    intros e He. apply HE in He. apply in_or_app. destruct e as [x v|t l h]; simpl in He.
    + left. destruct He as (He & ->). apply in_map_iff. exists x; split; [auto|]. apply in_seq; lia.
    + right. apply in_flat_map. exists t. split; [|now apply sufs_in].
      apply in_seq. split; [lia|]. destruct (le_lt_dec nt t) as [X|X]; [|simpl; lia].
      rewrite (Hnt t X) in He. apply suf_len in He; simpl in He; lia.
  - intros [x v|t l h] [y v'|t' l' h'] P H; simpl in P; try tauto. destruct P as (-> & P & _).
    apply HE in H. apply HE. simpl in *. eapply suf_trans; [exact P|]. now apply suf_cons in H.
  - intros [x v|t l h] [y v'|t' l' h'] Ea Eb Na Nb T; simpl in T; try (now destruct Na); try (now destruct Nb).
    subst. apply HE in Ea, Eb. destruct (run_good path _ _ _ Hp Ea) as (_ & Ga), (run_good path _ _ _ Hp Eb) as (_ & Gb).
    simpl in Ea, Eb. destruct (suf_total _ _ _ Ea Eb) as [X|X]; destruct (suf_tail _ _ _ X) as [Y|Y];
    try (inversion Y; subst; auto; fail); [right; left|right; right]; simpl; auto.
  - intros w p w' Sp. now apply (run_older E).
  - intros [x v|t l h] [y v'|t' l' h'] Ee Ex K P; simpl in P; try tauto. destruct P as (<- & P & G).
    apply HE in Ex. simpl in Ex. apply lknd_plain in K as (Gl & K); [|discriminate].
    assert (suf (l :: h) (l' :: h')) as P2 by (eapply suf_trans; [exact P|now exists [l']]).
    destruct (next _ _ _ P2) as [X|(l2 & X)]; [exfalso; inversion X; subst; exact (suf_strict _ _ P)|].
    assert (suf (l2 :: l :: h) (path t)) as X2 by (eapply suf_trans; eauto).
    destruct (run_good path _ _ _ Hp X2) as (_ & G2).
    pose proof G2 as F. apply grammar_cons in F as (_ & F).
    destruct l as [[]| | |]; try discriminate K. destruct l2 as [[]| | |]; simpl in F; try discriminate F.
    exists (Ev t (Plain (Lnlw s q0 x0)) (Plain (Lnrr q x) :: h)). split; [now apply HE|].
    destruct (good_kind t _ _ G2) as (A & B). split; [exact A|]. split; [exact B|].
    destruct (suf_tail _ _ _ X) as [Z|Z]; [left; inversion Z; subst; auto|right; simpl; auto].
  - intros [x v|t l h] [y v'|t' l' h'] Ee Ex K P; simpl in P; try tauto. destruct P as (<- & P & G).
    apply HE in Ex. simpl in Ex. apply lknd_plain in K as (Gl & K); [|discriminate].
    destruct l as [[]|q x o| |]; try discriminate K.
    assert (suf (Lnaw q x :: Lnar q x o :: h) (l' :: h')) as S2.
    { destruct (behind_nar _ _ _ _ _ _ P G) as [(-> & ->)|S2]; [apply suf_refl|].
      eapply suf_trans; [exact S2|now exists [l']]. }
    assert (suf (Lnaw q x :: Lnar q x o :: h) (path t)) as S3 by (eapply suf_trans; eauto).
    destruct (run_good path _ _ _ Hp S3) as (_ & G3). destruct (good_kind t _ _ G3) as (A & B).
    exists (Ev t (Lnaw q x) (Lnar q x o :: h)). split; [now apply HE|]. split; [exact A|exact B].
  - intros [x v|t l h] Ee Rd; [destruct Rd|]. apply HE in Ee. simpl in Ee.
    destruct (run_good path _ _ _ Hp Ee) as ((_ & _ & _ & X) & G). destruct (good_kind t l h G) as (K & _).
    assert (lloc l < nv) as X'.
    { unfold in_memory in X. change (is_r (eknd (Ev t l h))) in Rd. rewrite K in Rd. destruct (lknd l); tauto. }
    exists (Ini (lloc l) (init (lloc l))). split; [now apply HE|auto].
  - intros [x v|t l h] [y v'|t' l' h'] Ex Ey K K' L; simpl in *.
    + apply HE in Ex, Ey. destruct Ex as (_ & ->), Ey as (_ & ->). congruence.
    + destruct (eknd_noninit t' l' h' K').
    + destruct (eknd_noninit t l h K).
    + destruct (eknd_noninit t l h K).
Qed.

Lemma run_prefix E m : is_run E -> last E m -> is_run (without E m).
Proof.
  intros (path & Hp & HE) (Em & Nm & Lm). pose proof Hp as (Hok & Hnt).
  destruct m as [x v|t l h]; [now destruct Nm|].
  apply HE in Em. simpl in Em.
  assert (path t = l :: h) as Pt.
  { destruct (next _ _ _ Em) as [X|(l' & X)]; [auto|exfalso].
    destruct (run_good path _ _ _ Hp X) as (_ & G). apply (Lm (Ev t l' (l :: h))); [now apply HE|].
    simpl. split; [auto|]. split; [apply suf_refl|exact G]. }
  exists (fun t' => if Nat.eq_dec t' t then h else path t'). split; [split|].
  - intros t'. destruct (Nat.eq_dec t' t) as [->|N]; [|apply Hok].
    destruct (Hok t) as (X & Y). rewrite Pt in X, Y. split; [eapply prog_prefix; eauto|apply Y].
  - intros t' H. destruct (Nat.eq_dec t' t) as [->|N]; [|auto]. rewrite (Hnt t H) in Pt. discriminate.
  - intros [x v|t' l' h']; unfold without; rewrite HE; simpl.
    + split; [tauto|]. intros; split; [auto|discriminate].
    + destruct (Nat.eq_dec t' t) as [->|N].
      * rewrite Pt. split.
        -- intros (X & Y). destruct (suf_tail _ _ _ X) as [Z|Z]; [inversion Z; subst; congruence|auto].
        -- intros X. split; [eapply suf_trans; [exact X|now exists [l]]|].
           intros Z; inversion Z; subst. exact (suf_strict _ _ X).
      * split; [tauto|]. intros X; split; [auto|congruence].
Qed.

Definition the_program : program := {| runs := is_run : (ev -> Prop) -> Prop; runs_prefix := run_prefix |}.

Theorem concrete_normal_form_atomics (ord : order) : ~ robust ord the_program -> exists S m Be Mi L S' l' lX,
  last S m /\ (forall e, S' e <-> S e /\ ~ RemoteAtomicsPivot.M m (rep m) e) /\ (knd m <> NAW -> forall e, ~ Mi e) /\
  trace_of the_program (tr S' l' L) /\ (forall a b, S' a -> S' b -> po a b -> L a b) /\
  (forall x e, S' x -> knd x = NAW -> L e x -> e = src x \/ L e (src x)) /\
  real_in S lX (in_parts Be Mi m (rep m) L) /\ violating ord the_program (tr S lX (in_parts Be Mi m (rep m) L)).
Proof. exact (normal_form_atomics ord the_program). Qed.
End Run.
