/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* The few language helpers that every folder uses. */

/* Runs `f(&variable)` when the variable leaves its scope: _cleanup_(freep) char *text = NULL; */
#define _cleanup_(f) __attribute__((cleanup(f)))

/* The result has to be looked at; put in front of every function that can fail. */
#define MUST_CHECK __attribute__((warn_unused_result))

/* Hands ownership on: the value of `p`, which becomes NULL so that its clean-up does nothing. */
#define TAKE_PTR(p)                  \
    ({                               \
        __typeof__(p) *at_ = &(p);   \
        __typeof__(p) taken_ = *at_; \
        *at_ = NULL;                 \
        taken_;                      \
    })

#define ARRAY_LEN(array) (sizeof(array) / sizeof *(array))

#define CONCAT_(a, b) a##b
#define CONCAT(a, b) CONCAT_(a, b)
/* A name that no other expansion has, so that nested uses of a macro do not shadow each other. */
#define UNIQUE(name) CONCAT(name, __COUNTER__)

#undef MIN
#undef MAX
#define MIN(a, b) MIN_(UNIQUE(min_a_), UNIQUE(min_b_), a, b)
#define MIN_(x, y, a, b)             \
    ({                               \
        const __typeof__(a) x = (a); \
        const __typeof__(b) y = (b); \
        x < y ? x : y;               \
    })
#define MAX(a, b) MAX_(UNIQUE(max_a_), UNIQUE(max_b_), a, b)
#define MAX_(x, y, a, b)             \
    ({                               \
        const __typeof__(a) x = (a); \
        const __typeof__(b) y = (b); \
        x > y ? x : y;               \
    })
/* `value`, moved into [low, high]. */
#define CLAMP(value, low, high) MIN(MAX(value, low), high)

/* Stops the program when an invariant is broken, in release builds too: a scheduler that has lost count of what it gave
 * away must not give away more. */
#define BUG_ON(condition)                              \
    do {                                               \
        if (__builtin_expect(!!(condition), 0))        \
            bug_abort(__FILE__, __LINE__, #condition); \
    } while (0)

/* Prints "file:line: BUG: what" on stderr and aborts. */
_Noreturn void bug_abort(const char *file, int line, const char *what) __attribute__((cold));
