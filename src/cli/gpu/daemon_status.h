/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "text/json.h"

/* What the daemon says in /v1/status, read without fear: what is missing is 0 or empty. */

double gpu_number_of(yyjson_val *at, const char *key);
const char *gpu_text_of(yyjson_val *at, const char *key);
bool gpu_is_state(yyjson_val *group, const char *state);

/* In the mode `time` nobody measures who has the GPU. */
bool gpu_is_measured(yyjson_val *group);

/* For its turn, or for memory. */
bool gpu_is_waiting(yyjson_val *group);

/* Of a group or a process, contexts included. */
double gpu_memory_of(yyjson_val *at);

bool gpu_is_on(yyjson_val *group, yyjson_val *gpu);

/* The number that `muster gpu run --gpu` takes; as many as there are when there is no such GPU. */
size_t gpu_index_of(yyjson_val *gpus, const char *uuid);

/* What the groups of a GPU have of its time together; negative where one of them is not measured. */
double gpu_busy_of(yyjson_val *groups, yyjson_val *gpu);

/* On one GPU, or on all when `gpu` is NULL. */
size_t gpu_count_waiting(yyjson_val *groups, yyjson_val *gpu);
