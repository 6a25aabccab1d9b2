(* What the proofs need of a table: facts about its cells, decided by computation; the tool's hardware has them. *)
Require Import List Bool String.
Import ListNotations.
From RR Require Import Model.
Local Open Scope bool_scope.

Scheme Equality for kind.
Definition kinds := [Init; LR; LW; CAS; Poll; Fence; NLR; NRW; NRR; NLW; NF].
Definition every (f : kind -> bool) := forallb f kinds.
Lemma every_spec f : every f = true -> forall k, f k = true.
Proof. unfold every; rewrite forallb_forall. intros H k. apply H. destruct k; simpl; auto 12. Qed.

Definition cpu_kind k := match k with LR | LW | CAS | Poll | Fence => true | _ => false end.
Definition write_kind k := match k with NRW | NLW => true | _ => false end.      (* NIC writes *)
Definition nic_inst k := match k with NLR | NRR | NF => true | _ => false end.   (* the other NIC events *)
Definition nic_kind k := write_kind k || nic_inst k.

Section Facts.
Variable hw : hardware.
(* whether the cell is in ippo, in oppo *)
Definition issued a b := match table hw a b with Never => false | _ => true end.
Definition seen a b := match table hw a b with All | Qp => true | _ => false end.
Definition nfo_kinds r w := match r, w with NLR, NLW | NRR, NRW => flush hw | _, _ => false end.

(* Lemma 1, and all that is said of CPU events: the CPU's row keeps everything. *)
Definition fact_cpu_row := every (fun a => every (fun b =>
  negb (cpu_kind a) || kind_beq b Init || match table hw a b with All => true | _ => false end)).
(* Lemma 2: the two events of an operation are ordered. *)
Definition fact_operation := seen NLR NRW && seen NRR NLW.
(* Lemma 3 (b): only the rows of NIC writes distinguish issue and observation. *)
Definition fact_inst_row := every (fun a => every (fun b =>
  write_kind a || match table hw a b with Issue => false | _ => true end)).
(* The NIC's order is one of queue pairs. *)
Definition fact_queue_pairs := every (fun a => every (fun b =>
  negb (nic_kind a && nic_kind b) || match table hw a b with All => false | _ => true end)).
(* Lemma 3 (d): what is issued before a NIC write is issued before what that one is issued before. *)
Definition fact_chain := every (fun a => every (fun b => every (fun c =>
  negb (nic_inst a && write_kind b && write_kind c && issued a b && issued b c) || issued a c))).
(* Lemma 3 (d), where the first step is nfo. *)
Definition fact_flush_chain := every (fun r => every (fun w => every (fun c =>
  negb (nfo_kinds r w && write_kind c && issued w c) || (kind_beq w c && seen w c) || (issued r c && seen w r)))).
(* Lemma 3 (e): what is before a NIC write is observed before what that one is only issued before, but for R3. *)
Definition fact_issue_only := every (fun w => every (fun f =>
  negb (write_kind w && issued w f && negb (seen w f)) || every (fun a =>
    (negb (nic_inst a && issued a w) || seen a f) &&
    (negb (nfo_kinds a w) || (seen a f && (seen w a || (kind_beq w NLW && kind_beq f NF && kind_beq a NLR))))))).
(* Lemma 3 (f): only nlR and nF make an nrW forcing. *)
Definition fact_forcing_only := every (fun a => negb (nic_inst a && issued a NRW) || kind_beq a NLR || kind_beq a NF).
Definition fact_flush_poll := negb (flush hw) || seen NRW NRR.
(* Lemma 3, only if, and Theorem 5: nlR and nF do make an nrW forcing. *)
Definition fact_forcing := issued NLR NRW && issued NF NRW.
(* Lemma 3, only if, and Theorem 7 (F3). *)
Definition fact_fence := negb (flush hw) || (issued NLW NF && seen NF NLR).
(* Lemma 3 with store buffers: the card's events are before no event of the CPU. *)
Definition fact_card_row := negb (buffered hw) || every (fun a => every (fun b =>
  negb (nic_kind a && cpu_kind b) || match table hw a b with Never => true | _ => false end)).

Class hardware_ok : Prop := {
  cpu_row : fact_cpu_row = true;
  operation : fact_operation = true;
  inst_row : fact_inst_row = true;
  queue_pairs : fact_queue_pairs = true;
  chain : fact_chain = true;
  flush_chain : fact_flush_chain = true;
  issue_only : fact_issue_only = true;
  forcing_only : fact_forcing_only = true;
  flush_poll : fact_flush_poll = true;
  forcing_cells : fact_forcing = true;
  fence : fact_fence = true;
  card_row : fact_card_row = true;
}.

Definition facts : list (string * bool) :=
  [("cpu_row", fact_cpu_row); ("operation", fact_operation); ("inst_row", fact_inst_row); ("queue_pairs", fact_queue_pairs);
   ("chain", fact_chain); ("flush_chain", fact_flush_chain); ("issue_only", fact_issue_only);
   ("forcing_only", fact_forcing_only); ("flush_poll", fact_flush_poll); ("forcing_cells", fact_forcing);
   ("fence", fact_fence); ("card_row", fact_card_row)]%string.
Definition failing : list string := map fst (filter (fun f => negb (snd f)) facts).
Lemma all_facts : failing = [] -> hardware_ok.
Proof.
  unfold failing, facts; simpl. intros H.
  repeat match type of H with context [negb ?f] => let E := fresh in destruct f eqn:E; simpl in H; try discriminate H end.
  now constructor.
Qed.
End Facts.

(* The tool's hardware: the open cell either way; multipath and relaxed; all of it also with store buffers. *)
Global Instance flags_ok f : hardware_ok (of_flags f).
Proof. destruct f as [[] []]; apply all_facts; vm_compute; reflexivity. Qed.
Global Instance paper_ok (ord : bool) : hardware_ok ord.
Proof. apply flags_ok. Qed.
Global Instance tso_ok f : hardware_ok (tso (of_flags f)).
Proof. destruct f as [[] []]; apply all_facts; vm_compute; reflexivity. Qed.
Global Instance with_buffers_ok b f : hardware_ok (with_buffers b (of_flags f)).
Proof. destruct b; exact _. Qed.

(* CPUs without store buffers (cpu sc): what is proven of them alone asks for this. *)
Class cpu_sc (hw : hardware) : Prop := no_buffers : buffered hw = false.
Global Instance flags_sc f : cpu_sc (of_flags f) := eq_refl.
Global Instance paper_sc (ord : bool) : cpu_sc ord := eq_refl.

(* The facts as the proofs use them *)
Section Use.
Context (hw : hardware) {OK : hardware_ok hw}.
Lemma cpu_all a b : is_cpu a -> b <> Init -> table hw a b = All.
Proof.
  intros A B. pose proof (every_spec _ (every_spec _ (cpu_row hw) a) b) as H. simpl in H.
  destruct a, A; destruct b; simpl in H; try congruence; destruct (table hw _ _); congruence.
Qed.
Lemma inst_not_issue a b : is_inst a -> table hw a b <> Issue.
Proof.
  intros A K. pose proof (every_spec _ (every_spec _ (inst_row hw) a) b) as H. simpl in H.
  rewrite K in H. unfold is_inst in A. destruct a; simpl in *; try discriminate; tauto.
Qed.
Lemma nic_not_all a b : nic_kind a = true -> nic_kind b = true -> table hw a b <> All.
Proof.
  intros A B K. pose proof (every_spec _ (every_spec _ (queue_pairs hw) a) b) as H. simpl in H. now rewrite A, B, K in H.
Qed.
Lemma chain_issued a b c : nic_inst a = true -> is_nicw b -> is_nicw c -> issued hw a b = true -> issued hw b c = true ->
  issued hw a c = true.
Proof.
  intros A B C I J. pose proof (every_spec _ (every_spec _ (every_spec _ (chain hw) a) b) c) as H. simpl in H.
  rewrite A, I, J in H. destruct b, B; destruct c, C; exact H.
Qed.
Lemma flush_chain_use r w c : nfo_kinds hw r w = true -> is_nicw c -> issued hw w c = true ->
  (w = c /\ seen hw w c = true) \/ (issued hw r c = true /\ seen hw w r = true).
Proof.
  intros A C I. pose proof (every_spec _ (every_spec _ (every_spec _ (flush_chain hw) r) w) c) as H. simpl in H.
  assert (write_kind c = true) as C' by (destruct c, C; reflexivity).
  rewrite A, I, C' in H. simpl in H. apply orb_prop in H as [H|H]; apply andb_prop in H; [left|right; tauto].
  destruct H as (H & ?); split; auto. now apply internal_kind_dec_bl.
Qed.
Lemma issue_only_use w f a : is_nicw w -> issued hw w f = true -> seen hw w f = false ->
  (nic_inst a = true -> issued hw a w = true -> seen hw a f = true) /\
  (nfo_kinds hw a w = true -> seen hw a f = true /\ (seen hw w a = true \/ (w = NLW /\ f = NF /\ a = NLR))).
Proof.
  intros W I N. pose proof (every_spec _ (every_spec _ (issue_only hw) w) f) as H. simpl in H.
  assert (write_kind w = true) as W' by (destruct w, W; reflexivity). rewrite W', I, N in H. simpl in H.
  pose proof (every_spec _ H a) as K. simpl in K. apply andb_prop in K as (K1 & K2). split.
  - intros X Y. now rewrite X, Y in K1.
  - intros X. rewrite X in K2. simpl in K2. apply andb_prop in K2 as (K2 & K3). split; [auto|].
    apply orb_prop in K3 as [|K3]; [auto|right].
    repeat (apply andb_prop in K3 as (K3 & ?)). repeat split; now apply internal_kind_dec_bl.
Qed.
Lemma forcing_only_use a : nic_inst a = true -> issued hw a NRW = true -> a = NLR \/ a = NF.
Proof.
  intros A I. pose proof (every_spec _ (forcing_only hw) a) as H. simpl in H. rewrite I in H.
  destruct a; simpl in *; auto; discriminate.
Qed.
Lemma operation_cells : seen hw NLR NRW = true /\ seen hw NRR NLW = true.
Proof. exact (andb_prop _ _ (operation hw)). Qed.
Lemma flush_poll_use : flush hw = true -> seen hw NRW NRR = true.
Proof. intros F. pose proof (flush_poll hw) as H. unfold fact_flush_poll in H. now rewrite F in H. Qed.
Lemma forcing_use k : k = NLR \/ k = NF -> issued hw k NRW = true.
Proof. pose proof (forcing_cells hw) as H. apply andb_prop in H as (? & ?). intros [->| ->]; auto. Qed.
Lemma fence_use : flush hw = true -> issued hw NLW NF = true /\ seen hw NF NLR = true.
Proof. intros F. apply andb_prop. pose proof (fence hw) as H. unfold fact_fence in H. now rewrite F in H. Qed.
Lemma card_never a b : buffered hw = true -> nic_kind a = true -> cpu_kind b = true -> table hw a b = Never.
Proof.
  intros F A B. pose proof (card_row hw) as H. unfold fact_card_row in H. rewrite F in H.
  pose proof (every_spec _ (every_spec _ H a) b) as K. simpl in K. rewrite A, B in K. simpl in K.
  destruct (table hw a b); congruence.
Qed.
End Use.
