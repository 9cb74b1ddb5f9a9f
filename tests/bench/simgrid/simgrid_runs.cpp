#include "bench/simgrid/simgrid_runs.hpp"

#include <chrono>
#include <map>
#include <simgrid/s4u.hpp>

namespace gpuscale::bench {

namespace {

namespace s4u = simgrid::s4u;
using Clock = std::chrono::steady_clock;

double since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

/// Plain max-min sharing: no factors on rate and latency, no window, no weight by round trip, no
/// acknowledgements that take bandwidth.
void neutralise(SimgridMode mode) {
  s4u::Engine::set_config("network/model:CM02");
  s4u::Engine::set_config("network/crosstraffic:0");
  s4u::Engine::set_config("network/bandwidth-factor:1");
  s4u::Engine::set_config("network/latency-factor:1");
  s4u::Engine::set_config("network/weight-S:0");
  s4u::Engine::set_config("network/TCP-gamma:0");
  s4u::Engine::set_config(mode == SimgridMode::lazy ? "network/optim:Lazy" : "network/optim:Full");
  s4u::Engine::set_config("contexts/stack-size:32");
}

/// The platform: hosts, one-way links, and routes between the pairs that are used.
class Platform {
 public:
  Platform(const Network& network, SimgridMode mode) : network_(network), engine_(start_engine(mode)) {
    zone_ = s4u::create_full_zone("zone");
    for (std::size_t i = 0; i < network.hosts; ++i) hosts_.push_back(zone_->create_host(std::to_string(i), 1e9));
    for (std::size_t i = 0; i < network.capacity.size(); ++i) {
      s4u::Link* link = zone_->create_link("l" + std::to_string(i), network.capacity[i].count());
      link->set_latency(0);
      link->seal();
      links_.emplace_back(link);
    }
  }

  void add_route(std::uint32_t from, std::uint32_t to) {
    if (!known_.emplace(std::pair(from, to), true).second) return;
    std::vector<s4u::LinkInRoute> links;
    for (const std::uint32_t channel : network_.route(from, to)) links.push_back(links_[channel]);
    zone_->add_route(hosts_[from]->get_netpoint(), hosts_[to]->get_netpoint(), nullptr, nullptr, links, false);
  }

  double run() {
    zone_->seal();
    const Clock::time_point start = Clock::now();
    engine_.run();
    return since(start);
  }

  [[nodiscard]] s4u::Host* host(std::size_t index) const { return hosts_[index]; }

 private:
  static s4u::Engine& start_engine(SimgridMode mode) {
    static int count = 2;
    static char name[] = "simgrid_bench";
    static char quiet[] = "--log=root.thresh:error";
    static char* words[] = {name, quiet, nullptr};
    static s4u::Engine engine(&count, words);
    neutralise(mode);
    return engine;
  }

  const Network& network_;
  s4u::Engine& engine_;
  s4u::NetZone* zone_ = nullptr;
  std::vector<s4u::Host*> hosts_;
  std::vector<s4u::LinkInRoute> links_;
  std::map<std::pair<std::uint32_t, std::uint32_t>, bool> known_;
};

}  // namespace

SimgridRun simgrid_ring(const Network& network, const RingPattern& ring, SimgridMode mode, bool note_ends) {
  SimgridRun run;
  if (note_ends) run.ends.resize(ring.flows());
  Platform platform(network, mode);
  const std::size_t ranks = ring.hosts.size();
  const std::uint32_t steps = ring.steps();
  const auto bytes = static_cast<std::uint64_t>(std::llround(ring.chunk.count()));
  static char payload = 0;
  for (std::size_t rank = 0; rank < ranks; ++rank) {
    const std::size_t next = (rank + 1) % ranks;
    platform.add_route(ring.hosts[rank], ring.hosts[next]);
    s4u::Actor::create("rank", platform.host(ring.hosts[rank]), [&run, rank, next, steps, bytes, note_ends] {
      s4u::Mailbox* in = s4u::Mailbox::by_name(std::to_string(rank));
      s4u::Mailbox* out = s4u::Mailbox::by_name(std::to_string(next));
      for (std::uint32_t step = 0; step < steps; ++step) {
        char* received = nullptr;
        const s4u::CommPtr receive = in->get_async<char>(&received);
        const s4u::CommPtr send = out->put_async(&payload, bytes);
        send->wait();
        if (note_ends) run.ends[rank * steps + step] = s4u::Engine::get_clock();
        receive->wait();
      }
    });
  }
  run.seconds = platform.run();
  return run;
}

namespace {

/// What the actors do.
class Sender {
 public:
  Sender(const Platform& platform, const std::vector<TimedFlow>& flows, std::vector<double>* ends)
      : platform_(platform), flows_(flows), ends_(ends) {}

  [[nodiscard]] s4u::CommPtr start(std::size_t flow) const {
    return s4u::Comm::sendto_async(platform_.host(flows_[flow].from), platform_.host(flows_[flow].to),
                                   static_cast<std::uint64_t>(flows_[flow].amount.count()));
  }
  void note(std::size_t flow, const s4u::CommPtr& comm) const {
    if (ends_ != nullptr) (*ends_)[flow] = comm->get_finish_time();
  }
  /// The flows of some numbers, each at its time, and then waits for all.
  void send_timed(const std::vector<std::size_t>& numbers) const {
    std::vector<s4u::CommPtr> comms;
    for (const std::size_t flow : numbers) {
      const double begin = flows_[flow].start.since_start().count();
      if (begin > s4u::Engine::get_clock()) s4u::this_actor::sleep_until(begin);
      comms.push_back(start(flow));
    }
    s4u::Comm::wait_all(comms);
    for (std::size_t i = 0; i < comms.size(); ++i) note(numbers[i], comms[i]);
  }
  void send_in_rounds(std::size_t hosts) const {
    for (std::size_t first = 0; first < flows_.size(); first += hosts) {
      std::vector<s4u::CommPtr> comms;
      for (std::size_t host = 0; host < hosts; ++host) comms.push_back(start(first + host));
      s4u::Comm::wait_all(comms);
      for (std::size_t host = 0; host < hosts; ++host) note(first + host, comms[host]);
    }
  }
  void send_of_host(std::size_t host, std::size_t hosts) const {
    for (std::size_t flow = host; flow < flows_.size(); flow += hosts) {
      const s4u::CommPtr comm = start(flow);
      comm->wait();
      note(flow, comm);
    }
  }

 private:
  const Platform& platform_;
  const std::vector<TimedFlow>& flows_;
  std::vector<double>* ends_;
};

}  // namespace

SimgridRun simgrid_flows(const Network& network, const std::vector<TimedFlow>& flows, Starters starters,
                         SimgridMode mode, bool note_ends) {
  SimgridRun run;
  if (note_ends) run.ends.resize(flows.size());
  Platform platform(network, mode);
  std::map<std::size_t, std::vector<std::size_t>> of_starter;
  for (std::size_t i = 0; i < flows.size(); ++i) {
    platform.add_route(flows[i].from, flows[i].to);
    of_starter[starters == Starters::one ? 0 : flows[i].from].push_back(i);
  }
  const Sender sender(platform, flows, note_ends ? &run.ends : nullptr);
  for (const auto& [host, numbers] : of_starter) {
    s4u::Actor::create("starter", platform.host(host), [&sender, &own = numbers] { sender.send_timed(own); });
  }
  run.seconds = platform.run();
  return run;
}

SimgridRun simgrid_in_turns(const Network& network, const std::vector<TimedFlow>& flows, Turns turns, SimgridMode mode,
                            bool note_ends) {
  SimgridRun run;
  if (note_ends) run.ends.resize(flows.size());
  Platform platform(network, mode);
  for (const TimedFlow& flow : flows) platform.add_route(flow.from, flow.to);
  const Sender sender(platform, flows, note_ends ? &run.ends : nullptr);
  if (turns == Turns::rounds) {
    s4u::Actor::create("driver", platform.host(0), [&] { sender.send_in_rounds(network.hosts); });
  } else {
    for (std::size_t host = 0; host < network.hosts; ++host) {
      s4u::Actor::create("host", platform.host(host), [&, host] { sender.send_of_host(host, network.hosts); });
    }
  }
  run.seconds = platform.run();
  return run;
}

}  // namespace gpuscale::bench
