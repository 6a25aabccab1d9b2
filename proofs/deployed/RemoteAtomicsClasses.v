(* Remote atomics: which pivots are enough (M4): events that are no naW, and naR and naW together with nothing between
   them.  In a smallest trace a write between naR and naW is a pivot itself, or naR and naW can be put together. *)
Require Import List Arith Lia Classical Relations.
From RR Require Import Orders RemoteAtomicsModel RemoteAtomicsRules RemoteAtomicsValues RemoteAtomicsTraces RemoteAtomicsBase
  RemoteAtomicsPivot RemoteAtomicsExecuted RemoteAtomicsCycle RemoteAtomicsMaximal RemoteAtomicsParts RemoteAtomicsForm
  RemoteAtomicsNormalForm RemoteAtomicsTheorem RemoteAtomicsMiddle RemoteAtomicsTogether RemoteAtomicsLeast.

Section Classes.
Context {U : slots} (ord : order) (P : program).

(* what can be put before the pivot without writing its word *)
Section Smallest.
Variables (S l : ev -> Prop) (tau : relation ev) (n : nat).
Hypothesis B : base ord P S l tau.
Hypothesis Small : smallest ord P n.
Hypothesis Cn : covered n S.
Let T := tr S l tau.
Let W : wfS S := RemoteAtomicsBase.W.
Notation pivotal := (pivotal (S:=S) (l:=l) (tau:=tau)).

Section Naw.
Variable m : ev.
Hypothesis Last : last S m.
Hypothesis Km : knd m = NAW.
Hypothesis Lm : l m.
Notation r := (src m).
Notation middle := (middle_of (S:=S) (tau:=tau) (m:=m)).

(* what stands before the naW in their thread stands before the naR *)
Lemma po_naR x : S x -> x <> r -> po x m -> po x r.
Proof.
  intros Sx Nx Hp. destruct (naw_facts m Km) as (Pm & _ & Ks & _). assert (S r) as Sr by exact (mid_Sr Last Km).
  destruct (wf_total _ W x r) as [Q|[X|X]]; auto; [eapply po_init_l; eauto|unfold noninit; congruence| |tauto|].
  - rewrite (po_thr _ _ Hp). symmetry. now apply po_thr.
  - destruct (naw_next m x Km X) as [->|Y]; [destruct (po_irr _ Hp)|]. destruct (po_irr m). eapply po_trans; eauto.
Qed.
Lemma cpu_naR c : cpu c -> c <> m /\ c <> r.
Proof. intros Cc. unfold cpu in Cc. split; intros ->; [rewrite Km in Cc|rewrite (Kr Km) in Cc]; destruct Cc. Qed.

(* a write between naR and naW closes a cycle of two steps *)
Lemma two_steps (S1 l1 : ev -> Prop) e : wfS S1 -> (forall x, S1 x -> S x) -> S1 r -> S1 e -> S1 m -> tau r e -> tau e m ->
  wr l1 e -> wr l1 m -> loc e = loc m -> knd e <> NAW ->
  sc (tr S1 l1 tau) (rep m) (rep e) /\ sc (tr S1 l1 tau) (rep e) (rep m).
Proof.
  intros W1 Sub Sr Se Sm Hre Hem We Wm Lo Ke. destruct (naw_facts m Km) as (_ & _ & Ks & Ls).
  assert (rep m = r) as Qm by (unfold rep; now rewrite Km).
  assert (e <> r) as Ner by (intros ->; exact (t_irr _ Hre)).
  assert (sto S1 tau) as St by (apply (sto_sub S); auto; apply g_sto).
  assert (initfirst S1 tau) as It by (intros i x Si Sx; apply g_init; auto).
  split.
  - rewrite Qm. replace r with (rep r) at 1 by (unfold rep; now rewrite Ks).
    apply join; auto; [|tauto]. unfold conflict, rd. rewrite Ks. simpl. repeat split; auto. congruence.
  - apply join; auto; [|intros (_ & Q); auto].
    unfold conflict. repeat split; auto. intros ->. tauto.
Qed.

(* which stays without another pivot, unless the naR depends on it *)
Lemma two_steps_stay e p : middle e -> wr l e -> loc e = loc m -> knd e <> NAW -> ~ cond e -> pivotal p -> p <> m ->
  p <> e -> depr (rf_in S l tau) p r.
Proof.
  intros (Se & Hre & Hem) We Lo Ke Ce Pp Npm Npe. destruct (naw_facts m Km) as (Pm & _ & Ks & Ls).
  assert (S r) as Sr by exact (mid_Sr Last Km).
  apply NNPP. intros Nd.
  destruct (setting_exists ord P S l tau n B Cn p (rep p) Pp (or_introl eq_refl)) as (S1 & l1 & G1 & k & Hk & Ck).
  pose proof (left_sc ord P S l tau n Small p S1 l1 k G1 Hk Ck) as SC.
  assert (forall x, S x -> x <> p -> (knd x = NAR -> src p <> x \/ knd p <> NAW) -> S1 x) as HS.
  { intros x Sx Nx Nr. apply (g_S' (setting:=G1)). split; auto. intros [Q|Q]; [auto|].
    destruct (rep_spec p) as [(K & Q' & _ & Kr)|(_ & Q')]; rewrite Q' in Q; [|auto]. subst x. destruct (Nr Kr); auto. }
  assert (S1 r) as Sr1.
  { apply HS; auto; [intros Q; rewrite <- Q in Pp; exact (proj2 (proj2 (proj1 Pp)) m (proj1 Last) Pm)|].
    intros _. destruct (classic (knd p = NAW)) as [K|K]; [left|auto]. intros Q. apply Npm. now apply src_naw. }
  assert (S1 e) as Se1.
  { apply HS; auto. intros K. destruct We as (I & _). rewrite K in I. destruct I. }
  assert (S1 m) as Sm1. { apply HS; [exact (proj1 Last)|auto|congruence]. }
  destruct (two_steps S1 l1 e) as (A1 & A2); auto.
  - exact (wfS' (G:=G1)).
  - intros x. exact (S'_S (G:=G1) x).
  - destruct We as (I1 & _). split; auto. tauto.
  - split; [rewrite Km; exact I|]. intros C. apply (T'_live (G:=G1) m Sm1 C); auto.
  - apply (SC (rep m)). eapply t_trans; eauto.
Qed.

(* if a CPU writes the word between them, that event is a pivot, and on a cycle *)
Lemma cpu_between e : middle e -> wr l e -> loc e = loc m -> cpu e -> pivotal e /\ sc T (rep e) (rep e).
Proof.
  intros He We Lo Ce. pose proof He as (Se & Hre & Hem). destruct (naw_facts m Km) as (Pm & _ & Ks & Ls).
  assert (S r) as Sr by exact (mid_Sr Last Km).
  assert (knd e <> NAW /\ ~ cond e) as (Ke & Nce).
  { unfold cpu, cond in *. split; [intros Q; rewrite Q in Ce; destruct Ce|]. destruct (knd e); simpl in *; tauto. }
  assert (wr l m) as Wm by (split; [rewrite Km; exact I|auto]).
  destruct (next_after e Se Ce) as (c & p & Sc & Cc & Hc & Hp & Pp).
  assert (tau r c) as Hrc by (destruct Hc as [->|Hc]; [auto|exact (t_trans' _ _ _ Hre Hc)]).
  assert (S p) as Sp by apply Pp.
  assert (p <> m) as Npm.
  { intros ->. destruct (cpu_naR c Cc) as (Ncm & Ncr). destruct Hp as [|Hp]; [congruence|].
    apply (t_asym _ _ Hrc). apply cpu_tau; auto; [unfold noninit; congruence|now apply po_naR]. }
  destruct (classic (p = e)) as [->|Npe].
  { split; auto. destruct (two_steps S l e) as (A1 & A2); auto using W; [exact (proj1 Last)|]. eapply t_trans; eauto. }
  assert (tau e p) as Hep.
  { assert (c = p \/ tau c p) as [->|H].
    { destruct Hp as [|Hp]; [auto|right]. apply cpu_tau; auto. eapply po_init_r; eauto. }
    - destruct Hc as [->|Hc]; [tauto|auto].
    - destruct Hc as [->|Hc]; [auto|exact (t_trans' _ _ _ Hc H)]. }
  exfalso. pose proof (depr_after p r (two_steps_stay e p He We Lo Ke Nce Pp Npm Npe)) as X.
  exact (t_asym _ _ X (t_trans' _ _ _ Hre Hep)).
Qed.

(* if a put or get does, and the rest without m alone is sc-consistent, it is a pivot on a cycle as well *)
Section Plain.
Variables (S1 l1 : ev -> Prop) (e : ev).
Context {G1 : setting ord P S l tau m m S1 l1}.
Hypothesis Pm : pivotal m.
Hypothesis SC : sc_consistent (tr S1 l1 tau).
Hypothesis He : middle e.
Hypothesis Ke : knd e = NRW \/ knd e = NLW.
Hypothesis Lo : loc e = loc m.
Notation rf1 := (rf_in S1 l1 tau).
Notation sc1' := (sc (tr S1 l1 tau)).

Lemma alone_S x : S x -> x <> m -> S1 x.
Proof. intros Sx N. apply (g_S' (setting:=G1)). split; auto. intros [|]; auto. Qed.
(* values that do not come from m flow there as well *)
Lemma flow x d : dep (rf_in S l tau) x d -> ~ dep (rf_in S l tau) m d -> dep rf1 x d.
Proof.
  intros D; induction D as [|w d C R D IH]; intros N; [apply dep_m|].
  assert (~ dep (rf_in S l tau) m d) as Nd by (intros X; apply N; eapply dep_src; eauto).
  apply dep_src with d; auto. apply (T'_rf (G:=G1)); auto; [|apply R].
  apply alone_S; [apply R|]. intros Q. destruct R as (_ & _ & _ & R & _). unfold rd in R. rewrite Q, Km in R. destruct R.
Qed.
Lemma flow_sc x y : depr (rf_in S l tau) x y -> ~ depr (rf_in S l tau) m y -> sc1' (rep x) (rep y).
Proof.
  intros (d & R & D) N. apply (depr_sc (wfS' (G:=G1))). exists d.
  assert (~ dep (rf_in S l tau) m d) as Nd by (intros X; apply N; exists d; auto).
  split; [|now apply flow]. apply (T'_rf (G:=G1)); auto; [|apply R].
  apply alone_S; [apply R|]. intros Q. destruct R as (_ & _ & _ & R & _). unfold rd in R. rewrite Q, Km in R. destruct R.
Qed.
Lemma alone_po x y : S x -> S y -> x <> m -> y <> m -> po x y -> rep x = rep y \/ sc1' (rep x) (rep y).
Proof. intros. apply (rt_po (wfS' (G:=G1))); auto using alone_S. Qed.

Lemma e_facts : S1 e /\ rep e = e /\ e <> m /\ ~ cond e /\ knd e <> NAW /\ wr l e /\ sc1' r e.
Proof.
  destruct He as (Se & Hre & Hem). destruct (naw_facts m Km) as (_ & _ & Ks & Ls).
  assert (e <> m) as Nem by (intros ->; exact (t_irr _ Hem)). assert (S1 e) as Se1 by now apply alone_S.
  assert (knd e <> NAW /\ ~ cond e) as (Kn & Nc) by (unfold cond; destruct Ke as [-> | ->]; simpl; split; auto;
    discriminate).
  assert (is_w (knd e)) as Ie by (destruct Ke as [-> | ->]; exact I).
  assert (rep e = e) as Qe by (destruct (rep_spec e) as [(K & _)|(_ & Q)]; tauto).
  assert (r <> m) as Nrm by congruence.
  split; auto. split; auto. split; auto. split; auto. split; auto. split; [split; tauto|].
  rewrite <- Qe. replace r with (rep r) by (unfold rep; now rewrite Ks).
  apply join; auto; [exact (wfS' (G:=G1))|exact (sto' (G:=G1))|exact (init' (G:=G1))|apply alone_S; auto; exact (mid_Sr
    Last Km)| |tauto].
  unfold conflict, rd. rewrite Ks. simpl. split; [auto|split; [left; split; tauto|split; [right; split; tauto|split;
    [congruence|]]]].
  intros Q. rewrite Q in Hre. exact (t_irr _ Hre).
Qed.
Lemma r_clean : ~ depr (rf_in S l tau) m r.
Proof. intros D. exact (t_asym _ _ (depr_after m r D) (mid_rm Last Km)). Qed.
Lemma no_way_back : ~ sc1' e r.
Proof. intros H. destruct e_facts as (_ & _ & _ & _ & _ & _ & H'). apply (SC e). eapply t_trans; eauto. Qed.
(* no other pivot is reached *)
Lemma no_other p : pivotal p -> p <> m -> p <> e -> ~ sc1' e (rep p).
Proof.
  intros Pp Npm Npe H. destruct e_facts as (_ & _ & _ & Nc & Kn & We & _).
  pose proof (two_steps_stay e p He We Lo Kn Nc Pp Npm Npe) as D. apply no_way_back. eapply t_trans; [exact H|].
  assert (rep r = r) as Qr by (unfold rep; now rewrite (Kr Km)). pose proof (flow_sc p r D r_clean) as X. rewrite Qr in X.
  exact X.
Qed.
Theorem plain_between : pivotal e /\ sc T (rep e) (rep e).
Proof.
  destruct e_facts as (Se1 & Qe & Nem & Nc & Kn & We & Hre1). pose proof He as (Se & Hre & Hem).
  assert (noninit e) as Ie by (unfold noninit; destruct Ke as [-> | ->]; discriminate).
  assert (rep r = r) as Qr by (unfold rep; now rewrite (Kr Km)).
  assert (S r /\ r <> m) as (Sr & Nrm) by (split; [exact (mid_Sr Last Km)|pose proof (Kr Km); congruence]).
  destruct (last_above e Se Ie) as (m0 & Hm0 & L0).
  assert (m0 <> m) as N0.
  { intros Q0. destruct Hm0 as [|Hp]; [congruence|]. rewrite Q0 in Hp. apply no_way_back.
    assert (e <> r) as Ner by (intros Q; rewrite Q in Hre; exact (t_irr _ Hre)).
    destruct (alone_po e r Se Sr Nem Nrm (po_naR e Se Ner Hp)); congruence. }
  assert (rep m0 = rep e \/ sc1' e (rep m0)) as H0.
  { destruct Hm0 as [->|Hp]; [auto|]. destruct (alone_po e m0 Se (proj1 L0) Nem N0 Hp) as [Q|Y]; [left; congruence|right;
    rewrite Qe in Y; exact Y]. }
  assert (pivotal m0 -> m0 = e) as Only.
  { intros P0. apply NNPP. intros N. destruct H0 as [Q|H0]; [|exact (no_other m0 P0 N0 N H0)].
    destruct (rep_spec m0) as [(K & Q' & _ & Ks)|(_ & Q')]; [|congruence]. rewrite Q', Qe in Q. destruct Ke; congruence. }
  assert (pivotal e) as Pe; [|split; auto].
  - destruct (classic (pivotal m0)) as [P0|N1]; [now rewrite <- (Only P0)|exfalso].
    destruct (not_pivotal m0 L0 N1) as (c0 & Sc0 & Cc0 & D0). destruct (wf_fin _ W) as (es & Hl).
    assert (forall x c, cpu c -> depr (rf_in S l tau) x c -> S c -> sc1' (rep x) (rep c)) as Fl.
    { intros x c Cc D Sc. apply flow_sc; auto. exact (proj2 Pm c Sc Cc). }
    destruct (max_elem es (fun c => S c /\ cpu c /\ sc1' e (rep c)) tau) as (c & (Sc & Cc & Hc) & K).
    + split; [apply g_sto|apply g_sto].
    + intros a (Sa & _). auto.
    + exists c0. split; auto. split; auto. pose proof (Fl m0 c0 Cc0 D0 Sc0) as X.
      destruct H0 as [Q|H0]; [rewrite Q, Qe in X; exact X|eapply t_trans; eauto].
    + assert (noninit c /\ c <> m /\ rep c = c) as (Nc0 & Ncm & Qc).
      { unfold noninit, cpu, rep in *. split; [intros Q; rewrite Q in Cc; destruct Cc|split; [|destruct (knd c);
        simpl in Cc; tauto]].
        intros ->. rewrite Km in Cc. destruct Cc. }
      rewrite Qc in Hc. destruct (last_above c Sc Nc0) as (p & Hp & Lp).
      destruct (classic (p = m)) as [->|Npm].
      { destruct Hp as [|Hp]; [congruence|]. apply no_way_back. eapply t_trans; [exact Hc|].
        destruct (cpu_naR c Cc) as (_ & Ncr). destruct (alone_po c r Sc Sr Ncm Nrm (po_naR c Sc Ncr Hp)) as [Q|Y];
        [congruence|rewrite Qc, Qr in Y; exact Y]. }
      assert (sc1' e (rep p)) as Hep.
      { destruct Hp as [->|Hp]; [congruence|]. destruct (alone_po c p Sc (proj1 Lp) Ncm Npm Hp) as [Q|Y].
        - rewrite <- Q, Qc. exact Hc.
        - rewrite Qc in Y. eapply t_trans; eauto. }
      destruct (classic (p = e)) as [->|Npe]; [apply (SC e); congruence|].
      destruct (classic (pivotal p)) as [Pp|Np]; [exact (no_other p Pp Npm Npe Hep)|].
      destruct (not_pivotal p Lp Np) as (c2 & Sc2 & Cc2 & D2).
      apply (K c2).
      * split; auto. split; auto. eapply t_trans; [exact Hep|]. now apply Fl.
      * pose proof (depr_after p _ D2) as Z. destruct Hp as [->|Hp]; auto. eapply t_trans'; [|exact Z].
        apply cpu_tau; auto; apply Lp.
  - destruct (two_steps S l e) as (A1 & A2); auto using W; [exact (proj1 Last)|split; [rewrite Km; exact I|auto]|].
    eapply t_trans; eauto.
Qed.
End Plain.
End Naw.

(* an execution has RMWs as [atomics hca] has them, or as [atomics glob] *)
Definition one_kind := forall S, runs P S -> (forall e, S e -> knd e <> NA) \/ (forall e, S e -> knd e <> NAR).

Record found (S l : ev -> Prop) (tau : relation ev) (m pr : ev) (S' l' : ev -> Prop) : Prop := {
  f_setting : setting ord P S l tau m pr S' l';
  f_sc : sc_consistent (tr S' l' tau);
  f_empty : forall e, S' e -> tau pr e -> ~ tau e m;
  f_stop : forall r z, stops (S:=S) (S':=S') r -> M m pr z -> knd z = NAR -> loc z = loc r -> wr l m;
  f_ends : forall r, stops (S:=S) (S':=S') r -> knd m = NAR /\ forall w, S w -> knd w = NAW -> src w <> m;
  f_cycle : sc (tr S l tau) (rep m) (rep m);
  f_class : (knd m <> NAW /\ pr = m) \/ (knd m = NAW /\ pr = src m);
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
  intros B Pm C Em Hs. destruct (setting_exists ord P S l tau n B Cn m (rep m) Pm (or_introl eq_refl)) as (S' & l' & G & k
    & Hk & Ck).
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
  - intros r (Sr & Kr & N). destruct Hs as [(_ & Km & Nm)|Hs]; [auto|].
    destruct (Hs r). split; [exact (S'_S (G:=G) r Sr)|auto].
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
    assert (S (src e)) as Sse by (apply (src_S (G:=B)); auto; now apply naw_fed).
    destruct (t_tot (G:=B) (src m) (src e) Sr Sse) as [Q|[X|X]].
    + assert (m = e) as -> by (apply src_naw; auto). exact (t_irr (G:=B) _ Hem).
    + assert (tau m (src e)) as Y by (apply (rao_slots (G:=B)); auto; [apply Pm|congruence]).
      apply (t_asym (G:=B) _ _ Hem). apply (t_trans' (G:=B) _ _ _ Y). apply (src_before (G:=B)); auto.
      now apply naw_fed.
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
    + destruct (plain_between S l tau n B Small Cn m (proj1 Pm) Km Lm S1 l1 e (G1:=G1) Pm SC He Ke Lo) as (Pe & C).
      destruct (found_event l tau e B Pe C) as (S' & l' & F); [|auto|eauto 7]. destruct Ke; congruence.
    + assert (~ cond e /\ ~ rd e) as (Ne & Re) by (unfold cond, rd; destruct Ke as [-> | ->]; simpl; auto).
      destruct (written (G:=B) (proj1 Pm) Km Lm S1 l1 e (G1:=G1) He We Lo (conj Ne Re) First NSC) as (l2 & tau2 & B2 & Em &
        N).
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
