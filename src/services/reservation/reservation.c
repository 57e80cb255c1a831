/* SPDX-License-Identifier: Apache-2.0 */
#include "services/reservation/reservation.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/log.h"
#include "base/mem.h"
#include "frame/service.h"
#include "gpu/nvml/nvml.h"
#include "kube/client/backoff.h"
#include "kube/client/chance.h"
#include "kube/client/client.h"
#include "kube/client/meta.h"
#include "kube/client/resource.h"
#include "kube/client/verbs.h"
#include "net/loop.h"
#include "objects/keys.h"
#include "text/json.h"

/* Now and then it is looked at whether the pod still says so; it also keeps the loop from ending. */
#define LOOK_AGAIN NSEC_PER_HOUR

struct reservation_flags {
    const char *library;
    const char *pod;
    const char *namespace;
    const char *metrics_address;
    const char *health_address;
};

struct reservation {
    struct service *service;
    const char *pod;
    const char *namespace;
    char uuid[NVML_UUID_SIZE];
    struct kube_call *call;
    struct loop_timer timer;
    struct backoff backoff;
};

#define AT(member) FLAG_AT(struct reservation_flags, member)

static const struct flag flags[] = {
    {"nvml-library", FLAG_STRING, AT(library), NVML_LIBRARY, "NVIDIA's management library", 0, 0},
    {"pod-name", FLAG_STRING, AT(pod), "", "the pod that it runs in (empty: $POD_NAME)", 0, 0},
    {"pod-namespace", FLAG_STRING, AT(namespace), "", "namespace of that pod (empty: $POD_NAMESPACE)", 0, 0},
    /* One of these runs for each shared GPU: nobody looks at so many ports. */
    {"metrics-bind-address", FLAG_STRING, AT(metrics_address), "", "address of /metrics (empty: not served)", 0, 0},
    {"health-probe-bind-address", FLAG_STRING, AT(health_address), "",
     "address of /healthz and /readyz (empty: not served)", 0, 0},
};

static const char *flag_or_variable(const char *flag, const char *variable)
{
    const char *value = getenv(variable);

    return flag[0] ? flag : value ? value : "";
}

static void look(void *arg);

/* There is nobody else to do it: trying goes on. */
static void try_later(struct reservation *reservation, const struct err *err)
{
    nsec_t wait = backoff_next(&reservation->backoff, chance_next(kube_client_chance(reservation->service->client)));

    log_warn(reservation->service->log, "the pod's GPU annotation could not be written", log_error(err),
             log_duration("again_after", wait));
    loop_timer_start(&reservation->timer, wait);
}

static void idle(struct reservation *reservation)
{
    backoff_reset(&reservation->backoff);
    service_set_ready(reservation->service, true);
    loop_timer_start(&reservation->timer, LOOK_AGAIN);
}

static void on_written(void *arg, const struct kube_answer *answer)
{
    struct reservation *reservation = arg;

    reservation->call = NULL;
    if (answer->err.code < 0) {
        try_later(reservation, &answer->err);
        return;
    }
    log_info(reservation->service->log, "GPU reserved", log_str("gpu", reservation->uuid));
    idle(reservation);
}

static void write_gpu(struct reservation *reservation)
{
    yyjson_mut_val *root;
    yyjson_mut_doc *doc = json_new_object(&root);

    yyjson_mut_val *meta = yyjson_mut_obj_add_obj(doc, root, "metadata");
    (void)yyjson_mut_obj_add_str(doc, yyjson_mut_obj_add_obj(doc, meta, "annotations"), KEY_RESERVED_GPU,
                                 reservation->uuid);
    reservation->call = kube_send_doc(reservation->service->client,
                                      &(struct kube_request){
                                          .verb = KUBE_PATCH_MERGE,
                                          .resource = kube_known(KUBE_PODS),
                                          .namespace = reservation->namespace,
                                          .name = reservation->pod,
                                          .is_repeatable = true,
                                          .on_done = on_written,
                                          .arg = reservation,
                                      },
                                      doc);
    yyjson_mut_doc_free(doc);
}

static void on_pod(void *arg, const struct kube_answer *answer)
{
    struct reservation *reservation = arg;
    struct err err = answer->err;
    yyjson_val *pod = NULL;

    reservation->call = NULL;
    if (err.code < 0 || kube_answer_object(answer, &pod, &err) < 0) {
        try_later(reservation, &err);
        return;
    }
    const char *known = kube_text(pod, "metadata", "annotations", KEY_RESERVED_GPU);

    if (!known[0]) {
        write_gpu(reservation);
        return;
    }
    if (strcmp(known, reservation->uuid) != 0)
        log_warn(reservation->service->log, "the pod's annotation names another GPU; keeping it",
                 log_str("gpu", reservation->uuid), log_str("pod_says", known));
    else
        log_info(reservation->service->log, "GPU reserved; the annotation exists already", log_str("gpu", known));
    idle(reservation);
}

static void look(void *arg)
{
    struct reservation *reservation = arg;

    reservation->call = kube_send(reservation->service->client, &(struct kube_request){
                                                                    .verb = KUBE_GET,
                                                                    .resource = kube_known(KUBE_PODS),
                                                                    .namespace = reservation->namespace,
                                                                    .name = reservation->pod,
                                                                    .on_done = on_pod,
                                                                    .arg = reservation,
                                                                });
}

static int reservation_configure(struct service *service, struct err *err)
{
    const struct reservation_flags *values = service->values;

    if (!flag_or_variable(values->pod, "POD_NAME")[0] || !flag_or_variable(values->namespace, "POD_NAMESPACE")[0])
        return err_set(err, -EINVAL, "the name of this pod is not set: set POD_NAME and POD_NAMESPACE");
    service->common->metrics_address = values->metrics_address;
    service->common->health_address = values->health_address;
    return 0;
}

/* The one GPU that this process can see. */
static int only_gpu(const char *library, char uuid[static NVML_UUID_SIZE], struct err *err)
{
    struct nvml *nvml = NULL;
    int r = nvml_open(library, &nvml, err);

    if (r < 0)
        return r;
    uint32_t count = nvml_gpu_count(nvml);
    if (count == 0)
        r = err_set(err, -ENODEV, "no GPU is visible: the pod must request nvidia.com/gpu: 1");
    else if (count > 1)
        r = err_set(err, -EEXIST,
                    "%u GPUs are visible instead of one: the container runtime does not limit GPUs to containers",
                    count);
    else
        r = nvml_uuid(nvml, 0, uuid, err);
    nvml_close(nvml);
    return r;
}

static int reservation_open(struct service *service, struct err *err)
{
    const struct reservation_flags *values = service->values;
    struct reservation *reservation = xcalloc(1, sizeof *reservation);

    *reservation = (struct reservation){
        .service = service,
        .pod = flag_or_variable(values->pod, "POD_NAME"),
        .namespace = flag_or_variable(values->namespace, "POD_NAMESPACE"),
        .backoff = {.first = NSEC_PER_SEC, .max = 10 * NSEC_PER_SEC},
    };
    int r = only_gpu(values->library, reservation->uuid, err);
    if (r < 0) {
        free(reservation);
        return r;
    }
    loop_timer_init(&reservation->timer, service->loop, look, reservation);
    service->state = reservation;
    return 0;
}

static void reservation_lead(struct service *service)
{
    look(service->state);
}

static void reservation_stop(struct service *service)
{
    service_stopped(service);
}

static void reservation_close(struct service *service)
{
    struct reservation *reservation = service->state;

    kube_cancel(reservation->call);
    loop_timer_done(&reservation->timer);
    free(reservation);
}

const struct service_kind reservation_service = {
    .name = "reservation",
    .flags = flags,
    .flag_count = ARRAY_LEN(flags),
    .values_size = sizeof(struct reservation_flags),
    .has_api = true,
    .configure = reservation_configure,
    .open = reservation_open,
    .lead = reservation_lead,
    .stop = reservation_stop,
    .close = reservation_close,
};
