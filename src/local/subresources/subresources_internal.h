/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

struct err;
struct request;
struct store_object;

/* pods/binding: the scheduler's or binder's decision. */
void serve_binding(struct request *request);

/* pods/eviction: a deletion that budgets may refuse. */
void serve_eviction(struct request *request);

/* serviceaccounts/token: a token for an account. */
void serve_account_token(struct request *request);

/* KIND/scale: replicas, wanted and present. */
void serve_scale(struct request *request);

/* Answers a request whose subresource is an order, such as a binding, when it is on the disk; a store_done_fn. */
void subresource_written(void *request, int result, const struct store_object *object, const struct err *err);
