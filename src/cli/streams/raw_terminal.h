/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>

/*
 * The terminal on standard input without echo, line editing and signals by keys: all that is typed goes to the program at the
 * other end. It is given back when the process exits, and by raw_terminal_give_back().
 */

/* Whether standard input is a terminal. */
bool raw_terminal_is_there(void);

/* False where it cannot be taken; it is as it was then. */
bool raw_terminal_take(void);
void raw_terminal_give_back(void);

/* The size of the terminal; false where there is none. */
bool raw_terminal_size(unsigned *ret_columns, unsigned *ret_lines);
