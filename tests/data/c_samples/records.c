/* Printed by this program: what is easily read wrong of records. `show` prints a number; the test writes the head. */
struct in { int q; union { int a; struct { char b; long c; }; }; unsigned f : 3, g : 5; signed int h : 4; int : 0; char t[3]; };
struct in one = { 1, { 2 }, .f = 9, .h = -3, .t = "xy" };
struct pair { short x, y; } p[3] = { [1] = { 5, 6 }, { 7 } }, grid[2][2] = { 1, 2, 3, 4, { 5 }, 6, 7 };
int range[8] = { [2 ... 4] = 3, 4, [0] = 8 };
struct outer { struct pair a, b; int z[2]; } o = { .a.y = 4, .b = { 1 }, .z[1] = 9 }, after = { .a.x = 1, 2, 3, 4, 5, 6 };
static struct pair make(int x) { struct pair made = { x, x + 1 }; return made; }
static int sum(struct pair given) { given.x += 10; return given.x + given.y; }
static long deep(struct in *in) { in->c = 77; return in->c + in->b; }
int main(void) {
    show(one.q);
    show(one.a);
    show(one.f);
    show(one.g);
    show(one.h);
    show(one.t[1]);
    show(one.t[2]);
    show(p[0].x + p[1].y * 10 + p[2].x * 100 + p[2].y);
    show(grid[0][1].x * 10 + grid[1][0].x * 100 + grid[1][1].x);
    for (int i = 0; i < 8; i++) show(range[i]);
    show(o.a.x * 1000 + o.a.y * 100 + o.b.x * 10 + o.z[1]);
    show(after.a.y * 1000 + after.b.x * 100 + after.z[1]);
    struct pair m = make(4), n = m; n.x = 1;
    show(m.x * 100 + m.y * 10 + n.x);
    show(sum(m));
    show(m.x);
    show(make(8).y);
    struct in local = one, *to = &local;
    show(deep(to));
    show(to->f = 15);
    show(to->f++);
    show(to->f);
    show(to->h -= 9);
    show(offsetof(struct in, c));
    show(sizeof one);
    show((&o.b)->x); struct pair *k = &(struct pair){ .y = 3 };
    show(k->y);
    show((m.x > 3 ? m : n).y);
    show(((struct pair[]){ { 1, 2 }, { 3, 4 } })[1].y); p[0] = p[1];
    show(p[0].y);
    char text[] = "ab" "c\0d", less[2] = "xyz";
    show(sizeof text);
    show(text[4]);
    show(less[1]);
    show("hello"[4]);
    return 0; }
