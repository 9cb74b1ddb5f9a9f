#pragma once

#include <compare>
#include <cstdint>
#include <exception>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "collective/exchange.hpp"
#include "collective/rank_group.hpp"
#include "parallel/alike.hpp"
#include "parallel/rank_grid.hpp"
#include "plan/plan.hpp"
#include "topology/cluster.hpp"

namespace gpuscale {

/// Ranks that were taken as alike are not.
class NotAlike : public std::exception {
 public:
  explicit NotAlike(std::vector<std::size_t> finer_roles) : roles(std::move(finer_roles)) {}
  [[nodiscard]] const char* what() const noexcept override { return "ranks taken as alike differ"; }

  std::vector<std::size_t> roles;  ///< by rank: a finer partition, which may be exact
};

/// Groups of ranks that all do the same exchanges at the same time.
using GroupSetId = Id<struct GroupSetTag>;

/// Makes the exchanges of a step, each worked out once and then added as often as it occurs. Ranks that are alike
/// share a *role* with one compute lane: of the groups with the same roles the first stands for all, with the
/// loads of all. Without folding every rank has a role of its own.
class GroupExchanges {
 public:
  /// Adds the exchange of one group to a plan; tasks are by member.
  using Build = std::function<RankTasks(PlanBuilder&, const RankGroup&, const RankTasks& ready)>;

  /// What the ranks are and which role each has; roles are numbered from 0.
  struct Ranks {
    std::vector<Participant> participants = {};  ///< `compute` is the lane of the rank's role
    std::vector<std::size_t> roles = {};
  };

  GroupExchanges(const Cluster& cluster, Ranks ranks, Transport transport, PlanTimer plan_time);

  /// A set of disjoint groups of at least one rank.
  GroupSetId add_groups(std::vector<Members> groups);
  /// Another lane that exchanges may work on: to a Build, the first is LaneId(group.size()), the next one more.
  void add_other_lane(LaneId lane) { other_lanes_.push_back(lane); }
  [[nodiscard]] bool has_other_lane() const { return !other_lanes_.empty(); }
  /// Says that ranks compute nothing beside transfers of this label, so that it does not matter which of them slow
  /// whom.
  void note_waited_for(std::uint32_t label) { waited_for_.push_back(label); }

  [[nodiscard]] std::size_t group_size(GroupSetId set) const { return sets_[set.index()].groups.front().size(); }
  /// The first group of a set.
  const RankGroup& example(GroupSetId set);

  /// Every group of the set does what `build` adds for one; the same `key`, the same exchange. `ready` and the
  /// result are by role; roles outside the set keep their task. Ranks that turn out unlike are noted.
  RankTasks add(PlanBuilder& plan, GroupSetId set, const std::string& key, const Build& build, const RankTasks& ready);

  /// Leaves one channel for all that are alike, in a plan made of these exchanges. \returns the channel that
  /// stands for each. \throws NotAlike if ranks of one role did not do the same: the plan is then of no use
  std::vector<ChannelId> merge_channels(PlanBuilder& plan);

 private:
  struct GroupSet {
    std::vector<Members> groups;
    std::vector<std::vector<std::size_t>> classes;  ///< groups with the same roles, by their numbers
  };
  /// Where a task of a sketch stands: another task of it, or what a role was ready with.
  struct After {
    bool is_role = false;
    std::size_t index = 0;

    auto operator<=>(const After&) const = default;
  };
  struct SketchTask {
    Task task = {};
    std::vector<ChannelLoad> loads = {};
    std::vector<LaneId> slowed = {};
    std::vector<After> after = {};
    TaskId first = {};  ///< where it was added before
  };
  /// An exchange of a class of groups, ready to be added again.
  struct Sketch {
    std::vector<SketchTask> tasks;
    std::vector<SteppedTasks> steps;    ///< of these tasks, by number; only where nothing is folded
    std::map<std::size_t, After> ends;  ///< by role
  };
  /// A set, and which of its classes of groups.
  using ClassKey = std::pair<std::size_t, std::size_t>;
  struct Draft;

  [[nodiscard]] const std::vector<std::size_t>& groups_of(ClassKey key) const {
    return sets_[key.first].classes[key.second];
  }
  /// Of the first group of a class, which stands for all.
  [[nodiscard]] const Members& members_of(ClassKey key) const {
    return sets_[key.first].groups[groups_of(key).front()];
  }
  [[nodiscard]] RankGroup group_of(const Members& members) const;
  const RankGroup& first_group(ClassKey key);
  /// The lane of the plan that is this one of a draft.
  [[nodiscard]] LaneId real_lane(LaneId lane, const Members& members) const;
  [[nodiscard]] bool is_folded(const Members& members) const;

  /// Ranks of one role whose partners differ are not alike.
  void part_by_class(const GroupSet& set);
  /// Ranks of groups of different kinds are not alike.
  void note_unlike(ClassKey key, const GroupKinds& kinds);
  void note_unlike(const std::vector<std::size_t>& keys);
  /// Parts members of one role with unlike numbers, in every group of the class.
  void part_members(ClassKey key, const std::vector<std::size_t>& numbers);
  /// Parts ranks of one role that compute slower beside unlike transfers.
  void note_slowed(ClassKey key, const Draft& draft, const AlikeFlows& flows);

  Draft draft_of(const PlanBuilder& plan, const RankGroup& group, const Build& build) const;
  AlikeFlows flows_of(const PlanBuilder& plan, ClassKey key, const Build& build, const Draft& draft);
  Sketch sketch(PlanBuilder& plan, ClassKey key, const Build& build);
  /// By task of a draft, what stands for it in the sketch, to which the tasks are added.
  std::vector<After> add_tasks(PlanBuilder& plan, const Members& members, const Draft& draft, const AlikeFlows& flows,
                               Sketch& sketch) const;
  std::map<std::size_t, After> ends_of(ClassKey key, const Draft& draft, const std::vector<After>& stands);
  void add_sketch(PlanBuilder& plan, Sketch& sketch, const RankTasks& ready, RankTasks& done) const;

  const Cluster& cluster_;
  Ranks ranks_;
  Transport transport_;
  PlanTimer plan_time_;
  std::vector<std::size_t> ranks_of_role_;  ///< how many
  bool folds_ = false;                      ///< some role has several ranks
  std::vector<GroupSet> sets_;
  std::vector<LaneId> other_lanes_ = {};
  std::vector<std::uint32_t> waited_for_ = {};  ///< labels
  std::map<ClassKey, RankGroup> first_groups_;
  std::map<std::pair<ClassKey, std::string>, Sketch> sketches_;
  std::vector<std::size_t> finer_;  ///< by rank: roles parted by what was noted; empty if nothing was
  std::vector<AlikeFlows> alike_;
  std::vector<ClassKey> alike_classes_;  ///< of each, whose it is
};

}  // namespace gpuscale
