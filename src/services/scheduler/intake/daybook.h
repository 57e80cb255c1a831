/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "base/macros.h"
#include "base/time.h"
#include "model/resources.h"

struct err;
struct usage_samples;

/*
 * What queues have had, as samples at times that are evenly apart; pure. It answers what Prometheus would for
 * sum_over_time() of the same samples: the sum over a window, with what is long ago counting less if there is a half-life.
 *
 * Samples are kept in buckets. A bucket holds sums, when its first and last sample were taken, and how many there are. Few
 * samples are exact; when there are too many buckets or entries, neighbours are put together, and use counts as even within
 * a bucket. So the size has a bound whatever the window and the number of queues.
 */
struct daybook;

/* More entries of queues, and more buckets, are not kept apart. */
enum { DAYBOOK_BUCKETS_MAX = 720, DAYBOOK_ENTRIES_MAX = 20000, DAYBOOK_BYTES_MAX = 900 << 10 };

struct daybook *daybook_new(void);
void daybook_free(struct daybook *daybook);
void daybook_freep(struct daybook **daybook);

/*
 * Begins a sample for the time `at`, which stands for the time `step` before it: `capacity` is what the cluster has. The
 * calls of daybook_add() that follow belong to it. A sample that is not after the last one is left out: then false.
 */
MUST_CHECK bool daybook_begin(struct daybook *daybook, nsec_t at, nsec_t step, const double capacity[SHARE_COUNT]);

/* What a queue has, once for each queue that has something. */
void daybook_add(struct daybook *daybook, const char *queue, const double allocated[SHARE_COUNT]);

/* What is not after `time` counts no more. */
void daybook_drop(struct daybook *daybook, nsec_t time);

/*
 * The sums of a resource over what is after `now - range`, by queue, and the cluster's own. A sample of the age of
 * `half_life` counts half; 0: all count the same.
 */
void daybook_sum(const struct daybook *daybook, nsec_t now, nsec_t range, nsec_t half_life, int resource,
                 struct usage_samples *ret_queues, double *ret_whole);

/* As JSON, to be freed; NULL: it takes more than DAYBOOK_BYTES_MAX. */
char *daybook_encode(const struct daybook *daybook, size_t *ret_len);

/* Reads what daybook_encode() wrote. Returns 0; -EINVAL for anything else. */
MUST_CHECK int daybook_decode(const char *text, size_t len, struct daybook **ret_daybook, struct err *err);
