/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/when/calibration.h"

#include <math.h>
#include <stdlib.h>

#include "base/macros.h"
#include "model/resources.h"

/* A minute more or less never matters. */
#define SCALE_SECONDS 60.0
/* Futures that agree may all be wrong: as if each spread had this much more, independent of it. */
#define SPREAD_MORE 2.0

/* How many times as much an outcome counts that is about the same queue, or the same size. */
#define SAME_QUEUE 10.0
#define SAME_SIZE 4.0
/* A wait that was to be so much longer or shorter, on the scale, counts a quarter, and none counts less than this. */
#define CENTRE_WIDTH 2.0
#define CENTRE_LEAST 0.05
/* One that is so old counts half. */
#define AGE_WIDTH (14.0 * 24 * 3600 * 1e9)

static const double tails[PREDICTION_INTERVALS] = {[PREDICTION_80] = 0.1, [PREDICTION_90] = 0.05};

/* An earlier prediction, as far as it counts for the one at hand. */
struct outcome {
    double off;  // at least, if it is open
    double weight;
    bool is_open;
};

struct outcomes VEC_OF(struct outcome);

static double scale(nsec_t at, nsec_t start)
{
    return sqrt(sqrt((double)MAX(start - at, 0) / 1e9 + SCALE_SECONDS));
}

static nsec_t unscale(const struct prediction *prediction, double value)
{
    double root = CLAMP(value, 0.0, 1000.0);
    double seconds = root * root * root * root - SCALE_SECONDS;
    double most = (double)(prediction->horizon - prediction->at) / 1e9;

    return prediction->at + (nsec_t)(CLAMP(seconds, 0.0, most) * 1e9);
}

static nsec_t part_of(const nsec_t *sorted, uint32_t count, double part, nsec_t horizon)
{
    uint32_t index = (uint32_t)(part * (count - 1) + 0.5);

    return MIN(sorted[MIN(index, count - 1)], horizon);
}

static double widen(double spread)
{
    return sqrt(spread * spread + SPREAD_MORE * SPREAD_MORE);
}

void prediction_set(struct prediction *prediction, nsec_t at, const nsec_t *sorted, uint32_t count, nsec_t horizon,
                    const struct prediction_subject *subject)
{
    *prediction = (struct prediction){.at = at, .futures = count, .horizon = horizon, .subject = *subject};
    while (prediction->started < count && sorted[prediction->started] != NSEC_MAX)
        prediction->started++;
    prediction->median = part_of(sorted, count, 0.5, horizon);
    for (int i = 0; i < PREDICTION_INTERVALS; i++) {
        prediction->low[i] = part_of(sorted, count, tails[i], horizon);
        prediction->high[i] = part_of(sorted, count, 1 - tails[i], horizon);
    }
    prediction->first = prediction->low[PREDICTION_90];
    prediction->last = prediction->high[PREDICTION_90];
    prediction->centre = scale(at, prediction->median);
    prediction->below = widen(prediction->centre - scale(at, prediction->first));
    prediction->above = widen(scale(at, prediction->last) - prediction->centre);
}

double prediction_off(const struct prediction *prediction, nsec_t start)
{
    double off = scale(prediction->at, start) - prediction->centre;

    return off < 0 ? off / prediction->below : off / prediction->above;
}

void calibration_done(struct calibration *calibration)
{
    vec_done(&calibration->scores);
}

void calibration_add(struct calibration *calibration, const struct prediction *prediction, nsec_t start)
{
    struct calibration_score score = {prediction->at, prediction->subject, prediction->centre,
                                      prediction_off(prediction, start)};

    if (calibration->scores.len < CALIBRATION_KEPT) {
        vec_push(&calibration->scores, score);
        return;
    }
    calibration->scores.items[calibration->oldest] = score;
    calibration->oldest = (calibration->oldest + 1) % CALIBRATION_KEPT;
}

/* ---- What counts how much. ---- */

/* Part of a GPU or one, part of a node, more. */
static int size_of(int64_t gpus)
{
    return gpus <= GPU_ONE ? 0 : gpus < 8 * GPU_ONE ? 1 : 2;
}

static double weigh(const struct prediction *prediction, nsec_t at, const struct prediction_subject *subject,
                    double centre)
{
    double apart = (prediction->centre - centre) / CENTRE_WIDTH;
    double age = (double)(prediction->at - at) / AGE_WIDTH;
    double near = 1 / (1 + apart * apart);
    double alike = 1;

    if (subject->queue == prediction->subject.queue)
        alike *= SAME_QUEUE;
    if (size_of(subject->gpus) == size_of(prediction->subject.gpus))
        alike *= SAME_SIZE;
    return alike * (CENTRE_LEAST + near * near) / (1 + age * age);
}

static void list_outcomes(const struct calibration *calibration, const struct prediction_list *open,
                          const struct prediction *prediction, struct outcomes *outcomes)
{
    vec_foreach (&calibration->scores, score)
        vec_push(outcomes,
                 (struct outcome){score->off, weigh(prediction, score->at, &score->subject, score->centre), false});
    for (uint32_t i = 0; open && i < open->len; i++) {
        const struct prediction *other = &open->items[i];

        vec_push(outcomes, (struct outcome){prediction_off(other, prediction->at),
                                            weigh(prediction, other->at, &other->subject, other->centre), true});
    }
}

/* Where both are the same, what has started comes first: what is open is off by more. */
static int compare_outcomes(const void *l_, const void *r_)
{
    const struct outcome *l = l_;
    const struct outcome *r = r_;

    if (l->off != r->off)
        return l->off < r->off ? -1 : 1;
    if (l->is_open != r->is_open)
        return l->is_open ? 1 : -1;
    return l->weight < r->weight ? -1 : l->weight > r->weight;
}

/* ---- Percentiles. ---- */

/* The first off at which the part is reached; infinite when too many are open to say. */
static double off_at(const struct outcomes *sorted, double all, double part)
{
    double at_risk = all;
    double survival = 1;

    if (part <= 0)
        return -INFINITY;
    vec_foreach (sorted, outcome) {
        if (!outcome->is_open && at_risk > 0)
            survival *= 1 - outcome->weight / at_risk;
        if (!outcome->is_open && 1 - survival >= part)
            return outcome->off;
        at_risk -= outcome->weight;
    }
    return INFINITY;
}

static nsec_t end_at(const struct prediction *prediction, double off)
{
    if (off == -INFINITY)
        return prediction->at;
    if (off == INFINITY)
        return prediction->horizon;
    return unscale(prediction, prediction->centre + off * (off < 0 ? prediction->below : prediction->above));
}

/*
 * Sets interval `i` with either `below` or `below` + `more` of the starts in front of it, whichever is shorter. Returns that
 * part.
 */
static double set_interval(struct prediction *prediction, int i, const struct outcomes *sorted, double all,
                           double below, double more)
{
    const double choices[] = {below, below + more};
    /* Conformal prediction counts the one to come among the others, at the far end. */
    double own = 1.0 / sorted->len;
    nsec_t best = NSEC_MAX;

    for (size_t k = 0; k < ARRAY_LEN(choices); k++) {
        double last = choices[k] + 1 - 2 * tails[i];
        nsec_t low = MIN(end_at(prediction, off_at(sorted, all, choices[k] * (1 + own) - own)), prediction->median);
        nsec_t high = MAX(end_at(prediction, off_at(sorted, all, last * (1 + own))), prediction->median);

        if (high - low >= best)
            continue;
        best = high - low;
        below = choices[k];
        prediction->low[i] = low;
        prediction->high[i] = high;
    }
    return below;
}

/* Waits have a long tail on one side: an interval that leaves out late starts alone is often the shorter one. */
static void set_intervals(struct prediction *prediction, const struct outcomes *sorted)
{
    double all = 0;

    vec_foreach (sorted, outcome)
        all += outcome->weight;
    double below = set_interval(prediction, PREDICTION_90, sorted, all, 0, tails[PREDICTION_90]);
    /* The other lies within it. */
    (void)set_interval(prediction, PREDICTION_80, sorted, all, below, 2 * tails[PREDICTION_90]);
}

void calibration_apply(const struct calibration *calibration, const struct prediction_list *open,
                       struct prediction *prediction)
{
    struct outcomes outcomes = {0};

    if (calibration->scores.len < CALIBRATION_MIN)
        return;
    list_outcomes(calibration, open, prediction, &outcomes);
    qsort(outcomes.items, outcomes.len, sizeof *outcomes.items, compare_outcomes);
    set_intervals(prediction, &outcomes);
    prediction->calibrated = outcomes.len;
    vec_done(&outcomes);
}
