/* SPDX-License-Identifier: Apache-2.0 */
#include "base/macros.h"

#include <stdio.h>
#include <stdlib.h>

void bug_abort(const char *file, int line, const char *what)
{
    (void)fprintf(stderr, "%s:%d: BUG: %s\n", file, line, what);
    abort();
}
