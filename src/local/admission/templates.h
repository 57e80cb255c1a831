/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

struct api_kind;

/* Where the pod, or the template of pods, is in objects of a kind: "" for a pod itself, "spec.template"; NULL when it has
 * none. */
const char *pod_template_of(const struct api_kind *kind);
