/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

/*
 * Heap memory that is always there: these never return NULL, also not for a size of 0. A program without memory cannot
 * schedule and cannot say so in any other way, so they print a line and abort. Sizes that overflow count as out of
 * memory. What they return is given back with free().
 */
void *xmalloc(size_t size) __attribute__((malloc, returns_nonnull));
void *xcalloc(size_t count, size_t size) __attribute__((malloc, returns_nonnull));
void *xrealloc(void *mem, size_t size) __attribute__((returns_nonnull));
void *xreallocarray(void *mem, size_t count, size_t size) __attribute__((returns_nonnull));
char *xstrdup(const char *text) __attribute__((malloc, returns_nonnull));

/* At most `max` bytes of `text`, which needs no NUL when it is that long. */
char *xstrndup(const char *text, size_t max) __attribute__((malloc, returns_nonnull));

/* For _cleanup_(freep): frees what the pointer at `at` points to. */
static inline void freep(void *at)
{
    void *mem;

    memcpy(&mem, at, sizeof mem);
    free(mem);
}
