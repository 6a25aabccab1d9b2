(* Store buffers (cpu tso): the model.  docs/deployed.md; events, traces and programs are those of core/Model.v. *)
Require Import List Bool Classical Relations Setoid.
From RR Require Import Model Hardware Orders Rules.
Local Open Scope bool_scope.

(* Beside what the proofs ask of every table: the card's events are before no event of the CPU. *)
Definition fact_card_row hw :=
  every (fun a => every (fun b =>
    negb (nic_kind a && cpu_kind b) || match table hw a b with Never => true | _ => false end)).
Class tso_ok (hw : hardware) : Prop := { tso_hw : hardware_ok hw; card_row : fact_card_row hw = true }.
Global Existing Instance tso_hw.
Global Instance flags_tso f : tso_ok (of_flags f).
Proof. split; [apply flags_ok|]. destruct f as [[] []]; reflexivity. Qed.
Global Instance paper_tso (ord : bool) : tso_ok ord.
Proof. apply flags_tso. Qed.

Section Model.
Context {U : events} (hw : hardware).

(* A store may wait in its buffer; later reads and polls go on meanwhile. *)
Definition store a := knd a = LW.
Definition inst_tso a := inst a /\ ~ store a.
Definition overtaken a b := store a /\ (knd b = LR \/ knd b = Poll).
Definition oppo_tso a b := oppo hw a b /\ ~ overtaken a b.

(* oppo as a table, which is printed and compared with the one of the Python code *)
Definition observed_tso : hardware :=
  {| table := fun a b => match a, b with LW, (LR | Poll) => Never | _, _ => table hw a b end; flush := flush hw |}.
Lemma oppo_tso_table a b : oppo_tso a b <-> oppo observed_tso a b.
Proof.
  unfold oppo_tso, oppo, overtaken, store; simpl. destruct (knd a) eqn:A; destruct (knd b) eqn:B;
    intuition (auto; try discriminate; try congruence).
Qed.

(* a store and a read of its thread: rfb and rbb are rf and rb between such events *)
Definition own w r := thr w = thr r /\ store w /\ knd r = LR.

Inductive ib1_tso (T : trace) a b : Prop :=
| ibt_ippo : on T (ippo hw) a b -> ib1_tso T a b
| ibt_pf : on T pf a b -> ib1_tso T a b
| ibt_rf : rf T a b -> ib1_tso T a b
| ibt_rbb : rb T a b -> own b a -> ib1_tso T a b
| ibt_nfo : flushed hw T a b -> ib1_tso T a b.
Definition ib_tso T := clos_trans ev (ib1_tso T).

Inductive ob1_tso (T : trace) a b : Prop :=
| obt_oppo : on T oppo_tso a b -> ob1_tso T a b
| obt_pf : on T pf a b -> knd a = NLW -> ob1_tso T a b
| obt_post x : on T oppo_tso a x -> on T pf x b -> store a -> ob1_tso T a b   (* a request leaves the buffer behind stores *)
| obt_rf : rf T a b -> ~ own a b -> ob1_tso T a b
| obt_nfo : flushed hw T a b -> ob1_tso T a b
| obt_rb : rb T a b -> ob1_tso T a b
| obt_mo : mo T a b -> ob1_tso T a b
| obt_ib : inst_tso a -> ib_tso T a b -> ob1_tso T a b.
Definition ob_tso T := clos_trans ev (ob1_tso T).

Definition tso_consistent T := irreflexive (ob_tso T).
Definition violating_tso P T := trace_of P T /\ tso_consistent T /\ ~ sc_consistent T.
Definition robust_tso P := forall T, ~ violating_tso P T.
Definition maximal_tso T m := last (E T) m /\ forall c, cpu c -> ~ ib_tso T m c.

(* trace(sigma): a read takes the youngest store of its thread that is still to come, if there is one *)
Definition waits E (lt : relation ev) r w := E w /\ own w r /\ loc w = loc r /\ po w r /\ lt r w.
Definition forwards E lt w r := waits E lt r w /\ forall w', waits E lt r w' -> w' = w \/ po w' w.
Definition rf_tso (E : ev -> Prop) lt w r :=
  E r /\ rd r /\ (forwards E lt w r \/ ((forall w', ~ waits E lt r w') /\ rf_in E lt w r)).
Definition tr_tso E lt := {| E := E; rf := rf_tso E lt; mo := mo_in E lt; nfo := nfo_in E lt |}.
End Model.

Section Facts.
Context {U : events} (hw : hardware) {OK : tso_ok hw}.

Lemma card_never a b : nic_kind (knd a) = true -> cpu b -> ~ ippo hw a b.
Proof.
  intros A B (_ & H). pose proof (every_spec _ (every_spec _ (card_row (hw := hw)) (knd a)) (knd b)) as K. simpl in K.
  rewrite A in K. unfold cpu in B. destruct (table _ _ _) eqn:Q; auto; destruct (knd b); simpl in *; try tauto; discriminate.
Qed.
Lemma to_tso a b : ~ store a -> oppo hw a b -> oppo_tso hw a b.
Proof. intros N H; split; [auto|]. intros (X & _); auto. Qed.
Lemma store_cpu a : store a -> cpu a.
Proof. unfold store, cpu; intros ->; exact I. Qed.
Lemma lr_cpu a : knd a = LR -> cpu a.
Proof. unfold cpu; intros ->; exact I. Qed.
Lemma store_oppo a b : store a -> po a b -> noninit b -> knd b <> LR -> knd b <> Poll -> oppo_tso hw a b.
Proof. intros A P N NR NP. split; [apply (cpu_oppo hw); auto using store_cpu|]. intros (_ & [|]); auto. Qed.
Lemma inst_not_nicw a : inst a -> nicw a -> False.
Proof. unfold inst, is_inst, nicw; tauto. Qed.
Lemma kind_cases a : inst_tso a \/ store a \/ nicw a.
Proof. unfold inst_tso, inst, is_inst, nicw, store. destruct (knd a); simpl; intuition congruence. Qed.
Lemma rd_inst_tso a : rd a -> inst_tso a.
Proof. unfold inst_tso, inst, is_inst, rd, store. destruct (knd a); simpl; intuition congruence. Qed.
Lemma cpu_inst_tso a : cpu a -> ~ store a -> inst_tso a.
Proof. unfold inst_tso, inst, is_inst, cpu, store. destruct (knd a); simpl; intuition congruence. Qed.
Lemma own_facts w r : own w r -> noninit w /\ noninit r /\ wr w /\ rd r /\ cpu r /\ ~ store r /\ ~ rd w.
Proof. intros (_ & Kw & Kr). unfold store, noninit, wr, rd, cpu in *. rewrite Kw, Kr; simpl; intuition congruence. Qed.
End Facts.
