// SPDX-License-Identifier: Apache-2.0
//
// Steps with public queues: they are made, described, flushed, and freed with work pending. Also
// transfers with a description: with a queue or without, waiting or not.
#include <algorithm>

#include "worker.hpp"

namespace wye::stress {

wye_queue Worker::some_queue(std::size_t in, std::size_t device) {
    const bool fits = queue_.handle != 0 && queue_.place == in && queue_.device == device;
    return fits && !queue_.transfers && pick(4) != 0 ? queue_.handle : 0;
}

void Worker::change_queue() {
    Place& here = place(queue_.handle == 0 ? pick(world_.places().size()) : queue_.place);
    if (queue_.handle == 0) {
        queue_.place = static_cast<std::size_t>(
            std::ranges::find_if(world_.places(),
                                 [&](const auto& one) { return one.get() == &here; }) -
            world_.places().begin());
        queue_.device = pick(here.devices.size());
        wye_queue_create_desc desc;
        WYE_INIT(desc);
        desc.label = wye_str("stress");
        desc.kind = static_cast<std::uint32_t>(pick(3));
        desc.priority = static_cast<std::int32_t>(pick(9)) - 4;
        desc.flags = pick(4) == 0 ? WYE_QUEUE_OWN : 0;
        queue_.transfers = desc.kind == WYE_QUEUE_TRANSFER;
        call("wye_queue_create", {WYE_LIMIT_EXCEEDED}, [&](wye_error** error) {
            return wye_queue_create(here.context, here.devices[queue_.device], &desc,
                                    &queue_.handle, error);
        });
        return;
    }
    switch (pick(3)) {
        case 0: {
            wye_queue_description out;
            WYE_INIT(out);
            call("wye_queue_describe", {}, [&](wye_error** error) {
                return wye_queue_describe(here.context, queue_.handle, &out, error);
            });
            if (out.device != here.devices[queue_.device]) fail("a queue names another device");
            break;
        }
        case 1:
            call("wye_queue_flush", {}, [&](wye_error** error) {
                return wye_queue_flush(here.context, queue_.handle, error);
            });
            break;
        default:
            call("wye_queue_free", {}, [&](wye_error** error) {
                return wye_queue_free(here.context, queue_.handle, error);
            });
            call("wye_queue_free, twice", {WYE_STALE_HANDLE}, [&](wye_error** error) {
                const wye_status status = wye_queue_free(here.context, queue_.handle, error);
                if (status == WYE_OK) fail("a queue was freed twice");
                return status;
            });
            queue_ = {};
    }
}

void Worker::described_transfer() {
    if (own_.empty()) return create_buffer();
    OwnBuffer& mine = own_[pick(own_.size())];
    wye_context* const context = place(mine.place).context;
    const std::size_t from = pick(mine.words.size());
    const std::size_t count = 1 + pick(mine.words.size() - from);
    const auto range = std::span(mine.words.begin() + static_cast<std::ptrdiff_t>(from), count);
    const Words put = words(count);
    wye_transfer_desc desc;
    WYE_INIT(desc);
    desc.kind = pick(2) == 0 ? WYE_TRANSFER_UPLOAD : WYE_TRANSFER_DOWNLOAD;
    const bool up = desc.kind == WYE_TRANSFER_UPLOAD;
    if (queue_.handle != 0 && queue_.place == mine.place && queue_.device == mine.device)
        desc.queue = queue_.handle;
    desc.flags = pick(3) == 0 ? WYE_DISPATCH_TIMED : 0;
    desc.buffer = mine.handle;
    desc.offset = from * 4;
    desc.size = count * 4;
    if (up) desc.source = put.data();
    const std::initializer_list<wye_status> allowed = {WYE_DEVICE_BUSY, WYE_BUFFER_IN_USE};
    Words got(count);
    if (pick(2) == 0) {
        if (!up) desc.target = got.data();
        if (call("wye_buffer_transfer", allowed, [&](wye_error** error) {
                return wye_buffer_transfer(context, &desc, nullptr, error);
            }) != WYE_OK)
            return;
    } else {
        wye_pending pending = 0;
        if (call("wye_buffer_transfer_submit", allowed, [&](wye_error** error) {
                return wye_buffer_transfer_submit(context, &desc, &pending, error);
            }) != WYE_OK)
            return;
        call("wye_pending_wait of a transfer", {}, [&](wye_error** error) {
            return wye_pending_wait(context, pending, UINT64_MAX, nullptr, error);
        });
        wye_bytes bytes{};
        if (!up && call("wye_pending_output of a transfer", {}, [&](wye_error** error) {
                       return wye_pending_output(context, pending, 0, &bytes, error);
                   }) == WYE_OK) {
            const auto* first = static_cast<const std::uint32_t*>(bytes.data);
            got.assign(first, first + bytes.size / 4);
        }
        call("wye_pending_free of a transfer", {},
             [&](wye_error** error) { return wye_pending_free(context, pending, error); });
    }
    if (up)
        std::ranges::copy(put, range.begin());
    else
        check("transfer", got, Words(range.begin(), range.end()));
}

}  // namespace wye::stress
