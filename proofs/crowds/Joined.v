(* Crowds: rules of one program with copies are those of any other. A step of copies of one program goes on in the other
   ([both]); for a control and copies there is a state of the program that has these copies only ([shrink]). *)
Require Import List Arith ZArith Bool Lia Permutation.
Import ListNotations.
From RR Require Import Model Hardware Programs Search Searched Marks CrowdProgram Views Moves Locality CrowdRules.

Section Joined.
Context {K : crowd} (hw : hardware) {OK : hardware_ok hw} {SO : search_ok hw} {SC : cpu_sc hw} (zero : bool).
Notation state := (@state concrete).
Notation ev := (@ev concrete).
Notation moves := (moves hw zero).

(* the class *)
Lemma class_at_inj h a b : cthr a <= nt -> cthr b <= nt -> class_at h a = class_at h b -> a = b.
Proof.
  destruct a as [t x w], b as [t' x' w']. unfold class_at; simpl. intros A B H. inversion H as [[H1 H2 H3]].
  apply place_inj in H2. destruct (Nat.ltb_spec t nt), (Nat.ltb_spec t' nt); f_equal; lia.
Qed.
Lemma class_at_any h h' c : class_fits c -> c_hero c = None ->
  option_map (class_at h) (c_class c) = option_map (class_at h') (c_class c).
Proof.
  unfold class_fits. intros F N. destruct (c_class c) as [[t x w]|]; simpl in *; [|auto].
  destruct F as [(L & L' & _)|(_ & _ & F)]; [|tauto]. unfold class_at; simpl. rewrite !place_low by auto.
  apply Nat.ltb_lt in L. now rewrite L.
Qed.
Lemma keeps_class ts e s s' c : moves ts e s s' -> cls s = Some c -> cls s' = Some c.
Proof.
  intros M C. apply moves_inv in M. destruct M as (_ & [(Q & _ & ->)|[(c1 & Q & _ & _ & ->)|[(c1 & Q & _ & _ & _ & ->)|
    (c1 & Q & _ & _ & _ & _ & _ & ->)]]]); simpl; congruence.
Qed.
Lemma fits_le c c0 : class_fits c -> c_class c = Some c0 -> cthr c0 <= nt.
Proof. unfold class_fits. intros F Q. rewrite Q in F. lia. Qed.
Lemma same_class_at (P : nat -> nat -> Prop) ts1 s1 ts2 jh1 js1 c1 ls1 jh2 c0 : made ts1 s1 jh1 js1 c1 ls1 ->
  c_class c1 = Some c0 ->
  (forall a b, P a b -> nth_error ts1 a = nth_error ts2 b) ->
  match jh1, jh2 with Some a, Some b => P a b | None, None => True | _, _ => False end ->
  same_class P ts2 (class_at (where_ jh1) c0) (class_at (where_ jh2) c0).
Proof.
  intros M Q T H. pose proof (m_fits _ _ _ _ _ _ M) as F. unfold class_fits in F. rewrite Q in F.
  destruct F as [(L & L' & _)|(L & L' & Nh)]; unfold class_at, same_class; simpl.
  - rewrite !place_low by auto. apply Nat.ltb_lt in L. rewrite L. apply Nat.ltb_lt in L.
    split; [left; auto|]. split; [left; auto|]. split; [auto|]. intros D. split; simpl; [unfold threads_of; lia|now left].
  - pose proof (m_hero _ _ _ _ _ _ M) as Mh. destruct jh1 as [a|], jh2 as [b|], (c_hero c1) as [l|]; try tauto.
    rewrite L. simpl. rewrite Nat.ltb_irrefl. split; [right; eauto|]. split; [now apply wpaired_place|]. split; [auto|].
    intros D. pose proof (i_templ _ _ _ _ Mh) as Tm. rewrite (T a b H) in Tm.
    assert (b < length ts2) by (apply nth_error_Some; congruence). split; simpl; [unfold threads_of; lia|].
    destruct (le_lt_dec nv (ccell c0)) as [G|G]; [|left; now rewrite place_low].
    right. exists (ccell c0). replace (nt + b - nt) with b by lia. repeat split; auto. lia.
Qed.

Section Both.
Variables (ts1 : list nat) (s1 : state) (jh1 : option nat) (js1 : list nat).
Variables (ts2 : list nat) (s2 : state) (jh2 : option nat) (js2 : list nat).
Notation P := (at_once (everyone jh1 js1) (everyone jh2 js2)).
Lemma both c ls e s1' jh1' js1' jh2' js2' c' ls' : sound ts1 s1 -> sound ts2 s2 ->
  made ts1 s1 jh1 js1 c ls -> made ts2 s2 jh2 js2 c ls -> moves ts1 e s1 s1' -> (exists t2, paired P (thr e) t2) ->
  made ts1 s1' jh1' js1' c' ls' -> match_up P jh1' js1' jh2' js2' -> (c_hero c <> None -> jh1' = jh1 /\ jh2' = jh2) ->
  exists t2 l2 h2 s2', moves ts2 (Ev t2 l2 h2) s2 s2' /\ sound ts2 s2' /\ made ts2 s2' jh2' js2' c' ls' /\
    paired P (thr e) t2 /\ exists x, wpaired P x (lloc l2).
Proof.
  intros S1 S2 M1 M2 Mv Pt M1' Mu Hh. pose proof (made_agree _ _ _ _ _ _ _ _ _ _ M1 M2) as A.
  pose proof (m_fits _ _ _ _ _ _ M1) as F.
  assert (forall h, c_hero c = None -> cls s1 = option_map (class_at h) (c_class c)) as N1.
  { intros h N. rewrite (m_class _ _ _ _ _ _ M1). now apply class_at_any. }
  assert (forall h, c_hero c = None -> cls s2 = option_map (class_at h) (c_class c)) as N2.
  { intros h N. rewrite (m_class _ _ _ _ _ _ M2). now apply class_at_any. }
  assert (cls s1 = option_map (class_at (where_ jh1')) (c_class c)) as C1.
  { destruct (c_hero c) eqn:Hc; [|now apply N1]. destruct Hh as (-> & _); [discriminate|apply M1]. }
  assert (cls s2 = option_map (class_at (where_ jh2')) (c_class c)) as C2.
  { destruct (c_hero c) eqn:Hc; [|now apply N2]. destruct Hh as (_ & ->); [discriminate|apply M2]. }
  destruct (goes_on hw zero P (once_l _ _ (m_once _ _ _ _ _ _ M2)) (once_r _ _ (m_once _ _ _ _ _ _ M1))
    ts1 ts2 s1 s2 s1' e
    (class_at (where_ jh1')) (class_at (where_ jh2')) (c_class c) (c_class c'))
      as (t2 & l2 & h2 & s2' & Mv2 & A' & C2' & Pt2 & Pw); auto.
  - apply M1'.
  - intros c0 Q. eapply same_class_at; eauto; [|apply Mu]. intros a b H. now apply (a_copies _ _ _ _ _ A).
  - intros c0 Q. rewrite Q in C1. simpl in C1. pose proof (keeps_class _ _ _ _ _ Mv C1) as C1'.
    pose proof (m_class _ _ _ _ _ _ M1') as C3. rewrite C1' in C3.
      destruct (c_class c') as [c0'|] eqn:Q'; simpl in C3; [|discriminate].
    f_equal. symmetry. apply class_at_inj with (where_ jh1'); [eapply fits_le; eauto|eapply fits_le;
      [apply M1'|auto]|congruence].
  - exists t2, l2, h2, s2'. split; [auto|]. split; [eapply sound_moves; eauto|]. split; [|split; [auto|eauto]].
    eapply made_on; eauto.
Qed.
(* copies that are not paired stay as they are *)
Lemma left_alone t2 l2 h2 s2' x t1 j l : moves ts2 (Ev t2 l2 h2) s2 s2' -> paired P t1 t2 -> wpaired P x (lloc l2) ->
  ~ In j (everyone jh2 js2) -> lives ts2 s2 j l -> lives ts2 s2' j l.
Proof.
  intros M Pt Pw N L. pose proof (clo_later hw zero _ _ _ _ M) as Cl.
  assert (forall a b, P a b -> b <> j) as Nb by (intros a b H ->; apply N; eapply in_combine_r; exact H).
  assert (nt + j <> t2) as Nt.
  { destruct Pt as [(-> & G)|(a & b & H & -> & ->)]; [lia|]. specialize (Nb a b H). lia. }
  constructor.
  - apply L.
  - rewrite (path_moves hw zero _ _ _ _ _ _ (nt + j) M). destruct (Nat.eqb_spec t2 (nt + j)); [congruence|apply L].
  - apply like_trans with (part_of s2 (nt + j)); [apply like_later with (clo (tn s2)); [auto|apply L]|].
    apply (far_part hw zero ts2 (Ev t2 l2 h2)); auto.
  - intros y Y. apply wlike_trans with (word_of s2 (place j y)); [apply wlike_later with (clo (tn s2));
    [auto|now apply L]|].
    apply (far_word hw zero ts2 (Ev t2 l2 h2)); auto. unfold loc; simpl. intros Q. rewrite <- Q in Pw.
    destruct Pw as [(E & G)|(a & b & z & H & Z & _ & E)]; [pose proof (place_high j y); lia|].
    apply place_apart in E; auto. destruct E as (-> & _). exact (Nb a b H eq_refl).
Qed.
End Both.

(* the state of a program with these copies only *)
Section Shrink.
Variables (c : control) (all : list local) (cl : option class).
Definition path_j t := if t <? nt then c_path c t else
  match nth_error all (t - nt) with Some l => map (put_at (place (t - nt))) (l_path l) | None => [] end.
Definition part_j t := if t <? nt then c_part c t else match nth_error all (t - nt)
  with Some l => l_part l | None => part0 end.
Definition word_j x := if x <? nv then c_word c x else
  let i := (x - nv) / ow in match nth_error all i with Some l => l_own l (x - i * ow) | None => word0 0 end.
Definition joined : state := State
  (Thr (flat_map (fun t => map (fun e => Mv (e : ev) false false) (sufs t (path_j t))) (seq 0 (nt + length all)))
       (fun x => w_mem (word_j x)) (fun t => p_car (part_j t)))
  (Cnt (fun tq => p_unp (part_j (fst tq)) (snd tq)) (fun tq => p_ear (part_j (fst tq)) (snd tq))) cl
  (Sd (fun t => p_cpub (part_j t)) (fun _ => false) (fun tq => p_typ (part_j (fst tq)) (snd tq))
      (fun tq => p_fen (part_j (fst tq))
    (snd tq))
      (fun tq => p_fod (part_j (fst tq)) (snd tq)))
  (Cel (fun x => w_read (word_j x)) (fun x => w_written (word_j x)))
  (Tnt (Cel (fun x => w_tread (word_j x)) (fun x => w_twritten (word_j x))) (fun t => p_taint (part_j t)) (c_closed c))
  (Psn (fun x => w_poison (word_j x)) (fun t => p_poc (part_j t))) (c_frozen c) (fun _ => None).

Lemma labels_app t a b : labels_of t (a ++ b) = labels_of t a ++ labels_of t b.
Proof. unfold labels_of. apply flat_map_app. Qed.
Lemma labels_sufs t t' h : labels_of t (map (fun e => Mv (e : ev) false false) (sufs t' h)) = if t' =? t then h else [].
Proof. induction h as [|l h IH]; [now simpl; destruct (t' =? t)|]. unfold labels_of in *. cbn [sufs map flat_map me].
  rewrite IH. now destruct (t' =? t). Qed.
Lemma labels_all t p n : forall a, labels_of t (flat_map (fun t => map (fun e => Mv (e : ev) false false)
  (sufs t (p t))) (seq a n)) =
  if (a <=? t) && (t <? a + n) then p t else [].
Proof.
  induction n as [|n IH]; intros a; cbn [seq flat_map].
  - destruct (Nat.leb_spec a t), (Nat.ltb_spec t (a + 0)); simpl; auto; lia.
  - rewrite labels_app, labels_sufs, IH. destruct (Nat.eqb_spec a t) as [->|N].
    + destruct (Nat.leb_spec (S t) t), (Nat.leb_spec t t), (Nat.ltb_spec t (S t + n)), (Nat.ltb_spec t (t + S n)); simpl;
      rewrite ?app_nil_r; auto; lia.
    + destruct (Nat.leb_spec (S a) t), (Nat.leb_spec a t), (Nat.ltb_spec t (S a + n)), (Nat.ltb_spec t (a + S n));
      simpl; auto; lia.
Qed.
Lemma path_joined t : path_of joined t = path_j t.
Proof.
  unfold path_of, joined; cbn [hist th]. rewrite labels_all. destruct (Nat.ltb_spec t (0 + (nt + length all))); simpl;
    [auto|].
  unfold path_j. destruct (Nat.ltb_spec t nt); [lia|]. now rewrite (proj2 (nth_error_None all (t - nt))) by lia.
Qed.
Lemma part_joined t : part_of joined t = part_j t.
Proof. unfold part_of; simpl. now destruct (part_j t). Qed.
Lemma word_joined x : word_of joined x = word_j x.
Proof. unfold word_of; simpl. now destruct (word_j x). Qed.
Lemma j_path i l : nth_error all i = Some l -> path_j (nt + i) = map (put_at (place i)) (l_path l).
Proof.
  intros E. unfold path_j. destruct (Nat.ltb_spec (nt + i) nt); [lia|]. replace (nt + i - nt) with i by lia.
    now rewrite E.
Qed.
Lemma j_part i l : nth_error all i = Some l -> part_j (nt + i) = l_part l.
Proof.
  intros E. unfold part_j. destruct (Nat.ltb_spec (nt + i) nt); [lia|]. replace (nt + i - nt) with i by lia.
    now rewrite E.
Qed.
Lemma own_index i x : nv <= x < nv + ow -> (place i x - nv) / ow = i /\ place i x - i * ow = x.
Proof.
  intros X. rewrite place_own by lia. split; [|lia]. symmetry. apply Nat.div_unique with (x - nv); nia.
Qed.
Lemma j_word i l x : nth_error all i = Some l -> nv <= x < nv + ow -> word_j (place i x) = l_own l x.
Proof.
  intros E X. unfold word_j. pose proof (place_high i x). destruct (Nat.ltb_spec (place i x) nv); [lia|].
  destruct (own_index i x X) as (-> & ->). now rewrite E.
Qed.
Notation ts0 := (map l_templ all).
Lemma lives_joined i l : nth_error all i = Some l -> lives ts0 joined i l.
Proof.
  intros E. constructor.
  - now rewrite nth_error_map, E.
  - rewrite path_joined. now apply j_path.
  - rewrite part_joined, (j_part _ _ E). apply like_refl.
  - intros x X. rewrite word_joined, (j_word i l x E X). apply wlike_refl.
Qed.

Lemma sufs_iff t p t' l h : In (Ev t' l h) (sufs t p) <-> t' = t /\ suf (l :: h) p.
Proof.
  split; [|intros (-> & H); now apply sufs_in]. induction p as [|y p IH]; simpl; [tauto|].
  intros [H|H]; [inversion H; subst; split; [auto|apply suf_refl]|]. destruct (IH H) as (-> & S). split; [auto|].
  eapply suf_trans; [exact S|now exists [y]].
Qed.
Lemma no_ini t p x v : ~ In (Ini x v) (sufs t p).
Proof. induction p as [|y p IH]; simpl; [tauto|]. intros [H|H]; [discriminate|tauto]. Qed.
Lemma fine_put n n' g g' p : fine n (map (put_at g) p) -> (forall l, In l p -> lloc (put_at g' l) < n') ->
  fine n' (map (put_at g') p).
Proof.
  induction p as [|l p IH]; simpl; [auto|]. intros (A & B & _) H. split; [|split].
  - apply IH; auto.
  - rewrite put_follows in *. auto.
  - apply H. auto.
Qed.
Lemma sound_joined : (forall t, t < nt -> named t (c_path c t)) ->
  (forall t, t < nt -> exists n, fine n (c_path c t)) -> (forall l, In l all -> templ (l_templ l) (l_path l)) ->
  (forall l, In l all -> exists n j, fine n (map (put_at (place j)) (l_path l))) -> sound ts0 joined.
Proof.
  intros Hn Hf Ht Hg. constructor.
  - intros t. rewrite path_joined. unfold prog_of, path_j. destruct (Nat.ltb_spec t nt) as [L|L]; [auto|].
    rewrite nth_error_map. destruct (nth_error all (t - nt)) as [l|] eqn:E; simpl; [|auto].
    exists (l_path l). split; [|auto]. apply Ht. eapply nth_error_In; eauto.
  - intros t. rewrite path_joined. unfold path_j. destruct (Nat.ltb_spec t nt) as [L|L].
    + destruct (Hf t L) as (n & F). rewrite <- (put_ids (c_path c t)) in F |- *.
      apply fine_put with n (fun x => x); [exact F|].
      intros l I. rewrite put_id. pose proof (named_words _ _ _ (Hn t L) I). unfold words_of. lia.
    + destruct (nth_error all (t - nt)) as [l|] eqn:E; simpl; [|auto]. pose proof (nth_error_In _ _ E) as I.
      destruct (Hg l I) as (n & j & F). apply fine_put with n (place j); [exact F|]. intros l0 I0.
      rewrite lloc_put by apply place_0. pose proof (templ_words _ _ _ (Ht l I) I0).
      assert (t - nt < length all) by (apply nth_error_Some; congruence). unfold words_of. rewrite map_length.
      unfold place. destruct (Nat.ltb_spec (lloc l0) nv); nia.
  - intros e. unfold done, evs. cbn [joined th hist]. rewrite flat_map_concat_map, concat_map, map_map,
    <- flat_map_concat_map.
    rewrite in_flat_map. destruct e as [x v|t l h]; simpl.
    + split; [|auto]. intros [H|(t & _ & H)]; [auto|]. exfalso. rewrite map_map, map_id in H. exact (no_ini _ _ _ _ H).
    + rewrite path_joined. split.
      * intros [[]|(t' & _ & H)]. rewrite map_map, map_id in H. apply sufs_iff in H. now destruct H as (-> & H).
      * intros H. right. exists t. rewrite map_map, map_id. split; [|now apply sufs_in]. apply in_seq.
        destruct (le_lt_dec (nt + length all) t) as [G|G]; [|lia]. exfalso. unfold path_j in H.
        destruct (Nat.ltb_spec t nt); [lia|]. rewrite (proj2 (nth_error_None all (t - nt))) in H by lia.
        apply suf_len in H. simpl in H. lia.
  - split; reflexivity.
Qed.
End Shrink.
End Joined.
