/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The keys of commands that take the whole terminal. Those that are more than a byte: */
enum { KEY_UP = 256, KEY_DOWN, KEY_PAGE_UP, KEY_PAGE_DOWN, KEY_HOME, KEY_END };

/* The next key in what a terminal sent; -1 when there is none that anybody knows. Says how many bytes it was, at least 1. */
int key_read(const char *bytes, size_t len, size_t *ret_len);

/*
 * Moves `*first`, the first line of a list that is shown, by an arrow, 'j', 'k', a page, or to either end. The end is
 * beyond every list: whoever draws corrects it. Returns whether the key is one of these.
 */
bool key_scroll(int key, uint32_t page, uint32_t *first);
