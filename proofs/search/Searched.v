(* Programs as sets of event sequences (Programs.v) are programs that the search can be asked about. *)
Require Import List Arith ZArith Bool Lia Classical Relations.
Import ListNotations.
From RR Require StoreExample.
From RR Require Import Model Hardware Programs Example Search Along Least FirstHalf Target Answers Split Kept
  Reported.

Definition lsgn l := match l with Lnrw s _ _ | Linl s _ _ _ | Lnlw s _ _ => s | _ => false end.
Definition carries_b l l' := match l, l' with Lnlr q _, Lnrw _ q' _ | Lnrr q _, Lnlw _ q' _ => q =? q'
  | _, _ => false end.
Lemma carries_iff l l' : carries_b l l' = true <-> carries l l'.
Proof. destruct l, l'; simpl; try apply Nat.eqb_eq; split; try discriminate; tauto. Qed.
Lemma isS_iff q l : isS q l = true <-> lsgn l = true /\ isW q l = true.
Proof. destruct l as [| | | | | |[]|[]| |[]|]; simpl; intuition discriminate. Qed.

(* labels of one kind with the same number of that kind before them, in one sequence *)
Lemma same_place (f : label -> bool) l h l' h' p : suf (l :: h) p -> suf (l' :: h') p -> f l = true -> f l' = true -> cnt f h = cnt f h' ->
  l :: h = l' :: h'.
Proof.
  intros S S' F F' C. destruct (suf_total _ _ _ S S') as [Y|Y]; destruct (suf_tail _ _ _ Y) as [Z|Z]; auto;
    apply (suf_cnt f) in Z; rewrite cnt_cons in Z; rewrite ?F, ?F' in Z; lia.
Qed.

Global Instance concrete_searchable : @searchable concrete.
Proof.
  refine {| qp_dec := _; no_value := 0%Z : @value concrete;
            sgn := fun e : @ev concrete => match e with Ini _ _ => false | Ev _ l _ => lsgn l end;
            brings := fun e : @ev concrete => match e with Ev _ l (l0 :: _) => carries_b l0 l | _ => false end |}.
  - intros (a, b) (c, d). destruct (Nat.eq_dec a c), (Nat.eq_dec b d); subst; auto; right; congruence.
  - intros [x v|t l h]; simpl; [discriminate|]. destruct l; simpl; auto; discriminate.
  - intros [x v|t l h] [x' v'|t' l' h'] [y v''|t'' l'' h''] G G' P P'; simpl in *; try tauto.
    destruct l''; try tauto. destruct P as (-> & S & W & C), P' as (-> & S' & W' & C').
    assert (isS q l = true) as I by (now apply isS_iff). assert (isS q l' = true) as I' by (now apply isS_iff).
    unfold takes in *. rewrite I in C. rewrite I' in C'.
    assert (l :: h = l' :: h') as Q by (eapply (same_place (isS q)); eauto; congruence). now inversion Q.
  - intros [x v|t l h] [x' v'|t' l' h'] [y v''|t'' l'' h'']; simpl; try tauto.
    intros (-> & -> & _) (-> & S) (_ & S'). destruct (suf_tail _ _ _ S') as [Z|Z].
    + inversion Z; subst. exact (suf_strict _ _ S).
    + apply suf_cons in S. apply (suf_trans _ _ _ Z) in S. exact (suf_strict _ _ S).
  - intros [x v|t l [|l0 h]]; simpl.
    + split; [discriminate|]. intros ([y w|t' l' h'] & H); simpl in H; tauto.
    + split; [discriminate|]. intros ([y w|t' l' h'] & H); simpl in H; [tauto|]. destruct H as (_ & H & _). discriminate.
    + rewrite carries_iff. split.
      * intros C. exists (Ev t l0 h). simpl. auto.
      * intros ([y w|t' l' h'] & H); simpl in H; [tauto|]. destruct H as (_ & H & C). now inversion H; subst.
Defined.

Section Searched.
Variables (nt nv : nat) (init : nat -> Z) (prog : nat -> list label -> Prop).
Hypothesis prog_prefix : forall t l h, prog t (l :: h) -> prog t h.

(* what threads can do, whether polls find completions or not *)
Fixpoint fine h := match h with [] => True | l :: h => fine h /\ follows l h /\ lloc l < nv end.
Definition ctl0 (E : @ev concrete -> Prop) := exists path, (forall t, prog t (path t) /\ fine (path t)) /\
  (forall t, nt <= t -> path t = []) /\ forall e, E e <-> inrun nv init path e.
Definition ini0 (e : @ev concrete) := match e with Ini x v => x < nv /\ v = init x | Ev _ _ _ => False end.
Lemma ok_fine h : ok nv h -> fine h.
Proof. induction h; simpl; tauto. Qed.
Lemma run_ctl E : is_run nt nv init prog E -> ctl0 E.
Proof.
  intros (path & (Hok & Hnt) & HE). exists path. split; [|split; auto]. intros t. split; [apply Hok|apply ok_fine, Hok].
Qed.
Lemma run_wfx E : is_run nt nv init prog E -> wfx (E : @ev concrete -> Prop).
Proof.
  intros (path & (Hok & Hnt) & HE). constructor.
  - intros [x v|t l h] [y v'|t' l' h'] Ex Kd P; simpl in *; try tauto. destruct P as (-> & P). apply HE in Ex.
    simpl in Ex.
    assert (suf (l :: h) (l' :: h')) as P2 by (eapply suf_trans; [exact P|now exists [l']]).
    destruct (next _ _ _ P2) as [X|(l2 & X)]; [exfalso; inversion X; subst; exact (suf_strict _ _ P)|].
    pose proof (ok_suf nv _ _ (suf_trans _ _ _ X Ex) (proj2 (Hok t'))) as (_ & Fo & _).
    exists (Ev t' l2 (l :: h)). simpl. split.
    + repeat split; auto; destruct Kd as [Kd|Kd]; destruct l; try discriminate; destruct l2; simpl in *; try tauto; auto.
    + destruct (suf_tail _ _ _ X) as [Z|Z]; [left; inversion Z; subst; auto|right; auto].
  - intros [x v|t l h] [y v'|t' l' h'] [z v''|t'' l'' h''] G Ep Ep' P P'; simpl in *; try tauto.
    destruct l'; try tauto; destruct l''; try tauto.
    destruct P as (-> & S & W & C), P' as (-> & S' & W' & C').
    apply HE in Ep, Ep'. simpl in Ep, Ep'.
    assert (q = q0) as <- by (destruct l; simpl in *; try discriminate; apply Nat.eqb_eq in W, W'; congruence).
    assert (isS q l = true) as I by (now apply isS_iff). unfold takes in *. rewrite I in *.
    assert (Lp q :: h' = Lp q :: h'') as Q; [|now inversion Q].
    eapply (same_place (isP q)); eauto; simpl; try apply Nat.eqb_refl. congruence.
  - intros [x v|t l h] [y v'|t' l' h'] Ep P; simpl in *; try tauto. destruct l'; try tauto.
    destruct P as (-> & S & W & C).
    apply HE in Ep. simpl in Ep. pose proof (ok_suf nv _ _ Ep (proj2 (Hok t'))) as (_ & _ & X & _). simpl in X.
    destruct (nth_signaled q h' _ X) as (l2 & h2 & S2 & G2 & C2). exists (Ev t' l2 h2). simpl.
    split; [now apply isS_iff in G2|]. split.
    + split; [auto|split; [auto|]]. split; [now apply signaled|]. unfold takes. now rewrite G2.
    + destruct (suf_total _ _ _ S S2) as [Y|Y]; destruct (suf_tail _ _ _ Y) as [Z|Z].
      * left. now inversion Z.
      * right. auto.
      * left. now inversion Z.
      * exfalso. apply (suf_cnt (isS q)) in Z. rewrite cnt_cons, G2 in Z. unfold takes in C. destruct (isS q l); lia.
Qed.

(* what the search may ask before it goes on: it never gives up a state from which the pivot can still be reached *)
Definition hopes (hope : class -> (@ev concrete -> Prop) -> Prop) := forall E m (D : @ev concrete -> Prop),
  is_run nt nv init prog E -> last E m -> (forall e, D e -> E e) -> ~ D m -> ctl0 D -> hope (class_of m) D.
Lemma concrete_searches hope : hopes hope ->
  searches (the_program nt nv init prog prog_prefix) ini0 (init : nat -> @value concrete) ctl0 hope.
Proof.
  intros Hh. constructor; auto.
  - apply run_ctl.
  - intros E E' H (path & H1 & H2 & H3). exists path. split; auto. split; auto. intros e. now rewrite <- H.
  - apply run_wfx.
  - intros E (path & _ & HE) [x v|t l h]; rewrite HE; simpl; [tauto|]. split; [tauto|]. intros (_ & Kd).
    destruct l; discriminate.
  - intros [x v|t l h]; simpl; [intuition congruence|tauto].
Qed.

Lemma ok_iff p : ok nv p <-> fine p /\ forall l h, suf (l :: h) p -> polls l h.
Proof.
  split.
  - intros H. split; [now apply ok_fine|]. intros l h S. now destruct (ok_suf nv _ _ S H) as (_ & _ & Z & _).
  - induction p as [|l p IH]; simpl; auto. intros ((H1 & H2 & H3) & Hp). split; [|split; [auto|split; [|auto]]].
    + apply IH. split; auto. intros l' h' S. apply Hp. destruct S as (k & ->). now exists (l :: k).
    + apply Hp, suf_refl.
Qed.
(* a set of events that threads can do is one of a run if no poll of it comes too early *)
Lemma ctl_run E : ctl0 E -> (forall t l h, E (Ev t l h) -> polls l h) -> is_run nt nv init prog E.
Proof.
  intros (path & H1 & H2 & HE) Hp. exists path. split; [split; auto|auto]. intros t. split; [apply H1|].
  apply ok_iff. split; [apply H1|]. intros l h S. apply (Hp t). now apply HE.
Qed.
Lemma run_polls E t l h : is_run nt nv init prog E -> E (Ev t l h) -> polls l h.
Proof.
  intros (path & (Hok & _) & HE) H. apply HE in H. simpl in H. now apply (proj1 (ok_iff _) (proj2 (Hok t))).
Qed.
(* a completion that nobody has polled: the next poll does not come too early *)
Lemma poll_in_time D t q l hw h : is_run nt nv init prog D -> ctl0 (fun e => D e \/
  e = Ev t (Lp q) h) -> ~ D (Ev t (Lp q) h) ->
  D (Ev t l hw) -> isS q l = true -> (forall p, D p -> ~ epf (Ev t l hw) p) -> cnt (isP q) h < cnt (isS q) h.
Proof.
  intros R (path & _ & _ & HE) ND Dw G Hp. pose proof R as (pathD & (Hok & _) & HD).
  assert (suf (l :: hw) (path t)) as Sw by (apply (HE (Ev t l hw)); auto).
  assert (suf (Lp q :: h) (path t)) as Se by (apply (HE (Ev t (Lp q) h)); auto).
  assert (forall l' h', suf (l' :: h') h -> D (Ev t l' h')) as Dh.
  { intros l' h' S. assert (D (Ev t l' h') \/ Ev t l' h' = Ev t (Lp q) h) as [Z|Z]; auto.
    - apply HE. simpl. eapply suf_trans; [exact S|]. now apply suf_cons in Se.
    - inversion Z; subst. destruct (suf_strict _ _ S). }
  assert (suf (l :: hw) h) as Swh.
  { destruct (suf_total _ _ _ Sw Se) as [Y|Y]; destruct (suf_tail _ _ _ Y) as [Z|Z]; auto.
    - inversion Z; subst. simpl in G. discriminate.
    - inversion Z; subst. simpl in G. discriminate.
    - exfalso. apply ND. apply HD in Dw. apply HD. simpl in *. eapply suf_trans; [exact Z|]. now apply suf_cons in Dw. }
  pose proof (suf_cnt (isS q) _ _ Swh) as C. rewrite cnt_cons, G in C.
  destruct (le_lt_dec (cnt (isP q) h) (cnt (isS q) hw)) as [Le|Lt]; [lia|exfalso].
  destruct (nth_poll q h _ Lt) as (h' & S' & C'). apply (Hp (Ev t (Lp q) h') (Dh _ _ S')). simpl.
  split; auto. split; [|split; [now apply signaled|unfold takes; now rewrite G]].
  destruct (suf_total _ _ _ Swh S') as [Y|Y]; destruct (suf_tail _ _ _ Y) as [Z|Z]; auto.
  - inversion Z; subst. simpl in G. discriminate.
  - inversion Z; subst. simpl in G. discriminate.
  - exfalso. pose proof (run_polls D t (Lp q) h' R (Dh _ _ S')) as Hq. simpl in Hq.
    apply suf_cons in Z. apply (suf_cnt (isS q)) in Z. lia.
Qed.
Lemma concrete_answers : (forall t, prog t []) ->
  answers (the_program nt nv init prog prog_prefix) ini0 (init : nat -> @value concrete) ctl0.
Proof.
  intros H0. constructor.
  - intros E E' H (path & H1 & H2). exists path. split; auto. intros e. now rewrite <- H.
  - exists (fun _ => []). split; [split; [intros t; split; simpl; auto|auto]|]. intros [x v|t l h]; simpl; [tauto|].
    split; [tauto|]. intros S. apply suf_len in S. simpl in S. lia.
  - intros D e R C Kp. apply ctl_run; [exact C|]. intros t l h [Hd|E1]; [exact (run_polls _ _ _ _ R Hd)|].
    destruct l; simpl; auto. exfalso. apply Kp. rewrite <- E1. reflexivity.
  - intros D e w R C Kp Dw Sg Q Hp. apply ctl_run; [exact C|]. intros t l h Hd.
    destruct (classic (D (Ev t l h))) as [Hd'|ND]; [exact (run_polls _ _ _ _ R Hd')|].
    destruct Hd as [Hd|E1]; [tauto|]. rewrite <- E1 in Kp, Q, C.
    destruct l; try discriminate. destruct w as [x v|tw lw hw]; [discriminate|]. simpl in Sg, Q.
    assert (tw = t /\ lq lw = q) as (-> & Ql) by (inversion Q; auto).
    assert (isS q lw = true) as G.
    { apply isS_iff. split; auto. destruct lw; simpl in *; try discriminate; subst; apply Nat.eqb_refl. }
    exact (poll_in_time D t q lw hw h R C ND Dw G Hp).
  - exact (run_wf nt nv init prog).
  - apply run_wfx.
  - intros [x v|t l h]; simpl; tauto.
  - intros [x v|t l h]; simpl; [intuition congruence|tauto].
Qed.

Theorem concrete_theorem_8 hw {OK : hardware_ok hw} {SO : search_ok hw} zero hope : hopes hope -> (forall t, prog t []) ->
  (found hw zero ini0 (init : nat -> @value concrete)
    ctl0 hope <-> ~ robust hw (the_program nt nv init prog prog_prefix)).
Proof. intros Hh H0. apply (theorem_8 hw zero); [now apply concrete_searches|now apply concrete_answers]. Qed.
End Searched.

(* The search finds the example: the definitions are not empty. *)
Corollary example_found (ord zero : bool) :
  found ord zero (ini0 2 Example.init) (Example.init : nat -> @value concrete) (ctl0 1 2 Example.init Example.prog)
    (fun _ _ => True).
Proof.
  apply (proj2 (concrete_theorem_8 1 2 Example.init Example.prog prog_pre ord zero (fun _ _ => True)
    (fun _ _ _ _ _ _ _ _ => I) (fun t => ex_intro _ (path t) (eq_sym (app_nil_r (path t)))))).
  apply example_not_robust.
Qed.
(* The same with store buffers. *)
Corollary sb_found (f : flags) (zero : bool) :
  found (tso (of_flags f)) zero (ini0 2 StoreExample.sb_init) (StoreExample.sb_init : nat -> @value concrete)
    (ctl0 2 2 StoreExample.sb_init StoreExample.sb_prog) (fun _ _ => True).
Proof.
  apply (proj2 (concrete_theorem_8 2 2 StoreExample.sb_init StoreExample.sb_prog StoreExample.sb_pre (tso (of_flags f)) zero
    (fun _ _ => True) (fun _ _ _ _ _ _ _ _ => I) (fun t => ex_intro _ (StoreExample.sb_path t) (eq_sym (app_nil_r _))))).
  apply StoreExample.sb_not_robust.
Qed.
