/* What C computes: conversions, widths, signs, bytes and steps of addresses. Each line is another rule. */
#include "two_sides.h"
struct pair { int one, other; };
static long out[21];
static unsigned char narrow(int x) { return x; }
static long widened(signed char c) { return c; }
static int counted(void) { static int calls = 4; return ++calls; }
static struct pair swapped(struct pair given) { int one = given.one; given.one = given.other; given.other = one; return given; }
RR_PROCESS(A) void AT(void)
{
	int many = 300, less = -7;
	long x = 1, whole = 0;
	unsigned char bytes[8] = { 1, 2, 3 }, small = 250;
	int ring[4] = { 1, 2 }, *p = ring + 1;
	struct pair a = { 1, 2 }, b = a;
	_Bool flag = many;
	ibv_reg_mr(NULL, out, sizeof out, 0);
	set_up("A", "B");
	out[0] = (unsigned char)many;
	out[1] = (signed char)(many - 100);
	out[2] = less / 2;
	out[3] = less % 2;
	out[4] = (unsigned)less >> 28;
	less == 0 && (x = 5);
	out[5] = x;
	out[6] = x++ + 10;
	out[7] = x;
	out[8] = *(unsigned short *)(bytes + 1);
	out[9] = (char *)(p + 1) - (char *)ring;
	((char *)&whole)[1] = 1;
	out[10] = whole;
	a.one = 9;
	out[11] = b.one + swapped(a).one;
	out[12] = narrow(many) + widened(many + 100);
	small += 10;
	out[13] = small + flag;
	out[14] = counted() + counted();
	switch (less) {
	case -7:
		x = 30;
	case 5:
		x++;
		break;
	default:
		x = 0;
	}
	out[15] = x;
	x = *p++;
	out[16] = ring[3] + x + (p - ring);
	memset(bytes + 1, 7, 1);
	out[17] = *(int *)bytes;
	out[18] = many < less + 0u ? 1 : many > -1L ? 2 : 3;
	out[20] = ((unsigned char *)&many)[1];
	out[19] = 1.75f * 2 == 3.5 ? (int)-1.5 : 4;
}
RR_PROCESS(B) void BT(void)
{
	set_up("B", "A");
	post(IBV_WR_RDMA_READ, 0, &m.x, &there->x, 8);
}
