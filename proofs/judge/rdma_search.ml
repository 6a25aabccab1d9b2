(* Reads programs, as lines of words, and lets the extracted search (proofs/search/Explored.v) decide them.
   This file is not proven: it turns words into the input of `decide`, and its answer into a line. Nothing depends on
   `hash`, which only says where a state is looked for. docs/certificates.md describes the lines. *)
open Judged
open Rdma_words

(* A point of a thread; from 0, as all numbers in a document. *)
let point_of word = positive (1 + number_of 100_000_000 word)

let int_of_n = function N0 -> 0 | Npos p -> let rec go = function XH -> 1 | XO p -> 2 * go p | XI p -> 2 * go p + 1 in go p

let hardware_of lines =
  let buffers = match words_of lines "cpu" with
    | [ "sc" ] -> false
    | [ "tso" ] -> true
    | _ -> malformed "the cpu is sc or tso" in
  with_buffers buffers (network_of lines)

let label_of words =
  match plain_label words with
  | Some label -> label
  | None -> malformed "no edge is written like this: %s" (String.concat " " words)

(* A thread: where it starts, and its edges. *)
let thread_of (start, edges) =
  let add map = function
    | from :: target :: label ->
      let from = point_of from in
      let others = Option.value (PositiveMap.find from map) ~default:[] in
      PositiveMap.add from ((label_of label, point_of target) :: others) map
    | _ -> malformed "an edge has two points and a label" in
  { start_point = start; leading = List.fold_left add PositiveMap.empty edges }

let hash state = positive (1 + Hashtbl.hash_param 500 500 state)

let number lines name = match words_of lines name with [ word ] -> word | _ -> malformed "%s is one number" name

let counters_of lines =
  match nat_of (number lines "counters") with O -> malformed "counters stop at 1 or later" | counters -> counters

(* [threads] has the newest first, and so have their edges. *)
let program_of lines threads =
  { at_first = List.map z_of (words_of lines "cells"); parts = List.rev_map thread_of threads }

(* Whether the program is robust, and the line that says so. *)
let decided lines threads =
  let counters = counters_of lines and states = number lines "states" in
  match decide (hardware_of lines) counters (nat_of states) hash (program_of lines threads) with
  | Robust states -> true, Printf.sprintf "robust: %d states" (int_of_n states)
  | Not_robust -> false, "not robust"
  | Unclear -> false, "unclear: more completions than are counted may matter"
  | Too_many -> false, "unclear: more than " ^ states ^ " states"
  | Not_formed -> false, "refused: a thread makes no reads, writes, puts, gets, polls and fences, or names other cells"

module States = Hashtbl.Make (struct
    type t = data
    let equal = data_eqb
    let hash = Hashtbl.hash_param 500 500
  end)

(* For tests: all states of the search, and the classes of which one reports. The steps are proven, the loop is not. *)
let surveyed lines threads =
  let hardware = hardware_of lines and most = counters_of lines and states = number_of 1_000_000 (number lines "states") in
  let shape = shape_of (program_of lines threads) in
  let seen = States.create 1000 and found = ref [] in
  let rec visit = function
    | [] -> true
    | _ when States.length seen > states -> false
    | state :: others when States.mem seen state -> visit others
    | state :: others ->
      States.add seen state ();
      (match state.d_cls with
       | Some c when reporting hardware shape state -> found := (int_of c.cthr, int_of c.ccell, c.cwr) :: !found
       | _ -> ());
      visit (List.rev_append (successors hardware most shape state) others) in
  let word (thread, cell, writes) = Printf.sprintf "%d.%d.%s" thread cell (if writes then "w" else "r") in
  if visit [ the_start shape ]
  then true, String.concat " " (string_of_int (States.length seen) :: List.map word (List.sort_uniq compare !found))
  else false, Printf.sprintf "unclear: more than %d states" states

let parts = [ "cpu"; "order"; "reads"; "cells"; "counters"; "states" ]

(* What [answer] says of the lines up to `end`, after the one that says what the document is. *)
let read answer next_words =
  let rec go lines threads =
    match next_words () with
    | [ "end" ] -> answer lines threads
    | [] -> go lines threads
    | [ "thread"; start ] -> go lines ((point_of start, []) :: threads)
    | "e" :: edge ->
      (match threads with
       | [] -> malformed "an edge stands before the first thread"
       | (start, edges) :: others -> go lines ((start, edge :: edges) :: others))
    | name :: words when List.mem name parts && not (List.mem_assoc name lines) -> go ((name, words) :: lines) threads
    | name :: _ -> malformed "%S is no line of this document, or stands there twice" name in
  go [] []
