"""Runs a WASI build of the core under wasmtime: wasmtime_host.py MODULE TRACE. Its result goes to standard output."""

import sys

from wasmtime import Engine, ExitTrap, Linker, Module, Store, WasiConfig


def main(module_path: str, trace_path: str) -> int:
    engine = Engine()
    linker = Linker(engine)
    linker.define_wasi()
    store = Store(engine)
    wasi = WasiConfig()
    wasi.argv = ("core",)
    wasi.stdin_file = trace_path
    wasi.inherit_stdout()
    wasi.inherit_stderr()
    store.set_wasi(wasi)
    instance = linker.instantiate(store, Module.from_file(engine, module_path))
    try:
        instance.exports(store)["_start"](store)
    except ExitTrap as end:
        return end.code
    return 0


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit("usage: wasmtime_host.py MODULE TRACE")
    sys.exit(main(sys.argv[1], sys.argv[2]))
