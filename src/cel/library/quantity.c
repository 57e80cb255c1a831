/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Kubernetes' quantities. One is kept in billionths, which is as exact as Kubernetes is; what
 * is finer is rounded away from zero.
 */
#include <ctype.h>
#include <errno.h>
#include <string.h>

#include "cel/library/library.h"

#define QUANTITY "kubernetes.Quantity"

static const __int128 nano = 1000000000;

struct suffix {
    const char *text;
    bool is_binary;
    int power;  // of 10, or of 1024
};

static const struct suffix suffixes[] = {
    {"n", false, -9}, {"u", false, -6}, {"m", false, -3}, {"", false, 0},   {"k", false, 3}, {"M", false, 6},
    {"G", false, 9},  {"T", false, 12}, {"P", false, 15}, {"E", false, 18}, {"Ki", true, 1}, {"Mi", true, 2},
    {"Gi", true, 3},  {"Ti", true, 4},  {"Pi", true, 5},  {"Ei", true, 6},
};

static bool read_exponent(const char *at, size_t len, int *ret_power)
{
    size_t i = 1;
    int value = 0;

    if (len < 2 || (*at != 'e' && *at != 'E'))
        return false;
    bool is_negative = at[1] == '-';
    i += at[1] == '-' || at[1] == '+';
    if (i == len)
        return false;
    for (; i < len; i++) {
        if (!isdigit((unsigned char)at[i]))
            return false;
        value = MIN(value * 10 + (at[i] - '0'), 1000);
    }
    *ret_power = is_negative ? -value : value;
    return true;
}

static bool read_suffix(const char *at, size_t len, struct suffix *ret_suffix)
{
    *ret_suffix = (struct suffix){0};
    if (read_exponent(at, len, &ret_suffix->power))
        return true;
    for (size_t i = 0; i < ARRAY_LEN(suffixes); i++) {
        if (strlen(suffixes[i].text) == len && memcmp(suffixes[i].text, at, len) == 0) {
            *ret_suffix = suffixes[i];
            return true;
        }
    }
    return false;
}

/* What no number of billionths goes beyond; more than fits a 64-bit integer by far. */
static __int128 most(void)
{
    return ((__int128)1 << 126);
}

/* amount x base^power, rounded up; saturates. */
static __int128 scale(__int128 amount, int base, int power)
{
    for (; power > 0 && amount < most(); power--)
        amount = amount > most() / base ? most() : amount * base;
    bool has_rest = false;
    for (; power < 0 && amount > 0; power++) {
        has_rest = has_rest || amount % base != 0;
        amount /= base;
    }
    return amount + has_rest;
}

/* How Kubernetes keeps a number with so many digits before and behind the point: only a short one can be an integer. */
static void set_scale(struct cel_quantity *quantity, struct suffix suffix, size_t digits, size_t decimals)
{
    int room = suffix.is_binary ? 15 - (int)digits - (int)((float)(10 * suffix.power) * 3 / 10) - 1
                                : 18 - (int)(digits + decimals);
    int scale_now = (suffix.is_binary ? 0 : suffix.power) - (int)decimals;

    quantity->is_short = room >= 0 && scale_now >= -9 && scale_now <= 100 && !(suffix.is_binary && decimals);
    quantity->scale = (int8_t)(quantity->is_short ? scale_now : 0);
}

bool read_quantity(struct cel_text text, struct cel_quantity *ret_quantity)
{
    const char *at = text.bytes;
    const char *end = at + text.len;
    __int128 amount = 0;
    int power = 9;
    bool is_negative = false;
    bool has_rest = false;
    size_t digits = 0;
    size_t decimals = 0;
    struct suffix suffix;

    if (at < end && (*at == '-' || *at == '+'))
        is_negative = *at++ == '-';
    for (; at < end && isdigit((unsigned char)*at); at++) {
        amount = amount > most() / 16 ? most() : amount * 10 + (*at - '0');
        digits += amount > 0;
    }
    if (at < end && *at == '.')
        for (at++; at < end && isdigit((unsigned char)*at); at++, decimals++) {
            if (amount > most() / 16 || power < -9) {
                has_rest = has_rest || *at != '0';
                continue;
            }
            amount = amount * 10 + (*at - '0');
            power--;
        }
    /* A sign, a point or a suffix alone is 0 in Kubernetes. */
    if (text.len == 0 || !read_suffix(at, (size_t)(end - at), &suffix))
        return false;
    if (suffix.is_binary)
        amount = scale(amount, 1024, suffix.power);
    else
        power += suffix.power;
    amount = scale(amount, 10, power);
    if (has_rest && power <= 0)
        amount++;
    *ret_quantity = (struct cel_quantity){.amount = is_negative ? -amount : amount};
    set_scale(ret_quantity, suffix, MAX(digits, (size_t)1), decimals);
    return true;
}

int cel_quantity(struct arena *arena, const char *text, struct cel_value *ret_value)
{
    struct cel_quantity *quantity = arena_calloc(arena, 1, sizeof *quantity);

    if (!read_quantity((struct cel_text){text, strlen(text)}, quantity))
        return -EINVAL;
    *ret_value = (struct cel_value){.kind = CEL_QUANTITY, .quantity = quantity};
    return 0;
}

static struct cel_value quantity_of(struct run *run, struct cel_quantity amount)
{
    struct cel_quantity *copy = run_alloc(run, sizeof *copy);

    if (!copy)
        return stopped_value(run);
    *copy = amount;
    return (struct cel_value){.kind = CEL_QUANTITY, .quantity = copy};
}

static struct cel_value quantity(struct run *run, const struct cel_value *args, int count)
{
    struct cel_quantity read;

    (void)count;
    if (!read_quantity(args[0].text, &read))
        return error_value(CEL_FAILED, "quantities must match the regular expression of quantities");
    return quantity_of(run, read);
}

static struct cel_value is_quantity(struct run *run, const struct cel_value *args, int count)
{
    struct cel_quantity read;

    (void)run;
    (void)count;
    return cel_bool(read_quantity(args[0].text, &read));
}

static int order(__int128 a, __int128 b)
{
    return a < b ? -1 : a > b;
}

static int compare(const struct cel_value *args)
{
    return order(args[0].quantity->amount, args[1].quantity->amount);
}

static struct cel_value sign(struct run *run, const struct cel_value *args, int count)
{
    (void)run;
    (void)count;
    return cel_int(order(args[0].quantity->amount, 0));
}

static struct cel_value is_greater_than(struct run *run, const struct cel_value *args, int count)
{
    (void)run;
    (void)count;
    return cel_bool(compare(args) > 0);
}

static struct cel_value is_less_than(struct run *run, const struct cel_value *args, int count)
{
    (void)run;
    (void)count;
    return cel_bool(compare(args) < 0);
}

static struct cel_value compare_to(struct run *run, const struct cel_value *args, int count)
{
    (void)run;
    (void)count;
    return cel_int(compare(args));
}

static bool is_whole(const struct cel_quantity *amount)
{
    return amount->is_short && amount->scale >= 0 && amount->amount % nano == 0 && amount->amount / nano <= INT64_MAX &&
           amount->amount / nano >= INT64_MIN;
}

static struct cel_value is_integer(struct run *run, const struct cel_value *args, int count)
{
    (void)run;
    (void)count;
    return cel_bool(is_whole(args[0].quantity));
}

static struct cel_value as_integer(struct run *run, const struct cel_value *args, int count)
{
    (void)run;
    (void)count;
    if (!is_whole(args[0].quantity))
        return error_value(CEL_FAILED, "cannot convert value to integer");
    return cel_int((int64_t)(args[0].quantity->amount / nano));
}

static struct cel_value as_float(struct run *run, const struct cel_value *args, int count)
{
    const __int128 amount = args[0].quantity->amount;
    const __int128 whole = amount / nano;

    (void)run;
    (void)count;
    if (whole * nano == amount)
        return (struct cel_value){.kind = CEL_DOUBLE, .number = (double)whole};
    return (struct cel_value){.kind = CEL_DOUBLE, .number = (double)amount / 1e9};
}

static struct cel_quantity amount_of(struct cel_value value)
{
    if (value.kind == CEL_INT)
        return (struct cel_quantity){.amount = value.integer * nano, .is_short = true};
    return *value.quantity;
}

static struct cel_value sum(struct run *run, struct cel_quantity a, struct cel_quantity b)
{
    const __int128 half = a.amount / 2 + b.amount / 2;
    struct cel_quantity total = {.is_computed = true, .is_short = a.is_short && b.is_short, .scale = a.scale};

    total.amount = half > most() / 2 ? most() : half < -most() / 2 ? -most() : a.amount + b.amount;
    if (b.amount != 0 && (a.amount == 0 || b.scale < a.scale))
        total.scale = b.scale;
    return quantity_of(run, total);
}

static struct cel_value add(struct run *run, const struct cel_value *args, int count)
{
    (void)count;
    return sum(run, amount_of(args[0]), amount_of(args[1]));
}

static struct cel_value sub(struct run *run, const struct cel_value *args, int count)
{
    struct cel_quantity taken = amount_of(args[1]);

    (void)count;
    taken.amount = -taken.amount;
    return sum(run, amount_of(args[0]), taken);
}

static const struct overload rows[] = {
    {"quantity", "string_to_quantity", "(string) " QUANTITY, quantity},
    {"isQuantity", "is_quantity_string", "(string) bool", is_quantity},
    {"sign", "quantity_sign", "(" QUANTITY ") int", sign},
    {"isGreaterThan", "quantity_is_greater_than", ".(" QUANTITY ", " QUANTITY ") bool", is_greater_than},
    {"isLessThan", "quantity_is_less_than", ".(" QUANTITY ", " QUANTITY ") bool", is_less_than},
    {"compareTo", "quantity_compare_to", ".(" QUANTITY ", " QUANTITY ") int", compare_to},
    {"asApproximateFloat", "quantity_get_float", ".(" QUANTITY ") double", as_float},
    {"asInteger", "quantity_get_int", ".(" QUANTITY ") int", as_integer},
    {"isInteger", "quantity_is_integer", ".(" QUANTITY ") bool", is_integer},
    {"add", "quantity_add", ".(" QUANTITY ", " QUANTITY ") " QUANTITY, add},
    {"add", "quantity_add_int", ".(" QUANTITY ", int) " QUANTITY, add},
    {"sub", "quantity_sub", ".(" QUANTITY ", " QUANTITY ") " QUANTITY, sub},
    {"sub", "quantity_sub_int", ".(" QUANTITY ", int) " QUANTITY, sub},
};

const struct overload_table quantity_table = {rows, ARRAY_LEN(rows)};
