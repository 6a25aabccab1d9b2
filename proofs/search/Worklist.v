(* What the analyses of reductions/relaxation.py compute: states are followed until nothing new comes, of states with the
   same key what is known of one or the other is kept. *)
Require Import List Bool.
Import ListNotations.

Section Worklist.
(* [same]: the keys are equal; [within now old]: nothing is new; [join]: what is known of both *)
Context {S : Type} (same within : S -> S -> bool) (join : S -> S -> S) (next : S -> list S).
Fixpoint explore fuel (todo most : list S) : option (list S) :=
  match fuel with
  | 0 => None
  | Datatypes.S fuel =>
    match todo with
    | [] => Some most
    | now :: todo =>
      match filter (same now) most with
      | [] => explore fuel (next now ++ todo) (now :: most)
      | found =>
        if existsb (within now) found then explore fuel todo most
        else let joined := map (fun old => join old now) found in
          explore fuel (flat_map next joined ++ todo) (joined ++ filter (fun s => negb (same now s)) most)
      end
    end
  end.

(* [below a b]: a says no more than b *)
Variable below : S -> S -> Prop.
Hypotheses (below_refl : forall a, below a a) (below_trans : forall a b c, below a b -> below b c -> below a c).
Hypothesis within_below : forall now old, same now old = true -> within now old = true -> below old now.
Hypothesis join_old : forall now old, same now old = true -> below (join old now) old.
Hypothesis join_now : forall now old, same now old = true -> below (join old now) now.

Definition covered l s := exists e, In e l /\ below e s.
Definition stepped todo most := forall e s, In e most -> In s (next e) -> covered (most ++ todo) s.
Lemma covered_in l s : In s l -> covered l s.
Proof. intros H. exists s. auto. Qed.
Lemma covered_mono l l' s : (forall e, In e l -> covered l' e) -> covered l s -> covered l' s.
Proof. intros H (e & He & Be). destruct (H e He) as (e' & He' & Be'). exists e'. split; eauto. Qed.

Lemma explored fuel : forall todo most r, explore fuel todo most = Some r -> stepped todo most ->
  (forall s, covered (most ++ todo) s -> covered r s) /\ forall e s, In e r -> In s (next e) -> covered r s.
Proof.
  induction fuel as [|fuel IH]; intros todo most r Q St; [discriminate|].
  destruct todo as [|now todo]; cbn [explore] in Q.
  { injection Q as <-. unfold stepped in St. rewrite app_nil_r in *. auto. }
  destruct (filter (same now) most) as [|o found] eqn:Fi.
  - destruct (IH _ _ _ Q) as (C & N).
    { intros e s [<-|He] Hs; [apply covered_in; simpl; right; rewrite !in_app_iff; auto|].
      apply (covered_mono (most ++ now :: todo)); [|now apply (St e)]. intros e' He'. apply covered_in. simpl.
      rewrite !in_app_iff in *. simpl in He'. tauto. }
    split; [|exact N]. intros s Hs. apply C. revert Hs. apply covered_mono. intros e He. apply covered_in. simpl.
    rewrite !in_app_iff in *. simpl in He. tauto.
  - assert (forall x, In x (o :: found) <-> In x most /\ same now x = true) as Ho by (intros x; rewrite <- Fi; apply
    filter_In).
    destruct (existsb (within now) (o :: found)) eqn:Wi.
    + apply existsb_exists in Wi. destruct Wi as (old & Hold & Wi). apply Ho in Hold. destruct Hold as (Hold & Sa).
      assert (forall e, In e (most ++ now :: todo) -> covered (most ++ todo) e) as Hc.
      { intros e He. apply in_app_iff in He. destruct He as [He|[<-|He]]; try (apply covered_in, in_app_iff; auto; fail).
        exists old. split; [apply in_app_iff; auto|now apply within_below]. }
      destruct (IH _ _ _ Q) as (C & N).
      { intros e s He Hs. apply (covered_mono _ _ _ Hc). now apply (St e). }
      split; [|exact N]. intros s Hs. apply C. now apply (covered_mono _ _ _ Hc).
    + clear Wi. set (joined := map (fun old => join old now) (o :: found)) in *.
      set (kept := filter (fun s => negb (same now s)) most) in *.
      assert (forall e, In e (most ++ now :: todo) -> covered ((joined ++ kept) ++ flat_map next joined ++ todo) e) as Hc.
      { assert (forall old, In old (o :: found) -> In (join old now) joined) as Hj.
        { intros old Hold. apply in_map_iff. eauto. }
        intros e He. apply in_app_iff in He. destruct He as [He|[<-|He]].
        - destruct (same now e) eqn:Sa.
          + exists (join e now). split; [|now apply join_old]. rewrite !in_app_iff. left; left. apply Hj, Ho. auto.
          + apply covered_in. rewrite !in_app_iff. left; right. apply filter_In. now rewrite Sa.
        - exists (join o now). split; [|apply join_now, Ho; now left]. rewrite !in_app_iff. left; left. apply Hj. now left.
        - apply covered_in. rewrite !in_app_iff. auto. }
      destruct (IH _ _ _ Q) as (C & N).
      { intros e s He Hs. apply in_app_iff in He. destruct He as [He|He].
        - apply covered_in. rewrite !in_app_iff. right; left. apply in_flat_map. eauto.
        - apply filter_In in He. apply (covered_mono _ _ _ Hc). now apply (St e). }
      split; [|exact N]. intros s Hs. apply C. now apply (covered_mono _ _ _ Hc).
Qed.
(* from one state *)
Theorem explore_closed fuel s r : explore fuel [s] [] = Some r ->
  covered r s /\ forall e s', In e r -> In s' (next e) -> covered r s'.
Proof.
  intros Q. destruct (explored _ _ _ _ Q) as (C & N); [intros e s' []|]. split; [|exact N]. apply C, covered_in. now left.
Qed.
End Worklist.
