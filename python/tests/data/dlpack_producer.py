"""Arrays that speak DLPack and nothing else, with every field of the tensor as a test wants it."""

import ctypes

import numpy as np

_new_capsule = ctypes.pythonapi.PyCapsule_New
_new_capsule.restype = ctypes.py_object
_new_capsule.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
_is_valid = ctypes.pythonapi.PyCapsule_IsValid
_is_valid.argtypes = [ctypes.py_object, ctypes.c_char_p]


class Tensor(ctypes.Structure):
    _fields_ = [("data", ctypes.c_void_p), ("device_type", ctypes.c_int32), ("device_id", ctypes.c_int32),
                ("ndim", ctypes.c_int32), ("code", ctypes.c_uint8), ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16),
                ("shape", ctypes.POINTER(ctypes.c_int64)), ("strides", ctypes.POINTER(ctypes.c_int64)),
                ("byte_offset", ctypes.c_uint64)]


_Deleter = ctypes.CFUNCTYPE(None, ctypes.c_void_p)


class Managed(ctypes.Structure):
    _fields_ = [("tensor", Tensor), ("context", ctypes.c_void_p), ("deleter", _Deleter)]


class ManagedVersioned(ctypes.Structure):
    _fields_ = [("major", ctypes.c_uint32), ("minor", ctypes.c_uint32), ("context", ctypes.c_void_p),
                ("deleter", _Deleter), ("flags", ctypes.c_uint64), ("tensor", Tensor)]


_CODES = {"i": 0, "u": 1, "f": 2, "c": 5, "b": 6}


class Producer:
    """A NumPy array that only DLPack can reach: `device` may say that it is on a GPU."""

    def __init__(self, array, device=(1, 0), version=None, compact=False, offset=0, code=None):
        self.array, self.device, self.version, self.compact, self.offset = array, device, version, compact, offset
        self.code = _CODES[array.dtype.kind] if code is None else code
        self.shape = array.shape
        self.given, self.deleted, self.streams, self.capsules = 0, 0, [], []
        self._alive = []

    def __dlpack_device__(self):
        return self.device

    def __dlpack__(self, **options):
        if self.version is None and "max_version" in options:
            raise TypeError("__dlpack__() got an unexpected keyword argument 'max_version'")
        self.streams.append(options.get("stream"))
        ndim = self.array.ndim
        shape = (ctypes.c_int64 * ndim)(*self.array.shape)
        strides = (ctypes.c_int64 * ndim)(*(stride // self.array.itemsize for stride in self.array.strides))
        tensor = Tensor(self.array.ctypes.data - self.offset, *self.device, ndim, self.code, 8 * self.array.itemsize, 1,
                        shape, None if self.compact else strides, self.offset)

        def delete(_):
            self.deleted += 1

        deleter = _Deleter(delete)
        if self.version is None:
            managed, name = Managed(tensor, None, deleter), b"dltensor"
        else:
            managed, name = ManagedVersioned(*self.version, None, deleter, 0, tensor), b"dltensor_versioned"
        self._alive.append((managed, shape, strides, deleter, name))
        self.given += 1
        capsule = _new_capsule(ctypes.addressof(managed), name, None)
        self.capsules.append(capsule)
        return capsule

    def used(self):
        """Whether each capsule carries the name of one whose tensor was taken."""
        return all(_is_valid(capsule, b"used_" + kept[-1]) for capsule, kept in zip(self.capsules, self._alive))
