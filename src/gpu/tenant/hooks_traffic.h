/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* Copies and fills, which only count as traffic: they use engines of their own and wait for nobody. What they take goes
 * through as it came, one machine word for each argument, so that one handler serves all that have the number of bytes at
 * the same place. Those with "old" are from when addresses and sizes had 32 bits, and the rest of a word may be anything. */

#define WORDS_1 uint64_t a
#define ARGS_WORDS_1 a
#define WORDS_2 uint64_t a, uint64_t b
#define ARGS_WORDS_2 a, b
#define WORDS_3 uint64_t a, uint64_t b, uint64_t c
#define ARGS_WORDS_3 a, b, c
#define WORDS_4 uint64_t a, uint64_t b, uint64_t c, uint64_t d
#define ARGS_WORDS_4 a, b, c, d
#define WORDS_5 uint64_t a, uint64_t b, uint64_t c, uint64_t d, uint64_t e
#define ARGS_WORDS_5 a, b, c, d, e
#define WORDS_6 uint64_t a, uint64_t b, uint64_t c, uint64_t d, uint64_t e, uint64_t f
#define ARGS_WORDS_6 a, b, c, d, e, f
#define WORDS_8 uint64_t a, uint64_t b, uint64_t c, uint64_t d, uint64_t e, uint64_t f, uint64_t g, uint64_t h
#define ARGS_WORDS_8 a, b, c, d, e, f, g, h
#define WORDS_9 \
    uint64_t a, uint64_t b, uint64_t c, uint64_t d, uint64_t e, uint64_t f, uint64_t g, uint64_t h, uint64_t i
#define ARGS_WORDS_9 a, b, c, d, e, f, g, h, i

#define PARAMS_copy3 WORDS_3
#define ARGS_copy3 ARGS_WORDS_3
#define PARAMS_copy4 WORDS_4
#define ARGS_copy4 ARGS_WORDS_4
#define PARAMS_copy3_old WORDS_3
#define ARGS_copy3_old ARGS_WORDS_3
#define PARAMS_copy4_old WORDS_4
#define ARGS_copy4_old ARGS_WORDS_4
#define PARAMS_copy_array4_old WORDS_4
#define ARGS_copy_array4_old ARGS_WORDS_4
#define PARAMS_copy_array4 WORDS_4
#define ARGS_copy_array4 ARGS_WORDS_4
#define PARAMS_copy_array5_old WORDS_5
#define ARGS_copy_array5_old ARGS_WORDS_5
#define PARAMS_copy_array5 WORDS_5
#define ARGS_copy_array5 ARGS_WORDS_5
#define PARAMS_copy_between5_old WORDS_5
#define ARGS_copy_between5_old ARGS_WORDS_5
#define PARAMS_copy_between5 WORDS_5
#define ARGS_copy_between5 ARGS_WORDS_5
#define PARAMS_copy_between6 WORDS_6
#define ARGS_copy_between6 ARGS_WORDS_6
#define PARAMS_copy_2d1_old WORDS_1
#define ARGS_copy_2d1_old ARGS_WORDS_1
#define PARAMS_copy_2d1 WORDS_1
#define ARGS_copy_2d1 ARGS_WORDS_1
#define PARAMS_copy_2d2_old WORDS_2
#define ARGS_copy_2d2_old ARGS_WORDS_2
#define PARAMS_copy_2d2 WORDS_2
#define ARGS_copy_2d2 ARGS_WORDS_2
#define PARAMS_copy_3d1_old WORDS_1
#define ARGS_copy_3d1_old ARGS_WORDS_1
#define PARAMS_copy_3d1 WORDS_1
#define ARGS_copy_3d1 ARGS_WORDS_1
#define PARAMS_copy_3d2_old WORDS_2
#define ARGS_copy_3d2_old ARGS_WORDS_2
#define PARAMS_copy_3d2 WORDS_2
#define ARGS_copy_3d2 ARGS_WORDS_2
#define PARAMS_copy5 WORDS_5
#define ARGS_copy5 ARGS_WORDS_5
#define PARAMS_copy_box3 WORDS_3
#define ARGS_copy_box3 ARGS_WORDS_3
#define PARAMS_copy_batch9 WORDS_9
#define ARGS_copy_batch9 ARGS_WORDS_9
#define PARAMS_copy_batch8 WORDS_8
#define ARGS_copy_batch8 ARGS_WORDS_8
#define PARAMS_copy_boxes5 WORDS_5
#define ARGS_copy_boxes5 ARGS_WORDS_5
#define PARAMS_copy_boxes4 WORDS_4
#define ARGS_copy_boxes4 ARGS_WORDS_4
#define PARAMS_fabric_copy4 WORDS_4
#define ARGS_fabric_copy4 ARGS_WORDS_4
#define PARAMS_decompress5 WORDS_5
#define ARGS_decompress5 ARGS_WORDS_5
#define PARAMS_prefetch4 WORDS_4
#define ARGS_prefetch4 ARGS_WORDS_4
#define PARAMS_prefetch5 WORDS_5
#define ARGS_prefetch5 ARGS_WORDS_5
#define PARAMS_prefetch_batch8 WORDS_8
#define ARGS_prefetch_batch8 ARGS_WORDS_8
#define PARAMS_set1_3_old WORDS_3
#define ARGS_set1_3_old ARGS_WORDS_3
#define PARAMS_set1_3 WORDS_3
#define ARGS_set1_3 ARGS_WORDS_3
#define PARAMS_set1_4 WORDS_4
#define ARGS_set1_4 ARGS_WORDS_4
#define PARAMS_set1_5_old WORDS_5
#define ARGS_set1_5_old ARGS_WORDS_5
#define PARAMS_set1_5 WORDS_5
#define ARGS_set1_5 ARGS_WORDS_5
#define PARAMS_set1_6 WORDS_6
#define ARGS_set1_6 ARGS_WORDS_6
#define PARAMS_set2_3_old WORDS_3
#define ARGS_set2_3_old ARGS_WORDS_3
#define PARAMS_set2_3 WORDS_3
#define ARGS_set2_3 ARGS_WORDS_3
#define PARAMS_set2_4 WORDS_4
#define ARGS_set2_4 ARGS_WORDS_4
#define PARAMS_set2_5_old WORDS_5
#define ARGS_set2_5_old ARGS_WORDS_5
#define PARAMS_set2_5 WORDS_5
#define ARGS_set2_5 ARGS_WORDS_5
#define PARAMS_set2_6 WORDS_6
#define ARGS_set2_6 ARGS_WORDS_6
#define PARAMS_set4_3_old WORDS_3
#define ARGS_set4_3_old ARGS_WORDS_3
#define PARAMS_set4_3 WORDS_3
#define ARGS_set4_3 ARGS_WORDS_3
#define PARAMS_set4_4 WORDS_4
#define ARGS_set4_4 ARGS_WORDS_4
#define PARAMS_set4_5_old WORDS_5
#define ARGS_set4_5_old ARGS_WORDS_5
#define PARAMS_set4_5 WORDS_5
#define ARGS_set4_5 ARGS_WORDS_5
#define PARAMS_set4_6 WORDS_6
#define ARGS_set4_6 ARGS_WORDS_6
#define PARAMS_write4 WORDS_4
#define ARGS_write4 ARGS_WORDS_4
#define PARAMS_write8 WORDS_4
#define ARGS_write8 ARGS_WORDS_4
#define PARAMS_write_batch4 WORDS_4
#define ARGS_write_batch4 ARGS_WORDS_4

#define TRAFFIC_HANDLERS(X) \
    X(copy3)                \
    X(copy4)                \
    X(copy3_old)            \
    X(copy4_old)            \
    X(copy_array4_old)      \
    X(copy_array4)          \
    X(copy_array5_old)      \
    X(copy_array5)          \
    X(copy_between5_old)    \
    X(copy_between5)        \
    X(copy_between6)        \
    X(copy_2d1_old)         \
    X(copy_2d1)             \
    X(copy_2d2_old)         \
    X(copy_2d2)             \
    X(copy_3d1_old)         \
    X(copy_3d1)             \
    X(copy_3d2_old)         \
    X(copy_3d2)             \
    X(copy5)                \
    X(copy_box3)            \
    X(copy_batch9)          \
    X(copy_batch8)          \
    X(copy_boxes5)          \
    X(copy_boxes4)          \
    X(fabric_copy4)         \
    X(decompress5)          \
    X(prefetch4)            \
    X(prefetch5)            \
    X(prefetch_batch8)      \
    X(set1_3_old)           \
    X(set1_3)               \
    X(set1_4)               \
    X(set1_5_old)           \
    X(set1_5)               \
    X(set1_6)               \
    X(set2_3_old)           \
    X(set2_3)               \
    X(set2_4)               \
    X(set2_5_old)           \
    X(set2_5)               \
    X(set2_6)               \
    X(set4_3_old)           \
    X(set4_3)               \
    X(set4_4)               \
    X(set4_5_old)           \
    X(set4_5)               \
    X(set4_6)               \
    X(write4)               \
    X(write8)               \
    X(write_batch4)

#define TRAFFIC_HOOKS(X)                                       \
    X(cuMemcpy, copy3)                                         \
    X(cuMemcpy_ptds, copy3)                                    \
    X(cuMemcpyAsync, copy4)                                    \
    X(cuMemcpyAsync_ptsz, copy4)                               \
    X(cuMemcpyHtoD, copy3_old)                                 \
    X(cuMemcpyHtoD_v2, copy3)                                  \
    X(cuMemcpyHtoD_v2_ptds, copy3)                             \
    X(cuMemcpyHtoDAsync, copy4_old)                            \
    X(cuMemcpyHtoDAsync_v2, copy4)                             \
    X(cuMemcpyHtoDAsync_v2_ptsz, copy4)                        \
    X(cuMemcpyDtoH, copy3_old)                                 \
    X(cuMemcpyDtoH_v2, copy3)                                  \
    X(cuMemcpyDtoH_v2_ptds, copy3)                             \
    X(cuMemcpyDtoHAsync, copy4_old)                            \
    X(cuMemcpyDtoHAsync_v2, copy4)                             \
    X(cuMemcpyDtoHAsync_v2_ptsz, copy4)                        \
    X(cuMemcpyDtoD, copy3_old)                                 \
    X(cuMemcpyDtoD_v2, copy3)                                  \
    X(cuMemcpyDtoD_v2_ptds, copy3)                             \
    X(cuMemcpyDtoDAsync, copy4_old)                            \
    X(cuMemcpyDtoDAsync_v2, copy4)                             \
    X(cuMemcpyDtoDAsync_v2_ptsz, copy4)                        \
    X(cuMemcpyDtoA, copy_array4_old)                           \
    X(cuMemcpyDtoA_v2, copy_array4)                            \
    X(cuMemcpyDtoA_v2_ptds, copy_array4)                       \
    X(cuMemcpyAtoD, copy_array4_old)                           \
    X(cuMemcpyAtoD_v2, copy_array4)                            \
    X(cuMemcpyAtoD_v2_ptds, copy_array4)                       \
    X(cuMemcpyHtoA, copy_array4_old)                           \
    X(cuMemcpyHtoA_v2, copy_array4)                            \
    X(cuMemcpyHtoA_v2_ptds, copy_array4)                       \
    X(cuMemcpyAtoH, copy_array4_old)                           \
    X(cuMemcpyAtoH_v2, copy_array4)                            \
    X(cuMemcpyAtoH_v2_ptds, copy_array4)                       \
    X(cuMemcpyHtoAAsync, copy_array5_old)                      \
    X(cuMemcpyHtoAAsync_v2, copy_array5)                       \
    X(cuMemcpyHtoAAsync_v2_ptsz, copy_array5)                  \
    X(cuMemcpyAtoHAsync, copy_array5_old)                      \
    X(cuMemcpyAtoHAsync_v2, copy_array5)                       \
    X(cuMemcpyAtoHAsync_v2_ptsz, copy_array5)                  \
    X(cuMemcpyAtoA, copy_between5_old)                         \
    X(cuMemcpyAtoA_v2, copy_between5)                          \
    X(cuMemcpyAtoA_v2_ptds, copy_between5)                     \
    X(cuMemcpyPeer, copy_between5)                             \
    X(cuMemcpyPeer_ptds, copy_between5)                        \
    X(cuMemcpyPeerAsync, copy_between6)                        \
    X(cuMemcpyPeerAsync_ptsz, copy_between6)                   \
    X(cuMemcpy2D, copy_2d1_old)                                \
    X(cuMemcpy2D_v2, copy_2d1)                                 \
    X(cuMemcpy2D_v2_ptds, copy_2d1)                            \
    X(cuMemcpy2DUnaligned, copy_2d1_old)                       \
    X(cuMemcpy2DUnaligned_v2, copy_2d1)                        \
    X(cuMemcpy2DUnaligned_v2_ptds, copy_2d1)                   \
    X(cuMemcpy2DAsync, copy_2d2_old)                           \
    X(cuMemcpy2DAsync_v2, copy_2d2)                            \
    X(cuMemcpy2DAsync_v2_ptsz, copy_2d2)                       \
    X(cuMemcpy3D, copy_3d1_old)                                \
    X(cuMemcpy3D_v2, copy_3d1)                                 \
    X(cuMemcpy3D_v2_ptds, copy_3d1)                            \
    X(cuMemcpy3DAsync, copy_3d2_old)                           \
    X(cuMemcpy3DAsync_v2, copy_3d2)                            \
    X(cuMemcpy3DAsync_v2_ptsz, copy_3d2)                       \
    X(cuMemcpy3DPeer, copy_3d1)                                \
    X(cuMemcpy3DPeer_ptds, copy_3d1)                           \
    X(cuMemcpy3DPeerAsync, copy_3d2)                           \
    X(cuMemcpy3DPeerAsync_ptsz, copy_3d2)                      \
    X(cuMemcpyWithAttributesAsync, copy5)                      \
    X(cuMemcpyWithAttributesAsync_ptsz, copy5)                 \
    X(cuMemcpy3DWithAttributesAsync, copy_box3)                \
    X(cuMemcpy3DWithAttributesAsync_ptsz, copy_box3)           \
    X(cuMemcpyBatchAsync, copy_batch9)                         \
    X(cuMemcpyBatchAsync_ptsz, copy_batch9)                    \
    X(cuMemcpyBatchAsync_v2, copy_batch8)                      \
    X(cuMemcpyBatchAsync_v2_ptsz, copy_batch8)                 \
    X(cuMemcpy3DBatchAsync, copy_boxes5)                       \
    X(cuMemcpy3DBatchAsync_ptsz, copy_boxes5)                  \
    X(cuMemcpy3DBatchAsync_v2, copy_boxes4)                    \
    X(cuMemcpy3DBatchAsync_v2_ptsz, copy_boxes4)               \
    X(cuFabricCpyBatchAsync, fabric_copy4)                     \
    X(cuFabricCpyBatchAsync_ptsz, fabric_copy4)                \
    X(cuMemBatchDecompressAsync, decompress5)                  \
    X(cuMemBatchDecompressAsync_ptsz, decompress5)             \
    X(cuMemPrefetchAsync, prefetch4)                           \
    X(cuMemPrefetchAsync_ptsz, prefetch4)                      \
    X(cuMemPrefetchAsync_v2, prefetch5)                        \
    X(cuMemPrefetchAsync_v2_ptsz, prefetch5)                   \
    X(cuMemPrefetchBatchAsync, prefetch_batch8)                \
    X(cuMemPrefetchBatchAsync_ptsz, prefetch_batch8)           \
    X(cuMemDiscardAndPrefetchBatchAsync, prefetch_batch8)      \
    X(cuMemDiscardAndPrefetchBatchAsync_ptsz, prefetch_batch8) \
    X(cuMemsetD8, set1_3_old)                                  \
    X(cuMemsetD8_v2, set1_3)                                   \
    X(cuMemsetD8_v2_ptds, set1_3)                              \
    X(cuMemsetD8Async, set1_4)                                 \
    X(cuMemsetD8Async_ptsz, set1_4)                            \
    X(cuMemsetD2D8, set1_5_old)                                \
    X(cuMemsetD2D8_v2, set1_5)                                 \
    X(cuMemsetD2D8_v2_ptds, set1_5)                            \
    X(cuMemsetD2D8Async, set1_6)                               \
    X(cuMemsetD2D8Async_ptsz, set1_6)                          \
    X(cuMemsetD16, set2_3_old)                                 \
    X(cuMemsetD16_v2, set2_3)                                  \
    X(cuMemsetD16_v2_ptds, set2_3)                             \
    X(cuMemsetD16Async, set2_4)                                \
    X(cuMemsetD16Async_ptsz, set2_4)                           \
    X(cuMemsetD2D16, set2_5_old)                               \
    X(cuMemsetD2D16_v2, set2_5)                                \
    X(cuMemsetD2D16_v2_ptds, set2_5)                           \
    X(cuMemsetD2D16Async, set2_6)                              \
    X(cuMemsetD2D16Async_ptsz, set2_6)                         \
    X(cuMemsetD32, set4_3_old)                                 \
    X(cuMemsetD32_v2, set4_3)                                  \
    X(cuMemsetD32_v2_ptds, set4_3)                             \
    X(cuMemsetD32Async, set4_4)                                \
    X(cuMemsetD32Async_ptsz, set4_4)                           \
    X(cuMemsetD2D32, set4_5_old)                               \
    X(cuMemsetD2D32_v2, set4_5)                                \
    X(cuMemsetD2D32_v2_ptds, set4_5)                           \
    X(cuMemsetD2D32Async, set4_6)                              \
    X(cuMemsetD2D32Async_ptsz, set4_6)                         \
    X(cuStreamWriteValue32, write4)                            \
    X(cuStreamWriteValue32_ptsz, write4)                       \
    X(cuStreamWriteValue64, write8)                            \
    X(cuStreamWriteValue64_ptsz, write8)                       \
    X(cuStreamBatchMemOp, write_batch4)                        \
    X(cuStreamBatchMemOp_ptsz, write_batch4)                   \
    X(cuStreamWriteValue32_v2, write4)                         \
    X(cuStreamWriteValue32_v2_ptsz, write4)                    \
    X(cuStreamWriteValue64_v2, write8)                         \
    X(cuStreamWriteValue64_v2_ptsz, write8)                    \
    X(cuStreamBatchMemOp_v2, write_batch4)                     \
    X(cuStreamBatchMemOp_v2_ptsz, write_batch4)
