/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "engine/verdict.h"

struct engine;
struct state;
struct strbuf;

/* Appends why the gang waits, in plain words with numbers: "it requests 4 GPUs; queue a has 6 GPUs allocated
 * and a limit of 8 GPUs". */
void scenario_why(struct strbuf *text, const struct state *state, const struct engine *engine, gang_id gang);

/* The numbers of a limit or quota that a gang would exceed, in the same words. */
void verdict_bound_words(struct strbuf *text, const struct state *state, const struct verdict *verdict);

/* The first resource of which the pod requests more than any node has; false when there is none. */
bool verdict_too_large_words(struct strbuf *text, const struct state *state, pod_id pod);

/* "4 of 6 pods exist", of the gang's first pod set that lacks some. */
void scenario_missing_pods(struct strbuf *text, const struct state *state, gang_id gang);
