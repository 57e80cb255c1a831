/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Past use of queues, from Prometheus or from the own record. Six questions make one fetch: what each queue had of each resource, added up over the window, and
 * what the cluster had. The parts are what counts. One answer that is missing or makes no sense spoils the fetch, and
 * what was known before stays.
 */
#include "services/scheduler/intake/usage.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/strbuf.h"
#include "base/vec.h"
#include "kube/access/base64.h"
#include "model/delta.h"
#include "model/state.h"
#include "net/http.h"
#include "net/loop.h"
#include "services/scheduler/intake/usage_history.h"
#include "services/scheduler/intake/usage_internal.h"
#include "services/scheduler/observe/observer.h"
#include "services/scheduler/pace.h"

/* How often it is looked whether the own record has been read. */
#define UNREAD_STEP (200 * NSEC_PER_MSEC)

enum { ANSWER_MAX = 16 << 20, ADDRESS_MAX = 64 << 10, QUESTIONS = 2 * SHARE_COUNT };

struct question {
    struct usage *usage;
    struct http_call *call;  // NULL: not under way
    char *expression;
    struct usage_samples samples;
};

/* What a queue had, as parts of the cluster. */
struct queue_use {
    char *queue;
    double parts[SHARE_COUNT];
};

struct usage {
    struct state *state;
    struct log *log;
    struct observers *observers;
    struct pace *pace;
    const struct usage_setting *settings;
    struct cron cron;
    struct usage_history *history;  // the own record; NULL: Prometheus is asked
    struct http_client *client;
    char *url;                             // without a password
    char *authorization;                   // a header; NULL: none
    struct question questions[QUESTIONS];  // of allocations first, then of capacities
    uint32_t open;                         // that are not answered
    nsec_t began;                          // of the fetch, monotonic
    struct loop_timer next;
    struct loop_timer patience;
    VEC(struct queue_use) queues;  // by name
    nsec_t known_since;            // monotonic; 0: nothing is known
    bool is_stale;
};

static void forget(struct usage *usage)
{
    vec_foreach (&usage->queues, queue)
        free(queue->queue);
    vec_clear(&usage->queues);
}

static int by_queue(const void *a, const void *b)
{
    return strcmp(((const struct queue_use *)a)->queue, ((const struct queue_use *)b)->queue);
}

static const struct queue_use *find(const struct usage *usage, const char *queue)
{
    struct queue_use wanted = {.queue = (char *)(uintptr_t)queue};

    if (usage->queues.len == 0)
        return NULL;
    return bsearch(&wanted, usage->queues.items, usage->queues.len, sizeof wanted, by_queue);
}

static bool are_same(const double a[SHARE_COUNT], const double b[SHARE_COUNT])
{
    for (int r = 0; r < SHARE_COUNT; r++) {
        if (a[r] != b[r])
            return false;
    }
    return true;
}

/* The queue's past into the state; whether that changed anything. */
static bool tell(struct usage *usage, queue_id id)
{
    static const double none[SHARE_COUNT] = {0};
    struct state *state = usage->state;
    const struct queue *queue = &state->queues.items[id];
    const struct queue_use *known = find(usage, state_name(state, queue->name));
    const double *parts = known ? known->parts : none;

    if (!queue->is_present || are_same(queue->usage, parts))
        return false;
    state_set_usage(state, state_name(state, queue->name), parts);
    return true;
}

void usage_tell_queue(struct usage *usage, const char *name)
{
    queue_id id = usage ? state_find_queue(usage->state, name) : NO_ID;

    if (id != NO_ID && usage->known_since > 0)
        (void)tell(usage, id);
}

void usage_set_state(struct usage *usage, struct state *state)
{
    if (!usage)
        return;
    usage->state = state;
    if (usage->history)
        usage_history_set_state(usage->history, state);
}

void usage_stop(struct usage *usage)
{
    if (usage && usage->history)
        usage_history_stop(usage->history);
}

bool usage_is_idle(const struct usage *usage)
{
    return !usage || !usage->history || usage_history_is_idle(usage->history);
}

static void end_wait(struct usage *usage)
{
    if (!pace_is_held(usage->pace, HOLD_USAGE))
        return;
    loop_timer_stop(&usage->patience);
    pace_release(usage->pace, HOLD_USAGE);
}

static void on_patience(void *arg)
{
    struct usage *usage = arg;

    log_warn(usage->log, "past use is not known yet; scheduling without it",
             log_duration("after", usage->settings->source.wait));
    end_wait(usage);
}

static void clear_questions(struct usage *usage)
{
    for (int i = 0; i < QUESTIONS; i++) {
        struct question *question = &usage->questions[i];

        if (question->call)
            http_cancel(question->call);
        question->call = NULL;
        free(question->expression);
        question->expression = NULL;
        usage_samples_done(&question->samples);
    }
    usage->open = 0;
}

static void end_fetch(struct usage *usage)
{
    nsec_t took = nsec_now_monotonic() - usage->began;

    clear_questions(usage);
    loop_timer_start(&usage->next, MAX(usage->settings->interval - took, (nsec_t)0));
}

static void fail(struct usage *usage, const struct err *err)
{
    nsec_t staleness = MAX(usage->settings->source.staleness, usage->settings->interval);
    nsec_t age = nsec_now_monotonic() - usage->known_since;

    log_warn(usage->log, "past use could not be queried; keeping the last known values", log_error(err));
    if (usage->known_since > 0 && !usage->is_stale && age > staleness) {
        usage->is_stale = true;
        log_warn(usage->log, "past use is stale; still using it", log_duration("age", age));
    }
    end_fetch(usage);
}

static void merge(struct usage *usage)
{
    uint32_t kept = 0;

    if (usage->queues.len == 0)
        return;
    qsort(usage->queues.items, usage->queues.len, sizeof *usage->queues.items, by_queue);
    for (uint32_t i = 1; i < usage->queues.len; i++) {
        struct queue_use *last = &usage->queues.items[kept];
        struct queue_use *queue = &usage->queues.items[i];

        if (by_queue(last, queue) != 0) {
            usage->queues.items[++kept] = *queue;
            continue;
        }
        for (int r = 0; r < SHARE_COUNT; r++)
            last->parts[r] += queue->parts[r];
        free(queue->queue);
    }
    usage->queues.len = kept + 1;
}

/* What the answers say, as parts. A cluster that has nothing of a resource cannot have had it used. */
static void take_parts(struct usage *usage)
{
    forget(usage);
    for (int r = 0; r < SHARE_COUNT; r++) {
        const struct usage_samples *capacity = &usage->questions[SHARE_COUNT + r].samples;
        double whole = capacity->len > 0 ? capacity->items[0].value : 0;

        vec_foreach (&usage->questions[r].samples, sample) {
            struct queue_use queue = {.queue = xstrdup(sample->queue)};

            queue.parts[r] = whole > 0 ? sample->value / whole : 0;
            vec_push(&usage->queues, queue);
        }
    }
    merge(usage);
}

/* Everything was answered: this is the past from now on. */
static void succeed(struct usage *usage)
{
    bool is_changed = false;

    take_parts(usage);
    if (usage->is_stale || usage->known_since == 0)
        log_info(usage->log, "past use of queues was read", log_str("from", usage->settings->source.client),
                 log_int("queues", usage->queues.len));
    usage->is_stale = false;
    usage->known_since = usage->began;
    OBSERVE(usage->observers, on_usage, nsec_now_monotonic() - usage->began);
    for (queue_id id = 0; id < usage->state->queues.len; id++)
        is_changed |= tell(usage, id);
    end_fetch(usage);
    if (is_changed)
        pace_wake(usage->pace);
    end_wait(usage);
}

static int check_answer(struct question *question, const struct http_response *response, struct err *err)
{
    bool is_capacity = question >= &question->usage->questions[SHARE_COUNT];
    int r = response->err.code;

    if (r < 0)
        return err_set(err, r, "%s", response->err.text);
    r = usage_answer_parse(response->body, response->body_len, &question->samples, err);
    if (r < 0 && response->status != 200)
        return err_wrap(err, r, "status %d", response->status);
    if (r >= 0 && is_capacity && question->samples.len == 0)
        return err_set(err, -ENODATA, "no data: check that Prometheus has the capacity metrics");
    return r;
}

static void on_answer(void *arg, const struct http_response *response)
{
    struct question *question = arg;
    struct usage *usage = question->usage;
    struct err err = {0};

    question->call = NULL;
    usage->open--;
    int r = check_answer(question, response, &err);
    if (r < 0) {
        (void)err_wrap(&err, r, "%s: %s", usage->url, question->expression);
        fail(usage, &err);
    } else if (usage->open == 0) {
        succeed(usage);
    }
}

static void ask(struct usage *usage, struct question *question, const char *metric, nsec_t range, nsec_t now)
{
    const char *const headers[] = {"Accept: application/json", usage->authorization, NULL};
    struct strbuf text;
    struct strbuf address;

    strbuf_init(&text, ADDRESS_MAX);
    strbuf_init(&address, ADDRESS_MAX);
    usage_expression(usage->settings, metric, range, now, &text);
    usage_address(usage->url, text.text, now, &address);
    question->expression = strbuf_take(&text);
    question->call = http_start(usage->client, &(struct http_request){
                                                   .method = "GET",
                                                   .url = address.text,
                                                   .headers = headers,
                                                   .accepts_gzip = true,
                                                   .timeout = usage->settings->source.query_timeout,
                                                   .body_max = ANSWER_MAX,
                                                   .on_done = on_answer,
                                                   .arg = question,
                                               });
    usage->open++;
    strbuf_done(&text);
    strbuf_done(&address);
}

/* The own record has the answers at once, when it has been read. */
static void look_up(struct usage *usage, nsec_t range, nsec_t now)
{
    struct usage_samples queues[SHARE_COUNT] = {0}, whole[SHARE_COUNT] = {0};

    if (!usage_history_sum(usage->history, now, range, queues, whole)) {
        loop_timer_start(&usage->next, UNREAD_STEP);
        return;
    }
    for (int r = 0; r < SHARE_COUNT; r++) {
        usage->questions[r].samples = queues[r];
        usage->questions[SHARE_COUNT + r].samples = whole[r];
    }
    succeed(usage);
}

static void fetch(void *arg)
{
    struct usage *usage = arg;
    const struct usage_source *source = &usage->settings->source;
    nsec_t now = nsec_now_wall();
    nsec_t range = usage_range(usage->settings, &usage->cron, now);

    usage->began = nsec_now_monotonic();
    if (usage->history) {
        look_up(usage, range, now);
        return;
    }
    /* Nothing has been counted in a window that has just begun. */
    if (range < source->resolution) {
        succeed(usage);
        return;
    }
    for (int r = 0; r < SHARE_COUNT; r++) {
        ask(usage, &usage->questions[r], source->allocation[r], range, now);
        ask(usage, &usage->questions[SHARE_COUNT + r], source->capacity[r], range, now);
    }
}

/* The address, and a user's name and password in front of the host as a header. */
static int take_url(struct usage *usage, const char *url, struct err *err)
{
    size_t scheme = strncmp(url, "http://", 7) == 0 ? 7 : strncmp(url, "https://", 8) == 0 ? 8 : 0;

    if (scheme == 0 || url[scheme] == '\0')
        return err_set(err, -EINVAL, "expected an address such as http://prometheus.monitoring:9090");
    const char *host = url + scheme;
    const char *at = memchr(host, '@', strcspn(host, "/?#"));
    struct strbuf text;

    strbuf_init(&text, ADDRESS_MAX);
    if (at) {
        char *code = base64_encode(host, (size_t)(at - host));

        strbuf_addf(&text, "Authorization: Basic %s", code);
        usage->authorization = strbuf_take(&text);
        free(code);
        host = at + 1;
    }
    strbuf_add(&text, url, scheme);
    strbuf_addstr(&text, host);
    usage->url = strbuf_take(&text);
    strbuf_done(&text);
    return 0;
}

static bool is_own(const struct usage_setting *settings)
{
    return strcmp(settings->source.client, "history") == 0;
}

static int check_address(struct usage *usage, struct err *err)
{
    const struct usage_source *source = &usage->settings->source;
    const char *url = source->url;

    if (!source->url == !source->url_variable)
        return err_set(err, -EINVAL, "expected one of connectionString and connectionStringEnvVar, found %s",
                       source->url ? "both" : "none");
    if (!url)
        url = getenv(source->url_variable);
    if (!url)
        return err_set(err, -EINVAL, "connectionStringEnvVar: variable %s is not set", source->url_variable);
    int r = take_url(usage, url, err);
    return r < 0 ? err_wrap(err, r, source->url ? "connectionString" : "connectionStringEnvVar") : 0;
}

static int check_source(struct usage *usage, struct err *err)
{
    const struct usage_source *source = &usage->settings->source;
    int r = 0;

    if (strcmp(source->client, "prometheus") == 0)
        r = check_address(usage, err);
    else if (!is_own(usage->settings))
        r = err_set(err, -EINVAL, "clientType: expected prometheus or history, found '%s'", source->client);
    if (r < 0)
        return r;
    if (source->resolution <= 0 || source->query_timeout <= 0)
        return err_set(err, -EINVAL,
                       "usageParams.extraParams: queryResolution and usageQueryTimeout have to be above 0");
    if (usage->settings->window_type == USAGE_TUMBLING && !source->has_tumbling_start)
        return err_set(err, -EINVAL, "usageParams.tumblingWindowStartTime: a tumbling window needs it");
    if (usage->settings->window_type != USAGE_CRON)
        return 0;
    if (!source->cron)
        return err_set(err, -EINVAL, "usageParams.cronString: a window of type cron needs it");
    r = cron_parse(source->cron, &usage->cron, err);
    return r < 0 ? err_wrap(err, r, "usageParams.cronString") : 0;
}

int usage_open(const struct usage_options *options, struct usage **ret_usage, struct err *err)
{
    const struct usage_setting *settings = options->settings;

    *ret_usage = NULL;
    if (!settings->is_on)
        return 0;
    struct usage *usage = xcalloc(1, sizeof *usage);
    *usage = (struct usage){
        .settings = settings,
        .log = options->log,
        .observers = options->observers,
        .pace = options->pace,
    };
    for (int i = 0; i < QUESTIONS; i++)
        usage->questions[i].usage = usage;
    loop_timer_init(&usage->next, options->loop, fetch, usage);
    loop_timer_init(&usage->patience, options->loop, on_patience, usage);
    usage->client = http_client_new(options->loop);
    int r = check_source(usage, err);
    if (r < 0) {
        usage_close(usage);
        return err_wrap(err, r, "usageDBConfig");
    }
    if (is_own(settings))
        usage->history = usage_history_new(&(struct usage_history_options){
            .settings = settings,
            .loop = options->loop,
            .log = options->log,
            .client = options->client,
            .pace = options->pace,
            .namespace = options->namespace,
            .scheduler = options->scheduler,
            .is_silent = options->is_silent,
        });
    loop_timer_start(&usage->next, 0);
    if (settings->source.wait > 0) {
        pace_hold(usage->pace, HOLD_USAGE);
        loop_timer_start(&usage->patience, settings->source.wait);
    }
    *ret_usage = usage;
    return 0;
}

void usage_close(struct usage *usage)
{
    if (!usage)
        return;
    clear_questions(usage);
    loop_timer_done(&usage->next);
    loop_timer_done(&usage->patience);
    http_client_free(usage->client);
    usage_history_free(usage->history);
    forget(usage);
    vec_done(&usage->queues);
    free(usage->url);
    free(usage->authorization);
    free(usage);
}
