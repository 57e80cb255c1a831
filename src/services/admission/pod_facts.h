/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <yyjson.h>

struct admission_rules;
struct admission_verdict;

/* What the rules for pods ask of a pod. */

#define ENV_VISIBLE_DEVICES "NVIDIA_VISIBLE_DEVICES"
#define ENV_GPU_PORTION "GPU_PORTION"
#define ENV_GPU_COUNT "RUNAI_NUM_OF_GPUS"
#define ENV_MEMORY_LIMIT "CUDA_DEVICE_MEMORY_LIMIT"

/* Lists of containers, by their names in a pod's spec, in the order in which they are looked at. */
enum { POD_LISTS = 2 };
extern const char *const pod_lists[POD_LISTS];

/* Whether the pod is one of ours. */
bool pod_is_ours(const struct admission_rules *rules, yyjson_val *pod);

/* The value of an annotation; NULL when it is not there. */
const char *pod_annotation(yyjson_val *pod, const char *key);

/* Whether it asks for a part of a GPU. */
bool pod_shares_gpu(yyjson_val *pod);

/* Whether the container has a whole GPU or a MIG slice of its own. */
bool container_has_gpu(yyjson_val *container);

/* Denies a pod whose container for the part of a GPU is not there. */
void deny_container(yyjson_val *pod, struct admission_verdict *verdict);
