(* Reads programs, as lines of words, and lets the extracted search (proofs/search/Explored.v) decide them.
   This file is not proven: it turns words into the input of `decide`, and its answer into a line. Nothing depends on
   `hash`, which only says where a state is looked for. docs/certificates.md describes the lines. *)
open Searched

exception Malformed of string

let malformed format = Printf.ksprintf (fun text -> raise (Malformed text)) format

let int_of word =
  match int_of_string_opt word with
  | Some n when n >= 0 && n <= 100_000_000 -> n
  | _ -> malformed "%S is no number from 0 to 100000000" word

let nat_of word =
  let rec go acc n = if n = 0 then acc else go (S acc) (n - 1) in
  go O (int_of word)

let rec positive n = if n = 1 then XH else if n land 1 = 1 then XI (positive (n / 2)) else XO (positive (n / 2))

(* A point of a thread; from 0, as all numbers in a document. *)
let point_of word = positive (int_of word + 1)

let rec int_of_positive = function XH -> 1 | XO p -> 2 * int_of_positive p | XI p -> 2 * int_of_positive p + 1
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
  of_flags { ordered; net }

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

let number lines name = match line_of lines name with [ word ] -> nat_of word | _ -> malformed "%s is one number" name

(* Whether the program is robust, and the line that says so. [threads] has the newest first, and so have their edges. *)
let answer lines threads =
  let program = {
    first_values = List.map z_of (line_of lines "cells"); parts = List.rev_map thread_of threads } in
  match decide (hardware_of lines) (number lines "counters") (number lines "states") hash program with
  | Robust states -> true, Printf.sprintf "robust: %d states" (int_of_n states)
  | Not_robust -> false, "not robust"
  | Unclear -> false, "unclear: there may be a violation with more completions than are counted"
  | Too_many -> false, "unclear: there are too many states"
  | Not_formed -> false, "refused: the threads are no sequences of reads, writes, puts, gets, polls and fences on these cells"

let parts = [ "order"; "reads"; "cells"; "counters"; "states" ]

(* The lines up to `end`, after the one that says what the document is. *)
let read next_words =
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
