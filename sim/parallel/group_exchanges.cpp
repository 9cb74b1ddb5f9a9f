#include "parallel/group_exchanges.hpp"

#include <algorithm>
#include <tuple>

#include "units/check.hpp"

namespace gpuscale {

namespace {

/// The exchange of one group in a plan of its own. Its first tasks stand for what the members were ready with.
struct Draft {
  Plan plan;
  RankTasks ends = {};
  std::vector<std::vector<std::size_t>> after = {};  ///< by task
};

Draft draft_of(const PlanBuilder& labels, const RankGroup& group, std::size_t other_lanes,
               const GroupExchanges::Build& build) {
  PlanBuilder plan;
  plan.number_labels_from(labels.label_count());
  RankTasks ready;
  for (std::size_t i = 0; i < group.size() + other_lanes; ++i) plan.add_lane("");
  for (std::size_t i = 0; i < group.size(); ++i) ready.push_back(plan.add(Work{}));
  RankTasks ends = build(plan, group, ready);
  Draft draft{.plan = std::move(plan).build(), .ends = std::move(ends)};
  draft.after.resize(draft.plan.size());
  for (std::size_t task = 0; task < draft.plan.size(); ++task) {
    for (const TaskId next : draft.plan.successors(TaskId(task))) draft.after[next.index()].push_back(task);
  }
  return draft;
}

/// All that must be equal of tasks that are one, except loads and what they wait for.
auto nature(const Task& task) {
  return std::tuple(task.activity, task.is_transfer, task.duration, task.amount, task.cap, task.slowdown, task.label,
                    task.load_count, task.slowed_count);
}

/// Numbers for the tasks of a draft by what they are, whose they are and what they wait for; loads are left to
/// settle_classes().
std::vector<std::uint32_t> first_classes(const Draft& draft, const Members& members,
                                         const std::vector<std::size_t>& roles) {
  const auto role_of_lane = [&](const Task& task) {
    if (!task.lane.valid()) return std::size_t{0};
    const std::size_t lane = task.lane.index();
    return 1 + (lane < members.size() ? roles[members[lane]] : roles.size() + lane);
  };
  using Key = std::tuple<decltype(nature(Task{})), std::size_t, std::vector<std::uint32_t>, std::size_t>;
  std::map<Key, std::uint32_t> numbers;
  std::map<std::pair<LaneId, Key>, std::size_t> occurrences;
  std::vector<std::uint32_t> classes;
  for (std::size_t i = 0; i < draft.plan.size(); ++i) {
    const Task& task = draft.plan.task(TaskId(i));
    std::vector<std::uint32_t> after;
    if (i < members.size()) after.push_back(static_cast<std::uint32_t>(roles[members[i]]));
    for (const std::size_t before : draft.after[i]) after.push_back(classes[before]);
    std::ranges::sort(after);
    after.erase(std::unique(after.begin(), after.end()), after.end());
    Key key{nature(task), i < members.size() ? 0 : 1 + role_of_lane(task), std::move(after), 0};
    // A lane that does the same twice does two things.
    if (task.lane.valid()) std::get<3>(key) = occurrences[{task.lane, key}]++;
    classes.push_back(numbers.try_emplace(std::move(key), static_cast<std::uint32_t>(numbers.size())).first->second);
  }
  return classes;
}

bool same_shape(const Draft& one, const Draft& other) {
  if (one.plan.size() != other.plan.size() || one.ends != other.ends || one.after != other.after) return false;
  for (std::size_t i = 0; i < one.plan.size(); ++i) {
    const Task& a = one.plan.task(TaskId(i));
    const Task& b = other.plan.task(TaskId(i));
    if (nature(a) != nature(b) || a.lane != b.lane) return false;
    if (!std::ranges::equal(one.plan.slowed_lanes(TaskId(i)), other.plan.slowed_lanes(TaskId(i)))) return false;
  }
  return true;
}

void append_loads(AlikeFlows& flows, const Plan& plan) {
  for (std::size_t i = 0; i < plan.size(); ++i) {
    const auto loads = plan.loads(TaskId(i));
    flows.loads.emplace_back(loads.begin(), loads.end());
    std::ranges::sort(flows.loads.back(), {}, &ChannelLoad::channel);
  }
}

}  // namespace

GroupExchanges::GroupExchanges(const Cluster& cluster, Ranks ranks, Transport transport, PlanTimer plan_time)
    : cluster_(cluster), ranks_(std::move(ranks)), transport_(std::move(transport)), plan_time_(plan_time) {
  ranks_of_role_.resize(1 + *std::ranges::max_element(ranks_.roles), 0);
  for (const std::size_t role : ranks_.roles) ++ranks_of_role_[role];
  folds_ = std::ranges::any_of(ranks_of_role_, [](std::size_t count) { return count > 1; });
}

LaneId GroupExchanges::add_other_lane(LaneId lane) {
  ranks_.other_lanes.push_back(lane);
  return lane;
}

GroupSetId GroupExchanges::add_groups(std::vector<Members> groups) {
  GroupSet set;
  std::map<std::vector<std::size_t>, std::size_t> class_of_roles;
  for (std::size_t group = 0; group < groups.size(); ++group) {
    std::vector<std::size_t> roles;
    for (const std::size_t rank : groups[group]) roles.push_back(ranks_.roles[rank]);
    const auto [position, is_new] = class_of_roles.try_emplace(std::move(roles), set.classes.size());
    if (is_new) set.classes.emplace_back();
    set.classes[position->second].groups.push_back(group);
  }
  set.groups = std::move(groups);
  sets_.push_back(std::move(set));
  return GroupSetId(sets_.size() - 1);
}

RankGroup GroupExchanges::group_of(const Members& members) const {
  std::vector<Participant> participants;
  for (std::size_t i = 0; i < members.size(); ++i) {
    participants.push_back(ranks_.participants[members[i]]);
    participants.back().compute = LaneId(i);
  }
  return {cluster_.topology, std::move(participants), transport_, plan_time_};
}

const RankGroup& GroupExchanges::first_group(std::size_t set, std::size_t group_class) {
  const std::pair key(set, group_class);
  const auto found = first_groups_.find(key);
  if (found != first_groups_.end()) return found->second;
  const GroupSet& groups = sets_[set];
  return first_groups_.emplace(key, group_of(groups.groups[groups.classes[group_class].groups.front()])).first->second;
}

const RankGroup& GroupExchanges::example(GroupSetId set) { return first_group(set.index(), 0); }

namespace {

/// Roles numbered anew, one for each pair of old role and key, in order of the ranks.
std::vector<std::size_t> parted(const std::vector<std::size_t>& roles, const std::vector<std::size_t>& keys) {
  std::map<std::pair<std::size_t, std::size_t>, std::size_t> numbers;
  std::vector<std::size_t> finer;
  for (std::size_t rank = 0; rank < roles.size(); ++rank)
    finer.push_back(numbers.try_emplace({roles[rank], keys[rank]}, numbers.size()).first->second);
  return finer;
}

}  // namespace

void GroupExchanges::note_unlike(const std::vector<std::size_t>& keys) {
  finer_ = parted(finer_.empty() ? ranks_.roles : finer_, keys);
}

void GroupExchanges::note_unlike(std::size_t set, std::size_t group_class, const GroupKinds& kinds) {
  std::vector<std::size_t> keys(ranks_.roles.size(), 0);
  const std::vector<std::size_t>& groups = sets_[set].classes[group_class].groups;
  for (std::size_t i = 0; i < groups.size(); ++i) {
    for (const std::size_t rank : sets_[set].groups[groups[i]]) keys[rank] = 1 + kinds[i];
  }
  note_unlike(keys);
}

GroupExchanges::Sketch GroupExchanges::sketch(PlanBuilder& plan, std::size_t set, std::size_t group_class,
                                              const Build& build) {
  const GroupSet& groups = sets_[set];
  const std::vector<std::size_t>& alike = groups.classes[group_class].groups;
  const Members& members = groups.groups[alike.front()];
  const RankGroup& first = first_group(set, group_class);
  const Draft draft = draft_of(plan, first, ranks_.other_lanes.size(), build);

  const bool folded =
      std::ranges::any_of(members, [&](std::size_t rank) { return ranks_of_role_[ranks_.roles[rank]] > 1; });
  AlikeFlows flows{.tasks = draft.plan.size(), .classes = {}, .loads = {}};
  append_loads(flows, draft.plan);
  if (folded) {
    flows.classes = first_classes(draft, members, ranks_.roles);
    GroupKinds kinds = {0};
    std::vector<Draft> shapes;  // further than the first
    for (std::size_t i = 1; i < alike.size(); ++i) {
      const RankGroup group = group_of(groups.groups[alike[i]]);
      group.choices() = first.choices();
      Draft other = draft_of(plan, group, ranks_.other_lanes.size(), build);
      if (same_shape(draft, other)) {
        kinds.push_back(0);
        append_loads(flows, other.plan);
        continue;
      }
      const auto known = std::ranges::find_if(shapes, [&](const Draft& shape) { return same_shape(shape, other); });
      kinds.push_back(static_cast<std::uint32_t>(known - shapes.begin()) + 1);
      if (known == shapes.end()) shapes.push_back(std::move(other));
    }
    if (shapes.empty()) kinds = settle_classes(flows, cluster_.topology);
    if (!kinds.empty()) note_unlike(set, group_class, kinds);
  } else {
    for (std::uint32_t i = 0; i < flows.tasks; ++i) flows.classes.push_back(i);
  }
  const std::vector<std::vector<ChannelLoad>> loads = merged_loads(flows);

  const auto real_lane = [&](LaneId lane) {
    const bool of_member = lane.index() < members.size();
    return of_member ? ranks_.participants[members[lane.index()]].compute
                     : ranks_.other_lanes[lane.index() - members.size()];
  };
  Sketch result;
  std::map<std::uint32_t, After> known;  // by class
  std::vector<After> stands(draft.plan.size());
  for (std::size_t i = 0; i < draft.plan.size(); ++i) {
    if (i < members.size()) {
      stands[i] = {.is_role = true, .index = ranks_.roles[members[i]]};
      continue;
    }
    const auto [position, is_new] =
        known.try_emplace(flows.classes[i], After{.is_role = false, .index = result.tasks.size()});
    stands[i] = position->second;
    if (!is_new) continue;
    SketchTask task{.task = draft.plan.task(TaskId(i)), .loads = loads[i]};
    if (task.task.lane.valid()) task.task.lane = real_lane(task.task.lane);
    if (task.task.label >= draft.plan.first_label()) task.task.label = plan.label(draft.plan.label(TaskId(i)));
    for (const LaneId lane : draft.plan.slowed_lanes(TaskId(i))) task.slowed.push_back(real_lane(lane));
    std::ranges::sort(task.slowed);
    task.slowed.erase(std::unique(task.slowed.begin(), task.slowed.end()), task.slowed.end());
    for (const std::size_t before : draft.after[i]) task.after.push_back(stands[before]);
    const auto order = [](const After& after) { return std::pair(after.is_role, after.index); };
    std::ranges::sort(task.after, {}, order);
    const auto rest = std::ranges::unique(task.after, {}, order);
    task.after.erase(rest.begin(), rest.end());
    result.tasks.push_back(std::move(task));
  }
  std::map<std::size_t, After> ends;
  bool end_together = true;
  for (std::size_t i = 0; i < members.size(); ++i) {
    const After end = stands[draft.ends[i].index()];
    const auto [position, is_new] = ends.try_emplace(ranks_.roles[members[i]], end);
    const bool same = position->second.is_role == end.is_role && position->second.index == end.index;
    end_together = end_together && (is_new || same);
  }
  if (!end_together) {
    std::vector<std::size_t> keys(ranks_.roles.size(), 0);
    for (const std::size_t group : alike) {
      for (std::size_t i = 0; i < members.size(); ++i) {
        const After end = stands[draft.ends[i].index()];
        keys[groups.groups[group][i]] = 1 + 2 * end.index + (end.is_role ? 1 : 0);
      }
    }
    note_unlike(keys);
  }
  result.ends.assign(ends.begin(), ends.end());
  if (folds_) {
    alike_.push_back(std::move(flows));
    alike_sets_.emplace_back(set, group_class);
  }
  return result;
}

void GroupExchanges::add_sketch(PlanBuilder& plan, Sketch& sketch, const RankTasks& ready, RankTasks& done) const {
  RankTasks added;
  RankTasks after;
  const auto task_of = [&](const After& what) { return what.is_role ? ready[what.index] : added[what.index]; };
  for (SketchTask& task : sketch.tasks) {
    after.clear();
    for (const After& before : task.after) after.push_back(task_of(before));
    if (task.first.valid()) {
      added.push_back(plan.add_again(task.first, after));
      continue;
    }
    if (task.task.is_transfer) {
      Transfer transfer{.amount = task.task.amount,
                        .loads = std::move(task.loads),
                        .cap = task.task.cap,
                        .latency = task.task.duration,
                        .slowed_lanes = std::move(task.slowed),
                        .slowdown = task.task.slowdown,
                        .activity = task.task.activity,
                        .label = task.task.label};
      task.first = plan.add(transfer, after);
    } else {
      task.first = plan.add(Work{.activity = task.task.activity,
                                 .lane = task.task.lane,
                                 .duration = task.task.duration,
                                 .label = task.task.label},
                            after);
    }
    added.push_back(task.first);
  }
  for (const auto& [role, end] : sketch.ends) done[role] = task_of(end);
}

RankTasks GroupExchanges::add(PlanBuilder& plan, GroupSetId set, const std::string& key, const Build& build,
                              const RankTasks& ready) {
  RankTasks done = ready;
  for (std::size_t group_class = 0; group_class < sets_[set.index()].classes.size(); ++group_class) {
    const SketchKey whole{{set.index(), group_class}, key};
    auto found = sketches_.find(whole);
    if (found == sketches_.end()) {
      found = sketches_.emplace(whole, sketch(plan, set.index(), group_class, build)).first;
    }
    add_sketch(plan, found->second, ready, done);
  }
  return done;
}

std::vector<ChannelId> GroupExchanges::merge_channels(PlanBuilder& plan) {
  if (!finer_.empty()) throw NotAlike(finer_);
  AlikeChannels channels = alike_channels(alike_, cluster_.topology);
  for (const auto& [exchange, kinds] : channels.unlike) {
    const auto& [set, group_class] = alike_sets_[exchange];
    note_unlike(set, group_class, kinds);
  }
  if (!finer_.empty()) throw NotAlike(finer_);
  if (!alike_.empty()) plan.merge_channels(channels.stands_for);
  return std::move(channels.stands_for);
}

}  // namespace gpuscale
