/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <yyjson.h>

/*
 * KAI takes a limit that a Queue leaves out as 0, not as unlimited. A queue that sets `gpu` alone therefore runs no pod
 * that requests CPU or memory, which hardly anybody means.
 *
 * Returns true when the Queue `root` leaves out limits in that way, and writes one line that says which, without the
 * queue's name.
 */
enum { QUEUE_DOUBT_MAX = 320 };
bool queue_doubt(yyjson_val *root, char text[static QUEUE_DOUBT_MAX]);
