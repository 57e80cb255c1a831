/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "model/ids.h"

struct state;
struct volume;

/* What the files about volumes share. */
enum { VOLUME_TEXT_MAX = 1024 };

/* The claim of that name; NULL when there is none. */
const struct volume *volume_find(const struct state *state, name_id namespace, name_id name);
