/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stddef.h>

struct strbuf;

/* The value of a variable; NULL when there is none. */
typedef const char *(*expand_fn)(void *arg, const char *name, size_t len);

/*
 * Appends `text` with $(NAME) replaced by the variable's value and $$ by one dollar sign. A variable that is not known, and
 * every other use of a dollar sign, stays as it is written.
 */
void expand(struct strbuf *to, const char *text, expand_fn find, void *arg);
