#include "parallel/group_exchanges.hpp"

#include <algorithm>
#include <numeric>
#include <span>
#include <tuple>

#include "units/check.hpp"
#include "units/sort_unique.hpp"

namespace gpuscale {

/// The exchange of one group in a plan of its own. Its first tasks stand for what the members were ready with.
struct GroupExchanges::Draft {
  Plan plan;
  RankTasks ends = {};
  std::vector<std::vector<std::size_t>> after = {};  ///< by task
};

namespace {

/// All that must be equal of tasks that are one, except loads and what they wait for.
auto nature(const Task& task) {
  return std::tuple(task.activity, task.is_transfer, task.duration, task.amount, task.cap, task.slowdown, task.label,
                    task.load_count, task.slowed_count);
}

/// Numbers for the tasks of a draft by what they are, whose they are and what they wait for; loads are left to
/// settle_classes().
template <class Draft>
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
    sort_unique(after);
    Key key{nature(task), i < members.size() ? 0 : 1 + role_of_lane(task), std::move(after), 0};
    // A lane that does the same twice does two things.
    if (task.lane.valid()) std::get<3>(key) = occurrences[{task.lane, key}]++;
    classes.push_back(numbers.try_emplace(std::move(key), static_cast<std::uint32_t>(numbers.size())).first->second);
  }
  return classes;
}

template <class Draft>
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

/// Roles numbered anew, one for each pair of old role and key, in order of the ranks.
std::vector<std::size_t> parted(const std::vector<std::size_t>& roles, const std::vector<std::size_t>& keys) {
  std::map<std::pair<std::size_t, std::size_t>, std::size_t> numbers;
  std::vector<std::size_t> finer;
  for (std::size_t rank = 0; rank < roles.size(); ++rank)
    finer.push_back(numbers.try_emplace({roles[rank], keys[rank]}, numbers.size()).first->second);
  return finer;
}

}  // namespace

GroupExchanges::GroupExchanges(const Cluster& cluster, Ranks ranks, Transport transport, PlanTimer plan_time)
    : cluster_(cluster), ranks_(std::move(ranks)), transport_(std::move(transport)), plan_time_(plan_time) {
  ranks_of_role_.resize(1 + *std::ranges::max_element(ranks_.roles), 0);
  for (const std::size_t role : ranks_.roles) ++ranks_of_role_[role];
  folds_ = std::ranges::any_of(ranks_of_role_, [](std::size_t count) { return count > 1; });
}

GroupSetId GroupExchanges::add_groups(std::vector<Members> groups) {
  GroupSet set;
  std::map<std::vector<std::size_t>, std::size_t> class_of_roles;
  for (std::size_t group = 0; group < groups.size(); ++group) {
    std::vector<std::size_t> roles;
    for (const std::size_t rank : groups[group]) roles.push_back(ranks_.roles[rank]);
    const auto [position, is_new] = class_of_roles.try_emplace(std::move(roles), set.classes.size());
    if (is_new) set.classes.emplace_back();
    set.classes[position->second].push_back(group);
  }
  set.groups = std::move(groups);
  part_by_class(set);
  sets_.push_back(std::move(set));
  return GroupSetId(sets_.size() - 1);
}

void GroupExchanges::part_by_class(const GroupSet& set) {
  if (set.classes.size() < 2) return;
  std::vector<std::size_t> keys(ranks_.roles.size(), 0);
  std::map<std::size_t, std::size_t> class_of_role;
  bool straddles = false;
  for (std::size_t number = 0; number < set.classes.size(); ++number) {
    for (const std::size_t group : set.classes[number]) {
      for (const std::size_t rank : set.groups[group]) {
        keys[rank] = 1 + number;
        straddles |= class_of_role.try_emplace(ranks_.roles[rank], number).first->second != number;
      }
    }
  }
  if (straddles) note_unlike(keys);
}

RankGroup GroupExchanges::group_of(const Members& members) const {
  std::vector<Participant> participants;
  for (std::size_t i = 0; i < members.size(); ++i) {
    participants.push_back(ranks_.participants[members[i]]);
    participants.back().compute = LaneId(i);
  }
  return {cluster_.topology, std::move(participants), transport_, plan_time_};
}

const RankGroup& GroupExchanges::first_group(ClassKey key) {
  const auto found = first_groups_.find(key);
  return found != first_groups_.end() ? found->second
                                      : first_groups_.emplace(key, group_of(members_of(key))).first->second;
}

const RankGroup& GroupExchanges::example(GroupSetId set) { return first_group({set.index(), 0}); }

LaneId GroupExchanges::real_lane(LaneId lane, const Members& members) const {
  const bool of_member = lane.index() < members.size();
  return of_member ? ranks_.participants[members[lane.index()]].compute : other_lanes_[lane.index() - members.size()];
}

bool GroupExchanges::is_folded(const Members& members) const {
  return std::ranges::any_of(members, [&](std::size_t rank) { return ranks_of_role_[ranks_.roles[rank]] > 1; });
}

void GroupExchanges::note_unlike(const std::vector<std::size_t>& keys) {
  finer_ = parted(finer_.empty() ? ranks_.roles : finer_, keys);
}

void GroupExchanges::note_unlike(ClassKey key, const GroupKinds& kinds) {
  std::vector<std::size_t> keys(ranks_.roles.size(), 0);
  const std::vector<std::size_t>& groups = groups_of(key);
  for (std::size_t i = 0; i < groups.size(); ++i) {
    for (const std::size_t rank : sets_[key.first].groups[groups[i]]) keys[rank] = 1 + kinds[i];
  }
  note_unlike(keys);
}

GroupExchanges::Draft GroupExchanges::draft_of(const PlanBuilder& labels, const RankGroup& group,
                                               const Build& build) const {
  PlanBuilder plan;
  plan.number_labels_from(labels.label_count());
  if (folds_ || !labels.keeps_steps()) plan.keep_no_steps();
  RankTasks ready;
  for (std::size_t i = 0; i < group.size() + other_lanes_.size(); ++i) plan.add_lane("");
  for (std::size_t i = 0; i < group.size(); ++i) ready.push_back(plan.add(Work{}));
  RankTasks ends = build(plan, group, ready);
  Draft draft{.plan = std::move(plan).build(), .ends = std::move(ends)};
  draft.after.resize(draft.plan.size());
  for (std::size_t task = 0; task < draft.plan.size(); ++task) {
    for (const TaskId next : draft.plan.successors(TaskId(task))) draft.after[next.index()].push_back(task);
  }
  return draft;
}

AlikeFlows GroupExchanges::flows_of(const PlanBuilder& plan, ClassKey key, const Build& build, const Draft& draft) {
  const Members& members = members_of(key);
  AlikeFlows flows{.tasks = draft.plan.size(), .classes = {}, .loads = {}};
  append_loads(flows, draft.plan);
  if (!is_folded(members)) {
    flows.classes.resize(flows.tasks);
    std::iota(flows.classes.begin(), flows.classes.end(), 0);
    return flows;
  }
  flows.classes = first_classes(draft, members, ranks_.roles);
  GroupKinds kinds = {0};
  std::vector<Draft> shapes;  // further than the first
  for (const std::size_t number : std::span(groups_of(key)).subspan(1)) {
    const RankGroup group = group_of(sets_[key.first].groups[number]);
    group.choices() = first_group(key).choices();
    Draft other = draft_of(plan, group, build);
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
  if (!kinds.empty()) note_unlike(key, kinds);
  return flows;
}

std::vector<GroupExchanges::After> GroupExchanges::add_tasks(PlanBuilder& plan, const Members& members,
                                                             const Draft& draft, const AlikeFlows& flows,
                                                             Sketch& sketch) const {
  const std::vector<std::vector<ChannelLoad>> loads = merged_loads(flows);
  std::map<std::uint32_t, After> known;  // by class
  std::vector<After> stands;
  for (const std::size_t rank : members) stands.push_back({.is_role = true, .index = ranks_.roles[rank]});
  for (std::size_t i = members.size(); i < draft.plan.size(); ++i) {
    const auto [position, is_new] =
        known.try_emplace(flows.classes[i], After{.is_role = false, .index = sketch.tasks.size()});
    stands.push_back(position->second);
    if (!is_new) continue;
    SketchTask task{.task = draft.plan.task(TaskId(i)), .loads = loads[i]};
    if (task.task.lane.valid()) task.task.lane = real_lane(task.task.lane, members);
    if (task.task.label >= draft.plan.first_label()) task.task.label = plan.label(draft.plan.label(TaskId(i)));
    for (const LaneId lane : draft.plan.slowed_lanes(TaskId(i))) task.slowed.push_back(real_lane(lane, members));
    sort_unique(task.slowed);
    for (const std::size_t before : draft.after[i]) task.after.push_back(stands[before]);
    sort_unique(task.after);
    sketch.tasks.push_back(std::move(task));
  }
  for (SteppedTasks steps : draft.plan.stepped()) {
    steps.first = TaskId(steps.first.index() - members.size());
    sketch.steps.push_back(std::move(steps));
  }
  return stands;
}

void GroupExchanges::part_members(ClassKey key, const std::vector<std::size_t>& numbers) {
  const Members& members = members_of(key);
  std::map<std::size_t, std::size_t> number_of_role;
  std::vector<std::size_t> keys(ranks_.roles.size(), 0);
  bool differ = false;
  for (std::size_t i = 0; i < members.size(); ++i) {
    differ |= number_of_role.try_emplace(ranks_.roles[members[i]], numbers[i]).first->second != numbers[i];
    for (const std::size_t group : groups_of(key)) keys[sets_[key.first].groups[group][i]] = 1 + numbers[i];
  }
  if (differ) note_unlike(keys);
}

std::map<std::size_t, GroupExchanges::After> GroupExchanges::ends_of(ClassKey key, const Draft& draft,
                                                                     const std::vector<After>& stands) {
  const Members& members = members_of(key);
  std::map<std::size_t, After> ends;
  std::vector<std::size_t> numbers;
  for (std::size_t i = 0; i < members.size(); ++i) {
    const After end = stands[draft.ends[i].index()];
    ends.try_emplace(ranks_.roles[members[i]], end);
    numbers.push_back(2 * end.index + (end.is_role ? 1 : 0));
  }
  part_members(key, numbers);
  return ends;
}

void GroupExchanges::note_slowed(ClassKey key, const Draft& draft, const AlikeFlows& flows) {
  const Members& members = members_of(key);
  std::vector<std::vector<std::uint32_t>> by(members.size());  // of each member, the classes that slow it
  for (std::size_t i = members.size(); i < draft.plan.size(); ++i) {
    if (std::ranges::find(waited_for_, draft.plan.task(TaskId(i)).label) != waited_for_.end()) continue;
    for (const LaneId lane : draft.plan.slowed_lanes(TaskId(i))) {
      if (lane.index() < members.size()) by[lane.index()].push_back(flows.classes[i]);
    }
  }
  std::map<std::vector<std::uint32_t>, std::size_t> known;
  std::vector<std::size_t> numbers;
  for (std::vector<std::uint32_t>& classes : by) {
    sort_unique(classes);
    numbers.push_back(known.try_emplace(std::move(classes), known.size()).first->second);
  }
  part_members(key, numbers);
}

GroupExchanges::Sketch GroupExchanges::sketch(PlanBuilder& plan, ClassKey key, const Build& build) {
  const Draft draft = draft_of(plan, first_group(key), build);
  AlikeFlows flows = flows_of(plan, key, build, draft);
  Sketch result;
  const std::vector<After> stands = add_tasks(plan, members_of(key), draft, flows, result);
  result.ends = ends_of(key, draft, stands);
  if (folds_) {
    note_slowed(key, draft, flows);
    alike_.push_back(std::move(flows));
    alike_classes_.push_back(key);
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
  for (SteppedTasks steps : sketch.steps) {
    steps.first = added[steps.first.index()];
    plan.add_steps(steps);
  }
  for (const auto& [role, end] : sketch.ends) done[role] = task_of(end);
}

RankTasks GroupExchanges::add(PlanBuilder& plan, GroupSetId set, const std::string& key, const Build& build,
                              const RankTasks& ready) {
  RankTasks done = ready;
  for (std::size_t number = 0; number < sets_[set.index()].classes.size(); ++number) {
    const ClassKey group_class(set.index(), number);
    auto found = sketches_.find({group_class, key});
    if (found == sketches_.end()) {
      found = sketches_.emplace(std::pair(group_class, key), sketch(plan, group_class, build)).first;
    }
    add_sketch(plan, found->second, ready, done);
  }
  return done;
}

std::vector<ChannelId> GroupExchanges::merge_channels(PlanBuilder& plan) {
  if (!finer_.empty()) throw NotAlike(finer_);
  AlikeChannels channels = alike_channels(alike_, cluster_.topology);
  for (const auto& [exchange, kinds] : channels.unlike) {
    note_unlike(alike_classes_[exchange], kinds);
  }
  if (!finer_.empty()) throw NotAlike(finer_);
  if (!alike_.empty()) plan.merge_channels(channels.stands_for);
  return std::move(channels.stands_for);
}

}  // namespace gpuscale
