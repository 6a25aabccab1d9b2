(* Words of the lines that rdma-judge reads, as numbers, values and labels of the extracted functions. Not proven. *)
open Judged

exception Malformed of string

let malformed format = Printf.ksprintf (fun text -> raise (Malformed text)) format

let number_of most word =
  match int_of_string_opt word with
  | Some n when String.for_all (fun c -> c >= '0' && c <= '9') word && n <= most -> n
  | _ -> malformed "%S is no number from 0 to %d" word most

let nat_of word =
  let rec go acc n = if n = 0 then acc else go (S acc) (n - 1) in
  go O (number_of 1_000_000 word)

let rec int_of = function O -> 0 | S n -> 1 + int_of n
let rec positive n = if n = 1 then XH else if n land 1 = 1 then XI (positive (n / 2)) else XO (positive (n / 2))

(* Decimal digits, of any number, by the proven arithmetic. *)
let z_of word =
  let digit c = if c >= '0' && c <= '9' then Char.code c - 48 else malformed "%S is no integer" word in
  let small n = if n = 0 then Z0 else Zpos (positive n) in
  let negative = String.length word > 1 && word.[0] = '-' in
  let rest = if negative then String.sub word 1 (String.length word - 1) else word in
  if rest = "" then malformed "%S is no integer" word;
  let value = String.fold_left (fun acc c -> Z.add (Z.mul acc (small 10)) (small (digit c))) Z0 rest in
  if negative then Z.opp value else value

let signaled = function "s" -> true | "u" -> false | word -> malformed "%S is neither s nor u" word

(* A label, where what a card reads and writes has no value. *)
let plain_label = function
  | [ "lR"; cell; value ] -> Some (Lr (nat_of cell, z_of value))
  | [ "lW"; cell; value ] -> Some (Lw (nat_of cell, z_of value))
  | [ "CAS"; cell; read; written ] -> Some (Lc (nat_of cell, z_of read, z_of written))
  | [ "P"; queue ] -> Some (Lp (nat_of queue))
  | [ "F" ] -> Some Lmf
  | [ "nF"; queue ] -> Some (Lnf (nat_of queue))
  | [ "nlR"; queue; cell ] -> Some (Lnlr (nat_of queue, nat_of cell))
  | [ "nrR"; queue; cell ] -> Some (Lnrr (nat_of queue, nat_of cell))
  | [ "nrW"; s; queue; cell ] -> Some (Lnrw (signaled s, nat_of queue, nat_of cell))
  | [ "nrW-inline"; s; queue; cell; value ] -> Some (Linl (signaled s, nat_of queue, nat_of cell, z_of value))
  | [ "nlW"; s; queue; cell ] -> Some (Lnlw (signaled s, nat_of queue, nat_of cell))
  | _ -> None

(* The words of a line, among lines by their names. *)
let words_of lines name =
  match List.assoc_opt name lines with
  | Some words -> words
  | None -> malformed "there is no line %s" name

(* What is said of CPUs and the network in documents that know two networks. *)
let network_of lines =
  let net = match words_of lines "order" with
    | [ "default" ] -> Default
    | [ "weaker" ] -> Weaker
    | _ -> malformed "the order is default or weaker" in
  let ordered = match words_of lines "reads" with
    | [ "ordered" ] -> true
    | [ "unordered" ] -> false
    | _ -> malformed "reads are ordered or unordered" in
  of_flags { ordered; net }
