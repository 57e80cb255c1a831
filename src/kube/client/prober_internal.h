/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

struct kube_prober;

/* Its call is freed with the client's others. */
void kube_prober_free(struct kube_prober *prober);
