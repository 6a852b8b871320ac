// SPDX-License-Identifier: Apache-2.0
//
// The graph functions of the fake CUDA driver.
#include <algorithm>

#include "machine.hpp"

using namespace fake_cuda;

namespace {

// Nodes run in the order in which they were added, since a node may only depend on earlier nodes.
CUresult add_node(CUgraphNode* out, CUgraph graph, const CUgraphNode* after, std::size_t count,
                  std::function<void()> work, CUfunction function) {
    const Lock lock(machine().mutex);
    if (machine().graphs.count(graph) == 0) return CUDA_ERROR_INVALID_VALUE;
    for (std::size_t i = 0; i < count; ++i)
        if (std::none_of(graph->nodes.begin(), graph->nodes.end(),
                         [&](const auto& node) { return node.get() == after[i]; }))
            return CUDA_ERROR_INVALID_VALUE;
    graph->nodes.push_back(std::make_unique<CUgraphNode_st>());
    *out = graph->nodes.back().get();
    (*out)->work = std::move(work);
    (*out)->function = function;
    return CUDA_SUCCESS;
}

}  // namespace

// ---- The driver's functions, as cuda.h declares them --------------------------------------------

CUresult CUDAAPI cuGraphCreate(CUgraph* out, unsigned) {
    const Lock lock(machine().mutex);
    if (const CUresult status = entered(); status != CUDA_SUCCESS) return status;
    *out = *machine().graphs.insert(new CUgraph_st).first;
    return CUDA_SUCCESS;
}
CUresult CUDAAPI cuGraphDestroy(CUgraph graph) {
    const Lock lock(machine().mutex);
    if (machine().graphs.erase(graph) == 0) return CUDA_ERROR_INVALID_VALUE;
    delete graph;
    return CUDA_SUCCESS;
}
CUresult CUDAAPI cuGraphAddEmptyNode(CUgraphNode* out, CUgraph graph, const CUgraphNode* after,
                                     std::size_t count) {
    return add_node(
        out, graph, after, count, [] {}, nullptr);
}
#undef cuGraphAddKernelNode
#undef cuGraphExecKernelNodeSetParams
extern "C" CUresult CUDAAPI cuGraphAddKernelNode(CUgraphNode* out, CUgraph graph,
                                                 const CUgraphNode* after, std::size_t count,
                                                 const CUDA_KERNEL_NODE_PARAMS* params) {
    std::function<void()> work;
    const CUresult status = node_work(*params, work);
    if (status != CUDA_SUCCESS) return status;
    return add_node(out, graph, after, count, std::move(work), params->func);
}
CUresult CUDAAPI cuGraphAddMemcpyNode(CUgraphNode* out, CUgraph graph, const CUgraphNode* after,
                                      std::size_t count, const CUDA_MEMCPY3D* params, CUcontext) {
    if (params->srcMemoryType != CU_MEMORYTYPE_UNIFIED || params->Height != 1 ||
        params->Depth != 1 || params->dstMemoryType != CU_MEMORYTYPE_UNIFIED)
        return CUDA_ERROR_INVALID_VALUE;
    return add_node(
        out, graph, after, count,
        [to = params->dstDevice, from = params->srcDevice, size = params->WidthInBytes] {
            std::memcpy(host(to), host(from), size);
        },
        nullptr);
}
CUresult CUDAAPI cuGraphAddMemsetNode(CUgraphNode* out, CUgraph graph, const CUgraphNode* after,
                                      std::size_t count, const CUDA_MEMSET_NODE_PARAMS* params,
                                      CUcontext) {
    const unsigned size = params->elementSize;
    if ((size != 1 && size != 2 && size != 4) || params->height != 1)
        return CUDA_ERROR_INVALID_VALUE;
    return add_node(
        out, graph, after, count,
        [=, at = params->dst, value = params->value, elements = params->width] {
            for (std::size_t i = 0; i < elements; ++i)
                std::memcpy(static_cast<char*>(host(at)) + i * size, &value, size);
        },
        nullptr);
}
CUresult CUDAAPI cuGraphInstantiateWithFlags(CUgraphExec* out, CUgraph graph,
                                             unsigned long long flags) {
    const Lock lock(machine().mutex);
    if (const CUresult status = entered(); status != CUDA_SUCCESS) return status;
    if (flags != 0 || machine().graphs.count(graph) == 0) return CUDA_ERROR_INVALID_VALUE;
    auto exec = std::make_unique<CUgraphExec_st>();
    for (const auto& node : graph->nodes)
        exec->nodes.push_back({node.get(), node->function, node->work});
    for (const auto& node : graph->nodes)
        if (node->cooperative)
            if (const CUresult status = cooperative_status(node->function); status != CUDA_SUCCESS)
                return status;
    *out = *machine().graph_execs.insert(exec.release()).first;
    return CUDA_SUCCESS;
}
CUresult CUDAAPI cuGraphExecDestroy(CUgraphExec exec) {
    const Lock lock(machine().mutex);
    if (machine().graph_execs.erase(exec) == 0) return CUDA_ERROR_INVALID_VALUE;
    delete exec;
    return CUDA_SUCCESS;
}
CUresult CUDAAPI cuGraphKernelNodeSetAttribute(CUgraphNode node, CUlaunchAttributeID what,
                                               const CUlaunchAttributeValue* value) {
    const Lock lock(machine().mutex);
    if (what != CU_LAUNCH_ATTRIBUTE_COOPERATIVE || node->function == nullptr)
        return CUDA_ERROR_INVALID_VALUE;
    node->cooperative = value->cooperative != 0;
    if (node->cooperative) node->work = at_once(std::move(node->work));
    return CUDA_SUCCESS;
}
extern "C" CUresult CUDAAPI cuGraphExecKernelNodeSetParams(CUgraphExec exec, CUgraphNode node,
                                                           const CUDA_KERNEL_NODE_PARAMS* params) {
    const Lock lock(machine().mutex);
    if (machine().graph_execs.count(exec) == 0) return CUDA_ERROR_INVALID_VALUE;
    for (CUgraphExec_st::Node& one : exec->nodes)
        if (one.of == node && one.function == params->func) {
            const CUresult status = node_work(*params, one.work);
            if (status == CUDA_SUCCESS && node->cooperative)
                one.work = at_once(std::move(one.work));
            return status;
        }
    return CUDA_ERROR_INVALID_VALUE;
}
CUresult CUDAAPI cuGraphLaunch(CUgraphExec exec, CUstream stream) {
    const Lock lock(machine().mutex);
    if (machine().graph_execs.count(exec) == 0) return CUDA_ERROR_INVALID_VALUE;
    if (const CUresult status = launch_status(); status != CUDA_SUCCESS) return status;
    for (const CUgraphExec_st::Node& node : exec->nodes)
        if (const CUresult status = queue_work(stream, node.work); status != CUDA_SUCCESS)
            return status;
    return queue_work(stream, [] {});
}
