/* Printed by this program: what is easily read wrong of pointers. `show` prints a number; the test writes the head. */
int numbers[6] = { 1, 2, 3, 4, 5, 6 }; int *at = &numbers[2]; int (*row)[3] = (int (*)[3])numbers; static int count(int a, int b) { return a * b; }
int (*call)(int, int) = count; int (*table[2])(int, int) = { count, &count }; const char *words[] = { "one", "two" };
static long total(char *argv[], int n) { long t = 0; for (; n-- > 0; argv++) t += argv[0][1]; return t; }
static int vla(int n) { int a[n]; for (int i = 0; i < n; i++) a[i] = i * i; return a[n - 1] + (int)sizeof(int); }
struct node { struct node *next; int v; } nodes[3] = { { &nodes[1], 1 }, { &nodes[2], 2 }, { 0, 4 } };
int main(void) {
    show(*at);
    show(at[-1]);
    show(*(at + 2));
    show(2[numbers]);
    show(&numbers[5] - at);
    show(at > numbers);
    show((*row)[1]);
    show(row[1][2]);
    show(call(3, 4));
    show((*call)(5, 6));
    show(table[1](7, 8));
    show(words[1][2]);
    show(total((char **)words, 2));
    show(vla(5));
    int s = 0; for (struct node *n = nodes; n; n = n->next) s += n->v;
    show(s); at++;
    show(*at--);
    show(*at); at += 2;
    show(*at);
    show(at == &numbers[4]);
    void *any = numbers;
    show(((int *)any)[1]);
    show((char *)&numbers[1] - (char *)any);
    show(*(short *)((char *)numbers + 4)); int **two = &at; **two = 50;
    show(numbers[4]);
    int x = 3, *px = &x; *px += 4;
    show(x);
    show(!at);
    show(at && x); uintptr_t raw = (uintptr_t)at;
    show(*(int *)(raw - 4)); any = 0;
    show(any == NULL);
    show(any ? 1 : 2);
    return 0; }
