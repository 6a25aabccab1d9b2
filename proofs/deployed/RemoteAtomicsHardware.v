(* Remote atomics: the tables of preserved order, and the facts about their cells that the proofs need.  docs/deployed.md *)
Require Import List Bool String.
Import ListNotations.
Local Open Scope string_scope.
Local Open Scope bool_scope.

Inductive kind := Init | LR | LW | CAS | Poll | Fence | NLR | NRW | NRR | NLW | NF | NAR | NAW | NA.
Scheme Equality for kind.
Definition kinds := [Init; LR; LW; CAS; Poll; Fence; NLR; NRW; NRR; NLW; NF; NAR; NAW; NA].

Inductive cell := All | Qp | Issue | Never.

(* Where [kept] is false, the cell is given up.  nA has the row and the column of naR. *)
Definition cells (kept : kind -> kind -> bool) (a b : kind) : cell :=
  match a, b with
  | Init, _ | _, Init => Never
  | (LR | LW | CAS | Poll | Fence), _ => All
  | (NLR | NRW | NRR | NLW | NF | NAR | NAW | NA), (LR | LW | CAS | Poll | Fence) => Never
  | (NRW | NRR | NLW | NAR | NAW | NA), NLR => Never
  | NRR, (NRW | NAR | NAW | NA) | NLW, (NRW | NRR | NAR | NAW | NA) => Never
  | (NRW | NLW | NAW), NF | NAW, NLW => Issue
  | _, _ => if kept a b then Qp else Never
  end.

(* The flags: [ordered] is the open cell nrR, nrR (--ordered-reads); [net] is --order. *)
Inductive network := Default | Multipath | Relaxed.
Record flags := { ordered : bool; net : network }.
Definition is_rmw k := match k with NAR | NAW | NA => true | _ => false end.
(* what relaxed gives up; multipath keeps of it that remote atomics wait for earlier remote writes and atomics *)
Definition relaxed_cell (a b : kind) : bool :=
  match a, b with
  | NRW, (NRW | NRR | NLW | NAR | NAW | NA) | (NAR | NAW | NA), (NRW | NRR | NAR | NAW | NA) | NLW, NLW => true
  | _, _ => false
  end.
Definition kept_by (f : flags) (a b : kind) : bool :=
  match net f with
  | Default => true
  | Multipath => negb (relaxed_cell a b) || is_rmw b
  | Relaxed => negb (relaxed_cell a b)
  end && match a, b with NRR, NRR => ordered f | _, _ => true end.

Definition flush_by (f : flags) := match net f with Default => true | _ => false end.

Definition every (f : kind -> bool) := forallb f kinds.
Lemma every_spec f : every f = true -> forall k, f k = true.
Proof. unfold every; rewrite forallb_forall. intros H k. apply H. destruct k; simpl; auto 16. Qed.

Definition cpu_kind k := match k with LR | LW | CAS | Poll | Fence => true | _ => false end.
Definition write_kind k := match k with NRW | NLW | NAW => true | _ => false end.               (* NIC writes *)
Definition nic_inst k := match k with NLR | NRR | NF | NAR | NA => true | _ => false end.        (* the other NIC events *)
Definition nic_kind k := write_kind k || nic_inst k.

(* [table]: the cells; [flush]: whether reads push out earlier writes (nfo). *)
Section Facts.
Variables (table : kind -> kind -> cell) (flush : bool).
(* whether the cell is in ippo, in oppo *)
Definition issued_in a b := match table a b with Never => false | _ => true end.
Definition seen_in a b := match table a b with All | Qp => true | _ => false end.
Definition nfo_in_kinds r w := match r, w with NLR, NLW | (NRR | NAR | NA), (NRW | NAW) => flush | _, _ => false end.

(* All that is said of CPU events: the CPU's row keeps everything. *)
Definition fact_cpu_row := every (fun a => every (fun b =>
  negb (cpu_kind a) || kind_beq b Init || match table a b with All => true | _ => false end)).
(* The events of one operation are ordered whatever the table says.  The table keeps this too, or what the write is issued before,
   the read is: a table can be closed under that without a change of what it allows.  naR and naW: [fact_rmw_row]. *)
Definition operation_in r w := seen_in r w || every (fun c => negb (issued_in w c) || issued_in r c).
Definition fact_operation := operation_in NLR NRW && operation_in NRR NLW && operation_in NAR NLW && operation_in NA NLW.
(* Lemma 3 (b): only the rows of NIC writes distinguish issue and observation. *)
Definition fact_inst_row := every (fun a => every (fun b =>
  write_kind a || match table a b with Issue => false | _ => true end)).
(* The NIC's order is one of queue pairs. *)
Definition fact_queue_pairs := every (fun a => every (fun b =>
  negb (nic_kind a) || match table a b with All => false | _ => true end)).
(* Lemma 3 (d): what is issued before a NIC write is issued before what that one is issued before. *)
Definition fact_chain := every (fun a => every (fun b => every (fun c =>
  negb (nic_inst a && write_kind b && write_kind c && issued_in a b && issued_in b c) || issued_in a c))).
(* Lemma 3 (d), where the first step is nfo. *)
Definition fact_flush_chain := every (fun r => every (fun w => every (fun c =>
  negb (nfo_in_kinds r w && write_kind c && issued_in w c) ||
  (nfo_in_kinds r c && seen_in w c) || (issued_in r c && seen_in w r)))).
(* Lemma 3 (e): what is before a NIC write is observed before what that one is only issued before, but for the rule of
   fences: nlR, nlW, nF. *)
Definition fact_issue_only := every (fun w => every (fun f =>
  negb (write_kind w && negb (write_kind f) && issued_in w f && negb (seen_in w f)) || every (fun a =>
    (negb (nic_inst a && issued_in a w) || seen_in a f) &&
    (negb (nfo_in_kinds a w) ||
     (seen_in a f && (seen_in w a || (kind_beq w NLW && kind_beq f NF && kind_beq a NLR))))))).
(* Lemma 3 (f): where reads push out an nrW, they are observed after it if they are later; naR, nA are issued before it.  The
   same for naR and the naW before it: where a middle is left out. *)
Definition fact_flush_poll := negb flush ||
  (seen_in NRW NRR && seen_in NRW NAR && seen_in NRW NA && seen_in NAW NAR && issued_in NAR NRW && issued_in NA NRW).
(* Lemma 3, only if: the rule of fences. *)
Definition fact_fence := negb flush || (issued_in NLW NF && seen_in NF NLR).
(* Slots of naW that do not happen stand with their naR: naR has the cells of naW. *)
Definition fact_rmw_row := every (fun c => negb (issued_in NAW c) || issued_in NAR c).
Definition fact_rmw_column := every (fun a => negb (seen_in a NAW) || seen_in a NAR).

Definition facts : list (string * bool) :=
  [("cpu_row", fact_cpu_row); ("operation", fact_operation); ("inst_row", fact_inst_row); ("queue_pairs", fact_queue_pairs);
   ("chain", fact_chain); ("flush_chain", fact_flush_chain); ("issue_only", fact_issue_only);
   ("flush_poll", fact_flush_poll); ("fence", fact_fence); ("rmw_row", fact_rmw_row);
   ("rmw_column", fact_rmw_column)].
Definition failing : list string := map fst (filter (fun f => negb (snd f)) facts).
Definition order_ok := match failing with [] => true | _ => false end.
Lemma fact_holds name f : order_ok = true -> In (name, f) facts -> f = true.
Proof.
  unfold order_ok, failing. intros H I. destruct f; [auto|exfalso].
  assert (In (name, false) (filter (fun f => negb (snd f)) facts)) as K by (apply filter_In; auto).
  destruct (filter _ facts); [destruct K|discriminate].
Qed.
End Facts.

(* What the network keeps (--order, --ordered-reads): a table that has the facts. *)
Record order := { table : kind -> kind -> cell; flush : bool; covered : order_ok table flush = true }.
Lemma flags_ok f : order_ok (cells (kept_by f)) (flush_by f) = true.
Proof. destruct f as [[] []]; vm_compute; reflexivity. Qed.
Definition order_of (f : flags) : order := {| covered := flags_ok f |}.
Definition default_order (ord : bool) : order := order_of {| ordered := ord; net := Default |}.
Coercion default_order : bool >-> order.

(* The facts as the proofs use them *)
Section Use.
Variable ord : order.
Definition issued := issued_in (table ord).
Definition seen := seen_in (table ord).
Definition nfo_kinds := nfo_in_kinds (flush ord).
Ltac fact n := pose proof (fact_holds _ _ n _ (covered ord) ltac:(simpl; auto 13)).

Lemma cpu_all a b : cpu_kind a = true -> b <> Init -> table ord a b = All.
Proof.
  fact "cpu_row". intros A B. pose proof (every_spec _ (every_spec _ H a) b) as K. simpl in K. rewrite A in K.
  destruct b; simpl in K; try congruence; destruct (table ord _ _); congruence.
Qed.
Lemma inst_not_issue a b : write_kind a = false -> table ord a b <> Issue.
Proof.
  fact "inst_row". intros A K. pose proof (every_spec _ (every_spec _ H a) b) as L. simpl in L.
  now rewrite A, K in L.
Qed.
Lemma nic_not_all a b : nic_kind a = true -> table ord a b <> All.
Proof.
  fact "queue_pairs". intros A K. pose proof (every_spec _ (every_spec _ H a) b) as L. simpl in L. now rewrite A, K in L.
Qed.
Lemma inst_seen a b : write_kind a = false -> issued a b = true -> seen a b = true.
Proof.
  unfold issued, issued_in, seen, seen_in. intros A. pose proof (inst_not_issue a b A). destruct (table ord a b); congruence.
Qed.
Lemma chain_issued a b c : nic_inst a = true -> write_kind b = true -> write_kind c = true -> issued a b = true ->
  issued b c = true -> issued a c = true.
Proof.
  fact "chain". intros A B C I J. pose proof (every_spec _ (every_spec _ (every_spec _ H a) b) c) as K. simpl in K.
  unfold issued in *. now rewrite A, B, C, I, J in K.
Qed.
Lemma flush_chain_use r w c : nfo_kinds r w = true -> write_kind c = true -> issued w c = true ->
  (nfo_kinds r c = true /\ seen w c = true) \/ (issued r c = true /\ seen w r = true).
Proof.
  fact "flush_chain". intros A C I. pose proof (every_spec _ (every_spec _ (every_spec _ H r) w) c) as K. simpl in K.
  unfold nfo_kinds, issued, seen in *. rewrite A, C, I in K. simpl in K.
  apply orb_prop in K as [K|K]; apply andb_prop in K; tauto.
Qed.
Lemma issue_only_use w f a : write_kind w = true -> write_kind f = false -> issued w f = true -> seen w f = false ->
  (nic_inst a = true -> issued a w = true -> seen a f = true) /\
  (nfo_kinds a w = true -> seen a f = true /\ (seen w a = true \/ (w = NLW /\ f = NF /\ a = NLR))).
Proof.
  fact "issue_only". intros W F I N. pose proof (every_spec _ (every_spec _ H w) f) as K. simpl in K.
  unfold nfo_kinds, issued, seen in *. rewrite W, F, I, N in K. simpl in K.
  pose proof (every_spec _ K a) as L. simpl in L. apply andb_prop in L as (L1 & L2). split.
  - intros X Y. now rewrite X, Y in L1.
  - intros X. rewrite X in L2. simpl in L2. apply andb_prop in L2 as (L2 & L3). split; [auto|].
    apply orb_prop in L3 as [|L3]; [auto|right].
    repeat (apply andb_prop in L3 as (L3 & ?)). repeat split; now apply internal_kind_dec_bl.
Qed.
Definition of_operation r w := seen r w = true \/ forall c, issued w c = true -> issued r c = true.
Lemma operation_use : of_operation NLR NRW /\ of_operation NRR NLW /\ of_operation NAR NLW /\ of_operation NA NLW.
Proof.
  assert (forall r w, operation_in (table ord) r w = true -> of_operation r w) as X.
  { intros r w K. apply orb_prop in K as [K|K]; [now left|right]. intros c I. pose proof (every_spec _ K c) as L. simpl in L.
    unfold issued in *. now rewrite I in L. }
  fact "operation". unfold fact_operation in H. repeat (apply andb_prop in H as (H & ?)). auto.
Qed.
Lemma flush_poll_use : flush ord = true -> seen NRW NRR = true /\ seen NRW NAR = true /\ seen NRW NA = true /\
  seen NAW NAR = true /\ issued NAR NRW = true /\ issued NA NRW = true.
Proof.
  fact "flush_poll". unfold fact_flush_poll in H. intros F. rewrite F in H. simpl in H.
  repeat (apply andb_prop in H as (H & ?)). tauto.
Qed.
Lemma fence_use : flush ord = true -> issued NLW NF = true /\ seen NF NLR = true.
Proof. fact "fence". unfold fact_fence in H. intros F. rewrite F in H. now apply andb_prop in H. Qed.
Lemma rmw_row c : issued NAW c = true -> issued NAR c = true.
Proof.
  fact "rmw_row". intros I. pose proof (every_spec _ H c) as K. simpl in K. unfold issued in *. now rewrite I in K.
Qed.
Lemma rmw_column a : seen a NAW = true -> seen a NAR = true.
Proof.
  fact "rmw_column". intros I. pose proof (every_spec _ H a) as K. simpl in K. unfold seen in *. now rewrite I in K.
Qed.
End Use.
