/* SPDX-License-Identifier: Apache-2.0 */
#include "local/member/renewal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/strbuf.h"
#include "frame/service.h"
#include "kube/client/meta.h"
#include "local/member/member.h"
#include "local/server/files.h"
#include "net/certificates/certificate.h"
#include "net/loop.h"
#include "text/file.h"
#include "text/json.h"

enum { FILE_BYTES_MAX = 64 << 10 };

/* It is looked at this often: a clock that is set anew does not delay it for long. */
#define LOOK_EVERY (10 * NSEC_PER_MIN)
#define RETRY_AFTER NSEC_PER_MIN

struct renewal_flags {
    const char *state;
};

static const struct flag flags[] = {
    {"state", FLAG_STRING, FLAG_AT(struct renewal_flags, state), "", "folder of this machine's membership and pods", 0,
     0},
};

struct renewal {
    struct service *service;
    char *folder;
    struct loop_timer timer;
    struct kube_call *call;
    struct certificate keys;  // of the request that is under way
};

/* When it is to be renewed, by the wall clock; 0: at once. */
static nsec_t due_time(const struct renewal *renewal)
{
    _cleanup_(freep) char *path = file_path(renewal->folder, MEMBER_KEYS);
    _cleanup_(freep) char *text = NULL;
    struct certificate_facts facts;
    size_t len = 0;

    if (file_read(path, FILE_BYTES_MAX, &text, &len, NULL) < 0 || certificate_read(text, &facts, NULL) < 0)
        return 0;
    explicit_bzero(text, len);
    return facts.not_before + (facts.not_after - facts.not_before) / 3 * 2;
}

static int take(struct renewal *renewal, const struct kube_answer *answer, struct err *err)
{
    yyjson_val *object = NULL;
    int r = kube_answer_object(answer, &object, err);
    const char *cert_pem = r < 0 ? "" : kube_text(object, "certificate");

    if (r == 0 && !certificate_has_key(cert_pem, renewal->keys.key_pem))
        r = err_set(err, -EBADMSG, "the answer of the control machine has no certificate for this machine's key");
    return r < 0 ? r : member_write_keys(renewal->folder, cert_pem, renewal->keys.key_pem, err);
}

static void on_answer(void *arg, const struct kube_answer *answer)
{
    struct renewal *renewal = arg;
    struct err err = answer->err;
    int r = err.code < 0 ? err.code : take(renewal, answer, &err);

    renewal->call = NULL;
    certificate_done(&renewal->keys);
    if (r < 0)
        log_warn(renewal->service->log, "the certificate could not be renewed; trying again later", log_error(&err));
    else
        log_info(renewal->service->log, "the certificate was renewed");
    loop_timer_start(&renewal->timer, r < 0 ? RETRY_AFTER : LOOK_EVERY);
}

static void renew(struct renewal *renewal)
{
    struct strbuf body;
    struct err err = {0};

    if (certificate_make_request(&renewal->keys, &err) < 0) {
        loop_timer_start(&renewal->timer, RETRY_AFTER);
        return;
    }
    strbuf_init(&body, FILE_BYTES_MAX);
    strbuf_addstr(&body, "{\"request\":");
    json_add_string(&body, renewal->keys.cert_pem);
    strbuf_addch(&body, '}');
    renewal->call = kube_send(renewal->service->client, &(struct kube_request){.verb = KUBE_CREATE,
                                                                               .path = "/muster/certificate",
                                                                               .body = body.text,
                                                                               .body_len = body.len,
                                                                               .is_repeatable = true,
                                                                               .on_done = on_answer,
                                                                               .arg = renewal});
    strbuf_done(&body);
}

static void look(void *arg)
{
    struct renewal *renewal = arg;

    if (nsec_now_wall() >= due_time(renewal))
        renew(renewal);
    else
        loop_timer_start(&renewal->timer, LOOK_EVERY);
}

static int open_renewal(struct service *service, struct err *err)
{
    const struct renewal_flags *values = service->values;
    struct renewal *renewal = xcalloc(1, sizeof *renewal);

    (void)err;
    service->state = renewal;
    renewal->service = service;
    renewal->folder = member_folder(values->state);
    loop_timer_init(&renewal->timer, service->loop, look, renewal);
    service_set_ready(service, true);
    return 0;
}

static void lead(struct service *service)
{
    look(service->state);
}

static void stop(struct service *service)
{
    struct renewal *renewal = service->state;

    loop_timer_stop(&renewal->timer);
    if (renewal->call)
        kube_cancel(TAKE_PTR(renewal->call));
    service_stopped(service);
}

static void close_renewal(struct service *service)
{
    struct renewal *renewal = service->state;

    if (renewal->call)
        kube_cancel(renewal->call);
    loop_timer_done(&renewal->timer);
    certificate_done(&renewal->keys);
    free(renewal->folder);
    free(renewal);
}

const struct service_kind renewal_service = {
    .name = "renewal",
    .flags = flags,
    .flag_count = ARRAY_LEN(flags),
    .values_size = sizeof(struct renewal_flags),
    .has_api = true,
    .open = open_renewal,
    .lead = lead,
    .stop = stop,
    .close = close_renewal,
};
