/* SPDX-License-Identifier: Apache-2.0 */

/*
 * The registry of metrics. A series is found by the hash of its label values, and by its neighbours in a chain where two
 * hash alike. Series never move, so that whoever counts often keeps the pointer and pays for an addition.
 */
#include "text/metrics.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/macros.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/strbuf.h"
#include "base/vec.h"

enum meter_type { METER_COUNTER, METER_GAUGE, METER_HISTOGRAM };

struct meter_series {
    struct meter *meter;
    struct meter_series *next_same;  // another one whose values hash alike
    uint64_t hash;
    char *labels[METER_LABELS_MAX];
    double value;       // or the sum of a histogram
    uint64_t counts[];  // of a histogram: by bucket, and one for what is above all
};

struct meter {
    struct metrics *metrics;
    char *name;
    char *help;
    enum meter_type type;
    char *labels[METER_LABELS_MAX];
    size_t label_count;
    double buckets[METER_BUCKETS_MAX];
    size_t bucket_count;
    VEC(struct meter_series *) series;
    struct map64 by_hash;
    struct meter_series *overflow;  // takes what goes beyond the limit, and is never shown
};

struct collector {
    metrics_collect_fn fn;
    void *arg;
};

struct metrics {
    char *prefix;
    char *label, *label_value;  // of all series; NULL: none
    VEC(struct meter *) all;    // by name
    VEC(struct collector) collectors;
    struct meter_series *dropped;
};

static void series_free(struct meter_series *series)
{
    if (!series)
        return;
    for (size_t i = 0; i < METER_LABELS_MAX; i++)
        free(series->labels[i]);
    free(series);
}

static void meter_free(struct meter *meter)
{
    meter_clear(meter);
    vec_done(&meter->series);
    map64_done(&meter->by_hash);
    series_free(meter->overflow);
    for (size_t i = 0; i < meter->label_count; i++)
        free(meter->labels[i]);
    free(meter->name);
    free(meter->help);
    free(meter);
}

static struct meter *add_meter(struct metrics *metrics, const char *prefix, const char *name, const char *help,
                               enum meter_type type, const char *const *labels)
{
    struct strbuf whole;
    struct meter *meter;
    uint32_t at = 0;

    strbuf_init(&whole, 512);
    strbuf_addf(&whole, "%s%s%s", prefix, *prefix ? "_" : "", name);
    while (at < metrics->all.len && strcmp(metrics->all.items[at]->name, whole.text) < 0)
        at++;
    if (at < metrics->all.len && strcmp(metrics->all.items[at]->name, whole.text) == 0) {
        strbuf_done(&whole);
        BUG_ON(metrics->all.items[at]->type != type);
        return metrics->all.items[at];
    }
    meter = xcalloc(1, sizeof *meter);
    meter->metrics = metrics;
    meter->name = strbuf_take(&whole);
    meter->help = xstrdup(help);
    meter->type = type;
    for (; labels && labels[meter->label_count]; meter->label_count++) {
        BUG_ON(meter->label_count >= METER_LABELS_MAX);
        meter->labels[meter->label_count] = xstrdup(labels[meter->label_count]);
    }
    vec_insert_at(&metrics->all, at, meter);
    return meter;
}

struct metrics *metrics_new(const char *prefix)
{
    struct metrics *metrics = xcalloc(1, sizeof *metrics);
    struct meter *dropped;

    metrics->prefix = xstrdup(prefix);
    dropped = metrics_counter(metrics, "metric_series_dropped_total",
                              "Samples that were dropped because a metric had too many series.", NULL);
    metrics->dropped = meter_series(dropped, NULL);
    return metrics;
}

void metrics_free(struct metrics *metrics)
{
    if (!metrics)
        return;
    vec_foreach (&metrics->all, meter)
        meter_free(*meter);
    vec_done(&metrics->all);
    vec_done(&metrics->collectors);
    free(metrics->prefix);
    free(metrics->label);
    free(metrics->label_value);
    free(metrics);
}

void metrics_set_label(struct metrics *metrics, const char *name, const char *value)
{
    BUG_ON(metrics->label);
    metrics->label = xstrdup(name);
    metrics->label_value = xstrdup(value);
}

void metrics_freep(struct metrics **metrics)
{
    metrics_free(*metrics);
}

struct meter *metrics_counter(struct metrics *metrics, const char *name, const char *help, const char *const *labels)
{
    return add_meter(metrics, metrics->prefix, name, help, METER_COUNTER, labels);
}

struct meter *metrics_gauge(struct metrics *metrics, const char *name, const char *help, const char *const *labels)
{
    return add_meter(metrics, metrics->prefix, name, help, METER_GAUGE, labels);
}

struct meter *metrics_histogram(struct metrics *metrics, const char *name, const char *help, const char *const *labels,
                                const double *buckets, size_t bucket_count)
{
    struct meter *meter = add_meter(metrics, metrics->prefix, name, help, METER_HISTOGRAM, labels);

    BUG_ON(bucket_count == 0 || bucket_count > METER_BUCKETS_MAX);
    meter->bucket_count = bucket_count;
    memcpy(meter->buckets, buckets, bucket_count * sizeof *buckets);
    return meter;
}

struct meter *metrics_foreign(struct metrics *metrics, const char *name, const char *help, bool is_counter)
{
    return add_meter(metrics, "", name, help, is_counter ? METER_COUNTER : METER_GAUGE, NULL);
}

static uint64_t hash_of(const struct meter *meter, const char *const *values)
{
    uint64_t hash = 0;

    BUG_ON(meter->label_count > 0 && !values);
    for (size_t i = 0; values && i < meter->label_count; i++)
        hash = hash_str(values[i], hash);
    return hash;
}

static bool has_values(const struct meter_series *series, const char *const *values)
{
    for (size_t i = 0; values && i < series->meter->label_count; i++) {
        if (strcmp(series->labels[i], values[i]) != 0)
            return false;
    }
    return true;
}

static struct meter_series *first_of(const struct meter *meter, uint64_t hash)
{
    uint64_t found;

    return map64_get(&meter->by_hash, hash, &found) ? (struct meter_series *)(uintptr_t)found : NULL;
}

static struct meter_series *series_new(struct meter *meter)
{
    size_t counts = meter->bucket_count ? meter->bucket_count + 1 : 0;
    struct meter_series *series = xcalloc(1, sizeof *series + counts * sizeof *series->counts);

    series->meter = meter;
    return series;
}

struct meter_series *meter_series(struct meter *meter, const char *const *values)
{
    uint64_t hash = hash_of(meter, values);
    struct meter_series *first = first_of(meter, hash);
    struct meter_series *series;

    for (series = first; series; series = series->next_same) {
        if (has_values(series, values))
            return series;
    }
    if (meter->series.len >= METER_SERIES_MAX) {
        meter_add(meter->metrics->dropped, 1);
        if (!meter->overflow)
            meter->overflow = series_new(meter);
        return meter->overflow;
    }
    series = series_new(meter);
    series->hash = hash;
    series->next_same = first;
    for (size_t i = 0; i < meter->label_count; i++)
        series->labels[i] = xstrdup(values[i]);
    map64_put(&meter->by_hash, hash, (uintptr_t)series);
    vec_push(&meter->series, series);
    return series;
}

void meter_add(struct meter_series *series, double amount)
{
    BUG_ON(series->meter->type == METER_HISTOGRAM);
    series->value += amount;
}

void meter_set(struct meter_series *series, double value)
{
    BUG_ON(series->meter->type == METER_HISTOGRAM);
    series->value = value;
}

void meter_observe(struct meter_series *series, double value)
{
    const struct meter *meter = series->meter;
    size_t bucket = 0;

    BUG_ON(meter->type != METER_HISTOGRAM);
    while (bucket < meter->bucket_count && !(value <= meter->buckets[bucket]))
        bucket++;
    series->counts[bucket]++;
    series->value += value;
}

double meter_value(const struct meter_series *series)
{
    return series->value;
}

/* Takes the series out of its chain. */
static void unlink_series(struct meter *meter, struct meter_series *series)
{
    struct meter_series *first = first_of(meter, series->hash);

    if (first != series) {
        while (first->next_same != series)
            first = first->next_same;
        first->next_same = series->next_same;
    } else if (series->next_same) {
        map64_put(&meter->by_hash, series->hash, (uintptr_t)series->next_same);
    } else {
        (void)map64_remove(&meter->by_hash, series->hash);
    }
}

bool meter_remove(struct meter *meter, const char *const *values)
{
    for (uint32_t i = 0; i < meter->series.len; i++) {
        struct meter_series *series = meter->series.items[i];

        if (!has_values(series, values))
            continue;
        unlink_series(meter, series);
        vec_remove_at(&meter->series, i);
        series_free(series);
        return true;
    }
    return false;
}

void meter_clear(struct meter *meter)
{
    vec_foreach (&meter->series, series)
        series_free(*series);
    vec_clear(&meter->series);
    map64_clear(&meter->by_hash);
}

void metrics_on_collect(struct metrics *metrics, metrics_collect_fn fn, void *arg)
{
    vec_push(&metrics->collectors, (struct collector){fn, arg});
}

static void add_number(struct strbuf *text, double value)
{
    char shorter[40];

    if (isnan(value)) {
        strbuf_addstr(text, "NaN");
    } else if (isinf(value)) {
        strbuf_addstr(text, value > 0 ? "+Inf" : "-Inf");
    } else {
        (void)snprintf(shorter, sizeof shorter, "%.15g", value);
        if (strtod(shorter, NULL) == value)
            strbuf_addstr(text, shorter);
        else
            strbuf_addf(text, "%.17g", value);
    }
}

static void add_escaped(struct strbuf *text, const char *value, bool in_quotes)
{
    for (; *value; value++) {
        if (*value == '\n')
            strbuf_addstr(text, "\\n");
        else if (*value == '\\' || (*value == '"' && in_quotes))
            strbuf_addf(text, "\\%c", *value);
        else
            strbuf_addch(text, *value);
    }
}

static void add_label(struct strbuf *text, const char **separator, const char *name, const char *value)
{
    strbuf_addf(text, "%s%s=\"", *separator, name);
    add_escaped(text, value, true);
    strbuf_addch(text, '"');
    *separator = ",";
}

/* {a="1",b="2"}, with `le` behind them where there is one. */
static void add_labels(struct strbuf *text, const struct meter_series *series, const double *le)
{
    const struct meter *meter = series->meter;
    const struct metrics *metrics = meter->metrics;
    const char *separator = "{";

    if (metrics->label)
        add_label(text, &separator, metrics->label, metrics->label_value);
    for (size_t i = 0; i < meter->label_count; i++)
        add_label(text, &separator, meter->labels[i], series->labels[i]);
    if (le) {
        strbuf_addf(text, "%sle=\"", separator);
        add_number(text, *le);
        strbuf_addch(text, '"');
        separator = ",";
    }
    if (*separator == ',')
        strbuf_addch(text, '}');
}

static void render_histogram(struct strbuf *text, const struct meter_series *series)
{
    const struct meter *meter = series->meter;
    uint64_t count = 0;

    for (size_t i = 0; i <= meter->bucket_count; i++) {
        double le = i < meter->bucket_count ? meter->buckets[i] : INFINITY;

        count += series->counts[i];
        strbuf_addf(text, "%s_bucket", meter->name);
        add_labels(text, series, &le);
        strbuf_addf(text, " %" PRIu64 "\n", count);
    }
    strbuf_addf(text, "%s_sum", meter->name);
    add_labels(text, series, NULL);
    strbuf_addch(text, ' ');
    add_number(text, series->value);
    strbuf_addf(text, "\n%s_count", meter->name);
    add_labels(text, series, NULL);
    strbuf_addf(text, " %" PRIu64 "\n", count);
}

static void render_head(struct strbuf *text, const struct meter *meter)
{
    static const char *const types[] = {"counter", "gauge", "histogram"};

    strbuf_addf(text, "# HELP %s ", meter->name);
    add_escaped(text, meter->help, false);
    strbuf_addf(text, "\n# TYPE %s %s\n", meter->name, types[meter->type]);
}

static void render_series(struct strbuf *text, const struct meter *meter)
{
    vec_foreach (&meter->series, series) {
        if (meter->type == METER_HISTOGRAM) {
            render_histogram(text, *series);
            continue;
        }
        strbuf_addstr(text, meter->name);
        add_labels(text, *series, NULL);
        strbuf_addch(text, ' ');
        add_number(text, (*series)->value);
        strbuf_addch(text, '\n');
    }
}

/* The first of all names that come after the last one; NULL: there is none. */
static const char *next_name(struct metrics *const *all, const uint32_t *at, size_t count)
{
    const char *first = NULL;

    for (size_t i = 0; i < count; i++) {
        const char *name = at[i] < all[i]->all.len ? all[i]->all.items[at[i]]->name : NULL;

        if (name && (!first || strcmp(name, first) < 0))
            first = name;
    }
    return first;
}

/* All that has that name, behind one head. */
static void render_name(struct metrics *const *all, uint32_t *at, size_t count, const char *name, struct strbuf *text)
{
    bool has_head = false;

    for (size_t i = 0; i < count; i++) {
        if (at[i] >= all[i]->all.len || strcmp(all[i]->all.items[at[i]]->name, name) != 0)
            continue;
        const struct meter *meter = all[i]->all.items[at[i]++];

        if (meter->series.len > 0 && !has_head)
            render_head(text, meter);
        has_head = has_head || meter->series.len > 0;
        render_series(text, meter);
    }
}

void metrics_render_all(struct metrics *const *all, size_t count, struct strbuf *text)
{
    uint32_t *at = xcalloc(MAX(count, (size_t)1), sizeof *at);
    const char *name;

    for (size_t i = 0; i < count; i++) {
        vec_foreach (&all[i]->collectors, collector)
            collector->fn(collector->arg, all[i]);
    }
    while ((name = next_name(all, at, count)))
        render_name(all, at, count, name, text);
    free(at);
}

void metrics_render(struct metrics *metrics, struct strbuf *text)
{
    metrics_render_all(&metrics, 1, text);
}
