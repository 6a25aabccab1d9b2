(* What the cells of the table say of two events of a thread; which events wait: where CPUs have store buffers, stores
   too. *)
Require Import List Arith Lia Classical Relations Setoid.
From RR Require Import Model Hardware Orders.

Ltac kinds :=
  unfold oppo, ippo, nfopair, nicw, inst, is_inst, cpu, rd, wr in *; intuition idtac;
  repeat match goal with H : knd _ = _ |- _ => rewrite H in * end; simpl in *;
  try tauto; try discriminate; try congruence.

Section Stores.
Context {U : events} (hw : hardware).

Lemma store_cpu a : store hw a -> cpu a.
Proof. unfold cpu; intros (_ & ->); exact I. Qed.
Lemma lr_cpu a : knd a = LR -> cpu a.
Proof. unfold cpu; intros ->; exact I. Qed.
Lemma own_facts w r : own hw w r -> noninit w /\ noninit r /\ wr w /\ rd r /\ cpu r /\ ~ store hw r /\ ~ rd w.
Proof.
  intros (_ & (_ & Kw) & Kr). unfold store, noninit, wr, rd, cpu in *. rewrite Kw, Kr; simpl; intuition congruence.
Qed.
(* by its kind no store *)
Lemma no_store a : knd a <> LW -> ~ store hw a.
Proof. intros N (_ & K); auto. Qed.
Lemma nic_no_store a : nic_kind (knd a) = true -> ~ store hw a.
Proof. intros H. apply no_store. intros K. rewrite K in H. discriminate. Qed.
Lemma rd_no_store a : rd a -> ~ store hw a.
Proof. unfold rd. intros H (_ & K). rewrite K in H. exact H. Qed.
Lemma carry_no_store r w : carry r w -> ~ store hw r /\ ~ store hw w.
Proof. intros C. destruct (carry_ok _ _ C) as (_ & _ & [(K & K')|(K & K')]); split; apply no_store; congruence. Qed.
Lemma not_own_write w u : wr w -> ~ own hw u w.
Proof. intros H (_ & _ & K). unfold wr in H. rewrite K in H. destruct H. Qed.
Lemma not_overtaken a b : ~ store hw a -> ~ overtaken hw a b.
Proof. intros N (X & _); auto. Qed.

Lemma cpu_noninit a : cpu a -> noninit a.
Proof. unfold cpu, noninit; destruct (knd a); simpl; intros []; discriminate. Qed.
Lemma rd_noninit a : rd a -> noninit a.
Proof. unfold rd, noninit; destruct (knd a); simpl; intros []; discriminate. Qed.
Lemma cpu_inst a : cpu a -> ~ store hw a -> inst hw a.
Proof. unfold cpu, inst, is_inst; destruct (knd a); simpl; tauto. Qed.
Lemma rd_inst a : rd a -> inst hw a.
Proof. intros R. split; [|now apply rd_no_store]. unfold rd, is_inst in *; destruct (knd a); simpl in *; tauto. Qed.
Lemma nic_inst_inst a : nic_inst (knd a) = true -> inst hw a.
Proof. intros A. split; [unfold is_inst|apply no_store]; destruct (knd a); simpl in *; (tauto || discriminate). Qed.

(* instantaneous, or it waits in a store buffer or in the NIC *)
Lemma kind_cases a : inst hw a \/ store hw a \/ nicw a.
Proof. unfold inst, is_inst, nicw. tauto. Qed.
Lemma nicw_nic a : nicw a -> nic_kind (knd a) = true.
Proof. unfold nicw; destruct (knd a); simpl; tauto. Qed.
Lemma nicw_kind a : nicw a -> knd a = NRW \/ knd a = NLW.
Proof. unfold nicw; destruct (knd a); simpl; tauto. Qed.
Lemma nicw_no_store a : nicw a -> ~ store hw a.
Proof. intros H. now apply nic_no_store, nicw_nic. Qed.
Lemma inst_cases a : inst hw a -> noninit a -> cpu a \/ nic_inst (knd a) = true.
Proof. unfold inst, noninit, cpu; destruct (knd a); simpl; unfold is_inst; simpl; intuition congruence. Qed.
Lemma nic_inst_nic a : nic_inst (knd a) = true -> nic_kind (knd a) = true.
Proof. unfold nic_kind; intros ->. apply Bool.orb_true_r. Qed.
Lemma nic_not_cpu a : nic_kind (knd a) = true -> noninit a /\ ~ cpu a.
Proof. unfold noninit, cpu; destruct (knd a); simpl; try discriminate; split; try discriminate; tauto. Qed.
End Stores.

Section Cells.
Context {U : events} (hw : hardware) {OK : hardware_ok hw}.

Lemma oppo_ippo a b : oppo hw a b -> ippo hw a b.
Proof. unfold ippo, oppo; intros (H & _ & K); split; auto. destruct (table _ _ _); tauto. Qed.

(* only the rows of NIC writes distinguish issue and observation *)
Lemma inst_ippo_oppo a b : inst hw a -> ippo hw a b -> oppo hw a b.
Proof.
  intros (I & NS) (H & K); split; [auto|split; [now apply not_overtaken|]].
  pose proof (inst_not_issue hw _ (knd b) I) as N. destruct (table _ _ _); tauto.
Qed.
Lemma cpu_ippo a b : cpu a -> po a b -> ippo hw a b.
Proof. intros C P; split; auto. now rewrite (cpu_all hw _ _ C (po_init_r _ _ P)). Qed.
Lemma cpu_oppo a b : cpu a -> ~ overtaken hw a b -> po a b -> oppo hw a b.
Proof. intros C N P; split; [auto|split; auto]. now rewrite (cpu_all hw _ _ C (po_init_r _ _ P)). Qed.
Lemma poll_oppo a b : knd a = Poll -> po a b -> oppo hw a b.
Proof. intros K P. apply cpu_oppo; auto; [unfold cpu; rewrite K; exact I|apply not_overtaken, no_store; congruence]. Qed.
Lemma store_oppo a b : store hw a -> po a b -> knd b <> LR -> knd b <> Poll -> oppo hw a b.
Proof. intros A P NR NP. apply cpu_oppo; auto; [now apply (store_cpu hw)|]. intros (_ & [|]); auto. Qed.

(* On one queue pair the cell decides. *)
Lemma seen_oppo a b : po a b -> qp a = qp b -> ~ store hw a -> seen hw (knd a) (knd b) = true -> oppo hw a b.
Proof.
  unfold seen, oppo; intros P Q N H; split; [auto|split; [now apply not_overtaken|]].
  destruct (table _ _ _); auto; discriminate.
Qed.
Lemma issued_ippo a b : po a b -> qp a = qp b -> issued hw (knd a) (knd b) = true -> ippo hw a b.
Proof. unfold issued, ippo; intros P Q H; split; auto. destruct (table _ _ _); auto; discriminate. Qed.
Lemma ippo_issued a b : ippo hw a b -> issued hw (knd a) (knd b) = true.
Proof. unfold issued, ippo; intros (_ & H). destruct (table _ _ _); tauto. Qed.
Lemma ippo_qp a b : nic_kind (knd a) = true -> nic_kind (knd b) = true -> ippo hw a b -> qp a = qp b.
Proof.
  unfold ippo; intros A B (_ & H). pose proof (nic_not_all hw _ _ A B) as N. destruct (table _ _ _); tauto.
Qed.
(* issued and not observed, and nothing is overtaken: that is a cell `i` *)
Lemma ippo_only a b : ippo hw a b -> ~ store hw a -> ~ oppo hw a b -> qp a = qp b /\ seen hw (knd a) (knd b) = false.
Proof.
  unfold ippo, oppo, seen; intros (P & H) S N. pose proof (not_overtaken hw a b S). destruct (table _ _ _); tauto.
Qed.
(* where stores wait, an event of the card is before no event of a CPU *)
Lemma card_cpu a b : buffered hw = true -> nic_kind (knd a) = true -> cpu b -> ~ ippo hw a b.
Proof.
  intros F A B (_ & H). rewrite (card_never hw _ _ F A) in H; auto. unfold cpu in B. destruct (knd b); simpl in *; tauto.
Qed.

Lemma ippo_nicw_trans a b c : inst hw a -> nicw b -> nicw c -> ippo hw a b -> ippo hw b c -> ippo hw a c.
Proof.
  intros I Nb Nc Pab Pbc. assert (po a c) as P by (eapply po_trans; [apply Pab|apply Pbc]).
  destruct (inst_cases hw a I (po_init_l _ _ P)) as [C|A]; [now apply cpu_ippo|].
  apply issued_ippo; [auto| |].
  - rewrite (ippo_qp a b), (ippo_qp b c); auto using nicw_nic, nic_inst_nic.
  - apply (chain_issued hw _ (knd b)); auto using ippo_issued.
Qed.
Lemma carry_oppo r w : carry r w -> oppo hw r w.
Proof.
  intros C; destruct (carry_ok _ _ C) as (P & Q & [(K & K')|(K & K')]); apply seen_oppo; auto;
  try apply (carry_no_store hw _ _ C); rewrite K, K'; apply (operation_cells hw).
Qed.

(* oppo as a table, which is printed and compared with the one of the Python code *)
Definition observed : hardware :=
  {| table := fun a b =>
       match a, b with LW, (LR | Poll) => if buffered hw then Never else table hw a b | _, _ => table hw a b end;
     flush := flush hw; buffered := false |}.
Lemma oppo_table a b : oppo hw a b <-> oppo observed a b.
Proof.
  unfold oppo, overtaken, store; simpl. destruct (knd a) eqn:A; destruct (knd b) eqn:B; destruct (buffered hw);
    intuition (auto; try discriminate; try congruence).
Qed.
End Cells.
