/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

struct request;

/* pods/binding: the scheduler's or binder's decision. */
void serve_binding(struct request *request);

/* pods/eviction: a deletion that budgets may refuse. */
void serve_eviction(struct request *request);

/* KIND/scale: replicas, wanted and present. */
void serve_scale(struct request *request);
