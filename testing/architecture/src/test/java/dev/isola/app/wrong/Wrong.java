package dev.isola.app.wrong;

import dev.isola.bench.Bench;

/** Breaks the arrow of its folder: a release has no benchmarks. */
final class Wrong {
  Class<?> arrow() {
    return Bench.class;
  }
}
