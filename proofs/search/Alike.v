(* The rules of the search give the same for states that agree on what the program has (threads, cells, queue pairs) and
   for events that agree on what the rules ask of them. *)
Require Import List Arith ZArith Bool Lia.
Import ListNotations.
From RR Require Import Model Hardware Programs Search Searched.

Section Alike.
Context {U : events} {K : searchable} (hw : hardware).
Variables (nt nv : nat) (queues : list qpair).

Record alike (e e' : ev) : Prop := {
  a_knd : knd e' = knd e; a_thr : thr e' = thr e; a_qp : qp e' = qp e; a_loc : loc e' = loc e;
  a_crv : crv e' = crv e; a_cwv : cwv e' = cwv e; a_sgn : sgn e' = sgn e; a_brings : brings e' = brings e }.
Record within (e : ev) : Prop := { in_thr : thr e < nt; in_loc : loc e < nv; in_qp : In (qp e) queues }.

(* but for counters, which are below, and what was done *)
Record like (s s' : state) : Prop := {
  l_mem : forall x, x < nv -> mem (th s') x = mem (th s) x;
  l_car : forall t, t < nt -> car (th s') t = car (th s) t;
  l_cls : cls s' = cls s;
  l_cpub : forall t, t < nt -> cpub (sd s') t = cpub (sd s) t;
  l_stob : forall t, t < nt -> stob (sd s') t = stob (sd s) t;
  l_typ : forall q k, In q queues -> typ (sd s') q k = typ (sd s) q k;
  l_fen : forall q, In q queues -> fen (sd s') q = fen (sd s) q;
  l_fod : forall q, In q queues -> fod (sd s') q = fod (sd s) q;
  l_cr : forall x, x < nv -> cr (acc s') x = cr (acc s) x;
  l_cw : forall x, x < nv -> cw (acc s') x = cw (acc s) x;
  l_tcr : forall x, x < nv -> cr (tce (tn s')) x = cr (tce (tn s)) x;
  l_tcw : forall x, x < nv -> cw (tce (tn s')) x = cw (tce (tn s)) x;
  l_tth : forall t, t < nt -> tth (tn s') t = tth (tn s) t;
  l_clo : clo (tn s') = clo (tn s);
  l_poi : forall x, x < nv -> poi (ps s') x = poi (ps s) x;
  l_poc : forall t, t < nt -> poc (ps s') t = poc (ps s) t;
  l_fro : fro s' = fro s;
  l_own : forall x, x < nv -> fwd s' x = fwd s x }.

Lemma like_trans s1 s2 s3 : like s1 s2 -> like s2 s3 -> like s1 s3.
Proof. intros H1 H2. constructor; intros; etransitivity; try apply H2; try apply H1; auto. Qed.

Section Two.
Variables (s s' : state) (e e' : ev).
Hypotheses (H : like s s') (A : alike e e') (I : within e).

Lemma s_is k : is k e' = is k e. Proof. unfold is. now rewrite (a_knd _ _ A). Qed.
Lemma s_cpu : cpu_b e' = cpu_b e. Proof. unfold cpu_b. now rewrite (a_knd _ _ A). Qed.
Lemma s_rd : rd_b e' = rd_b e. Proof. unfold rd_b. now rewrite (a_knd _ _ A). Qed.
Lemma s_wr : wr_b e' = wr_b e. Proof. unfold wr_b. now rewrite (a_knd _ _ A). Qed.
Lemma s_type k : forcing_type hw e' k = forcing_type hw e k. Proof. unfold forcing_type. now rewrite (a_knd _ _ A). Qed.

(* as of e, as of s *)
Ltac of_event := rewrite ?s_is, ?s_cpu, ?s_rd, ?s_wr, ?(a_thr _ _ A), ?(a_qp _ _ A), ?(a_loc _ _ A), ?(a_crv _ _ A),
  ?(a_cwv _ _ A),
  ?(a_sgn _ _ A), ?(a_brings _ _ A).
Ltac of_state := rewrite ?(l_mem _ _ H _ (in_loc _ I)), ?(l_car _ _ H _ (in_thr _ I)), ?(l_cls _ _ H),
  ?(l_cpub _ _ H _ (in_thr _ I)), ?(l_stob _ _ H _ (in_thr _ I)), ?(l_own _ _ H _ (in_loc _ I)),
  ?(l_typ _ _ H _ _ (in_qp _ I)), ?(l_fen _ _ H _ (in_qp _ I)), ?(l_fod _ _ H _ (in_qp _ I)), ?(l_cr _ _ H _ (in_loc _ I)), ?(l_cw _ _ H _ (in_loc _ I)),
  ?(l_tcr _ _ H _ (in_loc _ I)), ?(l_tcw _ _ H _ (in_loc _ I)), ?(l_tth _ _ H _ (in_thr _ I)), ?(l_clo _ _ H),
  ?(l_poi _ _ H _ (in_loc _ I)), ?(l_poc _ _ H _ (in_thr _ I)), ?(l_fro _ _ H).
Ltac same := of_event; of_state; reflexivity.

Lemma s_nic_forces : nic_forces hw (sd s') e' = nic_forces hw (sd s) e.
Proof.
  unfold nic_forces. of_event. of_state. f_equal. induction kinds as [|k ks IH]; simpl; auto.
  rewrite IH, s_type. of_state. reflexivity.
Qed.
Lemma s_store : store_b hw e' = store_b hw e. Proof. unfold store_b. now rewrite s_is. Qed.
Lemma s_stored : stored (sd s') e' = stored (sd s) e.
Proof. unfold stored. same. Qed.
Lemma s_takes_own : takes_own s' e' = takes_own s e.
Proof. unfold takes_own. same. Qed.
Lemma s_forced : forced hw s' e' = forced hw s e.
Proof. unfold forced, oppo_forces, meets_marks. rewrite s_nic_forces, s_stored, s_takes_own. same. Qed.
Lemma s_forces : forces (sd s') e' = forces (sd s) e.
Proof. unfold forces. rewrite s_stored. same. Qed.
Lemma s_reached : reached s' e' = reached s e.
Proof. unfold reached, meets_marks. same. Qed.
Lemma s_meets c : meets c e' = meets c e.
Proof. unfold meets. same. Qed.
Lemma s_own c : own c e' = own c e.
Proof. unfold own. same. Qed.
Lemma s_cuts c : cuts hw c e' = cuts hw c e.
Proof. unfold cuts, own. rewrite s_store. same. Qed.
Lemma s_poisons : poisons s' e' = poisons s e.
Proof. unfold poisons. same. Qed.
Lemma s_can_start c : can_start c e' = can_start c e.
Proof. unfold can_start, meets, own. same. Qed.
Lemma s_class_of : class_of e' = class_of e.
Proof. unfold class_of. same. Qed.
Lemma s_closing : closing_alpha s' e' = closing_alpha s e.
Proof. unfold closing_alpha. rewrite (l_cls _ _ H). destruct (cls s); auto. now rewrite s_meets, s_own, s_takes_own. Qed.
Lemma s_pivot_value : pivot_value s' (loc e') = pivot_value s (loc e).
Proof. unfold pivot_value. same. Qed.
Lemma s_freeze c : freeze c s' e' = freeze c s e.
Proof.
  unfold freeze. of_event. destruct (wr_b e); simpl; [|same].
  destruct (Nat.eqb_spec (loc e) (ccell c)) as [<-|]; simpl; same.
Qed.

(* pointwise *)
Ltac at_point := intros; simpl; unfold upd, updq in *; of_event; of_state;
  repeat match goal with
  | |- context [if ?b then _ else _] => destruct b eqn:?; simpl
  end; auto;
  try (of_event; of_state; reflexivity).
Ltac by_like := try (first [eapply l_mem|eapply l_car|eapply l_cpub|eapply l_typ|eapply l_fen|eapply l_fod
  |eapply l_cr|eapply l_cw|eapply l_tcr|eapply l_tcw|eapply l_tth|eapply l_poi|eapply l_poc
  |eapply l_stob|eapply l_own]; eauto).

Lemma s_spreading tainted closing :
  let t := spreading (tn s) e tainted closing in let t' := spreading (tn s') e' tainted closing in
  (forall x, x < nv -> cr (tce t') x = cr (tce t) x) /\ (forall x, x < nv -> cw (tce t') x = cw (tce t) x) /\
  (forall x, x < nt -> tth t' x = tth t x) /\ clo t' = clo t.
Proof.
  unfold spreading, left_by. of_event. of_state. destruct (clo (tn s) || tainted && closing); [simpl; auto|].
  destruct tainted; simpl; repeat split; at_point; by_like.
Qed.

Lemma after_alpha_like : like (after_alpha s e) (after_alpha s' e').
Proof.
  unfold after_alpha. rewrite s_reached, s_closing.
  destruct (s_spreading (reached s e) (closing_alpha s e)) as (T1 & T2 & T3 & T4).
  constructor; simpl; auto; try (unfold th_after, written, sides_alpha; at_point; by_like; fail); apply H; auto.
Qed.
Lemma after_beta_like c : like (after_beta hw c s e) (after_beta hw c s' e').
Proof.
  unfold after_beta. rewrite s_reached, s_meets, s_own, s_freeze.
  destruct (s_spreading (reached s e || meets c e) (own c e)) as (T1 & T2 & T3 & T4).
  constructor; simpl; auto; unfold th_after, written, sides_beta, left_own, left_by, poisoning; rewrite ?s_forces, ?s_store.
  all: try (at_point; by_like; fail).
Qed.
End Two.

(* the counters of two states behind an event, of one queue pair *)
Section Counts.
Variables (c c' : counts) (e e' : ev) (q : qpair).
Hypothesis A : alike e e'.
Lemma completion_unp late late' : unp c' q = unp c q -> unp (completion c' e' late') q = unp (completion c e late) q.
Proof.
  intros Q. unfold completion. rewrite (a_sgn _ _ A), (a_qp _ _ A). destruct (sgn e); simpl; auto. unfold updq.
  destruct (qp_dec q (qp e)) as [<-|]; auto.
Qed.
Lemma completion_ear late : ear c' q = ear c q -> ear (completion c' e' late) q = ear (completion c e late) q.
Proof.
  intros Q. unfold completion. rewrite (a_sgn _ _ A), (a_qp _ _ A). destruct (sgn e), late; simpl; auto. unfold updq.
  destruct (qp_dec q (qp e)) as [<-|]; auto.
Qed.
Variables (d d' : sides).
Hypothesis Hf : fod d' (qp e') = fod d (qp e).
Hypothesis Hg : forces d' e' = forces d e.
Lemma alpha_unp : unp c' q = unp c q -> unp (counts_alpha c' d' e') q = unp (counts_alpha c d e) q.
Proof.
  intros Q. unfold counts_alpha. rewrite (s_is _ _ A). destruct (is Poll e); [|now apply completion_unp].
  simpl. unfold updq. rewrite (a_qp _ _ A). destruct (qp_dec q (qp e)) as [<-|]; auto.
Qed.
Lemma alpha_ear : ear c' q = ear c q -> ear (counts_alpha c' d' e') q = ear (counts_alpha c d e) q.
Proof.
  intros Q. unfold counts_alpha. rewrite (s_is _ _ A), Hf. destruct (is Poll e); [|now apply completion_ear].
  simpl. unfold updq. rewrite (a_qp _ _ A). destruct (qp_dec q (qp e)) as [<-|]; auto.
Qed.
Lemma beta_unp : unp c' q = unp c q -> unp (counts_beta c' d' e') q = unp (counts_beta c d e) q.
Proof.
  intros Q. unfold counts_beta. rewrite (s_is _ _ A). destruct (is Poll e); [|now apply completion_unp].
  simpl. unfold updq. rewrite (a_qp _ _ A). destruct (qp_dec q (qp e)) as [<-|]; auto.
Qed.
Lemma beta_ear : ear c' q = ear c q -> ear (counts_beta c' d' e') q = ear (counts_beta c d e) q.
Proof.
  intros Q. unfold counts_beta. rewrite (s_is _ _ A), Hg. destruct (is Poll e); auto. now apply completion_ear.
Qed.
End Counts.

Lemma begun_like c s s' : like s s' -> like (begun c s) (begun c s').
Proof.
  intros H. constructor; simpl; auto; try apply H.
  destruct (cwr c); [|apply H]. intros x Hx. unfold upd. destruct (x =? ccell c); auto. now apply H.
Qed.
End Alike.
