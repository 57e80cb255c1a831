/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/*
 * A growable string with a limit. What goes beyond the limit is dropped and `is_cut` stays set, so that a caller builds
 * the whole text first and looks once. `text` is NUL-terminated and never NULL; it moves when the string grows.
 */
struct strbuf {
    char *text;
    size_t len;
    size_t cap;
    size_t max;  // bytes, the NUL not counted
    bool is_cut;
};

void strbuf_init(struct strbuf *sb, size_t max);
void strbuf_done(struct strbuf *sb);

/* Empties the text and keeps memory and limit. */
void strbuf_clear(struct strbuf *sb);

void strbuf_add(struct strbuf *sb, const char *bytes, size_t len);
void strbuf_addstr(struct strbuf *sb, const char *text);
void strbuf_addch(struct strbuf *sb, char c);

/* An amount as Kubernetes writes quantities: with the largest binary suffix that leaves a whole number. */
void strbuf_add_binary(struct strbuf *sb, long long amount);

void strbuf_addf(struct strbuf *sb, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Hands over the text, to be freed by the caller; the strbuf is empty and usable after it. */
char *strbuf_take(struct strbuf *sb) __attribute__((returns_nonnull));
