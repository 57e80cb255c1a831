/* SPDX-License-Identifier: Apache-2.0 */

/* Flags of services that have a client of the API server, and of those that may be one of several replicas. */
#include <errno.h>

#include "frame/process_internal.h"

#define AT(member) FLAG_AT(struct service_settings, member)

static const struct flag api_flags[] = {
    {"kubeconfig", FLAG_STRING, AT(kubeconfig), "",
     "kubeconfig file (empty: $KUBECONFIG, the pod's own account, ~/.kube/config)", 0, 0},
    {"context", FLAG_STRING, AT(context), "", "context of that file (empty: the current one)", 0, 0},
    {"qps", FLAG_DOUBLE, AT(qps), "0", "requests to the API server per second; 0: unlimited", 0, 1e6},
    {"burst", FLAG_DOUBLE, AT(burst), "300", "requests at once before --qps limits them", 0, 1e6},
    {"in-flight-max", FLAG_INT, AT(in_flight_max), "64", "maximum number of requests to the API server in progress", 1,
     10000},
};

static const struct flag election_flags[] = {
    {"leader-elect", FLAG_BOOL, AT(wants_lease), "false", "act only while holding a Lease, for several replicas", 0, 0},
    {"leader-election-namespace", FLAG_STRING, AT(lease_namespace), "",
     "namespace of the Lease (empty: that of the service)", 0, 0},
    {"lease-duration", FLAG_DURATION, AT(lease_duration), "15s",
     "another replica takes over a Lease that was not renewed for this long", 0, 0},
    {"lease-renew-deadline", FLAG_DURATION, AT(lease_renew_deadline), "10s",
     "the leader stops if it cannot renew the Lease for this long", 0, 0},
    {"lease-retry-period", FLAG_DURATION, AT(lease_retry_period), "2s",
     "time between attempts to get or renew the Lease", 0, 0},
};

size_t service_flag_sets(const struct service_kind *kind, struct flag_set ret_sets[static SERVICE_FLAG_SETS])
{
    size_t len = 0;

    ret_sets[len++] = (struct flag_set){.flags = kind->flags, .count = kind->flag_count};
    if (kind->has_api)
        ret_sets[len++] = (struct flag_set){.flags = api_flags, .count = ARRAY_LEN(api_flags)};
    if (kind->can_elect)
        ret_sets[len++] = (struct flag_set){.flags = election_flags, .count = ARRAY_LEN(election_flags)};
    ret_sets[len++] = (struct flag_set){.flags = process_flags, .count = process_flag_count};
    return len;
}

int service_settings_check(const struct service_kind *kind, const struct service_settings *settings, struct err *err)
{
    BUG_ON(kind->can_elect && !kind->has_api);
    if (settings->wants_lease &&
        (settings->lease_retry_period <= 0 || settings->lease_renew_deadline <= settings->lease_retry_period ||
         settings->lease_duration <= settings->lease_renew_deadline))
        return err_set(err, -EINVAL,
                       "--lease-retry-period must be shorter than --lease-renew-deadline, and that "
                       "shorter than --lease-duration");
    return 0;
}
