#!/usr/bin/env python3
"""A fit through the C interface by ctypes alone: the way of every language that can call C.

    ctypes_fit.py LIBCGMCA_C X1.npy X2.npy MODEL
"""

import ctypes as c
import sys

import numpy as np


class View(c.Structure):
    _fields_ = [("data", c.c_void_p), ("rows", c.c_int64), ("columns", c.c_int64),
                ("row_stride", c.c_int64), ("column_stride", c.c_int64), ("is_float", c.c_int)]


class FitOptions(c.Structure):  # the first fields; the size says how many there are
    _fields_ = [("size", c.c_size_t), ("covariance", c.c_char_p)]


lib = c.CDLL(sys.argv[1])
lib.cgmca_last_message.restype = c.c_char_p


def check(status):
    if status:
        sys.exit(lib.cgmca_last_message().decode())


arrays = [np.ascontiguousarray(np.load(path), np.float64) for path in sys.argv[2:4]]
X = (View * 2)(*[View(a.ctypes.data, *a.shape) for a in arrays])
options = FitOptions(c.sizeof(FitOptions), b"identity:2")
model, objective = c.c_void_p(), c.c_double()
check(lib.cgmca_fit(X, 2, c.byref(options), c.byref(model)))
check(lib.cgmca_model_number(model, b"objective", c.byref(objective)))
check(lib.cgmca_model_save(model, sys.argv[4].encode()))
print("objective", objective.value)
lib.cgmca_model_free(model)
