/* SPDX-License-Identifier: Apache-2.0 */
/* Door A: a library with the driver's name and nothing in it. All that counts is what it needs, and in which order. */
extern const int muster_gpu_door;
const int muster_gpu_door __attribute__((visibility("hidden"))) = 1;
