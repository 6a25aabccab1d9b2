(* Remote atomics: the classes of pivots that the search has are enough (M4), each with its least beta (Theorem 7 with M6).
   A pivot is an event that is no naW; a naW whose naR is in A and in the run L; or naR and naW together, with nothing between them. *)
Require Import List Arith Lia Classical Relations.
From RR Require Import Orders RemoteAtomicsModel RemoteAtomicsRules RemoteAtomicsValues RemoteAtomicsTraces RemoteAtomicsBase
  RemoteAtomicsPivot RemoteAtomicsExecuted RemoteAtomicsCycle RemoteAtomicsMaximal RemoteAtomicsParts RemoteAtomicsForm
  RemoteAtomicsNormalForm RemoteAtomicsTheorem RemoteAtomicsMiddle RemoteAtomicsTogether RemoteAtomicsLeast.

Section Classes.
Context {U : slots} (ord : bool) (P : program).

(* what can be put before the pivot without writing its word *)
Section Smallest.
Variables (S l : ev -> Prop) (tau : relation ev) (n : nat).
Hypothesis B : base ord P S l tau.
Hypothesis Small : smallest ord P n.
Hypothesis Cn : covered n S.
Let T := tr S l tau.
Notation pivotal := (pivotal (S:=S) (l:=l) (tau:=tau)).

Section Naw.
Variable m : ev.
Hypothesis Last : last S m.
Hypothesis Km : knd m = NAW.
Hypothesis Lm : l m.
Notation r := (src m).
Notation middle := (middle_of (S:=S) (tau:=tau) (m:=m)).

(* a write between naR and naW closes a cycle of two steps *)
Lemma two_steps (S1 l1 : ev -> Prop) e : wfS S1 -> (forall x, S1 x -> S x) -> S1 r -> S1 e -> S1 m -> tau r e -> tau e m ->
  wr l1 e -> wr l1 m -> loc e = loc m -> cpu e -> sc (tr S1 l1 tau) (rep m) e /\ sc (tr S1 l1 tau) e (rep m).
Proof.
  intros W1 Sub Sr Se Sm Hre Hem We Wm Lo Ce. destruct (naw_facts m Km) as (_ & _ & Ks & Ls).
  assert (rep m = r) as Qm by (unfold rep; now rewrite Km).
  assert (rep e = e) as Qe by (unfold rep, cpu in *; destruct (knd e); simpl in Ce; tauto).
  assert (knd e <> NAW /\ e <> r) as (Ke & Ner).
  { unfold cpu in Ce. split; [intros Q; rewrite Q in Ce; destruct Ce|intros ->; rewrite Ks in Ce; destruct Ce]. }
  assert (sto S1 tau) as St by (apply (sto_sub S); auto; apply g_sto).
  assert (initfirst S1 tau) as It by (intros i x Si Sx; apply g_init; auto).
  split.
  - rewrite <- Qe, Qm. replace r with (rep r) at 1 by (unfold rep; now rewrite Ks).
    apply join; auto; [|tauto]. unfold conflict, rd. rewrite Ks. simpl. repeat split; auto. congruence.
  - rewrite <- Qe at 1. apply join; auto; [|intros (_ & Q); auto].
    unfold conflict. repeat split; auto. intros ->. tauto.
Qed.

(* if a CPU writes the word between them, that event is a pivot, and on a cycle *)
Lemma cpu_between e : middle e -> wr l e -> loc e = loc m -> cpu e -> pivotal e /\ sc T (rep e) (rep e).
Proof.
  intros (Se & Hre & Hem) We Lo Ce. destruct (naw_facts m Km) as (Pm & _ & Ks & Ls).
  assert (S r) as Sr by exact (mid_Sr Last Km).
  assert (rep e = e) as Qe by (unfold rep, cpu in *; destruct (knd e); simpl in Ce; tauto).
  assert (wr l m) as Wm by (split; [rewrite Km; exact I|auto]).
  destruct (next_after e Se Ce) as (c & p & Sc & Cc & Hc & Hp & Pp).
  assert (tau r c) as Hrc by (destruct Hc as [->|Hc]; [auto|exact (t_trans' _ _ _ Hre Hc)]).
  assert (c <> m /\ c <> r) as (Ncm & Ncr).
  { split; intros ->; unfold cpu in Cc; [rewrite Km in Cc|rewrite Ks in Cc]; destruct Cc. }
  assert (S p) as Sp by apply Pp.
  assert (p <> m) as Npm.
  { intros ->. destruct Hp as [|Hp]; [congruence|].
    destruct (wf_total _ W c r) as [Q|[X|X]]; auto.
    - eapply po_init_l; eauto.
    - unfold noninit; congruence.
    - rewrite (po_thr _ _ Hp). symmetry. now apply po_thr.
    - apply (t_asym _ _ Hrc). apply cpu_tau; auto. unfold noninit; congruence.
    - destruct (naw_next m c Km X) as [|Y]; [auto|]. destruct (po_irr m). eapply po_trans; eauto. }
  destruct (classic (p = e)) as [->|Npe].
  { split; auto. rewrite Qe. destruct (two_steps S l e) as (A1 & A2); auto using W; [exact (proj1 Last)|].
    eapply t_trans; eauto. }
  assert (tau e p) as Hep.
  { assert (c = p \/ tau c p) as [->|H].
    { destruct Hp as [|Hp]; [auto|right]. apply cpu_tau; auto. eapply po_init_r; eauto. }
    - destruct Hc as [->|Hc]; [tauto|auto].
    - destruct Hc as [->|Hc]; [auto|exact (t_trans' _ _ _ Hc H)]. }
  exfalso. destruct (setting_exists ord P S l tau n B Cn p (rep p) Pp (or_introl eq_refl)) as (S1 & l1 & G1 & k & Hk & Ck).
  pose proof (left_sc ord P S l tau n Small p S1 l1 k G1 Hk Ck) as SC.
  assert (forall x, S x -> x <> p -> (knd x = NAR -> src p <> x \/ knd p <> NAW) -> S1 x) as HS.
  { intros x Sx Nx Nr. apply (g_S' (setting:=G1)). split; auto. intros [Q|Q]; [auto|].
    destruct (rep_spec p) as [(K & Q' & _ & Kr)|(_ & Q')]; rewrite Q' in Q; [|auto]. subst x. destruct (Nr Kr); auto. }
  assert (S1 r) as Sr1.
  { apply HS; auto; [intros Q; rewrite <- Q in Pp; exact (proj2 (proj2 (proj1 Pp)) m (proj1 Last) Pm)|].
    intros _. destruct (classic (knd p = NAW)) as [K|K]; [left|auto]. intros Q. apply Npm. now apply src_naw. }
  assert (S1 e) as Se1.
  { apply HS; auto. intros K. unfold cpu in Ce. rewrite K in Ce. destruct Ce. }
  assert (S1 m) as Sm1. { apply HS; [exact (proj1 Last)|auto|congruence]. }
  destruct (two_steps S1 l1 e) as (A1 & A2); auto.
  - exact (wfS' (G:=G1)).
  - intros x. exact (S'_S (G:=G1) x).
  - destruct We as (I1 & _). split; auto. intros C. unfold cond, cpu in *. destruct (knd e); simpl in *; tauto.
  - split; [rewrite Km; exact I|]. intros C. apply (T'_live (G:=G1) m Sm1 C); auto.
    intros Dr. exact (t_asym _ _ (depr_after p _ Dr) (t_trans' _ _ _ Hre Hep)).
  - apply (SC (rep m)). eapply t_trans; eauto.
Qed.
End Naw.

(* an execution has RMWs as [atomics hca] has them, or as [atomics glob] *)
Definition one_kind := forall S, runs P S -> (forall e, S e -> knd e <> NA) \/ (forall e, S e -> knd e <> NAR).

Record found (S l : ev -> Prop) (tau : relation ev) (m pr : ev) (S' l' : ev -> Prop) : Prop := {
  f_setting : setting ord P S l tau m pr S' l';
  f_sc : sc_consistent (tr S' l' tau);
  f_empty : forall e, S' e -> tau pr e -> ~ tau e m;
  f_stop : forall r z, stops (S:=S) (S':=S') r -> M m pr z -> knd z = NAR -> loc z = loc r -> wr l m;
  f_cycle : sc (tr S l tau) (rep m) (rep m);
  f_class : (knd m <> NAW /\ pr = m) \/ (knd m = NAW /\ pr = src m) \/
            (knd m = NAW /\ pr = m /\ exists e, middle_of (S:=S) (tau:=tau) (m:=m) e /\ loc e = loc m /\ (knd e = NRW \/ knd e = NLW));
}.
Lemma rep_class m : (knd m <> NAW /\ rep m = m) \/ (knd m = NAW /\ rep m = src m).
Proof. unfold rep. destruct (knd m); auto; left; split; auto; discriminate. Qed.
End Smallest.

(* The pivot can be chosen so that a search finds it: if some thread ends behind a naR, the pivot is such a naR. *)
Section Found.
Variables (S : ev -> Prop) (n : nat).
Hypothesis Small : smallest ord P n.
Hypothesis Cn : covered n S.
Definition ended r := S r /\ knd r = NAR /\ forall w, S w -> knd w = NAW -> src w <> r.
(* the pivot with its naR, if it is a naW *)
Lemma found_whole l tau m : base ord P S l tau -> pivotal (S:=S) (l:=l) (tau:=tau) m -> sc (tr S l tau) (rep m) (rep m) ->
  (forall e, S e -> tau (rep m) e -> ~ tau e m) -> (ended m \/ forall r, ~ ended r) ->
  exists S' l', found S l tau m (rep m) S' l'.
Proof.
  intros B Pm C Em Hs. destruct (setting_exists ord P S l tau n B Cn m (rep m) Pm (or_introl eq_refl)) as (S' & l' & G & k & Hk & Ck).
  exists S', l'. constructor; auto.
  - exact (left_sc ord P S l tau n Small m S' l' k G Hk Ck).
  - intros e Se. apply Em. exact (S'_S (G:=G) e Se).
  - intros r z (Sr & Kr & N) Mz Kz Lo. exfalso. pose proof (S'_S (G:=G) r Sr) as Sr0.
    destruct Hs as [(Sm & Km & Nm)|Hs]; [|exact (Hs r (conj Sr0 (conj Kr N)))].
    assert (z = m) as ->.
    { destruct Mz as [->| ->]; auto. destruct (rep_class m) as [(_ & Q)|(K & _)]; [auto|congruence]. }
    assert (m <> r) as Nmr by (intros ->; apply (S'_M (G:=G) r Sr); left; auto).
    apply (t_asym (G:=B) m r).
    + apply (stop_tau (G:=G)); auto.
    + apply (stop_tau (G:=G)); auto.
  - destruct (rep_class m) as [(K & Q)|(K & Q)]; auto.
Qed.
Lemma found_event l tau m : base ord P S l tau -> pivotal (S:=S) (l:=l) (tau:=tau) m -> sc (tr S l tau) (rep m) (rep m) ->
  knd m <> NAW -> (ended m \/ forall r, ~ ended r) -> exists S' l', found S l tau m (rep m) S' l'.
Proof.
  intros B Pm C K Hs. apply found_whole; auto. intros e Se. destruct (rep_class m) as [(_ & ->)|(K' & _)]; [|tauto].
  apply (t_asym (G:=B)).
Qed.
Lemma unread_pivotal l tau m : last S m -> (forall x, ~ rf_in S l tau m x) -> pivotal (S:=S) (l:=l) (tau:=tau) m.
Proof. intros L N. split; auto. intros c Sc Cc (d & R & D). rewrite (unread m d N D) in R. exact (N c R). Qed.
Lemma dep_more (rf1 rf2 : relation ev) m d : (forall u e, rf1 u e -> rf2 u e) -> dep rf1 m d -> dep rf2 m d.
Proof. intros H D. induction D; [apply dep_m|eapply dep_src; eauto]. Qed.

Section Written.
Hypothesis None : forall r, ~ ended r.
Variables (l : ev -> Prop) (tau : relation ev) (m e : ev).
Hypothesis B : base ord P S l tau.
Hypothesis Pm : pivotal (S:=S) (l:=l) (tau:=tau) m.
Hypothesis Cyc : sc (tr S l tau) (rep m) (rep m).
Hypothesis Km : knd m = NAW.
Hypothesis Lm : l m.
Notation middle := (middle_of (S:=S) (tau:=tau) (m:=m)).
(* a write of the word between them is one of a CPU, a put or a get *)
Lemma written_kind : one_kind -> middle e -> wr l e -> loc e = loc m -> cpu e \/ knd e = NRW \/ knd e = NLW.
Proof.
  intros O (Se & Hre & Hem) (Ie & Ce) Lo. destruct (naw_facts m Km) as (Pm' & _ & Ks & Ls).
  assert (S (src m)) as Sr by exact (mid_Sr (G:=B) (proj1 Pm) Km).
  unfold cpu, cond in *. destruct (knd e) eqn:K; simpl in *; try tauto.
  - exfalso. apply (t_asym (G:=B) _ _ Hre). apply (g_init (base:=B)); auto. unfold noninit; congruence.
  - exfalso. specialize (Ce I). destruct (naw_facts e K) as (Pe & _ & Kse & Lse).
    assert (S (src e)) as Sse by (apply (src_S (G:=B)); auto; unfold nicw; now rewrite K).
    destruct (t_tot (G:=B) (src m) (src e) Sr Sse) as [Q|[X|X]].
    + assert (m = e) as -> by (apply src_naw; auto). exact (t_irr (G:=B) _ Hem).
    + assert (tau m (src e)) as Y by (apply (rao_slots (G:=B)); auto; [apply Pm|congruence]).
      apply (t_asym (G:=B) _ _ Hem). apply (t_trans' (G:=B) _ _ _ Y). apply (src_before (G:=B)); auto.
      unfold nicw; now rewrite K.
    + apply (t_asym (G:=B) _ _ Hre). apply (rao_slots (G:=B)); auto; congruence.
  - exfalso. destruct (O S) as [H|H]; [exact (proj1 (proj1 (g_V (base:=B))))|exact (H e Se K)|exact (H (src m) Sr Ks)].
Qed.
Lemma found_written : one_kind -> middle e -> wr l e -> loc e = loc m ->
  (forall x, middle x -> wr l x -> loc x = loc m -> x = e \/ tau e x) -> exists l tau m pr S' l', found S l tau m pr S' l'.
Proof.
  intros O He We Lo First. destruct (written_kind O He We Lo) as [Ce|Ke].
  - destruct (cpu_between S l tau n B Small Cn m (proj1 Pm) Km Lm e He We Lo Ce) as (Pe & C).
    destruct (found_event l tau e B Pe C) as (S' & l' & F); [|auto|eauto 7].
    unfold cpu in Ce. intros K. rewrite K in Ce. destruct Ce.
  - destruct (setting_exists ord P S l tau n B Cn m m Pm) as (S1 & l1 & G1 & _); [right; auto|].
    destruct (classic (sc_consistent (tr S1 l1 tau))) as [SC|NSC].
    + exists l, tau, m, m, S1, l1. constructor; auto.
      * intros x _. apply (t_asym (G:=B)).
      * intros r z (Sr & Kr & N) _ _ _. destruct (None r). split; [exact (S'_S (G:=G1) r Sr)|auto].
      * right; right. split; auto. split; auto. exists e. auto.
    + assert (~ cond e /\ ~ rd e) as (Ne & Re) by (unfold cond, rd; destruct Ke as [-> | ->]; simpl; auto).
      destruct (written (G:=B) (proj1 Pm) Km Lm S1 l1 e (G1:=G1) He We Lo (conj Ne Re) First NSC) as (l2 & tau2 & B2 & Em & N).
      pose proof (unread_pivotal l2 tau2 m (proj1 Pm) N) as P2.
      destruct (setting_exists ord P S l2 tau2 n B2 Cn m (rep m) P2 (or_introl eq_refl)) as (S2 & l3 & G2 & k & Hk & Ck).
      pose proof (left_sc ord P S l2 tau2 n Small m S2 l3 k G2 Hk Ck) as SC.
      pose proof (unread_cycle ord P S l2 tau2 B2 m S2 l3 G2 SC N) as C2.
      destruct (found_whole l2 tau2 m B2 P2 C2) as (S' & l' & F); [|auto|eauto 7].
      destruct (rep_class m) as [(K & _)|(_ & ->)]; [tauto|exact Em].
Qed.
End Written.

Theorem found_exists l tau : one_kind -> base ord P S l tau -> exists l tau m pr S' l', found S l tau m pr S' l'.
Proof.
  intros O B. destruct (classic (exists r, ended r)) as [(r & Hr)|Ne].
  { destruct Hr as (Sr & Kr & Nr). assert (last S r) as Lr.
    { split; [auto|split; [unfold noninit; congruence|]]. intros b Sb H.
      destruct (wf_naw _ (W (G:=B)) r b Sr Sb Kr H) as (w & Sw & Kw & Q). exact (Nr w Sw Kw Q). }
    assert (forall x, ~ rf_in S l tau r x) as N. { intros x (_ & _ & (I & _) & _). rewrite Kr in I. destruct I. }
    pose proof (unread_pivotal l tau r Lr N) as Pr.
    destruct (setting_exists ord P S l tau n B Cn r (rep r) Pr (or_introl eq_refl)) as (S2 & l3 & G2 & k & Hk & Ck).
    pose proof (left_sc ord P S l tau n Small r S2 l3 k G2 Hk Ck) as SC.
    pose proof (unread_cycle ord P S l tau B r S2 l3 G2 SC N) as C2.
    destruct (found_event l tau r B Pr C2) as (S' & l' & F); [congruence|left; split; auto|eauto 7]. }
  assert (forall r, ~ ended r) as None by (intros r Hr; apply Ne; eauto).
  destruct (pivot_on_cycle ord P S l tau n B Small Cn) as (m & Pm & C).
  destruct (classic (knd m = NAW)) as [Km|Km].
  2:{ destruct (found_event l tau m B Pm C Km) as (S' & l' & F); [auto|eauto 7]. }
  destruct (rep_class m) as [(K & _)|(_ & Qm)]; [tauto|].
  destruct (classic (l m)) as [Lm|Lm].
  2:{ destruct (found_whole l tau m B Pm C) as (S' & l' & F); [|auto|eauto 7].
      intros x Sx. rewrite Qm. intros H1 H2. destruct (g_adj (base:=B) m x (proj1 (proj1 Pm)) Km Lm Sx H2) as [->|X].
      - exact (t_irr (G:=B) _ H1).
      - exact (t_asym (G:=B) _ _ H1 X). }
  destruct (classic (exists e, middle_of (S:=S) (tau:=tau) (m:=m) e /\ wr l e /\ loc e = loc m)) as [(e0 & H0)|N].
  - destruct (wf_fin _ (W (G:=B))) as (es & Hes).
    destruct (max_elem es (fun e => middle_of (S:=S) (tau:=tau) (m:=m) e /\ wr l e /\ loc e = loc m) (fun a b => tau b a))
      as (e & (He & We & Lo) & K).
    + split; [apply (g_sto (base:=B))|]. intros a b c X Y. exact (t_trans' (G:=B) _ _ _ Y X).
    + intros a ((Sa & _) & _). auto.
    + eauto.
    + apply (found_written None l tau m e B Pm C Km Lm O He We Lo).
      intros x Hx Wx Lx. destruct (t_tot (G:=B) x e (proj1 Hx) (proj1 He)) as [|[X|X]]; auto. destruct (K x); auto.
  - destruct (unwritten (G:=B) (proj1 Pm) Km Lm) as (tau2 & B2 & Em & R2 & C2).
    { intros e He We Lo. apply N. eauto. }
    destruct (found_whole l tau2 m B2) as (S' & l' & F); [| | |auto|eauto 7].
    + split; [apply Pm|]. intros c Sc Cc (d & R & D). apply (proj2 Pm c Sc Cc). exists d. split; [now apply R2|].
      apply (dep_more (rf_in S l tau2)); auto. intros u e. apply R2.
    + auto.
    + intros x Sx. rewrite Qm. now apply Em.
Qed.
End Found.
End Classes.
