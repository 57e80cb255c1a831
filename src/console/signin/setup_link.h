/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "console/rest/context.h"

/* The link with this code makes the first administrator, in place of an older link. */
MUST_CHECK int setup_offer(struct console *console, const char *code, struct err *err);

/* Whether this is the code of that link; NULL is none. Returns 0, or -ENOKEY. */
MUST_CHECK int setup_check(struct console *console, const char *code, struct err *err);

/* In a transaction: nobody else uses the link after this. Returns 0, or -ENOKEY when somebody has. */
MUST_CHECK int setup_take(struct console *console, struct err *err);
