// Boundary elements for the heat equation and for elastodynamics. Part of clinalg.hpp.
#pragma once

#include "array.hpp"
#include "solver.hpp"

namespace clinalg {

typedef detail::Defaults<clinalg_heat_options, clinalg_heat_options_default> HeatOptions;
typedef detail::Defaults<clinalg_elastodynamics_options, clinalg_elastodynamics_options_default> ElastodynamicsOptions;

// A closed surface: three coordinates for each node, three nodes for each triangle, from 0 on, anticlockwise seen from outside.
struct HeatMesh {
    std::vector<double> nodes;
    std::vector<std::uint32_t> triangles;
    // From a file of the format .obj, .off, .stl or .msh.
    CLINALG_NODISCARD static HeatMesh read(const std::string &file) {
        HeatMesh mesh;
        std::size_t nodes = 0, triangles = 0;
        check(clinalg_heat_mesh_read(file.c_str(), nullptr, 0, &nodes, nullptr, 0, &triangles));
        mesh.nodes.resize(3 * nodes);
        mesh.triangles.resize(3 * triangles);
        check(clinalg_heat_mesh_read(file.c_str(), mesh.nodes.data(), nodes, &nodes, mesh.triangles.data(), triangles, &triangles));
        return mesh;
    }
};

namespace detail {

// A function of boundary values and the exception that it has thrown, in whichever thread.
template <class F> struct Boundary {
    F *function;
    std::exception_ptr thrown;
    static int32_t call(const double *point, const double *normal, double time, double *value, void *data) {
        Boundary &self = *static_cast<Boundary *>(data);
        try {
            *value = (*self.function)(point, normal, time);
            return 0;
        } catch (...) {
            self.thrown = std::current_exception();
            return 1;
        }
    }
};

}  // namespace detail

// A boundary integral operator of du/dt - alpha Laplace u = 0 by space-time Galerkin boundary elements. Vectors store one time step
// after the other.
class HeatOperator : public Operator {
public:
    HeatOperator() {}
    explicit HeatOperator(Object &&object) : Operator(std::move(object)) {}
    // A closed surface: three coordinates for each node, three nodes for each triangle, from 0 on, anticlockwise seen from outside.
    HeatOperator(const HeatOptions &options, clinalg_heat_kind kind, View<double> nodes, View<std::uint32_t> triangles) {
        detail::require(nodes.size() % 3 == 0 && triangles.size() % 3 == 0,
                        "clinalg::HeatOperator: wrong length, expected three coordinates for each node, three nodes for each triangle");
        check(clinalg_heat_operator_create(&options, kind, nodes.data(), nodes.size() / 3, triangles.data(), triangles.size() / 3,
                                         out()));
    }
    HeatOperator(const HeatOptions &options, clinalg_heat_kind kind, const HeatMesh &mesh)
        : HeatOperator(options, kind, mesh.nodes, mesh.triangles) {}
    // The L2 projection of function(point, normal, time), of three coordinates each, onto the vectors that this operator multiplies. It is called by
    // several threads, one at a time; an exception that it throws is rethrown here.
    template <class F> CLINALG_NODISCARD Vector project(F function) const {
        detail::Boundary<F> boundary = {&function, nullptr};
        Vector values;
        const clinalg_status status = clinalg_heat_project(get(), &detail::Boundary<F>::call, &boundary, values.out());
        if (boundary.thrown) std::rethrow_exception(boundary.thrown);
        check(status);
        return values;
    }
    // The right-hand side from boundary values, of operators K (u at nodes, for V w = (M / 2 + K) u) and Ks (w on triangles, for D u = (M' / 2 - Ks) w).
    CLINALG_NODISCARD Vector right_side(const Vector &given) const {
        return detail::made<Vector>(clinalg_heat_right_side, get(), given.get());
    }
    // u inside the domain in the middle of each of `steps` time steps, from w on triangles and u at nodes: three coordinates for each point, a value for
    // each point in each time step.
    CLINALG_NODISCARD std::vector<double> interior(const Vector &w, const Vector &u, View<double> points, std::size_t steps) const {
        detail::require(points.size() % 3 == 0, "clinalg::HeatOperator::interior: wrong length, expected three coordinates for each point");
        std::vector<double> values(points.size() / 3 * steps);
        check(clinalg_heat_interior(get(), w.get(), u.get(), points.data(), points.size() / 3, values.data(), values.size()));
        return values;
    }
    // The inverse of an operator V or D by block forward elimination: its product solves the system in one pass through time.
    CLINALG_NODISCARD Operator forward_inverse() const { return detail::made<Operator>(clinalg_heat_forward_create, get()); }
    // An approximate inverse of an operator V or D by operator (Calderon-type) preconditioning.
    CLINALG_NODISCARD Operator operator_preconditioner(clinalg_storage storage = CLINALG_STORAGE_AUTO) const {
        return detail::made<Operator>(clinalg_heat_operator_preconditioner_create, get(), static_cast<std::uint32_t>(storage));
    }
};

// A problem of elastodynamics by collocated boundary elements, time factor exp(i w t). With m boundary elements there are 3 m
// displacements and 3 m tractions.
class Elastodynamics : public Object {
public:
    typedef std::complex<double> Complex;
    // Three coordinates for each boundary element.
    struct Surface {
        std::vector<double> centres, normals;
    };
    // One set of 3 m numbers after the other.
    struct Solution {
        std::vector<Complex> displacements, tractions;
    };
    // Three displacements and nine stresses, by rows, for each point.
    struct Fields {
        std::vector<Complex> displacements, stresses;
    };

    Elastodynamics() {}
    explicit Elastodynamics(Object &&object) : Object(std::move(object), CLINALG_KIND_ELASTODYNAMICS) {}
    // Three coordinates for each node, four nodes for each quadrilateral; the first `boundary` elements carry unknowns.
    Elastodynamics(const ElastodynamicsOptions &options, View<double> nodes, View<std::uint32_t> elements, std::size_t boundary) {
        detail::require(nodes.size() % 3 == 0 && elements.size() % 4 == 0,
                        "clinalg::Elastodynamics: wrong length, expected three coordinates for each node, four nodes for each element");
        check(clinalg_elastodynamics_create(&options, nodes.data(), nodes.size() / 3, elements.data(), elements.size() / 4,
                                          boundary, out()));
    }
    // 3 m.
    std::size_t unknowns() const { return info().rows; }
    CLINALG_NODISCARD Surface surface() const {
        Surface surface;
        surface.centres.resize(unknowns());
        surface.normals.resize(unknowns());
        check(clinalg_elastodynamics_surface(get(), surface.centres.data(), surface.normals.data()));
        return surface;
    }
    // H and G at an angular frequency: H u = G t.
    CLINALG_NODISCARD std::pair<Dense, Dense> assemble(double frequency) const {
        std::pair<Dense, Dense> matrices;
        check(clinalg_elastodynamics_assemble(get(), frequency, matrices.first.out(), matrices.second.out()));
        return matrices;
    }
    // Displacements and tractions for sets of 3 m given values; `known` says for each of 3 m directions what they are. `progress` is
    // called with the iterations of GMRES and their residuals; if it returns false, the call fails with CLINALG_STATUS_CANCELLED.
    CLINALG_NODISCARD Solution solve(double frequency, View<std::uint32_t> known, View<Complex> given,
                                     clinalg_elastodynamics_method method = CLINALG_ELASTODYNAMICS_METHOD_LU,
                                     const Progress &progress = Progress()) const {
        const std::size_t count = unknowns();
        detail::require(count != 0 && known.size() == count && given.size() % count == 0,
                        "clinalg::Elastodynamics::solve: wrong length, expected unknowns() codes, and a multiple of unknowns() given values");
        Solution solution;
        solution.displacements.resize(given.size());
        solution.tractions.resize(given.size());
        const clinalg_status status = clinalg_elastodynamics_solve_with(
            get(), frequency, method, known.data(), reinterpret_cast<const double *>(given.data()), given.size() / count,
            progress ? detail::tell : nullptr, const_cast<Progress *>(&progress),
            reinterpret_cast<double *>(solution.displacements.data()), reinterpret_cast<double *>(solution.tractions.data()));
        detail::check_solve(status);
        return solution;
    }
    // The fields at points in the material, of three coordinates each, from displacements and tractions on the boundary.
    CLINALG_NODISCARD Fields evaluate(double frequency, View<Complex> displacements, View<Complex> tractions, View<double> points,
                                      bool stresses = true) const {
        detail::require(displacements.size() == unknowns() && tractions.size() == unknowns() && points.size() % 3 == 0,
                        "clinalg::Elastodynamics::evaluate: wrong length, expected unknowns() displacements and tractions, three coordinates for each point");
        const std::size_t count = points.size() / 3;
        Fields fields;
        fields.displacements.resize(3 * count);
        fields.stresses.resize(stresses ? 9 * count : 0);
        check(clinalg_elastodynamics_evaluate(
            get(), frequency, reinterpret_cast<const double *>(displacements.data()),
            reinterpret_cast<const double *>(tractions.data()), points.data(), count,
            reinterpret_cast<double *>(fields.displacements.data()),
            stresses ? reinterpret_cast<double *>(fields.stresses.data()) : nullptr));
        return fields;
    }
};

}  // namespace clinalg
