/* Printed by this program: what is easily read wrong of control. `show` prints a number; the test writes the head. */
static int turn(int v) { switch (v) { int r; case 0: case 1: return 10; case 2: r = 5; v = r; case 3: v++; break; case 5 ... 7: return 57; case -1: return 99; default: return -1; } return v; }
static int jump(int n) { int s = 0; again: s += n; if (--n > 0) goto again; { int z = 4; if (s > 100) goto out; s += z; } out: return s; }
static unsigned cases(unsigned u) { switch (u) { case 4294967295u: return 1; case 0x80000000: return 2; } return 3; }
static int first(void) { static int calls = 5; return calls++; }
int main(void) {
    for (int i = -2; i < 9; i++) show(turn(i));
    show(jump(4));
    show(jump(30));
    show(cases(-1));
    show(cases(1u << 31));
    show(cases(3)); first();
    show(first());
    int n = 0, k; for (;;) { if (n++ > 5) break; if (n == 2) continue;
    show(n); } for (k = 3; k; ) k--;
    show(k); do { k += 2; if (k == 4) continue; } while (k < 7);
    show(k);
    for (int i = 0, j = 9; i < j; i++, j -= 2) show(i * 10 + j); while (k-- > 5 && n) ;
    show(k);
    show(({ int t = k; t + 1; }));
    show((k++, k * 2)); if (!(k > 3 || n < 2) && k) show(1); else show(2);
    show(k > 2 ? n > 3 ? 5 : 6 : 7);
    show(k && n || 0);
    show(0 || !k); int c = k > 0 && (n = 42);
    show(c + n);
    #define EACH(i, n) for (i = 0; i < n; i++)
    #define FOREVER for (;;)
    EACH(k, 3) show(k); FOREVER { if (k++ > 4) break; } show(k); const char *f = __func__;
    show(f[0]);
    show(_Generic(k, long: 1, int: 2, default: 3));
    return 0; }
