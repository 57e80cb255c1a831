/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/macros.h"
#include "base/mem.h"

/*
 * A growable array of any type:
 *
 *     VEC(struct pod *) pods = {0};
 *     vec_push(&pods, pod);
 *     vec_foreach(&pods, at)
 *         pod_print(*at);
 *     vec_done(&pods);
 *
 * All zeros is an empty vec. `items` and `len` may be read directly. Items move when the vec grows: keep an index
 * rather than a pointer. Holds fewer than 2^31 items; growing beyond that aborts, as running out of memory does.
 *
 * VEC makes a new anonymous struct each time. To pass one to a function, name it: struct pod_list VEC_OF(struct pod *);
 */
#define VEC(type) struct VEC_OF(type)
#define VEC_OF(type)  \
    {                 \
        type *items;  \
        uint32_t len; \
        uint32_t cap; \
    }

/* Room for `n` items in all. */
#define vec_reserve(v, n) vec_reserve_(UNIQUE(vec_), v, n)

/* Appends a value, which may be a compound literal. */
#define vec_push(v, ...) vec_push_(UNIQUE(vec_), UNIQUE(value_), v, (__VA_ARGS__))

/* Makes the length `n`; new items are zeros. */
#define vec_resize(v, n) vec_resize_(UNIQUE(vec_), UNIQUE(n_), v, n)

/* Takes off the last item and gives its value. The vec must not be empty; so for vec_last(), an lvalue. */
#define vec_pop(v) vec_pop_(UNIQUE(vec_), v)
#define vec_last(v) (*vec_last_(UNIQUE(vec_), v))

/* Inserts before index `i` (which may be the length) and moves the rest up. */
#define vec_insert_at(v, i, ...) vec_insert_at_(UNIQUE(vec_), UNIQUE(i_), UNIQUE(value_), v, i, (__VA_ARGS__))

/* Removes item `i`: in order, or quickly by putting the last item in its place. */
#define vec_remove_at(v, i) vec_remove_at_(UNIQUE(vec_), UNIQUE(i_), v, i)
#define vec_swap_remove(v, i) vec_swap_remove_(UNIQUE(vec_), UNIQUE(i_), v, i)

/* Length 0; the memory is kept. */
#define vec_clear(v) ((void)((v)->len = 0))

/* Frees the memory; the vec is empty and usable after it. The items' own clean-up is the caller's. */
#define vec_done(v) vec_done_(UNIQUE(vec_), v)

/* Bytes held from the heap. */
#define vec_bytes(v) ((size_t)(v)->cap * sizeof *(v)->items)

/* Walks over all items; `at` is declared here and points to the item. Items may be removed or changed on the way, but
 * not added. */
#define vec_foreach(v, at) for (__typeof__(*(v)->items) *at = (v)->items; at && at < (v)->items + (v)->len; at++)

/* The memory of a vec that has to hold `need` items; sets `*cap`. */
void *vec_grow_(void *items, uint32_t *cap, uint64_t need, size_t size);

#define vec_room_(v, need)                                                             \
    do {                                                                               \
        if ((need) > (v)->cap)                                                         \
            (v)->items = vec_grow_((v)->items, &(v)->cap, (need), sizeof *(v)->items); \
    } while (0)

#define vec_reserve_(vec, v, n)        \
    do {                               \
        __typeof__(v) vec = (v);       \
        vec_room_(vec, (uint64_t)(n)); \
    } while (0)

#define vec_push_(vec, value, v, ...)                \
    do {                                             \
        __typeof__(v) vec = (v);                     \
        __typeof__(*vec->items) value = __VA_ARGS__; \
        vec_room_(vec, (uint64_t)vec->len + 1);      \
        vec->items[vec->len++] = value;              \
    } while (0)

#define vec_resize_(vec, size, v, n)                                                          \
    do {                                                                                      \
        __typeof__(v) vec = (v);                                                              \
        const uint64_t size = (n);                                                            \
        vec_room_(vec, size);                                                                 \
        if (size > vec->len)                                                                  \
            memset(vec->items + vec->len, 0, (size_t)(size - vec->len) * sizeof *vec->items); \
        vec->len = (uint32_t)size;                                                            \
    } while (0)

#define vec_pop_(vec, v)         \
    ({                           \
        __typeof__(v) vec = (v); \
        BUG_ON(vec->len == 0);   \
        vec->items[--vec->len];  \
    })

#define vec_last_(vec, v)          \
    ({                             \
        __typeof__(v) vec = (v);   \
        BUG_ON(vec->len == 0);     \
        &vec->items[vec->len - 1]; \
    })

#define vec_insert_at_(vec, index, value, v, i, ...)                                                  \
    do {                                                                                              \
        __typeof__(v) vec = (v);                                                                      \
        const uint32_t index = (i);                                                                   \
        __typeof__(*vec->items) value = __VA_ARGS__;                                                  \
        BUG_ON(index > vec->len);                                                                     \
        vec_room_(vec, (uint64_t)vec->len + 1);                                                       \
        memmove(vec->items + index + 1, vec->items + index, (vec->len - index) * sizeof *vec->items); \
        vec->items[index] = value;                                                                    \
        vec->len++;                                                                                   \
    } while (0)

#define vec_remove_at_(vec, index, v, i)                                                              \
    do {                                                                                              \
        __typeof__(v) vec = (v);                                                                      \
        const uint32_t index = (i);                                                                   \
        BUG_ON(index >= vec->len);                                                                    \
        vec->len--;                                                                                   \
        memmove(vec->items + index, vec->items + index + 1, (vec->len - index) * sizeof *vec->items); \
    } while (0)

#define vec_swap_remove_(vec, index, v, i)          \
    do {                                            \
        __typeof__(v) vec = (v);                    \
        const uint32_t index = (i);                 \
        BUG_ON(index >= vec->len);                  \
        vec->items[index] = vec->items[--vec->len]; \
    } while (0)

#define vec_done_(vec, v)        \
    do {                         \
        __typeof__(v) vec = (v); \
        free(vec->items);        \
        vec->items = NULL;       \
        vec->len = vec->cap = 0; \
    } while (0)
