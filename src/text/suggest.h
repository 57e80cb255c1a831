/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stddef.h>

/*
 * The nearest of several words to one that was typed.
 *
 *     suggestion_init(&s, "simulat");
 *     suggestion_offer(&s, "simulate");
 *     suggestion_text(&s, "", text)      "; did you mean simulate?"
 */
struct suggestion {
    const char *typed;
    const char *word;  // the nearest so far; NULL: none comes close
    size_t keys;       // that it takes to get from one to the other
};

void suggestion_init(struct suggestion *suggestion, const char *typed);
void suggestion_offer(struct suggestion *suggestion, const char *word);

/* To be put behind a complaint; "" when nothing comes close. `before` stands before the word. Returns `text`. */
enum { SUGGESTION_MAX = 320 };
const char *suggestion_text(const struct suggestion *suggestion, const char *before, char text[static SUGGESTION_MAX]);
