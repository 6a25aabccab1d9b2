(* Reads programs, as lines of words, and lets the extracted search (proofs/search/Explored.v) decide them.
   This file is not proven: it turns words into the input of `decide`, and its answer into a line. Nothing depends on
   `hash`, which only says where a state is looked for. docs/certificates.md describes the lines. *)
open Searched

exception Malformed of string

let malformed format = Printf.ksprintf (fun text -> raise (Malformed text)) format

let int_of word =
  match int_of_string_opt word with
  | Some n when String.for_all (fun c -> c >= '0' && c <= '9') word && n <= 100_000_000 -> n
  | _ -> malformed "%S is no number from 0 to 100000000" word

let nat_of word =
  let rec go acc n = if n = 0 then acc else go (S acc) (n - 1) in
  go O (int_of word)

let rec positive n = if n = 1 then XH else if n land 1 = 1 then XI (positive (n / 2)) else XO (positive (n / 2))

(* A point of a thread; from 0, as all numbers in a document. *)
let point_of word = positive (int_of word + 1)

let rec int_of_positive = function XH -> 1 | XO p -> 2 * int_of_positive p | XI p -> 2 * int_of_positive p + 1
let rec int_of_nat = function O -> 0 | S n -> 1 + int_of_nat n
let int_of_n = function N0 -> 0 | Npos p -> int_of_positive p

(* Decimal digits, of any number, by the arithmetic of Coq. *)
let z_of word =
  let small n = if n = 0 then Z0 else Zpos (positive n) in
  let digit c = if c >= '0' && c <= '9' then small (Char.code c - 48) else malformed "%S is no integer" word in
  let negative = String.length word > 1 && word.[0] = '-' in
  let digits = if negative then String.sub word 1 (String.length word - 1) else word in
  if digits = "" then malformed "%S is no integer" word;
  let value = String.fold_left (fun acc c -> Z.add (Z.mul acc (small 10)) (digit c)) Z0 digits in
  if negative then Z.opp value else value

let signaled = function "s" -> true | "u" -> false | word -> malformed "%S is neither s nor u" word

let label_of = function
  | [ "lR"; cell; value ] -> Lr (nat_of cell, z_of value)
  | [ "lW"; cell; value ] -> Lw (nat_of cell, z_of value)
  | [ "CAS"; cell; read; written ] -> Lc (nat_of cell, z_of read, z_of written)
  | [ "P"; queue ] -> Lp (nat_of queue)
  | [ "nF"; queue ] -> Lnf (nat_of queue)
  | [ "F" ] -> Lmf
  | [ "nrW-inline"; s; queue; cell; value ] -> Linl (signaled s, nat_of queue, nat_of cell, z_of value)
  | [ "nlR"; queue; cell ] -> Lnlr (nat_of queue, nat_of cell)
  | [ "nrR"; queue; cell ] -> Lnrr (nat_of queue, nat_of cell)
  | [ "nrW"; s; queue; cell ] -> Lnrw (signaled s, nat_of queue, nat_of cell)
  | [ "nlW"; s; queue; cell ] -> Lnlw (signaled s, nat_of queue, nat_of cell)
  | words -> malformed "no edge is written like this: %s" (String.concat " " words)

let line_of lines name =
  match List.assoc_opt name lines with
  | Some words -> words
  | None -> malformed "there is no line %s" name

let hardware_of lines =
  let net = match line_of lines "order" with
    | [ "default" ] -> Default
    | [ "weaker" ] -> Weaker
    | _ -> malformed "the order is default or weaker" in
  let ordered = match line_of lines "reads" with
    | [ "ordered" ] -> true
    | [ "unordered" ] -> false
    | _ -> malformed "reads are ordered or unordered" in
  let buffers = match line_of lines "cpu" with
    | [ "sc" ] -> false
    | [ "tso" ] -> true
    | _ -> malformed "the cpu is sc or tso" in
  cpus buffers (of_flags { ordered; net })

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

let number lines name = match line_of lines name with [ word ] -> word | _ -> malformed "%s is one number" name

let counters_of lines =
  match nat_of (number lines "counters") with O -> malformed "counters stop at 1 or later" | counters -> counters

(* [threads] has the newest first, and so have their edges. *)
let program_of lines threads =
  { first_values = List.map z_of (line_of lines "cells"); parts = List.rev_map thread_of threads }

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
  let hardware = hardware_of lines and most = counters_of lines and states = int_of (number lines "states") in
  let shape = shape_of (program_of lines threads) in
  let seen = States.create 1000 and found = ref [] in
  let rec visit = function
    | [] -> true
    | _ when States.length seen > states -> false
    | state :: others when States.mem seen state -> visit others
    | state :: others ->
      States.add seen state ();
      (match state.d_cls with
       | Some c when reporting hardware shape state -> found := (int_of_nat c.cthr, int_of_nat c.ccell, c.cwr) :: !found
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
