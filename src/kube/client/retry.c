/* SPDX-License-Identifier: Apache-2.0 */

/*
 * What client-go does, and a bit more careful: a request whose fate is unknown is made again only when that does no
 * harm, since a second create or bind is a question that only its caller can answer.
 */
#include "kube/client/retry.h"

#include <stdlib.h>

#include "base/macros.h"

/* A server that asks for more is not believed. */
#define RETRY_AFTER_MAX NSEC_PER_MIN

enum kube_retry kube_retry_of(const struct kube_outcome *outcome)
{
    int status = outcome->status;

    if (outcome->is_hopeless)
        return RETRY_NO;
    if (outcome->is_unsent)
        return RETRY_LATER;
    if (status == 401)
        return outcome->has_new_login ? RETRY_NO : RETRY_LOGIN;
    /* Turned away at the door. */
    if (status == 429 || (status >= 500 && outcome->retry_after >= 0))
        return RETRY_LATER;
    if (status == 0 || !outcome->is_whole || status == 500 || status == 502 || status == 503 || status == 504)
        return outcome->is_repeatable ? RETRY_LATER : RETRY_NO;
    return RETRY_NO;
}

nsec_t kube_retry_after(const char *header)
{
    char *end = NULL;

    if (!header || header[0] < '0' || header[0] > '9')
        return -1;
    unsigned long long seconds = strtoull(header, &end, 10);
    if (*end != '\0' && *end != ' ')
        return -1;
    return (nsec_t)MIN(seconds, (unsigned long long)(RETRY_AFTER_MAX / NSEC_PER_SEC)) * NSEC_PER_SEC;
}
