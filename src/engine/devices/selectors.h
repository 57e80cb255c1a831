/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/map.h"
#include "base/vec.h"

struct cel_env;
struct cel_program;
struct slice;
struct state;

enum answer { ANSWER_UNKNOWN, ANSWER_YES, ANSWER_NO, ANSWER_ERROR };

struct kept_selector {
    struct cel_program *program;  // NULL: it does not compile
    uint8_t *answers;             // by device; NULL: none was asked for
};

/* Selectors that were asked for, compiled once, with the answers that they gave. */
struct selector_book {
    struct cel_env *env;
    struct map64 by_text;  // texts of state->names, by their place
    VEC(struct kept_selector) all;
    uint32_t device_count;
};

void selector_book_done(struct selector_book *book);
size_t selector_book_bytes(const struct selector_book *book);

/* Devices are others now: answers are forgotten, and all selectors when there are many. */
void selector_book_reset(struct selector_book *book, uint32_t device_count);

/*
 * Does the device with this number, `device` of the slice, meet the selector? `text` is one of state->names. An error is
 * one of the expression, or of a value that is not what it says: such a device must not be handed out.
 */
enum answer selector_ask(struct selector_book *book, const struct state *state, const char *text,
                         const struct slice *slice, uint32_t device, uint32_t number);

/* The same of a selector that is not kept. */
enum answer selector_evaluate(const struct cel_program *program, const struct state *state, const struct slice *slice,
                              uint32_t device);
