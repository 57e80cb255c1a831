/* SPDX-License-Identifier: Apache-2.0 */

/* The controllers of local mode in a process of their own: local-controllers [FLAG...], as any service has them. */
#include <stdio.h>

#include "base/err.h"
#include "frame/process.h"
#include "local/controllers/controllers.h"

int main(int argc, char **argv)
{
    struct err err = {0};
    size_t count = 0;

    while (local_controllers[count])
        count++;
    int r = process_main(local_controllers, count, argc - 1, (const char *const *)argv + 1, &err);
    if (r < 0)
        (void)fprintf(stderr, "local-controllers: %s\n", err.text);
    return r < 0;
}
