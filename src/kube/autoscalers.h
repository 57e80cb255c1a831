/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* Annotations of pods for whose sake autoscalers leave a node alone: Karpenter's says "true", the cluster autoscaler's
 * "false". */
#define KEY_DO_NOT_DISRUPT "karpenter.sh/do-not-disrupt"
#define KEY_SAFE_TO_EVICT "cluster-autoscaler.kubernetes.io/safe-to-evict"
