/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdio.h>

struct engine;
struct scenario;

/* For people: queues with what they are promised and use, who runs where, and why the rest waits. */
void scenario_print(FILE *out, const struct scenario *s, const struct engine *engine);
