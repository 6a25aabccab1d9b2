(* CPUs without store buffers (cpu sc): the definitions of the model are these, for no store waits. *)
Require Import List Classical Relations Setoid.
From RR Require Import Model Hardware Orders Cells Stores Rules Traces Lemma2 Parts Lemma6 Theorem7.

Section CpuSc.
Context {U : events} (hw : hardware) {SC : cpu_sc hw}.

Lemma store_sc a : ~ store hw a.
Proof. intros (F & _). pose proof (no_buffers (hw := hw)). congruence. Qed.
Lemma overtaken_sc a b : ~ overtaken hw a b.
Proof. apply not_overtaken, store_sc. Qed.
Lemma own_sc w r : ~ own hw w r.
Proof. intros (_ & S & _). exact (store_sc w S). Qed.
Lemma inst_sc a : inst hw a <-> is_inst (knd a).
Proof. unfold inst. pose proof (store_sc a). tauto. Qed.

Lemma oppo_sc a b : oppo hw a b <-> po a b /\
  match table hw (knd a) (knd b) with All => True | Qp => qp a = qp b | _ => False end.
Proof. unfold oppo. pose proof (overtaken_sc a b). tauto. Qed.
Lemma ib1_sc T a b : ib1 hw T a b <-> on T (ippo hw) a b \/ on T pf a b \/ rf T a b \/ flushed hw T a b.
Proof.
  split.
  - intros [H|H|H|_ H|H]; auto. destruct (own_sc _ _ H).
  - intros [H|[H|[H|H]]]; [now apply ib_ippo|now apply ib_pf|now apply ib_rf|now apply ib_nfo].
Qed.
Lemma ob1_sc T a b : ob1 hw T a b <-> on T (oppo hw) a b \/ (on T pf a b /\ knd a = NLW) \/ rf T a b \/ flushed hw T a b \/
  rb T a b \/ mo T a b \/ (is_inst (knd a) /\ ib hw T a b).
Proof.
  rewrite <- inst_sc. split.
  - intros [H|H K|x _ _ H|H _|H|H|H|I H]; auto 10. destruct (store_sc _ H).
  - intros [H|[(H & K)|[H|[H|[H|[H|(I & H)]]]]]]; [now apply ob_oppo|now apply ob_pf| |now apply ob_nfo|now apply ob_rb
      |now apply ob_mo|now apply ob_ib].
    apply ob_rf; [auto|apply own_sc].
Qed.
Lemma trace_by_sc E lt : trace_by hw E lt = tr E lt.
Proof. unfold trace_by, tr. now rewrite (no_buffers (hw := hw)). Qed.
Lemma forcing_sc E B w : forcing hw E B w <-> E w /\ B w /\
  (knd w = NLW \/ (knd w = NRW /\ exists e, E e /\ B e /\ (knd e = NLR \/ knd e = NF) /\ qp e = qp w /\ po e w)).
Proof.
  split; intros (Ew & Bw & H); (split; [auto|split; [auto|]]);
  (destruct H as [|(K & e & H)]; [auto|right]); (split; [auto|]); exists e; pose proof (store_sc e); tauto.
Qed.
Lemma maximal_sc T m : maximal hw T m <-> last (E T) m /\ forall c, cpu c -> ~ ib hw T m c.
Proof. reflexivity. Qed.

(* (ii) and F4 *)
Lemma ii_sc T m tau L B {H : split hw T m tau L B} a b :
  without (E T) m a -> without (E T) m b -> ~ B a -> B b -> conflict a b -> L a b.
Proof. intros Ea Eb Na Bb C. destruct (sp_ii a b Ea Eb Na Bb C) as [|(u & _ & O & _)]; [auto|destruct (own_sc _ _ O)]. Qed.
Lemma F4_sc T m L s b x : beta hw T m L s b -> without (E T) m x -> conflict b x -> L b x -> beta hw T m L s x.
Proof. intros. apply beta_F4 with b; auto using own_sc. Qed.

Context {OK : hardware_ok hw}.
Lemma cpu_oppo_sc a b : cpu a -> po a b -> oppo hw a b.
Proof. intros. apply cpu_oppo; auto using overtaken_sc. Qed.
Lemma seen_oppo_sc a b : po a b -> qp a = qp b -> seen hw (knd a) (knd b) = true -> oppo hw a b.
Proof. intros. apply seen_oppo; auto using store_sc. Qed.
Theorem lemma_3_sc E lt B : wfE E -> sto E lt -> (forall a b, E a -> E b -> ~ B a -> B b -> lt a b) ->
  (forall a b, E a -> E b -> (B a <-> B b) -> po a b -> lt a b) ->
  (forall a b, ob1 hw (tr E lt) a b -> lt a b) <-> R1 hw E B /\ R2 hw E B /\ R3 hw E B.
Proof. intros. rewrite <- trace_by_sc. now apply lemma_3. Qed.

Context {P : program} {T : trace} {m : ev} {tau : relation ev} {Piv : pivot hw P T m tau}.
Lemma thread_sc b : B0 T m tau b -> cpu b -> thr b = thr m -> False.
Proof.
  intros ((Eb & Nb) & H) C Q.
  destruct (wf_total _ WE b m Eb Em (cpu_noninit _ C) Nm Q) as [|[X|X]]; [auto| |exact (m_last b Eb X)].
  apply (tau_asym _ _ H), pv_ob, ob_oppo. split; [exact Eb|split; [exact Em|now apply cpu_oppo_sc]].
Qed.
End CpuSc.
