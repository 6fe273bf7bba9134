"""The pairs network on a GPU, in Triton and Gluon: scores in use (`pairs_kernel`), layers in training
(`recomputed_kernels`). Nothing here is imported unless Triton is installed, apart from `gpu`.
"""
