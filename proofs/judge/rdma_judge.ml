(* Reads counterexamples and traces from standard input, as lines of words, and lets the extracted functions judge them.
   This file is not proven: what it does is to turn words into the input of `judge`, `judge_deployed` and the decisions of the
   axioms, and their answer into a line. docs/certificates.md describes the lines. *)
open Judged

exception Malformed of string

let malformed format = Printf.ksprintf (fun text -> raise (Malformed text)) format

let digits = String.for_all (fun c -> c >= '0' && c <= '9')

let nat_of word =
  match int_of_string_opt word with
  | Some n when digits word && n <= 1_000_000 -> let rec go acc n = if n = 0 then acc else go (S acc) (n - 1) in go O n
  | _ -> malformed "%S is no number from 0 to 1000000" word

let rec int_of = function O -> 0 | S n -> 1 + int_of n

(* Decimal digits, of any number, by the proven arithmetic. *)
let z_of word =
  let digit c = if c >= '0' && c <= '9' then Char.code c - 48 else malformed "%S is no integer" word in
  let rec positive n = if n = 1 then XH else if n land 1 = 1 then XI (positive (n / 2)) else XO (positive (n / 2)) in
  let small n = if n = 0 then Z0 else Zpos (positive n) in
  let negative = String.length word > 1 && word.[0] = '-' in
  let rest = if negative then String.sub word 1 (String.length word - 1) else word in
  if rest = "" then malformed "%S is no integer" word;
  let value = String.fold_left (fun acc c -> Z.add (Z.mul acc (small 10)) (small (digit c))) Z0 rest in
  if negative then Z.opp value else value

let signaled = function "s" -> true | "u" -> false | word -> malformed "%S is neither s nor u" word

(* An event: its part, its label, and for the NIC the value that it reads or writes. *)
let item_of words =
  let part, rest = match words with
    | "a" :: rest -> false, rest
    | "b" :: rest -> true, rest
    | _ -> malformed "an event begins with its part, a or b" in
  let of_cpu lab = { lab; late = part; carried = Z0 } and of_nic lab value = { lab; late = part; carried = z_of value } in
  match rest with
  | [ "lR"; cell; value ] -> of_cpu (Lr (nat_of cell, z_of value))
  | [ "lW"; cell; value ] -> of_cpu (Lw (nat_of cell, z_of value))
  | [ "CAS"; cell; read; written ] -> of_cpu (Lc (nat_of cell, z_of read, z_of written))
  | [ "P"; queue ] -> of_cpu (Lp (nat_of queue))
  | [ "nF"; queue ] -> of_cpu (Lnf (nat_of queue))
  | [ "F" ] -> of_cpu Lmf
  | [ "nrW-inline"; s; queue; cell; value ] -> of_cpu (Linl (signaled s, nat_of queue, nat_of cell, z_of value))
  | [ "nlR"; queue; cell; value ] -> of_nic (Lnlr (nat_of queue, nat_of cell)) value
  | [ "nrR"; queue; cell; value ] -> of_nic (Lnrr (nat_of queue, nat_of cell)) value
  | [ "nrW"; s; queue; cell; value ] -> of_nic (Lnrw (signaled s, nat_of queue, nat_of cell)) value
  | [ "nlW"; s; queue; cell; value ] -> of_nic (Lnlw (signaled s, nat_of queue, nat_of cell)) value
  | _ -> malformed "no event is written like this: %s" (String.concat " " rest)

(* An event of hardware as deployed *)
let rec label_of words =
  let plain label = Plain label in
  let operation = function
    | [ "cas"; a; b ] -> CompareSwap (z_of a, z_of b)
    | [ "faa"; d ] -> FetchAdd (z_of d, None)
    | [ "faa"; d; low; high ] -> FetchAdd (z_of d, Some (z_of low, z_of high))
    | [ "swap"; v ] -> Exchange (z_of v)
    | rest -> malformed "no operation is written like this: %s" (String.concat " " rest) in
  match words with
  | [ "lR"; cell; value ] -> plain (Lr (nat_of cell, z_of value))
  | [ "lW"; cell; value ] -> plain (Lw (nat_of cell, z_of value))
  | [ "CAS"; cell; read; written ] -> plain (Lc (nat_of cell, z_of read, z_of written))
  | [ "P"; queue ] -> plain (Lp (nat_of queue))
  | [ "F" ] -> plain Lmf
  | [ "nF"; queue ] -> plain (Lnf (nat_of queue))
  | [ "nlR"; queue; cell ] -> plain (Lnlr (nat_of queue, nat_of cell))
  | [ "nrR"; queue; cell ] -> plain (Lnrr (nat_of queue, nat_of cell))
  | [ "nrW"; s; queue; cell ] -> plain (Lnrw (signaled s, nat_of queue, nat_of cell))
  | [ "nrW-inline"; s; queue; cell; value ] -> plain (Linl (signaled s, nat_of queue, nat_of cell, z_of value))
  | [ "nlW"; s; queue; cell ] -> plain (Lnlw (signaled s, nat_of queue, nat_of cell))
  | "naR" :: queue :: cell :: rest -> Lnar (nat_of queue, nat_of cell, operation rest)
  | [ "naW"; queue; cell ] -> Lnaw (nat_of queue, nat_of cell)
  | "nA" :: queue :: cell :: rest -> Lna (nat_of queue, nat_of cell, operation rest)
  | [ "put"; queue; cell ] -> Lput (nat_of queue, nat_of cell, Fetched)
  | [ "put-inline"; queue; cell; value ] -> Lput (nat_of queue, nat_of cell, Said (z_of value))
  | [ "send"; s; queue; thread; cell ] -> Lsend (signaled s, nat_of queue, nat_of thread, nat_of cell, Fetched)
  | [ "send-inline"; s; queue; thread; cell; value ] ->
    Lsend (signaled s, nat_of queue, nat_of thread, nat_of cell, Said (z_of value))
  | [ "imm"; s; queue; thread; value ] -> Limm (signaled s, nat_of queue, nat_of thread, z_of value)
  | [ "V"; thread; cell ] -> Lrecv (nat_of thread, nat_of cell)
  | [ "RP"; thread; value ] -> Lrp (nat_of thread, z_of value)
  | "joined" :: rest ->
    (match label_of rest with Plain label -> Joined label | _ -> malformed "only events of a CPU are joined")
  | _ -> malformed "no event is written like this: %s" (String.concat " " words)

let place_of word =
  match String.split_on_char '.' word with
  | [ thread; place ] -> nat_of thread, nat_of place
  | _ -> malformed "%S is no event: THREAD.PLACE" word

(* An event, or the initial write of a cell: i3 *)
let event_of word =
  if word.[0] = 'i' then Initial (nat_of (String.sub word 1 (String.length word - 1)))
  else let thread, place = place_of word in At (thread, place)

let rec sources_of = function
  | [] -> []
  | write :: read :: rest -> (event_of write, event_of read) :: sources_of rest
  | [ word ] -> malformed "%s is no pair" word

let rec edges_of = function
  | [] -> []
  | event :: kind :: rest ->
    let kind = match kind with
      | "po" -> Po | "rf" -> Rf | "rb" -> Rb | "mo" -> Mo
      | _ -> malformed "%S is no edge" kind in
    (nat_of event, kind) :: edges_of rest
  | [ event ] -> malformed "event %s of the cycle has no edge" event

(* A document: the line that says what it is, one line for each of its parts, `thread` and its events repeated; `end`. *)
type 'event document = { mutable lines : (string * string list) list; mutable made : 'event list list }

let line_of document name =
  match List.assoc_opt name document.lines with
  | Some words -> words
  | None -> malformed "there is no line %s" name

let hardware_of document =
  let net = match line_of document "order" with
    | [ "default" ] -> Default
    | [ "weaker" ] -> Weaker
    | _ -> malformed "the order is default or weaker" in
  let ordered = match line_of document "reads" with
    | [ "ordered" ] -> true
    | [ "unordered" ] -> false
    | _ -> malformed "reads are ordered or unordered" in
  of_flags { ordered; net }

let threads_of document = List.rev_map List.rev document.made
let cells_of document = List.map z_of (line_of document "cells")

let why = function
  | Shape t ->
    Printf.sprintf "thread %d is no sequence of reads, writes, puts, gets, polls and fences on these cells" (int_of t)
  | Next (t, n) -> Printf.sprintf "event %d.%d is not the next of its thread in its part" (int_of t) (int_of n)
  | Missing -> "alpha and the pivot, or beta, leave out an event of their part"
  | Value (t, n) ->
    Printf.sprintf "event %d.%d reads another value than memory holds, or writes another than was read" (int_of t) (int_of n)
  | Rule (r, t, n) -> Printf.sprintf "event %d.%d must be in beta by rule R%d" (int_of t) (int_of n) (int_of r)
  | Edge n -> Printf.sprintf "edge %d of the cycle is none" (int_of n)
  | No_cycle -> "there is no cycle"

let judged document =
  let pivot = match line_of document "pivot" with [ word ] -> place_of word | _ -> malformed "there is one pivot" in
  let input = {
    initial = cells_of document; threads = threads_of document; alpha = List.map place_of (line_of document "alpha"); pivot;
    beta = List.map place_of (line_of document "beta"); cycle = edges_of (line_of document "cycle") } in
  match judge (hardware_of document) input with
  | Violating -> true, "violating"
  | Refused fault -> false, "refused: " ^ why fault

(* Hardware as deployed *)
let platform_of document =
  let choose name choices =
    match line_of document name with
    | [ word ] when List.mem_assoc word choices -> List.assoc word choices
    | _ -> malformed "the line %s is one of: %s" name (String.concat ", " (List.map fst choices)) in
  { cpus = choose "cpu" [ "sc", Sequential; "tso", Buffered ];
    cards = choose "atomics" [ "hca", Hca; "glob", Glob ];
    routes = choose "order" [ "default", Usual; "multipath", Multipath; "relaxed", Relaxed ];
    reads_ordered = choose "reads" [ "unordered", false; "ordered", true ] }

let buffers_of document =
  List.filter_map (fun (name, words) -> match name, words with
    | "posted", thread :: sender :: cells -> Some ((nat_of thread, nat_of sender), List.map nat_of cells)
    | "posted", _ -> malformed "a line posted names a thread, a sender, and buffers"
    | _ -> None) document.lines

(* mo, nfo and rao have the order `events`, but where they have a line of their own. *)
let account_of document =
  let order name = List.map event_of (line_of document (if List.mem_assoc name document.lines then name else "events")) in
  { first_values = cells_of document; first_buffers = buffers_of document; work = threads_of document;
    sources = sources_of (line_of document "rf"); mo_order = order "mo"; nfo_order = order "nfo"; rao_order = order "rao" }

let why_not = function
  | Impossible (t, n) ->
    Printf.sprintf "event %d.%d cannot stand there: no operation goes on so, or there is no completion, buffer or message" (int_of t)
      (int_of n)
  | Sources -> "a read has not one source, a write of its cell"
  | Orders -> "an order does not order all events"
  | Misread (t, n) ->
    Printf.sprintf "event %d.%d reads another value than its source has written, or its operation goes on in another way" (int_of t)
      (int_of n)
  | Forbidden -> "ib or ob has a cycle"
  | Sequential_too -> "sc has no cycle"

let judged_deployed document =
  match judge_deployed (platform_of document) (account_of document) with
  | None -> true, "violating"
  | Some objection -> false, "refused: " ^ why_not objection

let decided_deployed document =
  let hardware = platform_of document and trace = trace_of_account (account_of document) in
  let word b = if b then "yes" else "no" in
  let rdma = decide_deployed hardware trace and sc = decide_sequential trace in
  rdma && not sc, Printf.sprintf "rdma %s, sc %s" (word rdma) (word sc)

let usual_parts = [ "order"; "reads"; "cells" ]
let judge_parts = usual_parts @ [ "alpha"; "pivot"; "beta"; "cycle" ]
let deployed_parts = usual_parts @ [ "cpu"; "atomics"; "posted"; "rf"; "events"; "mo"; "nfo"; "rao" ]

let number = ref 0
let next_words () =
  incr number;
  List.filter (fun word -> word <> "") (String.split_on_char ' ' (String.trim (input_line stdin)))

(* The lines up to `end`; what is no part of the document is an event. *)
let read parts event =
  let document = { lines = []; made = [] } in
  let rec go () =
    match (try next_words () with End_of_file -> malformed "a document ends with the line `end`") with
    | [ "end" ] -> document
    | [] -> go ()
    | "thread" :: [] -> document.made <- [] :: document.made; go ()
    | name :: words when List.mem name parts ->
      if name <> "posted" && List.mem_assoc name document.lines then malformed "the line %S stands there twice" name;
      document.lines <- (name, words) :: document.lines; go ()
    | words ->
      let made = event words in
      (match document.made with
       | [] -> malformed "an event stands before the first thread"
       | mine :: others -> document.made <- (made :: mine) :: others; go ()) in
  go ()

(* A program, which has a reader of its own. *)
let searched answer =
  let next () = try next_words () with End_of_file -> malformed "a document ends with the line `end`" in
  try Rdma_search.read answer next with Rdma_search.Malformed text -> raise (Malformed text)

(* Answers a line for each document; whether all counterexamples are violating and all programs robust. *)
let rec answer count all =
  match (try Some (next_words ()) with End_of_file -> None) with
  | None -> if count = 0 then malformed "there is no document" else all
  | Some [] -> answer count all
  | Some words ->
    let yes, text = match words with
      | [ "judge"; "1" ] -> judged (read judge_parts item_of)
      | [ "judge"; "2" ] -> judged_deployed (read deployed_parts label_of)
      | [ "trace"; "2" ] -> decided_deployed (read deployed_parts label_of)
      | [ "program"; "1" ] -> searched Rdma_search.decided
      | [ "survey"; "1" ] -> searched Rdma_search.surveyed
      | _ -> malformed "a document begins with `judge 1`, `judge 2`, `trace 2` or `program 1`" in
    print_endline text;
    answer (count + 1) (all && yes)

let () =
  match answer 0 true with
  | all -> exit (if all then 0 else 1)
  | exception Malformed text -> Printf.eprintf "rdma-judge: line %d: %s\n" !number text; exit 2
  | exception Stack_overflow -> Printf.eprintf "rdma-judge: line %d: the document is too long\n" !number; exit 2
