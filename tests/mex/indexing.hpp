// Indexing and assignment by subscripts, in both layouts of complex numbers. Part of cases.cpp.

template <class T> void indexing_of(const Array &gpu)
{
    const std::string precision = class_of<T>() == SINGLE ? "indexing, single: " : "indexing, double: ";
    const Array a = call("MexMatrix", gpu, full<T>(2, 3, {1, 2, 3, 4, 5, 6}));
    const Array all = text(":");
    const auto values_of = [&](const Array &h) { return list_of(call("MexHandleMatrix", gpu, h)); };

    const Array element = call("MexPart", gpu, a, number(4));
    check(element->type == class_of<T>() && element->count() == 1, precision + "an element is a number of the class");
    same_values(list_of(element), {4}, precision + "a(4)");
    same_values(list_of(call("MexBlock", gpu, a, number(2), number(3))), {6}, precision + "a(2, 3)");
    same_values(values_of(call("MexBlock", gpu, a, number(2), all)), {2, 4, 6}, precision + "a(2, :)");
    same_values(values_of(call("MexBlock", gpu, a, all, full<double>(1, 2, {3, 1}))), {5, 6, 1, 2}, precision + "a(:, [3 1])");
    same_values(values_of(call("MexPart", gpu, a, full<bool>(2, 3, {true, false, false, true, true, false}))), {1, 4, 5},
                precision + "a(mask)");
    const Array shaped = call("MexHandleMatrix", gpu, call("MexPart", gpu, a, full<double>(2, 2, {6, 5, 4, 3})));
    check(shaped->rows() == 2 && shaped->cols() == 2, precision + "the shape of the subscript");
    const Array whole = call("MexHandleMatrix", gpu, call("MexPart", gpu, a, all));
    check(whole->rows() == 6 && whole->cols() == 1, precision + "a(:)");

    for (const double wrong : {0.0, 7.0, 1.5, -1.0, std::nan("")}) {
        check(call("MexPart", gpu, a, number(wrong))->count() == 0, precision + "no element " + std::to_string(wrong));
        check(list_of(call("MexWithPart", gpu, a, number(9), number(wrong)))[0] == 0, precision + "nor is it assigned");
    }
    check(call("MexPart", gpu, a, nothing())->count() == 0, precision + "no position");
    check(call("MexPart", gpu, a, full<bool>(1, 2, {true, true}))->count() == 0, precision + "a mask of another size");
    check(call("MexBlock", gpu, a, text("::"), number(1))->count() == 0, precision + "another text");
    check(call("MexPart", gpu, a, complex_full<double>(1, 1, {{1, 1}}))->count() == 0, precision + "a complex subscript");

    same_values(values_of(call("MexWithPart", gpu, a, number(9), number(2))), {1, 9, 3, 4, 5, 6}, precision + "a(2) = 9");
    same_values(values_of(call("MexWithBlock", gpu, a, number(0), all, full<double>(1, 2, {1, 3}))), {0, 0, 3, 4, 0, 0},
                precision + "a(:, [1 3]) = 0");
    same_values(values_of(call("MexWithBlock", gpu, a, full<T>(1, 3, {7, 8, 9}), number(1), all)), {7, 2, 8, 4, 9, 6},
                precision + "a(1, :) = row");
    const Array column_ = call("MexMatrix", gpu, column<T>({10, 20}));
    same_values(values_of(call("MexWithBlock", gpu, a, column_, all, number(2))), {1, 2, 10, 20, 5, 6}, precision + "a(:, 2) = column");
    same_values(values_of(a), {1, 2, 3, 4, 5, 6}, precision + "a is as before");
    check(list_of(call("MexWithPart", gpu, a, full<T>(1, 2, {1, 2}), full<double>(1, 2, {3, 3})))[0] == 0,
          precision + "a position that occurs twice is left to the caller");
    check(list_of(call("MexWithPart", gpu, a, full<T>(1, 2, {1, 2}), full<double>(1, 3, {1, 2, 3})))[0] == 0,
          precision + "another number of values is left to the caller");
    check(list_of(call("MexWithPart", gpu, a, complex_full<T>(1, 1, {{1, 1}}), number(1)))[0] == 0,
          precision + "a complex value does not go into a real array");
    raises("clinalg:handle:foreign", "argument 3 `value`", [&] { call("MexWithPart", gpu, a, handle(77), number(1)); });

    const Array z = call("MexMatrix", gpu, complex_full<T>(2, 2, {{1, 2}, {3, 0}, {0, -1}, {4, 4}}));
    check(complex_list<T>(call("MexPart", gpu, z, number(3)))[0] == std::complex<T>(0, -1), precision + "a complex element");
    check(!call("MexPart", gpu, z, number(2))->complex, precision + "a real one is a real number");
    const Array column2 = call("MexHandleMatrix", gpu, call("MexBlock", gpu, z, all, number(2)));
    check(complex_list<T>(column2)[1] == std::complex<T>(4, 4), precision + "a complex column");
    const Array written = call("MexWithBlock", gpu, z, complex_full<T>(1, 2, {{5, 6}, {7, 8}}), number(1), all);
    const auto after = complex_list<T>(call("MexHandleMatrix", gpu, written));
    check(after[0] == std::complex<T>(5, 6) && after[2] == std::complex<T>(7, 8) && after[3] == std::complex<T>(4, 4),
          precision + "a complex row");
}

void indexing(const Array &gpu)
{
    indexing_of<double>(gpu);
    indexing_of<float>(gpu);
}

