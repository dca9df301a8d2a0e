#include "replication/queue_replica.h"

#include <utility>

namespace weir {

QueueReplica::QueueReplica(Origin self, const QueueOptions& options)
    : options_(options), deltas_(EnvelopeKind::kQueue, self, options.interval, options.seed) {}

void QueueReplica::SetPeers(std::vector<uint32_t> peers) {
  deltas_.SetPeers(std::move(peers));
  Steps steps;
  CatchUp(steps);
}

bool QueueReplica::Admit(const Key& key, const ReplicatedBucket& limit, uint64_t cost,
                         Instant now) {
  if (Ticks(limit).Of(cost) > std::max<int128>(0, Level(key, limit, now))) return false;
  Take(key, limit, cost, now);
  return true;
}

void QueueReplica::Take(const Key& key, const ReplicatedBucket& limit, uint64_t cost, Instant now) {
  if (cost == 0) return;
  TokenQueue& queue = queues_.try_emplace(key, limit).first->second;
  Expire(key, queue, now);
  queue.Reshape(limit);
  while (cost > 0) {
    const auto weight = static_cast<uint32_t>(std::min<uint64_t>(cost, UINT32_MAX));
    const ElementName name{deltas_.self(), ++last_sequence_};
    queue.Add(name, weight, now);
    deltas_.Owe(key, {&name, 1}, deltas_.self());
    cost -= weight;
  }
  if (options_.frequency) PushFrequent(key, queue, now);
}

int128 QueueReplica::Level(const Key& key, const ReplicatedBucket& limit, Instant now) {
  const int128 full = Ticks(limit).Of(limit.capacity);
  const auto it = queues_.find(key);
  if (it == queues_.end()) return full;
  it->second.Reshape(limit);
  return full - it->second.Alive(now);
}

void QueueReplica::Refund(const StateName& name, uint64_t cost, Instant now) {
  const auto it = queues_.find(name.key);
  if (it == queues_.end()) return;
  for (const ElementName& element : it->second.Refund(deltas_.self(), cost, now)) {
    deltas_.Owe(name.key, {&element, 1}, deltas_.self());
  }
}

std::vector<Envelope> QueueReplica::Tick(Instant now) {
  std::vector<Envelope> out = std::exchange(pushed_, {});
  Steps steps;
  CatchUp(steps);
  if (!busy() && deltas_.Due(now)) {
    sweep_due_ += queues_.size();
    deltas_.Begin(options_.fan_out);
  }
  if (!ExpireSome(now, steps)) return out;
  deltas_.Gossip(*this, now, steps, out,
                 [&] { return options_.linf ? deltas_.LeastInformedPeer() : deltas_.AnyPeer(); });
  return out;
}

std::vector<Envelope> QueueReplica::Farewell(Instant now) {
  Steps steps = Steps::Unbounded();
  CatchUp(steps);
  return deltas_.TellAll(*this, now);
}

std::vector<Envelope> QueueReplica::Receive(std::string_view bytes, Instant now, bool& good) {
  EnvelopeReader reader(bytes);
  const Acknowledgements acknowledged = Delivery::ReadAcknowledgements(reader);
  const std::vector<Told> all = Read(reader, now);
  const EnvelopeHead& head = reader.head();
  good =
      reader.done() && head.kind == EnvelopeKind::kQueue && head.sender.node != deltas_.self().node;
  if (!good) return {};
  for (const Told& told : all) Merge(told, head.sender, now);
  deltas_.Heard(head, acknowledged, now);
  Steps steps;
  CatchUp(steps);
  return {};
}

std::vector<QueueReplica::Told> QueueReplica::Read(EnvelopeReader& from, Instant now) {
  std::vector<Told> all;
  while (from.ok() && from.left() > 0) {
    Told& told = all.emplace_back();
    told.key = from.Name();
    told.shape = ReadBucket(from);
    const uint64_t count = from.NumberBelow(kMostEnvelopeBytes);
    for (uint64_t i = 0; i < count && from.ok(); ++i) {
      Element element;
      element.name.origin = from.Life();
      element.name.sequence = from.Number32();
      const uint64_t weight = from.NumberBelow(uint64_t{1} << 33);
      element.weight = static_cast<uint32_t>(weight / 2);
      if (weight % 2 == 1) {
        element.refunded = static_cast<uint32_t>(from.NumberBelow(weight / 2 + 1));
      }
      element.birth = After(now, -Duration(from.NumberBelow(uint64_t{1} << 62)));
      element.life = ReadTicks(from, Ticks(told.shape));
      told.elements.push_back(element);
    }
  }
  return all;
}

void QueueReplica::Merge(const Told& told, Origin sender, Instant now) {
  TokenQueue& queue = queues_.try_emplace(told.key, told.shape).first->second;
  const bool report = options_.report_changes;
  const int128 before = report ? queue.Alive(now) : 0;
  std::vector<ElementName> news, same;
  for (Element theirs : told.elements) {
    theirs.life = Rescaled(theirs.life, Ticks(told.shape), Ticks(queue.shape()));
    const Element* known = report && queue.is_log() ? queue.Find(theirs.name) : nullptr;
    if (report && queue.is_log()) ReportHit(told.key, queue, known, theirs);
    switch (queue.Merge(theirs, now, options_.margin)) {
      case TokenQueue::Merged::kNew:
      case TokenQueue::Merged::kRaised: news.push_back(theirs.name); [[fallthrough]];
      case TokenQueue::Merged::kSame: same.push_back(theirs.name); break;
      case TokenQueue::Merged::kBehind:
      case TokenQueue::Merged::kTooOld: break;
    }
  }
  const int128 more = report && !queue.is_log() ? queue.Alive(now) - before : 0;
  if (more != 0) changes_.push_back({told.key, queue.shape(), -more});
  std::sort(news.begin(), news.end());
  std::sort(same.begin(), same.end());
  deltas_.Owe(told.key, news, sender);
  deltas_.Known(sender, told.key, same);
  if (Expire(told.key, queue, now)) queues_.erase(told.key);
}

// What an element of a log changes that is about to be merged.
void QueueReplica::ReportHit(const Key& key, const TokenQueue& queue, const Element* known,
                             const Element& theirs) {
  const int64_t counted = known == nullptr ? 0 : int64_t{known->weight} - known->refunded;
  const int64_t counts = int64_t{theirs.weight} - theirs.refunded;
  if (counts == counted || (known != nullptr && counts > counted)) return;
  ReplicatedBucket hit = queue.shape();
  hit.window = ToNanos(theirs.birth);
  changes_.push_back({key, hit, counted - counts});
}

bool QueueReplica::Expire(const Key& key, TokenQueue& queue, Instant now) {
  std::vector<ElementName> gone = queue.Expire(now, options_.margin);
  std::sort(gone.begin(), gone.end());
  deltas_.Drop(key, gone);
  return queue.elements().empty();
}

// An eighth of the table each time, so that keys that nobody asks for go too; true: all of it was done.
bool QueueReplica::ExpireSome(Instant now, Steps& steps) {
  for (; sweep_due_ >= 8 && !queues_.empty(); sweep_due_ -= 8) {
    if (!steps.any()) return false;
    steps.Take(Steps::kOfKey);
    sweep_at_ = (sweep_at_ + 1) % queues_.size();
    auto& [key, queue] = queues_.begin()[static_cast<ptrdiff_t>(sweep_at_)];
    if (Expire(key, queue, now)) swept_.push_back(key);
  }
  if (queues_.empty()) sweep_due_ %= 8;
  for (; !swept_.empty(); swept_.pop_front()) {
    if (!steps.any()) return false;
    steps.Take(Steps::kOfKey);
    const auto it = queues_.find(swept_.front());
    if (it != queues_.end() && it->second.elements().empty()) queues_.erase(it);
  }
  return true;
}

void QueueReplica::PushFrequent(const Key& key, const TokenQueue& queue, Instant now) {
  for (size_t peer = 0; peer < deltas_.peer_count(); ++peer) {
    if (IsFrequent(peer, key, queue, now)) deltas_.Push(peer, key, *this, now, pushed_);
  }
}

bool QueueReplica::IsFrequent(size_t peer, const Key& key, const TokenQueue& queue, Instant now) {
  const uint64_t nodes = deltas_.peer_count() + 1;
  const uint64_t window =
      std::max<uint64_t>(2, options_.window > 0 ? options_.window : queue.shape().capacity / nodes);
  std::vector<const Element*> waiting;
  uint64_t tokens = 0;
  for (const ElementName& name : deltas_.Unsent(peer, key)) {
    waiting.push_back(queue.Find(name));
    tokens += waiting.back()->weight;
  }
  if (tokens < window) return false;
  std::sort(waiting.begin(), waiting.end(),
            [](const Element* a, const Element* b) { return a->birth > b->birth; });
  tokens = 0;
  for (const Element* element : waiting) {
    tokens += element->weight;
    if (tokens < window) continue;
    return int128{(now - element->birth).count()} <
           int128{options_.frequency_threshold.count()} * (window - 1);
  }
  return false;
}

void QueueReplica::CatchUp(Steps& steps) {
  deltas_.Tidy(steps);
  deltas_.TellNewcomers(queues_, steps, [](const TokenQueue& queue, const auto& owe) {
    for (const Element& element : queue.elements()) owe(element.name.origin.node, element.name);
  });
}

void QueueReplica::WriteKey(EnvelopeWriter& to, const TokenQueue& queue, Instant) const {
  WriteBucket(to, queue.shape());
}

void QueueReplica::WritePiece(EnvelopeWriter& to, const TokenQueue& queue, const ElementName& name,
                              Instant now) const {
  WriteRow(to, queue, *queue.Find(name), now);
}

void QueueReplica::WriteRow(EnvelopeWriter& to, const TokenQueue& queue, const Element& element,
                            Instant now) {
  to.Life(element.name.origin);
  to.Number(element.name.sequence);
  to.Number(uint64_t{element.weight} * 2 + (element.refunded > 0));
  if (element.refunded > 0) to.Number(element.refunded);
  to.Number(static_cast<uint64_t>(std::max(Duration::zero(), now - element.birth).count()));
  WriteTicks(to, Ticks(queue.shape()), element.life);
}

const Element* QueueReplica::RowBefore(const TokenQueue& queue,
                                       const std::optional<RowMark>& mark) {
  const std::vector<Element>& elements = queue.elements();
  const auto at = mark ? std::lower_bound(elements.begin(), elements.end(), *mark,
                                          [](const Element& element, const RowMark& wanted) {
                                            return MarkOf(element) < wanted;
                                          })
                       : elements.end();
  return at == elements.begin() ? nullptr : &*std::prev(at);
}

Slice QueueReplica::Everything(uint32_t to, CopyCursor& cursor, const SliceSize& most,
                               Instant now) {
  CopyLetter letter(*this, EnvelopeKind::kQueue, deltas_.self(), now);
  return WriteSlice(queues_, letter, to, most, cursor);
}

uint64_t QueueReplica::Remaining(const Key& key, const ReplicatedBucket& limit, Instant now) {
  return Ticks(limit).Tokens(Level(key, limit, now));
}

const TokenQueue* QueueReplica::Find(const Key& key) const {
  const auto it = queues_.find(key);
  return it == queues_.end() ? nullptr : &it->second;
}

size_t QueueReplica::bytes() const {
  MemoryCount count;
  Steps steps = Steps::Unbounded();
  CountBytes(count, steps);
  return count.bytes;
}

void QueueReplica::CountBytes(MemoryCount& count, Steps& steps) const {
  const auto of_queue = [](const TokenQueue& queue) { return queue.bytes(); };
  if (!CountStates(queues_, 0, steps, count, of_queue)) return;
  if (!deltas_.CountTopics(1, steps, count)) return;
  count.bytes += deltas_.bytes() + MapBytes(queues_) + pushed_.capacity() * sizeof(Envelope);
  for (const Envelope& envelope : pushed_) count.bytes += envelope.bytes.capacity();
  count.done = true;
}

}  // namespace weir
