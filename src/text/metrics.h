/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct strbuf;

/*
 * Figures for Prometheus: counters, gauges and histograms, each with any number of series that differ in the values of
 * their labels, written in the text format.
 *
 *     struct meter *binds = metrics_counter(metrics, "binds_total", "Pods that were bound.", METER_LABELS("queue"));
 *     meter_add(meter_series(binds, METER_LABELS("team-a")), 1);
 *
 * Names are ours and well-formed; label values may come from outside and hold anything. A meter holds a limited number
 * of series: what goes beyond is counted in `<prefix>_metric_series_dropped_total` and nowhere else, so that nobody can
 * fill the memory with names.
 */
struct metrics;
struct meter;
struct meter_series;

enum { METER_LABELS_MAX = 8, METER_BUCKETS_MAX = 32, METER_SERIES_MAX = 10000 };

/* `prefix` is put in front of every name, with an underscore; "" for none. */
struct metrics *metrics_new(const char *prefix);
void metrics_free(struct metrics *metrics);
void metrics_freep(struct metrics **metrics);

/* A label that all series of the registry have, in front of their own. */
void metrics_set_label(struct metrics *metrics, const char *name, const char *value);

/* Names of labels, or their values, up to a NULL: what is left of the list. */
#define METER_LABELS(...) ((const char *const[METER_LABELS_MAX + 1]){__VA_ARGS__})

/*
 * Makes a meter; it lives as long as the registry. Asking again for a name gives the meter that has it. `labels` are
 * the names of its labels, NULL for none; `buckets` the upper bounds of a histogram's buckets, ascending and without
 * the infinite one.
 */
struct meter *metrics_counter(struct metrics *metrics, const char *name, const char *help, const char *const *labels);
struct meter *metrics_gauge(struct metrics *metrics, const char *name, const char *help, const char *const *labels);
struct meter *metrics_histogram(struct metrics *metrics, const char *name, const char *help, const char *const *labels,
                                const double *buckets, size_t bucket_count);

/* `name` is used as it is, without the prefix: for names that everybody knows, such as process_cpu_seconds_total. */
struct meter *metrics_foreign(struct metrics *metrics, const char *name, const char *help, bool is_counter);

/*
 * The series with these values, as many as the meter has labels; NULL or an empty list for one without labels.
 * It is there from now on, with a value of 0, and lives until it is removed; keep it where figures change often. Never
 * NULL: past the limit it is one that nobody sees.
 */
struct meter_series *meter_series(struct meter *meter, const char *const *values) __attribute__((returns_nonnull));

void meter_add(struct meter_series *series, double amount);     // counters and gauges
void meter_set(struct meter_series *series, double value);      // gauges
void meter_observe(struct meter_series *series, double value);  // histograms
double meter_value(const struct meter_series *series);          // of a counter or gauge; the sum of a histogram

/* Whether there was such a series. Its pointer must not be used any more. */
bool meter_remove(struct meter *meter, const char *const *values);

/* Removes all series of the meter. */
void meter_clear(struct meter *meter);

/* Called before each rendering, to set what is only looked at then. */
typedef void (*metrics_collect_fn)(void *arg, struct metrics *metrics);
void metrics_on_collect(struct metrics *metrics, metrics_collect_fn fn, void *arg);

/* Appends all metrics in the text format, by name, series in the order in which they came. */
void metrics_render(struct metrics *metrics, struct strbuf *text);

/* The same of several registries together: what has one name stands together. Their series must differ in a label. */
void metrics_render_all(struct metrics *const *all, size_t count, struct strbuf *text);

#define METRICS_CONTENT_TYPE "text/plain; version=0.0.4; charset=utf-8"
