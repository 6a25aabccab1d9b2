(* Remote atomics: trace(sigma) is well-formed; conflicting events are joined; orders that exist. *)
Require Import List Arith Lia Classical Relations.
Import ListNotations.
From RR Require Import Orders RemoteAtomicsModel RemoteAtomicsRules RemoteAtomicsValues.

Section Traces.
Context {U : slots} (ord : order).

Lemma wr_in_E (S l : ev -> Prop) a : S a -> wr l a -> S a /\ happens l a.
Proof. intros H (_ & C). split; auto. intros K. apply C. unfold cond; now rewrite K. Qed.
Lemma rd_in_E (S l : ev -> Prop) a : S a -> rd a -> S a /\ happens l a.
Proof. intros H R. split; auto. intros K. unfold rd in R; rewrite K in R; destruct R. Qed.
Lemma acc_in_E (S l : ev -> Prop) a : S a -> wr l a \/ rd a -> S a /\ happens l a.
Proof. intros H [R|R]; auto using wr_in_E, rd_in_E. Qed.

(* trace(sigma) is well-formed *)
Lemma tr_wft S l lt : wfS S -> sto S lt -> initfirst S lt ->
  (forall a b, rao_in S lt a b -> exists w, S w /\ knd w = NAW /\ src w = a) -> wft (tr S l lt).
Proof.
  intros W St I Hn. pose proof St as (Hi & Ht & Hc). constructor; simpl; auto.
  - intros w r (Sw & Sr & Ww & Rr & L & _). split; [now apply wr_in_E|split; [now apply rd_in_E|auto]].
  - intros r (Sr & _) Rr. apply rf_in_ex; auto; apply W.
  - intros w w' r; now apply rf_in_fun.
  - intros a b (Sa & Sb & Wa & Wb & L & _). split; [now apply wr_in_E|split; [now apply wr_in_E|auto]].
  - intros a H; eapply Hi, H.
  - intros a b c (?&?&?&?&?&?) (?&?&?&?&?&?). split; [auto|split; [auto|split; [auto|split; [auto|split;
    [congruence|eauto]]]]].
  - intros a b (Sa & _) (Sb & _) Wa Wb L. destruct (Hc a b Sa Sb) as [|[|]]; auto; right; [left|right];
    (split; [auto|split; [auto|split; [auto|split; [auto|split; auto]]]]).
  - intros a b (Sa & Sb & Wa & Wb & L & H) K. destruct (classic (knd a = Init)) as [K'|K'].
    + rewrite (wf_init1 _ W a b) in H; auto. eapply Hi; eauto.
    + eapply Hi, Ht; [exact H|]. apply I; auto.
  - intros a b (?&?&?&?); auto.
  - intros a b (?&?&?&H) (?&?&?&H'). eapply Hi, Ht; eauto.
  - intros a b Ea Eb N. destruct (Hc a b (proj1 Ea) (proj1 Eb)) as [->|[|]]; auto.
    + exfalso. destruct N as (_ & K). unfold rread, rwrite in K. destruct (knd b); intuition discriminate.
    + left; repeat split; auto; try apply Ea; try apply Eb; apply N.
    + right; repeat split; auto; try apply Ea; try apply Eb; destruct N; auto; tauto.
  - intros a b (?&?&?&?&?&?); auto.
  - intros a H; eapply Hi, H.
  - intros a b c (?&?&?&?&?&?) (?&?&?&?&?&?). split; [auto|split; [auto|split; [auto|split; [auto|split;
    [congruence|eauto]]]]].
  - intros a b Sa Sb Ka Kb L. destruct (Hc a b Sa Sb) as [|[|]]; auto; right; [left|right]; repeat split; auto.
Qed.

(* accesses in conflict are joined by rf, rb, mo in the direction of the order, between vertices *)
Lemma join S l lt a b : wfS S -> sto S lt -> initfirst S lt -> S a -> S b -> conflict l a b -> lt a b ->
  ~ (knd b = NAW /\ src b = a) -> sc (tr S l lt) (rep a) (rep b).
Proof.
  intros W St I Sa Sb (Aa & Ab & Wab & L & N) H Nin. pose proof St as (Hi & Ht & Hc).
  assert (forall x y, sc1 (tr S l lt) x y -> ~ (knd y = NAW /\ src y = x) -> scv (tr S l lt) (rep x) (rep y)) as V.
  { intros x y X Y. exists x, y; auto. }
  assert (forall x, S x -> rd x -> exists w, rf_in S l lt w x) as Ex.
  { intros x Sx Rx. apply rf_in_ex; auto; apply W. }
  assert (forall x, rd x -> ~ (knd x = NAW /\ src x = a)) as NR.
  { intros x R (K & _). unfold rd in R; rewrite K in R; destruct R. }
  destruct (classic (wr l a)) as [Wa|NWa].
  - destruct (classic (wr l b)) as [Wb|NWb].
    + apply t_step, V; auto. apply sc_mo. split; [auto|split; [auto|split; [auto|split; [auto|split; auto]]]].
    + assert (rd b) as Rb by tauto. destruct (Ex b Sb Rb) as (w & Hw).
      pose proof Hw as (Sw & _ & Ww & _ & Lw & Hwb & K).
      assert (scv (tr S l lt) (rep w) (rep b)) as Vw.
      { apply V; [apply sc_rf; exact Hw|]. intros (X & _). unfold rd in Rb; rewrite X in Rb; destruct Rb. }
      destruct (K a Sa Wa L H) as [->|X]; [now apply t_step|].
      eapply t_trans; [apply t_step|apply t_step; exact Vw]. apply V.
      * apply sc_mo. split; [auto|split; [auto|split; [auto|split; [auto|split; [congruence|auto]]]]].
      * intros (Kw & Q). destruct (src_ok w (naw_fed w Kw)) as (_ & _ & Z). rewrite Kw in Z. rewrite Q in Z.
        destruct Z as (Z & _), Wa as (Wa & _). rewrite Z in Wa. destruct Wa.
  - assert (rd a) as Ra by tauto. assert (wr l b) as Wb by tauto. destruct (Ex a Sa Ra) as (w & Hw).
    pose proof Hw as (Sw & _ & Ww & _ & Lw & Hwa & K).
    apply t_step, V; auto. apply sc_rb. split; [auto|]. exists w; split; [exact Hw|].
    split; [auto|split; [auto|split; [auto|split; [auto|split; [congruence|eauto]]]]].
Qed.

(* edges rf, rb, mo of trace(sigma) are forward and join accesses in conflict *)
Lemma eco_conflict S l lt a b : sto S lt -> rf_in S l lt a b \/ rb (tr S l lt) a b \/ mo_in S l lt a b ->
  S a /\ S b /\ conflict l a b /\ lt a b.
Proof.
  intros St [H|[H|H]].
  - destruct H as (Sa & Sb & Wa & Rb & L & H & _). split; auto. split; auto. split; auto. unfold conflict. intuition auto.
    subst. eapply (proj1 St); eauto.
  - pose proof (rb_fwd S l lt St _ _ H) as F. destruct H as (N & u & (_ & Sa & _ & Ra & L & _) & (_ & Sb & _ & Wb & L' & _)).
    split; auto. split; auto. split; auto. unfold conflict. intuition auto. congruence.
  - destruct H as (Sa & Sb & Wa & Wb & L & H). split; auto. split; auto. split; auto. unfold conflict. intuition auto.
    subst. eapply (proj1 St); eauto.
Qed.

(* vertices *)
Lemma rep_spec a : (knd a = NAW /\ rep a = src a /\ po (src a) a /\ knd (src a) = NAR) \/ (knd a <> NAW /\ rep a = a).
Proof.
  unfold rep. destruct (knd a) eqn:K; try (right; split; congruence). left. repeat split; auto;
  destruct (src_ok a (naw_fed a K)) as (P & _ & X); auto. rewrite K in X. apply X.
Qed.
Lemma rep_nar a : knd (rep a) <> NAW.
Proof. destruct (rep_spec a) as [(_ & -> & _ & K)|(K & ->)]; congruence. Qed.
Lemma rep_S S a : wfS S -> S a -> S (rep a).
Proof. intros W Sa. destruct (rep_spec a) as [(_ & -> & P & _)|(_ & ->)]; auto. eapply wf_down; eauto. Qed.
Lemma rep_noninit a : noninit a -> noninit (rep a).
Proof. intros N. destruct (rep_spec a) as [(_ & -> & _ & K)|(_ & ->)]; auto. unfold noninit; congruence. Qed.
Lemma po_rep S a b : wfS S -> S a -> S b -> po a b -> rep a = rep b \/ po (rep a) (rep b).
Proof.
  intros W Sa Sb P.
  assert (rep a = rep b \/ po a (rep b)) as [|P']; [|auto|].
  { destruct (rep_spec b) as [(Kb & Qb & Pb & Kr)|(_ & Qb)]; rewrite Qb; auto.
    destruct (wf_total _ W a (src b)) as [->|[X|X]]; auto.
    - eapply wf_down; eauto.
    - eapply po_init_l; eauto.
    - eapply po_init_l; eauto.
    - rewrite (po_thr _ _ P). symmetry. now apply po_thr.
    - left. destruct (rep_spec (src b)) as [(K & _)|(_ & ->)]; congruence.
    - destruct (naw_next b a Kb X) as [->|Y].
      + destruct (po_irr _ P).
      + destruct (po_irr b); eapply po_trans; eauto. }
  right. destruct (rep_spec a) as [(_ & -> & Pa & _)|(_ & ->)]; auto. eapply po_trans; eauto.
Qed.
Lemma po_scv T a b : wfS (S T) -> S T a -> S T b -> po a b -> rep a = rep b \/ scv T (rep a) (rep b).
Proof.
  intros W Sa Sb P. destruct (po_rep _ _ _ W Sa Sb P) as [|P']; auto. right. exists (rep a), (rep b).
  assert (forall x, rep (rep x) = rep x) as RR. { intros x. destruct (rep_spec (rep x)) as [(K & _)|(_ & ->)]; auto.
    destruct (rep_nar x K). }
  split; [now rewrite RR|split; [now rewrite RR|split]].
  - apply sc_po. repeat split; auto; try now apply rep_S. all: intros K; destruct (rep_nar _ K).
  - intros (K & _). exact (rep_nar _ K).
Qed.

(* a strict partial order on a finite set extends to a total one; initial events first *)
Lemma linear (S : ev -> Prop) (R : relation ev) : fin S -> (forall a, ~ clos_trans ev R a a) -> (forall a b, R a b ->
  noninit b) ->
  exists lt, sto S lt /\ initfirst S lt /\ forall a b, R a b -> lt a b.
Proof.
  intros (l & Hl) Hi Hn.
  destruct (szpilrajn l (clos_trans ev R)) as (lt & (Si & Sr) & Inc & Tot).
  { split; [exact Hi|]. intros; eapply t_trans; eauto. }
  exists (fun a b => (~ noninit a /\ noninit b) \/ ((noninit a <-> noninit b) /\ lt a b)). split; [split; [|split]|split].
  - intros a [H|H]; [tauto|]. eapply Si; apply H.
  - intros a b c [H|(H & H')] [K|(K & K')]; try tauto. right; split; [tauto|eauto].
  - intros a b Sa Sb. specialize (Tot a b (Hl a Sa) (Hl b Sb)). destruct (classic (noninit a)), (classic (noninit b)); tauto.
  - intros i x Ei Ex Ki Nx. left. split; [intro K; now apply K|auto].
  - intros a b H. assert (lt a b) by (apply Inc; now apply t_step). pose proof (Hn a b H).
    destruct (classic (noninit a)); tauto.
Qed.

(* an order in which some events stand directly behind another one, their key *)
Section Squash.
Variables (K : ev -> ev -> Prop) (S : ev -> Prop) (lt : relation ev).
Hypotheses (k1 : forall a, exists k, K a k) (k2 : forall a k k', K a k -> K a k' -> k = k') (k3 : forall a k, K a k -> K k
  k).
Hypotheses (k4 : forall a b k, K a k -> K b k -> a = b \/ a = k \/ b = k) (k5 : forall a k, S a -> K a k -> S k).
Hypothesis St : sto S lt.
Definition squash a b := exists k k', K a k /\ K b k' /\ (lt k k' \/ (k = k' /\ a = k /\ b <> k)).
Lemma squash_sto : sto S squash.
Proof.
  destruct St as (Hi & Ht & Hc). split; [|split].
  - intros a (k & k' & A & B & [H|(H & H1 & H2)]); rewrite (k2 _ _ _ A B) in *; [eapply Hi; eauto|congruence].
  - intros a b c (k & k' & A & B & H) (j & j' & A' & B' & H'). rewrite (k2 _ _ _ A' B) in *.
    exists k, j'. split; auto. split; auto. destruct H as [H|(-> & H1 & H2)], H' as [H'|(H' & H3 & H4)]; subst; eauto.
  - intros a b Sa Sb. destruct (k1 a) as (k & A), (k1 b) as (k' & B).
    destruct (Hc k k') as [->|[X|X]]; eauto.
    + destruct (k4 a b k' A B) as [|[|]]; auto; destruct (classic (a = b)); auto; right; [left|right]; exists k', k'; subst;
      split; auto; split; auto; right; auto.
    + right; left; exists k, k'; auto.
    + right; right; exists k', k; auto.
Qed.
Lemma squash_adj x k e : K x k -> squash e x -> e = k \/ squash e k.
Proof.
  intros A (j & j' & B & A' & H). rewrite (k2 _ _ _ A' A) in *. destruct H as [H|(-> & -> & _)]; [right|left; auto].
  exists j, k. split; auto. split; [now apply (k3 x)|auto].
Qed.
Lemma squash_key a b : K a a -> K b b -> (squash a b <-> lt a b).
Proof.
  intros A B. split.
  - intros (k & k' & A' & B' & H). rewrite <- (k2 _ _ _ A A'), <- (k2 _ _ _ B B') in H. destruct H as [|(-> & _ & H)];
    congruence.
  - intros H. exists a, b; auto.
Qed.
End Squash.

(* two traces on the same events with the same relations *)
Lemma ob1_mono T T0 : S T = S T0 -> live T = live T0 -> (forall a b, rf T a b <-> rf T0 a b) -> (forall a b, mo T a b <->
  mo T0 a b) ->
  (flush ord = true -> forall a b, nfo T a b <-> nfo T0 a b) -> (forall a b, rao T a b <-> rao T0 a b) ->
  (forall a b, ob1 ord T a b -> ob1 ord T0 a b) /\ (forall a b, sc T a b -> sc T0 a b).
Proof.
  intros HS Hl Hrf Hmo Hnfo Hrao.
  assert (forall a, E T a <-> E T0 a) as HE by (intros a; unfold E; rewrite HS, Hl; tauto).
  assert (forall a b, rb T a b -> rb T0 a b) as Hrb.
  { intros a b (N & u & A & B). split; auto. exists u. split; [now apply Hrf|now apply Hmo]. }
  assert (forall R a b, on T R a b -> on T0 R a b) as Hon by (intros R a b (A & B & C); split; [now apply HE|split; [now
    apply HE|auto]]).
  assert (forall a b, raoE T a b -> raoE T0 a b) as HraoE.
  { intros a b [A|(A & B & C)]; [left; now apply Hrao|right; split; [auto|split; [now apply HE|now apply Hrao]]]. }
  assert (forall a b, flushed ord T a b -> flushed ord T0 a b) as Hf by (intros a b (A & B); split; auto; now apply Hnfo).
  assert (forall a b, ib1 ord T a b -> ib1 ord T0 a b) as Hib.
  { intros a b [A|A|A|A|A]; [apply ib_ippo|apply ib_pf|apply ib_rf|apply ib_nfo|apply ib_rao]; first [now apply Hon|now
    apply Hrf|now apply Hf|now apply HraoE]. }
  split.
  - intros a b [A|A K|A|A|A|A|A|I A]; [apply ob_oppo|apply ob_pf|apply ob_rf|apply ob_nfo|apply ob_rao|apply ob_rb|apply
    ob_mo|apply ob_ib];
    try (first [now apply Hon|now apply Hrf|now apply Hf|now apply HraoE|now apply Hrb|now apply Hmo|assumption]).
    clear -A Hib. induction A; [apply t_step; auto|eapply t_trans; eauto].
  - assert (forall a b, scv T a b -> scv T0 a b) as Hv.
    { intros x y (a & b & A & B & C & D). exists a, b. split; auto. split; auto. split; auto.
      destruct C as [C|C|C|C]; [apply sc_po|apply sc_rf|apply sc_rb|apply sc_mo]; first [now apply Hon|now apply Hrf|now
        apply Hrb|now apply Hmo]. }
    intros a b A. induction A; [apply t_step; auto|eapply t_trans; eauto].
Qed.

End Traces.
