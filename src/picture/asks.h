/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stddef.h>

struct http_exchange;
struct picture;
struct service;

/*
 * Requests whose answers take a while: that wait until the picture is ready, that a process of this program answers, or a list of
 * the API. They hold the picture, and end with the client or with their owner.
 */
struct asks;

struct asks *asks_new(struct service *service, struct picture *picture);

/* Answers everything that is open with 503; more may come. */
void asks_end(struct asks *asks);
void asks_free(struct asks *asks);

/* The picture has become ready. */
void asks_wake(struct asks *asks);

/* Calls `fn`, which answers, when the picture is ready: now or later. */
typedef void (*asks_ready_fn)(void *arg, struct http_exchange *exchange);
void asks_when_ready(struct asks *asks, struct http_exchange *exchange, asks_ready_fn fn, void *arg);

/*
 * Has this program answer, as a process of its own: `muster WORD...` for the cluster of the service. What it tries on copies of the
 * cluster may take seconds and memory that the service must not spend. `fn` answers with what the process has written; without it,
 * that is the answer. A process that fails is answered for with its complaint.
 */
struct asks_program {
    const char *const *words;  // up to a NULL
    const char *input;         // on its standard input; NULL: none
    size_t input_len;
    void (*fn)(void *arg, struct http_exchange *exchange, const char *output, size_t len);
    void (*free_arg)(void *arg);  // called at the end, answered or not; NULL: there is nothing to free
    void *arg;
};
void asks_program(struct asks *asks, struct http_exchange *exchange, const struct asks_program *program);

/* The answer of `muster why` about a workload, by the parameters `namespace` and `name` of the path. */
void asks_why(struct asks *asks, struct http_exchange *exchange,
              void (*fn)(void *arg, struct http_exchange *exchange, const char *output, size_t len), void *arg);

/* Answers with the events of a workload, by the parameters `namespace`, `kind` and `name` of the path: of the object itself, of its
 * PodGroup and of its pods. */
void asks_events(struct asks *asks, struct http_exchange *exchange);
