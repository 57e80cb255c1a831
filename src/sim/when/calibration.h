/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/time.h"
#include "base/vec.h"

/*
 * When a workload is expected to start: what the futures said, and the intervals once they are corrected.
 *
 * The scale is the fourth root of the wait from the moment of the prediction on: errors grow with the wait, but less than
 * it does. The futures' median is the centre; from it to their 5th and 95th percentile are two spreads.
 */
enum { PREDICTION_80, PREDICTION_90, PREDICTION_INTERVALS };

/* What a prediction is about; those of like workloads come out alike. */
struct prediction_subject {
    uint64_t queue;  // hash of its name
    int64_t gpus;    // billionths, of all pods
};

struct prediction {
    nsec_t at;  // the moment that it was made, of which nothing later was seen
    nsec_t median;
    nsec_t low[PREDICTION_INTERVALS];
    nsec_t high[PREDICTION_INTERVALS];
    nsec_t first;    // the 5th percentile of the futures
    nsec_t last;     // and the 95th
    nsec_t horizon;  // nothing later was looked at: an interval that ends here may end later
    struct prediction_subject subject;
    double centre;
    double below;
    double above;
    uint32_t futures;     // that it rests on
    uint32_t started;     // of these
    uint32_t calibrated;  // earlier predictions that corrected it, 0: none did
};

/* From the sorted starts in all futures, NSEC_MAX for those without one; `horizon` stands for these. */
void prediction_set(struct prediction *prediction, nsec_t at, const nsec_t *sorted, uint32_t count, nsec_t horizon,
                    const struct prediction_subject *subject);

/*
 * How earlier predictions came out, by which later ones are corrected (conformal prediction): by how many spreads the
 * real start lay off the centre. The 90 % interval reaches from the 5th to the 95th percentile of these, or up to the
 * 90th if that is shorter, whatever the futures themselves said. The median stays that of the futures.
 *
 * Not all of them count alike: more those of the same queue, of the same size, with about the same wait to come, and the
 * latest. What has not started yet is off by at least as much as if it started now; percentiles are those of the
 * Kaplan-Meier estimate, which takes this into account. Without that the long waits, whose outcome is known last, would
 * be missing.
 */
enum { CALIBRATION_KEPT = 3000, CALIBRATION_MIN = 20 };

struct calibration_score {
    nsec_t at;
    struct prediction_subject subject;
    double centre;
    double off;
};

struct calibration {
    VEC(struct calibration_score) scores;  // a ring, once it is full
    uint32_t oldest;
};

void calibration_done(struct calibration *calibration);

/* By how many spreads `start` is off the prediction. */
double prediction_off(const struct prediction *prediction, nsec_t start);

/* The workload started then. */
void calibration_add(struct calibration *calibration, const struct prediction *prediction, nsec_t start);

/* Corrects the intervals, by outcomes and by the predictions `open` (may be NULL) of work that still waits at its moment. */
struct prediction_list VEC_OF(struct prediction);
void calibration_apply(const struct calibration *calibration, const struct prediction_list *open,
                       struct prediction *prediction);
