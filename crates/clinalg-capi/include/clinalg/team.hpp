// Several devices that share the work of a problem. Part of clinalg.hpp.
#pragma once

#include "array.hpp"

namespace clinalg {

// Devices in the order of their ranks. Objects made on a team stay valid after the team is released.
class Team : public Object {
public:
    Team() {}
    explicit Team(Object &&object) : Object(std::move(object), CLINALG_KIND_TEAM) {}
    // The devices of these indices, which devices() gives.
    explicit Team(View<std::size_t> devices) { check(clinalg_team_create(devices.data(), devices.size(), out())); }
    Team(std::initializer_list<std::size_t> devices) : Team(View<std::size_t>(devices)) {}
    CLINALG_NODISCARD std::vector<std::size_t> devices() const {
        std::size_t count = 0;
        check(clinalg_team_info(get(), &count, nullptr, 0));
        std::vector<std::size_t> indices(count);
        check(clinalg_team_info(get(), &count, indices.data(), indices.size()));
        return indices;
    }
};

// A real sparse matrix with its rows distributed over the devices of a team; solve() takes it.
class TeamMatrix : public Object {
public:
    TeamMatrix() {}
    explicit TeamMatrix(Object &&object) : Object(std::move(object), CLINALG_KIND_TEAM_MATRIX) {}
    TeamMatrix(const Team &team, const Csr &a) { check(clinalg_team_matrix_create(team.get(), a.get(), out())); }
};

}  // namespace clinalg
