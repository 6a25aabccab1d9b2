int i = 1, j = 1;
proctype A() { int a, b; byte k; do :: k < 5 -> a = i; b = j; i = a + b; k++ :: else -> break od }
proctype B() { int a, b; byte k; do :: k < 5 -> a = j; b = i; j = a + b; k++ :: else -> break od }
active proctype Watch() { assert(i <= 377 && j <= 377) }
init { atomic { run A(); run B() } }
