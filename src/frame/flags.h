/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <yyjson.h>

#include "base/macros.h"
#include "base/time.h"
#include "base/vec.h"

struct err;

/*
 * Flags of a service, as programs written in Go take them: --name=value, --name value, or with one dash; a boolean
 * stands alone or has =true or =false. A service has a table of its flags and a struct that the values go to; help,
 * completions and manual pages are written from the table.
 *
 *     struct binder_flags { const char *scheduler_name; int64_t workers; struct flag_pairs labels; };
 *
 *     static const struct flag flags[] = {
 *         {"scheduler-name", FLAG_STRING, FLAG_AT(struct binder_flags, scheduler_name), "kai-scheduler", "whose pods", 0, 0},
 *         {"max-concurrent-reconciles", FLAG_INT, FLAG_AT(struct binder_flags, workers), "10", "...", 1, 1000},
 *     };
 */
enum flag_type {
    FLAG_BOOL,      // bool
    FLAG_INT,       // int64_t
    FLAG_DOUBLE,    // double
    FLAG_STRING,    // const char *: borrowed from the arguments or the table, never NULL
    FLAG_DURATION,  // nsec_t, written "90s"
    FLAG_PAIRS,     // struct flag_pairs, written "a=b,c=d"
    FLAG_JSON,      // yyjson_doc *: NULL when the text is empty
    FLAG_IGNORED,   // is taken for the sake of those who pass it; a boolean when its default is one
};

struct flag {
    const char *name;
    enum flag_type type;
    size_t offset;         // of the value in the struct, by FLAG_AT()
    const char *fallback;  // as it would be written; NULL: "", "false" or "0"
    const char *help;
    double min, max;  // of numbers; a max that is not above min is no bound, and both 0 is no range
};

#define FLAG_AT(type, member) offsetof(type, member)

struct flag_pair {
    char *key;
    char *value;
};
struct flag_pairs VEC_OF(struct flag_pair);

/*
 * One table and the struct that it describes. Tables of one taker stand in a row: where two of them have a flag, the
 * first one takes it. Where several takers have it, each of them takes it; --taker.flag is for that one alone.
 */
struct flag_set {
    const struct flag *flags;
    size_t count;
    void *values;
    size_t taker;
    const char *taker_name;  // NULL: it cannot be addressed
};

/* More of them than anybody types. */
enum { FLAG_PAIRS_MAX = 1024 };

/* What was asked for instead of running. */
enum flags_result { FLAGS_RUN, FLAGS_HELP };

/*
 * Sets all values to what the tables say, then to what the arguments say. `argv` is without the name of the program and
 * has to live as long as the values. Returns 0 or -EINVAL; either way flags_done() gives back what was set.
 */
MUST_CHECK int flags_parse(const struct flag_set *sets, size_t set_count, int argc, const char *const *argv,
                           enum flags_result *ret_result, struct err *err);
void flags_done(const struct flag_set *sets, size_t set_count);

/* What a value of the flag is called in help; NULL for a boolean. */
const char *flag_value_name(const struct flag *flag);
