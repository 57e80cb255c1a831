/* SPDX-License-Identifier: Apache-2.0 */
#include "base/mem.h"

#include <stdio.h>

static void *or_abort(void *mem, size_t count, size_t size)
{
    if (!mem) {
        (void)fprintf(stderr, "out of memory: %zu x %zu bytes requested\n", count, size);
        abort();
    }
    return mem;
}

/* malloc(0) may return NULL, which is no failure. */
static size_t some(size_t size)
{
    return size ? size : 1;
}

void *xmalloc(size_t size)
{
    return or_abort(malloc(some(size)), 1, size);
}

void *xcalloc(size_t count, size_t size)
{
    return or_abort(calloc(some(count), some(size)), count, size);
}

void *xrealloc(void *mem, size_t size)
{
    return or_abort(realloc(mem, some(size)), 1, size);
}

void *xreallocarray(void *mem, size_t count, size_t size)
{
    return or_abort(reallocarray(mem, some(count), some(size)), count, size);
}

char *xstrdup(const char *text)
{
    return xstrndup(text, strlen(text));
}

char *xstrndup(const char *text, size_t max)
{
    size_t len = strnlen(text, max);
    char *copy = xmalloc(len + 1);

    memcpy(copy, text, len);
    copy[len] = '\0';
    return copy;
}
