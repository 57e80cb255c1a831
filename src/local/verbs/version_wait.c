/* SPDX-License-Identifier: Apache-2.0 */

/* Clients may ask for a state that is at least as new as a version, which can be one that has yet to come. */
#include "local/verbs/version_wait_internal.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "local/server/request.h"
#include "local/server/server_parts.h"
#include "net/http_server.h"
#include "net/rest/errors.h"

#define PATIENCE (3 * NSEC_PER_SEC)
#define BETWEEN_POLLS (20 * NSEC_PER_MSEC)

struct waiting {
    struct request *request;
    uint64_t version;
    nsec_t until;
    struct loop_timer timer;
    void (*then)(struct request *request);
};

static bool parse(const char *text, uint64_t *ret_version)
{
    char *end = NULL;

    errno = 0;
    *ret_version = *text ? strtoull(text, &end, 10) : 0;
    return !*text || (errno == 0 && *end == '\0' && strspn(text, "0123456789") == strlen(text));
}

#define NO_VERSION "resourceVersion: Invalid value: \"%.100s\": strconv.ParseUint: parsing \"%.100s\": invalid syntax"

bool version_read(struct request *request, const char *text, uint64_t *ret_version)
{
    char message[512];

    if (parse(text, ret_version))
        return true;
    /* The Kubernetes API server takes it for a failure of its own. */
    (void)snprintf(message, sizeof message, NO_VERSION, text, text);
    fail_problem(request, &(struct rest_problem){.status = 500, .reason = "", .message = message});
    return false;
}

bool version_read_of_list(struct request *request, const char *text, uint64_t *ret_version)
{
    if (parse(text, ret_version))
        return true;
    fail_bad(request, "invalid resource version: " NO_VERSION, text, text);
    return false;
}

void fail_too_new(struct request *request, uint64_t version)
{
    const struct rest_cause cause = {.reason = "ResourceVersionTooLarge", .message = "Too large resource version"};
    char message[128];

    (void)snprintf(message, sizeof message, "Too large resource version: %" PRIu64 ", current: %" PRIu64, version,
                   store_version(request->server->store));
    fail_problem(request, &(struct rest_problem){
                              .status = 504, .message = message, .causes = &cause, .cause_count = 1, .retry_after = 1});
}

static void end_wait(struct waiting *waiting, bool is_reached)
{
    struct request *request = waiting->request;

    http_on_cancel(request->exchange, NULL, NULL);
    loop_timer_done(&waiting->timer);
    bool is_asked = request_resume(request);
    if (is_asked && is_reached)
        waiting->then(request);
    else if (is_asked)
        fail_too_new(request, waiting->version);
    free(waiting);
}

static void on_cancel(void *arg)
{
    end_wait(arg, false);
}

static void poll_version(void *arg)
{
    struct waiting *waiting = arg;
    bool is_reached = store_version(waiting->request->server->store) >= waiting->version;

    if (is_reached || nsec_now_monotonic() >= waiting->until)
        end_wait(waiting, is_reached);
    else
        loop_timer_start(&waiting->timer, BETWEEN_POLLS);
}

void version_wait(struct request *request, uint64_t version, void (*then)(struct request *request))
{
    struct waiting *waiting;

    if (version <= store_version(request->server->store)) {
        then(request);
        return;
    }
    waiting = xcalloc(1, sizeof *waiting);
    *waiting = (struct waiting){
        .request = request, .version = version, .until = nsec_now_monotonic() + PATIENCE, .then = then};
    loop_timer_init(&waiting->timer, request->server->loop, poll_version, waiting);
    loop_timer_start(&waiting->timer, BETWEEN_POLLS);
    http_on_cancel(request->exchange, on_cancel, waiting);
}
