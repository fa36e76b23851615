// The running of MEX functions: the stand-in for libmex.
#include "mx.h"

#include <algorithm>
#include <csetjmp>
#include <cstdarg>
#include <cstdio>

/// What MATLAB throws through a MEX function; a class that only this library knows.
class HostError {};

static jmp_buf escape;

void raise_error(const char *id, const char *text)
{
    host.error_id = id;
    host.error_text = text;
    if (host.jump) {
        longjmp(escape, 1);
    }
    throw HostError();
}

static void free_made(int count, mxArray **kept)
{
    for (mxArray *array : host.made) {
        if (array != nullptr && std::find(kept, kept + count, array) == kept + count) {
            destroy(array);
        }
    }
    host.made.clear();
    host.in_call = false;
}

bool call_mex(MexFunction function, int nlhs, mxArray **plhs, int nrhs, const mxArray **prhs)
{
    const int outputs = nlhs > 0 ? nlhs : 1;
    std::fill(plhs, plhs + outputs, nullptr);
    host.error_id.clear();
    host.error_text.clear();
    host.in_call = true;
    volatile bool ended = false;
    if (host.jump) {
        if (setjmp(escape) == 0) {
            function(nlhs, plhs, nrhs, prhs);
            ended = true;
        }
    } else {
        try {
            function(nlhs, plhs, nrhs, prhs);
            ended = true;
        } catch (const HostError &) {
        }
    }
    if (!ended) {
        std::fill(plhs, plhs + outputs, nullptr);
    }
    free_made(outputs, plhs);
    return ended;
}

#pragma GCC visibility push(hidden)
extern "C" {

void error_message(const char *id, const char *format, ...)
{
    char text[8192];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    raise_error(id, text);
}

int print(const char *format, ...)
{
    char text[8192];
    va_list arguments;
    va_start(arguments, format);
    const int count = vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    host.printed += text;
    return count;
}

void lock() { ++host.locks; }
void unlock() { --host.locks; }

int at_exit(void (*function)())
{
    host.at_exit = function;
    return 0;
}
}
#pragma GCC visibility pop

PLAIN(mexErrMsgIdAndTxt, error_message);
PLAIN(mexPrintf, print);
PLAIN(mexLock, lock);
PLAIN(mexUnlock, unlock);
PLAIN(mexAtExit, at_exit);
