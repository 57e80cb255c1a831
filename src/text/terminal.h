/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/*
 * The terminal that a text is printed on: its size, and whether colours and cursor movements reach it. Every command asks
 * here, so that --color, NO_COLOR and TERM=dumb mean the same everywhere.
 *
 *     struct terminal terminal = terminal_of(stdout);
 *     fprintf(out, "%snever%s", style_start(STYLE_BAD, terminal.has_colour), style_end(STYLE_BAD, terminal.has_colour));
 */
struct terminal {
    uint32_t width;   // in columns; 0: any, for files and pipes
    uint32_t height;  // in lines; 0: any
    bool has_colour;
    bool can_redraw;  // escape sequences that move the cursor work: progress bars and full screens are possible
};

/* The values of --color. */
enum colour_choice { COLOUR_AUTO, COLOUR_ALWAYS, COLOUR_NEVER };

/* Their names, "auto", "always" and "never", in that order and ended by NULL. */
extern const char *const colour_choice_names[];

/* Decides about colours for the whole process. Without a call the choice is COLOUR_AUTO: colours on terminals, unless
 * NO_COLOR is set and not empty or TERM is unset or "dumb". */
void terminal_choose_colour(enum colour_choice choice);

/* The terminal behind `out`. Its width is $COLUMNS, else what the terminal reports, else 80. A file or pipe has no limits
 * and has colours only with COLOUR_ALWAYS. */
struct terminal terminal_of(FILE *out);

/* How a piece of text stands out. */
enum text_style { STYLE_PLAIN, STYLE_GOOD, STYLE_WARN, STYLE_BAD, STYLE_DIM, STYLE_BOLD, _TEXT_STYLE_MAX };

/* The escape sequences before and behind text of that style; "" for plain text and without colours. */
const char *style_start(enum text_style style, bool has_colour);
const char *style_end(enum text_style style, bool has_colour);
