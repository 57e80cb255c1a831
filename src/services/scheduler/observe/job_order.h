/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

struct http_exchange;
struct scheduler_view;

/* Answers with the jobs that wait, in the order in which they would be taken up now: KAI's /get-job-order. Not while a
 * cycle runs. */
void job_order_serve(const struct scheduler_view *view, struct http_exchange *exchange);
