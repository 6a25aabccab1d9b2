(* What a step of the search reads and writes: docs/theory-crowds.md, Lemma 2. A state of the search is taken apart into
   what is local to each thread, what is local to each word, and the class, CLOSED and the frozen value. *)
Require Import List Arith ZArith Bool Lia.
Import ListNotations.
From RR Require Import Model Hardware Programs Search Searched Marks.

(* Of a thread, beside its events: what it carries, for each queue pair what is not polled, its part of B, taint,
   poison *)
Record part := Part { p_car : Z; p_cpub : bool; p_taint : bool; p_poc : bool; p_unp : nat -> nat; p_ear : nat -> nat;
                      p_typ : nat -> kind -> bool; p_fen : nat -> bool; p_fod : nat -> bool }.
(* Of a word: its value, its marks *)
Record word := Word { w_mem : Z; w_read : bool; w_written : bool; w_tread : bool; w_twritten : bool; w_poison : bool }.

Section Views.
Notation state := (@state concrete).
Notation ev := (@ev concrete).
Local Arguments thr : simpl never.
Local Arguments loc : simpl never.
Local Arguments qp : simpl never.
Local Arguments knd : simpl never.
Local Arguments cwv : simpl never.
Local Arguments crv : simpl never.
Local Arguments sgn : simpl never.
Local Arguments brings : simpl never.

Definition part_of (s : state) t := Part (car (th s) t) (cpub (sd s) t) (tth (tn s) t) (poc (ps s) t)
  (fun q => unp (cn s) (t, q)) (fun q => ear (cn s) (t, q)) (fun q => typ (sd s) (t, q)) (fun q => fen (sd s) (t, q))
  (fun q => fod (sd s) (t, q)).
Definition word_of (s : state) x := Word (mem (th s) x) (cr (acc s) x) (cw (acc s) x) (cr (tce (tn s)) x)
  (cw (tce (tn s)) x) (poi (ps s) x).
(* the events of a thread, newest first *)
Definition labels_of t (h : list (@move concrete)) : list label :=
  flat_map (fun mv => match me mv with Ev t' l _ => if t' =? t then [l] else [] | Ini _ _ => [] end) h.

(* The same; taint is forgotten when the cycle is closed, and nothing asks for it then. *)
Record like (closed : bool) (a b : part) : Prop := {
  k_car : p_car a = p_car b;
  k_cpub : p_cpub a = p_cpub b;
  k_taint : closed = false -> p_taint a = p_taint b;
  k_poc : p_poc a = p_poc b;
  k_unp : forall q, p_unp a q = p_unp b q;
  k_ear : forall q, p_ear a q = p_ear b q;
  k_typ : forall q k, p_typ a q k = p_typ b q k;
  k_fen : forall q, p_fen a q = p_fen b q;
  k_fod : forall q, p_fod a q = p_fod b q;
}.
Record wlike (closed : bool) (a b : word) : Prop := {
  k_mem : w_mem a = w_mem b;
  k_read : w_read a = w_read b;
  k_written : w_written a = w_written b;
  k_tread : closed = false -> w_tread a = w_tread b;
  k_twritten : closed = false -> w_twritten a = w_twritten b;
  k_poison : w_poison a = w_poison b;
}.
Lemma like_refl cl a : like cl a a. Proof. constructor; auto. Qed.
Lemma wlike_refl cl a : wlike cl a a. Proof. constructor; auto. Qed.
Lemma like_sym cl a b : like cl a b -> like cl b a.
Proof. intros [? ? ? ? ? ? ? ? ?]. constructor; intros; symmetry; auto. Qed.
Lemma wlike_sym cl a b : wlike cl a b -> wlike cl b a.
Proof. intros [? ? ? ? ? ?]. constructor; intros; symmetry; auto. Qed.
Lemma like_trans cl a b c : like cl a b -> like cl b c -> like cl a c.
Proof. intros [? ? ? ? ? ? ? ? ?] [? ? ? ? ? ? ? ? ?]. constructor; intros; etransitivity; eauto. Qed.
Lemma wlike_trans cl a b c : wlike cl a b -> wlike cl b c -> wlike cl a c.
Proof. intros [? ? ? ? ? ?] [? ? ? ? ? ?]. constructor; intros; etransitivity; eauto. Qed.
Lemma like_later cl cl' a b : (cl' = false -> cl = false) -> like cl a b -> like cl' a b.
Proof. intros H [? ? ? ? ? ? ? ? ?]. constructor; auto. Qed.
Lemma wlike_later cl cl' a b : (cl' = false -> cl = false) -> wlike cl a b -> wlike cl' a b.
Proof. intros H [? ? ? ? ? ?]. constructor; auto. Qed.

(* Without store buffers the marks of stores stay empty. *)
Definition plain (s : state) := (forall t, stob (sd s) t = false) /\ forall x, fwd s x = None.
Lemma plain_alpha s e : plain s -> plain (after_alpha s e).
Proof. intros (A & B). split; [|exact B]. intros t. simpl. unfold sides_alpha. destruct (_ && _); apply A. Qed.
Lemma plain_begun c s : plain s -> plain (begun c s).
Proof. exact (fun H => H). Qed.
Lemma plain_beta hw {SC : cpu_sc hw} c s e : plain s -> plain (after_beta hw c s e).
Proof.
  intros (A & B). assert (store_b hw e = false) as S by (unfold store_b; now rewrite (no_buffers (hw := hw))).
  split; simpl; unfold sides_beta, left_own; rewrite S.
  - intros t. destruct (cpu_b e); simpl; [unfold upd; destruct (t =? thr e); auto|apply A].
  - intros x. destruct (wr_b e); [unfold upd; simpl; destruct (x =? loc e); auto|apply B].
Qed.
Lemma plain_stored s e : plain s -> stored (sd s) e = false.
Proof. intros (A & _). unfold stored. now rewrite A. Qed.
Lemma plain_own s e : plain s -> takes_own s e = false.
Proof. intros (_ & B). unfold takes_own. rewrite B. apply andb_false_r. Qed.

(* Two states that look alike to two threads and two words *)
Record near (s1 : state) t1 x1 (s2 : state) t2 x2 : Prop := {
  n_part : like (clo (tn s1)) (part_of s1 t1) (part_of s2 t2);
  n_word : wlike (clo (tn s1)) (word_of s1 x1) (word_of s2 x2);
  n_closed : clo (tn s1) = clo (tn s2);
  n_frozen : fro s1 = fro s2;
  n_plain : plain s1;
  n_plain2 : plain s2;
}.
(* Two events that differ in no more than thread, word, and history *)
Record twins (e1 e2 : ev) : Prop := {
  w_knd : knd e1 = knd e2;
  w_cwv : cwv e1 = cwv e2;
  w_crv : crv e1 = crv e2;
  w_sgn : sgn e1 = sgn e2;
  w_brings : brings e1 = brings e2;
  w_qp : exists q, qp e1 = (thr e1, q) /\ qp e2 = (thr e2, q);
}.
(* two classes that look alike to these events *)
Record looks (e1 e2 : ev) (c1 c2 : class) : Prop := {
  l_thr : (thr e1 =? cthr c1) = (thr e2 =? cthr c2);
  l_cell : (loc e1 =? ccell c1) = (loc e2 =? ccell c2);
  l_wr : cwr c1 = cwr c2;
}.

Lemma updq_pair {A} (f : @qpair concrete -> A) t q v q' : updq f (t, q) v (t, q') = if q' =? q then v else f (t, q').
Proof.
  unfold updq. destruct (@qp_dec concrete _ (t, q') (t, q)) as [E|E], (Nat.eqb_spec q' q); try congruence; inversion E;
    congruence.
Qed.
Lemma updq_far {A} (f : @qpair concrete -> A) t q v t' q' : t' <> t -> updq f (t, q) v (t', q') = f (t', q').
Proof. intros N. apply updq_other. congruence. Qed.

Section Twins.
Context (hw : hardware) {OK : hardware_ok hw} {SO : search_ok hw} {SC : cpu_sc hw} (zero : bool).
Variables (s1 s2 : state) (e1 e2 : ev).
Hypothesis T : twins e1 e2.
Hypothesis N : near s1 (thr e1) (loc e1) s2 (thr e2) (loc e2).
Lemma t_is k : is k e1 = is k e2. Proof. unfold is. now rewrite (w_knd _ _ T). Qed.
Lemma t_cpu : cpu_b e1 = cpu_b e2. Proof. unfold cpu_b. now rewrite (w_knd _ _ T). Qed.
Lemma t_wr : wr_b e1 = wr_b e2. Proof. unfold wr_b. now rewrite (w_knd _ _ T). Qed.
Lemma t_rd : rd_b e1 = rd_b e2. Proof. unfold rd_b. now rewrite (w_knd _ _ T). Qed.
Lemma t_sgn : sgn e1 = sgn e2. Proof. exact (w_sgn _ _ T). Qed.
Lemma t_brings : brings e1 = brings e2. Proof. exact (w_brings _ _ T). Qed.

(* what the tests of the search see *)
Lemma t_typ k : typ (sd s1) (qp e1) k = typ (sd s2) (qp e2) k.
Proof. destruct (w_qp _ _ T) as (q & -> & ->). exact (k_typ _ _ _ (n_part _ _ _ _ _ _ N) q k). Qed.
Lemma t_fen : fen (sd s1) (qp e1) = fen (sd s2) (qp e2).
Proof. destruct (w_qp _ _ T) as (q & -> & ->). exact (k_fen _ _ _ (n_part _ _ _ _ _ _ N) q). Qed.
Lemma t_fod : fod (sd s1) (qp e1) = fod (sd s2) (qp e2).
Proof. destruct (w_qp _ _ T) as (q & -> & ->). exact (k_fod _ _ _ (n_part _ _ _ _ _ _ N) q). Qed.
Lemma t_unp : unp (cn s1) (qp e1) = unp (cn s2) (qp e2).
Proof. destruct (w_qp _ _ T) as (q & -> & ->). exact (k_unp _ _ _ (n_part _ _ _ _ _ _ N) q). Qed.
Lemma t_ear : ear (cn s1) (qp e1) = ear (cn s2) (qp e2).
Proof. destruct (w_qp _ _ T) as (q & -> & ->). exact (k_ear _ _ _ (n_part _ _ _ _ _ _ N) q). Qed.
Lemma t_cpub : cpub (sd s1) (thr e1) = cpub (sd s2) (thr e2).
Proof. exact (k_cpub _ _ _ (n_part _ _ _ _ _ _ N)). Qed.
Lemma t_car : car (th s1) (thr e1) = car (th s2) (thr e2).
Proof. exact (k_car _ _ _ (n_part _ _ _ _ _ _ N)). Qed.
Lemma t_poc : poc (ps s1) (thr e1) = poc (ps s2) (thr e2).
Proof. exact (k_poc _ _ _ (n_part _ _ _ _ _ _ N)). Qed.
Lemma t_poi : poi (ps s1) (loc e1) = poi (ps s2) (loc e2).
Proof. exact (k_poison _ _ _ (n_word _ _ _ _ _ _ N)). Qed.
Lemma t_mem : mem (th s1) (loc e1) = mem (th s2) (loc e2).
Proof. exact (k_mem _ _ _ (n_word _ _ _ _ _ _ N)). Qed.
Lemma t_cr : cr (acc s1) (loc e1) = cr (acc s2) (loc e2).
Proof. exact (k_read _ _ _ (n_word _ _ _ _ _ _ N)). Qed.
Lemma t_cw : cw (acc s1) (loc e1) = cw (acc s2) (loc e2).
Proof. exact (k_written _ _ _ (n_word _ _ _ _ _ _ N)). Qed.
Lemma t_nic : nic_forces hw (sd s1) e1 = nic_forces hw (sd s2) e2.
Proof.
  unfold nic_forces, forcing_type. rewrite t_fen, t_is, (w_knd _ _ T). f_equal.
  assert (forall l, existsb (fun k => typ (sd s1) (qp e1) k && match table hw k (knd e2)
    with Qp => true | _ => false end) l =
    existsb (fun k => typ (sd s2) (qp e2) k && match table hw k (knd e2) with Qp => true | _ => false end) l) as E.
  { induction l as [|k l IH]; cbn [existsb]; [auto|]. now rewrite t_typ, IH. }
  apply E.
Qed.
Lemma t_forced : forced hw s1 e1 = forced hw s2 e2.
Proof.
  unfold forced, oppo_forces, meets_marks.
  rewrite !plain_stored, !plain_own by (apply (n_plain _ _ _ _ _ _ N) || apply (n_plain2 _ _ _ _ _ _ N)).
  now rewrite t_nic, t_cpub, t_cpu, t_wr, t_rd, t_cr, t_cw.
Qed.
Lemma t_store : store_b hw e1 = store_b hw e2. Proof. unfold store_b. now rewrite t_is. Qed.
Lemma t_sc e : store_b hw e = false. Proof. unfold store_b. now rewrite (no_buffers (hw := hw)). Qed.
Lemma t_forces : forces (sd s1) e1 = forces (sd s2) e2.
Proof.
  unfold forces. rewrite !plain_stored by (apply (n_plain _ _ _ _ _ _ N) || apply (n_plain2 _ _ _ _ _ _ N)).
  now rewrite !t_is, t_fod, t_typ.
Qed.
Lemma t_reached : clo (tn s1) = false -> reached s1 e1 = reached s2 e2.
Proof.
  intros F. unfold reached, meets_marks. rewrite t_wr, t_rd.
  pose proof (k_taint _ _ _ (n_part _ _ _ _ _ _ N) F) as A. pose proof (k_tread _ _ _ (n_word _ _ _ _ _ _ N) F) as B.
  pose proof (k_twritten _ _ _ (n_word _ _ _ _ _ _ N) F) as C. simpl in A, B, C. now rewrite A, B, C.
Qed.
Lemma t_poisons : poisons s1 e1 = poisons s2 e2.
Proof. unfold poisons. now rewrite t_cpu, t_rd, t_poi. Qed.
Lemma t_poll_alpha : poll_alpha s1 e1 -> poll_alpha s2 e2.
Proof. unfold poll_alpha. now rewrite t_unp, t_ear, (w_knd _ _ T). Qed.
Lemma t_poll_beta : poll_beta zero s1 e1 -> poll_beta zero s2 e2.
Proof. unfold poll_beta. now rewrite t_unp, t_ear, t_cpub, (w_knd _ _ T). Qed.
Lemma t_meets c1 c2 : looks e1 e2 c1 c2 -> meets c1 e1 = meets c2 e2.
Proof. intros [A B C]. unfold meets. now rewrite t_rd, t_wr, B, C. Qed.
Lemma t_own c1 c2 : looks e1 e2 c1 c2 -> own c1 e1 = own c2 e2.
Proof. intros [A B C]. exact A. Qed.
Lemma t_start c1 c2 : looks e1 e2 c1 c2 -> can_start c1 e1 = can_start c2 e2.
Proof. intros H. unfold can_start. now rewrite (t_meets _ _ H), (t_own _ _ H), t_cpu, t_rd, (l_wr _ _ _ _ H). Qed.
Lemma t_cuts c1 c2 : looks e1 e2 c1 c2 -> cuts hw c1 e1 = cuts hw c2 e2.
Proof. intros H. unfold cuts. now rewrite (t_own _ _ H), t_cpu, !t_sc. Qed.

(* what a step writes *)
Lemma t_th b t b' t' : let a1 := th_after (th s1) (Mv e1 b t) in let a2 := th_after (th s2) (Mv e2 b' t') in
  car a1 (thr e1) = car a2 (thr e2) /\ mem a1 (loc e1) = mem a2 (loc e2).
Proof.
  unfold th_after, written; simpl. rewrite t_rd, t_cpu, t_wr, t_brings, (w_cwv _ _ T). pose proof t_car.
    pose proof t_mem. split.
  - destruct (rd_b e2 && negb (cpu_b e2)); [now rewrite !upd_same|]. destruct (brings e2); [now rewrite !upd_same|auto].
  - destruct (wr_b e2); [|auto]. rewrite !upd_same. now destruct (brings e2).
Qed.
Lemma t_alpha_counts q : unp (counts_alpha (cn s1) (sd s1) e1) (thr e1,
  q) = unp (counts_alpha (cn s2) (sd s2) e2) (thr e2, q) /\
  ear (counts_alpha (cn s1) (sd s1) e1) (thr e1, q) = ear (counts_alpha (cn s2) (sd s2) e2) (thr e2, q).
Proof.
  pose proof (k_unp _ _ _ (n_part _ _ _ _ _ _ N) q) as A. pose proof (k_ear _ _ _ (n_part _ _ _ _ _ _ N) q) as B.
    simpl in A, B.
  pose proof t_unp as A'. pose proof t_ear as B'.
  unfold counts_alpha, completion. rewrite t_is, t_sgn, t_fod. destruct (w_qp _ _ T) as (q0 & Q1 & Q2).
    rewrite Q1, Q2 in *.
  destruct (is Poll e2); simpl; [rewrite !updq_pair; destruct (q =? q0); auto|].
  destruct (sgn e2); simpl; [|auto]. destruct (fod (sd s2) (thr e2, q0)); simpl; rewrite ?updq_pair;
    destruct (q =? q0); auto.
Qed.
Lemma t_beta_counts q : unp (counts_beta (cn s1) (sd s1) e1) (thr e1,
  q) = unp (counts_beta (cn s2) (sd s2) e2) (thr e2, q) /\
  ear (counts_beta (cn s1) (sd s1) e1) (thr e1, q) = ear (counts_beta (cn s2) (sd s2) e2) (thr e2, q).
Proof.
  pose proof (k_unp _ _ _ (n_part _ _ _ _ _ _ N) q) as A. pose proof (k_ear _ _ _ (n_part _ _ _ _ _ _ N) q) as B.
    simpl in A, B.
  pose proof t_unp as A'. pose proof t_ear as B'.
  unfold counts_beta, completion. rewrite t_is, t_sgn, t_forces. destruct (w_qp _ _ T) as (q0 & Q1 & Q2).
    rewrite Q1, Q2 in *.
  destruct (is Poll e2); simpl; [rewrite !updq_pair; destruct (q =? q0); auto|].
  destruct (sgn e2); simpl; [|auto]. destruct (forces (sd s2) e2); simpl; rewrite ?updq_pair; destruct (q =? q0); auto.
Qed.
Lemma t_alpha_sides q : let a1 := sides_alpha (sd s1) e1 in let a2 := sides_alpha (sd s2) e2 in
  cpub a1 (thr e1) = cpub a2 (thr e2) /\ fen a1 (thr e1, q) = fen a2 (thr e2, q) /\
    fod a1 (thr e1, q) = fod a2 (thr e2, q) /\
  forall k, typ a1 (thr e1, q) k = typ a2 (thr e2, q) k.
Proof.
  pose proof (n_part _ _ _ _ _ _ N) as [_ Cp _ _ _ _ Ty Fe Fo]. simpl in Cp, Ty, Fe, Fo.
  unfold sides_alpha. rewrite t_is, t_typ. destruct (w_qp _ _ T) as (q0 & Q1 & Q2). rewrite Q1, Q2.
  destruct (is NF e2 && typ (sd s2) (thr e2, q0) NLW); simpl; [|auto]. rewrite !updq_pair. destruct (q =? q0); auto.
Qed.
Lemma t_beta_sides q : let a1 := sides_beta hw (sd s1) e1 in let a2 := sides_beta hw (sd s2) e2 in
  cpub a1 (thr e1) = cpub a2 (thr e2) /\ fen a1 (thr e1, q) = fen a2 (thr e2, q) /\
    fod a1 (thr e1, q) = fod a2 (thr e2, q) /\
  forall k, typ a1 (thr e1, q) k = typ a2 (thr e2, q) k.
Proof.
  pose proof (n_part _ _ _ _ _ _ N) as [_ Cp _ _ _ _ Ty Fe Fo]. simpl in Cp, Ty, Fe, Fo.
  unfold sides_beta. rewrite !t_sc, t_cpu, t_forces. destruct (cpu_b e2); simpl; [rewrite !upd_same; auto|].
  destruct (w_qp _ _ T) as (q0 & Q1 & Q2). rewrite Q1, Q2. split; [auto|]. split; [auto|]. split.
  - destruct (forces (sd s2) e2); simpl; [rewrite !updq_pair; destruct (q =? q0); auto|auto].
  - intros k. rewrite !updq_pair. destruct (q =? q0); [|auto]. now rewrite Ty, t_is.
Qed.
Lemma t_left cl a1 a2 : (cl = false -> cr a1 (loc e1) = cr a2 (loc e2) /\ cw a1 (loc e1) = cw a2 (loc e2)) ->
  cl = false ->
  cr (left_by a1 e1) (loc e1) = cr (left_by a2 e2) (loc e2) /\ cw (left_by a1 e1) (loc e1) = cw (left_by a2 e2) (loc e2).
Proof.
  intros H F. destruct (H F) as (A & B). unfold left_by; simpl. rewrite t_rd, t_wr.
  destruct (rd_b e2), (wr_b e2); rewrite ?upd_same; auto.
Qed.
Lemma t_spread t1 t2 cl : (clo (tn s1) = false -> t1 = t2) ->
  let a1 := spreading (tn s1) e1 t1 cl in let a2 := spreading (tn s2) e2 t2 cl in
  clo a1 = clo a2 /\ (clo a1 = false -> tth a1 (thr e1) = tth a2 (thr e2) /\
    cr (tce a1) (loc e1) = cr (tce a2) (loc e2) /\
    cw (tce a1) (loc e1) = cw (tce a2) (loc e2)).
Proof.
  intros H. unfold spreading. rewrite <- (n_closed _ _ _ _ _ _ N).
    destruct (clo (tn s1)) eqn:F; simpl; [split; [auto|discriminate]|].
  rewrite <- (H eq_refl). pose proof (k_taint _ _ _ (n_part _ _ _ _ _ _ N) F) as A.
  pose proof (k_tread _ _ _ (n_word _ _ _ _ _ _ N) F) as B. pose proof (k_twritten _ _ _ (n_word _ _ _ _ _ _ N) F) as C.
  simpl in A, B, C. destruct (t1 && cl); simpl; [split; [auto|discriminate]|]. destruct t1; simpl.
  - split; [auto|]. intros _. rewrite !upd_same. split; [auto|].
    apply (t_left false (tce (tn s1)) (tce (tn s2))); auto.
  - rewrite <- (n_closed _ _ _ _ _ _ N). auto.
Qed.
Lemma t_poisoning : let a1 := poisoning (ps s1) e1 in let a2 := poisoning (ps s2) e2 in
  poi a1 (loc e1) = poi a2 (loc e2) /\ poc a1 (thr e1) = poc a2 (thr e2).
Proof.
  unfold poisoning. rewrite t_rd, t_cpu, t_wr, t_brings, t_poi, t_poc. pose proof t_poi. pose proof t_poc.
  destruct (rd_b e2), (cpu_b e2), (brings e2), (wr_b e2); simpl; rewrite ?upd_same; auto.
Qed.
Lemma t_freeze c1 c2 : looks e1 e2 c1 c2 -> freeze c1 s1 e1 = freeze c2 s2 e2.
Proof.
  intros [A B C]. unfold freeze. rewrite t_wr, B, t_mem, (n_frozen _ _ _ _ _ _ N).
  destruct (Nat.eqb_spec (loc e2) (ccell c2)) as [E|_]; [|now rewrite !andb_false_r].
  apply Nat.eqb_eq in B. now rewrite <- B, <- E, t_cw.
Qed.

Definition alike (o1 o2 : option class) :=
  match o1, o2 with Some c1, Some c2 => looks e1 e2 c1 c2 | None, None => True | _, _ => False end.
Lemma near_alpha : alike (cls s1) (cls s2) ->
  near (after_alpha s1 e1) (thr e1) (loc e1) (after_alpha s2 e2) (thr e2) (loc e2).
Proof.
  intros A. assert (closing_alpha s1 e1 = closing_alpha s2 e2) as Cl.
  { unfold closing_alpha. unfold alike in A. destruct (cls s1), (cls s2); try tauto.
    rewrite !plain_own by apply N. now rewrite (t_meets _ _ A), (t_own _ _ A). }
  pose proof (plain_alpha s1 e1 (n_plain _ _ _ _ _ _ N)) as Pl1.
  pose proof (plain_alpha s2 e2 (n_plain2 _ _ _ _ _ _ N)) as Pl2.
  unfold after_alpha in *. cbv zeta in *. rewrite Cl in *.
  destruct (t_spread _ _ (closing_alpha s2 e2) t_reached) as (S1 & S2).
  destruct (t_th false (reached s1 e1) false (reached s2 e2)) as (C1 & C2).
  constructor; [constructor|constructor| |exact (n_frozen _ _ _ _ _ _ N)|exact Pl1|exact Pl2]; auto.
  - exact (proj1 (t_alpha_sides 0)).
  - intros F. exact (proj1 (S2 F)).
  - exact t_poc.
  - intros q. exact (proj1 (t_alpha_counts q)).
  - intros q. exact (proj2 (t_alpha_counts q)).
  - intros q k. exact (proj2 (proj2 (proj2 (t_alpha_sides q))) k).
  - intros q. exact (proj1 (proj2 (t_alpha_sides q))).
  - intros q. exact (proj1 (proj2 (proj2 (t_alpha_sides q)))).
  - exact t_cr.
  - exact t_cw.
  - intros F. exact (proj1 (proj2 (S2 F))).
  - intros F. exact (proj2 (proj2 (S2 F))).
  - exact t_poi.
Qed.
Lemma near_beta c1 c2 : looks e1 e2 c1 c2 ->
  near (after_beta hw c1 s1 e1) (thr e1) (loc e1) (after_beta hw c2 s2 e2) (thr e2) (loc e2).
Proof.
  intros A. pose proof (plain_beta hw c1 s1 e1 (n_plain _ _ _ _ _ _ N)) as Pl1.
  pose proof (plain_beta hw c2 s2 e2 (n_plain2 _ _ _ _ _ _ N)) as Pl2.
  unfold after_beta in *. cbv zeta in *. rewrite (t_own _ _ A), (t_meets _ _ A), (t_freeze _ _ A) in *.
  destruct (t_spread (reached s1 e1 || meets c2 e2) (reached s2 e2 || meets c2 e2) (own c2 e2)) as (S1 & S2).
  { intros F. now rewrite (t_reached F). }
  destruct (t_th true (reached s1 e1 || meets c2 e2) true (reached s2 e2 || meets c2 e2)) as (C1 & C2).
  destruct t_poisoning as (P1 & P2).
  destruct (t_left false (acc s1) (acc s2)) as (A1 & A2); [intros _; exact (conj t_cr t_cw)|auto|].
  constructor; [constructor|constructor| | |exact Pl1|exact Pl2]; auto.
  - exact (proj1 (t_beta_sides 0)).
  - intros F. exact (proj1 (S2 F)).
  - intros q. exact (proj1 (t_beta_counts q)).
  - intros q. exact (proj2 (t_beta_counts q)).
  - intros q k. exact (proj2 (proj2 (proj2 (t_beta_sides q))) k).
  - intros q. exact (proj1 (proj2 (t_beta_sides q))).
  - intros q. exact (proj1 (proj2 (proj2 (t_beta_sides q)))).
  - intros F. exact (proj1 (proj2 (S2 F))).
  - intros F. exact (proj2 (proj2 (S2 F))).
Qed.
Lemma near_begun c1 c2 : looks e1 e2 c1 c2 -> near (begun c1 s1) (thr e1) (loc e1) (begun c2 s2) (thr e2) (loc e2).
Proof.
  intros [_ B W]. destruct N as [P [M R Wr TR TW Po] Cl F Pl1 Pl2]. constructor; auto. constructor; auto.
  simpl. rewrite <- W. destruct (cwr c1); [|exact Po]. unfold upd. rewrite B.
    destruct (loc e2 =? ccell c2); [auto|exact Po].
Qed.
End Twins.
End Views.
