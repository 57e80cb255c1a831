/* SPDX-License-Identifier: Apache-2.0 */
/* gpu-tenant CASE: one case, with a line of TAP for each thing that was checked. */
#include <stdio.h>
#include <string.h>

#include "driver.h"

static bool run_from(const struct test_case *cases, const char *name)
{
    for (; cases->name; cases++) {
        if (strcmp(cases->name, name) == 0) {
            cases->run();
            return true;
        }
    }
    return false;
}

int main(int argc, char **argv)
{
    if (argc == 2 &&
        (run_from(memory_cases, argv[1]) || run_from(process_cases, argv[1]) || run_from(compute_cases, argv[1]) ||
         run_from(nvml_cases, argv[1]) || run_from(rare_cases, argv[1]) || run_from(traffic_cases, argv[1]) ||
         run_from(park_cases, argv[1]) || run_from(elastic_cases, argv[1])))
        return 0;
    (void)fprintf(stderr, "usage: gpu-tenant CASE\n");
    return 2;
}
