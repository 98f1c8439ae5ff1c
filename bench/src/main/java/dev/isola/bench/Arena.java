package dev.isola.bench;

import dev.isola.spi.ProviderFactory;
import dev.isola.testing.Scratch;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** Where it all takes place: the entrants, the comparators, a folder for files. */
final class Arena implements AutoCloseable {
  private final Plan plan;
  private final Scratch scratch = Scratch.make("isola-bench");
  private final Thread hook = Thread.ofPlatform().unstarted(scratch::close);
  private final Optional<RawProgram> raw;
  private final List<Entrant> entrants = new ArrayList<>();
  private final List<Absent> absent = new ArrayList<>();

  private Arena(Plan plan) throws IOException {
    this.plan = plan;
    Runtime.getRuntime().addShutdownHook(hook);
    raw = plan.against().contains("raw") ? RawProgram.install(scratch.path()) : Optional.empty();
  }

  static Arena open(Plan plan) throws IOException {
    Arena arena = new Arena(plan);
    if (plan.against().contains("raw") && arena.raw.isEmpty()) {
      arena.absent.add(
          new Absent("raw", "not built for " + System.getProperty("os.arch") + " (make -C bench)"));
    }
    for (String tool : List.of("cp", "tar")) {
      if (plan.against().contains(tool) && !Tool.installed(tool)) {
        arena.absent.add(new Absent(tool, "not installed"));
      }
    }
    for (ProviderFactory factory : plan.providers()) {
      try {
        arena.entrants.add(Entrant.of(factory));
      } catch (RuntimeException e) {
        arena.absent.add(new Absent(factory.name(), String.valueOf(e.getMessage())));
      }
    }
    return arena;
  }

  Path folder() {
    return scratch.path();
  }

  Optional<RawProgram> raw() {
    return raw;
  }

  /** Tells whether a comparator that is a program of this machine takes part. */
  boolean has(String comparator) {
    return plan.against().contains(comparator)
        && (comparator.equals("processbuilder") || Tool.installed(comparator));
  }

  List<Entrant> entrants() {
    return entrants;
  }

  List<Absent> absent() {
    return absent;
  }

  @Override
  public void close() {
    try {
      entrants.forEach(Entrant::close);
    } finally {
      scratch.close();
      try {
        Runtime.getRuntime().removeShutdownHook(hook);
      } catch (IllegalStateException e) {
        // The JVM is ending already.
      }
    }
  }
}
