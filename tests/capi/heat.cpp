// The program in C, by a compiler of C++.
#include "heat.c"
