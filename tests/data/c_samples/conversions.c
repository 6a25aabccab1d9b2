/* Printed by this program: what is easily read wrong of conversions. `show` prints a number; the test writes the head. */
signed char s = -3; unsigned char u = 250; unsigned short h = 65535; _Bool b = 7; float f = 1.5f; double d = 2.75;
enum colour { red = 3, green, blue = -1 } c = green;
int main(void) {
    show(s + u);
    show((unsigned char)(u + 10));
    show(h * h < 0);
    show(b);
    show((int)(f * d * 100));
    show(c);
    show(blue);
    u += 300;
    show(u); s <<= 5;
    show(s); h++;
    show(h); b++;
    show(b); b--;
    show(b);
    show(-1 < 1u);
    show(-1L < 1u);
    show((char)200);
    show(~0u >> 28);
    show(-17 / 5);
    show(-17 % 5);
    show(1ull << 40);
    show((long)-1.9);
    show('\xff');
    f += 1;
    show((long)(f * 10)); int i = 7; i /= 2.0;
    show(i); i *= 1.5;
    show(i); unsigned w = 3; w -= 5;
    show(w > 100);
    show(!f);
    show(!!d);
    show((int8_t)0x80 >> 3);
    show(sizeof(long double) > 8);
    show(s ? s : 4);
    show(u ?: 9);
    return 0; }
