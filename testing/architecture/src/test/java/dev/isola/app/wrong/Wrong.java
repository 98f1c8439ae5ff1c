package dev.isola.app.wrong;

import dev.isola.bench.Bench;

/** Violates the dependency rule of its folder: a release contains no benchmarks. */
final class Wrong {
  Class<?> forbidden() {
    return Bench.class;
  }
}
