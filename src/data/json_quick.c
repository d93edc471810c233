#include "data/json_quick.h"

#include <float.h>
#include <string.h>

__extension__ typedef unsigned __int128 wide;

enum {
	MANTISSA_BITS = 53,
	EXPONENT_BIAS = DBL_MAX_EXP - 1 + MANTISSA_BITS - 1,
	EXPONENT_FIELD_MAX = 2 * DBL_MAX_EXP - 1,
};

#define HIDDEN_BIT (UINT64_C(1) << (MANTISSA_BITS - 1))

/* ---- powers of ten --------------------------------------------------------- */

enum {
	POWER_STEP = 27, /* 5^27 is the last power of five below 2^63 */
	POWER_FIRST = -13 * POWER_STEP,
	POWER_MIN = -326, /* 19 digits times less are below all normal doubles */
	POWER_MAX = 326,
};

#define FIVE_9 UINT64_C(1953125)
#define FIVE_18 (FIVE_9 * FIVE_9)
#define FIVES(base)                                                                             \
	base, base * 5, base * 25, base * 125, base * 625, base * 3125, base * 15625, base * 78125, \
		base * 390625

static const uint64_t quick_fives[POWER_STEP] = { FIVES(UINT64_C(1)), FIVES(FIVE_9),
	FIVES(FIVE_18) };

/* The first 128 bits of 5^-351, 5^-324, … 5^324. */
static const uint64_t quick_steps[][2] = {
	{ 0x8049a4ac0c5811ae, 0x205b896d777d6278 },
	{ 0xcf42894a5dce35ea, 0x52064cac828675b9 },
	{ 0xa76c582338ed2621, 0xaf2af2b80af6f24e },
	{ 0x873e4f75e2224e68, 0x5a7744a6e804a291 },
	{ 0xda7f5bf590966848, 0xaf39a475506a899e },
	{ 0xb080392cc4349dec, 0xbd8d794d96aacfb3 },
	{ 0x8e938662882af53e, 0x547eb47b7282ee9c },
	{ 0xe65829b3046b0afa, 0x0cb4a5a3112a5112 },
	{ 0xba121a4650e4ddeb, 0x92f34d62616ce413 },
	{ 0x964e858c91ba2655, 0x3a6a07f8d510f86f },
	{ 0xf2d56790ab41c2a2, 0xfae27299423fb9c3 },
	{ 0xc428d05aa4751e4c, 0xaa97e14c3c26b886 },
	{ 0x9e74d1b791e07e48, 0x775ea264cf55347d },
	{ 0x8000000000000000, 0x0000000000000000 },
	{ 0xcecb8f27f4200f3a, 0x0000000000000000 },
	{ 0xa70c3c40a64e6c51, 0x999090b65f67d924 },
	{ 0x86f0ac99b4e8dafd, 0x69a028bb3ded71a3 },
	{ 0xda01ee641a708de9, 0xe80e6f4820cc9495 },
	{ 0xb01ae745b101e9e4, 0x5ec05dcff72e7f8f },
	{ 0x8e41ade9fbebc27d, 0x14588f13be847307 },
	{ 0xe5d3ef282a242e81, 0x8f1668c8a86da5fa },
	{ 0xb9a74a0637ce2ee1, 0x6d953e2bd7173692 },
	{ 0x95f83d0a1fb69cd9, 0x4abdaf101564f98e },
	{ 0xf24a01a73cf2dccf, 0xbc633b39673c8cec },
	{ 0xc3b8358109e84f07, 0x0a862f80ec4700c8 },
	{ 0x9e19db92b4e31ba9, 0x6c07a2c26a8346d1 },
};

/* Of 5^-27 to 5^27, which nearly all numbers need. */
static const uint64_t quick_near[][2] = {
	{ 0x9e74d1b791e07e48, 0x775ea264cf55347d },
	{ 0xc612062576589dda, 0x95364afe032a819d },
	{ 0xf79687aed3eec551, 0x3a83ddbd83f52204 },
	{ 0x9abe14cd44753b52, 0xc4926a9672793542 },
	{ 0xc16d9a0095928a27, 0x75b7053c0f178293 },
	{ 0xf1c90080baf72cb1, 0x5324c68b12dd6338 },
	{ 0x971da05074da7bee, 0xd3f6fc16ebca5e03 },
	{ 0xbce5086492111aea, 0x88f4bb1ca6bcf584 },
	{ 0xec1e4a7db69561a5, 0x2b31e9e3d06c32e5 },
	{ 0x9392ee8e921d5d07, 0x3aff322e62439fcf },
	{ 0xb877aa3236a4b449, 0x09befeb9fad487c2 },
	{ 0xe69594bec44de15b, 0x4c2ebe687989a9b3 },
	{ 0x901d7cf73ab0acd9, 0x0f9d37014bf60a10 },
	{ 0xb424dc35095cd80f, 0x538484c19ef38c94 },
	{ 0xe12e13424bb40e13, 0x2865a5f206b06fb9 },
	{ 0x8cbccc096f5088cb, 0xf93f87b7442e45d3 },
	{ 0xafebff0bcb24aafe, 0xf78f69a51539d748 },
	{ 0xdbe6fecebdedd5be, 0xb573440e5a884d1b },
	{ 0x89705f4136b4a597, 0x31680a88f8953030 },
	{ 0xabcc77118461cefc, 0xfdc20d2b36ba7c3d },
	{ 0xd6bf94d5e57a42bc, 0x3d32907604691b4c },
	{ 0x8637bd05af6c69b5, 0xa63f9a49c2c1b10f },
	{ 0xa7c5ac471b478423, 0x0fcf80dc33721d53 },
	{ 0xd1b71758e219652b, 0xd3c36113404ea4a8 },
	{ 0x83126e978d4fdf3b, 0x645a1cac083126e9 },
	{ 0xa3d70a3d70a3d70a, 0x3d70a3d70a3d70a3 },
	{ 0xcccccccccccccccc, 0xcccccccccccccccc },
	{ 0x8000000000000000, 0x0000000000000000 },
	{ 0xa000000000000000, 0x0000000000000000 },
	{ 0xc800000000000000, 0x0000000000000000 },
	{ 0xfa00000000000000, 0x0000000000000000 },
	{ 0x9c40000000000000, 0x0000000000000000 },
	{ 0xc350000000000000, 0x0000000000000000 },
	{ 0xf424000000000000, 0x0000000000000000 },
	{ 0x9896800000000000, 0x0000000000000000 },
	{ 0xbebc200000000000, 0x0000000000000000 },
	{ 0xee6b280000000000, 0x0000000000000000 },
	{ 0x9502f90000000000, 0x0000000000000000 },
	{ 0xba43b74000000000, 0x0000000000000000 },
	{ 0xe8d4a51000000000, 0x0000000000000000 },
	{ 0x9184e72a00000000, 0x0000000000000000 },
	{ 0xb5e620f480000000, 0x0000000000000000 },
	{ 0xe35fa931a0000000, 0x0000000000000000 },
	{ 0x8e1bc9bf04000000, 0x0000000000000000 },
	{ 0xb1a2bc2ec5000000, 0x0000000000000000 },
	{ 0xde0b6b3a76400000, 0x0000000000000000 },
	{ 0x8ac7230489e80000, 0x0000000000000000 },
	{ 0xad78ebc5ac620000, 0x0000000000000000 },
	{ 0xd8d726b7177a8000, 0x0000000000000000 },
	{ 0x878678326eac9000, 0x0000000000000000 },
	{ 0xa968163f0a57b400, 0x0000000000000000 },
	{ 0xd3c21bcecceda100, 0x0000000000000000 },
	{ 0x84595161401484a0, 0x0000000000000000 },
	{ 0xa56fa5b99019a5c8, 0x0000000000000000 },
	{ 0xcecb8f27f4200f3a, 0x0000000000000000 },
};

/* The upper 128 of 192 bits. */
static inline wide quick_multiply(wide a, uint64_t b)
{
	wide low = (wide)(uint64_t)a * b;
	return (wide)(uint64_t)(a >> 64) * b + (uint64_t)(low >> 64);
}

/* 5^exponent with its highest bit at the top of 128. Less than POWER_ERROR is missing: of a step
 * one, which a multiplication and a shift can make four. */
enum { POWER_ERROR = 4 };

static inline wide quick_power(int exponent)
{
	unsigned near = (unsigned)(exponent + POWER_STEP);
	if (__builtin_expect(near <= 2 * POWER_STEP, 1))
		return (wide)quick_near[near][0] << 64 | quick_near[near][1];
	unsigned from_first = (unsigned)(exponent - POWER_FIRST);
	const uint64_t *step = quick_steps[from_first / POWER_STEP];
	uint64_t five = quick_fives[from_first % POWER_STEP];
	wide power = quick_multiply((wide)step[0] << 64 | step[1], five << __builtin_clzll(five));
	return power >> 127 ? power : power << 1;
}

/* Of the highest bit of 10^exponent. */
static inline int quick_place_of_power(int exponent)
{
	return exponent * 217706 >> 16;
}

/* ---- from text ------------------------------------------------------------- */

/* number × 2^exponent, a little more in truth, rounded to the nearest double: unless it is too near
 * to the middle between two of them. */
static bool quick_round(wide number, int exponent, double *ret_number)
{
	uint64_t upper = (uint64_t)(number >> 64);
	unsigned excess = 64 - MANTISSA_BITS - 1 + (unsigned)(upper >> 63); /* of the upper half */
	uint64_t half = UINT64_C(1) << (excess - 1);
	uint64_t rest = upper & (2 * half - 1);
	wide below_middle = ((wide)half << 64) - ((wide)rest << 64 | (uint64_t)number);
	if (below_middle <= POWER_ERROR + 1)
		return false;
	uint64_t mantissa = (upper >> excess) + (rest >= half);
	int field = exponent + (int)excess + 64 + EXPONENT_BIAS;
	if (field < 1 || field >= EXPONENT_FIELD_MAX - 1)
		return false;
	uint64_t bits = ((uint64_t)field << (MANTISSA_BITS - 1)) + mantissa - HIDDEN_BIT;
	memcpy(ret_number, &bits, sizeof(bits));
	return true;
}

const double json_exact_tens[] = { 1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12,
	1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22 };

bool json_quick_double(uint64_t digits, int exponent, double *ret_number)
{
	if (digits == 0) {
		*ret_number = 0;
		return true;
	}
	if (exponent < POWER_MIN || exponent > POWER_MAX)
		return false;
	int shift = __builtin_clzll(digits);
	wide product = quick_multiply(quick_power(exponent), digits << shift);
	return quick_round(product, quick_place_of_power(exponent) - 63 - shift, ret_number);
}

/* ---- whole numbers --------------------------------------------------------- */

size_t json_quick_long_whole(uint64_t number, char out[JSON_WHOLE_MAX])
{
	uint64_t upper = number / JSON_EIGHT_DIGITS;
	size_t count;
	if (upper < JSON_EIGHT_DIGITS) {
		count = json_quick_put_first((uint32_t)upper, out);
	} else {
		count = json_quick_put_first((uint32_t)(upper / JSON_EIGHT_DIGITS), out);
		json_quick_put_eight(
			json_quick_eight_digits((uint32_t)(upper % JSON_EIGHT_DIGITS)), out + count);
		count += 8;
	}
	json_quick_put_eight(
		json_quick_eight_digits((uint32_t)(number % JSON_EIGHT_DIGITS)), out + count);
	return count + 8;
}

/* ---- to text --------------------------------------------------------------- */

/* What is less than this apart might be equal: units of the last of 64 bits. */
enum { QUICK_ERROR = 4 };

static inline bool quick_is_near(uint64_t a, uint64_t b)
{
	return a - b + QUICK_ERROR <= 2 * QUICK_ERROR;
}

/* The distance to the next double is 1 to 9.99 times a power of ten, which is the unit here. Of the
 * whole numbers of units that lie within half of that distance one is a multiple of ten, or none;
 * it has the fewest digits then. Otherwise the nearest one is taken, which lies within it, but
 * perhaps for a power of two, below which doubles are nearer. */
static bool quick_shortest(uint64_t bits, uint64_t *ret_digits, int *ret_places)
{
	enum { PARTS = 60 }; /* bits behind the point: ten units still fit into a word */
	const uint64_t unit = UINT64_C(1) << PARTS;
	uint64_t fraction = bits & (HIDDEN_BIT - 1);
	int exponent = (int)(bits >> (MANTISSA_BITS - 1)) - EXPONENT_BIAS;
	int tens = exponent * 315653 >> 20;
	wide power = quick_power(-tens);
	wide number = quick_multiply(power, (fraction | HIDDEN_BIT) << (64 - MANTISSA_BITS));
	uint64_t upper = (uint64_t)(number >> 64);
	/* Units stand above so many bits of `upper`, 6 to 11. */
	int shift = 63 - MANTISSA_BITS - exponent - quick_place_of_power(-tens);
	uint64_t parts = (upper << (PARTS - shift) | (uint64_t)number >> (shift + 64 - PARTS)) % unit;
	uint64_t above = (uint64_t)(power >> 64) >> (shift - (PARTS - MANTISSA_BITS - 1));
	uint64_t below = fraction ? above : above / 2;
	uint64_t units = upper >> shift;
	uint64_t last = units % 10;
	uint64_t down = last * unit + parts, up = 10 * unit - down;
	bool is_up = parts > unit / 2;
	uint64_t nearest = units + is_up;
	bool is_clear = !quick_is_near(parts, unit / 2) && (is_up || parts + QUICK_ERROR < below);
	if (up < above)
		nearest = units - last + 10;
	if (down < below)
		nearest = units - last;
	is_clear |= up < above || down < below;
	*ret_digits = nearest;
	*ret_places = -tens;
	return exponent > -EXPONENT_BIAS && is_clear && !quick_is_near(down, below) &&
		!quick_is_near(up, above);
}

/* Sixteen or seventeen digits without the zeros at their end. */
static inline size_t quick_put_digits(uint64_t digits, char *out, int *places)
{
	uint64_t first = digits / JSON_EIGHT_DIGITS / JSON_EIGHT_DIGITS;
	uint64_t middle =
		json_quick_eight_digits((uint32_t)(digits / JSON_EIGHT_DIGITS % JSON_EIGHT_DIGITS));
	uint64_t last = json_quick_eight_digits((uint32_t)(digits % JSON_EIGHT_DIGITS));
	char *at = out + (first != 0);
	out[0] = (char)('0' + first);
	json_quick_put_eight(middle, at);
	json_quick_put_eight(last, at + 8);
	uint64_t end = last ? last : middle;
	unsigned zeros = (end ? (unsigned)__builtin_clzll(end) / 8 : 8) + (last ? 0 : 8);
	*places -= (int)zeros;
	return (size_t)(at - out) + 16 - zeros;
}

/* A point and three digits, of which zeros at the end do not count. */
static inline size_t quick_put_thousandths(uint32_t number, char *out)
{
	uint32_t tenths = number * 5243 >> 19; /* number / 100 */
	uint32_t rest = number - tenths * 100;
	uint32_t hundredths = rest * 103 >> 10; /* rest / 10 */
	uint32_t last = rest - hundredths * 10;
	const char text[] = { '.', (char)('0' + tenths), (char)('0' + hundredths), (char)('0' + last) };
	memcpy(out, text, sizeof(text));
	return last ? 4 : hundredths ? 3 : 2;
}

/* Most that people write have up to three digits behind their point. So many always survive the way
 * through a double, if they are fifteen in all, and no other ones of that number do. */
size_t json_quick_few_digits(double number, char out[JSON_FEW_MAX])
{
	const double few = 1e12;
	if (number >= few)
		return 0;
	int64_t whole = (int64_t)number;
	if ((double)whole == number)
		return json_quick_whole((uint64_t)whole, out);
	int64_t thousandths = (int64_t)(number * 1000 + 0.5);
	if ((double)thousandths / 1000 != number)
		return 0;
	size_t count = json_quick_whole((uint64_t)whole, out);
	return count + quick_put_thousandths((uint32_t)(thousandths - whole * 1000), out + count);
}

size_t json_quick_digits(double number, char out[JSON_WHOLE_MAX], int *ret_places)
{
	const double most = (double)(UINT64_C(1) << MANTISSA_BITS);
	uint64_t bits, digits;
	*ret_places = 0;
	if (number < most && (double)(digits = (uint64_t)number) == number)
		return json_quick_whole(digits, out);
	memcpy(&bits, &number, sizeof(bits));
	if (!quick_shortest(bits, &digits, ret_places))
		return 0;
	return quick_put_digits(digits, out, ret_places);
}
